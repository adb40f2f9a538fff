//! Loops that do not end.
//!
//! If after one barrier all registers and all memory of a CTA have the same contents as after an earlier one, this
//! recurs forever: without races, nothing else determines what its threads do. The same holds for a warp that jumps
//! back in a loop, as long as no other thread writes what it reads. A comparison of the whole state takes time, so
//! comparisons are rare and ever further apart. The first comes after more barriers, or iterations, than kernels that
//! end usually have.

use crate::verdict::Place;

/// The first barrier after which the state of a CTA is recorded; later ones are those with a power of two as their
/// number.
const FIRST: u64 = 1 << 12;
/// The state is compared with the recorded one after each of this many further barriers.
const LONGEST: u64 = 64;
/// The corresponding limits for iterations of loops, which are more frequent.
const FIRST_TURN: u64 = 1 << 14;
const MOST_TURNS: u64 = 2;

/// A loop that does not end.
#[derive(Clone, Debug, PartialEq)]
pub struct Endless {
    /// A barrier in it, or the instruction that jumps back.
    pub place: Option<Place>,
    /// The repetition.
    pub repeats: Repeats,
}

/// The kind of repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// The numbers of barriers completed at both times.
    Barriers([u64; 2]),
    /// The number of iterations after which the state recurs, of one warp or of all warps in lockstep.
    Turns(u64),
    /// No state needs to recur: no instruction that ends a thread can be reached.
    NoWayOut,
    /// No state recurs: a thread waits for a flag that no thread of its CTA sets.
    Flag,
}

impl std::fmt::Display for Endless {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = self.place.as_ref().map(|place| place.cuda.as_ref().map_or(place.line, |cuda| cuda.line));
        match self.repeats {
            Repeats::Barriers([first, second]) => {
                f.write_str("a loop does not end: ")?;
                if let Some(line) = line {
                    write!(f, "at the barrier in line {line}, ")?;
                }
                write!(f, "registers and memory are the same after {second} barriers as after {first}")
            }
            Repeats::NoWayOut => {
                f.write_str("a loop does not end: ")?;
                match line {
                    Some(line) => write!(f, "from its branch back in line {line}, no branch leads out of it"),
                    None => f.write_str("no branch leads out of it"),
                }
            }
            Repeats::Flag => {
                f.write_str("a thread waits for another CTA")?;
                if let Some(line) = line {
                    write!(f, ": no thread of its own sets the flag that the loop in line {line} waits for")?;
                }
                f.write_str(", and nothing says which CTAs run at the same time")
            }
            Repeats::Turns(turns) => {
                f.write_str("a loop does not end by itself: ")?;
                if let Some(line) = line {
                    write!(f, "at its branch back in line {line}, ")?;
                }
                let turns = if turns == 1 { "an iteration".into() } else { format!("{turns} iterations") };
                write!(f, "registers and memory are the same as {turns} earlier")?;
                f.write_str("; another warp or CTA would have to write what it waits for")
            }
        }
    }
}

/// The state of a CTA after a barrier, and that at a backward jump, with their counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watch {
    pub(crate) known: Option<(u64, u64)>,
    pub(crate) turns: u64,
    pub(crate) turned: Option<Turned>,
}

/// The state at a backward jump.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turned {
    pub(crate) turns: u64,
    pub(crate) state: u64,
    /// The number of terms.
    pub(crate) terms: usize,
}

impl Watch {
    /// Whether the state of a CTA is examined after this many barriers.
    pub(crate) fn looks_at(&self, barriers: u64) -> bool {
        barriers >= FIRST && barriers - (1 << barriers.ilog2()) <= LONGEST
    }

    /// Whether no earlier state is compared with that of a later iteration, until many more of them.
    pub(crate) fn has_compared(&self) -> bool {
        self.turns - (1 << self.turns.ilog2()) == MOST_TURNS
    }

    /// Counts an iteration; returns whether the state is examined after it.
    #[inline]
    pub(crate) fn turns(&mut self) -> bool {
        self.turns += 1;
        self.turns >= FIRST_TURN && self.turns - (1 << self.turns.ilog2()) <= MOST_TURNS
    }
}
