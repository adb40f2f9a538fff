//! Loads through one of several known addresses, by a condition on the input (rule S1): `c ? a[i] : b[j]` as compilers
//! write it, who choose the pointer and load once. What is loaded is the choice between what lies there.

use super::super::cta::{Cta, Stop};
use super::super::objects::Backing;
use super::super::race::Agent;
use super::super::value::{Truth, Value, lanes};
use super::super::warp::Warp;
use super::memory::locate;
use crate::program::{Inst, InstId, Op, Space, Src, Width};

/// Addresses that one lane may choose from.
const MAX_ADDRESSES: u32 = 64;

/// A load of some neighbours.
#[derive(Clone, Copy)]
struct Wanted {
    space: Space,
    offset: i64,
    width: Width,
    count: usize,
    pc: InstId,
}

impl Cta<'_> {
    /// Executes a load for the lanes whose address is a choice, and says which these are.
    ///
    /// Only what nobody writes is read in this way: whether a read happens that may race must not depend on the input.
    pub(super) fn load_by_choice(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        inst: &Inst,
        pc: InstId,
    ) -> Result<u32, Stop> {
        let Op::Load { space, address, width, d, .. } = &inst.op else { return Ok(0) };
        let Src::Reg(base) = address.base else { return Ok(0) };
        let symbolic = warp.register(base).sym & mask;
        if symbolic == 0 {
            return Ok(0);
        }
        let wanted = Wanted { space: *space, offset: address.offset, width: *width, count: d.len(), pc };
        let mut done = 0;
        for lane in lanes(symbolic) {
            let address = warp.register(base).get(lane);
            if self.packed.as_choice(address).is_none() {
                continue;
            }
            let mut left = MAX_ADDRESSES;
            let Some(values) = self.chosen_from(warp, lane, address, wanted, &mut left)? else { continue };
            for (target, value) in d.iter().zip(values) {
                if let Some(target) = target {
                    warp.register_mut(*target).set(lane, value);
                }
            }
            done |= 1 << lane;
        }
        Ok(done)
    }

    /// What is loaded through an address; `None` where that may not be done both ways.
    fn chosen_from(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        address: Value,
        wanted: Wanted,
        left: &mut u32,
    ) -> Result<Option<Vec<Value>>, Stop> {
        if let Some(choice) = self.packed.as_choice(address) {
            let Some(then) = self.chosen_from(warp, lane, choice.then, wanted, left)? else {
                return Ok(None);
            };
            let Some(otherwise) = self.chosen_from(warp, lane, choice.otherwise, wanted, left)? else {
                return Ok(None);
            };
            let condition = Truth::Condition(choice.condition);
            let values = then.into_iter().zip(otherwise).map(|(then, otherwise)| {
                self.select_value(warp, condition, then, otherwise, lane, wanted.pc)
            });
            return values.collect::<Result<_, _>>().map(Some);
        }
        let Value::Bits(address) = address else { return Ok(None) };
        *left = left.saturating_sub(1);
        let address = address.wrapping_add_signed(wanted.offset);
        let bytes = wanted.width.bytes();
        let total = bytes * wanted.count as u32;
        let (space, inner) = locate(wanted.space, address);
        let found = self.launch.objects.find(space, inner);
        let is_fixed = found.is_some_and(|(number, _)| match self.launch.objects.get(number).backing {
            Backing::Tensor(tensor) => self.launch.tensors[tensor as usize].is_read_only(),
            Backing::Shared(_) | Backing::Local(_) => false,
        });
        if *left == 0 || !is_fixed {
            return Ok(None);
        }
        let mut offsets = [0; 32];
        let place = (wanted.space, address);
        let located = self.locate_lane(
            warp,
            lane,
            wanted.pc,
            place,
            (total, total),
            Agent::Thread,
            false,
            &mut offsets,
        );
        // An address that is never taken need not be valid: that this one may be taken is not known.
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
