//! From the files that a case names to the PTX that is verified.

use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use volta_case::InputProblem;
use volta_core::case::{Contents, Param, ParamKind, Which};
use volta_core::graph::Graph;
use volta_core::number::Extended;

use crate::beside::{self, Header, normalized};
use crate::case::{Case, DataFile, GraphSource, Home, Kernel};
use crate::contents;
use crate::files;
use crate::manifest;
use crate::nvcc::{self, CompileError, Target, Toolchain};

/// A longer PTX file is not read.
pub(crate) const MAX_PTX_BYTES: u64 = 256 << 20;

/// Why a case could not be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Its code, for programs.
    pub kind: InputProblem,
    /// One sentence.
    pub message: String,
    /// The output of another program, such as the compiler.
    pub detail: Option<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Obstacle {
    /// An obstacle without detail.
    pub fn new(kind: InputProblem, message: impl Into<String>, help: Option<String>) -> Obstacle {
        Obstacle { kind, message: message.into(), detail: None, help }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(detail) = &self.detail {
            write!(f, "\n{}", detail.trim_end())?;
        }
        match &self.help {
            Some(help) => write!(f, "\nhelp: {help}"),
            None => Ok(()),
        }
    }
}

/// The origin of a PTX text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MadeBy {
    /// The case names a `.ptx` file.
    Given,
    /// Compiled on this machine, by this compiler.
    Here(String),
    /// Checked in; its header names this compiler.
    CheckedIn(String),
}

/// A PTX text.
#[derive(Clone, Debug)]
pub struct Ptx {
    /// The text.
    pub text: String,
    /// Its path in messages, relative to the case.
    pub path: String,
    /// Its origin.
    pub made_by: MadeBy,
}

/// The PTX of all launches of a case, where available.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    ptx: Vec<(Which, usize, Ptx)>,
    graphs: Vec<(Which, usize, Arc<Graph>)>,
    data: Arc<Vec<TensorData>>,
}

/// The elements of a tensor from a file.
#[derive(Clone, Debug)]
pub struct TensorData {
    /// The tensor.
    pub of: String,
    /// Its elements.
    pub elements: Vec<Extended>,
}

impl Texts {
    /// The texts of launches, each with its side and the number of its step.
    pub fn new(texts: impl IntoIterator<Item = (Which, usize, Ptx)>) -> Texts {
        Texts { ptx: texts.into_iter().collect(), graphs: Vec::new(), data: Arc::default() }
    }

    /// These texts with the graphs of a case, each with its side and the number of its step.
    #[must_use]
    pub fn with_graphs(self, graphs: Vec<(Which, usize, Arc<Graph>)>) -> Texts {
        Texts { graphs, ..self }
    }

    /// These texts with the contents of tensors from files.
    #[must_use]
    pub fn with_data(self, data: Arc<Vec<TensorData>>) -> Texts {
        Texts { data, ..self }
    }

    /// The contents of tensors from files.
    pub fn data(&self) -> &Arc<Vec<TensorData>> {
        &self.data
    }

    /// The parameters of a case, with the contents of files; `None` if some are not here.
    pub fn params(&self, case: &Case) -> Option<Vec<Param>> {
        let mut params = case.params.clone();
        for DataFile { of, .. } in &case.data {
            let own = self.data.iter().find(|data| data.of == *of)?;
            let param = params.iter_mut().find(|param| param.name == *of)?;
            let ParamKind::Tensor { contents, .. } = &mut param.kind else { return None };
            *contents = Contents::List(own.elements.clone());
        }
        Some(params)
    }

    /// The graph of a step of a side.
    pub fn graph(&self, case: &Case, side: Which, step: usize) -> Option<&Arc<Graph>> {
        let at = (side, case.side(side).once(step));
        self.graphs.iter().find(|(which, step, _)| (*which, *step) == at).map(|(_, _, graph)| graph)
    }

    /// The PTX of a step of a side: if it is done again, that of the first time.
    pub fn of(&self, case: &Case, side: Which, step: usize) -> Option<&Ptx> {
        self.at(side, case.side(side).once(step))
    }

    /// The PTX of the launch that is step `at` of a side.
    pub fn at(&self, side: Which, at: usize) -> Option<&Ptx> {
        self.ptx.iter().find(|(which, step, _)| (*which, *step) == (side, at)).map(|(_, _, ptx)| ptx)
    }

    /// All texts.
    pub fn all(&self) -> impl Iterator<Item = &Ptx> {
        self.ptx.iter().map(|(_, _, ptx)| ptx)
    }

    /// All texts of a side.
    pub fn of_side(&self, side: Which) -> impl Iterator<Item = &Ptx> {
        self.ptx.iter().filter(move |(which, ..)| *which == side).map(|(_, _, ptx)| ptx)
    }

    /// Only the PTX files that the case itself names; compiled PTX is left out.
    pub fn given(&self) -> Texts {
        let given = self.ptx.iter().filter(|(_, _, ptx)| ptx.made_by == MadeBy::Given).cloned();
        Texts::new(given).with_graphs(self.graphs.clone()).with_data(Arc::clone(&self.data))
    }

    /// The origin of each text in words; nothing for PTX that the case names itself.
    pub fn provenance(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for ptx in self.all() {
            let line = match &ptx.made_by {
                MadeBy::Given => continue,
                MadeBy::Here(compiler) => format!("{} as compiled here by {compiler}", ptx.path),
                MadeBy::CheckedIn(compiler) => {
                    format!("{} as checked in, made by {compiler}; no compiler is used", ptx.path)
                }
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines
    }

    /// The compilers that made the texts.
    pub fn compilers(&self) -> String {
        let names = self.all().filter_map(|ptx| match &ptx.made_by {
            MadeBy::Given => None,
            MadeBy::Here(compiler) | MadeBy::CheckedIn(compiler) => Some(compiler.as_str()),
        });
        names.collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    }
}

/// The PTX of one side, ready to verify.
#[derive(Clone, Debug)]
pub struct Offer {
    /// The PTX to verify.
    pub ptx: Ptx,
    /// The checked-in PTX if its text differs: it must lead to the same verdict.
    pub checked_in: Option<Ptx>,
    /// Remarks on the origin of the PTX, for the report of the run.
    pub notes: Vec<String>,
}

/// A graph that is a step of a side.
///
/// # Errors
/// When its file cannot be read, or holds no graph.
pub fn graph(case: &Case, which: Which, source: &GraphSource) -> Result<Arc<Graph>, Obstacle> {
    let file = match source {
        GraphSource::Here(graph) => return Ok(Arc::clone(graph)),
        GraphSource::File(file) => file,
    };
    let path = locate_path(&case.home, file, volta_case::path_problem)?;
    let text = read(&path)?;
    match manifest::graph::parse(&path, &text, &case.params, which) {
        Ok(graph) => Ok(Arc::new(Graph { name: file.clone(), ..graph })),
        Err(problems) => {
            let (kind, message, help) = manifest::graph::told(file, &text, &problems);
            Err(Obstacle::new(kind, message, help))
        }
    }
}

/// The contents of the tensors of a case that are in files.
///
/// # Errors
/// When a file cannot be read, or does not fit its tensor.
pub fn data(case: &Case) -> Result<Arc<Vec<TensorData>>, Obstacle> {
    let read = |DataFile { of, file }: &DataFile| {
        let path = locate_path(&case.home, file, volta_case::path_problem)?;
        let bytes = files::read(&path, contents::MAX_BYTES).map_err(|error| unreadable(&path, &error))?;
        let param = case.params.iter().find(|param| param.name == *of);
        let Some((param, ParamKind::Tensor { shape, .. })) = param.map(|param| (param, &param.kind)) else {
            let message = format!("{file}: `{of}` is no tensor");
            return Err(Obstacle::new(InputProblem::WrongValue, message, None));
        };
        let elements = contents::elements(file, &bytes, param.elements(), shape)?;
        Ok(TensorData { of: of.clone(), elements })
    };
    Ok(Arc::new(case.data.iter().map(read).collect::<Result<_, _>>()?))
}

/// The file that `kernel` names.
///
/// # Errors
/// When it does not exist, or lies outside the case's root.
pub fn locate(case: &Case, kernel: &Kernel) -> Result<PathBuf, Obstacle> {
    let root = &case.home.root;
    let source = locate_path(&case.home, &kernel.source, volta_case::source_problem)?;
    if kernel.source.ends_with(".cu")
        && let Some((message, help)) = nvcc::refusal(&source, &kernel.target, root)
    {
        return Err(Obstacle::new(
            InputProblem::RefusedFlag,
            format!("{}: {message}", kernel.source),
            Some(help),
        ));
    }
    Ok(source)
}

/// The file of a path in a case, in which `wrong` finds what is wrong.
fn locate_path(home: &Home, source: &str, wrong: fn(&str) -> Option<String>) -> Result<PathBuf, Obstacle> {
    let Home { dir, root, .. } = home;
    if let Some(message) = wrong(source) {
        return Err(Obstacle::new(InputProblem::WrongValue, message, None));
    }
    let path = normalized(&dir.join(source));
    let outside = || {
        let help = format!("cases read files below {} only", root.display());
        Err(Obstacle::new(
            InputProblem::FileOutside,
            format!("{source} is outside of the case's folder"),
            Some(help),
        ))
    };
    let absolute = |path: &Path| normalized(&std::path::absolute(path).unwrap_or_else(|_| path.into()));
    if !absolute(&path).starts_with(absolute(root)) {
        return outside();
    }
    let Ok(real) = path.canonicalize() else {
        let help = nearest_file(&path).map(|near| format!("did you mean `{near}`?"));
        let message = format!("there is no file {}", beside::slashed(&home.shown(&path)));
        return Err(Obstacle::new(InputProblem::FileNotFound, message, help));
    };
    // A link must not lead out of the root either.
    if root.canonicalize().is_ok_and(|root| !real.starts_with(root)) {
        return outside();
    }
    Ok(path)
}

/// The name of a file in the same folder with the smallest edit distance, if it is similar.
fn nearest_file(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let entries = fs::read_dir(path.parent()?).ok()?;
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
    let mut names: Vec<String> = names.collect();
    names.sort();
    volta_case::nearest(&name, names.iter().map(String::as_str)).map(str::to_owned)
}

/// Reads or compiles the PTX of one side.
pub fn prepare(case: &Case, kernel: &Kernel, toolchain: &Toolchain) -> Result<Offer, Obstacle> {
    let source = locate(case, kernel)?;
    if kernel.source.ends_with(".ptx") {
        if !kernel.target.flags.is_empty() {
            let message = format!("{} is already PTX: `flags` have no effect on it", kernel.source);
            return Err(Obstacle::new(InputProblem::WrongValue, message, None));
        }
        let ptx = Ptx { text: read(&source)?, path: kernel.source.clone(), made_by: MadeBy::Given };
        return Ok(Offer { ptx, checked_in: None, notes: Vec::new() });
    }
    let target = &kernel.target;
    let beside = source.with_file_name(nvcc::file_name(target, &source));
    let path = Path::new(&kernel.source).with_file_name(nvcc::file_name(target, &source));
    let path = beside::slashed(&path);
    let refresh = refresh_command(case, &source, target);
    if beside.exists() && !files::lies_below(&beside, &case.home.root) {
        let help = format!("cases read files below {} only", case.home.root.display());
        return Err(Obstacle::new(
            InputProblem::FileOutside,
            format!("{path} is outside of the case's folder"),
            Some(help),
        ));
    }
    let checked_in = match beside.is_file() {
        true => Some(read_checked_in(&beside, &source, target, &path, &refresh)?),
        false => None,
    };
    let compiler = toolchain
        .compiler()
        .map_err(|missing| Obstacle::new(InputProblem::NoCompiler, missing.to_string(), None))?;
    let mut notes = Vec::new();
    let Some(nvcc) = compiler else {
        let Some(ptx) = checked_in else {
            let message = format!("there is no nvcc here, and no {path} beside {}", kernel.source);
            let help = refresh.map_or_else(
                || format!("{NO_FOLDER}; VOLTA_NVCC names a compiler"),
                |refresh| {
                    let made = "writes the file, to be checked in; VOLTA_NVCC names a compiler";
                    format!("where there is an nvcc, `{refresh}` {made}")
                },
            );
            return Err(Obstacle::new(InputProblem::NoCompiler, message, Some(help)));
        };
        return Ok(Offer { ptx, checked_in: None, notes });
    };
    let compiled = match (toolchain.compile(nvcc, &source, target), checked_in) {
        (Ok(compiled), checked_in) => (compiled, checked_in),
        // Newer toolkits drop old architectures; the checked-in PTX for these is still verified.
        (Err(CompileError::Refused { output, .. }), Some(ptx))
            if output.contains("Unsupported gpu architecture") =>
        {
            let arch = &target.arch;
            notes.push(format!("{path}: the checked-in PTX is verified; nvcc here does not know {arch}"));
            return Ok(Offer { ptx, checked_in: None, notes });
        }
        (Err(error), _) => return Err(compile_obstacle(&case.home, error)),
    };
    let (compiled, checked_in) = compiled;
    if let (None, Some(refresh)) = (&checked_in, refresh) {
        notes.push(format!("{path} is not checked in: without nvcc this case fails; `{refresh}` writes it"));
    }
    let is_other = |ptx: &Ptx| beside::comparable(&ptx.text) != beside::comparable(&compiled.text);
    let made_by = MadeBy::Here(compiled.header.compiler.clone());
    Ok(Offer {
        checked_in: checked_in.filter(is_other),
        ptx: Ptx { text: compiled.text, path, made_by },
        notes,
    })
}

/// What the compiler says. Of a case that is in no file, sources have the names of its document, and nobody can repeat
/// the command.
fn compile_obstacle(home: &Home, mut error: CompileError) -> Obstacle {
    if home.document.is_some()
        && let CompileError::Refused { source_file, output, .. }
        | CompileError::Nothing { source_file, output } = &mut error
    {
        let root = format!("{}/", home.root.display());
        (*source_file, *output) = (home.shown(source_file), output.replace(&root, ""));
    }
    let text = match &error {
        CompileError::Refused { command, .. } if home.document.is_some() => {
            error.to_string().replacen(&format!("\n{command}"), "", 1)
        }
        CompileError::Refused { .. }
        | CompileError::File { .. }
        | CompileError::Start { .. }
        | CompileError::Timeout { .. }
        | CompileError::Verbose
        | CompileError::Nothing { .. } => error.to_string(),
    };
    let (message, detail) = text.split_once('\n').unwrap_or((&text, ""));
    let detail = Some(detail.to_owned()).filter(|detail| !detail.is_empty());
    Obstacle { kind: InputProblem::DoesNotCompile, message: message.into(), detail, help: None }
}

/// Reads a file, if it is not too long.
fn read(path: &Path) -> Result<String, Obstacle> {
    files::read_text(path, MAX_PTX_BYTES).map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Obstacle {
    Obstacle::new(InputProblem::FileUnreadable, format!("{}: {error}", path.display()), None)
}

fn read_checked_in(
    beside: &Path,
    source: &Path,
    target: &Target,
    path: &str,
    refresh: &Option<String>,
) -> Result<Ptx, Obstacle> {
    let text = read(beside)?;
    let stale = |why: String| {
        Obstacle::new(
            InputProblem::StalePtx,
            format!("{path} is stale: {why}"),
            Some(refresh.clone().map_or_else(|| NO_FOLDER.into(), |refresh| format!("run `{refresh}`"))),
        )
    };
    let header = Header::parse(&text).map_err(|error| stale(error.to_string()))?;
    let reason = header.stale(source, target);
    match reason.map_err(|error| unreadable(source, &error))? {
        Some(reason) => Err(stale(reason)),
        None => Ok(Ptx { text, path: path.into(), made_by: MadeBy::CheckedIn(header.compiler) }),
    }
}

/// Advice about missing PTX of a source that lies in no folder.
const NO_FOLDER: &str = "give the PTX itself among the sources, and name it";

/// The command that recompiles the PTX of a source; `None` for a source that lies in no folder.
fn refresh_command(case: &Case, source: &Path, target: &Target) -> Option<String> {
    if case.home.document.is_some() {
        return None;
    }
    let shown = |path: &Path| shell_word(&shown(path).to_string_lossy());
    if case.home.file.file_name().is_some_and(|name| name == manifest::FILE_NAME) {
        return Some(format!("cargo volta refresh {}", shown(&case.home.dir)));
    }
    let flags = target.flags.iter().map(|flag| format!(" --flag={}", shell_word(flag))).collect::<String>();
    Some(format!("cargo volta refresh {} --arch {}{flags}", shown(source), target.arch))
}

/// A path for messages: relative to the current directory, unless that leads up three folders or more.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let near = beside::relative(path, &std::env::current_dir().unwrap_or_default());
    match near.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false if near.starts_with("../../..") => path.to_owned(),
        false => near,
    }
}

/// A word as a shell reads it.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
