//! What the steps of a side need on a GPU: memory with its contents, and what the driver calls things.

use volta_core::case::{Case as CoreCase, Element, Param, ParamKind};
use volta_core::number::format::Format;
use volta_interpreter::launch::{
    Inputs, Parameters, Pointee, Ready, ReadyLaunch, ReadyStep, byte_of, bytes_of,
};
use volta_interpreter::tensor_map::TensorMap;
use volta_interpreter::values::{self, Number};

use crate::render::clean_line;

/// Larger tensors are not written out.
const MAX_ELEMENTS: u64 = 1 << 22;

/// A side on some inputs.
pub(super) struct SideOnGpu<'c> {
    pub(super) core: &'c CoreCase,
    /// 0 for the reference, 1 for the optimized kernel.
    pub(super) which: usize,
    pub(super) ready: &'c Ready<'c>,
    pub(super) inputs: &'c Inputs,
    /// The parameters of its launches, in order.
    pub(super) parameters: Vec<Parameters>,
}

/// A step of a side.
pub(super) enum StepOnGpu<'c> {
    /// A launch, and its number among the launches.
    Launch(usize, &'c ReadyLaunch<'c>),
    /// All elements of a tensor become these bits.
    Fill(usize, u64),
    /// The elements of a tensor, a parameter of the case, become those of another one.
    Copy { from: usize, to: usize },
    /// A graph, by its number among the graphs: no GPU evaluates it.
    Graph(usize),
}

/// An area of memory before the first step: a tensor, structs or a variable.
pub(super) struct Contents {
    pub(super) bytes: u64,
    /// What all its bytes are at first.
    pub(super) filler: u8,
    /// Offset, size and bits of the elements that are something else.
    pub(super) elements: Vec<(u64, u32, u64)>,
}

impl<'c> SideOnGpu<'c> {
    /// A side, and what it starts on.
    ///
    /// # Errors
    /// If an argument has no value.
    pub(super) fn new(
        core: &'c CoreCase,
        (which, ready): (usize, &'c Ready<'c>),
        inputs: &'c Inputs,
    ) -> Result<SideOnGpu<'c>, String> {
        if let Some(param) = core.params.iter().find(|param| param.pointers().is_some()) {
            let name = clean_line(&param.name);
            return Err(format!("`{name}` is an array of pointers, which is not written out for a GPU"));
        }
        let parameters =
            ready.launches().map(|launch| launch.parameters(inputs)).collect::<Result<_, _>>()?;
        Ok(SideOnGpu { core, which, ready, inputs, parameters })
    }

    /// Its steps.
    pub(super) fn steps(&self) -> impl Iterator<Item = StepOnGpu<'c>> {
        let (mut launches, mut graphs) = (0.., 0..);
        self.ready.steps().iter().map(move |step| match step {
            ReadyStep::Launch(launch) => StepOnGpu::Launch(launches.next().unwrap_or(0), launch),
            ReadyStep::Fill { param, with } => {
                StepOnGpu::Fill(*param, values::encode(Number::Real(*with), self.element(*param)))
            }
            ReadyStep::Copy { from, to } => StepOnGpu::Copy { from: *from, to: *to },
            ReadyStep::Graph(_) => StepOnGpu::Graph(graphs.next().unwrap_or(0)),
        })
    }

    /// The parameters of the case that stand for the areas of memory that its steps get.
    pub(super) fn areas(&self) -> Vec<usize> {
        let called = |name: &str| Param::called(&self.core.params, name).next();
        let mut areas: Vec<usize> = self
            .parameters
            .iter()
            .flat_map(|parameters| &parameters.addresses)
            .map(|(_, Pointee::Tensor(param, _) | Pointee::Map(param, _))| *param)
            .chain((0..self.core.params.len()).filter(|param| !self.variables(*param).is_empty()))
            .chain(self.ready.steps().iter().flat_map(|step| match step {
                ReadyStep::Launch(_) => Vec::new(),
                ReadyStep::Fill { param, .. } => vec![self.place(*param)],
                ReadyStep::Copy { from, to } => vec![self.place(*from), self.place(*to)],
                ReadyStep::Graph(graph) => {
                    graph.outputs.iter().filter_map(|(name, _)| called(name)).collect()
                }
            }))
            .collect();
        areas.sort_unstable();
        areas.dedup();
        areas
    }

    /// The launches of whose modules a parameter of the case is a variable, one of each module; with the variable's name
    /// in the PTX, and the offset in bytes at which the parameter begins.
    pub(super) fn variables(&self, param: usize) -> Vec<(&'c ReadyLaunch<'c>, &'c str, u64)> {
        let mut found: Vec<(&ReadyLaunch<'_>, &str, u64)> = Vec::new();
        for launch in self.ready.launches() {
            if let Some((name, offset)) = launch.variable(param)
                && found.iter().all(|(other, ..)| other.kernel.ptx != launch.kernel.ptx)
            {
                found.push((launch, name, offset));
            }
        }
        found
    }

    /// The parameter that stands for all that lies in one area: of structs, the first field.
    pub(super) fn place(&self, param: usize) -> usize {
        let params = &self.core.params;
        Param::called(params, params[param].argument()).next().unwrap_or(param)
    }

    /// The element type of a parameter on this side.
    pub(super) fn element(&self, param: usize) -> Element {
        values::elements(&self.core.params[param])[self.which]
    }

    /// The contents of an area; outputs without any are filled with ones, which spell no number.
    pub(super) fn contents(&self, area: usize) -> Result<Contents, String> {
        let params = &self.core.params;
        let first = &params[area];
        let is_output = matches!(first.kind, ParamKind::Tensor { .. }) && !self.inputs[area].are_known();
        let bytes = bytes_of(first, self.element(area));
        let mut elements = Vec::new();
        for field in Param::called(params, first.argument()) {
            let (held, kind) = (&params[field], self.element(field));
            let count = values::count(held);
            if count > MAX_ELEMENTS {
                let name = clean_line(first.argument());
                return Err(format!("`{name}` has {count} elements, too many to write out"));
            }
            for number in 0..count {
                let Some(value) = self.inputs[field].at(number) else { continue };
                let bits = values::encode(value, kind);
                if bits != 0 || is_output {
                    elements.push((byte_of(held, kind, number), kind.bytes(), bits));
                }
            }
        }
        Ok(Contents { bytes, filler: if is_output { 255 } else { 0 }, elements })
    }
}

/// What the name of an architecture ends with, behind its number: `a` for code of one architecture.
pub(super) fn target_suffix(ptx: &str) -> &str {
    target(ptx).trim_start_matches("sm_").trim_start_matches(|c: char| c.is_ascii_digit())
}

/// The architecture that PTX is written for, such as `sm_90a`.
pub(super) fn target(ptx: &str) -> &str {
    let line = ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"));
    let word = line.unwrap_or_default().trim_start().split([',', ' ', '\t']).next().unwrap_or_default();
    word.trim_end()
}

/// What the driver calls the swizzle of a tensor map.
pub(super) fn swizzle(map: &TensorMap) -> &'static str {
    match map.swizzle.0 {
        0 => "NONE",
        1 => "32B",
        2 => "64B",
        _ => "128B",
    }
}

/// What the driver calls an element type; of narrow floats it knows the bytes.
pub(super) fn data_type(element: Element) -> &'static str {
    match element {
        Element::Float(Format::F16) => "FLOAT16",
        Element::Float(Format::Bf16) => "BFLOAT16",
        Element::Float(Format::Tf32) => "TFLOAT32",
        Element::Float(Format::F32) => "FLOAT32",
        Element::Float(Format::F64) => "FLOAT64",
        Element::Float(Format::E4m3 | Format::E5m2 | Format::Ue8m0) | Element::Bool => "UINT8",
        Element::Int { bytes: 1, .. } => "UINT8",
        Element::Int { bytes: 2, .. } => "UINT16",
        Element::Int { bytes: 4, signed: true } => "INT32",
        Element::Int { bytes: 4, signed: false } => "UINT32",
        Element::Int { signed: true, .. } => "INT64",
        Element::Int { signed: false, .. } => "UINT64",
    }
}
