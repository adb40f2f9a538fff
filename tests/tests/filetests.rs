//! The cases of `files/`, one test a file; nothing to register.

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use volta_suite::filetest;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("files");
    let trials = filetest::discover(&folder).into_iter().map(|(name, path)| {
        Trial::test(name, move || {
            let file = filetest::load(&path)?;
            filetest::check(&file).map_err(Into::into)
        })
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}
