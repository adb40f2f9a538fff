//! Wrong kernels are refuted by evaluating a few elements at a point, before anything is brought to canonical form.

use volta_core::case::FormsWanted;
use volta_core::verdict::Report;
use volta_suite::fixture;

fn report(name: &str) -> Report {
    let dir = fixture::root().join(name.replace("::", "/"));
    let mut case = fixture::load(name, &dir).expect("a fixture");
    // Those are for people, and would be made of a wrong kernel as well.
    case.options.forms = FormsWanted::Never;
    volta_core::verify(&case)
}

#[test]
fn what_evaluation_refutes_is_never_brought_to_canonical_form() {
    let wrong = [
        "gemm_tensor::gemm_three_quarters",
        "gemm_tensor::small_mma_swapped",
        "attention_tensor::fa1_no_rescale",
        "attention_tensor::fa2_half_max",
        "softmax::no_rescale_128",
    ];
    for name in wrong {
        let report = report(name);
        assert_eq!(
            (report.verdict.name().as_str(), report.canonical_elements),
            ("different", Some(0)),
            "{name}"
        );
    }
}

#[test]
fn all_that_is_proved_equal_is() {
    let report = report("softmax::online_128");
    assert_eq!((report.verdict.name().as_str(), report.canonical_elements), ("equivalent", Some(128)));
}

#[test]
fn nothing_is_decided_where_running_tells_the_verdict() {
    for name in ["softmax::no_barrier", "race::compute_range_fixed"] {
        assert_eq!(report(name).canonical_elements, None, "{name}");
    }
}
