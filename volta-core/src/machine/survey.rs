//! What a CTA has found that goes on behind its faults (rule R2), and what of it is in doubt.

use std::collections::BTreeSet;

use super::race::Conflict;
use super::value::Origin;
use crate::program::InstId;
use crate::verdict::{CudaPlace, Fault, FaultKind};

/// What makes two findings one: their kind, and the instructions that they are about, as the source has them: copies of
/// an unrolled loop are one.
pub(super) type Key = (&'static str, BTreeSet<SiteKey>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SiteKey {
    Cuda(CudaPlace),
    Ptx(u32, u32),
    Nowhere(String),
}

/// What a CTA that goes on behind its faults has found.
#[derive(Debug, Default)]
pub(super) struct Survey {
    pub(super) found: Vec<Fault>,
    /// Those of other CTAs, and the first fault of all, as well.
    told: BTreeSet<Key>,
    /// Instructions of which it is known that they race.
    races: BTreeSet<(InstId, InstId)>,
    /// Objects in which threads race, or that a store was to change that was not made. All that they hold is in doubt, at
    /// any time: what was read before the race was met might as well have been something else, and where the same race
    /// is not met any more since the run ends, it is one.
    pub(super) objects: BTreeSet<u32>,
    /// Some of these were not known when this run began.
    pub(super) objects_are_new: bool,
    /// A store went nowhere: where nothing is written, it may have been meant to write.
    lacks_stores: bool,
    /// Some value is in doubt.
    doubts: bool,
}

impl Survey {
    /// Before a run, in which nothing that is told is found again, and of some objects it is known that what they hold is
    /// in doubt.
    pub(super) fn new(told: BTreeSet<Key>, objects: BTreeSet<u32>) -> Survey {
        Survey { told, objects, ..Survey::default() }
    }

    /// Notes a finding, if it is not known already.
    pub(super) fn note(&mut self, fault: Fault) {
        if self.told.insert(key(&fault)) {
            self.found.push(fault);
        }
    }

    /// Whether two instructions race that are not known to.
    pub(super) fn is_new_race(&mut self, conflict: &Conflict) -> bool {
        self.races.insert((conflict.earlier.inst, conflict.later.inst))
    }

    /// What an object holds is in doubt from now on, and was before.
    pub(super) fn doubt_object(&mut self, object: u32) {
        self.doubts = true;
        self.objects_are_new |= self.objects.insert(object);
    }

    /// Whether what an object holds is in doubt, which somebody looks at.
    pub(super) fn looks_at(&mut self, object: u32) -> bool {
        let is_in_doubt = self.objects.contains(&object);
        self.doubts |= is_in_doubt;
        is_in_doubt
    }

    /// A load gave nothing.
    pub(super) fn lacks_load(&mut self) {
        self.doubts = true;
    }

    /// A store was not made.
    pub(super) fn lacks_store(&mut self) {
        self.lacks_stores = true;
    }

    /// Whether a value that is undefined for that reason may be a consequence of a finding.
    pub(super) fn is_in_doubt(&self, origin: Origin) -> bool {
        match origin {
            Origin::Doubtful(_) => true,
            Origin::Unwritten(_) => self.lacks_stores,
            // On the way into a matrix, say, a value loses its origin.
            Origin::Invalid(_) => self.doubts,
            Origin::Unpredictable(_) | Origin::Unevaluated(_) | Origin::State(_) | Origin::Columns(_) => {
                false
            }
        }
    }

    /// Whether a fault at which the run ends is no consequence of a finding. Those that come from what values are, and
    /// not from where threads are and what they wait for, may be, as soon as some value is in doubt.
    pub(super) fn stands(&self, fault: &Fault) -> bool {
        match fault.kind {
            FaultKind::Race
            | FaultKind::ProxyRace
            | FaultKind::BarrierMisuse
            | FaultKind::InFlight
            | FaultKind::Allocation
            | FaultKind::Deadlock
            | FaultKind::BarrierDivergence
            | FaultKind::AmbiguousBarrier
            | FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Uninitialised
            | FaultKind::Assertion
            | FaultKind::ReadOnly
            | FaultKind::Nondeterministic => true,
            FaultKind::Undefined
            | FaultKind::TypeMismatch
            | FaultKind::DependsOnRounding
            | FaultKind::InputDependentControl
            | FaultKind::Unsupported => !self.doubts,
        }
    }
}

pub(super) fn key(fault: &Fault) -> Key {
    let site = |site: &crate::verdict::Site| match &site.place {
        Some(place) => match &place.cuda {
            Some(cuda) => SiteKey::Cuda(cuda.clone()),
            None => SiteKey::Ptx(place.line, place.column),
        },
        None => SiteKey::Nowhere(site.action.clone()),
    };
    (fault.kind.name(), fault.sites.iter().map(site).collect())
}
