//! Limits that do not come from the case: the memory of the machine, and the user's timeout.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use volta_case::{Limit, Limits, duration};

/// The memory that is assumed if that of the machine is unknown.
const SOME_MEMORY: u64 = 8 << 30;

/// The number of cases that run concurrently; 0 if it was not set.
static JOBS: AtomicUsize = AtomicUsize::new(0);

/// Sets the number of cases that run concurrently in this process and share its memory.
pub fn share_among(jobs: usize) {
    JOBS.store(jobs.max(1), Ordering::Relaxed);
}

/// The default limits of a case. The limit of memory is its share of half of the machine's memory.
pub fn of_machine() -> Limits {
    let jobs = match JOBS.load(Ordering::Relaxed) {
        0 => test_threads(),
        jobs => jobs,
    };
    let mut limits = Limits::default();
    limits[Limit::MemoryBytes] = memory() / 2 / jobs as u64;
    limits
}

/// The number of tests that the standard test harness runs concurrently.
fn test_threads() -> usize {
    let said = std::env::var("RUST_TEST_THREADS").ok().and_then(|threads| threads.parse().ok());
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    said.unwrap_or_else(cores).max(1)
}

/// The memory that this process may use, in bytes: the machine's, or less if a cgroup or `ulimit` limits it.
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

/// The time limit of `VOLTA_TIMEOUT`, which applies to every case.
///
/// # Errors
/// When the variable is not a duration.
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
