//! Makes small edits of the verifier's code, and lists those that no suite detects.
//!
//! `verifier-mutants [--seed N] [--lines N] [--in FILE] [--slowest SECONDS] [--resume] [--recorded] [PART OF A KEY]…`

use std::process::ExitCode;
use std::time::Duration;

use volta_suite::verifier_mutants::record::{Record, records, stale};
use volta_suite::verifier_mutants::run::{Options, run};
use volta_suite::verifier_mutants::source::sources;

const USAGE: &str =
    "usage: verifier-mutants [--seed N] [--lines N] [--in FILE] [--slowest SECONDS] [--resume] [--recorded] [PART OF A KEY]…

  --seed N           draws other mutants (1)
  --lines N          one mutant for so many lines of code (100)
  --in FILE          draws in files alone whose path contains it, such as `exec/warpgroup`; may be given several times
  --slowest SECONDS  leaves out tests that take longer (none is left out)
  --resume           goes on with a run that was ended, of the same sources
  --recorded         only the survivors in tests/verifier_mutants/survivors.toml
  PART OF A KEY      only mutants whose key contains it, all of them: a file, a function, an edit";

/// The options of a run, and parts of the paths of the files to draw from.
fn options() -> Result<(Options, Vec<String>), String> {
    let mut files = Vec::new();
    let mut options =
        Options { seed: 1, lines: 100, only: Vec::new(), slowest: Duration::MAX, resume: false };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--in" {
            files.push(arguments.next().ok_or(USAGE)?);
            continue;
        }
        let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok()).ok_or(USAGE);
        match argument.as_str() {
            "--seed" => options.seed = number()?,
            "--lines" => options.lines = number()?.max(1) as usize,
            "--slowest" => options.slowest = Duration::from_secs(number()?),
            "--resume" => options.resume = true,
            "--recorded" => options.only.extend(records().iter().flat_map(Record::keys)),
            _ if argument.starts_with('-') => return Err(USAGE.to_owned()),
            _ => options.only.push(argument),
        }
    }
    Ok((options, files))
}

fn main() -> ExitCode {
    let found = options().and_then(|(options, files)| {
        let mut sources = sources();
        let stale = stale(&sources);
        if !stale.is_empty() {
            return Err(format!("records of what is not in the sources any more:\n{}", stale.join("\n")));
        }
        if !files.is_empty() {
            sources.retain(|source| files.iter().any(|part| source.path.contains(part.as_str())));
        }
        run(&sources, &options)
    });
    match found {
        Ok(survivors) => {
            let known: Vec<String> = records().iter().flat_map(Record::keys).collect();
            let open: Vec<_> = survivors.iter().filter(|(key, _)| !known.contains(key)).collect();
            println!("{} survive, {} of them without an argument", survivors.len(), open.len());
            for (key, line) in &open {
                println!("line {line}: {key}");
            }
            if open.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
