//! Threads that had returned when others passed a barrier, and counted as arrived (rules Y3, Y4).

use crate::base::assumption::Assumption;
use crate::base::lane::LaneMask;
use crate::launch::Launch;
use crate::program::InstId;
use std::collections::BTreeMap;

/// Warps of a CTA.
const WARPS: usize = 32;

/// By instruction, the threads that counted as arrived there in some CTA. Independent of the schedule.
#[derive(Debug, Default)]
pub(crate) struct Returned(BTreeMap<InstId, [LaneMask; WARPS]>);

impl Returned {
    /// Notes that lanes of a warp had returned when others passed the barrier at `pc`.
    pub(crate) fn add(&mut self, pc: InstId, warp: usize, exited: LaneMask) {
        self.0.entry(pc).or_default()[warp] |= exited;
    }

    /// Adds what another CTA found.
    pub(crate) fn merge(&mut self, other: &Returned) {
        for (pc, masks) in &other.0 {
            let own = self.0.entry(*pc).or_default();
            own.iter_mut().zip(masks).for_each(|(own, mask)| *own |= *mask);
        }
    }

    /// One assumption for each barrier.
    pub(crate) fn assumptions(&self, launch: &Launch<'_>) -> impl Iterator<Item = Assumption> {
        self.0.iter().map(|(pc, masks)| {
            let threads = masks.iter().enumerate();
            let threads =
                threads.flat_map(|(warp, mask)| mask.iter().map(move |lane| 32 * warp + lane.index()));
            Assumption::relied(format!(
                "{}: {} had returned and count as arrived (Y3, Y4)",
                instruction(launch, *pc),
                spelled(threads)
            ))
        })
    }
}

/// `thread 3`, `threads 0, 2 to 5 and 9 more`.
fn spelled(threads: impl Iterator<Item = usize>) -> String {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for thread in threads {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == thread => *last = thread,
            _ => runs.push((thread, thread)),
        }
    }
    let shown = runs.len().min(4);
    let hidden: usize = runs[shown..].iter().map(|(first, last)| last - first + 1).sum();
    let list: Vec<String> = runs[..shown]
        .iter()
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first} to {last}") })
        .collect();
    let noun = if matches!(runs.as_slice(), [(first, last)] if first == last) { "thread" } else { "threads" };
    let more = if hidden == 0 { String::new() } else { format!(" and {hidden} more") };
    format!("{noun} {}{more}", list.join(", "))
}

/// An instruction at the beginning of a sentence: ``line 12 (`bar.sync 0`)``.
pub(crate) fn instruction(launch: &Launch<'_>, pc: InstId) -> String {
    let place = launch.place(pc);
    let (line, text) = place
        .map_or((0, String::new()), |place| (place.cuda.map_or(place.line, |cuda| cuda.line), place.text));
    format!("line {line} (`{}`)", text.trim_end_matches(';'))
}

#[cfg(test)]
mod tests {
    use super::spelled;

    #[test]
    fn threads_are_spelled_as_runs() {
        assert_eq!(spelled([7].into_iter()), "thread 7");
        assert_eq!(spelled(40..64), "threads 40 to 63");
        assert_eq!(spelled([0, 2, 3, 5].into_iter()), "threads 0, 2 to 3, 5");
        assert_eq!(spelled((0..32).step_by(2)), "threads 0, 2, 4, 6 and 12 more");
    }
}
