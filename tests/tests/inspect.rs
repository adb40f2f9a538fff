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
    // A row and a half of two blocks, which begin a block's width apart: `n` is 256 there.
    let expected = "norm/norm.cu::layer_norm_block\n\
        \x20 parameters   x      in, f32, 384 elements   const float *\n\
        \x20              gamma  in, f32, 128 elements   const float *\n\
        \x20              beta   in, f32, 128 elements   const float *\n\
        \x20              y      out, f32, 384 elements   float *\n\
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
        assert!(said.out.contains(verdict), "{}\n{text}", said.all());
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
    for line in [
        "p0   tensor map, in, boxes of 2 dimensions",
        "p10  tensor map, out, boxes of 2 dimensions",
        "not run",
    ] {
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
        ("shape = [384] }", "shape = [128, 128] }", 1),
        ("value = 384 }", "value = 512 }", 1),
        ("box = [64, 64]", "box = [128, 64]", 2),
        ("grid = 2 ", "grid = 128 ", 1),
        ("shared = 16384 ", "shared = 131136 ", 1),
    ] {
        assert_eq!(text.matches(guess).count(), count, "{guess}: {text}");
        text = text.replace(guess, right);
    }
    std::fs::write(&path, &text).expect("it is written again");
    let said = volta(&scratch, &["check", folder, "--root", "/"]);
    assert!(said.out.contains("equivalent"), "{}", said.all());
}

#[test]
fn what_is_not_one_kernel_is_said() {
    let scratch = scratch("several");
    let said = volta(&scratch, &["new", "softmax/softmax.cu"]);
    assert!(said.err.contains("has several kernels") && said.err.contains("softmax_online"), "{}", said.err);
}
