//! Replays the proofs of a certificate, case by case.

use crate::eval::{Evaluation, Lemma, Mode, Stop, Value};
use crate::form::{Forms, Poly};
use crate::laws::{Laws, Table};
use crate::readings::Readings;
use crate::sign::Signs;
use crate::text::{Certificate, Class, Operand, Step};
use std::collections::HashMap;

/// Why a proof was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub why: String,
    /// In which case: for each split from the outermost one, whether it is the second.
    pub case: Vec<bool>,
    /// A term that compares two numbers and is not decided there: the case may be split by it.
    pub hint: Option<u32>,
}

/// What a certificate shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Elements of the classes whose proofs hold.
    pub certified: u64,
    /// All elements.
    pub elements: u64,
    /// The names of classes whose proofs are refused, and why.
    pub refused: Vec<(String, String)>,
    /// Those without a proof, the number of their elements, and why.
    pub open: Vec<(String, u64, String)>,
    /// How literals are read, as text.
    pub readings: Vec<String>,
}

/// Replays all proofs of a certificate, each within a number of steps.
pub fn check(certificate: &Certificate, table: &Table, steps: u64) -> Checked {
    let mut checked = Checked::default();
    let mut checker = Checker::default();
    for class in &certificate.classes {
        checked.elements = checked.elements.saturating_add(class.elements);
        if let Step::Open(why) = &class.step {
            checked.open.push((class.name.clone(), class.elements, why.clone()));
            continue;
        }
        let proved = table.named(&class.laws).and_then(|laws| {
            let proved = checker.prove(certificate, class, &laws, &mut steps.clone());
            proved.map_err(|failure| failure.why)
        });
        match proved {
            Ok(_) => checked.certified = checked.certified.saturating_add(class.elements),
            Err(why) => checked.refused.push((class.name.clone(), why)),
        }
    }
    checked.readings = checker.readings.told();
    checked
}

/// Checks proofs of one certificate one after the other. Its terms may become more from one to the next.
#[derive(Debug, Default)]
pub struct Checker {
    /// The pairs of terms that were proved, with literals as they are, and as they are read.
    lemmas: [HashMap<[u32; 2], Lemma>; 2],
    readings: Readings,
}

impl Checker {
    /// Replays a proof with some laws. Returns those that it used, and takes the steps from those that are left. Later
    /// proofs that read literals in the same way may cut at its terms.
    ///
    /// # Errors
    /// The first case that is not proved.
    pub fn prove(
        &mut self,
        certificate: &Certificate,
        class: &Class,
        laws: &Laws,
        steps: &mut u64,
    ) -> Result<Laws, Failure> {
        let failure = |why| Failure { why, ..Failure::default() };
        if class.reads {
            self.readings.check(certificate, class).map_err(failure)?;
        }
        let lemmas = &mut self.lemmas[usize::from(class.reads)];
        let mut cuts = Vec::with_capacity(class.cuts.len());
        for pair in &class.cuts {
            let lemma = lemmas.get(pair);
            let lemma =
                lemma.ok_or_else(|| failure(format!("{} and {} were not proved", pair[0], pair[1])))?;
            cuts.push((*pair, *lemma));
        }
        let readings = class.reads.then_some(&self.readings);
        let evaluation = Evaluation::new(certificate, readings, &cuts, Forms::new(laws, *steps));
        let signs = Some(Signs::NONE);
        let mut replay = Replay { evaluation, roots: class.roots, case: Vec::new(), signs };
        let result = replay.step(&class.step);
        let Replay { evaluation: Evaluation { forms, is_total, .. }, signs, .. } = replay;
        *steps = forms.left;
        if let (Ok(()), Some(signs)) = (&result, signs.filter(|signs| *signs != Signs::NONE)) {
            lemmas.insert(class.roots, Lemma { signs, is_total });
        }
        result.map(|()| forms.used)
    }

    /// Whether both terms of a pair that was proved are defined everywhere: then later proofs cut at both on both sides.
    pub fn is_total(&self, pair: [u32; 2]) -> bool {
        self.lemmas.iter().any(|lemmas| lemmas.get(&pair).is_some_and(|lemma| lemma.is_total))
    }
}

struct Replay<'c> {
    evaluation: Evaluation<'c>,
    roots: [u32; 2],
    case: Vec<bool>,
    /// The signs that the terms have in the cases so far; none if they are not finite numbers.
    signs: Option<Signs>,
}

impl Replay<'_> {
    fn failure(&self, why: impl Into<String>) -> Failure {
        let hint = self.evaluation.compared.values().min().copied();
        Failure { why: why.into(), case: self.case.clone(), hint }
    }

    fn step(&mut self, step: &Step) -> Result<(), Failure> {
        self.evaluation.forget();
        let (low, high, arms) = match step {
            Step::Equal => return self.equal(),
            Step::Open(why) => return Err(self.failure(why)),
            Step::Split(low, high, arms) => (low, high, arms),
        };
        for law in ["orders_of_maxima", "orders_of_choices"] {
            if !self.evaluation.forms.uses(law) {
                return Err(self.failure(format!("cases need the law `{law}`")));
            }
        }
        let gap = match self.gap(low, high) {
            Ok(gap) => gap,
            Err(Stop::Vacuous) => return Ok(()),
            Err(Stop::Refused(why)) => return Err(self.failure(why)),
        };
        let opposite = self.evaluation.forms.negated(&gap);
        let facts = self.evaluation.forms.facts.clone();
        for (gap, signs, arm) in [(gap, Signs::POSITIVE, &arms[0]), (opposite, Signs::NOT_NEGATIVE, &arms[1])]
        {
            self.case.push(signs != Signs::POSITIVE);
            if self.evaluation.forms.learn(&gap, signs).map_err(|why| self.failure(why))? {
                self.step(arm)?;
            }
            // What is known in this case is not known in the next one.
            self.evaluation.forms.facts = facts.clone();
            self.evaluation.forget();
            self.case.pop();
        }
        Ok(())
    }

    /// What the second of two operands has more than the first, with what the reference demands known.
    fn gap(&mut self, low: &Operand, high: &Operand) -> Result<Poly, Stop> {
        self.evaluation.eval(self.roots[0], Mode::Assumed)?;
        let (low, high) = (self.evaluation.operand(low)?, self.evaluation.operand(high)?);
        Ok(self.evaluation.forms.sub(&high, &low))
    }

    fn equal(&mut self) -> Result<(), Failure> {
        let [reference, opt] = self.roots;
        let first = match self.evaluation.eval(reference, Mode::Assumed) {
            Ok(value) => value,
            Err(Stop::Vacuous) => return Ok(()),
            Err(Stop::Refused(_))
                if reference == opt && (opt as usize) < self.evaluation.certificate.nodes.len() =>
            {
                self.signs = None;
                return Ok(());
            }
            Err(Stop::Refused(why)) => return Err(self.failure(why)),
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
            Err(Stop::Refused(why)) => return Err(self.failure(why)),
        };
        let proved = match (&first, &second) {
            (Value::Finite(a), Value::Finite(b)) | (Value::Condition(a), Value::Condition(b)) => {
                self.evaluation.forms.equal(a, b).map_err(|why| self.failure(why))?
            }
            (Value::Infinite(a), Value::Infinite(b)) => a == b,
            _ => false,
        };
        if proved { Ok(()) } else { Err(self.failure("the forms of both terms differ")) }
    }
}
