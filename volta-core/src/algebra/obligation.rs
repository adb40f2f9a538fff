//! Partial operations (rule V8): what must hold for a term to be defined, read off the term as it was executed.

use super::Stop;
use super::atom::{Atom, AtomId, TermRef};
use super::canon::Prover;
use super::class::Class;
use super::exponent::Scale;
use super::facts::{INFINITE, PARTIAL};
use super::monomial::MonomialId;
use super::polynomial::PolynomialId;
use super::sign::Signs;
use crate::term::{TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// What an operation demands of its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Demand {
    /// `≠ 0`
    Nonzero,
    /// `> 0`
    Positive,
    /// `≥ 0`
    NotNegative,
}

/// Something that must hold and was not proved: the product, without factors known to be positive, under the
/// demand. `negative` turns the sign of the product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    pub(super) demand: Demand,
    pub(super) product: MonomialId,
    pub(super) negative: bool,
}

/// What became of a partial operation.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    Proved,
    Open(Requirement),
    Impossible(&'static str),
}

/// Requirements already looked at: one prover's.
#[derive(Debug, Default)]
pub struct Obligations {
    findings: FxHashMap<TermRef, Finding>,
}

/// What an operation demands, and of which operand.
fn demand_of(op: TermOp, operands: [TermRef; 3]) -> Option<(Demand, TermRef)> {
    match op {
        TermOp::Div => Some((Demand::Nonzero, operands[1])),
        TermOp::Log2 | TermOp::Rsqrt => Some((Demand::Positive, operands[0])),
        TermOp::Sqrt => Some((Demand::NotNegative, operands[0])),
        _ => None,
    }
}

impl Prover<'_> {
    /// The requirements of a term that are not proved, in the order of a walk through it.
    /// `Err(Stop::Undefined)` when one cannot hold.
    pub fn requirements(&mut self, known: &mut Obligations, root: TermRef) -> Result<Vec<Requirement>, Stop> {
        let mut open = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            if self.flags(at) & PARTIAL == 0 || !seen.insert(at) {
                continue;
            }
            self.charge(1)?;
            let View::Apply(op, operands) = self.view(at) else { continue };
            let operands = operands.map(|term| TermRef { store: at.store, term });
            stack.extend(operands[..op.arity()].iter().rev());
            let Some((demand, operand)) = demand_of(op, operands) else { continue };
            let finding = match known.findings.get(&at) {
                Some(finding) => finding.clone(),
                None => {
                    let finding = self.examine(demand, operand)?;
                    known.findings.insert(at, finding.clone());
                    finding
                }
            };
            match finding {
                Finding::Proved => {}
                Finding::Open(requirement) if open.contains(&requirement) => {}
                Finding::Open(requirement) => open.push(requirement),
                Finding::Impossible(why) => return Err(Stop::Undefined(why.to_string())),
            }
        }
        Ok(open)
    }

    /// What a term requires, proved or not: what may be relied on where the term is defined.
    pub fn granted(&mut self, root: TermRef) -> Result<Vec<Requirement>, Stop> {
        let mut granted = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(at) = stack.pop() {
            if self.flags(at) & PARTIAL == 0 || !seen.insert(at) {
                continue;
            }
            self.charge(1)?;
            let View::Apply(op, operands) = self.view(at) else { continue };
            let operands = operands.map(|term| TermRef { store: at.store, term });
            stack.extend(operands[..op.arity()].iter().rev());
            let Some((demand, operand)) = demand_of(op, operands) else { continue };
            if self.flags(operand) & INFINITE == 0 {
                let scale = self.settled_scale(operand)?;
                granted.push(self.requirement(demand, &scale));
            }
        }
        Ok(granted)
    }

    /// A term as a product of names.
    fn settled_scale(&mut self, operand: TermRef) -> Result<Scale, Stop> {
        self.settle(|prover| {
            let id = prover.resolve(operand)?;
            let terms = prover.table.polynomials.shared_terms(id).to_vec();
            let terms = prover.plain(terms)?;
            prover.factor_terms(terms)
        })
    }

    fn examine(&mut self, demand: Demand, operand: TermRef) -> Result<Finding, Stop> {
        if self.flags(operand) & INFINITE != 0 {
            match self.class(operand)? {
                Class::Finite => {}
                // What an infinity does to the operation is the business of `class`.
                Class::PosInf | Class::NegInf => return Ok(Finding::Proved),
                Class::Undefined(why) => return Err(Stop::Undefined(why.to_string())),
                Class::Unknown(why) => return Err(Stop::Unknown(why.to_string())),
            }
        }
        let wanted = match demand {
            Demand::Nonzero => Signs::NEGATIVE | Signs::POSITIVE,
            Demand::Positive => Signs::POSITIVE,
            Demand::NotNegative => Signs::NOT_NEGATIVE,
        };
        if self.term_signs(operand)?.within(wanted) {
            return Ok(Finding::Proved);
        }
        let scale = self.settled_scale(operand)?;
        let signs = self.table.monomial_signs(scale.key.monomial()).times(Signs::of(&scale.coefficient));
        let why = match demand {
            Demand::Nonzero => "division by zero",
            Demand::Positive => "a logarithm or reciprocal root of what is not positive",
            Demand::NotNegative => "the root of what is negative",
        };
        if signs.within(wanted) {
            return Ok(Finding::Proved);
        }
        if signs.within(!wanted) {
            return Ok(Finding::Impossible(why));
        }
        Ok(Finding::Open(self.requirement(demand, &scale)))
    }

    /// A demand on a product, without the factors that meet it.
    fn requirement(&mut self, demand: Demand, scale: &Scale) -> Requirement {
        let factors = self.table.monomials.shared_factors(scale.key.monomial());
        let doubtful = |(atom, _): &(AtomId, i32)| self.table.atom_signs(*atom) != Signs::POSITIVE;
        let mut factors: Vec<(AtomId, i32)> = factors.iter().copied().filter(doubtful).collect();
        if demand == Demand::Nonzero {
            factors.retain(|(atom, _)| !self.table.atom_signs(*atom).excludes_zero());
            for (_, power) in &mut factors {
                *power = 1;
            }
        }
        let product = self.table.intern_factors(&factors);
        let negative = demand != Demand::Nonzero && scale.coefficient.is_negative();
        Requirement { demand, product, negative }
    }

    /// Whether a requirement follows from others.
    pub fn implied(&self, requirement: &Requirement, by: &[Requirement]) -> bool {
        let strict = |other: &&Requirement| other.demand != Demand::NotNegative;
        let same = |other: &Requirement| {
            other.product == requirement.product && other.negative == requirement.negative
        };
        match requirement.demand {
            Demand::Positive => by.iter().any(|other| other.demand == Demand::Positive && same(other)),
            Demand::NotNegative => by.iter().any(|other| other.demand != Demand::Nonzero && same(other)),
            Demand::Nonzero => self.table.monomials.factors(requirement.product).iter().all(|(atom, _)| {
                by.iter().filter(strict).any(|other| {
                    self.table.monomials.factors(other.product).iter().any(|(known, _)| known == atom)
                })
            }),
        }
    }

    /// The polynomial under a requirement's name, when it is one name alone.
    pub(super) fn requirement_content(&self, requirement: &Requirement) -> Option<PolynomialId> {
        match self.table.monomials.factors(requirement.product) {
            [(atom, 1)] => match self.table.atom(*atom) {
                Atom::Sum(content) => Some(*content),
                _ => None,
            },
            _ => None,
        }
    }
}
