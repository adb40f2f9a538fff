//! Proves an element for each value of a few integers that conditions depend on, such as the length of a row or a label:
//! with the values in place of the integers, choices by them are gone.

use super::evaluate::walk;
use super::prove::Learned;
use super::{ElementPair, InputInfo};
use crate::algebra::{Analysis, Reading};
use crate::base::index::InstId;
use crate::base::ration::Ration;
use crate::number::{Extended, Rational};
use crate::term::{Bound, Constant, InputId, Integers, Range, Ranges, Store, TermId, TermKind, TermOp, View};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// At most so many integers get values.
const MOST_INTEGERS: usize = 3;
/// At most so many assignments to them are looked at.
const MOST_ASSIGNMENTS: i128 = 1 << 11;
/// So many sets of integers are tried.
const MOST_TRIED: usize = 4;
/// The terms of all assignments together.
const MOST_TERMS: u64 = 1 << 22;
/// The terms of an element that are looked at.
const MOST_WALKED: usize = 1 << 16;
/// Steps for each term of an assignment, and for each of them at least.
const STEPS_A_TERM: u64 = 64;
const FEW_STEPS: u64 = 1 << 12;

/// What is found of an element.
pub(super) enum ByIntegers {
    /// Both sides are equal, with these readings of literals.
    Equal(BTreeSet<Reading>),
    /// They are not proved equal where elements of inputs have these values.
    Open(Vec<((InputId, u64), Rational)>),
    /// There are no such integers, or too many.
    Unsuitable,
}

/// A number as a term.
fn exactly(store: &mut Store, number: Rational) -> TermId {
    store.intern(Constant { exact: Extended::Finite(number), literal: None, rounded: None })
}

/// Integers of inputs, with their ranges.
type Chosen = Vec<(TermId, Integers)>;

/// Proves that both sides of an element are equal, for each assignment to a few integers that conditions depend on: those
/// that most do, or else others.
pub(super) fn prove(element: &ElementPair<'_>, inputs: &[InputInfo], ration: &Rc<Ration>) -> ByIntegers {
    let sides = [element.reference, element.opt];
    if sides.iter().any(|(store, _)| store.has_names() || store.is_ieee()) {
        return ByIntegers::Unsuitable;
    }
    let Some((mut all, terms)) = integers_of_conditions(sides, inputs) else { return ByIntegers::Unsuitable };
    let mut found = ByIntegers::Unsuitable;
    for _ in 0..MOST_TRIED {
        let chosen = chosen(&mut all);
        let rows = assignments(&chosen);
        if chosen.is_empty() || terms.saturating_mul(rows.len() as u64) > MOST_TERMS {
            break;
        }
        found = prove_for(element, (inputs, ration), (&chosen, &rows), terms);
        if let ByIntegers::Equal(_) = found {
            break;
        }
    }
    found
}

fn prove_for(
    element: &ElementPair<'_>,
    (inputs, ration): (&[InputInfo], &Rc<Ration>),
    (chosen, rows): (&Chosen, &[Vec<i128>]),
    terms: u64,
) -> ByIntegers {
    let sides = [element.reference, element.opt];
    let mut own = Store::new();
    own.set_integers(element.reference.0.all_integers().to_vec());
    let pairs = rows
        .iter()
        .map(|row| sides.map(|(store, term)| Special::of(&mut own, store, chosen, row).term(term)));
    let pairs: Vec<[TermId; 2]> = pairs.collect();
    own.close();
    let roots: Vec<TermId> = pairs.iter().flatten().copied().collect();
    let analysis = Analysis::new(&own, &roots);
    let mut learned = Learned::new(inputs, ration, false);
    for (row, [reference, opt]) in rows.iter().zip(&pairs) {
        let pair = ElementPair { reference: (&own, *reference), opt: (&own, *opt) };
        let steps = FEW_STEPS.max(STEPS_A_TERM * terms).min(ration.left());
        let is_equal = learned.are_equal(&pair, [&analysis; 2], steps);
        learned.settle();
        if !is_equal {
            let values = chosen.iter().zip(row).filter_map(|((integer, _), value)| match integer.kind() {
                TermKind::Input { input, element } => Some(((input, element), Rational::from_i128(*value))),
                TermKind::Lane(..) | TermKind::Constant(_) => None,
            });
            return ByIntegers::Open(values.collect());
        }
    }
    ByIntegers::Equal(learned.readings().collect())
}

/// The integers that conditions depend on, those of most conditions first, and the number of terms of both sides; `None`
/// without any.
fn integers_of_conditions(sides: [(&Store, TermId); 2], inputs: &[InputInfo]) -> Option<(Chosen, u64)> {
    let (mut uses, mut terms): (BTreeMap<TermId, u64>, u64) = (BTreeMap::new(), 0);
    for (store, root) in sides {
        let mut below = Below { store, known: FxHashMap::default() };
        let mut conditions = Vec::new();
        let is_small = walk(store, &[root], MOST_WALKED, |term| {
            terms += 1;
            if let View::Apply(op, _) = store.view(term)
                && op.is_condition()
            {
                conditions.push(term);
            }
        });
        if !is_small {
            return None;
        }
        for condition in conditions {
            for integer in below.integers(condition).unwrap_or_default() {
                *uses.entry(integer).or_default() += 1;
            }
        }
    }
    let mut uses: Vec<(TermId, u64)> = uses.into_iter().collect();
    uses.sort_by_key(|(integer, count)| (std::cmp::Reverse(*count), *integer));
    let with_range = |(integer, _): (TermId, u64)| {
        let TermKind::Input { input, .. } = integer.kind() else { return None };
        Some((integer, inputs.get(input.index())?.integers?))
    };
    let all: Chosen = uses.into_iter().filter_map(with_range).collect();
    (!all.is_empty()).then_some((all, terms))
}

/// The first few of some integers that have few values together, which are taken from them.
fn chosen(all: &mut Chosen) -> Chosen {
    let (mut chosen, mut product) = (Chosen::new(), 1);
    all.retain(|(integer, range)| {
        let count = range.greatest.checked_sub(range.least).and_then(|span| span.checked_add(1));
        let Some(count) = count.filter(|count| *count <= MOST_ASSIGNMENTS / product) else { return true };
        let is_chosen = chosen.len() < MOST_INTEGERS;
        if is_chosen {
            product *= count;
            chosen.push((*integer, *range));
        }
        !is_chosen
    });
    chosen
}

/// All assignments to integers.
fn assignments(chosen: &Chosen) -> Vec<Vec<i128>> {
    let mut rows = vec![Vec::new()];
    for (_, Integers { least, greatest }) in chosen {
        let extended = rows.iter().flat_map(|row| {
            (*least..=*greatest).map(move |value| row.iter().copied().chain([value]).collect::<Vec<i128>>())
        });
        rows = extended.collect();
    }
    rows
}

/// The integers of inputs that terms are computed from.
struct Below<'s> {
    store: &'s Store,
    /// By term; `None` if it depends on anything else, or on too many.
    known: FxHashMap<TermId, Option<Vec<TermId>>>,
}

impl Below<'_> {
    fn integers(&mut self, root: TermId) -> Option<Vec<TermId>> {
        let mut work = vec![root];
        while let Some(term) = work.last().copied() {
            if self.known.contains_key(&term) {
                work.pop();
                continue;
            }
            let found = match self.store.view(term) {
                View::Constant(_) => Some(Vec::new()),
                View::Input { input, .. } => self.store.integers(input).map(|_| vec![term]),
                View::Apply(op, operands) => {
                    let operands = &operands[..op.arity()];
                    let before = work.len();
                    work.extend(operands.iter().filter(|operand| !self.known.contains_key(operand)));
                    if work.len() > before {
                        continue;
                    }
                    let mut all: Option<Vec<TermId>> = Some(Vec::new());
                    for operand in operands {
                        all = all.zip(self.known[operand].as_ref()).map(|(mut all, own)| {
                            all.extend(own);
                            all
                        });
                    }
                    all.map(|mut all| {
                        all.sort_unstable();
                        all.dedup();
                        all
                    })
                    .filter(|all| all.len() <= MOST_INTEGERS)
                }
            };
            self.known.insert(term, found);
            work.pop();
        }
        self.known[&root].clone()
    }
}

/// A copy of terms with numbers in place of some integers.
struct Special<'a> {
    to: &'a mut Store,
    from: &'a Store,
    ranges: Ranges,
    known: FxHashMap<TermId, TermId>,
}

impl<'a> Special<'a> {
    fn of(to: &'a mut Store, from: &'a Store, chosen: &Chosen, row: &[i128]) -> Special<'a> {
        let (mut ranges, mut known) = (Ranges::default(), FxHashMap::default());
        for ((integer, _), value) in chosen.iter().zip(row) {
            ranges.suppose(Bound::Between(*integer, *value, *value));
            known.insert(*integer, exactly(to, Rational::from_i128(*value)));
        }
        Special { to, from, ranges, known }
    }

    /// The number that a term, or the truth that a condition, is.
    fn number(&mut self, term: TermId) -> Option<i128> {
        let Range { low: Some(low), high: Some(high), whole: true, .. } = self.ranges.of(self.from, term)
        else {
            return None;
        };
        (low == high).then_some(low)
    }

    /// The copy of a term, without the arms that are not taken.
    fn term(&mut self, root: TermId) -> TermId {
        let mut work = vec![root];
        while let Some(term) = work.last().copied() {
            if self.known.contains_key(&term) {
                work.pop();
                continue;
            }
            let copy = match self.from.view(term) {
                View::Input { .. } => term,
                View::Constant(constant) => self.to.intern(constant.clone()),
                View::Apply(op, operands) => {
                    let known = self.number(term);
                    let taken = match (op, known) {
                        (TermOp::Select, None) => self.number(operands[0]),
                        _ => None,
                    };
                    let needed = match (known, taken) {
                        (Some(_), _) => &operands[..0],
                        (None, Some(0)) => &operands[2..3],
                        (None, Some(_)) => &operands[1..2],
                        (None, None) => &operands[..op.arity()],
                    };
                    let before = work.len();
                    work.extend(needed.iter().filter(|operand| !self.known.contains_key(operand)));
                    if work.len() > before {
                        continue;
                    }
                    let copied: Vec<TermId> = needed.iter().map(|operand| self.known[operand]).collect();
                    match known {
                        Some(truth) if op.is_condition() => self.truth(truth != 0),
                        Some(number) => exactly(self.to, Rational::from_i128(number)),
                        None if taken.is_some() => copied[0],
                        None => {
                            let site = self.from.site(term).unwrap_or(InstId::FIRST);
                            self.to.apply(op, &copied, site)
                        }
                    }
                }
            };
            self.known.insert(term, copy);
            work.pop();
        }
        self.known[&root]
    }

    /// A condition that always holds, or never.
    fn truth(&mut self, holds: bool) -> TermId {
        let zero = exactly(self.to, Rational::ZERO);
        let op = if holds { TermOp::LessEqual } else { TermOp::Less };
        self.to.apply(op, &[zero, zero], InstId::FIRST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::format::Formats;
    use proptest::prelude::*;

    /// The values of two integers, elements of the first input.
    const VALUES: std::ops::RangeInclusive<i128> = -1..=3;

    /// A summand `condition ? x[a] : x[b]`: which comparison, of which integers, with which number, and a and b.
    type Summand = (u8, usize, i64, u64, u64);

    fn inputs() -> Vec<InputInfo> {
        let integers = Integers { least: *VALUES.start(), greatest: *VALUES.end() };
        let n =
            InputInfo { name: "n".into(), shape: vec![2], integers: Some(integers), ..InputInfo::default() };
        let formats = Formats::default();
        vec![n, InputInfo { name: "x".into(), shape: vec![3], formats, ..InputInfo::default() }]
    }

    /// A sum of choices, and how often it has each real where the integers have given values.
    fn sum(store: &mut Store, summands: &[Summand]) -> (TermId, impl Fn([i128; 2]) -> [i64; 3] + use<>) {
        let here = InstId::FIRST;
        let mut sum = exactly(store, Rational::ZERO);
        for (op, at, number, a, b) in summands {
            let integers = [at % 2, (at + 1) % 2].map(|at| TermId::input(InputId(0), at as u64));
            let number = exactly(store, Rational::from_integer(*number));
            let scaled = store.apply(TermOp::Mul, &[integers[0], number], here);
            let condition = match op % 3 {
                0 => store.apply(TermOp::Less, &[integers[0], number], here),
                1 => store.apply(TermOp::Equal, &[integers[0], number], here),
                _ => store.apply(TermOp::LessEqual, &[scaled, integers[1]], here),
            };
            let [a, b] = [a, b].map(|at| TermId::input(InputId(1), at % 3));
            let chosen = store.apply(TermOp::Select, &[condition, a, b], here);
            sum = store.apply(TermOp::Add, &[sum, chosen], here);
        }
        let summands = summands.to_vec();
        let counts = move |values: [i128; 2]| {
            let mut counts = [0; 3];
            for (op, at, number, a, b) in &summands {
                let (own, other, number) = (values[at % 2], values[(at + 1) % 2], i128::from(*number));
                let holds = match op % 3 {
                    0 => own < number,
                    1 => own == number,
                    _ => own * number <= other,
                };
                counts[(if holds { a } else { b } % 3) as usize] += 1;
            }
            counts
        };
        (sum, counts)
    }

    fn summands() -> impl Strategy<Value = Vec<Summand>> {
        prop::collection::vec((0u8..3, 0usize..2, -2i64..5, 0u64..3, 0u64..3), 1..5)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn sums_are_equal_where_they_are_for_all_values(
            one in summands(),
            other in summands(),
            permuted in any::<bool>(),
        ) {
            let mut store = Store::new();
            store.set_integers(vec![inputs()[0].integers, None]);
            let other = if permuted { one.iter().rev().copied().collect() } else { other };
            let (reference, expected) = sum(&mut store, &one);
            let (opt, found) = sum(&mut store, &other);
            store.close();
            let element = ElementPair { reference: (&store, reference), opt: (&store, opt) };
            let values = || VALUES.flat_map(|a| VALUES.map(move |b| [a, b]));
            let are_equal = values().all(|at| expected(at) == found(at));
            match prove(&element, &inputs(), &Rc::new(Ration::endless())) {
                ByIntegers::Equal(_) => prop_assert!(are_equal),
                ByIntegers::Open(hint) => {
                    prop_assert!(!are_equal);
                    let value = |at| hint.iter().find(|(key, _)| *key == (InputId(0), at));
                    let value = |at| value(at).map_or(0, |(_, value)| value.to_i64().unwrap_or(0).into());
                    let at = [value(0), value(1)];
                    let is_free = |at| hint.iter().all(|(key, _)| *key != (InputId(0), at));
                    let differs = |a, b| expected([a, b]) != found([a, b]);
                    let all = |free: bool, own: i128| if free { VALUES } else { own..=own };
                    prop_assert!(all(is_free(0), at[0]).any(|a| all(is_free(1), at[1]).any(|b| differs(a, b))));
                }
                ByIntegers::Unsuitable => prop_assert!(false, "two integers of five values"),
            }
        }
    }
}
