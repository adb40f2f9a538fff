//! The case model: what an attribute and a `volta.toml` both become.
//!
//! A case names files; it does not read them. [`crate::run`] does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use volta_case::{About, Key, Launch, Options, Section, Target, Value, Wrong, split_source};
pub use volta_case::{Contains, Expectation};
use volta_core::case::{Argument, Param, Which};

use crate::prepare::shown;

/// One verification: one or two kernels, what they are launched with, and what is expected of them.
#[derive(Clone, Debug)]
pub struct Case {
    /// `family::case`.
    pub name: String,
    /// Where it is written, and where its files lie.
    pub home: Home,
    /// What it is about.
    pub description: Option<String>,
    /// Further texts about it: the keys of [`About`].
    pub about: About,
    /// Tensors and scalars, in declaration order.
    pub params: Vec<Param>,
    /// The reference; without one, only faults of `opt` are looked for.
    pub reference: Option<Kernel>,
    /// The optimized kernel, or the only one.
    pub opt: Kernel,
    /// The verdict that makes the case pass.
    pub expect: Expectation,
    /// Rules, limits, and options of the run.
    pub options: Options,
    /// The number of points at which a proof is compared with evaluation; 0 takes the number from `VOLTA_RECHECK`.
    pub recheck: u32,
    /// Texts that the PTX must contain, so that a case still tests what it was written for.
    pub contains: Vec<Contains>,
    /// What is still marked as a guess of `cargo volta new`: no verdict under it is as expected.
    pub guesses: Vec<Guess>,
}

/// A line of a `volta.toml` that is marked `# guess`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(deny_unknown_fields, inline))]
pub struct Guess {
    /// Its number, from 1.
    pub line: u32,
    /// Its text before the mark.
    pub text: String,
}

impl Case {
    /// Its kernels.
    pub fn sides(&self) -> impl Iterator<Item = (Which, &Kernel)> {
        let reference = self.reference.iter().map(|kernel| (Which::Reference, kernel));
        reference.chain([(Which::Opt, &self.opt)])
    }

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
    /// The text of a case that is in no file. Its sources are written to `root` while it runs, and messages give their
    /// paths relative to `root`.
    pub document: Option<Arc<str>>,
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

impl Home {
    /// A path as messages show it: as from the current directory, or relative to `root` for a case that is in no file.
    pub fn shown(&self, path: &Path) -> PathBuf {
        match (&self.document, path.strip_prefix(&self.root)) {
            (None, _) => shown(path),
            (Some(_), Ok(name)) => name.into(),
            (Some(_), Err(_)) => path.into(),
        }
    }
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
    /// The launch: block, grid, shared memory and clusters.
    pub launch: Launch,
    /// The architecture and the flags of its compilation.
    pub target: Target,
}

impl Section for Kernel {
    fn keys() -> Vec<&'static Key> {
        [Launch::keys(), Target::keys()].concat()
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), Wrong> {
        if Launch::keys().iter().any(|known| known.name == key) {
            self.launch.set(key, value)
        } else {
            self.target.set(key, value)
        }
    }
}

impl Kernel {
    /// The kernel of `source`, which is written `file` or `file::kernel`, with one thread in one CTA.
    pub fn new(source: &str) -> Kernel {
        let (source, name) = split_source(source);
        Kernel {
            source: source.into(),
            name: name.map(Into::into),
            args: None,
            launch: Launch::default(),
            target: Target::default(),
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
