//! The examples in `contrib`: the hook in a repository, the commands of the workflow, and the names in the container
//! file.
#![cfg(unix)]

use std::fs;
use std::process::Command;

use volta_suite::tree::{read, root};
use volta_suite::{COPY_PTX, Said, Scratch, copy_case};
use yaml_rust2::{Yaml, YamlLoader};

/// A folder with cases below `kernels`, and `cargo-volta` on PATH.
fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("contrib-{name}"));
    scratch.write("kernels/copy/case/copy.ptx", COPY_PTX);
    scratch.write("kernels/copy/case/volta.toml", &copy_case("", "copy"));
    fs::create_dir(scratch.path().join("bin")).expect("folders can be made");
    let program = scratch.path().join("bin/cargo-volta");
    fs::hard_link(env!("CARGO_BIN_EXE_volta-under-test"), program).expect("programs can be linked");
    scratch
}

/// What a script says in the folder.
fn shell(scratch: &Scratch, script: &str) -> Said {
    let mut command = scratch.command("bash");
    let path = std::env::var("PATH").expect("there is a PATH");
    command.env("PATH", format!("{}:{path}", scratch.path().join("bin").display()));
    // No settings of whoever runs the tests.
    command.envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_SYSTEM", "/dev/null")]);
    for name in ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"] {
        command.env_remove(name);
    }
    Said::by(command.args(["-euc", script]))
}

#[test]
fn the_hook_lets_pass_what_is_as_expected() {
    let scratch = scratch("hook");
    let hook = root().join("contrib/pre-commit");
    let setup = format!(
        "git init --quiet . && git config user.name n && git config user.email e@localhost && \
         cp '{}' .git/hooks/pre-commit && git add kernels && git commit --quiet -m first",
        hook.display()
    );
    let said = shell(&scratch, &setup);
    assert_eq!(said.code, 0, "{}", said.all());
    assert!(said.all().contains("ok    copy::case"), "{}", said.all());

    // A text that no case reads.
    let said = shell(&scratch, "echo text > note.md && git add note.md && git commit --quiet -m note");
    assert_eq!((said.code, said.all().as_str()), (0, ""));

    // Beside the cases, an ordinary repository; a header is verified with the cases.
    for header in ["part.hpp", "part.inl", "part.inc"] {
        let add =
            format!("mkdir -p src data && echo > src/{header} && git add src && git commit -m {header}");
        let said = shell(&scratch, &add);
        assert_eq!(said.code, 0, "{}", said.all());
        assert!(said.all().contains("ok    copy::case"), "{}", said.all());
    }

    // What is staged is verified, and not what lies in the folder.
    scratch.write("kernels/copy/case/volta.toml", &copy_case("", "copy_doubled"));
    let said =
        shell(&scratch, "git add kernels && git checkout --quiet HEAD -- note.md && git commit -m wrong");
    assert_eq!(said.code, 1, "{}", said.all());
    assert!(said.err.contains("pre-commit: a case is not as expected"), "{}", said.all());
    scratch.write("kernels/copy/case/volta.toml", &copy_case("", "copy"));
    let said = shell(&scratch, "VOLTA_CASES=kernels git commit -m wrong");
    assert_eq!(said.code, 1, "{}", said.all());
    let said = shell(&scratch, "git add kernels && VOLTA_CASES=kernels git commit --allow-empty -m right");
    assert_eq!(said.code, 0, "{}", said.all());
}

#[test]
fn the_hook_lets_pass_a_repository_without_cases() {
    let scratch = scratch("hook-none");
    let hook = root().join("contrib/pre-commit");
    let script = format!(
        "git init --quiet . && git config user.name n && git config user.email e@localhost && \
         cp '{}' .git/hooks/pre-commit && echo > k.cu && git add k.cu && git commit --quiet -m first",
        hook.display()
    );
    let said = shell(&scratch, &script);
    assert_eq!((said.code, said.all().as_str()), (0, ""));
}

#[test]
fn the_workflow_s_commands_run() {
    let text = read(&root().join("contrib/github.yml"));
    let documents = YamlLoader::load_from_str(&text).expect("it is YAML");
    let steps = documents[0]["jobs"]["volta"]["steps"].as_vec().expect("a job has steps");
    let run = |name: &str| -> &str {
        let step = steps.iter().find(|step| step["name"].as_str() == Some(name)).expect("the step is there");
        step["run"].as_str().expect("it runs something")
    };
    assert!(documents[0]["on"].as_vec().is_some_and(|on| on.contains(&Yaml::String("push".into()))));

    let scratch = scratch("workflow");
    let said = shell(&scratch, run("verify"));
    assert_eq!((said.code, said.out.as_str()), (0, "1 as expected\n"), "{}", said.err);
    scratch.write("kernels/copy/case/volta.toml", &copy_case("", "copy_doubled"));
    let said = shell(&scratch, run("verify"));
    assert_eq!(said.code, 1, "{}", said.all());
    assert!(said.out.starts_with("::error file=kernels/copy/case/volta.toml,"), "{}", said.out);

    // What is there is not installed again.
    assert_eq!(shell(&scratch, run("install")).code, 0);
    assert!(
        run("install").contains("--path .volta/volta-test") && run("install").contains(PACKAGES),
        "{}",
        run("install")
    );
    assert!(root().join("volta-test/src/bin/cargo-volta.rs").exists());
}

/// What a build needs, as `scripts/setup.sh` installs it.
const PACKAGES: &str = "m4 make gcc libc6-dev";

#[test]
fn the_container_file_names_what_there_is() {
    let text = read(&root().join("contrib/Containerfile"));
    let manifest = read(&root().join("Cargo.toml"));
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).expect("it is said");
    let oldest = oldest.trim_matches('"');
    let mut copied = 0;
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (instruction, rest) = line.split_once(' ').expect("an instruction has arguments");
        match instruction {
            "FROM" => {
                assert!(rest.contains("/debian:") || rest.contains(&format!("/rust:{oldest}-")), "{line}")
            }
            "RUN" if rest.starts_with("apt-get") => assert!(rest.ends_with(PACKAGES), "{line}"),
            "RUN" => {
                let folder = rest.rsplit("--path /volta/").next().expect("there is a rest");
                assert!(rest.starts_with("cargo install --locked") && root().join(folder).exists(), "{line}");
                let said = Said::by(Command::new("bash").args(["-nc", rest]));
                assert_eq!(said.code, 0, "{}", said.err);
            }
            "COPY" if rest.starts_with("--from=build") => {
                assert!(rest.contains("/bin/cargo-volta "), "{line}")
            }
            "COPY" => {
                let words: Vec<&str> = rest.split(' ').collect();
                let (_, sources) = words.split_last().expect("a place to copy to");
                assert!(sources.iter().all(|source| root().join(source).exists()), "{line}");
                copied += sources.len();
            }
            "ENTRYPOINT" => assert_eq!(rest, "[\"cargo-volta\"]"),
            "WORKDIR" | "CMD" => {}
            _ => panic!("{line}: what is it?"),
        }
    }
    assert_eq!(copied, 4, "the sources, two licences, and what the dependencies ask");
    let setup = read(&root().join("scripts/setup.sh"));
    let needed: Vec<&str> =
        setup.lines().filter(|line| line.starts_with("has ") && line.contains("|| need")).collect();
    assert!(
        PACKAGES.split(' ').all(|package| needed.iter().any(|line| line.contains(package))),
        "{needed:?}"
    );
}
