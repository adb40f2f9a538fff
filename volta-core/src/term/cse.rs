//! Common subexpression elimination.
//!
//! Most results are used once, soon after they were computed. So an operation is looked up among the few users of
//! its newest operand, which are likely to be in the cache. If there are more users, or no operand is a node, the
//! operation is in a hash table.

use super::id::{NodeId, TermId, TermKind};
use super::info::TermOp;
use super::node::Node;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// At most this many operations are in the list of their newest operand's node; further ones are in the table.
const FEW_USERS: usize = 4;
/// Lists are allocated for pages of this many nodes.
const PAGE: usize = 1 << 7;

/// One scalar operation, in the encoding of a node with one lane: raw ids, zeros after the last operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalar {
    pub(super) op: TermOp,
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) c: u64,
}

impl Scalar {
    fn is(self, node: &Node) -> bool {
        let [a, b, c] = node.operands;
        node.op == self.op && (a, b, c) == (self.a, self.b, self.c)
    }

    /// The newest node among the operands, in whose list the operation is.
    fn newest(self) -> Option<NodeId> {
        let node = |raw| match TermId::from_raw(raw).kind() {
            TermKind::Lane(node, _) => Some(node),
            TermKind::Input { .. } | TermKind::Constant(_) => None,
        };
        let operands = [self.a, self.b, self.c].into_iter().take(self.op.arity());
        operands.filter_map(node).max()
    }

    fn digest(self) -> u32 {
        let mix = |hash: u64, word: u64| (hash.rotate_left(29) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mix(mix(mix(self.op as u64, self.a), self.b), self.c) >> 32) as u32
    }
}

/// Links between nodes, as node numbers plus 1; 0 is none.
#[derive(Clone, Copy, Debug, Default)]
struct Links {
    /// The latest operation whose newest operand is this node.
    user: u32,
    /// The operation before this one in the list that contains it.
    next: u32,
}

/// The scalar operations of a store, each stored once.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Indexed by node number.
    lists: Vec<Option<Box<[Links; PAGE]>>>,
    pages: usize,
    /// With a digest of each, so that look-up and growth need not read nodes of other operations.
    table: HashTable<(u32, NodeId)>,
}

impl Shared {
    /// The node that has already computed an operation. If there is none, `new` is recorded as the one that does.
    pub(super) fn find_or_note(&mut self, nodes: &[Node], scalar: Scalar, new: NodeId) -> Option<NodeId> {
        if let Some(newest) = scalar.newest() {
            let first = self.links(newest.index()).map_or(0, |links| links.user);
            let (mut at, mut users) = (first, 0);
            while let Some(user) = at.checked_sub(1).map(|user| user as usize) {
                if scalar.is(&nodes[user]) {
                    return Some(NodeId::from_index(user));
                }
                at = self.links(user).map_or(0, |links| links.next);
                users += 1;
            }
            // Operations are never removed from a list, so one that is not full is complete.
            if users < FEW_USERS {
                let number = new.index() as u32 + 1;
                self.links_mut(newest.index()).user = number;
                if first != 0 {
                    self.links_mut(new.index()).next = first;
                }
                return None;
            }
        }
        let digest = scalar.digest();
        let same = |(other, known): &(u32, NodeId)| *other == digest && scalar.is(&nodes[known.index()]);
        match self.table.entry(spread(digest), same, |(digest, _)| spread(*digest)) {
            Entry::Occupied(known) => Some(known.get().1),
            Entry::Vacant(place) => {
                place.insert((digest, new));
                None
            }
        }
    }

    /// Memory in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.table.len() * size_of::<(u32, NodeId)>() + self.pages * size_of::<[Links; PAGE]>()
    }

    fn links(&self, node: usize) -> Option<Links> {
        self.lists.get(node / PAGE)?.as_ref().map(|page| page[node % PAGE])
    }

    fn links_mut(&mut self, node: usize) -> &mut Links {
        if self.lists.len() <= node / PAGE {
            self.lists.resize_with(node / PAGE + 1, || None);
        }
        let page = &mut self.lists[node / PAGE];
        self.pages += usize::from(page.is_none());
        &mut page.get_or_insert_with(|| Box::new([Links::default(); PAGE]))[node % PAGE]
    }
}

/// Spreads a digest over a hash: tables use its lowest and highest bits.
fn spread(digest: u32) -> u64 {
    u64::from(digest).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::super::{InputId, Store, TermId, TermOp};
    use crate::base::index::InstId;
    use crate::base::lane::LaneMask;
    use proptest::prelude::*;
    use rustc_hash::FxHashMap;

    proptest! {
        /// Every operation is computed once, however many others use the same term or lie in between.
        #[test]
        fn operations_are_found_again(
            draws in prop::collection::vec((0usize..3, prop::array::uniform3(0usize..12), 0u32..3), 1..400),
        ) {
            let mut store = Store::new();
            let mut terms: Vec<u64> = (0..2).map(|at| TermId::input(InputId(0), at).raw()).collect();
            let mut known: FxHashMap<(TermOp, Vec<u64>), u64> = FxHashMap::default();
            for (op, operands, gap) in draws {
                let op = [TermOp::Neg, TermOp::Add, TermOp::Fma][op];
                // Nodes of other operations lie in between: several pages, or none.
                for _ in 0..if gap == 0 { 700 } else { 0 } {
                    store.push(TermOp::Neg, LaneMask::ALL, &[&[terms[0]; 32]], InstId(0));
                }
                // Among the first terms, which have many users, and the last ones.
                let pick = |draw: usize| match draw {
                    0..6 => terms[draw % terms.len()],
                    _ => terms[terms.len() - 1 - (draw - 6).min(terms.len() - 1)],
                };
                let operands: Vec<u64> = operands[..op.arity()].iter().map(|draw| pick(*draw)).collect();
                let result = store.push_uniform(op, &operands, InstId(0));
                let first = *known.entry((op, operands)).or_insert(result);
                prop_assert_eq!(result, first);
                if !terms.contains(&result) {
                    terms.push(result);
                }
            }
            let different: rustc_hash::FxHashSet<u64> = known.values().copied().collect();
            prop_assert_eq!(different.len(), known.len());
        }
    }
}
