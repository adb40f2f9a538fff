//! The updates of memory by atomic operations and by loops of compare-and-swap, and the threads for which they are atomic
//! (rule Y7).

use super::op::{Address, InstId, Int, Int2, PredSrc, RegId, Space, Src, Width};
use super::visit::{Named, Written};
use crate::number::format::Format;

/// The update of a location by an atomic operation. Every update commutes with updates of its own kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Update {
    /// Adds a real.
    Real(Format),
    /// `min` or `max` on reals.
    Extreme {
        /// `max`
        largest: bool,
        /// The format of the reals.
        format: Format,
    },
    /// `add`, `min`, `max`, `and`, `or` or `xor` on integers. Only `min` and `max` distinguish signed types.
    Integer(Int2, Int),
    /// `inc` or `dec` (`down`): counts up to the operand and begins again at 0, or counts down and begins again at the
    /// operand. Counters with one operand commute.
    Counter {
        /// `dec`
        down: bool,
    },
    /// Adds to a real that is part of a word; the word is exchanged as a whole.
    RealInWord {
        /// The format of the real.
        format: Format,
        /// The width of the word.
        word: Width,
    },
}

impl Update {
    /// An operation on integers. The sign is dropped where it makes no difference, so that operations with the same
    /// effect are equal.
    pub fn of_integers(op: Int2, ty: Int) -> Update {
        let is_ordered = matches!(op, Int2::Min | Int2::Max);
        Update::Integer(op, Int { signed: ty.signed && is_ordered, ..ty })
    }

    /// An operation on reals, if it is one.
    pub fn of_reals(op: Int2, format: Format) -> Option<Update> {
        match op {
            Int2::Add => Some(Update::Real(format)),
            Int2::Min | Int2::Max => Some(Update::Extreme { largest: op == Int2::Max, format }),
            Int2::Sub
            | Int2::AddSat
            | Int2::SubSat
            | Int2::MulLo
            | Int2::MulHi
            | Int2::MulWide
            | Int2::Mul24Lo
            | Int2::Mul24Hi
            | Int2::Div
            | Int2::Rem
            | Int2::And
            | Int2::Or
            | Int2::Xor
            | Int2::Shl
            | Int2::Shr
            | Int2::MaskClamp
            | Int2::MaskWrap => None,
        }
    }

    /// The operand that leaves every location as it is, as bits.
    pub(crate) fn neutral(self) -> Option<u64> {
        let (op, ty) = match self {
            Update::Real(_) | Update::RealInWord { .. } => return Some(0),
            Update::Extreme { .. } | Update::Counter { .. } => return None,
            Update::Integer(op, ty) => (op, ty),
        };
        let (mask, largest) = (ty.width.mask(), ty.width.mask() >> 1);
        match op {
            Int2::Add | Int2::Or | Int2::Xor => Some(0),
            Int2::And => Some(mask),
            Int2::Max => Some(if ty.signed { largest + 1 } else { 0 }),
            Int2::Min => Some(if ty.signed { largest } else { mask }),
            Int2::Sub
            | Int2::AddSat
            | Int2::SubSat
            | Int2::MulLo
            | Int2::MulHi
            | Int2::MulWide
            | Int2::Mul24Lo
            | Int2::Mul24Hi
            | Int2::Div
            | Int2::Rem
            | Int2::Shl
            | Int2::Shr
            | Int2::MaskClamp
            | Int2::MaskWrap => None,
        }
    }

    /// Of a minimum or maximum of reals that are not negative, the operand that leaves them as they are, as bits.
    pub(crate) fn neutral_encoding(self) -> Option<u64> {
        match self {
            Update::Extreme { largest: true, .. } => Some(0),
            Update::Extreme { largest: false, format: Format::F32 } => Some(0x7f80_0000),
            Update::Extreme { .. }
            | Update::Real(_)
            | Update::RealInWord { .. }
            | Update::Integer(..)
            | Update::Counter { .. } => None,
        }
    }

    /// Whether the update by this operand leaves every word as it is.
    pub(super) fn is_neutral(self, by: Src) -> bool {
        let (Update::Integer(_, ty), Src::Imm(by)) = (self, by) else { return false };
        self.neutral() == Some(by & ty.width.mask())
    }

    /// The contents of a counter of 32 bits after an update by an operand, if the update counts.
    pub fn counted(self, before: u32, by: u32) -> Option<u32> {
        match self {
            Update::Counter { down: false } => Some(if before >= by { 0 } else { before + 1 }),
            Update::Counter { down: true } => Some(if before == 0 || before > by { by } else { before - 1 }),
            Update::Integer(Int2::Add, Int { width: Width::W32, .. }) => Some(before.wrapping_add(by)),
            Update::Real(_) | Update::Extreme { .. } | Update::Integer(..) | Update::RealInWord { .. } => {
                None
            }
        }
    }

    /// The size in bytes of what it updates.
    pub fn bytes(self) -> u32 {
        match self {
            Update::Real(format) | Update::Extreme { format, .. } | Update::RealInWord { format, .. } => {
                format.bytes()
            }
            Update::Integer(_, ty) => ty.width.bytes(),
            Update::Counter { .. } => Width::W32.bytes(),
        }
    }

    /// The size in bytes of its access.
    pub fn accessed(self) -> u32 {
        match self {
            Update::RealInWord { format: _, word } => word.bytes(),
            Update::Real(_) | Update::Extreme { .. } | Update::Integer(..) | Update::Counter { .. } => {
                self.bytes()
            }
        }
    }
}

/// The threads for which an operation is atomic (rule Y7), or an access is strong or ordered (Y13, Y15).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the CTA: `.cta`.
    Cta,
    /// The threads of the cluster: `.cluster`.
    Cluster,
    /// All threads of the launch: `.gpu`, `.sys`.
    Launch,
}

/// `atom.cas`: replaces the contents of a location if they are as expected. `atom.exch` expects nothing; lowering leaves
/// none of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Swap {
    /// The scope in which it is atomic.
    pub scope: Scope,
    /// `.release` or `.acq_rel`
    pub releases: bool,
    /// `.acquire` or `.acq_rel`
    pub acquires: bool,
    /// The state space of the location.
    pub space: Space,
    /// The address of the location.
    pub address: Address,
    /// The width of the location.
    pub width: Width,
    /// The register for the previous contents.
    pub d: RegId,
    /// The expected contents.
    pub expected: Option<Src>,
    /// The new contents.
    pub new: Src,
    /// One turn of the loop around it.
    pub turn: Turn,
    /// It is tried again until it succeeds, and nothing else happens before: it takes a lock (rule Y18).
    pub waits: bool,
    /// The reason given if it is not an update.
    pub reason: String,
}

/// One turn of a loop of compare-and-swap.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// Its operations in order, from finding the contents to the exchange.
    pub operations: Vec<InstId>,
    /// The register that holds the contents that it found.
    pub found: RegId,
    /// What its operations read.
    pub(super) reads: Written,
    /// What they write.
    pub(super) writes: Written,
    /// What may differ in a turn that finds other contents: the register of the contents, and everything in the loop
    /// that depends on it.
    pub varying: Written,
    /// The formats of the reals that it computes with.
    pub formats: Vec<Format>,
}

impl Turn {
    /// A turn without operations, with its contents in this register.
    pub(super) fn without_operations(found: RegId) -> Turn {
        let none = Written::default;
        Turn {
            operations: Vec::new(),
            found,
            reads: none(),
            writes: none(),
            varying: none(),
            formats: Vec::new(),
        }
    }
}

impl Swap {
    /// Calls `visit` with everything that it names, the address first.
    pub(super) fn visit(&self, visit: &mut dyn FnMut(Named)) {
        let Swap {
            scope: _,
            releases: _,
            acquires: _,
            space: _,
            address,
            width: _,
            d,
            expected,
            new,
            turn,
            waits: _,
            reason: _,
        } = self;
        [Some(address.base), *expected, Some(*new)].into_iter().flatten().for_each(|a| visit(Named::Read(a)));
        let source = |pred: &_| Named::ReadPredicate(PredSrc { pred: *pred, negated: false });
        turn.reads.registers.iter().for_each(|a| visit(Named::Read(Src::Reg(*a))));
        turn.reads.predicates.iter().for_each(|p| visit(source(p)));
        turn.writes.registers.iter().chain([d]).for_each(|d| visit(Named::Write(*d)));
        turn.writes.predicates.iter().for_each(|p| visit(Named::WritePredicate(*p)));
    }
}
