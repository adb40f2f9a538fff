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

    /// The position before this one, if it is not the first.
    pub fn before(self) -> Option<InstId> {
        self.0.checked_sub(1).map(InstId)
    }
}
