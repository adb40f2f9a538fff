//! Snapshots in the format of `insta`: one file a case, `snapshots/NAME.snap` beside it, and `NAME.snap.new` for a new
//! text to be reviewed. Test harnesses and `cargo volta check` both use this module, with the same text.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::beside;
use crate::case::Case;
use crate::files;

/// A longer file is not read.
const MAX_BYTES: u64 = 64 << 20;

/// Which snapshots are compared or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Those of all cases; a case without an accepted snapshot fails.
    Required,
    /// Those of cases with an accepted snapshot.
    WhereAccepted,
    /// Those of all cases; new and changed ones are accepted.
    Accept,
}

impl Policy {
    /// The policy of `cargo volta check` without `--accept`: `INSTA_UPDATE` may request new snapshots as well.
    ///
    /// # Errors
    /// When that variable has an unknown value.
    pub fn of_environment() -> Result<Policy, String> {
        Ok(match Update::of_environment()? {
            Update::Auto | Update::No => Policy::WhereAccepted,
            Update::New | Update::Unseen | Update::Always => Policy::Required,
        })
    }

    /// Whether the case's snapshot is compared or written, so that its text is needed.
    pub fn concerns(self, case: &Case) -> bool {
        let is_accepted = || fs::symlink_metadata(accepted_path(case)).is_ok();
        case.options.run.snapshot && (self != Policy::WhereAccepted || is_accepted())
    }
}

/// The values of `INSTA_UPDATE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// Written for review, but not in CI.
    Auto,
    Always,
    New,
    /// Accepted if the case had none, otherwise written for review.
    Unseen,
    No,
}

impl Update {
    fn of_environment() -> Result<Update, String> {
        let is_one = |name| env::var_os(name).is_some_and(|value| value == "1");
        // Variables that `cargo insta` sets for older versions of the library.
        if is_one("INSTA_FORCE_UPDATE") || is_one("INSTA_FORCE_UPDATE_SNAPSHOTS") {
            return Ok(Update::Always);
        }
        match env::var("INSTA_UPDATE").as_deref() {
            Err(_) | Ok("" | "auto") => Ok(Update::Auto),
            Ok("always" | "1" | "force") => Ok(Update::Always),
            Ok("new") => Ok(Update::New),
            Ok("unseen") => Ok(Update::Unseen),
            Ok("no") => Ok(Update::No),
            Ok(other) => {
                Err(format!("INSTA_UPDATE is `{other}`; it takes auto, always, new, unseen, force and no"))
            }
        }
    }
}

/// Whether this is a build server, by the criterion of `insta`.
fn is_ci() -> bool {
    match env::var("CI").as_deref() {
        Ok("false" | "0" | "") => false,
        Ok(_) => true,
        Err(_) => env::var_os("TF_BUILD").is_some(),
    }
}

/// The result of comparing a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Whether it matches the accepted text, and what was done if not.
    pub state: State,
    /// The file of the accepted snapshot.
    pub path: PathBuf,
    /// The previously accepted text, if any.
    pub old: Option<String>,
    /// The new text.
    pub new: String,
}

/// Whether a snapshot matches the accepted text, and what was done if not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It matches.
    Same,
    /// It differed, and the new text is accepted now.
    Accepted,
    /// It differs; the new text was written beside the accepted one, for review.
    Pending,
    /// It differs, and nothing was written.
    Refused,
}

impl Compared {
    /// Whether this fails the case.
    pub fn is_failure(&self) -> bool {
        let forced = env::var_os("INSTA_FORCE_PASS").is_some_and(|value| value == "1");
        matches!(self.state, State::Pending | State::Refused) && !forced
    }

    /// `same`, `accepted`, `changed` or `new`, for machines.
    pub fn name(&self) -> &'static str {
        match (self.state, &self.old) {
            (State::Same, _) => "same",
            (State::Accepted, _) => "accepted",
            (State::Pending | State::Refused, Some(_)) => "changed",
            (State::Pending | State::Refused, None) => "new",
        }
    }
}

/// The file of the accepted snapshot.
fn accepted_path(case: &Case) -> PathBuf {
    case.home.snapshot_dir.join(format!("{}.snap", case.home.snapshot_name))
}

/// Compares `text` with the case's snapshot. If it differs, `policy`, `INSTA_UPDATE` and `CI` decide whether it is
/// written.
///
/// # Errors
/// When a file cannot be read or written, or leads out of the case's root.
pub fn compare(case: &Case, text: &str, policy: Policy) -> Result<Compared, String> {
    let path = accepted_path(case);
    let pending = path.with_extension("snap.new");
    let failed = |path: &Path| {
        let path = path.display().to_string();
        move |error: io::Error| format!("{path}: {error}")
    };
    let new = text.trim_end().to_owned();
    let file = read(&path, &case.home.root).map_err(failed(&path))?;
    refer_to(&path).map_err(failed(&path))?;
    let (head, old) = file.as_deref().map(split).unzip();
    let head = head.flatten().map_or_else(|| head_of(case), str::to_owned);
    let mut compared = Compared { state: State::Same, path: path.clone(), old: old.map(str::to_owned), new };
    if compared.old.as_ref() == Some(&compared.new) {
        // The text matches: a pending one from an earlier run is obsolete.
        let _ = fs::remove_file(&pending);
        return Ok(compared);
    }
    let keep = |at: &Path| {
        fs::create_dir_all(&case.home.snapshot_dir)?;
        files::write(at, format!("---\n{head}\n---\n{}\n", compared.new).as_bytes())
    };
    let update = if policy == Policy::Accept { Update::Always } else { Update::of_environment()? };
    compared.state = match (update, is_ci(), &compared.old) {
        (Update::Always, _, _) | (Update::Unseen, _, None) => {
            keep(&path).map_err(failed(&path))?;
            let _ = fs::remove_file(&pending);
            State::Accepted
        }
        (Update::New, _, _) | (Update::Unseen, _, Some(_)) | (Update::Auto, false, _) => {
            keep(&pending).map_err(failed(&pending))?;
            State::Pending
        }
        (Update::No, _, _) | (Update::Auto, true, _) => State::Refused,
    };
    Ok(compared)
}

/// The text of a snapshot's file; `None` if it does not exist.
fn read(path: &Path, root: &Path) -> io::Result<Option<String>> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    // Messages show lines of the file, so a link must not lead out of the root.
    if !files::lies_below(path, root) {
        return Err(io::Error::other(format!("it leads outside of {}", root.display())));
    }
    Ok(Some(files::read_text(path, MAX_BYTES)?.replace("\r\n", "\n")))
}

/// The metadata of a snapshot in `insta`'s format: the source, which must come first, and the description.
fn head_of(case: &Case) -> String {
    let file = &case.home.file;
    let is_top = |dir: &&Path| dir.join("Cargo.lock").is_file() || dir.join(".git").exists();
    let top = file.ancestors().skip(1).find(is_top).unwrap_or(&case.home.dir);
    let source = beside::slashed(&beside::relative(file, top));
    format!("source: {}\ndescription: {}", quoted(&source), quoted(&case.name))
}

/// Whether `cargo insta` finds the case's snapshot: it searches the folders of packages.
pub(crate) fn is_in_package(case: &Case) -> bool {
    let is_package = |dir: &Path| {
        let text = files::read_text(&dir.join("Cargo.toml"), MAX_BYTES);
        text.is_ok_and(|text| text.lines().any(|line| line.trim() == "[package]"))
    };
    case.home.dir.ancestors().any(is_package)
}

/// The metadata of a snapshot's file, and the snapshot's text.
fn split(file: &str) -> (Option<&str>, &str) {
    match file.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((head, text)) => (Some(head), text.trim_end()),
        None => (None, file.trim_end()),
    }
}

/// Registers a snapshot as used: on request, `cargo insta` removes all others.
fn refer_to(path: &Path) -> io::Result<()> {
    let Some(list) = env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE") else { return Ok(()) };
    let mut list = OpenOptions::new().append(true).create(true).open(list)?;
    // In one write: several processes append to the list.
    list.write_all(format!("{}\n", path.display()).as_bytes())
}

/// A quoted text: a JSON string is valid YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::manifest;

    /// A case in a folder of its own, which goes with what is returned.
    fn case() -> (Case, TempDir) {
        let folder = tempfile::tempdir().expect("the folder can be made");
        let dir = folder.path();
        let text = "[params]\n[kernel]\nsource = \"a.ptx\"\nblock = 1\n";
        fs::write(dir.join("volta.toml"), text).expect("the file can be written");
        let case = manifest::load("family::odd \"name\"\t\u{e9}", dir, dir).expect("it is a case");
        (case, folder)
    }

    #[test]
    fn what_is_accepted_is_what_insta_reads() {
        let (case, _folder) = case();
        assert!(Policy::Accept.concerns(&case) && !Policy::WhereAccepted.concerns(&case));
        let text = "verdict: clean\n\nformula:\ny[i] = x[i]      i < 4\n";
        let compared = compare(&case, text, Policy::Accept).expect("it can be written");
        assert_eq!((compared.state, compared.name()), (State::Accepted, "accepted"));
        let read = insta::Snapshot::from_file(&compared.path).expect("insta reads it");
        assert_eq!(read.metadata().description(), Some("family::odd \"name\"\t\u{e9}"));
        let insta::internals::SnapshotContents::Text(contents) = read.contents() else {
            panic!("it is a text")
        };
        assert_eq!(contents.to_string(), text.trim_end());
        assert!(Policy::WhereAccepted.concerns(&case));
        let compared = compare(&case, text, Policy::WhereAccepted).expect("it can be read");
        assert_eq!((compared.state, compared.name()), (State::Same, "same"));
    }

    #[test]
    fn what_insta_says_of_a_snapshot_stays() {
        let (case, _folder) = case();
        let path = accepted_path(&case);
        fs::create_dir_all(&case.home.snapshot_dir).expect("the folder can be made");
        let file = "---\r\nsource: a.rs\r\ndescription: \"a\"\r\n---\r\nverdict: race\r\n\r\n";
        fs::write(&path, file).expect("the file can be written");
        let same = compare(&case, "verdict: race\n", Policy::WhereAccepted).expect("it can be read");
        assert_eq!(same.state, State::Same);
        let changed = compare(&case, "verdict: clean\n", Policy::Accept).expect("it can be written");
        assert_eq!((changed.state, changed.old.as_deref()), (State::Accepted, Some("verdict: race")));
        let file = fs::read_to_string(&path).expect("it is there");
        assert_eq!(file, "---\nsource: a.rs\ndescription: \"a\"\n---\nverdict: clean\n");
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_not_read() {
        let (case, _folder) = case();
        fs::create_dir_all(&case.home.snapshot_dir).expect("the folder can be made");
        std::os::unix::fs::symlink("/etc/hostname", accepted_path(&case)).expect("links can be made");
        let error = compare(&case, "verdict: clean\n", Policy::WhereAccepted).expect_err("it leads out");
        assert!(error.contains("leads outside of"), "{error}");
    }
}
