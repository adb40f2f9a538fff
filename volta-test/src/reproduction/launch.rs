//! What a launch on a GPU needs: memory with its contents, and what the driver calls things.

use volta_core::case::{Case as CoreCase, Element, KernelLaunch, Param, ParamKind, Side};
use volta_core::number::format::Format;
use volta_interpreter::launch::{Inputs, Parameters, Pointee, Ready, ReadyLaunch, byte_of, bytes_of};
use volta_interpreter::tensor_map::TensorMap;
use volta_interpreter::values;

use crate::render::clean_line;

/// Larger tensors are not written out.
const MAX_ELEMENTS: u64 = 1 << 22;

/// A side on some inputs.
pub(super) struct Launch<'c> {
    pub(super) core: &'c CoreCase,
    pub(super) kernel: &'c KernelLaunch,
    /// 0 for the reference, 1 for the optimized kernel.
    pub(super) which: usize,
    pub(super) ready: &'c ReadyLaunch<'c>,
    /// The side, which has no other step.
    pub(super) whole: &'c Ready<'c>,
    pub(super) inputs: &'c Inputs,
}

impl<'c> Launch<'c> {
    /// The launch of a side that has no other step.
    ///
    /// # Errors
    /// Of a side with several steps.
    pub(super) fn of(
        core: &'c CoreCase,
        (which, side): (usize, &'c Side),
        whole: &'c Ready<'c>,
        inputs: &'c Inputs,
    ) -> Result<Launch<'c>, String> {
        let only = side.only().zip(whole.only());
        let (kernel, ready) = only.ok_or("a side has several steps, of which replays are not written yet")?;
        Ok(Launch { core, kernel, which, ready, whole, inputs })
    }
}

/// An area of memory before the launch: a tensor, structs or a variable.
pub(super) struct Contents {
    pub(super) bytes: u64,
    /// What all its bytes are at first.
    pub(super) filler: u8,
    /// Offset, size and bits of the elements that are something else.
    pub(super) elements: Vec<(u64, u32, u64)>,
}

impl Launch<'_> {
    /// The parameters of the case that stand for the areas of memory that the kernel gets.
    pub(super) fn areas(&self, parameters: &Parameters) -> Vec<usize> {
        let mut areas: Vec<usize> = (0..self.core.params.len())
            .filter(|param| self.ready.variable(*param).is_some())
            .chain(parameters.addresses.iter().map(|(_, address)| match address {
                Pointee::Tensor(param, _) | Pointee::Map(param, _) => *param,
            }))
            .collect();
        areas.sort_unstable();
        areas.dedup();
        areas
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

    /// What the name of the kernel's architecture ends with, behind its number: `a` for code of one architecture.
    pub(super) fn target_suffix(&self) -> String {
        let target = self.target();
        target.trim_start_matches("sm_").trim_start_matches(|c: char| c.is_ascii_digit()).to_owned()
    }

    /// The architecture that the PTX is written for, such as `sm_90a`.
    pub(super) fn target(&self) -> &str {
        let line = self.kernel.ptx.lines().find_map(|line| line.trim_start().strip_prefix(".target"));
        let word = line.unwrap_or_default().trim_start().split([',', ' ', '\t']).next().unwrap_or_default();
        word.trim_end()
    }
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
