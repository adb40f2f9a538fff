//! Formulas as data for other programs: numbers as strings, which are exact, and operations by name.

use serde::{Serialize, Serializer};

use super::tree::IndexVariable;
use crate::number::Rational;
use crate::term::TermOp;

impl Serialize for IndexVariable {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl Serialize for Rational {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for TermOp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let word = if *self == TermOp::Select { Some("select") } else { self.info().name() };
        word.or_else(|| self.info().between()).unwrap_or(self.info().text).serialize(to)
    }
}
