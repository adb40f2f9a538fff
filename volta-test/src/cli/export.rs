//! `cargo volta export`: the proof obligations of a case, for another solver; cases, for a machine with a GPU.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use clap::{Args, ValueEnum};
use serde_json::Value;
use volta_case::nearest;
use volta_core::Conditions;
use volta_core::decide::ElementPair;
use volta_core::decide::smt;
use volta_core::verdict::Verdict;

use super::select::{Folder, Selected, select_whole};
use super::{Exit, Selection, complain};
use crate::files;
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::render::{self, Paint};
use crate::reproduction::Bundle;
use crate::run::{Settings, core_case, ready, run};
use crate::runner::slow_is_wanted;

/// Arguments of `cargo volta export`.
#[derive(Debug, Args)]
#[command(after_help = "\
A script asserts that an output element differs: that the reference is defined there, and the optimized kernel is not, \
or has another value. `unsat` means equivalent; `sat` means different, unless the script says that functions are not \
interpreted (exponentials, logarithms, sine, cosine, tanh). Literals are the rationals that their bits represent, even \
where `cargo volta check` reads them as log2(e) or, with `literals`, as a quotient (rule V9).

A folder for a machine with a GPU holds code, inputs, the interpreter's results, and `run.py`, which launches the kernels \
and compares (`python3 run.py .`); that machine needs Python and a driver. Slow cases are left out, as in `cargo volta check`.

Examples:
  cargo volta export --smt2 fixtures/matmul/small | z3 -in
  cargo volta export --smt2 fixtures/matmul/small --element 'c[2][3]' -o c23.smt2
  cargo volta export --smt2 fixtures/softmax/online_4 --element all --axioms addition
  cargo volta export --hardware bundle fixtures/softmax --arch sm_90

Exit codes: 0 written, 2 not.")]
pub(super) struct ExportArgs {
    #[command(flatten)]
    selection: Selection,
    /// Write SMT-LIB 2, over the reals
    #[arg(long, required_unless_present = "hardware", conflicts_with = "hardware")]
    smt2: bool,
    /// Write cases into this folder, to be run on a GPU
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["element", "axioms", "output"])]
    hardware: Option<PathBuf>,
    /// The architecture of the GPU
    #[arg(long, requires = "hardware", default_value = "sm_90")]
    arch: String,
    /// The assembler that compiles for it [default: the `ptxas` beside `nvcc`; without one, the driver compiles]
    #[arg(long, requires = "hardware", value_name = "FILE")]
    ptxas: Option<PathBuf>,
    /// The number of random inputs of each case
    #[arg(long, requires = "hardware", value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=64))]
    inputs: u64,
    /// An element of the outputs: its number among the compared ones, its name such as `y[3]`, or `all` for one script
    /// with a `check-sat` for each
    #[arg(long, value_name = "ELEMENT", default_value = "0")]
    element: String,
    /// What the script states about exponentials
    #[arg(long, value_enum, default_value_t = Axioms::None)]
    axioms: Axioms,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Axioms {
    /// They are a function
    None,
    /// Also exp2(a) * exp2(b) = exp2(a + b), exp2(a) > 0 and exp2(0) = 1
    Addition,
}

pub(super) fn export(arguments: &ExportArgs, out: &mut impl Write) -> io::Result<Exit> {
    if let Some(folder) = &arguments.hardware {
        return to_hardware(arguments, folder, out);
    }
    let text = match script(arguments) {
        Ok(text) => text,
        Err(message) => {
            complain(&message);
            return Ok(Exit::CouldNotRun);
        }
    };
    match &arguments.output {
        None => out.write_all(text.as_bytes())?,
        Some(path) => {
            if let Err(error) = files::write(path, text.as_bytes()) {
                complain(&format!("{} cannot be written: {error}", path.display()));
                return Ok(Exit::CouldNotRun);
            }
        }
    }
    Ok(Exit::Good)
}

/// Writes a folder of cases. Those that cannot be run are listed.
fn to_hardware(arguments: &ExportArgs, folder: &Path, out: &mut impl Write) -> io::Result<Exit> {
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let ptxas = arguments.ptxas.clone().or_else(|| ptxas_of(&toolchain));
    let bundle = match Bundle::new(folder, &arguments.arch, ptxas) {
        Ok(bundle) => bundle,
        Err(message) => {
            complain(&message);
            return Ok(Exit::CouldNotRun);
        }
    };
    let selected = select_whole(&arguments.selection);
    let (next, written) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    // Threads of their own: one of rayon's that waits for a verifier would begin another case on its stack.
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(selected) = selected.get(number) else { break };
                    let one = match selected {
                        Selected::Case(folder) => {
                            let case = hardware_case(arguments, &bundle, &toolchain, number, folder);
                            case.map_err(|why| format!("{}: {why}", folder.name))
                        }
                        Selected::Wrong { name, message } => Err(format!("{name}: {message}")),
                    };
                    written.lock().unwrap_or_else(PoisonError::into_inner).insert(number, one);
                }
            });
        }
    });
    let mut cases = Vec::new();
    for one in written.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        match one {
            Ok(case) => cases.push(case),
            Err(why) => writeln!(out, "left out   {}", render::clean_line(&why))?,
        }
    }
    if let Err(message) = bundle.finish(&cases) {
        complain(&message);
        return Ok(Exit::CouldNotRun);
    }
    let folder = render::clean_line(&folder.display().to_string());
    writeln!(out, "written    {} cases into {folder}", cases.len())?;
    Ok(if cases.is_empty() { Exit::CouldNotRun } else { Exit::Good })
}

fn hardware_case(
    arguments: &ExportArgs,
    bundle: &Bundle,
    toolchain: &Toolchain,
    number: usize,
    folder: &Folder,
) -> Result<Value, String> {
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|_| "it cannot be read")?;
    if case.options.run.slow && !folder.alone && !slow_is_wanted() {
        return Err("it is slow: VOLTA_SLOW=1 runs it".into());
    }
    let ran = run(&case, toolchain, Settings { threads: 1, ..Settings::default() });
    let (Some(report), Some(core)) = (&ran.report, core_case(&case, &ran.texts)) else {
        return Err(ran.obstacle.map_or("it could not be run".into(), |obstacle| obstacle.to_string()));
    };
    match &report.verdict {
        Verdict::InputError(_) | Verdict::Unknown(_) => Err(format!("it is {}", report.verdict.name())),
        Verdict::Equivalent
        | Verdict::EquivalentWhere(_)
        | Verdict::Same(_)
        | Verdict::Different(_)
        | Verdict::Fault(_)
        | Verdict::Clean => bundle.case(number, &folder.name, &core, &report.verdict, arguments.inputs),
    }
}

/// The assembler beside a compiler.
pub(super) fn ptxas_of(toolchain: &Toolchain) -> Option<PathBuf> {
    let ptxas = toolchain.compiler().ok()??.with_file_name(if cfg!(windows) { "ptxas.exe" } else { "ptxas" });
    ptxas.is_file().then_some(ptxas)
}

fn script(arguments: &ExportArgs) -> Result<String, String> {
    let selected = select_whole(&arguments.selection);
    let folder = match selected.as_slice() {
        [Selected::Case(folder)] => folder,
        [Selected::Wrong { message, .. }] => return Err(message.clone()),
        several => {
            let count = several.len();
            return Err(format!("{count} cases are selected\nhelp: --exact NAME selects one of them"));
        }
    };
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let ready = ready(&case, &toolchain).map_err(|obstacle| obstacle.to_string())?;
    let conditions = volta_core::conditions(&ready).map_err(|verdict| {
        let (name, verdict) = (&folder.name, verdict.name());
        format!(
            "nothing remains to be proved of {name}: {verdict}\nhelp: `cargo volta check {}` says why",
            folder.dir.display()
        )
    })?;
    let elements = elements(&conditions, &arguments.element)?;
    let axioms = match arguments.axioms {
        Axioms::None => smt::Axioms::None,
        Axioms::Addition => smt::Axioms::Addition,
    };
    let settings = smt::Settings { axioms, ..smt::Settings::default() };
    let script =
        smt::script(&elements, &conditions.inputs, settings).map_err(|refusal| refusal.to_string())?;
    Ok(format!("; {}\n{}", render::clean_line(&folder.name), script.text))
}

/// The elements that `--element` names.
fn elements<'c>(conditions: &'c Conditions, wanted: &str) -> Result<Vec<(String, ElementPair<'c>)>, String> {
    if wanted == "all" {
        let all = (0..conditions.len()).filter_map(|at| Some((conditions.name(at), conditions.element(at)?)));
        let all: Vec<_> = all.collect();
        return if all.is_empty() { Err("no element is a real".into()) } else { Ok(all) };
    }
    let last = conditions.len() - 1;
    let at = match wanted.parse::<usize>() {
        Ok(at) if at <= last => at,
        Ok(at) => return Err(format!("there is no element {at}: elements are numbered from 0 to {last}")),
        Err(_) => {
            let names: Vec<String> = (0..conditions.len()).map(|at| conditions.name(at)).collect();
            names.iter().position(|name| name == wanted).ok_or_else(|| {
                let near = nearest(wanted, names.iter().map(String::as_str)).unwrap_or(&names[0]);
                format!("there is no compared element `{wanted}`\nhelp: did you mean `{near}`?")
            })?
        }
    };
    let name = conditions.name(at);
    match conditions.element(at) {
        Some(element) => Ok(vec![(name, element)]),
        None => Err(format!("{name} is an integer: integers are compared without a solver")),
    }
}
