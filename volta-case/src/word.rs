//! Enumerations whose variants have names in cases, and “did you mean …?”.

use std::fmt;

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// One sentence: lowercase, no period.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Wrong {
    /// The error of an unknown word: it suggests a similar one of `candidates`, or lists them all.
    pub fn unknown(message: impl Into<String>, word: &str, candidates: &[&str]) -> Wrong {
        let help = match meant(word, candidates) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", candidates.join(", ")),
        };
        Wrong { message: message.into(), help: Some(help) }
    }
}

impl From<String> for Wrong {
    fn from(message: String) -> Wrong {
        Wrong { message, help: None }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

/// An enumeration whose variants have names in cases.
pub trait Word: Copy + PartialEq + 'static {
    /// The words with their variants; of several words for one variant, the first is its name.
    const WORDS: &'static [(&'static str, Self)];
}

/// All words of `W`.
pub fn spellings<W: Word>() -> Vec<&'static str> {
    W::WORDS.iter().map(|(word, _)| *word).collect()
}

/// The variant that `word` names; `message` is the error for an unknown word.
///
/// # Errors
/// The message, with the most similar word.
pub fn choose<W: Word>(word: &str, message: impl FnOnce() -> String) -> Result<W, Wrong> {
    let found = W::WORDS.iter().find(|(known, _)| *known == word);
    found.map(|(_, meant)| *meant).ok_or_else(|| Wrong::unknown(message(), word, &spellings::<W>()))
}

/// Defines an enumeration with one or more words for each variant: `Opt = "opt" | "kernel"`. The `unnamed` variant has
/// none.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $($(#[doc = $doc:literal])+ $variant:ident = $word:literal $(| $other:literal)*,)+
        }
        $(unnamed { $(#[$unnamed_meta:meta])* $unnamed:ident })?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $($(#[$unnamed_meta])* $unnamed,)?
            $($(#[doc = $doc])+ $variant,)+
        }

        impl $crate::Word for $name {
            const WORDS: &'static [(&'static str, $name)] =
                &[$(($word, $name::$variant), $(($other, $name::$variant),)*)+];
        }

        impl $name {
            /// The variants that have a word, with their descriptions.
            pub const ALL: &'static [($name, &'static str)] =
                &[$(($name::$variant, concat!($($doc),+)),)+];

            /// The name of the variant; empty for the unnamed one.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$unnamed => "",)?
                    $($name::$variant => $word,)+
                }
            }

            /// The description of the variant; empty for the unnamed one.
            pub const fn description(self) -> &'static str {
                match self {
                    $($name::$unnamed => "",)?
                    $($name::$variant => concat!($($doc),+),)+
                }
            }

            /// The variant that `word` names.
            pub fn parse(word: &str) -> Option<$name> {
                <$name as $crate::Word>::WORDS.iter().find(|(known, _)| *known == word).map(|(_, meant)| *meant)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(crate) use words;

/// The candidate nearest to `word`, if it is near enough to be a typing error; of several, the one that sorts first.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let length = word.chars().count();
    let limit = (length / 3).max(1).min(length.saturating_sub(1));
    let is_as_long = |candidate: &&str| candidate.chars().count().abs_diff(length) <= limit;
    let near = candidates.into_iter().filter(is_as_long);
    let near = near.map(|candidate| (distance(word, candidate), candidate));
    near.filter(|(distance, _)| *distance <= limit).min().map(|(_, candidate)| candidate)
}

/// The candidate that an unknown word probably means: the longest that is a prefix of it (`in` for `input`), unless the
/// word itself is a prefix of the nearest one; otherwise the nearest.
fn meant<'c>(word: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let near = nearest(word, candidates.iter().copied());
    let is_cut = near.is_some_and(|near| near.starts_with(word));
    let begins = |candidate: &&&str| candidate.len() > 1 && word.starts_with(**candidate);
    let spelled_out = candidates.iter().filter(begins).max_by_key(|candidate| candidate.len());
    spelled_out.copied().filter(|_| !is_cut).or(near)
}

/// The edit distance of the first `LONGEST` characters of two words, where a swap of neighbours counts as one edit.
fn distance(a: &str, b: &str) -> usize {
    const LONGEST: usize = 200;
    let [a, b] = [a, b].map(|word| word.chars().take(LONGEST).collect::<Vec<char>>());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..=b.len()).collect(), vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        let [older, old, new] = &mut rows;
        new[0] = i;
        for j in 1..=b.len() {
            let replaced = old[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            new[j] = replaced.min(old[j] + 1).min(new[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                new[j] = new[j].min(older[j - 2] + 1);
            }
        }
        rows.rotate_left(1);
        rows[2].resize(b.len() + 1, 0);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let keys = ["block", "grid", "shared"];
        assert_eq!(nearest("blok", keys), Some("block"));
        assert_eq!(nearest("gird", keys), Some("grid"));
        assert_eq!(nearest("sharde", keys), Some("shared"));
        assert_eq!(nearest("threads", keys), None);
        assert_eq!(nearest("z", ["x", "y"]), None);
        assert_eq!(nearest("ab", ["ac", "aa"]), Some("aa"), "of several, the one that sorts first");
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn words_written_out_mean_the_short_ones() {
        let roles = ["in", "out", "inout", "scratch"];
        assert_eq!(meant("input", &roles), Some("in"));
        assert_eq!(meant("output", &roles), Some("out"));
        assert_eq!(meant("inou", &roles), Some("inout"));
        assert_eq!(meant("scrtch", &roles), Some("scratch"));
        assert_eq!(meant("weights", &roles), None);
    }
}
