//! Parts of the cases in which the explorers' programs are verified: tensors of words with given contents, and a side
//! of PTX that a program was written as.

use volta_core::case::{
    Argument, Assumed, Binding, Contents, Element, KernelLaunch, Launch, Param, ParamKind, Role, Side,
};
use volta_core::number::{Extended, Rational};

/// A tensor of unsigned integers of so many bytes, in one dimension.
pub fn tensor(name: &str, bytes: u32, elements: u64, role: Role, contents: Contents) -> Param {
    let element = Element::Int { bytes, signed: false };
    let (reference, opt, shape, assumed) = (element, element, vec![elements], Assumed::default());
    Param::new(name, ParamKind::Tensor { reference, opt, shape, role, contents, assumed }, Binding::Argument)
}

/// Given contents.
pub fn list<I: Into<i64>>(values: impl IntoIterator<Item = I>) -> Contents {
    let value = |value: I| Extended::Finite(Rational::from_integer(value.into()));
    Contents::List(values.into_iter().map(value).collect())
}

/// The only kernel of a text, with its arguments in order.
pub fn side(ptx: String, arguments: &[&str], launch: Launch) -> Side {
    let arguments = arguments.iter().map(|name| Argument::Named((*name).into())).collect();
    KernelLaunch { ptx, path: "explored.ptx".into(), kernel: None, arguments: Some(arguments), launch }.into()
}
