//! The effect of each operation besides computing, in one table for all code that treats classes of operations alike.

use super::access::Access;
use super::asynchronous::Async;
use super::op::{InstId, Op, Space, Src};
use super::tensor_memory::{ProductKind, TensorMemoryOp};
use crate::number::format::{Format, Rounding};

/// The effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect<'o> {
    /// It only computes in registers: it may be executed speculatively and its results dropped.
    Computes,
    /// It reads memory that may be written.
    Reads,
    /// It writes memory.
    Writes(Writes),
    /// It reads or changes state of a warp or a block other than registers and memory: the active lanes, copies in
    /// flight, declared variables.
    Context,
    /// It holds a thread until others arrive.
    Waits(Wait),
    /// Lanes of a warp meet and exchange values, without ordering memory (rule Y4).
    Collective(Members),
    /// It decides which operation is executed next.
    Control(Control<'o>),
    /// It is a fault for any thread that reaches it.
    Fault,
}

/// The way in which memory is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// By a store.
    Store,
    /// By an atomic operation.
    Atomic,
    /// By an asynchronous copy.
    Copy,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Threads of the CTA.
    Barrier,
    /// The lanes of this mask.
    Warp(Src),
    /// The end of a phase of a barrier in memory or of the cluster's barrier, a flag, or its turn to draw a ticket.
    Phase,
}

/// The lanes of a warp that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// Those of this mask.
    Mask(Src),
    /// All 32, as in matrix instructions.
    All,
}

/// Whether threads at one instruction may diverge, or wait, at an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divides {
    /// They do not: each executes it, and they continue together.
    Never,
    /// They may if not all of them execute it.
    ByGuard,
    /// They may if any of them executes it.
    Always,
}

/// The operation that is executed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control<'o> {
    /// The target.
    Branch(&'o InstId),
    /// The element of this list at an index.
    Table(Src, &'o [InstId]),
    /// None: the thread returns.
    Exit,
    /// None: the run ends with a fault.
    Trap,
}

impl<'o> Control<'o> {
    /// The possible targets.
    pub fn targets(self) -> &'o [InstId] {
        match self {
            Control::Branch(target) => std::slice::from_ref(target),
            Control::Table(_, targets) => targets,
            Control::Exit | Control::Trap => &[],
        }
    }

    /// Whether the thread executes nothing after it.
    pub fn ends(self) -> bool {
        match self {
            Control::Branch(_) | Control::Table(..) => false,
            Control::Exit | Control::Trap => true,
        }
    }
}

impl Op {
    /// The effect of the operation.
    #[inline]
    pub fn effect(&self) -> Effect<'_> {
        match self {
            Op::Mov { .. }
            | Op::Special { .. }
            | Op::Int1 { .. }
            | Op::Int2 { .. }
            | Op::Int3 { .. }
            | Op::Insert { .. }
            | Op::Carry { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::CvtInt { .. }
            | Op::IntToFloat { .. }
            | Op::FloatToInt { .. }
            | Op::CvtFloat { .. }
            | Op::Float1 { .. }
            | Op::Float2 { .. }
            | Op::Fma { .. }
            | Op::Cvta { .. }
            | Op::SetpInt { .. }
            | Op::SetpFloat { .. }
            | Op::Pred2 { .. }
            | Op::PredMov { .. }
            | Op::PredConst { .. }
            | Op::IsSpace { .. }
            | Op::MapToCta { .. }
            | Op::CtaRankOf { .. }
            | Op::Nop
            | Op::Unevaluated { is_collective: false, .. }
            // The kernel's parameters are the same for all threads and always readable.
            | Op::Load { space: Space::Param, .. } => Effect::Computes,
            Op::Load { access: Access { waits: true, .. }, .. } => Effect::Waits(Wait::Phase),
            Op::Load { .. } => Effect::Reads,
            Op::Store { .. } => Effect::Writes(Writes::Store),
            // Who draws next is a choice of the run.
            Op::Atomic { draws: true, .. } => Effect::Waits(Wait::Phase),
            Op::Swap(swap) if swap.waits => Effect::Waits(Wait::Phase),
            Op::Atomic { .. } | Op::Swap(_) => Effect::Writes(Writes::Atomic),
            Op::Async(operation) => operation.effect(),
            Op::Enter { .. } | Op::ActiveMask { .. } => Effect::Context,
            Op::Barrier { .. } => Effect::Waits(Wait::Barrier),
            Op::WarpSync { mask } => Effect::Waits(Wait::Warp(*mask)),
            Op::Shuffle { mask, .. }
            | Op::Vote { mask, .. }
            | Op::Ballot { mask, .. }
            | Op::MatchAny { mask, .. }
            | Op::MatchAll { mask, .. }
            | Op::Redux { mask, .. }
            | Op::Elect { mask, .. } => Effect::Collective(Members::Mask(*mask)),
            Op::Mma { .. }
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::LoadFragment { .. }
            | Op::StoreFragment { .. }
            | Op::MultiplyFragments { .. }
            | Op::Unevaluated { is_collective: true, .. } => Effect::Collective(Members::All),
            Op::Branch { target } => Effect::Control(Control::Branch(target)),
            Op::BranchTable { index, targets } => Effect::Control(Control::Table(*index, targets)),
            Op::Exit => Effect::Control(Control::Exit),
            Op::Trap => Effect::Control(Control::Trap),
            Op::Undetermined(_) | Op::Unsupported { .. } => Effect::Fault,
        }
    }

    /// The possible targets.
    pub(super) fn targets_mut(&mut self) -> &mut [InstId] {
        if let Op::Branch { target } = self {
            std::slice::from_mut(target)
        } else if let Op::BranchTable { targets, .. } = self {
            targets
        } else {
            &mut []
        }
    }

    /// Its effect on control flow, if it has one.
    pub fn control(&self) -> Option<Control<'_>> {
        if let Effect::Control(control) = self.effect() { Some(control) } else { None }
    }

    /// The reason why it is not supported or not evaluated, if it is not.
    pub fn not_supported(&self) -> Option<&str> {
        if let Op::Unsupported { reason } = self { Some(reason) } else { self.unevaluated() }
    }

    /// The reason why its results are never known, if they are not (rule S2).
    pub fn unevaluated(&self) -> Option<&str> {
        if let Op::Unevaluated { reason, .. } = self {
            Some(reason)
        } else if let Op::Async(Async::Tensor(TensorMemoryOp::Multiply(product))) = self {
            (product.kind == ProductKind::ScaledFour)
                .then_some("products of elements of 4 bits are not computed yet")
        } else {
            None
        }
    }

    /// Whether the thread executes nothing after it.
    pub fn ends(&self) -> bool {
        self.control().is_some_and(|control| control.ends())
    }

    /// Whether threads diverge or wait at it.
    pub fn divides(&self) -> Divides {
        match self.effect() {
            Effect::Control(Control::Branch(_)) | Effect::Waits(Wait::Barrier) | Effect::Collective(_) => {
                Divides::ByGuard
            }
            Effect::Control(Control::Table(..) | Control::Exit)
            | Effect::Waits(Wait::Warp(_) | Wait::Phase) => Divides::Always,
            Effect::Computes
            | Effect::Reads
            | Effect::Writes(_)
            | Effect::Context
            | Effect::Fault
            | Effect::Control(Control::Trap) => Divides::Never,
        }
    }

    /// Whether it only computes in registers.
    pub fn only_computes(&self) -> bool {
        matches!(self.effect(), Effect::Computes)
    }

    /// Whether it may be executed under a condition on inputs, as far as is known before it is executed: it computes in
    /// registers, loads, stores, updates or starts a copy; lanes exchange values, which all of them must do; or it enters a function, which makes only private state of its
    /// thread undefined.
    pub fn may_be_tried(&self) -> bool {
        matches!(
            self.effect(),
            Effect::Computes
                | Effect::Reads
                | Effect::Writes(Writes::Store | Writes::Atomic)
                | Effect::Collective(Members::Mask(_))
        ) || matches!(self, Op::Enter { .. } | Op::Async(Async::Copy { .. }))
    }

    /// Whether it enters a block that declares only registers.
    pub(super) fn enters_registers(&self) -> bool {
        matches!(self, Op::Enter { declared } if declared.variables.is_empty())
    }

    /// Whether it stores to memory of its thread. A parameter that is stored to is one of a call.
    pub fn stores_locally(&self) -> bool {
        matches!(self, Op::Store { space: Space::Local | Space::Param, .. })
    }

    /// The format and the rounding of a floating-point operation, if it rounds.
    pub(crate) fn rounding(&self) -> Option<(Format, Rounding)> {
        if let Op::Float1 { format, precision, .. }
        | Op::Float2 { format, precision, .. }
        | Op::Fma { format, precision, .. }
        | Op::CvtFloat { to: format, precision, .. } = self
        {
            return Some((*format, precision.rounding));
        }
        if let Op::IntToFloat { to, rounding, .. } = self {
            return Some((*to, *rounding));
        }
        None
    }

    /// Whether lanes of a warp meet at it (rule Y4).
    pub fn is_collective(&self) -> bool {
        matches!(self.effect(), Effect::Collective(_))
    }
}
