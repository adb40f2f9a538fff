//! Layouts of elements in shared memory: boxes of tensor maps, and factors of products by warpgroups.
//!
//! A kernel moves elements of `x` through a box, or through a factor whose product with the identity is taken. The
//! interpreter tells which element of `x` each element of `y` is; a reference that gathers exactly these must be
//! equivalent, and one that is wrong in one place different.

use std::fmt::Write as _;
use std::rc::Rc;

use volta_core::case::{
    Argument, Case, Contents, Element, KernelLaunch, Launch, Param, Role, Swizzle, TensorMap,
};

use super::{Checked, Family, list, one_of, pair, tensor, told, verify};
use crate::interpreter::random::Random;
use crate::replay::launch::{Inputs, alone};
use crate::replay::values::{Number, Values};

/// See the module.
pub const FAMILY: Family = Family {
    name: "boxes and factors",
    share: (TILES + FACTORS) as u64,
    check,
    expects: &[
        ("equivalent", 80),
        ("different", 80),
        ("a box loaded", 12),
        ("a box stored", 12),
        ("left of f16", 8),
        ("right of f16", 8),
        ("left of bf16", 8),
        ("right of bf16", 8),
        ("left of tf32", 4),
        ("right of tf32", 4),
        ("left of e4m3", 4),
        ("right of e4m3", 4),
        ("left of e5m2", 4),
        ("right of e5m2", 4),
        ("left of s8", 4),
        ("right of s8", 4),
        ("left of u8", 4),
        ("right of u8", 4),
    ],
};

/// The number of kinds of boxes: direction, swizzle, size of elements.
const TILES: usize = 2 * SWIZZLES.len() * MOVED.len();

/// The number of kinds of factors: side, swizzle, and type, two of which have two orders.
const FACTORS: usize = 2 * SWIZZLES.len() * (KINDS.len() + 2);

/// The number of threads of a kernel.
const THREADS: u64 = 128;

/// The period of all swizzle patterns in bytes.
const PATTERN: u64 = 1024;

/// A kernel that moves elements.
struct Moves {
    what: String,
    /// The element types of `x` and `y`.
    elements: [&'static str; 2],
    counts: [u64; 2],
    side: KernelLaunch,
}

/// Swizzles: name in cases, bits in descriptors, and bytes of a line.
const SWIZZLES: [(Swizzle, u64, u64); 4] =
    [(Swizzle::None, 0, 16), (Swizzle::B32, 3, 32), (Swizzle::B64, 2, 64), (Swizzle::B128, 1, 128)];

/// The element types of boxes, with their bytes.
const MOVED: [(&str, u64); 3] = [("u8", 1), ("f16", 2), ("f32", 4)];

/// A type of factors: its name as a modifier, its bytes, the bits of 1, and how a register `%r` of it becomes `%f`.
struct Kind {
    name: &'static str,
    element: &'static str,
    bytes: u64,
    one: u32,
    widen: &'static str,
}

impl Kind {
    fn is_integer(&self) -> bool {
        matches!(self.name, "s8" | "u8")
    }
}

const KINDS: [Kind; 7] = [
    Kind {
        name: "f16",
        element: "f16",
        bytes: 2,
        one: 0x3c00,
        widen: "cvt.u16.u32 %h, %r; cvt.f32.f16 %f, %h;",
    },
    Kind { name: "bf16", element: "bf16", bytes: 2, one: 0x3f80, widen: "shl.b32 %f, %r, 16;" },
    Kind { name: "tf32", element: "f32", bytes: 4, one: 0x3f80_0000, widen: "mov.b32 %f, %r;" },
    Kind {
        name: "e4m3",
        element: "e4m3",
        bytes: 1,
        one: 0x38,
        widen: "cvt.u16.u32 %h, %r; cvt.rn.f16x2.e4m3x2 %r, %h; mov.b32 {%h, %g}, %r; cvt.f32.f16 %f, %h;",
    },
    Kind {
        name: "e5m2",
        element: "e5m2",
        bytes: 1,
        one: 0x3c,
        widen: "cvt.u16.u32 %h, %r; cvt.rn.f16x2.e5m2x2 %r, %h; mov.b32 {%h, %g}, %r; cvt.f32.f16 %f, %h;",
    },
    Kind { name: "s8", element: "i8", bytes: 1, one: 1, widen: "cvt.s32.s8 %r, %r; mov.b32 %f, %r;" },
    Kind { name: "u8", element: "u8", bytes: 1, one: 1, widen: "mov.b32 %f, %r;" },
];

const DECLARATIONS: &str =
    "  .reg .b16 %h, %g; .reg .b32 %tid, %i, %r, %s, %t; .reg .f32 %f; .reg .b64 %at, %x, %y, %m;
  .reg .pred %p, %q;
  mov.u32 %tid, %tid.x; mov.u32 %s, smem;
";

fn module(parameters: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n\
         .visible .entry k({parameters})\n{{\n{DECLARATIONS}{body}  ret;\n}}\n"
    )
}

/// A loop in which the threads together execute `body` for each `%i` below `count`.
fn each(label: &str, count: u64, body: &str) -> String {
    format!(
        "  mov.u32 %i, %tid;\n{label}:\n  setp.ge.u32 %p, %i, {count};\n  @%p bra {label}_end;\n{body}  add.u32 %i, %i, {THREADS};\n  bra {label};\n{label}_end:\n"
    )
}

/// Copies elements of `bytes` bytes between `smem` and the tensor at `%x` or `%y`.
fn raw(label: &str, count: u64, bytes: u64, start: u64, loads: bool) -> String {
    let (width, tensor) = (8 * bytes, if loads { "x" } else { "y" });
    let place = format!("  mad.wide.u32 %at, %i, {bytes}, %{tensor}; mad.lo.u32 %t, %i, {bytes}, %s;\n");
    let moves = if loads {
        format!("  ld.global.b{width} %r, [%at]; st.shared.b{width} [%t+{start}], %r;\n")
    } else {
        format!("  ld.shared.b{width} %r, [%t+{start}]; st.global.b{width} [%at], %r;\n")
    };
    each(label, count, &(place + &moves))
}

/// A kernel that loads or stores a box of a tensor map.
fn tile(kind: usize, random: &mut Random) -> Moves {
    let loads = kind.is_multiple_of(2);
    let (swizzle, _, line) = SWIZZLES[kind / 2 % SWIZZLES.len()];
    let (element, bytes) = MOVED[kind / 2 / SWIZZLES.len()];
    let rank = 1 + random.below(4);
    // The innermost dimension fills a line of the pattern.
    let inner = if swizzle == Swizzle::None { 16 * (1 + random.below(3) as u64) } else { line };
    let mut tiles = vec![inner / bytes];
    (1..rank).for_each(|at| tiles.push(1 + random.below([12, 4, 3][at - 1]) as u64));
    let mut extents = Vec::new();
    let mut first: Vec<i64> = Vec::new();
    for (at, tile) in tiles.iter().enumerate() {
        let slack = random.below(*tile as usize) as u64;
        let (mut extent, mut begin) = if loads {
            (tile + random.below(6) as u64, random.below(*tile as usize) as i64 - slack as i64 / 2)
        } else {
            // A store covers the whole tensor.
            (tile - slack, -(random.below(slack as usize + 1) as i64))
        };
        if at == 0 {
            // The size of a row must be a multiple of 16 bytes.
            extent = extent.next_multiple_of(16 / bytes);
            if !loads {
                begin = -(random.below((tile - extent) as usize + 1) as i64);
            }
        }
        extents.push(extent);
        first.push(begin);
    }
    let elements: u64 = tiles.iter().product();
    let whole: u64 = extents.iter().product();
    let start = 128 * random.below(8) as u64;
    let size = elements * bytes;
    let barrier = (start + size).next_multiple_of(PATTERN);
    let coordinates: Vec<String> = first.iter().map(i64::to_string).collect();
    let coordinates = coordinates.join(", ");
    let body = if loads {
        format!(
            "  ld.param.u64 %y, [y]; mov.b64 %m, m; cvta.param.u64 %m, %m; setp.eq.u32 %q, %tid, 0;
  @%q mbarrier.init.shared.b64 [%s+{barrier}], 1;
  bar.sync 0;
  @%q mbarrier.arrive.expect_tx.shared.b64 _, [%s+{barrier}], {size};
  @%q cp.async.bulk.tensor.{rank}d.shared::cta.global.mbarrier::complete_tx::bytes [%s+{start}], [%m, {{{coordinates}}}], [%s+{barrier}];
wait:
  mbarrier.try_wait.parity.shared.b64 %p, [%s+{barrier}], 0;
  @!%p bra wait;
{}",
            raw("out", elements, bytes, start, false)
        )
    } else {
        format!(
            "  ld.param.u64 %x, [x]; mov.b64 %m, m; cvta.param.u64 %m, %m; setp.eq.u32 %q, %tid, 0;
{}  fence.proxy.async.shared::cta;
  bar.sync 0;
  @%q cp.async.bulk.tensor.{rank}d.global.shared::cta.bulk_group [%m, {{{coordinates}}}], [%s+{start}];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
",
            raw("in", elements, bytes, start, true)
        )
    };
    let (of, other) = if loads { ("x", "y") } else { ("y", "x") };
    let outermost_first = |list: &[u64]| list.iter().rev().copied().collect();
    let map = TensorMap {
        of: of.into(),
        r#box: outermost_first(&tiles),
        swizzle,
        shape: outermost_first(&extents),
        strides: Vec::new(),
    };
    let arguments = vec![Argument::Map { name: "m".into(), map }, Argument::Named(other.into())];
    Moves {
        what: if loads { "a box loaded" } else { "a box stored" }.into(),
        elements: [element; 2],
        counts: if loads { [whole, elements] } else { [elements, whole] },
        side: side(
            module(&format!(".param .align 64 .b8 m[128], .param .u64 {other}"), &body),
            arguments,
            barrier + 8,
        ),
    }
}

fn side(ptx: String, arguments: Vec<Argument>, shared: u64) -> KernelLaunch {
    let launch = Launch { shared: shared as u32, ..Launch::of_threads(THREADS as u32) };
    KernelLaunch { ptx, path: "random.ptx".into(), kernel: None, arguments: Some(arguments), launch }
}

/// The place of a factor in shared memory.
struct Place {
    start: u64,
    descriptor: u64,
    size: u64,
}

impl Place {
    /// A factor with rows (or columns) `across` of `along` elements, somewhere in `smem`.
    fn draw(
        random: &mut Random,
        (_, mode, line): (Swizzle, u64, u64),
        (across, along): (u64, u64),
        bytes: u64,
        k_major: bool,
    ) -> Place {
        let (t, plain) = (16 / bytes, mode == 0);
        let atom = 8 * line;
        let mut stride = || atom * (1 + random.below(2) as u64);
        let (leading, stride) = (stride(), stride());
        let (blocks, steps) = match (k_major, plain) {
            (true, true) => ((across / 8, stride), (2, leading)),
            (true, false) => ((across / 8, stride), (1, 0)),
            (false, true) => ((across / t, stride), (along / 8, leading)),
            (false, false) => ((across.div_ceil(t * line / 16), leading), (along / 8, stride)),
        };
        // Along k, a factor may begin within a line.
        let within = if k_major && !plain { 32 * random.below(line as usize / 32) as u64 } else { 0 };
        let start = atom * random.below(3) as u64 + within;
        let size = start + (blocks.0 - 1) * blocks.1 + (steps.0 - 1) * steps.1 + atom;
        let descriptor = leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
        Place { start, descriptor, size: size.next_multiple_of(PATTERN) }
    }
}

/// A kernel that multiplies a factor in shared memory by the identity.
fn factor(kind: usize, random: &mut Random) -> Moves {
    let left = kind.is_multiple_of(2);
    let swizzle = SWIZZLES[kind / 2 % SWIZZLES.len()];
    // After all types follow those of 16 bits in the other order.
    let kind = kind / 2 / SWIZZLES.len();
    let k_major = kind < KINDS.len();
    let kind = &KINDS[kind % KINDS.len()];
    let Kind { name, element, bytes, one, .. } = *kind;
    let k = 32 / bytes;
    let n = if left { k } else { 8 * one_of(random, &[1, 2, 3, 8]) };
    let place = Place::draw(random, swizzle, (if left { 64 } else { n }, k), bytes, k_major);
    let count = place.size / bytes;
    let mut body = format!(
        "  .reg .b32 %a<4>; .reg .b32 %d<{}>; .reg .b64 %u, %v;\n  ld.param.u64 %x, [x]; ld.param.u64 %y, [y];\n{}",
        n / 2,
        raw("in", count, bytes, 0, true)
    );
    let mut descriptor = |register: &str, start: u64, rest: u64| {
        let _ = writeln!(
            body,
            "  add.u32 %t, %s, {start}; bfe.u32 %t, %t, 4, 14; cvt.u64.u32 {register}, %t; or.b64 {register}, {register}, {};",
            rest.cast_signed()
        );
    };
    descriptor("%u", place.start, place.descriptor);
    // The identity is stored without swizzle, in columns of 8 units of 16 bytes.
    descriptor("%v", place.size, 128 >> 4 << 16 | 256 >> 4 << 32);
    let mut end = place.size;
    if left {
        let t = 16 / bytes;
        let mut identity = vec![0; (k * n * bytes) as usize];
        for at in 0..k {
            let place = at % 8 * 16 + at / 8 * 256 + at % t * bytes + at / t * 128;
            identity[place as usize..][..bytes as usize]
                .copy_from_slice(&one.to_le_bytes()[..bytes as usize]);
        }
        body += "  setp.eq.u32 %q, %tid, 0;\n";
        for word in identity.chunks(4) {
            let value = word.iter().rev().fold(0, |sum: u32, byte| sum << 8 | u32::from(*byte));
            let _ = writeln!(body, "  @%q st.shared.b32 [%s+{end}], {value};");
            end += 4;
        }
    } else {
        // Row and columns of each register of a lane: each warp has 16 rows, and all columns.
        let per = 4 / bytes;
        for register in 0..4 {
            let _ = writeln!(body, "  mov.b32 %a{register}, 0;");
            for part in 0..per {
                // Row minus column: 16·warp + g + 8·(register odd) − (per·t + part + 4·per·(register / 2)).
                let _ = writeln!(
                    body,
                    "  shr.u32 %t, %tid, 5; and.b32 %i, %tid, 31; shr.u32 %r, %i, 2; mad.lo.u32 %t, %t, 16, %r; and.b32 %i, %i, 3; mad.lo.u32 %i, %i, {per}, {};",
                    part + 4 * per * (register / 2)
                );
                let _ = writeln!(
                    body,
                    "  add.u32 %t, %t, {}; setp.eq.u32 %p, %t, %i; @%p or.b32 %a{register}, %a{register}, {};",
                    8 * (register % 2),
                    u64::from(one) << (8 * bytes * part)
                );
            }
        }
    }
    let list = |prefix: &str, count: u64| {
        let all: Vec<String> = (0..count).map(|at| format!("%{prefix}{at}")).collect();
        format!("{{{}}}", all.join(", "))
    };
    let d = list("d", n / 2);
    // Accumulators that are not added may hold anything.
    let (adds, held) = one_of(random, &[("0", "0f40000000"), ("1", "0f00000000"), ("%q", "0f00000000")]);
    (0..n / 2).for_each(|at| _ = writeln!(body, "  mov.b32 %d{at}, {held};"));
    // Integers cannot be negated; the factors may differ in signedness, and no sum overflows.
    let [scale_a, scale_b] = [one_of(random, &[1, -1]), one_of(random, &[1, -1])];
    let (types, signs) = if kind.is_integer() {
        let other = one_of(random, &["s8", "u8"]);
        let (a, b) = if left { (name, other) } else { (other, name) };
        (format!("{}s32.{a}.{b}", one_of(random, &["", "satfinite."])), String::new())
    } else {
        (format!("f32.{name}.{name}"), format!(", {scale_a}, {scale_b}"))
    };
    let (a, b) = if left { ("%u".into(), "%v") } else { (list("a", 4), "%u") };
    let trans = match (bytes == 2, left) {
        (false, _) => String::new(),
        (true, true) => format!(", {}, 0", u8::from(!k_major)),
        (true, false) => format!(", {}", u8::from(!k_major)),
    };
    let _ = writeln!(
        body,
        "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n  setp.lt.u32 %q, %tid, 128;\n  wgmma.fence.sync.aligned;\n  wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {d}, {a}, {b}, {adds}{signs}{trans};\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;"
    );
    // In every 8 columns, a lane holds two neighbouring elements of each of two rows, 8 apart.
    let _ = writeln!(
        body,
        "  shr.u32 %t, %tid, 5; and.b32 %i, %tid, 31; shr.u32 %r, %i, 2; mad.lo.u32 %t, %t, 16, %r; and.b32 %i, %i, 3; shl.b32 %i, %i, 1; mad.lo.u32 %t, %t, {n}, %i; mad.wide.u32 %at, %t, 4, %y;"
    );
    for at in 0..n / 2 {
        let offset = at / 2 % 2 * 8 * n + at / 4 * 8 + at % 2;
        let _ = writeln!(body, "  st.global.b32 [%at+{}], %d{at};", 4 * offset);
    }
    let arguments = ["x", "y"].map(|name| Argument::Named(name.into())).to_vec();
    Moves {
        what: format!("{} of {name}", if left { "left" } else { "right" }),
        elements: [element, if kind.is_integer() { "i32" } else { "f32" }],
        counts: [count, 64 * n],
        side: side(module(".param .u64 x, .param .u64 y", &body), arguments, end),
    }
}

/// A kernel that gathers elements of `x`, or their negations, by the numbers in `t`, which count from 1; 0 means zero.
fn gather(moves: &Moves, negated: bool) -> KernelLaunch {
    let [x, y] = moves.elements;
    let bytes = |name: &str| Element::parse(name).map_or(0, Element::bytes);
    let [from, to] = [bytes(x), bytes(y)];
    let widen = if x == y { "mov.b32 %f, %r;" } else { kind_of(x).widen };
    let sign = if negated { "neg.f32 %f, %f;" } else { "" };
    let store = if to == 4 {
        "st.global.b32 [%at], %f;".into()
    } else {
        format!("mov.b32 %r, %f; st.global.b{} [%at], %r;", 8 * to)
    };
    let body = format!(
        "  mad.wide.u32 %at, %i, 4, %m; ld.global.u32 %t, [%at]; setp.ne.u32 %q, %t, 0; sub.u32 %t, %t, 1;
  mad.wide.u32 %at, %t, {from}, %x; mov.b32 %r, 0; @%q ld.global.b{} %r, [%at];
  {widen} {sign}
  mad.wide.u32 %at, %i, {to}, %y; {store}\n",
        8 * from
    );
    let body = format!(
        "  ld.param.u64 %x, [x]; ld.param.u64 %m, [t]; ld.param.u64 %y, [y];\n{}",
        each("all", moves.counts[1], &body)
    );
    let arguments = ["x", "t", "y"].map(|name| Argument::Named(name.into())).to_vec();
    side(module(".param .u64 x, .param .u64 t, .param .u64 y", &body), arguments, 0)
}

fn kind_of(element: &str) -> &'static Kind {
    KINDS.iter().find(|kind| kind.element == element).unwrap_or(&KINDS[0])
}

/// For each element of `y` in the interpreter, the number of the element of `x` that it is, from 1, or 0 for zero; and
/// whether all are negated.
fn traced(moves: &Moves, random: &mut Random) -> Result<(Vec<u64>, bool), String> {
    // Every type represents the numbers below this.
    const BASE: u64 = 8;
    let [x, y] = moves.elements;
    let mut found = vec![0; moves.counts[1] as usize];
    let mut power = 1;
    let mut signs = [false; 2];
    while power <= moves.counts[0] {
        let digits = (1..=moves.counts[0]).map(|number| i128::from(number / power % BASE));
        let params = vec![
            tensor("x", x, moves.counts[0], Role::In, list(digits)),
            tensor("y", y, moves.counts[1], Role::Out, Contents::Undefined),
        ];
        let case =
            Case { params, reference: None, opt: moves.side.clone().into(), options: Default::default() };
        let inputs: Inputs = case
            .params
            .iter()
            .map(|param: &Param| Values::new(param, None).map(Rc::new))
            .collect::<Result<_, _>>()?;
        let ran = alone(&case)?.run(&inputs, random.bits()).map_err(|why| told(&case, &why))?;
        for (at, sum) in found.iter_mut().enumerate() {
            let digit = match ran.outputs[0].number(at as u64) {
                Number::Real(value) => {
                    signs[usize::from(value < 0.0)] |= value != 0.0;
                    value.abs() as u64
                }
                Number::Bits(bits) => bits,
            };
            *sum += power * digit;
        }
        power *= BASE;
    }
    if signs == [true; 2] { Err("some elements are negated".into()) } else { Ok((found, signs[1])) }
}

fn check(seed: u64) -> Result<Checked, String> {
    let random = &mut Random::new(seed);
    let kind = seed as usize % (TILES + FACTORS);
    let moves = if kind < TILES { tile(kind, random) } else { factor(kind - TILES, random) };
    let (mut found, negated) = traced(&moves, random)?;
    let mut checked = vec![moves.what.clone()];
    let mut expect = |found: &[u64], wanted: &str| {
        let table = list(found.iter().map(|number| i128::from(*number)));
        let [x, y] = moves.elements;
        let params = vec![
            tensor("x", x, moves.counts[0], Role::In, Contents::Symbolic),
            tensor("t", "u32", moves.counts[1], Role::In, table),
            tensor("y", y, moves.counts[1], Role::Out, Contents::Undefined),
        ];
        let case = pair(params, gather(&moves, negated), moves.side.clone());
        let verdict = verify(&case).verdict;
        let name = verdict.name();
        checked.push(name.clone());
        if name == wanted {
            Ok(())
        } else {
            Err(told(&case, &format!("{}: it is {name}, not {wanted}: {verdict:?}", moves.what)))
        }
    };
    expect(&found, "equivalent")?;
    let at = random.below(found.len());
    found[at] = (found[at] + 1) % moves.counts[0];
    expect(&found, "different")?;
    Ok(checked)
}
