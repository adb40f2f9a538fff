//! Accesses at addresses that an input chooses (rule S1): at each of the possible addresses, the access happens where the
//! address is that one. `c ? a[i] : b[j]`, where compilers select the pointer and load once, and elements at an index
//! with a known range.

use super::at_address::{Access, What};
use super::index_words::{ReachedIndex, describe_index};
use super::lookup::{Lookup, Sought};
use crate::base::lane::{Lane, LaneMask};
use crate::launch::objects::{locate, owned, pretty_name};
use crate::machine::cta::Cta;
use crate::machine::group::context::Context;
use crate::machine::group::guard_bounds::modulus;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::{UnderGuards, ValueTerms};
use crate::machine::group::values::Values;
use crate::machine::group::warp::{At, Warp};
use crate::program::{Address, Async, Inst, InstId, Op, RegId, Space, Src};
use crate::term::{Congruence, Range, TermId, TermKind, TermOp, View};
use crate::value::assignments::{Assignment, MAX_VALUES};
use crate::value::guard::{Guard, Literal, Terms, all_of};
use crate::value::indexed::{Indexed, MAX_STEPS, indexed};
use crate::value::int_terms::whole;
use crate::value::packed::low_bytes;
use crate::value::{SymKind, Truth, Value};
use crate::verdict::{Fault, FaultKind};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// The largest number of addresses that one lane may choose from.
const MAX_ADDRESSES: usize = 1024;

/// An address is a select of others so many operations deep, and these again so often.
const MAX_ARMS: u32 = 8;

/// Stored values are simplified so many operations deep.
const DEEP: u32 = 3;

/// The indices for which `first + scale · index` lies between two offsets.
fn between((first, scale): (i128, i128), low: i128, high: i128) -> (i128, i128) {
    match scale {
        1.. => ((low - first + scale - 1).div_euclid(scale), (high - first).div_euclid(scale)),
        _ => ((first - high - scale - 1).div_euclid(-scale), (first - low).div_euclid(-scale)),
    }
}

/// Whether a number of a range may lie between two others.
fn meet(range: Range, (low, high): (i128, i128)) -> bool {
    range.low.is_none_or(|least| least <= high) && range.high.is_none_or(|greatest| greatest >= low)
}

/// What an instruction accesses at an address.
#[derive(Clone, Copy)]
pub(super) struct Accessed {
    pub(super) space: Space,
    pub(super) address: Address,
    pub(super) bytes: u32,
    pub(super) verb: &'static str,
}

impl Accessed {
    /// What an operation accesses, if an input may choose its address; of a copy, this is where it writes.
    fn of(op: &Op) -> Option<Accessed> {
        let (space, address, bytes, verb) = if let Op::Load { space, address, width, d, .. } = op {
            (*space, *address, width.bytes() * d.len() as u32, "reads")
        } else if let Op::Store { space, address, width, a, .. } = op {
            (*space, *address, width.bytes() * a.len() as u32, "writes")
        } else if let Op::Atomic { space, address, update, .. } = op {
            (*space, *address, update.bytes(), "updates")
        } else if let Op::Async(Async::Copy { to, bytes, .. }) = op {
            (Space::Shared, *to, *bytes, "writes")
        } else {
            return None;
        };
        Some(Accessed { space, address, bytes, verb })
    }
}

/// How far an instruction reaches from an address.
#[derive(Clone, Copy)]
struct Reach {
    space: Space,
    /// The bytes of the address.
    width: u32,
    /// What the instruction adds to it.
    distance: i64,
    bytes: u32,
}

/// An index into an object.
#[derive(Clone, Copy)]
struct IndexIn {
    index: TermId,
    number: u32,
    /// The offset in the object at index 0.
    first: i128,
    scale: i128,
    /// The least and the greatest index inside.
    least: i128,
    greatest: i128,
    /// The range of the index where the guard holds.
    range: Range,
}

impl IndexIn {
    fn is_inside(&self) -> bool {
        self.range.within(self.least, self.greatest)
    }
}

/// The possible values of an address, or of another number.
pub(super) enum Places {
    /// This address.
    At(u64),
    /// A select by a condition.
    Choice(TermId, Box<[Places; 2]>),
    /// For each value of an index, an address.
    Index(TermId, Vec<(i64, u64)>),
}

impl Cta<'_> {
    /// Executes an access for the lanes whose address depends on the input; returns the lanes for which it could.
    pub(crate) fn access_by_cases(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<LaneMask, Stop> {
        let Some(Accessed { address, .. }) = Accessed::of(&inst.op) else { return Ok(LaneMask::NONE) };
        let targets: &[Option<RegId>] = if let Op::Load { d, .. } = &inst.op {
            d
        } else if let Op::Atomic { d, .. } = &inst.op {
            std::slice::from_ref(d)
        } else {
            &[]
        };
        let Src::Reg(base) = address.base else { return Ok(LaneMask::NONE) };
        let symbolic = warp.register(base).sym & mask;
        if symbolic.is_empty() || self.context.may_happen(&inst.op).is_err() {
            return Ok(LaneMask::NONE);
        }
        let mut done = LaneMask::NONE;
        let mut lookups = Vec::new();
        for lanes in self.values.storing_alike(warp, symbolic, inst) {
            self.values.terms.guards.alike = self.sync.next_access().filter(|_| lanes.only().is_none());
            let accessed = lanes.iter().try_for_each(|lane| -> Result<(), Stop> {
                done |= self.access_of_lane(warp, lane, inst, pc, (base, targets), &mut lookups)?;
                Ok(())
            });
            self.values.terms.guards.alike = None;
            accessed?;
        }
        let is_taken = |step: usize| targets.get(step).is_some_and(Option::is_some);
        for (lane, step, value) in self.look_up(warp, lookups, is_taken, pc)? {
            if let Some(Some(target)) = targets.get(step) {
                warp.register_mut(*target).set(lane, value);
            }
        }
        Ok(done)
    }

    /// Executes an access of one lane, or adds it to lookups; returns the lane, if its possible addresses are known.
    fn access_of_lane(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        inst: &Inst,
        pc: InstId,
        (base, targets): (RegId, &[Option<RegId>]),
        lookups: &mut Vec<Lookup>,
    ) -> Result<LaneMask, Stop> {
        let address = warp.register(base).get(lane);
        self.values.terms.steers(warp, lane, address, ("where an access happens", pc))?;
        if let Some(accessed) = Accessed::of(&inst.op) {
            self.values.terms.check_index(&mut self.values.congruence, warp, lane, accessed, pc)?;
        }
        let Some(places) = self.values.places(lane, address) else { return Ok(LaneMask::NONE) };
        if let Places::Index(index, addresses) = &places
            && let Some(sought) = Sought::of(&inst.op)
            && let Some(lookup) = self.as_lookup(warp, lane, sought, (*index, addresses))
        {
            lookups.push(lookup);
            return Ok(LaneMask::of(lane));
        }
        let access = Access { pc, what: What::Inst { inst, base, targets } };
        self.values.terms.guards.around_cases =
            Some(self.values.terms.guards.depth(self.values.terms.guards.of(lane)));
        let values = self.access_in_each(warp, lane, &places, access);
        self.values.terms.guards.around_cases = None;
        for (target, value) in targets.iter().zip(values?) {
            if let Some(target) = target {
                warp.register_mut(*target).set(lane, value);
            }
        }
        Ok(LaneMask::of(lane))
    }

    /// Executes an access at each of some addresses; returns what it loads.
    pub(super) fn access_in_each(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        places: &Places,
        access: Access<'_>,
    ) -> Result<Vec<Value>, Stop> {
        match places {
            Places::At(address) => {
                let (mask, pc) = (LaneMask::of(lane), access.pc);
                let (inst, base, targets) = match access.what {
                    What::Inst { inst, base, targets } => (inst, base, targets),
                    What::Size(copy) => return self.taken(warp, lane, copy, *address, pc),
                    What::Source(copy, wanted) => {
                        let taken = self.accesses().taken_from(warp, lane, copy, (*address, wanted), pc);
                        return taken.map_err(|stop| self.values.terms.ended_under_guard(warp, mask, stop));
                    }
                };
                // A target may be one of the operands of the next case.
                let registers = targets.iter().flatten().chain([&base]);
                let mut before: Vec<_> = registers.map(|at| (*at, warp.register(*at).get(lane))).collect();
                warp.register_mut(base).set(lane, Value::Bits(*address));
                before.extend(self.values.narrow_stored(warp, lane, inst, base));
                let done = self.execute(warp, mask, inst, pc);
                let loaded = |target: &Option<RegId>| match target {
                    Some(target) => warp.register(*target).get(lane),
                    None => Value::Bits(0),
                };
                let loaded = targets.iter().map(loaded).collect();
                for (register, value) in before {
                    warp.register_mut(register).set(lane, value);
                }
                done.map(|()| loaded).map_err(|stop| self.values.terms.ended_under_guard(warp, mask, stop))
            }
            Places::Choice(condition, arms) => {
                let [then, otherwise] = &**arms;
                let [then_may, other_may] =
                    [true, false].map(|holds| self.values.may_be(lane, *condition, holds));
                if !(then_may && other_may) {
                    return self.access_in_each(warp, lane, if then_may { then } else { otherwise }, access);
                }
                let then = access_where(self, warp, lane, (*condition, true), then, access)?;
                let otherwise = access_where(self, warp, lane, (*condition, false), otherwise, access)?;
                match (then, otherwise) {
                    (Some(then), Some(otherwise)) => {
                        self.values.select_loaded(warp, lane, *condition, (then, otherwise), access.pc)
                    }
                    (only, None) | (None, only) => Ok(only.unwrap_or_else(|| access.nothing())),
                }
            }
            Places::Index(index, addresses) => {
                let mut loaded: Option<Vec<Value>> = None;
                self.work.counts.warp_instructions += addresses.len() as u64;
                self.check_budgets()?;
                let mut by_integers = self.values.terms.under_guards().by_integers(lane, *index, access.pc);
                for (value, address) in addresses.iter().rev() {
                    let number = whole(&mut self.values.terms.store, (*value).into());
                    let is_this = by_integers.remove(value).unwrap_or_else(|| {
                        self.values.terms.store.apply(TermOp::Equal, &[*index, number], access.pc)
                    });
                    let place = Places::At(*address);
                    let own = if addresses.len() == 1 {
                        self.access_in_each(warp, lane, &place, access)?
                    } else if let Some(own) = access_where(self, warp, lane, (is_this, true), &place, access)?
                    {
                        own
                    } else {
                        continue;
                    };
                    loaded = Some(match loaded {
                        None => own,
                        Some(others) => {
                            self.values.select_loaded(warp, lane, is_this, (own, others), access.pc)?
                        }
                    });
                }
                Ok(loaded.unwrap_or_else(|| access.nothing()))
            }
        }
    }
}

/// Executes an access where a condition holds, or does not, as well; `None` where no input leads there, because it would be
/// out of bounds.
fn access_where(
    cta: &mut Cta<'_>,
    warp: &mut Warp,
    lane: Lane,
    (condition, holds): (TermId, bool),
    places: &Places,
    access: Access<'_>,
) -> Result<Option<Vec<Value>>, Stop> {
    let around = cta.values.terms.guards.all();
    let terms = Terms { store: &mut cta.values.terms.store, congruence: &mut cta.values.congruence };
    cta.values.terms.guards.narrow(terms, lane, condition, holds);
    if cta.values.terms.guards.decisions.is_some() {
        // Which values integers have there together is looked at where accesses are compared.
        let guard = cta.values.terms.guards.of(lane);
        cta.values.terms.under_guards().assignments(guard, MAX_VALUES);
    }
    let loaded = cta.access_in_each(warp, lane, places, access);
    let loaded = match loaded {
        Err(Stop::Possible(possible)) if possible.kind() == FaultKind::OutOfBounds => {
            let terms = &mut cta.values.terms;
            let literals = terms.guards.all_literals(terms.guards.of(lane));
            if terms.are_infeasible(&literals) { Ok(None) } else { Err(Stop::Possible(possible)) }
        }
        loaded => loaded.map(Some),
    };
    cta.values.terms.guards.restore(around);
    loaded
}

impl Values<'_> {
    /// The possible values of an address, or of another number, where the guard of a lane holds; `None` where they are
    /// not known, or too many.
    pub(super) fn places(&mut self, lane: Lane, address: Value) -> Option<Places> {
        let mut left = MAX_ADDRESSES;
        self.terms.under_guards().places(&mut self.congruence, lane, address, &mut left)
    }

    /// Groups of lanes that store the same value together, wherever they do (rule Y1); each of the lanes is in one.
    fn storing_alike(&mut self, warp: &Warp, mut left: LaneMask, inst: &Inst) -> Vec<LaneMask> {
        let stored = if let Op::Store { a, width, .. } = &inst.op { Some((a, *width)) } else { None };
        let Some((a, width)) = stored.filter(|_| !self.terms.context.options.rules.strict_stores) else {
            return left.iter().map(LaneMask::of).collect();
        };
        let mut groups = Vec::new();
        while !left.is_empty() {
            let first = left.first();
            let mut alike = LaneMask::of(first);
            for lane in left & !alike {
                if self.store_alike(warp, (first, lane), width, a) {
                    alike.insert(lane);
                }
            }
            left &= !alike;
            groups.push(alike);
        }
        groups
    }

    /// Replaces the values that an access stores, or by which it updates, by what they are at this address; returns the
    /// values before.
    fn narrow_stored(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        inst: &Inst,
        base: RegId,
    ) -> Vec<(RegId, Value)> {
        let sources: &[Src] = if let Op::Store { a, .. } = &inst.op {
            a
        } else if let Op::Atomic { a, .. } = &inst.op {
            std::slice::from_ref(a)
        } else {
            return Vec::new();
        };
        let mut before = Vec::new();
        for source in sources {
            let Src::Reg(source) = *source else { continue };
            let value = warp.register(source).get(lane);
            let Value::Sym(sym) = value else { continue };
            let Some(narrowed) = sym.with_term(|term| self.term_under(term, lane, DEEP)) else { continue };
            if narrowed != sym && source != base {
                warp.register_mut(source).set(lane, Value::Sym(narrowed));
                before.push((source, value));
            }
        }
        before
    }

    /// A term where the guard of a lane holds: the arms that are taken there, at most `depth` operations deep.
    fn term_under(&mut self, term: TermId, lane: Lane, depth: u32) -> TermId {
        let mut term = term;
        loop {
            let View::Apply(op, mut operands) = self.terms.store.view(term) else { return term };
            if op == TermOp::Select {
                let guard = self.terms.guards.of(lane);
                let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
                if let Some(holds) = self.terms.guards.implies(terms, guard, operands[0]) {
                    term = operands[if holds { 1 } else { 2 }];
                    continue;
                }
                return term;
            }
            if depth == 0 || op.is_condition() {
                return term;
            }
            let arity = op.arity();
            let narrowed = operands.map(|operand| self.term_under(operand, lane, depth - 1));
            if narrowed[..arity] == operands[..arity] {
                return term;
            }
            operands = narrowed;
            let site = self.terms.store.site(term).unwrap_or(InstId(u32::MAX));
            return self.terms.store.apply(op, &operands[..arity], site);
        }
    }

    /// Whether a condition may hold, or not hold, where the guard of a lane does, as far as is known.
    fn may_be(&mut self, lane: Lane, condition: TermId, holds: bool) -> bool {
        let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
        let guard = self.terms.guards.narrower(terms, lane, condition, holds);
        self.terms.under_guards().may_hold(guard)
    }

    fn select_loaded(
        &mut self,
        warp: &Warp,
        lane: Lane,
        condition: TermId,
        (then, otherwise): (Vec<Value>, Vec<Value>),
        pc: InstId,
    ) -> Result<Vec<Value>, Stop> {
        let values = then.into_iter().zip(otherwise).map(|(then, otherwise)| {
            self.select_value(At { warp, lane, pc }, Truth::Condition(condition), [then, otherwise])
        });
        values.collect()
    }
}

impl ValueTerms<'_> {
    /// Checks that an index by which a lane accesses memory lies in its tensor or variable, as far as its range shows.
    pub(super) fn check_index(
        &mut self,
        congruence: &mut Congruence,
        warp: &Warp,
        lane: Lane,
        Accessed { space, address, bytes, verb }: Accessed,
        pc: InstId,
    ) -> Result<(), Stop> {
        let Value::Sym(sym) = self.context.value(warp, address.base, lane) else { return Ok(()) };
        let SymKind::Int(width @ (4 | 8), term) = sym.kind() else { return Ok(()) };
        let reach = Reach { space, width, distance: address.offset, bytes };
        let Some(indexed) = self.index_in(warp, lane, term, reach) else { return Ok(()) };
        let IndexIn { index, number, first, scale, least, greatest, range } = indexed;
        if indexed.is_inside() || !range.whole {
            return Ok(());
        }
        let object = self.context.launch.objects.get(number);
        // Addresses wrap around, and other objects lie elsewhere: nothing is said of an index that leads so far.
        let [first_near, last_near] = object.slot();
        let near = between((first, scale), first_near, last_near - i128::from(bytes));
        // An index none of whose values lies inside may be one of another object. If its values are few, an access at each
        // of them tells.
        let is_beside = !meet(range, (least, greatest));
        let is_elsewhere = is_beside && (!meet(range, near) || range.values(MAX_ADDRESSES).is_some());
        if least > greatest
            || is_elsewhere
            || self.is_inside(congruence, warp, lane, (term, number), reach, MAX_ARMS)
        {
            return Ok(());
        }
        let name = pretty_name(&object.name);
        let reached = ReachedIndex { index, first, scale, least, greatest };
        let what = describe_index(self, reached, (object, bytes), pc);
        let message = format!("{verb} `{name}` out of bounds: its index {what}");
        let site = self.context.site(format!("{verb} `{name}`"), warp, lane, pc);
        let help = "test the index before the access; or, if its values are known to be in bounds, say so in the case: \
                    `range = [least, greatest]` of the tensor that holds them";
        let fault = Fault::new(
            self.context.launch.which,
            FaultKind::OutOfBounds,
            "M1",
            message,
            vec![site],
            Some(help.into()),
        );
        let inside =
            Literal { condition: self.under_guards().is_between(index, (least, greatest), pc), holds: false };
        let is_near = (!range.within(near.0, near.1))
            .then(|| Literal { condition: self.under_guards().is_between(index, near, pc), holds: true });
        let besides: Vec<Literal> = is_near.into_iter().chain([inside]).collect();
        let mut all = self.guards.all_literals(self.guards.of(lane));
        all.extend(&besides);
        if self.are_infeasible(&all) {
            return Ok(());
        }
        Err(self.possibly_besides(fault, self.guards.of(lane), &besides))
    }

    /// The index by which an address reaches into an object; `None` where nothing is to be said of it.
    fn index_in(&mut self, warp: &Warp, lane: Lane, address: TermId, reach: Reach) -> Option<IndexIn> {
        let Indexed { index, scale, offset } = self.under_guards().indexed_under_guard(lane, address);
        let (number, first) = self.context.found_at(warp, lane, offset, reach)?;
        let object = self.context.launch.objects.get(number);
        let last = i128::from(object.size) - i128::from(reach.bytes);
        if last < 0 || scale == 0 {
            return None;
        }
        let first = i128::from(first);
        let (least, greatest) = between((first, scale), 0, last);
        let range = self.under_guards().range_under_guard(lane, index);
        Some(IndexIn { index, number, first, scale, least, greatest, range })
    }

    /// Whether an address reaches into an object wherever the guard of the lane holds: each arm of a select in it does,
    /// where it is taken, or all values of the integers that it is computed from lead there.
    fn is_inside(
        &mut self,
        congruence: &mut Congruence,
        warp: &Warp,
        lane: Lane,
        (address, number): (TermId, u32),
        reach: Reach,
        depth: u32,
    ) -> bool {
        let indexed = self.index_in(warp, lane, address, reach);
        if indexed.is_some_and(|indexed| indexed.number == number && indexed.is_inside()) {
            return true;
        }
        if let Some(IndexIn { index, number: own, least, greatest, .. }) = indexed
            && own == number
            && let Some(values) =
                self.under_guards().values_by_counting(congruence, lane, index, MAX_ADDRESSES)
        {
            let bounds = values.first().zip(values.last());
            return bounds.is_none_or(|(low, high)| (least..=greatest).contains(low) && *high <= greatest);
        }
        if depth > 0
            && let Some((condition, arms)) = self.under_guards().arms(address, MAX_ARMS)
        {
            let around = self.guards.all();
            let mut are_inside = true;
            for (holds, arm) in [(true, arms[0]), (false, arms[1])] {
                let terms = Terms { store: &mut self.store, congruence: &mut *congruence };
                self.guards.narrow(terms, lane, condition, holds);
                let own = self.guards.of(lane);
                are_inside = are_inside
                    && (!self.under_guards().may_hold(own)
                        || self.is_inside(congruence, warp, lane, (arm, number), reach, depth - 1));
                self.guards.restore(around);
            }
            if are_inside {
                return true;
            }
        }
        let guard = self.guards.of(lane);
        let Some(all) = self.under_guards().assignments_below(guard, address) else { return false };
        let Some(addresses) = all.values(&self.store, [address]) else { return false };
        let last = i128::from(self.context.launch.objects.get(number).size) - i128::from(reach.bytes);
        addresses.into_iter().all(|[address]| {
            let found = self.context.found_at(warp, lane, address, reach);
            found.is_some_and(|(own, offset)| own == number && (0..=last).contains(&i128::from(offset)))
        })
    }
}

impl Context<'_> {
    /// The object that an address belongs to, and its offset there.
    fn found_at(&self, warp: &Warp, lane: Lane, address: i128, reach: Reach) -> Option<(u32, i64)> {
        let address = (address as u64 & low_bytes(reach.width)).wrapping_add_signed(reach.distance);
        let (own, inner) = owned(locate(reach.space, address), warp.thread(lane));
        self.found(warp, own, inner)
    }
}

impl UnderGuards<'_> {
    /// The condition that an integer lies between two numbers.
    fn is_between(&mut self, integer: TermId, (low, high): (i128, i128), pc: InstId) -> TermId {
        let [low, high] = [low, high].map(|bound| whole(self.store, bound));
        let not_below = self.store.apply(TermOp::LessEqual, &[low, integer], pc);
        let not_above = self.store.apply(TermOp::LessEqual, &[integer, high], pc);
        self.store.apply(TermOp::And, &[not_below, not_above], pc)
    }

    /// The possible values of an address; `None` where they are not known, or too many.
    fn places(
        &mut self,
        congruence: &mut Congruence,
        lane: Lane,
        address: Value,
        left: &mut usize,
    ) -> Option<Places> {
        if let Some(choice) = self.packed.as_choice(address) {
            let then = self.places(congruence, lane, choice.then, left)?;
            let otherwise = self.places(congruence, lane, choice.otherwise, left)?;
            return Some(Places::Choice(choice.condition, Box::new([then, otherwise])));
        }
        match address {
            Value::Bits(address) => {
                *left = left.checked_sub(1)?;
                Some(Places::At(address))
            }
            Value::Sym(sym) => {
                let SymKind::Int(bytes @ (4 | 8), term) = sym.kind() else { return None };
                self.places_by_index(congruence, lane, (bytes, term), left)
            }
            Value::Undefined(_) => None,
        }
    }

    /// Like [`UnderGuards::places`], for an address that is computed from an index.
    fn places_by_index(
        &mut self,
        congruence: &mut Congruence,
        lane: Lane,
        (bytes, address): (u32, TermId),
        left: &mut usize,
    ) -> Option<Places> {
        let Indexed { index, scale, offset } = self.indexed_under_guard(lane, address);
        let values = self.values_under_guard(lane, index, *left);
        let most = values.as_ref().map_or(*left + 1, Vec::len);
        if most > 1
            && let Some((key, addresses)) = self.places_by_integers(lane, (bytes, address), index)
            && (1..most).contains(&addresses.len())
        {
            *left -= addresses.len();
            return Some(Places::Index(key, addresses));
        }
        let counted = if most > 1 { self.values_by_counting(congruence, lane, index, *left) } else { None };
        let Some(values) = counted.or(values) else {
            let (condition, arms) = self.arms(address, MAX_ARMS)?;
            let around = self.guards.all();
            let places = [(true, arms[0]), (false, arms[1])].map(|(holds, arm)| {
                let terms = Terms { store: &mut *self.store, congruence: &mut *congruence };
                self.guards.narrow(terms, lane, condition, holds);
                let places = self.places_by_index(congruence, lane, (bytes, arm), left);
                self.guards.restore(around);
                places
            });
            let [then, otherwise] = places;
            return Some(Places::Choice(condition, Box::new([then?, otherwise?])));
        };
        *left -= values.len();
        // Addresses wrap around.
        let at = |value: i128| Some(scale.checked_mul(value)?.checked_add(offset)? as u64 & low_bytes(bytes));
        let number = |value: i128| i64::try_from(value).ok();
        let addresses: Option<Vec<_>> =
            values.into_iter().map(|value| Some((number(value)?, at(value)?))).collect();
        Some(Places::Index(index, addresses.filter(|addresses| !addresses.is_empty())?))
    }

    /// The addresses that the integers below an address give where the guard of the lane holds, by the value of the only
    /// one of them, or else of an index.
    fn places_by_integers(
        &mut self,
        lane: Lane,
        (bytes, address): (u32, TermId),
        index: TermId,
    ) -> Option<(TermId, Vec<(i64, u64)>)> {
        let guard = self.guards.of(lane);
        if guard == Guard::ALWAYS && matches!(index.kind(), TermKind::Input { .. }) {
            return None;
        }
        let below = self.integers_below(address)?;
        let key = if let [only] = below[..] { only } else { index };
        let all = self.assignments_below(guard, address)?;
        let mut addresses = BTreeMap::new();
        for [key, address] in all.values(self.store, [key, address])? {
            let address = address as u64 & low_bytes(bytes);
            if addresses.insert(i64::try_from(key).ok()?, address).is_some_and(|other| other != address) {
                return None;
            }
        }
        Some((key, addresses.into_iter().collect()))
    }

    /// Where an index is a number, said of the integers that it is computed from: by each number that only one assignment
    /// to these gives where the guard of the lane holds. So a page and a place in it are told apart from other pages.
    fn by_integers(&mut self, lane: Lane, index: TermId, pc: InstId) -> BTreeMap<i64, TermId> {
        let mut found: BTreeMap<i64, Option<Assignment>> = BTreeMap::new();
        let below = self.integers_below(index).filter(|below| below.len() > 1);
        let all = below.as_ref().and_then(|_| self.assignments_below(self.guards.of(lane), index));
        let (Some(below), Some(all)) = (below, all) else { return BTreeMap::new() };
        let values = all.values(self.store, [index]).unwrap_or_default();
        let places = below.iter().filter_map(|integer| all.integers.iter().position(|own| own == integer));
        let places: SmallVec<[usize; 3]> = places.collect();
        for ([value], row) in values.into_iter().zip(&all.rows) {
            let Ok(value) = i64::try_from(value) else { continue };
            let own: Assignment = places.iter().map(|at| row[*at]).collect();
            let known = found.entry(value).or_insert_with(|| Some(own.clone()));
            *known = known.take().filter(|known| *known == own);
        }
        let mut spelled = BTreeMap::new();
        for (value, row) in found {
            let Some(row) = row else { continue };
            let equal = places.iter().zip(row).map(|(at, own)| {
                let number = whole(self.store, own.into());
                self.store.apply(TermOp::Equal, &[all.integers[*at], number], pc)
            });
            let equal: Vec<TermId> = equal.collect();
            spelled.extend(all_of(equal, self.store).map(|condition| (value, condition)));
        }
        spelled
    }

    /// An address that is computed from a select, as a select of addresses.
    fn arms(&mut self, address: TermId, depth: u32) -> Option<(TermId, [TermId; 2])> {
        let View::Apply(op, operands) = self.store.view(address) else { return None };
        if op == TermOp::Select {
            return Some((operands[0], [operands[1], operands[2]]));
        }
        if !matches!(op, TermOp::Add | TermOp::Sub | TermOp::Mul | TermOp::Mod) || depth == 0 {
            return None;
        }
        let operands = &operands[..op.arity()];
        let below = operands.iter().enumerate();
        let (at, (condition, arms)) =
            below.into_iter().find_map(|(at, operand)| Some((at, self.arms(*operand, depth - 1)?)))?;
        let site = self.store.site(address).unwrap_or(InstId(u32::MAX));
        let arms = arms.map(|arm| {
            let mut operands = operands.to_vec();
            operands[at] = arm;
            self.store.apply(op, &operands, site)
        });
        Some((condition, arms))
    }

    /// The values that an integer may have where the guard of a lane holds.
    fn values_under_guard(&mut self, lane: Lane, integer: TermId, most: usize) -> Option<Vec<i128>> {
        self.range_under_guard(lane, integer).values(most)
    }

    /// The range of a term where the guard of a lane holds.
    fn range_under_guard(&mut self, lane: Lane, term: TermId) -> Range {
        let mut supposed = self.suppose_guard(self.guards.of(lane));
        self.suppose_rounded(self.guards.of(lane), term, &mut supposed);
        let range = self.ranges.of(self.store, term);
        self.suppose_no_more(supposed);
        range
    }

    /// An address as a multiple of an index and a constant, where a number that wraps around does not where the guard of
    /// the lane holds.
    fn indexed_under_guard(&mut self, lane: Lane, address: TermId) -> Indexed {
        let mut all = indexed(self.store, address);
        for _ in 0..MAX_STEPS {
            let View::Apply(TermOp::Mod, [inner, by, _]) = self.store.view(all.index) else { break };
            let Some(modulus) = modulus(self.store, by) else { break };
            if !self.range_under_guard(lane, inner).within(0, modulus - 1) {
                break;
            }
            let Indexed { index, scale, offset } = indexed(self.store, inner);
            let shift = all.scale.checked_mul(offset).and_then(|shift| all.offset.checked_add(shift));
            let (Some(scale), Some(offset)) = (all.scale.checked_mul(scale), shift) else { break };
            all = Indexed { index, scale, offset };
        }
        all
    }

    /// Whether some input may fulfil a guard, as far as the values of integers of few values show, and which of them are
    /// less than which others.
    pub(crate) fn may_hold(&mut self, guard: Guard) -> bool {
        if let Some(known) = self.guards.feasible.get(&guard) {
            return *known;
        }
        let may = self.may_hold_anew(guard);
        self.guards.feasible.insert(guard, may);
        may
    }

    fn may_hold_anew(&mut self, guard: Guard) -> bool {
        if self.guards.contradicts_itself(guard) || !self.assignments(guard, MAX_VALUES).are_any() {
            return false;
        }
        if !self.guards.compares_terms(guard) {
            return true;
        }
        self.without_suppositions(|own| {
            let supposed = own.suppose_guard(guard);
            own.suppose_no_more(supposed);
            !supposed.never
        })
    }

    /// What is found of a guard whatever is supposed meanwhile, such as the value of an index while an access is executed
    /// for each of its values: it is remembered.
    pub(crate) fn without_suppositions<T>(&mut self, find: impl FnOnce(&mut Self) -> T) -> T {
        if !self.ranges.is_supposing() {
            return find(self);
        }
        let supposing = std::mem::take(self.ranges);
        let found = find(self);
        *self.ranges = supposing;
        found
    }
}
