//! What the steps of a side leave in the case's tensors for those that come after them.

use super::execution::Execution;
use super::output::{Lost, Output, OutputValue, WrongOutput, initial_value};
use crate::base::budget::{Exhausted, Held};
use crate::base::index::InstId;
use crate::case::{Element, Param, Rules, Which, number_bits};
use crate::launch::Launch;
use crate::launch::tensor::Earlier;
use crate::term::{InStore, InputId, Store, TermId, TermKind, View};
use crate::value::{Origin, Sym, Value};
use crate::verdict::FaultKind;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// So many terms are looked at for one that depends on an input.
const MOST_SEARCHED: usize = 256;
/// Elements between two looks at the limits.
const LOOK: usize = 1 << 10;

/// The contents of tensors after some steps of a side.
#[derive(Debug, Default)]
pub struct Left {
    /// What the steps did, all together; its outputs are all that they wrote to tensors of the case.
    pub did: Execution,
    /// For each step, the parameters that it wrote to.
    wrote: Vec<BTreeSet<usize>>,
    /// The number of the input whose elements are names for what was left in the first parameter, and so on; `None` if
    /// steps copy what they read. A launch copies nothing where names do, and names say nothing of what they stand for.
    pub names: Option<usize>,
}

impl Left {
    /// Adds what the next step did.
    pub fn add(&mut self, step: Execution) {
        let runs = step.outputs.chunk_by(|one, other| one.param == other.param);
        let written = runs.map(|run| run[0].param);
        let written = written.chain(step.unevaluated.iter().map(|(param, _)| *param));
        let is_first = self.wrote.is_empty();
        self.wrote.push(written.chain(step.lost.iter().map(|lost| lost.param)).collect());
        if is_first {
            self.did = step;
            return;
        }
        let did = &mut self.did;
        let first = did.stores.len();
        did.stores.extend(step.stores);
        did.alternatives.extend(step.alternatives.into_iter().map(|mut alternative| {
            alternative.values.iter_mut().for_each(|(store, _)| *store += first);
            alternative
        }));
        // Only the last step has any.
        did.bags.extend(step.bags.into_iter().map(|mut bag| {
            bag.elements.iter_mut().for_each(|element| element.store += first);
            bag
        }));
        // Later contents replace earlier ones.
        let unevaluated: BTreeSet<(usize, u64)> = step.unevaluated.into_iter().collect();
        let (outputs, lost) = (step.outputs, step.lost);
        let stays = |at: (usize, u64)| {
            outputs.binary_search_by_key(&at, Output::place).is_err()
                && !unevaluated.contains(&at)
                && lost.binary_search_by_key(&at, Lost::place).is_err()
        };
        did.unevaluated.retain(|at| stays(*at));
        did.lost.retain(|lost| stays(lost.place()));
        did.outputs.retain(|output| stays(output.place()));
        did.outputs
            .extend(outputs.into_iter().map(|output| Output { store: first + output.store, ..output }));
        did.outputs.sort_unstable_by_key(Output::place);
        did.unevaluated.extend(unevaluated);
        did.lost.extend(lost);
        did.lost.sort_by_key(Lost::place);
        did.undeclared.extend(step.undeclared);
        did.threads = did.threads.max(step.threads);
        did.ctas = (did.ctas.0 + step.ctas.0, did.ctas.1 + step.ctas.1);
        did.counts.add(&step.counts);
        did.term_nodes += step.term_nodes;
        did.term_bytes += step.term_bytes;
        did.exact_ctas += step.exact_ctas;
        // These two include those of the steps before.
        did.held = step.held;
        did.taken = step.taken;
    }

    /// What an element was left with, in terms of `store`; `None` where no step wrote it.
    pub(crate) fn output(&self, at: (usize, u64), store: &mut Store) -> Option<Result<OutputValue, Lost>> {
        if let Ok(lost) = self.did.lost.binary_search_by_key(&at, Lost::place) {
            return Some(Err(self.did.lost[lost].clone()));
        }
        let outputs = self.did.outputs_of(at.0);
        let place = outputs.binary_search_by_key(&at.1, |output| output.element).ok()?;
        let Output { store: number, value, .. } = outputs[place];
        let stores = &self.did.stores;
        Some(Ok(match value {
            OutputValue::Bits(bits) => OutputValue::Bits(bits),
            OutputValue::Real(term) => OutputValue::Real(match self.name(at, (number, term)) {
                Some((name, of)) => store.name_left(stores, name, of),
                None => store.import_left(stores, (number, term)),
            }),
            OutputValue::Integer(term) => OutputValue::Integer(store.import_left(stores, (number, term))),
        }))
    }

    /// The name for an element, and what it stands for; `None` for one that has none: a constant or an input, or what
    /// may be a known number.
    fn name(&self, (param, element): (usize, u64), value: InStore) -> Option<(TermId, InStore)> {
        let input = InputId::from_index(self.names? + param);
        let (number, term) = Store::meant_by(&self.did.stores, value);
        let TermKind::Lane(..) = term.kind() else { return None };
        let store = &self.did.stores[number];
        let (mut work, mut next) = (vec![term], 0);
        while next < work.len() && work.len() < MOST_SEARCHED {
            if let View::Apply(op, operands) = store.view(work[next]) {
                let operands = &operands[..op.arity()];
                if operands.iter().any(|operand| matches!(operand.kind(), TermKind::Input { .. })) {
                    return Some((TermId::input(input, element), (number, term)));
                }
                work.extend(operands);
            }
            next += 1;
        }
        None
    }

    /// Takes terms of the outputs with what names stand for, those that rest on the same terms of earlier steps together.
    /// `new` makes a store, and `look` sees one that grows.
    ///
    /// # Errors
    /// Those of `look`.
    pub fn without_names(
        &mut self,
        new: impl Fn() -> Store + Sync,
        look: impl Fn(u64) -> Result<(), Exhausted> + Sync,
    ) -> Result<(), Exhausted> {
        let did = &mut self.did;
        let mut named: Vec<usize> = did.outputs.iter().map(|output| output.store).collect();
        named.sort_unstable();
        named.dedup();
        named.retain(|store| did.stores[*store].has_names());
        let groups = Store::resting_on_common(&did.stores, &named);
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, output) in did.outputs.iter().enumerate() {
            if let Ok(place) = named.binary_search(&output.store) {
                members.entry(groups[place]).or_default().push(at);
            }
        }
        let taken = members.into_values().collect::<Vec<_>>().into_par_iter().map(|members| {
            let mut store = new();
            let mut values = Vec::with_capacity(members.len());
            for (count, at) in members.into_iter().enumerate() {
                if count % LOOK == 0 {
                    look(store.bytes())?;
                }
                let Output { store: from, value, .. } = did.outputs[at];
                values.push((at, value.map(|term| store.import_left(&did.stores, (from, term)))));
            }
            store.close();
            Ok((store, values))
        });
        let taken = taken.collect::<Vec<Result<_, Exhausted>>>();
        for taken in taken {
            let (store, values) = taken?;
            look(store.bytes() + did.held.terms)?;
            for (at, value) in values {
                did.outputs[at] = Output { store: did.stores.len(), value, ..did.outputs[at] };
            }
            did.add_store(store);
        }
        Ok(())
    }
}

impl Earlier for Left {
    fn touches(&self, param: usize) -> bool {
        self.wrote.iter().any(|step| step.contains(&param))
    }

    fn writers(&self, (param, element): (usize, u64)) -> String {
        if let Ok(lost) = self.did.lost.binary_search_by_key(&(param, element), Lost::place) {
            let Lost { step, what, .. } = &self.did.lost[lost];
            return format!("which step {} leaves without a value: it {what}", step + 1);
        }
        let steps = self.wrote.iter().zip(1..).filter(|(wrote, _)| wrote.contains(&param));
        let steps: Vec<String> = steps.map(|(_, number): (_, usize)| format!("step {number}")).collect();
        match steps.as_slice() {
            [] => "which no step before this one writes".into(),
            [one] => format!("which nothing has written: {one} writes other elements"),
            [_, ..] => format!("which nothing has written: {} write other elements", steps.join(" and ")),
        }
    }

    fn value(&self, at: (usize, u64), of: Element, store: &mut Store, reader: InstId) -> Option<Value> {
        let kinds = [
            (FaultKind::Uninitialised, Origin::Unwritten(reader)),
            (FaultKind::Nondeterministic, Origin::Unpredictable(reader)),
            (FaultKind::Undefined, Origin::Invalid(reader)),
        ];
        let term = match self.output(at, store)? {
            Ok(OutputValue::Bits(bits)) => return Some(Value::Bits(bits)),
            Ok(OutputValue::Real(term) | OutputValue::Integer(term)) => term,
            Err(lost) => {
                let known = kinds.into_iter().find(|(kind, _)| *kind == lost.kind);
                let origin = known.map_or(Origin::Unevaluated(reader), |(_, origin)| origin);
                return Some(Value::Undefined(origin));
            }
        };
        // What is known stays known.
        let known = match store.view(term) {
            View::Constant(constant) => match (of, constant.literal) {
                (Element::Float(format), Some((held, bits))) if format == held => Some(bits),
                (Element::Int { .. } | Element::Bool, _) => {
                    constant.exact.finite().map(|number| number_bits(of, number))
                }
                (Element::Float(_), _) => None,
            },
            View::Input { .. } | View::Apply(..) => None,
        };
        Some(match (known, of) {
            (Some(bits), _) => Value::Bits(bits),
            (None, Element::Float(format)) => Value::Sym(Sym::real(format, term)),
            (None, Element::Int { .. } | Element::Bool) => Value::Sym(Sym::int(of.bytes(), term)),
        })
    }

    fn taken(&self) -> (Held, u64) {
        (self.did.held, self.did.taken)
    }
}

/// The contents of an element of a tensor after some steps.
///
/// # Errors
/// Why it has none, if a step wrote it.
pub fn contents(
    which: Which,
    (params, at): (&[Param], usize),
    element: u64,
    left: Option<&Left>,
    (store, rules): (&mut Store, &Rules),
) -> Result<OutputValue, Option<Lost>> {
    if let Some(left) = left.filter(|left| left.touches(at))
        && let Some(value) = left.output((at, element), store)
    {
        return value.map_err(Some);
    }
    initial_value(which, &params[at], at, element, store, rules).ok_or(None)
}

impl Launch<'_> {
    /// An element whose value is of no use to the steps that follow.
    pub(super) fn lost(&self, (param, element): (usize, u64), wrong: WrongOutput) -> Lost {
        let (kind, rule, what, origin) = wrong;
        // It has a value for other inputs.
        let kind = match origin {
            Some(Origin::Partly(_)) => FaultKind::Unsupported,
            Some(_) | None => kind,
        };
        Lost { param, element, step: self.step, kind, rule, what }
    }
}
