//! `cargo volta lint`: redundant barriers and fences, expensive accesses, and losses of precision.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::Args;
use volta_core::case::Which;
use volta_core::lint::{access_costs, precision_lost};
use volta_core::machine::{AccessPattern, Traffic};
use volta_core::verdict::Place;

use super::select::{Folder, Selected, select_whole};
use super::{Exit, Selection, complain};
use crate::attempt::redundant;
use crate::case::Case;
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::prepare::Texts;
use crate::render::source::{Excerpt, excerpt, locate};
use crate::render::{self, Paint};
use crate::run::{Settings, core_case, texts_of, verdict_of};

/// Arguments of `cargo volta lint`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each barrier and fence is removed by itself, and the kernel is verified again: those without which it is still clean are \
named. Two barriers that are each redundant may not be redundant together.

Also named are accesses to shared memory whose lanes access different words of one bank, and accesses to global memory \
that take at least twice as many sectors of 32 bytes as they need. For a pair of kernels, losses of precision in only one \
of them are named. Only clean kernels are examined, at the sizes of the case.

Examples:
  cargo volta lint fixtures/softmax/online_128

Exit codes: 0 nothing found, 1 something found, 2 a case could not be examined.")]
pub(super) struct LintArgs {
    #[command(flatten)]
    selection: Selection,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
}

pub(super) fn lint(arguments: &LintArgs, out: &mut impl Write) -> io::Result<Exit> {
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let mut exit = Exit::Good;
    for selected in select_whole(&arguments.selection) {
        let told = match &selected {
            Selected::Case(folder) => one(folder, &toolchain),
            Selected::Wrong { message, .. } => Err(message.clone()),
        };
        match told {
            Ok(text) if text.is_empty() => {}
            Ok(text) => {
                write!(out, "{text}")?;
                exit = exit.max(Exit::Failed);
            }
            Err(message) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}

/// The findings in the kernels of a case, a line each.
fn one(folder: &Folder, toolchain: &Toolchain) -> Result<String, String> {
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    let texts = texts_of(&case, toolchain).map_err(|obstacle| format!("{}: {obstacle}", folder.name))?;
    let ready = core_case(&case, &texts).ok_or_else(|| format!("{}: there is no PTX", folder.name))?;
    let mut text = String::new();
    let reference = case.reference.as_ref().map(|_| Which::Reference);
    for side in reference.into_iter().chain([Which::Opt]) {
        let unclean = || {
            let (name, kernel, dir) = (&folder.name, case.side(side).shown(), folder.dir.display());
            format!(
                "{name}: {kernel} is not clean, and was not examined\nhelp: `cargo volta check {dir}` says why"
            )
        };
        let verify = |case: &Case, texts: &Texts| verdict_of(case, texts, Settings::default());
        // Barriers are tried where a kernel runs alone.
        let found = match case.side(side).is_one_launch() {
            true => redundant(&case, &texts, side, verify).ok_or_else(unclean)?,
            false => Vec::new(),
        };
        let mut add = |place: &Place, copies, what: &str| {
            let _ = writeln!(text, "{}", line(&case, &texts, side, (place, copies), what));
        };
        for synchronisation in found {
            add(&synchronisation.place, synchronisation.count, "redundant, the kernel is clean without it");
        }
        for cost in access_costs(&ready, side).map_err(|_| unclean())? {
            add(&cost.place, cost.copies, &cost_of(cost.traffic, &cost.pattern));
        }
        let lost = precision_lost(&ready).map_err(|error| format!("{}: {}", folder.name, error.message))?;
        for loss in lost.iter().filter(|loss| loss.which == side) {
            add(&loss.place, 1, &loss.what);
        }
    }
    Ok(text)
}

fn cost_of(traffic: Traffic, pattern: &AccessPattern) -> String {
    let AccessPattern { accesses, costly, taken, least, worst: [worst, needed] } = pattern;
    let how_often = format!("in {costly} of {accesses} accesses by warps");
    match traffic {
        Traffic::Banks => {
            format!("{worst}-way bank conflict, {how_often}: {taken} passes instead of {least}")
        }
        Traffic::Sectors => format!(
            "uncoalesced, {worst} sectors of 32 bytes where {needed} would be enough, {how_often}: {taken} sectors \
             instead of {least}"
        ),
    }
}

fn line(case: &Case, texts: &Texts, side: Which, (place, copies): (&Place, usize), what: &str) -> String {
    let (kernel, ptx) = (case.kernel(side, place.step), texts.of(case, side, place.step));
    let at = locate(&case.home, kernel, ptx, place);
    let shown = at.map_or(format!("PTX line {}", place.line), |at| {
        format!("{}:{}", crate::beside::slashed(&at.path), at.line)
    });
    let source = excerpt(&case.home, kernel, ptx, place);
    let text = source.as_ref().map_or(place.text.as_str(), Excerpt::line);
    let copies = match copies {
        1 => String::new(),
        count => format!(", in {count} copies"),
    };
    render::clean_line(&format!("{shown}: `{text}`{copies} in {}: {what}", kernel.shown()))
}
