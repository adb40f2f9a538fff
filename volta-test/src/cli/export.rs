//! `cargo volta export`: the proof obligations of a case, for another solver.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use volta_case::nearest;
use volta_core::Conditions;
use volta_core::decide::ElementPair;
use volta_core::decide::smt::{self, Settings};

use super::select::{Selected, select};
use super::{Exit, Selection, complain};
use crate::files;
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::render::{self, Paint};
use crate::run::ready;

/// Arguments of `cargo volta export`.
#[derive(Debug, Args)]
#[command(after_help = "\
A script asserts that an output element differs: that the reference is defined there, and the optimized kernel is not, \
or has another value. `unsat` means equivalent; `sat` means different, unless the script says that functions are not \
interpreted (exponentials, logarithms, sine, cosine, tanh). Literals are the rationals that their bits represent, even \
where `cargo volta check` reads them as log2(e) (rule V9).

Examples:
  cargo volta export --smt2 fixtures/matmul/small | z3 -in
  cargo volta export --smt2 fixtures/matmul/small --element 'c[2][3]' -o c23.smt2
  cargo volta export --smt2 fixtures/softmax/online_4 --element all --axioms addition

Exit codes: 0 written, 2 not.")]
pub(super) struct ExportArgs {
    #[command(flatten)]
    selection: Selection,
    /// Write SMT-LIB 2, over the reals
    #[arg(long, required = true)]
    smt2: bool,
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

fn script(arguments: &ExportArgs) -> Result<String, String> {
    let selected = select(&arguments.selection);
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
    let settings = Settings { axioms, ..Settings::default() };
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
