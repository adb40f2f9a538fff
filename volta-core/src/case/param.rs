//! Parameters of a case.

use volta_case::NamedContents;

use super::{Comparison, Element, Elements, FieldPlace, Region, Role, Sign};
use crate::number::format::{Formats, has_sign};
use crate::number::{Extended, Rational};
use crate::term::Integers;

/// The contents of a tensor before the launch.
#[derive(Clone, Debug, PartialEq)]
pub enum Contents {
    /// An unknown real (or integer) in each element.
    Symbolic,
    /// Nothing was written.
    Undefined,
    /// The same value in every element.
    Fill(Extended),
    /// Element `i` is `i`.
    Iota,
    /// The elements, row-major.
    List(Vec<Extended>),
    /// In the last two dimensions, 1 on and below the diagonal, 0 above.
    LowerTriangular,
    /// In the last two dimensions, an unknown in each element of this region, and this value in every other element.
    Partly(Region, Extended),
    /// Addresses in other tensors, for kernels that take an array of pointers; nothing is the null pointer.
    Pointers(Vec<Option<TensorAddress>>),
}

/// The address of an element of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorAddress {
    /// The tensor, by the name that arguments use.
    pub of: String,
    /// The element, by its row-major number; the number of elements is the end of the tensor.
    pub at: u64,
}

impl Contents {
    /// The default contents of a tensor with this role.
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
    /// Its kind.
    pub kind: ParamKind,
    /// How it is passed to a kernel.
    pub binding: Binding,
    /// How its elements are compared, if it is an output.
    pub compare: Comparison,
}

/// How a [`Param`] is passed to a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// As an argument.
    Argument,
    /// As a `.const` or `.global` variable of the module, by its name (rule M5).
    Variable,
    /// As a field of a tensor of structs, whose name is that of the parameter up to its first period: `x.scale` is a
    /// field of `x`. Its elements are in the order of the structs.
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
        /// Its role.
        role: Role,
        /// Its contents before the launch.
        contents: Contents,
        /// What is assumed of every element, when symbolic.
        assumed: Assumed,
    },
    /// A scalar launched with this value.
    Scalar {
        /// Its type.
        element: Element,
        /// Its value.
        value: ScalarValue,
    },
}

impl ParamKind {
    /// An array of pointers, which kernels read.
    pub fn of_pointers(pointers: Vec<Option<TensorAddress>>) -> ParamKind {
        let word = Element::Int { bytes: 8, signed: false };
        ParamKind::Tensor {
            reference: word,
            opt: word,
            shape: vec![pointers.len() as u64],
            role: Role::In,
            contents: Contents::Pointers(pointers),
            assumed: Assumed::default(),
        }
    }
}

/// What is assumed of every symbolic element of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Assumed {
    /// Its sign.
    pub sign: Sign,
    /// For integers, the least and the greatest value.
    pub range: Option<[i64; 2]>,
    /// For floats, the least and the greatest number (rule B2).
    pub floats: Option<[f64; 2]>,
    /// Of all elements together.
    pub elements: Elements,
}

impl From<Sign> for Assumed {
    fn from(sign: Sign) -> Assumed {
        Assumed { sign, ..Assumed::default() }
    }
}

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub enum ScalarValue {
    /// A number; floats are rounded to nearest in their type, integers must fit.
    Number(Extended),
    /// Unknown, with what is assumed of it.
    Symbolic(Assumed),
}

impl ScalarValue {
    /// An integer.
    pub fn integer(value: i64) -> ScalarValue {
        ScalarValue::Number(Extended::Finite(Rational::from_integer(value)))
    }
}

impl Param {
    /// A parameter each of whose elements is compared with that of the other side, if it is an output.
    pub fn new(name: impl Into<String>, kind: ParamKind, binding: Binding) -> Param {
        Param { name: name.into(), kind, binding, compare: Comparison::Each }
    }

    /// One element of a list of contents, as a tensor that holds nothing else: numbers of a list are converted together.
    /// `None` for other contents.
    pub fn listed(&self, element: u64) -> Option<Param> {
        let ParamKind::Tensor { reference, opt, shape, role, contents: Contents::List(list), assumed } =
            &self.kind
        else {
            return None;
        };
        let contents = Contents::Fill(list.get(usize::try_from(element).ok()?)?.clone());
        let (shape, assumed) = (shape.clone(), *assumed);
        let kind =
            ParamKind::Tensor { reference: *reference, opt: *opt, shape, role: *role, contents, assumed };
        Some(Param::new(self.name.clone(), kind, self.binding))
    }

    /// Whether its elements are compared as a multiset.
    pub fn is_set(&self) -> bool {
        self.compare == Comparison::Set
    }

    /// The name by which arguments refer to it: its own, or that of the tensor of structs that it is a field of.
    pub fn argument(&self) -> &str {
        match self.binding {
            Binding::Argument | Binding::Variable => &self.name,
            Binding::Field(_) => self.name.split_once('.').map_or(self.name.as_str(), |(structs, _)| structs),
        }
    }

    /// The indices in `params` of the parameters to which an argument's name refers: one, or the fields of a tensor of
    /// structs.
    pub fn called<'p>(params: &'p [Param], name: &'p str) -> impl Iterator<Item = usize> + 'p {
        params.iter().enumerate().filter(move |(_, param)| param.argument() == name).map(|(at, _)| at)
    }

    /// The names of the default arguments, in order: each parameter that is passed as an argument, and each tensor of
    /// structs once.
    pub fn declared(params: &[Param]) -> Vec<&str> {
        let mut names: Vec<&str> =
            params.iter().filter(|param| param.binding != Binding::Variable).map(Param::argument).collect();
        names.dedup();
        names
    }

    /// The element types on the two sides.
    pub fn elements(&self) -> [Element; 2] {
        match self.kind {
            ParamKind::Tensor { reference, opt, .. } => [reference, opt],
            ParamKind::Scalar { element, .. } => [element; 2],
        }
    }

    /// What is assumed of its symbolic elements; `None` if it has none.
    pub fn assumed(&self) -> Option<Assumed> {
        match &self.kind {
            ParamKind::Tensor { assumed, contents: Contents::Symbolic | Contents::Partly(..), .. }
            | ParamKind::Scalar { value: ScalarValue::Symbolic(assumed), .. } => Some(*assumed),
            ParamKind::Tensor { .. } | ParamKind::Scalar { value: ScalarValue::Number(_), .. } => None,
        }
    }

    /// The number of its elements.
    pub fn count(&self) -> u64 {
        match &self.kind {
            ParamKind::Tensor { shape, .. } => {
                shape.iter().fold(1, |count, length| count.saturating_mul(*length))
            }
            ParamKind::Scalar { .. } => 1,
        }
    }

    /// Whether no two of its symbolic elements are equal.
    pub fn is_distinct(&self) -> bool {
        match self.assumed().map(|assumed| assumed.elements) {
            Some(Elements::Distinct | Elements::Permutation) => true,
            Some(Elements::Any) | None => false,
        }
    }

    /// The integers that its elements may be, which the types of both sides hold; `None` for reals.
    pub fn integers(&self) -> Option<Integers> {
        let [reference, opt] = self.elements().map(Integers::of);
        let of_types = match (reference, opt) {
            (Some(one), Some(other)) => one.common(other),
            (one, other) => one.or(other)?,
        };
        let Some(assumed) = self.assumed() else { return Some(of_types) };
        let of = match assumed.elements {
            Elements::Permutation => of_types.within(0, i128::from(self.count()) - 1),
            Elements::Any | Elements::Distinct => of_types,
        };
        let of = assumed.range.map_or(of, |[least, greatest]| of.within(least.into(), greatest.into()));
        Some(match assumed.sign {
            Sign::Any | Sign::Nonzero => of,
            Sign::Positive => of.within(1, of.greatest),
            Sign::NonNegative => of.within(0, of.greatest),
            Sign::Negative => of.within(of.least, -1),
            Sign::NonPositive => of.within(of.least, 0),
        })
    }

    /// The pointers that it holds, if it is an array of pointers.
    pub fn pointers(&self) -> Option<&[Option<TensorAddress>]> {
        match &self.kind {
            ParamKind::Tensor { contents: Contents::Pointers(pointers), .. } => Some(pointers),
            ParamKind::Tensor { .. } | ParamKind::Scalar { .. } => None,
        }
    }

    /// The float formats of its elements on the two sides.
    pub fn formats(&self) -> Formats {
        let float = |element| match element {
            Element::Float(format) => Some(format),
            Element::Int { .. } | Element::Bool => None,
        };
        self.elements().into_iter().filter_map(float).collect()
    }

    /// Whether values of its types satisfy what is assumed of them.
    pub fn has_values(&self) -> bool {
        if let Some(of) = self.integers() {
            let (least, greatest, nonzero) = (of.least, of.greatest, self.sign() == Sign::Nonzero);
            let suffice = !self.is_distinct() || i128::from(self.count()) <= of.places(nonzero);
            if least > greatest || nonzero && (least, greatest) == (0, 0) || !suffice {
                return false;
            }
        }
        match self.sign() {
            // All types have 1.
            Sign::Any | Sign::Positive | Sign::NonNegative | Sign::Nonzero => true,
            Sign::Negative | Sign::NonPositive => self.elements().into_iter().all(has_signs),
        }
    }

    /// The sign of its symbolic values: the assumption, or what a format without signs leaves of it.
    pub fn sign(&self) -> Sign {
        let symbolic = self.assumed().map(|assumed| assumed.sign);
        if self.elements().into_iter().all(has_signs) {
            return symbolic.unwrap_or_default();
        }
        match symbolic {
            None => Sign::Any,
            Some(Sign::Any | Sign::NonNegative | Sign::Nonzero | Sign::Positive) => Sign::Positive,
            Some(sign @ (Sign::Negative | Sign::NonPositive)) => sign,
        }
    }
}

/// Whether a type has negative values and zero, if it is one of floats.
fn has_signs(element: Element) -> bool {
    match element {
        Element::Float(format) => has_sign(format),
        Element::Int { .. } | Element::Bool => true,
    }
}
