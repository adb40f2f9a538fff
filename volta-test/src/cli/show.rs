//! `cargo volta show`: what kernels compute, as formulas.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;
use volta_core::Formulas;
use volta_core::formula::Formula;

use super::check::json_line;
use super::select::{Folder, Selected, select_whole};
use super::{Exit, Selection, complain};
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::render::{self, Paint};
use crate::run::ready;

/// Arguments of `cargo volta show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Kernels are run on symbolic inputs, and the values of their outputs are brought into normal form, so that the formulas \
do not depend on how the values are computed. All elements of an output that are one expression in their indices are one \
line.

Examples:
  cargo volta show fixtures/softmax/online_4
  cargo volta show fixtures/norm/layer_block
  cargo volta show fixtures/norm/layer_block --latex

Exit codes: 0 shown, 2 not.")]
pub(super) struct ShowArgs {
    #[command(flatten)]
    selection: Selection,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
    /// As LaTeX: the lines of an align*, for amsmath
    #[arg(long, conflicts_with = "json")]
    latex: bool,
    /// As JSON: one line per case, with the formulas as trees, as docs/formulas.md describes them
    #[arg(long)]
    json: bool,
}

/// A case in JSON.
#[derive(Serialize)]
struct Line<'f> {
    /// The version of the format, changed with every incompatible change.
    version: u32,
    name: &'f str,
    sides: Vec<SideLine<'f>>,
}

/// What one kernel computes.
#[derive(Serialize)]
struct SideLine<'f> {
    side: &'static str,
    /// The digest of the forms of all elements.
    digest: String,
    text: String,
    formula: &'f Formula,
}

impl<'f> Line<'f> {
    fn new(name: &'f str, formulas: &'f Formulas) -> Line<'f> {
        let sides = formulas.sides.iter().map(|side| SideLine {
            side: side.side.name(),
            digest: format!("{:032x}", side.digest.digest),
            text: side.formula.to_string(),
            formula: &side.formula,
        });
        Line { version: 1, name, sides: sides.collect() }
    }
}

pub(super) fn show(arguments: &ShowArgs, out: &mut impl Write) -> io::Result<Exit> {
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let mut exit = Exit::Good;
    for (at, selected) in select_whole(&arguments.selection).into_iter().enumerate() {
        let formulas = match &selected {
            Selected::Case(folder) => formulas(folder, &toolchain),
            Selected::Wrong { message, .. } => Err(message.clone()),
        };
        match (formulas, &selected) {
            (Ok(formulas), Selected::Case(folder)) => {
                if arguments.json {
                    json_line(&Line::new(&folder.name, &formulas), out)?;
                    continue;
                }
                let space = if at == 0 { "" } else { "\n" };
                let name = render::clean_line(&folder.name);
                if arguments.latex {
                    write!(out, "{space}% {name}\n{}", latex(&formulas))?;
                } else {
                    write!(out, "{space}{name}\n{}", text(&formulas))?;
                }
            }
            (Err(message), _) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
            (Ok(_), Selected::Wrong { .. }) => {}
        }
    }
    Ok(exit)
}

fn formulas(folder: &Folder, toolchain: &Toolchain) -> Result<Formulas, String> {
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    let ready = ready(&case, toolchain).map_err(|obstacle| obstacle.to_string())?;
    volta_core::formulas(&ready).map_err(|verdict| {
        let (name, verdict) = (&folder.name, verdict.name());
        let dir = folder.dir.display();
        format!("{name} has no results to show: {verdict}\nhelp: `cargo volta check {dir}` says why")
    })
}

/// The formulas of a case as text; only one, if both sides are the same.
fn text(formulas: &Formulas) -> String {
    let shown =
        |text: &str| text.lines().map(|line| format!("  {}\n", render::clean_line(line))).collect::<String>();
    told(formulas, Formula::to_string, |sides, text| match sides {
        "" => shown(text),
        sides => format!("{sides}:\n{}", shown(text)),
    })
}

/// The formulas of a case as LaTeX; only one, if both sides are the same.
fn latex(formulas: &Formulas) -> String {
    told(formulas, Formula::latex, |sides, text| match sides {
        "" => format!("{}\n", render::clean(text)),
        sides => format!("% {sides}\n{}\n", render::clean(text)),
    })
}

/// The formulas of both sides in a notation, each with the name of its side.
fn told(
    formulas: &Formulas,
    write: impl Fn(&Formula) -> String,
    shown: impl Fn(&str, &str) -> String,
) -> String {
    let texts: Vec<String> = formulas.sides.iter().map(|side| write(&side.formula)).collect();
    match texts.as_slice() {
        [one] => shown("", one),
        [one, other] if one == other => shown("reference and opt", one),
        [one, other] => shown("reference", one) + &shown("opt", other),
        _ => String::new(),
    }
}
