//! Documents, or parts of them, that are generated from tables in the code.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page)
}

/// Compares parts of a document with generated texts: `(name, text)` is the part between `<!-- name: begin -->` and
/// `<!-- name: end -->`. The path is relative to the root of the repository. With `VOLTA_WRITE_DOCS=1`, writes the
/// parts.
///
/// # Errors
/// A part that is missing or different.
pub fn hold(page: &str, parts: &[(&str, String)]) -> Result<(), String> {
    let mut wanted = fs::read_to_string(path(page)).map_err(|error| format!("{page}: {error}"))?;
    for (name, text) in parts {
        let marks = ["begin", "end"].map(|mark| format!("<!-- {name}: {mark} -->\n"));
        let place = wanted.split_once(&marks[0]).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(&marks[1])?;
            Some(format!("{before}{}{text}{}{after}", marks[0], marks[1]))
        });
        wanted = place.ok_or_else(|| format!("{page} has no place for the part `{name}`"))?;
    }
    hold_file(page, &wanted)
}

/// Compares a whole document with a generated text. With `VOLTA_WRITE_DOCS=1`, writes it.
///
/// # Errors
/// A document that is missing or different.
pub fn hold_file(page: &str, wanted: &str) -> Result<(), String> {
    if env::var_os("VOLTA_WRITE_DOCS").is_some() {
        return fs::write(path(page), wanted).map_err(|error| format!("{page}: {error}"));
    }
    let found = fs::read_to_string(path(page)).map_err(|error| format!("{page}: {error}"))?;
    match wanted == found {
        true => Ok(()),
        false => Err(format!("{page} is not what the code says; VOLTA_WRITE_DOCS=1 writes it")),
    }
}
