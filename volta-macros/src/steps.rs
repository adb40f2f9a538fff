//! A side that is no single kernel: `opt = ["a.cu::part", fill(y, 0), "a.cu::reduce"]`, or a graph.
//!
//! Keys with the prefix of the side are then lists with an element for each kernel, `opt_block = [128, 64]`, or hold for
//! all of them; its arguments are `opt_args([x, part], [part, y])`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote};
use syn::parse::Parser as _;
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Token};

use crate::attribute::{Entry, Given, REPEAT, Reader, Side, by_side};
use crate::graph::GraphStep;
use crate::signature::{Number, number};

/// A step of a side.
pub(crate) enum Step {
    Launch(Side),
    Fill(Ident, Number),
    Copy(Ident, Ident),
    Graph(GraphStep),
}

impl Reader<'_> {
    /// The steps of a side: one kernel, or a list.
    pub(crate) fn steps(&mut self, source_key: &str, prefix: &str) -> Option<Vec<Step>> {
        let list = match self.entry(source_key).map(|entry| entry.value.clone()) {
            Some(Given::Value(Expr::Array(list))) => list,
            Some(Given::Value(call @ Expr::Call(_))) => return self.set(&call).map(|step| vec![step]),
            _ => return Some(vec![Step::Launch(self.side(source_key, prefix)?)]),
        };
        let items: Vec<Expr> = list.elems.iter().cloned().collect();
        let kernels = items.iter().filter(|item| matches!(item, Expr::Lit(_))).count();
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

    /// Reports a side that computes nothing, and what is said of kernels where there is none.
    pub(crate) fn check_steps(&mut self, sides: [(&str, &[Step]); 2]) {
        let is_kernel = |step: &Step| matches!(step, Step::Launch(_));
        let has_kernel = |steps: &[Step]| steps.iter().any(is_kernel);
        for (key, steps) in sides {
            let is_graph = |step: &Step| matches!(step, Step::Graph(_));
            if !steps.is_empty() && !has_kernel(steps) && !steps.iter().any(is_graph) {
                let span = self.entry(key).map_or_else(Span::call_site, |entry| entry.key.span());
                self.complain(Error::new(span, "a side needs a kernel, `\"file.cu::kernel\"`, or a graph"));
            }
        }
        let [reference, opt] = sides.map(|(_, steps)| has_kernel(steps));
        for at in 0..self.entries.len() {
            let key = self.entries[at].key.clone();
            let name = key.to_string();
            let (own, has_kernel) = match (name.strip_prefix("ref_"), name.strip_prefix("opt_")) {
                (Some(own), _) => (own, reference),
                (_, Some(own)) => (own, opt),
                (None, None) => (name.as_str(), reference || opt),
            };
            if !has_kernel && own != REPEAT && by_side().contains(&own) {
                self.complain(Error::new(key.span(), format!("`{name}`: there is no kernel that has it")));
            }
        }
    }

    /// A step that is no kernel: `fill(y, 0)`, `copy(x, y)`, or a graph.
    fn set(&mut self, item: &Expr) -> Option<Step> {
        if let Some(graph) = self.graph(item) {
            return graph.map_err(|error| self.complain(error)).ok().map(Step::Graph);
        }
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
                let message = "a step is a kernel, `\"file.cu::kernel\"`, `fill(tensor, 0)`, `copy(from, to)`, or a \
                               graph: `spec(\"softmax\", dim = 1)`, `formula(\"y[i] = …\")`, `graph(\"file.json\")`";
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
