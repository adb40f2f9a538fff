//! Launches that are tried, and how far a kernel's tensors reach in the one that is taken.

use std::collections::BTreeMap;

use super::{Inspected, ValueKind, side};
use crate::base::budget::Limit;
use crate::case::{
    Argument, Binding, Case, Contents, Element, Launch, Member, Options, Param, ParamKind, Role, ScalarValue,
    Side, Sign, Which,
};
use crate::library;
use crate::machine::Outputs;
use crate::number::{Extended, Rational};
use crate::program::Program;
use crate::verdict::{FaultKind, InputError, InputProblem, Reason, Verdict};
use crate::verify::{read, run_verdict};

/// Threads of a block, in one dimension and in two, that are tried.
const LINES: [u32; 5] = [128, 256, 64, 32, 16];
const PLANES: [[u32; 3]; 7] =
    [[16, 16, 1], [32, 32, 1], [8, 8, 1], [32, 8, 1], [32, 4, 1], [32, 2, 1], [32, 1, 1]];

/// Bytes of an array in shared memory whose size the launch says.
const DYNAMIC_SHARED: u32 = 16 << 10;

/// Blocks of a grid that has several.
const BLOCKS: u32 = 2;

/// Warp instructions of a run that tells how far tensors reach.
const MOST_INSTRUCTIONS: u64 = 1 << 17;

/// Runs without an end after which no other launch is tried.
const MOST_ENDLESS: usize = 4;

/// Elements of a tensor of which it is to be found out how many are used.
const LONG: u64 = 1 << 24;

/// How a kernel may be launched, and how many elements of each of its tensors it uses then.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchGuess {
    /// Blocks and threads.
    pub launch: Launch,
    /// The value of every integer that it takes.
    pub integer: u32,
    /// What is known besides.
    pub known: KnownContents,
    /// What its values seem to be: tensors that it stores to before it loads from them are outputs.
    pub kinds: Vec<ValueKind>,
    /// For each value that is a tensor, the elements from the first to the last one that is accessed; or the verdict of the
    /// run that would have told.
    pub extents: Result<Vec<Option<u64>>, Box<Verdict>>,
}

/// What a launch knows of floats by value, and of what is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownContents {
    /// Nothing: they are any numbers.
    Nothing,
    /// All are 1, as extents and strides may be.
    Ones,
    /// Floats are 1, and integers in memory count from 0, as indices may.
    Iota,
    /// All numbers are 1, in memory as well.
    All,
}

impl KnownContents {
    /// What a tensor of such elements holds.
    pub fn contents(self, element: Element, role: Role) -> Contents {
        let contents = Contents::of_role(role);
        match (self, element, &contents) {
            (KnownContents::All, _, Contents::Symbolic)
            | (KnownContents::Ones, Element::Int { .. } | Element::Bool, Contents::Symbolic) => {
                Contents::Fill(Extended::Finite(Rational::ONE))
            }
            (KnownContents::Iota, Element::Int { bytes: 4.., .. }, Contents::Symbolic) => Contents::Iota,
            _ => contents,
        }
    }

    /// What a number is launched with.
    pub fn value(self, element: Element, integer: u32) -> ScalarValue {
        match (element, self) {
            (Element::Float(_), KnownContents::Nothing) => ScalarValue::Symbolic(Sign::Any),
            (Element::Float(_) | Element::Int { bytes: 1, .. } | Element::Bool, _) => ScalarValue::integer(1),
            (Element::Int { .. }, _) => ScalarValue::integer(integer.into()),
        }
    }
}

impl LaunchGuess {
    /// The kernel alone, so launched, with tensors that are as long as what it uses of them.
    ///
    /// # Errors
    /// The verdict of the run that would have told how long they are.
    pub fn case(&self, path: &str, text: &str, kernel: &Inspected) -> Result<Case, Verdict> {
        let extents = self.extents.as_ref().map_err(|verdict| (**verdict).clone())?;
        let params = self.params(kernel, |at| extents[at].unwrap_or(1));
        let params = params.map_err(Verdict::InputError)?;
        let mut options = Options::default();
        options.rules.partial = true;
        Ok(Case { params, reference: None, opt: self.side(path, text, kernel), options })
    }

    fn side(&self, path: &str, text: &str, kernel: &Inspected) -> Side {
        let arguments =
            kernel.parameters.iter().any(|parameter| parameter.is_struct).then(|| arguments(kernel));
        Side { launch: self.launch.clone(), arguments, ..side(path, text, Some(kernel.name.clone())) }
    }

    /// What it takes, with tensors of so many elements.
    fn params(&self, kernel: &Inspected, length: impl Fn(usize) -> u64) -> Result<Vec<Param>, InputError> {
        let param = |(at, kind): (usize, &ValueKind)| {
            let kind = match *kind {
                ValueKind::Tensor { element, role } => ParamKind::Tensor {
                    reference: element,
                    opt: element,
                    shape: vec![length(at)],
                    role,
                    contents: self.known.contents(element, role),
                    sign: Sign::Any,
                },
                ValueKind::Scalar(element) => {
                    ParamKind::Scalar { element, value: self.known.value(element, self.integer) }
                }
                ValueKind::Map { .. } => {
                    let what = "it takes a tensor map, of which only a case can say how long its boxes are";
                    return Err(InputError::new(InputProblem::DoesNotFit, what));
                }
            };
            Ok(Param { name: name(kernel, at), kind, binding: Binding::Argument })
        };
        self.kinds.iter().enumerate().map(param).collect()
    }
}

/// What a value is called; PTX does not say.
fn name(kernel: &Inspected, at: usize) -> String {
    let value = &kernel.values[at];
    let parameter = &kernel.parameters[value.parameter];
    match parameter.is_struct && !value.is_map_alone(parameter) {
        true => format!("p{}_{}", value.parameter, value.offset),
        false => format!("p{}", value.parameter),
    }
}

/// Its arguments: values, and structs of what is loaded of them.
fn arguments(kernel: &Inspected) -> Vec<Argument> {
    let of = |parameter: usize| {
        let own = kernel.values.iter().enumerate().filter(move |(_, value)| value.parameter == parameter);
        own.map(|(at, value)| (value, Argument::Named(name(kernel, at))))
    };
    let argument = |(at, parameter): (usize, &super::InspectedParameter)| {
        if !parameter.is_struct {
            return of(at).next().map(|(_, argument)| argument);
        }
        let members =
            of(at).flat_map(|(value, argument)| [Member::Offset(value.offset), Member::Argument(argument)]);
        Some(Argument::Struct(members.chain([Member::Offset(parameter.size)]).collect()))
    };
    kernel.parameters.iter().enumerate().filter_map(argument).collect()
}

/// A launch for a kernel of which nothing else is known, and how far its tensors reach in it: the first of a few that runs
/// to its end, or the first of all. Integers that it takes have the value given, or one that goes with the launch.
///
/// # Errors
/// When the kernel cannot be read.
pub fn guess_launch(
    path: &str,
    text: &str,
    kernel: &Inspected,
    integer: Option<u32>,
) -> Result<LaunchGuess, InputError> {
    let program = read(Which::Opt, &side(path, text, Some(kernel.name.clone())))?;
    let given: Vec<ValueKind> = kernel.values.iter().map(|value| value.kind).collect();
    let readings = readings(kernel, &given);
    let (mut told, mut endless): (Option<LaunchGuess>, usize) = (None, 0);
    for launch in launches(kernel) {
        let [x, y, _] = launch.block;
        let mut integers = integer.map_or(vec![x * launch.grid[0], x, x * y], |integer| vec![integer]);
        integers.dedup();
        for integer in integers {
            let mut failed = None;
            for (kinds, known) in &readings {
                // More is known only where that is what is missing.
                if *known != KnownContents::Nothing && !failed.is_some_and(by_contents)
                    || endless == MOST_ENDLESS
                {
                    continue;
                }
                let (launch, kinds) = (launch.clone(), kinds.clone());
                let mut guess =
                    LaunchGuess { launch, integer, known: *known, kinds, extents: Ok(Vec::new()) };
                guess.extents = reach(&program, &guess, path, text, kernel).map_err(Box::new);
                // What is not supported is told, not avoided by a launch that does not get there.
                let reason = match &guess.extents {
                    Err(verdict) if verdict.reason() != Reason::Fault(FaultKind::Unsupported) => {
                        verdict.reason()
                    }
                    Ok(_) | Err(_) => return Ok(guess),
                };
                endless += usize::from(matches!(reason, Reason::Unknown(_)));
                failed = Some(reason);
                // Of launches that do not run, the first is told, with the most that was tried to be known.
                if told.as_ref().is_none_or(|told| told.launch == guess.launch && told.integer == integer) {
                    told = Some(guess);
                }
            }
        }
    }
    Ok(told.unwrap_or_else(|| {
        let extents = Ok(vec![None; given.len()]);
        let launch = Launch::default();
        LaunchGuess { launch, integer: 1, known: KnownContents::Nothing, kinds: given, extents }
    }))
}

/// What tensors may be for, and what may be known, the likeliest first.
fn readings(kernel: &Inspected, given: &[ValueKind]) -> Vec<(Vec<ValueKind>, KnownContents)> {
    let with = |change: &dyn Fn(usize, ValueKind) -> ValueKind| -> Vec<ValueKind> {
        given.iter().enumerate().map(|(at, kind)| change(at, *kind)).collect()
    };
    let stored_first = with(&|_, kind| match kind {
        ValueKind::Tensor { element, role: Role::InOut } => ValueKind::Tensor { element, role: Role::Out },
        ValueKind::Tensor { .. } | ValueKind::Scalar(_) | ValueKind::Map { .. } => kind,
    });
    let of_bytes = with(&|at, kind| match kind {
        ValueKind::Tensor { role: Role::In, .. } if kernel.values[at].is_unsure => {
            ValueKind::Tensor { element: Element::Int { bytes: 1, signed: false }, role: Role::In }
        }
        ValueKind::Tensor { .. } | ValueKind::Scalar(_) | ValueKind::Map { .. } => kind,
    });
    let mut all = Vec::new();
    for kinds in [stored_first, given.to_vec(), of_bytes] {
        let more = [KnownContents::Nothing, KnownContents::Ones, KnownContents::Iota, KnownContents::All];
        let kinds_known = more.map(|known| (kinds.clone(), known));
        all.extend(kinds_known.into_iter().filter(|reading| !all.contains(reading)).collect::<Vec<_>>());
    }
    all
}

/// Whether a run that ended so may end otherwise where more is known of what tensors hold.
fn by_contents(reason: Reason) -> bool {
    use FaultKind::{DependsOnRounding, InputDependentControl, Race, TypeMismatch};
    matches!(reason, Reason::Fault(DependsOnRounding | InputDependentControl | Race | TypeMismatch))
}

/// Launches to be tried, the likeliest first.
fn launches(kernel: &Inspected) -> Vec<Launch> {
    let [threads, blocks] = kernel.asks;
    let most = kernel.bounds.max_block.map_or(1024, |block| block.iter().product::<u32>());
    let mut sizes: Vec<[u32; 3]> = match threads {
        [_, false, false] if kernel.bounds.max_block.is_some() => vec![[most, 1, 1]],
        _ => Vec::new(),
    };
    sizes.extend(match threads {
        [false, false, false] => vec![[1, 1, 1], [32, 1, 1]],
        [_, false, false] => LINES.map(|x| [x, 1, 1]).to_vec(),
        _ => PLANES.to_vec(),
    });
    sizes.retain(|block| block.iter().product::<u32>() <= most);
    if let Some(required) = kernel.bounds.required_block {
        sizes = vec![required];
    }
    let shared = if kernel.dynamic_shared { DYNAMIC_SHARED } else { 0 };
    let grid = blocks.map(|asks| if asks { BLOCKS } else { 1 });
    sizes.into_iter().map(|block| Launch { block, grid, shared, ..Launch::default() }).collect()
}

/// How many elements of its tensors a launch uses, of each value; or the verdict that it ends in.
fn reach(
    program: &Program,
    guess: &LaunchGuess,
    path: &str,
    text: &str,
    kernel: &Inspected,
) -> Result<Vec<Option<u64>>, Verdict> {
    let params = guess.params(kernel, |_| LONG).map_err(Verdict::InputError)?;
    let side = guess.side(path, text, kernel);
    let mut options = Options { access_patterns: true, first_fault_only: true, ..Options::default() };
    options.rules.partial = true;
    options.budgets[Limit::Instructions] = MOST_INSTRUCTIONS;
    let (outcome, _) = library::run(Which::Opt, program, &side, &params, &options, Outputs::Written);
    let outcome = outcome.map_err(|error| run_verdict(Which::Opt, error))?;
    let ends: BTreeMap<usize, u64> = outcome.patterns.ends().collect();
    let extent = |(at, kind): (usize, &ValueKind)| match kind {
        ValueKind::Tensor { element, .. } => {
            Some(ends.get(&at).map_or(1, |end| end.div_ceil(u64::from(element.bytes())).max(1)))
        }
        ValueKind::Scalar(_) | ValueKind::Map { .. } => None,
    };
    Ok(guess.kinds.iter().enumerate().map(extent).collect())
}
