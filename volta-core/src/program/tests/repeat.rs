//! Loops that count as one step, and how they are identified.

use super::*;

/// The program of a body that loops, and its only loop that counts as one step, if any.
fn only_loop(body: &str) -> (Program, Option<std::sync::Arc<Loop>>) {
    let text = format!(
        ".visible .entry k(.param .u64 a)
        {{
            .reg .b32 %r<10>; .reg .f32 %f<10>; .reg .b64 %d<10>; .reg .pred %p<10>;
            ld.param.u64 %d0, [a]; ld.global.u32 %r1, [%d0]; ld.global.f32 %f1, [%d0+4]; mov.f32 %f0, %f1;
            {body}
            st.global.f32 [%d0], %f0; ret;
        }}"
    );
    let module = crate::ptx::parse(&text).expect("PTX");
    let program = lower(&module, &text, None).expect("a kernel");
    let mut loops: Vec<_> = program.loops().into_values().collect();
    assert!(loops.len() < 2);
    let own = loops.pop();
    (program, own)
}

fn code(body: &str, known: &dyn Fn(RegId) -> Option<u64>) -> LoopCode {
    let (program, own) = only_loop(body);
    program.loop_code(&own.expect("a loop"), false, known)
}

const NOTHING: &dyn Fn(RegId) -> Option<u64> = &|_| None;
const DOWN: &str = "add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;";

#[test]
fn a_loop_that_a_counter_ends_is_one_step() {
    let starts = "again: mul.f32 %f0, %f0, %f1; ";
    let ends = [
        DOWN,
        "add.s32 %r1, %r1, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "add.s32 %r1, %r1, -16; setp.gt.s32 %p1, %r1, 15; @%p1 bra again;",
        "min.u32 %r2, %r1, 7; sub.s32 %r1, %r1, %r2; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0; setp.gt.f32 %p2, %f0, %f1; and.pred %p3, %p2, %p1;
         @%p3 bra again;",
    ];
    for end in ends {
        let (_, own) = only_loop(&format!("{starts}{end}"));
        assert!(own.is_some_and(|own| own.written.len() >= 2), "{end}");
    }
}

#[test]
fn a_loop_that_may_not_end_is_none() {
    let starts = "again: mul.f32 %f0, %f0, %f1; ";
    let ends = [
        "setp.gt.f32 %p1, %f0, %f1; @%p1 bra again;",
        "setp.gt.f32 %p2, %f0, %f1; add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0; or.pred %p3, %p2, %p1;
         @%p3 bra again;",
        "add.s32 %r1, %r1, -2; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 1; @%p1 bra again;",
        "add.s32 %r1, %r1, 16; setp.gt.s32 %p1, %r1, 15; @%p1 bra again;",
        "add.s32 %r1, %r1, -16; setp.gt.u32 %p1, %r1, 15; @%p1 bra again;",
        "add.s32 %r1, %r1, -16; setp.gt.s32 %p1, %r1, -2147483640; @%p1 bra again;",
        "add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0; @!%p1 bra again;",
        "setp.ne.s32 %p1, %r1, 0; add.s32 %r1, %r1, -1; @%p1 bra again;",
        "setp.gt.f32 %p2, %f0, %f1; @%p2 add.s32 %r1, %r1, -1; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "add.s32 %r1, %r1, -1; add.s32 %r1, %r1, 1; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "add.s32 %r1, %r2, -1; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "min.u32 %r2, %r1, 0; sub.s32 %r1, %r1, %r2; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "min.s32 %r2, %r1, 7; sub.s32 %r1, %r1, %r2; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "min.u32 %r2, %r3, 7; sub.s32 %r1, %r1, %r2; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
        "sub.s32 %r1, %r1, %r2; min.u32 %r2, %r1, 7; setp.ne.s32 %p1, %r1, 0; @%p1 bra again;",
    ];
    for end in ends {
        assert!(only_loop(&format!("{starts}{end}")).1.is_none(), "{end}");
    }
}

#[test]
fn a_loop_that_does_more_than_compute_registers_is_none() {
    let bodies = [
        format!("again: ld.global.f32 %f0, [%d0]; {DOWN}"),
        format!("again: st.global.f32 [%d0], %f0; {DOWN}"),
        format!("again: mov.u32 %r3, %clock; {DOWN}"),
        format!("again: mov.u32 %r3, %tid.x; {DOWN}"),
        // Entered in the middle.
        format!("setp.eq.s32 %p4, %r1, 7; @%p4 bra middle; again: mul.f32 %f0, %f0, %f1; middle: {DOWN}"),
        // Two exits.
        format!("again: setp.gt.f32 %p4, %f0, %f1; @%p4 bra other; {DOWN} other:"),
        // A predicate that is live on entry, and one that is live after the loop.
        format!("setp.gt.f32 %p4, %f0, %f1; again: @%p4 mul.f32 %f0, %f0, %f1; {DOWN}"),
        format!("again: setp.gt.f32 %p4, %f0, %f1; {DOWN} @%p4 mov.f32 %f0, %f1;"),
    ];
    for body in bodies {
        assert!(only_loop(&body).1.is_none(), "{body}");
    }
}

#[test]
fn names_do_not_count_and_all_else_does() {
    let text = |body: &str| code(&format!("again: {body}{DOWN}"), NOTHING).text;
    let one = text("fma.rn.f32 %f0, %f0, %f1, %f0;");
    assert_eq!(one, text("fma.rn.f32 %f0, %f0, %f7, %f0;"));
    assert_eq!(one, text("fma.rn.ftz.f32 %f0, %f0, %f7, %f0;"));
    for other in [
        "fma.rn.f32 %f0, %f1, %f0, %f0;",
        "fma.rn.f32 %f0, %f0, %f0, %f0;",
        "fma.rz.f32 %f0, %f0, %f1, %f0;",
        "fma.rn.sat.f32 %f0, %f0, %f1, %f0;",
        "fma.rn.f32 %f0, %f0, 0f40000000, %f0;",
        "fma.rn.f32 %f0, %f0, %f1, %f0; fma.rn.f32 %f0, %f0, %f1, %f0;",
    ] {
        assert_ne!(one, text(other), "{other}");
    }
}

#[test]
fn what_it_starts_from_are_registers_that_it_may_read_or_keep() {
    let found = code(&format!("again: mul.f32 %f2, %f0, %f1; mov.f32 %f0, %f2; {DOWN}"), NOTHING);
    // %f0, %f1 and %r1, not %f2, which is written first.
    assert_eq!((found.reads.len(), found.results.len()), (3, 1));
}

#[test]
fn a_constant_is_the_same_wherever_it_is_written_down() {
    let outside = "mov.f32 %f5, 0f40490FDB; again: mul.f32 %f0, %f0, %f5; ";
    let inside = "again: mov.f32 %f5, 0f40490FDB; mul.f32 %f0, %f0, %f5; ";
    let there = "again: mul.f32 %f0, %f0, 0f40490FDB; ";
    let (program, own) = only_loop(&format!("{outside}{DOWN}"));
    let own = own.expect("a loop");
    let bits = |register: RegId| (!own.written.contains(&register)).then_some(0x4049_0FDB);
    let known = program.loop_code(&own, false, &bits);
    assert_eq!(known.text, code(&format!("{inside}{DOWN}"), NOTHING).text);
    assert_eq!(known.text, code(&format!("{there}{DOWN}"), NOTHING).text);
    assert_ne!(known.text, program.loop_code(&own, false, NOTHING).text);
    // A counter is not a constant, though its value on entry is known.
    let counted = program.loop_code(&own, false, &|_| Some(0x4049_0FDB));
    assert_eq!(counted.text, known.text);
}
