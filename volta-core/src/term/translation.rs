//! Stores that are translations of others: what two CTAs compute that do the same at other elements.
//!
//! The stores of such CTAs have the same nodes, in the same order, which read the elements of each input a constant
//! further. To compare two stores costs less than to find the translation classes of one.

use smallvec::SmallVec;

use super::id::{InputId, TermId};
use super::node::{AFFINE, LIST, Node, Store, affine_lane};

/// By how many elements the terms of one store are translated against those of another, for each input that they read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Translation {
    by: SmallVec<[Option<i64>; 8]>,
}

impl Translation {
    /// The translation from the terms of one store to those of another, which have the same numbers but for elements of
    /// inputs. `None` if there is none: if not all nodes are the same operation on the same operands, or if the elements
    /// of an input are not all equally far apart.
    pub fn between(from: (&Store, &[TermId]), to: (&Store, &[TermId])) -> Option<Translation> {
        let (store, other) = (from.0, to.0);
        let sizes = |store: &Store| [store.nodes.len(), store.lists.len(), store.motions.len()];
        let motions =
            || store.motions.iter().zip(&other.motions).all(|(one, other)| one.steps == other.steps);
        if sizes(store) != sizes(other) || from.1.len() != to.1.len() || store.ieee != other.ieee {
            return None;
        }
        if !motions() || store.constants != other.constants {
            return None;
        }
        let mut translation = Translation::default();
        let roots = from.1.iter().zip(to.1).all(|(own, its)| translation.admits(own.raw(), its.raw()));
        let lists = || store.lists.iter().zip(&other.lists);
        let nodes = || store.nodes.iter().zip(&other.nodes);
        let is_translated = roots
            && lists().all(|(own, its)| translation.admits(*own, *its))
            && nodes().all(|(own, its)| translation.admits_node(store, own, its));
        is_translated.then_some(translation)
    }

    /// The translation by so many elements of each input.
    pub(crate) fn by(elements: impl Iterator<Item = i64>) -> Translation {
        Translation { by: elements.map(Some).collect() }
    }

    /// Whether the terms of both stores are the same.
    pub fn is_none(&self) -> bool {
        self.by.iter().flatten().all(|by| *by == 0)
    }

    /// By how many elements of an input the second store's terms are further on; 0 for one that they do not read.
    pub fn of(&self, input: InputId) -> i64 {
        self.by.get(input.index()).copied().flatten().unwrap_or(0)
    }

    /// Compares two nodes, but for the lists that are their operands.
    #[inline]
    fn admits_node(&mut self, store: &Store, own: &Node, its: &Node) -> bool {
        if (own.op, own.modes, own.mask) != (its.op, its.modes, its.mask) {
            return false;
        }
        (0..own.op.arity()).all(|at| {
            let mode = own.modes >> (2 * at) & 3;
            let [word, other] = [own.operands[at], its.operands[at]];
            // Strides, the index of strides, or how a list is repeated.
            if word >> TermId::BITS != other >> TermId::BITS {
                return false;
            }
            let by = other.wrapping_sub(word);
            match mode {
                AFFINE => {
                    let ends = [own.mask.first(), own.mask.last()];
                    self.admits_between(ends.map(|lane| affine_lane(word, lane)), by)
                }
                LIST => by == 0,
                _ => {
                    let motion = &store.motions[(word >> TermId::BITS) as usize];
                    self.admits_between(motion.min_max(word & ((1 << TermId::BITS) - 1)), by)
                }
            }
        })
    }

    /// Compares operands with the same strides, given two raw terms between which all of the first one's lie, and how far
    /// the second one's are from them.
    #[inline]
    fn admits_between(&mut self, [first, last]: [u64; 2], by: u64) -> bool {
        let group = TermId::group(first);
        let ends = [last, first.wrapping_add(by), last.wrapping_add(by)];
        ends.into_iter().all(|raw| TermId::group(raw) == group) && self.admits_group(group, by)
    }

    /// Whether one raw term is the other, or an element of the same input as far from it as all others.
    #[inline]
    fn admits(&mut self, own: u64, its: u64) -> bool {
        let group = TermId::group(own);
        group == TermId::group(its) && self.admits_group(group, its.wrapping_sub(own))
    }

    #[inline]
    fn admits_group(&mut self, group: u64, by: u64) -> bool {
        let Some(input) = TermId::input_of_group(group) else { return by == 0 };
        let by = by.cast_signed();
        match self.by.get(input.index()) {
            Some(Some(known)) => *known == by,
            Some(None) | None => {
                if self.by.len() <= input.index() {
                    self.by.resize(input.index() + 1, None);
                }
                self.by[input.index()] = Some(by);
                true
            }
        }
    }
}

impl Store {
    /// The closed store of a CTA that does the same as this one's at elements of inputs that are so much further on.
    /// `None` if it holds more than terms.
    pub(crate) fn translated(&self, by: &Translation) -> Option<Store> {
        if self.explainer.is_some() || self.has_names() {
            return None;
        }
        let moved = |raw: u64| by.moved(TermId::from_raw(raw)).raw();
        let within = (1 << TermId::BITS) - 1;
        let mut nodes = self.nodes.clone();
        for node in &mut nodes {
            for at in 0..node.op.arity() {
                if node.modes >> (2 * at) & 3 != LIST {
                    let word = node.operands[at];
                    node.operands[at] = word & !within | moved(word & within) & within;
                }
            }
        }
        let mut store =
            Store { nodes, lists: self.lists.iter().map(|raw| moved(*raw)).collect(), ..Store::new() };
        store.motions.clone_from(&self.motions);
        store.constants.clone_from(&self.constants);
        store.constant_ids.clone_from(&self.constant_ids);
        store.large_bytes = self.large_bytes;
        store.infinite = self.infinite;
        store.sites.clone_from(&self.sites);
        store.only_lists = self.only_lists;
        store.integers.clone_from(&self.integers);
        store.folded.clone_from(&self.folded);
        store.inner_constants.clone_from(&self.inner_constants);
        store.approximates = self.approximates;
        store.ieee = self.ieee;
        store.ieee_keys.clone_from(&self.ieee_keys);
        Some(store)
    }
}

impl Translation {
    /// A term of a store, in the translated one.
    pub(crate) fn moved(&self, term: TermId) -> TermId {
        let raw = term.raw();
        let input = TermId::input_of_group(TermId::group(raw));
        TermId::from_raw(input.map_or(raw, |input| raw.wrapping_add_signed(self.of(input))))
    }
}
