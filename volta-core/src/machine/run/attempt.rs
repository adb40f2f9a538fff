//! One run of a CTA, and what it leaves.

use super::bags::Ended;
use super::output::{OutputValue, element_value, fill_written, output_value, written_elements};
use super::ran::{CtaRun, Others, Ran, Unwritten};
use crate::base::assumption::Assumption;
use crate::concurrency::race::Detector;
use crate::launch::Launch;
use crate::launch::objects::PAGE;
use crate::launch::tensor::ElementAt;
use crate::machine::cta::Cta;
use crate::machine::cta::work::Beside;
use crate::machine::group::context::Context;
use crate::machine::group::possible::{InCases, undefined_cases};
use crate::machine::group::premises::Premises;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::values::Values;
use crate::machine::memory::bag_stores;
use crate::machine::sync::synchronisation::Mode;
use crate::machine::sync::tickets::Tickets;
use crate::program::{InstId, WORKSPACE};
use crate::term::{Nearest, Store, TermId, depends_on};
use crate::value::constants::KnownFloats;
use crate::value::guard::{Guard, Literal, Terms};
use crate::value::int_terms::IntTerms;
use crate::value::{Origin, SymKind, Value};
use crate::verdict::{Fault, FaultKind, Site};
use std::collections::BTreeSet;
use std::sync::Arc;

/// This error with the library function that is nearest to the term.
pub(super) fn unexplained(launch: &Launch<'_>, store: &Store, term: TermId) -> String {
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

impl CtaRun {
    /// Runs the CTA, for the inputs that the run is about.
    pub(super) fn attempt(
        &mut self,
        context: Context<'_>,
        mode: Mode,
        beside: Beside<'_>,
    ) -> Result<Ran, Stop> {
        self.draw(context, mode, beside, &mut Tickets::default())
    }

    /// Likewise. `tickets` are those to draw, and then those that were drawn.
    pub(super) fn draw(
        &mut self,
        context: Context<'_>,
        mode: Mode,
        beside: Beside<'_>,
        tickets: &mut Tickets,
    ) -> Result<Ran, Stop> {
        executed(self, context, mode, (beside, tickets)).map_err(|stop| stop.about(&self.premises))
    }
}

fn executed(
    run: &mut CtaRun,
    context: Context<'_>,
    mode: Mode,
    (beside, tickets): (Beside<'_>, &mut Tickets),
) -> Result<Ran, Stop> {
    let Context { launch, options, linear } = context;
    let mut cta = Cta::new(launch, options, linear, mode)?;
    cta.work.beside = beside;
    cta.values.suppose(&run.premises);
    let premises: Vec<Literal> = cta.values.terms.guards.premises().collect();
    cta.class = run.class.take();
    cta.sync.tickets = std::mem::take(tickets);
    let done = cta.run().and_then(|()| cta.check_budgets());
    run.taken = cta.work.taken();
    run.relied = std::mem::take(&mut cta.values.terms.relied);
    run.raced = cta.sync.raced;
    run.class = cta.class.take();
    *tickets = std::mem::take(&mut cta.sync.tickets);
    if let Err(Stop::Possible(mut possible)) = done {
        possible.store = std::mem::take(&mut cta.values.terms.store);
        return Err(Stop::Possible(Box::new(possible.under(&premises))));
    }
    done?;
    let Cta { values, sync, memory, work, unwritten, patterns, overlap, .. } = cta;
    let counts = work.counts;
    let Values { terms, mut congruence, numbers, .. } = values;
    let ValueTerms { mut store, mut packed, mut ranges, mut guards, .. } = terms;
    let points = numbers.points;
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
            let terms = Terms { store: &mut store, congruence: &mut congruence };
            let value = guards.defined_by_counting(terms, &mut packed, Guard::ALWAYS, value);
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
                Detector::VectorClock(exact) => context.sites_of(cell, (exact, &unwritten, &packed), wrong.3),
                Detector::Epoch(_) => context.found_again(&run.premises, cell, wrong.3),
            };
            let origin = wrong.3;
            let fault = launch.output_fault(at, wrong, sites);
            if let Some(partly) = origin.and_then(Origin::number) {
                let cases = undefined_cases(&packed, partly);
                let mut possible = InCases::new(fault, cases, String::new()).under(&premises);
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
            let sites = bags.draws.first().map(|draw| launch.bag_site(linear, "returns it", draw.site));
            let fault = bag_stores::of_ticket(launch, "what the kernel leaves", sites.into_iter().collect());
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
        return Err(Stop::Fault(Box::new(launch.output_fault(at, wrong, Vec::new()))));
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
        exact: mode.has_vector_clocks(),
        premises: vec![Arc::clone(&run.premises)],
        patterns,
        overlap,
        others: Others::default(),
    })
}

/// The term of a value that is an integer or a real.
pub(super) fn term_of(value: Value) -> Option<TermId> {
    let Value::Sym(sym) = value else { return None };
    let (SymKind::Real(_, term) | SymKind::Int(_, term) | SymKind::Half64(_, term)) = sym.kind() else {
        return None;
    };
    Some(term)
}

/// Whether the operand of an atomic operation is computed from encodings that no template explains.
pub(crate) fn is_unexplained(value: Value, store: &Store) -> bool {
    let Value::Sym(sym) = value else { return false };
    match sym.kind() {
        SymKind::Real(_, term) | SymKind::Int(_, term) | SymKind::Half64(_, term) => store.is_refused(term),
        SymKind::Pair(_, low, high) => store.is_refused(low) || store.is_refused(high),
        SymKind::Choice(_) | SymKind::Packed(_) | SymKind::Fragment { .. } => store.explains(),
        SymKind::Partly(_) | SymKind::Answer(_) | SymKind::Ticket(_) => false,
    }
}

impl Context<'_> {
    /// The sites of a wrong output, found by running the CTA again with vector clocks.
    pub(super) fn found_again(
        &self,
        premises: &Premises,
        cell: (u32, u64),
        origin: Option<Origin>,
    ) -> Vec<Site> {
        let Context { launch, options, linear } = *self;
        let Ok(mut cta) = Cta::new(launch, options, linear, Mode::VectorClocks) else { return Vec::new() };
        cta.values.suppose(premises);
        if cta.run().is_err() {
            return Vec::new();
        }
        let Cta { values, sync, memory, unwritten, .. } = &mut cta;
        let ValueTerms { packed, store, .. } = &mut values.terms;
        let Detector::VectorClock(exact) = &sync.order else { return Vec::new() };
        let (tensor, slot) = (&launch.tensors[cell.0 as usize], cell.1 as usize % PAGE);
        let reader = InstId(u32::MAX);
        let held = memory.page(cell.0, cell.1, tensor, (packed, store), reader).0.cells[slot].whole(reader);
        // Choices have other numbers in this run.
        let origin = match origin {
            Some(Origin::Partly(_)) => held.and_then(|value| packed.undefined_part(value)),
            other => other,
        };
        self.sites_of(cell, (exact, unwritten, packed), origin)
    }
}

/// The error of an output computed from an encoding that no template explains.
const UNEXPLAINED: &str =
    "is computed from the encoding of a real, by steps that are not a known library function";
