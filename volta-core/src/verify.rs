//! From a case to a report: runs both kernels, then compares their outputs element by element.

use crate::base::index::InstId;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use crate::base::assumption::{Assumption, AssumptionKind};
use crate::base::budget::Held;
use crate::base::watch::Activity;
use crate::by_classes::has_one_thread;
use crate::case::{Case, Claim, Contents, FormsWanted, Param, ParamKind, Role, Side, Which};
use crate::conditions::{Conditions, Pair, Valued, forms};
use crate::decide::forms::{Forms, tell};
use crate::decide::{self, Failure, InputInfo};
use crate::element_map::element_maps;
use crate::every_size::Known;
use crate::formula::Formula;
use crate::given::{Mentions, given};
use crate::machine::{self, Alternative, Execution, Output, OutputValue, RunError, integer_constant};
use crate::multiset;
use crate::progress::{decided, ended, findings, run_verdict, undecided};
use crate::sound_case::{check_params, check_part, check_pointers, check_variables};
use crate::steps::{self, Programs, Ran, Sides};
use crate::term::{Store, element_index, spell_element};
use crate::unused::unused_inputs;
use crate::verdict::{
    Difference, Explanation, Fault, FaultKind, FormsDigest, How, InputError, InputProblem, Report, Unknown,
    UnknownReason, Verdict, Witness,
};

/// Verifies a case: two kernels for equivalence and both for faults, or one kernel for faults.
///
/// Never panics on a wrong case or wrong PTX, which are [`Verdict::InputError`].
pub fn verify(case: &Case) -> Report {
    let run = || match case.options.rules.claim {
        Claim::Reals => crate::claims::of_reals(case),
        claim @ (Claim::Order | Claim::BitsUpToFma | Claim::Bits) => crate::claims::of_bits(case, claim),
        Claim::Finite => crate::finite::of_floats(case),
    };
    let work = || on_threads(case.options.threads, run);
    caught(work).unwrap_or_else(Report::of)
}

/// As [`verify`], of a case about reals whose kernels may have been read already; on the threads of the caller.
pub(crate) fn verify_known(case: &Case, known: &Known) -> Report {
    let work = || Verification { sides: Arc::new(known.sides(case)), ..Verification::new(case) }.run();
    caught(work).unwrap_or_else(Report::of)
}

/// Runs both kernels of a case, and returns the equalities to be decided instead of deciding them.
///
/// # Errors
/// The verdict, where running determines it: a fault, an element that only one side writes, a case with one kernel, ….
pub fn conditions(case: &Case) -> Result<Conditions, Verdict> {
    if case.reference.is_none() {
        return Err(Verdict::InputError(InputError {
            help: Some("name the kernel that is right under [reference]".into()),
            ..InputError::new(InputProblem::NothingToCompare, "a case with one kernel has nothing to compare")
        }));
    }
    let work = || {
        let mut verification = Verification::new(case);
        match verification.execute().map(<[Execution; 2]>::try_from) {
            Some(Ok([reference, opt])) => verification.pair(reference, opt),
            Some(Err(_)) | None => Err(verification.report.verdict),
        }
    };
    caught(|| on_threads(case.options.threads, work)).unwrap_or_else(Err)
}

/// What the kernels of a case compute.
#[derive(Clone, Debug)]
pub struct Formulas {
    /// What the case declares of the inputs.
    pub inputs: Vec<InputInfo>,
    /// The reference, if there is one, and the optimized kernel.
    pub sides: Vec<SideFormula>,
}

/// What one kernel computes.
#[derive(Clone, Debug)]
pub struct SideFormula {
    /// Which kernel.
    pub side: Which,
    /// The digest of the forms of all elements.
    pub digest: FormsDigest,
    /// All elements as a formula.
    pub formula: Formula,
}

/// Runs the kernels of a case, and returns what each computes. Nothing is proved.
///
/// # Errors
///
/// The verdict, where running determines it, such as a fault.
pub fn formulas(case: &Case) -> Result<Formulas, Verdict> {
    let work = || {
        let mut verification = Verification::new(case);
        let outcomes = verification.execute().ok_or(verification.report.verdict.clone())?;
        let sides = [Which::Reference, Which::Opt];
        let sides = sides.into_iter().skip(2 - outcomes.len()).zip(&outcomes).map(|(side, outcome)| {
            let (digest, formula) = verification.forms(outcome).told();
            SideFormula { side, digest, formula }
        });
        Ok(Formulas { sides: sides.collect(), inputs: verification.inputs })
    };
    caught(|| on_threads(case.options.threads, work)).unwrap_or_else(Err)
}

/// Whether nothing was executed of a side, since it cannot be as it was asked for.
fn is_declined(ran: &Result<Ran, InputError>) -> bool {
    ran.as_ref().is_ok_and(|ran| ran.outcome.as_ref().is_ok_and(|outcome| outcome.is_declined))
}

/// The result of `work`; a panic in it is a defect of the verifier and says nothing about the case.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Verdict> {
    // `work` borrows the case without changing it, so nothing it changed survives a panic.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Verdict::Unknown(Unknown::internal(format!("the verifier panicked: {text}")))
    })
}

pub(crate) fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    if threads == 0 {
        // The global thread pool has warm threads.
        return work();
    }
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        // Without threads of its own, the case uses the global pool.
        Err(_) => work(),
    }
}

pub(crate) struct Verification<'c> {
    pub(crate) case: &'c Case,
    /// Those of the reference, if there is one, and of the optimized kernel, once they have run.
    pub(crate) programs: Vec<Programs>,
    pub(crate) inputs: Vec<InputInfo>,
    pub(crate) report: Report,
    /// Whether one CTA is executed for all that do the same.
    pub(crate) by_classes: bool,
    /// The kernels, shared by all runs of the case.
    pub(crate) sides: Arc<Sides>,
}

impl<'c> Verification<'c> {
    pub(crate) fn new(case: &'c Case) -> Verification<'c> {
        let inputs = case.params.iter().map(|param| InputInfo {
            name: param.name.clone(),
            shape: shape(param).to_vec(),
            sign: param.sign(),
            integers: param.integers(),
            distinct: param.is_distinct(),
            formats: param.formats(),
        });
        let (inputs, report) = (inputs.collect(), Report::of(Verdict::Clean));
        let (programs, sides) = (Vec::new(), Arc::default());
        Verification { case, programs, inputs, report, by_classes: false, sides }
    }

    pub(crate) fn run(self) -> Report {
        self.run_by_classes().unwrap_or_else(|| self.each())
    }

    /// Executes every CTA.
    fn each(mut self) -> Report {
        match self.execute() {
            Some(outcomes) => self.compared(outcomes),
            None => self.report,
        }
    }

    /// Compares what was executed.
    pub(crate) fn compared(mut self, outcomes: Vec<Execution>) -> Report {
        let started = Instant::now();
        match <[Execution; 2]>::try_from(outcomes) {
            Ok([reference, opt]) => match self.pair(reference, opt) {
                Ok(conditions) if self.case.options.ieee => self.decide_bits(&conditions),
                Ok(conditions) => self.decide(conditions),
                Err(verdict) => self.report.verdict = verdict,
            },
            Err(outcomes) => outcomes.iter().for_each(|opt| self.single(opt)),
        }
        self.report.solve_seconds = started.elapsed().as_secs_f64();
        self.report
    }

    /// Runs the kernels; `None` where that already determined the verdict.
    pub(crate) fn execute(&mut self) -> Option<Vec<Execution>> {
        let case = self.case;
        if let Err(error) = check_params(&case.params, case.options.rules.claim)
            .and_then(|()| check_pointers(case))
            .and_then(|()| check_part(case))
            .and_then(|()| crate::accuracy::check(case))
        {
            self.report.verdict = Verdict::InputError(error);
            return None;
        }
        let load = |which, side| self.sides.loaded(which, side);
        let opt = || load(Which::Opt, &case.opt);
        let (reference, opt) = match &case.reference {
            Some(side) => {
                let (reference, opt) = rayon::join(|| load(Which::Reference, side), opt);
                (Some(reference), opt)
            }
            None => (None, opt()),
        };
        if let Err(error) = check_variables(&case.params, reference.iter().chain([&opt])) {
            self.report.verdict = Verdict::InputError(error);
            return None;
        }
        let by_classes = self.by_classes;
        let run = |which, loaded, side| steps::run(which, loaded, side, case, (by_classes, &self.inputs));
        let opt = || opt.map(|loaded| run(Which::Opt, loaded, &case.opt));
        let (reference, opt) = match case.reference.as_ref().zip(reference) {
            Some((side, loaded)) => {
                let reference = || loaded.map(|loaded| run(Which::Reference, loaded, side));
                let (reference, opt) = if by_classes && has_one_thread(side) {
                    // Where its iterations are no CTAs, all is executed anew.
                    let reference = reference();
                    if is_declined(&reference) {
                        return None;
                    }
                    (reference, opt())
                } else {
                    rayon::join(reference, opt)
                };
                (Some(reference), opt)
            }
            None => (None, opt()),
        };
        if reference.iter().chain([&opt]).any(is_declined) {
            return None;
        }
        let (mut outcomes, mut mentions, mut relied) = (Vec::new(), Vec::new(), BTreeSet::new());
        let (mut failed, mut faults) = (None, Vec::new());
        for (which, ran) in [(Which::Reference, reference), (Which::Opt, Some(opt))] {
            let Some(ran) = ran else { continue };
            let Ran { outcome, assumptions, stats, mentioned, programs } = match ran {
                Ok(ran) => ran,
                Err(error) => {
                    failed = failed.or(Some(Verdict::InputError(error)));
                    continue;
                }
            };
            self.programs.push(programs);
            mentions.extend(mentioned.into_iter().map(|(step, own)| ((which, step), own)));
            relied.extend(assumptions);
            match which {
                Which::Reference => self.report.reference = Some(stats),
                Which::Opt => self.report.opt = stats,
            }
            match outcome {
                Ok(outcome) => outcomes.push(outcome),
                Err(RunError::Fault(first, also)) => {
                    failed = failed.or_else(|| Some(Verdict::Fault((*first).clone())));
                    faults.push(std::iter::once(*first).chain(also).collect());
                }
                Err(RunError::Possible(possible)) => {
                    let held = Held { terms: possible.store.bytes(), ..Held::default() };
                    let (options, is_wanted) = (self.decide_options(held), !case.options.only_clean);
                    let verdict = decided(*possible, &self.inputs, &options, is_wanted);
                    if let Verdict::Fault(fault) = &verdict {
                        faults.push(vec![fault.clone()]);
                    }
                    failed = failed.or(Some(verdict));
                }
                Err(error) => failed = failed.or(Some(run_verdict(which, error))),
            }
        }
        if let Some(Verdict::Fault(_)) = failed {
            self.report.also = findings(faults);
            self.report.also.remove(0);
        }
        self.assume(relied, &mentions);
        if !case.options.ieee
            && outcomes.iter().flat_map(|outcome| &outcome.stores).any(Store::has_infinities)
        {
            let finite = "inputs are finite: infinities occur only as constants (V3)";
            self.report.assumptions.insert(1, Assumption::model(finite));
        }
        if let Some(verdict) = failed {
            self.report.verdict = verdict;
            return None;
        }
        let sides = [Which::Reference, Which::Opt].into_iter().skip(2 - outcomes.len());
        if let Some(verdict) =
            sides.zip(&outcomes).find_map(|(which, outcome)| self.in_all_orders(which, outcome))
        {
            self.report.verdict = verdict;
            return None;
        }
        self.report.unused = unused_inputs(&case.params, &outcomes);
        Some(outcomes)
    }

    /// Whether all orders of atomic operations leave the same outputs (rule Y18); the verdict if they do not.
    fn in_all_orders(&self, which: Which, outcome: &Execution) -> Option<Verdict> {
        let (mut pairs, mut compared) = (Vec::new(), Vec::new());
        let name = |alternative: &Alternative| {
            let param = &self.case.params[alternative.param];
            spell_element(&param.name, shape(param), alternative.element)
        };
        let differs = |alternative: &Alternative| {
            let kind =
                if alternative.is_followed { FaultKind::Unsupported } else { FaultKind::Nondeterministic };
            let message = format!(
                "the output {} depends on the order of atomic operations: in two of their orders, its values differ",
                name(alternative)
            );
            let help = "what a kernel leaves must not depend on which thread an atomic operation tells that it is the \
                        last, or the first";
            let fault =
                Fault::new(which, kind, "Y18", message, alternative.sites.to_vec(), Some(help.into()));
            Some(Verdict::Fault(Fault { step: alternative.step, ..fault }))
        };
        let undecided = |alternative: &Alternative, reason: String| {
            let reason =
                format!("whether {} depends on the order of atomic operations: {reason}", name(alternative));
            let kind = UnknownReason::Undecided;
            Some(Verdict::Unknown(Unknown { kind, reason, progress: None, help: None }))
        };
        let one_known = || "its value is a known number in one of them only".to_string();
        for alternative in &outcome.alternatives {
            let [(own, value), (other, there)] = alternative.values;
            match (value.term(), there.term()) {
                (Some(term), Some(same)) => {
                    let reference = (&outcome.stores[own], term);
                    pairs.push(decide::ElementPair { reference, opt: (&outcome.stores[other], same) });
                    compared.push(alternative);
                }
                (None, None) => return differs(alternative),
                (Some(_), None) | (None, Some(_)) => return undecided(alternative, one_known()),
            }
        }
        let decision = decide::decide(&pairs, &self.inputs, &self.decide_options(outcome.held));
        let Some((at, failure)) = decision.first_failure else {
            if let Some(open) = compared.iter().find(|alternative| !alternative.is_complete) {
                return undecided(open, "there are too many orders to execute".into());
            }
            let (first, condition) = (compared.first()?, decision.conditions.first()?);
            return undecided(first, format!("it is the same only where {condition}"));
        };
        match failure {
            Failure::Different(_) => differs(compared[at]),
            Failure::Undefined { reason, .. } | Failure::Unknown { reason } => {
                undecided(compared[at], reason)
            }
            Failure::Exhausted(exhausted) => {
                let told = format!("while comparing orders of atomic operations, {exhausted}");
                Some(ended(exhausted, told, None))
            }
        }
    }

    /// Notes the assumptions of the verdict, as far as running shows them.
    fn assume(&mut self, relied: BTreeSet<Assumption>, mentions: &[((Which, usize), Mentions)]) {
        let list = &mut self.report.assumptions;
        list.push(Assumption::model(if self.case.options.ieee {
            "floats are those of IEEE 754, operations those that the PTX says, and NaN is one value (B1)"
        } else {
            "floating-point values are real numbers: rounding, overflow and NaN are outside the model (V2)"
        }));
        let (given, narrows) = given(self.case, mentions);
        list.extend(given);
        // Data given outside the parameters is noted when a kernel reads it.
        let read = relied.iter().any(|assumption| assumption.kind == AssumptionKind::Given);
        list.extend(relied);
        self.report.scope.restricted = narrows || read;
    }

    /// Whether outputs may stay unwritten in this case.
    fn may_leave_out(&self) -> bool {
        let mut sides = self.case.reference.iter().chain([&self.case.opt]);
        self.case.options.rules.partial || sides.any(Side::runs_in_part)
    }

    /// One kernel alone that ran without fault: its outputs must be written.
    pub(crate) fn single(&mut self, opt: &Execution) {
        self.report.verdict = Verdict::Clean;
        for (at, param) in self.case.params.iter().enumerate() {
            let Some(elements) = output_elements(param) else { continue };
            if param.is_set() {
                let of_bag = multiset::elements(opt).filter(|output| output.param == at).count();
                self.report.coverage.total += (of_bag + opt.outputs_of(at).len()) as u64;
                continue;
            }
            self.report.coverage.total += elements;
            let elements_written = opt.written(at);
            let written = elements_written.len() as u64;
            self.report.coverage.unwritten += elements - written;
            if written < elements && self.must_be_written(param) {
                let first = first_gap(&elements_written, elements);
                self.report.verdict = self.nobody_writes(param, first, elements - written);
                return;
            }
        }
        self.defined(opt);
        if self.case.options.forms == FormsWanted::Always && self.report.verdict == Verdict::Clean {
            let told = vec![self.forms(opt).told()];
            tell(&mut self.report, told);
        }
    }

    /// The normal forms of all output elements of one kernel.
    fn forms(&self, outcome: &Execution) -> Forms<'_> {
        let is_output = |output: &&Output| output_elements(&self.case.params[output.param]).is_some();
        let outputs = outcome.outputs.iter().filter(is_output);
        let values =
            outputs.map(|output| (output.param, output.element, &outcome.stores[output.store], output.value));
        forms(&self.inputs, &self.decide_options(outcome.held), values)
    }

    /// One kernel alone: each output must have a value at some input. Deciding it against itself computes its domain.
    pub(crate) fn defined(&mut self, opt: &Execution) {
        let doubtful: Vec<bool> = opt.stores.iter().map(Store::may_be_undefined).collect();
        let mut outputs = Vec::new();
        let mut elements = Vec::new();
        for output in opt.outputs.iter().filter(|output| doubtful[output.store]) {
            let (OutputValue::Integer(term) | OutputValue::Real(term)) = output.value else { continue };
            if output_elements(&self.case.params[output.param]).is_some() {
                let value = (&opt.stores[output.store], term);
                elements.push(decide::ElementPair { reference: value, opt: value });
                outputs.push(*output);
            }
        }
        for output in multiset::elements(opt).filter(|output| doubtful[output.store]) {
            if let Some(term) = output.value.term() {
                let value = (&opt.stores[output.store], term);
                elements.push(decide::ElementPair { reference: value, opt: value });
                outputs.push(output);
            }
        }
        let outcome = decide::decide(&elements, &self.inputs, &self.decide_options(opt.held));
        self.tell_domain(&outcome, "the outputs are");
        if let Some((at, failure)) = outcome.first_failure {
            let output = outputs[at];
            let param = &self.case.params[output.param];
            let name = spell_element(&param.name, shape(param), output.element);
            self.report.verdict = match failure {
                Failure::Undefined { reason, .. } => undefined(Which::Opt, &name, &reason),
                Failure::Exhausted(exhausted) => {
                    let told = format!("while looking for where {name} is defined, {exhausted}");
                    ended(exhausted, told, Some((outcome.equal, outputs.len(), self.case)))
                }
                Failure::Unknown { reason } => Verdict::Unknown(Unknown {
                    kind: UnknownReason::Undecided,
                    reason: format!("{name}: {reason}"),
                    progress: None,
                    help: None,
                }),
                // A term never differs from itself.
                Failure::Different(_) => {
                    Verdict::Unknown(Unknown::internal(format!("{name} was found to differ from itself")))
                }
            };
        }
    }

    /// The limits of deciding, beside the memory already held.
    pub(crate) fn decide_options(&self, held: Held) -> decide::DecisionOptions {
        decide::DecisionOptions {
            effort: decide::counterexample::SearchBudget::within(&self.case.options.budgets),
            budgets: self.case.options.budgets.clone(),
            held,
            every_element: self.case.options.every_element,
        }
    }

    /// Notes the domain of a claim.
    fn tell_domain(&mut self, outcome: &decide::Decision, who: &str) {
        for condition in &outcome.domain {
            let text = format!("{who} defined where {condition}");
            self.report.assumptions.push(Assumption::relied(text));
        }
        if outcome.more_domain > 0 {
            let text = format!("{who} defined where {} more conditions like these hold", outcome.more_domain);
            self.report.assumptions.push(Assumption::relied(text));
        }
        self.report.scope.domain.clone_from(&outcome.domain);
        self.report.scope.more = outcome.more_domain;
    }

    fn nobody_writes(&self, param: &Param, element: u64, count: u64) -> Verdict {
        let name = spell_element(&param.name, shape(param), element);
        let all = |extent: [u32; 3]| extent.into_iter().map(u64::from).fold(1, u64::saturating_mul);
        let launches = self.case.opt.launches().map(|(_, kernel)| {
            let (ctas, threads) = (all(kernel.launch.grid), all(kernel.launch.block));
            let ctas = if ctas == 1 { "1 block".into() } else { format!("{ctas} blocks") };
            format!("{ctas} of {threads} threads")
        });
        let launches: Vec<String> = launches.collect();
        let message =
            format!("{count} elements of the output `{}` are never written, the first is {name}", param.name);
        let help = format!(
            "the case launches {}: check `grid` and `block`, and the kernel's guard; say \
             `partial = true` if the case is not about all of the output",
            launches.join(", then ")
        );
        let kind = FaultKind::Uninitialised;
        Verdict::Fault(Fault::new(Which::Opt, kind, "S3", message, Vec::new(), Some(help)))
    }

    pub(crate) fn must_be_written(&self, param: &Param) -> bool {
        let undefined = matches!(&param.kind, ParamKind::Tensor { contents: Contents::Undefined, .. });
        undefined && !self.may_leave_out()
    }

    /// Two kernels: every element that either writes must be equal.
    pub(crate) fn pair(&mut self, reference: Execution, opt: Execution) -> Result<Conditions, Verdict> {
        for (which, outcome) in [(Which::Reference, &reference), (Which::Opt, &opt)] {
            if let Some((name, help)) = outcome.undeclared.first_key_value() {
                let message = format!(
                    "the variable `{name}` is written, and the case does not say whether it is compared (M5)"
                );
                return Err(Verdict::InputError(InputError {
                    side: Some(which),
                    help: Some(help.clone()),
                    ..InputError::new(InputProblem::Variable, message)
                }));
            }
        }
        let mut old = Store::new();
        if self.case.options.ieee {
            old.set_ieee();
        }
        old.set_integers(self.case.params.iter().map(Param::integers).collect());
        let mut pairs: Vec<Pair> = Vec::new();
        for (at, param) in self.case.params.iter().enumerate() {
            let Some(elements) = output_elements(param) else { continue };
            let before = pairs.len();
            if param.is_set() {
                self.pair_multisets(at, [&reference, &opt], &mut old, &mut pairs)?;
                continue;
            }
            self.pair_up(at, param, [&reference, &opt], &mut old, &mut pairs)?;
            let touched = (pairs.len() - before) as u64;
            self.report.coverage.total += elements;
            self.report.coverage.unwritten += elements - touched;
            if touched < elements && self.must_be_written(param) {
                let list: Vec<u64> = pairs[before..].iter().map(|pair| pair.element).collect();
                let first =
                    list.iter().zip(0..).find(|(element, at)| **element != *at).map_or(touched, |(_, at)| at);
                return Err(self.nobody_writes(param, first, elements - touched));
            }
        }
        if pairs.is_empty() {
            return Err(Verdict::InputError(InputError {
                help: Some(
                    "declare what the kernels write as `out` or `inout`, and run CTAs that write it".into(),
                ),
                ..InputError::new(
                    InputProblem::NothingToCompare,
                    "nothing was compared: no output element is written",
                )
            }));
        }
        if let Some(shard) = self.case.options.shard {
            self.keep_share(shard, &mut pairs);
        }
        let options = self.decide_options(reference.held.and(&opt.held));
        Ok(Conditions { inputs: self.inputs.clone(), options, reference, opt, old, pairs })
    }

    /// The elements that a side writes, with the old contents where the other does not and all its CTAs run.
    fn pair_up(
        &self,
        at: usize,
        param: &Param,
        [reference, opt]: [&Execution; 2],
        old: &mut Store,
        pairs: &mut Vec<Pair>,
    ) -> Result<(), Verdict> {
        let types = param.elements();
        let in_part = self.case.alone_in_part();
        let [mut left, mut right] = [reference, opt].map(|side| side.outputs_of(at).iter().peekable());
        loop {
            let [x, y] = [&mut left, &mut right].map(|side| side.peek().map(|output| output.element));
            let element = match (x, y) {
                (None, None) => return Ok(()),
                (Some(element), None) | (None, Some(element)) => element,
                (Some(x), Some(y)) => x.min(y),
            };
            let mut take = |side: Which| {
                let outputs = if side == Which::Reference { &mut left } else { &mut right };
                if let Some(output) = outputs.next_if(|output| output.element == element) {
                    return Ok(Some(Valued { store: Some(output.store), value: output.value }));
                }
                match machine::initial_value(side, param, at, element, old, &self.case.options.rules) {
                    _ if in_part[usize::from(side == Which::Opt)] => Ok(None),
                    Some(value) => Ok(Some(Valued { store: None, value })),
                    None => Err(difference(param, element, How::Unwritten { by: side })),
                }
            };
            let (Some(mut reference), Some(mut opt)) = (take(Which::Reference)?, take(Which::Opt)?) else {
                continue;
            };
            // If one side is concrete, it becomes a term like the other. In different types, the same number may have
            // other bits.
            let both = [reference, opt];
            for (which, one, other) in [(0, &mut reference, both[1]), (1, &mut opt, both[0])] {
                let is_alike = matches!(other.value, OutputValue::Bits(_)) && types[0] == types[1];
                if let (OutputValue::Bits(bits), false) = (one.value, is_alike) {
                    let value = integer_constant(types[which], bits, old);
                    *one = Valued { store: None, value: OutputValue::Integer(value) };
                }
            }
            pairs.push(Pair { param: at, element, reference, opt });
        }
    }

    /// Decides all elements. Returns the forms of the reference, if they are wanted whatever the verdict; nothing where
    /// known integers differ, so that no term was looked at.
    pub(crate) fn settle(
        &mut self,
        conditions: &Conditions,
        wanted: bool,
    ) -> Option<Option<(FormsDigest, Formula)>> {
        let pairs = &conditions.pairs;
        let (elements, positions) = conditions.to_decide();
        for (at, pair) in pairs.iter().enumerate() {
            if conditions.element(at).is_some() {
                continue;
            }
            match (pair.reference.value, pair.opt.value) {
                (left, right) if left == right => {}
                (left, right) => {
                    let say = |value: OutputValue| match value {
                        OutputValue::Bits(bits) => format!("{bits}"),
                        OutputValue::Integer(_) => "an integer".into(),
                        OutputValue::Real(_) => "a real".into(),
                    };
                    let witness = Witness {
                        inputs: Vec::new(),
                        zeros: 0,
                        reference: say(left),
                        opt: say(right),
                        explanation: None,
                        readings: Vec::new(),
                    };
                    let param = &self.case.params[pair.param];
                    self.report.coverage.compared = at as u64 + 1;
                    // Two different input elements differ for some input; constants differ for all.
                    self.report.verdict = difference(param, pair.element, How::Values(witness));
                    return None;
                }
            }
        }
        // The forms are computed in parallel with the proofs.
        let (outcome, told) = rayon::join(
            || decide::decide(&elements, &conditions.inputs, &conditions.options),
            || wanted.then(|| conditions.forms(&conditions.reference, |pair| pair.reference).told()),
        );
        self.report.canonical_elements = Some(outcome.canonical as u64);
        let readings = outcome.readings.iter().map(|reading| Assumption::relied(reading.to_string()));
        self.report.assumptions.extend(readings);
        self.tell_domain(&outcome, "the reference is");
        self.report.coverage.compared = multiset::count(pairs);
        self.report.verdict = match outcome.first_failure {
            None if outcome.conditions.is_empty() => Verdict::Equivalent,
            None => Verdict::EquivalentWhere(outcome.conditions),
            Some((at, failure)) => {
                let pair = &pairs[positions[at]];
                let param = &self.case.params[pair.param];
                self.report.coverage.compared = at as u64 + 1;
                let name = spell_element(&param.name, shape(param), pair.element);
                match failure {
                    Failure::Different(_) | Failure::Unknown { .. } if param.is_set() => {
                        let sides =
                            [(Which::Reference, &conditions.reference), (Which::Opt, &conditions.opt)];
                        let why = "its elements could not be paired so that each pair is equal".into();
                        self.multisets_differ(pair.param, sides, &conditions.options, why)
                    }
                    Failure::Different(witness) => {
                        let inputs =
                            witness.inputs.iter().map(|input| (input.name.clone(), input.value.to_string()));
                        let witness = Witness {
                            inputs: inputs.collect(),
                            zeros: witness.zeros,
                            reference: witness.reference.to_string(),
                            opt: witness.opt.to_string(),
                            explanation: witness.explanation.map(|on_the_way| self.explained(*on_the_way)),
                            readings: Vec::new(),
                        };
                        difference(param, pair.element, How::Values(witness))
                    }
                    Failure::Undefined { side, reason } => undefined(side, &name, &reason),
                    Failure::Exhausted(exhausted) => {
                        let told = format!("while deciding {name}, {exhausted}");
                        ended(exhausted, told, Some((outcome.equal, elements.len(), self.case)))
                    }
                    Failure::Unknown { reason } => {
                        undecided(self.case, conditions, &elements[at], name, &reason)
                    }
                }
            }
        };
        Some(told)
    }

    fn decide(&mut self, mut conditions: Conditions) {
        let before = self.report.clone();
        // The reference's forms are wanted whatever the verdict.
        let Some(told) = self.settle(&conditions, self.case.options.forms == FormsWanted::Always) else {
            if self.case.options.maps {
                self.report.maps = element_maps(self.case, &conditions);
            }
            return;
        };
        self.read_nearest(&mut conditions, &before);
        let conditions = &conditions;
        let points = self.case.options.recheck;
        if points > 0 && matches!(self.report.verdict, Verdict::Equivalent | Verdict::EquivalentWhere(_)) {
            self.recheck(conditions, points);
        }
        if self.case.options.maps && matches!(self.report.verdict, Verdict::Different(_)) {
            self.report.maps = element_maps(self.case, conditions);
        }
        let is_different = matches!(self.report.verdict, Verdict::Different(_));
        let equal = matches!(self.report.verdict, Verdict::Equivalent | Verdict::EquivalentWhere(_));
        let (reference, other) = match self.case.options.forms {
            FormsWanted::Always => (false, !equal),
            FormsWanted::OfDifferent => (is_different, is_different),
            FormsWanted::Never => (false, false),
        };
        let reference =
            reference.then(|| conditions.forms(&conditions.reference, |pair| pair.reference).told());
        let other = other.then(|| conditions.forms(&conditions.opt, |pair| pair.opt).told());
        tell(&mut self.report, told.into_iter().chain(reference).chain(other).collect());
    }

    /// Compares proofs with evaluation.
    pub(crate) fn recheck(&mut self, conditions: &Conditions, points: u32) {
        self.case.options.budgets.watch.expect(Activity::Rechecking, 0);
        let (elements, positions) = conditions.to_decide();
        let found =
            decide::recheck::contradiction(&elements, &conditions.inputs, points, &conditions.options);
        let Some((at, place)) = found else {
            self.report.rechecked = Some(points);
            return;
        };
        let pair = &conditions.pairs[positions[at]];
        let param = &self.case.params[pair.param];
        let name = spell_element(&param.name, shape(param), pair.element);
        self.report.verdict = Verdict::Unknown(Unknown::internal(format!(
            "{name} was proved equal, but evaluates to different values {place}"
        )));
    }

    fn explained(&self, on_the_way: decide::localize::FirstDifference) -> Explanation {
        let [ours, theirs] = on_the_way.sites;
        let place = |programs: Option<&Programs>, side: &Side, site: InstId| programs?.place(side, site);
        let ours = ours.zip(self.case.reference.as_ref());
        let ours = ours.and_then(|(site, side)| place(self.programs.first(), side, site));
        let theirs = theirs.and_then(|site| place(self.programs.last(), &self.case.opt, site));
        Explanation {
            what: on_the_way.what.to_string(),
            reference: on_the_way.reference,
            opt: on_the_way.opt,
            places: [ours, theirs].map(|place| place.map(Box::new)),
        }
    }
}

pub(crate) fn shape(param: &Param) -> &[u64] {
    match &param.kind {
        ParamKind::Tensor { shape, .. } => shape,
        ParamKind::Scalar { .. } => &[],
    }
}

/// The number of elements of a compared tensor.
pub(crate) fn output_elements(param: &Param) -> Option<u64> {
    match &param.kind {
        ParamKind::Tensor { role: Role::Out | Role::InOut, shape, .. } => Some(shape.iter().product()),
        ParamKind::Tensor { .. } | ParamKind::Scalar { .. } => None,
    }
}

fn first_gap(written: &[u64], elements: u64) -> u64 {
    (0..elements).zip(written).find(|(at, element)| at != *element).map_or(written.len() as u64, |(at, _)| at)
}

fn undefined(side: Which, name: &str, reason: &str) -> Verdict {
    let message = format!("the output {name} is undefined for every input: {reason}");
    Verdict::Fault(Fault::new(side, FaultKind::Undefined, "V6", message, Vec::new(), None))
}

pub(crate) fn difference(param: &Param, element: u64, how: How) -> Verdict {
    let index = element_index(shape(param), element);
    Verdict::Different(Difference { tensor: param.name.clone(), element, index, how })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_no_statement_about_kernels() {
        let verdict = caught::<()>(|| panic!("no entry {}", 7)).expect_err("it panics");
        assert_eq!(verdict.name(), "unknown(internal)");
        let Verdict::Unknown(unknown) = verdict else { panic!("{verdict:?}") };
        assert_eq!(unknown.reason, "the verifier panicked: no entry 7");
    }
}
