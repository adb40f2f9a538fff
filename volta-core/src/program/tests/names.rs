//! Scopes, and errors about undeclared names.

use super::{ops, shown};

#[test]
fn inner_scopes_hide_outer_names() {
    let body = "mov.u32 %r1, 1; { .reg .b32 %r<3>; mov.u32 %r1, 2; { .reg .b16 %r1; mov.u16 %r1, 3; } } mov.u32 %r1, 4;";
    assert_eq!(ops(body), "r0 = mov.b32 1\nr1 = mov.b32 2\nr2 = mov.b16 3\nr0 = mov.b32 4\n");
}

#[test]
fn a_register_may_hide_a_parameter() {
    let body = "ld.param.u64 %d1, [a]; { .reg .b64 a; ld.param.u32 %r1, [n]; ld.global.u32 %r1, [a]; }";
    let expected = "\
r0 = load.param.b64 [v0]
r2 = load.param.b32 [v1]
r2 = load.global.b32 [r1]
";
    assert_eq!(ops(body), expected);
}

#[test]
fn sibling_scopes_may_have_the_same_labels() {
    let body = "{ L: bra L; } { bra L; L: } bra OUT; { bra OUT; } OUT:";
    assert_eq!(ops(body), "branch @0\nbranch @2\nbranch @4\nbranch @4\n");
}

#[test]
fn a_label_inside_a_block_is_not_seen_outside() {
    assert_eq!(ops("bra L; { L: }"), "error at `L`: label `L` is not declared here\n");
    assert_eq!(
        ops("bra loop_strt; loop_start:"),
        "error at `loop_strt`: label `loop_strt` is not declared here (did you mean `loop_start`?)\n"
    );
}

#[test]
fn many_declared_registers_cost_nothing() {
    let text = ".entry k() { .reg .b32 %r<4294967295>; mov.u32 %r4294967294, 1; mov.u32 %r0, 2; ret; }";
    assert_eq!(shown(text), "r0 = mov.b32 1\nr1 = mov.b32 2\nexit\n");
}

#[test]
fn numbers_of_registers_are_checked() {
    assert_eq!(
        ops("mov.u32 %r10, 1;"),
        "error at `%r10`: register `%r10` lies outside the declared `%r<10>`\n"
    );
    assert_eq!(
        ops("mov.u32 %r01, 1;"),
        "error at `%r01`: register `%r01` is not declared here (did you mean `%r1`?)\n"
    );
    assert_eq!(
        ops("mov.u32 %q1, 1;"),
        "error at `%q1`: register `%q1` is not declared here (did you mean `%b1`?)\n"
    );
}

#[test]
fn a_name_may_be_declared_once_in_a_scope() {
    let twice = |first: &str, second: &str| {
        shown(&format!(".entry k() {{ .reg .b32 {first}; .reg .b32 {second}; }}"))
    };
    assert_eq!(twice("x", "x"), "error at `x`: `x` is declared twice in one scope\n");
    assert_eq!(twice("%r<9>", "%r3"), "error at `%r3`: `%r3` is declared twice in one scope\n");
    assert_eq!(twice("%r3", "%r<9>"), "error at `%r`: `%r` is declared twice in one scope\n");
    assert_eq!(twice("%r<12>", "%r1<5>"), "error at `%r1`: `%r1` is declared twice in one scope\n");
    assert_eq!(twice("%r<9>", "%r1<2>"), "");
    assert_eq!(ops("L: L:"), "error at `L`: `L` is declared twice in one scope\n");
}

#[test]
fn elements_of_vector_registers_are_registers() {
    let text = ".entry k(.param .u64 p) { .reg .v4 .f32 v; .reg .f32 f; .reg .b64 d; ld.param.u64 d, [p];
        ld.global.v4.f32 v, [d]; mov.f32 f, v.y; mov.v2.f32 {f, _}, {v.x, v.w}; st.global.v4.f32 [d], v; }";
    let expected = "\
r5 = load.param.b64 [v0]
r0, r1, r2, r3 = load.global.b32 [r5]
r4 = mov.b32 r1
r6 = mov.b32 r0
r7 = mov.b32 r3
r4 = mov.b32 r6
store.global.b32 [r5], r0, r1, r2, r3
";
    assert_eq!(shown(text), expected);
}

#[test]
fn operands_of_the_wrong_kind_are_errors() {
    let cases = [
        ("add.s32 %r1, %d1, %r2;", "error at `%d1`: `add.s32` needs 32 bits here, but `%d1` has 64\n"),
        (
            "add.s32 %p1, %r1, %r2;",
            "error at `%p1`: `add.s32` needs a register here, not a predicate register\n",
        ),
        (
            "add.f32 %f1, %f2, 1;",
            "error at `1`: `add.f32` needs a register or a float literal here, not an integer literal\n",
        ),
        (
            "add.s32 %r1, %r2, 0f3F800000;",
            "error at `0f3F800000`: `add.s32` needs a register or an integer literal here, not a float literal\n",
        ),
        (
            "add.f16 %h1, %h2, 0x3c00;",
            "error at `0x3c00`: `add.f16` needs a register here, not an integer literal\n",
        ),
        (
            "add.u32 %r1, %tid.x, 1;",
            "error at `%tid.x`: `add.u32` needs a register or a literal here, not a special register (only `mov` and `cvt` read those)\n",
        ),
        ("ld.global.u32 %r1, %d1;", "error at `%d1`: `ld.global.u32` needs an address here, not a name\n"),
        (
            "ld.global.u64 %r1, [%d1];",
            "error at `%r1`: `ld.global.u64` needs 64 bits here, but `%r1` has 32\n",
        ),
        (
            "ld.global.u32 %r1, [%r2];",
            "error at `%r2`: `ld.global.u32` needs 64 bits here, but `%r2` has 32\n",
        ),
        (
            "ld.global.u32 %r1, [n];",
            "error at `[n]`: `ld.global.u32` needs a variable of its own state space here, not a variable of another\n",
        ),
        (
            "ld.v2.u32 {%r1, %r2, %r3}, [%d1];",
            "error at `{%r1, %r2, %r3}`: `ld.v2.u32` needs a vector of as many elements here, not a vector\n",
        ),
        ("@%r1 bra L; L:", "error at `%r1`: `bra` needs a predicate register here, not another name\n"),
        ("selp.b32 %r1, 1, 0, %r2;", "error at `%r2`: `selp.b32` needs a predicate here, not a register\n"),
        (
            "lop3.b32 %r1, %r2, %r3, %r4, 256;",
            "error at `256`: `lop3.b32` needs a table between 0 and 255 here, not an integer literal\n",
        ),
        (
            "brx.idx %r1, t; t: .calltargets k;",
            "error at `t`: `brx.idx` needs a `.branchtargets` label here, not a name\n",
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(ops(body), expected, "{body}");
    }
}
