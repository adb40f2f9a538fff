//! What a kernel is launched with.

use crate::base::budget::Budgets;
use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::term::Integers;
pub use crate::term::Sign;

/// The type of a tensor's elements or of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A float format.
    Float(Format),
    /// An integer of 8, 16, 32 or 64 bits.
    Int {
        /// Bytes: 1, 2, 4 or 8.
        bytes: u32,
        /// Two's complement.
        signed: bool,
    },
    /// A byte that is 0 or 1.
    Bool,
}

impl Element {
    /// Bytes that one element occupies.
    pub fn bytes(self) -> u32 {
        match self {
            Element::Float(format) => format.bytes(),
            Element::Int { bytes, .. } => bytes,
            Element::Bool => 1,
        }
    }

    /// Bytes and sign of an integer as bits spell it; `None` for floats.
    pub fn integer(self) -> Option<(u32, bool)> {
        match self {
            Element::Float(_) => None,
            Element::Int { bytes, signed } => Some((bytes, signed)),
            Element::Bool => Some((1, false)),
        }
    }

    /// The integers that elements are; `None` for floats.
    pub fn integers(self) -> Option<Integers> {
        match self {
            Element::Float(_) => None,
            Element::Int { bytes, signed } => Some(Integers { bits: 8 * bytes, signed }),
            Element::Bool => Some(Integers { bits: 1, signed: false }),
        }
    }

    /// The element type of that name: `f16 bf16 tf32 f32 f64 e4m3 e5m2 i8 … u64 bool`.
    pub fn parse(name: &str) -> Option<Element> {
        use Format::*;
        let float = [F16, Bf16, Tf32, F32, F64, E4m3, E5m2].into_iter().find(|format| format.name() == name);
        let int = |signed, bytes| Some(Element::Int { bytes, signed });
        float.map(Element::Float).or_else(|| match name {
            "i8" => int(true, 1),
            "i16" => int(true, 2),
            "i32" => int(true, 4),
            "i64" => int(true, 8),
            "u8" => int(false, 1),
            "bool" => Some(Element::Bool),
            "u16" => int(false, 2),
            "u32" => int(false, 4),
            "u64" => int(false, 8),
            _ => None,
        })
    }

    /// The name that [`Element::parse`] reads.
    pub fn name(self) -> &'static str {
        match self {
            Element::Float(format) => format.name(),
            Element::Int { bytes: 1, signed: true } => "i8",
            Element::Int { bytes: 2, signed: true } => "i16",
            Element::Int { bytes: 4, signed: true } => "i32",
            Element::Int { signed: true, .. } => "i64",
            Element::Int { bytes: 1, signed: false } => "u8",
            Element::Int { bytes: 2, signed: false } => "u16",
            Element::Int { bytes: 4, signed: false } => "u32",
            Element::Int { signed: false, .. } => "u64",
            Element::Bool => "bool",
        }
    }
}

/// What a tensor is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Read-only; compared to nothing (rule M4).
    In,
    /// Written and compared.
    Out,
    /// Read, written and compared.
    InOut,
    /// Written, not compared.
    Scratch,
    /// Written by one side, not compared.
    Ignored,
}

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
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
    /// Dynamic shared memory, bytes.
    pub dynamic_shared: u32,
    /// Linear numbers of the CTAs to run; `None` is all of them.
    pub ctas: Option<Vec<u64>>,
}

/// Which of the two kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Which {
    /// The reference.
    Reference,
    /// The optimized kernel, or the only one.
    Opt,
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

/// Where the elements of `wmma` fragments lie, which PTX leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WmmaLayout {
    /// Nobody knows.
    #[default]
    Unspecified,
    /// As on sm_80, of those fragments of which that is known.
    Sm80,
}

/// Relaxations (each is named in the verdict that used it) and limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Elements of an output that nobody writes are fine (rule S3).
    pub partial: bool,
    /// A returned thread's accesses are ordered by barriers that its exit released (rule Y2).
    pub exit_orders_memory: bool,
    /// A barrier that a returned thread counts for is a fault (rules Y3, Y4).
    pub strict_barriers: bool,
    /// `shfl`, `vote`, `match`, `redux` order memory (rule Y4).
    pub warp_collectives_order_memory: bool,
    /// The elements of `wmma` fragments lie where one architecture has them (rule V5).
    pub wmma_layout: WmmaLayout,
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
