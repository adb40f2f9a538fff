//! Decides the pairs of `tests/src/pairs`, and prints the result and the time of each.
//!
//! `proof-bench [--timeout SECONDS] [--write] [PART OF A NAME]…`

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

use volta_suite::pairs::{Found, MEASURED, pairs};

const USAGE: &str = "usage: proof-bench [--timeout SECONDS] [--write] [PART OF A NAME]…

  --timeout SECONDS  ends a pair after so long (10)
  --write            writes tests/pairs.tsv; of all pairs
  PART OF A NAME     only pairs whose names contain it";

fn main() -> ExitCode {
    let mut timeout = Duration::from_secs(10);
    let mut parts = Vec::new();
    let mut write = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => write = true,
            "--timeout" => {
                let Some(seconds) = arguments.next().and_then(|text| text.parse().ok()) else {
                    eprintln!("{USAGE}");
                    return ExitCode::FAILURE;
                };
                timeout = Duration::from_secs(seconds);
            }
            _ if argument.starts_with('-') || write => {
                eprintln!("{USAGE}");
                return ExitCode::FAILURE;
            }
            _ => parts.push(argument),
        }
    }
    let mut table = "# Written by `proof-bench --write`: pair, what was found out, seconds\n".to_string();
    let (mut open, mut wrong, mut decided) = (0, 0, 0);
    for pair in pairs() {
        let name = pair.name();
        if !parts.is_empty() && !parts.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let (found, told, taken) = pair.decide(timeout);
        let seconds = taken.as_secs_f64();
        println!("{name:<48} {found:<10} {seconds:>8.3} s  {told}");
        let _ = writeln!(table, "{name}\t{found}\t{seconds:.2}");
        match found {
            _ if found == pair.truth => decided += 1,
            Found::Open | Found::Where => open += 1,
            Found::Equal | Found::Different => wrong += 1,
        }
    }
    println!("{decided} decided, {open} open, {wrong} wrong");
    if write && let Err(error) = std::fs::write(MEASURED, table) {
        eprintln!("{MEASURED}: {error}");
        return ExitCode::FAILURE;
    }
    if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
