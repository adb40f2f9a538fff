//! The address space of a launch (rules M1, M2): every variable and tensor is an object of its own, far from
//! every other, aligned as declared, or as is assumed of it, and no better.
//!
//! The high bits of an address name a slot, a slot holds one object. In the 32-bit spaces a slot is 2²⁴ bytes,
//! in global memory 2⁴⁰. Generic addresses are global ones, or carry the space's window in their top bits.

use crate::base::index::number_of;
use crate::case::{Element, Layout};
use crate::program::{Space, VariableId};

/// One object.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// Its name in messages.
    pub(super) name: String,
    pub(super) space: Space,
    /// Address of its first byte in its own space.
    pub(super) base: u64,
    /// Bytes.
    pub(super) size: u64,
    /// Declared alignment, bytes.
    pub(super) declared: u64,
    /// Alignment that an access may rely on, bytes: not below what is declared. Where it is above, who relies on that is
    /// to be told.
    pub(super) align: u64,
    pub(super) backing: Backing,
    /// What its elements are, when the case says so.
    pub(super) element: Option<Element>,
}

/// Where an object's contents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// A tensor of the case, a variable of the module or a parameter: index into the launch's tensors.
    Tensor(u32),
    /// Shared memory, from this cell on.
    Shared(u32),
    /// Memory of each thread, from this cell on.
    Local(u32),
}

/// What an object is asked to be placed as.
pub(super) struct Request {
    pub(super) name: String,
    pub(super) space: Space,
    pub(super) size: u64,
    pub(super) declared: u64,
    pub(super) align: u64,
    pub(super) backing: Backing,
    pub(super) element: Option<Element>,
}

/// All objects of a launch and their addresses.
#[derive(Debug)]
pub(super) struct Objects {
    objects: Vec<Object>,
    /// Slot to object, for global memory and for the 32-bit spaces.
    global: Vec<Option<u32>>,
    narrow: [Vec<Option<u32>>; 5],
    /// Variable to address in its own space.
    addresses: Vec<u64>,
}

const GLOBAL_SHIFT: u32 = 40;
const NARROW_SHIFT: u32 = 24;
const WINDOW_SHIFT: u32 = 60;
/// There are at most this many objects in a 32-bit space.
pub(super) const MAX_NARROW: usize = 120;
/// Objects of the 32-bit spaces are smaller than this, bytes.
pub(super) const MAX_NARROW_SIZE: u64 = 1 << 23;

fn narrow_index(space: Space) -> Option<usize> {
    match space {
        Space::Shared => Some(0),
        Space::Local => Some(1),
        Space::Const => Some(2),
        Space::Param => Some(3),
        Space::Tensor => Some(4),
        Space::Global | Space::Generic => None,
    }
}

impl Objects {
    /// Places the requests; the result tells each one's object number, in order.
    pub(super) fn place(requests: Vec<Request>, layout: Layout) -> Objects {
        let mut placed = Objects {
            objects: Vec::new(),
            global: Vec::new(),
            narrow: Default::default(),
            addresses: Vec::new(),
        };
        let count = |space: Space| requests.iter().filter(|request| request.space == space).count() as u64;
        let spaces = [Space::Global, Space::Shared, Space::Local, Space::Const, Space::Param, Space::Tensor];
        let totals = spaces.map(|space| (space, count(space)));
        let mut seen = spaces.map(|space| (space, 0u64));
        for request in requests {
            let space = request.space;
            let total = totals.iter().find(|(at, _)| *at == space).map_or(0, |(_, total)| *total);
            let Some((_, rank)) = seen.iter_mut().find(|(at, _)| *at == space) else { continue };
            let slot = match layout {
                Layout::Forward => 1 + *rank,
                Layout::Reverse => 1 + 2 * (total - 1 - *rank),
            };
            *rank += 1;
            let (shift, slots) = match narrow_index(space) {
                None => (GLOBAL_SHIFT, &mut placed.global),
                Some(index) => (NARROW_SHIFT, &mut placed.narrow[index]),
            };
            // An odd multiple of the alignment: an object is never aligned better than that. A quarter
            // of the slot lies before it: what runs off its start is still seen to have left this object.
            let align = request.align.max(1);
            let offset = (1 << (shift - 2)) + if layout == Layout::Forward { align } else { 3 * align };
            let at = number_of(placed.objects.len());
            if slots.len() <= slot as usize {
                slots.resize(slot as usize + 1, None);
            }
            slots[slot as usize] = Some(at);
            let Request { name, size, declared, backing, element, .. } = request;
            let base = (slot << shift) + offset;
            placed.objects.push(Object { name, space, base, size, declared, align, backing, element });
        }
        placed
    }

    /// Says at which address each variable of the program starts, in variable order.
    pub(super) fn set_addresses(&mut self, addresses: Vec<u64>) {
        self.addresses = addresses;
    }

    /// The address of a variable in its own space.
    pub(super) fn address(&self, variable: VariableId) -> u64 {
        self.addresses[variable.index()]
    }

    /// Where a variable of each thread lies in its memory: the first of its cells, and how many there are.
    pub(super) fn local_cells(&self, variable: VariableId) -> Option<(usize, usize)> {
        let address = self.address(variable);
        let [local, call] = [Space::Local, Space::Param].map(|space| self.find(space, address));
        [local, call].into_iter().flatten().map(|(at, _)| self.get(at)).find_map(|object| {
            match object.backing {
                Backing::Local(first) if object.base == address => {
                    Some((first as usize, object.size.div_ceil(4) as usize))
                }
                Backing::Local(_) | Backing::Shared(_) | Backing::Tensor(_) => None,
            }
        })
    }

    pub(super) fn get(&self, at: u32) -> &Object {
        &self.objects[at as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Object)> {
        self.objects.iter().enumerate().map(|(at, object)| (at as u32, object))
    }

    /// The object of a tensor.
    pub(super) fn of_tensor(&self, tensor: u32) -> Option<u32> {
        self.iter().find(|(_, object)| object.backing == Backing::Tensor(tensor)).map(|(number, _)| number)
    }

    /// The object that is tensor memory.
    pub(super) fn tensor_memory(&self) -> Option<u32> {
        self.iter().find(|(_, object)| object.space == Space::Tensor).map(|(number, _)| number)
    }

    /// The object whose slot holds an address of `space` (not generic), and the offset in it, which may lie
    /// before its start or past its end.
    #[inline]
    pub(super) fn find(&self, space: Space, address: u64) -> Option<(u32, i64)> {
        let slot = match narrow_index(space) {
            None => self.global.get(usize::try_from(address >> GLOBAL_SHIFT).ok()?),
            Some(index) => self.narrow[index].get(usize::try_from(address >> NARROW_SHIFT).ok()?),
        };
        let at = (*slot?)?;
        Some((at, address.wrapping_sub(self.objects[at as usize].base) as i64))
    }
}

/// A generic address of an address in `space`.
pub(super) fn to_generic(space: Space, address: u64) -> u64 {
    match narrow_index(space) {
        None => address,
        Some(index) => (index as u64 + 1) << WINDOW_SHIFT | address & ((1 << WINDOW_SHIFT) - 1),
    }
}

/// The space that a generic address points into, and the address in that space.
pub(super) fn from_generic(address: u64) -> (Space, u64) {
    let inner = address & ((1 << WINDOW_SHIFT) - 1);
    match address >> WINDOW_SHIFT {
        1 => (Space::Shared, inner),
        2 => (Space::Local, inner),
        3 => (Space::Const, inner),
        4 => (Space::Param, inner),
        _ => (Space::Global, address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(name: &str, space: Space, size: u64, align: u64) -> Request {
        Request {
            name: name.into(),
            space,
            size,
            declared: 1,
            align,
            backing: Backing::Shared(0),
            element: None,
        }
    }

    #[test]
    fn objects_are_aligned_as_declared_and_no_better_in_every_layout() {
        for layout in [Layout::Forward, Layout::Reverse] {
            let spaces = [Space::Shared, Space::Global, Space::Shared, Space::Shared];
            let requests =
                spaces.iter().enumerate().map(|(at, space)| request("v", *space, 64, 4 << at)).collect();
            let objects = Objects::place(requests, layout);
            for (at, object) in objects.iter() {
                let align = 4u64 << at;
                assert_eq!(object.base % align, 0);
                assert_ne!(object.base % (2 * align), 0);
                assert_eq!(objects.find(object.space, object.base + 10), Some((at, 10)));
                assert_eq!(objects.find(object.space, object.base + 70), Some((at, 70)));
                let (space, inner) = from_generic(to_generic(object.space, object.base));
                assert_eq!((space, inner), (object.space, object.base));
            }
        }
    }
}
