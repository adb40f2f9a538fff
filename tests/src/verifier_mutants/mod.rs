//! Mutation testing of the verifier: small edits of its code by a list of [kinds](sites::Kind), drawn by a seed, each of
//! which the fast suites must detect.
//!
//! All mutants of a run are in one build: each is behind a switch with its number, and [`ACTIVE`] tells a test process
//! which of them is active. A mutant that no suite detects is a survivor. Survivors need a record with an argument why
//! no verdict can change ([`record`]), or a test.
//!
//! `cargo run -p volta-suite --bin verifier-mutants` ([`run`]).

pub mod draw;
pub mod record;
pub mod run;
pub mod sites;
pub mod source;

/// The environment variable with the number of the active mutant; without it, none is active.
pub const ACTIVE: &str = "VOLTA_MUTANT";
/// The environment variable that names the file to which a process writes the mutants that it has reached.
pub const REACHED: &str = "VOLTA_MUTANTS_REACHED";

/// The module that is added to the mutated crate: which mutant is active, and which were reached.
pub const SWITCH: &str = r#"//! Which mutant is on.
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

static ACTIVE: LazyLock<u32> =
    LazyLock::new(|| std::env::var("VOLTA_MUTANT").ok().and_then(|number| number.parse().ok()).unwrap_or(0));
static REACHED: LazyLock<Option<File>> = LazyLock::new(|| {
    let path = std::env::var_os("VOLTA_MUTANTS_REACHED")?;
    OpenOptions::new().create(true).append(true).open(path).ok()
});
static SEEN: [AtomicBool; 1 << 14] = [const { AtomicBool::new(false) }; 1 << 14];

pub(crate) fn on(number: u32) -> bool {
    if !SEEN[number as usize].load(Ordering::Relaxed) {
        SEEN[number as usize].store(true, Ordering::Relaxed);
        if let Some(mut file) = REACHED.as_ref() {
            let _ = file.write_all(format!("{number}\n").as_bytes());
        }
    }
    *ACTIVE == number
}
"#;
