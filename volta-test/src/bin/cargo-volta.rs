//! `cargo volta`, also called `cargo-volta`; see [`volta_test::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    volta_test::cli::main()
}
