//! A kernel's code, its parameters and variables, and where in which source they come from.

use super::effect::Divides;
use super::op::{Op, PredSrc, Space, Src, VariableId};
use super::variables::WORKSPACE;
use super::visit::Named;
use crate::base::span::Span;
use rustc_hash::FxHashSet;

/// An operation in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    /// Executed only by lanes where it holds.
    pub guard: Option<PredSrc>,
    /// What is executed.
    pub op: Op,
    /// What [`Op::divides`] says of it, which is asked at every step.
    pub divides: Divides,
    /// The PTX instruction it was lowered from.
    pub span: Span,
    /// Index into [`Program::locations`], from the last `.loc` before it.
    pub location: Option<u32>,
}

impl Inst {
    /// Lets it do something else.
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
    /// The place of the call that this was inlined at, among the program's locations before this one.
    pub inlined_at: Option<u32>,
}

/// A variable in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name as written (calls add a suffix to tell activations apart).
    pub name: String,
    /// Where it lives; never `Generic`.
    pub space: Space,
    /// Bytes; `None` for `extern` arrays without a size: in shared memory they are the dynamic window.
    pub size: Option<u64>,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// Its first bytes, of constants and globals only; shorter than `size` means zeros follow. `None` means that the
    /// PTX does not say what it holds.
    pub init: Option<Init>,
    /// PTX type as written: `f32`, `b8`, …
    pub element: String,
    /// Declared by the entry as its parameter number n.
    pub parameter: Option<usize>,
    /// Where its declaration starts in the PTX.
    pub declared_at: u32,
}

/// An initial value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Init {
    /// Bytes.
    pub bytes: Vec<u8>,
    /// 8-byte addresses of variables, at byte offsets, that the layout fills in: (offset, variable, addend, generic).
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
    /// Bytes.
    pub size: u64,
    /// What its place is a multiple of.
    pub align: u64,
    /// A `.ptr` attribute, as written.
    pub pointer: bool,
}

/// A kernel, resolved: calls inlined, names gone.
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
    /// Names of all `.const` and `.global` variables of the module, whether or not the code names them.
    pub module_variables: Vec<String>,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// Places in CUDA sources.
    pub locations: Vec<Location>,
    /// What its directives say about launches.
    pub bounds: LaunchBounds,
    /// Lines of PTX text.
    pub lines: u32,
}

impl Program {
    /// The variable that stands for what the driver provides for the barrier of a cooperative grid.
    pub fn workspace(&self) -> Option<VariableId> {
        let at = self.variables.iter().position(|variable| variable.name == WORKSPACE)?;
        Some(VariableId::from_index(at))
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

/// What the directives of an entry, and of its module, say about its launches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchBounds {
    /// `.reqntid`: the launch must match.
    pub required_block: Option<[u32; 3]>,
    /// `.maxntid`: the launch's threads must not exceed the product.
    pub max_block: Option<[u32; 3]>,
    /// `.reqnctapercluster`: the CTAs of a cluster.
    pub cluster: Option<[u32; 3]>,
    /// `.explicitcluster`: the launch must say how CTAs form clusters.
    pub explicit_cluster: bool,
    /// `.maxclusterrank`: the CTAs of a cluster at most.
    pub max_cluster: Option<u32>,
    /// `.blocksareclusters`: the launch counts clusters and not CTAs.
    pub blocks_are_clusters: bool,
    /// `.maxnreg`: registers of a thread at most.
    pub max_registers: Option<u32>,
    /// The number of `.target`: 80 for `sm_80`.
    pub architecture: Option<u32>,
}
