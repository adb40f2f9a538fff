//! Integer and bitwise operations on constants: a random program against the constants that the interpreter computes.

use std::fmt::Write as _;

use volta_core::case::{Case, Contents, Param, Role};

use super::{Checked, Family, fill, kernel, list, one_of, pair, side, tensor, told, verify, word};
use crate::interpreter::random::Random;
use crate::replay::launch::{Inputs, ready};
use crate::replay::values::Values;

/// See the module.
pub const FAMILY: Family = Family {
    name: "integers and bits, known",
    share: 200,
    check,
    expects: &[("equivalent", 200), ("different", 200)],
};

/// The number of registers of each width.
const WORDS: usize = 6;
const DOUBLES: usize = 3;
const HALVES: usize = 3;
const PREDICATES: usize = 3;

/// Statements: `$r`, `$d`, `$h` are registers of 32, 64 and 16 bits, `$p` a predicate; `$a` a register or a number, `$n` a
/// small number, `$i` any, `$q` two registers that differ.
const STATEMENTS: &[&str] = &[
    "add.s32 $r, $r, $a;",
    "sub.s32 $r, $r, $a;",
    "mul.lo.s32 $r, $r, $a;",
    "mul.hi.s32 $r, $r, $a;",
    "mul.hi.u32 $r, $r, $a;",
    "mul24.lo.s32 $r, $r, $a;",
    "mul24.lo.u32 $r, $r, $a;",
    "mad.lo.s32 $r, $r, $a, $r;",
    "mad.hi.u32 $r, $r, $r, $a;",
    "mad.hi.s32 $r, $r, $r, $a;",
    "add.sat.s32 $r, $r, $a;",
    "sub.sat.s32 $r, $r, $a;",
    "or.b32 %t, $r, 1; div.u32 $r, $r, %t;",
    "or.b32 %t, $r, 1; rem.u32 $r, $r, %t;",
    "and.b32 %t, $r, 65535; or.b32 %t, %t, 1; div.s32 $r, $r, %t;",
    "and.b32 %t, $r, 65535; or.b32 %t, %t, 1; rem.s32 $r, $r, %t;",
    "div.s32 $r, $r, -7;",
    "rem.s32 $r, $r, -8;",
    "and.b32 $r, $r, $a;",
    "or.b32 $r, $r, $a;",
    "xor.b32 $r, $r, $a;",
    "not.b32 $r, $r;",
    "cnot.b32 $r, $r;",
    "lop3.b32 $r, $r, $r, $a, $l;",
    "shl.b32 $r, $r, $a;",
    "shr.u32 $r, $r, $a;",
    "shr.s32 $r, $r, $a;",
    "shl.b32 $r, $r, $n;",
    "shr.s32 $r, $r, $n;",
    "shf.l.wrap.b32 $r, $r, $r, $a;",
    "shf.r.wrap.b32 $r, $r, $r, $a;",
    "shf.l.clamp.b32 $r, $r, $r, $a;",
    "shf.r.clamp.b32 $r, $r, $r, $a;",
    "min.s32 $r, $r, $a;",
    "max.s32 $r, $r, $a;",
    "min.u32 $r, $r, $a;",
    "max.u32 $r, $r, $a;",
    "abs.s32 $r, $r;",
    "neg.s32 $r, $r;",
    "sad.s32 $r, $r, $a, $r;",
    "sad.u32 $r, $r, $a, $r;",
    "popc.b32 $r, $r;",
    "clz.b32 $r, $r;",
    "brev.b32 $r, $r;",
    "bfind.u32 $r, $r;",
    "bfind.s32 $r, $r;",
    "bfind.shiftamt.u32 $r, $r;",
    "bfe.u32 $r, $r, $a, $n;",
    "bfe.s32 $r, $r, $n, $n;",
    "bfe.s32 $r, $r, $n, $a;",
    "bfi.b32 $r, $r, $r, $n, $n;",
    "bfi.b32 $r, $r, $r, $a, $a;",
    "prmt.b32 $r, $r, $r, $a;",
    "prmt.b32.f4e $r, $r, $r, $n;",
    "prmt.b32.ecr $r, $r, $r, $n;",
    "prmt.b32.rc8 $r, $r, $r, $n;",
    "dp4a.s32.s32 $r, $r, $r, $r;",
    "dp4a.u32.s32 $r, $r, $a, $r;",
    "dp2a.lo.s32.u32 $r, $r, $r, $r;",
    "dp2a.hi.u32.u32 $r, $r, $a, $r;",
    "add.cc.u32 $r, $r, $a; addc.cc.u32 $r, $r, $a; addc.u32 $r, $r, 0;",
    "sub.cc.u32 $r, $r, $a; subc.cc.u32 $r, $r, $a; subc.u32 $r, $r, 0;",
    "mad.lo.cc.u32 $r, $r, $r, $r; madc.hi.u32 $r, $r, $r, 0;",
    "setp.lt.s32 $p, $r, $a;",
    "setp.lt.u32 $p, $r, $a;",
    "setp.ge.s32 $p, $r, $a;",
    "setp.hi.u32 $p, $r, $a;",
    "setp.eq.b32 $p, $r, $a;",
    "setp.ne.s32.and $p, $r, $a, $p;",
    "setp.le.u32.xor $p, $r, $a, !$p;",
    "setp.gt.s64 $p, $d, $d;",
    "setp.lt.u64 $p, $d, $d;",
    "setp.ls.u16 $p, $h, $h;",
    "and.pred $p, $p, $p;",
    "xor.pred $p, $p, $p;",
    "not.pred $p, $p;",
    "selp.b32 $r, $r, $a, $p;",
    "selp.b64 $d, $d, $d, $p;",
    "selp.b16 $h, $h, $h, $p;",
    "set.lt.u32.s32 $r, $r, $a;",
    "slct.b32.s32 $r, $r, $r, $r;",
    "add.s64 $d, $d, $d;",
    "sub.s64 $d, $d, $d;",
    "mul.lo.s64 $d, $d, $d;",
    "mul.hi.s64 $d, $d, $d;",
    "mul.hi.u64 $d, $d, $d;",
    "mul.wide.s32 $d, $r, $a;",
    "mul.wide.u32 $d, $r, $a;",
    "mad.wide.s32 $d, $r, $r, $d;",
    "mad.wide.u32 $d, $r, $a, $d;",
    "mad.lo.u64 $d, $d, $d, $d;",
    "or.b64 %u, $d, 1; div.u64 $d, $d, %u;",
    "or.b64 %u, $d, 1; rem.u64 $d, $d, %u;",
    "rem.s64 $d, $d, 1000;",
    "div.s64 $d, $d, -3;",
    "and.b64 $d, $d, $d;",
    "xor.b64 $d, $d, $d;",
    "shl.b64 $d, $d, $a;",
    "shr.u64 $d, $d, $n;",
    "shr.s64 $d, $d, $a;",
    "min.s64 $d, $d, $d;",
    "max.u64 $d, $d, $d;",
    "abs.s64 $d, $d;",
    "popc.b64 $r, $d;",
    "clz.b64 $r, $d;",
    "brev.b64 $d, $d;",
    "bfind.s64 $r, $d;",
    "bfe.u64 $d, $d, $n, $n;",
    "bfe.s64 $d, $d, $n, $a;",
    "bfi.b64 $d, $d, $d, $n, $n;",
    "mov.b64 $d, {$r, $r};",
    "mov.b64 {$q}, $d;",
    "mov.b32 $r, {$h, $h};",
    "cvt.u64.u32 $d, $r;",
    "cvt.s64.s32 $d, $r;",
    "cvt.u32.u64 $r, $d;",
    "cvt.sat.u32.s64 $r, $d;",
    "cvt.sat.s32.s64 $r, $d;",
    "cvt.u32.u16 $r, $h;",
    "cvt.s32.s16 $r, $h;",
    "cvt.s64.s16 $d, $h;",
    "cvt.u16.u32 $h, $r;",
    "cvt.sat.s16.s32 $h, $r;",
    "cvt.sat.u16.s32 $h, $r;",
    "cvt.u32.u8 $r, $r;",
    "cvt.s32.s8 $r, $r;",
    "cvt.sat.u8.s32 $r, $r;",
    "cvt.sat.s8.s32 $r, $r;",
    "add.s16 $h, $h, $h;",
    "sub.s16 $h, $h, $h;",
    "mul.lo.s16 $h, $h, $h;",
    "mul.hi.u16 $h, $h, $h;",
    "mul.wide.s16 $r, $h, $h;",
    "mul.wide.u16 $r, $h, $h;",
    "shl.b16 $h, $h, $a;",
    "shr.s16 $h, $h, $n;",
    "min.u16 $h, $h, $h;",
    "max.s16 $h, $h, $h;",
    "xor.b16 $h, $h, $h;",
    "not.b16 $h, $h;",
];

/// Collectives of a whole warp; `$m` is the full mask.
const COLLECTIVES: &[&str] = &[
    "shfl.sync.bfly.b32 $r, $r, $n, 31, $m;",
    "shfl.sync.idx.b32 $r, $r, $n, 31, $m;",
    "shfl.sync.down.b32 $r|$p, $r, $n, 31, $m;",
    "shfl.sync.up.b32 $r, $r, $n, 0, $m;",
    "vote.sync.ballot.b32 $r, $p, $m;",
    "vote.sync.any.pred $p, $p, $m;",
    "vote.sync.all.pred $p, !$p, $m;",
    "match.any.sync.b32 $r, $r, $m;",
    "redux.sync.add.s32 $r, $r, $m;",
    "redux.sync.min.s32 $r, $r, $m;",
    "redux.sync.max.u32 $r, $r, $m;",
    "redux.sync.xor.b32 $r, $r, $m;",
];

struct Text<'r> {
    random: &'r mut Random,
    out: String,
    /// The number of labels and counters so far.
    labels: usize,
    /// The full mask, if there is only one warp and it is complete.
    mask: Option<u32>,
}

/// Draws the replacement of a placeholder.
fn operand(random: &mut Random, what: char, mask: u32) -> String {
    let register = |random: &mut Random, kind: char, count: usize| format!("%{kind}{}", random.below(count));
    match what {
        'r' => register(random, 'r', WORDS),
        'd' => register(random, 'd', DOUBLES),
        'h' => register(random, 'h', HALVES),
        'p' => register(random, 'p', PREDICATES),
        'a' if random.below(2) == 0 => register(random, 'r', WORDS),
        'a' | 'i' => (word(random) as i32).to_string(),
        'n' => random.below(36).to_string(),
        'l' => random.below(256).to_string(),
        'm' => mask.to_string(),
        'q' => {
            let first = random.below(WORDS);
            let second = (first + 1 + random.below(WORDS - 1)) % WORDS;
            format!("%r{first}, %r{second}")
        }
        other => other.to_string(),
    }
}

impl Text<'_> {
    fn statement(&mut self, together: bool) {
        let lonely = self.mask.filter(|_| together && self.random.below(12) == 0);
        let template = match lonely {
            Some(_) => one_of(self.random, COLLECTIVES),
            None => one_of(self.random, STATEMENTS),
        };
        let random = &mut *self.random;
        let text = fill(template, |what| operand(random, what, lonely.unwrap_or(0)));
        let guarded = lonely.is_none() && text.matches(';').count() == 1 && random.below(8) == 0;
        let guard = if guarded { format!("@%p{} ", random.below(PREDICATES)) } else { String::new() };
        let _ = writeln!(self.out, "  {guard}{text}");
    }

    /// Adds statements, among them loops and branches; `together` if control is uniform.
    fn block(&mut self, count: usize, depth: usize, together: bool) {
        for _ in 0..count {
            match if depth == 0 { 9 } else { self.random.below(10) } {
                0 => self.repeat(depth, together),
                1 => self.choice(depth),
                _ => self.statement(together),
            }
        }
    }

    fn repeat(&mut self, depth: usize, together: bool) {
        let label = self.labels;
        self.labels += 1;
        let alike = self.random.below(2) == 0;
        let _ = if alike {
            writeln!(self.out, "  mov.u32 %n{label}, {};", 1 + self.random.below(4))
        } else {
            let from = self.random.below(WORDS);
            writeln!(self.out, "  and.b32 %n{label}, %r{from}, 3; add.u32 %n{label}, %n{label}, 1;")
        };
        let _ = writeln!(self.out, "L{label}:");
        let count = 1 + self.random.below(3);
        self.block(count, depth - 1, together && alike);
        let _ = writeln!(
            self.out,
            "  sub.u32 %n{label}, %n{label}, 1; setp.ne.u32 %c{label}, %n{label}, 0;\n  @%c{label} bra L{label};"
        );
    }

    fn choice(&mut self, depth: usize) {
        let label = self.labels;
        self.labels += 1;
        let _ = writeln!(self.out, "  @!%p{} bra E{label};", self.random.below(PREDICATES));
        let count = 1 + self.random.below(3);
        self.block(count, depth - 1, false);
        let _ = writeln!(self.out, "  bra F{label};\nE{label}:");
        let count = self.random.below(3);
        self.block(count, depth - 1, false);
        let _ = writeln!(self.out, "F{label}:");
    }
}

/// The outputs of a thread: words, and double words.
const OUT_WORDS: usize = WORDS + HALVES + 1;

fn declarations(labels: usize) -> String {
    format!(
        "  .reg .b32 %r<{WORDS}>; .reg .b64 %d<{DOUBLES}>; .reg .b16 %h<{HALVES}>; .reg .pred %p<{PREDICATES}>;\n  \
         .reg .b32 %t, %tid; .reg .b64 %u, %at; .reg .pred %is;\n  .reg .b32 %n<{}>; .reg .pred %c<{}>;\n",
        labels + 1,
        labels + 1
    )
}

/// The random kernel, which reads `x` and writes `y` and `z`.
fn program(random: &mut Random, threads: u32) -> String {
    let mut start = String::from("  mov.u32 %tid, %tid.x; mov.u32 %r0, %tid.x;\n");
    for at in 1..WORDS {
        let _ = match random.below(3) {
            0 => writeln!(
                start,
                "  mad.lo.u32 %r{at}, %tid, {}, {};",
                word(random) as i32,
                word(random) as i32
            ),
            1 => writeln!(start, "  mov.u32 %r{at}, {};", word(random) as i32),
            _ => writeln!(start, "  mad.wide.u32 %at, %tid, 4, %P0; ld.global.u32 %r{at}, [%at];"),
        };
    }
    for at in 0..DOUBLES {
        let [high, low] = [word(random), word(random)];
        let _ = writeln!(start, "  mov.u64 %d{at}, {};", (u64::from(high) << 32 | u64::from(low)) as i64);
    }
    for at in 0..HALVES {
        let _ = writeln!(start, "  cvt.u16.u32 %h{at}, %r{};", random.below(WORDS));
    }
    for at in 0..PREDICATES {
        let _ = writeln!(start, "  setp.gt.s32 %p{at}, %r{}, {};", random.below(WORDS), random.below(9));
    }
    let mask = (threads == 32).then_some(u32::MAX);
    let count = 4 + random.below(14);
    let mut text = Text { random, out: start, labels: 0, mask };
    text.block(count, 2, true);
    let (mut out, labels) = (text.out, text.labels);
    let _ = writeln!(out, "  mad.wide.u32 %at, %tid, {}, %P1;", 4 * OUT_WORDS);
    for at in 0..WORDS {
        let _ = writeln!(out, "  st.global.u32 [%at+{}], %r{at};", 4 * at);
    }
    for at in 0..HALVES {
        let _ = writeln!(out, "  cvt.u32.u16 %t, %h{at}; st.global.u32 [%at+{}], %t;", 4 * (WORDS + at));
    }
    out += "  mov.u32 %t, 0;\n";
    for at in 0..PREDICATES {
        let _ = writeln!(out, "  @%p{at} or.b32 %t, %t, {};", 1 << at);
    }
    let _ = writeln!(out, "  st.global.u32 [%at+{}], %t;", 4 * (OUT_WORDS - 1));
    let _ = writeln!(out, "  mad.wide.u32 %at, %tid, {}, %P2;", 8 * DOUBLES);
    for at in 0..DOUBLES {
        let _ = writeln!(out, "  st.global.u64 [%at+{}], %d{at};", 8 * at);
    }
    kernel(&["x", "y", "z"], &declarations(labels), &out)
}

/// A kernel of one thread that stores constants.
fn constants(words: &[u64], doubles: &[u64]) -> String {
    let mut out = String::new();
    for (at, value) in words.iter().enumerate() {
        let _ = writeln!(out, "  mov.b32 %t, {value}; st.global.u32 [%P1+{}], %t;", 4 * at);
    }
    for (at, value) in doubles.iter().enumerate() {
        let _ = writeln!(out, "  mov.b64 %u, {}; st.global.u64 [%P2+{}], %u;", *value as i64, 8 * at);
    }
    kernel(&["x", "y", "z"], &declarations(0), &out)
}

/// The outputs of the interpreter, which must be the same under two schedules.
pub(crate) fn interpreted(case: &Case) -> Result<Vec<Vec<u64>>, String> {
    let sides = ready(case)?;
    if let Some(unknown) = sides[0].unknown().first() {
        return Err(format!("the interpreter does not know `{unknown}`"));
    }
    let inputs: Inputs = case
        .params
        .iter()
        .map(|param| Values::new(param, None).map(std::rc::Rc::new))
        .collect::<Result<_, _>>()?;
    let mut runs = [1, 2].into_iter().map(|seed| {
        let ran = sides[0].run(&inputs, seed)?;
        Ok::<_, String>(
            ran.outputs
                .iter()
                .map(|output| {
                    let param: &Param = &case.params[output.param];
                    (0..super::super::replay::values::count(param)).map(|at| output.bits(at)).collect()
                })
                .collect::<Vec<Vec<u64>>>(),
        )
    });
    let (first, second) = (runs.next().ok_or("no run")??, runs.next().ok_or("no run")??);
    if first == second { Ok(first) } else { Err("two schedules leave different outputs".into()) }
}

fn check(seed: u64) -> Result<Checked, String> {
    let random = &mut Random::new(seed);
    let threads = one_of(random, &[1, 3, 8, 32, 37]);
    let ptx = program(random, threads);
    let count = u64::from(threads);
    let params = vec![
        tensor("x", "u32", count, Role::In, list((0..count).map(|_| i128::from(word(random))))),
        tensor("y", "u32", count * OUT_WORDS as u64, Role::Out, Contents::Undefined),
        tensor("z", "u64", count * DOUBLES as u64, Role::Out, Contents::Undefined),
    ];
    let alone = pair(params, side(ptx.clone(), threads), side(ptx, threads));
    let found = interpreted(&alone).map_err(|why| told(&alone, &why))?;
    let mut checked = Checked::new();
    let mut expect = |outputs: &[Vec<u64>], wanted: &str| {
        let opt = side(constants(&outputs[0], &outputs[1]), 1).into();
        let case = Case { opt, ..alone.clone() };
        let name = verify(&case).verdict.name();
        checked.push(name.clone());
        if name == wanted { Ok(()) } else { Err(told(&case, &format!("it is {name}, not {wanted}"))) }
    };
    expect(&found, "equivalent")?;
    let mut wrong = found.clone();
    let at = random.below(2);
    let element = random.below(wrong[at].len());
    wrong[at][element] ^= 1 << random.below(if at == 0 { 32 } else { 64 });
    expect(&wrong, "different")?;
    Ok(checked)
}
