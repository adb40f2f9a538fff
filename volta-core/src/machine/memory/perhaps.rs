//! Accesses of CTAs to global memory that happen for some inputs only (rules S1, S5): which of them may race with those of
//! other CTAs, and what a location holds that several CTAs write, each for other inputs.
//!
//! Each CTA has a store of its own. What elements of inputs are where an access happens means the same in all of them;
//! other conditions are copied into a common store, in which those of two CTAs are compared like those of one.

use crate::concurrency::agent::Agent;
use crate::launch::infeasible::{Asked, Feasibility};
use crate::launch::objects::PAGE;
use crate::term::{Congruence, Imported, InputId, Store, TermId};
use crate::value::guard::{Guard, Guards, Is, Literal, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::sync::Arc;

/// At most so many conditions of an access are compared with those of accesses of other CTAs, the innermost ones.
const MOST_CONDITIONS: usize = 64;

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Reads,
    Writes,
    /// It updates the location atomically.
    Updates,
}

impl How {
    /// What a write by an agent does.
    pub(crate) fn writing(agent: Agent) -> How {
        if agent.atomic_update().is_some() { How::Updates } else { How::Writes }
    }

    /// Whether accesses of two CTAs to one location race.
    pub(crate) fn races_with(self, other: How) -> bool {
        match (self, other) {
            (How::Reads, How::Reads) | (How::Updates, How::Updates) => false,
            (How::Reads | How::Writes | How::Updates, _) => true,
        }
    }
}

/// An access of a CTA under a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Perhaps {
    pub(crate) guard: Guard,
    pub(crate) bytes: u8,
    pub(crate) how: How,
}

/// A cell of a tensor.
type Place = (u32, u64);

/// The accesses of a CTA under conditions, by cell.
#[derive(Debug, Default)]
pub(crate) struct PerhapsOfCta(FxHashMap<Place, SmallVec<[Perhaps; 1]>>);

/// An access of a CTA that has ended.
#[derive(Debug)]
pub(crate) struct Accessed {
    place: Place,
    bytes: u8,
    how: How,
    /// Where it happens: a condition in the CTA's store.
    when: TermId,
    /// What inputs are where it happens.
    values: SmallVec<[Is; 2]>,
    /// Other conditions under which it happens, in the CTA's store.
    besides: Arc<[Literal]>,
}

impl Accessed {
    /// The same access, with its conditions in terms of another store.
    pub(crate) fn imported(&self, to: &mut Store, from: &Store, known: &mut Imported) -> Accessed {
        let when = to.import(from, self.when, known);
        let besides = self.besides.iter().map(|literal| {
            let condition = to.import(from, literal.condition, known);
            Literal { condition, ..*literal }
        });
        let besides = besides.collect();
        Accessed { when, values: self.values.clone(), besides, ..*self }
    }
}

impl PerhapsOfCta {
    /// Notes an access.
    pub(crate) fn note(&mut self, place: Place, access: Perhaps) {
        let all = self.0.entry(place).or_default();
        if !all.contains(&access) {
            all.push(access);
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        (self.0.len() * 2 * size_of::<(Place, SmallVec<[Perhaps; 1]>)>()) as u64
    }

    /// The accesses in order, with their conditions as terms.
    pub(crate) fn accessed(self, guards: &Guards, store: &mut Store) -> Vec<Accessed> {
        let mut places: Vec<_> = self.0.into_iter().collect();
        places.sort_unstable_by_key(|(place, _)| *place);
        let mut terms: FxHashMap<Guard, (Option<TermId>, Arc<[Literal]>)> = FxHashMap::default();
        let mut out = Vec::new();
        for (place, accesses) in places {
            for Perhaps { guard, bytes, how } in accesses {
                let (when, besides) = terms.entry(guard).or_insert_with(|| {
                    let besides = guards.besides_inputs(guard, MOST_CONDITIONS);
                    (guards.term(guard, store), Arc::from(besides.as_slice()))
                });
                let Some(when) = *when else { continue };
                let (values, besides) = (guards.inputs(guard), Arc::clone(besides));
                out.push(Accessed { place, bytes, how, when, values, besides });
            }
        }
        out
    }
}

/// An access of a merged CTA.
#[derive(Debug)]
struct Merged {
    cta: u64,
    bytes: u8,
    how: How,
    values: SmallVec<[Is; 2]>,
    /// Its other conditions, in the common store.
    besides: Guard,
}

/// Conditions of accesses of all CTAs.
#[derive(Debug)]
struct Conditions {
    store: Store,
    congruence: Congruence,
    guards: Guards,
    infeasible: Asked,
}

impl Conditions {
    /// Conditions of a CTA, given in its store.
    fn adopt(&mut self, from: &Store, literals: &[Literal], known: &mut Imported) -> Guard {
        let own = literals.iter().map(|literal| {
            let condition = self.store.import(from, literal.condition, known);
            Literal { condition, ..*literal }
        });
        let own: Vec<Literal> = own.collect();
        let terms = Terms { store: &mut self.store, congruence: &mut self.congruence };
        self.guards.where_all(terms, &own)
    }

    /// Whether no input makes both of two accesses, as far as their conditions show.
    fn exclude(
        &mut self,
        one: (&[Is], Guard),
        other: (&[Is], Guard),
        infeasible: Option<&dyn Feasibility>,
    ) -> bool {
        let by_value = |(values, _): (&[Is], Guard), (_, guard): (&[Is], Guard)| {
            values.iter().any(|is| self.guards.excludes_input(guard, *is))
        };
        if self.guards.exclude(one.1, other.1) || by_value(one, other) || by_value(other, one) {
            return true;
        }
        let mut literals = self.guards.all_literals(one.1);
        literals.extend(self.guards.all_literals(other.1));
        self.infeasible.are_infeasible(infeasible, &mut self.store, &literals)
    }
}

/// The accesses to one cell.
#[derive(Debug, Default)]
struct OfCell {
    all: Vec<Merged>,
    /// For an input and a value: the elements of which one has this value where an access happens.
    families: FxHashMap<(InputId, i64), FxHashSet<u64>>,
}

/// The accesses of all CTAs under conditions.
#[derive(Debug, Default)]
pub(crate) struct PerhapsOfAll {
    cells: FxHashMap<Place, OfCell>,
    /// By tensor and page: the cells with such accesses.
    pages: FxHashMap<Place, Vec<u64>>,
    /// Cells of outputs that are written: by the store of a CTA, where a condition in it holds.
    pub(crate) writers: BTreeMap<Place, Vec<Writer>>,
    entries: u64,
    /// Where there are any.
    conditions: Option<Box<Conditions>>,
}

/// A write to a cell of an output under a condition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Writer {
    pub(crate) store: usize,
    pub(crate) bytes: u8,
    pub(crate) when: TermId,
}

/// Accesses of two CTAs that may race.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meeting {
    pub(crate) other: u64,
    pub(crate) place: Place,
    pub(crate) bytes: u8,
}

impl PerhapsOfAll {
    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        let conditions = |of: &Conditions| of.store.bytes() + of.congruence.bytes() + of.guards.bytes();
        self.entries * 3 * size_of::<Merged>() as u64 + self.conditions.as_deref().map_or(0, conditions)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// An access of a merged CTA under a condition that may race with one that a CTA makes for all inputs: to these
    /// bytes of the cells of a page.
    pub(crate) fn met(
        &self,
        cta: u64,
        (tensor, page): (u32, u64),
        accessed: impl Fn(usize) -> [(u8, How); 3],
    ) -> Option<Meeting> {
        for cell in self.pages.get(&(tensor, page)).into_iter().flatten() {
            let place = (tensor, *cell);
            for (bytes, how) in accessed((*cell % PAGE as u64) as usize) {
                let of_cell = self.cells.get(&place).into_iter().flat_map(|of| &of.all);
                let mut racing =
                    of_cell.filter(|one| one.cta != cta && one.bytes & bytes != 0 && one.how.races_with(how));
                if let Some(one) = racing.next() {
                    return Some(Meeting { other: one.cta, place, bytes: one.bytes & bytes });
                }
            }
        }
        None
    }

    /// Merges the accesses of a CTA, whose conditions are in a store; returns one that may race. `racing` finds the first
    /// CTA that surely makes an access which races with one to some bytes of a cell.
    pub(crate) fn add(
        &mut self,
        cta: u64,
        (accessed, store): (&[Accessed], &Store),
        racing: impl Fn(Place, u8, How) -> Option<u64>,
        (distinct, infeasible): (&[InputId], Option<&dyn Feasibility>),
        output: impl Fn(u32) -> Option<usize>,
    ) -> Option<Meeting> {
        let mut adopted: FxHashMap<Arc<[Literal]>, Guard> = FxHashMap::default();
        let mut known = Imported::default();
        for Accessed { place, bytes, how, when, values, besides } in accessed {
            if let Some(other) = racing(*place, *bytes, *how) {
                return Some(Meeting { other, place: *place, bytes: *bytes });
            }
            let besides = match adopted.get(besides) {
                _ if besides.is_empty() => Guard::ALWAYS,
                Some(guard) => *guard,
                None => {
                    let conditions = self.conditions.get_or_insert_with(|| {
                        let mut own = Store::new();
                        own.set_integers(store.all_integers().to_vec());
                        if store.is_ieee() {
                            own.set_ieee();
                        }
                        let guards = Guards::new(distinct.to_vec(), false);
                        let (congruence, infeasible) = (Congruence::default(), Asked::default());
                        Box::new(Conditions { store: own, congruence, guards, infeasible })
                    });
                    let guard = conditions.adopt(store, besides, &mut known);
                    adopted.insert(Arc::clone(besides), guard);
                    guard
                }
            };
            let of_cell = self.cells.entry(*place).or_default();
            if !of_cell.excludes(cta, values, distinct) {
                let mut conditions = self.conditions.as_deref_mut();
                let racing = of_cell.all.iter().find(|one| {
                    let by_values =
                        || one.values.iter().any(|a| values.iter().any(|b| a.excludes(*b, distinct)));
                    if one.cta == cta || one.bytes & bytes == 0 || !one.how.races_with(*how) || by_values() {
                        return false;
                    }
                    !conditions.as_deref_mut().is_some_and(|of| {
                        of.exclude((&one.values[..], one.besides), (&values[..], besides), infeasible)
                    })
                });
                if let Some(one) = racing {
                    return Some(Meeting { other: one.cta, place: *place, bytes: one.bytes & bytes });
                }
            }
            if of_cell.all.is_empty() {
                self.pages.entry((place.0, place.1 / PAGE as u64)).or_default().push(place.1);
            }
            for is in values {
                of_cell.families.entry((is.input, is.value)).or_default().insert(is.element);
            }
            of_cell.all.push(Merged { cta, bytes: *bytes, how: *how, values: values.clone(), besides });
            self.entries += 1;
            if *how == How::Writes
                && let Some(store) = output(place.0)
            {
                let writer = Writer { store, bytes: *bytes, when: *when };
                self.writers.entry(*place).or_default().push(writer);
            }
        }
        None
    }
}

impl OfCell {
    /// Whether an access excludes all others because an element of an input has a value that other elements, all of them
    /// different, have where the others happen.
    fn excludes(&self, cta: u64, values: &[Is], distinct: &[InputId]) -> bool {
        self.all.iter().all(|one| one.cta != cta)
            && values.iter().any(|is| {
                let family = self.families.get(&(is.input, is.value));
                distinct.contains(&is.input)
                    && family.is_some_and(|of| of.len() == self.all.len() && !of.contains(&is.element))
            })
    }
}
