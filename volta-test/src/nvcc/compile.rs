//! Running the compiler, once per text.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use thiserror::Error;

use super::Target;
use crate::beside::{self, Header};
use crate::files;
use crate::prepare::MAX_PTX_BYTES;

/// A compiler that takes longer is stopped; `VOLTA_NVCC_TIMEOUT` (seconds) is another limit.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A compiler that prints more is stopped.
const MAX_LOG_BYTES: u64 = 64 << 20;

/// The number of bytes of a compiler's output that are shown.
const MAX_SAID: u64 = 1 << 14;

/// The result of compiling a source.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The PTX, with its [`Header`], as it would be checked in.
    pub text: String,
    /// Its header.
    pub header: Header,
    /// Whether it comes from the cache.
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
    /// The compiler wrote without end.
    #[error("nvcc wrote more than {} MiB and was stopped", MAX_LOG_BYTES >> 20)]
    Verbose,
    /// The compiler succeeded, but wrote no PTX.
    #[error("nvcc reported success, but wrote no PTX for {}\n{output}", source_file.display())]
    Nothing {
        /// The source.
        source_file: PathBuf,
        /// The compiler's output.
        output: String,
    },
    /// The compiler refused the source.
    #[error("nvcc refuses {}\n{command}\n{output}", source_file.display())]
    Refused {
        /// The source.
        source_file: PathBuf,
        /// The command.
        command: String,
        /// The compiler's output.
        output: String,
    },
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> CompileError + '_ {
    move |error| CompileError::File { path: path.into(), error }
}

/// Compiles `source`, or takes the PTX from the cache if the same compiler has compiled the same text before.
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
    // Concurrent test processes may need the same PTX; only the first of them compiles it.
    let lock_path = folder.join(format!("{key}.lock"));
    let lock = File::create(&lock_path).map_err(file_error(&lock_path))?;
    lock.lock().map_err(file_error(&lock_path))?;
    if let Some(compiled) = read_cached(&path) {
        return Ok(compiled);
    }
    let body = run(nvcc, source, target, &folder.join(&key))?;
    let header = Header { inputs, target: target.clone(), compiler: version(nvcc, &folder.join(&key))? };
    let dir = source.parent().unwrap_or(Path::new("."));
    let text = format!("{header}{}", beside::relative_paths(&body, dir, &header.inputs));
    // Invalid PTX is not cached: a compiler that was interrupted may succeed the next time.
    if volta_core::ptx::parse(&text).is_ok() {
        files::write(&path, text.as_bytes()).map_err(file_error(&path))?;
    }
    // The lock file can be removed: processes that hold it open still wait for the lock, later ones find the PTX.
    let _ = fs::remove_file(&lock_path);
    Ok(Compiled { text, header, cached: false })
}

fn read_cached(path: &Path) -> Option<Compiled> {
    let text = files::read_text(path, MAX_PTX_BYTES).ok()?;
    let header = Header::parse(&text).ok()?;
    Some(Compiled { text, header, cached: true })
}

/// A hash of everything that the compiler's result depends on.
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
    let output = Scrap(scratch.with_extension("out"));
    let log = Scrap(scratch.with_extension("log"));
    let mut command = Command::new(nvcc);
    command.arg("-ptx").arg("-lineinfo").arg(format!("-arch={}", target.arch)).args(&target.flags);
    if let Some(host) = host_compiler() {
        command.arg("-ccbin").arg(host);
    }
    let dir = source.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    command.arg("-o").arg(absolute(&output.0)).arg(source.file_name().unwrap_or_default()).current_dir(dir);
    // Flags from the environment would be missing in the cache key and in the header.
    command.env_remove("NVCC_APPEND_FLAGS").env_remove("NVCC_PREPEND_FLAGS");
    let status = run_bounded(&mut command, nvcc, &log.0, &output.0)?;
    if !status.success() {
        let (command, output) = (shown_command(&command), said(&log.0));
        return Err(CompileError::Refused { source_file: source.into(), command, output });
    }
    if !output.0.exists() {
        return Err(CompileError::Nothing { source_file: source.into(), output: said(&log.0) });
    }
    let bytes = files::read(&output.0, MAX_PTX_BYTES).map_err(file_error(&output.0))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A temporary file or folder, removed when dropped.
struct Scrap(PathBuf);

impl Drop for Scrap {
    fn drop(&mut self) {
        let _ = if self.0.is_dir() { fs::remove_dir_all(&self.0) } else { fs::remove_file(&self.0) };
    }
}

/// The beginning of what a program wrote to `log`.
fn said(log: &Path) -> String {
    let mut bytes = Vec::new();
    let _ = File::open(log).and_then(|file| file.take(MAX_SAID).read_to_end(&mut bytes));
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    if log.metadata().is_ok_and(|about| about.len() > MAX_SAID) {
        text.push_str("\n… and more");
    }
    text
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

fn shown_command(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// Runs a command with its output in `log`, and kills it and its children when it takes too long or writes too much.
fn run_bounded(
    command: &mut Command,
    nvcc: &Path,
    log: &Path,
    output: &Path,
) -> Result<ExitStatus, CompileError> {
    let log_file = File::create(log).map_err(file_error(log))?;
    let errors = log_file.try_clone().map_err(file_error(log))?;
    command.stdin(Stdio::null()).stdout(log_file).stderr(errors);
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
        let length = |path: &Path| path.metadata().map_or(0, |about| about.len());
        if length(log) > MAX_LOG_BYTES || length(output) > MAX_PTX_BYTES {
            end(&mut child);
            return Err(CompileError::Verbose);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn end(child: &mut Child) {
    // Killing nvcc alone would leave its child processes running, so the whole process group is killed.
    #[cfg(unix)]
    let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
    let _ = child.kill();
    let _ = child.wait();
}

/// The host compiler for `-ccbin`; `None` if `NVCC_CCBIN` is set, which nvcc reads itself.
fn host_compiler() -> Option<OsString> {
    if std::env::var_os("NVCC_CCBIN").is_some() {
        return None;
    }
    // Outside of a build script, the variables that cargo sets for `cc` are missing, so they are given here.
    let triple = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let mut build = cc::Build::new();
    build.cpp(true).cargo_metadata(false).cargo_warnings(false).cargo_debug(false);
    build.target(&triple).host(&triple).opt_level(2);
    build.try_get_compiler().ok().map(|tool| tool.path().as_os_str().to_owned())
}

/// `nvcc 13.5.37`
fn version(nvcc: &Path, scratch: &Path) -> Result<String, CompileError> {
    let log = Scrap(scratch.with_extension("version"));
    run_bounded(Command::new(nvcc).arg("--version"), nvcc, &log.0, &log.0)?;
    let text = said(&log.0);
    let mut words = text.split(|c: char| c.is_whitespace() || c == ',');
    let is_version = |word: &&str| {
        word.strip_prefix('V').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let version = words.rfind(is_version).map_or("of unknown version", |word| &word[1..]);
    Ok(format!("nvcc {version}"))
}
