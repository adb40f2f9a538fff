//! Normal forms as expressions of [`crate::formula`].
//!
//! A form is a sum of products; named sums, radicands, arguments of functions and exponents are expressions of
//! their own. The numbers that a normal form factors out of a sum, or leaves in it, depend on the order of its
//! terms; here each sum has the scale that is shortest to read.

use rustc_hash::FxHashMap;

use super::atom::Atom;
use super::condition::{Condition, ConditionId};
use super::constant_readings::Irrational;
use super::digest::{Part, unknown};
use super::id::{AtomId, TermRef};
use super::monomial::MonomialId;
use super::packed::inputs_of;
use super::polynomial::{PolynomialId, Term};
use super::print::Normal;
use super::prover::Prover;
use super::table::Table;
use crate::formula::{Addend, Factor, Node, Shapes, TooLarge, root_of};
use crate::number::Rational;
use crate::term::TermOp;

/// The expressions of one prover's forms.
#[derive(Default)]
pub struct Outlines {
    atoms: FxHashMap<AtomId, Power>,
    monomials: FxHashMap<MonomialId, Addend>,
    polynomials: FxHashMap<PolynomialId, Node>,
    exponents: FxHashMap<PolynomialId, Node>,
    conditions: FxHashMap<ConditionId, Node>,
}

/// An atom as `(number · base)^(halves/2)`.
#[derive(Clone)]
struct Power {
    number: Rational,
    base: Node,
    halves: i32,
}

/// Why a form has no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoOutline {
    /// There is no form; the reason.
    NoForm(String),
    /// The form is too large.
    TooLarge,
}

impl From<TooLarge> for NoOutline {
    fn from(TooLarge: TooLarge) -> NoOutline {
        NoOutline::TooLarge
    }
}

impl From<String> for NoOutline {
    fn from(why: String) -> NoOutline {
        NoOutline::NoForm(why)
    }
}

impl Outlines {
    /// The normal form of a term as an expression, in several arrangements: as one fraction, term by term, and as a
    /// sum of fractions.
    ///
    /// # Errors
    /// The term has no normal form, or one that is too large to read.
    pub fn outline(
        &mut self,
        prover: &mut Prover<'_>,
        shapes: &mut Shapes,
        at: TermRef,
    ) -> Result<Vec<Node>, NoOutline> {
        let terms = match prover.normal(at)? {
            Normal::Infinite(name) => return Ok(vec![shapes.constant(name)?]),
            Normal::Finite(terms) => terms,
        };
        prover.arrangements(terms)?.iter().map(|terms| self.whole(prover, shapes, terms)).collect()
    }

    fn whole(
        &mut self,
        prover: &mut Prover<'_>,
        shapes: &mut Shapes,
        terms: &[Term],
    ) -> Result<Node, NoOutline> {
        let id = prover.table.polynomial(terms);
        let known = |outlines: &Outlines, part: &Part| match part {
            Part::Atom(id) => outlines.atoms.contains_key(id),
            Part::Monomial(id) => outlines.monomials.contains_key(id),
            Part::Polynomial(_) => false,
            Part::Condition(id) => outlines.conditions.contains_key(id),
        };
        for (part, _) in unknown(prover, |(part, _)| known(self, part), &(Part::Polynomial(id), 0))? {
            if known(self, &part) {
                continue;
            }
            let mut builder = Builder { table: &prover.table, shapes, outlines: self };
            match part {
                Part::Polynomial(_) => {}
                Part::Atom(id) => {
                    let power = builder.atom(id)?;
                    self.atoms.insert(id, power);
                }
                Part::Monomial(id) => {
                    let addend = builder.product(prover.table.monomials.factors(id))?;
                    self.monomials.insert(id, addend);
                }
                Part::Condition(id) => {
                    let node = builder.condition(&id)?;
                    self.conditions.insert(id, node);
                }
            }
        }
        Ok(Builder { table: &prover.table, shapes, outlines: self }.polynomial(id)?)
    }
}

/// Builds expressions of parts whose own parts have theirs.
struct Builder<'t, 'o> {
    table: &'t Table,
    shapes: &'o mut Shapes,
    outlines: &'o mut Outlines,
}

impl Builder<'_, '_> {
    fn product(&mut self, factors: &[(AtomId, i32)]) -> Result<Addend, TooLarge> {
        let (mut number, mut under_root) = (Rational::ONE, Rational::ONE);
        let mut list: Vec<Factor> = Vec::with_capacity(factors.len());
        for (atom, power) in factors {
            let base = self.outlines.atoms.get(atom).ok_or(TooLarge)?;
            let halves = base.halves * power;
            number = &number * &base.number.pow(halves.div_euclid(2)).ok_or(TooLarge)?;
            if halves % 2 != 0 {
                under_root = &under_root * &base.number;
            }
            list.push((base.base.clone(), halves));
        }
        match root_of(&under_root) {
            Some(root) => number = &number * &root,
            None => list.push((self.shapes.number(under_root)?, 1)),
        }
        Ok((number, self.shapes.product(list)?))
    }

    fn addends(&mut self, terms: &[Term]) -> Result<Vec<Addend>, TooLarge> {
        let mut addends = Vec::with_capacity(terms.len());
        for term in terms {
            let (number, node) = self.outlines.monomials.get(&term.monomial()).ok_or(TooLarge)?.clone();
            let node = match term.exponent() {
                PolynomialId::ZERO => node,
                exponent => {
                    let power = self.power_of_two(exponent)?;
                    self.shapes.product(vec![(node, 2), (power, 2)])?
                }
            };
            addends.push((&term.coefficient * &number, node));
        }
        Ok(addends)
    }

    fn polynomial(&mut self, id: PolynomialId) -> Result<Node, TooLarge> {
        if let Some(node) = self.outlines.polynomials.get(&id) {
            return Ok(node.clone());
        }
        let terms = self.table.polynomials.shared_terms(id);
        let addends = match &*terms {
            // A parenthesized sum without other factors.
            [term] if term.exponent() == PolynomialId::ZERO => match self.only_sum(term.monomial()) {
                Some(content) => {
                    let inner = self.table.polynomials.shared_terms(content);
                    let addends = self.addends(&inner)?;
                    addends.into_iter().map(|(number, node)| (&number * &term.coefficient, node)).collect()
                }
                None => self.addends(&terms)?,
            },
            terms => self.addends(terms)?,
        };
        let node = self.shapes.sum(addends)?;
        self.outlines.polynomials.insert(id, node.clone());
        Ok(node)
    }

    fn only_sum(&self, monomial: MonomialId) -> Option<PolynomialId> {
        let [(atom, 1)] = self.table.monomials.factors(monomial) else { return None };
        self.table.atom(*atom).sum()
    }

    /// `2^exponent`: as a power of e if every term of the exponent has the factor log₂ e.
    fn power_of_two(&mut self, exponent: PolynomialId) -> Result<Node, TooLarge> {
        if let Some(node) = self.outlines.exponents.get(&exponent) {
            return Ok(node.clone());
        }
        let table = self.table;
        let is_base = |(atom, power): &(AtomId, i32)| {
            *power == 1 && *table.atom(*atom) == Atom::Irrational(Irrational::Log2E)
        };
        let terms = table.polynomials.shared_terms(exponent);
        let natural = terms.iter().all(|term| table.monomials.factors(term.monomial()).iter().any(is_base));
        let node = if natural {
            let mut addends = Vec::with_capacity(terms.len());
            for term in terms.iter() {
                let factors = table.monomials.factors(term.monomial()).iter().copied();
                let rest: Vec<(AtomId, i32)> = factors.filter(|factor| !is_base(factor)).collect();
                let (number, node) = self.product(&rest)?;
                let node = match term.exponent() {
                    PolynomialId::ZERO => node,
                    exponent => {
                        let power = self.power_of_two(exponent)?;
                        self.shapes.product(vec![(node, 2), (power, 2)])?
                    }
                };
                addends.push((&term.coefficient * &number, node));
            }
            let sum = self.shapes.sum(addends)?;
            self.shapes.exp(&sum)?
        } else {
            let sum = self.polynomial(exponent)?;
            self.shapes.apply(TermOp::Exp2, &[sum])?
        };
        self.outlines.exponents.insert(exponent, node.clone());
        Ok(node)
    }

    /// A sum as a number times a sum in its best scale; for a radicand, the number is positive.
    fn scaled(&mut self, content: PolynomialId, root: bool) -> Result<Addend, TooLarge> {
        let terms = self.table.polynomials.shared_terms(content);
        let addends = self.addends(&terms)?;
        self.shapes.scaled_sum(addends, root)
    }

    fn atom(&mut self, id: AtomId) -> Result<Power, TooLarge> {
        let table = self.table;
        let plain = |base: Node| Power { number: Rational::ONE, base, halves: 2 };
        Ok(match table.atom(id) {
            Atom::Input(input, element) => plain(self.shapes.element(*input, *element)?),
            Atom::Products(keys) => {
                let mut addends = Vec::with_capacity(keys.len());
                for key in keys.iter() {
                    let mut factors = Vec::new();
                    for (input, element) in inputs_of(*key) {
                        factors.push((self.shapes.element(input, element)?, 2));
                    }
                    addends.push((Rational::ONE, self.shapes.product(factors)?));
                }
                plain(self.shapes.sum(addends)?)
            }
            Atom::Irrational(Irrational::Log2E) => plain(self.shapes.constant("log2(e)")?),
            Atom::Irrational(Irrational::Log2Ten) => plain(self.shapes.constant("log2(10)")?),
            Atom::Literal(literal) => plain(self.shapes.number(literal.value())?),
            // Absent from finished forms.
            Atom::Opaque(_) => return Err(TooLarge),
            Atom::Sum(content) => {
                let (number, base) = self.scaled(*content, false)?;
                Power { number, base, halves: 2 }
            }
            Atom::Apply(TermOp::Sqrt, radicand) => {
                let (number, base) = self.scaled(*radicand, true)?;
                Power { number, base, halves: 1 }
            }
            Atom::Max(arms) => {
                let arms = arms.iter().map(|arm| self.polynomial(*arm)).collect::<Result<_, _>>()?;
                plain(self.shapes.extreme(TermOp::Max, arms)?)
            }
            Atom::Apply(function, argument) => {
                let argument = self.polynomial(*argument)?;
                plain(self.shapes.apply(*function, &[argument])?)
            }
            Atom::CopySign(sign, magnitude, _) => {
                let operands = [self.polynomial(*sign)?, self.polynomial(*magnitude)?];
                plain(self.shapes.apply(TermOp::CopySign, &operands)?)
            }
            Atom::BitAnd(a, b) => {
                let operands = vec![self.polynomial(*a)?, self.polynomial(*b)?];
                plain(self.shapes.of_set(TermOp::BitAnd, operands)?)
            }
            // Where forms are shown, short lists are choices.
            Atom::FirstLargest(_) => return Err(TooLarge),
            Atom::Select(condition, a, b) => {
                let condition = self.outlines.conditions.get(condition).ok_or(TooLarge)?.clone();
                let operands = [condition, self.polynomial(*a)?, self.polynomial(*b)?];
                plain(self.shapes.apply(TermOp::Select, &operands)?)
            }
        })
    }

    fn condition(&mut self, id: &ConditionId) -> Result<Node, TooLarge> {
        let known =
            |outlines: &Outlines, id: &ConditionId| outlines.conditions.get(id).cloned().ok_or(TooLarge);
        match self.table.conditions.get(id) {
            Condition::Known(value) => self.shapes.constant(if *value { "true" } else { "false" }),
            Condition::Positive(inner) => {
                let inner = self.polynomial(*inner)?;
                self.shapes.positive(&inner)
            }
            Condition::Zero(inner) => {
                let inner = self.polynomial(*inner)?;
                self.shapes.zero(&inner)
            }
            Condition::Not(inner) => {
                let inner = known(self.outlines, inner)?;
                self.shapes.apply(TermOp::Not, &[inner])
            }
            Condition::And(a, b) => {
                let both = vec![known(self.outlines, a)?, known(self.outlines, b)?];
                self.shapes.of_set(TermOp::And, both)
            }
            Condition::Xor(a, b) => {
                let both = vec![known(self.outlines, a)?, known(self.outlines, b)?];
                self.shapes.of_set(TermOp::Xor, both)
            }
        }
    }
}
