//! Running the compiler, once per text.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::Target;
use crate::beside::{self, Header};

/// A compiler that takes longer is stopped; `VOLTA_NVCC_TIMEOUT` (seconds) is another limit.
const TIMEOUT: Duration = Duration::from_secs(300);

/// What the compiler made of a source.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The PTX, with its [`Header`], as it would be checked in.
    pub text: String,
    /// Its header.
    pub header: Header,
    /// Whether an earlier run had made it.
    pub cached: bool,
}

/// Why there is no PTX.
#[derive(Debug, Error)]
pub enum CompileError {
    /// A file could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The compiler could not be started.
    #[error("cannot run {}: {error}", nvcc.display())]
    Start {
        /// Its path.
        nvcc: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The compiler took too long.
    #[error("nvcc took longer than {seconds} s and was stopped; VOLTA_NVCC_TIMEOUT allows more")]
    Timeout {
        /// The limit.
        seconds: u64,
    },
    /// The compiler refused the source.
    #[error("nvcc refuses {}\n{command}\n{output}", source_file.display())]
    Refused {
        /// The source.
        source_file: PathBuf,
        /// The command.
        command: String,
        /// What the compiler said.
        output: String,
    },
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> CompileError + '_ {
    move |error| CompileError::File { path: path.into(), error }
}

/// Compiles `source`, or takes what an earlier run made of the same text with the same compiler.
pub(super) fn compile(
    nvcc: &Path,
    source: &Path,
    target: &Target,
    cache: &Path,
) -> Result<Compiled, CompileError> {
    let inputs = beside::inputs(source, &target.flags).map_err(file_error(source))?;
    let key = cache_key(nvcc, target, &inputs).map_err(file_error(nvcc))?;
    let folder = cache.join("ptx");
    fs::create_dir_all(&folder).map_err(file_error(&folder))?;
    let path = folder.join(format!("{key}.ptx"));
    if let Some(compiled) = read_cached(&path) {
        return Ok(compiled);
    }
    // Tests run in processes of their own; only the first of them compiles.
    let lock_path = folder.join(format!("{key}.lock"));
    let lock = File::create(&lock_path).map_err(file_error(&lock_path))?;
    lock.lock().map_err(file_error(&lock_path))?;
    if let Some(compiled) = read_cached(&path) {
        return Ok(compiled);
    }
    let body = run(nvcc, source, target, &folder.join(&key))?;
    let header = Header { inputs, target: target.clone(), compiler: version(nvcc)? };
    let dir = source.parent().unwrap_or(Path::new("."));
    let text = format!("{header}{}", beside::relative_paths(&body, dir, &header.inputs));
    let partial = folder.join(format!("{key}.partial"));
    fs::write(&partial, &text).map_err(file_error(&partial))?;
    fs::rename(&partial, &path).map_err(file_error(&path))?;
    // The lock's file may go: who holds it open still waits for it, who comes later finds the PTX.
    let _ = fs::remove_file(&lock_path);
    Ok(Compiled { text, header, cached: false })
}

fn read_cached(path: &Path) -> Option<Compiled> {
    let text = fs::read_to_string(path).ok()?;
    let header = Header::parse(&text).ok()?;
    Some(Compiled { text, header, cached: true })
}

/// A name for everything that decides what the compiler will make.
fn cache_key(nvcc: &Path, target: &Target, inputs: &[beside::Input]) -> io::Result<String> {
    let nvcc = nvcc.canonicalize()?;
    let about = nvcc.metadata()?;
    let modified = about.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let host = ["CXX", "NVCC_CCBIN"].map(std::env::var_os);
    let compiler = format!("{} {} {modified:?} {host:?}", nvcc.display(), about.len());
    let mut parts = vec!["volta 1".to_owned(), compiler, target.arch.clone()];
    parts.extend(target.flags.iter().map(|flag| format!("flag {flag}")));
    parts.extend(inputs.iter().map(|input| format!("{} {}", input.sha256, input.path)));
    Ok(beside::sha256(parts.join("\n").as_bytes()))
}

/// Runs the compiler in the source's folder.
fn run(nvcc: &Path, source: &Path, target: &Target, scratch: &Path) -> Result<String, CompileError> {
    let output = scratch.with_extension("out");
    let log = scratch.with_extension("log");
    let mut command = Command::new(nvcc);
    command.arg("-ptx").arg("-lineinfo").arg(format!("-arch={}", target.arch)).args(&target.flags);
    if let Some(host) = host_compiler() {
        command.arg("-ccbin").arg(host);
    }
    let dir = source.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    command.arg("-o").arg(absolute(&output)).arg(source.file_name().unwrap_or_default()).current_dir(dir);
    // Flags from the environment would be part of no key and no header.
    command.env_remove("NVCC_APPEND_FLAGS").env_remove("NVCC_PREPEND_FLAGS");
    let log_file = File::create(&log).map_err(file_error(&log))?;
    let errors = log_file.try_clone().map_err(file_error(&log))?;
    command.stdin(Stdio::null()).stdout(log_file).stderr(errors);
    let status = run_bounded(&mut command, nvcc)?;
    let said = fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let _ = fs::remove_file(&log);
    if !status.success() {
        let command = shown_command(&command);
        return Err(CompileError::Refused { source_file: source.into(), command, output: said });
    }
    let bytes = fs::read(&output).map_err(file_error(&output))?;
    let _ = fs::remove_file(&output);
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

fn shown_command(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Waits for a command, and ends it and its children when it takes too long.
fn run_bounded(command: &mut Command, nvcc: &Path) -> Result<ExitStatus, CompileError> {
    let limit = std::env::var("VOLTA_NVCC_TIMEOUT").ok().and_then(|seconds| seconds.parse().ok());
    let limit = limit.map_or(TIMEOUT, Duration::from_secs);
    let start_error = |error| CompileError::Start { nvcc: nvcc.into(), error };
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = command.spawn().map_err(start_error)?;
    let begin = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().map_err(start_error)? {
            return Ok(status);
        }
        if begin.elapsed() > limit {
            end(&mut child);
            return Err(CompileError::Timeout { seconds: limit.as_secs() });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn end(child: &mut Child) {
    // nvcc's own children go on without it, unless their whole group is ended.
    #[cfg(unix)]
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.kill();
    let _ = child.wait();
}

/// The host compiler for `-ccbin`; nvcc finds its own when `NVCC_CCBIN` says so.
fn host_compiler() -> Option<OsString> {
    if std::env::var_os("NVCC_CCBIN").is_some() {
        return None;
    }
    // No build script runs, so what cargo would tell one is set here.
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cc::Build::new();
    build.cpp(true).cargo_metadata(false).cargo_warnings(false).cargo_debug(false);
    build.target(&triple).host(&triple).opt_level(2);
    build.try_get_compiler().ok().map(|tool| tool.path().as_os_str().to_owned())
}

/// `nvcc 13.5.37`
fn version(nvcc: &Path) -> Result<String, CompileError> {
    let output = Command::new(nvcc).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|error| CompileError::Start { nvcc: nvcc.into(), error })?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
    let is_version = |word: &&str| {
        word.strip_prefix('V').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let version = words.rfind(is_version).map_or("of unknown version", |word| &word[1..]);
    Ok(format!("nvcc {version}"))
}
