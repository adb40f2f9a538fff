//! The condition of a loop that waits for a flag (rule Y15), as a function of what the flag holds.

use super::super::value::{Truth, Value};
use super::super::warp::Warp;
use super::int::{compare, scalar_insert, scalar1, scalar2, scalar3, sign_extend};
use crate::base::lane::Lane;
use crate::program::{Bool2, FlagLoop, FlagRounds, InstId, Op, PredId, PredSrc, Program, RegId, Src};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The condition on which a lane leaves such a loop.
#[derive(Clone, Debug)]
pub(in super::super) struct Condition {
    looped: Rc<FlagLoop>,
    /// Whether code after the loop reads the value that the loop found.
    pub(super) is_read: bool,
    /// The known values of registers that the condition reads and that no iteration changes.
    registers: FxHashMap<RegId, u64>,
    predicates: FxHashMap<PredId, bool>,
    /// A register of the condition that holds the result of an atomic operation on the flag, and the index of that
    /// change.
    pub(in super::super) found: Option<(RegId, usize)>,
}

/// The known values while the condition is evaluated.
struct Known {
    registers: FxHashMap<RegId, u64>,
    predicates: FxHashMap<PredId, bool>,
}

impl Known {
    fn value(&self, source: Src) -> Option<u64> {
        match source {
            Src::Imm(bits) => Some(bits),
            Src::Reg(register) => self.registers.get(&register).copied(),
            Src::Symbol(..) => None,
        }
    }

    fn truth(&self, source: PredSrc) -> Option<bool> {
        self.predicates.get(&source.pred).map(|holds| *holds != source.negated)
    }

    /// Executes an operation. Results that are not known are removed.
    fn step(&mut self, op: &Op) {
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
        let written = op.written();
        self.registers.retain(|d, _| !written.registers.contains(d));
        self.predicates.retain(|p, _| !written.predicates.contains(p));
        self.registers.extend(register);
        self.predicates.extend(predicates);
    }
}

fn both(op: Bool2, a: bool, b: bool) -> bool {
    match op {
        Bool2::And => a & b,
        Bool2::Or => a | b,
        Bool2::Xor => a ^ b,
    }
}

/// Whether the rounds of a loop go on exactly as long as all threads ask for another one, and a lane goes to the load in each
/// of them or in none; `None` if that is not known.
pub(super) fn polls_in_rounds(
    program: &Program,
    rounds: &FlagRounds,
    (warp, lane): (&Warp, Lane),
) -> Option<bool> {
    let op = |at: &InstId| &program.insts[at.index()].op;
    let registers = rounds.registers.iter().filter_map(|r| match warp.register(*r).get(lane) {
        Value::Bits(bits) => Some((*r, bits)),
        Value::Sym(_) | Value::Undefined(_) => None,
    });
    let registers: FxHashMap<RegId, u64> = registers.collect();
    let predicates = rounds.predicates.iter().filter_map(|p| match warp.predicates[p.index()].get(lane) {
        Truth::Known(holds) => Some((*p, holds)),
        Truth::Condition(_) | Truth::Undefined(_) | Truth::Answer(_) => None,
    });
    let predicates: FxHashMap<PredId, bool> = predicates.collect();
    let mut polls = None;
    for result in [false, true] {
        let mut known = Known { registers: registers.clone(), predicates: predicates.clone() };
        known.predicates.insert(rounds.result, result);
        rounds.behind.iter().for_each(|at| known.step(op(at)));
        if known.truth(rounds.again)? != result {
            return None;
        }
        rounds.before.iter().for_each(|at| known.step(op(at)));
        polls = match rounds.polls {
            Some(guard) => Some(known.truth(guard)?),
            None => Some(true),
        };
    }
    polls
}

impl Condition {
    /// The condition of a lane at a loop. Registers that an iteration changes are unknown at its beginning.
    pub(super) fn of(
        program: &Program,
        looped: &Rc<FlagLoop>,
        (warp, lane): (&Warp, Lane),
        found: impl Fn(RegId) -> Option<usize>,
    ) -> Condition {
        let mut condition = Condition {
            looped: Rc::clone(looped),
            is_read: program.reads_what_it_found(looped),
            registers: FxHashMap::default(),
            predicates: FxHashMap::default(),
            found: None,
        };
        for d in &looped.registers {
            match warp.register(*d).get(lane) {
                Value::Bits(bits) => {
                    condition.registers.insert(*d, bits);
                }
                Value::Sym(_) => {}
                Value::Undefined(_) => condition.found = condition.found.or(found(*d).map(|at| (*d, at))),
            }
        }
        for p in &looped.predicates {
            if let Truth::Known(holds) = warp.predicates[p.index()].get(lane) {
                condition.predicates.insert(*p, holds);
            }
        }
        condition
    }

    /// Whether the loop is left if the flag holds `flag` and the atomic operation returned `found`; `None` if the
    /// condition depends on anything else.
    pub(super) fn leaves(&self, program: &Program, flag: u32, found: Option<u32>) -> Option<bool> {
        let mut known = Known { registers: self.registers.clone(), predicates: self.predicates.clone() };
        known.registers.insert(self.looped.d, flag.into());
        if let Some(((register, _), found)) = self.found.zip(found) {
            known.registers.insert(register, found.into());
        }
        for at in &self.looped.condition {
            known.step(&program.insts[at.index()].op);
        }
        known.truth(self.looped.leaves)
    }
}
