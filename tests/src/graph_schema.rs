//! The JSON schema of a file that holds a graph of operators, generated from the table of operators.

use serde_json::{Map, Value, json};
use volta_case::{Element, spellings};
use volta_core::graph::library::{Operator, OperatorArgument};

/// Names that arguments have besides their own.
const OTHER_NAMES: [&str; 6] = ["input", "axis", "axes", "keepdims", "tensor1", "x"];

/// Longer values are written in several lines, except those in this depth, which are operators.
const LINE: usize = 100;
const DEEPEST: usize = 4;

/// The schema.
pub fn graph_schema() -> Value {
    let operators: Vec<&Operator> =
        Operator::families().into_iter().flat_map(|(_, operators)| operators).collect();
    let formula = json!({
        "type": "object",
        "description": "a formula: the name before its brackets is that of its value",
        "properties": { "formula": { "type": "string" }, "type": element() },
        "required": ["formula"],
        "additionalProperties": false,
    });
    let mut shared = Map::new();
    let nodes = operators.into_iter().map(|operator| node(operator, &mut shared));
    let nodes: Vec<Value> = std::iter::once(formula).chain(nodes).collect();
    let input = json!({
        "type": "object",
        "properties": {
            "type": element(),
            "shape": { "type": "array", "items": { "type": "integer", "minimum": 0 } },
            "tensor": { "type": "string", "description": "the tensor of the case, if it has another name" },
        },
        "additionalProperties": false,
    });
    let names = json!({ "type": "array", "items": { "type": "string" } });
    let by_tensor = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A graph of tensor operators, as docs/graphs.md describes it",
        "type": "object",
        "properties": {
            "inputs": {
                "description": "types and shapes of what is read, which are those of the case",
                "type": "object",
                "additionalProperties": input,
            },
            "nodes": {
                "description": "the values, in order: each may read those before it, and tensors and scalars of the case",
                "type": "array",
                "items": { "anyOf": nodes },
            },
            "outputs": {
                "description": "what is written: tensors of the case, each with the name of a value",
                "anyOf": [names, by_tensor],
            },
        },
        "required": ["nodes", "outputs"],
        "additionalProperties": false,
        "$defs": shared,
    })
}

/// The text of the file: a line for each operator.
pub fn graph_schema_text() -> String {
    let mut text = String::new();
    spell(&graph_schema(), "", &mut text);
    text.push('\n');
    text
}

/// Writes a value in one line if it is an operator's or short, else its parts in lines of their own.
fn spell(value: &Value, indent: &str, text: &mut String) {
    let line = value.to_string();
    let parts: Vec<(Option<&String>, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(name, value)| (Some(name), value)).collect(),
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    if line.len() <= LINE || indent.len() > DEEPEST || parts.is_empty() {
        text.push_str(&line);
        return;
    }
    text.push_str(&line[..1]);
    let inner = format!("{indent} ");
    for (at, (name, part)) in parts.into_iter().enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&inner);
        if let Some(name) = name {
            text.push_str(&format!("{}: ", json!(name)));
        }
        spell(part, &inner, text);
    }
    text.push('\n');
    text.push_str(indent);
    text.push_str(&line[line.len() - 1..]);
}

/// A reference to a schema that many have in common.
fn shared(all: &mut Map<String, Value>, name: &str, schema: impl FnOnce() -> Value) -> Value {
    all.entry(name).or_insert_with(schema);
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// A node that is an operator.
fn node(operator: &Operator, all: &mut Map<String, Value>) -> Value {
    let names: Vec<String> = operator.names.iter().map(|name| name.replace('.', "\\.")).collect();
    let mut properties = Map::new();
    let name = || json!({ "type": "string", "description": "the name of its value" });
    properties.insert("name".into(), shared(all, "name", name));
    let pattern = format!("^(aten(\\.|::))?({})(\\.[A-Za-z0-9_]+)?$", names.join("|"));
    properties.insert("op".into(), json!({ "type": "string", "pattern": pattern }));
    let mut needed: Vec<Value> = Vec::new();
    for argument in operator.takes() {
        let others = OTHER_NAMES.into_iter().filter(|name| {
            operator.argument(name).is_some_and(|own| own.name == argument.name) && *name != argument.name
        });
        let names: Vec<&str> = std::iter::once(argument.name).chain(others).collect();
        if !argument.optional {
            let way = |name: &&str| json!({ "required": [name] });
            let ways = || json!({ "anyOf": names.iter().map(way).collect::<Vec<Value>>() });
            needed.push(shared(all, &format!("needs_{}", names.join("_or_")), ways));
        }
        let value = shared(all, argument.takes, || value(argument));
        properties.extend(names.into_iter().map(|name| (name.to_owned(), value.clone())));
    }
    let mut node = json!({
        "type": "object",
        "description": operator.formula,
        "properties": properties,
        "required": ["op"],
        "additionalProperties": false,
    });
    if !needed.is_empty() {
        node["allOf"] = json!(needed);
    }
    node
}

/// The value of an argument.
fn value(argument: OperatorArgument) -> Value {
    // A number may be a text, such as "1/3" or "inf".
    let number = json!({ "type": ["number", "string", "boolean"] });
    match argument.takes {
        "tensor" | "number" => number,
        "tensors" => json!({ "type": "array", "items": number }),
        "int" => json!({ "type": "integer" }),
        "ints" => {
            json!({ "anyOf": [{ "type": "integer" }, { "type": "array", "items": { "type": "integer" } }] })
        }
        "flag" => json!({ "type": "boolean" }),
        "text" | "type" => json!({ "type": "string" }),
        "reduction" => json!({ "type": ["string", "integer"] }),
        other => panic!("`{other}` has no schema: say here what it takes"),
    }
}

fn element() -> Value {
    json!({ "enum": spellings::<Element>() })
}
