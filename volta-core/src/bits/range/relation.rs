//! Relations between terms, where intervals are too wide: no operand of a maximum is larger than the maximum, and a
//! sum of numbers that are not negative is at least each of them.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::approximate::divides_by_subnormal;
use super::set::FloatSet;
use super::{Analysis, TooMany};
use crate::bits::form::{key_of_term, operands_of};
use crate::number::format::{Format, Rounding, mantissa_bits};
use crate::term::{IeeeKey, IeeeOp, Store, TermId, least_normal};

/// What a maximum is at least, and what it is one of.
#[derive(Clone, Debug, Default)]
pub(super) struct Maximum {
    /// All maxima and operands below it, and itself.
    below: FxHashSet<TermId>,
    /// Its operands that are no maxima, in ascending order: it is one of them.
    one_of: Vec<TermId>,
    /// Whether an operand may have been flushed to zero.
    flushes: bool,
}

/// What a sum of numbers that are not negative is at least.
#[derive(Clone, Debug, Default)]
pub(super) struct Summands {
    /// Its summands.
    terms: FxHashSet<TermId>,
    /// The factors of those that are fused with it, the smaller one first, the format and the rounding, and whether
    /// they are flushed.
    products: FxHashSet<([TermId; 2], Format, Rounding, bool)>,
    /// Whether subnormal summands, or sums of some, may have been flushed to zero.
    flushes: bool,
}

/// At most so many dominators of a summand are looked at.
const DOMINATORS: usize = 8;

/// The operands of a difference `a − b`.
fn difference(store: &Store, term: TermId) -> Option<(IeeeKey, TermId, TermId)> {
    let key = key_of_term(store, term).filter(|key| key.op == IeeeOp::Add)?;
    let operands = operands_of(store, term);
    let [a, b] = operands.as_slice() else { return None };
    let negated = |term: TermId| {
        let own = key_of_term(store, term).filter(|key| key.op == IeeeOp::Neg)?;
        (!own.flush || key.flush).then(|| operands_of(store, term).first().copied()).flatten()
    };
    match (negated(*b), negated(*a)) {
        (Some(b), _) => Some((key, *a, b)),
        (None, Some(a)) => Some((key, *b, a)),
        (None, None) => None,
    }
}

impl Analysis<'_, '_> {
    /// The operands of a maximum, through maxima of maxima.
    fn maximum(&mut self, root: TermId) -> Result<Rc<Maximum>, TooMany> {
        if let Some(known) = self.maxima.get(&root) {
            return Ok(known.clone());
        }
        let mut maximum = Maximum::default();
        let mut work = vec![root];
        while let Some(term) = work.pop() {
            if !maximum.below.insert(term) {
                continue;
            }
            self.effort.spend(1)?;
            match key_of_term(self.store, term) {
                Some(key) if matches!(key.op, IeeeOp::Max | IeeeOp::MaxNan) => {
                    maximum.flushes |= key.flush;
                    work.extend(operands_of(self.store, term));
                }
                Some(_) | None => maximum.one_of.push(term),
            }
        }
        maximum.one_of.sort_unstable();
        let maximum = Rc::new(maximum);
        self.maxima.insert(root, maximum.clone());
        Ok(maximum)
    }

    /// The operands of a difference of a number and a maximum that it is an operand of, with that.
    fn below_maximum(&mut self, term: TermId) -> Result<Option<(TermId, Rc<Maximum>)>, TooMany> {
        let Some((key, x, m)) = difference(self.store, term) else { return Ok(None) };
        let is_maximum =
            key_of_term(self.store, m).is_some_and(|key| matches!(key.op, IeeeOp::Max | IeeeOp::MaxNan));
        if !is_maximum {
            return Ok(None);
        }
        let maximum = self.maximum(m)?;
        let holds = maximum.below.contains(&x) && (key.flush || !maximum.flushes);
        Ok(holds.then_some((x, maximum)))
    }

    /// Whether a term is a difference that is never positive, since the subtrahend is a maximum of the minuend and
    /// others. Rounding keeps the sign of a difference.
    pub(super) fn is_below_maximum(&mut self, term: TermId) -> Result<bool, TooMany> {
        Ok(self.below_maximum(term)?.is_some())
    }

    /// The summands of a sum of numbers that are not negative. Rounding does not make a sum less than a summand, but for
    /// what is subnormal, which may be flushed to zero.
    fn summands(&mut self, root: TermId) -> Result<Rc<Summands>, TooMany> {
        if let Some(known) = self.summands.get(&root) {
            return Ok(known.clone());
        }
        let mut found = Summands::default();
        let mut work = vec![root];
        while let Some(term) = work.pop() {
            self.effort.spend(1)?;
            if !found.terms.insert(term) {
                continue;
            }
            let Some(key) = key_of_term(self.store, term) else { continue };
            let operands = operands_of(self.store, term);
            if !operands.iter().all(|operand| self.known_set(*operand).is_some_and(FloatSet::is_natural)) {
                continue;
            }
            match (key.op == IeeeOp::Add, key.op == IeeeOp::Fma, operands.as_slice()) {
                (true, _, [a, b]) => work.extend([*a, *b]),
                (_, true, [a, b, c]) => {
                    let factors = [*a.min(b), *a.max(b)];
                    found.products.insert((factors, key.format, key.rounding, key.flush));
                    work.push(*c);
                }
                _ => continue,
            }
            found.flushes |= key.flush;
        }
        let found = Rc::new(found);
        self.summands.insert(root, found.clone());
        Ok(found)
    }

    /// The largest number that a quotient may be since its divisor is a sum, and its dividend a summand of that: as a
    /// quotient, or as a product with a reciprocal.
    #[expect(clippy::wildcard_enum_match_arm, reason = "only quotients and products have parts of sums")]
    pub(super) fn most_of_part(&mut self, term: TermId) -> Result<Option<f64>, TooMany> {
        let Some(key) = key_of_term(self.store, term) else { return Ok(None) };
        let operands = operands_of(self.store, term);
        let [a, b] = operands.as_slice() else { return Ok(None) };
        let divisor = |of: TermId| {
            let own = key_of_term(self.store, of).filter(|own| own.format == key.format)?;
            match (own.op, operands_of(self.store, of).as_slice()) {
                (IeeeOp::Rcp, [b]) if own.format == Format::F32 => Some(*b),
                (IeeeOp::Div, [one, b]) if self.store.as_ieee_number(*one) == Some(1.0) => Some(*b),
                _ => None,
            }
        };
        let pairs: SmallVec<[(TermId, TermId); 2]> = match key.op {
            IeeeOp::Div | IeeeOp::DivApprox | IeeeOp::DivFull => smallvec![(*a, *b)],
            IeeeOp::Mul => {
                let both = [(*a, divisor(*b)), (*b, divisor(*a))];
                both.into_iter().filter_map(|(part, sum)| Some((part, sum?))).collect()
            }
            _ => return Ok(None),
        };
        for (part, sum) in pairs {
            let sets = (self.known_set(part), self.known_set(sum));
            let (Some(own), Some(whole)) = sets else { continue };
            if !own.is_natural() || !whole.is_natural() || divides_by_subnormal(key, whole) {
                continue;
            }
            let summands = self.summands(sum)?;
            // A normal sum is above all that was flushed on the way to it.
            let is_normal = whole.finite.is_some_and(|[low, _]| low >= least_normal(key.format));
            if summands.flushes && !is_normal {
                continue;
            }
            // A product that is fused with the sum is rounded with it, and the sum is not less than it rounded alone,
            // unless a factor was flushed there only.
            let product = key_of_term(self.store, part).filter(|own| own.op == IeeeOp::Mul);
            let fused = product.is_some_and(|own| match operands_of(self.store, part).as_slice() {
                [a, b] => [false, own.flush].into_iter().any(|flush| {
                    let factors = [*a.min(b), *a.max(b)];
                    summands.products.contains(&(factors, own.format, own.rounding, flush))
                }),
                _ => false,
            });
            if fused || summands.terms.contains(&part) {
                // Both operations, and an approximation, are off by a few units in the last place.
                let unit = f64::powi(2.0, -(mantissa_bits(key.format) as i32));
                let exact = key.op == IeeeOp::Div;
                return Ok(Some(if exact { 1.0 } else { 1.0 + 8.0 * unit }));
            }
        }
        Ok(None)
    }

    /// Narrows the set of an operand that is a sum.
    pub(super) fn tighten(&mut self, user: TermId, term: TermId) -> Result<(), TooMany> {
        let adds = |of: TermId| {
            key_of_term(self.store, of).is_some_and(|key| matches!(key.op, IeeeOp::Add | IeeeOp::Fma))
        };
        if !adds(term) || adds(user) || self.tightened.contains(&term) {
            return Ok(());
        }
        self.tightened.insert(term);
        let Some(set) = self.known.get(&term).and_then(|known| known.float()) else { return Ok(()) };
        if !set.is_natural() {
            return Ok(());
        }
        if let Some(least) = self.least_of_sum(term)? {
            self.known.insert(term, super::Known::Float(set.within(least, f64::INFINITY)));
        }
        Ok(())
    }

    /// A positive lower bound of a sum of functions of differences from one maximum: at least one of the differences
    /// is zero, and the sum is not less than the function's value there. Rounding does not make a sum of numbers that
    /// are not negative less than one of them.
    fn least_of_sum(&mut self, root: TermId) -> Result<Option<f64>, TooMany> {
        let (mut work, mut seen) = (vec![root], FxHashSet::default());
        let format = key_of_term(self.store, root).map(|key| key.format);
        let floor = format.map_or(f64::INFINITY, least_normal);
        // What is subtracted from, and the least value at zero, by the operands of the maximum.
        let mut covered: FxHashMap<Vec<TermId>, (FxHashSet<TermId>, f64)> = FxHashMap::default();
        while let Some(term) = work.pop() {
            self.effort.spend(1)?;
            if !self.known_set(term).is_some_and(FloatSet::is_natural) {
                return Ok(None);
            }
            let operands = operands_of(self.store, term);
            let op = key_of_term(self.store, term).map(|key| key.op);
            let known = operands.iter().all(|operand| self.known.contains_key(operand));
            // The factors of a summand: itself, or those of a fused product.
            let factors: SmallVec<[TermId; 2]> = match (op, operands.as_slice()) {
                (Some(IeeeOp::Add), [a, b]) if known => {
                    if seen.insert(term) {
                        work.extend([*a, *b]);
                    }
                    continue;
                }
                (Some(IeeeOp::Fma), [a, b, c]) if known => {
                    if !seen.insert(term) {
                        continue;
                    }
                    work.push(*c);
                    smallvec![*a, *b]
                }
                _ => smallvec![term],
            };
            if !factors.iter().all(|factor| self.known_set(*factor).is_some_and(FloatSet::is_natural)) {
                return Ok(None);
            }
            let mut at = match factors.as_slice() {
                [a, b] if self.dominated(*a).is_some() && self.dominated(*b).is_some() => {
                    self.common(Some(*a), Some(*b))?
                }
                all => all.iter().find(|factor| self.dominated(**factor).is_some()).copied(),
            };
            for _ in 0..DOMINATORS {
                let Some(base) = at else { break };
                if let Some((x, maximum)) = self.below_maximum(base)? {
                    if let Some(least) = self.product_at_zero(&factors, base, floor)? {
                        let fresh = (FxHashSet::default(), f64::INFINITY);
                        let own = covered.entry(maximum.one_of.clone()).or_insert(fresh);
                        own.0.insert(x);
                        own.1 = own.1.min(least);
                    }
                    break;
                }
                at = self.dominated(base).and_then(|own| own.by);
            }
        }
        let mut best: Option<f64> = None;
        for (one_of, (covers, least)) in covered {
            let sets: Option<Vec<(TermId, FloatSet)>> =
                one_of.iter().map(|term| Some((*term, self.known_set(*term)?))).collect();
            let Some(sets) = sets else { continue };
            // The maximum is one of those that are covered, if the others are not larger.
            let lowest = sets.iter().filter(|(term, _)| covers.contains(term));
            let lowest = lowest.filter_map(|(_, set)| set.finite).map(|[low, _]| low).reduce(f64::max);
            let dominated = |set: &FloatSet| {
                !set.plus
                    && !set.nan
                    && set.finite.is_none_or(|[_, high]| lowest.is_some_and(|low| high <= low))
            };
            let holds = sets.iter().all(
                |(term, set)| {
                    if covers.contains(term) { set.is_finite() } else { dominated(set) }
                },
            );
            if holds && lowest.is_some() && least >= floor {
                best = Some(best.map_or(least, |best| best.max(least)));
            }
        }
        Ok(best)
    }

    /// The least value of a product of functions of one term, where that is zero; none if a factor may be below `floor`.
    fn product_at_zero(
        &mut self,
        factors: &[TermId],
        base: TermId,
        floor: f64,
    ) -> Result<Option<f64>, TooMany> {
        let mut product = 1.0f64;
        for factor in factors {
            let set = if self.dominated(*factor).is_none() {
                self.known_set(*factor)
            } else {
                self.value_at(*factor, base, FloatSet::value(0.0))?
            };
            let Some([least, _]) = set.filter(|set| set.is_natural()).and_then(|set| set.finite) else {
                return Ok(None);
            };
            // A factor that is subnormal may be flushed.
            if least < floor {
                return Ok(None);
            }
            product *= least;
        }
        // A fused product is rounded with its sum: by less than this in each format.
        if factors.len() > 1 && product != 1.0 {
            product *= 63.0 / 64.0;
        }
        Ok(Some(product))
    }

    pub(super) fn known_set(&self, term: TermId) -> Option<FloatSet> {
        match self.store.as_ieee_number(term) {
            Some(value) => Some(FloatSet::value(value)),
            None => self.known.get(&term)?.float(),
        }
    }
}
