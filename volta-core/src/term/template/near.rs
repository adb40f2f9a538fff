//! To which function the steps that lead to a term are nearest, where they are none: for messages.

use super::{ANYTHING, Piece, Template};
use crate::base::index::InstId;
use crate::term::id::{NodeId, TermId, TermKind};
use crate::term::node::{Store, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// So many steps are looked at.
const MAX_STEPS: usize = 1 << 14;

/// Functions with fewer steps than this are near to anything.
const FEWEST_STEPS: usize = 8;

/// A function of which most steps are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest<'t> {
    /// Its name.
    pub name: &'t str,
    /// So many of its steps are there.
    pub found: usize,
    /// It has so many.
    pub steps: usize,
    /// The first instruction that goes on from one of them as the function does not.
    pub departs: Option<InstId>,
}

impl Template {
    /// What the graphs of its steps have for digests, as far as digests cover them.
    fn digests(&self) -> FxHashSet<u64> {
        let of = |piece: &Piece| match piece {
            Piece::Apply { digest, .. } => *digest,
            Piece::Operand(_) | Piece::Number(_) => ANYTHING,
        };
        self.graph.iter().map(of).filter(|digest| *digest != ANYTHING).collect()
    }
}

impl Store {
    /// The function of which most steps lead to a term that is none.
    pub fn nearest_function(&self, term: TermId) -> Option<Nearest<'_>> {
        let explainer = self.explainer.as_deref()?;
        // The steps, by what their operands are steps of.
        let mut steps: FxHashMap<NodeId, Vec<NodeId>> = FxHashMap::default();
        let mut work = vec![term];
        while let Some(next) = work.pop() {
            let TermKind::Lane(node, _) = next.kind() else { continue };
            if !explainer.covered.contains_key(&node) || steps.contains_key(&node) || steps.len() >= MAX_STEPS
            {
                continue;
            }
            let View::Apply(op, operands) = self.view(next) else { continue };
            let operands = &operands[..op.arity()];
            work.extend(operands);
            let nodes = operands.iter().filter_map(|operand| match operand.kind() {
                TermKind::Lane(node, _) => Some(node),
                TermKind::Input { .. } | TermKind::Constant(_) => None,
            });
            steps.insert(node, nodes.collect());
        }
        let digest = |node: &NodeId| explainer.covered.get(node).map_or(ANYTHING, |covered| covered.digest);
        let there: FxHashSet<u64> = steps.keys().map(digest).collect();
        let mut best: Option<(Nearest<'_>, FxHashSet<u64>)> = None;
        for template in &explainer.templates.list {
            let own = template.digests();
            let found = own.intersection(&there).count();
            let near = Nearest { name: &template.name, found, steps: own.len(), departs: None };
            let nearer = best.as_ref().is_none_or(|(best, _)| found * best.steps > best.found * own.len());
            if own.len() >= FEWEST_STEPS && 2 * found > own.len() && nearer {
                best = Some((near, own));
            }
        }
        let (near, own) = best?;
        let goes_on = |node: &NodeId, operands: &[NodeId]| {
            !own.contains(&digest(node)) && operands.iter().any(|operand| own.contains(&digest(operand)))
        };
        let other =
            steps.iter().filter(|(node, operands)| goes_on(node, operands)).map(|(node, _)| *node).min();
        let departs = other.and_then(|node| explainer.covered.get(&node)).map(|covered| covered.site);
        Some(Nearest { departs, ..near })
    }
}
