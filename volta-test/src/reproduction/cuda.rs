//! A CUDA program that loads the PTX of both sides through the driver, runs their steps on a witness, and compares.

use std::fmt::Write as _;

use volta_core::case::{Case as CoreCase, Element, FieldPlace};
use volta_core::verdict::Difference;
use volta_interpreter::launch::{Pointee, ReadyLaunch, byte_of, place, place_of, ready, witness_inputs};
use volta_interpreter::tensor_map::{Dimension, TensorMap};
use volta_interpreter::values;

use super::launch::{SideOnGpu, StepOnGpu, data_type, swizzle, target_suffix};
use super::{about, element_name};
use crate::case::Case;
use crate::render::clean_line;

/// A CUDA program that runs both sides, as the PTX that was verified, on the inputs, and compares the element.
///
/// # Errors
/// Why there is none.
pub fn cuda(case: &Case, core: &CoreCase, difference: &Difference) -> Result<String, String> {
    let inputs = witness_inputs(core, difference)?;
    let element = element_name(core, difference)?;
    let output = place(core, &element).ok_or("the element has no address")?;
    let mut text = format!(
        "// {}\n// nvcc reproduction.cu -lcuda -o reproduction && ./reproduction\n\
         #include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <cstring>\n#include <string>\n\
         #include <vector>\n#include <cuda.h>\n\n{SUPPORT}\n",
        about(case, &element)
    );
    let ready = ready(core)?;
    for (which, name) in ["reference", "optimized"].into_iter().enumerate() {
        let side = SideOnGpu::new(core, (which, &ready[which]), &inputs)?;
        text.push_str(&function(&side, name, output)?);
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
template <size_t Lines>
[[maybe_unused]] static CUmodule load(const char *const (&ptx)[Lines], const char *suffix)
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

[[maybe_unused]] static void write(CUdeviceptr to, const std::vector<uint8_t> &bytes)
{
    check(cuMemcpyHtoD(to, bytes.data(), bytes.size()));
    // A copy from pageable memory may return before its last bytes have arrived.
    check(cuCtxSynchronize());
}

[[maybe_unused]] static CUdeviceptr upload(const std::vector<uint8_t> &bytes)
{
    CUdeviceptr at;
    check(cuMemAlloc(&at, bytes.size()));
    write(at, bytes);
    return at;
}

// A variable of the module, from some byte on.
[[maybe_unused]] static CUdeviceptr set(CUmodule module, const char *name, size_t offset,
                                        const std::vector<uint8_t> &bytes)
{
    CUdeviceptr at;
    check(cuModuleGetGlobal(&at, nullptr, module, name));
    write(at + offset, bytes);
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
[[maybe_unused]] static void launch(CUfunction kernel, const unsigned (&grid)[3], const unsigned (&block)[3],
                                    const unsigned (&cluster)[3], bool cooperative, bool programmatic,
                                    unsigned shared, std::vector<void *> parameters)
{
    check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared));
    if (cluster[0] * cluster[1] * cluster[2] > 8)
        check(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
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
    if (programmatic) {
        CUlaunchAttribute early = {};
        early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        early.value.programmaticStreamSerializationAllowed = 1;
        attributes.push_back(early);
    }
    CUlaunchConfig config = {};
    config.gridDimX = grid[0], config.gridDimY = grid[1], config.gridDimZ = grid[2];
    config.blockDimX = block[0], config.blockDimY = block[1], config.blockDimZ = block[2];
    config.sharedMemBytes = shared;
    config.attrs = attributes.data();
    config.numAttrs = attributes.size();
    check(cuLaunchKernelEx(&config, kernel, parameters.data(), nullptr));
}

// Where the elements of a tensor lie in its memory: `count` of them, `stride` bytes from the next ones.
struct Place {
    size_t offset, count, stride, size, elements;
    size_t byte(size_t element) const { return element / count * stride + offset + element % count * size; }
    size_t end() const { return elements ? byte(elements - 1) + size : 0; }
};

[[maybe_unused]] static std::vector<uint8_t> download(CUdeviceptr from, size_t size)
{
    check(cuCtxSynchronize());
    std::vector<uint8_t> bytes(size);
    check(cuMemcpyDtoH(bytes.data(), from, size));
    return bytes;
}

// All elements of a tensor become one number, or a number each.
[[maybe_unused]] static void fill(CUdeviceptr to, const Place &place, const std::vector<uint64_t> &bits)
{
    std::vector<uint8_t> bytes = download(to, place.end());
    for (size_t at = 0; at < place.elements; at++)
        put(bytes.data(), place.byte(at), place.size, bits[at % bits.size()]);
    write(to, bytes);
}

[[maybe_unused]] static void copy(CUdeviceptr from, const Place &source, CUdeviceptr to, const Place &place)
{
    std::vector<uint8_t> read = download(from, source.end()), bytes = download(to, place.end());
    for (size_t at = 0; at < place.elements; at++)
        memcpy(bytes.data() + place.byte(at), read.data() + source.byte(at), place.size);
    write(to, bytes);
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

/// What distinguishes the names of what there is several of.
fn numbered(name: &str, at: usize) -> String {
    if at == 0 { name.to_owned() } else { format!("{name}{}", at + 1) }
}

/// A function that runs a side, and gives the bits of an element of an output.
fn function(side: &SideOnGpu<'_>, name: &str, (output, number): (usize, u64)) -> Result<String, String> {
    let areas = side.areas();
    let place = side.place(output);
    if !areas.contains(&place) {
        return Err("the output is neither an argument nor a variable of a kernel".into());
    }
    let mut modules: Vec<&str> = Vec::new();
    for launch in side.ready.launches() {
        if !modules.contains(&launch.kernel.ptx.as_str()) {
            modules.push(&launch.kernel.ptx);
        }
    }
    let module = |launch: &ReadyLaunch<'_>| {
        let at = modules.iter().position(|ptx| *ptx == launch.kernel.ptx);
        numbered("module", at.unwrap_or(0))
    };
    let mut text = String::new();
    for (at, ptx) in modules.iter().enumerate() {
        let _ = write!(
            text,
            "\nstatic const char *const {}[] = {{\n{}}};\n",
            numbered(&format!("{name}_ptx"), at),
            quoted(ptx)
        );
    }
    let _ = writeln!(text, "\nstatic uint64_t {name}()\n{{");
    for (at, ptx) in modules.iter().enumerate() {
        let (module, from) = (numbered("module", at), numbered(&format!("{name}_ptx"), at));
        let _ = writeln!(text, "    CUmodule {module} = load({from}, \"{}\");", target_suffix(ptx));
    }
    for (at, launch) in side.ready.launches().enumerate() {
        let (kernel, module) = (numbered("kernel", at), module(launch));
        let entry = &launch.program.functions[launch.program.entry].name;
        let _ = writeln!(
            text,
            "    CUfunction {kernel};\n    check(cuModuleGetFunction(&{kernel}, {module}, \"{entry}\"));"
        );
    }
    for area in areas {
        text.push_str(&tensor(side, area, &module)?);
    }
    for at in 0..side.parameters.len() {
        text.push_str(&parameters(side, at));
    }
    text.push_str(&steps(side)?);
    let held = side.element(output);
    let _ = write!(
        text,
        "    check(cuCtxSynchronize());\n    uint64_t bits = 0;\n    \
         check(cuMemcpyDtoH(&bits, d{place} + {}, {}));\n    return bits;\n}}\n",
        byte_of(&side.core.params[output], held, number),
        held.bytes()
    );
    Ok(text)
}

/// Statements that make the parameters of a launch.
fn parameters(side: &SideOnGpu<'_>, at: usize) -> String {
    let (held, name) = (&side.parameters[at], numbered("parameters", at));
    let size = held.bytes.len().next_multiple_of(4).max(4);
    let mut text = format!("    alignas(64) uint8_t {name}[{size}] = {{}};\n");
    for (word, bytes) in held.bytes.chunks(4).enumerate() {
        let bits = bytes.iter().rev().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte));
        if bits != 0 {
            let _ = writeln!(text, "    put({name}, {}, 4, {bits}u);", 4 * word);
        }
    }
    for (offset, address) in &held.addresses {
        match address {
            Pointee::Tensor(param, 0) => {
                let _ = writeln!(text, "    memcpy({name} + {offset}, &d{param}, sizeof d{param});");
            }
            Pointee::Tensor(param, byte) => {
                let pointer = format!("{}_{offset}", numbered("at", at));
                let _ = writeln!(
                    text,
                    "    const CUdeviceptr {pointer} = d{param} + {byte};\n    \
                     memcpy({name} + {offset}, &{pointer}, sizeof {pointer});"
                );
            }
            Pointee::Map(param, map) => {
                let mapped = mapped(*param, side.element(*param), map);
                let _ = writeln!(text, "    map({name} + {offset}, {mapped});");
            }
        }
    }
    text
}

/// Statements that run the steps of a side, one after the other.
fn steps(side: &SideOnGpu<'_>) -> Result<String, String> {
    let mut text = String::new();
    let list = |extent: [u32; 3]| extent.map(|extent| extent.to_string()).join(", ");
    let has_graphs = side.ready.has_graphs();
    let ran = has_graphs.then(|| side.ready.run(side.inputs, 1)).transpose()?;
    let place = |param: usize| {
        let (held, kind) = (&side.core.params[param], side.element(param));
        let FieldPlace { offset, count, stride } = place_of(held, kind);
        format!("{{{offset}, {count}, {stride}, {}, {}}}", kind.bytes(), values::count(held))
    };
    for (step, at) in side.steps().zip(1..) {
        match step {
            StepOnGpu::Launch(number, launch) => {
                let (kernel, given) = (numbered("kernel", number), numbered("parameters", number));
                let pointers =
                    launch.program.parameters.iter().map(|param| format!("{given} + {}", param.offset));
                let held = &launch.kernel.launch;
                let _ = writeln!(
                    text,
                    "    launch({kernel}, {{{}}}, {{{}}}, {{{}}}, {}, {}, {}, {{{}}});",
                    list(held.grid),
                    list(held.block),
                    list(held.cluster.unwrap_or([0; 3])),
                    held.cooperative,
                    held.programmatic,
                    held.shared,
                    pointers.collect::<Vec<_>>().join(", "),
                );
            }
            StepOnGpu::Fill(param, bits) => {
                let _ = writeln!(text, "    fill(d{}, {}, {{{bits}ull}});", side.place(param), place(param));
            }
            StepOnGpu::Copy { from, to } => {
                let [source, target] = [side.place(from), side.place(to)];
                let _ = writeln!(text, "    copy(d{source}, {}, d{target}, {});", place(from), place(to));
            }
            StepOnGpu::Graph(number) => {
                let written = ran.as_ref().and_then(|ran| ran.graphs.get(number)).into_iter().flatten();
                let _ = writeln!(text, "    // Step {at} is a graph, evaluated in advance.");
                for (param, bits) in written {
                    let bits: Vec<String> = bits.iter().map(|bits| format!("{bits}ull")).collect();
                    let (target, bits) = (side.place(*param), bits.join(", "));
                    let _ = writeln!(text, "    fill(d{target}, {}, {{{bits}}});", place(*param));
                }
            }
        }
    }
    Ok(text)
}

/// Statements that place a tensor, or give a variable of the modules what it holds.
fn tensor(
    side: &SideOnGpu<'_>,
    area: usize,
    module: &dyn Fn(&ReadyLaunch<'_>) -> String,
) -> Result<String, String> {
    let name = clean_line(side.core.params[area].argument());
    let contents = side.contents(area)?;
    let mut text =
        format!("    std::vector<uint8_t> b{area}({}, {}); // {name}\n", contents.bytes, contents.filler);
    for (at, size, bits) in contents.elements {
        let _ = writeln!(text, "    put(b{area}.data(), {at}, {size}, {bits}ull);");
    }
    let variables = side.variables(area);
    let set = |(launch, variable, offset): &(&ReadyLaunch<'_>, &str, u64)| {
        format!("set({}, \"{variable}\", {offset}, b{area})", module(launch))
    };
    let _ = match variables.first() {
        Some(first) => writeln!(text, "    CUdeviceptr d{area} = {};", set(first)),
        None => writeln!(text, "    CUdeviceptr d{area} = upload(b{area});"),
    };
    for other in variables.iter().skip(1) {
        let _ = writeln!(text, "    {};", set(other));
    }
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
