//! Integers: roundings, remainders and bits (rule V4).
//!
//! Bit fields are expressed with floors, which have one normal form. A remainder is `a − b·⌊a/b⌋`, the bits of `a`
//! from the k-th on are `⌊a/2^k⌋`, and the lower ones are the rest; so however fields are extracted from a word,
//! and words assembled from fields, sums of floors telescope. In the normal form
//!
//! * integer summands are moved out of a floor, and so are integer multiples of integers: coefficients lie in [0, 1);
//! * nested floors are one: `⌊(⌊a⌋ + n)/b⌋ = ⌊(a + n)/b⌋` for integers `n` and `b`;
//! * halves are removed: `⌊a + 1/2⌋ = ⌊2a⌋ − ⌊a⌋` (Hermite);
//! * a floor is a number if its argument lies between two consecutive integers;
//! * of the factors that give the same `⌊c·n⌋` for every `n` in its range, the simplest is taken, whichever one a
//!   compiler has chosen to replace a division.

use super::Stop;
use super::analysis::INFINITE;
use super::atom::Atom;
use super::id::TermRef;
use super::monomial::MonomialId;
use super::multiplier::simplest_factor;
use super::polynomial::{
    Key, PolynomialId, Term, add, as_number, collect, content, negated, number, times_number,
};
use super::prover::Prover;
use super::table::{Bounds, Table};
use crate::number::Rational;
use crate::number::interval::Towards;
use crate::number::signs::Signs;
use crate::term::{TermOp, View};

/// Roundings are moved into maxima nested up to this depth.
const MAX_NESTING: u32 = 16;
/// Steps towards a floor's normal form; each makes denominators or nesting smaller.
const MAX_STEPS: usize = 256;
/// Digits are searched in sums of up to this many terms.
const MAX_CHAIN: usize = 128;

impl Table {
    /// Whether a product of powers is an integer at every input.
    fn is_whole_monomial(&self, id: MonomialId) -> bool {
        self.monomials.factors(id).iter().all(|(atom, power)| *power > 0 && self.is_whole_atom(*atom))
    }

    fn is_whole_key(&self, key: Key) -> bool {
        key.exponent() == PolynomialId::ZERO && self.is_whole_monomial(key.monomial())
    }

    /// Whether a sum is an integer at every input, shown term by term.
    pub(super) fn is_whole(&self, terms: &[Term]) -> bool {
        terms.iter().all(|term| term.coefficient.is_integer() && self.is_whole_key(term.key))
    }

    /// Whether a sum is a linear combination of integers.
    pub(super) fn is_counted(&self, terms: &[Term]) -> bool {
        terms.iter().all(|term| self.is_whole_key(term.key))
    }

    /// The argument of the floor that a term is a multiple of.
    fn floor_in(&self, term: &Term) -> Option<PolynomialId> {
        self.floor_of(term.key)
    }

    /// The argument of a floor, if the key is one.
    pub(super) fn floor_of(&self, key: Key) -> Option<PolynomialId> {
        if key.exponent() != PolynomialId::ZERO {
            return None;
        }
        let [(atom, 1)] = *self.monomials.factors(key.monomial()) else { return None };
        self.atom(atom).argument_of(TermOp::Floor)
    }

    /// Bounds of a product, if it is an integer.
    pub(super) fn whole_bounds(&self, key: Key) -> Bounds {
        if key == Key::ONE || !self.is_whole_key(key) { None } else { self.monomial_bounds(key.monomial()) }
    }

    fn monomial_bounds(&self, id: MonomialId) -> Bounds {
        let mut bounds = (1i128, 1i128);
        for (atom, power) in self.monomials.factors(id) {
            let (low, high) = self.atom_bounds(*atom)?;
            for _ in 0..u32::try_from(*power).ok()? {
                let corners = [
                    bounds.0.checked_mul(low)?,
                    bounds.0.checked_mul(high)?,
                    bounds.1.checked_mul(low)?,
                    bounds.1.checked_mul(high)?,
                ];
                bounds = (*corners.iter().min()?, *corners.iter().max()?);
            }
        }
        Some(bounds)
    }

    /// Bounds of a linear combination of integers.
    ///
    /// Multiples of `r`, `⌊r/b₁⌋`, `⌊r/b₂⌋`, … are combined into multiples of the mixed-radix digits of `r`, each
    /// of which has bounds of its own.
    pub(super) fn bounds_of(&self, terms: &[Term]) -> Option<(Rational, Rational)> {
        let mut bounds = (Rational::ZERO, Rational::ZERO);
        let widen = |bounds: &mut (Rational, Rational), weight: &Rational, (low, high): (i128, i128)| {
            let (mut low, mut high) =
                (weight * &Rational::from_i128(low), weight * &Rational::from_i128(high));
            if weight.is_negative() {
                std::mem::swap(&mut low, &mut high);
            }
            bounds.0 = &bounds.0 + &low;
            bounds.1 = &bounds.1 + &high;
        };
        let mut rest: Vec<Term> = terms.to_vec();
        // A single term has the bounds of its atoms, which are known: ANDs of ANDs are not looked into again.
        while rest.len() > 1
            && let Some(chain) = self.chain_in(&rest)
        {
            for (at, (weight, _)) in digits_of(&chain).iter().enumerate() {
                let own = match chain.get(at + 1) {
                    Some(above) => (0, above.ratio.to_i128()? - 1),
                    None => self.monomial_bounds(chain[at].monomial?)?,
                };
                widen(&mut bounds, weight, own);
            }
            rest = without(&rest, chain.into_iter().flat_map(|level| level.terms).collect());
        }
        while rest.len() > 1
            && let Some((weights, all, gone)) = self.common_in(&rest)
        {
            // The bits of `p` only, of `q` only, and of both are disjoint, so that their sum is at most all bits.
            let low = weights.iter().min()?.clone().min(Rational::ZERO);
            let high = weights.iter().max()?.clone().max(Rational::ZERO);
            bounds.0 = &bounds.0 + &(&low * &all);
            bounds.1 = &bounds.1 + &(&high * &all);
            rest = without(&rest, gone);
        }
        let (low, high) = self.take_indicator_products(&mut rest);
        bounds = (&bounds.0 + &low, &bounds.1 + &high);
        for term in &rest {
            if !self.is_whole_key(term.key) {
                return None;
            }
            widen(&mut bounds, &term.coefficient, self.monomial_bounds(term.monomial())?);
        }
        Some(bounds)
    }

    /// For an integer, the least integer that is positive at the same inputs: `k·p + c > 0` where `p + ⌈c/k⌉ > 0`,
    /// for the largest `k`.
    pub(super) fn tightest(&self, terms: &[Term]) -> Option<Vec<Term>> {
        if !self.is_whole(terms) {
            return None;
        }
        let (constant, others): (Vec<Term>, Vec<Term>) =
            terms.iter().cloned().partition(|term| term.key == Key::ONE);
        let factor = content(&others)?.recip()?;
        let constant = as_number(&constant)?;
        Some(add(&times_number(&others, &factor), &number((&constant * &factor).ceil())))
    }

    /// Whether an integer is never zero: by its bounds, or since its variable part is a multiple of some number and
    /// its constant is not.
    pub(super) fn is_never_zero(&self, terms: &[Term]) -> bool {
        if !self.is_whole(terms) {
            return false;
        }
        let (constant, others): (Vec<Term>, Vec<Term>) =
            terms.iter().cloned().partition(|term| term.key == Key::ONE);
        let constant = as_number(&constant).unwrap_or_default();
        let between = content(&others)
            .and_then(|factor| constant.checked_div(&factor))
            .is_some_and(|quotient| !quotient.is_integer());
        between || self.bounds_of(terms).is_some_and(|(low, high)| low.is_positive() || high.is_negative())
    }

    /// The signs that the bounds of a linear combination of integers imply.
    pub(super) fn signs_by_bounds(&self, terms: &[Term]) -> Signs {
        match self.bounds_of(terms) {
            Some((low, _)) if low.is_positive() => Signs::POSITIVE,
            Some((_, high)) if high.is_negative() => Signs::NEGATIVE,
            Some((low, _)) if low.is_zero() => Signs::NOT_NEGATIVE,
            Some((_, high)) if high.is_zero() => Signs::NEGATIVE | Signs::ZERO,
            _ => Signs::ANY,
        }
    }

    /// Multiples of two non-negative integers `p`, `q` and of `p & q` among the terms, rewritten as multiples of
    /// the bits of `p` only, of `q` only, and of both; the number in which all these bits are set; and the terms.
    fn common_in(&self, terms: &[Term]) -> Option<([Rational; 3], Rational, Vec<Term>)> {
        let found = |term: &Term| {
            let [(atom, 1)] = *self.monomials.factors(term.monomial()) else { return None };
            let Atom::BitAnd(p, q) = self.atom(atom) else { return None };
            let mut gone = vec![term.clone()];
            let mut all = 0;
            let mut multiple = |of: PolynomialId| {
                let [single] = self.polynomials.terms(of) else { return None };
                let (_, high) = self.bounds_of(std::slice::from_ref(single))?;
                all |= high.to_i128().filter(|high| *high >= 0)?;
                let held = terms.iter().find(|other| other.key == single.key);
                let Some(held) = held else { return Some(Rational::ZERO) };
                gone.push(held.clone());
                held.coefficient.checked_div(&single.coefficient)
            };
            let (p, q) = (multiple(*p)?, multiple(*q)?);
            let both = &(&p + &q) + &term.coefficient;
            let all = (1i128 << (128 - all.leading_zeros())) - 1;
            Some((self.place(atom), ([p, q, both], Rational::from_i128(all), gone)))
        };
        // Not the first one found: the result must not depend on the order of interning.
        terms.iter().filter_map(found).min_by_key(|(place, _)| *place).map(|(_, found)| found)
    }

    /// Multiples of an integer and of floors of its quotients among the terms; at least two levels.
    pub(super) fn chain_in(&self, terms: &[Term]) -> Option<Vec<Level>> {
        if terms.len() > MAX_CHAIN {
            return None;
        }
        let floors: Vec<(&Term, PolynomialId)> =
            terms.iter().filter_map(|term| Some((term, self.floor_in(term)?))).collect();
        let mut bases: Vec<(Rational, Key, PolynomialId)> = floors
            .iter()
            .filter_map(|(term, base)| {
                Some((self.polynomials.terms(*base).first()?.coefficient.abs(), term.key, *base))
            })
            .collect();
        // The longest chains first.
        bases.sort_unstable_by(|a, b| b.cmp(a));
        let mut chains: Vec<(PolynomialId, Vec<Level>)> = Vec::new();
        let mut within: Vec<Key> = Vec::new();
        for (_, key, base) in bases {
            // A floor of a longer chain begins no chain of its own.
            if within.contains(&key) {
                continue;
            }
            if let Some(chain) = self.chain_from(base, &floors, terms)
                && chain.len() > 1
            {
                let floors = chain.iter().filter_map(|level| level.monomial.map(Key::of));
                within.extend(floors);
                chains.push((base, chain));
            }
        }
        // Not the first one found: the result must not depend on the order of interning.
        chains.sort_by_key(|(base, chain)| (std::cmp::Reverse(chain.len()), self.polynomials.place(*base)));
        chains.into_iter().next().map(|(_, chain)| chain)
    }

    /// The chain of `⌊base⌋` and the floors of its quotients, headed by the integer of which `base` is a quotient.
    fn chain_from(
        &self,
        base: PolynomialId,
        floors: &[(&Term, PolynomialId)],
        terms: &[Term],
    ) -> Option<Vec<Level>> {
        let base = self.polynomials.terms(base);
        if !base.iter().all(|term| self.is_whole_key(term.key)) {
            return None;
        }
        let lead = &base.first()?.coefficient;
        // ⌊base/ρ⌋ for integers ρ, ascending.
        let mut levels: Vec<(Rational, &Term)> = floors
            .iter()
            .filter_map(|(term, other)| {
                let other = self.polynomials.terms(*other);
                // Most have other atoms, which is seen without arithmetic.
                if !other.iter().map(|term| term.key).eq(base.iter().map(|term| term.key)) {
                    return None;
                }
                let ratio = lead.checked_div(&other.first()?.coefficient)?;
                let same = other
                    .iter()
                    .zip(base)
                    .all(|(other, base)| &other.coefficient * &ratio == base.coefficient);
                (same && ratio.is_integer() && ratio.is_positive()).then_some((ratio, *term))
            })
            .collect();
        levels.sort_by(|a, b| a.0.cmp(&b.0));
        let divides = |pair: &[(Rational, &Term)]| {
            pair[1].0.checked_div(&pair[0].0).is_some_and(|ratio| ratio.is_integer())
        };
        if !levels.windows(2).all(divides) {
            return None;
        }
        // The integer of which `base` is a quotient, and its coefficient among the terms.
        let divisor = base
            .iter()
            .fold(rug::Integer::from(1), |divisor, term| divisor.lcm(&term.coefficient.to_parts().1));
        let divisor = Rational::from(divisor);
        let whole = times_number(base, &divisor);
        let multiple_of = |part: &Term| {
            let own = terms.iter().find(|term| term.key == part.key)?;
            own.coefficient.checked_div(&part.coefficient)
        };
        let multiple = whole
            .first()
            .and_then(multiple_of)
            .filter(|first| whole.iter().all(|part| multiple_of(part).as_ref() == Some(first)));
        let mut chain = Vec::with_capacity(levels.len() + 1);
        let mut below = Rational::ONE;
        if let Some(weight) = multiple {
            let terms = times_number(&whole, &weight);
            chain.push(Level { weight, ratio: Rational::ONE, monomial: None, terms });
            // From the integer to the first floor.
            below = divisor.recip()?;
        }
        for (ratio, term) in levels {
            let step = if chain.is_empty() { Rational::ONE } else { ratio.checked_div(&below)? };
            below = ratio;
            chain.push(Level {
                weight: term.coefficient.clone(),
                ratio: step,
                monomial: Some(term.monomial()),
                terms: vec![term.clone()],
            });
        }
        Some(chain)
    }
}

/// `terms` minus some of them.
pub(super) fn without(terms: &[Term], mut gone: Vec<Term>) -> Vec<Term> {
    collect(&mut gone);
    add(terms, &negated(&gone))
}

/// A level divided by its weight.
pub(super) fn unit(level: &Level) -> Vec<Term> {
    match level.weight.recip() {
        Some(inverse) => times_number(&level.terms, &inverse),
        None => Vec::new(),
    }
}

/// A chain as weights and digits: each digit is a level modulo the ratio to the next, and the last level as it is.
pub(super) fn digits_of(chain: &[Level]) -> Vec<(Rational, Vec<Term>)> {
    let mut weight = Rational::ZERO;
    let mut out = Vec::with_capacity(chain.len());
    for (at, level) in chain.iter().enumerate() {
        weight = &(&weight * &level.ratio) + &level.weight;
        let digits = match chain.get(at + 1) {
            Some(above) => add(&unit(level), &times_number(&unit(above), &-&above.ratio)),
            None => unit(level),
        };
        out.push((weight.clone(), digits));
    }
    out
}

/// One of the telescoping numbers of a chain.
pub(super) struct Level {
    /// Its coefficient.
    pub(super) weight: Rational,
    /// The divisor by which the level below gives this one.
    pub(super) ratio: Rational,
    /// The floor; `None` for the integer at the head.
    monomial: Option<MonomialId>,
    /// The terms of the sum that it consists of.
    pub(super) terms: Vec<Term>,
}

impl Prover<'_> {
    /// A rounding of a term. Roundings are monotone: that of a maximum is the maximum of the rounded arms.
    pub(super) fn rounding(&mut self, towards: Towards, at: TermRef, depth: u32) -> Result<Vec<Term>, Stop> {
        if let View::Apply(op @ (TermOp::Max | TermOp::Min), [a, b, _]) = self.terms.view(at)
            && depth < MAX_NESTING
            && self.terms.flags(at) & INFINITE == 0
        {
            let mut rounded = Vec::with_capacity(2);
            for operand in [a, b] {
                let operand = TermRef { store: at.store, term: operand };
                let value = self.rounding(towards, operand, depth + 1)?;
                rounded.push(if op == TermOp::Min { negated(&value) } else { value });
            }
            let maximum = self.maximum(rounded)?;
            return Ok(if op == TermOp::Min { negated(&maximum) } else { maximum });
        }
        if let View::Apply(TermOp::Neg, [a, ..]) = self.terms.view(at)
            && depth < MAX_NESTING
        {
            let opposite = match towards {
                Towards::Floor => Towards::Ceil,
                Towards::Ceil => Towards::Floor,
                Towards::Zero | Towards::NearestEven => towards,
            };
            let inside = TermRef { store: at.store, term: a };
            return Ok(negated(&self.rounding(opposite, inside, depth + 1)?));
        }
        let argument = self.argument(at)?;
        self.rounded(towards, argument)
    }

    /// A rounding of a sum.
    pub(super) fn rounded(&mut self, towards: Towards, argument: Vec<Term>) -> Result<Vec<Term>, Stop> {
        if let Some(value) = as_number(&argument) {
            return Ok(number(towards.round(&value)));
        }
        if self.table.is_whole(&argument) {
            return Ok(argument);
        }
        if let Some(through) = self.through_maximum(towards, &argument)? {
            return Ok(through);
        }
        match towards {
            Towards::Floor => self.floored(argument),
            // `⌈a⌉ = −⌊−a⌋`
            Towards::Ceil => Ok(negated(&self.floored(negated(&argument))?)),
            Towards::Zero if self.is_not_negative(&argument) => self.floored(argument),
            Towards::Zero if self.is_not_negative(&negated(&argument)) => {
                Ok(negated(&self.floored(negated(&argument))?))
            }
            Towards::Zero | Towards::NearestEven => {
                let argument = self.table.polynomial(&argument);
                Ok(self.table.atom_term(Atom::Apply(TermOp::rounding(towards), argument)))
            }
        }
    }

    fn is_not_negative(&mut self, terms: &[Term]) -> bool {
        self.signs_of(terms).within(Signs::NOT_NEGATIVE)
    }

    /// The rounding of a sum that contains one maximum, as a maximum of rounded sums.
    fn through_maximum(&mut self, towards: Towards, argument: &[Term]) -> Result<Option<Vec<Term>>, Stop> {
        let arms_of = |term: &Term| match *self.table.monomials.factors(term.monomial()) {
            [(atom, 1)] if term.exponent() == PolynomialId::ZERO => {
                self.table.atom(atom).arms().map(<[PolynomialId]>::to_vec)
            }
            _ => None,
        };
        let mut maxima = argument.iter().filter_map(|term| Some((term.clone(), arms_of(term)?)));
        let (Some((term, arms)), None) = (maxima.next(), maxima.next()) else { return Ok(None) };
        let rest = without(argument, vec![term.clone()]);
        // `k·max(a, b) = max(k·a, k·b)` for k > 0, and the minimum for k < 0.
        let lowest = term.coefficient.is_negative();
        let mut rounded = Vec::with_capacity(arms.len());
        for arm in arms.iter() {
            let arm = times_number(&self.table.polynomials.shared_terms(*arm), &term.coefficient);
            let arm = self.rounded(towards, add(&rest, &arm))?;
            rounded.push(if lowest { negated(&arm) } else { arm });
        }
        let maximum = self.maximum(rounded)?;
        Ok(Some(if lowest { negated(&maximum) } else { maximum }))
    }

    /// `⌊rest⌋`
    pub(super) fn floored(&mut self, mut rest: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let mut out: Vec<Term> = Vec::new();
        collect(&mut rest);
        for _ in 0..MAX_STEPS {
            // Digits are searched among pairs of floors.
            self.charge(1 + (rest.len().min(MAX_CHAIN) as u64).pow(2) / 8 + rest.len() as u64)?;
            let digits = self.table.digits_out(&mut rest, &mut out);
            let all_digits: Vec<Term> = digits.iter().fold(Vec::new(), |all, digit| add(&all, digit));
            if let Some(value) = self.table.floor_by_bounds(&add(&rest, &all_digits)) {
                return Ok(add(&out, &number(value)));
            }
            // Integer multiples move out of `rest` without the digits: of a digit, single terms could move out.
            let all_whole = self.table.whole_out(&mut rest, &mut out);
            let left = add(&rest, &all_digits);
            if all_whole {
                if let Some(value) = self.table.floor_by_bounds(&left) {
                    return Ok(add(&out, &number(value)));
                }
                if let Some(high) = self.table.above_units(&rest, &digits) {
                    rest = high;
                    continue;
                }
                if let Some(step) = self.table.one_step(&left) {
                    rest = step;
                    continue;
                }
            }
            rest = left;
            self.table.whole_out(&mut rest, &mut out);
            if as_number(&rest).is_some() {
                // The rest is between 0 and 1.
                return Ok(out);
            }
            if !all_whole {
                break;
            }
            if let Some(value) = self.table.floor_by_bounds(&rest) {
                return Ok(add(&out, &number(value)));
            }
            if let Some(flat) = self.table.nested(&rest) {
                rest = flat;
                continue;
            }
            let half = Rational::from_ratio(1, 2);
            let constant = rest.iter().find(|term| term.key == Key::ONE).map(|term| &term.coefficient);
            let dyadic = |term: &Term| term.coefficient.to_parts().1.is_power_of_two();
            if constant.is_some_and(|constant| *constant >= half) && rest.iter().all(dyadic) {
                let less = add(&rest, &number(-&half));
                rest = times_number(&less, &Rational::TWO);
                let once = self.floored(less)?;
                out = add(&out, &negated(&once));
                continue;
            }
            if let Some(simple) = self.table.simpler(&rest) {
                rest = simple;
                continue;
            }
            break;
        }
        let rest = self.table.polynomial(&rest);
        let floor = self.table.atom_term(Atom::Apply(TermOp::Floor, rest));
        Ok(add(&out, &floor))
    }

    /// `a mod m` for an integer `a` and an integer `m > 0`.
    pub(super) fn remainder(&mut self, at: TermRef, modulus: TermRef) -> Result<Vec<Term>, Stop> {
        let modulus = as_number(&self.argument(modulus)?).unwrap_or_default();
        // The range of the executed term may be tighter than that of its form, where maxima are sums of others.
        let inside = modulus.to_i128().is_some_and(|modulus| self.terms.range(at).within(0, modulus - 1));
        let argument = self.argument(at)?;
        if inside {
            return Ok(argument);
        }
        let Some(factor) = modulus.recip().filter(|_| modulus.is_integer() && modulus.is_positive()) else {
            return Err(Stop::Unknown("a remainder by a number that is not a positive integer".to_string()));
        };
        if !self.table.is_whole(&argument) {
            return Err(Stop::Unknown("a remainder of a number that may not be an integer".to_string()));
        }
        let quotient = self.floored(times_number(&argument, &factor))?;
        Ok(add(&argument, &times_number(&quotient, &-&modulus)))
    }

    /// The bitwise AND of two non-negative integers.
    pub(super) fn common_digits(&mut self, a: Vec<Term>, b: Vec<Term>) -> Result<Vec<Term>, Stop> {
        // Each term of one with each of the other, and the terms of each among themselves for its bounds.
        self.charge((a.len() as u64 + b.len() as u64).saturating_pow(2))?;
        if a == b {
            return Ok(a);
        }
        for (mask, digits) in [(&a, &b), (&b, &a)] {
            if let Some(mask) = as_number(mask).and_then(|mask| mask.to_u64()) {
                return self.masked(digits, mask);
            }
        }
        // A number and its bitwise complement.
        if let Some(all) = as_number(&add(&a, &b)).and_then(|all| all.to_u64())
            && all & all.wrapping_add(1) == 0
        {
            return Ok(Vec::new());
        }
        if self.table.is_above(&a, &b) || self.table.is_above(&b, &a) {
            return Ok(Vec::new());
        }
        if let Some(common) = self.table.common_of_words(&a, &b) {
            return Ok(common);
        }
        Ok(self.table.common_atom_of(&a, &b))
    }

    /// The AND with a mask: one run of ones after another.
    fn masked(&mut self, digits: &[Term], mask: u64) -> Result<Vec<Term>, Stop> {
        let mut out = Vec::new();
        let mut left = mask;
        while left != 0 {
            let start = left.trailing_zeros();
            let length = (left >> start).trailing_ones();
            left &= u64::MAX.checked_shl(start + length).unwrap_or(0);
            let power = |by: u32| Rational::power_of_two(-(by as i32));
            let from = self.floored(times_number(digits, &power(start)))?;
            let above = self.floored(times_number(digits, &power(start + length)))?;
            let above = times_number(&above, &Rational::power_of_two(length as i32));
            let run = add(&from, &negated(&above));
            out = add(&out, &times_number(&run, &Rational::power_of_two(start as i32)));
        }
        Ok(out)
    }
}

impl Table {
    /// The floor of a sum, if its bounds determine it.
    fn floor_by_bounds(&self, terms: &[Term]) -> Option<Rational> {
        let (low, high) = self.bounds_of(terms)?;
        let low = low.floor();
        (low == high.floor()).then_some(low)
    }

    /// Moves integer multiples of integers out of a floor's argument, so that coefficients are in [0, 1). Returns
    /// whether all of the argument was multiples of integers.
    fn whole_out(&self, rest: &mut Vec<Term>, out: &mut Vec<Term>) -> bool {
        let mut all_whole = true;
        for term in rest.iter_mut() {
            if self.is_whole_key(term.key) {
                let whole = term.coefficient.floor();
                term.coefficient = &term.coefficient - &whole;
                out.push(Term { key: term.key, coefficient: whole });
            } else {
                all_whole = false;
            }
        }
        rest.retain(|term| !term.coefficient.is_zero());
        collect(out);
        all_whole
    }

    /// Moves integer multiples of digits out of a floor's argument. Other digits are returned separately, with
    /// their signs, on which bounds depend.
    fn digits_out(&self, rest: &mut Vec<Term>, out: &mut Vec<Term>) -> Vec<Vec<Term>> {
        let mut kept: Vec<Vec<Term>> = Vec::new();
        while let Some(chain) = self.chain_in(rest) {
            for (weight, digits) in digits_of(&chain).into_iter().filter(|(weight, _)| !weight.is_zero()) {
                let part = times_number(&digits, &weight);
                if weight.is_integer() {
                    *out = add(out, &part);
                } else {
                    kept.push(part);
                }
            }
            *rest = without(rest, chain.into_iter().flat_map(|level| level.terms).collect());
        }
        kept
    }

    /// The part of a floor's argument that consists of multiples of some `1/k`, if the rest is in [0, 1/k), where
    /// it does not change the floor. The largest such rest is dropped; a constant is split between both parts.
    fn above_units(&self, others: &[Term], digits: &[Vec<Term>]) -> Option<Vec<Term>> {
        let (constant, others): (Vec<Term>, Vec<Term>) =
            others.iter().cloned().partition(|term| term.key == Key::ONE);
        let constant = as_number(&constant)?;
        let parts: Vec<&[Term]> = others.chunks(1).chain(digits.iter().map(Vec::as_slice)).collect();
        if parts.is_empty() || parts.len() > MAX_CHAIN {
            return None;
        }
        let unit_of = |part: &[Term]| {
            let all =
                part.iter().fold(rug::Integer::from(1), |all, term| all.lcm(&term.coefficient.to_parts().1));
            Rational::from(all)
        };
        let units: Vec<Rational> = parts.iter().map(|part| unit_of(part)).collect();
        let mut sorted = units.clone();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.iter().find_map(|unit| {
            let multiple = (&constant * unit).floor().checked_div(unit)?;
            let (mut high, mut low) = (number(multiple.clone()), number(&constant - &multiple));
            for (part, own) in parts.iter().zip(&units) {
                let side = if unit.checked_div(own)?.is_integer() { &mut high } else { &mut low };
                *side = add(side, part);
            }
            if low.is_empty() {
                return None;
            }
            let (least, most) = self.bounds_of(&low)?;
            (!least.is_negative() && &most * unit < Rational::ONE).then_some(high)
        })
    }

    /// `n/s` for a sum `c·n + d` of a multiple of an integer `n ≥ 0` and a number, if its floor is 0 for `n < s`
    /// and otherwise 1: so is that of `n/s` if `n` is below `2·s`. Only for a power of two `s`, with which digits
    /// of `n` telescope; others would hide those of `n`.
    fn one_step(&self, terms: &[Term]) -> Option<Vec<Term>> {
        let (constant, others): (Vec<Term>, Vec<Term>) =
            terms.iter().cloned().partition(|term| term.key == Key::ONE);
        let constant = as_number(&constant).filter(|constant| constant.is_positive())?;
        let factor = content(&others)?;
        let whole = times_number(&others, &factor.recip()?);
        let (low, high) = self.bounds_of(&whole)?;
        let step = (&Rational::ONE - &constant).checked_div(&factor)?.ceil();
        let digits = step.to_i128().is_some_and(|step| step.count_ones() == 1);
        let is_one = digits
            && step.is_positive()
            && !low.is_negative()
            && high < &step * &Rational::TWO
            && &(&high * &factor) + &constant < Rational::TWO;
        if is_one { Some(times_number(&whole, &step.recip()?)) } else { None }
    }

    /// `a/b + n/b` for `⌊a⌋/b + n/b`, if all terms are integer multiples of 1/b.
    fn nested(&self, terms: &[Term]) -> Option<Vec<Term>> {
        terms.iter().enumerate().find_map(|(at, term)| {
            let inner = self.floor_in(term)?;
            let divisor = term.coefficient.recip().filter(Rational::is_integer)?;
            let others = || terms.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, term)| term);
            if !others().all(|other| (&other.coefficient * &divisor).is_integer()) {
                return None;
            }
            let inner = times_number(self.polynomials.terms(inner), &term.coefficient);
            let others: Vec<Term> = others().cloned().collect();
            Some(add(&inner, &others))
        })
    }

    /// A sum with the same floor and the simplest factor, for a multiple of an integer with known range.
    fn simpler(&self, terms: &[Term]) -> Option<Vec<Term>> {
        let factor = content(terms)?;
        let whole = times_number(terms, &factor.recip()?);
        let (low, high) = self.bounds_of(&whole)?;
        let simplest = simplest_factor(&factor, low.to_i128()?, high.to_i128()?)?;
        (simplest != factor).then(|| times_number(&whole, &simplest))
    }

    /// Whether a number is an integer multiple of a power of two that is larger than `low`.
    fn is_above(&self, multiple: &[Term], low: &[Term]) -> bool {
        let below = |(least, most): (Rational, Rational)| {
            let most = most.floor().to_i128().filter(|_| !least.is_negative())?;
            Some(Rational::power_of_two(-((128 - most.leading_zeros()) as i32)))
        };
        let unit = self.bounds_of(low).and_then(below);
        unit.is_some_and(|unit| self.is_whole(&times_number(multiple, &unit)))
    }
}
