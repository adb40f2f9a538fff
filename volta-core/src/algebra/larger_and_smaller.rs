//! Powers of the larger and of the smaller of two numbers, added up: `2^max(a, b) + 2^min(a, b) = 2^a + 2^b`.
//!
//! Kernels compute the logarithm of a sum of powers pairwise as `max(a, b) + ln(1 + e^(−|a − b|))`, which only this
//! law turns into a sum of both powers. It holds under any scale: one of two terms is the other times
//! `2^(h·(2m − a − b))`, where `m` is the larger of `a` and `b`; the two powers are that other term with
//! `h·(a − m)` and with `h·(b − m)` added to its exponent. The partner of a term is looked up, so that one pass
//! over the sum suffices for each maximum in it and each pair of multiples of that.

use super::Stop;
use super::atom::Atom;
use super::id::AtomId;
use super::monomial::MonomialId;
use super::polynomial::{Key, PolynomialId, Term, add, collect, negated, times_number};
use super::prover::Prover;
use crate::number::Rational;
use rustc_hash::FxHashMap;

/// Maxima within the exponents of a sum that are considered.
const MAX_MAXIMA: usize = 64;
/// Multiples of one maximum that are considered.
const MAX_FACTORS: usize = 8;

/// A maximum times a monomial, as it occurs in exponents.
struct Larger {
    /// The product itself.
    own: Key,
    /// The two arms, times the same monomial.
    arms: [Vec<Term>; 2],
}

impl Prover<'_> {
    /// A collected sum in which such pairs are replaced by the powers of `a` and of `b`; `None` where there is none.
    pub(super) fn larger_and_smaller(&mut self, terms: &[Term]) -> Result<Option<Vec<Term>>, Stop> {
        for (maximum, beside) in self.maxima_in_exponents(terms)? {
            let Atom::Max(arms) = self.table.atom(maximum) else { continue };
            let [a, b] = **arms else { continue };
            let [a, b] = [a, b].map(|arm| self.table.polynomials.terms(arm).to_vec());
            let unit = Term::of(Key::of(beside));
            let own = self.table.single(maximum);
            let own = Key::of(self.table.times(own, beside)?);
            let larger = Larger { own, arms: [self.scaled(&a, &unit)?, self.scaled(&b, &unit)?] };
            let found = self.added_around(&larger, terms)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// The sum with the pairs of one maximum replaced.
    fn added_around(&mut self, larger: &Larger, terms: &[Term]) -> Result<Option<Vec<Term>>, Stop> {
        self.charge(terms.len() as u64)?;
        let mut factors: Vec<Rational> = Vec::new();
        let mut of_terms = Vec::with_capacity(terms.len());
        for term in terms {
            let exponent = self.table.polynomials.terms(term.exponent());
            let own = exponent.iter().find(|part| part.key == larger.own);
            let factor = own.map_or(Rational::ZERO, |part| part.coefficient.clone());
            if !factors.contains(&factor) {
                factors.push(factor.clone());
            }
            of_terms.push(factor);
        }
        if factors.len() > MAX_FACTORS {
            return Ok(None);
        }
        factors.sort_unstable();
        let places: FxHashMap<Key, usize> =
            terms.iter().enumerate().map(|(at, term)| (term.key, at)).collect();
        let mut gone = vec![false; terms.len()];
        let mut out = Vec::new();
        for (at, low) in factors.iter().enumerate() {
            for high in &factors[at + 1..] {
                self.charge(terms.len() as u64)?;
                let half = (high - low) * Rational::HALF;
                // `2^(h·(2m − a − b))`, from the term with the smaller multiple of the maximum to that with the larger.
                let [a, b] = larger.arms.each_ref().map(|arm| times_number(arm, &half));
                let maximum = Term { key: larger.own, coefficient: half };
                let lowered = negated(std::slice::from_ref(&maximum));
                let twice = times_number(std::slice::from_ref(&maximum), &Rational::TWO);
                let step = self.exponential(add(&twice, &negated(&add(&a, &b))))?;
                let to_first = self.exponential(add(&a, &lowered))?;
                let to_second = self.exponential(add(&b, &lowered))?;
                for from in 0..terms.len() {
                    if gone[from] || of_terms[from] != *low {
                        continue;
                    }
                    let other = self.table.term_product(&terms[from], &step)?;
                    let Some(to) = places.get(&other.key).copied() else { continue };
                    if gone[to] || to == from || terms[to] != other {
                        continue;
                    }
                    (gone[from], gone[to]) = (true, true);
                    out.push(self.table.term_product(&terms[to], &to_first)?);
                    out.push(self.table.term_product(&terms[to], &to_second)?);
                }
            }
        }
        if out.is_empty() {
            return Ok(None);
        }
        out.extend(terms.iter().zip(gone).filter(|(_, gone)| !gone).map(|(term, _)| term.clone()));
        collect(&mut out);
        Ok(Some(out))
    }

    /// Maxima of two arms in which exponents are linear, each with its cofactor without the coefficient; in an
    /// order that depends on content alone.
    fn maxima_in_exponents(&mut self, terms: &[Term]) -> Result<Vec<(AtomId, MonomialId)>, Stop> {
        let mut found: Vec<(AtomId, MonomialId)> = Vec::new();
        let mut last = PolynomialId::ZERO;
        for term in terms.iter().filter(|_| terms.len() > 1) {
            let exponent = term.exponent();
            if exponent == last || exponent == PolynomialId::ZERO {
                continue;
            }
            last = exponent;
            let parts = self.table.polynomials.shared_terms(exponent);
            self.charge(parts.len() as u64)?;
            for part in parts.iter() {
                if let Some(maximum) = self.linear_in_maximum(part)
                    && !found.contains(&maximum)
                    && found.len() < MAX_MAXIMA
                {
                    found.push(maximum);
                }
            }
        }
        found.sort_by_key(|(atom, beside)| (self.table.place(*atom), self.table.monomials.place(*beside)));
        Ok(found)
    }

    /// The maximum of two arms in a part of an exponent, and its cofactor.
    fn linear_in_maximum(&mut self, part: &Term) -> Option<(AtomId, MonomialId)> {
        if part.exponent() != PolynomialId::ZERO {
            return None;
        }
        let factors = self.table.monomials.shared_factors(part.monomial());
        let (maximum, _) = *factors.iter().find(|(atom, power)| {
            *power == 1 && self.table.atom(*atom).arms().is_some_and(|arms| arms.len() == 2)
        })?;
        let beside = self.table.without(part.key, &[maximum]).monomial();
        Some((maximum, beside))
    }
}
