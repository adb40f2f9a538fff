//! Elements that are others with their inputs moved, by the shapes of their terms.

use super::Element;
use crate::algebra::{Place, Shapes};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// What elements have in common that come from one another by moving inputs.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    /// Shapes are numbers within a store.
    sides: [usize; 2],
    shapes: [u32; 2],
    /// For each input of both sides, how far apart they read it.
    apart: SmallVec<[i64; 4]>,
}

/// For each element the first one that it is, or itself. `sides` says which stores an element's terms lie in.
pub(super) fn first_alike(elements: &[Element<'_>], sides: &[[usize; 2]], shapes: &[Shapes]) -> Vec<usize> {
    let mut first: FxHashMap<Kind, usize> = FxHashMap::default();
    let alike = elements.iter().zip(sides).enumerate().map(|(at, (element, sides))| {
        let reference = shapes[sides[0]].place(element.reference.1);
        let opt = shapes[sides[1]].place(element.opt.1);
        match (reference, opt) {
            (Some(reference), Some(opt)) => *first.entry(kind(*sides, &reference, &opt)).or_insert(at),
            _ => at,
        }
    });
    alike.collect()
}

fn kind(sides: [usize; 2], reference: &Place, opt: &Place) -> Kind {
    let apart = reference.elements().flat_map(|(input, element)| {
        opt.elements().filter(move |(other, _)| *other == input).map(move |(_, other)| other - element)
    });
    Kind { sides, shapes: [reference.shape, opt.shape], apart: apart.collect() }
}
