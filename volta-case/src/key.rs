//! The keys of a case: the type of each value, and how it is set.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::word::{Word, Wrong, choose};

/// The syntax of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// `true` or `false`.
    Flag,
    /// A 64-bit unsigned integer.
    Count,
    /// A 32-bit unsigned integer; in an attribute, an expression of any integer type.
    Size,
    /// One to three unsigned integers.
    Extent,
    /// A text.
    Text,
    /// An integer of any sign, optionally with an exponent: `-1e4`.
    Number,
    /// A list of unsigned integers.
    Counts,
    /// A list of texts.
    Texts,
    /// A value for which each form of a case has its own reader.
    Own,
}

/// A value as any form of a case gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A value of [`Takes::Flag`].
    Flag(bool),
    /// A value of [`Takes::Count`] or [`Takes::Size`].
    Count(i128),
    /// A value of [`Takes::Text`].
    Text(String),
    /// A value of [`Takes::Number`], as written.
    Number(String),
    /// A value of [`Takes::Counts`] or [`Takes::Extent`].
    Counts(Vec<i128>),
    /// A value of [`Takes::Texts`].
    Texts(Vec<String>),
}

/// The effect of a key on the claim of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// None.
    None,
    /// It makes the rules stricter.
    Tightens,
    /// It relaxes a rule: verdicts list this text among their assumptions.
    Relaxes(&'static str),
}

/// A key of a case.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The syntax of its value.
    pub takes: Takes,
    /// Its default, as the documents spell it.
    pub default: fn() -> String,
    /// Its effect on the claim of a verdict.
    pub effect: Effect,
    /// Its meaning, for `docs/cases.md`; `{default}` stands for the default.
    pub doc: &'static str,
}

impl Key {
    /// A key for which each form of a case has its own reader.
    pub(crate) const fn own(name: &'static str, doc: &'static str) -> Key {
        Key { name, takes: Takes::Own, default: String::new, effect: Effect::None, doc }
    }
}

/// A type of the values of keys.
pub trait Field: Sized {
    /// The syntax of its values.
    const TAKES: Takes;

    /// Reads the value of `key`.
    ///
    /// # Errors
    /// What is wrong with it.
    fn read(key: &str, value: Value) -> Result<Self, Wrong>;

    /// Its spelling in the documents.
    fn show(&self) -> String {
        String::new()
    }
}

fn wrong(key: &str, expected: &str, value: &Value) -> Wrong {
    let found = match value {
        Value::Flag(value) => value.to_string(),
        Value::Count(value) => value.to_string(),
        Value::Text(value) => format!("{value:?}"),
        Value::Number(value) => value.clone(),
        Value::Counts(value) => format!("{value:?}"),
        Value::Texts(value) => format!("{value:?}"),
    };
    format!("`{key}` is {expected}, not {found}").into()
}

impl Field for bool {
    const TAKES: Takes = Takes::Flag;

    fn read(key: &str, value: Value) -> Result<bool, Wrong> {
        match value {
            Value::Flag(value) => Ok(value),
            other @ (Value::Count(_)
            | Value::Number(_)
            | Value::Text(_)
            | Value::Counts(_)
            | Value::Texts(_)) => Err(wrong(key, "true or false", &other)),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Field for u64 {
    const TAKES: Takes = Takes::Count;

    fn read(key: &str, value: Value) -> Result<u64, Wrong> {
        match value {
            Value::Count(number) if u64::try_from(number).is_ok() => Ok(number as u64),
            other @ (Value::Flag(_)
            | Value::Number(_)
            | Value::Count(_)
            | Value::Text(_)
            | Value::Counts(_)
            | Value::Texts(_)) => Err(wrong(key, "a whole number from 0", &other)),
        }
    }

    fn show(&self) -> String {
        match (self / 1_000_000, self % 1_000_000) {
            (millions @ 1.., 0) => format!("{millions} million"),
            _ => self.to_string(),
        }
    }
}

impl Field for u32 {
    const TAKES: Takes = Takes::Size;

    fn read(key: &str, value: Value) -> Result<u32, Wrong> {
        match value {
            Value::Count(number) if u32::try_from(number).is_ok() => Ok(number as u32),
            other @ (Value::Flag(_)
            | Value::Number(_)
            | Value::Count(_)
            | Value::Text(_)
            | Value::Counts(_)
            | Value::Texts(_)) => Err(wrong(key, &format!("a whole number from 0 to {}", u32::MAX), &other)),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Field for [u32; 3] {
    const TAKES: Takes = Takes::Extent;

    fn read(key: &str, value: Value) -> Result<[u32; 3], Wrong> {
        let sizes: Option<Vec<u32>> = if let Value::Counts(sizes) = &value {
            sizes.iter().map(|size| u32::try_from(*size).ok()).collect()
        } else {
            None
        };
        match sizes.as_deref() {
            Some(&[x]) => Ok([x, 1, 1]),
            Some(&[x, y]) => Ok([x, y, 1]),
            Some(&[x, y, z]) => Ok([x, y, z]),
            _ => {
                let message =
                    format!("`{key}` must be a whole number from 1, or a list of one to three of them");
                Err(message.into())
            }
        }
    }

    fn show(&self) -> String {
        if self[1..] == [1; 2] { self[0].to_string() } else { format!("{self:?}") }
    }
}

impl Field for String {
    const TAKES: Takes = Takes::Text;

    fn read(key: &str, value: Value) -> Result<String, Wrong> {
        match value {
            Value::Text(text) => Ok(text),
            other @ (Value::Flag(_)
            | Value::Number(_)
            | Value::Count(_)
            | Value::Counts(_)
            | Value::Texts(_)) => Err(wrong(key, "a text", &other)),
        }
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Field for Vec<String> {
    const TAKES: Takes = Takes::Texts;

    fn read(key: &str, value: Value) -> Result<Vec<String>, Wrong> {
        match value {
            Value::Texts(texts) => Ok(texts),
            other @ (Value::Flag(_)
            | Value::Number(_)
            | Value::Count(_)
            | Value::Text(_)
            | Value::Counts(_)) => Err(wrong(key, "a list of texts", &other)),
        }
    }
}

impl Field for Vec<u64> {
    const TAKES: Takes = Takes::Counts;

    fn read(key: &str, value: Value) -> Result<Vec<u64>, Wrong> {
        let numbers = if let Value::Counts(numbers) = &value {
            numbers.iter().map(|number| u64::try_from(*number).ok()).collect()
        } else {
            None
        };
        numbers.ok_or_else(|| wrong(key, "a list of whole numbers from 0", &value))
    }
}

impl Field for BTreeSet<u32> {
    const TAKES: Takes = Takes::Counts;

    fn read(key: &str, value: Value) -> Result<BTreeSet<u32>, Wrong> {
        let numbers = if let Value::Counts(numbers) = &value {
            numbers.iter().map(|number| u32::try_from(*number).ok()).collect()
        } else {
            None
        };
        numbers.ok_or_else(|| wrong(key, "a list of line numbers", &value))
    }
}

impl Field for i128 {
    const TAKES: Takes = Takes::Number;

    fn read(key: &str, value: Value) -> Result<i128, Wrong> {
        let whole = match &value {
            Value::Number(text) => whole(text),
            Value::Flag(_) | Value::Count(_) | Value::Text(_) | Value::Counts(_) | Value::Texts(_) => None,
        };
        whole.ok_or_else(|| wrong(key, "a whole number such as -1e4", &value))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// The integer that a text spells: `-10000`, `-1e4`, `-1.5e9`.
fn whole(text: &str) -> Option<i128> {
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let after = after.trim_end_matches('0');
    let zeros = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(after.len()).ok()?)?;
    let factor = 10i128.checked_pow(u32::try_from(zeros).ok()?)?;
    format!("{before}{after}").parse::<i128>().ok()?.checked_mul(factor)
}

impl Field for Duration {
    const TAKES: Takes = Takes::Text;

    fn read(key: &str, value: Value) -> Result<Duration, Wrong> {
        String::read(key, value).and_then(|text| duration(&text).map_err(Wrong::from))
    }
}

impl<F: Field> Field for Option<F> {
    const TAKES: Takes = F::TAKES;

    fn read(key: &str, value: Value) -> Result<Option<F>, Wrong> {
        F::read(key, value).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(String::new, F::show)
    }
}

/// Reads one of the words of `W`.
pub(crate) fn read_word<W: Word>(key: &str, value: Value) -> Result<W, Wrong> {
    let text = String::read(key, value)?;
    choose(&text, || format!("`{key}` is not `{text}`"))
}

/// Reads a duration: `10s`, `500ms`, `2m`.
///
/// # Errors
/// The expected syntax.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => 0,
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
        Some(milliseconds) if milliseconds > 0 => Ok(Duration::from_millis(milliseconds)),
        Some(_) | None => {
            Err(format!("`{text}` is not a time: give a number and `ms`, `s` or `m`, such as \"10s\""))
        }
    }
}

/// A section of a case: its keys, and their values.
pub trait Section {
    /// The keys, in the order of the documents.
    fn keys() -> Vec<&'static Key>;

    /// Sets the value of a key.
    ///
    /// # Errors
    /// What is wrong with the value.
    fn set(&mut self, key: &str, value: Value) -> Result<(), Wrong>;
}

/// The name of a field without the `r#` of raw identifiers, which keywords of Rust need.
pub(crate) const fn plain(field: &str) -> &str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Defines a section: a field for each key, with its default. The comment on a field is its text in the documents.
macro_rules! section {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])+ $key:ident: $type:ty = $default:expr $(, $effect:ident $(($what:literal))?)?;)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $key: $type,)+
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($key: $default,)+ }
            }
        }

        impl $crate::Section for $name {
            fn keys() -> Vec<&'static $crate::Key> {
                static KEYS: &[$crate::Key] = &[$($crate::Key {
                    name: $crate::key::plain(stringify!($key)),
                    takes: <$type as $crate::Field>::TAKES,
                    default: || <$type as $crate::Field>::show(&$default),
                    effect: $crate::key::section!(@effect $($effect $(($what))?)?),
                    doc: concat!($($doc),+),
                },)+];
                KEYS.iter().collect()
            }

            fn set(&mut self, key: &str, value: $crate::Value) -> Result<(), $crate::Wrong> {
                $(if key == $crate::key::plain(stringify!($key)) {
                    self.$key = $crate::Field::read(key, value)?;
                    return Ok(());
                })+
                Err(format!("there is no key `{key}`").into())
            }
        }

        impl $name {
            /// The keys whose values are not the defaults.
            pub fn changed(&self) -> Vec<&'static $crate::Key> {
                let default = $name::default();
                let mut keys = <$name as $crate::Section>::keys();
                let changed: &[(&str, bool)] =
                    &[$(($crate::key::plain(stringify!($key)), self.$key != default.$key),)+];
                keys.retain(|key| changed.contains(&(key.name, true)));
                keys
            }
        }
    };
    (@effect) => { $crate::Effect::None };
    (@effect $effect:ident $(($what:literal))?) => { $crate::Effect::$effect $(($what))? };
}

pub(crate) use section;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_may_have_exponents() {
        for (text, number) in
            [("-1e4", -10_000), ("-10000.0", -10_000), ("-1.5e9", -1_500_000_000), ("7", 7), ("-2.50E1", -25)]
        {
            assert_eq!(whole(text), Some(number), "{text}");
        }
        for text in ["-1.5", "1e-3", "inf", "", "e4", "1e99", "1e9e9"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_has_a_unit() {
        assert_eq!(duration("10s"), Ok(Duration::from_secs(10)));
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        for wrong in [
            "",
            "10",
            "s",
            "0s",
            "-1s",
            "1.5s",
            "10 s",
            "1h",
            "99999999999999999999s",
            "9999999999999999999m",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
