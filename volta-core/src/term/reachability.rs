//! The terms on which given terms depend.

use super::id::{TermId, TermKind};
use super::node::{Lanes, Store};
use crate::base::lane::{Lane, LaneMask};

/// The lanes of a store's nodes on which some terms depend, those terms included.
///
/// # Cost
/// A word and a bit for each node of the store, of which only those of reached nodes are touched, and one visit of
/// each reached node.
#[derive(Debug)]
pub(crate) struct Reached {
    /// For each node, its reached lanes: zeroed memory is not touched until it is written.
    lanes: Vec<u32>,
    /// The nodes with reached lanes, a bit each.
    nodes: Vec<u64>,
}

impl Reached {
    /// The terms on which `roots` depend.
    pub(crate) fn new(store: &Store, roots: &[TermId]) -> Reached {
        Reached::without(store, roots, &[])
    }

    /// The terms on which `roots` depend, without some lanes of the nodes, and what only these depend on.
    pub(crate) fn without(store: &Store, roots: &[TermId], left_out: &[LaneMask]) -> Reached {
        let mut reached = Reached { lanes: vec![0; store.len()], nodes: vec![0; store.len().div_ceil(64)] };
        roots.iter().for_each(|root| reached.insert(*root));
        for word in (0..reached.nodes.len()).rev() {
            // Operands of a node precede it: lanes inserted here are visited later.
            let mut below = u64::MAX;
            while let Some(bit) = (reached.nodes[word] & below).checked_ilog2() {
                below = (1 << bit) - 1;
                let at = word * 64 + bit as usize;
                if let Some(left_out) = left_out.get(at) {
                    reached.lanes[at] &= !left_out.bits();
                    if reached.lanes[at] == 0 {
                        reached.nodes[word] &= !(1 << bit);
                        continue;
                    }
                }
                reached.insert_operands(store, at);
            }
        }
        reached
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        (4 * self.lanes.capacity() + 8 * self.nodes.capacity()) as u64
    }

    /// Every term of a store.
    pub(crate) fn all(store: &Store) -> Reached {
        let mut reached = Reached { lanes: vec![0; store.len()], nodes: vec![0; store.len().div_ceil(64)] };
        (0..store.len()).for_each(|at| reached.insert_lanes(at, store.mask(at)));
        reached
    }

    /// The reached lanes of a node.
    #[inline]
    pub(crate) fn lanes(&self, node: usize) -> LaneMask {
        LaneMask::from_bits(self.lanes[node])
    }

    /// Whether some lane of a node is reached.
    #[inline]
    pub(crate) fn has(&self, node: usize) -> bool {
        self.nodes[node / 64] >> (node % 64) & 1 == 1
    }

    /// Whether a lane is reached of any of the nodes from `64·number` to `64·number + 63`.
    pub(crate) fn has_near(&self, number: usize) -> bool {
        self.nodes[number] != 0
    }

    /// The first node from `node` on that has reached lanes.
    pub(crate) fn first_from(&self, node: usize) -> Option<usize> {
        let (word, bit) = (node / 64, node % 64);
        let own = self.nodes.get(word)? & u64::MAX << bit;
        if own != 0 {
            return Some(word * 64 + own.trailing_zeros() as usize);
        }
        let further = self.nodes[word + 1..].iter().position(|word| *word != 0)?;
        let word = word + 1 + further;
        Some(word * 64 + self.nodes[word].trailing_zeros() as usize)
    }

    fn insert(&mut self, term: TermId) {
        if let TermKind::Lane(node, lane) = term.kind() {
            self.insert_lanes(node.index(), LaneMask::of(lane));
        }
    }

    fn insert_lanes(&mut self, node: usize, lanes: LaneMask) {
        self.lanes[node] |= lanes.bits();
        self.nodes[node / 64] |= 1 << (node % 64);
    }

    fn insert_operands(&mut self, store: &Store, at: usize) {
        let (lanes, node) = (self.lanes(at), store.node_ref(at));
        for which in 0..node.op().arity() {
            let own = node.operand(which);
            match (whole_node(own), own) {
                (Some(whole), _) => self.insert_lanes(whole, lanes),
                (None, Lanes::Affine { base, stride: 0 }) => self.insert(TermId::from_raw(base)),
                (None, own) if is_of_input(own, lanes) => {}
                (None, own) => each_term(own, lanes, node.mask(), |_, term| self.insert(term)),
            }
        }
    }
}

/// Whether all terms of an operand in some lanes are certainly elements of an input.
pub(crate) fn is_of_input(own: Lanes<'_>, lanes: LaneMask) -> bool {
    let ends = match own {
        Lanes::Affine { .. } => [lanes.first(), lanes.last()].map(|lane| own.term(lane, lanes)),
        Lanes::Strides { base, motion } => motion.min_max(base).map(TermId::from_raw),
        Lanes::List(_) | Lanes::Repeated { .. } => return false,
    };
    // Between two elements of an input there are only elements.
    ends.into_iter().all(|term| matches!(term.kind(), TermKind::Input { .. }))
}

/// The node of which an operand is the whole row of lanes, in order.
pub(crate) fn whole_node(own: Lanes<'_>) -> Option<usize> {
    let Lanes::Affine { base, stride: 1 } = own else { return None };
    match TermId::from_raw(base).kind() {
        TermKind::Lane(node, Lane::FIRST) => Some(node.index()),
        TermKind::Lane(..) | TermKind::Input { .. } | TermKind::Constant(_) => None,
    }
}

/// Calls `look` for the operand's term in each of some lanes, for a node with the lanes of `mask`.
#[inline]
pub(crate) fn each_term(own: Lanes<'_>, lanes: LaneMask, mask: LaneMask, mut look: impl FnMut(Lane, TermId)) {
    match own {
        // Zipped with the list, so that no lane's position has to be counted.
        Lanes::List(list) => {
            for (lane, raw) in mask.iter().zip(list).filter(|(lane, _)| lanes.contains(*lane)) {
                look(lane, TermId::from_raw(*raw));
            }
        }
        Lanes::Affine { .. } | Lanes::Strides { .. } | Lanes::Repeated { .. } => {
            lanes.iter().for_each(|lane| look(lane, own.term(lane, mask)));
        }
    }
}

/// The number of bits that are set below bit `bit`.
#[inline]
pub(crate) fn rank(bits: u32, bit: u32) -> usize {
    match bits & ((1 << bit) - 1) {
        // The usual case, which avoids counting bits: it may be slow without a machine instruction for it.
        0 => 0,
        before => before.count_ones() as usize,
    }
}

/// The bits that are set, lowest first.
pub(crate) fn bits(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < 32).then_some(bit)
    })
}
