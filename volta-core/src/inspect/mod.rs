//! What can be told of a kernel before anybody has said how it is launched: what it takes, and guesses at what that is for.
//!
//! What kernels do with a pointer is read off their code; how far they get, off a run on tensors that are long enough for
//! anything. Nothing here is a claim: people look at it and correct it.

mod guess;
mod uses;

use crate::case::{Element, Launch, Role, Side, Which};
use crate::machine::place_in;
use crate::program::{self, InstId, LaunchBounds, Op, Program, Space, Special, VariableId};
use crate::ptx;
use crate::verdict::{InputError, InputProblem, Place};
use crate::verify::read;
pub use guess::{KnownContents, LaunchGuess, guess_launch};
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
    /// What it takes by them, in order.
    pub values: Vec<InspectedValue>,
    /// What its directives say about launches.
    pub bounds: LaunchBounds,
    /// Bytes of its arrays in shared memory.
    pub shared: u64,
    /// It has an array in shared memory whose size the launch says.
    pub dynamic_shared: bool,
    /// The dimensions in which it asks for the number of its thread, and of its block.
    pub asks: [[bool; 3]; 2],
    /// Instructions that are not supported, and why: a fault for a thread that gets there.
    pub unsupported: Vec<(Place, String)>,
}

/// A parameter of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectedParameter {
    /// Bytes.
    pub size: u64,
    /// It is a struct or a vector by value.
    pub is_struct: bool,
}

/// A number, a pointer or a tensor map that a kernel takes: a parameter, or what it loads of a struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectedValue {
    /// The number of the parameter.
    pub parameter: usize,
    /// The byte of the parameter where it lies.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// What it seems to be.
    pub kind: ValueKind,
    /// What is accessed through it has several types, or one that does not show.
    pub is_unsure: bool,
}

impl InspectedValue {
    /// Whether it is a tensor map that is a parameter of its own, and no member of a struct.
    pub fn is_map_alone(&self, parameter: &InspectedParameter) -> bool {
        matches!(self.kind, ValueKind::Map { .. }) && self.size == parameter.size
    }
}

/// What a value seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// A pointer through which the kernel loads or stores.
    Tensor {
        /// What it loads or stores is computed with as this.
        element: Element,
        /// By what it does: loads, stores, or both.
        role: Role,
    },
    /// A number.
    Scalar(Element),
    /// A tensor map.
    Map {
        /// The dimensions of the boxes that are copied by it; 0 where none is seen.
        rank: usize,
        /// Whether boxes are fetched by it, stored, or both.
        role: Role,
    },
}

/// Looks at the kernels of a module, or at the one of that name.
///
/// # Errors
/// When the text is no PTX, or no kernel answers to the name.
pub fn inspect(path: &str, text: &str, kernel: Option<&str>) -> Result<Vec<Inspected>, InputError> {
    let side = |name: Option<String>| side(path, text, name);
    let names: Vec<String> = match kernel {
        Some(name) => vec![name.to_owned()],
        None => {
            // Its errors are those of a case.
            let module = match ptx::parse(text) {
                Ok(module) => module,
                Err(_) => return Err(read(Which::Opt, &side(None)).err().unwrap_or_else(no_kernel)),
            };
            program::kernels(&module).into_iter().map(|kernel| kernel.name).collect()
        }
    };
    if names.is_empty() {
        return Err(read(Which::Opt, &side(None)).err().unwrap_or_else(no_kernel));
    }
    names
        .into_iter()
        .map(|name| read(Which::Opt, &side(Some(name))).map(|program| of(&program, text)))
        .collect()
}

fn no_kernel() -> InputError {
    InputError::new(InputProblem::KernelNotFound, "there is no kernel")
}

fn side(path: &str, text: &str, kernel: Option<String>) -> Side {
    Side { ptx: text.to_owned(), path: path.to_owned(), kernel, arguments: None, launch: Launch::default() }
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
