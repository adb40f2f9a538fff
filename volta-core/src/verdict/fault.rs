//! What goes wrong when a kernel runs, with everything a message needs.

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
    /// The call that was inlined, if this is in an inlined function.
    pub inlined_at: Option<Box<CudaPlace>>,
}

/// A place in the PTX, and in the CUDA source when `.loc` gives it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Place {
    /// Line in the PTX, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Length of the instruction in characters (on its first line).
    pub length: u32,
    /// The instruction as written, on one line.
    pub text: String,
    /// Where it comes from.
    pub cuda: Option<CudaPlace>,
}

/// One of the accesses or waits that a fault is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Site {
    /// What happens here: `writes A[3]`, `waits at barrier 1`, ….
    pub action: String,
    /// Who does it.
    pub thread: Option<Thread>,
    /// Where.
    pub place: Option<Place>,
}

/// How many findings are told at most, the fault of the verdict among them (rule R2).
pub const MOST_FINDINGS: usize = 10;

/// The name of a rule, such as `Y1`.
pub type Rule = &'static str;

/// A fault in one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fault {
    /// In which kernel.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub side: Which,
    /// What kind.
    #[cfg_attr(feature = "serde", serde(with = "stored::word"))]
    pub kind: FaultKind,
    /// The rule of the semantics that it breaks, e.g. `Y1`.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "stored::rule"))]
    pub rule: Rule,
    /// One sentence: lowercase, no period.
    pub message: String,
    /// The sites, in the order of the numbers (1), (2) that the message uses.
    pub sites: Vec<Site>,
    /// Of a race, what the two threads did between barriers.
    pub timeline: Option<Box<Timeline>>,
    /// Of barriers in memory that it is about, what happened there.
    pub phases: Vec<BarrierPhases>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Fault {
    /// One of which there is nothing more to tell.
    pub fn new(
        side: Which,
        kind: FaultKind,
        rule: Rule,
        message: String,
        sites: Vec<Site>,
        help: Option<String>,
    ) -> Fault {
        Fault { side, kind, rule, message, sites, timeline: None, phases: Vec::new(), help }
    }
}

/// What happened at a barrier in memory, phase by phase (rule Y9).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BarrierPhases {
    /// The barrier, by its bytes.
    pub name: String,
    /// The last of its phases, in order; the one that is not over comes last.
    pub phases: Vec<PhaseLine>,
}

/// A phase of a barrier in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PhaseLine {
    /// From 0; its parity is its lowest bit.
    pub number: u32,
    /// Whether it is over.
    pub is_over: bool,
    /// How many arrivals there were, of how many.
    pub arrivals: (u32, u32),
    /// How many bytes came, of how many that were expected so far.
    pub bytes: (i64, i64),
    /// Arrivals, expected bytes and copies, by instruction; the thread is the first one.
    pub steps: Vec<Site>,
    /// Whether there were others.
    pub has_more: bool,
}

/// When two accesses happened, counted in the barriers that their threads passed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timeline {
    /// The threads of sites (1) and (2).
    pub threads: [Thread; 2],
    /// The barriers and warp synchronisations in which one of them took part, in order.
    pub meetings: Vec<Meeting>,
    /// For each access, how many of these lie before it.
    pub after: [usize; 2],
}

/// A barrier that was completed, or threads of a warp that were synchronised.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Meeting {
    /// Where one of those who met stood.
    pub place: Option<Place>,
    /// Whether each of the two threads took part.
    pub joins: [bool; 2],
    /// How many threads took part.
    pub threads: u64,
}
