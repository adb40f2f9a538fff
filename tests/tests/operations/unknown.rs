//! Operations on symbolic integers: the terms of their results are evaluated at rows of operands, and compared with the
//! oracle for concrete integers.

use std::collections::HashMap;

use volta_core::case::Contents;
use volta_core::machine::{Execution, OutputValue};
use volta_core::number::{Extended, Rational};
use volta_core::term::{Fold, Store, TermId, TermOp, View, fold};

use super::run::{Form, Instruction, Random, Sort, kernel, launch, mask, output_element};

/// Rows that are tried for each choice of what is not known.
const ROWS: usize = 96;

/// What a term is at a point.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Number(Rational),
    Truth(bool),
}

/// Evaluates terms of a store where inputs have values.
struct Evaluation<'s> {
    store: &'s Store,
    at: &'s dyn Fn(usize, u64) -> u64,
    known: HashMap<TermId, Value>,
}

impl Evaluation<'_> {
    fn of(&mut self, term: TermId) -> Value {
        if let Some(value) = self.known.get(&term) {
            return value.clone();
        }
        let value = match self.store.view(term) {
            View::Input { input, element } => {
                Value::Number(Rational::from_u64((self.at)(input.index(), element)))
            }
            View::Constant(constant) => Value::Number(constant.exact.finite().expect("a number").clone()),
            View::Apply(op, operands) => {
                let operands = &operands[..op.arity()];
                // Of a choice only the arm that is taken need have a value.
                if op == TermOp::Select {
                    let holds = self.of(operands[0]) == Value::Truth(true);
                    return self.of(operands[if holds { 1 } else { 2 }]);
                }
                let values: Vec<Value> = operands.iter().map(|operand| self.of(*operand)).collect();
                apply(op, &values)
            }
        };
        self.known.insert(term, value.clone());
        value
    }
}

fn apply(op: TermOp, values: &[Value]) -> Value {
    match (op, values) {
        (TermOp::Not, [Value::Truth(a)]) => return Value::Truth(!a),
        (TermOp::And, [Value::Truth(a), Value::Truth(b)]) => return Value::Truth(*a && *b),
        (TermOp::Or, [Value::Truth(a), Value::Truth(b)]) => return Value::Truth(*a || *b),
        (TermOp::Xor, [Value::Truth(a), Value::Truth(b)]) => return Value::Truth(a != b),
        _ => {}
    }
    let number = |value: &Value| match value {
        Value::Number(number) => Extended::Finite(number.clone()),
        Value::Truth(_) => panic!("{op:?} of a truth value"),
    };
    let numbers: Vec<Extended> = values.iter().map(number).collect();
    match fold(op, &numbers.iter().collect::<Vec<_>>()) {
        Fold::Value(Extended::Finite(number)) => Value::Number(number),
        Fold::Truth(truth) => Value::Truth(truth),
        other @ (Fold::Value(_) | Fold::Undefined | Fold::Irrational) => {
            panic!("{op:?} of {values:?} is {other:?}")
        }
    }
}

/// A result's bits.
fn evaluated(outcome: &Execution, store: usize, value: OutputValue, at: &dyn Fn(usize, u64) -> u64) -> u64 {
    let term = match value {
        OutputValue::Bits(bits) => return bits,
        OutputValue::Integer(term) => term,
        OutputValue::Real(_) => panic!("an integer is a real"),
    };
    match (Evaluation { store: &outcome.stores[store], at, known: HashMap::new() }).of(term) {
        Value::Number(number) => number.to_u64().expect("a number of the tensor's type"),
        Value::Truth(_) => panic!("an integer is a truth value"),
    }
}

/// Runs an instruction of integers with each choice of its operands unknown.
pub(crate) fn check(instruction: &Instruction<'_>, rows: &[Vec<u64>], oracle: &impl Fn(&[u64]) -> Vec<u64>) {
    let is_integer = |sort: &Sort| matches!(sort, Sort::Bits(_) | Sort::Pred);
    // The bits of a float are no number.
    let is_of_floats = ["f16", "f32", "f64"].iter().any(|name| instruction.text.contains(name));
    if is_of_floats || !instruction.sources.iter().chain(instruction.results).all(is_integer) {
        return;
    }
    let mut random = Random(7);
    for unknown in 1u32..1 << instruction.sources.len() {
        let some: Vec<&Vec<u64>> =
            (0..ROWS.min(rows.len())).map(|_| &rows[(random.next() % rows.len() as u64) as usize]).collect();
        let is_unknown = |at: usize| unknown >> at & 1 == 1;
        let inputs: Vec<(u32, u64, Contents)> = instruction
            .sources
            .iter()
            .enumerate()
            .map(|(at, sort)| {
                let list =
                    some.iter().map(|row| Extended::Finite(Rational::from_u64(row[at] & mask(sort.bits()))));
                let contents =
                    if is_unknown(at) { Contents::Symbolic } else { Contents::List(list.collect()) };
                (sort.bits(), some.len() as u64, contents)
            })
            .collect();
        let outputs: Vec<_> =
            instruction.results.iter().map(|sort| (output_element(*sort), some.len() as u64)).collect();
        let text = instruction.text;
        let outcome = launch(&kernel(instruction, Form::Plain), &inputs, &outputs, 1, some.len() as u32);
        let outcome = outcome.unwrap_or_else(|why| panic!("`{text}` with {unknown:b} unknown: {why}"));
        let at = |input: usize, element: u64| {
            some[element as usize][input] & mask(instruction.sources[input].bits())
        };
        for output in &outcome.outputs {
            let (result, row) = (output.param - inputs.len(), some[output.element as usize]);
            let found = evaluated(&outcome, output.store, output.value, &at);
            assert_eq!(
                found,
                oracle(row)[result],
                "`{text}` with {unknown:b} unknown, result {result}, on {row:x?}"
            );
        }
    }
}
