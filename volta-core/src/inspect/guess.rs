//! Guessing a launch by trying several, and the extents of a kernel's tensors in it.

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

/// The sizes of blocks that are tried, in one dimension and in two.
const LINES: [u32; 5] = [128, 256, 64, 32, 16];
const PLANES: [[u32; 3]; 7] =
    [[16, 16, 1], [32, 32, 1], [8, 8, 1], [32, 8, 1], [32, 4, 1], [32, 2, 1], [32, 1, 1]];

/// The size of dynamic shared memory in bytes.
const DYNAMIC_SHARED: u32 = 16 << 10;

/// The extent of a grid in each dimension that the kernel reads.
const BLOCKS: u32 = 2;

/// The limit on warp instructions of a trial run.
const MOST_INSTRUCTIONS: u64 = 1 << 17;

/// The number of unfinished runs after which no other launch is tried.
const MOST_ENDLESS: usize = 4;

/// The number of elements of each tensor in a trial run, more than any kernel is expected to use.
const LONG: u64 = 1 << 24;

/// A launch of a kernel, and the number of elements of each tensor that it uses.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchGuess {
    /// Blocks and threads.
    pub launch: Launch,
    /// The value of every integer parameter.
    pub integer: u32,
    /// The contents that are assumed.
    pub known: KnownContents,
    /// The guessed kinds of its values: a tensor that it stores to before it loads from it is an output.
    pub kinds: Vec<ValueKind>,
    /// For each value that is a tensor, the number of elements up to the last one accessed; or the verdict of the run,
    /// if it failed.
    pub extents: Result<Vec<Option<u64>>, Box<Verdict>>,
}

/// The values that a trial run assumes for float parameters and for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownContents {
    /// None: they are symbolic.
    Nothing,
    /// Float parameters and integers in memory are 1, as extents and strides may be.
    Ones,
    /// Float parameters are 1, and integers in memory count from 0, as indices may.
    Iota,
    /// Float parameters and all numbers in memory are 1.
    All,
}

impl KnownContents {
    /// The contents of a tensor with this element type and role.
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

    /// The value of a scalar of this type.
    pub fn value(self, element: Element, integer: u32) -> ScalarValue {
        match (element, self) {
            (Element::Float(_), KnownContents::Nothing) => ScalarValue::Symbolic(Sign::Any),
            (Element::Float(_) | Element::Int { bytes: 1, .. } | Element::Bool, _) => ScalarValue::integer(1),
            (Element::Int { .. }, _) => ScalarValue::integer(integer.into()),
        }
    }
}

impl LaunchGuess {
    /// The case of the kernel alone with this launch, with tensors as long as it uses them.
    ///
    /// # Errors
    /// The verdict of the trial run, if it failed.
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

    /// The parameters of the case, with tensors of `length` elements.
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
                    let what = "it takes a tensor map, whose boxes only a case can describe";
                    return Err(InputError::new(InputProblem::DoesNotFit, what));
                }
            };
            Ok(Param { name: name(kernel, at), kind, binding: Binding::Argument })
        };
        self.kinds.iter().enumerate().map(param).collect()
    }
}

/// The name of a value, made of its position, since PTX keeps none.
fn name(kernel: &Inspected, at: usize) -> String {
    let value = &kernel.values[at];
    let parameter = &kernel.parameters[value.parameter];
    match parameter.is_struct && !value.is_map_alone(parameter) {
        true => format!("p{}_{}", value.parameter, value.offset),
        false => format!("p{}", value.parameter),
    }
}

/// The arguments of a kernel: values, and structs with the members that it loads.
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

/// Guesses a launch for a kernel, with the extents of its tensors: the first of several launches that runs to the end,
/// or the first of all if none does. Integer parameters have the given value, or one that fits the launch.
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
                // Contents are assumed only if the run without them failed for the lack of them.
                if *known != KnownContents::Nothing && !failed.is_some_and(by_contents)
                    || endless == MOST_ENDLESS
                {
                    continue;
                }
                let (launch, kinds) = (launch.clone(), kinds.clone());
                let mut guess =
                    LaunchGuess { launch, integer, known: *known, kinds, extents: Ok(Vec::new()) };
                guess.extents = reach(&program, &guess, path, text, kernel).map_err(Box::new);
                // An unsupported instruction is reported, not avoided by a launch that does not reach it.
                let reason = match &guess.extents {
                    Err(verdict) if verdict.reason() != Reason::Fault(FaultKind::Unsupported) => {
                        verdict.reason()
                    }
                    Ok(_) | Err(_) => return Ok(guess),
                };
                endless += usize::from(matches!(reason, Reason::Unknown(_)));
                failed = Some(reason);
                // If no launch runs, the first one is reported, with the strongest assumptions that were tried.
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

/// The kinds of values and assumed contents to try, the likeliest first.
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

/// Whether a run that failed for this reason may succeed with more assumptions on the contents of memory.
fn by_contents(reason: Reason) -> bool {
    use FaultKind::{DependsOnRounding, InputDependentControl, Race, TypeMismatch};
    matches!(reason, Reason::Fault(DependsOnRounding | InputDependentControl | Race | TypeMismatch))
}

/// The launches to try, the likeliest first.
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

/// For each value, the number of elements of its tensor that a launch uses; or the verdict of the run, if it failed.
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
