//! Chains of sums, minima or maxima whose steps may be under conditions, as `if (c) m = min(m, v)`, and
//! `min(m, c ? v : 2³¹ − 1)`: the steps, in whatever order they come.

use super::id::TermRef;
use super::prover::Prover;
use crate::term::{TermId, TermOp, View};

/// Chains of fewer steps are read step by step.
const MIN_STEPS: usize = 3;

/// So many terms of a chain are visited, and so deep.
const MAX_VISITED: u32 = 1 << 15;
const MAX_DEPTH: u32 = 1 << 13;

/// So many conditions of steps count as a visit.
const CONDITIONS_A_VISIT: u32 = 16;

/// So deep, a step is looked for beyond what is before it, before it is looked for in all that is.
const STEP_DEPTH: u32 = 16;

/// Bytes of stack that are left for a part of a chain, and bytes that are added where there are fewer.
const STACK_LEFT: usize = 1 << 16;
const STACK_MORE: usize = 1 << 20;

/// Choices nested deeper than this around the first step are no chain.
const MAX_CHOICES: u32 = 16;

/// What joins the steps of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joining {
    Sum,
    Least,
    Greatest,
}

/// A step of a chain.
#[derive(Clone, Debug)]
pub(super) struct ChainStep {
    /// Conditions under which it is taken, and whether each holds then, or does not.
    pub(super) conditions: Vec<(TermRef, bool)>,
    pub(super) value: TermRef,
    /// Whether the value is subtracted.
    pub(super) is_negated: bool,
}

/// A term as a chain.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    pub(super) joining: Joining,
    pub(super) steps: Vec<ChainStep>,
}

impl Chain {
    /// The terms that it is made of.
    pub(super) fn parts(&self) -> impl Iterator<Item = TermRef> {
        self.steps
            .iter()
            .flat_map(|step| step.conditions.iter().map(|(at, _)| *at).chain(std::iter::once(step.value)))
    }
}

/// A walk through a chain.
struct Walk<'w, 's> {
    prover: &'w Prover<'s>,
    joining: Joining,
    left: u32,
}

/// The steps of a part of a chain, and whether each is subtracted.
type Steps = Vec<ChainStep>;

impl Prover<'_> {
    /// A term as a chain, if it is one of more than a few steps.
    pub(super) fn chain_of(&self, root: TermRef) -> Option<Chain> {
        let joining = self.joining_of(root, MAX_CHOICES)?;
        let mut walk = Walk { prover: self, joining, left: MAX_VISITED };
        let mut steps = Vec::new();
        walk.steps_of(root, &mut Vec::new(), false, MAX_DEPTH, &mut steps)?;
        (steps.len() >= MIN_STEPS).then_some(Chain { joining, steps })
    }

    /// What joins the steps of a chain that ends with a term.
    fn joining_of(&self, at: TermRef, left: u32) -> Option<Joining> {
        match self.terms.view(at) {
            View::Apply(TermOp::Min, _) => Some(Joining::Least),
            View::Apply(TermOp::Max, _) => Some(Joining::Greatest),
            View::Apply(TermOp::Add | TermOp::Sub, _) => Some(Joining::Sum),
            View::Apply(TermOp::Select, [_, a, b]) if left > 0 => {
                let below = |term: TermId| self.joining_of(TermRef { term, ..at }, left - 1);
                below(a).or_else(|| below(b))
            }
            View::Apply(..) | View::Constant(_) | View::Input { .. } => None,
        }
    }
}

impl Walk<'_, '_> {
    fn visit(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// Counts conditions that are copied.
    fn copy(&mut self, conditions: usize) -> Option<()> {
        self.left = self.left.checked_sub(conditions as u32 / CONDITIONS_A_VISIT)?;
        Some(())
    }

    /// The operands of a step that is taken in any case, and whether the second is subtracted.
    fn joined(&self, at: TermRef) -> Option<([TermRef; 2], bool)> {
        let View::Apply(op, [a, b, _]) = self.prover.terms.view(at) else { return None };
        let is_negated = match (self.joining, op) {
            (Joining::Sum, TermOp::Add)
            | (Joining::Least, TermOp::Min)
            | (Joining::Greatest, TermOp::Max) => false,
            (Joining::Sum, TermOp::Sub) => true,
            _ => return None,
        };
        Some(([a, b].map(|term| TermRef { term, ..at }), is_negated))
    }

    /// The condition and the arms of a choice.
    fn choice(&self, at: TermRef) -> Option<[TermRef; 3]> {
        match self.prover.terms.view(at) {
            View::Apply(TermOp::Select, operands) => Some(operands.map(|term| TermRef { term, ..at })),
            View::Apply(..) | View::Constant(_) | View::Input { .. } => None,
        }
    }

    /// Whether a step with a term, under conditions, is no step in a sum, or one that may be left out beside others.
    fn is_neutral(&self, at: TermRef) -> bool {
        match self.prover.terms.view(at) {
            View::Constant(constant) => {
                self.joining != Joining::Sum || constant.exact.finite().is_some_and(|value| value.is_zero())
            }
            View::Apply(..) | View::Input { .. } => false,
        }
    }

    /// Adds the steps of a term under conditions; `None` if there are too many.
    fn steps_of(
        &mut self,
        at: TermRef,
        conditions: &mut Vec<(TermRef, bool)>,
        is_negated: bool,
        depth: u32,
        steps: &mut Steps,
    ) -> Option<()> {
        stacker::maybe_grow(STACK_LEFT, STACK_MORE, || {
            self.visit()?;
            let depth = depth.checked_sub(1)?;
            if let Some(([a, b], subtracts)) = self.joined(at) {
                self.steps_of(a, conditions, is_negated, depth, steps)?;
                return self.steps_of(b, conditions, is_negated != subtracts, depth, steps);
            }
            if let Some([condition, then, otherwise]) = self.choice(at) {
                let orders = [(then, otherwise, true), (otherwise, then, false)];
                let [near, far] =
                    [depth.min(STEP_DEPTH), depth].map(|depth| orders.map(|order| (order, depth)));
                for ((arm, rest, holds), within) in near.into_iter().chain(far) {
                    let mut more = Vec::new();
                    if self.beyond(arm, rest, &mut Vec::new(), within, &mut more).is_some() {
                        self.steps_of(rest, conditions, is_negated, depth, steps)?;
                        more.iter()
                            .try_for_each(|step| self.copy(conditions.len() + step.conditions.len()))?;
                        steps.extend(more.into_iter().map(|step| {
                            let mut all = conditions.clone();
                            all.push((condition, holds));
                            all.extend(step.conditions);
                            ChainStep { conditions: all, is_negated: is_negated != step.is_negated, ..step }
                        }));
                        return Some(());
                    }
                }
                if [then, otherwise].into_iter().any(|arm| self.is_neutral(arm)) {
                    for (arm, holds) in [(then, true), (otherwise, false)] {
                        if self.joining == Joining::Sum && self.is_neutral(arm) {
                            continue;
                        }
                        conditions.push((condition, holds));
                        self.steps_of(arm, conditions, is_negated, depth, steps)?;
                        conditions.pop();
                    }
                    return Some(());
                }
            }
            self.copy(conditions.len())?;
            steps.push(ChainStep { conditions: conditions.clone(), value: at, is_negated });
            Some(())
        })
    }

    /// Adds the steps that a term takes beyond another one; `None` if it does not go on from that.
    fn beyond(
        &mut self,
        at: TermRef,
        from: TermRef,
        conditions: &mut Vec<(TermRef, bool)>,
        depth: u32,
        steps: &mut Steps,
    ) -> Option<()> {
        if at == from {
            return Some(());
        }
        stacker::maybe_grow(STACK_LEFT, STACK_MORE, || {
            self.visit()?;
            let depth = depth.checked_sub(1)?;
            let before = steps.len();
            if let Some(([a, b], subtracts)) = self.joined(at) {
                if self.beyond(a, from, conditions, depth, steps).is_some() {
                    return self.steps_of(b, conditions, subtracts, depth, steps);
                }
                steps.truncate(before);
                if !subtracts && self.beyond(b, from, conditions, depth, steps).is_some() {
                    return self.steps_of(a, conditions, false, depth, steps);
                }
                steps.truncate(before);
                return None;
            }
            let [condition, then, otherwise] = self.choice(at)?;
            for (arm, holds) in [(then, true), (otherwise, false)] {
                conditions.push((condition, holds));
                let found = self.beyond(arm, from, conditions, depth, steps);
                conditions.pop();
                if found.is_none() {
                    steps.truncate(before);
                    return None;
                }
            }
            Some(())
        })
    }
}
