//! Formulas as data; the layout is separate.

use std::sync::Arc;

use crate::index_type;
use crate::number::Rational;
use crate::term::TermOp;

index_type!(
    /// The index variable of a range, numbered by nesting depth.
    IndexVariable,
    "i"
);

/// An operation over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Over {
    /// The sum.
    Sum,
    /// The sum divided by the number of addends, directly nested sums included.
    Mean,
    /// The product.
    Product,
    /// The maximum.
    Max,
    /// The minimum.
    Min,
    /// Separate elements of an output.
    All,
}

/// `constant + Σ coefficient · variable`
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct AffineIndex {
    /// The constant.
    pub constant: i64,
    /// Each variable and its coefficient, which is not zero; in order.
    pub terms: Vec<(IndexVariable, i64)>,
}

/// `from ≤ variable < to`
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct IndexRange {
    /// The variable.
    pub variable: IndexVariable,
    /// The first value.
    pub from: AffineIndex,
    /// One more than the last value.
    pub to: AffineIndex,
}

/// An expression in indices and elements of inputs.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Expression {
    /// A number.
    Number(Rational),
    /// An integer that depends on indices.
    Whole(AffineIndex),
    /// A named constant, or in brackets the reason why there is no expression.
    Constant(Arc<str>),
    /// An element of an input, by its name.
    Element(Arc<str>, Vec<AffineIndex>),
    /// A definition, by its position, applied to arguments.
    Name(usize, Vec<AffineIndex>),
    /// A linear combination.
    Sum(Vec<(Rational, Expression)>),
    /// A product of powers, in halves: 2 is the factor itself, −1 one over its root.
    Product(Vec<(Expression, i32)>),
    /// A power of `e`.
    Exp(Box<Expression>),
    /// An operation; `max`, `min` and conditions may have more than two operands.
    Apply(TermOp, Vec<Expression>),
    /// The expression is above zero.
    Positive(Box<Expression>),
    /// The expression is zero.
    Zero(Box<Expression>),
    /// An operation over ranges, the first outermost.
    Over(Over, Vec<IndexRange>, Box<Expression>),
    /// A part that differs from another formula; only in formulas that were compared.
    Marked(Box<Expression>),
}

impl Expression {
    /// Whether it is computed from elements of an input, definitions apart.
    pub(super) fn reads(&self, input: &str) -> bool {
        match self {
            Expression::Number(_) | Expression::Whole(_) | Expression::Constant(_) | Expression::Name(..) => {
                false
            }
            Expression::Element(name, _) => **name == *input,
            Expression::Sum(parts) => parts.iter().any(|(_, part)| part.reads(input)),
            Expression::Product(parts) => parts.iter().any(|(part, _)| part.reads(input)),
            Expression::Apply(_, parts) => parts.iter().any(|part| part.reads(input)),
            Expression::Exp(part)
            | Expression::Positive(part)
            | Expression::Zero(part)
            | Expression::Over(_, _, part)
            | Expression::Marked(part) => part.reads(input),
        }
    }
}

/// Elements of an output with one expression in their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct Family {
    /// The output.
    pub output: Arc<str>,
    /// The index of an element.
    pub index: Vec<AffineIndex>,
    /// The ranges of the indices.
    pub ranges: Vec<IndexRange>,
    /// The number of elements.
    pub elements: u64,
    /// Their value.
    pub value: Expression,
}

/// A name for a part that is repeated or long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct Definition {
    /// The name.
    pub name: String,
    /// The number of its parameters, which are the first variables.
    pub parameters: u32,
    /// The value.
    pub value: Expression,
}

/// The formula of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct Formula {
    /// In the order of outputs and of their elements.
    pub pieces: Vec<Family>,
    /// Definitions, each before those that use it.
    pub definitions: Vec<Definition>,
    /// Names of inputs and outputs, which indices must not have.
    pub tensors: Vec<Arc<str>>,
    /// The number of pieces that are not listed because there are too many, and of their elements.
    pub omitted: (u64, u64),
    /// The number of elements that are not listed because their forms together are too large.
    pub open: u64,
}

impl AffineIndex {
    /// A number.
    pub fn constant(constant: i64) -> AffineIndex {
        AffineIndex { constant, terms: Vec::new() }
    }

    /// A variable.
    pub fn variable(variable: IndexVariable) -> AffineIndex {
        AffineIndex { constant: 0, terms: vec![(variable, 1)] }
    }

    /// `self + times · other`
    #[must_use]
    pub fn plus(&self, other: &AffineIndex, times: i64) -> AffineIndex {
        let mut sum = self.clone();
        sum.constant += other.constant * times;
        for (variable, coefficient) in &other.terms {
            match sum.terms.binary_search_by_key(variable, |(known, _)| *known) {
                Ok(at) => sum.terms[at].1 += coefficient * times,
                Err(at) => sum.terms.insert(at, (*variable, coefficient * times)),
            }
        }
        sum.terms.retain(|(_, coefficient)| *coefficient != 0);
        sum
    }

    /// The value for given values of all variables, by number.
    pub fn at(&self, values: &[i64]) -> i64 {
        self.terms.iter().fold(self.constant, |sum, (variable, times)| sum + times * values[variable.index()])
    }

    /// Substitutes affine indices for variables.
    #[must_use]
    pub fn replaced(&self, by: &impl Fn(IndexVariable) -> AffineIndex) -> AffineIndex {
        let terms = self.terms.iter();
        terms.fold(AffineIndex::constant(self.constant), |sum, (variable, times)| {
            sum.plus(&by(*variable), *times)
        })
    }
}
