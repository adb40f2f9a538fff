//! Barriers in shared memory, and the bulk copies that complete on them or by groups.
//!
//! A test returns the present state; a polling thread keeps polling. A copy is executed at some time before it is
//! complete.

use std::collections::{BTreeMap, BTreeSet};

use super::cta::Cta;
use super::decode::atomic_op;
use super::memory;
use super::op::{Address, AtomicOp, BulkCopy, BulkEffect, Moved, Phase, PhaseOp, Source, Space};
use super::tensor_map::{Placed, TensorMap};
use super::{float, thread};

/// The state of a barrier.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseBarrier {
    expected: u64,
    pending: u64,
    bytes: i64,
    phase: u64,
}

/// Up to 8 bytes that a copy moves at once.
#[derive(Clone, Copy, Debug)]
struct Piece {
    bytes: u32,
    to: (Space, u64),
    from: From,
    /// The update of the destination; `None` for a write.
    update: Option<AtomicOp>,
}

/// The source of a piece.
#[derive(Clone, Copy, Debug)]
enum From {
    /// Zeros.
    Nothing,
    Memory(Space, u64),
    /// The value of a register at the start of the operation.
    Value(u64),
}

/// A bulk copy that has not been executed.
#[derive(Clone, Debug)]
pub(super) struct Bulk {
    thread: usize,
    /// The number of groups that the thread committed before, for a copy that completes on no barrier.
    group: u64,
    pieces: Vec<Piece>,
    barrier: Option<u64>,
}

/// Barriers and bulk copies of a CTA.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    barriers: BTreeMap<u64, PhaseBarrier>,
    copies: Vec<Bulk>,
    /// By thread, the number of committed groups.
    groups: BTreeMap<usize, u64>,
    /// Threads with a last test that failed.
    polling: BTreeSet<usize>,
    /// Instructions of such threads since any other thread executed one.
    idle: u64,
}

/// After this many instructions of threads that only test phases, without any other, no thread will end a phase.
const IDLE: u64 = 1 << 16;

impl PhaseBarrier {
    fn end_if_complete(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.expected;
        }
    }
}

impl Cta<'_> {
    fn barrier_place(&self, number: usize, at: Address) -> Result<u64, String> {
        match self.address(number, at, 8)? {
            (Space::Shared, at) => Ok(at),
            (space, _) => Err(format!("a barrier in {space:?}")),
        }
    }

    fn phase_barrier(&mut self, at: u64) -> Result<&mut PhaseBarrier, String> {
        self.phases.barriers.get_mut(&at).ok_or_else(|| "it is no barrier".to_string())
    }

    /// Executes an operation on a barrier.
    pub(super) fn phase(&mut self, number: usize, at: Address, op: &PhaseOp) -> Result<(), String> {
        let launch = self.launch(number);
        let at = self.barrier_place(number, at)?;
        let thread = &self.threads[number];
        let word = |source| thread.get(source, &launch) & 0xffff_ffff;
        match *op {
            PhaseOp::Init { count } => {
                let expected = word(count);
                let barrier = PhaseBarrier { expected, pending: expected, bytes: 0, phase: 0 };
                if self.phases.barriers.insert(at, barrier).is_some() {
                    return Err("it is a barrier already".into());
                }
            }
            PhaseOp::Invalidate => {
                self.phases.barriers.remove(&at).ok_or("it is no barrier")?;
            }
            PhaseOp::Arrive { state, count, bytes, drops } => {
                let (count, bytes) = (word(count), bytes.map_or(0, word));
                let barrier = self.phase_barrier(at)?;
                let phase = barrier.phase;
                barrier.bytes += bytes as i64;
                barrier.pending = barrier.pending.checked_sub(count).ok_or("there are too many arrivals")?;
                if drops {
                    barrier.expected -= count;
                }
                barrier.end_if_complete();
                self.threads[number].set_some(state, phase);
            }
            PhaseOp::ArriveAfterCopies { counted } => {
                while !self.threads[number].copies.is_empty() {
                    self.copy(number, 0)?;
                }
                if counted {
                    self.arrive_at(at)?;
                }
            }
            PhaseOp::ArriveAfterProducts { ctas } => {
                let ctas = ctas.map(|ctas| self.value(number, ctas) & 0xffff);
                let barriers = match ctas {
                    None => vec![at],
                    Some(ctas) => {
                        let ranks = (0..16).filter(|rank| ctas >> rank & 1 == 1);
                        let cta = |rank| self.of_cluster(number, rank).ok_or("no CTA of the cluster");
                        ranks.map(|rank| Ok(memory::in_cta(at, cta(rank)?))).collect::<Result<_, String>>()?
                    }
                };
                for barrier in &barriers {
                    self.phase_barrier(*barrier)?;
                }
                self.commit_tensor_products(number, barriers);
            }
            PhaseOp::Expect { bytes } => {
                let bytes = word(bytes);
                self.phase_barrier(at)?.bytes += bytes as i64;
            }
            PhaseOp::Complete { bytes } => {
                let bytes = word(bytes);
                self.complete_bytes(at, bytes)?;
            }
            PhaseOp::Test { p, phase } => {
                let asked = match phase {
                    Phase::Parity(parity) => Err(word(parity)),
                    Phase::State(state) => Ok(thread.get(state, &launch)),
                };
                let now = self.phase_barrier(at)?.phase;
                let over = match asked {
                    Err(parity) => now & 1 != parity,
                    Ok(phase) => now > phase,
                };
                self.threads[number].set(p, u64::from(over));
                if over {
                    self.phases.polling.remove(&number);
                } else {
                    self.phases.polling.insert(number);
                }
            }
        }
        Ok(())
    }

    /// Counts one arrival.
    pub(super) fn arrive_at(&mut self, at: u64) -> Result<(), String> {
        let barrier = self.phase_barrier(at)?;
        barrier.pending = barrier.pending.checked_sub(1).ok_or("there are too many arrivals")?;
        barrier.end_if_complete();
        Ok(())
    }

    /// Records that a thread executes an instruction.
    ///
    /// # Errors
    /// If all running threads wait for phases that no thread will end.
    pub(super) fn note_idle(&mut self, number: usize) -> Result<(), String> {
        if !self.phases.polling.contains(&number)
            || !self.phases.copies.is_empty()
            || !self.tensor_memory.is_idle()
        {
            self.phases.idle = 0;
            return Ok(());
        }
        self.phases.idle += 1;
        if self.phases.idle > IDLE { Err("it waits forever".into()) } else { Ok(()) }
    }

    fn complete_bytes(&mut self, at: u64, bytes: u64) -> Result<(), String> {
        let barrier = self.phase_barrier(at)?;
        barrier.bytes -= bytes as i64;
        barrier.end_if_complete();
        Ok(())
    }

    /// Starts a bulk copy.
    pub(super) fn start_bulk(&mut self, number: usize, copy: &BulkCopy) -> Result<(), String> {
        let pieces = match &copy.moved {
            Moved::Bytes { to, from, bytes } => {
                let bytes = self.value(number, *bytes) & 0xffff_ffff;
                let kept = match copy.effect {
                    BulkEffect::WriteSome(mask) => self.value(number, mask),
                    BulkEffect::Write | BulkEffect::Update(..) | BulkEffect::UpdateElements(_) => 0xffff,
                };
                let (size, update) = match copy.effect {
                    BulkEffect::Write | BulkEffect::UpdateElements(_) => (8, None),
                    BulkEffect::WriteSome(_) => (1, None),
                    BulkEffect::Update(op, size) => (size, Some(op)),
                };
                let (to, from) = (self.address(number, *to, 16)?, self.address(number, *from, 16)?);
                let piece = |at: u64| Piece {
                    bytes: size,
                    to: (to.0, to.1 + at),
                    from: From::Memory(from.0, from.1 + at),
                    update,
                };
                (0..bytes).step_by(size as usize).filter(|at| kept >> (at % 16) & 1 == 1).map(piece).collect()
            }
            Moved::Tile { shared, map, at, loads } => {
                self.tile(number, *shared, *map, (at, *loads), copy.effect)?
            }
        };
        let barrier = copy.barrier.map(|at| self.barrier_place(number, at)).transpose()?;
        let group = self.phases.groups.get(&number).copied().unwrap_or(0);
        let Some(ctas) = copy.ctas else {
            self.phases.copies.push(Bulk { thread: number, group, pieces, barrier });
            return Ok(());
        };
        let ctas = self.threads[number].get(ctas, &self.launch(number)) & 0xffff;
        for rank in (0..16).filter(|rank| ctas >> rank & 1 == 1) {
            let cta = self.of_cluster(number, rank).ok_or("a copy to a CTA that is not in the cluster")?;
            let there = |piece: &Piece| Piece { to: (piece.to.0, memory::in_cta(piece.to.1, cta)), ..*piece };
            let pieces = pieces.iter().map(there).collect();
            // In a pair, the copy signals the CTA with the same parity as that of the named barrier.
            let first = cta - rank;
            let parity = |at| (memory::rank_at(at) as usize - first) & 1;
            let told = |at| if copy.pair { first + (rank & !1 | parity(at)) } else { cta };
            let barrier = barrier.map(|at| memory::in_cta(at, told(at)));
            self.phases.copies.push(Bulk { thread: number, group, pieces, barrier });
        }
        Ok(())
    }

    /// Starts a store that completes on a barrier.
    pub(super) fn store_async(
        &mut self,
        number: usize,
        (s, bytes, update): (&[Source], u32, Option<AtomicOp>),
        (to, barrier): (Address, Option<Address>),
    ) -> Result<(), String> {
        let (space, at) = self.address(number, to, bytes * s.len() as u32)?;
        let barrier = barrier.map(|barrier| self.barrier_place(number, barrier)).transpose()?;
        let piece = |(index, source): (usize, &Source)| Piece {
            bytes,
            to: (space, at + u64::from(bytes) * index as u64),
            from: From::Value(self.value(number, *source)),
            update,
        };
        let pieces = s.iter().enumerate().map(piece).collect();
        // A store without a barrier completes with no group either.
        self.phases.copies.push(Bulk { thread: number, group: u64::MAX, pieces, barrier });
        Ok(())
    }

    /// The pieces of a copy of a box of a tensor map. Elements outside of the tensor are loaded as zeros, and not
    /// stored.
    fn tile(
        &mut self,
        number: usize,
        shared: Address,
        map: Address,
        (at, loads): (&[Source], bool),
        effect: BulkEffect,
    ) -> Result<Vec<Piece>, String> {
        let (Space::Shared, near) = self.address(number, shared, 128)? else {
            return Err("a box that does not lie in shared memory".into());
        };
        let (space, place) = self.address(number, map, 64)?;
        let map = TensorMap::decode(|word| self.read(number, space, place + 8 * word, 8))?;
        let update = match effect {
            BulkEffect::UpdateElements(name) => Some(atomic_op(name, map.ty)?),
            BulkEffect::Write | BulkEffect::WriteSome(_) | BulkEffect::Update(..) => None,
        };
        let coordinate =
            |source: &Source| i64::from(self.threads[number].get(*source, &self.launch(number)) as i32);
        let first: Vec<i64> = at.iter().map(coordinate).collect();
        let piece = |placed: Placed| {
            let far = placed.global.map(|at| From::Memory(Space::Global, at));
            let (to, from) = if loads {
                ((Space::Shared, placed.shared), far.unwrap_or(From::Nothing))
            } else {
                ((Space::Global, placed.global?), From::Memory(Space::Shared, placed.shared))
            };
            Some(Piece { bytes: map.ty.bits() / 8, to, from, update })
        };
        Ok(map.elements(&first, near)?.into_iter().filter_map(piece).collect())
    }

    /// Ends the thread's group of bulk copies.
    pub(super) fn commit_bulk(&mut self, number: usize) {
        *self.phases.groups.entry(number).or_default() += 1;
    }

    /// Executes the copies that a thread waits for: all of its groups except the newest ones.
    pub(super) fn wait_bulk(&mut self, number: usize, newest: u64) -> Result<(), String> {
        let below = self.phases.groups.get(&number).map_or(0, |groups| groups.saturating_sub(newest));
        let is_due = |copy: &Bulk| copy.thread == number && copy.barrier.is_none() && copy.group < below;
        while let Some(at) = self.phases.copies.iter().position(is_due) {
            self.do_bulk(at)?;
        }
        Ok(())
    }

    /// May execute some bulk copies now; with `all`, when no thread can proceed, executes all of them.
    pub(super) fn progress_bulk(&mut self, all: bool) -> Result<(), String> {
        while !self.phases.copies.is_empty() && (all || self.random.below(4) == 0) {
            let at = self.random.below(self.phases.copies.len());
            self.do_bulk(at)?;
        }
        Ok(())
    }

    fn do_bulk(&mut self, at: usize) -> Result<(), String> {
        let Bulk { thread: number, pieces, barrier, .. } = self.phases.copies.swap_remove(at);
        for Piece { bytes, to, from, update } in &pieces {
            let value = match *from {
                From::Nothing => 0,
                From::Memory(space, at) => self.read(number, space, at, *bytes)?,
                From::Value(value) => value & float::mask(8 * *bytes),
            };
            let value = match update {
                Some(op) => {
                    let old = self.read(number, to.0, to.1, *bytes)?;
                    thread::atomic(*op, old, [value, 0])?
                }
                None => value,
            };
            self.write(number, to.0, to.1, *bytes, value)?;
        }
        let bytes = pieces.iter().map(|piece| u64::from(piece.bytes)).sum();
        barrier.map_or(Ok(()), |barrier| self.complete_bytes(barrier, bytes))
    }
}
