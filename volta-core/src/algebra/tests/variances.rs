//! Variances as kernels compute them: running ones, merged ones, and in two passes.

use super::super::packed::pack_single;
use super::super::polynomial::{Key, Term};
use super::*;
use proptest::prelude::*;

/// Sums over some elements, as terms.
#[derive(Clone, Copy)]
struct Part {
    count: i64,
    mean: TermId,
    squares: TermId,
}

/// How a part is computed: one element after the other, or merged from two parts.
#[derive(Clone, Debug)]
enum Plan {
    Running(u64, u64),
    Merged(Box<Plan>, Box<Plan>),
}

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slip {
    Nothing,
    /// The deviation from the old mean is squared.
    OldMean,
    /// The last merge assumes equal counts.
    Counts,
}

fn running(side: &mut Side, from: u64, to: u64, slip: Slip) -> Part {
    let first = side.x(from);
    let zero = side.int(0);
    let mut part = Part { count: 1, mean: first, squares: zero };
    for at in from + 1..to {
        part.count += 1;
        let x = side.x(at);
        let deviation = side.sub(x, part.mean);
        let share = side.rational(1, part.count);
        part.mean = side.fma(deviation, share, part.mean);
        let second = if slip == Slip::OldMean && at + 1 == to { deviation } else { side.sub(x, part.mean) };
        part.squares = side.fma(deviation, second, part.squares);
    }
    part
}

fn merged(side: &mut Side, a: Part, b: Part, slip: Slip) -> Part {
    let count = a.count + b.count;
    let apart = side.sub(b.mean, a.mean);
    let share = side.rational(b.count, count);
    let mean = side.fma(apart, share, a.mean);
    let weight = if slip == Slip::Counts { (count, 4) } else { (a.count * b.count, count) };
    let weight = side.rational(weight.0, weight.1);
    let squares = side.add(a.squares, b.squares);
    let apart = side.mul(apart, apart);
    Part { count, mean, squares: side.fma(apart, weight, squares) }
}

fn build(side: &mut Side, plan: &Plan, slip: Slip) -> Part {
    match plan {
        Plan::Running(from, to) => running(side, *from, *to, slip),
        Plan::Merged(a, b) => {
            let inner = if slip == Slip::Counts { Slip::Nothing } else { slip };
            let (a, b) = (build(side, a, Slip::Nothing), build(side, b, inner));
            merged(side, a, b, slip)
        }
    }
}

/// The variance as the argument of a root, for which both sides must have one form.
fn normalised(side: &mut Side, squares: TermId, count: u64) -> TermId {
    let share = side.rational(1, count as i64);
    let epsilon = side.rational(1, 1000);
    let variance = side.fma(squares, share, epsilon);
    side.op(TermOp::Rsqrt, &[variance])
}

fn two_passes(side: &mut Side, count: u64) -> TermId {
    let elements: Vec<TermId> = (0..count).map(|at| side.x(at)).collect();
    let sum = side.sum(&elements);
    let share = side.rational(1, count as i64);
    let mean = side.mul(sum, share);
    let mut squares = side.int(0);
    for x in elements {
        let deviation = side.sub(x, mean);
        squares = side.fma(deviation, deviation, squares);
    }
    normalised(side, squares, count)
}

/// The result of the quick prover alone, and its steps.
fn quick(a: (&Side, TermId), b: (&Side, TermId)) -> (Result<Equality, Stop>, u64) {
    let analysis = facts_of(a.0, b.0);
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    prover.set_budget(u64::MAX);
    let first = TermRef { store: prover.add_store(&a.0.store, &analysis[0]), term: a.1 };
    let second = TermRef { store: prover.add_store(&b.0.store, &analysis[1]), term: b.1 };
    (prover.equal(first, second, Stage::Expansions), prover.steps())
}

fn quick_of(plan: &Plan, slip: Slip, count: u64) -> (Result<Equality, Stop>, u64) {
    let (mut left, mut right) = (Side::new(), Side::new());
    let a = two_passes(&mut left, count);
    let part = build(&mut right, plan, slip);
    let b = normalised(&mut right, part.squares, count);
    quick((&left, a), (&right, b))
}

/// Parts of equal length, merged pairwise.
fn even(from: u64, length: u64, parts: u64) -> Plan {
    if parts == 1 {
        return Plan::Running(from, from + length);
    }
    let half = parts / 2;
    let (a, b) = (even(from, length, half), even(from + half * length, length, half));
    Plan::Merged(Box::new(a), Box::new(b))
}

fn plans(from: u64, to: u64) -> BoxedStrategy<Plan> {
    let whole = Just(Plan::Running(from, to)).boxed();
    if to - from < 4 {
        return whole;
    }
    let split = (from + 1..to).prop_flat_map(move |at| {
        (plans(from, at), plans(at, to)).prop_map(|(a, b)| Plan::Merged(Box::new(a), Box::new(b)))
    });
    prop_oneof![1 => whole, 2 => split].boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn any_plan_computes_the_variance(plan in (2u64..40).prop_flat_map(|to| plans(0, to))) {
        let count = last(&plan);
        let (mut left, mut right) = (Side::new(), Side::new());
        let a = two_passes(&mut left, count);
        let part = build(&mut right, &plan, Slip::Nothing);
        let b = normalised(&mut right, part.squares, count);
        prop_assert_eq!(compare((&left, a), (&right, b)), Ok(Equality::Equal));
        let part = build(&mut right, &plan, Slip::OldMean);
        let c = normalised(&mut right, part.squares, count);
        if last_length(&plan) > 1 {
            prop_assert_ne!(compare((&left, a), (&right, c)), Ok(Equality::Equal));
        }
    }
}

fn last(plan: &Plan) -> u64 {
    match plan {
        Plan::Running(_, to) => *to,
        Plan::Merged(_, b) => last(b),
    }
}

/// The length of the part that contains the mistake.
fn last_length(plan: &Plan) -> u64 {
    match plan {
        Plan::Running(from, to) => to - from,
        Plan::Merged(_, b) => last_length(b),
    }
}

#[test]
fn long_rows_need_nothing_multiplied_out() {
    for (length, parts) in [(64, 1), (2, 32), (8, 8), (16, 8), (33, 4), (7, 16)] {
        let plan = even(0, length, parts);
        let (result, _) = quick_of(&plan, Slip::Nothing, length * parts);
        assert_eq!(result, Ok(Equality::Equal), "{parts} parts of {length}");
        let (result, _) = quick_of(&plan, Slip::OldMean, length * parts);
        assert!(matches!(result, Ok(Equality::Open(_))), "{parts} parts of {length}: {result:?}");
    }
    let uneven = Plan::Merged(Box::new(Plan::Running(0, 40)), Box::new(Plan::Running(40, 60)));
    assert_eq!(quick_of(&uneven, Slip::Nothing, 60).0, Ok(Equality::Equal));
    assert!(matches!(quick_of(&uneven, Slip::Counts, 60).0, Ok(Equality::Open(_))));
}

#[test]
fn merged_parts_cost_what_their_row_is_long() {
    let cost = |parts: u64| {
        let (result, steps) = quick_of(&even(0, 16, parts), Slip::Nothing, 16 * parts);
        assert_eq!(result, Ok(Equality::Equal));
        steps
    };
    let (short, long) = (cost(8), cost(64));
    assert!(long <= short * 10, "{short} steps for 128, {long} for 1024");
}

#[test]
fn a_running_mean_of_a_long_row_is_not_spelled_out() {
    let (result, steps) = quick_of(&Plan::Running(0, 2048), Slip::Nothing, 2048);
    assert_eq!(result, Ok(Equality::Equal));
    // Spelled out, its means would have two million terms, and their cofactors as many.
    assert!(steps <= 2048 * 2048, "{steps}");
    let (result, _) = quick_of(&Plan::Running(0, 2048), Slip::OldMean, 2048);
    assert!(matches!(result, Ok(Equality::Open(_))), "{result:?}");
}

/// `(x₀ + x₀ + x₁ + … + x₈)²` beside a product of two other sums, which is written in squares.
#[test]
fn squares_count_what_is_there_twice() {
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    let keys = |elements: std::ops::Range<u64>| elements.map(|at| pack_single(TermId::input(X, at).raw()));
    let doubled = prover.name(keys(0..1).chain(keys(0..9)).collect());
    let [a, b] = [20..40, 40..60].map(|elements| prover.name(keys(elements).collect()));
    let square = prover.table.monomial_power(doubled, 2).expect("a small power");
    let product = prover.table.times(a, b).expect("small powers");
    let mut terms = [square, product].map(|monomial| Term::of(Key::of(monomial)));
    terms.sort_by_key(|term| term.key);
    let spelled = prover.in_squares(&terms).expect("no budget is set").expect("a product of two names");
    let [first, second] = [0, 1].map(|at| prover.table.input_monomial(TermId::input(X, at).raw()));
    let mut coefficient = |left, right| {
        let key = Key::of(prover.table.times(left, right).expect("small powers"));
        spelled.iter().find(|term| term.key == key).map(|term| term.coefficient.clone())
    };
    assert_eq!(coefficient(first, first), Some(Rational::from_integer(4)));
    assert_eq!(coefficient(first, second), Some(Rational::from_integer(4)));
    assert_eq!(coefficient(second, second), Some(Rational::ONE));
}
