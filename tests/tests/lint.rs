//! `cargo volta lint`: barriers that nothing needs, each found by trying.

use std::process::Command;

use volta_suite::{Said, Scratch};

fn lint(case: &str) -> Said {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("lint-{}", case.replace('/', "-")));
    let mut command: Command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures"));
    Said::by(command.args(["lint", case]))
}

#[test]
fn a_barrier_that_is_needed_is_not_named() {
    let said = lint("softmax/online_128");
    assert_eq!((said.code, said.all().as_str()), (0, ""));
}

#[test]
fn a_barrier_between_accesses_that_are_ordered_anyway_is_named() {
    let said = lint("shared/transpose");
    assert_eq!((said.code, said.all().as_str()), (0, ""));
    let said = lint("reduction/v5_two_syncs");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.out.contains("redundant, the kernel is clean without it"), "{}", said.out);
}

#[test]
fn a_kernel_that_races_is_not_looked_at() {
    let said = lint("softmax/no_barrier");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is not clean, and not looked at"), "{}", said.err);
}
