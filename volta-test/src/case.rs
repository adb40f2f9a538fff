//! The case model: what an attribute and a `volta.toml` both become.
//!
//! A case names files; it does not read them. [`crate::run`] does.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use volta_core::case::{Argument, Options, Param, Which};
use volta_core::machine::fault::FaultKind;

/// The architecture that kernels are compiled for when a case names none.
pub const DEFAULT_ARCH: &str = "sm_80";

/// One verification: one or two kernels, what they are launched with, and what is expected of them.
#[derive(Clone, Debug)]
pub struct Case {
    /// `family::case`.
    pub name: String,
    /// Where it is written, and where its files lie.
    pub home: Home,
    /// What it is about.
    pub description: Option<String>,
    /// Why the expected verdict is right.
    pub why: Option<String>,
    /// Tensors and scalars, in declaration order.
    pub params: Vec<Param>,
    /// The reference; without one, only faults of `opt` are looked for.
    pub reference: Option<Kernel>,
    /// The optimized kernel, or the only one.
    pub opt: Kernel,
    /// The verdict that makes the case pass.
    pub expect: Expectation,
    /// Relaxations and limits.
    pub options: Options,
    /// How long verifying may take.
    pub timeout: Option<Duration>,
    /// Run only on request: with `VOLTA_SLOW=1`, in CI, or when asked for ignored tests.
    pub slow: bool,
    /// Whether the normal forms, or the fault's message, are snapshotted.
    pub snapshots: bool,
    /// What must occur in the PTX, so that a case still tests what it was written for.
    pub contains: Vec<Contains>,
}

impl Case {
    /// The kernel of a side.
    pub fn side(&self, side: Which) -> &Kernel {
        match (side, &self.reference) {
            (Which::Reference, Some(kernel)) => kernel,
            (Which::Reference, None) | (Which::Opt, _) => &self.opt,
        }
    }
}

/// Where a case is written, and where its files lie.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// The `volta.toml`, or the Rust file with the attribute.
    pub file: PathBuf,
    /// The line of the attribute.
    pub line: Option<u32>,
    /// The folder to which paths are relative.
    pub dir: PathBuf,
    /// No file outside this folder is read.
    pub root: PathBuf,
    /// The folder of its snapshot.
    pub snapshot_dir: PathBuf,
    /// The name of its snapshot, without `.snap`.
    pub snapshot_name: String,
}

/// One side: a kernel and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The `.cu` or `.ptx` file as the case spells it.
    pub source: String,
    /// Which kernel of the file; `None` when there is only one.
    pub name: Option<String>,
    /// Arguments in the kernel's order; `None` is the declaration order.
    pub args: Option<Vec<Argument>>,
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub shared: u32,
    /// Linear numbers of the CTAs to run; `None` is all of them.
    pub ctas: Option<Vec<u64>>,
    /// Flags for the compiler.
    pub flags: Vec<String>,
    /// The architecture to compile for.
    pub arch: String,
}

impl Kernel {
    /// The kernel of `source`, which is written `file` or `file::kernel`, with one thread in one CTA.
    pub fn new(source: &str) -> Kernel {
        let (source, name) = split_source(source);
        Kernel {
            source: source.into(),
            name: name.map(Into::into),
            args: None,
            grid: [1; 3],
            block: [1; 3],
            shared: 0,
            ctas: None,
            flags: Vec::new(),
            arch: DEFAULT_ARCH.into(),
        }
    }

    /// `file::kernel`, as the case spells it.
    pub fn shown(&self) -> String {
        match &self.name {
            Some(name) => format!("{}::{name}", self.source),
            None => self.source.clone(),
        }
    }
}

/// Splits `file::kernel` behind the file's extension, so that C++ names may hold `::`.
pub fn split_source(text: &str) -> (&str, Option<&str>) {
    let cut = [".cu::", ".ptx::"].iter().filter_map(|mark| Some(text.find(mark)? + mark.len())).min();
    match cut {
        Some(cut) => (&text[..cut - 2], Some(&text[cut..])),
        None => (text, None),
    }
}

/// The verdict that makes a case pass; all of it must match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// A name that [`verdict_names`] lists.
    pub verdict: String,
    /// The faulty side.
    pub side: Option<Which>,
    /// The rule that is broken.
    pub rule: Option<String>,
    /// The CUDA source lines of the fault's sites, as a set.
    pub lines: Option<BTreeSet<u32>>,
}

impl Expectation {
    /// Expects a verdict by name, and nothing more.
    pub fn of(verdict: &str) -> Expectation {
        Expectation { verdict: verdict.into(), side: None, rule: None, lines: None }
    }
}

/// A text that a side's PTX must contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contains {
    /// Whose PTX.
    pub side: Which,
    /// What to look for.
    pub text: String,
    /// How often at least.
    pub count: u64,
}

/// Every name that a case can expect.
pub fn verdict_names() -> Vec<String> {
    let fixed = [
        "equivalent",
        "equivalent-where",
        "different",
        "clean",
        "unknown(budget)",
        "unknown(timeout)",
        "unknown(undecided)",
    ];
    let faults = FaultKind::ALL.iter().map(|kind| kind.name());
    fixed.into_iter().chain(faults).chain(["input-error"]).map(str::to_owned).collect()
}

/// The name that cases use for a side.
pub fn side_name(side: Which) -> &'static str {
    match side {
        Which::Reference => "reference",
        Which::Opt => "opt",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_splits_behind_its_extension() {
        assert_eq!(split_source("a.cu"), ("a.cu", None));
        assert_eq!(split_source("../a.cu::k"), ("../a.cu", Some("k")));
        assert_eq!(split_source("a.sm_80.ptx::ns::k<float>"), ("a.sm_80.ptx", Some("ns::k<float>")));
        assert_eq!(split_source("a.cuh"), ("a.cuh", None));
    }
}
