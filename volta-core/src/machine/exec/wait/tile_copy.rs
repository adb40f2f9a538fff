//! Copies of boxes of tensor maps (rule Y11).

use crate::base::lane::{Lane, LaneMask};
use crate::case::Element;
use crate::concurrency::agent::Agent;
use crate::launch::objects::{Backing, from_generic};
use crate::launch::tensor_map::{Map, PIECE, swizzled};
use crate::machine::cta::accesses::{Asynchronous, LaneAccess};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::Operands;
use crate::machine::group::warp::Warp;
use crate::program::{InstId, MemoryPlace, Space, Src};
use crate::value::Value;
use crate::verdict::FaultKind;

/// Alignment of a box in shared memory, in bytes (ISA, Bounding Box).
const BOX_ALIGN: u64 = 128;

/// A box of a map.
pub(crate) struct Tile<'l> {
    map: &'l Map,
    /// Coordinates of its first element, innermost dimension first.
    first: Vec<i64>,
}

impl<'l> Operands<'_, 'l> {
    /// The box of the map at an address.
    pub(crate) fn tile(&mut self, lane: Lane, map: MemoryPlace, at: &[Src]) -> Result<Tile<'l>, Stop> {
        let address = self.addresses(LaneMask::of(lane), map.address)?[lane];
        let (space, inner) =
            if map.space == Space::Generic { from_generic(address) } else { (map.space, address) };
        let launch = self.terms.context.launch;
        let found = launch.objects.find(space, inner);
        let map = found.and_then(|(object, at)| launch.maps.get(&(object, u64::try_from(at).ok()?)));
        let Some(map) = map else {
            let message = "there is no tensor map at the address that a copy uses".to_string();
            let site = self.terms.context.site("copies by it".into(), self.warp, lane, self.pc);
            let help = "give it under [tensor_maps], and its name among the kernel's `args`";
            let (kind, help) = (FaultKind::Unsupported, Some(help.to_string()));
            return Err(self.terms.context.fault_at(kind, "Y11", message, vec![site], help));
        };
        if map.dimensions.len() != at.len() {
            let (own, of) = (at.len(), map.dimensions.len());
            let message = format!("a copy with {own} dimensions uses `{}`, which has {of}", map.name);
            return Err(self.fault(FaultKind::Undefined, "Y11", message, lane));
        }
        let first = at
            .iter()
            .map(|at| Ok(i64::from(self.concrete(*at, lane, "a coordinate")? as u32 as i32)))
            .collect::<Result<_, Stop>>()?;
        Ok(Tile { map, first })
    }
}

impl Context<'_> {
    /// The name of a box's map, and the element type of its tensor.
    pub(super) fn elements_of<'t>(&self, tile: &Tile<'t>) -> (&'t str, Element) {
        (&tile.map.name, self.launch.tensors[tile.map.tensor as usize].element)
    }
}

impl Asynchronous<'_, '_> {
    /// Loads a box into shared memory, with zeros for elements outside the tensor, or (not `loads`) stores one, without
    /// the elements outside the tensor; returns its size in bytes.
    pub(super) fn copy_tile(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        pc: InstId,
        near: (Space, u64),
        tile: &Tile<'_>,
        ((writer, reader), loads): ((Agent, Agent), bool),
    ) -> Result<u32, Stop> {
        let map = tile.map;
        let (near_agent, far_agent) = if loads { (writer, reader) } else { (reader, writer) };
        let (space, start) = near;
        if !start.is_multiple_of(BOX_ALIGN) {
            let message = format!("a box in shared memory must begin at a multiple of {BOX_ALIGN} bytes");
            return Err(self.context.fault(FaultKind::Misaligned, "Y11", message, warp, lane, pc));
        }
        let mut offsets = [0; 32];
        let objects = &self.context.launch.objects;
        let Some(object) = objects.of_tensor(map.tensor) else {
            return Err(Stop::Defect("a tensor map of a tensor without memory"));
        };
        let place = (Space::Global, objects.get(object).base);
        let whole = LaneAccess { place, bytes: 1, alignment: 1, agent: far_agent, writes: !loads };
        let far = self.accesses.locate_lane(warp, lane, pc, whole, &mut offsets)?;
        if !loads {
            self.context.writable(warp, &far, map.element as u32)?;
        }
        let elements: Vec<Option<u64>> = map.elements(&tile.first).collect();
        let updates = writer.atomic_update().is_some();
        if updates {
            self.context.holds_atomics(warp, lane, &far)?;
        } else if !loads {
            let mut places: Vec<u64> = elements.iter().copied().flatten().collect();
            places.sort_unstable();
            // Which of several elements at one place would remain is not specified.
            if places.windows(2).any(|two| two[0] + map.element > two[1]) {
                let name = &map.name;
                let message = format!("a box of `{name}` that has several elements at one place is written");
                return Err(self.context.fault(FaultKind::Nondeterministic, "Y11", message, warp, lane, pc));
            }
        }
        for (number, places) in elements.chunks((PIECE / map.element) as usize).enumerate() {
            let address = swizzled(map.swizzle, start + PIECE * number as u64);
            let mut offsets = [0; 32];
            let (place, piece) = ((space, address), PIECE as u32);
            let access =
                LaneAccess { place, bytes: piece, alignment: piece, agent: near_agent, writes: loads };
            let near = self.accesses.locate_lane(warp, lane, pc, access, &mut offsets)?;
            let Backing::Shared(_) = near.object.backing else {
                let message = "a copy of a box must be between global and shared memory";
                return Err(self.context.fault(FaultKind::OutOfBounds, "Y11", message, warp, lane, pc));
            };
            self.accesses.values.terms.lies_by_pattern(warp, &near, map.swizzle)?;
            let here = near.offsets[lane];
            if let (Some(there), false) = (whole_cells(places, map.element), updates) {
                let (one, other) = ((&near, here), (&far, there));
                let ((from, first), (to, target)) = if loads { (other, one) } else { (one, other) };
                for cell in 0..PIECE / 4 {
                    let content = self.accesses.read_cell(warp, lane, from, first / 4 + cell, 0xf)?;
                    self.accesses.write_cell(warp, lane, to, target / 4 + cell, 0xf, content)?;
                }
                continue;
            }
            for (number, place) in places.iter().enumerate() {
                let one = Some((&near, here + number as u64 * map.element));
                let other = place.map(|place| (&far, place));
                let (from, to) = if loads { (other, one) } else { (one, other) };
                let bytes = map.element as u32;
                let value = match from {
                    Some((at, offset)) => self.accesses.load_value(warp, lane, at, offset, bytes)?,
                    None => Value::Bits(0),
                };
                if let (Some((at, offset)), true) = (to, updates) {
                    self.accesses.update_at(warp, lane, at, offset, value)?;
                } else if let Some((at, offset)) = to {
                    self.accesses.store_value(warp, lane, at, offset, bytes, value)?;
                }
            }
        }
        self.accesses.work.looked_at += elements.len() as u64 / 8;
        self.check_budgets()?;
        Ok(map.bytes() as u32)
    }
}

/// The first offset of consecutive elements, if it is a multiple of 4.
fn whole_cells(places: &[Option<u64>], size: u64) -> Option<u64> {
    let first = places.first().copied().flatten().filter(|first| first.is_multiple_of(4))?;
    let in_a_row = |(number, place): (usize, &Option<u64>)| *place == Some(first + number as u64 * size);
    places.iter().enumerate().all(in_a_row).then_some(first)
}
