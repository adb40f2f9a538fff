//! Whether the verifier was compiled with optimization: a debug build is many times slower.

use std::io::Write as _;
use std::sync::Once;

/// Prints advice on standard error, once a process, if the verifier was compiled without optimization.
pub(crate) fn advise_once() {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        if let Some(advice) = advice(volta_core::OPT_LEVEL) {
            // The test harness captures `eprintln!`, and shows it only if a test fails.
            let _ = std::io::stderr().write_all(advice.as_bytes());
        }
    });
}

/// Advice for an optimization level, if it is too low.
fn advice(level: &str) -> Option<&'static str> {
    (level == "0").then_some(
        "volta: the verifier is compiled without optimization, and takes about ten times as long. In the Cargo.toml\n\
         volta: of the workspace, these lines compile it, and all other dependencies, to be fast:\n\
         \n\
         [profile.dev.package.\"*\"]\n\
         opt-level = 3\n\n",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_slow_build_is_told_of() {
        assert!(["1", "2", "3", "s", "z"].iter().all(|level| advice(level).is_none()));
        let advice = advice("0").expect("it is slow");
        assert!(advice.contains("\n[profile.dev.package.\"*\"]\nopt-level = 3\n"), "{advice}");
        assert!(advice.lines().all(|line| line.chars().count() <= 110), "{advice}");
    }
}
