//! `cargo volta replay`: from a counterexample to numbers, and to self-contained programs that reproduce it.

use std::process::Command;

use volta_suite::{Said, Scratch};

fn replay(scratch: &Scratch, case: &str, emit: &[&str]) -> Said {
    let case = format!("{}/{case}", env!("CARGO_MANIFEST_DIR"));
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    Said::by(command.args(["replay", &case]).args(emit))
}

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("reproduction-{name}"))
}

/// The cases that programs are written of: by a root, by exponentials and maxima, by a selection.
const CASES: [&str; 3] =
    ["mistakes/wrong_epsilon", "../fixtures/softmax/no_rescale_4", "../fixtures/clamp/huber_torn"];

#[test]
fn both_results_are_told_and_where_they_part() {
    let scratch = scratch("told");
    let said = replay(&scratch, "mistakes/wrong_epsilon", &[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(
        said.out,
        "mistakes::wrong_epsilon\n  at x[0] = 1; other inputs are 0\n  k.cu::plain: 16 threads, 736 instructions\n  \
         k.cu::fast: 16 threads, 652 instructions\n  1 of 16 elements of y differ, beyond rounding or not\n    \
         y[0] = 3.99968, 3.999968   the element of the verdict\n"
    );
    let said = replay(&scratch, "mistakes/missing_barrier", &[]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is race: only a difference has inputs to replay"), "{}", said.err);
}

#[test]
fn the_rust_program_shows_the_difference() {
    let scratch = scratch("rust");
    for case in CASES {
        let said = replay(&scratch, case, &["--emit", "rust"]);
        assert_eq!(said.code, 0, "{}", said.err);
        scratch.write("shown.rs", &said.out);
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let built = Said::by(scratch.within(Command::new(rustc)).args(["--edition", "2024", "shown.rs"]));
        assert_eq!(built.code, 0, "{case}: {}", built.err);
        let ran = Said::by(&mut Command::new(scratch.path().join("shown")));
        assert!(ran.code == 0 && ran.out.contains("in the optimized kernel"), "{case}: {}", ran.all());
    }
}

#[test]
fn the_numpy_script_shows_the_difference() {
    let scratch = scratch("numpy");
    let has = |module: &str| {
        let import = format!("import {module}");
        Command::new("python3").args(["-c", &import]).output().is_ok_and(|out| out.status.success())
    };
    if !has("sys") {
        eprintln!("skipped: there is no python3 on PATH");
        return;
    }
    for case in CASES {
        let said = replay(&scratch, case, &["--emit", "numpy"]);
        assert_eq!(said.code, 0, "{}", said.err);
        scratch.write("shown.py", &said.out);
        let compiled =
            Said::by(scratch.within(Command::new("python3")).args(["-m", "py_compile", "shown.py"]));
        assert_eq!(compiled.code, 0, "{case}: {}", compiled.err);
        if !has("numpy") {
            eprintln!("not run: python3 has no numpy");
            continue;
        }
        let ran = Said::by(scratch.within(Command::new("python3")).arg("shown.py"));
        assert!(ran.code == 0 && ran.out.contains("in the optimized kernel"), "{case}: {}", ran.all());
    }
}

/// Of these, only the launch is special: a struct by value, a tensor of structs, a variable of the module, tensor maps; what only one
/// side writes; a cluster; several launches, a variable that they share, steps that run twice; a graph as a reference, a graph as a
/// step; a fill, a copy and a launch that may begin early.
const LAUNCHES: [(&str, &str); 12] = [
    ("../fixtures/structs/wrong_stride", "    memcpy(parameters + 40, &d2, sizeof d2);\n"),
    ("../fixtures/blocks/rows_off", "    put(b0.data(), 18, 2, 15360ull);\n"),
    ("../fixtures/globals/not_zero", "    CUdeviceptr d2 = set(module, \"coefficients\", 0, b2);\n"),
    (
        "../fixtures/pipeline/wgmma_descriptor_off",
        "    map(parameters + 128, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_SWIZZLE_128B, d1, {512, 128}, {1024}, \
         {64, 128});\n",
    ),
    (
        "../fixtures/globals/result_missing",
        "    launch(kernel, {1, 1, 1}, {32, 1, 1}, {0, 0, 0}, false, false, 0, {parameters + 0});\n",
    ),
    (
        "../fixtures/cluster/sum_own_part",
        "    launch(kernel, {12, 1, 1}, {64, 1, 1}, {4, 1, 1}, false, false, 0, {parameters + 0, parameters + 8, parameters + 16});\n",
    ),
    (
        "../fixtures/launches/scan_inclusive",
        "    launch(kernel2, {4, 1, 1}, {64, 1, 1}, {0, 0, 0}, false, false, 0, {parameters2 + 0, parameters2 + 8, \
         parameters2 + 16});\n",
    ),
    ("../fixtures/launches/variable_stale", "    CUdeviceptr d2 = set(module, \"held\", 0, b2);\n"),
    (
        "../fixtures/launches/workspace_unclean",
        "    launch(kernel4, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, false, false, 0, {parameters4 + 0, parameters4 + 8, \
         parameters4 + 16});\n",
    ),
    ("../fixtures/graph/argmax_last", "    // Step 1 is a graph, evaluated in advance.\n    fill(d"),
    (
        "../fixtures/graph/step_unused",
        "    // Step 1 is a graph, evaluated in advance.\n    fill(d1, {0, 1, 4, 4, 256}, {",
    ),
    (
        "tests/reproduction/early",
        "    fill(d1, {0, 1, 4, 4, 64}, {0ull});\n    copy(d0, {0, 1, 4, 4, 64}, d2, {0, 1, 4, 4, 64});\n    \
         launch(kernel, {1, 1, 1}, {64, 1, 1}, {0, 0, 0}, false, false, 0, {parameters + 0, parameters + 8});\n    \
         launch(kernel2, {1, 1, 1}, {64, 1, 1}, {0, 0, 0}, false, true, 0, {parameters2 + 0, parameters2 + 8, \
         parameters2 + 16});\n",
    ),
];

#[test]
fn the_cuda_program_compiles() {
    let scratch = scratch("cuda");
    let plain = CASES.map(|case| (case, "    launch(kernel, {"));
    for (case, part) in plain.into_iter().chain(LAUNCHES) {
        let said = replay(&scratch, case, &["--emit", "cuda"]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains(part), "{case}: {}", said.out);
        scratch.write("shown.cu", &said.out);
        let nvcc = std::env::var("VOLTA_NVCC").ok().filter(|nvcc| nvcc != "off");
        let Some(nvcc) = nvcc else {
            eprintln!("not compiled: VOLTA_NVCC names no compiler");
            continue;
        };
        let built = Said::by(scratch.within(Command::new(nvcc)).args([
            "-Werror",
            "all-warnings",
            "-c",
            "shown.cu",
            "-o",
            "shown.o",
        ]));
        assert_eq!(built.code, 0, "{case}: {}", built.all());
    }
}
