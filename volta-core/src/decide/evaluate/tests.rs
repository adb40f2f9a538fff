use super::*;
use crate::base::index::InstId;
use crate::number::Extended;
use crate::number::interval::{Narrow, Wide};
use crate::term::{Constant, TermOp};
use proptest::prelude::*;

/// A term to build in any store.
#[derive(Clone, Debug)]
pub(in super::super) enum Expr {
    Input(u32, u64),
    Ratio(i64, i64),
    Infinity,
    Apply(TermOp, Vec<Expr>),
}

pub(in super::super) fn build(expr: &Expr, store: &mut Store) -> TermId {
    match expr {
        Expr::Input(input, element) => TermId::input(InputId(*input), *element),
        Expr::Ratio(num, den) => {
            let exact = Extended::Finite(Rational::from_ratio(*num, *den));
            store.intern(Constant { exact, literal: None, rounded: None })
        }
        Expr::Infinity => store.intern(Constant { exact: Extended::NegInf, literal: None, rounded: None }),
        Expr::Apply(op, operands) => {
            let operands: Vec<_> = operands.iter().map(|operand| build(operand, store)).collect();
            store.apply(*op, &operands, InstId(0))
        }
    }
}

fn leaf() -> impl Strategy<Value = Expr> {
    prop_oneof![
        4 => (0u32..2, 0u64..3).prop_map(|(input, element)| Expr::Input(input, element)),
        2 => (-6i64..6, 1i64..6).prop_map(|(num, den)| Expr::Ratio(num, den)),
    ]
}

/// Terms of all operations, of small depth.
pub(in super::super) fn expr() -> impl Strategy<Value = Expr> {
    use TermOp::*;
    let unary = [
        Neg, Abs, Saturate, Exp2, Log2, Sqrt, Rsqrt, Sin, Cos, Tanh, Erf, Atan, Cbrt, Gamma, BesselJ0,
        BesselJ1, BesselY0, BesselY1, Floor, Ceil, Trunc, RoundEven,
    ];
    let binary = [Add, Sub, Mul, Div, Max, Min, CopySign];
    let comparison = [Less, LessEqual, Equal];
    let apply = |op, operands| Expr::Apply(op, operands);
    leaf().prop_recursive(5, 40, 3, move |inner| {
        let one = (prop::sample::select(unary.to_vec()), inner.clone());
        let two = (prop::sample::select(binary.to_vec()), inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner.clone());
        let condition = (prop::sample::select(comparison.to_vec()), inner.clone(), inner.clone())
            .prop_map(move |(op, a, b)| apply(op, vec![a, b]));
        let choice = (condition, inner.clone(), inner.clone());
        prop_oneof![
            3 => one.prop_map(move |(op, a)| apply(op, vec![a])),
            4 => two.prop_map(move |(op, a, b)| apply(op, vec![a, b])),
            1 => three.prop_map(move |(a, b, c)| apply(Fma, vec![a, b, c])),
            1 => choice.prop_map(move |(a, b, c)| apply(Select, vec![a, b, c])),
            1 => inner.prop_map(move |a| apply(Max, vec![Expr::Infinity, a])),
        ]
    })
}

/// Exact values, where all operations are rational.
#[derive(Clone, Debug, PartialEq)]
enum Exact {
    Real(Rational),
    Truth(bool),
    Undefined,
    Unknown,
}

fn exact(expr: &Expr, point: &dyn Fn(u32, u64) -> Rational) -> Exact {
    use Exact::*;
    let Expr::Apply(op, operands) = expr else {
        return match expr {
            Expr::Input(input, element) => Real(point(*input, *element)),
            Expr::Ratio(num, den) => Real(Rational::from_ratio(*num, *den)),
            Expr::Infinity | Expr::Apply(..) => Unknown,
        };
    };
    if let (TermOp::Max, [Expr::Infinity, other]) = (op, &operands[..]) {
        return exact(other, point);
    }
    let values: Vec<Exact> = operands.iter().map(|operand| exact(operand, point)).collect();
    if let (TermOp::Select, [condition, then, otherwise]) = (op, &values[..]) {
        return match condition {
            Truth(true) => then.clone(),
            Truth(false) => otherwise.clone(),
            Real(_) | Undefined | Unknown => condition.clone(),
        };
    }
    if values.contains(&Unknown) {
        return Unknown;
    }
    if values.contains(&Undefined) {
        return Undefined;
    }
    let (zero, one) = (Rational::ZERO, Rational::ONE);
    fn real(value: &Exact) -> Option<&Rational> {
        match value {
            Real(value) => Some(value),
            Truth(_) | Undefined | Unknown => None,
        }
    }
    let reals: Vec<&Rational> = values.iter().filter_map(real).collect();
    let value = match (op, &reals[..]) {
        (TermOp::Add, [a, b]) => *a + *b,
        (TermOp::Sub, [a, b]) => *a - *b,
        (TermOp::Mul, [a, b]) => *a * *b,
        (TermOp::Fma, [a, b, c]) => *a * *b + *c,
        (TermOp::Div, [a, b]) => match a.checked_div(b) {
            Some(quotient) => quotient,
            None => return Undefined,
        },
        (TermOp::Neg, [a]) => -*a,
        (TermOp::Abs, [a]) => a.abs(),
        (TermOp::Max, [a, b]) => (*a).max(*b).clone(),
        (TermOp::Min, [a, b]) => (*a).min(*b).clone(),
        (TermOp::Saturate, [a]) => (*a).clamp(&zero, &one).clone(),
        (TermOp::Floor, [a]) => a.floor(),
        (TermOp::Ceil, [a]) => a.ceil(),
        (TermOp::Trunc, [a]) => a.trunc(),
        (TermOp::RoundEven, [a]) => a.round_even(),
        (TermOp::Less, [a, b]) => return Truth(a < b),
        (TermOp::LessEqual, [a, b]) => return Truth(a <= b),
        (TermOp::Equal, [a, b]) => return Truth(a == b),
        (TermOp::Log2 | TermOp::Rsqrt, [a]) if !a.is_positive() => return Undefined,
        (TermOp::Sqrt, [a]) if a.is_negative() => return Undefined,
        _ => return Unknown,
    };
    Real(value)
}

fn agrees<E: Enclosure>(value: &Value<E>, exact: &Exact) -> bool {
    match (value, exact) {
        (Value::Unresolved, _) | (_, Exact::Unknown) => true,
        (Value::Finite(enclosure), Exact::Real(value)) => {
            let (lower, upper) = enclosure.bounds();
            lower <= *value && *value <= upper
        }
        (Value::Undefined, Exact::Undefined) => true,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn enclosures_contain_exact_values(
        expr in expr(),
        at in prop::array::uniform6(-20i64..20),
        den in 1i64..5,
    ) {
        let point = |input: u32, element: u64| {
            Rational::from_ratio(at[(input * 3) as usize + element as usize], den)
        };
        let expected = exact(&expr, &point);
        let mut store = Store::new();
        let term = build(&expr, &mut store);
        let assignment = |input: InputId, element: u64| point(input.0, element);
        let narrow = Evaluator::<Narrow, _>::new(&store, assignment, 53, 1 << 20).evaluate(term);
        prop_assert!(agrees(&narrow, &expected), "{:?} is {:?}", narrow, expected);
        let wide = Evaluator::<Wide, _>::new(&store, assignment, 160, 1 << 20).evaluate(term);
        prop_assert!(agrees(&wide, &expected), "{:?} is {:?}", wide, expected);
        match (&narrow, &wide) {
            (Value::Finite(narrow), Value::Finite(wide)) => {
                let ((a, b), (c, d)) = (narrow.bounds(), wide.bounds());
                prop_assert!(a <= d && c <= b);
            }
            (Value::Unresolved, _)
            | (Value::PosInf, Value::PosInf)
            | (Value::NegInf, Value::NegInf)
            | (Value::Undefined, Value::Undefined) => {}
            _ => prop_assert!(false, "{:?} and {:?}", narrow, wide),
        }
    }
}

#[test]
fn a_million_operations_need_no_stack() {
    let mut store = Store::new();
    let mut sum = TermId::input(InputId(0), 0);
    for element in 1..1_000_000 {
        sum = store.apply(TermOp::Add, &[sum, TermId::input(InputId(0), element)], InstId(0));
    }
    let point = |_: InputId, element: u64| Rational::from_u64(element);
    let mut evaluator = Evaluator::<Narrow, _>::new(&store, point, 53, 1 << 20);
    let Value::Finite(value) = evaluator.evaluate(sum) else { panic!("a number") };
    assert_eq!(value.bounds().0, Rational::from_integer(999_999 * 500_000));
    assert_eq!(evaluator.work(), 999_999);
    let mut small = Evaluator::<Narrow, _>::new(&store, point, 53, 1000);
    assert_eq!(small.evaluate(sum), Value::Unresolved);
    assert_eq!(leaves([(&store, sum); 2], 1 << 20).map(|leaves| leaves.inputs.len()), Some(1_000_000));
    assert_eq!(leaves([(&store, sum); 2], 1000), None);
}

#[test]
fn what_elements_share_is_evaluated_once() {
    let mut store = Store::new();
    let mut total = TermId::input(InputId(0), 0);
    for element in 1..1000 {
        total = store.apply(TermOp::Add, &[total, TermId::input(InputId(0), element)], InstId(0));
    }
    let lanes: [u64; 32] = Lane::each(|lane| TermId::input(InputId(0), u64::from(lane.number())).raw());
    let row = store.push(TermOp::Div, LaneMask::ALL, &[&lanes, &[total.raw(); 32]], InstId(0));
    let terms: Vec<_> = Lane::all().map(|lane| TermId::lane(row, lane)).collect();
    let point = |_: InputId, element: u64| Rational::from_u64(element + 1);
    let mut together = Evaluator::<Narrow, _>::new(&store, point, 53, 1 << 20);
    let all = together.evaluate_all(&terms);
    assert_eq!(together.work(), 999 + 32);
    let mut single = Evaluator::<Narrow, _>::new(&store, point, 53, 1 << 20);
    let each: Vec<_> = terms.iter().rev().map(|term| single.evaluate(*term)).collect();
    assert!(all.iter().rev().eq(&each));
    assert!(all.iter().all(|value| value.finite().is_some()));
}

#[test]
fn lanes_have_the_same_values_together_and_alone() {
    let mut store = Store::new();
    let number = |node, lane: Lane| TermId::lane(node, lane).raw();
    let inputs: [u64; 32] = Lane::each(|lane| TermId::input(InputId(0), u64::from(lane.number())).raw());
    let squares = store.push(TermOp::Mul, LaneMask::ALL, &[&inputs, &inputs], InstId(0));
    let own: [u64; 32] = Lane::each(|lane| number(squares, lane));
    let turned: [u64; 32] = Lane::each(|lane| number(squares, Lane::at(31 - lane.index())));
    let first = [number(squares, Lane::FIRST); 32];
    let rows = [[&own, &turned, &first], [&turned, &own, &own], [&own, &first, &inputs]];
    let odd = LaneMask::from_bits(0xaaaa_aaaa);
    let rows = rows.map(|of| store.push(TermOp::Fma, odd, &of, InstId(0)));
    let terms: Vec<_> = rows.iter().flat_map(|row| odd.iter().map(|lane| TermId::lane(*row, lane))).collect();
    let point = |_: InputId, element: u64| Rational::from_u64(3 * element + 1);
    let new = || Evaluator::<Narrow, _>::new(&store, point, 53, 1 << 20);
    let alone: Vec<_> = terms.iter().map(|term| new().evaluate(*term)).collect();
    assert_eq!(new().evaluate_all(&terms), alone);
    // Where some lanes of a node have values, the others get theirs beside them.
    let mut in_turn = new();
    let (even, odd): (Vec<usize>, Vec<usize>) = (0..terms.len()).partition(|at| at % 3 == 0);
    for part in [even, odd] {
        let of: Vec<_> = part.iter().map(|at| terms[*at]).collect();
        let values = in_turn.evaluate_all(&of);
        assert!(part.iter().map(|at| &alone[*at]).eq(&values));
    }
    // What does not fit is evaluated term by term.
    let mut small = Evaluator::<Narrow, _>::new(&store, point, 53, 40);
    assert_eq!(small.evaluate_all(&terms), alone);
}

#[test]
fn what_is_assumed_is_assumed_of_one_lane() {
    let mut store = Store::new();
    let lanes: [u64; 32] = Lane::each(|lane| TermId::input(InputId(0), u64::from(lane.number())).raw());
    let row = store.push(TermOp::Neg, LaneMask::ALL, &[&lanes], InstId(0));
    let terms: Vec<_> = [4, 5].map(|lane| TermId::lane(row, Lane::new(lane))).into();
    let sum = store.apply(TermOp::Add, &terms, InstId(0));
    let point = |_: InputId, element: u64| Rational::from_u64(element);
    let mut evaluator = Evaluator::<Narrow, _>::new(&store, point, 53, 1 << 20);
    evaluator.assume(terms[1], Narrow::exact(&Rational::from_integer(100), 53).into());
    let Value::Finite(value) = evaluator.evaluate(sum) else { panic!("a number") };
    assert_eq!(value.bounds(), (Rational::from_integer(96), Rational::from_integer(96)));
}
