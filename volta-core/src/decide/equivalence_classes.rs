//! Elements that equal others up to translation of the inputs, by the translation classes of their terms.

use crate::algebra::Place;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What elements have in common that come from one another by moving inputs.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    /// TranslationClasses are numbers within a store.
    sides: [usize; 2],
    classes: [u32; 2],
    /// For each input of both sides, how far apart they read it.
    apart: SmallVec<[i64; 4]>,
}

/// Which elements are others with their inputs moved, as far as classes tell.
#[derive(Debug)]
pub(super) struct EquivalenceClasses {
    /// For each element the first one that it is, or itself.
    first: Vec<usize>,
    /// Whether both terms of an element have classes.
    told: Vec<bool>,
}

impl EquivalenceClasses {
    /// Elements of which nothing is known.
    pub(super) fn unknown(elements: usize) -> EquivalenceClasses {
        EquivalenceClasses { first: (0..elements).collect(), told: vec![false; elements] }
    }

    /// Takes where the terms of elements are of their classes: for each store, that of its terms in the order of
    /// elements. `sides` says which stores an element's terms lie in.
    pub(super) fn new(sides: &[[usize; 2]], places: Vec<Vec<Option<Place>>>) -> EquivalenceClasses {
        let mut alike = EquivalenceClasses::unknown(sides.len());
        let mut first: FxHashMap<Kind, usize> = FxHashMap::default();
        let mut places: Vec<_> = places.into_iter().map(Vec::into_iter).collect();
        for (at, sides) in sides.iter().enumerate() {
            let [reference, opt] = sides.map(|side| places[side].next().flatten());
            if let (Some(reference), Some(opt)) = (reference, opt) {
                alike.told[at] = true;
                alike.first[at] = *first.entry(kind(*sides, &reference, &opt)).or_insert(at);
            }
        }
        alike
    }

    /// The first element that one is with its inputs moved.
    pub(super) fn first(&self, at: usize) -> usize {
        self.first[at]
    }

    /// Whether an element is none of those before it, as far as is known.
    pub(super) fn is_first(&self, at: usize) -> bool {
        self.first[at] == at
    }

    /// Whether two elements of the same stores are known to be no renamings of one another.
    pub(super) fn surely_differ(&self, a: usize, b: usize) -> bool {
        self.told[a] && self.told[b] && self.first[a] != self.first[b]
    }
}

fn kind(sides: [usize; 2], reference: &Place, opt: &Place) -> Kind {
    let apart = reference.elements().flat_map(|(input, element)| {
        opt.elements().filter(move |(other, _)| *other == input).map(move |(_, other)| other - element)
    });
    Kind { sides, classes: [reference.class, opt.class], apart: apart.collect() }
}
