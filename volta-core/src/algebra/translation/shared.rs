//! Class numbers that hold across stores.

use super::super::interner::Lists;
use super::ClassPlace;
use crate::base::index::number_of;
use crate::term::Constant;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::{Mutex, PoisonError};

/// The classes of all stores whose terms are compared with one another: classes with the same content have one
/// number, whichever store or thread they come from.
///
/// Numbers are assigned by content, which is compared in full. The number itself depends on the order in which
/// stores are read; whether two contents share one does not.
#[derive(Debug, Default)]
pub struct SharedClasses {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    contents: Lists,
    constants: FxHashMap<Constant, u32>,
    /// How many classes were given to terms that have none.
    given: i64,
}

/// In place of an operation, for an input or a constant.
const INPUT: i64 = -1;
const CONSTANT: i64 = -2;
/// For a class of its own.
const GIVEN: i64 = -3;

impl SharedClasses {
    /// The numbers of the first `count` inputs.
    pub(super) fn inputs(&self, count: usize) -> Vec<u32> {
        self.with(|known| (0..count).map(|input| known.contents.number(&[INPUT, input as i64], 0)).collect())
    }

    /// The number of a constant.
    pub(super) fn constant(&self, constant: &Constant) -> u32 {
        self.with(|known| {
            let new = number_of(known.constants.len());
            let at = match known.constants.get(constant) {
                Some(at) => *at,
                None => *known.constants.entry(constant.clone()).or_insert(new),
            };
            known.contents.number(&[CONSTANT, at.into()], 0)
        })
    }

    /// The number of an operation on classes, given by their numbers.
    pub(super) fn operation(&self, content: &[i64]) -> u32 {
        self.with(|known| known.contents.number(content, 0))
    }

    /// A place for a term that has no class, and for those that are the same operations on the same operands: no others
    /// have its class.
    pub fn given(&self) -> ClassPlace {
        let class = self.with(|known| {
            known.given += 1;
            known.contents.number(&[GIVEN, known.given], 0)
        });
        ClassPlace { class, inputs: 0, base_offset: SmallVec::new() }
    }

    fn with<T>(&self, tell: impl FnOnce(&mut Known) -> T) -> T {
        // A panic cannot leave an entry half inserted.
        tell(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
