//! What a run of a CTA, or of CTAs that run together, gives.

use super::access_pattern::AccessPatterns;
use super::bag::BagsOfCta;
use super::cta_class::ClassRun;
use super::memory::{Contribution, Page, Placed};
use super::output::{Lost, OutputValue};
use super::overlap::OverlapOfCta;
use super::perhaps::Accessed;
use super::possible::Possible;
use super::relied::Relied;
use super::stop::Stop;
use super::work::{Counts, Taken};
use crate::term::Store;
use crate::verdict::Site;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A CTA that ran to its end.
pub(super) struct Ran {
    pub(super) store: Store,
    pub(super) pages: Vec<Placed<Box<Page>>>,
    /// The contributions of its atomics, in a launch of several CTAs.
    pub(super) contributions: Vec<Placed<Contribution>>,
    /// Accesses that happen for some inputs only, in a launch of several CTAs.
    pub(super) perhaps: Vec<Accessed>,
    pub(super) outputs: Vec<(usize, u64, OutputValue)>,
    pub(super) unevaluated: Vec<(usize, u64)>,
    /// The first output element that it leaves without a value for some inputs, in a launch of several CTAs.
    pub(super) unwritten: Option<Box<Unwritten>>,
    /// Outputs that are compared as multisets.
    pub(super) bags: BagsOfCta,
    pub(super) lost: Vec<Lost>,
    /// Variables that it wrote and that the case does not give.
    pub(super) written_variables: BTreeSet<u32>,
    pub(super) counts: Counts,
    pub(super) exact: bool,
    pub(super) patterns: Option<Box<AccessPatterns>>,
    pub(super) overlap: Option<Box<OverlapOfCta>>,
    /// What other orders of atomic operations left.
    pub(super) others: Others,
}

/// An output element that a CTA writes for some inputs only.
pub(super) struct Unwritten {
    /// The tensor and the cell.
    pub(super) place: (u32, u64),
    /// The fault, unless other CTAs write it for the other inputs. Its store is that of the CTA.
    pub(super) possible: Possible,
}

/// A CTA that ran, to its end or not.
pub(super) struct CtaRun {
    pub(super) done: Result<Ran, Stop>,
    pub(super) taken: Taken,
    pub(super) relied: Relied,
    /// The object in which threads race, if it ended with a race.
    pub(super) raced: Option<u32>,
    /// The CTAs for which it runs, if it is not the only one.
    pub(super) class: Option<Box<ClassRun>>,
}

impl CtaRun {
    /// One that has not begun.
    pub(super) fn new() -> CtaRun {
        CtaRun {
            done: Err(Stop::NeedVectorClocks),
            taken: Taken::default(),
            relied: Relied::default(),
            raced: None,
            class: None,
        }
    }
}

/// What other orders left in place of what a run left.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// Their stores.
    pub(super) stores: Vec<Store>,
    /// Element, its value in the first order, that in another one, and the index of that one's store.
    pub(super) differing: Vec<(usize, u64, OutputValue, OutputValue, usize)>,
    /// Whether there are orders for which no run speaks.
    pub(super) are_partial: bool,
    /// The operations that may come in several orders.
    pub(super) sites: Arc<[Site]>,
}
