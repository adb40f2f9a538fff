//! What an operation does beside computing: the one table that everybody who treats operations alike reads.

use super::access::Access;
use super::asynchronous::Async;
use super::op::{InstId, Op, Space, Src};
use super::tensor_memory::TensorMemoryOp;
use crate::number::format::{Format, Rounding};

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect<'o> {
    /// Nothing but compute in registers: executing it where it is not wanted, and dropping what it wrote, changes nothing.
    Computes,
    /// Reads memory that somebody may write.
    Reads,
    /// Writes memory.
    Writes(Writes),
    /// Asks or changes what a warp or a block holds besides registers and memory: which lanes are there, copies under
    /// way, what was declared.
    Context,
    /// Holds a thread until others are there.
    Waits(Wait),
    /// Lanes of a warp meet at it and exchange values, without ordering memory (rule Y4).
    Collective(Members),
    /// Decides what is executed next.
    Control(Control<'o>),
    /// A fault for whoever gets there.
    Fault,
}

/// How memory is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// By a store.
    Store,
    /// By an atomic operation.
    Atomic,
    /// By a copy that goes on while the thread does.
    Copy,
}

/// For whom a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// For threads of the CTA.
    Barrier,
    /// For the lanes of this mask.
    Warp(Src),
    /// For the end of a phase of a barrier in memory, or of the cluster's, or for a flag.
    Phase,
}

/// Which lanes of a warp meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Members {
    /// Those of this mask.
    Mask(Src),
    /// All 32: a matrix instruction.
    All,
}

/// Whether threads that stand together may part at an operation, or wait there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divides {
    /// They do it, each for itself, and go on together.
    Never,
    /// They do if not all of them execute it.
    ByGuard,
    /// They do if any of them executes it.
    Always,
}

/// What is executed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control<'o> {
    /// The operation there.
    Branch(&'o InstId),
    /// The operation that stands at a number of this list.
    Table(Src, &'o [InstId]),
    /// Nothing: the thread returns.
    Exit,
    /// Nothing: the run ends with a fault.
    Trap,
}

impl<'o> Control<'o> {
    /// Where it may lead.
    pub fn targets(self) -> &'o [InstId] {
        match self {
            Control::Branch(target) => std::slice::from_ref(target),
            Control::Table(_, targets) => targets,
            Control::Exit | Control::Trap => &[],
        }
    }

    /// Whether nothing of the thread is executed after it.
    pub fn ends(self) -> bool {
        match self {
            Control::Branch(_) | Control::Table(..) => false,
            Control::Exit | Control::Trap => true,
        }
    }
}

impl Op {
    /// What the operation does.
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
            // The kernel's parameters are the same for all and always there.
            | Op::Load { space: Space::Param, .. } => Effect::Computes,
            Op::Load { access: Access { waits: true, .. }, .. } => Effect::Waits(Wait::Phase),
            Op::Load { .. } => Effect::Reads,
            Op::Store { .. } => Effect::Writes(Writes::Store),
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

    /// Where it may lead.
    pub(super) fn targets_mut(&mut self) -> &mut [InstId] {
        if let Op::Branch { target } = self {
            std::slice::from_mut(target)
        } else if let Op::BranchTable { targets, .. } = self {
            targets
        } else {
            &mut []
        }
    }

    /// What it decides of what is executed next, if it decides that.
    pub fn control(&self) -> Option<Control<'_>> {
        if let Effect::Control(control) = self.effect() { Some(control) } else { None }
    }

    /// Why it is not supported, or not evaluated.
    pub fn not_supported(&self) -> Option<&str> {
        if let Op::Unsupported { reason } = self { Some(reason) } else { self.unevaluated() }
    }

    /// Why nothing is known of what it computes, if that is so.
    pub fn unevaluated(&self) -> Option<&str> {
        if let Op::Unevaluated { reason, .. } = self {
            Some(reason)
        } else if let Op::Async(Async::Tensor(TensorMemoryOp::Multiply(product))) = self {
            product.scales.map(|_| "products of factors that are scaled by blocks are not evaluated yet")
        } else {
            None
        }
    }

    /// Whether nothing of a thread is executed after it.
    pub fn ends(&self) -> bool {
        self.control().is_some_and(|control| control.ends())
    }

    /// Whether threads part at it.
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

    /// Whether it does nothing but compute in registers.
    pub fn only_computes(&self) -> bool {
        matches!(self.effect(), Effect::Computes)
    }

    /// Whether it may be done where it is not wanted, as far as can be told before it is executed: it computes in
    /// registers, loads, or stores where no other thread looks, which can be taken back; or it enters a function, which
    /// forgets what only its thread had.
    pub fn may_be_tried(&self) -> bool {
        matches!(self.effect(), Effect::Computes | Effect::Reads)
            || self.stores_locally()
            || matches!(self, Op::Enter { .. })
    }

    /// Whether it enters a block that declares nothing but registers.
    pub(super) fn enters_registers(&self) -> bool {
        matches!(self, Op::Enter { declared } if declared.variables.is_empty())
    }

    /// Whether it stores to memory of its thread: a parameter that is stored to is that of a call.
    pub fn stores_locally(&self) -> bool {
        matches!(self, Op::Store { space: Space::Local | Space::Param, .. })
    }

    /// In which format and how an operation on floats rounds, if it does.
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
