//! Builds terms as the execution of a kernel does: sums in loops, trees and butterflies.

use volta_core::number::format::{Format, decode};
use volta_core::number::{Extended, Rational, Rounded};
use volta_core::program::InstId;
use volta_core::term::{Constant, InputId, Store, TermId, TermOp};

/// `log₂ e` as f32, with which compilers express `exp` by `ex2`.
const LOG2_E: u64 = 0x3fb8_aa3b;
/// `ln 2` as f32.
const LN_2: u64 = 0x3f31_7218;

/// A store under construction.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// The terms so far.
    pub(super) store: Store,
}

/// The first input row of a family, by its number.
pub(super) const X: u32 = 0;
/// The second input row.
pub(super) const Y: u32 = 1;
/// The third input row.
pub(super) const Z: u32 = 2;

impl Terms {
    /// An element of an input.
    pub(super) fn input(&self, input: u32, element: u64) -> TermId {
        TermId::input(InputId(input), element)
    }

    /// The first elements of an input.
    pub(super) fn row(&self, input: u32, elements: u64) -> Vec<TermId> {
        (0..elements).map(|element| self.input(input, element)).collect()
    }

    /// A rational constant that is not a literal.
    pub(super) fn ratio(&mut self, num: i64, den: i64) -> TermId {
        let exact = Extended::Finite(Rational::from_ratio(num, den));
        self.store.intern(Constant { exact, literal: None, rounded: None })
    }

    /// An f32 literal.
    pub(super) fn literal(&mut self, bits: u64) -> TermId {
        let exact = decode(Format::F32, bits).extended().expect("literals are numbers");
        let rounded = Rounded::exactly(Format::F32, bits);
        self.store.intern(Constant { exact, literal: Some((Format::F32, bits)), rounded })
    }

    /// The literal of an f32.
    pub(super) fn float(&mut self, value: f32) -> TermId {
        self.literal(u64::from(value.to_bits()))
    }

    /// An operation.
    pub(super) fn op(&mut self, op: TermOp, operands: &[TermId]) -> TermId {
        let raw: Vec<u64> = operands.iter().map(|operand| operand.raw()).collect();
        TermId::from_raw(self.store.push_uniform(op, &raw, InstId(0)))
    }

    /// `a + b`
    pub(super) fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Add, &[a, b])
    }

    /// `a − b`
    pub(super) fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Sub, &[a, b])
    }

    /// `a·b`
    pub(super) fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Mul, &[a, b])
    }

    /// `a·b + c`
    pub(super) fn fma(&mut self, a: TermId, b: TermId, c: TermId) -> TermId {
        self.op(TermOp::Fma, &[a, b, c])
    }

    /// `a/b`
    pub(super) fn div(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Div, &[a, b])
    }

    /// `max(a, b)`
    pub(super) fn max(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Max, &[a, b])
    }

    /// `a < b`
    pub(super) fn less(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Less, &[a, b])
    }

    /// `c ? a : b`
    pub(super) fn choose(&mut self, c: TermId, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Select, &[c, a, b])
    }

    /// `e^a`
    pub(super) fn exp(&mut self, a: TermId) -> TermId {
        let scale = self.literal(LOG2_E);
        let scaled = self.mul(a, scale);
        self.op(TermOp::Exp2, &[scaled])
    }

    /// `e^(a − b)`
    pub(super) fn exp_of_difference(&mut self, a: TermId, b: TermId) -> TermId {
        let difference = self.sub(a, b);
        self.exp(difference)
    }

    /// `ln a`
    pub(super) fn ln(&mut self, a: TermId) -> TermId {
        let logarithm = self.op(TermOp::Log2, &[a]);
        let scale = self.literal(LN_2);
        self.mul(logarithm, scale)
    }

    /// Combines terms from left to right.
    pub(super) fn in_order(&mut self, terms: &[TermId], op: TermOp) -> TermId {
        let (first, rest) = terms.split_first().expect("something to combine");
        rest.iter().fold(*first, |all, next| self.op(op, &[all, *next]))
    }

    /// Combines terms by an operation in a tree, neighbours first.
    pub(super) fn in_pairs(&mut self, terms: &[TermId], op: TermOp) -> TermId {
        self.tree(terms.to_vec(), |terms, a, b| terms.op(op, &[a, b]))
    }

    /// Combines values in a tree, neighbours first.
    pub(super) fn tree<T: Copy>(
        &mut self,
        mut all: Vec<T>,
        mut merge: impl FnMut(&mut Terms, T, T) -> T,
    ) -> T {
        while all.len() > 1 {
            let pairs = all.chunks(2);
            all = pairs.map(|pair| if let [a, b] = *pair { merge(self, a, b) } else { pair[0] }).collect();
        }
        all[0]
    }

    /// Combines values in a tree, each with the one half of the length further on.
    pub(super) fn halves<T: Copy>(
        &mut self,
        mut all: Vec<T>,
        mut merge: impl FnMut(&mut Terms, T, T) -> T,
    ) -> T {
        while all.len() > 1 {
            let half = all.len().div_ceil(2);
            for at in half..all.len() {
                all[at - half] = merge(self, all[at - half], all[at]);
            }
            all.truncate(half);
        }
        all[0]
    }
}
