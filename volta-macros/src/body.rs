//! A reference that is the body of the function: the function itself, over numbers that record what is done with them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Block, Error, Ident};
use volta_case::{Element, Role};

use crate::signature::{Function, Kind, Number, Param, Value};

/// The call that records the function, under a name for messages.
pub(crate) fn recorded(function: &Function, body: &Block, text: &str) -> TokenStream {
    let name = &function.name;
    let own: Vec<Passed> = function.params.iter().filter_map(passed).collect();
    let structs = structs(function);
    let params = own.iter().map(|Passed { name, ty, .. }| quote!(#name: #ty));
    let bindings = own.iter().map(|own| &own.binding);
    let arguments = own.iter().map(|own| &own.argument);
    let written = own.iter().filter_map(|own| own.written.as_ref());
    let text = format!("fn {text}");
    quote! {
        #structs
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
            Some(of_tensor((name, known), ty, *role == Role::In))
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
        Kind::Structs { name: of, fields, rank } => {
            let of = of.clone().unwrap_or_else(|| name.clone());
            let mut ty = quote!(#of);
            let mut is_read = false;
            if let Some((_, Kind::Tensor { shape, role, .. })) = fields.first() {
                is_read = *role == Role::In;
                for extent in shape[..*rank].iter().rev() {
                    ty = quote!([#ty; #extent]);
                }
            }
            Some(of_tensor((name, known), ty, is_read))
        }
    }
}

/// A tensor, whose elements are numbers or structs of these; it is called `known` in the case.
fn of_tensor((name, known): (Ident, String), ty: TokenStream, is_read: bool) -> Passed {
    let binding = quote!(let mut #name = __trace.tensor::<#ty>(#known););
    Passed {
        ty: if is_read { quote!(&#ty) } else { quote!(&mut #ty) },
        argument: if is_read { quote!(&*#name) } else { quote!(&mut *#name) },
        written: (!is_read).then(|| quote!(__trace.written(#known, &*#name);)),
        binding: if is_read { quote!(let #name = __trace.tensor::<#ty>(#known);) } else { binding },
        name,
    }
}

/// The structs that are elements of tensors, each once: their fields are numbers of the function, or arrays of these.
fn structs(function: &Function) -> TokenStream {
    let mut known: Vec<(String, String)> = Vec::new();
    let mut all = TokenStream::new();
    for param in &function.params {
        let Kind::Structs { name, fields, rank } = &param.kind else { continue };
        let Some(name) = name else {
            let message = "the structs of a reference in Rust have a name: `&[Block; 64]`";
            all.extend(Error::new(param.name.span(), message).to_compile_error());
            continue;
        };
        let names = fields.iter().map(|(name, _)| name);
        let types = fields.iter().filter_map(|(_, kind)| {
            let Kind::Tensor { types: [element, _], shape, .. } = kind else { return None };
            let inner = shape[*rank..].iter().rev();
            Some(inner.fold(number(*element), |ty, extent| quote!([#ty; #extent])))
        });
        let (names, types): (Vec<&Ident>, Vec<TokenStream>) = (names.collect(), types.collect());
        let declared = quote!(#(#names: #types),*);
        let own = (name.to_string(), declared.to_string());
        match known.iter().find(|(other, _)| *other == own.0) {
            Some(same) if *same == own => {}
            Some(_) => {
                let message = format!("`{name}` has other fields above");
                all.extend(Error::new(param.name.span(), message).to_compile_error());
            }
            None => {
                known.push(own);
                let tensor = quote!(::volta_test::__private::trace::Tensor);
                all.extend(quote! {
                    #[derive(Clone, Copy)]
                    #[allow(dead_code)]
                    struct #name { #declared }
                    impl #tensor for #name {
                        fn made(next: &mut dyn ::core::ops::FnMut() -> u32) -> #name {
                            #name { #(#names: #tensor::made(next)),* }
                        }
                        fn see(&self, see: &mut dyn ::core::ops::FnMut(u32)) {
                            #(#tensor::see(&self.#names, see);)*
                        }
                    }
                });
            }
        }
    }
    all
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
