//! The oracle of ranges: the value of a term, as evaluation computes it, lies in its set.

use proptest::prelude::*;

use super::search::InputRange;
use super::set::{self, FloatSet};
use super::{Analysis, ConeCache, Effort, Known, Leaving, Survey};
use crate::base::index::InstId;
use crate::bits::evaluate::{Evaluated, value};
use crate::number::format::{Format, Rounding};
use crate::term::{Ieee, IeeeKey, IeeeOp, InputId, Store, TermId, TermOp};

fn contains(set: FloatSet, value: f64) -> bool {
    if value.is_nan() {
        return set.nan;
    }
    if value.is_infinite() {
        return if value > 0.0 { set.plus } else { set.minus };
    }
    set.finite.is_some_and(|[low, high]| low <= value && value <= high)
}

fn input(at: u64) -> TermId {
    TermId::input(InputId::from_index(0), at)
}

fn push(store: &mut Store, key: IeeeKey, operands: &[TermId]) -> TermId {
    let site = InstId(1);
    let key = store.ieee_key(key);
    match *operands {
        [a] => store.apply(TermOp::Ieee1, &[key, a], site),
        [a, b] => store.apply(TermOp::Ieee2, &[key, a, b], site),
        [a, b, c] => {
            let pair = store.apply(TermOp::IeeePair, &[a, b], site);
            store.apply(TermOp::Ieee2, &[key, pair, c], site)
        }
        _ => a_number(store, 0.0),
    }
}

fn a_number(store: &mut Store, value: f64) -> TermId {
    store.ieee_number(value)
}

const OPS: [(IeeeOp, usize); 16] = [
    (IeeeOp::Add, 2),
    (IeeeOp::Mul, 2),
    (IeeeOp::Fma, 3),
    (IeeeOp::Div, 2),
    (IeeeOp::Neg, 1),
    (IeeeOp::Abs, 1),
    (IeeeOp::Max, 2),
    (IeeeOp::Min, 2),
    (IeeeOp::MaxNan, 2),
    (IeeeOp::MinNan, 2),
    (IeeeOp::Saturate, 1),
    (IeeeOp::Convert, 1),
    (IeeeOp::Sqrt, 1),
    (IeeeOp::CopySign, 2),
    (IeeeOp::Integral, 1),
    (IeeeOp::Flush, 1),
];

fn format_of(which: u8) -> Format {
    [Format::F32, Format::F32, Format::F16, Format::F64][usize::from(which % 4)]
}

fn rounding_of(which: u8) -> Rounding {
    [Rounding::Nearest, Rounding::Nearest, Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up]
        [usize::from(which % 6)]
}

fn magnitude() -> impl Strategy<Value = f64> {
    prop_oneof![
        Just(0.0),
        Just(1.0),
        Just(8.0),
        Just(200.0),
        Just(60000.0),
        Just(1e-7),
        Just(1e-40),
        Just(1e30),
        Just(3.4e38),
        0.0..10.0f64,
    ]
}

fn f32_in(low: f64, high: f64, part: f64) -> f64 {
    let drawn = (low * (1.0 - part) + high * part) as f32;
    f64::from(drawn).clamp(low, high)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn values_lie_in_their_sets(
        steps in prop::collection::vec((0..OPS.len(), any::<[u8; 3]>(), 0u8..4, 0u8..6, any::<bool>()), 1..9),
        ends in prop::array::uniform2((magnitude(), any::<bool>())),
        number in (magnitude(), any::<bool>()),
        parts in prop::collection::vec(prop::array::uniform3(0.0..=1.0f64), 8),
    ) {
        let signed = |(value, negative): (f64, bool)| {
            f64::from(if negative { -value } else { value } as f32)
        };
        let [a, b] = ends.map(signed);
        let bounds = [a.min(b), a.max(b)];
        let mut store = Store::new();
        store.set_ieee();
        let mut terms = vec![input(0), input(1), input(2), a_number(&mut store, signed(number))];
        for (op, operands, format, rounding, flush) in steps {
            let (op, count) = OPS[op];
            // Operations are executed on values of their format: f64 has those of all.
            let format = if op == IeeeOp::Convert { format_of(format) } else { Format::F64 };
            let key = IeeeKey { flush: flush && op != IeeeOp::Convert, ..IeeeKey::new(op, format) };
            let key = if op == IeeeOp::Sqrt { key } else { key.rounding(rounding_of(rounding)) };
            let chosen: Vec<TermId> =
                operands.iter().take(count).map(|at| terms[usize::from(*at) % terms.len()]).collect();
            let term = push(&mut store, key, &chosen);
            terms.push(term);
        }
        let root = *terms.last().expect("there are inputs");
        let range = InputRange::Float { bounds, formats: [Format::F32; 2] };
        let given = |_: InputId, _: u64| range.known();
        let (mut cones, mut effort) = (ConeCache::default(), Effort(1 << 24));
        let mut survey = Survey::default();
        Analysis::new(&store, &given, &mut cones, &mut effort).root(0, root, &mut survey).expect("it is small");
        let (_, set) = survey.roots[0];
        for part in parts {
            let drawn = part.map(|part| f32_in(bounds[0], bounds[1], part));
            let mut read = |_: InputId, at: u64| Ieee::Float(drawn[at as usize % 3]);
            if let Some(Evaluated::Number(Ieee::Float(value))) = value(&store, root, &mut read) {
                prop_assert!(contains(set, value), "{value} is not in {set:?} at {drawn:?}");
                let leaves = value.is_infinite() || value.is_nan();
                prop_assert!(!leaves || !survey.departures.is_empty() || signed(number).is_infinite());
            }
        }
    }

    #[test]
    fn single_operations_contain_their_corners(
        op in 0..OPS.len(),
        format in 0u8..4,
        rounding in 0u8..6,
        flush in any::<bool>(),
        ends in prop::array::uniform3((magnitude(), any::<bool>(), magnitude(), any::<bool>())),
        parts in prop::array::uniform3(0.0..=1.0f64),
    ) {
        let (op, count) = OPS[op];
        let format = format_of(format);
        let mut key = IeeeKey { flush, ..IeeeKey::new(op, format) }.rounding(rounding_of(rounding));
        if op == IeeeOp::Sqrt {
            key = key.rounding(Rounding::Nearest);
        }
        let fits = |value: f64| {
            let converted = IeeeKey::new(IeeeOp::Convert, format).rounding(Rounding::Zero).apply(&[Ieee::Float(value)]);
            match converted {
                Some(Ieee::Float(value)) => value,
                _ => 0.0,
            }
        };
        let (mut sets, mut values) = (Vec::new(), Vec::new());
        for ((a, minus, b, other), part) in ends.into_iter().zip(parts) {
            let (a, b) = (fits(if minus { -a } else { a }), fits(if other { -b } else { b }));
            let (low, high) = (a.min(b), a.max(b));
            sets.push(FloatSet::between(low, high));
            values.push(Ieee::Float(fits(low * (1.0 - part) + high * part).clamp(low, high)));
        }
        let (set, raised) = set::apply(key, &sets[..count], false);
        if let Some(Ieee::Float(value)) = key.apply(&values[..count]) {
            prop_assert!(contains(set, value), "{key:?} of {values:?} is {value}, not in {set:?}");
            prop_assert!(value.is_finite() || raised.any());
        }
    }

    #[test]
    fn encodings_and_decodings_agree(a in any::<f32>(), b in any::<f32>()) {
        prop_assume!(!a.is_nan() && !b.is_nan());
        let set = FloatSet::value(a.into()).or(FloatSet::value(b.into()));
        let (low, high) = set::encodings(Format::F32, set);
        for value in [a, b] {
            prop_assert!((low..=high).contains(&i128::from(value.to_bits())));
        }
        let back = set::decoded(Format::F32, low, high);
        prop_assert!(contains(back, a.into()) && contains(back, b.into()));
    }
}

#[test]
fn a_number_minus_a_maximum_of_it_is_not_positive() {
    let mut store = Store::new();
    store.set_ieee();
    let f32 = |op| IeeeKey::new(op, Format::F32);
    let inner = push(&mut store, f32(IeeeOp::Max), &[input(0), input(1)]);
    let most = push(&mut store, f32(IeeeOp::Max), &[inner, input(2)]);
    let negated = push(&mut store, f32(IeeeOp::Neg), &[most]);
    let difference = push(&mut store, f32(IeeeOp::Add), &[input(1), negated]);
    let other = push(&mut store, f32(IeeeOp::Add), &[input(3), negated]);
    let set = |root| {
        let given = |_: InputId, _: u64| Known::Float(FloatSet::between(-4.0, 4.0));
        let (mut cones, mut effort) = (ConeCache::default(), Effort(1 << 20));
        let mut survey = Survey::default();
        Analysis::new(&store, &given, &mut cones, &mut effort)
            .root(0, root, &mut survey)
            .expect("it is small");
        survey.roots[0].1
    };
    assert_eq!(set(difference), FloatSet::between(-8.0, 0.0));
    assert_eq!(set(other), FloatSet::between(-8.0, 8.0));
}

#[test]
fn a_sum_of_exponentials_of_differences_from_their_maximum_is_at_least_one() {
    let f32 = |op| IeeeKey::new(op, Format::F32);
    // Of all three, or of two of them only.
    for (count, holds) in [(3, true), (2, false)] {
        let mut store = Store::new();
        store.set_ieee();
        let inner = push(&mut store, f32(IeeeOp::Max), &[input(0), input(1)]);
        let most = push(&mut store, f32(IeeeOp::Max), &[inner, input(2)]);
        let negated = push(&mut store, f32(IeeeOp::Neg), &[most]);
        let mut sum = a_number(&mut store, 0.0);
        for at in 0..count {
            let difference = push(&mut store, f32(IeeeOp::Add), &[input(at), negated]);
            let power = push(&mut store, f32(IeeeOp::Ex2), &[difference]);
            sum = push(&mut store, f32(IeeeOp::Add), &[sum, power]);
        }
        let one = a_number(&mut store, 1.0);
        let root = push(&mut store, f32(IeeeOp::Div), &[one, sum]);
        let given = |_: InputId, _: u64| Known::Float(FloatSet::between(-1e30, 1e30));
        let (mut cones, mut effort) = (ConeCache::default(), Effort(1 << 20));
        let mut survey = Survey::default();
        Analysis::new(&store, &given, &mut cones, &mut effort)
            .root(0, root, &mut survey)
            .expect("it is small");
        assert_eq!(survey.departures.is_empty(), holds, "{:?}", survey.departures);
    }
}

#[test]
fn what_depends_twice_on_a_number_is_bounded_on_pieces() {
    // x / (1 + x²) is at most 1/2.
    let mut store = Store::new();
    store.set_ieee();
    let f32 = |op| IeeeKey::new(op, Format::F32);
    let one = a_number(&mut store, 1.0);
    let square = push(&mut store, f32(IeeeOp::Fma), &[input(0), input(0), one]);
    let root = push(&mut store, f32(IeeeOp::Div), &[input(0), square]);
    let given = |_: InputId, _: u64| Known::Float(FloatSet::between(-1000.0, 1000.0));
    let (mut cones, mut effort) = (ConeCache::default(), Effort(1 << 20));
    let mut survey = Survey::default();
    Analysis::new(&store, &given, &mut cones, &mut effort).root(0, root, &mut survey).expect("it is small");
    let [low, high] = survey.roots[0].1.finite.expect("it is finite");
    assert!((-0.51..=-0.5).contains(&low) && (0.5..=0.51).contains(&high), "{low} {high}");
}

/// What is found of a root whose inputs lie between two numbers each.
fn surveyed(store: &Store, root: TermId, inputs: &dyn Fn(u64) -> [f64; 2]) -> Survey {
    let given = |_: InputId, at: u64| {
        let [low, high] = inputs(at);
        Known::Float(FloatSet::between(low, high))
    };
    let (mut cones, mut effort) = (ConeCache::default(), Effort(1 << 20));
    let mut survey = Survey::default();
    Analysis::new(store, &given, &mut cones, &mut effort).root(0, root, &mut survey).expect("it is small");
    survey
}

#[test]
fn a_summand_over_its_sum_is_at_most_one() {
    let f32 = |op| IeeeKey::new(op, Format::F32);
    let set = |build: &dyn Fn(&mut Store) -> TermId, low: f64| {
        let mut store = Store::new();
        store.set_ieee();
        let root = build(&mut store);
        surveyed(&store, root, &|_| [low, 1e30])
    };
    let sum = |store: &mut Store| {
        let two = push(store, f32(IeeeOp::Add), &[input(0), input(1)]);
        push(store, f32(IeeeOp::Add), &[input(2), two])
    };
    let part = |store: &mut Store, at: u64| {
        let sum = sum(store);
        push(store, f32(IeeeOp::Div), &[input(at), sum])
    };
    for at in 0..3 {
        let survey = set(&|store| part(store, at), 1e-30);
        assert_eq!(survey.roots[0].1.finite.expect("it is finite")[1], 1.0);
        assert!(survey.departures.is_empty());
    }
    // Of what is no summand, of numbers of both signs, and of a sum that may be zero.
    assert!(!set(&|store| part(store, 3), 1e-30).departures.is_empty());
    assert!(!set(&|store| part(store, 0), -1e30).departures.is_empty());
    assert!(!set(&|store| part(store, 0), 0.0).departures.is_empty());
    // A difference is no sum.
    let difference = |store: &mut Store| {
        let negated = push(store, f32(IeeeOp::Neg), &[input(1)]);
        let difference = push(store, f32(IeeeOp::Add), &[input(0), negated]);
        push(store, f32(IeeeOp::Div), &[input(0), difference])
    };
    assert!(!set(&difference, 1e-30).departures.is_empty());
    // As a fused product, and with a reciprocal.
    let fused = |rounding: Rounding| {
        move |store: &mut Store| {
            let key = f32(IeeeOp::Fma).rounding(rounding);
            let sum = push(store, key, &[input(0), input(1), input(2)]);
            let product = push(store, f32(IeeeOp::Mul), &[input(1), input(0)]);
            push(store, f32(IeeeOp::Div), &[product, sum])
        }
    };
    let finite = |build: &dyn Fn(&mut Store) -> TermId| {
        let mut store = Store::new();
        store.set_ieee();
        let root = build(&mut store);
        surveyed(&store, root, &|_| [1e-15, 1e15])
    };
    assert_eq!(finite(&fused(Rounding::Nearest)).roots[0].1.finite.expect("it is finite")[1], 1.0);
    assert!(finite(&fused(Rounding::Zero)).roots[0].1.finite.expect("it is finite")[1] > 2.0);
    let scaled = |op: IeeeOp| {
        move |store: &mut Store| {
            let sum = sum(store);
            let reciprocal = if op == IeeeOp::Rcp {
                push(store, f32(op), &[sum])
            } else {
                let one = a_number(store, 1.0);
                push(store, f32(op), &[one, sum])
            };
            push(store, f32(IeeeOp::Mul), &[input(1), reciprocal])
        }
    };
    for op in [IeeeOp::Rcp, IeeeOp::Div] {
        let [_, most] = finite(&scaled(op)).roots[0].1.finite.expect("it is finite");
        assert!((1.0..1.00001).contains(&most), "{most}");
    }
}

#[test]
fn what_is_left_of_rounded_numbers_that_cancel_is_told() {
    let f32 = |op| IeeeKey::new(op, Format::F32);
    let mut store = Store::new();
    store.set_ieee();
    let negated = push(&mut store, f32(IeeeOp::Neg), &[input(1)]);
    let exact = push(&mut store, f32(IeeeOp::Add), &[input(0), negated]);
    let square = push(&mut store, f32(IeeeOp::Mul), &[input(0), input(0)]);
    let rounded = push(&mut store, f32(IeeeOp::Add), &[square, negated]);
    // The rounding error of a sum, as compensated sums compute it.
    let sum = push(&mut store, f32(IeeeOp::Add), &[square, input(1)]);
    let minus = push(&mut store, f32(IeeeOp::Neg), &[square]);
    let back = push(&mut store, f32(IeeeOp::Add), &[sum, minus]);
    let error = push(&mut store, f32(IeeeOp::Add), &[back, negated]);
    // A number rounded to a whole one, by a sum with a large number.
    let large = a_number(&mut store, 12_582_912.0);
    let minus_large = a_number(&mut store, -12_582_912.0);
    let shifted = push(&mut store, f32(IeeeOp::Add), &[input(1), large]);
    let whole = push(&mut store, f32(IeeeOp::Add), &[shifted, minus_large]);
    let minus_whole = push(&mut store, f32(IeeeOp::Neg), &[whole]);
    let rest = push(&mut store, f32(IeeeOp::Add), &[input(1), minus_whole]);
    let cancels = |root: TermId, inputs: &dyn Fn(u64) -> [f64; 2]| {
        let survey = surveyed(&store, root, inputs);
        let mut found = survey.losses.values().filter(|loss| loss.leaving == Leaving::Cancels);
        found.next().map(|loss| loss.surely)
    };
    let any = |_: u64| [1.0, 100.0];
    assert_eq!(cancels(rounded, &any), Some(false));
    assert_eq!(cancels(rounded, &|at| if at == 0 { [3.0; 2] } else { [9.000_001; 2] }), Some(true));
    assert_eq!(cancels(rounded, &|at| if at == 0 { [3.0; 2] } else { [9.1; 2] }), None);
    assert_eq!(cancels(rounded, &|at| if at == 0 { [3.0; 2] } else { [20.0, 30.0] }), None);
    for unchanged in [exact, error, rest] {
        assert_eq!(cancels(unchanged, &any), None);
    }
}

#[test]
fn results_below_the_normal_numbers_are_told() {
    let f32 = |op| IeeeKey::new(op, Format::F32);
    let mut store = Store::new();
    store.set_ieee();
    let product = push(&mut store, f32(IeeeOp::Mul), &[input(0), input(1)]);
    let power = push(&mut store, f32(IeeeOp::Ex2), &[input(0)]);
    let half = push(&mut store, IeeeKey::new(IeeeOp::Convert, Format::F16), &[input(0)]);
    let underflows = |root: TermId, inputs: &dyn Fn(u64) -> [f64; 2]| {
        let survey = surveyed(&store, root, inputs);
        let mut found = survey.losses.values().filter(|loss| loss.leaving == Leaving::Underflow);
        found.next().map(|loss| loss.surely)
    };
    assert_eq!(underflows(product, &|_| [1e-30; 2]), Some(true));
    assert_eq!(underflows(product, &|_| [0.0, 1.0]), Some(false));
    assert_eq!(underflows(product, &|_| [1.0, 2.0]), None);
    assert_eq!(underflows(product, &|at| if at == 0 { [0.0; 2] } else { [1.0; 2] }), None);
    assert_eq!(underflows(power, &|_| [-200.0; 2]), Some(true));
    assert_eq!(underflows(power, &|_| [-100.0; 2]), None);
    assert_eq!(underflows(half, &|_| [1e-6; 2]), Some(true));
    assert_eq!(underflows(half, &|_| [1e-3; 2]), None);
}

/// Sums of 16 products and an addend as architectures may compute them: in any order, rounded to nearest or towards
/// zero, or with all addends cut off at the last place of the largest one.
fn sums_of_products(products: &[f64], addend: f64, order: &[usize]) -> Vec<f64> {
    let all: Vec<f64> = order.iter().map(|at| if *at == 16 { addend } else { products[*at] }).collect();
    let nearest = all.iter().fold(0.0f64, |sum, x| f64::from((sum + x) as f32));
    let truncated = |x: f64| {
        let near = x as f32;
        let inwards = if near > 0.0 { near.next_down() } else { near.next_up() };
        f64::from(if f64::from(near).abs() > x.abs() { inwards } else { near })
    };
    let towards_zero = all.iter().fold(0.0f64, |sum, x| truncated(sum + x));
    let largest = all.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    let unit = if largest > 0.0 { f64::powi(2.0, largest.log2().floor() as i32 - 23) } else { 1.0 };
    let cut: f64 = all.iter().map(|x| (x / unit).trunc() * unit).sum();
    vec![nearest, towards_zero, truncated(cut)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn products_of_matrices_lie_in_their_sets(
        factors in prop::collection::vec((-2048i32..2048, -2048i32..2048, -8i32..8), 16),
        addend in (-1.0e4..1.0e4f32, 0..3u8),
        order in Just((0..17usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let addend = f64::from(match addend { (value, 0) => value, (value, 1) => value * 1e-6, _ => 0.0 });
        let mut store = Store::new();
        store.set_ieee();
        let detail = Format::F16 as u32 | (Format::F16 as u32) << 4 | 16 << 21;
        let key = IeeeKey { detail, ..IeeeKey::new(IeeeOp::Step, Format::F32) };
        let mut total = a_number(&mut store, addend);
        let mut products = Vec::new();
        for (a, b, scale) in &factors {
            let (a, b) = (f64::from(*a) * f64::powi(2.0, *scale), f64::from(*b) / 16.0);
            products.push(a * b);
            let (a, b) = (a_number(&mut store, a), a_number(&mut store, b));
            total = push(&mut store, key, &[a, b, total]);
        }
        let survey = surveyed(&store, total, &|_| [0.0; 2]);
        let (_, set) = survey.roots[0];
        for sum in sums_of_products(&products, addend, &order) {
            prop_assert!(contains(set, sum), "{sum} is not in {set:?}");
        }
        let magnitude = products.iter().fold(addend.abs(), |sum, x| sum + x.abs());
        let [low, high] = set.finite.expect("it is finite");
        prop_assert!(high - low <= magnitude * 2e-3 + 1e-30, "{set:?} is wider than {magnitude} explains");
    }
}
