//! Products that a walk meets: factors that are single products go into the scale; a single sum among the factors
//! is walked into, short sums are multiplied out, and others stay opaque.

use super::Stop;
use super::analysis::{Analysis, INFINITE};
use super::atom::Atom;
use super::extended_value::Class;
use super::id::TermRef;
use super::linear_sum::{LinearSum, Walk};
use super::packed::{pack, pack_single};
use super::polynomial::{Key, Term};
use super::prover::Prover;
use super::table::Table;
use super::worklist::Need;
use crate::number::Rational;
use crate::term::{Kind, Product, TermId, TermKind, View};
use smallvec::{SmallVec, smallvec};

impl Prover<'_> {
    pub(super) fn require_finite(&mut self, at: TermRef) -> Result<(), Stop> {
        match self.is_infinite(at)? {
            true => Err(Stop::Unknown("an infinity inside an expression".to_string())),
            false => Ok(()),
        }
    }

    /// Whether a factor is an infinite divisor, which makes the product zero (V3).
    fn vanishes(&mut self, at: TermRef, power: i32) -> Result<bool, Stop> {
        if self.terms.flags(at) & INFINITE == 0 {
            return Ok(false);
        }
        if power < 0 {
            return self.is_infinite(at);
        }
        self.require_finite(at).map(|()| false)
    }

    /// Adds a product of powers to a walk.
    pub(super) fn product(
        &mut self,
        walk: &mut Walk,
        factors: &[(TermId, i32)],
        scale: u32,
    ) -> Result<(), Stop> {
        let store = walk.root.store;
        let analysis = self.terms.analysis(store);
        let mut own = walk.scales[scale as usize].0.clone();
        let mut work: SmallVec<[(TermId, i32); 8]> = factors.into();
        let mut sums: SmallVec<[(TermId, i32); 4]> = SmallVec::new();
        let mut zero = false;
        let mut inputs: SmallVec<[u64; 4]> = SmallVec::new();
        while let Some((term, power)) = work.pop() {
            self.charge(1)?;
            let at = TermRef { store, term };
            if self.vanishes(at, power)? {
                zero = true;
                continue;
            }
            // `0·t = 0`: `t` is known to be finite, and whether it is defined is an obligation (V8).
            if zero {
                continue;
            }
            if let Some(value) = self.number_of_input(term) {
                if value.is_zero() && power > 0 {
                    zero = true;
                    continue;
                }
                let value = self.table.term_power(&Term::number(value), power)?;
                own = self.table.term_product(&own, &value)?;
                continue;
            }
            let (op, [a, b, _]) = match self.terms.view(at) {
                View::Input { .. } if power == 1 => {
                    inputs.push(term.raw());
                    continue;
                }
                View::Input { .. } => {
                    let monomial = self.table.input_monomial(term.raw());
                    let monomial = self.table.monomial_power(monomial, power)?;
                    own.key = self.table.key_product(own.key, Key::of(monomial))?;
                    continue;
                }
                View::Constant(constant) => {
                    let value = self.table.constant_scale(analysis, term, constant.exact.finite());
                    if value.is_zero() && power > 0 {
                        zero = true;
                        continue;
                    }
                    let value = self.table.term_power(&value, power)?;
                    own = self.table.term_product(&own, &value)?;
                    continue;
                }
                View::Apply(op, operands) => (op, operands),
            };
            let root = term == walk.root.term;
            match op.kind() {
                Kind::Product(Product::Mul | Product::Div) if !root && analysis.uses(term) > 1 => {
                    let flat = self.flat(at)?;
                    match (flat.terms.as_slice(), flat.products.as_slice()) {
                        ([], []) if power > 0 => zero = true,
                        ([single], []) => {
                            let single = self.table.term_power(single, power)?;
                            own = self.table.term_product(&own, &single)?;
                        }
                        _ => sums.push((term, power)),
                    }
                }
                Kind::Product(Product::Mul) => work.extend([(a, power), (b, power)]),
                Kind::Product(Product::Div) => work.extend([(a, power), (b, -power)]),
                Kind::Product(Product::Neg) => {
                    if power % 2 != 0 {
                        own.coefficient = -own.coefficient;
                    }
                    work.push((a, power));
                }
                Kind::Exponential => {
                    let value = self.power_of_two(at)?;
                    if value.is_zero() && power > 0 {
                        zero = true;
                        continue;
                    }
                    let value = self.table.term_power(&value, power)?;
                    own = self.table.term_product(&own, &value)?;
                }
                Kind::Sum(_) => sums.push((term, power)),
                Kind::Condition(_) | Kind::Ieee => {
                    return Err(Stop::Unknown("a condition is used as a number".to_string()));
                }
                Kind::Function(_) | Kind::Piecewise(_) => {
                    if let Some((arm, scale)) = self.power_of_choice(at)? {
                        let scale = self.table.term_power(&scale, power)?;
                        own = self.table.term_product(&own, &scale)?;
                        work.push((arm, power));
                        continue;
                    }
                    let atom = self.table.opaque(at);
                    let monomial = self.table.atom_power(atom, power);
                    own.key = self.table.key_product(own.key, Key::of(monomial))?;
                }
            }
        }
        if zero || own.is_zero() {
            return Ok(());
        }
        // A product of inputs and a number is kept packed, like `Fma` of two inputs.
        let packed = match inputs.as_slice() {
            [a] => Some(pack_single(*a)),
            [a, b] => Some(pack(*a, *b)),
            _ => None,
        };
        if let Some(key) = packed
            && sums.is_empty()
            && own.key == walk.scales[scale as usize].0.key
        {
            let scale = walk.push_scale(own);
            let bucket = walk.bucket(scale);
            walk.products[bucket].keys.push(key);
            return Ok(());
        }
        if !inputs.is_empty() {
            let mut parts = vec![own];
            for raw in inputs {
                parts.push(Term::of(Key::of(self.table.input_monomial(raw))));
            }
            own = self.table.product_of(parts)?;
        }
        match sums.as_slice() {
            [] => {
                walk.terms.push(own);
                Ok(())
            }
            _ => {
                // `s/s = 1`; that `s` is not zero remains an obligation.
                sums.sort_unstable();
                let mut merged: SmallVec<[(TermId, i32); 4]> = SmallVec::new();
                for (term, power) in sums {
                    match merged.last_mut() {
                        Some((last, total)) if *last == term => *total = total.saturating_add(power),
                        _ => merged.push((term, power)),
                    }
                }
                merged.retain(|(_, power)| *power != 0);
                self.product_of_sums(walk, &merged, own)
            }
        }
    }

    /// Continues the walk with the only sum factor, under the scale of all others. Several sums are multiplied out
    /// if they are short; long ones, and those in the denominator, become opaque atoms.
    fn product_of_sums(
        &mut self,
        walk: &mut Walk,
        sums: &[(TermId, i32)],
        mut own: Term,
    ) -> Result<(), Stop> {
        let store = walk.root.store;
        let mut expanded: SmallVec<[Term; 1]> = smallvec![Term::of(Key::ONE)];
        let mut multiplying = sums.iter().filter(|(_, power)| *power > 0);
        let linear = match (multiplying.next(), multiplying.next()) {
            (Some((term, 1)), None) => Some(*term),
            _ => None,
        };
        // A sum that is multiplied out no longer cancels with the same sum in the denominator.
        let divided = sums.iter().any(|(_, power)| *power < 0);
        let mut parts = Vec::with_capacity(sums.len() + 1);
        for (term, power) in sums.iter().filter(|(term, power)| *power < 0 || Some(*term) != linear) {
            let at = TermRef { store, term: *term };
            let flat = self.flat(at)?;
            if flat.is_empty() {
                if *power > 0 {
                    return Ok(());
                }
                return Err(Stop::Undefined("division by zero".to_string()));
            }
            let count = power.unsigned_abs().min(16);
            let size = flat.len().saturating_pow(count).saturating_mul(expanded.len());
            if let ([single], []) = (flat.terms.as_slice(), flat.products.as_slice()) {
                parts.push(self.table.term_power(single, *power)?);
            } else if *power > 0
                && !divided
                && size <= self.tactic.short_product
                && !self.names_long_sums(&flat)
            {
                let terms = self.spread(&flat)?;
                for _ in 0..*power {
                    expanded = self.multiply(&expanded, &terms)?.into();
                }
            } else {
                let atom = self.table.opaque(at);
                parts.push(Term::of(Key::of(self.table.atom_power(atom, *power))));
            }
        }
        if !parts.is_empty() {
            parts.push(own);
            own = self.table.product_of(parts)?;
        }
        if let Some(term) = linear {
            let scale = walk.push_scale(own);
            walk.stack.push((term, scale));
            return Ok(());
        }
        for term in expanded {
            walk.terms.push(self.table.term_product(&own, &term)?);
        }
        Ok(())
    }

    /// Whether a sum is short only because it contains long sums as opaque atoms.
    fn names_long_sums(&self, flat: &LinearSum) -> bool {
        flat.terms.iter().filter(|term| self.table.monomials.contents(term.monomial()).lazy).any(|term| {
            let factors = self.table.monomials.factors(term.monomial());
            factors.iter().any(|(atom, _)| {
                if let Atom::Opaque(at) = self.table.atom(*atom) {
                    !self.terms.is_function(*at)
                } else {
                    false
                }
            })
        })
    }

    /// The scale of a [`TermOp::Exp2`] node; zero for `2^(−∞)`.
    pub(super) fn power_of_two(&mut self, at: TermRef) -> Result<Term, Stop> {
        self.remembered(
            |forms| &mut forms.powers,
            at,
            |prover| {
                let View::Apply(_, [argument, ..]) = prover.terms.view(at) else {
                    return Err(Stop::Unknown("a factor that is not a power of two".to_string()));
                };
                let argument = TermRef { store: at.store, term: argument };
                if prover.class(argument)? == Class::NegInf {
                    return Ok(Term::number(Rational::ZERO));
                }
                prover.descend(Need::Power(at), |prover| {
                    prover.require_finite(argument)?;
                    let flat = prover.flatten(argument)?;
                    let terms = prover.spread(&flat)?;
                    prover.exponential(terms)
                })
            },
        )
    }
}

impl Table {
    /// A constant as a scale: its value, or a power of two times a literal of rule V9.
    fn constant_scale(&mut self, analysis: &Analysis, term: TermId, value: Option<&Rational>) -> Term {
        if let TermKind::Constant(id) = term.kind()
            && let Some((coefficient, literal)) = analysis.reading(id)
        {
            let atom = self.intern(Atom::Literal(*literal));
            let monomial = self.single(atom);
            return Term { coefficient: coefficient.clone(), key: Key::of(monomial) };
        }
        Term::number(value.cloned().unwrap_or_default())
    }
}
