//! `cargo volta refresh`: compiles sources, and writes their PTX beside them or compares it with the checked-in PTX.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::select::{Selected, select_whole};
use super::{Exit, RefreshArgs, Selection, complain};
use crate::beside::Header;
use crate::files;
use crate::manifest;
use crate::nvcc::{self, Target, Toolchain};
use crate::prepare::{self, locate};
use crate::render::{self, Paint};

pub(super) fn refresh(arguments: &RefreshArgs, out: &mut impl Write) -> io::Result<Exit> {
    let mut exit = Exit::Good;
    let mut fail = |message: &str| {
        complain(message);
        exit = Exit::CouldNotRun;
    };
    let mut jobs: Vec<(PathBuf, Target)> = Vec::new();
    let is_source = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "cu");
    for source in arguments.paths.iter().filter(is_source) {
        let target = Target { arch: arguments.arch.clone(), flags: arguments.flags.clone() };
        match source.is_file() {
            true => jobs.push((source.clone(), target)),
            false => fail(&format!("there is no file {}", source.display())),
        }
    }
    let selection = Selection {
        paths: arguments.paths.iter().filter(|path| !is_source(path)).cloned().collect(),
        exact: Vec::new(),
        filter: Vec::new(),
        exclude: Vec::new(),
        root: arguments.root.clone(),
    };
    for selected in select_whole(&selection) {
        let folder = match selected {
            Selected::Case(folder) => folder,
            Selected::Wrong { message, .. } => {
                fail(&message);
                continue;
            }
        };
        let case = match manifest::load(&folder.name, &folder.dir, &folder.root) {
            Ok(case) => case,
            Err(unreadable) => {
                eprint!("{}", render::unreadable(&unreadable, Paint::for_stream(&io::stderr())));
                fail(&format!("{} cannot be read", folder.name));
                continue;
            }
        };
        for (_, _, kernel) in case.kernels().filter(|(_, _, kernel)| kernel.source.ends_with(".cu")) {
            match locate(&case, kernel) {
                Ok(source) => {
                    let target = kernel.target.clone();
                    if !jobs.contains(&(source.clone(), target.clone())) {
                        jobs.push((source, target));
                    }
                }
                Err(obstacle) => fail(&format!("{}: {obstacle}", case.name)),
            }
        }
    }
    let toolchain = Toolchain::from_environment();
    let nvcc = match toolchain.compiler() {
        Ok(Some(nvcc)) => nvcc,
        Ok(None) => {
            fail("there is no nvcc here\nhelp: VOLTA_NVCC names one");
            return Ok(exit);
        }
        Err(missing) => {
            fail(&missing.to_string());
            return Ok(exit);
        }
    };
    let one = |(source, target): &(PathBuf, Target)| refresh_one(&toolchain, nvcc, source, target, arguments);
    let refreshed: Vec<_> = jobs.par_iter().map(one).collect();
    for refreshed in refreshed {
        match refreshed {
            Ok((path, found)) => {
                let path = render::clean_line(&path.to_string_lossy());
                writeln!(out, "{:<10} {path}", found.word())?;
                if matches!(found, Found::Stale) && exit == Exit::Good {
                    exit = Exit::Failed;
                }
            }
            Err(message) => {
                complain(&message);
                exit = Exit::CouldNotRun;
            }
        }
    }
    Ok(exit)
}

/// The state of the checked-in PTX of a source.
enum Found {
    UpToDate,
    /// It was missing or different, and was written.
    Written,
    /// It is missing or different, and was left unchanged.
    Stale,
}

impl Found {
    fn word(&self) -> &'static str {
        match self {
            Found::UpToDate => "up to date",
            Found::Written => "written",
            Found::Stale => "stale",
        }
    }
}

fn refresh_one(
    toolchain: &Toolchain,
    nvcc: &Path,
    source: &Path,
    target: &Target,
    arguments: &RefreshArgs,
) -> Result<(PathBuf, Found), String> {
    let path = source.with_file_name(nvcc::file_name(target, source));
    let old = files::read_text(&path, prepare::MAX_PTX_BYTES).ok();
    let header = old.as_deref().and_then(|text| Header::parse(text).ok());
    let is_fresh = header.is_some_and(|header| matches!(header.stale(source, target), Ok(None)));
    if is_fresh && !arguments.force && !arguments.check {
        return Ok((path, Found::UpToDate));
    }
    let compiled = toolchain.compile(nvcc, source, target).map_err(|error| error.to_string())?;
    let is_same = |old: &str| match arguments.check {
        true => code(old).eq(code(&compiled.text)),
        false => old == compiled.text,
    };
    if old.as_deref().is_some_and(is_same) {
        return Ok((path, Found::UpToDate));
    }
    if arguments.check {
        return Ok((path, Found::Stale));
    }
    files::write(&path, compiled.text.as_bytes()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok((path, Found::Written))
}

/// The lines of PTX without the parts that depend on the path of its source: strings of debug information, and the
/// hexadecimal digits that `nvcc` derives from the path for names of local symbols.
fn code(ptx: &str) -> impl Iterator<Item = String> {
    let digits = |name: &str| name.bytes().take_while(u8::is_ascii_hexdigit).count();
    let without_path = move |line: &str| {
        let mut parts = line.split("_INTERNAL_");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |line, name| line + "_INTERNAL_" + &name[digits(name)..])
    };
    ptx.lines().filter(|line| !line.starts_with(".b8 ")).map(without_path)
}
