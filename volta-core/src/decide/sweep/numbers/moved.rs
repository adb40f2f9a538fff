//! Forms that move along the inputs.

use std::num::NonZeroU32;

/// One of some forms, which is fixed, or moves along the inputs: then it is at the element that all inputs in it are at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::decide) struct Moved {
    /// The number of the form, plus one, and whether it moves.
    form: NonZeroU32,
    at: u32,
}

const MOVES: u32 = 1 << 31;

impl Moved {
    /// What stands where there is none.
    pub(super) const NONE: Moved = Moved { form: NonZeroU32::MIN, at: 0 };

    /// A form by its number, at the first element.
    ///
    /// # Panics
    /// If there are 2³¹ − 1 forms or more, which no census of terms leads to.
    pub(super) fn new(form: usize, moves: bool) -> Moved {
        let number = u32::try_from(form + 1).ok().filter(|number| *number < MOVES);
        let number = number.expect("there are fewer forms than terms");
        let form = NonZeroU32::MIN.saturating_add(number - 1) | if moves { MOVES } else { 0 };
        Moved { form, at: 0 }
    }

    /// The number of the form.
    pub(super) fn form(self) -> usize {
        (self.form.get() & !MOVES) as usize - 1
    }

    pub(super) fn moves(self) -> bool {
        self.form.get() & MOVES != 0
    }

    pub(super) fn at(self) -> u32 {
        self.at
    }

    /// The same form at an element, if it moves.
    pub(super) fn to(self, at: u32) -> Moved {
        if self.moves() { Moved { at, ..self } } else { self }
    }
}

/// The element that all of some forms which move are at, if there are such, and there is only one.
pub(super) fn common(all: impl IntoIterator<Item = Moved>) -> Option<u32> {
    let mut places = all.into_iter().filter(|moved| moved.moves()).map(|moved| moved.at);
    let first = places.next()?;
    places.all(|at| at == first).then_some(first)
}
