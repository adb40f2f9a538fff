//! Accesses at addresses that an input chooses (rule S1): at each of the possible addresses, the access happens where the
//! address is that one. `c ? a[i] : b[j]`, where compilers select the pointer and load once, and elements at an index
//! with a known range.

use super::at_address::{ByCases, OfInst, What};
use super::index_words::{ReachedIndex, describe_index};
use super::lookup::{Lookup, Sought};
use crate::base::lane::{Lane, LaneMask};
use crate::launch::objects::{locate, owned, pretty_name};
use crate::machine::cta::Cta;
use crate::machine::group::guard_bounds::modulus;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::UnderGuards;
use crate::machine::group::values::Values;
use crate::machine::group::warp::{At, Warp};
use crate::program::{Address, Async, Inst, InstId, Op, RegId, Space, Src};
use crate::term::{Range, TermId, TermKind, TermOp, View};
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
        let Some(accessed) = Accessed::of(&inst.op) else { return Ok(LaneMask::NONE) };
        let targets: &[Option<RegId>] = if let Op::Load { d, .. } = &inst.op {
            d
        } else if let Op::Atomic { d, .. } = &inst.op {
            std::slice::from_ref(d)
        } else {
            &[]
        };
        let Src::Reg(base) = accessed.address.base else { return Ok(LaneMask::NONE) };
        let symbolic = warp.register(base).sym & mask;
        if symbolic.is_empty() || self.context.may_happen(&inst.op).is_err() {
            return Ok(LaneMask::NONE);
        }
        let of = OfInst { inst, base, targets };
        let mut done = LaneMask::NONE;
        let mut lookups = Vec::new();
        for lanes in self.values.storing_alike(warp, symbolic, inst) {
            self.values.terms.guards.alike = self.sync.next_access().filter(|_| lanes.only().is_none());
            let accessed = lanes.iter().try_for_each(|lane| -> Result<(), Stop> {
                let mut by_cases = ByCases { cta: self, warp, lane, pc };
                if by_cases.access(accessed, of, &mut lookups)? {
                    done.insert(lane);
                }
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
}

impl ByCases<'_, '_> {
    /// Executes an access, or adds it to lookups; returns whether its possible addresses are known.
    fn access(
        &mut self,
        accessed: Accessed,
        of: OfInst<'_>,
        lookups: &mut Vec<Lookup>,
    ) -> Result<bool, Stop> {
        let lane = self.lane;
        let Some(places) = self.places_of(accessed)? else { return Ok(false) };
        if let Places::Index(index, addresses) = &places
            && let Some(sought) = Sought::of(&of.inst.op)
            && let Some(lookup) = self.as_lookup(sought, *index, addresses)
        {
            lookups.push(lookup);
            return Ok(true);
        }
        let guards = &mut self.cta.values.terms.guards;
        guards.around_cases = Some(guards.depth(guards.of(lane)));
        let values = self.in_each(&places, What::Inst(of));
        self.cta.values.terms.guards.around_cases = None;
        for (target, value) in of.targets.iter().zip(values?) {
            if let Some(target) = target {
                self.warp.register_mut(*target).set(lane, value);
            }
        }
        Ok(true)
    }

    /// The possible addresses of an access, which lie in memory; `None` where they are not known, or too many.
    pub(super) fn places_of(&mut self, accessed: Accessed) -> Result<Option<Places>, Stop> {
        let address = self.cta.context.value(self.warp, accessed.address.base, self.lane);
        let what = ("where an access happens", self.pc);
        self.cta.values.terms.steers(self.warp, self.lane, address, what)?;
        self.check_index(accessed)?;
        Ok(self.cta.values.places(self.lane, address))
    }

    /// Executes an access at each of some addresses; returns what it loads.
    pub(super) fn in_each(&mut self, places: &Places, what: What<'_>) -> Result<Vec<Value>, Stop> {
        let (lane, pc) = (self.lane, self.pc);
        match places {
            Places::At(address) => match what {
                What::Inst(of) => self.execute_at(*address, of).map_err(|stop| self.ended(stop)),
                What::Size(copy) => self.taken(copy, *address),
                What::Source(copy, wanted) => {
                    self.taken_at(copy, *address, wanted).map_err(|stop| self.ended(stop))
                }
            },
            Places::Choice(condition, arms) => {
                let [then, otherwise] = &**arms;
                let [then_may, other_may] =
                    [true, false].map(|holds| self.cta.values.may_be(lane, *condition, holds));
                if !(then_may && other_may) {
                    return self.in_each(if then_may { then } else { otherwise }, what);
                }
                let then = self.access_where((*condition, true), then, what)?;
                let otherwise = self.access_where((*condition, false), otherwise, what)?;
                match (then, otherwise) {
                    (Some(then), Some(otherwise)) => self.select_loaded(*condition, [then, otherwise]),
                    (only, None) | (None, only) => Ok(only.unwrap_or_else(|| what.nothing())),
                }
            }
            Places::Index(index, addresses) => {
                let mut loaded: Option<Vec<Value>> = None;
                self.cta.work.counts.warp_instructions += addresses.len() as u64;
                self.cta.check_budgets()?;
                let mut by_integers = self.cta.values.terms.under_guards().by_integers(lane, *index, pc);
                for (value, address) in addresses.iter().rev() {
                    let store = &mut self.cta.values.terms.store;
                    let number = whole(store, (*value).into());
                    let is_this = by_integers.remove(value);
                    let is_this =
                        is_this.unwrap_or_else(|| store.apply(TermOp::Equal, &[*index, number], pc));
                    let place = Places::At(*address);
                    let own = if addresses.len() == 1 {
                        self.in_each(&place, what)?
                    } else if let Some(own) = self.access_where((is_this, true), &place, what)? {
                        own
                    } else {
                        continue;
                    };
                    loaded = Some(match loaded {
                        None => own,
                        Some(others) => self.select_loaded(is_this, [own, others])?,
                    });
                }
                Ok(loaded.unwrap_or_else(|| what.nothing()))
            }
        }
    }

    /// Executes an instruction at an address; returns what it loads.
    fn execute_at(&mut self, address: u64, of: OfInst<'_>) -> Result<Vec<Value>, Stop> {
        let (OfInst { inst, base, targets }, lane) = (of, self.lane);
        // A target may be one of the operands of the next case.
        let registers = targets.iter().flatten().chain([&base]);
        let mut before: Vec<_> = registers.map(|at| (*at, self.warp.register(*at).get(lane))).collect();
        self.warp.register_mut(base).set(lane, Value::Bits(address));
        before.extend(self.narrow_stored(inst, base));
        let done = self.cta.execute(self.warp, LaneMask::of(lane), inst, self.pc);
        let loaded = |target: &Option<RegId>| {
            target.map_or(Value::Bits(0), |target| self.warp.register(target).get(lane))
        };
        let loaded = targets.iter().map(loaded).collect();
        for (register, value) in before {
            self.warp.register_mut(register).set(lane, value);
        }
        done.map(|()| loaded)
    }

    /// The end of an access under the guard of the lane.
    pub(super) fn ended(&self, stop: Stop) -> Stop {
        self.cta.values.terms.ended_under_guard(self.warp, LaneMask::of(self.lane), stop)
    }

    /// Executes an access where a condition holds, or does not, as well; `None` where no input leads there, because it
    /// would be out of bounds.
    fn access_where(
        &mut self,
        (condition, holds): (TermId, bool),
        places: &Places,
        what: What<'_>,
    ) -> Result<Option<Vec<Value>>, Stop> {
        let around = self.cta.values.terms.guards.all();
        self.cta.values.narrow(self.lane, condition, holds);
        let terms = &mut self.cta.values.terms;
        if terms.guards.decisions.is_some() {
            // Which values integers have there together is looked at where accesses are compared.
            let guard = terms.guards.of(self.lane);
            terms.under_guards().assignments(guard, MAX_VALUES);
        }
        let loaded = match self.in_each(places, what) {
            Err(Stop::Possible(possible)) if possible.kind() == FaultKind::OutOfBounds => {
                let terms = &mut self.cta.values.terms;
                let literals = terms.guards.all_literals(terms.guards.of(self.lane));
                if terms.are_infeasible(&literals) { Ok(None) } else { Err(Stop::Possible(possible)) }
            }
            loaded => loaded.map(Some),
        };
        self.cta.values.terms.guards.restore(around);
        loaded
    }

    /// Replaces the values that an access stores, or by which it updates, by what they are at this address; returns the
    /// values before.
    fn narrow_stored(&mut self, inst: &Inst, base: RegId) -> Vec<(RegId, Value)> {
        let lane = self.lane;
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
            let value = self.warp.register(source).get(lane);
            let Value::Sym(sym) = value else { continue };
            let narrowed = sym.with_term(|term| self.cta.values.term_under(term, lane, DEEP));
            if let Some(narrowed) = narrowed.filter(|narrowed| *narrowed != sym && source != base) {
                self.warp.register_mut(source).set(lane, Value::Sym(narrowed));
                before.push((source, value));
            }
        }
        before
    }

    fn select_loaded(&mut self, condition: TermId, arms: [Vec<Value>; 2]) -> Result<Vec<Value>, Stop> {
        let [then, otherwise] = arms;
        let values = then.into_iter().zip(otherwise).map(|(then, otherwise)| {
            let at = At { warp: self.warp, lane: self.lane, pc: self.pc };
            self.cta.values.select_value(at, Truth::Condition(condition), [then, otherwise])
        });
        values.collect()
    }

    /// Checks that an index by which the lane accesses memory lies in its tensor or variable, as far as its range shows.
    fn check_index(&mut self, accessed: Accessed) -> Result<(), Stop> {
        let (lane, pc, context) = (self.lane, self.pc, self.cta.context);
        let Accessed { space, address, bytes, verb } = accessed;
        let Value::Sym(sym) = context.value(self.warp, address.base, lane) else { return Ok(()) };
        let SymKind::Int(width @ (4 | 8), term) = sym.kind() else { return Ok(()) };
        let reach = Reach { space, width, distance: address.offset, bytes };
        let Some(indexed) = self.index_in(term, reach) else { return Ok(()) };
        let IndexIn { index, number, first, scale, least, greatest, range } = indexed;
        if indexed.is_inside() || !range.whole {
            return Ok(());
        }
        let object = context.launch.objects.get(number);
        // Addresses wrap around, and other objects lie elsewhere: nothing is said of an index that leads so far.
        let [first_near, last_near] = object.slot();
        let near = between((first, scale), first_near, last_near - i128::from(bytes));
        // An index none of whose values lies inside may be one of another object. If its values are few, an access at each
        // of them tells.
        let is_beside = !meet(range, (least, greatest));
        let is_elsewhere = is_beside && (!meet(range, near) || range.values(MAX_ADDRESSES).is_some());
        if least > greatest || is_elsewhere || self.is_inside((term, number), reach, MAX_ARMS) {
            return Ok(());
        }
        let name = pretty_name(&object.name);
        let reached = ReachedIndex { index, first, scale, least, greatest };
        let terms = &mut self.cta.values.terms;
        let what = describe_index(terms, reached, (object, bytes), pc);
        let message = format!("{verb} `{name}` out of bounds: its index {what}");
        let sites = vec![context.site(format!("{verb} `{name}`"), self.warp, lane, pc)];
        let help = "test the index before the access; or, if its values are known to be in bounds, say so in the case: \
                    `range = [least, greatest]` of the tensor that holds them";
        let kind = FaultKind::OutOfBounds;
        let fault = Fault::new(context.launch.which, kind, "M1", message, sites, Some(help.into()));
        let mut between = |bounds, holds| {
            let condition = terms.under_guards().is_between(index, bounds, pc);
            Literal { condition, holds }
        };
        let inside = between((least, greatest), false);
        let is_near = (!range.within(near.0, near.1)).then(|| between(near, true));
        let besides: Vec<Literal> = is_near.into_iter().chain([inside]).collect();
        let guard = terms.guards.of(lane);
        let mut all = terms.guards.all_literals(guard);
        all.extend(&besides);
        if terms.are_infeasible(&all) {
            return Ok(());
        }
        Err(terms.possibly_besides(fault, guard, &besides))
    }

    /// The index by which an address reaches into an object; `None` where nothing is to be said of it.
    fn index_in(&mut self, address: TermId, reach: Reach) -> Option<IndexIn> {
        let lane = self.lane;
        let mut under_guards = self.cta.values.terms.under_guards();
        let Indexed { index, scale, offset } = under_guards.indexed_under_guard(lane, address);
        let (number, first) = self.found_at(offset, reach)?;
        let object = self.cta.context.launch.objects.get(number);
        let last = i128::from(object.size) - i128::from(reach.bytes);
        if last < 0 || scale == 0 {
            return None;
        }
        let first = i128::from(first);
        let (least, greatest) = between((first, scale), 0, last);
        let range = self.cta.values.terms.under_guards().range_under_guard(lane, index);
        Some(IndexIn { index, number, first, scale, least, greatest, range })
    }

    /// Whether an address reaches into an object wherever the guard of the lane holds: each arm of a select in it does,
    /// where it is taken, or all values of the integers that it is computed from lead there.
    fn is_inside(&mut self, (address, number): (TermId, u32), reach: Reach, depth: u32) -> bool {
        let lane = self.lane;
        let indexed = self.index_in(address, reach).filter(|indexed| indexed.number == number);
        if indexed.is_some_and(|indexed| indexed.is_inside()) {
            return true;
        }
        let Values { terms, congruence, .. } = &mut self.cta.values;
        if let Some(IndexIn { index, least, greatest, .. }) = indexed
            && let Some(values) =
                terms.under_guards().values_by_counting(congruence, lane, index, MAX_ADDRESSES)
        {
            let bounds = values.first().zip(values.last());
            return bounds.is_none_or(|(low, high)| (least..=greatest).contains(low) && *high <= greatest);
        }
        if depth > 0
            && let Some((condition, arms)) = terms.under_guards().arms(address, MAX_ARMS)
        {
            let around = terms.guards.all();
            let are_inside = [(true, arms[0]), (false, arms[1])].into_iter().all(|(holds, arm)| {
                self.cta.values.narrow(lane, condition, holds);
                let terms = &mut self.cta.values.terms;
                let own = terms.guards.of(lane);
                let is_inside =
                    !terms.under_guards().may_hold(own) || self.is_inside((arm, number), reach, depth - 1);
                self.cta.values.terms.guards.restore(around);
                is_inside
            });
            if are_inside {
                return true;
            }
        }
        let terms = &mut self.cta.values.terms;
        let guard = terms.guards.of(lane);
        let Some(all) = terms.under_guards().assignments_below(guard, address) else { return false };
        let Some(addresses) = all.values(&terms.store, [address]) else { return false };
        let last = i128::from(self.cta.context.launch.objects.get(number).size) - i128::from(reach.bytes);
        addresses.into_iter().all(|[address]| {
            let found = self.found_at(address, reach);
            found.is_some_and(|(own, offset)| own == number && (0..=last).contains(&i128::from(offset)))
        })
    }

    /// The object that an address belongs to, and its offset there.
    fn found_at(&self, address: i128, reach: Reach) -> Option<(u32, i64)> {
        let address = (address as u64 & low_bytes(reach.width)).wrapping_add_signed(reach.distance);
        let (own, inner) = owned(locate(reach.space, address), self.warp.thread(self.lane));
        self.cta.context.found(self.warp, own, inner)
    }
}

impl Values<'_> {
    /// The possible values of an address, or of another number, where the guard of a lane holds; `None` where they are
    /// not known, or too many.
    pub(super) fn places(&mut self, lane: Lane, address: Value) -> Option<Places> {
        self.some_places(lane, address, &mut { MAX_ADDRESSES })
    }

    /// The same; so many more may be found.
    fn some_places(&mut self, lane: Lane, address: Value, left: &mut usize) -> Option<Places> {
        if let Some(choice) = self.terms.packed.as_choice(address) {
            let then = self.some_places(lane, choice.then, left)?;
            let otherwise = self.some_places(lane, choice.otherwise, left)?;
            return Some(Places::Choice(choice.condition, Box::new([then, otherwise])));
        }
        match address {
            Value::Bits(address) => {
                *left = left.checked_sub(1)?;
                Some(Places::At(address))
            }
            Value::Sym(sym) => {
                let SymKind::Int(bytes @ (4 | 8), term) = sym.kind() else { return None };
                self.places_by_index(lane, (bytes, term), left)
            }
            Value::Undefined(_) => None,
        }
    }

    /// Like [`Values::places`], for an address that is computed from an index.
    fn places_by_index(
        &mut self,
        lane: Lane,
        (bytes, address): (u32, TermId),
        left: &mut usize,
    ) -> Option<Places> {
        let Values { terms, congruence, .. } = self;
        let mut under_guards = terms.under_guards();
        let Indexed { index, scale, offset } = under_guards.indexed_under_guard(lane, address);
        let values = under_guards.range_under_guard(lane, index).values(*left);
        let most = values.as_ref().map_or(*left + 1, Vec::len);
        if most > 1
            && let Some((key, addresses)) = under_guards.places_by_integers(lane, (bytes, address), index)
            && (1..most).contains(&addresses.len())
        {
            *left -= addresses.len();
            return Some(Places::Index(key, addresses));
        }
        let mut counted = || under_guards.values_by_counting(congruence, lane, index, *left);
        let Some(values) = (if most > 1 { counted().or(values) } else { values }) else {
            let (condition, arms) = under_guards.arms(address, MAX_ARMS)?;
            let around = self.terms.guards.all();
            let [then, otherwise] = [(true, arms[0]), (false, arms[1])].map(|(holds, arm)| {
                self.narrow(lane, condition, holds);
                let places = self.places_by_index(lane, (bytes, arm), left);
                self.terms.guards.restore(around);
                places
            });
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

    /// A term where the guard of a lane holds: the arms that are taken there, at most `depth` operations deep.
    fn term_under(&mut self, term: TermId, lane: Lane, depth: u32) -> TermId {
        let View::Apply(op, operands) = self.terms.store.view(term) else { return term };
        if op == TermOp::Select {
            return match self.implies(self.terms.guards.of(lane), operands[0]) {
                Some(holds) => self.term_under(operands[if holds { 1 } else { 2 }], lane, depth),
                None => term,
            };
        }
        if depth == 0 || op.is_condition() {
            return term;
        }
        let arity = op.arity();
        let narrowed = operands.map(|operand| self.term_under(operand, lane, depth - 1));
        if narrowed[..arity] == operands[..arity] {
            return term;
        }
        let site = self.terms.store.site(term).unwrap_or(InstId(u32::MAX));
        self.terms.store.apply(op, &narrowed[..arity], site)
    }

    /// Whether a condition may hold, or not hold, where the guard of a lane does, as far as is known.
    fn may_be(&mut self, lane: Lane, condition: TermId, holds: bool) -> bool {
        let terms = Terms { store: &mut self.terms.store, congruence: &mut self.congruence };
        let guard = self.terms.guards.narrower(terms, lane, condition, holds);
        self.terms.under_guards().may_hold(guard)
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
        if self.is_contradiction_of_one(guard) {
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
