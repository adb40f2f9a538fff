//! Serialization of reports: a value that has a name in cases is stored by that name.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use volta_case::{Word, choose};

/// The name of a value in cases.
fn name<W: Word>(value: W) -> Option<&'static str> {
    W::WORDS.iter().find(|(_, meant)| *meant == value).map(|(word, _)| *word)
}

fn named<W: Word, E: de::Error>(word: &str) -> Result<W, E> {
    choose(word, || format!("nothing is called `{word}`")).map_err(E::custom)
}

pub(super) mod word {
    use super::*;

    pub(in super::super) fn serialize<W: Word, S: Serializer>(value: &W, to: S) -> Result<S::Ok, S::Error> {
        name(*value).serialize(to)
    }

    pub(in super::super) fn deserialize<'d, W: Word, D: Deserializer<'d>>(from: D) -> Result<W, D::Error> {
        named(&String::deserialize(from)?)
    }
}

pub(super) mod optional_word {
    use super::*;

    pub(in super::super) fn serialize<W: Word, S: Serializer>(
        value: &Option<W>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.and_then(name).serialize(to)
    }

    pub(in super::super) fn deserialize<'d, W: Word, D: Deserializer<'d>>(
        from: D,
    ) -> Result<Option<W>, D::Error> {
        Option::<String>::deserialize(from)?.map(|word| named(&word)).transpose()
    }
}

/// A longer name is not that of a rule.
const MAX_RULE: usize = 4;

/// Deserializes the name of a rule. A `'static` name is leaked, once for each rule.
pub(super) fn rule<'d, D: Deserializer<'d>>(from: D) -> Result<&'static str, D::Error> {
    static RULES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let name = String::deserialize(from)?;
    if name.len() > MAX_RULE {
        return Err(de::Error::custom(format!("`{name}` is not a rule")));
    }
    let mut rules = RULES.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(rules.get(name.as_str()).copied().unwrap_or_else(|| {
        let name: &'static str = name.leak();
        rules.insert(name);
        name
    }))
}
