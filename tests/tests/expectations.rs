//! The expectations of a case on the sites of a fault.

use volta_suite::fixture;
use volta_test::manifest;
use volta_test::nvcc::Toolchain;
use volta_test::run::{Settings, run};

/// What fails of `softmax::no_barrier`, a race of two lines, if its sites are expected in lines with these texts.
fn failures(sites: &[&str]) -> Vec<String> {
    let root = fixture::root();
    let mut case = manifest::load("softmax::no_barrier", &root.join("softmax/no_barrier"), &root)
        .expect("it can be read");
    case.expect.sites = Some(sites.iter().map(|text| (*text).to_owned()).collect());
    run(&case, &Toolchain::none(), Settings { threads: 1, ..Settings::default() }).failures
}

#[test]
fn sites_are_lines_with_texts() {
    let both = ["row[tid] = x[tid];", "float v = row[i];"];
    assert_eq!(failures(&both), Vec::<String>::new());
    // Each line has one of the texts, and each text is in one of the lines.
    for wrong in [&both[..1], &both[1..], &[both[0], both[1], "__syncthreads();"], &["x[i]"], &[]] {
        let failures = failures(wrong);
        assert_eq!(failures.len(), 1, "{wrong:?}: {failures:?}");
        assert!(failures[0].contains("float v = row[i];"), "{failures:?}");
    }
}
