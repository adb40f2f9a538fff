//! Restrictions on what a case may pass to the compiler, since a case may be untrusted: no flag that runs a program,
//! writes a file or reads one outside of the root, and no text that a shell started by the compiler could execute.

use std::path::Path;

use super::Target;
use crate::beside::{self, normalized};
use crate::files;

/// Flags without a value.
const PLAIN: [&str; 16] = [
    "--use_fast_math",
    "-use_fast_math",
    "--expt-relaxed-constexpr",
    "-expt-relaxed-constexpr",
    "--expt-extended-lambda",
    "--extended-lambda",
    "-extended-lambda",
    "--extra-device-vectorization",
    "--restrict",
    "-restrict",
    "-lineinfo",
    "--device-debug",
    "-G",
    "-w",
    "-m64",
    "--disable-warnings",
];

/// Prefixes of flags with a value.
const VALUED: [&str; 16] = [
    "-O",
    "--optimize=",
    "-D",
    "--define-macro=",
    "-U",
    "--undefine-macro=",
    "-std=",
    "--std=",
    "--ftz=",
    "--prec-div=",
    "--prec-sqrt=",
    "--fmad=",
    "--maxrregcount=",
    "-maxrregcount=",
    "--diag-suppress=",
    "--default-stream=",
];

/// Prefixes of flags whose value is a folder.
const FOLDERS: [&str; 2] = ["-I", "--include-path="];

/// Flags whose value may be the next argument.
const SEPARATE: [&str; 6] = ["-D", "--define-macro", "-U", "--undefine-macro", "-I", "--include-path"];

/// Why a source must not be compiled for a case whose files lie below `root`, and advice; `None` if it may be.
pub fn refusal(source: &Path, target: &Target, root: &Path) -> Option<(String, String)> {
    let arch = &target.arch;
    if !is_arch(arch) {
        let help = "arch = \"sm_80\", or compute_80; a letter may follow the number".into();
        return Some((format!("`{arch}` is not an architecture"), help));
    }
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with('-') || name.chars().any(|c| c.is_control() || "$`\"'\\;&|<>*?".contains(c)) {
        let help = "use letters, digits, `_`, `-` and `.` in the name of the source".into();
        return Some((format!("the name `{name}` is not passed to the compiler"), help));
    }
    let dir = source.parent().unwrap_or(Path::new(""));
    if std::env::var_os("VOLTA_TRUST_FLAGS").is_some_and(|value| value == "1") {
        return None;
    }
    let mut flags = target.flags.iter().map(String::as_str);
    while let Some(flag) = flags.next() {
        let joined = match SEPARATE.contains(&flag) {
            true => format!("{}{}", short(flag), flags.next().unwrap_or("")),
            false => flag.into(),
        };
        if let Some(message) = wrong_flag(&joined, dir, root) {
            let help = "cases may give -D, -U, -O, -I, --use_fast_math, --fmad=, --ftz=, --prec-div=, --prec-sqrt=, \
                        --std=, --maxrregcount= and a few more; VOLTA_TRUST_FLAGS=1 passes any flag of any case";
            return Some((message, help.into()));
        }
    }
    match beside::inputs(source, &target.flags) {
        Ok(inputs) => {
            let outside = inputs.iter().find(|input| !files::lies_below(&dir.join(&input.path), root))?;
            let help = format!("cases read files below {} only", root.display());
            Some((format!("it includes {}, which is outside of the case's folder", outside.path), help))
        }
        Err(error) => Some((error.to_string(), "the source and what it includes must be readable".into())),
    }
}

fn short(flag: &str) -> &str {
    match flag {
        "--define-macro" => "-D",
        "--undefine-macro" => "-U",
        "--include-path" => "-I",
        other => other,
    }
}

/// `sm_80`, `compute_90a`.
fn is_arch(arch: &str) -> bool {
    let number = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix("compute_"));
    let number = number.map(|number| number.strip_suffix(|c: char| c.is_ascii_lowercase()).unwrap_or(number));
    number.is_some_and(|number| (2..=4).contains(&number.len()) && number.bytes().all(|b| b.is_ascii_digit()))
}

fn wrong_flag(flag: &str, dir: &Path, root: &Path) -> Option<String> {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_=.,+:/-".contains(c);
    if !flag.chars().all(harmless) {
        return Some(format!("the flag `{flag}` contains characters that are not passed to the compiler"));
    }
    if let Some(folder) = FOLDERS.iter().find_map(|start| flag.strip_prefix(start)) {
        let path = normalized(&dir.join(folder));
        let absolute = |path: &Path| normalized(&std::path::absolute(path).unwrap_or_else(|_| path.into()));
        let below =
            absolute(&path).starts_with(absolute(root)) && (!path.exists() || files::lies_below(&path, root));
        return (!below).then(|| format!("the flag `{flag}` leads outside of the case's folder"));
    }
    let known = PLAIN.contains(&flag) || VALUED.iter().any(|start| flag.starts_with(start));
    (!known).then(|| format!("a case may not give the flag `{flag}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_names_and_no_paths() {
        for arch in ["sm_80", "sm_90a", "compute_100f"] {
            assert!(is_arch(arch), "{arch}");
        }
        for arch in ["", "sm_", "sm_80 -o x", "../sm_80", "sm_80/..", "native", "sm_8a0", "sm_80\n"] {
            assert!(!is_arch(arch), "{arch}");
        }
    }

    #[test]
    fn flags_that_run_programs_or_leave_the_folder_are_refused() {
        let root = std::path::absolute("src").expect("there is a current folder");
        let dir = root.join("nvcc");
        let wrong = |flag: &str| wrong_flag(flag, &dir, &root);
        for flag in ["-DN=4", "-O3", "--fmad=false", "-I.", "-I..", "-I../render", "--use_fast_math", "-UX"] {
            assert_eq!(wrong(flag), None);
        }
        for flag in [
            "-o",
            "-ccbin=./evil",
            "--compiler-bindir=./evil",
            "-Xcompiler",
            "--options-file=x",
            "@x",
            "-run",
            "--pre-include",
            "-include",
            "-I/etc",
            "-I../..",
            "-DX=$(touch x)",
            "-DX=`x`",
            "-DX;x",
            "-DX\n",
            "",
            "x.cu",
        ] {
            assert!(wrong(flag).is_some(), "{flag}");
        }
    }
}
