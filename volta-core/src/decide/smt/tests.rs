use super::*;
use crate::base::index::InstId;
use crate::number::{Extended, Rational};
use crate::term::{Constant, Store, TermOp};

fn inputs() -> Vec<InputInfo> {
    let input = |name: &str, shape: &[u64], sign| InputInfo {
        name: name.into(),
        shape: shape.into(),
        sign,
        ..InputInfo::default()
    };
    vec![input("x", &[4], Sign::Any), input("and", &[], Sign::Positive)]
}

fn x(element: u64) -> TermId {
    TermId::input(InputId(0), element)
}

fn constant(store: &mut Store, exact: Extended) -> TermId {
    store.intern(Constant { exact, literal: None, rounded: None })
}

fn ratio(store: &mut Store, num: i64, den: i64) -> TermId {
    constant(store, Rational::from_ratio(num, den).into())
}

/// The script about one element, without its comments.
fn written(store: &Store, reference: TermId, opt: TermId, axioms: Axioms) -> Result<String, Refusal> {
    let element = ElementPair { reference: (store, reference), opt: (store, opt) };
    let settings = Settings { axioms, ..Settings::default() };
    let script = script(&[("y[0]".into(), element)], &inputs(), settings)?;
    let lines = script.text.lines().filter(|line| !line.starts_with(';'));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

#[test]
fn a_term_is_bound_once_however_often_it_is_used() {
    let mut store = Store::new();
    let half = ratio(&mut store, -1, 2);
    let sum = store.apply(TermOp::Add, &[x(0), half], InstId(0));
    let square = store.apply(TermOp::Mul, &[sum, sum], InstId(0));
    let scaled = store.apply(TermOp::Fma, &[square, TermId::input(InputId(1), 0), sum], InstId(0));
    let text = written(&store, square, scaled, Axioms::Addition).expect("it can be written");
    let expected = "\
(set-logic QF_NRA)
(declare-const |x[0]| Real)
(declare-const |and[]| Real)
(assert (> |and[]| 0.0))
(assert
(let ((r.1 (+ |x[0]| (- (/ 1.0 2.0)))))
(let ((r.2 (* r.1 r.1)))
(let ((o.3 (+ (* r.2 |and[]|) r.1)))
(not (= r.2 o.3))))))
(check-sat)";
    assert_eq!(text, expected);
}

#[test]
fn where_the_reference_is_defined_the_other_side_must_be() {
    let mut store = Store::new();
    let one = ratio(&mut store, 1, 1);
    let reference = store.apply(TermOp::Div, &[one, x(0)], InstId(0));
    let root = store.apply(TermOp::Sqrt, &[x(0)], InstId(0));
    let opt = store.apply(TermOp::Div, &[one, root], InstId(0));
    let text = written(&store, reference, opt, Axioms::None).expect("it can be written");
    let expected = "\
(set-logic QF_NRA)
(declare-const |x[0]| Real)
(declare-const o.3 Real)
(assert
(let ((r.1 (/ 1.0 |x[0]|)))
(let ((r.2 (not (= |x[0]| 0.0))))
(let ((o.4 (>= |x[0]| 0.0)))
(let ((o.5 (/ 1.0 o.3)))
(let ((o.6 (and (not (= o.3 0.0)) o.4)))
(and (=> (>= |x[0]| 0.0) (and (>= o.3 0.0) (= (* o.3 o.3) |x[0]|)))
r.2
(or (not o.6) (not (= r.1 o.5))))))))))
(check-sat)";
    assert_eq!(text, expected);
}

#[test]
fn an_arm_that_is_not_taken_need_not_be_defined() {
    let mut store = Store::new();
    let zero = ratio(&mut store, 0, 1);
    let inverse = store.apply(TermOp::Div, &[x(1), x(0)], InstId(0));
    let test = store.apply(TermOp::Equal, &[x(0), zero], InstId(0));
    let chosen = store.apply(TermOp::Select, &[test, zero, inverse], InstId(0));
    let text = written(&store, chosen, zero, Axioms::None).expect("it can be written");
    assert!(text.contains("(let ((r.5 (ite r.3 true r.2)))\n(and r.5\n"), "{text}");
}

#[test]
fn exponentials_are_functions_of_which_axioms_may_say_more() {
    let mut store = Store::new();
    let power = store.apply(TermOp::Exp2, &[x(0)], InstId(0));
    let text = written(&store, power, x(1), Axioms::None).expect("it can be written");
    assert!(text.contains("(set-logic QF_UFNRA)\n(declare-fun real.exp2 (Real) Real)"), "{text}");
    assert!(!text.contains("forall"), "{text}");
    let text = written(&store, power, x(1), Axioms::Addition).expect("it can be written");
    assert!(text.contains("(set-logic UFNRA)"), "{text}");
    assert!(text.contains("(= (* (real.exp2 a) (real.exp2 b)) (real.exp2 (+ a b)))"), "{text}");
    let element = ElementPair { reference: (&store, power), opt: (&store, x(1)) };
    let about =
        script(&[("y[0]".into(), element)], &inputs(), Settings::default()).expect("it can be written");
    assert!(about.exponentials && !about.interpreted && about.terms == 1);
    // Without exponentials there are no axioms about them.
    assert!(!written(&store, x(0), x(1), Axioms::Addition).expect("it can be written").contains("exp2"));
}

#[test]
fn infinities_fold_or_are_refused() {
    let mut store = Store::new();
    let low = constant(&mut store, Extended::NegInf);
    let high = store.apply(TermOp::Max, &[low, x(0)], InstId(0));
    let text = written(&store, high, x(0), Axioms::None).expect("it folds");
    assert!(text.ends_with("(assert\n(not (= |x[0]| |x[0]|)))\n(check-sat)"), "{text}");
    let masked = store.apply(TermOp::Sub, &[low, x(0)], InstId(0));
    let vanished = store.apply(TermOp::Exp2, &[masked], InstId(0));
    let text = written(&store, vanished, x(0), Axioms::None).expect("it folds");
    assert!(text.contains("(assert\n(not (= 0.0 |x[0]|)))"), "{text}");
    let test = store.apply(TermOp::Less, &[x(1), x(2)], InstId(0));
    let chosen = store.apply(TermOp::Select, &[test, low, x(0)], InstId(0));
    let product = store.apply(TermOp::Mul, &[low, x(0)], InstId(0));
    for refused in [low, masked, chosen, product] {
        let refusal = Refusal::Infinite { element: "y[0]".into() };
        assert_eq!(written(&store, refused, x(0), Axioms::None), Err(refusal));
    }
    let unknown = store.apply(TermOp::Sub, &[low, low], InstId(0));
    assert_eq!(
        written(&store, x(0), unknown, Axioms::None),
        Err(Refusal::Undefined { element: "y[0]".into() })
    );
}

#[test]
fn a_long_chain_needs_neither_stack_nor_tree() {
    let mut store = Store::new();
    let mut sum = x(0);
    for _ in 0..200_000 {
        sum = store.apply(TermOp::Add, &[sum, sum], InstId(0));
    }
    let element = ElementPair { reference: (&store, sum), opt: (&store, sum) };
    let elements = [("y[0]".to_string(), element)];
    let about = script(&elements, &inputs(), Settings::default()).expect("it can be written");
    assert_eq!(about.terms, 200_000);
    assert!(about.text.len() < 200_000 * 60);
    let small = Settings { max_terms: 1000, ..Settings::default() };
    let refusal = Refusal::TooLarge { element: "y[0]".into(), limit: 1000 };
    assert_eq!(script(&elements, &inputs(), small), Err(refusal));
}

#[test]
fn each_element_has_a_question_of_its_own() {
    let mut store = Store::new();
    let sum = store.apply(TermOp::Add, &[x(0), x(1)], InstId(0));
    let elements: Vec<_> = (0..3)
        .map(|at| {
            let own = store.apply(TermOp::Mul, &[sum, x(at)], InstId(0));
            (format!("y[{at}]"), own)
        })
        .collect();
    let elements: Vec<_> = elements
        .into_iter()
        .map(|(name, term)| (name, ElementPair { reference: (&store, term), opt: (&store, sum) }))
        .collect();
    let about = script(&elements, &inputs(), Settings::default()).expect("it can be written");
    assert_eq!(about.text.matches("(+ ").count(), 3);
    assert_eq!(about.text.matches("declare-const").count(), 3);
    for (what, count) in [("(push 1)", 3), ("(pop 1)", 3), ("(check-sat)", 3), ("; y[", 3)] {
        assert_eq!(about.text.matches(what).count(), count, "{what}");
    }
}

#[test]
fn elements_of_a_distinct_input_are_distinct() {
    let mut store = Store::new();
    let sum = store.apply(TermOp::Add, &[x(0), x(2)], InstId(0));
    let [any, mut distinct] = [inputs(), inputs()];
    distinct[0].distinct = true;
    let text = |inputs: &[InputInfo]| {
        let element = ElementPair { reference: (&store, sum), opt: (&store, x(1)) };
        script(&[("y[0]".into(), element)], inputs, Settings::default()).expect("it can be written").text
    };
    let assertion = "(assert (distinct |x[0]| |x[1]| |x[2]|))\n";
    assert!(text(&distinct).contains(assertion));
    assert_eq!(text(&distinct).replace(assertion, ""), text(&any));
}
