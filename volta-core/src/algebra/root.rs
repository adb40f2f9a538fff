//! Square roots and logarithms of products: factors of known sign are taken out one at a time.

use super::Stop;
use super::atom::Atom;
use super::id::{AtomId, TermRef};
use super::monomial::MonomialId;
use super::polynomial::{Key, PolynomialId, Term, add, as_number, collect, negated, number, times_number};
use super::prover::Prover;
use super::table::Table;
use crate::number::Rational;
use crate::number::signs::Signs;
use crate::term::TermOp;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// Prime factors of numbers are searched up to this.
const MAX_PRIME: u32 = 1_000;
/// Numbers of more bits are not factored.
const MAX_BITS: u32 = 256;
/// Sums of more terms are not tested for being squares.
const MAX_SQUARE: usize = 64;
/// Roots under logarithms are expanded up to this depth.
const MAX_DEPTH: u32 = 16;

/// A positive integer as powers of primes; an unfactored rest counts as one prime.
fn primes(value: &rug::Integer) -> Vec<(rug::Integer, u32)> {
    let mut left = value.clone();
    let mut found = Vec::new();
    if left.significant_bits() <= MAX_BITS {
        for divisor in 2..=MAX_PRIME {
            let mut power = 0;
            while left.is_divisible_u(divisor) {
                left.div_exact_u_mut(divisor);
                power += 1;
            }
            if power > 0 {
                found.push((rug::Integer::from(divisor), power));
            }
            if left == 1 {
                break;
            }
        }
    }
    if left != 1 {
        match left.is_perfect_square() {
            true => found.push((left.sqrt(), 2)),
            false => found.push((left, 1)),
        }
    }
    found
}

impl Prover<'_> {
    /// The square root of a term.
    pub(super) fn root_of(&mut self, at: TermRef) -> Result<Term, Stop> {
        let radicand = self.resolve(at)?;
        self.remembered(
            |forms| &mut forms.roots,
            radicand,
            |prover| {
                let terms = prover.table.polynomials.shared_terms(radicand).to_vec();
                let terms = prover.plain(terms)?;
                prover.root(terms)
            },
        )
    }

    /// The square root of a sum, apart from its obligation: square numbers, powers of two, even powers of non-negative
    /// factors, and the roots of positive ones are taken out; `√(a²) = |a|` if nothing else is under the root.
    pub(super) fn root(&mut self, terms: Vec<Term>) -> Result<Term, Stop> {
        let id = self.table.polynomial(&terms);
        let inside = self.factor_polynomial(id)?;
        if inside.is_zero() {
            return Ok(inside);
        }
        let half = self.table.half(inside.key.exponent());
        let mut outside = Term::of(Key::new(MonomialId::ONE, half));
        let mut left = Term::one();
        let is_positive = inside.coefficient.is_positive();
        outside = self.table.root_of_number(outside, &inside.coefficient.abs())?;
        if !is_positive {
            // The leading coefficient of a sum may be negative where the sum is not.
            left.coefficient = -left.coefficient;
        }
        let factors = self.factors_with_squares(inside.key.monomial())?;
        let all_even = is_positive && factors.iter().all(|(_, power)| power % 2 == 0);
        let mut signs = Vec::with_capacity(factors.len());
        for (atom, _) in &factors {
            signs.push(self.signs_of_atom(*atom));
        }
        let none_negative = is_positive && signs.iter().all(|signs| signs.within(Signs::NOT_NEGATIVE));
        for ((atom, power), signs) in factors.iter().zip(signs) {
            let single = self.table.unit(*atom);
            let (out, kept) = if signs.within(Signs::NOT_NEGATIVE) {
                (power.div_euclid(2), power.rem_euclid(2))
            } else if all_even {
                (power / 2, 0)
            } else {
                (0, *power)
            };
            if out != 0 {
                let base = if signs.within(Signs::NOT_NEGATIVE) || out % 2 == 0 {
                    single.clone()
                } else {
                    let content = self.expand(vec![single.clone()])?;
                    let magnitude = self.magnitude(content)?;
                    let magnitude = self.table.polynomial(&magnitude);
                    self.factor_polynomial(magnitude)?
                };
                let base = self.table.term_power(&base, out)?;
                outside = self.table.term_product(&outside, &base)?;
            }
            if kept == 1 && (signs == Signs::POSITIVE || none_negative) {
                outside = match self.root_of_maximum(*atom)? {
                    Some(largest) => self.table.term_product(&outside, &largest)?,
                    None => {
                        let content = self.expand(vec![single])?;
                        self.table.times_root_of(outside, &content)?
                    }
                };
            } else {
                let kept = self.table.atom_power(*atom, kept);
                left.key = self.table.key_product(left.key, Key::of(kept))?;
            }
        }
        let left = self.expand(vec![left])?;
        match as_number(&left) {
            Some(value) if value.is_one() => Ok(outside),
            Some(value) if value.is_negative() => {
                Err(Stop::Undefined("the square root of a negative number".to_string()))
            }
            _ => self.table.times_root_of(outside, &left),
        }
    }

    /// `√max(a, b) = max(√a, √b)` where neither is negative.
    fn root_of_maximum(&mut self, atom: AtomId) -> Result<Option<Term>, Stop> {
        let Atom::Max(arms) = self.table.atom(atom) else { return Ok(None) };
        let arms = arms.clone();
        let mut roots = Vec::with_capacity(arms.len());
        for arm in arms.iter() {
            let terms = self.table.polynomials.shared_terms(*arm).to_vec();
            if !self.table.signs_of(&terms).within(Signs::NOT_NEGATIVE) {
                return Ok(None);
            }
            roots.push(terms);
        }
        let mut of_arms = Vec::with_capacity(roots.len());
        for terms in roots {
            of_arms.push(vec![self.root(terms)?]);
        }
        let largest = self.maximum(of_arms)?;
        Ok(Some(self.factor_terms(largest)?))
    }

    /// The factors of a monomial; sums that are squares become squares of their roots.
    fn factors_with_squares(&mut self, monomial: MonomialId) -> Result<Vec<(AtomId, i32)>, Stop> {
        let mut scale = Term::one();
        for (atom, power) in self.table.monomials.shared_factors(monomial).iter() {
            let root = match self.table.atom(*atom).sum() {
                Some(content) => {
                    let terms = self.table.polynomials.shared_terms(content);
                    self.root_of_square(&terms)?
                }
                None => None,
            };
            let base = match root {
                Some(root) => {
                    let root = self.table.polynomial(&root);
                    let root = self.factor_polynomial(root)?;
                    self.table.term_power(&root, 2)?
                }
                None => self.table.unit(*atom),
            };
            let base = self.table.term_power(&base, *power)?;
            let product = self.table.term_product(&scale, &base)?;
            // The root of a sum with leading coefficient 1 also has leading coefficient ±1.
            if product.coefficient.is_one() && product.key.exponent() == PolynomialId::ZERO {
                scale = product;
            } else {
                let single = self.table.atom_power(*atom, *power);
                scale.key = self.table.key_product(scale.key, Key::of(single))?;
            }
        }
        Ok(self.table.monomials.factors(scale.key.monomial()).to_vec())
    }

    /// The sum of which a short polynomial is the square.
    pub(super) fn root_of_square(&mut self, terms: &[Term]) -> Result<Option<Vec<Term>>, Stop> {
        let plain = |prover: &Self, term: &Term| {
            let factors = prover.table.monomials.factors(term.monomial());
            term.exponent() == PolynomialId::ZERO && factors.iter().all(|(_, power)| *power > 0)
        };
        let fits = (3..=MAX_SQUARE).contains(&terms.len());
        if !fits || !terms.iter().all(|term| plain(self, term)) {
            return Ok(None);
        }
        let mut root: Vec<Term> = Vec::new();
        let mut rest = terms.to_vec();
        let mut first: Option<Term> = None;
        while let Some(leading) = self.table.largest(&rest) {
            self.charge(rest.len() as u64)?;
            let next = match &first {
                None => self.table.root_of_term(&leading)?,
                Some(first) => {
                    let twice = Term { coefficient: &first.coefficient * &Rational::TWO, key: first.key };
                    let inverse = self.table.term_power(&twice, -1)?;
                    let next = self.scaled(std::slice::from_ref(&leading), &inverse)?;
                    next.into_iter().next()
                }
            };
            let Some(next) = next.filter(|next| plain(self, next)) else { return Ok(None) };
            // (r + n)² = r² + 2·r·n + n²
            let single = std::slice::from_ref(&next);
            let square = self.multiply(single, single)?;
            let cross = self.multiply(&times_number(&root, &Rational::TWO), single)?;
            rest = add(&rest, &negated(&add(&square, &cross)));
            root = add(&root, single);
            first = first.or(Some(next));
            if root.len() > MAX_SQUARE {
                return Ok(None);
            }
        }
        Ok(Some(root))
    }

    /// `log₂(2^h·a^k·b) = h + k·log₂ a + log₂ b` for positive `a`. If a single factor of unknown sign is left and
    /// its power is odd, it is positive because the product is: that is the logarithm's obligation.
    pub(super) fn logarithm(&mut self, terms: Vec<Term>, depth: u32) -> Result<Vec<Term>, Stop> {
        let id = self.table.polynomial(&terms);
        let inside = self.factor_polynomial(id)?;
        let undefined = || Stop::Undefined("the logarithm of a number that is not positive".to_string());
        if as_number(&terms).is_some_and(|value| !value.is_positive()) || inside.is_zero() {
            return Err(undefined());
        }
        let mut out = self.table.polynomials.shared_terms(inside.key.exponent()).to_vec();
        let (num, den) = inside.coefficient.abs().to_parts();
        for (part, sign) in [(num, 1), (den, -1)] {
            for (prime, power) in primes(&part) {
                let power = Rational::from_integer(i64::from(power) * sign);
                if prime == 2 {
                    out.extend(number(power));
                } else {
                    let prime = self.table.polynomial(&number(Rational::from(prime)));
                    let logarithm = self.table.atom_term(Atom::Apply(TermOp::Log2, prime));
                    out.extend(times_number(&logarithm, &power));
                }
            }
        }
        let factors = self.table.monomials.shared_factors(inside.key.monomial());
        let mut positive = FxHashMap::default();
        for (atom, _) in factors.iter() {
            positive.insert(*atom, self.signs_of_atom(*atom) == Signs::POSITIVE);
        }
        let mut doubtful = factors.iter().filter(|(atom, _)| !positive[atom]);
        if let (Some((only, power)), None) = (doubtful.next(), doubtful.next())
            && power % 2 != 0
            && inside.coefficient.is_positive()
        {
            positive.insert(*only, true);
        }
        // `log₂ a^k = k·log₂ |a|` for even k, if a is the only factor of unknown sign.
        let mut doubtful = factors.iter().filter(|(atom, _)| !positive[atom]);
        let even = match (doubtful.next(), doubtful.next()) {
            (Some((only, power)), None) if power % 2 == 0 && inside.coefficient.is_positive() => Some(*only),
            _ => None,
        };
        let minus = if inside.coefficient.is_negative() { Rational::MINUS_ONE } else { Rational::ONE };
        let mut left = Term::number(minus);
        for (atom, power) in factors.iter() {
            let logarithm = if even == Some(*atom) && depth < MAX_DEPTH {
                let single = Key::of(self.table.single(*atom));
                let content = self.expand(vec![Term::of(single)])?;
                let magnitude = self.magnitude(content)?;
                self.logarithm(magnitude, depth + 1)?
            } else if positive[atom] {
                self.logarithm_of_positive(*atom, depth)?
            } else {
                let kept = self.table.atom_power(*atom, *power);
                left.key = self.table.key_product(left.key, Key::of(kept))?;
                continue;
            };
            out.extend(times_number(&logarithm, &Rational::from_integer(i64::from(*power))));
        }
        let left = self.expand(vec![left])?;
        match as_number(&left) {
            Some(value) if value.is_one() => {}
            Some(_) => return Err(undefined()),
            None => {
                let left = self.table.polynomial(&left);
                out.extend(self.table.atom_term(Atom::Apply(TermOp::Log2, left)));
            }
        }
        collect(&mut out);
        Ok(out)
    }

    /// The logarithm of a positive atom: `log₂ √a = log₂(a)/2`.
    fn logarithm_of_positive(&mut self, atom: AtomId, depth: u32) -> Result<Vec<Term>, Stop> {
        if let Atom::Apply(TermOp::Sqrt, radicand) = self.table.atom(atom)
            && depth < MAX_DEPTH
        {
            let radicand = self.table.polynomials.shared_terms(*radicand).to_vec();
            let logarithm = self.logarithm(radicand, depth + 1)?;
            return Ok(times_number(&logarithm, &Rational::HALF));
        }
        let single = self.table.single(atom);
        let term = Term::of(Key::of(single));
        let content = self.expand(vec![term])?;
        let content = self.table.polynomial(&content);
        Ok(self.table.atom_term(Atom::Apply(TermOp::Log2, content)))
    }
}

impl Table {
    /// A scale times the root of a sum, as an atom.
    fn times_root_of(&mut self, scale: Term, sum: &[Term]) -> Result<Term, Stop> {
        let sum = self.polynomial(sum);
        let root = self.intern(Atom::Apply(TermOp::Sqrt, sum));
        let root = self.unit(root);
        self.term_product(&scale, &root)
    }

    /// A scale times the root of a positive number: `√(n/d) = √(n·d)/d`, as a number times the roots of primes.
    fn root_of_number(&mut self, mut scale: Term, value: &Rational) -> Result<Term, Stop> {
        let (num, den) = value.to_parts();
        let mut outside = rug::Integer::from(1);
        for (prime, power) in primes(&(num * &den)) {
            for _ in 0..power / 2 {
                outside *= &prime;
            }
            if power % 2 == 1 {
                scale = self.times_root_of(scale, &number(Rational::from(prime)))?;
            }
        }
        let factor = Rational::from(rug::Rational::from((outside, den)));
        scale.coefficient = &scale.coefficient * &factor;
        Ok(scale)
    }

    /// The largest term in a monomial order: by the powers of the atoms in turn.
    fn largest(&self, terms: &[Term]) -> Option<Term> {
        let compare = |a: &&Term, b: &&Term| {
            let [a, b] = [a, b].map(|term| self.monomials.factors(term.monomial()));
            let mut pairs = a.iter().zip(b);
            pairs
                .find_map(|(a, b)| match (b.0.cmp(&a.0), a.1.cmp(&b.1)) {
                    (Ordering::Equal, Ordering::Equal) => None,
                    // The term with the earlier atom has the larger power of it.
                    (Ordering::Equal, by_power) => Some(by_power),
                    (by_atom, _) => Some(by_atom),
                })
                .unwrap_or(a.len().cmp(&b.len()))
        };
        terms.iter().max_by(compare).cloned()
    }

    fn root_of_term(&mut self, term: &Term) -> Result<Option<Term>, Stop> {
        let factors = self.monomials.shared_factors(term.monomial());
        let (num, den) = term.coefficient.to_parts();
        let is_square = term.coefficient.is_positive() && num.is_perfect_square() && den.is_perfect_square();
        if !is_square || factors.iter().any(|(_, power)| power % 2 != 0) {
            return Ok(None);
        }
        let halves: Vec<(AtomId, i32)> = factors.iter().map(|(atom, power)| (*atom, power / 2)).collect();
        let key = Key::of(self.intern_factors(&halves));
        Ok(Some(Term { key, coefficient: Rational::from(rug::Rational::from((num.sqrt(), den.sqrt()))) }))
    }

    fn half(&mut self, exponent: PolynomialId) -> PolynomialId {
        if exponent == PolynomialId::ZERO {
            return exponent;
        }
        let terms = self.polynomials.shared_terms(exponent);
        let terms = times_number(&terms, &Rational::HALF);
        self.polynomial(&terms)
    }
}
