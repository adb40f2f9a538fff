//! Terms evaluated in prime fields: an independent check of proofs by equal canonical forms.
//!
//! Canonical forms mostly come from rewriting sums, products, quotients and powers of two. All of these rewrites
//! hold in any field with an exponential, so the *original* terms must have equal values in a [`Tower`] of prime
//! fields as well, at random points. Two terms of degree d that differ agree with a probability of about d/2⁶⁰.
//!
//! Sums, products, quotients and powers of two are evaluated as they stand in the term. A field has no order:
//! maxima, choices, roundings, roots, logarithms and other functions have the value of their canonical form, in
//! which an atom that is not a sum or a root has a random value; sine and cosine of one argument are on the circle.
//! So the rewrites of such a function are trusted, and what the algebra does with the result is checked.
//!
//! At the first point each such function term has a random value. If the terms agree there, their functions need no
//! canonical forms, which are long where a maximum cancels.
//!
//! Rule V9 says where a literal is an irrational constant. Where the factors alone do not show that (residuals,
//! products of literals), a power of two has the value of its canonical form, and a term outside of exponents, in
//! which a form of ln 2 may stand beside a logarithm, has none.

use super::Stop;
use super::analysis::INFINITE;
use super::atom::Atom;
use super::constant_readings::{Irrational, IrrationalLiteral, Role};
use super::extended_value::Class;
use super::id::{AtomId, TermRef, mix};
use super::monomial::MonomialId;
use super::packed::inputs_of;
use super::polynomial::PolynomialId;
use super::prover::Prover;
use super::tower::{LEVELS, TOWERS, Tower};
use crate::number::Rational;
use crate::term::{InputId, Kind, Product, Reads, Sum, TermKind, TermOp, View};
use rustc_hash::FxHashMap;

/// The result of evaluating two terms in prime fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The values are the same: the terms are equal, up to a negligible probability.
    Agree,
    /// The values differ: so do the terms, or the canonical form of a function within them is wrong.
    Differ,
    /// No value was found, or only meaningless ones.
    Unchecked,
}

/// Points that are tried until no denominator is zero and all radicands are squares.
const TRIES: u32 = 16;
/// At most this many values are memoized: 24 bytes each, and the hash table.
const MAX_VALUES: usize = 1 << 20;
/// Sums and roots nested deeper than this are not evaluated.
const MAX_DEPTH: u32 = 100;

/// Depends on a base-2 logarithm.
const LOGARITHM: u8 = 1;
/// Has a literal that is an irrational constant in exponents.
const WHOLE: u8 = 2;
/// Has a literal that is its reciprocal beside logarithms.
const RECIPROCAL: u8 = 4;
/// Has a residual: a literal read as 0 beside another.
const RESIDUAL: u8 = 8;
const LITERAL: u8 = WHOLE | RECIPROCAL | RESIDUAL;
/// Is a sum that may contain literals.
const MIXED: u8 = 16;
/// Its literals cannot be read without context: the number is meaningless.
const UNCLEAR: u8 = 32;
/// Depends on more than literals and numbers.
const VARIES: u8 = 64;

/// A value in one of the fields, and properties on which the reading of literals depends.
#[derive(Clone, Copy, Debug)]
struct Value {
    number: u64,
    kinds: u8,
}

impl Value {
    const UNCLEAR: Value = Value { number: 0, kinds: UNCLEAR };

    fn has(self, kinds: u8) -> bool {
        self.kinds & kinds != 0
    }
}

/// Why there is no value.
enum Missing {
    /// Another point may have a value.
    Here,
    /// No point has a value.
    Everywhere,
}

impl From<Stop> for Missing {
    fn from(_: Stop) -> Missing {
        Missing::Everywhere
    }
}

/// One point in one tower, and the values there.
struct Evaluation<'p, 's> {
    prover: &'p mut Prover<'s>,
    tower: &'static Tower,
    seed: u128,
    /// Whether functions have the values of their canonical forms; otherwise each has a random value.
    forms: bool,
    terms: FxHashMap<(TermRef, usize), Value>,
    atoms: FxHashMap<(AtomId, usize), Value>,
    polynomials: FxHashMap<(PolynomialId, usize), Value>,
}

impl Prover<'_> {
    /// Compares two terms that this prover has proved equal by their values in two towers of prime fields, at
    /// points that `seed` chooses. Draws from the prover's budget.
    ///
    /// # Cost
    /// A table look-up for each term below, and the canonical forms of functions that have none yet.
    pub fn agree(&mut self, a: TermRef, b: TermRef, seed: u64) -> Agreement {
        let finite = [a, b].iter().all(|at| self.class(*at) == Ok(Class::Finite));
        if !finite {
            return Agreement::Unchecked;
        }
        let mut all = Agreement::Agree;
        for tower in &TOWERS {
            match agree_in(self, tower, a, b, seed) {
                Agreement::Agree => {}
                Agreement::Differ => return Agreement::Differ,
                Agreement::Unchecked => all = Agreement::Unchecked,
            }
        }
        all
    }
}

fn agree_in(prover: &mut Prover<'_>, tower: &'static Tower, a: TermRef, b: TermRef, seed: u64) -> Agreement {
    for attempt in 0..TRIES {
        // Terms that agree whatever the functions are need no forms of them: those of a softmax's maxima are long.
        let forms = attempt > 0;
        let seed = mix(u128::from(seed), u128::from(attempt));
        let mut evaluation = Evaluation {
            prover: &mut *prover,
            tower,
            seed,
            forms,
            terms: FxHashMap::default(),
            atoms: FxHashMap::default(),
            polynomials: FxHashMap::default(),
        };
        match (evaluation.term(a), evaluation.term(b)) {
            (Ok(first), Ok(second)) if first.has(UNCLEAR) || second.has(UNCLEAR) => break,
            (Ok(first), Ok(second)) if first.number == second.number => return Agreement::Agree,
            (Ok(_), Ok(_)) if forms => return Agreement::Differ,
            (Ok(_), Ok(_)) => {}
            (Err(Missing::Everywhere), _) | (_, Err(Missing::Everywhere)) => break,
            (Err(Missing::Here), _) | (_, Err(Missing::Here)) => {}
        }
    }
    Agreement::Unchecked
}

impl Evaluation<'_, '_> {
    /// The value of a term. Exponents are evaluated one level below.
    fn term(&mut self, root: TermRef) -> Result<Value, Missing> {
        let mut stack = vec![(root, 0)];
        while let Some(&(at, level)) = stack.last() {
            self.prover.charge(1)?;
            if self.terms.contains_key(&(at, level)) {
                stack.pop();
                continue;
            }
            let value = match self.prover.terms.view(at) {
                View::Input { input, element } => self.input(input, element, level),
                View::Constant(constant) => match constant.exact.finite() {
                    Some(value) => self.constant(at, value, level)?,
                    None => return Err(Missing::Everywhere),
                },
                View::Apply(op, operands) => {
                    let operands = operands.map(|term| TermRef { store: at.store, term });
                    let used = &operands[..op.arity()];
                    if self.is_direct(op, used)? {
                        let below = level + usize::from(op == TermOp::Exp2);
                        if below == LEVELS {
                            return Err(Missing::Everywhere);
                        }
                        let before = stack.len();
                        let unknown = |operand: &&TermRef| !self.terms.contains_key(&(**operand, below));
                        stack.extend(used.iter().filter(unknown).map(|operand| (*operand, below)));
                        if stack.len() > before {
                            continue;
                        }
                        let values = operands.map(|operand| self.terms.get(&(operand, below)).copied());
                        self.combine(at, op, values.map(|value| value.unwrap_or(Value::UNCLEAR)), level)?
                    } else {
                        self.by_form(at, op, level)?
                    }
                }
            };
            if self.terms.len() >= MAX_VALUES {
                return Err(Missing::Everywhere);
            }
            self.terms.insert((at, level), value);
            stack.pop();
        }
        self.terms.get(&(root, 0)).copied().ok_or(Missing::Everywhere)
    }

    /// Whether an operation has the same meaning in a field as among the reals, with all operands finite.
    fn is_direct(&mut self, op: TermOp, operands: &[TermRef]) -> Result<bool, Missing> {
        match op.kind() {
            Kind::Sum(_) | Kind::Product(_) | Kind::Exponential => {}
            Kind::Function(_) | Kind::Piecewise(_) | Kind::Condition(_) | Kind::Ieee => return Ok(false),
        }
        for operand in operands {
            if self.prover.terms.flags(*operand) & INFINITE != 0
                && self.prover.class(*operand)? != Class::Finite
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn combine(
        &mut self,
        at: TermRef,
        op: TermOp,
        [a, b, c]: [Value; 3],
        level: usize,
    ) -> Result<Value, Missing> {
        Ok(match op.kind() {
            Kind::Sum(Sum::Add) => self.plus(a, b, level),
            Kind::Sum(Sum::Sub) => self.plus(a, self.minus(b, level), level),
            Kind::Sum(Sum::Fma) => self.plus(self.times(a, b, level), c, level),
            Kind::Product(Product::Mul) => self.times(a, b, level),
            Kind::Product(Product::Div) => self.times(a, self.power(b, -1, level)?, level),
            Kind::Product(Product::Neg) => self.minus(a, level),
            // `2^(log₂ a) = a`, and literals that are read depending on others.
            Kind::Exponential if a.has(LOGARITHM | RESIDUAL | UNCLEAR) => self.by_form(at, op, level)?,
            Kind::Exponential => Value { number: self.tower.power_of_two(level, a.number), kinds: VARIES },
            Kind::Function(_) | Kind::Piecewise(_) | Kind::Condition(_) | Kind::Ieee => {
                self.by_form(at, op, level)?
            }
        })
    }

    fn plus(&self, a: Value, b: Value, level: usize) -> Value {
        let kinds = a.kinds | b.kinds;
        let mixed = if kinds & LITERAL != 0 { MIXED } else { 0 };
        Value { number: self.tower.add(level, a.number, b.number), kinds: kinds | mixed }
    }

    fn minus(&self, a: Value, level: usize) -> Value {
        Value { number: self.tower.neg(level, a.number), ..a }
    }

    /// A product; unclear if the reading of a literal depends on both factors.
    fn times(&self, a: Value, b: Value, level: usize) -> Value {
        let kinds = a.kinds | b.kinds;
        let beside = |a: Value, b: Value| a.has(RECIPROCAL) && b.has(LOGARITHM);
        let spread = |a: Value, b: Value| a.has(MIXED) && b.has(VARIES);
        let in_exponent = level > 0 && (a.has(LITERAL) && b.has(LITERAL) || spread(a, b) || spread(b, a));
        if kinds & UNCLEAR != 0 || beside(a, b) || beside(b, a) || in_exponent {
            return Value::UNCLEAR;
        }
        Value { number: self.tower.mul(level, a.number, b.number), kinds }
    }

    fn power(&self, base: Value, exponent: i32, level: usize) -> Result<Value, Missing> {
        if base.has(UNCLEAR) || level > 0 && exponent != 1 && base.has(LITERAL) {
            return Ok(Value::UNCLEAR);
        }
        let number = self.tower.power(level, base.number, exponent).ok_or(Missing::Here)?;
        Ok(Value { number, ..base })
    }

    fn input(&self, input: InputId, element: u64, level: usize) -> Value {
        let seed = mix(mix(self.seed, u128::from(input.0) + 1), u128::from(element));
        let number = self.tower.random(level, seed);
        // `d² = d` for an integer that is 0 or 1.
        let number = if self.prover.table.holds_bits(input) { number & 1 } else { number };
        Value { number, kinds: VARIES }
    }

    fn rational(&self, value: &Rational, level: usize) -> Result<Value, Missing> {
        let number = self.tower.rational(level, value).ok_or(Missing::Everywhere)?;
        Ok(Value { number, kinds: 0 })
    }

    fn constant(&mut self, at: TermRef, value: &Rational, level: usize) -> Result<Value, Missing> {
        let TermKind::Constant(id) = at.term.kind() else { return Err(Missing::Everywhere) };
        match self.prover.terms.analysis(at.store).reading(id) {
            Some((coefficient, literal)) => {
                let coefficient = self.rational(coefficient, level)?;
                let literal = self.literal(*literal, level)?;
                Ok(self.times(coefficient, literal, level))
            }
            None => self.rational(value, level),
        }
    }

    /// A literal of rule V9: a rational outside of exponents.
    fn literal(&self, literal: IrrationalLiteral, level: usize) -> Result<Value, Missing> {
        let (read, kinds) = match literal.role() {
            Role::Whole(which) => (Some(which), WHOLE),
            Role::High(_) => (None, WHOLE | RESIDUAL),
            Role::Residual(_) => (None, RESIDUAL),
            Role::Reciprocal(_) => (None, RECIPROCAL),
        };
        let number = match read {
            Some(which) if level > 0 => {
                let scale = self.rational(&literal.scale(), level)?;
                self.tower.mul(level, scale.number, self.irrational(which, level))
            }
            _ => self.rational(&literal.value(), level)?.number,
        };
        Ok(Value { number, kinds })
    }

    fn irrational(&self, which: Irrational, level: usize) -> u64 {
        self.tower.random(level, mix(mix(self.seed, 0), which as u128))
    }

    /// The value of a term's canonical form.
    fn by_form(&mut self, at: TermRef, op: TermOp, level: usize) -> Result<Value, Missing> {
        if !self.forms && self.prover.terms.is_function(at) {
            let seed = mix(mix(self.seed, u128::MAX - 1 - u128::from(at.store)), u128::from(at.term.raw()));
            return Ok(Value { number: self.tower.random(level, seed), kinds: VARIES });
        }
        let form = self.prover.settle(|prover| prover.resolve(at))?;
        let mut value = self.polynomial(form, level, 0)?;
        // Literals are read beside a logarithm before its argument is expanded.
        if op.reads() == Reads::Logarithm {
            value.kinds |= LOGARITHM;
        }
        value.kinds |= VARIES;
        Ok(value)
    }

    fn polynomial(&mut self, id: PolynomialId, level: usize, depth: u32) -> Result<Value, Missing> {
        if let Some(value) = self.polynomials.get(&(id, level)) {
            return Ok(*value);
        }
        if depth > MAX_DEPTH {
            return Err(Missing::Everywhere);
        }
        let terms = self.prover.table.polynomials.shared_terms(id);
        self.prover.charge(terms.len() as u64)?;
        let mut sum = Value { number: 0, kinds: 0 };
        for (at, term) in terms.iter().enumerate() {
            let coefficient = self.rational(&term.coefficient, level)?;
            let monomial = self.monomial(term.monomial(), level, depth)?;
            let mut value = self.times(coefficient, monomial, level);
            if term.exponent() != PolynomialId::ZERO {
                let power = self.power_of_two(term.exponent(), level, depth)?;
                value = self.times(value, power, level);
            }
            sum = if at == 0 { value } else { self.plus(sum, value, level) };
        }
        self.polynomials.insert((id, level), sum);
        Ok(sum)
    }

    fn monomial(&mut self, id: MonomialId, level: usize, depth: u32) -> Result<Value, Missing> {
        let mut product = Value { number: 1, kinds: 0 };
        for (atom, power) in self.prover.table.monomials.shared_factors(id).iter() {
            self.prover.charge(1)?;
            let value = self.atom(*atom, level, depth)?;
            let value = self.power(value, *power, level)?;
            product = self.times(product, value, level);
        }
        Ok(product)
    }

    /// `2^exponent` of a canonical form, in which literals have been read.
    fn power_of_two(&mut self, exponent: PolynomialId, level: usize, depth: u32) -> Result<Value, Missing> {
        if level + 1 == LEVELS {
            return Err(Missing::Everywhere);
        }
        for term in self.prover.table.polynomials.shared_terms(exponent).iter() {
            let factors = self.prover.table.monomials.factors(term.monomial());
            // The fourth power of `2^(log₂(a)/4)` is `a`, which does not hold for its value.
            if let [(atom, 1)] = factors
                && matches!(self.prover.table.atom(*atom), Atom::Apply(TermOp::Log2, _))
            {
                return Err(Missing::Everywhere);
            }
        }
        let value = self.polynomial(exponent, level + 1, depth + 1)?;
        if value.has(LITERAL | UNCLEAR) {
            return Err(Missing::Everywhere);
        }
        Ok(Value { number: self.tower.power_of_two(level, value.number), kinds: VARIES })
    }

    fn atom(&mut self, id: AtomId, level: usize, depth: u32) -> Result<Value, Missing> {
        if let Some(value) = self.atoms.get(&(id, level)) {
            return Ok(*value);
        }
        let mut kinds = VARIES;
        let random = |evaluation: &Self| {
            let seed = mix(mix(evaluation.seed, u128::MAX), u128::from(id.0));
            let number = evaluation.tower.random(level, seed);
            if evaluation.prover.table.is_indicator(id) { number & 1 } else { number }
        };
        let number = match self.prover.table.atom(id) {
            Atom::Input(input, element) => self.input(*input, *element, level).number,
            Atom::Irrational(which) => self.irrational(*which, level),
            Atom::Literal(literal) => return self.literal(*literal, level),
            Atom::Opaque(_) => return Err(Missing::Everywhere),
            Atom::Products(keys) => {
                let keys = keys.clone();
                self.prover.charge(keys.len() as u64)?;
                keys.iter().fold(0, |sum, key| {
                    let product = inputs_of(*key).fold(1, |product, (input, element)| {
                        self.tower.mul(level, product, self.input(input, element, level).number)
                    });
                    self.tower.add(level, sum, product)
                })
            }
            Atom::Sum(content) => {
                let value = self.polynomial(*content, level, depth + 1)?;
                kinds |= value.kinds;
                value.number
            }
            Atom::Apply(TermOp::Sqrt, radicand) => {
                let radicand = self.polynomial(*radicand, level, depth + 1)?;
                if radicand.has(UNCLEAR) {
                    return Err(Missing::Everywhere);
                }
                self.tower.root(level, radicand.number).ok_or(Missing::Here)?
            }
            Atom::Apply(TermOp::Sin, argument) => self.on_circle(*argument, level, true)?,
            Atom::Apply(TermOp::Cos, argument) => self.on_circle(*argument, level, false)?,
            Atom::Apply(TermOp::Log2, _) => {
                kinds |= LOGARITHM;
                random(self)
            }
            Atom::Max(_)
            | Atom::Apply(..)
            | Atom::CopySign(..)
            | Atom::BitAnd(..)
            | Atom::FirstLargest(_)
            | Atom::Select(..) => random(self),
        };
        let value = Value { number, kinds };
        self.atoms.insert((id, level), value);
        Ok(value)
    }

    /// The sine or the cosine of a random point on the circle for an argument.
    fn on_circle(&self, argument: PolynomialId, level: usize, sine: bool) -> Result<u64, Missing> {
        let seed = mix(mix(self.seed, u128::MAX - (1 << 64)), u128::from(argument.0));
        let slope = self.tower.random(level, seed);
        self.tower.on_circle(level, slope, sine).ok_or(Missing::Here)
    }
}
