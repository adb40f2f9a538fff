//! Unknown integers, all of whose values are tried: two kernels that compute the same in different ways, or nearly so.

use std::fmt::Write as _;
use std::rc::Rc;

use volta_core::case::{Case, Contents, ParamKind, Role};
use volta_core::verdict::{Difference, How, Verdict};

use super::{Checked, Family, fill, kernel, list, one_of, pair, side, tensor, told, verify, word};
use crate::interpreter::float::mask;
use crate::interpreter::integer::sign_extend;
use crate::interpreter::random::Random;
use crate::replay::launch::{Inputs, ready};
use crate::replay::values::Values;

/// See the module.
pub const FAMILY: Family = Family {
    name: "unknown integers, all of them",
    share: 400,
    check,
    expects: &[("equivalent", 60), ("different", 60)],
};

/// The number of registers that statements use.
const WORDS: usize = 4;

/// Equal ways to compute a value, and near misses. `$d` is the result, `$a` and `$b` are operands, `$n` is 0 to 31,
/// `$N` is 2ⁿ, `$M` one less, `$o` is 32 − n, `$k` a divisor, `$c` any number.
struct Ways {
    same: &'static [&'static str],
    near: &'static [&'static str],
}

const WAYS: &[Ways] = &[
    Ways {
        same: &[
            "add.s32 $d, $a, $b;",
            "sub.s32 %t, 0, $b; sub.s32 $d, $a, %t;",
            "not.b32 %t, $b; sub.s32 %t, $a, %t; sub.s32 $d, %t, 1;",
            "xor.b32 %t, $a, $b; and.b32 %v, $a, $b; shl.b32 %v, %v, 1; add.s32 $d, %t, %v;",
            "mad.lo.s32 $d, $a, 1, $b;",
        ],
        near: &["or.b32 $d, $a, $b;", "add.sat.s32 $d, $a, $b;", "xor.b32 $d, $a, $b;"],
    },
    Ways {
        same: &["sub.s32 $d, $a, $b;", "not.b32 %t, $a; add.s32 %t, %t, $b; not.b32 $d, %t;"],
        near: &["sub.sat.s32 $d, $a, $b;", "sub.s32 $d, $b, $a;", "sad.s32 $d, $a, $b, 0;"],
    },
    Ways {
        same: &[
            "mul.lo.s32 $d, $a, $N;",
            "shl.b32 $d, $a, $n;",
            "mul.wide.u32 %u, $a, $N; cvt.u32.u64 $d, %u;",
        ],
        near: &["mul24.lo.u32 $d, $a, $N;", "shf.l.wrap.b32 $d, $a, $a, $n;"],
    },
    Ways {
        same: &["shr.u32 $d, $a, $n;", "bfe.u32 $d, $a, $n, 32;", "shf.r.clamp.b32 $d, $a, 0, $n;"],
        near: &["shr.s32 $d, $a, $n;", "shf.r.wrap.b32 $d, $a, $a, $n;", "bfe.u32 $d, $a, $n, 8;"],
    },
    Ways {
        same: &[
            "and.b32 %t, $n, 15; shr.u32 $d, $a, %t;",
            "and.b32 %t, $n, 15; shl.b32 %v, 1, %t; div.u32 $d, $a, %v;",
        ],
        near: &["and.b32 %t, $n, 15; shl.b32 %v, 1, %t; div.s32 $d, $a, %v;"],
    },
    Ways {
        same: &["and.b32 $d, $a, $M;", "bfe.u32 $d, $a, 0, $n;"],
        near: &["rem.s32 $d, $a, 8;", "and.b32 $d, $a, $N;", "bfe.s32 $d, $a, 0, $n;"],
    },
    Ways {
        same: &[
            "and.b32 $d, $a, 7;",
            "rem.u32 $d, $a, 8;",
            "shr.u32 %t, $a, 3; shl.b32 %t, %t, 3; sub.s32 $d, $a, %t;",
        ],
        near: &["rem.s32 $d, $a, 8;", "rem.u32 $d, $a, 7;"],
    },
    Ways {
        same: &["xor.b32 $d, $a, $b;", "or.b32 %t, $a, $b; and.b32 %v, $a, $b; sub.s32 $d, %t, %v;"],
        near: &["add.s32 $d, $a, $b;", "or.b32 $d, $a, $b;"],
    },
    Ways {
        same: &["or.b32 $d, $a, $b;", "and.b32 %t, $a, $b; add.s32 %v, $a, $b; sub.s32 $d, %v, %t;"],
        near: &["max.u32 $d, $a, $b;", "add.s32 $d, $a, $b;"],
    },
    Ways {
        same: &["and.b32 $d, $a, $b;", "not.b32 %t, $a; not.b32 %v, $b; or.b32 %t, %t, %v; not.b32 $d, %t;"],
        near: &["min.u32 $d, $a, $b;", "mul.lo.u32 $d, $a, $b;"],
    },
    Ways {
        same: &["min.s32 $d, $a, $b;", "setp.lt.s32 %p, $a, $b; selp.b32 $d, $a, $b, %p;"],
        near: &["min.u32 $d, $a, $b;", "setp.lt.u32 %p, $a, $b; selp.b32 $d, $a, $b, %p;"],
    },
    Ways {
        same: &["max.u32 $d, $a, $b;", "setp.gt.u32 %p, $a, $b; selp.b32 $d, $a, $b, %p;"],
        near: &["max.s32 $d, $a, $b;", "setp.ge.u32 %p, $b, $a; selp.b32 $d, $a, $b, %p;"],
    },
    Ways {
        same: &[
            "abs.s32 $d, $a;",
            "neg.s32 %t, $a; max.s32 $d, $a, %t;",
            "shr.s32 %t, $a, 31; xor.b32 %v, $a, %t; sub.s32 $d, %v, %t;",
        ],
        near: &["and.b32 $d, $a, 2147483647;", "neg.s32 %t, $a; max.u32 $d, $a, %t;"],
    },
    Ways {
        same: &["neg.s32 $d, $a;", "not.b32 %t, $a; add.s32 $d, %t, 1;", "mul.lo.s32 $d, $a, -1;"],
        near: &["not.b32 $d, $a;", "mov.b32 $d, $a;"],
    },
    Ways {
        same: &[
            "cvt.s32.s8 $d, $a;",
            "shl.b32 %t, $a, 24; shr.s32 $d, %t, 24;",
            "bfe.s32 $d, $a, 0, 8;",
            "prmt.b32 $d, $a, 0, 0x8880;",
            "and.b32 %t, $a, 255; xor.b32 %t, %t, 128; sub.s32 $d, %t, 128;",
        ],
        near: &["cvt.u32.u8 $d, $a;", "cvt.sat.s8.s32 $d, $a;", "mov.b32 $d, $a;"],
    },
    Ways {
        same: &["cvt.u32.u8 $d, $a;", "and.b32 $d, $a, 255;", "prmt.b32 $d, $a, 0, 0x4440;"],
        near: &["cvt.sat.u8.s32 $d, $a;", "cvt.sat.u8.u32 $d, $a;", "mov.b32 $d, $a;"],
    },
    Ways {
        same: &["cvt.sat.s8.s32 $d, $a;", "max.s32 %t, $a, -128; min.s32 $d, %t, 127;"],
        near: &["cvt.s32.s8 $d, $a;", "max.s32 %t, $a, -127; min.s32 $d, %t, 127;"],
    },
    Ways {
        same: &[
            "prmt.b32 $d, $a, $b, 0x5410;",
            "bfi.b32 $d, $b, $a, 16, 16;",
            "and.b32 %t, $a, 65535; shl.b32 %v, $b, 16; or.b32 $d, %t, %v;",
        ],
        near: &["prmt.b32 $d, $b, $a, 0x5410;", "shl.b32 %v, $b, 16; or.b32 $d, $a, %v;"],
    },
    Ways {
        same: &[
            "shf.l.wrap.b32 $d, $a, $b, $n;",
            "shl.b32 %t, $b, $n; shr.u32 %v, $a, $o; or.b32 $d, %t, %v;",
        ],
        near: &[
            "shf.r.wrap.b32 $d, $a, $b, $n;",
            "shl.b32 %t, $a, $n; shr.u32 %v, $b, $o; or.b32 $d, %t, %v;",
        ],
    },
    Ways {
        same: &[
            "lop3.b32 $d, $a, $b, %r2, 0xe8;",
            "and.b32 %t, $a, $b; or.b32 %v, $a, $b; and.b32 %v, %v, %r2; or.b32 $d, %t, %v;",
        ],
        near: &["lop3.b32 $d, $a, $b, %r2, 0xea;", "lop3.b32 $d, $a, $b, %r2, 0x96;"],
    },
    Ways {
        same: &["mul.hi.s32 $d, $a, $b;", "mul.wide.s32 %u, $a, $b; shr.s64 %u, %u, 32; cvt.u32.u64 $d, %u;"],
        near: &["mul.hi.u32 $d, $a, $b;", "mul.wide.u32 %u, $a, $b; shr.u64 %u, %u, 32; cvt.u32.u64 $d, %u;"],
    },
    Ways {
        same: &["rem.s32 $d, $a, $k;", "div.s32 %t, $a, $k; mul.lo.s32 %t, %t, $k; sub.s32 $d, $a, %t;"],
        near: &["rem.u32 $d, $a, $k;", "div.u32 %t, $a, $k; mul.lo.s32 %t, %t, $k; sub.s32 $d, $a, %t;"],
    },
    Ways {
        same: &[
            "div.s32 $d, $a, 8;",
            "shr.s32 %t, $a, 31; and.b32 %t, %t, 7; add.s32 %t, $a, %t; shr.s32 $d, %t, 3;",
        ],
        near: &["shr.s32 $d, $a, 3;", "div.u32 $d, $a, 8;"],
    },
    Ways {
        same: &["div.u32 $d, $a, 3;", "mul.hi.u32 %t, $a, -1431655765; shr.u32 $d, %t, 1;"],
        near: &[
            "div.s32 $d, $a, 3;",
            "mul.hi.u32 %t, $a, 1431655765; mov.b32 $d, %t;",
            "mul.lo.u32 %t, $a, 171; shr.u32 $d, %t, 9;",
        ],
    },
    Ways {
        same: &["set.lt.s32.s32 $d, $a, $b;", "setp.lt.s32 %p, $a, $b; selp.b32 $d, -1, 0, %p;"],
        near: &[
            "setp.lt.s32 %p, $a, $b; selp.b32 $d, 1, 0, %p;",
            "set.le.s32.s32 $d, $a, $b;",
            "set.lt.u32.u32 $d, $a, $b;",
        ],
    },
    Ways {
        same: &[
            "cnot.b32 $d, $a;",
            "setp.eq.s32 %p, $a, 0; selp.b32 $d, 1, 0, %p;",
            "set.eq.u32.u32 %t, $a, 0; and.b32 $d, %t, 1;",
        ],
        near: &["not.b32 $d, $a;", "set.eq.u32.u32 $d, $a, 0;"],
    },
    Ways {
        same: &[
            "sad.u32 $d, $a, $b, %r2;",
            "max.u32 %t, $a, $b; min.u32 %v, $a, $b; sub.s32 %t, %t, %v; add.s32 $d, %t, %r2;",
        ],
        near: &["sad.s32 $d, $a, $b, %r2;", "sub.s32 %t, $a, $b; abs.s32 %t, %t; add.s32 $d, %t, %r2;"],
    },
    Ways {
        same: &[
            "setp.lt.u32 %p, $a, $c; selp.b32 $d, $a, $b, %p;",
            "setp.ge.u32 %p, $a, $c; selp.b32 $d, $b, $a, %p;",
        ],
        near: &[
            "setp.le.u32 %p, $a, $c; selp.b32 $d, $a, $b, %p;",
            "setp.lt.s32 %p, $a, $c; selp.b32 $d, $a, $b, %p;",
        ],
    },
    Ways {
        same: &[
            "setp.eq.s32 %p, $a, $b; selp.b32 $d, $a, $c, %p;",
            "setp.eq.s32 %p, $a, $b; selp.b32 $d, $b, $c, %p;",
        ],
        near: &["setp.ne.s32 %p, $a, $b; selp.b32 $d, $a, $c, %p;", "mov.b32 $d, $a;"],
    },
    Ways {
        same: &[
            "mul.wide.s16 $d, %h0, %h1;",
            "cvt.s32.s16 %t, %h0; cvt.s32.s16 %v, %h1; mul.lo.s32 $d, %t, %v;",
        ],
        near: &["mul.wide.u16 $d, %h0, %h1;", "mul.lo.s16 %h2, %h0, %h1; cvt.s32.s16 $d, %h2;"],
    },
    Ways {
        same: &[
            "dp4a.u32.u32 $d, $a, 0x01010101, 0;",
            "and.b32 %t, $a, 255; bfe.u32 %v, $a, 8, 8; add.s32 %t, %t, %v; bfe.u32 %v, $a, 16, 8; add.s32 %t, %t, %v; shr.u32 %v, $a, 24; add.s32 $d, %t, %v;",
        ],
        near: &["dp4a.s32.s32 $d, $a, 0x01010101, 0;", "dp4a.u32.u32 $d, $a, 0x00010101, 0;"],
    },
    Ways {
        same: &[
            "brev.b32 %t, $a; clz.b32 $d, %t;",
            "neg.s32 %t, $a; and.b32 %t, %t, $a; sub.s32 %t, %t, 1; popc.b32 $d, %t;",
        ],
        near: &["clz.b32 $d, $a;", "bfind.u32 $d, $a;"],
    },
    Ways {
        same: &[
            "add.cc.u32 %t, $a, $b; addc.u32 $d, 0, 0;",
            "add.s32 %t, $a, $b; setp.lt.u32 %p, %t, $a; selp.b32 $d, 1, 0, %p;",
        ],
        near: &["add.s32 %t, $a, $b; setp.lt.s32 %p, %t, $a; selp.b32 $d, 1, 0, %p;"],
    },
];

/// An input of a program.
#[derive(Clone, Copy, Debug)]
struct Input {
    /// Its type in the case.
    element: &'static str,
    bits: u32,
    signed: bool,
    /// The type of the instruction that loads it.
    load: &'static str,
    /// The number of low bits that kernels use; they mask the others.
    kept: u32,
}

const BYTE: Input = Input { element: "u8", bits: 8, signed: false, load: "u8", kept: 8 };
const CHAR: Input = Input { element: "i8", bits: 8, signed: true, load: "s8", kept: 8 };
const TRUTH: Input = Input { element: "bool", bits: 1, signed: false, load: "u8", kept: 1 };
const WORD: Input = Input { element: "u32", bits: 32, signed: false, load: "u32", kept: 32 };

/// The inputs of a program.
fn inputs(random: &mut Random) -> Vec<Input> {
    let masked = |input: Input| Input { kept: 4, ..input };
    match random.below(9) {
        0 => vec![BYTE],
        1 | 2 => vec![CHAR],
        3 => vec![masked(BYTE), masked(BYTE)],
        4 => vec![masked(WORD), masked(WORD)],
        5 => vec![TRUTH, masked(CHAR)],
        6 => vec![WORD],
        7 => vec![WORD, Input { element: "i32", signed: true, ..WORD }],
        _ => vec![Input { element: "i16", bits: 16, signed: true, load: "s16", kept: 16 }, TRUTH],
    }
}

impl Input {
    fn number(self, bits: u64) -> i128 {
        if self.signed {
            i128::from(sign_extend(bits, self.bits))
        } else {
            i128::from(bits & mask(self.bits))
        }
    }

    /// All values, if they are few enough; otherwise extreme values and random ones.
    fn values(self, random: &mut Random, few: usize) -> Vec<u64> {
        if self.kept <= 8 && 1 << self.kept <= few {
            // The masked bits are random.
            let noise = if self.kept < self.bits { random.bits() << self.kept } else { 0 };
            return (0..1 << self.kept).map(|bits| (bits | noise) & mask(self.bits)).collect();
        }
        let mut all: Vec<u64> =
            (0..few as u64 / 2).map(|_| u64::from(word(random)) & mask(self.bits)).collect();
        for at in 0..self.bits.min(few as u32 / 4) {
            all.extend([1 << at, (1 << at) - 1].map(|bits: u64| bits & mask(self.bits)));
        }
        all.truncate(few);
        all
    }
}

/// A step of a program's kernels.
struct Step {
    ways: &'static Ways,
    operands: Vec<(char, String)>,
}

fn step(random: &mut Random) -> Step {
    let register = |random: &mut Random| format!("%r{}", random.below(WORDS));
    let n = random.below(31) as u32;
    let operands = vec![
        ('d', register(random)),
        ('a', register(random)),
        ('b', register(random)),
        ('n', n.to_string()),
        ('N', (1_u32 << n).cast_signed().to_string()),
        ('M', ((1_u32 << n) - 1).to_string()),
        ('o', (32 - n).to_string()),
        ('k', (1 + random.below(20)).to_string()),
        ('c', word(random).cast_signed().to_string()),
    ];
    Step { ways: &WAYS[random.below(WAYS.len())], operands }
}

impl Step {
    fn text(&self, way: &str) -> String {
        fill(way, |what| {
            let known = self.operands.iter().find(|(name, _)| *name == what);
            known.map(|(_, text)| text.clone()).unwrap_or_default()
        })
    }
}

fn program(inputs: &[Input], constants: [u32; WORDS], steps: &[String]) -> String {
    let mut out = String::from(
        "  mov.u32 %t, %ctaid.x; mov.u32 %v, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %i, %t, %v, %i;\n",
    );
    for (at, input) in inputs.iter().enumerate() {
        let bytes = input.bits.max(8) / 8;
        let _ =
            writeln!(out, "  mad.wide.u32 %u, %i, {bytes}, %P{at}; ld.global.{} %r{at}, [%u];", input.load);
        if input.kept < input.bits {
            let _ = writeln!(out, "  and.b32 %r{at}, %r{at}, {};", mask(input.kept));
        }
    }
    for (at, constant) in constants.iter().enumerate().skip(inputs.len()) {
        let _ = writeln!(out, "  mov.u32 %r{at}, {};", constant.cast_signed());
    }
    out += "  cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %r1;\n";
    for step in steps {
        let _ = writeln!(out, "  {step}");
    }
    let output = inputs.len();
    let _ = writeln!(out, "  mad.wide.u32 %u, %i, {}, %P{output};", 4 * WORDS);
    for at in 0..WORDS {
        let _ = writeln!(out, "  st.global.u32 [%u+{}], %r{at};", 4 * at);
    }
    let pointers = ["x", "z", "y"];
    let pointers: Vec<&str> = pointers[..inputs.len()].iter().copied().chain(["y"]).collect();
    let registers =
        format!("  .reg .b32 %r<{WORDS}>, %t, %v, %i; .reg .b64 %u; .reg .b16 %h<3>; .reg .pred %p;\n");
    kernel(&pointers, &registers, &out)
}

/// The case on the given points, or with symbolic inputs.
fn case(inputs: &[Input], points: Option<&[Vec<u64>]>, sides: [&str; 2]) -> Case {
    const BLOCK: u64 = 64;
    let count = points.map_or(1, |points| points.len() as u64);
    let padded = count.div_ceil(BLOCK) * BLOCK;
    let (length, block) = if points.is_some() { (padded, BLOCK) } else { (1, 1) };
    let mut params = Vec::new();
    for (at, input) in inputs.iter().enumerate() {
        let contents = match points {
            None => Contents::Symbolic,
            Some(points) => {
                list((0..length as usize).map(|row| input.number(points[row.min(points.len() - 1)][at])))
            }
        };
        params.push(tensor(["x", "z"][at], input.element, length, Role::In, contents));
    }
    params.push(tensor("y", "u32", length * WORDS as u64, Role::Out, Contents::Undefined));
    let launch = |ptx: &str| {
        let mut side = side(ptx.into(), block as u32);
        side.launch.grid[0] = (length / block) as u32;
        side
    };
    pair(params, launch(sides[0]), launch(sides[1]))
}

/// The results of both kernels at each point.
fn run(case: &Case) -> Result<[Vec<u64>; 2], String> {
    let sides = ready(case)?;
    let inputs: Inputs =
        case.params.iter().map(|param| Values::new(param, None).map(Rc::new)).collect::<Result<_, _>>()?;
    let mut left = [Vec::new(), Vec::new()];
    for (side, left) in sides.iter().zip(&mut left) {
        if let Some(unknown) = side.unknown().first() {
            return Err(format!("the interpreter does not know `{unknown}`"));
        }
        let ran = side.run(&inputs, 1)?;
        let output = ran.outputs.first().ok_or("there is no output")?;
        let ParamKind::Tensor { shape, .. } = &case.params[output.param].kind else {
            return Err("the output is no tensor".into());
        };
        *left = (0..shape[0]).map(|at| output.bits(at)).collect();
    }
    Ok(left)
}

/// The values of the inputs in a witness, which must conform to their types.
fn witness(inputs: &[Input], difference: &Difference) -> Result<Vec<u64>, String> {
    let How::Values(witness) = &difference.how else { return Err("it names no values".into()) };
    let mut point = vec![0; inputs.len()];
    for (name, text) in &witness.inputs {
        let at = if name.starts_with('x') { 0 } else { 1 };
        let value: i128 = text.parse().map_err(|_| format!("{name} = {text} is no integer"))?;
        let input = inputs.get(at).ok_or_else(|| format!("{name} is no input"))?;
        let bits = value as u64 & mask(input.bits);
        if input.number(bits) != value {
            return Err(format!("{name} = {text} is no {}", input.element));
        }
        point[at] = bits;
    }
    Ok(point)
}

fn check(seed: u64) -> Result<Checked, String> {
    let random = &mut Random::new(seed);
    let inputs = inputs(random);
    let constants = std::array::from_fn(|_| word(random));
    let steps: Vec<Step> = (0..1 + random.below(4)).map(|_| step(random)).collect();
    let mut texts = [Vec::new(), Vec::new()];
    for step in &steps {
        texts[0].push(step.text(one_of(random, step.ways.same)));
        let near = random.below(5) == 0;
        texts[1].push(step.text(one_of(random, if near { step.ways.near } else { step.ways.same })));
    }
    let [reference, opt] = [0, 1].map(|side| program(&inputs, constants, &texts[side]));
    let unknown = case(&inputs, None, [&reference, &opt]);
    let verdict = verify(&unknown).verdict;
    let failed = |why: String| told(&unknown, &format!("{why}\nverdict: {verdict:?}"));

    let few = if inputs.len() == 1 { 256 } else { 16 };
    let values: Vec<Vec<u64>> = inputs.iter().map(|input| input.values(random, few)).collect();
    let mut points: Vec<Vec<u64>> = match &values[..] {
        [only] => only.iter().map(|value| vec![*value]).collect(),
        [first, second] => first.iter().flat_map(|a| second.iter().map(move |b| vec![*a, *b])).collect(),
        _ => return Err("there are one or two inputs".into()),
    };
    if let Verdict::Different(difference) = &verdict {
        points.insert(0, witness(&inputs, difference).map_err(&failed)?);
    }
    let [left, right] = run(&case(&inputs, Some(&points), [&reference, &opt])).map_err(&failed)?;
    let differs = (0..points.len() * WORDS).find(|at| left[*at] != right[*at]);
    let known = inputs.iter().all(|input| input.kept <= 8);
    let name = verdict.name();
    match (&verdict, differs) {
        (Verdict::Equivalent | Verdict::EquivalentWhere(_) | Verdict::Same(_), Some(at)) => {
            let point = &points[at / WORDS];
            let (a, b) = (left[at], right[at]);
            return Err(failed(format!("at {point:?}, y[{}] is {a:#x} and {b:#x}", at % WORDS)));
        }
        (Verdict::Different(difference), _) => {
            let at = difference.element as usize;
            if left[at] == right[at] {
                return Err(failed(format!("at the witness {:?} both are {:#x}", points[0], left[at])));
            }
        }
        (Verdict::Equivalent | Verdict::EquivalentWhere(_) | Verdict::Same(_), None) => {}
        (Verdict::Unknown(_), differs) => {
            let told = match (differs, known) {
                (Some(_), true) => "unknown, and different at one of all values",
                (Some(_), false) => "unknown, and different somewhere",
                (None, true) => "unknown, and equal at all values",
                (None, false) => "unknown, and equal where it was tried",
            };
            return Ok(vec![told.into()]);
        }
        (Verdict::Fault(_) | Verdict::InputError(_) | Verdict::Clean, _) => {
            return Err(failed(format!("it is {name}")));
        }
    }
    Ok(vec![name])
}
