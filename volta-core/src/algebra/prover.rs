//! The prover: the parts of its state, and how its walks are run.
//!
//! [`Terms`] are read, and their forms are interned in a [`Table`]; neither depends on assumptions. [`Forms`] do,
//! and are dropped where a [`Case`] begins. The [`Tactic`] selects the rewrites, and the [`Worklist`] holds the
//! needs of walks. The sibling modules make the forms.

use super::Stop;
use super::analysis::Analysis;
use super::case::Case;
use super::constant_readings::Reading;
use super::extended_value::Class;
use super::id::TermRef;
use super::linear_sum::Walk;
use super::memo::{Forms, LongSums};
use super::table::{InputRange, Table};
use super::tactic::{Choices, Tactic};
use super::terms::{Order, Terms};
use super::worklist::{Need, Worklist, if_known};
use crate::base::ration::{Account, Ration};
use crate::number::signs::Signs;
use crate::term::Store;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;
use std::rc::Rc;

/// Proves equalities between terms of several stores over shared inputs. Not shared between threads; forms memoized
/// for one element serve the next.
pub struct Prover<'s> {
    pub(super) terms: Terms<'s>,
    pub(super) table: Table,
    pub(super) sums: LongSums,
    pub(super) forms: Forms,
    /// Memoized forms in which choices are [kept](Choices::Kept); while such forms are made, it holds the others.
    shallow: Forms,
    pub(super) case: Case,
    pub(super) tactic: Tactic,
    pub(super) work: Worklist,
    /// Completed walks, for reuse.
    pub(super) spare_walks: Vec<Walk>,
    pub(super) readings: BTreeSet<Reading>,
    pub(super) account: Account,
}

impl<'s> Prover<'s> {
    /// A prover with nothing memoized. `inputs[i]` describes the elements of input `i`.
    pub fn new(inputs: Vec<InputRange>, tactic: Tactic) -> Prover<'s> {
        Prover {
            terms: Terms::new(inputs.iter().map(|range| range.signs).collect()),
            table: Table::new(inputs),
            sums: LongSums::default(),
            forms: Forms::default(),
            shallow: Forms::default(),
            case: Case::default(),
            tactic,
            work: Worklist::default(),
            spare_walks: Vec::new(),
            readings: BTreeSet::new(),
            account: Account::new(Rc::new(Ration::endless())),
        }
    }

    /// Whether no sum was named, so that a prover with [`Tactic::THOROUGH`] finds no more.
    pub fn is_thorough(&self) -> bool {
        !self.sums.any
    }

    /// The index of a store within this prover.
    pub fn add_store(&mut self, store: &'s Store, analysis: &'s Analysis) -> u32 {
        self.table.learn_integers(store);
        self.terms.add_store(store, analysis)
    }

    /// Makes the prover draw from a ration.
    pub fn draw_from(&mut self, ration: &Rc<Ration>) {
        self.account = Account::new(ration.clone());
    }

    /// Starts counting steps anew, up to `most` or what the ration has left.
    pub fn set_budget(&mut self, most: u64) {
        self.account.begin(most);
        self.work = Worklist::default();
    }

    /// Reports to the ration what was taken from it.
    pub fn settle_account(&mut self) {
        self.account.settle();
    }

    /// Steps since [`Prover::set_budget`].
    pub fn steps(&self) -> u64 {
        self.account.steps()
    }

    /// The literals read as irrational constants so far.
    pub fn readings(&self) -> &BTreeSet<Reading> {
        &self.readings
    }

    /// Everything interned.
    pub fn table(&self) -> &Table {
        &self.table
    }

    pub(super) fn charge(&mut self, steps: u64) -> Result<(), Stop> {
        if self.account.charge(steps) { self.look() } else { Ok(()) }
    }

    /// Checks the time, the memory and the steps taken so far.
    pub(super) fn look(&mut self) -> Result<(), Stop> {
        let bytes = self.bytes();
        self.account.look(bytes).map_err(Stop::Exhausted)
    }

    /// Memory of the prover's tables in bytes, computed from sizes.
    fn bytes(&self) -> u64 {
        self.table.bytes()
            + self.terms.bytes()
            + self.sums.bytes()
            + self.forms.bytes()
            + self.shallow.bytes()
    }

    /// Counts steps without checking the budget; the next charge checks it.
    pub(super) fn add_steps(&mut self, steps: u64) {
        self.account.charge(steps);
    }

    /// The class of a term.
    pub fn class(&mut self, at: TermRef) -> Result<Class, Stop> {
        self.terms.class(at, &mut self.account)
    }

    /// The class of a term that has a value.
    pub(super) fn defined_class(&mut self, at: TermRef) -> Result<Class, Stop> {
        match self.class(at)? {
            Class::Undefined(why) => Err(Stop::Undefined(why.to_string())),
            Class::Unknown(why) => Err(Stop::Unknown(why.to_string())),
            class @ (Class::Finite | Class::PosInf | Class::NegInf | Class::Known(_)) => Ok(class),
        }
    }

    /// Whether a term that has a value is an infinity.
    pub(super) fn is_infinite(&mut self, at: TermRef) -> Result<bool, Stop> {
        Ok(self.defined_class(at)?.is_infinite())
    }

    /// The signs that a term can have, from the operations that made it.
    pub fn term_signs(&mut self, at: TermRef) -> Result<Signs, Stop> {
        self.terms.term_signs(at, &mut self.account)
    }

    /// Drops the memoized forms, which may depend on assumptions.
    pub(super) fn forget(&mut self) {
        self.forms = Forms::default();
        self.shallow = Forms::default();
    }

    /// Makes forms in which choices are kept. `None` if a need is nested too deeply for this.
    pub(super) fn shallowly<T>(
        &mut self,
        work: impl FnOnce(&mut Prover<'s>) -> Result<Option<T>, Stop>,
    ) -> Result<Option<T>, Stop> {
        let aside = self.work.aside();
        std::mem::swap(&mut self.forms, &mut self.shallow);
        self.tactic.choices = Choices::Kept;
        let found = work(self);
        self.tactic.choices = Choices::Scaled;
        std::mem::swap(&mut self.forms, &mut self.shallow);
        self.work.resume(aside);
        if_known(found).map(Option::flatten)
    }

    /// Makes forms under the assumption that an order holds, or that it does not; other choices are kept. These
    /// forms are not memoized; `None` if a need is nested too deeply for this.
    pub(super) fn ordered<T>(
        &mut self,
        order: Order,
        holds: bool,
        work: impl FnOnce(&mut Prover<'s>) -> Result<T, Stop>,
    ) -> Result<Option<T>, Stop> {
        let aside = self.work.aside();
        let forms = std::mem::take(&mut self.forms);
        let choices = std::mem::replace(&mut self.tactic.choices, Choices::Ordered(order, holds));
        let found = work(self);
        self.tactic.choices = choices;
        self.forms = forms;
        self.work.resume(aside);
        if_known(found)
    }

    /// Runs `attempt` until no need of it is missing.
    pub(super) fn settle<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Prover<'s>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.work = Worklist::default();
        loop {
            let done = match self.work.next() {
                Some(need) => self.charge(1).and_then(|()| self.meet(need)).map(|()| None),
                None => attempt(self).map(Some),
            };
            match done {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => self.work.met(),
                Err(Stop::Missing) => self.work.wait()?,
                Err(stop) => return Err(stop),
            }
        }
    }

    fn meet(&mut self, need: Need) -> Result<(), Stop> {
        match need {
            Need::LinearSum(at) => self.flat(at).map(drop),
            Need::Power(at) => self.power_of_two(at).map(drop),
            Need::Factored(at) => self.factor(at).map(drop),
            Need::Resolved(at) => self.resolve(at).map(drop),
            Need::Exponent(id) => self.resolve_exponent(id).map(drop),
        }
    }

    /// The memoized value of a key; computed and memoized if absent.
    #[inline]
    pub(super) fn remembered<K: Copy + Eq + Hash, V: Clone>(
        &mut self,
        of: impl Fn(&mut Forms) -> &mut FxHashMap<K, V>,
        key: K,
        make: impl FnOnce(&mut Prover<'s>) -> Result<V, Stop>,
    ) -> Result<V, Stop> {
        if let Some(known) = of(&mut self.forms).get(&key) {
            return Ok(known.clone());
        }
        let made = make(self)?;
        of(&mut self.forms).insert(key, made.clone());
        Ok(made)
    }

    /// Does the work for `need` recursively, or leaves the need on the worklist if the recursion is too deep.
    pub(super) fn descend<T>(
        &mut self,
        need: Need,
        work: impl FnOnce(&mut Prover<'s>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        self.work.descend(need)?;
        let result = work(self);
        self.work.ascend();
        result
    }
}
