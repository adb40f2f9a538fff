//! `cargo volta show`: what kernels compute, as formulas.

use std::io::{self, Write};

use clap::Args;
use volta_core::Formulas;

use super::select::{Folder, Selected, select};
use super::{Exit, Selection, complain};
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::render::{self, Paint};
use crate::run::ready;

/// Arguments of `cargo volta show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Kernels are run on symbolic inputs, and what they leave in the outputs is brought into normal form: what is shown does \
not depend on how it is computed. All elements of an output that are one expression in their indices are one line.

Examples:
  cargo volta show fixtures/softmax/online_4
  cargo volta show fixtures/norm/layer_block

Exit codes: 0 shown, 2 not.")]
pub(super) struct ShowArgs {
    #[command(flatten)]
    selection: Selection,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
}

pub(super) fn show(arguments: &ShowArgs, out: &mut impl Write) -> io::Result<Exit> {
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let mut exit = Exit::Good;
    for (at, selected) in select(&arguments.selection).into_iter().enumerate() {
        let formulas = match &selected {
            Selected::Case(folder) => formulas(folder, &toolchain),
            Selected::Wrong { message, .. } => Err(message.clone()),
        };
        match (formulas, &selected) {
            (Ok(formulas), Selected::Case(folder)) => {
                let space = if at == 0 { "" } else { "\n" };
                write!(out, "{space}{}\n{}", render::clean_line(&folder.name), text(&formulas))?;
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
        format!(
            "{name} computes nothing that could be shown: {verdict}\nhelp: `cargo volta check {dir}` says why"
        )
    })
}

/// The formulas of a case; one, if they are the same.
fn text(formulas: &Formulas) -> String {
    let texts: Vec<String> = formulas.sides.iter().map(|side| side.formula.to_string()).collect();
    let shown =
        |text: &str| text.lines().map(|line| format!("  {}\n", render::clean_line(line))).collect::<String>();
    match texts.as_slice() {
        [one] => shown(one),
        [one, other] if one == other => format!("reference and opt:\n{}", shown(one)),
        [one, other] => format!("reference:\n{}opt:\n{}", shown(one), shown(other)),
        _ => String::new(),
    }
}
