//! `cargo volta inspect` and `cargo volta new`: reports on kernels without a case, and cases generated from them.

use std::process::Command;

use volta_suite::{Said, Scratch};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures");

fn volta(scratch: &Scratch, arguments: &[&str]) -> Said {
    let mut command: Command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    Said::by(command.current_dir(FIXTURES).args(arguments))
}

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("inspect-{name}"))
}

#[test]
fn parameters_have_names_types_roles_and_extents() {
    let said = volta(&scratch("table"), &["inspect", "norm/norm.cu::layer_norm_block"]);
    assert_eq!(said.code, 0, "{}", said.err);
    // Two rows of a block's width: with wider ones, elements of `y` between the rows would stay unwritten.
    let expected = "norm/norm.cu::layer_norm_block\n\
        \x20 parameters   x      in, f32, 256 elements   const float *\n\
        \x20              gamma  in, f32, 128 elements   const float *\n\
        \x20              beta   in, f32, 128 elements   const float *\n\
        \x20              y      out, f32, 256 elements   float *\n\
        \x20              eps    number, f32   float\n\
        \x20              n      number, i32   int\n\
        \x20 launch guess block 128, grid 2\n\
        \x20 shared       128 bytes\n";
    assert!(said.out.ends_with(expected), "{}", said.out);
}

#[test]
fn kernels_are_told_as_json_with_what_is_not_supported() {
    let said = volta(&scratch("json"), &["inspect", "--format", "json", "outside/outside.cu::texture"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let kernels: Vec<serde_json::Value> =
        said.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let texture = kernels.iter().find(|kernel| kernel["name"] == "texture").expect("it has one");
    let unsupported = texture["unsupported"][0].as_str().expect("a text");
    assert!(unsupported.starts_with("line ") && unsupported.contains("tex"), "{unsupported}");
    let said = volta(&scratch("none"), &["inspect", "norm/norm.cu::layer_nrom"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("no kernel is called `layer_nrom`"), "{}", said.err);
}

/// Cases that run at once, by kernels alone: with the verdict that their own cases have.
#[test]
fn a_new_case_runs_at_once() {
    let scratch = scratch("new");
    for (reference, opt, verdict) in [
        ("softmax_naive", "softmax_online", "equivalent"),
        ("softmax_naive", "softmax_no_rescale", "different"),
    ] {
        let folder = scratch.path().join(format!("cases/{opt}"));
        let folder = folder.to_str().expect("a path");
        let kernel = |name: &str| format!("softmax/softmax.cu::{name}");
        let said = volta(&scratch, &["new", &kernel(reference), &kernel(opt), "--output", folder]);
        assert_eq!(said.code, 0, "{}", said.err);
        let text = std::fs::read_to_string(format!("{folder}/volta.toml")).expect("it is written");
        for line in text.lines().filter(|line| line.contains(" = {") || line.starts_with("block")) {
            assert!(line.contains("# guess"), "{line}");
        }
        let said = volta(&scratch, &["check", folder, "--root", "/"]);
        assert!(said.out.contains(&format!("{verdict} (guess)")), "{}\n{text}", said.all());
        let said = volta(&scratch, &["new", &kernel(reference), &kernel(opt), "--output", folder]);
        assert_eq!(said.code, 2);
        assert!(said.err.contains("already exists"), "{}", said.err);
    }
}

/// What a kernel loads of a struct is told as parameters are, and given by its place in the struct.
#[test]
fn members_of_structs_are_told_and_given() {
    let scratch = scratch("members");
    let said = volta(&scratch, &["inspect", "structs/structs.cu::problem"]);
    for line in ["struct, 48 bytes", "p_12  number, i32", "p_40  out, f32"] {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    let folder = scratch.path().join("case");
    let folder = folder.to_str().expect("a path");
    let said = volta(&scratch, &["new", "structs/structs.cu::problem", "--output", folder]);
    assert_eq!(said.code, 0, "{}", said.err);
    let said = volta(&scratch, &["check", folder, "--root", "/"]);
    assert!(said.out.contains("clean"), "{}", said.all());
}

/// Of a tensor map it is told how many dimensions its boxes have, and where they go; a case gets a tensor and a box of that form,
/// and is right once somebody has looked at them.
#[test]
fn tensor_maps_are_told_and_given() {
    let scratch = scratch("maps");
    let said = volta(&scratch, &["inspect", "pipeline/triton_matmul.ptx"]);
    for line in ["p0   tensor map, in, boxes of 2 dimensions", "p10  tensor map, out, boxes of 2 dimensions"]
    {
        assert!(said.out.contains(line), "{line}: {}", said.out);
    }
    let folder = scratch.path().join("case");
    let folder = folder.to_str().expect("a path");
    let kernel = |name: &str| format!("pipeline/wgmma.cu::{name}");
    let new = ["new", &kernel("wgmma_plain"), &kernel("wgmma"), "--arch", "sm_90a", "--output", folder];
    let said = volta(&scratch, &new);
    assert_eq!(said.code, 0, "{}", said.err);
    let path = format!("{folder}/volta.toml");
    let mut text = std::fs::read_to_string(&path).expect("it is written");
    for (guess, right, count) in [
        ("shape = [128, 128] }", "shape = [128, 512] }", 2),
        ("value = 128 }", "value = 512 }", 1),
        ("box = [128, 64]", "box = [128, 64]", 2),
        ("grid = 2 ", "grid = 128 ", 1),
        ("shared = 232448 ", "shared = 131136 ", 1),
    ] {
        assert_eq!(text.matches(guess).count(), count, "{guess}: {text}");
        text = text.replace(guess, right);
    }
    std::fs::write(&path, &text).expect("it is written again");
    let said = volta(&scratch, &["check", folder, "--root", "/"]);
    assert!(said.out.contains("equivalent"), "{}", said.all());
}

/// A new case for kernels of the guesses' fixture: the verdict in the table, and the case.
fn guessed(scratch: &Scratch, reference: &str, opt: &str) -> (Said, String) {
    let folder = scratch.path().join(opt);
    let folder = folder.to_str().expect("a path");
    let kernel = |name: &str| format!("../tests/mistakes/guessed/k.cu::{name}");
    let said = volta(scratch, &["new", &kernel(reference), &kernel(opt), "--output", folder]);
    assert_eq!(said.code, 0, "{}", said.err);
    let text = std::fs::read_to_string(format!("{folder}/volta.toml")).expect("it is written");
    (volta(scratch, &["check", folder, "--root", "/"]), text)
}

/// Sizes and indices are guessed so that kernels differ where they differ at the sizes of a launch.
#[test]
fn a_guess_makes_no_two_kernels_alike() {
    let scratch = scratch("alike");
    for (reference, opt, verdict) in [
        ("total", "first_times_n", "different"),
        ("gather", "gather_first", "different"),
        ("gather", "copy", "different"),
        ("guarded", "unguarded", "different"),
    ] {
        let (said, text) = guessed(&scratch, reference, opt);
        assert_eq!(said.code, 1, "{}", said.all());
        assert!(said.out.contains(&format!("{verdict} (guess)")), "{}\n{text}", said.all());
    }
}

/// No verdict on guesses is as expected, in any format, until the marks are gone.
#[test]
fn a_guess_is_not_as_expected() {
    let scratch = scratch("marks");
    let (said, text) = guessed(&scratch, "total", "total");
    assert_eq!(said.code, 1, "{}", said.all());
    for part in
        ["FAIL ", "equivalent (guess)", "guesses of `cargo volta new`", "equivalent, if 5 guesses are right"]
    {
        assert!(said.out.contains(part), "{part}: {}", said.out);
    }
    let folder = scratch.path().join("total");
    let folder = folder.to_str().expect("a path");
    let said = volta(&scratch, &["check", folder, "--root", "/", "--format", "json"]);
    let line: serde_json::Value = serde_json::from_str(&said.out).expect("JSON");
    assert_eq!((&line["outcome"], &line["verdict"]), (&"failed".into(), &"equivalent".into()));
    let marked = text.lines().filter(|line| line.contains("# guess")).count();
    assert_eq!(line["guesses"].as_array().map(Vec::len), Some(marked));
    for format in ["junit", "sarif", "github", "html"] {
        let said = volta(&scratch, &["check", folder, "--root", "/", "--format", format]);
        assert!(said.code == 1 && said.out.contains("guesses of"), "{format}: {}", said.out);
    }
    let without: String = text
        .lines()
        .map(|line| line.split(" # guess").next().unwrap_or_default().to_owned() + "\n")
        .collect();
    std::fs::write(format!("{folder}/volta.toml"), without).expect("it is written");
    let said = volta(&scratch, &["check", folder, "--root", "/"]);
    assert!(said.code == 0 && said.out.contains("ok "), "{}", said.all());
}

/// Cases for what compilers write, from the PTX alone.
#[test]
fn new_cases_for_kernels_of_compilers_run() {
    let scratch = scratch("compilers");
    for (file, verdict) in COMPILED {
        let folder = scratch.path().join(file.replace(['/', '.', ':'], "_"));
        let folder = folder.to_str().expect("a path");
        let said = volta(&scratch, &["new", file, "--output", folder]);
        assert_eq!(said.code, 0, "{file}: {}", said.err);
        let said = volta(&scratch, &["check", folder, "--root", "/"]);
        let text = std::fs::read_to_string(format!("{folder}/volta.toml")).expect("it is written");
        assert!(said.out.contains(&format!(" {verdict} (guess)")), "{file}: {}\n{text}", said.all());
    }
}

/// Kernels by Triton, TileLang, CuTe DSL and nvcc, with the verdict on each alone.
const COMPILED: [(&str, &str); 20] = [
    ("triton/attention_90.ptx", "clean"),
    ("triton/gated_80.ptx", "clean"),
    ("triton/layer_norm_80.ptx", "clean"),
    ("triton/matmul_80.ptx", "clean"),
    ("triton/softmax_90.ptx", "clean"),
    ("tilelang/hopper_copies_fenced.ptx", "clean"),
    ("tilelang/small_32x32_2.ptx", "clean"),
    ("tilelang/small_64x64_3.ptx", "clean"),
    ("tilelang/hopper_gemm.ptx", "ambiguous-barrier"),
    ("tilelang/hopper_gemm_deep.ptx", "ambiguous-barrier"),
    ("cute_dsl/hopper.ptx", "clean"),
    ("cute_dsl/hopper_no_wait.ptx", "ambiguous-barrier"),
    ("cute_dsl/blackwell.ptx", "deadlock"),
    ("cute_dsl/hopper_no_fence.ptx", "ambiguous-barrier"),
    ("cute_dsl/blackwell_no_wait.ptx", "race"),
    ("softmax/softmax.sm_80.ptx::softmax_online", "clean"),
    ("norm/norm.sm_80.ptx::layer_norm_block", "clean"),
    ("matmul/matmul.sm_80.ptx::matmul_tiled", "clean"),
    ("vector/vector.sm_80.ptx::copy_scalar", "clean"),
    ("reduction/reduction.sm_80.ptx::reduce1", "clean"),
];

/// Parameters of a kernel that PTX gives no names have those of the reference; Triton's own pointers are null.
#[test]
fn a_kernel_without_names_takes_the_parameters_of_the_reference() {
    let scratch = scratch("names");
    let folder = scratch.path().join("case");
    let folder = folder.to_str().expect("a path");
    let said =
        volta(&scratch, &["new", "triton/plain.cu::softmax", "triton/softmax_90.ptx", "--output", folder]);
    assert_eq!(said.code, 0, "{}", said.err);
    let text = std::fs::read_to_string(format!("{folder}/volta.toml")).expect("it is written");
    let arguments = "args = [\"x\", \"y\", \"columns\", \"stride\", 0, 0]";
    assert!(text.contains(arguments) && !text.contains("p0") && text.contains("shared = 16 "), "{text}");
    let said = volta(&scratch, &["check", folder, "--root", "/"]);
    assert!(said.out.contains("equivalent (guess)"), "{}\n{text}", said.all());
}

#[test]
fn what_is_not_one_kernel_is_said() {
    let scratch = scratch("several");
    let said = volta(&scratch, &["new", "softmax/softmax.cu"]);
    assert!(said.err.contains("has several kernels") && said.err.contains("softmax_online"), "{}", said.err);
}
