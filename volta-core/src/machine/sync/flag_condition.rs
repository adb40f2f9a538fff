//! The condition of a loop that waits for a flag (rule Y15), as a function of what the flag holds.

use crate::base::lane::Lane;
use crate::machine::group::warp::Warp;
use crate::program::{FlagLoop, FlagRounds, InstId, PredId, Program, RegId};
use crate::value::known_words::KnownWords;
use crate::value::{Truth, Value};
use std::rc::Rc;

/// The condition on which a lane leaves such a loop.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    looped: Rc<FlagLoop>,
    /// Whether code after the loop reads the value that the loop found.
    pub(crate) is_read: bool,
    /// The known values of registers that the condition reads and that no iteration changes.
    known: KnownWords,
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
    let held = known_of(warp, lane, &rounds.registers, &rounds.predicates);
    let mut polls = None;
    for result in [false, true] {
        let mut known = held.clone();
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

/// What is known of some registers and predicates of a lane.
fn known_of(warp: &Warp, lane: Lane, registers: &[RegId], predicates: &[PredId]) -> KnownWords {
    let mut known = KnownWords::default();
    for r in registers {
        if let Value::Bits(bits) = warp.register(*r).get(lane) {
            known.registers.insert(*r, bits);
        }
    }
    for p in predicates {
        if let Truth::Known(holds) = warp.predicates[p.index()].get(lane) {
            known.predicates.insert(*p, holds);
        }
    }
    known
}

impl Condition {
    /// The condition of a lane at a loop. Registers that an iteration changes are unknown at its beginning.
    pub(crate) fn of(
        program: &Program,
        looped: &Rc<FlagLoop>,
        (warp, lane): (&Warp, Lane),
        found: impl Fn(RegId) -> Option<usize>,
    ) -> Condition {
        let is_undefined = |d: &&RegId| matches!(warp.register(**d).get(lane), Value::Undefined(_));
        let mut undefined = looped.registers.iter().filter(is_undefined);
        Condition {
            looped: Rc::clone(looped),
            is_read: program.reads_what_it_found(looped),
            known: known_of(warp, lane, &looped.registers, &looped.predicates),
            found: undefined.find_map(|d| found(*d).map(|at| (*d, at))),
        }
    }

    /// Whether the loop is left if the flag holds `flag` and the atomic operation returned `found`; `None` if the
    /// condition depends on anything else.
    pub(crate) fn leaves(&self, program: &Program, flag: u32, found: Option<u32>) -> Option<bool> {
        let mut known = self.known.clone();
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
