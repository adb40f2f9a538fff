//! What is to be decided of a case: the elements of its outputs, as both kernels leave them.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::base::ration::Ration;
use crate::decide::forms::Forms;
use crate::decide::{DecisionOptions, ElementPair, InputInfo};
use crate::machine::{Execution, OutputValue};
use crate::term::{InputId, Store, TermId, spell_element};

/// The elements that either kernel of a case writes, each with what both sides hold there.
///
/// [`crate::verify()`] decides them all. Who asks about some of them, or somebody else (a solver), takes
/// [`Conditions::element`] to [`crate::decide`].
#[derive(Debug)]
pub struct Conditions {
    /// What the case says about the inputs.
    pub inputs: Vec<InputInfo>,
    /// How hard the case asks to try.
    pub options: DecisionOptions,
    pub(crate) reference: Execution,
    pub(crate) opt: Execution,
    /// Old contents, of elements that only one side writes.
    pub(crate) old: Store,
    pub(crate) pairs: Vec<Pair>,
}

/// An element of an output on one side: its value, and the store of the CTA that wrote it (else old contents).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Valued {
    pub(crate) store: Option<usize>,
    pub(crate) value: OutputValue,
}

/// An element of an output on both sides.
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
    /// The normal forms of all of one side's values.
    pub(crate) fn forms(&self, outcome: &Execution, side: fn(&Pair) -> Valued) -> Forms<'_> {
        let values = self.pairs.iter().map(|pair| {
            let valued = side(pair);
            let store = valued.store.map_or(&self.old, |at| &outcome.stores[at]);
            (pair.param, pair.element, store, valued.value)
        });
        forms(&self.inputs, &self.options, values)
    }

    /// How many elements there are; never none.
    #[expect(clippy::len_without_is_empty, reason = "an empty comparison is an input error")]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Element number `at` as messages spell it: `y[3]`.
    ///
    /// # Panics
    /// When there is no such element.
    pub fn name(&self, at: usize) -> String {
        let pair = &self.pairs[at];
        let output = &self.inputs[pair.param];
        spell_element(&output.name, &output.shape, pair.element)
    }

    /// The terms of element number `at`; `None` where both sides hold integers that are known: they are compared as
    /// they are.
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

    fn store<'s>(&'s self, side: &'s Execution, at: Option<usize>) -> &'s Store {
        at.map_or(&self.old, |at| &side.stores[at])
    }
}

/// The normal forms of values: each of an element of an output, with the store that its term is of.
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
