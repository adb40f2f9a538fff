//! The fuzz targets (`scripts/fuzz.sh`) without coverage guidance: on their corpora, and on random inputs.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use volta_suite::fuzz;

// The macros' crate exports macros only; these are its modules.
#[path = "../../volta-macros/src/attribute.rs"]
mod attribute;
#[path = "../../volta-macros/src/body.rs"]
mod body;
#[path = "../../volta-macros/src/expand.rs"]
mod expand;
#[path = "../../volta-macros/src/family.rs"]
mod family;
#[path = "../../volta-macros/src/graph.rs"]
mod graph;
#[path = "../../fuzz/src/attribute.rs"]
mod input;
#[path = "../../volta-macros/src/signature.rs"]
mod signature;
#[path = "../../volta-macros/src/steps.rs"]
mod steps;

/// The files of one target's corpus.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(dir)
        .expect("there is a corpus")
        .map(|entry| entry.expect("it can be listed").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "the corpus of {target} is not empty");
    paths.iter().map(|path| fs::read(path).expect("it can be read")).collect()
}

#[test]
fn corpora_pass() {
    for (target, run) in [
        ("parser", fuzz::parser as fn(&[u8])),
        ("lowering", fuzz::lowering),
        ("verification", fuzz::verification),
        ("manifest", fuzz::manifest),
        ("attribute", input::input),
    ] {
        for data in corpus(target) {
            run(&data);
        }
    }
}

/// A file of a corpus with parts of it, or of another, in other places, and bytes changed.
fn damaged(target: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let files = corpus(target);
    let place = any::<prop::sample::Index>;
    let edits = prop::collection::vec((place(), place(), 0usize..40, any::<u8>(), 0u8..4), 0..6);
    (prop::sample::select(files.clone()), prop::sample::select(files), edits).prop_map(
        |(mut data, other, edits)| {
            for (to, from, length, byte, kind) in edits {
                let at = to.index(data.len() + 1);
                let from = from.index(other.len());
                let part = &other[from..(from + length).min(other.len())];
                match kind {
                    0 => drop(data.splice(at..at, part.iter().copied())),
                    1 => drop(data.splice(at..(at + length).min(data.len()), [])),
                    2 if at < data.len() => data[at] = byte,
                    _ => data.insert(at, byte),
                }
            }
            data
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_texts_are_parsed_or_refused(data in damaged("parser")) {
        fuzz::parser(&data);
    }

    #[test]
    fn damaged_kernels_are_lowered_or_refused(data in damaged("lowering")) {
        fuzz::lowering(&data);
    }

    #[test]
    fn damaged_cases_are_read_or_refused(data in damaged("manifest")) {
        fuzz::manifest(&data);
    }

    #[test]
    fn damaged_attributes_expand_or_are_refused(data in damaged("attribute")) {
        input::input(&data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    /// Verdicts do not depend on layout and detector, and no kernel differs from itself.
    #[test]
    fn kernels_by_lot_keep_the_rules(data in prop::collection::vec(any::<u8>(), 0..200)) {
        fuzz::verification(&data);
    }
}

#[test]
fn most_kernels_by_lot_run() {
    // A generator whose kernels all fail at once would test nothing.
    let mut clean = 0;
    for seed in 0..100u32 {
        let bytes: Vec<u8> =
            (0..120u32).map(|at| ((seed * 7919 + at * 104_729) ^ (seed * at)).to_le_bytes()[1]).collect();
        let text = fuzz::kernel(&bytes);
        volta_core::ptx::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        clean += u32::from(fuzz::name_of_verdict(&bytes) == "clean");
    }
    assert!((10..=95).contains(&clean), "{clean} of 100 are clean");
}
