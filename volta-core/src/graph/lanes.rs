//! Operations on 32 elements at once, as a warp of a kernel would execute them: a node of the store for each, whose
//! operands are mostly affine from lane to lane.
//!
//! A lane holds the raw id of a term, or one of the numbers below, which are no ids.

use smallvec::SmallVec;

use crate::base::index::InstId;
use crate::base::lane::LaneMask;
use crate::number::{Extended, Rational};
use crate::term::{Constant, Fold, Ranges, Store, TermId, TermKind, TermOp, fold};

/// 32 elements.
pub(super) type Lanes = [u64; 32];

/// The truth values that are known.
pub(super) const TRUE: u64 = 1 << 57;
pub(super) const FALSE: u64 = 1 << 57 | 1;
/// No value (V6), with the number of the value in whose definition it arose.
pub(super) const UNDEFINED: u64 = 1 << 58;
/// Nothing was written. No operation reads it.
pub(super) const UNWRITTEN: u64 = 1 << 59;
/// In an id, set for constants. Only the comparison with all operands of an operation matters.
const CONSTANT: u64 = 1 << 54;

/// A constant of more bits stays an operation, as in the machine.
const MAX_BITS: u64 = 1 << 14;

/// A truth value that is known.
pub(super) fn truth(holds: bool) -> u64 {
    if holds { TRUE } else { FALSE }
}

/// The value in whose definition a lane's value became undefined.
pub(super) fn undefined_in(lane: u64) -> Option<usize> {
    (lane & UNDEFINED != 0).then_some((lane & !UNDEFINED) as usize)
}

/// The terms of a graph, as they are made.
#[derive(Debug)]
pub(super) struct Terms<'s> {
    pub(super) store: &'s mut Store,
    pub(super) ranges: Ranges,
    /// The number of the value that is computed; obligations are recorded at it.
    pub(super) value: usize,
}

impl Terms<'_> {
    /// A number, exactly.
    pub(super) fn number(&mut self, exact: Extended) -> u64 {
        self.store.intern(Constant { exact, literal: None, rounded: None }).raw()
    }

    /// A whole number.
    pub(super) fn whole(&mut self, number: i128) -> u64 {
        self.number(Extended::Finite(Rational::from_i128(number)))
    }

    /// The number that a lane is, if it depends on no input.
    pub(super) fn known(&self, lane: u64) -> Option<&Extended> {
        if lane >> TermId::BITS != 0 {
            return None;
        }
        match TermId::from_raw(lane).kind() {
            TermKind::Constant(id) => Some(&self.store.constant(id).exact),
            TermKind::Input { .. } | TermKind::Lane(..) => None,
        }
    }

    fn site(&self) -> InstId {
        InstId::from_index(self.value)
    }

    /// Applies an operation in the lanes of `mask`. The others are not read, and their results mean nothing.
    pub(super) fn apply(&mut self, op: TermOp, mask: LaneMask, operands: &[&Lanes]) -> Lanes {
        let (mut any, mut all_constant) = (0, 0);
        for lane in 0..32 {
            let mut both = u64::MAX;
            for operand in operands {
                any |= operand[lane];
                both &= operand[lane];
            }
            all_constant |= both;
        }
        if any >> TermId::BITS == 0 && all_constant & CONSTANT == 0 {
            return self.store.push_shared(op, mask, operands, self.site()).all();
        }
        let (mut result, mut rest) = ([0; 32], LaneMask::NONE);
        for lane in mask {
            let own: SmallVec<[u64; 3]> = operands.iter().map(|operand| operand[lane.index()]).collect();
            match self.apply_known(op, &own) {
                Some(known) => result[lane.index()] = known,
                None => rest.insert(lane),
            }
        }
        if !rest.is_empty() {
            // Lanes that are not read must be ids all the same.
            let plain = |operand: &Lanes| operand.map(|raw| raw & (u64::MAX >> (64 - TermId::BITS)));
            let operands: SmallVec<[Lanes; 3]> = operands.iter().map(|operand| plain(operand)).collect();
            let operands: SmallVec<[&Lanes; 3]> = operands.iter().collect();
            let pushed = self.store.push_shared(op, rest, &operands, self.site()).all();
            for lane in rest {
                result[lane.index()] = pushed[lane.index()];
            }
        }
        result
    }

    /// The result of an operation that needs no term.
    fn apply_known(&mut self, op: TermOp, operands: &[u64]) -> Option<u64> {
        match (op, operands) {
            (TermOp::Select, &[TRUE, chosen, _] | &[FALSE, _, chosen]) => return Some(chosen),
            (TermOp::And, &[FALSE, _] | &[_, FALSE]) => return Some(FALSE),
            (TermOp::Or, &[TRUE, _] | &[_, TRUE]) => return Some(TRUE),
            _ => {}
        }
        if let Some(undefined) = operands.iter().find(|lane| undefined_in(**lane).is_some()) {
            return Some(*undefined);
        }
        match (op, operands) {
            (TermOp::Not, &[TRUE]) => return Some(FALSE),
            (TermOp::Not, &[FALSE]) => return Some(TRUE),
            (TermOp::And, &[TRUE, other] | &[other, TRUE])
            | (TermOp::Or, &[FALSE, other] | &[other, FALSE])
            | (TermOp::Xor, &[FALSE, other] | &[other, FALSE]) => return Some(other),
            (TermOp::Xor, &[TRUE, other] | &[other, TRUE]) => return Some(self.negated(other)),
            _ => {}
        }
        let numbers: Option<Vec<&Extended>> = operands.iter().map(|lane| self.known(*lane)).collect();
        match fold(op, &numbers?) {
            Fold::Value(value) if value.finite().is_none_or(|value| value.bit_length() <= MAX_BITS) => {
                Some(self.number(value))
            }
            Fold::Truth(holds) => Some(truth(holds)),
            Fold::Undefined => Some(UNDEFINED | self.value as u64),
            Fold::Value(_) | Fold::Irrational => None,
        }
    }

    /// The opposite of a truth value of one lane.
    fn negated(&mut self, lane: u64) -> u64 {
        match lane {
            TRUE => FALSE,
            FALSE => TRUE,
            condition => self.store.push_uniform(TermOp::Not, &[condition], self.site()),
        }
    }

    /// `then` where a condition holds, `otherwise` elsewhere, for truth values.
    pub(super) fn choose_truths(
        &mut self,
        mask: LaneMask,
        [condition, then, otherwise]: [&Lanes; 3],
    ) -> Lanes {
        let not = self.apply(TermOp::Not, mask, &[condition]);
        let chosen = self.apply(TermOp::And, mask, &[condition, then]);
        let other = self.apply(TermOp::And, mask, &[&not, otherwise]);
        self.apply(TermOp::Or, mask, &[&chosen, &other])
    }

    /// The numbers of an integer type that differ from integers by a multiple of its size.
    pub(super) fn wrapped(&mut self, mask: LaneMask, lanes: Lanes, (bits, signed): (u32, bool)) -> Lanes {
        let half = if signed { 1i128 << (bits - 1) } else { 0 };
        let modulus = 1i128 << bits;
        let mut leaves = LaneMask::NONE;
        for lane in mask {
            let raw = lanes[lane.index()];
            let fits = raw >> TermId::BITS != 0
                || self.ranges.of(self.store, TermId::from_raw(raw)).within(-half, modulus - half - 1);
            if !fits {
                leaves.insert(lane);
            }
        }
        if leaves.is_empty() {
            return lanes;
        }
        let [half, modulus] = [half, modulus].map(|number| [self.whole(number); 32]);
        let above = self.apply(TermOp::Add, leaves, &[&lanes, &half]);
        let within = self.apply(TermOp::Mod, leaves, &[&above, &modulus]);
        let within = self.apply(TermOp::Sub, leaves, &[&within, &half]);
        merged(lanes, within, leaves)
    }
}

/// `others` in the lanes of `mask`, `lanes` elsewhere.
pub(super) fn merged(mut lanes: Lanes, others: Lanes, mask: LaneMask) -> Lanes {
    for lane in mask {
        lanes[lane.index()] = others[lane.index()];
    }
    lanes
}
