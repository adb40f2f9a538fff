//! Machine integers: forms have the values of their terms, and equal terms are proved equal.

use super::*;
use crate::algebra::atom::Atom;
use crate::algebra::condition::{Condition, ConditionId};
use crate::algebra::polynomial::{PolynomialId, Term};
use crate::term::{Integers, Ranges};
use proptest::prelude::*;

/// The inputs of these tests: bytes, signed bytes, words, signed words.
const TYPES: [Integers; 4] = [
    Integers::of_bits(8, false),
    Integers::of_bits(8, true),
    Integers::of_bits(32, false),
    Integers::of_bits(32, true),
];

fn integers() -> Side {
    let mut side = Side::new();
    side.store.set_integers(TYPES.map(Some).to_vec());
    side
}

impl Side {
    fn power(&mut self, by: i32) -> TermId {
        let exact = Extended::Finite(Rational::power_of_two(by));
        self.store.intern(Constant { exact, literal: None, rounded: None })
    }

    fn whole(&mut self, value: i128) -> TermId {
        let exact = Extended::Finite(Rational::from_i128(value));
        self.store.intern(Constant { exact, literal: None, rounded: None })
    }

    /// The lowest bits, unsigned.
    fn low(&mut self, a: TermId, bits: i32) -> TermId {
        let modulus = self.power(bits);
        self.op(TermOp::Mod, &[a, modulus])
    }

    /// The lowest bits, in two's complement.
    fn low_signed(&mut self, a: TermId, bits: i32) -> TermId {
        let half = self.power(bits - 1);
        let above = self.add(a, half);
        let low = self.low(above, bits);
        self.sub(low, half)
    }

    fn right(&mut self, a: TermId, by: i32) -> TermId {
        let factor = self.power(-by);
        let quotient = self.mul(a, factor);
        self.op(TermOp::Floor, &[quotient])
    }

    fn left(&mut self, a: TermId, by: i32) -> TermId {
        let factor = self.power(by);
        self.mul(a, factor)
    }

    /// Two to the power of a number from 0 to 3, or the inverse of that power.
    fn power_by(&mut self, amount: TermId, down: bool) -> TermId {
        let powers = [0, 1, 2, 3].map(|by| self.power(if down { -by } else { by }));
        let [one, two, three] = [1, 2, 3].map(|from| {
            let from = self.int(from);
            self.op(TermOp::Less, &[amount, from])
        });
        let below = self.op(TermOp::Select, &[one, powers[0], powers[1]]);
        let above = self.op(TermOp::Select, &[three, powers[2], powers[3]]);
        self.op(TermOp::Select, &[two, below, above])
    }

    fn and(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::BitAnd, &[a, b])
    }

    fn xor(&mut self, a: TermId, b: TermId) -> TermId {
        let common = self.and(a, b);
        let twice = self.left(common, 1);
        let sum = self.add(a, b);
        self.sub(sum, twice)
    }
}

/// A word of the last type but one.
fn word() -> TermId {
    TermId::input(InputId(2), 0)
}

#[track_caller]
fn same(a: impl FnOnce(&mut Side) -> TermId, b: impl FnOnce(&mut Side) -> TermId) {
    let (mut left, mut right) = (integers(), integers());
    let (a, b) = (a(&mut left), b(&mut right));
    assert_equal((&left, a), (&right, b));
}

#[track_caller]
fn other(a: impl FnOnce(&mut Side) -> TermId, b: impl FnOnce(&mut Side) -> TermId) {
    let (mut left, mut right) = (integers(), integers());
    let (a, b) = (a(&mut left), b(&mut right));
    assert_open((&left, a), (&right, b));
}

#[test]
fn fields_are_cut_out_in_any_way() {
    // (w >> 8) & 255, and (w << 16) >> 24 in 32 bits
    let masked = |side: &mut Side| {
        let high = side.right(word(), 8);
        let mask = side.int(255);
        side.and(high, mask)
    };
    same(masked, |side| {
        let up = side.left(word(), 16);
        let up = side.low(up, 32);
        side.right(up, 24)
    });
    same(masked, |side| {
        let mask = side.int(0xff00);
        let kept = side.and(word(), mask);
        side.right(kept, 8)
    });
    other(masked, |side| {
        let up = side.left(word(), 16);
        let up = side.low(up, 32);
        side.right(up, 23)
    });
    // The highest field needs no mask.
    same(
        |side| side.right(word(), 24),
        |side| {
            let high = side.right(word(), 24);
            side.low(high, 8)
        },
    );
}

#[test]
fn a_word_is_the_sum_of_its_bytes() {
    let bytes = |side: &mut Side, order: [i32; 4]| {
        let mut sum = side.int(0);
        for (from, to) in (0..4).zip(order) {
            let byte = side.right(word(), 8 * from);
            let byte = side.low(byte, 8);
            let byte = side.left(byte, 8 * to);
            sum = side.add(sum, byte);
        }
        sum
    };
    same(|_| word(), |side| bytes(side, [0, 1, 2, 3]));
    other(|_| word(), |side| bytes(side, [0, 2, 1, 3]));
}

#[test]
fn signs_are_extended_in_any_way() {
    // A signed nibble: by shifts, by the bit of a comparison, by flipping its highest bit.
    let shifts = |side: &mut Side| {
        let up = side.left(word(), 20);
        let up = side.low_signed(up, 32);
        side.right(up, 28)
    };
    let nibble = |side: &mut Side| {
        let low = side.right(word(), 8);
        side.low(low, 4)
    };
    same(shifts, |side| {
        let nibble = nibble(side);
        let sign = side.right(nibble, 3);
        let sign = side.left(sign, 4);
        side.sub(nibble, sign)
    });
    same(shifts, |side| {
        let (nibble, eight) = (nibble(side), side.int(8));
        let flipped = side.xor(nibble, eight);
        side.sub(flipped, eight)
    });
    same(shifts, |side| {
        let all = side.whole(0x8888_8888);
        let flipped = side.xor(word(), all);
        let low = side.right(flipped, 8);
        let (low, eight) = (side.low(low, 4), side.int(8));
        side.sub(low, eight)
    });
    other(shifts, nibble);
}

#[test]
fn wrapping_around_is_arithmetic_in_a_ring() {
    let (x, y) = (word(), TermId::input(InputId(2), 1));
    // (x + y)·x mod 2^32, reduced in between or at the end
    same(
        |side| {
            let sum = side.add(x, y);
            let sum = side.low(sum, 32);
            let product = side.mul(sum, x);
            side.low(product, 32)
        },
        |side| {
            let (a, b) = (side.mul(x, x), side.mul(x, y));
            let (a, b) = (side.low(a, 32), side.low(b, 32));
            let sum = side.add(a, b);
            side.low(sum, 32)
        },
    );
    // A sum of bytes does not overflow a word, but overflows a byte.
    let (x, y) = (TermId::input(InputId(0), 0), TermId::input(InputId(0), 1));
    let sum = |side: &mut Side| side.add(x, y);
    same(sum, |side| {
        let sum = side.add(x, y);
        side.low(sum, 32)
    });
    other(sum, |side| {
        let sum = side.add(x, y);
        side.low(sum, 8)
    });
}

#[test]
fn bounds_of_nested_bits_do_not_look_into_each_of_them() {
    // x & 3x, of that y & 3y, and so on: each number occurs twice in the next.
    let nested = |triple: fn(&mut Side, TermId) -> TermId| {
        move |side: &mut Side| {
            (0..48).fold(TermId::input(InputId(0), 0), |x, _| {
                let three = triple(side, x);
                side.and(x, three)
            })
        }
    };
    same(
        nested(|side, x| {
            let three = side.int(3);
            side.mul(x, three)
        }),
        nested(|side, x| {
            let twice = side.left(x, 1);
            side.add(x, twice)
        }),
    );
}

#[test]
fn bits_sum_up() {
    let (x, y) = (word(), TermId::input(InputId(2), 1));
    // x + y = 2 (x & y) + (x ^ y), and their mean without an overflow
    same(
        |side| side.add(x, y),
        |side| {
            let (common, one) = (side.and(x, y), side.xor(x, y));
            let twice = side.left(common, 1);
            side.add(twice, one)
        },
    );
    same(
        |side| {
            let sum = side.add(x, y);
            side.right(sum, 1)
        },
        |side| {
            let one = side.xor(x, y);
            let (half, common) = (side.right(one, 1), side.and(x, y));
            side.add(half, common)
        },
    );
    // A bitwise function of words has no bits beyond theirs.
    same(
        |side| {
            let one = side.xor(x, y);
            side.low(one, 32)
        },
        |side| side.xor(x, y),
    );
    // A number and its complement have no bit in common.
    same(
        |side| {
            let all = side.whole(0xffff_ffff);
            let complement = side.sub(all, x);
            side.and(x, complement)
        },
        |side| side.int(0),
    );
}

#[test]
fn multiplications_are_divisions() {
    // x / 10 for words: ⌊x · 0xcccccccd / 2^35⌋
    let by_multiplier = |multiplier: i128| {
        move |side: &mut Side| {
            let multiplier = side.whole(multiplier);
            let product = side.mul(word(), multiplier);
            let high = side.right(product, 32);
            side.right(high, 3)
        }
    };
    let divided = |side: &mut Side| {
        let ten = side.rational(1, 10);
        let quotient = side.mul(word(), ten);
        side.op(TermOp::Floor, &[quotient])
    };
    same(divided, by_multiplier(0xcccc_cccd));
    other(divided, by_multiplier(0xcccc_cccc));
}

/// A step of a computation, on earlier results.
#[derive(Clone, Debug)]
enum Step {
    Add(usize, usize),
    Sub(usize, usize),
    Mul(usize, usize),
    Term(usize, i64),
    Offset(usize, i64),
    Low(usize, i32),
    LowSigned(usize, i32),
    Right(usize, i32),
    Divide(usize, i64),
    And(usize, usize),
    Mask(usize, u64),
    Max(usize, usize),
    Round(usize, u8),
    Choose(usize, i64, usize, usize),
    ShiftBy(usize, usize, bool),
    Apart(usize, usize, i32),
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0usize..64;
    prop_oneof![
        (at.clone(), at.clone()).prop_map(|(a, b)| Step::Add(a, b)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Step::Sub(a, b)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Step::Mul(a, b)),
        (at.clone(), -20i64..20).prop_map(|(a, k)| Step::Term(a, k)),
        (at.clone(), -300i64..300).prop_map(|(a, k)| Step::Offset(a, k)),
        (at.clone(), 1i32..33).prop_map(|(a, k)| Step::Low(a, k)),
        (at.clone(), 1i32..33).prop_map(|(a, k)| Step::LowSigned(a, k)),
        (at.clone(), 1i32..16).prop_map(|(a, k)| Step::Right(a, k)),
        (at.clone(), 2i64..40).prop_map(|(a, k)| Step::Divide(a, k)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Step::And(a, b)),
        (at.clone(), any::<u64>()).prop_map(|(a, k)| Step::Mask(a, k & 0xffff_ffff)),
        (at.clone(), at.clone()).prop_map(|(a, b)| Step::Max(a, b)),
        (at.clone(), 0u8..3).prop_map(|(a, k)| Step::Round(a, k)),
        (at.clone(), -10i64..300, at.clone(), at.clone()).prop_map(|(a, k, b, c)| Step::Choose(a, k, b, c)),
        (at.clone(), at.clone(), any::<bool>()).prop_map(|(a, b, down)| Step::ShiftBy(a, b, down)),
        (at.clone(), at, 1i32..16).prop_map(|(a, b, k)| Step::Apart(a, b, k)),
    ]
}

/// The last term of some steps, which may use the inputs.
fn build(side: &mut Side, steps: &[Step]) -> TermId {
    let mut terms: Vec<TermId> =
        (0..4).flat_map(|input| (0..2).map(move |element| TermId::input(InputId(input), element))).collect();
    for step in steps {
        let at = |at: usize| terms[at % terms.len()];
        let term = match *step {
            Step::Add(a, b) => side.add(at(a), at(b)),
            Step::Sub(a, b) => side.sub(at(a), at(b)),
            Step::Mul(a, b) => side.mul(at(a), at(b)),
            Step::Term(a, k) => {
                let k = side.int(k);
                side.mul(at(a), k)
            }
            Step::Offset(a, k) => {
                let k = side.int(k);
                side.add(at(a), k)
            }
            Step::Low(a, bits) => side.low(at(a), bits),
            Step::LowSigned(a, bits) => side.low_signed(at(a), bits),
            Step::Right(a, by) => side.right(at(a), by),
            Step::Divide(a, by) => {
                let factor = side.rational(1, by);
                let quotient = side.mul(at(a), factor);
                side.op(TermOp::Floor, &[quotient])
            }
            Step::And(a, b) => {
                let (a, b) = (side.low(at(a), 32), side.low(at(b), 32));
                side.and(a, b)
            }
            Step::Mask(a, mask) => {
                let (a, mask) = (side.low(at(a), 32), side.whole(mask.into()));
                side.and(a, mask)
            }
            Step::Max(a, b) => side.max(at(a), at(b)),
            Step::Round(a, which) => {
                let half = side.rational(1, 6);
                let part = side.mul(at(a), half);
                side.op([TermOp::Trunc, TermOp::Ceil, TermOp::RoundEven][usize::from(which)], &[part])
            }
            Step::Choose(a, k, b, c) => {
                let k = side.int(k);
                let condition = side.op(TermOp::Less, &[at(a), k]);
                side.op(TermOp::Select, &[condition, at(b), at(c)])
            }
            Step::ShiftBy(a, b, down) => {
                let amount = side.low(at(b), 2);
                let factor = side.power_by(amount, down);
                let shifted = side.mul(at(a), factor);
                if down { side.op(TermOp::Floor, &[shifted]) } else { shifted }
            }
            Step::Apart(a, b, k) => {
                let (high, low) = (side.low(at(a), 16), side.low(at(b), k));
                let high = side.left(high, k);
                let common = side.and(high, low);
                side.add(common, high)
            }
        };
        terms.push(term);
    }
    terms[terms.len() - 1]
}

/// Values of the inputs: any of the type, or its extremes.
fn point() -> impl Strategy<Value = Vec<i128>> {
    let one = |of: Integers| {
        let ends = [of.least, of.greatest, 0, 1];
        prop_oneof![3 => of.least..=of.greatest, 1 => (0usize..4).prop_map(move |at| ends[at])]
    };
    let all: Vec<_> = TYPES.into_iter().flat_map(|of| [one(of), one(of)]).collect();
    all
}

fn at_point(point: &[i128], input: InputId, element: u64) -> Rational {
    Rational::from_i128(point[2 * input.index() + element as usize])
}

fn natural(value: &Rational) -> rug::Integer {
    assert!(value.is_integer() && !value.is_negative(), "{value} has no digits");
    value.to_parts().0
}

/// The value of a term as executed.
fn executed(side: &Side, term: TermId, point: &[i128]) -> Rational {
    let crate::term::View::Apply(op, operands) = side.store.view(term) else {
        return match side.store.view(term) {
            crate::term::View::Constant(constant) => constant.exact.finite().expect("finite").clone(),
            crate::term::View::Input { input, element } => at_point(point, input, element),
            crate::term::View::Apply(..) => unreachable!("an operation was excluded"),
        };
    };
    let values: Vec<Rational> =
        operands[..op.arity()].iter().map(|operand| executed(side, *operand, point)).collect();
    match op {
        TermOp::Add => &values[0] + &values[1],
        TermOp::Sub => &values[0] - &values[1],
        TermOp::Mul => &values[0] * &values[1],
        TermOp::Max => values[0].clone().max(values[1].clone()),
        TermOp::Floor => values[0].floor(),
        TermOp::Ceil => values[0].ceil(),
        TermOp::Trunc => values[0].trunc(),
        TermOp::RoundEven => values[0].round_even(),
        TermOp::Mod => {
            let quotient = values[0].checked_div(&values[1]).expect("not by zero").floor();
            &values[0] - &(&quotient * &values[1])
        }
        TermOp::BitAnd => (natural(&values[0]) & natural(&values[1])).into(),
        TermOp::Less => Rational::from_integer((values[0] < values[1]).into()),
        TermOp::LessEqual => Rational::from_integer((values[0] <= values[1]).into()),
        TermOp::Equal => Rational::from_integer((values[0] == values[1]).into()),
        TermOp::Select => values[if values[0].is_zero() { 2 } else { 1 }].clone(),
        TermOp::Fma
        | TermOp::Div
        | TermOp::Neg
        | TermOp::Abs
        | TermOp::Min
        | TermOp::Saturate
        | TermOp::Exp2
        | TermOp::Log2
        | TermOp::Sqrt
        | TermOp::Rsqrt
        | TermOp::Sin
        | TermOp::Cos
        | TermOp::Tanh
        | TermOp::Erf
        | TermOp::Atan
        | TermOp::Cbrt
        | TermOp::Gamma
        | TermOp::BesselJ0
        | TermOp::BesselJ1
        | TermOp::BesselY0
        | TermOp::BesselY1
        | TermOp::EncodeF32
        | TermOp::EncodeF64
        | TermOp::DecodeF32
        | TermOp::DecodeF64
        | TermOp::Outcome
        | TermOp::Ieee1
        | TermOp::Ieee2
        | TermOp::IeeePair
        | TermOp::CopySign
        | TermOp::Not
        | TermOp::And
        | TermOp::Or
        | TermOp::Xor => unreachable!("{op:?} is not built here"),
    }
}

/// The value of a form.
pub(super) fn formed(prover: &Prover<'_>, terms: &[Term], point: &[i128]) -> Rational {
    let table = &prover.table;
    let inside = |id: PolynomialId| formed(prover, table.polynomials.terms(id), point);
    let mut sum = Rational::ZERO;
    for term in terms {
        assert_eq!(term.exponent(), PolynomialId::ZERO);
        let mut product = term.coefficient.clone();
        for (atom, power) in table.monomials.factors(term.monomial()) {
            let value = match table.atom(*atom) {
                Atom::Input(input, element) => at_point(point, *input, *element),
                Atom::Sum(content) => inside(*content),
                Atom::Max(arms) => arms.iter().map(|arm| inside(*arm)).max().expect("an arm"),
                Atom::Apply(TermOp::Floor, argument) => inside(*argument).floor(),
                Atom::Apply(TermOp::Ceil, argument) => inside(*argument).ceil(),
                Atom::Apply(TermOp::Trunc, argument) => inside(*argument).trunc(),
                Atom::Apply(TermOp::RoundEven, argument) => inside(*argument).round_even(),
                Atom::BitAnd(a, b) => (natural(&inside(*a)) & natural(&inside(*b))).into(),
                Atom::FirstLargest(list) => {
                    let keys: Vec<Rational> = list.iter().map(|(key, _)| inside(*key)).collect();
                    let largest = keys.iter().max().expect("a key");
                    let first = keys.iter().position(|key| key == largest).expect("a largest key");
                    inside(list[first].1)
                }
                Atom::Select(condition, then, otherwise) => {
                    inside(if holds(prover, condition, point) { *then } else { *otherwise })
                }
                atom @ (Atom::Irrational(_)
                | Atom::Literal(_)
                | Atom::Opaque(_)
                | Atom::Products(_)
                | Atom::Apply(..)
                | Atom::CopySign(..)) => unreachable!("{atom:?} is not built here"),
            };
            let (low, high) = table.atom_bounds(*atom).unwrap_or((i128::MIN, i128::MAX));
            assert!(
                Rational::from_i128(low) <= value && value <= Rational::from_i128(high),
                "bounds of {atom:?}"
            );
            assert!(!table.is_whole_atom(*atom) || value.is_integer(), "{atom:?} is not whole");
            assert!(table.is_whole_atom(*atom) || table.atom_bounds(*atom).is_none(), "{atom:?} has bounds");
            product = &product * &value.pow(*power).expect("not of zero");
        }
        sum = &sum + &product;
    }
    sum
}

/// The truth value of a form's condition.
fn holds(prover: &Prover<'_>, condition: &ConditionId, point: &[i128]) -> bool {
    let value = |id: PolynomialId| formed(prover, prover.table.polynomials.terms(id), point);
    match prover.table.conditions.get(condition) {
        Condition::Known(known) => *known,
        Condition::Positive(id) => value(*id).is_positive(),
        Condition::Zero(id) => value(*id).is_zero(),
        Condition::Not(inner) => !holds(prover, inner, point),
        Condition::And(a, b) => holds(prover, a, point) && holds(prover, b, point),
        Condition::Xor(a, b) => holds(prover, a, point) != holds(prover, b, point),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn forms_have_the_values_of_their_terms(
        steps in proptest::collection::vec(step(), 1..10),
        points in proptest::collection::vec(point(), 6),
    ) {
        let mut side = integers();
        let term = build(&mut side, &steps);
        let range = Ranges::default().of(&side.store, term);
        let analysis = Analysis::of_all(&side.store);
        let mut prover = Prover::new(Vec::new(), Tactic::THOROUGH);
        prover.set_budget(300_000);
        let at = TermRef { store: prover.add_store(&side.store, &analysis), term };
        let form = prover.settle(|prover| prover.argument(at));
        for point in &points {
            let value = executed(&side, term, point);
            let inside = range.low.is_none_or(|low| Rational::from_i128(low) <= value)
                && range.high.is_none_or(|high| value <= Rational::from_i128(high));
            prop_assert!(inside, "{value} is not in {range:?}");
            prop_assert!(!range.whole || value.is_integer());
            if range.is_natural() {
                let digits = value.to_u64().expect("a natural number below 2^64");
                prop_assert_eq!(digits & !range.ones, 0);
                prop_assert_eq!(range.sure & !digits, 0);
            }
            if let Ok(form) = &form {
                prop_assert_eq!(formed(&prover, form, point), value);
            }
        }
    }
}

/// A choice by a comparison has the range of what is chosen where: every value lies in it, and none of the ends is lost.
#[test]
fn choices_have_the_ranges_of_what_is_chosen() {
    let points: Vec<[i128; 4]> = (-128..128).map(|value| [0, 0, value, 0]).collect();
    for limit in [-129, -128, -127, 0, 126, 127, 128] {
        for which in 0..6 {
            for shape in 0..4 {
                let mut side = integers();
                let of = TermId::input(InputId(1), 0);
                let number = side.whole(limit);
                let op = [TermOp::Equal, TermOp::Less, TermOp::LessEqual][which % 3];
                let operands = if which < 3 { [of, number] } else { [number, of] };
                let condition = side.op(op, &operands);
                let (step, zero) = (side.whole(1 - 2 * i128::from(shape & 1 == 1)), side.whole(0));
                let next = side.op(TermOp::Add, &[of, step]);
                let other = if shape < 2 { next } else { side.op(TermOp::Mul, &[next, step]) };
                for chosen in [[zero, other], [other, zero], [of, other]] {
                    let term = side.op(TermOp::Select, &[condition, chosen[0], chosen[1]]);
                    let range = Ranges::default().of(&side.store, term);
                    for point in &points {
                        let value = executed(&side, term, point);
                        let at = |bound: Option<i128>| bound.map(Rational::from_i128);
                        assert!(at(range.low).is_none_or(|low| low <= value), "{limit} {which} {shape}");
                        assert!(at(range.high).is_none_or(|high| value <= high), "{limit} {which} {shape}");
                    }
                }
            }
        }
    }
    let mut side = integers();
    let (of, zero, less) = (TermId::input(InputId(0), 0), side.whole(0), side.whole(-1));
    let (first, before) = (side.op(TermOp::Equal, &[of, zero]), side.op(TermOp::Add, &[of, less]));
    let term = side.op(TermOp::Select, &[first, zero, before]);
    let range = Ranges::default().of(&side.store, term);
    assert_eq!((range.low, range.high), (Some(0), Some(254)));
}

/// Only integers are split into their values: half of a bit is not one.
#[test]
fn only_whole_numbers_have_bounds() {
    let side = integers();
    let analysis = Analysis::of_all(&side.store);
    let mut prover = Prover::new(Vec::new(), Tactic::THOROUGH);
    prover.add_store(&side.store, &analysis);
    let bytes = [0, 1].map(|element| {
        let atom = prover.table.intern(Atom::Input(InputId(0), element));
        let monomial = prover.table.single(atom);
        crate::algebra::polynomial::Key::of(monomial)
    });
    for (half, whole) in [(Rational::ONE, true), (Rational::from_ratio(1, 2), false)] {
        let mut terms = vec![Term::of(bytes[0]), Term { key: bytes[1], coefficient: half }];
        terms.sort_by_key(|term| term.key);
        let content = prover.table.polynomial(&terms);
        let sum = prover.table.intern(Atom::Sum(content));
        assert_eq!(prover.table.atom_bounds(sum), whole.then_some((0, 510)));
    }
}
