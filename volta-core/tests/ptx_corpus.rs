//! Every PTX text of the corpus parses, and printing it changes nothing but spans and layout.

use std::path::PathBuf;

use volta_core::ptx::{parse, print};

/// The corpus: paths and texts, sorted.
fn corpus() -> Vec<(PathBuf, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/corpus/ptx");
    let entries = std::fs::read_dir(folder).expect("the corpus is there");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "ptx"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).expect("a text"))).collect()
}

/// The debug form of a tree with every span made the same.
fn without_spans(debug: &str) -> String {
    let mut parts = debug.split("Span {");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out.push_str("Span");
        out.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    out
}

#[test]
fn every_file_parses_and_survives_printing() {
    let corpus = corpus();
    assert!(corpus.len() > 10, "the corpus is missing");
    for (path, text) in corpus {
        let path = path.display();
        let tree = parse(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let printed = print(&tree);
        let again = parse(&printed).unwrap_or_else(|error| panic!("{path}, printed: {error}"));
        assert_eq!(print(&again), printed, "{path}");
        let (before, after) = (format!("{tree:?}"), format!("{again:?}"));
        assert!(without_spans(&before) == without_spans(&after), "{path}: the tree changed");
    }
}
