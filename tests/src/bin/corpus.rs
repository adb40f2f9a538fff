//! Tries the kernels of PTX files from elsewhere, and prints the result of each as a line of JSON; `scripts/corpus.sh`
//! makes a page of them.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use volta_suite::corpus::try_all;

const USAGE: &str = "usage: corpus [--timeout SECONDS] FILE.ptx…";

fn main() -> ExitCode {
    let mut timeout = Duration::from_secs(10);
    let mut files = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--timeout" {
            let seconds = arguments.next().and_then(|text| text.parse().ok());
            let Some(seconds) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
                eprintln!("{USAGE}");
                return ExitCode::FAILURE;
            };
            timeout = seconds;
        } else if argument.starts_with('-') {
            eprintln!("{USAGE}");
            return ExitCode::FAILURE;
        } else {
            files.push(argument);
        }
    }
    let mut out = io::stdout().lock();
    for file in &files {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::FAILURE;
            }
        };
        let name = Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned();
        for tried in try_all(&name, &text, timeout) {
            let line = serde_json::to_string(&tried).unwrap_or_default();
            if let Err(error) = writeln!(out, "{line}").and_then(|()| out.flush()) {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}
