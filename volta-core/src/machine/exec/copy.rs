//! Asynchronous copies to shared memory (`cp.async`, rule Y6): agents that a thread starts, that write at any time
//! from then on, and that have written for that thread once it has waited for them.
//!
//! Contents change at once: whoever looks before the wait races, so nobody can tell.

use super::super::cta::{Cta, Order, Stop};
use super::super::fault::FaultKind;
use super::super::objects::Backing;
use super::super::pieces::{Cell, Piece};
use super::super::race::Agent;
use super::super::residue;
use super::super::value::{Value, lanes};
use super::super::warp::Warp;
use crate::program::{Address, PredSrc, Space, Src};
use std::collections::VecDeque;

/// A copy under way.
#[derive(Clone, Copy, Debug)]
struct Copy {
    /// Cells of shared memory that it writes.
    first: u32,
    cells: u32,
    /// Its number for the exact detector.
    number: u32,
}

/// The copies that one thread started and has not waited for.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Copies {
    open: Vec<Copy>,
    groups: VecDeque<Vec<Copy>>,
}

impl Cta<'_> {
    pub(super) fn copy_async(
        &mut self,
        warp: &mut Warp,
        mask: u32,
        pc: u32,
        (to, from): (Address, Address),
        bytes: u32,
        size: Option<Src>,
        ignore: Option<PredSrc>,
    ) -> Result<(), Stop> {
        let targets = self.addresses(warp, mask, to, pc)?;
        for lane in lanes(mask) {
            let mut wanted = match size {
                Some(size) => self.concrete(warp, size, lane, pc, "the size of a copy")? as u32,
                None => bytes,
            };
            if let Some(ignore) = ignore
                && self.known_truth(warp, ignore, lane, pc)?
            {
                wanted = 0;
            }
            if wanted > bytes {
                let message = format!("a copy of {bytes} bytes takes {wanted} bytes");
                return Err(self.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
            }
            let number = match &mut self.order {
                Order::Quick(_) => 0,
                Order::Exact(exact) => exact.begin_copy(),
            };
            let agent = Agent::Copy(number);
            let pieces = self.copied(warp, lane, pc, from, (wanted, bytes), agent)?;
            let at =
                self.spot(warp, lane, pc, (Space::Shared, targets[lane]), (bytes, bytes), agent, true)?;
            let Backing::Shared(base) = at.object.backing else {
                let message = "the target of a copy is not in shared memory".to_string();
                return Err(self.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc));
            };
            let first = (at.offsets[lane] / 4) as u32;
            for step in 0..bytes / 4 {
                let Ok(content) = residue::slice(&pieces, 4 * step, 4, &mut self.store) else {
                    let message = "a copy cuts through a value of the memory that it reads".to_string();
                    return Err(self.fault(FaultKind::SortMismatch, "M3", message, warp, lane, pc));
                };
                let content = Cell::from_pieces(&content, &mut self.composites);
                self.write_cell(warp, lane, &at, u64::from(first + step), 0xf, content)?;
            }
            let copy = Copy { first: base + first, cells: bytes / 4, number };
            self.copies_of(warp, lane).open.push(copy);
        }
        Ok(())
    }

    /// What a copy brings: `wanted` bytes of the source, zeros up to `bytes`.
    fn copied(
        &mut self,
        warp: &mut Warp,
        lane: usize,
        pc: u32,
        from: Address,
        (wanted, bytes): (u32, u32),
        agent: Agent,
    ) -> Result<Vec<Piece>, Stop> {
        let mut pieces: Vec<Piece> = Vec::new();
        if wanted != 0 {
            let source = self.addresses(warp, 1 << lane, from, pc)?[lane];
            let at = self.spot(warp, lane, pc, (Space::Global, source), (wanted, bytes), agent, false)?;
            let mut done = 0;
            while done < wanted {
                let element = at.object.element.map_or(4, |element| element.bytes()).clamp(1, 4);
                let step = element.min(wanted - done);
                let value = self.load_value(warp, lane, &at, at.offsets[lane] + u64::from(done), step)?;
                pieces.extend(self.composites.split(value, step));
                done += step;
            }
        }
        let zero = |bytes| Piece { value: Value::Bits(0), bytes };
        pieces.extend((wanted..bytes).map(|_| zero(1)));
        Ok(pieces)
    }

    fn copies_of(&mut self, warp: &Warp, lane: usize) -> &mut Copies {
        let thread = warp.thread(lane) as usize;
        if self.copies.len() <= thread {
            self.copies.resize(thread + 1, Copies::default());
        }
        &mut self.copies[thread]
    }

    pub(super) fn commit_copies(&mut self, warp: &Warp, mask: u32) {
        for lane in lanes(mask) {
            let copies = self.copies_of(warp, lane);
            let group = std::mem::take(&mut copies.open);
            copies.groups.push_back(group);
        }
    }

    /// Waits until at most `pending` groups of each thread are under way; for everything where it is `None`.
    pub(super) fn wait_for_copies(&mut self, warp: &Warp, mask: u32, pending: Option<u32>) {
        for lane in lanes(mask) {
            let copies = self.copies_of(warp, lane);
            let left = pending.map_or(0, |pending| pending as usize);
            let ended = copies.groups.len().saturating_sub(left);
            let mut done: Vec<Copy> = copies.groups.drain(..ended).flatten().collect();
            if pending.is_none() {
                done.append(&mut copies.open);
            }
            let now = self.now(warp);
            for copy in done {
                match &mut self.order {
                    Order::Quick(_) => {
                        let (first, last) = (copy.first as usize, (copy.first + copy.cells) as usize);
                        for cell in &mut self.memory.shared_quick[first..last] {
                            self.memory.parts.end_copy(cell, now, lane as u32);
                        }
                    }
                    Order::Exact(exact) => exact.end_copy(copy.number, warp.thread(lane)),
                }
            }
        }
    }
}
