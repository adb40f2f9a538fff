//! Cones: terms that are functions of one other term, evaluated on pieces of its set. Where a value is used several
//! times, as in the code of `expf`, an interval of a whole set loses how the uses depend on one another; on small
//! pieces little is lost.

use std::collections::BTreeSet;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::set::{FloatSet, Raised};
use super::{Analysis, Effort, Known, KnownFunction, Survey, TooMany, is_undecided, step, truth};
use crate::bits::form::{key_of_term, operands_of};
use crate::number::Extended;
use crate::term::{Range, Store, TermId, TermOp, View};

/// At most so many terms.
const LARGEST: usize = 512;

/// The codes of functions have at least so many words of structure.
const SHORTEST: usize = 32;

/// At most so many pieces are looked at because an operation may leave the numbers on them.
const PIECES_OF_DEPARTURES: usize = 160;

/// At most so many pieces are looked at to find the least and the greatest value.
const PIECES_OF_BOUNDS: usize = 192;

/// A term as a function of another.
#[derive(Clone, Debug)]
pub(super) struct Cone {
    /// The other term.
    pub(super) base: TermId,
    /// All terms from there to the term itself, which is the last; each after its operands.
    terms: Vec<TermId>,
    /// The positions of these.
    places: FxHashMap<TermId, usize>,
    /// What it computes, whatever the base is; `None` if it is not compared.
    pub(super) structure: Option<Rc<[u64]>>,
}

/// What a cone computes, and the set of its base.
type ConeKey = (Rc<[u64]>, [u64; 3]);

/// Functions of the library, by what their code computes.
pub(super) type KnownFunctions = fn(&[u64]) -> Option<&'static KnownFunction>;

/// The results of cones, by what they compute and the set of the base.
#[derive(Debug, Default)]
pub(crate) struct ConeCache {
    known: FxHashMap<ConeKey, Rc<Outcome>>,
    /// The functions of the library by their code.
    pub(super) functions: Option<KnownFunctions>,
    /// What is assumed of those that were used.
    pub(crate) relied: BTreeSet<String>,
}

impl ConeCache {
    /// One in which the code of some functions is not looked into.
    pub(crate) fn knowing(functions: fn(&[u64]) -> Option<&'static KnownFunction>) -> ConeCache {
        ConeCache { functions: Some(functions), ..ConeCache::default() }
    }

    /// The function that a cone is the code of.
    pub(super) fn function(&self, cone: &Cone) -> Option<&'static KnownFunction> {
        let structure = cone.structure.as_deref().filter(|words| words.len() >= SHORTEST)?;
        self.functions?(structure)
    }
}

/// What is known of an operation of a cone.
#[derive(Clone, Debug)]
struct Inner {
    value: Known,
    raised: Raised,
    operands: SmallVec<[FloatSet; 3]>,
}

/// What a cone gives for a set of its base.
#[derive(Clone, Debug)]
struct Outcome {
    value: Known,
    /// Of each term that is used.
    inner: Vec<Option<Inner>>,
    undecided: bool,
}

impl Cone {
    /// The terms between two; `None` if there are too many.
    pub(super) fn of(
        store: &Store,
        term: TermId,
        base: TermId,
        effort: &mut Effort,
    ) -> Result<Option<Cone>, TooMany> {
        let mut places: FxHashMap<TermId, usize> = FxHashMap::default();
        let mut terms = Vec::new();
        let mut work = vec![term];
        while let Some(next) = work.last().copied() {
            if next == base || places.contains_key(&next) {
                work.pop();
                continue;
            }
            effort.spend(1)?;
            let operands = inner_operands(store, next);
            let before = work.len();
            work.extend(operands.iter().filter(|of| **of != base && !places.contains_key(of)));
            if work.len() > before {
                if work.len() > LARGEST {
                    return Ok(None);
                }
                continue;
            }
            work.pop();
            places.insert(next, terms.len());
            terms.push(next);
            if terms.len() > LARGEST {
                return Ok(None);
            }
        }
        let structure = structure(store, base, &terms, &places);
        Ok(Some(Cone { base, terms, places, structure }))
    }

    /// The values of all terms for a set of the base, and which of them are used.
    fn piece(&self, store: &Store, base: Known) -> Outcome {
        let mut values: Vec<(Known, Raised)> = Vec::with_capacity(self.terms.len());
        for term in &self.terms {
            let get = |of: TermId| {
                if of == self.base {
                    return base;
                }
                let place = self.places.get(&of).filter(|place| **place < values.len());
                place.map_or(Known::Int(Range::REAL), |place| values[*place].0)
            };
            let value = step(store, *term, &get);
            values.push(value);
        }
        let get = |of: TermId| {
            if of == self.base { Some(base) } else { self.places.get(&of).map(|place| values[*place].0) }
        };
        let mut used = vec![false; self.terms.len()];
        if let Some(last) = used.last_mut() {
            *last = true;
        }
        let mut undecided = false;
        let mut inner: Vec<Option<Inner>> = vec![None; self.terms.len()];
        for at in (0..self.terms.len()).rev() {
            if !used[at] {
                continue;
            }
            let term = self.terms[at];
            let operands = inner_operands(store, term);
            undecided |= is_undecided(store, term, &get);
            let taken: &[TermId] = if store.op(term) == Some(TermOp::Select) {
                match get(operands[0]).and_then(|condition| truth(condition.range())) {
                    Some(true) => &operands[..2],
                    Some(false) => &[operands[0], operands[2]],
                    None => &operands,
                }
            } else {
                &operands
            };
            for operand in taken {
                if let Some(place) = self.places.get(operand) {
                    used[*place] = true;
                }
            }
            let (value, raised) = values[at];
            let operands = operands.iter().filter_map(|operand| get(*operand)?.float()).collect();
            inner[at] = Some(Inner { value, raised, operands });
        }
        let value = values.last().map_or(Known::Int(Range::REAL), |(value, _)| *value);
        Outcome { value, inner, undecided }
    }

    /// What the cone gives for a set of its base.
    fn outcome(&self, store: &Store, base: Known, effort: &mut Effort) -> Result<Outcome, TooMany> {
        let cost = self.terms.len() as u64;
        let Some(set) = base.float().filter(|set| !set.is_point() && set.finite.is_some()) else {
            effort.spend(cost)?;
            return Ok(self.piece(store, base));
        };
        let mut pieces: Vec<(FloatSet, Outcome)> = Vec::new();
        let mut rest = set;
        rest.finite = None;
        if rest != FloatSet::EMPTY {
            for alone in [
                FloatSet { plus: true, ..FloatSet::EMPTY },
                FloatSet { minus: true, ..FloatSet::EMPTY },
                FloatSet { nan: true, ..FloatSet::EMPTY },
            ] {
                if alone.or(rest) == rest {
                    effort.spend(cost)?;
                    pieces.push((alone, self.piece(store, Known::Float(alone))));
                }
            }
        }
        let numbers = FloatSet { finite: set.finite, ..FloatSet::EMPTY };
        effort.spend(cost)?;
        pieces.push((numbers, self.piece(store, Known::Float(numbers))));
        let mut idle = 0;
        for round in 0..PIECES_OF_DEPARTURES + PIECES_OF_BOUNDS {
            let leaves = |piece: &Outcome| piece.inner.iter().flatten().any(|inner| inner.raised.any());
            let width =
                |set: &FloatSet| middle(*set).map(|_| set.finite.map_or(0.0, |[low, high]| high - low));
            let widest = pieces.iter().enumerate().filter(|(_, (_, piece))| leaves(piece));
            let widest = widest.filter_map(|(at, (set, _))| Some((at, width(set)?)));
            let widest = widest.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at);
            let departing = widest.filter(|_| round < PIECES_OF_DEPARTURES);
            let ends = |piece: &Outcome| {
                let set = piece.value.float()?;
                set.finite.map(|[low, high]| if round % 2 == 0 { high } else { -low })
            };
            // A piece whose values are near to one another cannot be much narrower.
            let is_narrow = |piece: &Outcome| {
                let set = piece.value.float().and_then(|set| set.finite);
                set.is_some_and(|[low, high]| high - low <= high.max(-low) / 512.0)
            };
            let extreme = pieces.iter().enumerate().filter(|(_, (set, _))| middle(*set).is_some());
            let extreme = extreme.filter_map(|(at, (_, piece))| Some((at, ends(piece)?)));
            let extreme = extreme.max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| at);
            let extreme = extreme.filter(|at| !is_narrow(&pieces[*at].1));
            let Some(at) = departing.or(extreme.filter(|_| round < PIECES_OF_BOUNDS || widest.is_some()))
            else {
                idle += 1;
                if idle > 1 {
                    break;
                }
                continue;
            };
            idle = 0;
            let (set, _) = pieces[at];
            let Some((middle, [low, high])) = middle(set).zip(set.finite) else { break };
            effort.spend(2 * cost)?;
            let halves = [FloatSet::between(low, middle), FloatSet::between(middle, high)];
            let [one, other] = halves.map(|half| (half, self.piece(store, Known::Float(half))));
            pieces[at] = one;
            pieces.push(other);
        }
        let mut all = pieces.into_iter().map(|(_, piece)| piece);
        let Some(mut whole) = all.next() else { return Ok(self.piece(store, base)) };
        for piece in all {
            whole.value = whole.value.or(piece.value);
            whole.undecided |= piece.undecided;
            for (known, more) in whole.inner.iter_mut().zip(piece.inner) {
                match (known.as_mut(), more) {
                    (Some(known), Some(more)) => {
                        known.value = known.value.or(more.value);
                        known.raised = known.raised.or(more.raised);
                        for (set, more) in known.operands.iter_mut().zip(more.operands) {
                            *set = set.or(more);
                        }
                    }
                    // Whether it is used is not the same everywhere.
                    (None, Some(more)) => {
                        *known = Some(more);
                        whole.undecided = true;
                    }
                    (Some(_), None) => whole.undecided = true,
                    (None, None) => {}
                }
            }
        }
        Ok(whole)
    }
}

/// The operands of a term, none of a known number.
fn inner_operands(store: &Store, term: TermId) -> SmallVec<[TermId; 3]> {
    if store.as_ieee_number(term).is_some() { SmallVec::new() } else { operands_of(store, term) }
}

/// What a term computes of another, as a key: equal keys are equal functions.
pub(crate) fn structure_of(store: &Store, term: TermId, base: TermId) -> Option<Rc<[u64]>> {
    let mut effort = Effort(LARGEST as u64 * 4);
    Cone::of(store, term, base, &mut effort).ok()??.structure
}

/// What the terms of a cone compute, so that equal structures are equal functions.
fn structure(
    store: &Store,
    base: TermId,
    terms: &[TermId],
    places: &FxHashMap<TermId, usize>,
) -> Option<Rc<[u64]>> {
    let mut words = Vec::with_capacity(4 * terms.len());
    for term in terms {
        if let Some(value) = store.as_ieee_number(*term) {
            words.extend([1, value.to_bits()]);
            continue;
        }
        match store.view(*term) {
            View::Input { .. } => return None,
            View::Constant(constant) => match &constant.exact {
                Extended::Finite(number) if constant.literal.is_none() => {
                    let (num, den) = number.to_small_parts()?;
                    words.extend([2, num as u64, den]);
                }
                Extended::Finite(_) | Extended::PosInf | Extended::NegInf => return None,
            },
            View::Apply(op, _) => {
                match key_of_term(store, *term) {
                    Some(key) => words.extend([3, key.number() as u64]),
                    None => words.extend([4, op as u64]),
                }
                for operand in inner_operands(store, *term) {
                    words.push(if operand == base { u64::MAX } else { *places.get(&operand)? as u64 });
                }
            }
        }
    }
    Some(words.into())
}

/// A number that divides a set in two.
fn middle(set: FloatSet) -> Option<f64> {
    let [low, high] = set.finite?;
    let middle = if low < 0.0 && high > 0.0 {
        0.0
    } else if low.max(-high) <= 0.0 {
        // One end is zero.
        let far = if high > 0.0 { high } else { low };
        if far.abs() < 1e-45 {
            0.0
        } else if far.abs() > 64.0 {
            far.abs().sqrt().copysign(far)
        } else {
            far / 4.0
        }
    } else if (high / low).max(low / high) > 4.0 {
        let root = (low.abs().sqrt() * high.abs().sqrt()).abs();
        if low < 0.0 { -root } else { root }
    } else {
        low / 2.0 + high / 2.0
    };
    (low < middle && middle < high).then_some(middle)
}

impl Analysis<'_, '_> {
    /// What a cone gives.
    pub(super) fn cone(&mut self, cone: &Cone, survey: &mut Survey) -> Result<Known, TooMany> {
        let base = self.known.get(&cone.base).copied().unwrap_or(Known::Int(Range::REAL));
        if let Some(function) = self.cones.function(cone)
            && let Some(term) = cone.terms.last()
            && let Some(set) = base.float().and_then(|set| function.apply(set))
        {
            self.cones.relied.insert(function.claim.clone());
            let value = Known::Float(set);
            self.note(*term, value, Raised::NONE, base.float().into_iter().collect(), survey);
            return Ok(value);
        }
        let outcome = self.outcome_of(cone, base)?;
        survey.undecided |= outcome.undecided;
        for (term, inner) in cone.terms.iter().zip(&outcome.inner) {
            if let Some(Inner { value, raised, operands }) = inner {
                if let Some(within) = &mut self.within {
                    within.entry(*term).and_modify(|known| *known = known.or(*value)).or_insert(*value);
                }
                self.note(*term, *value, *raised, operands.clone(), survey);
            }
        }
        Ok(outcome.value)
    }

    /// The value of a term as a function of another, where that has this set.
    pub(super) fn value_at(
        &mut self,
        term: TermId,
        base: TermId,
        set: FloatSet,
    ) -> Result<Option<FloatSet>, TooMany> {
        let Some(cone) = Cone::of(self.store, term, base, self.effort)? else { return Ok(None) };
        Ok(self.outcome_of(&cone, Known::Float(set))?.value.float())
    }

    /// Whether a term is a given function of another at all of these points.
    pub(super) fn is_function(
        &mut self,
        term: TermId,
        base: TermId,
        points: &[(f64, f64)],
    ) -> Result<bool, TooMany> {
        let Some(cone) = Cone::of(self.store, term, base, self.effort)? else { return Ok(false) };
        for (at, value) in points {
            let known = self.outcome_of(&cone, Known::Float(FloatSet::value(*at)))?.value;
            if known.float() != Some(FloatSet::value(*value)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn outcome_of(&mut self, cone: &Cone, base: Known) -> Result<Rc<Outcome>, TooMany> {
        let key = cone.structure.clone().zip(base.float()).map(|(structure, set)| {
            let [low, high] = set.finite.unwrap_or([f64::NAN; 2]);
            let flags = u64::from(set.plus) | u64::from(set.minus) << 1 | u64::from(set.nan) << 2;
            (structure, [low.to_bits(), high.to_bits(), flags])
        });
        if let Some(known) = key.as_ref().and_then(|key| self.cones.known.get(key)) {
            return Ok(known.clone());
        }
        let outcome = Rc::new(cone.outcome(self.store, base, self.effort)?);
        if let Some(key) = key {
            self.cones.known.insert(key, outcome.clone());
        }
        Ok(outcome)
    }
}
