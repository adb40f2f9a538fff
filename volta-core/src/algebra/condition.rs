//! Conditions on inputs, in canonical form: comparisons with zero and Boolean operations on them.

use super::id::mix;
use super::interner::bytes_of;
use super::polynomial::{PolynomialId, Polynomials};
use crate::base::index::number_of;
use rustc_hash::FxHashMap;

/// The id of an interned condition: conditions have the same id exactly if they have the same content.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConditionId {
    at: u32,
    fingerprint: u128,
}

impl ConditionId {
    /// A hash of the content, the same in every run.
    pub(super) fn fingerprint(&self) -> u128 {
        self.fingerprint
    }
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    /// A constant.
    Known(bool),
    /// The polynomial is above zero.
    Positive(PolynomialId),
    /// The polynomial is zero.
    Zero(PolynomialId),
    /// The other does not hold.
    Not(ConditionId),
    /// Both hold. Of more than two, in the order of their ids: `(a ∧ b) ∧ c`.
    And(ConditionId, ConditionId),
    /// Exactly one holds; in the order of their ids.
    Xor(ConditionId, ConditionId),
}

/// The conditions of one prover.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    list: Vec<Condition>,
    ids: FxHashMap<Condition, ConditionId>,
}

impl Conditions {
    pub(super) fn bytes(&self) -> u64 {
        (self.list.capacity() * size_of::<Condition>()) as u64 + bytes_of(&self.ids)
    }

    pub(super) fn get(&self, id: &ConditionId) -> &Condition {
        &self.list[id.at as usize]
    }

    pub(super) fn intern(&mut self, condition: Condition, polynomials: &Polynomials) -> ConditionId {
        if let Some(id) = self.ids.get(&condition) {
            return id.clone();
        }
        let place = |polynomial: &PolynomialId| polynomials.place(*polynomial).fingerprint;
        let fingerprint = match &condition {
            Condition::Known(value) => mix(11, u128::from(*value)),
            Condition::Positive(inner) => mix(12, place(inner)),
            Condition::Zero(inner) => mix(13, place(inner)),
            Condition::Not(inner) => mix(14, inner.fingerprint),
            // The same for all orders of the parts of a conjunction.
            Condition::And(a, b) => {
                let parts = [a, b].into_iter().flat_map(|part| self.conjuncts(part));
                mix(15, parts.fold(0, |sum, part| sum.wrapping_add(part.fingerprint)))
            }
            Condition::Xor(a, b) => mix(16, a.fingerprint.wrapping_add(b.fingerprint)),
        };
        let id = ConditionId { at: number_of(self.list.len()), fingerprint };
        self.list.push(condition.clone());
        self.ids.insert(condition, id.clone());
        id
    }

    /// `¬a`
    pub(super) fn not(&mut self, a: ConditionId, polynomials: &Polynomials) -> ConditionId {
        let condition = match self.get(&a) {
            Condition::Known(value) => Condition::Known(!value),
            Condition::Not(inner) => return inner.clone(),
            Condition::Positive(_) | Condition::Zero(_) | Condition::And(..) | Condition::Xor(..) => {
                Condition::Not(a)
            }
        };
        self.intern(condition, polynomials)
    }

    /// `a ∧ b`
    pub(super) fn and(&mut self, a: ConditionId, b: ConditionId, polynomials: &Polynomials) -> ConditionId {
        match (self.get(&a), self.get(&b)) {
            (Condition::Known(true), _) => b,
            (_, Condition::Known(true)) => a,
            (Condition::Known(false), _) => a,
            (_, Condition::Known(false)) => b,
            _ => {
                let mut parts = self.conjuncts(&a);
                parts.extend(self.conjuncts(&b));
                parts.sort_unstable_by_key(|part| part.at);
                parts.dedup();
                let opposite = |part: &ConditionId| matches!(self.get(part), Condition::Not(inner) if parts.contains(inner));
                if parts.iter().any(opposite) {
                    return self.intern(Condition::Known(false), polynomials);
                }
                let all = parts.into_iter().reduce(|a, b| self.intern(Condition::And(a, b), polynomials));
                all.unwrap_or(a)
            }
        }
    }

    /// The conditions of which a conjunction is one.
    pub(super) fn conjuncts(&self, of: &ConditionId) -> Vec<ConditionId> {
        let (mut found, mut open) = (Vec::new(), vec![of.clone()]);
        while let Some(at) = open.pop() {
            match self.get(&at) {
                Condition::And(a, b) => open.extend([a.clone(), b.clone()]),
                Condition::Known(_)
                | Condition::Positive(_)
                | Condition::Zero(_)
                | Condition::Not(_)
                | Condition::Xor(..) => found.push(at),
            }
        }
        found
    }

    /// `a ⊕ b`
    pub(super) fn xor(&mut self, a: ConditionId, b: ConditionId, polynomials: &Polynomials) -> ConditionId {
        match (self.get(&a), self.get(&b)) {
            (Condition::Known(false), _) => b,
            (_, Condition::Known(false)) => a,
            (Condition::Known(true), _) => self.not(b, polynomials),
            (_, Condition::Known(true)) => self.not(a, polynomials),
            _ if a == b => self.intern(Condition::Known(false), polynomials),
            _ => {
                let (a, b) = if a.at <= b.at { (a, b) } else { (b, a) };
                self.intern(Condition::Xor(a, b), polynomials)
            }
        }
    }
}
