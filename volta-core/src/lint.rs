//! Findings outside of verdicts: accesses that cost more than needed, and precision that only one of two kernels loses.

use std::collections::BTreeMap;

pub use crate::precision::{PrecisionLoss, precision_lost};

use crate::case::{Case, Side, Which};
use crate::launch::place_in;
use crate::machine::{AccessPattern, Traffic};
use crate::program::Effect;
use crate::progress::run_verdict;
use crate::steps;
use crate::verdict::{CudaPlace, Place, Verdict};

/// A statement whose accesses cost more than needed.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessCost {
    /// The first of its instructions.
    pub place: Place,
    /// Number of its instructions, such as copies in an unrolled loop.
    pub copies: usize,
    /// The unit of cost.
    pub traffic: Traffic,
    /// The total of all executions of all copies.
    pub pattern: AccessPattern,
}

impl AccessCost {
    /// Whether it is worth reporting. Bank conflicts are if they take half as many passes more than needed, over the
    /// whole run; sectors are if they are twice as many as needed, for accesses that take more than a few: rows that
    /// begin in the middle of a sector, and the last lanes of a row, are not.
    fn is_notable(&self) -> bool {
        let AccessPattern { taken, least, worst, .. } = self.pattern;
        match self.traffic {
            Traffic::Banks => 2 * taken >= 3 * least && worst[0] > 1,
            Traffic::Sectors => taken >= 2 * least && worst[0] >= 4,
        }
    }
}

/// The statements of one kernel of a case whose accesses to shared and global memory cost notably more than needed, in
/// the order of its PTX. Costs are counted in a run of the whole launch.
///
/// # Errors
/// The verdict of a kernel that does not run to its end.
pub fn access_costs(case: &Case, which: Which) -> Result<Vec<AccessCost>, Verdict> {
    let Some(side) = side_of(case, which) else { return Ok(Vec::new()) };
    let programs = steps::load(which, side).map_err(Verdict::InputError)?.programs();
    let mut case = case.clone();
    case.options.access_patterns = true;
    // A copying statement consists of a load and a store.
    let mut costs: BTreeMap<(usize, SourceStatement, bool, Traffic), AccessCost> = BTreeMap::new();
    let run = steps::each(which, (side, &programs), &case, |(step, kernel, program), execution| {
        for (inst, traffic, pattern) in execution.patterns.iter() {
            let Some(place) = place_in(program, &kernel.ptx, inst) else { continue };
            let writes = matches!(program.insts[inst.index()].op.effect(), Effect::Writes(_));
            let place = Place { step, ..place };
            let new = AccessCost { place, copies: 0, traffic, pattern: AccessPattern::default() };
            let cost = costs.entry((step, SourceStatement::of(&new.place), writes, traffic)).or_insert(new);
            cost.copies += 1;
            cost.pattern = cost.pattern.and(pattern);
        }
    });
    run.map_err(|error| run_verdict(which, error))?;
    let mut costs: Vec<AccessCost> = costs.into_values().filter(AccessCost::is_notable).collect();
    costs.sort_by_key(|cost| (cost.place.step, cost.place.line, cost.place.column, cost.traffic));
    Ok(costs)
}

pub(crate) fn side_of(case: &Case, which: Which) -> Option<&Side> {
    match which {
        Which::Reference => case.reference.as_ref(),
        Which::Opt => Some(&case.opt),
    }
}

/// The source position of instructions; those of one statement share it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceStatement {
    /// In the CUDA source.
    Cuda(CudaPlace),
    /// In the PTX: line and column.
    Ptx(u32, u32),
}

impl SourceStatement {
    /// The statement of an instruction at some position.
    pub fn of(place: &Place) -> SourceStatement {
        match &place.cuda {
            Some(cuda) => SourceStatement::Cuda(cuda.clone()),
            None => SourceStatement::Ptx(place.line, place.column),
        }
    }
}
