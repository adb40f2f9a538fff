//! Ids of terms.

use volta_case::Element;
pub use volta_case::Sign;

use crate::base::lane::Lane;
use crate::index_type;

index_type!(
    /// A parameter whose value is not fixed: a tensor, or a symbolic scalar (a tensor of one element). Numbered in
    /// the order in which the case declares parameters, the same on both sides.
    InputId,
    "in"
);
index_type!(
    /// An entry of a store's table of constants.
    ConstantId,
    "c"
);
index_type!(
    /// A warp instruction's worth of terms in a store.
    NodeId,
    "n"
);

/// The possible elements of an input of integers: those between two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Integers {
    /// The least of them, at least −2⁶³.
    pub least: i128,
    /// The greatest of them, below 2⁶⁴.
    pub greatest: i128,
}

impl Integers {
    /// The integers that elements of a type are; `None` for floats.
    pub fn of(element: Element) -> Option<Integers> {
        match element {
            Element::Float(_) => None,
            Element::Int { bytes, signed } => Some(Integers::of_bits(8 * bytes, signed)),
            Element::Bool => Some(Integers::of_bits(1, false)),
        }
    }

    /// The integers of a type of 1 to 64 bits, in two's complement if it is signed.
    pub const fn of_bits(bits: u32, signed: bool) -> Integers {
        let half = 1 << (bits - 1);
        if signed {
            Integers { least: -half, greatest: half - 1 }
        } else {
            Integers { least: 0, greatest: 2 * half - 1 }
        }
    }

    /// The integers that are among others as well.
    pub fn common(self, other: Integers) -> Integers {
        self.within(other.least, other.greatest)
    }

    /// Those of them that are not less than `least` nor greater than `greatest`.
    pub fn within(self, least: i128, greatest: i128) -> Integers {
        Integers { least: self.least.max(least), greatest: self.greatest.min(greatest) }
    }

    /// How many they are; at least 1, since a case without possible values is an error.
    pub fn count(self) -> i128 {
        (self.greatest - self.least + 1).max(1)
    }

    /// How many they are, without zero where it is not one of them; at least 1.
    pub fn places(self, nonzero: bool) -> i128 {
        (self.count() - i128::from(nonzero && self.has_zero())).max(1)
    }

    /// The one at a place in their order, around the end; zero has no place where it is not one of them.
    pub fn at_place(self, place: i128, nonzero: bool) -> i128 {
        let value = self.least + place.rem_euclid(self.places(nonzero));
        value + i128::from(nonzero && self.has_zero() && value >= 0)
    }

    fn has_zero(self) -> bool {
        self.least <= 0 && self.greatest >= 0
    }

    /// The one of them that differs from an integer by a multiple of their number.
    pub fn wrapped(self, value: i128) -> i128 {
        self.least + (value - self.least).rem_euclid(self.count())
    }
}

/// One scalar term: an input element, a constant, or one lane of a node.
///
/// Fits in 56 bits, so that a register lane can hold it beside a tag. Ids of neighbouring elements and of
/// neighbouring lanes differ by one, which is what makes `base + i·stride` describe a warp's operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermId(u64);

/// What a [`TermId`] names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermKind {
    /// Element `element` of input `input`.
    Input {
        /// Which input.
        input: InputId,
        /// Row-major element number.
        element: u64,
    },
    /// A constant of the store.
    Constant(ConstantId),
    /// A lane of a node of the store.
    Lane(NodeId, Lane),
}

const TAG_SHIFT: u32 = 54;
const TAG_INPUT: u64 = 0;
const TAG_CONSTANT: u64 = 1;
const TAG_LANE: u64 = 2;
const ELEMENT_BITS: u32 = 42;
/// Bits of a short id that hold the input.
const SHORT_INPUT_BITS: u32 = 6;

impl TermId {
    /// Bits that an id occupies.
    pub const BITS: u32 = 56;
    /// An input has fewer elements than this.
    pub const MAX_ELEMENTS: u64 = 1 << ELEMENT_BITS;
    /// There are fewer inputs than this.
    pub const MAX_INPUTS: usize = 1 << (TAG_SHIFT - ELEMENT_BITS);

    /// The id of an input's element. The launch has checked both against the limits above.
    pub fn input(input: InputId, element: u64) -> TermId {
        debug_assert!(element < Self::MAX_ELEMENTS && input.index() < Self::MAX_INPUTS);
        TermId(TAG_INPUT << TAG_SHIFT | u64::from(input.0) << ELEMENT_BITS | element)
    }

    /// The id of a constant.
    pub fn constant(id: ConstantId) -> TermId {
        TermId(TAG_CONSTANT << TAG_SHIFT | u64::from(id.0))
    }

    /// The id of a lane of a node.
    pub fn lane(node: NodeId, lane: Lane) -> TermId {
        TermId(TAG_LANE << TAG_SHIFT | u64::from(node.0) << 5 | u64::from(lane.number()))
    }

    /// What the id names.
    pub fn kind(self) -> TermKind {
        let payload = self.0 & ((1 << TAG_SHIFT) - 1);
        match self.0 >> TAG_SHIFT {
            TAG_INPUT => TermKind::Input {
                input: InputId((payload >> ELEMENT_BITS) as u32),
                element: payload & (Self::MAX_ELEMENTS - 1),
            },
            TAG_CONSTANT => TermKind::Constant(ConstantId(payload as u32)),
            _ => TermKind::Lane(NodeId((payload >> 5) as u32), Lane::new((payload & 31) as u32)),
        }
    }

    /// What a raw id is one of: lanes, constants, or elements of one input. All ids between two of a group belong to it.
    #[inline]
    pub(super) fn group(raw: u64) -> u64 {
        raw >> ELEMENT_BITS
    }

    /// The input whose elements a group consists of.
    #[inline]
    pub(super) fn input_of_group(group: u64) -> Option<InputId> {
        (group >> (TAG_SHIFT - ELEMENT_BITS) == TAG_INPUT).then_some(InputId(group as u32))
    }

    /// Whether this is the id of a constant.
    #[inline]
    pub fn is_constant(self) -> bool {
        self.0 >> TAG_SHIFT == TAG_CONSTANT
    }

    /// The id in `bits + 1` bits, if it is a lane, or one of the first elements of one of the first inputs.
    #[inline]
    pub fn short(self, bits: u32) -> Option<u64> {
        let payload = self.0 & ((1 << TAG_SHIFT) - 1);
        match self.0 >> TAG_SHIFT {
            TAG_LANE if payload >> bits == 0 => Some(1 << bits | payload),
            TAG_INPUT => {
                let (input, element) = (payload >> ELEMENT_BITS, payload & (Self::MAX_ELEMENTS - 1));
                let room = bits - SHORT_INPUT_BITS;
                let fits = input >> SHORT_INPUT_BITS == 0 && element >> room == 0;
                fits.then_some(input << room | element)
            }
            _ => None,
        }
    }

    /// The inverse of [`TermId::short`].
    #[inline]
    pub fn from_short(short: u64, bits: u32) -> TermId {
        let payload = short & ((1 << bits) - 1);
        if short >> bits != 0 {
            return TermId(TAG_LANE << TAG_SHIFT | payload);
        }
        let room = bits - SHORT_INPUT_BITS;
        TermId(TAG_INPUT << TAG_SHIFT | payload >> room << ELEMENT_BITS | payload & ((1 << room) - 1))
    }

    /// The id as a number below 2⁵⁶.
    pub fn raw(self) -> u64 {
        self.0
    }

    /// The inverse of [`TermId::raw`].
    pub fn from_raw(raw: u64) -> TermId {
        debug_assert!(raw >> Self::BITS == 0);
        TermId(raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_what_they_were_made_from() {
        let input = TermId::input(InputId(7), (1 << 41) + 3);
        assert_eq!(input.kind(), TermKind::Input { input: InputId(7), element: (1 << 41) + 3 });
        assert_eq!(TermId::constant(ConstantId(9)).kind(), TermKind::Constant(ConstantId(9)));
        let lane = TermId::lane(NodeId(u32::MAX), Lane::LAST);
        assert_eq!(lane.kind(), TermKind::Lane(NodeId(u32::MAX), Lane::LAST));
        assert_eq!(TermId::from_raw(lane.raw()), lane);
    }
}
