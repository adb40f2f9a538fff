//! `cargo volta inspect`: the parameters of kernels, with a guess of how they are launched.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::{Args, ValueEnum};
use serde::Serialize;
use volta_core::case::Element;
use volta_core::inspect::{Inspected, LaunchGuess, ValueKind, guess_launch, inspect};
use volta_core::verdict::InputError;

use super::check::json_line;
use super::{Exit, complain};
use crate::beside::slashed;
use crate::case::{Case, Home, Kernel};
use crate::declared::{Declared, declared};
use crate::files;
use crate::nvcc::Toolchain;
use crate::prepare::{MAX_PTX_BYTES, Ptx, prepare, shown};
use crate::render;

/// Arguments of `cargo volta inspect`.
#[derive(Debug, Args)]
#[command(after_help = "\
Roles and types are guessed from how a kernel uses its parameters, and extents from a run of the guessed launch.

Examples:
  cargo volta inspect fixtures/softmax/softmax.cu
  cargo volta inspect fixtures/norm/norm.cu::layer_norm_block --format json

Exit codes: 0 done, 2 a file could not be read.")]
pub(super) struct InspectArgs {
    /// A .cu or .ptx file, or FILE::KERNEL
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    #[command(flatten)]
    compiled: Compiled,
}

/// How .cu files become PTX.
#[derive(Debug, Args)]
pub(super) struct Compiled {
    /// The architecture to compile for
    #[arg(long, default_value_t = volta_case::Target::default().arch)]
    pub(super) arch: String,
    /// A flag for the compiler; may be given several times
    #[arg(long = "flag", value_name = "FLAG", allow_hyphen_values = true)]
    pub(super) flags: Vec<String>,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for each kernel
    Human,
    /// One line of JSON per kernel
    Json,
}

pub(super) fn run(arguments: &InspectArgs, out: &mut impl Write) -> io::Result<Exit> {
    let mut exit = Exit::Good;
    for file in &arguments.files {
        match looked_at(file, &arguments.compiled) {
            Ok(looks) => {
                for look in looks {
                    match arguments.format {
                        Format::Human => write!(out, "{}", table(&look))?,
                        Format::Json => json_line(&Line::of(&look), out)?,
                    }
                }
            }
            Err(message) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}

/// A kernel with everything that is known and guessed about it.
pub(super) struct Look {
    /// The file, as it would be opened from here.
    pub(super) file: PathBuf,
    pub(super) kernel: Inspected,
    pub(super) guess: LaunchGuess,
    /// The parameters as the source declares them, if it can be read and has as many.
    pub(super) declared: Option<Vec<Declared>>,
    ptx: Rc<Ptx>,
}

impl Look {
    /// The name of a parameter in the source, which PTX does not keep, or `p` with its number.
    fn parameter_name(&self, at: usize) -> String {
        let own = self.declared.as_ref().map(|list| list[at].name.clone());
        own.filter(|name| !name.is_empty()).unwrap_or_else(|| format!("p{at}"))
    }

    /// The name of a value: that of its parameter, and in a struct, also its offset in bytes.
    pub(super) fn name(&self, at: usize) -> String {
        let value = &self.kernel.values[at];
        let parameter = self.parameter_name(value.parameter);
        let own = &self.kernel.parameters[value.parameter];
        match own.is_struct && !value.is_map_alone(own) {
            true => format!("{parameter}_{}", value.offset),
            false => parameter,
        }
    }

    /// Guesses the launch again, with a value for all integers.
    pub(super) fn guess_with(&mut self, integer: u32) -> Result<(), String> {
        let guess = guess_launch(&self.ptx.path, &self.ptx.text, &self.kernel, Some(integer));
        self.guess = guess.map_err(|error| message(&error))?;
        Ok(())
    }

    /// `file::kernel`.
    pub(super) fn source(&self) -> String {
        format!("{}::{}", slashed(&shown(&self.file)), self.kernel.source_name)
    }
}

/// The kernels of `file` or `file::kernel`.
pub(super) fn looked_at(file: &str, compiled: &Compiled) -> Result<Vec<Look>, String> {
    let kernel = Kernel::new(file);
    let ptx = Rc::new(text_of(&kernel, compiled)?);
    let found = inspect(&ptx.path, &ptx.text, kernel.name.as_deref()).map_err(|error| message(&error))?;
    let source =
        kernel.source.ends_with(".cu").then(|| files::read_text(Path::new(&kernel.source), MAX_PTX_BYTES));
    let source = source.and_then(Result::ok);
    let look = |mut found: Inspected| {
        let declared = source.as_deref().and_then(|text| declared(text, &found.source_name));
        let declared = declared.filter(|list| list.len() == found.parameters.len());
        for value in &mut found.values {
            if let Some(declared) = declared.as_ref().filter(|_| !found.parameters[value.parameter].is_struct)
            {
                value.kind = as_declared(value.kind, &declared[value.parameter].ty);
            }
        }
        let guess = guess_launch(&ptx.path, &ptx.text, &found, None).map_err(|error| message(&error))?;
        Ok(Look { file: kernel.source.clone().into(), kernel: found, guess, declared, ptx: Rc::clone(&ptx) })
    };
    found.into_iter().map(look).collect()
}

/// The kind of a value that the code shows, with the element type that the source declares, if a case can have it.
fn as_declared(kind: ValueKind, ty: &str) -> ValueKind {
    let known = element_of(ty);
    match (kind, known) {
        (ValueKind::Tensor { element, role }, known) => {
            ValueKind::Tensor { element: known.unwrap_or(element), role }
        }
        (ValueKind::Scalar(element), Some(known)) if known.bytes() == element.bytes() => {
            ValueKind::Scalar(known)
        }
        (kind @ (ValueKind::Scalar(_) | ValueKind::Map { .. }), _) => kind,
    }
}

/// The element type of a C++ type such as `const float *`; for vector types that of their elements.
fn element_of(ty: &str) -> Option<Element> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = ty.split(|c| !is_part(c)).filter(|word| !word.is_empty());
    let words: Vec<&str> =
        words.filter(|word| !matches!(*word, "const" | "volatile" | "__restrict__" | "std")).collect();
    let joined = words.join(" ");
    let name = match joined.as_str() {
        "half" | "__half" | "half2" | "__half2" => "f16",
        "nv_bfloat16" | "__nv_bfloat16" | "nv_bfloat162" | "__nv_bfloat162" => "bf16",
        "float" | "float2" | "float3" | "float4" => "f32",
        "double" | "double2" | "double4" => "f64",
        "__nv_fp8_e4m3" => "e4m3",
        "__nv_fp8_e5m2" => "e5m2",
        "__nv_fp8_e8m0" => "ue8m0",
        "bool" => "bool",
        "char" | "signed char" | "int8_t" | "char4" => "i8",
        "unsigned char" | "uint8_t" | "uchar4" => "u8",
        "short" | "int16_t" => "i16",
        "unsigned short" | "uint16_t" => "u16",
        "int" | "int32_t" | "int2" | "int4" => "i32",
        "unsigned" | "unsigned int" | "uint32_t" | "uint" | "uint2" | "uint4" => "u32",
        "long" | "long long" | "int64_t" => "i64",
        "unsigned long" | "unsigned long long" | "uint64_t" | "size_t" => "u64",
        _ => return None,
    };
    Element::parse(name)
}

fn message(error: &InputError) -> String {
    let place = error.place.as_ref().map_or(String::new(), |place| format!("PTX line {}: ", place.line));
    let help = error.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    format!("{place}{}{help}", error.message)
}

/// The PTX of a file, made by the compiler or checked in, as for a case beside it.
fn text_of(kernel: &Kernel, compiled: &Compiled) -> Result<Ptx, String> {
    let path = Path::new(&kernel.source);
    if !path.is_file() {
        return Err(format!("there is no file {}", path.display()));
    }
    let absolute = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let dir = absolute.parent().unwrap_or(Path::new("/")).to_owned();
    let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut own = Kernel::new(&name);
    if name.ends_with(".cu") {
        own.target.arch.clone_from(&compiled.arch);
        own.target.flags.clone_from(&compiled.flags);
    }
    let root = dir.parent().unwrap_or(&dir).to_owned();
    let case = Case {
        name: name.clone(),
        home: Home { file: absolute.clone(), dir, root, ..Home::default() },
        description: None,
        about: volta_case::About::default(),
        params: Vec::new(),
        reference: None,
        opt: own.clone().into(),
        expect: volta_case::Expectation::default(),
        options: volta_case::Options::default(),
        recheck: 0,
        contains: Vec::new(),
        guesses: Vec::new(),
        data: Vec::new(),
        shard: None,
        every: None,
    };
    let toolchain = if compiled.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let offer = prepare(&case, &own, &toolchain).map_err(|obstacle| obstacle.to_string())?;
    Ok(offer.ptx)
}

/// The kind of a value in words.
fn words(kind: ValueKind) -> [String; 2] {
    match kind {
        ValueKind::Tensor { element, role } => [role.name().into(), element.name().into()],
        ValueKind::Scalar(element) => ["number".into(), element.name().into()],
        ValueKind::Map { rank: 0, .. } => ["tensor map".into(), String::new()],
        ValueKind::Map { rank, role } => {
            ["tensor map".into(), format!("{}, boxes of {rank} dimensions", role.name())]
        }
    }
}

/// `[2, 1, 1]` as a case writes it: `2`.
pub(super) fn extent([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("[{x}, {y}]"),
        _ => format!("[{x}, {y}, {z}]"),
    }
}

/// The row of a parameter, or of a value that a kernel loads from a struct.
struct Row<'l> {
    name: String,
    declared: Option<&'l str>,
    role: String,
    element: String,
    bytes: u64,
    extent: Option<u64>,
}

fn rows(look: &Look) -> Vec<Row<'_>> {
    let Look { kernel, guess, declared, .. } = look;
    let mut rows = Vec::new();
    for (at, parameter) in kernel.parameters.iter().enumerate() {
        let declared = declared.as_ref().map(|list| list[at].ty.as_str());
        let own: Vec<usize> =
            (0..kernel.values.len()).filter(|v| kernel.values[*v].parameter == at).collect();
        let is_struct =
            parameter.is_struct && own.iter().all(|own| !kernel.values[*own].is_map_alone(parameter));
        if is_struct {
            let (name, bytes) = (look.parameter_name(at), parameter.size);
            let element = format!("{bytes} bytes");
            rows.push(Row { name, declared, role: "struct".into(), element, bytes, extent: None });
        }
        rows.extend(own.into_iter().map(|own| {
            let [role, element] = words(guess.kinds[own]);
            Row {
                name: look.name(own),
                declared: declared.filter(|_| !is_struct),
                role,
                element,
                bytes: kernel.values[own].size,
                extent: guess.extents.as_ref().ok().and_then(|extents| extents[own]),
            }
        }));
    }
    rows
}

fn table(look: &Look) -> String {
    let Look { kernel, guess, .. } = look;
    let mut text = format!("{}\n", render::clean_line(&look.source()));
    if kernel.name != kernel.source_name {
        let _ = writeln!(text, "  {:<12} {}", "in PTX", render::clean_line(&kernel.name));
    }
    let rows = rows(look);
    let width = rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    for (at, row) in rows.iter().enumerate() {
        let reach = row.extent.map_or(String::new(), |count| format!(", {count} elements"));
        let own = row.declared.map_or(String::new(), |own| format!("   {own}"));
        let _ = writeln!(
            text,
            "  {:<12} {:<width$}  {}{}{}{reach}{}",
            if at == 0 { "parameters" } else { "" },
            render::clean_line(&row.name),
            row.role,
            if row.element.is_empty() { "" } else { ", " },
            row.element,
            render::clean_line(&own)
        );
    }
    let bounds = kernel.bounds.required_block.map(|block| format!(", as it requires: {}", extent(block)));
    let bounds = bounds.or(kernel
        .bounds
        .max_block
        .map(|block| format!(", of at most {} threads", block.iter().product::<u32>())));
    let _ = writeln!(
        text,
        "  {:<12} block {}, grid {}{}",
        "launch guess",
        extent(guess.launch.block),
        extent(guess.launch.grid),
        bounds.unwrap_or_default()
    );
    let dynamic = if kernel.dynamic_shared { ", and as given at the launch" } else { "" };
    let _ = writeln!(text, "  {:<12} {} bytes{dynamic}", "shared", kernel.shared);
    if let Err(verdict) = &guess.extents {
        let _ = writeln!(text, "  {:<12} {}", "not run", render::clean_line(&reason(verdict)));
    }
    for (place, reason) in &kernel.unsupported {
        let _ = writeln!(text, "  {:<12} {}", "unsupported", render::clean_line(&unsupported(place, reason)));
    }
    text
}

fn unsupported(place: &volta_core::verdict::Place, reason: &str) -> String {
    match &place.cuda {
        Some(cuda) => format!("line {}: {reason}", cuda.line),
        None => format!("PTX line {}: {reason}", place.line),
    }
}

/// Why a guessed launch gave no extents, in a line.
pub(super) fn reason(verdict: &volta_core::verdict::Verdict) -> String {
    use volta_core::verdict::Verdict;
    match verdict {
        Verdict::Fault(fault) => format!("{}: {}", fault.kind.name(), fault.message),
        Verdict::InputError(error) => error.message.clone(),
        Verdict::Unknown(unknown) => unknown.reason.clone(),
        Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Clean
        | Verdict::Different(_) => verdict.name(),
    }
}

/// A kernel as JSON.
#[derive(Debug, Serialize)]
struct Line {
    /// The version of the format.
    version: u32,
    file: String,
    /// Its name in the source.
    name: String,
    /// Its name in PTX.
    ptx_name: String,
    parameters: Vec<ParameterLine>,
    /// A guess, unless it is required.
    block: [u32; 3],
    /// A guess.
    grid: [u32; 3],
    required_block: Option<[u32; 3]>,
    max_threads: Option<u32>,
    /// Static shared memory, in bytes.
    shared: u64,
    dynamic_shared: bool,
    /// Why the guessed launch could not be run.
    not_run: Option<String>,
    unsupported: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ParameterLine {
    name: String,
    /// Its declaration in the source.
    declared: Option<String>,
    /// `in`, `out`, `inout`, `number`, `tensor map`, or `struct`, which is followed by the values that the kernel loads
    /// from it: a guess.
    role: String,
    /// A guess.
    element: Option<String>,
    bytes: u64,
    /// The number of elements that the guessed launch uses.
    extent: Option<u64>,
}

impl Line {
    fn of(look: &Look) -> Line {
        let Look { kernel, guess, .. } = look;
        let parameters = rows(look).into_iter().map(|row| ParameterLine {
            name: row.name,
            declared: row.declared.map(str::to_owned),
            role: row.role,
            element: (!row.element.is_empty()).then_some(row.element),
            bytes: row.bytes,
            extent: row.extent,
        });
        Line {
            version: 1,
            file: slashed(&shown(&look.file)),
            name: kernel.source_name.clone(),
            ptx_name: kernel.name.clone(),
            parameters: parameters.collect(),
            block: guess.launch.block,
            grid: guess.launch.grid,
            required_block: kernel.bounds.required_block,
            max_threads: kernel.bounds.max_block.map(|block| block.iter().product()),
            shared: kernel.shared,
            dynamic_shared: kernel.dynamic_shared,
            not_run: guess.extents.as_ref().err().map(|verdict| reason(verdict)),
            unsupported: kernel
                .unsupported
                .iter()
                .map(|(place, reason)| unsupported(place, reason))
                .collect(),
        }
    }
}
