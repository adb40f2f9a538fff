//! Snapshots, as `insta` keeps them: one file a case, `snapshots/NAME.snap` beside it, and `NAME.snap.new` for what
//! waits to be reviewed. Test harnesses and `cargo volta check` come here with the same text.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::beside;
use crate::case::Case;
use crate::files;

/// A longer file is no snapshot.
const MAX_BYTES: u64 = 64 << 20;

/// Which cases have a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// All: where none was accepted yet, that is a failure.
    Required,
    /// Those where one was accepted.
    WhereAccepted,
    /// All: what is new or has changed is accepted.
    Accept,
}

impl Policy {
    /// Of `cargo volta check`, unless `--accept` is given: `INSTA_UPDATE` may say that new snapshots are wanted too.
    ///
    /// # Errors
    /// When that variable says what is not known.
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

/// What `INSTA_UPDATE` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Update {
    /// Pending, but not in CI.
    Auto,
    Always,
    New,
    /// Accepted where there was none, else pending.
    Unseen,
    No,
}

impl Update {
    fn of_environment() -> Result<Update, String> {
        let is_one = |name| env::var_os(name).is_some_and(|value| value == "1");
        // What `cargo insta` sets for older libraries.
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

/// Whether this is a build server, as `insta` tells.
fn is_ci() -> bool {
    match env::var("CI").as_deref() {
        Ok("false" | "0" | "") => false,
        Ok(_) => true,
        Err(_) => env::var_os("TF_BUILD").is_some(),
    }
}

/// What came of comparing a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Whether it is as accepted, and what was done if not.
    pub state: State,
    /// The file of the accepted snapshot.
    pub path: PathBuf,
    /// The accepted text, where there was one.
    pub old: Option<String>,
    /// The text now.
    pub new: String,
}

/// Whether a snapshot is as accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It is.
    Same,
    /// It was not, and is now.
    Accepted,
    /// It is not, and lies beside the accepted one for review.
    Pending,
    /// It is not, and nothing was written.
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

/// Compares `text` with the case's snapshot, and keeps it where it is another, as the policy, `INSTA_UPDATE` and `CI`
/// say.
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
        // What waited for review is settled.
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

/// The text of a snapshot's file; none where there is no file.
fn read(path: &Path, root: &Path) -> io::Result<Option<String>> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    // Its lines are shown where they differ.
    if !files::lies_below(path, root) {
        return Err(io::Error::other(format!("it leads out of {}", root.display())));
    }
    Ok(Some(files::read_text(path, MAX_BYTES)?.replace("\r\n", "\n")))
}

/// What `insta` says of a snapshot: where it comes from, which must come first, and what it is about.
fn head_of(case: &Case) -> String {
    let file = &case.home.file;
    let is_top = |dir: &&Path| dir.join("Cargo.lock").is_file() || dir.join(".git").exists();
    let top = file.ancestors().skip(1).find(is_top).unwrap_or(&case.home.dir);
    let source = beside::slashed(&beside::relative(file, top));
    format!("source: {}\ndescription: {}", quoted(&source), quoted(&case.name))
}

/// Whether `cargo insta` finds the case's snapshot: it looks into the folders of packages.
pub(crate) fn is_in_package(case: &Case) -> bool {
    let is_package = |dir: &Path| {
        let text = files::read_text(&dir.join("Cargo.toml"), MAX_BYTES);
        text.is_ok_and(|text| text.lines().any(|line| line.trim() == "[package]"))
    };
    case.home.dir.ancestors().any(is_package)
}

/// What `insta` says of a snapshot, and the snapshot.
fn split(file: &str) -> (Option<&str>, &str) {
    match file.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")) {
        Some((head, text)) => (Some(head), text.trim_end()),
        None => (None, file.trim_end()),
    }
}

/// `cargo insta` removes snapshots that no test refers to, if it is told to.
fn refer_to(path: &Path) -> io::Result<()> {
    let Some(list) = env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE") else { return Ok(()) };
    let mut list = OpenOptions::new().append(true).create(true).open(list)?;
    // At once: several processes write to it.
    list.write_all(format!("{}\n", path.display()).as_bytes())
}

/// A text between quotes: what JSON takes, YAML does.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest;

    /// A case in a folder of its own.
    fn case(name: &str) -> Case {
        let dir = env::temp_dir().join(format!("volta-snapshot-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("the folder can be made");
        let text = "[params]\n[kernel]\nsource = \"a.ptx\"\nblock = 1\n";
        fs::write(dir.join("volta.toml"), text).expect("the file can be written");
        manifest::load("family::odd \"name\"\t\u{e9}", &dir, &dir).expect("it is a case")
    }

    #[test]
    fn what_is_accepted_is_what_insta_reads() {
        let case = case("format");
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
        let case = case("head");
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
        let case = case("link");
        fs::create_dir_all(&case.home.snapshot_dir).expect("the folder can be made");
        std::os::unix::fs::symlink("/etc/hostname", accepted_path(&case)).expect("links can be made");
        let error = compare(&case, "verdict: clean\n", Policy::WhereAccepted).expect_err("it leads out");
        assert!(error.contains("leads out of"), "{error}");
    }
}
