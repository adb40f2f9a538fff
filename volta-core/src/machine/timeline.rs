//! Which threads met where, so that a race can be told by the barriers around it.

use super::bind::Launch;
use super::race::Access;
use crate::program::InstId;
use crate::verdict::{Meeting, Timeline};

/// Beyond so many threads in meetings, nothing is noted any more.
const MAX_ENTRIES: usize = 1 << 16;

/// The barriers and warp synchronisations of a CTA that runs with vector clocks, in order.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    met: Vec<Met>,
    entries: usize,
}

#[derive(Debug)]
struct Met {
    /// Where one of the threads stood.
    place: Option<InstId>,
    /// Who met, each with the stamp of what it does afterwards.
    threads: Vec<(u32, u32)>,
}

impl Meetings {
    /// Notes a meeting of threads, each with its stamp afterwards.
    pub(super) fn note(&mut self, place: Option<InstId>, threads: impl Iterator<Item = (u32, u32)>) {
        if self.entries < MAX_ENTRIES {
            let threads: Vec<(u32, u32)> = threads.collect();
            self.entries += threads.len();
            self.met.push(Met { place, threads });
        }
    }

    /// When two accesses happened; `None` where not all was noted.
    pub(super) fn timeline(
        &self,
        launch: &Launch<'_>,
        cluster: u64,
        accesses: [&Access; 2],
    ) -> Option<Box<Timeline>> {
        if self.entries >= MAX_ENTRIES {
            return None;
        }
        let (mut meetings, mut after) = (Vec::new(), [0; 2]);
        for met in &self.met {
            let stamps = accesses.map(|access| {
                met.threads.iter().find(|(thread, _)| *thread == access.thread).map(|(_, stamp)| *stamp)
            });
            if stamps == [None; 2] {
                continue;
            }
            meetings.push(Meeting {
                place: met.place.and_then(|inst| launch.place(inst)),
                joins: stamps.map(|stamp| stamp.is_some()),
                threads: met.threads.len() as u64,
            });
            for (at, access) in accesses.iter().enumerate() {
                if stamps[at].is_some_and(|stamp| stamp <= access.stamp) {
                    after[at] = meetings.len();
                }
            }
        }
        let threads = accesses.map(|access| launch.thread(cluster, access.thread));
        Some(Box::new(Timeline { threads, meetings, after }))
    }
}
