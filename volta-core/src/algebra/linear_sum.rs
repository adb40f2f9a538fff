//! The result of a walk through a term: products of inputs, packed, and other terms.

use super::id::TermRef;
use super::polynomial::{Key, Term};
use crate::base::index::number_of;
use crate::number::Rational;
use crate::term::TermId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Lists of packed products shorter than this are turned into terms.
pub(super) const SHORT_LIST: usize = 8;

/// Products of two input elements, or single elements, under one scale, each with coefficient 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Products {
    /// The common factor.
    pub(super) scale: Term,
    /// The packed products, in the order of the walk.
    pub(super) keys: Vec<u128>,
}

/// A sum, not necessarily finished: atoms may be opaque, and products packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LinearSum {
    /// Long lists of products of inputs.
    pub(super) products: Vec<Products>,
    /// Everything else, collected.
    pub(super) terms: Vec<Term>,
}

impl LinearSum {
    /// Number of terms, those of packed lists included.
    pub(super) fn len(&self) -> usize {
        self.terms.len() + self.products.iter().map(|products| products.keys.len()).sum::<usize>()
    }

    /// Bytes of its lists.
    pub(super) fn bytes(&self) -> u64 {
        let keys: usize = self.products.iter().map(|products| products.keys.capacity()).sum();
        let lists =
            self.products.capacity() * size_of::<Products>() + self.terms.capacity() * size_of::<Term>();
        (lists + keys * size_of::<u128>()) as u64
    }

    /// Whether the sum has no terms.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Lists with one key, regrouped by total coefficient, so that each product is in one list.
pub(super) fn by_coefficient(key: Key, lists: Vec<Products>) -> Vec<Products> {
    let mut entries: Vec<(u128, Rational)> = Vec::new();
    for list in lists {
        entries.extend(list.keys.into_iter().map(|key| (key, list.scale.coefficient.clone())));
    }
    entries.sort_by_key(|(key, _)| *key);
    let mut places: FxHashMap<Rational, usize> = FxHashMap::default();
    let mut out: Vec<Products> = Vec::new();
    for same in entries.chunk_by(|a, b| a.0 == b.0) {
        let mut coefficient = same[0].1.clone();
        for (_, more) in &same[1..] {
            coefficient = &coefficient + more;
        }
        if coefficient.is_zero() {
            continue;
        }
        let place = *places.entry(coefficient).or_insert_with_key(|coefficient| {
            out.push(Products { scale: Term { coefficient: coefficient.clone(), key }, keys: Vec::new() });
            out.len() - 1
        });
        out[place].keys.push(same[0].0);
    }
    out
}

/// The state of a walk. Walks are many and short: a completed one is reused for its allocations.
pub(super) struct Walk {
    pub(super) root: TermRef,
    pub(super) scales: Vec<(Term, u32)>,
    pub(super) stack: Vec<(TermId, u32)>,
    pub(super) buckets: FxHashMap<Term, u32>,
    pub(super) products: Vec<Products>,
    pub(super) terms: Vec<Term>,
    pub(super) visited: FxHashSet<TermId>,
}

const NO_BUCKET: u32 = u32::MAX;

impl Walk {
    pub(super) fn new(root: TermRef) -> Walk {
        Walk {
            root,
            scales: Vec::new(),
            stack: Vec::new(),
            buckets: FxHashMap::default(),
            products: Vec::new(),
            terms: Vec::new(),
            visited: FxHashSet::default(),
        }
    }

    /// Starts at `root`; clears the state of the last walk but keeps its allocations.
    pub(super) fn begin(&mut self, root: TermRef) {
        self.root = root;
        self.scales.clear();
        self.scales.push((Term::one(), NO_BUCKET));
        self.stack.clear();
        self.stack.push((root.term, 0));
        self.buckets.clear();
        self.products.clear();
        self.terms.clear();
        self.visited.clear();
    }

    /// The index of a scale under which the walk continues.
    pub(super) fn push_scale(&mut self, scale: Term) -> u32 {
        self.scales.push((scale, NO_BUCKET));
        number_of(self.scales.len() - 1)
    }

    /// The list that collects products under that scale.
    pub(super) fn bucket(&mut self, scale: u32) -> usize {
        let (value, bucket) = &self.scales[scale as usize];
        if *bucket != NO_BUCKET {
            return *bucket as usize;
        }
        let bucket = match self.buckets.get(value) {
            Some(bucket) => *bucket,
            None => {
                let bucket = number_of(self.products.len());
                self.buckets.insert(value.clone(), bucket);
                self.products.push(Products { scale: value.clone(), keys: Vec::new() });
                bucket
            }
        };
        self.scales[scale as usize].1 = bucket;
        bucket as usize
    }
}
