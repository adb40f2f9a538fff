//! What a run supposes of inputs (rule S1): conditions that decide who meets others, such as whether threads come to a
//! barrier. How threads are ordered is followed for all inputs together, so a CTA runs once for the inputs that fulfil such
//! a condition, and once for the others.

use crate::term::{Imported, Store, TermId};
use crate::value::guard::Literal;
use crate::verdict::Fault;
use std::collections::BTreeSet;

/// Literals of which all hold, in a store of their own, outermost first.
#[derive(Debug, Default)]
pub(crate) struct Premises {
    pub(super) store: Store,
    pub(super) literals: Vec<Literal>,
    pub(super) told: Vec<String>,
    /// The threads whose conditions they are.
    threads: BTreeSet<u32>,
}

/// A condition that decides who meets others.
#[derive(Debug)]
pub(crate) struct Fork {
    /// The store of the condition.
    pub(super) store: Store,
    pub(super) condition: TermId,
    /// The first thread that it is a condition of.
    pub(super) thread: u32,
    /// In words: where it holds, and where it does not.
    pub(super) told: [String; 2],
    /// The fault, unless the condition is followed in runs of their own.
    pub(crate) fault: Fault,
}

impl Premises {
    /// These, and that a condition holds, or does not.
    pub(crate) fn and(&self, fork: &Fork, holds: bool) -> Premises {
        let mut store = empty_like(&fork.store);
        let mut literals = self.literals_in(&mut store);
        let condition = store.import(&fork.store, fork.condition, &mut Imported::default());
        literals.push(Literal { condition, holds });
        let mut told = self.told.clone();
        told.push(fork.told[usize::from(!holds)].clone());
        let threads = self.threads.iter().copied().chain([fork.thread]).collect();
        Premises { store, literals, told, threads }
    }

    /// The literals in terms of another store.
    pub(crate) fn literals_in(&self, store: &mut Store) -> Vec<Literal> {
        let mut known = Imported::default();
        let copied = self.literals.iter().map(|literal| {
            let condition = store.import(&self.store, literal.condition, &mut known);
            Literal { condition, ..*literal }
        });
        copied.collect()
    }

    /// How many threads decide for themselves, as far as these tell.
    pub(crate) fn deciding(&self) -> usize {
        self.threads.len()
    }

    /// Whether the newest of them says that its condition holds; `None` without any.
    pub(crate) fn newest_holds(&self) -> Option<bool> {
        self.literals.last().map(|literal| literal.holds)
    }
}

/// An empty store for terms of the same inputs.
pub(super) fn empty_like(other: &Store) -> Store {
    let mut store = Store::new();
    store.set_integers(other.all_integers().to_vec());
    if other.is_ieee() {
        store.set_ieee();
    }
    store
}
