//! Runs a CTA, or CTAs that run together, in as many orders of the operations on counters as it takes to speak for all
//! of them (rule Y18), and compares what they leave.

use super::output::{Lost, OutputValue};
use super::ran::{CtaRun, Ran};
use crate::base::assumption::Assumption;
use crate::machine::cta::work::Beside;
use crate::machine::group::assumptions::Relied;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::memory::contents::{Page, Placed};
use crate::machine::sync::queue::{Changed, Queue, Schedule};
use crate::machine::sync::synchronisation::Mode;
use crate::machine::sync::tickets::{
    DrawOrder, Learns, MOST_ORDERS, Spoken, Tickets, runs_at_least, unspoken,
};
use crate::program::InstId;
use crate::term::{Store, TermId, View};
use crate::verdict::{Fault, FaultKind, Place, Site};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A message shows as many operations.
const MOST_SITES: usize = 3;
/// The orders after which it is estimated how many there are, if all leave the same.
const ENOUGH_ORDERS: usize = 8;

/// Runs it in all orders.
pub(super) fn run_in_orders(context: Context<'_>, beside: Beside<'_>) -> CtaRun {
    let mut run = CtaRun::new();
    run.relied = Relied::new(context.launch, &context.options.rules);
    let mut runs = Orders { context, beside, run, spoken: Vec::new(), draws_again: false };
    let done = match runs.all() {
        Err(Stop::Fault(fault)) if fault.rule == "Y18" && runs.draws_again => runs.as_items(),
        done => done,
    };
    let Orders { mut run, spoken, .. } = runs;
    let executed = spoken.len();
    let are_all = done.as_ref().is_ok_and(|ran| !ran.others.are_partial);
    if executed > 1 && are_all {
        run.relied.others.insert(Assumption::relied(format!(
            "{} is open: {executed} orders were executed, which speak for all (Y18)",
            if context.launch.has_locks {
                "in which order threads take locks, or draw numbers,"
            } else {
                "which thread an atomic operation tells that it is the last, or another one in particular,"
            }
        )));
    }
    run.done = done;
    run
}

struct Orders<'l> {
    context: Context<'l>,
    beside: Beside<'l>,
    /// What all runs relied on and took.
    run: CtaRun,
    /// The orders for which each run speaks.
    spoken: Vec<Spoken>,
    /// Whether a thread would have drawn again after it has used a ticket.
    draws_again: bool,
}

impl Orders<'_> {
    fn all(&mut self) -> Result<Ran, Stop> {
        let (mut first, tickets): (Ran, Tickets) = self.speaking(None)?;
        if tickets.draws.is_empty() {
            return Ok(first);
        }
        self.spoken.push(tickets.spoken());
        first.others.sites = self.sites(&tickets);
        loop {
            let differ = !first.others.differing.is_empty();
            let order = match unspoken(&self.spoken) {
                Ok(None) => return Ok(first),
                Ok(Some(order)) if self.spoken.len() < MOST_ORDERS && !self.is_hopeless(differ) => order,
                Ok(Some(_)) | Err(()) if differ => {
                    first.others.are_partial = true;
                    return Ok(first);
                }
                Ok(Some(_)) | Err(()) => {
                    return Err(
                        self.unclear("too many orders of its atomic operations would have to be executed")
                    );
                }
            };
            let (other, tickets) = self.speaking(Some(order))?;
            let spoken = tickets.spoken();
            let draws = |spoken: &Spoken| {
                let keys = spoken.iter().flat_map(|(key, of)| of.keys().map(move |thread| (*key, *thread)));
                keys.collect::<Vec<_>>()
            };
            if draws(&spoken) != draws(&self.spoken[0]) {
                return Err(
                    self.unclear("which threads execute its atomic operations depends on their order")
                );
            }
            self.spoken.push(spoken);
            self.compare(&mut first, other)?;
        }
    }

    /// The first few operations that draw.
    fn sites(&self, tickets: &Tickets) -> Arc<[Site]> {
        let drawn: BTreeSet<InstId> = tickets.draws.iter().map(|draw| draw.pc).collect();
        let places = drawn.into_iter().filter_map(|pc| self.context.launch.place(pc)).take(MOST_SITES);
        places.map(|place| in_any_order("threads execute this in any order", place)).collect()
    }

    /// Whether far more orders would have to be executed than are, if further runs speak for as few as those so far.
    fn is_hopeless(&self, differ: bool) -> bool {
        let fewest = || self.spoken.iter().map(runs_at_least).fold(f64::INFINITY, f64::min);
        (differ || self.spoken.len() >= ENOUGH_ORDERS) && fewest() > (4.0 * MOST_ORDERS as f64).log2()
    }

    /// A run in an order, by which it speaks for others as well.
    fn speaking(&mut self, order: Option<DrawOrder>) -> Result<(Ran, Tickets), Stop> {
        let (done, tickets) = self.one(order.clone(), Learns::AsLast);
        let executed = tickets.executed();
        let order = order.or_else(|| done.is_ok().then_some(executed));
        let (done, tickets) = if done.is_ok() && !tickets.are_last() {
            self.one(order.clone(), Learns::Nothing)
        } else {
            (done, tickets)
        };
        match done {
            Ok(ran) => Ok((ran, tickets)),
            Err(Stop::Fault(fault)) if fault.rule == "Y18" => Err(Stop::Fault(fault)),
            // In this run, most threads have learned nothing. A fault is one if this very order shows it.
            Err(Stop::Fault(_) | Stop::Possible(_)) => match self.one(order, Learns::AsExecuted).0 {
                Ok(_) => Err(self.unclear("whether accesses race depends on the order")),
                Err(stop) => Err(stop),
            },
            Err(stop) => Err(stop),
        }
    }

    /// A run in which numbers are items of work, which speaks for all.
    fn as_items(&mut self) -> Result<Ran, Stop> {
        let mut changed = Changed::default();
        let ran = loop {
            let (done, tickets) = self.with(Tickets::of_queue(Queue::new(changed)));
            let ran = match done {
                Ok(ran) => ran,
                Err(Stop::Fault(fault)) if fault.kind == FaultKind::Unsupported => {
                    return self.differing_schedules().ok_or(Stop::Fault(fault));
                }
                Err(stop) => return Err(stop),
            };
            // Each time, something is added to what items change.
            match tickets.queue.and_then(Queue::changed_more) {
                Some(more) => changed = more,
                None => break ran,
            }
        };
        self.run.relied.others.insert(Assumption::relied(
            "who takes which item of work is open: each item is the same for all that may take it (Y18)",
        ));
        Ok(ran)
    }

    /// A run of items in one schedule, if another schedule leaves something else.
    fn differing_schedules(&mut self) -> Option<Ran> {
        let (first, tickets) = self.with(Tickets::of_queue(Queue::of_schedule(Schedule::Forwards)));
        let mut first = first.ok()?;
        for schedule in [Schedule::Backwards, Schedule::Alone] {
            let other = self.with(Tickets::of_queue(Queue::of_schedule(schedule))).0.ok()?;
            self.compare(&mut first, other).ok()?;
            if !first.others.differing.is_empty() {
                let place = tickets.queue.and_then(|queue| self.context.launch.place(queue.taken?.pc));
                let site = place.map(|place| in_any_order("items are taken in any order", place));
                first.others.sites = site.into_iter().collect();
                first.others.are_partial = true;
                return Some(first);
            }
        }
        None
    }

    fn one(&mut self, order: Option<DrawOrder>, learns: Learns) -> (Result<Ran, Stop>, Tickets) {
        let (done, tickets) = self.with(Tickets::new(order, learns));
        self.draws_again |= tickets.draws_again;
        (done, tickets)
    }

    fn with(&mut self, mut tickets: Tickets) -> (Result<Ran, Stop>, Tickets) {
        let mut run = CtaRun::new();
        let instructions = self.beside.instructions + self.run.taken.instructions;
        let beside = Beside { instructions, ..self.beside };
        let done = run.draw(self.context, Mode::VectorClocks, beside, &mut tickets);
        self.run.taken.instructions += run.taken.instructions;
        if self.run.taken.held.total() < run.taken.held.total() {
            self.run.taken.held = run.taken.held;
        }
        self.run.relied.merge(run.relied);
        (done.map_err(Stop::alone), tickets)
    }

    fn unclear(&self, why: &str) -> Stop {
        let (which, message) =
            (self.context.launch.which, format!("what atomic operations return is not followed: {why}"));
        Stop::Fault(Box::new(Fault::new(which, FaultKind::Unsupported, "Y18", message, Vec::new(), None)))
    }

    /// Compares what two orders leave.
    fn compare(&self, first: &mut Ran, other: Ran) -> Result<(), Stop> {
        let places = |ran: &Ran| {
            let written = ran.outputs.iter().map(|(param, element, _)| (*param, *element));
            let written = written.chain(ran.unevaluated.iter().copied());
            written.chain(ran.lost.iter().map(Lost::place)).collect::<BTreeSet<_>>()
        };
        if !first.contributions.is_empty() || !other.contributions.is_empty() {
            return Err(self.unclear("several blocks update global memory by atomic operations"));
        }
        if !first.perhaps.is_empty() || !other.perhaps.is_empty() {
            return Err(self.unclear("accesses to global memory depend on the input"));
        }
        let is_of_several = self.context.launch.clusters.len() > 1;
        if places(first) != places(&other) || is_of_several && !touch_alike(&first.pages, &other.pages) {
            return Err(self.unclear("where the kernel writes depends on their order"));
        }
        let values: BTreeMap<(usize, u64), OutputValue> =
            other.outputs.iter().map(|(param, element, value)| ((*param, *element), *value)).collect();
        let mut same = Same { stores: [&first.store, &other.store], seen: FxHashSet::default() };
        let (mut differing, mut unclear) = (Vec::new(), Vec::new());
        for (param, element, value) in &first.outputs {
            let there = values.get(&(*param, *element)).copied();
            let is_same = there.is_some_and(|there| same.values(*value, there));
            if is_same {
                continue;
            }
            match there {
                Some(there) if self.context.launch.is_compared(*param) => {
                    differing.push((*param, *element, *value, there));
                }
                Some(_) | None => unclear.push((*param, *element)),
            }
        }
        unclear.extend(other.lost.iter().map(Lost::place).collect::<BTreeSet<_>>());
        unclear.extend(other.unevaluated.iter().filter(|at| !first.unevaluated.contains(at)));
        if unclear.iter().any(|(param, _)| self.context.launch.is_compared(*param))
            && !self.context.launch.is_followed
        {
            return Err(self.unclear("whether an output has a value depends on their order"));
        }
        let unclear: BTreeSet<(usize, u64)> = unclear.into_iter().collect();
        first.outputs.retain(|(param, element, _)| !unclear.contains(&(*param, *element)));
        first.lost.retain(|lost| !unclear.contains(&lost.place()));
        first.lost.extend(unclear.into_iter().map(|(param, element)| Lost {
            param,
            element,
            step: self.context.launch.step,
            kind: FaultKind::Unsupported,
            rule: "Y18",
            what: "may depend on the order of atomic operations".to_string(),
        }));
        if !differing.is_empty() {
            let store = first.others.stores.len();
            first.others.stores.push(other.store);
            let all = differing.into_iter();
            first
                .others
                .differing
                .extend(all.map(|(param, element, own, there)| (param, element, own, there, store)));
        }
        Ok(())
    }
}

/// The site of operations that may come in any order.
fn in_any_order(action: &str, place: Place) -> Site {
    Site { action: action.into(), thread: None, place: Some(place) }
}

/// Whether two runs have accessed global memory at the same places and in the same ways.
fn touch_alike(one: &[Placed<Box<Page>>], other: &[Placed<Box<Page>>]) -> bool {
    let alike = |(place, page): &Placed<Box<Page>>, (at, with): &Placed<Box<Page>>| {
        place == at
            && page.written == with.written
            && page.read == with.read
            && page.updated == with.updated
            && page.perhaps == with.perhaps
            && page.uncached == with.uncached
    };
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
}

/// Finds terms of two stores that are the same operations on the same inputs.
struct Same<'s> {
    stores: [&'s Store; 2],
    /// Pairs that are the same, if all in it are.
    seen: FxHashSet<[TermId; 2]>,
}

impl Same<'_> {
    fn values(&mut self, one: OutputValue, other: OutputValue) -> bool {
        match (one, other) {
            (OutputValue::Bits(one), OutputValue::Bits(other)) => one == other,
            (OutputValue::Real(one), OutputValue::Real(other))
            | (OutputValue::Integer(one), OutputValue::Integer(other)) => self.terms(one, other),
            (OutputValue::Bits(_) | OutputValue::Real(_) | OutputValue::Integer(_), _) => false,
        }
    }

    fn terms(&mut self, one: TermId, other: TermId) -> bool {
        let (mut work, mut new) = (vec![[one, other]], Vec::new());
        while let Some(pair) = work.pop() {
            if !self.seen.insert(pair) {
                continue;
            }
            new.push(pair);
            let is_same = match (self.stores[0].view(pair[0]), self.stores[1].view(pair[1])) {
                (View::Input { input, element }, View::Input { input: same, element: at }) => {
                    (input, element) == (same, at)
                }
                (View::Constant(one), View::Constant(other)) => one == other,
                (View::Apply(op, operands), View::Apply(same, others)) => {
                    let arity = op.arity();
                    work.extend((0..arity).map(|at| [operands[at], others[at]]));
                    op == same
                }
                (View::Input { .. } | View::Constant(_) | View::Apply(..), _) => false,
            };
            if !is_same {
                new.iter().for_each(|pair| {
                    self.seen.remove(pair);
                });
                return false;
            }
        }
        true
    }
}
