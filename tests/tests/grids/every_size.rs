//! What is proved for every size holds at sizes that were not verified.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use volta_core::EverySize;
use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role, Rules,
    ScalarValue,
};
use volta_core::verdict::{Report, Verdict};

/// A kernel for any number of elements.
#[derive(Clone, Debug)]
struct Kernel {
    threads: u32,
    block: Block,
    /// How many elements a thread has, one after the other.
    each: u32,
    guard: Guard,
    addend: Addend,
    apart: u32,
}

#[derive(Clone, Copy, Debug)]
enum Block {
    Linear,
    Reversed,
    /// Neighbours are exchanged.
    Exclusive,
    /// Not beyond this block.
    Least(u32),
    /// Only so many bits of its number.
    Bits(u32),
    /// This block and those behind it are further on.
    From(u32),
}

#[derive(Clone, Copy, Debug)]
enum Guard {
    Size,
    /// One element less, or more.
    Less,
    More,
    /// Also below a number.
    Below(u32),
    /// Only if there are fewer elements than a number.
    Small(u32),
}

#[derive(Clone, Copy, Debug)]
enum Addend {
    Nothing,
    Thread,
    /// The next element, or none behind the last.
    Next,
    /// The last element, in all blocks.
    Last,
    /// The number of elements.
    Count,
}

fn kernel() -> impl Strategy<Value = Kernel> {
    let block = prop_oneof![
        8 => Just(Block::Linear),
        1 => Just(Block::Reversed),
        1 => Just(Block::Exclusive),
        1 => (1u32..40).prop_map(Block::Least),
        1 => (1u32..7).prop_map(Block::Bits),
        1 => (1u32..30).prop_map(Block::From),
    ];
    let guard = prop_oneof![
        8 => Just(Guard::Size),
        1 => Just(Guard::Less),
        1 => Just(Guard::More),
        1 => (1u32..90).prop_map(Guard::Below),
        1 => (1u32..90).prop_map(Guard::Small),
    ];
    let addend = prop_oneof![
        4 => Just(Addend::Nothing),
        2 => Just(Addend::Thread),
        2 => Just(Addend::Next),
        1 => Just(Addend::Last),
        1 => Just(Addend::Count),
    ];
    (1u32..7, block, 1u32..4, guard, addend, prop_oneof![9 => Just(0u32), 1 => 1u32..3]).prop_map(
        |(threads, block, each, guard, addend, apart)| Kernel { threads, block, each, guard, addend, apart },
    )
}

impl Kernel {
    /// How many elements a block has.
    fn chunk(&self) -> u64 {
        u64::from(self.threads * self.each)
    }

    fn ptx(&self) -> String {
        let mut text = String::from(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .entry k(.param .u64 x, .param .u64 w, .param .u64 y, .param .u32 n)\n{\n\
             .reg .b32 %r<20>; .reg .f32 %f<5>; .reg .b64 %rd<9>; .reg .pred %p<5>;\n\
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [w]; ld.param.u64 %rd3, [y]; ld.param.u32 %r1, [n];\n\
             mov.u32 %r2, %ctaid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;\n",
        );
        let mut put = |line: String| {
            let _ = writeln!(text, "{line}");
        };
        match self.block {
            Block::Linear => {}
            Block::Reversed => put("sub.s32 %r4, %r4, %r2; sub.s32 %r2, %r4, 1;".into()),
            Block::Exclusive => put("xor.b32 %r2, %r2, 1;".into()),
            Block::Least(most) => put(format!("min.u32 %r2, %r2, {most};")),
            Block::Bits(bits) => put(format!("and.b32 %r2, %r2, {};", (1 << bits) - 1)),
            Block::From(first) => {
                put(format!("setp.ge.u32 %p1, %r2, {first}; selp.b32 %r5, 1, 0, %p1; add.s32 %r2, %r2, %r5;"))
            }
        }
        put(format!("mad.lo.s32 %r6, %r2, {}, %r3; mov.u32 %r7, 0;\nROUND:", self.threads * self.each));
        match self.guard {
            Guard::Size | Guard::Below(_) | Guard::Small(_) => put("mov.u32 %r8, %r1;".into()),
            Guard::Less => put("sub.s32 %r8, %r1, 1;".into()),
            Guard::More => put("add.s32 %r8, %r1, 1;".into()),
        }
        put("setp.ge.s32 %p2, %r6, %r8; @%p2 bra NEXT;".into());
        if let Guard::Below(most) = self.guard {
            put(format!("setp.ge.s32 %p2, %r6, {most}; @%p2 bra NEXT;"));
        }
        if let Guard::Small(most) = self.guard {
            put(format!("setp.ge.s32 %p2, %r1, {most}; @%p2 bra NEXT;"));
        }
        put("mul.wide.s32 %rd4, %r6, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];".into());
        let add = |index: &str| {
            format!(
                "{index} mul.wide.s32 %rd6, %r9, 4; add.s64 %rd6, %rd2, %rd6; ld.global.f32 %f2, [%rd6]; \
                 add.f32 %f1, %f1, %f2;"
            )
        };
        match self.addend {
            Addend::Nothing => {}
            Addend::Thread => put(add("mov.u32 %r9, %r3;")),
            Addend::Next => put(
                "add.s32 %r9, %r6, 1; setp.ge.s32 %p3, %r9, %r1; @%p3 bra ALONE; ld.global.f32 %f2, [%rd5+4]; \
                 add.f32 %f1, %f1, %f2;\nALONE:"
                    .into(),
            ),
            Addend::Last => put(
                "sub.s32 %r9, %r1, 1; mul.wide.s32 %rd6, %r9, 4; add.s64 %rd6, %rd1, %rd6; \
                 ld.global.f32 %f2, [%rd6]; add.f32 %f1, %f1, %f2;"
                    .into(),
            ),
            Addend::Count => put("cvt.rn.f32.s32 %f2, %r1; add.f32 %f1, %f1, %f2;".into()),
        }
        put(format!("add.s64 %rd7, %rd3, %rd4; st.global.f32 [%rd7+{}], %f1;\nNEXT:", 4 * self.apart));
        put(format!(
            "add.s32 %r6, %r6, {}; add.s32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, {}; @%p4 bra ROUND;\nret;\n}}",
            self.threads, self.each
        ));
        text
    }

    fn launch(&self, size: u64) -> KernelLaunch {
        let mut launch = Launch::of_threads(self.threads);
        launch.grid = [u32::try_from(size.div_ceil(self.chunk())).unwrap_or(u32::MAX), 1, 1];
        KernelLaunch { ptx: self.ptx(), path: "k.ptx".into(), kernel: None, arguments: None, launch }
    }
}

fn case(reference: &Kernel, opt: &Kernel, size: u64, partial: bool) -> Case {
    let element = Element::parse("f32").unwrap_or(Element::Bool);
    let tensor = |name: &str, role, elements| {
        let (contents, assumed) = (Contents::of_role(role), Assumed::default());
        let kind = ParamKind::Tensor {
            reference: element,
            opt: element,
            shape: vec![elements],
            role,
            contents,
            assumed,
        };
        Param::new(name, kind, Binding::Argument)
    };
    let count = ParamKind::Scalar {
        element: Element::Int { bytes: 4, signed: true },
        value: ScalarValue::integer(size as i64),
    };
    let rules = Rules { partial, ..Rules::default() };
    Case {
        params: vec![
            tensor("x", Role::In, size),
            tensor("w", Role::In, 32),
            tensor("y", Role::Out, size),
            Param::new("n", count, Binding::Argument),
        ],
        reference: Some(reference.launch(size).into()),
        opt: opt.launch(size).into(),
        options: Options { rules, threads: 1, first_fault_only: true, ..Options::default() },
    }
}

fn claim(reference: &Kernel, opt: &Kernel, partial: bool) -> Report {
    let at = |size| Ok(case(reference, opt, size, partial));
    let periods = Ok([reference.chunk(), opt.chunk()]);
    volta_core::verify_every_size(&EverySize { variable: "n", least: 1, at: &at, periods })
}

/// Whether a claim agrees with sizes verified one by one.
fn agrees(reference: &Kernel, opt: &Kernel, partial: bool, further: u64) -> Result<Report, TestCaseError> {
    let report = claim(reference, opt, partial);
    let verdict = |size| volta_core::verify(&case(reference, opt, size, partial)).verdict;
    let shown = || format!("{}\n{}", reference.ptx(), opt.ptx());
    let Some(size) = &report.size else { return Ok(report) };
    match &size.every {
        Some(every) => {
            prop_assert_eq!(&report.verdict, &Verdict::Equivalent);
            for size in
                (1..=2 * size.size).chain([further, 7 * further + 1]).filter(|size| *size <= every.most)
            {
                let found = verdict(size);
                prop_assert_eq!(&found, &Verdict::Equivalent, "{} of {:?}\n{}", size, &every, shown());
            }
        }
        None if !matches!(report.verdict, Verdict::Unknown(_)) => {
            for size in 1..size.size {
                let found = verdict(size);
                prop_assert_eq!(&found, &Verdict::Equivalent, "{} already\n{}", size, shown());
            }
            prop_assert_eq!(&verdict(size.size), &report.verdict, "{}", shown());
        }
        None => {}
    }
    Ok(report)
}

fn cases() -> ProptestConfig {
    let slow = volta_suite::in_full();
    ProptestConfig {
        cases: if slow { 2_000 } else { 60 },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    /// Kernels that mostly differ somewhere.
    #[test]
    fn two_kernels_at_every_size(
        reference in kernel(), opt in kernel(), partial in any::<bool>(), further in 100u64..900,
    ) {
        agrees(&reference, &opt, partial, further)?;
    }

    /// The same elements in blocks of two sizes.
    #[test]
    fn two_sizes_of_blocks_at_every_size(
        reference in kernel(), threads in 1u32..7, each in 1u32..4, further in 100u64..900,
    ) {
        let opt = Kernel { threads, each, ..reference.clone() };
        agrees(&reference, &opt, false, further)?;
    }
}

/// Not all claims are unknown.
#[test]
fn many_kernels_are_proved_at_every_size() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut proved, mut found) = (0, 0);
    for _ in 0..40 {
        let reference = kernel().new_tree(&mut runner).expect("kernels are drawn").current();
        let opt = Kernel { threads: reference.threads + 1, ..reference.clone() };
        let report = claim(&reference, &opt, false);
        proved += u32::from(report.size.as_ref().is_some_and(|size| size.every.is_some()));
        found += u32::from(matches!(report.verdict, Verdict::Fault(_) | Verdict::Different(_)));
    }
    assert!(proved >= 8 && found >= 8, "{proved} proved, {found} found");
}
