//! Places that counters give (rule Y18): stores to an output that is compared as a multiset, at places that are numbers
//! of conditions, or follow from what atomic additions return. Each addition of *n* takes *n* places that no other one
//! takes, in whatever order they come; so a run in one order is one for all of them.

use super::output::{Output, OutputValue, output_value};
use crate::launch::Launch;
use crate::launch::bind::MOST_TICKET;
use crate::launch::objects::pretty_name;
use crate::launch::tensor::Tensor;
use crate::machine::group::possible::{InCases, Possible};
use crate::machine::group::run_error::RunError;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::values::Values;
use crate::machine::memory::bag_stores::{BagStore, Bags, CounterKey, Draw, of_ticket};
use crate::program::{InstId, Space};
use crate::term::{
    Congruence, Count, Counts, Imported, InputId, Store, TermId, TermKind, TermOp, depends_on,
};
use crate::value::guard::{Guard, Guards, Literal};
use crate::value::int_terms::{IntTerms, whole};
use crate::value::masks::Masks;
use crate::value::packed::{Choice, PackedValues};
use crate::value::{SymKind, Value};
use crate::verdict::{Fault, FaultKind, Site};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The most arms of choices that one integer is read as.
const MOST_ARMS: u32 = 1 << 12;

/// The counter from which the places of an output are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// A counter in global memory.
    Global(CounterKey),
    /// One in the shared memory of a CTA.
    Shared(u64, CounterKey),
    /// None: they are numbers of conditions of a CTA.
    Counted(u64),
}

impl Origin {
    fn key(self) -> Option<CounterKey> {
        match self {
            Origin::Global(key) | Origin::Shared(_, key) => Some(key),
            Origin::Counted(_) => None,
        }
    }
}

/// An element of an output that is compared as a multiset.
#[derive(Clone, Copy, Debug)]
pub struct BagElement {
    /// The index of its store.
    pub store: usize,
    /// 1 where it is written, else 0; `None` if it always is.
    pub is_written: Option<TermId>,
    /// Its value, where it is written, else 0.
    pub value: TermId,
    /// The thread and the instruction that write it.
    site: (u64, u32, InstId),
}

/// The elements of an output that is compared as a multiset: those that are written are at the places from the first one
/// on.
#[derive(Clone, Debug)]
pub struct Bag {
    /// The output: a parameter of the case.
    pub param: usize,
    /// The first place, as a row-major element number.
    pub first: u64,
    /// The elements, in no order.
    pub elements: Vec<BagElement>,
    from: Origin,
    /// Of the first CTA, the element at the first place, if the first addition of its run gives it.
    lead: Option<BagElement>,
}

/// What a CTA writes to outputs that are compared as multisets, and which counters it adds to.
#[derive(Debug, Default)]
pub(crate) struct BagsOfCta {
    pub(crate) bags: Vec<Bag>,
    /// The counters in global memory that it adds to, with what they held before, and the most that it adds.
    drawn: BTreeMap<CounterKey, (i128, i128)>,
    /// Tensors that are compared as multisets and from which it reads.
    read: BTreeSet<u32>,
    /// As in [`Bags`].
    others: BTreeSet<CounterKey>,
    returned: BTreeSet<CounterKey>,
}

impl BagsOfCta {
    /// Whether it writes none, and adds to no counter.
    pub(crate) fn is_empty(&self) -> bool {
        self.bags.is_empty() && self.drawn.is_empty() && self.others.is_empty()
    }
}

/// What all CTAs of a launch write to outputs that are compared as multisets.
#[derive(Debug, Default)]
pub(super) struct BagsOfAll {
    bags: BTreeMap<usize, Bag>,
    /// By counter in global memory, the most that it may hold in the end.
    most: BTreeMap<CounterKey, i128>,
    /// For each CTA, the counters that it adds to, and the outputs that it writes at places from counters.
    drawn: Vec<(BTreeSet<CounterKey>, BTreeSet<usize>)>,
    read: BTreeSet<u32>,
    others: BTreeSet<CounterKey>,
    returned: BTreeSet<CounterKey>,
}

impl BagsOfAll {
    /// Adds those of a CTA, whose terms are in the last of the stores.
    pub(crate) fn add(
        &mut self,
        launch: &Launch<'_>,
        of: BagsOfCta,
        stores: &[Store],
    ) -> Result<(), RunError> {
        let store = stores.len().saturating_sub(1);
        self.read.extend(of.read);
        self.others.extend(of.others);
        self.returned.extend(of.returned);
        for (key, (before, by)) in &of.drawn {
            *self.most.entry(*key).or_insert(*before) += by;
        }
        let params = of.bags.iter().map(|bag| bag.param).collect();
        let own: BTreeSet<CounterKey> = of.drawn.into_keys().collect();
        for mut bag in of.bags {
            bag.elements.iter_mut().chain(&mut bag.lead).for_each(|element| element.store = store);
            let Some(all) = self.bags.get_mut(&bag.param) else {
                self.bags.insert(bag.param, bag);
                continue;
            };
            if all.from != bag.from {
                // Neither CTA adds to the counter of the other before its own first addition.
                let is_in = |origin: Origin, keys: &BTreeSet<CounterKey>| matches!(origin, Origin::Global(key) if keys.contains(&key));
                let are_apart =
                    !is_in(all.from, &own) && !self.drawn.iter().any(|(keys, _)| is_in(bag.from, keys));
                return Err(launch.of_two_ctas((all, &bag), are_apart, stores));
            }
            if all.first != bag.first {
                let why = "blocks write at different places behind what a counter gives";
                return Err(launch.unclear_bag(all, why));
            }
            all.elements.extend(bag.elements);
        }
        self.drawn.push((own, params));
        Ok(())
    }

    /// All bags, once the outputs of all CTAs are known.
    pub(crate) fn finish(
        self,
        launch: &Launch<'_>,
        (stores, outputs): (&[Store], &[Output]),
    ) -> Result<Vec<Bag>, RunError> {
        if let Some(key) = self.returned.intersection(&self.others).next() {
            let why = "not all of its additions are of known numbers, or of numbers of conditions, to what the others left";
            return Err(RunError::Fault(Box::new(launch.unclear_counter(*key, why)), Vec::new()));
        }
        for bag in self.bags.values() {
            if let Origin::Global(key) = bag.from
                && self.drawn.iter().any(|(keys, params)| keys.contains(&key) && !params.contains(&bag.param))
            {
                return Err(launch.unclear_bag(bag, "some blocks take places at which they write nothing"));
            }
            if outputs.iter().any(|output| output.param == bag.param) {
                return Err(launch.unclear_bag(bag, "other blocks write it in other ways"));
            }
            let tensor = launch.bag_tensor(bag);
            if tensor.is_some_and(|(number, _)| self.read.contains(&number)) {
                return Err(launch.unclear_bag(bag, "it is read as well"));
            }
            let holds = tensor.map_or(0, |(_, tensor)| tensor.elements);
            if bag.first + bag.elements.len() as u64 > holds {
                return Err(launch.beyond(bag, holds, stores));
            }
        }
        let is_beyond = |key: &&CounterKey| self.most.get(key).is_some_and(|most| *most > MOST_TICKET);
        if let Some(key) = self.returned.iter().find(is_beyond) {
            let why = format!("it may be larger than {MOST_TICKET}");
            return Err(RunError::Fault(Box::new(launch.unclear_counter(*key, &why)), Vec::new()));
        }
        Ok(self.bags.into_values().collect())
    }
}

impl ValueTerms<'_> {
    /// Whether a term depends on what an atomic addition returned.
    pub(crate) fn depends_on_ticket(&self, term: TermId) -> bool {
        let launch = self.context.launch;
        launch.has_sets && depends_on(&self.store, &[term], |term| launch.is_ticket(term))
    }
}

impl Values<'_> {
    /// An integer as a number of conditions.
    pub(crate) fn count(&mut self, counts: &mut Counts, value: Value) -> Option<Rc<Count>> {
        self.count_of_arms(counts, value, &mut { MOST_ARMS })
    }

    fn count_of_arms(&mut self, counts: &mut Counts, value: Value, left: &mut u32) -> Option<Rc<Count>> {
        *left = left.checked_sub(1)?;
        let sym = match value {
            Value::Bits(bits) => return Some(Rc::new(Count::number(bits.into()))),
            Value::Sym(sym) => sym,
            Value::Undefined(_) => return None,
        };
        if let SymKind::Int(_, term) = sym.kind() {
            return counts.of((&mut self.terms.store, &mut self.congruence), term);
        }
        let Choice { condition, then, otherwise } = self.terms.packed.as_choice(value)?;
        let condition = counts.of((&mut self.terms.store, &mut self.congruence), condition)?;
        let then = self.count_of_arms(counts, then, left)?;
        let otherwise = self.count_of_arms(counts, otherwise, left)?;
        then.plus(&otherwise, -1)?.times(&condition)?.plus(&otherwise, 1).map(Rc::new)
    }

    /// A guard as a condition that is 0 or 1.
    pub(crate) fn count_of_guard(&mut self, counts: &mut Counts, guard: Guard) -> Option<Count> {
        let terms = (&mut self.terms.store, &mut self.congruence);
        count_of_guard(counts, &self.terms.guards, terms, guard)
    }
}

impl Launch<'_> {
    /// Whether a term is what an atomic addition returned.
    pub(super) fn is_ticket(&self, term: TermId) -> bool {
        matches!(term.kind(), TermKind::Input { input, .. } if input == self.tickets())
    }

    /// The input that stands for what atomic additions return, behind those that stand for what earlier steps left.
    pub(crate) fn tickets(&self) -> InputId {
        InputId::from_index(2 * self.params.len())
    }

    /// The tensor of a bag, with its number.
    fn bag_tensor(&self, bag: &Bag) -> Option<(u32, &Tensor)> {
        let at = self.tensors.iter().position(|tensor| tensor.param == Some(bag.param))?;
        Some((at as u32, &self.tensors[at]))
    }

    fn unclear_counter(&self, key: CounterKey, why: &str) -> Fault {
        let place = self.objects.get(key.0);
        let message = format!(
            "what an atomic addition to byte {} of `{}` returns is not followed: {why}",
            key.1,
            pretty_name(&place.name)
        );
        Fault::new(self.which, FaultKind::Unsupported, "Y18", message, Vec::new(), None)
    }

    fn unclear_bag(&self, bag: &Bag, why: &str) -> RunError {
        let number = self.bag_tensor(bag).map_or(0, |(number, _)| number);
        let sites = bag.elements.first().map(|element| self.element_site(element));
        RunError::Fault(Box::new(self.unclear(number, why, sites.into_iter().collect())), Vec::new())
    }

    fn element_site(&self, element: &BagElement) -> Site {
        let (linear, thread, pc) = element.site;
        self.bag_site(linear, "writes it", (thread, pc))
    }

    /// The fault that the places of two CTAs are from two counters.
    fn of_two_ctas(&self, (one, other): (&Bag, &Bag), are_apart: bool, stores: &[Store]) -> RunError {
        let are_counters = [one, other].iter().all(|bag| bag.from.key().is_some());
        let is_race = are_apart && are_counters && one.first == other.first;
        let (Some(a), Some(b), true, Some((number, _))) =
            (&one.lead, &other.lead, is_race, self.bag_tensor(one))
        else {
            return self.unclear_bag(one, "its places are from two counters, or not from one");
        };
        let fault = two_counters(self, number, [a, b].map(|element| self.element_site(element)).into());
        let (mut store, conditions) = self.conditions([a, b].into_iter(), stores);
        let one = whole(&mut store, 1);
        let both = conditions.into_iter().reduce(|x, y| store.apply(TermOp::Mul, &[x, y], NOWHERE));
        let when = both.map(|both| store.apply(TermOp::Equal, &[both, one], NOWHERE));
        possible(fault, when, store)
    }

    /// In a store of their own, whether elements are written, each as 0 or 1; without those that always are.
    fn conditions<'b>(
        &self,
        elements: impl Iterator<Item = &'b BagElement>,
        stores: &[Store],
    ) -> (Store, Vec<TermId>) {
        let mut store = Store::new();
        store.set_integers(self.integers.clone());
        let mut known: BTreeMap<usize, Imported> = BTreeMap::new();
        let conditions = elements.filter_map(|element| {
            let known = known.entry(element.store).or_default();
            Some(store.import(&stores[element.store], element.is_written?, known))
        });
        let conditions = conditions.collect();
        (store, conditions)
    }

    /// The fault that there are inputs for which a bag exceeds its output.
    fn beyond(&self, bag: &Bag, holds: u64, stores: &[Store]) -> RunError {
        let name = self.bag_tensor(bag).map_or("", |(_, tensor)| tensor.name.as_str());
        let message = format!(
            "writes `{name}` out of bounds: it has {holds} elements, and {} may be written from place {} on",
            bag.elements.len(),
            bag.first
        );
        let sites = bag.elements.last().map(|element| self.element_site(element)).into_iter().collect();
        let fault = Fault::new(self.which, FaultKind::OutOfBounds, "M1", message, sites, None);
        let (mut store, conditions) = self.conditions(bag.elements.iter(), stores);
        let always = (bag.elements.len() - conditions.len()) as i128;
        let all = conditions.into_iter().reduce(|x, y| store.apply(TermOp::Add, &[x, y], NOWHERE));
        let room = i128::from(holds) - i128::from(bag.first) - always;
        let room = whole(&mut store, room);
        let when = all.map(|all| store.apply(TermOp::Less, &[room, all], NOWHERE));
        possible(fault, when, store)
    }

    pub(super) fn bag_site(&self, linear: u64, action: &str, (thread, pc): (u32, InstId)) -> Site {
        Site { action: action.into(), thread: Some(self.thread(linear, thread)), place: self.place(pc) }
    }
}

fn count_of_guard(
    counts: &mut Counts,
    guards: &Guards,
    (store, congruence): (&mut Store, &mut Congruence),
    guard: Guard,
) -> Option<Count> {
    guards.literals(guard).iter().try_fold(Count::number(1), |product, literal| {
        let condition = counts.of((&mut *store, &mut *congruence), literal.condition)?;
        let holds =
            if literal.holds { (*condition).clone() } else { Count::number(1).plus(&condition, -1)? };
        product.times(&holds)
    })
}

/// What is left of a CTA that ran.
pub(crate) struct Ended<'e> {
    pub(crate) launch: &'e Launch<'e>,
    pub(crate) linear: u64,
    pub(crate) store: &'e mut Store,
    pub(crate) packed: &'e mut PackedValues,
    pub(crate) ranges: &'e mut crate::term::Ranges,
    pub(crate) congruence: &'e mut Congruence,
    pub(crate) guards: &'e Guards,
    pub(crate) masks: &'e mut Masks,
    /// Whether threads have met at a barrier, so that one store may come after another.
    pub(super) synchronises: bool,
}

/// A store of a bag, its place behind the first one that its ticket gives, and when it happens.
pub(super) struct Placed<'b> {
    pub(super) of: &'b BagStore,
    pub(super) place: Count,
    when: Count,
}

impl Ended<'_> {
    /// The elements of all outputs that are written at places that counters give. `outputs` are those written at known
    /// places.
    pub(crate) fn bags(
        &mut self,
        mut bags: Bags,
        is_accessed: impl Fn(u32) -> bool,
        outputs: &mut Vec<(usize, u64, OutputValue)>,
    ) -> Result<BagsOfCta, Stop> {
        let mut drawn = BTreeMap::new();
        for (key, (before, sum)) in &bags.counters {
            let most = sum.most().unwrap_or(i128::MAX / 4);
            if self.launch.objects.get(key.0).space == Space::Global {
                drawn.insert(*key, (*before, most));
            } else if before + most > MOST_TICKET {
                bags.others.insert(*key);
            }
        }
        if let Some(key) = bags.returned.intersection(&bags.others).next() {
            let why = "not all of its additions are of known numbers, or of numbers of conditions, to what the others left";
            return Err(Stop::Fault(Box::new(self.launch.unclear_counter(*key, why))));
        }
        let Bags { read, others, returned, .. } = &bags;
        let is_global = |key: &&CounterKey| self.launch.objects.get(key.0).space == Space::Global;
        let [others, returned] =
            [others, returned].map(|keys| keys.iter().filter(is_global).copied().collect());
        let mut out = BagsOfCta { bags: Vec::new(), drawn, read: read.clone(), others, returned };
        let tensors: BTreeSet<u32> = bags.stores.iter().map(|store| store.tensor).collect();
        for tensor in tensors {
            let bag = self.bag(&mut bags, tensor, &is_accessed, outputs)?;
            out.bags.push(bag);
        }
        Ok(out)
    }

    fn bag(
        &mut self,
        bags: &mut Bags,
        number: u32,
        is_accessed: &impl Fn(u32) -> bool,
        outputs: &mut Vec<(usize, u64, OutputValue)>,
    ) -> Result<Bag, Stop> {
        let launch = self.launch;
        let tensor = &launch.tensors[number as usize];
        let Some(param) = tensor.param else { return Err(Stop::Defect("a bag that is no output")) };
        let first = bags.stores.iter().find(|store| store.tensor == number);
        let site = first.map(|store| launch.bag_site(self.linear, "writes it", store.site));
        let all_sites: Vec<Site> = site.into_iter().collect();
        let unclear = |why: &str| Stop::Fault(Box::new(launch.unclear(number, why, all_sites.clone())));
        if bags.read.contains(&number) {
            return Err(unclear("it is read as well"));
        }
        if launch.is_followed || tensor.has_left() {
            return Err(unclear("other steps access it as well"));
        }
        if is_accessed(number) {
            return Err(unclear("it is written in other ways as well"));
        }
        let size = i128::from(tensor.element.bytes());
        let too_large = || unclear("the places are numbers of too many conditions");
        // What is written at known places comes first, where another store counts on it.
        let mut known: Vec<(u64, OutputValue)> = Vec::new();
        outputs.retain(|(of, element, value)| {
            if *of == param {
                known.push((*element, *value));
            }
            *of != param
        });
        let Bags { counts, draws, stores, counters, .. } = bags;
        let mut groups: BTreeMap<Option<u64>, Vec<Placed<'_>>> = BTreeMap::new();
        for of in stores.iter().filter(|store| store.tensor == number) {
            let terms = (&mut *self.store, &mut *self.congruence);
            let when = count_of_guard(counts, self.guards, terms, of.guard).ok_or_else(too_large)?;
            let literals = self.guards.literals(of.guard);
            let is_known = |term: TermId| {
                literals.iter().find(|literal| literal.condition == term).map(|literal| literal.holds)
            };
            let place = of.place.under(is_known).and_then(|place| place.over(size));
            let place = place.ok_or_else(|| unclear("a place is not that of an element"))?;
            let mut ticket = None;
            let mut rest = Count::number(place.constant);
            for (part, factor) in place.parts() {
                match part.as_slice() {
                    [only] if launch.is_ticket(*only) && factor == 1 && ticket.is_none() => {
                        let TermKind::Input { element, .. } = only.kind() else { continue };
                        ticket = Some(element);
                    }
                    all if all.iter().all(|term| self.store.op(*term).is_some_and(TermOp::is_condition)) => {
                        rest.add(part.clone(), factor).ok_or_else(too_large)?;
                    }
                    _ => {
                        let why =
                            "a place is no number of conditions behind what one atomic addition returns";
                        return Err(unclear(why));
                    }
                }
            }
            groups.entry(ticket).or_default().push(Placed { of, place: rest, when });
        }
        let from: BTreeSet<Origin> = groups.keys().map(|ticket| self.origin(draws, *ticket)).collect();
        let Some(origin) = from.first().copied() else { return Err(Stop::Defect("a bag without stores")) };
        if let (true, Some(other)) = (from.len() > 1, from.last()) {
            return Err(self.of_two(&groups, (draws, counters), [origin, *other], number));
        }
        if !known.is_empty() && !matches!(origin, Origin::Counted(_)) {
            return Err(unclear("it is written in other ways as well"));
        }
        let mut firsts = BTreeSet::new();
        for (ticket, placed) in &groups {
            let first = placed.iter().filter_map(|placed| placed.place.as_number()).min();
            let first = known.first().map(|(element, _)| i128::from(*element)).or(first);
            let Some(first) = first else { return Err(unclear("no store is at the first of the places")) };
            let Some(total) = chained(first, &known, placed) else {
                let why = "two stores may be at one place, or there is a place between them";
                return Err(self.of_one_place(placed, number).unwrap_or_else(|| unclear(why)));
            };
            firsts.insert(first);
            if let Some(draw) = ticket.and_then(|at| draws.get(at as usize)) {
                let covered = self.covers(draw, &total, (counts, placed), number);
                covered.map_err(|stop| {
                    self.behind_the_last(&groups, (draws, counters), number).unwrap_or(stop)
                })?;
            }
        }
        let (Some(first), 1) = (firsts.first(), firsts.len()) else {
            return Err(unclear("stores are at different places behind what atomic additions return"));
        };
        // An addition none of whose places is written.
        for (at, draw) in draws.iter().enumerate() {
            if origin.key() == Some(draw.key) && !groups.contains_key(&Some(at as u64)) {
                self.covers(draw, &Count::default(), (counts, &[]), number)?;
            }
        }
        let base = origin.key().and_then(|key| counters.get(&key)).map_or(0, |counter| counter.0);
        let Ok(first) = u64::try_from(first + base) else {
            let message =
                format!("writes in front of `{}`: its first place is {}", tensor.name, first + base);
            let fault = Fault::new(launch.which, FaultKind::OutOfBounds, "M1", message, all_sites, None);
            let when = groups.values().flatten().find(|placed| placed.place.as_number().is_some());
            let literals = when.map(|placed| self.guards.literals(placed.of.guard).to_vec());
            return Err(self.possible(fault, vec![literals.unwrap_or_default()]));
        };
        let mut elements = Vec::new();
        for (_, value) in known {
            let value = value.number(tensor.element, self.store);
            let site = (self.linear, 0, InstId(0));
            elements.push(BagElement { store: 0, is_written: None, value, site });
        }
        let mut lead = None;
        for (at, all) in groups.values().enumerate() {
            for placed in all {
                let element = self.element(placed.of)?;
                elements.push(element);
                if at == 0 && placed.place.as_number().is_some() {
                    lead = Some(element);
                }
            }
        }
        Ok(Bag { param, first, elements, from: origin, lead })
    }

    fn origin(&self, draws: &[Draw], ticket: Option<u64>) -> Origin {
        match ticket.and_then(|at| draws.get(at as usize)) {
            None => Origin::Counted(self.linear),
            Some(draw) if self.launch.objects.get(draw.key.0).space == Space::Global => {
                Origin::Global(draw.key)
            }
            Some(draw) => Origin::Shared(self.linear, draw.key),
        }
    }

    /// A fault that happens in one of some cases.
    pub(super) fn possible(&mut self, fault: Fault, cases: Vec<Vec<Literal>>) -> Stop {
        if cases.iter().any(Vec::is_empty) {
            return Stop::Fault(Box::new(fault));
        }
        let mut possible = InCases::new(fault, cases, String::new());
        possible.store = std::mem::take(self.store);
        Stop::Possible(Box::new(possible))
    }

    /// The fault that places are from two counters. Of each, the first addition of this very run gives the first place; of
    /// the second counter, the first one of those that may happen where that of the first counter does.
    fn of_two(
        &mut self,
        groups: &BTreeMap<Option<u64>, Vec<Placed<'_>>>,
        (draws, counters): (&[Draw], &BTreeMap<CounterKey, (i128, Count)>),
        [own, other]: [Origin; 2],
        number: u32,
    ) -> Stop {
        let why = "its places are from two counters, or not from one";
        let unclear = Stop::Fault(Box::new(self.launch.unclear(number, why, Vec::new())));
        let (Some(one), Some(two)) = (own.key(), other.key()) else { return unclear };
        let first_of = |key: CounterKey, may: &dyn Fn(Guard) -> bool| {
            let (at, _) = draws.iter().enumerate().find(|(_, draw)| draw.key == key && may(draw.guard))?;
            groups.get(&Some(at as u64))?.iter().find(|placed| placed.place.as_number().is_some())
        };
        let Some(a) = first_of(one, &|_| true) else { return unclear };
        let Some(b) = first_of(two, &|guard| !self.guards.exclude(a.of.guard, guard)) else { return unclear };
        let before = |key: CounterKey| counters.get(&key).map(|counter| counter.0);
        let is_race = a.place == b.place
            && before(one) == before(two)
            && a.of.site.0 != b.of.site.0
            && !self.synchronises;
        if !is_race {
            return unclear;
        }
        let sites = [a, b].map(|placed| self.launch.bag_site(self.linear, "writes it", placed.of.site));
        let fault = two_counters(self.launch, number, sites.into());
        let mut literals = self.guards.literals(a.of.guard).to_vec();
        literals.extend(self.guards.literals(b.of.guard));
        self.possible(fault, vec![literals])
    }

    /// Checks that the stores behind an atomic addition are at all places that it takes.
    fn covers(
        &mut self,
        draw: &Draw,
        total: &Count,
        (counts, placed): (&mut Counts, &[Placed<'_>]),
        number: u32,
    ) -> Result<(), Stop> {
        let terms = (&mut *self.store, &mut *self.congruence);
        let when = count_of_guard(counts, self.guards, terms, draw.guard);
        if when.and_then(|when| draw.by.times(&when)).as_ref() == Some(total) {
            return Ok(());
        }
        let launch = self.launch;
        let site = launch.bag_site(self.linear, "takes a place", draw.site);
        let is_one = draw.by.as_number() == Some(1) && placed.len() <= 1;
        let of_draw = self.guards.literals(draw.guard).to_vec();
        let of_store = placed.first().map(|placed| self.guards.literals(placed.of.guard).to_vec());
        let missing: Vec<Vec<Literal>> = match of_store {
            None => vec![of_draw.clone()],
            Some(literals) => {
                let further = literals.into_iter().filter(|literal| !of_draw.contains(literal));
                further.map(|literal| of_draw.iter().copied().chain([literal.negated()]).collect()).collect()
            }
        };
        if !is_one || missing.is_empty() {
            let why = "an atomic addition takes other places than those that are written behind it";
            return Err(Stop::Fault(Box::new(launch.unclear(number, why, vec![site]))));
        }
        let name = &launch.tensors[number as usize].name;
        let message = format!("a place of `{name}` that a counter gives is not written");
        let fault = Fault::new(launch.which, FaultKind::Uninitialised, "Y18", message, vec![site], None);
        Err(self.possible(fault, missing))
    }

    fn element(&mut self, of: &BagStore) -> Result<BagElement, Stop> {
        let launch = self.launch;
        let tensor = &launch.tensors[of.tensor as usize];
        let Ended { packed, store, ranges, masks, .. } = self;
        let mut residues = IntTerms { packed, store, ranges, pc: InstId(0) };
        let value = match output_value(tensor, of.value, &mut residues, masks) {
            Ok(value) => value.number(tensor.element, self.store),
            Err((kind, rule, what, _)) => {
                let message = format!("an element of the output {} {what}", tensor.name);
                let site = launch.bag_site(self.linear, "writes it", of.site);
                let fault = Fault::new(launch.which, kind, rule, message, vec![site], None);
                return Err(self.possible(fault, vec![self.guards.literals(of.guard).to_vec()]));
            }
        };
        let when = self.guards.term(of.guard, self.store);
        let roots: Vec<TermId> = when.into_iter().chain([value]).collect();
        if depends_on(self.store, &roots, |term| launch.is_ticket(term)) {
            let site = launch.bag_site(self.linear, "writes it", of.site);
            return Err(Stop::Fault(Box::new(of_ticket(launch, "what is written there", vec![site]))));
        }
        let zero = whole(self.store, 0);
        let site = (self.linear, of.site.0, of.site.1);
        let Some(when) = when else {
            return Ok(BagElement { store: 0, is_written: None, value, site });
        };
        let one = whole(self.store, 1);
        let is_written = Some(self.store.apply(TermOp::Select, &[when, one, zero], of.site.1));
        let value = self.store.apply(TermOp::Select, &[when, value, zero], of.site.1);
        Ok(BagElement { store: 0, is_written, value, site })
    }
}

/// The number of places of stores that follow one another without a gap: each is behind as many as are written of those
/// before it.
fn chained(first: i128, known: &[(u64, OutputValue)], placed: &[Placed<'_>]) -> Option<Count> {
    let mut by_place: FxHashMap<&Count, &Placed<'_>> = FxHashMap::default();
    for placed in placed {
        if by_place.insert(&placed.place, placed).is_some() {
            return None;
        }
    }
    let mut next = Count::number(first);
    for (element, _) in known {
        if next.as_number() != Some(i128::from(*element)) {
            return None;
        }
        next = next.plus(&Count::number(1), 1)?;
    }
    while let Some(placed) = by_place.remove(&next) {
        next = next.plus(&placed.when, 1)?;
    }
    by_place.is_empty().then(|| next.plus(&Count::number(first), -1)).flatten()
}

/// The place of an operation that no kernel executes.
const NOWHERE: InstId = InstId(u32::MAX);

/// A fault that happens where a condition holds, or always.
fn possible(fault: Fault, when: Option<TermId>, store: Store) -> RunError {
    if when.is_none() {
        return RunError::Fault(Box::new(fault), Vec::new());
    }
    let (told, instead) = (String::new(), None);
    RunError::Possible(Box::new(Possible { fault, when, store, told, instead }))
}

fn two_counters(launch: &Launch<'_>, number: u32, sites: Vec<Site>) -> Fault {
    let name = &launch.tensors[number as usize].name;
    let message = format!("two threads write one place of `{name}`, which each takes from another counter");
    let help = "take all places of an output from one counter";
    Fault::new(launch.which, FaultKind::Race, "Y1", message, sites, Some(help.into()))
}
