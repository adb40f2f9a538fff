//! Meetings of threads at barriers, so that messages can place a race between them.

use crate::concurrency::order::Access;
use crate::launch::Launch;
use crate::program::InstId;
use crate::verdict::{Meeting, Timeline};

/// Meetings are no longer noted beyond this many threads in total.
const MAX_ENTRIES: usize = 1 << 16;

/// The barriers and warp synchronisations of a CTA that runs with vector clocks, in order.
#[derive(Debug, Default)]
pub(crate) struct Meetings {
    met: Vec<Met>,
    entries: usize,
}

#[derive(Debug)]
struct Met {
    /// The instruction at which one of the threads stood.
    place: Option<InstId>,
    /// The threads, each with the stamp of its operations afterwards.
    threads: Vec<(u32, u32)>,
}

impl Meetings {
    /// Notes a meeting of threads, each with its stamp afterwards.
    pub(crate) fn note(&mut self, place: Option<InstId>, threads: impl Iterator<Item = (u32, u32)>) {
        if self.entries < MAX_ENTRIES {
            let threads: Vec<(u32, u32)> = threads.collect();
            self.entries += threads.len();
            self.met.push(Met { place, threads });
        }
    }

    /// Between which meetings two accesses happened; `None` where not all were noted.
    pub(crate) fn timeline(
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
