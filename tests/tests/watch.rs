//! `cargo volta watch`: cases whose files changed run again, and no others.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::spawn;
use std::time::Duration;

use volta_suite::{COPY_PTX, Scratch};

/// Longer than any run of a small case takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A program that is ended with the test.
struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(scratch: &Scratch) -> Watching {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
        let mut child = command.args(["watch", "cases"]).stdout(Stdio::piped()).spawn().expect("it starts");
        let out: ChildStdout = child.stdout.take().expect("it has an output");
        let (to, lines) = channel();
        spawn(move || BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
        Watching { child, lines }
    }

    /// What is said until it waits for changes again.
    fn said(&self) -> String {
        let mut said = String::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("{error}: {said}"));
            said += &format!("{line}\n");
            if line.starts_with("watching ") {
                return said;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn case(kernel: &str) -> String {
    format!(
        "[params]\nx = {{ role = \"in\", type = \"f32\", shape = [32] }}\n\
         y = {{ role = \"out\", type = \"f32\", shape = [32] }}\n\
         [kernel]\nsource = \"copy.ptx::{kernel}\"\nblock = 32\n"
    )
}

#[test]
fn a_change_runs_the_cases_that_it_belongs_to() {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), "watch");
    for name in ["one", "two"] {
        scratch.write(&format!("cases/copy/{name}/volta.toml"), &case("copy"));
        scratch.write(&format!("cases/copy/{name}/copy.ptx"), COPY_PTX);
    }
    let watching = Watching::start(&scratch);
    let said = watching.said();
    assert!(said.contains("2 as expected") && said.ends_with("watching 2 cases for changes\n"), "{said}");
    assert!(!said.contains("changed") && !said.contains('\u{1b}'), "{said}");

    // A kernel that races, in one of the two.
    scratch.write("cases/copy/two/volta.toml", &case("copy_racy"));
    let said = watching.said();
    assert!(said.contains("\nchanged    cases/copy/two/volta.toml\n"), "{said}");
    assert!(said.contains("copy::two") && said.contains("1 not as expected"), "{said}");
    assert!(!said.contains("copy::one"), "{said}");

    scratch.write("cases/copy/one/copy.ptx", &format!("{COPY_PTX}\n// another\n"));
    let said = watching.said();
    assert!(said.contains("\nchanged    cases/copy/one/copy.ptx\n"), "{said}");
    assert!(said.contains("1 as expected") && !said.contains("copy::two"), "{said}");

    // A case that comes.
    scratch.write("cases/copy/three/copy.ptx", COPY_PTX);
    scratch.write("cases/copy/three/volta.toml", &case("copy"));
    let said = watching.said();
    assert!(said.contains("cases/copy/three/volta.toml") && said.contains("copy::three"), "{said}");
    assert!(said.ends_with("watching 3 cases for changes\n"), "{said}");
}
