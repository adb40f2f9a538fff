//! The equalities to be decided for a case: the elements of its outputs, with the values of both kernels.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::base::ration::Ration;
use crate::decide::forms::Forms;
use crate::decide::{DecisionOptions, ElementPair, InputInfo};
use crate::machine::{Execution, OutputValue};
use crate::term::{InputId, Store, TermId, spell_element};

/// The elements that either kernel of a case writes, each with the values of both sides.
///
/// [`crate::verify()`] decides them all. To decide some of them, or to have a solver decide, pass
/// [`Conditions::element`] to [`crate::decide`].
#[derive(Debug)]
pub struct Conditions {
    /// What the case declares of the inputs.
    pub inputs: Vec<InputInfo>,
    /// The limits of deciding.
    pub options: DecisionOptions,
    pub(crate) reference: Execution,
    pub(crate) opt: Execution,
    /// The store of old contents, for elements that only one side writes.
    pub(crate) old: Store,
    pub(crate) pairs: Vec<Pair>,
}

/// An element of an output on one side: its value, and the store of the CTA that wrote it (else old contents).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valued {
    pub(crate) store: Option<usize>,
    pub(crate) value: OutputValue,
}

/// An output element on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    /// The output: a parameter of the case.
    pub(crate) param: usize,
    /// Row-major element number.
    pub(crate) element: u64,
    pub(crate) reference: Valued,
    pub(crate) opt: Valued,
}

impl Conditions {
    /// The normal forms of all values of one side.
    pub(crate) fn forms(&self, outcome: &Execution, side: fn(&Pair) -> Valued) -> Forms<'_> {
        let values = self.pairs.iter().map(|pair| {
            let valued = side(pair);
            let store = valued.store.map_or(&self.old, |at| &outcome.stores[at]);
            (pair.param, pair.element, store, valued.value)
        });
        forms(&self.inputs, &self.options, values)
    }

    /// Number of elements; at least one.
    #[expect(clippy::len_without_is_empty, reason = "an empty comparison is an input error")]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The name of element `at` in messages: `y[3]`.
    ///
    /// # Panics
    /// When there is no such element.
    pub fn name(&self, at: usize) -> String {
        let pair = &self.pairs[at];
        let output = &self.inputs[pair.param];
        spell_element(&output.name, &output.shape, pair.element)
    }

    /// The terms of element `at`; `None` where both sides are concrete integers, which are compared directly.
    ///
    /// # Panics
    /// When there is no such element.
    pub fn element(&self, at: usize) -> Option<ElementPair<'_>> {
        let pair = &self.pairs[at];
        use OutputValue::{Integer, Real};
        let (Real(reference) | Integer(reference), Real(opt) | Integer(opt)) =
            (pair.reference.value, pair.opt.value)
        else {
            return None;
        };
        Some(ElementPair {
            reference: (self.store(&self.reference, pair.reference.store), reference),
            opt: (self.store(&self.opt, pair.opt.store), opt),
        })
    }

    /// The elements that are terms, each with its number.
    pub(crate) fn to_decide(&self) -> (Vec<ElementPair<'_>>, Vec<usize>) {
        (0..self.len()).filter_map(|at| Some((self.element(at)?, at))).unzip()
    }

    fn store<'s>(&'s self, side: &'s Execution, at: Option<usize>) -> &'s Store {
        at.map_or(&self.old, |at| &side.stores[at])
    }
}

/// The normal forms of values, each with its output element and the store of its term.
pub(crate) fn forms<'s, 'i>(
    inputs: &'i [InputInfo],
    options: &DecisionOptions,
    values: impl Iterator<Item = (usize, u64, &'s Store, OutputValue)>,
) -> Forms<'i> {
    let mut forms = Forms::new(inputs);
    type Places = Vec<(InputId, u64, TermId)>;
    let mut stores: Vec<(&Store, Places)> = Vec::new();
    let mut known: FxHashMap<*const Store, usize> = FxHashMap::default();
    for (param, element, store, value) in values {
        let param = InputId::from_index(param);
        match value {
            OutputValue::Bits(bits) => forms.add_bits(param, element, bits),
            OutputValue::Integer(term) | OutputValue::Real(term) => {
                let at = *known.entry(std::ptr::from_ref(store)).or_insert_with(|| {
                    stores.push((store, Vec::new()));
                    stores.len() - 1
                });
                stores[at].1.push((param, element, term));
            }
        }
    }
    let ration = Rc::new(Ration::new(options.budgets.clone(), 0, options.held));
    for (store, terms) in stores {
        forms.add_terms(store, &terms, &ration);
    }
    forms
}
