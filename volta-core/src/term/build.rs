//! Appending nodes to the arena.

use super::id::{ConstantId, NodeId, TermId};
use crate::base::affine::Affine;
use crate::base::index::InstId;
use crate::base::lane::{Lane, LaneMask};
use smallvec::SmallVec;

use super::cse::Scalar;
use super::info::TermOp;
use super::node::{AFFINE, BitStrides, Constant, LIST, Motion, Node, REPEATED, STEPS, Store};

/// The operands of a warp instruction: for each, 32 term ids (raw); lanes outside the mask are not read.
pub type Operands<'a> = [&'a [u64; 32]];

/// The results of a warp instruction: lane `i`'s is `first + i · stride`, raw.
#[derive(Clone, Copy, Debug)]
pub struct Results {
    first: u64,
    stride: u64,
}

impl Results {
    /// The raw id of one lane's result.
    #[inline]
    pub fn lane(self, lane: Lane) -> u64 {
        self.first.wrapping_add(self.stride.wrapping_mul(u64::from(lane.number())))
    }

    /// The results of all lanes, raw.
    pub fn all(self) -> [u64; 32] {
        Lane::each(|lane| self.lane(lane))
    }
}

/// An operand of all 32 lanes whose pattern over the lanes is known.
#[derive(Clone, Copy, Debug)]
pub enum Pattern<'a> {
    /// Lane `i` has `list[(i >> shift) % list.len()]`, raw; the length is a power of two, at most `32 >> shift`.
    Repeated {
        /// The terms.
        list: &'a [u64],
        /// Runs of `2^shift` lanes have the same term.
        shift: u32,
    },
    /// Raw terms that are affine in the bits of the lane id.
    Strides(Affine),
    /// The results of another instruction.
    Results(Results),
}

impl Pattern<'_> {
    /// The terms of all lanes, raw.
    pub fn all(self) -> [u64; 32] {
        match self {
            Pattern::Repeated { list, shift } => {
                Lane::each(|lane| list[lane.index() >> shift & (list.len() - 1)])
            }
            Pattern::Strides(terms) => terms.all(),
            Pattern::Results(results) => results.all(),
        }
    }
}

/// An operand of all 32 lanes in the store's encoding, for use by any number of its instructions.
#[derive(Clone, Copy, Debug)]
pub struct TermOperand {
    mode: u8,
    word: u64,
}

/// A store has at most this many distinct strides; they are searched linearly.
const MOTIONS: usize = 64;

impl Store {
    /// Appends one operation for the lanes of `mask` and returns its node; lane `i`'s result is
    /// `TermId::lane(node, i)`. Ids come in raw form, their high bits already zero.
    ///
    /// # Panics
    /// When there are 2³² nodes or more, which the term budget excludes.
    pub fn push(&mut self, op: TermOp, mask: LaneMask, operands: &Operands<'_>, site: InstId) -> NodeId {
        let (modes, words) = self.encode_all(op, mask, operands);
        self.append(Node { op, modes, mask, operands: words }, site)
    }

    /// Appends one operation for the lanes of `mask`. If all lanes read the same operands, they share one scalar
    /// result, which is also that of every other instruction that applies `op` to the same terms, in any warp.
    pub fn push_shared(
        &mut self,
        op: TermOp,
        mask: LaneMask,
        operands: &Operands<'_>,
        site: InstId,
    ) -> Results {
        let (modes, words) = self.encode_all(op, mask, operands);
        self.append_shared(op, mask, (modes, words), site)
    }

    /// Like [`Store::push_shared`] for all lanes, for operands with known patterns.
    pub fn push_patterns(&mut self, op: TermOp, patterns: &[Pattern<'_>], site: InstId) -> Results {
        let mut operands = [TermOperand { mode: AFFINE, word: 0 }; 3];
        for (operand, pattern) in operands.iter_mut().zip(patterns) {
            *operand = self.intern_operand(*pattern);
        }
        self.push_operands(op, &operands[..patterns.len()], site)
    }

    /// Interns an operand that several instructions share.
    #[inline]
    pub fn intern_operand(&mut self, pattern: Pattern<'_>) -> TermOperand {
        let (mode, word) = self.encode_pattern(pattern);
        TermOperand { mode, word }
    }

    /// Like [`Store::push_shared`] for all lanes, for operands that the store has interned.
    #[inline]
    pub fn push_operands(&mut self, op: TermOp, operands: &[TermOperand], site: InstId) -> Results {
        debug_assert_eq!(operands.len(), op.arity());
        let mut words = [0; 3];
        let mut modes = 0;
        for (at, operand) in operands.iter().enumerate() {
            modes |= operand.mode << (2 * at);
            words[at] = operand.word;
        }
        self.append_shared(op, LaneMask::ALL, (modes, words), site)
    }

    /// Like [`Store::push_operands`] for the first of at most 32 warps and then for each of the others: each
    /// operand comes with the strides of its terms in the bits of the warp's number. The nodes are consecutive.
    ///
    /// `None`, and the store is unchanged, if all lanes of a warp read the same operands, an operand is a list, or
    /// functions are being recognized.
    pub fn push_warps(
        &mut self,
        op: TermOp,
        operands: &[(TermOperand, BitStrides)],
        warps: usize,
        site: InstId,
    ) -> Option<Results> {
        debug_assert_eq!(operands.len(), op.arity());
        let moves = |operand: &TermOperand| operand.mode == STEPS || operand.word >> TermId::BITS != 0;
        if self.only_lists
            || self.explainer.is_some()
            || operands.iter().any(|(operand, _)| operand.mode == LIST)
            || !operands.iter().any(|(operand, _)| moves(operand))
        {
            return None;
        }
        debug_assert!(warps.is_power_of_two());
        let mut node = Node { op, modes: 0, mask: LaneMask::ALL, operands: [0; 3] };
        for (at, (operand, _)) in operands.iter().enumerate() {
            node.modes |= operand.mode << (2 * at);
            node.operands[at] = operand.word;
        }
        let first = self.append(node, site);
        // Each bit of the warp's number doubles the nodes. The bits above a term's id are the same in all words.
        for bit in 0..warps.trailing_zeros() as usize {
            let known = self.nodes.len();
            self.nodes.extend_from_within(first.index()..);
            let steps: [i64; 3] =
                std::array::from_fn(|at| operands.get(at).map_or(0, |(_, steps)| steps[bit]));
            for node in &mut self.nodes[known..] {
                for (word, step) in node.operands.iter_mut().zip(steps) {
                    *word = word.wrapping_add_signed(step);
                }
            }
        }
        if op.is_partial() || self.ieee && matches!(op, TermOp::Ieee1 | TermOp::Ieee2) {
            self.sites.extend((first.index() + 1..self.nodes.len()).map(|at| (NodeId::from_index(at), site)));
        }
        Some(Results { first: TermId::lane(first, Lane::FIRST).raw(), stride: 1 })
    }

    fn append_shared(
        &mut self,
        op: TermOp,
        mask: LaneMask,
        (modes, words): (u8, [u64; 3]),
        site: InstId,
    ) -> Results {
        let same = |at: usize| modes >> (2 * at) & 3 == AFFINE && words[at] >> TermId::BITS == 0;
        if !(0..op.arity()).all(same) {
            let node = self.append(Node { op, modes, mask, operands: words }, site);
            let node = self.meant(node, site);
            return Results { first: TermId::lane(node, Lane::FIRST).raw(), stride: 1 };
        }
        let [a, b, c] = words;
        Results { first: self.share(Scalar { op, a, b, c }, site), stride: 0 }
    }

    /// Like [`Store::push_shared`] where all lanes are known to read the same operands, given by raw ids.
    pub fn push_uniform(&mut self, op: TermOp, operands: &[u64], site: InstId) -> u64 {
        debug_assert_eq!(operands.len(), op.arity());
        let word = |at: usize| operands.get(at).copied().unwrap_or(0);
        self.share(Scalar { op, a: word(0), b: word(1), c: word(2) }, site)
    }

    /// The scalar result of an operation on terms, computed once. The encoding of a uniform operand is its raw id.
    #[inline]
    fn share(&mut self, scalar: Scalar, site: InstId) -> u64 {
        let new = NodeId::from_index(self.nodes.len());
        if !self.only_lists
            && let Some(known) = self.shared.find_or_note(&self.nodes, scalar, new)
            && self.rounds_alike(known, site)
        {
            return TermId::lane(self.meant(known, site), Lane::FIRST).raw();
        }
        self.append_scalar(scalar, site).raw()
    }

    /// Appends an operation whose operands, as those of all lanes, are given by raw ids.
    #[inline]
    fn append_scalar(&mut self, Scalar { op, a, b, c }: Scalar, site: InstId) -> TermId {
        let node = Node { op, modes: 0, mask: LaneMask::of(Lane::FIRST), operands: [a, b, c] };
        let node = self.append(node, site);
        TermId::lane(self.meant(node, site), Lane::FIRST)
    }

    fn encode_all(&mut self, op: TermOp, mask: LaneMask, operands: &Operands<'_>) -> (u8, [u64; 3]) {
        debug_assert_eq!(operands.len(), op.arity());
        debug_assert!(!mask.is_empty());
        let mut words = [0; 3];
        let mut modes = 0;
        for (at, lanes) in operands.iter().enumerate() {
            let (mode, word) = self.encode(mask, lanes);
            modes |= mode << (2 * at);
            words[at] = word;
        }
        (modes, words)
    }

    #[inline]
    fn append(&mut self, node: Node, site: InstId) -> NodeId {
        let id = NodeId::from_index(self.nodes.len());
        self.nodes.push(node);
        if node.op.is_partial() || self.ieee && matches!(node.op, TermOp::Ieee1 | TermOp::Ieee2) {
            self.sites.push((id, site));
        }
        if self.explainer.is_some() {
            self.note_function(id, site);
        }
        id
    }

    /// The node that represents a node: that of the function which it computes, if one is recognized.
    #[inline]
    fn meant(&mut self, node: NodeId, site: InstId) -> NodeId {
        if self.explainer.is_none() {
            return node;
        }
        self.function_of(node, site).unwrap_or(node)
    }

    /// Appends one scalar operation.
    pub fn apply(&mut self, op: TermOp, operands: &[TermId], site: InstId) -> TermId {
        debug_assert_eq!(operands.len(), op.arity());
        if !self.only_lists {
            let word = |at: usize| operands.get(at).map_or(0, |term| term.raw());
            return self.append_scalar(Scalar { op, a: word(0), b: word(1), c: word(2) }, site);
        }
        let lanes: Vec<[u64; 32]> = operands.iter().map(|term| [term.raw(); 32]).collect();
        let refs: Vec<&[u64; 32]> = lanes.iter().collect();
        let node = self.push(op, LaneMask::of(Lane::FIRST), &refs, site);
        TermId::lane(self.meant(node, site), Lane::FIRST)
    }

    /// Interns a constant.
    pub fn intern(&mut self, constant: Constant) -> TermId {
        if let Some(id) = self.constant_ids.get(&constant) {
            return TermId::constant(*id);
        }
        let id = ConstantId::from_index(self.constants.len());
        if let Some(bits) = constant.exact.finite().map(|value| value.bit_length()).filter(|bits| *bits > 128)
        {
            self.large_bytes += bits / 4;
        }
        self.infinite |= constant.exact.finite().is_none();
        self.constants.push(constant.clone());
        self.constant_ids.insert(constant, id);
        TermId::constant(id)
    }

    #[inline]
    fn encode_affine(&mut self, base: u64, stride: i64) -> Option<(u8, u64)> {
        if i64::from(stride as i8) == stride {
            return Some((AFFINE, base | (stride as u64) << TermId::BITS));
        }
        self.encode_steps(Affine::strided(base, stride))
    }

    /// Encodes an affine operand; `None` if the store has no room for new strides.
    fn encode_steps(&mut self, Affine { first: base, steps }: Affine) -> Option<(u8, u64)> {
        // Written so that the comparison needs no call.
        let same = |known: &BitStrides| known.iter().zip(&steps).fold(0, |odd, (a, b)| odd | (a ^ b)) == 0;
        let number = match self.motions.iter().position(|known| same(&known.steps)) {
            Some(number) => number,
            None if self.motions.len() == MOTIONS => return None,
            None => {
                self.motions.push(Motion::new(steps));
                self.motions.len() - 1
            }
        };
        Some((STEPS, base | (number as u64) << TermId::BITS))
    }

    /// Like [`Store::encode`], for a known pattern.
    #[inline]
    fn encode_pattern(&mut self, pattern: Pattern<'_>) -> (u8, u64) {
        let even = match pattern {
            _ if self.only_lists => None,
            Pattern::Results(Results { first, stride }) => self.encode_affine(first, stride as i64),
            Pattern::Strides(terms) if terms == Affine::strided(terms.first, terms.steps[0]) => {
                self.encode_affine(terms.first, terms.steps[0])
            }
            Pattern::Strides(terms) => self.encode_steps(terms),
            Pattern::Repeated { list, shift } if list.len() << shift < 32 || shift > 0 => {
                return self.encode_repeated(list, shift);
            }
            // A list of 32 distinct positions may still be affine.
            Pattern::Repeated { .. } => return self.encode(LaneMask::ALL, &pattern.all()),
        };
        even.unwrap_or_else(|| self.encode_list(LaneMask::ALL, &pattern.all()))
    }

    /// Like [`Store::encode`], for terms that repeat over the lanes.
    fn encode_repeated(&mut self, mut list: &[u64], shift: u32) -> (u8, u64) {
        // Repeated terms have a common stride only if all are equal.
        if list.iter().all(|raw| *raw == list[0]) {
            return (AFFINE, list[0]);
        }
        if let Some(steps) = steps_in(list, shift)
            && let Some(word) = self.encode_steps(Affine { first: list[0], steps })
        {
            return word;
        }
        if list.chunks(2).all(|pair| pair[0] == pair[1]) {
            let halved: SmallVec<[u64; 16]> = list.iter().step_by(2).copied().collect();
            return self.encode_repeated(&halved, shift + 1);
        }
        while list[..list.len() / 2] == list[list.len() / 2..] {
            list = &list[..list.len() / 2];
        }
        let at = self.lists.len() as u64;
        self.lists.extend_from_slice(list);
        let pattern = u64::from(shift) | u64::from(list.len().trailing_zeros()) << 3;
        (LIST, at | REPEATED | pattern << TermId::BITS)
    }

    /// The shortest encoding of one operand.
    fn encode(&mut self, mask: LaneMask, lanes: &[u64; 32]) -> (u8, u64) {
        if self.only_lists {
            return self.encode_list(mask, lanes);
        }
        let even = affine(mask, lanes).and_then(|(base, stride)| self.encode_affine(base, stride));
        let stepped = || steps_in(lanes, 0).filter(|_| mask.is_all());
        even.or_else(|| stepped().and_then(|steps| self.encode_steps(Affine { first: lanes[0], steps })))
            .unwrap_or_else(|| self.encode_list(mask, lanes))
    }

    /// Encodes an operand as a list.
    fn encode_list(&mut self, mask: LaneMask, lanes: &[u64; 32]) -> (u8, u64) {
        let at = self.lists.len() as u64;
        if mask.is_all() && !self.only_lists {
            let (shift, count) = repetition(lanes);
            if count << shift < 32 || shift > 0 {
                self.lists.extend((0..count).map(|entry| lanes[entry << shift]));
                let pattern = u64::from(shift) | u64::from(count.trailing_zeros()) << 3;
                return (LIST, at | REPEATED | pattern << TermId::BITS);
            }
        }
        self.lists.extend(mask.iter().map(|lane| lanes[lane]));
        (LIST, at)
    }
}

/// The strides of terms that repeat over the lanes, `2^shift` lanes each; the length of the list is a power of two.
#[inline]
fn steps_in(list: &[u64], shift: u32) -> Option<BitStrides> {
    let mut steps = [0; 5];
    for bit in 0..list.len().trailing_zeros() {
        steps[(shift + bit) as usize] = list[1 << bit].wrapping_sub(list[0]) as i64;
    }
    // Each term differs from the one without its lowest index bit by the stride of that bit.
    let follows = |at: usize| {
        let apart = list[at].wrapping_sub(list[at & (at - 1)]) as i64;
        apart == steps[shift as usize + at.trailing_zeros() as usize]
    };
    (1..list.len()).all(follows).then_some(steps)
}

/// `(shift, count)` with `lanes[i] = lanes[(i >> shift) % count << shift]`: the largest such `shift`, then the
/// smallest `count`.
fn repetition(lanes: &[u64; 32]) -> (u32, usize) {
    let in_runs = |shift: u32| (0..32).all(|lane| lanes[lane] == lanes[lane >> shift << shift]);
    let shift = (1..5).take_while(|shift| in_runs(*shift)).last().unwrap_or(0);
    let again = |count: usize| (0..32).all(|lane| lanes[lane] == lanes[lane & ((count << shift) - 1)]);
    let count = (0..5).map(|log| 1 << log).find(|count| count << shift >= 32 || again(*count));
    (shift, count.unwrap_or(32 >> shift))
}

/// `(base, stride)` with `lanes[i] = base + i·stride` for all lanes of `mask`, if `base` is a valid id.
fn affine(mask: LaneMask, lanes: &[u64; 32]) -> Option<(u64, i64)> {
    if mask.is_all() {
        let base = lanes[0];
        let stride = lanes[1].wrapping_sub(base);
        // One pass without an early exit, so that the compiler vectorises it.
        let mut difference = 0;
        let mut expected = base;
        for lane in lanes {
            difference |= lane ^ expected;
            expected = expected.wrapping_add(stride);
        }
        return (difference == 0).then_some((base, stride as i64));
    }
    let first = mask.first();
    let Some(second) = mask.iter().nth(1) else { return Some((lanes[first], 0)) };
    let step = lanes[second].wrapping_sub(lanes[first]) as i64;
    let gap = i64::from(second.number() - first.number());
    if step % gap != 0 {
        return None;
    }
    let stride = step / gap;
    let base = lanes[first].wrapping_add_signed(-(stride * i64::from(first.number())));
    let fits = |lane: Lane| lanes[lane] == base.wrapping_add_signed(stride * i64::from(lane.number()));
    let all = mask.iter().all(fits);
    (all && base >> TermId::BITS == 0).then_some((base, stride))
}

#[cfg(test)]
mod tests {
    use super::super::{InputId, Lanes, View};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Pushing several warps together gives the same nodes as pushing one after the other.
        #[test]
        fn warps_together_are_warps_in_turn(
            bases in prop::array::uniform3(1u64 << 20..1 << 30),
            lanes in prop::array::uniform3(prop::array::uniform5(prop::sample::select(vec![0i64, 0, 1, -4, 300]))),
            steps in prop::array::uniform3(prop::array::uniform5(prop::sample::select(vec![0i64, 32, -64, 4096]))),
            bits in 0u32..6,
        ) {
            let (mut together, mut apart) = (Store::new(), Store::new());
            let pattern = |at: usize, warp: u32| {
                Pattern::Strides(Affine { first: Affine { first: bases[at], steps: steps[at] }.lane(warp), steps: lanes[at] })
            };
            let operands: Vec<(TermOperand, BitStrides)> =
                (0..3).map(|at| (together.intern_operand(pattern(at, 0)), steps[at])).collect();
            let results = together.push_warps(TermOp::Fma, &operands, 1 << bits, InstId(7));
            prop_assert_eq!(results.is_some(), lanes.iter().flatten().any(|step| *step != 0));
            let Some(results) = results else { return Ok(()) };
            for warp in 0..1u32 << bits {
                let patterns: Vec<Pattern<'_>> = (0..3).map(|at| pattern(at, warp)).collect();
                let own = apart.push_patterns(TermOp::Fma, &patterns, InstId(7));
                prop_assert_eq!(own.lane(Lane::at(5)), results.first + results.stride * u64::from(5 + 32 * warp));
            }
            for node in 0..together.len() {
                for lane in Lane::all() {
                    let term = TermId::lane(NodeId::from_index(node), lane);
                    let [ours, theirs] = [&together, &apart].map(|store| format!("{:?}", store.view(term)));
                    prop_assert_eq!(ours, theirs);
                }
            }
        }
    }

    fn check(mask: LaneMask, lanes: [u64; 32]) {
        for mut store in [Store::new(), Store::without_patterns()] {
            let node = store.push(TermOp::Neg, mask, &[&lanes], InstId(0));
            for lane in mask {
                let View::Apply(TermOp::Neg, operands) = store.view(TermId::lane(node, lane)) else {
                    panic!("a node")
                };
                assert_eq!(operands[0].raw(), lanes[lane], "lane {lane} of mask {mask:#x}");
            }
        }
    }

    #[test]
    fn every_lane_reads_back_what_was_pushed() {
        let at = |element: u64| TermId::input(InputId(1), element).raw();
        let masks = [u32::MAX, 1, 1 << 31, 0x8000_0001, 0xffff_0000, 0x5555_5555, 0x0f0f_00f0];
        for mask in masks.map(LaneMask::from_bits) {
            check(mask, Lane::each(|lane| at(100 + u64::from(lane.number()))));
            check(mask, Lane::each(|lane| at(5000 - 7 * u64::from(lane.number()))));
            check(mask, Lane::each(|lane| at(4096 * u64::from(lane.number()))));
            check(mask, Lane::each(|lane| at(u64::from(lane.number()) * u64::from(lane.number()))));
            check(mask, [at(3); 32]);
            check(mask, Lane::each(|lane| at((u64::from(lane.number()) + 13) % 32)));
            // Rows and columns of fragments.
            for (shift, count) in [(2, 8), (0, 4), (4, 2), (0, 16), (1, 4), (3, 4), (0, 2)] {
                check(mask, Lane::each(|lane| at(((u64::from(lane.number()) >> shift) % count) * 7 % 11)));
            }
        }
    }

    /// Patterns are encoded as their lanes are.
    #[test]
    fn patterns_are_encoded_as_lanes_are() {
        let at = |element: u64| TermId::input(InputId(1), element).raw();
        for (shift, count, distinct) in [
            (2, 8, 8),
            (0, 4, 4),
            (4, 2, 2),
            (4, 2, 1),
            (2, 8, 4),
            (0, 16, 4),
            (0, 32, 32),
            (1, 16, 16),
            (3, 1, 1),
        ] {
            for spread in [1, 2, 3] {
                // Terms that repeat one by one, in runs, or do not repeat.
                let list: Vec<u64> = (0..count)
                    .map(|entry| match spread {
                        1 => at(entry % distinct * 7),
                        2 => at(entry * distinct / count * 7),
                        _ => at(entry),
                    })
                    .collect();
                let pattern = Pattern::Repeated { list: &list, shift };
                for mut store in [Store::new(), Store::without_patterns()] {
                    let lanes = pattern.all();
                    let (known, found) = (store.encode_pattern(pattern), store.lists.len());
                    let (other, again) = (store.encode(LaneMask::ALL, &lanes), store.lists.len());
                    assert_eq!(again - found, found, "{shift} {count} {distinct} {spread}");
                    assert_eq!(known.0, other.0, "{shift} {count} {distinct} {spread}");
                    let offset = if known.0 == LIST { found as u64 } else { 0 };
                    assert_eq!(known.1 + offset, other.1, "{shift} {count} {distinct} {spread}");
                    assert_eq!(store.lists[..found], store.lists[found..]);
                }
            }
        }
    }

    /// Terms that are affine in the bits of the lane id need no memory beside their node, while there are few
    /// distinct strides.
    #[test]
    fn terms_that_move_in_steps_cost_one_node() {
        let lanes_of = |steps: BitStrides| -> [u64; 32] {
            let base = TermId::input(InputId(2), 1 << 30).raw();
            Affine { first: base, steps }.all()
        };
        let mut store = Store::new();
        let several =
            [[0, 0, 4096, 8192, 16384], [2, 4, 0, 0, 0], [1, 2, 4096, 8192, -7], [0, 0, 0, 0, 1 << 20]];
        for steps in several {
            let before = store.nodes.len();
            store.push(TermOp::Neg, LaneMask::ALL, &[&lanes_of(steps)], InstId(0));
            assert_eq!((store.nodes.len(), store.lists.len()), (before + 1, 0));
            let node = store.node(before);
            assert!(
                matches!(node.operands[0], Lanes::Strides { motion, .. } if motion.steps == steps),
                "{steps:?}"
            );
        }
        for stride in 0..600 {
            check(LaneMask::ALL, lanes_of([0, stride, 0, 5, 1]));
            let lanes = lanes_of([0, stride, 0, 5, 1]);
            let node = store.push(TermOp::Neg, LaneMask::ALL, &[&lanes], InstId(0));
            for lane in Lane::all() {
                let View::Apply(_, [own, ..]) = store.view(TermId::lane(node, lane)) else {
                    panic!("a node")
                };
                assert_eq!(own.raw(), lanes[lane], "however many ways there are");
            }
        }
        assert_eq!(store.motions.len(), MOTIONS);
    }

    #[test]
    fn rows_of_fragments_cost_as_many_terms_as_they_have() {
        let mut store = Store::new();
        let at = |element: u64| TermId::input(InputId(0), element * element).raw();
        let rows: [u64; 32] = Lane::each(|lane| at(u64::from(lane.number()) / 4));
        let columns: [u64; 32] = Lane::each(|lane| at(u64::from(lane.number()) % 4));
        store.push(TermOp::Mul, LaneMask::ALL, &[&rows, &columns], InstId(0));
        assert_eq!(store.bytes(), 32 + 8 * (8 + 4));
    }

    #[test]
    fn neighbouring_elements_cost_one_node() {
        let mut store = Store::new();
        let row: [u64; 32] = Lane::each(|lane| TermId::input(InputId(0), u64::from(lane.number())).raw());
        store.push(TermOp::Fma, LaneMask::ALL, &[&row, &row, &row], InstId(0));
        assert_eq!(store.bytes(), 32);
    }
}
