//! Parameters of a case.

use volta_case::NamedContents;

use super::{Element, FieldPlace, Region, Role, Sign};
use crate::number::format::Formats;
use crate::number::{Extended, Rational};
use crate::term::Integers;

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
    /// In the last two dimensions 1 on and below the diagonal, 0 above.
    LowerTriangular,
    /// In the last two dimensions one unknown an element of this part, and beside it the same value in every element.
    Partly(Region, Extended),
}

impl Contents {
    /// What a tensor holds of which nothing is said.
    pub fn of_role(role: Role) -> Contents {
        match role {
            Role::In | Role::InOut => Contents::Symbolic,
            Role::Out | Role::Scratch | Role::Ignored => Contents::Undefined,
        }
    }
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
    /// Through the tensor of structs that it is a field of, whose name is that of the parameter up to its first point:
    /// `x.scale` is a field of `x`. Its elements lie in the order of the structs.
    Field(FieldPlace),
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

impl Param {
    /// What arguments call it: its name, or that of the tensor of structs that it is a field of.
    pub fn argument(&self) -> &str {
        match self.binding {
            Binding::Argument | Binding::Variable => &self.name,
            Binding::Field(_) => self.name.split_once('.').map_or(self.name.as_str(), |(structs, _)| structs),
        }
    }

    /// The places among `params` of those that arguments call by a name: one, or the fields of a tensor of structs.
    pub fn called<'p>(params: &'p [Param], name: &'p str) -> impl Iterator<Item = usize> + 'p {
        params.iter().enumerate().filter(move |(_, param)| param.argument() == name).map(|(at, _)| at)
    }

    /// The names of what arguments are by default, in order: each parameter, and each tensor of structs once.
    pub fn declared(params: &[Param]) -> Vec<&str> {
        let mut names: Vec<&str> =
            params.iter().filter(|param| param.binding != Binding::Variable).map(Param::argument).collect();
        names.dedup();
        names
    }

    /// The types that its elements have on the two sides, or the one of both.
    pub fn elements(&self) -> [Element; 2] {
        match self.kind {
            ParamKind::Tensor { reference, opt, .. } => [reference, opt],
            ParamKind::Scalar { element, .. } => [element; 2],
        }
    }

    /// The integers that its elements are, which the types of both sides hold; `None` for reals.
    pub fn integers(&self) -> Option<Integers> {
        let [reference, opt] = self.elements().map(Integers::of);
        match (reference, opt) {
            (Some(one), Some(other)) => Some(one.common(other)),
            (one, other) => one.or(other),
        }
    }

    /// The float formats in which the two sides keep its elements.
    pub fn formats(&self) -> Formats {
        let float = |element| match element {
            Element::Float(format) => Some(format),
            Element::Int { .. } | Element::Bool => None,
        };
        self.elements().into_iter().filter_map(float).collect()
    }

    /// The sign assumption of its symbolic values.
    pub fn sign(&self) -> Sign {
        match &self.kind {
            ParamKind::Tensor { sign, .. } => *sign,
            ParamKind::Scalar { value: ScalarValue::Symbolic(sign), .. } => *sign,
            ParamKind::Scalar { value: ScalarValue::Number(_), .. } => Sign::Any,
        }
    }
}
