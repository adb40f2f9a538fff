//! What a kernel is launched with.

use volta_case::NamedContents;
pub use volta_case::{Element, Launch, Role, Rules, Sign, Which, WmmaLayout};

use crate::base::budget::Budgets;
use crate::number::{Extended, Rational};

/// What a tensor holds before the launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// One unknown real (or integer) an element.
    Symbolic,
    /// Nothing was written.
    Undefined,
    /// The same value in every element.
    Fill(Extended),
    /// Element `i` is `i`.
    Iota,
    /// The elements, row-major.
    List(Vec<Extended>),
    /// A square last pair of dimensions: 1 on and below the diagonal, 0 above.
    LowerTriangular,
}

impl From<NamedContents> for Contents {
    fn from(named: NamedContents) -> Contents {
        match named {
            NamedContents::Symbolic => Contents::Symbolic,
            NamedContents::Undefined => Contents::Undefined,
            NamedContents::Iota => Contents::Iota,
            NamedContents::LowerTriangular => Contents::LowerTriangular,
        }
    }
}

/// A parameter of a case, declared once for both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ParamKind,
    /// How a kernel gets at it.
    pub binding: Binding,
}

/// How a kernel gets at a [`Param`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// By an argument.
    Argument,
    /// By its name: it is a `.const` or `.global` variable of the module (rule M5).
    Variable,
}

/// The kinds of [`Param`].
#[derive(Clone, Debug, PartialEq)]
pub enum ParamKind {
    /// A pointer to a tensor.
    Tensor {
        /// Element type in the reference.
        reference: Element,
        /// Element type in the optimized kernel.
        opt: Element,
        /// Dimensions, outermost first; empty is one element.
        shape: Vec<u64>,
        /// What it is for.
        role: Role,
        /// What it holds at first.
        contents: Contents,
        /// Assumption on every element, when symbolic.
        sign: Sign,
    },
    /// A scalar launched with this value.
    Scalar {
        /// Its type.
        element: Element,
        /// Its value.
        value: ScalarValue,
    },
}

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// A number; floats are rounded to nearest in their type, integers must fit.
    Number(Extended),
    /// Unknown, with an assumption on its sign.
    Symbolic(Sign),
}

impl ScalarValue {
    /// A whole number.
    pub fn integer(value: i64) -> ScalarValue {
        ScalarValue::Number(Extended::Finite(Rational::from_integer(value)))
    }
}

/// An argument in a side's parameter list.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// The parameter of the case with this name.
    Named(String),
    /// A literal: rounded or checked against the kernel's parameter type.
    Literal(Extended),
}

/// One kernel and how it is launched.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The PTX.
    pub ptx: String,
    /// What to call the PTX in messages: its path relative to the case.
    pub path: String,
    /// Which entry; `None` when there is only one.
    pub kernel: Option<String>,
    /// Arguments in the kernel's order; `None` is the declaration order of the case's parameters.
    pub arguments: Option<Vec<Argument>>,
    /// Its blocks and what they have.
    pub launch: Launch,
}

/// How objects are laid out in the address space; verdicts must not depend on it (rule M1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// In declaration order.
    #[default]
    Forward,
    /// In reverse order, with other gaps.
    Reverse,
}

/// Which warps and lanes of a CTA go first (rule Y8). A kernel is clean under all of these or under none; which of
/// several faults is reported, and how much was executed, may differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Warps in order, each until it can take no step; of diverged lanes those at the lowest instruction.
    #[default]
    InOrder,
    /// The last warp first; of diverged lanes those at the highest instruction, as far as they can go.
    Reversed,
    /// Any warp, any of its lanes, a few instructions at a time: a different choice for each seed. Lanes at one
    /// instruction need not go on together, so that no `activemask` can be told (rule S4), nor is there arithmetic on
    /// fragments, which are held by a whole warp.
    Shuffled(u64),
}

/// What a case chooses, and ways to run it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Rules that are relaxed or tightened; verdicts name those that are relaxed.
    pub rules: Rules,
    /// Limits.
    pub budgets: Budgets,
    /// Worker threads; 0 is one a core. Results do not depend on it.
    pub threads: usize,
    /// How memory is laid out. Results do not depend on it.
    pub layout: Layout,
    /// Switches lane-pattern detection off. Results do not depend on it.
    pub plain_terms: bool,
    /// Always use the exact clocks for races. Results do not depend on it.
    pub exact_clocks: bool,
    /// Prove each element by itself, even if it is another one with its inputs renamed. Results do not depend on it,
    /// but for steps.
    pub every_element: bool,
    /// At how many points of its own a proof is held against evaluation. Another answer is an error of the verifier.
    pub recheck: u32,
    /// Who goes first where several can.
    pub schedule: Schedule,
    /// Make the canonical forms of sample elements.
    pub forms: bool,
}
