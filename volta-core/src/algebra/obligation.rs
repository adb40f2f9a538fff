//! Partial operations (rule V8): the requirements under which a term is defined, collected from the term as it was
//! executed.

use super::Stop;
use super::analysis::INFINITE;
use super::atom::Atom;
use super::id::{AtomId, TermRef};
use super::polynomial::{PolynomialId, Term, negated};
use super::prover::Prover;
use super::requirement::{Guards, Requirement};
use super::table::Table;
use crate::number::signs::Signs;
use crate::number::value::Demand;
use crate::term::TermOp;
use rustc_hash::FxHashMap;

/// The state of a partial operation's requirement.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Finding {
    Proved,
    Open(Requirement),
    Impossible(String),
}

/// The requirements that one prover has already examined.
#[derive(Debug, Default)]
pub struct Obligations {
    findings: FxHashMap<TermRef, Finding>,
    operands: FxHashMap<Requirement, TermRef>,
}

impl Obligations {
    /// A term that a requirement is about.
    pub fn operand(&self, requirement: &Requirement) -> Option<TermRef> {
        self.operands.get(requirement).copied()
    }
}

/// The demand of an operation, and the operand that it is about.
fn demand_of(op: TermOp, operands: [TermRef; 3]) -> Option<(Demand, TermRef)> {
    op.info().demand.map(|(demand, at)| (demand, operands[at]))
}

impl Prover<'_> {
    /// The requirements of a term that are not proved, in the order of a walk through it, those without guards
    /// first. `Err(Stop::Undefined)` when one cannot hold.
    pub fn requirements(&mut self, known: &mut Obligations, root: TermRef) -> Result<Vec<Requirement>, Stop> {
        let mut open: Vec<Requirement> = Vec::new();
        for reached in self.partial_operations(root)? {
            let Some((demand, operand)) = demand_of(reached.op, reached.operands) else { continue };
            let finding = match known.findings.get(&reached.at) {
                Some(finding) => finding.clone(),
                None => {
                    let finding = match self.examine(demand, operand) {
                        Err(Stop::Undefined(why)) => Finding::Impossible(why),
                        other => other?,
                    };
                    known.findings.insert(reached.at, finding.clone());
                    finding
                }
            };
            match finding {
                Finding::Proved => {}
                Finding::Impossible(why) if reached.guards.is_empty() => return Err(Stop::Undefined(why)),
                Finding::Impossible(why) => {
                    return Err(Stop::Unknown(format!("{why}, in an arm of a choice that may be taken")));
                }
                Finding::Open(unguarded) => {
                    if open.contains(&unguarded)
                        || self.met_by_guards(&unguarded, operand, &reached.guards)?
                    {
                        continue;
                    }
                    let requirement = Requirement { guards: reached.guards, ..unguarded };
                    if !open.contains(&requirement) {
                        known.operands.insert(requirement.clone(), operand);
                        open.push(requirement);
                    }
                }
            }
        }
        Ok(open)
    }

    /// The requirements `own` of the optimized term that do not follow from those of `reference`, of which `domain`
    /// are not proved.
    pub fn additional(
        &mut self,
        (reference, domain): (TermRef, &[Requirement]),
        mut own: Vec<Requirement>,
    ) -> Vec<Requirement> {
        own.retain(|requirement| !self.table.implied(requirement, domain));
        if !own.is_empty() {
            // Proved requirements of the reference hold too, though their proof may fail for an equal operand of
            // another form.
            let granted = self.granted(reference).unwrap_or_default();
            own.retain(|requirement| !self.table.implied(requirement, &granted));
        }
        own
    }

    /// The requirements of a term, proved or not: they may be assumed where the term is defined.
    pub(super) fn granted(&mut self, root: TermRef) -> Result<Vec<Requirement>, Stop> {
        let mut granted = Vec::new();
        for reached in self.partial_operations(root)? {
            let Some((demand, operand)) = demand_of(reached.op, reached.operands) else { continue };
            if self.terms.flags(operand) & INFINITE == 0 {
                let scale = self.settled_scale(operand)?;
                let unguarded = self.requirement(demand, &scale);
                granted.push(Requirement { guards: reached.guards, ..unguarded });
            }
        }
        Ok(granted)
    }

    /// The demands on finite operands that hold wherever the term has a value.
    pub(super) fn required_everywhere(&mut self, root: TermRef) -> Result<Vec<(TermRef, Demand)>, Stop> {
        let mut reached = self.partial_operations(root)?;
        reached.retain(|reached| reached.guards.is_empty());
        let required = reached.iter().filter_map(|reached| demand_of(reached.op, reached.operands));
        let finite = required.filter(|(_, operand)| self.terms.flags(*operand) & INFINITE == 0);
        Ok(finite.map(|(demand, operand)| (operand, demand)).collect())
    }

    /// A term as a product of named sums.
    fn settled_scale(&mut self, operand: TermRef) -> Result<Term, Stop> {
        self.settle(|prover| {
            let terms = prover.argument(operand)?;
            prover.factor_terms(terms)
        })
    }

    fn examine(&mut self, demand: Demand, operand: TermRef) -> Result<Finding, Stop> {
        // The effect of an infinite operand is decided by `class`.
        if self.is_infinite(operand)? {
            return Ok(Finding::Proved);
        }
        let wanted = demand.signs();
        if self.term_signs(operand)?.within(wanted) {
            return Ok(Finding::Proved);
        }
        let scale = self.settled_scale(operand)?;
        let signs = self.table.monomial_signs(scale.key.monomial()).times(Signs::of(&scale.coefficient));
        let why = match demand {
            Demand::Nonzero => "division by zero",
            Demand::Positive => "the logarithm or reciprocal root of a number that is not positive",
            Demand::NotNegative => "the root of a negative number",
        };
        if signs.within(wanted) {
            return Ok(Finding::Proved);
        }
        if signs.within(!wanted) {
            return Ok(Finding::Impossible(why.to_string()));
        }
        Ok(Finding::Open(self.requirement(demand, &scale)))
    }

    /// The requirement that a demand on a product makes, without factors that meet it, and without guards.
    pub(super) fn requirement(&mut self, mut demand: Demand, scale: &Term) -> Requirement {
        let mut negative = demand != Demand::Nonzero && scale.coefficient.is_negative();
        let mut factors = self.table.monomials.shared_factors(scale.key.monomial()).to_vec();
        if let ([(atom, 1)], Demand::Positive) = (factors.as_slice(), demand)
            && self.of_magnitude(*atom, negative).is_some()
        {
            // A magnitude is positive where it is not zero.
            (demand, negative) = (Demand::Nonzero, false);
        }
        if demand == Demand::Nonzero {
            let mut opened = Vec::with_capacity(factors.len());
            while let Some((atom, power)) = factors.pop() {
                match self.zero_together(atom) {
                    Some(inner) => factors.extend(self.table.monomials.factors(inner.key.monomial())),
                    None => opened.push((atom, power)),
                }
            }
            opened.sort_unstable();
            opened.dedup_by_key(|(atom, _)| *atom);
            factors = opened;
        } else if let ([(atom, _)], Demand::Positive, false) = (factors.as_slice(), demand, negative)
            && let Some(inner) = self.radicand(*atom)
        {
            // A root is positive where its radicand is.
            negative = inner.coefficient.is_negative();
            factors = self.table.monomials.factors(inner.key.monomial()).to_vec();
        }
        factors.retain(|(atom, _)| self.table.atom_signs(*atom) != Signs::POSITIVE);
        if demand == Demand::Nonzero {
            factors.retain(|(atom, _)| !self.table.atom_signs(*atom).excludes_zero());
            for (_, power) in &mut factors {
                *power = 1;
            }
        }
        let product = self.table.intern_factors(&factors);
        Requirement { demand, product, negative, guards: Guards::default() }
    }

    /// A term with the same zeros as an atom: the sum of which it is the magnitude, or its radicand.
    fn zero_together(&mut self, atom: AtomId) -> Option<Term> {
        let magnitude = self.of_magnitude(atom, false).or_else(|| self.of_magnitude(atom, true));
        magnitude.or_else(|| self.radicand(atom))
    }

    fn radicand(&mut self, atom: AtomId) -> Option<Term> {
        let radicand = self.table.atom(atom).argument_of(TermOp::Sqrt)?;
        self.factor_polynomial(radicand).ok()
    }

    /// The term of which a named sum, or its opposite, is the magnitude, as a scale: `−a + 2·max(a, 0)`.
    fn of_magnitude(&mut self, atom: AtomId, opposite: bool) -> Option<Term> {
        let content = self.table.atom(atom).sum()?;
        let terms = self.table.polynomials.shared_terms(content).to_vec();
        let terms = if opposite { negated(&terms) } else { terms };
        let is_maximum = |term: &Term| {
            let factors = self.table.monomials.factors(term.monomial());
            factors.iter().any(|(atom, _)| matches!(self.table.atom(*atom), Atom::Max(_)))
        };
        let plain: Vec<Term> = terms.iter().filter(|term| !is_maximum(term)).cloned().collect();
        if plain.is_empty() || plain.len() == terms.len() {
            return None;
        }
        let inner = negated(&plain);
        let magnitude = self.settle(|prover| prover.magnitude(inner.clone())).ok()?;
        if magnitude != terms {
            return None;
        }
        self.settle(|prover| prover.factor_terms(inner.clone())).ok()
    }
}

impl Table {
    /// Whether a requirement follows from others whose guards hold wherever its own do.
    pub(super) fn implied(&self, requirement: &Requirement, by: &[Requirement]) -> bool {
        let by: Vec<&Requirement> =
            by.iter().filter(|other| other.guards.surely_hold_under(&requirement.guards)).collect();
        let same = |other: &&&Requirement| {
            other.product == requirement.product && other.negative == requirement.negative
        };
        let nonzero = |atom: AtomId| {
            let strict = by.iter().filter(|other| other.demand != Demand::NotNegative);
            let mut factors = strict.flat_map(|other| self.monomials.factors(other.product));
            factors.any(|(known, _)| *known == atom)
        };
        let alone = |atom: AtomId, demands: &[Demand]| {
            by.iter().any(|other| {
                !other.negative
                    && demands.contains(&other.demand)
                    && *self.monomials.factors(other.product) == [(atom, 1)]
            })
        };
        let factors = self.monomials.factors(requirement.product);
        let none_zero = || factors.iter().all(|(atom, _)| nonzero(*atom));
        // Each factor separately; even powers are never negative.
        let not_negative = || {
            let demands = [Demand::Positive, Demand::NotNegative];
            !requirement.negative
                && factors.iter().all(|(atom, power)| power % 2 == 0 || alone(*atom, &demands))
        };
        let known = |demands: &[Demand]| by.iter().filter(same).any(|other| demands.contains(&other.demand));
        match requirement.demand {
            Demand::Nonzero => none_zero(),
            Demand::NotNegative => known(&[Demand::Positive, Demand::NotNegative]) || not_negative(),
            Demand::Positive => {
                known(&[Demand::Positive]) || none_zero() && (known(&[Demand::NotNegative]) || not_negative())
            }
        }
    }

    /// The polynomial that a requirement is about, if its product is a single named sum.
    pub(super) fn requirement_content(&self, requirement: &Requirement) -> Option<PolynomialId> {
        match self.monomials.factors(requirement.product) {
            [(atom, 1)] => self.atom(*atom).sum(),
            _ => None,
        }
    }
}
