//! A launch that is ready to run: the program, its arguments, and the placement of every object in the address space.

use super::memory::Memory;
use super::objects::Objects;
use super::place::place;
use super::points::Recognition;
use super::tensor::{Earlier, ElementAt, Tensor};
use super::tensor_map::Map;
use super::warp::Warp;
use crate::base::assumption::Assumption;
use crate::base::span::LineTable;
use crate::case::{Param, ParamKind, Role, Which};
use crate::program::{InstId, Joins, Loops, Program};
use crate::term::{InputId, Integers, Rounds, Templates, spell_element};
use crate::verdict::{Place, Thread};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The clusters to run, by linear number; these are CTAs if each cluster has one. All clusters of a grid are not stored
/// as a list, since there may be billions.
#[derive(Debug)]
pub(super) enum Clusters {
    /// This many, from 0 on.
    All(u64),
    /// These, in ascending order.
    Chosen(Vec<u64>),
}

impl Clusters {
    pub(super) fn len(&self) -> u64 {
        match self {
            Clusters::All(count) => *count,
            Clusters::Chosen(list) => list.len() as u64,
        }
    }

    /// Up to `count` of them, beginning at position `start`.
    pub(super) fn window(&self, start: u64, count: u64) -> Vec<u64> {
        let end = start.saturating_add(count).min(self.len());
        match self {
            Clusters::All(_) => (start..end).collect(),
            Clusters::Chosen(list) => list[start as usize..end as usize].to_vec(),
        }
    }
}

/// The use of a run's outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outputs {
    /// They are compared, so each must be known.
    #[default]
    Compared,
    /// Their values are not examined: those computed by unsupported instructions are left out (rule S2).
    Written,
}

/// A launch, ready to run.
#[derive(Debug)]
pub(super) struct Launch<'a> {
    pub(super) which: Which,
    /// Its number among the steps of its side.
    pub(super) step: usize,
    /// Whether another step follows, which may read all that this one writes.
    pub(super) is_followed: bool,
    /// Whether it may begin before the launch before it has ended (rule Y17).
    pub(super) is_dependent: bool,
    /// Whether it, or the launch after it, is such a launch.
    pub(super) overlaps: bool,
    /// What the steps before it left.
    pub(super) before: Option<Arc<dyn Earlier>>,
    pub(super) program: &'a Program,
    /// The case's parameters, by input number.
    pub(super) params: &'a [Param],
    pub(super) text: &'a str,
    pub(super) lines: LineTable,
    pub(super) grid: [u32; 3],
    pub(super) block: [u32; 3],
    pub(super) dynamic_shared: u32,
    /// The clusters to run.
    pub(super) clusters: Clusters,
    /// CTAs of a cluster in each dimension.
    pub(super) cluster: [u32; 3],
    /// CTAs that run together, in each dimension: those of a cluster, or all CTAs of a cooperative grid, or of one that
    /// draws tickets.
    pub(super) together: [u32; 3],
    /// Whether these are all CTAs of the grid, each a cluster of its own.
    pub(super) cooperative: bool,
    /// Whether tickets are followed (rule Y18).
    pub(super) has_tickets: bool,
    /// Whether some load goes through the read-only path (rule M4).
    pub(super) reads_uncached: bool,
    /// Whether some output is compared as a multiset, so that its places may be those that counters give (rule Y18).
    pub(super) has_sets: bool,
    /// Whether threads take locks, and are followed in doing so.
    pub(super) has_locks: bool,
    /// What exceeds a limit of the hardware, in words.
    pub(super) exceeded: Vec<String>,
    /// The address of the memory that the driver provides for the barrier of a cooperative grid.
    pub(super) workspace: Option<u64>,
    /// Whether some loop of the kernel waits for a flag (rule Y15).
    pub(super) has_flags: bool,
    /// Whether arrivals or waits at mbarriers are relaxed, and may order memory together with fences (rule Y9).
    pub(super) has_relaxed_barriers: bool,
    /// Whether the kernel or the case gives the size of clusters.
    pub(super) is_explicit: bool,
    pub(super) outputs: Outputs,
    pub(super) objects: Objects,
    pub(super) tensors: Vec<Tensor>,
    /// Tensor maps, by the object that contains each and its byte offset there.
    pub(super) maps: FxHashMap<(u32, u64), Map>,
    /// Cells of the shared memory of a CTA, and of the local memory of a thread.
    pub(super) shared_cells: u32,
    pub(super) local_cells: u32,
    /// Names and shapes of the case's parameters, by input number.
    pub(super) names: Vec<(String, Vec<u64>)>,
    /// The integer types of elements of the case's parameters, by input number.
    pub(super) integers: Vec<Option<Integers>>,
    /// Inputs whose elements differ from one another.
    pub(super) distinct: Vec<InputId>,
    /// Assumptions about the launch.
    pub(super) assumptions: Vec<Assumption>,
    /// The library functions to recognise, and the rounding of each instruction by its number; `None` if there are
    /// none.
    pub(super) functions: Option<(Arc<Templates>, Arc<[Rounds]>)>,
    /// What is to be recognised.
    pub(super) recognition: Recognition,
    /// Whether a loop that only computes is some function of its registers: in claims about bits, but not where each
    /// of its operations is to stay finite (rule B2).
    pub(super) loops_are_steps: bool,
    /// Computed at the first branch that depends on the input.
    pub(super) joins: OnceLock<Joins>,
    /// Computed at its first use.
    pub(super) loops: OnceLock<Loops>,
}

impl Launch<'_> {
    /// An element of a parameter of the case as text; `None` for an element of another tensor.
    pub(super) fn spell(&self, at: ElementAt<'_>) -> Option<String> {
        let (name, shape) = &self.names[at.tensor.param?];
        Some(spell_element(name, shape, at.element))
    }

    /// An element of an input as text: `x[3]`, `A[0][7]`, `alpha`.
    pub(super) fn element_name(&self, input: InputId, element: u64) -> String {
        match self.names.get(input.index()) {
            Some((name, shape)) => spell_element(name, shape, element),
            None => format!("{input}[{element}]"),
        }
    }

    /// The number of threads of a CTA.
    pub(super) fn threads(&self) -> usize {
        self.block.iter().product::<u32>() as usize
    }

    /// Whether one thread runs.
    pub(super) fn is_one_thread(&self) -> bool {
        self.threads() == 1 && self.grid == [1; 3] && self.ranks() == 1
    }

    /// The points at which the sides of branches meet.
    pub(super) fn joins(&self) -> &Joins {
        self.joins.get_or_init(|| self.program.joins())
    }

    /// The loops that are executed as one step: those that may be part of a function to recognise, and in claims about
    /// bits all.
    pub(super) fn loops(&self) -> &Loops {
        self.loops.get_or_init(|| {
            let holds = |(templates, _): &(Arc<Templates>, _)| templates.hold_loops();
            let are_steps = self.loops_are_steps || self.functions.as_ref().is_some_and(holds);
            if are_steps { self.program.loops() } else { Loops::default() }
        })
    }

    /// The number of warps of a CTA.
    pub(super) fn warps(&self) -> usize {
        self.threads().div_ceil(32)
    }

    /// The number of CTAs that run together: those of a cluster, or of a cooperative grid.
    pub(super) fn ranks(&self) -> u32 {
        self.together.iter().product()
    }

    /// The number of CTAs of a cluster.
    pub(super) fn cluster_ranks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// The rank in its cluster of a CTA, by its rank among those that run together. The clusters of a cooperative grid
    /// have one CTA.
    pub(super) fn rank_in_cluster(&self, rank: u32) -> u32 {
        if self.cooperative { 0 } else { rank }
    }

    /// An upper bound of the thread numbers of a cluster. Each CTA begins with a warp of its own, so some numbers are
    /// unused.
    pub(super) fn thread_numbers(&self) -> usize {
        32 * self.warps() * self.ranks() as usize
    }

    /// The numbers of the threads of a CTA of the cluster.
    pub(super) fn numbers_of(&self, rank: u32) -> Range<usize> {
        let first = 32 * self.warps() * rank as usize;
        first..first + self.threads()
    }

    /// Bytes that a cluster takes before its first step: registers, local memory, shared memory.
    pub(super) fn cluster_bytes(&self) -> u64 {
        let Program { registers, predicates, .. } = *self.program;
        let warp = Warp::bytes(registers, predicates, self.local_cells);
        let shared = Memory::shared_bytes(self.shared_cells);
        let cta = (self.warps() as u64).saturating_mul(warp).saturating_add(shared);
        cta.saturating_mul(self.ranks().into())
    }

    /// The index of a cluster by its linear number.
    pub(super) fn cluster_at(&self, linear: u64) -> [u32; 3] {
        unravel(linear, std::array::from_fn(|at| self.grid[at] / self.together[at]))
    }

    /// The index of a CTA of the cluster with that linear number.
    pub(super) fn cta(&self, linear: u64, rank: u32) -> [u32; 3] {
        let (first, own) = (self.cluster_at(linear), unravel(rank.into(), self.together));
        std::array::from_fn(|at| first[at] * self.together[at] + own[at])
    }

    /// The rank of the CTA of a thread, by the thread's number in its cluster.
    pub(super) fn rank_of(&self, number: u32) -> u32 {
        number / (32 * self.warps() as u32)
    }

    /// The index of a thread in its CTA.
    pub(super) fn thread_index(&self, number: u32) -> [u32; 3] {
        unravel((number % (32 * self.warps() as u32)).into(), self.block)
    }

    /// Names a thread by its number in the cluster with that linear number.
    pub(super) fn thread(&self, linear: u64, number: u32) -> Thread {
        Thread { cta: self.cta(linear, self.rank_of(number)), thread: self.thread_index(number) }
    }

    /// Whether strong stores may set a word for which other threads wait.
    pub(super) fn sets(&self) -> bool {
        self.has_flags || self.has_locks
    }

    /// Whether what the launch leaves in a parameter of the case is compared.
    pub(super) fn is_compared(&self, param: usize) -> bool {
        matches!(&self.params[param].kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. })
    }

    /// Whether the contents of a tensor matter after the launch: they are compared, or a later step may read them.
    pub(super) fn is_left(&self, tensor: &Tensor) -> bool {
        tensor.param.is_some()
            && match tensor.role {
                Role::Out | Role::InOut => true,
                Role::Scratch | Role::Ignored => self.is_followed,
                Role::In => false,
            }
    }

    /// The source position of an instruction.
    pub(super) fn place(&self, inst: InstId) -> Option<Place> {
        let inst = self.program.insts.get(inst.index())?;
        Some(place(self.program, self.text, &self.lines, inst, self.step))
    }
}

fn unravel(linear: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32]
}
