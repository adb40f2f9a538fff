//! A CUDA program that loads the PTX of both kernels through the driver, launches them on a witness, and compares.

use std::fmt::Write as _;

use volta_core::case::{Case as CoreCase, Element};
use volta_core::verdict::Difference;
use volta_interpreter::launch::{Pointee, byte_of, place, ready, witness_inputs};
use volta_interpreter::tensor_map::{Dimension, TensorMap};
use volta_interpreter::values;

use super::launch::{Launch, data_type, swizzle};
use super::{about, element_name};
use crate::case::Case;
use crate::render::clean_line;

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
        let launch = Launch::of(core, (which, side), &ready[which], &inputs)?;
        let ptx = quoted(&launch.kernel.ptx);
        let _ = write!(text, "\nstatic const char *const {name}_ptx[] = {{\n{ptx}}};\n");
        text.push_str(&function(&launch, name, entries[which], output)?);
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

// A driver that is older than the PTX refuses it; the toolkit's ptxas ($PTXAS, or the one on PATH) then compiles it.
template <size_t Lines> static CUmodule load(const char *const (&ptx)[Lines], const char *suffix)
{
    std::string text;
    for (const char *line : ptx)
        text += line;
    CUmodule module;
    CUresult loaded = cuModuleLoadData(&module, text.c_str());
    if (loaded != CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        check(loaded);
        return module;
    }
    int major, minor;
    check(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    check(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    const char *ptxas = getenv("PTXAS");
    std::string arch = "sm_" + std::to_string(10 * major + minor) + suffix;
    std::string command = std::string(ptxas ? ptxas : "ptxas") + " -arch=" + arch +
                          " reproduction.ptx -o reproduction.cubin";
    FILE *file = fopen("reproduction.ptx", "w");
    bool written = file && fputs(text.c_str(), file) >= 0;
    if (!file || fclose(file) != 0 || !written || system(command.c_str()) != 0) {
        fprintf(stderr, "the driver is older than this PTX, and this failed: %s\n", command.c_str());
        exit(2);
    }
    check(cuModuleLoad(&module, "reproduction.cubin"));
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

// A pointer for each parameter: the driver knows where each lies, which for those aligned to 64 bytes is not their offset
// in the PTX. Clusters of no CTAs are those that the kernel asks for.
static void launch(CUfunction kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
                   const unsigned (&cluster)[3], bool cooperative, unsigned shared, std::vector<void *> parameters)
{
    check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
    if (cluster[0] * cluster[1] * cluster[2] > 8)
        check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
    // A copy from pageable memory may return before its last bytes have arrived.
    check(cuCtxSynchronize());
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
    check(cuLaunchKernelEx(&config, kernel, parameters.data(), nullptr));
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

/// A function that launches a side, and gives the bits of an element of an output.
fn function(
    launch: &Launch<'_>,
    name: &str,
    entry: &str,
    (output, number): (usize, u64),
) -> Result<String, String> {
    let suffix = launch.target_suffix();
    let mut text = format!(
        "\nstatic uint64_t {name}()\n{{\n    CUmodule module = load({name}_ptx, \"{suffix}\");\n    CUfunction kernel;\n    \
         check(cuModuleGetFunction(&kernel, module, \"{entry}\"));\n"
    );
    let parameters = launch.ready.parameters(launch.inputs)?;
    let areas = launch.areas(&parameters);
    let place = launch.place(output);
    if !areas.contains(&place) {
        return Err("the output is neither an argument nor a variable of the kernel".into());
    }
    for area in areas {
        text.push_str(&tensor(launch, area)?);
    }
    let size = parameters.bytes.len();
    let _ = writeln!(text, "    alignas(64) uint8_t parameters[{}] = {{}};", size.next_multiple_of(4).max(4));
    for (word, bytes) in parameters.bytes.chunks(4).enumerate() {
        let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        if bits != 0 {
            let _ = writeln!(text, "    put(parameters, {}, 4, {bits}u);", 4 * word);
        }
    }
    for (at, address) in &parameters.addresses {
        match address {
            Pointee::Tensor(param, 0) => {
                let _ = writeln!(text, "    memcpy(parameters + {at}, &d{param}, sizeof d{param});");
            }
            Pointee::Tensor(param, byte) => {
                let _ = writeln!(
                    text,
                    "    const CUdeviceptr at{at} = d{param} + {byte};\n    memcpy(parameters + {at}, &at{at}, sizeof at{at});"
                );
            }
            Pointee::Map(param, map) => {
                let mapped = mapped(*param, launch.element(*param), map);
                let _ = writeln!(text, "    map(parameters + {at}, {mapped});");
            }
        }
    }
    let list = |extent: [u32; 3]| extent.map(|extent| extent.to_string()).join(", ");
    let pointers =
        launch.ready.program.parameters.iter().map(|param| format!("parameters + {}", param.offset));
    let held = launch.element(output);
    let side = &launch.kernel.launch;
    let _ = write!(
        text,
        "    launch(kernel, {{{}}}, {{{}}}, {{{}}}, {}, {}, {{{}}});\n    uint64_t bits = 0;\n    \
         check(cuMemcpyDtoH(&bits, d{place} + {}, {}));\n    return bits;\n}}\n",
        list(side.grid),
        list(side.block),
        list(side.cluster.unwrap_or([0; 3])),
        side.cooperative,
        side.shared,
        pointers.collect::<Vec<_>>().join(", "),
        byte_of(&launch.core.params[output], held, number),
        held.bytes()
    );
    Ok(text)
}

/// Statements that place a tensor, or give a variable of the module what it holds.
fn tensor(launch: &Launch<'_>, area: usize) -> Result<String, String> {
    let name = clean_line(launch.core.params[area].argument());
    let contents = launch.contents(area)?;
    let mut text =
        format!("    std::vector<uint8_t> b{area}({}, {}); // {name}\n", contents.bytes, contents.filler);
    for (at, size, bits) in contents.elements {
        let _ = writeln!(text, "    put(b{area}.data(), {at}, {size}, {bits}ull);");
    }
    let place = match launch.ready.variable(area) {
        Some((variable, offset)) => format!("set(module, \"{variable}\", {offset}, b{area})"),
        None => format!("upload(b{area})"),
    };
    let _ = writeln!(text, "    CUdeviceptr d{area} = {place};");
    Ok(text)
}

/// The arguments of `map` behind the first.
fn mapped(param: usize, element: Element, map: &TensorMap) -> String {
    let list = |of: &dyn Fn(&Dimension) -> u64, from: usize| {
        let numbers: Vec<String> = map.dimensions[from..].iter().map(|held| of(held).to_string()).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    format!(
        "CU_TENSOR_MAP_DATA_TYPE_{}, CU_TENSOR_MAP_SWIZZLE_{}, d{param}, {}, {}, {}",
        data_type(element),
        swizzle(map),
        list(&|held| held.extent, 0),
        list(&|held| held.stride, 1),
        list(&|held| held.tile, 0)
    )
}
