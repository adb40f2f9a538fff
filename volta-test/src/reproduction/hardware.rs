//! A folder with all that a machine with a GPU needs to run cases: code, memory before the launch, and what the
//! interpreter leaves in it. `run.py` in it, the runner, needs Python and a driver.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::Mutex;

use serde_json::{Value, json};
use volta_core::case::{Case as CoreCase, Element, Param, ParamKind, Role, Side, Step, Which};
use volta_core::verdict::{Difference, How, Verdict};
use volta_interpreter::launch::{
    Inputs, Parameters, Pointee, Ran, Ready, ReadyLaunch, alone, byte_of, place_of, ready, witness_inputs,
};
use volta_interpreter::random::Random;
use volta_interpreter::values::{self, Signs, Values};

use super::launch::{SideOnGpu, StepOnGpu, data_type, swizzle, target};
use crate::beside::sha256;

/// The runner: launches what a folder holds, compares, and writes the page.
pub const RUNNER: &str = include_str!("hardware.py");

/// The interpreter executes no more instructions for one side.
const MOST_INSTRUCTIONS: u64 = 100_000_000;

/// The folder that is written.
#[derive(Debug)]
pub struct Bundle {
    folder: PathBuf,
    /// The architecture of the GPU, such as `sm_90`.
    arch: String,
    ptxas: Option<PathBuf>,
    /// The code by PTX: its JSON. A file of kernels serves many cases.
    images: Mutex<HashMap<String, Value>>,
}

impl Bundle {
    /// Makes the folder. With `ptxas`, code is compiled for `arch`: drivers that are older than the PTX refuse it.
    ///
    /// # Errors
    /// Why there is none.
    pub fn new(folder: &Path, arch: &str, ptxas: Option<PathBuf>) -> Result<Bundle, String> {
        let bundle =
            Bundle { folder: folder.to_owned(), arch: arch.to_owned(), ptxas, images: Mutex::default() };
        fs::create_dir_all(folder)
            .map_err(|error| format!("{} cannot be made: {error}", folder.display()))?;
        bundle.write("run.py", RUNNER.as_bytes())?;
        Ok(bundle)
    }

    /// Writes the list of all cases.
    ///
    /// # Errors
    /// Why it is not written.
    pub fn finish(&self, cases: &[Value]) -> Result<(), String> {
        let manifest = json!({
            "format": 2, "volta": env!("CARGO_PKG_VERSION"), "arch": self.arch, "cases": cases,
        });
        self.write("manifest.json", manifest.to_string().as_bytes())
    }

    /// Writes a case: on `seeds` random inputs, and on those of its counterexample. Gives its entry in the list.
    ///
    /// # Errors
    /// Why it cannot be run.
    pub fn case(
        &self,
        number: usize,
        name: &str,
        core: &CoreCase,
        verdict: &Verdict,
        seeds: u64,
    ) -> Result<Value, String> {
        if let Some(param) = core.params.iter().find(|param| param.is_set()) {
            let name = &param.name;
            return Err(format!(
                "`{name}` is compared as a multiset, which the runner for hardware does not do"
            ));
        }
        // Hardware runs all CTAs, whichever of them the verdict is about.
        let mut whole = core.clone();
        for side in whole.reference.iter_mut().chain([&mut whole.opt]) {
            side.steps.iter_mut().filter_map(Step::launch_mut).for_each(|launch| launch.launch.ctas = None);
        }
        let core = &whole;
        let mut sides = match &core.reference {
            Some(_) => Vec::from(ready(core)?),
            None => vec![alone(core)?],
        };
        for side in &mut sides {
            side.budget = MOST_INSTRUCTIONS;
        }
        let mut all: Vec<(String, Inputs)> = Vec::new();
        for seed in 1..=seeds {
            let mut random = Random::new(seed);
            let signs = if seed % 2 == 1 { Signs::Mixed } else { Signs::Positive };
            let drawn = core.params.iter().map(|param| Values::new(param, Some((random.bits(), signs))));
            let drawn = drawn.map(|values| values.map(Rc::new)).collect::<Result<_, _>>()?;
            all.push((format!("seed {seed}"), drawn));
        }
        let mut witness = Value::Null;
        if let Verdict::Different(difference) = verdict {
            all.push(("witness".into(), witness_inputs(core, difference)?));
            witness = named(core, difference);
        }
        let mut blobs = Blobs::default();
        let mut runs = Vec::new();
        // What the interpreter could not run before is not tried again: that may have taken long.
        let mut failed = [None, None];
        let first = 2 - sides.len();
        for (what, inputs) in &all {
            let mut kernels = 0;
            let mut held = Vec::new();
            for (at, ready) in sides.iter().enumerate() {
                let side = SideOnGpu::new(core, (first + at, ready), inputs)?;
                held.push(side_run(&side, kernels, &mut failed[first + at], &mut blobs)?);
                kernels += ready.launches().count();
            }
            runs.push(json!({ "what": what, "sides": held }));
        }
        let file = format!("{number}.bin");
        self.write(&file, &blobs.bytes)?;
        let launches = sides.iter().flat_map(Ready::launches);
        let kernels: Vec<Value> = launches.map(|launch| self.kernel(launch)).collect::<Result<_, _>>()?;
        Ok(json!({
            "name": name, "verdict": verdict.name(), "data": file, "kernels": kernels, "runs": runs,
            "witness": witness, "rounding": kernels_round(core),
        }))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.folder.join(name);
        fs::write(&path, bytes).map_err(|error| format!("{} cannot be written: {error}", path.display()))
    }

    /// A kernel: its code, and how it is launched.
    fn kernel(&self, launch: &ReadyLaunch<'_>) -> Result<Value, String> {
        let (program, ptx) = (&launch.program, &launch.kernel.ptx);
        let code = self.image(ptx, target(ptx))?;
        let held = &launch.kernel.launch;
        let parameters: Vec<[u64; 2]> =
            program.parameters.iter().map(|param| [param.offset, param.bytes]).collect();
        Ok(json!({
            "code": code, "entry": program.functions[program.entry].name, "grid": held.grid, "block": held.block,
            "cluster": held.cluster, "cooperative": held.cooperative, "programmatic": held.programmatic,
            "shared": held.shared, "parameters": parameters,
        }))
    }

    /// The files of a module: its PTX, and what `ptxas` makes of it.
    fn image(&self, ptx: &str, target: &str) -> Result<Value, String> {
        let key = sha256(ptx.as_bytes());
        let mut images = self.images.lock().map_err(|_| "another thread panicked")?;
        if let Some(known) = images.get(&key) {
            return Ok(known.clone());
        }
        let name = image_name(ptx);
        self.write(&name, ptx.as_bytes())?;
        let mut cubin = None;
        let arch = compiled_for(&self.arch, target);
        if let (Some(ptxas), Some(arch)) = (&self.ptxas, &arch) {
            let to = format!("{}.cubin", &key[..16]);
            let mut command = Command::new(ptxas);
            command.arg(format!("-arch={arch}")).arg(self.folder.join(&name));
            let ran = command.arg("-o").arg(self.folder.join(&to)).output();
            let ran = ran.map_err(|error| format!("cannot run {}: {error}", ptxas.display()))?;
            if !ran.status.success() {
                return Err(format!("ptxas refuses {name}: {}", String::from_utf8_lossy(&ran.stderr)));
            }
            cubin = Some(to);
        }
        let image = json!({ "ptx": name, "cubin": cubin, "target": target, "fits": arch.is_some() });
        images.insert(key, image.clone());
        Ok(image)
    }
}

/// The name of the file with some PTX.
fn image_name(ptx: &str) -> String {
    format!("{}.ptx", &sha256(ptx.as_bytes())[..16])
}

/// The architecture to compile for, if a GPU can run the code: an `a` binds it to one architecture, an `f` to a family
/// whose other members are not looked for.
fn compiled_for(arch: &str, target: &str) -> Option<String> {
    let number = |name: &str| -> Option<u32> {
        name.strip_prefix("sm_")?.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().ok()
    };
    let (own, wanted) = (number(arch)?, number(target)?);
    if target.ends_with(|c: char| c.is_ascii_lowercase()) {
        return (own == wanted).then(|| target.to_owned());
    }
    (wanted <= own).then(|| format!("sm_{own}"))
}

/// Bytes of memory, each text once.
#[derive(Default)]
struct Blobs {
    bytes: Vec<u8>,
    known: HashMap<Vec<u8>, usize>,
}

impl Blobs {
    /// The place of some bytes: their offset and length.
    fn place(&mut self, held: Vec<u8>) -> Value {
        let length = held.len();
        let at = *self.known.entry(held).or_insert_with_key(|held| {
            let at = self.bytes.len();
            self.bytes.extend_from_slice(held);
            at
        });
        json!([at, length])
    }
}

/// A side: memory before and after it, and its steps; `kernels` is the number of its first launch. `failed` is why the
/// interpreter runs it no more.
fn side_run(
    side: &SideOnGpu<'_>,
    kernels: usize,
    failed: &mut Option<String>,
    blobs: &mut Blobs,
) -> Result<Value, String> {
    let areas = side.areas();
    let ran = failed.clone().map_or_else(|| side.ready.run(side.inputs, 1), Err);
    *failed = ran.as_ref().err().cloned();
    let mut steps = Vec::new();
    for step in side.steps() {
        match step {
            StepOnGpu::Launch(number, _) => {
                let parameters = &side.parameters[number];
                let bytes = blobs.place(parameters.bytes.clone());
                let addresses = addresses(side, parameters, &areas);
                steps
                    .push(json!({ "kernel": kernels + number, "parameters": bytes, "addresses": addresses }));
            }
            StepOnGpu::Fill(param, bits) => {
                let bits = little_endian(&[bits], side.element(param));
                steps.push(json!({ "fill": param, "with": blobs.place(bits) }));
            }
            StepOnGpu::Copy { from, to } => steps.push(json!({ "copy": from, "to": to })),
            StepOnGpu::Graph(number) => {
                let ran = ran.as_ref().map_err(|why| format!("a step is a graph, and {why}"))?;
                for (param, bits) in ran.graphs.get(number).into_iter().flatten() {
                    let bits = little_endian(bits, side.element(*param));
                    steps.push(json!({ "fill": param, "with": blobs.place(bits) }));
                }
            }
        }
    }
    let mut held = Vec::new();
    for area in &areas {
        held.push(area_of(side, *area, ran.as_ref().ok(), blobs)?);
    }
    Ok(json!({ "steps": steps, "areas": held, "interpreter": ran.err() }))
}

/// Elements in memory, one after the other.
fn little_endian(bits: &[u64], element: Element) -> Vec<u8> {
    bits.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(element.bytes() as usize)).collect()
}

/// What the parameters of a launch hold of the addresses of areas.
fn addresses(side: &SideOnGpu<'_>, parameters: &Parameters, areas: &[usize]) -> Vec<Value> {
    let at = |param: usize| areas.iter().position(|area| *area == param);
    let address = |(offset, address): &(usize, Pointee)| match address {
        Pointee::Tensor(param, byte) => json!({ "at": offset, "area": at(*param), "byte": byte }),
        Pointee::Map(param, map) => {
            let strides: Vec<u64> = map.dimensions.iter().skip(1).map(|held| held.stride).collect();
            let extents: Vec<u64> = map.dimensions.iter().map(|held| held.extent).collect();
            let tile: Vec<u64> = map.dimensions.iter().map(|held| held.tile).collect();
            json!({
                "at": offset, "area": at(*param), "type": data_type(side.element(*param)),
                "swizzle": swizzle(map), "extents": extents, "strides": strides, "box": tile,
            })
        }
    };
    parameters.addresses.iter().map(address).collect()
}

/// An area of memory, and the elements in it.
fn area_of(side: &SideOnGpu<'_>, area: usize, ran: Option<&Ran>, blobs: &mut Blobs) -> Result<Value, String> {
    let params = &side.core.params;
    let contents = side.contents(area)?;
    let size = usize::try_from(contents.bytes).map_err(|_| "a tensor is too large")?;
    let undefined = contents.filler != 0 && contents.elements.is_empty();
    let mut before = vec![contents.filler; size];
    let put = |bytes: &mut [u8], at: u64, size: u32, bits: u64| {
        bytes[at as usize..][..size as usize].copy_from_slice(&bits.to_le_bytes()[..size as usize]);
    };
    for (at, size, bits) in contents.elements {
        put(&mut before, at, size, bits);
    }
    let (mut after, mut written) = (before.clone(), vec![0; size]);
    let mut fields = Vec::new();
    for param in Param::called(params, params[area].argument()) {
        let (held, kind) = (&params[param], side.element(param));
        let output = ran.and_then(|ran| ran.outputs.iter().find(|output| output.param == param));
        if let Some(output) = output {
            for number in output.written() {
                let at = byte_of(held, kind, number);
                put(&mut after, at, kind.bytes(), output.bits(number));
                written[at as usize..][..kind.bytes() as usize].fill(1);
            }
        }
        let place = place_of(held, kind);
        let role = match &held.kind {
            ParamKind::Tensor { role, .. } => Some(*role),
            ParamKind::Scalar { .. } => None,
        };
        fields.push(json!({
            "param": param, "name": held.name, "type": kind.name(), "bytes": kind.bytes(),
            "signed": matches!(kind, Element::Int { signed: true, .. }),
            "elements": values::count(held), "offset": place.offset, "count": place.count, "stride": place.stride,
            "output": matches!(role, Some(Role::Out | Role::InOut)),
            "written": !matches!(role, Some(Role::In) | None),
        }));
    }
    let variables = side.variables(area);
    let variables: Vec<Value> = variables
        .iter()
        .map(|(launch, name, offset)| json!([image_name(&launch.kernel.ptx), name, offset]))
        .collect();
    let ran = ran.map(|_| json!({ "after": blobs.place(after), "written": blobs.place(written) }));
    Ok(json!({
        "name": params[area].argument(), "undefined": undefined, "variables": variables, "before": blobs.place(before),
        "interpreter": ran, "fields": fields,
    }))
}

/// The element that a counterexample names.
fn named(core: &CoreCase, difference: &Difference) -> Value {
    let how = match &difference.how {
        How::Values(_) => "values",
        How::Unwritten { by: Which::Reference } => "optimized-writes",
        How::Unwritten { by: Which::Opt } => "reference-writes",
        How::NobodyWrites => "nobody-writes",
    };
    let param = core.params.iter().position(|param| param.name == difference.tensor);
    json!({ "param": param, "tensor": difference.tensor, "element": difference.element, "how": how })
}

/// How far apart, relative to the largest number of an output, results may be that only round differently: some units
/// of the narrowest format that a kernel computes in. This is no bound, but a threshold for a report.
fn kernels_round(core: &CoreCase) -> f64 {
    let sides = || core.reference.iter().chain([&core.opt]);
    let texts = || sides().flat_map(Side::launches).map(|(_, launch)| launch.ptx.as_str());
    let has = |word: &str| texts().any(|text| text.contains(word));
    let steps = [
        (".f64", -45),
        (".f32", -18),
        (".tf32", -9),
        (".f16", -9),
        ("tanh.approx", -9),
        (".bf16", -6),
        ("e4m3", -2),
        ("e5m2", -2),
    ];
    let widest = steps.iter().filter(|(word, _)| has(word)).map(|(_, exponent)| *exponent).max();
    widest.map_or(0.0, |exponent| 2f64.powi(exponent))
}

#[cfg(test)]
mod tests {
    use super::compiled_for;

    #[test]
    fn code_is_compiled_for_a_gpu_that_can_run_it() {
        let of = |arch, target| compiled_for(arch, target);
        assert_eq!(of("sm_90", "sm_80").as_deref(), Some("sm_90"));
        assert_eq!(of("sm_90", "sm_90a").as_deref(), Some("sm_90a"));
        assert_eq!(of("sm_90", "sm_100a"), None);
        assert_eq!(of("sm_100", "sm_90a"), None);
        assert_eq!(of("sm_80", "sm_90"), None);
        assert_eq!(of("sm_120", "sm_90").as_deref(), Some("sm_120"));
    }
}
