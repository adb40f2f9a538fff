//! A formula, as data: layout is for those who print it.

use std::sync::Arc;

use crate::index_type;
use crate::number::Rational;
use crate::term::TermOp;

index_type!(
    /// An index that runs over a range: its number counts those in whose ranges it stands.
    IndexVariable,
    "i"
);

/// What is put together over a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub enum Over {
    /// The sum.
    Sum,
    /// The sum, divided by the number of addends; those of sums right inside count too.
    Mean,
    /// The product.
    Product,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Elements of an output, each for itself.
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
    /// What runs.
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
    /// A whole number that depends on indices.
    Whole(AffineIndex),
    /// A constant with a name, or in brackets why there is no expression.
    Constant(Arc<str>),
    /// An element of an input, by its name.
    Element(Arc<str>, Vec<AffineIndex>),
    /// What a definition, by its position, says with these in place of its parameters.
    Name(usize, Vec<AffineIndex>),
    /// A linear combination.
    Sum(Vec<(Rational, Expression)>),
    /// A product of powers, in halves: 2 is the thing itself, −1 one over its root.
    Product(Vec<(Expression, i32)>),
    /// `e` to some power.
    Exp(Box<Expression>),
    /// An operation; `max`, `min` and conditions may have more operands than two.
    Apply(TermOp, Vec<Expression>),
    /// The expression is above zero.
    Positive(Box<Expression>),
    /// The expression is zero.
    Zero(Box<Expression>),
    /// Over ranges, the first outermost.
    Over(Over, Vec<IndexRange>, Box<Expression>),
    /// What another formula has otherwise; no formula of one kernel has such a part.
    Marked(Box<Expression>),
}

/// Elements of an output that are one expression in their indices.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct Family {
    /// The output.
    pub output: Arc<str>,
    /// The index of an element.
    pub index: Vec<AffineIndex>,
    /// What the index runs over.
    pub ranges: Vec<IndexRange>,
    /// How many elements these are.
    pub elements: u64,
    /// What they are.
    pub value: Expression,
}

/// A name for what stands in several places, or is long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct Definition {
    /// What it is called.
    pub name: String,
    /// The number of its parameters, which are the first variables.
    pub parameters: u32,
    /// What it is.
    pub value: Expression,
}

/// What a kernel computes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "kebab-case"))]
pub struct Formula {
    /// In the order of outputs and of their elements.
    pub pieces: Vec<Family>,
    /// Names, each before those in which it stands.
    pub definitions: Vec<Definition>,
    /// Names of inputs and outputs, which no index is called by.
    pub tensors: Vec<Arc<str>>,
    /// Pieces that are not listed, for there are too many, and how many elements these are.
    pub omitted: (u64, u64),
    /// Elements of which there is nothing to list: their forms, taken together, are too large.
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

    /// Itself and another one some times.
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

    /// The value for values of all variables, by number.
    pub fn at(&self, values: &[i64]) -> i64 {
        self.terms.iter().fold(self.constant, |sum, (variable, times)| sum + times * values[variable.index()])
    }

    /// With other expressions in place of variables.
    #[must_use]
    pub fn replaced(&self, by: &impl Fn(IndexVariable) -> AffineIndex) -> AffineIndex {
        let terms = self.terms.iter();
        terms.fold(AffineIndex::constant(self.constant), |sum, (variable, times)| {
            sum.plus(&by(*variable), *times)
        })
    }
}
