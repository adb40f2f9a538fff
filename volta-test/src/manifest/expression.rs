//! Expressions of numbers over the variables of a family: `ceil(n / 256)`, `2^k`. Numbers are exact.

use volta_core::number::{Extended, Rational};

use crate::number;

/// Deeper nesting is refused.
const MAX_DEPTH: u32 = 64;

/// Larger exponents are refused: sizes have 64 bits.
const MAX_EXPONENT: i64 = 64;

/// What expressions compute with.
pub(crate) trait Quantity: Clone {
    /// A constant.
    fn of(number: Rational) -> Self;
    /// Its value, if it is one number.
    fn constant(&self) -> Option<&Rational>;
    fn plus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Result<Self, Unequal>;
    /// `None` for a division by zero.
    fn over(&self, other: &Self) -> Result<Option<Self>, Unequal>;
    fn floor(&self) -> Result<Self, Unequal>;
    fn is_at_most(&self, other: &Self) -> Result<bool, Unequal>;
}

/// Why an operation has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unequal {
    /// What is wrong, as a sentence.
    Wrong(String),
    /// It would have one at a multiple of the period.
    Multiple(u64),
}

impl From<String> for Unequal {
    fn from(message: String) -> Unequal {
        Unequal::Wrong(message)
    }
}

impl Quantity for Rational {
    fn of(number: Rational) -> Rational {
        number
    }

    fn constant(&self) -> Option<&Rational> {
        Some(self)
    }

    fn plus(&self, other: &Rational) -> Rational {
        self + other
    }

    fn times(&self, other: &Rational) -> Result<Rational, Unequal> {
        Ok(self * other)
    }

    fn over(&self, other: &Rational) -> Result<Option<Rational>, Unequal> {
        Ok(self.checked_div(other))
    }

    fn floor(&self) -> Result<Rational, Unequal> {
        Ok(Rational::floor(self))
    }

    fn is_at_most(&self, other: &Rational) -> Result<bool, Unequal> {
        Ok(self <= other)
    }
}

/// A number at sizes that are one period after the other: what it is at the first, and what is added each time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Even {
    pub(crate) first: Rational,
    pub(crate) step: Rational,
}

impl Even {
    /// A number that is the same at all sizes.
    pub(crate) fn constant_of(number: i64) -> Even {
        Even::of(Rational::from_integer(number))
    }

    /// The sizes themselves, so far apart.
    pub(crate) fn of_sizes(first: i64, period: u64) -> Even {
        Even { first: Rational::from_integer(first), step: Rational::from_u64(period) }
    }

    fn map(&self, change: impl Fn(&Rational) -> Rational) -> Even {
        Even { first: change(&self.first), step: change(&self.step) }
    }
}

impl Quantity for Even {
    fn of(first: Rational) -> Even {
        Even { first, step: Rational::from_integer(0) }
    }

    fn constant(&self) -> Option<&Rational> {
        self.step.is_zero().then_some(&self.first)
    }

    fn plus(&self, other: &Even) -> Even {
        Even { first: &self.first + &other.first, step: &self.step + &other.step }
    }

    fn times(&self, other: &Even) -> Result<Even, Unequal> {
        match (self.constant(), other.constant()) {
            (Some(factor), _) => Ok(other.map(|part| part * factor)),
            (None, Some(factor)) => Ok(self.map(|part| part * factor)),
            (None, None) => {
                Err(Unequal::Wrong("a product of two numbers that grow does not grow evenly".into()))
            }
        }
    }

    fn over(&self, other: &Even) -> Result<Option<Even>, Unequal> {
        let Some(by) = other.constant() else {
            return Err(Unequal::Wrong("a quotient by a number that grows does not grow evenly".into()));
        };
        Ok(by.recip().map(|by| self.map(|part| part * &by)))
    }

    fn floor(&self) -> Result<Even, Unequal> {
        if self.step.is_integer() {
            return Ok(Even { first: self.first.floor(), step: self.step.clone() });
        }
        let (_, parts) = self.step.to_small_parts().ok_or_else(|| "a number is too large".to_owned())?;
        Err(Unequal::Multiple(parts))
    }

    fn is_at_most(&self, other: &Even) -> Result<bool, Unequal> {
        let apart = self.plus(&other.map(|part| -part.clone()));
        let parts = [&apart.first, &apart.step];
        if !parts.iter().any(|part| part.is_positive()) {
            return Ok(true);
        }
        if !parts.iter().any(|part| part.is_negative()) {
            return Ok(false);
        }
        Err(Unequal::Wrong("which of two numbers is smaller depends on the size".into()))
    }
}

/// The value of an expression; `value_of` gives that of a name.
///
/// # Errors
/// What is wrong with it, as a sentence.
pub(super) fn evaluate(text: &str, value_of: &dyn Fn(&str) -> Option<Rational>) -> Result<Rational, String> {
    value_in(text, value_of).map_err(|error| match error {
        Unequal::Wrong(message) => message,
        Unequal::Multiple(_) => format!("`{text}` has no value"),
    })
}

/// As [`evaluate`], in numbers of any kind.
pub(super) fn value_in<Q: Quantity>(text: &str, value_of: &dyn Fn(&str) -> Option<Q>) -> Result<Q, Unequal> {
    let mut parser = Parser { text, at: 0, depth: 0, value_of };
    let value = parser.sum()?;
    match parser.next() {
        None => Ok(value),
        Some(sign) => Err(format!("`{sign}` is not expected in `{text}`").into()),
    }
}

struct Parser<'e, Q> {
    text: &'e str,
    at: usize,
    depth: u32,
    value_of: &'e dyn Fn(&str) -> Option<Q>,
}

impl<'e, Q: Quantity> Parser<'e, Q> {
    fn negative(value: &Q) -> Result<Q, Unequal> {
        value.times(&Q::of(Rational::from_integer(-1)))
    }

    fn sum(&mut self) -> Result<Q, Unequal> {
        let mut value = self.product()?;
        loop {
            value = if self.takes('+') {
                value.plus(&self.product()?)
            } else if self.takes('-') {
                value.plus(&Self::negative(&self.product()?)?)
            } else {
                return Ok(value);
            };
        }
    }

    fn product(&mut self) -> Result<Q, Unequal> {
        let mut value = self.power()?;
        loop {
            let (divides, is_rest) = (self.takes('/'), self.takes('%'));
            if divides || is_rest {
                let by = self.power()?;
                let quotient =
                    value.over(&by)?.ok_or_else(|| format!("a division by 0 in `{}`", self.text))?;
                value = if divides {
                    quotient
                } else {
                    value.plus(&Self::negative(&quotient.floor()?.times(&by)?)?)
                };
            } else if self.takes('*') {
                value = value.times(&self.power()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn power(&mut self) -> Result<Q, Unequal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("this expression is nested too deep".to_owned().into());
        }
        let base = self.atom()?;
        let exponent = if self.takes('^') { Some(self.power()?) } else { None };
        self.depth -= 1;
        let Some(exponent) = exponent else { return Ok(base) };
        let (Some(base), Some(exponent)) = (base.constant(), exponent.constant()) else {
            return Err("a power of a number that grows does not grow evenly".to_owned().into());
        };
        let small = exponent.to_i64().filter(|exponent| exponent.abs() <= MAX_EXPONENT);
        let small = small.and_then(|exponent| i32::try_from(exponent).ok());
        let power = small.and_then(|small| base.pow(small)).map(Q::of);
        power.ok_or_else(|| format!("{exponent} is not an exponent, as in `{}`", self.text).into())
    }

    fn atom(&mut self) -> Result<Q, Unequal> {
        if self.takes('-') {
            return Self::negative(&self.power()?);
        }
        if self.takes('(') {
            let value = self.sum()?;
            return self.closed(value);
        }
        let word = self.word();
        if word.is_empty() {
            let found = self.next().map_or("its end".to_owned(), |sign| format!("`{sign}`"));
            return Err(format!("a number or a name is wanted before {found} in `{}`", self.text).into());
        }
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return match number::parse(word) {
                Some(Extended::Finite(value)) => Ok(Q::of(value)),
                Some(_) | None => Err(format!("`{word}` is not a number").into()),
            };
        }
        if self.takes('(') {
            return self.call(word);
        }
        (self.value_of)(word).ok_or_else(|| format!("`{word}` is not a number of this family").into())
    }

    fn call(&mut self, function: &str) -> Result<Q, Unequal> {
        let mut values = vec![self.sum()?];
        while self.takes(',') {
            values.push(self.sum()?);
        }
        let count = values.len();
        let value = match (function, values.pop(), values.pop()) {
            ("ceil", Some(value), None) => Self::negative(&Self::negative(&value)?.floor()?)?,
            ("floor", Some(value), None) => value.floor()?,
            ("min", Some(one), Some(other)) if count == 2 => {
                if one.is_at_most(&other)? {
                    one
                } else {
                    other
                }
            }
            ("max", Some(one), Some(other)) if count == 2 => {
                if one.is_at_most(&other)? {
                    other
                } else {
                    one
                }
            }
            _ => {
                return Err(format!(
                    "`{function}` of {count} is no function: there are ceil(a), floor(a), min(a, b), max(a, b)"
                )
                .into());
            }
        };
        self.closed(value)
    }

    fn closed(&mut self, value: Q) -> Result<Q, Unequal> {
        if self.takes(')') { Ok(value) } else { Err(format!("a `)` is missing in `{}`", self.text).into()) }
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

    #[test]
    fn numbers_grow_evenly_over_a_multiple_of_what_divides_them() {
        let whole = Rational::from_integer;
        let over = |text: &str, first: i64, period: i64| {
            let own = Even { first: whole(first), step: whole(period) };
            value_in(text, &|name| (name == "n").then(|| own.clone()))
        };
        let even = |first, step| Ok(Even { first: whole(first), step: whole(step) });
        assert_eq!(over("3 * n + 1", 1, 1), even(4, 3));
        assert_eq!(over("ceil(n / 4)", 5, 1), Err(Unequal::Multiple(4)));
        for first in 1..=4 {
            assert_eq!(over("ceil(n / 4)", first, 4), even(1, 1));
            assert_eq!(over("n % 4", first, 4), even(first % 4, 0));
        }
        assert_eq!(over("max(n, 1) + min(2, n)", 2, 1), even(4, 1));
        assert_eq!(over("2 ^ 3 * n / 2", 1, 1), even(4, 4));
        for text in ["n * n", "1 / n", "2 ^ n", "min(n, 32)", "n % n"] {
            assert!(matches!(over(text, 1, 1), Err(Unequal::Wrong(_))), "{text}");
        }
    }
}
