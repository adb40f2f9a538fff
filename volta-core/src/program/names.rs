//! Name resolution: registers, variables and labels in nested scopes, functions in the module.
//!
//! Each activation of a function has its own stack of scopes, so that an inlined body sees its parameters and the
//! module, and nothing of its caller. Numbered registers (`.reg .b32 %r<4294967295>`) get an id on first use.

use rustc_hash::FxHashMap;

use super::error::{DeclarationProblem, LowerError};
use super::op::{PredId, RegId, VariableId, Width};
use super::types::Type;
use crate::base::span::Span;
use crate::ptx::tree;
use volta_case::nearest;

/// A label, whose position in the code may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LabelId(pub(super) u32);

/// The meaning of a name in a body.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding<'m> {
    /// A register of up to 64 bits.
    Register(RegId, Width),
    /// A predicate register.
    Predicate(PredId),
    /// A register of 128 bits, which is not supported in operations.
    Register128,
    /// A vector register: its elements have consecutive ids.
    Vector { first: RegId, count: u32, width: Width },
    /// A variable of this activation.
    Variable(VariableId),
    /// A variable that exists once, however often its function is called; it gets an id on first use.
    Static(&'m tree::VariableDeclaration),
}

/// The kind of register that a `.reg` declares.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Register(Width),
    Predicate,
    Register128,
    Vector(u32, Width),
}

/// `.reg .b32 %r<8>`
#[derive(Clone, Copy, Debug)]
struct Range {
    count: u64,
    kind: Kind,
    span: Span,
}

/// The declarations of one block in braces.
#[derive(Default)]
struct Scope<'m> {
    names: FxHashMap<&'m str, (Binding<'m>, Span)>,
    ranges: FxHashMap<&'m str, Range>,
    labels: FxHashMap<&'m str, (LabelId, Span)>,
    tables: FxHashMap<&'m str, &'m tree::TargetTable>,
}

/// All names of a module, and those of the activations being lowered.
pub(super) struct Names<'m> {
    variables: FxHashMap<&'m str, &'m tree::VariableDeclaration>,
    functions: FxHashMap<&'m str, &'m tree::FunctionDefinition>,
    activations: Vec<Vec<Scope<'m>>>,
    registers: u32,
    predicates: u32,
    labels: u32,
}

impl<'m> Names<'m> {
    /// Collects the names of a module.
    pub(super) fn new(module: &'m tree::Module) -> Result<Names<'m>, LowerError> {
        let mut names = Names {
            variables: FxHashMap::default(),
            functions: FxHashMap::default(),
            activations: Vec::new(),
            registers: 0,
            predicates: 0,
            labels: 0,
        };
        for item in &module.items {
            match item {
                tree::Item::Variable(variable) => names.module_variable(variable)?,
                tree::Item::Function(function) => names.module_function(function)?,
                tree::Item::Directive(_) => {}
            }
        }
        Ok(names)
    }

    fn module_variable(&mut self, variable: &'m tree::VariableDeclaration) -> Result<(), LowerError> {
        let declares = |variable: &tree::VariableDeclaration| {
            variable
                .linking
                .iter()
                .any(|linking| matches!(linking, tree::Linking::Extern | tree::Linking::Common))
        };
        let name = variable.name.text.as_str();
        match self.variables.get(name) {
            Some(first) if !declares(first) && !declares(variable) => {
                return Err(duplicate(&variable.name, first.name.span));
            }
            Some(first) if !declares(first) => {}
            _ => {
                self.variables.insert(name, variable);
            }
        }
        Ok(())
    }

    /// The names of the module's `.const` and `.global` variables, in order.
    pub(super) fn module_variables(&self) -> Vec<String> {
        let held = |variable: &&&tree::VariableDeclaration| {
            matches!(variable.space, tree::StateSpace::Const | tree::StateSpace::Global)
        };
        let mut names: Vec<String> =
            self.variables.values().filter(held).map(|variable| variable.name.text.clone()).collect();
        names.sort();
        names
    }

    fn module_function(&mut self, function: &'m tree::FunctionDefinition) -> Result<(), LowerError> {
        let name = function.name.text.as_str();
        match self.functions.get(name) {
            Some(first) if first.body.is_some() && function.body.is_some() => {
                return Err(duplicate(&function.name, first.name.span));
            }
            Some(first) if first.body.is_some() => {}
            _ => {
                self.functions.insert(name, function);
            }
        }
        Ok(())
    }

    /// A new register without a name.
    pub(super) fn fresh_register(&mut self) -> RegId {
        let id = RegId(self.registers);
        self.registers += 1;
        id
    }

    /// A new predicate without a name.
    pub(super) fn fresh_predicate(&mut self) -> PredId {
        let id = PredId(self.predicates);
        self.predicates += 1;
        id
    }

    /// A new label without a name.
    pub(super) fn fresh_label(&mut self) -> LabelId {
        let id = LabelId(self.labels);
        self.labels += 1;
        id
    }

    /// Number of registers, of predicates and of labels.
    pub(super) fn counts(&self) -> (u32, u32, u32) {
        (self.registers, self.predicates, self.labels)
    }

    /// Begins an activation: from here on, only its names and the module's are visible.
    pub(super) fn enter_function(&mut self) {
        self.activations.push(vec![Scope::default()]);
    }

    /// Ends the activation.
    pub(super) fn leave_function(&mut self) {
        self.activations.pop();
    }

    /// Opens a scope, with the labels and tables of its statements.
    pub(super) fn enter_block(&mut self, statements: &'m [tree::Statement]) -> Result<(), LowerError> {
        let mut scope = Scope::default();
        for statement in statements {
            match statement {
                tree::Statement::Label(label) => {
                    let id = self.fresh_label();
                    if let Some((_, first)) = scope.labels.insert(&label.text, (id, label.span)) {
                        return Err(duplicate(label, first));
                    }
                }
                tree::Statement::Table(table) => {
                    if let Some(first) = scope.tables.insert(&table.label.text, table) {
                        return Err(duplicate(&table.label, first.label.span));
                    }
                }
                tree::Statement::Block(..)
                | tree::Statement::Registers(_)
                | tree::Statement::Variable(_)
                | tree::Statement::Instruction(_)
                | tree::Statement::Directive(_) => {}
            }
        }
        if let Some(scopes) = self.activations.last_mut() {
            scopes.push(scope);
        }
        Ok(())
    }

    /// Closes the innermost scope; returns the bindings that it declared or that were used, in no particular order.
    pub(super) fn leave_block(&mut self) -> impl Iterator<Item = Binding<'m>> {
        let scope = self.activations.last_mut().and_then(Vec::pop).unwrap_or_default();
        scope.names.into_values().map(|(binding, _)| binding)
    }

    /// Declares the registers of a `.reg` directive.
    pub(super) fn declare_registers(&mut self, registers: &'m tree::Registers) -> Result<(), LowerError> {
        let kind = kind_of(&registers.element, registers.vector)?;
        for (name, count) in &registers.names {
            match count {
                Some(count) => self.declare_range(name, Range { count: *count, kind, span: name.span })?,
                None => {
                    let binding = self.bind(kind);
                    self.declare(name, binding)?;
                }
            }
        }
        Ok(())
    }

    /// Declares one name in the innermost scope.
    pub(super) fn declare(&mut self, name: &'m tree::Name, binding: Binding<'m>) -> Result<(), LowerError> {
        if name.text == "_" {
            return Ok(());
        }
        let Some(scope) = self.activations.last_mut().and_then(|scopes| scopes.last_mut()) else {
            return Ok(());
        };
        if let Some((_, range)) = scope.range_with(&name.text) {
            return Err(duplicate(name, range.span));
        }
        match scope.names.insert(&name.text, (binding, name.span)) {
            Some((_, first)) => Err(duplicate(name, first)),
            None => Ok(()),
        }
    }

    fn declare_range(&mut self, name: &'m tree::Name, range: Range) -> Result<(), LowerError> {
        let Some(scope) = self.activations.last_mut().and_then(|scopes| scopes.last_mut()) else {
            return Ok(());
        };
        let taken = scope.names.iter().filter(|(other, _)| range.holds(&name.text, other));
        if let Some(first) = taken.map(|(_, (_, span))| *span).min() {
            return Err(duplicate(name, first));
        }
        let overlaps = |(prefix, other): (&&str, &Range)| {
            (overlap(&name.text, &range, prefix) || overlap(prefix, other, &name.text)).then_some(other.span)
        };
        if let Some(first) = scope.ranges.iter().filter_map(overlaps).min() {
            return Err(duplicate(name, first));
        }
        scope.ranges.insert(&name.text, range);
        Ok(())
    }

    fn bind(&mut self, kind: Kind) -> Binding<'m> {
        match kind {
            Kind::Register(width) => Binding::Register(self.fresh_register(), width),
            Kind::Predicate => Binding::Predicate(self.fresh_predicate()),
            Kind::Register128 => Binding::Register128,
            Kind::Vector(count, width) => {
                let first = self.fresh_register();
                self.registers += count - 1;
                Binding::Vector { first, count, width }
            }
        }
    }

    /// The binding of a name; `Ok(None)` when it is not declared here.
    pub(super) fn resolve(&mut self, name: &'m tree::Name) -> Result<Option<Binding<'m>>, LowerError> {
        if let Some(binding) = self.resolve_text(&name.text) {
            return Ok(Some(binding));
        }
        if let Some((vector, element)) = name.text.rsplit_once('.')
            && let Some(Binding::Vector { first, count, width }) = self.resolve_text(vector)
            && let Some(at) = element_number(element)
            && at < count
        {
            return Ok(Some(Binding::Register(RegId(first.0 + at), width)));
        }
        match self.outside_range(&name.text) {
            Some((prefix, count)) => {
                Err(LowerError::OutOfRange { name: name.text.clone(), prefix, count, span: name.span })
            }
            None => Ok(None),
        }
    }

    fn resolve_text(&mut self, text: &'m str) -> Option<Binding<'m>> {
        let depth = self.activations.last().map_or(0, Vec::len);
        for level in (0..depth).rev() {
            let scope = self.activations.last()?.get(level)?;
            if let Some((binding, _)) = scope.names.get(text) {
                return Some(*binding);
            }
            if let Some((_, range)) = scope.range_with(text) {
                let binding = self.bind(range.kind);
                let scope = self.activations.last_mut()?.get_mut(level)?;
                scope.names.insert(text, (binding, range.span));
                return Some(binding);
            }
        }
        self.variables.get(text).map(|variable| Binding::Static(variable))
    }

    /// The innermost range with the name's prefix, when the number is too large for all such ranges.
    fn outside_range(&self, text: &str) -> Option<(String, u64)> {
        let scopes = self.activations.last()?;
        scopes.iter().rev().find_map(|scope| {
            splits(text).find_map(|(prefix, _)| {
                scope.ranges.get(prefix).map(|range| (prefix.to_owned(), range.count))
            })
        })
    }

    /// The function with a name, as its definition if there is one.
    pub(super) fn function(&self, name: &str) -> Option<&'m tree::FunctionDefinition> {
        self.functions.get(name).copied()
    }

    /// The module's variable with a name.
    pub(super) fn module_variable_named(&self, name: &str) -> Option<&'m tree::VariableDeclaration> {
        self.variables.get(name).copied()
    }

    /// The label with a name.
    pub(super) fn label(&self, name: &tree::Name) -> Result<LabelId, LowerError> {
        let found = self.scopes().rev().find_map(|scope| scope.labels.get(name.text.as_str()));
        match found {
            Some((id, _)) => Ok(*id),
            None => {
                let known = self.scopes().flat_map(|scope| scope.labels.keys().copied());
                Err(LowerError::Undeclared {
                    what: "label",
                    name: name.text.clone(),
                    nearest: nearest(&name.text, known).map(str::to_owned),
                    span: name.span,
                })
            }
        }
    }

    /// The table (`.branchtargets` and similar) with a name.
    pub(super) fn table(&self, name: &tree::Name) -> Result<&'m tree::TargetTable, LowerError> {
        let found = self.scopes().rev().find_map(|scope| scope.tables.get(name.text.as_str()));
        found.copied().ok_or_else(|| LowerError::Undeclared {
            what: "table of labels",
            name: name.text.clone(),
            nearest: nearest(&name.text, self.scopes().flat_map(|scope| scope.tables.keys().copied()))
                .map(str::to_owned),
            span: name.span,
        })
    }

    fn scopes(&self) -> impl DoubleEndedIterator<Item = &Scope<'m>> {
        self.activations.last().into_iter().flatten()
    }

    /// The error for an undeclared name.
    pub(super) fn undeclared(&self, what: &'static str, name: &tree::Name) -> LowerError {
        let digits = name.text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let number = name.text.get(digits..).and_then(|number| number.parse::<u64>().ok());
        let numbered: Vec<String> = self
            .scopes()
            .flat_map(|scope| scope.ranges.iter())
            .filter_map(|(prefix, range)| {
                number.filter(|number| *number < range.count).map(|number| format!("{prefix}{number}"))
            })
            .collect();
        let named = self.scopes().flat_map(|scope| scope.names.keys().copied());
        let functions = self.functions.keys().copied().filter(|_| what == "function");
        let known = named.chain(self.variables.keys().copied()).chain(functions);
        LowerError::Undeclared {
            what,
            name: name.text.clone(),
            nearest: nearest(&name.text, known.chain(numbered.iter().map(String::as_str))).map(str::to_owned),
            span: name.span,
        }
    }
}

impl Scope<'_> {
    fn range_with(&self, text: &str) -> Option<(u64, Range)> {
        if self.ranges.is_empty() {
            return None;
        }
        splits(text).find_map(|(prefix, number)| {
            self.ranges.get(prefix).filter(|range| number < range.count).map(|range| (number, *range))
        })
    }
}

impl Range {
    /// Whether this range, declared with `prefix`, declares `name`.
    fn holds(&self, prefix: &str, name: &str) -> bool {
        name.strip_prefix(prefix).and_then(canonical_number).is_some_and(|number| number < self.count)
    }
}

/// Whether a range declares the first register of another range with the prefix `longer`.
fn overlap(prefix: &str, range: &Range, longer: &str) -> bool {
    prefix == longer || range.holds(prefix, &format!("{longer}0"))
}

/// All ways to split a name into a prefix and a number.
fn splits(text: &str) -> impl Iterator<Item = (&str, u64)> {
    let digits = text.bytes().rev().take_while(u8::is_ascii_digit).take(20).count();
    (1..=digits).rev().filter_map(move |length| {
        let (prefix, number) = text.split_at_checked(text.len() - length)?;
        Some((prefix, canonical_number(number)?))
    })
}

/// A number as written in register names: decimal, without leading zeros.
fn canonical_number(digits: &str) -> Option<u64> {
    let canonical = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
    if canonical { digits.parse().ok() } else { None }
}

fn element_number(name: &str) -> Option<u32> {
    match name {
        "x" | "r" => Some(0),
        "y" | "g" => Some(1),
        "z" | "b" => Some(2),
        "w" | "a" => Some(3),
        _ => None,
    }
}

fn kind_of(element: &tree::Name, vector: Option<u32>) -> Result<Kind, LowerError> {
    let problem = || LowerError::Declaration {
        name: format!(".{}", element.text),
        problem: DeclarationProblem::Type,
        span: element.span,
    };
    let ty = Type::parse(&element.text).ok_or_else(problem)?;
    match (ty, ty.width(), vector) {
        (Type::Pred, _, None) => Ok(Kind::Predicate),
        (Type::Bits128, _, None) => Ok(Kind::Register128),
        (_, Some(width), None) => Ok(Kind::Register(width)),
        (_, Some(width), Some(count @ (2 | 4 | 8))) => Ok(Kind::Vector(count, width)),
        _ => Err(problem()),
    }
}

fn duplicate(name: &tree::Name, first: Span) -> LowerError {
    LowerError::Duplicate { name: name.text.clone(), span: name.span, first }
}
