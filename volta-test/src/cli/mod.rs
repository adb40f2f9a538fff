//! `cargo volta`, also called `cargo-volta`: runs cases like `cargo test`, for people and scripts without a crate.

mod accuracy;
mod bench;
mod certify;
mod check;
mod describe;
mod export;
mod inspect;
mod lint;
mod merge;
mod new;
mod refresh;
mod replay;
mod report;
mod select;
mod show;
mod suggest;
mod watch;

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use regex_lite::Regex;
use volta_case::{Reason, nearest};

use crate::case::Case;
use crate::files;
use crate::limits;
use crate::render::{Paint, rules};
use crate::run::Run;
use report::Checked;

/// Proves that GPU kernels are equivalent over the reals, and free of races.
#[derive(Debug, Parser)]
#[command(name = "cargo-volta", bin_name = "cargo volta", version, max_term_width = 100, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo volta check fixtures                        run every case below a folder
  cargo volta check fixtures/softmax/online_128     run one case, and print all details
  cargo volta check fixtures --filter '^(softmax|norm)::' --exclude '_128$'
                                                    run the cases whose names match one, but not the other
  cargo volta check fixtures --format json | jq .   one JSON object per case
  cargo volta check --stdin --format json <case.json
                                                    run a case that contains its sources
  cargo volta check fixtures --format sarif         for code scanning; also github and junit
  cargo volta report fixtures/softmax               a page about a run, with formulas and pictures
  cargo volta check fixtures --accept               write snapshots, which later runs are compared with
  cargo volta refresh fixtures/softmax              compile sources, to check in their PTX
  cargo volta explain Y1                            what a rule or a verdict means
  cargo volta export --smt2 fixtures/matmul/small   the proof obligations, for an SMT solver
  cargo volta lint fixtures/softmax/online_128      redundant barriers, costly accesses
  cargo volta inspect softmax.cu                    its kernels and their parameters
  cargo volta new softmax.cu::softmax_naive softmax.cu::softmax_online
                                                    a case for them, with marked guesses
  cargo volta replay fixtures/softmax/no_rescale_4  run its kernels on the counterexample's inputs
  cargo volta show fixtures/norm/layer_block        what its kernels compute, as formulas
  cargo volta check fixtures/softmax --certificate  write certificates, and count what they prove
  cargo volta certify certificates/*                check them again, without the verifier
  cargo volta merge results/*.json                  the whole claim of cases that were verified in parts
  cargo volta watch kernels                         run cases again when their files change
  cargo volta bench fixtures --published --z3       compare with published figures and with a solver

A case is a folder with a volta.toml:
  [params]
  x = { role = \"in\", type = \"f32\", shape = [128] }
  y = { role = \"out\", type = \"f32\", shape = [128] }
  [reference]
  source = \"softmax.cu::naive\"
  block = 128
  [opt]
  source = \"softmax.cu::online\"
  block = 128

`cargo-volta` is the same program.

Exit codes: 0 all cases are as expected, 1 a case is not, 2 a case could not run.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run cases and compare their verdicts with the expected ones
    Check(CheckArgs),
    /// Run cases, and write a page about them: verdicts, assumptions, formulas, sources, and pictures of races and
    /// differences
    Report(ReportArgs),
    /// List the names of cases
    List(ListArgs),
    /// Compile the sources of cases and write the PTX beside them, to be checked in
    Refresh(RefreshArgs),
    /// Measure cases, and compare with the figures published for the same kernels
    Bench(bench::BenchArgs),
    /// Write the proof obligations of a case for another solver
    Export(export::ExportArgs),
    /// Run cases, and run them again when a file of theirs changes
    Watch(watch::WatchArgs),
    /// Name the barriers and fences without which a kernel is still clean, and costly accesses
    Lint(lint::LintArgs),
    /// Describe kernels and their parameters, and guess how they are launched
    Inspect(inspect::InspectArgs),
    /// Write a case for kernels, with marked guesses
    New(new::NewArgs),
    /// Run both kernels of a case on the inputs of its counterexample, in IEEE arithmetic, and show where they differ
    Replay(replay::ReplayArgs),
    /// Bound the errors of outputs over the ranges of their inputs, and look for inputs at which they are large
    Accuracy(accuracy::AccuracyArgs),
    /// Show what the kernels of cases compute, as formulas; nothing is proved
    Show(show::ShowArgs),
    /// State the claims of whole cases from the results of all their parts
    Merge(merge::MergeArgs),
    /// Check certificates that `cargo volta check --certificate` has written
    Certify(certify::CertifyArgs),
    /// List the sizes that a family of a case should have
    Suggest(suggest::SuggestArgs),
    /// Explain a rule or a verdict; without a name, list all of them
    Explain {
        /// A rule such as Y1, or a verdict such as race
        name: Option<String>,
    },
    /// Print a completion script for a shell
    Completions(describe::CompletionsArgs),
    /// Print a manual page, for man
    Man(describe::ManArgs),
}

/// Which cases.
#[derive(Debug, Args)]
struct Selection {
    /// Folders with a volta.toml in or below them, or volta.toml files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only the case of this name; may be given several times
    #[arg(long, value_name = "NAME")]
    exact: Vec<String>,
    /// Only cases whose names match this regular expression somewhere, such as softmax or '^softmax::.*_4$'; if given
    /// several times, one of them must match
    #[arg(long, value_name = "REGEX", value_parser = Regex::new)]
    filter: Vec<Regex>,
    /// Leave out cases whose names match this regular expression somewhere; may be given several times
    #[arg(long, value_name = "REGEX", value_parser = Regex::new)]
    exclude: Vec<Regex>,
    /// Cases may only read files below this folder [default: the enclosing `fixtures` folder, or PATH]
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
}

/// Arguments of `cargo volta check`.
#[derive(Debug, Args)]
#[command(mut_arg("paths", |paths| paths.required(false).required_unless_present("stdin")))]
struct CheckArgs {
    #[command(flatten)]
    selection: Selection,
    /// The format of the output
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Run the case on standard input instead: a JSON or TOML document with the keys of a volta.toml and the texts of its
    /// sources, as docs/case.schema.json describes it. Such a case has no snapshot
    #[arg(long, conflicts_with_all = ["paths", "exact", "filter", "exclude", "root", "list", "accept"])]
    stdin: bool,
    /// List the names of the cases instead of running them
    #[arg(long)]
    list: bool,
    /// Print all details of every case, not only of those that fail
    #[arg(long, short)]
    verbose: bool,
    /// Accept snapshots: write those that are new or have changed, of all cases that are otherwise as expected. Without
    /// this option, cases that have a snapshot are compared with it
    #[arg(long)]
    accept: bool,
    /// Stop after the first case that is not as expected or could not run
    #[arg(long)]
    fail_fast: bool,
    /// At the end, name the N cases that took longest [default: up to 5 of those that took more than a second]
    #[arg(long, value_name = "N")]
    slowest: Option<usize>,
    /// Number of worker threads, 0 for one per core; results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Run each case N times in this process, and report the run with the median time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Evaluate up to 64 elements of each proof at N more points, in intervals: a contradiction is an error of
    /// Volta (as VOLTA_RECHECK=N does)
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "3")]
    recheck: Option<u32>,
    /// Verify the checked-in PTX, even if there is a compiler
    #[arg(long)]
    no_nvcc: bool,
    /// Also verify cases that this program has verified before (as VOLTA_CACHE=off does). Without this option, a case
    /// whose files have not changed by a byte gets the verdict of the earlier run, and is marked `cached`
    #[arg(long)]
    no_cache: bool,
    /// How long verifying a case may take, such as 10s or 500ms (as VOLTA_TIMEOUT does): after that, its verdict is
    /// unknown(timeout)
    #[arg(long, value_name = "TIME", value_parser = volta_case::duration)]
    timeout: Option<Duration>,
    /// Run slow cases too (as VOLTA_SLOW=1 does)
    #[arg(long)]
    slow: bool,
    /// Write a certificate of each case that is equivalent into this folder, and check it: proofs that `cargo volta
    /// certify` replays, which uses nothing of the verifier
    #[arg(long, value_name = "FOLDER", num_args = 0..=1, require_equals = true, default_missing_value = "certificates")]
    certificate: Option<PathBuf>,
}

/// Arguments of `cargo volta report`.
#[derive(Debug, Args)]
#[command(after_help = "\
The page is one HTML file, which loads no other files; a short script in it filters cases.

Examples:
  cargo volta report fixtures/softmax
  cargo volta report fixtures --filter '^race::' --output race.html

Exit codes: as those of cargo volta check.")]
struct ReportArgs {
    #[command(flatten)]
    check: CheckArgs,
    /// The file to write
    #[arg(long, short, value_name = "FILE", default_value = "volta-report.html")]
    output: PathBuf,
}

/// Arguments of `cargo volta list`.
#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    selection: Selection,
}

/// Arguments of `cargo volta refresh`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  cargo volta refresh fixtures/softmax
  cargo volta refresh fixtures --check
  cargo volta refresh tests/kernels/gelu.cu --arch sm_80 --flag=--use_fast_math")]
struct RefreshArgs {
    /// Folders with cases, or .cu files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The architecture, for .cu files; cases have their own
    #[arg(long, default_value_t = volta_case::Target::default().arch)]
    arch: String,
    /// A flag for the compiler, for .cu files; may be given several times
    #[arg(long = "flag", value_name = "FLAG", allow_hyphen_values = true)]
    flags: Vec<String>,
    /// Compile all sources, also those whose PTX is not stale
    #[arg(long)]
    force: bool,
    /// Compile all, write nothing, and fail if checked-in PTX has other code
    #[arg(long, conflicts_with = "force")]
    check: bool,
    /// Cases may only read files below this folder [default: the enclosing `fixtures` folder, or PATH]
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table, and messages for cases that are not as expected
    Human,
    /// One line of JSON per case, as docs/check.schema.json describes it
    Json,
    /// Annotations for GitHub Actions
    Github,
    /// A SARIF document of the cases that are not as expected
    Sarif,
    /// A JUnit document
    Junit,
    /// A page of HTML, as `cargo volta report` writes it
    Html,
}

/// The exit status of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Exit {
    /// All cases are as expected.
    Good = 0,
    /// A case is not as expected.
    Failed = 1,
    /// A case could not run.
    CouldNotRun = 2,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    let cli = Cli::parse_from(arguments());
    limits::share_among(1);
    let mut out = io::stdout().lock();
    let exit = match cli.command {
        Command::Check(arguments) if arguments.list => list(&arguments.selection, &mut out),
        Command::Check(arguments) => check::check(&arguments, &mut out),
        Command::Watch(arguments) => watch::watch(&arguments, &mut out),
        Command::Report(arguments) => report_to_file(arguments, &mut out),
        Command::List(arguments) => list(&arguments.selection, &mut out),
        Command::Refresh(arguments) => refresh::refresh(&arguments, &mut out),
        Command::Bench(arguments) => {
            drop(out);
            bench::bench(&arguments)
        }
        Command::Export(arguments) => export::export(&arguments, &mut out),
        Command::Inspect(arguments) => inspect::run(&arguments, &mut out),
        Command::New(arguments) => new::new(&arguments, &mut out),
        Command::Lint(arguments) => lint::lint(&arguments, &mut out),
        Command::Accuracy(arguments) => accuracy::accuracy(&arguments, &mut out),
        Command::Replay(arguments) => replay::replay(&arguments, &mut out),
        Command::Show(arguments) => show::show(&arguments, &mut out),
        Command::Certify(arguments) => certify::certify(&arguments, &mut out),
        Command::Merge(arguments) => merge::merge(&arguments, &mut out),
        Command::Suggest(arguments) => suggest::suggest(&arguments, &mut out),
        Command::Explain { name } => explain(name.as_deref(), &mut out),
        Command::Completions(arguments) => describe::completions(&arguments, &mut out),
        Command::Man(arguments) => describe::man(&arguments, &mut out),
    };
    match exit {
        Ok(exit) => ExitCode::from(exit as u8),
        // The reader closed the pipe, which is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&error.to_string()),
    }
}

/// The result of `cargo volta check --stdin`.
#[derive(Clone, Debug)]
pub struct Answer {
    /// An object, as docs/check.schema.json describes it.
    pub json: String,
    /// The message for people.
    pub message: String,
}

/// Runs the case in a document as `cargo volta check --stdin --format json` does, for programs that use Volta as a
/// library.
///
/// No verdict is cached: a key has a hash of the program's file, and a library cannot tell its own.
///
/// # Errors
/// When the document is too long, or no folder can be created for its sources.
pub fn answer(document: String) -> io::Result<Answer> {
    let words = ["cargo-volta", "check", "--stdin", "--format", "json", "--no-cache"];
    let Command::Check(arguments) = Cli::try_parse_from(words).map_err(io::Error::other)?.command else {
        return Err(io::Error::other("this is the command `check`"));
    };
    limits::share_among(1);
    let (json, message) = check::answer(&arguments, document)?;
    Ok(Answer { json, message })
}

/// Writes the result of a case to the folder that `VOLTA_JSON` names, as `cargo volta check --format json` prints it.
pub(crate) fn write_result(case: &Case, run: Run) -> Result<Run, String> {
    let Some(folder) = env::var_os("VOLTA_JSON").filter(|folder| !folder.is_empty()) else { return Ok(run) };
    let folder = PathBuf::from(folder);
    let file = case.home.document.is_none().then(|| case.home.file.clone());
    let checked = Checked { case: Some(case.clone()), ..Checked::new(&case.name, file, run) };
    let name = case.name.replace(|c: char| !c.is_alphanumeric() && !"=,.-".contains(c), "_");
    let path = folder.join(format!("{name}.json"));
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(&folder)?;
        files::write(&path, report::json_line_of(&checked)?.as_bytes())
    };
    write().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(checked.run)
}

/// The arguments of the process, without the word `volta` that cargo inserts when it runs the subcommand.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<OsString> = env::args_os().collect();
    if arguments.get(1).is_some_and(|name| name == "volta") {
        arguments.remove(1);
    }
    arguments
}

/// Prints an error, and returns the exit status for a failed command.
fn complain(message: &str) -> ExitCode {
    let paint = Paint::for_stream(&io::stderr());
    eprintln!("{} {}", paint.bad("error:"), crate::render::clean(message));
    ExitCode::from(Exit::CouldNotRun as u8)
}

fn list(selection: &Selection, out: &mut impl Write) -> io::Result<Exit> {
    let mut exit = Exit::Good;
    for selected in select::select(selection) {
        match selected {
            select::Selected::Case(case) => writeln!(out, "{}", crate::render::clean_line(&case.name))?,
            select::Selected::Wrong { message, .. } => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}

/// Runs cases, and writes a page about the results to a file.
fn report_to_file(mut arguments: ReportArgs, out: &mut impl Write) -> io::Result<Exit> {
    if !matches!(arguments.check.format, Format::Human | Format::Html) || arguments.check.list {
        complain("a report is an HTML page: it takes neither `--format` nor `--list`");
        return Ok(Exit::CouldNotRun);
    }
    arguments.check.format = Format::Html;
    let mut page = Vec::new();
    let exit = check::check(&arguments.check, &mut page)?;
    let path = arguments.output.display();
    if let Err(error) = std::fs::write(&arguments.output, page) {
        complain(&format!("{path} cannot be written: {error}"));
        return Ok(Exit::CouldNotRun);
    }
    writeln!(out, "written    {}", crate::render::clean_line(&path.to_string()))?;
    Ok(exit)
}

fn explain(name: Option<&str>, out: &mut impl Write) -> io::Result<Exit> {
    let Some(name) = name else {
        for entry in rules::entries() {
            writeln!(out, "{:<20} {}", entry.name, entry.meaning)?;
        }
        return Ok(Exit::Good);
    };
    if let Some(entry) = rules::find(name) {
        writeln!(out, "{}: {}.\n{}", entry.name, entry.meaning, entry.more)?;
        return Ok(Exit::Good);
    }
    let names = rules::entries().into_iter().map(|entry| entry.name);
    let names = names.chain(Reason::all().into_iter().map(Reason::code));
    let help = match nearest(name, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`cargo volta explain` lists all rules and verdicts".into(),
    };
    complain(&format!("there is no rule or verdict `{name}`\nhelp: {help}"));
    Ok(Exit::CouldNotRun)
}
