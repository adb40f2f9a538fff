//! Keeps what those who run this crate may ask of it: the level at which it is compiled, and a digest of its source.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    println!("cargo:rustc-env=COMPILED_AT_LEVEL={level}");
    let mut files = Vec::new();
    list(Path::new("src"), &mut files);
    files.sort();
    let mut digest = Fnv(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
    for file in files {
        digest.add(file.to_string_lossy().replace('\\', "/").as_bytes());
        let text = fs::read(&file).unwrap_or_default();
        // Where lines end depends on how the source was fetched.
        let text: Vec<u8> = text.into_iter().filter(|byte| *byte != b'\r').collect();
        digest.add(&(text.len() as u64).to_le_bytes());
        digest.add(&text);
    }
    println!("cargo:rustc-env=DIGEST_OF_SOURCE={:032x}", digest.0);
}

/// The files below a folder.
fn list(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { list(&path, files) } else { files.push(path) }
    }
}

/// The hash FNV-1a of 128 bits.
struct Fnv(u128);

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
