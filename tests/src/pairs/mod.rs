//! A benchmark of proofs: pairs of terms in several sizes, whose equality no normal form shows directly. Each family
//! has near misses, which must be refuted.

mod builder;
mod epilogue;
mod logarithm;
mod softmax;
mod words;

use std::fmt;
use std::time::{Duration, Instant};

use builder::Terms;
use volta_core::base::budget::{Budgets, Deadline};
use volta_core::decide::{DecisionOptions, ElementPair, Failure, InputInfo, decide};
use volta_core::term::{Integers, TermId};

/// A way to compute a term of rows with `n` elements.
type Form = fn(&mut Terms, u64) -> TermId;

/// A reference, equal ways to compute it, and near misses.
#[derive(Debug)]
struct Family {
    name: &'static str,
    /// The range of the elements of rows if they are integers; `None` for reals.
    integers: Option<Integers>,
    reference: Form,
    sizes: &'static [u64],
    equal: &'static [(&'static str, Form)],
    different: &'static [(&'static str, Form)],
}

const FROM_4: &[u64] = &[4, 8, 16, 64, 256, 1024, 4096];
const FROM_8: &[u64] = &[8, 16, 32, 64, 128, 256, 1024, 4096];
const WORDS: &[u64] = &[4, 8, 64, 512];
const ROWS: &[u64] = &[4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// All families.
const FAMILIES: &[Family] = &[
    Family {
        name: "softmax_from_infinity",
        integers: None,
        reference: softmax::two_passes,
        sizes: FROM_4,
        equal: &[
            ("max", softmax::online_max),
            ("greater", softmax::online_greater),
            ("at_least", softmax::online_at_least),
            ("guarded", softmax::online_guarded),
            ("branch", softmax::online_branch),
        ],
        different: &[("forgets", softmax::online_forgets)],
    },
    Family {
        name: "softmax_merged",
        integers: None,
        reference: softmax::weighted_two_passes,
        sizes: FROM_8,
        equal: &[
            ("tree_by_max", softmax::tree_by_max),
            ("tree_by_choice", softmax::tree_by_choice),
            ("halves_by_choice", softmax::halves_by_choice),
            ("chain_by_choice", softmax::chain_by_choice),
            ("tree_swapped", softmax::tree_swapped),
            ("chain_swapped", softmax::chain_swapped),
            ("parts_mixed", softmax::parts_mixed),
        ],
        different: &[
            ("lowers_the_wrong", softmax::tree_lowers_the_wrong),
            ("swaps_in_part", softmax::tree_swaps_in_part),
        ],
    },
    Family {
        name: "softmax_merged_from_infinity",
        integers: None,
        reference: softmax::weighted_two_passes,
        sizes: FROM_8,
        equal: &[
            ("chain_by_choice", softmax::chain_by_choice_from_infinity),
            ("chain_swapped", softmax::chain_swapped_from_infinity),
            ("parts_by_choice", softmax::parts_by_choice_from_infinity),
            ("parts_by_max", softmax::parts_by_max_from_infinity),
        ],
        different: &[("from_one", softmax::parts_from_one)],
    },
    Family {
        name: "dot_gelu",
        integers: None,
        reference: epilogue::dot_gelu,
        sizes: ROWS,
        equal: &[
            ("bias_first", epilogue::bias_first),
            ("quarters_by_sigmoid", epilogue::quarters_by_sigmoid),
        ],
        different: &[("bias_late", epilogue::bias_late)],
    },
    Family {
        name: "norm_gelu",
        integers: None,
        reference: epilogue::norm_gelu,
        sizes: ROWS,
        equal: &[("squares", epilogue::norm_of_squares_gelu), ("welford", epilogue::norm_by_welford_gelu)],
        different: &[
            ("other_epsilon", epilogue::norm_with_other_epsilon),
            ("too_few", epilogue::norm_of_too_few),
        ],
    },
    Family {
        name: "logsumexp",
        integers: None,
        reference: logarithm::below_maximum,
        sizes: FROM_4,
        equal: &[
            ("tree_by_choice", logarithm::tree_by_choice),
            ("tree_by_magnitude", logarithm::tree_by_magnitude),
            ("chain_by_magnitude", logarithm::chain_by_magnitude),
        ],
        different: &[("grows", logarithm::tree_grows), ("chain_of_a_minimum", logarithm::chain_of_a_minimum)],
    },
    Family {
        name: "logsumexp_from_infinity",
        integers: None,
        reference: logarithm::below_maximum,
        sizes: FROM_8,
        equal: &[
            ("max", logarithm::streamed_max),
            ("greater", logarithm::streamed_greater),
            ("at_least", logarithm::streamed_at_least),
            ("guarded", logarithm::streamed_guarded),
            ("branch", logarithm::streamed_branch),
            ("steps_by_choice", logarithm::steps_by_choice_from_infinity),
            ("steps_by_magnitude", logarithm::steps_by_magnitude_from_infinity),
            ("parts_by_magnitude", logarithm::parts_by_magnitude_from_infinity),
        ],
        different: &[("forgets", logarithm::streamed_forgets), ("from_zero", logarithm::steps_from_zero)],
    },
    Family {
        name: "softplus",
        integers: None,
        reference: logarithm::softplus,
        sizes: FROM_4,
        equal: &[("turned", logarithm::softplus_turned)],
        different: &[("late", logarithm::softplus_late)],
    },
    Family {
        name: "codes",
        integers: Some(Integers::of_bits(8, false)),
        reference: words::codes,
        sizes: WORDS,
        equal: &[("by_words", words::codes_by_words)],
        different: &[("off_by_one", words::codes_off_by_one)],
    },
    Family {
        name: "words",
        integers: Some(Integers::of_bits(32, false)),
        reference: words::weighted,
        sizes: WORDS,
        equal: &[("swapped_twice", words::swapped_twice), ("by_complements", words::by_complements)],
        different: &[("swapped_in_part", words::swapped_in_part)],
    },
];

/// The true relation of a pair, or the result of deciding it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Equal.
    Equal,
    /// Different.
    Different,
    /// Equal under a condition.
    Where,
    /// Undecided.
    Open,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Found::Equal => "equal",
            Found::Different => "different",
            Found::Where => "equal where",
            Found::Open => "open",
        })
    }
}

/// Two terms over the same inputs.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    family: &'static Family,
    form: &'static str,
    opt: Form,
    /// The number of elements of each row.
    pub size: u64,
    /// Its true relation.
    pub truth: Found,
}

/// All pairs: each form of each family in each of its sizes.
pub fn pairs() -> Vec<Pair> {
    let of_family = |family: &'static Family| {
        let equal = family.equal.iter().map(|form| (form, Found::Equal));
        let all = equal.chain(family.different.iter().map(|form| (form, Found::Different)));
        all.flat_map(move |((form, opt), truth)| {
            family.sizes.iter().map(move |size| Pair { family, form, opt: *opt, size: *size, truth })
        })
    };
    FAMILIES.iter().flat_map(of_family).collect()
}

/// The file of results: name of the pair, result, and seconds in a release build.
pub const MEASURED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pairs.tsv");

/// The names and results of pairs recorded in [`MEASURED`].
///
/// # Panics
/// When the file cannot be read.
pub fn measured() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(MEASURED).expect("the table can be read");
    let rows = text.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|row| {
        let mut cells = row.split('\t');
        Some((cells.next()?.to_string(), cells.next()?.to_string()))
    })
    .collect()
}

impl Pair {
    /// Its name.
    pub fn name(&self) -> String {
        format!("{}::{}_{}", self.family.name, self.form, self.size)
    }

    /// Decides it; returns the result, the explanation if that is not *equal*, and the time.
    pub fn decide(&self, timeout: Duration) -> (Found, String, Duration) {
        let integers = self.family.integers;
        let (mut left, mut right) = (Terms::default(), Terms::default());
        for side in [&mut left, &mut right] {
            side.store.set_integers(vec![integers; 3]);
        }
        let reference = (self.family.reference)(&mut left, self.size);
        let opt = (self.opt)(&mut right, self.size);
        let row = |name: &str| InputInfo {
            name: name.into(),
            shape: vec![self.size],
            integers,
            ..InputInfo::default()
        };
        let inputs = ["x", "y", "z"].map(row);
        let budgets = Budgets { deadline: Deadline::after(timeout), ..Budgets::default() };
        let options = DecisionOptions { budgets, ..DecisionOptions::default() };
        let element = ElementPair { reference: (&left.store, reference), opt: (&right.store, opt) };
        let started = Instant::now();
        let outcome = decide(&[element], &inputs, &options);
        let taken = started.elapsed();
        let (found, told) = match outcome.first_failure {
            None if outcome.conditions.is_empty() => (Found::Equal, String::new()),
            None => (Found::Where, outcome.conditions.join(", ")),
            Some((_, Failure::Different(_))) => (Found::Different, String::new()),
            Some((_, Failure::Unknown { reason })) => (Found::Open, reason),
            Some((_, Failure::Exhausted(exhausted))) => (Found::Open, exhausted.to_string()),
            Some((_, Failure::Undefined { reason, .. })) => (Found::Open, format!("undefined: {reason}")),
        };
        (found, told, taken)
    }
}
