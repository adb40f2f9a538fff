//! `family(N = [1, 31, 64..=66], T = [f32, f16])`: an attribute that stands for several cases, its members. Before a
//! member is read, each variable is replaced by its value: as a name in the attribute and in the signature, and in
//! braces in texts.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, Lit, LitStr, RangeLimits, Result, Token};
use volta_case::{Family, MAX_MEMBERS};

/// The value of a variable.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Bound {
    Number(u64),
    /// A type, or another name.
    Name(Ident),
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Number(number) => write!(f, "{number}"),
            Bound::Name(name) => write!(f, "{name}"),
        }
    }
}

impl Bound {
    fn token(&self, span: Span) -> TokenTree {
        match self {
            Bound::Number(number) => {
                let mut literal = Literal::u64_unsuffixed(*number);
                literal.set_span(span);
                literal.into()
            }
            Bound::Name(name) => {
                let mut name = name.clone();
                name.set_span(span);
                name.into()
            }
        }
    }
}

/// One member.
pub(crate) type Member = volta_case::Member<Bound>;

/// The name of a member as the end of an identifier: `n_97_t_f16`.
pub(crate) fn suffix(member: &Member) -> String {
    member.to_string().to_lowercase().replace(|c: char| !c.is_alphanumeric(), "_")
}

/// Replaces the variables.
pub(crate) fn applied(member: &Member, tokens: TokenStream) -> TokenStream {
    tokens.into_iter().map(|token| replaced(member, token)).collect()
}

fn replaced(member: &Member, token: TokenTree) -> TokenTree {
    match token {
        TokenTree::Group(group) => {
            let mut inner = Group::new(group.delimiter(), applied(member, group.stream()));
            inner.set_span(group.span());
            inner.into()
        }
        TokenTree::Ident(name) => match member.value(&name.to_string()) {
            Some(value) => value.token(name.span()),
            None => name.into(),
        },
        TokenTree::Literal(literal) => match syn::parse_str::<LitStr>(&literal.to_string()) {
            Ok(text) => {
                let put = |text: String, (name, value): &(String, Bound)| {
                    text.replace(&format!("{{{name}}}"), &value.to_string())
                };
                let mut filled = Literal::string(&member.values().iter().fold(text.value(), put));
                filled.set_span(literal.span());
                filled.into()
            }
            Err(_) => literal.into(),
        },
        other @ TokenTree::Punct(_) => other,
    }
}

/// `N = [1, 31]`
struct Variable {
    name: Ident,
    given: Expr,
    values: Vec<Bound>,
}

impl Parse for Variable {
    fn parse(input: ParseStream<'_>) -> Result<Variable> {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let given: Expr = input.parse()?;
        let items: Vec<&Expr> =
            if let Expr::Array(list) = &given { list.elems.iter().collect() } else { vec![&given] };
        let (mut values, mut seen): (Vec<Bound>, HashSet<String>) = Default::default();
        for item in items {
            for value in bounds(item)? {
                if seen.insert(value.to_string()) {
                    values.push(value);
                }
            }
        }
        Ok(Variable { name, given, values })
    }
}

/// The values that an expression stands for.
fn bounds(item: &Expr) -> Result<Vec<Bound>> {
    let wrong = || Error::new_spanned(item, "a value of a family is a whole number, `1..=64`, or a type");
    let number = |expression: &Expr| {
        if let Expr::Lit(ExprLit { lit: Lit::Int(digits), .. }) = expression
            && digits.suffix().is_empty()
        {
            return digits.base10_parse::<u64>().map_err(|_| wrong());
        }
        Err(wrong())
    };
    if let Expr::Range(range) = item {
        let (Some(first), Some(last), RangeLimits::Closed(_)) = (&range.start, &range.end, range.limits)
        else {
            return Err(wrong());
        };
        let (first, last) = (number(first)?, number(last)?);
        if last.saturating_sub(first) >= MAX_MEMBERS as u64 {
            return Err(Error::new_spanned(item, format!("these are more than {MAX_MEMBERS} numbers")));
        }
        return Ok((first..=last).map(Bound::Number).collect());
    }
    if let Expr::Path(path) = item {
        let name = path.path.get_ident().ok_or_else(wrong)?;
        if name == "any" {
            return Err(Error::new_spanned(
                item,
                "`any` is a value of families in `volta.toml`; list sizes here",
            ));
        }
        return Ok(vec![Bound::Name(name.clone())]);
    }
    Ok(vec![Bound::Number(number(item)?)])
}

/// Takes `family(…)` out of an attribute; returns the rest, and the family.
pub(crate) fn split(attribute: TokenStream) -> Result<(TokenStream, Option<Family<Bound>>)> {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ',');
    let (mut rest, mut family) = (TokenStream::new(), None);
    for entry in tokens.split_inclusive(is_comma) {
        match entry {
            [TokenTree::Ident(key), TokenTree::Group(list), ..] if key == "family" => {
                if family.is_some() {
                    return Err(Error::new(key.span(), "`family` is given twice"));
                }
                family = Some(read(list)?);
            }
            [TokenTree::Ident(key), ..] if key == "family" => {
                return Err(Error::new(
                    key.span(),
                    "`family` is a list of variables: `family(N = [1, 31, 64..=66])`",
                ));
            }
            other => rest.extend(other.iter().cloned()),
        }
    }
    Ok((rest, family))
}

fn read(list: &Group) -> Result<Family<Bound>> {
    let variables = Punctuated::<Variable, Token![,]>::parse_terminated.parse2(list.stream())?;
    if variables.is_empty() {
        return Err(Error::new(list.span(), "a family has a variable: `family(N = [1, 31, 64..=66])`"));
    }
    let mut family = Family::default();
    for Variable { name, given, values } in variables {
        family.add(&name.to_string(), values).map_err(|wrong| Error::new_spanned(&given, wrong))?;
    }
    Ok(family)
}
