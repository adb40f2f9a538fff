//! Where the CUDA compiler is.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// A variable names a compiler that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    variable: &'static str,
    path: PathBuf,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Missing { variable, path } = self;
        write!(f, "{variable} is {}, which is not a file", path.display())
    }
}

impl std::error::Error for Missing {}

/// Folders in which toolkits are installed.
const ROOTS: [&str; 4] = ["/usr/local/cuda", "/opt/cuda", "/usr/lib/cuda", "/usr/lib/nvidia-cuda-toolkit"];

/// The first of: `VOLTA_NVCC` (`off` for none), `NVCC`, `CUDA_HOME`, `CUDA_PATH`, `PATH`, the usual folders.
///
/// # Errors
/// When `VOLTA_NVCC` or `NVCC` names a file that does not exist; no other compiler replaces it silently.
pub fn find(
    variable: &dyn Fn(&str) -> Option<OsString>,
    is_file: &dyn Fn(&Path) -> bool,
) -> Result<Option<PathBuf>, Missing> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    let program = if cfg!(windows) { "nvcc.exe" } else { "nvcc" };
    let on_path = |program: &Path| {
        let path = variable("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|dir| dir.join(program)).find(|path| is_file(path))
    };
    for name in ["VOLTA_NVCC", "NVCC"] {
        let Some(value) = variable(name) else { continue };
        if value == "off" {
            return Ok(None);
        }
        let path = PathBuf::from(value);
        let found = if path.components().count() == 1 { on_path(&path) } else { None };
        return match found {
            Some(found) => Ok(Some(found)),
            None if is_file(&path) => Ok(Some(path)),
            None => Err(Missing { variable: if name == "NVCC" { "NVCC" } else { "VOLTA_NVCC" }, path }),
        };
    }
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(variable).map(PathBuf::from);
    let in_homes = homes.map(|home| home.join("bin").join(program)).find(|path| is_file(path));
    let in_roots =
        || ROOTS.iter().map(|root| Path::new(root).join("bin").join(program)).find(|path| is_file(path));
    Ok(in_homes.or_else(|| on_path(Path::new(program))).or_else(in_roots))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(variables: &[(&str, &str)], files: &[&str]) -> Result<Option<PathBuf>, Missing> {
        let variable = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        find(&variable, &|path| files.iter().any(|file| Path::new(file) == path))
    }

    #[test]
    fn the_nearest_wish_wins() {
        let files = ["/a/nvcc", "/b/nvcc", "/c/bin/nvcc", "/p/nvcc", "/usr/local/cuda/bin/nvcc"];
        let all = [("VOLTA_NVCC", "/a/nvcc"), ("NVCC", "/b/nvcc"), ("CUDA_HOME", "/c"), ("PATH", "/p")];
        let expected = ["/a/nvcc", "/b/nvcc", "/c/bin/nvcc", "/p/nvcc", "/usr/local/cuda/bin/nvcc"];
        for (skip, expected) in expected.iter().enumerate() {
            assert_eq!(search(&all[skip..], &files), Ok(Some(PathBuf::from(expected))));
        }
        assert_eq!(search(&[], &[]), Ok(None));
    }

    #[test]
    fn off_is_off_and_a_wrong_wish_is_an_error() {
        let files = ["/usr/local/cuda/bin/nvcc"];
        assert_eq!(search(&[("VOLTA_NVCC", "off")], &files), Ok(None));
        let error = search(&[("VOLTA_NVCC", "/none/nvcc")], &files).unwrap_err();
        assert_eq!(error.to_string(), "VOLTA_NVCC is /none/nvcc, which is not a file");
        assert!(search(&[("NVCC", "/none/nvcc")], &files).is_err());
    }

    #[test]
    fn a_bare_name_is_looked_for_on_the_path() {
        let found = search(&[("NVCC", "nvcc-12"), ("PATH", "/x:/y")], &["/y/nvcc-12"]);
        assert_eq!(found, Ok(Some(PathBuf::from("/y/nvcc-12"))));
    }
}
