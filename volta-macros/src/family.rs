//! `family(N = [1, 31, 64..=66], T = [f32, f16])`: an attribute that stands for several cases, its members. Before a
//! member is read, each variable is replaced by its value: as a name in the attribute and in the signature, and in
//! braces in texts.

use proc_macro2::{Group, Ident, Literal, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, ExprLit, Lit, LitStr, RangeLimits, Result, Token};

/// A family has at most so many members.
const MAX_MEMBERS: usize = 4096;

/// The value of a variable.
#[derive(Clone, PartialEq, Eq)]
enum Bound {
    Number(u64),
    /// A type, or another name.
    Name(Ident),
}

impl Bound {
    fn text(&self) -> String {
        match self {
            Bound::Number(number) => number.to_string(),
            Bound::Name(name) => name.to_string(),
        }
    }

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

/// A member: the value of each variable.
#[derive(Clone, Default)]
pub(crate) struct Member(Vec<(String, Bound)>);

impl Member {
    /// Its name: `N=97,T=f16`.
    pub(crate) fn name(&self) -> String {
        let parts: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}={}", value.text())).collect();
        parts.join(",")
    }

    /// Its name as the end of an identifier: `n_97_t_f16`.
    pub(crate) fn suffix(&self) -> String {
        let parts: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{name}_{}", value.text())).collect();
        parts.join("_").to_lowercase().replace(|c: char| !c.is_alphanumeric(), "_")
    }

    /// Replaces the variables.
    pub(crate) fn applied(&self, tokens: TokenStream) -> TokenStream {
        tokens.into_iter().map(|token| self.replaced(token)).collect()
    }

    fn replaced(&self, token: TokenTree) -> TokenTree {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), self.applied(group.stream()));
                inner.set_span(group.span());
                inner.into()
            }
            TokenTree::Ident(name) => {
                let bound = self.0.iter().find(|(known, _)| name == known);
                bound.map_or_else(|| name.clone().into(), |(_, value)| value.token(name.span()))
            }
            TokenTree::Literal(literal) => match syn::parse_str::<LitStr>(&literal.to_string()) {
                Ok(text) => {
                    let put = |text: String, (name, value): &(String, Bound)| {
                        text.replace(&format!("{{{name}}}"), &value.text())
                    };
                    let mut filled = Literal::string(&self.0.iter().fold(text.value(), put));
                    filled.set_span(literal.span());
                    filled.into()
                }
                Err(_) => literal.into(),
            },
            other @ TokenTree::Punct(_) => other,
        }
    }
}

/// `N = [1, 31]`
struct Variable {
    name: Ident,
    values: Vec<Bound>,
}

impl Parse for Variable {
    fn parse(input: ParseStream<'_>) -> Result<Variable> {
        let name: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let given: Expr = input.parse()?;
        let items: Vec<&Expr> =
            if let Expr::Array(list) = &given { list.elems.iter().collect() } else { vec![&given] };
        let mut values: Vec<Bound> = Vec::new();
        for item in items {
            for value in bounds(item)? {
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
        if values.is_empty() {
            return Err(Error::new_spanned(&given, format!("the variable `{name}` has no value")));
        }
        Ok(Variable { name, values })
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
        return Ok(vec![Bound::Name(name.clone())]);
    }
    Ok(vec![Bound::Number(number(item)?)])
}

/// Takes `family(…)` out of an attribute; returns the rest, and the members.
pub(crate) fn split(attribute: TokenStream) -> Result<(TokenStream, Option<Vec<Member>>)> {
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(sign) if sign.as_char() == ',');
    let (mut rest, mut members) = (TokenStream::new(), None);
    for entry in tokens.split_inclusive(is_comma) {
        match entry {
            [TokenTree::Ident(key), TokenTree::Group(list), ..] if key == "family" => {
                if members.is_some() {
                    return Err(Error::new(key.span(), "`family` is given twice"));
                }
                members = Some(read(list)?);
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
    Ok((rest, members))
}

fn read(list: &Group) -> Result<Vec<Member>> {
    let variables = Punctuated::<Variable, Token![,]>::parse_terminated.parse2(list.stream())?;
    if variables.is_empty() {
        return Err(Error::new(list.span(), "a family has a variable: `family(N = [1, 31, 64..=66])`"));
    }
    let mut members = vec![Member::default()];
    for Variable { name, values } in &variables {
        if members.len() * values.len() > MAX_MEMBERS {
            return Err(Error::new(name.span(), format!("this family has more than {MAX_MEMBERS} members")));
        }
        let with = |member: &Member, value: &Bound| {
            let bound = (name.to_string(), value.clone());
            Member(member.0.iter().cloned().chain([bound]).collect())
        };
        members =
            members.iter().flat_map(|member| values.iter().map(move |value| with(member, value))).collect();
    }
    Ok(members)
}
