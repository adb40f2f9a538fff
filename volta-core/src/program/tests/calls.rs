//! Inlined calls.

use super::{lower, lower_within, shown};
use crate::base::budget::{Budgets, Limit};
use crate::program::{LowerError, Program};

const TWICE: &str = "
.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0) {
    .reg .b32 %r<3>; .reg .pred %p<2>; .local .b8 depot[4];
    ld.param.u32 %r1, [twice_param_0]; setp.eq.s32 %p1, %r1, 0; @%p1 bra ZERO;
    add.s32 %r2, %r1, %r1; st.param.b32 [func_retval0+0], %r2; ret;
    ZERO: st.local.u32 [depot], %r1; st.param.b32 [func_retval0], 0; ret;
}";

fn program(text: &str) -> Program {
    let module = crate::ptx::parse(text).expect("PTX");
    lower(&module, text, None).expect("a program")
}

#[test]
fn each_activation_has_names_of_its_own() {
    let text = format!(
        "{TWICE}
        .entry k(.param .u32 n) {{
            .reg .b32 %r<3>; .reg .pred %p<2>;
            ld.param.u32 %r1, [n];
            {{ .param .b32 param0; .param .b32 retval0; st.param.b32 [param0+0], %r1;
               call.uni (retval0), twice, (param0); ld.param.b32 %r2, [retval0+0]; }}
            {{ .param .b32 param0; .param .b32 retval0; st.param.b32 [param0+0], %r2;
               @%p1 call (retval0), twice, (param0); ld.param.b32 %r2, [retval0+0]; }}
            ret;
        }}"
    );
    let expected = "\
kernel k
param 0: v0 n, u32, 4 bytes
param v1 param0, 4 bytes, align 4
param v2 retval0, 4 bytes, align 4
local v3 depot#1, 4 bytes, align 1
param v4 param0, 4 bytes, align 4
param v5 retval0, 4 bytes, align 4
local v6 depot#2, 4 bytes, align 1
@0   r0 = load.param.b32 [v0]
@1   store.param.b32 [v1], r0
@2   r1 = load.param.b32 [v1]
@3   p0 = eq.s32 r1, 0
@4   @p0 branch @8
@5   r2 = add.s32 r1, r1
@6   store.param.b32 [v2], r2
@7   branch @11
@8   store.local.b32 [v3], r1
@9   store.param.b32 [v2], 0
@10  branch @11
@11  r3 = load.param.b32 [v2]
@12  store.param.b32 [v4], r3
@13  @!p2 branch @23
@14  r4 = load.param.b32 [v4]
@15  p3 = eq.s32 r4, 0
@16  @p3 branch @20
@17  r5 = add.s32 r4, r4
@18  store.param.b32 [v5], r5
@19  branch @23
@20  store.local.b32 [v6], r4
@21  store.param.b32 [v5], 0
@22  branch @23
@23  r3 = load.param.b32 [v5]
@24  exit
@25  exit
";
    assert_eq!(program(&text).to_string(), expected);
}

#[test]
fn registers_and_literals_are_passed_too() {
    let text = "
        .func (.reg .b32 out) plus(.reg .b32 x, .reg .b32 y) { add.s32 out, x, y; }
        .func (.param .b32 out) same(.param .b32 x) { .reg .b32 t; ld.param.b32 t, [x]; st.param.b32 [out], t; ret; }
        .entry k() { .reg .b32 %r<3>; .param .b32 p;
            call (%r1), plus, (%r2, 7); call (%r1), same, (5); call (p), plus, (p, %r1); call (_), plus, (1, 2); }";
    let expected = "\
r1 = mov.b32 r0
r2 = mov.b32 7
r4 = add.s32 r1, r2
unsupported: the end of `plus` is reached without `ret`: what happens there is not defined
r3 = mov.b32 r4
store.param.b32 [v1], 5
r6 = load.param.b32 [v1]
store.param.b32 [v2], r6
branch @9
r7 = load.param.b32 [v2]
r3 = mov.b32 r7
r8 = load.param.b32 [v0]
r9 = mov.b32 r3
r10 = add.s32 r8, r9
unsupported: the end of `plus` is reached without `ret`: what happens there is not defined
store.param.b32 [v0], r10
r11 = mov.b32 1
r12 = mov.b32 2
r13 = add.s32 r11, r12
unsupported: the end of `plus` is reached without `ret`: what happens there is not defined
";
    assert_eq!(shown(text), expected);
}

#[test]
fn one_variable_does_not_stand_for_two_parameters() {
    let text = ".func (.param .b32 out) f(.param .b32 x) { st.param.b32 [out], 1; ret; }
        .entry k() { .param .b32 p; call (p), f, (p); }";
    assert_eq!(shown(text), "unsupported: the call of `f` passes one variable twice\n");
}

#[test]
fn a_callee_sees_nothing_of_its_caller() {
    let text = ".func f() { mov.u32 %r1, 1; ret; } .entry k() { .reg .b32 %r<3>; call f; ret; }";
    assert_eq!(shown(text), "error at `%r1`: register `%r1` is not declared here\n");
}

#[test]
fn calls_that_cannot_be_laid_out_are_faults_where_they_stand() {
    let text = "
        .func f(.param .u32 n); .func g() { call h; } .func h() { call g; ret; }
        .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
        .extern .func __assertfail(.param .b64 a); .extern .func (.param .b64 p) malloc(.param .b64 n);
        .entry k() { .reg .b64 %d<3>; .reg .pred %p<2>; .param .b64 a; .param .b32 r; .reg .b32 %r<3>;
            call f, (%r1); call g; call (a), malloc, (a); @%p1 call __assertfail, (a);
            call (r), vprintf, (a, a); ld.param.b32 %r1, [r];
            call %d1, (), proto; proto: .callprototype _ (); call k; call.foo f, (%r1); }";
    let expected = "\
unsupported: `f` is called, but its definition is not in this PTX
unsupported: `g` calls itself: recursion is not supported
branch @3
unsupported: the end of `g` is reached without `ret`: what happens there is not defined
unsupported: `malloc`: device memory allocation is not supported
@p1 trap
r0 = special.b32 unpredictable
store.param.b32 [v1], r0
r1 = load.param.b32 [v1]
unsupported: indirect calls are not supported
unsupported: `call` of the kernel `k`
unsupported: `call` does not take `.foo`
";
    assert_eq!(shown(text), expected);
}

#[test]
fn calls_that_do_not_fit_are_errors() {
    let text = |call: &str| {
        format!(
            ".func (.param .b32 r) f(.param .b64 a) {{ ret; }}
            .entry k() {{ .param .b64 p; .param .b32 q; .param .b32 ret0; {call} }}"
        )
    };
    assert_eq!(
        shown(&text("call (ret0), f, (p, p);")),
        "error at `call (ret0), f, (p, p);`: the call of `f` passes 2 parameters, but it has 1\n"
    );
    assert_eq!(
        shown(&text("call f, (p);")),
        "error at `call f, (p);`: the call of `f` passes 0 return values, but it has 1\n"
    );
    assert_eq!(
        shown(&text("call (ret0), f, (q);")),
        "error at `q`: the argument for `a` of `f` is too small\n"
    );
    assert_eq!(
        shown(&text("call (ret0), ff, (p);")),
        "error at `ff`: function `ff` is not declared here (did you mean `f`?)\n"
    );
}

#[test]
fn calls_of_calls_end_at_the_limit() {
    let mut text = String::from(".func f0() { ret; }\n");
    for level in 1..40 {
        text.push_str(&format!(".func f{level}() {{ call f{0}; call f{0}; ret; }}\n", level - 1));
    }
    text.push_str(".entry k() { call f39; ret; }");
    let module = crate::ptx::parse(&text).expect("PTX");
    let budgets = Budgets::default().with(Limit::ProgramSize, 1000);
    let error = lower_within(&module, &text, None, &budgets).expect_err("too large");
    assert!(
        matches!(error, LowerError::Exhausted { exhausted, .. } if exhausted.limit == Some(Limit::ProgramSize))
    );
}

#[test]
fn empty_functions_count_too() {
    let mut text = String::from(".func f0() { }\n");
    for level in 1..60 {
        text.push_str(&format!(".func f{level}() {{ call f{0}; call f{0}; }}\n", level - 1));
    }
    text.push_str(".entry k() { call f59; }");
    let module = crate::ptx::parse(&text).expect("PTX");
    let budgets = Budgets::default().with(Limit::ProgramSize, 1000);
    assert!(lower_within(&module, &text, None, &budgets).is_err());
}

#[test]
fn deep_calls_are_faults_where_they_stand() {
    let mut text = String::from(".func f0() { ret; }\n");
    for level in 1..300 {
        text.push_str(&format!(".func f{level}() {{ call f{}; ret; }}\n", level - 1));
    }
    text.push_str(".entry k() { call f299; ret; }");
    assert!(shown(&text).starts_with("unsupported: calls are nested more than 100 deep\n"));
}
