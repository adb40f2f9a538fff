//! The report of a deadlock (rule Y5): which threads wait where, and for what.

use crate::base::lane::LaneMask;
use crate::machine::cta::Cta;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::Warp;
use crate::program::{Async, Effect, InstId, Op, Wait};
use crate::verdict::FaultKind;
use std::fmt;

/// The most places that a message shows.
const MAX_WAITS: usize = 8;

/// What threads wait for that want a lock.
const FOR_A_LOCK: &str = "for the lock";

/// A place where lanes of a warp wait, or all lanes of several consecutive warps.
#[derive(Debug)]
struct Waits {
    rank: u32,
    first: usize,
    last: usize,
    thread: u32,
    /// The number of waiting lanes, and of lanes that the warp has.
    lanes: (u32, u32),
    is_whole: bool,
    pc: InstId,
    what: String,
}

impl fmt::Display for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Waits { first, last, lanes: (lanes, of), what, .. } = self;
        if first < last {
            return write!(f, "and all of warps {first} to {last} wait {what}");
        }
        let verb = if *lanes == 1 { "waits" } else { "wait" };
        write!(f, "{lanes} of {of} lanes of warp {first} {verb} {what}")
    }
}

impl Cta<'_> {
    /// The fault if no thread can proceed: which threads wait where, and for what.
    #[cold]
    pub(crate) fn deadlock(&self, warps: &[Warp]) -> Stop {
        // Consecutive warps that wait for the same are reported as one site.
        let mut places: Vec<Waits> = Vec::new();
        for warp in warps {
            let mut rest = warp.live();
            while !rest.is_empty() {
                let (group, pc, _) = warp.lowest(rest);
                rest &= !group;
                let what = self.waiting_for(warps, warp, group, pc);
                let is_whole = group == warp.exists;
                let same = |last: &&mut Waits| {
                    let follows = (last.rank, last.last + 1) == (warp.rank, warp.number);
                    is_whole && last.is_whole && follows && (last.pc, &last.what) == (pc, &what)
                };
                match places.last_mut().filter(same) {
                    Some(last) => last.last = warp.number,
                    None => {
                        let thread = warp.thread(group.first());
                        let (rank, first) = (warp.rank, warp.number);
                        let lanes = (group.count(), warp.exists.count());
                        places.push(Waits { rank, first, last: first, thread, lanes, is_whole, pc, what });
                    }
                }
            }
        }
        let threads: u32 = warps.iter().map(|warp| warp.live().count()).sum();
        let shown = &places[..places.len().min(MAX_WAITS)];
        let hidden = match places.len() - shown.len() {
            0 => String::new(),
            1 => ", 1 place more".to_owned(),
            more => format!(", {more} places more"),
        };
        let are_of_locks = places.iter().any(|waits| waits.what.starts_with(FOR_A_LOCK));
        let message = match threads {
            _ if are_of_locks => format!("a lock is not given back, and others wait for it{hidden}"),
            1 => format!("a thread waits for what nobody does{hidden}"),
            _ => format!("{threads} threads wait for each other, and none can proceed{hidden}"),
        };
        let sites =
            shown.iter().map(|waits| self.context.site_of_thread(waits.to_string(), waits.thread, waits.pc));
        self.context
            .fault_at(FaultKind::Deadlock, "Y5", message, sites.collect(), self.sync.help_with_new_barriers())
            .with_phases(self.sync.phases_waited_for())
    }

    fn waiting_for(&self, warps: &[Warp], warp: &Warp, group: LaneMask, pc: InstId) -> String {
        let lane = group.first();
        let op = &self.context.launch.program.insts[pc.index()].op;
        if let Op::Barrier { id, count, .. } = op {
            let Ok(id) = self.values.terms.concrete(warp, *id, lane, pc, "") else {
                return "at a barrier".to_owned();
            };
            let arrived = self.sync.barriers.arrived(warp.rank, id);
            let expected = match count {
                Some(count) => match self.values.terms.concrete(warp, *count, lane, pc, "") {
                    Ok(threads) => format!("{threads} threads"),
                    Err(_) => "its count".into(),
                },
                None => {
                    let own = |other: &&Warp| other.rank == warp.rank && !other.live().is_empty();
                    let live = warps.iter().filter(own).count();
                    format!("all {live} warps that have not returned")
                }
            };
            let warps = if arrived == 1 { "warp has" } else { "warps have" };
            return format!("at barrier {id} for {expected}; {arrived} {warps} arrived");
        }
        if let Op::Async(Async::SetRegisters { count, .. }) = op
            && group == warp.live()
        {
            return self.sync.registers_waited_for(warp, *count);
        }
        if let Effect::Waits(Wait::Warp(_)) = op.effect() {
            let missing = warp.sync_masks[lane] & warp.live() & !warp.at_warp_sync;
            return format!("at a warp barrier for lanes {missing:#010x}");
        }
        let meets_cluster =
            matches!(op, Op::Async(Async::ArriveAtCluster { .. } | Async::WaitForCluster { .. }));
        if meets_cluster && group != warp.live() {
            return "for the other lanes of the warp, which arrive at the cluster's barrier together"
                .to_owned();
        }
        if meets_cluster {
            let (arrived, live) = self.sync.cluster.arrived();
            return format!("for the cluster's barrier; {arrived} of {live} threads have arrived");
        }
        if let Some(which) = self.sync.lock_waited_for(warp.thread(lane)) {
            return format!("{FOR_A_LOCK} {which}");
        }
        if let Some(what) = self.sync.flag_of(&self.values.terms, warp, lane) {
            return what;
        }
        if let Effect::Waits(Wait::Phase) = op.effect() {
            let what = self.sync.phase_waited_for(warp, lane);
            return what.unwrap_or_else(|| "for a phase of a barrier".to_owned());
        }
        "for the other lanes of the mask at this instruction".to_owned()
    }
}
