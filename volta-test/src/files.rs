//! Files named by untrusted cases, and files that must be complete: reads are bounded, writes are atomic.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads a regular file of at most `most` bytes. Pipes and devices, which may never end, are not opened.
///
/// # Errors
/// When it is something else, too long, or cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    // The length in the metadata is no bound: the file may grow, or be generated while it is read.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes, the most that are read")));
    }
    Ok(bytes)
}

/// Reads a file as [`read`] does, as UTF-8 text.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Writes a file atomically: readers see the old text or the new one, also after a crash or on a full disk. A link is
/// replaced, not followed; an existing path that is no regular file, such as `/dev/stdout`, is written to directly.
///
/// # Errors
/// When it cannot be written; the old text is then left unchanged.
pub fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(text);
    }
    replace(path, text, true)
}

/// Like [`write`], but without `fsync`: after a power failure the file may be damaged, which its reader must detect.
pub(crate) fn put(path: &Path, text: &[u8]) -> io::Result<()> {
    replace(path, text, false)
}

fn replace(path: &Path, text: &[u8], sync: bool) -> io::Result<()> {
    let partial = beside(path);
    let written = create(&partial, text, sync).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

fn create(path: &Path, text: &[u8], sync: bool) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(text)?;
    // A full disk may be reported only now; and the rename must not reach the disk before the text.
    if sync { file.sync_all() } else { Ok(()) }
}

/// A name in the same folder that no other write uses.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{count}.partial", std::process::id()))
}

/// Whether a file lies below a folder, after links are resolved; false if one of them does not exist.
pub fn lies_below(path: &Path, folder: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder)))
}
