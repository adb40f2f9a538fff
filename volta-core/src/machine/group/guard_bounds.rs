//! What a guard says of integers (rule S1): bounds by numbers, and by one another, and their values by counting.

use super::terms::{UnderGuards, ValueTerms};
use super::values::Values;
use crate::base::lane::Lane;
use crate::number::Rational;
use crate::term::{Bound, Congruence, Range, Store, TermId, TermOp, View};
use crate::value::Value;
use crate::value::guard::{Bounds, Guard, Ordered, RealBounds, Terms};
use crate::value::indexed::{Indexed, MAX_STEPS, indexed};
use crate::value::int_terms::number;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// So often, bounds are taken from what integers are compared with.
const MAX_ROUNDS: u32 = 2;

/// The largest number of operations below an index that are visited.
const MAX_TERMS: usize = 64;

/// What is supposed where a guard holds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Supposed {
    /// The number of bounds.
    bounds: usize,
    /// Whether no values fulfil them all.
    pub(crate) never: bool,
}

/// Numbers between which an integer lies, without some.
#[derive(Debug, Default)]
struct Between {
    low: Option<i128>,
    high: Option<i128>,
    except: SmallVec<[i128; 2]>,
}

/// That `scale · index` of the first is at most that of the second, and some more.
struct Order {
    first: (TermId, i128),
    second: (TermId, i128),
    more: i128,
}

/// The number by which a term is taken modulo.
pub(crate) fn modulus(store: &Store, by: TermId) -> Option<i128> {
    let by = number(store, by)?;
    by.to_i64().map(i128::from).or_else(|| (*by == Rational::power_of_two(64)).then_some(1 << 64))
}

/// The values of an index for which `scale · index` lies between two numbers.
fn divided((low, high): (Option<i128>, Option<i128>), scale: i128) -> (Option<i128>, Option<i128>) {
    let (low, high) = if scale < 0 {
        (high.and_then(i128::checked_neg), low.and_then(i128::checked_neg))
    } else {
        (low, high)
    };
    let by = scale.checked_abs().filter(|by| *by > 0);
    let up = |low: i128, by: i128| low.checked_add(by - 1).map(|low| low.div_euclid(by));
    (by.zip(low).and_then(|(by, low)| up(low, by)), by.zip(high).map(|(by, high)| high.div_euclid(by)))
}

/// The numbers between which `scale · index` lies.
fn multiplied(range: Range, scale: i128) -> (Option<i128>, Option<i128>) {
    let times = |bound: Option<i128>| bound.and_then(|bound| bound.checked_mul(scale));
    let (low, high) = (times(range.low), times(range.high));
    if scale < 0 { (high, low) } else { (low, high) }
}

impl UnderGuards<'_> {
    /// Supposes the bounds of integers that a guard implies, until [`UnderGuards::suppose_no_more`].
    pub(crate) fn suppose_guard(&mut self, guard: Guard) -> Supposed {
        let mut supposed = Supposed::default();
        let (mut all, mut places): (Vec<(TermId, Between)>, _) = (Vec::new(), FxHashMap::default());
        for Bounds { of, low, high, except } in self.guards.bounds(guard) {
            let place = *places.entry(of).or_insert(all.len());
            if place == all.len() {
                all.push((of, Between::default()));
            }
            let own = &mut all[place].1;
            own.low = own.low.max(low);
            own.high = own.high.into_iter().chain(high).min();
            own.except.extend(except);
        }
        for (of, between) in &all {
            self.suppose_between(*of, between, &mut supposed);
        }
        self.suppose_orders(guard, &mut supposed);
        supposed
    }

    /// Takes back what was supposed.
    pub(crate) fn suppose_no_more(&mut self, supposed: Supposed) {
        (0..supposed.bounds).for_each(|_| self.ranges.suppose_no_more());
    }

    /// Supposes that a term lies between two numbers, and what that says of the one that it is computed from.
    fn suppose_between(&mut self, of: TermId, between: &Between, supposed: &mut Supposed) {
        let (mut term, mut least, mut greatest) = (of, between.low, between.high);
        for _ in 0..MAX_STEPS {
            let range = self.ranges.of(self.store, term);
            let high = range.high.into_iter().chain(greatest).min();
            let (Some(mut low), Some(mut high), true) = (range.low.max(least), high, range.whole) else {
                return;
            };
            if term == of {
                while low <= high && between.except.contains(&low) {
                    low += 1;
                }
                while low <= high && between.except.contains(&high) {
                    high -= 1;
                }
            }
            if low > high {
                supposed.never = true;
                return;
            }
            let next = self.implied_below(term, low, high);
            if (Some(low), Some(high)) != (range.low, range.high) {
                self.ranges.suppose(Bound::Between(term, low, high));
                supposed.bounds += 1;
            }
            let Some((index, low, high)) = next else { return };
            (term, least, greatest) = (index, low, high);
        }
    }

    /// Supposes the bounds of integers below a term that reals are rounded to, where the guard bounds these reals.
    pub(crate) fn suppose_rounded(&mut self, guard: Guard, term: TermId, supposed: &mut Supposed) {
        let mut bounds = self.guards.bounds_of_reals(guard);
        bounds.retain(|bounds| !self.ranges.of(self.store, bounds.of).whole);
        if bounds.is_empty() {
            return;
        }
        let (mut work, mut seen, mut rounded) = (vec![term], FxHashSet::default(), Vec::new());
        while let Some(term) = work.pop().filter(|_| seen.len() < MAX_TERMS) {
            let View::Apply(op, operands) = self.store.view(term) else { continue };
            if !seen.insert(term) {
                continue;
            }
            if matches!(op, TermOp::Floor | TermOp::Trunc) {
                rounded.push((op, term, operands[0]));
            }
            work.extend(&operands[..op.arity()]);
        }
        for (op, term, real) in rounded {
            let mut between = Between::default();
            for RealBounds { low, high, below, .. } in bounds.iter().filter(|bounds| bounds.of == real) {
                // Below 0, numbers are rounded towards it.
                let is_less = |below: i128| op == TermOp::Floor || below > 0;
                let below = below.map(|below| below - i128::from(is_less(below)));
                between.low = between.low.max(*low);
                between.high = between.high.into_iter().chain(*high).chain(below).min();
            }
            self.suppose_between(term, &between, supposed);
        }
    }

    /// What bounds of a term say of the integer that it is computed from.
    fn implied_below(
        &mut self,
        term: TermId,
        low: i128,
        high: i128,
    ) -> Option<(TermId, Option<i128>, Option<i128>)> {
        let View::Apply(op, [a, b, _]) = self.store.view(term) else { return None };
        let (inner, (low, high)) = if op == TermOp::Mod {
            // A number that wraps around is itself where it is in the lower half: in the other half, it would be
            // negative.
            let by = modulus(self.store, b)?;
            let inside = self.ranges.of(self.store, a);
            if !inside.within(high.checked_sub(by)? + 1, by - 1) {
                return None;
            }
            (a, (Some(low), Some(high)))
        } else if op == TermOp::BitAnd {
            // A number is not less than some of its bits, and numbers whose lowest bits are known are a multiple of a
            // power of two apart.
            let (of, mask) = if modulus(self.store, b).is_some() { (a, b) } else { (b, a) };
            let step = modulus(self.store, mask)?.checked_add(1)?;
            let range = self.ranges.of(self.store, of);
            let (least, greatest) = range.low.zip(range.high).filter(|_| range.is_natural())?;
            let least = least.max(low);
            if low == high && step > 0 && step & (step - 1) == 0 {
                let up = (low - least).rem_euclid(step);
                let down = (greatest - low).rem_euclid(step);
                (of, (Some(least + up), Some(greatest - down)))
            } else {
                (of, (Some(least), Some(greatest)))
            }
        } else {
            return None;
        };
        let Indexed { index, scale, offset } = indexed(self.store, inner);
        let less = |bound: Option<i128>| bound.and_then(|bound| bound.checked_sub(offset));
        let (low, high) = divided((less(low), less(high)), scale);
        Some((index, low, high))
    }

    /// Supposes what follows from which integers are less than which others.
    fn suppose_orders(&mut self, guard: Guard, supposed: &mut Supposed) {
        let mut orders: Vec<Order> = Vec::new();
        let mut places: FxHashMap<[(TermId, i128); 2], usize> = FxHashMap::default();
        for Ordered { less, greater, strictly } in self.guards.orders(guard) {
            let [one, other] = [less, greater].map(|term| indexed(self.store, term));
            let are_whole = [&one, &other].iter().all(|of| self.ranges.of(self.store, of.index).whole);
            let more =
                other.offset.checked_sub(one.offset).and_then(|more| more.checked_sub(strictly.into()));
            let (Some(more), true) = (more, are_whole) else { continue };
            let (first, second) = ((one.index, one.scale), (other.index, other.scale));
            let place = *places.entry([first, second]).or_insert(orders.len());
            match orders.get_mut(place) {
                Some(order) => order.more = order.more.min(more),
                None => orders.push(Order { first, second, more }),
            }
        }
        for _ in 0..MAX_ROUNDS {
            for Order { first: (first, factor), second: (second, scale), more } in &orders {
                let (_, high) = multiplied(self.ranges.of(self.store, *second), *scale);
                let (low, high) = divided((None, high.and_then(|high| high.checked_add(*more))), *factor);
                self.suppose_between(*first, &Between { low, high, ..Between::default() }, supposed);
                let (low, _) = multiplied(self.ranges.of(self.store, *first), *factor);
                let (low, high) = divided((low.and_then(|low| low.checked_sub(*more)), None), *scale);
                self.suppose_between(*second, &Between { low, high, ..Between::default() }, supposed);
                if supposed.never {
                    return;
                }
            }
        }
    }
}

impl Values<'_> {
    /// A value that a lane loads, without what is undefined, where counting shows that it is defined.
    pub(crate) fn defined_by_counting(&mut self, lane: Lane, value: Value) -> Value {
        let Values { terms: ValueTerms { store, packed, guards, .. }, congruence, .. } = self;
        let guard = guards.of(lane);
        guards.defined_by_counting(Terms { store, congruence }, packed, guard, value)
    }
}

impl UnderGuards<'_> {
    /// The values that an integer may have where the guard of a lane holds, ascending, by counting, if comparisons of
    /// other values than integers decide it; `None` where nothing is counted, it is no function of few conditions, or has
    /// more values than `most`.
    pub(crate) fn values_by_counting(
        &mut self,
        congruence: &mut Congruence,
        lane: Lane,
        integer: TermId,
        most: usize,
    ) -> Option<Vec<i128>> {
        if self.integers_below(integer).is_some() {
            return None;
        }
        let guard = self.guards.of(lane);
        let given = self.guards.counted(Terms { store: self.store, congruence }, guard)?;
        let decisions = self.guards.decisions.as_mut()?.get_mut();
        let of = decisions.of(self.store, congruence, integer)?;
        decisions.diagrams().values(of, given, most)
    }
}
