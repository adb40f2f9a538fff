//! The laws of exact normal forms, on all f16 and on samples of f32 and f64, with all modifiers: what the forms take
//! for the same evaluates to the same.

use super::evaluate::{Evaluated, same, value};
use super::form::Forms;
use super::*;
use crate::base::index::InstId;
use crate::number::format::{Rounding, to_f64};
use crate::term::{Ieee, IeeeKey, IeeeOp, InputId, TermOp, encoding};

/// Builds terms.
struct Terms {
    store: Store,
}

impl Terms {
    fn new() -> Terms {
        let mut store = Store::new();
        store.set_ieee();
        Terms { store }
    }

    fn input(&self, element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    fn number(&mut self, value: f64) -> TermId {
        self.store.ieee_number(value)
    }

    fn op(&mut self, key: IeeeKey, operands: &[TermId]) -> TermId {
        let key = self.store.ieee_key(key);
        let site = InstId(0);
        match operands {
            [a] => self.store.apply(TermOp::Ieee1, &[key, *a], site),
            [a, b] => self.store.apply(TermOp::Ieee2, &[key, *a, *b], site),
            [a, b, c] => {
                let pair = self.store.apply(TermOp::IeeePair, &[*a, *b], site);
                self.store.apply(TermOp::Ieee2, &[key, pair, *c], site)
            }
            _ => panic!("one to three operands"),
        }
    }
}

fn infos(format: Format) -> Vec<InputFormats> {
    vec![InputFormats { format: Some(format), ..InputFormats::default() }]
}

/// A key in every rounding mode, with and without flushing.
fn modes(op: IeeeOp, format: Format) -> Vec<IeeeKey> {
    let mut keys = Vec::new();
    for rounding in [Rounding::Nearest, Rounding::Zero, Rounding::Down, Rounding::Up] {
        for flush in [false, true] {
            keys.push(IeeeKey { flush, ..IeeeKey::new(op, format).rounding(rounding) });
        }
    }
    keys
}

/// Expressions of two inputs in all ways in which the laws may rewrite them.
fn expressions(terms: &mut Terms, format: Format) -> Vec<TermId> {
    let (x, y) = (terms.input(0), terms.input(1));
    let neg = IeeeKey::new(IeeeOp::Neg, format);
    let (minus_x, minus_y) = (terms.op(neg, &[x]), terms.op(neg, &[y]));
    let constants: Vec<TermId> =
        [0.0, -0.0, 1.0, -1.0, 2.0, -0.5, 4.0].into_iter().map(|value| terms.number(value)).collect();
    let leaves = [x, y, minus_x, minus_y];
    let mut all = leaves.to_vec();
    for op in [IeeeOp::Add, IeeeOp::Mul, IeeeOp::Div] {
        for key in modes(op, format) {
            for (a, b) in
                [(x, y), (y, x), (minus_x, y), (x, minus_y), (minus_x, minus_y), (x, x), (x, minus_x)]
            {
                let result = terms.op(key, &[a, b]);
                all.push(result);
                all.push(terms.op(neg, &[result]));
            }
            for constant in &constants {
                all.push(terms.op(key, &[x, *constant]));
                all.push(terms.op(key, &[*constant, minus_x]));
            }
        }
    }
    for key in modes(IeeeOp::Fma, format) {
        for constant in &constants {
            for [a, b, c] in
                [[x, y, *constant], [minus_y, x, *constant], [x, *constant, y], [*constant, minus_x, y]]
            {
                all.push(terms.op(key, &[a, b, c]));
            }
        }
        all.push(terms.op(key, &[x, y, x]));
    }
    for op in [IeeeOp::Min, IeeeOp::Max, IeeeOp::MinNan, IeeeOp::MaxNan] {
        for flush in [false, true] {
            let key = IeeeKey { flush, ..IeeeKey::new(op, format) };
            for (a, b) in [(x, y), (y, x), (x, x), (minus_x, y), (x, constants[0]), (x, constants[1])] {
                let once = terms.op(key, &[a, b]);
                all.push(once);
                all.push(terms.op(key, &[once, y]));
                all.push(terms.op(key, &[x, once]));
            }
        }
    }
    let abs = IeeeKey::new(IeeeOp::Abs, format);
    let flush = IeeeKey::new(IeeeOp::Flush, format);
    for leaf in [x, minus_x] {
        let magnitude = terms.op(abs, &[leaf]);
        all.extend([magnitude, terms.op(abs, &[magnitude]), terms.op(flush, &[leaf])]);
        all.push(terms.op(IeeeKey { flush: true, ..neg }, &[leaf]));
        for key in modes(IeeeOp::Integral, format) {
            let whole = terms.op(IeeeKey { flush: false, ..key }, &[leaf]);
            all.extend([whole, terms.op(neg, &[whole])]);
        }
        for to in [Format::F16, Format::Bf16, Format::F32, Format::F64] {
            for key in modes(IeeeOp::Convert, to) {
                let there = terms.op(IeeeKey { flush: false, ..key }, &[leaf]);
                all.extend([there, terms.op(IeeeKey::new(IeeeOp::Convert, format), &[there])]);
            }
        }
        let encoded = terms.op(IeeeKey::new(IeeeOp::Encode, format), &[leaf]);
        all.push(terms.op(IeeeKey::new(IeeeOp::Decode, format), &[encoded]));
        all.push(terms.op(IeeeKey::new(IeeeOp::CopySign, format), &[y, leaf]));
    }
    let one = terms.store.intern(crate::term::Constant {
        exact: crate::number::Rational::ONE.into(),
        literal: None,
        rounded: None,
    });
    for op in [IeeeOp::Less, IeeeOp::LessEqual, IeeeOp::Equal, IeeeOp::Ordered] {
        for flush in [false, true] {
            let key = IeeeKey { flush, ..IeeeKey::new(op, format) };
            for (a, b) in [(x, y), (y, x), (minus_x, minus_y), (minus_y, minus_x), (minus_x, y), (x, minus_y)]
            {
                let digit = terms.op(key, &[a, b]);
                let holds = terms.store.apply(TermOp::Equal, &[digit, one], InstId(0));
                let fails = terms.store.apply(TermOp::Not, &[holds], InstId(0));
                for (condition, then, otherwise) in
                    [(holds, x, y), (fails, y, x), (holds, minus_x, minus_y), (fails, x, x)]
                {
                    all.push(terms.store.apply(TermOp::Select, &[condition, then, otherwise], InstId(0)));
                }
            }
        }
    }
    all
}

/// For each form that several terms have, those terms.
fn classes(terms: &Terms, all: &[TermId], format: Format) -> Vec<Vec<TermId>> {
    let inputs = infos(format);
    let mut forms =
        Forms::new(Claim::Bits, &inputs, 1, FormLimits { forms: 1 << 20, deadline: Deadline::default() });
    let mut classes: FxHashMap<_, Vec<TermId>> = FxHashMap::default();
    for term in all {
        classes.entry(forms.of(0, &terms.store, *term).expect("it has a form")).or_default().push(*term);
    }
    classes.into_values().filter(|class| class.len() > 1).collect()
}

/// Panics if two terms of one form have different values at a point.
fn check(terms: &Terms, classes: &[Vec<TermId>], point: [f64; 2]) {
    for class in classes {
        let values: Vec<Evaluated> = class
            .iter()
            .filter_map(|term| {
                value(&terms.store, *term, &mut |_, element| Ieee::Float(point[element as usize]))
            })
            .collect();
        for pair in values.windows(2) {
            let tell = |term: &TermId| {
                let name = |_, element| format!("x{element}");
                crate::term::expression(&terms.store, *term, 4, &name, &|_| None)
            };
            assert!(
                same(&pair[0], &pair[1]),
                "{values:?} at {point:?}: {:#?}",
                class.iter().map(tell).collect::<Vec<_>>()
            );
        }
    }
}

/// Numbers at which something is special, in any format.
const SPECIAL: [f64; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1.5,
    -2.5,
    0.5,
    65504.0,
    6e-8,
    -6.1e-5,
    1e-40,
    -1.2e-38,
    3.4e38,
    1e300,
    -5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    0.1,
    1e-3,
];

fn in_format(format: Format, value: f64) -> f64 {
    match IeeeKey::new(IeeeOp::Convert, format).apply(&[Ieee::Float(value)]) {
        Some(Ieee::Float(value)) => value,
        other => panic!("{other:?}"),
    }
}

#[test]
fn forms_are_the_same_only_where_values_are() {
    for format in [Format::F16, Format::Bf16, Format::F32, Format::F64] {
        let mut terms = Terms::new();
        let all = expressions(&mut terms, format);
        let classes = classes(&terms, &all, format);
        assert!(classes.len() > 40, "{format:?}: {}", classes.len());
        for x in SPECIAL {
            for y in SPECIAL {
                check(&terms, &classes, [x, y].map(|value| in_format(format, value)));
            }
        }
    }
}

/// Numbers of all binades of f16, each beside another one.
#[test]
fn forms_are_right_throughout_f16() {
    let mut terms = Terms::new();
    let all = expressions(&mut terms, Format::F16);
    let classes = classes(&terms, &all, Format::F16);
    for bits in 0..1u64 << 16 {
        // Every 16th, to take seconds, more of the subnormal and special ones.
        let rare = bits & 0x7c00 == 0 || bits & 0x7c00 == 0x7c00;
        if bits % if rare { 3 } else { 16 } != 0 {
            continue;
        }
        let other = (bits ^ bits >> 7).wrapping_mul(40503) & 0xffff;
        check(&terms, &classes, [bits, other].map(|bits| to_f64(Format::F16, bits)));
    }
}

/// The operations on f32 and f64 are the host's, also where they are computed from rationals.
#[test]
fn operations_are_those_of_the_host() {
    let mut word = 0x1234_5678_9abc_def1_u64;
    for _ in 0..20_000 {
        let mut draw = || {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            f32::from_bits(word as u32)
        };
        let [a, b, c] = [draw(), draw(), draw()];
        let float = |value: f32| Ieee::Float(f64::from(value));
        let native: [(IeeeOp, Vec<f32>, f32); 5] = [
            (IeeeOp::Add, vec![a, b], a + b),
            (IeeeOp::Mul, vec![a, b], a * b),
            (IeeeOp::Div, vec![a, b], a / b),
            (IeeeOp::Fma, vec![a, b, c], a.mul_add(b, c)),
            (IeeeOp::Sqrt, vec![a], a.sqrt()),
        ];
        for (op, operands, expected) in native {
            let operands: Vec<Ieee> = operands.into_iter().map(float).collect();
            let found = IeeeKey::new(op, Format::F32).apply(&operands);
            let Some(Ieee::Float(found)) = found else { panic!("{op:?} of {operands:?} is {found:?}") };
            let is_same =
                found.is_nan() && expected.is_nan() || found.to_bits() == f64::from(expected).to_bits();
            assert!(is_same, "{op:?} of {operands:?} is {found}, not {expected}");
        }
    }
}

#[test]
fn encodings_are_those_of_values() {
    for format in [Format::F16, Format::Bf16, Format::E4m3, Format::E5m2] {
        for bits in 0..1 << (8 * format.bytes()) {
            let value = to_f64(format, bits);
            if !value.is_nan() {
                assert_eq!(encoding(format, value), Some(bits), "{format:?}");
            }
        }
    }
}

/// A key is read as it was written.
#[test]
fn keys_are_numbers() {
    for op in IeeeOp::ALL {
        for format in [Format::F16, Format::F32, Format::Ue8m0] {
            for key in modes(op, format) {
                let key = IeeeKey { detail: 77, fusible: key.flush, ..key };
                let number = crate::number::Rational::from_integer(key.number());
                assert_eq!(IeeeKey::read(&number), Some(key));
            }
        }
    }
}
