//! Which uses of addresses by asynchronous operations are not allowed, and the origin of addresses of tensor memory.

use super::form::{ADDRESSED, COMPUTED, Form, NOWHERE};
use crate::launch::address_bits::{Analysis, State};
use crate::program::{
    Address, Async, BulkWrite, Far, MemoryPlace, Op, Space, Src, TENSOR_COLUMNS, TensorMemoryOp, Width,
};

const COLUMNS: &str =
    "it is not determined which columns of tensor memory an allocation gets, unless it gets all";

impl Analysis<'_> {
    fn is_address_at(&mut self, state: &State, address: Address) -> bool {
        let form = self.address(state, address);
        self.sums.is_address(form)
    }

    /// The reason why an asynchronous operation is not allowed, if any.
    pub(super) fn forbidden_asynchronous(
        &mut self,
        state: &State,
        operation: &Async,
    ) -> Option<&'static str> {
        if operation.addresses().any(|address| !self.is_address_at(state, address)) {
            return Some(ADDRESSED);
        }
        if operation.addresses().any(|address| self.address(state, address).is_number()) {
            return Some(NOWHERE);
        }
        let wherever = |form: Form| match form {
            Form::Linear { sum, .. } => Form::Linear { sum, offset: None },
            other @ (Form::Bits { .. } | Form::Some { .. } | Form::Half { .. } | Form::Descriptor { .. }) => {
                other
            }
        };
        let anywhere = Form::number(u64::MAX);
        let read = match operation {
            Async::Copy { from, bytes, .. } => Some((Space::Global, self.address(state, *from), *bytes)),
            // Any place in the object, and any number of bytes.
            Async::BulkLoad { from: Far::Bytes { at: from, .. }, .. } | Async::BulkStore { from, .. } => {
                Some((from.space, wherever(self.address(state, from.address)), 16))
            }
            Async::BulkLoad { from: Far::Tile { .. }, .. } => Some((Space::Global, anywhere, 16)),
            Async::Multiply(_) => Some((Space::Shared, anywhere, 16)),
            Async::FenceRegisters
            | Async::Commit { .. }
            | Async::Wait { .. }
            | Async::Publish { .. }
            | Async::StoreFar { .. }
            | Async::Prefetch { .. }
            | Async::Clear { .. }
            | Async::Fence { .. }
            | Async::ArriveAtCluster { .. }
            | Async::WaitForCluster { .. }
            | Async::GridControl { .. }
            | Async::SetRegisters { .. }
            | Async::Barrier { .. } => None,
            Async::Tensor(operation) => {
                let mut addresses = operation.addresses().into_iter();
                if !addresses.all(|address| self.is_of_tensor_memory(state, address)) {
                    return Some(COLUMNS);
                }
                let reads_shared = !operation.shared_matrices().is_empty();
                reads_shared.then_some((Space::Shared, anywhere, 16))
            }
        };
        let mut number = operation.values().all(|value| {
            let form = self.form(state, value);
            let is_descriptor = match operation {
                Async::Multiply(product) => product.is_descriptor(value),
                Async::Tensor(operation) => operation.is_descriptor(value),
                Async::Copy { .. }
                | Async::BulkLoad { .. }
                | Async::BulkStore { .. }
                | Async::Prefetch { .. }
                | Async::Clear { .. }
                | Async::FenceRegisters
                | Async::Commit { .. }
                | Async::Wait { .. }
                | Async::Publish { .. }
                | Async::StoreFar { .. }
                | Async::Fence { .. }
                | Async::ArriveAtCluster { .. }
                | Async::WaitForCluster { .. }
                | Async::GridControl { .. }
                | Async::SetRegisters { .. }
                | Async::Barrier { .. } => false,
            };
            form.is_number() || is_descriptor && self.sums.is_descriptor(form)
        });
        // An update reads its destination as well.
        let updated = match operation {
            Async::BulkLoad { to, update: Some(_), .. } => {
                Some((*to, wherever(self.address(state, to.address))))
            }
            Async::StoreFar { to, update: Some(_), .. } => Some((*to, self.address(state, to.address))),
            Async::BulkStore { to: Far::Bytes { at: to, .. }, write: BulkWrite::Updates(_), .. } => {
                Some((*to, wherever(self.address(state, to.address))))
            }
            Async::BulkStore { from, write: BulkWrite::UpdatesElements(_), .. } => {
                Some((MemoryPlace { space: Space::Global, ..*from }, anywhere))
            }
            Async::BulkStore { .. }
            | Async::BulkLoad { .. }
            | Async::StoreFar { .. }
            | Async::Copy { .. }
            | Async::Prefetch { .. }
            | Async::Clear { .. }
            | Async::Multiply(_)
            | Async::FenceRegisters
            | Async::Commit { .. }
            | Async::Wait { .. }
            | Async::Publish { .. }
            | Async::Fence { .. }
            | Async::ArriveAtCluster { .. }
            | Async::WaitForCluster { .. }
            | Async::GridControl { .. }
            | Async::SetRegisters { .. }
            | Async::Barrier { .. }
            | Async::Tensor(_) => None,
        };
        let updated = updated.map(|(place, to)| (place.space, to, 16));
        for (space, from, bytes) in read.into_iter().chain(updated) {
            number &= self.loaded(space, from, bytes).is_number();
        }
        (!number).then_some(COMPUTED)
    }

    /// Whether a load reads an address of tensor memory from where an allocation stored it. The answer may change while
    /// more becomes known of the address of the load.
    pub(super) fn loads_tensor_address(&mut self, at: usize, op: &Op, place: Form) -> bool {
        let is_whole = matches!(op, Op::Load { width: Width::W32, d, .. } if d.len() == 1);
        let loads = match self.object(place) {
            Some((base, Some(offset))) => is_whole && self.allocated.contains(&(base, offset)),
            Some((_, None)) | None => false,
        };
        if loads {
            self.tensor_loads.insert(at);
        } else {
            self.tensor_loads.remove(&at);
        }
        loads
    }

    /// Whether this is an address that an allocation of tensor memory returned, plus numbers. A kernel that only
    /// allocates all of tensor memory may use numbers, since the allocation begins at 0.
    fn is_of_tensor_memory(&mut self, state: &State, address: Address) -> bool {
        match self.address(state, address) {
            Form::Linear { sum, .. } => self.sums.is_of_columns(sum),
            Form::Half { .. } | Form::Some { .. } | Form::Descriptor { .. } => false,
            Form::Bits { taint, .. } => {
                let all = Src::Imm(TENSOR_COLUMNS.into());
                taint == 0 && !self.program.insts.iter().any(|inst| {
                    matches!(
                        &inst.op,
                        Op::Async(Async::Tensor(TensorMemoryOp::Allocate { columns, .. })) if *columns != all
                    )
                })
            }
        }
    }
}
