//! The code of a kernel, its parameters and variables, and their positions in the sources.

use super::effect::Divides;
use super::op::{Op, PredSrc, Space, Src, VariableId};
use super::variables::{WORKSPACE, variable_name};
use super::visit::Named;
use crate::base::span::Span;
use rustc_hash::FxHashSet;

/// An operation with its guard and position.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Only lanes for which it holds execute the operation.
    pub guard: Option<PredSrc>,
    /// The operation.
    pub op: Op,
    /// The cached result of [`Op::divides`], which is used at every step.
    pub divides: Divides,
    /// The PTX instruction from which it was lowered.
    pub span: Span,
    /// Index into [`Program::locations`], from the last `.loc` before it.
    pub location: Option<u32>,
}

impl Inst {
    /// Replaces the operation.
    pub fn replace(&mut self, op: Op) {
        self.divides = op.divides();
        self.op = op;
    }
}

/// A CUDA source position from `.loc`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Path as in `.file`.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1 (0 when unknown).
    pub column: u32,
    /// The position of the call at which this was inlined: an index into the program's locations, less than its own.
    pub inlined_at: Option<u32>,
}

/// A variable in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name as written; inlined calls append a suffix to distinguish their activations.
    pub name: String,
    /// Its state space; never `Generic`.
    pub space: Space,
    /// Size in bytes; `None` for `extern` arrays without a size, which in shared memory are the dynamic window.
    pub size: Option<u64>,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// Its first bytes, for constants and globals only; zeros follow up to `size`. `None` if the PTX does not
    /// initialise it.
    pub init: Option<Init>,
    /// PTX type as written: `f32`, `b8`, …
    pub element: String,
    /// The number of the parameter, if the entry declares it as one.
    pub parameter: Option<usize>,
    /// The position of its declaration in the PTX.
    pub declared_at: u32,
}

/// An initial value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Init {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// 8-byte addresses of variables, which the layout fills in: (byte offset, variable, addend, whether it is
    /// generic).
    pub addresses: Vec<(u64, VariableId, i64, bool)>,
}

/// A parameter of the entry.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its variable in parameter space.
    pub variable: VariableId,
    /// PTX type as written: `u64`, `f32`, `b8`, …
    pub element: String,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Whether it has a `.ptr` attribute.
    pub pointer: bool,
}

/// A kernel after name resolution, with calls inlined.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The entry's name.
    pub name: String,
    /// Its code; execution starts at 0 and never falls off the end (an `Exit` is last).
    pub insts: Vec<Inst>,
    /// Number of registers.
    pub registers: u32,
    /// Number of predicate registers.
    pub predicates: u32,
    /// Memory variables that the code can name.
    pub variables: Vec<Variable>,
    /// Names of all `.const` and `.global` variables of the module, named by the code or not.
    pub module_variables: Vec<String>,
    /// Parameters, in order.
    pub parameters: Vec<Parameter>,
    /// Positions in CUDA sources.
    pub locations: Vec<Location>,
    /// Constraints on launches by its directives.
    pub bounds: LaunchBounds,
    /// The number of lines of the PTX text.
    pub lines: u32,
}

impl Program {
    /// The variable for the memory that the driver provides for the barrier of a cooperative grid.
    pub fn workspace(&self) -> Option<VariableId> {
        let at = self.variables.iter().position(|variable| variable.name == WORKSPACE)?;
        Some(VariableId::from_index(at))
    }

    /// The variable with which shared memory begins: the static one that is declared first, or the dynamic window.
    pub fn first_in_shared_memory(&self) -> Option<VariableId> {
        let all =
            || self.variables.iter().enumerate().filter(|(_, variable)| variable.space == Space::Shared);
        let statics = all().filter(|(_, variable)| variable.size.is_some());
        let first = statics.min_by_key(|(_, variable)| variable.declared_at).or_else(|| all().next());
        first.map(|(at, _)| VariableId::from_index(at))
    }

    /// The entry's name in the source, for messages.
    pub fn source_name(&self) -> String {
        variable_name(&self.name)
    }

    /// The variables that the code names.
    pub fn mentioned(&self) -> FxHashSet<VariableId> {
        let mut found = FxHashSet::default();
        for inst in &self.insts {
            inst.op.visit(&mut |named| {
                if let Named::Read(Src::Symbol(variable, _)) = named {
                    found.insert(variable);
                }
            });
        }
        found
    }
}

/// Constraints on launches by the directives of an entry and of its module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.reqntid`: the launch must match.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: the launch's threads must not exceed the product.
    pub max_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the CTAs of a cluster in each dimension.
    pub cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: the launch must give the size of clusters.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`: the most CTAs of a cluster.
    pub max_cluster: Option<u32>,
    /// `.blocksareclusters`: the grid counts clusters, not CTAs.
    pub blocks_are_clusters: bool,
    /// `.minnctapersm`: the CTAs of which registers must suffice for as many on one multiprocessor.
    pub min_ctas: Option<u32>,
    /// `.maxnreg`: the most registers of a thread.
    pub max_registers: Option<u32>,
    /// The number of `.target`: 80 for `sm_80`.
    pub architecture: Option<u32>,
}
