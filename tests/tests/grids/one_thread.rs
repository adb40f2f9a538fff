//! Random kernels of one thread with nested loops, whose iterations may be executed as a grid: counters up and down,
//! running pointers, triangles, sums that go on from iteration to iteration, in registers and in memory, early ends.
//! Executing iterations as CTAs must give the reports that executing them in order gives.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, FormsWanted, KernelLaunch, Launch, Options, Param, ParamKind,
    Role, Rules,
};
use volta_core::verdict::{Report, Verdict};

use crate::{cases, told};

/// Elements of each tensor.
const ELEMENTS: u64 = 400;

/// How a loop counts.
#[derive(Clone, Copy, Debug)]
enum Count {
    /// From 0 up to a number, while it is less.
    Up,
    /// Down to 0, while they differ.
    Down,
    /// By two, from 1 on.
    ByTwo,
    /// Up to the counter of the loop around it, plus one.
    Triangle,
}

/// What the innermost iteration does.
#[derive(Clone, Copy, Debug)]
enum Body {
    /// `y[at] = x[at]`
    Copy,
    /// `y[at] = x[at] + w[running pointer]`
    Running,
    /// `y[at] = y[at] + x[at]`
    InPlace,
    /// `y[at + 1] = y[at] + x[at]`
    Prefix,
    /// `y[outer counter] = ` a sum in a register, which begins anew in each outer iteration.
    Sum,
    /// The same with a sum that goes on.
    Total,
    /// `y[at] = at < n ? x[at] : w[at]`, by a branch.
    Branch(u32),
    /// Only where an element is within a bound, else the loop ends.
    Break(u32),
    /// The thread returns there.
    Return(u32),
    /// `y[at]` twice, by a loop of its own.
    Twice,
}

#[derive(Clone, Debug)]
struct Loops {
    outer: (Count, u32),
    inner: (Count, u32),
    /// The place of an iteration: so many elements for each outer iteration, and for each inner one.
    steps: [u32; 2],
    body: Body,
    /// What is stored before the inner loop: nothing, an element of `z`, or one of `y`.
    before: u32,
    after: bool,
    /// The last element of `y` is also stored behind the loops.
    behind: bool,
}

fn count() -> impl Strategy<Value = Count> {
    prop_oneof![
        5 => Just(Count::Up),
        2 => Just(Count::Down),
        1 => Just(Count::ByTwo),
        1 => Just(Count::Triangle),
    ]
}

fn body() -> impl Strategy<Value = Body> {
    prop_oneof![
        3 => Just(Body::Copy),
        2 => Just(Body::Running),
        1 => Just(Body::InPlace),
        1 => Just(Body::Prefix),
        3 => Just(Body::Sum),
        1 => Just(Body::Total),
        1 => (0u32..40).prop_map(Body::Branch),
        1 => (0u32..500).prop_map(Body::Break),
        1 => (0u32..500).prop_map(Body::Return),
        1 => Just(Body::Twice),
    ]
}

fn loops() -> impl Strategy<Value = Loops> {
    let steps = prop_oneof![
        3 => Just([20u32, 1]),
        1 => Just([1, 24]),
        1 => [0u32..30, 0u32..30],
    ];
    let places = (0u32..6, prop::bool::weighted(0.2), prop::bool::weighted(0.2));
    let of_loops = ((count(), 1u32..20), (count(), 1u32..20));
    (of_loops, steps, body(), places).prop_map(|((outer, inner), steps, body, (before, after, behind))| {
        Loops { outer, inner, steps, body, before, after, behind }
    })
}

/// The code around a loop: before it, and at its end, given the registers of the counter and of its bound.
fn around((count, most): (Count, u32), label: &str, counter: &str, outer: &str) -> [String; 2] {
    match count {
        Count::Up => [
            format!("mov.u32 {counter}, 0;\n{label}:"),
            format!("add.s32 {counter}, {counter}, 1; setp.lt.s32 %p1, {counter}, {most}; @%p1 bra {label};"),
        ],
        Count::Down => [
            format!("mov.u32 {counter}, {most};\n{label}:"),
            format!("add.s32 {counter}, {counter}, -1; setp.ne.s32 %p1, {counter}, 0; @%p1 bra {label};"),
        ],
        Count::ByTwo => [
            format!("mov.u32 {counter}, 1;\n{label}:"),
            format!(
                "add.s32 {counter}, {counter}, 2; setp.ge.u32 %p1, {counter}, {most}; @!%p1 bra {label};"
            ),
        ],
        Count::Triangle => [
            format!("mov.u32 {counter}, 0;\n{label}:"),
            format!(
                "add.s32 {counter}, {counter}, 1; setp.le.s32 %p1, {counter}, {outer}; @%p1 bra {label};"
            ),
        ],
    }
}

impl Loops {
    fn ptx(&self) -> String {
        let mut text = String::from(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .entry k(.param .u64 x, .param .u64 w, .param .u64 y, .param .u64 z)\n{\n\
             .reg .b32 %r<20>; .reg .f32 %f<5>; .reg .b64 %rd<12>; .reg .pred %p<5>;\n\
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [w]; ld.param.u64 %rd3, [y]; ld.param.u64 %rd4, [z];\n\
             mov.u32 %r9, 3; mov.f32 %f2, 0f00000000;\n",
        );
        let mut put = |line: &str| {
            let _ = writeln!(text, "{line}");
        };
        let outer = around(self.outer, "OUTER", "%r1", "%r9");
        let inner = around(self.inner, "INNER", "%r2", "%r1");
        put(&outer[0]);
        let (by_outer, by_inner) = (self.steps[0], self.steps[1]);
        let x_and_y = "mul.wide.s32 %rd5, %r3, 4; add.s64 %rd6, %rd1, %rd5; add.s64 %rd7, %rd3, %rd5;";
        match self.before {
            0 => {
                put("mul.wide.s32 %rd8, %r1, 4; add.s64 %rd8, %rd4, %rd8; st.global.f32 [%rd8], 0f3f800000;")
            }
            1 => put("st.global.f32 [%rd3], 0f3f800000;"),
            _ => {}
        }
        if let Body::Sum = self.body {
            put("mov.f32 %f2, 0f00000000;");
        }
        put("mov.u64 %rd9, %rd2;");
        put(&inner[0]);
        put(&format!("mul.lo.s32 %r3, %r1, {by_outer}; mad.lo.s32 %r3, %r2, {by_inner}, %r3; {x_and_y}"));
        put("ld.global.f32 %f1, [%rd6];");
        match self.body {
            Body::Copy => put("st.global.f32 [%rd7], %f1;"),
            Body::Running => put(
                "ld.global.f32 %f3, [%rd9]; add.f32 %f1, %f1, %f3; st.global.f32 [%rd7], %f1; add.s64 %rd9, %rd9, 4;",
            ),
            Body::InPlace => {
                put("ld.global.f32 %f3, [%rd7]; add.f32 %f1, %f1, %f3; st.global.f32 [%rd7], %f1;")
            }
            Body::Prefix => {
                put("ld.global.f32 %f3, [%rd7]; add.f32 %f1, %f1, %f3; st.global.f32 [%rd7+4], %f1;")
            }
            Body::Sum | Body::Total => put("add.f32 %f2, %f2, %f1;"),
            Body::Branch(most) => put(&format!(
                "setp.ge.s32 %p2, %r3, {most}; @%p2 bra OTHER; add.f32 %f1, %f1, %f1;\nOTHER: st.global.f32 [%rd7], %f1;"
            )),
            Body::Break(most) => {
                put(&format!("setp.ge.s32 %p2, %r3, {most}; @%p2 bra LEFT; st.global.f32 [%rd7], %f1;"))
            }
            Body::Return(most) => {
                put(&format!("setp.ge.s32 %p2, %r3, {most}; @%p2 ret; st.global.f32 [%rd7], %f1;"))
            }
            Body::Twice => put(
                "mov.u32 %r5, 0;\nTWICE: st.global.f32 [%rd7], %f1; add.f32 %f1, %f1, %f1; add.s32 %r5, %r5, 1; \
                 setp.lt.s32 %p3, %r5, 2; @%p3 bra TWICE;",
            ),
        }
        put(&inner[1]);
        put("LEFT:");
        if let Body::Sum | Body::Total = self.body {
            put("mul.wide.s32 %rd8, %r1, 4; add.s64 %rd8, %rd3, %rd8; st.global.f32 [%rd8], %f2;");
        }
        if self.after {
            put("mul.wide.s32 %rd8, %r2, 4; add.s64 %rd8, %rd4, %rd8; st.global.f32 [%rd8+80], %f1;");
        }
        put(&outer[1]);
        if self.behind {
            put("st.global.f32 [%rd3+1596], %f1;");
        }
        put("ret;\n}");
        text
    }

    fn launch(&self) -> KernelLaunch {
        kernel(self.ptx(), Launch::of_threads(1))
    }

    /// A kernel with a CTA for each outer iteration and a thread for each inner one, which copies, and has one element of
    /// `w` in place of one of `x` from a place on.
    fn as_grid(&self, from: u32) -> KernelLaunch {
        let [by_outer, by_inner] = self.steps;
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .entry k(.param .u64 x, .param .u64 w, .param .u64 y, .param .u64 z)\n{{\n\
             .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %rd<9>; .reg .pred %p<2>;\n\
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [w]; ld.param.u64 %rd3, [y];\n\
             mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x;\n\
             mul.lo.s32 %r3, %r1, {by_outer}; mad.lo.s32 %r3, %r2, {by_inner}, %r3; mul.wide.s32 %rd5, %r3, 4;\n\
             add.s64 %rd6, %rd1, %rd5; add.s64 %rd7, %rd3, %rd5; ld.global.f32 %f1, [%rd6];\n\
             setp.lt.s32 %p1, %r3, {from}; @%p1 bra STORE; ld.global.f32 %f1, [%rd2];\n\
             STORE: st.global.f32 [%rd7], %f1; ret;\n}}\n"
        );
        let mut launch = Launch::of_threads(self.inner.1);
        launch.grid = [self.outer.1, 1, 1];
        kernel(text, launch)
    }
}

fn kernel(ptx: String, launch: Launch) -> KernelLaunch {
    KernelLaunch { ptx, path: "k.ptx".into(), kernel: None, arguments: None, launch }
}

fn case(reference: Option<&Loops>, opt: KernelLaunch, every_cta: bool) -> Case {
    let param = |name: &str, role, contents| {
        let element = Element::parse("f32").unwrap_or(Element::Bool);
        let assumed = Assumed::default();
        let shape = vec![ELEMENTS];
        let kind = ParamKind::Tensor { reference: element, opt: element, shape, role, contents, assumed };
        Param::new(name, kind, Binding::Argument)
    };
    let rules = Rules { partial: true, ..Rules::default() };
    let forms = FormsWanted::Never;
    Case {
        params: vec![
            param("x", Role::In, Contents::Symbolic),
            param("w", Role::In, Contents::Symbolic),
            param("y", Role::InOut, Contents::Symbolic),
            param("z", Role::Out, Contents::Undefined),
        ],
        reference: reference.map(|reference| reference.launch().into()),
        opt: opt.into(),
        options: Options { rules, threads: 1, forms, every_cta, ..Options::default() },
    }
}

/// With iterations as CTAs, where that can be, and in order. How many instructions are counted depends on it.
fn both(reference: Option<&Loops>, opt: &KernelLaunch) -> [Report; 2] {
    [false, true].map(|every_cta| {
        let mut report = volta_core::verify(&case(reference, opt.clone(), every_cta));
        report.opt.thread_instructions = 0;
        report.reference.iter_mut().for_each(|side| side.thread_instructions = 0);
        report
    })
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn one_nest(loops in loops()) {
        let [apart, in_order] = both(None, &loops.launch()).map(told);
        prop_assert_eq!(apart, in_order, "{}", loops.ptx());
    }

    #[test]
    fn two_nests(reference in loops(), opt in loops()) {
        let [apart, in_order] = both(Some(&reference), &opt.launch()).map(told);
        prop_assert_eq!(apart, in_order, "{}\n{}", reference.ptx(), opt.ptx());
    }

    /// One nest and itself, or one with a branch that is always taken: most are equal.
    #[test]
    fn one_nest_twice(loops in loops()) {
        let mut other = loops.clone();
        other.body = if let Body::Copy = loops.body { Body::Branch(0) } else { loops.body };
        let [apart, in_order] = both(Some(&loops), &other.launch()).map(told);
        prop_assert_eq!(apart, in_order, "{}\n{}", loops.ptx(), other.ptx());
    }
}

proptest! {
    #![proptest_config(cases())]

    /// One thread against a grid, of few CTAs or of many, that may be wrong from an element on.
    #[test]
    fn one_nest_and_a_grid(
        most in [1u32..20, 1u32..20],
        steps in prop_oneof![3 => Just([20u32, 1]), 1 => Just([1, 20]), 1 => [0u32..30, 0u32..30]],
        from in prop_oneof![3 => Just(ELEMENTS as u32), 1 => 0u32..400],
    ) {
        let [outer, inner] = most.map(|most| (Count::Up, most));
        let loops = Loops { outer, inner, steps, body: Body::Copy, before: 2, after: false, behind: false };
        let [apart, in_order] = both(Some(&loops), &loops.as_grid(from)).map(told);
        prop_assert_eq!(apart, in_order, "{}", loops.ptx());
    }
}

/// The kernels are not all wrong, and iterations of many are executed as CTAs.
#[test]
fn many_nests_are_proved() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut clean, mut faults, mut followed) = (0, 0, 0);
    for _ in 0..100 {
        let loops = loops().new_tree(&mut runner).expect("kernels are drawn").current();
        let [apart, in_order] = both(None, &loops.launch());
        followed += u32::from(apart.opt.term_nodes < in_order.opt.term_nodes);
        clean += u32::from(apart.verdict == Verdict::Clean);
        faults += u32::from(matches!(apart.verdict, Verdict::Fault(_)));
    }
    assert!(
        clean >= 30 && faults >= 5 && followed >= 10,
        "{clean} clean, {faults} at fault, {followed} by classes"
    );
}
