//! Elements decided in terms of cut points: values that many of them are computed from are proved equal once, and the
//! elements, with names in place of these values, are decided like any others. What is not proved so is left to proofs
//! of the elements as they are.

use super::batch::All;
use super::sweep::cuts::{Census, Cut, NUMBER_STEPS_A_TERM, analysis_of};
use super::sweep::numbers::Numbers;
use super::sweep::{Located, Sweep};
use super::{DecisionOptions, ElementPair, Part, Proof, alike_of, end_in_order, prove_in_runs};
use crate::algebra::Analysis;
use crate::base::budget::Held;
use crate::base::lane::Lane;
use crate::base::watch::Watch;
use crate::term::{Store, TermId, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Fewer elements of two stores are not worth looking for what they share.
const MIN_ELEMENTS: usize = 8;
/// The largest number of pairs of stores whose elements are examined.
const MAX_GROUPS: usize = 64;

/// What was found of elements in terms of what they share.
pub(super) struct ByCuts {
    /// Elements that are equal at all inputs.
    pub part: Part,
    /// Those whose optimized kernel has the reference's value wherever that has one, which may not be everywhere: what
    /// it requires is still to be told.
    pub equal_where_defined: FxHashSet<usize>,
    /// For some of these, the number of what the reference requires: elements of one number require the same.
    pub requirements: FxHashMap<usize, usize>,
}

/// What an element requires: operands of partial operations, which are to meet the demands of these.
type Demands = SmallVec<[(TermOp, TermId); 2]>;

/// More operations of an element are not looked at for what they require.
const MOST_REQUIRING: usize = 16;

/// What a term requires, if that is all: names have values everywhere.
fn demands_of((store, root): (&Store, TermId), analysis: &Analysis) -> Option<Demands> {
    // An arm of a choice requires something only where it is taken, and infinities require more (V3).
    if store.has_infinities() || analysis.has_choices(root) {
        return None;
    }
    let (mut found, mut seen) = (Demands::new(), SmallVec::<[TermId; MOST_REQUIRING]>::new());
    let mut open: SmallVec<[TermId; MOST_REQUIRING]> = SmallVec::from_slice(&[root]);
    while let Some(term) = open.pop() {
        let View::Apply(op, operands) = store.view(term) else { continue };
        if analysis.is_total(term) || seen.contains(&term) {
            continue;
        }
        if seen.len() == MOST_REQUIRING {
            return None;
        }
        seen.push(term);
        found.extend(op.info().demand.map(|(_, at)| (op, operands[at])));
        open.extend_from_slice(&operands[..op.arity()]);
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

/// What was found of one element.
#[derive(Clone, Copy)]
enum InTermsOfCuts {
    Nothing,
    EqualWhereDefined,
    Equal,
}

/// Fewer elements are compared with one another first, whatever they share.
const MANY_ELEMENTS: usize = 1 << 12;

/// Elements of a row, with what they share, are of at most so many terms each.
const MOST_TERMS_AN_ELEMENT: usize = 1 << 8;

/// Whether all elements are few operations on what many of them share, on both sides, as those of a long row are.
pub(super) fn are_of_one_row(stores: &[&Store], roots: &[Vec<TermId>]) -> bool {
    let [first, second] = stores else { return false };
    // Stores of one size may hold the same terms, which their classes show.
    if first.len() == second.len() || roots.iter().any(|roots| roots.len() < MANY_ELEMENTS) {
        return false;
    }
    // Where each element has many terms of its own, looking at all of them would be in vain.
    let has_few = |side: usize| stores[side].len() * Lane::COUNT <= roots[side].len() * MOST_TERMS_AN_ELEMENT;
    if !has_few(0) || !has_few(1) {
        return false;
    }
    let is_short = |side: usize| {
        Census::new(stores[side], &roots[side])
            .is_some_and(|mut census| census.are_short_if_shared(stores[side], &roots[side]))
    };
    is_short(0) && is_short(1)
}

/// Elements of fewer terms are proved as fast by their normal forms; and so are those of fewer choices.
const MIN_TERMS: usize = 1 << 13;
const MIN_CHOICES: usize = 1 << 8;

/// Where fewer of the terms (one in this many) are powers of two or choices, most are sums of products, which are
/// compared as quickly as lists.
const POWERS_SHARE: usize = 16;

/// Whether terms of an operation are compared by numbers sooner than by normal forms: sums of powers and of choices are
/// long where they are multiplied out.
fn is_compared(op: TermOp) -> bool {
    matches!(op, TermOp::Exp2 | TermOp::Select)
}

/// Those of some long elements that are the same sums and extremes of the same operands on both sides: the optimized
/// kernel has the reference's value wherever that has one. Also returns the steps taken.
pub(super) fn same(all: All<'_, '_>, positions: &[usize]) -> (FxHashSet<usize>, u64) {
    let mut groups: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for at in positions {
        groups.entry(all.sides[*at]).or_default().push(*at);
    }
    let (mut found, mut taken) = (FxHashSet::default(), 0);
    for (sides, members) in groups.into_iter().take(MAX_GROUPS) {
        let ElementPair { reference: (reference, _), opt: (opt, _) } = all.elements[members[0]];
        let stores = [reference, opt];
        let has_such = |store: &Store| (0..store.len()).any(|at| is_compared(store.node_ref(at).op()));
        if stores.iter().any(|store| store.len() < MIN_CHOICES / Lane::COUNT || !has_such(store)) {
            continue;
        }
        if all.options.budgets.deadline.check().is_err() {
            break;
        }
        let root = |at: usize, side: usize| [all.elements[at].reference.1, all.elements[at].opt.1][side];
        let census = |side: usize| {
            let roots: Vec<TermId> = members.iter().map(|at| root(*at, side)).collect();
            Census::new(stores[side], &roots)
        };
        let (Some(first), Some(second)) = (census(0), census(1)) else { continue };
        let censuses = [first, second];
        let pays = |side: usize| {
            let count = |of: TermOp| {
                let is_such = |term: &TermId| stores[side].op(*term) == Some(of);
                censuses[side].terms().filter(is_such).count()
            };
            let (all, powers, choices) = (censuses[side].len(), count(TermOp::Exp2), count(TermOp::Select));
            (all >= MIN_TERMS || choices >= MIN_CHOICES) && (powers + choices) * POWERS_SHARE >= all
        };
        if !pays(0) || !pays(1) {
            continue;
        }
        let terms = censuses.iter().map(|census| census.len() as u64).sum::<u64>();
        let budget = (terms * NUMBER_STEPS_A_TERM).min(all.options.all_steps());
        let mut numbers =
            Numbers::new(stores, sides.map(|side| &all.analysis[side]), &censuses, budget, all.left_bytes());
        let names = Default::default();
        for at in members {
            let mut number = |side: usize| numbers.number(Located { side, term: root(at, side) }, &names);
            if let (Some(one), Some(other)) = (number(0), number(1))
                && one == other
            {
                found.insert(at);
            }
        }
        taken += terms + budget - numbers.left();
    }
    (found, taken)
}

/// Proves those of some elements that follow from what they share. `None` if there are none.
pub(super) fn proved(all: All<'_, '_>, positions: &[usize]) -> Option<ByCuts> {
    let mut groups: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for at in positions {
        groups.entry(all.sides[*at]).or_default().push(*at);
    }
    let ration = Rc::new(all.ration(0));
    let mut cuts: Vec<(Vec<usize>, [usize; 2], Cut)> = Vec::new();
    let mut inputs = None;
    for (sides, members) in groups.into_iter().filter(|(_, members)| members.len() >= MIN_ELEMENTS) {
        let element = &all.elements[members[0]];
        if cuts.len() == MAX_GROUPS {
            break;
        }
        let analysis = sides.map(|side| &all.analysis[side]);
        let sweep = Sweep::of_many(element, analysis, all.inputs, all.options, &ration)?;
        inputs.get_or_insert_with(|| sweep.inputs().to_vec());
        let roots: [Vec<_>; 2] = [
            members.iter().map(|at| all.elements[*at].reference.1).collect(),
            members.iter().map(|at| all.elements[*at].opt.1).collect(),
        ];
        if let Some(cut) = sweep.cut([&roots[0], &roots[1]]) {
            cuts.push((members, sides, cut));
        }
    }
    let (inputs, taken) = (inputs?, ration.spent());
    drop(ration);
    let mut positions = Vec::new();
    let (mut elements, mut sides, mut stores, mut roots) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut analysis: Vec<Analysis> = Vec::new();
    for (members, whole, cut) in &cuts {
        let first = stores.len();
        for (side, whole) in whole.iter().enumerate() {
            stores.push(&cut.stores[side]);
            roots.push(cut.roots[side].clone());
            analysis.push(analysis_of(cut, side, &all.analysis[*whole]));
        }
        for (at, member) in members.iter().enumerate().filter(|(at, _)| cut.is_short[*at]) {
            let [reference, opt] = [0, 1].map(|side: usize| (&cut.stores[side], cut.roots[side][at]));
            elements.push(ElementPair { reference, opt });
            sides.push([first, first + 1]);
            positions.push(*member);
        }
    }
    let terms = stores.iter().map(|store| store.bytes()).sum();
    let mut options = DecisionOptions {
        held: all.options.held.and(&Held { terms, ..Held::default() }),
        ..all.options.clone()
    };
    // What is proved of them is counted once.
    options.budgets.watch = Watch::default();
    let alike = alike_of(&stores, &sides, &roots, &options);
    let short = All {
        elements: &elements,
        sides: &sides,
        analysis: &analysis,
        alike: &alike,
        inputs: &inputs,
        options: &options,
        equal: None,
    };
    let firsts: Vec<usize> = (0..elements.len()).filter(|at| alike.is_first(*at)).collect();
    let mut parts = prove_in_runs(short, &firsts, taken, elements.len());
    let taken = end_in_order(&mut parts, taken, short);
    let mut found = vec![InTermsOfCuts::Nothing; elements.len()];
    for (at, proof) in parts.iter().flat_map(|part| &part.proofs) {
        found[*at] = match proof {
            proof if proof.is_unconditional() => InTermsOfCuts::Equal,
            proof if proof.conditions.is_empty() => InTermsOfCuts::EqualWhereDefined,
            _ => InTermsOfCuts::Nothing,
        };
    }
    let mut part = Part::default();
    let mut equal_where_defined = FxHashSet::default();
    let (mut requirements, mut numbers) = (FxHashMap::default(), FxHashMap::default());
    for (at, position) in positions.iter().enumerate() {
        match found[alike.first(at)] {
            InTermsOfCuts::Equal => part.proofs.push((*position, Proof::default())),
            InTermsOfCuts::EqualWhereDefined => {
                equal_where_defined.insert(*position);
                let [reference, _] = sides[at];
                if let Some(demands) = demands_of(elements[at].reference, &analysis[reference]) {
                    let next = numbers.len();
                    requirements.insert(*position, *numbers.entry((reference, demands)).or_insert(next));
                }
            }
            InTermsOfCuts::Nothing => {}
        }
    }
    part.proofs.sort_unstable_by_key(|(at, _)| *at);
    part.readings = parts.into_iter().flat_map(|part| part.readings).collect();
    part.readings.extend(cuts.into_iter().flat_map(|(_, _, cut)| cut.readings));
    let first = part.proofs.first().map(|(at, _)| *at).into_iter().chain(equal_where_defined.iter().copied());
    part.taken.push((first.min()?, taken));
    Some(ByCuts { part, equal_where_defined, requirements })
}

#[cfg(test)]
mod tests {
    use crate::base::index::InstId;
    use crate::decide::{Decision, DecisionOptions, ElementPair, Failure, InputInfo, decide};
    use crate::number::{Extended, Rational};
    use crate::term::{Constant, InputId, Store, TermId, TermOp};

    fn x(element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    fn op(store: &mut Store, op: TermOp, operands: &[TermId]) -> TermId {
        store.apply(op, operands, InstId(0))
    }

    fn one(store: &mut Store) -> TermId {
        store.intern(Constant { exact: Extended::Finite(Rational::ONE), literal: None, rounded: None })
    }

    /// The sum of the squares of a row, in either order.
    fn squares(store: &mut Store, length: u64, turned: bool) -> TermId {
        let first = if turned { length - 1 } else { 0 };
        let mut sum = op(store, TermOp::Mul, &[x(first), x(first)]);
        for at in 1..length {
            let at = if turned { length - 1 - at } else { at };
            sum = op(store, TermOp::Fma, &[x(at), x(at), sum]);
        }
        sum
    }

    /// An element, from what the row shares and its index.
    type OfRow = dyn Fn(&mut Store, TermId, u64) -> TermId;

    /// Decides the elements of a row, each a function of what the row shares.
    fn decided(length: u64, shared: [&dyn Fn(&mut Store) -> TermId; 2], each: [&OfRow; 2]) -> Decision {
        let mut stores = [Store::new(), Store::new()];
        let terms: [Vec<TermId>; 2] = [0, 1].map(|side: usize| {
            let store = &mut stores[side];
            let shared = shared[side](store);
            (0..length).map(|at| each[side](store, shared, at)).collect()
        });
        stores.iter_mut().for_each(Store::close);
        let pair =
            |(a, b): (&TermId, &TermId)| ElementPair { reference: (&stores[0], *a), opt: (&stores[1], *b) };
        let elements: Vec<_> = terms[0].iter().zip(&terms[1]).map(pair).collect();
        let inputs = [InputInfo { name: "x".into(), shape: vec![length], ..InputInfo::default() }];
        let found = decide(&elements, &inputs, &DecisionOptions::default());
        let alone = DecisionOptions { every_element: true, ..DecisionOptions::default() };
        let each = decide(&elements, &inputs, &alone);
        assert_eq!((found.equal, &found.first_failure), (each.equal, &each.first_failure));
        assert_eq!((&found.conditions, &found.domain), (&each.conditions, &each.domain));
        found
    }

    fn quotient(store: &mut Store, sum: TermId, at: u64) -> TermId {
        op(store, TermOp::Div, &[x(at), sum])
    }

    fn by_reciprocal(store: &mut Store, sum: TermId, at: u64) -> TermId {
        let one = one(store);
        let reciprocal = op(store, TermOp::Div, &[one, sum]);
        op(store, TermOp::Mul, &[x(at), reciprocal])
    }

    fn above_zero(store: &mut Store, length: u64, turned: bool) -> TermId {
        let (sum, one) = (squares(store, length, turned), one(store));
        op(store, TermOp::Add, &[sum, one])
    }

    #[test]
    fn a_row_takes_steps_in_proportion_to_its_length() {
        let steps = |length| {
            let found = decided(
                length,
                [&|store| above_zero(store, length, false), &|store| above_zero(store, length, true)],
                [&quotient, &by_reciprocal],
            );
            assert_eq!((found.equal as u64, found.domain.len()), (length, 0));
            found.steps
        };
        let (short, long) = (steps(256), steps(1024));
        assert!(long < 5 * short, "{short} steps for 256 elements, {long} for 1024");
        assert!(long < 40 * 1024, "{long} steps for 1024 elements");
    }

    #[test]
    fn an_element_that_differs_is_found() {
        let wrong = |store: &mut Store, sum, at| {
            let other = if at == 17 { 18 } else { at };
            by_reciprocal(store, sum, other)
        };
        let found = decided(
            256,
            [&|store| above_zero(store, 256, false), &|store| above_zero(store, 256, true)],
            [&quotient, &wrong],
        );
        assert!(matches!(found.first_failure, Some((17, Failure::Different(_)))));
    }

    #[test]
    fn what_elements_require_of_a_cut_point_is_told_of_the_inputs() {
        let found = decided(
            256,
            [&|store| squares(store, 256, false), &|store| squares(store, 256, true)],
            [&quotient, &by_reciprocal],
        );
        assert_eq!((found.equal, found.conditions.len(), found.domain.len()), (256, 0, 1));
        assert!(found.domain[0].starts_with("(x[0]^2 + x[1]^2"), "{}", found.domain[0]);
    }

    #[test]
    fn a_value_that_is_not_defined_everywhere_is_no_cut_point() {
        let divided = |store: &mut Store, turned| {
            let sum = squares(store, 256, turned);
            let quotient = op(store, TermOp::Div, &[sum, x(3)]);
            op(store, TermOp::Mul, &[quotient, x(3)])
        };
        let scaled = |store: &mut Store, sum, at| op(store, TermOp::Mul, &[x(at), sum]);
        let plain = |store: &mut Store| squares(store, 256, false);
        let only_opt = decided(256, [&plain, &|store| divided(store, true)], [&scaled, &scaled]);
        assert_eq!((only_opt.equal, &only_opt.conditions[..]), (256, &["x[3] != 0".to_owned()][..]));
        let both =
            decided(256, [&|store| divided(store, false), &|store| divided(store, true)], [&scaled, &scaled]);
        assert_eq!((both.equal, both.conditions.len()), (256, 0));
        assert_eq!(both.domain, ["x[3] != 0"]);
    }

    /// `log₂ Σ 2^x` of a row, with the maximum taken out: in two passes, or rescaled at each step.
    fn log_of_powers(store: &mut Store, length: u64, running: bool, last: u64) -> TermId {
        let power = |store: &mut Store, a: TermId, b: TermId| {
            let gap = op(store, TermOp::Sub, &[a, b]);
            op(store, TermOp::Exp2, &[gap])
        };
        let element = |at: u64| if at + 1 == length { x(last) } else { x(at) };
        let mut largest = x(0);
        let mut sum = one(store);
        for at in 1..length {
            let next = op(store, TermOp::Max, &[largest, element(at)]);
            if running {
                let scale = power(store, largest, next);
                let own = power(store, element(at), next);
                sum = op(store, TermOp::Fma, &[sum, scale, own]);
            }
            largest = next;
        }
        if !running {
            sum = power(store, x(0), largest);
            for at in 1..length {
                let own = power(store, element(at), largest);
                sum = op(store, TermOp::Add, &[sum, own]);
            }
        }
        let logarithm = op(store, TermOp::Log2, &[sum]);
        op(store, TermOp::Add, &[logarithm, largest])
    }

    #[test]
    fn a_long_element_takes_few_steps() {
        let length = 1 << 13;
        let decided = |last: u64| {
            let mut stores = [Store::new(), Store::new()];
            let terms = [false, true].map(|running| {
                let last = if running { last } else { length - 1 };
                log_of_powers(&mut stores[usize::from(running)], length, running, last)
            });
            stores.iter_mut().for_each(Store::close);
            let element = ElementPair { reference: (&stores[0], terms[0]), opt: (&stores[1], terms[1]) };
            let inputs = [InputInfo { name: "x".into(), shape: vec![length], ..InputInfo::default() }];
            decide(&[element], &inputs, &DecisionOptions::default())
        };
        let found = decided(length - 1);
        assert_eq!((found.equal, &found.domain, &found.conditions), (1, &vec![], &vec![]));
        assert!(found.steps < 4 * length, "{} steps", found.steps);
        assert!(matches!(decided(length - 2).first_failure, Some((0, Failure::Different(_)))));
    }
}
