//! A reference that is the body of the function: the function itself, over numbers that record what is done with them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Block, Ident};
use volta_case::{Element, Role};

use crate::signature::{Function, Kind, Number, Param, Value};

/// The call that records the function, under a name for messages.
pub(crate) fn recorded(function: &Function, body: &Block, text: &str) -> TokenStream {
    let name = &function.name;
    let own: Vec<Passed> = function.params.iter().filter_map(passed).collect();
    let params = own.iter().map(|Passed { name, ty, .. }| quote!(#name: #ty));
    let bindings = own.iter().map(|own| &own.binding);
    let arguments = own.iter().map(|own| &own.argument);
    let written = own.iter().filter_map(|own| own.written.as_ref());
    let text = format!("fn {text}");
    quote! {
        #[allow(unused_variables, clippy::needless_range_loop, clippy::ptr_arg)]
        fn #name(#(#params),*) #body
        case.function(#text, |__trace| {
            #(#bindings)*
            #name(#(#arguments),*);
            #(#written)*
        });
    }
}

/// A parameter as the function takes it.
struct Passed {
    name: Ident,
    ty: TokenStream,
    /// Its value before the call.
    binding: TokenStream,
    argument: TokenStream,
    /// What is done after the call.
    written: Option<TokenStream>,
}

/// `None` for what has no numbers as elements: a tensor map, and an array of pointers.
fn passed(param: &Param) -> Option<Passed> {
    let name = param.name.clone();
    let known = param.global.as_ref().and_then(|name| name.as_ref().map(syn::LitStr::value));
    let known = known.unwrap_or_else(|| name.to_string());
    match &param.kind {
        Kind::Map(_) | Kind::Pointers(_) => None,
        Kind::Tensor { types: [element, _], shape, role, .. } => {
            let mut ty = number(*element);
            for extent in shape.iter().rev() {
                ty = quote!([#ty; #extent]);
            }
            let is_read = *role == Role::In;
            let binding = quote!(let mut #name = __trace.tensor::<#ty>(#known););
            Some(Passed {
                ty: if is_read { quote!(&#ty) } else { quote!(&mut #ty) },
                argument: if is_read { quote!(&*#name) } else { quote!(&mut *#name) },
                written: (!is_read).then(|| quote!(__trace.written(#known, &*#name);)),
                binding: if is_read { quote!(let #name = __trace.tensor::<#ty>(#known);) } else { binding },
                name,
            })
        }
        Kind::Scalar { element, value: Value::Number(value) } if is_integer_of_rust(*element) => {
            let ty = format_ident!("{}", element.name());
            let value = match value {
                Number::Literal(text) => text.parse().unwrap_or_default(),
                Number::Real(value) | Number::Integer(value) => quote!(#value),
            };
            let binding = quote!(let #name: #ty = #value;);
            Some(Passed { ty: quote!(#ty), binding, argument: quote!(#name), written: None, name })
        }
        Kind::Scalar { element, .. } => {
            let ty = number(*element);
            let binding = quote!(let #name = *__trace.tensor::<#ty>(#known););
            Some(Passed { ty, binding, argument: quote!(#name), written: None, name })
        }
        Kind::Structs { .. } => {
            let binding = quote!(::core::compile_error!(
                "a reference written in Rust takes no tensors of structs yet: give each field a tensor of its own"
            ););
            Some(Passed { ty: quote!(()), binding, argument: quote!(()), written: None, name })
        }
    }
}

/// The type of an element.
fn number(element: Element) -> TokenStream {
    match element {
        Element::Float(_) => quote!(::volta_test::__private::trace::Real),
        Element::Int { .. } => quote!(::volta_test::__private::trace::Int),
        Element::Bool => quote!(::volta_test::__private::trace::Truth),
    }
}

/// Whether a known value is passed as a number of Rust: it may be a bound of a loop.
fn is_integer_of_rust(element: Element) -> bool {
    match element {
        Element::Int { .. } => true,
        Element::Float(_) | Element::Bool => false,
    }
}
