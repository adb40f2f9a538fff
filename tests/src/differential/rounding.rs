//! Known floats that decide integers, branches or addresses (rule V10): a value derived from them is proved only if
//! float arithmetic gives it, for all permitted errors of approximations.

use std::fmt::Write as _;

use volta_core::case::{Contents, Role};
use volta_core::verdict::Verdict;

use super::known::interpreted;
use super::{Checked, Family, fill, kernel, one_of, pair, side, tensor, told, verify};
use crate::interpreter::random::Random;

/// See the module.
pub const FAMILY: Family = Family {
    name: "known floats that decide",
    share: 300,
    check,
    expects: &[("equivalent", 30), ("depends-on-rounding", 10)],
};

/// The number of float registers.
const FLOATS: usize = 3;

/// Exactly rounded operations: `$f` is a float, `$r` a rounding mode, `$t` the type.
const EXACT: &[&str] = &[
    "add.$r.$t $f, $f, $f;",
    "sub.$r.$t $f, $f, $f;",
    "mul.$r.$t $f, $f, $f;",
    "mul.$r.$t $f, $f, $f;",
    "fma.$r.$t $f, $f, $f, $f;",
    "div.$r.$t $f, $f, $f;",
    "div.$r.$t $f, $f, $f;",
    "rcp.$r.$t $f, $f;",
    "abs.$t %g, $f; sqrt.$r.$t $f, %g;",
    "sqrt.$r.$t %g, %f1; mul.$r.$t %f1, %g, %g;",
    "div.$r.$t %g, %f0, %f1; mul.$r.$t %f0, %g, %f1;",
    "add.$r.$t %g, %f0, %f1; sub.$r.$t %f0, %g, %f1;",
    "rcp.$r.$t %g, %f1; mul.$r.$t %f2, %f0, %g;",
    "max.$t $f, $f, $f;",
    "min.$t $f, $f, $f;",
    "neg.$t $f, $f;",
];

/// Operations that exist in f32 only.
const SINGLE: &[&str] = &[
    "add.$r.ftz.f32 $f, $f, $f;",
    "mul.$r.ftz.f32 $f, $f, $f;",
    "mul.$r.sat.f32 $f, $f, $f;",
    "cvt.rn.f16.f32 %h, $f; cvt.f32.f16 $f, %h;",
    "cvt.rz.f16.f32 %h, $f; cvt.f32.f16 $f, %h;",
    "cvt.rn.bf16.f32 %h, $f; cvt.f32.bf16 $f, %h;",
    "cvt.$i.f32.f32 $f, $f;",
];

/// Approximations of f32, each of which some GPU may have off by a unit in the last place: `$A` is the result.
const APPROXIMATE: &[&str] = &[
    ROOT,
    "abs.f32 %g, $f; add.rn.f32 %g, %g, 0f3F800000; rsqrt.approx.f32 $A, %g;",
    "abs.f32 %g, $f; add.rn.f32 %g, %g, 0f3F800000; lg2.approx.f32 $A, %g;",
    "min.f32 %g, $f, 0f41200000; ex2.approx.f32 $A, %g;",
    "rcp.approx.f32 $A, $f;",
    "div.approx.f32 $A, $f, $f;",
    "div.full.f32 $A, $f, $f;",
];

/// Its relative error is bounded, so the root of zero is zero (ISA 9.7.3.15).
const ROOT: &str = "abs.f32 %g, $f; sqrt.approx.f32 $A, %g;";

/// What the float decides.
#[derive(Clone, Copy, Debug)]
enum Decision {
    /// A conversion to an integer, with its rounding.
    Convert(&'static str),
    /// A comparison, and a choice by it.
    Select(&'static str),
    /// A comparison, and a branch by it.
    Branch(&'static str),
    /// The address of an element of a table.
    Address,
    /// The bits of the float.
    Bits,
}

fn literal(random: &mut Random, wide: bool) -> String {
    let value = match random.below(6) {
        0 => random.below(20) as f64,
        1 => (random.below(200) as f64 - 100.0) / 10.0,
        2 => (1 + random.below(60)) as f64 / (1 + random.below(30)) as f64,
        3 => (1 + random.below(99)) as f64 / 100.0,
        4 => (random.below(64) as f64) / 8.0,
        _ => random.below(1000) as f64 * 16_777_216.0 / 7.0,
    };
    if wide { format!("0d{:016X}", value.to_bits()) } else { format!("0f{:08X}", (value as f32).to_bits()) }
}

/// The lines of the kernel; after each approximation, a placeholder `$e` for an error in units.
fn lines(random: &mut Random, wide: bool) -> Vec<String> {
    let ty = if wide { "f64" } else { "f32" };
    let mut out = Vec::new();
    for at in 0..FLOATS {
        out.push(format!("mov.{ty} %f{at}, {};", literal(random, wide)));
    }
    for _ in 0..1 + random.below(4) {
        let pool = match random.below(8) {
            0 | 1 if !wide => SINGLE,
            2 if !wide => APPROXIMATE,
            _ => EXACT,
        };
        let round = one_of(random, &["rn", "rn", "rn", "rz", "rm", "rp"]);
        let result = random.below(FLOATS);
        let template = one_of(random, pool);
        let line = fill(template, |what| match what {
            'f' => format!("%f{}", random.below(FLOATS)),
            'A' => format!("%f{result}"),
            'r' => round.into(),
            'i' => one_of(random, &["rni", "rzi", "rmi", "rpi"]).into(),
            't' => ty.into(),
            other => other.to_string(),
        });
        out.push(line);
        if std::ptr::eq(pool, APPROXIMATE) {
            let unless_zero = if template == ROOT {
                format!("setp.ne.f32 %p, %f{result}, 0f00000000; @%p ")
            } else {
                String::new()
            };
            out.push(format!(
                "mov.b32 %t, %f{result}; {unless_zero}add.s32 %t, %t, $e; mov.b32 %f{result}, %t;"
            ));
        }
    }
    out
}

fn decided(decision: Decision, random: &mut Random, wide: bool) -> String {
    let ty = if wide { "f64" } else { "f32" };
    let [a, b] = [random.below(FLOATS), random.below(FLOATS)];
    let compare = |relation: &str| format!("setp.{relation}.{ty} %p, %f{a}, %f{b};");
    match decision {
        Decision::Convert(round) => format!("cvt.{round}.s32.{ty} %r, %f{a};"),
        Decision::Select(relation) => format!("{} selp.b32 %r, 7, 3, %p;", compare(relation)),
        Decision::Branch(relation) => {
            format!("{} mov.u32 %r, 5; @%p bra OUT; add.u32 %r, %r, 6;\nOUT:", compare(relation))
        }
        Decision::Address => format!(
            "cvt.rzi.s32.{ty} %r, %f{a}; and.b32 %r, %r, 15; mul.wide.u32 %u, %r, 4; add.u64 %u, %P0, %u; ld.global.u32 %r, [%u];"
        ),
        Decision::Bits if wide => format!("mov.b64 %u, %f{a}; cvt.u32.u64 %r, %u;"),
        Decision::Bits => format!("mov.b32 %r, %f{a}; and.b32 %r, %r, 65535;"),
    }
}

fn program(lines: &[String], decision: &str, off: Option<i32>, wide: bool) -> String {
    let mut out = String::new();
    for line in lines {
        match (line.contains("$e"), off) {
            (true, None) => {}
            (true, Some(off)) => {
                let _ = writeln!(out, "  {}", line.replace("$e", &off.to_string()));
            }
            (false, _) => {
                let _ = writeln!(out, "  {line}");
            }
        }
    }
    let _ = writeln!(out, "  {decision}\n  st.global.u32 [%P1], %r;");
    let ty = if wide { "f64" } else { "f32" };
    let registers = format!(
        "  .reg .{ty} %f<{FLOATS}>, %g; .reg .b32 %r, %t; .reg .b64 %u; .reg .b16 %h; .reg .pred %p;\n"
    );
    kernel(&["x", "y"], &registers, &out)
}

fn check(seed: u64) -> Result<Checked, String> {
    let random = &mut Random::new(seed);
    let wide = random.below(4) == 0;
    let lines = lines(random, wide);
    let decision = match random.below(8) {
        0..=2 => Decision::Convert(one_of(random, &["rzi", "rzi", "rni", "rmi", "rpi"])),
        3 | 4 => Decision::Select(one_of(random, &["lt", "le", "eq", "ne", "gt", "ge"])),
        5 => Decision::Branch(one_of(random, &["lt", "le", "eq", "ne"])),
        6 => Decision::Address,
        _ => Decision::Bits,
    };
    let decision = decided(decision, random, wide);
    let ptx = program(&lines, &decision, None, wide);
    let params = vec![
        tensor("x", "u32", 16, Role::In, Contents::Iota),
        tensor("y", "u32", 1, Role::Out, Contents::Undefined),
    ];
    // The possible results of hardware: operations are exactly rounded, approximations may have errors.
    let mut possible = Vec::new();
    for off in [0, 1, -1] {
        let nudged = program(&lines, &decision, Some(off), wide);
        let case = pair(params.clone(), side(nudged.clone(), 1), side(nudged, 1));
        let left = interpreted(&case).map_err(|why| told(&case, &why))?;
        possible.push(left[0][0]);
    }
    let mut checked = Checked::new();
    // The claims to verify: the IEEE result, its neighbours, and other numbers.
    let ieee = possible[0];
    for claimed in [ieee, ieee.wrapping_add(1) & 0xffff_ffff, ieee.wrapping_sub(1) & 0xffff_ffff, 7, 3, 11, 5]
    {
        let body = format!("  mov.u32 %r, {}; st.global.u32 [%P1], %r;\n", claimed as u32 as i32);
        let constant = kernel(&["x", "y"], "  .reg .b32 %r;\n", &body);
        let case = pair(params.clone(), side(constant, 1), side(ptx.clone(), 1));
        let verdict = verify(&case).verdict;
        let name = verdict.name();
        let wrong = match name.as_str() {
            "equivalent" | "equivalent-where" => possible.iter().any(|value| *value != claimed),
            "different" => possible.contains(&claimed),
            // A fault or *unknown* makes no claim about the value.
            _ => !matches!(verdict, Verdict::Fault(_) | Verdict::Unknown(_)),
        };
        if wrong {
            return Err(told(
                &case,
                &format!("it is {name}, but hardware may give {possible:?}\n{verdict:?}"),
            ));
        }
        if claimed == ieee && checked.is_empty() {
            let faulty = !["equivalent", "different"].contains(&name.as_str());
            checked.push(name);
            if faulty {
                break;
            }
        }
    }
    Ok(checked)
}
