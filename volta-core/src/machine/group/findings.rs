//! State of a CTA that continues after its faults (rule R2): its findings, and which values are in doubt.

use crate::concurrency::race::Conflict;
use crate::program::InstId;
use crate::value::Origin;
use crate::verdict::{CudaPlace, Fault, FaultKind};
use std::collections::BTreeSet;

/// The identity of a finding: its kind, and the source positions of its instructions, so that copies in an unrolled
/// loop are one.
pub(crate) type Key = (&'static str, BTreeSet<SiteKey>);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SiteKey {
    Cuda(CudaPlace),
    Ptx(u32, u32),
    Nowhere(String),
}

/// The findings of a CTA that continues after its faults.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) found: Vec<Fault>,
    /// Findings already reported, including the first fault and those of other CTAs.
    told: BTreeSet<Key>,
    /// Pairs of instructions known to race.
    races: BTreeSet<(InstId, InstId)>,
    /// Objects in which threads race, or in which a store was left out. All their contents are in doubt, at any time:
    /// what was read before the race was found might have been another value, and where the run ends before the same
    /// race is found again, it still is a race.
    pub(crate) objects: BTreeSet<u32>,
    /// Whether this run added some of these.
    pub(crate) objects_are_new: bool,
    /// Whether a store was left out: unwritten memory may be its target.
    lacks_stores: bool,
    /// Whether some value is in doubt.
    doubts: bool,
}

impl Findings {
    /// The state before a run, which does not report what `told` contains and in which the contents of `objects` are in
    /// doubt.
    pub(crate) fn new(told: BTreeSet<Key>, objects: BTreeSet<u32>) -> Findings {
        Findings { told, objects, ..Findings::default() }
    }

    /// Notes a finding, unless it is already reported.
    pub(crate) fn note(&mut self, fault: Fault) {
        if self.told.insert(key(&fault)) {
            self.found.push(fault);
        }
    }

    /// Whether a race of two instructions is not known yet.
    pub(crate) fn is_new_race(&mut self, conflict: &Conflict) -> bool {
        self.races.insert((conflict.earlier.inst, conflict.later.inst))
    }

    /// Puts the contents of an object in doubt, for this run and the next.
    pub(crate) fn doubt_object(&mut self, object: u32) {
        self.doubts = true;
        self.objects_are_new |= self.objects.insert(object);
    }

    /// Whether the contents of an object that is read are in doubt; notes that they are.
    pub(crate) fn looks_at(&mut self, object: u32) -> bool {
        let is_in_doubt = self.objects.contains(&object);
        self.doubts |= is_in_doubt;
        is_in_doubt
    }

    /// Notes that a load was left out.
    pub(crate) fn lacks_load(&mut self) {
        self.doubts = true;
    }

    /// Notes that a store was left out.
    pub(crate) fn lacks_store(&mut self) {
        self.lacks_stores = true;
    }

    /// Whether a value with this origin may be undefined as a consequence of a finding.
    pub(crate) fn is_in_doubt(&self, origin: Origin) -> bool {
        match origin {
            Origin::Doubtful(_) => true,
            Origin::Unwritten(_) => self.lacks_stores,
            Origin::Partly(_) => self.lacks_stores || self.doubts,
            // Values lose their origin in matrices, for example.
            Origin::Invalid(_) => self.doubts,
            Origin::Unpredictable(_) | Origin::Unevaluated(_) | Origin::State(_) | Origin::Columns(_) => {
                false
            }
        }
    }

    /// Whether a fault that ends the run is no consequence of a finding. As soon as some value is in doubt, faults
    /// about values may be one; faults about where threads stand and what they wait for are not.
    pub(crate) fn stands(&self, fault: &Fault) -> bool {
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
            | FaultKind::Unsupported
            | FaultKind::Overflow => !self.doubts,
        }
    }
}

pub(crate) fn key(fault: &Fault) -> Key {
    let site = |site: &crate::verdict::Site| match &site.place {
        Some(place) => match &place.cuda {
            Some(cuda) => SiteKey::Cuda(cuda.clone()),
            None => SiteKey::Ptx(place.line, place.column),
        },
        None => SiteKey::Nowhere(site.action.clone()),
    };
    (fault.kind.name(), fault.sites.iter().map(site).collect())
}
