//! `cargo volta lint`: what a kernel does for nothing.

use std::fmt::Write as _;
use std::io::{self, Write};

use clap::Args;
use volta_core::case::Which;

use super::select::{Folder, Selected, select};
use super::{Exit, Selection, complain};
use crate::attempt::{Synchronisation, redundant};
use crate::case::Case;
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::prepare::Texts;
use crate::render::source::locate;
use crate::render::{self, Paint};
use crate::run::{Settings, texts_of, verdict_of};

/// Arguments of `cargo volta lint`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each barrier and fence is taken out by itself, and the kernel is verified again: those are named without which it is as \
clean as it was. Only kernels that are clean are looked at, at the sizes of the case. Two barriers that are each redundant \
may not be so together.

Examples:
  cargo volta lint fixtures/softmax/two_barriers

Exit codes: 0 nothing found, 1 something found, 2 a case could not be looked at.")]
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
    for selected in select(&arguments.selection) {
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

/// What is found in the kernels of a case, a line each.
fn one(folder: &Folder, toolchain: &Toolchain) -> Result<String, String> {
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    let texts = texts_of(&case, toolchain).map_err(|obstacle| format!("{}: {obstacle}", folder.name))?;
    let mut text = String::new();
    let reference = case.reference.as_ref().map(|_| Which::Reference);
    for side in reference.into_iter().chain([Which::Opt]) {
        let verify = |case: &Case, texts: &Texts| verdict_of(case, texts, Settings::default());
        let found = redundant(&case, &texts, side, verify).ok_or_else(|| {
            format!("{}: {} is not clean, and not looked at", folder.name, case.side(side).shown())
        })?;
        for synchronisation in found {
            let _ = writeln!(text, "{}", line(&case, &texts, side, &synchronisation));
        }
    }
    Ok(text)
}

fn line(case: &Case, texts: &Texts, side: Which, found: &Synchronisation) -> String {
    let kernel = case.side(side);
    let at = locate(&case.home, kernel, texts.of(side), &found.place);
    let place = at.map_or(format!("PTX line {}", found.place.line), |at| {
        format!("{}:{}", crate::beside::slashed(&at.path), at.line)
    });
    let copies = match found.count {
        1 => String::new(),
        count => format!(", in {count} copies"),
    };
    let text = &found.place.text;
    render::clean_line(&format!(
        "{place}: `{text}`{copies} in {}: redundant, the kernel is clean without it",
        kernel.shown()
    ))
}
