//! Expands formulas: the term of each element, one addend after the other. Independent of the code that finds formulas.

use std::collections::BTreeMap;

use volta_core::decide::InputInfo;
use volta_core::formula::{AffineIndex, Expression, Formula, IndexRange, Over};
use volta_core::number::Rational;
use volta_core::number::format::{Format, decode};
use volta_core::program::InstId;
use volta_core::term::{Constant, InputId, Store, TermId, TermOp};

/// The value of an output element according to a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// A concrete number.
    Bits(u64),
    /// A term of the store.
    Term(TermId),
    /// The formula has no form for it.
    Nothing,
}

/// The elements of all pieces of a formula, by output and row-major number; terms are appended to a store.
///
/// # Panics
/// When two pieces contain the same element, or one that its output does not have.
pub fn expand(formula: &Formula, inputs: &[InputInfo], store: &mut Store) -> BTreeMap<(InputId, u64), Said> {
    let mut expander = Expander { formula, inputs, store };
    let mut elements = BTreeMap::new();
    for piece in &formula.pieces {
        let before = elements.len();
        let output = expander.input(&piece.output);
        for values in points(&piece.ranges, Vec::new()) {
            let element = expander.element(output, &piece.index, &values);
            let said = if let Expression::Whole(index) = &piece.value {
                Said::Bits(index.at(&values).try_into().expect("a natural number"))
            } else {
                expander.term(&piece.value, &values).map_or(Said::Nothing, Said::Term)
            };
            assert_eq!(
                elements.insert((output, element), said),
                None,
                "{}: element {element} twice",
                piece.output
            );
        }
        assert_eq!((elements.len() - before) as u64, piece.elements, "the elements of a piece are counted");
    }
    elements
}

/// All values of the variables of nested ranges, appended to the values of the enclosing variables.
fn points(ranges: &[IndexRange], around: Vec<i64>) -> Vec<Vec<i64>> {
    let mut points = vec![around];
    for range in ranges {
        let with = |point: &Vec<i64>| {
            assert_eq!(range.variable.index(), point.len(), "variables are numbered from outside to inside");
            let values = range.from.at(point)..range.to.at(point);
            values.map(|value| [&point[..], &[value]].concat()).collect::<Vec<_>>()
        };
        points = points.iter().flat_map(with).collect();
    }
    points
}

struct Expander<'f> {
    formula: &'f Formula,
    inputs: &'f [InputInfo],
    store: &'f mut Store,
}

impl Expander<'_> {
    fn input(&self, name: &str) -> InputId {
        let at = self.inputs.iter().position(|input| input.name == name);
        InputId::from_index(at.unwrap_or_else(|| panic!("no parameter {name}")))
    }

    fn element(&self, input: InputId, index: &[AffineIndex], values: &[i64]) -> u64 {
        let shape = &self.inputs[input.index()].shape;
        assert_eq!(shape.len(), index.len(), "an index for each dimension");
        shape.iter().zip(index).fold(0, |element, (extent, index)| {
            let at = u64::try_from(index.at(values)).expect("an index within the tensor");
            assert!(at < *extent, "an index within the tensor");
            element * extent + at
        })
    }

    fn number(&mut self, value: &Rational) -> TermId {
        self.store.intern(Constant { exact: value.clone().into(), literal: None, rounded: None })
    }

    /// The literal that rule V9 reads as the logarithm.
    fn literal(&mut self, bits: u64) -> TermId {
        let exact = decode(Format::F32, bits).extended().expect("a number");
        self.store.intern(Constant { exact, literal: Some((Format::F32, bits)), rounded: None })
    }

    /// The logarithm that a literal stands for: rule V9 reads it in exponents.
    fn logarithm(&mut self, literal: f32) -> TermId {
        let literal = self.literal(u64::from(literal.to_bits()));
        let power = self.apply(TermOp::Exp2, &[literal]);
        self.apply(TermOp::Log2, &[power])
    }

    fn apply(&mut self, op: TermOp, operands: &[TermId]) -> TermId {
        self.store.apply(op, operands, InstId(0))
    }

    fn fold(&mut self, op: TermOp, terms: impl IntoIterator<Item = TermId>) -> Option<TermId> {
        terms.into_iter().reduce(|a, b| self.apply(op, &[a, b]))
    }

    /// The term of an expression; `None` if it has no form.
    fn term(&mut self, expression: &Expression, values: &[i64]) -> Option<TermId> {
        let mut list = |parts: &mut dyn Iterator<Item = &Expression>| -> Option<Vec<TermId>> {
            parts.map(|part| self.term(part, values)).collect()
        };
        Some(match expression {
            Expression::Number(value) => self.number(value),
            Expression::Whole(index) => self.number(&Rational::from_integer(index.at(values))),
            Expression::Constant(name) => match &**name {
                "log2(e)" => self.logarithm(std::f32::consts::LOG2_E),
                "log2(10)" => self.logarithm(std::f32::consts::LOG2_10),
                "true" | "false" => {
                    let [zero, one] = [Rational::ZERO, Rational::ONE].map(|value| self.number(&value));
                    let operands = if &**name == "true" { [zero, one] } else { [one, zero] };
                    self.apply(TermOp::Less, &operands)
                }
                _ => return None,
            },
            Expression::Element(name, index) => {
                let input = self.input(name);
                TermId::input(input, self.element(input, index, values))
            }
            Expression::Name(at, arguments) => {
                let arguments: Vec<i64> = arguments.iter().map(|argument| argument.at(values)).collect();
                let definition = &self.formula.definitions[*at];
                assert_eq!(definition.parameters as usize, arguments.len(), "an argument for each parameter");
                self.term(&definition.value, &arguments)?
            }
            Expression::Sum(addends) => {
                let parts = list(&mut addends.iter().map(|(_, part)| part))?;
                let mut terms = Vec::new();
                for ((number, _), part) in addends.iter().zip(parts) {
                    let number = self.number(number);
                    terms.push(self.apply(TermOp::Mul, &[number, part]));
                }
                self.fold(TermOp::Add, terms).expect("an addend")
            }
            Expression::Product(factors) => {
                let parts = list(&mut factors.iter().map(|(part, _)| part))?;
                let mut product = self.number(&Rational::ONE);
                for ((_, power), part) in factors.iter().zip(parts) {
                    let op = if *power > 0 { TermOp::Mul } else { TermOp::Div };
                    for _ in 0..power.abs() / 2 {
                        product = self.apply(op, &[product, part]);
                    }
                    if power % 2 != 0 {
                        let root = self.apply(TermOp::Sqrt, &[part]);
                        product = self.apply(op, &[product, root]);
                    }
                }
                product
            }
            Expression::Exp(part) => {
                let part = self.term(part, values)?;
                let logarithm = self.literal(u64::from(std::f32::consts::LOG2_E.to_bits()));
                let exponent = self.apply(TermOp::Mul, &[part, logarithm]);
                self.apply(TermOp::Exp2, &[exponent])
            }
            Expression::Apply(op @ (TermOp::Max | TermOp::Min | TermOp::And | TermOp::Xor), parts) => {
                let parts = list(&mut parts.iter())?;
                self.fold(*op, parts).expect("an operand")
            }
            Expression::Apply(op, parts) => {
                let parts = list(&mut parts.iter())?;
                self.apply(*op, &parts)
            }
            Expression::Positive(part) => {
                let [zero, part] = [self.number(&Rational::ZERO), self.term(part, values)?];
                self.apply(TermOp::Less, &[zero, part])
            }
            Expression::Zero(part) => {
                let [zero, part] = [self.number(&Rational::ZERO), self.term(part, values)?];
                self.apply(TermOp::Equal, &[zero, part])
            }
            Expression::Marked(part) => self.term(part, values)?,
            Expression::Over(over, ranges, body) => {
                let points = points(ranges, values.to_vec());
                let parts: Option<Vec<TermId>> = points.iter().map(|point| self.term(body, point)).collect();
                let parts = parts?;
                let count = parts.len() as i64;
                let (op, share) = match over {
                    Over::Sum => (TermOp::Add, None),
                    Over::Mean => (TermOp::Add, Rational::from_integer(count).recip()),
                    Over::Product => (TermOp::Mul, None),
                    Over::Max => (TermOp::Max, None),
                    Over::Min => (TermOp::Min, None),
                    Over::All => panic!("elements of an output within an expression"),
                };
                let whole = self.fold(op, parts).expect("a range that is not empty");
                match share {
                    None => whole,
                    Some(share) => {
                        let share = self.number(&share);
                        self.apply(TermOp::Mul, &[share, whole])
                    }
                }
            }
        })
    }
}
