//! The widths of accesses to tensors, and accesses that lead to no object.

use super::form::{Base, Form};
use crate::launch::address_bits::{Analysis, State};
use crate::program::{Async, Far, Op, Space};

impl Analysis<'_> {
    /// The size in bytes of an access to a tensor of smaller elements, if it is one. Such an access relies on the
    /// alignment of the tensor's beginning.
    pub(super) fn wide_access(&mut self, state: &State, at: usize) -> Option<u32> {
        let op = &self.program.insts[at].op;
        let (address, bytes) = if let Op::Async(Async::Copy { from, bytes, .. }) = op {
            (*from, *bytes)
        } else if let Op::Async(
            Async::BulkLoad { from: Far::Bytes { at, .. }, .. }
            | Async::BulkStore { to: Far::Bytes { at, .. }, .. }
            | Async::Prefetch { from: Far::Bytes { at, .. } },
        ) = op
        {
            (at.address, 16)
        } else if let Op::Async(Async::StoreFar { to, width, barrier: None, .. }) = op {
            (to.address, width.bytes())
        } else if let Op::Load { space: Space::Global | Space::Generic, address, width, d, .. } = op {
            (*address, width.bytes() * d.len() as u32)
        } else if let Op::Store { space: Space::Global | Space::Generic, address, width, a, .. } = op {
            (*address, width.bytes() * a.len() as u32)
        } else if let Op::Swap(swap) = op {
            (swap.address, swap.width.bytes())
        } else {
            return None;
        };
        let address = self.address(state, address);
        let element = |base: Base| match base {
            Base::Tensor(tensor) => self.elements.get(&tensor).copied(),
            Base::Variable(_) | Base::Window(_) | Base::Columns => None,
        };
        let narrowest = match (self.object(address), address) {
            (Some((base, _)), _) => element(base),
            (None, Form::Some { of: Some(set), .. }) => {
                self.sums.objects(set).into_iter().filter_map(element).min()
            }
            (None, _) => self.elements.values().min().copied(),
        };
        narrowest.filter(|element| bytes > *element).map(|_| bytes)
    }

    /// Whether the address of a load or a store is computed from no object's address.
    pub(crate) fn leads_nowhere(&mut self, state: &State, at: usize) -> bool {
        let (Op::Load { address, .. } | Op::Store { address, .. }) = &self.program.insts[at].op else {
            return false;
        };
        let address = *address;
        self.address(state, address).is_number()
    }
}
