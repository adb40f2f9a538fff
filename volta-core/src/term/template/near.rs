//! The function that most resembles the steps that lead to an unrecognized term: for messages.

use super::{ANYTHING, Piece, Template};
use crate::base::index::InstId;
use crate::term::id::{NodeId, TermId, TermKind};
use crate::term::node::{Store, View};
use rustc_hash::{FxHashMap, FxHashSet};

/// At most this many steps are examined.
const MAX_STEPS: usize = 1 << 14;

/// Functions with fewer steps than this resemble too much code.
const FEWEST_STEPS: usize = 8;

/// A function most of whose steps occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearest<'t> {
    /// Its name.
    pub name: &'t str,
    /// The number of its steps that occur.
    pub found: usize,
    /// The number of its steps.
    pub steps: usize,
    /// The first instruction that continues one of these steps in a way that the function does not.
    pub departs: Option<InstId>,
}

impl Template {
    /// The digests of its steps, where digests cover them.
    fn digests(&self) -> FxHashSet<u64> {
        let of = |piece: &Piece| match piece {
            Piece::Apply { digest, .. } => *digest,
            Piece::Operand(_) | Piece::Number(_) => ANYTHING,
        };
        self.graph.iter().map(of).filter(|digest| *digest != ANYTHING).collect()
    }
}

impl Store {
    /// The function most of whose steps lead to an unrecognized term.
    pub fn nearest_function(&self, term: TermId) -> Option<Nearest<'_>> {
        let explainer = self.explainer.as_deref()?;
        // The steps, each with the nodes of its operands.
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
