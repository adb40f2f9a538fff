//! The span of a part of a case in its `volta.toml`.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use volta_core::case::Which;
use volta_core::verdict::CasePart;

use super::document;

/// The span of a part, in the section of the kernel of a side and its step if the part belongs to a kernel. The span of a missing
/// key is that of the section in which it would be.
pub fn locate(text: &str, side: Option<(Which, usize)>, part: &CasePart) -> Option<Range<usize>> {
    let top = &document::parse(text).ok()?;
    let kernel = || {
        let own = match side {
            Some((Which::Reference, _)) => "reference",
            Some((Which::Opt, _)) | None => "opt",
        };
        let (header, whole) = entry(top, own).or_else(|| entry(top, "kernel"))?;
        // One of several steps stands in a list.
        let steps = whole.get_ref().as_table().and_then(|table| entry(table, "launch"));
        let step = side.and_then(|(_, step)| steps?.1.get_ref().as_array()?.get(step));
        Some(step.map_or((header, whole), |step| (step.span(), step)))
    };
    let value_of = |table: &'_ Spanned<DeValue<'_>>, key: &str| -> Option<Range<usize>> {
        Some(entry(table.get_ref().as_table()?, key)?.1.span())
    };
    match part {
        CasePart::Key(key) => {
            let (header, table) = kernel()?;
            let params = || (key == "args").then(|| Some(entry(top, "params")?.0)).flatten();
            value_of(table, key).or_else(params).or(Some(header))
        }
        CasePart::Argument(at) => {
            let (_, table) = kernel()?;
            if let Some((_, args)) = entry(table.get_ref().as_table()?, "args") {
                return Some(args.get_ref().as_array()?.get(*at)?.span());
            }
            let params = entry(top, "params")?.1.get_ref().as_table()?;
            let mut keys: Vec<Range<usize>> = params.iter().map(|(name, _)| name.span()).collect();
            keys.sort_by_key(|span| span.start);
            keys.into_iter().nth(*at)
        }
        CasePart::Parameter(name) => {
            // A field is written within its tensor of structs.
            let names = [name.as_str(), name.split('.').next().unwrap_or(name)];
            let mut tables = names.iter().flat_map(|name| ["params", "globals"].map(|key| (key, *name)));
            tables.find_map(|(key, name)| Some(entry(entry(top, key)?.1.get_ref().as_table()?, name)?.0))
        }
    }
}

/// The span of a key, and its value.
fn entry<'a>(table: &'a DeTable<'a>, key: &str) -> Option<(Range<usize>, &'a Spanned<DeValue<'a>>)> {
    let (name, value) = table.iter().find(|(name, _)| name.get_ref().as_ref() == key)?;
    Some((name.span(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_found_where_they_stand() {
        let text = "[params]\nx = {}\nn = {}\n[reference]\nblock = 32\n[opt]\nargs = [\"n\", \"x\"]\n";
        let at = |side, part: CasePart| locate(text, Some((side, 0)), &part).map(|span| &text[span]);
        let key = |key: &str| CasePart::Key(key.into());
        assert_eq!(at(Which::Reference, key("block")), Some("32"));
        assert_eq!(at(Which::Opt, key("block")), Some("opt"), "where it would stand");
        assert_eq!(at(Which::Reference, key("args")), Some("params"));
        assert_eq!(at(Which::Reference, CasePart::Argument(1)), Some("n"));
        assert_eq!(at(Which::Opt, CasePart::Argument(1)), Some("\"x\""));
        assert_eq!(at(Which::Opt, CasePart::Argument(2)), None);
        assert_eq!(at(Which::Opt, CasePart::Parameter("x".into())), Some("x"));
        assert_eq!(at(Which::Opt, CasePart::Parameter("x.field".into())), Some("x"));
        let json = r#"{ "params": { "x": {} }, "kernel": { "block": 64 } }"#;
        assert_eq!(locate(json, None, &key("block")).map(|span| &json[span]), Some("64"));
    }
}
