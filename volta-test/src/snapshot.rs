//! Snapshots, with `insta`: explicit names and folders, so that no two cases write one file.

use std::ffi::OsString;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::case::Case;

/// Calls `insta::assert_snapshot!` from the user's crate, whose workspace `cargo insta` works on.
pub type Assert = fn(name: &str, text: &str);

/// Compares `text` with the case's snapshot.
///
/// # Errors
/// When they differ, or there is none yet: what `insta` does then is governed by `INSTA_UPDATE`, `CI`, ….
pub fn compare(case: &Case, text: &str, assert: Assert) -> Result<(), String> {
    if is_settled(case, text) {
        return Ok(());
    }
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(&case.home.snapshot_dir);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_description(case.name.as_str());
    let compare = || settings.bind(|| assert(&case.home.snapshot_name, text));
    catch_unwind(AssertUnwindSafe(compare)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("the snapshot does not match").into()
    })
}

/// Whether the accepted snapshot is `text` and there is nothing that `insta` would do but agree. It asks cargo for the
/// workspace first, which takes longer than most cases where every test is a process.
fn is_settled(case: &Case, text: &str) -> bool {
    let plain = ["auto", "always", "new", "no", "unseen"];
    let is_plain = |(name, value): (OsString, OsString)| {
        let name = name.to_string_lossy();
        !name.starts_with("INSTA_") || (name == "INSTA_UPDATE" && plain.iter().any(|plain| value == *plain))
    };
    if !std::env::vars_os().all(is_plain) {
        return false;
    }
    let path = case.home.snapshot_dir.join(format!("{}.snap", case.home.snapshot_name));
    let is_pending = path.with_extension("snap.new").exists();
    let accepted = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    let contents = accepted.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    !is_pending && contents.is_some_and(|(_, contents)| contents.trim_end() == text.trim_end())
}
