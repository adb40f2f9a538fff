//! What can be told of a kernel before anybody has said how it is launched: what it takes, and guesses at what that is for.
//!
//! What kernels do with a pointer is read off their code; how far they get, off a run on tensors that are long enough for
//! anything. Nothing here is a claim: people look at it and correct it.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::base::budget::Limit;
use crate::case::{
    Binding, Contents, Element, Launch, Options, Param, ParamKind, Role, ScalarValue, Side, Sign, Which,
};
use crate::library;
use crate::machine::{self, place_in};
use crate::number::format::Format;
use crate::program::matrix::MatrixElement;
use crate::program::{
    self, Address, Async, Far, InstId, Int, Int2, LaunchBounds, Op, Program, RegId, Space, Special, Src,
    Update, VariableId, Width,
};
use crate::ptx;
use crate::verdict::{InputError, InputProblem, Place, Verdict};
use crate::verify::{read, run_verdict};

/// Threads of a block, in one dimension and in each of two, that are tried.
const LINES: [u32; 5] = [128, 256, 64, 32, 16];
const SQUARES: [u32; 3] = [16, 32, 8];

/// Bytes of an array in shared memory whose size the launch says.
const DYNAMIC_SHARED: u32 = 16 << 10;

/// Blocks of a grid that has several.
const BLOCKS: u32 = 2;

/// Warp instructions of a run that tells how far tensors reach.
const MOST_INSTRUCTIONS: u64 = 1 << 17;

/// Elements of a tensor of which it is to be found out how many are used.
const LONG: u64 = 1 << 24;

/// A kernel as its code shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspected {
    /// Its name in PTX.
    pub name: String,
    /// Its name in the source.
    pub source_name: String,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
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
pub struct Parameter {
    /// What it seems to be.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
}

/// What a parameter seems to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    Map,
    /// A struct or a vector.
    Struct,
}

/// How a kernel may be launched, and how many elements of each of its tensors it uses then.
#[derive(Clone, Debug, PartialEq)]
pub struct LaunchGuess {
    /// Blocks and threads.
    pub launch: Launch,
    /// The value of every integer among its parameters.
    pub integer: u32,
    /// What its parameters seem to be: tensors that it stores to before it loads from them are outputs.
    pub kinds: Vec<Kind>,
    /// For each parameter that is a tensor, the elements from the first to the last one that is accessed; or the verdict
    /// of the run that would have told.
    pub extents: Result<Vec<Option<u64>>, Box<Verdict>>,
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
    let uses = Uses::of(program);
    let parameters = program.parameters.iter().enumerate().map(|(at, parameter)| {
        let is_array = parameter.element == "b8" && parameter.size > 1;
        let kind = match uses.tensors.get(&at) {
            Some(tensor) => tensor.kind(),
            None if is_array && parameter.size == 128 && parameter.align >= 64 => Kind::Map,
            None if is_array => Kind::Struct,
            None => {
                let fits = |element: &Element| u64::from(element.bytes()) == parameter.size;
                let used = uses.numbers.get(&at).copied().filter(fits);
                Kind::Scalar(used.or(declared(&parameter.element)).unwrap_or(of_bytes(parameter.size as u32)))
            }
        };
        Parameter { kind, size: parameter.size }
    });
    let mut asks = [[false; 3]; 2];
    let mut unsupported: Vec<(Place, String)> = Vec::new();
    for (at, inst) in program.insts.iter().enumerate() {
        if let Op::Special { special: Special::Tid(dimension), .. } = &inst.op {
            asks[0][usize::from(*dimension).min(2)] = true;
        } else if let Op::Special { special: Special::Ctaid(dimension), .. } = &inst.op {
            asks[1][usize::from(*dimension).min(2)] = true;
        } else if let Op::Unsupported { reason } = &inst.op
            && let Some(place) = place_in(program, text, InstId::from_index(at))
            && !unsupported.iter().any(|(known, _)| known.line == place.line)
        {
            unsupported.push((place, reason.clone()));
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
        bounds: program.bounds,
        shared: sizes.iter().flatten().sum(),
        dynamic_shared: sizes.contains(&None),
        asks,
        unsupported,
    }
}

/// The type of a parameter that PTX declares as a number with a meaning.
fn declared(name: &str) -> Option<Element> {
    let signed = name.strip_prefix('s').map(|bits| format!("i{bits}"));
    Element::parse(signed.as_deref().unwrap_or(name))
        .filter(|_| !name.starts_with('u') && !name.starts_with('b'))
}

/// What something of so many bytes may be, of which nothing is known.
fn of_bytes(bytes: u32) -> Element {
    match bytes {
        1 => Element::Int { bytes: 1, signed: false },
        2 => Element::Float(Format::F16),
        8 => Element::Int { bytes: 8, signed: true },
        _ => Element::Int { bytes: 4, signed: true },
    }
}

/// What is done through a pointer.
#[derive(Clone, Copy, Debug, Default)]
struct TensorUse {
    loads: bool,
    stores: bool,
    element: Option<Element>,
    bytes: u32,
}

impl TensorUse {
    fn kind(&self) -> Kind {
        let role = match (self.loads, self.stores) {
            (_, false) => Role::In,
            (false, true) => Role::Out,
            (true, true) => Role::InOut,
        };
        let unknown = match self.bytes {
            4 => Element::Float(Format::F32),
            8 => Element::Float(Format::F64),
            bytes => of_bytes(bytes),
        };
        Kind::Tensor { element: self.element.unwrap_or(unknown), role }
    }

    fn note(&mut self, element: Option<Element>, width: u32) {
        let element = element.map(|element| match element {
            // As many as the access has bytes: the operation may be wider.
            Element::Int { signed, bytes } => Element::Int { bytes: width.min(bytes.max(width)), signed },
            Element::Float(_) | Element::Bool => element,
        });
        if let (None, _) | (Some(Element::Int { .. }), Some(Element::Float(_))) = (self.element, element) {
            self.element = element.or(self.element);
        }
        self.bytes = if self.bytes == 0 { width } else { self.bytes.min(width) };
    }
}

/// What a program does with its parameters.
#[derive(Debug, Default)]
struct Uses {
    /// By the number of the parameter.
    tensors: BTreeMap<usize, TensorUse>,
    numbers: BTreeMap<usize, Element>,
}

/// Passes over a program after which what is not known stays unknown.
const PASSES: usize = 32;

/// Parameters beyond these are not looked at.
const MOST_PARAMETERS: usize = 64;

impl Uses {
    fn of(program: &Program) -> Uses {
        let types = Types::of(program);
        let pointers = Pointers::of(program);
        let mut uses = Uses::default();
        for (register, parameter) in &pointers.loaded {
            if let Some(element) = types.0.get(register) {
                uses.numbers.insert(*parameter, *element);
            }
        }
        for inst in &program.insts {
            for Through { space, address, reads, writes, width, values } in through(&inst.op) {
                if !matches!(space, Space::Global | Space::Generic) {
                    continue;
                }
                let element = values.iter().find_map(|register| types.0.get(register)).copied();
                for parameter in pointers.bases(address) {
                    let tensor = uses.tensors.entry(parameter).or_default();
                    tensor.loads |= reads;
                    tensor.stores |= writes;
                    tensor.note(element, width);
                }
            }
        }
        uses
    }
}

/// An access to memory.
struct Through {
    space: Space,
    address: Address,
    reads: bool,
    writes: bool,
    /// Bytes of a value.
    width: u32,
    /// What is loaded to, or stored.
    values: Vec<RegId>,
}

fn registers(sources: &[Src]) -> Vec<RegId> {
    sources
        .iter()
        .filter_map(|source| if let Src::Reg(register) = source { Some(*register) } else { None })
        .collect()
}

/// The accesses to global memory that an operation makes.
fn through(op: &Op) -> Vec<Through> {
    let (reads, writes) = (true, true);
    if let Op::Load { space, address, width, d, .. } = op {
        let values = d.iter().flatten().copied().collect();
        return vec![Through {
            space: *space,
            address: *address,
            reads,
            writes: false,
            width: width.bytes(),
            values,
        }];
    }
    if let Op::Store { space, address, width, a, .. } = op {
        let (width, values) = (width.bytes(), registers(a));
        return vec![Through { space: *space, address: *address, reads: false, writes, width, values }];
    }
    if let Op::Atomic { update, space, address, a, .. } = op {
        let (width, values) = (update.bytes(), registers(std::slice::from_ref(a)));
        return vec![Through { space: *space, address: *address, reads, writes, width, values }];
    }
    if let Op::LoadFragment { fragment, space, address, .. } = op {
        let width = if fragment.element.is_integer() { 1 } else { 2 };
        return vec![Through {
            space: *space,
            address: *address,
            reads,
            writes: false,
            width,
            values: Vec::new(),
        }];
    }
    if let Op::StoreFragment { space, address, .. } = op {
        return vec![Through {
            space: *space,
            address: *address,
            reads: false,
            writes,
            width: 4,
            values: Vec::new(),
        }];
    }
    let bulk = |place: program::Place, reads, writes| Through {
        space: place.space,
        address: place.address,
        reads,
        writes,
        width: 4,
        values: Vec::new(),
    };
    if let Op::Async(Async::Copy { from, .. }) = op {
        return vec![bulk(program::Place { space: Space::Global, address: *from }, true, false)];
    }
    if let Op::Async(Async::BulkLoad { from: Far::Bytes { at, .. }, .. }) = op {
        return vec![bulk(*at, true, false)];
    }
    if let Op::Async(Async::BulkStore { to: Far::Bytes { at, .. }, .. }) = op {
        return vec![bulk(*at, false, true)];
    }
    Vec::new()
}

/// Which parameters the addresses in registers may be computed from, wherever in the code.
struct Pointers {
    /// The parameter that a register is loaded from.
    loaded: FxHashMap<RegId, usize>,
    /// A bit for each parameter.
    registers: FxHashMap<RegId, u64>,
    /// Those of which addresses in global memory are made.
    converted: u64,
}

impl Pointers {
    fn of(program: &Program) -> Pointers {
        let of_variable = |variable: VariableId| {
            program
                .parameters
                .iter()
                .take(MOST_PARAMETERS)
                .position(|parameter| parameter.variable == variable)
        };
        let mut all =
            Pointers { loaded: FxHashMap::default(), registers: FxHashMap::default(), converted: 0 };
        for inst in &program.insts {
            if let Op::Load { space: Space::Param, address, d, .. } = &inst.op
                && let (Src::Symbol(variable, _), [Some(register)]) = (address.base, d.as_slice())
                && let Some(parameter) = of_variable(variable)
                && program.parameters[parameter].element != "b8"
            {
                all.loaded.insert(*register, parameter);
                all.registers.insert(*register, 1 << parameter);
            }
        }
        for _ in 0..PASSES {
            let before = all.registers.clone();
            for inst in &program.insts {
                if let Some((d, sources)) = moved(&inst.op) {
                    let bits = sources.iter().fold(0, |bits, source| bits | all.of_source(*source));
                    *all.registers.entry(d).or_default() |= bits;
                }
                if let Op::Cvta { a, .. } = &inst.op {
                    let own = all.of_source(*a);
                    all.converted |= if own.is_power_of_two() { own } else { 0 };
                }
            }
            if before == all.registers {
                break;
            }
        }
        all
    }

    fn of_source(&self, source: Src) -> u64 {
        if let Src::Reg(register) = source { self.registers.get(&register).copied().unwrap_or(0) } else { 0 }
    }

    /// The parameters that an address is computed from, numbers left out where pointers are known.
    fn bases(&self, address: Address) -> impl Iterator<Item = usize> + use<> {
        let all = self.of_source(address.base);
        let bits = if all & self.converted != 0 { all & self.converted } else { all };
        (0..MOST_PARAMETERS).filter(move |at| bits >> at & 1 == 1)
    }
}

/// The result that is an address if its operands are, and these.
fn moved(op: &Op) -> Option<(RegId, Vec<Src>)> {
    if let Op::Mov { d, a, .. } | Op::Cvta { d, a, .. } = op {
        return Some((*d, vec![*a]));
    }
    if let Op::Int2 { op: Int2::Add | Int2::Sub, d, a, b, .. } | Op::Select { d, a, b, .. } = op {
        return Some((*d, vec![*a, *b]));
    }
    if let Op::Int3 { d, c, .. } = op { Some((*d, vec![*c])) } else { None }
}

/// As what registers are computed with: floats before integers.
#[derive(Default)]
struct Types(FxHashMap<RegId, Element>);

impl Types {
    fn of(program: &Program) -> Types {
        let mut types = Types::default();
        for inst in &program.insts {
            types.computed(&inst.op);
        }
        for _ in 0..PASSES {
            let before = types.0.len();
            program.insts.iter().for_each(|inst| types.passed_on(&inst.op));
            if types.0.len() == before {
                break;
            }
        }
        types
    }

    fn vote(&mut self, source: Src, element: Element) {
        let Src::Reg(register) = source else { return };
        let known = self.0.entry(register).or_insert(element);
        if let (Element::Int { .. }, Element::Float(_)) = (*known, element) {
            *known = element;
        }
    }

    fn of_source(&self, source: Src) -> Option<Element> {
        if let Src::Reg(register) = source { self.0.get(&register).copied() } else { None }
    }

    /// Operations that say what they compute with.
    fn computed(&mut self, op: &Op) {
        let matrix = |element: MatrixElement| {
            if let MatrixElement::Float(format) = element { Some(Element::Float(format)) } else { None }
        };
        if let Op::Mma { product, d, a, b, c } = op {
            let results: Vec<Src> = d.iter().map(|d| Src::Reg(*d)).collect();
            for (sources, element) in [(&results, product.d), (a, product.a), (b, product.b), (c, product.c)]
            {
                if let Some(element) = matrix(element) {
                    sources.iter().for_each(|source| self.vote(*source, element));
                }
            }
        }
        let int = |ty: &Int| Element::Int { bytes: ty.width.bytes(), signed: ty.signed };
        if let Op::Float1 { format, d, a, .. } = op {
            [Src::Reg(*d), *a].into_iter().for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::Float2 { format, d, a, b, .. } = op {
            [Src::Reg(*d), *a, *b].into_iter().for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::Fma { format, d, a, b, c, .. } = op {
            [Src::Reg(*d), *a, *b, *c]
                .into_iter()
                .for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::SetpFloat { format, a, b, .. } = op {
            [*a, *b].into_iter().for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::CvtFloat { from, to, d, a, .. } = op {
            self.vote(*a, Element::Float(*from));
            self.vote(Src::Reg(*d), Element::Float(*to));
        } else if let Op::IntToFloat { from, to, d, a, .. } = op {
            self.vote(*a, int(from));
            self.vote(Src::Reg(*d), Element::Float(*to));
        } else if let Op::FloatToInt { from, to, d, a, .. } = op {
            self.vote(*a, Element::Float(*from));
            self.vote(Src::Reg(*d), int(to));
        } else if let Op::Int2 { ty, d, a, b, .. } = op {
            [Src::Reg(*d), *a, *b].into_iter().for_each(|source| self.vote(source, int(ty)));
        } else if let Op::SetpInt { ty, a, b, .. } = op {
            [*a, *b].into_iter().for_each(|source| self.vote(source, int(ty)));
        } else if let Op::CvtInt { from, to, d, a, .. } = op {
            self.vote(*a, int(from));
            self.vote(Src::Reg(*d), int(to));
        } else if let Op::Atomic { update, a, .. } = op {
            let element = match update {
                Update::Real(format) => Element::Float(*format),
                Update::Integer(_, ty) => int(ty),
            };
            self.vote(*a, element);
        }
    }

    /// Operations whose results are of the type of their operands.
    fn passed_on(&mut self, op: &Op) {
        let list = if let Op::Mov { d, a, .. } | Op::Shuffle { d: Some(d), a, .. } = op {
            vec![Src::Reg(*d), *a]
        } else if let Op::Select { d, a, b, .. } = op {
            vec![Src::Reg(*d), *a, *b]
        } else if let Op::Pack { d, parts, part } = op {
            let is_f32 = self.of_source(Src::Reg(*d)) == Some(Element::Float(Format::F32));
            if let ([Src::Imm(0), high], Width::W16, true) = (parts.as_slice(), part, is_f32) {
                self.vote(*high, Element::Float(Format::Bf16));
                return;
            }
            std::iter::once(Src::Reg(*d)).chain(parts.iter().copied()).collect()
        } else if let Op::Unpack { d, a, .. } = op {
            std::iter::once(*a).chain(d.iter().flatten().map(|part| Src::Reg(*part))).collect()
        } else {
            return;
        };
        let known = list.iter().filter_map(|source| self.of_source(*source));
        let best = known.reduce(|best, next| match (best, next) {
            (Element::Int { .. }, Element::Float(_)) => next,
            _ => best,
        });
        if let Some(best) = best {
            list.into_iter().for_each(|source| self.vote(source, best));
        }
    }
}

/// A launch for a kernel of which nothing else is known, and how far its tensors reach in it: the first of a few that runs
/// to its end, or the first of all. Integers among its parameters have the value given, or one that goes with the launch.
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
    let given: Vec<Kind> = kernel.parameters.iter().map(|parameter| parameter.kind).collect();
    let mut stored_first = given.clone();
    for kind in &mut stored_first {
        if let Kind::Tensor { role: role @ Role::InOut, .. } = kind {
            *role = Role::Out;
        }
    }
    let mut first = None;
    for launch in launches(kernel) {
        let [x, y, _] = launch.block;
        let mut integers = integer.map_or(vec![x * launch.grid[0], x, x * y], |integer| vec![integer]);
        integers.dedup();
        for integer in integers {
            let side = Side { launch: launch.clone(), ..side(path, text, Some(kernel.name.clone())) };
            for kinds in [&stored_first, &given] {
                let extents = reach(&program, &side, kinds, integer).map_err(Box::new);
                let told = extents.is_ok();
                let guess = LaunchGuess { launch: launch.clone(), integer, kinds: kinds.clone(), extents };
                if told {
                    return Ok(guess);
                }
                // Of launches that do not run, the first is told, with what its tensors are for.
                first = Some(first.unwrap_or(guess));
            }
        }
    }
    Ok(first.unwrap_or_else(|| {
        let extents = Ok(vec![None; given.len()]);
        LaunchGuess { launch: Launch::default(), integer: 1, kinds: given, extents }
    }))
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
        _ => SQUARES.map(|x| [x, x, 1]).to_vec(),
    });
    sizes.retain(|block| block.iter().product::<u32>() <= most);
    if let Some(required) = kernel.bounds.required_block {
        sizes = vec![required];
    }
    let shared = if kernel.dynamic_shared { DYNAMIC_SHARED } else { 0 };
    let grid = blocks.map(|asks| if asks { BLOCKS } else { 1 });
    sizes.into_iter().map(|block| Launch { block, grid, shared, ..Launch::default() }).collect()
}

/// How many elements of its tensors a launch uses, of each parameter; or the verdict that it ends in.
fn reach(program: &Program, side: &Side, kinds: &[Kind], integer: u32) -> Result<Vec<Option<u64>>, Verdict> {
    let mut params = Vec::new();
    for (at, kind) in kinds.iter().enumerate() {
        let kind = match *kind {
            Kind::Tensor { element, role } => ParamKind::Tensor {
                reference: element,
                opt: element,
                shape: vec![LONG],
                role,
                contents: Contents::of_role(role),
                sign: Sign::Any,
            },
            Kind::Scalar(element) => ParamKind::Scalar { element, value: value(element, integer) },
            Kind::Map | Kind::Struct => {
                let what = "it takes a struct or a tensor map, of which nothing is guessed";
                let error = InputError::new(InputProblem::DoesNotFit, what);
                return Err(Verdict::InputError(error));
            }
        };
        params.push(Param { name: format!("p{at}"), kind, binding: Binding::Argument });
    }
    let mut options = Options { access_patterns: true, first_fault_only: true, ..Options::default() };
    options.rules.partial = true;
    options.budgets[Limit::Instructions] = MOST_INSTRUCTIONS;
    let (outcome, _) = machine::run(Which::Opt, program, side, &params, &options, library::of(program));
    let outcome = outcome.map_err(|error| run_verdict(Which::Opt, error))?;
    let ends: BTreeMap<usize, u64> = outcome.patterns.ends().collect();
    let extent = |(at, kind): (usize, &Kind)| match kind {
        Kind::Tensor { element, .. } => {
            Some(ends.get(&at).map_or(1, |end| end.div_ceil(u64::from(element.bytes())).max(1)))
        }
        Kind::Scalar(_) | Kind::Map | Kind::Struct => None,
    };
    Ok(kinds.iter().enumerate().map(extent).collect())
}

/// What a number is launched with: any float, and the same for all integers.
pub fn value(element: Element, integer: u32) -> ScalarValue {
    match element {
        Element::Float(_) => ScalarValue::Symbolic(Sign::Any),
        Element::Int { bytes: 1, .. } | Element::Bool => ScalarValue::integer(1),
        Element::Int { .. } => ScalarValue::integer(integer.into()),
    }
}
