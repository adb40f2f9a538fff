//! `cargo volta accuracy`: what is proved of the errors of a case's outputs, and the largest that are found.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use volta_core::case::{Claim, MaxError};
use volta_core::verdict::Verdict;
use volta_interpreter::errors::{Search, SeenError};
use volta_interpreter::launch::spelled;

use super::select::{Folder, Selected, select_whole};
use super::{Exit, Selection, complain};
use crate::accuracy::{measured, number_of};
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::render::{self, Paint, clean_line, upwards};
use crate::run::{Settings, core_case, run};

/// Arguments of `cargo volta accuracy`.
#[derive(Debug, Args)]
#[command(after_help = "\
A bound holds for every input within the `range` of the case; floats without one have none. The largest error that is \
seen is found in an interpreter of PTX, at random inputs, ends of ranges, cancelling sums, and by changing the worst of \
them, with approximate instructions that are nearly exact or err as far as is documented. It is compared with the exact value of the kernel's own formula.

Examples:
  cargo volta accuracy fixtures/ranges/softmax_plain
  cargo volta accuracy fixtures/ranges/softmax_plain --tries 1000 --svg errors.svg

Exit codes: 0 told, 1 an error is larger than what is proved of it, 2 not told.")]
pub(super) struct AccuracyArgs {
    #[command(flatten)]
    selection: Selection,
    /// The number of inputs that are tried
    #[arg(long, default_value_t = 60)]
    tries: usize,
    /// Write a picture of the errors of each output to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
}

pub(super) fn accuracy(arguments: &AccuracyArgs, out: &mut impl Write) -> io::Result<Exit> {
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let mut exit = Exit::Good;
    let mut pictures = String::new();
    for (at, selected) in select_whole(&arguments.selection).into_iter().enumerate() {
        let told = match &selected {
            Selected::Case(folder) => one(folder, &toolchain, arguments.tries, &mut pictures),
            Selected::Wrong { message, .. } => Err(message.clone()),
        };
        match told {
            Ok((text, good)) => {
                write!(out, "{}{text}", if at == 0 { "" } else { "\n" })?;
                exit = exit.max(if good { Exit::Good } else { Exit::Failed });
            }
            Err(message) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    if let Some(file) = &arguments.svg
        && let Err(error) = fs::write(file, pictures)
    {
        complain(&format!("{} cannot be written: {error}", file.display()));
        exit = Exit::CouldNotRun;
    }
    Ok(exit)
}

/// What is told of a case, and whether all errors are within their bounds.
fn one(
    folder: &Folder,
    toolchain: &Toolchain,
    tries: usize,
    pictures: &mut String,
) -> Result<(String, bool), String> {
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    let ran = run(&case, toolchain, Settings::default());
    let Some(mut core) = core_case(&case, &ran.texts) else {
        let why = ran.obstacle.map_or(String::new(), |obstacle| format!(": {obstacle}"));
        return Err(format!("{} could not be run{why}", folder.name));
    };
    core.options.rules.claim = Claim::Finite;
    core.options.rules.max_error = Some(MaxError::ANY);
    let report = volta_core::verify(&core);
    let mut text = format!("{}\n", clean_line(&folder.name));
    if report.verdict != Verdict::Same(Claim::Finite) {
        let why = match &report.verdict {
            Verdict::Unknown(unknown) => format!(": {}", clean_line(&unknown.reason)),
            Verdict::Fault(fault) => format!(": {}", clean_line(&fault.message)),
            Verdict::Equivalent
            | Verdict::EquivalentWhere(_)
            | Verdict::Same(_)
            | Verdict::Different(_)
            | Verdict::Clean
            | Verdict::InputError(_) => String::new(),
        };
        let _ = writeln!(text, "  no bound: {}{why}", report.verdict.name());
        return Ok((text, true));
    }
    for line in render::errors(&report) {
        let _ = writeln!(text, "  proved: {line}");
    }
    let seen = match measured(&core, &report, Search::of(tries), u64::MAX) {
        Ok(seen) => seen,
        Err(why) => {
            let _ = writeln!(text, "  nothing was tried: {why}");
            return Ok((text, true));
        }
    };
    let mut by_output: BTreeMap<(usize, usize), Vec<&SeenError>> = BTreeMap::new();
    for error in &seen {
        by_output.entry((error.side, error.param)).or_default().push(error);
    }
    let mut good = true;
    for ((side, param), errors) in by_output {
        let name = match side {
            0 => "in the reference",
            _ if core.reference.is_some() => "in the optimized kernel",
            _ => "in the kernel",
        };
        let most = |of: fn(&SeenError) -> f64| errors.iter().map(|error| of(error)).fold(0.0, f64::max);
        let (absolute, ulps) = (most(|of| of.absolute), most(|of| of.ulps));
        let _ = writeln!(
            text,
            "  seen:   {name}, elements of {} are {} from their exact values, and {} ulp",
            clean_line(&core.params[param].name),
            upwards(absolute),
            upwards(ulps)
        );
        let part = most(|of| of.part);
        if part > 0.0 {
            let _ = writeln!(text, "          proved over seen: {}", upwards(1.0 / part));
        }
        for error in errors.iter().filter(|error| error.part > 1.0) {
            good = false;
            let name = clean_line(&spelled(&core.params[param], error.element));
            let _ = writeln!(text, "          {name} is further away than what is proved: report it");
        }
    }
    for output in &report.errors {
        let param = core.params.iter().position(|param| param.name == output.tensor);
        let own: Vec<(u64, f64)> = seen
            .iter()
            .filter(|of| of.side == number_of(output.side) && Some(of.param) == param)
            .map(|of| (of.element, of.absolute))
            .collect();
        pictures.push_str(&render::error_picture(output, &own));
    }
    Ok((text, good))
}
