//! Replays the proofs of a certificate, case by case.

use crate::eval::{Evaluation, Lemma, Mode, Stop, Value};
use crate::form::{Atom, Forms, Poly, PolyId};
use crate::laws::{Law, LawSet, Table};
use crate::readings::Readings;
use crate::sign::{Facts, Signs};
use crate::text::{Certificate, Class, Operand, Reading, Step};
use std::collections::{HashMap, HashSet};

/// Why a proof was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub why: String,
    /// In which case: for each split from the outermost one, whether it is the second.
    pub case: Vec<bool>,
    /// A comparison on which the forms depend there, by which the case may be split.
    pub hint: Option<[Operand; 2]>,
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
    let mut checker = Checker::default();
    for class in &certificate.classes {
        let laws = table.named(&class.proof.laws);
        let refused = laws
            .and_then(|laws| {
                checker.prove(certificate, class, laws, &mut steps.clone()).map_err(|failure| failure.why)
            })
            .err();
        checked.elements = checked.elements.saturating_add(class.elements);
        if refused.is_none() {
            checked.certified = checked.certified.saturating_add(class.elements);
            for Reading { literal, reciprocal, factor } in &class.proof.readings {
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

/// Checks proofs of one certificate one after the other. Its terms may become more from one to the next.
#[derive(Debug, Default)]
pub struct Checker {
    /// The pairs of terms that were proved, under the same readings.
    lemmas: HashMap<[u32; 2], Lemma>,
    readings: Readings,
}

impl Checker {
    /// Replays a proof with some laws. Returns those that it used, and takes the steps from those that are left. Later
    /// proofs with the same readings may cut at its terms.
    ///
    /// # Errors
    /// The first case that is not proved.
    pub fn prove(
        &mut self,
        certificate: &Certificate,
        class: &Class,
        laws: LawSet,
        steps: &mut u64,
    ) -> Result<LawSet, Failure> {
        let failure = |why| Failure { why, ..Failure::default() };
        let nodes = &certificate.nodes;
        if self.readings.change(&class.proof.readings) {
            self.lemmas.clear();
        }
        self.readings.check(nodes, class.roots).map_err(failure)?;
        let mut cuts = Vec::with_capacity(class.proof.cuts.len());
        for pair in &class.proof.cuts {
            let lemma = self.lemmas.get(pair);
            let lemma = lemma.ok_or_else(|| failure(format!("{} and {} were not proved", pair[0], pair[1])));
            cuts.push((*pair, lemma?.clone()));
        }
        let declared = certificate.inputs.iter().map(|input| Signs::from_declared(input.signs)).collect();
        let facts = Facts::new(declared, cuts.iter().map(|(pair, lemma)| (pair[0], lemma.signs)).collect());
        let evaluation = Evaluation::new(nodes, &self.readings, &cuts, Forms::new(laws, facts, *steps));
        let mut replay = Replay {
            evaluation,
            roots: class.roots,
            assumed: Vec::new(),
            case: Vec::new(),
            signs: Some(Signs::NONE),
        };
        let result = replay.step(&class.proof.step);
        let Replay { evaluation: Evaluation { forms, is_total, .. }, signs, .. } = replay;
        let used = forms.used;
        *steps = forms.left();
        if let (Ok(()), Some(signs)) = (&result, signs.filter(|signs| *signs != Signs::NONE)) {
            self.lemmas.insert(class.roots, Lemma { signs, is_total });
        }
        result.map(|()| used)
    }

    /// Whether both terms of a pair that was proved are defined everywhere: then later proofs cut at both on both sides.
    pub fn is_total(&self, pair: [u32; 2]) -> bool {
        self.lemmas.get(&pair).is_some_and(|lemma| lemma.is_total)
    }

    /// Searches the cases of a proof, and replays it. Nothing rests on how they are found. All attempts together take at
    /// most `steps`, which are subtracted.
    ///
    /// # Errors
    /// The first case that is not proved.
    pub fn search(
        &mut self,
        certificate: &Certificate,
        class: &Class,
        laws: LawSet,
        steps: &mut u64,
        splits: usize,
    ) -> Result<(Class, LawSet), Failure> {
        let mut class = class.clone();
        let mut last = Failure::default();
        for left in (0..=splits).rev() {
            last = match self.prove(certificate, &class, laws, steps) {
                Ok(used) => return Ok((class, used)),
                Err(failure) => failure,
            };
            let (Some(hint), true) = (&last.hint, left > 0) else { break };
            let [mut low, mut high] = hint.clone();
            let mut at = &mut class.proof.step;
            for second in &last.case {
                let Step::Split(first, other, arms) = at else { return Err(last) };
                if *first == low && *other == high {
                    (low, high) = (high, low);
                }
                at = &mut arms[usize::from(*second)];
            }
            *at = Step::Split(low, high, Box::new([Step::Equal, Step::Equal]));
        }
        Err(last)
    }
}

struct Replay<'c> {
    evaluation: Evaluation<'c>,
    roots: [u32; 2],
    /// What the cases say, with sums of what they say: a number that is positive, or that is not negative if `false`;
    /// and of how many cases.
    assumed: Vec<(Poly, bool, usize)>,
    case: Vec<bool>,
    /// The signs that the terms have in the cases so far; none if they are not finite numbers.
    signs: Option<Signs>,
}

/// So many sums of what cases say are looked at.
const MAX_ASSUMED: usize = 256;
/// Of so many cases.
const MAX_SUMMANDS: usize = 3;

impl Replay<'_> {
    fn failure(&self, why: impl Into<String>) -> Failure {
        Failure { why: why.into(), case: self.case.clone(), hint: None }
    }

    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        let Step::Split(low, high, arms) = step else { return self.equal() };
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
        let before = self.assumed.len();
        for (second, arm) in arms.iter().enumerate() {
            self.case.push(second == 1);
            let possible = if second == 1 { self.assume(&opposite, false) } else { self.assume(&gap, true) };
            if possible.map_err(|why| self.failure(why))? {
                self.step(arm)?;
            }
            self.evaluation.forms.facts = facts.clone();
            self.assumed.truncate(before);
            self.case.pop();
        }
        Ok(())
    }

    /// What the second of two operands has more than the first.
    fn gap(&mut self, low: &Operand, high: &Operand) -> Result<Poly, Stop> {
        // What the reference demands is known before the operands are looked at.
        self.evaluation.eval(self.roots[0], Mode::Assumed)?;
        let (low, high) = (self.evaluation.operand(low)?, self.evaluation.operand(high)?);
        Ok(self.evaluation.forms.sub(&high, &low))
    }

    /// Assumes a number to be positive, or not negative, with its sums with what was assumed before. Whether that can be.
    fn assume(&mut self, gap: &Poly, strict: bool) -> Result<bool, String> {
        let signs = |strict| if strict { Signs::POSITIVE } else { Signs::NOT_NEGATIVE };
        let forms = &mut self.evaluation.forms;
        if !forms.learn(gap, signs(strict))? {
            return Ok(false);
        }
        let before: Vec<_> = self.assumed.iter().filter(|(.., of)| *of < MAX_SUMMANDS).cloned().collect();
        self.assumed.push((gap.clone(), strict, 1));
        for (other, also, of) in before {
            if self.assumed.len() >= MAX_ASSUMED {
                break;
            }
            forms.charge(gap.len() + other.len())?;
            let (sum, strict) = (forms.add(gap, &other), strict || also);
            if !forms.learn_sum(&sum, signs(strict)) {
                return Ok(false);
            }
            self.assumed.push((sum, strict, of + 1));
        }
        Ok(true)
    }

    fn equal(&mut self) -> Result<(), Failure> {
        let [reference, opt] = self.roots;
        self.evaluation.forget();
        let first = match self.evaluation.eval(reference, Mode::Assumed) {
            Ok(value) => value,
            Err(Stop::Vacuous) => return Ok(()),
            Err(Stop::Refused(_)) if reference == opt && (opt as usize) < self.evaluation.nodes.len() => {
                self.signs = None;
                return Ok(());
            }
            Err(Stop::Refused(why)) => return Err(self.open(why, &[])),
        };
        self.signs = match (&first, self.signs) {
            (Value::Finite(form), Some(signs)) => Some(signs.or(self.evaluation.forms.sign(form))),
            _ => None,
        };
        if reference == opt {
            return Ok(());
        }
        let second = match self.evaluation.eval(opt, Mode::Demanded) {
            Ok(value) => value,
            Err(Stop::Vacuous) => return Err(self.failure("the second term has no value")),
            Err(Stop::Refused(why)) => return Err(self.open(why, &[first])),
        };
        let proved = match (&first, &second) {
            (Value::Finite(a), Value::Finite(b)) | (Value::Condition(a), Value::Condition(b)) => {
                self.evaluation.forms.equal(a, b)
            }
            (Value::Infinite(a), Value::Infinite(b)) => Ok(a == b),
            _ => Ok(false),
        };
        match proved {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.open("the forms of both terms differ".to_string(), &[first, second])),
            Err(why) => Err(self.failure(why)),
        }
    }

    /// The failure of a case, with a comparison that was not decided, on which the values depend.
    fn open(&self, why: String, values: &[Value]) -> Failure {
        let mut failure = self.failure(why);
        let forms = &self.evaluation.forms;
        let finite = |value: &Value| if let Value::Finite(form) = value { Some(form.clone()) } else { None };
        let mut open: Vec<Poly> = values.iter().filter_map(finite).collect();
        if let [a, b] = open.as_slice() {
            open = vec![forms.sub(a, b)];
        }
        let mut seen: HashSet<PolyId> = HashSet::new();
        let mut found: Vec<&[Operand; 2]> = self.evaluation.undecided.iter().collect();
        while let Some(form) = open.pop() {
            for (atom, _) in form.iter().flat_map(|(mono, _)| forms.factors(*mono).to_vec()) {
                found.extend(self.evaluation.compared.get(&atom));
                let inner = match forms.atoms.get(atom) {
                    Atom::Max(of) | Atom::Apply(_, of) => &**of,
                    Atom::Sum(of) | Atom::Positive(of) => std::slice::from_ref(of),
                    Atom::Input(..) | Atom::Cut(_) | Atom::Log2E => &[],
                };
                open.extend(inner.iter().filter(|id| seen.insert(**id)).map(|id| forms.poly(*id)));
            }
        }
        // Others may depend on the one that was computed first.
        let last = |pair: &&&[Operand; 2]| {
            pair.iter().map(|of| if let Operand::Term(at) = of { *at } else { 0 }).max()
        };
        failure.hint = found.iter().min_by_key(last).map(|pair| (*pair).clone());
        failure
    }
}
