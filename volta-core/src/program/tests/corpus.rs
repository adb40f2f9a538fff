//! Every kernel of the PTX corpus and of the fixtures lowers; damaged versions of them lower or are errors.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::*;

/// What the corpus needs and is not supported; the number of operations does not matter.
const NOT_DONE: [&str; 26] = [
    "alloca",
    "atom",
    "clusterlaunchcontrol",
    "cp",
    "discard",
    "fence.proxy.tensormap",
    "fns",
    "istypep",
    "ldmatrix",
    "mbarrier",
    "mma",
    "movmatrix",
    "multimem",
    "red",
    "stackrestore",
    "stacksave",
    "stmatrix",
    "tcgen05",
    "tensormap",
    "tex",
    "vset2",
    "vset4",
    "vadd",
    "vmad",
    "wgmma",
    "wmma",
];

fn ptx_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            ptx_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            found.push(path);
        }
    }
}

fn corpus() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    ptx_files(&root.join("tests/corpus/ptx"), &mut files);
    ptx_files(&root.join("fixtures"), &mut files);
    files.sort();
    let read = |path: PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        (name, std::fs::read_to_string(path).expect("a text"))
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_kernel_of_the_corpus_lowers() {
    let corpus = corpus();
    assert!(corpus.len() >= 20, "{} files", corpus.len());
    let mut lowered = 0;
    let mut reasons: BTreeMap<String, String> = BTreeMap::new();
    for (file, text) in &corpus {
        // Some fixtures are about texts that are not PTX.
        let Ok(module) = crate::ptx::parse(text) else { continue };
        for kernel in kernels(&module) {
            let program = lower(&module, text, Some(&kernel.name))
                .unwrap_or_else(|error| panic!("{file}, {}: {error} at {:?}", kernel.name, error.span()));
            assert_eq!(program.check(), Ok(()), "{file}, {}", kernel.name);
            lowered += 1;
            for inst in &program.insts {
                if let Op::Unsupported { reason } = &inst.op {
                    reasons.insert(reason.clone(), format!("{file}, {}", kernel.name));
                }
            }
        }
    }
    assert!(lowered >= 200, "{lowered} kernels");
    let expected = |reason: &str| {
        NOT_DONE.iter().any(|name| reason.starts_with(&format!("`{name}")))
            || reason.contains("recursion")
            || reason.contains("indirect calls")
            || reason.contains("addresses of functions")
            || reason.contains("the address of a function")
            || reason.starts_with("`mov.b128`")
            || reason.starts_with("the end of `with_everything`")
    };
    reasons.retain(|reason, _| !expected(reason));
    assert_eq!(reasons, BTreeMap::new());
}

/// A small random generator, so that failures are reproducible.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Swaps words of the text, so that most of what results still parses.
fn damaged(text: &str, random: &mut Random) -> String {
    let is_word = |c: char| c.is_alphanumeric() || "%$_.".contains(c);
    let mut pieces: Vec<&str> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.starts_with(is_word);
        let end = rest.find(|c| is_word(c) != word).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    for _ in 0..1 + random.below(3) {
        let (to, from) = (random.below(pieces.len()), random.below(pieces.len()));
        if let (Some(source), Some(target)) = (pieces.get(from).copied(), pieces.get_mut(to))
            && source.starts_with(is_word) == target.starts_with(is_word)
        {
            *target = source;
        }
    }
    pieces.concat()
}

#[test]
fn damaged_kernels_lower_or_are_errors() {
    let mut random = Random(1);
    let (mut lowered, mut refused) = (0, 0);
    for (file, text) in corpus().iter().filter(|(_, text)| text.len() < 20_000) {
        for round in 0..60 {
            let text = damaged(text, &mut random);
            let Ok(module) = crate::ptx::parse(&text) else { continue };
            for kernel in kernels(&module) {
                match lower(&module, &text, Some(&kernel.name)) {
                    Ok(program) => {
                        assert_eq!(program.check(), Ok(()), "{file}, {}, round {round}", kernel.name);
                        lowered += 1;
                    }
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(lowered > 100 && refused > 20, "{lowered} lowered, {refused} refused");
}
