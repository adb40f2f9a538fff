//! What a run of a CTA, or of CTAs that run together, gives.

use super::bags::BagsOfCta;
use super::output::{Lost, OutputValue};
use crate::machine::cta::work::{Counts, Taken};
use crate::machine::cta_class::ClassRun;
use crate::machine::group::assumptions::Relied;
use crate::machine::group::possible::Possible;
use crate::machine::group::premises::Premises;
use crate::machine::group::stop::Stop;
use crate::machine::memory::access_pattern::AccessPatterns;
use crate::machine::memory::contents::{Contribution, Page, Placed};
use crate::machine::memory::overlap::OverlapOfCta;
use crate::machine::memory::perhaps::Accessed;
use crate::term::Store;
use crate::verdict::Site;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A CTA that ran to its end.
pub(crate) struct Ran {
    pub(crate) store: Store,
    pub(crate) pages: Vec<Placed<Box<Page>>>,
    /// The contributions of its atomics, in a launch of several CTAs.
    pub(crate) contributions: Vec<Placed<Contribution>>,
    /// Accesses that happen for some inputs only, in a launch of several CTAs.
    pub(crate) perhaps: Vec<Accessed>,
    pub(crate) outputs: Vec<(usize, u64, OutputValue)>,
    pub(crate) unevaluated: Vec<(usize, u64)>,
    /// The first output element that it leaves without a value for some inputs, in a launch of several CTAs.
    pub(crate) unwritten: Option<Box<Unwritten>>,
    /// Outputs that are compared as multisets.
    pub(crate) bags: BagsOfCta,
    pub(super) lost: Vec<Lost>,
    /// Variables that it wrote and that the case does not give.
    pub(super) written_variables: BTreeSet<u32>,
    pub(crate) counts: Counts,
    pub(crate) exact: bool,
    /// What each of its runs was about: one run without premises, or several that are about all inputs together.
    pub(crate) premises: Vec<Arc<Premises>>,
    pub(crate) patterns: Option<Box<AccessPatterns>>,
    pub(crate) overlap: Option<Box<OverlapOfCta>>,
    /// What other orders of atomic operations left.
    pub(crate) others: Others,
}

/// An output element that a CTA writes for some inputs only.
pub(crate) struct Unwritten {
    /// The tensor and the cell.
    pub(crate) place: (u32, u64),
    /// The fault, unless other CTAs write it for the other inputs. Its store is that of the CTA.
    pub(crate) possible: Possible,
}

/// A CTA that ran, to its end or not.
pub(crate) struct CtaRun {
    pub(crate) done: Result<Ran, Stop>,
    pub(crate) taken: Taken,
    pub(crate) relied: Relied,
    /// What the run is about.
    pub(crate) premises: Arc<Premises>,
    /// The object in which threads race, if it ended with a race.
    pub(crate) raced: Option<u32>,
    /// The CTAs for which it runs, if it is not the only one.
    pub(crate) class: Option<Box<ClassRun>>,
}

impl CtaRun {
    /// One for all inputs that has not begun.
    pub(crate) fn new() -> CtaRun {
        CtaRun::about(Arc::default())
    }

    /// One for the inputs that fulfil some premises that has not begun.
    pub(super) fn about(premises: Arc<Premises>) -> CtaRun {
        CtaRun {
            premises,
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
pub(crate) struct Others {
    /// Their stores.
    pub(crate) stores: Vec<Store>,
    /// Element, its value in the first order, that in another one, and the index of that one's store.
    pub(super) differing: Vec<(usize, u64, OutputValue, OutputValue, usize)>,
    /// Whether there are orders for which no run speaks.
    pub(super) are_partial: bool,
    /// The operations that may come in several orders.
    pub(crate) sites: Arc<[Site]>,
}
