//! What a run relied on beyond the guarantees of PTX and of the declarations; it is listed with the verdict.

use super::exited_threads::{Returned, instruction};
use crate::base::assumption::Assumption;
use crate::case::Rules;
use crate::launch::Launch;
use crate::launch::objects::{misaligned, pretty_name};
use crate::program::{InstId, Update};
use crate::value::masks::Masks;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// What the CTAs of a launch relied on. It is the same under every schedule.
#[derive(Debug, Default)]
pub(crate) struct Relied {
    /// Returned threads that counted as arrived.
    pub(crate) returned: Returned,
    /// The readings of known floats as masks.
    pub(crate) masks: Masks,
    /// Complete sentences.
    pub(crate) others: BTreeSet<Assumption>,
    /// By object, the largest alignment that an access needed, 0 if none (rule M1).
    alignments: Vec<Cell<u64>>,
    /// Instructions by which several lanes stored the same value to one place (rule Y1).
    stores: BTreeSet<InstId>,
    /// By instruction, the alignment of rows of a matrix that PTX requires, where it does not hold (rule M1).
    rows: BTreeMap<InstId, u64>,
    /// An asynchronous write over what threads have read, without a proxy fence between (rule Y10).
    unfenced: Option<InstId>,
    /// Arrivals at mbarriers of other CTAs, and waits for them, with the scope `.cta` as written (rule Y13).
    narrow: BTreeSet<InstId>,
    /// Instructions with unknown results (rule S2).
    unevaluated: BTreeSet<InstId>,
    /// Loops of compare-and-swap that are one update, each with that update (rule Y7).
    swaps: BTreeSet<(InstId, String)>,
    /// Whether accesses are ordered only because a product of a warpgroup completes as a whole (rule Y12).
    parts: bool,
}

impl Relied {
    pub(crate) fn new(launch: &Launch<'_>, rules: &Rules) -> Relied {
        let alignments = vec![Cell::new(0); launch.objects.len()];
        Relied { alignments, masks: Masks::new(rules), ..Relied::default() }
    }

    /// An access needed an object to be aligned to this number of bytes.
    #[inline]
    pub(crate) fn on_alignment(&self, object: u32, bytes: u64) {
        let needed = &self.alignments[object as usize];
        needed.set(needed.get().max(bytes));
    }

    /// Lanes stored the same value to one place.
    #[inline]
    pub(crate) fn on_same_store(&mut self, pc: InstId) {
        self.stores.insert(pc);
    }

    /// Rows of a matrix start at multiples of [`ROW_ALIGN`] bytes, not of the `bytes` that PTX requires.
    pub(crate) fn on_rows(&mut self, pc: InstId, bytes: u64) {
        self.rows.insert(pc, bytes);
    }

    /// An asynchronous operation writes over what threads have read, without a proxy fence between.
    pub(crate) fn on_unfenced_reads(&mut self, pc: InstId) {
        self.unfenced.get_or_insert(pc);
    }

    /// An arrival or a wait at an mbarrier orders other CTAs, although its scope is `.cta`.
    pub(crate) fn on_narrow_scope(&mut self, pc: InstId) {
        self.narrow.insert(pc);
    }

    /// An instruction with unknown results was executed.
    pub(crate) fn on_unevaluated(&mut self, pc: InstId) {
        self.unevaluated.insert(pc);
    }

    /// The loop around a compare-and-swap is one update.
    pub(crate) fn on_swap(&mut self, pc: InstId, update: Update) {
        self.swaps.insert((pc, update.to_string()));
    }

    /// A product of a warpgroup is complete for all of its warps when one of them has waited for it.
    pub(crate) fn on_whole_products(&mut self) {
        self.parts = true;
    }

    /// Adds what another CTA relied on.
    pub(crate) fn merge(&mut self, other: Relied) {
        self.returned.merge(&other.returned);
        self.others.extend(other.others);
        self.masks.merge(other.masks);
        for (own, other) in self.alignments.iter().zip(other.alignments) {
            own.set(own.get().max(other.get()));
        }
        self.stores.extend(other.stores);
        self.rows.extend(other.rows);
        self.unfenced = self.unfenced.or(other.unfenced);
        self.narrow.extend(other.narrow);
        self.unevaluated.extend(other.unevaluated);
        self.swaps.extend(other.swaps);
        self.parts |= other.parts;
    }

    /// All of it, as one sentence each.
    pub(crate) fn assumptions(self, launch: &Launch<'_>) -> BTreeSet<Assumption> {
        let mut all = self.others;
        all.extend(self.returned.assumptions(launch));
        all.extend(launch.exceeded.iter().map(|limit| {
            Assumption::relied(format!(
                "beyond a limit of hardware, which the case ignores (`unlimited_launches`): {limit}"
            ))
        }));
        all.extend(self.masks.assumptions());
        all.extend(self.alignments.iter().zip(launch.objects.iter()).filter_map(|(needed, (_, object))| {
            let (needed, name) = (needed.get(), pretty_name(&object.name));
            (needed > object.declared).then(|| Assumption::relied(misaligned(name, needed)))
        }));
        all.extend(self.stores.iter().map(|pc| {
            Assumption::relied(format!(
                "{}: lanes store the same value to one place, and one of the stores is performed (Y1)",
                instruction(launch, *pc)
            ))
        }));
        all.extend(self.rows.iter().map(|(pc, bytes)| {
            Assumption::relied(format!(
                "{}: rows start at multiples of {ROW_ALIGN} bytes, which is enough for CUDA, but PTX requires {bytes} \
                 (M1)",
                instruction(launch, *pc)
            ))
        }));
        all.extend(self.parts.then(|| {
            let text = "a product of a warpgroup is complete for all of its warps when one of them has waited for it \
                        (Y12)";
            Assumption::relied(text.to_owned())
        }));
        all.extend(self.narrow.iter().map(|pc| {
            Assumption::relied(format!(
                "{}: orders the CTAs of the cluster, although its scope is written as `.cta` (Y13)",
                instruction(launch, *pc)
            ))
        }));
        all.extend(self.unevaluated.iter().map(|pc| {
            Assumption::relied(format!(
                "{}: its result is not known, and nothing is claimed about values that depend on it (S2)",
                instruction(launch, *pc)
            ))
        }));
        all.extend(self.swaps.iter().map(|(pc, update)| {
            Assumption::relied(format!(
                "{}: the loop around it, which retries until it succeeds, is one atomic update, `{update}` (Y7)",
                instruction(launch, *pc)
            ))
        }));
        all.extend(self.unfenced.map(|pc| {
            Assumption::relied(format!(
                "{}: reads that happen before an asynchronous write have their values, even without a proxy fence \
                 (Y10)",
                instruction(launch, pc)
            ))
        }));
        all
    }
}

/// Rows of `wmma` matrices start at multiples of this number of bytes, according to CUDA's guide.
pub(crate) const ROW_ALIGN: u64 = 16;
