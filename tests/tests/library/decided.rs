//! Verdicts about each function of CUDA's mathematical library, at the compiler's default flags: whether two kernels
//! that use it are proved equivalent, and whether it is proved equivalent to another formula of the same function.
//!
//! The kernels are compiled by the `nvcc` that `VOLTA_NVCC` names; without one, nothing is measured.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role,
};
use volta_core::number::format::Format;
use volta_core::verdict::{Report, Verdict};
use volta_suite::{Said, Scratch, page};

/// A function, of `x`, `y` and `z`.
struct Asked {
    name: &'static str,
    /// A call.
    call: &'static str,
    /// Two formulas for one thing.
    formulas: Option<[&'static str; 2]>,
}

const fn asked(name: &'static str, call: &'static str) -> Asked {
    Asked { name, call, formulas: None }
}

const fn also(name: &'static str, call: &'static str, left: &'static str, right: &'static str) -> Asked {
    Asked { name, call, formulas: Some([left, right]) }
}

/// The same call, and another formula for it.
const fn is(name: &'static str, call: &'static str, other: &'static str) -> Asked {
    also(name, call, call, other)
}

const SINGLE: &[Asked] = &[
    also("acosf", "acosf(x)", "acosf(x) - acosf(-x)", "-2 * asinf(x)"),
    is("acoshf", "acoshf(x)", "logf(x + sqrtf(x * x - 1))"),
    is("asinf", "asinf(x)", "-asinf(-x)"),
    is("asinhf", "asinhf(x)", "logf(x + sqrtf(x * x + 1))"),
    is("atan2f", "atan2f(x, y)", "2 * atanf(x / (sqrtf(x * x + y * y) + y))"),
    is("atanf", "atanf(x)", "-atanf(-x)"),
    is("atanhf", "atanhf(x)", "0.5f * logf((1 + x) / (1 - x))"),
    is("cbrtf", "cbrtf(x)", "1 / rcbrtf(x)"),
    is("ceilf", "ceilf(x)", "-floorf(-x)"),
    is("copysignf", "copysignf(x, y)", "copysignf(fabsf(x), y)"),
    is("cosf", "cosf(x)", "cosf(-x)"),
    is("coshf", "coshf(x)", "(expf(x) + expf(-x)) / 2"),
    is("cospif", "cospif(x)", "cospif(-x)"),
    is("cyl_bessel_i0f", "cyl_bessel_i0f(x)", "cyl_bessel_i0f(-x)"),
    is("cyl_bessel_i1f", "cyl_bessel_i1f(x)", "-cyl_bessel_i1f(-x)"),
    is("erfcf", "erfcf(x)", "1 - erff(x)"),
    is("erfcinvf", "erfcinvf(x)", "erfinvf(1 - x)"),
    is("erfcxf", "erfcxf(x)", "expf(x * x) * erfcf(x)"),
    is("erff", "erff(x)", "-erff(-x)"),
    is("erfinvf", "erfinvf(x)", "-erfinvf(-x)"),
    is("exp10f", "exp10f(x)", "exp2f(x * 3.32192809f)"),
    is("exp2f", "exp2f(x)", "exp2f(x / 2) * exp2f(x / 2)"),
    is("expf", "expf(x)", "exp2f(x * 1.44269504f)"),
    is("expm1f", "expm1f(x)", "expf(x) - 1"),
    is("fabsf", "fabsf(x)", "fmaxf(x, -x)"),
    is("fdimf", "fdimf(x, y)", "fmaxf(x - y, 0)"),
    is("fdividef", "fdividef(x, y)", "x / y"),
    is("floorf", "floorf(x)", "-ceilf(-x)"),
    is("fmaf", "fmaf(x, y, z)", "x * y + z"),
    is("fmaxf", "fmaxf(x, y)", "-fminf(-x, -y)"),
    is("fminf", "fminf(x, y)", "x < y ? x : y"),
    is("fmodf", "fmodf(x, y)", "x - y * truncf(x / y)"),
    also("frexpf", "frexpf(x, &n)", "ldexpf(frexpf(x, &n), n)", "x"),
    is("hypotf", "hypotf(x, y)", "sqrtf(x * x + y * y)"),
    is("ilogbf", "ilogbf(x)", "floorf(log2f(fabsf(x)))"),
    is("isfinite", "isfinite(x) ? x : 0", "x"),
    is("isinf", "isinf(x) ? 0 : x", "x"),
    is("isnan", "isnan(x) ? 0 : x", "x"),
    is("j0f", "j0f(x)", "j0f(-x)"),
    is("j1f", "j1f(x)", "-j1f(-x)"),
    is("jnf", "jnf(2, x)", "2 * j1f(x) / x - j0f(x)"),
    is("ldexpf", "ldexpf(x, 3)", "8 * x"),
    is("lgammaf", "lgammaf(x)", "logf(fabsf(tgammaf(x)))"),
    is("llrintf", "llrintf(x)", "rintf(x)"),
    is("llroundf", "llroundf(x)", "roundf(x)"),
    is("log10f", "log10f(x)", "log2f(x) * 0.30103f"),
    is("log1pf", "log1pf(x)", "logf(1 + x)"),
    is("log2f", "log2f(x)", "log2f(x * x) - log2f(x)"),
    is("logbf", "logbf(x)", "floorf(log2f(fabsf(x)))"),
    is("logf", "logf(x)", "log2f(x) * 0.69314718f"),
    is("lrintf", "lrintf(x)", "rintf(x)"),
    is("lroundf", "lroundf(x)", "roundf(x)"),
    also("modff", "modff(x, &y)", "modff(x, &y) + y", "x"),
    is("nearbyintf", "nearbyintf(x)", "rintf(x)"),
    asked("nextafterf", "nextafterf(x, y)"),
    is("norm3df", "norm3df(x, y, z)", "sqrtf(x * x + y * y + z * z)"),
    is("norm4df", "norm4df(x, y, z, x)", "sqrtf(2 * x * x + y * y + z * z)"),
    is("normcdff", "normcdff(x)", "1 - normcdff(-x)"),
    is("normcdfinvf", "normcdfinvf(x)", "-normcdfinvf(1 - x)"),
    is("powf", "powf(x, y)", "exp2f(y * log2f(x))"),
    is("rcbrtf", "rcbrtf(x)", "1 / cbrtf(x)"),
    is("remainderf", "remainderf(x, y)", "x - y * rintf(x / y)"),
    is("remquof", "remquof(x, y, &n)", "remainderf(x, y)"),
    is("rhypotf", "rhypotf(x, y)", "rsqrtf(x * x + y * y)"),
    is("rintf", "rintf(x)", "-rintf(-x)"),
    is("rnorm3df", "rnorm3df(x, y, z)", "rsqrtf(x * x + y * y + z * z)"),
    is("rnorm4df", "rnorm4df(x, y, z, x)", "rsqrtf(2 * x * x + y * y + z * z)"),
    is("roundf", "roundf(x)", "-roundf(-x)"),
    is("rsqrtf", "rsqrtf(x)", "1 / sqrtf(x)"),
    is("scalblnf", "scalblnf(x, 3)", "8 * x"),
    is("scalbnf", "scalbnf(x, 3)", "8 * x"),
    asked("signbit", "signbit(x)"),
    also("sincosf", "(sincosf(x, &y, &z), y * z)", "(sincosf(x, &y, &z), y * y + z * z)", "1"),
    also("sincospif", "(sincospif(x, &y, &z), y * z)", "(sincospif(x, &y, &z), y * y + z * z)", "1"),
    is("sinf", "sinf(x)", "-sinf(-x)"),
    is("sinhf", "sinhf(x)", "(expf(x) - expf(-x)) / 2"),
    is("sinpif", "sinpif(x)", "-sinpif(-x)"),
    is("sqrtf", "sqrtf(x)", "1 / rsqrtf(x)"),
    is("tanf", "tanf(x)", "sinf(x) / cosf(x)"),
    is("tanhf", "tanhf(x)", "2 / (1 + expf(-2 * x)) - 1"),
    is("tgammaf", "tgammaf(x + 1)", "x * tgammaf(x)"),
    is("truncf", "truncf(x)", "-truncf(-x)"),
    is("y0f", "y0f(x)", "y0f(fabsf(x))"),
    is("y1f", "y1f(x)", "y1f(fabsf(x))"),
    is("ynf", "ynf(2, x)", "2 * y1f(x) / x - y0f(x)"),
];

const DOUBLE: &[Asked] = &[
    is("atan", "atan(x)", "-atan(-x)"),
    is("cbrt", "cbrt(x)", "1 / rcbrt(x)"),
    is("cos", "cos(x)", "cos(-x)"),
    is("cosh", "cosh(x)", "(exp(x) + exp(-x)) / 2"),
    is("erf", "erf(x)", "-erf(-x)"),
    is("erfc", "erfc(x)", "1 - erf(x)"),
    is("exp", "exp(x)", "exp(x / 2) * exp(x / 2)"),
    is("exp2", "exp2(x)", "exp2(x / 2) * exp2(x / 2)"),
    is("expm1", "expm1(x)", "exp(x) - 1"),
    is("fmod", "fmod(x, y)", "x - y * trunc(x / y)"),
    is("log", "log(x)", "log(x * x) - log(x)"),
    is("log1p", "log1p(x)", "log(1 + x)"),
    is("log2", "log2(x)", "log2(x * x) - log2(x)"),
    is("pow", "pow(x, y)", "exp2(y * log2(x))"),
    is("rsqrt", "rsqrt(x)", "1 / sqrt(x)"),
    is("sin", "sin(x)", "-sin(-x)"),
    also("sincos", "(sincos(x, &y, &z), y * z)", "(sincos(x, &y, &z), y * y + z * z)", "1"),
    is("sinh", "sinh(x)", "(exp(x) - exp(-x)) / 2"),
    is("sqrt", "sqrt(x)", "1 / rsqrt(x)"),
    is("tan", "tan(x)", "sin(x) / cos(x)"),
    is("tanh", "tanh(x)", "2 / (1 + exp(-2 * x)) - 1"),
    is("x / y", "x / y", "x * (1 / y)"),
];

/// Of `__half` and of `__nv_bfloat16`.
const HALF: &[Asked] = &[
    is("hcos", "hcos(x)", "hcos(-x)"),
    is("hexp", "hexp(x)", "hexp(x / T(2)) * hexp(x / T(2))"),
    is("hexp10", "hexp10(x)", "hexp10(x / T(2)) * hexp10(x / T(2))"),
    is("hexp2", "hexp2(x)", "hexp2(x / T(2)) * hexp2(x / T(2))"),
    is("hlog", "hlog(x)", "hlog(x * x) - hlog(x)"),
    is("hlog10", "hlog10(x)", "hlog10(x * x) - hlog10(x)"),
    is("hlog2", "hlog2(x)", "hlog2(x * x) - hlog2(x)"),
    is("hrcp", "hrcp(x)", "T(1) / x"),
    is("hrint", "hrint(x)", "-hrint(-x)"),
    is("hrsqrt", "hrsqrt(x)", "T(1) / hsqrt(x)"),
    is("hsin", "hsin(x)", "-hsin(-x)"),
    is("hsqrt", "hsqrt(x)", "T(1) / hrsqrt(x)"),
    is("htanh", "htanh(x)", "-htanh(-x)"),
    is("x / y", "x / y", "x * (T(1) / y)"),
];

/// Functions of one type.
struct Group {
    /// Its name in C++.
    cpp: &'static str,
    format: Format,
    functions: &'static [Asked],
}

const GROUPS: [Group; 4] = [
    Group { cpp: "float", format: Format::F32, functions: SINGLE },
    Group { cpp: "double", format: Format::F64, functions: DOUBLE },
    Group { cpp: "__half", format: Format::F16, functions: HALF },
    Group { cpp: "__nv_bfloat16", format: Format::Bf16, functions: HALF },
];

/// A kernel that stores an expression.
fn kernel(source: &mut String, cpp: &str, name: &str, expression: &str) {
    writeln!(
        source,
        "extern \"C\" __global__ void {name}(const {cpp} *a, const {cpp} *b, const {cpp} *c, {cpp} *out) {{\n    \
         using T = {cpp};\n    T x = *a, y = *b, z = *c;\n    int n = 0;\n    *out = T({expression});\n}}"
    )
    .expect("a text takes what is written");
}

/// Two kernels of the same PTX compared.
fn compared(ptx: &str, format: Format, [reference, opt]: [&str; 2]) -> Report {
    let element = Element::Float(format);
    let param = |name: &str, role: Role| {
        Param::new(
            name,
            ParamKind::Tensor {
                reference: element,
                opt: element,
                shape: vec![1],
                role,
                contents: Contents::of_role(role),
                assumed: Assumed::default(),
            },
            Binding::Argument,
        )
    };
    let side = |kernel: &str| KernelLaunch {
        ptx: ptx.to_string(),
        path: "functions.ptx".to_string(),
        kernel: Some(kernel.to_string()),
        arguments: None,
        launch: Launch::default(),
    };
    let params = [("a", Role::In), ("b", Role::In), ("c", Role::In), ("out", Role::Out)];
    volta_core::verify(&Case {
        params: params.map(|(name, role)| param(name, role)).to_vec(),
        reference: Some(side(reference).into()),
        opt: side(opt).into(),
        options: Options::default(),
    })
}

/// A verdict in a table: what it is, and for one that is no proof, why.
fn cell(report: &Report) -> String {
    match &report.verdict {
        Verdict::Equivalent | Verdict::Same(_) => "yes".into(),
        Verdict::EquivalentWhere(conditions) => format!("where {}", conditions.join(", ")),
        Verdict::Fault(fault) => format!("*{}*", fault.kind.name()),
        Verdict::Different(_) | Verdict::Unknown(_) | Verdict::InputError(_) | Verdict::Clean => {
            format!("*{}*", report.verdict.name())
        }
    }
}

/// The whole reason, for who reads along.
fn reason(report: &Report) -> String {
    match &report.verdict {
        Verdict::Fault(fault) => fault.message.clone(),
        Verdict::Unknown(unknown) => format!("{unknown:?}"),
        Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Different(_)
        | Verdict::InputError(_)
        | Verdict::Clean => report.verdict.name(),
    }
}

/// The page on functions says function by function what is decided.
#[test]
fn page_says_what_is_decided() {
    let nvcc = std::env::var("VOLTA_NVCC").ok().filter(|nvcc| nvcc != "off");
    let Some(nvcc) = nvcc else {
        eprintln!("not measured: VOLTA_NVCC names no compiler");
        return;
    };
    let only = std::env::var("VOLTA_FUNCTION").ok();
    let wanted =
        |asked: &Asked| only.as_deref().is_none_or(|only| only.split(',').any(|name| name == asked.name));
    let mut source = String::from("#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n");
    for (number, group) in GROUPS.iter().enumerate() {
        for (at, asked) in group.functions.iter().enumerate().filter(|(_, asked)| wanted(asked)) {
            let mut kernel = |what: &str, expression: &str| {
                kernel(&mut source, group.cpp, &format!("{what}_{number}_{at}"), expression);
            };
            let cpp = group.cpp;
            kernel("twice", &format!("[&] {{ {cpp} f = {}; return f + f; }}()", asked.call));
            kernel("by_two", &format!("[&] {{ {cpp} f = {}; return f * T(2.0f); }}()", asked.call));
            if let Some([left, right]) = asked.formulas {
                kernel("left", left);
                kernel("right", right);
            }
        }
    }
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), "functions");
    scratch.write("functions.cu", &source);
    let mut command = scratch.within(Command::new(nvcc));
    let built = Said::by(command.args(["-ptx", "-arch=sm_80", "-std=c++17", "functions.cu"]));
    assert_eq!(built.code, 0, "{}", built.all());
    let ptx = scratch.read("functions.ptx");
    let mut text =
        String::from("| function | of | equals itself | two formulas | are equal |\n|---|---|---|---|---|\n");
    for (number, group) in GROUPS.iter().enumerate() {
        for (at, asked) in group.functions.iter().enumerate().filter(|(_, asked)| wanted(asked)) {
            let decided = |what: [&str; 2]| {
                let names = what.map(|what| format!("{what}_{number}_{at}"));
                let start = Instant::now();
                let report = compared(&ptx, group.format, [&names[0], &names[1]]);
                let seconds = start.elapsed().as_secs_f64();
                println!("{:14} {:8} {seconds:6.2} s  {}", asked.name, what[0], reason(&report));
                cell(&report)
            };
            let itself = decided(["twice", "by_two"]);
            let (formulas, other) = match asked.formulas {
                Some(pair) => {
                    let [left, right] = pair;
                    (format!("`{left}`, `{right}`"), decided(["left", "right"]))
                }
                None => (String::new(), String::new()),
            };
            writeln!(text, "| `{}` | `{}` | {itself} | {formulas} | {other} |", asked.name, group.cpp)
                .expect("a text takes what is written");
        }
    }
    if only.is_none() {
        page::hold("docs/library.md", &[("decided", text)]).expect("the page is as measured");
    }
}
