//! The small pairs of the benchmark of proofs: their results are those of `pairs.tsv`, and no recorded result is wrong.
//! All pairs: `cargo run --release -p volta-suite --bin proof-bench`.

use std::time::Duration;

use volta_suite::pairs::{Found, measured, pairs};

/// Pairs of rows up to this long are decided in every run of the tests.
const SMALL: u64 = 8;

#[test]
fn each_pair_is_in_the_table() {
    let names: Vec<String> = pairs().iter().map(|pair| pair.name()).collect();
    let known: Vec<String> = measured().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, known, "`proof-bench --write` writes the table");
    assert!(names.len() >= 200);
}

#[test]
fn nothing_in_the_table_is_wrong() {
    for (pair, (name, found)) in pairs().iter().zip(measured()) {
        let wrong = [Found::Equal, Found::Different].map(|found| found.to_string());
        assert!(found == pair.truth.to_string() || !wrong.contains(&found), "{name}: {found}");
    }
}

#[test]
fn small_pairs_are_decided_as_measured() {
    for (pair, (name, expected)) in pairs().iter().zip(measured()).filter(|(pair, _)| pair.size <= SMALL) {
        let (found, told, _) = pair.decide(Duration::from_secs(600));
        assert_eq!(found.to_string(), expected, "{name}: {told}");
    }
}

/// The steps of a proof of equality are not missing where the requirements of both sides are compared.
#[test]
fn long_rows_merged_by_choices_are_equal() {
    for name in ["chain_by_choice_4096", "parts_by_choice_4096"] {
        let name = format!("softmax_merged_from_infinity::{name}");
        let pair = pairs().into_iter().find(|pair| pair.name() == name).unwrap();
        let (found, told, _) = pair.decide(Duration::from_secs(600));
        assert_eq!(found, Found::Equal, "{name}: {told}");
    }
}
