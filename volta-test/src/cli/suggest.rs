//! `cargo volta suggest`: the sizes that a family of a case should have.

use std::collections::BTreeSet;
use std::io::{self, Write};

use clap::Args;
use volta_core::case::Case;
use volta_core::inspect::{Landmark, landmarks};

use super::select::{Folder, Selected, select_whole};
use super::{Exit, Selection, complain};
use crate::manifest;
use crate::nvcc::Toolchain;
use crate::render::{self, Paint};
use crate::run::ready;

/// The number of elements at which an index of 32 bits with a sign ends.
const INDICES: u64 = 1 << 31;
/// The most blocks of a grid, in x and in y and z.
const BLOCKS: [u64; 2] = [(1 << 31) - 1, (1 << 16) - 1];

/// Arguments of `cargo volta suggest`.
#[derive(Debug, Args)]
#[command(after_help = "\
A proof speaks of the sizes of its case. This lists the sizes around which the kernels of a case begin to do something \
else, and a [family] with each of these, one less and one more: write the variable in place of the size in `shape`, \
`grid` and `value`. Below are those at which an index of 32 bits or a grid ends, of which a family of \"any\" speaks where \
blocks can be followed. Sizes that are multiples of a tile in one dimension only are yours to add.

Examples:
  cargo volta suggest fixtures/softmax/online_4

Exit codes: 0 told, 2 not.")]
pub(super) struct SuggestArgs {
    #[command(flatten)]
    selection: Selection,
    /// The name of the variable
    #[arg(long, default_value = "n")]
    variable: String,
    /// Use the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
}

pub(super) fn suggest(arguments: &SuggestArgs, out: &mut impl Write) -> io::Result<Exit> {
    let toolchain = if arguments.no_nvcc { Toolchain::none() } else { Toolchain::from_environment() };
    let mut exit = Exit::Good;
    for (at, selected) in select_whole(&arguments.selection).into_iter().enumerate() {
        let found = match &selected {
            Selected::Case(folder) => found(folder, &toolchain).map(|found| (&folder.name, found)),
            Selected::Wrong { message, .. } => Err(message.clone()),
        };
        match found {
            Ok((name, found)) => {
                let space = if at == 0 { "" } else { "\n" };
                let (landmarks, ends) = &found;
                write!(out, "{space}{}\n{}", render::clean_line(name), told(landmarks, &arguments.variable))?;
                write!(out, "\n{}", of_ends(ends))?;
            }
            Err(message) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}

/// The sizes of a case, and where numbers end.
type Found = (Vec<Landmark>, Vec<(u64, &'static str)>);

fn found(folder: &Folder, toolchain: &Toolchain) -> Result<Found, String> {
    let case = manifest::load(&folder.name, &folder.dir, &folder.root).map_err(|unreadable| {
        let text = render::unreadable(&unreadable, Paint::for_stream(&io::stderr()));
        format!("{} cannot be read\n{text}", folder.name)
    })?;
    let ready = ready(&case, toolchain).map_err(|obstacle| obstacle.to_string())?;
    let landmarks = landmarks(&ready).map_err(|error| format!("{}: {}", folder.name, error.message))?;
    Ok((landmarks, ends(&ready)))
}

/// Where an index or a grid of the case ends.
fn ends(case: &Case) -> Vec<(u64, &'static str)> {
    let grids = || case.reference.iter().chain([&case.opt]).flat_map(|side| side.launches());
    let [of_x, of_others] = BLOCKS;
    let mut ends = vec![(INDICES, "elements of a tensor: an index of 32 bits ends")];
    if grids().any(|(_, kernel)| kernel.launch.grid[0] > 1) {
        ends.push((of_x, "blocks: a grid ends in x"));
    }
    if grids().any(|(_, kernel)| kernel.launch.grid[1..].iter().any(|extent| *extent > 1)) {
        ends.push((of_others, "blocks: a grid ends in y and z"));
    }
    ends
}

fn of_ends(ends: &[(u64, &str)]) -> String {
    let lines = ends.iter().map(|(size, what)| format!("  {size:<20} {what}\n"));
    format!("beyond, of which a family of \"any\" speaks:\n{}", lines.collect::<String>())
}

/// The sizes with their reasons, and the lines for the case.
fn told(found: &[Landmark], variable: &str) -> String {
    let mut text = String::new();
    let mut sizes = BTreeSet::new();
    for Landmark { size, why, place } in found {
        let line = match place.as_ref().and_then(|place| place.cuda.as_ref()) {
            Some(cuda) => format!(" ({}:{})", cuda.file.rsplit('/').next().unwrap_or_default(), cuda.line),
            None => {
                place.as_ref().map(|place| format!(" (line {} of its PTX)", place.line)).unwrap_or_default()
            }
        };
        let around: Vec<u64> = (size.saturating_sub(1).max(1)..=size + 1).collect();
        let shown: Vec<String> = around.iter().map(u64::to_string).collect();
        text += &format!("  {:<20} {}\n", shown.join(", "), render::clean_line(&format!("{why}{line}")));
        sizes.extend(around);
    }
    text + &format!("\n[family]\n{variable} = [{}]\n", ranges(&sizes))
}

/// Sizes in order, as a family writes them: `1, "31..=33"`.
fn ranges(sizes: &BTreeSet<u64>) -> String {
    let sizes: Vec<u64> = sizes.iter().copied().collect();
    let runs = sizes.chunk_by(|one, other| one + 1 == *other).map(|run| match run {
        [first, .., last] => format!("\"{first}..={last}\""),
        [only] => only.to_string(),
        [] => String::new(),
    });
    runs.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_sizes_are_a_range() {
        let sizes = BTreeSet::from([1, 2, 31, 32, 33, 127]);
        assert_eq!(ranges(&sizes), "\"1..=2\", \"31..=33\", 127");
    }
}
