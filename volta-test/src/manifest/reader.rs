//! Reading TOML with a span for every problem.
//!
//! A table knows its keys from the schema; [`Table::finish`] reports all others and suggests the nearest key.

use std::cell::RefCell;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use volta_case::{InputProblem, Key, Section, Takes, Value as Given, Wrong};
use volta_core::number::Extended;

use crate::number;

/// Something wrong in a `volta.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// Its code, for programs.
    pub kind: InputProblem,
    /// One sentence: lowercase, no period.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Collects problems, so that one run reports all of them.
#[derive(Debug, Default)]
pub(super) struct Problems {
    /// Problems of values that could not be read.
    all: RefCell<Vec<Problem>>,
    /// Problems of values that can be read but are inconsistent, which the verifier refuses as well.
    senseless: RefCell<Vec<Problem>>,
}

impl Problems {
    /// Adds a problem of a value.
    pub(super) fn add(&self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        self.add_of(InputProblem::WrongValue, span, message, help);
    }

    /// Adds the problem of a missing key.
    pub(super) fn add_missing(&self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        self.add_of(InputProblem::MissingKey, span, message, help);
    }

    fn add_of(
        &self,
        kind: InputProblem,
        span: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.all.borrow_mut().push(Problem { span, kind, message: message.into(), help });
    }

    /// Adds a problem of a value that can be read but is inconsistent. A case that expects `input-error` ignores it,
    /// and passes the value on to the verifier.
    pub(super) fn add_senseless(&self, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        let kind = InputProblem::WrongValue;
        self.senseless.borrow_mut().push(Problem { span, kind, message: message.into(), help });
    }

    /// Adds advice to the problem at a span.
    pub(super) fn advise(&self, span: Range<usize>, help: &str) {
        let mut all = self.all.borrow_mut();
        let here = all.iter_mut().find(|problem| problem.span == span && problem.help.is_none());
        here.into_iter().for_each(|problem| problem.help = Some(help.into()));
    }

    /// Whether no problem was found so far, other than inconsistent values.
    pub(super) fn is_empty(&self) -> bool {
        self.all.borrow().is_empty()
    }

    /// The problems in the order of the text, without those of inconsistent values if `senseless_is_wanted`.
    pub(super) fn into_sorted(self, senseless_is_wanted: bool) -> Vec<Problem> {
        let mut problems = self.all.into_inner();
        if !senseless_is_wanted {
            problems.extend(self.senseless.into_inner());
        }
        problems.sort_by_key(|problem| (problem.span.start, problem.span.end));
        problems
    }
}

/// A value with its span.
pub(super) type Value<'a> = &'a Spanned<DeValue<'a>>;

/// A table and the keys that it may have.
pub(super) struct Table<'a> {
    entries: &'a DeTable<'a>,
    /// Its bytes in the text.
    pub(super) span: Range<usize>,
    what: String,
    keys: Vec<&'static Key>,
    problems: &'a Problems,
}

impl<'a> Table<'a> {
    /// Starts reading `entries`, which messages call `what`.
    pub(super) fn new(
        entries: &'a DeTable<'a>,
        span: Range<usize>,
        what: impl Into<String>,
        keys: impl IntoIterator<Item = &'static Key>,
        problems: &'a Problems,
    ) -> Table<'a> {
        Table { entries, span, what: what.into(), keys: keys.into_iter().collect(), problems }
    }

    /// The value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        debug_assert!(
            self.keys.iter().any(|known| known.name == key),
            "`{key}` is not a key of {}",
            self.what
        );
        self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
    }

    /// The span of `key` itself.
    pub(super) fn key_span(&self, key: &str) -> Range<usize> {
        let found = self.entries.iter().find(|(name, _)| name.get_ref().as_ref() == key);
        found.map_or_else(|| self.span.clone(), |(name, _)| name.span())
    }

    /// The value of `key`, converted by `read`; if that fails, the problem names what was `expected`.
    pub(super) fn read<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl FnOnce(Value<'a>) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(key)?;
        let read = read(value);
        if read.is_none() {
            self.wrong_type(value, &format!("`{key}`"), expected);
        }
        read
    }

    /// Reports that `what` is not `expected`.
    pub(super) fn wrong_type(&self, value: Value<'_>, what: &str, expected: &str) {
        let found = match value.get_ref() {
            DeValue::String(text) => format!("\"{text}\""),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(value) => value.to_string(),
            other @ (DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_)) => {
                format!("this {}", other.type_str())
            }
        };
        self.problems.add(value.span(), format!("{what} is {expected}, not {found}"), None);
    }

    /// Reads the keys of a section.
    pub(super) fn section<S: Section>(&self, section: &mut S) {
        for key in S::keys() {
            if let Some(given) = self.given(key)
                && let Err(wrong) = section.set(key.name, given)
            {
                self.refuse(key.name, wrong);
            }
        }
    }

    /// Reports the value of `key` as wrong.
    pub(super) fn refuse(&self, key: &str, Wrong { message, help }: Wrong) {
        let span = self.get(key).map_or_else(|| self.span.clone(), |value| value.span());
        self.problems.add(span, message, help);
    }

    /// The value of a key, if it has the type that the key takes.
    fn given(&self, key: &Key) -> Option<Given> {
        match key.takes {
            Takes::Flag => self.flag(key.name).map(Given::Flag),
            Takes::Count | Takes::Size => self.integer(key.name).map(|count| Given::Count(count.into())),
            Takes::Text => self.string(key.name).map(Given::Text),
            Takes::Number => {
                let number = |value: Value<'_>| match value.get_ref() {
                    DeValue::Integer(number) => Some(number.to_string()),
                    DeValue::Float(number) => Some(number.to_string()),
                    DeValue::String(_)
                    | DeValue::Boolean(_)
                    | DeValue::Datetime(_)
                    | DeValue::Array(_)
                    | DeValue::Table(_) => None,
                };
                self.read(key.name, "a number", number).map(Given::Number)
            }
            Takes::Counts => {
                let integer = |value: Value<'_>| as_integer(value.get_ref()).map(i128::from);
                self.list(key.name, "a whole number from 0", integer).map(Given::Counts)
            }
            Takes::Texts => {
                let text = |value: Value<'_>| value.get_ref().as_str().map(str::to_owned);
                self.list(key.name, "a text", text).map(Given::Texts)
            }
            Takes::Extent => {
                let value = self.get(key.name)?.get_ref();
                let sizes = match value.as_array() {
                    Some(items) => items.iter().map(|item| as_integer(item.get_ref())).collect(),
                    None => as_integer(value).map(|size| vec![size]),
                };
                // An unreadable list becomes an empty one, which is refused like one with too many sizes.
                Some(Given::Counts(sizes.unwrap_or_default().into_iter().map(i128::from).collect()))
            }
            Takes::Own => None,
        }
    }

    /// The span of the value of a key, or of the table where it is not given.
    pub(super) fn value_span(&self, key: &str) -> Range<usize> {
        self.get(key).map_or_else(|| self.span.clone(), |value| value.span())
    }

    /// A text.
    pub(super) fn string(&self, key: &str) -> Option<String> {
        self.read(key, "a text", |value| value.get_ref().as_str().map(str::to_owned))
    }

    /// A non-negative integer.
    pub(super) fn integer(&self, key: &str) -> Option<u64> {
        self.read(key, "a whole number from 0", |value| as_integer(value.get_ref()))
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &str) -> Option<bool> {
        self.read(key, "true or false", |value| value.get_ref().as_bool())
    }

    /// A list whose elements `read` reads.
    pub(super) fn list<T>(
        &self,
        key: &str,
        expected: &str,
        mut read: impl FnMut(Value<'a>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let value = self.get(key)?;
        let Some(items) = value.get_ref().as_array() else {
            self.wrong_type(value, &format!("`{key}`"), &format!("a list of {expected}"));
            return None;
        };
        let mut all = Vec::new();
        for item in items.iter() {
            match read(item) {
                Some(item) => all.push(item),
                None => self.wrong_type(item, &format!("an element of `{key}`"), expected),
            }
        }
        Some(all)
    }

    /// A table within this one.
    pub(super) fn table(&self, key: &str, keys: impl IntoIterator<Item = &'static Key>) -> Option<Table<'a>> {
        let value = self.get(key)?;
        match value.get_ref().as_table() {
            // A `[header]`'s own span is its header; an inline table's is its braces.
            Some(entries) => {
                Some(Table::new(entries, self.key_span(key), format!("[{key}]"), keys, self.problems))
            }
            None => {
                self.wrong_type(value, &format!("`{key}`"), "a table");
                let is_side = ["reference", "opt", "kernel"].contains(&key);
                if is_side && value.get_ref().is_array() {
                    self.problems.advise(value.span(), LAUNCHES);
                } else if key == "reference" && value.get_ref().is_str() {
                    self.problems.advise(value.span(), FORMULA);
                }
                None
            }
        }
    }

    /// Keys and values, for tables whose keys are names that the user chooses.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Range<usize>, Value<'a>)> + use<'a> {
        self.entries.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), value))
    }

    /// Reports every key that the table may not have.
    pub(super) fn finish(self) {
        let known: Vec<&str> = self.keys.iter().map(|key| key.name).collect();
        for (key, _) in self.entries.iter() {
            let name = key.get_ref().as_ref();
            if !known.contains(&name) {
                let message = format!("unknown key `{name}` in {}", self.what);
                let Wrong { message, help } = match unsayable(name) {
                    Some(help) => Wrong { message, help: Some(help.into()) },
                    None => Wrong::unknown(message, name, &known),
                };
                self.problems.add_of(InputProblem::UnknownKey, key.span(), message, help);
            }
        }
    }
}

/// Advice on what a case cannot say.
const LAUNCHES: &str = "several launches are written one after the other, each in a table `[[reference.launch]]` or \
                        `[[opt.launch]]`";
const FORMULA: &str = "a side is a kernel, `formula = \"y[i] = 2·x[i]      i < 64\"`, or an operator: \
                       `spec = \"softmax\"` (docs/graphs.md)";
const BITS: &str =
    "values are compared as real numbers: neither their bits nor a distance between them (docs/limits.md)";

/// Keys by which somebody wants to say it.
const UNSAYABLE: [(&str, &[&str]); 3] = [
    (LAUNCHES, &["launches", "kernels", "steps", "passes", "sequence", "stages", "then", "pipeline"]),
    (
        FORMULA,
        &["formula", "spec", "graph", "expression", "expr", "equation", "computes", "expected", "output"],
    ),
    (
        BITS,
        &[
            "tolerance",
            "tol",
            "atol",
            "rtol",
            "eps",
            "epsilon",
            "ulp",
            "ulps",
            "exact",
            "bitwise",
            "bit_exact",
            "bits",
            "same_bits",
            "precision",
        ],
    ),
];

/// Advice on a key by which somebody wants to say what a case cannot say.
fn unsayable(key: &str) -> Option<&'static str> {
    let key = key.to_ascii_lowercase().replace('-', "_");
    UNSAYABLE.iter().find(|(_, keys)| keys.contains(&key.as_str())).map(|(help, _)| *help)
}

/// A non-negative integer.
pub(super) fn as_integer(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// The exact value of a number; `inf` and `-inf` may be quoted, and a quotient is: `1/3`.
pub(super) fn as_number(value: &DeValue<'_>) -> Option<Extended> {
    match value {
        DeValue::Integer(number) => match number.radix() {
            16 => number::parse(&format!("0x{}", number.as_str())),
            8 => number::parse(&format!("0o{}", number.as_str())),
            2 => number::parse(&format!("0b{}", number.as_str())),
            _ => number::parse(number.as_str()),
        },
        DeValue::Float(number) => number::parse(number.as_str()),
        DeValue::String(text) => match text.split_once('/') {
            Some((over, under)) => {
                let [over, under] = [over, under].map(|part| number::parse(part.trim()));
                Some(Extended::Finite(over?.finite()?.checked_div(under?.finite()?)?))
            }
            None => number::parse(text).filter(|number| !matches!(number, Extended::Finite(_))),
        },
        DeValue::Boolean(value) => number::parse(if *value { "1" } else { "0" }),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}
