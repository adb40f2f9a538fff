//! Conditions under which threads execute where an input decides (rule S1).
//!
//! A thread that no input has led astray executes under the guard that always holds, which costs nothing.

use super::assignments::{Assignments, MAX_VALUES};
use super::indexed::{Indexed, indexed};
use crate::base::index::number_of;
use crate::base::lane::Lane;
use crate::number::Rational;
use crate::program::InstId;
use crate::term::{Congruence, Decisions, Diagram, InputId, Store, TermId, TermKind, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::sync::Arc;

/// A condition that holds, or one that does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Literal {
    pub(crate) condition: TermId,
    pub(crate) holds: bool,
}

impl Literal {
    /// The literal as a condition.
    pub(crate) fn term(self, store: &mut Store) -> TermId {
        if self.holds {
            return self.condition;
        }
        store.apply(TermOp::Not, &[self.condition], InstId(u32::MAX))
    }

    /// The literal that holds where this one does not.
    pub(crate) fn negated(self) -> Literal {
        Literal { holds: !self.holds, ..self }
    }
}

/// A conjunction of literals, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Guard(u32);

impl Guard {
    /// The guard that always holds.
    pub(crate) const ALWAYS: Guard = Guard(0);
}

/// That a term is an integer: what two guards may disagree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Value {
    of: TermId,
    is: i64,
}

impl Value {
    /// The same, if the term is an element of an input.
    fn of_input(self) -> Option<Is> {
        match self.of.kind() {
            TermKind::Input { input, element } => Some(Is { input, element, value: self.is }),
            TermKind::Lane(..) | TermKind::Constant(_) => None,
        }
    }
}

/// That an element of an input is an integer: a value that means the same in all CTAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Is {
    pub(crate) input: InputId,
    pub(crate) element: u64,
    pub(crate) value: i64,
}

impl Is {
    /// Whether no input has both values, where the elements of some inputs differ from one another.
    pub(crate) fn excludes(self, other: Is, distinct: &[InputId]) -> bool {
        self.input == other.input
            && match self.element == other.element {
                true => self.value != other.value,
                false => self.value == other.value && distinct.contains(&self.input),
            }
    }
}

/// A guard other than the first: that of the code around it, and one more literal.
#[derive(Clone, Debug)]
struct Narrowed {
    outer: Guard,
    /// The number of literals.
    depth: u32,
    literal: Literal,
    /// The literal as a value, if it says that a term is an integer.
    value: Option<Value>,
    /// The literal as a relation of two terms, if it is one.
    relation: Option<Relation>,
    /// The guard, or a weaker one, as a function of what decides it.
    counted: Option<Diagram>,
}

/// How an element of an input, whichever it is, is compared with a number, and with which outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Comparison {
    op: TermOp,
    input: InputId,
    number: TermId,
    is_first: bool,
    holds: bool,
}

impl Comparison {
    /// The comparison that a literal is.
    pub(crate) fn of(store: &Store, Literal { condition, holds }: Literal) -> Option<Comparison> {
        let View::Apply(op, [a, b, _]) = store.view(condition) else { return None };
        if op == TermOp::Not {
            return Comparison::of(store, Literal { condition: a, holds: !holds });
        }
        if !matches!(op, TermOp::Equal | TermOp::Less | TermOp::LessEqual) {
            return None;
        }
        let (input, number, is_first) = match (a.kind(), b.kind()) {
            (TermKind::Input { input, .. }, TermKind::Constant(_)) => (input, b, true),
            (TermKind::Constant(_), TermKind::Input { input, .. }) => (input, a, false),
            _ => return None,
        };
        Some(Comparison { op, input, number, is_first, holds })
    }
}

/// The terms of a CTA.
pub(crate) struct Terms<'t> {
    pub(crate) store: &'t mut Store,
    pub(crate) congruence: &'t mut Congruence,
}

/// The guards of a CTA, and those under which the lanes of the running warp execute.
#[derive(Debug)]
pub(crate) struct Guards {
    /// What holds wherever the CTA runs: a run may be about some inputs only.
    premises: Vec<Narrowed>,
    narrowed: Vec<Narrowed>,
    numbers: FxHashMap<(Guard, Literal), Guard>,
    /// Whether some input may fulfil a guard, as far as is known.
    pub(crate) feasible: FxHashMap<Guard, bool>,
    /// Comparisons of elements of inputs with numbers that may hold, or not, for some input.
    may_hold: FxHashSet<Comparison>,
    /// The values that integers may have where a guard holds, of at most so many each; and how many are remembered.
    pub(crate) assignments: FxHashMap<(Guard, usize), Arc<Assignments>>,
    pub(crate) remembered: usize,
    /// How many values of integers have been tried one by one.
    pub(crate) enumerated: usize,
    /// Guards that are known not to hold together, the first one first.
    apart: FxHashSet<(Guard, Guard)>,
    /// The elements of inputs that conditions depend on.
    pub(crate) inputs_below: FxHashMap<TermId, Arc<[TermId]>>,
    current: [Guard; 32],
    /// Whether some lane executes under another guard than the first.
    narrow: bool,
    /// What conditions and integers are as functions of what decides them, where that is to be found by counting.
    pub(crate) decisions: Option<RefCell<Decisions>>,
    /// While an access is executed at each of several addresses: the number of literals around it.
    pub(crate) around_cases: Option<u32>,
    /// While lanes that store the same value together do so at each of several addresses: see
    /// [`alike`](crate::concurrency::race::Under::alike).
    pub(crate) alike: Option<u32>,
    /// While contents are stored that are right whether or not the guard holds.
    pub(crate) holds_in_contents: bool,
    /// Inputs whose elements differ from one another.
    distinct: Vec<InputId>,
}

impl Guards {
    pub(crate) fn new(distinct: Vec<InputId>, by_counting: bool) -> Guards {
        let current = [Guard::ALWAYS; 32];
        Guards {
            premises: Vec::new(),
            narrowed: Vec::new(),
            numbers: FxHashMap::default(),
            feasible: FxHashMap::default(),
            may_hold: FxHashSet::default(),
            assignments: FxHashMap::default(),
            remembered: 0,
            enumerated: 0,
            apart: FxHashSet::default(),
            inputs_below: FxHashMap::default(),
            decisions: by_counting.then(RefCell::default),
            current,
            narrow: false,
            around_cases: None,
            alike: None,
            holds_in_contents: false,
            distinct,
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        let own = self.narrowed.len() * 2 * size_of::<Narrowed>() + self.remembered * 64;
        own as u64 + self.decisions.as_ref().map_or(0, |decisions| decisions.borrow().bytes())
    }

    /// Supposes literals for the whole run, before it begins.
    pub(crate) fn suppose(&mut self, terms: Terms<'_>, literals: &[Literal]) {
        self.where_all(terms, literals);
        self.premises.extend(self.narrowed.drain(..).map(|part| Narrowed {
            depth: 0,
            counted: None,
            ..part
        }));
        self.numbers.clear();
    }

    /// Whether the run is about some inputs only.
    pub(crate) fn have_premises(&self) -> bool {
        !self.premises.is_empty()
    }

    /// What holds wherever the CTA runs.
    pub(crate) fn premises(&self) -> impl Iterator<Item = Literal> {
        self.premises.iter().map(|part| part.literal)
    }

    /// Whether some lane executes under a condition.
    #[inline]
    pub(crate) fn are_narrow(&self) -> bool {
        self.narrow
    }

    /// The guard of a lane.
    #[inline]
    pub(crate) fn of(&self, lane: Lane) -> Guard {
        self.current[lane]
    }

    /// The guards of all lanes.
    pub(crate) fn all(&self) -> [Guard; 32] {
        self.current
    }

    /// Restores the guards of all lanes.
    pub(crate) fn restore(&mut self, guards: [Guard; 32]) {
        self.current = guards;
        self.narrow = guards != [Guard::ALWAYS; 32];
    }

    /// Whether a comparison is known to hold for some input, for whichever element.
    pub(crate) fn is_known_to_hold(&self, comparison: Comparison) -> bool {
        self.may_hold.contains(&comparison)
    }

    /// Notes that a comparison may hold: elements of one input have one range.
    pub(crate) fn know_to_hold(&mut self, comparison: Comparison) {
        self.may_hold.insert(comparison);
    }

    /// The guard of a lane, narrowed by one more condition.
    pub(crate) fn narrower(&mut self, terms: Terms<'_>, lane: Lane, condition: TermId, holds: bool) -> Guard {
        self.narrowed(terms, self.current[lane], condition, holds)
    }

    /// Narrows the guard of a lane by one more condition.
    pub(crate) fn narrow(&mut self, terms: Terms<'_>, lane: Lane, condition: TermId, holds: bool) {
        self.current[lane] = self.narrowed(terms, self.current[lane], condition, holds);
        self.narrow |= self.current[lane] != Guard::ALWAYS;
    }

    /// The guard that holds where a literal does.
    pub(crate) fn only(&mut self, terms: Terms<'_>, literal: Literal) -> Guard {
        self.narrowed(terms, Guard::ALWAYS, literal.condition, literal.holds)
    }

    /// The guard that holds where all of these literals do.
    pub(crate) fn where_all(&mut self, terms: Terms<'_>, literals: &[Literal]) -> Guard {
        let Terms { store, congruence } = terms;
        literals.iter().fold(Guard::ALWAYS, |guard, Literal { condition, holds }| {
            self.narrowed(Terms { store, congruence }, guard, *condition, *holds)
        })
    }

    /// A guard narrowed by one more condition.
    fn narrowed(&mut self, terms: Terms<'_>, outer: Guard, condition: TermId, holds: bool) -> Guard {
        let Terms { store, congruence } = terms;
        let condition = congruence.representative(store, condition);
        let known = self.decides(outer, condition);
        if known == Some(holds) {
            return outer;
        }
        if let (None, View::Apply(op, [a, b, _])) = (known, store.view(condition)) {
            match (op, holds) {
                (TermOp::Not, _) => return self.narrowed(Terms { store, congruence }, outer, a, !holds),
                // One form for a comparison and its negation.
                (TermOp::LessEqual, _) => {
                    let less = store.apply(TermOp::Less, &[b, a], InstId(u32::MAX));
                    return self.narrowed(Terms { store, congruence }, outer, less, !holds);
                }
                (TermOp::And, true) | (TermOp::Or, false) => {
                    let outer = self.narrowed(Terms { store, congruence }, outer, a, holds);
                    return self.narrowed(Terms { store, congruence }, outer, b, holds);
                }
                // Of two conditions of which one is known, the other one decides.
                (TermOp::Or | TermOp::And, _) if self.have_premises() => {
                    for [known, other] in [[a, b], [b, a]] {
                        match self.settles(Terms { store, congruence }, outer, known) {
                            Some(truth) if truth == holds => return outer,
                            Some(_) => {
                                return self.narrowed(Terms { store, congruence }, outer, other, holds);
                            }
                            None => {}
                        }
                    }
                }
                _ => {}
            }
        }
        let literal = Literal { condition, holds };
        if let Some(known) = self.numbers.get(&(outer, literal)) {
            return *known;
        }
        let relation = Relation::of(store, congruence, literal);
        let depth = self.depth(outer) + 1;
        let value = relation.as_ref().and_then(Relation::value);
        self.narrowed.push(Narrowed { outer, depth, literal, value, relation, counted: None });
        let guard = Guard(number_of(self.narrowed.len()));
        self.numbers.insert((outer, literal), guard);
        if self.decisions.is_some() {
            self.counted(Terms { store, congruence }, guard);
        }
        guard
    }

    /// The literals of a guard itself, innermost first.
    fn own(&self, guard: Guard) -> impl Iterator<Item = &Narrowed> {
        let mut at = guard;
        std::iter::from_fn(move || {
            let part = self.narrowed.get((at.0 as usize).checked_sub(1)?)?;
            at = part.outer;
            Some(part)
        })
    }

    /// All literals that hold where a guard does, innermost first.
    fn parts(&self, guard: Guard) -> impl Iterator<Item = &Narrowed> {
        self.own(guard).chain(self.premises.iter().rev())
    }

    /// The literals of a guard itself, outermost first, without those that others imply.
    pub(crate) fn literals(&self, guard: Guard) -> SmallVec<[Literal; 4]> {
        let implied = |part: &Narrowed| {
            let Some(negated) = part.relation.as_ref().map(Relation::negated) else { return false };
            self.parts(guard).any(|other| {
                let excludes = |relation: &Relation| relation.excludes(&negated);
                // Of two that imply one another, the inner one goes.
                other.literal != part.literal
                    && other.relation.as_ref().is_some_and(excludes)
                    && (other.relation != part.relation || other.depth < part.depth)
            })
        };
        let kept = self.own(guard).filter(|part| !implied(part)).map(|part| part.literal);
        let mut literals: SmallVec<[Literal; 4]> = kept.collect();
        literals.reverse();
        literals
    }

    /// What is supposed and the literals of a guard, outermost first, without those that others imply.
    pub(crate) fn all_literals(&self, guard: Guard) -> Vec<Literal> {
        self.premises().chain(self.literals(guard)).collect()
    }

    /// The guard around the innermost literal, and that literal.
    pub(crate) fn outer(&self, guard: Guard) -> Option<(Guard, Literal)> {
        self.own(guard).next().map(|part| (part.outer, part.literal))
    }

    /// The innermost literals of a guard, at most so many, outermost first, without those that say what an element of an
    /// input is ([`Guards::inputs`]).
    pub(crate) fn besides_inputs(&self, guard: Guard, most: usize) -> SmallVec<[Literal; 4]> {
        let is_input = |part: &&Narrowed| part.value.is_some_and(|value| value.of_input().is_some());
        let others = self.parts(guard).filter(|part| !is_input(part)).map(|part| part.literal);
        let mut literals: SmallVec<[Literal; 4]> = others.take(most).collect();
        literals.reverse();
        literals
    }

    /// Whether a guard never holds where an element of an input is a number, by its literals alone.
    pub(crate) fn excludes_input(&self, guard: Guard, is: Is) -> bool {
        let own = Relation {
            of: TermId::input(is.input, is.element),
            to: To::Number(Rational::from_i128(is.value.into())),
            less: false,
            equal: true,
            greater: false,
        };
        self.parts(guard).any(|part| part.relation.as_ref().is_some_and(|relation| relation.excludes(&own)))
    }

    /// What the literals of a guard say of reals by integers.
    pub(crate) fn bounds_of_reals(&self, guard: Guard) -> Vec<RealBounds> {
        self.parts(guard).filter_map(|part| part.relation.as_ref()?.bounds_of_real()).collect()
    }

    /// The newest literal of a guard, if it compares what is computed with a number.
    pub(crate) fn compares_computed(&self, guard: Guard) -> Option<TermId> {
        let newest = self.own(guard).next()?;
        let Relation { of, to: To::Number(_), .. } = newest.relation.as_ref()? else { return None };
        matches!(of.kind(), TermKind::Lane(..)).then_some(newest.literal.condition)
    }

    /// Whether the newest literal of a guard compares two terms.
    pub(crate) fn compares_terms(&self, guard: Guard) -> bool {
        let newest = self.own(guard).next().and_then(|part| part.relation.as_ref());
        newest.is_some_and(|relation| matches!(relation.to, To::Term(_)))
    }

    /// The pairs of terms of which the first is less than the second by the literals of a guard, or at least not greater.
    pub(crate) fn orders(&self, guard: Guard) -> Vec<Ordered> {
        let orders = |part: &Narrowed| part.relation.as_ref().map(Relation::orders);
        self.parts(guard).filter_map(orders).flatten().collect()
    }

    /// The bounds of integers that the literals of a guard imply.
    pub(crate) fn bounds(&self, guard: Guard) -> Vec<Bounds> {
        self.parts(guard).filter_map(|part| part.relation.as_ref()?.bounds()).collect()
    }

    /// All conditions that hold or fail where a guard holds, innermost first.
    pub(crate) fn conditions(&self, guard: Guard) -> Vec<Literal> {
        self.parts(guard).map(|part| part.literal).collect()
    }

    /// The number of literals of a guard.
    pub(crate) fn depth(&self, guard: Guard) -> u32 {
        self.own(guard).next().map_or(0, |part| part.depth)
    }

    /// The literals of a guard within those of one around it, outermost first.
    pub(crate) fn within(&self, guard: Guard, outer: u32) -> SmallVec<[Literal; 4]> {
        let inner = self.own(guard).take_while(|part| part.depth > outer).map(|part| part.literal);
        let mut literals: SmallVec<[Literal; 4]> = inner.collect();
        literals.reverse();
        literals
    }

    /// Whether a condition holds wherever a guard does, as far as the literals of the guard are those of the condition.
    fn settles(&self, terms: Terms<'_>, guard: Guard, condition: TermId) -> Option<bool> {
        let Terms { store, congruence } = terms;
        let condition = congruence.representative(store, condition);
        if let Some(known) = self.decides(guard, condition) {
            return Some(known);
        }
        let View::Apply(op, [a, b, _]) = store.view(condition) else { return None };
        let mut of =
            |term| self.settles(Terms { store: &mut *store, congruence: &mut *congruence }, guard, term);
        if matches!(op, TermOp::And | TermOp::Or) {
            let ends = op == TermOp::Or;
            return match (of(a), of(b)) {
                (Some(truth), _) | (_, Some(truth)) if truth == ends => Some(ends),
                (Some(_), Some(_)) => Some(!ends),
                (_, None) | (None, _) => None,
            };
        }
        if op == TermOp::Not {
            return of(a).map(|truth| !truth);
        }
        if op != TermOp::LessEqual {
            return None;
        }
        // Guards have comparisons in one form.
        let less = store.apply(TermOp::Less, &[b, a], InstId(u32::MAX));
        let less = congruence.representative(store, less);
        self.decides(guard, less).map(|truth| !truth)
    }

    /// Whether a condition holds wherever a guard does, if the guard has it as a literal.
    pub(crate) fn decides(&self, guard: Guard, condition: TermId) -> Option<bool> {
        self.parts(guard).find(|part| part.literal.condition == condition).map(|part| part.literal.holds)
    }

    /// All that holds where a guard does, as a condition; `None` for what always holds.
    pub(crate) fn term(&self, guard: Guard, store: &mut Store) -> Option<TermId> {
        let literals = self.all_literals(guard);
        let terms: Vec<TermId> = literals.iter().map(|literal| literal.term(store)).collect();
        all_of(terms, store)
    }

    /// What elements of inputs are where a guard holds.
    pub(crate) fn inputs(&self, guard: Guard) -> SmallVec<[Is; 2]> {
        self.parts(guard).filter_map(|part| part.value?.of_input()).collect()
    }

    /// Whether a condition holds wherever a guard does, or never does there, as far as single literals show.
    pub(crate) fn implies(&mut self, terms: Terms<'_>, guard: Guard, condition: TermId) -> Option<bool> {
        let Terms { store, congruence } = terms;
        let [holds, fails] = [true, false]
            .map(|holds| self.narrowed(Terms { store, congruence }, Guard::ALWAYS, condition, holds));
        match (self.exclude(guard, fails), self.exclude(guard, holds)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        }
    }

    /// Whether the newest literal of a guard contradicts another one, or all others together by counting.
    pub(crate) fn contradicts_itself(&self, guard: Guard) -> bool {
        let Some(newest) = self.own(guard).next() else { return false };
        self.parts(newest.outer).any(|other| self.are_apart(newest, other))
            || self.exclude_by_counting(guard, guard)
    }

    /// Notes that two guards never hold together.
    pub(crate) fn know_apart(&mut self, one: Guard, other: Guard) {
        self.apart.insert((one.min(other), one.max(other)));
    }

    /// Whether two guards, by their literals alone, never hold together.
    pub(crate) fn exclude(&self, one: Guard, other: Guard) -> bool {
        self.parts(one).any(|one| self.parts(other).any(|other| self.are_apart(one, other)))
            || self.exclude_by_counting(one, other)
            || self.exclude_by_values(one, other)
            || self.apart.contains(&(one.min(other), one.max(other)))
    }

    /// Whether the values of integers where two guards hold, if these are known, are never the same.
    fn exclude_by_values(&self, one: Guard, other: Guard) -> bool {
        let [one, other] = [one, other].map(|guard| self.assignments.get(&(guard, MAX_VALUES)));
        one.zip(other).is_some_and(|(one, other)| one.exclude(other, &self.distinct))
    }

    /// The function that a guard, or a weaker one, is, if it is known.
    pub(crate) fn known_by_counting(&self, guard: Guard) -> Option<Diagram> {
        self.own(guard).next()?.counted
    }

    /// Notes the function that a guard, or a weaker one, is.
    pub(crate) fn know_by_counting(&mut self, guard: Guard, counted: Diagram) {
        if let Some(part) = (guard.0 as usize).checked_sub(1).and_then(|at| self.narrowed.get_mut(at)) {
            part.counted = Some(counted);
        }
    }

    /// Whether two guards never hold together, as far as counting shows.
    fn exclude_by_counting(&self, one: Guard, other: Guard) -> bool {
        let [Some(one), Some(other)] = [one, other].map(|guard| self.known_by_counting(guard)) else {
            return false;
        };
        let Some(decisions) = &self.decisions else { return false };
        let mut decisions = decisions.borrow_mut();
        let diagrams = decisions.diagrams();
        diagrams.and(one, other).is_some_and(|both| diagrams.as_number(both) == Some(0))
    }

    /// Whether two literals never hold together.
    fn are_apart(&self, one: &Narrowed, other: &Narrowed) -> bool {
        let differ = || one.value.zip(other.value).is_some_and(|(one, other)| self.differ(one, other));
        let apart = || one.relation.as_ref().zip(other.relation.as_ref()).is_some_and(|(a, b)| a.excludes(b));
        one.literal == other.literal.negated() || differ() || apart()
    }

    /// Whether two values are not taken together.
    fn differ(&self, one: Value, other: Value) -> bool {
        one.of == other.of && one.is != other.is
            || one
                .of_input()
                .zip(other.of_input())
                .is_some_and(|(one, other)| one.excludes(other, &self.distinct))
    }
}

/// How a term is related to another one, or to a number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Relation {
    of: TermId,
    to: To,
    /// Whether it may be less, equal and greater.
    less: bool,
    equal: bool,
    greater: bool,
}

/// What a literal says of an integer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) of: TermId,
    /// It is not less.
    pub(crate) low: Option<i128>,
    /// It is not greater.
    pub(crate) high: Option<i128>,
    /// It is not this one.
    pub(crate) except: Option<i128>,
}

/// What a literal says of a real by an integer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RealBounds {
    pub(crate) of: TermId,
    /// It is not less.
    pub(crate) low: Option<i128>,
    /// It is not greater.
    pub(crate) high: Option<i128>,
    /// It is less.
    pub(crate) below: Option<i128>,
}

/// That a term is less than another one, or, if not `strictly`, equal to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ordered {
    pub(crate) less: TermId,
    pub(crate) greater: TermId,
    pub(crate) strictly: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum To {
    Term(TermId),
    Number(Rational),
}

impl Relation {
    fn of(store: &Store, congruence: &mut Congruence, literal: Literal) -> Option<Relation> {
        let View::Apply(op, [a, b, _]) = store.view(literal.condition) else { return None };
        let [a, b] = [a, b].map(|operand| congruence.representative(store, operand));
        let less = matches!(op, TermOp::Less | TermOp::LessEqual);
        let equal = matches!(op, TermOp::Equal | TermOp::LessEqual);
        let greater = false;
        if !less && !equal {
            return None;
        }
        let [less, equal, greater] = [less, equal, greater].map(|may| may == literal.holds);
        let number = |term| match store.view(term) {
            View::Constant(constant) => constant.exact.finite().cloned(),
            View::Input { .. } | View::Apply(..) => None,
        };
        // The term with the lower number comes first, and a number last.
        Some(match (number(a), number(b)) {
            (None, Some(to)) => {
                Relation { of: a, to: To::Number(to), less, equal, greater }.of_index(store).of_whole(store)
            }
            (Some(to), None) => {
                let relation = Relation { of: b, to: To::Number(to), less: greater, equal, greater: less };
                relation.of_index(store).of_whole(store)
            }
            (Some(_), Some(_)) => return None,
            (None, None) if a <= b => Relation { of: a, to: To::Term(b), less, equal, greater },
            (None, None) => Relation { of: b, to: To::Term(a), less: greater, equal, greater: less },
        })
    }

    /// A relation of a multiple of an index and a constant to a number, as one of the index.
    fn of_index(self, store: &Store) -> Relation {
        let To::Number(to) = &self.to else { return self };
        let Indexed { index, scale, offset } = indexed(store, self.of);
        if scale == 0 || index == self.of {
            return self;
        }
        let to = To::Number(&(to - &Rational::from_i128(offset)) / &Rational::from_i128(scale));
        let (less, greater) = if scale > 0 { (self.less, self.greater) } else { (self.greater, self.less) };
        Relation { of: index, to, less, equal: self.equal, greater }
    }

    /// A bound of an integer of an input as one that it may reach.
    fn of_whole(self, store: &Store) -> Relation {
        let (To::Number(to), TermKind::Input { input, .. }) = (&self.to, self.of.kind()) else { return self };
        if store.integers(input).is_none() {
            return self;
        }
        let to = match (self.less, self.equal, self.greater) {
            (false, true, true) => to.ceil(),
            (false, false, true) => &to.floor() + &Rational::ONE,
            (true, true, false) => to.floor(),
            (true, false, false) => &to.ceil() - &Rational::ONE,
            (false, _, false) | (true, _, true) => return self,
        };
        Relation { to: To::Number(to), equal: true, ..self }
    }

    /// The integer that the term is, if the relation says that.
    fn value(&self) -> Option<Value> {
        let To::Number(to) = &self.to else { return None };
        let is_equal = self.equal && !self.less && !self.greater && to.is_integer();
        is_equal.then(|| to.to_i64()).flatten().map(|is| Value { of: self.of, is })
    }

    /// The relation where this one does not hold.
    fn negated(&self) -> Relation {
        Relation { less: !self.less, equal: !self.equal, greater: !self.greater, ..self.clone() }
    }

    /// The bounds of a real, if they are an integer.
    fn bounds_of_real(&self) -> Option<RealBounds> {
        let To::Number(to) = &self.to else { return None };
        let to = i128::from(to.to_i64().filter(|_| to.is_integer())?);
        let at_most = (!self.greater).then_some(to);
        let (high, below) = if self.equal { (at_most, None) } else { (None, at_most) };
        Some(RealBounds { of: self.of, low: (!self.less).then_some(to), high, below })
    }

    /// What the relation says of the order of two terms.
    fn orders(&self) -> SmallVec<[Ordered; 2]> {
        let To::Term(to) = self.to else { return SmallVec::new() };
        let strictly = !self.equal;
        let below = (!self.greater).then_some(Ordered { less: self.of, greater: to, strictly });
        let above = (!self.less).then_some(Ordered { less: to, greater: self.of, strictly });
        below.into_iter().chain(above).collect()
    }

    /// The integers between which the term lies, as far as the relation bounds it.
    fn bounds(&self) -> Option<Bounds> {
        let To::Number(to) = &self.to else { return None };
        let (floor, ceil) = (to.floor().to_i64()?, to.ceil().to_i64()?);
        let low = match (self.less, self.equal) {
            (true, _) => None,
            (false, true) => Some(i128::from(ceil)),
            (false, false) => Some(i128::from(floor) + 1),
        };
        let high = match (self.greater, self.equal) {
            (true, _) => None,
            (false, true) => Some(i128::from(floor)),
            (false, false) => Some(i128::from(ceil) - 1),
        };
        let except = (self.less && self.greater && !self.equal && floor == ceil).then_some(i128::from(floor));
        let says = low.is_some() || high.is_some() || except.is_some();
        says.then_some(Bounds { of: self.of, low, high, except })
    }

    /// Whether no values fulfil both.
    fn excludes(&self, other: &Relation) -> bool {
        if self.of != other.of {
            return false;
        }
        let order = match (&self.to, &other.to) {
            (To::Number(one), To::Number(other)) => one.cmp(other),
            (one, other) if one == other => Ordering::Equal,
            _ => return false,
        };
        let (low, high) = match order {
            Ordering::Equal => {
                return !(self.less && other.less
                    || self.equal && other.equal
                    || self.greater && other.greater);
            }
            Ordering::Less => (self, other),
            Ordering::Greater => (other, self),
        };
        // Below both numbers, at the lower one, between them, at the higher one, and above both.
        let both = [
            low.less && high.less,
            low.equal && high.less,
            low.greater && high.less,
            low.greater && high.equal,
            low.greater && high.greater,
        ];
        !both.contains(&true)
    }
}

/// The conjunction of terms of a store.
pub(crate) fn all_of(terms: impl IntoIterator<Item = TermId>, store: &mut Store) -> Option<TermId> {
    let nowhere = InstId(u32::MAX);
    terms.into_iter().reduce(|all, one| store.apply(TermOp::And, &[all, one], nowhere))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Extended;
    use crate::term::Constant;

    #[test]
    fn elements_of_one_input_are_compared_alike() {
        let mut store = Store::new();
        let mut number = |of: i64| {
            let exact = Extended::Finite(Rational::from_integer(of));
            store.intern(Constant { exact, literal: None, rounded: None })
        };
        let (three, four) = (number(3), number(4));
        let element = |input: u32, at: u64| TermId::input(InputId(input), at);
        let mut of = |op: TermOp, operands: [TermId; 2], negations: usize, holds: bool| {
            let compared = store.apply(op, &operands, InstId(0));
            let not = |condition, _| store.apply(TermOp::Not, &[condition], InstId(0));
            let condition = (0..negations).fold(compared, not);
            Comparison::of(&store, Literal { condition, holds })
        };
        let own = of(TermOp::Less, [element(0, 1), three], 0, true);
        assert!(own.is_some());
        assert_eq!(own, of(TermOp::Less, [element(0, 7), three], 0, true));
        assert_eq!(own, of(TermOp::Less, [element(0, 7), three], 1, false));
        assert_eq!(own, of(TermOp::Less, [element(0, 7), three], 2, true));
        let others = [
            of(TermOp::Less, [element(0, 1), three], 0, false),
            of(TermOp::Less, [element(0, 1), three], 1, true),
            of(TermOp::Less, [element(1, 1), three], 0, true),
            of(TermOp::Less, [element(0, 1), four], 0, true),
            of(TermOp::Less, [three, element(0, 1)], 0, true),
            of(TermOp::LessEqual, [element(0, 1), three], 0, true),
            of(TermOp::Equal, [element(0, 1), three], 0, true),
        ];
        assert!(others.iter().all(|other| other.is_some() && *other != own));
        assert_eq!(of(TermOp::Less, [element(0, 1), element(0, 2)], 0, true), None);
    }
}
