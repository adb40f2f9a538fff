//! Code on the words that are known of one thread, executed apart from the run.

use super::words::{compare, scalar_insert, scalar1, scalar2, scalar3, sign_extend};
use crate::program::{Bool2, Op, PredId, PredSrc, RegId, Src};
use rustc_hash::FxHashMap;

/// What is known of the registers of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownWords {
    pub(crate) registers: FxHashMap<RegId, u64>,
    pub(crate) predicates: FxHashMap<PredId, bool>,
}

impl KnownWords {
    /// The bits of a source.
    pub(crate) fn value(&self, source: Src) -> Option<u64> {
        match source {
            Src::Imm(bits) => Some(bits),
            Src::Reg(register) => self.registers.get(&register).copied(),
            Src::Symbol(..) => None,
        }
    }

    /// Whether a predicate holds.
    pub(crate) fn truth(&self, source: PredSrc) -> Option<bool> {
        self.predicates.get(&source.pred).map(|holds| *holds != source.negated)
    }

    /// Executes an operation. Results that are not known are removed.
    pub(crate) fn step(&mut self, op: &Op) {
        let mut register = None;
        let mut predicates: Vec<(PredId, bool)> = Vec::new();
        if let Op::Mov { d, a, width } = op {
            register = self.value(*a).map(|bits| (*d, bits & width.mask()));
        } else if let Op::Int1 { op, ty, d, a } = op {
            register = self.value(*a).map(|a| (*d, scalar1(*op, *ty, a)));
        } else if let Op::Int2 { op, ty, d, a, b } = op {
            let operands = self.value(*a).zip(self.value(*b));
            register = operands.and_then(|(a, b)| Some((*d, scalar2(*op, *ty, a, b)?)));
        } else if let Op::Int3 { op, ty, d, a, b, c } = op {
            let operands = self.value(*a).zip(self.value(*b)).zip(self.value(*c));
            register = operands.map(|((a, b), c)| (*d, scalar3(*op, *ty, [a, b, c])));
        } else if let Op::Insert { width, d, a, b, position, length } = op {
            let bits = self.value(*a).zip(self.value(*b));
            let field = self.value(*position).zip(self.value(*length));
            register = bits
                .zip(field)
                .map(|((a, b), (position, length))| (*d, scalar_insert(*width, a, b, position, length)));
        } else if let Op::CvtInt { d, a, from, to, saturate: false } = op {
            register = self.value(*a).map(|bits| {
                let bits = bits & from.width.mask();
                let bits = if from.signed { sign_extend(from.width, bits) } else { bits };
                (*d, bits & to.width.mask())
            });
        } else if let Op::Select { width, d, a, b, p } = op {
            let chosen = self.truth(*p).and_then(|holds| self.value(if holds { *a } else { *b }));
            register = chosen.map(|bits| (*d, bits & width.mask()));
        } else if let Op::SetpInt { compare: by, ty, p, q, a, b, combine } = op {
            if let Some((a, b)) = self.value(*a).zip(self.value(*b)) {
                let holds = compare(*by, *ty, a & ty.width.mask(), b & ty.width.mask());
                let with = |holds: bool| match combine {
                    None => Some(holds),
                    Some((by, other)) => self.truth(*other).map(|other| both(*by, holds, other)),
                };
                predicates.extend(with(holds).map(|holds| (*p, holds)));
                predicates.extend((*q).zip(with(!holds)));
            }
        } else if let Op::PredMov { p, a } = op {
            predicates.extend(self.truth(*a).map(|holds| (*p, holds)));
        } else if let Op::PredConst { p, value } = op {
            predicates.push((*p, *value));
        } else if let Op::Pred2 { op, p, a, b } = op {
            let operands = self.truth(*a).zip(self.truth(*b));
            predicates.extend(operands.map(|(a, b)| (*p, both(*op, a, b))));
        }
        self.forget(op);
        self.registers.extend(register);
        self.predicates.extend(predicates);
    }

    /// Removes the results of an operation.
    pub(crate) fn forget(&mut self, op: &Op) {
        let written = op.written();
        for d in &written.registers {
            self.registers.remove(d);
        }
        for p in &written.predicates {
            self.predicates.remove(p);
        }
    }
}

fn both(op: Bool2, a: bool, b: bool) -> bool {
    match op {
        Bool2::And => a & b,
        Bool2::Or => a | b,
        Bool2::Xor => a ^ b,
    }
}
