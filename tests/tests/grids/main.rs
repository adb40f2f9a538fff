//! To execute one CTA for all that do the same gives the reports that executing all of them gives, on random kernels.

use kernels::{Kernel, case, kernel};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use volta_core::verdict::{Report, Verdict};

mod every_size;
mod kernels;
mod one_thread;

/// A report without what depends on how it was found.
fn told(mut report: Report) -> String {
    report.solve_seconds = 0.0;
    for side in report.reference.iter_mut().chain([&mut report.opt]) {
        side.seconds = 0.0;
        side.term_bytes = 0;
        side.term_nodes = 0;
    }
    format!("{report:#?}")
}

fn both(reference: Option<&Kernel>, opt: &Kernel) -> [Report; 2] {
    [false, true].map(|every_cta| volta_core::verify(&case(reference, opt, every_cta)))
}

fn cases() -> ProptestConfig {
    let slow = volta_suite::in_full();
    ProptestConfig {
        cases: if slow { 5_000 } else { 150 },
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn one_kernel(kernel in kernel()) {
        let [by_classes, each] = both(None, &kernel).map(told);
        prop_assert_eq!(by_classes, each, "{}", kernel.ptx());
    }

    #[test]
    fn two_kernels(reference in kernel(), opt in kernel()) {
        let [by_classes, each] = both(Some(&reference), &opt).map(told);
        prop_assert_eq!(by_classes, each, "{}\n{}", reference.ptx(), opt.ptx());
    }

    /// Kernels that have the same elements with blocks of other sizes, most of which are equal.
    #[test]
    fn two_sizes_of_blocks(kernel in kernel(), half in any::<bool>()) {
        let mut other = kernel.clone();
        if half {
            other.threads *= 2;
            other.grid[0] = kernel.grid[0].div_ceil(2);
        }
        let [by_classes, each] = both(Some(&kernel), &other).map(told);
        prop_assert_eq!(by_classes, each, "{}\n{}", kernel.ptx(), other.ptx());
    }
}

/// The kernels are not all wrong, and of many, not all CTAs are executed.
#[test]
fn many_kernels_are_proved() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut clean, mut faults, mut followed) = (0, 0, 0);
    for _ in 0..100 {
        let kernel = kernel().new_tree(&mut runner).expect("kernels are drawn").current();
        let [by_classes, each] = both(None, &kernel);
        followed += u32::from(by_classes.opt.term_nodes < each.opt.term_nodes);
        clean += u32::from(by_classes.verdict == Verdict::Clean);
        faults += u32::from(matches!(by_classes.verdict, Verdict::Fault(_)));
    }
    assert!(
        clean >= 30 && faults >= 10 && followed >= 10,
        "{clean} clean, {faults} at fault, {followed} by classes"
    );
}
