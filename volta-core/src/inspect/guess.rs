//! Guessing a launch by trying several, and the extents of a kernel's tensors in it.

use std::collections::BTreeMap;

use super::{Inspected, ValueKind, launch_of};
use crate::base::budget::Limit;
use crate::case::{
    Argument, Assumed, Binding, Case, Contents, Element, KernelLaunch, Launch, Member, Options, Param,
    ParamKind, Role, ScalarValue, Swizzle, TensorMap, Which,
};
use crate::launch::{Job, Outputs, most_dynamic_shared};
use crate::library;
use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::program::Program;
use crate::progress::run_verdict;
use crate::steps::read;
use crate::verdict::{FaultKind, InputError, Reason, UnknownReason, Verdict};

/// The sizes of blocks that are tried, in one dimension and in two.
const LINES: [u32; 5] = [128, 256, 64, 32, 16];
const PLANES: [[u32; 3]; 7] =
    [[16, 16, 1], [32, 32, 1], [8, 8, 1], [32, 8, 1], [32, 4, 1], [32, 2, 1], [32, 1, 1]];

/// The extent of a grid in each dimension that the kernel reads.
const BLOCKS: u32 = 2;

/// The limit on warp instructions of a trial run.
const MOST_INSTRUCTIONS: u64 = 1 << 19;

/// The number of unfinished runs after which no other launch is tried.
const MOST_ENDLESS: usize = 4;

/// The number of elements of each tensor in a trial run, more than any kernel is expected to use.
const LONG: u64 = 1 << 24;

/// Dynamic shared memory is given in multiples of this number of bytes.
const SHARED_UNIT: u64 = 16;

/// How far a size is below a multiple of the block, so that tails count.
const TAIL: u32 = 3;

/// The boxes of tensor maps that are tried: their two inner extents. The inner one is a row of 128 bytes.
const BOXES: [[u64; 2]; 3] = [[64, 64], [128, 64], [32, 64]];

/// Boxes of further maps are not tried apart.
const MOST_MAPS: usize = 3;

/// The factors by which grids are enlarged that leave gaps in an output.
const LARGER: [u32; 3] = [2, 4, 8];

/// The size for kernels with tensor maps.
const OF_BOXES: u32 = 128;

/// Sizes for kernels of few threads, which loop over more elements than they have threads: odd ones first.
const SMALL: [u32; 2] = [5, 8];

/// The value of a number that must be known but is no size: neither 0 nor 1, with which a product or a sum would not
/// differ from its operand.
const KNOWN: i64 = 3;

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
    /// For each value that is a tensor map, the two inner extents of its boxes.
    pub boxes: Vec<[u64; 2]>,
    /// The end of the bytes of dynamic shared memory that the run accessed.
    dynamic: u64,
    /// Whether the run left gaps between the elements of an output that it wrote.
    has_gaps: bool,
}

/// The values that a trial run assumes for float parameters and for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownContents {
    /// None: they are symbolic.
    Nothing,
    /// Float parameters are known, and integers in memory count from 0, as indices may.
    Iota,
    /// Float parameters are known, and integers in memory are 1, as extents and strides may be.
    Ones,
    /// Float parameters are known, and all numbers in memory are 1.
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
            (Element::Float(_), KnownContents::Nothing) => ScalarValue::Symbolic(Assumed::default()),
            // A byte is a flag, as in the arguments of CuTe DSL.
            (Element::Bool | Element::Int { bytes: 1, .. }, _) => ScalarValue::integer(1),
            (Element::Float(_), _) => ScalarValue::integer(KNOWN),
            (Element::Int { .. }, _) => ScalarValue::integer(integer.into()),
        }
    }
}

impl LaunchGuess {
    /// A launch that has not run.
    fn new(launch: Launch, integer: u32, known: KnownContents, kinds: Vec<ValueKind>) -> LaunchGuess {
        let (extents, boxes) = (Ok(Vec::new()), vec![BOXES[0]; kinds.len()]);
        LaunchGuess { launch, integer, known, kinds, extents, boxes, dynamic: 0, has_gaps: false }
    }

    /// Runs the launch on long tensors.
    fn run(&mut self, program: &Program, path: &str, text: &str, kernel: &Inspected) {
        self.extents = match self.reached(program, path, text, kernel) {
            Ok((extents, dynamic, has_gaps)) => {
                (self.dynamic, self.has_gaps) = (dynamic, has_gaps);
                Ok(extents)
            }
            Err(verdict) => Err(Box::new(verdict)),
        };
    }

    /// Launches with as much dynamic shared memory as the run accessed, if it runs with so little.
    fn reduce_shared(&mut self, program: &Program, path: &str, text: &str, kernel: &Inspected) {
        let Ok(shared) = u32::try_from(self.dynamic.next_multiple_of(SHARED_UNIT)) else { return };
        if self.extents.is_err() || shared >= self.launch.shared {
            return;
        }
        let mut smaller = self.clone();
        smaller.launch.shared = shared;
        smaller.run(program, path, text, kernel);
        if smaller.extents.is_ok() {
            *self = smaller;
        }
    }

    /// For each value, the number of elements of its tensor that the launch uses, and the end of the bytes of dynamic
    /// shared memory that it accesses, and whether it leaves gaps in an output; or the verdict of the run, if it failed.
    fn reached(
        &self,
        program: &Program,
        path: &str,
        text: &str,
        kernel: &Inspected,
    ) -> Result<(Vec<Option<u64>>, u64, bool), Verdict> {
        let params = self.params(kernel, |_| LONG);
        let launch = self.kernel(path, text, kernel);
        let mut options = Options { access_patterns: true, first_fault_only: true, ..Options::default() };
        options.rules.partial = true;
        options.budgets[Limit::Instructions] = MOST_INSTRUCTIONS;
        let only = Job::only(Which::Opt, (program, &launch), &params, &options);
        let (outcome, _) = library::run(&Job { outputs: Outputs::Written, ..only });
        let outcome = outcome.map_err(|error| run_verdict(Which::Opt, error))?;
        let ends: BTreeMap<usize, u64> = outcome.patterns.ends().collect();
        let extent = |(at, kind): (usize, &ValueKind)| match kind {
            ValueKind::Tensor { element, .. } => {
                Some(ends.get(&at).map_or(1, |end| end.div_ceil(u64::from(element.bytes())).max(1)))
            }
            ValueKind::Scalar(_) | ValueKind::Map { .. } => None,
        };
        let extents: Vec<Option<u64>> = self.kinds.iter().enumerate().map(extent).collect();
        let mut written = vec![0; extents.len()];
        let outputs = outcome.outputs.iter().map(|output| output.param);
        outputs.chain(outcome.unevaluated.iter().map(|(param, _)| *param)).for_each(|at| written[at] += 1);
        let is_output = |kind: &ValueKind| matches!(kind, ValueKind::Tensor { role: Role::Out, .. });
        let is_full = |at: usize| !is_output(&self.kinds[at]) || extents[at] <= Some(written[at]);
        let has_gaps = !(0..extents.len()).all(is_full);
        Ok((extents, outcome.patterns.dynamic_end(), has_gaps))
    }

    /// The case of the kernel alone with this launch, with tensors as long as it uses them.
    ///
    /// # Errors
    /// The verdict of the trial run, if it failed.
    pub fn case(&self, path: &str, text: &str, kernel: &Inspected) -> Result<Case, Verdict> {
        let extents = self.extents.as_ref().map_err(|verdict| (**verdict).clone())?;
        let params = self.params(kernel, |at| extents[at].unwrap_or(1));
        let mut options = Options::default();
        options.rules.partial = true;
        Ok(Case { params, reference: None, opt: self.kernel(path, text, kernel).into(), options })
    }

    fn kernel(&self, path: &str, text: &str, kernel: &Inspected) -> KernelLaunch {
        let has_structs = kernel.parameters.iter().any(|parameter| parameter.is_struct);
        let has_nulls = (0..kernel.values.len()).any(|at| is_null(kernel, at));
        let arguments = (has_structs || has_nulls).then(|| self.arguments(kernel));
        KernelLaunch {
            launch: self.launch.clone(),
            arguments,
            ..launch_of(path, text, Some(kernel.name.clone()))
        }
    }

    /// The parameters of the case, with tensors of `length` elements.
    fn params(&self, kernel: &Inspected, length: impl Fn(usize) -> u64) -> Vec<Param> {
        let param = |(at, kind): (usize, &ValueKind)| {
            let kind = match *kind {
                ValueKind::Tensor { element, role } => ParamKind::Tensor {
                    reference: element,
                    opt: element,
                    shape: vec![length(at)],
                    role,
                    contents: self.known.contents(element, role),
                    assumed: Assumed::default(),
                },
                ValueKind::Scalar(element) => {
                    ParamKind::Scalar { element, value: self.known.value(element, self.integer) }
                }
                ValueKind::Map { rank, role } => {
                    let element = Element::Float(Format::F16);
                    ParamKind::Tensor {
                        reference: element,
                        opt: element,
                        shape: (0..dimensions(rank))
                            .rev()
                            .map(|at| if at < 2 { self.integer.into() } else { 1 })
                            .collect(),
                        role,
                        contents: Contents::of_role(role),
                        assumed: Assumed::default(),
                    }
                }
            };
            Param::new(name(kernel, at), kind, Binding::Argument)
        };
        self.kinds.iter().enumerate().map(param).collect()
    }

    /// The arguments of a kernel: values, and structs with the members that it loads.
    fn arguments(&self, kernel: &Inspected) -> Vec<Argument> {
        let zero = || Argument::Literal(Extended::Finite(Rational::from_integer(0)));
        let given = |at: usize| match self.kinds[at] {
            ValueKind::Map { rank, .. } => {
                let name = format!("{}_map", name(kernel, at));
                Argument::Map { name, map: self.map(kernel, at, dimensions(rank)) }
            }
            ValueKind::Tensor { .. } | ValueKind::Scalar(_) if is_null(kernel, at) => zero(),
            ValueKind::Tensor { .. } | ValueKind::Scalar(_) => Argument::Named(name(kernel, at)),
        };
        let argument = |(number, parameter): (usize, &super::InspectedParameter)| {
            let own = || (0..kernel.values.len()).filter(|at| kernel.values[*at].parameter == number);
            let is_whole = |at: &usize| !parameter.is_struct || kernel.values[*at].is_map_alone(parameter);
            if let Some(at) = own().find(is_whole) {
                return Some(given(at));
            }
            let members =
                own().flat_map(|at| [Member::Offset(kernel.values[at].offset), Member::Argument(given(at))]);
            let end = Member::Offset(parameter.size);
            parameter.is_struct.then(|| Argument::Struct(members.chain([end]).collect()))
        };
        kernel.parameters.iter().enumerate().filter_map(argument).collect()
    }

    /// The tensor map of a value.
    fn map(&self, kernel: &Inspected, at: usize, rank: usize) -> TensorMap {
        let [outer, inner] = self.boxes.get(at).copied().unwrap_or(BOXES[0]);
        let extent = |at: usize| [inner, outer].get(at).copied().unwrap_or(1);
        TensorMap {
            of: name(kernel, at),
            r#box: (0..rank).rev().map(extent).collect(),
            swizzle: if rank > 1 { Swizzle::B128 } else { Swizzle::None },
            ..TensorMap::default()
        }
    }
}

/// The dimensions of boxes of which so many are found; 0 if none is.
fn dimensions(rank: usize) -> usize {
    if rank == 0 { 2 } else { rank }
}

/// Whether a value is a pointer that the kernel does not use, as those that Triton adds: it may be null.
fn is_null(kernel: &Inspected, at: usize) -> bool {
    let value = &kernel.values[at];
    !value.is_used && value.size == 8 && matches!(value.kind, ValueKind::Scalar(_))
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
    let program = read(Which::Opt, &launch_of(path, text, Some(kernel.name.clone())), 0)?;
    let given: Vec<ValueKind> = kernel.values.iter().map(|value| value.kind).collect();
    let readings = readings(kernel, &given);
    let has_maps = given.iter().any(|kind| matches!(kind, ValueKind::Map { .. }));
    if has_maps && let Some(mut guess) = guess_boxes(kernel, &program, integer, (path, text)) {
        guess.reduce_shared(&program, path, text, kernel);
        return Ok(guess);
    }
    let (mut told, mut endless): (Option<LaunchGuess>, usize) = (None, 0);
    let mut with_gaps: Option<LaunchGuess> = None;
    for launch in launches(kernel, &program) {
        let integers = integer.map_or_else(|| integers(&launch, has_maps), |integer| vec![integer]);
        for integer in integers {
            let mut failed = None;
            for (kinds, known) in &readings {
                // Contents are assumed only if the run without them failed for the lack of them.
                if *known != KnownContents::Nothing && !failed.is_some_and(by_contents)
                    || endless == MOST_ENDLESS
                {
                    continue;
                }
                let mut guess = LaunchGuess::new(launch.clone(), integer, *known, kinds.clone());
                guess.run(&program, path, text, kernel);
                // An unsupported instruction is reported, not avoided by a launch that does not reach it.
                let reason = match &guess.extents {
                    Err(verdict) if verdict.reason() != Reason::Fault(FaultKind::Unsupported) => {
                        verdict.reason()
                    }
                    // Another size may be the one that the kernel is made for.
                    Ok(_) if guess.has_gaps => {
                        with_gaps.get_or_insert(guess);
                        break;
                    }
                    Ok(_) | Err(_) => {
                        guess.reduce_shared(&program, path, text, kernel);
                        return Ok(guess);
                    }
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
    if let Some(mut guess) = with_gaps {
        // Sizes may be compiled in, and the grid with them.
        let larger = LARGER.iter().find_map(|factor| {
            let mut larger = guess.clone();
            let asks = kernel.asks[1].iter().zip(&mut larger.launch.grid);
            asks.for_each(|(asks, extent)| *extent *= if *asks { *factor } else { 1 });
            larger.run(&program, path, text, kernel);
            (larger.extents.is_ok() && !larger.has_gaps).then_some(larger)
        });
        guess = larger.unwrap_or(guess);
        guess.reduce_shared(&program, path, text, kernel);
        return Ok(guess);
    }
    Ok(told.unwrap_or_else(|| {
        let extents = Ok(vec![None; given.len()]);
        let guess = LaunchGuess::new(Launch::default(), 1, KnownContents::Nothing, given.clone());
        LaunchGuess { extents, ..guess }
    }))
}

/// The boxes of a kernel's tensor maps, found by trying: with wrong ones, phases wait for other numbers of
/// bytes. If no launch runs, the first that fails for another reason.
fn guess_boxes(
    kernel: &Inspected,
    program: &Program,
    integer: Option<u32>,
    (path, text): (&str, &str),
) -> Option<LaunchGuess> {
    let kinds: Vec<ValueKind> = kernel.values.iter().map(|value| value.kind).collect();
    let is_map = |kind: &ValueKind| matches!(kind, ValueKind::Map { .. });
    let maps: Vec<usize> = (0..kinds.len()).filter(|at| is_map(&kinds[*at])).collect();
    let launch = launches(kernel, program).into_iter().next()?;
    let integer = integer.unwrap_or(OF_BOXES);
    // All combinations, with the same box for all maps first.
    let count = BOXES.len().pow(maps.len().min(MOST_MAPS) as u32);
    let chosen = |number: usize, map: usize| {
        BOXES[number / BOXES.len().pow(map.min(MOST_MAPS - 1) as u32) % BOXES.len()]
    };
    let alike = (0..BOXES.len()).map(|number| vec![BOXES[number]; maps.len()]);
    let mixed = (0..count).map(|number| (0..maps.len()).map(|map| chosen(number, map)).collect());
    let mut failed = None;
    let right = alike.chain(mixed).find_map(|boxes: Vec<[u64; 2]>| {
        let mut guess = LaunchGuess::new(launch.clone(), integer, KnownContents::Nothing, kinds.clone());
        maps.iter().zip(boxes).for_each(|(at, extents)| guess.boxes[*at] = extents);
        guess.run(program, path, text, kernel);
        match &guess.extents {
            Ok(_) => return Some(guess),
            Err(verdict) if by_boxes(verdict.reason()) => {}
            Err(_) => {
                failed.get_or_insert(guess);
            }
        }
        None
    });
    right.or(failed)
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
    let of_halves = with(&|at, kind| match kind {
        ValueKind::Tensor { role, .. } if kernel.values[at].is_unsure => {
            ValueKind::Tensor { element: Element::Float(Format::F16), role }
        }
        ValueKind::Tensor { .. } | ValueKind::Scalar(_) | ValueKind::Map { .. } => kind,
    });
    let mut all = Vec::new();
    for kinds in [stored_first, given.to_vec(), of_halves, of_bytes] {
        let more = [KnownContents::Nothing, KnownContents::Iota, KnownContents::Ones, KnownContents::All];
        let kinds_known = more.map(|known| (kinds.clone(), known));
        all.extend(kinds_known.into_iter().filter(|reading| !all.contains(reading)).collect::<Vec<_>>());
    }
    all
}

/// Whether a run that failed for this reason may succeed with more assumptions on the contents of memory.
fn by_contents(reason: Reason) -> bool {
    use FaultKind::{DependsOnRounding, InputDependentControl, OutOfBounds, Race, TypeMismatch};
    // An index of which nothing is known is out of bounds, or perhaps.
    matches!(
        reason,
        Reason::Fault(DependsOnRounding | InputDependentControl | OutOfBounds | Race | TypeMismatch)
            | Reason::Unknown(UnknownReason::Undecided)
    )
}

/// Whether a run that failed for this reason may succeed with other boxes.
fn by_boxes(reason: Reason) -> bool {
    use FaultKind::{Deadlock, InFlight, OutOfBounds, Race, Uninitialised};
    matches!(reason, Reason::Fault(Deadlock | InFlight | OutOfBounds | Race | Uninitialised))
}

/// The values of integers to try with a launch: first one that is no multiple of the block, so that a kernel that
/// handles tails is launched with one, then as many as there are threads.
fn integers(launch: &Launch, has_maps: bool) -> Vec<u32> {
    let [x, y, _] = launch.block;
    let all = x * launch.grid[0];
    let mut integers = match all {
        // A whole number of boxes.
        _ if has_maps => return vec![OF_BOXES],
        ..16 => SMALL.to_vec(),
        16.. => vec![all - TAIL],
    };
    for integer in [all, x, x * y] {
        if !integers.contains(&integer) {
            integers.push(integer);
        }
    }
    integers
}

/// The launches to try, the likeliest first.
fn launches(kernel: &Inspected, program: &Program) -> Vec<Launch> {
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
    // As much as there can be: what a kernel accesses of it shows how much it needs.
    let shared = if kernel.dynamic_shared { most_dynamic_shared(program) } else { 0 };
    let grid = blocks.map(|asks| if asks { BLOCKS } else { 1 });
    sizes.into_iter().map(|block| Launch { block, grid, shared, ..Launch::default() }).collect()
}
