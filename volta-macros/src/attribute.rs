//! Parsing the attribute: kernels, launch, expected verdict.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{BinOp, Block, Error, Expr, ExprLit, ExprUnary, Lit, LitStr, Result, Token, parenthesized, token};
use volta_case::{
    About, Claim, Contains, Element, Expectation, Launch, MAX_SHARDS, Options, Section, Takes, Target,
    TensorMap, Value, VerdictName, Which, Wrong, choose, source_problem, split_source,
};

use crate::signature::{Function, Kind, Number, Param, combine, number};
use crate::steps::Step;

/// Which of the two attributes it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Pair,
    Single,
}

/// The parsed attribute.
pub(crate) struct CaseAttribute {
    pub reference: Option<Vec<Step>>,
    pub opt: Vec<Step>,
    /// How often each side runs.
    pub repeat: [Option<Expr>; 2],
    pub about: Vec<Set>,
    pub expect: Vec<Set>,
    pub options: Vec<Set>,
    /// For each parameter of the function, the pointers that it holds.
    pub pointers: Vec<Vec<Option<Arg>>>,
    pub contains: Vec<Vec<Set>>,
    pub slow: bool,
    /// The number of parts, each a test of its own.
    pub shards: u32,
}

/// One kernel.
pub(crate) struct Side {
    pub source: LitStr,
    pub args: Option<Vec<Arg>>,
    /// The keys of [`Launch`] and [`Target`].
    pub keys: Vec<Set>,
}

/// A key that is set, and an expression for its [`Value`].
pub(crate) struct Set {
    pub key: &'static str,
    pub value: TokenStream,
}

/// An argument in a kernel's parameter list.
pub(crate) enum Arg {
    Named(Ident),
    /// `x + 256`
    Element(Ident, Box<Expr>),
    Literal(Number),
    Struct(Vec<Member>),
}

/// A member of a struct.
pub(crate) enum Member {
    Arg(Arg),
    /// A type, and a number of it.
    Number(String, Number),
    Offset(u64),
}

/// `key`, `key = value` or `key(…)`.
pub(crate) struct Entry {
    pub key: Ident,
    pub value: Given,
}

#[derive(Clone)]
pub(crate) enum Given {
    Nothing,
    Value(Expr),
    List(TokenStream),
}

/// The keys that can have the prefix of a side.
pub(crate) fn by_side() -> Vec<&'static str> {
    let keys = Launch::keys().into_iter().chain(Target::keys());
    keys.map(|key| key.name).chain(["args", REPEAT]).collect()
}

/// The key that says how often a side runs.
pub(crate) const REPEAT: &str = "repeat";

/// The key that says which texts the PTX contains.
const CONTAINS: &str = "contains";

/// Reads the attribute.
pub(crate) fn parse(tokens: TokenStream, form: Form, function: &Function) -> Result<CaseAttribute> {
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated_with;
    let parser = |input: ParseStream<'_>| entries(input, parse_entry);
    let entries: Vec<Entry> = parser.parse2(tokens)?.into_iter().collect();
    Reader { form, function: Some(function), entries, errors: None }.read()
}

/// Reads `#[tensor_map(of = a, box = [64, 64])]`.
pub(crate) fn tensor_map(tokens: TokenStream) -> Result<Vec<Set>> {
    let entries = Punctuated::<Entry, Token![,]>::parse_terminated_with;
    let parser = |input: ParseStream<'_>| entries(input, parse_entry);
    let mut entries: Vec<Entry> = parser.parse2(tokens.clone())?.into_iter().collect();
    let names: Vec<&str> = TensorMap::keys().iter().map(|key| key.name).collect();
    for entry in &mut entries {
        let name = entry.key.to_string();
        if !names.contains(&name.as_str()) {
            let wrong = Wrong::unknown(format!("unknown key `{name}`"), &name, &names);
            return Err(Error::new(entry.key.span(), wrong));
        }
        // A parameter is referred to by its name.
        if let Given::Value(value) = &mut entry.value
            && let Expr::Path(path) = &*value
            && let Some(tensor) = path.path.get_ident()
        {
            let text = LitStr::new(&tensor.to_string(), tensor.span());
            *value = Expr::Lit(ExprLit { attrs: Vec::new(), lit: Lit::Str(text) });
        }
    }
    for (key, help) in [("of", "of = a"), ("box", "box = [64, 64]")] {
        if !entries.iter().any(|entry| entry.key == key) {
            return Err(Error::new_spanned(&tokens, format!("a tensor map needs `{key}`: `{help}`")));
        }
    }
    let mut reader = Reader { form: Form::Single, function: None, entries, errors: None };
    let sets = reader.section(&mut TensorMap::default(), "");
    reader.errors.map_or(Ok(sets), Err)
}

fn parse_entry(input: ParseStream<'_>) -> Result<Entry> {
    // `box` is a keyword of Rust.
    let key = Ident::parse_any(input)?;
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

pub(crate) struct Reader<'f> {
    form: Form,
    pub(crate) function: Option<&'f Function>,
    pub(crate) entries: Vec<Entry>,
    errors: Option<Error>,
}

impl Reader<'_> {
    fn read(mut self) -> Result<CaseAttribute> {
        self.check_keys();
        // With earlier errors, a missing key is not reported: it may be a misspelt one.
        if let Some(errors) = self.errors {
            return Err(errors);
        }
        let body = self.function.and_then(|function| function.body.as_ref());
        if let Some(body) = body {
            self.check_body(body);
        }
        let (reference, opt) = match self.form {
            Form::Pair if body.is_some() => (None, self.steps("opt", "opt_")),
            Form::Pair => (self.steps("reference", "ref_"), self.steps("opt", "opt_")),
            Form::Single => (None, self.steps("kernel", "")),
        };
        let prefixes = if self.form == Form::Pair { ["ref_", "opt_"] } else { [""; 2] };
        let repeat = prefixes.map(|prefix| self.by_side(prefix, REPEAT).and_then(|key| self.value(&key)));
        let expect = self.expect();
        let about = self.section(&mut About::default(), "");
        let mut chosen = Options::default();
        let options = self.section(&mut chosen, "");
        let slow = chosen.run.slow;
        let shards = self.shards();
        let contains = self.contains();
        let pointers = self.pointers();
        let source_key = if self.form == Form::Pair { "opt" } else { "kernel" };
        if let Some(opt) = &opt {
            self.check_steps([("reference", reference.as_deref().unwrap_or_default()), (source_key, opt)]);
        }
        match (self.errors, opt) {
            (Some(errors), _) => Err(errors),
            (None, Some(opt)) => Ok(CaseAttribute {
                reference,
                opt,
                repeat,
                about,
                expect,
                options,
                pointers,
                contains,
                slow,
                shards,
            }),
            (None, None) => {
                let span =
                    self.function.map_or_else(proc_macro2::Span::call_site, |function| function.name.span());
                Err(Error::new(span, "a case needs a kernel"))
            }
        }
    }

    /// The number of parts, which the attribute itself must know.
    fn shards(&mut self) -> u32 {
        let Some(given) = self.entry("shards").map(|entry| (entry.key.clone(), entry.value.clone())) else {
            return 1;
        };
        let count = match &given.1 {
            Given::Value(value) => integer_literal(value).and_then(|count| u32::try_from(count).ok()),
            Given::Nothing | Given::List(_) => None,
        };
        let message = match count {
            Some(count @ 1..=MAX_SHARDS) => return count,
            Some(count) => format!("a case has from 1 to {MAX_SHARDS} parts, not {count}"),
            None => "`shards` is a number, such as `shards = 8`: each part is a test of its own".into(),
        };
        self.complain(Error::new(given.0.span(), message));
        1
    }

    /// Reports what a reference that is the function's body excludes.
    fn check_body(&mut self, body: &Block) {
        if self.form == Form::Single {
            let message =
                "a single kernel has no reference: end the signature with `;`, or use `verify_equiv`";
            self.complain(Error::new(body.brace_token.span.join(), message));
            return;
        }
        for at in 0..self.entries.len() {
            let key = self.entries[at].key.clone();
            if key == "reference" || key.to_string().starts_with("ref_") {
                let message = format!("`{key}`: the reference is the body of the function");
                self.complain(Error::new(key.span(), message));
            }
        }
    }

    /// Reports unknown and repeated keys.
    fn check_keys(&mut self) {
        let (fixed, prefixes): (&[&str], &[&str]) = match self.form {
            Form::Pair => (&["reference", "opt", "expect", CONTAINS], &["", "ref_", "opt_"]),
            Form::Single => (&["kernel", "expect", CONTAINS], &[""]),
        };
        let others = About::keys().into_iter().chain(Options::keys()).map(|key| key.name);
        let mut known: Vec<String> = fixed.iter().copied().chain(others).map(str::to_owned).collect();
        let by_side = by_side();
        known.extend(
            prefixes.iter().flat_map(|prefix| by_side.iter().map(move |key| format!("{prefix}{key}"))),
        );
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
                Wrong::unknown(format!("unknown key `{name}`"), &name, &names).to_string()
            };
            self.complain(Error::new(key.span(), message));
        }
    }

    pub(crate) fn complain(&mut self, error: Error) {
        combine(&mut self.errors, error);
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == name)
    }

    /// The expression after `name =`.
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

    /// The value of a flag: `name`, `name = true` or `name = false`.
    fn flag(&mut self, name: &str) -> Option<bool> {
        let entry = self.entry(name)?;
        let key = entry.key.clone();
        match &entry.value {
            Given::Nothing => Some(true),
            Given::Value(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. })) => Some(value.value),
            Given::Value(_) | Given::List(_) => {
                self.complain(Error::new(key.span(), format!("`{name}` is `true` or `false`")));
                None
            }
        }
    }

    /// The keys of a section, each with `prefix` if it is given with it. Literal values are also set in `known`, to
    /// check them.
    fn section<S: Section>(&mut self, known: &mut S, prefix: &str) -> Vec<Set> {
        let mut all = Vec::new();
        for key in S::keys() {
            let Some(name) = self.by_side(prefix, key.name) else { continue };
            let Some((value, tokens)) = self.read_value(&name, key.takes) else { continue };
            if let Some(value) = value
                && let Err(wrong) = known.set(key.name, value)
            {
                self.refuse(&name, &wrong);
            }
            all.push(Set { key: key.name, value: tokens });
        }
        all
    }

    /// Reports the value of a key as wrong.
    fn refuse(&mut self, name: &str, wrong: &Wrong) {
        let error = match self.entry(name).map(|entry| (&entry.key, &entry.value)) {
            Some((_, Given::Value(value))) => Error::new_spanned(value, wrong),
            Some((key, Given::Nothing | Given::List(_))) => Error::new(key.span(), wrong),
            None => Error::new(proc_macro2::Span::call_site(), wrong),
        };
        self.complain(error);
    }

    /// A value, if it is a literal whose value is known at this stage, and an expression for it.
    fn read_value(&mut self, name: &str, takes: Takes) -> Option<(Option<Value>, TokenStream)> {
        match takes {
            Takes::Flag => {
                let flag = self.flag(name)?;
                Some((Some(Value::Flag(flag)), quote!(Flag(#flag))))
            }
            Takes::Text => {
                let text = self.text(name)?;
                Some((Some(Value::Text(text.value())), quote!(Text(#text.into()))))
            }
            Takes::Texts => {
                let list = self.value(name)?;
                let texts = self.texts(&list, name)?;
                let known = texts.iter().map(LitStr::value).collect();
                Some((Some(Value::Texts(known)), quote!(Texts(::std::vec![#(#texts.into()),*]))))
            }
            Takes::Number => {
                let number = self.value(name)?;
                let text = quote!(#number).to_string().replace([' ', '_'], "");
                Some((Some(Value::Number(text.clone())), quote!(Number(#text.into()))))
            }
            Takes::Counts => {
                let list = self.value(name)?;
                let numbers = self.integers(&list, name)?;
                let tokens = quote!(Counts(::std::vec![#(#numbers),*]));
                Some((Some(Value::Counts(numbers)), tokens))
            }
            Takes::Count | Takes::Size | Takes::Extent => {
                let value = self.value(name)?;
                if let Expr::Lit(literal) = &value
                    && !matches!(literal.lit, Lit::Int(_))
                {
                    let message = if let Takes::Count = takes {
                        "a limit must be a whole number"
                    } else {
                        "a size is a whole number, or a list of up to three"
                    };
                    self.complain(Error::new_spanned(&value, message));
                }
                // Numbers of which some depend on a variable that is any are of several types.
                let value = if let Expr::Array(list) = &value
                    && !list.elems.iter().all(|item| matches!(item, Expr::Lit(_)))
                {
                    let items = list.elems.iter();
                    quote!((#(#items,)*))
                } else {
                    quote!(#value)
                };
                Some((
                    None,
                    match takes {
                        Takes::Count => quote!(count(#value)),
                        Takes::Size => quote!(size(#value)),
                        Takes::Flag
                        | Takes::Extent
                        | Takes::Number
                        | Takes::Text
                        | Takes::Counts
                        | Takes::Texts
                        | Takes::Own => quote!(extent(#value)),
                    },
                ))
            }
            Takes::Own => None,
        }
    }

    /// The name under which a key is given: `prefix + name`, otherwise `name`; `None` if it is not given.
    fn by_side(&self, prefix: &str, name: &str) -> Option<String> {
        let own = format!("{prefix}{name}");
        if self.entry(&own).is_some() {
            return Some(own);
        }
        self.entry(name).map(|_| name.to_owned())
    }

    pub(crate) fn side(&mut self, source_key: &str, prefix: &str) -> Option<Side> {
        let Some(source) = self.text(source_key) else {
            if self.entry(source_key).is_none() {
                let or = match source_key {
                    "reference" => "; or write the reference as the body of the function",
                    _ => "",
                };
                let message = format!("`{source_key} = \"file.cu::kernel\"` is missing{or}");
                self.complain(Error::new(proc_macro2::Span::call_site(), message));
            }
            return None;
        };
        let spelled = source.value();
        if let Some(message) = source_problem(split_source(&spelled).0) {
            self.complain(Error::new(source.span(), message));
        }
        if self.by_side(prefix, "block").is_none() {
            let message = format!("`block = …` is missing: how many threads run `{spelled}`?");
            self.complain(Error::new(source.span(), message));
        }
        let mut keys = self.section(&mut Launch::default(), prefix);
        keys.extend(self.section(&mut Target::default(), prefix));
        let args = self.by_side(prefix, "args").and_then(|key| self.args(&key));
        Some(Side { source, args, keys })
    }

    fn items(&mut self, list: &Expr, name: &str) -> Option<Vec<Expr>> {
        if let Expr::Array(list) = list {
            return Some(list.elems.iter().cloned().collect());
        }
        self.complain(Error::new_spanned(list, format!("`{name}` is a list: `[…]`")));
        None
    }

    fn integers(&mut self, list: &Expr, name: &str) -> Option<Vec<i128>> {
        let mut integers = Vec::new();
        for item in self.items(list, name)? {
            let Expr::Lit(ExprLit { lit: Lit::Int(integer), .. }) = &item else {
                self.complain(Error::new_spanned(&item, format!("`{name}` must be a list of whole numbers")));
                continue;
            };
            match integer.base10_parse() {
                Ok(integer) => integers.push(integer),
                Err(error) => self.complain(error),
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

    /// The arguments of a kernel: `args(x, y, 128)`.
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
        Some(expressions.iter().filter_map(|expression| self.arg(expression)).collect())
    }

    /// What the arrays of pointers among the parameters hold: `#[pointers(a, b + 256, null)]`.
    fn pointers(&mut self) -> Vec<Vec<Option<Arg>>> {
        let Some(function) = self.function else { return Vec::new() };
        let of = |param: &Param| match &param.kind {
            Kind::Pointers(list) => list.iter().filter_map(|pointer| self.pointer(pointer)).collect(),
            Kind::Tensor { .. } | Kind::Scalar { .. } | Kind::Structs { .. } | Kind::Map(_) => Vec::new(),
        };
        function.params.iter().map(of).collect()
    }

    fn pointer(&mut self, pointer: &Expr) -> Option<Option<Arg>> {
        let is_name = matches!(pointer, Expr::Path(_) | Expr::Binary(_));
        match self.arg(pointer).filter(|_| is_name) {
            Some(arg @ (Arg::Named(_) | Arg::Element(..))) => Some(Some(arg)),
            Some(Arg::Literal(_)) => Some(None),
            Some(Arg::Struct(_)) | None => {
                if !is_name {
                    let message =
                        "a pointer is a tensor, an element of one, or null: `#[pointers(a, b + 256, null)]`";
                    self.complain(Error::new_spanned(pointer, message));
                }
                None
            }
        }
    }

    /// An argument, or a member of a struct that is written as one.
    fn arg(&mut self, expression: &Expr) -> Option<Arg> {
        if let Expr::Path(path) = expression
            && let Some(name) = path.path.get_ident().filter(|name| *name != "inf")
        {
            let params = self.function.iter().flat_map(|function| &function.params);
            let names: Vec<String> = params.map(|param| param.name.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            if name == "null" && !names.contains(&"null") {
                return Some(Arg::Literal(Number::Literal("0".into())));
            }
            if !names.contains(&name.to_string().as_str()) {
                let message = format!("there is no parameter `{name}`");
                let wrong = Wrong::unknown(message, &name.to_string(), &names);
                self.complain(Error::new(name.span(), wrong));
            }
            return Some(Arg::Named(name.clone()));
        }
        if let Expr::Binary(sum) = expression
            && let (BinOp::Add(_), Expr::Path(_)) = (&sum.op, &*sum.left)
        {
            let Arg::Named(name) = self.arg(&sum.left)? else { return None };
            return Some(Arg::Element(name, sum.right.clone()));
        }
        if let Expr::Array(members) = expression {
            let members = members.elems.iter().filter_map(|member| self.member(member));
            return Some(Arg::Struct(members.collect()));
        }
        match number(expression, true) {
            Ok(Number::Real(_) | Number::Integer(_)) => {
                let message = "an argument is a parameter's name, a literal, or a list of a struct's members";
                self.complain(Error::new_spanned(expression, message));
            }
            Ok(number) => return Some(Arg::Literal(number)),
            Err(error) => self.complain(error),
        }
        None
    }

    /// A member of a struct: `x`, `0.5f32`, `offset = 24`, `[a, b]`.
    fn member(&mut self, expression: &Expr) -> Option<Member> {
        let complain = |attribute: &mut Self, message: String| {
            attribute.complain(Error::new_spanned(expression, message));
            None
        };
        if let Expr::Assign(assign) = expression {
            let is_offset = matches!(&*assign.left, Expr::Path(path) if path.path.is_ident("offset"));
            let byte = match &*assign.right {
                byte if is_offset => integer_literal(byte),
                _ => None,
            };
            return match byte {
                Some(byte) => Some(Member::Offset(byte)),
                None => complain(self, "`offset = 24` gives the byte at which the next member begins".into()),
            };
        }
        match self.arg(expression)? {
            Arg::Literal(null) if matches!(expression, Expr::Path(path) if path.path.is_ident("null")) => {
                Some(Member::Number("u64".into(), null))
            }
            Arg::Literal(number) => match literal_suffix(expression) {
                suffix if suffix.is_empty() => {
                    complain(self, "a number in a struct has a type: `0.5f32`, `3i32`".into())
                }
                suffix => match choose::<Element>(&suffix, || format!("unknown element type `{suffix}`")) {
                    Ok(_) => Some(Member::Number(suffix, number)),
                    Err(wrong) => complain(self, wrong.to_string()),
                },
            },
            other @ (Arg::Named(_) | Arg::Element(..) | Arg::Struct(_)) => Some(Member::Arg(other)),
        }
    }

    /// A reader of a section in parentheses, or of the value of its key `first` alone.
    fn inner<S: Section>(&mut self, key: &Ident, value: &Given, first: &str) -> Self {
        let entries: Vec<Entry> = match value {
            Given::List(tokens) => {
                let entries = Punctuated::<Entry, Token![,]>::parse_terminated_with;
                let parser = |input: ParseStream<'_>| entries(input, parse_entry);
                match parser.parse2(tokens.clone()) {
                    Ok(entries) => entries.into_iter().collect(),
                    Err(error) => {
                        self.complain(error);
                        Vec::new()
                    }
                }
            }
            Given::Value(_) => vec![Entry { key: Ident::new(first, key.span()), value: value.clone() }],
            Given::Nothing => Vec::new(),
        };
        let names: Vec<&str> = S::keys().iter().map(|key| key.name).collect();
        for entry in &entries {
            let name = entry.key.to_string();
            if !names.contains(&name.as_str()) {
                let wrong = Wrong::unknown(format!("unknown key `{name}`"), &name, &names);
                self.complain(Error::new(entry.key.span(), wrong));
            }
        }
        Reader { form: self.form, function: self.function, entries, errors: None }
    }

    /// `contains = "red.shared"`, a list of such texts, or `contains(text = "mma.sync", count = 2)`.
    fn contains(&mut self) -> Vec<Vec<Set>> {
        let Some(entry) = self.entry(CONTAINS) else { return Vec::new() };
        let (key, value) = (entry.key.clone(), entry.value.clone());
        let each = match &value {
            Given::Value(Expr::Array(list)) => list.elems.iter().cloned().map(Given::Value).collect(),
            Given::Value(_) | Given::List(_) | Given::Nothing => vec![value],
        };
        let read = |text: &Given| {
            let mut known = Contains::default();
            let mut inner = self.inner::<Contains>(&key, text, "text");
            let sets = inner.section(&mut known, "");
            if inner.entry("text").is_none() {
                let message = "`contains` needs a text: `contains = \"red.shared\"`; several with counts are said in a \
                               `volta.toml`";
                inner.complain(Error::new(key.span(), message));
            }
            if known.side == Which::Reference && self.form == Form::Single {
                inner.complain(Error::new(key.span(), "this case has no reference"));
            }
            if let Some(errors) = inner.errors {
                self.complain(errors);
            }
            sets
        };
        each.iter().map(read).collect()
    }

    /// `expect = "race"` or `expect(verdict = "race", …)`.
    fn expect(&mut self) -> Vec<Set> {
        let is_pair = self.form == Form::Pair;
        // Another value than a word is refused where options are read.
        let claim = self.entry("claim").and_then(|entry| match &entry.value {
            Given::Value(Expr::Lit(ExprLit { lit: Lit::Str(word), .. })) => Claim::parse(&word.value()),
            Given::Value(_) | Given::List(_) | Given::Nothing => None,
        });
        let claim = claim.unwrap_or(Claim::Reals);
        let mut known =
            Expectation { verdict: VerdictName::passing(is_pair, claim), ..Expectation::default() };
        let Some(entry) = self.entry("expect") else {
            let verdict = known.verdict.name();
            return vec![Set { key: "verdict", value: quote!(Text(#verdict.into())) }];
        };
        let (key, value) = (entry.key.clone(), entry.value.clone());
        let mut inner = self.inner::<Expectation>(&key, &value, "verdict");
        let sets = inner.section(&mut known, "");
        if let Err(wrong) = known.verdict.check(is_pair) {
            inner.refuse("verdict", &wrong);
        }
        if inner.entry("verdict").is_none() {
            let message = "`expect` needs a verdict: `expect(verdict = \"race\")`";
            inner.complain(Error::new(key.span(), message));
        }
        if let Some(errors) = inner.errors {
            self.complain(errors);
        }
        sets
    }
}

fn literal_text(value: &Expr) -> Option<LitStr> {
    if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = value { Some(text.clone()) } else { None }
}

/// The value of a non-negative integer literal.
fn integer_literal(value: &Expr) -> Option<u64> {
    if let Expr::Lit(ExprLit { lit: Lit::Int(digits), .. }) = value {
        digits.base10_parse().ok()
    } else {
        None
    }
}

/// The type suffix of a literal: `f32` of `-0.5f32`.
fn literal_suffix(value: &Expr) -> String {
    let value = if let Expr::Unary(ExprUnary { expr, .. }) = value { expr } else { value };
    let Expr::Lit(ExprLit { lit, .. }) = value else { return String::new() };
    match lit {
        Lit::Int(digits) => digits.suffix().into(),
        Lit::Float(digits) => digits.suffix().into(),
        Lit::Str(_)
        | Lit::ByteStr(_)
        | Lit::CStr(_)
        | Lit::Byte(_)
        | Lit::Char(_)
        | Lit::Bool(_)
        | Lit::Verbatim(_)
        | _ => String::new(),
    }
}
