//! Typed indices, so that a register number is never taken for an instruction number.

/// The index of a table's entry as 32 bits.
///
/// # Panics
/// If the table has 2³² entries or more: two of them would get the same number.
pub fn number_of(at: usize) -> u32 {
    u32::try_from(at).expect("a table of fewer than 2^32 entries")
}

/// Declares an index type: a `u32` with a name and a short prefix for display.
#[macro_export]
macro_rules! index_type {
    ($(#[$doc:meta])* $name:ident, $spelling:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table that this index belongs to.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The index of position `at`.
            ///
            /// # Panics
            /// If the table has 2³² entries or more, which its budget excludes.
            pub fn from_index(at: usize) -> Self {
                $name($crate::base::index::number_of(at))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($spelling, "{}"), self.0)
            }
        }
    };
}

index_type!(
    /// A position in a program: the index of an instruction, or a program counter.
    InstId,
    "@"
);

/// The first position.
impl Default for InstId {
    fn default() -> InstId {
        InstId::FIRST
    }
}

impl InstId {
    /// The first position.
    pub const FIRST: InstId = InstId(0);
    /// A position outside of any program.
    pub const NOWHERE: InstId = InstId(u32::MAX);

    /// The position after this one.
    #[must_use]
    pub fn next(self) -> InstId {
        InstId(self.0 + 1)
    }

    /// The position as one in the program of a step, where there are several. A program has fewer instructions than
    /// fit below the number of its step; what does not fit is nowhere.
    #[must_use]
    pub fn of_step(self, step: usize) -> InstId {
        match u32::try_from(step + 1) {
            Ok(step) if step < 1 << (32 - Self::IN_STEP) && self.0 >> Self::IN_STEP == 0 => {
                InstId(step << Self::IN_STEP | self.0)
            }
            Ok(_) | Err(_) => InstId::NOWHERE,
        }
    }

    /// The step, if it is noted, and the position in its program.
    pub fn in_step(self) -> (Option<usize>, InstId) {
        if self == InstId::NOWHERE {
            return (Some(usize::MAX), self);
        }
        let step = (self.0 >> Self::IN_STEP).checked_sub(1).map(|step| step as usize);
        (step, InstId(self.0 & ((1 << Self::IN_STEP) - 1)))
    }

    /// Bits of a position in the program of a step.
    const IN_STEP: u32 = 24;

    /// The position before this one, if it is not the first.
    pub fn before(self) -> Option<InstId> {
        self.0.checked_sub(1).map(InstId)
    }
}
