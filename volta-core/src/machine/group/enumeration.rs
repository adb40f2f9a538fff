//! The values that integers of inputs have together where a guard holds (rule S1), where there are few: whether some
//! input fulfils the guard, and what is computed from these integers there.

use super::terms::UnderGuards;
use crate::term::{TermId, View};
use crate::value::assignments::{Assignment, Assignments, MAX_VALUES};
use crate::value::guard::{Guard, Literal};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::Arc;

/// The largest number of assignments to all integers together.
const MAX_ASSIGNMENTS: usize = 1 << 11;

/// The largest number of integers that are looked at together.
const MAX_INTEGERS: usize = 3;

/// The largest number of terms below a condition that are visited.
const MAX_TERMS: usize = 64;

/// The largest number of terms below a condition that are visited to find what it depends on.
const MAX_BELOW: usize = 4096;

/// So many assignments are remembered.
const MAX_REMEMBERED: usize = 1 << 20;

/// So many values of single integers are tried in a run of a CTA.
const MAX_ENUMERATED: usize = 1 << 20;

/// So many conditions of a guard are tried for new integers, the innermost ones.
const MAX_CONDITIONS: usize = 64;

impl UnderGuards<'_> {
    /// The assignments to integers of at most so many values each that may fulfil a guard.
    pub(crate) fn assignments(&mut self, guard: Guard, most: usize) -> Arc<Assignments> {
        self.without_suppositions(|own| own.assignments_anew(guard, most))
    }

    fn assignments_anew(&mut self, guard: Guard, most: usize) -> Arc<Assignments> {
        let (mut open, mut at) = (Vec::new(), guard);
        let mut all = loop {
            if let Some(known) = self.guards.assignments.get(&(at, most)) {
                break Arc::clone(known);
            }
            let Some((outer, literal)) = self.guards.outer(at) else { break Arc::new(Assignments::none()) };
            open.push((at, literal));
            at = outer;
        };
        for (guard, literal) in open.into_iter().rev() {
            if let Some(below) = self.integers_below(literal.condition).filter(|below| !below.is_empty()) {
                all = self.with_integers(all, guard, &below, (most, Some(literal)));
            }
            self.guards.remembered += all.rows.len();
            if self.guards.remembered > MAX_REMEMBERED {
                self.guards.assignments.clear();
                self.guards.inputs_below.clear();
                self.guards.remembered = all.rows.len();
            }
            self.guards.assignments.insert((guard, most), Arc::clone(&all));
        }
        all
    }

    /// The assignments that may fulfil a guard to the integers below a term, and perhaps others; `None` if these are too
    /// many, or not all that the term depends on.
    pub(crate) fn assignments_below(&mut self, guard: Guard, term: TermId) -> Option<Arc<Assignments>> {
        let below = self.integers_below(term).filter(|below| !below.is_empty())?;
        let all = self.assignments(guard, MAX_ASSIGNMENTS);
        let all = self.with_integers(all, guard, &below, (MAX_ASSIGNMENTS, None));
        below.iter().all(|integer| all.integers.contains(integer)).then_some(all)
    }

    /// Whether the newest literal of a guard, about what is computed from one integer, contradicts the others for each of
    /// its values. Comparisons of integers themselves are bounds, which are known without.
    pub(crate) fn is_contradiction_of_one(&mut self, guard: Guard) -> bool {
        let Some(condition) = self.guards.compares_computed(guard) else { return false };
        if self.guards.enumerated > MAX_ENUMERATED
            || self.integers_below(condition).is_none_or(|of| of.len() != 1)
        {
            return false;
        }
        let all = self.assignments(guard, MAX_ASSIGNMENTS);
        self.guards.enumerated += all.rows.len();
        !all.are_any()
    }

    /// Assignments to more integers, without those that contradict the newest literal of their guard; if all together
    /// are too many, then to the new ones alone, if these are few.
    fn with_integers(
        &mut self,
        before: Arc<Assignments>,
        guard: Guard,
        below: &[TermId],
        (most, newest): (usize, Option<Literal>),
    ) -> Arc<Assignments> {
        let is_new = |integer: &&TermId| !before.integers.contains(integer);
        let new: Vec<TermId> = below.iter().filter(is_new).copied().collect();
        if new.is_empty() {
            let Some(newest) = newest else { return before };
            let mut all = Assignments::clone(&before);
            all.retain(self.store, &[(newest.condition, newest.holds)]);
            return Arc::new(all);
        }
        for (start, integers) in [(&*before, &new[..]), (&Assignments::none(), below)] {
            if let Some(mut all) = self.product(start, guard, integers, most) {
                // Which of the others hold does not depend on the new integers.
                let mut literals = self.guards.conditions(guard);
                literals.truncate(MAX_CONDITIONS);
                literals.retain(|one| newest == Some(*one) || self.depends_on_any(one.condition, integers));
                let literals: Vec<_> = literals.iter().map(|one| (one.condition, one.holds)).collect();
                all.retain(self.store, &literals);
                return Arc::new(all);
            }
        }
        before
    }

    /// The assignments with all values of more integers; `None` if they are too many.
    fn product(
        &mut self,
        start: &Assignments,
        guard: Guard,
        integers: &[TermId],
        most: usize,
    ) -> Option<Assignments> {
        let mut all = start.clone();
        if all.integers.len() + integers.len() > MAX_INTEGERS {
            return None;
        }
        for integer in integers {
            let mut values = self.ranges.of(self.store, *integer).values(most);
            if values.is_none() && most > MAX_VALUES {
                let supposed = self.suppose_guard(guard);
                values = self.ranges.of(self.store, *integer).values(most);
                self.suppose_no_more(supposed);
            }
            let values = values?;
            if all.rows.len().checked_mul(values.len())? > MAX_ASSIGNMENTS {
                return None;
            }
            let extended = all.rows.iter().flat_map(|row| {
                values.iter().map(move |value| {
                    let value = i64::try_from(*value).ok()?;
                    Some(row.iter().copied().chain([value]).collect::<Assignment>())
                })
            });
            all.rows = extended.collect::<Option<Vec<_>>>()?;
            all.integers.push(*integer);
        }
        Some(all)
    }

    /// Whether a condition depends on one of some integers of inputs, as far as few terms below it show.
    fn depends_on_any(&mut self, condition: TermId, integers: &[TermId]) -> bool {
        let known = self.guards.inputs_below.get(&condition).map(Arc::clone);
        let below = known.unwrap_or_else(|| {
            let below: Arc<[TermId]> = self.inputs_below(condition).into();
            self.guards.remembered += below.len();
            self.guards.inputs_below.insert(condition, Arc::clone(&below));
            below
        });
        integers.iter().any(|integer| below.binary_search(integer).is_ok())
    }

    /// The elements of inputs that a condition depends on, in order, as far as few terms below it show.
    fn inputs_below(&self, condition: TermId) -> Vec<TermId> {
        let (mut found, mut seen, mut work) = (Vec::new(), FxHashSet::default(), vec![condition]);
        while let Some(term) = work.pop().filter(|_| seen.len() < MAX_BELOW) {
            if !seen.insert(term) {
                continue;
            }
            match self.store.view(term) {
                View::Apply(op, operands) => work.extend(&operands[..op.arity()]),
                View::Input { .. } => found.push(term),
                View::Constant(_) => {}
            }
        }
        found.sort_unstable();
        found
    }

    /// The elements of inputs that a term depends on, if all of them are integers and few terms lie between.
    pub(crate) fn integers_below(&self, term: TermId) -> Option<SmallVec<[TermId; 3]>> {
        let (mut found, mut seen, mut work) = (SmallVec::new(), FxHashSet::default(), vec![term]);
        while let Some(term) = work.pop() {
            if seen.len() >= MAX_TERMS {
                return None;
            }
            if !seen.insert(term) {
                continue;
            }
            match self.store.view(term) {
                View::Apply(op, operands) => work.extend(&operands[..op.arity()]),
                View::Constant(_) => {}
                View::Input { input, .. } => {
                    self.store.integers(input)?;
                    found.push(term);
                }
            }
        }
        Some(found)
    }
}
