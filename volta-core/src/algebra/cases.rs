//! Proofs by case analysis: one case for each order of the quantities that maxima and choices compare.
//!
//! Where the forms of two terms differ and maxima or choices are left in them, one of their comparisons is assumed
//! true and then false, and the terms are put into canonical form again in each case: arms that are not the
//! largest, or not chosen, disappear. This is repeated until the forms agree, or no comparison is left. Infeasible
//! orders are not followed: the comparisons of a case are linear inequalities between products of atoms, and if
//! they have no solution, no input is in the case ([`super::linear`]).
//!
//! The cases cover all inputs, so proofs of all of them are a proof. Where the forms still differ in a case with
//! nothing left to compare, a solution of its inequalities is a hint for the search for a counterexample.

use super::Stop;
use super::analysis::INFINITE;
use super::atom::Atom;
use super::case::{Assumption, Case};
use super::comparison::MAX_COMPARISONS;
use super::equal::Stage;
use super::id::{AtomId, TermRef};
use super::linear::{Inequality, Solution, solve};
use super::monomial::MonomialId;
use super::polynomial::{
    Key, PolynomialId, Term, add, as_number, collect, content, negated, number, times_number,
};
use super::prover::Prover;
use super::requirement::Requirement;
use super::table::Table;
use crate::number::Rational;
use crate::number::signs::Signs;
use crate::number::value::Demand;
use crate::term::{InputId, TermOp};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// At most this many cases are examined for one pair of terms.
const MAX_CASES: u64 = 8_192;

/// Values of some input elements.
pub type Hint = Vec<((InputId, u64), Rational)>;

/// The result of a proof by cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// Equal in every case.
    Equal,
    /// Not proved in one case.
    Open {
        /// Values of input elements in that case, as far as they are known: near its boundary, and further inside.
        hints: Vec<Hint>,
        /// The assumptions of the case.
        reason: String,
    },
}

/// Conditions that hold wherever a term is defined.
#[derive(Debug, Default)]
struct Domain {
    assumptions: Vec<Assumption>,
    /// Sums that are not zero.
    nonzero: Vec<Vec<Term>>,
}

impl Domain {
    fn extend(&mut self, other: Domain) {
        self.assumptions.extend(other.assumptions);
        self.nonzero.extend(other.nonzero);
    }
}

impl Prover<'_> {
    /// Tries to prove two terms equal wherever both are defined, in each order of what they compare.
    pub fn equal_by_cases(&mut self, a: TermRef, b: TermRef) -> Result<Split, Stop> {
        // What the second term requires beyond the first becomes a condition of the verdict.
        let mut granted = self.domain_of(a);
        granted.extend(self.domain_of(b));
        self.in_all_cases(granted, |prover| {
            let difference = prover.difference(a, b, Stage::Expansions)?;
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
        if self.terms.flags(operand) & INFINITE != 0 {
            return Ok(false);
        }
        let mut granted = self.domain_of(reference);
        let assumptions = &mut granted.assumptions;
        for guard in requirement.guards.conditions.iter() {
            let Some((sum, signs)) = self.table.signs_under(guard) else { continue };
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
        let split = self.in_all_cases(granted, |prover| {
            let value = prover.settle(|prover| prover.argument(operand))?;
            if prover.signs_of(&value).within(wanted) {
                return Ok(Vec::new());
            }
            // A nonempty result leaves the case open.
            Ok(if value.is_empty() { number(Rational::ONE) } else { value })
        })?;
        Ok(split == Split::Equal)
    }

    /// Tries to prove that a term is undefined everywhere: its requirements contradict each other in each order of
    /// what they compare.
    pub fn undefined_by_cases(&mut self, at: TermRef) -> Result<Split, Stop> {
        let required: Vec<(TermRef, Demand)> = self.required_everywhere(at)?;
        let granted = self.domain_of(at);
        self.in_all_cases(granted, |prover| {
            let mut open = number(Rational::ONE);
            for (operand, demand) in &required {
                let value = prover.settle(|prover| prover.argument(*operand))?;
                if prover.signs_of(&value).within(!demand.signs()) {
                    return Ok(Vec::new());
                }
                if prover.comparison_in(&value).is_some() {
                    open = value;
                }
            }
            Ok(open)
        })
    }

    /// Splits into cases until `what_is_left` is empty in each, or one stays open.
    fn in_all_cases(
        &mut self,
        granted: Domain,
        what_is_left: impl Fn(&mut Self) -> Result<Vec<Term>, Stop>,
    ) -> Result<Split, Stop> {
        let mut open = vec![granted.assumptions];
        let mut cases = 0;
        let result = loop {
            let Some(assumptions) = open.pop() else { break Ok(Split::Equal) };
            if solution(&self.table, &assumptions, &[], &Rational::ONE) == Solution::None {
                // No input is in this case.
                continue;
            }
            cases += 1;
            if cases > MAX_CASES {
                let reason = format!("there are more than {MAX_CASES} orders of the compared quantities");
                break Ok(Split::Open { hints: Vec::new(), reason });
            }
            self.assume(assumptions.clone());
            if granted.nonzero.iter().any(|sum| self.signs_of(sum) == Signs::ZERO) {
                // The terms are undefined in this case.
                continue;
            }
            let mut left = what_is_left(self);
            if self.case.has_numbers() && matches!(left, Err(Stop::Undefined(_))) {
                // Which term is undefined, and whether that matters, is decided by its requirements.
                self.case.numbers.clear();
                self.forget();
                left = what_is_left(self);
            }
            let left = match left {
                Ok(left) => left,
                Err(stop @ Stop::Exhausted(_)) => break Err(stop),
                Err(_) => break Ok(open_case(&self.table, &assumptions)),
            };
            if left.is_empty() {
                continue;
            }
            let comparison = self.comparison_in(&left).or_else(|| self.digit_in(&assumptions));
            let Some(comparison) = comparison else {
                break Ok(open_case(&self.table, &assumptions));
            };
            for mut more in comparison.outcomes().into_iter().rev() {
                for assumption in &mut more {
                    tighten(&self.table, assumption);
                }
                open.push([&assumptions[..], &more].concat());
            }
        };
        self.assume(Vec::new());
        result
    }

    /// The conditions that hold wherever a term is defined.
    fn domain_of(&mut self, at: TermRef) -> Domain {
        let mut domain = Domain::default();
        for requirement in self.granted(at).unwrap_or_default() {
            if !requirement.guards.is_empty() {
                continue;
            }
            let mut sum = required_sum(&self.table, &requirement);
            if requirement.negative {
                sum = negated(&sum);
            }
            match requirement.demand {
                // The rest of a product whose factors are all positive, or a sum already recorded.
                Demand::Nonzero
                    if requirement.product == MonomialId::ONE || domain.nonzero.contains(&sum) => {}
                Demand::Nonzero => domain.nonzero.push(sum),
                Demand::Positive => domain.assumptions.push(Assumption { sum: sum.into(), strict: true }),
                Demand::NotNegative => domain.assumptions.push(Assumption { sum: sum.into(), strict: false }),
            }
        }
        domain
    }

    /// Begins a case: what was learned in the previous one is dropped.
    fn assume(&mut self, assumptions: Vec<Assumption>) {
        self.case = Case { assumptions, ..Case::default() };
        let zeros: Vec<Vec<Term>> = self.case.zeros().map(<[Term]>::to_vec).collect();
        for sum in zeros {
            if let Some((atom, value)) = solved(&self.table, &sum)
                && let (Atom::Input(..), Some(value)) = (self.table.atom(atom), as_number(&value))
            {
                self.case.numbers.insert(atom, value);
            }
        }
        self.forget();
    }

    /// The signs that a sum can have in the current case.
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
        // Charged with the next step of the walk: about the number of entries of the tableau.
        let rows = assumptions.iter().map(|assumption| assumption.sum.len() as u64 + 1).sum::<u64>();
        self.add_steps(3 * (rows + terms.len() as u64) * (assumptions.len() as u64 + 1));
        for (sign, sums) in [
            (Signs::NEGATIVE, vec![(&opposite[..], true)]),
            (Signs::POSITIVE, vec![(terms, true)]),
            (Signs::ZERO, vec![(terms, false), (&opposite[..], false)]),
        ] {
            let more: Vec<Assumption> =
                sums.into_iter().map(|(sum, strict)| Assumption { sum: sum.into(), strict }).collect();
            if sign.within(left)
                && solution(&self.table, &assumptions, &more, &Rational::ONE) == Solution::None
            {
                left = left & !sign;
            }
        }
        self.case.assumptions = assumptions;
        self.case.signs.insert(id, left);
        left
    }

    /// Sums whose signs multiply to the sign of a sum: the common factor of all terms separately, a square as its
    /// root twice, `p² − q²` as `(p − q)·(p + q)`, and `f(a) − f(b)` as `a − b` where `f` is increasing.
    pub(super) fn sign_factors(&mut self, terms: &[Term]) -> Vec<Vec<Term>> {
        let Ok((common, rest)) = self.take_common(terms.to_vec()) else { return vec![terms.to_vec()] };
        let mut factors = Vec::new();
        for (atom, power) in self.table.monomials.shared_factors(common.key.monomial()).iter() {
            let single = Key::of(self.table.single(*atom));
            let single = vec![Term::of(single)];
            match self.table.atom_signs(*atom) {
                Signs::POSITIVE => {}
                // Both copies of the root are kept: the sign of a square says less than that of its root.
                _ if power % 2 == 0 => factors.extend([single.clone(), single]),
                _ => factors.push(single),
            }
        }
        match as_number(&rest) {
            Some(value) if factors.is_empty() => factors.push(number(value)),
            Some(value) if value.is_negative() => factors[0] = negated(&factors[0]),
            Some(_) => {}
            None => factors.extend(match self.factors_of_square(&rest) {
                Some(square) => square,
                None => factors_of_difference(&mut self.table, &rest).unwrap_or_else(|| vec![rest]),
            }),
        }
        factors
    }

    /// `r²` as `r` and `r`, `−r²` as `−r` and `r`: the sign of a square says less than that of its root.
    fn factors_of_square(&mut self, terms: &[Term]) -> Option<Vec<Vec<Term>>> {
        let opposite = negated(terms);
        if let Some(root) = self.root_of_square(terms).ok()? {
            return Some(vec![root.clone(), root]);
        }
        let root = self.root_of_square(&opposite).ok()??;
        Some(vec![negated(&root), root])
    }

    /// The signs that an atom can have in the current case.
    pub(super) fn signs_of_atom(&mut self, atom: AtomId) -> Signs {
        let signs = self.table.atom_signs(atom);
        if self.case.assumptions.is_empty() {
            return signs;
        }
        let within = if let Atom::Sum(content) = self.table.atom(atom) {
            self.table.polynomials.shared_terms(*content).to_vec()
        } else {
            vec![self.table.unit(atom)]
        };
        signs & self.signs_of(&within)
    }

    /// A difference in which zeros of the current case are substituted and denominators cleared.
    fn reduced(&mut self, difference: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let difference = self.at_zeros(difference)?;
        if difference.is_empty() {
            return Ok(difference);
        }
        let difference = self.expand(difference)?;
        self.settle(|prover| prover.clear_denominators(difference.clone()))
    }

    /// Substitutes sums that are zero in the current case: an atom that is linear in such a sum is replaced by the
    /// rest.
    pub(super) fn at_zeros(&mut self, mut terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let zeros: Vec<Vec<Term>> = self.case.zeros().map(<[Term]>::to_vec).collect();
        for sum in zeros {
            if let Some((atom, value)) = solved(&self.table, &sum) {
                terms = self.replaced(&terms, atom, &value)?;
            }
        }
        Ok(terms)
    }

    /// A sum with positive powers of an atom replaced, in exponents too.
    pub(super) fn replaced(
        &mut self,
        terms: &[Term],
        atom: AtomId,
        value: &[Term],
    ) -> Result<Vec<Term>, Stop> {
        let mut out = Vec::with_capacity(terms.len());
        for term in terms {
            let term = &self.replaced_in_exponent(term, atom, value)?;
            let factors = self.table.monomials.shared_factors(term.monomial());
            let power = factors.iter().find(|(factor, _)| *factor == atom).map_or(0, |(_, power)| *power);
            if !(1..=8).contains(&power) {
                out.push(term.clone());
                continue;
            }
            let key = self.table.without(term.key, &[atom]);
            let mut product = vec![Term { key, coefficient: term.coefficient.clone() }];
            for _ in 0..power {
                product = self.multiply(&product, value)?;
            }
            out.extend(product);
        }
        collect(&mut out);
        Ok(out)
    }

    fn replaced_in_exponent(&mut self, term: &Term, atom: AtomId, value: &[Term]) -> Result<Term, Stop> {
        let exponent = self.table.polynomials.shared_terms(term.exponent());
        let replaced = self.replaced(&exponent, atom, value)?;
        if replaced[..] == exponent[..] {
            return Ok(term.clone());
        }
        let power = self.exponential(replaced)?;
        let base = Term { key: Key::of(term.monomial()), coefficient: term.coefficient.clone() };
        let product = self.scaled(&[base], &power)?;
        Ok(product.into_iter().next().unwrap_or(Term { coefficient: Rational::ZERO, ..power }))
    }
}

/// Tightens `p > 0` of an integer `p` to `p − 1 ≥ 0`.
fn tighten(table: &Table, assumption: &mut Assumption) {
    let Some(divisor) = content(&assumption.sum).and_then(|factor| factor.recip()) else {
        return;
    };
    let whole = times_number(&assumption.sum, &divisor);
    if assumption.strict && table.is_whole(&whole) {
        let less = add(&whole, &number(Rational::MINUS_ONE));
        *assumption = Assumption { sum: less.into(), strict: false };
    }
}

/// The sum whose sign a requirement restricts.
fn required_sum(table: &Table, requirement: &Requirement) -> Vec<Term> {
    match table.requirement_content(requirement) {
        Some(content) => table.polynomials.terms(content).to_vec(),
        None => {
            let key = Key::of(requirement.product);
            vec![Term::of(key)]
        }
    }
}

/// Factors of a difference of two terms that has the sign of a product.
fn factors_of_difference(table: &mut Table, terms: &[Term]) -> Option<Vec<Vec<Term>>> {
    let [first, second] = terms else { return None };
    if first.coefficient != -&second.coefficient {
        return None;
    }
    let sign = Rational::from_integer(i64::from(first.coefficient.signum()));
    let [a, b] = [first.key, second.key];
    if a.monomial() == b.monomial() && table.monomial_signs(a.monomial()) == Signs::POSITIVE {
        // 2^a − 2^b
        let [a, b] = [a, b].map(|key| table.polynomials.shared_terms(key.exponent()));
        return Some(vec![times_number(&add(&a, &negated(&b)), &sign)]);
    }
    if a.exponent() != PolynomialId::ZERO || b.exponent() != PolynomialId::ZERO {
        return None;
    }
    let argument = |table: &Table, key: Key| match table.monomials.factors(key.monomial()) {
        [(atom, 1)] => {
            if let Atom::Apply(function @ (TermOp::Sqrt | TermOp::Log2), argument) = table.atom(*atom) {
                Some((*function, *argument))
            } else {
                None
            }
        }
        _ => None,
    };
    if let (Some((function, a)), Some((other, b))) = (argument(table, a), argument(table, b))
        && function == other
    {
        let [a, b] = [a, b].map(|id| table.polynomials.shared_terms(id));
        return Some(vec![times_number(&add(&a, &negated(&b)), &sign)]);
    }
    let half = |table: &mut Table, key: Key| {
        let factors = table.monomials.shared_factors(key.monomial());
        let even = factors.iter().all(|(_, power)| power % 2 == 0);
        let halves: Vec<(AtomId, i32)> = factors.iter().map(|(atom, power)| (*atom, power / 2)).collect();
        even.then(|| Key::of(table.intern_factors(&halves)))
    };
    let (a, b) = (half(table, a)?, half(table, b)?);
    let [a, b] = [a, b].map(|key| vec![Term::of(key)]);
    Some(vec![times_number(&add(&a, &negated(&b)), &sign), add(&a, &b)])
}

/// An atom that occurs in a sum once and linearly, and the value at which the sum is zero.
fn solved(table: &Table, sum: &[Term]) -> Option<(AtomId, Vec<Term>)> {
    sum.iter().enumerate().find_map(|(at, term)| {
        let [(atom, 1)] = table.monomials.factors(term.monomial()) else { return None };
        let elsewhere = |other: &Term| {
            let mut factors = table.monomials.factors(other.monomial()).iter();
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

/// A solution of assumptions over [`unknowns`]: products of atoms are independent variables with known signs or bounds.
fn solution(table: &Table, assumptions: &[Assumption], more: &[Assumption], margin: &Rational) -> Solution {
    let all = || assumptions.iter().chain(more);
    let keys = unknowns(table, all());
    let numbers: FxHashMap<Key, usize> = keys.iter().enumerate().map(|(at, key)| (*key, at)).collect();
    let mut system: Vec<Inequality> = all()
        .map(|assumption| Inequality {
            terms: assumption.sum.iter().map(|term| (numbers[&term.key], term.coefficient.clone())).collect(),
            strict: assumption.strict,
        })
        .collect();
    for (at, key) in keys.iter().enumerate() {
        if let Some(argument) = table.floor_of(*key) {
            // ⌊a⌋ ≤ a < ⌊a⌋ + 1
            let argument = table.polynomials.terms(argument);
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
        let signs = table.monomial_signs(key.monomial());
        let mut bound = |by: Rational, strict| system.push(Inequality { terms: vec![(at, by)], strict });
        if let Some((low, high)) = table.whole_bounds(*key) {
            // The variable for 1 is only known to be positive, so bounds are multiples of it.
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
            // The variable for 1 is at least the margin.
            bound(margin.clone(), true);
        } else if signs.within(Signs::NOT_NEGATIVE) {
            bound(Rational::ONE, signs.excludes_zero());
        } else if signs.within(!Signs::POSITIVE) {
            bound(Rational::MINUS_ONE, signs.excludes_zero());
        }
    }
    solve(&system, keys.len(), margin)
}

/// The variables of a system: the products of atoms in sums, 1, and the products within floors that occur.
fn unknowns<'a>(table: &Table, assumptions: impl Iterator<Item = &'a Assumption>) -> Vec<Key> {
    let mut keys: Vec<Key> =
        assumptions.flat_map(|assumption| assumption.sum.iter().map(|term| term.key)).collect();
    keys.push(Key::ONE);
    let mut at = 0;
    while at < keys.len() && keys.len() < MAX_COMPARISONS {
        if let Some(argument) = table.floor_of(keys[at]) {
            let new = table.polynomials.terms(argument).iter().map(|term| term.key);
            let new: Vec<Key> = new.filter(|key| !keys.contains(key)).collect();
            keys.extend(new);
        }
        at += 1;
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Values of input elements in a case, `margin` away from its boundary.
fn hint(table: &Table, assumptions: &[Assumption], margin: &Rational) -> Hint {
    // Inside the case rather than on its boundary, where the next case may be equal too.
    let within: Vec<Assumption> =
        assumptions.iter().map(|assumption| Assumption { strict: true, ..assumption.clone() }).collect();
    let values = match solution(table, &within, &[], margin) {
        Solution::Values(values) => values,
        Solution::None | Solution::GivenUp => match solution(table, assumptions, &[], margin) {
            Solution::Values(values) => values,
            Solution::None | Solution::GivenUp => return Hint::new(),
        },
    };
    let keys = unknowns(table, assumptions.iter());
    // The system is homogeneous: scaled so that the variable for 1 is 1.
    let one = keys.iter().position(|key| *key == Key::ONE).and_then(|at| values.get(at)?.recip());
    let scale = one.unwrap_or(Rational::ONE);
    let mut hint = Hint::new();
    for (key, value) in keys.iter().zip(&values) {
        if key.exponent() == PolynomialId::ZERO
            && let [(atom, 1)] = table.monomials.factors(key.monomial())
            && let Atom::Input(input, element) = table.atom(*atom)
        {
            hint.push(((*input, *element), value * &scale));
        }
    }
    hint.sort_unstable_by_key(|(place, _)| *place);
    hint
}

/// The result for a case that was not proved.
fn open_case(table: &Table, assumptions: &[Assumption]) -> Split {
    let margins = [1, 1 << 16].map(Rational::from_integer);
    let hints = margins.iter().map(|margin| hint(table, assumptions, margin)).collect();
    let reason = match assumptions.len() {
        0 => "the canonical forms differ".to_string(),
        count => format!(
            "the canonical forms differ in one of the orders of the compared quantities ({count} comparisons)"
        ),
    };
    Split::Open { hints, reason }
}
