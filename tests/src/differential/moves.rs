//! Moves of elements: packed, shuffled, stored and loaded, in words of several widths; the test tracks where each
//! element goes.

use std::fmt::Write as _;

use volta_core::case::{Case, Contents, Role};

use super::{Checked, Family, kernel, one_of, pair, side, tensor, told, verify};
use crate::interpreter::random::Random;

/// See the module.
pub const FAMILY: Family = Family {
    name: "moves and shared memory",
    share: 120,
    check,
    expects: &[("equivalent", 120), ("different", 120)],
};

/// The number of registers of a thread.
const REGISTERS: usize = 4;

/// An element of the input, by its number.
type Element = usize;

/// The kernel so far, and the elements in each thread's registers.
struct Text {
    out: String,
    held: Vec<[Element; REGISTERS]>,
    threads: usize,
    /// The type of moves, which must make no difference.
    kind: &'static str,
}

impl Text {
    fn push(&mut self, text: String) {
        let _ = writeln!(self.out, "  {text}");
    }

    /// Adds moves within a thread.
    fn local(&mut self, random: &mut Random) {
        let [a, b, c, d] = shuffled(random);
        match random.below(6) {
            0 => {
                let kind = self.kind;
                self.push(format!("mov.{kind} %f{a}, %f{b};"));
                self.held.iter_mut().for_each(|held| held[a] = held[b]);
            }
            1 => {
                // Packed in one order, unpacked in another.
                self.push(format!("mov.b64 %u, {{%f{a}, %f{b}}}; mov.b64 {{%f{b}, %f{a}}}, %u;"));
                self.held.iter_mut().for_each(|held| held.swap(a, b));
            }
            2 => {
                self.push(format!(
                    "mov.b64 %u, {{%f{a}, %f{b}}}; shr.u64 %u, %u, 32; cvt.u32.u64 %f{c}, %u;"
                ));
                self.held.iter_mut().for_each(|held| held[c] = held[b]);
            }
            3 => {
                let bound = random.below(self.threads + 1);
                self.push(format!(
                    "setp.lt.u32 %p, %tid, {bound}; selp.{} %f{a}, %f{b}, %f{c}, %p;",
                    self.kind
                ));
                for (tid, held) in self.held.iter_mut().enumerate() {
                    held[a] = if tid < bound { held[b] } else { held[c] };
                }
            }
            4 => {
                let selector = one_of(random, &[("0x3210", false), ("0x7654", true)]);
                self.push(format!("prmt.b32 %f{a}, %f{b}, %f{c}, {};", selector.0));
                self.held.iter_mut().for_each(|held| held[a] = if selector.1 { held[c] } else { held[b] });
            }
            _ => {
                let mask = 1 << random.below(5);
                self.push(format!(
                    "and.b32 %t, %tid, {mask}; setp.ne.u32 %p, %t, 0; @%p mov.b32 %f{d}, %f{a};"
                ));
                for (tid, held) in self.held.iter_mut().enumerate() {
                    if tid & mask != 0 {
                        held[d] = held[a];
                    }
                }
            }
        }
    }

    /// Adds a shuffle of whole warps.
    fn shuffle(&mut self, random: &mut Random) {
        let [a, b, ..] = shuffled(random);
        let amount = random.below(32);
        // Segments of 8, 16 or 32 lanes.
        let width = one_of(random, &[8, 16, 32]);
        let mode = one_of(random, &["bfly", "down", "up", "idx"]);
        let from = |lane: usize| {
            let (first, end) = (lane / width * width, (lane / width + 1) * width);
            let inside = |at: usize| if (first..end).contains(&at) { at } else { lane };
            match mode {
                // Lanes of earlier segments may be read, those of later ones may not.
                "bfly" if lane ^ amount < end => lane ^ amount,
                "bfly" => lane,
                "down" => inside(lane + amount),
                "up" => inside(lane.wrapping_sub(amount)),
                _ => first + amount % width,
            }
        };
        let clamp = (32 - width) << 8 | if mode == "up" { 0 } else { 31 };
        self.push(format!("shfl.sync.{mode}.b32 %f{a}, %f{b}, {amount}, {clamp}, -1;"));
        let old = self.held.clone();
        for (tid, held) in self.held.iter_mut().enumerate() {
            held[a] = old[tid / 32 * 32 + from(tid % 32)][b];
        }
    }

    /// Adds an exchange through shared memory: all threads store, pass a barrier, and load from other places.
    fn shared(&mut self, random: &mut Random) {
        let threads = self.threads;
        let width = one_of(random, &[1, 2, 4]);
        // An odd factor permutes threads, whose number is a power of two.
        let [factor, offset] = [2 * random.below(threads) + 1, random.below(threads)];
        let place = |tid: usize| (tid * factor + offset) % threads;
        let vector = |width: usize, registers: &[usize]| match (width, registers) {
            (1, [a, ..]) => ("b32".to_string(), format!("%f{a}")),
            (2, [a, b, ..]) => ("v2.b32".to_string(), format!("{{%f{a}, %f{b}}}")),
            (_, all) => {
                let list: Vec<String> = all.iter().map(|at| format!("%f{at}")).collect();
                ("v4.b32".to_string(), format!("{{{}}}", list.join(", ")))
            }
        };
        let from = shuffled(random);
        let (kind, list) = vector(width, &from);
        self.push(format!(
            "mad.lo.u32 %t, %tid, {factor}, {offset}; and.b32 %t, %t, {}; shl.b32 %t, %t, {};",
            threads - 1,
            width.ilog2() + 2
        ));
        self.push(format!("mov.u32 %s, tile; add.u32 %s, %s, %t; st.shared.{kind} [%s], {list};"));
        self.push("bar.sync 0;".into());
        let mut memory = vec![usize::MAX; threads * width];
        for (tid, held) in self.held.iter().enumerate() {
            for part in 0..width {
                memory[place(tid) * width + part] = held[from[part]];
            }
        }
        // The loads have another width, and other addresses.
        let total = threads * width;
        let read = one_of(random, &[1, 2, 4]);
        let read = read.min(width);
        let (turn, to) = (random.below(total / read), shuffled(random));
        let (kind, list) = vector(read, &to);
        self.push(format!(
            "add.u32 %t, %tid, {turn}; and.b32 %t, %t, {}; shl.b32 %t, %t, {};",
            total / read - 1,
            read.ilog2() + 2
        ));
        self.push(format!("mov.u32 %s, tile; add.u32 %s, %s, %t; ld.shared.{kind} {list}, [%s];"));
        self.push("bar.sync 0;".into());
        for (tid, held) in self.held.iter_mut().enumerate() {
            for part in 0..read {
                held[to[part]] = memory[(tid + turn) % (total / read) * read + part];
            }
        }
    }
}

fn shuffled(random: &mut Random) -> [usize; REGISTERS] {
    let mut all = std::array::from_fn(|at| at);
    for at in (1..REGISTERS).rev() {
        all.swap(at, random.below(at + 1));
    }
    all
}

fn declarations(threads: usize) -> String {
    format!(
        "  .reg .b32 %f<{REGISTERS}>; .reg .b32 %t, %tid, %s; .reg .b64 %u, %at; .reg .pred %p;\n  .shared .align 16 .b8 tile[{}];\n",
        16 * threads
    )
}

/// A kernel with the same threads, each of which stores the given elements.
fn gather(held: &[[Element; REGISTERS]]) -> String {
    let mut out = String::from("  mov.u32 %tid, %tid.x; mad.wide.u32 %at, %tid, 16, %P1;\n");
    for at in 0..REGISTERS {
        let _ = writeln!(out, "  mov.u32 %s, {};", held[0][at]);
        for (tid, held) in held.iter().enumerate().skip(1) {
            let _ = writeln!(out, "  setp.eq.u32 %p, %tid, {tid}; selp.b32 %s, {}, %s, %p;", held[at]);
        }
        let _ = writeln!(
            out,
            "  mad.wide.u32 %u, %s, 4, %P0; ld.global.b32 %f{at}, [%u]; st.global.b32 [%at+{}], %f{at};",
            4 * at
        );
    }
    kernel(&["x", "y"], &declarations(held.len()), &out)
}

fn check(seed: u64) -> Result<Checked, String> {
    let random = &mut Random::new(seed);
    let threads = one_of(random, &[32, 64]);
    let float = random.below(2) == 0;
    let mut text = Text {
        out: String::from("  mov.u32 %tid, %tid.x; mad.wide.u32 %at, %tid, 16, %P0;\n"),
        held: (0..threads).map(|tid| std::array::from_fn(|at| tid * REGISTERS + at)).collect(),
        threads,
        kind: if float { "f32" } else { "b32" },
    };
    match random.below(3) {
        0 => text.push("ld.global.v4.b32 {%f0, %f1, %f2, %f3}, [%at];".into()),
        1 => text.push("ld.global.v2.b32 {%f0, %f1}, [%at]; ld.global.v2.f32 {%f2, %f3}, [%at+8];".into()),
        _ => (0..REGISTERS).for_each(|at| text.push(format!("ld.global.b32 %f{at}, [%at+{}];", 4 * at))),
    }
    for _ in 0..2 + random.below(8) {
        match random.below(4) {
            0 => text.shared(random),
            1 => text.shuffle(random),
            _ => text.local(random),
        }
    }
    text.push("mad.wide.u32 %at, %tid, 16, %P1;".into());
    match random.below(2) {
        0 => text.push("st.global.v4.b32 [%at], {%f0, %f1, %f2, %f3};".into()),
        _ => (0..REGISTERS).for_each(|at| text.push(format!("st.global.b32 [%at+{}], %f{at};", 4 * at))),
    }
    let ptx = kernel(&["x", "y"], &declarations(threads), &text.out);
    let element = one_of(random, &["f32", "u32", "i32"]);
    let count = (threads * REGISTERS) as u64;
    let params = vec![
        tensor("x", element, count, Role::In, Contents::Symbolic),
        tensor("y", element, count, Role::Out, Contents::Undefined),
    ];
    let mut checked = Checked::new();
    let mut expect = |held: &[[Element; REGISTERS]], wanted: &str| {
        let reference = side(gather(held), threads as u32);
        let case: Case = pair(params.clone(), reference, side(ptx.clone(), threads as u32));
        let verdict = verify(&case).verdict;
        let name = verdict.name();
        checked.push(name.clone());
        if name == wanted {
            Ok(())
        } else {
            Err(told(&case, &format!("it is {name}, not {wanted}: {verdict:?}")))
        }
    };
    let mut held = text.held;
    expect(&held, "equivalent")?;
    let (tid, at) = (random.below(threads), random.below(REGISTERS));
    held[tid][at] = (held[tid][at] + 1 + random.below(count as usize - 1)) % count as usize;
    expect(&held, "different")?;
    Ok(checked)
}
