//! Loops, inside a branch on an input, whose trip count depends on an integer with few possible values (rule S1): where
//! all values agree on whether there is another iteration, it is known; where they differ, the rest of the branch side
//! is executed twice, for the values with another iteration and for the others.

use super::hammock::{DecidedByInput, Refused};
use crate::base::lane::LaneMask;
use crate::machine::cta::Cta;
use crate::machine::exec::arithmetic::select::Snapshot;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::UnderGuards;
use crate::machine::group::warp::{Step, Warp};
use crate::program::{Control, InstId, Op, PredSrc, Src};
use crate::term::{Bound, Store, TermId, TermKind, TermOp, View};
use crate::value::int_terms::whole;
use crate::value::{SymKind, Truth, Value};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The largest number of values of the integer.
const MAX_VALUES: usize = 64;

/// The largest number of terms that the search for the integer visits.
const MAX_TERMS: usize = 64;

/// A term as a function of an integer: its value for each value of the integer.
struct ByValue {
    integer: TermId,
    results: Vec<(i128, i128)>,
}

/// Groups of lanes that ran to an instruction; or why they could not.
type WentOn = Result<Vec<(LaneMask, InstId)>, Refused>;

impl ByValue {
    /// The term's value, if it is the same for all values of the integer.
    fn for_all(&self) -> Option<i128> {
        let first = self.results.first()?.1;
        self.results.iter().all(|(_, result)| *result == first).then_some(first)
    }

    /// The bound on the integer under which the term has this value.
    fn supposing(&self, result: i128) -> Option<Bound> {
        let mut values = self.results.iter().filter(|(_, own)| *own == result).map(|(value, _)| *value);
        let first = values.next()?;
        Some(Bound::Between(self.integer, first, values.next_back().unwrap_or(first)))
    }
}

impl Cta<'_> {
    /// At a branch that an input decides and that controls a loop: continues where the outcome is the same for all
    /// values of an integer, and else executes the rest of the side for each outcome. Returns groups of lanes with the
    /// instructions at which they continue; `None` where there is no loop, or no such integer.
    pub(super) fn run_by_value(
        &mut self,
        Step { warp, mask, pc }: Step<'_>,
        guard: PredSrc,
        branch: &DecidedByInput<'_>,
        steps: &mut u32,
    ) -> Result<Option<WentOn>, Stop> {
        let join = branch.join;
        let inst = &self.context.launch.program.insts[pc.index()];
        let Some(Control::Branch(target)) = inst.op.control() else { return Ok(None) };
        let hangs = self.hammock(pc).is_ok_and(|hammock| hammock.loops);
        let Ok(outer) = self.hammock(branch.pc) else { return Ok(None) };
        if !hangs {
            return Ok(None);
        }
        let mut found = Vec::new();
        for lane in mask {
            let Truth::Condition(condition) = self.values.terms.truth(warp, guard, lane, pc) else {
                return Ok(None);
            };
            let Some(by_value) = self.values.terms.under_guards().by_value(condition, branch.condition(lane))
            else {
                return Ok(None);
            };
            found.push((lane, condition, by_value));
        }
        let conditions = found.iter().map(|(lane, condition, _)| (*lane, Truth::Condition(*condition)));
        let conditions: Vec<_> = conditions.collect();
        if let Some(most) = self.values.too_deep(&conditions) {
            return Ok(Some(Err(Refused::Rounds(most))));
        }
        self.check_budgets()?;
        let mut parts: Vec<(LaneMask, InstId)> = Vec::new();
        let so_far = *steps;
        for (lane, condition, by_value) in found {
            let mask = LaneMask::of(lane);
            if let Some(known) = by_value.for_all() {
                parts.push((mask, if known == 1 { *target } else { pc.next() }));
                continue;
            }
            let mut own = so_far;
            let before = Snapshot::new(warp, &outer.written);
            let (if_taken, if_passed) = (by_value.supposing(1), by_value.supposing(0));
            let own_condition = [(lane, Truth::Condition(condition))];
            let side = (&own_condition[..], true, if_taken);
            let step = Step { warp, mask, pc: *target };
            let done = self.run_where(side, step, branch, &mut own)?;
            let taken = Snapshot::new(warp, &outer.live);
            before.restore(warp, mask);
            let done = match done {
                Ok(()) => {
                    let side = (&own_condition[..], false, if_passed);
                    self.run_where(side, Step { warp, mask, pc: pc.next() }, branch, &mut own)?
                }
                Err(refused) => Err(refused),
            };
            if let Err(refused) = done {
                return Ok(Some(Err(refused)));
            }
            let passed = Snapshot::new(warp, &outer.live);
            self.values.choose(warp, &[(lane, Truth::Condition(condition))], &taken, &passed, pc)?;
            *steps = own.max(*steps);
            parts.push((mask, join));
        }
        // Lanes that continue at one instruction form one group.
        let mut together: Vec<(LaneMask, InstId)> = Vec::new();
        for (mask, place) in parts {
            match together.iter_mut().find(|(_, other)| *other == place) {
                Some((all, _)) => *all |= mask,
                None => together.push((mask, place)),
            }
        }
        Ok(Some(Ok(together)))
    }
}

impl UnderGuards<'_> {
    /// Writes back addresses of stores that are known although they are computed from an unknown integer.
    pub(super) fn settle_address(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        op: &Op,
        branch: &DecidedByInput<'_>,
    ) {
        let Op::Store { address, .. } = op else { return };
        let Src::Reg(base) = address.base else { return };
        for lane in warp.register(base).sym & mask {
            let Value::Sym(sym) = warp.register(base).get(lane) else { continue };
            if let SymKind::Int(8, term) = sym.kind()
                && let Some(address) =
                    self.by_value(term, branch.condition(lane)).and_then(|by_value| by_value.for_all())
            {
                // Addresses wrap around at 2^64.
                warp.register_mut(base).set(lane, Value::Bits(address as u64));
            }
        }
    }

    /// A term as a function of an integer that determines it, the one computed first. The term is computed inside a
    /// side of `branch`.
    fn by_value(&mut self, of: TermId, branch: Option<TermId>) -> Option<ByValue> {
        // A term that may have no value must not be dropped, unless the branch, a select, depends on it.
        if !self.ranges.is_kept(self.store, of, branch.as_slice()) || self.varies_twice(of) {
            return None;
        }
        let (mut seen, mut work) = (FxHashSet::default(), vec![of]);
        let mut below: Vec<(usize, TermId)> = Vec::new();
        while let Some(term) = work.pop() {
            let TermKind::Lane(node, _) = term.kind() else { continue };
            if seen.len() >= MAX_TERMS || !seen.insert(term) {
                continue;
            }
            if let View::Apply(op, operands) = self.store.view(term) {
                work.extend(&operands[..op.arity()]);
                below.push((node.index(), term));
            }
        }
        below.sort_unstable();
        below.into_iter().find_map(|(_, integer)| {
            let values = self.ranges.of(self.store, integer).values(MAX_VALUES)?;
            let mut results = Vec::with_capacity(values.len());
            for value in values {
                self.ranges.suppose(Bound::Between(integer, value, value));
                let range = self.ranges.of(self.store, of);
                self.ranges.suppose_no_more();
                results.push((value, range.low.filter(|low| range.within(*low, *low))?));
            }
            (!results.is_empty()).then_some(ByValue { integer, results })
        })
    }

    /// Whether a term is a sum of which two parts, computed from nothing in common, are known by no integer outside of
    /// them: such as a number of conditions. No integer determines it, which is found without trying any.
    fn varies_twice(&mut self, of: TermId) -> bool {
        let mut parts = Vec::new();
        let (mut work, mut seen) = (vec![of], FxHashSet::default());
        while let Some(term) = work.pop() {
            if seen.len() >= MAX_TERMS {
                return false;
            }
            if !seen.insert(term) {
                continue;
            }
            match summands(self.store, term) {
                Some(summands) => work.extend(summands),
                None if let Some(below) = computed_below(self.store, term) => {
                    if !self.is_known_elsewhere(term) {
                        parts.push(below);
                    }
                }
                None => return false,
            }
            if let Some((last, others)) = parts.split_last()
                && others.iter().any(|other| other.is_disjoint(last))
            {
                return true;
            }
        }
        false
    }

    /// Whether a term of few operations has one value, or would have where something else is supposed.
    fn is_known_elsewhere(&mut self, term: TermId) -> bool {
        let constant = whole(self.store, 0);
        self.ranges.suppose(Bound::Between(constant, 0, 0));
        let range = self.ranges.of(self.store, term);
        self.ranges.suppose_no_more();
        range.low.is_some_and(|low| range.within(low, low))
    }
}

/// The operands of an operation that all have to be known for its result to be.
fn summands(store: &Store, term: TermId) -> Option<SmallVec<[TermId; 2]>> {
    let View::Apply(op, [a, b, _]) = store.view(term) else { return None };
    let is_number = |term| matches!(store.view(term), View::Constant(_));
    if matches!(op, TermOp::Add | TermOp::Sub) {
        Some(SmallVec::from_slice(&[a, b]))
    } else if matches!(op, TermOp::Mul | TermOp::Mod) && is_number(b) {
        Some(SmallVec::from_slice(&[a]))
    } else {
        (op == TermOp::Mul && is_number(a)).then(|| SmallVec::from_slice(&[b]))
    }
}

/// The operations of a term, and the inputs; `None` if they are many.
fn computed_below(store: &Store, term: TermId) -> Option<FxHashSet<TermId>> {
    let (mut seen, mut work) = (FxHashSet::default(), vec![term]);
    while let Some(term) = work.pop() {
        if matches!(term.kind(), TermKind::Constant(_)) || !seen.insert(term) {
            continue;
        }
        if seen.len() >= MAX_TERMS {
            return None;
        }
        if let View::Apply(op, operands) = store.view(term) {
            work.extend(&operands[..op.arity()]);
        }
    }
    Some(seen)
}
