//! A CUDA program that loads the PTX of both kernels through the driver, launches them on a witness, and compares.

use std::fmt::Write as _;

use volta_core::case::{Case as CoreCase, Element, Param, ParamKind, Side};
use volta_core::number::format::Format;
use volta_core::verdict::Difference;
use volta_interpreter::launch::{Inputs, Pointee, Ready, byte_of, bytes_of, place, ready, witness_inputs};
use volta_interpreter::tensor_map::{Dimension, TensorMap};
use volta_interpreter::values;

use super::{about, element_name};
use crate::case::Case;
use crate::render::clean_line;

/// Larger tensors are not written out.
const MAX_ELEMENTS: u64 = 1 << 22;

/// A CUDA program that launches both kernels, as the PTX that was verified, on the inputs, and compares the element;
/// `entries` are their names in the PTX.
///
/// # Errors
/// Why there is none.
pub fn cuda(
    case: &Case,
    core: &CoreCase,
    difference: &Difference,
    entries: [&str; 2],
) -> Result<String, String> {
    let inputs = witness_inputs(core, difference)?;
    let element = element_name(core, difference)?;
    let output = place(core, &element).ok_or("the element has no address")?;
    let reference = core.reference.as_ref().ok_or("there is no reference")?;
    let mut text = format!(
        "// {}\n// nvcc reproduction.cu -lcuda -o reproduction && ./reproduction\n\
         #include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <string>\n\
         #include <vector>\n#include <cuda.h>\n\n{SUPPORT}\n",
        about(case, &element)
    );
    let ready = ready(core)?;
    for (which, (name, side)) in [("reference", reference), ("optimized", &core.opt)].into_iter().enumerate()
    {
        let _ = write!(text, "\nstatic const char *const {name}_ptx[] = {{\n{}}};\n", quoted(&side.ptx));
        let launch = Launch { core, side, which, ready: &ready[which], inputs: &inputs };
        text.push_str(&launch.function(name, entries[which], output)?);
    }
    let kinds = values::elements(&core.params[output.0]);
    let [a, b] = ["a", "b"].map(str::to_owned);
    let [one, other] =
        [(kinds[0], a), (kinds[1], b)].map(|(kind, value)| format!("spelled<{}>({value})", shown(kind)));
    let _ = write!(
        text,
        "\nint main()\n{{\n    check(cuInit(0));\n    CUdevice device;\n    check(cuDeviceGet(&device, 0));\n    \
         CUcontext context;\n    check(cuDevicePrimaryCtxRetain(&context, device));\n    \
         check(cuCtxSetCurrent(context));\n    uint64_t a = reference(), b = optimized();\n    \
         printf(\"{} is %s in the reference, %s in the optimized kernel\\n\",\n           \
         {one}.c_str(), {other}.c_str());\n    return a == b ? 1 : 0;\n}}\n",
        clean_line(&element)
    );
    Ok(text)
}

/// As what C++ prints an element; narrow floats are shown as their bits.
fn shown(element: Element) -> &'static str {
    match element.name() {
        "f32" => "float",
        "f64" => "double",
        "i8" => "int8_t",
        "i16" => "int16_t",
        "i32" => "int32_t",
        "i64" => "int64_t",
        _ => "uint64_t",
    }
}

const SUPPORT: &str = r#"static void check(CUresult result)
{
    if (result == CUDA_SUCCESS)
        return;
    const char *text = "an error";
    cuGetErrorString(result, &text);
    fprintf(stderr, "%s\n", text);
    exit(2);
}

template <size_t Lines> static CUmodule load(const char *const (&ptx)[Lines])
{
    std::string text;
    for (const char *line : ptx)
        text += line;
    CUmodule module;
    check(cuModuleLoadData(&module, text.c_str()));
    return module;
}

[[maybe_unused]] static CUdeviceptr upload(const std::vector<uint8_t> &bytes)
{
    CUdeviceptr at;
    check(cuMemAlloc(&at, bytes.size()));
    check(cuMemcpyHtoD(at, bytes.data(), bytes.size()));
    return at;
}

// A variable of the module, from some byte on.
[[maybe_unused]] static CUdeviceptr set(CUmodule module, const char *name, size_t offset,
                                        const std::vector<uint8_t> &bytes)
{
    CUdeviceptr at;
    check(cuModuleGetGlobal(&at, nullptr, module, name));
    check(cuMemcpyHtoD(at + offset, bytes.data(), bytes.size()));
    return at + offset;
}

[[maybe_unused]] static void put(uint8_t *bytes, size_t at, size_t size, uint64_t bits)
{
    memcpy(bytes + at, &bits, size);
}

// Dimensions from the innermost one out; strides in bytes, of all but the innermost one.
[[maybe_unused]] static void map(uint8_t *to, CUtensorMapDataType type, CUtensorMapSwizzle swizzle,
                                 CUdeviceptr tensor, std::vector<cuuint64_t> extents,
                                 std::vector<cuuint64_t> strides, std::vector<cuuint32_t> box)
{
    alignas(64) CUtensorMap map;
    std::vector<cuuint32_t> steps(box.size(), 1);
    check(cuTensorMapEncodeTiled(&map, type, box.size(), reinterpret_cast<void *>(tensor), extents.data(),
                                 strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                                 CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    memcpy(to, &map, sizeof map);
}

// The parameters as they lie in the kernel's parameter memory. Clusters of no CTAs are those that the kernel asks for.
static void launch(CUfunction kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
                   const unsigned (&cluster)[3], bool cooperative, unsigned shared, uint8_t *parameters,
                   size_t size)
{
    check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, parameters, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    std::vector<CUlaunchAttribute> attributes;
    if (cluster[0] != 0) {
        CUlaunchAttribute clusters = {};
        clusters.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        clusters.value.clusterDim = {cluster[0], cluster[1], cluster[2]};
        attributes.push_back(clusters);
    }
    if (cooperative) {
        CUlaunchAttribute together = {};
        together.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
        together.value.cooperative = 1;
        attributes.push_back(together);
    }
    CUlaunchConfig config = {};
    config.gridDimX = grid[0], config.gridDimY = grid[1], config.gridDimZ = grid[2];
    config.blockDimX = block[0], config.blockDimY = block[1], config.blockDimZ = block[2];
    config.sharedMemBytes = shared;
    config.attrs = attributes.data();
    config.numAttrs = attributes.size();
    check(cuLaunchKernelEx(&config, kernel, nullptr, extra));
    check(cuCtxSynchronize());
}

template <class T> static std::string spelled(uint64_t bits)
{
    T value;
    memcpy(&value, &bits, sizeof value);
    return std::to_string(value);
}"#;

/// A text as string literals, a line each.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
        let escaped: String = line
            .chars()
            .map(|c| match c {
                '"' => "\\\"".into(),
                '\\' => "\\\\".into(),
                '\t' => "\\t".into(),
                c if c.is_ascii() && !c.is_ascii_control() => c.to_string(),
                _ => " ".into(),
            })
            .collect();
        let _ = writeln!(out, "    \"{escaped}\\n\",");
    }
    out
}

/// A side on some inputs.
struct Launch<'c> {
    core: &'c CoreCase,
    side: &'c Side,
    /// 0 for the reference, 1 for the optimized kernel.
    which: usize,
    ready: &'c Ready<'c>,
    inputs: &'c Inputs,
}

impl Launch<'_> {
    /// A function that launches the side, and gives the bits of an element of an output.
    fn function(&self, name: &str, entry: &str, (output, number): (usize, u64)) -> Result<String, String> {
        let mut text = format!(
            "\nstatic uint64_t {name}()\n{{\n    CUmodule module = load({name}_ptx);\n    CUfunction kernel;\n    \
             check(cuModuleGetFunction(&kernel, module, \"{entry}\"));\n"
        );
        let parameters = self.ready.parameters(self.inputs)?;
        let mut placed: Vec<usize> = (0..self.core.params.len())
            .filter(|param| self.ready.variable(*param).is_some())
            .chain(parameters.addresses.iter().map(|(_, address)| match address {
                Pointee::Tensor(param) | Pointee::Map(param, _) => *param,
            }))
            .collect();
        placed.sort_unstable();
        placed.dedup();
        let place = self.place(output);
        if !placed.contains(&place) {
            return Err("the output is neither an argument nor a variable of the kernel".into());
        }
        for param in placed {
            text.push_str(&self.tensor(param)?);
        }
        let size = parameters.bytes.len();
        let _ =
            writeln!(text, "    alignas(64) uint8_t parameters[{}] = {{}};", size.next_multiple_of(4).max(4));
        for (word, bytes) in parameters.bytes.chunks(4).enumerate() {
            let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
            if bits != 0 {
                let _ = writeln!(text, "    put(parameters, {}, 4, {bits}u);", 4 * word);
            }
        }
        for (at, address) in &parameters.addresses {
            match address {
                Pointee::Tensor(param) => {
                    let _ = writeln!(text, "    memcpy(parameters + {at}, &d{param}, sizeof d{param});");
                }
                Pointee::Map(param, map) => {
                    let element = values::elements(&self.core.params[*param])[self.which];
                    let _ = writeln!(text, "    map(parameters + {at}, {});", mapped(*param, element, map));
                }
            }
        }
        let list = |extent: [u32; 3]| extent.map(|extent| extent.to_string()).join(", ");
        let element = values::elements(&self.core.params[output])[self.which];
        let bytes = element.bytes();
        let _ = write!(
            text,
            "    launch(kernel, {{{}}}, {{{}}}, {{{}}}, {}, {}, parameters, {size});\n    uint64_t bits = 0;\n    \
             check(cuMemcpyDtoH(&bits, d{place} + {}, {bytes}));\n    return bits;\n}}\n",
            list(self.side.launch.grid),
            list(self.side.launch.block),
            list(self.side.launch.cluster.unwrap_or([0; 3])),
            self.side.launch.cooperative,
            self.side.launch.shared,
            byte_of(&self.core.params[output], element, number)
        );
        Ok(text)
    }

    /// The parameter that stands for all that lies in one tensor: of structs, the first field.
    fn place(&self, param: usize) -> usize {
        let params = &self.core.params;
        Param::called(params, params[param].argument()).next().unwrap_or(param)
    }

    /// Statements that place a tensor, or give a variable of the module what it holds.
    fn tensor(&self, param: usize) -> Result<String, String> {
        let held = &self.core.params[param];
        let name = clean_line(held.argument());
        let is_output = matches!(held.kind, ParamKind::Tensor { .. }) && !self.inputs[param].are_known();
        let mut text = format!(
            "    std::vector<uint8_t> b{param}({}, {}); // {name}\n",
            bytes_of(held, values::elements(held)[self.which]),
            if is_output { 255 } else { 0 }
        );
        for field in Param::called(&self.core.params, held.argument()) {
            let held = &self.core.params[field];
            let (kind, count) = (values::elements(held)[self.which], values::count(held));
            if count > MAX_ELEMENTS {
                return Err(format!("`{name}` has {count} elements, too many to write out"));
            }
            for number in 0..count {
                let bits = self.inputs[field].at(number).map_or(0, |value| values::encode(value, kind));
                if bits != 0 {
                    let (at, size) = (byte_of(held, kind, number), kind.bytes());
                    let _ = writeln!(text, "    put(b{param}.data(), {at}, {size}, {bits}ull);");
                }
            }
        }
        let place = match self.ready.variable(param) {
            Some((variable, offset)) => format!("set(module, \"{variable}\", {offset}, b{param})"),
            None => format!("upload(b{param})"),
        };
        let _ = writeln!(text, "    CUdeviceptr d{param} = {place};");
        Ok(text)
    }
}

/// The arguments of `map` behind the first.
fn mapped(param: usize, element: Element, map: &TensorMap) -> String {
    let list = |of: &dyn Fn(&Dimension) -> u64, from: usize| {
        let numbers: Vec<String> = map.dimensions[from..].iter().map(|held| of(held).to_string()).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    let swizzle = match map.swizzle.0 {
        0 => "NONE",
        1 => "32B",
        2 => "64B",
        _ => "128B",
    };
    format!(
        "CU_TENSOR_MAP_DATA_TYPE_{}, CU_TENSOR_MAP_SWIZZLE_{swizzle}, d{param}, {}, {}, {}",
        data_type(element),
        list(&|held| held.extent, 0),
        list(&|held| held.stride, 1),
        list(&|held| held.tile, 0)
    )
}

/// What the driver calls an element type; of narrow floats it knows the bytes.
fn data_type(element: Element) -> &'static str {
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
