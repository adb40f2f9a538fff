//! The machine's operations: a small set that every supported PTX instruction lowers to.
//!
//! Widths and signedness are part of an operation, never of a register (rule V1). Registers hold up to 64 bits;
//! an operation of a narrower type reads the low bits and writes zeros above them. Predicates live in registers
//! of their own. Packed types (`f16x2`, `s16x2`) lower to unpack, operations, pack.

use super::access::Access;
use super::asynchronous::Async;
pub use super::collective::{Reduction, Shuffle, Vote};
use super::matrix::{Fragment, MatrixProduct};
use super::update::{Scope, Swap, Update};
pub use crate::base::index::InstId;
use crate::index_type;
use crate::number::format::{Format, Rounding};

index_type!(
    /// A register of up to 64 bits.
    RegId,
    "r"
);
index_type!(
    /// A predicate register; also holds the carry flag of `add.cc`.
    PredId,
    "p"
);
index_type!(
    /// A variable: shared, local, constant, global or parameter memory.
    VariableId,
    "v"
);

/// The width of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Width {
    /// 8 bits; memory accesses and conversions only.
    W8,
    /// 16 bits
    W16,
    /// 32 bits
    W32,
    /// 64 bits
    W64,
}

impl Width {
    /// In bits.
    pub fn bits(self) -> u32 {
        match self {
            Width::W8 => 8,
            Width::W16 => 16,
            Width::W32 => 32,
            Width::W64 => 64,
        }
    }

    /// In bytes.
    pub fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// The width of a full product; at most 64 bits.
    pub fn twice(self) -> Width {
        match self {
            Width::W8 => Width::W16,
            Width::W16 => Width::W32,
            Width::W32 | Width::W64 => Width::W64,
        }
    }

    /// A mask of the low bits.
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Int {
    /// Its width.
    pub width: Width,
    /// Whether it is `.sN`, not `.uN` or `.bN`.
    pub signed: bool,
}

/// A value that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    /// A register.
    Reg(RegId),
    /// Bits, cut to the operation's width; a float operation decodes them in its format.
    Imm(u64),
    /// The address of a variable in its own state space, plus bytes.
    Symbol(VariableId, i64),
}

/// A predicate that an operation reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PredSrc {
    /// The register.
    pub pred: PredId,
    /// Whether its negation is read.
    pub negated: bool,
}

/// Operations on one integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Int1 {
    Not,
    Neg,
    Abs,
    Cnot,
    Popc,
    Clz,
    Brev,
    /// `bfind`
    FindTop,
    /// `bfind.shiftamt`
    FindTopShift,
}

/// Operations on two integers. Shifts clamp their amount, a 32-bit number, to the width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Int2 {
    Add,
    Sub,
    /// `add.sat.s32`
    AddSat,
    /// `sub.sat.s32`
    SubSat,
    MulLo,
    MulHi,
    /// The result is twice as wide as the type.
    MulWide,
    /// `mul24.lo`
    Mul24Lo,
    /// `mul24.hi`
    Mul24Hi,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// `bmsk.clamp`
    MaskClamp,
    /// `bmsk.wrap`
    MaskWrap,
}

/// Operations on three integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Int3 {
    MadLo,
    MadHi,
    /// `c` and the result are twice as wide as the type.
    MadWide,
    /// `c + |a − b|`
    Sad,
    /// `bfe`: b = position, c = length
    Extract,
    /// Funnel shifts on 32-bit words
    ShfLeftWrap,
    ShfLeftClamp,
    ShfRightWrap,
    ShfRightClamp,
    /// `prmt` with its mode
    Permute(PermuteMode),
    /// `lop3` with its table
    Lop3(u8),
    /// `dp4a`: signedness of a, of b
    Dp4a(bool, bool),
    /// `dp2a.lo`
    Dp2aLo(bool, bool),
    /// `dp2a.hi`
    Dp2aHi(bool, bool),
}

/// The modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum PermuteMode {
    Generic,
    F4e,
    B4e,
    Rc8,
    Ecl,
    Ecr,
    Rc16,
}

/// Comparisons. On integers they use the type's signedness; on floats, unordered forms count as ordered (V2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Compare {
    /// The comparison of the same operands in the other order.
    pub fn turned(self) -> Compare {
        match self {
            Compare::Eq | Compare::Ne => self,
            Compare::Lt => Compare::Gt,
            Compare::Le => Compare::Ge,
            Compare::Gt => Compare::Lt,
            Compare::Ge => Compare::Le,
        }
    }

    /// Whether it asks which operand is greater, not only whether they are equal.
    pub fn is_order(self) -> bool {
        match self {
            Compare::Eq | Compare::Ne => false,
            Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => true,
        }
    }
}

/// Float comparisons, including those that concern NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatCompare {
    /// An ordered comparison, or with `true` the unordered form, which also holds for NaN.
    Order(Compare, bool),
    /// `num`
    IsNumber,
    /// `nan`
    IsNan,
}

/// Operations on two truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Bool2 {
    And,
    Or,
    Xor,
}

/// Operations on one float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Float1 {
    Neg,
    Abs,
    Ex2,
    Lg2,
    /// `rcp.approx`. With a rounding mode it is a division.
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Tanh,
}

/// Operations on two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Float2 {
    Add,
    Sub,
    Mul,
    Div,
    Min,
    Max,
    /// `a` gives the sign, `b` the magnitude.
    CopySign,
}

/// The precision of a float operation. It has no meaning for reals (rule V2), and matters for known values (rule V10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Precision {
    /// The rounding mode.
    pub rounding: Rounding,
    /// `.approx` and the like: no standard determines the bits; the ISA bounds the error.
    pub approximate: bool,
    /// `.ftz`: subnormal operands and results become zeros.
    pub flush: bool,
    /// Without a rounding mode, a product and a sum may be fused.
    pub fusible: bool,
    /// `.NaN` of a minimum or maximum; `.full` of a quotient.
    pub variant: bool,
}

impl Precision {
    /// Rounds once, to nearest.
    pub const NEAREST: Precision = Precision::of(Rounding::Nearest);

    /// Rounds once.
    pub const fn of(rounding: Rounding) -> Precision {
        Precision { rounding, approximate: false, flush: false, fusible: false, variant: false }
    }
}

/// The clamping of a float result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Clamp {
    /// Nothing.
    #[default]
    None,
    /// `.sat`: to [0, 1]
    Saturate,
    /// `.relu`: to at least 0
    Relu,
}

/// Rounding to an integer inside a float-to-float or float-to-integer conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the direction")]
pub enum ToIntegral {
    NearestEven,
    Zero,
    Down,
    Up,
}

/// State spaces of memory accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Space {
    Global,
    /// That of the thread's own CTA.
    Shared,
    /// Shared memory of all CTAs of the cluster.
    Cluster,
    Local,
    Const,
    /// Parameters of the entry, and of calls, which lowering makes variables of each thread.
    Param,
    Generic,
    /// Tensor memory of a CTA (rule Y14), which `ld` and `st` do not access.
    Tensor,
}

/// A memory address: a base plus an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// A register, an absolute address or a variable.
    pub base: Src,
    /// In bytes.
    pub offset: i64,
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in PTX; the number is the dimension")]
pub enum Special {
    Tid(u8),
    Ntid(u8),
    Ctaid(u8),
    Nctaid(u8),
    LaneId,
    LaneMaskEq,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    DynamicSharedSize,
    /// A launch without clusters has clusters of one CTA.
    ClusterId(u8),
    NClusterId(u8),
    ClusterCtaId(u8),
    ClusterNctaId(u8),
    ClusterCtaRank,
    ClusterNctaRank,
    /// `%is_explicit_cluster`, as a number.
    ExplicitCluster,
    /// One half of the address of the memory that the driver provides for the barrier of a cooperative grid: `%envreg1`
    /// (`high`), `%envreg2`.
    Workspace {
        high: bool,
    },
    /// `%clock`, `%smid`, `%warpid`, `%total_smem_size`, …: not determined by the launch (rule S4).
    Unpredictable,
}

/// The kinds of CTA barriers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Wait.
    Sync,
    /// Arrive, do not wait.
    Arrive,
    /// Wait, and count the threads for which the predicate holds.
    RedPopc(RegId, PredSrc),
    /// Wait, and combine predicates.
    RedPred(Bool2, PredId, PredSrc),
}

/// The declarations of a scope. They are undefined when the scope is entered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declared {
    /// General registers.
    pub registers: Vec<RegId>,
    /// Predicate registers.
    pub predicates: Vec<PredId>,
    /// Variables of each thread: local memory and parameters of calls.
    pub variables: Vec<VariableId>,
}

/// An operation. Destinations come first.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "fields are named as PTX names its operands")]
pub enum Op {
    /// Enters a block or a function again: its declarations become undefined.
    Enter {
        declared: Declared,
    },
    /// A fault: it depends on bits of an address that are not determined (rule M1)
    Undetermined(String),
    /// Moves bits of any kind unchanged.
    Mov {
        d: RegId,
        a: Src,
        width: Width,
    },
    /// Reads a special register.
    Special {
        d: RegId,
        special: Special,
        width: Width,
    },
    Int1 {
        op: Int1,
        ty: Int,
        d: RegId,
        a: Src,
    },
    Int2 {
        op: Int2,
        ty: Int,
        d: RegId,
        a: Src,
        b: Src,
    },
    Int3 {
        op: Int3,
        ty: Int,
        d: RegId,
        a: Src,
        b: Src,
        c: Src,
    },
    /// `bfi d, a, b, position, length`
    Insert {
        width: Width,
        d: RegId,
        a: Src,
        b: Src,
        position: Src,
        length: Src,
    },
    /// `add{c}{.cc}`, `sub{c}{.cc}`: `d = a ± (b + carry)`
    Carry {
        subtract: bool,
        width: Width,
        d: RegId,
        a: Src,
        b: Src,
        carry_in: Option<PredId>,
        carry_out: Option<PredId>,
    },
    /// `p|q = compare(a, b) combined with c`
    SetpInt {
        compare: Compare,
        ty: Int,
        p: PredId,
        q: Option<PredId>,
        a: Src,
        b: Src,
        combine: Option<(Bool2, PredSrc)>,
    },
    SetpFloat {
        compare: FloatCompare,
        format: Format,
        flush: bool,
        p: PredId,
        q: Option<PredId>,
        a: Src,
        b: Src,
        combine: Option<(Bool2, PredSrc)>,
    },
    /// `p = a op b`
    Pred2 {
        op: Bool2,
        p: PredId,
        a: PredSrc,
        b: PredSrc,
    },
    /// `p = a`
    PredMov {
        p: PredId,
        a: PredSrc,
    },
    /// `p = value`
    PredConst {
        p: PredId,
        value: bool,
    },
    /// `d = p ? a : b`, bits of any sort
    Select {
        width: Width,
        d: RegId,
        a: Src,
        b: Src,
        p: PredSrc,
    },
    /// Parts from least significant; all of one width
    Pack {
        d: RegId,
        parts: Vec<Src>,
        part: Width,
    },
    /// Parts from least significant; `None` is `_`
    Unpack {
        d: Vec<Option<RegId>>,
        a: Src,
        part: Width,
    },
    /// Integer to integer
    CvtInt {
        d: RegId,
        a: Src,
        from: Int,
        to: Int,
        saturate: bool,
    },
    /// Integer to float
    IntToFloat {
        d: RegId,
        a: Src,
        from: Int,
        to: Format,
        rounding: Rounding,
    },
    /// Float to integer
    FloatToInt {
        d: RegId,
        a: Src,
        from: Format,
        to: Int,
        rounding: ToIntegral,
        flush: bool,
    },
    /// Float to float
    CvtFloat {
        d: RegId,
        a: Src,
        from: Format,
        to: Format,
        integral: Option<ToIntegral>,
        precision: Precision,
        clamp: Clamp,
        /// Clamps a value that is too large to the largest number of the format
        finite: bool,
    },
    Float1 {
        op: Float1,
        format: Format,
        precision: Precision,
        d: RegId,
        a: Src,
    },
    Float2 {
        op: Float2,
        format: Format,
        precision: Precision,
        clamp: Clamp,
        d: RegId,
        a: Src,
        b: Src,
    },
    Fma {
        format: Format,
        precision: Precision,
        clamp: Clamp,
        d: RegId,
        a: Src,
        b: Src,
        c: Src,
    },
    /// Loads; narrow values are zero-extended. Lowering adds an [`Op::CvtInt`] that extends the sign to the
    /// destination's width
    Load {
        space: Space,
        address: Address,
        width: Width,
        d: Vec<Option<RegId>>,
        access: Access,
    },
    Store {
        space: Space,
        address: Address,
        width: Width,
        a: Vec<Src>,
        access: Access,
    },
    /// `atom`, `red`: the previous contents, stored in `d`, depend on the schedule (rule S4)
    Atomic {
        update: Update,
        scope: Scope,
        space: Space,
        address: Address,
        /// In bytes. Of two halves of a pair, the first has the alignment of both.
        alignment: u32,
        /// `.release` or `.acq_rel`: a loop that waits for the change acquires what its thread has done (rule Y15).
        releases: bool,
        /// `.acquire` or `.acq_rel`: matters only where it polls a flag (rule Y15) or draws a ticket (Y18).
        acquires: bool,
        /// Its result is a ticket (rule Y18), see [`super::Program::with_tickets`].
        draws: bool,
        d: Option<RegId>,
        a: Src,
    },
    /// `atom.cas` that ends one turn of a loop of compare-and-swap
    Swap(Box<Swap>),
    /// Converts generic addresses to those of a space (`to`: `cvta.to.global`), or the other way (`cvta.global`)
    Cvta {
        d: RegId,
        a: Src,
        space: Space,
        to: bool,
        width: Width,
    },
    IsSpace {
        p: PredId,
        a: Src,
        space: Space,
    },
    /// `mapa`: the address of the same place in the shared memory of another CTA of the cluster
    MapToCta {
        d: RegId,
        a: Src,
        rank: Src,
        space: Space,
        width: Width,
    },
    /// `getctarank`: the rank of the CTA with the shared memory that contains an address
    CtaRankOf {
        d: RegId,
        a: Src,
        space: Space,
    },
    Branch {
        target: InstId,
    },
    /// `brx.idx`
    BranchTable {
        index: Src,
        targets: Vec<InstId>,
    },
    Exit,
    /// Ends the program with a fault
    Trap,
    Nop,
    Barrier {
        kind: Barrier,
        id: Src,
        count: Option<Src>,
        aligned: bool,
    },
    WarpSync {
        mask: Src,
    },
    Shuffle {
        mode: Shuffle,
        d: Option<RegId>,
        p: Option<PredId>,
        a: Src,
        b: Src,
        c: Src,
        mask: Src,
    },
    /// `vote.sync.{all,any,uni}.pred`
    Vote {
        vote: Vote,
        p: PredId,
        a: PredSrc,
        mask: Src,
    },
    /// `vote.sync.ballot.b32`
    Ballot {
        d: RegId,
        a: PredSrc,
        mask: Src,
    },
    MatchAny {
        d: RegId,
        a: Src,
        width: Width,
        mask: Src,
    },
    MatchAll {
        d: Option<RegId>,
        p: Option<PredId>,
        a: Src,
        width: Width,
        mask: Src,
    },
    /// `redux.sync`
    Redux {
        op: Reduction,
        d: RegId,
        a: Src,
        mask: Src,
    },
    ActiveMask {
        d: RegId,
    },
    /// `elect.sync`
    Elect {
        d: Option<RegId>,
        p: PredId,
        mask: Src,
    },
    /// `mma.sync`: fragments lie in registers as the ISA specifies.
    Mma {
        product: MatrixProduct,
        d: Vec<RegId>,
        a: Vec<Src>,
        b: Vec<Src>,
        c: Vec<Src>,
    },
    /// `ldmatrix`: one 8 × 8 matrix of 16-bit elements for each destination
    LoadMatrix {
        space: Space,
        address: Address,
        transposed: bool,
        d: Vec<RegId>,
    },
    /// `stmatrix`
    StoreMatrix {
        space: Space,
        address: Address,
        transposed: bool,
        a: Vec<Src>,
    },
    /// `movmatrix`
    TransposeMatrix {
        d: RegId,
        a: Src,
    },
    /// `wmma.load`; the stride is in elements
    LoadFragment {
        fragment: Fragment,
        column_major: bool,
        space: Space,
        address: Address,
        stride: Option<Src>,
        d: Vec<RegId>,
    },
    /// `wmma.store`
    StoreFragment {
        fragment: Fragment,
        column_major: bool,
        space: Space,
        address: Address,
        stride: Option<Src>,
        a: Vec<Src>,
    },
    /// `wmma.mma`: the assignment of elements to lanes is not specified. The factors were loaded by rows or by columns
    MultiplyFragments {
        product: MatrixProduct,
        column_major: [bool; 2],
        d: Vec<RegId>,
        a: Vec<Src>,
        b: Vec<Src>,
        c: Vec<Src>,
    },
    /// An asynchronous operation, or one that belongs to them
    Async(Async),
    /// An unsupported instruction that only computes in registers: its results are unknown (S2).
    Unevaluated {
        d: Vec<RegId>,
        p: Vec<PredId>,
        a: Vec<Src>,
        predicates: Vec<PredSrc>,
        /// Whether the lanes of a warp execute it together.
        is_collective: bool,
        reason: String,
    },
    /// An unsupported instruction: a fault for any thread that reaches it (S2).
    Unsupported {
        reason: String,
    },
}
