//! Matching a term's graph with that of a template, node by node.

use super::{
    Arm, Explainer, MAX_OPERANDS, Piece, Rounds, Template, Which, is_number_or_nan, normal, step_in,
};
use crate::number::Extended;
use crate::number::format::Rounding;
use crate::term::fold::{Fold, fold};
use crate::term::id::TermId;
use crate::term::info::TermOp;
use crate::term::node::{Constant, Store, View};
use rustc_hash::FxHashSet;

/// Steps of one comparison with a template. Each node takes one, and few are visited twice.
const MAX_STEPS: u32 = 1 << 14;

/// Operands computed twice are recognized as equal up to this depth of operations.
const MAX_RECOMPUTED: u32 = 6;

/// One match of a graph with a template.
pub(super) struct Match<'s> {
    pub(super) store: &'s Store,
    explainer: &'s Explainer,
    pub(super) template: &'s Template,
    /// Those found so far, and whether each is the negation of that term.
    pub(super) operands: [Option<(TermId, bool)>; MAX_OPERANDS],
    seen: FxHashSet<(u32, TermId, bool)>,
    /// Visited pairs and bound operands, in order, for backtracking.
    pub(super) trail: Vec<Undo>,
    pub(super) outer: Vec<(TermOp, Which, [TermId; 3])>,
    /// Whether a magnitude is taken for that of itself: `|x|` is `x` where `x` is `|v|`.
    of_magnitudes: bool,
    steps: u32,
}

pub(super) enum Undo {
    Seen(u32, TermId, bool),
    Bound(usize),
}

/// For each operand of a piece, the operand of a term and whether it is the negation of that.
type Way = [(usize, bool); 3];

/// Whether hardware holds the same bits for two constants with equal exact values: an approximation of known
/// numbers differs from their quotient.
fn is_held_alike(a: &Constant, b: &Constant) -> bool {
    let is_exact = |constant: &Constant| {
        constant.rounded.is_none_or(|rounded| rounded.bounds().iter().all(|end| *end == constant.exact))
    };
    a.rounded == b.rounded || is_exact(a) && is_exact(b)
}

/// The ways in which a term of one operation is a piece of another, or its negation. Operands that commute may be swapped.
/// Signs may be moved, as compilers do where an operand is a negation: to nearest and towards zero, that changes neither the
/// result nor its rounding.
pub(super) fn ways(piece: TermOp, term: TermOp, negated: bool) -> &'static [Way] {
    use TermOp::{
        Abs, Add, CopySign, Div, Equal, Fma, Less, LessEqual, Max, Min, Mul, RoundEven, Select, Sub, Trunc,
    };
    const C: (usize, bool) = (2, false);
    const C_NEGATED: (usize, bool) = (2, true);
    const PLAIN: Way = [(0, false), (1, false), C];
    const SWAPPED: Way = [(1, false), (0, false), C];
    const BOTH: Way = [(0, true), (1, true), C];
    const BOTH_SWAPPED: Way = [(1, true), (0, true), C];
    const FIRST: Way = [(0, true), (1, false), C];
    const FIRST_SWAPPED: Way = [(1, true), (0, false), C];
    const SECOND: Way = [(0, false), (1, true), C];
    const SECOND_SWAPPED: Way = [(1, false), (0, true), C];
    match (piece, term, negated) {
        (Mul, Mul, false) | (Fma, Fma, false) | (Equal, Equal, false) => {
            &[PLAIN, SWAPPED, BOTH, BOTH_SWAPPED]
        }
        (Mul, Mul, true) => &[FIRST, SECOND, FIRST_SWAPPED, SECOND_SWAPPED],
        (Fma, Fma, true) => &[
            [(0, true), (1, false), C_NEGATED],
            [(0, false), (1, true), C_NEGATED],
            [(1, true), (0, false), C_NEGATED],
            [(1, false), (0, true), C_NEGATED],
        ],
        (Div, Div, false) => &[PLAIN, BOTH],
        (Div, Div, true) => &[FIRST, SECOND],
        (Less, Less, false) | (LessEqual, LessEqual, false) => &[PLAIN, BOTH_SWAPPED],
        (Add, Add, false) => &[PLAIN, SWAPPED],
        (Add, Add, true) => &[BOTH, BOTH_SWAPPED],
        (Add, Sub, false) => &[SECOND, FIRST_SWAPPED],
        (Add, Sub, true) => &[FIRST, SECOND_SWAPPED],
        (Sub, Add, false) => &[SECOND, SECOND_SWAPPED],
        (Sub, Add, true) => &[FIRST, FIRST_SWAPPED],
        (Sub, Sub, false) => &[PLAIN, BOTH_SWAPPED],
        (Sub, Sub, true) => &[SWAPPED, BOTH],
        (Abs, Abs, false) => &[PLAIN, FIRST],
        // The sign of the first operand.
        (CopySign, CopySign, false) => &[PLAIN, SECOND],
        (CopySign, CopySign, true) => &[FIRST, BOTH],
        (Max, Min, true) | (Min, Max, true) => &[BOTH, BOTH_SWAPPED],
        (Trunc, Trunc, true) | (RoundEven, RoundEven, true) => &[FIRST],
        (Select, Select, true) => &[[(0, false), (1, true), C_NEGATED]],
        _ if piece != term || negated => &[],
        _ if piece.info().commutes => &[PLAIN, SWAPPED],
        _ => &[PLAIN],
    }
}

/// Whether an instruction rounds up or down, so that it does not round a negation as the number itself.
fn is_directed(rounds: Rounds) -> bool {
    rounds.checked_sub(1).is_some_and(|own| {
        let own = own % 8;
        own == Rounding::Down as Rounds || own == Rounding::Up as Rounds
    })
}

impl<'s> Match<'s> {
    pub(super) fn new(store: &'s Store, explainer: &'s Explainer, template: &'s Template) -> Match<'s> {
        let (operands, seen, trail) = ([None; MAX_OPERANDS], FxHashSet::default(), Vec::new());
        let (outer, of_magnitudes, steps) = (Vec::new(), false, MAX_STEPS);
        Match { store, explainer, template, operands, seen, trail, outer, of_magnitudes, steps }
    }

    /// The same match, of operands that may be magnitudes.
    pub(super) fn of_magnitudes(self) -> Match<'s> {
        Match { of_magnitudes: true, ..Match::new(self.store, self.explainer, self.template) }
    }

    /// Whether a term has the graph of the template.
    pub(super) fn has_graph(&mut self, root: TermId) -> bool {
        self.fits(self.template.graph.len() as u32 - 1, root, false)
    }

    /// Whether a term is the template's result, a choice, under `outer` operations with numbers, each of which was
    /// moved into both arms; and, if `fused`, under a sum fused with a product there.
    pub(super) fn has_arm(&mut self, root: TermId, outer: usize, fused: bool) -> bool {
        let Some((TermOp::Select, operands)) = normal(self.store, root) else { return false };
        let Some(arm) = self.template.arm() else { return false };
        let mut inner = operands[3 - arm.which];
        for _ in 0..outer {
            let Some((which, next, op, all)) = step_in(self.store, inner) else { return false };
            self.outer.push((op, which, all));
            inner = next;
        }
        let mut factors = None;
        if fused {
            let Some((TermOp::Fma, [a, b, c])) = normal(self.store, inner) else { return false };
            // The product is added to itself, or to a number.
            let twice = self.explainer.digest(self.store, c) == arm.digest;
            self.outer.push((TermOp::Add, if twice { 3 } else { 1 }, [c; 3]));
            if twice && !self.fits(arm.other, c, false) {
                return false;
            }
            factors = Some([a, b, c]);
        }
        if !self.has_number(&arm, operands[arm.which]) || !self.fits(arm.condition, operands[0], false) {
            return false;
        }
        match factors {
            Some(terms) => self.fits_factors(arm.other, &terms),
            None => self.fits(arm.other, inner, false),
        }
    }

    /// Whether a term is the result of the outer operations on the number in a template's choice. A NaN stays a NaN.
    fn has_number(&self, arm: &Arm<'_>, term: TermId) -> bool {
        let Some(mut number) = arm.number.cloned() else {
            return self.number(term).is_none() && is_number_or_nan(self.store, term);
        };
        for (op, which, operands) in self.outer.iter().rev() {
            let numbers: Option<Vec<&Extended>> = operands[..op.arity()]
                .iter()
                .enumerate()
                .map(|(at, term)| if which >> at & 1 == 1 { Some(&number) } else { self.number(*term) })
                .collect();
            let Some(Fold::Value(value)) = numbers.map(|numbers| fold(*op, &numbers)) else { return false };
            number = value;
        }
        self.number(term) == Some(&number)
    }

    /// Whether a term is a fused sum whose product is the template's result, which is then not rounded.
    pub(super) fn is_fused(&mut self, root: TermId) -> bool {
        let Some((TermOp::Fma, terms)) = normal(self.store, root) else { return false };
        self.outer.push((TermOp::Add, 1, [terms[2]; 3]));
        self.fits_factors(self.template.graph.len() as u32 - 1, &terms)
    }

    /// Whether the first two terms match the factors of a piece.
    fn fits_factors(&mut self, at: u32, terms: &[TermId; 3]) -> bool {
        let factors = self.template.factors(at);
        factors
            .is_some_and(|factors| self.fits_some_way(ways(TermOp::Mul, TermOp::Mul, false), &factors, terms))
    }

    pub(super) fn number(&self, term: TermId) -> Option<&'s Extended> {
        match self.store.view(term) {
            View::Constant(constant) => Some(&constant.exact),
            View::Input { .. } | View::Apply(..) => None,
        }
    }

    /// Whether a term, or its negation, is what a piece computes.
    pub(super) fn fits(&mut self, at: u32, term: TermId, negated: bool) -> bool {
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        if let View::Apply(TermOp::Neg, [inner, ..]) = self.store.view(term) {
            return self.fits(at, inner, !negated);
        }
        match &self.template.graph[at as usize] {
            Piece::Operand(which) => match self.operands[*which] {
                Some((bound, sign)) => sign == negated && self.is_same(bound, term, MAX_RECOMPUTED),
                None => {
                    self.operands[*which] = Some((term, negated));
                    self.trail.push(Undo::Bound(*which));
                    true
                }
            },
            Piece::Number(number) => match self.store.view(term) {
                View::Constant(own) if negated => {
                    let is_exact = is_held_alike(own, own) && is_held_alike(number, number);
                    is_exact && fold(TermOp::Neg, &[&number.exact]) == Fold::Value(own.exact.clone())
                }
                View::Constant(own) => own.exact == number.exact && is_held_alike(own, number),
                View::Input { .. } | View::Apply(..) => false,
            },
            Piece::Apply { op: TermOp::Neg, operands: [inner, ..], .. } => self.fits(*inner, term, !negated),
            Piece::Apply { op, operands, rounds, digest } => {
                if self.seen.contains(&(at, term, negated)) {
                    return true;
                }
                if self.explainer.digest(self.store, term) != *digest || negated && is_directed(*rounds) {
                    return false;
                }
                let fits = self.explainer.rounds_of(term) == *rounds
                    && normal(self.store, term).is_some_and(|(own, terms)| {
                        self.is_own_magnitude((*op, operands[0]), own, term, negated)
                            || self.fits_some_way(ways(*op, own, negated), &operands[..op.arity()], &terms)
                            || *op == TermOp::Select
                                && own == *op
                                && self.fits_turned_round(*operands, &terms, negated)
                            || !negated && self.is_compared_alike((*op, *operands), (own, terms))
                    });
                if !fits && (negated || !self.fits_unclamped(*op, *operands, term)) {
                    return false;
                }
                self.seen.insert((at, term, negated));
                self.trail.push(Undo::Seen(at, term, negated));
                true
            }
        }
    }

    /// Whether a piece is the magnitude of what a term is, which is a magnitude.
    fn is_own_magnitude(
        &mut self,
        (op, of): (TermOp, u32),
        own: TermOp,
        term: TermId,
        negated: bool,
    ) -> bool {
        let is_one = self.of_magnitudes && !negated && [op, own] == [TermOp::Abs; 2];
        let before = self.trail.len();
        let fits = is_one && self.fits(of, term, false);
        if !fits {
            self.undo(before);
        }
        fits
    }

    /// Whether two terms are equal: compilers recompute a cheap operand instead of keeping it.
    fn is_same(&mut self, a: TermId, b: TermId, depth: u32) -> bool {
        if a == b {
            return true;
        }
        if self.steps == 0 || depth == 0 {
            return false;
        }
        self.steps -= 1;
        match (self.store.view(a), self.store.view(b)) {
            (View::Constant(x), View::Constant(y)) => x.exact == y.exact,
            (View::Apply(op, x), View::Apply(other, y)) => {
                op == other
                    && self.explainer.rounds_of(a) == self.explainer.rounds_of(b)
                    && (0..op.arity()).all(|at| self.is_same(x[at], y[at], depth - 1))
            }
            (View::Constant(_) | View::Apply(..) | View::Input { .. }, _) => false,
        }
    }

    /// Whether terms match the operands of a piece in one of some ways.
    fn fits_some_way(&mut self, ways: &[Way], operands: &[u32], terms: &[TermId; 3]) -> bool {
        let before = self.trail.len();
        ways.iter().any(|way| {
            let fits = operands
                .iter()
                .zip(way)
                .all(|(at, (which, negated))| self.fits(*at, terms[*which], *negated));
            if !fits {
                self.undo(before);
            }
            fits
        })
    }

    /// Whether a choice, or its negation, matches a piece with its arms swapped and its condition negated. No value is NaN.
    fn fits_turned_round(
        &mut self,
        [condition, then, otherwise]: [u32; 3],
        terms: &[TermId; 3],
        negated: bool,
    ) -> bool {
        use TermOp::{Less, LessEqual};
        let Piece::Apply { op, operands: [a, b, _], .. } = self.template.graph[condition as usize] else {
            return false;
        };
        let View::Apply(own, [x, y, _]) = self.store.view(terms[0]) else { return false };
        if !matches!((op, own), (Less, LessEqual) | (LessEqual, Less)) {
            return false;
        }
        let before = self.trail.len();
        [(y, x, false), (x, y, true)].into_iter().any(|(first, second, sign)| {
            let fits = self.fits(a, first, sign)
                && self.fits(b, second, sign)
                && self.fits(then, terms[2], negated)
                && self.fits(otherwise, terms[1], negated);
            if !fits {
                self.undo(before);
            }
            fits
        })
    }

    pub(super) fn undo(&mut self, before: usize) {
        for undo in self.trail.drain(before..) {
            match undo {
                Undo::Seen(at, term, negated) => {
                    self.seen.remove(&(at, term, negated));
                }
                Undo::Bound(which) => self.operands[which] = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Rational;
    use proptest::prelude::*;

    /// The value of an operation on numbers; `None` where it is none that is computed here.
    fn value(op: TermOp, operands: &[Extended]) -> Option<Extended> {
        let negated = |number: &Extended| match fold(TermOp::Neg, &[number]) {
            Fold::Value(value) => Some(value),
            Fold::Truth(_) | Fold::Undefined | Fold::Irrational => None,
        };
        match (op, operands) {
            (TermOp::Select, [condition, then, otherwise]) => {
                Some(if condition.signum() == 0 { otherwise.clone() } else { then.clone() })
            }
            (TermOp::CopySign, [sign, of]) => {
                let is_other = (sign.signum() < 0) != (of.signum() < 0);
                if is_other { negated(of) } else { Some(of.clone()) }
            }
            _ => match fold(op, &operands.iter().collect::<Vec<_>>()) {
                Fold::Value(value) => Some(value),
                Fold::Truth(holds) => Some(Extended::Finite(Rational::from_integer(holds.into()))),
                Fold::Undefined | Fold::Irrational => None,
            },
        }
    }

    proptest! {
        /// A zero has no sign that a magnitude could take.
        #[test]
        fn each_way_gives_the_same_number_or_its_negation(
            numbers in [prop_oneof![-9i64..0, 1i64..10], prop_oneof![-9i64..0, 1i64..10], prop_oneof![-9i64..0, 1i64..10]],
        ) {
            let terms = numbers.map(|number| Extended::Finite(Rational::from_integer(number)));
            let all = || TermOp::ALL.iter().copied();
            for (piece, term) in all().flat_map(|piece| all().map(move |term| (piece, term))) {
                for (negated, way) in [false, true]
                    .into_iter()
                    .flat_map(|negated| ways(piece, term, negated).iter().map(move |way| (negated, way)))
                {
                    let operands: Vec<Extended> = way[..piece.arity()]
                        .iter()
                        .map(|(which, sign)| {
                            let own = numbers[*which];
                            Extended::Finite(Rational::from_integer(if *sign { -own } else { own }))
                        })
                        .collect();
                    let Some(own) = value(term, &terms[..term.arity()]) else { continue };
                    let own = if negated {
                        value(TermOp::Neg, &[own]).expect("a number has a negation")
                    } else {
                        own
                    };
                    prop_assert_eq!(value(piece, &operands), Some(own), "{:?} {:?} {:?}", piece, term, way);
                }
            }
        }
    }
}
