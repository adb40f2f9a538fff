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
    // Both kernels share the parameters: the largest integer that one of them needs is used for both, but that of a kernel
    // with tensor maps fits their boxes.
    let has_map = |look: &&Look| look.guess.kinds.iter().any(|kind| matches!(kind, ValueKind::Map { .. }));
    let of_maps = looks.iter().find(has_map).map(|look| look.guess.integer);
    let most = of_maps.or(looks.iter().map(|look| look.guess.integer).max()).unwrap_or(1);
    let known = known_types(&looks);
    for (at, look) in looks.iter_mut().enumerate() {
        let is_new = at > 0 && !known.is_empty();
        for (at, kind) in known.iter().filter(|_| is_new) {
            (look.kernel.values[*at].kind, look.kernel.values[*at].is_unsure) = (*kind, false);
        }
        if is_new || look.guess.integer != most {
            look.guess_with(most)?;
        }
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

/// The kinds of the second kernel's tensors whose element types its code does not show: those of the reference.
fn known_types(looks: &[Look]) -> Vec<(usize, ValueKind)> {
    let [reference, look] = looks else { return Vec::new() };
    let known = |at: usize| {
        let theirs = paired(looks, 1, at).filter(|_| look.kernel.values[at].is_unsure)?;
        match (reference.guess.kinds[theirs], look.kernel.values[at].kind) {
            (ValueKind::Tensor { element, .. }, ValueKind::Tensor { role, .. }) => {
                Some((at, ValueKind::Tensor { element, role }))
            }
            (ValueKind::Tensor { .. } | ValueKind::Scalar(_) | ValueKind::Map { .. }, _) => None,
        }
    };
    (0..look.kernel.values.len()).filter_map(known).collect()
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
    /// The two inner extents of its boxes.
    inner: [u64; 2],
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
    for Map { name, of, rank, inner } in &maps {
        let (elements, swizzle) =
            (bracketed(*rank, *inner), if *rank > 1 { ", swizzle = \"128B\"" } else { "" });
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
    let mut called: Vec<Vec<Option<String>>> = Vec::new();
    for (side, look) in looks.iter().enumerate() {
        let threads: u64 = [look.guess.launch.block, look.guess.launch.grid]
            .iter()
            .flatten()
            .map(|n| u64::from(*n))
            .product();
        let names = names(looks, side);
        let mut own = Vec::new();
        for (at, kind) in look.guess.kinds.iter().enumerate() {
            let mut rank_of = None;
            let (name, kind) = match *kind {
                ValueKind::Map { rank, role } => {
                    let rank = if rank == 0 { 2 } else { rank };
                    let (of, kind) = mapped(looks, side, at, role);
                    let name = map_name(looks, &look.name(at));
                    if maps.iter().all(|map| map.name != name) {
                        let inner = look.guess.boxes[at];
                        maps.push(Map { name: name.clone(), of: of.clone(), rank, inner });
                    }
                    own.push(Some(name));
                    rank_of = Some(rank);
                    (of, kind)
                }
                ValueKind::Tensor { .. } | ValueKind::Scalar(_) => {
                    own.push(names[at].clone());
                    let Some(name) = names[at].clone() else { continue };
                    (name, *kind)
                }
            };
            let is_tensor = matches!(kind, ValueKind::Tensor { .. }) && rank_of.is_none();
            let reach = match &look.guess.extents {
                Ok(extents) => extents[at],
                Err(_) => is_tensor.then_some(threads),
            };
            match entries.iter_mut().find(|entry| entry.name == name) {
                Some(entry) => {
                    entry.kinds.push(kind);
                    entry.extent = entry.extent.max(reach);
                    entry.integer = entry.integer.max(look.guess.integer);
                    entry.rank = entry.rank.or(rank_of);
                    entry.known =
                        if entry.known == KnownContents::Nothing { look.guess.known } else { entry.known };
                }
                None => entries.push(Entry {
                    name,
                    kinds: vec![kind],
                    extent: reach,
                    integer: look.guess.integer,
                    known: look.guess.known,
                    rank: rank_of,
                }),
            }
        }
        called.push(own);
    }
    let all: Vec<Option<String>> = entries.iter().map(|entry| Some(entry.name.clone())).collect();
    let arguments = looks.iter().zip(&called).map(|(look, own)| {
        let has_structs = look.kernel.parameters.iter().any(|parameter| parameter.is_struct);
        (has_structs || *own != all).then(|| arguments(look, own))
    });
    let arguments = arguments.collect();
    Contents { entries, maps, arguments }
}

/// The names of a kernel's values in the case: those of the values of the reference that they are assumed to be, or
/// their own. A value that the kernel does not use has none: it is 0.
fn names(looks: &[Look], side: usize) -> Vec<Option<String>> {
    let look = &looks[side];
    let (values, kinds) = (&look.kernel.values, &look.guess.kinds);
    let name = |at: usize| {
        let theirs = (side > 0).then(|| paired(looks, side, at)).flatten();
        Some(theirs.map_or_else(|| own_name(looks, side, at), |theirs| looks[0].name(theirs)))
    };
    let is_free = |at: usize| !values[at].is_used && matches!(kinds[at], ValueKind::Scalar(_));
    (0..kinds.len()).map(|at| if is_free(at) { None } else { name(at) }).collect()
}

/// The name of a value in its kernel, unless the reference has another value of that name.
fn own_name(looks: &[Look], side: usize, at: usize) -> String {
    let name = looks[side].name(at);
    let is_other = side > 0
        && looks.iter().any(|look| look.declared.is_none())
        && (0..looks[0].kernel.values.len()).any(|theirs| looks[0].name(theirs) == name);
    if is_other { format!("opt_{name}") } else { name }
}

/// The values that a kernel uses.
fn used(look: &Look) -> Vec<usize> {
    (0..look.kernel.values.len()).filter(|at| look.kernel.values[*at].is_used).collect()
}

/// The value of the reference that a value of another kernel is assumed to be.
///
/// Names decide, if both kernels have the same. Otherwise kernels that use as many values take them in the same order.
/// Otherwise the first tensors that are inputs are the same, and so on: Triton and other compilers make constants of
/// numbers, and add parameters of their own.
fn paired(looks: &[Look], side: usize, at: usize) -> Option<usize> {
    let [theirs, own] = [used(&looks[0]), used(&looks[side])];
    let by_name = || theirs.iter().copied().find(|theirs| looks[0].name(*theirs) == looks[side].name(at));
    let sort = |look: &Look, at: usize| match look.guess.kinds[at] {
        ValueKind::Tensor { role, .. } | ValueKind::Map { role, .. } if role == Role::In => (0, 0),
        ValueKind::Tensor { .. } | ValueKind::Map { .. } => (1, 0),
        ValueKind::Scalar(Element::Float(_)) => (2, 0),
        ValueKind::Scalar(element @ (Element::Int { .. } | Element::Bool)) => (3, element.bytes()),
    };
    let is_map = |theirs: &usize| matches!(looks[0].guess.kinds[*theirs], ValueKind::Map { .. });
    let has_maps = theirs.iter().any(is_map);
    if same_names(looks) {
        return by_name();
    }
    if theirs.len() == own.len() && !has_maps {
        return own.iter().position(|own| *own == at).map(|number| theirs[number]);
    }
    if looks.iter().all(|look| look.declared.is_some()) {
        return by_name();
    }
    let like = own.iter().filter(|other| sort(&looks[side], **other) == sort(&looks[side], at));
    let number = like.copied().position(|own| own == at)?;
    let mut like = theirs.into_iter().filter(|theirs| sort(&looks[0], *theirs) == sort(&looks[side], at));
    like.nth(number).filter(|theirs| !is_map(theirs))
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
        let other = usize::from(side == 0);
        matches!(kind, ValueKind::Tensor { .. }).then(|| (own_name(looks, other, at), kind))
    });
    let own = ValueKind::Tensor { element: Element::Float(Format::F16), role };
    theirs.unwrap_or_else(|| (format!("{}_tensor", own_name(looks, side, at)), own))
}

/// `[1, …, rows, columns]`
fn bracketed(rank: usize, [rows, columns]: [u64; 2]) -> String {
    let of = |at: usize| [columns, rows].get(at).copied().unwrap_or(1);
    let list: Vec<String> = (0..rank).rev().map(|at| of(at).to_string()).collect();
    format!("[{}]", list.join(", "))
}

/// The arguments of a kernel, given the names of its values.
fn arguments(look: &Look, names: &[Option<String>]) -> Vec<String> {
    let written = |name: &Option<String>| name.as_deref().map_or("0".into(), quoted);
    let argument = |(at, parameter): (usize, &InspectedParameter)| {
        let own = look.kernel.values.iter().zip(names).filter(|(value, _)| value.parameter == at);
        if !parameter.is_struct {
            return own.map(|(_, name)| written(name)).collect();
        }
        if let Some((_, map)) = own.clone().find(|(value, _)| value.is_map_alone(parameter)) {
            return written(map);
        }
        let (mut members, mut end) = (Vec::new(), 0);
        for (value, name) in own {
            members.extend((value.offset > end).then(|| format!("{{ offset = {} }}", value.offset)));
            members.push(written(name));
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
            let length = entry.extent.unwrap_or(1);
            let (contents, of_contents) = match entry.known.contents(element, role) {
                case::Contents::Fill(_) => (", contents = { fill = 1 }".into(), ", contents (all alike)"),
                case::Contents::Iota if entry.rank.is_none() && length <= MOST_LISTED => {
                    (format!(", contents = {}", turned(length)), ", contents (all differ)")
                }
                case::Contents::Iota => (", contents = \"iota\"".into(), ", contents (all differ)"),
                case::Contents::Symbolic
                | case::Contents::Undefined
                | case::Contents::List(_)
                | case::Contents::Pointers(_)
                | case::Contents::LowerTriangular
                | case::Contents::Partly(..) => (String::new(), ""),
            };
            let role = role.name();
            let shape = match entry.rank {
                Some(rank) => bracketed(rank, [entry.integer.into(); 2]),
                None => format!("[{length}]"),
            };
            format!(
                "{name} = {{ role = \"{role}\", type = {ty}, shape = {shape}{contents} }} # guess: role, type, extent{of_contents}"
            )
        }
        (None, Some(element)) => match entry.known.value(element, entry.integer) {
            ScalarValue::Symbolic(_) => {
                format!("{name} = {{ type = {ty}, symbolic = true }} # guess: any number")
            }
            ScalarValue::Number(value) => {
                let sizes = if matches!(element, Element::Int { .. }) {
                    ", the same for all sizes: give those of a launch, with a tail if kernels handle it"
                } else {
                    ""
                };
                format!("{name} = {{ type = {ty}, value = {value} }} # guess: the value{sizes}")
            }
        },
        (_, None) => String::new(),
    }
}

/// Longer contents are not listed.
const MOST_LISTED: u64 = 128;

/// `[1, 2, 3, 0]`: numbers that all differ, ascend but for the last, and are not their own indices, so that a kernel that
/// ignores them differs from one that does not.
fn turned(length: u64) -> String {
    let list: Vec<String> = (0..length).map(|at| ((at + 1) % length).to_string()).collect();
    format!("[{}]", list.join(", "))
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
