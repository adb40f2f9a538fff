//! Decoded instructions: data only.

use super::float::{Arithmetic, Clamp, Format, Function, Round};
use super::integer::{IntOp, IntType};
use super::matrix::{Elements, Matrix};
use super::tensor_memory::{Tensor, TensorCopy, TensorProduct};
use super::warpgroup::Product;

/// An instruction type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `.pred`
    Pred,
    /// `.b8` … `.b64`
    Bits(u32),
    /// `.u8` … `.s64`
    Int(IntType),
    /// `.f16` … `.f64`
    Float(Format),
    /// `.f16x2`, `.bf16x2`, `.e4m3x2`, `.e5m2x2`, `.ue8m0x2`
    FloatPair(Format),
    /// `.u16x2`, `.s16x2`
    IntPair(IntType),
}

impl Type {
    /// The type of that name.
    pub fn parse(name: &str) -> Option<Type> {
        let format = |name: &str| {
            Some(match name {
                "f16" => Format::F16,
                "bf16" => Format::Bf16,
                "tf32" => Format::Tf32,
                "f32" => Format::F32,
                "f64" => Format::F64,
                "e4m3" => Format::E4m3,
                "e5m2" => Format::E5m2,
                _ => return None,
            })
        };
        if let Some(format) = format(name) {
            return Some(Type::Float(format));
        }
        if let Some(half) = name.strip_suffix("x2") {
            let int = |signed| Some(Type::IntPair(IntType { bits: 16, signed }));
            return match half {
                "u16" => int(false),
                "s16" => int(true),
                "ue8m0" => Some(Type::FloatPair(Format::Ue8m0)),
                _ => format(half).map(Type::FloatPair),
            };
        }
        let (kind, bits) = name.split_at_checked(1)?;
        let bits = match bits {
            "8" => 8,
            "16" => 16,
            "32" => 32,
            "64" => 64,
            _ => return (name == "pred").then_some(Type::Pred),
        };
        Some(match kind {
            "b" => Type::Bits(bits),
            "u" => Type::Int(IntType { bits, signed: false }),
            "s" => Type::Int(IntType { bits, signed: true }),
            _ => return None,
        })
    }

    /// The size of a value in bits.
    pub fn bits(self) -> u32 {
        match self {
            Type::Pred => 1,
            Type::Bits(bits) => bits,
            Type::Int(int) => int.bits,
            Type::Float(format) => format.bits(),
            Type::FloatPair(format) => 2 * format.bits(),
            Type::IntPair(_) => 32,
        }
    }
}

/// A register of a frame.
pub type Register = u32;

/// The source of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A register.
    Register(Register),
    /// The negation of a predicate.
    Not(Register),
    /// A number.
    Value(u64),
    /// The address of a variable in the shared memory of the thread's own CTA.
    Shared(u64),
    /// The address of a variable in the frame's local memory.
    Local(u64),
    /// The address of a variable in the frame's parameter memory.
    Param(u64),
    /// A special register.
    Special(Special),
}

/// Special registers that do not depend on time or on the multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    Laneid,
    LanemaskEq,
    LanemaskLe,
    LanemaskLt,
    LanemaskGe,
    LanemaskGt,
    DynamicSharedSize,
    ClusterId(usize),
    NclusterId(usize),
    ClusterCtaid(usize),
    ClusterNctaid(usize),
    ClusterCtarank,
    ClusterNctarank,
    IsExplicitCluster,
    /// `%envreg1` (high) and `%envreg2`: the address of the memory that the driver provides for a cooperative launch.
    Workspace(bool),
}

/// A state space that an access names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Space {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

/// `[base + offset]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The state space.
    pub space: Space,
    /// A register or a variable.
    pub base: Source,
    /// In bytes.
    pub offset: i64,
}

/// Operations on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    /// Rounded once.
    Arithmetic(Arithmetic),
    /// Approximated.
    Function(Function),
    /// Approximated, as far as is documented from the exact value, up or down.
    Erring(Function, bool),
    /// `min`, `max`.
    Extreme {
        /// `max`
        largest: bool,
        /// `.NaN`
        nan: bool,
        /// Whether it has three operands instead of two.
        three: bool,
        /// `.xorsign.abs`
        xorsign: bool,
    },
    /// `neg`
    Neg,
    /// `abs`
    Abs,
    /// `copysign`
    CopySign,
}

/// The treatment of floats by an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatStyle {
    /// The format of operands and result.
    pub format: Format,
    /// Whether a word holds two.
    pub pair: bool,
    /// The rounding of the result.
    pub round: Round,
    /// Whether subnormal operands and results become zeros.
    pub ftz: bool,
    /// The clamping of the result.
    pub clamp: Clamp,
}

/// Comparisons; for floats, a separate flag gives the result for NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Num,
    Nan,
}

/// `setp` and `set`, except their destinations.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// The comparison.
    pub comparison: Comparison,
    /// The result if an operand is NaN.
    pub unordered: bool,
    /// The type of the operands.
    pub ty: Type,
    /// Whether subnormal operands become zeros.
    pub ftz: bool,
    /// The operands.
    pub operands: [Source; 2],
    /// A predicate with which the result is combined.
    pub combine: Option<(IntOp, Source)>,
}

/// `cvt`.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// The type of the result.
    pub to: Type,
    /// The type of the operands.
    pub from: Type,
    /// The rounding mode.
    pub round: Round,
    /// Whether a float is rounded to a whole float.
    pub integral: bool,
    /// Whether subnormal numbers become zeros.
    pub ftz: bool,
    /// The clamping of the result.
    pub clamp: Clamp,
    /// Whether numbers beyond the format become its largest number.
    pub satfinite: bool,
    /// Whether integers are clamped to the range of the type.
    pub sat: bool,
    /// Destination.
    pub d: Register,
    /// The operand; for a pair made from two numbers, the one for the lower half first.
    pub operands: [Source; 2],
}

/// The combination of predicates at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Reduction {
    Popc,
    And,
    Or,
}

/// A barrier of the CTA.
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    /// Its number, below 16.
    pub id: Source,
    /// The number of threads that take part, if not all.
    pub count: Option<Source>,
    /// Whether it is `arrive`, which does not wait.
    pub arrive: bool,
    /// Whether a warp's threads must be at the same instruction.
    pub aligned: bool,
    /// For `red`: the combination, the predicate and the destination.
    pub reduction: Option<(Reduction, Source, Register)>,
}

/// Operations with a carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum CarryOp {
    Add,
    Sub,
    MadLo,
    MadHi,
}

/// Modes of `shfl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Shuffle {
    Up,
    Down,
    Bfly,
    Idx,
}

/// Modes of `vote`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Vote {
    All,
    Any,
    Uni,
    Ballot,
}

/// The operation of `redux.sync` on the values of lanes.
#[derive(Clone, Copy, Debug)]
pub enum Redux {
    /// An operation on integers.
    Integer(IntOp, IntType),
    /// The largest or the smallest f32, or the same for magnitudes. A NaN is ignored, or determines the result.
    Extreme {
        /// Whether it is the largest.
        largest: bool,
        /// `.abs`
        magnitudes: bool,
        /// `.NaN`
        nan: bool,
    },
}

/// Operations that lanes of a warp execute together, once all of them have arrived.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "they are instructions of the ISA, with its operands")]
pub enum Collective {
    Sync,
    Shuffle {
        mode: Shuffle,
        d: Option<Register>,
        p: Option<Register>,
        operands: [Source; 3],
    },
    Vote {
        mode: Vote,
        d: Register,
        p: Source,
    },
    Match {
        all: bool,
        bits: u32,
        d: Option<Register>,
        p: Option<Register>,
        a: Source,
    },
    Redux {
        op: Redux,
        d: Register,
        a: Source,
    },
    Elect {
        d: Option<Register>,
        p: Option<Register>,
    },
    Matrix(Matrix),
    /// A warp's part of `wgmma.mma_async`
    Multiply(Box<Product>),
    /// `wgmma.commit_group`
    CommitProducts,
    /// `wgmma.wait_group`: waits for all groups of products except this many
    WaitProducts(u64),
    /// `tcgen05`
    Tensor(Tensor),
}

impl Collective {
    /// The elements of the matrices that it multiplies.
    pub fn product(&self) -> Option<Elements> {
        match self {
            Collective::Matrix(Matrix::Multiply { elements, .. }) => Some(*elements),
            Collective::Multiply(product) => Some(product.elements),
            Collective::Sync
            | Collective::Shuffle { .. }
            | Collective::Vote { .. }
            | Collective::Match { .. }
            | Collective::Redux { .. }
            | Collective::Elect { .. }
            | Collective::Matrix(_)
            | Collective::CommitProducts
            | Collective::Tensor(_)
            | Collective::WaitProducts(_) => None,
        }
    }
}

/// Operations of atomics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// On integers.
    Int(IntOp, IntType),
    /// Adds floats, rounded to nearest.
    Add(FloatStyle),
    /// The larger or the smaller float.
    Extreme {
        /// Whether it is the larger.
        largest: bool,
        /// The treatment of the operands.
        style: FloatStyle,
    },
    /// The new value.
    Exch,
    /// The new value, if the old one equals the first operand.
    Cas,
    /// Increments up to a bound, then 0.
    Inc,
    /// Decrements down to 0, then a bound.
    Dec,
}

/// An operation.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "they are instructions of the ISA, with its operands")]
pub enum Op {
    Nothing,
    Move {
        d: Register,
        s: Source,
        bits: u32,
    },
    Pack {
        d: Register,
        bits: u32,
        parts: Vec<Source>,
    },
    Unpack {
        d: Vec<Option<Register>>,
        bits: u32,
        s: Source,
    },
    Int {
        op: IntOp,
        ty: IntType,
        d: Register,
        s: [Source; 3],
    },
    /// Adds or subtracts the last operand, or the one before it, to the first or to a product, with the thread's carry.
    Carry {
        op: CarryOp,
        ty: IntType,
        carry_in: bool,
        carry_out: bool,
        d: Register,
        s: [Source; 3],
    },
    /// `min`, `max`, `add` of two 16-bit numbers in a word.
    IntPair {
        op: IntOp,
        ty: IntType,
        d: Register,
        s: [Source; 3],
    },
    Insert {
        bits: u32,
        d: Register,
        s: [Source; 4],
    },
    Float {
        op: FloatOp,
        style: FloatStyle,
        d: Register,
        s: [Source; 3],
    },
    Convert(Box<Conversion>),
    /// The result goes to the first predicate, and the opposite result, combined in the same way, to the second.
    Setp {
        test: Box<Test>,
        p: Option<Register>,
        q: Option<Register>,
    },
    Set {
        test: Box<Test>,
        ty: Type,
        d: Register,
    },
    Select {
        d: Register,
        bits: u32,
        a: Source,
        b: Source,
        p: Source,
    },
    /// The type is that of the selector.
    Slct {
        d: Register,
        bits: u32,
        ty: Type,
        s: [Source; 3],
    },
    Testp {
        d: Register,
        format: Format,
        what: Class,
        a: Source,
    },
    /// `mapa`
    MapToCta {
        d: Register,
        a: Source,
        rank: Source,
        space: Space,
    },
    /// `getctarank`
    CtaRank {
        d: Register,
        a: Source,
        space: Space,
    },
    /// `st.async`, `red.async`
    StoreAsync {
        s: Vec<Source>,
        bytes: u32,
        to: Address,
        barrier: Option<Address>,
        update: Option<AtomicOp>,
    },
    /// `st.bulk`
    Clear {
        to: Address,
        bytes: Source,
    },
    ArriveAtCluster,
    WaitForCluster,
    IsSpace {
        d: Register,
        space: Space,
        a: Source,
    },
    /// Converts between an address of a space and the generic one.
    ToGeneric {
        d: Register,
        space: Space,
        a: Source,
    },
    FromGeneric {
        d: Register,
        space: Space,
        a: Source,
    },
    Load {
        d: Vec<Option<Register>>,
        bytes: u32,
        signed: bool,
        from: Address,
    },
    Store {
        s: Vec<Source>,
        bytes: u32,
        to: Address,
    },
    Atomic {
        op: AtomicOp,
        d: Option<Register>,
        bytes: u32,
        at: Address,
        s: [Source; 2],
    },
    CopyAsync {
        to: Address,
        from: Address,
        bytes: u32,
        take: Option<Source>,
        ignore: Option<Source>,
    },
    CommitGroup,
    /// An operation on a barrier in shared memory.
    Phase {
        at: Address,
        op: Box<PhaseOp>,
    },
    Bulk(Box<BulkCopy>),
    /// `tcgen05.mma`
    TensorProduct(Box<TensorProduct>),
    /// `tcgen05.cp`
    TensorCopy(TensorCopy),
    CommitBulk,
    /// Waits for all groups of bulk copies except this many.
    WaitBulk(u64),
    /// Waits for all groups except this many; `None` waits for all copies.
    WaitGroup(Option<u64>),
    Activemask {
        d: Register,
    },
    Branch(usize),
    BranchIndexed {
        index: Source,
        targets: Vec<usize>,
    },
    Call {
        function: usize,
        returns: Vec<Passed>,
        arguments: Vec<Passed>,
    },
    Return,
    Exit,
    Trap,
    Barrier(Box<Barrier>),
    Collective {
        op: Box<Collective>,
        mask: Source,
    },
    /// An unknown instruction, with the reason: an error when a thread reaches it.
    Unknown(String),
}

/// Classes of `testp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Class {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

/// An item of a parameter list of a call.
#[derive(Clone, Copy, Debug)]
pub enum Passed {
    /// A variable in parameter memory: offset and size in bytes.
    Memory(u64, u64),
    /// A register or a number.
    Source(Source),
}

/// An instruction of a function.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Executed only if the predicate differs from this value.
    pub guard: Option<(Register, bool)>,
    /// The operation.
    pub op: Op,
    /// Its line in the text.
    pub line: u32,
}

/// The phase of a barrier that a test asks for.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// The phase of the arrival that returned this state.
    State(Source),
    /// The phase with this parity.
    Parity(Source),
}

/// An operation on a barrier in shared memory.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum PhaseOp {
    Init {
        count: Source,
    },
    Invalidate,
    Arrive {
        state: Option<Register>,
        count: Source,
        bytes: Option<Source>,
        drops: bool,
    },
    ArriveAfterCopies {
        counted: bool,
    },
    /// `tcgen05.commit`; with `.multicast`, to these CTAs
    ArriveAfterProducts {
        ctas: Option<Source>,
    },
    Expect {
        bytes: Source,
    },
    Complete {
        bytes: Source,
    },
    Test {
        p: Register,
        phase: Phase,
    },
}

/// A bulk copy, with the barrier on which it completes; without one, it completes by groups.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub struct BulkCopy {
    pub moved: Moved,
    pub barrier: Option<Address>,
    /// The destination CTAs of the cluster as a mask; without one, its own CTA.
    pub ctas: Option<Source>,
    /// Whether it may signal the other CTA of a pair.
    pub pair: bool,
    pub effect: BulkEffect,
}

/// The effect of a bulk copy on its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkEffect {
    /// It writes.
    Write,
    /// It writes those of every 16 bytes with a set bit in this number.
    WriteSome(Source),
    /// It updates numbers of this size in bytes.
    Update(AtomicOp, u32),
    /// It updates elements of a tensor map by the operation of that name.
    UpdateElements(&'static str),
}

/// The operands of a bulk copy.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Moved {
    Bytes {
        to: Address,
        from: Address,
        bytes: Source,
    },
    /// The box of a tensor map that begins at these coordinates, innermost first; to or from shared memory.
    Tile {
        shared: Address,
        map: Address,
        at: Vec<Source>,
        loads: bool,
    },
}
