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
        return Err(io::Error::other("it is no regular file"));
    }
    let mut bytes = Vec::new();
    // Its length says nothing where a file is made up as it is read, or grows.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes, which are too many")));
    }
    Ok(bytes)
}

/// As [`read`], a text.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// Writes a file as a whole: whoever reads it, and whatever ends this process or fills the disk, finds the old text or
/// the new one. A link is replaced, not followed; what is there and no file, such as `/dev/stdout`, is written to.
///
/// # Errors
/// When it cannot be written; what was there before still is.
pub fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    if path.metadata().is_ok_and(|about| !about.is_file()) {
        return OpenOptions::new().write(true).open(path)?.write_all(text);
    }
    replace(path, text, true)
}

/// As [`write`], but where the machine itself stops, anything may be left: the reader must see whether it is whole.
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
    // A full disk may show only now; and the name must not be on the disk before the text is.
    if sync { file.sync_all() } else { Ok(()) }
}

/// A name in the same folder that no other write uses.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{count}.partial", std::process::id()))
}

/// Whether a file, links followed, lies below a folder. What does not exist does not.
pub fn lies_below(path: &Path, folder: &Path) -> bool {
    path.canonicalize().is_ok_and(|path| folder.canonicalize().is_ok_and(|folder| path.starts_with(folder)))
}
