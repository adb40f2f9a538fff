//! A side or a step that is a graph of operators: `reference = spec("softmax", dim = 1)`, `formula("y[i] = x[i]  i < 4")`
//! or `graph("attention.json")`.
//!
//! What is given becomes text, as it would stand in a `volta.toml`, which has one reader.

#![expect(clippy::wildcard_enum_match_arm, reason = "enums of `syn`, which may grow")]

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Error, Expr, ExprLit, ExprUnary, Lit, LitStr, Result, UnOp};
use volta_case::path_problem;

use crate::attribute::Reader;
use crate::signature::Param;

/// A graph: keys as they stand in a `volta.toml`, each with an expression for its value as text.
pub(crate) struct GraphStep {
    pub(crate) keys: Vec<(String, TokenStream)>,
    /// The file that holds it.
    pub(crate) file: Option<LitStr>,
}

impl Reader<'_> {
    /// A graph, if that is what a call says.
    pub(crate) fn graph(&mut self, call: &Expr) -> Option<Result<GraphStep>> {
        let Expr::Call(call) = call else { return None };
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let params = self.function.map_or(&[][..], |function| &function.params);
        Some(match call.func.to_token_stream().to_string().as_str() {
            "spec" => spec(call, &arguments, params),
            "formula" => texts(call, &arguments).map(|texts| {
                let texts = texts.iter().map(|text| quoted(&text.value()));
                let list = format!("[{}]", texts.collect::<Vec<_>>().join(", "));
                GraphStep { keys: vec![("formula".into(), quote!(#list))], file: None }
            }),
            "graph" => match arguments.as_slice() {
                [Expr::Lit(ExprLit { lit: Lit::Str(file), .. })] => match path_problem(&file.value()) {
                    None => {
                        let path = quoted(&file.value());
                        Ok(GraphStep {
                            keys: vec![("graph".into(), quote!(#path))],
                            file: Some(file.clone()),
                        })
                    }
                    Some(message) => Err(Error::new(file.span(), message)),
                },
                _ => Err(Error::new_spanned(call, "a graph is in a file: `graph(\"attention.json\")`")),
            },
            "nodes" => {
                let message = "nodes stand in a file, `graph(\"attention.json\")`, or in a `volta.toml`";
                Err(Error::new_spanned(call, message))
            }
            _ => return None,
        })
    }
}

/// An operator with its arguments: `spec("softmax", self = x, dim = 1)`.
fn spec(call: &syn::ExprCall, arguments: &[&Expr], params: &[Param]) -> Result<GraphStep> {
    let help = "an operator and its arguments: `spec(\"softmax\", dim = 1)`";
    let [Expr::Lit(ExprLit { lit: Lit::Str(operator), .. }), arguments @ ..] = arguments else {
        return Err(Error::new_spanned(call, help));
    };
    let operator = quoted(&operator.value());
    let mut keys = vec![("spec".to_owned(), quote!(#operator))];
    for argument in arguments {
        let Expr::Assign(assign) = argument else { return Err(Error::new_spanned(argument, help)) };
        let name = match &*assign.left {
            Expr::Path(path) => path.path.get_ident().map(|name| name.to_string()),
            _ => None,
        };
        let Some(name) = name else { return Err(Error::new_spanned(&assign.left, help)) };
        let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
        if keys.iter().any(|(known, _)| *known == name) {
            return Err(Error::new_spanned(&assign.left, format!("`{name}` is given twice")));
        }
        keys.push((name, value(&assign.right, params)?));
    }
    Ok(GraphStep { keys, file: None })
}

fn texts(call: &syn::ExprCall, arguments: &[&Expr]) -> Result<Vec<LitStr>> {
    let text = |argument: &&Expr| match argument {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Ok(text.clone()),
        _ => Err(Error::new_spanned(argument, "a formula is a text")),
    };
    if arguments.is_empty() {
        return Err(Error::new_spanned(call, "what each element of an output is: `formula(\"y[i] = …\")`"));
    }
    arguments.iter().map(text).collect()
}

/// An expression for the text of an argument: a name, a number, a word, or a list of these.
fn value(given: &Expr, params: &[Param]) -> Result<TokenStream> {
    match given {
        Expr::Array(list) => {
            let items = list.elems.iter().map(|item| value(item, params)).collect::<Result<Vec<_>>>()?;
            Ok(quote!(&::std::format!("[{}]", [#(::std::string::String::from(#items)),*].join(", "))))
        }
        Expr::Path(path)
            if path.path.get_ident().is_some_and(|name| params.iter().any(|param| param.name == *name)) =>
        {
            let name = quoted(&path.to_token_stream().to_string());
            Ok(quote!(#name))
        }
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            let text = quoted(&text.value());
            Ok(quote!(#text))
        }
        Expr::Lit(ExprLit { lit: Lit::Bool(flag), .. }) => {
            let text = flag.value.to_string();
            Ok(quote!(#text))
        }
        other => Ok(match decimal(other) {
            Some(digits) => quote!(#digits),
            None => quote!(&::std::string::ToString::to_string(&::volta_test::__private::integer(#other))),
        }),
    }
}

/// A literal with a decimal point or an exponent, as TOML spells it.
fn decimal(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Float(digits), .. }) => {
            let digits = digits.base10_digits();
            Some(if digits.ends_with('.') { format!("{digits}0") } else { digits.to_owned() })
        }
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => Some(format!("-{}", decimal(expr)?)),
        _ => None,
    }
}

/// A text in quotes, as TOML spells it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
