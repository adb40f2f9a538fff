//! `family(N = [1, 31, 64..=66], T = [f32, f16])`: an attribute that stands for several cases, its members. Before a
//! member is read, each variable is replaced by its value: as a name in the attribute and in the signature, and in
//! braces in texts.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{BinOp, Error, Expr, ExprBinary, ExprLit, Lit, LitStr, RangeLimits, Result, Token};
use volta_case::{Family, MAX_MEMBERS};

/// The value of a variable.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Bound {
    Number(u64),
    /// A type, or another name.
    Name(Ident),
    /// Every number from this one on.
    Any(u64),
}

/// The value of a variable that is every number.
const ANY: &str = "any";

/// The least number of a family in a case at every size: sizes are positive.
const LEAST: u64 = 1;

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Number(number) => write!(f, "{number}"),
            Bound::Name(name) => write!(f, "{name}"),
            Bound::Any(_) => f.write_str(ANY),
        }
    }
}

impl Bound {
    /// What stands for a variable; nothing where it remains, as a variable of the code that builds the case.
    fn token(&self, span: Span) -> Option<TokenTree> {
        match self {
            Bound::Number(number) => {
                let mut literal = Literal::u64_unsuffixed(*number);
                literal.set_span(span);
                Some(literal.into())
            }
            Bound::Name(name) => {
                let mut name = name.clone();
                name.set_span(span);
                Some(name.into())
            }
            Bound::Any(_) => None,
        }
    }
}

/// One member.
pub(crate) type Member = volta_case::Member<Bound>;

/// The name of a member as the end of an identifier: `n_97_t_f16`.
pub(crate) fn suffix(member: &Member) -> String {
    member.to_string().to_lowercase().replace(|c: char| !c.is_alphanumeric(), "_")
}

/// The variable of a member that is every number, and its least value.
pub(crate) fn any(member: &Member) -> Option<(&str, u64)> {
    member.values().iter().find_map(|(name, value)| match value {
        Bound::Any(least) => Some((name.as_str(), *least)),
        Bound::Number(_) | Bound::Name(_) => None,
    })
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
        TokenTree::Ident(name) => {
            let value = member.value(&name.to_string()).and_then(|value| value.token(name.span()));
            value.unwrap_or_else(|| name.into())
        }
        TokenTree::Literal(literal) => match syn::parse_str::<LitStr>(&literal.to_string()) {
            Ok(text) => {
                let put = |text: String, (name, value): &(String, Bound)| match value {
                    Bound::Number(_) | Bound::Name(_) => {
                        text.replace(&format!("{{{name}}}"), &value.to_string())
                    }
                    // A text is the same at every size.
                    Bound::Any(_) => text,
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
    let wrong =
        || Error::new_spanned(item, "a value of a family is a whole number, `1..=64`, a type, or `any`");
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
        return Ok(vec![if name == ANY { Bound::Any(LEAST) } else { Bound::Name(name.clone()) }]);
    }
    if let Expr::Binary(ExprBinary { left, op: BinOp::Ge(_), right, .. }) = item
        && matches!(&**left, Expr::Path(path) if path.path.is_ident(ANY))
    {
        let least = number(right)?;
        if !(LEAST..=1 << 32).contains(&least) {
            return Err(Error::new_spanned(item, "`any >= …` needs a whole number from 1 to 2^32"));
        }
        return Ok(vec![Bound::Any(least)]);
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
    let mut open = false;
    for Variable { name, given, values } in variables {
        if values.iter().any(|value| matches!(value, Bound::Any(_))) {
            if std::mem::replace(&mut open, true) {
                let message = "another variable is `any` already, and only one may be";
                return Err(Error::new_spanned(&given, message));
            }
            if values.len() > 1 {
                let message = "`any` is the only value of a variable: it stands for all numbers";
                return Err(Error::new_spanned(&given, message));
            }
        }
        family.add(&name.to_string(), values).map_err(|wrong| Error::new_spanned(&given, wrong))?;
    }
    Ok(family)
}
