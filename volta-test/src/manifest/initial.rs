//! The contents of a tensor before the launch.

use toml::de::DeValue;
use volta_case::{FILL, NamedContents, Region, choose, path_problem};
use volta_core::case::{Contents, Element};
use volta_core::number::Extended;

use super::reader::{Problems, Table, Value, as_number};
use super::{check_number, read_choice, read_word};
use crate::contents;

pub(super) fn read_contents(
    value: Value<'_>,
    shape: &[u64],
    types: [Element; 2],
    problems: &Problems,
) -> Option<Contents> {
    let check = |number: &Extended, at: &Value<'_>| {
        let other = (types[0] != types[1]).then_some(types[1]);
        [Some(types[0]), other]
            .into_iter()
            .flatten()
            .for_each(|element| check_number(element, number, at, problems));
    };
    let wrong = |message: String, help: Option<String>| {
        problems.add(value.span(), message, help);
        None
    };
    match value.get_ref() {
        DeValue::String(text) if contents::is_file(text) => match path_problem(text) {
            // They are read when the case runs.
            None => Some(Contents::List(Vec::new())),
            Some(message) => wrong(message, None),
        },
        DeValue::String(text) => {
            let named = choose(text, || format!("unknown contents `{text}`"));
            if Region::parse(text).is_some() {
                let help = format!("contents = {{ fill = 0, symbolic = \"{text}\" }}");
                return wrong(format!("`{text}` is a part of a matrix"), Some(help));
            }
            let named: NamedContents = read_choice(named, &value, problems)?;
            if named == NamedContents::LowerTriangular && shape.len() < 2 {
                return wrong("`lower_triangular` needs two dimensions or more".into(), None);
            }
            Some(named.into())
        }
        DeValue::Table(table) => {
            let table = Table::new(table, value.span(), "`contents`", FILL, problems);
            let fill =
                table.read("fill", "a number, \"inf\" or \"-inf\"", |value| as_number(value.get_ref()));
            let (missing, region) = (table.get("fill").is_none(), table.get("symbolic"));
            table.finish();
            match fill {
                None if missing && region.is_some() => {
                    let help = "the other elements: { fill = 0, symbolic = \"lower\" }".into();
                    wrong("`symbolic` needs a `fill`".into(), Some(help))
                }
                None if missing => wrong("contents must be a name, a list or { fill = … }".into(), None),
                fill => {
                    if let Some(number) = &fill {
                        check(number, &value);
                    }
                    match region {
                        Some(_) if shape.len() < 2 => {
                            wrong("a part of a matrix needs two dimensions or more".into(), None)
                        }
                        Some(region) => {
                            Some(Contents::Partly(read_word(region, "`symbolic`", problems)?, fill?))
                        }
                        None => fill.map(Contents::Fill),
                    }
                }
            }
        }
        DeValue::Array(items) => {
            let mut list = Vec::new();
            for item in items.iter() {
                match as_number(item.get_ref()) {
                    Some(number) => {
                        check(&number, &item);
                        list.push(number);
                    }
                    None => problems.add(item.span(), "an element of `contents` is a number", None),
                }
            }
            let expected = shape.iter().try_fold(1u64, |product, length| product.checked_mul(*length));
            if expected != Some(list.len() as u64) {
                let count = expected.map_or("too many".into(), |count| count.to_string());
                let message = format!("{} numbers for a tensor of {count} elements", list.len());
                problems.add_senseless(value.span(), message, None);
            }
            Some(Contents::List(list))
        }
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {
            wrong("contents must be a name, a list or { fill = … }".into(), None)
        }
    }
}
