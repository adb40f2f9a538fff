//! The CTAs of a launch (rule S5): each runs on the memory as at the beginning of the launch, their footprints must not
//! conflict, and their writes are merged in the order of CTAs.

use super::values::Values;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::access_pattern::AccessPatterns;
use super::advice::{origin_site, undefined_help};
use super::bag::{self, Bag, BagsOfAll, Ended};
use super::bind::{BindError, Clusters, Launch, Outputs};
use super::cta::{Beside, Cta, Mode, Stop, UnwrittenReads};
use super::cta_class::{Classes, run_by_classes};
use super::endless::Endless;
use super::footprint::Merged;
use super::further::further;
use super::int_terms::IntTerms;
use super::left::Lost;
use super::memory::PAGE;
use super::orders::{Alternative, Others, run_in_orders};
use super::output::{
    Output, OutputValue, WrongOutput, element_value, fill_written, output_value, written_elements,
};
use super::overlap::Overlap;
use super::packed::PackedValues;
use super::points::KnownFloats;
use super::possible::{InCases, Possible, undefined_cases};
use super::race::VectorClockDetector;
use super::ran::{CtaRun, Ran, Unwritten};
use super::relied::Relied;
use super::structs::ElementAt;
use super::synchronisation::Detector;
use super::ticket::Tickets;
use super::value::{Origin, SymKind, Value};
use crate::base::assumption::Assumption;
use crate::base::budget::{Exhausted, Held, Limit};
use crate::base::ration::Pool;
use crate::base::watch::Activity;
use crate::case::{Options, Role};
use crate::program::{InstId, WORKSPACE};
use crate::term::{Nearest, Store, TermId, depends_on};
use crate::verdict::{Fault, FaultKind, Site};

/// The result of a run.
#[derive(Debug, Default)]
pub struct Execution {
    /// Terms, one store for each CTA that wrote an output.
    pub stores: Vec<Store>,
    /// Written elements of output tensors, by parameter and element.
    pub outputs: Vec<Output>,
    /// Written elements with unknown values, by parameter and element (rule S2).
    pub unevaluated: Vec<(usize, u64)>,
    /// Elements that this step leaves without a value, if another one follows, by parameter and element.
    pub lost: Vec<Lost>,
    /// What counts against the limit of instructions, with that of the steps before.
    pub taken: u64,
    /// The number of threads of a CTA.
    pub threads: u64,
    /// The number of CTAs that ran, and of those in the grid.
    pub ctas: (u64, u64),
    /// Warp instructions executed.
    pub warp_instructions: u64,
    /// Thread instructions executed.
    pub thread_instructions: u64,
    /// CTA barriers completed.
    pub barriers: u64,
    /// Warp barriers completed.
    pub warp_syncs: u64,
    /// Nodes of all term stores.
    pub term_nodes: u64,
    /// Bytes of all term stores.
    pub term_bytes: u64,
    /// The memory that is kept.
    pub held: Held,
    /// The number of CTAs that ran with vector clocks.
    pub exact_ctas: u64,
    /// Variables of the module that were written and that the case does not give (rule M5), by name, each with the
    /// declaration to add.
    pub undeclared: BTreeMap<String, String>,
    /// The cost of accesses, if requested.
    pub patterns: AccessPatterns,
    /// Whether a step of a function was executed on known numbers only.
    pub at_known_points: bool,
    /// Outputs that are compared as multisets.
    pub bags: Vec<Bag>,
    /// What it does to the memory of launches that may overlap with it.
    pub overlap: Option<Overlap>,
    /// Elements whose terms differ between orders of atomic operations (rule Y18).
    pub alternatives: Vec<Alternative>,
    /// The CTAs of the launch as classes, if only one of each was executed; outputs and stores are those of that one.
    pub classes: Option<Box<Classes>>,
    /// Whether nothing was executed: the iterations of the only thread do not run as CTAs of classes, which was all that
    /// was asked for.
    pub is_declined: bool,
}

/// The reasons why a run gives no result.
#[derive(Debug)]
pub enum RunError {
    /// The launch does not fit the kernel.
    Bind(BindError),
    /// The kernel is at fault: the first fault, and further findings (rule R2).
    Fault(Box<Fault>, Vec<Fault>),
    /// The kernel is at fault where a condition on inputs holds.
    Possible(Box<Possible>),
    /// A budget was reached.
    Exhausted(Exhausted),
    /// The verifier contradicts itself: nothing is claimed about the kernel.
    Defect(String),
    /// A loop does not end.
    Endless(Box<Endless>),
}

impl From<BindError> for RunError {
    fn from(error: BindError) -> RunError {
        match error.exhausted {
            Some(exhausted) => RunError::Exhausted(exhausted),
            None => RunError::Bind(error),
        }
    }
}

impl Outputs {
    /// Whether an output with this error is left out of the result.
    pub(super) fn leaves_out(self, (.., origin): &WrongOutput) -> bool {
        self == Outputs::Written && matches!(origin, Some(Origin::Unevaluated(_)))
    }
}

/// Runs the CTAs of a launch, and collects what they rely on.
pub(super) fn run_launch(
    launch: &Launch<'_>,
    options: &Options,
    relied: &mut Relied,
) -> Result<Execution, RunError> {
    if options.by_classes
        && let Some(done) = run_by_classes(launch, options, relied)
    {
        return Ok(done);
    }
    if let Clusters::All(_) = launch.clusters {
        let ctas = launch.grid.iter().map(|extent| u64::from(*extent)).product();
        // Footprints store the number of a CTA in 32 bits.
        let most = options.budgets[Limit::Ctas].min(1 << 32);
        let within = options.budgets.clone().with(Limit::Ctas, most).check(Limit::Ctas, ctas);
        within.map_err(RunError::Exhausted)?;
    }
    let mut outcome = Execution {
        threads: launch.threads() as u64,
        ctas: (
            launch.clusters.len() * u64::from(launch.ranks()),
            launch.grid.iter().map(|n| u64::from(*n)).product(),
        ),
        held: launch.before.as_ref().map_or(Held::default(), |before| before.did.held),
        ..Execution::default()
    };
    let mut merged = Merged::default();
    options.budgets.watch.expect(Activity::Executing, launch.clusters.len());
    let mut overlap = Overlap::new(launch);
    let (mut bags, mut unwritten) = (BagsOfAll::default(), None);
    let count = if launch.clusters.len() == 1 { 1 } else { 8 * rayon::current_num_threads() as u64 };
    let (mut next, mut taken) = (0, launch.before.as_ref().map_or(0, |before| before.did.taken));
    while next < launch.clusters.len() {
        let (first, window) = (next, launch.clusters.window(next, count));
        next += count;
        options.budgets.deadline.check().map_err(RunError::Exhausted)?;
        let alone = Beside { instructions: taken, held: outcome.held, pool: None };
        let left = options.budgets[Limit::MemoryBytes].saturating_sub(outcome.held.total());
        let pool = Pool::new(u64::MAX, left, window.len());
        let runs: Vec<CtaRun> = if let [only] = window.as_slice() {
            vec![run_cta(launch, options, *only, alone)]
        } else {
            let beside = |run| Beside { pool: Some((&*pool, run)), ..alone };
            let runs = window.par_iter().enumerate();
            runs.map(|(run, cta)| run_cta(launch, options, *cta, beside(run))).collect()
        };
        for (at, (cta, run)) in (first..).zip(window.iter().zip(runs)) {
            // A budget must be reached where it is if CTAs run one after the other.
            let alone = Beside { instructions: taken, held: outcome.held, pool: None };
            let fits = options.budgets.check(Limit::Instructions, taken + run.taken.instructions).is_ok()
                && options.budgets.check_held(&outcome.held.and(&run.taken.held)).is_ok()
                && !matches!(run.done, Err(Stop::Exhausted(_)));
            let run = if fits || window.len() == 1 {
                run
            } else {
                drop(run);
                run_cta(launch, options, *cta, alone)
            };
            relied.merge(run.relied);
            let mut ran = match run.done {
                Err(Stop::Fault(fault)) => {
                    // The search continues behind faults, where tickets are not followed.
                    let also = match launch.has_tickets || launch.has_sets {
                        true => Vec::new(),
                        false => further(launch, options, at, alone, (&fault, run.raced)),
                    };
                    return Err(RunError::Fault(fault, also));
                }
                done => done.map_err(RunError::from_stop)?,
            };
            taken += run.taken.instructions;
            merged.add(launch, options, *cta, &ran, outcome.stores.len())?;
            outcome.undeclared.extend(
                ran.written_variables.iter().map(|at| launch.undeclared(&launch.tensors[*at as usize])),
            );
            if let (Some(overlap), Some(own)) = (&mut overlap, ran.overlap.take()) {
                overlap.add(launch, *own);
            }
            let own = std::mem::take(&mut ran.bags);
            if let Some(found) = ran.unwritten.take() {
                unwritten.get_or_insert((found, outcome.stores.len()));
            }
            outcome.add(ran, launch, !own.bags.is_empty());
            bags.add(launch, own, &outcome.stores)?;
            outcome.held.accesses = merged.bytes() + overlap.as_ref().map_or(0, Overlap::bytes);
            options.budgets.check_held(&outcome.held).map_err(RunError::Exhausted)?;
        }
    }
    if let Some((found, store)) = unwritten {
        return Err(merged.unwritten(*found, store, outcome.stores));
    }
    merged.combine(launch, options, &mut outcome)?;
    outcome.held.accesses = 0;
    outcome.overlap = overlap;
    outcome.taken = taken;
    let place = |output: &Output| (output.param, output.element);
    outcome.lost.sort_by_key(|lost| (lost.param, lost.element));
    outcome.lost.dedup_by_key(|lost| (lost.param, lost.element));
    let lost: BTreeSet<(usize, u64)> = outcome.lost.iter().map(|lost| (lost.param, lost.element)).collect();
    outcome.outputs.retain(|output| !lost.contains(&place(output)));
    outcome.outputs.sort_unstable_by_key(place);
    outcome.bags = bags.finish(launch, (&outcome.stores, &outcome.outputs))?;
    Ok(outcome)
}

impl RunError {
    /// The error, with its faults in this step of a side.
    pub(super) fn at_step(mut self, step: usize) -> RunError {
        match &mut self {
            RunError::Fault(first, also) => {
                first.step = step;
                also.iter_mut().for_each(|fault| fault.step = step);
            }
            RunError::Possible(possible) => possible.fault.step = step,
            RunError::Bind(error) => error.step = step,
            RunError::Exhausted(_) | RunError::Defect(_) | RunError::Endless(_) => {}
        }
        self
    }

    /// Whether a value is used as another type, for example an encoding as a number.
    pub fn is_type_mismatch(&self) -> bool {
        matches!(self, RunError::Fault(fault, _) if fault.kind == FaultKind::TypeMismatch)
    }

    /// Whether a decision of known floats may depend on rounding.
    pub fn depends_on_rounding(&self) -> bool {
        matches!(self, RunError::Fault(fault, _) if fault.kind == FaultKind::DependsOnRounding)
    }

    pub(super) fn from_stop(stop: Stop) -> RunError {
        match stop {
            Stop::Fault(fault) => RunError::Fault(fault, Vec::new()),
            Stop::Possible(possible) => RunError::Possible(Box::new(possible.possible())),
            Stop::Exhausted(exhausted) => RunError::Exhausted(exhausted),
            Stop::Missing(missing) => RunError::Bind(*missing),
            Stop::Endless(endless) => RunError::Endless(endless),
            Stop::Defect(reason) => RunError::Defect(reason.into()),
            Stop::Doubtful => {
                RunError::Defect("a run that stops at its first fault went on behind it".into())
            }
            Stop::NeedVectorClocks => {
                RunError::Defect("the exact race detector asked for an exact race detector".into())
            }
            Stop::Apart(_) => RunError::Defect("a CTA that runs alone was to stand for others".into()),
        }
    }
}

/// The error of an output computed from an encoding that no template explains.
const UNEXPLAINED: &str =
    "is computed from the encoding of a real, by steps that are not a known library function";

/// This error with the library function that is nearest to the term.
fn unexplained(launch: &Launch<'_>, store: &Store, term: TermId) -> String {
    let Some(near) = store.nearest_function(term) else { return UNEXPLAINED.to_string() };
    let Nearest { name, found, steps, departs } = near;
    let departs = departs.and_then(|inst| launch.place(inst));
    let departs = departs
        .map(|place| format!("; the first step that differs is line {}: `{}`", place.line, place.text));
    format!(
        "{UNEXPLAINED}: {found} of the {steps} steps of `{name}` were found{}",
        departs.unwrap_or_default()
    )
}

impl Execution {
    /// The written elements of a parameter with known values, in order.
    pub fn outputs_of(&self, param: usize) -> &[Output] {
        let start = self.outputs.partition_point(|output| output.param < param);
        let end = self.outputs.partition_point(|output| output.param <= param);
        &self.outputs[start..end]
    }

    /// The written elements of a parameter, in order, with known or unknown values.
    pub fn written(&self, param: usize) -> Vec<u64> {
        let unknown = self.unevaluated.iter().filter(|(of, _)| *of == param).map(|(_, element)| *element);
        let mut written: Vec<u64> =
            self.outputs_of(param).iter().map(|output| output.element).chain(unknown).collect();
        written.sort_unstable();
        written.dedup();
        written
    }

    fn count_terms(&mut self, store: &Store) {
        self.term_nodes += store.len() as u64;
        self.term_bytes += store.bytes();
    }

    /// Adds a store of terms.
    pub fn add_store(&mut self, mut store: Store) {
        self.count_terms(&store);
        store.close();
        self.held.terms += store.bytes() + size_of::<Store>() as u64;
        self.stores.push(store);
    }

    pub(super) fn add(&mut self, ran: Ran, launch: &Launch<'_>, has_bags: bool) {
        self.warp_instructions += ran.counts.warp_instructions;
        self.thread_instructions += ran.counts.thread_instructions;
        self.barriers += ran.counts.barriers;
        self.warp_syncs += ran.counts.warp_syncs;
        self.exact_ctas += u64::from(ran.exact);
        self.at_known_points |= ran.counts.at_known_points;
        let leaves = !ran.lost.is_empty() || !ran.unevaluated.is_empty();
        self.held.state += size_of_val(ran.unevaluated.as_slice()) as u64;
        self.unevaluated.extend(ran.unevaluated);
        self.held.state += size_of_val(ran.lost.as_slice()) as u64;
        self.lost.extend(ran.lost);
        ran.patterns.iter().for_each(|patterns| self.patterns.merge(patterns));
        // What CTAs add to elements without a value refers to the store by its number.
        if ran.outputs.is_empty() && !leaves && !has_bags {
            self.count_terms(&ran.store);
        } else {
            let store = self.stores.len();
            self.add_store(ran.store);
            let Others { stores, differing, are_partial, sites } = ran.others;
            let others = self.stores.len();
            stores.into_iter().for_each(|store| self.add_store(store));
            self.alternatives.extend(differing.into_iter().map(|(param, element, own, there, of)| {
                Alternative {
                    param,
                    element,
                    values: [(store, own), (others + of, there)],
                    step: launch.step,
                    is_followed: launch.is_followed,
                    is_complete: !are_partial,
                    sites: Arc::clone(&sites),
                }
            }));
            self.held.state += (ran.outputs.len() * size_of::<Output>()) as u64;
            let outputs = ran.outputs.into_iter();
            self.outputs.extend(outputs.map(|(param, element, value)| Output {
                param,
                element,
                store,
                value,
            }));
        }
    }
}

fn run_cta(launch: &Launch<'_>, options: &Options, cta: u64, beside: Beside<'_>) -> CtaRun {
    if launch.has_tickets {
        let run = run_in_orders(launch, options, cta, beside);
        options.budgets.watch.advance(1);
        if let Some((pool, number)) = beside.pool {
            pool.leave(number, run.taken.held.total());
        }
        return run;
    }
    let mut run = CtaRun::new();
    let attempt = |run: &mut CtaRun, mode| {
        run.done = attempt(launch, options, cta, mode, (beside, run), &mut Tickets::default())
    };
    if !options.exact_clocks && launch.ranks() == 1 && !launch.overlaps {
        attempt(&mut run, Mode::Lockstep);
        if let Err(Stop::Fault(_) | Stop::Possible(_) | Stop::Missing(_)) = run.done {
            // Of several faults, the one reported is the first when warps run one after the other.
            attempt(&mut run, Mode::WarpByWarp);
        }
    }
    if let Err(Stop::NeedVectorClocks) = run.done {
        attempt(&mut run, Mode::VectorClocks);
    }
    if let Some((pool, number)) = beside.pool {
        pool.leave(number, run.taken.held.total());
    }
    options.budgets.watch.advance(1);
    run
}

/// Runs a CTA. `tickets` are those to draw, and then those that were drawn.
pub(super) fn attempt<'l>(
    launch: &'l Launch<'l>,
    options: &'l Options,
    linear: u64,
    mode: Mode,
    (beside, run): (Beside<'l>, &mut CtaRun),
    tickets: &mut Tickets,
) -> Result<Ran, Stop> {
    let mut cta = Cta::new(launch, options, linear, mode)?;
    cta.beside = beside;
    cta.class = run.class.take();
    cta.sync.tickets = std::mem::take(tickets);
    let done = cta.run().and_then(|()| cta.check_budgets());
    run.taken = cta.taken();
    run.relied = std::mem::take(&mut cta.values.relied);
    run.raced = cta.sync.raced;
    run.class = cta.class.take();
    *tickets = std::mem::take(&mut cta.sync.tickets);
    if let Err(Stop::Possible(mut possible)) = done {
        possible.store = std::mem::take(&mut cta.values.store);
        return Err(Stop::Possible(possible));
    }
    done?;
    let Cta { values, sync, memory, counts, unwritten, patterns, overlap, .. } = cta;
    let Values { mut store, mut packed, mut ranges, mut congruence, guards, points, .. } = values;
    let order = sync.order;
    let mut memory = memory;
    let bags = std::mem::take(&mut memory.bags);
    let (mut pages, contributions, perhaps) = memory.into_parts();
    let perhaps = perhaps.accessed(&guards, &mut store);
    let (mut outputs, mut unevaluated, mut written_variables) = (Vec::new(), Vec::new(), BTreeSet::new());
    let (mut lost, mut in_part) = (Vec::new(), None);
    for ((number, page), content) in &mut pages {
        let tensor = &launch.tensors[*number as usize];
        if tensor.param.is_none() && content.is_written() && tensor.name != WORKSPACE {
            written_variables.insert(*number);
        }
        if !launch.is_left(tensor) {
            continue;
        }
        fill_written((tensor, *page), content, (&mut packed, &mut store));
        for (at, first) in written_elements(tensor, *page, content) {
            let Some(param) = at.tensor.param else { continue };
            let value = element_value(at.tensor, content, first, &mut packed, &mut store);
            let value = tickets.settled(packed.as_ticket(value)).map_or(value, Value::Bits);
            let mut residues =
                IntTerms { packed: &mut packed, store: &mut store, ranges: &mut ranges, pc: InstId(0) };
            let wrong = match output_value(at.tensor, value, &mut residues, &mut run.relied.masks) {
                Ok(OutputValue::Real(term) | OutputValue::Integer(term)) if store.is_refused(term) => {
                    (FaultKind::TypeMismatch, "V5", unexplained(launch, &store, term), None)
                }
                Ok(value) => {
                    outputs.push((param, at.element, value));
                    continue;
                }
                Err(wrong) if launch.is_followed && wrong.0 != FaultKind::TypeMismatch => {
                    lost.push(launch.lost((param, at.element), wrong));
                    continue;
                }
                // What depends on who takes an item is not determined.
                Err(wrong) if launch.outputs.leaves_out(&wrong) && tickets.queue.is_none() => {
                    unevaluated.push((param, at.element));
                    continue;
                }
                Err(wrong) => wrong,
            };
            // Other CTAs may write it for the other inputs.
            let is_in_part = launch.clusters.len() > 1
                && wrong.0 == FaultKind::Uninitialised
                && wrong.3.is_some_and(|origin| origin.number().is_some());
            if is_in_part && in_part.is_some() {
                unevaluated.push((param, at.element));
                continue;
            }
            let cell = (*number, *page * PAGE as u64 + first as u64 / 4);
            let sites = match &order {
                Detector::VectorClock(exact) => {
                    sites_of(launch, linear, cell, (exact, &unwritten, &packed), wrong.3)
                }
                Detector::Epoch(_) => found_again(launch, options, linear, cell, wrong.3),
            };
            let origin = wrong.3;
            let fault = output_fault(launch, at, wrong, sites);
            if let Some(partly) = origin.and_then(Origin::number) {
                let mut possible = InCases::new(fault, undefined_cases(&packed, partly), String::new());
                possible.store = store;
                if !is_in_part {
                    return Err(Stop::Possible(Box::new(possible)));
                }
                let mut possible = possible.possible();
                store = std::mem::take(&mut possible.store);
                in_part = Some(Box::new(Unwritten { place: cell, possible }));
                unevaluated.push((param, at.element));
                continue;
            }
            return Err(Stop::Fault(Box::new(fault)));
        }
    }
    if !bags.draws.is_empty() {
        let of_outputs = outputs.iter().filter_map(|(_, _, value)| value.term());
        let of_sums = contributions.iter().filter_map(|(_, own)| term_of(own.sum));
        let roots: Vec<TermId> = of_outputs.chain(of_sums).collect();
        if depends_on(&store, &roots, |term| launch.is_ticket(term)) {
            let sites = bags.draws.first().map(|draw| bag::site_of_draw(launch, linear, draw));
            let fault = bag::of_ticket(launch, "what the kernel leaves", sites.into_iter().collect());
            return Err(Stop::Fault(Box::new(fault)));
        }
    }
    let is_accessed = |tensor: u32| {
        let mut own = pages.iter().filter(|((number, _), _)| *number == tensor);
        own.any(|(_, page)| (0..PAGE).any(|slot| page.updated[slot] | page.perhaps[slot] != 0))
    };
    let mut ended = Ended {
        launch,
        linear,
        store: &mut store,
        packed: &mut packed,
        ranges: &mut ranges,
        congruence: &mut congruence,
        guards: &guards,
        masks: &mut run.relied.masks,
        synchronises: counts.barriers + counts.warp_syncs > 0,
    };
    let bags = ended.bags(bags, is_accessed, &mut outputs)?;
    if let Some(((number, offset), _)) = contributions.iter().find(|(_, own)| is_unexplained(own.sum, &store))
    {
        let wrong = (FaultKind::TypeMismatch, "V5", UNEXPLAINED.to_string(), None);
        let tensor = &launch.tensors[*number as usize];
        let at = tensor.element_at(*offset).unwrap_or(ElementAt { tensor, element: *offset, byte: 0 });
        return Err(Stop::Fault(Box::new(output_fault(launch, at, wrong, Vec::new()))));
    }
    if let KnownFloats::Terms { decided, .. } = launch.recognition.known
        && !(contributions.is_empty()
            && points.allow(&store, outputs.iter().filter_map(|(_, _, value)| value.term()), decided))
    {
        let what = "depends on a decision by known floats".to_string();
        let fault = Fault::new(launch.which, FaultKind::DependsOnRounding, "V10", what, Vec::new(), None);
        return Err(Stop::Fault(Box::new(fault)));
    }
    let found = store.explained().map(|claim| Assumption::relied(claim.to_string()));
    run.relied.others.extend(found);
    Ok(Ran {
        store,
        pages,
        contributions,
        perhaps,
        outputs,
        unevaluated,
        unwritten: in_part,
        bags,
        lost,
        written_variables,
        counts,
        exact: mode == Mode::VectorClocks,
        patterns,
        overlap,
        others: Others::default(),
    })
}

/// The fault of an output element with this error.
pub(super) fn output_fault(
    launch: &Launch<'_>,
    at: ElementAt<'_>,
    (kind, rule, what, _): WrongOutput,
    sites: Vec<Site>,
) -> Fault {
    let place = launch.spell(at).unwrap_or_else(|| at.tensor.name.clone());
    let is_output = matches!(at.tensor.role, Role::Out | Role::InOut);
    let message = if is_output { format!("the output {place} {what}") } else { format!("{place} {what}") };
    let typed = (kind == FaultKind::TypeMismatch && launch.is_followed)
        .then(|| "between launches, a tensor holds elements of its declared type".to_owned());
    let help = typed.or(undefined_help(kind).map(str::to_owned));
    Fault::new(launch.which, kind, rule, message, sites, help)
}

/// The term of a value that is an integer or a real.
fn term_of(value: Value) -> Option<TermId> {
    let Value::Sym(sym) = value else { return None };
    match sym.kind() {
        SymKind::Real(_, term) | SymKind::Int(_, term) | SymKind::Half64(_, term) => Some(term),
        SymKind::Pair(..)
        | SymKind::Choice(_)
        | SymKind::Partly(_)
        | SymKind::Packed(_)
        | SymKind::Fragment { .. }
        | SymKind::Answer(_)
        | SymKind::Ticket(_) => None,
    }
}

/// Whether the operand of an atomic operation is computed from encodings that no template explains.
fn is_unexplained(value: Value, store: &Store) -> bool {
    let Value::Sym(sym) = value else { return false };
    match sym.kind() {
        SymKind::Real(_, term) | SymKind::Int(_, term) | SymKind::Half64(_, term) => store.is_refused(term),
        SymKind::Pair(_, low, high) => store.is_refused(low) || store.is_refused(high),
        SymKind::Choice(_) | SymKind::Packed(_) | SymKind::Fragment { .. } => store.explains(),
        SymKind::Partly(_) | SymKind::Answer(_) | SymKind::Ticket(_) => false,
    }
}

/// The sites of a wrong output, found by running the CTA again with vector clocks.
fn found_again(
    launch: &Launch<'_>,
    options: &Options,
    linear: u64,
    cell: (u32, u64),
    origin: Option<Origin>,
) -> Vec<Site> {
    let Ok(mut cta) = Cta::new(launch, options, linear, Mode::VectorClocks) else { return Vec::new() };
    if cta.run().is_err() {
        return Vec::new();
    }
    let Cta { values, sync, memory, unwritten, .. } = &mut cta;
    let Values { packed, store, .. } = values;
    let order = &sync.order;
    let Detector::VectorClock(exact) = order else { return Vec::new() };
    let (tensor, slot, reader) = (&launch.tensors[cell.0 as usize], cell.1 as usize % PAGE, InstId(u32::MAX));
    let held = memory.page(cell.0, cell.1, tensor, (packed, store), reader).0.cells[slot].whole(reader);
    // Choices have other numbers in this run.
    let origin = match origin {
        Some(Origin::Partly(_)) => held.and_then(|value| packed.undefined_part(value)),
        other => other,
    };
    sites_of(launch, linear, cell, (exact, unwritten, packed), origin)
}

/// The last write to a cell of an output, and where its value became undefined, as recorded by a run with vector
/// clocks.
pub(super) fn sites_of(
    launch: &Launch<'_>,
    linear: u64,
    (tensor, cell): (u32, u64),
    (exact, unwritten, packed): (&VectorClockDetector, &UnwrittenReads, &PackedValues),
    origin: Option<Origin>,
) -> Vec<Site> {
    let object = launch.objects.of_tensor(tensor);
    let written = object.and_then(|object| exact.history(object, cell).0.last().copied());
    let written = written.map(|access| Site {
        action: "writes it".into(),
        thread: Some(launch.thread(linear, access.thread)),
        place: launch.place(access.inst),
    });
    let read = |origin: Origin| {
        let leaf = packed.leaf(origin);
        let noted = unwritten.get(&origin.raw()).or_else(|| unwritten.get(&leaf.raw()));
        noted.cloned().or_else(|| origin_site(launch, leaf))
    };
    written.into_iter().chain(origin.and_then(read)).collect()
}
