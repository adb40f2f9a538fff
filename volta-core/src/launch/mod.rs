//! A launch that is ready to run: the program, its arguments, and the placement of every object in the address space.
//!
//! [`bind`] makes it of a case and a program: it lays out [`arguments`](mod@arguments) and [`structs`], gives
//! [`tensors`](tensor), [tensor maps](tensor_map) and the module's [`variables`] their contents, places [`objects`], and
//! checks the [`limits`] of the hardware. [`address_bits`] finds in the program what depends on where they are placed.
//!
//! Nothing is executed here, and nothing of a run is known.

pub(crate) mod address_bits;
pub(crate) mod advice;
pub(crate) mod arguments;
pub(crate) mod bind;
pub(crate) mod bind_error;
pub(crate) mod infeasible;
pub(crate) mod limits;
pub(crate) mod objects;
pub(crate) mod source_place;
pub(crate) mod structs;
pub(crate) mod tensor;
pub(crate) mod tensor_map;
pub(crate) mod variables;

pub(crate) use advice::parameter_element;
pub(crate) use arguments::arguments;
pub use bind::{Job, signature};
pub use bind_error::BindError;
use infeasible::Feasibility;
pub(crate) use limits::most_dynamic_shared;
pub use source_place::place_in;
pub use tensor::Before;
pub use variables::{has_variable, names_variable};

use crate::base::assumption::Assumption;
use crate::base::span::LineTable;
use crate::case::{Param, ParamKind, Role, Which};
use crate::program::{InstId, Joins, Loops, Program};
use crate::term::{InputId, Integers, Rounds, Templates, spell_element};
use crate::value::constants::Recognition;
use crate::verdict::{Place, Thread};
use objects::Objects;
use rustc_hash::FxHashMap;
use source_place::place;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use tensor::{Earlier, ElementAt, Tensor};
use tensor_map::Map;

/// The clusters to run, by linear number; these are CTAs if each cluster has one. All clusters of a grid are not stored
/// as a list, since there may be billions.
#[derive(Debug)]
pub(crate) enum Clusters {
    /// This many, from 0 on.
    All(u64),
    /// These, in ascending order.
    Chosen(Vec<u64>),
}

impl Clusters {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Clusters::All(count) => *count,
            Clusters::Chosen(list) => list.len() as u64,
        }
    }

    /// Up to `count` of them, beginning at position `start`.
    pub(crate) fn window(&self, start: u64, count: u64) -> Vec<u64> {
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
pub(crate) struct Launch<'a> {
    pub(crate) which: Which,
    /// Its number among the steps of its side.
    pub(crate) step: usize,
    /// Whether another step follows, which may read all that this one writes.
    pub(crate) is_followed: bool,
    /// Whether it may begin before the launch before it has ended (rule Y17).
    pub(crate) is_dependent: bool,
    /// Whether it, or the launch after it, is such a launch.
    pub(crate) overlaps: bool,
    /// What the steps before it left.
    pub(crate) before: Option<Arc<dyn Earlier>>,
    pub(crate) program: &'a Program,
    /// The case's parameters, by input number.
    pub(crate) params: &'a [Param],
    pub(crate) text: &'a str,
    pub(crate) lines: LineTable,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_shared: u32,
    /// The clusters to run.
    pub(crate) clusters: Clusters,
    /// CTAs of a cluster in each dimension.
    pub(crate) cluster: [u32; 3],
    /// CTAs that run together, in each dimension: those of a cluster, or all CTAs of a cooperative grid, or of one that
    /// draws tickets.
    pub(crate) together: [u32; 3],
    /// Whether these are all CTAs of the grid, each a cluster of its own.
    pub(crate) cooperative: bool,
    /// Whether tickets are followed (rule Y18).
    pub(crate) has_tickets: bool,
    /// Whether some load goes through the read-only path (rule M4).
    pub(crate) reads_uncached: bool,
    /// Whether some output is compared as a multiset, so that its places may be those that counters give (rule Y18).
    pub(crate) has_sets: bool,
    /// Whether threads take locks, and are followed in doing so.
    pub(crate) has_locks: bool,
    /// What exceeds a limit of the hardware, in words.
    pub(crate) exceeded: Vec<String>,
    /// The address of the memory that the driver provides for the barrier of a cooperative grid.
    pub(crate) workspace: Option<u64>,
    /// Whether some loop of the kernel waits for a flag (rule Y15).
    pub(crate) has_flags: bool,
    /// Whether arrivals or waits at mbarriers are relaxed, and may order memory together with fences (rule Y9).
    pub(crate) has_relaxed_barriers: bool,
    /// Whether the kernel or the case gives the size of clusters.
    pub(crate) is_explicit: bool,
    pub(crate) outputs: Outputs,
    pub(crate) objects: Objects,
    pub(crate) tensors: Vec<Tensor>,
    /// Tensor maps, by the object that contains each and its byte offset there.
    pub(crate) maps: FxHashMap<(u32, u64), Map>,
    /// Cells of the shared memory of a CTA, and of the local memory of a thread.
    pub(crate) shared_cells: u32,
    pub(crate) local_cells: u32,
    /// Names and shapes of the case's parameters, by input number.
    pub(crate) names: Vec<(String, Vec<u64>)>,
    /// The integer types of elements of the case's parameters, by input number.
    pub(crate) integers: Vec<Option<Integers>>,
    /// Whether the elements of the case's parameters are assumed not to be negative, by input number.
    pub(crate) not_negative: Vec<bool>,
    /// Inputs whose elements differ from one another.
    pub(crate) distinct: Vec<InputId>,
    /// Decides whether inputs fulfil the conditions of faults.
    pub(crate) infeasible: Option<&'a dyn Feasibility>,
    /// Assumptions about the launch.
    pub(crate) assumptions: Vec<Assumption>,
    /// The library functions to recognise, and the rounding of each instruction by its number; `None` if there are
    /// none.
    pub(crate) functions: Option<(Arc<Templates>, Arc<[Rounds]>)>,
    /// What is to be recognised.
    pub(crate) recognition: Recognition,
    /// Whether a loop that only computes is some function of its registers: in claims about bits, but not where each
    /// of its operations is to stay finite (rule B2).
    pub(crate) loops_are_steps: bool,
    /// Computed at the first branch that depends on the input.
    pub(crate) joins: OnceLock<Joins>,
    /// Computed at its first use.
    pub(crate) loops: OnceLock<Loops>,
}

impl Launch<'_> {
    /// An element of a parameter of the case as text; `None` for an element of another tensor.
    pub(crate) fn spell(&self, at: ElementAt<'_>) -> Option<String> {
        let (name, shape) = &self.names[at.tensor.param?];
        Some(spell_element(name, shape, at.element))
    }

    /// An element of an input as text: `x[3]`, `A[0][7]`, `alpha`.
    pub(crate) fn element_name(&self, input: InputId, element: u64) -> String {
        match self.names.get(input.index()) {
            Some((name, shape)) => spell_element(name, shape, element),
            None => format!("{input}[{element}]"),
        }
    }

    /// The number of threads of a CTA.
    pub(crate) fn threads(&self) -> usize {
        self.block.iter().product::<u32>() as usize
    }

    /// Whether one thread runs.
    pub(crate) fn is_one_thread(&self) -> bool {
        self.threads() == 1 && self.grid == [1; 3] && self.ranks() == 1
    }

    /// The points at which the sides of branches meet.
    pub(crate) fn joins(&self) -> &Joins {
        self.joins.get_or_init(|| self.program.joins())
    }

    /// The loops that are executed as one step: those that may be part of a function to recognise, and in claims about
    /// bits all.
    pub(crate) fn loops(&self) -> &Loops {
        self.loops.get_or_init(|| {
            let holds = |(templates, _): &(Arc<Templates>, _)| templates.hold_loops();
            let are_steps = self.loops_are_steps || self.functions.as_ref().is_some_and(holds);
            if are_steps { self.program.loops() } else { Loops::default() }
        })
    }

    /// The number of warps of a CTA.
    pub(crate) fn warps(&self) -> usize {
        self.threads().div_ceil(32)
    }

    /// The number of CTAs that run together: those of a cluster, or of a cooperative grid.
    pub(crate) fn ranks(&self) -> u32 {
        self.together.iter().product()
    }

    /// The number of CTAs of a cluster.
    pub(crate) fn cluster_ranks(&self) -> u32 {
        self.cluster.iter().product()
    }

    /// The rank in its cluster of a CTA, by its rank among those that run together. The clusters of a cooperative grid
    /// have one CTA.
    pub(crate) fn rank_in_cluster(&self, rank: u32) -> u32 {
        if self.cooperative { 0 } else { rank }
    }

    /// An upper bound of the thread numbers of a cluster. Each CTA begins with a warp of its own, so some numbers are
    /// unused.
    pub(crate) fn thread_numbers(&self) -> usize {
        32 * self.warps() * self.ranks() as usize
    }

    /// The numbers of the threads of a CTA of the cluster.
    pub(crate) fn numbers_of(&self, rank: u32) -> Range<usize> {
        let first = 32 * self.warps() * rank as usize;
        first..first + self.threads()
    }

    /// The index of a cluster by its linear number.
    pub(crate) fn cluster_at(&self, linear: u64) -> [u32; 3] {
        unravel(linear, std::array::from_fn(|at| self.grid[at] / self.together[at]))
    }

    /// The index of a CTA of the cluster with that linear number.
    pub(crate) fn cta(&self, linear: u64, rank: u32) -> [u32; 3] {
        let (first, own) = (self.cluster_at(linear), unravel(rank.into(), self.together));
        std::array::from_fn(|at| first[at] * self.together[at] + own[at])
    }

    /// The rank of the CTA of a thread, by the thread's number in its cluster.
    pub(crate) fn rank_of(&self, number: u32) -> u32 {
        number / (32 * self.warps() as u32)
    }

    /// The index of a thread in its CTA.
    pub(crate) fn thread_index(&self, number: u32) -> [u32; 3] {
        unravel((number % (32 * self.warps() as u32)).into(), self.block)
    }

    /// Names a thread by its number in the cluster with that linear number.
    pub(crate) fn thread(&self, linear: u64, number: u32) -> Thread {
        Thread { cta: self.cta(linear, self.rank_of(number)), thread: self.thread_index(number) }
    }

    /// Whether strong stores may set a word for which other threads wait.
    pub(crate) fn sets(&self) -> bool {
        self.has_flags || self.has_locks
    }

    /// Whether what the launch leaves in a parameter of the case is compared.
    pub(crate) fn is_compared(&self, param: usize) -> bool {
        matches!(&self.params[param].kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. })
    }

    /// Whether the contents of a tensor matter after the launch: they are compared, or a later step may read them.
    pub(crate) fn is_left(&self, tensor: &Tensor) -> bool {
        tensor.param.is_some()
            && match tensor.role {
                Role::Out | Role::InOut => true,
                Role::Scratch | Role::Ignored => self.is_followed,
                Role::In => false,
            }
    }

    /// The source position of an instruction.
    pub(crate) fn place(&self, inst: InstId) -> Option<Place> {
        let inst = self.program.insts.get(inst.index())?;
        Some(place(self.program, self.text, &self.lines, inst, self.step))
    }
}

fn unravel(linear: u64, extent: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extent.map(u64::from);
    [(linear % x) as u32, (linear / x % y) as u32, (linear / (x * y)) as u32]
}
