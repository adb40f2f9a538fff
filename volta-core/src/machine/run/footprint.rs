//! Accesses of a launch's CTAs to global memory, compared with one another (rules S5, Y1), and the combined effect of
//! their atomics (Y7).

use super::execution::Execution;
use super::output::{Output, OutputValue, output_value, value_before};
use super::ran::{Ran, Unwritten};
use crate::case::{Element, Options};
use crate::concurrency::agent::AtomicUpdate;
use crate::concurrency::order::Access;
use crate::concurrency::race::Detector;
use crate::launch::Launch;
use crate::launch::objects::PAGE;
use crate::launch::tensor::ElementAt;
use crate::machine::cta::Cta;
use crate::machine::group::context::Context;
use crate::machine::group::possible::Possible;
use crate::machine::group::premises::Premises;
use crate::machine::group::run_error::RunError;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::values::Values;
use crate::machine::memory::contents::{Contribution, Page};
use crate::machine::memory::perhaps::{How, Meeting, PerhapsOfAll, Writer};
use crate::machine::sync::synchronisation::Mode;
use crate::program::{InstId, Scope};
use crate::term::{Imported, Store, TermId, TermKind, TermOp};
use crate::value::guard::{Guard, Literal, Terms};
use crate::value::int_terms::IntTerms;
use crate::value::masks::Masks;
use crate::value::{Origin, Value};
use crate::verdict::{Fault, FaultKind, Site};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the CTAs merged so far read, wrote and updated.
pub(crate) struct Merged<'l> {
    launch: &'l Launch<'l>,
    options: &'l Options,
    pages: FxHashMap<(u32, u64), Box<Footprint>>,
    /// Locations that were updated atomically, by tensor and byte offset.
    locations: BTreeMap<(u32, u64), Location>,
    /// Number of `sums` of all locations.
    sums: usize,
    /// Accesses that happen for some inputs only.
    perhaps: PerhapsOfAll,
    /// What each run of a CTA was about, if it ran several times.
    premises: PremisesOfAll,
}

/// A location that CTAs updated atomically; if several did, then all with one kind of update.
struct Location {
    kinds: SmallVec<[AtomicUpdate; 1]>,
    /// The first CTA that updated it.
    cta: u64,
    /// For a tensor whose contents matter, what each CTA contributed: the number of its store, and a value in it.
    sums: SmallVec<[(usize, Value); 1]>,
}

/// Accessed bytes of a page's cells, and the CTA that accessed each byte first.
struct Footprint {
    /// By [`HOW`].
    accessed: [[u8; PAGE]; 3],
    first: [[[u32; 4]; PAGE]; 3],
    uncached: [u8; PAGE],
}

/// The ways to access memory; of several conflicts in one cell, the one with the first of these is told.
const HOW: [How; 3] = [How::Writes, How::Reads, How::Updates];

/// The bytes of a cell that a CTA accessed, by [`HOW`].
fn accessed(page: &Page, slot: usize) -> [u8; 3] {
    [page.written[slot], page.read[slot], page.updated[slot]]
}

impl<'l> Merged<'l> {
    /// Before the first CTA of a launch.
    pub(crate) fn new(launch: &'l Launch<'l>, options: &'l Options) -> Merged<'l> {
        Merged {
            launch,
            options,
            pages: FxHashMap::default(),
            locations: BTreeMap::new(),
            sums: 0,
            perhaps: PerhapsOfAll::default(),
            premises: FxHashMap::default(),
        }
    }

    /// Bytes of memory that the footprints take.
    pub(crate) fn bytes(&self) -> u64 {
        let locations = self.locations.len() * (2 * size_of::<Location>());
        let sums = self.sums * size_of::<(usize, Value)>();
        (self.pages.len() * size_of::<Footprint>() + locations + sums) as u64 + self.perhaps.bytes()
    }

    /// Merges a CTA's footprint. Two CTAs that access a byte, at least one of them writing, race (rules S5, Y1), except
    /// for atomics that commute (Y7). `store` is the number of the CTA's store, if it wrote an output.
    pub(crate) fn add(&mut self, cta: u64, ran: &Ran, store: usize) -> Result<(), RunError> {
        let launch = self.launch;
        if launch.clusters.len() == 1 {
            return Ok(());
        }
        if ran.premises.len() > 1 {
            self.premises.insert(cta, ran.premises.clone());
        }
        let output = |tensor: u32| launch.is_left(&launch.tensors[tensor as usize]).then_some(store);
        let mut meeting = self.perhaps.add(
            cta,
            (&ran.perhaps, &ran.store),
            |place, bytes, how| racing(&self.pages, place, bytes, how),
            (&launch.distinct, launch.infeasible),
            output,
        );
        for (place, page) in ran.pages.iter().filter(|_| !self.perhaps.is_empty()) {
            let ways = |slot: usize| {
                let [written, read, updated] = accessed(page, slot);
                [(read, How::Reads), (written, How::Writes), (updated, How::Updates)]
            };
            meeting = meeting.or_else(|| self.perhaps.met(cta, *place, ways));
        }
        if let Some(Meeting { other, place: (tensor, cell), bytes }) = meeting {
            return Err(self.race([other, cta], (tensor, cell, bytes), false));
        }
        for ((tensor, number), page) in &ran.pages {
            let merged = self.pages.entry((*tensor, *number)).or_insert_with(|| {
                let (accessed, first) = ([[0; PAGE]; 3], [[[0; 4]; PAGE]; 3]);
                Box::new(Footprint { accessed, first, uncached: [0; PAGE] })
            });
            for slot in 0..PAGE {
                let own = accessed(page, slot);
                let [written, read, updated] = own;
                let against = [written | read | updated, written | updated, written | read];
                let met: [u8; 3] = std::array::from_fn(|way| merged.accessed[way][slot] & against[way]);
                let all_met = met[0] | met[1] | met[2];
                if let Some(way) = met.iter().position(|met| *met != 0) {
                    // The conflicting bytes that one CTA accessed first.
                    let (met, first) = (met[way], &merged.first[way][slot]);
                    let other = first[met.trailing_zeros() as usize];
                    let bytes = (0..4).filter(|at| met >> at & 1 == 1 && first[*at] == other);
                    let bytes = bytes.fold(0, |bytes, at| bytes | 1 << at);
                    let cell = number * PAGE as u64 + slot as u64;
                    let uncached = (merged.uncached[slot] | page.uncached[slot]) & all_met != 0;
                    return Err(self.race([u64::from(other), cta], (*tensor, cell, bytes), uncached));
                }
                for way in 0..HOW.len() {
                    let new = own[way] & !merged.accessed[way][slot];
                    for at in (0..4).filter(|at| new >> at & 1 == 1) {
                        merged.first[way][slot][at] = cta as u32;
                    }
                    merged.accessed[way][slot] |= own[way];
                }
                merged.uncached[slot] |= page.uncached[slot];
            }
        }
        for ((tensor, offset), contribution) in &ran.contributions {
            self.add_contribution(cta, (*tensor, *offset), contribution, store)?;
        }
        Ok(())
    }

    /// Merges a CTA's atomic updates of a location.
    fn add_contribution(
        &mut self,
        cta: u64,
        (tensor, offset): (u32, u64),
        contribution: &Contribution,
        store: usize,
    ) -> Result<(), RunError> {
        let near = (tensor, offset.saturating_sub(WIDEST - 1))..(tensor, offset + WIDEST);
        for ((_, other), location) in self.locations.range(near) {
            for (one, two) in
                location.kinds.iter().flat_map(|one| contribution.kinds.iter().map(move |two| (one, two)))
            {
                let start = offset.max(*other);
                let end = (offset + u64::from(two.update.bytes())).min(other + u64::from(one.update.bytes()));
                let goes_well = one.goes_with(*two) && offset == *other;
                if start < end && !goes_well {
                    let bytes =
                        (start..end.min(start / 4 * 4 + 4)).fold(0, |bytes, at| bytes | 1 << (at % 4));
                    return Err(self.race([location.cta, cta], (tensor, start / 4, bytes), false));
                }
            }
        }
        let location = self.locations.entry((tensor, offset)).or_insert_with(|| Location {
            kinds: contribution.kinds.clone(),
            cta,
            sums: SmallVec::new(),
        });
        if self.launch.is_left(&self.launch.tensors[tensor as usize]) {
            location.sums.push((store, contribution.sum));
            self.sums += 1;
        }
        Ok(())
    }

    /// The fault of an output element that a CTA, with the store of this number, writes for some inputs only: it happens
    /// for those for which no other one writes it either.
    pub(crate) fn unwritten(&self, found: Unwritten, own: usize, mut stores: Vec<Store>) -> RunError {
        let Unwritten { place, mut possible } = found;
        let writers = self.perhaps.writers.get(&place).into_iter().flatten();
        let others: Vec<&Writer> = writers.filter(|writer| writer.store != own).collect();
        let Some(when) = possible.when.filter(|_| !others.is_empty()) else {
            possible.store = std::mem::take(&mut stores[own]);
            return RunError::Possible(Box::new(possible));
        };
        let (mut store, nowhere) = (Store::new(), InstId(u32::MAX));
        let mut known = Known::default();
        let mut nobody = store.import(&stores[own], when, known.entry(own).or_default());
        for writer in others {
            let from = known.entry(writer.store).or_default();
            let writes = store.import(&stores[writer.store], writer.when, from);
            let not = store.apply(TermOp::Not, &[writes], nowhere);
            nobody = store.apply(TermOp::And, &[nobody, not], nowhere);
        }
        let told = "no block writes it".to_owned();
        RunError::Possible(Box::new(Possible { when: Some(nobody), store, told, ..possible }))
    }

    /// By output element that several CTAs wrote, each for other inputs: where it is written, and what the CTAs leave.
    fn of_several(&self, outcome: &mut Execution) -> Vec<OfElement> {
        if self.perhaps.writers.is_empty() {
            return Vec::new();
        }
        outcome.outputs.sort_by_key(Output::place);
        let mut written: BTreeMap<(usize, u64), OfElement> = BTreeMap::new();
        for ((number, cell), writers) in &self.perhaps.writers {
            for byte in 0..4 {
                let place = (*number, 4 * cell + byte);
                let at = self.launch.tensors[*number as usize].element_at(place.1);
                let Some(ElementAt { tensor, element, byte: 0 }) = at else { continue };
                let Some(param) = tensor.param else { continue };
                let key = (param, element);
                let left = outcome.outputs.iter().skip_while(|output| output.place() < key);
                let left = left.take_while(|output| output.place() == key).copied();
                let of = OfElement { place, left: left.collect(), by: Vec::new() };
                let of = written.entry(key).or_insert(of);
                let own = writers.iter().filter(|writer| writer.bytes >> byte & 1 == 1);
                of.by.extend(own.map(|writer| (writer.store, writer.when)));
            }
        }
        written.into_values().filter(|of| of.left.len() > 1).collect()
    }

    /// Gives output elements that several CTAs wrote, each for other inputs, the value that one of them wrote, or else
    /// the one before the launch with what they all added.
    fn choose(&self, written: Vec<OfElement>, outcome: &mut Execution) -> Result<(), RunError> {
        if written.is_empty() {
            return Ok(());
        }
        let mut store = Store::new();
        if self.options.ieee {
            store.set_ieee();
        }
        store.set_integers(self.launch.integers.clone());
        let mut known = Known::default();
        let own = outcome.stores.len();
        for OfElement { place, left, by } in written {
            let at = self.launch.tensors[place.0 as usize].element_at(place.1);
            let (Some(ElementAt { tensor, element, .. }), [Output { param, .. }, ..]) = (at, &left[..])
            else {
                continue;
            };
            let key = (*param, element);
            let first = outcome.outputs.partition_point(|output| output.place() < key);
            let stores = &outcome.stores;
            let term = |output: &Output, store: &mut Store, known: &mut Known| {
                let known = known.entry(output.store).or_default();
                let own = output.value.map(|term| store.import(&stores[output.store], term, known));
                own.number(tensor.element, store)
            };
            // What the location holds where nobody stores to it.
            let updates = self.locations.get(&place).map_or(&[][..], |location| &location.sums[..]);
            let mut value = match updates {
                [] => match value_before(tensor, element, &mut store, &mut Masks::default()) {
                    Some(old) => old.number(tensor.element, &mut store),
                    None => return Err(RunError::Defect("several CTAs wrote what has no value".into())),
                },
                [(only, _)] => match left.iter().find(|output| output.store == *only) {
                    Some(output) => term(output, &mut store, &mut known),
                    None => return Err(RunError::Defect("a CTA leaves no value where it added".into())),
                },
                [_, _, ..] => match outcome.outputs.get(first) {
                    Some(output) => term(output, &mut store, &mut known),
                    None => return Err(RunError::Defect("updates were not combined".into())),
                },
            };
            // What a CTA leaves where it does not write is what was there before.
            let before = value;
            let is_input = updates.is_empty() && matches!(before.kind(), TermKind::Input { .. });
            for output in &left {
                if let (true, Some(left)) = (is_input, output.value.term()) {
                    let mut known = Imported::default();
                    known.insert(before, value);
                    value = store.import(&stores[output.store], left, &mut known);
                    continue;
                }
                let held = term(output, &mut store, &mut known);
                for (_, when) in by.iter().filter(|(own, _)| *own == output.store) {
                    let from = &stores[output.store];
                    let when = store.import(from, *when, known.entry(output.store).or_default());
                    value = store.apply(TermOp::Select, &[when, held, value], InstId(u32::MAX));
                }
            }
            let value = match tensor.element {
                Element::Float(_) => OutputValue::Real(value),
                Element::Int { .. } | Element::Bool => OutputValue::Integer(value),
            };
            if let Some(output) = outcome.outputs.get_mut(first) {
                *output = Output { param: key.0, element, store: own, value };
            }
        }
        outcome.outputs.dedup_by_key(|output| output.place());
        outcome.add_store(store);
        self.options.budgets.check_held(&outcome.held).map_err(RunError::Exhausted)
    }

    /// Gives output elements that several CTAs wrote or updated their value: each CTA's outcome has only its own part.
    pub(crate) fn combine(&self, outcome: &mut Execution) -> Result<(), RunError> {
        let written = self.of_several(outcome);
        self.combine_updates(outcome)?;
        self.choose(written, outcome)
    }

    /// Gives output elements that several CTAs updated atomically their combined value, which includes the value before
    /// the launch: each CTA's outcome has only its own contribution.
    fn combine_updates(&self, outcome: &mut Execution) -> Result<(), RunError> {
        let shared: Vec<_> = self.locations.iter().filter(|(_, location)| location.sums.len() > 1).collect();
        if shared.is_empty() {
            return Ok(());
        }
        // Never runs: it only computes with the values of other CTAs.
        let launch = self.launch;
        let mut cta = Cta::new(launch, self.options, 0, Mode::WarpByWarp).map_err(RunError::Exhausted)?;
        cta.work.beside.held = outcome.held;
        let mut known: FxHashMap<usize, Imported> = FxHashMap::default();
        let mut combined: FxHashMap<(usize, u64), OutputValue> = FxHashMap::default();
        for ((number, offset), location) in shared {
            let at = launch.tensors[*number as usize].element_at(*offset);
            let whole = at.and_then(|at| Some((at, at.tensor.param?, launch.spell(at)?)));
            let (Some((ElementAt { tensor, element, .. }, param, place)), [AtomicUpdate { update, .. }]) =
                (whole, location.kinds.as_slice())
            else {
                return Err(RunError::Defect("atomics of several CTAs are not of one kind".into()));
            };
            let size = tensor.element.bytes();
            let fault = |kind, rule, message| {
                let fault = Fault::new(launch.which, kind, rule, message, Vec::new(), None);
                RunError::Fault(Box::new(fault), Vec::new())
            };
            if update.bytes() != size {
                let message = format!(
                    "several CTAs update {place} atomically by `{update}`, whose size is not that of its elements"
                );
                return Err(fault(FaultKind::Unsupported, "S5", message));
            }
            let mut value = tensor.value(element, &mut cta.values.terms.store, InstId(u32::MAX));
            for (store, sum) in &location.sums {
                let known = known.entry(*store).or_default();
                let by = imported(&mut cta.values.terms.store, &outcome.stores[*store], *sum, known);
                value = cta.arithmetic().updated(*update, value, by, InstId(0)).map_err(|held| {
                    let message = format!("an atomic operation on {place}, `{update}`, reads {held}");
                    fault(FaultKind::TypeMismatch, "V1", message)
                })?;
            }
            cta.check_budgets().map_err(RunError::from_stop)?;
            let ValueTerms { store, packed, ranges, .. } = &mut cta.values.terms;
            let mut residues = IntTerms { packed, store, ranges, pc: InstId(0) };
            match output_value(tensor, value, &mut residues, &mut Masks::default()) {
                Ok(value) => {
                    combined.insert((param, element), value);
                }
                Err(wrong) if launch.is_followed && wrong.0 != FaultKind::TypeMismatch => {
                    outcome.lost.push(launch.lost((param, element), wrong));
                }
                Err((kind, rule, what, _)) => {
                    return Err(fault(kind, rule, format!("the output {place} {what}")));
                }
            }
        }
        let own = outcome.stores.len();
        for output in &mut outcome.outputs {
            if let Some(value) = combined.get(&output.place()) {
                (output.store, output.value) = (own, *value);
            }
        }
        // Each contributing CTA lists the element among its outputs.
        outcome.outputs.sort_unstable_by_key(Output::place);
        outcome.outputs.dedup_by_key(|output| output.place());
        outcome.add_store(cta.values.terms.store);
        self.options.budgets.check_held(&outcome.held).map_err(RunError::Exhausted)
    }
}

/// By the number of a store: what was copied from it.
type Known = FxHashMap<usize, Imported>;

/// An element of an output that several CTAs write.
struct OfElement {
    /// Its tensor and byte offset.
    place: (u32, u64),
    /// What each CTA leaves there.
    left: Vec<Output>,
    /// The stores of the CTAs that write it, with where they do: a condition in the store.
    by: Vec<(usize, TermId)>,
}

/// The first CTA that makes an access for all inputs which races with this one.
fn racing(
    pages: &FxHashMap<(u32, u64), Box<Footprint>>,
    (tensor, cell): (u32, u64),
    bytes: u8,
    how: How,
) -> Option<u64> {
    let page = pages.get(&(tensor, cell / PAGE as u64))?;
    let slot = (cell % PAGE as u64) as usize;
    HOW.into_iter().enumerate().find_map(|(way, other)| {
        let met = page.accessed[way][slot] & bytes;
        let first = &page.first[way][slot];
        (met != 0 && other.races_with(how)).then(|| u64::from(first[met.trailing_zeros() as usize]))
    })
}

/// The widest atomic operation, in bytes.
const WIDEST: u64 = 8;

/// A contribution, imported as a value of another store.
pub(super) fn imported(to: &mut Store, from: &Store, value: Value, known: &mut Imported) -> Value {
    let Value::Sym(sym) = value else { return value };
    let copied = sym.with_term(|term| to.import(from, term, known));
    // Contributions are never values of another kind (`Contribution::sum`).
    debug_assert!(copied.is_some(), "a value that belongs to its CTA");
    copied.map_or(Value::Undefined(Origin::Invalid(InstId(u32::MAX))), Value::Sym)
}

/// By CTA, what each of its runs was about, for those that ran several times.
type PremisesOfAll = FxHashMap<u64, Vec<Arc<Premises>>>;

impl Merged<'_> {
    /// The race of two CTAs at some bytes of a cell of a tensor.
    #[cold]
    fn race(&self, ctas: [u64; 2], (tensor, cell, bytes): (u32, u64, u8), uncached: bool) -> RunError {
        let [first, second] = ctas;
        let none = [Arc::default()];
        let [ones, others] = ctas.map(|cta| self.premises.get(&cta).map_or(&none[..], Vec::as_slice));
        let object = self.launch.objects.of_tensor(tensor).unwrap_or_default();
        for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
            let runs = [(first, one), (second, other)];
            if let Some(stop) = self.race_between_runs(runs, (object, cell, bytes), uncached) {
                return RunError::from_stop(stop);
            }
        }
        // Updates that do not commute, but for which different inputs decide.
        let context = Context { launch: self.launch, options: self.options, linear: first };
        let place = context.spell(self.launch.objects.get(object), cell * 4, 4);
        let message = format!(
            "CTAs {first} and {second} update {place} by different operations, each for inputs for which the other does \
             not"
        );
        let help = "let all of them update it by one operation, or in launches of their own".to_owned();
        RunError::from_stop(context.fault_at(FaultKind::Unsupported, "Y7", message, Vec::new(), Some(help)))
    }

    /// The race of two CTAs, each run for the inputs that fulfil its premises; `None` if they exclude one another.
    fn race_between_runs(
        &self,
        runs: [(u64, &Arc<Premises>); 2],
        (object, cell, bytes): (u32, u64, u8),
        uncached: bool,
    ) -> Option<Stop> {
        let launch = self.launch;
        let [(first, _), (second, _)] = runs;
        let mut executed = Vec::new();
        for (cta, premises) in runs {
            let mut run = match Cta::new(launch, self.options, cta, Mode::VectorClocks) {
                Ok(run) => run,
                Err(exhausted) => return Some(Stop::Exhausted(exhausted)),
            };
            run.values.suppose(premises);
            match run.run() {
                Err(stop @ Stop::Fault(_)) => return Some(stop.about(premises)),
                Err(Stop::Possible(mut possible)) => {
                    let premises: Vec<Literal> = run.values.terms.guards.premises().collect();
                    possible.store = run.values.terms.store;
                    return Some(Stop::Possible(Box::new(possible.under(&premises))));
                }
                Ok(()) | Err(_) => executed.push(run),
            }
        }
        let [one, other] = &mut executed[..] else { return Some(Stop::Defect("two CTAs run again")) };
        let accesses = |run: &Cta<'_>| -> Vec<(Access, bool)> {
            let Detector::VectorClock(exact) = &run.sync.order else { return Vec::new() };
            let (writes, reads) = exact.history(object, cell);
            let all = writes
                .iter()
                .map(|access| (*access, true))
                .chain(reads.iter().map(|access| (*access, false)));
            all.filter(|(access, _)| access.bytes & bytes != 0).collect()
        };
        let (ones, others) = (accesses(one), accesses(other));
        let pairs = ones.iter().flat_map(|one| others.iter().map(move |other| [*one, *other]));
        let mut known = Imported::default();
        let mut pairs = pairs.filter_map(|pair| Some((pair, conflict_of_ctas(pair)?)));
        let conflict = pairs.find(|(pair, _)| {
            let guards = pair.map(|(access, _)| access.guard);
            !exclude_one_another([&mut *one, &mut *other], guards, &mut known)
        });
        let is_narrow = |(access, _): &(Access, bool)| access.guard != Guard::ALWAYS;
        let has_premises = [&*one, &*other].iter().any(|run| run.values.terms.guards.have_premises());
        if conflict.is_none() && (has_premises || ones.iter().chain(&others).any(is_narrow)) {
            return None;
        }
        let guards = conflict.map(|(pair, _)| pair.map(|(access, _)| access.guard));
        let (mut sites, mut names) = (Vec::new(), Vec::new());
        let (accesses, kind) = match conflict {
            Some((pair, kind)) => (pair.to_vec(), kind),
            None => (Vec::new(), FaultKind::Race),
        };
        for ((access, writes), (run, cta)) in accesses.iter().zip([(&*one, first), (&*other, second)]) {
            let object = launch.objects.get(object);
            let place =
                run.context.spell(object, cell * 4 + u64::from(bytes.trailing_zeros()), bytes.count_ones());
            let thread = launch.thread(cta, access.thread);
            let what = format!("{} {place}", access.verb(*writes));
            names.push(format!("{thread} {what} ({})", names.len() + 1));
            sites.push(Site { action: what, thread: Some(thread), place: launch.place(access.inst) });
        }
        let message = format!("{}, and nothing orders two CTAs of one launch", names.join(" and "));
        if kind == FaultKind::Nondeterministic {
            let message = format!("{message}: what it holds depends on the schedule");
            let fault = Fault::new(launch.which, kind, "Y7", message, sites, None);
            return Some(of_two_ctas(fault, guards, [one, other]));
        }
        let rule = if uncached { "M4" } else { "Y1" };
        let help = "let each CTA write its own elements, or combine them in a second launch".to_owned();
        let fault = Fault::new(launch.which, FaultKind::Race, rule, message, sites, Some(help));
        Some(of_two_ctas(fault, guards, [one, other]))
    }
}

/// Whether no input fulfils both of two guards of two CTAs, as far as their literals show; `known` are copies of terms of
/// the second in the store of the first.
fn exclude_one_another(
    [one, other]: [&mut Cta<'_>; 2],
    [first, second]: [Guard; 2],
    known: &mut Imported,
) -> bool {
    let mut literals = other.values.terms.guards.conditions(second);
    if literals.is_empty() || one.values.terms.guards.conditions(first).is_empty() {
        return false;
    }
    literals.reverse();
    for literal in &mut literals {
        literal.condition =
            one.values.terms.store.import(&other.values.terms.store, literal.condition, known);
    }
    let Values { terms, congruence, .. } = &mut one.values;
    let ValueTerms { store, guards, .. } = terms;
    let second = guards.where_all(Terms { store, congruence }, &literals);
    guards.exclude(first, second)
}

/// A fault of accesses of two CTAs, each under its guard.
fn of_two_ctas(fault: Fault, guards: Option<[Guard; 2]>, [one, other]: [&mut Cta<'_>; 2]) -> Stop {
    let Some([first, second]) = guards else { return Stop::Fault(Box::new(fault)) };
    let mut literals = one.values.terms.guards.all_literals(first);
    let mut known = Imported::default();
    for Literal { condition, holds } in other.values.terms.guards.all_literals(second) {
        let condition = one.values.terms.store.import(&other.values.terms.store, condition, &mut known);
        literals.push(Literal { condition, holds });
    }
    let mut stop = one.values.terms.possibly_in(fault, vec![literals]);
    if let Stop::Possible(possible) = &mut stop {
        possible.store = std::mem::take(&mut one.values.terms.store);
    }
    stop
}

/// Whether accesses of two CTAs to the same bytes conflict, and how; each access with whether it writes.
fn conflict_of_ctas([(one, one_writes), (other, other_writes)]: [(Access, bool); 2]) -> Option<FaultKind> {
    if !one_writes && !other_writes {
        return None;
    }
    match (one.agent.atomic_update(), other.agent.atomic_update()) {
        (Some(one), Some(other)) if one.goes_with(other) => None,
        (Some(one), Some(other)) if one.differs(other) && [one.scope, other.scope] == [Scope::Launch; 2] => {
            Some(FaultKind::Nondeterministic)
        }
        _ => Some(FaultKind::Race),
    }
}
