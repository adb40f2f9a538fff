//! Atomic additions whose results are places, and stores to such places (rule Y18).

use crate::base::lane::{Lane, LaneMask};
use crate::launch::objects::{Backing, locate};
use crate::machine::cta::accesses::{Accesses, WarpAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::machine::memory::bag_stores::{BagStore, Draw, of_ticket, read_as_well};
use crate::program::{Inst, InstId, Op, RegId, Update};
use crate::term::{Count, TermId, TermOp};
use crate::value::guard::Guard;
use crate::value::{Sym, SymKind, Value};
use std::rc::Rc;

impl Accesses<'_, '_> {
    /// Notes an atomic addition to a location that held `found`; the result stands for what it returns.
    pub(super) fn note_addition(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        update: Update,
        (found, by): (Value, Value),
        d: Option<RegId>,
    ) -> Result<(), Stop> {
        let (key, bytes) = ((at.number, at.offsets[lane]), update.bytes());
        if self.added(key, lane, (found, by), (warp.thread(lane), at.pc)).is_none() {
            if let (Some(_), Value::Undefined(_) | Value::Sym(_), false) =
                (d, found, self.memory.bags.counters.contains_key(&key))
            {
                let what = "what a counter counts from";
                return Err(self.values.terms.not_concrete(warp, found, lane, at.pc, what));
            }
            self.memory.bags.others.insert(key);
        }
        let Some(d) = d else { return Ok(()) };
        let bags = &mut self.memory.bags;
        bags.returned.insert(key);
        let ticket = TermId::input(self.context.launch.tickets(), bags.draws.len() as u64 - 1);
        warp.register_mut(d).set(lane, Value::Sym(Sym::int(bytes, ticket)));
        Ok(())
    }

    /// Notes an addition; `None` if it is none of a number of conditions to the sum of those before it. Its location is no
    /// counter then.
    fn added(
        &mut self,
        key: (u32, u64),
        lane: Lane,
        (found, by): (Value, Value),
        site: (u32, InstId),
    ) -> Option<()> {
        let Accesses { memory, values, .. } = self;
        let (bags, guard) = (&mut memory.bags, values.terms.guards.of(lane));
        // Also where it is none, the number of additions tells one from another.
        bags.draws.push(Draw { key, guard, by: Rc::new(Count::default()), site });
        let held = values.count(&mut bags.counts, found)?;
        let by = values.count(&mut bags.counts, by)?;
        let when = values.count_of_guard(&mut bags.counts, guard)?;
        // A sum of conditions is never negative.
        let is_condition = |term: &TermId| values.terms.store.op(*term).is_some_and(TermOp::is_condition);
        let counts_up =
            by.constant >= 0 && by.parts().all(|(part, factor)| factor > 0 && part.iter().all(is_condition));
        let is_first = !bags.counters.contains_key(&key);
        if !counts_up || is_first && held.as_number().is_none() {
            return None;
        }
        let (before, sum) = bags.counters.entry(key).or_insert((held.constant, Count::default()));
        if held.plus(sum, -1)?.as_number() != Some(*before) {
            return None;
        }
        *sum = by.times(&when).and_then(|added| sum.plus(&added, 1))?;
        bags.draws.last_mut()?.by = by;
        Some(())
    }

    /// Stores of lanes to an output that is compared as a multiset, where they depend on the input; returns those lanes.
    pub(super) fn store_to_bags(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<LaneMask, Stop> {
        let Op::Store { space, address, width, a, .. } = &inst.op else { return Ok(LaneMask::NONE) };
        let [source] = a.as_slice() else { return Ok(LaneMask::NONE) };
        let mut stored = LaneMask::NONE;
        for lane in mask {
            let to = self.context.value(warp, address.base, lane);
            let guard = self.values.terms.guards.of(lane);
            let is_known = matches!(to, Value::Bits(_));
            if is_known && guard == Guard::ALWAYS {
                continue;
            }
            let Some(place) = self.values.count(&mut self.memory.bags.counts, to) else { continue };
            let first = (place.constant as u64).wrapping_add_signed(address.offset);
            let (own, inner) = locate(*space, first);
            let Some((number, offset)) = self.context.found(warp, own, inner) else { continue };
            let Backing::Tensor(tensor) = self.context.launch.objects.get(number).backing else { continue };
            let of = &self.context.launch.tensors[tensor as usize];
            let is_set = of.param.is_some_and(|param| self.context.launch.params[param].is_set());
            if !is_set || of.element.bytes() != width.bytes() {
                continue;
            }
            let by = i128::from(offset) - place.constant;
            let Some(place) = place.plus(&Count::number(by), 1) else { continue };
            let value = self.context.value(warp, *source, lane);
            let value = self.values.value_under(value, guard);
            let value = self.values.terms.packed.narrowed(value, width.bytes());
            let site = (warp.thread(lane), pc);
            self.memory.bags.stored.insert(tensor);
            self.memory.bags.stores.push(BagStore { tensor, place, guard, value, site });
            stored.insert(lane);
        }
        Ok(stored)
    }

    /// Notes that threads read from a tensor that is compared as a multiset.
    ///
    /// # Errors
    /// If stores to it have no known places.
    #[inline]
    pub(super) fn note_read_of_bag(
        &mut self,
        warp: &Warp,
        lane: Lane,
        tensor: u32,
        pc: InstId,
    ) -> Result<(), Stop> {
        let launch = self.context.launch;
        let is_set = |param: usize| launch.params[param].is_set();
        if !launch.has_sets || !launch.tensors[tensor as usize].param.is_some_and(is_set) {
            return Ok(());
        }
        self.memory.bags.read.insert(tensor);
        if self.memory.bags.stored.contains(&tensor) {
            let site = self.context.site("reads it".into(), warp, lane, pc);
            return Err(Stop::Fault(Box::new(read_as_well(self.context.launch, tensor, site))));
        }
        Ok(())
    }
}

impl ValueTerms<'_> {
    /// Checks that a value which decides where an access happens does not depend on the schedule.
    pub(super) fn steers(
        &self,
        warp: &Warp,
        lane: Lane,
        value: Value,
        (what, pc): (&str, InstId),
    ) -> Result<(), Stop> {
        if !self.context.launch.has_sets {
            return Ok(());
        }
        let mut work = vec![value];
        while let Some(value) = work.pop() {
            let Value::Sym(sym) = value else { continue };
            if let SymKind::Choice(index) | SymKind::Partly(index) = sym.kind() {
                let choice = self.packed.choice(index);
                work.extend([choice.then, choice.otherwise]);
            }
            if self.packed.terms_of(sym).into_iter().any(|term| self.depends_on_ticket(term)) {
                return Err(self.depending_on_ticket(warp, lane, what, pc));
            }
        }
        Ok(())
    }

    /// The fault that something depends on what an atomic addition returned.
    #[cold]
    pub(crate) fn depending_on_ticket(&self, warp: &Warp, lane: Lane, what: &str, pc: InstId) -> Stop {
        let site = self.context.site("depends on it".into(), warp, lane, pc);
        Stop::Fault(Box::new(of_ticket(self.context.launch, what, vec![site])))
    }
}
