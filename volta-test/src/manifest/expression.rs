//! Expressions of numbers over the variables of a family: `ceil(n / 256)`, `2^k`. Numbers are exact.

use volta_core::number::{Extended, Rational};

use crate::number;

/// Deeper nesting is refused.
const MAX_DEPTH: u32 = 64;

/// Larger exponents are refused: sizes have 64 bits.
const MAX_EXPONENT: i64 = 64;

/// The value of an expression; `value_of` gives that of a name.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub(super) fn evaluate(text: &str, value_of: &dyn Fn(&str) -> Option<Rational>) -> Result<Rational, String> {
    let mut parser = Parser { text, at: 0, depth: 0, value_of };
    let value = parser.sum()?;
    match parser.next() {
        None => Ok(value),
        Some(sign) => Err(format!("`{sign}` is not expected in `{text}`")),
    }
}

struct Parser<'e> {
    text: &'e str,
    at: usize,
    depth: u32,
    value_of: &'e dyn Fn(&str) -> Option<Rational>,
}

impl<'e> Parser<'e> {
    fn sum(&mut self) -> Result<Rational, String> {
        let mut value = self.product()?;
        loop {
            value = if self.takes('+') {
                &value + &self.product()?
            } else if self.takes('-') {
                &value - &self.product()?
            } else {
                return Ok(value);
            };
        }
    }

    fn product(&mut self) -> Result<Rational, String> {
        let mut value = self.power()?;
        loop {
            let (divides, is_rest) = (self.takes('/'), self.takes('%'));
            if divides || is_rest {
                let by = self.power()?;
                let quotient =
                    value.checked_div(&by).ok_or_else(|| format!("a division by 0 in `{}`", self.text))?;
                value = if divides { quotient } else { &value - &(&quotient.floor() * &by) };
            } else if self.takes('*') {
                value = &value * &self.power()?;
            } else {
                return Ok(value);
            }
        }
    }

    fn power(&mut self) -> Result<Rational, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("this expression is nested too deep".into());
        }
        let base = self.atom()?;
        let exponent = if self.takes('^') { Some(self.power()?) } else { None };
        self.depth -= 1;
        let Some(exponent) = exponent else { return Ok(base) };
        let small = exponent.to_i64().filter(|exponent| exponent.abs() <= MAX_EXPONENT);
        let small = small.and_then(|exponent| i32::try_from(exponent).ok());
        small
            .and_then(|small| base.pow(small))
            .ok_or_else(|| format!("{exponent} is not an exponent, as in `{}`", self.text))
    }

    fn atom(&mut self) -> Result<Rational, String> {
        if self.takes('-') {
            return Ok(-self.power()?);
        }
        if self.takes('(') {
            let value = self.sum()?;
            return self.closed(value);
        }
        let word = self.word();
        if word.is_empty() {
            let found = self.next().map_or("its end".to_owned(), |sign| format!("`{sign}`"));
            return Err(format!("a number or a name is wanted before {found} in `{}`", self.text));
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return match number::parse(word) {
                Some(Extended::Finite(value)) => Ok(value),
                Some(_) | None => Err(format!("`{word}` is not a number")),
            };
        }
        if self.takes('(') {
            return self.call(word);
        }
        (self.value_of)(word).ok_or_else(|| format!("`{word}` is not a number of this family"))
    }

    fn call(&mut self, function: &str) -> Result<Rational, String> {
        let mut values = vec![self.sum()?];
        while self.takes(',') {
            values.push(self.sum()?);
        }
        let count = values.len();
        let value = match (function, values.pop(), values.pop()) {
            ("ceil", Some(value), None) => value.ceil(),
            ("floor", Some(value), None) => value.floor(),
            ("min", Some(one), Some(other)) if count == 2 => one.min(other),
            ("max", Some(one), Some(other)) if count == 2 => one.max(other),
            _ => {
                return Err(format!(
                    "`{function}` of {count} is no function: there are ceil(a), floor(a), min(a, b), max(a, b)"
                ));
            }
        };
        self.closed(value)
    }

    fn closed(&mut self, value: Rational) -> Result<Rational, String> {
        if self.takes(')') { Ok(value) } else { Err(format!("a `)` is missing in `{}`", self.text)) }
    }

    /// The next word: a name or a number.
    fn word(&mut self) -> &'e str {
        self.next();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// The next character after blanks.
    fn next(&mut self) -> Option<char> {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn takes(&mut self, sign: char) -> bool {
        let is_next = self.next() == Some(sign);
        self.at += if is_next { sign.len_utf8() } else { 0 };
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<String, String> {
        let value_of = |name: &str| (name == "n").then(|| Rational::from_integer(97));
        evaluate(text, &value_of).map(|value| value.to_string())
    }

    #[test]
    fn operators_bind_as_usual() {
        for (text, expected) in [
            ("n", "97"),
            ("1 + 2 * n - 3", "192"),
            ("ceil(n / 32)", "4"),
            ("floor(n/32)*32", "96"),
            ("n % 32", "1"),
            ("2^3^2", "512"),
            ("-2^2", "-4"),
            ("2 ^ (n - 95)", "4"),
            ("min(n, 64) + max(n, 128)", "192"),
            ("1 / n", "1/97"),
            ("0x10 + 0.5", "33/2"),
        ] {
            assert_eq!(value(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            ("", "a number or a name is wanted before its end in ``"),
            ("n +", "a number or a name is wanted before its end in `n +`"),
            ("(n", "a `)` is missing in `(n`"),
            ("n n", "`n` is not expected in `n n`"),
            ("m", "`m` is not a number of this family"),
            ("1 / (n - 97)", "a division by 0 in `1 / (n - 97)`"),
            ("log(n)", "`log` of 1 is no function: there are ceil(a), floor(a), min(a, b), max(a, b)"),
            ("2 ^ n", "97 is not an exponent, as in `2 ^ n`"),
            ("3n", "`3n` is not a number"),
        ] {
            assert_eq!(value(text).err().as_deref(), Some(expected), "{text}");
        }
        assert!(value(&"(".repeat(100)).is_err());
        assert!(value(&"-".repeat(100_000)).is_err());
    }
}
