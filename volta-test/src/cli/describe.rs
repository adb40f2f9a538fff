//! `cargo volta completions`, `cargo volta man`: shell completions and manual pages, generated from the arguments.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use volta_case::nearest;

use super::{Cli, Exit, complain};

/// Arguments of `cargo volta completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
The script completes the program's own name: `cargo-volta check …` is `cargo volta check …`.

Examples:
  cargo volta completions bash > ~/.local/share/bash-completion/completions/cargo-volta
  cargo volta completions fish > ~/.config/fish/completions/cargo-volta.fish
  cargo volta completions zsh > _cargo-volta    in a folder of $fpath")]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Arguments of `cargo volta man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo volta man > ~/.local/share/man/man1/cargo-volta.1
  cargo volta man check > ~/.local/share/man/man1/cargo-volta-check.1")]
pub(super) struct ManArgs {
    /// The page of this command, such as check [default: that of the program]
    command: Option<String>,
}

/// Prints the script with which a shell completes the program's arguments.
pub(super) fn completions(arguments: &CompletionsArgs, out: &mut impl Write) -> io::Result<Exit> {
    // The generator panics on a write error, such as a closed pipe, so it writes to memory.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "cargo-volta", &mut script);
    out.write_all(&script)?;
    Ok(Exit::Good)
}

/// Prints a page for `man`.
pub(super) fn man(arguments: &ManArgs, out: &mut impl Write) -> io::Result<Exit> {
    let mut program = Cli::command();
    // Commands get their full names.
    program.build();
    let page = match &arguments.command {
        None => program,
        Some(name) => match program.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let near = nearest(name, program.get_subcommands().map(clap::Command::get_name));
                let help = near.map_or_else(
                    || "`cargo volta --help` lists all commands".into(),
                    |near| format!("did you mean `{near}`?"),
                );
                complain(&format!("there is no command `{name}`\nhelp: {help}"));
                return Ok(Exit::CouldNotRun);
            }
        },
    };
    let notes = page.get_after_help().map(ToString::to_string).unwrap_or_default();
    Man::new(page.after_help(None)).render(out)?;
    write!(out, ".SH NOTES\n{}", verbatim(&notes))?;
    Ok(Exit::Good)
}

/// A text in roff: paragraphs are filled, and indented lines are kept.
fn verbatim(text: &str) -> String {
    let mut page = String::new();
    let mut is_filled = true;
    for line in text.lines() {
        if is_filled == line.starts_with(' ') {
            is_filled = !is_filled;
            page += if is_filled { ".fi\n" } else { ".nf\n" };
        }
        if line.is_empty() {
            page += ".PP\n";
            continue;
        }
        // A line that begins with a period or an apostrophe would be a request.
        let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
        page += &format!("\\&{line}\n");
    }
    page
}
