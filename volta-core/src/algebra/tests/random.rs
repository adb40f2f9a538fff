//! Random terms: rewritten ones stay equal, changed ones do not, and proofs agree with exact evaluation.

use super::digests::{WAYS, digest};
use super::*;
use proptest::prelude::*;
use proptest::test_runner::TestRng;

#[derive(Clone, Debug)]
enum Tree {
    Input(u64),
    Number(i64, i64),
    Add(Box<Tree>, Box<Tree>),
    Sub(Box<Tree>, Box<Tree>),
    Mul(Box<Tree>, Box<Tree>),
    Fma(Box<Tree>, Box<Tree>, Box<Tree>),
    Div(Box<Tree>, Box<Tree>),
    Neg(Box<Tree>),
    Max(Box<Tree>, Box<Tree>),
    Min(Box<Tree>, Box<Tree>),
    Abs(Box<Tree>),
    Saturate(Box<Tree>),
    Floor(Box<Tree>),
    Choose(Box<Tree>, Box<Tree>, Box<Tree>, Box<Tree>),
}

use Tree::{Abs, Add, Choose, Div, Floor, Fma, Input, Max, Min, Mul, Neg, Number, Saturate, Sub};

fn build(tree: &Tree, side: &mut Side) -> TermId {
    build_on(tree, side, |side, at| side.x(at))
}

/// Builds the term of a tree, with inputs made by `leaf`.
fn build_on(tree: &Tree, side: &mut Side, leaf: fn(&mut Side, u64) -> TermId) -> TermId {
    let mut go = |tree: &Tree| build_on(tree, side, leaf);
    match tree {
        Input(at) => leaf(side, *at),
        Number(num, den) => side.rational(*num, *den),
        Add(a, b) => {
            let (a, b) = (go(a), go(b));
            side.add(a, b)
        }
        Sub(a, b) => {
            let (a, b) = (go(a), go(b));
            side.sub(a, b)
        }
        Mul(a, b) => {
            let (a, b) = (go(a), go(b));
            side.mul(a, b)
        }
        Fma(a, b, c) => {
            let (a, b, c) = (go(a), go(b), go(c));
            side.fma(a, b, c)
        }
        Div(a, b) => {
            let (a, b) = (go(a), go(b));
            side.div(a, b)
        }
        Neg(a) => {
            let a = go(a);
            side.neg(a)
        }
        Max(a, b) => {
            let (a, b) = (go(a), go(b));
            side.max(a, b)
        }
        Min(a, b) => {
            let (a, b) = (go(a), go(b));
            side.min(a, b)
        }
        Abs(a) => {
            let a = go(a);
            side.op(TermOp::Abs, &[a])
        }
        Saturate(a) => {
            let a = go(a);
            side.op(TermOp::Saturate, &[a])
        }
        Floor(a) => {
            let a = go(a);
            side.op(TermOp::Floor, &[a])
        }
        Choose(a, b, c, d) => {
            let (a, b, c, d) = (go(a), go(b), go(c), go(d));
            let condition = side.op(TermOp::Less, &[a, b]);
            side.op(TermOp::Select, &[condition, c, d])
        }
    }
}

/// The value at a point; `None` where it is undefined.
fn value(tree: &Tree, point: &[Rational]) -> Option<Rational> {
    let go = |tree: &Tree| value(tree, point);
    Some(match tree {
        Input(at) => point[*at as usize].clone(),
        Number(num, den) => Rational::from_ratio(*num, *den),
        Add(a, b) => &go(a)? + &go(b)?,
        Sub(a, b) => &go(a)? - &go(b)?,
        Mul(a, b) => &go(a)? * &go(b)?,
        Fma(a, b, c) => &(&go(a)? * &go(b)?) + &go(c)?,
        Div(a, b) => go(a)?.checked_div(&go(b)?)?,
        Neg(a) => -go(a)?,
        Max(a, b) => go(a)?.max(go(b)?),
        Min(a, b) => go(a)?.min(go(b)?),
        Abs(a) => go(a)?.abs(),
        Saturate(a) => go(a)?.max(Rational::ZERO).min(Rational::ONE),
        Floor(a) => go(a)?.floor(),
        Choose(a, b, c, d) => {
            // The other arm may be undefined (V6).
            if go(a)? < go(b)? { go(c)? } else { go(d)? }
        }
    })
}

fn leaf() -> impl Strategy<Value = Tree> {
    prop_oneof![(0u64..4).prop_map(Input), (-3i64..4, 1i64..3).prop_map(|(num, den)| Number(num, den))]
}

fn ring() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(4, 20, 3, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            (one(), one()).prop_map(|(a, b)| Add(a, b)),
            (one(), one()).prop_map(|(a, b)| Sub(a, b)),
            (one(), one()).prop_map(|(a, b)| Mul(a, b)),
            (one(), one(), one()).prop_map(|(a, b, c)| Fma(a, b, c)),
            one().prop_map(Neg),
        ]
    })
}

fn any_tree() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(4, 16, 4, |inner| {
        let one = || inner.clone().prop_map(Box::new);
        prop_oneof![
            3 => (one(), one()).prop_map(|(a, b)| Add(a, b)),
            2 => (one(), one()).prop_map(|(a, b)| Sub(a, b)),
            3 => (one(), one()).prop_map(|(a, b)| Mul(a, b)),
            2 => (one(), one()).prop_map(|(a, b)| Div(a, b)),
            1 => one().prop_map(Neg),
            1 => (one(), one()).prop_map(|(a, b)| Max(a, b)),
            1 => (one(), one()).prop_map(|(a, b)| Min(a, b)),
            1 => one().prop_map(Abs),
            1 => one().prop_map(Saturate),
            1 => one().prop_map(Floor),
            1 => (one(), one(), one(), one()).prop_map(|(a, b, c, d)| Choose(a, b, c, d)),
        ]
    })
}

/// Rewrites a tree into one of the same value, by ring laws and by laws of maxima.
fn rewrite(tree: &Tree, choice: &mut TestRng) -> Tree {
    let mut go = |tree: &Tree| Box::new(rewrite(tree, choice));
    let done = match tree {
        Input(_) | Number(..) => tree.clone(),
        Add(a, b) => Add(go(a), go(b)),
        Sub(a, b) => Sub(go(a), go(b)),
        Mul(a, b) => Mul(go(a), go(b)),
        Fma(a, b, c) => Fma(go(a), go(b), go(c)),
        Div(a, b) => Div(go(a), go(b)),
        Neg(a) => Neg(go(a)),
        Max(a, b) => Max(go(a), go(b)),
        Min(a, b) => Min(go(a), go(b)),
        Abs(a) => Abs(go(a)),
        Saturate(a) => Saturate(go(a)),
        Floor(a) => Floor(go(a)),
        Choose(a, b, c, d) => Choose(go(a), go(b), go(c), go(d)),
    };
    let boxed = Box::new;
    match (done, choice.next_u32() % 3) {
        (Add(a, b), 0) => Add(b, a),
        (Add(a, b), 1) => Sub(a, boxed(Neg(b))),
        (Mul(a, b), 0) => Mul(b, a),
        (Mul(a, b), 1) => match *a {
            Add(p, q) => Add(boxed(Mul(p, b.clone())), boxed(Mul(q, b))),
            a @ (Input(_) | Number(..) | Sub(..) | Mul(..) | Fma(..) | Div(..) | Neg(_) | Max(..)
            | Min(..) | Abs(_) | Saturate(_) | Floor(_) | Choose(..)) => {
                Fma(b, boxed(a), boxed(Number(0, 1)))
            }
        },
        (Sub(a, b), 0) => Fma(boxed(Number(-1, 1)), b, a),
        (Sub(a, b), 1) => Neg(boxed(Sub(b, a))),
        (Fma(a, b, c), 0) => Add(c, boxed(Mul(a, b))),
        (Div(a, b), 0) => Mul(boxed(Div(boxed(Number(1, 1)), b)), a),
        (Div(a, b), 1) => Neg(boxed(Div(a, boxed(Neg(b))))),
        (Max(a, b), 0) => Max(b, a),
        (Max(a, b), 1) => Neg(boxed(Min(boxed(Neg(b)), boxed(Neg(a))))),
        (Min(a, b), 0) => Choose(a.clone(), b.clone(), a, b),
        (Abs(a), 0) => Max(boxed(Neg(a.clone())), a),
        (Saturate(a), 0) => Max(boxed(Number(0, 1)), boxed(Min(boxed(Number(1, 1)), a))),
        (done, _) => done,
    }
}

/// The result of the prover for two trees; with `by_cases`, by case analysis if it is open.
fn compare_trees(a: &Tree, b: &Tree, by_cases: bool) -> Result<Equality, Stop> {
    let (mut left, mut right) = (Side::new(), Side::new());
    let (first, second) = (build(a, &mut left), build(b, &mut right));
    let compare = if by_cases { compare_by_cases } else { compare };
    compare((&left, first), (&right, second))
}

fn points() -> impl Strategy<Value = Vec<Vec<Rational>>> {
    let coordinate = (-20i64..21, 1i64..5).prop_map(|(num, den)| Rational::from_ratio(num, den));
    proptest::collection::vec(proptest::collection::vec(coordinate, 4), 12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    /// Soundness: what is proved equal is equal at every point where both sides are defined.
    #[test]
    fn proofs_agree_with_evaluation(a in any_tree(), b in any_tree(), points in points()) {
        if compare_trees(&a, &b, true) == Ok(Equality::Equal) {
            for point in points {
                if let (Some(left), Some(right)) = (value(&a, &point), value(&b, &point)) {
                    prop_assert_eq!(left, right, "{:?} and {:?} at {:?}", a, b, point);
                }
            }
        }
    }

    /// Soundness again, with more equal pairs: a term and a near copy of it.
    #[test]
    fn small_changes_are_not_proved_away(a in any_tree(), at in 0u64..4, points in points()) {
        let bumped = [
            Add(Box::new(a.clone()), Box::new(Floor(Box::new(Input(at))))),
            Max(Box::new(a.clone()), Box::new(Input(at))),
            Mul(Box::new(a.clone()), Box::new(Abs(Box::new(Input(at))))),
            Abs(Box::new(a.clone())),
            Saturate(Box::new(a.clone())),
            Div(Box::new(a.clone()), Box::new(Input(at))),
            Choose(Box::new(a.clone()), Box::new(Input(at)), Box::new(Input(at)), Box::new(a.clone())),
        ];
        for b in bumped {
            if compare_trees(&a, &b, true) == Ok(Equality::Equal) {
                for point in &points {
                    if let (Some(left), Some(right)) = (value(&a, point), value(&b, point)) {
                        prop_assert_eq!(left, right, "{:?} and {:?} at {:?}", a, b, point);
                    }
                }
            }
        }
    }

    /// A term that the prover finds undefined everywhere is undefined at every point.
    #[test]
    fn undefined_terms_have_no_values(a in any_tree(), points in points()) {
        let mut side = Side::new();
        let term = build(&a, &mut side);
        if let Err(Stop::Undefined(_)) = requirements(&side, term, &[]) {
            for point in points {
                prop_assert_eq!(value(&a, &point), None, "{:?} at {:?}", a, point);
            }
        }
    }

    /// Where one term is defined and another is proved to be defined and equal there, it is. The terms differ in
    /// the places where they compute unneeded values.
    #[test]
    fn proofs_hold_on_the_whole_domain(
        wanted in any_tree(),
        needless in (any_tree(), any_tree()),
        choice in (ring(), ring()),
        shapes in (0..5, 0..5),
        points in points(),
    ) {
        let shape = |shape: i32| {
            let with = |needless: &Tree| {
                let zero = Sub(Box::new(needless.clone()), Box::new(needless.clone()));
                Add(Box::new(wanted.clone()), Box::new(zero))
            };
            let choose = |when_true: Tree, when_false: Tree| {
                let [a, b] = [&choice.0, &choice.1].map(|tree| Box::new(tree.clone()));
                Choose(a, b, Box::new(when_true), Box::new(when_false))
            };
            match shape {
                0 => wanted.clone(),
                1 => with(&needless.0),
                2 => choose(with(&needless.0), wanted.clone()),
                3 => choose(wanted.clone(), with(&needless.0)),
                _ => choose(with(&needless.0), choose(wanted.clone(), with(&needless.1))),
            }
        };
        let (a, b) = (shape(shapes.0), shape(shapes.1));
        let (mut left, mut right) = (Side::new(), Side::new());
        let (first, second) = (build(&a, &mut left), build(&b, &mut right));
        if refines((&left, first), (&right, second)) {
            for point in points {
                let wanted = value(&a, &point);
                prop_assert!(wanted.is_none() || wanted == value(&b, &point), "{:?} and {:?} at {:?}", a, b, point);
            }
        }
    }

    /// A term without requirements is defined everywhere.
    #[test]
    fn terms_without_requirements_are_defined(a in any_tree(), points in points()) {
        let mut side = Side::new();
        let term = build(&a, &mut side);
        if requirements(&side, term, &[]) == Ok(Vec::new()) {
            for point in points {
                prop_assert!(value(&a, &point).is_some(), "{:?} at {:?}", a, point);
            }
        }
    }

    /// Completeness on rings: rewriting by ring laws is always proved, and the printed forms are equal.
    #[test]
    fn ring_laws_are_proved(a in ring(), mut rng in any::<[u8; 32]>().prop_perturb(|_, rng| rng)) {
        let b = rewrite(&a, &mut rng);
        prop_assert_eq!(compare_trees(&a, &b, false), Ok(Equality::Equal), "{:?} and {:?}", a, b);
        let (mut left, mut right) = (Side::new(), Side::new());
        let (first, second) = (build(&a, &mut left), build(&b, &mut right));
        prop_assert_eq!(normal_form(&left, first), normal_form(&right, second));
    }

    /// Rewriting any term by the laws above is proved, unless it or an arm of it is undefined. (Exception: for
    /// deeply nested maxima, about one case in 100,000 stays open with other seeds.)
    #[test]
    fn rewritten_terms_are_proved(a in any_tree(), mut rng in any::<[u8; 32]>().prop_perturb(|_, rng| rng)) {
        let b = rewrite(&a, &mut rng);
        let result = compare_trees(&a, &b, false);
        let undefined = match &result {
            Ok(Equality::FirstUndefined(_) | Equality::SecondUndefined(_)) => true,
            Ok(Equality::Open(reason)) => reason.ends_with("in an arm of a choice that may be taken"),
            Ok(Equality::Equal) | Err(_) => false,
        };
        let equal = result == Ok(Equality::Equal)
            || !undefined && compare_trees(&a, &b, true) == Ok(Equality::Equal);
        prop_assert!(undefined || equal, "{:?}: {:?} and {:?}", result, a, b);
    }

    /// Values in prime fields never contradict a proof by forms, and distinguish different terms.
    #[test]
    fn fields_agree_with_proofs(
        a in any_tree(),
        b in any_tree(),
        polynomials in (ring(), ring()),
        mut rng in any::<[u8; 32]>().prop_perturb(|_, rng| rng),
    ) {
        let (mut left, mut right) = (Side::new(), Side::new());
        let [first, second] = [build(&a, &mut left), build(&b, &mut left)];
        let product = [left.exp(first), left.exp2(second)];
        let product = left.mul(product[0], product[1]);
        let first = left.add(first, product);
        let [other, second] = [build(&rewrite(&a, &mut rng), &mut right), build(&rewrite(&b, &mut rng), &mut right)];
        let base = right.f32(0x3FB8_AA3B);
        let exponent = right.fma(base, other, second);
        let power = right.exp2(exponent);
        let second = right.add(power, other);
        let (found, equal) = agreement((&left, first), (&right, second));
        prop_assert!(!equal || found != Agreement::Differ, "{:?} and {:?}", a, b);

        let (mut left, mut right) = (Side::new(), Side::new());
        let (first, second) = (build(&polynomials.0, &mut left), build(&polynomials.1, &mut right));
        let (found, equal) = agreement((&left, first), (&right, second));
        prop_assert_eq!(found, if equal { Agreement::Agree } else { Agreement::Differ }, "{:?}", polynomials);
    }

    /// Different polynomials are distinguished: none are proved equal.
    #[test]
    fn polynomials_are_equal_exactly_when_their_values_are(a in ring(), b in ring(), points in points()) {
        let equal = compare_trees(&a, &b, false) == Ok(Equality::Equal);
        let agree = points.iter().all(|point| value(&a, point) == value(&b, point));
        prop_assert!(!equal || agree);
    }

    /// Digests do not depend on which sums are named. (Signs do: the square of a named sum is known to be
    /// non-negative.)
    #[test]
    fn digests_are_the_same_with_and_without_names(a in ring(), b in ring(), c in ring()) {
        let mut side = Side::new();
        let [a, b, c] = [&a, &b, &c].map(|tree| build_on(tree, &mut side, long_sum));
        let power = side.exp(b);
        let terms = [side.op(TermOp::Floor, &[a]), side.div(a, c), side.mul(power, c), side.op(TermOp::Sin, &[c])];
        let term = side.sum(&terms);
        let found = WAYS.map(|tactic| digest(&side, term, tactic));
        let known: Vec<_> = found.iter().flatten().collect();
        prop_assert!(known.windows(2).all(|pair| pair[0] == pair[1]));
    }
}

/// `x[at]·y[0] + x[at + 1]·y[1] + …`, which gets a name.
fn long_sum(side: &mut Side, at: u64) -> TermId {
    let mut sum = side.int(0);
    for k in 0..10 {
        let (x, y) = (side.x(at + k), side.y(k));
        sum = side.fma(x, y, sum);
    }
    sum
}
