//! Matching a term's graph with that of a template, node by node.

use super::{Arm, Explainer, MAX_OPERANDS, Piece, Template, Which, is_number_or_nan, normal, step_in};
use crate::number::Extended;
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
    pub(super) operands: [Option<TermId>; MAX_OPERANDS],
    seen: FxHashSet<(u32, TermId)>,
    /// Visited pairs and bound operands, in order, for backtracking.
    pub(super) trail: Vec<Undo>,
    pub(super) outer: Vec<(TermOp, Which, [TermId; 3])>,
    steps: u32,
}

pub(super) enum Undo {
    Seen(u32, TermId),
    Bound(usize),
}

/// For each operand of a piece, the operand of a term and whether it is negated.
type Way = [(usize, bool); 3];

/// Whether hardware holds the same bits for two constants with equal exact values: an approximation of known
/// numbers differs from their quotient.
fn is_held_alike(a: &Constant, b: &Constant) -> bool {
    let is_exact = |constant: &Constant| {
        constant.rounded.is_none_or(|rounded| rounded.bounds().iter().all(|end| *end == constant.exact))
    };
    a.rounded == b.rounded || is_exact(a) && is_exact(b)
}

/// The ways in which a term of one operation matches a piece of another. Operands that commute may be swapped. Signs
/// may be moved, as compilers do where an operand is a negation: that changes neither the result nor its rounding.
pub(super) fn ways(piece: TermOp, term: TermOp) -> &'static [Way] {
    const PLAIN: Way = [(0, false), (1, false), (2, false)];
    const SWAPPED: Way = [(1, false), (0, false), (2, false)];
    const BOTH: Way = [(0, true), (1, true), (2, false)];
    const BOTH_SWAPPED: Way = [(1, true), (0, true), (2, false)];
    const SECOND: Way = [(0, false), (1, true), (2, false)];
    const SECOND_SWAPPED: Way = [(1, true), (0, false), (2, false)];
    match (piece, term) {
        (TermOp::Mul | TermOp::Fma, _) if piece == term => &[PLAIN, SWAPPED, BOTH, BOTH_SWAPPED],
        (TermOp::Less | TermOp::LessEqual, _) if piece == term => &[PLAIN, BOTH_SWAPPED],
        (TermOp::Add, TermOp::Sub) => &[SECOND, SECOND_SWAPPED],
        (TermOp::Sub, TermOp::Add) => &[SECOND, [(1, false), (0, true), (2, false)]],
        _ if piece != term => &[],
        _ if piece.info().commutes => &[PLAIN, SWAPPED],
        _ => &[PLAIN],
    }
}

impl<'s> Match<'s> {
    pub(super) fn new(store: &'s Store, explainer: &'s Explainer, template: &'s Template) -> Match<'s> {
        let (operands, seen, trail) = ([None; MAX_OPERANDS], FxHashSet::default(), Vec::new());
        Match { store, explainer, template, operands, seen, trail, outer: Vec::new(), steps: MAX_STEPS }
    }

    /// Whether a term has the graph of the template.
    pub(super) fn has_graph(&mut self, root: TermId) -> bool {
        self.fits(self.template.graph.len() as u32 - 1, root)
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
            if twice && !self.fits(arm.other, c) {
                return false;
            }
            factors = Some([a, b, c]);
        }
        if !self.has_number(&arm, operands[arm.which]) || !self.fits(arm.condition, operands[0]) {
            return false;
        }
        match factors {
            Some(terms) => self.fits_factors(arm.other, &terms),
            None => self.fits(arm.other, inner),
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
        factors.is_some_and(|factors| self.fits_some_way(ways(TermOp::Mul, TermOp::Mul), &factors, terms))
    }

    pub(super) fn number(&self, term: TermId) -> Option<&'s Extended> {
        match self.store.view(term) {
            View::Constant(constant) => Some(&constant.exact),
            View::Input { .. } | View::Apply(..) => None,
        }
    }

    pub(super) fn fits(&mut self, at: u32, term: TermId) -> bool {
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        match &self.template.graph[at as usize] {
            Piece::Operand(which) => match self.operands[*which] {
                Some(bound) => self.is_same(bound, term, MAX_RECOMPUTED),
                None => {
                    self.operands[*which] = Some(term);
                    self.trail.push(Undo::Bound(*which));
                    true
                }
            },
            Piece::Number(number) => match self.store.view(term) {
                View::Constant(own) => own.exact == number.exact && is_held_alike(own, number),
                View::Input { .. } | View::Apply(..) => false,
            },
            Piece::Apply { op, operands, rounds, digest } => {
                if self.seen.contains(&(at, term)) {
                    return true;
                }
                if self.explainer.digest(self.store, term) != *digest {
                    return false;
                }
                let fits = self.explainer.rounds_of(term) == *rounds
                    && normal(self.store, term).is_some_and(|(own, terms)| {
                        self.fits_some_way(ways(*op, own), &operands[..op.arity()], &terms)
                            || *op == TermOp::Select
                                && own == *op
                                && self.fits_turned_round(*operands, &terms)
                            || self.is_compared_alike((*op, *operands), (own, terms))
                    });
                if !fits && !self.fits_unclamped(*op, *operands, term) {
                    return false;
                }
                self.seen.insert((at, term));
                self.trail.push(Undo::Seen(at, term));
                true
            }
        }
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
            let fits = operands.iter().zip(way).all(|(at, (which, negated))| {
                if *negated { self.fits_negated(*at, terms[*which]) } else { self.fits(*at, terms[*which]) }
            });
            if !fits {
                self.undo(before);
            }
            fits
        })
    }

    /// Whether a choice matches a piece with its arms swapped and its condition negated. No value is NaN.
    fn fits_turned_round(&mut self, [condition, then, otherwise]: [u32; 3], terms: &[TermId; 3]) -> bool {
        use TermOp::{Less, LessEqual};
        let Piece::Apply { op, operands: [a, b, _], .. } = self.template.graph[condition as usize] else {
            return false;
        };
        let View::Apply(own, [x, y, _]) = self.store.view(terms[0]) else { return false };
        if !matches!((op, own), (Less, LessEqual) | (LessEqual, Less)) {
            return false;
        }
        let before = self.trail.len();
        let fits =
            self.fits(a, y) && self.fits(b, x) && self.fits(then, terms[2]) && self.fits(otherwise, terms[1]);
        if !fits {
            self.undo(before);
        }
        fits
    }

    /// Whether a term is the negation of one that matches a piece: of an operand that is a negation, or of a number.
    fn fits_negated(&mut self, at: u32, term: TermId) -> bool {
        match &self.template.graph[at as usize] {
            Piece::Operand(which) => match self.operands[*which].map(|bound| self.store.view(bound)) {
                Some(View::Apply(TermOp::Neg, [inner, ..])) => self.is_same(inner, term, MAX_RECOMPUTED),
                Some(View::Apply(..) | View::Constant(_) | View::Input { .. }) | None => false,
            },
            Piece::Number(number) => {
                let negated = fold(TermOp::Neg, &[&number.exact]);
                self.number(term).is_some_and(|own| negated == Fold::Value(own.clone()))
            }
            Piece::Apply { .. } => false,
        }
    }

    pub(super) fn undo(&mut self, before: usize) {
        for undo in self.trail.drain(before..) {
            match undo {
                Undo::Seen(at, term) => {
                    self.seen.remove(&(at, term));
                }
                Undo::Bound(which) => self.operands[which] = None,
            }
        }
    }
}
