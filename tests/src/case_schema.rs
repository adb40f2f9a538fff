//! The JSON schema of a case with the texts of its sources, generated from the tables by which cases are read.

use serde_json::{Map, Value, json};
use volta_case::{
    About, CASE, Comparison, Contains, DOCUMENT, Element, Elements, Expectation, FIELD, FORMAT_VERSION,
    GRAPH, KERNEL, Key, Launch, NamedContents, Options, PARAM, Region, Role, SIDE, STEP, Section, Sign,
    Takes, Target, TensorMap, VerdictName, spellings,
};

/// The schema.
pub fn case_schema() -> Value {
    // A document holds no family.
    let of_case = CASE.iter().filter(|key| key.name != "family");
    let top = object(of_case.chain(About::keys()).chain(DOCUMENT), &["params", "sources"], |key| match key {
        "version" => json!({ "const": FORMAT_VERSION }),
        "name" | "description" => text(),
        "sources" => named(json!({ "anyOf": [text(), {
            "type": "object", "properties": { "base64": text() }, "required": ["base64"], "additionalProperties": false,
        }] })),
        "params" => named(reference("parameter")),
        "globals" => named(reference("parameter")),
        "tensor_maps" => named(reference("tensor_map")),
        "reference" | "opt" | "kernel" => {
            json!({ "anyOf": [reference("kernel"), reference("graph"), reference("operator")] })
        }
        "expect" => json!({ "anyOf": [verdict(), reference("expectation")] }),
        "options" => reference("options"),
        "contains" => list(reference("contains")),
        _ => Value::Null,
    });
    let mut parameter = object(PARAM, &[], |key| match key {
        "role" => word::<Role>(),
        "type" => {
            let element = word::<Element>;
            let sides = object_of([("ref", element()), ("opt", element())], &["ref", "opt"]);
            json!({ "anyOf": [element(), sides, named(reference("field"))] })
        }
        "shape" => json!({ "anyOf": [count(), list(count())] }),
        "contents" => contents(),
        "pointers" => list(text()),
        "value" => number(),
        "symbolic" => json!({ "type": "boolean" }),
        "assume" => word::<Sign>(),
        "range" => json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 }),
        "compare" => word::<Comparison>(),
        "elements" => word::<Elements>(),
        _ => Value::Null,
    });
    parameter["anyOf"] = json!([{ "required": ["type"] }, { "required": ["pointers"] }]);
    let field = object(FIELD, &["type"], |key| match key {
        "type" => field_type(),
        "contents" => contents(),
        "assume" => word::<Sign>(),
        "range" => json!({ "type": "array", "items": { "type": "integer" }, "minItems": 2, "maxItems": 2 }),
        "elements" => word::<Elements>(),
        _ => Value::Null,
    });
    let keys = KERNEL.iter().chain(Launch::keys()).chain(Target::keys());
    let own = |key: &str| match key {
        "source" | "fill" | "copy" | "to" => text(),
        // Names, numbers, and structs of these.
        "args" => json!({ "type": "array" }),
        "with" => number(),
        "repeat" => count(),
        "launch" => json!({ "type": "array", "items": reference("step") }),
        _ => Value::Null,
    };
    let mut kernel = object(SIDE.iter().chain(keys.clone()), &[], own);
    kernel["anyOf"] = json!([{ "required": ["source", "block"] }, { "required": ["launch"] }]);
    let mut step = object(STEP.iter().chain(keys), &[], own);
    step["anyOf"] = json!([{ "required": ["source", "block"] }, { "required": ["fill", "with"] }, { "required": ["copy", "to"] }]);
    let graph_keys = GRAPH.iter().filter(|key| !["spec", "output"].contains(&key.name));
    let mut graph = object(graph_keys, &[], |key| match key {
        "formula" => json!({ "anyOf": [text(), list(text())] }),
        "graph" => text(),
        "nodes" => json!({ "type": "array", "items": { "type": "object" } }),
        "inputs" => named(json!({ "type": "object" })),
        "outputs" => json!({ "anyOf": [list(text()), named(text())] }),
        _ => Value::Null,
    });
    graph["properties"]["repeat"] = count();
    graph["anyOf"] =
        json!([{ "required": ["formula"] }, { "required": ["graph"] }, { "required": ["nodes", "outputs"] }]);
    let operator_keys = GRAPH.iter().filter(|key| ["spec", "output"].contains(&key.name));
    let mut operator = object(operator_keys, &["spec"], |_| text());
    // Further keys are its arguments.
    operator["additionalProperties"] = json!(true);
    let mut expectation = object(Expectation::keys(), &["verdict"], |_| Value::Null);
    expectation["properties"]["verdict"] = verdict();
    let mut schema = top;
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!("A case for `cargo volta check --stdin`, with the texts of its sources");
    schema["oneOf"] = json!([{ "required": ["reference", "opt"] }, { "required": ["kernel"] }]);
    schema["$defs"] = json!({
        "parameter": parameter,
        "field": { "anyOf": [field_type(), field] },
        "kernel": kernel,
        "step": step,
        "graph": graph,
        "operator": operator,
        "tensor_map": object(TensorMap::keys(), &["of", "box"], |_| Value::Null),
        "expectation": expectation,
        "options": object(Options::keys(), &[], |_| Value::Null),
        "contains": object(Contains::keys(), &["text"], |_| Value::Null),
    });
    schema
}

/// An object with these keys and no others; `own` gives the types of keys for which each form of a case has its own
/// reader.
fn object<'k>(
    keys: impl IntoIterator<Item = &'k Key>,
    required: &[&str],
    own: impl Fn(&str) -> Value,
) -> Value {
    let property = |key: &Key| {
        let mut value = match key.takes {
            Takes::Flag => json!({ "type": "boolean" }),
            Takes::Count | Takes::Size => count(),
            Takes::Extent => json!({ "anyOf": [count(), list(count())] }),
            Takes::Text => text(),
            Takes::Number => json!({ "type": "number" }),
            Takes::Counts => list(count()),
            Takes::Texts => list(text()),
            Takes::Own => own(key.name),
        };
        assert!(value.is_object(), "`{}` has no schema: say here what it takes", key.name);
        value["description"] = json!(described(key));
        (key.name, value)
    };
    object_of(keys.into_iter().map(property), required)
}

/// The description of a key in the documents, with placeholders replaced.
fn described(key: &Key) -> String {
    let doc = key.doc.trim().replace("{default}", &(key.default)());
    let doc = doc.replace("{roles}", &spellings::<Role>().join(", "));
    let doc = doc.replace("{elements}", &spellings::<Element>().join(", "));
    let doc = doc.replace("{regions}", &spellings::<Region>().join(", "));
    let doc = doc.replace("{elements_together}", &spellings::<Elements>().join(", "));
    let doc = doc.replace("{comparisons}", &spellings::<Comparison>().join(", "));
    doc.replace("{signs}", &spellings::<Sign>().join(", "))
}

fn object_of<'k>(properties: impl IntoIterator<Item = (&'k str, Value)>, required: &[&str]) -> Value {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn named(value: Value) -> Value {
    json!({ "type": "object", "additionalProperties": value })
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

fn list(item: Value) -> Value {
    json!({ "type": "array", "items": item })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn count() -> Value {
    json!({ "type": "integer", "minimum": 0 })
}

/// A number; infinities are quoted.
fn number() -> Value {
    json!({ "anyOf": [{ "type": "number" }, { "type": "boolean" }, { "enum": ["inf", "-inf"] }] })
}

fn word<W: volta_case::Word>() -> Value {
    json!({ "enum": spellings::<W>() })
}

fn contents() -> Value {
    let fill = object_of([("fill", number()), ("symbolic", word::<Region>())], &["fill"]);
    let extensions = volta_case::CONTENTS_FILES.map(|extension| format!("\\{extension}")).join("|");
    let file = json!({ "type": "string", "pattern": format!("({extensions})$") });
    json!({ "anyOf": [word::<NamedContents>(), fill, list(number()), file] })
}

/// An element type, optionally followed by the extents of a field.
fn field_type() -> Value {
    let elements = spellings::<Element>().join("|");
    json!({ "type": "string", "pattern": format!("^({elements})(\\[[0-9]+(x[0-9]+)*\\])?$") })
}

fn verdict() -> Value {
    word::<VerdictName>()
}
