//! Decides claims about bits (rule B1): whether two terms of IEEE arithmetic have the same bits, or would have them up
//! to fused products or to the order of sums.
//!
//! A proof is equality of [exact normal forms](form). A refutation is an input at which [evaluation](evaluate) of both
//! terms, as they were executed, gives different values; it uses no law.

mod evaluate;
mod form;
pub mod laws;
pub(crate) mod range;
#[cfg(test)]
mod tests;
mod witness;

use rustc_hash::FxHashMap;

use crate::base::budget::Deadline;
use crate::base::index::InstId;
use crate::number::format::Format;
use crate::term::{Integers, Sign, Store, TermId};
use crate::verdict::Claim;
use form::{Forms, NoForm, key_of_term, operands_of};
use witness::Searched;

/// The type of the elements of an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputFormats {
    /// Whether they are integers.
    pub is_integer: bool,
    /// The format of both sides, if they are floats of one format.
    pub format: Option<Format>,
    /// What is assumed of their signs.
    pub sign: Sign,
    /// The range of integers.
    pub integers: Option<Integers>,
    /// Whether elements are assumed to differ from one another.
    pub distinct: bool,
}

/// The terms of an output element on both sides, each with its store.
#[derive(Clone, Copy, Debug)]
pub struct BitsPair<'s> {
    /// The reference's.
    pub reference: (&'s Store, TermId),
    /// The optimized kernel's.
    pub opt: (&'s Store, TermId),
}

/// What was found of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum BitsOutcome {
    /// All elements are the same.
    Same {
        /// A product may be fused with a sum, unless the compiler leaves them as written.
        fusible: bool,
        /// The encoding of a computed float is read.
        encodes: bool,
        /// Some operation is an approximation of the architecture.
        approximate: bool,
    },
    /// An element, by its number among the pairs, with inputs at which its bits differ.
    Different(usize, BitsWitness),
    /// An element that was neither proved nor refuted, and why.
    Open(usize, String),
}

/// Inputs at which bits differ.
#[derive(Clone, Debug, PartialEq)]
pub struct BitsWitness {
    /// The inputs that matter: which one, which element, and its value.
    pub inputs: Vec<(usize, u64, f64)>,
    /// The values of both sides.
    pub values: [f64; 2],
}

/// Where two terms part: what each computes there, and by which instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Parting {
    /// The operations of both sides.
    pub operations: [String; 2],
    /// The instructions of both sides, if they are known.
    pub sites: [Option<InstId>; 2],
}

/// How many forms are made, and until when.
#[derive(Clone, Copy, Debug)]
pub struct FormLimits {
    /// The number of forms, and of terms that have one.
    pub forms: usize,
    /// When the case is stopped.
    pub deadline: Deadline,
}

/// At most this number of elements is searched for a witness.
const SEARCHED: usize = 16;

/// The search ends at so many elements whose values are known at no inputs.
const UNDETERMINED: usize = 2;

/// Decides a claim about bits.
pub fn decide(
    claim: Claim,
    pairs: &[BitsPair<'_>],
    inputs: &[InputFormats],
    most: FormLimits,
) -> BitsOutcome {
    let mut numbers = Numbers::default();
    for pair in pairs {
        numbers.of(pair.reference.0);
        numbers.of(pair.opt.0);
    }
    let mut forms = Forms::new(claim, inputs, numbers.stores.len(), most);
    let mut open: Vec<(usize, String)> = Vec::new();
    for (at, pair) in pairs.iter().enumerate() {
        let mut of = |(store, term): (&Store, TermId)| forms.of(numbers.of(store), store, term);
        match (of(pair.reference), of(pair.opt)) {
            (Ok(one), Ok(other)) if one == other => {}
            (Ok(_), Ok(_)) => open.push((at, "the operations of both kernels are not the same".into())),
            (Err(NoForm::Budget), _) | (_, Err(NoForm::Budget)) => {
                open.push((at, "there are too many operations to compare, or too little time".into()));
                break;
            }
            (Err(NoForm::Operation(what)), _) | (_, Err(NoForm::Operation(what))) => {
                open.push((at, format!("it depends on an operation whose bits are not modelled: {what}")));
            }
        }
        if open.len() == SEARCHED {
            break;
        }
    }
    if open.is_empty() && forms.reads_known_nan {
        return BitsOutcome::Open(0, "the encoding of a known NaN may be read, which is not modelled".into());
    }
    let Some(first) = open.first().cloned() else {
        return BitsOutcome::Same {
            fusible: forms.may_fuse(),
            encodes: forms.encodes,
            approximate: forms.approximate,
        };
    };
    if claim == Claim::Bits {
        let mut undetermined = 0;
        // A single element may stand for all that are its translations.
        let share = (SEARCHED / open.len()) as u64;
        for (at, _) in &open {
            match witness::search(&pairs[*at], inputs, share) {
                Searched::Found(witness) => return BitsOutcome::Different(*at, witness),
                Searched::Nothing => {}
                // Elements of an output are mostly computed alike.
                Searched::Undetermined => undetermined += 1,
            }
            if undetermined == UNDETERMINED {
                break;
            }
        }
    }
    BitsOutcome::Open(first.0, first.1)
}

/// Where the terms of a pair part: the first operation, from the outputs on, that is not the same though its operands
/// are, or whose operands part in several places.
pub fn parting(pair: &BitsPair<'_>, inputs: &[InputFormats], most: FormLimits) -> Option<Parting> {
    let mut numbers = Numbers::default();
    let (left, right) = (numbers.of(pair.reference.0), numbers.of(pair.opt.0));
    let mut forms = Forms::new(Claim::Bits, inputs, numbers.stores.len(), most);
    forms.of(left, pair.reference.0, pair.reference.1).ok()?;
    forms.of(right, pair.opt.0, pair.opt.1).ok()?;
    let (mut one, mut other) = (pair.reference.1, pair.opt.1);
    // Each step descends in both terms.
    loop {
        let keys = [key_of_term(pair.reference.0, one), key_of_term(pair.opt.0, other)];
        let alike = pair.reference.0.op(one) == pair.opt.0.op(other) && keys[0] == keys[1];
        let (ours, theirs) = (operands_of(pair.reference.0, one), operands_of(pair.opt.0, other));
        let mut same = |a: TermId, b: TermId| {
            let ours = forms.of(left, pair.reference.0, a);
            ours.is_ok() && ours == forms.of(right, pair.opt.0, b)
        };
        let next = if alike && ours.len() == theirs.len() {
            let ours: Vec<TermId> =
                ours.iter().filter(|a| !theirs.iter().any(|b| same(**a, *b))).copied().collect();
            let known = operands_of(pair.reference.0, one);
            let theirs: Vec<TermId> =
                theirs.iter().filter(|b| !known.iter().any(|a| same(*a, **b))).copied().collect();
            match (ours.as_slice(), theirs.as_slice()) {
                ([a], [b]) => Some((*a, *b)),
                _ => None,
            }
        } else {
            None
        };
        match next {
            Some(next) => (one, other) = next,
            None => break,
        }
    }
    let told = |store: &Store, term: TermId| match key_of_term(store, term) {
        Some(key) => key.spelled(),
        None => store
            .op(term)
            .map_or_else(|| "an input".into(), |op| op.info().name().unwrap_or("another operation").into()),
    };
    Some(Parting {
        operations: [told(pair.reference.0, one), told(pair.opt.0, other)],
        sites: [pair.reference.0.site(one), pair.opt.0.site(other)],
    })
}

/// Numbers for stores.
#[derive(Default)]
struct Numbers {
    stores: FxHashMap<*const Store, usize>,
}

impl Numbers {
    fn of(&mut self, store: &Store) -> usize {
        let next = self.stores.len();
        *self.stores.entry(std::ptr::from_ref(store)).or_insert(next)
    }
}
