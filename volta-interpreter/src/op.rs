//! What an instruction is once its names are resolved: data only.

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
    /// `.f16x2`, `.bf16x2`, `.e4m3x2`, `.e5m2x2`
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

    /// Bits that a value has.
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

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A register.
    Register(Register),
    /// The opposite of a predicate.
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

/// Special registers that do not depend on time or place.
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
    /// `%envreg1` (high) and `%envreg2`: the address of the driver's part of a cooperative launch.
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
    /// In which space.
    pub space: Space,
    /// A register or a variable.
    pub base: Source,
    /// Bytes.
    pub offset: i64,
}

/// Operations on floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FloatOp {
    /// Rounded once.
    Arithmetic(Arithmetic),
    /// Approximated.
    Function(Function),
    /// `min`, `max`.
    Extreme {
        /// `max`
        largest: bool,
        /// `.NaN`
        nan: bool,
        /// Of three operands, not of two.
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

/// How floats are treated around an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatStyle {
    /// Of operands and result.
    pub format: Format,
    /// Two in a word.
    pub pair: bool,
    /// Rounding of the result.
    pub round: Round,
    /// Subnormal operands and results are zeros.
    pub ftz: bool,
    /// At last.
    pub clamp: Clamp,
}

/// Comparisons; for floats, with what they say when one is NaN.
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

/// `setp` and `set`, up to where the result goes.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// How to compare.
    pub comparison: Comparison,
    /// The result where one is NaN.
    pub unordered: bool,
    /// Of the operands.
    pub ty: Type,
    /// Subnormal operands are zeros.
    pub ftz: bool,
    /// The operands.
    pub operands: [Source; 2],
    /// A predicate that the result is combined with.
    pub combine: Option<(IntOp, Source)>,
}

/// `cvt`.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// Of the result.
    pub to: Type,
    /// Of the operands.
    pub from: Type,
    /// How to round.
    pub round: Round,
    /// Whether a float becomes a whole float.
    pub integral: bool,
    /// Subnormals are zeros.
    pub ftz: bool,
    /// At last.
    pub clamp: Clamp,
    /// Numbers beyond the format become its largest.
    pub satfinite: bool,
    /// Integers are clamped to the type's range.
    pub sat: bool,
    /// Destination.
    pub d: Register,
    /// The operand, and of pairs made from two the one for the lower half.
    pub operands: [Source; 2],
}

/// What a barrier does with predicates.
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
    /// Which of the 16.
    pub id: Source,
    /// How many threads take part, if not all.
    pub count: Option<Source>,
    /// `arrive`: does not wait for others.
    pub arrive: bool,
    /// A warp's threads must be at the same instruction.
    pub aligned: bool,
    /// `red`: what, of which predicate, to where.
    pub reduction: Option<(Reduction, Source, Register)>,
}

/// Operations that carry.
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

/// What `redux.sync` makes of the values of lanes.
#[derive(Clone, Copy, Debug)]
pub enum Redux {
    /// An operation on integers.
    Integer(IntOp, IntType),
    /// The largest or smallest f32, or the same of magnitudes; a NaN counts for nothing, or for all.
    Extreme {
        /// The largest one.
        largest: bool,
        /// `.abs`
        magnitudes: bool,
        /// `.NaN`
        nan: bool,
    },
}

/// What lanes of a warp do together, once all of them are there.
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
    /// `wgmma.mma_async`, a warp's part of it
    Multiply(Box<Product>),
    /// `wgmma.commit_group`
    CommitProducts,
    /// `wgmma.wait_group`: all groups of products but so many
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
    /// On floats, to nearest.
    Add(FloatStyle),
    /// The larger or the smaller float.
    Extreme {
        /// The larger one.
        largest: bool,
        /// Of the operands.
        style: FloatStyle,
    },
    /// The new value.
    Exch,
    /// The new value if the old one is the first operand.
    Cas,
    /// Up to a bound, then 0.
    Inc,
    /// Down to 0, then a bound.
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
    /// The last operand, or the one before, is added to the first or to a product, or subtracted, with the thread's carry.
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
    /// The result goes to the first predicate, with the opposite combined to the second.
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
    /// The type is of the selector.
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
    /// Between a space's address and the generic one.
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
    /// All groups of bulk copies but so many.
    WaitBulk(u64),
    /// All but so many groups; `None` is everything.
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
    /// An instruction that the interpreter does not know, and why: an error when a thread reaches it.
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

/// What stands in a parameter list of a call.
#[derive(Clone, Copy, Debug)]
pub enum Passed {
    /// A variable in parameter memory: where, and bytes.
    Memory(u64, u64),
    /// A register or a number.
    Source(Source),
}

/// An instruction of a function.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Executed only where the predicate is not this.
    pub guard: Option<(Register, bool)>,
    /// What it does.
    pub op: Op,
    /// Its line in the text.
    pub line: u32,
}

/// Which phase of a barrier a test asks for.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// That of this arrival.
    State(Source),
    /// That of this parity.
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
    /// `tcgen05.commit`, with `.multicast` to these CTAs
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

/// A bulk copy, and the barrier that it completes on; by groups, if there is none.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub struct BulkCopy {
    pub moved: Moved,
    pub barrier: Option<Address>,
    /// The CTAs of the cluster that it goes to, as bits; its own one if nothing is said.
    pub ctas: Option<Source>,
    /// It may signal the other CTA of a pair.
    pub pair: bool,
    pub effect: BulkEffect,
}

/// What a bulk copy does where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BulkEffect {
    /// It writes.
    Write,
    /// It writes those of every 16 bytes that have a bit in this number.
    WriteSome(Source),
    /// It updates numbers of so many bytes.
    Update(AtomicOp, u32),
    /// It updates elements of a tensor map by the operation of that name.
    UpdateElements(&'static str),
}

/// What a bulk copy moves.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Moved {
    Bytes {
        to: Address,
        from: Address,
        bytes: Source,
    },
    /// The box of a tensor map that begins at some coordinates, the innermost one first: to or from shared memory.
    Tile {
        shared: Address,
        map: Address,
        at: Vec<Source>,
        loads: bool,
    },
}
