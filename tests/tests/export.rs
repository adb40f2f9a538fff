//! `cargo volta export`: its scripts, and its errors.

use volta_suite::{COPY_PTX, Said, Scratch, copy_case};

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("export-{name}"));
    for (case, kernel) in [("doubled", "copy_doubled"), ("racy", "copy_racy")] {
        scratch.write(&format!("cases/copy/{case}/copy.ptx"), COPY_PTX);
        scratch.write(&format!("cases/copy/{case}/volta.toml"), &copy_case("", kernel));
    }
    scratch
}

fn export(scratch: &Scratch, arguments: &[&str]) -> Said {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    Said::by(command.args(["export", "--smt2"]).args(arguments))
}

#[test]
fn the_first_element_is_written() {
    let scratch = scratch("first");
    let said = export(&scratch, &["cases/copy/doubled"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let expected = "\
; copy::doubled
; unsat: both sides are equal wherever the reference is defined
; sat: they differ
(set-logic QF_NRA)
(declare-const |x[0]| Real)
; y[0]
(assert
(let ((o.1 (+ |x[0]| |x[0]|)))
(not (= |x[0]| o.1))))
(check-sat)
";
    assert_eq!(said.out, expected);
}

#[test]
fn elements_are_named_numbered_or_all() {
    let scratch = scratch("elements");
    let of = |element: &str| export(&scratch, &["cases/copy/doubled", "--element", element]);
    assert!(of("31").out.contains("; y[31]\n"));
    assert_eq!(of("31").out, of("y[31]").out);
    assert_eq!(of("all").out.matches("(check-sat)").count(), 32);
    for (wrong, message) in [
        ("32", "there is no element 32: elements are numbered from 0 to 31"),
        ("y[32]", "there is no compared element `y[32]`\nhelp: did you mean"),
    ] {
        let said = of(wrong);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert!(said.err.contains(message), "{}", said.err);
    }
}

#[test]
fn a_file_is_written_instead() {
    let scratch = scratch("file");
    let said = export(&scratch, &["cases/copy/doubled", "-o", "out.smt2"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
    assert!(scratch.read("out.smt2").ends_with("(check-sat)\n"));
    let said = export(&scratch, &["cases/copy/doubled", "-o", "absent/out.smt2"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("absent/out.smt2 cannot be written"), "{}", said.err);
}

#[test]
fn what_has_no_condition_says_why() {
    let scratch = scratch("none");
    for (path, message) in [
        ("cases/copy/racy", "nothing remains to be proved of copy::racy: race\nhelp: `cargo volta check"),
        ("cases", "2 cases are selected\nhelp: --exact NAME selects one of them"),
        ("absent", "there is no folder absent"),
    ] {
        let said = export(&scratch, &[path]);
        assert_eq!((said.code, said.out.as_str()), (2, ""));
        assert!(said.err.contains(message), "{}", said.err);
    }
}
