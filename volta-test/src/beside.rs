//! Checked-in PTX: `x.sm_80.ptx` beside `x.cu`, with a header that lists what it was compiled from.
//!
//! The header lists the source and every header it includes that is not the toolkit's, each with its SHA-256, the
//! target, and the compiler. When a listed file changes, or another file is included, the PTX is stale.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};

use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::files;
use crate::nvcc::Target;

/// A kernel that includes more files than this is refused.
const MAX_INPUTS: usize = 4096;

/// A longer file is not read.
const MAX_INPUT_BYTES: u64 = 64 << 20;

/// A source file from which PTX was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Its path, relative to the source's folder, with `/`.
    pub path: String,
    /// The hash of its text.
    pub sha256: String,
}

/// The header of checked-in PTX: what it was compiled from, for which target, and by which compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The source, then the headers it includes.
    pub inputs: Vec<Input>,
    /// Architecture and flags.
    pub target: Target,
    /// Compiler and version.
    pub compiler: String,
}

/// Why a text has no usable header.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HeaderError {
    /// It does not begin with one.
    #[error("it has no header that says from what it was made")]
    Missing,
    /// A line of it cannot be read.
    #[error("its header cannot be read: `{0}`")]
    Malformed(String),
    /// It is in another version of the format.
    #[error("its header is in version {0} of the format, and this program reads version {HEADER_VERSION}")]
    Version(String),
}

/// The version of the format of headers, which a header may give as `// volta-version: 1`.
const HEADER_VERSION: u32 = 1;

const MARK: &str = "// volta-";

impl fmt::Display for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, Input { path, sha256 }) in self.inputs.iter().enumerate() {
            let key = if at == 0 { "source" } else { "include" };
            writeln!(f, "{MARK}{key}: {sha256} {path}")?;
        }
        writeln!(f, "{MARK}arch: {}", self.target.arch)?;
        for flag in &self.target.flags {
            writeln!(f, "{MARK}flag: {flag}")?;
        }
        writeln!(f, "{MARK}compiler: {}", self.compiler)
    }
}

impl Header {
    /// Reads the header at the beginning of `text`.
    pub fn parse(text: &str) -> Result<Header, HeaderError> {
        let target = Target { arch: String::new(), flags: Vec::new() };
        let mut header = Header { inputs: Vec::new(), target, compiler: String::new() };
        for line in text.lines() {
            let Some(entry) = line.strip_prefix(MARK) else { break };
            let malformed = || HeaderError::Malformed(line.chars().take(100).collect());
            let (key, value) = entry.split_once(": ").ok_or_else(malformed)?;
            match key {
                "source" | "include" => {
                    let (sha256, path) = value.split_once(' ').ok_or_else(malformed)?;
                    header.inputs.push(Input { path: path.into(), sha256: sha256.into() });
                }
                "arch" => header.target.arch = value.into(),
                "flag" => header.target.flags.push(value.into()),
                "compiler" => header.compiler = value.into(),
                "version" if value == HEADER_VERSION.to_string() => {}
                "version" => return Err(HeaderError::Version(value.chars().take(20).collect())),
                _ => return Err(malformed()),
            }
        }
        if header.inputs.is_empty() || header.target.arch.is_empty() || header.compiler.is_empty() {
            return Err(HeaderError::Missing);
        }
        Ok(header)
    }

    /// Why PTX with this header is stale: not what `source` would compile to now; `None` if it is up to date.
    pub fn stale(&self, source: &Path, target: &Target) -> io::Result<Option<String>> {
        if self.target != *target {
            return Ok(Some("it was made for another architecture or with other flags".into()));
        }
        let now = inputs(source, &target.flags)?;
        for input in &now {
            match self.inputs.iter().find(|old| old.path == input.path) {
                None => return Ok(Some(format!("{} is included now", input.path))),
                Some(old) if old.sha256 != input.sha256 => {
                    return Ok(Some(format!("{} has changed", input.path)));
                }
                Some(_) => {}
            }
        }
        let gone = self.inputs.iter().find(|old| !now.iter().any(|input| input.path == old.path));
        Ok(gone.map(|input| format!("{} is no longer included", input.path)))
    }
}

/// The text below the header.
pub fn body(text: &str) -> &str {
    let mut rest = text;
    while rest.starts_with(MARK) {
        rest = rest.find('\n').map_or("", |end| &rest[end + 1..]);
    }
    rest
}

/// The text below the header without the parts that differ between two runs of one compiler: debug strings, and the
/// hexadecimal numbers in the names of symbols that are local to a translation unit.
pub fn comparable(text: &str) -> String {
    let mut compared = String::with_capacity(text.len());
    let mut in_strings = false;
    for line in body(text).lines() {
        let word = line.split_whitespace().next().unwrap_or("");
        in_strings = (in_strings || line.contains(".debug_str")) && word != "}";
        if in_strings {
            continue;
        }
        let mut rest = line;
        for mark in ["_INTERNAL_", "_GLOBAL__N__"] {
            while let Some((before, after)) = rest.split_once(mark) {
                compared.push_str(before);
                compared.push_str(mark);
                rest = after.trim_start_matches(|c: char| c.is_ascii_hexdigit());
            }
        }
        compared.push_str(rest);
        compared.push('\n');
    }
    compared
}

/// The hash of a text, with line ends normalised to `\n`.
pub fn sha256(bytes: &[u8]) -> String {
    let mut hash = Sha256::new();
    for part in bytes.split_inclusive(|byte| *byte == b'\n') {
        match part.strip_suffix(b"\r\n") {
            Some(line) => {
                hash.update(line);
                hash.update(b"\n");
            }
            None => hash.update(part),
        }
    }
    hex(hash.finalize())
}

/// Bytes in hexadecimal.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The source and every file that it includes, except the toolkit's: searched beside the including file and in the
/// folders given by `-I`. Conditionals are not evaluated, so the list may have files that the compiler does not read.
pub fn inputs(source: &Path, flags: &[String]) -> io::Result<Vec<Input>> {
    let dir = source.parent().unwrap_or(Path::new(""));
    let mut include_dirs = Vec::new();
    let mut words = flags.iter();
    while let Some(flag) = words.next() {
        if matches!(flag.as_str(), "-I" | "--include-path") {
            include_dirs.extend(words.next().map(|path| dir.join(path)));
        } else if let Some(path) = flag.strip_prefix("-I").or_else(|| flag.strip_prefix("--include-path=")) {
            include_dirs.push(dir.join(path));
        }
    }
    let name = source.file_name().unwrap_or_default();
    let mut waiting = vec![PathBuf::from(name)];
    let mut seen = BTreeSet::from([waiting[0].clone()]);
    let mut inputs = Vec::new();
    while let Some(path) = waiting.pop() {
        let bytes = files::read(&dir.join(&path), MAX_INPUT_BYTES)?;
        for include in includes(&String::from_utf8_lossy(&bytes)) {
            let near = path.parent().unwrap_or(Path::new("")).join(&include.path);
            let climbs = include.path.starts_with('/') || include.path.split('/').any(|part| part == "..");
            let beside = (include.quoted || climbs).then(|| normalized(&near));
            let below =
                include_dirs.iter().map(|dir| dir.join(&include.path)).map(|path| relative(&path, dir));
            let found = beside.into_iter().chain(below).find(|path| dir.join(path).is_file());
            if let Some(found) = found
                && seen.insert(found.clone())
            {
                waiting.push(found);
            }
        }
        inputs.push(Input { path: slashed(&path), sha256: sha256(&bytes) });
        if inputs.len() > MAX_INPUTS {
            return Err(io::Error::other(format!("includes more than {MAX_INPUTS} files")));
        }
    }
    inputs[1..].sort_by(|a, b| a.path.cmp(&b.path));
    Ok(inputs)
}

struct Include {
    path: String,
    quoted: bool,
}

/// The files that a text includes.
fn includes(text: &str) -> Vec<Include> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.trim_start().strip_prefix('#') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix("include") else { continue };
        let rest = rest.trim_start();
        let (quoted, end) = match rest.bytes().next() {
            Some(b'"') => (true, '"'),
            Some(b'<') => (false, '>'),
            _ => continue,
        };
        if let Some((path, _)) = rest[1..].split_once(end) {
            found.push(Include { path: path.into(), quoted });
        }
    }
    found
}

/// A path without `.` and without `name/..`.
pub fn normalized(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::CurDir, _) => {}
            (Component::ParentDir, Some(Component::Normal(_))) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.into_iter().collect()
}

/// `path` relative to the folder `from`.
pub fn relative(path: &Path, from: &Path) -> PathBuf {
    let absolute = |path: &Path| normalized(&std::path::absolute(path).unwrap_or_else(|_| path.into()));
    let (path, from) = (absolute(path), absolute(from));
    let shared = path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

/// A path with `/`.
pub fn slashed(path: &Path) -> String {
    let joined =
        path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
    // The root is a component of its own.
    joined.strip_prefix("//").map_or(joined.clone(), |below| format!("/{below}"))
}

/// Rewrites the paths of `.file` directives: inputs relative to the source's folder `dir`, all others as
/// `toolkit:name`, so that PTX does not depend on where it was compiled.
pub fn relative_paths(ptx: &str, dir: &Path, inputs: &[Input]) -> String {
    let rewrite = |line: &str| -> Option<String> {
        let trimmed = line.trim_start();
        if !trimmed.starts_with(".file") {
            return None;
        }
        let (start, rest) = line.split_once('"')?;
        let (path, rest) = rest.split_once('"')?;
        let path = Path::new(path);
        let near = slashed(&relative(&dir.join(path), dir));
        let canonical = || {
            let (path, dir) = (dir.join(path).canonicalize().ok()?, dir.canonicalize().ok()?);
            Some(slashed(&relative(&path, &dir)))
        };
        let is_input = |path: &String| inputs.iter().any(|input| input.path == *path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let shown = Some(near).filter(is_input).or_else(|| canonical().filter(is_input));
        let shown = shown.unwrap_or_else(|| format!("toolkit:{name}"));
        // A `.file` directive may also give the file's time and size, which are dropped.
        let rest = if rest.trim_start().starts_with(',') { "" } else { rest };
        Some(format!("{start}\"{shown}\"{rest}"))
    };
    let mut text = String::with_capacity(ptx.len());
    for line in ptx.lines() {
        match rewrite(line) {
            Some(line) => text.push_str(&line),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
