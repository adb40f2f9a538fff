//! Literals that stand for roots: a copy of a store, in which some constants are roots of numbers.

use rustc_hash::FxHashMap;

use super::id::{ConstantId, TermId};
use super::import::Imported;
use super::info::TermOp;
use super::node::{Constant, Store};
use crate::base::index::InstId;
use crate::number::{Extended, Rational};

/// A root in place of a literal.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    /// The number that it is the root of.
    pub(crate) square: Rational,
    /// Whether it is the negative one.
    pub(crate) is_negative: bool,
}

impl Store {
    /// A copy of some terms, in which the constants are roots that `root` gives, and what became of each term. Constants
    /// of recognized functions stay as they are.
    ///
    /// `None` if the store has no such constant, or holds more than terms.
    pub(crate) fn with_roots(
        &self,
        terms: &[TermId],
        root: impl Fn(&Constant) -> Option<Root>,
    ) -> Option<(Store, Vec<TermId>)> {
        if self.explainer.is_some() || self.has_names() || self.ieee {
            return None;
        }
        let mut store = Store::new();
        store.set_integers(self.all_integers().to_vec());
        store.folded.clone_from(&self.folded);
        store.approximates = self.approximates;
        let mut roots: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (at, constant) in self.constants.iter().enumerate() {
            let id = ConstantId::from_index(at);
            store.intern(constant.clone());
            let Some(Root { square, is_negative }) =
                root(constant).filter(|_| !self.inner_constants.contains(&id))
            else {
                continue;
            };
            let square = Constant { exact: Extended::Finite(square), literal: None, rounded: None };
            let square = store.intern(square);
            let root = store.apply(TermOp::Sqrt, &[square], InstId::FIRST);
            let root = if is_negative { store.apply(TermOp::Neg, &[root], InstId::FIRST) } else { root };
            roots.insert(TermId::constant(id), root);
        }
        if roots.is_empty() {
            return None;
        }
        let mut known = Imported::default();
        let copied = terms
            .iter()
            .map(|term| store.import_with(self, *term, &mut known, |constant| roots.get(&constant).copied()));
        let copied = copied.collect();
        store.close();
        Some((store, copied))
    }

    /// Whether some node takes a root.
    pub(crate) fn has_roots(&self) -> bool {
        (0..self.len()).any(|at| matches!(self.node_ref(at).op(), TermOp::Sqrt | TermOp::Rsqrt))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{InputId, View};
    use super::*;
    use crate::number::format::Format;

    #[test]
    fn a_literal_becomes_a_root_and_all_else_stays() {
        let literal = |bits: u32| Constant {
            exact: Extended::Finite(Rational::from_integer(1)),
            literal: Some((Format::F32, bits.into())),
            rounded: None,
        };
        let mut store = Store::new();
        let x = TermId::input(InputId(0), 3);
        let [scale, other] = [1, 2].map(|bits| store.intern(literal(bits)));
        let product = store.apply(TermOp::Mul, &[x, scale], InstId(4));
        let sum = store.apply(TermOp::Add, &[product, other], InstId(5));
        store.close();
        let eighty = Rational::from_integer(80);
        let root = |constant: &Constant| {
            let is_it = constant.literal == Some((Format::F32, 1));
            is_it.then(|| Root { square: eighty.clone(), is_negative: true })
        };
        assert!(!store.has_roots());
        let (copy, terms) = store.with_roots(&[sum], root).expect("there is such a constant");
        assert!(copy.has_roots());
        let View::Apply(TermOp::Add, [product, constant, _]) = copy.view(terms[0]) else { panic!("a sum") };
        assert!(matches!(copy.view(constant), View::Constant(same) if *same == literal(2)));
        let View::Apply(TermOp::Mul, [input, root, _]) = copy.view(product) else { panic!("a product") };
        assert_eq!(input, x);
        let View::Apply(TermOp::Neg, [root, ..]) = copy.view(root) else { panic!("a negative root") };
        let View::Apply(TermOp::Sqrt, [square, ..]) = copy.view(root) else { panic!("a root") };
        let View::Constant(square) = copy.view(square) else { panic!("a number") };
        assert_eq!(square.exact, Extended::Finite(eighty.clone()));
        assert!(store.with_roots(&[sum], |_| None).is_none());
    }
}
