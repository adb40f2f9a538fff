//! How far the work on a case has come, for those who wait for it. Nothing that is decided depends on it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// CTAs are executed.
    Executing,
    /// Output elements are decided.
    Deciding,
    /// Proofs are compared with evaluation.
    Rechecking,
}

const ACTIVITIES: [Activity; 3] = [Activity::Executing, Activity::Deciding, Activity::Rechecking];

impl Activity {
    /// What is counted.
    fn counts(self) -> &'static str {
        match self {
            Activity::Executing => "CTAs",
            Activity::Deciding | Activity::Rechecking => "elements",
        }
    }
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Activity::Executing => "executing",
            Activity::Deciding => "deciding",
            Activity::Rechecking => "rechecking",
        })
    }
}

/// A phase, and how much of it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The phase.
    pub phase: Activity,
    /// What is done of it.
    pub done: u64,
    /// What there is to do, as far as it is known.
    pub all: u64,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { phase, done, all } = *self;
        write!(f, "{phase}")?;
        if all > 0 { write!(f, " {done} of {all} {}", phase.counts()) } else { Ok(()) }
    }
}

#[derive(Debug, Default)]
struct Counts {
    /// The number of the phase, from one on.
    phase: AtomicU8,
    done: AtomicU64,
    all: AtomicU64,
}

/// Counts what is done, if somebody looks at it.
#[derive(Clone, Debug, Default)]
pub struct Watch(Option<Arc<Counts>>);

impl PartialEq for Watch {
    /// Work that is watched is the same work.
    fn eq(&self, _: &Watch) -> bool {
        true
    }
}

impl Eq for Watch {}

impl Watch {
    /// A watch that counts.
    pub fn counting() -> Watch {
        Watch(Some(Arc::default()))
    }

    /// So much more is to be done, in a phase that begins with it or goes on.
    pub fn expect(&self, phase: Activity, more: u64) {
        let Some(counts) = &self.0 else { return };
        let number = phase as u8 + 1;
        if counts.phase.swap(number, Ordering::Relaxed) != number {
            counts.done.store(0, Ordering::Relaxed);
            counts.all.store(0, Ordering::Relaxed);
        }
        counts.all.fetch_add(more, Ordering::Relaxed);
    }

    /// So much is done.
    pub fn advance(&self, by: u64) {
        if let Some(counts) = &self.0 {
            counts.done.fetch_add(by, Ordering::Relaxed);
        }
    }

    /// Another case begins.
    pub fn restart(&self) {
        if let Some(counts) = &self.0 {
            counts.phase.store(0, Ordering::Relaxed);
        }
    }

    /// How far the work is; `None` before it begins.
    pub fn look(&self) -> Option<Seen> {
        let counts = self.0.as_ref()?;
        let number = usize::from(counts.phase.load(Ordering::Relaxed));
        let phase = *ACTIVITIES.get(number.checked_sub(1)?)?;
        let (done, all) = (counts.done.load(Ordering::Relaxed), counts.all.load(Ordering::Relaxed));
        Some(Seen { phase, done: done.min(all), all })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_count_anew() {
        let watch = Watch::counting();
        assert_eq!(watch.look(), None);
        watch.expect(Activity::Executing, 3);
        watch.expect(Activity::Executing, 1);
        watch.advance(1);
        assert_eq!(watch.look().map(|seen| seen.to_string()).as_deref(), Some("executing 1 of 4 CTAs"));
        watch.expect(Activity::Deciding, 0);
        assert_eq!(watch.look().map(|seen| seen.to_string()).as_deref(), Some("deciding"));
        watch.restart();
        assert_eq!(watch.look(), None);
        let unseen = Watch::default();
        unseen.expect(Activity::Deciding, 1);
        assert_eq!(unseen.look(), None);
    }
}
