//! Contents of shared and global memory during one CTA's run (rules M1, M3, S5).
//!
//! Memory is cells of 4 bytes. Shared memory is one array; writable global memory is an overlay of pages over the
//! launch's initial contents, which also records reads and writes for each byte.

use super::bag_stores::Bags;
use super::perhaps::PerhapsOfCta;
use super::uncached::Uncached;
use crate::concurrency::agent::AtomicUpdate;
use crate::concurrency::epoch::EpochShadow;
use crate::concurrency::shadow::ByteShadow;
use crate::launch::objects::PAGE;
use crate::launch::tensor::{ElementAt, Initial, Tensor};
use crate::program::InstId;
use crate::term::Store;
use crate::value::int_terms;
use crate::value::packed::{Cell, PackedPart, PackedParts, PackedValues};
use crate::value::{Origin, Value};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// A page of a writable tensor.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) cells: [Cell; PAGE],
    /// Cells whose initial contents are terms of an earlier launch that are copied at the first access, one bit each.
    absent: [u64; PAGE / 64],
    pub(crate) epochs: [EpochShadow; PAGE],
    /// For each cell, which of its 4 bytes were written, and read.
    pub(crate) written: [u8; PAGE],
    pub(crate) read: [u8; PAGE],
    /// Bytes updated atomically, which count as neither written nor read.
    pub(crate) updated: [u8; PAGE],
    /// Bytes stored for some inputs only.
    pub(crate) perhaps: [u8; PAGE],
    /// Bytes read through the read-only path (`ld.global.nc`) for all inputs.
    pub(crate) uncached: [u8; PAGE],
}

impl Page {
    /// Gives a cell its initial contents, if it has none.
    pub(crate) fn fill(
        &mut self,
        cell: u64,
        initial: &Tensor,
        tables: (&mut PackedValues, &mut Store),
        reader: InstId,
    ) {
        let slot = (cell % PAGE as u64) as usize;
        let (word, bit) = (&mut self.absent[slot / 64], 1 << (slot % 64));
        if *word & bit != 0 {
            *word &= !bit;
            self.cells[slot] = initial_cell(initial, cell, tables, reader);
        }
    }

    /// Whether any byte was stored or updated.
    pub(crate) fn is_written(&self) -> bool {
        (0..PAGE).any(|slot| self.changed(slot) != 0)
    }

    /// The bytes of a cell that were stored or updated.
    pub(crate) fn changed(&self, slot: usize) -> u8 {
        self.written[slot] | self.updated[slot] | self.perhaps[slot]
    }
}

/// The memory of one CTA.
#[derive(Debug)]
pub(crate) struct Memory {
    pub(crate) shared: Vec<Cell>,
    pub(crate) shared_epochs: Vec<EpochShadow>,
    /// Byte-wise shadow of shared and of global cells.
    pub(crate) parts: ByteShadow,
    pages: FxHashMap<(u32, u64), Box<Page>>,
    /// By tensor and byte offset; only in launches with several CTAs.
    contributions: FxHashMap<(u32, u64), Contribution>,
    /// Accesses to global memory that happen for some inputs only.
    pub(crate) perhaps: PerhapsOfCta,
    /// Those of them that must not meet because of the read-only path.
    pub(crate) uncached: Uncached,
    /// Stores at places that counters give.
    pub(crate) bags: Bags,
}

/// An item of a tensor and its place: a page with its number, a location with its byte offset.
pub(crate) type Placed<T> = ((u32, u64), T);

/// What a CTA leaves in global memory: pages and contributions in order, and accesses for some inputs only.
pub(crate) type Left = (Vec<Placed<Box<Page>>>, Vec<Placed<Contribution>>, PerhapsOfCta);

/// What a CTA's atomics did to a location of global memory (rules Y7, S5).
#[derive(Clone, Debug)]
pub(crate) struct Contribution {
    /// The distinct kinds of its updates.
    pub(crate) kinds: SmallVec<[AtomicUpdate; 1]>,
    /// The combination of all operands, if there is one kind: bits, an integer, a real or undefined.
    pub(crate) sum: Value,
}

impl Memory {
    pub(crate) fn new(shared_cells: u32) -> Memory {
        Memory {
            shared: vec![Cell::UNWRITTEN; shared_cells as usize],
            shared_epochs: vec![EpochShadow::CLEAN; shared_cells as usize],
            parts: ByteShadow::default(),
            pages: FxHashMap::default(),
            contributions: FxHashMap::default(),
            perhaps: PerhapsOfCta::default(),
            uncached: Uncached::default(),
            bags: Bags::default(),
        }
    }

    /// Bytes of shared memory of this many cells.
    pub(crate) fn shared_bytes(cells: u32) -> u64 {
        u64::from(cells) * (size_of::<Cell>() + size_of::<EpochShadow>()) as u64
    }

    /// Bytes of memory that the state takes.
    pub(crate) fn bytes(&self) -> u64 {
        let shared = self.shared.len() * (size_of::<Cell>() + size_of::<EpochShadow>());
        let contributions = self.contributions.len() * size_of::<((u32, u64), Contribution)>();
        (shared + self.pages.len() * size_of::<Page>() + self.parts.bytes() + contributions) as u64
            + self.perhaps.bytes()
            + self.uncached.bytes()
            + self.bags.bytes()
    }

    /// Adds the contents of memory to a hash.
    pub(crate) fn hash_contents(&self, hasher: &mut impl Hasher) {
        self.shared.hash(hasher);
        // Independent of the order of pages.
        let pages = self.pages.iter().fold(0u64, |sum, (place, page)| {
            let mut own = FxHasher::default();
            (place, &page.cells).hash(&mut own);
            sum.wrapping_add(own.finish())
        });
        pages.hash(hasher);
    }

    /// The page of a tensor's cell, with the initial contents of at least this cell, and the byte-wise shadow.
    pub(crate) fn page(
        &mut self,
        tensor: u32,
        cell: u64,
        initial: &Tensor,
        (packed, store): (&mut PackedValues, &mut Store),
        reader: InstId,
    ) -> (&mut Page, &mut ByteShadow) {
        let number = cell / PAGE as u64;
        let page = self.pages.entry((tensor, number)).or_insert_with(|| {
            let first = number * PAGE as u64;
            let copies = initial.has_left();
            let cell = |at: usize| match copies {
                true => Cell::UNWRITTEN,
                false => initial_cell(initial, first + at as u64, (&mut *packed, &mut *store), reader),
            };
            Box::new(Page {
                cells: std::array::from_fn(cell),
                absent: [if copies { u64::MAX } else { 0 }; PAGE / 64],
                epochs: [EpochShadow::CLEAN; PAGE],
                written: [0; PAGE],
                read: [0; PAGE],
                updated: [0; PAGE],
                perhaps: [0; PAGE],
                uncached: [0; PAGE],
            })
        });
        page.fill(cell, initial, (packed, store), reader);
        (page, &mut self.parts)
    }

    /// Whether threads of the CTA have written or updated all these bytes of a tensor's cell.
    pub(crate) fn is_written(&self, (tensor, cell): (u32, u64), bytes: u8) -> bool {
        let slot = (cell % PAGE as u64) as usize;
        let page = self.pages.get(&(tensor, cell / PAGE as u64));
        bytes & !page.map_or(0, |page| page.written[slot] | page.updated[slot]) == 0
    }

    /// The combined operands of the atomics on a location of a tensor.
    pub(crate) fn contributed(&self, place: (u32, u64)) -> Option<Value> {
        self.contributions.get(&place).map(|contribution| contribution.sum)
    }

    /// Notes one more atomic on a location of a tensor; `sum` combines all its operands so far.
    pub(crate) fn contribute(&mut self, place: (u32, u64), kind: AtomicUpdate, sum: Value) {
        let new = || Contribution { kinds: SmallVec::new(), sum };
        let contribution = self.contributions.entry(place).or_insert_with(new);
        contribution.sum = sum;
        if !contribution.kinds.contains(&kind) {
            contribution.kinds.push(kind);
        }
    }

    /// Pages and contributions in the order of tensors and addresses, and accesses for some inputs only.
    pub(crate) fn into_parts(self) -> Left {
        let mut pages: Vec<_> = self.pages.into_iter().collect();
        pages.sort_unstable_by_key(|(key, _)| *key);
        let mut contributions: Vec<_> = self.contributions.into_iter().collect();
        contributions.sort_unstable_by_key(|(key, _)| *key);
        (pages, contributions, self.perhaps)
    }
}

/// What 4 bytes of a tensor hold before the launch.
pub(crate) fn initial_cell(
    tensor: &Tensor,
    cell: u64,
    (packed, store): (&mut PackedValues, &mut Store),
    reader: InstId,
) -> Cell {
    let first = 4 * cell;
    if tensor.has_fields() {
        return match tensor.element_at(first) {
            Some(ElementAt { tensor, element, byte }) if tensor.element.bytes() >= 4 => {
                let start = element * u64::from(tensor.element.bytes());
                initial_cell(tensor, (start + byte) / 4, (packed, store), reader)
            }
            _ => cell_of_fields(tensor, first, (packed, store), reader),
        };
    }
    if let Initial::Bytes(bytes) = &tensor.initial {
        let mut word = [0; 4];
        for (byte, at) in word.iter_mut().zip(first as usize..) {
            *byte = bytes.get(at).copied().unwrap_or(0);
        }
        return Cell::bits(u32::from_le_bytes(word));
    }
    let bytes = tensor.element.bytes();
    let value = |element: u64, store: &mut Store| {
        if element < tensor.elements {
            tensor.value(element, store, reader)
        } else {
            Value::Undefined(Origin::Unwritten(reader))
        }
    };
    match bytes {
        // Whoever reads it first is told, not whoever first touched its page.
        4 => match value(cell, store) {
            Value::Undefined(Origin::Unwritten(_)) => Cell::UNWRITTEN,
            value @ (Value::Bits(_) | Value::Sym(_) | Value::Undefined(_)) => Cell::of(value),
        },
        8 => {
            let whole = packed.split(value(cell / 2, store), 8);
            match int_terms::slice(&whole, 4 * (cell % 2) as u32, 4, store).as_deref() {
                Ok([PackedPart { value: half @ (Value::Bits(_) | Value::Sym(_)), .. }]) => Cell::of(*half),
                _ => Cell::UNWRITTEN,
            }
        }
        2 => {
            let halves = [value(2 * cell, store), value(2 * cell + 1, store)];
            Cell::from_pieces(&halves.map(|value| PackedPart { value, bytes: 2 }), packed)
        }
        narrow => {
            let count = u64::from(4 / narrow);
            let piece = |at| PackedPart { value: value(cell * count + at, store), bytes: narrow };
            let pieces: PackedParts = (0..count).map(piece).collect();
            Cell::from_pieces(&pieces, packed)
        }
    }
}

/// What 4 bytes of structs hold where fields are narrow.
fn cell_of_fields(
    tensor: &Tensor,
    first: u64,
    (packed, store): (&mut PackedValues, &mut Store),
    reader: InstId,
) -> Cell {
    let mut pieces = PackedParts::new();
    let mut at = first;
    while at < first + 4 {
        let piece = match tensor.element_at(at) {
            Some(ElementAt { tensor, element, .. }) => {
                PackedPart { value: tensor.value(element, store, reader), bytes: tensor.element.bytes() }
            }
            None => PackedPart { value: Value::Undefined(Origin::Unwritten(reader)), bytes: 1 },
        };
        at += u64::from(piece.bytes);
        pieces.push(piece);
    }
    Cell::from_pieces(&pieces, packed)
}
