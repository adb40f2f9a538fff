//! The runner behind [`crate::main!`]: every case is a trial of its own.
//!
//! Known limitations, all of `libtest-mimic`: output is not captured, and there is at most one filter.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::cache::Cache;
use crate::cli;
use crate::discover::{Found, discover};
use crate::limits;
use crate::manifest;
use crate::members::Outcomes;
use crate::nvcc::Toolchain;
use crate::registry::{Registered, registered};
use crate::render::{self, Paint};
use crate::run::{Outcome, Settings, run};
use crate::snapshot::Policy;
use crate::speed;
use crate::{beside::normalized, case::Case};

/// What a test binary runs.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// `CARGO_MANIFEST_DIR` of the crate.
    pub manifest_dir: &'static str,
    /// Fixture folders, relative to the manifest.
    pub fixtures: &'static [&'static str],
}

/// Where a trial comes from.
enum Source {
    Attribute(&'static Registered),
    Folder { dir: PathBuf, root: PathBuf },
    Wrong(String),
}

/// Runs the suite with the arguments of the process.
pub fn main(suite: Suite) -> ExitCode {
    let arguments = Arguments::from_args();
    let sources = sources(&suite, &arguments);
    let toolchain = Arc::new(Toolchain::from_environment());
    if !arguments.list && matches!(toolchain.compiler(), Ok(None)) {
        eprintln!("volta: no nvcc is used; the PTX checked in beside the sources is verified");
    }
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    limits::share_among(arguments.test_threads.unwrap_or_else(cores));
    let run_slow = slow_is_wanted();
    let families = Arc::new(Mutex::new(Outcomes::default()));
    let trials =
        sources.into_iter().map(|(name, sources)| trial(name, sources, run_slow, &toolchain, &families));
    let trials = trials.collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Ok(families) = families.lock() {
        families.lines().for_each(|line| eprintln!("volta: {line}"));
    }
    if !arguments.list
        && let Ok(Some(cache)) = Cache::of_process()
        && let (found @ 1.., asked) = cache.counts()
    {
        eprintln!(
            "volta: {found} of {asked} verdicts are those of an earlier run; VOLTA_CACHE=off verifies all"
        );
    }
    conclusion.exit_code()
}

/// Whether slow cases run even if they are not selected by name: with `VOLTA_SLOW=1`, or in CI.
pub fn slow_is_wanted() -> bool {
    let is_set = |name| {
        std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0" && value != "false")
    };
    match std::env::var_os("VOLTA_SLOW") {
        Some(_) => is_set("VOLTA_SLOW"),
        None => is_set("CI"),
    }
}

/// Every case by name. Of each case, only the name and `slow` are read.
fn sources(suite: &Suite, arguments: &Arguments) -> BTreeMap<String, Vec<Source>> {
    let mut sources: BTreeMap<String, Vec<Source>> = BTreeMap::new();
    let mut add = |name: String, source| sources.entry(name).or_default().push(source);
    for case in registered() {
        add(case.name(), Source::Attribute(case));
    }
    for fixtures in suite.fixtures {
        let root = normalized(&manifest_dir(suite.manifest_dir).join(fixtures));
        for found in discover(&root) {
            match found {
                Found::Case { name, dir, .. } => add(name, Source::Folder { dir, root: root.clone() }),
                Found::Wrong { name, message } => add(name, Source::Wrong(message)),
            }
        }
    }
    if sources.is_empty() {
        let message = "there is no case: neither an attribute in this crate nor a fixtures folder";
        sources.entry("no_cases".into()).or_default().push(Source::Wrong(message.into()));
    }
    if arguments.exact
        && let Some(wanted) = &arguments.filter
    {
        sources.retain(|name, _| name == wanted);
    }
    sources
}

/// The manifest's folder at run time, which differs from the compiled-in one in a moved checkout or a test archive.
pub fn manifest_dir(compiled: &str) -> PathBuf {
    let now = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    now.filter(|dir| dir.is_dir()).unwrap_or_else(|| PathBuf::from(compiled))
}

fn trial(
    name: String,
    mut sources: Vec<Source>,
    run_slow: bool,
    toolchain: &Arc<Toolchain>,
    families: &Arc<Mutex<Outcomes>>,
) -> Trial {
    if sources.len() > 1 {
        let message = format!("{} cases are called {name}", sources.len());
        return Trial::test(name, move || Err(Failed::from(message)));
    }
    let Some(source) = sources.pop() else { return Trial::test(name, || Ok(())) };
    let is_slow = match &source {
        Source::Attribute(case) => case.slow,
        Source::Folder { dir, .. } => manifest::is_slow(dir),
        Source::Wrong(_) => false,
    };
    let (toolchain, families) = (Arc::clone(toolchain), Arc::clone(families));
    let case_name = name.clone();
    let test = move || {
        let checked = load(source, &case_name).and_then(|case| check(&case, &toolchain));
        if let Ok(mut families) = families.lock() {
            families.add(&case_name, checked.is_ok());
        }
        checked.map_err(Failed::from)
    };
    Trial::test(name, test).with_ignored_flag(is_slow && !run_slow)
}

fn load(source: Source, name: &str) -> Result<Case, String> {
    match source {
        Source::Attribute(registered) => registered.case(),
        Source::Folder { dir, root } => manifest::load(name, &dir, &root).map_err(|unreadable| {
            format!("the case cannot be read\n{}", render::unreadable(&unreadable, paint()))
        }),
        Source::Wrong(message) => Err(message),
    }
}

/// Runs a case and compares its snapshot.
///
/// # Errors
/// The complete message, when the case is not as expected.
pub fn check(case: &Case, toolchain: &Toolchain) -> Result<(), String> {
    speed::advise_once();
    let policy = Policy::Required;
    let settings =
        Settings { cache: Cache::of_process()?, snapshot: policy.concerns(case), ..Settings::default() };
    let mut run = run(case, toolchain, settings);
    run.compare(case, policy);
    let run = cli::write_result(case, run)?;
    if run.outcome() != Outcome::Passed {
        return Err(format!("{}: {}\n{}", case.name, run.verdict_shown(), render::run(case, &run, paint())));
    }
    for note in &run.notes {
        eprintln!("{}: {}", case.name, render::clean_line(note));
    }
    Ok(())
}

fn paint() -> Paint {
    Paint::for_stream(&std::io::stderr())
}
