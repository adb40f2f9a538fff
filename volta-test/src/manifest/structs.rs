//! Tensors of structs: `type = { d = "f16", qs = "u8[16]" }`.

use volta_case::{FIELD, TYPE, spellings};
use volta_core::case::{Assumed, Binding, Contents, Element, FieldType, Param, Role, tensor_of_structs};

use super::reader::{Problems, Table, Value};
use super::{read_assumed, read_contents, read_shape, read_word};

const EXPECTED: &str = "a type such as \"u8[16]\", the same on both sides, or a table with a `type`";

/// The fields of a parameter whose type is a struct; `None` if it has one element type, or one for each side.
pub(super) fn fields<'a>(param: &Table<'a>, problems: &'a Problems) -> Option<Table<'a>> {
    let value = param.get("type")?;
    let fields = value.get_ref().as_table()?;
    let is_side = fields.iter().any(|(key, _)| TYPE.iter().any(|side| side.name == key.get_ref()));
    (!is_side).then(|| Table::new(fields, value.span(), "`type`", [], problems))
}

/// The parameters that represent a tensor of structs, one for each field.
pub(super) fn read(
    table: &Table<'_>,
    name: &str,
    fields: &Table<'_>,
    binding: Binding,
    problems: &Problems,
) -> Option<Vec<Param>> {
    if binding != Binding::Argument {
        let help =
            format!("give its fields, each by its byte: \"{name}+0\" = {{ type = \"f32\", shape = [4] }}");
        let message = format!("the variable `{name}` is given as a struct; only parameters can be structs");
        problems.add(table.key_span("type"), message, Some(help));
        return None;
    }
    for key in ["contents", "assume", "range", "elements", "value", "symbolic"] {
        if table.get(key).is_some() {
            let help = match key {
                "contents" | "assume" | "range" | "elements" => {
                    format!("say it of a field: {{ type = \"f16\", {key} = … }}")
                }
                _ => "a field has `contents`: { type = \"f16\", contents = { fill = 0.5 } }".into(),
            };
            problems.add(
                table.key_span(key),
                format!("`{name}` holds structs, and cannot have `{key}`"),
                Some(help),
            );
        }
    }
    let role: Role = match table.get("role") {
        Some(role) => read_word(role, "`role`", problems)?,
        None => {
            let help = Some("role = \"in\", \"out\", \"inout\", \"scratch\" or \"ignored\"".into());
            problems.add(table.span.clone(), format!("the tensor `{name}` needs a role"), help);
            return None;
        }
    };
    let Some(shape) = table.get("shape") else {
        let help = Some("shape = [128]: the number of structs".into());
        problems.add(table.span.clone(), format!("the tensor `{name}` needs a shape"), help);
        return None;
    };
    let shape = read_shape(table, shape, problems)?;
    let mut types = Vec::new();
    for (field, _, value) in fields.entries() {
        types.push(read_field(table, field, value, &shape, problems)?);
    }
    match tensor_of_structs(name, &shape, role, types) {
        Ok(params) => Some(params),
        Err(message) => {
            problems.add(table.key_span("type"), message, None);
            None
        }
    }
}

fn read_field(
    table: &Table<'_>,
    name: &str,
    value: Value<'_>,
    structs: &[u64],
    problems: &Problems,
) -> Option<FieldType> {
    let own = value
        .get_ref()
        .as_table()
        .map(|entries| Table::new(entries, value.span(), format!("the field `{name}`"), FIELD, problems));
    let ty = match &own {
        Some(own) => own.get("type"),
        None => Some(value),
    };
    let Some((ty, text)) = ty.and_then(|ty| Some((ty, ty.get_ref().as_str()?))) else {
        table.wrong_type(value, &format!("the field `{name}`"), EXPECTED);
        return None;
    };
    let (element, shape) = match FieldType::parse_type(text) {
        Ok(parsed) => parsed,
        Err(message) => {
            let elements = spellings::<Element>().join(", ");
            let help = format!("such as \"f16\", \"u8[16]\" or \"f16[4x8]\"; element types: {elements}");
            problems.add(ty.span(), message, Some(help));
            return None;
        }
    };
    let (mut contents, mut assumed): (Option<Contents>, Assumed) = (None, Assumed::default());
    if let Some(own) = own {
        if let Some(value) = own.get("contents") {
            contents = Some(read_contents(value, &[structs, &shape].concat(), [element; 2], problems)?);
        }
        assumed = read_assumed(&own, Some((element, element)), problems)?;
        own.finish();
    }
    Some(FieldType { name: name.into(), element, shape, contents, assumed })
}
