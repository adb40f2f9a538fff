//! Warp collectives with the whole warp present. Source: PTX ISA, "shfl.sync", "vote.sync", "match.sync",
//! "redux.sync".

use volta_core::case::Element;

use super::integer::number;
use super::run::{Held, Random, boundaries, execute, mask};

const U32: Element = Element::Int { bytes: 4, signed: false };

/// Runs `text` in warps of 32 lanes; `%a %b %c` are a lane's operands, `%d` its result and `%p` another one. `%q` is
/// whether `%a` is odd, `%m` a mask with the lane in it.
fn warps(text: &str, count: usize, sources: [Vec<u64>; 4]) -> [Vec<u64>; 2] {
    let ptx = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 m, .param .u64 d, .param .u64 p) {{\n\
         .reg .b32 %a, %b, %c, %d, %m, %i, %t; .reg .b64 %p<13>; .reg .pred %p, %q;\n\
         mov.u32 %i, %tid.x; mov.u32 %d, 0; setp.eq.u32 %p, 0, 1;\n\
         ld.param.u64 %p0, [a]; mad.wide.u32 %p1, %i, 4, %p0; ld.global.u32 %a, [%p1];\n\
         ld.param.u64 %p2, [b]; mad.wide.u32 %p3, %i, 4, %p2; ld.global.u32 %b, [%p3];\n\
         ld.param.u64 %p4, [c]; mad.wide.u32 %p5, %i, 4, %p4; ld.global.u32 %c, [%p5];\n\
         ld.param.u64 %p6, [m]; mad.wide.u32 %p7, %i, 4, %p6; ld.global.u32 %m, [%p7];\n\
         and.b32 %t, %a, 1; setp.ne.u32 %q, %t, 0;\n\
         {text};\n\
         ld.param.u64 %p8, [d]; mad.wide.u32 %p9, %i, 4, %p8; st.global.u32 [%p9], %d;\n\
         selp.u32 %t, 1, 0, %p;\n\
         ld.param.u64 %p10, [p]; mad.wide.u32 %p11, %i, 4, %p10; st.global.u32 [%p11], %t;\n\
         ret; }}\n"
    );
    let inputs: Vec<(u32, Vec<u64>)> = sources.into_iter().map(|list| (32, list)).collect();
    let outputs = [(U32, 32 * count as u64); 2];
    let held = execute(&ptx, &inputs, &outputs, 1, 32 * count as u32);
    let held = held.unwrap_or_else(|error| panic!("{text}: {error}"));
    let words = |list: &[Held]| {
        list.iter()
            .map(|held| match held {
                Held::Bits(bits) => *bits,
                Held::Constant(_) => panic!("{text}: a real comes out"),
            })
            .collect()
    };
    [words(&held[0]), words(&held[1])]
}

const WARPS: usize = 16;

fn full_mask() -> Vec<u64> {
    vec![mask(32); 32 * WARPS]
}

#[test]
fn shuffles_follow_the_manual_in_every_segment() {
    let mut random = Random(81);
    let values: Vec<u64> = (0..32 * WARPS).map(|_| random.next() & mask(32)).collect();
    for mode in ["up", "down", "bfly", "idx"] {
        for width in [32u64, 16, 8, 4, 2, 1] {
            // As the compiler encodes `width`; the clamp is 0 for `up`.
            let c = (32 - width) << 8 | if mode == "up" { 0 } else { 31 };
            // Each warp shuffles by another amount, once the same in all lanes and once not.
            for uniform in [true, false] {
                let amounts: Vec<u64> = (0..32 * WARPS as u64)
                    .map(|thread| if uniform { thread / 32 * 2 } else { random.next() & 63 })
                    .collect();
                let clamps = vec![c; 32 * WARPS];
                let [d, p] = warps(
                    &format!("shfl.sync.{mode}.b32 %d|%p, %a, %b, %c, %m"),
                    WARPS,
                    [values.clone(), amounts.clone(), clamps, full_mask()],
                );
                for thread in 0..32 * WARPS {
                    let (lane, b) = (thread as i64 % 32, (amounts[thread] & 31) as i64);
                    let (segment, clamp) = ((c >> 8 & 31) as i64, (c & 31) as i64);
                    let max = lane & segment | clamp & !segment;
                    let min = lane & segment;
                    let (j, inside) = match mode {
                        "up" => (lane - b, lane - b >= max),
                        "down" => (lane + b, lane + b <= max),
                        "bfly" => (lane ^ b, lane ^ b <= max),
                        _ => (min | b & !segment, true),
                    };
                    let inside = if mode == "idx" { j <= max } else { inside };
                    let source = if inside { thread as i64 - lane + j } else { thread as i64 };
                    let wanted = values[source as usize];
                    assert_eq!(
                        (d[thread], p[thread]),
                        (wanted, u64::from(inside)),
                        "{mode}, width {width}, thread {thread}, by {b}"
                    );
                }
            }
        }
    }
}

#[test]
fn shuffles_of_whole_widths_are_what_cuda_says() {
    // `__shfl_*_sync(x, by, width)` in plain words, not in the manual's formulas.
    let values: Vec<u64> = (0..32).map(|lane| 100 + lane).collect();
    for width in [32i64, 16, 8, 4] {
        for by in 0..width {
            for (mode, clamp) in [("up", 0), ("down", 31), ("bfly", 31), ("idx", 31)] {
                let c = (32 - width as u64) << 8 | clamp;
                let [d, _] = warps(
                    &format!("shfl.sync.{mode}.b32 %d|%p, %a, {by}, {c}, -1"),
                    1,
                    [values.clone(), vec![0; 32], vec![0; 32], vec![0; 32]],
                );
                for lane in 0..32i64 {
                    let (group, inner) = (lane / width * width, lane % width);
                    let from = match mode {
                        "up" => {
                            if inner >= by {
                                lane - by
                            } else {
                                lane
                            }
                        }
                        "down" => {
                            if inner + by < width {
                                lane + by
                            } else {
                                lane
                            }
                        }
                        "bfly" => group + (inner ^ by),
                        _ => group + by,
                    };
                    // A butterfly never leaves the group when the group's size is a power of two.
                    assert_eq!(d[lane as usize], 100 + from as u64, "{mode} by {by} of {width}, lane {lane}");
                }
            }
        }
    }
}

/// Values with few different ones, some warps all the same, and masks that split warps into two groups.
fn grouped() -> ([Vec<u64>; 4], Vec<u64>) {
    let mut random = Random(91);
    let pool = boundaries(32);
    let mut values = Vec::new();
    let mut masks = Vec::new();
    for warp in 0..WARPS {
        let split = match warp % 4 {
            0 => mask(32),
            1 => 0x0000_ffff,
            2 => 0x5555_5555,
            _ => random.next() & mask(32) | 1,
        };
        let few = [random.pick(&pool), random.pick(&pool), random.next() & mask(32)];
        for lane in 0..32 {
            masks.push(if split >> lane & 1 == 1 { split } else { !split & mask(32) });
            values.push(match warp / 4 {
                0 => few[0],
                1 => random.pick(&few),
                2 => random.pick(&pool),
                _ => random.next() & mask(32),
            });
        }
    }
    let rest = vec![0; 32 * WARPS];
    ([values, rest.clone(), rest, masks.clone()], masks)
}

/// Compares a collective with an oracle over the values of a lane's group.
fn check_groups(text: &str, oracle: impl Fn(u64, &[(usize, u64)]) -> (u64, u64)) {
    let (sources, masks) = grouped();
    let values = sources[0].clone();
    let [d, p] = warps(text, WARPS, sources);
    for thread in 0..32 * WARPS {
        let warp = thread / 32 * 32;
        let group: Vec<(usize, u64)> = (0..32)
            .filter(|lane| masks[thread] >> lane & 1 == 1)
            .map(|lane| (lane, values[warp + lane]))
            .collect();
        let wanted = oracle(values[thread], &group);
        assert_eq!((d[thread], p[thread]), wanted, "{text}, thread {thread}");
    }
}

fn lanes_of(group: &[(usize, u64)], holds: impl Fn(u64) -> bool) -> u64 {
    group.iter().filter(|(_, value)| holds(*value)).fold(0, |out, (lane, _)| out | 1 << lane)
}

#[test]
fn votes() {
    let odd = |value: u64| value & 1 == 1;
    check_groups("vote.sync.ballot.b32 %d, %q, %m", |_, group| (lanes_of(group, odd), 0));
    check_groups("vote.sync.ballot.b32 %d, !%q, %m", |_, group| (lanes_of(group, |v| !odd(v)), 0));
    check_groups("vote.sync.any.pred %p, %q, %m", |_, group| {
        (0, u64::from(group.iter().any(|(_, value)| odd(*value))))
    });
    check_groups("vote.sync.all.pred %p, %q, %m", |_, group| {
        (0, u64::from(group.iter().all(|(_, value)| odd(*value))))
    });
    check_groups("vote.sync.uni.pred %p, %q, %m", |own, group| {
        (0, u64::from(group.iter().all(|(_, value)| odd(*value) == odd(own))))
    });
    check_groups("vote.sync.all.pred %p, !%q, %m", |_, group| {
        (0, u64::from(group.iter().all(|(_, value)| !odd(*value))))
    });
}

#[test]
fn matches() {
    let all = |own: u64, group: &[(usize, u64)]| group.iter().all(|(_, value)| *value == own);
    check_groups("match.any.sync.b32 %d, %a, %m", |own, group| (lanes_of(group, |value| value == own), 0));
    check_groups("match.all.sync.b32 %d|%p, %a, %m", |own, group| {
        (if all(own, group) { lanes_of(group, |_| true) } else { 0 }, u64::from(all(own, group)))
    });
    // 64 bits: the value in the upper half, the same everywhere in the lower.
    check_groups("mov.b64 %p12, {%b, %a}; match.any.sync.b64 %d, %p12, %m", |own, group| {
        (lanes_of(group, |value| value == own), 0)
    });
}

#[test]
fn reductions() {
    type Fold = fn(i128, i128) -> i128;
    let cases: [(&str, bool, Fold); 9] = [
        ("add.u32", false, |a, b| a + b),
        ("add.s32", true, |a, b| a + b),
        ("min.u32", false, |a, b| a.min(b)),
        ("min.s32", true, |a, b| a.min(b)),
        ("max.u32", false, |a, b| a.max(b)),
        ("max.s32", true, |a, b| a.max(b)),
        ("and.b32", false, |a, b| a & b),
        ("or.b32", false, |a, b| a | b),
        ("xor.b32", false, |a, b| a ^ b),
    ];
    for (name, signed, fold) in cases {
        check_groups(&format!("redux.sync.{name} %d, %a, %m"), |_, group| {
            let values = group.iter().map(|(_, value)| number(32, signed, *value));
            (values.reduce(fold).unwrap_or(0) as u64 & mask(32), 0)
        });
    }
}

#[test]
fn lanes_know_their_place() {
    let zero = || vec![0; 32 * WARPS];
    for (register, oracle) in [
        ("%laneid", (|t| t % 32) as fn(u64) -> u64),
        ("%tid.x", |t| t),
        ("%tid.y", |_| 0),
        ("%ntid.x", |_| 512),
        ("%ntid.z", |_| 1),
        ("%ctaid.x", |_| 0),
        ("%nctaid.y", |_| 1),
        ("%lanemask_eq", |t| 1 << (t % 32)),
        ("%lanemask_lt", |t| (1 << (t % 32)) - 1),
        ("%lanemask_le", |t| (2 << (t % 32)) - 1),
        ("%lanemask_gt", |t| mask(32) - ((2 << (t % 32)) - 1)),
        ("%lanemask_ge", |t| mask(32) - ((1 << (t % 32)) - 1)),
    ] {
        let [d, _] = warps(&format!("mov.u32 %d, {register}"), WARPS, [zero(), zero(), zero(), zero()]);
        for (thread, held) in (0..).zip(d) {
            assert_eq!(held, oracle(thread), "{register} in thread {thread}");
        }
    }
}
