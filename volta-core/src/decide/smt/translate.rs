//! Translates terms to bindings, in the order of execution, so that no chain needs a stack.

use std::collections::BTreeSet;
use std::fmt::Write;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{InputInfo, Key, input_symbol, term_symbol};
use crate::number::value::Demand;
use crate::number::{Extended, Rational};
use crate::term::{Fold, InputId, Smt, Store, TermId, TermKind, TermOp, View, fill, fold};

/// The translation of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A constant, infinities included.
    Number(Extended),
    /// A condition that always or never holds.
    Truth(bool),
    /// A symbol of the script, a real or a condition.
    Symbol(String),
}

/// A translated term.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) meaning: Meaning,
    /// The condition, as a symbol or a short expression, under which it is defined; `None` where it always is.
    pub(super) defined: Option<String>,
}

/// Why a term cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Infinite,
    Undefined,
    TooLarge,
}

/// Translates terms, and caches the results.
pub(super) struct Translator<'i> {
    pub(super) inputs: &'i [InputInfo],
    max_terms: usize,
    /// Terms of this element that are translated.
    known: FxHashMap<Key, Term>,
    /// Symbols with their definitions, each in terms of the ones before.
    bindings: Vec<(String, String)>,
    /// Symbols of this element that are declared instead, with their sorts.
    declared: Vec<(String, &'static str)>,
    /// Assertions about declared symbols.
    facts: Vec<String>,
    /// Elements of inputs that occur.
    pub(super) used: BTreeSet<(InputId, u64)>,
    /// Uninterpreted functions that occur.
    pub(super) functions: BTreeSet<&'static str>,
    /// Whether reals are rounded to integers.
    pub(super) integers: bool,
    /// Whether some constant is so large that the range of inputs matters: no format's largest number is smaller.
    pub(super) large: bool,
    /// Whether a symbol stands for an uninterpreted operation.
    pub(super) opaque: bool,
    /// Terms written for all elements.
    pub(super) terms: usize,
    symbols: usize,
}

/// A rational as SMT-LIB spells it; `None` for an infinity.
pub(super) fn number(value: &Extended) -> Option<String> {
    let value = value.finite()?;
    let (num, den) = value.abs().to_parts();
    let magnitude = if den == 1 { format!("{num}.0") } else { format!("(/ {num}.0 {den}.0)") };
    Some(if value.is_negative() { format!("(- {magnitude})") } else { magnitude })
}

impl<'i> Translator<'i> {
    pub(super) fn new(inputs: &'i [InputInfo], max_terms: usize) -> Translator<'i> {
        Translator {
            inputs,
            max_terms,
            known: FxHashMap::default(),
            bindings: Vec::new(),
            declared: Vec::new(),
            facts: Vec::new(),
            used: BTreeSet::new(),
            functions: BTreeSet::new(),
            integers: false,
            large: false,
            opaque: false,
            terms: 0,
            symbols: 0,
        }
    }

    /// Appends the declarations of this element, and an assertion of `claims` under its nested bindings; then forgets
    /// the element. Solvers read bindings much faster than they expand `define-fun`.
    pub(super) fn assert(&mut self, mut claims: Vec<String>, out: &mut String) {
        for (symbol, sort) in self.declared.drain(..) {
            let _ = writeln!(out, "(declare-const {symbol} {sort})");
        }
        out.push_str("(assert\n");
        for (symbol, expression) in &self.bindings {
            let _ = writeln!(out, "(let (({symbol} {expression}))");
        }
        claims.splice(0..0, self.facts.drain(..));
        match claims.as_slice() {
            [one] => out.push_str(one),
            _ => {
                let _ = write!(out, "(and {})", claims.join("\n"));
            }
        }
        out.extend(std::iter::repeat_n(')', self.bindings.len() + 1));
        out.push('\n');
        self.bindings.clear();
        self.known.clear();
    }

    /// Translates `root` and the terms below it that this element does not have yet.
    pub(super) fn translate(&mut self, prefix: &str, store: &Store, root: TermId) -> Result<Term, Problem> {
        let address = std::ptr::from_ref(store) as usize;
        let mut wanted = FxHashSet::default();
        let mut stack = vec![root];
        while let Some(term) = stack.pop() {
            if !matches!(term.kind(), TermKind::Lane(..))
                || self.known.contains_key(&(address, term))
                || !wanted.insert(term)
            {
                continue;
            }
            if self.terms + wanted.len() > self.max_terms {
                return Err(Problem::TooLarge);
            }
            if let View::Apply(op, operands) = store.view(term) {
                stack.extend(&operands[..op.arity()]);
            }
        }
        // Operands are lanes of earlier nodes.
        let mut wanted: Vec<TermId> = wanted.into_iter().collect();
        wanted.sort_unstable();
        for term in wanted {
            let View::Apply(op, operands) = store.view(term) else { continue };
            let operands: Vec<Term> =
                operands[..op.arity()].iter().map(|operand| self.get(store, address, *operand)).collect();
            let written = self.apply(prefix, op, &operands)?;
            self.terms += 1;
            self.known.insert((address, term), written);
        }
        Ok(self.get(store, address, root))
    }

    fn get(&mut self, store: &Store, address: usize, term: TermId) -> Term {
        match store.view(term) {
            View::Input { input, element } => {
                self.used.insert((input, element));
                let symbol = input_symbol(self.inputs, input, element);
                Term { meaning: Meaning::Symbol(symbol), defined: None }
            }
            View::Constant(constant) => {
                let exact = constant.exact.finite();
                self.large |= exact.is_some_and(|value| value.abs() >= Rational::from_integer(448));
                Term { meaning: Meaning::Number(constant.exact.clone()), defined: None }
            }
            // Translated already, since operands come first.
            View::Apply(..) => self.known[&(address, term)].clone(),
        }
    }

    /// Translates one operation.
    fn apply(&mut self, prefix: &str, op: TermOp, operands: &[Term]) -> Result<Term, Problem> {
        let meanings: Vec<&Meaning> = operands.iter().map(|operand| &operand.meaning).collect();
        if let (TermOp::Select, [Meaning::Truth(condition), ..]) = (op, &meanings[..]) {
            let arm = &operands[if *condition { 1 } else { 2 }];
            let defined = self.all(prefix, [operands[0].defined.clone(), arm.defined.clone()]);
            return Ok(Term { meaning: arm.meaning.clone(), defined });
        }
        let folded = simplify(op, &meanings)?;
        let mut conditions: Vec<Option<String>> = Vec::new();
        let meaning = match folded {
            Some(meaning) => meaning,
            None => {
                let texts: Option<Vec<String>> = meanings.iter().map(|meaning| text(meaning)).collect();
                let texts = texts.ok_or(Problem::Infinite)?;
                conditions.push(demand(op, &texts));
                self.define(prefix, op, texts)
            }
        };
        if let (TermOp::Select, [condition, then, otherwise]) = (op, operands) {
            conditions.push(condition.defined.clone());
            if then.defined.is_some() || otherwise.defined.is_some() {
                // Known conditions were handled above.
                let test = text(&condition.meaning).ok_or(Problem::Infinite)?;
                let arm = |arm: &Term| arm.defined.clone().unwrap_or_else(|| "true".into());
                conditions.push(Some(format!("(ite {test} {} {})", arm(then), arm(otherwise))));
            }
        } else {
            conditions.extend(operands.iter().map(|operand| operand.defined.clone()));
        }
        Ok(Term { meaning, defined: self.all(prefix, conditions) })
    }

    /// The conjunction of conditions, named unless it is a single name already.
    fn all(&mut self, prefix: &str, conditions: impl IntoIterator<Item = Option<String>>) -> Option<String> {
        let mut list: Vec<String> = Vec::new();
        for condition in conditions.into_iter().flatten() {
            if !list.contains(&condition) {
                list.push(condition);
            }
        }
        match list.as_slice() {
            [] => None,
            [one] if !one.starts_with('(') => list.pop(),
            [one] => Some(self.named(prefix, one.clone())),
            _ => Some(self.named(prefix, format!("(and {})", list.join(" ")))),
        }
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.symbols += 1;
        term_symbol(prefix, self.symbols)
    }

    fn named(&mut self, prefix: &str, expression: String) -> String {
        let symbol = self.fresh(prefix);
        self.bindings.push((symbol.clone(), expression));
        symbol
    }

    fn declared(&mut self, prefix: &str, sort: &'static str) -> String {
        let symbol = self.fresh(prefix);
        self.declared.push((symbol.clone(), sort));
        symbol
    }

    /// Binds the result of an operation whose operands are finite or conditions.
    fn define(&mut self, prefix: &str, op: TermOp, mut operands: Vec<String>) -> Meaning {
        let expression = match op.info().smt {
            Smt::Expression(text) => {
                self.integers |= text.contains("to_int");
                fill(text, &operands)
            }
            Smt::OfFloor(text) => {
                self.integers = true;
                operands.resize(3, String::new());
                let floor = fill("(to_real (to_int {0}))", &operands);
                operands.push(self.named(prefix, floor));
                fill(text, &operands)
            }
            Smt::Uninterpreted(name) => {
                self.functions.insert(name);
                format!("(real.{name} {})", operands[0])
            }
            Smt::Defined(fact) => {
                let symbol = self.declared(prefix, "Real");
                operands.resize(3, String::new());
                operands.push(symbol.clone());
                self.facts.push(fill(fact, &operands));
                return Meaning::Symbol(symbol);
            }
            Smt::Unknown => {
                self.opaque = true;
                return Meaning::Symbol(self.declared(prefix, "Real"));
            }
        };
        Meaning::Symbol(self.named(prefix, expression))
    }
}

fn text(meaning: &Meaning) -> Option<String> {
    match meaning {
        Meaning::Number(value) => number(value),
        Meaning::Truth(truth) => Some(truth.to_string()),
        Meaning::Symbol(symbol) => Some(symbol.clone()),
    }
}

/// The requirement of a partial operation on its operands.
fn demand(op: TermOp, operands: &[String]) -> Option<String> {
    let (demand, at) = op.info().demand?;
    let operand = operands.get(at)?;
    Some(match demand {
        Demand::Nonzero => format!("(not (= {operand} 0.0))"),
        Demand::Positive => format!("(> {operand} 0.0)"),
        Demand::NotNegative => format!("(>= {operand} 0.0)"),
    })
}

/// The result of an operation on constants, or one that an infinity determines; symbols are finite reals.
fn simplify(op: TermOp, operands: &[&Meaning]) -> Result<Option<Meaning>, Problem> {
    use Extended::{NegInf, PosInf};
    use Meaning::{Number, Symbol, Truth};
    let numbers: Option<Vec<&Extended>> = operands
        .iter()
        .map(|operand| match operand {
            Number(value) => Some(value),
            Truth(_) | Symbol(_) => None,
        })
        .collect();
    if let Some(numbers) = numbers {
        return match fold(op, &numbers) {
            Fold::Value(value) => Ok(Some(Number(value))),
            Fold::Truth(truth) => Ok(Some(Truth(truth))),
            Fold::Undefined => Err(Problem::Undefined),
            Fold::Irrational => Ok(None),
        };
    }
    let folded = match (op, operands) {
        (TermOp::Max, [Number(NegInf), other] | [other, Number(NegInf)])
        | (TermOp::Min, [Number(PosInf), other] | [other, Number(PosInf)]) => (*other).clone(),
        (TermOp::Max, [Number(PosInf), _] | [_, Number(PosInf)])
        | (TermOp::Add, [Number(PosInf), Symbol(_)] | [Symbol(_), Number(PosInf)])
        | (TermOp::Sub, [Number(PosInf), Symbol(_)] | [Symbol(_), Number(NegInf)]) => Number(PosInf),
        (TermOp::Min, [Number(NegInf), _] | [_, Number(NegInf)])
        | (TermOp::Add, [Number(NegInf), Symbol(_)] | [Symbol(_), Number(NegInf)])
        | (TermOp::Sub, [Number(NegInf), Symbol(_)] | [Symbol(_), Number(PosInf)]) => Number(NegInf),
        (TermOp::Div, [Symbol(_), Number(PosInf | NegInf)]) => Number(Rational::ZERO.into()),
        // A finite product beside an infinite summand, or an infinite product that constants make.
        (
            TermOp::Fma,
            [Symbol(_), Symbol(_) | Number(Extended::Finite(_)), Number(infinite @ (PosInf | NegInf))],
        )
        | (TermOp::Fma, [Number(Extended::Finite(_)), Symbol(_), Number(infinite @ (PosInf | NegInf))]) => {
            Number(infinite.clone())
        }
        (TermOp::Fma, [Number(a), Number(b), c @ Symbol(_)]) => match fold(TermOp::Mul, &[a, b]) {
            Fold::Value(product) if !product.is_finite() => {
                return simplify(TermOp::Add, &[&Number(product), c]);
            }
            Fold::Undefined => return Err(Problem::Undefined),
            Fold::Value(_) | Fold::Truth(_) | Fold::Irrational => return Ok(None),
        },
        (TermOp::Less, [Number(NegInf), Symbol(_)] | [Symbol(_), Number(PosInf)])
        | (TermOp::LessEqual, [Number(NegInf), Symbol(_)] | [Symbol(_), Number(PosInf)]) => Truth(true),
        (TermOp::Less, [Number(PosInf), Symbol(_)] | [Symbol(_), Number(NegInf)])
        | (TermOp::LessEqual, [Number(PosInf), Symbol(_)] | [Symbol(_), Number(NegInf)])
        | (TermOp::Equal, [Number(PosInf | NegInf), Symbol(_)] | [Symbol(_), Number(PosInf | NegInf)]) => {
            Truth(false)
        }
        (TermOp::Not, [Truth(known)]) => Truth(!known),
        (TermOp::And, [Truth(false), _] | [_, Truth(false)]) => Truth(false),
        (TermOp::Or, [Truth(true), _] | [_, Truth(true)]) => Truth(true),
        (TermOp::And, [Truth(true), other] | [other, Truth(true)])
        | (TermOp::Or, [Truth(false), other] | [other, Truth(false)]) => (*other).clone(),
        _ => return Ok(None),
    };
    Ok(Some(folded))
}
