//! The tensors of a launch: memory that the case or a module gives, and what it holds before the launch.

use super::bind_error::BindError;
use crate::base::budget::Held;
use crate::case::{
    Binding, Contents, Element, Param, ParamKind, Region, Role, ScalarValue, Which, bits_of, has_iota,
    number_bits,
};
use crate::number::{Extended, Rational};
use crate::program::InstId;
use crate::term::{InputId, Store, TermId};
use crate::value::{Origin, Sym, Value};
use crate::verdict::CasePart;
use std::fmt::Debug;
use std::sync::Arc;

/// The contents of a tensor before the launch.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Symbolic(InputId),
    Undefined,
    Fill(u64),
    List(Vec<u64>),
    Iota,
    /// Addresses in other tensors of the launch; none before these are placed.
    Addresses(Vec<u64>),
    /// One kind of contents in a region of the last two dimensions, with the given extents, and another outside of it.
    Partly(Region, [u64; 2], Box<[Initial; 2]>),
    /// The bytes of a variable.
    Bytes(Vec<u8>),
    /// The fields of structs.
    Fields(Fields),
    /// A variable that neither the PTX nor the case initialises (rule M5).
    NotGiven,
    /// What earlier steps of the side left.
    Left(LeftIn),
}

/// What the steps before a launch left in the case's tensors.
pub(crate) trait Earlier: Debug + Send + Sync {
    /// Whether some step wrote to a parameter.
    fn touches(&self, param: usize) -> bool;

    /// Why an element has no value, in words: what the step that wrote it made of it, or which steps wrote to others of
    /// its parameter.
    fn writers(&self, at: (usize, u64)) -> String;

    /// The value of an element; `None` where the tensor's contents before the first step are still there.
    fn value(&self, at: (usize, u64), of: Element, store: &mut Store, reader: InstId) -> Option<Value>;

    /// The memory that is kept, and what counts against the limit of instructions.
    fn taken(&self) -> (Held, u64);
}

/// What the steps before a launch left, for a [`Job`](super::bind::Job).
#[derive(Clone, Debug)]
pub struct Before(pub(crate) Arc<dyn Earlier>);

/// What earlier steps left in one tensor, over what was there before.
#[derive(Clone, Debug)]
pub(crate) struct LeftIn {
    left: Arc<dyn Earlier>,
    /// The tensor's parameter.
    param: usize,
    /// Its contents before the first step.
    before: Box<Initial>,
}

/// Memory of the launch: a tensor of the case, a variable of the module, or a parameter.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    pub(crate) element: Element,
    pub(crate) elements: u64,
    pub(crate) role: Role,
    pub(crate) initial: Initial,
    /// The index of its parameter in the case; for a tensor of structs, that of the first field. `None` for a variable
    /// that the case does not give, and for a parameter of the kernel.
    pub(crate) param: Option<usize>,
}

impl Tensor {
    /// Whether writing it is a fault (rule M4); reading it then needs no race state.
    pub(crate) fn is_read_only(&self) -> bool {
        self.role == Role::In
    }

    /// Whether the case or the PTX determines all of its contents before the launch.
    pub(crate) fn is_given(&self) -> bool {
        !matches!(self.initial, Initial::NotGiven | Initial::Fields(Fields { rest: Rest::NotGiven, .. }))
    }

    /// Whether it, or a field of it, holds what earlier steps left.
    pub(crate) fn has_left(&self) -> bool {
        match &self.initial {
            Initial::Left(_) => true,
            Initial::Fields(fields) => fields.fields.iter().any(|field| field.tensor.has_left()),
            Initial::Symbolic(_)
            | Initial::Undefined
            | Initial::Fill(_)
            | Initial::List(_)
            | Initial::Iota
            | Initial::Addresses(_)
            | Initial::Partly(..)
            | Initial::Bytes(_)
            | Initial::NotGiven => false,
        }
    }

    /// What earlier steps left becomes the contents of the tensor, or of its fields.
    pub(super) fn set_left(&mut self, left: &Arc<dyn Earlier>) {
        if let Initial::Fields(fields) = &mut self.initial {
            fields.fields.iter_mut().for_each(|field| field.tensor.set_left(left));
        } else if let Some(param) = self.param.filter(|param| left.touches(*param)) {
            let before = Box::new(std::mem::replace(&mut self.initial, Initial::Undefined));
            self.initial = Initial::Left(LeftIn { left: left.clone(), param, before });
        }
    }

    /// Whether it consists of one or more structs.
    pub(crate) fn has_fields(&self) -> bool {
        matches!(self.initial, Initial::Fields(_))
    }

    /// The element that contains a byte; `None` for padding of a struct and behind the end.
    pub(crate) fn element_at(&self, byte: u64) -> Option<ElementAt<'_>> {
        if let Initial::Fields(fields) = &self.initial {
            return fields.at(byte);
        }
        let bytes = u64::from(self.element.bytes());
        let element = byte / bytes;
        (element < self.elements).then_some(ElementAt { tensor: self, element, byte: byte % bytes })
    }

    /// The value of `bytes` bytes at `byte` before the launch, if they are one element.
    #[inline]
    pub(crate) fn whole(&self, byte: u64, bytes: u32, store: &mut Store, reader: InstId) -> Option<Value> {
        let at = self.element_at(byte)?;
        let is_one = at.tensor.element.bytes() == bytes && at.byte == 0;
        (is_one && at.tensor.is_given()).then(|| at.tensor.value(at.element, store, reader))
    }

    /// The value of an element before the launch.
    pub(crate) fn value(&self, element: u64, store: &mut Store, reader: InstId) -> Value {
        let Initial::Left(left) = &self.initial else {
            return self.value_of(&self.initial, element, reader);
        };
        let value = left.left.value((left.param, element), self.element, store, reader);
        value.unwrap_or_else(|| self.value_of(&left.before, element, reader))
    }

    fn value_of(&self, initial: &Initial, element: u64, reader: InstId) -> Value {
        match initial {
            Initial::Left(left) => self.value_of(&left.before, element, reader),
            Initial::Symbolic(input) => {
                let term = TermId::input(*input, element);
                Value::Sym(match self.element {
                    Element::Float(format) => Sym::real(format, term),
                    Element::Int { .. } | Element::Bool => Sym::int(self.element.bytes(), term),
                })
            }
            Initial::Undefined | Initial::Fields(..) | Initial::NotGiven => {
                Value::Undefined(Origin::Unwritten(reader))
            }
            Initial::Fill(bits) => Value::Bits(*bits),
            Initial::List(list) | Initial::Addresses(list) => {
                Value::Bits(list.get(element as usize).copied().unwrap_or(0))
            }
            Initial::Iota => Value::Bits(number_bits(self.element, &Rational::from_u64(element))),
            Initial::Partly(region, [rows, columns], held) => {
                let is_beside = !region.has(element / columns % rows, element % columns);
                self.value_of(&held[usize::from(is_beside)], element, reader)
            }
            Initial::Bytes(bytes) => {
                Value::Bits(u64::from(bytes.get(element as usize).copied().unwrap_or(0)))
            }
        }
    }
}

/// The tensor of a parameter, as a side declares it; `None` for a scalar.
pub(crate) fn tensor(which: Which, at: usize, param: &Param) -> Result<Option<Tensor>, BindError> {
    let part = || Some(CasePart::Parameter(param.name.clone()));
    tensor_of(which, at, param).map_err(|error| BindError { part: part(), ..error })
}

fn tensor_of(which: Which, at: usize, param: &Param) -> Result<Option<Tensor>, BindError> {
    let of_scalar;
    let (element, shape, role, contents) = match (&param.kind, param.binding) {
        (ParamKind::Tensor { reference, opt, shape, role, contents, assumed: _ }, _) => {
            let element = if which == Which::Reference { *reference } else { *opt };
            (element, shape.as_slice(), *role, contents)
        }
        (ParamKind::Scalar { .. }, Binding::Argument | Binding::Field(_)) => return Ok(None),
        (ParamKind::Scalar { element, value }, Binding::Variable) => {
            of_scalar = match value {
                ScalarValue::Number(value) => Contents::Fill(value.clone()),
                ScalarValue::Symbolic(_) => Contents::Symbolic,
            };
            (*element, [].as_slice(), Role::In, &of_scalar)
        }
    };
    let elements = shape.iter().try_fold(1u64, |product, n| product.checked_mul(*n));
    let Some(elements) = elements.filter(|n| *n > 0 && *n < TermId::MAX_ELEMENTS / 16) else {
        let message = format!("tensor `{}` of shape {shape:?} has no elements, or too many", param.name);
        return Err(BindError::new(message, Some("each dimension is at least 1".into())));
    };
    let bits = |value: &Extended| {
        bits_of(element, value)
            .map_err(|message| BindError::new(format!("`{}`: {message}", param.name), None))
    };
    let initial = match contents {
        Contents::Symbolic => Initial::Symbolic(InputId::from_index(at)),
        Contents::Undefined => Initial::Undefined,
        Contents::Fill(value) => Initial::Fill(bits(value)?),
        Contents::Iota if !has_iota(element, elements) => {
            let message = format!(
                "tensor `{}` of {elements} elements cannot hold `iota`: {} does not have all these numbers",
                param.name,
                element.name()
            );
            return Err(BindError::new(message, None));
        }
        Contents::Iota => Initial::Iota,
        Contents::List(list) => {
            if list.len() as u64 != elements {
                let message = format!(
                    "tensor `{}` has {elements} elements, but its contents list {}",
                    param.name,
                    list.len()
                );
                return Err(BindError::new(message, None));
            }
            Initial::List(list.iter().map(bits).collect::<Result<_, _>>()?)
        }
        Contents::Pointers(_) => Initial::Addresses(Vec::new()),
        Contents::LowerTriangular => {
            let one = Initial::Fill(number_bits(element, &Rational::ONE));
            let zero = Initial::Fill(bits(&Extended::Finite(Rational::ZERO))?);
            partly(param, shape, Region::Lower, [one, zero])?
        }
        Contents::Partly(region, value) => {
            let symbolic = Initial::Symbolic(InputId::from_index(at));
            partly(param, shape, *region, [symbolic, Initial::Fill(bits(value)?)])?
        }
    };
    let name = param.name.clone();
    Ok(Some(Tensor { name, element, elements, role, initial, param: Some(at) }))
}

fn partly(param: &Param, shape: &[u64], region: Region, held: [Initial; 2]) -> Result<Initial, BindError> {
    let [.., rows, columns] = shape else {
        let message = format!("tensor `{}` needs two dimensions to have a diagonal", param.name);
        return Err(BindError::new(message, None));
    };
    Ok(Initial::Partly(region, [*rows, *columns], Box::new(held)))
}

/// Consecutive structs: one for a variable or a parameter, many for a tensor of structs.
#[derive(Clone, Debug)]
pub(crate) struct Fields {
    /// In the order of their offsets.
    pub(crate) fields: Vec<Field>,
    /// Bytes from one struct to the next.
    pub(crate) stride: u64,
    pub(crate) rest: Rest,
}

/// A field of structs, as a tensor of all its elements.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    /// Its offset in each struct.
    pub(crate) offset: u64,
    /// Number of its elements in each struct.
    pub(crate) count: u64,
    pub(crate) tensor: Tensor,
}

/// An element of a tensor, and a byte of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ElementAt<'t> {
    /// The tensor, or the field of it.
    pub(crate) tensor: &'t Tensor,
    pub(crate) element: u64,
    pub(crate) byte: u64,
}

/// Contents of bytes that belong to no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rest {
    /// Uninitialised.
    Undefined,
    /// Set by the host, but not given in the case (rule M5).
    NotGiven,
}
