//! Limits that come from outside of the verifier: the memory of the machine, and the user's timeout.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use volta_case::{Limit, Limits, duration};

/// Where nothing is known of the machine.
const SOME_MEMORY: u64 = 8 << 30;

/// Cases that run at the same time; 0 while nobody has said.
static JOBS: AtomicUsize = AtomicUsize::new(0);

/// Says how many cases run at the same time in this process, which share its memory.
pub fn share_among(jobs: usize) {
    JOBS.store(jobs.max(1), Ordering::Relaxed);
}

/// The limits of a case that says nothing: of memory, its share of half of the machine's.
pub fn of_machine() -> Limits {
    let jobs = match JOBS.load(Ordering::Relaxed) {
        0 => test_threads(),
        jobs => jobs,
    };
    let mut limits = Limits::default();
    limits[Limit::MemoryBytes] = memory() / 2 / jobs as u64;
    limits
}

/// As many tests as the ordinary harness runs at the same time.
fn test_threads() -> usize {
    let said = std::env::var("RUST_TEST_THREADS").ok().and_then(|threads| threads.parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    said.unwrap_or_else(cores).max(1)
}

/// Bytes that this process may take: what the machine has, or less where a limit is set.
fn memory() -> u64 {
    static MEMORY: OnceLock<u64> = OnceLock::new();
    *MEMORY.get_or_init(|| {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let number = |text: &str| text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
        let after =
            |text: &str, key: &str| text.lines().find_map(|line| line.strip_prefix(key)).and_then(number);
        let known = [
            after(&read("/proc/meminfo"), "MemTotal:").map(|kilobytes| kilobytes.saturating_mul(1024)),
            number(&read("/sys/fs/cgroup/memory.max")),
            after(&read("/proc/self/limits"), "Max address space"),
        ];
        known.into_iter().flatten().min().unwrap_or(SOME_MEMORY)
    })
}

/// `VOLTA_TIMEOUT`, which is for every case.
///
/// # Errors
/// When it is no time.
pub fn timeout_of_environment() -> Result<Option<Duration>, String> {
    match std::env::var("VOLTA_TIMEOUT") {
        Ok(text) if !text.is_empty() => {
            duration(&text).map(Some).map_err(|error| format!("VOLTA_TIMEOUT: {error}"))
        }
        Ok(_) | Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_share_the_memory() {
        share_among(1);
        let alone = of_machine()[Limit::MemoryBytes];
        share_among(4);
        assert_eq!(of_machine()[Limit::MemoryBytes], alone / 4);
        assert!(alone > 1 << 20, "{alone}");
    }
}
