//! Loads through one of several known addresses, which an input chooses (rule S1): `c ? a[i] : b[j]`, where compilers
//! select the pointer and load once, and array elements at an index with few possible values. The result is a select of
//! the values at these addresses.

use super::super::agent::Agent;
use super::super::cta::{Cta, Stop};
use super::super::int_terms::whole;
use super::super::objects::{Backing, locate, owned};
use super::super::value::{SymKind, Truth, Value};
use super::super::warp::Warp;
use super::memory::LaneAccess;
use crate::base::lane::{Lane, LaneMask};
use crate::program::{Inst, InstId, Op, Space, Src, Width};
use crate::term::{Kind, Product, Store, Sum, TermId, TermOp, View};

/// The largest number of addresses that one lane may choose from.
const MAX_ADDRESSES: u32 = 64;

/// The largest number of operations between an address and the index that it is computed from.
const MAX_STEPS: u32 = 16;

/// The possible values of an address.
pub(super) enum Places {
    /// This address.
    At(u64),
    /// A select by a condition.
    Choice(TermId, Box<[Places; 2]>),
}

impl Places {
    /// Calls `ask` for each address, until an error.
    pub(super) fn all<E>(&self, ask: &mut impl FnMut(u64) -> Result<(), E>) -> Result<(), E> {
        match self {
            Places::At(address) => ask(*address),
            Places::Choice(_, arms) => arms.iter().try_for_each(|arm| arm.all(ask)),
        }
    }
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

/// A load of consecutive elements.
#[derive(Clone, Copy)]
struct Wanted {
    space: Space,
    offset: i64,
    width: Width,
    count: usize,
    pc: InstId,
}

impl Cta<'_> {
    /// The possible values of an address; `None` where they are not known, or too many.
    pub(super) fn places(&mut self, address: Value, pc: InstId) -> Option<Places> {
        let mut left = MAX_ADDRESSES;
        self.places_within(address, pc, &mut left)
    }

    fn places_within(&mut self, address: Value, pc: InstId, left: &mut u32) -> Option<Places> {
        if let Some(choice) = self.packed.as_choice(address) {
            let then = self.places_within(choice.then, pc, left)?;
            let otherwise = self.places_within(choice.otherwise, pc, left)?;
            return Some(Places::Choice(choice.condition, Box::new([then, otherwise])));
        }
        match address {
            Value::Bits(address) => {
                *left = left.checked_sub(1)?;
                Some(Places::At(address))
            }
            Value::Sym(sym) => match sym.kind() {
                SymKind::Int(8, term) => self.places_by_index(term, pc, left),
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
    fn places_by_index(&mut self, address: TermId, pc: InstId, left: &mut u32) -> Option<Places> {
        let Indexed { index, scale, offset } = indexed(&self.store, address);
        let values = self.ranges.of(&self.store, index).values(*left as usize)?;
        *left -= values.len() as u32;
        let (last, before) = values.split_last()?;
        // Addresses wrap around at 2^64.
        let at = |index: i128| scale.checked_mul(index)?.checked_add(offset).map(|at| Places::At(at as u64));
        let mut places = at(*last)?;
        for value in before.iter().rev() {
            let number = whole(&mut self.store, i64::try_from(*value).ok()?.into());
            let is_this = self.store.apply(TermOp::Equal, &[index, number], pc);
            places = Places::Choice(is_this, Box::new([at(*value)?, places]));
        }
        Some(places)
    }

    /// Executes a load for the lanes whose address is a select or an unknown integer; returns the lanes for which it
    /// could.
    ///
    /// Such loads read only what no other thread writes: whether a read that may race happens must not depend on
    /// inputs.
    pub(super) fn load_by_choice(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<LaneMask, Stop> {
        let Op::Load { space, address, width, d, .. } = &inst.op else { return Ok(LaneMask::NONE) };
        let Src::Reg(base) = address.base else { return Ok(LaneMask::NONE) };
        let symbolic = warp.register(base).sym & mask;
        if symbolic.is_empty() {
            return Ok(LaneMask::NONE);
        }
        let wanted = Wanted { space: *space, offset: address.offset, width: *width, count: d.len(), pc };
        let mut done = LaneMask::NONE;
        for lane in symbolic {
            let address = warp.register(base).get(lane);
            let Some(places) = self.places(address, pc) else { continue };
            let Some(values) = self.chosen_from(warp, lane, &places, wanted)? else { continue };
            for (target, value) in d.iter().zip(values) {
                if let Some(target) = target {
                    warp.register_mut(*target).set(lane, value);
                }
            }
            done |= LaneMask::of(lane);
        }
        Ok(done)
    }

    /// The value loaded from one of some addresses; `None` where some address does not allow it.
    fn chosen_from(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        places: &Places,
        wanted: Wanted,
    ) -> Result<Option<Vec<Value>>, Stop> {
        let address = match places {
            Places::At(address) => address.wrapping_add_signed(wanted.offset),
            Places::Choice(condition, arms) => {
                let [then, otherwise] = &**arms;
                let Some(then) = self.chosen_from(warp, lane, then, wanted)? else { return Ok(None) };
                let Some(otherwise) = self.chosen_from(warp, lane, otherwise, wanted)? else {
                    return Ok(None);
                };
                let condition = Truth::Condition(*condition);
                let values = then.into_iter().zip(otherwise).map(|(then, otherwise)| {
                    self.select_value(warp, condition, then, otherwise, lane, wanted.pc)
                });
                return values.collect::<Result<_, _>>().map(Some);
            }
        };
        let bytes = wanted.width.bytes();
        let total = bytes * wanted.count as u32;
        let (space, inner) = owned(locate(wanted.space, address), warp.thread(lane));
        let found = self.found(warp, space, inner);
        let is_fixed = found.is_some_and(|(number, _)| match self.launch.objects.get(number).backing {
            Backing::Tensor(tensor) => self.launch.tensors[tensor as usize].is_read_only(),
            Backing::Local(_) => true,
            Backing::Shared(_) => false,
        });
        if !is_fixed {
            return Ok(None);
        }
        let mut offsets = [0; 32];
        let place = (wanted.space, address);
        let access =
            LaneAccess { place, bytes: total, alignment: total, agent: Agent::Thread, writes: false };
        let located = self.locate_lane(warp, lane, wanted.pc, access, &mut offsets);
        // An address that is never taken need not be valid, and this one may never be taken.
        let Ok(at) = located else { return Ok(None) };
        let mut values = Vec::with_capacity(wanted.count);
        for step in 0..wanted.count as u64 {
            let offset = at.offsets[lane] + step * u64::from(bytes);
            let value = self.load_value(warp, lane, &at, offset, bytes)?;
            values.push(value);
        }
        Ok(Some(values))
    }
}
