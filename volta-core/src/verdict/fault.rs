//! Faults of a kernel, with everything that a message needs.

use std::fmt;

use volta_case::{FaultKind, Which};

#[cfg(feature = "serde")]
use super::stored;

/// A thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Thread {
    /// Block index x, y, z.
    pub cta: [u32; 3],
    /// Thread index x, y, z.
    pub thread: [u32; 3],
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.thread;
        write!(f, "thread ({x}, {y}, {z})")?;
        if self.cta != [0; 3] {
            let [x, y, z] = self.cta;
            write!(f, " of CTA ({x}, {y}, {z})")?;
        }
        Ok(())
    }
}

/// A place in a CUDA source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CudaPlace {
    /// Path as the compiler recorded it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 when unknown.
    pub column: u32,
    /// The place of the call, if this is in an inlined function.
    pub inlined_at: Option<Box<CudaPlace>>,
}

/// A place in the PTX, and in the CUDA source when `.loc` gives it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// The step of the side that has this PTX, from 0.
    #[cfg_attr(feature = "serde", serde(default))]
    pub step: usize,
    /// Line in the PTX, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Length of the instruction in characters (on its first line).
    pub length: u32,
    /// The instruction as written, on one line.
    pub text: String,
    /// The place in the CUDA source that it was compiled from.
    pub cuda: Option<CudaPlace>,
}

/// One of the accesses or waits that a fault is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Site {
    /// What happens here: `writes A[3]`, `waits at barrier 1`, ….
    pub action: String,
    /// The thread that does it.
    pub thread: Option<Thread>,
    /// The instruction.
    pub place: Option<Place>,
}

/// The maximal number of findings reported, including the fault of the verdict (rule R2).
pub const MOST_FINDINGS: usize = 10;

/// The name of a rule, such as `Y1`.
pub type Rule = &'static str;

/// A fault in one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fault {
    /// The kernel.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub side: Which,
    /// The step of this side, from 0.
    #[cfg_attr(feature = "serde", serde(default))]
    pub step: usize,
    /// The kind of fault.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub kind: FaultKind,
    /// The rule of the semantics that it breaks, e.g. `Y1`.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stored::rule"))]
    pub rule: Rule,
    /// One sentence: lowercase, no period.
    pub message: String,
    /// The sites, in the order of the numbers (1), (2) that the message uses.
    pub sites: Vec<Site>,
    /// For a race, the accesses of the two threads between their barriers.
    pub timeline: Option<Box<Timeline>>,
    /// The phases of the barriers in memory that the fault is about.
    pub phases: Vec<BarrierPhases>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Fault {
    /// A fault of the first step, without timeline and phases.
    pub fn new(
        side: Which,
        kind: FaultKind,
        rule: Rule,
        message: String,
        sites: Vec<Site>,
        help: Option<String>,
    ) -> Fault {
        Fault { side, step: 0, kind, rule, message, sites, timeline: None, phases: Vec::new(), help }
    }
}

/// The phases of a barrier in memory (rule Y9).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BarrierPhases {
    /// The barrier, named by its bytes in memory.
    pub name: String,
    /// Its last phases, in order; the incomplete one comes last.
    pub phases: Vec<PhaseLine>,
}

/// A phase of a barrier in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PhaseLine {
    /// The number of the phase, from 0; the lowest bit is its parity.
    pub number: u32,
    /// Whether it is complete.
    pub is_over: bool,
    /// The numbers of arrivals so far, and of expected ones.
    pub arrivals: (u32, u32),
    /// The numbers of bytes that arrived so far, and that are expected so far.
    pub bytes: (i64, i64),
    /// Arrivals, expected bytes and copies, grouped by instruction, each with its first thread.
    pub steps: Vec<Site>,
    /// Whether there were further instructions.
    pub has_more: bool,
}

/// The position of two accesses between the barriers that their threads passed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timeline {
    /// The threads of sites (1) and (2).
    pub threads: [Thread; 2],
    /// The barriers and warp synchronisations in which at least one of them took part, in order.
    pub meetings: Vec<Meeting>,
    /// For each access, the number of these before it.
    pub after: [usize; 2],
}

/// A completed barrier, or a synchronisation of threads of a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Meeting {
    /// The place of one of the participating threads.
    pub place: Option<Place>,
    /// For each of the two threads, whether it took part.
    pub joins: [bool; 2],
    /// The number of participating threads.
    pub threads: u64,
}
