//! `cargo volta`.

use std::process::ExitCode;

fn main() -> ExitCode {
    volta_test::cli::main()
}
