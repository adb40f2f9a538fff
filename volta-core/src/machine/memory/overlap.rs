//! Launches that overlap with those before them (rule Y17): what each accesses, and what it knows to be over.
//!
//! All launches run one after the other. Accesses by two launches that could overlap must not conflict; then each reads
//! what it would read if they did overlap.

use super::perhaps::How;
use crate::concurrency::race::Detector;
use crate::launch::Launch;
use crate::program::InstId;
use crate::verdict::{Place, Thread};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// What the accesses of a launch know to be over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Before `griddepcontrol.wait`, or not ordered after it.
    Early,
    /// A read after it through the read-only path, which may have been filled when the launch began (M4).
    Uncached,
    /// After it.
    Late,
}

/// An access to a cell of a parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) phase: Phase,
    pub(crate) how: How,
    pub(crate) bytes: u8,
    /// Whether it happens for all inputs.
    pub(crate) surely: bool,
    pub(crate) inst: InstId,
    /// `None` in a graph of operators.
    pub(crate) thread: Option<Thread>,
}

/// By the parameter, and the cell of its tensor.
type Touches = FxHashMap<(usize, u64), SmallVec<[Touch; 1]>>;

/// What a launch that may overlap with others does to their memory.
#[derive(Debug, Default)]
pub struct Overlap {
    touches: Touches,
    /// Places of instructions, of those that touch.
    places: FxHashMap<InstId, Place>,
    /// Whether some thread waits: the launch then ends after the one before it.
    waits: bool,
    /// Whether a CTA lets the next launch begin only after it has waited itself.
    waits_first: bool,
    /// Whether it may begin before the launch before it has ended.
    pub(crate) is_dependent: bool,
}

/// The same for a CTA that runs.
#[derive(Debug)]
pub(crate) struct OverlapOfCta {
    touches: Touches,
    /// The agent whose first action is the end of the launches before; `None` if these ended before the launch began.
    pub(crate) ended: Option<usize>,
    pub(crate) waits: bool,
    /// Whether a thread lets the next launch begin, and whether one does so without having waited.
    pub(crate) triggers: bool,
    pub(crate) triggers_early: bool,
}

/// Two accesses of overlapping launches that conflict.
#[derive(Clone, Debug)]
pub struct OverlapConflict {
    /// The parameter, and the byte of its tensor.
    pub param: usize,
    /// The first byte that both access.
    pub byte: u64,
    /// The access of the later launch, then that of the earlier one.
    pub accesses: [OverlapAccess; 2],
    /// What is wrong, or in doubt.
    pub why: OverlapReason,
}

/// Why accesses of two launches conflict, or may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverlapReason {
    /// The later launch has not waited.
    BeforeWait,
    /// It has waited, for the end of another launch.
    WaitForAnother,
    /// It has waited, and reads through the read-only path.
    ReadOnlyPath,
    /// Both update atomically, and whether these updates commute is not examined.
    Updates,
    /// Whether both happen depends on inputs, or on how a graph is computed.
    Conditions,
}

impl OverlapReason {
    /// Whether the conflict is certain.
    pub fn is_certain(self) -> bool {
        match self {
            OverlapReason::BeforeWait | OverlapReason::WaitForAnother => true,
            OverlapReason::ReadOnlyPath | OverlapReason::Updates | OverlapReason::Conditions => false,
        }
    }
}

/// One of two conflicting accesses.
#[derive(Clone, Debug)]
pub struct OverlapAccess {
    /// `reads`, `writes` or `updates`.
    pub verb: &'static str,
    /// Who accesses; `None` for a graph of operators.
    pub thread: Option<Thread>,
    /// The instruction.
    pub place: Option<Place>,
}

impl OverlapOfCta {
    /// That of a CTA of a launch; `None` if no other launch overlaps with it.
    pub(crate) fn of(launch: &Launch<'_>, order: &mut Detector) -> Option<Box<OverlapOfCta>> {
        let Detector::VectorClock(exact) = order else { return None };
        launch.overlaps.then(|| {
            let ended = launch.is_dependent.then(|| exact.clocks.new_agent());
            let (touches, waits) = (Touches::default(), false);
            Box::new(OverlapOfCta { touches, ended, waits, triggers: false, triggers_early: false })
        })
    }

    /// Notes an access to a cell of a parameter.
    pub(crate) fn note(&mut self, place: (usize, u64), touch: Touch) {
        let known = self.touches.entry(place).or_default();
        if !known.iter().any(|own| own.covers(&touch)) {
            known.push(touch);
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.touches.len() * 2 * size_of::<((usize, u64), SmallVec<[Touch; 1]>)>()) as u64
    }
}

impl Touch {
    /// Whether what conflicts with `other` conflicts with this one as well.
    fn covers(&self, other: &Touch) -> bool {
        (self.phase, self.how) == (other.phase, other.how)
            && other.bytes & !self.bytes == 0
            && (self.surely || !other.surely)
    }
}

impl Overlap {
    /// That of a launch, none of whose CTAs has run.
    pub(crate) fn new(launch: &Launch<'_>) -> Option<Overlap> {
        launch.overlaps.then(|| Overlap { is_dependent: launch.is_dependent, ..Overlap::default() })
    }

    /// That of a graph of operators before a launch that may overlap with it: the bytes of parameters that it writes,
    /// and those that it may read.
    pub(crate) fn of_graph(
        writes: impl Iterator<Item = (usize, Range<u64>)>,
        reads: impl Iterator<Item = (usize, Range<u64>)>,
    ) -> Overlap {
        let mut all = Overlap::default();
        let writes = writes.map(|place| (How::Writes, place));
        for (how, (param, bytes)) in writes.chain(reads.map(|place| (How::Reads, place))) {
            for cell in bytes.start / 4..bytes.end.div_ceil(4) {
                let inside = (0..4).filter(|at| bytes.contains(&(4 * cell + at)));
                let own = inside.fold(0, |mask, at| mask | 1 << at);
                let known = all.touches.entry((param, cell)).or_default();
                match known.iter_mut().find(|touch| touch.how == how) {
                    Some(touch) => touch.bytes |= own,
                    None => known.push(Touch {
                        phase: Phase::Late,
                        how,
                        bytes: own,
                        surely: how == How::Writes,
                        inst: InstId::from_index(0),
                        thread: None,
                    }),
                }
            }
        }
        all
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        (self.touches.len() * 2 * size_of::<((usize, u64), SmallVec<[Touch; 1]>)>()) as u64
    }

    /// Adds what a CTA did.
    pub(crate) fn add(&mut self, launch: &Launch<'_>, cta: OverlapOfCta) {
        self.waits |= cta.waits;
        self.waits_first |= if cta.triggers { !cta.triggers_early } else { cta.waits };
        for (place, touches) in cta.touches {
            let known = self.touches.entry(place).or_default();
            for touch in touches {
                if !known.iter().any(|own| own.covers(&touch)) {
                    if !self.places.contains_key(&touch.inst)
                        && let Some(place) = launch.place(touch.inst)
                    {
                        self.places.insert(touch.inst, place);
                    }
                    known.push(touch);
                }
            }
        }
    }

    fn access(&self, touch: &Touch) -> OverlapAccess {
        let verb = match touch.how {
            How::Reads => "reads",
            How::Writes => "writes",
            How::Updates => "updates",
        };
        OverlapAccess { verb, thread: touch.thread, place: self.places.get(&touch.inst).cloned() }
    }

    /// The first conflict of accesses in one of two phases with those of an earlier launch.
    fn conflict(&self, earlier: &Overlap, phase: Phase) -> Option<OverlapConflict> {
        let mut found: Option<((usize, u64), OverlapConflict)> = None;
        for (place, touches) in &self.touches {
            let Some(others) = earlier.touches.get(place) else { continue };
            for own in touches.iter().filter(|own| own.phase == phase) {
                let meets = |other: &&Touch| {
                    own.bytes & other.bytes != 0 && (own.how, other.how) != (How::Reads, How::Reads)
                };
                for other in others.iter().filter(meets) {
                    let why = match phase {
                        _ if own.how == How::Updates && other.how == How::Updates => OverlapReason::Updates,
                        _ if !own.surely || !other.surely => OverlapReason::Conditions,
                        Phase::Early => OverlapReason::BeforeWait,
                        Phase::Uncached => OverlapReason::ReadOnlyPath,
                        Phase::Late => OverlapReason::WaitForAnother,
                    };
                    let is_later = |(known, told): &((usize, u64), OverlapConflict)| {
                        (!told.why.is_certain(), *known) <= (!why.is_certain(), *place)
                    };
                    if found.as_ref().is_some_and(is_later) {
                        continue;
                    }
                    let byte = 4 * place.1 + u64::from((own.bytes & other.bytes).trailing_zeros());
                    let conflict = OverlapConflict {
                        param: place.0,
                        byte,
                        accesses: [self.access(own), earlier.access(other)],
                        why,
                    };
                    found = Some((*place, conflict));
                }
            }
        }
        found.map(|(_, conflict)| conflict)
    }
}

/// Which steps have ended where a launch begins, and after its wait.
#[derive(Clone, Debug, Default)]
struct Ended {
    early: FxHashSet<usize>,
    late: FxHashSet<usize>,
}

/// The launches of a side that may still overlap with later ones.
#[derive(Debug, Default)]
pub struct Overlaps {
    launches: Vec<(usize, Overlap)>,
    last: Ended,
}

impl Overlaps {
    /// Adds the next step; returns the step of an earlier launch, and conflicting accesses of both.
    pub fn add(&mut self, step: usize, overlap: Option<Overlap>) -> Option<(usize, OverlapConflict)> {
        let Some(overlap) = overlap else {
            *self = Overlaps::default();
            return None;
        };
        if !overlap.is_dependent {
            // All steps before it have ended.
            *self = Overlaps { launches: vec![(step, overlap)], last: Ended::default() };
            return None;
        }
        let Some((before, last)) = self.launches.last() else {
            self.launches.push((step, overlap));
            return None;
        };
        // What had ended before the launch before began, or by the time at which it let this one begin.
        let mut early = self.last.early.clone();
        if last.waits_first {
            early.extend(&self.last.late);
        }
        let mut late = early.clone();
        late.insert(*before);
        if last.waits {
            late.extend(&self.last.late);
        }
        let ended = Ended { early, late };
        let conflict = self.launches.iter().find_map(|(number, earlier)| {
            let phases =
                [(Phase::Early, &ended.early), (Phase::Uncached, &ended.early), (Phase::Late, &ended.late)];
            let open = phases.into_iter().filter(|(_, ended)| !ended.contains(number));
            let conflict = open.into_iter().find_map(|(phase, _)| overlap.conflict(earlier, phase));
            conflict.map(|conflict| (*number, conflict))
        });
        self.launches.push((step, overlap));
        self.last = ended;
        conflict
    }
}
