//! Elements that both kernels look up in tables at places that inputs choose, as names.
//!
//! A lookup `t[i]` is a choice by each value of `i`, as long as the table. What is computed from many, as a row of attention
//! from pages, would be as many products for each. Where both sides make the same lookups, they get names first: what is
//! proved of any numbers in their place holds for them. Where that proves nothing, they are choices again.

use super::{Decision, DecisionOptions, ElementPair, InputInfo, decide_as};
use crate::base::budget::Held;
use crate::base::lane::LaneMask;
use crate::base::watch::Watch;
use crate::term::{Imported, InputId, Integers, Store, TermId, TermKind, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// Where lookups have fewer values together, they are choices.
const MIN_VALUES: usize = 1 << 12;
/// A lookup has at least so many values.
const MIN_LENGTH: usize = 4;
/// More terms are not looked at.
const MOST_TERMS: usize = 1 << 24;

/// Elements of a tensor for consecutive values of an index: the first value, their number, the first element, and how far
/// each is from the one before.
type Run = (i128, u64, u64, i64);

/// An element of a tensor for each value of an index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Lookup {
    index: TermId,
    tensor: InputId,
    runs: SmallVec<[Run; 1]>,
    /// The element for all other values.
    elsewhere: Option<u64>,
}

/// Names of lookups, by tensor in the order in which these were found.
#[derive(Default)]
struct Names {
    of: FxHashMap<Lookup, TermId>,
    tensors: Vec<(InputId, u64)>,
}

/// Decides elements with names in place of what both sides look up; `None` where that does not help.
pub(super) fn decided(
    elements: &[ElementPair<'_>],
    (stores, sides): (&[&Store], &[[usize; 2]]),
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Option<Decision> {
    let is_suitable = |store: &&Store| !store.is_ieee() && !store.has_names();
    let has_integers = inputs.iter().any(|input| input.integers.is_some());
    let chooses = |store: &&Store| (0..store.len()).any(|at| store.node_ref(at).op() == TermOp::Select);
    if !has_integers || !stores.iter().all(is_suitable) || !stores.iter().any(chooses) {
        return None;
    }
    let mut roots: [Vec<Vec<TermId>>; 2] = [0, 1].map(|_| vec![Vec::new(); stores.len()]);
    for (element, [reference, opt]) in elements.iter().zip(sides) {
        roots[0][*reference].push(element.reference.1);
        roots[1][*opt].push(element.opt.1);
    }
    let mut names = Names::default();
    let mut found: Vec<FxHashMap<TermId, TermId>> = vec![FxHashMap::default(); stores.len()];
    let mut of_sides: [FxHashSet<TermId>; 2] = Default::default();
    let mut values = 0;
    for (roots, of_side) in roots.iter().zip(&mut of_sides) {
        for (at, roots) in roots.iter().enumerate().filter(|(_, roots)| !roots.is_empty()) {
            for (term, lookup) in lookups(stores[at], roots, inputs.len())? {
                values += lookup.runs.iter().map(|run| run.1 as usize).sum::<usize>();
                let name = names.name(lookup, inputs)?;
                of_side.insert(name);
                found[at].insert(term, name);
            }
        }
    }
    // What one side alone looks up, the other computes in another way, which names would hide.
    if values < MIN_VALUES || of_sides[0] != of_sides[1] {
        return None;
    }
    let named = names.inputs(inputs);
    let mut copies: Vec<(Store, Imported)> = stores
        .iter()
        .zip(&found)
        .map(|(from, names)| {
            let mut store = Store::new();
            let mut integers = from.all_integers().to_vec();
            integers.resize(named.len(), None);
            store.set_integers(integers);
            (store, names.clone())
        })
        .collect();
    let mut copy = |side: usize, term: TermId| {
        let (store, known) = &mut copies[side];
        store.import(stores[side], term, known)
    };
    let terms: Vec<[TermId; 2]> = elements
        .iter()
        .zip(sides)
        .map(|(element, [reference, opt])| [copy(*reference, element.reference.1), copy(*opt, element.opt.1)])
        .collect();
    copies.iter_mut().for_each(|(store, _)| store.close());
    let pairs = terms.iter().zip(sides).map(|([reference, opt], sides)| ElementPair {
        reference: (&copies[sides[0]].0, *reference),
        opt: (&copies[sides[1]].0, *opt),
    });
    let pairs: Vec<ElementPair<'_>> = pairs.collect();
    let terms = copies.iter().map(|(store, _)| store.bytes()).sum();
    let held = options.held.and(&Held { terms, ..Held::default() });
    let mut options = DecisionOptions { held, ..options.clone() };
    // What is proved of them is counted once.
    options.budgets.watch = Watch::default();
    let decision = decide_as(&pairs, &named, &options, true);
    let mut texts = decision.conditions.iter().chain(&decision.domain);
    let is_about_names = texts.any(|text| text.contains(LOOKUP) || text.starts_with('…'));
    (decision.first_failure.is_none() && decision.more_domain == 0 && !is_about_names).then_some(decision)
}

/// What stands before the name of a tensor.
const LOOKUP: &str = "looked up in ";

impl Names {
    fn name(&mut self, lookup: Lookup, inputs: &[InputInfo]) -> Option<TermId> {
        if let Some(known) = self.of.get(&lookup) {
            return Some(*known);
        }
        let at = self.tensors.iter().position(|(tensor, _)| *tensor == lookup.tensor).unwrap_or_else(|| {
            self.tensors.push((lookup.tensor, 0));
            self.tensors.len() - 1
        });
        let (_, count) = &mut self.tensors[at];
        if inputs.len() + at >= TermId::MAX_INPUTS || *count >= TermId::MAX_ELEMENTS {
            return None;
        }
        let name = TermId::input(InputId(u32::try_from(inputs.len() + at).ok()?), *count);
        *count += 1;
        self.of.insert(lookup, name);
        Some(name)
    }

    /// The inputs, and one for the names of each tensor, of which no more is known than of its elements.
    fn inputs(&self, inputs: &[InputInfo]) -> Vec<InputInfo> {
        let named = self.tensors.iter().map(|(tensor, count)| {
            let of = inputs[tensor.index()].clone();
            InputInfo { name: format!("{LOOKUP}{}", of.name), shape: vec![*count], distinct: false, ..of }
        });
        inputs.iter().cloned().chain(named).collect()
    }
}

/// The outermost lookups that some terms are computed from. `None` where there are too many terms, or other inputs than the
/// first ones, for which names might be mistaken.
fn lookups(store: &Store, roots: &[TermId], inputs: usize) -> Option<Vec<(TermId, Lookup)>> {
    let mut seen = vec![LaneMask::NONE; store.len()];
    let mut is_new = |term: TermId| match term.kind() {
        TermKind::Lane(node, lane) => {
            let lanes = &mut seen[node.index()];
            let is_new = !lanes.contains(lane);
            lanes.insert(lane);
            is_new
        }
        TermKind::Input { .. } | TermKind::Constant(_) => false,
    };
    let (mut found, mut open, mut left) = (Vec::new(), roots.to_vec(), MOST_TERMS);
    while let Some(term) = open.pop() {
        if let TermKind::Input { input, .. } = term.kind()
            && input.index() >= inputs
        {
            return None;
        }
        if !is_new(term) {
            continue;
        }
        let View::Apply(op, operands) = store.view(term) else { continue };
        left = left.checked_sub(1)?;
        if op != TermOp::Select {
            open.extend(&operands[..op.arity()]);
            continue;
        }
        let choices = choices(store, term);
        match choices.lookup(store, inputs) {
            Some(lookup) => found.push((term, lookup)),
            // None of these choices begins one.
            None => {
                open.extend(operands);
                let inner = choices.terms.get(1..).unwrap_or_default();
                for term in inner.iter().filter(|term| is_new(**term)) {
                    if let View::Apply(_, operands) = store.view(*term) {
                        open.extend(operands);
                    }
                }
            }
        }
    }
    Some(found)
}

/// Choices in a row by the values of one element of integers.
struct Choices {
    terms: Vec<TermId>,
    index: Option<TermId>,
    /// What is chosen by which value, the outermost first.
    chosen: Vec<(i128, TermId)>,
    elsewhere: TermId,
}

fn choices(store: &Store, root: TermId) -> Choices {
    let mut choices = Choices { terms: Vec::new(), index: None, chosen: Vec::new(), elsewhere: root };
    while let View::Apply(TermOp::Select, [condition, then, otherwise]) = store.view(choices.elsewhere)
        && let Some((index, value, is_equal)) = compared(store, condition)
        && *choices.index.get_or_insert(index) == index
    {
        let [own, rest] = if is_equal { [then, otherwise] } else { [otherwise, then] };
        choices.terms.push(choices.elsewhere);
        choices.chosen.push((value, own));
        choices.elsewhere = rest;
    }
    choices
}

impl Choices {
    /// The lookup that they are, if all that is chosen are elements of one tensor of reals.
    fn lookup(&self, store: &Store, inputs: usize) -> Option<Lookup> {
        let index = self.index.filter(|_| self.chosen.len() + 1 >= MIN_LENGTH)?;
        let TermKind::Input { input, .. } = index.kind() else { return None };
        let Integers { least, greatest } = store.integers(input).filter(|_| input.index() < inputs)?;
        let mut tensor = None;
        let mut element = |term: TermId| {
            let TermKind::Input { input, element } = term.kind() else { return None };
            let is_real = input.index() < inputs && store.integers(input).is_none();
            (is_real && *tensor.get_or_insert(input) == input).then_some(element)
        };
        let within = self.chosen.iter().filter(|(value, _)| (least..=greatest).contains(value));
        let elements = within.map(|(value, own)| Some((*value, element(*own)?)));
        let mut by_value: Vec<(i128, u64)> = elements.collect::<Option<_>>()?;
        // Of two choices by one value, the outer one counts.
        by_value.sort_by_key(|(value, _)| *value);
        by_value.dedup_by_key(|(value, _)| *value);
        let missing = greatest - least + 1 - by_value.len() as i128;
        let mut elsewhere = if missing > 0 { Some(element(self.elsewhere)?) } else { None };
        if missing == 1
            && let Some(at) = (0..by_value.len() + 1)
                .find(|at| by_value.get(*at).is_none_or(|(value, _)| *value != least + *at as i128))
            && let Some(element) = elsewhere.take()
        {
            by_value.insert(at, (least + at as i128, element));
        }
        Some(Lookup { index, tensor: tensor?, runs: runs(by_value), elsewhere })
    }
}

/// Which element of integers a condition compares with which number, and whether it holds where they are equal.
fn compared(store: &Store, condition: TermId) -> Option<(TermId, i128, bool)> {
    match store.view(condition) {
        View::Apply(TermOp::Not, [of, ..]) => {
            compared(store, of).map(|(index, value, is_equal)| (index, value, !is_equal))
        }
        View::Apply(TermOp::Equal, [a, b, _]) => {
            let (index, number) = if let TermKind::Input { .. } = a.kind() { (a, b) } else { (b, a) };
            let (TermKind::Input { .. }, View::Constant(constant)) = (index.kind(), store.view(number))
            else {
                return None;
            };
            let value = constant.exact.finite().filter(|value| value.is_integer())?;
            Some((index, value.to_i128()?, true))
        }
        View::Apply(..) | View::Input { .. } | View::Constant(_) => None,
    }
}

/// The elements as runs, of which each is as long as it can be.
fn runs(by_value: impl IntoIterator<Item = (i128, u64)>) -> SmallVec<[Run; 1]> {
    let mut runs: SmallVec<[Run; 1]> = SmallVec::new();
    for (value, element) in by_value {
        if let Some((first, count, from, step)) = runs.last_mut()
            && *first + i128::from(*count) == value
        {
            let before = (*from as i64).wrapping_add(step.wrapping_mul(*count as i64 - 1));
            let own = (element as i64).wrapping_sub(before);
            if *count == 1 || own == *step {
                (*count, *step) = (*count + 1, own);
                continue;
            }
        }
        runs.push((value, 1, element, 0));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::decide::{Failure, decide};
    use crate::number::{Extended, Rational};
    use crate::term::Constant;
    use proptest::prelude::*;

    /// Elements of a tensor of reals, and of one of integers below `values`.
    fn inputs(values: i128) -> [InputInfo; 2] {
        let integers = Some(Integers { least: 0, greatest: values - 1 });
        [
            InputInfo { name: "x".into(), shape: vec![1 << 16], ..InputInfo::default() },
            InputInfo { name: "at".into(), shape: vec![1 << 10], integers, ..InputInfo::default() },
        ]
    }

    fn x(element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    fn store_of(values: i128) -> Store {
        let mut store = Store::new();
        store.set_integers(inputs(values).map(|input| input.integers).to_vec());
        store
    }

    /// `index = value ? own : rest`, or with the arms exchanged.
    fn choice(store: &mut Store, index: u64, value: i64, own: TermId, rest: TermId, turned: bool) -> TermId {
        let number =
            Constant { exact: Extended::Finite(Rational::from_integer(value)), literal: None, rounded: None };
        let number = store.intern(number);
        let mut op = |op, operands: &[TermId]| store.apply(op, operands, InstId(0));
        let is_equal = op(TermOp::Equal, &[TermId::input(InputId(1), index), number]);
        if turned {
            let differs = op(TermOp::Not, &[is_equal]);
            op(TermOp::Select, &[differs, rest, own])
        } else {
            op(TermOp::Select, &[is_equal, own, rest])
        }
    }

    proptest! {
        #[test]
        fn a_lookup_has_the_values_of_its_choices(
            steps in proptest::collection::vec((-1i64..9, 0u64..12, any::<bool>()), 3..24),
            last in 0u64..12,
            values in 2i128..8,
        ) {
            let mut store = store_of(values);
            let mut root = x(last);
            for (value, element, turned) in steps.iter().rev() {
                root = choice(&mut store, 0, *value, x(*element), root, *turned);
            }
            let found = lookups(&store, &[root], 2).unwrap_or_default();
            let chosen = |at: i128| steps.iter().find(|step| i128::from(step.0) == at).map_or(last, |step| step.1);
            for (term, lookup) in found.iter().filter(|(term, _)| *term == root) {
                prop_assert_eq!(*term, root);
                for at in 0..values {
                    let runs = || lookup.runs.iter();
                    let run = runs().find(|run| (run.0..run.0 + i128::from(run.1)).contains(&at));
                    let own = run.map(|run| run.2.wrapping_add_signed(run.3 * (at - run.0) as i64));
                    prop_assert_eq!(own.or(lookup.elsewhere), Some(chosen(at)));
                }
            }
        }
    }

    #[test]
    fn inputs_that_are_not_described_have_no_names_beside_them() {
        let mut store = store_of(8);
        let root =
            (0..8).fold(x(9), |rest, value| choice(&mut store, 0, value, x(value as u64), rest, false));
        let other = TermId::input(InputId(2), 0);
        let sum = store.apply(TermOp::Add, &[root, other], InstId(0));
        assert_eq!(lookups(&store, &[root], 2).map(|found| found.len()), Some(1));
        assert!(lookups(&store, &[sum], 2).is_none() && lookups(&store, &[root], 1).is_none());
    }

    /// The sum of products of so many lookups in a table of 64, in either order; `other` looks up the next one.
    fn sum(store: &mut Store, count: u64, backwards: bool, other: Option<u64>) -> TermId {
        let terms: Vec<TermId> = (0..count)
            .map(|at| {
                let index = if other == Some(at) { at + 1 } else { at };
                let values: Vec<i64> = if backwards { (0..63).rev().collect() } else { (0..63).collect() };
                let last = x(63);
                let looked_up = values
                    .into_iter()
                    .fold(last, |rest, value| choice(store, index, value, x(value as u64), rest, backwards));
                store.apply(TermOp::Mul, &[looked_up, x(1000 + at)], InstId(0))
            })
            .collect();
        let add = |a: TermId, b: TermId| store.apply(TermOp::Add, &[a, b], InstId(0));
        let sum = if backwards { terms.into_iter().rev().reduce(add) } else { terms.into_iter().reduce(add) };
        sum.unwrap_or(x(0))
    }

    #[test]
    fn sums_of_many_lookups_take_few_steps() {
        let decided = |other| {
            let mut stores = [store_of(64), store_of(64)];
            let terms = [sum(&mut stores[0], 128, false, None), sum(&mut stores[1], 128, true, other)];
            stores.iter_mut().for_each(Store::close);
            let pair = ElementPair { reference: (&stores[0], terms[0]), opt: (&stores[1], terms[1]) };
            decide(&[pair], &inputs(64), &DecisionOptions::default())
        };
        let found = decided(None);
        assert_eq!((found.equal, &found.first_failure), (1, &None));
        assert!(found.steps < 128 * 64, "{} steps", found.steps);
        assert!(matches!(decided(Some(17)).first_failure, Some((0, Failure::Different(_)))));
    }
}
