//! Accesses at addresses that an input chooses (rule S1): at each of the possible addresses, the access happens where the
//! address is that one. `c ? a[i] : b[j]`, where compilers select the pointer and load once, and elements at an index
//! with a known range.

use super::super::cta::{Cta, Stop};
use super::super::guard::{Literal, Terms};
use super::super::int_terms::whole;
use super::super::objects::{locate, owned, pretty_name};
use super::super::packed::low_bytes;
use super::super::value::{SymKind, Truth, Value};
use super::super::warp::Warp;
use crate::base::lane::{Lane, LaneMask};
use crate::program::{Inst, InstId, Op, RegId, Src};
use crate::term::{Bound, Kind, Product, Range, Store, Sum, TermId, TermOp, View};
use crate::verdict::{Fault, FaultKind};

/// The largest number of addresses that one lane may choose from.
const MAX_ADDRESSES: usize = 1024;

/// The largest number of operations between an address and the index that it is computed from.
const MAX_STEPS: u32 = 16;

/// The possible values of an address.
enum Places {
    /// This address.
    At(u64),
    /// A select by a condition.
    Choice(TermId, Box<[Places; 2]>),
    /// For each value of an index, an address.
    Index(TermId, Vec<(i64, u64)>),
}

/// An integer that is `scale · index + offset`.
struct Indexed {
    index: TermId,
    scale: i128,
    offset: i128,
}

/// Decomposes an integer into a multiple of an index and a constant.
fn indexed(store: &Store, term: TermId) -> Indexed {
    let mut out = Indexed { index: term, scale: 1, offset: 0 };
    let number = |term: TermId| match store.view(term) {
        View::Constant(constant) => constant.exact.finite()?.to_i64().map(i128::from),
        View::Input { .. } | View::Apply(..) => None,
    };
    for _ in 0..MAX_STEPS {
        let View::Apply(op, [a, b, _]) = store.view(out.index) else { break };
        let (left, right) = (number(a), if op.arity() > 1 { number(b) } else { None });
        // The operand that becomes the index, with a factor and an addend.
        let (index, factor, addend) = match (op.kind(), left, right) {
            (Kind::Sum(Sum::Add), Some(number), None) => (b, 1, number),
            (Kind::Sum(Sum::Add), None, Some(number)) => (a, 1, number),
            (Kind::Sum(Sum::Sub), Some(number), None) => (b, -1, number),
            (Kind::Sum(Sum::Sub), None, Some(number)) => (a, 1, -number),
            (Kind::Product(Product::Mul), Some(number), None) => (b, number, 0),
            (Kind::Product(Product::Mul), None, Some(number)) => (a, number, 0),
            (
                Kind::Sum(_)
                | Kind::Product(_)
                | Kind::Exponential
                | Kind::Function(_)
                | Kind::Piecewise(_)
                | Kind::Condition(_),
                ..,
            ) => break,
        };
        let shifted = out.scale.checked_mul(addend).and_then(|shift| out.offset.checked_add(shift));
        let (Some(scale), Some(offset)) = (out.scale.checked_mul(factor), shifted) else { break };
        out = Indexed { index, scale, offset };
    }
    out
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
        let (address, targets): (_, &[Option<RegId>]) = match &inst.op {
            Op::Load { address, d, .. } => (address, d),
            Op::Store { address, .. } => (address, &[]),
            Op::Atomic { address, d, .. } => (address, std::slice::from_ref(d)),
            _ => return Ok(LaneMask::NONE),
        };
        let Src::Reg(base) = address.base else { return Ok(LaneMask::NONE) };
        let symbolic = warp.register(base).sym & mask;
        if symbolic.is_empty() || self.may_happen(&inst.op).is_err() {
            return Ok(LaneMask::NONE);
        }
        let mut done = LaneMask::NONE;
        for lane in symbolic {
            let address = warp.register(base).get(lane);
            self.check_index(warp, lane, inst, pc)?;
            let mut left = MAX_ADDRESSES;
            let Some(places) = self.places(lane, address, pc, &mut left) else { continue };
            let access = Access { inst, pc, base, targets };
            self.guards.around_cases = Some(self.guards.literals(self.guards.of(lane)).len());
            let values = self.access_in_each(warp, lane, &places, access);
            self.guards.around_cases = None;
            let values = values?;
            warp.register_mut(base).set(lane, address);
            for (target, value) in targets.iter().zip(values) {
                if let Some(target) = target {
                    warp.register_mut(*target).set(lane, value);
                }
            }
            done |= LaneMask::of(lane);
        }
        Ok(done)
    }

    /// Checks that an index by which a lane accesses memory lies in its tensor or variable, as far as its range shows.
    fn check_index(&mut self, warp: &Warp, lane: Lane, inst: &Inst, pc: InstId) -> Result<(), Stop> {
        let (space, address, bytes, verb) = match &inst.op {
            Op::Load { space, address, width, d, .. } => {
                (space, address, width.bytes() * d.len() as u32, "reads")
            }
            Op::Store { space, address, width, a, .. } => {
                (space, address, width.bytes() * a.len() as u32, "writes")
            }
            Op::Atomic { space, address, update, .. } => (space, address, update.bytes(), "updates"),
            _ => return Ok(()),
        };
        let Value::Sym(sym) = self.value(warp, address.base, lane) else { return Ok(()) };
        let SymKind::Int(width @ (4 | 8), term) = sym.kind() else { return Ok(()) };
        let Indexed { index, scale, offset } = indexed(&self.store, term);
        let at_zero = (offset as u64 & low_bytes(width)).wrapping_add_signed(address.offset);
        let (own, inner) = owned(locate(*space, at_zero), warp.thread(lane));
        let Some((number, first)) = self.found(warp, own, inner) else { return Ok(()) };
        let object = self.launch.objects.get(number);
        let (first, last) = (i128::from(first), i128::from(object.size) - i128::from(bytes));
        if last < 0 {
            return Ok(());
        }
        // `first + scale · index` lies between 0 and `last`.
        let (least, greatest) = match scale {
            0 => return Ok(()),
            1.. => ((scale - 1 - first).div_euclid(scale), (last - first).div_euclid(scale)),
            _ => ((first - last - scale - 1).div_euclid(-scale), first.div_euclid(-scale)),
        };
        let range = self.range_under_guard(lane, index);
        if range.within(least, greatest) || !range.whole {
            return Ok(());
        }
        let name = pretty_name(&object.name);
        let what = self.describe(index);
        let message = if least > greatest {
            return Ok(());
        } else {
            format!(
                "{verb} `{name}` out of bounds: its index {what} need not be between {least} and {greatest}"
            )
        };
        let site = self.site(format!("{verb} `{name}`"), warp, lane, pc);
        let help = "test the index before the access; or, if its values are known to be in bounds, say so in the case: \
                    `range = [least, greatest]` of the tensor that holds them";
        let fault = Fault::new(
            self.launch.which,
            FaultKind::OutOfBounds,
            "M1",
            message,
            vec![site],
            Some(help.into()),
        );
        let [low, high] = [least, greatest].map(|bound| self.int_terms(pc).whole(bound));
        let not_below = self.store.apply(TermOp::LessEqual, &[low, index], pc);
        let not_above = self.store.apply(TermOp::LessEqual, &[index, high], pc);
        let inside = self.store.apply(TermOp::And, &[not_below, not_above], pc);
        Err(self.possibly_besides(fault, self.guards.of(lane), Literal { condition: inside, holds: false }))
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
                warp.register_mut(access.base).set(lane, Value::Bits(*address));
                self.execute(warp, mask, access.inst, access.pc)
                    .map_err(|stop| self.ended_under_guard(warp, mask, stop))?;
                let loaded = |target: &Option<RegId>| match target {
                    Some(target) => warp.register(*target).get(lane),
                    None => Value::Bits(0),
                };
                Ok(access.targets.iter().map(loaded).collect())
            }
            Places::Choice(condition, arms) => {
                let [then, otherwise] = &**arms;
                let own = self.congruence.representative(&self.store, *condition);
                if let Some(holds) = self.guards.decides(self.guards.of(lane), own) {
                    return self.access_in_each(warp, lane, if holds { then } else { otherwise }, access);
                }
                let then = self.access_where(warp, lane, (*condition, true), then, access)?;
                let otherwise = self.access_where(warp, lane, (*condition, false), otherwise, access)?;
                self.select_loaded(warp, lane, *condition, (then, otherwise), access.pc)
            }
            Places::Index(index, addresses) => {
                let mut loaded: Option<Vec<Value>> = None;
                for (value, address) in addresses.iter().rev() {
                    let number = whole(&mut self.store, (*value).into());
                    let is_this = self.store.apply(TermOp::Equal, &[*index, number], access.pc);
                    let place = Places::At(*address);
                    let own = if addresses.len() == 1 {
                        self.access_in_each(warp, lane, &place, access)?
                    } else {
                        self.access_where(warp, lane, (is_this, true), &place, access)?
                    };
                    loaded = Some(match loaded {
                        None => own,
                        Some(others) => self.select_loaded(warp, lane, is_this, (own, others), access.pc)?,
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
        let around = self.guards.all();
        let terms = Terms { store: &mut self.store, congruence: &mut self.congruence };
        self.guards.narrow(terms, lane, condition, holds);
        let loaded = self.access_in_each(warp, lane, places, access);
        self.guards.restore(around);
        loaded
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

    /// The possible values of an address; `None` where they are not known, or too many.
    fn places(&mut self, lane: Lane, address: Value, pc: InstId, left: &mut usize) -> Option<Places> {
        if let Some(choice) = self.packed.as_choice(address) {
            let then = self.places(lane, choice.then, pc, left)?;
            let otherwise = self.places(lane, choice.otherwise, pc, left)?;
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
                | SymKind::Answer(_)
                | SymKind::Fragment { .. } => None,
            },
            Value::Undefined(_) => None,
        }
    }

    /// Like [`Cta::places`], for an address that is computed from an index.
    fn places_by_index(
        &mut self,
        lane: Lane,
        (bytes, address): (u32, TermId),
        left: &mut usize,
    ) -> Option<Places> {
        if let View::Apply(TermOp::Select, [condition, then, otherwise]) = self.store.view(address) {
            let then = self.places_by_index(lane, (bytes, then), left)?;
            let otherwise = self.places_by_index(lane, (bytes, otherwise), left)?;
            return Some(Places::Choice(condition, Box::new([then, otherwise])));
        }
        let Indexed { index, scale, offset } = indexed(&self.store, address);
        let values = self.values_under_guard(lane, index, *left)?;
        *left -= values.len();
        // Addresses wrap around.
        let at = |value: i128| Some(scale.checked_mul(value)?.checked_add(offset)? as u64 & low_bytes(bytes));
        let number = |value: i128| i64::try_from(value).ok();
        let addresses: Option<Vec<_>> =
            values.into_iter().map(|value| Some((number(value)?, at(value)?))).collect();
        Some(Places::Index(index, addresses.filter(|addresses| !addresses.is_empty())?))
    }

    /// The values that an integer may have where the guard of a lane holds.
    fn values_under_guard(&mut self, lane: Lane, integer: TermId, most: usize) -> Option<Vec<i128>> {
        self.range_under_guard(lane, integer).values(most)
    }

    /// The range of a term where the guard of a lane holds.
    fn range_under_guard(&mut self, lane: Lane, term: TermId) -> Range {
        let mut supposed = 0;
        for literal in self.guards.literals(self.guards.of(lane)) {
            for bound in self.bounds_of(literal) {
                self.ranges.suppose(bound);
                supposed += 1;
            }
        }
        let range = self.ranges.of(&self.store, term);
        for _ in 0..supposed {
            self.ranges.suppose_no_more();
        }
        range
    }

    /// The bounds of an integer that a literal implies: of what is compared with a number, and of what that is computed
    /// from.
    fn bounds_of(&mut self, literal: Literal) -> Vec<Bound> {
        let View::Apply(op, [a, b, _]) = self.store.view(literal.condition) else { return Vec::new() };
        let number = |term: TermId| match self.store.view(term) {
            View::Constant(constant) => constant.exact.finite()?.to_i64().map(i128::from),
            View::Input { .. } | View::Apply(..) => None,
        };
        // `least` and `greatest` of the side that is no number.
        let (term, least, greatest) = match (op, number(a), number(b), literal.holds) {
            (TermOp::Less, None, Some(b), true) => (a, None, Some(b - 1)),
            (TermOp::Less, None, Some(b), false) => (a, Some(b), None),
            (TermOp::Less, Some(a), None, true) => (b, Some(a + 1), None),
            (TermOp::Less, Some(a), None, false) => (b, None, Some(a)),
            (TermOp::LessEqual, None, Some(b), true) => (a, None, Some(b)),
            (TermOp::LessEqual, None, Some(b), false) => (a, Some(b + 1), None),
            (TermOp::LessEqual, Some(a), None, true) => (b, Some(a), None),
            (TermOp::LessEqual, Some(a), None, false) => (b, None, Some(a - 1)),
            (TermOp::Equal, None, Some(b), true) => (a, Some(b), Some(b)),
            (TermOp::Equal, Some(a), None, true) => (b, Some(a), Some(a)),
            _ => return Vec::new(),
        };
        let mut bounds = Vec::new();
        let (mut term, mut least, mut greatest) = (term, least, greatest);
        for _ in 0..MAX_STEPS {
            let range = self.ranges.of(&self.store, term);
            let (Some(low), Some(high), true) = (range.low, range.high, range.whole) else { break };
            let (low, high) = (low.max(least.unwrap_or(low)), high.min(greatest.unwrap_or(high)));
            if low > high {
                break;
            }
            bounds.push(Bound::Between(term, low, high));
            // A number that wraps around is itself where it is in the lower half: there, the other half would be
            // negative.
            let View::Apply(op, [inner, by, _]) = self.store.view(term) else { break };
            let by = match self.store.view(by) {
                View::Constant(constant) => {
                    constant.exact.finite().and_then(|by| by.to_i64()).map(i128::from)
                }
                View::Input { .. } | View::Apply(..) => None,
            };
            let (Some(by), inside) = (by, self.ranges.of(&self.store, inner)) else { break };
            (term, least, greatest) = match op {
                TermOp::Mod if inside.within(high - by + 1, by - 1) => (inner, Some(low), Some(high)),
                TermOp::Add => (inner, Some(low - by), Some(high - by)),
                TermOp::Sub => (inner, Some(low + by), Some(high + by)),
                _ => break,
            };
        }
        bounds
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
