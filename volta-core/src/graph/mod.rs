//! Graphs of tensor operators: what a side of a case computes, as data instead of as a kernel.
//!
//! A [`Graph`] is a list of values, each a tensor with a shape and an element type. A value is a tensor of the case, the
//! elements of an earlier value under another shape, a concatenation, or an instance of one [`Construct`]:
//!
//! ```text
//! y[i, j] = Σ{k < 64} x[i, k]·w[j, k]      i < 32, j < 16
//! ```
//!
//! Every operator of the [`library`] is a few of these. [`text`] reads them in the notation in which formulas are
//! printed, [`check`] finds what is wrong with a graph, and [`evaluate()`] turns one into terms.

mod apply;
pub mod build;
pub mod check;
pub mod evaluate;
mod function;
mod lanes;
pub mod library;
pub mod listed;
mod order;
mod plan;
pub mod text;
pub mod trace;

use volta_case::Element;

use crate::number::Extended;

pub use evaluate::evaluate;
pub use function::{Function, Meaning};
pub use listed::{Listing, Operation, OperationId};

/// A graph that is a step of a side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// What messages call it: its file, or the operator that it is.
    pub name: String,
    /// Its values, each after those that it is computed from.
    pub values: Vec<GraphValue>,
    /// The tensors of the case that it writes, each with a value.
    pub outputs: Vec<(String, ValueId)>,
}

/// The number of a value in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub usize);

/// A tensor that a graph reads or computes.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphValue {
    /// Its name in messages.
    pub name: String,
    /// Where in the text of the graph it is defined: `nodes[3]`.
    pub path: String,
    /// The type of its elements. Floats are reals in every type; integers are those of the type.
    pub element: Element,
    /// Its dimensions, outermost first; none is one element.
    pub shape: Vec<u64>,
    /// How it is made.
    pub definition: ValueDefinition,
}

/// How a value is made.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueDefinition {
    /// The tensor or scalar of the case with this name, as it is before the step.
    Tensor(String),
    /// The elements of another value in row-major order, under another shape.
    View(ValueId),
    /// Values one after the other along a dimension.
    Concatenation(Vec<ValueId>, usize),
    /// An expression for each element.
    Construct(Construct),
    /// Elements one by one.
    Listed(Listing),
}

/// `out[i…] = reduce over j… of expr`.
///
/// The variables of the expression are the indices of the value, outermost first, and then those that are reduced over.
#[derive(Clone, Debug, PartialEq)]
pub struct Construct {
    /// The extents of the variables that are reduced over.
    pub over: Vec<u64>,
    /// How the values of the expression are combined, in the order of the variables; `None` where there is one.
    pub reduce: Option<Reduce>,
    /// The expression.
    pub expr: Expr,
}

/// How the values of an expression are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduce {
    /// The operation.
    pub with: Combination,
    /// Of these indices of the value, this one runs from 0 to its place: an element combines the expression's values up
    /// to its own.
    pub prefix: Option<usize>,
}

/// The operations that combine values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combination {
    /// Their sum; of none 0
    Sum,
    /// Their product; of none 1
    Product,
    /// The greatest
    Max,
    /// The least
    Min,
    /// The place of the greatest, of several the first
    ArgMax,
    /// The place of the least, of several the first
    ArgMin,
}

impl Combination {
    /// All operations, with the words that name them.
    pub const WORDS: [(&'static str, Combination); 8] = [
        ("Σ", Combination::Sum),
        ("sum", Combination::Sum),
        ("Π", Combination::Product),
        ("prod", Combination::Product),
        ("max", Combination::Max),
        ("min", Combination::Min),
        ("argmax", Combination::ArgMax),
        ("argmin", Combination::ArgMin),
    ];

    /// Whether the result is a place rather than one of the values.
    pub fn is_place(self) -> bool {
        match self {
            Combination::ArgMax | Combination::ArgMin => true,
            Combination::Sum | Combination::Product | Combination::Max | Combination::Min => false,
        }
    }
}

/// An expression in the variables of a construct.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number. Beside floats it is the nearest one of their type, of f32 for narrower types.
    Number(Extended),
    /// A whole number that depends on the variables.
    Index(Indexing),
    /// An element of an earlier value.
    Element(Read),
    /// A function of expressions, as many as it takes.
    Apply(Function, Vec<Expr>),
}

/// An element of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The value.
    pub value: ValueId,
    /// One index for each of its dimensions.
    pub at: Vec<At>,
    /// What is read where an index lies outside. `None` leaves the value of the expression out of what is combined.
    pub outside: Option<Extended>,
}

/// An index of a read.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// An affine function of the variables.
    Affine(Indexing),
    /// A whole number that is computed: the read gathers. It must lie inside, whatever the inputs are.
    Computed(Expr),
}

/// `(constant + Σ coefficient · variable) / divisor`. Where it is no whole number, it lies outside of every tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Indexing {
    /// The constant.
    pub constant: i64,
    /// Variables with their coefficients.
    pub terms: Vec<(usize, i64)>,
    /// The divisor; 0 stands for 1, so that the default is the number 0.
    pub divisor: i64,
}

impl Indexing {
    /// A constant.
    pub fn number(constant: i64) -> Indexing {
        Indexing { constant, ..Indexing::default() }
    }

    /// A variable.
    pub fn variable(variable: usize) -> Indexing {
        Indexing { terms: vec![(variable, 1)], ..Indexing::default() }
    }

    /// The divisor, at least 1.
    pub fn divisor(&self) -> i64 {
        self.divisor.max(1)
    }

    /// The numerator's least and greatest value, for variables from 0 up to below these extents; `None` beyond 64 bits.
    pub fn bounds(&self, extents: &[u64]) -> Option<[i64; 2]> {
        let (mut low, mut high) = (self.constant, self.constant);
        for (variable, coefficient) in &self.terms {
            let last = i64::try_from(extents.get(*variable)?.saturating_sub(1)).ok()?;
            let reach = coefficient.checked_mul(last)?;
            low = low.checked_add(reach.min(0))?;
            high = high.checked_add(reach.max(0))?;
        }
        Some([low, high])
    }
}

impl Expr {
    fn visit_reads(&self, see: &mut dyn FnMut(ValueId)) {
        match self {
            Expr::Number(_) | Expr::Index(_) => {}
            Expr::Apply(_, operands) => operands.iter().for_each(|operand| operand.visit_reads(see)),
            Expr::Element(read) => {
                see(read.value);
                for at in &read.at {
                    match at {
                        At::Affine(_) => {}
                        At::Computed(index) => index.visit_reads(see),
                    }
                }
            }
        }
    }
}

impl GraphValue {
    /// Calls `see` for each value that it is computed from.
    pub fn visit_operands(&self, see: &mut dyn FnMut(ValueId)) {
        match &self.definition {
            ValueDefinition::Tensor(_) => {}
            ValueDefinition::View(source) => see(*source),
            ValueDefinition::Concatenation(parts, _) => parts.iter().for_each(|part| see(*part)),
            ValueDefinition::Construct(construct) => construct.expr.visit_reads(see),
            ValueDefinition::Listed(listing) => listing.visit_reads(see),
        }
    }

    /// The number of its elements.
    pub fn count(&self) -> u64 {
        self.shape.iter().fold(1, |count, extent| count.saturating_mul(*extent))
    }
}

impl Graph {
    /// A value.
    ///
    /// # Panics
    /// When it is of another graph.
    pub fn value(&self, id: ValueId) -> &GraphValue {
        &self.values[id.0]
    }

    /// The names of the tensors of the case that it reads.
    pub fn inputs(&self) -> impl Iterator<Item = (&str, &GraphValue)> {
        self.values.iter().filter_map(|value| match &value.definition {
            ValueDefinition::Tensor(name) => Some((name.as_str(), value)),
            ValueDefinition::View(_)
            | ValueDefinition::Concatenation(..)
            | ValueDefinition::Construct(_)
            | ValueDefinition::Listed(_) => None,
        })
    }
}

/// Something wrong with a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Where in the text of the graph: `nodes[3].formula`.
    pub path: String,
    /// Its bytes in the text at that path, if it is a part of it.
    pub span: Option<(usize, usize)>,
    /// One sentence: lowercase, no period.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Wrong {
    /// Something wrong at a path.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Wrong {
        Wrong { path: path.into(), span: None, message: message.into(), help: None }
    }
}

/// How a shape is written: `[4, 8]`.
pub fn spell_shape(shape: &[u64]) -> String {
    let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
    format!("[{}]", extents.join(", "))
}
