//! Which functions of the library are recognised, by architecture and flags of the compiler.
//!
//! The functions are compiled by the `nvcc` that `VOLTA_NVCC` names; without one, nothing is measured.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

use volta_core::case::{
    Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role,
};
use volta_core::library::{FUNCTIONS, LibraryFunction};
use volta_core::verdict::{Report, Verdict};
use volta_suite::{Said, Scratch, page};

/// The functions, each in a kernel of its own.
const SOURCE: &str = include_str!("../../../volta-core/src/library/functions.cu");

/// Architectures.
const TARGETS: [&str; 6] = ["sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"];

/// What a build is called, and its flags.
const FLAGS: [(&str, &[&str]); 6] = [
    ("default", &[]),
    ("`-ftz=true`", &["-ftz=true"]),
    ("`-fmad=false`", &["-fmad=false"]),
    ("both", &["-ftz=true", "-fmad=false"]),
    ("`-prec-div=false -prec-sqrt=false`", &["-prec-div=false", "-prec-sqrt=false"]),
    ("`--use_fast_math`", &["--use_fast_math"]),
];

/// Compares a kernel that computes a function, alone in its module, with where the verifier knows the function from, on
/// one element of every operand.
fn compared(function: &LibraryFunction, ptx: &str) -> Report {
    let known = function.codes().next().expect("each function has a code");
    let operand = Element::Float(function.format);
    let param = |name: &str, role: Role, element: Element| {
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
    let operands = ["x", "y", "z", "w"].iter().take(function.operands);
    let mut params: Vec<Param> = operands.map(|name| param(name, Role::In, operand)).collect();
    params.push(param("out", Role::Out, function.result()));
    let side = |ptx: &str| KernelLaunch {
        ptx: ptx.to_string(),
        path: function.name.to_string(),
        kernel: None,
        arguments: None,
        launch: Launch::default(),
    };
    volta_core::verify(&Case {
        params,
        reference: Some(side(known).into()),
        opt: side(ptx).into(),
        options: Options::default(),
    })
}

/// Whether a function as it was compiled is the same as where the verifier knows it from.
fn is_recognised(function: &LibraryFunction, ptx: &str) -> bool {
    matches!(compared(function, ptx).verdict, Verdict::Equivalent | Verdict::EquivalentWhere(_))
}

#[test]
fn each_code_of_a_function_is_recognised() {
    let mut wrong = Vec::new();
    for function in FUNCTIONS.iter() {
        for (which, code) in function.codes().enumerate() {
            let report = compared(function, code);
            // As itself, or through another function that it contains.
            let found = report.assumptions.iter().any(|own| own.to_string().contains("` as compiled"));
            if report.verdict != Verdict::Equivalent || !found {
                wrong.push(format!("{} {which}: {:?}", function.name, report.verdict));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// One kernel of a module, with all that is no kernel.
fn alone(ptx: &str, name: &str) -> String {
    let wanted = format!(".visible .entry of_{name}(");
    let mut keeps = true;
    let mut lines = Vec::new();
    for line in ptx.lines() {
        // What is declared stands at the beginning of a line, and nothing else does but brackets.
        if line.starts_with('.') {
            keeps = !line.starts_with(".visible .entry ") || line.starts_with(&wanted);
        }
        if keeps {
            lines.push(line);
        }
    }
    lines.join("\n")
}

/// The page on functions says which are recognised where.
#[test]
fn page_says_what_is_recognised() {
    let nvcc = std::env::var("VOLTA_NVCC").ok().filter(|nvcc| nvcc != "off");
    let Some(nvcc) = nvcc else {
        eprintln!("not measured: VOLTA_NVCC names no compiler");
        return;
    };
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), "recognised");
    scratch.write("functions.cu", &format!("#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n{SOURCE}"));
    let mut text = format!("| of {} rows |", FUNCTIONS.len());
    for (name, _) in FLAGS {
        write!(text, " {name} |").expect("a text takes what is written");
    }
    text += &format!("\n|---|{}\n", "---|".repeat(FLAGS.len()));
    let mut missing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for target in TARGETS {
        write!(text, "| {target} |").expect("a text takes what is written");
        for (name, flags) in FLAGS {
            let mut command = scratch.within(Command::new(&nvcc));
            command.arg("-ptx").arg(format!("-arch={target}")).args(flags).arg("functions.cu");
            let built = Said::by(&mut command);
            assert_eq!(built.code, 0, "{}", built.all());
            let ptx = scratch.read("functions.ptx");
            let others = FUNCTIONS.iter().filter(|own| !is_recognised(own, &alone(&ptx, own.file())));
            let others: Vec<&str> = others.map(|own| own.name).collect();
            println!("{target} {name}: not {others:?}");
            write!(text, " {} |", FUNCTIONS.len() - others.len()).expect("a text takes what is written");
            for other in others {
                missing.entry(other.to_string()).or_default().push(format!("{target} {name}"));
            }
        }
        text.push('\n');
    }
    for (function, places) in missing {
        let places = if places.len() == FLAGS.len() && places.iter().all(|place| place.starts_with("sm_75")) {
            "sm_75".to_string()
        } else {
            places.join(", ")
        };
        write!(text, "\nNot recognised: `{function}` ({places}).\n").expect("a text takes what is written");
    }
    page::hold("docs/library.md", &[("recognised", text)]).expect("the page is as measured");
}
