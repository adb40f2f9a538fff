//! `cargo volta new`: writes a case for two kernels, with guesses from their code.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use clap::Args;
use volta_core::case::{self, Element, Role, ScalarValue};
use volta_core::inspect::{InspectedParameter, KnownContents, ValueKind};
use volta_core::number::format::Format;

use super::inspect::{Compiled, Look, extent, looked_at, reason};
use super::{Exit, complain};
use crate::beside::slashed;
use crate::files;
use crate::manifest::FILE_NAME;
use crate::nvcc::Target;
use crate::prepare::shown;
use crate::render;

/// Arguments of `cargo volta new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Guesses are marked in the file: roles, types and extents of tensors, values of numbers, blocks and grids. Check each \
one, and remove the mark.

Examples:
  cargo volta new softmax.cu::softmax_naive softmax.cu::softmax_online
  cargo volta new softmax.cu::softmax_online --output cases/online

Exit codes: 0 written, 2 not.")]
pub(super) struct NewArgs {
    /// The kernels, as FILE::KERNEL: the reference and the optimized one, or one kernel alone
    #[arg(required = true, num_args = 1..=2, value_name = "FILE::KERNEL")]
    kernels: Vec<String>,
    /// The folder of the case [default: one with the name of the last kernel, beside its file]
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    compiled: Compiled,
}

pub(super) fn new(arguments: &NewArgs, out: &mut impl Write) -> io::Result<Exit> {
    match written(arguments) {
        Ok(path) => {
            let folder = path.parent().unwrap_or(Path::new("."));
            let folder = slashed(&shown(folder));
            writeln!(out, "written    {}", render::clean_line(&slashed(&shown(&path))))?;
            writeln!(
                out,
                "next       check its guesses, then run `cargo volta check {}`",
                render::clean_line(&folder)
            )?;
            Ok(Exit::Good)
        }
        Err(message) => {
            complain(&message);
            Ok(Exit::CouldNotRun)
        }
    }
}

fn written(arguments: &NewArgs) -> Result<PathBuf, String> {
    let looks = arguments.kernels.iter().map(|kernel| only(kernel, &arguments.compiled));
    let mut looks = looks.collect::<Result<Vec<Look>, String>>()?;
    // Both kernels share the parameters: the largest integer that one of them needs is used for both.
    let most = looks.iter().map(|look| look.guess.integer).max().unwrap_or(1);
    for look in looks.iter_mut().filter(|look| look.guess.integer != most) {
        look.guess_with(most)?;
    }
    let last = looks.last().ok_or("no kernel was given")?;
    let absolute =
        |path: &Path| std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()));
    let folder = match &arguments.output {
        Some(folder) => absolute(folder)?,
        None => absolute(&last.file)?.with_file_name(folder_name(&last.kernel.source_name)),
    };
    let path = folder.join(FILE_NAME);
    if path.exists() {
        let shown = slashed(&shown(&path));
        return Err(format!("{shown} already exists\nhelp: `--output FOLDER` writes to another folder"));
    }
    let target = Target { arch: arguments.compiled.arch.clone(), flags: arguments.compiled.flags.clone() };
    let sources = looks.iter().map(|look| Ok(source(&folder, &absolute(&look.file)?, look)));
    let text = manifest(&looks, &sources.collect::<Result<Vec<_>, String>>()?, &target)?;
    let failed = |error: io::Error| format!("{} cannot be written: {error}", path.display());
    std::fs::create_dir_all(&folder).map_err(failed)?;
    files::write(&path, text.as_bytes()).map_err(failed)?;
    Ok(path)
}

/// The only kernel of a file, or the one that is named.
fn only(kernel: &str, compiled: &Compiled) -> Result<Look, String> {
    let mut looks = looked_at(kernel, compiled)?;
    match (looks.pop(), looks.as_slice()) {
        (Some(look), []) => Ok(look),
        (last, rest) => {
            let names =
                rest.iter().chain(&last).map(|look| format!("`{kernel}::{}`", look.kernel.source_name));
            Err(format!(
                "{kernel} has several kernels\nhelp: name one: {}",
                names.collect::<Vec<_>>().join(", ")
            ))
        }
    }
}

/// The name of the folder for a kernel.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { ' ' };
    let words: String = name.chars().map(plain).collect();
    words.split_whitespace().collect::<Vec<_>>().join("_")
}

/// The source of a kernel relative to a folder: `../softmax.cu::online`.
fn source(folder: &Path, file: &Path, look: &Look) -> String {
    let (mut up, mut shared) = (folder.components().peekable(), file.components().peekable());
    while let (Some(one), Some(other)) = (up.peek(), shared.peek()) {
        if one != other {
            break;
        }
        up.next();
        shared.next();
    }
    let path: PathBuf = up.map(|_| Component::ParentDir).chain(shared).collect();
    format!("{}::{}", slashed(&path), look.kernel.source_name)
}

/// A parameter of the case, and its kind on each side.
struct Entry {
    name: String,
    kinds: Vec<ValueKind>,
    extent: Option<u64>,
    integer: u32,
    known: KnownContents,
    /// The number of dimensions of its tensor map, if it has one.
    rank: Option<usize>,
}

/// A tensor map of the case.
struct Map {
    name: String,
    of: String,
    rank: usize,
}

/// The parameters, tensor maps and arguments of a case.
struct Contents {
    entries: Vec<Entry>,
    maps: Vec<Map>,
    arguments: Vec<Arguments>,
}

fn manifest(looks: &[Look], sources: &[String], target: &Target) -> Result<String, String> {
    let Contents { entries, maps, arguments } = contents(looks);
    let names: Vec<&str> = looks.iter().map(|look| look.kernel.source_name.as_str()).collect();
    let about = names.iter().rev().copied().collect::<Vec<_>>().join(" against ");
    let mut text = format!(
        "# Written by `cargo volta new`. Guesses are marked: check each one, and remove the mark.\ndescription = \
         {}\n\n[params]\n",
        quoted(&about)
    );
    for entry in &entries {
        let _ = writeln!(text, "{}", line(entry));
    }
    if !maps.is_empty() {
        text += "\n[tensor_maps]\n";
    }
    for Map { name, of, rank } in &maps {
        let (elements, swizzle) =
            (bracketed(*rank, 1, BOX), if *rank > 1 { ", swizzle = \"128B\"" } else { "" });
        let _ = writeln!(
            text,
            "{name} = {{ of = {}, box = {elements}{swizzle} }} # guess: as the host encodes it",
            quoted(of)
        );
    }
    let tables: &[&str] = if looks.len() == 2 { &["reference", "opt"] } else { &["kernel"] };
    for (at, (look, table)) in looks.iter().zip(tables).enumerate() {
        let launch = &look.guess.launch;
        let _ = writeln!(text, "\n[{table}]\nsource = {}", quoted(&sources[at]));
        if let Some(list) = &arguments[at] {
            let by = if look.declared.is_some() { "by their names in the source" } else { "in their order" };
            let _ = writeln!(text, "args = [{}] # guess: {by}", list.join(", "));
        }
        let block = extent(launch.block);
        let _ = match look.kernel.bounds.required_block {
            Some(_) => writeln!(text, "block = {block}"),
            None => writeln!(text, "block = {block} # guess"),
        };
        let asks = look.kernel.asks[1].contains(&true);
        let _ = match asks {
            true => writeln!(text, "grid = {} # guess", extent(launch.grid)),
            false => writeln!(text, "grid = 1 # the kernel does not read its block's number"),
        };
        if look.kernel.dynamic_shared {
            let _ = writeln!(text, "shared = {} # guess: bytes of its array without a size", launch.shared);
        }
        if target.arch != Target::default().arch {
            let _ = writeln!(text, "arch = {}", quoted(&target.arch));
        }
        if !target.flags.is_empty() {
            let list: Vec<String> = target.flags.iter().map(|flag| quoted(flag)).collect();
            let _ = writeln!(text, "flags = [{}]", list.join(", "));
        }
        if let Err(verdict) = &look.guess.extents {
            let why = render::clean_line(&reason(verdict));
            let _ = writeln!(text, "# With these guesses it does not run, so no extent is known: {why}");
        }
    }
    Ok(text)
}

/// The arguments of a kernel as a case writes them; `None` if they are all parameters in order.
type Arguments = Option<Vec<String>>;

/// The parameters of both kernels as one list, and the arguments of each kernel.
fn contents(looks: &[Look]) -> Contents {
    let mut entries: Vec<Entry> = Vec::new();
    let mut maps: Vec<Map> = Vec::new();
    let mut called: Vec<Vec<String>> = Vec::new();
    // Kernels with the same number of values, but other names, are assumed to take the same values in the same order.
    let by_position = looks.iter().all(|look| look.kernel.values.len() == looks[0].kernel.values.len())
        && !same_names(looks);
    for (side, look) in looks.iter().enumerate() {
        let threads: u64 = [look.guess.launch.block, look.guess.launch.grid]
            .iter()
            .flatten()
            .map(|n| u64::from(*n))
            .product();
        let mut own = Vec::new();
        for (at, kind) in look.guess.kinds.iter().enumerate() {
            if let ValueKind::Map { rank, role } = *kind {
                let name = map_name(looks, &look.name(at));
                let rank = if rank == 0 { 2 } else { rank };
                let (of, kind) = mapped(looks, side, at, role);
                match entries.iter_mut().find(|entry| entry.name == of) {
                    Some(entry) => entry.rank = Some(rank),
                    None => entries.push(Entry {
                        name: of.clone(),
                        kinds: vec![kind],
                        extent: None,
                        integer: look.guess.integer,
                        known: look.guess.known,
                        rank: Some(rank),
                    }),
                }
                if maps.iter().all(|map| map.name != name) {
                    maps.push(Map { name: name.clone(), of, rank });
                }
                own.push(name);
                continue;
            }
            let name = if by_position { looks[0].name(at) } else { look.name(at) };
            let is_tensor = matches!(kind, ValueKind::Tensor { .. });
            let reach = match &look.guess.extents {
                Ok(extents) => extents[at],
                Err(_) => is_tensor.then_some(threads),
            };
            let known = if by_position && side == 1 {
                entries.get_mut(at)
            } else {
                entries.iter_mut().find(|entry| entry.name == name)
            };
            match known {
                Some(entry) => {
                    entry.kinds.push(*kind);
                    entry.extent = entry.extent.max(reach);
                    entry.integer = entry.integer.max(look.guess.integer);
                    entry.known =
                        if entry.known == KnownContents::Nothing { look.guess.known } else { entry.known };
                }
                None => entries.push(Entry {
                    name: name.clone(),
                    kinds: vec![*kind],
                    extent: reach,
                    integer: look.guess.integer,
                    known: look.guess.known,
                    rank: None,
                }),
            }
            own.push(name);
        }
        called.push(own);
    }
    let all: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
    let arguments = looks.iter().zip(&called).map(|(look, own)| {
        let has_structs = look.kernel.parameters.iter().any(|parameter| parameter.is_struct);
        (has_structs || *own != all).then(|| arguments(look, own))
    });
    let arguments = arguments.collect();
    Contents { entries, maps, arguments }
}

/// The name of a tensor map: that in its kernel, unless another parameter has that name.
fn map_name(looks: &[Look], own: &str) -> String {
    let is_other = |look: &Look| {
        let mut kinds = look.guess.kinds.iter().enumerate();
        kinds.any(|(at, kind)| !matches!(kind, ValueKind::Map { .. }) && look.name(at) == own)
    };
    if looks.iter().any(is_other) { format!("{own}_map") } else { own.to_owned() }
}

/// The tensor that a map of a kernel may describe: among the other kernel's tensors of the same role, the one in the
/// same position; otherwise a new one.
fn mapped(looks: &[Look], side: usize, at: usize, role: Role) -> (String, ValueKind) {
    let like = |kinds: &[ValueKind]| {
        let same = kinds.iter().enumerate().filter(|(_, kind)| match kind {
            ValueKind::Tensor { role: own, .. } | ValueKind::Map { role: own, .. } => {
                (*own == Role::In) == (role == Role::In)
            }
            ValueKind::Scalar(_) => false,
        });
        same.map(|(at, _)| at).collect::<Vec<usize>>()
    };
    let number = like(&looks[side].guess.kinds).iter().position(|own| *own == at);
    let other = looks.iter().enumerate().find(|(other, _)| *other != side).map(|(_, look)| look);
    let theirs = other.zip(number).and_then(|(look, number)| {
        let at = *like(&look.guess.kinds).get(number)?;
        let kind = look.guess.kinds[at];
        matches!(kind, ValueKind::Tensor { .. }).then(|| (look.name(at), kind))
    });
    let own = ValueKind::Tensor { element: Element::Float(Format::F16), role };
    theirs.unwrap_or_else(|| (format!("{}_tensor", looks[side].name(at)), own))
}

/// The extents that are assumed for a dimension of a tensor, and of a box.
const EXTENT: u64 = 128;
const BOX: u64 = 64;

/// `[outer, …, inner, inner]`
fn bracketed(rank: usize, outer: u64, inner: u64) -> String {
    let of = |at: usize| if at + 2 < rank { outer } else { inner };
    let list: Vec<String> = (0..rank).map(|at| of(at).to_string()).collect();
    format!("[{}]", list.join(", "))
}

/// The arguments of a kernel, given the names of its values.
fn arguments(look: &Look, names: &[String]) -> Vec<String> {
    let argument = |(at, parameter): (usize, &InspectedParameter)| {
        let own = look.kernel.values.iter().zip(names).filter(|(value, _)| value.parameter == at);
        if !parameter.is_struct {
            return own.map(|(_, name)| quoted(name)).collect();
        }
        if let Some((_, map)) = own.clone().find(|(value, _)| value.is_map_alone(parameter)) {
            return quoted(map);
        }
        let (mut members, mut end) = (Vec::new(), 0);
        for (value, name) in own {
            members.extend((value.offset > end).then(|| format!("{{ offset = {} }}", value.offset)));
            members.push(quoted(name));
            end = value.offset + value.size;
        }
        members.extend((end < parameter.size).then(|| format!("{{ offset = {} }}", parameter.size)));
        format!("[{}]", members.join(", "))
    };
    look.kernel.parameters.iter().enumerate().map(argument).collect()
}

/// Whether both kernels have parameters of the same names, in any order.
fn same_names(looks: &[Look]) -> bool {
    let names = |look: &Look| {
        let mut names: Vec<String> = (0..look.kernel.values.len()).map(|at| look.name(at)).collect();
        names.sort();
        names
    };
    looks.iter().all(|look| look.declared.is_some() && names(look) == names(&looks[0]))
}

fn line(entry: &Entry) -> String {
    let name = &entry.name;
    let elements: Vec<Element> = entry
        .kinds
        .iter()
        .filter_map(|kind| match kind {
            ValueKind::Tensor { element, .. } | ValueKind::Scalar(element) => Some(*element),
            ValueKind::Map { .. } => None,
        })
        .collect();
    let roles = entry
        .kinds
        .iter()
        .filter_map(|kind| if let ValueKind::Tensor { role, .. } = kind { Some(*role) } else { None });
    let role = roles.reduce(|one, other| match (one, other) {
        (one, other) if one == other => one,
        (Role::Out, Role::In) | (Role::In, Role::Out) => Role::InOut,
        (Role::In, other) => other,
        (one, _) => one,
    });
    let ty = match elements.as_slice() {
        [one, other] if one != other => format!("{{ ref = \"{}\", opt = \"{}\" }}", one.name(), other.name()),
        [one, ..] => format!("\"{}\"", one.name()),
        [] => "\"f32\"".into(),
    };
    let element = elements.first().copied();
    match (role, element) {
        (Some(role), Some(element)) => {
            let contents = match entry.known.contents(element, role) {
                case::Contents::Fill(_) => ", contents = { fill = 1 }",
                case::Contents::Iota => ", contents = \"iota\"",
                case::Contents::Symbolic
                | case::Contents::Undefined
                | case::Contents::List(_)
                | case::Contents::LowerTriangular
                | case::Contents::Partly(..) => "",
            };
            let marks =
                if contents.is_empty() { "role, type, extent" } else { "role, type, extent, contents" };
            let role = role.name();
            let shape = match entry.rank {
                Some(rank) => bracketed(rank, 1, EXTENT),
                None => format!("[{}]", entry.extent.unwrap_or(1)),
            };
            format!(
                "{name} = {{ role = \"{role}\", type = {ty}, shape = {shape}{contents} }} # guess: {marks}"
            )
        }
        (None, Some(element)) => match entry.known.value(element, entry.integer) {
            ScalarValue::Symbolic(_) => {
                format!("{name} = {{ type = {ty}, symbolic = true }} # guess: any number")
            }
            ScalarValue::Number(value) => {
                format!("{name} = {{ type = {ty}, value = {value} }} # guess: the value")
            }
        },
        (_, None) => String::new(),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
