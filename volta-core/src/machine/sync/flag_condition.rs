//! The condition of a loop that waits for a flag (rule Y15), as a function of what the flag holds.

use crate::base::lane::Lane;
use crate::machine::group::warp::Warp;
use crate::program::{FlagLoop, FlagRounds, InstId, PredId, Program, RegId};
use crate::value::known_words::KnownWords;
use crate::value::{Truth, Value};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The condition on which a lane leaves such a loop.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    looped: Rc<FlagLoop>,
    /// Whether code after the loop reads the value that the loop found.
    pub(crate) is_read: bool,
    /// The known values of registers that the condition reads and that no iteration changes.
    registers: FxHashMap<RegId, u64>,
    predicates: FxHashMap<PredId, bool>,
    /// A register of the condition that holds the result of an atomic operation on the flag, and the index of that
    /// change.
    pub(crate) found: Option<(RegId, usize)>,
}

/// Whether the rounds of a loop go on exactly as long as all threads ask for another one, and a lane goes to the load in each
/// of them or in none; `None` if that is not known.
pub(crate) fn polls_in_rounds(
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
        let mut known = KnownWords { registers: registers.clone(), predicates: predicates.clone() };
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
    pub(crate) fn of(
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
    pub(crate) fn leaves(&self, program: &Program, flag: u32, found: Option<u32>) -> Option<bool> {
        let mut known = KnownWords { registers: self.registers.clone(), predicates: self.predicates.clone() };
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
