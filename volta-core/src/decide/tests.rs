//! All elements together.

use super::*;
use crate::base::index::InstId;
use crate::base::lane::{Lane, LaneMask};
use crate::number::format::{Format, Formats};
use crate::number::{Extended, Rational};
use crate::term::{Constant, InputId, TermOp};

fn input(element: u64) -> TermId {
    TermId::input(InputId(0), element)
}

fn inputs(elements: u64) -> Vec<InputInfo> {
    vec![InputInfo { name: "x".to_owned(), shape: vec![elements], ..InputInfo::default() }]
}

/// `x[0]·x[1]/x[1]`, whose requirement `x[0]` does not have.
fn quotient(store: &mut Store) -> TermId {
    let product = store.apply(TermOp::Mul, &[input(0), input(1)], InstId(0));
    store.apply(TermOp::Div, &[product, input(1)], InstId(0))
}

/// Nodes of whole warps, of which one lane each is used.
fn rows(store: &mut Store, nodes: usize) -> TermId {
    let lanes = Lane::each(|lane| input(u64::from(lane.number())).raw());
    let last = (0..nodes).map(|_| store.push(TermOp::Neg, LaneMask::ALL, &[&lanes], InstId(0))).last();
    TermId::lane(last.expect("a node"), Lane::FIRST)
}

#[test]
fn the_last_element_of_a_large_store_requires_what_it_does() {
    let mut store = Store::new();
    let first = rows(&mut store, NODES_A_RUN + 1);
    let last = quotient(&mut store);
    let elements = [(first, first), (input(0), last)]
        .map(|(reference, opt)| ElementPair { reference: (&store, reference), opt: (&store, opt) });
    let outcome = decide(&elements, &inputs(32), &DecisionOptions::default());
    assert_eq!((outcome.equal, outcome.first_failure), (2, None));
    assert_eq!(outcome.conditions, ["x[1] != 0"]);
}

#[test]
fn a_reference_that_always_has_a_value_has_no_domain() {
    let mut store = Store::new();
    let opt = quotient(&mut store);
    let element = ElementPair { reference: (&store, input(0)), opt: (&store, opt) };
    let outcome = decide(&[element], &inputs(2), &DecisionOptions::default());
    assert_eq!(outcome.conditions, ["x[1] != 0"]);
    assert_eq!(outcome.domain, Vec::<String>::new());
}

#[test]
fn memory_ends_before_anything_is_proved() {
    let mut store = Store::new();
    let opt = rows(&mut store, 1000);
    let mut other = Store::new();
    let reference = rows(&mut other, 1);
    let element = ElementPair { reference: (&other, reference), opt: (&store, opt) };
    let budgets = Budgets::default().with(Limit::MemoryBytes, 1 << 10);
    let options = DecisionOptions { budgets, ..DecisionOptions::default() };
    let outcome = decide(&[element], &inputs(32), &options);
    let Some((0, Failure::Exhausted(exhausted))) = outcome.first_failure else { panic!("{outcome:?}") };
    assert_eq!(exhausted.limit, Some(Limit::MemoryBytes));
    assert_eq!(outcome.steps, 0);
}

/// `√(x[0] − below) + log₂(argument)`, both of the same nodes.
fn root_and_logarithm(store: &mut Store, below: i64, argument: impl Fn(TermId) -> TermId) -> TermId {
    let exact = Extended::Finite(Rational::from_integer(below));
    let below = store.intern(Constant { exact, literal: None, rounded: None });
    let difference = store.apply(TermOp::Sub, &[input(0), below], InstId(0));
    let root = store.apply(TermOp::Sqrt, &[difference], InstId(0));
    let negated = store.apply(TermOp::Neg, &[input(0)], InstId(0));
    let logarithm = store.apply(TermOp::Log2, &[argument(negated)], InstId(0));
    store.apply(TermOp::Add, &[root, logarithm], InstId(0))
}

#[test]
fn where_one_store_has_values_says_nothing_of_another() {
    let mut stores = [Store::new(), Store::new(), Store::new()];
    let terms = [
        input(0),
        root_and_logarithm(&mut stores[1], 1, |_| input(0)),
        root_and_logarithm(&mut stores[2], 1, |negated| negated),
    ];
    let elements: Vec<ElementPair<'_>> = std::iter::zip(&stores, terms)
        .map(|(store, term)| ElementPair { reference: (store, term), opt: (store, term) })
        .collect();
    let outcome = decide(&elements, &inputs(1), &DecisionOptions::default());
    assert_eq!(outcome.equal, 2);
    assert!(matches!(outcome.first_failure, Some((2, Failure::Undefined { .. } | Failure::Unknown { .. }))));
}

#[test]
fn points_are_numbers_that_all_formats_hold() {
    let formats = Formats::from_iter([Format::F32, Format::F16]);
    let info = InputInfo { formats, ..InputInfo::default() };
    for number in [(0x12345, -10), (3, -1), (1, 20), (-0x1001, 3), (1, -40)] {
        let (mantissa, exp) = point::assume(number, &info);
        let held = Rational::from_dyadic(mantissa, exp);
        assert_eq!(point::admitted(&held, &info), Some(held), "{number:?}");
    }
}

/// Elements of the inputs that have no translation classes, or of one that has.
fn far(input: u32, element: u64) -> TermId {
    TermId::input(InputId(input), element)
}

#[test]
fn what_is_the_same_on_both_sides_needs_no_class() {
    let side = |input: u32, from: u64| {
        let mut store = Store::new();
        let terms = [0, 1].map(|at| {
            let operands = [far(input, from + at), far(input, from + at + 3)];
            store.apply(TermOp::Mul, &operands, InstId(0))
        });
        store.close();
        (store, terms)
    };
    for (input, from, identical) in [(0, 0, true), (0, 1, false), (40, 0, true), (40, 1, false)] {
        let sides = [side(input, 0), side(input, from), side(input, 0)];
        let stores: Vec<&Store> = sides.iter().map(|(store, _)| store).collect();
        let roots = [0, 1, 2].map(|side: usize| [sides[side].1, sides[side].1].concat());
        // Each side of the first store against the others.
        let elements = [[0, 2], [0, 2], [0, 1], [0, 1]];
        let mut own = vec![Vec::new(); 3];
        for (at, pair) in elements.iter().enumerate() {
            pair.iter().for_each(|store| own[*store].push(roots[*store][at % 2]));
        }
        own[1].extend_from_within(..);
        own[2].extend_from_within(..);
        let alike = alike_of(&stores, &elements, &own, &DecisionOptions::default());
        let found = [0, 1, 2, 3].map(|at| alike.is_identical(at));
        assert_eq!(found, [true, true, identical, identical], "input {input} from {from}");
    }
}
