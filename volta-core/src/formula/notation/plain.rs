//! Plain text.

use std::fmt::Write as _;

use super::Notation;
use crate::formula::write::{Level, Written};

/// Plain text, as in snapshots.
pub(in crate::formula) struct Plain;

fn in_brackets(part: &Written, level: Level) -> String {
    if part.level < level { Plain.brackets(&part.text) } else { part.text.clone() }
}

impl Notation for Plain {
    fn name(&self, name: &str) -> String {
        name.into()
    }

    fn constant(&self, name: &str) -> String {
        name.into()
    }

    fn literal(&self, number: &str) -> String {
        number.into()
    }

    fn ratio(&self, above: &str, below: &str) -> String {
        format!("{above}/{below}")
    }

    fn index(&self, terms: &[(i64, String)]) -> String {
        let mut text = String::new();
        for (times, name) in terms {
            let sign = match (text.is_empty(), *times < 0) {
                (_, true) => "-",
                (true, false) => "",
                (false, false) => "+",
            };
            let _ = match (times.unsigned_abs(), name.as_str()) {
                (1, name) if !name.is_empty() => write!(text, "{sign}{name}"),
                (times, name) => write!(text, "{sign}{times}{name}"),
            };
        }
        text
    }

    fn indexed(&self, name: &str, index: &[String]) -> String {
        if index.is_empty() { name.into() } else { format!("{name}[{}]", index.join(",")) }
    }

    fn comparison(&self, parts: &[String], spaced: bool) -> String {
        parts.join(if spaced { " " } else { "" })
    }

    fn brackets(&self, inner: &str) -> String {
        format!("({inner})")
    }

    fn sum(&self, addends: &[(bool, String)]) -> String {
        let mut text = String::new();
        for (negative, addend) in addends {
            text.push_str(match (text.is_empty(), negative) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            });
            text.push_str(addend);
        }
        text
    }

    fn product(&self, factors: Vec<String>) -> String {
        if factors.is_empty() { "1".into() } else { factors.join("·") }
    }

    fn quotient(&self, above: &[Written], below: &[Written]) -> String {
        let mut factors: Vec<String> = above.iter().map(|part| in_brackets(part, Level::Product)).collect();
        if let (Some(last), true) = (factors.last_mut(), above.last().is_some_and(|last| last.is_open)) {
            *last = self.brackets(last);
        }
        let below: Vec<String> = below.iter().map(|part| in_brackets(part, Level::Power)).collect();
        let above = self.product(factors);
        match below.as_slice() {
            [one] => format!("{above} / {one}"),
            several => format!("{above} / ({})", several.join("·")),
        }
    }

    fn power(&self, base: &str, exponent: u32) -> String {
        format!("{base}^{exponent}")
    }

    fn root(&self, inner: &str) -> String {
        format!("sqrt({inner})")
    }

    fn call(&self, name: &str, operands: &[String]) -> String {
        format!("{name}({})", operands.join(", "))
    }

    fn call_over(&self, name: &str, ranges: &[String], body: &str) -> String {
        format!("{name}{{{}}}({body})", ranges.join(","))
    }

    fn sign_over(&self, sign: &str, ranges: &[String], body: &str) -> String {
        format!("{sign}{{{}}} {body}", ranges.join(","))
    }

    fn between(&self, word: &str, operands: &[String]) -> String {
        operands.join(&format!(" {word} "))
    }

    fn choice(&self, condition: &str, then: &str, other: &str) -> String {
        format!("({condition} ? {then} : {other})")
    }

    fn marked(&self, inner: &str) -> String {
        format!("⟦{inner}⟧")
    }

    fn line(&self, left: &str, right: &str, ranges: &[String], is_part: bool) -> String {
        let indent = if is_part { "  " } else { "" };
        let behind = if ranges.is_empty() { String::new() } else { format!("      {}", ranges.join(", ")) };
        format!("{indent}{left} = {right}{behind}")
    }

    fn remark(&self, text: &str) -> String {
        text.into()
    }
}
