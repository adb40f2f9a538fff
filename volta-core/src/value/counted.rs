//! What guards say by counting (rule S1): integers that are sums of conditions, as the places of a counting sort, lie
//! between what the conditions permit together, and two of them differ where no assignment makes them equal.

use super::guard::{Guard, Guards, Terms};
use super::packed::{Choice, PackedValues};
use crate::term::{Congruence, Decisions, Diagram, DiagramOperation, Store};
use crate::value::Value;
use rustc_hash::FxHashMap;

impl Guards {
    /// A guard as a function of what decides it, without literals that are none, and without those with which it would be
    /// a large one. `None` where nothing is counted.
    pub(crate) fn counted(&mut self, terms: Terms<'_>, guard: Guard) -> Option<Diagram> {
        let Terms { store, congruence } = terms;
        self.decisions.as_ref()?;
        let (mut open, mut at) = (Vec::new(), guard);
        let known = loop {
            let Some((outer, literal)) = self.outer(at) else { break None };
            if let Some(known) = self.known_by_counting(at) {
                break Some(known);
            }
            open.push((at, literal));
            at = outer;
        };
        let decisions = self.decisions.as_mut()?.get_mut();
        let mut all = known.or_else(|| decisions.diagrams().number(1))?;
        for (guard, literal) in open.into_iter().rev() {
            let decisions = self.decisions.as_mut()?.get_mut();
            let own = decisions.of(store, congruence, literal.condition);
            let own = if literal.holds { own } else { own.and_then(|own| decisions.diagrams().not(own)) };
            all = own.and_then(|own| decisions.diagrams().and(all, own)).unwrap_or(all);
            self.know_by_counting(guard, all);
        }
        Some(all)
    }

    /// A value that is undefined for some inputs only, without what is undefined, if counting shows that it is defined
    /// wherever a guard holds; else the value itself.
    pub(crate) fn defined_by_counting(
        &mut self,
        terms: Terms<'_>,
        packed: &mut PackedValues,
        guard: Guard,
        value: Value,
    ) -> Value {
        let Terms { store, congruence } = terms;
        let Some(partly) = value.as_partly() else { return value };
        let Some(given) = self.counted(Terms { store, congruence }, guard) else { return value };
        let Some(decisions) = &mut self.decisions else { return value };
        let decisions = decisions.get_mut();
        let Some(defined) = defined(decisions, (store, congruence), packed, partly) else { return value };
        let diagrams = decisions.diagrams();
        let lacking = diagrams.not(defined).and_then(|lacking| diagrams.and(given, lacking));
        if lacking.is_some_and(|lacking| diagrams.as_number(lacking) == Some(0)) {
            without_undefined(packed, partly)
        } else {
            value
        }
    }
}

/// The choices of which a value that is undefined for some inputs consists, each behind those in its arms.
fn choices_below(packed: &PackedValues, partly: u32) -> Vec<u32> {
    let (mut found, mut open, mut done) = (Vec::new(), vec![partly], FxHashMap::default());
    while let Some(&at) = open.last() {
        let visited = done.get(&at).copied();
        if visited.is_none() {
            done.insert(at, false);
            let Choice { then, otherwise, .. } = packed.choice(at);
            open.extend([then, otherwise].into_iter().filter_map(|arm| arm.as_partly()));
            continue;
        }
        open.pop();
        if visited == Some(false) {
            done.insert(at, true);
            found.push(at);
        }
    }
    found
}

/// Where a value is defined that is a choice.
fn defined(
    decisions: &mut Decisions,
    (store, congruence): (&Store, &mut Congruence),
    packed: &PackedValues,
    partly: u32,
) -> Option<Diagram> {
    let [no, yes] = [decisions.diagrams().number(0)?, decisions.diagrams().number(1)?];
    let mut known: FxHashMap<u32, Diagram> = FxHashMap::default();
    for at in choices_below(packed, partly) {
        let Choice { condition, then, otherwise } = packed.choice(at);
        let arms = [then, otherwise].map(|arm| match arm.as_partly() {
            Some(inner) => known.get(&inner).copied(),
            None => Some(if packed.undefined_part(arm).is_some() { no } else { yes }),
        });
        let condition = decisions.of(store, congruence, condition)?;
        let own = decisions.diagrams().apply(DiagramOperation::Select, [condition, arms[0]?, arms[1]?])?;
        known.insert(at, own);
    }
    known.get(&partly).copied()
}

/// A choice without undefined arms, where these are not taken.
fn without_undefined(packed: &mut PackedValues, partly: u32) -> Value {
    let mut known: FxHashMap<u32, Value> = FxHashMap::default();
    let mut last = Value::Bits(0);
    for at in choices_below(packed, partly) {
        let choice = packed.choice(at);
        let arms = [choice.then, choice.otherwise].map(|arm| match arm.as_partly() {
            Some(inner) => known.get(&inner).copied(),
            None => Some(arm),
        });
        let arms = arms.map(|arm| arm.filter(|arm| packed.undefined_part(*arm).is_none()));
        let own = match arms {
            [Some(then), Some(otherwise)] => packed.choose(Choice { then, otherwise, ..choice }),
            [Some(only), None] | [None, Some(only)] => only,
            [None, None] => choice.then,
        };
        known.insert(at, own);
        last = own;
    }
    last
}
