//! Random instances of the laws of the algebra.
//!
//! For each variable of a law, two terms are drawn that are equal by another law, or one term twice. An instance is
//! nested in larger terms, so that laws interact as they do in kernels.

use std::collections::HashMap;

use crate::expression::{Expression, Input, Inputs, Relation, Statement, replaced};
use crate::interpreter::random::Random;
use volta_core::number::{Extended, Rational};
use volta_core::term::TermOp;

/// The nesting depth of the terms that replace variables.
const DEPTH: u32 = 2;

/// Draws instances of some laws, which are statements that two terms are equal.
pub struct Instances<'l> {
    laws: &'l [Statement],
    random: Random,
    /// Variables with assumptions, renamed apart.
    inputs: Inputs,
}

/// Two terms that are equal wherever the first is defined.
type Pair = [Expression; 2];

impl<'l> Instances<'l> {
    /// Instances that depend only on the seed.
    pub fn new(laws: &'l [Statement], seed: u64) -> Instances<'l> {
        Instances { laws, random: Random::new(seed), inputs: Inputs::default() }
    }

    /// An instance of one of the laws.
    pub fn of(mut self, law: usize) -> Statement {
        let instance = self.instance(law, DEPTH - 1);
        let [left, right] = match self.random.below(3) {
            0 => instance,
            _ => self.around(instance, 0),
        };
        let text = self.laws[law].text.clone();
        Statement { line: 0, text, inputs: self.inputs, left, right, relation: Relation::Equal }
    }

    fn instance(&mut self, law: usize, depth: u32) -> Pair {
        let Statement { inputs, left, right, .. } = &self.laws[law];
        let mut names = left.inputs();
        names.extend(right.inputs());
        let mut values: [HashMap<String, Expression>; 2] = Default::default();
        for name in names {
            let assumed = inputs.0.iter().find(|input| input.name == name);
            let pair = match assumed {
                Some(input) => {
                    let own = format!("{name}{law}");
                    if self.inputs.0.iter().all(|known| known.name != own) {
                        self.inputs.0.push(Input { name: own.clone(), ..input.clone() });
                    }
                    let own = Expression::Input(own, 0);
                    [own.clone(), own]
                }
                None => self.pair(depth),
            };
            for (values, term) in values.iter_mut().zip(pair) {
                values.insert(name.clone(), term);
            }
        }
        [replaced(left, &values[0]), replaced(right, &values[1])]
    }

    fn pair(&mut self, depth: u32) -> Pair {
        if depth == 0 {
            let leaf = self.leaf();
            return [leaf.clone(), leaf];
        }
        match self.random.below(3) {
            0 => self.pair(0),
            1 => {
                let inner = self.pair(depth - 1);
                self.around(inner, depth - 1)
            }
            _ => {
                let law = self.random.below(self.laws.len());
                self.instance(law, depth - 1)
            }
        }
    }

    /// Makes a pair the operands of an operation.
    fn around(&mut self, pair: Pair, depth: u32) -> Pair {
        let op = [TermOp::Add, TermOp::Sub, TermOp::Mul, TermOp::Max][self.random.below(4)];
        let other = self.pair(depth);
        let first = self.random.below(2) == 0;
        let sides = pair.into_iter().zip(other);
        let mut made = sides.map(|(own, other)| {
            Expression::Apply(op, if first { vec![own, other] } else { vec![other, own] })
        });
        std::array::from_fn(|_| made.next().expect("two sides"))
    }

    fn leaf(&mut self) -> Expression {
        match self.random.below(5) {
            0 => {
                let number = self.random.below(7) as i64 - 3;
                Expression::Number(Extended::Finite(Rational::from_integer(number)))
            }
            at => Expression::Input(["u", "v", "w", "z"][at - 1].to_string(), 0),
        }
    }
}
