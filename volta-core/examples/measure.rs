//! Runs one kernel alone, for counting what that costs: `measure KERNEL RUNS`.
//!
//! It prints the thread instructions and the bytes of terms of one run. With 0 runs it still reads and lowers the
//! PTX, so the difference between two counts of the host's instructions is what running alone takes.
//! `scripts/bench.py` makes a report of it.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use volta_core::launch;

use volta_core::case::{
    Assumed, Binding, Contents, Element, KernelLaunch, Launch, Options, Param, ParamKind, Role, ScalarValue,
    Which,
};
use volta_core::{machine, program, ptx};

/// A kernel, its launch, and what it is launched with; as in `fixtures/<family>/<case>/volta.toml`.
struct Alone {
    params: Vec<Param>,
    ptx: &'static str,
    grid: [u32; 3],
    block: u32,
    ctas: Option<Vec<u64>>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.as_slice() {
        [kernel, runs] => runs.parse().map_err(Into::into).and_then(|runs| measure(kernel, runs)),
        _ => Err("usage: measure KERNEL RUNS".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("measure: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(name: &str, runs: u32) -> Result<(), Box<dyn Error>> {
    let alone =
        find(name).ok_or("the kernels are softmax_naive, softmax_online, matmul_naive, matmul_tiled")?;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(alone.ptx);
    let kernel = KernelLaunch {
        ptx: fs::read_to_string(path)?,
        path: alone.ptx.into(),
        kernel: Some(name.into()),
        arguments: None,
        launch: Launch { grid: alone.grid, ctas: alone.ctas, ..Launch::of_threads(alone.block) },
    };
    let module = ptx::parse(&kernel.ptx).map_err(|error| error.message)?;
    let program = program::lower(&module, &kernel.ptx, Some(name)).map_err(|error| error.to_string())?;
    let mut counts = (0, 0);
    for _ in 0..runs {
        let options = Options::default();
        let job = launch::Job::only(Which::Opt, (&program, &kernel), &alone.params, &options);
        let job = launch::Job { outputs: launch::Outputs::Written, ..job };
        let (outcome, _) = machine::run(&job, machine::Recognition::default());
        let outcome = outcome.map_err(|error| format!("{name}: {error:?}"))?;
        counts = (outcome.counts.thread_instructions, outcome.term_bytes);
    }
    println!("{} {}", counts.0, counts.1);
    Ok(())
}

fn find(kernel: &str) -> Option<Alone> {
    match kernel {
        "softmax_naive" | "softmax_online" => Some(Alone {
            params: vec![
                tensor("x", Role::In, &[128]),
                tensor("y", Role::Out, &[128]),
                scalar("n", "i32", ScalarValue::integer(128)),
            ],
            ptx: "softmax/softmax.sm_80.ptx",
            grid: [1; 3],
            block: 128,
            ctas: None,
        }),
        "matmul_naive" | "matmul_tiled" => Some(Alone {
            params: vec![
                tensor("a", Role::In, &[4096, 4096]),
                tensor("b", Role::In, &[4096, 4096]),
                tensor("c", Role::InOut, &[4096, 4096]),
                scalar("alpha", "f32", ScalarValue::Symbolic(Assumed::default())),
                scalar("beta", "f32", ScalarValue::Symbolic(Assumed::default())),
                scalar("n", "i32", ScalarValue::integer(4096)),
            ],
            ptx: "matmul/matmul.sm_80.ptx",
            grid: [64, 64, 1],
            block: 512,
            ctas: Some(vec![0]),
        }),
        _ => None,
    }
}

fn tensor(name: &str, role: Role, shape: &[u64]) -> Param {
    let contents = if role == Role::Out { Contents::Undefined } else { Contents::Symbolic };
    let (reference, opt) = (element("f32"), element("f32"));
    let kind = ParamKind::Tensor {
        reference,
        opt,
        shape: shape.to_vec(),
        role,
        contents,
        assumed: Assumed::default(),
    };
    Param::new(name, kind, Binding::Argument)
}

fn scalar(name: &str, of: &str, value: ScalarValue) -> Param {
    Param::new(name, ParamKind::Scalar { element: element(of), value }, Binding::Argument)
}

fn element(name: &str) -> Element {
    Element::parse(name).expect("this file names element types only")
}
