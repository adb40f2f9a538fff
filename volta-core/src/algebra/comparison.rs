//! Comparisons with zero that are left in a form: proofs by cases ([`super::cases`]) split on them.

use super::atom::Atom;
use super::case::{Assumption, Case};
use super::condition::{Condition, ConditionId};
use super::id::AtomId;
use super::polynomial::{Key, PolynomialId, Term, add, negated, number};
use super::prover::Prover;
use super::table::Table;
use crate::number::Rational;
use crate::number::signs::Signs;
use rustc_hash::FxHashSet;

/// Maxima of more arms have too many orders to split on.
const MAX_ARMS: usize = 32;
/// Candidates that are considered when choosing the comparison to split on.
pub(super) const MAX_COMPARISONS: usize = 256;
/// Integers with a larger range are not split into their values.
const MAX_VALUES: u8 = 3;

/// A comparison with zero that is left in a form.
#[derive(Clone, Debug)]
pub(super) struct Comparison {
    pub(super) sum: Vec<Term>,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Whether it is negative; at zero both outcomes are equivalent.
    Order,
    /// Whether it is positive.
    Positive,
    /// Whether it is zero.
    Zero,
    /// Which sign it has.
    Sign,
    /// Which integer from 0 to this one it is.
    Value(u8),
}

impl Kind {
    /// Whether these signs decide it.
    pub(super) fn is_decided(self, signs: Signs) -> bool {
        match self {
            Kind::Order => signs.within(Signs::NOT_NEGATIVE) || signs.within(!Signs::POSITIVE),
            Kind::Positive => signs == Signs::POSITIVE || signs.within(!Signs::POSITIVE),
            Kind::Zero => signs == Signs::ZERO || signs.excludes_zero(),
            Kind::Sign => [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE].contains(&signs),
            // Only an assumption decides the value.
            Kind::Value(_) => false,
        }
    }
}

impl Comparison {
    /// The assumption that the sum is this value.
    fn is(&self, value: u8) -> [Assumption; 2] {
        let above = add(&self.sum, &number(Rational::from_integer(-i64::from(value))));
        let below = negated(&above);
        [above, below].map(|sum| Assumption { sum: sum.into(), strict: false })
    }

    /// Whether the case assumes one of the values.
    fn is_placed(&self, case: &Case) -> bool {
        let Kind::Value(most) = self.kind else { return false };
        (0..=most).any(|value| case.assumptions.contains(&self.is(value)[0]))
    }

    /// The outcomes: the assumptions that each of them makes.
    pub(super) fn outcomes(&self) -> Vec<Vec<Assumption>> {
        let up = |strict| Assumption { sum: self.sum.as_slice().into(), strict };
        let down = |strict| Assumption { sum: negated(&self.sum).into(), strict };
        match self.kind {
            Kind::Order => vec![vec![up(false)], vec![down(true)]],
            Kind::Positive => vec![vec![up(true)], vec![down(false)]],
            Kind::Zero | Kind::Sign => vec![vec![up(true)], vec![down(true)], vec![up(false), down(false)]],
            Kind::Value(most) => (0..=most).map(|value| self.is(value).into()).collect(),
        }
    }
}

impl Prover<'_> {
    /// The simplest comparison in a sum that the current case leaves open.
    pub(super) fn comparison_in(&mut self, sum: &[Term]) -> Option<Comparison> {
        let mut found = comparisons(&self.table, sum);
        found.sort_by_key(|(turn, comparison)| {
            let place = comparison.sum.iter().map(|term| self.table.monomials.place(term.monomial())).min();
            (*turn, comparison.sum.len(), place)
        });
        found.truncate(MAX_COMPARISONS);
        for (_, comparison) in found {
            if let Kind::Value(_) = comparison.kind {
                if comparison.is_placed(&self.case) {
                    continue;
                }
                return Some(comparison);
            }
            if comparison.kind.is_decided(self.signs_of(&comparison.sum)) {
                continue;
            }
            let factors = self.sign_factors(&comparison.sum);
            let [single] = &factors[..] else {
                // A factor that is zero makes the whole sum zero.
                let sum = factors.into_iter().find(|part| !Kind::Sign.is_decided(self.signs_of(part)))?;
                return Some(Comparison { sum, kind: Kind::Sign });
            };
            return Some(Comparison { sum: single.clone(), kind: comparison.kind });
        }
        None
    }

    /// A small integer within the assumptions to split on: that the case contains no integer may show only for each
    /// value.
    pub(super) fn digit_in(&self, assumptions: &[Assumption]) -> Option<Comparison> {
        let digits = assumptions.iter().flat_map(|assumption| comparisons(&self.table, &assumption.sum));
        let mut digits: Vec<Comparison> = digits
            .map(|(_, comparison)| comparison)
            .filter(|comparison| {
                matches!(comparison.kind, Kind::Value(_)) && !comparison.is_placed(&self.case)
            })
            .collect();
        digits.sort_by_key(|digit| {
            digit.sum.iter().map(|term| self.table.monomials.place(term.monomial())).min()
        });
        digits.into_iter().next()
    }
}

/// All comparisons within a sum, each with its priority: comparisons that contain others come later, and values of
/// small integers last.
fn comparisons(table: &Table, sum: &[Term]) -> Vec<(u8, Comparison)> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<AtomId> = FxHashSet::default();
    let mut open: Vec<AtomId> = atoms_in(table, sum);
    while let Some(atom) = open.pop() {
        if !seen.insert(atom) || found.len() > 4 * MAX_COMPARISONS {
            continue;
        }
        let inside = |id: PolynomialId| table.polynomials.terms(id);
        let mut compare = |sum: Vec<Term>, kind| {
            let compares = atoms_in(table, &sum).into_iter().any(|atom| compares(table, atom));
            found.push((u8::from(compares), Comparison { sum, kind }));
        };
        match table.atom(atom) {
            Atom::Sum(content) | Atom::Apply(_, content) => {
                open.extend(atoms_in(table, inside(*content)));
                found.extend(digit_of(table, atom).map(|digit| (2, digit)));
            }
            Atom::Input(..) => found.extend(digit_of(table, atom).map(|digit| (2, digit))),
            Atom::Max(arms) => {
                for (at, arm) in arms.iter().enumerate() {
                    for other in arms[at + 1..].iter().filter(|_| arms.len() <= MAX_ARMS) {
                        compare(add(inside(*arm), &negated(inside(*other))), Kind::Order);
                    }
                    open.extend(atoms_in(table, inside(*arm)));
                }
            }
            Atom::BitAnd(a, b) => {
                open.extend([*a, *b].into_iter().flat_map(|part| atoms_in(table, inside(part))));
            }
            Atom::CopySign(sign, magnitude, _) => {
                compare(inside(*sign).to_vec(), Kind::Sign);
                open.extend([*sign, *magnitude].into_iter().flat_map(|part| atoms_in(table, inside(part))));
            }
            Atom::FirstLargest(list) => {
                for (at, (key, payload)) in list.iter().enumerate() {
                    for (other, _) in list[at + 1..].iter().filter(|_| list.len() <= MAX_ARMS) {
                        compare(add(inside(*other), &negated(inside(*key))), Kind::Positive);
                    }
                    open.extend([*key, *payload].into_iter().flat_map(|part| atoms_in(table, inside(part))));
                }
            }
            Atom::Select(condition, a, b) => {
                for (sum, kind) in compared_by(table, condition) {
                    open.extend(atoms_in(table, inside(sum)));
                    compare(inside(sum).to_vec(), kind);
                }
                open.extend([*a, *b].into_iter().flat_map(|part| atoms_in(table, inside(part))));
            }
            Atom::Irrational(_) | Atom::Literal(_) | Atom::Opaque(_) | Atom::Products(_) => {}
        }
    }
    found
}

/// The value of an atom that is a bit, a sign or an input of few values.
fn digit_of(table: &Table, atom: AtomId) -> Option<Comparison> {
    let (low, high) = table.atom_bounds(atom)?;
    let most = u8::try_from(high.checked_sub(low)?).ok().filter(|most| (1..=MAX_VALUES).contains(most))?;
    let digit = [Term::of(Key::of(table.monomials.known_single(atom)?))];
    let sum = add(&digit, &number(Rational::from_i128(-low)));
    Some(Comparison { sum, kind: Kind::Value(most) })
}

/// Whether an atom compares, or something within it does.
fn compares(table: &Table, atom: AtomId) -> bool {
    let mut seen: FxHashSet<AtomId> = FxHashSet::default();
    let mut open = vec![atom];
    while let Some(atom) = open.pop() {
        let content = table.atom(atom);
        if matches!(content, Atom::Max(_) | Atom::CopySign(..) | Atom::FirstLargest(_) | Atom::Select(..)) {
            return true;
        }
        if seen.insert(atom) {
            let parts = content.parts().into_iter();
            open.extend(parts.flat_map(|part| atoms_in(table, table.polynomials.terms(part))));
        }
    }
    false
}

/// The atoms of a sum and of its exponents.
fn atoms_in(table: &Table, sum: &[Term]) -> Vec<AtomId> {
    let mut atoms = Vec::new();
    let mut exponents = Vec::new();
    let mut add = |terms: &[Term], exponents: &mut Vec<PolynomialId>| {
        for term in terms {
            atoms.extend(table.monomials.factors(term.monomial()).iter().map(|(atom, _)| *atom));
            if term.exponent() != PolynomialId::ZERO {
                exponents.push(term.exponent());
            }
        }
    };
    add(sum, &mut exponents);
    while let Some(exponent) = exponents.pop() {
        add(table.polynomials.terms(exponent), &mut exponents);
    }
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

/// What a condition compares with zero.
fn compared_by(table: &Table, condition: &ConditionId) -> Vec<(PolynomialId, Kind)> {
    let mut found = Vec::new();
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        match table.conditions.get(condition) {
            Condition::Known(_) => {}
            Condition::Positive(sum) => found.push((*sum, Kind::Positive)),
            Condition::Zero(sum) => found.push((*sum, Kind::Zero)),
            Condition::Not(inner) => open.push(inner),
            Condition::And(a, b) | Condition::Xor(a, b) => open.extend([a, b]),
        }
    }
    found
}
