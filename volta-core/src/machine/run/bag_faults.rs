//! Faults of stores at places that counters give (rule Y18), shown by one schedule: the one that was executed.

use super::bags::{Ended, Placed};
use crate::machine::group::stop::Stop;
use crate::machine::memory::bag_stores::{BagStore, CounterKey, Draw};
use crate::term::{Count, TermId, TermKind, TermOp, depends_on};
use crate::value::guard::{Guard, Literal};
use crate::value::int_terms::whole;
use crate::value::{SymKind, Value};
use crate::verdict::{Fault, FaultKind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

impl Ended<'_> {
    /// Whether a guard tells something of what an atomic addition returned.
    fn tells_ticket(&self, guard: Guard) -> bool {
        let conditions: Vec<TermId> =
            self.guards.literals(guard).iter().map(|literal| literal.condition).collect();
        depends_on(self.store, &conditions, |term| self.launch.is_ticket(term))
    }

    /// The fault that two threads write one place, whatever the counter gives them: nothing orders them.
    pub(super) fn of_one_place(&mut self, placed: &[Placed<'_>], number: u32) -> Option<Stop> {
        let has_order = self.synchronises || self.launch.has_flags || self.launch.has_locks;
        let mut by_place: FxHashMap<&Count, Vec<&Placed<'_>>> = FxHashMap::default();
        for own in placed.iter().filter(|own| !has_order && !self.tells_ticket(own.of.guard)) {
            let others = by_place.entry(&own.place).or_default();
            let races = |other: &&&Placed<'_>| {
                are_apart(other.of, own.of) && !self.guards.exclude(other.of.guard, own.of.guard)
            };
            let Some(other) = others.iter().find(races).copied() else {
                others.push(own);
                continue;
            };
            let name = &self.launch.tensors[number as usize].name;
            let message = format!("two threads write one place of `{name}`, and nothing orders the two");
            let sites = [other, own].map(|own| self.launch.bag_site(self.linear, "writes it", own.of.site));
            let help = "write it at the place that the counter gives to the thread";
            let (kind, help) = (FaultKind::Race, Some(help.into()));
            let fault = Fault::new(self.launch.which, kind, "Y1", message, sites.into(), help);
            let mut literals = self.guards.literals(other.of.guard).to_vec();
            literals.extend(self.guards.literals(own.of.guard));
            return Some(self.possible(fault, vec![literals]));
        }
        None
    }

    /// The fault that the last addition of this very run, which is one of the schedules, gives a place beyond the output,
    /// where enough of those before it happen.
    pub(super) fn behind_the_last(
        &mut self,
        groups: &BTreeMap<Option<u64>, Vec<Placed<'_>>>,
        (draws, counters): (&[Draw], &BTreeMap<CounterKey, (i128, Count)>),
        number: u32,
    ) -> Option<Stop> {
        let (at, placed) = groups.iter().rev().find_map(|(ticket, placed)| {
            let first = placed.iter().find(|own| own.place.as_number().is_some())?;
            Some((usize::try_from((*ticket)?).ok()?, first))
        })?;
        let last = draws.get(at)?;
        let of_counter = || draws[..at].iter().filter(|draw| draw.key == last.key);
        let tensor = &self.launch.tensors[number as usize];
        let first = counters.get(&last.key)?.0 + placed.place.as_number()?;
        // How many places those before it may take without leading beyond the output.
        let room = i128::from(tensor.elements) - 1 - first;
        let by = of_counter().map(|draw| draw.by.as_number()).collect::<Option<Vec<i128>>>()?;
        let guards: Vec<Guard> = of_counter().map(|draw| draw.guard).chain([placed.of.guard]).collect();
        if by.iter().any(|by| *by < 0) || by.iter().sum::<i128>() <= room {
            return None;
        }
        if self.launch.has_flags || guards.into_iter().any(|guard| self.tells_ticket(guard)) {
            return None;
        }
        let mut taken = whole(self.store, 0);
        for (draw, by) in of_counter().zip(by) {
            let by = whole(self.store, by);
            let own = match self.guards.term(draw.guard, self.store) {
                Some(when) => {
                    let zero = whole(self.store, 0);
                    self.store.apply(TermOp::Select, &[when, by, zero], draw.site.1)
                }
                None => by,
            };
            taken = self.store.apply(TermOp::Add, &[taken, own], draw.site.1);
        }
        let room = whole(self.store, room);
        let is_beyond = self.store.apply(TermOp::Less, &[room, taken], placed.of.site.1);
        let message = format!(
            "writes `{}` out of bounds: it has {} elements, and the last place that the counter gives need not be one of \
             them",
            tensor.name, tensor.elements
        );
        let sites = vec![
            self.launch.bag_site(self.linear, "writes it", placed.of.site),
            self.launch.bag_site(self.linear, "takes the place", last.site),
        ];
        let fault = Fault::new(self.launch.which, FaultKind::OutOfBounds, "M1", message, sites, None);
        let mut literals = self.guards.literals(placed.of.guard).to_vec();
        literals.push(Literal { condition: is_beyond, holds: true });
        Some(self.possible(fault, vec![literals]))
    }
}

/// Whether two stores to one place race if nothing orders them: they are of two threads, and not one instruction of a warp
/// that may store one value.
fn are_apart(one: &BagStore, other: &BagStore) -> bool {
    let ((thread, pc), (other_thread, other_pc)) = (one.site, other.site);
    let input = |value: Value| {
        let Value::Sym(sym) = value else { return None };
        let SymKind::Real(_, term) = sym.kind() else { return None };
        matches!(term.kind(), TermKind::Input { .. }).then_some(term)
    };
    let differ = || input(one.value).zip(input(other.value)).is_some_and(|(one, other)| one != other);
    thread != other_thread && (pc != other_pc || thread / 32 != other_thread / 32 || differ())
}
