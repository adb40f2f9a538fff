//! Encloses the value of a term at a point.
//!
//! Terms are evaluated node by node in the order in which they were executed, so that chains of any length need no
//! stack, and what output elements share is computed once. Literals are the numbers that their bits encode, unless rule
//! V9 may read them otherwise (see [`Loose`]): values that are shown to differ here differ under every reading.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::loose::Loose;
use crate::base::lane::{Lane, LaneMask};
use crate::number::Rational;
use crate::number::interval::Enclosure;
use crate::number::value::Value;
use crate::term::{
    InputId, Lanes, Store, TermId, TermKind, View, each_term, enclose, is_of_input, whole_node,
};

/// An assignment of finite reals to input elements.
pub trait Point {
    /// The value of an element.
    fn at(&self, input: InputId, element: u64) -> Rational;

    /// The same value as `(mantissa, exponent)` of a number `mantissa · 2^exponent`, where the point has this form.
    fn dyadic_at(&self, input: InputId, element: u64) -> Option<(i64, i32)> {
        let _ = (input, element);
        None
    }
}

impl<F: Fn(InputId, u64) -> Rational> Point for F {
    fn at(&self, input: InputId, element: u64) -> Rational {
        self(input, element)
    }
}

/// Evaluation state of a node.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// Lanes with a value.
    known: LaneMask,
    /// Lanes marked for the next sweep.
    wanted: LaneMask,
    /// Index of the node's values: one for each known lane, or, with the top bit, one for each of 32 lanes.
    start: u32,
}

const ALL_LANES: u32 = 1 << 31;

/// A slot in memory: zero at first, so that untouched pages cost nothing.
type Words = [u32; 3];

impl Slot {
    fn from_words([known, wanted, start]: Words) -> Slot {
        Slot { known: LaneMask::from_bits(known), wanted: LaneMask::from_bits(wanted), start }
    }

    fn words(self) -> Words {
        [self.known.bits(), self.wanted.bits(), self.start]
    }

    fn position(self, lane: Lane) -> usize {
        let all = self.start & ALL_LANES != 0 || self.known.is_all();
        let offset = if all { lane.index() } else { self.known.rank(lane) };
        (self.start & !ALL_LANES) as usize + offset
    }
}

/// Where the values of an operand of a node are.
#[derive(Clone, Copy)]
enum Source<'l> {
    /// All lanes read one value, which is at hand.
    Scratch,
    /// Each lane reads that of its number.
    Row(Slot),
    /// Each lane reads a term.
    Each(Lanes<'l>),
}

/// A bit set of nodes of a store: marked nodes are mostly close together, and need no sorting.
#[derive(Default)]
struct Marks {
    words: Vec<u64>,
    /// Words outside this range are zero.
    range: Range<usize>,
}

impl Marks {
    fn new(nodes: usize) -> Marks {
        Marks { words: vec![0; nodes.div_ceil(64)], range: 0..0 }
    }

    fn insert(&mut self, node: usize) {
        let at = node / 64;
        self.words[at] |= 1 << (node % 64);
        if self.range.is_empty() {
            self.range = at..at + 1;
        }
        self.range = self.range.start.min(at)..self.range.end.max(at + 1);
    }

    /// Visits all nodes from the last to the first; nodes before the one that is visited may be inserted meanwhile.
    fn descend(&mut self, mut visit: impl FnMut(&mut Marks, usize) -> bool) -> bool {
        let mut at = self.range.end;
        while at > self.range.start {
            at -= 1;
            let mut below = u64::MAX;
            while let Some(bit) = (self.words[at] & below).checked_ilog2() {
                below = (1 << bit) - 1;
                if !visit(self, at * 64 + bit as usize) {
                    return false;
                }
            }
        }
        true
    }

    /// Removes all nodes, in order.
    fn drain(&mut self, mut visit: impl FnMut(usize)) {
        for at in std::mem::take(&mut self.range) {
            let mut word = std::mem::take(&mut self.words[at]);
            while word != 0 {
                visit(at * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}

/// Evaluates terms of one store at one point, and caches their values.
///
/// # Cost
///
/// Twelve bytes and a bit for each node of the store (untouched until used), and a value for each scalar term reached,
/// of which at most `limit` are cached; beyond, the cache is cleared.
pub struct Evaluator<'s, E, P> {
    store: &'s Store,
    loose: Loose,
    point: P,
    precision: u32,
    limit: usize,
    slots: Vec<Words>,
    values: Vec<Value<E>>,
    constants: Vec<Option<Value<E>>>,
    /// Nodes marked for the next sweep, and the number of their lanes.
    marked: Marks,
    fresh: usize,
    stack: Vec<TermId>,
    work: u64,
}

/// The nodes that one term needs are looked for by passing over all nodes where that many of these come to a term.
const NODES_A_TERM: usize = 1 << 10;

/// Scalar terms evaluated in one sweep before results are read: enough that elements share sweeps.
const SWEEP: usize = 1 << 20;

impl<'s, E: Enclosure, P: Point> Evaluator<'s, E, P> {
    /// An evaluator at `point`, with enclosures of `precision` bits where they have a precision. A term that
    /// depends on more than `limit` terms (at most 2³⁰) is [`Value::Unresolved`].
    pub fn new(store: &'s Store, point: P, precision: u32, limit: usize) -> Evaluator<'s, E, P> {
        Evaluator {
            store,
            loose: Loose::default(),
            point,
            precision,
            limit: limit.min(1 << 30),
            slots: vec![[0; 3]; store.len()],
            values: Vec::new(),
            constants: Vec::new(),
            marked: Marks::new(store.len()),
            fresh: 0,
            stack: Vec::new(),
            work: 0,
        }
    }

    /// Lets some literals have any value that they may be read as. Call it before evaluating.
    pub fn loosely(self, loose: Loose) -> Evaluator<'s, E, P> {
        Evaluator { loose, ..self }
    }

    /// Gives a term a value, whatever it is computed from. Call it before evaluating.
    pub fn assume(&mut self, term: TermId, value: Value<E>) {
        let TermKind::Lane(node, lane) = term.kind() else { return };
        debug_assert!(self.slot(node.index()).known.is_empty(), "nothing is known of its node");
        let slot =
            Slot { known: LaneMask::of(lane), wanted: LaneMask::NONE, start: self.values.len() as u32 };
        self.slots[node.index()] = slot.words();
        self.values.push(value);
    }

    /// Scalar terms evaluated so far.
    pub fn work(&self) -> u64 {
        self.work
    }

    /// The value of one term.
    pub fn evaluate(&mut self, term: TermId) -> Value<E> {
        self.evaluate_all(&[term]).pop().unwrap_or(Value::Unresolved)
    }

    /// The values of many terms; cheaper than one by one.
    pub fn evaluate_all(&mut self, terms: &[TermId]) -> Vec<Value<E>> {
        let mut results = Vec::with_capacity(terms.len());
        let mut rest = terms;
        if self.values.is_empty() || terms.len() >= self.store.len() / NODES_A_TERM {
            if self.mark_all(terms) {
                self.sweep();
                results.extend(terms.iter().map(|term| self.known(*term)));
                return results;
            }
            self.unmark();
        }
        while !rest.is_empty() {
            let mut taken = 0;
            while taken < rest.len() && self.fresh < SWEEP && self.mark(rest[taken]) {
                taken += 1;
            }
            if taken == rest.len() || self.fresh >= SWEEP && taken > 0 && self.fits() {
                self.sweep();
                results.extend(rest[..taken].iter().map(|term| self.known(*term)));
                rest = &rest[taken..];
                continue;
            }
            // The term at `taken` does not fit into the cache with the others: evaluate those before it, then it alone.
            self.unmark();
            for term in &rest[..=taken] {
                results.push(self.evaluate_alone(*term));
            }
            rest = &rest[taken + 1..];
        }
        results
    }

    fn evaluate_alone(&mut self, term: TermId) -> Value<E> {
        if !self.mark(term) {
            self.unmark();
            self.forget();
            if !self.mark(term) {
                self.unmark();
                return Value::Unresolved;
            }
        }
        self.sweep();
        self.known(term)
    }

    fn slot(&self, node: usize) -> Slot {
        Slot::from_words(self.slots[node])
    }

    fn fits(&self) -> bool {
        // Nodes that get more lanes may move to blocks of 32.
        self.values.len() + self.fresh <= self.limit
    }

    fn forget(&mut self) {
        self.slots = vec![[0; 3]; self.store.len()];
        self.values.clear();
    }

    fn unmark(&mut self) {
        let slots = &mut self.slots;
        self.marked.drain(|node| {
            slots[node] = Slot { wanted: LaneMask::NONE, ..Slot::from_words(slots[node]) }.words()
        });
        self.fresh = 0;
        self.stack.clear();
    }

    /// Marks the terms that `term` needs; `false` when they are too many.
    fn mark(&mut self, term: TermId) -> bool {
        self.stack.push(term);
        while let Some(term) = self.stack.pop() {
            let TermKind::Lane(node, lane) = term.kind() else { continue };
            let mut slot = self.slot(node.index());
            let bit = LaneMask::of(lane);
            if (slot.known | slot.wanted).meets(bit) {
                continue;
            }
            if slot.wanted.is_empty() {
                self.marked.insert(node.index());
                // A node that already has values moves to a block of its own.
                self.fresh += if slot.known.is_empty() { 0 } else { 31 };
            }
            slot.wanted |= bit;
            self.slots[node.index()] = slot.words();
            self.fresh += 1;
            if !self.fits() {
                return false;
            }
            if let View::Apply(op, operands) = self.store.view(term) {
                for operand in &operands[..op.arity()] {
                    match operand.kind() {
                        TermKind::Lane(..) => self.stack.push(*operand),
                        TermKind::Constant(id) => self.prepare(id.index()),
                        TermKind::Input { .. } => {}
                    }
                }
            }
        }
        true
    }

    /// Marks what all of some terms need, node by node; `false` when that is too much.
    fn mark_all(&mut self, terms: &[TermId]) -> bool {
        let mut marked = std::mem::take(&mut self.marked);
        for term in terms {
            if let TermKind::Lane(node, lane) = term.kind() {
                self.want(&mut marked, node.index(), LaneMask::of(lane));
            }
        }
        let is_complete = marked.descend(|marked, at| {
            let (wanted, node) = (self.slot(at).wanted, self.store.node_ref(at));
            for which in 0..node.op().arity() {
                let own = node.operand(which);
                match (whole_node(own), own) {
                    (Some(whole), _) => self.want(marked, whole, wanted),
                    (None, Lanes::Affine { base, stride: 0 }) => {
                        self.want_term(marked, TermId::from_raw(base))
                    }
                    (None, own) if is_of_input(own, wanted) => {}
                    (None, own) => {
                        each_term(own, wanted, node.mask(), |_, term| self.want_term(marked, term));
                    }
                }
            }
            self.fits()
        });
        self.marked = marked;
        is_complete
    }

    fn want_term(&mut self, marked: &mut Marks, term: TermId) {
        match term.kind() {
            TermKind::Lane(node, lane) => self.want(marked, node.index(), LaneMask::of(lane)),
            TermKind::Constant(id) => self.prepare(id.index()),
            TermKind::Input { .. } => {}
        }
    }

    /// Marks those of some lanes of a node that have no value.
    fn want(&mut self, marked: &mut Marks, node: usize, lanes: LaneMask) {
        let mut slot = self.slot(node);
        let new = lanes & !(slot.known | slot.wanted);
        if new.is_empty() {
            return;
        }
        if slot.wanted.is_empty() {
            marked.insert(node);
            // A node that already has values moves to a block of its own.
            self.fresh += if slot.known.is_empty() { 0 } else { 31 };
        }
        slot.wanted |= new;
        self.slots[node] = slot.words();
        self.fresh += new.count() as usize;
    }

    /// Evaluates the marked nodes: operands come before the nodes that use them.
    fn sweep(&mut self) {
        let mut marked = std::mem::take(&mut self.marked);
        self.values.reserve(self.fresh);
        marked.drain(|at| {
            let slot = self.slot(at);
            let start = self.values.len();
            let full = !slot.known.is_empty();
            let lanes = if full { LaneMask::ALL } else { slot.wanted };
            let node = self.store.node_ref(at);
            let (op, mask) = (node.op(), node.mask());
            let arity = op.arity();
            let mut scratch = [const { Value::Unresolved }; 3];
            let mut sources = [Source::Scratch; 3];
            for (which, source) in sources.iter_mut().enumerate().take(arity) {
                *source = self.source(node.operand(which), slot.wanted, &mut scratch[which]);
            }
            for lane in lanes {
                let value = if slot.wanted.contains(lane) {
                    let [first, second, third] = &mut scratch;
                    // Only actual operands are looked up.
                    let a = self.at(sources[0], (lane, mask), first);
                    match arity {
                        1 => enclose(op, [a, a, a]),
                        2 => enclose(op, [a, self.at(sources[1], (lane, mask), second), a]),
                        _ => {
                            let b = self.at(sources[1], (lane, mask), second);
                            enclose(op, [a, b, self.at(sources[2], (lane, mask), third)])
                        }
                    }
                } else if slot.known.contains(lane) {
                    self.values[slot.position(lane)].clone()
                } else {
                    Value::Unresolved
                };
                self.values.push(value);
            }
            let flag = if full { ALL_LANES } else { 0 };
            let slot =
                Slot { known: slot.known | slot.wanted, wanted: LaneMask::NONE, start: start as u32 | flag };
            self.slots[at] = slot.words();
        });
        self.work += self.fresh as u64;
        self.fresh = 0;
        self.marked = marked;
    }

    /// Where the values of an operand are in some lanes; what many of them read is put into `scratch`.
    fn source<'l>(&self, own: Lanes<'l>, lanes: LaneMask, scratch: &mut Value<E>) -> Source<'l> {
        match (own, whole_node(own)) {
            (Lanes::Affine { base, stride: 0 }, _) if lanes.count() > 1 => {
                let mut other = Value::Unresolved;
                let value = self.operand(TermId::from_raw(base), &mut other).clone();
                *scratch = value;
                Source::Scratch
            }
            (_, Some(node)) if lanes.is_within(self.slot(node).known) => Source::Row(self.slot(node)),
            (own, _) => Source::Each(own),
        }
    }

    /// The value of an operand in a lane of a node with the lanes of `mask`.
    fn at<'v>(
        &'v self,
        source: Source<'_>,
        (lane, mask): (Lane, LaneMask),
        scratch: &'v mut Value<E>,
    ) -> &'v Value<E> {
        match source {
            Source::Scratch => scratch,
            Source::Row(slot) => &self.values[slot.position(lane)],
            Source::Each(own) => self.operand(own.term(lane, mask), scratch),
        }
    }

    fn prepare(&mut self, constant: usize) {
        if self.constants.len() <= constant {
            self.constants.resize_with(constant + 1, || None);
        }
        if self.constants[constant].is_none() {
            let id = crate::term::ConstantId::from_index(constant);
            self.constants[constant] = Some(self.loose.value(self.store, id, self.precision));
        }
    }

    /// The value of an operand: a cached one, or one put into `scratch`.
    fn operand<'v>(&'v self, term: TermId, scratch: &'v mut Value<E>) -> &'v Value<E> {
        match term.kind() {
            TermKind::Lane(node, lane) => {
                let slot = self.slot(node.index());
                if slot.known.contains(lane) {
                    return &self.values[slot.position(lane)];
                }
                // Only for a term that is its own ancestor, which no execution builds.
                *scratch = Value::Unresolved;
            }
            TermKind::Input { input, element } => {
                let enclosure = match self.point.dyadic_at(input, element) {
                    Some((mantissa, exp)) => E::dyadic(mantissa, exp, self.precision),
                    None => E::exact(&self.point.at(input, element), self.precision),
                };
                *scratch = enclosure.into();
            }
            TermKind::Constant(id) => match self.constants.get(id.index()) {
                Some(Some(value)) => return value,
                Some(None) | None => *scratch = self.loose.value(self.store, id, self.precision),
            },
        }
        scratch
    }

    fn known(&self, term: TermId) -> Value<E> {
        let mut scratch = Value::Unresolved;
        self.operand(term, &mut scratch).clone()
    }
}

/// The leaves of terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Leaves {
    /// Input elements, in order.
    pub inputs: Vec<(InputId, u64)>,
    /// Numbers, in order.
    pub numbers: Vec<Rational>,
}

/// Visits all terms below some terms, each once, including those themselves. `false` when these are more than `limit`
/// operations, of which some were not visited.
pub(super) fn walk(store: &Store, roots: &[TermId], limit: usize, mut visit: impl FnMut(TermId)) -> bool {
    let mut seen = vec![0u32; store.len()];
    let mut leaves = FxHashSet::default();
    let mut count = 0;
    let mut stack = roots.to_vec();
    while let Some(term) = stack.pop() {
        let TermKind::Lane(node, lane) = term.kind() else {
            if leaves.insert(term) {
                visit(term);
            }
            continue;
        };
        let bit = LaneMask::of(lane).bits();
        if seen[node.index()] & bit != 0 {
            continue;
        }
        seen[node.index()] |= bit;
        count += 1;
        if count > limit {
            return false;
        }
        visit(term);
        if let View::Apply(op, operands) = store.view(term) {
            stack.extend(&operands[..op.arity()]);
        }
    }
    true
}

/// The leaves of two terms; `None` when one is computed from more than `limit` terms.
pub fn leaves(sides: [(&Store, TermId); 2], limit: usize) -> Option<Leaves> {
    let mut inputs = FxHashSet::default();
    let mut numbers = FxHashSet::default();
    for (store, term) in sides {
        let complete = walk(store, &[term], limit, |term| match term.kind() {
            TermKind::Constant(id) => numbers.extend(store.constant(id).exact.finite().cloned()),
            TermKind::Input { input, element } => {
                inputs.insert((input, element));
            }
            TermKind::Lane(..) => {}
        });
        if !complete {
            return None;
        }
    }
    let mut leaves = Leaves { inputs: inputs.into_iter().collect(), numbers: numbers.into_iter().collect() };
    leaves.inputs.sort_unstable();
    leaves.numbers.sort_unstable();
    Some(leaves)
}

#[cfg(test)]
pub(super) mod tests;
