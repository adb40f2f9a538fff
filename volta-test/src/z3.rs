//! The SMT solver Z3, as an external program: finding it and running it.
//!
//! No verdict rests on it. `cargo volta bench --z3` compares times with it, and the suites compare verdicts.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use thiserror::Error;

/// Why a required solver is missing.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SolverMissing {
    /// `VOLTA_Z3` names a file that does not exist; no other solver replaces it silently.
    #[error("VOLTA_Z3 is {}, which is not a file", .0.display())]
    Named(PathBuf),
    /// `VOLTA_Z3` is `required`.
    #[error("VOLTA_Z3 requires a z3, and PATH has none; `scripts/z3.sh` installs one and prints its path")]
    Required,
}

/// What a solver says about one `check-sat`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Satisfiability {
    /// No input satisfies the assertions.
    Unsat,
    /// Some input satisfies them.
    Sat,
    /// The solver gave up, or ran out of time.
    Unknown,
}

/// An answer, and the time that it took, including the start of the program.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The answer.
    pub answer: Satisfiability,
    /// The time.
    pub time: Duration,
}

/// A solver.
#[derive(Clone, Debug)]
pub struct Z3 {
    program: PathBuf,
}

impl Z3 {
    /// The solver that `VOLTA_Z3` names (a path; `off` for none), else `z3` on `PATH`, if there is one.
    ///
    /// # Errors
    /// When `VOLTA_Z3` names a file that does not exist, or is `required` and there is no solver.
    pub fn from_environment() -> Result<Option<Z3>, SolverMissing> {
        let found = find(&|name| std::env::var_os(name), &|path| path.is_file())?;
        Ok(found.map(|program| Z3 { program }))
    }

    /// Runs a script that has one `check-sat`.
    ///
    /// # Errors
    /// When the program cannot be run, or complains about the script.
    pub fn ask(&self, script: &str, timeout: Duration) -> io::Result<Reply> {
        let started = Instant::now();
        let mut child = Command::new(&self.program)
            .args(["-smt2", "-in", &format!("-T:{}", timeout.as_secs().max(1))])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut said = String::new();
        let (mut input, output) = (child.stdin.take(), child.stdout.take());
        std::thread::scope(|scope| {
            // Written in another thread, so that no full pipe blocks both processes. A solver that timed out no longer
            // reads its input, so a failed write is no error.
            scope.spawn(move || input.take().map(|mut input| input.write_all(script.as_bytes())));
            output.map_or(Ok(0), |mut output| output.read_to_string(&mut said))
        })?;
        child.wait()?;
        let time = started.elapsed();
        let answer = match said.lines().map(str::trim).find(|line| !line.is_empty()) {
            Some("unsat") => Satisfiability::Unsat,
            Some("sat") => Satisfiability::Sat,
            Some("unknown" | "timeout") => Satisfiability::Unknown,
            first => {
                let first = first.unwrap_or("nothing").to_string();
                return Err(io::Error::other(format!("{} said {first}", self.program.display())));
            }
        };
        Ok(Reply { answer, time })
    }
}

fn find(
    variable: &dyn Fn(&str) -> Option<OsString>,
    is_file: &dyn Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, SolverMissing> {
    let on_path = || {
        let path = variable("PATH").unwrap_or_default();
        let program = if cfg!(windows) { "z3.exe" } else { "z3" };
        std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| is_file(path))
    };
    match variable("VOLTA_Z3").filter(|value| !value.is_empty()) {
        None => Ok(on_path()),
        Some(value) if value == "off" => Ok(None),
        Some(value) if value == "required" => on_path().map(Some).ok_or(SolverMissing::Required),
        Some(value) if is_file(Path::new(&value)) => Ok(Some(value.into())),
        Some(value) => Err(SolverMissing::Named(value.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(wish: Option<&str>, files: &[&str]) -> Result<Option<PathBuf>, SolverMissing> {
        let variable = |name: &str| match name {
            "PATH" => Some("/a:/b".into()),
            _ => wish.map(OsString::from),
        };
        find(&variable, &|path| files.iter().any(|file| Path::new(file) == path))
    }

    #[test]
    fn a_wish_is_never_passed_over() {
        assert_eq!(search(None, &["/b/z3"]), Ok(Some("/b/z3".into())));
        assert_eq!(search(None, &[]), Ok(None));
        assert_eq!(search(Some(""), &[]), Ok(None));
        assert_eq!(search(Some("off"), &["/b/z3"]), Ok(None));
        assert_eq!(search(Some("required"), &["/b/z3"]), Ok(Some("/b/z3".into())));
        assert_eq!(search(Some("required"), &[]), Err(SolverMissing::Required));
        assert_eq!(search(Some("/c/z3"), &["/b/z3", "/c/z3"]), Ok(Some("/c/z3".into())));
        assert_eq!(search(Some("/c/z3"), &["/b/z3"]), Err(SolverMissing::Named("/c/z3".into())));
    }
}
