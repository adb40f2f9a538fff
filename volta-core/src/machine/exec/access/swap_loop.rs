//! Loops of compare-and-swap (rule Y7). One turn is executed with an unknown real in place of the value that it finds.
//! The loop is an update if the turn computes a sum, a minimum or a maximum of that real and of operands that do not
//! depend on it. The location is then updated as by an atomic operation.

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::agent::Agent;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::{Accesses, Arithmetic, LaneAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::program::{Clamp, Inst, InstId, Precision, Swap, Update, Width};
use crate::term::{NodeId, TermId, TermKind, TermOp, View};
use crate::value::float_inst::Shape;
use crate::value::int_terms::exactly;
use crate::value::packed::{PackedPart, PackedValues};
use crate::value::{Origin, Sym, Truth, Value};
use crate::verdict::FaultKind;
use rustc_hash::{FxHashMap, FxHashSet};

/// The change that a turn makes to one real of a lane's location, if it is an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// None.
    Same,
    /// Adds an operand, or takes the minimum or maximum with it.
    By(TermOp, Value),
}

/// For each lane, the changes that a turn makes to the reals of its word.
type Changes = Vec<(Lane, Vec<Change>)>;

/// A word as reals of one format side by side, and the unknowns that stand for them.
struct Reals {
    format: Format,
    /// One node for each real of the word.
    unknown: Vec<NodeId>,
}

impl Cta<'_> {
    /// Executes a loop of compare-and-swap.
    pub(crate) fn swap(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        swap: &Swap,
    ) -> Result<(), Stop> {
        if self.values.terms.store.is_ieee() {
            // Its sum rounds like any other, and one of `atom.add` may flush subnormal numbers.
            let message = "a loop of compare-and-swap has no bits yet";
            return Err(self.context.fault(FaultKind::Unsupported, "B1", message, warp, mask.first(), pc));
        }
        for format in swap.turn.formats.iter().copied().filter(|format| format.bytes() <= swap.width.bytes())
        {
            let Some(changes) = self.try_turn(warp, mask, pc, swap, format)? else { continue };
            let Some(update) = update_of(&changes, format, swap.width) else { continue };
            self.accesses().exchange(warp, pc, swap, (update, format), &changes)?;
            // The previous contents depend on the schedule (rule S4).
            let unpredictable = Origin::Unpredictable(pc);
            for d in swap.turn.varying.registers.iter().chain([&swap.d]) {
                warp.register_mut(*d).fill(mask, Value::Undefined(unpredictable));
            }
            for (p, lane) in
                swap.turn.varying.predicates.iter().flat_map(|p| mask.iter().map(move |l| (p, l)))
            {
                warp.predicate_mut(*p).set(lane, Truth::Undefined(unpredictable));
            }
            self.values.terms.relied.on_swap(pc, update);
            return Ok(());
        }
        let message =
            format!("{}, and one iteration of the loop around it is not a commutative update", swap.reason);
        Err(self.context.fault(FaultKind::Unsupported, "S2", message, warp, mask.first(), pc))
    }

    /// Executes one turn on words of reals of a format. `None` if it changes them in a way that is not an update.
    fn try_turn(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        pc: InstId,
        swap: &Swap,
        format: Format,
    ) -> Result<Option<Changes>, Stop> {
        let count = swap.width.bytes() / format.bytes();
        let reals =
            Reals { format, unknown: (0..count).map(|_| self.values.terms.unknown_real(mask, pc)).collect() };
        for lane in mask {
            let part = |node: &NodeId| PackedPart {
                value: Value::Sym(Sym::real(format, TermId::lane(*node, lane))),
                bytes: format.bytes(),
            };
            let parts: Vec<PackedPart> = reals.unknown.iter().map(part).collect();
            let word = match parts.as_slice() {
                [only] => only.value,
                parts => self.values.terms.packed.join(parts),
            };
            warp.register_mut(swap.turn.found).set(lane, word);
        }
        let insts: &[Inst] = &self.context.launch.program.insts;
        let before = self.work.counts.warp_instructions;
        self.work.counts.warp_instructions += swap.turn.operations.len() as u64;
        if (before ^ self.work.counts.warp_instructions) >> 12 != 0 {
            self.check_budgets()?;
        }
        // The cost of these accesses was counted when they were executed.
        let patterns = self.patterns.take();
        let mut operations = swap.turn.operations.iter();
        let executed = operations.try_for_each(|at| self.execute(warp, mask, &insts[at.index()], *at));
        self.patterns = patterns;
        // The word holds values of another kind.
        if let Err(Stop::Fault(_) | Stop::Possible(_)) = executed {
            return Ok(None);
        }
        executed?;
        let mut all = Vec::with_capacity(mask.count() as usize);
        for lane in mask {
            let new = self.context.value(warp, swap.new, lane);
            let Some(changes) = self.accesses().changes(new, swap.width, lane, &reals, pc) else {
                return Ok(None);
            };
            all.push((lane, changes));
        }
        Ok(Some(all))
    }
}

impl Accesses<'_, '_> {
    /// The changes to the reals of a word, by its new contents.
    fn changes(
        &mut self,
        new: Value,
        width: Width,
        lane: Lane,
        reals: &Reals,
        pc: InstId,
    ) -> Option<Vec<Change>> {
        let (format, bytes) = (reals.format, reals.format.bytes());
        let pieces = self.values.terms.packed.split(new, width.bytes());
        let mut changes = Vec::with_capacity(reals.unknown.len());
        for (at, node) in reals.unknown.iter().enumerate() {
            let part = PackedValues::slice(&pieces, at as u32 * bytes, bytes).ok()?;
            let part = self.values.terms.packed.join(&part);
            if let Some(origin) = self.values.terms.packed.undefined_part(part) {
                // An unevaluated instruction may compute anything, not only a sum.
                if matches!(origin, Origin::Unevaluated(_)) {
                    return None;
                }
                changes.push(Change::By(TermOp::Add, Value::Undefined(origin)));
                continue;
            }
            let real = self.values.reals().read_real(part, format).ok()??;
            let own = TermId::lane(*node, lane);
            if real == own {
                changes.push(Change::Same);
                continue;
            }
            let mut turn = OneTurn {
                arithmetic: self.arithmetic(),
                unknown: &reals.unknown,
                known: FxHashMap::default(),
                format,
                pc,
            };
            let by = match turn.added(real, own) {
                Some(by) => (TermOp::Add, by),
                None => turn.compared(real, own)?,
            };
            changes.push(Change::By(by.0, Value::Sym(Sym::real(format, by.1))));
        }
        Some(changes)
    }

    /// Updates the locations of all lanes.
    fn exchange(
        &mut self,
        warp: &mut Warp,
        pc: InstId,
        swap: &Swap,
        (update, format): (Update, Format),
        changes: &[(Lane, Vec<Change>)],
    ) -> Result<(), Stop> {
        let mask = changes.iter().map(|(lane, _)| *lane).collect::<LaneMask>();
        let addresses = self.values.terms.addresses(warp, mask, swap.address, pc)?;
        let agent = Agent::Atomic { update, scope: swap.scope };
        let bytes = swap.width.bytes();
        for (lane, changes) in changes {
            let lane = *lane;
            let mut offsets = [0; 32];
            let place = (swap.space, addresses[lane]);
            let access = LaneAccess { place, bytes, alignment: bytes, agent, writes: true };
            let at = self.locate_lane(warp, lane, pc, access, &mut offsets)?;
            self.context.holds_atomics(warp, lane, &at)?;
            self.context.writable(warp, &at, bytes)?;
            self.note_plain_update(warp, lane, &at)?;
            for (part, change) in changes.iter().enumerate() {
                let offset = at.offsets[lane] + part as u64 * u64::from(update.bytes());
                let by = match change {
                    Change::By(_, by) => *by,
                    // Parts that stay as they are belong to the exchange as well.
                    Change::Same => {
                        let held = self.held_value(warp, lane, &at, offset, update.bytes())?;
                        if let Err(held) = self.values.reals().read_real(held, format) {
                            let message = format!("{}; the same word also contains {held}", swap.reason);
                            let kind = FaultKind::Unsupported;
                            return Err(self.context.fault(kind, "S2", message, warp, lane, pc));
                        }
                        Value::Bits(0)
                    }
                };
                self.update_at(warp, lane, &at, offset, by)?;
            }
        }
        Ok(())
    }
}

impl ValueTerms<'_> {
    /// An unknown real in each lane, different from all others. No term refers to it once the loop has been executed.
    fn unknown_real(&mut self, mask: LaneMask, pc: InstId) -> NodeId {
        let number = Rational::from_u64(self.store.len() as u64);
        let number = exactly(&mut self.store, number);
        self.store.push(TermOp::Outcome, mask, &[&[number.raw(); 32]], pc)
    }
}

/// The update that all lanes make, if they make the same one.
fn update_of(changes: &[(Lane, Vec<Change>)], format: Format, word: Width) -> Option<Update> {
    let operation = |change: &Change| if let Change::By(op, _) = change { Some(*op) } else { None };
    let operations: FxHashSet<Option<TermOp>> =
        changes.iter().flat_map(|(_, changes)| changes).map(operation).collect();
    let [adds, least, largest] =
        [TermOp::Add, TermOp::Min, TermOp::Max].map(|op| operations.contains(&Some(op)));
    let is_whole = format.bytes() == word.bytes();
    match (adds, least, largest) {
        (true, false, false) if is_whole => Some(Update::Real(format)),
        (true, false, false) => Some(Update::RealInWord { format, word }),
        // An unchanged part adds zero; minima and maxima have no such neutral operand.
        (false, true, false) | (false, false, true) if is_whole && operations.len() == 1 => {
            Some(Update::Extreme { largest, format })
        }
        _ => None,
    }
}

/// Analyses the terms that one turn computes.
struct OneTurn<'c, 'l, 'u> {
    arithmetic: Arithmetic<'c, 'l>,
    unknown: &'u [NodeId],
    /// Memoized: whether a term depends on the value that the turn found.
    known: FxHashMap<TermId, bool>,
    format: Format,
    pc: InstId,
}

impl OneTurn<'_, '_, '_> {
    /// Whether a term depends on the value that the turn found.
    fn depends(&mut self, term: TermId) -> bool {
        let TermKind::Lane(node, _) = term.kind() else { return false };
        // Nodes older than the unknowns cannot depend on them.
        if self.unknown.iter().all(|unknown| node < *unknown) {
            return false;
        }
        if self.unknown.contains(&node) {
            return true;
        }
        if let Some(known) = self.known.get(&term) {
            return *known;
        }
        let View::Apply(op, operands) = self.arithmetic.values.terms.store.view(term) else { return false };
        let depends = operands[..op.arity()].iter().any(|operand| self.depends(*operand));
        self.known.insert(term, depends);
        depends
    }

    /// The operand that is added to the found value `own`, if `term` is such a sum.
    fn added(&mut self, term: TermId, own: TermId) -> Option<TermId> {
        let mut rest: Vec<(TermOp, TermId)> = Vec::new();
        let mut at = term;
        while at != own {
            let View::Apply(op, [a, b, c]) = self.arithmetic.values.terms.store.view(at) else { return None };
            let depend: Vec<bool> = [a, b, c][..op.arity()].iter().map(|term| self.depends(*term)).collect();
            let (next, by) = match (op, &depend[..]) {
                (TermOp::Add, [true, false]) => (a, (TermOp::Add, b)),
                (TermOp::Add, [false, true]) => (b, (TermOp::Add, a)),
                (TermOp::Sub, [true, false]) => (a, (TermOp::Sub, b)),
                (TermOp::Fma, [false, false, true]) => (c, (TermOp::Add, self.product(a, b)?)),
                (TermOp::Fma, [true, false, false]) if self.is_one(b) => (a, (TermOp::Add, c)),
                (TermOp::Fma, [false, true, false]) if self.is_one(a) => (b, (TermOp::Add, c)),
                _ => return None,
            };
            at = next;
            rest.push(by);
        }
        let mut sum = None;
        for (op, by) in rest.into_iter().rev() {
            sum = Some(match (sum, op) {
                (None, TermOp::Sub) => self.computed(TermOp::Neg, &[by])?,
                (None, _) => by,
                (Some(sum), op) => self.computed(op, &[sum, by])?,
            });
        }
        sum
    }

    /// The operand with which the found value `own` is compared, if `term` is their minimum or maximum.
    fn compared(&mut self, term: TermId, own: TermId) -> Option<(TermOp, TermId)> {
        let View::Apply(op @ (TermOp::Min | TermOp::Max), _) = self.arithmetic.values.terms.store.view(term)
        else {
            return None;
        };
        let (mut at, mut with) = (term, None);
        while at != own {
            let View::Apply(own_op, [a, b, _]) = self.arithmetic.values.terms.store.view(at) else {
                return None;
            };
            if own_op != op {
                return None;
            }
            let (next, other) = match (self.depends(a), self.depends(b)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                (true, true) | (false, false) => return None,
            };
            with = Some(match with {
                None => other,
                Some(with) => self.computed(op, &[with, other])?,
            });
            at = next;
        }
        Some((op, with?))
    }

    fn product(&mut self, a: TermId, b: TermId) -> Option<TermId> {
        if self.is_one(a) {
            return Some(b);
        }
        if self.is_one(b) { Some(a) } else { self.computed(TermOp::Mul, &[a, b]) }
    }

    fn is_one(&self, term: TermId) -> bool {
        match self.arithmetic.values.terms.store.view(term) {
            View::Constant(constant) => constant.exact == Extended::Finite(Rational::ONE),
            View::Input { .. } | View::Apply(..) => false,
        }
    }

    /// Applies an operation to terms that do not depend on the found value.
    fn computed(&mut self, op: TermOp, terms: &[TermId]) -> Option<TermId> {
        let OneTurn { format, pc, .. } = *self;
        let precision = Precision { approximate: true, ..Precision::NEAREST };
        let shape = Shape { op, format, precision, clamp: Clamp::None };
        if terms.iter().all(|term| self.arithmetic.values.numbers.known.contains(term.raw())) {
            let value = self.arithmetic.fold_float(shape, terms, pc);
            return self.arithmetic.values.reals().read_real(value, format).ok().flatten();
        }
        Some(self.arithmetic.values.terms.store.apply(op, terms, pc))
    }
}
