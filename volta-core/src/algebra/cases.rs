//! Proofs by cases: one for each order of what maxima and choices compare.
//!
//! Where the forms of two terms differ and maxima or choices are left in them, a comparison that one of them makes
//! is taken to come out either way, and the terms are put into canonical form anew for each: the arms that are then
//! not the largest, or not chosen, are gone. This goes on until the forms agree, or no comparison is left. Orders
//! that cannot be are not followed: the comparisons of a case are linear inequalities between products of atoms, and
//! those without a solution describe no input ([`super::linear`]).
//!
//! All inputs are in one of the cases, so proofs of all of them are a proof. Where the forms still differ in a case
//! that has nothing left to compare, a solution of its inequalities is a hint where to look for a witness.

use super::Stop;
use super::atom::{Atom, AtomId, Function, TermRef};
use super::canon::Prover;
use super::condition::{Condition, ConditionId};
use super::equal::Rung;
use super::facts::INFINITE;
use super::function::{as_number, negated, number, times_number};
use super::linear::{Inequality, Solution, solve};
use super::obligation::{Demand, Requirement};
use super::polynomial::{Key, PolynomialId, Term, add, collect};
use super::sign::Signs;
use crate::number::Rational;
use crate::term::InputId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Cases looked at for one pair of terms.
const MAX_CASES: u64 = 8_192;
/// Maxima of more arms have too many orders, and are not split.
const MAX_ARMS: usize = 32;
/// Comparisons looked at for the best one to split by.
const MAX_COMPARISONS: usize = 256;

/// Whole numbers of more values are not looked at one by one.
const MAX_VALUES: u8 = 3;

/// Values of some input elements.
pub type Hint = Vec<((InputId, u64), Rational)>;

/// What a proof by cases came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// Equal in every case.
    Equal,
    /// Not proved in one case.
    Open {
        /// Values of input elements in that case, as far as they are known: near the edge of the case, and further in.
        hints: Vec<Hint>,
        /// What is assumed in the case.
        reason: String,
    },
}

/// `sum > 0`, or `sum ≥ 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Assumption {
    sum: Rc<[Term]>,
    strict: bool,
}

/// What holds in the case at hand.
#[derive(Debug, Default)]
pub(super) struct Case {
    assumptions: Vec<Assumption>,
    signs: FxHashMap<PolynomialId, Signs>,
}

impl Case {
    /// Whether nothing is assumed.
    pub(super) fn is_trivial(&self) -> bool {
        self.assumptions.is_empty()
    }
}

/// A comparison with zero that a form still makes.
#[derive(Clone, Debug)]
struct Comparison {
    sum: Vec<Term>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Whether it is negative; at zero both ways agree.
    Order,
    /// Whether it is positive.
    Positive,
    /// Whether it is zero.
    Zero,
    /// Which sign it has.
    Sign,
    /// Which of the whole numbers from 0 up to this one it is.
    Value(u8),
}

impl Kind {
    /// Whether these signs answer it.
    fn is_decided(self, signs: Signs) -> bool {
        match self {
            Kind::Order => signs.within(Signs::NOT_NEGATIVE) || signs.within(!Signs::POSITIVE),
            Kind::Positive => signs == Signs::POSITIVE || signs.within(!Signs::POSITIVE),
            Kind::Zero => signs == Signs::ZERO || signs.excludes_zero(),
            Kind::Sign => [Signs::NEGATIVE, Signs::ZERO, Signs::POSITIVE].contains(&signs),
            // Only what was assumed puts the number in its place.
            Kind::Value(_) => false,
        }
    }
}

impl Comparison {
    /// That it is a number.
    fn is(&self, value: u8) -> [Assumption; 2] {
        let above = add(&self.sum, &number(Rational::from_integer(-i64::from(value))));
        let below = negated(&above);
        [above, below].map(|sum| Assumption { sum: sum.into(), strict: false })
    }

    /// The ways that it can come out.
    fn outcomes(&self) -> Vec<Vec<Assumption>> {
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
    /// Tries to prove two terms equal wherever both are defined, in each order of what they compare.
    pub fn equal_by_cases(&mut self, a: TermRef, b: TermRef) -> Result<Split, Stop> {
        // What the second term requires beyond the first becomes a condition of the verdict.
        let mut granted = self.assumptions_of(a);
        granted.extend(self.assumptions_of(b));
        self.in_all_cases(granted, |prover| {
            let difference = prover.difference(a, b, Rung::Expansions)?;
            prover.reduced(difference)
        })
    }

    /// Tries to prove a requirement on `operand` in each order of what that compares, where `reference` is defined.
    pub fn met_by_cases(
        &mut self,
        requirement: &Requirement,
        operand: TermRef,
        reference: TermRef,
    ) -> Result<bool, Stop> {
        if self.flags(operand) & INFINITE != 0 {
            return Ok(false);
        }
        let mut assumptions = self.assumptions_of(reference);
        for guard in requirement.guards.conditions() {
            let Some((sum, signs)) = self.signs_under(guard) else { continue };
            let sum = self.table.polynomials.shared_terms(sum);
            let opposite: Rc<[Term]> = negated(&sum).into();
            if signs == Signs::POSITIVE || signs == Signs::ZERO {
                assumptions.push(Assumption { sum, strict: signs == Signs::POSITIVE });
            }
            if signs.within(!Signs::POSITIVE) {
                assumptions.push(Assumption { sum: opposite, strict: false });
            }
        }
        let wanted = requirement.demand.signs();
        let split = self.in_all_cases(assumptions, |prover| {
            let value = prover.settle(|prover| prover.argument(operand))?;
            if prover.signs_of(&value).within(wanted) {
                return Ok(Vec::new());
            }
            // Anything but nothing: it is open.
            Ok(if value.is_empty() { number(Rational::ONE) } else { value })
        })?;
        Ok(split == Split::Equal)
    }

    /// Follows all cases until `what_is_left` leaves nothing.
    fn in_all_cases(
        &mut self,
        granted: Vec<Assumption>,
        what_is_left: impl Fn(&mut Self) -> Result<Vec<Term>, Stop>,
    ) -> Result<Split, Stop> {
        let mut open = vec![granted];
        let mut cases = 0;
        let result = loop {
            let Some(assumptions) = open.pop() else { break Ok(Split::Equal) };
            if self.solution(&assumptions, &[], &Rational::ONE) == Solution::None {
                // No input is in this case.
                continue;
            }
            cases += 1;
            if cases > MAX_CASES {
                let reason = format!("there are more than {MAX_CASES} orders of what is compared");
                break Ok(Split::Open { hints: Vec::new(), reason });
            }
            self.assume(assumptions.clone());
            let left = match what_is_left(self) {
                Ok(left) => left,
                Err(stop @ Stop::Exhausted(_)) => break Err(stop),
                Err(_) => break Ok(self.open_case(&assumptions)),
            };
            if left.is_empty() {
                continue;
            }
            let comparison = self.comparison_in(&left).or_else(|| self.digit_in(&assumptions));
            let Some(comparison) = comparison else {
                break Ok(self.open_case(&assumptions));
            };
            for mut more in comparison.outcomes().into_iter().rev() {
                for assumption in &mut more {
                    self.tighten(assumption);
                }
                open.push([&assumptions[..], &more].concat());
            }
        };
        self.assume(Vec::new());
        result
    }

    /// A whole number above zero is at least 1.
    fn tighten(&self, assumption: &mut Assumption) {
        let Some(divisor) = super::integer::content(&assumption.sum).and_then(|factor| factor.recip()) else {
            return;
        };
        let whole = times_number(&assumption.sum, &divisor);
        if assumption.strict && self.table.is_whole(&whole) {
            let less = add(&whole, &number(Rational::MINUS_ONE));
            *assumption = Assumption { sum: less.into(), strict: false };
        }
    }

    /// What holds wherever a term is defined.
    fn assumptions_of(&mut self, at: TermRef) -> Vec<Assumption> {
        let granted = self.granted(at).unwrap_or_default();
        granted.iter().filter_map(|requirement| self.as_assumption(requirement)).collect()
    }

    fn as_assumption(&mut self, requirement: &Requirement) -> Option<Assumption> {
        let strict = match requirement.demand {
            Demand::Nonzero => return None,
            Demand::Positive => true,
            Demand::NotNegative => false,
        };
        if !requirement.guards.is_empty() {
            return None;
        }
        let content = self.requirement_content(requirement);
        let sum: Vec<Term> = match content {
            Some(content) => self.table.polynomials.terms(content).to_vec(),
            None => {
                vec![Term {
                    key: Key::new(requirement.product, PolynomialId::ZERO),
                    coefficient: Rational::ONE,
                }]
            }
        };
        Some(Assumption { sum: if requirement.negative { negated(&sum).into() } else { sum.into() }, strict })
    }

    /// Begins a case: what was learned in another is forgotten.
    fn assume(&mut self, assumptions: Vec<Assumption>) {
        self.case = Case { assumptions, signs: FxHashMap::default() };
        self.forget();
    }

    /// The signs that a sum's value can have in the case at hand.
    pub(super) fn signs_of(&mut self, terms: &[Term]) -> Signs {
        let signs = self.table.signs_of(terms);
        let settled = signs == Signs::POSITIVE || signs == Signs::ZERO || signs == Signs::NEGATIVE;
        if settled || self.case.assumptions.is_empty() {
            return signs;
        }
        let id = self.table.polynomial(terms);
        if let Some(known) = self.case.signs.get(&id) {
            return *known;
        }
        let mut left = signs;
        let factors = self.sign_factors(terms);
        if factors.len() != 1 || factors[0] != terms {
            let product =
                factors.iter().fold(Signs::POSITIVE, |signs, part| signs.times(self.signs_of(part)));
            left = left & product;
        }
        let assumptions = std::mem::take(&mut self.case.assumptions);
        let opposite = negated(terms);
        // Charged with the next step of the walk: about as much as a tableau has entries.
        let rows = assumptions.iter().map(|assumption| assumption.sum.len() as u64 + 1).sum::<u64>();
        self.add_steps(3 * (rows + terms.len() as u64) * (assumptions.len() as u64 + 1));
        for (sign, sums) in [
            (Signs::NEGATIVE, vec![(&opposite[..], true)]),
            (Signs::POSITIVE, vec![(terms, true)]),
            (Signs::ZERO, vec![(terms, false), (&opposite[..], false)]),
        ] {
            let more: Vec<Assumption> =
                sums.into_iter().map(|(sum, strict)| Assumption { sum: sum.into(), strict }).collect();
            if sign.within(left) && self.solution(&assumptions, &more, &Rational::ONE) == Solution::None {
                left = left & !sign;
            }
        }
        self.case.assumptions = assumptions;
        self.case.signs.insert(id, left);
        left
    }

    /// Sums whose signs multiply to that of a sum: what is common to all terms by itself, `p² − q²` as
    /// `(p − q)·(p + q)`, and `f(a) − f(b)` as `a − b` where `f` grows.
    fn sign_factors(&mut self, terms: &[Term]) -> Vec<Vec<Term>> {
        let Ok((common, rest)) = self.take_common(terms.to_vec()) else { return vec![terms.to_vec()] };
        let mut factors = Vec::new();
        for (atom, power) in self.table.monomials.shared_factors(common.key.monomial()).iter() {
            let single = Key::new(self.table.single(*atom), PolynomialId::ZERO);
            let single = vec![Term { key: single, coefficient: Rational::ONE }];
            match self.table.atom_signs(*atom) {
                Signs::POSITIVE => {}
                // A square says less than its root; both are looked at.
                _ if power % 2 == 0 => factors.extend([single.clone(), single]),
                _ => factors.push(single),
            }
        }
        match as_number(&rest) {
            Some(value) if factors.is_empty() => factors.push(number(value)),
            Some(value) if value.is_negative() => factors[0] = negated(&factors[0]),
            Some(_) => {}
            None => factors.extend(self.factors_of_difference(&rest).unwrap_or_else(|| vec![rest])),
        }
        factors
    }

    /// Two terms of opposite signs, taken apart.
    fn factors_of_difference(&mut self, terms: &[Term]) -> Option<Vec<Vec<Term>>> {
        let [first, second] = terms else { return None };
        if first.coefficient != -&second.coefficient {
            return None;
        }
        let sign = Rational::from_integer(i64::from(first.coefficient.signum()));
        let [a, b] = [first.key, second.key];
        if a.monomial() == b.monomial() && self.table.monomial_signs(a.monomial()) == Signs::POSITIVE {
            // 2^a − 2^b
            let [a, b] = [a, b].map(|key| self.table.polynomials.shared_terms(key.exponent()));
            return Some(vec![times_number(&add(&a, &negated(&b)), &sign)]);
        }
        if a.exponent() != PolynomialId::ZERO || b.exponent() != PolynomialId::ZERO {
            return None;
        }
        let argument = |prover: &Self, key: Key| match prover.table.monomials.factors(key.monomial()) {
            [(atom, 1)] => match prover.table.atom(*atom) {
                Atom::Apply(function @ (Function::Sqrt | Function::Log2), argument) => {
                    Some((*function, *argument))
                }
                _ => None,
            },
            _ => None,
        };
        if let (Some((function, a)), Some((other, b))) = (argument(self, a), argument(self, b))
            && function == other
        {
            let [a, b] = [a, b].map(|id| self.table.polynomials.shared_terms(id));
            return Some(vec![times_number(&add(&a, &negated(&b)), &sign)]);
        }
        let half = |prover: &mut Self, key: Key| {
            let factors = prover.table.monomials.shared_factors(key.monomial());
            let even = factors.iter().all(|(_, power)| power % 2 == 0);
            let halves: Vec<(AtomId, i32)> = factors.iter().map(|(atom, power)| (*atom, power / 2)).collect();
            even.then(|| Key::new(prover.table.intern_factors(&halves), PolynomialId::ZERO))
        };
        let (a, b) = (half(self, a)?, half(self, b)?);
        let [a, b] = [a, b].map(|key| vec![Term { key, coefficient: Rational::ONE }]);
        Some(vec![times_number(&add(&a, &negated(&b)), &sign), add(&a, &b)])
    }

    /// The signs that an atom's value can have in the case at hand.
    pub(super) fn signs_of_atom(&mut self, atom: AtomId) -> Signs {
        let signs = self.table.atom_signs(atom);
        if self.case.assumptions.is_empty() {
            return signs;
        }
        let within = match self.table.atom(atom) {
            Atom::Sum(content) => self.table.polynomials.shared_terms(*content).to_vec(),
            _ => vec![Term {
                key: Key::new(self.table.single(atom), PolynomialId::ZERO),
                coefficient: Rational::ONE,
            }],
        };
        signs & self.signs_of(&within)
    }

    /// A solution of what is assumed, products of atoms taken as numbers of which no more than the signs is known: the
    /// values of [`unknowns`].
    fn solution(&self, assumptions: &[Assumption], more: &[Assumption], margin: &Rational) -> Solution {
        let all = || assumptions.iter().chain(more);
        let keys = self.unknowns(all());
        let numbers: FxHashMap<Key, usize> = keys.iter().enumerate().map(|(at, key)| (*key, at)).collect();
        let mut system: Vec<Inequality> = all()
            .map(|assumption| Inequality {
                terms: assumption
                    .sum
                    .iter()
                    .map(|term| (numbers[&term.key], term.coefficient.clone()))
                    .collect(),
                strict: assumption.strict,
            })
            .collect();
        for (at, key) in keys.iter().enumerate() {
            if let Some(argument) = self.table.floor_of(*key) {
                // ⌊a⌋ ≤ a < ⌊a⌋ + 1
                let argument = self.table.polynomials.terms(argument);
                let known: Option<Vec<(usize, Rational)>> = argument
                    .iter()
                    .map(|term| Some((*numbers.get(&term.key)?, term.coefficient.clone())))
                    .collect();
                if let Some(above) = known {
                    let mut below: Vec<(usize, Rational)> = above.iter().map(|(at, by)| (*at, -by)).collect();
                    let mut above = above;
                    above.push((at, Rational::MINUS_ONE));
                    below.extend([(at, Rational::ONE), (numbers[&Key::ONE], Rational::ONE)]);
                    system.push(Inequality { terms: above, strict: false });
                    system.push(Inequality { terms: below, strict: true });
                }
            }
            let signs = self.table.monomial_signs(key.monomial());
            let mut bound = |by: Rational, strict| system.push(Inequality { terms: vec![(at, by)], strict });
            if let Some((low, high)) = self.table.whole_bounds(*key) {
                // Nothing is known of the number one but that it is positive: bounds are multiples of it.
                let one = numbers[&Key::ONE];
                let mut limit = |by: Rational, end: i128| {
                    let end = &-&by * &Rational::from_i128(end);
                    system.push(Inequality { terms: vec![(at, by), (one, end)], strict: false });
                };
                limit(Rational::ONE, low);
                limit(Rational::MINUS_ONE, high);
                continue;
            }
            if *key == Key::ONE {
                // 1, whatever the margin is of the others.
                bound(margin.clone(), true);
            } else if signs.within(Signs::NOT_NEGATIVE) {
                bound(Rational::ONE, signs.excludes_zero());
            } else if signs.within(!Signs::POSITIVE) {
                bound(Rational::MINUS_ONE, signs.excludes_zero());
            }
        }
        solve(&system, keys.len(), margin)
    }

    /// The products of atoms in sums, and those that they are roundings of; 1 is one of them.
    fn unknowns<'a>(&self, assumptions: impl Iterator<Item = &'a Assumption>) -> Vec<Key> {
        let mut keys: Vec<Key> =
            assumptions.flat_map(|assumption| assumption.sum.iter().map(|term| term.key)).collect();
        keys.push(Key::ONE);
        let mut at = 0;
        while at < keys.len() && keys.len() < MAX_COMPARISONS {
            if let Some(argument) = self.table.floor_of(keys[at]) {
                let new = self.table.polynomials.terms(argument).iter().map(|term| term.key);
                let new: Vec<Key> = new.filter(|key| !keys.contains(key)).collect();
                keys.extend(new);
            }
            at += 1;
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// What is told of a case that was not proved.
    fn open_case(&mut self, assumptions: &[Assumption]) -> Split {
        let margins = [1, 1 << 16].map(Rational::from_integer);
        let hints = margins.iter().map(|margin| self.hint(assumptions, margin)).collect();
        let reason = match assumptions.len() {
            0 => "the canonical forms differ".to_string(),
            count => format!(
                "the canonical forms differ in one of the orders of what is compared ({count} comparisons)"
            ),
        };
        Split::Open { hints, reason }
    }

    /// Values of input elements in a case, `margin` away from its edge.
    fn hint(&self, assumptions: &[Assumption], margin: &Rational) -> Hint {
        // Within the case rather than on its edge, where the next case may be equal too.
        let within: Vec<Assumption> =
            assumptions.iter().map(|assumption| Assumption { strict: true, ..assumption.clone() }).collect();
        let values = match self.solution(&within, &[], margin) {
            Solution::Values(values) => values,
            Solution::None | Solution::GivenUp => match self.solution(assumptions, &[], margin) {
                Solution::Values(values) => values,
                Solution::None | Solution::GivenUp => return Hint::new(),
            },
        };
        let keys = self.unknowns(assumptions.iter());
        // The system is homogeneous; 1 has to be 1.
        let one = keys.iter().position(|key| *key == Key::ONE).and_then(|at| values.get(at)?.recip());
        let scale = one.unwrap_or(Rational::ONE);
        let mut hint = Hint::new();
        for (key, value) in keys.iter().zip(&values) {
            if key.exponent() == PolynomialId::ZERO
                && let [(atom, 1)] = self.table.monomials.factors(key.monomial())
                && let Atom::Input(input, element) = self.table.atom(*atom)
            {
                hint.push(((*input, *element), value * &scale));
            }
        }
        hint.sort_unstable_by_key(|(place, _)| *place);
        hint
    }

    /// Makes use of sums that are zero in the case at hand: an atom that such a sum has once is replaced by the rest.
    fn reduced(&mut self, mut difference: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let assumptions = self.case.assumptions.clone();
        for (at, assumption) in assumptions.iter().enumerate() {
            let opposite = negated(&assumption.sum);
            let is_zero = !assumption.strict
                && assumptions[at + 1..].iter().any(|other| !other.strict && other.sum[..] == opposite[..]);
            if !is_zero {
                continue;
            }
            let Some((atom, value)) = self.solved(&assumption.sum) else { continue };
            difference = self.replaced(&difference, atom, &value)?;
        }
        if difference.is_empty() {
            return Ok(difference);
        }
        let difference = self.expand(difference)?;
        self.settle(|prover| prover.clear_denominators(difference.clone()))
    }

    /// An atom that a sum has in one term, alone, and what it must be for the sum to be zero.
    fn solved(&self, sum: &[Term]) -> Option<(AtomId, Vec<Term>)> {
        sum.iter().enumerate().find_map(|(at, term)| {
            let [(atom, 1)] = self.table.monomials.factors(term.monomial()) else { return None };
            let elsewhere = |other: &Term| {
                let mut factors = self.table.monomials.factors(other.monomial()).iter();
                factors.any(|(factor, _)| factor == atom) || other.exponent() != PolynomialId::ZERO
            };
            let mut rest = sum.to_vec();
            rest.remove(at);
            if term.exponent() != PolynomialId::ZERO || rest.iter().any(elsewhere) {
                return None;
            }
            let factor = -term.coefficient.recip()?;
            Some((*atom, times_number(&rest, &factor)))
        })
    }

    /// A sum with positive powers of an atom replaced.
    fn replaced(&mut self, terms: &[Term], atom: AtomId, value: &[Term]) -> Result<Vec<Term>, Stop> {
        let mut out = Vec::with_capacity(terms.len());
        for term in terms {
            let factors = self.table.monomials.shared_factors(term.monomial());
            let power = factors.iter().find(|(factor, _)| *factor == atom).map_or(0, |(_, power)| *power);
            if !(1..=8).contains(&power) {
                out.push(term.clone());
                continue;
            }
            let rest: Vec<(AtomId, i32)> =
                factors.iter().copied().filter(|(factor, _)| *factor != atom).collect();
            let key = Key::new(self.table.intern_factors(&rest), term.exponent());
            let mut product = vec![Term { key, coefficient: term.coefficient.clone() }];
            for _ in 0..power {
                product = self.multiply(&product, value)?;
            }
            out.extend(product);
        }
        collect(&mut out);
        Ok(out)
    }

    /// The simplest comparison that a sum still makes and that the case at hand leaves open.
    fn comparison_in(&mut self, sum: &[Term]) -> Option<Comparison> {
        let mut found = self.comparisons(sum);
        found.sort_by_key(|(turn, comparison)| {
            let place = comparison.sum.iter().map(|term| self.table.monomials.place(term.monomial())).min();
            (*turn, comparison.sum.len(), place)
        });
        found.truncate(MAX_COMPARISONS);
        for (_, comparison) in found {
            if let Kind::Value(_) = comparison.kind {
                if self.is_placed(&comparison) {
                    continue;
                }
                return Some(comparison);
            }
            if comparison.kind.is_decided(self.signs_of(&comparison.sum)) {
                continue;
            }
            let factors = self.sign_factors(&comparison.sum);
            let [single] = &factors[..] else {
                // Where one of several is zero, all is.
                let sum = factors.into_iter().find(|part| !Kind::Sign.is_decided(self.signs_of(part)))?;
                return Some(Comparison { sum, kind: Kind::Sign });
            };
            return Some(Comparison { sum: single.clone(), kind: comparison.kind });
        }
        None
    }

    /// Whether it is assumed which number a digit is.
    fn is_placed(&self, digit: &Comparison) -> bool {
        let Kind::Value(most) = digit.kind else { return false };
        (0..=most).any(|value| self.case.assumptions.contains(&digit.is(value)[0]))
    }

    /// A digit that something assumed depends on: that no whole number is in the case may show in each of its values.
    fn digit_in(&self, assumptions: &[Assumption]) -> Option<Comparison> {
        let digits = assumptions.iter().flat_map(|assumption| self.comparisons(&assumption.sum));
        let mut digits: Vec<Comparison> = digits
            .map(|(_, comparison)| comparison)
            .filter(|comparison| matches!(comparison.kind, Kind::Value(_)) && !self.is_placed(comparison))
            .collect();
        digits.sort_by_key(|digit| {
            digit.sum.iter().map(|term| self.table.monomials.place(term.monomial())).min()
        });
        digits.into_iter().next()
    }

    /// All comparisons within a sum, each with its turn: those that have others within them are not the first, and
    /// digits the last.
    fn comparisons(&self, sum: &[Term]) -> Vec<(u8, Comparison)> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<AtomId> = FxHashSet::default();
        let mut open: Vec<AtomId> = self.atoms_in(sum);
        while let Some(atom) = open.pop() {
            if !seen.insert(atom) || found.len() > 4 * MAX_COMPARISONS {
                continue;
            }
            let inside = |id: PolynomialId| self.table.polynomials.terms(id);
            let mut compare = |sum: Vec<Term>, kind| {
                let compares = self.atoms_in(&sum).into_iter().any(|atom| self.compares(atom));
                found.push((u8::from(compares), Comparison { sum, kind }));
            };
            match self.table.atom(atom) {
                Atom::Sum(content) | Atom::Apply(_, content) => {
                    open.extend(self.atoms_in(inside(*content)));
                    // A digit or a sign.
                    if let Some((low, high)) = self.table.atom_bounds(atom)
                        && let Ok(most) = u8::try_from(high - low)
                        && (1..=MAX_VALUES).contains(&most)
                        && let Some(single) = self.table.monomials.known_single(atom)
                    {
                        let key = Key::new(single, PolynomialId::ZERO);
                        let digit = [Term { key, coefficient: Rational::ONE }];
                        let sum = add(&digit, &number(Rational::from_i128(-low)));
                        found.push((2, Comparison { sum, kind: Kind::Value(most) }));
                    }
                }
                Atom::Max(arms) => {
                    for (at, arm) in arms.iter().enumerate() {
                        for other in arms[at + 1..].iter().filter(|_| arms.len() <= MAX_ARMS) {
                            compare(add(inside(*arm), &negated(inside(*other))), Kind::Order);
                        }
                        open.extend(self.atoms_in(inside(*arm)));
                    }
                }
                Atom::BitAnd(a, b) => {
                    open.extend([*a, *b].into_iter().flat_map(|part| self.atoms_in(inside(part))));
                }
                Atom::CopySign(sign, magnitude) => {
                    compare(inside(*sign).to_vec(), Kind::Positive);
                    open.extend([*sign, *magnitude].into_iter().flat_map(|part| self.atoms_in(inside(part))));
                }
                Atom::Select(condition, a, b) => {
                    for (sum, kind) in self.compared_by(condition) {
                        open.extend(self.atoms_in(inside(sum)));
                        compare(inside(sum).to_vec(), kind);
                    }
                    open.extend([*a, *b].into_iter().flat_map(|part| self.atoms_in(inside(part))));
                }
                Atom::Input(..)
                | Atom::Irrational(_)
                | Atom::Literal(_)
                | Atom::Lazy(_)
                | Atom::Products(_) => {}
            }
        }
        found
    }

    /// Whether an atom compares, or something within it does.
    fn compares(&self, atom: AtomId) -> bool {
        let mut seen: FxHashSet<AtomId> = FxHashSet::default();
        let mut open = vec![atom];
        while let Some(atom) = open.pop() {
            match self.table.atom(atom) {
                Atom::Max(_) | Atom::CopySign(..) | Atom::Select(..) => return true,
                Atom::Sum(content) | Atom::Apply(_, content) => {
                    if seen.insert(atom) {
                        open.extend(self.atoms_in(self.table.polynomials.terms(*content)));
                    }
                }
                Atom::BitAnd(a, b) => {
                    if seen.insert(atom) {
                        let inside = |part: &PolynomialId| self.table.polynomials.terms(*part);
                        open.extend([a, b].into_iter().flat_map(|part| self.atoms_in(inside(part))));
                    }
                }
                Atom::Input(..)
                | Atom::Irrational(_)
                | Atom::Literal(_)
                | Atom::Lazy(_)
                | Atom::Products(_) => {}
            }
        }
        false
    }

    /// The atoms of a sum and of its exponents.
    fn atoms_in(&self, sum: &[Term]) -> Vec<AtomId> {
        let mut atoms = Vec::new();
        let mut exponents = Vec::new();
        let mut add = |terms: &[Term], exponents: &mut Vec<PolynomialId>| {
            for term in terms {
                atoms.extend(self.table.monomials.factors(term.monomial()).iter().map(|(atom, _)| *atom));
                if term.exponent() != PolynomialId::ZERO {
                    exponents.push(term.exponent());
                }
            }
        };
        add(sum, &mut exponents);
        while let Some(exponent) = exponents.pop() {
            add(self.table.polynomials.terms(exponent), &mut exponents);
        }
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// What a condition compares with zero.
    fn compared_by(&self, condition: &ConditionId) -> Vec<(PolynomialId, Kind)> {
        let mut found = Vec::new();
        let mut open = vec![condition];
        while let Some(condition) = open.pop() {
            match self.conditions.get(condition) {
                Condition::Known(_) => {}
                Condition::Positive(sum) => found.push((*sum, Kind::Positive)),
                Condition::Zero(sum) => found.push((*sum, Kind::Zero)),
                Condition::Not(inner) => open.push(inner),
                Condition::And(a, b) | Condition::Xor(a, b) => open.extend([a, b]),
            }
        }
        found
    }
}
