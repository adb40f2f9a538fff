//! The program that `scripts/corpus.sh` runs on kernels from elsewhere, tested on our own kernels.

use std::process::Command;

use serde_json::Value;
use volta_suite::Said;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures");

fn tried(files: &[&str]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_corpus"));
    let said = Said::by(command.current_dir(FIXTURES).args(["--timeout", "60"]).args(files));
    assert_eq!(said.code, 0, "{}", said.err);
    said.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn of<'t>(all: &'t [Value], kernel: &str) -> &'t Value {
    all.iter().find(|tried| tried["kernel"] == kernel).unwrap_or_else(|| panic!("{kernel} is not told"))
}

#[test]
fn each_kernel_has_a_verdict_and_a_reason() {
    let all = tried(&["softmax/softmax.sm_80.ptx", "outside/outside.sm_80.ptx"]);
    let online = of(&all, "softmax_online");
    assert_eq!((&online["verdict"], &online["reason"]), (&"clean".into(), &"".into()), "{online}");
    assert_eq!(online["file"], "softmax.sm_80.ptx");
    let texture = of(&all, "texture");
    let expected = "`tex.#d.v#.f#.s#` is not supported: textures and surfaces are not supported yet";
    assert_eq!((&texture["verdict"], &texture["reason"]), (&"unsupported".into(), &expected.into()));
    assert!(texture["unsupported"][0].as_str().is_some_and(|why| why.contains("tex")), "{texture}");
    let racy = tried(&["race/layer_norm.sm_80.ptx"]);
    assert!(racy.iter().any(|tried| tried["verdict"] == "race"), "{racy:?}");
    assert!(
        racy.iter()
            .all(|tried| !tried["reason"].as_str().unwrap_or("").contains(|c: char| c.is_ascii_digit()))
    );
}

/// Structs by value are launched as well: what is loaded of them is guessed as parameters are.
#[test]
fn members_of_structs_are_guessed() {
    let all = tried(&["structs/structs.sm_80.ptx"]);
    let problem = of(&all, "problem");
    assert_eq!(problem["verdict"], "clean", "{problem}");
}

#[test]
fn what_is_no_ptx_is_told() {
    let all = tried(&["softmax/softmax.cu"]);
    assert_eq!((all.len(), &all[0]["verdict"]), (1, &"input-error".into()), "{all:?}");
}
