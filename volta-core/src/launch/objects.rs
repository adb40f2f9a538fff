//! The address space of a launch (rules M1, M2): every variable and tensor is an object of its own, far from every
//! other, with its declared or assumed alignment and no better one.
//!
//! The high bits of an address name a slot, which holds one object. In the 32-bit spaces a slot is 2²⁴ bytes, in global
//! memory 2⁴⁰. Generic addresses are global ones, or carry the space's window in their top bits. Each CTA of a cluster
//! has its own objects in shared memory, at a distance that is the same for all of them (rule Y13). Those of an odd CTA
//! lie 2²⁴ bytes above those of the even one before it, so that clearing this bit maps one to the other, as it does on
//! GPUs.

use crate::base::index::number_of;
use crate::case::{Element, Layout};
use crate::program::{Space, VariableId};

/// One object.
#[derive(Clone, Debug)]
pub(crate) struct Object {
    /// Its name in messages.
    pub(crate) name: String,
    pub(crate) space: Space,
    /// Address of its first byte in its own space.
    pub(crate) base: u64,
    /// Bytes.
    pub(crate) size: u64,
    /// Declared alignment, bytes.
    pub(crate) declared: u64,
    /// Alignment that an access may rely on, bytes: at least the declared one. Relying on more than the declared one is
    /// reported as an assumption.
    pub(crate) align: u64,
    pub(crate) backing: Backing,
    /// The element type, if the case declares it.
    pub(crate) element: Option<Element>,
    /// In shared and tensor memory, the CTA of the cluster that it belongs to.
    pub(crate) rank: u32,
}

impl Object {
    /// The first and the last offset whose address lies in its slot, inside of it or not.
    pub(crate) fn slot(&self) -> [i128; 2] {
        let bits = if narrow_index(self.space).is_some() { NARROW_SHIFT } else { GLOBAL_SHIFT };
        let within = i128::from(self.base & ((1 << bits) - 1));
        [-within, (1 << bits) - 1 - within]
    }
}

/// Where an object's contents are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    /// A tensor of the case, a variable of the module or a parameter: index into the launch's tensors.
    Tensor(u32),
    /// Shared memory, from this cell on.
    Shared(u32),
    /// Memory of each thread, from this cell on.
    Local(u32),
}

/// A request to place an object.
pub(crate) struct Request {
    pub(crate) name: String,
    pub(crate) space: Space,
    pub(crate) size: u64,
    pub(crate) declared: u64,
    pub(crate) align: u64,
    pub(crate) backing: Backing,
    pub(crate) element: Option<Element>,
}

/// All objects of a launch and their addresses.
#[derive(Debug)]
pub(crate) struct Objects {
    objects: Vec<Object>,
    /// Slot to object, for global memory and for the 32-bit spaces.
    global: Vec<Option<u32>>,
    narrow: [Vec<Option<u32>>; 5],
    /// By variable, its address in its own space, in the first CTA of the cluster, and whether each CTA has its own.
    addresses: Vec<(u64, bool)>,
    /// CTAs of the cluster, and the slots in shared memory of each.
    ranks: u32,
    slots: u64,
    /// Number of CTAs whose slots are interleaved: two, or one where two have no room.
    side_by_side: u64,
}

/// CTAs of a pair.
const PAIR: u32 = 2;
/// With more variables in shared memory than this, clearing the bit that distinguishes paired CTAs is unsupported.
pub(super) const MAX_PAIRED: usize = 60;
const GLOBAL_SHIFT: u32 = 40;
const NARROW_SHIFT: u32 = 24;
const WINDOW_SHIFT: u32 = 60;
/// Generic addresses of local memory carry the number of their thread, plus one, from this bit on: that memory is
/// private, and another thread cannot access it by the same address (M1).
const OWNER_SHIFT: u32 = 36;
/// The largest number of objects in a 32-bit space.
pub(super) const MAX_NARROW: usize = 120;
/// Objects of the 32-bit spaces are smaller than this, bytes.
pub(super) const MAX_NARROW_SIZE: u64 = 1 << 23;

fn narrow_index(space: Space) -> Option<usize> {
    match space {
        Space::Shared | Space::Cluster => Some(0),
        Space::Local => Some(1),
        Space::Const => Some(2),
        Space::Param => Some(3),
        Space::Tensor => Some(4),
        Space::Global | Space::Generic => None,
    }
}

impl Objects {
    /// Places the requests, as objects with the same numbers; behind them, those in shared memory once more for each
    /// further CTA of the cluster.
    pub(crate) fn place(requests: Vec<Request>, layout: Layout, ranks: u32, shared_cells: u32) -> Objects {
        let count = |space: Space| requests.iter().filter(|request| request.space == space).count() as u64;
        let shared = count(Space::Shared);
        let mut placed = Objects {
            objects: Vec::new(),
            global: Vec::new(),
            narrow: Default::default(),
            addresses: Vec::new(),
            ranks,
            slots: slots_of(shared),
            side_by_side: if ranks > 1 || has_room(PAIR, shared) { PAIR.into() } else { 1 },
        };
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
            let is_of_each = matches!(space, Space::Shared | Space::Tensor);
            let slot = if is_of_each { slot * placed.side_by_side } else { slot };
            *rank += 1;
            let (shift, slots) = match narrow_index(space) {
                None => (GLOBAL_SHIFT, &mut placed.global),
                Some(index) => (NARROW_SHIFT, &mut placed.narrow[index]),
            };
            // An odd multiple of the alignment: an object is never aligned better than that. A quarter of the slot lies
            // before it, so that an access before its start is still found to leave this object.
            let align = request.align.max(1);
            let offset = (1 << (shift - 2)) + if layout == Layout::Forward { align } else { 3 * align };
            let at = number_of(placed.objects.len());
            if slots.len() <= slot as usize {
                slots.resize(slot as usize + 1, None);
            }
            slots[slot as usize] = Some(at);
            let Request { name, size, declared, backing, element, .. } = request;
            let base = (slot << shift) + offset;
            placed.objects.push(Object {
                name,
                space,
                base,
                size,
                declared,
                align,
                backing,
                element,
                rank: 0,
            });
        }
        placed.repeat(shared_cells);
        placed
    }

    /// Places shared and tensor memory of the further CTAs of the cluster.
    fn repeat(&mut self, shared_cells: u32) {
        let is_of_each = |object: &&Object| matches!(object.space, Space::Shared | Space::Tensor);
        let own: Vec<Object> = self.objects.iter().filter(is_of_each).cloned().collect();
        for rank in 1..self.ranks {
            for object in &own {
                let Backing::Shared(first) = object.backing else { continue };
                let base = object.base + self.distance(rank);
                let Some(index) = narrow_index(object.space) else { continue };
                let (slots, slot) = (&mut self.narrow[index], (base >> NARROW_SHIFT) as usize);
                slots.resize(slots.len().max(slot + 1), None);
                slots[slot] = Some(number_of(self.objects.len()));
                let backing = Backing::Shared(first + rank * shared_cells);
                self.objects.push(Object { base, backing, rank, ..object.clone() });
            }
        }
    }

    /// Distance of a CTA's shared memory from that of the first CTA of its cluster.
    fn distance(&self, rank: u32) -> u64 {
        let (group, within) = (u64::from(rank) / self.side_by_side, u64::from(rank) % self.side_by_side);
        (group * self.side_by_side * self.slots + within) << NARROW_SHIFT
    }

    /// The CTA of the cluster to whose shared memory an address belongs, in bounds or not.
    pub(crate) fn rank_at(&self, address: u64) -> Option<u32> {
        let slot = address >> NARROW_SHIFT;
        let group = slot / (self.side_by_side * self.slots);
        let rank = u32::try_from(group * self.side_by_side + slot % self.side_by_side).ok()?;
        (rank < self.ranks).then_some(rank)
    }

    /// The address of the same location in another CTA's shared memory (`mapa`).
    pub(crate) fn in_cta(&self, address: u64, rank: u32) -> Option<u64> {
        let own = self.rank_at(address)?;
        (rank < self.ranks).then(|| address - self.distance(own) + self.distance(rank))
    }

    /// Sets the object of each variable of the program, in variable order.
    pub(super) fn set_addresses(&mut self, objects: &[Option<u32>]) {
        let address = |object: &Option<u32>| match object.map(|object| self.get(object)) {
            Some(object) if object.space == Space::Shared => (object.base, true),
            Some(object) => (object.base, false),
            None => (0, false),
        };
        self.addresses = objects.iter().map(address).collect();
    }

    /// The address of a variable in its own space, for threads of a CTA of the cluster.
    pub(crate) fn address(&self, variable: VariableId, rank: u32) -> u64 {
        let (first, is_of_each) = self.addresses[variable.index()];
        first + if is_of_each { self.distance(rank) } else { 0 }
    }

    /// The cells of a variable in local memory: the first one, and their number.
    pub(crate) fn local_cells(&self, variable: VariableId) -> Option<(usize, usize)> {
        let address = self.address(variable, 0);
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

    pub(crate) fn get(&self, at: u32) -> &Object {
        &self.objects[at as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.objects.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Object)> {
        self.objects.iter().enumerate().map(|(at, object)| (at as u32, object))
    }

    /// The object of a tensor.
    pub(crate) fn of_tensor(&self, tensor: u32) -> Option<u32> {
        self.iter().find(|(_, object)| object.backing == Backing::Tensor(tensor)).map(|(number, _)| number)
    }

    /// The object for the tensor memory of a CTA of the cluster.
    pub(crate) fn tensor_memory(&self, rank: u32) -> Option<u32> {
        let is_it = |object: &Object| object.space == Space::Tensor && object.rank == rank;
        self.iter().find(|(_, object)| is_it(object)).map(|(number, _)| number)
    }

    /// The object whose slot holds an address of `space` (not generic), and the offset in it, which may lie
    /// before its start or past its end.
    #[inline]
    pub(crate) fn find(&self, space: Space, address: u64) -> Option<(u32, i64)> {
        let slot = match narrow_index(space) {
            None => self.global.get(usize::try_from(address >> GLOBAL_SHIFT).ok()?),
            Some(index) => self.narrow[index].get(usize::try_from(address >> NARROW_SHIFT).ok()?),
        };
        let at = (*slot?)?;
        Some((at, address.wrapping_sub(self.objects[at as usize].base) as i64))
    }
}

/// Number of slots that this many objects of a 32-bit space take, in any layout.
fn slots_of(objects: u64) -> u64 {
    2 * objects + 1
}

/// Whether a cluster of this many CTAs, with this many variables in the shared memory of each, fits into 32 bits.
pub(super) fn has_room(ranks: u32, shared: u64) -> bool {
    (u64::from(ranks.next_multiple_of(PAIR)) * slots_of(shared)) << NARROW_SHIFT <= 1 << 32
}

/// The generic address of an address in `space`.
pub(crate) fn to_generic(space: Space, address: u64) -> u64 {
    match narrow_index(space) {
        None => address,
        Some(index) => (index as u64 + 1) << WINDOW_SHIFT | address & ((1 << WINDOW_SHIFT) - 1),
    }
}

/// The space that a generic address points into, and the address in that space.
pub(crate) fn from_generic(address: u64) -> (Space, u64) {
    let inner = address & ((1 << WINDOW_SHIFT) - 1);
    match address >> WINDOW_SHIFT {
        1 => (Space::Shared, inner),
        2 => (Space::Local, inner),
        3 => (Space::Const, inner),
        4 => (Space::Param, inner),
        _ => (Space::Global, address),
    }
}

/// The generic address of an address in the local memory of a thread.
pub(crate) fn to_generic_of(thread: u32, address: u64) -> u64 {
    let address = address & ((1 << OWNER_SHIFT) - 1) | (u64::from(thread) + 1) << OWNER_SHIFT;
    to_generic(Space::Local, address)
}

/// An address in local memory as `thread` may use it: without the mark of its owner, if that is this thread. That of
/// another thread lies in no object.
#[inline]
pub(crate) fn owned((space, address): (Space, u64), thread: u32) -> (Space, u64) {
    if space == Space::Local && address >> OWNER_SHIFT == u64::from(thread) + 1 {
        return (space, address & ((1 << OWNER_SHIFT) - 1));
    }
    (space, address)
}

/// Whether an address in local memory is one of a certain thread: of another one than accesses it, if that cannot be
/// removed by [`owned`].
pub(crate) fn has_owner(space: Space, address: u64) -> bool {
    space == Space::Local && address >> OWNER_SHIFT != 0
}

/// The space that an instruction's address refers to, and the address in it.
#[inline]
pub(crate) fn locate(space: Space, address: u64) -> (Space, u64) {
    match if space == Space::Generic { from_generic(address) } else { return (space, address) } {
        // The address may be in another CTA of the cluster.
        (Space::Shared, inner) => (Space::Cluster, inner),
        located => located,
    }
}

/// The variable's own name: `s` for `_ZZ6kernelE1s`.
pub(crate) fn pretty_name(name: &str) -> &str {
    let Some(rest) = name.strip_prefix("_ZZ") else { return name };
    let mut at = rest.len();
    // The last source name is `<length><characters>` at the end, perhaps with a discriminator behind it.
    let bytes = rest.as_bytes();
    while at > 0 {
        at -= 1;
        if bytes[at] == b'E'
            && let digits = rest[at + 1..].chars().take_while(char::is_ascii_digit).count()
            && digits > 0
            && let Ok(length) = rest[at + 1..at + 1 + digits].parse::<usize>()
            && let Some(own) = rest.get(at + 1 + digits..at + 1 + digits + length)
        {
            return own;
        }
    }
    name
}

/// Shared memory is assumed to begin at a multiple of this number of bytes (rule M1).
pub(super) const WINDOW_ALIGN: u64 = 1024;

/// Tensors begin at multiples of this number of bytes, as returned by `cudaMalloc`.
pub(super) const TENSOR_ALIGN: u64 = 256;

/// Cells of one page.
pub(crate) const PAGE: usize = 256;

/// An alignment that a declaration does not promise.
pub(crate) fn misaligned(name: &str, bytes: u64) -> String {
    format!(
        "`{name}` at a multiple of {bytes} bytes, which its declaration does not promise: `__align__({bytes})` (M1)"
    )
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
            let objects = Objects::place(requests, layout, 1, 0);
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
    #[test]
    fn each_cta_of_a_cluster_has_objects_of_its_own() {
        for layout in [Layout::Forward, Layout::Reverse] {
            let requests =
                [Space::Shared, Space::Global, Space::Shared].map(|space| request("v", space, 64, 16)).into();
            let objects = Objects::place(requests, layout, 3, 40);
            let shared: Vec<(u32, &Object)> =
                objects.iter().filter(|(_, object)| object.space == Space::Shared).collect();
            assert_eq!(shared.iter().map(|(_, object)| object.rank).collect::<Vec<_>>(), [0, 0, 1, 1, 2, 2]);
            for (number, object) in shared {
                assert_eq!(objects.find(Space::Cluster, object.base + 5), Some((number, 5)));
                assert_eq!(objects.rank_at(object.base + 63), Some(object.rank));
                for rank in 0..3 {
                    let there = objects.in_cta(object.base + 7, rank).unwrap();
                    let (other, offset) = objects.find(Space::Cluster, there).unwrap();
                    assert_eq!((objects.get(other).rank, offset), (rank, 7));
                    assert_eq!(objects.in_cta(there, object.rank), Some(object.base + 7));
                }
                assert_eq!(objects.in_cta(object.base, 3), None);
                // The bit that distinguishes the CTAs of a pair.
                let even = objects.in_cta(object.base + 7, object.rank & !1);
                assert_eq!(even, Some((object.base + 7) & !(1 << 24)));
            }
        }
    }
}
