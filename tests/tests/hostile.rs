//! Malicious kernels and cases: each run ends soon, within its memory, with a message and a documented exit code.

#![cfg(unix)]

use std::fmt::Write as _;

use volta_core::base::budget::{Budgets, Limit};
use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, KernelLaunch, Options, Param, ParamKind, Role,
};
use volta_suite::{Said, Scratch, limited};

const MANY: usize = 100_000;

/// What a run may take: far more than any of these needs, far less than what goes wrong would.
const MEBIBYTES: u32 = 1024;
const SECONDS: u32 = 60;
/// A message is for people.
const MAX_SAID: usize = 20_000;

/// A kernel that stores what `%f2` holds after `body`, at first `x[tid]`; `top` stands at module level.
fn kernel_with(top: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{top}
.visible .entry k(.param .u64 x, .param .u64 y)
{{
.reg .b32 %r<9>; .reg .f32 %f<9>; .reg .b64 %rd<9>; .reg .pred %p<9>; .reg .f64 %fd<9>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
mov.f32 %f2, %f1;
{body}
st.global.f32 [%rd5], %f2;
ret;
}}
"
    )
}

fn kernel(body: &str) -> String {
    kernel_with("", body)
}

/// A case about `k.ptx`, and about `ref.ptx` if it is a pair.
struct Launch {
    shape: &'static str,
    block: &'static str,
    grid: &'static str,
    options: &'static str,
}

const ONE: Launch = Launch { shape: "[1]", block: "1", grid: "1", options: "" };
const WARP: Launch = Launch { shape: "[32]", block: "32", grid: "1", options: "" };

impl Launch {
    fn text(&self, pair: bool) -> String {
        let Launch { shape, block, grid, options } = self;
        let mut text = format!(
            "[params]\nx = {{ role = \"in\", type = \"f32\", shape = {shape} }}\n\
             y = {{ role = \"out\", type = \"f32\", shape = {shape} }}\n"
        );
        let sides: &[(&str, &str)] =
            if pair { &[("reference", "ref"), ("opt", "k")] } else { &[("kernel", "k")] };
        for (side, file) in sides {
            let _ = writeln!(text, "[{side}]\nsource = \"{file}.ptx\"\nblock = {block}\ngrid = {grid}");
        }
        let _ = writeln!(text, "[options]\n{options}");
        text
    }
}

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("hostile-{name}"))
}

/// `cargo volta check` of the folder's one case, under limits; it ends by itself, and briefly.
fn check(scratch: &Scratch) -> Said {
    let limited = limited(env!("CARGO_BIN_EXE_volta-under-test"), MEBIBYTES, SECONDS);
    let said = Said::by(scratch.within(limited).args(["check", "cases"]));
    let all = format!("{}{}", said.out, said.err);
    let shown: String = all.chars().take(2000).collect();
    assert!((0..=2).contains(&said.code), "ends with {}: {shown}", said.code);
    assert!(!all.contains("panicked") && !all.contains("unknown(internal)"), "{shown}");
    assert!(all.len() < MAX_SAID, "{} bytes: {shown}", all.len());
    said
}

/// Branches on inputs are inside of one another, as many as there may be: the stack of a thread is as small as a caller
/// may have made it.
#[test]
fn small_stacks_are_enough() {
    let scratch = scratch("stacks");
    let ptx = kernel(
        "cvt.rzi.u32.f32 %r2, %f1;\n$next: setp.ne.u32 %p1, %r2, 0; @!%p1 bra $done;\n\
         sub.u32 %r2, %r2, 1; bra $next;\n$done: cvt.rn.f32.u32 %f2, %r2;",
    );
    scratch.write("cases/case/k.ptx", &ptx);
    scratch.write("cases/case/volta.toml", &ONE.text(false));
    let mut command = limited(env!("CARGO_BIN_EXE_volta-under-test"), MEBIBYTES, SECONDS);
    command.env("RUST_MIN_STACK", (600 << 10).to_string());
    let said = Said::by(scratch.within(command).args(["check", "cases"]));
    says(&said, 1, "may go on after 512 rounds");
}

/// Checks one kernel, or a pair.
fn verify(name: &str, ptx: &str, reference: Option<&str>, launch: &Launch) -> Said {
    let scratch = scratch(name);
    scratch.write("cases/case/k.ptx", ptx);
    if let Some(reference) = reference {
        scratch.write("cases/case/ref.ptx", reference);
    }
    scratch.write("cases/case/volta.toml", &launch.text(reference.is_some()));
    check(&scratch)
}

/// The exit code, and a part of what is said.
fn says(said: &Said, code: i32, part: &str) {
    let all = format!("{}{}", said.out, said.err);
    let shown: String = all.chars().take(2000).collect();
    assert_eq!(said.code, code, "{shown}");
    assert!(said.on_one_line().contains(part), "not `{part}`: {shown}");
}

#[test]
fn deep_nesting_is_refused_where_it_is_too_deep() {
    for (name, body) in [
        ("braces", "{".repeat(MANY)),
        ("parentheses", format!("mov.u32 %r2, {}", "(".repeat(MANY))),
        ("signs", format!("mov.u32 %r2, {}1;", "-".repeat(MANY))),
        ("choices", format!("mov.u32 %r2, {}1;", "1?1:".repeat(MANY))),
        ("addresses", format!("ld.u32 %r2, {}", "[a, ".repeat(MANY))),
    ] {
        says(&verify(name, &kernel(&body), None, &WARP), 2, "nested more than 256 levels deep");
    }
    let calls: String = (0..20_000).fold(String::new(), |mut text, at| {
        let _ = writeln!(
            text,
            ".func f{at}() {{ {} ret; }}",
            if at > 0 { format!("call f{};", at - 1) } else { String::new() }
        );
        text
    });
    says(&verify("calls", &kernel_with(&calls, "call f19999;"), None, &WARP), 1, "unsupported");
}

#[test]
fn calls_in_circles_are_recursion_and_doubling_calls_end_at_a_limit() {
    let own = ".func f() { call f; ret; }";
    says(&verify("circle", &kernel_with(own, "call f;"), None, &WARP), 1, "unsupported");
    let two = ".func g();\n.func f() { call g; ret; }\n.func g() { call f; ret; }";
    says(&verify("circle-of-two", &kernel_with(two, "call f;"), None, &WARP), 1, "unsupported");
    let mut doubling = ".func f0() { ret; }\n".to_owned();
    for at in 1..60 {
        let _ = writeln!(doubling, ".func f{at}() {{ call f{0}; call f{0}; ret; }}", at - 1);
    }
    let launch = Launch { options: "max_program_size = 10000", ..WARP };
    says(&verify("doubling", &kernel_with(&doubling, "call f59;"), None, &launch), 2, "max_program_size");
}

#[test]
fn long_lists_are_read_and_huge_numbers_refused() {
    let labels = (0..MANY).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "L{at}:");
        text
    });
    says(&verify("labels", &kernel(&labels), None, &WARP), 0, "clean");
    let files = (0..MANY).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, ".file {at} \"a{at}.cu\"");
        text
    });
    let places = ".loc 1 1 1, function_name k, inlined_at 1 1 1\n".repeat(MANY);
    says(&verify("places", &kernel_with(&files, &places), None, &WARP), 0, "clean");
    let digits = format!("mov.u32 %r2, {};", "9".repeat(1_000_000));
    says(&verify("digits", &kernel(&digits), None, &WARP), 2, "does not fit in 64 bits");
    let vector = format!("mov.b64 %rd6, {{{}%r1}};", "%r1, ".repeat(MANY));
    says(&verify("vector", &kernel(&vector), None, &WARP), 1, "unsupported");
    says(&verify("registers", &kernel(".reg .b32 %q<4294967295>;"), None, &WARP), 0, "clean");
    let params: Vec<String> = (0..MANY).map(|at| format!(".param .u64 p{at}")).collect();
    let params =
        format!(".version 8.0\n.target sm_80\n.address_size 64\n.entry k({}) {{ ret; }}", params.join(", "));
    says(&verify("params", &params, None, &WARP), 2, "more than 120 variables");
}

#[test]
fn variables_without_measure_are_refused_or_never_touched() {
    for (name, size) in [
        ("2-63", "[9223372036854775808]"),
        ("2-64", "[18446744073709551615]"),
        ("2-70", "[4294967296][4294967296][64]"),
    ] {
        let shared = format!(".shared .align 4 .b8 s{size};");
        let touched = kernel_with(&shared, "st.shared.u32 [s], %r1;");
        let said = verify(&format!("shared-{name}"), &touched, None, &WARP);
        assert!(
            said.code == 2 && said.all().contains("input-error") | said.all().contains("bytes"),
            "{}{}",
            said.out,
            said.err
        );
        let untouched = verify(&format!("unused-{name}"), &kernel_with(&shared, ""), None, &WARP);
        assert!(untouched.code == 0 || untouched.code == 2, "{}", untouched.out);
    }
    let param = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .align 8 .b8 p[9223372036854775808]) { ret; }";
    says(&verify("param", param, None, &WARP), 2, "k.ptx:4");
}

#[test]
fn memory_stays_within_the_budget() {
    // 8 MiB for each of 1024 threads.
    let block = Launch { shape: "[1024]", block: "1024", grid: "1", options: "max_memory_bytes = 100000000" };
    let local = kernel(".local .align 4 .b8 s[8388604];\nst.local.u32 [s], %r1;");
    says(&verify("local", &local, None, &block), 1, "max_memory_bytes");
    let registers = (0..MANY).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, ".reg .b32 %q{at};\nmov.u32 %q{at}, 1;");
        text
    });
    says(&verify("many-registers", &kernel(&registers), None, &block), 1, "max_memory_bytes");
    let launch = Launch { options: "max_memory_bytes = 10000000", ..WARP };
    let terms = kernel(
        "mov.u32 %r2, 0;\nL: add.f32 %f2, %f2, %f1;\nadd.u32 %r2, %r2, 1;\n\
         setp.ne.u32 %p1, %r2, 2000000000;\n@%p1 bra L;",
    );
    says(&verify("terms", &terms, None, &launch), 1, "(terms 10.");
    let constants = kernel("mov.f32 %f2, 0f3F800001;\nL: mul.f32 %f2, %f2, 0f3F800001;\nbra L;");
    says(&verify("constants", &constants, None, &launch), 1, "max_memory_bytes");
}

/// What is made for one CTA on the way does not stay until the last one is done.
#[test]
fn many_small_ctas_take_little_memory() {
    let sum = |steps: [u32; 5]| {
        let mut body = String::from(
            "mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd6, %r2, 128;
             add.s64 %rd4, %rd4, %rd6; add.s64 %rd5, %rd5, %rd6; ld.global.f32 %f2, [%rd4];\n",
        );
        for step in steps {
            let _ = writeln!(body, "shfl.sync.bfly.b32 %f3, %f2, {step}, 31, -1; add.f32 %f2, %f2, %f3;");
        }
        kernel(&body)
    };
    let launch = Launch { shape: "[131072]", grid: "4096", ..WARP };
    let said = verify("small-ctas", &sum([16, 8, 4, 2, 1]), Some(&sum([1, 2, 4, 8, 16])), &launch);
    says(&said, 0, "equivalent");
}

#[test]
fn loops_without_end_end_at_a_limit() {
    let launch = Launch { options: "max_instructions = 100000", ..WARP };
    says(&verify("loop", &kernel("L: bra L;"), None, &launch), 1, "a loop does not end by itself");
    // What grows has never the same state, however long it may take.
    let grows = "ld.global.f32 %f2, [%rd4];\nL: ld.global.f32 %f3, [%rd4]; add.f32 %f2, %f2, %f3;\n";
    let endless = kernel(&format!("{grows} bra L;"));
    says(&verify("grows", &endless, None, &WARP), 1, "no branch leads out of it");
    let counts = "add.u32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra M; bra L;\nM: ret;";
    let may_end = kernel(&format!("mov.u32 %r2, 1;\n{grows} {counts}"));
    says(&verify("may-end", &may_end, None, &launch), 1, "max_instructions");
    // With the limits that everybody has.
    let block = Launch { shape: "[1024]", block: "1024", grid: "1", options: "" };
    says(&verify("barriers", &kernel("L: bar.sync 0; bra L;"), None, &block), 1, "a loop does not end");
}

/// Past its timeout a case has a verdict, whatever it was at, and the others go on.
#[test]
fn a_timeout_ends_any_case_and_no_other() {
    let scratch = scratch("timeout");
    let launch = Launch { options: "timeout = \"500ms\"\nmax_instructions = 1000000000000", ..ONE };
    let counts = kernel("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1; add.u32 %r2, %r2, %r1; bra L;");
    scratch.write("cases/counts/k.ptx", &counts);
    scratch.write("cases/counts/volta.toml", &launch.text(false));
    scratch.write("cases/small/k.ptx", &kernel(""));
    scratch.write("cases/small/volta.toml", &WARP.text(false));
    let limited = limited(env!("CARGO_BIN_EXE_volta-under-test"), MEBIBYTES, SECONDS);
    let said = Said::by(scratch.within(limited).args(["check", "cases"]));
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("the timeout of 500ms has passed"), "{}", said.out);
    let verdict = |name: &str, verdict: &str| {
        said.out.lines().any(|line| line.contains(name) && line.contains(verdict))
    };
    assert!(verdict("counts", "unknown(timeout)") && verdict("small", "clean"), "{}", said.out);
}

#[test]
fn blocks_and_grids_that_no_gpu_has_are_refused() {
    let copy = kernel("");
    for (name, block, part) in [
        ("block-2-32", "[65536, 65536]", "too large"),
        ("block-max", "[4294967295, 4294967295, 4294967295]", "is not possible"),
        ("block-2-33", "8589934592", "`block` must be a whole number"),
        ("block-0", "0", "`block` must be a whole number"),
        ("block-negative", "-1", "`block` must be a whole number"),
    ] {
        says(&verify(name, &copy, None, &Launch { block, ..WARP }), 2, part);
    }
    let every = "max_ctas = 9223372036854775807";
    for (name, grid, options, code, part) in [
        ("grid-2-31", "2147483648", "", 2, "too large"),
        ("grid-budget", "2147483647", "", 1, "max_ctas"),
        ("grid-max", "[4294967295, 4294967295, 4294967295]", every, 2, "too large"),
        ("grid-2-63", "[2147483647, 65535, 65535]", every, 1, "max_ctas"),
        // All CTAs write the same elements: found with the first ones, and no list of the others is made.
        ("grid-all", "2147483647", every, 1, "race"),
    ] {
        says(&verify(name, &copy, None, &Launch { grid, options, ..WARP }), code, part);
    }
}

#[test]
fn shapes_without_measure_are_refused() {
    let copy = kernel("");
    for (name, shape, part) in [
        ("shape-0", "[0]", "no elements, or too many"),
        ("shape-2-63", "[9223372036854775807]", "no elements, or too many"),
        ("shape-2-64", "[4294967296, 4294967296]", "no elements, or too many"),
        ("shape-negative", "[-1]", "whole number from 0"),
        ("shape-2-65", "18446744073709551616", "whole number from 0"),
        ("shape-fraction", "[1.5]", "whole number from 0"),
        ("shape-nested", "[[1]]", "whole number from 0"),
    ] {
        says(&verify(name, &copy, None, &Launch { shape, ..WARP }), 2, part);
    }
    // As many elements as there may be, of which 32 are touched.
    let launch = Launch { shape: "[4294967295]", options: "partial = true", ..WARP };
    says(&verify("shape-most", &copy, Some(&copy), &launch), 0, "equivalent");
}

/// Long chains of one operation, on both sides: a verdict or a budget, and no stack.
#[test]
fn chains_of_operations_need_no_stack() {
    let launch = Launch { options: "max_algebra_steps = 300000", ..ONE };
    for (name, step) in [
        ("add", "add.f32 %f2, %f2, %f1;\n"),
        ("ex2", "ex2.approx.f32 %f2, %f2;\n"),
        ("max", "max.f32 %f2, %f2, %f1; add.f32 %f2, %f2, 0f3F800000;\n"),
        ("rcp", "rcp.rn.f32 %f2, %f2; add.f32 %f2, %f2, %f1;\n"),
        ("select", "setp.gt.f32 %p1, %f2, %f1; selp.f32 %f2, %f2, %f1, %p1; add.f32 %f2, %f2, 0f3F800000;\n"),
    ] {
        let one = kernel(&step.repeat(MANY));
        // A tenth is deep enough for any stack, and quicker.
        let [one_step, two_steps] = [1, 2].map(|less| kernel(&step.repeat(MANY / 10 - less)));
        let said = verify(&format!("chain-{name}"), &one, Some(&one), &launch);
        assert!(said.out.contains("equivalent") || said.out.contains("max_algebra_steps"), "{}", said.out);
        let said = verify(&format!("chain-{name}-less"), &one_step, Some(&two_steps), &launch);
        assert_eq!(said.code, 1, "one step less is not proved equal: {}", said.out);
    }
}

/// Numbers that double their digits at each step.
#[test]
fn numbers_do_not_grow_without_measure() {
    let launch = Launch { options: "max_algebra_steps = 300000", ..ONE };
    let squares =
        |count| kernel(&format!("mov.f32 %f2, 0f40400000;\n{}", "mul.f32 %f2, %f2, %f2;\n".repeat(count)));
    let said = verify("squares", &squares(MANY), Some(&squares(MANY)), &launch);
    assert!(said.code <= 1, "{}", said.out);
    let doubled = |count| kernel(&"add.f32 %f2, %f2, %f2;\n".repeat(count));
    says(&verify("doubled", &doubled(MANY), Some(&doubled(MANY - 1)), &launch), 1, "");
    // Millions of digits at the point that tells the sides apart.
    let powers = |count| kernel(&"add.f32 %f2, %f2, %f1; mul.f32 %f2, %f2, %f2;".repeat(count));
    says(&verify("powers", &powers(24), Some(&powers(23)), &launch), 1, "different");
}

#[test]
fn many_branches_on_the_input_draw_from_the_budget() {
    let body = (0..20_000).fold(String::new(), |mut text, at| {
        let _ = writeln!(text, "setp.lt.f32 %p1, %f1, 0f40000000; @%p1 bra L{at}; mov.f32 %f2, %f1;\nL{at}:");
        text
    });
    let launch = Launch { options: "max_instructions = 2000000", ..ONE };
    says(&verify("branches", &kernel(&body), Some(&kernel("")), &launch), 1, "max_instructions");
    // Where each branch's register is read at once, all of them are cheap.
    let body = body.replace("mov.f32 %f2, %f1;", "mov.f32 %f3, %f1; mov.f32 %f4, %f3;");
    let body = body.replace("setp", "mov.f32 %f3, %f1; setp").replace(":\n", ": mov.f32 %f4, %f3;\n");
    says(&verify("read-at-once", &kernel(&body), Some(&kernel("")), &launch), 0, "equivalent");
}

#[test]
fn texts_of_other_kinds_are_named() {
    let copy = kernel("");
    let scratch = scratch("texts");
    scratch.write("cases/case/volta.toml", &WARP.text(false));
    let bytes = copy.as_bytes();
    let half = &bytes[..bytes.len() / 2];
    for (what, ptx, code, part) in [
        ("non-UTF-8", [bytes, b"\xff\xfe"].concat(), 2, "not UTF-8"),
        ("a byte-order mark", ["\u{feff}".as_bytes(), bytes].concat(), 2, "U+FEFF"),
        ("NUL", [half, b"\0", &bytes[half.len()..]].concat(), 2, "U+0000"),
        ("CRLF", copy.replace('\n', "\r\n").into_bytes(), 0, "clean"),
        ("an escape", [half, b"\x1b[2J", &bytes[half.len()..]].concat(), 2, "U+001B"),
        ("nothing", Vec::new(), 2, "no kernel"),
        ("half of it", half.to_vec(), 2, "expected"),
    ] {
        std::fs::write(scratch.path().join("cases/case/k.ptx"), ptx).expect("it can be written");
        let said = check(&scratch);
        assert!(!said.all().contains('\u{1b}'), "{what}");
        says(&said, code, part);
    }
}

#[test]
fn case_files_of_other_kinds_are_named() {
    let scratch = scratch("manifests");
    scratch.write("cases/case/k.ptx", &kernel(""));
    let whole = WARP.text(false);
    let with = |old: &str, new: &str| {
        assert!(whole.contains(old), "{old}");
        whole.replacen(old, new, 1).into_bytes()
    };
    for (text, part) in [
        (b"\xff".to_vec(), "UTF-8"),
        (b"\0".to_vec(), "volta.toml:1:"),
        (b"a = ".iter().copied().chain(std::iter::repeat_n(b'[', MANY)).collect(), "volta.toml:1"),
        (format!("a{}", ".a".repeat(MANY)).into_bytes(), "volta.toml:1"),
        (with("block = 32", "block = true"), "`block` must be a whole number"),
        (with("block = 32", "block = []"), "`block` must be a whole number"),
        (with("block = 32", "block = [1, 1, 1, 1]"), "`block` must be a whole number"),
        (with("grid = 1", "grid = \"1\""), "`grid` must be a whole number"),
        (
            with("[kernel]", "[kernel]\nshared = 4294967296"),
            "`shared` is a whole number from 0 to 4294967295, not 4294967296",
        ),
        (with("[kernel]", "[kernel]\nctas = [-1]"), "whole number from 0"),
        (with("[kernel]", "[kernel]\nargs = 1"), "`args` is a list"),
        (with("[kernel]", "[[kernel]]"), "`kernel` is a table"),
        (with("[params]", "[params]\nn = { type = \"i32\", value = 1e999999999 }"), "a number"),
        (
            with(
                "[params]",
                &format!("[params]\nn = {{ type = \"i32\", value = {} }}", "9".repeat(1_000_000)),
            ),
            "a number",
        ),
        (with("[params]", "[params]\nn = 7"), "`n` is a table"),
        (with("[options]", "[options]\nmax_ctas = -1"), "whole number from 0"),
        (with("[options]", "[options]\nmax_instruction = 1"), "did you mean `max_instructions`"),
        (with("[params]", "[params]\n[params]"), "volta.toml:2"),
    ] {
        std::fs::write(scratch.path().join("cases/case/volta.toml"), text).expect("it can be written");
        says(&check(&scratch), 2, part);
    }
}

/// A kernel with most kinds of statement, for damaging.
const SMALL: &str = ".version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 s[128];
.visible .entry k(.param .u64 x, .param .u64 y)
{
.reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<6>; .reg .pred %p<2>;
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
shl.b32 %r2, %r1, 2;
mov.u32 %r3, s;
add.s32 %r2, %r2, %r3;
st.shared.f32 [%r2], %f1;
bar.sync 0;
mov.u32 %r3, 0;
L: add.f32 %f1, %f1, 0f3F800000;
add.s32 %r3, %r3, 1;
setp.lt.s32 %p1, %r3, 2;
@%p1 bra L;
st.global.f32 [%rd5], %f1;
ret;
}
";

fn small_case(ptx: &str) -> Case {
    let param = |name: &str, role, contents| {
        let element = Element::parse("f32").expect("it is a type");
        let kind = ParamKind::Tensor {
            reference: element,
            opt: element,
            shape: vec![32],
            role,
            contents,
            assumed: Assumed::default(),
        };
        Param::new(name, kind, Binding::Argument)
    };
    let opt = KernelLaunch {
        ptx: ptx.into(),
        path: "k.ptx".into(),
        kernel: None,
        arguments: None,
        launch: volta_core::case::Launch::of_threads(32),
    };
    let budgets = Budgets::default()
        .with(Limit::Instructions, 2_000)
        .with(Limit::MemoryBytes, 1 << 22)
        .with(Limit::AlgebraSteps, 10_000)
        .with(Limit::ProgramSize, 1 << 12);
    Case {
        params: vec![param("x", Role::In, Contents::Symbolic), param("y", Role::Out, Contents::Undefined)],
        reference: None,
        opt: opt.into(),
        options: Options { budgets, threads: 1, ..Options::default() },
    }
}

/// The verdict's name; a panic fails the test.
fn verdict(ptx: &str) -> String {
    volta_core::verify(&small_case(ptx)).verdict.name()
}

/// The tokens of a text that has no comments, with what stands before each.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let word = |c: char| c.is_alphanumeric() || "_%.".contains(c);
    for (at, c) in text.char_indices().skip(1) {
        let before = text[..at].chars().next_back().unwrap_or(' ');
        let goes_on = before.is_whitespace() || word(before) && word(c);
        if (c.is_whitespace() || !goes_on) && !text[start..at].trim().is_empty() {
            tokens.push(&text[start..at]);
            start = at;
        }
    }
    tokens.push(&text[start..]);
    tokens
}

#[test]
fn a_kernel_cut_anywhere_is_an_error() {
    assert_eq!(verdict(SMALL), "clean");
    let end = SMALL.rfind('}').expect("it ends with one");
    let body = SMALL.find('{').expect("it has a body");
    for at in 0..end {
        let name = verdict(&SMALL[..at]);
        assert_eq!(name, "input-error", "cut at byte {at}, body at {body}");
    }
}

#[test]
fn a_kernel_with_any_token_wrong_gets_a_verdict() {
    let all = tokens(SMALL);
    assert_eq!(all.concat(), SMALL);
    assert!(all.len() > 150, "{}", all.len());
    let mut clean = 0;
    let others = [
        ";",
        "{",
        "}",
        "[",
        ",",
        " .b8",
        " .pred",
        " %p1",
        " %rd1",
        " -1",
        " 0x7fffffffffffffff",
        " s",
        " bra",
        " @",
    ];
    for at in 0..all.len() {
        let (before, after) = (all[..at].concat(), all[at + 1..].concat());
        let twice = format!("{}{}", all[at], all[at]);
        for middle in others.iter().copied().chain(["", twice.as_str()]) {
            clean += usize::from(verdict(&format!("{before}{middle}{after}")) == "clean");
        }
    }
    // Most are wrong; that some are not shows that this gets beyond the parser.
    let tried = all.len() * (others.len() + 2);
    assert!(clean > 10 && clean < tried / 4, "{clean} of {tried} are clean");
}
