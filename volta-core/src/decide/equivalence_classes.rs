//! Elements that equal others up to translation of the inputs, by the translation classes of their terms.

use crate::algebra::ClassPlace;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The key of elements that are translations of one another.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    classes: [u32; 2],
    /// For each input of both sides, the distance between their base offsets.
    apart: SmallVec<[i64; 4]>,
}

/// Which elements are translations of others, as far as translation classes show.
#[derive(Debug)]
pub(super) struct EquivalenceClasses {
    /// For each element, the first one that it is a translation of, or itself.
    first: Vec<usize>,
    /// Whether both terms of an element are the same operations on the same operands: they are equal, whatever they
    /// compute. No normal form is needed, so that even a term without one (a power with a billion factors) is equal to
    /// itself.
    identical: Vec<bool>,
}

impl EquivalenceClasses {
    /// Groups elements by the class places of their terms: `places` has those of each store, in the order of elements.
    /// `sides` has the stores of an element's terms; with `each_alone`, every element is a group of its own.
    pub(super) fn new(
        sides: &[[usize; 2]],
        places: Vec<Vec<Option<ClassPlace>>>,
        each_alone: bool,
    ) -> EquivalenceClasses {
        let mut alike = EquivalenceClasses::alone(sides.len());
        let mut first: FxHashMap<Kind, usize> = FxHashMap::default();
        let mut places: Vec<_> = places.into_iter().map(Vec::into_iter).collect();
        for (at, sides) in sides.iter().enumerate() {
            let [reference, opt] = sides.map(|side| places[side].next().flatten());
            if let (Some(reference), Some(opt)) = (reference, opt) {
                alike.identical[at] = reference == opt;
                if !each_alone {
                    alike.first[at] = *first.entry(kind(&reference, &opt)).or_insert(at);
                }
            }
        }
        alike
    }

    /// Every element is a group of its own, and not known to be identical.
    pub(super) fn alone(elements: usize) -> EquivalenceClasses {
        EquivalenceClasses { first: (0..elements).collect(), identical: vec![false; elements] }
    }

    /// The first element that one is a translation of.
    pub(super) fn first(&self, at: usize) -> usize {
        self.first[at]
    }

    /// Whether an element is the first of its translation class.
    pub(super) fn is_first(&self, at: usize) -> bool {
        self.first[at] == at
    }

    /// Whether both sides of an element are certainly the same operations on the same operands.
    pub(super) fn is_identical(&self, at: usize) -> bool {
        self.identical[at]
    }
}

fn kind(reference: &ClassPlace, opt: &ClassPlace) -> Kind {
    let apart = reference.elements().flat_map(|(input, element)| {
        opt.elements().filter(move |(other, _)| *other == input).map(move |(_, other)| other - element)
    });
    Kind { classes: [reference.class, opt.class], apart: apart.collect() }
}
