use std::path::PathBuf;

use tempfile::TempDir;
use volta_case::{About, Options};
use volta_core::base::assumption::Assumption;
use volta_core::case::{Assumed, Binding, Contents, Element, Param, ParamKind, Role, Which};
use volta_core::verdict::{
    Coverage, Difference, Explanation, FormulaText, How, InputError, InputProblem, InputScope, Unknown,
    UnknownReason, Witness,
};
use volta_core::verdict::{CudaPlace, Fault, FaultKind, Place, Site, Thread};

use super::*;
use crate::case::{Expectation, Home, Kernel};
use crate::prepare::{MadeBy, Ptx, Texts};

const SOURCE: &str = "\
__global__ void k(float *y) {
    __shared__ float s[2];
    s[threadIdx.x] = 1; // first
    y[0] = s[1 - threadIdx.x];
}
";

/// A case about the source, and its folder, which goes with what is returned.
fn case(name: &str) -> (Case, TempDir) {
    let folder = tempfile::tempdir().expect("the folder can be made");
    let dir = folder.path().to_owned();
    std::fs::write(dir.join("k.cu"), SOURCE).expect("the source can be written");
    let kind = ParamKind::Tensor {
        reference: Element::parse("f32").expect("it is a type"),
        opt: Element::parse("f32").expect("it is a type"),
        shape: vec![4],
        role: Role::Out,
        contents: Contents::Undefined,
        assumed: Assumed::default(),
    };
    let case = Case {
        name: format!("family::{name}"),
        home: Home { file: dir.join("volta.toml"), dir: dir.clone(), root: dir, ..Home::default() },
        description: None,
        about: About::default(),
        params: vec![Param::new("y", kind, Binding::Argument)],
        reference: Some(Kernel::new("k.cu::naive").into()),
        opt: Kernel::new("k.cu::k").into(),
        expect: Expectation::default(),
        options: Options::default(),
        recheck: 0,
        contains: Vec::new(),
        guesses: Vec::new(),
        data: Vec::new(),
        shard: None,
        every: None,
    };
    (case, folder)
}

/// A formula whose right side is not the other kernel's.
fn formula(text: &str) -> FormulaText {
    let marked = text.replacen("= ", "= ⟦", 1).replacen("      i", "⟧      i", 1);
    FormulaText { text: text.into(), marked, mathml: String::new() }
}

fn report(verdict: Verdict) -> Report {
    let stats =
        SideStats { kernel: "k".into(), threads: 2, ctas: (1, 1), barriers: 1, ..SideStats::default() };
    let canonical_elements = match &verdict {
        Verdict::Equivalent | Verdict::EquivalentWhere(_) => Some(3),
        Verdict::Different(_) => Some(0),
        Verdict::Unknown(_) => Some(1),
        Verdict::Same(_) | Verdict::Fault(_) | Verdict::InputError(_) | Verdict::Clean => None,
    };
    Report {
        verdict,
        also: Vec::new(),
        assumptions: vec![Assumption::given("`n` is 4"), Assumption::relied("a remark")],
        holds: Vec::new(),
        parting: None,
        ranges: Vec::new(),
        losses: Vec::new(),
        errors: Vec::new(),
        scope: InputScope { restricted: true, ..InputScope::default() },
        unused: Vec::new(),
        size: None,
        coverage: Coverage { compared: 3, unwritten: 1, total: 4 },
        reference: Some(stats.clone()),
        opt: stats,
        solve_seconds: 0.0,
        canonical_elements,
        rechecked: None,
        maps: Vec::new(),
        form_digests: Vec::new(),
        formulas: ["y[i] = x[0] + x[1]      i < 4", "y[i] = x[1]\u{1b}      i < 4"].map(formula).into(),
    }
}

fn ptx(made_by: MadeBy) -> Texts {
    let text = "a\nb\n\tst.shared.f32 [%r1], %f1;\n".into();
    Texts::new([(Which::Opt, 0, Ptx { text, path: "k.sm_80.ptx".into(), made_by })])
}

fn told(case: &Case, verdict: Verdict) -> String {
    told_of(case, report(verdict))
}

fn told_of(case: &Case, report: Report) -> String {
    let run = Run { texts: ptx(MadeBy::Here("nvcc 1".into())), report: Some(report), ..nothing() };
    super::run(case, &run, Paint::PLAIN)
}

fn nothing() -> Run {
    Run { obstacle: None, ..Run::stopped(crate::prepare::Obstacle::new(InputProblem::NoCase, "", None)) }
}

fn race(cuda: Option<u32>) -> Fault {
    let site = |thread, action: &str, line: u32| Site {
        action: action.into(),
        thread: Some(Thread { cta: [0; 3], thread: [thread, 0, 0] }),
        place: Some(Place {
            step: 0,
            line: 3,
            column: 2,
            length: 26,
            text: "st.shared.f32 [%r1], %f1;".into(),
            cuda: cuda.map(|_| CudaPlace { file: "k.cu".into(), line, column: 5, inlined_at: None }),
        }),
    };
    Fault {
        step: 0,
        side: Which::Opt,
        kind: FaultKind::Race,
        rule: "Y1",
        message: "thread (0, 0, 0) and thread (1, 0, 0) meet (1), (2)".into(),
        sites: vec![site(0, "writes s[0]", 3), site(1, "reads s[0]", 4)],
        timeline: None,
        phases: Vec::new(),
        help: Some("a barrier between them".into()),
    }
}

/// Compares with a snapshot beside this file.
fn assert_told(name: &str, text: &str) {
    let mut settings = insta::Settings::new();
    settings.set_snapshot_path(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/render/snapshots"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn proofs_say_what_was_compared_and_assumed() {
    let (case, _folder) = case("proof");
    assert_told("equivalent", &told(&case, Verdict::Equivalent));
    let narrow = |restricted| InputScope {
        restricted,
        domain: (0..4).map(|at| format!("x[{at}] > 0")).collect(),
        more: 12,
    };
    for (name, restricted) in [("equivalent_on_a_part", false), ("equivalent_on_an_allowed_part", true)] {
        let report = Report { scope: narrow(restricted), ..report(Verdict::Equivalent) };
        assert_told(name, &told_of(&case, report));
    }
    assert_told("equivalent_where", &told(&case, Verdict::EquivalentWhere(vec!["x[0] ≠ 0".into()])));
    let alone = Case { reference: None, ..case };
    assert_told("clean", &told(&alone, Verdict::Clean));
    let report = Report { scope: narrow(false), ..report(Verdict::Clean) };
    assert_told("clean_on_a_part", &told_of(&alone, report));
}

#[test]
fn differences_show_inputs_and_both_values() {
    let (case, _folder) = case("difference");
    let difference = |how| Difference { tensor: "y".into(), element: 3, index: vec![1, 1], how };
    let witness = Witness {
        inputs: (0..30).map(|at| (format!("x[{at}]"), at.to_string())).collect(),
        zeros: 7,
        reference: "0.5".into(),
        opt: "inf".into(),
        readings: Vec::new(),
        explanation: Some(Explanation {
            what: "divisor".into(),
            reference: "7".into(),
            opt: "0".into(),
            places: [Some(1), None].map(|line| race(line).sites[0].place.clone().map(Box::new)),
        }),
    };
    assert_told("different", &told(&case, Verdict::Different(difference(How::Values(witness)))));
    let unwritten = How::Unwritten { by: Which::Opt };
    assert_told("different_unwritten", &told(&case, Verdict::Different(difference(unwritten))));
    assert_told("different_nobody", &told(&case, Verdict::Different(difference(How::NobodyWrites))));
}

#[test]
fn neighbours_with_one_value_share_a_line() {
    let (mut case, _folder) = case("neighbours");
    if let ParamKind::Tensor { shape, .. } = &mut case.params[0].kind {
        *shape = vec![3, 4];
    }
    let zeros = ["y[0][1]", "y[0][2]", "y[0][3]", "y[1][0]"].map(|name| (name.to_owned(), "0".to_owned()));
    let fives = ["y[1][2]", "y[2][0]", "y[2][2]", "y[2][3]"].map(|name| (name.to_owned(), "5".to_owned()));
    let witness = Witness {
        inputs: zeros.into_iter().chain(fives).collect(),
        zeros: 0,
        reference: "1".into(),
        opt: "2".into(),
        readings: Vec::new(),
        explanation: Some(Explanation {
            what: "argument of the logarithm".into(),
            reference: "7".into(),
            opt: "0".into(),
            places: [None, None],
        }),
    };
    let how = How::Values(witness);
    let difference = Difference { tensor: "y".into(), element: 3, index: vec![1, 1], how };
    let mut report = report(Verdict::Different(difference));
    report.formulas.clear();
    let text = told_of(&case, report);
    assert!(text.contains("- y[0][1] … y[1][0] = 0 (4 elements)\n"), "{text}");
    assert!(text.contains("- y[1][2], y[2][0], y[2][2], y[2][3] = 5 (4 elements)\n"), "{text}");
    assert!(text.contains("because of an argument of the logarithm: 7"), "{text}");
}

#[test]
fn formulas_are_shown_with_their_definitions_or_not_at_all() {
    let (case, _folder) = case("formulas");
    let told = |sides: [&str; 2]| {
        let difference =
            Difference { tensor: "y".into(), element: 3, index: vec![3], how: How::NobodyWrites };
        let witness = Witness {
            inputs: Vec::new(),
            zeros: 1,
            reference: "1".into(),
            opt: "2".into(),
            readings: Vec::new(),
            explanation: None,
        };
        let mut report = report(Verdict::Different(Difference { how: How::Values(witness), ..difference }));
        let formula =
            |text: &str| FormulaText { text: String::new(), marked: text.into(), mathml: String::new() };
        report.formulas = sides.map(formula).into();
        told_of(&case, report)
    };
    let own = "y[i] = ⟦part2 + 1⟧\n  part = x[0] + x[1]\n  part2 = part^2\n  other = x[2]";
    let text = told([own, "y[i] = ⟦2⟧"]);
    assert!(
        text.contains("    y[i] = ⟦part2 + 1⟧\n      part2 = part^2\n      part = x[0] + x[1]\n"),
        "{text}"
    );
    assert!(!text.contains("other"), "{text}");
    let long = format!("y[i] = ⟦{}⟧", "x[0] + ".repeat(100));
    let of_others = "y[1] = ⟦2⟧";
    for other in [long.as_str(), of_others] {
        let text = told([own, other]);
        assert!(!text.contains("in all"), "{text}");
    }
}

#[test]
fn faults_show_both_sites_in_the_source() {
    let (case, _folder) = case("fault");
    assert_told("race", &told(&case, Verdict::Fault(race(Some(1)))));
    assert_told("race_in_ptx", &told(&case, Verdict::Fault(race(None))));
    let other =
        Fault { kind: FaultKind::OutOfBounds, rule: "M1", message: "reads outside `s`".into(), ..race(None) };
    let several = Report { also: vec![race(Some(1)), other], ..report(Verdict::Fault(race(Some(1)))) };
    assert_told("race_and_others", &told_of(&case, several));
}

#[test]
fn sources_outside_of_the_case_are_not_read() {
    let (case, _folder) = case("outside");
    for file in ["../../etc/hostname", "/etc/hostname", "toolkit:cuda_fp16.h"] {
        let mut fault = race(Some(1));
        for site in &mut fault.sites {
            let place = site.place.as_mut().expect("a site has a place");
            place.cuda = Some(CudaPlace { file: file.into(), line: 1, column: 1, inlined_at: None });
        }
        let text = told(&case, Verdict::Fault(fault));
        assert!(text.contains(&format!("{file}:1")), "{text}");
        assert!(!text.contains("1 |"), "no line of the file is shown: {text}");
    }
}

#[test]
fn what_is_no_claim_says_why() {
    let (case, _folder) = case("unknown");
    let unknown = Unknown {
        kind: UnknownReason::Instructions,
        reason: "the budget of 5 steps is used up".into(),
        progress: None,
        help: Some("raise it".into()),
    };
    assert_told("unknown", &told(&case, Verdict::Unknown(unknown)));
    let place = race(None).sites[0].place.clone();
    let error = InputError {
        step: 0,
        kind: InputProblem::DoesNotFit,
        side: Some(Which::Opt),
        message: "no such kernel".into(),
        place,
        part: None,
        help: Some("there is k".into()),
    };
    assert_told("input_error", &told(&case, Verdict::InputError(error)));
}

#[test]
fn snapshots_leave_out_what_compilers_decide() {
    let (case, _folder) = case("snapshot");
    let here = ptx(MadeBy::Here("nvcc 1".into()));
    assert_told("snapshot_equivalent", &snapshot::text(&case, &report(Verdict::Equivalent), &here));
    let mut fault = report(Verdict::Fault(race(Some(1))));
    fault.formulas.clear();
    let text = snapshot::text(&case, &fault, &here);
    assert!(!text.contains("k.sm_80.ptx") && !text.contains("%r1"), "{text}");
    fault.verdict = Verdict::Fault(race(None));
    let text = snapshot::text(&case, &fault, &here);
    assert!(!text.contains("%r1"), "{text}");
    let text = snapshot::text(&case, &fault, &ptx(MadeBy::Given));
    assert!(text.contains("%r1"), "the case names the PTX itself: {text}");
}

#[test]
fn control_characters_are_spelled_out() {
    assert_eq!(clean("a\u{1b}[31m\r\n\u{202e}b"), "a\\u{1b}[31m\\u{d}\n\\u{202e}b");
    assert_eq!(clean_line("a\nb"), "a b");
}
