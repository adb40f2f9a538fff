//! The question that [`super::decide()`] answers, as SMT-LIB 2 for a solver, over the reals.
//!
//! For each element a script asserts that the two sides are *not* equal as rule V8 means it: the inputs have the
//! signs that the case declares, the reference is defined, and the optimized kernel is undefined or holds another
//! value. So `unsat` means equivalent, and `sat` different.
//!
//! - Terms are written as they were executed, one `let` binding each, never expanded into trees.
//! - A root is a symbol whose square is asserted; rounding to an integer is `to_int`; maxima, magnitudes and selects
//!   are `ite`. `2^x`, `log₂`, `sin`, `cos`, `tanh` are uninterpreted functions, for which [`Axioms`] may add axioms;
//!   an integer operation that is not interpreted is a symbol of its own. Where one of these occurs
//!   ([`Script::interpreted`] is false), `unsat` is still a proof and `sat` proves nothing.
//! - All literals are the rationals that their bits encode. Whether rule V9 reads a literal as log₂ e depends on where
//!   it stands once an exponent is multiplied out, which `algebra` does, not the terms written here.
//! - Undefined values follow V6: an arm of a select that is not taken does not matter.
//! - SMT-LIB's reals have no infinities. Those of rule V3 that meet a maximum, a comparison or an exponent
//!   are folded away; an element that depends on one otherwise is refused.

use std::fmt::Write;

use thiserror::Error;

use super::{ElementPair, InputInfo, Sign};
use crate::term::{InputId, TermId, spell_element};
use translate::{Meaning, Translator, number};

#[cfg(test)]
mod tests;
mod translate;

/// Axioms of a script about `2^x`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Axioms {
    /// It is a function.
    #[default]
    None,
    /// Also `2^a · 2^b = 2^(a+b)`, `2^a > 0` and `2^0 = 1`.
    Addition,
}

/// How a script is written.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Axioms of exponentials.
    pub axioms: Axioms,
    /// The largest number of terms of a script.
    pub max_terms: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { axioms: Axioms::None, max_terms: 1 << 21 }
    }
}

/// A script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// SMT-LIB 2, with one `check-sat` for each element.
    pub text: String,
    /// Terms of both sides, counted once for each element.
    pub terms: usize,
    /// Whether all functions are interpreted, so that `sat` is a difference.
    pub interpreted: bool,
    /// Whether `2^x` occurs.
    pub exponentials: bool,
}

/// Why an element cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It depends on an infinity that no maximum, comparison or exponent folds away.
    #[error("{element} depends on an infinity, which SMT-LIB's reals do not have")]
    Infinite {
        /// The element, as messages spell it.
        element: String,
    },
    /// An operation on the way to it has no value (V3).
    #[error("{element} is undefined for every input on one side")]
    Undefined {
        /// The element, as messages spell it.
        element: String,
    },
    /// The script would be too long.
    #[error("up to {element} there are more than {limit} terms")]
    TooLarge {
        /// The element, as messages spell it.
        element: String,
        /// The limit.
        limit: usize,
    },
}

/// Writes a script about named elements.
///
/// # Errors
/// When an element cannot be written: the first such.
pub fn script(
    elements: &[(String, ElementPair<'_>)],
    inputs: &[InputInfo],
    settings: Settings,
) -> Result<Script, Refusal> {
    let mut translator = Translator::new(inputs, settings.max_terms);
    let several = elements.len() > 1;
    let mut body = String::new();
    for (name, element) in elements {
        let sides = [("r", element.reference), ("o", element.opt)];
        let [reference, opt] = sides.map(|(prefix, (store, term))| translator.translate(prefix, store, term));
        let (reference, opt) = (of(name, reference, settings)?, of(name, opt, settings)?);
        let _ = writeln!(body, "; {}", one_line(name));
        if several {
            body.push_str("(push 1)\n");
        }
        let apart = format!("(not (= {} {}))", reference.0, opt.0);
        let mut claims: Vec<String> = reference.1.into_iter().collect();
        claims.push(match opt.1 {
            Some(defined) => format!("(or (not {defined}) {apart})"),
            None => apart,
        });
        translator.assert(claims, &mut body);
        body.push_str("(check-sat)\n");
        if several {
            body.push_str("(pop 1)\n");
        }
    }
    Ok(finish(translator, &body, settings))
}

/// The value of one side and its domain, as text.
fn of(
    name: &str,
    side: Result<translate::Term, translate::Problem>,
    settings: Settings,
) -> Result<(String, Option<String>), Refusal> {
    let element = name.to_string();
    match side {
        Ok(translate::Term { meaning, defined }) => match meaning {
            Meaning::Number(number) => match translate::number(&number) {
                Some(text) => Ok((text, defined)),
                None => Err(Refusal::Infinite { element }),
            },
            Meaning::Symbol(symbol) => Ok((symbol, defined)),
            Meaning::Truth(truth) => Ok((truth.to_string(), defined)),
        },
        Err(translate::Problem::Infinite) => Err(Refusal::Infinite { element }),
        Err(translate::Problem::Undefined) => Err(Refusal::Undefined { element }),
        Err(translate::Problem::TooLarge) => Err(Refusal::TooLarge { element, limit: settings.max_terms }),
    }
}

fn finish(translator: Translator<'_>, body: &str, settings: Settings) -> Script {
    let Translator { functions, integers, large, opaque, terms, inputs, used, .. } = translator;
    let exponentials = functions.contains("exp2");
    let axioms = exponentials && settings.axioms == Axioms::Addition;
    let interpreted = functions.is_empty() && !opaque;
    let mut text = String::from("; unsat: both sides are equal wherever the reference is defined\n");
    text.push_str(if interpreted {
        "; sat: they differ\n"
    } else {
        "; sat: says nothing, since some functions are not interpreted\n"
    });
    let quantifiers = if axioms { "" } else { "QF_" };
    let uninterpreted = if functions.is_empty() { "" } else { "UF" };
    let arithmetic = if integers { "NIRA" } else { "NRA" };
    let _ = writeln!(text, "(set-logic {quantifiers}{uninterpreted}{arithmetic})");
    for function in &functions {
        let _ = writeln!(text, "(declare-fun real.{function} (Real) Real)");
    }
    if axioms {
        text.push_str(
            "(assert (forall ((a Real) (b Real)) (= (* (real.exp2 a) (real.exp2 b)) (real.exp2 (+ a b)))))\n\
             (assert (forall ((a Real)) (> (real.exp2 a) 0.0)))\n\
             (assert (= (real.exp2 0.0) 1.0))\n",
        );
    }
    for &(input, element) in &used {
        let symbol = input_symbol(inputs, input, element);
        let _ = writeln!(text, "(declare-const {symbol} Real)");
        let _ = match inputs.get(input.index()).map_or(Sign::Any, |input| input.sign) {
            Sign::Any => Ok(()),
            Sign::Positive => writeln!(text, "(assert (> {symbol} 0.0))"),
            Sign::NonNegative => writeln!(text, "(assert (>= {symbol} 0.0))"),
            Sign::Negative => writeln!(text, "(assert (< {symbol} 0.0))"),
            Sign::NonPositive => writeln!(text, "(assert (<= {symbol} 0.0))"),
            Sign::Nonzero => writeln!(text, "(assert (not (= {symbol} 0.0)))"),
        };
        let largest = inputs.get(input.index()).filter(|_| large).and_then(InputInfo::largest);
        if let Some(largest) = largest.and_then(|largest| number(&largest.into())) {
            let _ = writeln!(text, "(assert (<= (- {largest}) {symbol} {largest}))");
        }
        if let Some(of) = inputs.get(input.index()).and_then(|input| input.integers) {
            let least = decimal(of.least);
            let range = format!("(<= {least} {symbol} {}.0)", of.greatest);
            let _ = writeln!(text, "(assert (and (is_int {symbol}) {range}))");
        }
    }
    for (at, _) in inputs.iter().enumerate().filter(|(_, input)| input.distinct) {
        let elements = used.iter().filter(|(input, _)| input.index() == at);
        let symbols: Vec<String> =
            elements.map(|(input, element)| input_symbol(inputs, *input, *element)).collect();
        if symbols.len() > 1 {
            let _ = writeln!(text, "(assert (distinct {}))", symbols.join(" "));
        }
    }
    text.push_str(body);
    Script { text, terms, interpreted, exponentials }
}

/// An element of an input as a symbol: `|x[3]|`, and `|scale[]|` for a scalar. The brackets keep it apart from
/// SMT-LIB's own names and from those of terms. Names that cannot be quoted are replaced by a number.
fn input_symbol(inputs: &[InputInfo], input: InputId, element: u64) -> String {
    let is_plain = |info: &&InputInfo| info.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match inputs.get(input.index()).filter(is_plain) {
        Some(info) if info.shape.is_empty() => format!("|{}[]|", info.name),
        Some(info) => format!("|{}|", spell_element(&info.name, &info.shape, element)),
        None => format!("|#{}[{element}]|", input.index()),
    }
}

/// An integer as a real of SMT-LIB, which has no negative literals.
fn decimal(value: i128) -> String {
    if value < 0 { format!("(- {}.0)", value.unsigned_abs()) } else { format!("{value}.0") }
}

/// Replaces control characters, which could end a comment.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Names a term in the order of writing: `r.7` of the reference, `o.8` of the optimized kernel.
fn term_symbol(prefix: &str, number: usize) -> String {
    format!("{prefix}.{number}")
}

/// Key of [`Translator`]'s terms: address of the store, and term.
type Key = (usize, TermId);
