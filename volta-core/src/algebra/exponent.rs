//! Products of monomials and of powers of two: the operations of a [`Table`] on keys and terms.

use super::Stop;
use super::id::AtomId;
use super::monomial::{MonomialId, Monomials};
use super::polynomial::{Key, PolynomialId, Term, add};
use super::table::Table;
use crate::number::Rational;

fn overflow() -> Stop {
    Stop::Unknown("a power is too large".to_string())
}

impl Table {
    /// `atom` to the power 1, as a monomial.
    pub fn single(&mut self, atom: AtomId) -> MonomialId {
        if let Some(id) = self.monomials.known_single(atom) {
            return id;
        }
        let id = self.intern_factors(&[(atom, 1)]);
        self.monomials.remember_single(atom, id);
        id
    }

    /// An atom as a term.
    pub(super) fn unit(&mut self, atom: AtomId) -> Term {
        Term::of(Key::of(self.single(atom)))
    }

    /// The monomial of an atom to a power.
    pub fn atom_power(&mut self, atom: AtomId, power: i32) -> MonomialId {
        match power {
            0 => MonomialId::ONE,
            1 => self.single(atom),
            _ => {
                let factors = self.without_powers_of_indicators(vec![(atom, power)]);
                self.intern_factors(&factors)
            }
        }
    }

    /// The product of two monomials.
    pub fn times(&mut self, a: MonomialId, b: MonomialId) -> Result<MonomialId, Stop> {
        if a == MonomialId::ONE {
            return Ok(b);
        }
        if b == MonomialId::ONE {
            return Ok(a);
        }
        if let Some(product) = self.monomials.known_product(a, b) {
            return Ok(product);
        }
        let factors = Monomials::multiply(self.monomials.factors(a), self.monomials.factors(b));
        let factors = self.without_powers_of_indicators(factors.ok_or_else(overflow)?);
        let product = self.intern_factors(&factors);
        self.monomials.remember_product(a, b, product);
        Ok(product)
    }

    /// A power of a monomial.
    pub fn monomial_power(&mut self, a: MonomialId, exponent: i32) -> Result<MonomialId, Stop> {
        if exponent == 1 || a == MonomialId::ONE {
            return Ok(a);
        }
        let factors = Monomials::power(self.monomials.factors(a), exponent).ok_or_else(overflow)?;
        let factors = self.without_powers_of_indicators(factors);
        Ok(self.intern_factors(&factors))
    }

    /// `d² = d` and, where it has a value, `1/d² = 1/d`, for integers `d` that are 0 or 1.
    fn without_powers_of_indicators(&self, mut factors: Vec<(AtomId, i32)>) -> Vec<(AtomId, i32)> {
        for (atom, power) in &mut factors {
            if power.unsigned_abs() > 1 && self.is_indicator(*atom) {
                *power = power.signum();
            }
        }
        factors
    }

    /// Interns a collected sum.
    pub fn polynomial(&mut self, terms: &[Term]) -> PolynomialId {
        let monomials = &self.monomials;
        self.polynomials.intern(terms, |id| (monomials.place(id), monomials.contents(id).lazy))
    }

    /// The sum of two exponents: `2^a · 2^b = 2^(a+b)`.
    pub fn exponent_sum(&mut self, a: PolynomialId, b: PolynomialId) -> PolynomialId {
        if a == PolynomialId::ZERO {
            return b;
        }
        if b == PolynomialId::ZERO {
            return a;
        }
        if let Some(sum) = self.polynomials.known_sum(a, b) {
            return sum;
        }
        let terms = add(self.polynomials.terms(a), self.polynomials.terms(b));
        let sum = self.polynomial(&terms);
        self.polynomials.remember_sum(a, b, sum);
        sum
    }

    /// `1/2^a = 2^(−a)`
    pub fn exponent_negative(&mut self, a: PolynomialId) -> PolynomialId {
        if a == PolynomialId::ZERO {
            return a;
        }
        if let Some(negative) = self.polynomials.known_negative(a) {
            return negative;
        }
        let negated = |term: &Term| Term { key: term.key, coefficient: -&term.coefficient };
        let terms: Vec<Term> = self.polynomials.terms(a).iter().map(negated).collect();
        let negative = self.polynomial(&terms);
        self.polynomials.remember_negative(a, negative);
        negative
    }

    /// `(2^a)^k = 2^(k·a)`
    pub fn exponent_times(&mut self, a: PolynomialId, factor: i32) -> PolynomialId {
        match factor {
            0 => PolynomialId::ZERO,
            1 => a,
            -1 => self.exponent_negative(a),
            _ => {
                let factor = Rational::from_integer(i64::from(factor));
                let scaled = |term: &Term| Term { key: term.key, coefficient: &term.coefficient * &factor };
                let terms: Vec<Term> = self.polynomials.terms(a).iter().map(scaled).collect();
                self.polynomial(&terms)
            }
        }
    }

    /// The product of two keys.
    pub fn key_product(&mut self, a: Key, b: Key) -> Result<Key, Stop> {
        if a == Key::ONE {
            return Ok(b);
        }
        if b == Key::ONE {
            return Ok(a);
        }
        let monomial = self.times(a.monomial(), b.monomial())?;
        let exponent = self.exponent_sum(a.exponent(), b.exponent());
        Ok(Key::new(monomial, exponent))
    }

    /// A power of a key.
    pub fn key_power(&mut self, a: Key, power: i32) -> Result<Key, Stop> {
        let monomial = self.monomial_power(a.monomial(), power)?;
        Ok(Key::new(monomial, self.exponent_times(a.exponent(), power)))
    }

    /// The product of two scales.
    pub fn term_product(&mut self, a: &Term, b: &Term) -> Result<Term, Stop> {
        let coefficient = if b.coefficient.is_one() {
            a.coefficient.clone()
        } else if a.coefficient.is_one() {
            b.coefficient.clone()
        } else {
            &a.coefficient * &b.coefficient
        };
        Ok(Term { coefficient, key: self.key_product(a.key, b.key)? })
    }

    /// The product of many scales as a balanced tree, so that one of n factors costs n log n and not n².
    pub fn product_of(&mut self, mut scales: Vec<Term>) -> Result<Term, Stop> {
        while scales.len() > 1 {
            let mut next = Vec::with_capacity(scales.len().div_ceil(2));
            for pair in scales.chunks(2) {
                next.push(match pair {
                    [a, b] => self.term_product(a, b)?,
                    rest => rest[0].clone(),
                });
            }
            scales = next;
        }
        Ok(scales.pop().unwrap_or_else(Term::one))
    }

    /// A power of a scale; a negative power of zero is undefined (V3).
    pub fn term_power(&mut self, a: &Term, power: i32) -> Result<Term, Stop> {
        if power == 1 {
            return Ok(a.clone());
        }
        if a.coefficient.bit_length().saturating_mul(u64::from(power.unsigned_abs())) > 1 << 20 {
            return Err(overflow());
        }
        let undefined = || Stop::Undefined("division by zero".to_string());
        let coefficient = a.coefficient.pow(power).ok_or_else(undefined)?;
        Ok(Term { coefficient, key: self.key_power(a.key, power)? })
    }

    /// A key without the given atoms.
    pub(super) fn without(&mut self, key: Key, atoms: &[AtomId]) -> Key {
        let factors = self.monomials.shared_factors(key.monomial());
        let rest: Vec<(AtomId, i32)> =
            factors.iter().copied().filter(|(atom, _)| !atoms.contains(atom)).collect();
        Key::new(self.intern_factors(&rest), key.exponent())
    }
}
