//! Expanding a parsed case into calls of `volta-test`.

use std::fmt::Debug;

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Error, Expr, LitStr, Result};
use volta_case::{Comparison, NamedContents, Shard, split_source};

use crate::attribute::{self, Arg, CaseAttribute, Form, Member, Set, Side};
use crate::body;
use crate::family::{self, Member as FamilyMember};
use crate::signature::{self, Assumed, Contents, Function, Kind, Number, Param, Range, Value};
use crate::steps::Step;

/// The items that replace a function under an attribute.
pub(crate) fn expanded(attribute: TokenStream, item: TokenStream, form: Form) -> Result<TokenStream> {
    let one = |attribute: TokenStream, item: TokenStream, member: Option<&FamilyMember>| {
        let function = signature::parse(item)?;
        let attribute = attribute::parse(attribute, form, &function)?;
        let parts = Shard::all(attribute.shards).map(Some);
        let parts: Vec<Option<Shard>> = if attribute.shards > 1 { parts.collect() } else { vec![None] };
        Ok(parts.into_iter().map(|part| expand(&attribute, &function, member, part)).collect::<TokenStream>())
    };
    let (attribute, family) = family::split(attribute)?;
    let Some(family) = family else { return one(attribute, item, None) };
    let of = |member: FamilyMember| {
        if let Some((variable, _)) = family::any(&member)
            && let Some(body) = signature::parse(item.clone())?.body
        {
            let message = format!(
                "`{variable}` is `any`, and the reference is in Rust: list sizes, as in `{variable} = [1, 31, 64..=66]`"
            );
            return Err(Error::new(body.brace_token.span.join(), message));
        }
        let [attribute, item] = [&attribute, &item].map(|tokens| family::applied(&member, tokens.clone()));
        one(attribute, item, Some(&member))
    };
    // What is wrong in one of them is mostly wrong in all.
    family.members().map(of).collect()
}

/// The items that replace the function, or those of one member of its family, or of one part.
fn expand(
    attribute: &CaseAttribute,
    function: &Function,
    member: Option<&FamilyMember>,
    part: Option<Shard>,
) -> TokenStream {
    let Function { name, kept, docs, params, body } = function;
    let (name, text) = match member {
        Some(member) => (
            format_ident!("{name}_{}", family::suffix(member), span = name.span()),
            format!("{name}::{member}"),
        ),
        None => (name.clone(), name.to_string()),
    };
    let (name, text) = match part {
        Some(part) => {
            (format_ident!("{name}_{}", part.to_string(), span = name.span()), format!("{text}/{part}"))
        }
        None => (name, text),
    };
    let constant = format_ident!("__VOLTA_CASE_{}", name.to_string().to_uppercase(), span = name.span());
    let slow = attribute.slow;
    let steps = || attribute.reference.iter().chain([&attribute.opt]).flatten();
    let tracked = steps().filter_map(|step| match step {
        Step::Launch(side) => Some(tracked(&side.source)),
        Step::Graph(graph) => graph.file.as_ref().map(tracked),
        Step::Fill(..) | Step::Copy(..) => None,
    });
    let docs = docs.iter().map(|line| quote!(case.description(#line);));
    let in_rust = body.as_ref().map(|body| body::recorded(function, body, &text));
    let any = member.and_then(family::any);
    let params = params.iter().zip(&attribute.pointers).map(|(own, held)| param(own, held, any.is_some()));
    let any = match any {
        Some((variable, least)) => {
            let name = format_ident!("{variable}");
            [quote!(let #name = case.size();), quote!(::core::option::Option::Some((#variable, #least)))]
        }
        None => [TokenStream::new(), quote!(::core::option::Option::None)],
    };
    let [size, any] = any;
    let [of_reference, of_opt] = &attribute.repeat;
    let reference = attribute.reference.as_ref().map(|steps| side("Reference", steps, of_reference.as_ref()));
    let opt = side("Opt", &attribute.opt, of_opt.as_ref());
    let [about, expect, options] =
        [("about", &attribute.about), ("expect", &attribute.expect), ("options", &attribute.options)]
            .map(|(section, sets)| section_call(section, sets));
    let contains = attribute.contains.iter().map(|sets| section_call("contains", sets));
    // The forms of all sizes are not for reading.
    let unread = member.map(|_| {
        let flag = quote!(::volta_test::__private::Flag(false));
        quote!(case.options(::std::vec![("snapshot", #flag)]);)
    });
    let ignore = slow.then(|| {
        quote!(#[ignore = "slow: run it with --include-ignored (volta_test::main! runs it with VOLTA_SLOW=1)"])
    });
    quote! {
        #(#kept)*
        #[doc(hidden)]
        const #constant: ::volta_test::__private::Registered = {
            // A changed kernel rebuilds the test.
            #(#tracked)*
            fn build(case: &mut ::volta_test::__private::Builder) {
                #size
                #(#docs)*
                #(#params)*
                #reference
                #in_rust
                #opt
                #about
                #expect
                #options
                #(#contains)*
                #unread
            }
            ::volta_test::__private::Registered {
                module: ::core::module_path!(),
                function: #text,
                file: ::core::file!(),
                line: ::core::line!(),
                manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
                slow: #slow,
                any: #any,
                build,
            }
        };
        #(#kept)*
        ::volta_test::__private::inventory::submit! { #constant }
        #(#kept)*
        #[test]
        #ignore
        fn #name() {
            #constant.test();
        }
    }
}

fn tracked(source: &LitStr) -> TokenStream {
    let value = source.value();
    let file = LitStr::new(split_source(&value).0, source.span());
    quote_spanned!(source.span()=> const _: &[u8] = ::core::include_bytes!(#file);)
}

/// The calls that give a parameter, with `open` where its extents may depend on a variable that is any number.
fn param(param: &Param, pointers: &[Option<Arg>], open: bool) -> TokenStream {
    let own_name = param.global.as_ref().and_then(|name| name.as_ref().map(LitStr::value));
    let name = own_name.unwrap_or_else(|| param.name.to_string());
    let by_name = param.global.is_some().then(|| quote!(case.by_name();));
    let given = match &param.kind {
        Kind::Pointers(_) => {
            let pointers = pointers.iter().map(|pointer| match pointer {
                Some(pointer) => {
                    let pointer = argument(pointer);
                    quote!(::core::option::Option::Some(#pointer))
                }
                None => quote!(::core::option::Option::None),
            });
            quote!(case.pointers(#name, ::std::vec![#(#pointers),*]);)
        }
        other @ (Kind::Tensor { .. } | Kind::Scalar { .. } | Kind::Structs { .. } | Kind::Map(_)) => {
            kind(&name, other, open)
        }
    };
    quote!(#given #by_name)
}

/// What is assumed of symbolic elements.
fn assumed(Assumed { sign, range, elements }: &Assumed) -> TokenStream {
    let sign = variant("Sign", sign);
    let elements = variant("Elements", elements);
    let none = || quote!(::core::option::Option::None);
    let [range, floats] = match range {
        Some(Range::Integers([least, greatest])) => [
            quote!(::core::option::Option::Some([
                { const LEAST: i64 = #least; LEAST },
                { const GREATEST: i64 = #greatest; GREATEST },
            ])),
            none(),
        ],
        Some(Range::Floats(ends)) => {
            let ends = ends.iter().map(number).map(|end| quote!(::volta_test::__private::float(#end)));
            [none(), quote!(::core::option::Option::Some([#(#ends),*]))]
        }
        None => [none(), none()],
    };
    quote!(::volta_test::__private::Assumed { sign: #sign, range: #range, floats: #floats, elements: #elements })
}

fn kind(name: &str, kind_of: &Kind, open: bool) -> TokenStream {
    match kind_of {
        Kind::Tensor { types, shape, role, contents, assumed, compare } => {
            let [reference, opt] = types.map(|element| element.name());
            let lengths = shape.iter().map(|length| match open {
                true => quote!(#length),
                false => quote!({ const LENGTH: usize = #length; LENGTH }),
            });
            let lengths = lengths.map(|length| quote!(::volta_test::__private::length(#length)));
            let role = variant("Role", role);
            let assumed = self::assumed(assumed);
            let of_file = match contents {
                Some(Contents::File(file)) => {
                    let tracked = tracked(file);
                    Some(quote!(#tracked case.contents_of(#file);))
                }
                Some(Contents::Named(_) | Contents::Fill(_) | Contents::Partly(..) | Contents::List(_))
                | None => None,
            };
            let contents = match contents {
                Some(contents) => {
                    let contents = contents_value(contents);
                    quote!(::core::option::Option::Some(#contents))
                }
                None => quote!(::core::option::Option::None),
            };
            let in_any_order = (*compare == Comparison::Set).then(|| quote!(case.in_any_order();));
            quote! {
                case.tensor(#name, [#reference, #opt], &[#(#lengths),*], #role, #contents, #assumed);
                #of_file
                #in_any_order
            }
        }
        // They are given where the attribute is known.
        Kind::Pointers(_) => TokenStream::new(),
        Kind::Map(sets) => {
            let values = values(sets);
            quote!(case.tensor_map(#name, #values);)
        }
        Kind::Scalar { element, value } => {
            let element = element.name();
            let value = match value {
                Value::Number(value) => {
                    let value = number(value);
                    quote!(::volta_test::__private::ScalarValue::Number(#value))
                }
                Value::Symbolic(assumed) => {
                    let assumed = self::assumed(assumed);
                    quote!(::volta_test::__private::ScalarValue::Symbolic(#assumed))
                }
            };
            quote!(case.scalar(#name, #element, #value);)
        }
        Kind::Structs { fields, rank, name: _ } => {
            let count = fields.len();
            let fields = fields.iter().map(|(name, own)| kind(&name.to_string(), own, open));
            quote!(#(#fields)* case.structs(#name, #rank, #count);)
        }
    }
}

fn variant(type_name: &str, variant: &impl Debug) -> TokenStream {
    let (type_name, variant) = (format_ident!("{type_name}"), format_ident!("{variant:?}"));
    quote!(::volta_test::__private::#type_name::#variant)
}

fn contents_value(contents: &Contents) -> TokenStream {
    match contents {
        Contents::Named(name) => variant("Contents", name),
        // The file is named behind the tensor.
        Contents::File(_) => variant("Contents", &NamedContents::Symbolic),
        Contents::Fill(value) => {
            let value = number(value);
            quote!(::volta_test::__private::Contents::Fill(#value))
        }
        Contents::Partly(region, value) => {
            let (region, value) = (variant("Region", region), number(value));
            quote!(::volta_test::__private::Contents::Partly(#region, #value))
        }
        Contents::List(values) => {
            let values = values.iter().map(number);
            quote!(::volta_test::__private::Contents::List(::std::vec![#(#values),*]))
        }
    }
}

fn number(number: &Number) -> TokenStream {
    match number {
        Number::Literal(text) => quote!(::volta_test::__private::literal(#text)),
        Number::Real(value) => quote!(::volta_test::__private::real(#value)),
        Number::Integer(value) => quote!(::volta_test::__private::integer(#value)),
    }
}

/// The calls that give the steps of a side.
fn side(name: &str, steps: &[Step], repeat: Option<&Expr>) -> TokenStream {
    let which = format_ident!("{name}");
    let which = quote!(::volta_test::__private::Which::#which);
    let steps = steps.iter().map(|step| match step {
        Step::Launch(side) => launch(&which, side),
        Step::Fill(tensor, with) => {
            let (tensor, with) = (tensor.to_string(), number(with));
            quote!(case.fill(#which, #tensor, #with);)
        }
        Step::Copy(from, to) => {
            let [from, to] = [from, to].map(|name| name.to_string());
            quote!(case.copy(#which, #from, #to);)
        }
        Step::Graph(graph) => {
            let keys = graph.keys.iter().map(|(key, value)| quote!((#key, #value)));
            quote!(case.graph(#which, &[#(#keys),*]);)
        }
    });
    let repeat = repeat.map(|times| quote!(case.repeat(#which, { const TIMES: u32 = #times; TIMES });));
    quote!(#(#steps)* #repeat)
}

fn launch(which: &TokenStream, side: &Side) -> TokenStream {
    let source = side.source.value();
    let args = match &side.args {
        None => quote!(::core::option::Option::None),
        Some(args) => {
            let args = args.iter().map(argument);
            quote!(::core::option::Option::Some(::std::vec![#(#args),*]))
        }
    };
    let keys = values(&side.keys);
    quote!(case.launch(#which, #source, #args, #keys);)
}

fn argument(arg: &Arg) -> TokenStream {
    match arg {
        Arg::Named(name) => {
            let name = name.to_string();
            quote!(::volta_test::__private::named(#name))
        }
        Arg::Element(name, at) => {
            let name = name.to_string();
            quote!(::volta_test::__private::element(#name, { const AT: usize = #at; AT }))
        }
        Arg::Literal(value) => {
            let value = number(value);
            quote!(::volta_test::__private::Argument::Literal(#value))
        }
        Arg::Struct(members) => {
            let members = members.iter().map(member);
            quote!(::volta_test::__private::Argument::Struct(::std::vec![#(#members),*]))
        }
    }
}

fn member(member: &Member) -> TokenStream {
    match member {
        Member::Arg(arg) => {
            let arg = argument(arg);
            quote!(::volta_test::__private::Member::Argument(#arg))
        }
        Member::Number(element, value) => {
            let value = number(value);
            quote!(::volta_test::__private::typed(#element, #value))
        }
        Member::Offset(byte) => quote!(::volta_test::__private::Member::Offset(#byte)),
    }
}

/// `case.section(keys and values)`, if there are any.
fn section_call(section: &str, sets: &[Set]) -> Option<TokenStream> {
    let method = format_ident!("{section}");
    let values = values(sets);
    (!sets.is_empty()).then(|| quote!(case.#method(#values);))
}

fn values(sets: &[Set]) -> TokenStream {
    let sets = sets.iter().map(|Set { key, value }| quote!((#key, ::volta_test::__private::#value)));
    quote!(::std::vec![#(#sets),*])
}
