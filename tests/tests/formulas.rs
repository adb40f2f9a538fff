//! Formulas are exact: expanded, each element has its original normal form.

use std::rc::Rc;

use volta_core::base::ration::Ration;
use volta_core::decide::forms::Forms;
use volta_core::term::Store;
use volta_suite::expander::{self, expand};
use volta_suite::fixture::{self, Size};
use volta_suite::{Said, Scratch};

/// Holds the digest of each expanded formula against that of the forms. Tells how many formulas there were, and adds
/// those to `other` that have another digest.
fn check(name: &str, other: &mut Vec<String>) -> usize {
    let dir = fixture::root().join(name.replace("::", "/"));
    let Some(case) = fixture::load(name, &dir) else { return 0 };
    let Ok(formulas) = volta_core::formulas(&case) else { return 0 };
    for side in &formulas.sides {
        if side.formula.omitted.0 > 0 || side.formula.open > 0 {
            continue;
        }
        let mut store = Store::new();
        store.set_integers(formulas.inputs.iter().map(|input| input.integers).collect());
        let elements = expand(&side.formula, &formulas.inputs, &mut store);
        store.close();
        let mut forms = Forms::new(&formulas.inputs);
        let mut terms = Vec::new();
        let mut nothing = 0;
        for ((param, element), said) in elements {
            match said {
                expander::Said::Bits(bits) => forms.add_bits(param, element, bits),
                expander::Said::Term(term) => terms.push((param, element, term)),
                expander::Said::Nothing => nothing += 1,
            }
        }
        forms.add_terms(&store, &terms, &Rc::new(Ration::endless()));
        let mut digest = forms.digest();
        digest.open += nothing;
        if digest != side.digest {
            other.push(format!("{name}, {:?}", side.side));
        }
    }
    formulas.sides.len()
}

/// Beginnings of the names of fixtures that are checked in every run.
const SAMPLE: [&str; 8] = [
    "softmax::online_4",
    "softmax::triangle",
    "norm::group",
    "norm::rms_block",
    "clamp::",
    "integer::",
    "pool::",
    "matmul::small",
];

/// Forms that change when they are brought into normal form again: a maximum of words that is rounded down is the
/// maximum of what was rounded, and ranges then say more.
const CHANGES: [&str; 1] = ["integer::larger_unsigned, Opt"];

#[test]
fn formulas_of_fixtures_are_exact() {
    let all = volta_suite::in_full();
    let (mut formulas, mut other) = (0, Vec::new());
    for (name, _) in fixture::all() {
        if all || SAMPLE.iter().any(|start| name.starts_with(start)) && fixture::size(&name) != Size::Huge {
            formulas += check(&name, &mut other);
        }
    }
    assert_eq!(other, CHANGES, "expanded, these have forms of other digests");
    assert!(formulas > 100, "{formulas} formulas");
}

/// `cargo volta show` of a fixture.
fn shown(arguments: &[&str]) -> String {
    let scratch = Scratch::new(env!("CARGO_TARGET_TMPDIR"), "formulas-shown");
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    let said = Said::by(command.arg("show").arg(fixture::root().join("norm/rms_block")).args(arguments));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    said.out
}

#[test]
fn formulas_are_shown_in_notations() {
    let text = shown(&[]);
    let line: serde_json::Value = serde_json::from_str(&shown(&["--json"])).expect("it is an object");
    assert_eq!((&line["version"], &line["name"]), (&1.into(), &"norm::rms_block".into()));
    let side = &line["sides"][0];
    assert!(
        side["text"].as_str().is_some_and(|side| text.contains(side.lines().next().expect("a line"))),
        "{side}"
    );
    let piece = &side["formula"]["pieces"][0];
    assert_eq!(piece["ranges"][0]["from"], serde_json::json!({ "constant": 0, "terms": [] }), "{piece}");
    assert!(piece["value"]["product"].is_array(), "{piece}");
    let latex = shown(&["--latex"]);
    assert!(latex.starts_with("% norm::rms_block\n% reference and opt\n\\begin{align*}\n"), "{latex}");
    let depth = |open: char, close: char| latex.matches(open).count() - latex.matches(close).count();
    assert_eq!((depth('{', '}'), latex.matches("\\left").count()), (0, latex.matches("\\right").count()));
}
