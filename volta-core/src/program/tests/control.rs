//! Joins of the sides of branches, and what the sides write.

use super::*;

/// The hammock of the first guarded branch of a body; registers as in [`ops`].
fn hammock(body: &str) -> Result<(String, usize, usize), NoHammock> {
    let text = format!(
        ".visible .entry k(.param .u64 a)
        {{
            .reg .b32 %r<10>; .reg .f32 %f<10>; .reg .b64 %d<10>; .reg .pred %p<10>;
            {body}
        }}"
    );
    let module = crate::ptx::parse(&text).expect("PTX");
    let program = lower(&module, &text, None).expect("a kernel");
    let branch = |inst: &Inst| inst.guard.is_some() && matches!(inst.op, Op::Branch { .. });
    let at = program.insts.iter().position(branch).expect("a guarded branch");
    let found = program.hammock(&program.joins(), &program.loops(), InstId(at as u32))?;
    let join = program.insts.get(found.join.index()).map_or("the end".into(), ToString::to_string);
    Ok((join, found.live.registers.len(), found.live.predicates.len()))
}

const STORE: &str = "st.global.f32 [%d0], %f0; ret;";

#[test]
fn one_side_may_be_empty() {
    let found = hammock(&format!("@%p0 bra end; add.f32 %f0, %f1, %f1; end: {STORE}"));
    let (join, registers, predicates) = found.expect("a hammock");
    assert!(join.starts_with("store"), "{join}");
    assert_eq!((registers, predicates), (1, 0));
}

#[test]
fn two_sides_meet_behind_both() {
    let body = "@%p0 bra other; add.f32 %f0, %f1, %f1; bra end; other: mul.f32 %f0, %f1, %f1; end:";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1));
}

#[test]
fn a_side_may_stand_elsewhere() {
    let body = "bra start; other: mul.f32 %f0, %f1, %f1; bra end;
                start: @%p0 bra other; add.f32 %f0, %f1, %f1; end:";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1));
}

#[test]
fn sides_may_branch_again() {
    let body = "@%p0 bra end; @%p1 bra end; add.f32 %f0, %f1, %f1; end:";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1));
}

#[test]
fn what_nobody_reads_is_not_chosen() {
    let body = "@%p0 bra end; add.f32 %f2, %f1, %f1; setp.gt.f32 %p2, %f2, %f1; mul.f32 %f0, %f2, %f2;
                end: mov.f32 %f2, 0f00000000; @%p2 add.f32 %f0, %f0, %f2;";
    let found = hammock(&format!("{body} {STORE}")).map(|found| (found.1, found.2));
    assert_eq!(found, Ok((1, 1)), "%f0 and %p2, which guards; not %f2, which is written before it is read");
}

#[test]
fn a_guarded_write_keeps_what_was_there() {
    let body = "@%p0 bra end; add.f32 %f0, %f1, %f1; end: @%p1 mov.f32 %f0, 0f00000000;";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1));
}

#[test]
fn effects_on_a_side_are_named() {
    let body = "@%p0 bra end; add.f32 %f0, %f1, %f1; st.global.f32 [%d1], %f0; end:";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1), "stores may be conditional");
    let body = "@%p0 bra end; ld.global.f32 %f0, [%d1]; end:";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1), "loads may be tried");
    let body = "@%p0 bra end; bar.sync 0; end:";
    assert_eq!(hammock(&format!("{body} {STORE}")), Err(NoHammock::Effect(InstId(1))));
}

#[test]
fn sides_that_end_meet_at_the_end() {
    for body in [
        format!("@%p0 bra end; {STORE} end: ret;"),
        format!("@%p0 bra end; add.f32 %f0, %f0, %f1; trap; end: {STORE}"),
    ] {
        assert_eq!(hammock(&body), Ok(("the end".into(), 0, 0)));
    }
    let endless = "@%p0 bra other; end: bra end; other: bra other;";
    assert_eq!(hammock(endless), Err(NoHammock::Apart));
}

#[test]
fn a_loop_may_hang_on_another_branch() {
    let body = "@%p0 bra end; around: add.f32 %f0, %f0, %f1; @%p1 bra around; end:";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1));
    let body = "around: add.f32 %f0, %f0, %f1; @%p0 bra around;";
    assert_eq!(
        hammock(&format!("{body} {STORE}")).map(|found| found.1),
        Ok(1),
        "each round is inside of the one before"
    );
    // A branch inside a loop whose sides join before the next iteration.
    let body = "around: @%p0 bra next; add.f32 %f0, %f0, %f1; next: @%p1 bra around;";
    assert_eq!(hammock(&format!("{body} {STORE}")).map(|found| found.1), Ok(1));
}

#[test]
fn long_sides_are_refused() {
    let long = "add.f32 %f0, %f0, %f1;".repeat(4097);
    assert_eq!(hammock(&format!("@%p0 bra end; {long} end: {STORE}")), Err(NoHammock::Long));
}
