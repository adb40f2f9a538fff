//! The case model: what an attribute and a `volta.toml` both become.
//!
//! A case names files; it does not read them. [`crate::run`] does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use volta_case::{About, Key, Launch, Options, Section, Shard, Target, Value, Wrong, split_source};
pub use volta_case::{Contains, Expectation};
use volta_core::case::{Argument, Param, ParamKind, Role, Which};
use volta_core::graph::Graph;
use volta_core::number::Extended;

use crate::prepare::shown;
use crate::registry::Registered;

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
    pub reference: Option<Side>,
    /// The optimized kernel, or the only one.
    pub opt: Side,
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
    /// The files with the contents of tensors.
    pub data: Vec<DataFile>,
    /// The part of the case that this is, by its name; the whole case otherwise.
    pub shard: Option<Shard>,
    /// The variable that is every number; the rest is the case at the least one.
    pub every: Option<Every>,
}

/// A variable of a family that is every number.
#[derive(Clone, Debug)]
pub struct Every {
    /// Its name.
    pub variable: String,
    /// The least number.
    pub least: u64,
    /// For the reference and the other kernel: over how many sizes all numbers that it uses change by the same amount; or
    /// why there is no such period.
    pub periods: Result<[u64; 2], String>,
    /// What gives the case at each.
    pub(crate) source: AtSize,
}

/// Where a case at a size comes from.
#[derive(Clone, Debug)]
pub(crate) enum AtSize {
    /// The text of a family, the name of its member, and where it lies.
    Text(Arc<str>, String, Home),
    Attribute(&'static Registered),
}

impl Every {
    /// The case at a size.
    ///
    /// # Errors
    /// Why there is none.
    pub fn at(&self, size: u64) -> Result<Case, String> {
        match &self.source {
            AtSize::Text(text, name, home) => {
                crate::manifest::at_size((text, name, home), &self.variable, size)
            }
            AtSize::Attribute(registered) => registered.at(size),
        }
    }
}

/// A file with the contents of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// The tensor: the name of a parameter.
    pub of: String,
    /// The file as the case spells it.
    pub file: String,
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
    /// The number of elements of its outputs, which are compared.
    pub fn elements(&self) -> u64 {
        let is_compared =
            |kind: &ParamKind| matches!(kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. });
        let outputs = self.params.iter().filter(|param| is_compared(&param.kind));
        outputs.fold(0, |all, param| all.saturating_add(param.count()))
    }

    /// Its sides.
    pub fn sides(&self) -> impl Iterator<Item = (Which, &Side)> {
        let reference = self.reference.iter().map(|side| (Which::Reference, side));
        reference.chain([(Which::Opt, &self.opt)])
    }

    /// Its kernels, each with its side and the number of its step.
    pub fn kernels(&self) -> impl Iterator<Item = (Which, usize, &Kernel)> {
        self.sides().flat_map(|(which, side)| side.kernels().map(move |(step, kernel)| (which, step, kernel)))
    }

    /// A side; a single kernel is the optimized one.
    pub fn side(&self, side: Which) -> &Side {
        match (side, &self.reference) {
            (Which::Reference, Some(reference)) => reference,
            (Which::Reference, None) | (Which::Opt, _) => &self.opt,
        }
    }

    /// The kernel that a side launches in a step, or else its first one.
    pub fn kernel(&self, side: Which, step: usize) -> &Kernel {
        self.side(side).kernel(step)
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

/// One side: a kernel, or steps one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The first kernel; of a side without one, the name of the graph is its source.
    first: Kernel,
    /// The steps, if it is more than one kernel; the first kernel is that of the first launch among them.
    steps: Vec<Step>,
    /// How often they are done.
    pub repeat: u32,
}

/// A step of a side.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A kernel.
    Launch(Kernel),
    /// Every element of a tensor becomes a number.
    Fill {
        /// The tensor.
        tensor: String,
        /// The number.
        with: Extended,
    },
    /// Every element of a tensor becomes that of another one.
    Copy {
        /// The tensor that is read.
        from: String,
        /// The tensor that is written.
        to: String,
    },
    /// A graph of operators.
    Graph(GraphSource),
}

/// Where a graph is.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphSource {
    /// In a file, as the case spells it.
    File(String),
    /// In the case itself.
    Here(Arc<Graph>),
}

impl GraphSource {
    /// Its name in messages.
    pub fn shown(&self) -> &str {
        match self {
            GraphSource::File(file) => file,
            GraphSource::Here(graph) => &graph.name,
        }
    }
}

impl From<Kernel> for Side {
    fn from(first: Kernel) -> Side {
        Side { first, steps: Vec::new(), repeat: 1 }
    }
}

impl Side {
    /// The side, done so often.
    pub fn repeated(self, repeat: u32) -> Side {
        Side { repeat, ..self }
    }

    /// A side of several steps; `None` if none of them is a launch or a graph.
    pub fn of_steps(steps: Vec<Step>, repeat: u32) -> Option<Side> {
        let first = steps.iter().find_map(|step| match step {
            Step::Launch(kernel) => Some(kernel.clone()),
            Step::Fill { .. } | Step::Copy { .. } | Step::Graph(_) => None,
        });
        let graph = || {
            steps.iter().find_map(|step| match step {
                Step::Graph(graph) => Some(Kernel { source: graph.shown().into(), ..Kernel::new("") }),
                Step::Launch(_) | Step::Fill { .. } | Step::Copy { .. } => None,
            })
        };
        let first = first.or_else(graph)?;
        // A single launch is no list.
        let steps = if let [Step::Launch(_)] = steps.as_slice() { Vec::new() } else { steps };
        Some(Side { first, steps, repeat })
    }

    /// Its steps in order, as often as they are done.
    pub fn steps(&self) -> Vec<Step> {
        match self.steps.is_empty() {
            true => vec![Step::Launch(self.first.clone()); self.repeat as usize],
            false => (0..self.repeat).flat_map(|_| self.steps.iter().cloned()).collect(),
        }
    }

    /// Its kernels, each once, with the number of its step.
    pub fn kernels(&self) -> impl Iterator<Item = (usize, &Kernel)> {
        let single = self.steps.is_empty().then_some((0, &self.first));
        single.into_iter().chain(self.steps.iter().enumerate().filter_map(|(at, step)| match step {
            Step::Launch(kernel) => Some((at, kernel)),
            Step::Fill { .. } | Step::Copy { .. } | Step::Graph(_) => None,
        }))
    }

    /// Its graphs, each once, with the number of its step.
    pub fn graphs(&self) -> impl Iterator<Item = (usize, &GraphSource)> {
        self.steps.iter().enumerate().filter_map(|(at, step)| match step {
            Step::Graph(graph) => Some((at, graph)),
            Step::Launch(_) | Step::Fill { .. } | Step::Copy { .. } => None,
        })
    }

    /// Calls `change` for each kernel.
    pub fn change_kernels(&mut self, mut change: impl FnMut(&mut Kernel)) {
        change(&mut self.first);
        for step in &mut self.steps {
            if let Step::Launch(kernel) = step {
                change(kernel);
            }
        }
    }

    /// The kernel of a step, or else the first one.
    pub fn kernel(&self, step: usize) -> &Kernel {
        match self.steps.get(self.once(step)) {
            Some(Step::Launch(kernel)) => kernel,
            Some(Step::Fill { .. } | Step::Copy { .. } | Step::Graph(_)) | None => &self.first,
        }
    }

    /// The number that a step has when it is done for the first time.
    pub fn once(&self, step: usize) -> usize {
        step % self.steps.len().max(1)
    }

    /// Whether it is one launch.
    pub fn is_one_launch(&self) -> bool {
        self.steps.is_empty() && self.repeat == 1
    }

    /// Its kernels as the case spells them.
    pub fn shown(&self) -> String {
        let kernels = self.kernels().map(|(at, kernel)| (at, kernel.shown()));
        let graphs = self.graphs().map(|(at, graph)| (at, graph.shown().to_owned()));
        let mut names: Vec<(usize, String)> = kernels.chain(graphs).collect();
        names.sort();
        let names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        names.join(", ")
    }

    /// What a step is, in words: `k.cu::reduce (step 2)`; of a side that is one step, only what it is. Steps that are
    /// done again go on counting.
    pub fn step_shown(&self, step: usize) -> String {
        let name = match self.steps.get(self.once(step)) {
            Some(Step::Fill { tensor, .. }) => format!("the fill of `{tensor}`"),
            Some(Step::Copy { from, to }) => format!("the copy of `{from}` to `{to}`"),
            Some(Step::Launch(_) | Step::Graph(_)) | None => self.kernel(step).shown(),
        };
        let again = match step / self.steps.len().max(1) {
            0 => String::new(),
            times => format!(", in run {}", times + 1),
        };
        let is_single = self.steps.len() <= 1 && self.repeat == 1;
        if is_single { name } else { format!("{name} (step {}{again})", step + 1) }
    }
}

/// A kernel and how it is launched.
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
