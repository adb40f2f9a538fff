//! A side with several steps: `opt = ["a.cu::part", fill(y, 0), "a.cu::reduce"]`.
//!
//! Keys with the prefix of the side are then lists with an element for each kernel, `opt_block = [128, 64]`, or hold for
//! all of them; its arguments are `opt_args([x, part], [part, y])`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Token};

use crate::attribute::{Entry, Given, Reader, Side};
use crate::signature::{Number, number};

/// A step of a side.
pub(crate) enum Step {
    Launch(Side),
    Fill(Ident, Number),
    Copy(Ident, Ident),
}

impl Reader<'_> {
    /// The steps of a side: one kernel, or a list.
    pub(crate) fn steps(&mut self, source_key: &str, prefix: &str) -> Option<Vec<Step>> {
        let Some(Given::Value(Expr::Array(list))) = self.entry(source_key).map(|entry| &entry.value) else {
            return Some(vec![Step::Launch(self.side(source_key, prefix)?)]);
        };
        let items: Vec<Expr> = list.elems.iter().cloned().collect();
        let list = list.clone();
        let kernels = items.iter().filter(|item| matches!(item, Expr::Lit(_))).count();
        if kernels == 0 {
            self.complain(Error::new_spanned(&list, "a side needs a kernel: `\"file.cu::kernel\"`"));
            return None;
        }
        let mut steps = Vec::new();
        let mut at = 0;
        for item in items {
            if let Expr::Call(_) = item {
                steps.push(self.set(&item)?);
                continue;
            }
            let own =
                self.entries.iter().map(|entry| of_kernel(entry, (source_key, prefix), &item, (at, kernels)));
            let own: Vec<Entry> = own.collect();
            let all = std::mem::replace(&mut self.entries, own);
            let side = self.side(source_key, prefix);
            self.entries = all;
            steps.push(Step::Launch(side?));
            at += 1;
        }
        Some(steps)
    }

    /// A step that is no kernel: `fill(y, 0)` or `copy(x, y)`.
    fn set(&mut self, item: &Expr) -> Option<Step> {
        let Expr::Call(call) = item else { return None };
        let name = call.func.to_token_stream().to_string();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match (name.as_str(), arguments.as_slice()) {
            ("fill", [tensor, with]) => self.tensor(tensor).and_then(|tensor| match number(with, true) {
                Ok(with) => Some(Step::Fill(tensor, with)),
                Err(error) => {
                    self.complain(error);
                    None
                }
            }),
            ("copy", [from, to]) => {
                self.tensor(from).zip(self.tensor(to)).map(|(from, to)| Step::Copy(from, to))
            }
            _ => {
                let message =
                    "a step is a kernel, `\"file.cu::kernel\"`, `fill(tensor, 0)`, or `copy(from, to)`";
                self.complain(Error::new_spanned(item, message));
                None
            }
        }
    }

    /// A parameter by its name.
    fn tensor(&mut self, name: &Expr) -> Option<Ident> {
        let ident = if let Expr::Path(path) = name { path.path.get_ident().cloned() } else { None };
        let known = |name: &Ident| {
            let mut params = self.function.iter().flat_map(|function| &function.params);
            params.any(|param| param.name == *name)
        };
        let found = ident.filter(known);
        if found.is_none() {
            let message = format!("there is no parameter `{}`", name.to_token_stream());
            self.complain(Error::new_spanned(name, message));
        }
        found
    }
}

/// An entry as it is for one kernel of several: number `at` of `kernels`, whose source is given.
fn of_kernel(
    entry: &Entry,
    (source_key, prefix): (&str, &str),
    source: &Expr,
    (at, kernels): (usize, usize),
) -> Entry {
    let key = entry.key.to_string();
    let is_own = !prefix.is_empty() && key.starts_with(prefix) || prefix.is_empty();
    let value = match &entry.value {
        _ if key == source_key => Given::Value(source.clone()),
        Given::Value(Expr::Array(list)) if is_own && list.elems.len() == kernels => {
            Given::Value(list.elems[at].clone())
        }
        Given::List(tokens) if is_own => {
            Given::List(of_list(tokens, (at, kernels)).unwrap_or(tokens.clone()))
        }
        other @ (Given::Nothing | Given::Value(_) | Given::List(_)) => other.clone(),
    };
    Entry { key: entry.key.clone(), value }
}

/// The elements of one of several lists, `[a, b], [c]`.
fn of_list(tokens: &TokenStream, (at, kernels): (usize, usize)) -> Option<TokenStream> {
    let lists = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()).ok()?;
    let is_list = |item: &Expr| matches!(item, Expr::Array(_));
    if lists.len() != kernels || !lists.iter().all(is_list) {
        return None;
    }
    let Expr::Array(list) = &lists[at] else { return None };
    let elements = &list.elems;
    Some(quote!(#elements))
}
