//! The share of the compared elements that a part of a case decides.

use crate::case::Shard;
use crate::conditions::Pair;
use crate::verify::{Verification, output_elements};

impl Verification<'_> {
    /// Keeps the elements of a part's share, which the coverage is then about.
    pub(crate) fn keep_share(&mut self, shard: Shard, pairs: &mut Vec<Pair>) {
        let coverage = &mut self.report.coverage;
        let share = shard.share(coverage.total);
        let mut before = 0;
        let first_of: Vec<u64> = self
            .case
            .params
            .iter()
            .map(|param| {
                before += output_elements(param).unwrap_or(0);
                before - output_elements(param).unwrap_or(0)
            })
            .collect();
        pairs.retain(|pair| share.contains(&(first_of[pair.param] + pair.element)));
        coverage.total = share.end - share.start;
        coverage.unwritten = coverage.total - pairs.len() as u64;
    }
}
