//! Notations in which formulas are written.

mod latex;
mod mathml;
mod plain;

pub(super) use latex::Latex;
pub(super) use mathml::MathMl;
pub(super) use plain::Plain;

use super::write::Written;

/// How parts are put together. What is handed over is written already, and has the brackets that it needs.
pub(super) trait Notation {
    /// The name of an input, an output or a part.
    fn name(&self, name: &str) -> String;
    /// A constant with a name, or in brackets why there is no expression.
    fn constant(&self, name: &str) -> String;
    /// A number, as plain text has it.
    fn literal(&self, number: &str) -> String;
    /// A fraction of numbers.
    fn ratio(&self, above: &str, below: &str) -> String;
    /// A sum of names of indices, each so many times; the number itself beside no name.
    fn index(&self, terms: &[(i64, String)]) -> String;
    /// Something with indices, of which there may be none.
    fn indexed(&self, name: &str, index: &[String]) -> String;
    /// Terms, and signs between them.
    fn comparison(&self, parts: &[String], spaced: bool) -> String;
    /// In brackets.
    fn brackets(&self, inner: &str) -> String;
    /// Addends, each with whether it is taken away.
    fn sum(&self, addends: &[(bool, String)]) -> String;
    /// Factors.
    fn product(&self, factors: Vec<String>) -> String;
    /// A fraction of products; above the line there may be nothing.
    fn quotient(&self, above: &[Written], below: &[Written]) -> String;
    /// A whole power.
    fn power(&self, base: &str, exponent: u32) -> String;
    /// A square root.
    fn root(&self, inner: &str) -> String;
    /// A function of operands.
    fn call(&self, name: &str, operands: &[String]) -> String;
    /// A function over ranges.
    fn call_over(&self, name: &str, ranges: &[String], body: &str) -> String;
    /// A sum or product over ranges.
    fn sign_over(&self, sign: &str, ranges: &[String], body: &str) -> String;
    /// Operands with a word or sign between them.
    fn between(&self, word: &str, operands: &[String]) -> String;
    /// One of two, by a condition.
    fn choice(&self, condition: &str, then: &str, other: &str) -> String;
    /// What another formula has otherwise.
    fn marked(&self, inner: &str) -> String;
    /// What something is, and where; a part is set apart from outputs.
    fn line(&self, left: &str, right: &str, ranges: &[String], is_part: bool) -> String;
    /// A line of words.
    fn remark(&self, text: &str) -> String;
}
