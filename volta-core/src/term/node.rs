//! The arena: one 32-byte node per warp instruction.
//!
//! An operand of a node is 32 lanes of terms. Nearly always they are `base + lane·stride`, or affine in the bits of
//! the lane id, and then the operand is one word; otherwise it points to an explicit list, one entry per lane.

use super::cse::Shared;
use super::id::{ConstantId, InputId, Integers, NodeId, TermId, TermKind};
use super::import::FromEarlier;
use super::info::TermOp;
use super::template::Explainer;
use crate::base::affine::Affine;
use crate::base::index::InstId;
use crate::base::lane::{Lane, LaneMask};
use crate::number::format::Format;
use crate::number::{Extended, Rational, Rounded};
use rustc_hash::FxHashSet;

/// A constant: its exact value and its literal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// The value that proofs use.
    pub exact: Extended,
    /// The literal that it was decoded from, if any (rule V9 reads some literals as irrational constants).
    pub literal: Option<(Format, u64)>,
    /// The values that the hardware may hold (rule V10); `None` if they are not bounded.
    pub rounded: Option<Rounded>,
}

/// One scalar term, as algebra reads it.
#[derive(Clone, Copy, Debug)]
pub enum View<'s> {
    /// An element of an input.
    Input {
        /// Which input.
        input: InputId,
        /// Row-major element number.
        element: u64,
    },
    /// A constant.
    Constant(&'s Constant),
    /// An operation; the first `op.arity()` operands are valid, the others repeat the first.
    Apply(TermOp, [TermId; 3]),
}

/// The terms of one operand of a node, raw, in the active lanes.
#[derive(Clone, Copy, Debug)]
pub enum Lanes<'s> {
    /// Lane `i`'s term is `base + i·stride`.
    Affine {
        /// The term that lane 0 would have.
        base: u64,
        /// The difference between neighbouring lanes.
        stride: i64,
    },
    /// Lane `i`'s term is `base` plus the strides of the bits that are set in `i`: see [`Affine`].
    Strides {
        /// The term that lane 0 would have.
        base: u64,
        /// The strides.
        motion: &'s Motion,
    },
    /// One term for each active lane, in lane order.
    List(&'s [u64]),
    /// All lanes are active, and lane `i` has `list[(i >> shift) % list.len()]`: a row or column of a fragment.
    Repeated {
        /// The terms; their number is a power of two.
        list: &'s [u64],
        /// Runs of `2^shift` lanes have the same term.
        shift: u32,
    },
}

impl Lanes<'_> {
    /// The term of a lane, of a node with the lanes of `mask`.
    #[inline]
    pub fn term(self, lane: Lane, mask: LaneMask) -> TermId {
        TermId::from_raw(match self {
            Lanes::Affine { base, stride } => base.wrapping_add_signed(stride * i64::from(lane.number())),
            Lanes::Strides { base, motion } => motion.from(base).lane(lane.number()),
            Lanes::List(list) => list[mask.rank(lane)],
            Lanes::Repeated { list, shift } => list[lane.index() >> shift & (list.len() - 1)],
        })
    }
}

/// The strides of terms over the lanes: one for each bit of the lane id.
pub type BitStrides = [i64; 5];

/// Strides that many operands share, with what follows from them.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The difference between the terms of two lanes that differ in one bit only.
    pub steps: BitStrides,
    /// The difference between neighbouring lanes, if it is uniform.
    pub(super) stride: Option<i64>,
    /// The lowest and the highest term of all lanes, minus lane 0's.
    reach: [i64; 2],
}

impl Motion {
    /// The motion with these strides.
    pub fn new(steps: BitStrides) -> Motion {
        let apart = Affine { first: 0, steps };
        let stride = Some(steps[0]).filter(|stride| apart == Affine::strided(0, *stride));
        Motion { steps, stride, reach: apart.min_max().map(u64::cast_signed) }
    }

    /// The raw terms of all lanes, given that of lane 0.
    #[inline]
    pub fn from(&self, base: u64) -> Affine {
        Affine { first: base, steps: self.steps }
    }

    /// Like [`Affine::min_max`], from precomputed bounds.
    #[inline]
    pub fn min_max(&self, base: u64) -> [u64; 2] {
        self.reach.map(|reach| base.wrapping_add_signed(reach))
    }
}

/// A whole node, for passes that read a store from its first node to its last.
#[derive(Clone, Copy, Debug)]
pub struct NodeParts<'s> {
    /// The operation.
    pub op: TermOp,
    /// The active lanes.
    pub mask: LaneMask,
    /// The operands; the first `op.arity()` count.
    pub operands: [Lanes<'s>; 3],
}

/// An operation and the strides of its operands, independent of their terms in lane 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moves {
    /// The operation, the mask, and the encodings of the operands.
    head: (TermOp, LaneMask, u8),
    /// The top bytes of the operand words: strides, or indices of strides.
    apart: [u8; 3],
}

/// A whole node whose operands are read one by one.
#[derive(Clone, Copy, Debug)]
pub struct NodeRef<'s> {
    store: &'s Store,
    node: &'s Node,
}

impl<'s> NodeRef<'s> {
    /// The operation.
    #[inline]
    pub fn op(self) -> TermOp {
        self.node.op
    }

    /// The active lanes.
    #[inline]
    pub fn mask(self) -> LaneMask {
        self.node.mask
    }

    /// The operation and its operands' strides; `None` if an operand is a list.
    #[inline]
    pub fn moves(self) -> Option<Moves> {
        let Node { op, modes, mask, operands } = *self.node;
        // Only the encoding of a list has this bit set.
        if modes & (LIST | LIST << 2 | LIST << 4) != 0 {
            return None;
        }
        let apart = operands.map(|word| (word >> TermId::BITS) as u8);
        Some(Moves { head: (op, mask, modes), apart })
    }

    /// The raw term that lane 0 has, or would have, for each operand that is not a list.
    #[inline]
    pub fn bases(self) -> [u64; 3] {
        self.node.operands.map(|word| word & ((1 << TermId::BITS) - 1))
    }

    /// Whether an operand increases by one from lane to lane (true) or is uniform (false); `None` for any other.
    #[inline]
    pub fn is_row(self, which: usize) -> Option<bool> {
        let affine = self.node.modes >> (2 * which) & 3 == AFFINE;
        match self.node.operands[which] >> TermId::BITS {
            1 if affine => Some(true),
            0 if affine => Some(false),
            _ => None,
        }
    }

    /// Operand number `which`, less than the arity of the operation.
    #[inline(always)] // Returned through memory in pieces, the result would be slow to read as a whole.
    pub fn operand(self, which: usize) -> Lanes<'s> {
        self.store.lanes(self.node, which)
    }
}

/// The encodings of an operand word.
pub(super) const AFFINE: u8 = 0;
pub(super) const STEPS: u8 = 1;
pub(super) const LIST: u8 = 2;

/// In the top byte of a list's word: the terms repeat over the lanes. The lower bits of that byte hold the shift (3
/// bits) and the logarithm of the number of terms.
pub(super) const REPEATED: u64 = 0x80 << TermId::BITS;

/// The shift and the number of terms in a list's word, if the terms repeat over the lanes.
fn repetition(word: u64) -> Option<(u32, usize)> {
    let pattern = word >> TermId::BITS;
    (word & REPEATED != 0).then(|| ((pattern & 7) as u32, 1 << (pattern >> 3 & 7)))
}

/// The raw term of a lane, given an affine operand's word.
#[inline]
pub(super) fn affine_lane(word: u64, lane: Lane) -> u64 {
    let base = word & ((1 << TermId::BITS) - 1);
    let stride = (word as i64) >> TermId::BITS;
    base.wrapping_add_signed(stride * i64::from(lane.number()))
}

/// 32 bytes. An affine operand word holds the base in its low 56 bits and a signed stride in its top 8; an operand
/// with strides for each bit has their index there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) op: TermOp,
    /// Two bits for each operand.
    pub(super) modes: u8,
    pub(super) mask: LaneMask,
    pub(super) operands: [u64; 3],
}

/// The error of an approximation: the larger of both bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearness {
    /// In units in the last place.
    pub ulps: u32,
    /// The exponent of a power of two, as a distance.
    pub or_below: Option<i32>,
}

impl Nearness {
    /// The error of one of two approximations.
    pub fn or(self, other: Nearness) -> Nearness {
        Nearness { ulps: self.ulps.max(other.ulps), or_below: self.or_below.max(other.or_below) }
    }
}

/// The terms of one execution of a CTA.
#[derive(Debug, Default)]
pub struct Store {
    pub(super) nodes: Vec<Node>,
    /// The distinct strides of operands.
    pub(super) motions: Vec<Motion>,
    pub(super) lists: Vec<u64>,
    pub(super) constants: Vec<Constant>,
    /// Bytes of numbers too large for machine words, counted twice: the table of constants holds copies.
    pub(super) large_bytes: u64,
    pub(super) constant_ids: rustc_hash::FxHashMap<Constant, ConstantId>,
    /// Nodes of scalar operations, indexed by operation and operands.
    pub(super) shared: Shared,
    /// Whether some constant is an infinity.
    pub(super) infinite: bool,
    /// The instruction of each node whose operation is partial, in node order (obligations, rule V8).
    pub(super) sites: Vec<(NodeId, InstId)>,
    /// Disables the detection of lane patterns, for tests: every operand becomes a list.
    pub(super) only_lists: bool,
    /// For each input, the range of its elements; `None` for reals.
    pub(super) integers: Vec<Option<Integers>>,
    /// Literals from which known numbers were computed.
    pub(super) folded: FxHashSet<(Format, u64)>,
    /// Constants that are operands of steps of recognized functions only.
    pub(super) inner_constants: FxHashSet<ConstantId>,
    /// How far numbers computed from constants may be from the function of them that they approximate.
    pub(super) approximates: Option<Nearness>,
    /// What was taken from the stores of earlier steps of the side.
    pub(super) left: FromEarlier,
    /// Whether floats are values of IEEE arithmetic rather than reals.
    pub(super) ieee: bool,
    /// Of known values of IEEE arithmetic, by their magnitude: the largest relative error of those that are rounded.
    pub(super) roundings: rustc_hash::FxHashMap<u64, f64>,
    /// The operations of IEEE arithmetic, as terms.
    pub(super) ieee_keys: rustc_hash::FxHashMap<i64, TermId>,
    /// Recognizes library functions that were compiled into the kernel.
    pub(super) explainer: Option<Box<Explainer>>,
}

impl Store {
    /// An empty store.
    pub fn new() -> Store {
        Store::default()
    }

    /// Notes that a known number was computed from these: their literals were taken as the bits that they are.
    pub(crate) fn note_folded(&mut self, operands: &[TermId]) {
        for operand in operands {
            if let TermKind::Constant(id) = operand.kind()
                && let Some(literal) = self.constants[id.index()].literal
            {
                self.folded.insert(literal);
            }
        }
    }

    /// Whether a known number was computed from a literal.
    pub(crate) fn is_folded(&self, literal: (Format, u64)) -> bool {
        self.folded.contains(&literal)
    }

    /// The literals among its constants, but for those of recognized functions.
    pub(crate) fn literals(&self) -> impl Iterator<Item = (Format, u64)> {
        let all = self.constants.iter().enumerate();
        let own = all.filter(|(at, _)| !self.inner_constants.contains(&ConstantId::from_index(*at)));
        own.filter_map(|(_, constant)| constant.literal)
    }

    /// Gives constants other values, and returns those that had one, with their numbers.
    pub(crate) fn read_constants(
        &mut self,
        number: impl Fn(&Constant) -> Option<Rational>,
    ) -> Vec<(usize, Constant)> {
        let mut before = Vec::new();
        for (at, constant) in self.constants.iter_mut().enumerate() {
            if let Some(exact) = number(constant)
                && !self.inner_constants.contains(&ConstantId::from_index(at))
            {
                let exact =
                    Constant { exact: Extended::Finite(exact), literal: None, rounded: constant.rounded };
                before.push((at, std::mem::replace(constant, exact)));
            }
        }
        before
    }

    /// Undoes [`Store::read_constants`].
    pub(crate) fn restore_constants(&mut self, before: Vec<(usize, Constant)>) {
        for (at, constant) in before {
            self.constants[at] = constant;
        }
    }

    /// An empty store that encodes every operand as a list. Results must not differ from [`Store::new`]'s.
    pub fn without_patterns() -> Store {
        Store { only_lists: true, ..Store::default() }
    }

    /// Notes that numbers computed from constants may be what a library function of them is only nearly, since the
    /// function was not recognized.
    pub fn set_approximates(&mut self, nearness: Nearness) {
        self.approximates = Some(nearness);
    }

    /// How near numbers computed from constants are to functions that they may approximate, if they may.
    pub fn approximates(&self) -> Option<Nearness> {
        self.approximates
    }

    /// Notes which step of a side has computed what no earlier step did.
    pub fn set_step(&mut self, step: usize) {
        for (_, site) in self.sites.iter_mut().filter(|(_, site)| site.in_step().0.is_none()) {
            *site = site.of_step(step);
        }
    }

    /// Sets which inputs hold integers; all others hold reals.
    pub fn set_integers(&mut self, integers: Vec<Option<Integers>>) {
        self.integers = integers;
    }

    /// For each input, the range of its elements if they are integers.
    pub fn all_integers(&self) -> &[Option<Integers>] {
        &self.integers
    }

    /// The range of an input's elements; `None` for reals.
    pub fn integers(&self, input: InputId) -> Option<Integers> {
        self.integers.get(input.index()).copied().flatten()
    }

    /// Drops the index of computed operations: those appended from now on are new nodes.
    pub fn close(&mut self) {
        self.shared = Shared::default();
        self.left.close();
        self.inner_constants = self.constants_of_functions();
        self.explainer = self.explainer.take().filter(|explainer| explainer.keeps());
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing was computed.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Memory of the store in bytes.
    pub fn bytes(&self) -> u64 {
        let motions = self.motions.len() * size_of::<Motion>();
        let explainer = self.explainer.as_ref().map_or(0, |explainer| explainer.bytes() as usize);
        let words = self.lists.len() * 8 + motions + self.sites.len() * 8 + self.shared.bytes() + explainer;
        (self.nodes.len() * size_of::<Node>() + words + self.constants.len() * size_of::<Constant>()) as u64
            + self.left.bytes()
            + self.large_bytes
    }

    /// One scalar term.
    ///
    /// # Panics
    /// When `term` is of another store.
    pub fn view(&self, term: TermId) -> View<'_> {
        match term.kind() {
            TermKind::Input { input, element } => View::Input { input, element },
            TermKind::Constant(id) => View::Constant(&self.constants[id.index()]),
            TermKind::Lane(node, lane) => {
                let node = &self.nodes[node.index()];
                if node.modes == 0 {
                    let [a, b, c] = node.operands.map(|word| TermId::from_raw(affine_lane(word, lane)));
                    let operands = match node.op.arity() {
                        1 => [a; 3],
                        2 => [a, b, a],
                        _ => [a, b, c],
                    };
                    return View::Apply(node.op, operands);
                }
                let mut operands = [TermId::from_raw(0); 3];
                for (at, operand) in operands.iter_mut().enumerate().take(node.op.arity()) {
                    *operand = self.operand_in(node, at, lane);
                }
                for at in node.op.arity()..3 {
                    operands[at] = operands[0];
                }
                View::Apply(node.op, operands)
            }
        }
    }

    /// The active lanes of node number `at`, below [`Store::len`].
    ///
    /// # Panics
    /// When there is no such node.
    #[inline]
    pub fn mask(&self, at: usize) -> LaneMask {
        self.nodes[at].mask
    }

    /// Node number `at`, below [`Store::len`]. Operands are inputs, constants, or lanes of earlier nodes.
    ///
    /// # Panics
    /// When there is no such node.
    #[inline]
    pub fn node(&self, at: usize) -> NodeParts<'_> {
        let node = &self.nodes[at];
        let operands = std::array::from_fn(|at| self.lanes(node, at));
        NodeParts { op: node.op, mask: node.mask, operands }
    }

    /// Like [`Store::node`], for passes that do not need all of it.
    ///
    /// # Panics
    /// When there is no such node.
    #[inline]
    pub fn node_ref(&self, at: usize) -> NodeRef<'_> {
        NodeRef { store: self, node: &self.nodes[at] }
    }

    /// The terms of one operand of a node; an unused operand is affine.
    #[inline(always)] // As above.
    fn lanes(&self, node: &Node, at: usize) -> Lanes<'_> {
        let word = node.operands[at];
        let base = word & ((1 << TermId::BITS) - 1);
        match node.modes >> (2 * at) & 3 {
            AFFINE => Lanes::Affine { base, stride: (word as i64) >> TermId::BITS },
            STEPS => match &self.motions[(word >> TermId::BITS) as usize] {
                Motion { stride: Some(stride), .. } => Lanes::Affine { base, stride: *stride },
                motion => Lanes::Strides { base, motion },
            },
            _ => {
                let start = base as usize;
                match repetition(word) {
                    Some((shift, count)) => {
                        Lanes::Repeated { list: &self.lists[start..start + count], shift }
                    }
                    None => Lanes::List(&self.lists[start..start + node.mask.count() as usize]),
                }
            }
        }
    }

    /// All constants, in the order of their ids.
    pub fn constants(&self) -> &[Constant] {
        &self.constants
    }

    /// Whether an output may depend on a constant: not if it is an operand only of steps of functions that were
    /// recognized and replaced.
    pub fn may_matter(&self, constant: ConstantId) -> bool {
        !self.inner_constants.contains(&constant)
    }

    /// Number of constants; their ids count from zero.
    pub fn constant_count(&self) -> usize {
        self.constants.len()
    }

    /// Whether some node's operation is partial (rule V8).
    pub fn has_partial_operations(&self) -> bool {
        !self.ieee && !self.sites.is_empty()
    }

    /// Whether some constant is an infinity (V3).
    pub fn has_infinities(&self) -> bool {
        self.infinite
    }

    /// Whether some term may be undefined: by a partial operation (V8), or by infinities (V3).
    pub fn may_be_undefined(&self) -> bool {
        self.has_partial_operations() || self.infinite
    }

    /// The constant of an id.
    pub fn constant(&self, id: ConstantId) -> &Constant {
        &self.constants[id.index()]
    }

    /// The operation of a term, if it is one.
    pub fn op(&self, term: TermId) -> Option<TermOp> {
        match term.kind() {
            TermKind::Lane(node, _) => Some(self.nodes[node.index()].op),
            TermKind::Input { .. } | TermKind::Constant(_) => None,
        }
    }

    /// The instruction, as numbered by the machine, of a term whose operation is partial, or one of IEEE arithmetic.
    pub fn site(&self, term: TermId) -> Option<InstId> {
        let TermKind::Lane(node, _) = term.kind() else { return None };
        let at = self.sites.binary_search_by_key(&node, |(at, _)| *at).ok()?;
        Some(self.sites[at].1)
    }

    fn operand_in(&self, node: &Node, at: usize, lane: Lane) -> TermId {
        let word = node.operands[at];
        let raw = match node.modes >> (2 * at) & 3 {
            AFFINE => affine_lane(word, lane),
            STEPS => {
                let motion = &self.motions[(word >> TermId::BITS) as usize];
                motion.from(word & ((1 << TermId::BITS) - 1)).lane(lane.number())
            }
            _ => {
                let start = (word & ((1 << TermId::BITS) - 1)) as usize;
                let at = match repetition(word) {
                    Some((shift, count)) => lane.index() >> shift & (count - 1),
                    None => node.mask.rank(lane),
                };
                self.lists[start + at]
            }
        };
        TermId::from_raw(raw)
    }
}
