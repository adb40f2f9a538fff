//! Maxima: flattened, as sets, with common summands and factors of the arms taken out.
//!
//! `max(a + c, b + c) = max(a, b) + c` and `max(k·a, k·b) = k·max(a, b)` for `k > 0` are applied in one direction
//! that does not depend on how a maximum was built: the common part `c` of a set of arms is found coefficient by
//! coefficient, as the one that most arms have (the least, if there are several). Adding a summand to every arm
//! adds it to that part and changes nothing else. Since `min(a, b) = −max(−a, −b)`, two arms give
//! `min(a, b) = a + b − max(a, b)`, and `|a| = 2·max(a, 0) − a`; with `max(a − m, b) = max(a, b + m) − m`, minima
//! inside maxima have the same form as maxima inside minima.

use super::Stop;
use super::atom::Atom;
use super::id::{AtomId, TermRef};
use super::polynomial::{Key, PolynomialId, Term, add, as_number, collect, content, negated, times_number};
use super::prover::Prover;
use super::table::Table;
use super::worklist::if_known;
use crate::number::Rational;
use crate::number::signs::Signs;
use crate::term::TermOp;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Up to this many arms, signs of all pairwise differences are examined.
const MAX_PAIRS: usize = 6;
/// At most this many subtracted maxima are moved out of arms.
const MAX_SHIFTS: usize = 8;
/// Sums of several maxima are distributed up to this many arms.
const MAX_PRODUCT_ARMS: usize = 64;

/// Extrema of more terms than this are looked up by their terms.
const FEW_LEAVES: usize = 16;

impl Prover<'_> {
    /// The maximum (or minimum) that a tree of nodes of one operation computes.
    pub(super) fn maximum_of(&mut self, root: TermRef, op: TermOp) -> Result<Vec<Term>, Stop> {
        // Within a case of a case split, little is left of a network.
        if self.case.is_trivial()
            && let Some(value) = self.network(root)?
        {
            return Ok(value);
        }
        let leaves = self.leaves_of_extremum(root, op)?;
        if leaves.len() <= FEW_LEAVES {
            return self.extremum_of(&leaves, op);
        }
        let mut sorted = leaves.clone();
        sorted.sort_unstable();
        let key = (op, Rc::from(sorted));
        if let Some(known) = self.forms.extrema.get(&key) {
            return Ok(self.table.polynomials.shared_terms(*known).to_vec());
        }
        let value = self.extremum_of(&leaves, op)?;
        let id = self.table.polynomial(&value);
        self.forms.listed_bytes += size_of_val(&*key.1) as u64;
        self.forms.extrema.insert(key, id);
        Ok(value)
    }

    /// The operands of a tree of nodes of one operation, each once.
    fn leaves_of_extremum(&mut self, root: TermRef, op: TermOp) -> Result<Vec<TermRef>, Stop> {
        let mut leaves = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            self.charge(1)?;
            if !seen.insert(at) {
                continue;
            }
            match self.terms.extremum(at).filter(|(inner, _)| *inner == op) {
                Some((_, [a, b])) => stack.extend([b, a]),
                None => leaves.push(at),
            }
        }
        Ok(leaves)
    }

    /// The maximum (or minimum) of some terms.
    fn extremum_of(&mut self, leaves: &[TermRef], op: TermOp) -> Result<Vec<Term>, Stop> {
        let (mut arms, mut conditional) = (Vec::new(), Vec::new());
        let before = self.work.mark();
        for at in leaves.iter().copied() {
            // The other infinity would have made the result infinite.
            if self.is_infinite(at)? {
                continue;
            }
            if leaves.len() > 1 && self.tactic.indicators && self.terms.is_number_in_part(at) {
                conditional.push(at);
            } else {
                arms.extend(self.arm_of_extremum(at, op)?);
            }
        }
        self.work.since(before)?;
        let below = if conditional.is_empty() { None } else { self.nowhere_above(&arms)? };
        for at in conditional {
            let beyond = match &below {
                Some(below) => if_known(self.leaf_beyond(at, op, below))?.flatten(),
                None => None,
            };
            arms.extend(match beyond {
                Some(arm) => Some(arm),
                None => self.arm_of_extremum(at, op)?,
            });
        }
        self.work.since(before)?;
        let maximum = self.maximum(arms)?;
        Ok(if op == TermOp::Min { negated(&maximum) } else { maximum })
    }

    /// A leaf of an extremum as an arm of a maximum; `None` if its form is yet to be found.
    fn arm_of_extremum(&mut self, at: TermRef, op: TermOp) -> Result<Option<Vec<Term>>, Stop> {
        let Some(arm) = if_known(self.resolve(at))? else { return Ok(None) };
        let terms = self.table.polynomials.shared_terms(arm).to_vec();
        Ok(Some(if op == TermOp::Min { negated(&terms) } else { terms }))
    }

    /// The maximum of one or more collected sums.
    pub(super) fn maximum(&mut self, arms: Vec<Vec<Term>>) -> Result<Vec<Term>, Stop> {
        let (arms, lowered) = self.table.without_negative_maxima(arms);
        let mut flat = Vec::with_capacity(arms.len());
        let mut open = arms;
        let mut sums = false;
        while let Some(arm) = open.pop() {
            self.charge(1 + arm.len() as u64)?;
            match self.split_maximum(&arm, open.len() + flat.len())? {
                None => flat.push(arm),
                Some(inner) => {
                    sums |= arm.len() > 1 || !arm[0].coefficient.is_one();
                    open.extend(inner);
                }
            }
        }
        let maximum = self.maximum_of_flat(flat, sums)?;
        Ok(add(&maximum, &lowered))
    }

    /// The maximum of arms that are not maxima. `sums` tells whether sums of maxima were distributed.
    fn maximum_of_flat(&mut self, flat: Vec<Vec<Term>>, sums: bool) -> Result<Vec<Term>, Stop> {
        let mut arms = self.table.distinct(flat);
        if let Some(any) = self.largest_indicator(&arms)? {
            return Ok(any);
        }
        if sums {
            self.drop_between(&mut arms)?;
        }
        self.drop_smaller(&mut arms);
        if let [single] = arms.as_slice() {
            return Ok(single.clone());
        }
        let shared = self.table.shared_part(&arms);
        let opposite = negated(&shared);
        let arms: Vec<Vec<Term>> = arms.iter().map(|arm| add(arm, &opposite)).collect();
        let (scale, arms) = self.take_positive_factor(arms)?;
        let mut plain = Vec::with_capacity(arms.len());
        for arm in arms {
            plain.push(self.plain(arm)?);
        }
        let arms = self.table.distinct(plain);
        let value = if let [single] = arms.as_slice() {
            single.clone()
        } else {
            let mut ids: Vec<PolynomialId> = arms.iter().map(|arm| self.table.polynomial(arm)).collect();
            ids.sort_unstable();
            self.table.atom_term(Atom::Max(ids.into()))
        };
        let value = self.scaled(&value, &scale)?;
        Ok(add(&value, &shared))
    }

    /// The arms of `c·max(…) + r` for `c > 0`: `c·a + r` for each `a`. `None` when `arm` is not such a sum, or has
    /// too many arms.
    pub(super) fn split_maximum(
        &mut self,
        arm: &[Term],
        others: usize,
    ) -> Result<Option<Vec<Vec<Term>>>, Stop> {
        let positive = |term: &Term| self.table.linear_maximum(term) == Some(Signs::POSITIVE);
        let Some(at) = arm.iter().position(positive) else { return Ok(None) };
        let several = arm.iter().filter(|term| positive(term)).count() > 1;
        let factors = self.table.monomials.shared_factors(arm[at].monomial());
        let arms = |(atom, _): &(AtomId, i32)| Some((*atom, self.table.atom(*atom).arms()?.to_vec()));
        let found = factors.iter().find_map(arms);
        let Some((atom, inner)) = found else { return Ok(None) };
        if several && inner.len() + others > MAX_PRODUCT_ARMS {
            return Ok(None);
        }
        let key = self.table.without(arm[at].key, &[atom]);
        let scale = Term { key, coefficient: arm[at].coefficient.clone() };
        let mut rest = arm.to_vec();
        rest.remove(at);
        let mut arms = Vec::with_capacity(inner.len());
        for inner in inner.iter() {
            let inner = self.table.polynomials.shared_terms(*inner);
            let inner = self.scaled(&inner, &scale)?;
            let inner = self.expand(add(&inner, &rest))?;
            arms.push(inner);
        }
        Ok(Some(arms))
    }

    /// Drops arms that signs show to be nowhere larger than another.
    fn drop_smaller(&mut self, arms: &mut Vec<Vec<Term>>) {
        // With many arms, only constants are compared with the others.
        let few = arms.len() <= if self.case.is_trivial() { MAX_PAIRS } else { MAX_PRODUCT_ARMS };
        let covers = |prover: &mut Self, larger: &[Term], smaller: &[Term]| {
            prover.signs_of(&add(larger, &negated(smaller))).within(Signs::NOT_NEGATIVE)
        };
        let numbers = arms.iter().filter_map(|arm| as_number(arm)).collect::<Vec<_>>();
        // `max(a, −a, 0) = max(a, −a)`: a constant between two arms.
        for number in &numbers {
            let twice = super::polynomial::number(number * &Rational::TWO);
            let all: FxHashSet<&[Term]> = arms.iter().map(Vec::as_slice).collect();
            let opposite = |arm: &Vec<Term>| {
                as_number(arm).is_none() && all.contains(add(&twice, &negated(arm)).as_slice())
            };
            if arms.iter().any(opposite) {
                let own = super::polynomial::number(number.clone());
                arms.retain(|arm| *arm != own);
            }
        }
        let mut at = 0;
        while at < arms.len() && arms.len() > 1 {
            let is_number = as_number(&arms[at]).is_some();
            let covered = if few || is_number {
                (0..arms.len()).any(|other| other != at && covers(self, &arms[other], &arms[at]))
                    || arms.len() <= MAX_PAIRS && below_two_others(&self.table, arms, at)
            } else {
                let own = &arms[at];
                numbers.iter().any(|number| covers(self, &super::polynomial::number(number.clone()), own))
            };
            if covered {
                arms.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// Drops arms halfway between two others: `max(2a, a + b, 2b) = max(2a, 2b)`. Distributing sums of maxima
    /// creates such arms; all are dropped together, for none of them is a vertex of the convex hull.
    fn drop_between(&mut self, arms: &mut Vec<Vec<Term>>) -> Result<(), Stop> {
        if !(3..=MAX_PRODUCT_ARMS).contains(&arms.len()) {
            return Ok(());
        }
        self.charge((arms.len() * arms.len()) as u64)?;
        let all: FxHashSet<&[Term]> = arms.iter().map(Vec::as_slice).collect();
        let between = |arm: &Vec<Term>| {
            let twice = times_number(arm, &Rational::TWO);
            arms.iter().any(|end| end != arm && all.contains(add(&twice, &negated(end)).as_slice()))
        };
        let keep: Vec<bool> = arms.iter().map(|arm| !between(arm)).collect();
        let mut keep = keep.into_iter();
        arms.retain(|_| keep.next().unwrap_or(true));
        Ok(())
    }

    /// Divides all arms by their common positive factor.
    pub(super) fn take_positive_factor(
        &mut self,
        arms: Vec<Vec<Term>>,
    ) -> Result<(Term, Vec<Vec<Term>>), Stop> {
        let all: Vec<Term> = arms.iter().flatten().cloned().collect();
        let common = self.table.common_monomial(&all);
        let factors = self.table.monomials.shared_factors(common);
        let positive: Vec<(AtomId, i32)> = factors
            .iter()
            .copied()
            .filter(|(atom, _)| self.signs_of_atom(*atom) == Signs::POSITIVE)
            .collect();
        let monomial = self.table.intern_factors(&positive);
        let coefficient = content(&all).unwrap_or(Rational::ONE);
        let factor = coefficient.recip().unwrap_or(Rational::ONE);
        let key = Key::new(monomial, self.common_exponent(&all)?);
        let inverse = Term { coefficient: factor, key: self.table.key_power(key, -1)? };
        let mut divided = Vec::with_capacity(arms.len());
        for arm in arms {
            divided.push(self.scaled(&arm, &inverse)?);
        }
        Ok((Term { coefficient, key }, divided))
    }
}

impl Table {
    /// `max(a − m, b) = max(a, b + m) − m` where `m` is a maximum: afterwards no arm subtracts one, unless arms are
    /// many. Also returns the sum to be added to the maximum.
    fn without_negative_maxima(&self, mut arms: Vec<Vec<Term>>) -> (Vec<Vec<Term>>, Vec<Term>) {
        let mut lowered = Vec::new();
        for _ in 0..MAX_SHIFTS {
            if arms.len() > MAX_PAIRS {
                break;
            }
            let mut terms = arms.iter().flatten();
            let negative = terms.find(|term| self.linear_maximum(term) == Some(Signs::NEGATIVE));
            let Some(negative) = negative.cloned() else { break };
            let raise = negated(std::slice::from_ref(&negative));
            lowered = add(&lowered, &[negative]);
            for arm in &mut arms {
                *arm = add(arm, &raise);
            }
        }
        (arms, lowered)
    }

    /// The sign of the cofactor of the only maximum in a term, if the term is linear in it and the sign is known.
    fn linear_maximum(&self, term: &Term) -> Option<Signs> {
        let mut maxima = 0;
        let mut signs = Signs::of(&term.coefficient);
        for (atom, power) in self.monomials.factors(term.monomial()) {
            match (self.atom(*atom).arms(), power) {
                (Some(_), 1) => maxima += 1,
                (Some(_), _) => return None,
                (None, _) => {
                    let base = self.atom_signs(*atom);
                    signs = signs.times(if power % 2 == 0 { base.times_itself() } else { base });
                }
            }
        }
        (maxima == 1 && (signs == Signs::POSITIVE || signs == Signs::NEGATIVE)).then_some(signs)
    }

    /// Distinct arms; of those that differ by a constant only the largest.
    fn distinct(&mut self, arms: Vec<Vec<Term>>) -> Vec<Vec<Term>> {
        let mut largest: FxHashMap<PolynomialId, usize> = FxHashMap::default();
        let mut kept: Vec<(Rational, Vec<Term>)> = Vec::with_capacity(arms.len());
        for arm in arms {
            let is_number = |term: &Term| term.key == Key::ONE;
            let constant = arm.iter().find(|term| is_number(term)).map(|term| term.coefficient.clone());
            let constant = constant.unwrap_or_default();
            let rest: Vec<Term> = arm.iter().filter(|term| !is_number(term)).cloned().collect();
            let rest = self.polynomial(&rest);
            match largest.get(&rest) {
                None => {
                    largest.insert(rest, kept.len());
                    kept.push((constant, arm));
                }
                Some(at) => {
                    if kept[*at].0 < constant {
                        kept[*at] = (constant, arm);
                    }
                }
            }
        }
        kept.into_iter().map(|(_, arm)| arm).collect()
    }

    /// For each product that occurs in the arms, the coefficient that most arms have for it.
    pub(super) fn shared_part(&self, arms: &[Vec<Term>]) -> Vec<Term> {
        let mut coefficients: FxHashMap<Key, Vec<&Rational>> = FxHashMap::default();
        let mut counts: FxHashMap<Key, usize> = FxHashMap::default();
        for term in arms.iter().flatten() {
            *counts.entry(term.key).or_insert(0) += 1;
        }
        // A key in fewer than half of the arms has coefficient 0 in most.
        for term in arms.iter().flatten().filter(|term| counts[&term.key] * 2 >= arms.len()) {
            coefficients.entry(term.key).or_default().push(&term.coefficient);
        }
        let mut shared = Vec::new();
        for (key, mut values) in coefficients {
            let zero = Rational::ZERO;
            values.resize(arms.len(), &zero);
            values.sort_unstable();
            let mut best = (0, values[0]);
            let mut start = 0;
            for at in 0..=values.len() {
                if at == values.len() || values[at] != values[start] {
                    if at - start > best.0 {
                        best = (at - start, values[start]);
                    }
                    start = at;
                }
            }
            if !best.1.is_zero() {
                shared.push(Term { key, coefficient: best.1.clone() });
            }
        }
        collect(&mut shared);
        shared
    }
}

/// Whether an arm is nowhere larger than the mean of two others.
fn below_two_others(table: &Table, arms: &[Vec<Term>], at: usize) -> bool {
    let lowered = times_number(&arms[at], &Rational::from_integer(-2));
    let others = || (0..arms.len()).filter(|other| *other != at);
    others().any(|a| {
        let rest = add(&arms[a], &lowered);
        others().filter(|b| *b > a).any(|b| table.signs_of(&add(&rest, &arms[b])).within(Signs::NOT_NEGATIVE))
    })
}
