//! Accesses at addresses that an input chooses (rule S1): at each of the possible addresses, the access happens where the
//! address is that one. `c ? a[i] : b[j]`, where compilers select the pointer and load once, and elements at an index
//! with a known range.

use super::super::cta::Cta;
use super::super::guard::{Bounds, Guard, Literal, Terms};
use super::super::indexed::{Indexed, MAX_STEPS, indexed};
use super::super::int_terms::whole;
use super::super::objects::{locate, owned, pretty_name};
use super::super::packed::low_bytes;
use super::super::stop::Stop;
use super::super::terms::{UnderGuards, ValueTerms};
use super::super::value::{Sym, SymKind, Truth, Value};
use super::super::values::Values;
use super::super::warp::Warp;
use crate::base::lane::{Lane, LaneMask};
use crate::program::{Inst, InstId, Op, RegId, Src};
use crate::term::{Bound, Range, Ranges, TermId, TermOp, View};
use crate::verdict::{Fault, FaultKind};
use rustc_hash::FxHashSet;

/// The largest number of addresses that one lane may choose from.
const MAX_ADDRESSES: usize = 1024;

/// The largest number of values of an integer that are tried to show that a guard never holds.
const MAX_VALUES: usize = 64;

/// Stored values are simplified so many operations deep.
const DEEP: u32 = 3;

/// The largest number of terms below a condition that are visited.
const MAX_TERMS: usize = 64;

/// The possible values of an address.
enum Places {
    /// This address.
    At(u64),
    /// A select by a condition.
    Choice(TermId, Box<[Places; 2]>),
    /// For each value of an index, an address.
    Index(TermId, Vec<(i64, u64)>),
}

impl Cta<'_> {
    /// Executes an access for the lanes whose address depends on the input; returns the lanes for which it could.
    pub(super) fn access_by_cases(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<LaneMask, Stop> {
        let (address, targets): (_, &[Option<RegId>]) = if let Op::Load { address, d, .. } = &inst.op {
            (address, d)
        } else if let Op::Store { address, .. } = &inst.op {
            (address, &[])
        } else if let Op::Atomic { address, d, .. } = &inst.op {
            (address, std::slice::from_ref(d))
        } else {
            return Ok(LaneMask::NONE);
        };
        let Src::Reg(base) = address.base else { return Ok(LaneMask::NONE) };
        let symbolic = warp.register(base).sym & mask;
        if symbolic.is_empty() || self.context.may_happen(&inst.op).is_err() {
            return Ok(LaneMask::NONE);
        }
        let mut done = LaneMask::NONE;
        for lanes in self.values.storing_alike(warp, symbolic, inst) {
            self.values.terms.guards.alike = self.sync.next_access().filter(|_| lanes.only().is_none());
            let accessed = lanes.iter().try_for_each(|lane| -> Result<(), Stop> {
                done |= self.access_of_lane(warp, lane, inst, pc, (base, targets))?;
                Ok(())
            });
            self.values.terms.guards.alike = None;
            accessed?;
        }
        Ok(done)
    }

    /// Executes an access of one lane; returns the lane, if its possible addresses are known.
    fn access_of_lane(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        inst: &Inst,
        pc: InstId,
        (base, targets): (RegId, &[Option<RegId>]),
    ) -> Result<LaneMask, Stop> {
        let address = warp.register(base).get(lane);
        self.values.terms.steers(warp, lane, address, ("where an access happens", pc))?;
        self.values.terms.check_index(warp, lane, inst, pc)?;
        let mut left = MAX_ADDRESSES;
        let Some(places) = self.values.terms.under_guards().places(lane, address, &mut left) else {
            return Ok(LaneMask::NONE);
        };
        let access = Access { inst, pc, base, targets };
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
    fn access_in_each(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        places: &Places,
        access: Access<'_>,
    ) -> Result<Vec<Value>, Stop> {
        match places {
            Places::At(address) => {
                let mask = LaneMask::of(lane);
                // A target may be one of the operands of the next case.
                let registers = access.targets.iter().flatten().chain([&access.base]);
                let mut before: Vec<_> = registers.map(|at| (*at, warp.register(*at).get(lane))).collect();
                warp.register_mut(access.base).set(lane, Value::Bits(*address));
                before.extend(self.values.narrow_stored(warp, lane, access));
                self.execute(warp, mask, access.inst, access.pc)
                    .map_err(|stop| self.values.terms.ended_under_guard(warp, mask, stop))?;
                let loaded = |target: &Option<RegId>| match target {
                    Some(target) => warp.register(*target).get(lane),
                    None => Value::Bits(0),
                };
                let loaded = access.targets.iter().map(loaded).collect();
                for (register, value) in before {
                    warp.register_mut(register).set(lane, value);
                }
                Ok(loaded)
            }
            Places::Choice(condition, arms) => {
                let [then, otherwise] = &**arms;
                let [then_may, other_may] =
                    [true, false].map(|holds| self.values.may_be(lane, *condition, holds));
                if !(then_may && other_may) {
                    return self.access_in_each(warp, lane, if then_may { then } else { otherwise }, access);
                }
                let then = self.access_where(warp, lane, (*condition, true), then, access)?;
                let otherwise = self.access_where(warp, lane, (*condition, false), otherwise, access)?;
                self.values.select_loaded(warp, lane, *condition, (then, otherwise), access.pc)
            }
            Places::Index(index, addresses) => {
                let mut loaded: Option<Vec<Value>> = None;
                self.work.counts.warp_instructions += addresses.len() as u64;
                self.check_budgets()?;
                for (value, address) in addresses.iter().rev() {
                    let number = whole(&mut self.values.terms.store, (*value).into());
                    let is_this = self.values.terms.store.apply(TermOp::Equal, &[*index, number], access.pc);
                    let place = Places::At(*address);
                    let own = if addresses.len() == 1 {
                        self.access_in_each(warp, lane, &place, access)?
                    } else {
                        self.access_where(warp, lane, (is_this, true), &place, access)?
                    };
                    loaded = Some(match loaded {
                        None => own,
                        Some(others) => {
                            self.values.select_loaded(warp, lane, is_this, (own, others), access.pc)?
                        }
                    });
                }
                Ok(loaded.unwrap_or_default())
            }
        }
    }

    fn access_where(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        (condition, holds): (TermId, bool),
        places: &Places,
        access: Access<'_>,
    ) -> Result<Vec<Value>, Stop> {
        let around = self.values.terms.guards.all();
        let terms = Terms { store: &mut self.values.terms.store, congruence: &mut self.values.congruence };
        self.values.terms.guards.narrow(terms, lane, condition, holds);
        let loaded = self.access_in_each(warp, lane, places, access);
        self.values.terms.guards.restore(around);
        loaded
    }
}

impl Values<'_> {
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
    fn narrow_stored(&mut self, warp: &mut Warp, lane: Lane, access: Access<'_>) -> Vec<(RegId, Value)> {
        let sources: &[Src] = if let Op::Store { a, .. } = &access.inst.op {
            a
        } else if let Op::Atomic { a, .. } = &access.inst.op {
            std::slice::from_ref(a)
        } else {
            return Vec::new();
        };
        let mut before = Vec::new();
        for source in sources {
            let Src::Reg(source) = *source else { continue };
            let value = warp.register(source).get(lane);
            let Value::Sym(sym) = value else { continue };
            let narrowed = match sym.kind() {
                SymKind::Real(format, term) => Sym::real(format, self.term_under(term, lane, DEEP)),
                SymKind::Int(bytes, term) => Sym::int(bytes, self.term_under(term, lane, DEEP)),
                SymKind::Half64(..)
                | SymKind::Pair(..)
                | SymKind::Packed(_)
                | SymKind::Choice(_)
                | SymKind::Partly(_)
                | SymKind::Answer(_)
                | SymKind::Ticket(_)
                | SymKind::Fragment { .. } => continue,
            };
            if narrowed != sym && source != access.base {
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
            self.select_value(warp, Truth::Condition(condition), then, otherwise, lane, pc)
        });
        values.collect()
    }
}

impl ValueTerms<'_> {
    /// Checks that an index by which a lane accesses memory lies in its tensor or variable, as far as its range shows.
    fn check_index(&mut self, warp: &Warp, lane: Lane, inst: &Inst, pc: InstId) -> Result<(), Stop> {
        let (space, address, bytes, verb) = if let Op::Load { space, address, width, d, .. } = &inst.op {
            (space, address, width.bytes() * d.len() as u32, "reads")
        } else if let Op::Store { space, address, width, a, .. } = &inst.op {
            (space, address, width.bytes() * a.len() as u32, "writes")
        } else if let Op::Atomic { space, address, update, .. } = &inst.op {
            (space, address, update.bytes(), "updates")
        } else {
            return Ok(());
        };
        let Value::Sym(sym) = self.context.value(warp, address.base, lane) else { return Ok(()) };
        let SymKind::Int(width @ (4 | 8), term) = sym.kind() else { return Ok(()) };
        let Indexed { index, scale, offset } = self.under_guards().indexed_under_guard(lane, term);
        let at_zero = (offset as u64 & low_bytes(width)).wrapping_add_signed(address.offset);
        let (own, inner) = owned(locate(*space, at_zero), warp.thread(lane));
        let Some((number, first)) = self.context.found(warp, own, inner) else { return Ok(()) };
        let object = self.context.launch.objects.get(number);
        let (first, last) = (i128::from(first), i128::from(object.size) - i128::from(bytes));
        if last < 0 {
            return Ok(());
        }
        if scale == 0 {
            return Ok(());
        }
        // The indices for which `first + scale · index` lies between two offsets.
        let between = |low: i128, high: i128| match scale {
            1.. => ((low - first + scale - 1).div_euclid(scale), (high - first).div_euclid(scale)),
            _ => ((first - high - scale - 1).div_euclid(-scale), (first - low).div_euclid(-scale)),
        };
        let (least, greatest) = between(0, last);
        let range = self.under_guards().range_under_guard(lane, index);
        if range.within(least, greatest) || !range.whole {
            return Ok(());
        }
        // An index none of whose values lies inside may be one of another object.
        let beside =
            range.low.is_some_and(|low| low > greatest) || range.high.is_some_and(|high| high < least);
        if least > greatest || beside {
            return Ok(());
        }
        let name = pretty_name(&object.name);
        let what = self.describe(index);
        let message = format!(
            "{verb} `{name}` out of bounds: its index {what} need not be between {least} and {greatest}"
        );
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
        let inside = Literal { condition: self.is_between(index, (least, greatest), pc), holds: false };
        // Addresses wrap around, and other objects lie elsewhere: nothing is said of an index that leads so far.
        let [first_near, last_near] = object.slot();
        let (low, high) = between(first_near, last_near - i128::from(bytes));
        let near = (!range.within(low, high))
            .then(|| Literal { condition: self.is_between(index, (low, high), pc), holds: true });
        let besides: Vec<Literal> = near.into_iter().chain([inside]).collect();
        Err(self.possibly_besides(fault, self.guards.of(lane), &besides))
    }

    /// The condition that an integer lies between two numbers.
    fn is_between(&mut self, integer: TermId, (low, high): (i128, i128), pc: InstId) -> TermId {
        let [low, high] = [low, high].map(|bound| self.int_terms(pc).whole(bound));
        let not_below = self.store.apply(TermOp::LessEqual, &[low, integer], pc);
        let not_above = self.store.apply(TermOp::LessEqual, &[integer, high], pc);
        self.store.apply(TermOp::And, &[not_below, not_above], pc)
    }
}

impl UnderGuards<'_> {
    /// The possible values of an address; `None` where they are not known, or too many.
    fn places(&mut self, lane: Lane, address: Value, left: &mut usize) -> Option<Places> {
        if let Some(choice) = self.packed.as_choice(address) {
            let then = self.places(lane, choice.then, left)?;
            let otherwise = self.places(lane, choice.otherwise, left)?;
            return Some(Places::Choice(choice.condition, Box::new([then, otherwise])));
        }
        match address {
            Value::Bits(address) => {
                *left = left.checked_sub(1)?;
                Some(Places::At(address))
            }
            Value::Sym(sym) => match sym.kind() {
                SymKind::Int(bytes @ (4 | 8), term) => self.places_by_index(lane, (bytes, term), left),
                SymKind::Int(..)
                | SymKind::Real(..)
                | SymKind::Half64(..)
                | SymKind::Pair(..)
                | SymKind::Packed(_)
                | SymKind::Choice(_)
                | SymKind::Partly(_)
                | SymKind::Answer(_)
                | SymKind::Ticket(_)
                | SymKind::Fragment { .. } => None,
            },
            Value::Undefined(_) => None,
        }
    }

    /// Like [`UnderGuards::places`], for an address that is computed from an index.
    fn places_by_index(
        &mut self,
        lane: Lane,
        (bytes, address): (u32, TermId),
        left: &mut usize,
    ) -> Option<Places> {
        let Indexed { index, scale, offset } = self.indexed_under_guard(lane, address);
        let Some(values) = self.values_under_guard(lane, index, *left) else {
            let (condition, [then, otherwise]) = self.arms(address, DEEP)?;
            let then = self.places_by_index(lane, (bytes, then), left)?;
            let otherwise = self.places_by_index(lane, (bytes, otherwise), left)?;
            return Some(Places::Choice(condition, Box::new([then, otherwise])));
        };
        *left -= values.len();
        // Addresses wrap around.
        let at = |value: i128| Some(scale.checked_mul(value)?.checked_add(offset)? as u64 & low_bytes(bytes));
        let number = |value: i128| i64::try_from(value).ok();
        let addresses: Option<Vec<_>> =
            values.into_iter().map(|value| Some((number(value)?, at(value)?))).collect();
        Some(Places::Index(index, addresses.filter(|addresses| !addresses.is_empty())?))
    }

    /// An address that is a sum with a select, as a select of sums.
    fn arms(&mut self, address: TermId, depth: u32) -> Option<(TermId, [TermId; 2])> {
        let View::Apply(op, operands) = self.store.view(address) else { return None };
        if op == TermOp::Select {
            return Some((operands[0], [operands[1], operands[2]]));
        }
        if !matches!(op, TermOp::Add | TermOp::Mod) || depth == 0 {
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
        let supposed = self.suppose_guard(self.guards.of(lane));
        let range = self.ranges.of(self.store, term);
        (0..supposed).for_each(|_| self.ranges.suppose_no_more());
        range
    }

    /// An address as a multiple of an index and a constant, where a number that wraps around does not where the guard of
    /// the lane holds.
    fn indexed_under_guard(&mut self, lane: Lane, address: TermId) -> Indexed {
        let mut all = indexed(self.store, address);
        for _ in 0..MAX_STEPS {
            let View::Apply(TermOp::Mod, [inner, by, _]) = self.store.view(all.index) else { break };
            let modulus = match self.store.view(by) {
                View::Constant(by) => by.exact.finite().and_then(|by| by.to_i64()).map(i128::from),
                View::Input { .. } | View::Apply(..) => None,
            };
            let Some(modulus) = modulus else { break };
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

    /// Supposes the bounds of integers that a guard implies; returns how many.
    fn suppose_guard(&mut self, guard: Guard) -> usize {
        let mut supposed = 0;
        for Bounds { of, low, high, except } in self.guards.bounds(guard) {
            let (mut term, mut least, mut greatest) = (of, low, high);
            for _ in 0..MAX_STEPS {
                let range = self.ranges.of(self.store, term);
                let (Some(low), Some(high), true) = (range.low, range.high, range.whole) else { break };
                let (mut low, mut high) = (low.max(least.unwrap_or(low)), high.min(greatest.unwrap_or(high)));
                if term == of {
                    low += i128::from(except == Some(low));
                    high -= i128::from(except == Some(high));
                }
                if low > high {
                    break;
                }
                // A number that wraps around is itself where it is in the lower half: in the other half, it would be
                // negative.
                let inner = match self.store.view(term) {
                    View::Apply(TermOp::Mod, [inner, by, _]) => Some((inner, by)),
                    View::Apply(..) | View::Input { .. } | View::Constant(_) => None,
                };
                let next = inner.and_then(|(inner, by)| {
                    let View::Constant(by) = self.store.view(by) else { return None };
                    let by = i128::from(by.exact.finite()?.to_i64()?);
                    let inside = self.ranges.of(self.store, inner);
                    let Indexed { index, scale, offset } = indexed(self.store, inner);
                    let is_plain = scale == 1 && inside.within(high - by + 1, by - 1);
                    is_plain.then_some((index, low - offset, high - offset))
                });
                self.ranges.suppose(Bound::Between(term, low, high));
                supposed += 1;
                let Some((index, low, high)) = next else { break };
                (term, least, greatest) = (index, Some(low), Some(high));
            }
        }
        supposed
    }

    /// Whether some input may fulfil a guard, as far as the values of an integer of few values show.
    pub(super) fn may_hold(&mut self, guard: Guard) -> bool {
        if let Some(known) = self.guards.feasible.get(&guard) {
            return *known;
        }
        let may = self.may_hold_anew(guard);
        self.guards.feasible.insert(guard, may);
        may
    }

    fn may_hold_anew(&mut self, guard: Guard) -> bool {
        let literals = self.guards.conditions(guard);
        if self.guards.contradicts_itself(guard) {
            return false;
        }
        let Some(newest) = literals.first() else { return true };
        let Some(integer) = self.integer_below(newest.condition) else { return true };
        let Some(values) = self.ranges.of(self.store, integer).values(MAX_VALUES) else { return true };
        // Without what is supposed elsewhere, which is less exact.
        values.into_iter().any(|value| {
            let mut ranges = Ranges::default();
            ranges.suppose(Bound::Between(integer, value, value));
            literals.iter().all(|literal| {
                let opposite = i128::from(!literal.holds);
                !ranges.of(self.store, literal.condition).within(opposite, opposite)
            })
        })
    }

    /// The only element of an input that a condition depends on, if it is an integer.
    fn integer_below(&self, condition: TermId) -> Option<TermId> {
        let (mut found, mut seen, mut work) = (None, FxHashSet::default(), vec![condition]);
        while let Some(term) = work.pop() {
            if seen.len() >= MAX_TERMS {
                return None;
            }
            if !seen.insert(term) {
                continue;
            }
            match self.store.view(term) {
                View::Apply(op, operands) => work.extend(&operands[..op.arity()]),
                View::Constant(_) => {}
                View::Input { input, .. } => {
                    self.store.integers(input)?;
                    if found.replace(term).is_some_and(|other| other != term) {
                        return None;
                    }
                }
            }
        }
        found
    }
}

/// An access, its base register, and the registers that it loads into.
#[derive(Clone, Copy)]
struct Access<'i> {
    inst: &'i Inst,
    pc: InstId,
    base: RegId,
    targets: &'i [Option<RegId>],
}
