//! The fuzz targets, as functions of bytes. Each panics if a property is violated, and has tiny budgets, so that slow
//! inputs are found as well.

use std::fmt::Write as _;

use volta_core::base::budget::{Budgets, Limit};
use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Layout, Options, Param, ParamKind, Role,
    Rules,
};
use volta_core::program;
use volta_core::ptx;
use volta_core::verdict::{FaultKind, Verdict};
use volta_test::case::Home;
use volta_test::manifest::{self, Unreadable};
use volta_test::render::{self, Paint};

/// Longer inputs are truncated: they find nothing that shorter ones do not.
const MAX_BYTES: usize = 1 << 14;

fn text(data: &[u8]) -> String {
    String::from_utf8_lossy(&data[..data.len().min(MAX_BYTES)]).into_owned()
}

/// The parser: a text that parses is printed as one that parses to the same tree, any other has a short message.
///
/// # Panics
/// When this does not hold.
pub fn parser(data: &[u8]) {
    match ptx::parse(&text(data)) {
        Err(error) => assert!(error.to_string().len() < 2000, "a message is short"),
        Ok(module) => {
            let printed = ptx::print(&module);
            let again = ptx::parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
            assert_eq!(ptx::print(&again), printed, "printing and parsing are inverse");
        }
    }
}

/// Lowering: every kernel of a text becomes a program that keeps its invariants, or an error.
///
/// # Panics
/// When this does not hold.
pub fn lowering(data: &[u8]) {
    let text = text(data);
    let Ok(module) = ptx::parse(&text) else { return };
    for kernel in program::kernels(&module) {
        if let Ok(program) = program::lower_within(&module, &text, Some(&kernel.name), &options().budgets) {
            program.check().unwrap_or_else(|broken| panic!("{broken}\n{program}"));
            assert!(!program.to_string().is_empty());
        }
    }
}

/// `volta.toml`: a case, or problems that can be rendered with their spans.
///
/// # Panics
/// When a problem cannot be rendered, or the result is harmful to a terminal.
pub fn manifest(data: &[u8]) {
    let text = text(data);
    let name = manifest::members_of(&text).pop().unwrap_or_else(|| "fuzz".into());
    if let Err(problems) = manifest::parse(&name, Home::default(), &text) {
        assert!(!problems.is_empty(), "a refusal has a reason");
        let shown =
            render::unreadable(&Unreadable { path: "volta.toml".into(), text, problems }, Paint::PLAIN);
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{shown:?}");
    }
}

/// Verification of the kernel that bytes encode, alone and against itself, in both layouts and with both race
/// detectors: the verdict is the same, and no kernel differs from itself.
///
/// # Panics
/// When this does not hold.
pub fn verification(data: &[u8]) {
    let ptx = kernel(data);
    let verify = |pair: bool, layout: Layout, exact_clocks: bool| {
        let options = Options { layout, exact_clocks, ..options() };
        volta_core::verify(&case(&ptx, pair, options)).verdict
    };
    let alone = verify(false, Layout::Forward, false);
    assert!(!matches!(alone, Verdict::InputError(_)), "{alone:?}\n{ptx}");
    if alone.name() != "unknown(budget)" {
        for (layout, exact) in [(Layout::Reverse, false), (Layout::Forward, true)] {
            let other = verify(false, layout, exact);
            let same = other.name() == alone.name() || other.name() == "unknown(budget)";
            assert!(same, "{} and {}\n{ptx}", alone.name(), other.name());
        }
    }
    let pair = verify(true, Layout::Forward, false);
    assert!(!matches!(pair, Verdict::Different(_)), "a kernel differs from itself: {pair:?}\n{ptx}");
    if let (Verdict::Fault(alone), Verdict::Fault(pair)) = (&alone, &pair) {
        // Where reals have no meaning, a pair is executed on bits as well, which may show more (rule V5).
        let has_no_meaning = matches!(alone.kind, FaultKind::TypeMismatch | FaultKind::InputDependentControl);
        assert!(alone.kind == pair.kind || has_no_meaning, "{:?} and {:?}: {ptx}", alone.kind, pair.kind);
    }
}

/// The verdict on the kernel that bytes encode.
pub fn name_of_verdict(data: &[u8]) -> String {
    volta_core::verify(&case(&kernel(data), false, options())).verdict.name()
}

fn options() -> Options {
    let budgets = Budgets::default()
        .with(Limit::Instructions, 4_000)
        .with(Limit::MemoryBytes, 1 << 22)
        .with(Limit::AlgebraSteps, 20_000)
        .with(Limit::ProgramSize, 1 << 12);
    let rules = Rules { partial: true, ..Rules::default() };
    Options { rules, budgets, threads: 1, ..Options::default() }
}

fn case(ptx: &str, pair: bool, options: Options) -> Case {
    let param = |name: &str, role, contents| {
        let element = Element::parse("f32").unwrap_or(Element::Int { bytes: 4, signed: false });
        let kind = ParamKind::Tensor {
            reference: element,
            opt: element,
            shape: vec![64],
            role,
            contents,
            assumed: Assumed::default(),
        };
        Param::new(name, kind, Binding::Argument)
    };
    let side = KernelLaunch {
        ptx: ptx.into(),
        path: "k.ptx".into(),
        kernel: None,
        arguments: None,
        launch: Launch::of_threads(40),
    };
    Case {
        params: vec![param("x", Role::In, Contents::Symbolic), param("y", Role::InOut, Contents::Symbolic)],
        reference: pair.then(|| side.clone().into()),
        opt: side.into(),
        options,
    }
}

/// Statements with placeholders: `R` a 32-bit register, `D` a 64-bit one, `F` a float, `P` a predicate, `N` a small
/// number, `L` a label.
const STATEMENTS: [&str; 56] = [
    "add.f32 F, F, F;",
    "sub.f32 F, F, F;",
    "mul.f32 F, F, F;",
    "fma.rn.f32 F, F, F, F;",
    "fma.rm.f32 F, F, F, F;",
    "max.f32 F, F, F;",
    "min.f32 F, F, F;",
    "abs.f32 F, F;",
    "neg.f32 F, F;",
    "rcp.rn.f32 F, F;",
    "div.rn.f32 F, F, F;",
    "sqrt.rn.f32 F, F;",
    "rsqrt.approx.f32 F, F;",
    "ex2.approx.ftz.f32 F, F;",
    "lg2.approx.f32 F, F;",
    "tanh.approx.f32 F, F;",
    "sin.approx.f32 F, F;",
    "copysign.f32 F, F, F;",
    "mov.f32 F, 0f3FB8AA3B;",
    "mov.f32 F, 0f3F800000;",
    "mov.f32 F, 0fFF800000;",
    "mov.f32 F, F;",
    "mov.b32 R, F;",
    "mov.b32 F, R;",
    "cvt.rn.f16.f32 H, F;",
    "cvt.f32.f16 F, H;",
    "cvt.rn.f32.s32 F, R;",
    "cvt.rzi.s32.f32 R, F;",
    "setp.lt.f32 P, F, F;",
    "setp.equ.f32 P, F, F;",
    "setp.lt.s32 P, R, R;",
    "setp.eq.u32 P, R, N;",
    "selp.f32 F, F, F, P;",
    "selp.b32 R, R, R, P;",
    "and.pred P, P, P;",
    "not.pred P, P;",
    "add.s32 R, R, N;",
    "mul.lo.s32 R, R, N;",
    "and.b32 R, R, N;",
    "xor.b32 R, R, R;",
    "shl.b32 R, R, N;",
    "shr.u32 R, R, N;",
    "mov.u32 R, %tid.x;",
    "mov.u32 R, N;",
    "and.b32 %r6, R, 124; mov.u32 %r5, s; add.u32 %r5, %r5, %r6; ld.shared.f32 F, [%r5];",
    "and.b32 %r6, R, 124; mov.u32 %r5, s; add.u32 %r5, %r5, %r6; st.shared.f32 [%r5], F;",
    "and.b32 %r6, R, 252; cvt.u64.u32 %rd3, %r6; add.s64 %rd3, %rd1, %rd3; ld.global.f32 F, [%rd3];",
    "and.b32 %r6, R, 252; cvt.u64.u32 %rd3, %r6; add.s64 %rd3, %rd2, %rd3; ld.global.f32 F, [%rd3];",
    "and.b32 %r6, R, 252; cvt.u64.u32 %rd3, %r6; add.s64 %rd3, %rd2, %rd3; st.global.f32 [%rd3], F;",
    "bar.sync 0;",
    "bar.warp.sync -1;",
    "shfl.sync.bfly.b32 F, F, N, 31, -1;",
    "vote.sync.ballot.b32 R, P, -1;",
    "@P bra L;",
    "@!P bra L;",
    "@P ret;",
];

/// The kernel that bytes encode: a byte for each statement, and one for each placeholder in it; missing bytes are
/// zeros. Any bytes give a kernel that parses.
pub fn kernel(data: &[u8]) -> String {
    let mut bytes = data.iter().copied();
    let count = 1 + bytes.next().unwrap_or(0) as usize % 48;
    let mut text = ".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 4 .b8 s[128];\n\
        .visible .entry k(.param .u64 x, .param .u64 y)\n{\n\
        .reg .b32 %r<7>; .reg .b16 %h<5>; .reg .f32 %f<5>; .reg .b64 %rd<4>; .reg .pred %p<5>;\n\
        ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n\
        mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, 4; mov.u32 %r3, 0; mov.u32 %r4, %tid.x;\n\
        cvt.u64.u32 %rd3, %r1; add.s64 %rd3, %rd1, %rd3;\n\
        ld.global.f32 %f0, [%rd3]; mov.f32 %f1, 0f3F800000; mov.f32 %f2, %f0; mov.f32 %f3, 0f00000000;\n\
        mov.f32 %f4, %f0; setp.lt.u32 %p0, %r0, 16; setp.eq.u32 %p1, %r0, 0; setp.lt.f32 %p2, %f0, 0f00000000;\n\
        mov.pred %p3, %p0; mov.pred %p4, %p1; cvt.rn.f16.f32 %h0, %f0; mov.b16 %h1, %h0; mov.b16 %h2, %h0;\n\
        mov.b16 %h3, %h0; mov.b16 %h4, %h0;\n"
        .to_owned();
    for at in 0..count {
        let statement = STATEMENTS[bytes.next().unwrap_or(0) as usize % STATEMENTS.len()];
        let _ = write!(text, "L{at}: ");
        let (mut before, mut after) = (' ', statement.chars().skip(1).chain([' ']));
        for c in statement.chars() {
            let next = after.next().unwrap_or(' ');
            let stands_alone = !next.is_alphanumeric() && !before.is_alphanumeric();
            let mut byte = || u32::from(bytes.next().unwrap_or(0));
            let _ = match c {
                'R' if stands_alone => write!(text, "%r{}", byte() % 5),
                'F' if stands_alone => write!(text, "%f{}", byte() % 5),
                'H' if stands_alone => write!(text, "%h{}", byte() % 5),
                'P' if stands_alone => write!(text, "%p{}", byte() % 5),
                'N' if stands_alone => write!(text, "{}", [0, 1, 2, 3, 4, 8, 16, 31][byte() as usize % 8]),
                // One branch in eight is backwards, so that most kernels end.
                'L' if stands_alone => {
                    let byte = byte() as usize;
                    let target =
                        if byte % 8 == 7 { byte % (at + 1) } else { at + 1 + byte / 8 % (count - at) };
                    write!(text, "L{target}")
                }
                other => write!(text, "{other}"),
            };
            before = c;
        }
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "L{count}: cvt.u64.u32 %rd3, %r1; and.b64 %rd3, %rd3, 252; add.s64 %rd3, %rd2, %rd3; st.global.f32 [%rd3], %f2;\nret;\n}}"
    );
    text
}
