//! `cargo volta lint`: redundant barriers, each found by trial; the cost of accesses; losses of precision.

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
    assert!(said.err.is_empty() && !said.out.contains("redundant"), "{}", said.all());
    let said = lint("reduction/v5_two_syncs");
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.out.contains("redundant, the kernel is clean without it"), "{}", said.out);
}

#[test]
fn a_kernel_that_races_is_not_looked_at() {
    let said = lint("softmax/no_barrier");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is not clean, and was not examined"), "{}", said.err);
}

/// 32 lanes that store 128 bytes apart touch 32 sectors, where 128 bytes fill 4; those of a column of 32 words want 32 words
/// of one bank. Rows of 33 words end that, and of the padded kernel there is nothing to say.
#[test]
fn what_accesses_cost_is_counted() {
    let said = lint("../tests/lint/transpose");
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(said.code, 1, "{}", said.err);
    let [sectors, banks] = lines.as_slice() else { panic!("{}", said.out) };
    assert!(sectors.contains("k.cu:7: `y[threadIdx.x * 32 + r] = x[r * 32 + threadIdx.x];`"), "{sectors}");
    assert!(
        sectors.ends_with(
            "direct: uncoalesced, 32 sectors of 32 bytes where 4 would be enough, in 32 of 32 accesses by warps: 1024 \
             sectors instead of 128"
        ),
        "{sectors}"
    );
    assert!(banks.contains("k.cu:17: `y[r * 32 + threadIdx.x] = tile[threadIdx.x][r];`"), "{banks}");
    assert!(
        banks.ends_with(
            "square: 32-way bank conflict, in 32 of 32 accesses by warps: 1024 passes instead of 32"
        ),
        "{banks}"
    );
    let said = lint("../tests/lint/padded");
    assert_eq!((said.code, said.all().as_str()), (0, ""));
}

#[test]
fn precision_that_one_side_gives_away_is_named_with_its_line() {
    let said = lint("../tests/lint/rounded");
    let lines: Vec<&str> = said.out.lines().collect();
    let [sum, quotient] = lines.as_slice() else { panic!("{}", said.all()) };
    assert!(sum.contains("k.cu:36: `sum = __hadd("), "{sum}");
    assert!(
        sum.ends_with("rounded: computes in f16, where the reference computes in no less than f32"),
        "{sum}"
    );
    assert!(quotient.contains("k.cu:37: "), "{quotient}");
    assert!(quotient.ends_with("approximates by `div.approx`, which the reference does not"), "{quotient}");
}
