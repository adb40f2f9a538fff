//! Search for an input at which two terms differ.

use rustc_hash::{FxHashMap, FxHashSet};

use super::InputInfo;
use super::evaluate::{Evaluator, Leaves, Point, leaves};
use super::fulfil::fulfilling;
use super::localize::explain;
use super::loose::Loose;
use super::point::{TestPoint, admitted, assume, assume_integer, mix};
use super::witness::{
    Comparison, Counterexample, WitnessInput, WitnessKind, compare, element_name, outcomes,
};
use crate::base::budget::{Budgets, Deadline, Limit};
use crate::number::Rational;
use crate::number::fraction::Fraction;
use crate::number::interval::{Enclosure, Narrow, Wide};
use crate::number::value::Value;
use crate::term::{InputId, Integers, Store, TermId, TermKind, TermOp, View};

/// Limits of the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchBudget {
    /// Number of points.
    pub points: u32,
    /// Number of points at which precision is raised when the first one does not decide.
    pub precise_points: u32,
    /// Number of terms evaluated, over all points and both sides; one at a raised precision counts as 32.
    pub terms: u64,
    /// Largest number of cached terms, which bounds memory: 24 bytes each.
    pub remembered: usize,
    /// When the search ends in any case.
    pub deadline: Deadline,
}

impl Default for SearchBudget {
    fn default() -> SearchBudget {
        SearchBudget {
            points: 18,
            precise_points: 2,
            terms: 20_000_000,
            remembered: 1 << 23,
            deadline: Deadline::default(),
        }
    }
}

impl SearchBudget {
    /// The limits within the budgets of a case.
    pub fn within(budgets: &Budgets) -> SearchBudget {
        let all = SearchBudget::default();
        // Each side of each run caches as much.
        let bytes = budgets[Limit::MemoryBytes] / REMEMBERED_SHARE;
        let most = usize::try_from(bytes / 24).unwrap_or(usize::MAX);
        SearchBudget { remembered: all.remembered.min(most), deadline: budgets.deadline, ..all }
    }
}

/// Share (one in this many) of the memory of a case that caching terms of one side may take.
const REMEMBERED_SHARE: u64 = 32;
/// The cost of a term at a raised precision, relative to the first precision.
const WIDE_COST: u64 = 32;
/// The cost of a term whose value is a fraction.
const FRACTION_COST: u64 = 4;
/// Precisions in bits, except the first, which is `f64`'s.
const PRECISIONS: [u32; 2] = [160, 640];
/// Overlapping enclosures of smaller relative width count as equal: the precision is not raised for them.
const TIGHT: f64 = 1e-11;
/// Witnesses of at most this many elements are listed with their zeros.
const LISTED: usize = 16;
/// Bounds on the number of evaluations for minimizing a witness, and the terms if it takes more than the least.
const SHRINKS: u64 = 64;
const MAX_SHRINKS: u64 = 4096;
const SHRINK_TERMS: u64 = 4_000_000;

/// Quickly compares many pairs of terms of two stores at one point: refutes wrong kernels before anything is proved.
pub struct QuickFilter<'s, 'i> {
    reference: Evaluator<'s, Narrow, TestPoint<'i>>,
    opt: Evaluator<'s, Narrow, TestPoint<'i>>,
}

impl<'s, 'i> QuickFilter<'s, 'i> {
    /// A filter at the point with index `round` of the sequence; it caches up to `remembered` terms a side.
    pub fn new(
        reference: &'s Store,
        opt: &'s Store,
        inputs: &'i [InputInfo],
        round: u32,
        remembered: usize,
    ) -> QuickFilter<'s, 'i> {
        let point = TestPoint::new(inputs, round);
        QuickFilter {
            reference: Evaluator::new(reference, point, 53, remembered).loosely(Loose::of(reference, opt)),
            opt: Evaluator::new(opt, point, 53, remembered).loosely(Loose::of(opt, reference)),
        }
    }

    /// Whether a pair (reference, optimized) certainly differs at the point, where both are defined.
    pub fn differs(&mut self, reference: TermId, opt: TermId) -> bool {
        surely_differ(&self.reference.evaluate(reference), &self.opt.evaluate(opt))
    }

    /// Which of the pairs (reference, optimized) certainly differ at the point, both defined, as indices, ascending.
    /// The two sides are evaluated in parallel.
    pub fn differing(&mut self, pairs: &[(TermId, TermId)]) -> Vec<usize> {
        let (left, right): (Vec<TermId>, Vec<TermId>) = pairs.iter().copied().unzip();
        let (left, right) =
            rayon::join(|| self.reference.evaluate_all(&left), || self.opt.evaluate_all(&right));
        (0..pairs.len()).filter(|at| surely_differ(&left[*at], &right[*at])).collect()
    }

    /// Terms evaluated so far, both sides.
    pub fn work(&self) -> u64 {
        self.reference.work() + self.opt.work()
    }
}

/// Whether two values certainly differ, both defined.
fn surely_differ(reference: &Value<Narrow>, opt: &Value<Narrow>) -> bool {
    let comparison = compare(reference, opt);
    matches!(comparison, Comparison::Different(_))
}

/// Searches for a witness: a point at which both sides have values, and these differ. `None` proves nothing.
pub fn refute(
    reference: (&Store, TermId),
    opt: (&Store, TermId),
    inputs: &[InputInfo],
    effort: &SearchBudget,
) -> Option<Counterexample> {
    let mut search = Search::new(reference, opt, inputs, effort);
    let mut precise = effort.precise_points;
    let mut settled = None;
    for round in 0..effort.points {
        let point = TestPoint::new(inputs, round);
        let Some((outcome, tight)) = search.first(&point) else { break };
        let different = match outcome {
            Comparison::Different(_) => Some(None),
            Comparison::OptUndefined | Comparison::OutsideDomain => None,
            Comparison::Overlapping if tight => {
                settled = settled.or(Some(round));
                None
            }
            Comparison::Overlapping | Comparison::Open => {
                let raised = precise > 0;
                precise = precise.saturating_sub(1);
                if raised { search.raised(&point).map(Some) } else { None }
            }
        };
        if let Some(witness) = different.and_then(|precision| search.witness(&point, precision)) {
            return Some(witness);
        }
    }
    if let Some(witness) = search.among_all() {
        return Some(witness);
    }
    if settled.is_some()
        && let Some(witness) = search.around_literals()
    {
        return Some(witness);
    }
    if let Some(witness) = search.where_it_holds(1, FULFILLED_QUICKLY) {
        return Some(witness);
    }
    // Values that agree to fifteen digits are compared once at a raised precision.
    let point = TestPoint::new(inputs, settled?);
    let precision = search.raised(&point)?;
    search.witness(&point, Some(precision))
}

/// Inputs at which the reference has a value and the optimized kernel has none, in words. Both may still be equal
/// wherever they are defined (rule V8), so that this is no difference.
pub fn undefined_at(
    reference: (&Store, TermId),
    opt: (&Store, TermId),
    inputs: &[InputInfo],
    effort: &SearchBudget,
) -> Option<String> {
    let mut search = Search::new(reference, opt, inputs, effort);
    for round in 0..effort.points {
        let point = TestPoint::new(inputs, round);
        if search.first(&point)?.0 == Comparison::OptUndefined {
            let (elements, values) = search.minimal(&point, None)?;
            let (listed, _) = search.listed(&elements, &values);
            let more = if listed.len() > TOLD { " and others" } else { "" };
            let told = listed.iter().take(TOLD).map(|input| format!("{} = {}", input.name, input.value));
            return Some(told.collect::<Vec<_>>().join(", ") + more);
        }
    }
    None
}

/// Number of inputs that are named where the optimized kernel has no value.
const TOLD: usize = 4;

/// Inputs with at most this many combinations of values are tried exhaustively.
const ALL_POINTS: i128 = 1 << 16;

/// Number of constants of the kernels that are tried as inputs.
const LITERALS: usize = 8;

/// Number of points near a hint: inputs without a hint take values from the sequence.
const NEAR: u32 = 6;

/// Searches for a witness among points at which some elements have given values.
pub fn refute_near(
    reference: (&Store, TermId),
    opt: (&Store, TermId),
    inputs: &[InputInfo],
    effort: &SearchBudget,
    hint: Vec<((InputId, u64), Rational)>,
) -> Option<Counterexample> {
    let held = hint.into_iter().filter_map(|((input, element), value)| {
        Some(((input, element), admitted(&value, inputs.get(input.index())?)?))
    });
    let hint: FxHashMap<(InputId, u64), Rational> = held.collect();
    if hint.is_empty() {
        return None;
    }
    let mut search = Search::new(reference, opt, inputs, effort);
    (0..NEAR).find_map(|round| {
        let other = TestPoint::new(inputs, round);
        let point = |input: InputId, element: u64| match hint.get(&(input, element)) {
            Some(value) => value.clone(),
            None => other.at(input, element),
        };
        search.look(&point)
    })
}

/// Whether all inputs are a few narrow integers, and both sides have the same finite value at each of their values,
/// whether the case allows it or not.
pub(super) fn equal_at_all(
    reference: (&Store, TermId),
    opt: (&Store, TermId),
    inputs: &[InputInfo],
    effort: &SearchBudget,
) -> bool {
    Search::new(reference, opt, inputs, effort).are_equal_at_all()
}

/// Searches for a witness where the sequence of points has none: some inputs equal to constants of the kernels, or
/// between two of them; each input in turn larger or smaller than all others; all magnitudes; and where the second side
/// is a choice by a condition, such as whether a fault happens, points at which that holds.
pub fn refute_further(
    reference: (&Store, TermId),
    opt: (&Store, TermId),
    inputs: &[InputInfo],
    effort: &SearchBudget,
) -> Option<Counterexample> {
    let mut search = Search::new(reference, opt, inputs, effort);
    search.precise = FURTHER_PRECISE;
    (0..FURTHER_POINTS)
        .find_map(|round| search.look(&TestPoint::new(inputs, round)))
        .or_else(|| search.mixed_with_literals())
        .or_else(|| search.one_of_many())
        .or_else(|| search.where_it_holds(FULFILLED_POINTS, FULFILLED_TERMS))
}

/// Points of the sequence that are tried again, and some beyond.
const FURTHER_POINTS: u32 = 40;
/// Number of points at which precision may be raised.
const FURTHER_PRECISE: u32 = 24;
/// Number of constants of the kernels between which points are placed.
const BETWEEN: usize = 32;
/// Number of points from which a condition is tried to be fulfilled, and of terms evaluated from each.
const FULFILLED_POINTS: u32 = 4;
const FULFILLED_TERMS: u64 = 10_000_000;
/// Of terms evaluated before anything is proved.
const FULFILLED_QUICKLY: u64 = 1_000_000;
/// Number of elements that are the largest and the smallest in turn.
const ONE_OF: usize = 1024;

struct Search<'a> {
    reference: (&'a Store, TermId),
    opt: (&'a Store, TermId),
    inputs: &'a [InputInfo],
    effort: &'a SearchBudget,
    /// Literals of each side that count as anything they may be read as.
    loose: [Loose; 2],
    /// The leaves of the two sides, unless they are too many.
    leaves: Option<Leaves>,
    /// Whether integers are among the inputs: evaluation is exact then.
    whole: bool,
    left: u64,
    /// Remaining number of points at which precision may be raised.
    precise: u32,
}

impl<'a> Search<'a> {
    fn new(
        reference: (&'a Store, TermId),
        opt: (&'a Store, TermId),
        inputs: &'a [InputInfo],
        effort: &'a SearchBudget,
    ) -> Search<'a> {
        let limit = effort.remembered;
        let loose = [(reference, opt), (opt, reference)]
            .map(|((store, term), (other, _))| Loose::of(store, other).below(store, term, limit));
        let leaves = leaves([reference, opt], limit);
        let is_whole = |input: InputId| inputs.get(input.index()).is_some_and(|info| info.integers.is_some());
        let whole =
            leaves.as_ref().is_some_and(|leaves| leaves.inputs.iter().any(|(input, _)| is_whole(*input)));
        Search { reference, opt, inputs, effort, loose, leaves, whole, left: effort.terms, precise: 0 }
    }

    /// The witness at a point, if the two sides certainly differ there, both defined.
    fn look(&mut self, point: &dyn Point) -> Option<Counterexample> {
        let precision = match self.first(point)? {
            (Comparison::Different(_), _) => None,
            (Comparison::Open | Comparison::Overlapping, false) if self.precise > 0 => {
                self.precise -= 1;
                Some(self.raised(point)?)
            }
            (
                Comparison::OptUndefined
                | Comparison::OutsideDomain
                | Comparison::Overlapping
                | Comparison::Open,
                _,
            ) => return None,
        };
        self.witness(point, precision)
    }

    /// The admissible value of an input for a wanted `value`.
    fn admitted(&self, value: &Rational, input: InputId) -> Option<Rational> {
        self.inputs.get(input.index()).map_or(Some(value.clone()), |info| admitted(value, info))
    }

    /// Tries points at which all inputs are a constant of the kernels, or close to it: thresholds, masks, first maxima.
    fn around_literals(&mut self) -> Option<Counterexample> {
        let mut numbers = self.leaves.as_ref()?.numbers.clone();
        // Smaller ones are covered by the sequence of points.
        numbers.retain(|number| number.abs() > Rational::from_integer(8));
        // Large ones first: masks.
        numbers.sort_by_key(|number| std::cmp::Reverse(number.abs()));
        numbers.truncate(LITERALS);
        let near = numbers
            .iter()
            .flat_map(|number| [number.clone(), number + &Rational::ONE, number - &Rational::ONE]);
        let near: Vec<Rational> = near.collect();
        near.iter().find_map(|value| self.look_where(value, |_, _| true))
    }

    /// Tries points at which some inputs have a value and the others are those of the first point.
    fn look_where(
        &mut self,
        value: &Rational,
        which: impl Fn(InputId, u64) -> bool,
    ) -> Option<Counterexample> {
        let inputs = self.inputs;
        let held: Vec<Option<Rational>> =
            (0..inputs.len()).map(|at| self.admitted(value, InputId(at as u32))).collect();
        let point = |input: InputId, element: u64| match held.get(input.index()) {
            Some(Some(value)) if which(input, element) => value.clone(),
            Some(_) | None => TestPoint::new(inputs, 0).at(input, element),
        };
        self.look(&point)
    }

    /// Tries points at which some inputs, all of one tensor or a random half of them, equal constants of the kernels,
    /// or lie between two of them.
    fn mixed_with_literals(&mut self) -> Option<Counterexample> {
        let mut numbers = self.leaves.as_ref()?.numbers.clone();
        let middles = numbers.windows(2).take(BETWEEN).map(|pair| (&pair[0] + &pair[1]) * Rational::HALF);
        let mut values: Vec<Rational> = middles.chain(numbers.iter().take(BETWEEN).cloned()).collect();
        numbers.retain(|number| number.abs() > Rational::from_integer(8));
        numbers.sort_by_key(|number| std::cmp::Reverse(number.abs()));
        for number in numbers.into_iter().take(LITERALS) {
            let twice = &number * &Rational::TWO;
            values.extend([-&twice, twice, -&number, number]);
        }
        for value in values {
            let found = (0..4u32).find_map(|salt| {
                self.look_where(&value, |input, element| match salt {
                    0 => true,
                    1 => input.index() % 2 == 0,
                    _ => mix(mix(u64::from(salt)) ^ mix(element) ^ u64::from(input.0)) & 1 == 1,
                })
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Tries points at which one input is far above or below all others.
    fn one_of_many(&mut self) -> Option<Counterexample> {
        let elements = self.leaves.as_ref()?.inputs.clone();
        let far = [Rational::from_integer(64), Rational::from_integer(-64)];
        elements.into_iter().take(ONE_OF).find_map(|(input, element)| {
            far.iter().find_map(|value| self.look_where(value, |other, at| (other, at) == (input, element)))
        })
    }

    /// Tries points at which the condition of a choice between two numbers holds.
    fn where_it_holds(&mut self, points: u32, terms: u64) -> Option<Counterexample> {
        let (store, term) = self.opt;
        let View::Apply(TermOp::Select, [condition, yes, no]) = store.view(term) else { return None };
        let all = [self.reference.1, yes, no];
        if !all.iter().all(|number| matches!(number.kind(), TermKind::Constant(_))) {
            return None;
        }
        let (inputs, deadline) = (self.inputs, &self.effort.deadline);
        (0..points).find_map(|round| {
            let begin = TestPoint::new(inputs, round);
            let effort = (terms, deadline);
            let values = fulfilling((store, condition), inputs, |input, at| begin.at(input, at), effort)?;
            self.look(&Assignment(values.into_iter().collect()))
        })
    }

    /// All possible values of the inputs, where these are a few narrow integers.
    fn all_points(&self) -> Option<impl Iterator<Item = Assignment> + use<>> {
        let elements = self.leaves.as_ref()?.inputs.clone();
        let types: Vec<Integers> = elements
            .iter()
            .map(|(input, _)| self.inputs.get(input.index()).and_then(|info| info.integers))
            .collect::<Option<_>>()?;
        let count = types.iter().try_fold(1, |count: i128, of| count.checked_mul(of.count()))?;
        if elements.is_empty() || count > ALL_POINTS {
            return None;
        }
        Some((0..count).map(move |mut rest| {
            let mut values = FxHashMap::default();
            for (element, of) in elements.iter().zip(&types) {
                values.insert(*element, Rational::from_i128(of.least + rest % of.count()));
                rest /= of.count();
            }
            Assignment(values)
        }))
    }

    /// Tries all values of the inputs, where these are a few narrow integers.
    fn among_all(&mut self) -> Option<Counterexample> {
        for point in self.all_points()? {
            if !point.0.iter().all(|((input, _), value)| self.admitted(value, *input).is_some()) {
                continue;
            }
            if let Comparison::Different(_) = self.first(&point)?.0
                && let Some(witness) = self.witness(&point, None)
            {
                return Some(witness);
            }
        }
        None
    }

    /// Whether both sides have the same finite value at each possible input, computed exactly.
    fn are_equal_at_all(&mut self) -> bool {
        let Some(points) = self.all_points() else { return false };
        for point in points {
            let Some((reference, opt)) = self.values::<Fraction>(&point, 0, FRACTION_COST) else {
                return false;
            };
            let same = match (reference.finite(), opt.finite()) {
                (Some(one), Some(other)) => one.is_point() && other.is_point() && !one.is_disjoint(other),
                (None, _) | (_, None) => false,
            };
            if !same {
                return false;
            }
        }
        true
    }

    /// Both values at `point`; `None` when the budget is exhausted.
    fn values<E: Enclosure>(
        &mut self,
        point: &dyn Point,
        precision: u32,
        cost: u64,
    ) -> Option<(Value<E>, Value<E>)> {
        if self.effort.deadline.is_over() {
            return None;
        }
        let remembered = (self.effort.remembered as u64 / cost).min(self.left / cost) as usize;
        let mut side = |(store, term): (&Store, TermId), loose: Loose| {
            let at = |input, element| point.at(input, element);
            let mut evaluator = Evaluator::<E, _>::new(store, at, precision, remembered).loosely(loose);
            let value = evaluator.evaluate(term);
            self.left = self.left.saturating_sub(evaluator.work() * cost);
            value
        };
        let [reference, opt] = self.loose.clone();
        let values = (side(self.reference, reference), side(self.opt, opt));
        (self.left > 0).then_some(values)
    }

    /// Whether a point fulfils what the case assumes of elements together.
    fn is_assumed(&self, point: &dyn Point) -> bool {
        let is_distinct = |input: InputId| self.inputs.get(input.index()).is_some_and(|info| info.distinct);
        if !self.inputs.iter().any(|info| info.distinct) {
            return true;
        }
        let Some(leaves) = &self.leaves else { return false };
        let mut seen = FxHashSet::default();
        let elements = leaves.inputs.iter().filter(|(input, _)| is_distinct(*input));
        elements.into_iter().all(|(input, element)| seen.insert((*input, point.at(*input, *element))))
    }

    /// The comparison at the first precision, and whether the enclosures are tight.
    fn first(&mut self, point: &dyn Point) -> Option<(Comparison, bool)> {
        if !self.is_assumed(point) {
            return Some((Comparison::OutsideDomain, false));
        }
        if self.whole {
            let (reference, opt) = self.values::<Fraction>(point, 0, FRACTION_COST)?;
            let comparison = compare(&reference, &opt);
            if comparison != Comparison::Open {
                let exact = |value: &Value<Fraction>| value.finite().is_none_or(Enclosure::is_point);
                return Some((comparison, exact(&reference) && exact(&opt)));
            }
        }
        let (reference, opt) = self.values::<Narrow>(point, 53, 1)?;
        let tight = |value: &Value<Narrow>| value.finite().is_none_or(|value| value.relative_width() < TIGHT);
        Some((compare(&reference, &opt), tight(&reference) && tight(&opt)))
    }

    /// The precision at which the two sides certainly differ.
    fn raised(&mut self, point: &dyn Point) -> Option<u32> {
        for precision in PRECISIONS {
            let (reference, opt) = self.values::<Wide>(point, precision, WIDE_COST)?;
            match compare(&reference, &opt) {
                Comparison::Different(_) => return Some(precision),
                Comparison::OptUndefined | Comparison::OutsideDomain | Comparison::Overlapping => {
                    return None;
                }
                Comparison::Open => {}
            }
        }
        None
    }

    /// How the two sides compare.
    fn compared(&mut self, point: &dyn Point, precision: Option<u32>) -> Option<Comparison> {
        match precision {
            None => self.first(point).map(|(comparison, _)| comparison),
            Some(_) if !self.is_assumed(point) => Some(Comparison::OutsideDomain),
            Some(precision) => self
                .values::<Wide>(point, precision, WIDE_COST)
                .map(|(reference, opt)| compare(&reference, &opt)),
        }
    }

    /// The elements that the two sides read, and simple values of these at which both compare as at `point`.
    fn minimal(
        &mut self,
        point: &dyn Point,
        precision: Option<u32>,
    ) -> Option<(Vec<(InputId, u64)>, Assignment)> {
        let elements = self.leaves.as_ref()?.inputs.clone();
        let values = elements.iter().map(|(input, element)| ((*input, *element), point.at(*input, *element)));
        let mut values = Assignment(values.collect());
        self.simplify(&elements, &mut values, precision);
        Some((elements, values))
    }

    /// The values of elements, without zeros where they are many, and the number of those.
    fn listed(&self, elements: &[(InputId, u64)], values: &Assignment) -> (Vec<WitnessInput>, u64) {
        let all = elements.len() <= LISTED;
        let listed: Vec<WitnessInput> = elements
            .iter()
            .map(|(input, element)| WitnessInput {
                input: *input,
                element: *element,
                name: element_name(self.inputs.get(input.index()), *input, *element),
                value: values.at(*input, *element),
            })
            .filter(|input| all || !input.value.is_zero())
            .collect();
        let zeros = (elements.len() - listed.len()) as u64;
        (listed, zeros)
    }

    /// The witness at `point`, minimized and evaluated once more. `None` as precision stands for the first one.
    fn witness(&mut self, point: &dyn Point, precision: Option<u32>) -> Option<Counterexample> {
        let (elements, values) = self.minimal(point, precision)?;

        // A witness that was found is reported, whatever the search has cost; memory stays bounded.
        self.left = u64::MAX;
        let exact = self.values::<Fraction>(&values, 0, FRACTION_COST)?;
        let (left, right) = self.values::<Wide>(&values, precision.unwrap_or(PRECISIONS[0]), WIDE_COST)?;
        let (kind, (reference, opt)) = match (compare(&exact.0, &exact.1), compare(&left, &right)) {
            (Comparison::Different(kind), _) => (kind, outcomes(&exact.0, &exact.1)?),
            (_, Comparison::Different(kind)) => (kind, outcomes(&left, &right)?),
            (_, Comparison::Open) if precision.is_none() => {
                // Too large for a raised precision; the first one is as rigorous.
                let (left, right) = self.values::<Narrow>(&values, 53, 1)?;
                let Comparison::Different(kind) = compare(&left, &right) else { return None };
                (kind, outcomes(&left, &right)?)
            }
            // Disjoint enclosures of one value: nothing is claimed.
            (
                _,
                Comparison::Open
                | Comparison::OptUndefined
                | Comparison::OutsideDomain
                | Comparison::Overlapping,
            ) => return None,
        };
        let (listed, zeros) = self.listed(&elements, &values);
        let explanation = match kind {
            WitnessKind::Values => explain(self.reference, self.opt, &values),
            WitnessKind::Infinite => None,
        };
        Some(Counterexample {
            inputs: listed,
            zeros,
            kind,
            reference,
            opt,
            explanation: explanation.map(Box::new),
        })
    }

    /// Sets elements to 0, in ever smaller groups, as long as the two sides compare in the same way; then each of the
    /// others to the simplest number at which they do.
    fn simplify(&mut self, elements: &[(InputId, u64)], values: &mut Assignment, precision: Option<u32>) {
        let before = self.left;
        let kind = self.compared(values, precision);
        let cost = (before - self.left).max(1);
        let mut tries = (SHRINK_TERMS / cost).clamp(SHRINKS, MAX_SHRINKS);
        // Minimizing has a budget of its own, whatever the search has cost.
        self.left = self.left.max(SHRINK_TERMS);
        let mut attempt =
            |search: &mut Self, values: &mut Assignment, group: &[(InputId, u64)], to: Simple| {
                let old: Vec<Rational> = group.iter().map(|at| values.at(at.0, at.1)).collect();
                let new: Vec<Rational> =
                    group.iter().map(|at| to.assumed(search.inputs.get(at.0.index()))).collect();
                if new == old {
                    return true;
                }
                values.0.extend(group.iter().copied().zip(new));
                let kept = tries > 0 && search.compared(values, precision) == kind;
                tries = tries.saturating_sub(1);
                if !kept {
                    values.0.extend(group.iter().copied().zip(old));
                }
                kept
            };
        let mut left = elements.to_vec();
        // An element that was needed with others may not be needed alone.
        for _ in 0..2 {
            let mut size = left.len();
            while size > 0 {
                for group in left.chunks(size) {
                    attempt(self, values, group, Simple(0, 0));
                }
                size = if size == 1 { 0 } else { size.div_ceil(2) };
            }
            left.retain(|(input, element)| !values.at(*input, *element).is_zero());
        }
        for element in left {
            let value = values.at(element.0, element.1);
            // Then its own value, rounded to fewer bits.
            let rounded = |digits: i32| {
                let whole = (&value * Rational::power_of_two(digits)).round_even();
                whole.to_i64().map(|whole| Simple(whole, -digits))
            };
            let shorter = (0..=ROUNDED).filter_map(rounded);
            let mut simpler = SIMPLE.into_iter().chain(shorter);
            let _found = simpler.any(|simple| attempt(self, values, &[element], simple));
        }
    }
}

/// `mantissa · 2^exponent`
#[derive(Clone, Copy)]
struct Simple(i64, i32);

/// Values are rounded to this many bits after the binary point, if the witness stays one.
const ROUNDED: i32 = 6;

/// Simple values, simplest first.
const SIMPLE: [Simple; 8] = [
    Simple(1, 0),
    Simple(-1, 0),
    Simple(2, 0),
    Simple(-2, 0),
    Simple(1, -1),
    Simple(-1, -1),
    Simple(3, 0),
    Simple(-3, 0),
];

impl Simple {
    /// The value, or the nearest admissible one.
    fn assumed(self, info: Option<&InputInfo>) -> Rational {
        let Some(info) = info else { return Rational::from_dyadic(self.0, self.1) };
        match info.integers {
            Some(of) => assume_integer(i128::from(self.0 >> self.1.unsigned_abs()), info, of).rational(),
            None => {
                let (mantissa, exp) = assume((self.0, self.1), info);
                Rational::from_dyadic(mantissa, exp)
            }
        }
    }
}

/// Explicit values; other elements are 0.
struct Assignment(FxHashMap<(InputId, u64), Rational>);

impl Point for Assignment {
    fn at(&self, input: InputId, element: u64) -> Rational {
        self.0.get(&(input, element)).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sign;
    use super::super::evaluate::tests::{Expr, build, expr};
    use super::super::witness::SideValue;
    use super::*;
    use crate::base::index::InstId;
    use crate::base::lane::{Lane, LaneMask};
    use crate::number::format::{Decoded, Format, decode};
    use crate::term::{Constant, TermOp};
    use proptest::prelude::*;

    fn inputs(sign: Sign) -> Vec<InputInfo> {
        let tensor =
            |name: &str| InputInfo { name: name.into(), shape: vec![64, 64], sign, ..InputInfo::default() };
        vec![tensor("x"), tensor("y")]
    }

    fn x(element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    fn y(element: u64) -> TermId {
        TermId::input(InputId(1), element)
    }

    fn f32_literal(store: &mut Store, bits: u32) -> TermId {
        let Decoded::Finite(value) = decode(Format::F32, bits.into()) else { panic!("a number") };
        let literal = Some((Format::F32, u64::from(bits)));
        store.intern(Constant { exact: value.into(), literal, rounded: None })
    }

    /// Builds both sides in stores of their own and searches for a witness.
    fn search(
        sign: Sign,
        reference: impl FnOnce(&mut Store) -> TermId,
        opt: impl FnOnce(&mut Store) -> TermId,
    ) -> Option<Counterexample> {
        let (mut left, mut right) = (Store::new(), Store::new());
        let (reference, opt) = (reference(&mut left), opt(&mut right));
        refute((&left, reference), (&right, opt), &inputs(sign), &SearchBudget::default())
    }

    #[test]
    fn near_misses_are_told_apart() {
        use TermOp::*;
        let sum = |store: &mut Store| store.apply(Add, &[x(65), y(0)], InstId(0));
        let difference = |store: &mut Store| store.apply(Sub, &[x(65), y(0)], InstId(0));
        let Some(found) = search(Sign::Any, sum, difference) else { panic!("a witness") };
        let text: Vec<_> =
            found.inputs.iter().map(|input| format!("{} = {}", input.name, input.value)).collect();
        assert_eq!(text, ["x[1][1] = 0", "y[0][0] = 1"]);
        assert_eq!((found.reference.to_string(), found.opt.to_string()), ("1".into(), "-1".into()));
        assert_eq!(found.kind, WitnessKind::Values);

        let exp = |store: &mut Store, a| store.apply(Exp2, &[a], InstId(0));
        let exp_of_sum = |store: &mut Store| {
            let sum = store.apply(Add, &[x(0), y(0)], InstId(0));
            exp(store, sum)
        };
        let sum_of_exps = |store: &mut Store| {
            let (a, b) = (exp(store, x(0)), exp(store, y(0)));
            store.apply(Add, &[a, b], InstId(0))
        };
        assert!(search(Sign::Any, exp_of_sum, sum_of_exps).is_some());
        for (left, right) in [(Max, Min), (Add, Mul), (Less, LessEqual)] {
            let pick = |op: TermOp| {
                move |store: &mut Store| {
                    let value = store.apply(op, &[x(0), y(0)], InstId(0));
                    if op.is_condition() {
                        store.apply(Select, &[value, x(1), y(1)], InstId(0))
                    } else {
                        value
                    }
                }
            };
            let found = search(Sign::Any, pick(left), pick(right));
            assert!(found.is_some(), "{left:?} and {right:?}");
        }
    }

    #[test]
    fn where_only_one_side_is_defined_nothing_differs() {
        let fraction = |store: &mut Store| {
            let square = store.apply(TermOp::Mul, &[x(0), x(0)], InstId(0));
            store.apply(TermOp::Div, &[square, x(0)], InstId(0))
        };
        // x·x/x is x wherever it is defined.
        assert_eq!(search(Sign::Any, fraction, |_| x(0)), None);
        assert_eq!(search(Sign::Any, |_| x(0), fraction), None);
        let undefined = |sign: Sign| {
            let (left, mut right) = (Store::new(), Store::new());
            let opt = fraction(&mut right);
            undefined_at((&left, x(0)), (&right, opt), &inputs(sign), &SearchBudget::default())
        };
        assert_eq!(undefined(Sign::Any).as_deref(), Some("x[0][0] = 0"));
        assert_eq!(undefined(Sign::Nonzero), None);

        let root = |store: &mut Store| store.apply(TermOp::Sqrt, &[x(0)], InstId(0));
        assert!(search(Sign::Any, |_| x(1), root).is_some());
        let power = |store: &mut Store| {
            let root = store.apply(TermOp::Sqrt, &[x(0)], InstId(0));
            store.apply(TermOp::Mul, &[root, root], InstId(0))
        };
        assert_eq!(search(Sign::Any, power, |_| x(0)), None);
        assert_eq!(search(Sign::NonNegative, |_| x(0), power), None);
    }

    #[test]
    fn an_infinite_side_is_told_apart() {
        let infinite = |store: &mut Store| {
            let mask = store.intern(Constant {
                exact: crate::number::Extended::NegInf,
                literal: None,
                rounded: None,
            });
            store.apply(TermOp::Add, &[x(0), mask], InstId(0))
        };
        let masked = |store: &mut Store| {
            let mask = infinite(store);
            let weight = store.apply(TermOp::Exp2, &[mask], InstId(0));
            store.apply(TermOp::Add, &[weight, x(1)], InstId(0))
        };
        let Some(found) = search(Sign::Any, |_| x(0), infinite) else { panic!("a witness") };
        assert_eq!((found.kind, found.opt), (WitnessKind::Infinite, SideValue::NegInf));
        assert!(search(Sign::Any, infinite, |_| x(0)).is_some());
        assert_eq!(search(Sign::Any, infinite, infinite), None);
        assert_eq!(search(Sign::Any, masked, |_| x(1)), None);
    }

    #[test]
    fn compilers_forms_of_one_constant_are_not_told_apart() {
        let exp = |hi: u32, lo: Option<u32>| {
            move |store: &mut Store| {
                let hi = f32_literal(store, hi);
                let mut product = store.apply(TermOp::Mul, &[x(0), hi], InstId(0));
                if let Some(lo) = lo {
                    let lo = f32_literal(store, lo);
                    product = store.apply(TermOp::Fma, &[x(0), lo, product], InstId(0));
                }
                store.apply(TermOp::Exp2, &[product], InstId(0))
            }
        };
        for other in [(0x3fb8_aa3b, Some(0x32a5_7060)), (0x3fb8_aa3c, None)] {
            assert_eq!(search(Sign::Any, exp(0x3fb8_aa3b, None), exp(other.0, other.1)), None);
        }
        assert!(search(Sign::Any, exp(0x3fb8_aa3b, None), exp(0x3fb8_ab3b, None)).is_some());
        // log₂e/√128 folded, and in two steps.
        let folded = exp(0x3e02_93ee, None);
        let stepwise = |store: &mut Store| {
            let (scale, log2e) = (f32_literal(store, 0x3db5_04f3), f32_literal(store, 0x3fb8_aa3b));
            let scaled = store.apply(TermOp::Mul, &[x(0), scale], InstId(0));
            let product = store.apply(TermOp::Mul, &[scaled, log2e], InstId(0));
            store.apply(TermOp::Exp2, &[product], InstId(0))
        };
        assert_eq!(search(Sign::Any, folded, stepwise), None);
    }

    #[test]
    fn range_reductions_cancel() {
        // 2^(xL − ⌊xL⌋) · 2^⌊xL⌋
        let reduced = |store: &mut Store| {
            let log2e = f32_literal(store, 0x3fb8_aa3b);
            let product = store.apply(TermOp::Mul, &[x(0), log2e], InstId(0));
            let whole = store.apply(TermOp::Floor, &[product], InstId(0));
            let rest = store.apply(TermOp::Sub, &[product, whole], InstId(0));
            let (a, b) = (
                store.apply(TermOp::Exp2, &[rest], InstId(0)),
                store.apply(TermOp::Exp2, &[whole], InstId(0)),
            );
            store.apply(TermOp::Mul, &[a, b], InstId(0))
        };
        let plain = |factor: u32| {
            move |store: &mut Store| {
                let factor = f32_literal(store, factor);
                let product = store.apply(TermOp::Mul, &[x(0), factor], InstId(0));
                store.apply(TermOp::Exp2, &[product], InstId(0))
            }
        };
        assert_eq!(search(Sign::Any, plain(0x3fb8_aa3b), reduced), None);
        assert!(search(Sign::Any, plain(0x3f80_0000), reduced).is_some());
    }

    #[test]
    fn tiny_differences_need_precision() {
        let nudged = |exp: i32| {
            move |store: &mut Store| {
                let nudge = Rational::power_of_two(exp);
                let nudge = store.intern(Constant { exact: nudge.into(), literal: None, rounded: None });
                let power = store.apply(TermOp::Exp2, &[x(0)], InstId(0));
                store.apply(TermOp::Fma, &[power, nudge, power], InstId(0))
            }
        };
        let plain = |store: &mut Store| store.apply(TermOp::Exp2, &[x(0)], InstId(0));
        let Some(found) = search(Sign::Any, plain, nudged(-90)) else { panic!("a witness") };
        assert_ne!(found.reference.to_string(), found.opt.to_string());
        assert_eq!(search(Sign::Any, plain, nudged(-1000)), None);
    }

    #[test]
    fn large_masks_are_not_infinite() {
        let masked = |element: u64, mask: i64| {
            move |store: &mut Store| {
                let mask = Rational::from_integer(mask);
                let mask = store.intern(Constant { exact: mask.into(), literal: None, rounded: None });
                let score = store.apply(TermOp::Add, &[y(element), mask], InstId(0));
                store.apply(TermOp::Max, &[x(element), score], InstId(0))
            }
        };
        for mask in [-1_000_000_000, -1_000_000_000_000] {
            let found = |element| search(Sign::Any, masked(element, mask), |_| x(element)).is_some();
            assert!((0..8).any(found), "{mask}");
        }
        let swapped = |store: &mut Store| store.apply(TermOp::Max, &[y(0), x(0)], InstId(0));
        assert_eq!(search(Sign::Any, masked(0, 0), swapped), None);
    }

    #[test]
    fn what_is_too_small_to_be_written_out_is_told_by_its_exponent() {
        // 2^(x·2³⁰) against 1
        let power = |store: &mut Store| {
            let factor = Rational::power_of_two(29);
            let factor = store.intern(Constant { exact: factor.into(), literal: None, rounded: None });
            let product = store.apply(TermOp::Mul, &[x(0), factor], InstId(0));
            store.apply(TermOp::Exp2, &[product], InstId(0))
        };
        let Some(found) = search(Sign::Negative, power, |_| y(0)) else { panic!("a witness") };
        assert_eq!(found.reference.to_string(), "about 2^-536870911");
    }

    #[test]
    fn a_wrong_element_in_a_long_sum_is_singled_out() {
        let dot = |swapped: bool| {
            move |store: &mut Store| {
                let zero =
                    store.intern(Constant { exact: Rational::ZERO.into(), literal: None, rounded: None });
                (0..4096).fold(zero, |sum, at| {
                    let other = if swapped && at == 777 { 778 } else { at };
                    store.apply(TermOp::Fma, &[x(at), y(other), sum], InstId(0))
                })
            }
        };
        let Some(found) = search(Sign::Any, dot(false), dot(true)) else { panic!("a witness") };
        assert!(found.inputs.len() <= 3, "{found:?}");
        assert_eq!(found.inputs.len() as u64 + found.zeros, 8192);
        assert_eq!(search(Sign::Any, dot(false), dot(false)), None);
    }

    #[test]
    fn a_screen_finds_the_wrong_elements_of_a_tile() {
        let (mut left, mut right) = (Store::new(), Store::new());
        let tile = |store: &mut Store, wrong: bool| {
            let row: [u64; 32] = Lane::each(|lane| x(u64::from(lane.number())).raw());
            let mut sum = row;
            for at in 0..100 {
                let other =
                    Lane::each(|lane| y(at + u64::from(wrong && at == 50 && lane.number() == 7)).raw());
                let node = store.push(TermOp::Fma, LaneMask::ALL, &[&row, &other, &sum], InstId(0));
                sum = Lane::each(|lane| TermId::lane(node, lane).raw());
            }
            sum.map(TermId::from_raw)
        };
        let pairs: Vec<_> = tile(&mut left, false).into_iter().zip(tile(&mut right, true)).collect();
        let inputs = inputs(Sign::Any);
        for remembered in [1 << 20, 4000, 150, 50] {
            let mut screen = QuickFilter::new(&left, &right, &inputs, 0, remembered);
            let expected = if remembered == 50 { vec![] } else { vec![7] };
            assert_eq!(screen.differing(&pairs), expected, "remembering {remembered}");
            let each = pairs.iter().filter(|(left, right)| screen.differs(*left, *right));
            assert_eq!(each.count(), expected.len());
        }
        assert!(QuickFilter::new(&left, &right, &inputs, 0, 1 << 20).differs(pairs[7].0, pairs[7].1));
    }

    #[test]
    fn points_keep_what_is_assumed() {
        for sign in [Sign::Positive, Sign::NonNegative, Sign::Negative, Sign::NonPositive, Sign::Nonzero] {
            let holds = |value: Rational| match sign {
                Sign::Any => true,
                Sign::Positive => value.is_positive(),
                Sign::NonNegative => !value.is_negative(),
                Sign::Negative => value.is_negative(),
                Sign::NonPositive => !value.is_positive(),
                Sign::Nonzero => !value.is_zero(),
            };
            let inputs = inputs(sign);
            for round in 0..20 {
                let point = TestPoint::new(&inputs, round);
                assert!((0..100).all(|element| holds(point.at(InputId(1), element))), "{sign:?} {round}");
            }
        }
    }

    /// An expression equal to the given one wherever that is defined.
    fn rewritten(expr: &Expr) -> Expr {
        use TermOp::*;
        let apply = |op, operands: Vec<Expr>| Expr::Apply(op, operands);
        let Expr::Apply(op, operands) = expr else { return expr.clone() };
        let operands: Vec<Expr> = operands.iter().map(rewritten).collect();
        match (op, &operands[..]) {
            (Add | Mul | Max | Min, [a, b]) => apply(*op, vec![b.clone(), a.clone()]),
            (Sub, [a, b]) => apply(Neg, vec![apply(Sub, vec![b.clone(), a.clone()])]),
            (Fma, [a, b, c]) => apply(Add, vec![c.clone(), apply(Mul, vec![b.clone(), a.clone()])]),
            (Abs, [a]) => apply(Max, vec![a.clone(), apply(Neg, vec![a.clone()])]),
            (Less, [a, b]) => apply(Not, vec![apply(LessEqual, vec![b.clone(), a.clone()])]),
            (Select, [a, b, c]) => apply(Select, vec![apply(Not, vec![a.clone()]), c.clone(), b.clone()]),
            (Exp2, [a]) => {
                let half = apply(Exp2, vec![apply(Mul, vec![a.clone(), Expr::Ratio(1, 2)])]);
                apply(Mul, vec![half.clone(), half])
            }
            (Rsqrt, [a]) => apply(Div, vec![Expr::Ratio(1, 1), apply(Sqrt, vec![a.clone()])]),
            (Tanh | Erf | Atan | Cbrt | BesselJ1, [a]) => {
                apply(Neg, vec![apply(*op, vec![apply(Neg, vec![a.clone()])])])
            }
            _ => apply(*op, operands),
        }
    }

    proptest! {
        #[test]
        fn equal_terms_are_never_told_apart(expr in expr()) {
            let (mut left, mut right) = (Store::new(), Store::without_patterns());
            let (reference, opt) = (build(&expr, &mut left), build(&rewritten(&expr), &mut right));
            let effort = SearchBudget { points: 20, ..SearchBudget::default() };
            prop_assert_eq!(refute((&left, reference), (&right, opt), &inputs(Sign::Any), &effort), None);
        }

        #[test]
        fn a_different_coefficient_is_found(expr in expr(), num in prop_oneof![-5i64..1, 2i64..5]) {
            // e + x against e + num·x
            let with = |factor: i64| {
                let product = Expr::Apply(TermOp::Mul, vec![Expr::Input(0, 0), Expr::Ratio(factor, 1)]);
                Expr::Apply(TermOp::Add, vec![expr.clone(), product])
            };
            let (mut left, mut right) = (Store::new(), Store::new());
            let (reference, opt) = (build(&with(1), &mut left), build(&with(num), &mut right));
            let info = inputs(Sign::Any);
            if let Some(found) = refute((&left, reference), (&right, opt), &info, &SearchBudget::default()) {
                prop_assert_eq!(found.kind, WitnessKind::Values);
                let singled = |input: &WitnessInput| input.name == "x[0][0]" && !input.value.is_zero();
                prop_assert!(found.inputs.iter().any(singled));
            } else {
                // Only an expression that is undefined everywhere, or enclosed too widely, hides it.
                let (mut store, info) = (Store::new(), inputs(Sign::Any));
                let term = build(&expr, &mut store);
                for round in 0..3 {
                    let point = TestPoint::new(&info, round);
                    let value = Evaluator::<Narrow, _>::new(&store, point, 53, 1 << 20).evaluate(term);
                    prop_assert!(value.finite().is_none_or(|value| value.relative_width() > TIGHT));
                }
            }
        }
    }
}
