//! The largest error that a case accepts.

use std::fmt;

use crate::key::{Field, Takes, Value};
use crate::word::Wrong;

/// A positive number of a case, by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Positive(u64);

impl Positive {
    /// A number that is more than zero; infinity, too.
    pub fn new(value: f64) -> Option<Positive> {
        (value > 0.0).then_some(Positive(value.to_bits()))
    }

    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The largest error that is accepted of the elements of the outputs (rule B3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaxError {
    /// In units in the last place of the exact value.
    Ulps(Positive),
    /// As a distance.
    Absolute(Positive),
    /// As a multiple of the reference's bound.
    TimesReference(Positive),
}

impl MaxError {
    /// Errors are bounded, and accepted whatever they are.
    pub const ANY: MaxError = MaxError::Absolute(Positive(f64::INFINITY.to_bits()));

    /// Reads `4 ulp`, `2x reference` or `1e-5`.
    pub fn parse(text: &str) -> Option<MaxError> {
        let number = |text: &str| {
            let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".e-+".contains(&byte));
            text.parse::<f64>().ok().filter(|value| plain && value.is_finite()).and_then(Positive::new)
        };
        if let Some(ulps) = text.strip_suffix("ulp") {
            return number(ulps.trim_end()).map(MaxError::Ulps);
        }
        match text.split_once(char::is_whitespace) {
            Some((times, "reference")) => {
                times.strip_suffix('x').and_then(number).map(MaxError::TimesReference)
            }
            Some(_) => None,
            None => number(text).map(MaxError::Absolute),
        }
    }
}

impl fmt::Display for MaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MaxError::Ulps(most) => write!(f, "{} ulp", most.get()),
            MaxError::Absolute(most) => write!(f, "{:e}", most.get()),
            MaxError::TimesReference(most) => write!(f, "{}x reference", most.get()),
        }
    }
}

impl Field for MaxError {
    const TAKES: Takes = Takes::Text;

    fn read(key: &str, value: Value) -> Result<MaxError, Wrong> {
        let text = String::read(key, value)?;
        MaxError::parse(&text).ok_or_else(|| {
            format!("`{key}` is `{text}`, and not like \"4 ulp\", \"1e-5\" or \"2x reference\"").into()
        })
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::{MaxError, Positive};

    #[test]
    fn what_is_shown_is_read_again() {
        for text in ["4 ulp", "0.5 ulp", "2x reference", "1e-5", "2.5e0"] {
            let read = MaxError::parse(text).expect("a bound");
            assert_eq!(MaxError::parse(&read.to_string()), Some(read), "{text}");
        }
        assert_eq!(MaxError::parse("4ulp"), Positive::new(4.0).map(MaxError::Ulps));
        for text in
            ["", "ulp", "-1 ulp", "0", "inf", "NaN ulp", "2 reference", "2x other", "4 ulps", "infinity"]
        {
            assert_eq!(MaxError::parse(text), None, "{text}");
        }
    }
}
