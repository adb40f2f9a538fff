//! Parsing the function, whose parameters are the tensors and scalars of the case.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Block, Error, Expr, ExprLit, ExprRange, ExprUnary, FnArg, Lit, LitStr, Meta, Pat, RangeLimits,
    Result, Token, TraitItemFn, Type, TypeReference, UnOp,
};

use crate::attribute::{Set, tensor_map};
use volta_case::{Comparison, Element, Elements, NamedContents, Region, Role, Sign, Wrong, choose};

/// The function under the attribute.
pub(crate) struct Function {
    pub name: Ident,
    /// Attributes that are kept: `#[cfg(…)]` and lint levels.
    pub kept: Vec<Attribute>,
    /// Its documentation, a line each.
    pub docs: Vec<LitStr>,
    pub params: Vec<Param>,
    /// The reference, if it is written in Rust.
    pub body: Option<Block>,
}

/// A tensor or a scalar.
pub(crate) struct Param {
    pub name: Ident,
    pub kind: Kind,
    /// Set if it is a variable of the module, with its name in the module if that differs.
    pub global: Option<Option<LitStr>>,
}

/// The kind of a parameter.
pub(crate) enum Kind {
    Tensor {
        /// The element types in the reference and in the optimized kernel.
        types: [Element; 2],
        /// The dimensions, outermost first.
        shape: Vec<Expr>,
        role: Role,
        contents: Option<Contents>,
        assumed: Assumed,
        compare: Comparison,
    },
    Scalar {
        element: Element,
        value: Value,
    },
    /// A tensor of structs.
    Structs {
        /// The name of the type.
        name: Option<Ident>,
        /// Each field, as a tensor over all structs.
        fields: Vec<(Ident, Kind)>,
        /// The number of leading dimensions that are those of the tensor of structs.
        rank: usize,
    },
    /// A tensor map.
    Map(Vec<Set>),
    /// An array of pointers, as it is given.
    Pointers(Vec<Expr>),
}

/// The contents of a tensor before the launch.
pub(crate) enum Contents {
    Named(NamedContents),
    File(LitStr),
    Fill(Number),
    Partly(Region, Number),
    List(Vec<Number>),
}

/// The value of a scalar.
pub(crate) enum Value {
    Number(Number),
    Symbolic(Assumed),
}

/// What is assumed of every symbolic element.
#[derive(Default)]
pub(crate) struct Assumed {
    pub sign: Sign,
    pub range: Option<Range>,
    pub elements: Elements,
}

/// The least and the greatest value.
pub(crate) enum Range {
    Integers([TokenStream; 2]),
    Floats([Number; 2]),
}

/// A number: a literal, which is read exactly, or a constant expression.
pub(crate) enum Number {
    Literal(String),
    Real(Box<Expr>),
    Integer(Box<Expr>),
}

/// Reads the function.
pub(crate) fn parse(item: TokenStream) -> Result<Function> {
    let function: TraitItemFn = syn::parse2(item)?;
    let signature = &function.sig;
    let unwanted: [(Option<Span>, &str); 6] = [
        (signature.constness.map(|token| token.span()), "`const` has no meaning here"),
        (signature.asyncness.map(|token| token.span()), "`async` has no meaning here"),
        (signature.abi.as_ref().map(Spanned::span), "an ABI has no meaning here"),
        (
            signature.generics.lt_token.map(|token| token.span()),
            "a case has no generics; kernels chosen by type are named in the source, as in \"k.cu::kernel<float>\"",
        ),
        (signature.variadic.as_ref().map(Spanned::span), "all parameters of a kernel must be declared"),
        (
            match &signature.output {
                syn::ReturnType::Default => None,
                syn::ReturnType::Type(arrow, ty) => {
                    Some(arrow.span().join(ty.span()).unwrap_or(arrow.span()))
                }
            },
            "kernels return no value; outputs are `&mut` tensors",
        ),
    ];
    for (span, message) in unwanted {
        if let Some(span) = span {
            return Err(Error::new(span, message));
        }
    }
    let (mut kept, mut docs) = (Vec::new(), Vec::new());
    for attribute in function.attrs {
        let path = attribute.path();
        if path.is_ident("doc") {
            if let Meta::NameValue(doc) = &attribute.meta
                && let Expr::Lit(doc) = &doc.value
                && let Lit::Str(text) = &doc.lit
            {
                docs.push(text.clone());
            }
        } else if ["cfg", "allow", "expect", "warn", "deny"].iter().any(|name| path.is_ident(name)) {
            kept.push(attribute);
        } else if path.is_ident("test") {
            return Err(Error::new_spanned(&attribute, "the attribute makes a test by itself"));
        } else if path.is_ident("ignore") {
            return Err(Error::new_spanned(&attribute, "say `slow` in the attribute instead"));
        } else {
            return Err(Error::new_spanned(&attribute, "this attribute has no meaning on a case"));
        }
    }
    let mut params: Vec<Param> = Vec::new();
    let mut errors: Option<Error> = None;
    for argument in &signature.inputs {
        match parse_param(argument) {
            Ok(param) if params.iter().any(|other| other.name == param.name) => {
                combine(&mut errors, Error::new(param.name.span(), "this name is taken"));
            }
            Ok(param) => params.push(param),
            Err(error) => combine(&mut errors, error),
        }
    }
    match errors {
        Some(errors) => Err(errors),
        None => Ok(Function { name: signature.ident.clone(), kept, docs, params, body: function.default }),
    }
}

/// Adds an error to those found so far, so that one compilation shows all.
pub(crate) fn combine(errors: &mut Option<Error>, error: Error) {
    match errors {
        Some(errors) => errors.combine(error),
        None => *errors = Some(error),
    }
}

fn parse_param(argument: &FnArg) -> Result<Param> {
    let FnArg::Typed(typed) = argument else {
        return Err(Error::new_spanned(argument, "a kernel has no `self`"));
    };
    let Pat::Ident(name) = &*typed.pat else {
        return Err(Error::new_spanned(&typed.pat, "a parameter must be a plain name"));
    };
    let name = name.ident.clone();
    let mut marks = Marks::read(&typed.attrs)?;
    let global = marks.global.take().map(|(name, _)| name);
    let kind = if let Some((tokens, span)) = marks.tensor_map.take() {
        if global.is_some() {
            return Err(Error::new(span, "a tensor map is an argument"));
        }
        if let Some((mark, span)) = marks.other() {
            return Err(Error::new(span, format!("a tensor map has no `{mark}`")));
        }
        let is_map = matches!(&*typed.ty, Type::Path(path) if path.path.is_ident("TensorMap"));
        if !is_map {
            return Err(Error::new_spanned(&typed.ty, "a tensor map is a `TensorMap`"));
        }
        Kind::Map(tensor_map(tokens)?)
    } else if let Some((tokens, _)) = marks.pointers.take() {
        if let Some((mark, span)) = marks.other() {
            return Err(Error::new(span, format!("an array of pointers has no `{mark}`")));
        }
        if !matches!(&*typed.ty, Type::Path(path) if path.path.is_ident("Pointers")) {
            return Err(Error::new_spanned(&typed.ty, "an array of pointers is a `Pointers`"));
        }
        Kind::Pointers(Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens)?.into_iter().collect())
    } else if let Some((tokens, span)) = marks.fields.take() {
        let Type::Reference(reference) = &*typed.ty else {
            return Err(Error::new_spanned(&typed.ty, "a tensor of structs is a reference: `&[Block; 64]`"));
        };
        if global.is_some() {
            return Err(Error::new(span, "fields of a variable are variables: `#[global(\"v+4\")]`"));
        }
        marks.structs(syn::parse2(tokens)?, reference, span)?
    } else if let Type::Reference(reference) = &*typed.ty {
        let (element, shape) = tensor_type(&reference.elem)?;
        marks.tensor(reference.mutability.is_some(), element, shape)?
    } else {
        marks.scalar(&name, element_type(&typed.ty)?)?
    };
    Ok(Param { name, kind, global })
}

/// The element type and dimensions of `[[T; M]; N]`.
#[expect(clippy::wildcard_enum_match_arm, reason = "an enum of `syn`, which may grow")]
fn tensor_type(ty: &Type) -> Result<(Element, Vec<Expr>)> {
    match ty {
        Type::Array(array) => {
            let (element, inner) = tensor_type(&array.elem)?;
            let shape = std::iter::once(array.len.clone()).chain(inner).collect();
            Ok((element, shape))
        }
        Type::Slice(_) => Err(Error::new_spanned(ty, "a tensor has a size: `&[f32; 128]`")),
        Type::Paren(inner) => tensor_type(&inner.elem),
        other => Ok((element_type(other)?, Vec::new())),
    }
}

/// An element type, by its name in cases; Rust need not have it.
#[expect(clippy::wildcard_enum_match_arm, reason = "an enum of `syn`, which may grow")]
fn element_type(ty: &Type) -> Result<Element> {
    let name = match ty {
        Type::Path(path) if path.qself.is_none() => path.path.get_ident().map(ToString::to_string),
        Type::Array(_) => {
            return Err(Error::new_spanned(
                ty,
                "a tensor is a reference: `&` for an input, `&mut` for an output",
            ));
        }
        _ => None,
    };
    let name = name.unwrap_or_else(|| quote::ToTokens::to_token_stream(ty).to_string());
    choose(&name, || format!("unknown element type `{name}`"))
        .map_err(|wrong: Wrong| Error::new_spanned(ty, wrong))
}

/// The attributes of a parameter.
#[derive(Default)]
struct Marks {
    role: Option<(Role, Span)>,
    init: Option<(TokenStream, Span)>,
    value: Option<(TokenStream, Span)>,
    symbolic: Option<(Sign, Span)>,
    assume: Option<(Sign, Span)>,
    range: Option<(TokenStream, Span)>,
    elements: Option<(Elements, Span)>,
    compare: Option<(Comparison, Span)>,
    opt_type: Option<(Element, Span)>,
    global: Option<(Option<LitStr>, Span)>,
    tensor_map: Option<(TokenStream, Span)>,
    pointers: Option<(TokenStream, Span)>,
    fields: Option<(TokenStream, Span)>,
}

const MARKS: [&str; 15] = [
    "inout",
    "scratch",
    "ignored",
    "init",
    "value",
    "symbolic",
    "assume",
    "range",
    "elements",
    "compare",
    "opt_type",
    "global",
    "tensor_map",
    "pointers",
    "fields",
];

impl Marks {
    fn read(attributes: &[Attribute]) -> Result<Marks> {
        let mut marks = Marks::default();
        for attribute in attributes {
            let span = attribute.path().span();
            let name = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
            let twice =
                || Err(Error::new_spanned(attribute, format!("`{name}` contradicts an earlier attribute")));
            match name.as_str() {
                "inout" | "scratch" | "ignored" => {
                    let role = Role::parse(&name).map(|role| (role, span));
                    if std::mem::replace(&mut marks.role, role).is_some() {
                        return twice();
                    }
                    if let Meta::List(list) = &attribute.meta {
                        let init: Init = syn::parse2(list.tokens.clone())?;
                        marks.init = Some((init.0, list.tokens.span()));
                    }
                }
                "init" => {
                    if marks.init.replace((arguments(attribute)?, span)).is_some() {
                        return twice();
                    }
                }
                "value" => {
                    if marks.value.replace((arguments(attribute)?, span)).is_some() {
                        return twice();
                    }
                }
                "symbolic" => {
                    let sign = match &attribute.meta {
                        Meta::Path(_) => Sign::Any,
                        Meta::List(_) | Meta::NameValue(_) => sign(arguments(attribute)?)?,
                    };
                    if marks.symbolic.replace((sign, span)).is_some() {
                        return twice();
                    }
                }
                "assume" => {
                    if marks.assume.replace((sign(arguments(attribute)?)?, span)).is_some() {
                        return twice();
                    }
                }
                "range" => {
                    if marks.range.replace((arguments(attribute)?, span)).is_some() {
                        return twice();
                    }
                }
                "elements" => {
                    let name: Ident = syn::parse2(arguments(attribute)?)?;
                    let elements = choose(&name.to_string(), || format!("`elements` is not `{name}`"))
                        .map_err(|wrong: Wrong| Error::new_spanned(&name, wrong))?;
                    if marks.elements.replace((elements, span)).is_some() {
                        return twice();
                    }
                }
                "compare" => {
                    let name: Ident = syn::parse2(arguments(attribute)?)?;
                    let compare = choose(&name.to_string(), || format!("`compare` is not `{name}`"))
                        .map_err(|wrong: Wrong| Error::new_spanned(&name, wrong))?;
                    if marks.compare.replace((compare, span)).is_some() {
                        return twice();
                    }
                }
                "opt_type" => {
                    let ty: Type = syn::parse2(arguments(attribute)?)?;
                    if marks.opt_type.replace((element_type(&ty)?, span)).is_some() {
                        return twice();
                    }
                }
                "global" => {
                    let name = match &attribute.meta {
                        Meta::Path(_) => None,
                        Meta::List(_) | Meta::NameValue(_) => Some(syn::parse2(arguments(attribute)?)?),
                    };
                    if marks.global.replace((name, span)).is_some() {
                        return twice();
                    }
                }
                "tensor_map" => {
                    if marks.tensor_map.replace((arguments(attribute)?, span)).is_some() {
                        return twice();
                    }
                }
                "pointers" => {
                    if marks.pointers.replace((arguments(attribute)?, span)).is_some() {
                        return twice();
                    }
                }
                "fields" => {
                    if marks.fields.replace((arguments(attribute)?, span)).is_some() {
                        return twice();
                    }
                }
                _ => {
                    let wrong = Wrong::unknown(format!("unknown attribute `{name}`"), &name, &MARKS);
                    return Err(Error::new(span, wrong));
                }
            }
        }
        Ok(marks)
    }

    /// An attribute that tensor maps cannot have.
    fn other(&self) -> Option<(&'static str, Span)> {
        let marks = [
            self.role.map(|(role, span)| (role.name(), span)),
            self.init.as_ref().map(|(_, span)| ("init", *span)),
            self.value.as_ref().map(|(_, span)| ("value", *span)),
            self.symbolic.map(|(_, span)| ("symbolic", span)),
            self.assume.map(|(_, span)| ("assume", span)),
            self.range.as_ref().map(|(_, span)| ("range", *span)),
            self.elements.map(|(_, span)| ("elements", span)),
            self.compare.map(|(_, span)| ("compare", span)),
            self.opt_type.as_ref().map(|(_, span)| ("opt_type", *span)),
            self.fields.as_ref().map(|(_, span)| ("fields", *span)),
            self.pointers.as_ref().map(|(_, span)| ("pointers", *span)),
        ];
        marks.into_iter().flatten().next()
    }

    /// A tensor of structs: its role is that of `self`, the other attributes are those of its fields.
    fn structs(self, fields: Fields, reference: &TypeReference, span: Span) -> Result<Kind> {
        let of_tensor = Marks { role: None, ..self };
        if let Some((mark, span)) = of_tensor.other() {
            return Err(Error::new(
                span,
                format!("`{mark}` is given for a field: `#[fields(#[{mark}(…)] x: f32)]`"),
            ));
        }
        let mut outer = Vec::new();
        let mut ty = &*reference.elem;
        while let Type::Array(array) = ty {
            outer.push(array.len.clone());
            ty = &array.elem;
        }
        let field = |(attributes, name, ty): (Vec<Attribute>, Ident, Type)| {
            let mut marks = Marks::read(&attributes)?;
            let (element, inner) = tensor_type(&ty)?;
            let said =
                Marks { init: None, assume: None, range: None, elements: None, ..Marks::read(&attributes)? };
            if let Some((mark, span)) = said.other() {
                return Err(Error::new(span, format!("a field has no `{mark}`")));
            }
            marks.role = self.role;
            let shape = outer.iter().cloned().chain(inner).collect();
            Ok((name, marks.tensor(reference.mutability.is_some(), element, shape)?))
        };
        let fields: Vec<(Ident, Kind)> = fields.0.into_iter().map(field).collect::<Result<_>>()?;
        if fields.is_empty() {
            return Err(Error::new(span, "a struct needs at least one field: `#[fields(scale: f16)]`"));
        }
        let name = if let Type::Path(path) = ty { path.path.get_ident().cloned() } else { None };
        Ok(Kind::Structs { name, fields, rank: outer.len() })
    }

    fn tensor(self, is_mut: bool, element: Element, shape: Vec<Expr>) -> Result<Kind> {
        for (mark, message) in [
            (self.value.as_ref().map(|mark| mark.1), "a tensor has no `value`; see `#[init(…)]`"),
            (self.symbolic.map(|mark| mark.1), "inputs are always symbolic"),
        ] {
            if let Some(span) = mark {
                return Err(Error::new(span, message));
            }
        }
        let role = match (self.role, is_mut) {
            (None, false) => Role::In,
            (None, true) => Role::Out,
            (Some((role, _)), true) => role,
            (Some((_, span)), false) => {
                return Err(Error::new(span, "the kernel writes such a tensor: it is `&mut`"));
            }
        };
        let is_float = matches!(element, Element::Float(_));
        let contents = self.init.map(|(tokens, _)| contents(tokens, is_float)).transpose()?;
        let opt = self.opt_type.map_or(element, |(other, _)| other);
        let sign = self.assume.map_or(Sign::Any, |(sign, _)| sign);
        let elements = self.elements.map_or(Elements::Any, |(elements, _)| elements);
        let is_real = is_float && matches!(opt, Element::Float(_));
        let range = self.range.map(|(tokens, _)| range(tokens, is_real)).transpose()?;
        let assumed = Assumed { sign, range, elements };
        let compare = match self.compare {
            Some((_, span)) if role != Role::Out => {
                return Err(Error::new(
                    span,
                    "only what is written, `&mut` without a role, may be in any order",
                ));
            }
            compare => compare.map_or(Comparison::Each, |(compare, _)| compare),
        };
        Ok(Kind::Tensor { types: [element, opt], shape, role, contents, assumed, compare })
    }

    fn scalar(self, name: &Ident, element: Element) -> Result<Kind> {
        for (mark, message) in [
            (self.role.map(|mark| mark.1), "this is for tensors, which are references"),
            (self.init.as_ref().map(|mark| mark.1), "a scalar has `#[value(…)]`"),
            (self.assume.map(|mark| mark.1), "say `#[symbolic(…)]`"),
            (self.elements.map(|mark| mark.1), "this is for tensors, which are references"),
            (self.compare.map(|mark| mark.1), "this is for tensors, which are references"),
            (self.opt_type.as_ref().map(|mark| mark.1), "a scalar has one type"),
        ] {
            if let Some(span) = mark {
                return Err(Error::new(span, message));
            }
        }
        let is_float = matches!(element, Element::Float(_));
        let value = match (self.value, self.symbolic) {
            (Some((tokens, _)), None) => {
                let expression: Expr = syn::parse2(tokens)
                    .map_err(|error| Error::new(error.span(), format!("`value` is a number: {error}")))?;
                Value::Number(number(&expression, is_float)?)
            }
            (None, Some((sign, _))) => {
                let range = self.range.map(|(tokens, _)| range(tokens, is_float)).transpose()?;
                Value::Symbolic(Assumed { sign, range, elements: Elements::Any })
            }
            (Some(_), Some((_, span))) => {
                return Err(Error::new(span, "a scalar either has a value or is symbolic"));
            }
            (None, None) => {
                let message = "a scalar needs its value at the launch, `#[value(…)]`, or `#[symbolic]`";
                return Err(Error::new(name.span(), message));
            }
        };
        Ok(Kind::Scalar { element, value })
    }
}

/// The tokens in the parentheses of an attribute.
fn arguments(attribute: &Attribute) -> Result<TokenStream> {
    if let Meta::List(list) = &attribute.meta
        && !list.tokens.is_empty()
    {
        Ok(list.tokens.clone())
    } else {
        let name = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
        Err(Error::new_spanned(attribute, format!("`{name}` needs an argument: `#[{name}(…)]`")))
    }
}

/// A range of integers, `0..10` or `0..=9`, or of floats, `-8..=8`.
fn range(tokens: TokenStream, is_float: bool) -> Result<Range> {
    let (what, example) =
        if is_float { ("floats", "#[range(-8..=8)]") } else { ("integers", "#[range(0..=9)]") };
    let range: ExprRange = syn::parse2(tokens.clone())
        .map_err(|error| Error::new(error.span(), format!("`range` is a range of {what}: `{example}`")))?;
    let (Some(least), Some(end)) = (&range.start, &range.end) else {
        return Err(Error::new_spanned(tokens, format!("`range` has two ends: `{example}`")));
    };
    match (is_float, range.limits) {
        (true, RangeLimits::HalfOpen(_)) => {
            Err(Error::new_spanned(tokens, format!("a range of floats has both of its ends: `{example}`")))
        }
        (true, RangeLimits::Closed(_)) => Ok(Range::Floats([number(least, true)?, number(end, true)?])),
        (false, RangeLimits::HalfOpen(_)) => Ok(Range::Integers([quote!(#least), quote!((#end) - 1)])),
        (false, RangeLimits::Closed(_)) => Ok(Range::Integers([quote!(#least), quote!(#end)])),
    }
}

/// The fields of a struct: `scale: f16, #[init(0)] codes: [u8; 16]`.
struct Fields(Vec<(Vec<Attribute>, Ident, Type)>);

impl Parse for Fields {
    fn parse(input: ParseStream<'_>) -> Result<Fields> {
        let field = |input: ParseStream<'_>| {
            let attributes = Attribute::parse_outer(input)?;
            let name = input.parse()?;
            input.parse::<Token![:]>()?;
            Ok((attributes, name, input.parse()?))
        };
        let list = Punctuated::<_, Token![,]>::parse_terminated_with(input, field)?;
        Ok(Fields(list.into_iter().collect()))
    }
}

fn sign(tokens: TokenStream) -> Result<Sign> {
    let name: Ident = syn::parse2(tokens)?;
    choose(&name.to_string(), || format!("unknown assumption `{name}`"))
        .map_err(|wrong: Wrong| Error::new(name.span(), wrong))
}

/// The contents in `init = …`.
struct Init(TokenStream);

impl Parse for Init {
    fn parse(input: ParseStream<'_>) -> Result<Init> {
        let key: Ident = input.parse()?;
        if key != "init" {
            return Err(Error::new(key.span(), "only `init = …` is allowed here"));
        }
        input.parse::<Token![=]>()?;
        Ok(Init(input.parse()?))
    }
}

/// Contents, optionally with a symbolic region: `0, symbolic = lower`.
struct Filled {
    contents: Expr,
    region: Option<Region>,
}

impl Parse for Filled {
    fn parse(input: ParseStream<'_>) -> Result<Filled> {
        let contents = input.parse()?;
        if input.is_empty() {
            return Ok(Filled { contents, region: None });
        }
        input.parse::<Token![,]>()?;
        let key: Ident = input.parse()?;
        if key != "symbolic" {
            return Err(Error::new(key.span(), "only `symbolic = …` is allowed here"));
        }
        input.parse::<Token![=]>()?;
        let name: Ident = input.parse()?;
        let region = choose(&name.to_string(), || format!("unknown part `{name}`"))
            .map_err(|wrong: Wrong| Error::new(name.span(), wrong))?;
        Ok(Filled { contents, region: Some(region) })
    }
}

fn contents(tokens: TokenStream, is_float: bool) -> Result<Contents> {
    let Filled { contents: expression, region } = syn::parse2(tokens)?;
    if let Some(region) = region {
        return Ok(Contents::Partly(region, number(&expression, is_float)?));
    }
    if let Expr::Array(list) = &expression {
        return Ok(Contents::List(
            list.elems.iter().map(|item| number(item, is_float)).collect::<Result<_>>()?,
        ));
    }
    if let Expr::Lit(ExprLit { lit: Lit::Str(file), .. }) = &expression
        && volta_case::CONTENTS_FILES.iter().any(|extension| file.value().ends_with(extension))
    {
        return Ok(Contents::File(file.clone()));
    }
    if let Expr::Path(path) = &expression
        && let Some(name) = path.path.get_ident()
        && let Some(named) = NamedContents::parse(&name.to_string())
    {
        return Ok(Contents::Named(named));
    }
    Ok(Contents::Fill(number(&expression, is_float)?))
}

/// A literal, `inf`, or a constant expression of the parameter's kind.
#[expect(clippy::wildcard_enum_match_arm, reason = "an enum of `syn`, which may grow")]
pub(crate) fn number(expression: &Expr, is_float: bool) -> Result<Number> {
    let (sign, inner) = match expression {
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => ("-", &**expr),
        other => ("", other),
    };
    let no_float = || Err(Error::new_spanned(expression, "this parameter is an integer"));
    match inner {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(digits) => Ok(Number::Literal(format!("{sign}{}", digits.base10_digits()))),
            Lit::Float(_) if !is_float => no_float(),
            Lit::Float(digits)
                if sign == "-" && digits.base10_parse::<f64>().is_ok_and(|value| value == 0.0) =>
            {
                Err(Error::new_spanned(
                    expression,
                    "−0 cannot be given: a case has reals, which have one zero",
                ))
            }
            Lit::Float(digits) => Ok(Number::Literal(format!("{sign}{}", digits.base10_digits()))),
            Lit::Bool(value) if !is_float => Ok(Number::Literal(u8::from(value.value).to_string())),
            Lit::Str(_)
            | Lit::ByteStr(_)
            | Lit::CStr(_)
            | Lit::Byte(_)
            | Lit::Char(_)
            | Lit::Bool(_)
            | Lit::Verbatim(_)
            | _ => Err(Error::new_spanned(expression, "expected a number here")),
        },
        Expr::Path(path) if path.path.is_ident("inf") => {
            if is_float {
                Ok(Number::Literal(format!("{sign}inf")))
            } else {
                no_float()
            }
        }
        _ if is_float => Ok(Number::Real(Box::new(expression.clone()))),
        _ => Ok(Number::Integer(Box::new(expression.clone()))),
    }
}
