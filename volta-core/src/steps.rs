//! Runs a side: its steps, one after the other, each on what those before it left.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::base::assumption::Assumption;
use crate::base::budget::{Held, Limit};
use crate::base::index::InstId;
use crate::base::span::{LineTable, Span};
use crate::case::{Binding, Case, Contents, KernelLaunch, Param, ParamKind, Role, Side, Step, Which};
use crate::decide::InputInfo;
use crate::decide::counterexample::SearchBudget;
use crate::given::Mentions;
use crate::infeasible::BySearch;
use crate::launch::infeasible::Feasibility;
use crate::launch::{self, Before, Job, Outputs};
use crate::library;
use crate::machine::{
    self, Execution, Left, Lost, Output, Overlap, OverlapAccess, OverlapConflict, OverlapReason, Overlaps,
    RunError,
};
use crate::number::Extended;
use crate::program::{self, Program};
use crate::ptx;
use crate::term::{Store, TermId, spell_element};
use crate::verdict::{CasePart, Fault, FaultKind, InputError, InputProblem, Place, SideStats, Site};

/// The kernels of a side, by step; `None` for a step that is no launch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Programs(Arc<Vec<Option<Program>>>);

/// A side that was read, and the time that this took.
#[derive(Clone)]
pub(crate) struct Loaded {
    programs: Programs,
    seconds: f64,
}

/// The result of running a side.
pub(crate) struct Ran {
    pub(crate) outcome: Result<Execution, RunError>,
    /// What was assumed, if there is a result or a fault.
    pub(crate) assumptions: BTreeSet<Assumption>,
    pub(crate) stats: SideStats,
    /// What the steps mention, by number.
    pub(crate) mentioned: Vec<(usize, Mentions)>,
    pub(crate) programs: Programs,
}

/// Reads the kernels of a side.
///
/// # Errors
/// The first kernel that cannot be read.
pub(crate) fn load(which: Which, side: &Side) -> Result<Loaded, InputError> {
    let started = Instant::now();
    let program =
        |(at, step): (usize, &Step)| step.launch().map(|kernel| read(which, kernel, at)).transpose();
    let programs = side.steps.iter().enumerate().map(program).collect::<Result<_, _>>()?;
    Ok(Loaded { programs: Programs(Arc::new(programs)), seconds: started.elapsed().as_secs_f64() })
}

/// The sides of a case, each of which is read once, however often it runs.
#[derive(Default)]
pub(crate) struct Sides([OnceLock<Result<Loaded, InputError>>; 2]);

impl Sides {
    /// Sides some of which were read before: the reference, and the optimized kernel.
    pub(crate) fn known(sides: [Option<Loaded>; 2]) -> Sides {
        Sides(sides.map(|side| side.map_or_else(OnceLock::new, |side| OnceLock::from(Ok(side)))))
    }

    /// A side of the case.
    ///
    /// # Errors
    /// The first kernel that cannot be read.
    pub(crate) fn loaded(&self, which: Which, side: &Side) -> Result<Loaded, InputError> {
        self.0[usize::from(which == Which::Opt)].get_or_init(|| load(which, side)).clone()
    }
}

impl Loaded {
    /// The kernels, by step.
    pub(crate) fn programs(self) -> Programs {
        self.programs
    }

    /// The kernels, in order.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = &Program> + Clone {
        self.programs.0.iter().flatten()
    }
}

impl Programs {
    /// Its kernels.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = &Program> + Clone {
        self.0.iter().flatten()
    }

    /// The kernels of a side, as far as they can be read.
    pub(crate) fn readable(which: Which, side: &Side) -> Programs {
        let program = |(at, step): (usize, &Step)| read(which, step.launch()?, at).ok();
        Programs(Arc::new(side.steps.iter().enumerate().map(program).collect()))
    }

    /// The source position of an instruction of a term.
    pub(crate) fn place(&self, side: &Side, site: InstId) -> Option<Place> {
        let (step, inst) = site.in_step();
        let step = step.unwrap_or_else(|| side.launches().next().map_or(0, |(at, _)| at));
        let (program, kernel) = (self.0.get(step)?.as_ref()?, side.launch(step)?);
        let place = launch::place_in(program, &kernel.ptx, inst)?;
        Some(Place { step, ..place })
    }
}

/// Runs the steps of a side until one fails; with `by_classes`, one CTA for all that do the same, where possible.
pub(crate) fn run(
    which: Which,
    loaded: Loaded,
    side: &Side,
    case: &Case,
    (by_classes, inputs): (bool, &[InputInfo]),
) -> Ran {
    let Loaded { programs, seconds } = loaded;
    let started = Instant::now();
    let mut options = case.options.clone();
    options.by_classes = by_classes;
    if case.reference.is_some() {
        // Both sides run at the same time.
        options.budgets[Limit::MemoryBytes] /= 2;
    }
    let outputs = if case.reference.is_some() { Outputs::Compared } else { Outputs::Written };
    let infeasible = BySearch { inputs, effort: SearchBudget::within(&options.budgets) };
    let mut run = SideRun {
        which,
        params: &case.params,
        options: &options,
        outputs,
        infeasible: Some(&infeasible),
        left: None,
        overlaps: Overlaps::default(),
    };
    let mut assumptions = BTreeSet::new();
    let all = run.all((side, &programs), &mut assumptions, |_, _| {});
    let outcome = all.and_then(|()| run.finished());
    if let Err(RunError::Bind(_) | RunError::Exhausted(_)) = outcome {
        assumptions.clear();
    }
    let kernels = || programs.0.iter().flatten();
    let name = |(step, program): (&Step, &Option<Program>)| match step {
        Step::Launch(_) => program.as_ref().map(Program::source_name),
        Step::Graph(graph) => Some(graph.name.clone()),
        Step::Fill { .. } | Step::Copy { .. } => None,
    };
    let names: Vec<String> = side.steps.iter().zip(programs.0.iter()).filter_map(name).collect();
    let mut stats = SideStats {
        kernel: names.join(", "),
        ptx_lines: kernels().map(|program| u64::from(program.lines)).sum(),
        ..SideStats::default()
    };
    if let Ok(outcome) = &outcome {
        stats.threads = outcome.threads;
        stats.ctas = outcome.ctas;
        stats.thread_instructions = outcome.counts.thread_instructions;
        stats.barriers = outcome.counts.barriers;
        stats.warp_syncs = outcome.counts.warp_syncs;
        stats.term_bytes = outcome.term_bytes;
        stats.term_nodes = outcome.term_nodes;
    }
    stats.seconds = seconds + started.elapsed().as_secs_f64();
    let mentioned = side.steps.iter().zip(programs.0.iter()).enumerate().map(|(at, (step, program))| {
        let own = match (step, program) {
            (Step::Launch(kernel), Some(program)) => Mentions::of(program, kernel, &case.params),
            (Step::Launch(_) | Step::Fill { .. }, _) => Mentions::default(),
            (Step::Copy { from, .. }, _) => Mentions::of_names([from.as_str()], &case.params),
            (Step::Graph(graph), _) => Mentions::of_names(graph.inputs().map(|(name, _)| name), &case.params),
        };
        (at, own)
    });
    let mentioned = mentioned.collect();
    Ran { outcome, assumptions, stats, mentioned, programs }
}

/// The error that a variable is written by kernels of several modules, each of which has its own.
fn of_two_modules(side: &Side, programs: &Programs, params: &[Param]) -> Option<RunError> {
    let is_written = |param: &&Param| {
        param.binding == Binding::Variable
            && !matches!(param.kind, ParamKind::Tensor { role: Role::In, .. } | ParamKind::Scalar { .. })
    };
    for param in params.iter().filter(is_written) {
        let mut modules = side.launches().filter(|(at, _)| {
            let program = programs.0.get(*at).and_then(Option::as_ref);
            program.is_some_and(|program| launch::has_variable(program, &param.name))
        });
        let Some((_, first)) = modules.next() else { continue };
        if let Some((at, other)) = modules.find(|(_, kernel)| kernel.ptx != first.ptx) {
            let message = format!(
                "the variable `{}` is one of {} and one of {}: each module has its own",
                param.name, first.path, other.path
            );
            return Some(wrong(at, Some("source"), message));
        }
    }
    None
}

/// The outcome of each launch of a side that runs to its end, with its kernel: what [`run`] adds up.
///
/// # Errors
/// That of the first step that fails.
pub(crate) fn each<'s>(
    which: Which,
    (side, programs): (&'s Side, &'s Programs),
    case: &Case,
    mut see: impl FnMut((usize, &'s KernelLaunch, &'s Program), &Execution),
) -> Result<(), RunError> {
    let (params, options, outputs) = (&case.params, &case.options, Outputs::Written);
    let overlaps = Overlaps::default();
    let mut run = SideRun { which, params, options, outputs, infeasible: None, left: None, overlaps };
    run.all((side, programs), &mut BTreeSet::new(), |at, execution| {
        let program = programs.0.get(at).and_then(Option::as_ref);
        if let Some((kernel, program)) = side.launch(at).zip(program) {
            see((at, kernel, program), execution);
        }
    })
}

/// Elements between two looks at the limits.
const LOOK: u64 = 1 << 10;

/// A side while it runs.
pub(crate) struct SideRun<'c> {
    pub(crate) which: Which,
    pub(crate) params: &'c [Param],
    pub(crate) options: &'c crate::case::Options,
    outputs: Outputs,
    infeasible: Option<&'c dyn Feasibility>,
    pub(crate) left: Option<Arc<Left>>,
    overlaps: Overlaps,
}

impl<'c> SideRun<'c> {
    /// Runs the steps until one fails; `see` sees what each did.
    fn all(
        &mut self,
        (side, programs): (&'c Side, &'c Programs),
        assumptions: &mut BTreeSet<Assumption>,
        mut see: impl FnMut(usize, &Execution),
    ) -> Result<(), RunError> {
        if let Some(error) = of_two_modules(side, programs, self.params) {
            return Err(error);
        }
        for (at, step) in side.steps.iter().enumerate() {
            let program = programs.0.get(at).and_then(Option::as_ref);
            let (done, relied) = self.step(at, (step, side.steps.get(at + 1)), program);
            let again = self.without_names(&done)?;
            let again = again.then(|| self.step(at, (step, side.steps.get(at + 1)), program));
            let (done, relied) = again.unwrap_or((done, relied));
            assumptions.extend(relied);
            let done = done?;
            see(at, &done);
            self.leave((at, side.steps.len()), done)?;
        }
        Ok(())
    }

    /// Whether a step is to run again on copies of what those before it left: names say less than what they stand for,
    /// so that a finding may be none, and terms of several orders are compared as they are.
    fn without_names(&mut self, done: &Result<Execution, RunError>) -> Result<bool, RunError> {
        let is_final = match done {
            Ok(done) => done.alternatives.is_empty() && done.bags.is_empty(),
            Err(RunError::Bind(_) | RunError::Exhausted(_) | RunError::Defect(_)) => true,
            Err(RunError::Fault(..) | RunError::Possible(_) | RunError::Endless(_)) => false,
        };
        let Some(left) = &mut self.left else { return Ok(false) };
        let left = Arc::get_mut(left);
        let left = left.ok_or_else(|| RunError::Defect("what steps left is still in use".into()))?;
        Ok(left.names.take().is_some() && !is_final)
    }

    /// Runs a step on what those before it left.
    fn step(
        &self,
        at: usize,
        (step, next): (&'c Step, Option<&Step>),
        program: Option<&'c Program>,
    ) -> (Result<Execution, RunError>, BTreeSet<Assumption>) {
        let kernel = match step {
            Step::Launch(kernel) => kernel,
            Step::Fill { tensor, with } => return (self.fill(at, tensor, with), BTreeSet::new()),
            Step::Copy { from, to } => return (self.copy(at, from, to), BTreeSet::new()),
            Step::Graph(graph) => return self.graph(at, graph, next.is_some_and(is_programmatic)),
        };
        let Some(program) = program else {
            return (Err(RunError::Defect("a launch without its kernel".into())), BTreeSet::new());
        };
        library::run(&Job {
            which: self.which,
            step: at,
            is_followed: next.is_some(),
            overlaps: at > 0 && kernel.launch.programmatic || next.is_some_and(is_programmatic),
            before: self.left.clone().map(|left| Before(left)),
            program,
            kernel,
            params: self.params,
            options: self.options,
            outputs: self.outputs,
            infeasible: self.infeasible,
        })
    }

    /// Notes what a step did.
    ///
    /// # Errors
    /// A race with an earlier step that it overlaps with.
    fn leave(&mut self, (at, steps): (usize, usize), mut execution: Execution) -> Result<(), RunError> {
        let overlap = execution.overlap.take();
        execution.held.state += overlap.as_ref().map_or(0, Overlap::bytes);
        if let Some((earlier, conflict)) = self.overlaps.add(at, overlap) {
            return Err(self.overlapping([at, earlier], &conflict));
        }
        // Later steps would read what it wrote to them.
        if let Some((name, help)) = execution.undeclared.first_key_value().filter(|_| at + 1 < steps) {
            let message = format!(
                "the variable `{name}` is written, and the case does not declare it for later steps (M5)"
            );
            let error = launch::BindError::new(message, Some(help.clone()));
            return Err(RunError::Bind(launch::BindError { step: at, ..error }));
        }
        if steps > 1 {
            execution.stores.iter_mut().for_each(|store| store.set_step(at));
        }
        let mut left = self.left.take().and_then(Arc::into_inner).unwrap_or_default();
        left.add(execution);
        let inputs = self.params.len();
        left.names = (!self.options.ieee && 2 * inputs < TermId::MAX_INPUTS).then_some(inputs);
        self.left = Some(Arc::new(left));
        Ok(())
    }

    /// The fault that two launches that overlap access the same memory.
    fn overlapping(&self, [later, earlier]: [usize; 2], conflict: &OverlapConflict) -> RunError {
        let OverlapConflict { param, byte, accesses, why } = conflict;
        let bytes = self.params[*param].elements()[usize::from(self.which == Which::Opt)].bytes();
        let place = match self.params[*param].binding {
            Binding::Field(_) => format!("byte {byte} of `{}`", self.params[*param].argument()),
            Binding::Argument | Binding::Variable => self.named(*param, byte / u64::from(bytes)),
        };
        let says = |at: usize, step: usize| {
            let OverlapAccess { verb, thread, .. } = &accesses[at];
            match thread {
                Some(thread) => format!("{thread} of step {} {verb} {place} ({})", step + 1, at + 1),
                None => format!("the graph of step {} {verb} {place}", step + 1),
            }
        };
        let (one, other) = (says(0, later), says(1, earlier));
        let wait = "`griddepcontrol.wait` (`cudaGridDependencySynchronize()`)";
        let (told, help) = match why {
            OverlapReason::BeforeWait => (
                "what a launch does before `griddepcontrol.wait` is not ordered with the launches before",
                format!(
                    "execute {wait} in step {} before this access, by the thread itself or by one with which it \
                     synchronises in between",
                    later + 1
                ),
            ),
            OverlapReason::WaitForAnother => {
                let steps: Vec<String> = (earlier + 2..=later).map(|step| step.to_string()).collect();
                (
                    "a wait is for the end of the launch before, which may end before the one before that if it does \
                     not wait itself",
                    format!("execute {wait} in step {}", steps.join(" and ")),
                )
            }
            OverlapReason::ReadOnlyPath => (
                "it is read after the wait, but through the read-only path (`ld.global.nc`), which may hold what was \
                 there when the launch began (M4)",
                "read it by an ordinary load: no `__ldg`, and no `const … __restrict__` on this parameter"
                    .into(),
            ),
            OverlapReason::Updates => (
                "whether the atomic updates of two launches commute is not examined",
                format!("execute {wait} in step {} before this update", later + 1),
            ),
            OverlapReason::Conditions => (
                "whether both happen depends on inputs, or on how a graph is computed",
                format!("execute {wait} in step {} before this access", later + 1),
            ),
        };
        // A graph has no lines.
        let in_kernels = accesses.iter().filter(|access| access.thread.is_some());
        let sites = in_kernels.map(|OverlapAccess { verb, thread, place: at }| Site {
            action: format!("{verb} {place}"),
            thread: *thread,
            place: at.clone(),
        });
        let kind = if why.is_certain() { FaultKind::Race } else { FaultKind::Unsupported };
        let message = format!("{one} and {other}, and nothing orders them: {told}");
        let fault = Fault::new(self.which, kind, "Y17", message, sites.collect(), Some(help));
        RunError::Fault(Box::new(Fault { step: later, ..fault }), Vec::new())
    }

    /// What all steps did to the outputs.
    fn finished(&mut self) -> Result<Execution, RunError> {
        let Some(mut left) = self.left.take().and_then(Arc::into_inner) else {
            return Err(RunError::Defect("a side has steps".into()));
        };
        let is_output = |param: usize| {
            matches!(&self.params[param].kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. })
        };
        if let Some(lost) = left.did.lost.iter().find(|lost| is_output(lost.param)) {
            let Lost { param, element, step, kind, rule, what } = lost;
            let message = format!("the output {} {what}", self.named(*param, *element));
            let fault = Fault::new(self.which, *kind, rule, message, Vec::new(), None);
            return Err(RunError::Fault(Box::new(Fault { step: *step, ..fault }), Vec::new()));
        }
        left.did.outputs.retain(|output| is_output(output.param));
        let (held, budgets) = (left.did.held, &self.options.budgets);
        let look = |terms: u64| {
            budgets.deadline.check()?;
            budgets.check_held(&Held { terms: terms.max(held.terms), ..held })
        };
        left.without_names(|| self.store(), look).map_err(RunError::Exhausted)?;
        Ok(left.did)
    }

    fn named(&self, param: usize, element: u64) -> String {
        let (name, shape) = match &self.params[param] {
            Param { name, kind: ParamKind::Tensor { shape, .. }, .. } => (name, shape.as_slice()),
            Param { name, kind: ParamKind::Scalar { .. }, .. } => (name, [].as_slice()),
        };
        spell_element(name, shape, element)
    }

    /// The tensor that a key of a step names, and its number of elements.
    fn tensor(&self, at: usize, key: &str, name: &str) -> Result<(usize, u64), RunError> {
        let param = self.params.iter().position(|param| param.name == name);
        match param.map(|param| (param, &self.params[param].kind)) {
            Some((param, ParamKind::Tensor { shape, .. })) => Ok((param, shape.iter().product())),
            Some((_, ParamKind::Scalar { .. })) => {
                Err(wrong(at, Some(key), format!("`{name}` is no tensor")))
            }
            None => Err(wrong(at, Some(key), format!("there is no parameter `{name}`"))),
        }
    }

    /// The tensor that a step writes.
    pub(crate) fn written(&self, at: usize, key: &str, name: &str) -> Result<(usize, u64), RunError> {
        let (param, elements) = self.tensor(at, key, name)?;
        match &self.params[param].kind {
            ParamKind::Tensor { role: Role::In, .. } => {
                Err(wrong(at, Some(key), format!("`{name}` is an input, and this step writes it")))
            }
            ParamKind::Tensor { .. } | ParamKind::Scalar { .. } => Ok((param, elements)),
        }
    }

    fn fill(&self, at: usize, name: &str, with: &Extended) -> Result<Execution, RunError> {
        let (param, elements) = self.written(at, "fill", name)?;
        self.room(elements, None)?;
        let mut filled = self.params[param].clone();
        if let ParamKind::Tensor { contents, .. } = &mut filled.kind {
            *contents = Contents::Fill(with.clone());
        }
        let mut store = self.store();
        let rules = &self.options.rules;
        let value = machine::initial_value(self.which, &filled, param, 0, &mut store, rules);
        let own = filled.elements()[usize::from(self.which == Which::Opt)].name();
        let value = value.ok_or_else(|| {
            wrong(at, Some("with"), format!("`{name}` holds {own}, which has no such number"))
        })?;
        let outputs = (0..elements).map(|element| Output { param, element, store: 0, value }).collect();
        Ok(self.execution(store, outputs, Vec::new()))
    }

    fn copy(&self, at: usize, from: &str, to: &str) -> Result<Execution, RunError> {
        let (source, elements) = self.tensor(at, "copy", from)?;
        let (target, others) = self.written(at, "to", to)?;
        let types = [source, target]
            .map(|param| self.params[param].elements()[usize::from(self.which == Which::Opt)]);
        if elements != others || types[0] != types[1] {
            return Err(wrong(
                at,
                Some("to"),
                format!(
                    "`{from}` has {elements} elements of {}, and `{to}` {others} of {}",
                    types[0].name(),
                    types[1].name()
                ),
            ));
        }
        let (mut store, mut outputs, mut lost) = (self.store(), Vec::new(), Vec::new());
        for element in 0..elements {
            if element % LOOK == 0 {
                self.room(elements, Some(&store))?;
            }
            match machine::contents(
                self.which,
                (self.params, source),
                element,
                self.left.as_deref(),
                (&mut store, &self.options.rules),
            ) {
                Ok(value) => outputs.push(Output { param: target, element, store: 0, value }),
                Err(before) => lost.push(Lost {
                    param: target,
                    element,
                    step: at,
                    ..before.unwrap_or_else(|| Lost {
                        param: source,
                        element,
                        step: at,
                        kind: FaultKind::Uninitialised,
                        rule: "V6",
                        what: format!(
                            "is copied from {}, which nothing has written",
                            self.named(source, element)
                        ),
                    })
                }),
            }
        }
        Ok(self.execution(store, outputs, lost))
    }

    /// Checks that there is time, and memory for so many elements and the terms of a store.
    pub(crate) fn room(&self, elements: u64, store: Option<&Store>) -> Result<(), RunError> {
        let before = self.left.as_ref().map(|left| left.did.held).unwrap_or_default();
        let own = Held {
            state: elements.saturating_mul(size_of::<Output>() as u64),
            terms: store.map_or(0, Store::bytes),
            ..Held::default()
        };
        let budgets = &self.options.budgets;
        budgets
            .deadline
            .check()
            .and_then(|()| budgets.check_held(&before.and(&own)))
            .map_err(RunError::Exhausted)
    }

    pub(crate) fn store(&self) -> Store {
        let mut store = Store::new();
        if self.options.ieee {
            store.set_ieee();
        }
        store.set_integers(self.params.iter().map(Param::integers).collect());
        store
    }

    /// What a step did that is no launch.
    pub(crate) fn execution(&self, store: Store, outputs: Vec<Output>, lost: Vec<Lost>) -> Execution {
        let before = self.left.as_ref().map(|left| (left.did.held, left.did.taken));
        let (held, taken) = before.unwrap_or_default();
        let mut done = Execution { outputs, lost, held, taken, ..Execution::default() };
        done.held.state += size_of_val(done.outputs.as_slice()) as u64;
        done.add_store(store);
        done
    }
}

fn is_programmatic(step: &Step) -> bool {
    step.launch().is_some_and(|kernel| kernel.launch.programmatic)
}

/// The error that a step does not fit the case, with its key that is wrong.
pub(crate) fn wrong(at: usize, key: Option<&str>, message: String) -> RunError {
    let part = key.map(|key| CasePart::Key(key.into()));
    RunError::Bind(launch::BindError { step: at, part, ..launch::BindError::new(message, None) })
}

/// Parses and lowers the kernel of a step.
pub(crate) fn read(which: Which, kernel: &KernelLaunch, step: usize) -> Result<Program, InputError> {
    let error =
        |kind, message: String| InputError { side: Some(which), step, ..InputError::new(kind, message) };
    let parsed = ptx::parse(&kernel.ptx).map_err(|wrong| {
        let place = Place {
            step,
            line: wrong.position.line,
            column: wrong.position.column,
            length: wrong.span.end.saturating_sub(wrong.span.start).max(1),
            text: wrong.source_line.clone(),
            cuda: None,
        };
        let message = format!("{} is not valid PTX: {}", kernel.path, wrong.message);
        InputError {
            place: Some(place),
            help: wrong.help.clone(),
            ..error(InputProblem::InvalidPtx, message)
        }
    })?;
    program::lower(&parsed, &kernel.ptx, kernel.kernel.as_deref()).map_err(|wrong| {
        let kind =
            if wrong.span().is_some() { InputProblem::InvalidPtx } else { InputProblem::KernelNotFound };
        InputError {
            place: wrong.span().map(|span| place_of(&kernel.ptx, span, step)),
            part: wrong.span().is_none().then(|| CasePart::Key("source".into())),
            help: wrong.help(),
            ..error(kind, wrong.to_string())
        }
    })
}

fn place_of(text: &str, span: Span, step: usize) -> Place {
    let lines = LineTable::new(text);
    let position = lines.position(text, span.start);
    Place {
        step,
        line: position.line,
        column: position.column,
        length: span.end.saturating_sub(span.start).max(1),
        text: lines.line(text, position.line).trim().to_string(),
        cuda: None,
    }
}
