//! The words of parameters: element types, roles, contents, signs; of the two kernels; and of layouts.

use crate::word::{Word, words};

words! {
    /// A floating-point format.
    #[repr(u8)]
    pub enum Format {
        /// IEEE binary16
        F16 = "f16",
        /// bfloat16
        Bf16 = "bf16",
        /// TensorFloat-32, in a 32-bit container
        Tf32 = "tf32",
        /// IEEE binary32
        F32 = "f32",
        /// IEEE binary64
        F64 = "f64",
        /// fp8 with 4 exponent bits
        E4m3 = "e4m3",
        /// fp8 with 5 exponent bits
        E5m2 = "e5m2",
        /// 8 exponent bits and nothing else: powers of two from 2^-127 to 2^127, as scales of blocks
        Ue8m0 = "ue8m0",
    }
}

impl Format {
    /// The size of a value of the format in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Format::E4m3 | Format::E5m2 | Format::Ue8m0 => 1,
            Format::F16 | Format::Bf16 => 2,
            Format::Tf32 | Format::F32 => 4,
            Format::F64 => 8,
        }
    }
}

/// The type of a tensor's elements or of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A float format.
    Float(Format),
    /// An integer of 8, 16, 32 or 64 bits.
    Int {
        /// Its size in bytes: 1, 2, 4 or 8.
        bytes: u32,
        /// Whether it is signed, in two's complement.
        signed: bool,
    },
    /// A byte that is 0 or 1.
    Bool,
}

impl Word for Element {
    const WORDS: &'static [(&'static str, Element)] = &{
        use Format::*;
        const fn float(format: Format) -> (&'static str, Element) {
            (format.name(), Element::Float(format))
        }
        const fn int(name: &'static str, bytes: u32, signed: bool) -> (&'static str, Element) {
            (name, Element::Int { bytes, signed })
        }
        [
            float(F16),
            float(Bf16),
            float(Tf32),
            float(F32),
            float(F64),
            float(E4m3),
            float(E5m2),
            float(Ue8m0),
            int("i8", 1, true),
            int("i16", 2, true),
            int("i32", 4, true),
            int("i64", 8, true),
            int("u8", 1, false),
            int("u16", 2, false),
            int("u32", 4, false),
            int("u64", 8, false),
            ("bool", Element::Bool),
        ]
    };
}

impl Element {
    /// The element type with the given name.
    pub fn parse(name: &str) -> Option<Element> {
        Element::WORDS.iter().find(|(known, _)| *known == name).map(|(_, element)| *element)
    }

    /// The name that [`Element::parse`] reads.
    pub fn name(self) -> &'static str {
        Element::WORDS.iter().find(|(_, known)| *known == self).map_or("", |(name, _)| name)
    }

    /// The size of one element in bytes.
    pub fn bytes(self) -> u32 {
        match self {
            Element::Float(format) => format.bytes(),
            Element::Int { bytes, .. } => bytes,
            Element::Bool => 1,
        }
    }

    /// The size in bytes and the signedness of an integer type; `None` for floats.
    pub fn integer(self) -> Option<(u32, bool)> {
        match self {
            Element::Float(_) => None,
            Element::Int { bytes, signed } => Some((bytes, signed)),
            Element::Bool => Some((1, false)),
        }
    }
}

words! {
    /// The role of a tensor.
    pub enum Role {
        /// read-only (M4)
        In = "in",
        /// written and compared
        Out = "out",
        /// read, written and compared
        InOut = "inout",
        /// written, not compared
        Scratch = "scratch",
        /// written by one side, not compared
        Ignored = "ignored",
    }
}

words! {
    /// The assumption on the sign of every symbolic element.
    #[derive(Default)]
    pub enum Sign {
        /// `> 0`
        Positive = "positive",
        /// `≥ 0`
        NonNegative = "nonnegative",
        /// `< 0`
        Negative = "negative",
        /// `≤ 0`
        NonPositive = "nonpositive",
        /// `≠ 0`
        Nonzero = "nonzero",
    }
    unnamed {
        /// Any finite real.
        #[default]
        Any
    }
}

words! {
    /// What is assumed of the symbolic integers of a tensor together.
    #[derive(Default)]
    pub enum Elements {
        /// no two of them are equal
        Distinct = "distinct",
        /// each number from 0 to below their count once
        Permutation = "permutation",
    }
    unnamed {
        /// Nothing.
        #[default]
        Any
    }
}

words! {
    /// How the elements of an output are compared.
    #[derive(Default)]
    pub enum Comparison {
        /// the written elements are compared as a multiset, in any order
        Set = "set",
    }
    unnamed {
        /// Each with that of the other side.
        #[default]
        Each
    }
}

words! {
    /// The contents of a tensor before the launch that have a name.
    pub enum NamedContents {
        /// nothing was written
        Undefined = "undefined",
        /// any reals, or integers
        Symbolic = "symbolic",
        /// element *i* is *i*
        Iota = "iota",
        /// 1 on and below the diagonal, else 0
        LowerTriangular = "lower_triangular",
    }
}

words! {
    /// A part of a matrix.
    pub enum Region {
        /// row ≥ column
        Lower = "lower",
        /// row > column
        StrictlyLower = "strictly_lower",
        /// row ≤ column
        Upper = "upper",
        /// row < column
        StrictlyUpper = "strictly_upper",
        /// row = column
        Diagonal = "diagonal",
    }
}

impl Region {
    /// Whether the element at this row and column lies in the region.
    pub fn has(self, row: u64, column: u64) -> bool {
        match self {
            Region::Lower => row >= column,
            Region::StrictlyLower => row > column,
            Region::Upper => row <= column,
            Region::StrictlyUpper => row < column,
            Region::Diagonal => row == column,
        }
    }
}

words! {
    /// One of the two kernels.
    pub enum Which {
        /// The reference.
        Reference = "reference",
        /// The optimized kernel, or the only one.
        Opt = "opt" | "kernel",
    }
}

words! {
    /// The layout of the elements of `wmma` fragments, which PTX leaves unspecified.
    #[derive(Default)]
    pub enum WmmaLayout {
        /// As on sm_80, of those fragments of which that is known.
        Sm80 = "sm_80",
    }
    unnamed {
        /// The layout is unknown.
        #[default]
        Unspecified
    }
}

words! {
    /// What the literals of kernels stand for.
    #[derive(Default)]
    pub enum Literals {
        /// A literal may also stand for a quotient of small whole numbers to which it is the nearest.
        Nearest = "nearest",
    }
    unnamed {
        /// Each for the number that its bits represent.
        #[default]
        Exact
    }
}

words! {
    /// The order of the 16-byte pieces of a box in shared memory.
    pub enum Swizzle {
        /// As they are.
        None = "none",
        /// Mixed within 32 bytes.
        B32 = "32B",
        /// Mixed within 64 bytes.
        B64 = "64B",
        /// Mixed within 128 bytes.
        B128 = "128B",
    }
}

impl Swizzle {
    /// The number of bytes within which pieces are permuted; 0 without swizzling.
    pub fn span(self) -> u64 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            Swizzle::B128 => 128,
        }
    }
}
