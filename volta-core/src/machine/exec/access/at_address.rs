//! What is executed at each of the addresses that an input chooses from.

use crate::machine::cta::accesses::Copied;
use crate::program::{Inst, InstId, RegId};
use crate::value::Value;

/// What is executed at each of some addresses, and by which instruction.
#[derive(Clone, Copy)]
pub(super) struct Access<'i> {
    pub(super) pc: InstId,
    pub(super) what: What<'i>,
}

impl Access<'_> {
    /// What it loads where no input leads.
    pub(super) fn nothing(&self) -> Vec<Value> {
        let count = match self.what {
            What::Inst { targets, .. } => targets.len(),
            What::Size(copy) | What::Source(copy, _) => (copy.bytes / 4) as usize,
        };
        vec![Value::Bits(0); count]
    }
}

/// What is executed.
#[derive(Clone, Copy)]
pub(super) enum What<'i> {
    /// An instruction, by its base register, and the registers that it loads into.
    Inst { inst: &'i Inst, base: RegId, targets: &'i [Option<RegId>] },
    /// What a copy takes; the numbers are those of bytes.
    Size(&'i Copied),
    /// What a copy of so many bytes takes.
    Source(&'i Copied, u32),
}
