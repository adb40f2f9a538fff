//! Sweeping: intermediate values that two kernels share are proved equal once, and named in proofs of what is computed
//! from them.
//!
//! Two kernels that differ much as a whole mostly pass through the same values: a mean, a variance, a score. Both sides
//! are evaluated at two points; terms of both with the same values there are candidates, and are tried from the inputs
//! up. A pair that is proved equal at all inputs gets a name, which stands in later proofs for an input about which
//! only signs are known. Where that hides what a proof needs, evaluation with the name as an input shows a difference,
//! and the proof is tried with the terms that the name stands for.
//!
//! Names respect the rules. A pair gets a name only if its reference has a value at every input (V8), and the optimized
//! kernel's term has one there too: then so has the name, wherever it stands, in arms of selects as well. Readings of
//! literals depend on what surrounds them (V9), so a term is not named if such a literal, or a logarithm beside which
//! one may be read, is visible from outside; and parts read literals as the whole store does.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::counterexample::QuickFilter;
use super::evaluate::{Evaluator, walk};
use super::point::TestPoint;
use super::prove::Learned;
use super::{DecisionOptions, ElementPair, InputInfo, Sign};
use crate::algebra::{Analysis, Reading};
use crate::base::ration::Ration;
use crate::number::interval::Narrow;
use crate::number::signs::Signs;
use crate::number::value::Value;
use crate::term::{Imported, InputId, Reads, Store, TermId, TermKind, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};

pub(super) mod cuts;
mod joined;
pub(super) mod numbers;

/// The largest number of terms of a side.
const MAX_TERMS: usize = 1 << 17;
/// The points of the sequence at which candidates agree.
const POINTS: [u32; 2] = [24, 26];
/// The points where terms are chosen: a step may change nothing at some of them.
const POINTS_OF_CHOICES: [u32; 8] = [24, 26, 30, 32, 34, 36, 38, 40];
/// The point at which names are tried as inputs.
const TRIAL: u32 = 28;
/// Smaller terms, counted as trees, are proved as fast as they are named.
const MIN_SIZE: u32 = 3;
/// The largest number of candidates with one value on one side.
const MAX_MEMBERS: usize = 6;
/// The largest number of pairs that are tried.
const MAX_PAIRS: usize = 1_024;
/// How often names used by a proof are expanded.
const MAX_ROUNDS: usize = 10;
/// Budget of steps for the proof of a pair.
const PAIR_STEPS: u64 = 1 << 21;
/// Steps that count for a term of a part, which is copied and evaluated.
const PART_STEPS: u64 = 4;
/// Share (one in this many) of the remaining steps that may be spent.
const SHARE: u64 = 8;

/// The signs by which names are grouped: each has an input of its own, after those of the case.
const SIGNS: [(Signs, Sign); 6] = [
    (Signs::POSITIVE, Sign::Positive),
    (Signs::NEGATIVE, Sign::Negative),
    (Signs::NOT_NEGATIVE, Sign::NonNegative),
    (Signs::NOT_POSITIVE, Sign::NonPositive),
    (Signs::NOT_ZERO, Sign::Nonzero),
    (Signs::ANY, Sign::Any),
];

/// A term of one of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) side: usize,
    pub(super) term: TermId,
}

/// The sweep of one element.
pub(super) struct Sweep<'s, 'a> {
    sides: [(&'s Store, TermId); 2],
    analysis: [&'s Analysis; 2],
    /// The inputs of the case, and one for the names of each sign.
    inputs: Vec<InputInfo>,
    options: &'a DecisionOptions,
    ration: &'a Rc<Ration>,
    /// For each side, the terms that have names, with the inputs that stand for them.
    names: [FxHashMap<TermId, TermId>; 2],
    named: u64,
    /// For each name, the names inside the terms that it stands for.
    within: FxHashMap<TermId, Vec<TermId>>,
    /// Literals that proofs have read as irrational constants.
    readings: BTreeSet<Reading>,
    /// Steps for the proof of a pair by either prover, for each of its terms, in place of [`PAIR_STEPS`].
    steps_a_term: Option<u64>,
    left: u64,
}

/// A term in which names replace the terms that they stand for.
struct Part {
    store: Store,
    root: TermId,
}

/// How much of an element was proved, by intermediate values of both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Pairs of terms that were proved equal, the reference's first, operands before results.
    pub equal: Vec<[TermId; 2]>,
    /// The first pair with the same values at some points that was not proved; the element itself where all others were
    /// proved.
    pub open: [TermId; 2],
}

/// How much of an element can be proved. `None` where there are too many terms.
pub fn reached(
    element: &ElementPair<'_>,
    inputs: &[InputInfo],
    options: &DecisionOptions,
) -> Option<Reached> {
    let (reference, opt) = (element.reference, element.opt);
    let mut analysis = [reference, opt].map(|(store, term)| Analysis::new(store, &[term]));
    analysis[0].read_scales(reference.0, &[opt.0]);
    analysis[1].read_scales(opt.0, &[reference.0]);
    let ration = Rc::new(Ration::new(options.budgets.clone(), 0, options.held));
    let mut sweep = Sweep::new(element, analysis.each_ref(), inputs, options, &ration)?;
    let (mut equal, mut open) = (Vec::new(), None);
    for [a, b] in sweep.candidates(inputs)? {
        if sweep.has_name(b) {
            continue;
        }
        let is_named = sweep.name(a, b);
        match b.side {
            1 if is_named => equal.push([a.term, b.term]),
            1 => open = open.or(Some([a.term, b.term])),
            _ => {}
        }
    }
    Some(Reached { equal, open: open.unwrap_or([reference.1, opt.1]) })
}

impl<'s, 'a> Sweep<'s, 'a> {
    pub(super) fn new(
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        inputs: &[InputInfo],
        options: &'a DecisionOptions,
        ration: &'a Rc<Ration>,
    ) -> Option<Sweep<'s, 'a>> {
        let mut all = inputs.to_vec();
        all.extend(SIGNS.map(|(_, sign)| InputInfo { sign, ..InputInfo::default() }));
        if all.len() > TermId::MAX_INPUTS {
            return None;
        }
        Some(Sweep {
            sides: [element.reference, element.opt],
            analysis,
            inputs: all,
            options,
            ration,
            names: Default::default(),
            named: 0,
            within: FxHashMap::default(),
            readings: BTreeSet::new(),
            steps_a_term: None,
            left: ration.left() / SHARE,
        })
    }

    /// Proves an element equal: the optimized kernel is defined and equal wherever the reference is. Returns the
    /// literals read as irrational constants; `None` where nothing was proved.
    pub(super) fn proves(
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        inputs: &[InputInfo],
        options: &'a DecisionOptions,
        ration: &'a Rc<Ration>,
    ) -> Option<BTreeSet<Reading>> {
        let mut sweep = Sweep::new(element, analysis, inputs, options, ration)?;
        if sweep.equal_when_joined().is_some() {
            return Some(sweep.readings);
        }
        // No other proof relies on the readings of these steps.
        sweep.readings.clear();
        for [reference, opt] in sweep.candidates(inputs)? {
            if !sweep.has_name(opt) {
                sweep.name(reference, opt);
            }
        }
        let [reference, opt] = [0, 1].map(|side| Located { side, term: sweep.sides[side].1 });
        sweep.equal(reference, opt, false)?;
        Some(sweep.readings)
    }

    /// Pairs of terms that agree at the points, operands before results.
    fn candidates(&self, inputs: &[InputInfo]) -> Option<Vec<[Located; 2]>> {
        let mut alike: FxHashMap<[u64; POINTS_OF_CHOICES.len()], [Vec<TermId>; 2]> = FxHashMap::default();
        let mut order = Vec::new();
        let are_any_chosen = self.are_any_chosen();
        let points: &[u32] = if are_any_chosen { &POINTS_OF_CHOICES } else { &POINTS };
        for side in 0..2 {
            for (term, values) in self.values(side, inputs, points)? {
                let members = alike.entry(values).or_default();
                if side == 0 && members[0].is_empty() {
                    order.push(values);
                }
                if members[side].len() < MAX_MEMBERS {
                    members[side].push(term);
                }
            }
        }
        let mut pairs = Vec::new();
        for values in order {
            let [references, opts] = &alike[&values];
            let Some((first, more)) = references.split_first().filter(|_| !opts.is_empty()) else { continue };
            let located = |side: usize, terms: &[TermId]| -> Vec<Located> {
                terms.iter().map(|term| Located { side, term: *term }).collect()
            };
            // Steps that change nothing at the points look like one another: the last one is what comes of them.
            let last = more.last().filter(|_| are_any_chosen);
            for reference in [Some(first), last].into_iter().flatten() {
                let reference = Located { side: 0, term: *reference };
                pairs.extend(located(1, opts).into_iter().map(|opt| [reference, opt]));
            }
            let first = Located { side: 0, term: *first };
            pairs.extend(located(0, more).into_iter().map(|other| [first, other]));
        }
        let is_whole = |[a, b]: &[Located; 2]| a.term == self.sides[0].1 && b.side == 1;
        pairs.retain(|pair| !is_whole(pair));
        pairs.truncate(MAX_PAIRS);
        Some(pairs)
    }

    /// Whether a side chooses between terms.
    fn are_any_chosen(&self) -> bool {
        let mut are_any = false;
        for (store, root) in self.sides {
            walk(store, &[root], MAX_TERMS, |term| {
                are_any |= matches!(store.view(term), View::Apply(TermOp::Select, _));
            });
        }
        are_any
    }

    /// The terms of a side that may get names, operands first, each with its rounded values at the points.
    fn values(
        &self,
        side: usize,
        inputs: &[InputInfo],
        points: &[u32],
    ) -> Option<Vec<(TermId, [u64; POINTS_OF_CHOICES.len()])>> {
        let (store, root) = self.sides[side];
        let mut terms = Vec::new();
        let mut described = true;
        let complete = walk(store, &[root], MAX_TERMS, |term| match term.kind() {
            TermKind::Lane(..) => terms.push(term),
            TermKind::Constant(_) => {}
            // An input that is not described might be mistaken for a name.
            TermKind::Input { input, .. } => described &= input.index() < inputs.len(),
        });
        if !complete || !described {
            return None;
        }
        self.ration.take((terms.len() * points.len()) as u64);
        terms.sort_unstable();
        let open = self.open(side, &terms);
        let mut sizes: FxHashMap<TermId, u32> = FxHashMap::default();
        let mut signs = FxHashSet::default();
        for term in &terms {
            let View::Apply(op, operands) = store.view(*term) else { continue };
            let operands = &operands[..op.arity()];
            if op == TermOp::CopySign {
                signs.insert(copied_sign(store, operands[0]));
            }
            let below = operands.iter().map(|operand| sizes.get(operand).copied().unwrap_or(0));
            sizes.insert(*term, below.fold(1, u32::saturating_add));
        }
        let columns = points.iter().map(|round| {
            let point = TestPoint::new(inputs, *round);
            let mut evaluator: Evaluator<'_, Narrow, _> =
                Evaluator::new(store, point, 53, self.options.effort.remembered);
            evaluator.evaluate_all(&terms)
        });
        let columns: Vec<_> = columns.collect();
        let mut found = Vec::new();
        for (at, term) in terms.into_iter().enumerate() {
            let mut values = [0; POINTS_OF_CHOICES.len()];
            let are_known = values
                .iter_mut()
                .zip(&columns)
                .all(|(own, column)| rounded(&column[at]).map(|value| *own = value).is_some());
            if are_known
                && values.iter().any(|value| *value != 0)
                && sizes[&term] >= MIN_SIZE
                && !open.contains(&term)
                && !signs.contains(&term)
            {
                found.push((term, values));
            }
        }
        Some(found)
    }

    /// Those of some terms, operands first, in which a literal that may be read, or a logarithm beside which one may
    /// be, is visible from outside.
    fn open(&self, side: usize, terms: &[TermId]) -> FxHashSet<TermId> {
        let (store, _) = self.sides[side];
        let analysis = self.analysis[side];
        let mut open = FxHashSet::default();
        for term in terms {
            let View::Apply(op, operands) = store.view(*term) else { continue };
            let is_open = match op.reads() {
                Reads::Exponent => false,
                Reads::Logarithm => true,
                Reads::Nothing => operands[..op.arity()]
                    .iter()
                    .any(|operand| open.contains(operand) || analysis.is_read(*operand)),
            };
            if is_open {
                open.insert(*term);
            }
        }
        open
    }

    fn has_name(&self, at: Located) -> bool {
        self.names[at.side].contains_key(&at.term)
    }

    /// Gives two terms one name if they are proved equal; returns whether they are.
    fn name(&mut self, reference: Located, opt: Located) -> bool {
        let Some((signs, used)) = self.equal(reference, opt, true) else { return false };
        self.give_name(reference, opt, signs, used);
        true
    }

    /// Gives two equal terms the name of the first, which may be a new one; `used` are the names that they contain.
    fn give_name(&mut self, reference: Located, opt: Located, signs: Signs, mut used: Vec<TermId>) {
        let known = self.names[reference.side].get(&reference.term).copied();
        let name = known.unwrap_or_else(|| {
            let (at, _) = (SIGNS.iter().enumerate())
                .find(|(_, (known, _))| signs.within(*known))
                .unwrap_or((SIGNS.len() - 1, &SIGNS[SIGNS.len() - 1]));
            let input = self.inputs.len() - SIGNS.len() + at;
            self.named += 1;
            TermId::input(InputId(input as u32), self.named - 1)
        });
        used.retain(|other| *other != name);
        self.within.entry(name).or_default().extend(used);
        self.names[reference.side].insert(reference.term, name);
        self.names[opt.side].insert(opt.term, name);
    }

    /// Proves the second term defined and equal wherever the first is defined (with `everywhere`, at all inputs);
    /// returns the possible signs of their value, and the names that they contain.
    fn equal(&mut self, reference: Located, opt: Located, everywhere: bool) -> Option<(Signs, Vec<TermId>)> {
        let mut taken_back: FxHashSet<TermId> = FxHashSet::default();
        let mut outermost: Option<Vec<TermId>> = None;
        let mut layers = 1;
        for _ in 0..MAX_ROUNDS {
            if self.left == 0 || self.ration.look().is_err() {
                return None;
            }
            let parts = [reference, opt].map(|located| self.part(located, &taken_back));
            let size = parts.iter().map(|part| part.store.len() + part.store.constant_count()).sum::<usize>();
            self.spend(size as u64 * PART_STEPS);
            let [mut used, in_opt] = parts.each_ref().map(|part| self.names_in(part));
            let in_opt: FxHashSet<TermId> = in_opt.into_iter().collect();
            let on_both: FxHashSet<TermId> =
                used.iter().filter(|name| in_opt.contains(name)).copied().collect();
            used.extend(in_opt);
            used.sort_unstable();
            let outermost = outermost.get_or_insert_with(|| used.clone());
            let [first, second] = &parts;
            let mut filter = QuickFilter::new(
                &first.store,
                &second.store,
                &self.inputs,
                TRIAL,
                self.options.effort.remembered,
            );
            if !filter.differs(first.root, second.root)
                && let Some(signs) = self.parts_equal(&parts, [reference, opt], everywhere)
            {
                return Some((signs, std::mem::take(outermost)));
            }
            if used.is_empty() {
                return None;
            }
            if !on_both.is_empty() && on_both.len() * 2 < used.len() {
                // What one side does not name, the name hides from it; what both name, it rarely hides.
                used.retain(|name| !on_both.contains(name));
                self.take_back(used, 1, &mut taken_back);
                continue;
            }
            // Twice as many layers each time: names may be nested deeply.
            self.take_back(used, layers, &mut taken_back);
            layers *= 2;
        }
        None
    }

    /// Expands names, and as many layers of the names inside the terms that they stand for.
    fn take_back(&self, used: Vec<TermId>, layers: usize, taken_back: &mut FxHashSet<TermId>) {
        let mut layer = used;
        for _ in 0..layers {
            layer.retain(|name| taken_back.insert(*name));
            layer = layer.iter().flat_map(|name| self.within[name].iter().copied()).collect();
        }
    }

    /// A term in which names replace their terms, except those in `taken_back`.
    fn part(&self, at: Located, taken_back: &FxHashSet<TermId>) -> Part {
        let (from, _) = self.sides[at.side];
        let mut store = self.store_for(at.side);
        let names = &self.names[at.side];
        let name = |term: TermId| names.get(&term).copied().filter(|name| !taken_back.contains(name));
        let named = |term: TermId| if term == at.term { None } else { name(term) };
        let root = store.import_with(from, at.term, &mut Imported::default(), named);
        Part { store, root }
    }

    /// An empty store for terms of a side.
    fn store_for(&self, side: usize) -> Store {
        let (from, _) = self.sides[side];
        let mut store = Store::new();
        let mut integers = from.all_integers().to_vec();
        integers.resize(self.inputs.len(), None);
        store.set_integers(integers);
        // All constants in their order, since analyses refer to them by index.
        for constant in from.constants() {
            store.intern(constant.clone());
        }
        store
    }

    /// The names that occur in a part.
    fn names_in(&self, part: &Part) -> Vec<TermId> {
        let first = self.inputs.len() - SIGNS.len();
        let mut names = Vec::new();
        walk(&part.store, &[part.root], usize::MAX, |term| {
            if let TermKind::Input { input, .. } = term.kind()
                && input.index() >= first
            {
                names.push(term);
            }
        });
        names
    }

    fn parts_equal(&mut self, parts: &[Part; 2], at: [Located; 2], everywhere: bool) -> Option<Signs> {
        let analysis: [Analysis; 2] = std::array::from_fn(|side| {
            let part = &parts[side];
            Analysis::of_part(&part.store, &[part.root], self.analysis[at[side].side])
        });
        let [first, second] = [0, 1].map(|side| (&parts[side].store, parts[side].root));
        let element = ElementPair { reference: first, opt: second };
        let size: usize = parts.iter().map(|part| part.store.len()).sum();
        let most = self.steps_a_term.map_or(PAIR_STEPS, |steps| steps * size as u64);
        for thorough in [false, true] {
            let mut learned = Learned::new(&self.inputs, self.ration, thorough);
            let proved = learned.proves(&element, analysis.each_ref(), self.left.min(most));
            let steps = learned.settle();
            self.left = self.left.saturating_sub(steps);
            if let Some((has_domain, signs)) = proved
                && !(everywhere && has_domain)
            {
                self.readings.extend(learned.readings());
                return Some(signs);
            }
            if learned.is_thorough() {
                return None;
            }
        }
        None
    }

    fn spend(&mut self, steps: u64) {
        self.ration.take(steps);
        self.left = self.left.saturating_sub(steps);
    }
}

/// The term whose sign is copied: names have one sign on both sides, and two terms that are zero need not (V7).
fn copied_sign(store: &Store, mut sign: TermId) -> TermId {
    while let View::Apply(TermOp::Neg, [operand, ..]) = store.view(sign) {
        sign = operand;
    }
    sign
}

/// A value rounded to nine digits; `None` where the enclosure is too wide or there is no value.
fn rounded(value: &Value<Narrow>) -> Option<u64> {
    let Value::Finite(value) = value else { return None };
    let bits = value.middle(1e-11)?.to_bits();
    Some((bits + (1 << 21)) >> 22)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::InputRange;
    use crate::base::index::InstId;
    use crate::base::ration::Ration;
    use crate::number::{Extended, Rational};
    use crate::term::Constant;

    /// Terms in a store of their own.
    #[derive(Default)]
    struct Side(Store);

    impl Side {
        fn op(&mut self, op: TermOp, operands: &[TermId]) -> TermId {
            self.0.apply(op, operands, InstId(0))
        }

        fn int(&mut self, value: i64) -> TermId {
            let exact = Extended::Finite(Rational::from_integer(value));
            self.0.intern(Constant { exact, literal: None, rounded: None })
        }

        /// `x₀·x₁ + x₂·x₃`, or the same sum with its terms swapped.
        fn score(&mut self, turned: bool) -> TermId {
            let [a, b, c, d] = [0, 1, 2, 3].map(|element| TermId::input(InputId(0), element));
            let (first, second) = (self.op(TermOp::Mul, &[a, b]), self.op(TermOp::Mul, &[d, c]));
            let terms = if turned { [second, first] } else { [first, second] };
            self.op(TermOp::Add, &terms)
        }

        /// `f(s)` for an opaque function.
        fn sine(&mut self, of: TermId) -> TermId {
            self.op(TermOp::Sin, &[of])
        }
    }

    fn proves(reference: impl Fn(&mut Side) -> TermId, opt: impl Fn(&mut Side) -> TermId) -> bool {
        let (mut left, mut right) = (Side::default(), Side::default());
        let (a, b) = (reference(&mut left), opt(&mut right));
        let element = ElementPair { reference: (&left.0, a), opt: (&right.0, b) };
        let analysis = [Analysis::new(&left.0, &[a]), Analysis::new(&right.0, &[b])];
        let inputs = [InputInfo { name: "x".into(), shape: vec![8], ..InputInfo::default() }];
        let ration = Rc::new(Ration::endless());
        Sweep::proves(&element, analysis.each_ref(), &inputs, &DecisionOptions::default(), &ration).is_some()
    }

    #[test]
    fn what_stands_upon_names_is_proved() {
        assert!(proves(
            |side| {
                let score = side.score(false);
                let value = side.sine(score);
                side.op(TermOp::Mul, &[value, score])
            },
            |side| {
                let score = side.score(true);
                let value = side.sine(score);
                side.op(TermOp::Mul, &[score, value])
            }
        ));
        assert!(!proves(
            |side| {
                let score = side.score(false);
                side.sine(score)
            },
            |side| {
                let score = side.score(true);
                let opposite = side.op(TermOp::Neg, &[score]);
                side.sine(opposite)
            }
        ));
    }

    #[test]
    fn a_name_is_taken_back_where_it_hides_what_is_needed() {
        // The score and its half are both named, and only the score shows that one is twice the other.
        let two_halves = |side: &mut Side| {
            let score = side.score(true);
            let two = side.int(2);
            let half = side.op(TermOp::Div, &[score, two]);
            let sum = side.op(TermOp::Add, &[half, half]);
            side.op(TermOp::Sub, &[sum, score])
        };
        let nothing = |side: &mut Side| {
            let score = side.score(false);
            let two = side.int(2);
            let half = side.op(TermOp::Div, &[score, two]);
            let twice = side.op(TermOp::Mul, &[two, half]);
            side.op(TermOp::Sub, &[score, twice])
        };
        assert!(proves(nothing, two_halves));
    }

    #[test]
    fn what_the_optimized_kernel_requires_alone_is_not_granted() {
        let plain = |side: &mut Side| side.score(false);
        let divided = |side: &mut Side| {
            let score = side.score(true);
            let square = side.op(TermOp::Mul, &[score, score]);
            side.op(TermOp::Div, &[square, score])
        };
        assert!(!proves(plain, divided));
        assert!(proves(divided, plain));
        // Nor where it is a part.
        let of = |part: fn(&mut Side) -> TermId| {
            move |side: &mut Side| {
                let part = part(side);
                side.sine(part)
            }
        };
        let divided = |side: &mut Side| {
            let score = side.score(true);
            let square = side.op(TermOp::Mul, &[score, score]);
            side.op(TermOp::Div, &[square, score])
        };
        assert!(!proves(of(|side| side.score(false)), of(divided)));
        assert!(proves(of(divided), of(|side| side.score(false))));
    }

    #[test]
    fn a_term_whose_sign_is_copied_has_no_name() {
        // At zero the two may have zeros of different signs (V7).
        let copied = |turned: bool| {
            move |side: &mut Side| {
                let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|element| TermId::input(InputId(0), element));
                let (first, second) = (side.op(TermOp::Mul, &[a, b]), side.op(TermOp::Mul, &[c, d]));
                let sign = if turned {
                    let opposite = side.op(TermOp::Sub, &[second, first]);
                    side.op(TermOp::Neg, &[opposite])
                } else {
                    side.op(TermOp::Sub, &[first, second])
                };
                let copied = side.op(TermOp::CopySign, &[sign, e]);
                side.op(TermOp::Add, &[copied, a])
            }
        };
        assert!(!proves(copied(false), copied(true)));
    }

    #[test]
    fn a_name_has_the_signs_of_what_it_stands_for() {
        let root = |turned: bool| {
            move |side: &mut Side| {
                let score = side.score(turned);
                let square = side.op(TermOp::Mul, &[score, score]);
                let one = side.int(1);
                let sum = side.op(TermOp::Add, &[square, one]);
                let root = side.op(TermOp::Sqrt, &[sum]);
                if turned { side.op(TermOp::Abs, &[root]) } else { root }
            }
        };
        assert!(proves(root(false), root(true)));
        let of: Vec<InputRange> =
            super::super::prove::ranges(&[InputInfo { sign: SIGNS[0].1, ..InputInfo::default() }]);
        assert_eq!(of[0].signs, SIGNS[0].0);
    }
}
