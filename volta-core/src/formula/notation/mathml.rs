//! MathML for browsers: a paragraph with a `math` element for each line.

use super::Notation;
use crate::formula::write::{Level, Written};

/// MathML.
pub(in crate::formula) struct MathMl;

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // Control characters, which text has no notation for.
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

fn row(inner: &str) -> String {
    format!("<mrow>{inner}</mrow>")
}

fn sign(sign: &str) -> String {
    format!("<mo>{}</mo>", escaped(sign))
}

fn words(text: &str) -> String {
    format!("<mtext>{}</mtext>", escaped(text))
}

fn name(name: &str) -> String {
    format!("<mi>{}</mi>", escaped(name))
}

fn fenced(open: &str, inner: &str, close: &str) -> String {
    row(&format!("<mo fence=\"true\">{open}</mo>{inner}<mo fence=\"true\">{close}</mo>"))
}

/// Sums are written in lines of about so many letters.
const LINE: usize = 72;

/// The number of letters that are seen.
fn visible(text: &str) -> usize {
    let mut is_inside = false;
    let is_seen = |c: char| {
        let was_inside = is_inside;
        is_inside = c == '<' || is_inside && c != '>';
        !was_inside && c != '<'
    };
    text.chars().map(is_seen).filter(|seen| *seen).count()
}

/// The ranges under an operator.
fn below(ranges: &[String]) -> String {
    row(&ranges.join("<mo separator=\"true\">,</mo>"))
}

fn factors(parts: &[Written]) -> String {
    match parts {
        [] => "<mn>1</mn>".into(),
        // The fraction bar makes brackets unnecessary.
        [one] => row(&one.text),
        several => {
            let held = |part: &Written| {
                if part.level < Level::Product || part.is_open {
                    MathMl.brackets(&part.text)
                } else {
                    part.text.clone()
                }
            };
            MathMl.product(several.iter().map(held).collect())
        }
    }
}

impl Notation for MathMl {
    fn name(&self, text: &str) -> String {
        name(text)
    }

    fn after(&self, name: String) -> String {
        format!("<msup>{name}<mo>′</mo></msup>")
    }

    fn constant(&self, text: &str) -> String {
        match text {
            "inf" => "<mi>∞</mi>".into(),
            "-inf" => row("<mo>−</mo><mi>∞</mi>"),
            "log2(e)" => row("<msub><mi>log</mi><mn>2</mn></msub><mi>e</mi>"),
            "log2(10)" => row("<msub><mi>log</mi><mn>2</mn></msub><mn>10</mn>"),
            text => words(text),
        }
    }

    fn literal(&self, number: &str) -> String {
        let is_whole = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        match (number.strip_prefix('-'), number.split_once('^')) {
            (Some(positive), _) => row(&format!("<mo>−</mo>{}", self.literal(positive))),
            (None, Some((base, exponent))) if is_whole(base) && is_whole(exponent) => {
                format!("<msup><mn>{base}</mn><mn>{exponent}</mn></msup>")
            }
            (None, _) => format!("<mn>{}</mn>", escaped(number)),
        }
    }

    fn ratio(&self, above: &str, below: &str) -> String {
        format!("<mfrac>{above}{below}</mfrac>")
    }

    fn index(&self, terms: &[(i64, String)]) -> String {
        let mut text = String::new();
        for (times, variable) in terms {
            match (text.is_empty(), *times < 0) {
                (_, true) => text.push_str("<mo>−</mo>"),
                (true, false) => {}
                (false, false) => text.push_str("<mo>+</mo>"),
            }
            let size = times.unsigned_abs();
            if size != 1 || variable.is_empty() {
                text.push_str(&format!("<mn>{size}</mn>"));
            }
            if !variable.is_empty() {
                text.push_str(&name(variable));
            }
        }
        row(&text)
    }

    fn indexed(&self, name: &str, index: &[String]) -> String {
        if index.is_empty() { name.into() } else { format!("<msub>{name}{}</msub>", below(index)) }
    }

    fn comparison(&self, parts: &[String], _: bool) -> String {
        let part = |part: &String| match part.as_str() {
            text @ ("<" | ">" | "=" | "≤" | "≥" | "≠") => sign(text),
            written => written.into(),
        };
        row(&parts.iter().map(part).collect::<String>())
    }

    fn brackets(&self, inner: &str) -> String {
        fenced("(", inner, ")")
    }

    fn sum(&self, addends: &[(bool, String)]) -> String {
        let (mut lines, mut text, mut length) = (Vec::new(), String::new(), 0);
        for (at, (negative, addend)) in addends.iter().enumerate() {
            let letters = visible(addend);
            if length > 0 && length + letters > LINE {
                lines.push(std::mem::take(&mut text));
                length = 0;
            }
            match (at, negative) {
                (0, false) => {}
                (_, true) => text.push_str("<mo>−</mo>"),
                (1.., false) => text.push_str("<mo>+</mo>"),
            }
            text.push_str(addend);
            length += letters;
        }
        if lines.is_empty() {
            return row(&text);
        }
        lines.push(text);
        let rows: String = lines.iter().map(|line| format!("<mtr><mtd>{line}</mtd></mtr>")).collect();
        row(&format!("<mtable class=\"lines\">{rows}</mtable>"))
    }

    fn product(&self, factors: Vec<String>) -> String {
        if factors.is_empty() { self.literal("1") } else { row(&factors.join("<mo>⋅</mo>")) }
    }

    fn quotient(&self, above: &[Written], below: &[Written]) -> String {
        format!("<mfrac>{}{}</mfrac>", factors(above), factors(below))
    }

    fn power(&self, base: &str, exponent: u32) -> String {
        format!("<msup>{}<mn>{exponent}</mn></msup>", row(base))
    }

    fn root(&self, inner: &str) -> String {
        format!("<msqrt>{inner}</msqrt>")
    }

    fn call(&self, function: &str, operands: &[String]) -> String {
        let inner = operands.join("<mo separator=\"true\">,</mo>");
        match function {
            "floor" => fenced("⌊", &inner, "⌋"),
            "ceil" => fenced("⌈", &inner, "⌉"),
            "abs" => fenced("|", &inner, "|"),
            function => row(&format!("{}{}", name(function.trim_end()), self.brackets(&inner))),
        }
    }

    fn call_over(&self, function: &str, ranges: &[String], body: &str) -> String {
        let function = format!("<munder>{}{}</munder>", name(function), below(ranges));
        row(&format!("{function}{}", self.brackets(body)))
    }

    fn sign_over(&self, large: &str, ranges: &[String], body: &str) -> String {
        let large = if large == "Σ" { "∑" } else { "∏" };
        row(&format!("<munder><mo largeop=\"true\">{large}</mo>{}</munder>{body}", below(ranges)))
    }

    fn between(&self, word: &str, operands: &[String]) -> String {
        operands.join(&format!("<mspace width=\"0.3em\"/>{}<mspace width=\"0.3em\"/>", words(word)))
    }

    fn choice(&self, condition: &str, then: &str, other: &str) -> String {
        let rows = format!(
            "<mtr><mtd>{then}</mtd><mtd><mtext>if&#160;</mtext>{condition}</mtd></mtr>\
             <mtr><mtd>{other}</mtd><mtd><mtext>otherwise</mtext></mtd></mtr>"
        );
        row(&format!("<mo fence=\"true\">{{</mo><mtable class=\"cases\">{rows}</mtable>"))
    }

    fn marked(&self, inner: &str) -> String {
        format!("<mrow class=\"marked\">{inner}</mrow>")
    }

    fn line(&self, left: &str, right: &str, ranges: &[String], is_part: bool) -> String {
        let indent = if is_part { "<mspace width=\"2em\"/>" } else { "" };
        let behind = match ranges {
            [] => String::new(),
            ranges => format!("<mspace width=\"2em\"/>{}", ranges.join("<mo separator=\"true\">,</mo>")),
        };
        format!("<p><math displaystyle=\"true\">{indent}{left}<mo>=</mo>{right}{behind}</math></p>")
    }

    fn remark(&self, text: &str) -> String {
        format!("<p class=\"quiet\">{}</p>", escaped(text))
    }
}
