//! Loops that terminate for any contents of registers, because of a counter: each iteration brings the counter nearer
//! to a constant and compares the two at its end.

use super::code::Program;
use super::op::{Bool2, Compare, Int, Int2, Op, PredSrc, RegId, Src, Width};
use super::visit::Named;

impl Program {
    /// The counter of a loop of straight-line code, left only at its last operation by a condition on it, that
    /// terminates for any register contents.
    pub(super) fn counts_down(&self, header: u32, members: &[u32]) -> Option<RegId> {
        let [.., last] = members else { return None };
        let (Op::Branch { target }, Some(stay)) =
            (&self.insts[*last as usize].op, self.insts[*last as usize].guard)
        else {
            return None;
        };
        let run = last - header;
        let straight = members[..run as usize]
            .iter()
            .all(|at| !matches!(self.insts[*at as usize].op, Op::Branch { .. }));
        if target.0 != header || members.len() as u32 != run + 1 || !straight {
            return None;
        }
        self.needed_counter(members, stay, 8)
    }

    /// The counter because of which a condition at the end of an iteration can hold only finitely often in a row.
    fn needed_counter(&self, run: &[u32], condition: PredSrc, depth: u32) -> Option<RegId> {
        let at = self.only_write(run, Named::WritePredicate(condition.pred))?;
        if depth == 0 || condition.negated {
            return None;
        }
        let op = &self.insts[at as usize].op;
        if let Op::Pred2 { op: Bool2::And, p: _, a, b } = op {
            return [a, b].into_iter().find_map(|part| self.needed_counter(run, *part, depth - 1));
        }
        let Op::SetpInt { compare, ty, p: _, q: None, a: Src::Reg(counter), b: Src::Imm(bound), combine } =
            op
        else {
            return None;
        };
        let counts = ty.width == Width::W32
            && matches!(combine, None | Some((Bool2::And, _)))
            && self.counts_to(run, *counter, at, (*compare, ty.signed, *bound as u32 as i32));
        counts.then_some(*counter)
    }

    /// Whether a register is counted down before `at`, so that the comparison with a bound can hold only finitely
    /// often.
    fn counts_to(&self, run: &[u32], counter: RegId, at: u32, bound: (Compare, bool, i32)) -> bool {
        let Some(step) = self.only_write(run, Named::Write(counter)) else { return false };
        if step > at {
            return self.counts_down_behind(run, counter, step, bound);
        }
        let Op::Int2 { op, ty: Int { width: Width::W32, .. }, d: _, a: Src::Reg(from), b } =
            self.insts[step as usize].op
        else {
            return false;
        };
        match (op, b, bound) {
            // The remainder, or a part of it, is subtracted until nothing is left.
            (Int2::Sub, Src::Reg(part), (Compare::Ne, _, 0)) if from == counter => {
                let part = self.only_write(run, Named::Write(part)).filter(|part| *part < step);
                part.is_some_and(|part| {
                    let least = Int { width: Width::W32, signed: false };
                    matches!(
                        self.insts[part as usize].op,
                        Op::Int2 { op: Int2::Min, ty, d: _, a: Src::Reg(whole), b: Src::Imm(most) }
                            if ty == least && whole == counter && most as u32 > 0
                    )
                })
            }
            // In steps of one, every number is reached.
            (Int2::Add, Src::Imm(by), (Compare::Ne, _, 0)) if from == counter => {
                matches!(by as u32 as i32, -1 | 1)
            }
            // It wraps around at most once before it exceeds the bound.
            (Int2::Add, Src::Imm(by), (Compare::Gt, true, bound)) if from == counter => {
                let by = by as u32 as i32;
                by < 0 && bound.checked_add(by).is_some()
            }
            _ => false,
        }
    }

    /// Whether a register is compared with a bound, and then counted down in a copy of the remainder.
    fn counts_down_behind(
        &self,
        run: &[u32],
        counter: RegId,
        copy: u32,
        bound: (Compare, bool, i32),
    ) -> bool {
        let Op::Mov { a: Src::Reg(left), .. } = self.insts[copy as usize].op else { return false };
        let Some(step) = self.only_write(run, Named::Write(left)).filter(|step| *step < copy) else {
            return false;
        };
        match (&self.insts[step as usize].op, bound) {
            // It exceeds the bound whenever there is another iteration, so it does not wrap around.
            (
                Op::Int2 { op: Int2::Add, ty, d: _, a: Src::Reg(from), b: Src::Imm(by) },
                (Compare::Gt, true, bound),
            ) => {
                let by = *by as u32 as i32;
                ty.width == Width::W32 && *from == counter && by < 0 && bound.checked_add(by).is_some()
            }
            _ => false,
        }
    }

    /// The only operation of a loop body that writes a register (named as written), if it is unguarded.
    pub(super) fn only_write(&self, run: &[u32], register: Named) -> Option<u32> {
        let mut writes = run.iter().filter(|at| self.insts[**at as usize].reads_and_writes(register).1);
        let only = *writes.next()?;
        (writes.next().is_none() && self.insts[only as usize].guard.is_none()).then_some(only)
    }
}
