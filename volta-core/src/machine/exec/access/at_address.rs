//! What is executed at each of the addresses that an input chooses from.

use crate::base::lane::Lane;
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::Copied;
use crate::machine::group::warp::Warp;
use crate::program::{Inst, InstId, RegId};
use crate::value::Value;

/// What is executed at each of the addresses that an input chooses from.
#[derive(Clone, Copy)]
pub(super) enum What<'i> {
    Inst(OfInst<'i>),
    /// What a copy takes; the numbers are those of bytes.
    Size(&'i Copied),
    /// What a copy of so many bytes takes.
    Source(&'i Copied, u32),
}

/// An instruction, its base register, and the registers that it loads into.
#[derive(Clone, Copy)]
pub(super) struct OfInst<'i> {
    pub(super) inst: &'i Inst,
    pub(super) base: RegId,
    pub(super) targets: &'i [Option<RegId>],
}

impl What<'_> {
    /// What it loads where no input leads.
    pub(super) fn nothing(&self) -> Vec<Value> {
        let count = match self {
            What::Inst(OfInst { targets, .. }) => targets.len(),
            What::Size(copy) | What::Source(copy, _) => (copy.bytes / 4) as usize,
        };
        vec![Value::Bits(0); count]
    }
}

/// A lane that accesses memory at an address which an input chooses, and by which instruction.
pub(super) struct ByCases<'c, 'l> {
    pub(super) cta: &'c mut Cta<'l>,
    pub(super) warp: &'c mut Warp,
    pub(super) lane: Lane,
    pub(super) pc: InstId,
}
