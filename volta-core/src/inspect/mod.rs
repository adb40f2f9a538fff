//! Inspecting a kernel without a case: its parameters, and guesses about their roles and about the launch.
//!
//! Roles and types are inferred from the code, extents from a run on very long tensors. Nothing here is a claim: people
//! review the guesses and correct them.

mod guess;
mod sizes;
mod uses;

use crate::case::{Element, KernelLaunch, Launch, Role, Which};
use crate::launch::place_in;
use crate::program::{self, InstId, LaunchBounds, Op, Program, Space, Special, VariableId};
use crate::ptx;
use crate::steps::read;
use crate::verdict::{InputError, InputProblem, Place};
pub use guess::{KnownContents, LaunchGuess, guess_launch};
pub use sizes::{Landmark, landmarks};
use uses::Uses;

/// A kernel as its code shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspected {
    /// Its name in PTX.
    pub name: String,
    /// Its name in the source.
    pub source_name: String,
    /// Its parameters in order.
    pub parameters: Vec<InspectedParameter>,
    /// The values that it is passed by them, in order.
    pub values: Vec<InspectedValue>,
    /// Its directives about launches.
    pub bounds: LaunchBounds,
    /// The size of its static shared memory in bytes.
    pub shared: u64,
    /// Whether it uses dynamic shared memory, whose size the launch gives.
    pub dynamic_shared: bool,
    /// For `%tid`, then `%ctaid`: the dimensions that it reads.
    pub asks: [[bool; 3]; 2],
    /// Unsupported instructions, and why they are: a fault for a thread that reaches them.
    pub unsupported: Vec<(Place, String)>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectedParameter {
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is a struct or a vector, passed by value.
    pub is_struct: bool,
}

/// A number, a pointer or a tensor map that is passed to a kernel: a parameter, or a member that it loads from a
/// struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectedValue {
    /// The number of the parameter.
    pub parameter: usize,
    /// Its offset in the parameter, in bytes.
    pub offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// Its guessed kind.
    pub kind: ValueKind,
    /// Whether the elements accessed through it have several types, or an unknown one.
    pub is_unsure: bool,
    /// Whether the kernel loads it, or copies by it.
    pub is_used: bool,
}

impl InspectedValue {
    /// Whether it is a tensor map that is a parameter itself, not a member of a struct.
    pub fn is_map_alone(&self, parameter: &InspectedParameter) -> bool {
        matches!(self.kind, ValueKind::Map { .. }) && self.size == parameter.size
    }
}

/// The guessed kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A pointer through which the kernel loads or stores.
    Tensor {
        /// The type in which the kernel computes with its elements.
        element: Element,
        /// Whether the kernel loads from it, stores to it, or both.
        role: Role,
    },
    /// A number.
    Scalar(Element),
    /// A tensor map.
    Map {
        /// The number of dimensions of the boxes that are copied; 0 if no copy is found.
        rank: usize,
        /// Whether boxes are loaded, stored, or both.
        role: Role,
    },
}

/// Inspects all kernels of a module, or the one with the given name.
///
/// # Errors
/// When the text is not valid PTX, or has no such kernel.
pub fn inspect(path: &str, text: &str, kernel: Option<&str>) -> Result<Vec<Inspected>, InputError> {
    let launch = |name: Option<String>| launch_of(path, text, name);
    let names: Vec<String> = match kernel {
        Some(name) => vec![name.to_owned()],
        None => {
            // Errors are reported as for a case.
            let module = match ptx::parse(text) {
                Ok(module) => module,
                Err(_) => return Err(read(Which::Opt, &launch(None), 0).err().unwrap_or_else(no_kernel)),
            };
            program::kernels(&module).into_iter().map(|kernel| kernel.name).collect()
        }
    };
    if names.is_empty() {
        return Err(read(Which::Opt, &launch(None), 0).err().unwrap_or_else(no_kernel));
    }
    names
        .into_iter()
        .map(|name| read(Which::Opt, &launch(Some(name)), 0).map(|program| of(&program, text)))
        .collect()
}

fn no_kernel() -> InputError {
    InputError::new(InputProblem::KernelNotFound, "there is no kernel")
}

fn launch_of(path: &str, text: &str, kernel: Option<String>) -> KernelLaunch {
    KernelLaunch {
        ptx: text.to_owned(),
        path: path.to_owned(),
        kernel,
        arguments: None,
        launch: Launch::default(),
    }
}

fn of(program: &Program, text: &str) -> Inspected {
    let parameters = program.parameters.iter();
    let parameters =
        parameters.map(|own| InspectedParameter { size: own.size, is_struct: uses::is_struct(own) });
    let mut asks = [[false; 3]; 2];
    let mut unsupported: Vec<(Place, String)> = Vec::new();
    for (at, inst) in program.insts.iter().enumerate() {
        if let Op::Special { special: Special::Tid(dimension), .. } = &inst.op {
            asks[0][usize::from(*dimension).min(2)] = true;
        } else if let Op::Special { special: Special::Ctaid(dimension), .. } = &inst.op {
            asks[1][usize::from(*dimension).min(2)] = true;
        } else if let Some(reason) = inst.op.not_supported()
            && let Some(place) = place_in(program, text, InstId::from_index(at))
            && !unsupported.iter().any(|(known, _)| known.line == place.line)
        {
            unsupported.push((place, reason.to_owned()));
        }
    }
    let mentioned = program.mentioned();
    let shared = program.variables.iter().enumerate().filter(|(at, variable)| {
        variable.space == Space::Shared && mentioned.contains(&VariableId::from_index(*at))
    });
    let sizes: Vec<Option<u64>> = shared.map(|(_, variable)| variable.size).collect();
    Inspected {
        name: program.name.clone(),
        source_name: program::variable_name(&program.name),
        parameters: parameters.collect(),
        values: Uses::of(program).values(program),
        bounds: program.bounds,
        shared: sizes.iter().flatten().sum(),
        dynamic_shared: sizes.contains(&None),
        asks,
        unsupported,
    }
}
