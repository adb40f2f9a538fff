//! How threads wait for each other, and what each knows of the others: barriers, phases, flags, tickets, clusters,
//! asynchronous copies and products, and the race detector's clocks.

use super::cluster::Cluster;
use super::flag_condition::Condition;
use super::register_pool::RegisterPools;
use super::tickets::Tickets;
use super::timeline::Meetings;
use crate::base::budget::Held;
use crate::concurrency::barrier_arrivals::Barriers;
use crate::concurrency::copies_in_flight::Copies;
use crate::concurrency::epoch::Now;
use crate::concurrency::flag_changes::Flags;
use crate::concurrency::mbarrier_phases::Mbarriers;
use crate::concurrency::products_in_flight::Products;
use crate::concurrency::race::{Detector, VectorClockDetector};
use crate::machine::group::context::Context;
use crate::machine::group::warp::Warp;

/// The way in which a CTA is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All warps in lockstep while they agree; races by epochs.
    Lockstep,
    /// One warp after the other; races by epochs.
    WarpByWarp,
    /// One warp after the other; races by vector clocks. CTAs that run together use no other mode.
    VectorClocks,
    /// Likewise, and what guards exclude is found [by counting](super::exec).
    Counting,
    /// As with vector clocks; where a value is used that nothing has written, its warp stops, and the others go on: one of
    /// them may write what was read.
    PastUndefined,
}

impl Mode {
    /// Whether races are found by vector clocks.
    pub(crate) fn has_vector_clocks(self) -> bool {
        match self {
            Mode::Lockstep | Mode::WarpByWarp => false,
            Mode::VectorClocks | Mode::Counting | Mode::PastUndefined => true,
        }
    }
}

/// The synchronisation of a CTA's threads.
pub(crate) struct Synchronisation<'l> {
    pub(crate) context: Context<'l>,
    pub(crate) order: Detector,
    pub(crate) barriers: Barriers,
    /// Those in shared memory.
    pub(crate) mbarriers: Mbarriers,
    /// The locations for which loops wait.
    pub(crate) flags: Flags<Condition>,
    /// Tickets drawn from counters.
    pub(crate) tickets: Tickets,
    /// The state that CTAs of a cluster share.
    pub(crate) cluster: Cluster,
    /// Asynchronous copies in flight, by thread.
    pub(crate) copies: Vec<Copies>,
    /// By warp, the state of its products of warpgroups; empty if the kernel has none, or without vector clocks.
    pub(crate) products: Vec<Products>,
    /// The registers that warps give back and take.
    pub(crate) pools: RegisterPools,
    /// The object in which threads race, if known.
    pub(crate) raced: Option<u32>,
    /// With vector clocks: which threads met where.
    pub(crate) meetings: Meetings,
}

impl<'l> Synchronisation<'l> {
    /// Before the first instruction, with the detector of this mode.
    pub(crate) fn new(context: Context<'l>, mode: Mode) -> Synchronisation<'l> {
        let Context { launch, options, .. } = context;
        let ranks = launch.ranks();
        let multiplies = mode.has_vector_clocks() && launch.program.multiplies();
        let warp_count = if multiplies { launch.warps() * ranks as usize } else { 0 };
        let products = vec![Products::new(launch.program.registers); warp_count];
        Synchronisation {
            context,
            order: if mode.has_vector_clocks() {
                let strict = options.rules.strict_proxies;
                let (all, of_cta) = (launch.thread_numbers(), 32 * launch.warps());
                let mut exact = VectorClockDetector::new(all, of_cta, strict);
                exact.is_of_grid = launch.cooperative;
                Detector::VectorClock(Box::new(exact))
            } else {
                Detector::Epoch(1)
            },
            barriers: Barriers::new(ranks),
            mbarriers: Mbarriers::default(),
            flags: Flags::new(32 * launch.warps()),
            tickets: Tickets::default(),
            cluster: if mode.has_vector_clocks() {
                Cluster::new(launch.thread_numbers(), (0..ranks).map(|rank| launch.numbers_of(rank)))
            } else {
                Cluster::default()
            },
            copies: Vec::new(),
            products,
            pools: RegisterPools::new(&launch.program.bounds, ranks, launch.warps() * ranks as usize),
            raced: None,
            meetings: Meetings::default(),
        }
    }

    /// The number of the next access that vector clocks record.
    pub(crate) fn next_access(&self) -> Option<u32> {
        match &self.order {
            Detector::VectorClock(exact) => Some(exact.next()),
            Detector::Epoch(_) => None,
        }
    }
}

impl Synchronisation<'_> {
    /// The time of a warp's accesses, for the epoch detector.
    #[inline]
    pub(crate) fn now(&self, warp: &Warp) -> Now {
        let epoch = match &self.order {
            Detector::Epoch(epoch) => *epoch,
            Detector::VectorClock(_) => 0,
        };
        Now { epoch, sync: warp.syncs, warp: warp.index as u16 }
    }

    /// The memory that the state takes.
    pub(crate) fn kept(&self) -> Held {
        let accesses = match &self.order {
            Detector::Epoch(_) => 0,
            Detector::VectorClock(exact) => exact.bytes() + exact.clocks.kept_bytes(),
        };
        let products = self.products.iter().map(Products::bytes).sum::<u64>();
        let state = self.mbarriers.bytes() + self.flags.bytes() + self.tickets.bytes() + products;
        Held { state, accesses, ..Held::default() }
    }
}
