//! Notations in which formulas are written.

mod latex;
mod mathml;
mod plain;

pub(super) use latex::Latex;
pub(super) use mathml::MathMl;
pub(super) use plain::Plain;

use super::write::Written;

/// How parts are combined. Operands are written already, and have the brackets that they need.
pub(super) trait Notation {
    /// The name of an input, an output or a part.
    fn name(&self, name: &str) -> String;
    /// The name of a tensor that is read as well, for its contents after the launch.
    fn after(&self, name: String) -> String {
        name
    }
    /// A named constant, or in brackets the reason why there is no expression.
    fn constant(&self, name: &str) -> String;
    /// A number, given in plain text.
    fn literal(&self, number: &str) -> String;
    /// A fraction of numbers.
    fn ratio(&self, above: &str, below: &str) -> String;
    /// A linear combination of index names with these coefficients; the constant has an empty name.
    fn index(&self, terms: &[(i64, String)]) -> String;
    /// A name with indices, possibly none.
    fn indexed(&self, name: &str, index: &[String]) -> String;
    /// Terms with signs between them.
    fn comparison(&self, parts: &[String], spaced: bool) -> String;
    /// In brackets.
    fn brackets(&self, inner: &str) -> String;
    /// Addends, each with whether it is subtracted.
    fn sum(&self, addends: &[(bool, String)]) -> String;
    /// Factors.
    fn product(&self, factors: Vec<String>) -> String;
    /// A fraction of products; the numerator may be empty.
    fn quotient(&self, above: &[Written], below: &[Written]) -> String;
    /// An integer power.
    fn power(&self, base: &str, exponent: u32) -> String;
    /// A square root.
    fn root(&self, inner: &str) -> String;
    /// A function applied to operands.
    fn call(&self, name: &str, operands: &[String]) -> String;
    /// A function over ranges.
    fn call_over(&self, name: &str, ranges: &[String], body: &str) -> String;
    /// A sum or product over ranges.
    fn sign_over(&self, sign: &str, ranges: &[String], body: &str) -> String;
    /// Operands with an infix word or sign.
    fn between(&self, word: &str, operands: &[String]) -> String;
    /// A choice by a condition.
    fn choice(&self, condition: &str, then: &str, other: &str) -> String;
    /// A part that differs from another formula.
    fn marked(&self, inner: &str) -> String;
    /// A line with a name, its value and the ranges of its indices; definitions of parts differ from outputs.
    fn line(&self, left: &str, right: &str, ranges: &[String], is_part: bool) -> String;
    /// A line of text.
    fn remark(&self, text: &str) -> String;
}
