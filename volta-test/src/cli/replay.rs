//! `cargo volta replay`: both kernels of a case run on the inputs of a counterexample, in IEEE arithmetic.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::process::Command;

use clap::{Args, ValueEnum};
use volta_core::case as core;
use volta_core::verdict::{Difference, How, Verdict, Witness};
use volta_interpreter::launch::{self, Output, ready, witness_inputs};
use volta_interpreter::values;

use super::export::ptxas_of;
use super::select::{Folder, Selected, select_whole};
use super::{Exit, Selection, complain};
use crate::case::Case;
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::render::{self, Paint};
use crate::reproduction::{self, Bundle, RUNNER};
use crate::run::{Settings, core_case, run};

/// The number of elements that are printed.
const MOST: usize = 8;
/// The number of random inputs of a run on a GPU.
const INPUTS: u64 = 2;
/// The seed of the order in which threads run.
const SEED: u64 = 1;

/// Arguments of `cargo volta replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
The kernels run in an interpreter of PTX: each operation is IEEE arithmetic in its format, rounding included. The printed \
values are those of a GPU, except for the last digits of functions that hardware approximates.

Examples:
  cargo volta replay fixtures/softmax/no_rescale_4
  cargo volta replay fixtures/softmax/no_rescale_4 --emit cuda > reproduction.cu
  cargo volta replay fixtures/softmax/no_rescale_4 --run

Exit codes: 0 replayed, 1 with --run, if the GPU contradicts the verdict or the interpreter, 2 not replayed.")]
pub(super) struct ReplayArgs {
    #[command(flatten)]
    selection: Selection,
    /// Print a program that shows the difference, instead of running the kernels here
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Run the kernels on the GPU of this machine, on random inputs and on those of the counterexample, whatever the
    /// verdict is, and compare them with the interpreter and with one another; needs python3
    #[arg(long, conflicts_with = "emit")]
    run: bool,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// A .cu file for nvcc: runs both sides on the inputs, and compares
    Cuda,
    /// A Rust program: computes the element as both kernels do, in f64
    Rust,
    /// A Python script: does the same, from numpy arrays
    Numpy,
}

pub(super) fn replay(arguments: &ReplayArgs, out: &mut impl Write) -> io::Result<Exit> {
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let mut exit = Exit::Good;
    for (at, selected) in select_whole(&arguments.selection).into_iter().enumerate() {
        if arguments.run {
            exit = exit.max(
                match &selected {
                    Selected::Case(folder) => on_gpu(folder, &toolchain),
                    Selected::Wrong { message, .. } => Err(message.clone()),
                }
                .unwrap_or_else(|message| {
                    complain(&message);
                    Exit::CouldNotRun
                }),
            );
            continue;
        }
        let told = match &selected {
            Selected::Case(folder) => one(folder, &toolchain, arguments.emit),
            Selected::Wrong { message, .. } => Err(message.clone()),
        };
        match told {
            Ok(text) => write!(out, "{}{text}", if at == 0 { "" } else { "\n" })?,
            Err(message) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}

/// The text to print about a case.
fn one(folder: &Folder, toolchain: &Toolchain, emit: Option<Emit>) -> Result<String, String> {
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    let run = run(&case, toolchain, Settings::default());
    let (Some(report), Some(core)) = (&run.report, core_case(&case, &run.texts)) else {
        let why = run.obstacle.map_or(String::new(), |obstacle| format!(": {obstacle}"));
        return Err(format!("{} could not be run{why}", folder.name));
    };
    let Verdict::Different(difference) = &report.verdict else {
        return Err(format!(
            "{} is {}: only a difference has inputs to replay",
            folder.name,
            report.verdict.name()
        ));
    };
    let set = core.params.iter().find(|param| param.is_set());
    let emitted = set.filter(|_| emit.is_some()).map_or(Ok(emit), |param| {
        Err(format!(
            "`{}` is compared as a multiset, which no program of `--emit` does: leave that out",
            param.name
        ))
    });
    let emitted = emitted.map_err(|error| format!("{} cannot be replayed: {error}", folder.name))?;
    match emitted {
        None => replayed(&case, &core, difference),
        Some(Emit::Cuda) => reproduction::cuda(&case, &core, difference),
        Some(Emit::Rust) => reproduction::rust(&case, &core, difference),
        Some(Emit::Numpy) => reproduction::numpy(&case, &core, difference),
    }
    .map_err(|error| format!("{} cannot be replayed: {error}", folder.name))
}

/// Runs a case on the GPU, by the runner that `cargo volta export --hardware` writes.
fn on_gpu(folder: &Folder, toolchain: &Toolchain) -> Result<Exit, String> {
    let error = |what: &str, error: io::Error| format!("{what}: {error}");
    let scratch = tempfile::tempdir().map_err(|why| error("no folder can be made", why))?;
    let python = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.arg(scratch.path().join("run.py")).args(arguments);
        command
    };
    fs::write(scratch.path().join("run.py"), RUNNER).map_err(|why| error("run.py cannot be written", why))?;
    let device = python(&["--device"]).output().map_err(|why| error("python3 cannot be run", why))?;
    let said = |text: &[u8]| String::from_utf8_lossy(text).trim().to_owned();
    if !device.status.success() {
        return Err(format!("{} was not run: {}", folder.name, said(&device.stderr)));
    }
    let case = manifest::load(&folder.name, &folder.dir, &folder.root)
        .map_err(|_| format!("{} cannot be read: `cargo volta check` says why", folder.name))?;
    let ran = run(&case, toolchain, Settings::default());
    let (Some(report), Some(core)) = (&ran.report, core_case(&case, &ran.texts)) else {
        let why = ran.obstacle.map_or(String::new(), |obstacle| format!(": {obstacle}"));
        return Err(format!("{} could not be run{why}", folder.name));
    };
    let bundle = Bundle::new(scratch.path(), &said(&device.stdout), ptxas_of(toolchain))?;
    let written = bundle.case(0, &folder.name, &core, &report.verdict, INPUTS);
    bundle.finish(&[written.map_err(|why| format!("{} cannot be replayed: {why}", folder.name))?])?;
    let folder = scratch.path().to_string_lossy().into_owned();
    let status =
        python(&["--verbose", &folder]).status().map_err(|why| error("python3 cannot be run", why))?;
    match status.code() {
        Some(0) => Ok(Exit::Good),
        Some(1) => Ok(Exit::Failed),
        Some(_) | None => Ok(Exit::CouldNotRun),
    }
}

/// The results of both kernels, and the elements in which they differ.
fn replayed(case: &Case, core: &core::Case, difference: &Difference) -> Result<String, String> {
    let inputs = witness_inputs(core, difference)?;
    let sides = ready(core)?;
    let names = [case.reference.as_ref().map_or(String::new(), |kernel| kernel.shown()), case.opt.shown()];
    let mut runs = Vec::new();
    for (name, side) in names.iter().zip(&sides) {
        runs.push(side.run(&inputs, SEED).map_err(|error| format!("{name}: {error}"))?);
    }
    let mut text = format!("{}\n", render::clean_line(&case.name));
    let given = match &difference.how {
        How::Values(Witness { inputs, .. }) => inputs.iter().filter(|(_, value)| value != "0").collect(),
        How::Unwritten { .. } | How::NobodyWrites => Vec::new(),
    };
    let list: Vec<String> =
        given.iter().take(MOST).map(|(name, value)| format!("{name} = {value}")).collect();
    let more = match given.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let _ = match given.is_empty() {
        true => writeln!(text, "  where all inputs are 0"),
        false => writeln!(text, "  at {}{more}; other inputs are 0", render::clean_line(&list.join(", "))),
    };
    for (name, ran) in names.iter().zip(&runs) {
        let name = render::clean_line(name);
        let _ = writeln!(text, "  {name}: {} threads, {} instructions", ran.threads, ran.instructions);
    }
    for (reference, opt) in runs[0].outputs.iter().zip(&runs[1].outputs) {
        let param = &core.params[reference.param];
        if param.is_set() {
            text.push_str(&sets(&param.name, [reference, opt]));
            continue;
        }
        let apart = parted(reference, opt);
        let total = values::count(param);
        let _ = writeln!(
            text,
            "  {} of {total} elements of {} differ, beyond rounding or not",
            apart.len(),
            render::clean_line(&param.name)
        );
        let named = (difference.tensor == param.name).then_some(difference.element);
        let rest = apart.iter().copied().filter(|at| Some(*at) != named).take(MOST - 1);
        for at in named.into_iter().chain(rest) {
            let mark = if Some(at) == named { "   the element of the verdict" } else { "" };
            let name = launch::spelled(param, at);
            let [one, other] = [reference, opt].map(|output| shown(output, at));
            let _ = writeln!(text, "    {} = {one}, {other}{mark}", render::clean_line(&name));
        }
    }
    Ok(text)
}

/// What only one side has of an output that is compared as a multiset.
fn sets(name: &str, sides: [&Output; 2]) -> String {
    let mut more: BTreeMap<String, i64> = BTreeMap::new();
    for (output, by) in sides.into_iter().zip([1, -1]) {
        for at in output.written() {
            *more.entry(output.number(at).spelled(output.element)).or_default() += by;
        }
    }
    let [first, second] = sides.map(|output| output.written().len());
    let name = render::clean_line(name);
    let mut text = format!("  {name}, as a multiset: {first} and {second} elements\n");
    more.retain(|_, count| *count != 0);
    for (number, count) in more.iter().take(MOST) {
        let which = if *count > 0 { "the reference" } else { "the optimized kernel" };
        let _ = writeln!(text, "    {number}: {} more in {which}", count.abs());
    }
    text
}

/// The elements in which the two sides differ.
fn parted(reference: &Output, opt: &Output) -> Vec<u64> {
    let mut written = [reference.written(), opt.written()].concat();
    written.sort_unstable();
    written.dedup();
    let is_apart = |at: &u64| {
        reference.is_written(*at) != opt.is_written(*at) || reference.number(*at) != opt.number(*at)
    };
    written.into_iter().filter(is_apart).collect()
}

/// The value that a side left in an element.
fn shown(output: &Output, at: u64) -> String {
    match output.is_written(at) {
        true => output.number(at).spelled(output.element),
        false => "not written".into(),
    }
}
