//! `args`: the arguments of a kernel.

use toml::de::{DeArray, DeTable};
use volta_case::{MEMBER, Wrong, choose};
use volta_core::case::{Argument, Element, Member, ParamKind, TensorAddress, TensorMap};
use volta_core::number::{Extended, Rational};

use super::check_number;
use super::reader::{Problems, Table, Value, as_integer, as_number};

const EXPECTED: &str =
    "a parameter's name, one of its elements as in \"x + 256\", a number, or a list of a struct's members";
const POINTERS: &str = "a list of at least one pointer: [\"a\", \"b + 256\", \"null\"]";
const POINTER: &str = "a tensor, an element of one, or null: \"a\", \"b + 256\", \"null\"";
const MEMBERS: &str = "a parameter's name, a list, `{ type = \"f32\", value = 0.5 }` or `{ offset = 16 }`";

/// The names that arguments may refer to.
pub(super) struct Known<'a> {
    pub(super) names: &'a [&'a str],
    pub(super) maps: &'a [(String, TensorMap)],
    pub(super) problems: &'a Problems,
}

impl Known<'_> {
    /// The arguments of a kernel, if the case lists them.
    pub(super) fn arguments(&self, table: &Table<'_>) -> Option<Vec<Argument>> {
        let list = table.list("args", EXPECTED, |value| match as_number(value.get_ref()) {
            Some(number) => Some(Argument::Literal(number)),
            None => self.argument(table, value),
        })?;
        Some(Argument::with_maps(list, self.maps))
    }

    /// An argument that is a name or a struct.
    fn argument(&self, table: &Table<'_>, value: Value<'_>) -> Option<Argument> {
        if let Some(members) = value.get_ref().as_array() {
            return Some(Argument::Struct(self.members(table, members)));
        }
        let text = value.get_ref().as_str()?;
        if self.is_null(text) {
            return Some(Argument::Literal(Extended::Finite(Rational::ZERO)));
        }
        // A name may contain a plus sign: that of a variable of a struct.
        let inside = text.split_once('+').filter(|_| !self.names.contains(&text));
        let (name, element) = match inside {
            Some((name, element)) => (name.trim(), Some(element.trim())),
            None => (text, None),
        };
        let maps = self.maps.iter().map(|(name, _)| name.as_str());
        let known: Vec<&str> = self.names.iter().copied().chain(maps).collect();
        if !known.contains(&name) {
            let wrong = Wrong::unknown(format!("there is no parameter `{name}`"), name, &known);
            self.problems.add_senseless(value.span(), wrong.message, wrong.help);
        }
        let Some(element) = element else { return Some(Argument::Named(name.into())) };
        let Ok(at) = element.parse() else {
            let message = format!("`{element}` is no number of an element of `{name}`");
            self.problems.add(value.span(), message, Some(format!("\"{name} + 256\"")));
            return Some(Argument::Named(name.into()));
        };
        Some(Argument::Element { of: name.into(), at })
    }

    /// An array of pointers.
    pub(super) fn pointers(&self, table: &Table<'_>, name: &str, list: Value<'_>) -> Option<ParamKind> {
        if let Some((key, span, _)) = table.entries().find(|(key, ..)| *key != "pointers") {
            let message = format!("`{name}` is an array of pointers, which has no `{key}`");
            self.problems.add(span, message, None);
        }
        let Some(items) = list.get_ref().as_array().filter(|items| !items.is_empty()) else {
            table.wrong_type(list, "`pointers`", POINTERS);
            return None;
        };
        let mut pointers = Vec::new();
        for item in items.iter() {
            match item.get_ref().as_str().and_then(|_| self.argument(table, item)) {
                Some(Argument::Named(of)) => pointers.push(Some(TensorAddress { of, at: 0 })),
                Some(Argument::Element { of, at }) => pointers.push(Some(TensorAddress { of, at })),
                Some(Argument::Literal(_)) => pointers.push(None),
                Some(Argument::Map { .. } | Argument::Struct(_)) | None => {
                    table.wrong_type(item, "a pointer", POINTER);
                }
            }
        }
        Some(ParamKind::of_pointers(pointers))
    }

    /// Whether a text is the null pointer: that, and no parameter of that name.
    fn is_null(&self, text: &str) -> bool {
        text == "null" && !self.names.contains(&text)
    }

    fn members(&self, table: &Table<'_>, members: &DeArray<'_>) -> Vec<Member> {
        let member = |value| {
            let member = self.member(table, value);
            if member.is_none() {
                table.wrong_type(value, "a member of a struct", MEMBERS);
            }
            member
        };
        members.iter().filter_map(member).collect()
    }

    fn member(&self, table: &Table<'_>, value: Value<'_>) -> Option<Member> {
        if let Some(entries) = value.get_ref().as_table() {
            return self.table(entries, value);
        }
        match self.argument(table, value)? {
            // A number needs a type, and the only one without is the null pointer.
            Argument::Literal(null) => Some(Member::Number(Element::Int { bytes: 8, signed: false }, null)),
            other @ (Argument::Named(_)
            | Argument::Element { .. }
            | Argument::Map { .. }
            | Argument::Struct(_)) => Some(Member::Argument(other)),
        }
    }

    /// A member of a struct that is a table: a number with its type, or the offset of the next member.
    fn table(&self, entries: &DeTable<'_>, at: Value<'_>) -> Option<Member> {
        let table = Table::new(entries, at.span(), "a member of a struct", MEMBER, self.problems);
        let (ty, number) = (table.get("type"), table.get("value"));
        let offset = table.get("offset").map(|offset| as_integer(offset.get_ref()));
        table.finish();
        match (ty, number, offset) {
            (None, None, Some(offset)) => offset.map(Member::Offset),
            (Some(ty), Some(value), None) => {
                let name = ty.get_ref().as_str()?;
                let number = as_number(value.get_ref())?;
                match choose(name, || format!("unknown element type `{name}`")) {
                    Ok(element) => {
                        check_number(element, &number, &value, self.problems);
                        Some(Member::Number(element, number))
                    }
                    Err(Wrong { message, help }) => {
                        self.problems.add(ty.span(), message, help);
                        Some(Member::Offset(0))
                    }
                }
            }
            _ => None,
        }
    }
}
