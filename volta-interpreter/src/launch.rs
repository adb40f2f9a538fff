//! Runs one side of a case in the interpreter: writes parameters to memory and reads outputs from it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use volta_core::case::{
    self, Argument, Binding, Case, Element, FieldPlace, KernelLaunch, Launch, Member, Param, ParamKind, Role,
    Side, Step, TensorAddress,
};
use volta_core::graph::Graph;
use volta_core::verdict::{Difference, How, Witness};

use super::values::{self, Number, Values};
use crate::Run;
use crate::decode::{Parameter, Program, decode};
use crate::integer::IntType;
use crate::layout::Swizzle;
use crate::memory::{Object, Objects, TENSORS};
use crate::op::Type;
use crate::random::Random;
use crate::tensor_map::{self, Dimension, TensorMap};

/// A kernel that does nothing.
static IDLE: LazyLock<KernelLaunch> = LazyLock::new(|| KernelLaunch {
    ptx: ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry idle()\n{ ret; }\n".into(),
    path: "idle.ptx".into(),
    kernel: None,
    arguments: Some(Vec::new()),
    launch: Launch::of_threads(1),
});

/// The default limit of instructions; kernels of cases need fewer.
const BUDGET: u64 = 4_000_000_000;

/// The contents of parameters before the launch.
pub type Inputs = Vec<Rc<Values>>;

/// An output after the run.
#[derive(Debug)]
pub struct Output {
    /// The parameter.
    pub param: usize,
    /// The element type on this side.
    pub element: Element,
    place: FieldPlace,
    memory: Rc<RefCell<Object>>,
}

/// The place of elements: a plain tensor is one of structs with a single element.
pub fn place_of(param: &Param, element: Element) -> FieldPlace {
    match param.binding {
        Binding::Field(place) => place,
        Binding::Argument | Binding::Variable => {
            FieldPlace { offset: 0, count: 1, stride: u64::from(element.bytes()) }
        }
    }
}

/// The element that contains a byte, if one does, and the index of the byte in it.
fn element_at(place: FieldPlace, element: Element, byte: u64) -> Option<(u64, usize)> {
    let bytes = u64::from(element.bytes());
    let inside = (byte % place.stride).checked_sub(place.offset)?;
    let number = byte / place.stride * place.count + inside / bytes;
    (inside / bytes < place.count).then_some((number, (inside % bytes) as usize))
}

/// The byte at which an element of a parameter begins: in the tensor, or in the structs with this field.
pub fn byte_of(param: &Param, element: Element, number: u64) -> u64 {
    byte_at(place_of(param, element), element, number)
}

fn byte_at(FieldPlace { offset, count, stride }: FieldPlace, element: Element, number: u64) -> u64 {
    number / count * stride + offset + number % count * u64::from(element.bytes())
}

/// The size in bytes of a tensor, or of the structs with this field.
pub fn bytes_of(param: &Param, element: Element) -> u64 {
    let FieldPlace { count, stride, .. } = place_of(param, element);
    values::count(param) / count * stride
}

impl Output {
    fn offset(&self, at: u64) -> u64 {
        byte_at(self.place, self.element, at)
    }

    /// The bits of an element.
    pub fn bits(&self, at: u64) -> u64 {
        self.memory.borrow_mut().read(self.offset(at), self.element.bytes())
    }

    /// The number at an element.
    pub fn number(&self, at: u64) -> Number {
        values::decode(self.bits(at), self.element)
    }

    /// Whether a thread stored to an element.
    pub fn is_written(&self, at: u64) -> bool {
        self.memory.borrow().is_written(self.offset(at), self.element.bytes())
    }

    /// The elements to which threads stored.
    pub fn written(&self) -> Vec<u64> {
        let offsets = self.memory.borrow().written(self.element.bytes());
        let element = |offset| element_at(self.place, self.element, offset).map(|(element, _)| element);
        offsets.into_iter().filter_map(element).collect()
    }
}

/// The outputs of a run, and its length.
#[derive(Debug)]
pub struct Ran {
    /// The outputs, in the order of the parameters.
    pub outputs: Vec<Output>,
    /// The number of threads.
    pub threads: u64,
    /// The instructions of all threads together.
    pub instructions: u64,
    /// For each step that is a graph, what it wrote: parameters, with the bits of all their elements.
    pub graphs: Vec<Vec<(usize, Vec<u64>)>>,
}

/// A side after decoding.
#[derive(Debug)]
pub struct Ready<'c> {
    case: &'c Case,
    /// 0 for the reference, 1 for the optimized kernel.
    which: usize,
    steps: Vec<ReadyStep<'c>>,
    /// A launch that does nothing, whose memory is that of a side without kernels.
    idle: ReadyLaunch<'c>,
    /// The most instructions that a run may execute.
    pub budget: u64,
}

/// A step after decoding; tensors are parameters of the case.
#[derive(Debug)]
pub enum ReadyStep<'c> {
    /// A launch.
    Launch(ReadyLaunch<'c>),
    /// Every element of a tensor becomes a number.
    Fill {
        /// The tensor.
        param: usize,
        /// The number.
        with: f64,
    },
    /// The elements of a tensor become those of another.
    Copy {
        /// The tensor that is read.
        from: usize,
        /// The tensor that is written.
        to: usize,
    },
    /// A graph of operators.
    Graph(&'c Graph),
}

/// A launch after decoding.
#[derive(Debug)]
pub struct ReadyLaunch<'c> {
    case: &'c Case,
    /// The launch, as the case gives it.
    pub kernel: &'c KernelLaunch,
    which: usize,
    /// The kernel.
    pub program: Program,
    /// The arguments: parameters of the case, or numbers.
    arguments: Vec<Argument>,
}

/// Decodes both sides.
///
/// # Errors
/// If a side cannot be decoded, or contains an unknown instruction.
pub fn ready(case: &Case) -> Result<[Ready<'_>; 2], String> {
    let reference = case.reference.as_ref().ok_or("there is nothing to compare with")?;
    Ok([side(case, reference, 0)?, side(case, &case.opt, 1)?])
}

/// Decodes the only kernel of a case.
///
/// # Errors
/// If it cannot be decoded.
pub fn alone(case: &Case) -> Result<Ready<'_>, String> {
    side(case, &case.opt, 1)
}

fn side<'c>(case: &'c Case, side: &'c Side, which: usize) -> Result<Ready<'c>, String> {
    let param = |name: &str| {
        let at = case.params.iter().position(|param| param.name == name);
        at.ok_or_else(|| format!("there is no parameter `{name}`"))
    };
    let step = |step: &'c Step| {
        Ok(match step {
            Step::Launch(kernel) => ReadyStep::Launch(launch(case, kernel, which)?),
            Step::Fill { tensor, with } => {
                ReadyStep::Fill { param: param(tensor)?, with: values::constant(with)? }
            }
            Step::Copy { from, to } => ReadyStep::Copy { from: param(from)?, to: param(to)? },
            Step::Graph(graph) => ReadyStep::Graph(graph),
        })
    };
    let steps = side.steps.iter().map(step).collect::<Result<_, String>>()?;
    let idle = launch(case, &IDLE, which)?;
    Ok(Ready { case, which, steps, idle, budget: BUDGET })
}

fn launch<'c>(case: &'c Case, kernel: &'c KernelLaunch, which: usize) -> Result<ReadyLaunch<'c>, String> {
    let program = decode(&kernel.ptx, kernel.kernel.as_deref())?;
    let names = || Param::declared(&case.params).into_iter();
    let declared = || names().map(|name| Argument::Named(name.to_owned())).collect();
    let arguments = kernel.arguments.clone().unwrap_or_else(declared);
    if arguments.len() != program.parameters.len() {
        return Err(format!("{} arguments for {} parameters", arguments.len(), program.parameters.len()));
    }
    Ok(ReadyLaunch { case, kernel, which, program, arguments })
}

/// The inputs of a counterexample; elements that it does not name are 0.
///
/// # Errors
/// If it names something that is no input.
pub fn witness_inputs(case: &Case, difference: &Difference) -> Result<Inputs, String> {
    let zeros = case.params.iter().map(|param| Values::new(param, None));
    let mut chosen = zeros.collect::<Result<Vec<_>, _>>()?;
    if let How::Values(Witness { inputs, .. }) = &difference.how {
        for (name, text) in inputs {
            let (param, number) = place(case, name).ok_or_else(|| format!("`{name}` is no input"))?;
            chosen[param].choose(number, text).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(chosen.into_iter().map(Rc::new).collect())
}

fn shape(param: &Param) -> &[u64] {
    match &param.kind {
        ParamKind::Tensor { shape, .. } => shape,
        ParamKind::Scalar { .. } => &[],
    }
}

/// An element of a parameter as the verifier prints it: `y[3][4]`.
pub fn spelled(param: &Param, element: u64) -> String {
    let mut rest = element;
    let mut index: Vec<String> = Vec::new();
    for extent in shape(param).iter().rev() {
        index.push(format!("[{}]", rest % (*extent).max(1)));
        rest /= (*extent).max(1);
    }
    index.reverse();
    format!("{}{}", param.name, index.concat())
}

/// The parameter and the number of an element that the verifier prints as `y[3][4]`.
pub fn place(case: &Case, name: &str) -> Option<(usize, u64)> {
    let (param, index) = name.split_once('[').unwrap_or((name, ""));
    let param = case.params.iter().position(|held| held.name == param)?;
    let shape = shape(&case.params[param]);
    let index: Vec<u64> = index
        .split(['[', ']'])
        .filter(|part| !part.is_empty())
        .map(|part| part.parse().ok())
        .collect::<Option<_>>()?;
    let inside = index.len() == shape.len() && index.iter().zip(shape).all(|(at, extent)| at < extent);
    inside.then(|| (param, index.iter().zip(shape).fold(0, |sum, (at, extent)| sum * extent + at)))
}

/// The address of a parameter of the case, if it is a tensor.
fn base(param: usize) -> u64 {
    // An odd multiple of the alignment, far from the next tensor.
    TENSORS + ((param as u64) << 33) + 256
}

/// Whether a case denotes a module's variable: by its own name, or by the last parts of a mangled one.
fn is_called(name: &str, wanted: &str) -> bool {
    let mangled: String = wanted.split("::").map(|part| format!("{}{part}", part.len())).collect();
    name == wanted || name.starts_with("_Z") && name.trim_end_matches('E').ends_with(&mangled)
}

/// The memory of a kernel's parameters, without the addresses of tensors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// All bytes; those of addresses are zero.
    pub bytes: Vec<u8>,
    /// What must be written once the tensors have been placed, each with its byte offset.
    pub addresses: Vec<(usize, Pointee)>,
}

/// A value that depends on the address of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointee {
    /// The address of a byte of a parameter of the case, in 8 bytes.
    Tensor(usize, u64),
    /// A tensor map of a parameter of the case, to be encoded by [`TensorMap::encode`] or by CUDA's driver.
    Map(usize, TensorMap),
}

/// A part of the parameters.
struct Laid {
    bytes: Vec<u8>,
    /// Its alignment.
    align: usize,
    addresses: Vec<(usize, Pointee)>,
}

impl Laid {
    fn word(bits: u64, bytes: u32) -> Laid {
        let bytes = bits.to_le_bytes()[..(bytes as usize).min(8)].to_vec();
        Laid { align: bytes.len().max(1), bytes, addresses: Vec::new() }
    }
}

impl<'c> Ready<'c> {
    /// Its launches, in order.
    pub fn launches(&self) -> impl Iterator<Item = &ReadyLaunch<'c>> {
        self.steps.iter().filter_map(|step| match step {
            ReadyStep::Launch(launch) => Some(launch),
            ReadyStep::Fill { .. } | ReadyStep::Copy { .. } | ReadyStep::Graph(_) => None,
        })
    }

    /// Makes its approximations err as far as is documented, up or down.
    #[must_use]
    pub fn erring(mut self, up: bool) -> Ready<'c> {
        for step in &mut self.steps {
            if let ReadyStep::Launch(launch) = step {
                launch.program.err(up);
            }
        }
        self
    }

    /// Whether it has steps that are graphs.
    pub fn has_graphs(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, ReadyStep::Graph(_)))
    }

    /// Whether a kernel adds floats atomically, so that sums depend on the schedule.
    pub fn adds_floats_atomically(&self) -> bool {
        self.launches().any(|launch| launch.program.adds_floats_atomically())
    }

    /// Instructions that the interpreter does not know.
    pub fn unknown(&self) -> Vec<String> {
        self.launches().flat_map(|launch| launch.program.unknown()).collect()
    }

    /// Its steps.
    pub fn steps(&self) -> &[ReadyStep<'c>] {
        &self.steps
    }

    /// Runs the side on inputs, one for each parameter of the case.
    ///
    /// # Errors
    /// A fault, with its place.
    pub fn run(&self, inputs: &Inputs, seed: u64) -> Result<Ran, String> {
        let first = self.launches().next().unwrap_or(&self.idle);
        let mut global = first.objects(inputs, seed);
        let (mut last, mut threads, mut instructions) = (first, 0, 0);
        let mut graphs = Vec::new();
        for step in &self.steps {
            match step {
                ReadyStep::Launch(launch) => {
                    launch.enter(last, &mut global, (inputs, seed));
                    let (own, taken) = launch.run(inputs, &mut global, (seed, self.budget - instructions))?;
                    (threads, instructions, last) = (threads + own, instructions + taken, launch);
                }
                ReadyStep::Fill { param, with } => {
                    let element = values::elements(&self.case.params[*param])[self.which];
                    let bits = values::encode(Number::Real(*with), element);
                    self.write(last, &mut global, *param, |_, _| bits);
                }
                ReadyStep::Graph(graph) => graphs.push(self.graph(last, &mut global, graph, inputs)?),
                ReadyStep::Copy { from, to } => {
                    let element = values::elements(&self.case.params[*from])[self.which];
                    let held = &self.case.params[*from];
                    let (base, place) = (last.base(*from), place_of(held, element));
                    self.write(last, &mut global, *to, |global, at| {
                        let object = global.0.iter_mut().find(|object| object.base == base);
                        object.map_or(0, |object| object.read(byte_at(place, element, at), element.bytes()))
                    });
                }
            }
        }
        Ok(Ran { outputs: last.outputs(global), threads, instructions, graphs })
    }

    /// Evaluates a graph, and writes what it computes: the parameters, and the bits of all their elements.
    fn graph(
        &self,
        launch: &ReadyLaunch<'_>,
        global: &mut Objects,
        graph: &Graph,
        inputs: &Inputs,
    ) -> Result<Vec<(usize, Vec<u64>)>, String> {
        let param = |name: &str| {
            let at = self.case.params.iter().position(|param| param.name == name);
            at.ok_or_else(|| format!("there is no parameter `{name}`"))
        };
        let known = crate::graph::evaluate(graph, &mut |name, at| {
            let param = param(name)?;
            let held = &self.case.params[param];
            let element = values::elements(held)[self.which];
            if let ParamKind::Scalar { .. } = held.kind {
                let value = inputs[param].at(0).ok_or_else(|| format!("`{name}` has no value"))?;
                return Ok(values::decode(values::encode(value, element), element).real(element));
            }
            let (base, place) = (launch.base(param), place_of(held, element));
            let object = global.0.iter_mut().find(|object| object.base == base);
            let bits = object.map_or(0, |object| object.read(byte_at(place, element, at), element.bytes()));
            Ok(values::decode(bits, element).real(element))
        })?;
        let mut written = Vec::new();
        for (name, value) in &graph.outputs {
            let param = param(name)?;
            let element = values::elements(&self.case.params[param])[self.which];
            let numbers = known[value.0].iter();
            let bits: Vec<u64> =
                numbers.map(|number| values::encode(Number::Real(*number), element)).collect();
            self.write(launch, global, param, |_, at| bits[at as usize]);
            written.push((param, bits));
        }
        Ok(written)
    }

    /// Writes every element of a parameter.
    fn write(
        &self,
        launch: &ReadyLaunch<'_>,
        global: &mut Objects,
        param: usize,
        bits: impl Fn(&mut Objects, u64) -> u64,
    ) {
        let held = &self.case.params[param];
        let element = values::elements(held)[self.which];
        let (base, place) = (launch.base(param), place_of(held, element));
        for at in 0..values::count(held) {
            let bits = bits(global, at);
            if let Some(object) = global.0.iter_mut().find(|object| object.base == base) {
                object.write(byte_at(place, element, at), element.bytes(), bits);
            }
        }
    }
}

impl ReadyLaunch<'_> {
    /// The variable of the module for a parameter of the case, by its name in the PTX, and the offset in bytes at which
    /// the parameter begins; `None` for a parameter of the kernel.
    pub fn variable(&self, param: usize) -> Option<(&str, u64)> {
        let held = &self.case.params[param];
        // A field is given as `variable+offset`.
        let (called, offset) = held.name.split_once('+').unwrap_or((&held.name, "0"));
        let name = self.program.names.iter().find(|name| is_called(name, called))?;
        (held.binding == Binding::Variable).then_some((name.as_str(), offset.parse().ok()?))
    }

    /// The address of a tensor of the case; a variable of the module is where the module placed it.
    fn base(&self, param: usize) -> u64 {
        let variable = self.variable(param).and_then(|(name, offset)| {
            let at = self.program.names.iter().position(|known| known == name)?;
            Some(self.program.objects[at].base + offset)
        });
        variable.unwrap_or_else(|| base(self.named(self.case.params[param].argument()).unwrap_or(param)))
    }

    /// The objects in global memory before the first step of a side.
    fn objects(&self, inputs: &Inputs, seed: u64) -> Objects {
        let mut objects = self.program.objects.clone();
        for (at, (param, values)) in self.case.params.iter().zip(inputs).enumerate() {
            if !matches!(param.kind, ParamKind::Tensor { .. }) && param.binding == Binding::Argument {
                continue;
            }
            if let Binding::Field(_) = param.binding {
                if self.named(param.argument()) == Ok(at) {
                    objects.push(self.structs(at, inputs, seed));
                }
                continue;
            }
            let (element, values) = (values::elements(param)[self.which], Rc::clone(values));
            let size = element.bytes() as usize;
            let addresses: Option<Vec<u64>> = param
                .pointers()
                .map(|list| list.iter().map(|pointer| self.pointer(pointer.as_ref())).collect());
            let fill = move |begin: u64, to: &mut [u8]| {
                let mut noise = Random::new(!seed ^ begin);
                for (number, bytes) in (begin / size as u64..).zip(to.chunks_mut(size)) {
                    let address = addresses.as_ref().and_then(|list| list.get(number as usize).copied());
                    let held = address.or_else(|| Some(values::encode(values.at(number)?, element)));
                    let bits = held.unwrap_or_else(|| noise.bits());
                    bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
                }
            };
            let length = values::count(param) * size as u64;
            let base = self.base(at);
            if !param.name.contains('+') {
                objects.retain(|object| object.base != base);
            }
            objects.push(Object::filled(base, length, Rc::new(fill)));
        }
        // The last objects are accessed most.
        objects.reverse();
        Objects(objects)
    }

    /// The address that a pointer of an array holds.
    fn pointer(&self, pointer: Option<&TensorAddress>) -> u64 {
        let Some(TensorAddress { of, at }) = pointer else { return 0 };
        let Ok(param) = self.named(of) else { return 0 };
        self.base(param) + at * u64::from(values::elements(&self.case.params[param])[self.which].bytes())
    }

    /// Replaces the variables of the module of an earlier launch, if this launch is of another one.
    fn enter(&self, before: &ReadyLaunch<'_>, global: &mut Objects, (inputs, seed): (&Inputs, u64)) {
        if self.kernel.ptx == before.kernel.ptx {
            return;
        }
        let tensors: Vec<Object> =
            std::mem::take(&mut global.0).into_iter().filter(|own| own.base >= TENSORS).collect();
        let mut own = self.objects(inputs, seed);
        own.0.retain(|object| tensors.iter().all(|tensor| tensor.base != object.base));
        global.0 = tensors.into_iter().chain(own.0).collect();
    }

    /// Runs the launch; returns the numbers of threads and of instructions.
    fn run(
        &self,
        inputs: &Inputs,
        global: &mut Objects,
        (seed, budget): (u64, u64),
    ) -> Result<(u64, u64), String> {
        let held = &self.kernel.launch;
        let arguments = self.memory(inputs)?;
        let all: Vec<u64> = (0..held.grid.iter().map(|extent| u64::from(*extent)).product()).collect();
        let run = Run {
            program: &self.program,
            grid: held.grid,
            block: held.block,
            cluster: held.cluster.or(self.program.cluster),
            cooperative: held.cooperative,
            dynamic_shared: held.shared,
            ctas: held.ctas.as_ref().unwrap_or(&all),
            arguments: &arguments,
            budget,
        };
        let instructions = run.execute(global, seed)?;
        let threads = held.block.iter().map(|extent| u64::from(*extent)).product::<u64>();
        Ok((run.ctas.len() as u64 * threads, instructions))
    }

    /// The tensor of structs with the given parameter as its first field.
    fn structs(&self, first: usize, inputs: &Inputs, seed: u64) -> Object {
        let params = &self.case.params;
        let fields: Vec<_> = Param::called(params, params[first].argument())
            .map(|at| {
                let element = values::elements(&params[at])[self.which];
                (place_of(&params[at], element), element, Rc::clone(&inputs[at]))
            })
            .collect();
        let length = bytes_of(&params[first], fields[0].1);
        let fill = move |begin: u64, to: &mut [u8]| {
            let mut noise = Random::new(!seed ^ begin);
            for (byte, to) in (begin..).zip(to) {
                let field = fields.iter().find_map(|(place, element, values)| {
                    let (number, byte) = element_at(*place, *element, byte)?;
                    Some(values::encode(values.at(number)?, *element).to_le_bytes()[byte])
                });
                *to = field.unwrap_or_else(|| noise.bits() as u8);
            }
        };
        Object::filled(base(first), length, Rc::new(fill))
    }

    fn outputs(&self, global: Objects) -> Vec<Output> {
        let mut outputs = Vec::new();
        let objects: Vec<_> =
            global.0.into_iter().map(|object| (object.base, Rc::new(RefCell::new(object)))).collect();
        for (param, held) in self.case.params.iter().enumerate() {
            let is_output = matches!(held.kind, ParamKind::Tensor { role: Role::Out | Role::InOut, .. });
            let object = objects.iter().find(|(base, _)| *base == self.base(param));
            let element = values::elements(held)[self.which];
            if let Some((_, object)) = object.filter(|_| is_output) {
                let (place, memory) = (place_of(held, element), Rc::clone(object));
                outputs.push(Output { param, element, place, memory });
            }
        }
        outputs
    }

    /// The parameter of the case with the name that an argument uses; for structs, the first field.
    fn named(&self, name: &str) -> Result<usize, String> {
        let at = Param::called(&self.case.params, name).next();
        at.ok_or_else(|| format!("there is no parameter `{name}`"))
    }

    /// A tensor map of the case, with the innermost dimension first.
    fn tensor_map(&self, map: &case::TensorMap) -> Result<TensorMap, String> {
        let at = self.named(&map.of)?;
        let param = &self.case.params[at];
        let ParamKind::Tensor { shape, .. } = &param.kind else { return Err("a map of no tensor".into()) };
        let shape = if map.shape.is_empty() { shape } else { &map.shape };
        let element = values::elements(param)[self.which];
        let ty = match element {
            Element::Float(format) => {
                Type::parse(format.name()).ok_or("a map of floats of no such format")?
            }
            Element::Int { bytes, signed: true } => Type::Int(IntType { bits: 8 * bytes, signed: true }),
            Element::Int { bytes, signed: false } => Type::Bits(8 * bytes),
            Element::Bool => Type::Bits(8),
        };
        let element = element.bytes();
        let mut dimensions = Vec::new();
        let mut row = u64::from(element);
        for inner in 0..shape.len() {
            let at = shape.len() - 1 - inner;
            let (extent, tile) = (shape[at], *map.r#box.get(at).ok_or("a box has too few dimensions")?);
            let given = map.strides.get(at).map(|stride| stride * u64::from(element));
            let stride = if inner == 0 { row } else { given.unwrap_or(row) };
            dimensions.push(Dimension { extent, stride, tile });
            row = stride * extent;
        }
        let swizzle = Swizzle((map.swizzle.span() / 16).checked_ilog2().unwrap_or(0));
        Ok(TensorMap { base: self.base(at), ty, swizzle, dimensions })
    }

    /// The initial contents of the kernel's parameters.
    ///
    /// # Errors
    /// If an argument has no value.
    pub fn parameters(&self, inputs: &Inputs) -> Result<Parameters, String> {
        let end = self.program.parameters.iter().map(|param| param.offset + param.bytes).max().unwrap_or(0);
        let mut all = Parameters { bytes: vec![0; end as usize], addresses: Vec::new() };
        for (argument, parameter) in self.arguments.iter().zip(&self.program.parameters) {
            let at = parameter.offset as usize;
            let held = match argument {
                Argument::Literal(value) => {
                    Laid::word(literal(values::constant(value)?, parameter), parameter.bytes as u32)
                }
                Argument::Named(_)
                | Argument::Element { .. }
                | Argument::Map { .. }
                | Argument::Struct(_) => self.laid(inputs, argument)?,
            };
            let most = held.bytes.len().min(parameter.bytes as usize);
            all.bytes[at..][..most].copy_from_slice(&held.bytes[..most]);
            let inside = held.addresses.into_iter().filter(|(offset, _)| *offset < most);
            all.addresses.extend(inside.map(|(offset, address)| (at + offset, address)));
        }
        Ok(all)
    }

    /// The kernel's parameter memory.
    fn memory(&self, inputs: &Inputs) -> Result<Vec<u8>, String> {
        let Parameters { mut bytes, addresses } = self.parameters(inputs)?;
        for (at, address) in addresses {
            match address {
                Pointee::Tensor(param, byte) => {
                    bytes[at..][..8].copy_from_slice(&(base(param) + byte).to_le_bytes());
                }
                Pointee::Map(_, map) => bytes[at..][..tensor_map::BYTES].copy_from_slice(&map.encode()?),
            }
        }
        Ok(bytes)
    }

    /// An argument or a member as it lies in memory.
    fn laid(&self, inputs: &Inputs, argument: &Argument) -> Result<Laid, String> {
        Ok(match argument {
            Argument::Literal(_) => return Err("a member without a type".into()),
            Argument::Map { map, .. } => {
                let address = Pointee::Map(self.named(&map.of)?, self.tensor_map(map)?);
                Laid { bytes: vec![0; tensor_map::BYTES], align: 64, addresses: vec![(0, address)] }
            }
            Argument::Element { of, at } => {
                let param = self.named(of)?;
                let bytes = u64::from(values::elements(&self.case.params[param])[self.which].bytes());
                Laid { addresses: vec![(0, Pointee::Tensor(param, at * bytes))], ..Laid::word(0, 8) }
            }
            Argument::Named(name) => {
                let at = self.named(name)?;
                match &self.case.params[at].kind {
                    ParamKind::Tensor { .. } => {
                        Laid { addresses: vec![(0, Pointee::Tensor(at, 0))], ..Laid::word(0, 8) }
                    }
                    ParamKind::Scalar { element, .. } => {
                        let value = inputs[at].at(0).ok_or_else(|| format!("`{name}` has no value"))?;
                        Laid::word(values::encode(value, *element), element.bytes())
                    }
                }
            }
            Argument::Struct(members) => {
                let mut all = Laid { bytes: Vec::new(), align: 1, addresses: Vec::new() };
                for member in members {
                    let held = match member {
                        Member::Offset(offset) => {
                            all.bytes.resize(*offset as usize, 0);
                            continue;
                        }
                        Member::Number(element, value) => {
                            let value = Number::Real(values::constant(value)?);
                            Laid::word(values::encode(value, *element), element.bytes())
                        }
                        Member::Argument(argument) => self.laid(inputs, argument)?,
                    };
                    let at = all.bytes.len().next_multiple_of(held.align);
                    all.bytes.resize(at, 0);
                    all.bytes.extend(held.bytes);
                    let inside = held.addresses.into_iter();
                    all.addresses.extend(inside.map(|(offset, address)| (at + offset, address)));
                    all.align = all.align.max(held.align);
                }
                all.bytes.resize(all.bytes.len().next_multiple_of(all.align), 0);
                all
            }
        })
    }
}

/// A number in the type of a parameter; without a type, whole numbers are integers.
fn literal(value: f64, parameter: &Parameter) -> u64 {
    let element = match parameter.element.as_str() {
        "f16" | "bf16" | "f32" | "f64" => Element::parse(&parameter.element),
        _ if value.fract() != 0.0 && parameter.bytes == 4 => Element::parse("f32"),
        _ if value.fract() != 0.0 => Element::parse("f64"),
        _ => None,
    };
    element.map_or(value as i128 as u64, |element| values::encode(Number::Real(value), element))
}
