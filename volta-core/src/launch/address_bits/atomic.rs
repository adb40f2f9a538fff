//! Atomic operations: their effect on memory that may hold addresses, and which uses of addresses are not allowed.

use super::form::{ADDRESSED, COMPUTED, Form, NOWHERE};
use crate::launch::address_bits::{Analysis, State};
use crate::program::{Op, Swap};

impl Analysis<'_> {
    /// Executes an atomic operation.
    pub(crate) fn update(&mut self, state: &mut State, op: &Op, keeps: bool) {
        let (space, address, bytes) = if let Op::Atomic { update, space, address, .. } = op {
            (*space, *address, update.bytes())
        } else if let Op::Swap(swap) = op {
            // Only these registers vary between turns. The others are computed again with the same results.
            for d in swap.turn.varying.registers.iter().chain([&swap.d]) {
                self.write(state, *d, Form::number(u64::MAX), keeps);
            }
            (swap.space, swap.address, swap.width.bytes())
        } else {
            return;
        };
        let place = self.address(state, address);
        if !self.loaded(space, place, bytes).is_number() {
            self.stored(place, bytes, Form::tainted(u64::MAX));
        }
    }

    /// The reason why a compare-and-swap is not allowed, if any.
    pub(super) fn forbidden_swap(&mut self, state: &State, swap: &Swap) -> Option<&'static str> {
        let place = self.address(state, swap.address);
        if place.is_number() {
            return Some(NOWHERE);
        }
        if !self.sums.is_address(place) {
            return Some(ADDRESSED);
        }
        let mut words = swap.expected.into_iter().chain([swap.new]);
        (!words.all(|source| self.form(state, source).is_number())).then_some(COMPUTED)
    }
}
