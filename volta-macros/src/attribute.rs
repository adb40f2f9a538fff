//! The attribute: which kernels, how they are launched, what is expected.

use proc_macro2::{Ident, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Lit, LitBool, LitInt, LitStr, Result, Token, parenthesized, token};

use crate::names::{LIMITS, PAIR_VERDICTS, VERDICTS, hint};
use crate::signature::{Function, Number, combine, number};

/// Which attribute it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Pair,
    Single,
}

/// The attribute.
pub(crate) struct CaseAttribute {
    pub reference: Option<Side>,
    pub opt: Side,
    pub expect: Option<Expect>,
    pub why: Option<LitStr>,
    pub wmma_layout: Option<LitStr>,
    pub timeout: Option<LitStr>,
    /// `partial = true`, …
    pub relaxations: Vec<(Ident, bool)>,
    pub limits: Vec<(String, Expr)>,
    pub slow: bool,
    pub snapshot: bool,
}

/// One kernel.
pub(crate) struct Side {
    pub source: LitStr,
    pub block: Expr,
    pub grid: Option<Expr>,
    pub shared: Option<Expr>,
    pub ctas: Option<Vec<LitInt>>,
    pub flags: Vec<LitStr>,
    pub arch: Option<LitStr>,
    pub args: Option<Vec<Arg>>,
}

/// An argument in a kernel's parameter list.
pub(crate) enum Arg {
    Named(Ident),
    Literal(Number),
}

/// The expected verdict.
pub(crate) struct Expect {
    pub verdict: LitStr,
    pub side: Option<LitStr>,
    pub rule: Option<LitStr>,
    pub lines: Option<Vec<LitInt>>,
}

/// `key`, `key = value` or `key(…)`.
struct Entry {
    key: Ident,
    value: Given,
}

enum Given {
    Nothing,
    Value(Expr),
    List(TokenStream),
}

/// Keys that take a prefix where the sides differ.
const BY_SIDE: [&str; 7] = ["block", "grid", "shared", "ctas", "flags", "arch", "args"];

const RULES: [&str; 4] =
    ["partial", "exit_orders_memory", "strict_barriers", "warp_collectives_order_memory"];

/// Reads the attribute.
pub(crate) fn parse(tokens: TokenStream, form: Form, function: &Function) -> Result<CaseAttribute> {
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated_with;
    let parser = |input: ParseStream<'_>| entries(input, parse_entry);
    let entries: Vec<Entry> = parser.parse2(tokens)?.into_iter().collect();
    Reader { form, function, entries, errors: None }.read()
}

fn parse_entry(input: ParseStream<'_>) -> Result<Entry> {
    let key: Ident = input.parse()?;
    let value = if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        Given::Value(input.parse()?)
    } else if input.peek(token::Paren) {
        let content;
        parenthesized!(content in input);
        Given::List(content.parse()?)
    } else {
        Given::Nothing
    };
    Ok(Entry { key, value })
}

struct Reader<'f> {
    form: Form,
    function: &'f Function,
    entries: Vec<Entry>,
    errors: Option<Error>,
}

impl Reader<'_> {
    fn read(mut self) -> Result<CaseAttribute> {
        self.check_keys();
        // What is missing may be what is misspelt.
        if let Some(errors) = self.errors {
            return Err(errors);
        }
        let (reference, opt) = match self.form {
            Form::Pair => (self.side("reference", "ref_"), self.side("opt", "opt_")),
            Form::Single => (None, self.side("kernel", "")),
        };
        let expect = self.expect();
        let why = self.text("why");
        let wmma_layout = self.text("wmma_layout");
        let timeout = self.text("timeout");
        let relaxations = RULES.iter().filter_map(|name| Some((self.key(name)?, self.flag(name)?))).collect();
        let limits = LIMITS.iter().filter_map(|name| Some(((*name).to_owned(), self.value(name)?))).collect();
        let slow = self.flag("slow").unwrap_or(false);
        let snapshot = self.flag("snapshot").unwrap_or(true);
        match (self.errors, opt) {
            (Some(errors), _) => Err(errors),
            (None, Some(opt)) => Ok(CaseAttribute {
                reference,
                opt,
                expect,
                why,
                wmma_layout,
                timeout,
                relaxations,
                limits,
                slow,
                snapshot,
            }),
            (None, None) => Err(Error::new(self.function.name.span(), "a case needs a kernel")),
        }
    }

    /// Complains about unknown and repeated keys.
    fn check_keys(&mut self) {
        let mut known: Vec<String> = Vec::new();
        let fixed: &[&str] = match self.form {
            Form::Pair => &["reference", "opt"],
            Form::Single => &["kernel"],
        };
        known.extend(fixed.iter().chain(&BY_SIDE).map(|key| (*key).to_owned()));
        if self.form == Form::Pair {
            known.extend(["ref_", "opt_"].iter().flat_map(|side| BY_SIDE.map(|key| format!("{side}{key}"))));
        }
        let others = ["expect", "why", "wmma_layout", "timeout", "slow", "snapshot"];
        known.extend(others.iter().chain(&RULES).chain(&LIMITS).map(|key| (*key).to_owned()));
        let names: Vec<&str> = known.iter().map(String::as_str).collect();
        for at in 0..self.entries.len() {
            let key = self.entries[at].key.clone();
            let name = key.to_string();
            let message = if self.entries[..at].iter().any(|entry| entry.key == key) {
                format!("`{name}` is given twice")
            } else if names.contains(&name.as_str()) {
                continue;
            } else if self.form == Form::Single && (name == "reference" || name == "opt") {
                format!("`{name}` is for pairs, `#[verify_equiv]`; one kernel alone is `kernel = \"…\"`")
            } else if self.form == Form::Pair && name == "kernel" {
                "a pair has `reference` and `opt`; one kernel alone is `#[verify_kernel]`".to_owned()
            } else {
                format!("unknown key `{name}`{}", hint(&name, &names))
            };
            self.complain(Error::new(key.span(), message));
        }
    }

    fn complain(&mut self, error: Error) {
        combine(&mut self.errors, error);
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == name)
    }

    fn key(&self, name: &str) -> Option<Ident> {
        self.entry(name).map(|entry| entry.key.clone())
    }

    /// The expression behind `name =`.
    fn value(&mut self, name: &str) -> Option<Expr> {
        let entry = self.entry(name)?;
        let (key, value) = (entry.key.clone(), &entry.value);
        match value {
            Given::Value(value) => Some(value.clone()),
            Given::Nothing | Given::List(_) => {
                self.complain(Error::new(key.span(), format!("`{name}` needs a value: `{name} = …`")));
                None
            }
        }
    }

    fn text(&mut self, name: &str) -> Option<LitStr> {
        let value = self.value(name)?;
        let text = literal_text(&value);
        if text.is_none() {
            self.complain(Error::new_spanned(&value, format!("`{name}` is a text")));
        }
        text
    }

    /// `name` or `name = true`.
    fn flag(&mut self, name: &str) -> Option<bool> {
        let entry = self.entry(name)?;
        let key = entry.key.clone();
        match &entry.value {
            Given::Nothing => Some(true),
            Given::Value(Expr::Lit(literal)) if matches!(literal.lit, Lit::Bool(_)) => match &literal.lit {
                Lit::Bool(LitBool { value, .. }) => Some(*value),
                _ => None,
            },
            Given::Value(_) | Given::List(_) => {
                self.complain(Error::new(key.span(), format!("`{name}` is `true` or `false`")));
                None
            }
        }
    }

    /// `prefix + name` if it is given, otherwise `name`.
    fn by_side(&self, prefix: &str, name: &str) -> Option<String> {
        let own = format!("{prefix}{name}");
        if self.entry(&own).is_some() {
            return Some(own);
        }
        self.entry(name).map(|_| name.to_owned())
    }

    fn value_by_side(&mut self, prefix: &str, name: &str) -> Option<Expr> {
        self.by_side(prefix, name).and_then(|key| self.value(&key))
    }

    fn side(&mut self, source_key: &str, prefix: &str) -> Option<Side> {
        let Some(source) = self.text(source_key) else {
            if self.entry(source_key).is_none() {
                let message = format!("`{source_key} = \"file.cu::kernel\"` is missing");
                self.complain(Error::new(proc_macro2::Span::call_site(), message));
            }
            return None;
        };
        let spelled = source.value();
        let (file, _) = split_source(&spelled);
        if !file.ends_with(".cu") && !file.ends_with(".ptx") {
            let message = format!("`{file}` is neither a .cu nor a .ptx file");
            self.complain(Error::new(source.span(), message));
        } else if file.starts_with('/') {
            self.complain(Error::new(source.span(), "paths are relative to this file"));
        }
        let Some(block) = self.value_by_side(prefix, "block") else {
            let message = format!("`block = …` is missing: how many threads run `{}`?", source.value());
            self.complain(Error::new(source.span(), message));
            return None;
        };
        let (grid, shared) = (self.value_by_side(prefix, "grid"), self.value_by_side(prefix, "shared"));
        for size in [Some(&block), grid.as_ref(), shared.as_ref()].into_iter().flatten() {
            if let Expr::Lit(literal) = size
                && !matches!(literal.lit, Lit::Int(_))
            {
                self.complain(Error::new_spanned(size, "a size is a whole number, or a list of up to three"));
            }
        }
        let ctas = self.value_by_side(prefix, "ctas").and_then(|list| self.integers(&list, "ctas"));
        let flags = self.value_by_side(prefix, "flags").and_then(|list| self.texts(&list, "flags"));
        let flags = flags.unwrap_or_default();
        let arch = self.by_side(prefix, "arch").and_then(|key| self.text(&key));
        let args = self.by_side(prefix, "args").and_then(|key| self.args(&key));
        Some(Side { source, block, grid, shared, ctas, flags, arch, args })
    }

    fn items(&mut self, list: &Expr, name: &str) -> Option<Vec<Expr>> {
        if let Expr::Array(list) = list {
            return Some(list.elems.iter().cloned().collect());
        }
        self.complain(Error::new_spanned(list, format!("`{name}` is a list: `[…]`")));
        None
    }

    fn integers(&mut self, list: &Expr, name: &str) -> Option<Vec<LitInt>> {
        let mut integers = Vec::new();
        for item in self.items(list, name)? {
            match &item {
                Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_)) => {
                    if let Lit::Int(integer) = &literal.lit {
                        integers.push(integer.clone());
                    }
                }
                other => self.complain(Error::new_spanned(other, format!("`{name}` holds whole numbers"))),
            }
        }
        Some(integers)
    }

    fn texts(&mut self, list: &Expr, name: &str) -> Option<Vec<LitStr>> {
        let mut texts = Vec::new();
        for item in self.items(list, name)? {
            match literal_text(&item) {
                Some(text) => texts.push(text),
                None => self.complain(Error::new_spanned(&item, format!("`{name}` holds texts"))),
            }
        }
        Some(texts)
    }

    /// `args(x, y, 128)`
    fn args(&mut self, name: &str) -> Option<Vec<Arg>> {
        let entry = self.entry(name)?;
        let key = entry.key.clone();
        let Given::List(tokens) = &entry.value else {
            self.complain(Error::new(
                key.span(),
                format!("`{name}` is a parameter list: `{name}(x, y, 128)`"),
            ));
            return None;
        };
        let parsed = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone());
        let expressions = match parsed {
            Ok(expressions) => expressions,
            Err(error) => {
                self.complain(error);
                return None;
            }
        };
        let names: Vec<String> = self.function.params.iter().map(|param| param.name.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut args = Vec::new();
        for expression in &expressions {
            match expression {
                Expr::Path(path) if path.path.get_ident().is_some_and(|name| name != "inf") => {
                    let Some(name) = path.path.get_ident() else { continue };
                    if !names.contains(&name.to_string().as_str()) {
                        let hint = hint(&name.to_string(), &names);
                        self.complain(Error::new(
                            name.span(),
                            format!("no parameter is called `{name}`{hint}"),
                        ));
                    }
                    args.push(Arg::Named(name.clone()));
                }
                literal => match number(literal, true) {
                    Ok(Number::Real(_) | Number::Integer(_)) => {
                        let message = "an argument is a parameter's name or a literal";
                        self.complain(Error::new_spanned(literal, message));
                    }
                    Ok(number) => args.push(Arg::Literal(number)),
                    Err(error) => self.complain(error),
                },
            }
        }
        Some(args)
    }

    /// `expect = "race"` or `expect(verdict = "race", …)`.
    fn expect(&mut self) -> Option<Expect> {
        let entry = self.entry("expect")?;
        let key = entry.key.clone();
        let Given::List(tokens) = &entry.value else {
            let verdict = self.text("expect")?;
            self.check_verdict(&verdict);
            return Some(Expect { verdict, side: None, rule: None, lines: None });
        };
        let tokens = tokens.clone();
        let entries = Punctuated::<Entry, Token![,]>::parse_terminated_with;
        let parser = |input: ParseStream<'_>| entries(input, parse_entry);
        let entries: Vec<Entry> = match parser.parse2(tokens) {
            Ok(entries) => entries.into_iter().collect(),
            Err(error) => {
                self.complain(error);
                return None;
            }
        };
        let keys = ["verdict", "side", "rule", "lines"];
        for entry in &entries {
            let name = entry.key.to_string();
            if !keys.contains(&name.as_str()) {
                self.complain(Error::new(
                    entry.key.span(),
                    format!("unknown key `{name}`{}", hint(&name, &keys)),
                ));
            }
        }
        let mut inner = Reader { form: self.form, function: self.function, entries, errors: None };
        let verdict = inner.text("verdict");
        let (side, rule) = (inner.text("side"), inner.text("rule"));
        let lines = inner.value("lines").and_then(|list| inner.integers(&list, "lines"));
        if let Some(side) = &side
            && !["reference", "opt", "kernel"].contains(&side.value().as_str())
        {
            inner.complain(Error::new(side.span(), "a side is \"reference\" or \"opt\""));
        }
        if let Some(errors) = inner.errors {
            self.complain(errors);
        }
        let Some(verdict) = verdict else {
            self.complain(Error::new(key.span(), "`expect` needs a verdict: `expect(verdict = \"race\")`"));
            return None;
        };
        self.check_verdict(&verdict);
        Some(Expect { verdict, side, rule, lines })
    }

    fn check_verdict(&mut self, verdict: &LitStr) {
        let name = verdict.value();
        let mut names: Vec<&str> = match self.form {
            Form::Pair => PAIR_VERDICTS.to_vec(),
            Form::Single => vec!["clean"],
        };
        names.extend(VERDICTS);
        if names.contains(&name.as_str()) {
            return;
        }
        let message = if name == "clean" {
            "`clean` is for one kernel alone; a pair is \"equivalent\"".to_owned()
        } else if PAIR_VERDICTS.contains(&name.as_str()) {
            format!("`{name}` is for pairs; one kernel alone is \"clean\", or a fault's name")
        } else {
            format!("unknown verdict `{name}`{}", hint(&name, &names))
        };
        self.complain(Error::new(verdict.span(), message));
    }
}

fn literal_text(value: &Expr) -> Option<LitStr> {
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.clone()),
            _ => None,
        },
        _ => None,
    }
}

/// Splits `file::kernel` behind the file's extension.
pub(crate) fn split_source(text: &str) -> (&str, Option<&str>) {
    let cut = [".cu::", ".ptx::"].iter().filter_map(|mark| Some(text.find(mark)? + mark.len())).min();
    match cut {
        Some(cut) => (&text[..cut - 2], Some(&text[cut..])),
        None => (text, None),
    }
}
