//! Minima and maxima: of all that are nested in one another, only the outer one has a form.

use rustc_hash::FxHashSet;
use smallvec::smallvec;

use super::{Content, FormRef, Forms, Kinds, Needs, NoForm, Operands, key_of_term, operands_of};
use crate::number::format::Format;
use crate::term::{IeeeKey, IeeeOp, Store, TermId};

/// Whether it is a minimum or a maximum.
pub(super) fn is_extremum(op: IeeeOp) -> bool {
    matches!(op, IeeeOp::Min | IeeeOp::Max | IeeeOp::MinNan | IeeeOp::MaxNan)
}

impl Forms<'_> {
    /// The terms whose forms that of a term is made of.
    pub(super) fn needs(&self, number: usize, store: &Store, term: TermId) -> Needs {
        if store.as_ieee_number(term).is_some() {
            return Needs::new();
        }
        let operands = operands_of(store, term);
        let Some(key) = key_of_term(store, term).filter(|key| is_extremum(key.op)) else { return operands };
        // The operands of all extremes below it that have no form yet.
        let mut found = Needs::new();
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut open: Vec<TermId> = operands.into_iter().rev().collect();
        while let Some(operand) = open.pop() {
            if !seen.insert(operand) {
                continue;
            }
            let is_inner = !self.known[number].contains_key(&operand)
                && key_of_term(store, operand) == Some(key)
                && store.as_ieee_number(operand).is_none();
            if is_inner {
                open.extend(operands_of(store, operand).into_iter().rev());
            } else {
                found.push(operand);
            }
        }
        // An operation has two operands.
        if let [only] = found[..] {
            found.push(only);
        }
        found
    }

    /// The minimum or maximum of several.
    pub(super) fn extremum(&mut self, key: IeeeKey, operands: &[FormRef]) -> FormRef {
        // The operands decide, and not their format.
        let key = if key.flush { key } else { IeeeKey { format: Format::F64, ..key } };
        let mut all: Vec<Operands> = Vec::with_capacity(operands.len());
        for operand in operands {
            match &self.contents[operand.index()] {
                Content::Many(inner, parts) if *inner == key && !operand.negative() => {
                    all.extend(parts.iter().cloned());
                }
                Content::Input(..)
                | Content::Number(_)
                | Content::Integer(_)
                | Content::Ieee(..)
                | Content::Many(..)
                | Content::Term(..) => all.push(smallvec![*operand]),
            }
        }
        all.sort_unstable();
        all.dedup();
        match all.as_slice() {
            [only] => self.flush(key, only[0]),
            _ => self.many(key, all),
        }
    }

    /// An extremum of extremes, from the forms of all their operands at once: a running one has no form at each step.
    pub(super) fn extremum_of(&mut self, key: IeeeKey, operands: &[FormRef]) -> Result<FormRef, NoForm> {
        let is_number = |form: &FormRef| self.float(*form).is_some();
        // A choice may be one between numbers.
        let is_choice = |form: &FormRef| matches!(self.contents[form.index()], Content::Term(..));
        let (numbers, others): (Vec<FormRef>, Vec<FormRef>) =
            operands.iter().partition(|form| is_number(form));
        let (choices, plain): (Vec<FormRef>, Vec<FormRef>) =
            others.into_iter().partition(|form| is_choice(form) || !self.is(*form, Kinds::Float));
        // Numbers and choices take part one after the other, as they would if nothing stood between them.
        let mut all = numbers;
        match plain[..] {
            [] => {}
            [only] => all.push(only),
            _ => all.push(self.extremum(key, &plain)),
        }
        all.extend(choices);
        let mut all = all.into_iter();
        let Some(mut found) = all.next() else { return Err(NoForm::Operation("an extremum of nothing")) };
        for next in all {
            found = self.ieee(key, smallvec![found, next])?;
        }
        Ok(found)
    }
}
