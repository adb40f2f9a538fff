//! LaTeX, with the package `amsmath`: lines of an `align*`.

use super::Notation;
use crate::formula::write::{Level, Written};

/// LaTeX.
pub(in crate::formula) struct Latex;

/// Escapes the characters that LaTeX would read as commands.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '_' | '#' | '$' | '%' | '&' | '{' | '}' => {
                out.push('\\');
                out.push(c);
            }
            '…' => out.push_str("\\ldots{}"),
            c => out.push(c),
        }
    }
    out
}

fn relation(sign: &str) -> &str {
    match sign {
        "≤" => "\\le",
        "≥" => "\\ge",
        "≠" => "\\ne",
        other => other,
    }
}

fn factors(parts: &[Written]) -> String {
    match parts {
        [] => "1".into(),
        // The fraction bar makes brackets unnecessary.
        [one] => one.text.clone(),
        several => {
            let held = |part: &Written| {
                if part.level < Level::Product || part.is_open {
                    Latex.brackets(&part.text)
                } else {
                    part.text.clone()
                }
            };
            Latex.product(several.iter().map(held).collect())
        }
    }
}

impl Notation for Latex {
    fn name(&self, name: &str) -> String {
        if name.chars().count() == 1 && name.is_ascii() {
            escaped(name)
        } else {
            format!("\\mathit{{{}}}", escaped(name))
        }
    }

    fn constant(&self, name: &str) -> String {
        match name {
            "inf" => "\\infty".into(),
            "-inf" => "-\\infty".into(),
            "log2(e)" => "\\log_2 e".into(),
            "log2(10)" => "\\log_2 10".into(),
            name => format!("\\text{{{}}}", escaped(name)),
        }
    }

    fn literal(&self, number: &str) -> String {
        if number.strip_prefix('-').unwrap_or(number).chars().all(|c| c.is_ascii_digit()) {
            return number.into();
        }
        match number.split_once('^') {
            Some((base, exponent)) if base.chars().all(|c| c.is_ascii_digit()) => {
                format!("{base}^{{{exponent}}}")
            }
            _ => format!("\\texttt{{{}}}", escaped(number)),
        }
    }

    fn ratio(&self, above: &str, below: &str) -> String {
        format!("\\frac{{{above}}}{{{below}}}")
    }

    fn index(&self, terms: &[(i64, String)]) -> String {
        super::Plain.index(terms)
    }

    fn indexed(&self, name: &str, index: &[String]) -> String {
        if index.is_empty() { name.into() } else { format!("{name}_{{{}}}", index.join(",")) }
    }

    fn comparison(&self, parts: &[String], _: bool) -> String {
        parts.iter().map(|part| relation(part)).collect::<Vec<_>>().join(" ")
    }

    fn brackets(&self, inner: &str) -> String {
        format!("\\left({inner}\\right)")
    }

    fn sum(&self, addends: &[(bool, String)]) -> String {
        super::Plain.sum(addends)
    }

    fn product(&self, factors: Vec<String>) -> String {
        if factors.is_empty() { "1".into() } else { factors.join(" \\cdot ") }
    }

    fn quotient(&self, above: &[Written], below: &[Written]) -> String {
        format!("\\frac{{{}}}{{{}}}", factors(above), factors(below))
    }

    fn power(&self, base: &str, exponent: u32) -> String {
        format!("{{{base}}}^{{{exponent}}}")
    }

    fn root(&self, inner: &str) -> String {
        format!("\\sqrt{{{inner}}}")
    }

    fn call(&self, name: &str, operands: &[String]) -> String {
        let inner = operands.join(", ");
        match name {
            "floor" => format!("\\left\\lfloor {inner}\\right\\rfloor"),
            "ceil" => format!("\\left\\lceil {inner}\\right\\rceil"),
            "abs" => format!("\\left|{inner}\\right|"),
            "exp" | "max" | "min" | "sin" | "cos" | "tanh" => format!("\\{name}{}", self.brackets(&inner)),
            name => format!("\\operatorname{{{}}}{}", escaped(name.trim_end()), self.brackets(&inner)),
        }
    }

    fn call_over(&self, name: &str, ranges: &[String], body: &str) -> String {
        let below = ranges.join(",\\, ");
        let name = if name == "mean" { "\\operatorname*{mean}".into() } else { format!("\\{name}") };
        format!("{name}_{{{below}}}{}", self.brackets(body))
    }

    fn sign_over(&self, sign: &str, ranges: &[String], body: &str) -> String {
        let sign = if sign == "Σ" { "\\sum" } else { "\\prod" };
        format!("{sign}_{{{}}} {body}", ranges.join(",\\, "))
    }

    fn between(&self, word: &str, operands: &[String]) -> String {
        operands.join(&format!(" \\mathbin{{\\text{{{}}}}} ", escaped(word)))
    }

    fn choice(&self, condition: &str, then: &str, other: &str) -> String {
        format!(
            "\\begin{{cases}} {then} & \\text{{if }} {condition} \\\\ {other} & \\text{{otherwise}} \\end{{cases}}"
        )
    }

    fn marked(&self, inner: &str) -> String {
        format!("\\boxed{{{inner}}}")
    }

    fn line(&self, left: &str, right: &str, ranges: &[String], is_part: bool) -> String {
        let indent = if is_part { "\\quad " } else { "" };
        let behind = if ranges.is_empty() { String::new() } else { format!(" && {}", ranges.join(",\\; ")) };
        format!("{indent}{left} &= {right}{behind}")
    }

    fn remark(&self, text: &str) -> String {
        format!("& \\text{{{}}}", escaped(text))
    }
}
