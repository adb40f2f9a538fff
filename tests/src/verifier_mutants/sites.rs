//! The sites of edits in a file: every place at which a [`Kind`] of mistake can be made.

#![expect(clippy::wildcard_enum_match_arm, reason = "enums of `syn`, of which few variants matter")]

use std::collections::BTreeMap;
use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprCall, ExprIf, ExprLet, ExprLit, ExprMatch,
    ExprMethodCall, ExprRange, ExprRepeat, ExprUnary, ExprWhile, ImplItemConst, ImplItemFn, ItemConst,
    ItemEnum, ItemFn, ItemImpl, ItemMod, ItemStatic, Lit, Local, Pat, ReturnType, Signature, Stmt,
    TraitItemConst, Type, UnOp,
};

/// The kind of mistake that an edit makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Strict for not strict, equal for unequal.
    Comparison,
    /// Another operation of numbers or bits.
    Arithmetic,
    /// And for or, and one of two conditions left out.
    Connective,
    /// A negation left out.
    Negation,
    /// A condition that always or never holds.
    Condition,
    /// A guard of an arm that always or never holds.
    Guard,
    /// An arm that is never taken, before one that takes everything.
    Arm,
    /// A number one more or one less, true for false.
    Literal,
    /// A range that ends one earlier or later.
    Range,
    /// A call left out whose result is unused, such as a push, an insertion or a record.
    Call,
    /// An assignment left out.
    Assignment,
    /// A return, break or continue left out.
    Jump,
    /// A function that returns immediately: nothing, false, true, zero.
    Return,
    /// A method's counterpart: a maximum for a minimum, all for any.
    Method,
    /// Two arguments that change places.
    Arguments,
    /// A part of a tuple that is a key left out.
    Key,
}

impl Kind {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Comparison => "comparison",
            Self::Arithmetic => "arithmetic",
            Self::Connective => "connective",
            Self::Negation => "negation",
            Self::Condition => "condition",
            Self::Guard => "guard",
            Self::Arm => "arm",
            Self::Literal => "literal",
            Self::Range => "range",
            Self::Call => "call",
            Self::Assignment => "assignment",
            Self::Jump => "jump",
            Self::Return => "return",
            Self::Method => "method",
            Self::Arguments => "arguments",
            Self::Key => "key",
        }
    }
}

/// One place, and its replacement.
#[derive(Clone, Debug)]
pub struct Site {
    /// The function, with its type.
    pub function: String,
    /// The kind of mistake.
    pub kind: Kind,
    /// The edit in words: the old text and the new one.
    pub edit: String,
    /// Its number among equal edits in the function, from 1.
    pub nth: usize,
    /// The line, from 1.
    pub line: usize,
    /// The bytes that are replaced; empty for an insertion.
    pub bytes: Range<usize>,
    /// The replacement, with [`Site::QUESTION`] in place of the test whether the mutant is active.
    template: String,
}

impl Site {
    const QUESTION: &str = "\u{1}";

    /// The replacement in a crate in which this is mutant `number`, behind its switch.
    pub fn switched(&self, number: usize) -> String {
        self.template.replace(Self::QUESTION, &format!("crate::mutant::on({number})"))
    }

    /// The replacement without a switch, in a crate with this mutant only.
    pub fn plain(&self) -> String {
        self.template.replace(Self::QUESTION, "true")
    }
}

/// All sites of a file, in order of text.
pub fn sites(text: &str) -> syn::Result<Vec<Site>> {
    let file = syn::parse_file(text)?;
    let mut finder = Finder { text, path: Vec::new(), function: 0, found: Vec::new() };
    finder.visit_file(&file);
    let mut found = finder.found;
    found.sort_by_key(|site| (site.bytes.start, site.bytes.end));
    let mut seen: BTreeMap<(String, Kind, String), usize> = BTreeMap::new();
    for site in &mut found {
        let count = seen.entry((site.function.clone(), site.kind, site.edit.clone())).or_default();
        *count += 1;
        site.nth = *count;
    }
    Ok(found)
}

struct Finder<'a> {
    text: &'a str,
    /// The enclosing types and functions.
    path: Vec<String>,
    /// The number of enclosing functions.
    function: usize,
    found: Vec<Site>,
}

/// Text on one line, with the middle of a long text left out.
fn words(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let count = words.chars().count();
    if count <= 90 {
        return words;
    }
    let start: String = words.chars().take(60).collect();
    let end: String = words.chars().skip(count - 25).collect();
    format!("{start} … {end}")
}

/// Whether an item is for tests only.
fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || (attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().contains("test")))
    })
}

/// Whether a condition binds names (`let`), which it cannot do within another expression.
fn binds(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(both) => matches!(both.op, BinOp::And(_)) && (binds(&both.left) || binds(&both.right)),
        Expr::Paren(inner) => binds(&inner.expr),
        _ => false,
    }
}

/// The counterpart of an operator.
fn counterpart(op: &BinOp) -> Option<(Kind, &'static str)> {
    let arithmetic = |other| Some((Kind::Arithmetic, other));
    match op {
        BinOp::Lt(_) => Some((Kind::Comparison, "<=")),
        BinOp::Le(_) => Some((Kind::Comparison, "<")),
        BinOp::Gt(_) => Some((Kind::Comparison, ">=")),
        BinOp::Ge(_) => Some((Kind::Comparison, ">")),
        BinOp::Eq(_) => Some((Kind::Comparison, "!=")),
        BinOp::Ne(_) => Some((Kind::Comparison, "==")),
        BinOp::And(_) => Some((Kind::Connective, "||")),
        BinOp::Or(_) => Some((Kind::Connective, "&&")),
        BinOp::Add(_) => arithmetic("-"),
        BinOp::Sub(_) => arithmetic("+"),
        BinOp::Mul(_) => arithmetic("+"),
        BinOp::Div(_) => arithmetic("*"),
        BinOp::Rem(_) => arithmetic("/"),
        BinOp::BitAnd(_) => arithmetic("|"),
        BinOp::BitOr(_) => arithmetic("&"),
        BinOp::BitXor(_) => arithmetic("|"),
        BinOp::Shl(_) => arithmetic(">>"),
        BinOp::Shr(_) => arithmetic("<<"),
        BinOp::AddAssign(_) => arithmetic("-="),
        BinOp::SubAssign(_) => arithmetic("+="),
        BinOp::MulAssign(_) => arithmetic("+="),
        BinOp::DivAssign(_) => arithmetic("*="),
        BinOp::BitAndAssign(_) => arithmetic("|="),
        BinOp::BitOrAssign(_) => arithmetic("&="),
        BinOp::BitXorAssign(_) => arithmetic("|="),
        BinOp::ShlAssign(_) => arithmetic(">>="),
        BinOp::ShrAssign(_) => arithmetic("<<="),
        _ => None,
    }
}

/// Methods and their counterparts.
const METHODS: [(&str, &str); 14] = [
    ("min", "max"),
    ("any", "all"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("is_some_and", "is_none_or"),
    ("first", "last"),
    ("floor", "ceil"),
    ("lower", "upper"),
    ("checked_add", "checked_sub"),
    ("wrapping_add", "wrapping_sub"),
    ("leading_zeros", "trailing_zeros"),
    ("is_positive", "is_negative"),
    ("is_lt", "is_le"),
    ("is_gt", "is_ge"),
];

/// Methods that may be left out.
const LEFT_OUT: [&str; 5] = ["abs", "neg", "rev", "recip", "not"];

/// The values that a function with this result type may return immediately.
fn at_once(output: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, result) = output else { return &["()"] };
    let Type::Path(path) = &**result else { return &[] };
    let Some(last) = path.path.segments.last() else { return &[] };
    let inner = match &last.arguments {
        syn::PathArguments::AngleBracketed(arguments) => arguments.args.first().map(|first| match first {
            syn::GenericArgument::Type(Type::Path(path)) => {
                path.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default()
            }
            syn::GenericArgument::Type(Type::Tuple(tuple)) if tuple.elems.is_empty() => "()".to_owned(),
            _ => String::new(),
        }),
        _ => None,
    };
    match (last.ident.to_string().as_str(), inner.as_deref()) {
        ("bool", _) => &["false", "true"],
        ("Option", Some("bool")) => &["None", "Some(false)", "Some(true)"],
        ("Option", _) => &["None"],
        ("Result", Some("bool")) => &["Ok(false)", "Ok(true)"],
        ("Result", Some("()")) => &["Ok(())"],
        ("Result", Some("Option")) => &["Ok(None)"],
        ("Vec", _) => &["Vec::new()"],
        ("u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i32" | "i64" | "i128", _) => &["0", "1"],
        _ => &[],
    }
}

impl Finder<'_> {
    fn bytes(span: Span) -> Range<usize> {
        span.byte_range()
    }

    fn add(&mut self, kind: Kind, span: Span, edit: String, template: String) {
        if self.function == 0 {
            return;
        }
        let site = Site {
            function: self.path.join("::"),
            kind,
            edit,
            nth: 0,
            line: span.start().line,
            bytes: Self::bytes(span),
            template,
        };
        self.found.push(site);
    }

    /// Adds the replacement of an expression by another one.
    fn instead(&mut self, kind: Kind, span: Span, new: &str) {
        let old = &self.text[Self::bytes(span)];
        let edit = format!("{} => {}", words(old), words(new));
        let template = format!("(if {} {{ {new} }} else {{ {old} }})", Site::QUESTION);
        self.add(kind, span, edit, template);
    }

    /// Adds the insertion of text at a place.
    fn insert(&mut self, kind: Kind, line: usize, at: usize, edit: String, template: String) {
        if self.function > 0 {
            let function = self.path.join("::");
            self.found.push(Site { function, kind, edit, nth: 0, line, bytes: at..at, template });
        }
    }

    fn of<T: Spanned>(&self, node: &T) -> &str {
        &self.text[Self::bytes(node.span())]
    }

    fn body(&mut self, signature: &Signature, block: &Block) {
        self.path.push(signature.ident.to_string());
        self.function += 1;
        let brace = block.brace_token.span.open();
        for result in at_once(&signature.output) {
            let template = format!(" if {} {{ return {result}; }} ", Site::QUESTION);
            let edit = format!("=> return {result}");
            self.insert(Kind::Return, brace.start().line, Self::bytes(brace).end, edit, template);
        }
        self.visit_block(block);
        self.function -= 1;
        self.path.pop();
    }

    fn swapped(&mut self, span: Span, arguments: &syn::punctuated::Punctuated<Expr, syn::Token![,]>) {
        for (one, other) in arguments.iter().zip(arguments.iter().skip(1)) {
            let whole = Self::bytes(span);
            let (first, second) = (Self::bytes(one.span()), Self::bytes(other.span()));
            if self.text[first.clone()] == self.text[second.clone()] {
                continue;
            }
            let text = self.text;
            let new = [
                &text[whole.start..first.start],
                &text[second.clone()],
                &text[first.end..second.start],
                &text[first],
                &text[second.end..whole.end],
            ];
            self.instead(Kind::Arguments, span, &new.concat());
        }
    }

    fn shortened(&mut self, key: &Expr) {
        let tuple = match key {
            Expr::Tuple(tuple) => tuple,
            Expr::Reference(reference) => return self.shortened(&reference.expr),
            _ => return,
        };
        for part in &tuple.elems {
            self.instead(Kind::Key, part.span(), "Default::default()");
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    // An expression that is evaluated at compile time cannot test which mutant is active.
    fn visit_item_const(&mut self, _: &'ast ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_angle_bracketed_generic_arguments(&mut self, _: &'ast syn::AngleBracketedGenericArguments) {}

    fn visit_expr_repeat(&mut self, repeat: &'ast ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Guard(guarded) = pattern {
            if !binds(&guarded.guard) {
                for always in ["true", "false"] {
                    self.instead(Kind::Guard, guarded.guard.span(), always);
                }
            }
            self.visit_expr(&guarded.guard);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        if !for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if !for_tests(&function.attrs) && function.sig.constness.is_none() {
            self.body(&function.sig, &function.block);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        if !for_tests(&function.attrs) && function.sig.constness.is_none() {
            self.body(&function.sig, &function.block);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if for_tests(&item.attrs) {
            return;
        }
        let mut name = String::new();
        if let Some((of, _)) = &item.trait_ {
            let last = of.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
            // Implementations of formatting traits only produce text.
            if ["Debug", "Display"].contains(&last.as_str()) {
                return;
            }
            name = format!("{last} for ");
        }
        if let Type::Path(path) = &*item.self_ty
            && let Some(last) = path.path.segments.last()
        {
            name.push_str(&last.ident.to_string());
        }
        self.path.push(name);
        visit::visit_item_impl(self, item);
        self.path.pop();
    }

    fn visit_local(&mut self, local: &'ast Local) {
        let named =
            |pattern: &Pat| matches!(pattern, Pat::Ident(name) if name.ident.to_string().ends_with("key"));
        if let Some(init) = &local.init {
            let typed = matches!(&local.pat, Pat::Type(typed) if named(&typed.pat));
            if named(&local.pat) || typed {
                self.shortened(&init.expr);
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_let(&mut self, binding: &'ast ExprLet) {
        self.visit_expr(&binding.expr);
    }

    fn visit_stmt(&mut self, statement: &'ast Stmt) {
        if let Stmt::Expr(expression, Some(_)) = statement {
            let kind = match expression {
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Try(_) => Some(Kind::Call),
                Expr::Assign(_) => Some(Kind::Assignment),
                Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => Some(Kind::Jump),
                Expr::Binary(_) => Some(Kind::Assignment),
                _ => None,
            };
            if let Some(kind) = kind {
                let old = self.of(statement).to_owned();
                let template = format!("if !{} {{ {old} }}", Site::QUESTION);
                self.add(kind, statement.span(), format!("{} => nothing", words(&old)), template);
            }
        }
        visit::visit_stmt(self, statement);
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        let bound = binds(&binary.left) || binds(&binary.right);
        if let (Some((kind, other)), false) = (counterpart(&binary.op), bound) {
            let (left, right) = (self.of(&binary.left).to_owned(), self.of(&binary.right).to_owned());
            let span = binary.span();
            // After a cast, `<` would be parsed as the beginning of generic arguments.
            let cast = matches!(*binary.left, Expr::Cast(_)).then(|| format!("({left})"));
            self.instead(kind, span, &format!("{} {other} {right}", cast.as_ref().unwrap_or(&left)));
            if kind == Kind::Connective {
                self.instead(kind, span, &left);
                self.instead(kind, span, &right);
            }
            if kind == Kind::Arithmetic && matches!(binary.op, BinOp::Sub(_) | BinOp::Div(_)) {
                let op = self.of(&binary.op).to_owned();
                self.instead(Kind::Arguments, span, &format!("({right}) {op} ({left})"));
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast ExprUnary) {
        if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) {
            let inner = self.of(&unary.expr).to_owned();
            self.instead(Kind::Negation, unary.span(), &inner);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_if(&mut self, choice: &'ast ExprIf) {
        if !binds(&choice.cond) {
            for always in ["true", "false"] {
                self.instead(Kind::Condition, choice.cond.span(), always);
            }
        }
        visit::visit_expr_if(self, choice);
    }

    // Whole conditions of loops are not edited: nearly all such edits give an endless loop.
    fn visit_expr_while(&mut self, repeat: &'ast ExprWhile) {
        visit::visit_expr_while(self, repeat);
    }

    fn visit_expr_match(&mut self, choice: &'ast ExprMatch) {
        let everything = |arm: &Arm| match &arm.pat {
            Pat::Wild(_) => true,
            Pat::Ident(name) => {
                name.subpat.is_none() && name.ident.to_string().starts_with(|c: char| c.is_lowercase())
            }
            _ => false,
        };
        if choice.arms.last().is_some_and(everything) {
            for arm in choice.arms.iter().take(choice.arms.len() - 1) {
                if !matches!(arm.pat, Pat::Guard(_)) {
                    let pattern = self.of(&arm.pat).to_owned();
                    let (line, at) = (arm.pat.span().start().line, Self::bytes(arm.pat.span()).end);
                    let template = format!(" if !{} ", Site::QUESTION);
                    self.insert(Kind::Arm, line, at, format!("{} => never taken", words(&pattern)), template);
                }
            }
        }
        visit::visit_expr_match(self, choice);
    }

    fn visit_expr_lit(&mut self, literal: &'ast ExprLit) {
        match &literal.lit {
            Lit::Bool(value) => {
                self.instead(Kind::Literal, literal.span(), if value.value { "false" } else { "true" });
            }
            Lit::Int(value) => {
                let text = self.of(literal).to_owned();
                self.instead(Kind::Literal, literal.span(), &format!("{text} + 1"));
                if value.base10_digits() != "0" {
                    self.instead(Kind::Literal, literal.span(), &format!("{text} - 1"));
                }
            }
            _ => {}
        }
    }

    fn visit_expr_range(&mut self, range: &'ast ExprRange) {
        if let Some(end) = &range.end {
            let text = self.of(end).to_owned();
            self.instead(Kind::Range, end.span(), &format!("({text}) - 1"));
            self.instead(Kind::Range, end.span(), &format!("({text}) + 1"));
        }
        visit::visit_expr_range(self, range);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        self.swapped(call.span(), &call.args);
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.swapped(call.span(), &call.args);
        let name = call.method.to_string();
        let (whole, place) = (Self::bytes(call.span()), Self::bytes(call.method.span()));
        for (one, other) in METHODS.iter().flat_map(|&(one, other)| [(one, other), (other, one)]) {
            if name == one {
                let new =
                    [&self.text[whole.start..place.start], other, &self.text[place.end..whole.end]].concat();
                self.instead(Kind::Method, call.span(), &new);
            }
        }
        if name == "is_empty" {
            let new = format!("!{}", self.of(call));
            self.instead(Kind::Method, call.span(), &new);
        }
        if LEFT_OUT.contains(&name.as_str()) {
            let receiver = self.of(&call.receiver).to_owned();
            self.instead(Kind::Method, call.span(), &receiver);
        }
        if ["get", "insert", "entry", "contains_key", "contains"].contains(&name.as_str())
            && let Some(key) = call.args.first()
        {
            self.shortened(key);
        }
        visit::visit_expr_method_call(self, call);
    }
}
