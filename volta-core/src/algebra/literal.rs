//! Where literals of rule V9 become numbers: in exponents of two, and elsewhere.

use super::Stop;
use super::atom::Atom;
use super::constant_readings::{Irrational, IrrationalLiteral, Reading, Role, factors, nearest, residuals};
use super::id::AtomId;
use super::monomial::MonomialId;
use super::polynomial::{Key, PolynomialId, Term, collect};
use super::prover::Prover;
use super::table::Table;
use crate::number::Rational;
use crate::number::format::Format;
use crate::term::{TermOp, View};

/// Integers up to this magnitude leave an exponent and become coefficients.
const MAX_SHIFT: u64 = 1024;
/// Whether a high half alone is read as the whole constant (rule V9): `__expf` or `tanhf` beside `expf`. The
/// readings differ by far less than the argument, unless its multiple is large.
fn is_factor(coefficient: &Rational) -> bool {
    let least = Rational::power_of_two(*factors(Format::F32).start() as i32);
    let most = Rational::power_of_two(*factors(Format::F32).end() as i32);
    (least..=most).contains(&coefficient.abs())
}

/// Powers of a logarithm's argument are expanded up to this.
const MAX_LOGARITHM_POWER: u64 = 64;

impl Prover<'_> {
    /// `2^terms` as a scale: literals are read, whole powers of two become coefficients, and `2^(k·log₂ a) = a^k`
    /// for integers and halves of integers k (`a > 0` is the logarithm's own obligation).
    pub(super) fn exponential(&mut self, terms: Vec<Term>) -> Result<Term, Stop> {
        let terms = self.read_exponent(terms)?;
        let mut scale = Term::one();
        let mut rest = Vec::with_capacity(terms.len());
        for mut term in terms {
            if term.key == Key::ONE {
                let whole = term.coefficient.floor();
                if let Some(shift) = whole.to_i64().filter(|shift| shift.unsigned_abs() <= MAX_SHIFT) {
                    scale.coefficient = scale.coefficient.scale_by_power_of_two(shift as i32);
                    term.coefficient = &term.coefficient - &whole;
                }
                if !term.coefficient.is_zero() {
                    rest.push(term);
                }
                continue;
            }
            let argument = self.table.logarithm_argument(term.key);
            let twice = &term.coefficient * &Rational::TWO;
            let halves = twice.to_i64().filter(|halves| halves.unsigned_abs() <= 2 * MAX_LOGARITHM_POWER);
            if let (Some(argument), Some(halves)) = (argument, halves) {
                let whole = self.factor_polynomial(argument)?;
                let whole = self.table.term_power(&whole, halves.div_euclid(2) as i32)?;
                scale = self.table.term_product(&scale, &whole)?;
                if halves % 2 != 0 {
                    let argument = self.table.polynomials.shared_terms(argument).to_vec();
                    let root = self.root(argument)?;
                    scale = self.table.term_product(&scale, &root)?;
                }
            } else {
                rest.push(term);
            }
        }
        let exponent = self.table.polynomial(&rest);
        scale.key = self.table.key_product(scale.key, Key::new(MonomialId::ONE, exponent))?;
        Ok(scale)
    }

    /// Reads the literals of an exponent.
    fn read_exponent(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let contains =
            |prover: &Prover<'_>, term: &Term| prover.table.monomials.contents(term.monomial()).literal;
        if !terms.iter().any(|term| contains(self, term)) {
            return Ok(terms);
        }
        let mut out = Vec::with_capacity(terms.len());
        // First the literals beside logarithms, so that at most one is left in `ln x · log₂ e`.
        let open = self.read_reciprocals(terms)?;
        for term in &open {
            if !contains(self, term) {
                out.push(term.clone());
                continue;
            }
            let Some((literal, rest)) = self.table.only(term.monomial(), Atom::literal) else {
                out.push(self.table.value_of_literals(term)?);
                continue;
            };
            match literal.role() {
                Role::Whole(which) => {
                    self.readings.insert(Reading { literal });
                    let mut read = self.table.with_irrational(term, &rest, which, 1)?;
                    read.coefficient = &read.coefficient * &literal.scale();
                    out.push(read);
                }
                Role::High(which) => {
                    let halves = residuals(which).iter().map(|form| IrrationalLiteral::Form(*form));
                    if self.table.is_added(&open, term, &rest, halves)? || is_factor(&term.coefficient) {
                        self.readings.insert(Reading { literal: IrrationalLiteral::Form(nearest(which)) });
                        out.push(self.table.with_irrational(term, &rest, which, 1)?);
                    } else {
                        out.push(self.table.value_of_literals(term)?);
                    }
                }
                Role::Residual(which) => {
                    let high = std::iter::once(IrrationalLiteral::High(nearest(which)));
                    if self.table.is_added(&open, term, &rest, high)? {
                        self.readings.insert(Reading { literal });
                    } else {
                        out.push(self.table.value_of_literals(term)?);
                    }
                }
                Role::Reciprocal(_) => out.push(self.table.value_of_literals(term)?),
            }
        }
        collect(&mut out);
        Ok(out)
    }

    /// Reads forms of ln 2 beside logarithms, before those are expanded.
    pub(super) fn read_logarithms(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        if terms.iter().all(|term| !self.table.monomials.contents(term.monomial()).literal) {
            return Ok(terms);
        }
        let mut out = self.read_reciprocals(terms)?;
        collect(&mut out);
        Ok(out)
    }

    /// Reads every literal outside exponents as the rational that its bits encode, except forms of ln 2 beside a
    /// logarithm.
    pub(super) fn plain(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        if terms.iter().all(|term| !self.table.monomials.contents(term.monomial()).literal) {
            return Ok(terms);
        }
        let read = self.read_reciprocals(terms)?;
        let mut out = Vec::with_capacity(read.len());
        for term in &read {
            match self.read_product(term, &read) {
                Some(term) => out.push(term),
                None => out.push(self.table.value_of_literals(term)?),
            }
        }
        collect(&mut out);
        Ok(out)
    }

    /// Reads the product of a form of log₂ e and a form of ln 2 as 1, if the latter multiplies a logarithm in the
    /// same sum: `(m·log₂ e + log₂ s)·ln 2`.
    fn read_product(&mut self, term: &Term, sum: &[Term]) -> Option<Term> {
        let factors = self.table.monomials.factors(term.monomial());
        let (mut whole, mut reciprocal) = (None, None);
        let mut rest = Vec::new();
        for (atom, power) in factors {
            if let Atom::Literal(literal) = self.table.atom(*atom) {
                let place = match literal.role() {
                    Role::Whole(which) => (&mut whole, which),
                    Role::Reciprocal(which) => (&mut reciprocal, which),
                    Role::High(_) | Role::Residual(_) => return None,
                };
                if *power != 1 || place.0.replace((*literal, place.1)).is_some() {
                    return None;
                }
            } else {
                rest.push((*atom, *power))
            }
        }
        let ((whole, which), (reciprocal, other)) = (whole?, reciprocal?);
        // A term that contains a logarithm is one in which log₂ e is a denominator.
        let is_divided = |other: &Term| {
            let mut factors = self.table.monomials.factors(other.monomial()).iter();
            factors.any(|(atom, power)| *self.table.atom(*atom) == Atom::Irrational(which) && *power == -1)
        };
        if which != other || !sum.iter().any(is_divided) {
            return None;
        }
        self.readings.extend([whole, reciprocal].map(|literal| Reading { literal }));
        let key = Key::new(self.table.intern_factors(&rest), term.exponent());
        Some(Term { key, coefficient: &term.coefficient * &whole.scale() })
    }

    fn read_reciprocals(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        terms.into_iter().map(|term| self.read_reciprocal(term)).collect()
    }

    /// Reads a form of ln 2 or log₁₀ 2 that multiplies one base-2 logarithm.
    fn read_reciprocal(&mut self, term: Term) -> Result<Term, Stop> {
        if !self.table.monomials.contents(term.monomial()).literal {
            return Ok(term);
        }
        let mut found = None;
        let mut logarithms = 0;
        let mut rest = Vec::new();
        for (atom, power) in self.table.monomials.factors(term.monomial()) {
            let content = self.table.atom(*atom);
            if *power == 1 {
                if let (Some(literal), None) = (content.literal(), found)
                    && matches!(literal.role(), Role::Reciprocal(_))
                {
                    found = Some(literal);
                    continue;
                }
                let is_logarithm = |at| matches!(self.terms.view(at), View::Apply(TermOp::Log2, _));
                let opaque = content.opaque().is_some_and(is_logarithm);
                logarithms += i32::from(opaque || content.argument_of(TermOp::Log2).is_some());
            }
            rest.push((*atom, *power));
        }
        let (Some(literal), 1) = (found, logarithms) else { return Ok(term) };
        let Role::Reciprocal(which) = literal.role() else { return Ok(term) };
        self.readings.insert(Reading { literal });
        self.table.with_irrational(&term, &rest, which, -1)
    }
}

impl Table {
    fn logarithm_argument(&self, key: Key) -> Option<PolynomialId> {
        if key.exponent() != PolynomialId::ZERO {
            return None;
        }
        match self.monomials.factors(key.monomial()) {
            [(atom, 1)] => self.atom(*atom).argument_of(TermOp::Log2),
            _ => None,
        }
    }

    fn with_irrational(
        &mut self,
        term: &Term,
        rest: &[(AtomId, i32)],
        which: Irrational,
        power: i32,
    ) -> Result<Term, Stop> {
        let atom = self.intern(Atom::Irrational(which));
        let constant = self.atom_power(atom, power);
        let rest = self.intern_factors(rest);
        let monomial = self.times(rest, constant)?;
        Ok(Term { key: Key::new(monomial, term.exponent()), coefficient: term.coefficient.clone() })
    }

    fn value_of_literals(&mut self, term: &Term) -> Result<Term, Stop> {
        let factors = self.monomials.shared_factors(term.monomial());
        let mut coefficient = term.coefficient.clone();
        let mut rest = Vec::with_capacity(factors.len());
        for (atom, power) in factors.iter() {
            if let Atom::Literal(literal) = self.atom(*atom) {
                let value = literal.value().pow(*power);
                let large = || Stop::Unknown("a power is too large".to_string());
                let value: Rational = value.ok_or_else(large)?;
                coefficient = &coefficient * &value;
            } else {
                rest.push((*atom, *power))
            }
        }
        let monomial = self.intern_factors(&rest);
        Ok(Term { key: Key::new(monomial, term.exponent()), coefficient })
    }

    /// Whether the same multiple of one of `partners` is in a sum.
    fn is_added(
        &mut self,
        sum: &[Term],
        term: &Term,
        rest: &[(AtomId, i32)],
        partners: impl Iterator<Item = IrrationalLiteral>,
    ) -> Result<bool, Stop> {
        let rest = self.intern_factors(rest);
        for partner in partners {
            let atom = self.intern(Atom::Literal(partner));
            let atom = self.single(atom);
            let partner = Key::new(self.times(rest, atom)?, term.exponent());
            if sum.iter().any(|other| other.key == partner && other.coefficient == term.coefficient) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
