//! What a claim about bits sees and reals do not: an addition reassociated, a fused product split, another rounding mode,
//! a narrower format, a maximum that is left out. Each edit of a kernel, compared with the kernel itself, must lose the
//! claim `bits` and keep `reals`.

use volta_core::case::{Case, Claim};
use volta_core::verdict::Verdict;
use volta_core::verify;
use volta_suite::OneLaunch as _;
use volta_suite::fixture;

/// An instruction with its operands.
struct Line<'t> {
    op: &'t str,
    operands: Vec<&'t str>,
}

fn parsed(line: &str) -> Option<Line<'_>> {
    let (op, rest) = line.trim().strip_suffix(';')?.split_once(|c: char| c.is_whitespace())?;
    Some(Line { op, operands: rest.split(',').map(str::trim).collect() })
}

fn is(op: &str, name: &str) -> bool {
    [format!("{name}.f32"), format!("{name}.rn.f32")].iter().any(|plain| plain == op)
}

/// The text in place of a line, if the edit applies there. `lines`: all of the kernel.
type Make = fn(lines: &[&str], at: usize) -> Option<String>;

fn split(lines: &[&str], at: usize) -> Option<String> {
    let line = parsed(lines[at]).filter(|line| line.op == "fma.rn.f32")?;
    let [d, a, b, c] = line.operands.as_slice() else { return None };
    (d != c).then(|| format!("mul.rn.f32 {d}, {a}, {b};\nadd.rn.f32 {d}, {d}, {c};"))
}

fn rounded(lines: &[&str], at: usize) -> Option<String> {
    let line = parsed(lines[at])?;
    let name = ["add", "mul", "fma"].into_iter().find(|name| is(line.op, name))?;
    Some(format!("{name}.rz.f32 {};", line.operands.join(", ")))
}

fn narrowed(lines: &[&str], at: usize) -> Option<String> {
    let line = parsed(lines[at])?;
    ["add", "mul", "fma"].into_iter().find(|name| is(line.op, name))?;
    let (d, own) = (line.operands[0], lines[at]);
    Some(format!(
        "{own}\n{{\n.reg .b16 %narrow;\ncvt.rn.f16.f32 %narrow, {d};\ncvt.f32.f16 {d}, %narrow;\n}}"
    ))
}

fn reassociated(lines: &[&str], at: usize) -> Option<String> {
    let outer = parsed(lines[at]).filter(|line| is(line.op, "add"))?;
    let [d, x, y] = outer.operands.as_slice() else { return None };
    for (sum, other) in [(x, y), (y, x)] {
        let inner = lines[..at].iter().rev().filter_map(|line| parsed(line));
        let Some(inner) = inner.take(6).find(|inner| inner.operands.first() == Some(sum)) else { continue };
        let [_, a, b] = inner.operands.as_slice() else { continue };
        if is(inner.op, "add") && a != d && other != sum {
            return Some(format!("add.rn.f32 {d}, {b}, {other};\nadd.rn.f32 {d}, {a}, {d};"));
        }
    }
    None
}

fn without_maximum(lines: &[&str], at: usize) -> Option<String> {
    let line = parsed(lines[at]).filter(|line| line.op == "max.f32")?;
    Some(format!("mov.f32 {}, 0f00000000;", line.operands[0]))
}

/// A softmax without a maximum takes 0 in place of each.
const EVERYWHERE: &str = "a maximum left out";

const KINDS: [(&str, Make, &[&str]); 5] = [
    ("an fma split", split, &["bits::saxpy_wide", "bits::saxpy_staged", "norm::rms_block"]),
    ("another rounding mode", rounded, &["bits::saxpy_wide", "bits::three_exchanged", "bits::sum_unrolled"]),
    ("a narrower format", narrowed, &["bits::saxpy_wide", "bits::three_exchanged", "bits::sum_unrolled"]),
    (
        "an addition reassociated",
        reassociated,
        &["bits::three_exchanged", "bits::sum_unrolled", "bits::sum_in_four"],
    ),
    (EVERYWHERE, without_maximum, &["bits::softmax_staged"]),
];

/// At most so many edits of a kind in a kernel.
const EACH: usize = 6;

/// The reference of a fixture as both kernels.
fn own(name: &str) -> Case {
    let dir = fixture::root().join(name.replace("::", "/"));
    let mut case = fixture::load(name, &dir).expect("the fixture is there");
    let path = case.opt.one().path.clone();
    case.opt = case.reference.clone().expect("it is a pair");
    case.opt.one_mut().path = path;
    case
}

fn verdict(case: &Case, claim: Claim) -> Verdict {
    let mut case = case.clone();
    case.options.rules.claim = claim;
    verify(&case).verdict
}

#[test]
fn edits_lose_the_claim_of_bits_and_keep_that_of_reals() {
    for (kind, make, fixtures) in KINDS {
        let mut tried = 0;
        for name in fixtures {
            let case = own(name);
            if case.params.iter().any(|param| {
                let [reference, opt] = param.elements();
                reference != opt
            }) {
                continue;
            }
            assert_eq!(verdict(&case, Claim::Bits), Verdict::Same(Claim::Bits), "{name} and itself");
            let launch = case.opt.one();
            let (ptx, kernel) = (launch.ptx.clone(), launch.kernel.clone().unwrap_or_default());
            let begin = ptx.find(&format!(".entry {kernel}")).expect("it has the kernel");
            let end = ptx[begin + 1..].find(".entry ").map_or(ptx.len(), |at| begin + 1 + at);
            let lines: Vec<&str> = ptx[begin..end].split('\n').collect();
            let edits = (0..lines.len()).filter_map(|at| Some((at, make(&lines, at)?)));
            let edits: Vec<(usize, String)> = edits.collect();
            let (each, most) = if kind == EVERYWHERE { (edits.len().max(1), 1) } else { (1, EACH) };
            for edits in edits.chunks(each).take(most) {
                let mut changed = lines.clone();
                for (at, text) in edits {
                    changed[*at] = text;
                }
                let (at, text) = &edits[0];
                let mut case = case.clone();
                case.opt.one_mut().ptx = format!("{}{}{}", &ptx[..begin], changed.join("\n"), &ptx[end..]);
                let (bits, reals) = (verdict(&case, Claim::Bits), verdict(&case, Claim::Reals));
                assert!(
                    matches!(bits, Verdict::Different(_) | Verdict::Unknown(_)),
                    "{kind} in {name}: `{}` as `{text}` is {bits:?}",
                    lines[*at]
                );
                assert_eq!(reals, Verdict::Equivalent, "{kind} in {name}: `{}` as `{text}`", lines[*at]);
                tried += 1;
            }
        }
        assert!(tried >= 1, "{kind}: no edit was tried");
        println!("{kind}: {tried} edits");
    }
}
