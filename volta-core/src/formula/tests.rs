//! Families expand to the elements from which they were made, and sums have the expected notation.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::marked;
use super::shape::{Node, Shapes};
use super::tree::{AffineIndex, Definition, Expression, Family, Formula, IndexRange, IndexVariable, Over};
use crate::number::Rational;
use crate::term::{InputId, TermOp};

const X: InputId = InputId(0);
const Y: InputId = InputId(1);
/// The extents of x and y.
const EXTENTS: [u64; 2] = [12, 10];

fn shapes() -> Shapes {
    Shapes::new(vec![EXTENTS.to_vec(), EXTENTS.to_vec()])
}

fn names() -> Vec<String> {
    ["x", "y"].map(String::from).into()
}

fn x(shapes: &mut Shapes, at: u64) -> Node {
    shapes.element(X, at).expect("small")
}

/// The only element of an output without dimensions, as text.
fn text(build: impl FnOnce(&mut Shapes) -> Node) -> String {
    let mut shapes = Shapes::new(vec![vec![64], Vec::new()]);
    let value = build(&mut shapes);
    let formula = shapes.formula(&[(Y, 0, vec![value])], &names());
    formula.to_string().strip_prefix("y = ").expect("y").to_string()
}

/// A sum of numbers times elements of x, and a constant.
fn sum(shapes: &mut Shapes, addends: &[(Rational, u64)], constant: i64) -> Node {
    let mut list = Vec::new();
    for (number, at) in addends {
        list.push((number.clone(), x(shapes, *at)));
    }
    list.push((Rational::from_integer(constant), Shapes::one()));
    shapes.sum(list).expect("small")
}

/// All values of the variables of ranges.
fn points(ranges: &[IndexRange]) -> Vec<Vec<i64>> {
    ranges.iter().fold(vec![Vec::new()], |points, range| {
        let with = |point: &Vec<i64>| {
            let values = range.from.at(point)..range.to.at(point);
            values.map(|value| [&point[..], &[value]].concat()).collect::<Vec<_>>()
        };
        points.iter().flat_map(with).collect()
    })
}

/// For a formula of copies of x: for each element of y, the elements of x that are added up.
fn copies(formula: &Formula) -> BTreeMap<Vec<i64>, Vec<Vec<i64>>> {
    let mut copies = BTreeMap::new();
    for piece in &formula.pieces {
        for point in points(&piece.ranges) {
            let index = piece.index.iter().map(|index| index.at(&point)).collect();
            let read = read(&piece.value, &point);
            assert_eq!(copies.insert(index, read), None, "an element twice in\n{formula}");
        }
    }
    copies
}

fn read(expression: &Expression, point: &[i64]) -> Vec<Vec<i64>> {
    let mut list = match expression {
        Expression::Element(_, index) => vec![index.iter().map(|index| index.at(point)).collect()],
        Expression::Sum(addends) => {
            assert!(addends.iter().all(|(number, _)| number.is_one()), "{expression:?}");
            addends.iter().flat_map(|(_, part)| read(part, point)).collect()
        }
        Expression::Over(_, ranges, body) => {
            // Variables of inner ranges come after those of outer ones.
            let around: Vec<IndexRange> = (0..point.len())
                .map(|at| IndexRange {
                    variable: IndexVariable(at as u32),
                    from: AffineIndex::constant(point[at]),
                    to: AffineIndex::constant(point[at] + 1),
                })
                .collect();
            let all = [&around[..], ranges].concat();
            points(&all).iter().flat_map(|point| read(body, point)).collect()
        }
        other @ (Expression::Number(_)
        | Expression::Constant(_)
        | Expression::Name(..)
        | Expression::Whole(_)
        | Expression::Product(_)
        | Expression::Exp(_)
        | Expression::Apply(..)
        | Expression::Positive(_)
        | Expression::Zero(_)
        | Expression::Marked(_)) => panic!("{other:?}"),
    };
    list.sort_unstable();
    list
}

/// Elements of a tensor: boxes with strides, triangles, and single ones.
fn places() -> impl Strategy<Value = Vec<u64>> {
    let [rows, columns] = EXTENTS;
    let block = (0..rows, 1..4u64, 0..columns, 1..3u64, any::<bool>()).prop_map(
        move |(row, by, column, step, triangle)| {
            let rows = (row..rows).step_by(by as usize);
            let all = rows.flat_map(move |i| {
                let last = if triangle { (i + 1).min(columns) } else { columns };
                (column..last).step_by(step as usize).map(move |j| i * columns + j)
            });
            all.collect::<Vec<u64>>()
        },
    );
    let single = (0..rows * columns).prop_map(|at| vec![at]);
    proptest::collection::vec(prop_oneof![block, single], 1..4).prop_map(|lists| {
        let mut all = lists.concat();
        all.sort_unstable();
        all.dedup();
        all
    })
}

proptest! {
    /// For any elements and any indices that they read: expanded, the families are these.
    #[test]
    fn families_are_what_they_were_made_of(written in places(), addends in places(), turn in 0..3u64) {
        prop_assume!(!written.is_empty() && !addends.is_empty());
        let mut shapes = shapes();
        let size = EXTENTS[0] * EXTENTS[1];
        let mut elements = Vec::new();
        let mut expected = BTreeMap::new();
        for element in written {
            // A copy of another element; the same sum for all; sums that differ.
            let read: Vec<u64> = match turn {
                0 => vec![(element * 7 + 3) % size],
                1 => addends.clone(),
                _ => addends.iter().copied().filter(|at| *at <= element).chain([size - 1]).collect(),
            };
            let mut read = read;
            read.sort_unstable();
            read.dedup();
            let mut list = Vec::new();
            for at in &read {
                list.push((Rational::ONE, x(&mut shapes, *at)));
            }
            let value = shapes.sum(list).expect("small");
            let index = |at: u64| shapes.index(X, at).into_iter().map(|at| at as i64).collect::<Vec<_>>();
            expected.insert(index(element), read.into_iter().map(index).collect::<Vec<_>>());
            elements.push((Y, element, vec![value]));
        }
        let formula = shapes.formula(&elements, &names());
        prop_assume!(formula.omitted.0 == 0 && formula.definitions.is_empty());
        prop_assert_eq!(copies(&formula), expected, "{}", formula);
    }
}

#[test]
fn a_block_a_triangle_and_a_border_are_a_line_each() {
    let mut shapes = shapes();
    let [rows, columns] = EXTENTS;
    let mut elements = Vec::new();
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        let value = match (i, j) {
            (0, _) => shapes.whole(0).expect("small"),
            (i, j) if j < i => x(&mut shapes, (i - 1) * columns + j),
            _ => {
                let value = x(&mut shapes, i * columns + j);
                shapes.exp(&value).expect("small")
            }
        };
        elements.push((Y, i * columns + j, vec![value]));
    }
    let formula = shapes.formula(&elements, &names()).to_string();
    let lines: Vec<&str> = formula.lines().collect();
    assert_eq!(
        lines,
        [
            "y[0,i] = 0      i < 10",
            "y[i,j] = x[i-1,j]      1 ≤ i < 11, j < i",
            "y[i,j] = exp(x[i,j])      1 ≤ i < 10, i ≤ j < 10",
            "y[11,i] = x[10,i]      i < 10",
        ]
    );
}

#[test]
fn counts_are_compared_with_whole_numbers() {
    let flag = |shapes: &mut Shapes, at| {
        let of = x(shapes, at);
        let is_positive = shapes.positive(&of).expect("small");
        let zero = shapes.number(Rational::ZERO).expect("small");
        shapes.apply(TermOp::Select, &[is_positive, Shapes::one(), zero]).expect("small")
    };
    // 1 - Σ flags / count
    let share = |shapes: &mut Shapes, elements: &[u64]| {
        let by = Rational::from_ratio(-1, elements.len() as i64);
        let mut addends = vec![(Rational::ONE, Shapes::one())];
        addends.extend(elements.iter().map(|at| (by.clone(), flag(shapes, *at))));
        shapes.sum(addends).expect("small")
    };
    let are_all = |elements: &'static [u64]| {
        text(|shapes| {
            let share = share(shapes, elements);
            shapes.zero(&share).expect("small")
        })
    };
    assert_eq!(are_all(&[0, 5]), "(x[0] > 0 ? 1 : 0) + (x[5] > 0 ? 1 : 0) = 2");
    assert_eq!(are_all(&[0, 1, 2, 3, 4, 5]), "Σ{i<6} (x[i] > 0 ? 1 : 0) = 6");
    let are_fewer = text(|shapes| {
        let share = share(shapes, &[0, 1, 2, 3, 4, 5]);
        shapes.positive(&share).expect("small")
    });
    assert_eq!(are_fewer, "Σ{i<6} (x[i] > 0 ? 1 : 0) < 6");
    // Reals keep their means.
    let mean = text(|shapes| {
        let of: Vec<_> = (0..64).map(|at| (Rational::from_ratio(1, 64), at)).collect();
        let sum = sum(shapes, &of, -3);
        shapes.positive(&sum).expect("small")
    });
    assert_eq!(mean, "mean{i<64}(x[i]) > 3");
}

#[test]
fn numbers_have_the_scale_in_which_they_are_short() {
    let share = Rational::from_ratio(1, 64);
    let mean: Vec<_> = (0..64).map(|at| (share.clone(), at)).collect();
    assert_eq!(text(|shapes| sum(shapes, &mean, 0)), "mean{i<64}(x[i])");
    let half: Vec<_> = (0..64).map(|at| (Rational::HALF, at)).collect();
    assert_eq!(text(|shapes| sum(shapes, &half, 3)), "(Σ{i<64} x[i]) / 2 + 3");
    let three = Rational::from_integer(3);
    assert_eq!(text(|shapes| sum(shapes, &[(three.clone(), 5), (-&three, 9)], 1)), "3·x[5] - 3·x[9] + 1");
}

#[test]
fn what_has_a_name_is_called_by_it() {
    let clamp = |low: i64, high: i64| {
        text(|shapes| {
            let mut arms = |bound: i64| {
                let arms = vec![x(shapes, 0), shapes.number(Rational::from_integer(bound)).expect("small")];
                shapes.extreme(TermOp::Max, arms).expect("small")
            };
            let [low, most] = [arms(low), arms(high)];
            let addends = vec![
                (Rational::ONE, low),
                (Rational::MINUS_ONE, most),
                (Rational::from_integer(high), Shapes::one()),
            ];
            shapes.sum(addends).expect("small")
        })
    };
    assert_eq!(clamp(0, 6), "min(max(x[0], 0), 6)");
    assert_eq!(clamp(6, 0), "6 - min(max(x[0], 0), 6)");
    let of_two = |max: i64, others: i64| {
        text(|shapes| {
            let [a, b] = [x(shapes, 0), x(shapes, 7)];
            let largest = shapes.extreme(TermOp::Max, vec![a.clone(), b.clone()]).expect("small");
            let [max, others] = [max, others].map(Rational::from_integer);
            shapes.sum(vec![(max, largest), (others.clone(), a), (others, b)]).expect("small")
        })
    };
    assert_eq!(of_two(2, -1), "abs(x[0] - x[7])");
    assert_eq!(of_two(-1, 1), "min(x[0], x[7])");
    assert_eq!(of_two(1, 1), "x[0] + x[7] + max(x[0], x[7])");
    let remainder = |times: i64| {
        text(|shapes| {
            let eighth = sum(shapes, &[(Rational::from_ratio(1, 8), 3)], 0);
            let floor = shapes.apply(TermOp::Floor, &[eighth]).expect("small");
            let own = x(shapes, 3);
            shapes.sum(vec![(Rational::ONE, own), (Rational::from_integer(times), floor)]).expect("small")
        })
    };
    assert_eq!(remainder(-8), "(x[3] mod 8)");
    assert_eq!(remainder(-4), "x[3] - 4·floor(x[3] / 8)");
}

/// `y[i] = (x[i] - shift) / sqrt(part) + exp(x[i])`, where a part is a mean of squares.
fn normalised(shift: i64, squares: i32) -> Formula {
    let i = || vec![AffineIndex::variable(IndexVariable(0))];
    let ranges = |variable: u32| {
        let (from, to) = (AffineIndex::constant(0), AffineIndex::constant(8));
        vec![IndexRange { variable: IndexVariable(variable), from, to }]
    };
    let x = Expression::Element("x".into(), i());
    let squared = Expression::Product(vec![(x.clone(), squares)]);
    let mean = Expression::Over(Over::Mean, ranges(0), Box::new(squared));
    let number = |value: i64| Expression::Number(Rational::from_integer(value));
    let shifted = Expression::Sum(vec![(Rational::ONE, x.clone()), (Rational::MINUS_ONE, number(shift))]);
    let scaled = Expression::Product(vec![(shifted, 2), (Expression::Name(0, Vec::new()), -1)]);
    let value = Expression::Sum(vec![(Rational::ONE, scaled), (Rational::ONE, Expression::Exp(Box::new(x)))]);
    Formula {
        pieces: vec![Family { output: "y".into(), index: i(), ranges: ranges(0), elements: 8, value }],
        definitions: vec![Definition { name: "mean_x".into(), parameters: 0, value: mean }],
        tensors: vec!["x".into(), "y".into()],
        ..Formula::default()
    }
}

#[test]
fn one_formula_is_written_in_several_notations() {
    let formula = normalised(3, 4);
    assert_eq!(
        formula.to_string(),
        "y[i] = (x[i] - 3) / sqrt(mean_x) + exp(x[i])      i < 8\n  mean_x = mean{i<8}(x[i]^2)"
    );
    assert_eq!(
        formula.latex(),
        "\\begin{align*}\n\
         y_{i} &= \\frac{x_{i} - 3}{\\sqrt{\\mathit{mean\\_x}}} + \\exp\\left(x_{i}\\right) && i < 8 \\\\\n\
         \\quad \\mathit{mean\\_x} &= \\operatorname*{mean}_{i < 8}\\left({x_{i}}^{2}\\right)\n\
         \\end{align*}"
    );
    let x = "<msub><mi>x</mi><mrow><mrow><mi>i</mi></mrow></mrow></msub>";
    let range = "<mrow><mrow><mi>i</mi></mrow><mo>&lt;</mo><mrow><mn>8</mn></mrow></mrow>";
    let lines: Vec<String> = formula.mathml().lines().map(str::to_owned).collect();
    assert_eq!(
        lines[0],
        format!(
            "<p><math displaystyle=\"true\">{}<mo>=</mo><mrow><mfrac><mrow><mrow>{x}<mo>−</mo><mn>3</mn></mrow></mrow>\
             <mrow><msqrt><mi>mean_x</mi></msqrt></mrow></mfrac><mo>+</mo><mrow><mi>exp</mi><mrow>\
             <mo fence=\"true\">(</mo>{x}<mo fence=\"true\">)</mo></mrow></mrow></mrow>\
             <mspace width=\"2em\"/>{range}</math></p>",
            x.replace(">x<", ">y<")
        )
    );
    assert_eq!(lines.len(), 2);
}

#[test]
fn of_two_formulas_what_is_not_the_same_is_marked() {
    let texts = |one: &Formula, other: &Formula| marked(one, other).map(|formula| formula.to_string());
    let first = normalised(3, 4);
    assert_eq!(texts(&first, &first), [first.to_string(), first.to_string()]);
    let [one, other] = texts(&first, &normalised(4, 4));
    assert!(one.starts_with("y[i] = (x[i] - ⟦3⟧) / sqrt(mean_x) + exp(x[i]) "), "{one}");
    assert!(other.starts_with("y[i] = (x[i] - ⟦4⟧) / sqrt(mean_x) + exp(x[i]) "), "{other}");
    // The definition of a name is compared, not the name.
    let mut renamed = normalised(3, 6);
    renamed.definitions[0].name = "other".into();
    let [one, other] = texts(&first, &renamed);
    assert!(one.ends_with(" i < 8\n  mean_x = mean{i<8}(⟦x[i]^2⟧)"), "{one}");
    assert!(other.ends_with(" i < 8\n  other = mean{i<8}(⟦x[i]^3⟧)"), "{other}");
    renamed.definitions[0].value = first.definitions[0].value.clone();
    assert!(texts(&first, &renamed).iter().all(|text| !text.contains('⟦')));
    // A family that the other formula does not have with the same range.
    let mut longer = first.clone();
    longer.pieces[0].ranges[0].to = AffineIndex::constant(9);
    assert!(texts(&first, &longer).iter().all(|text| text.starts_with("y[i] = ⟦(x[i] - 3)")), "{longer}");
    // A mark does not bind like brackets.
    let constant = |name: &str| Expression::Constant(name.into());
    let times_c = |factor: Expression| {
        let mut formula = first.clone();
        formula.pieces[0].value = Expression::Product(vec![(factor, 2), (constant("c"), 2)]);
        formula
    };
    let sum = Expression::Sum(vec![(Rational::ONE, constant("a")), (Rational::ONE, constant("b"))]);
    let [one, other] = texts(&times_c(sum), &times_c(Expression::Exp(Box::new(constant("a")))));
    assert!(
        one.starts_with("y[i] = (⟦a + b⟧)·c ") && other.starts_with("y[i] = ⟦exp(a)⟧·c "),
        "{one}\n{other}"
    );
}
