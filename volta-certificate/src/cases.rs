//! Replays the proofs of a certificate, case by case.

use crate::eval::{Evaluation, Mode, Stop, Value};
use crate::form::{Atom, Cond, Forms, Made, Poly, PolyId};
use crate::laws::{Law, LawSet, Table};
use crate::number::Number;
use crate::sign::{Facts, Signs};
use crate::text::{Certificate, Class, Node, Operand, Proof, Reading, Step};
use std::collections::HashSet;

/// The comparison that a form depends on, by which cases may be split.
pub type Hint = [Operand; 2];

/// Why a proof was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub why: String,
    /// In which case: for each split from the outermost one, whether it is the second.
    pub case: Vec<bool>,
    /// What might help there.
    pub hint: Option<Hint>,
    /// A contradiction among the cases there.
    pub vacuous: Option<Vec<(usize, Number)>>,
}

/// What a proof took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    /// The laws that were applied.
    used: LawSet,
    /// The steps.
    steps: u64,
}

/// What a certificate shows of one class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The name of the element that was proved.
    pub name: String,
    /// The number of elements of the class.
    pub elements: u64,
    /// Why the proof is refused, if it is.
    pub refused: Option<String>,
}

/// What a certificate shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The classes.
    pub classes: Vec<Outcome>,
    /// How literals are read, as text, each once.
    pub readings: Vec<String>,
    /// Elements of the classes whose proofs hold.
    pub certified: u64,
    /// All elements.
    pub elements: u64,
}

impl Checked {
    /// Whether no proof was refused.
    pub fn is_sound(&self) -> bool {
        self.classes.iter().all(|class| class.refused.is_none())
    }
}

/// Replays all proofs of a certificate, each within a number of steps.
pub fn check(certificate: &Certificate, table: &Table, steps: u64) -> Checked {
    let mut checked = Checked::default();
    for class in &certificate.classes {
        let refused = table
            .named(&class.proof.laws)
            .and_then(|laws| replay(certificate, class, laws, steps).map_err(|failure| failure.why))
            .err();
        checked.elements = checked.elements.saturating_add(class.elements);
        if refused.is_none() {
            checked.certified = checked.certified.saturating_add(class.elements);
            for reading in &class.proof.readings {
                let Reading { literal, reciprocal, factor } = reading;
                let text = format!("{literal} as {factor}·{}", if *reciprocal { "ln(2)" } else { "log2(e)" });
                if !checked.readings.contains(&text) {
                    checked.readings.push(text);
                }
            }
        }
        checked.classes.push(Outcome { name: class.name.clone(), elements: class.elements, refused });
    }
    checked.elements =
        certificate.open.iter().map(|open| open.elements).fold(checked.elements, u64::saturating_add);
    checked
}

/// Replays a proof with some laws. Returns those that it used.
///
/// # Errors
/// The first case that is not proved.
pub fn replay(certificate: &Certificate, class: &Class, laws: LawSet, steps: u64) -> Result<LawSet, Failure> {
    let mut cost = Cost::default();
    replay_counting(certificate, class, laws, steps, &mut cost).map(|()| cost.used)
}

fn replay_counting(
    certificate: &Certificate,
    class: &Class,
    laws: LawSet,
    steps: u64,
    cost: &mut Cost,
) -> Result<(), Failure> {
    let failure = |why| Failure { why, case: Vec::new(), hint: None, vacuous: None };
    let Proof { readings, cuts, step, .. } = &class.proof;
    check_literals(certificate, readings).map_err(failure)?;
    let declared = certificate.inputs.iter().map(|input| Signs::from_declared(input.signs)).collect();
    let forms = Forms::new(laws, Facts::new(declared), steps);
    let evaluation = Evaluation::new(&certificate.nodes, readings, cuts, forms);
    evaluation.check_readings(class.roots).map_err(failure)?;
    let mut replay = Replay { evaluation, roots: class.roots, assumed: Vec::new(), case: Vec::new() };
    let result = replay.step(step);
    *cost = Cost { used: replay.evaluation.forms.used, steps: steps - replay.evaluation.forms.left() };
    result
}

/// Searches the cases of a proof, and replays it. Nothing rests on how they are found. All attempts together take at
/// most `steps`, which are subtracted.
///
/// # Errors
/// The first case that is not proved.
pub fn search(
    certificate: &Certificate,
    class: &Class,
    laws: LawSet,
    steps: &mut u64,
    splits: usize,
) -> Result<(Class, LawSet), Failure> {
    let mut class = class.clone();
    for left in (0..=splits).rev() {
        let mut cost = Cost::default();
        let replayed = replay_counting(certificate, &class, laws, *steps, &mut cost);
        *steps -= cost.steps;
        let failure = match replayed {
            Ok(()) => return Ok((class, cost.used)),
            Err(failure) => failure,
        };
        let mut at = &mut class.proof.step;
        for second in &failure.case {
            let Step::Split(_, _, arms) = at else { return Err(failure) };
            at = &mut arms[usize::from(*second)];
        }
        match (&failure.vacuous, &failure.hint) {
            (Some(parts), _) => *at = Step::Vacuous(parts.clone()),
            (None, Some([low, high])) if left > 0 => {
                let arms = Box::new([Step::Equal, Step::Equal]);
                *at = Step::Split(low.clone(), high.clone(), arms);
            }
            (None, _) => return Err(failure),
        }
    }
    Err(Failure { why: "too many cases".to_string(), case: Vec::new(), hint: None, vacuous: None })
}

/// log₂ e, as a fraction that is too small by less than 10⁻⁴⁰.
const LOG2E: &str = "14426950408889634073599246810018921374266/10000000000000000000000000000000000000000";

/// Refuses readings of numbers that are not literals near what they are read as, or of powers of two times it.
fn check_literals(certificate: &Certificate, readings: &[Reading]) -> Made<()> {
    let log2e: Number = LOG2E.parse()?;
    let mut constants: [Option<Number>; 2] = [None, None];
    for Reading { literal, reciprocal, factor } in readings {
        let told = || format!("{literal} is not a literal near {factor} times what it is read as");
        let digits = certificate.nodes.iter().filter_map(|node| match node {
            Node::Literal(digits, number) if number == literal => Some(*digits),
            Node::Literal(..) | Node::Input(..) | Node::Number(_) | Node::Infinity(_) | Node::Apply(..) => {
                None
            }
        });
        let Some(digits) = digits.min() else { continue };
        let shift = Number::power_of_two(1 - i64::from(digits.clamp(1, 64))).ok_or_else(told)?;
        let of = if *reciprocal { log2e.recip().ok_or_else(told)? } else { log2e.clone() };
        let constant = factor.recip().ok_or_else(told)?.times(literal);
        let near = constant.times(&of.recip().ok_or_else(told)?).plus(&Number::Small(-1)).abs() <= shift;
        let value = factor.abs().rational();
        if !near || !value.numer().is_power_of_two() || !value.denom().is_power_of_two() {
            return Err(told());
        }
        let known = constants[usize::from(*reciprocal)].get_or_insert_with(|| constant.clone());
        if *known != constant {
            return Err("two literals are read as one constant".to_string());
        }
    }
    Ok(())
}

struct Replay<'c> {
    evaluation: Evaluation<'c>,
    roots: [u32; 2],
    /// What the cases say: a number that is positive, or that is not negative if `false`.
    assumed: Vec<(Poly, bool)>,
    case: Vec<bool>,
}

impl Replay<'_> {
    fn failure(&self, why: impl Into<String>) -> Failure {
        Failure { why: why.into(), case: self.case.clone(), hint: None, vacuous: None }
    }

    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        match step {
            Step::Equal => self.equal(),
            Step::Vacuous(parts) => {
                if self.is_contradiction(parts) {
                    Ok(())
                } else {
                    Err(self.failure("the cases do not contradict one another"))
                }
            }
            Step::Split(low, high, arms) => {
                for law in [Law::OrdersOfMaxima, Law::OrdersOfChoices] {
                    if !self.evaluation.forms.uses(law) {
                        return Err(self.failure(format!("cases need the law `{}`", law.name())));
                    }
                }
                self.evaluation.forget();
                let gap = match self.gap(low, high) {
                    Ok(gap) => gap,
                    Err(Stop::Vacuous) => return Ok(()),
                    Err(Stop::Refused(why)) => return Err(self.failure(why)),
                };
                let opposite = self.evaluation.forms.negated(&gap);
                let facts = self.evaluation.forms.facts.clone();
                for (second, arm) in arms.iter().enumerate() {
                    let second = second == 1;
                    let (assumed, signs) =
                        if second { (&opposite, Signs::NOT_NEGATIVE) } else { (&gap, Signs::POSITIVE) };
                    self.case.push(second);
                    self.assumed.push((assumed.clone(), !second));
                    let possible = self.evaluation.forms.learn(assumed, signs);
                    if possible.map_err(|why| self.failure(why))? {
                        self.step(arm)?;
                    }
                    self.evaluation.forms.facts = facts.clone();
                    self.assumed.pop();
                    self.case.pop();
                }
                Ok(())
            }
        }
    }

    /// What the second of two operands has more than the first.
    fn gap(&mut self, low: &Operand, high: &Operand) -> Result<Poly, Stop> {
        // What the reference demands is known before the operands are looked at.
        self.evaluation.eval(self.roots[0], Mode::Assumed)?;
        let (low, high) = (self.evaluation.operand(low)?, self.evaluation.operand(high)?);
        Ok(self.evaluation.forms.sub(&high, &low))
    }

    fn equal(&mut self) -> Result<(), Failure> {
        let [reference, opt] = self.roots;
        if reference == opt {
            return if (reference as usize) < self.evaluation.nodes() {
                Ok(())
            } else {
                Err(self.failure("no term"))
            };
        }
        self.evaluation.forget();
        let first = match self.evaluation.eval(reference, Mode::Assumed) {
            Ok(value) => value,
            Err(Stop::Vacuous) => return Ok(()),
            Err(Stop::Refused(why)) => return Err(self.open(why, &[])),
        };
        let second = match self.evaluation.eval(opt, Mode::Demanded) {
            Ok(value) => value,
            Err(Stop::Vacuous) => return Err(self.failure("the second term has no value")),
            Err(Stop::Refused(why)) => return Err(self.open(why, &[first])),
        };
        let proved = match (&first, &second) {
            (Value::Finite(a), Value::Finite(b)) => self.evaluation.forms.equal(a, b),
            (Value::Infinite(a), Value::Infinite(b)) => Ok(a == b),
            _ => Ok(false),
        };
        match proved {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.open("the forms of both terms differ".to_string(), &[first, second])),
            Err(why) => Err(self.failure(why)),
        }
    }

    /// Whether what some cases say, each times a positive factor, adds up to something false.
    fn is_contradiction(&self, parts: &[(usize, Number)]) -> bool {
        let forms = &self.evaluation.forms;
        let mut sum = forms.number(&Number::ZERO);
        let mut strict = false;
        for (at, factor) in parts {
            let Some((assumed, positive)) = self.assumed.get(*at).filter(|_| factor.signum() > 0) else {
                return false;
            };
            sum = forms.add(&sum, &forms.scaled(assumed, factor));
            strict |= positive;
        }
        forms.contradicts(&sum, strict)
    }

    /// The failure of a case, with what might help.
    fn open(&self, why: String, values: &[Value]) -> Failure {
        let mut failure = self.failure(why);
        let one = |at: &usize| (*at, Number::ONE);
        let all: Vec<usize> = (0..self.assumed.len()).collect();
        let pairs = all.iter().flat_map(|a| all.iter().map(move |b| [*a, *b, *b]));
        let triples = all.iter().flat_map(|a| {
            let all = &all;
            all.iter().flat_map(move |b| all.iter().map(move |c| [*a, *b, *c]))
        });
        let mut sets = pairs.chain(triples).map(|set| {
            let set: std::collections::BTreeSet<usize> = set.into();
            set.iter().map(one).collect::<Vec<_>>()
        });
        failure.vacuous = sets.find(|parts| self.is_contradiction(parts));
        failure.hint = self.hint(values);
        failure
    }

    /// A comparison that was not decided, on which the values depend.
    fn hint(&self, values: &[Value]) -> Option<Hint> {
        let forms = &self.evaluation.forms;
        let mut open: Vec<Poly> = values
            .iter()
            .filter_map(|value| match value {
                Value::Finite(form) => Some(form.clone()),
                Value::Infinite(_) | Value::Condition(_) => None,
            })
            .collect();
        if let [a, b] = open.as_slice() {
            open = vec![forms.sub(a, b)];
        }
        let mut seen: HashSet<PolyId> = HashSet::new();
        let mut left = MAX_LOOKED_AT;
        while let Some(form) = open.pop() {
            for (mono, _) in form.iter() {
                for (atom, _) in forms.factors(*mono).iter() {
                    left = left.checked_sub(1)?;
                    let mut inner: Vec<PolyId> = Vec::new();
                    match forms.atoms.get(*atom) {
                        Atom::Max(arms) => {
                            if let Some(pair) = self.evaluation.compared.get(atom) {
                                return Some(pair.clone());
                            }
                            inner.extend(arms);
                        }
                        Atom::Select(condition, a, b) => {
                            if let Some(pair) = self.ordered(*condition) {
                                return Some(pair);
                            }
                            inner.extend([a, b]);
                        }
                        Atom::Apply(_, of) => inner.extend(of),
                        Atom::Sum(sum) => inner.push(*sum),
                        Atom::Input(..) | Atom::Cut(_) | Atom::Log2E => {}
                    }
                    open.extend(inner.into_iter().filter(|id| seen.insert(*id)).map(|id| forms.poly(id)));
                }
            }
        }
        None
    }

    fn ordered(&self, condition: u32) -> Option<Hint> {
        let mut open = vec![condition];
        while let Some(condition) = open.pop() {
            if let Some(pair) = self.evaluation.ordered.get(&condition) {
                return Some(pair.clone());
            }
            match self.evaluation.forms.conds.get(condition) {
                Cond::Not(a) => open.push(*a),
                Cond::And(a, b) | Cond::Or(a, b) | Cond::Xor(a, b) => open.extend([b, a]),
                Cond::Known(_) | Cond::Positive(_) | Cond::Zero(_) => {}
            }
        }
        None
    }
}

/// So many atoms are looked at to find a comparison.
const MAX_LOOKED_AT: usize = 1 << 14;
