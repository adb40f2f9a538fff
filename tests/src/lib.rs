//! Shared helpers of the suites.

pub mod accuracy;
pub mod case_schema;
pub mod circles;
pub mod corpus;
pub mod differential;
pub mod expander;
pub mod explored;
pub mod explorer;
pub mod expression;
pub mod filetest;
pub mod fixture;
pub mod fuzz;
pub mod graph_schema;
pub mod laws;
pub mod lemmas;
pub mod modules;
pub mod mutation;
pub mod page;
pub mod pairs;
pub mod phases;
pub mod replay;
pub mod tree;
pub mod verifier_mutants;

pub use volta_interpreter as interpreter;

use volta_core::case::{KernelLaunch, Side};

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A side of a case that is one launch.
pub trait OneLaunch {
    /// The launch.
    ///
    /// # Panics
    /// When it is not one launch.
    fn one(&self) -> &KernelLaunch;

    /// Like [`OneLaunch::one`].
    ///
    /// # Panics
    /// When it is not one launch.
    fn one_mut(&mut self) -> &mut KernelLaunch;
}

impl OneLaunch for Side {
    fn one(&self) -> &KernelLaunch {
        self.only().expect("the side is one launch")
    }

    fn one_mut(&mut self) -> &mut KernelLaunch {
        self.only_mut().expect("the side is one launch")
    }
}

/// A temporary folder of a test, initially empty.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// The folder `name` in `parent` (`env!("CARGO_TARGET_TMPDIR")`), emptied.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn new(parent: &str, name: &str) -> Scratch {
        let dir = Path::new(parent).join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("the scratch folder can be made");
        Scratch(dir)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file, with the folders above it.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("folders can be made");
        fs::write(path, text).expect("the file can be written");
    }

    /// Reads a file.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).expect("the file can be read")
    }

    /// A program that runs in this folder, without the variables of the environment that configure the suites, without
    /// a compiler or a solver, and with a build folder of its own.
    pub fn command(&self, program: &str) -> Command {
        self.within(Command::new(program))
    }

    /// Makes a command run like [`Scratch::command`].
    pub fn within(&self, mut command: Command) -> Command {
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        command.envs([("VOLTA_NVCC", "off"), ("VOLTA_Z3", "off"), ("VOLTA_CACHE", "off")]);
        command.env("CARGO_TARGET_DIR", self.0.join("target")).current_dir(&self.0);
        command
    }
}

/// The output and the exit code of a program.
#[derive(Debug)]
pub struct Said {
    /// Its exit code; -1 when it was killed.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Said {
    /// The output on both streams.
    pub fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    /// The output on both streams as one line, so that line breaks do not matter.
    pub fn on_one_line(&self) -> String {
        self.all().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Runs a command.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn by(command: &mut Command) -> Said {
        Said::of(command.output().expect("the program starts"))
    }

    /// Runs a command with a text on its standard input.
    ///
    /// # Panics
    /// When it cannot be started.
    pub fn by_input(command: &mut Command, input: &str) -> Said {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("the program starts");
        let mut to = child.stdin.take().expect("it has a standard input");
        // A program that does not read its input reports why, so a failed write is no error.
        let _ = to.write_all(input.as_bytes());
        drop(to);
        Said::of(child.wait_with_output().expect("the program ends"))
    }

    fn of(output: Output) -> Said {
        let Output { status, stdout, stderr } = output;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("programs say UTF-8");
        Said { code: status.code().unwrap_or(-1), out: text(stdout), err: text(stderr) }
    }
}

/// The program's commands, from its `--help`.
///
/// # Panics
/// When it lists none.
pub fn commands_in(help: &str) -> Vec<String> {
    let (_, list) = help.split_once("Commands:\n").expect("it lists its commands");
    let lines = list.lines().map_while(|line| line.strip_prefix("  "));
    // A continuation line is indented further.
    lines
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
        .map(str::to_owned)
        .collect()
}

/// Whether suites run in full, and not the sample of every run: `VOLTA_SLOW=1`.
pub fn in_full() -> bool {
    std::env::var("VOLTA_SLOW").is_ok_and(|value| value == "1")
}

/// The variables of the environment that configure the suites; tests start programs without them.
const VARIABLES: [&str; 13] = [
    "VOLTA_NVCC",
    "VOLTA_Z3",
    "NVCC",
    "CUDA_HOME",
    "CUDA_PATH",
    "VOLTA_SLOW",
    "VOLTA_JSON",
    "CI",
    "INSTA_UPDATE",
    "INSTA_FORCE_PASS",
    "NO_COLOR",
    "NEXTEST",
    "CARGO_TARGET_DIR",
];

/// PTX with two kernels that copy a tensor in different ways: `copy` and `copy_late`.
pub const COPY_PTX: &str = include_str!("copy.ptx");

/// A case about [`COPY_PTX`]; `extra` is text at the top.
pub fn copy_case(extra: &str, opt: &str) -> String {
    format!(
        r#"{extra}
[params]
x = {{ role = "in", type = "f32", shape = [32] }}
y = {{ role = "out", type = "f32", shape = [32] }}

[reference]
source = "copy.ptx::copy"
block = 32

[opt]
source = "copy.ptx::{opt}"
block = 32
"#
    )
}

/// A command under limits on its address space and its processor time; a program that exceeds them is killed by the
/// system, which tests can tell from an exit.
pub fn limited(program: &str, mebibytes: u32, seconds: u32) -> Command {
    let mut command = Command::new("sh");
    let script =
        format!("ulimit -v {}; ulimit -t {seconds}; ulimit -c 0; exec \"$0\" \"$@\"", mebibytes * 1024);
    command.args(["-c", &script, program]);
    command
}
