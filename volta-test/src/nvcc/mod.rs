//! The CUDA compiler: finding it, running it, and a cache of its results.
//!
//! A compiler is optional: the PTX of a source may be checked in beside it (see [`crate::beside`]).

mod compile;
mod confine;
mod find;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use compile::{CompileError, Compiled};
pub use confine::refusal;
pub use find::{Missing, find};
pub use volta_case::Target;

use crate::cache::{Home, folder};

/// The name of the checked-in PTX beside `name.cu`: `name.sm_80.use_fast_math.ptx`.
pub fn file_name(target: &Target, source: &Path) -> String {
    let stem = source.file_stem().unwrap_or_default().to_string_lossy();
    let slug = target.flags.iter().map(|flag| slug(flag)).filter(|slug| !slug.is_empty());
    let slug = slug.collect::<Vec<_>>().join("-");
    let dot = if slug.is_empty() { "" } else { "." };
    format!("{stem}.{}{dot}{slug}.ptx", target.arch)
}

/// A flag as a part of a file's name.
fn slug(flag: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    flag.trim_start_matches('-').chars().map(word).collect()
}

/// The compiler of this process, searched for once, and the folder of its cached results.
#[derive(Debug)]
pub struct Toolchain {
    disabled: bool,
    found: OnceLock<Result<Option<PathBuf>, Missing>>,
    cache: PathBuf,
}

impl Toolchain {
    /// The compiler that the environment names.
    pub fn from_environment() -> Toolchain {
        Toolchain { disabled: false, found: OnceLock::new(), cache: folder(Home::Near) }
    }

    /// A toolchain without a compiler: checked-in PTX is verified.
    pub fn none() -> Toolchain {
        Toolchain { disabled: true, found: OnceLock::new(), cache: folder(Home::Near) }
    }

    /// The compiler, if there is one.
    ///
    /// # Errors
    /// When a variable names a compiler that does not exist, which is never ignored.
    pub fn compiler(&self) -> Result<Option<&Path>, Missing> {
        if self.disabled {
            return Ok(None);
        }
        let found = self.found.get_or_init(|| find(&|name| std::env::var_os(name), &|path| path.is_file()));
        found.as_ref().map(|path| path.as_deref()).map_err(Clone::clone)
    }

    /// Compiles `source`, or takes the PTX of the same text from the cache.
    pub fn compile(&self, nvcc: &Path, source: &Path, target: &Target) -> Result<Compiled, CompileError> {
        compile::compile(nvcc, source, target, &self.cache)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_part_of_the_file_name() {
        let name = |flags: &[&str]| {
            let target =
                Target { arch: "sm_80".into(), flags: flags.iter().map(|flag| (*flag).into()).collect() };
            file_name(&target, Path::new("dir/softmax.cu"))
        };
        assert_eq!(name(&[]), "softmax.sm_80.ptx");
        assert_eq!(name(&["--use_fast_math"]), "softmax.sm_80.use_fast_math.ptx");
        assert_eq!(name(&["-DN=4", "-O1"]), "softmax.sm_80.DN-4-O1.ptx");
    }
}
