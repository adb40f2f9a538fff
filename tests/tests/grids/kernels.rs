//! Random kernels whose CTAs find their elements by arithmetic on `%ctaid`: halves, remainders, swizzles, guards, strides
//! over the grid, rows and columns. Executing one CTA for all that do the same must give the reports that executing all
//! of them gives.

use std::fmt::Write as _;

use proptest::prelude::*;
use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, FormsWanted, KernelLaunch, Launch, Options, Param, ParamKind,
    Role, Rules,
};

/// Elements of the tensors.
const ELEMENTS: u64 = 4096;

/// How a kernel computes with the position of its CTA.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// CTAs in x and y.
    pub(crate) grid: [u32; 2],
    /// Threads of a CTA.
    pub(crate) threads: u32,
    block: Block,
    /// Steps on the index of a thread's element.
    steps: Vec<Step>,
    /// Whether consecutive threads have consecutive elements.
    is_row: bool,
    guard: Option<u32>,
    /// How many elements a thread has, one grid apart.
    rounds: u32,
    /// What is added to an element of `x`.
    addend: Addend,
    /// Each thread stores this far from where it loads.
    apart: u32,
}

/// The number of a block.
#[derive(Clone, Copy, Debug)]
enum Block {
    Linear,
    Reversed,
    Transposed,
    /// Quotient and remainder by this number are exchanged.
    Swizzled(u32),
    /// Neighbours are exchanged.
    Exclusive(u32),
    /// Only x: rows of the grid meet.
    OnlyX,
}

/// A step on an index.
#[derive(Clone, Copy, Debug)]
enum Step {
    Add(u32),
    Halve,
    Double,
    Modulo(u32),
    AndNot(u32),
    Least(u32),
    ToReverse,
    /// Into the number of the thread, from this bit on.
    Insert(u32),
    /// Bits from one to another.
    Bits(u32, u32),
}

#[derive(Clone, Copy, Debug)]
enum Addend {
    Nothing,
    /// An element of `w` that all CTAs read.
    Thread,
    /// An element of `w` for each so many CTAs.
    Block(u32),
    /// The next element of `x`.
    Next,
    /// A number that depends on the CTA.
    Number,
    /// One of two elements, by the CTA's number.
    Either(u32),
}

fn block() -> impl Strategy<Value = Block> {
    prop_oneof![
        4 => Just(Block::Linear),
        1 => Just(Block::Reversed),
        1 => Just(Block::Transposed),
        1 => (2u32..5).prop_map(Block::Swizzled),
        1 => (1u32..4).prop_map(Block::Exclusive),
        1 => Just(Block::OnlyX),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u32..40).prop_map(Step::Add),
        Just(Step::Halve),
        Just(Step::Double),
        prop::sample::select(vec![32u32, 64, 100, 512, 1000, 4096]).prop_map(Step::Modulo),
        (1u32..5).prop_map(|bits| Step::AndNot((1 << bits) - 1)),
        prop::sample::select(vec![100u32, 511, 4095]).prop_map(Step::Least),
        Just(Step::ToReverse),
        (0u32..6).prop_map(Step::Insert),
        (0u32..6, 6u32..13).prop_map(|(low, high)| Step::Bits(low, high)),
    ]
}

fn addend() -> impl Strategy<Value = Addend> {
    prop_oneof![
        3 => Just(Addend::Nothing),
        1 => Just(Addend::Thread),
        1 => (1u32..5).prop_map(Addend::Block),
        1 => Just(Addend::Next),
        1 => Just(Addend::Number),
        1 => (1u32..9).prop_map(Addend::Either),
    ]
}

/// Kernels, most of them with CTAs that do the same.
pub(crate) fn kernel() -> impl Strategy<Value = Kernel> {
    let guard = prop_oneof![2 => Just(None), 1 => prop::sample::select(vec![100u32, 256, 333, 1024, 4096]).prop_map(Some)];
    let steps = prop_oneof![4 => Just(Vec::new()), 3 => prop::collection::vec(step(), 1..4)];
    let shape = ([4u32..24, 1u32..4], prop::sample::select(vec![1u32, 4, 8, 32]));
    (
        shape,
        block(),
        steps,
        prop::bool::weighted(0.8),
        guard,
        1u32..3,
        addend(),
        prop_oneof![4 => Just(0u32), 1 => 1u32..9],
    )
        .prop_map(|((grid, threads), block, steps, is_row, guard, rounds, addend, apart)| Kernel {
            grid,
            threads,
            block,
            steps,
            is_row,
            guard,
            rounds,
            addend,
            apart,
        })
}

impl Kernel {
    /// Its PTX.
    pub(crate) fn ptx(&self) -> String {
        let [gx, gy] = self.grid;
        let (all, threads) = (gx * gy, self.threads);
        let mut text = String::from(
            ".version 8.0\n.target sm_80\n.address_size 64\n\
             .visible .entry k(.param .u64 x, .param .u64 w, .param .u64 y)\n{\n\
             .reg .b32 %r<20>; .reg .f32 %f<5>; .reg .b64 %rd<9>; .reg .pred %p<5>;\n\
             ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [w]; ld.param.u64 %rd3, [y];\n\
             mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %tid.x;\n",
        );
        let mut put = |line: String| {
            let _ = writeln!(text, "{line}");
        };
        put(format!("mad.lo.s32 %r4, %r2, {gx}, %r1;"));
        match self.block {
            Block::Linear => {}
            Block::Reversed => put(format!("sub.s32 %r4, {}, %r4;", all - 1)),
            Block::Transposed => put(format!("mad.lo.s32 %r4, %r1, {gy}, %r2;")),
            Block::Swizzled(by) => put(format!(
                "rem.u32 %r5, %r4, {by}; div.u32 %r6, %r4, {by}; mad.lo.s32 %r4, %r5, {}, %r6;",
                all.div_ceil(by)
            )),
            Block::Exclusive(with) => put(format!("xor.b32 %r4, %r4, {with};")),
            Block::OnlyX => put("mov.u32 %r4, %r1;".into()),
        }
        if self.is_row {
            put(format!("mad.lo.s32 %r7, %r4, {threads}, %r3;"));
        } else {
            put(format!("mad.lo.s32 %r7, %r3, {all}, %r4;"));
        }
        for step in &self.steps {
            put(match step {
                Step::Add(by) => format!("add.s32 %r7, %r7, {by};"),
                Step::Halve => "shr.u32 %r7, %r7, 1;".into(),
                Step::Double => "shl.b32 %r7, %r7, 1;".into(),
                Step::Modulo(by) => format!("rem.u32 %r7, %r7, {by};"),
                Step::AndNot(mask) => format!("and.b32 %r7, %r7, {};", !mask as i32),
                Step::Least(most) => format!("min.u32 %r7, %r7, {most};"),
                Step::Insert(at) => format!("bfi.b32 %r7, %r7, %r3, {at}, {};", 12 - at),
                Step::Bits(low, high) => format!("and.b32 %r7, %r7, {};", (1u32 << high) - (1u32 << low)),
                Step::ToReverse => format!("sub.s32 %r7, {}, %r7;", ELEMENTS - 1),
            });
        }
        put("mov.u32 %r8, 0;\nROUND:".into());
        if let Some(most) = self.guard {
            put(format!("setp.ge.s32 %p1, %r7, {most}; @%p1 bra DONE;"));
        }
        put("mul.wide.s32 %rd4, %r7, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5];".into());
        let from_w = "mul.wide.u32 %rd6, %r9, 4; add.s64 %rd7, %rd2, %rd6; ld.global.f32 %f2, [%rd7];";
        let added = "add.f32 %f1, %f1, %f2;";
        match self.addend {
            Addend::Nothing => {}
            Addend::Thread => put(format!("mov.u32 %r9, %r3; {from_w} {added}")),
            Addend::Block(by) => put(format!("div.u32 %r9, %r4, {by}; {from_w} {added}")),
            Addend::Next => put(format!("ld.global.f32 %f2, [%rd5+4]; {added}")),
            Addend::Number => put(format!("cvt.rn.f32.u32 %f2, %r4; {added}")),
            Addend::Either(from) => {
                put(format!("setp.lt.u32 %p2, %r1, {from}; selp.b32 %r9, 3, 5, %p2; {from_w} {added}"))
            }
        }
        put(format!("add.s64 %rd8, %rd3, %rd4; st.global.f32 [%rd8+{}], %f1;", 4 * self.apart));
        put(format!(
            "add.s32 %r7, %r7, {}; add.s32 %r8, %r8, 1; setp.lt.u32 %p3, %r8, {}; @%p3 bra ROUND;\nDONE: ret;\n}}",
            all * threads,
            self.rounds
        ));
        text
    }

    fn launch(&self) -> KernelLaunch {
        let mut launch = Launch::of_threads(self.threads);
        launch.grid = [self.grid[0], self.grid[1], 1];
        KernelLaunch { ptx: self.ptx(), path: "k.ptx".into(), kernel: None, arguments: None, launch }
    }
}

/// A case of a kernel, or of two.
pub(crate) fn case(reference: Option<&Kernel>, opt: &Kernel, every_cta: bool) -> Case {
    let param = |name: &str, role, contents| {
        let element = Element::parse("f32").unwrap_or(Element::Bool);
        let shape = vec![ELEMENTS];
        let assumed = Assumed::default();
        let kind = ParamKind::Tensor { reference: element, opt: element, shape, role, contents, assumed };
        Param::new(name, kind, Binding::Argument)
    };
    let rules = Rules { partial: true, ..Rules::default() };
    let forms = FormsWanted::Never;
    Case {
        params: vec![
            param("x", Role::In, Contents::Symbolic),
            param("w", Role::In, Contents::Symbolic),
            param("y", Role::Out, Contents::Undefined),
        ],
        reference: reference.map(|reference| reference.launch().into()),
        opt: opt.launch().into(),
        options: Options { rules, threads: 1, forms, every_cta, ..Options::default() },
    }
}
