//! Functions of a mathematical library, recognised as the graphs of operations that a compiler makes of them (rule V5).
//!
//! A template is the graph of one function, as it was computed from its operands, and a meaning: the real function
//! that it approximates. A node whose graph is that of a template, up to the order of operands that commute, is
//! replaced by the meaning. Until then, a term that is computed from the encoding of a real is *unexplained*: over
//! the reals it has no meaning.
//!
//! Graphs are looked up by digest. A digest covers terms computed from encodings, or from a coefficient that marks
//! a template; the rest, and every candidate, is compared node by node.

mod graph;
mod near;
mod whole;

use crate::base::index::InstId;
use crate::base::lane::{Lane, LaneMask};
use crate::number::format::{Decoded, decode};
use crate::number::interval::Function;
use crate::number::{Extended, Rational};
use crate::term::id::{ConstantId, NodeId, TermId, TermKind};
use crate::term::info::{Kind, Piecewise, Predicate, TermOp};
use crate::term::node::{Constant, Store, View};
use crate::term::range::Ranges;
use graph::Match;
pub use near::Nearest;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The largest number of operands of a template.
pub const MAX_OPERANDS: usize = 4;

/// The digest of a term that digests do not cover.
const ANYTHING: u64 = 0;

/// An instruction's rounding mode and format: it distinguishes operations that are the same over the reals.
pub type Rounds = u8;

/// A node of a template or of a meaning.
#[derive(Clone, Debug)]
pub enum Piece {
    /// An operand of the function.
    Operand(usize),
    /// A number.
    Number(Constant),
    /// An operation on earlier pieces.
    Apply {
        /// The operation.
        op: TermOp,
        /// Its operands, as positions; those beyond its arity are unused.
        operands: [u32; 3],
        /// Its rounding.
        rounds: Rounds,
        /// The digest that a matching term has.
        digest: u64,
    },
}

/// The graph of a function, as compiled, and its meaning.
#[derive(Debug)]
pub struct Template {
    /// Operands before operations; the last piece is the result.
    graph: Vec<Piece>,
    /// The function that it approximates, as a graph.
    meaning: Vec<Piece>,
    /// Its name in CUDA.
    name: String,
    /// The assumption of a verdict that uses it.
    claim: String,
    /// Integer bounds of the graph's result, if known.
    between: (Option<i128>, Option<i128>),
}

/// The templates of a run.
#[derive(Debug, Default)]
pub struct Templates {
    list: Vec<Arc<Template>>,
    by_digest: FxHashMap<u64, Vec<usize>>,
    /// Templates whose result is a choice between a number and another term, by the digest of that term.
    by_arm: FxHashMap<u64, Vec<usize>>,
    /// Templates whose result is a product, by the digest of its factors.
    by_factors: FxHashMap<u64, Vec<usize>>,
    /// Templates whose result is a choice between a number and a product, by the digest of its factors.
    by_arm_factors: FxHashMap<u64, Vec<usize>>,
    marks: Arc<FxHashSet<Extended>>,
    /// Whether the state is kept when a store is closed.
    keep: bool,
    /// Whether an integer that is not an encoding may be decoded as a real, which is then unexplained.
    spell: bool,
}

impl Templates {
    /// These templates, and all numbers that mark one of them.
    pub fn new(list: Vec<Arc<Template>>, marks: Arc<FxHashSet<Extended>>) -> Templates {
        let mut by_digest: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        let mut by_arm = by_digest.clone();
        let (mut by_factors, mut by_arm_factors) = (by_digest.clone(), by_digest.clone());
        for (at, template) in list.iter().enumerate() {
            by_digest.entry(template.digest()).or_default().push(at);
            if let Some(arm) = template.arm() {
                by_arm.entry(arm.digest).or_default().push(at);
            }
            let digest =
                |factors: [u32; 2]| digest_of_factors(factors.map(|factor| template.digest_at(factor)));
            if let Some(factors) = template.factors(template.graph.len() as u32 - 1) {
                by_factors.entry(digest(factors)).or_default().push(at);
            }
            if let Some(factors) = template.arm().and_then(|arm| template.factors(arm.other)) {
                by_arm_factors.entry(digest(factors)).or_default().push(at);
            }
        }
        Templates { list, by_digest, by_arm, by_factors, by_arm_factors, marks, keep: false, spell: false }
    }

    /// Whether functions may contain loops: if a template has one, or templates are being made.
    pub fn hold_loops(&self) -> bool {
        self.keep || self.list.iter().any(|template| template.holds_loops())
    }

    /// These templates and more.
    pub fn and(self, more: Vec<Arc<Template>>) -> Templates {
        Templates::new(self.list.into_iter().chain(more).collect(), self.marks)
    }

    /// For stores in which integers that are not encodings may be decoded: where a logarithm is known, a power is
    /// assembled from a computed exponent.
    pub fn spelling(self) -> Templates {
        Templates { spell: true, ..self }
    }

    /// For stores from which templates will be made.
    pub fn keeping(self) -> Templates {
        Templates { keep: true, ..self }
    }
}

/// The digest and state of a covered node.
#[derive(Clone, Copy, Debug)]
struct Covered {
    digest: u64,
    /// Whether it is computed from the encoding of a real, and not through a recognized function.
    unexplained: bool,
    /// Its instruction.
    site: InstId,
}

/// The state of function recognition in a store.
#[derive(Debug)]
pub(in crate::term) struct Explainer {
    templates: Arc<Templates>,
    /// The rounding of each instruction.
    instructions: Arc<[Rounds]>,
    /// The rounding of each node.
    rounds: Vec<Rounds>,
    covered: FxHashMap<NodeId, Covered>,
    /// The replacement of each node that was examined, or `None`.
    explained: FxHashMap<NodeId, Option<NodeId>>,
    marks: FxHashMap<ConstantId, bool>,
    found: BTreeSet<usize>,
    /// Replacements of whole graphs.
    put: FxHashSet<NodeId>,
    /// All nodes of replacements.
    meant: FxHashSet<NodeId>,
    /// Constants that are operands: of unexplained operations only, or of others as well.
    used: FxHashMap<ConstantId, Use>,
    /// Integer bounds of replacements.
    between: FxHashMap<NodeId, (Option<i128>, Option<i128>)>,
}

/// The uses of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    /// In an operation that is not a step of a function.
    Plain,
    /// Only in operations on encodings, on which outputs depend only through the functions that replace them.
    Unexplained,
}

/// A choice between a number, or a NaN, and something else.
struct Arm<'t> {
    condition: u32,
    /// `None` for a NaN.
    number: Option<&'t Extended>,
    /// The position of the number among the choice's operands.
    which: usize,
    other: u32,
    digest: u64,
}

/// The operands of an operation that are the function, as bits; the others are numbers.
type Which = u8;

/// An operation on a function and numbers, which compilers move into the arms of a choice.
struct Outer {
    op: TermOp,
    which: Which,
    operands: [[u64; 32]; 3],
}

/// A match of a template.
struct Found {
    template: usize,
    operands: [[u64; 32]; MAX_OPERANDS],
    /// Whether an operand is the negation of these terms.
    negated: [bool; MAX_OPERANDS],
    /// The outer operations applied to it, the last operation first.
    outer: Vec<Outer>,
}

/// The place of a template's graph in a term.
#[derive(Clone, Copy)]
enum Place {
    /// The whole term.
    Whole,
    /// This many operations were moved into the arms of its last choice.
    Arm(usize),
    /// Likewise, and the first of them is a sum fused with the last product.
    FusedArm(usize),
    /// Its last product was fused with a sum.
    Fused,
}

/// At most this many operations are recognized in the arms of choices.
const MAX_OUTER: usize = 4;

impl Template {
    /// The graph of a term of a store that [keeps](Templates::keeping) its state. `None` if the graph has no digest
    /// to find it by.
    pub fn of(
        store: &Store,
        root: TermId,
        meaning: Vec<Piece>,
        name: &str,
        claim: String,
    ) -> Option<Template> {
        let explainer = store.explainer.as_deref()?;
        let (mut graph, mut places) = (Vec::new(), FxHashMap::default());
        let mut work = vec![root];
        while let Some(&next) = work.last() {
            if places.contains_key(&next) {
                work.pop();
                continue;
            }
            let piece = match store.view(next) {
                View::Input { input, .. } => Piece::Operand(input.index()),
                View::Constant(constant) => Piece::Number(constant.clone()),
                View::Apply(..) => {
                    let (op, operands) = normal(store, next)?;
                    let operands = &operands[..op.arity()];
                    let before = work.len();
                    work.extend(operands.iter().filter(|operand| !places.contains_key(*operand)));
                    if work.len() > before {
                        continue;
                    }
                    let mut at = [0; 3];
                    for (at, operand) in at.iter_mut().zip(operands) {
                        *at = places[operand];
                    }
                    let rounds = explainer.rounds_of(next);
                    Piece::Apply { op, operands: at, rounds, digest: explainer.digest(store, next) }
                }
            };
            places.insert(next, graph.len() as u32);
            graph.push(piece);
            work.pop();
        }
        let range = Ranges::default().of(store, root);
        let between = (range.low, range.high);
        let template = Template { graph, meaning, name: name.to_string(), claim, between };
        (template.digest() != ANYTHING).then_some(template)
    }

    /// The digest that a matching term has.
    fn digest(&self) -> u64 {
        self.graph.len().checked_sub(1).map_or(ANYTHING, |last| self.digest_at(last as u32))
    }

    fn digest_at(&self, at: u32) -> u64 {
        match &self.graph[at as usize] {
            Piece::Apply { digest, .. } => *digest,
            Piece::Number(number) => hash(magnitude(&number.exact)),
            Piece::Operand(_) => ANYTHING,
        }
    }

    /// The factors of a piece, if it is a product.
    fn factors(&self, at: u32) -> Option<[u32; 2]> {
        match self.graph.get(at as usize)? {
            Piece::Apply { op: TermOp::Mul, operands: [a, b, _], .. } => Some([*a, *b]),
            Piece::Apply { .. } | Piece::Operand(_) | Piece::Number(_) => None,
        }
    }

    /// The result as a choice between a number and something else.
    fn arm(&self) -> Option<Arm<'_>> {
        let Some(Piece::Apply { op: TermOp::Select, operands: [condition, then, otherwise], .. }) =
            self.graph.last()
        else {
            return None;
        };
        [(1, *then, *otherwise), (2, *otherwise, *then)].into_iter().find_map(|(which, number, other)| {
            let number = self.number_or_nan(number)?;
            let Piece::Apply { digest, .. } = &self.graph[other as usize] else { return None };
            Some(Arm { condition: *condition, number, which, other, digest: *digest })
        })
    }

    /// The number of a piece that is one; `Some(None)` for a NaN.
    fn number_or_nan(&self, at: u32) -> Option<Option<&Extended>> {
        match &self.graph[at as usize] {
            Piece::Number(number) => Some(Some(&number.exact)),
            Piece::Apply { op, operands: [bits, ..], .. } => match &self.graph[*bits as usize] {
                Piece::Number(bits) => spells_nan(*op, &bits.exact).then_some(None),
                Piece::Apply { .. } | Piece::Operand(_) => None,
            },
            Piece::Operand(_) => None,
        }
    }

    /// Whether part of it is computed by a loop.
    fn holds_loops(&self) -> bool {
        self.graph.iter().any(|piece| matches!(piece, Piece::Apply { op: TermOp::Outcome, .. }))
    }

    /// The number of pieces of the graph.
    pub fn len(&self) -> usize {
        self.graph.len()
    }

    /// Whether the graph is empty.
    pub fn is_empty(&self) -> bool {
        self.graph.is_empty()
    }
}

/// Whether an operation decodes a number as a NaN.
fn spells_nan(op: TermOp, bits: &Extended) -> bool {
    let Some(Function::Decode(format)) = op.function().map(|info| info.function) else { return false };
    let bits = bits.finite().and_then(Rational::to_u64);
    bits.is_some_and(|bits| decode(format, bits) == Decoded::Nan)
}

/// Whether a term is a number or a NaN.
fn is_number_or_nan(store: &Store, term: TermId) -> bool {
    match store.view(term) {
        View::Constant(_) => true,
        View::Apply(op, [bits, ..]) => match store.view(bits) {
            View::Constant(bits) => spells_nan(op, &bits.exact),
            View::Input { .. } | View::Apply(..) => false,
        },
        View::Input { .. } => false,
    }
}

/// A scalar operation; in a choice, a negated condition is replaced by swapped arms.
fn normal(store: &Store, term: TermId) -> Option<(TermOp, [TermId; 3])> {
    let View::Apply(op, mut operands) = store.view(term) else { return None };
    if op == TermOp::Select {
        while let View::Apply(inner, [denied, ..]) = store.view(operands[0])
            && matches!(inner.kind(), Kind::Condition(Predicate::Not))
        {
            operands = [denied, operands[2], operands[1]];
        }
    }
    Some((op, operands))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish() | 1
}

/// The digest of an operation on operands with these digests. It is the same for all [ways](graph::ways) to write the
/// operation, and for choices by a condition and by its opposite.
fn digest_of(op: TermOp, rounds: Rounds, mut digests: [u64; 3]) -> u64 {
    digests[op.arity()..].fill(ANYTHING);
    // Signs are moved.
    if op == TermOp::Neg {
        return digests[0];
    }
    let op = if op == TermOp::Sub { TermOp::Add } else { op };
    let op = if op == TermOp::Max { TermOp::Min } else { op };
    if op == TermOp::LessEqual {
        digests.swap(0, 1);
        return digest_of(TermOp::Less, rounds, digests);
    }
    if op == TermOp::Select {
        digests[1..].sort_unstable();
    }
    if digests[0] > digests[1] && (op.info().commutes || op == TermOp::Less) {
        digests.swap(0, 1);
    }
    hash((op, rounds, digests))
}

/// The digest of a product of factors with these digests, whatever its rounding.
fn digest_of_factors([a, b]: [u64; 2]) -> u64 {
    digest_of(TermOp::Mul, 0, [a, b, ANYTHING])
}

/// The absolute value of a number.
fn magnitude(number: &Extended) -> Extended {
    match number {
        Extended::Finite(value) => Extended::Finite(value.abs()),
        Extended::PosInf | Extended::NegInf => Extended::PosInf,
    }
}

fn is_encoding(op: TermOp) -> bool {
    op.function().is_some_and(|info| {
        matches!(info.function, Function::Encode(_) | Function::Decode(_) | Function::Outcome)
    })
}

/// Whether an operation is on the bits of a number: it does not round, whatever its instruction does.
fn is_of_bits(op: TermOp) -> bool {
    is_encoding(op) || matches!(op.kind(), Kind::Piecewise(Piecewise::Mod | Piecewise::BitAnd))
}

impl Explainer {
    pub(in crate::term) fn new(templates: Arc<Templates>, instructions: Arc<[Rounds]>) -> Explainer {
        Explainer {
            templates,
            instructions,
            rounds: Vec::new(),
            covered: FxHashMap::default(),
            explained: FxHashMap::default(),
            marks: FxHashMap::default(),
            found: BTreeSet::new(),
            put: FxHashSet::default(),
            meant: FxHashSet::default(),
            used: FxHashMap::default(),
            between: FxHashMap::default(),
        }
    }

    pub(in crate::term) fn keeps(&self) -> bool {
        self.templates.keep
    }

    pub(in crate::term) fn bytes(&self) -> u64 {
        let entries = self.covered.capacity() * size_of::<(NodeId, Covered)>();
        (entries + self.explained.capacity() * 16 + self.rounds.len()) as u64
    }

    fn rounds_of(&self, term: TermId) -> Rounds {
        match term.kind() {
            TermKind::Lane(node, _) => self.rounds.get(node.index()).copied().unwrap_or_default(),
            TermKind::Input { .. } | TermKind::Constant(_) => 0,
        }
    }

    fn digest(&self, store: &Store, term: TermId) -> u64 {
        match term.kind() {
            TermKind::Lane(node, _) => self.covered.get(&node).map_or(ANYTHING, |covered| covered.digest),
            TermKind::Constant(id) => hash(magnitude(&store.constant(id).exact)),
            TermKind::Input { .. } => ANYTHING,
        }
    }

    fn is_unexplained(&self, term: TermId) -> bool {
        match term.kind() {
            TermKind::Lane(node, _) => self.covered.get(&node).is_some_and(|covered| covered.unexplained),
            TermKind::Input { .. } | TermKind::Constant(_) => false,
        }
    }

    /// Whether a digest covers a term, or it is a number that marks a template.
    fn is_covered(&self, term: TermId) -> bool {
        match term.kind() {
            TermKind::Lane(node, _) => self.covered.contains_key(&node),
            TermKind::Constant(id) => self.marks.get(&id).copied().unwrap_or(false),
            TermKind::Input { .. } => false,
        }
    }

    /// Records a new node.
    fn note(&mut self, store: &Store, node: NodeId, site: InstId) {
        self.rounds.resize(node.index(), 0);
        let parts = store.node(node.index());
        let rounds = self.instructions.get(site.index()).copied().unwrap_or_default();
        self.rounds.push(if is_of_bits(parts.op) { 0 } else { rounds });
        let operands = &parts.operands[..parts.op.arity()];
        let (mut covered, mut unexplained) = (is_encoding(parts.op), is_encoding(parts.op));
        for operand in operands {
            for lane in parts.mask {
                let term = operand.term(lane, parts.mask);
                if let TermKind::Constant(id) = term.kind() {
                    let marks = &self.templates.marks;
                    self.marks
                        .entry(id)
                        .or_insert_with(|| marks.contains(&magnitude(&store.constant(id).exact)));
                }
                covered |= self.is_covered(term);
                unexplained |= self.is_unexplained(term);
            }
        }
        let own = if unexplained { Use::Unexplained } else { Use::Plain };
        for operand in operands {
            for lane in parts.mask {
                if let TermKind::Constant(id) = operand.term(lane, parts.mask).kind() {
                    let known = self.used.entry(id).or_insert(own);
                    if own == Use::Plain {
                        *known = own;
                    }
                }
            }
        }
        if !covered {
            return;
        }
        let first = TermId::lane(node, parts.mask.first());
        let Some((op, operands)) = normal(store, first) else { return };
        let digests = operands.map(|operand| self.digest(store, operand));
        let digest = digest_of(op, self.rounds_of(first), digests);
        self.covered.insert(node, Covered { digest, unexplained, site });
    }

    /// The template that the terms of all lanes match, and the operands of each lane.
    fn find(&self, store: &Store, node: NodeId, mask: LaneMask) -> Option<Found> {
        let covered = self.covered.get(&node)?;
        let all = |templates: Option<&Vec<usize>>, place: Place| {
            templates?.iter().find_map(|template| self.find_as(store, node, mask, *template, place))
        };
        if let Some(found) = all(self.templates.by_digest.get(&covered.digest), Place::Whole) {
            return Some(found);
        }
        let first = TermId::lane(node, mask.first());
        let (op, [condition, then, otherwise]) = normal(store, first)?;
        if op == TermOp::Fma {
            let factors = [condition, then].map(|factor| self.digest(store, factor));
            return all(self.templates.by_factors.get(&digest_of_factors(factors)), Place::Fused);
        }
        if op != TermOp::Select {
            return None;
        }
        let mut inner = if is_number_or_nan(store, then) { otherwise } else { then };
        (1..=MAX_OUTER).find_map(|outer| {
            if let Some((TermOp::Fma, [a, b, _])) = normal(store, inner) {
                let factors = digest_of_factors([a, b].map(|factor| self.digest(store, factor)));
                let found = all(self.templates.by_arm_factors.get(&factors), Place::FusedArm(outer - 1));
                if found.is_some() {
                    return found;
                }
            }
            inner = step_in(store, inner)?.1;
            let digest = self.digest(store, inner);
            all(self.templates.by_arm.get(&digest), Place::Arm(outer))
        })
    }

    /// The operands of each lane, if its term contains the graph of one template at that place.
    fn find_as(
        &self,
        store: &Store,
        node: NodeId,
        mask: LaneMask,
        template: usize,
        place: Place,
    ) -> Option<Found> {
        let (operands, negated) = ([[0; 32]; MAX_OPERANDS], [false; MAX_OPERANDS]);
        let mut found = Found { template, operands, negated, outer: Vec::new() };
        for lane in mask {
            let root = TermId::lane(node, lane);
            let fits = |own: &mut Match<'_>| match place {
                Place::Whole => own.has_graph(root),
                Place::Arm(outer) => own.has_arm(root, outer, false),
                Place::FusedArm(outer) => own.has_arm(root, outer, true),
                Place::Fused => own.is_fused(root),
            };
            let mut own = Match::new(store, self, &self.templates.list[template]);
            if !fits(&mut own) {
                own = own.of_magnitudes();
                if !fits(&mut own) {
                    return None;
                }
            }
            let negated = own.operands.map(|operand| operand.is_some_and(|(_, negated)| negated));
            if lane != mask.first() && found.negated != negated {
                return None;
            }
            found.negated = negated;
            for (list, operand) in found.operands.iter_mut().zip(own.operands) {
                list[lane] = operand.map_or(0, |(term, _)| term.raw());
            }
            if found.outer.is_empty() {
                let empty = own.outer.iter().map(|(op, which, _)| Outer {
                    op: *op,
                    which: *which,
                    operands: [[0; 32]; 3],
                });
                found.outer = empty.collect();
            }
            for (outer, (op, which, operands)) in found.outer.iter_mut().zip(&own.outer) {
                if (outer.op, outer.which) != (*op, *which) {
                    return None;
                }
                for (list, operand) in outer.operands.iter_mut().zip(operands) {
                    list[lane] = operand.raw();
                }
            }
        }
        Some(found)
    }
}

/// An operation on numbers and one other term: the positions of that term, the term, the operation and all operands.
fn step_in(store: &Store, term: TermId) -> Option<(Which, TermId, TermOp, [TermId; 3])> {
    let View::Apply(op, operands) = store.view(term) else { return None };
    if !matches!(op.kind(), Kind::Sum(_) | Kind::Product(_)) {
        return None;
    }
    let is_number = |term: &TermId| matches!(term.kind(), TermKind::Constant(_));
    let own = &operands[..op.arity()];
    let inner = *own.iter().find(|term| !is_number(term))?;
    let which = (0..own.len()).filter(|at| own[*at] == inner).fold(0, |which, at| which | 1 << at);
    own.iter().all(|term| *term == inner || is_number(term)).then_some((which, inner, op, operands))
}

impl Store {
    /// Starts the recognition of functions; `instructions` lists how instructions round.
    pub fn explain_functions(&mut self, templates: Arc<Templates>, instructions: Arc<[Rounds]>) {
        self.explainer = Some(Box::new(Explainer::new(templates, instructions)));
    }

    /// Whether functions are recognized, so that terms may be computed from encodings.
    #[inline]
    pub fn explains(&self) -> bool {
        self.explainer.is_some()
    }

    /// Whether an instruction rounds as that of a node does; always true while functions are not recognized. If it
    /// does not, the results are equal over the reals only, and at most one of them matches a template.
    #[inline]
    pub(in crate::term) fn rounds_alike(&self, node: NodeId, site: InstId) -> bool {
        self.explainer.as_ref().is_none_or(|explainer| {
            let own = explainer.instructions.get(site.index()).copied().unwrap_or_default();
            is_of_bits(self.nodes[node.index()].op) || explainer.rounds[node.index()] == own
        })
    }

    /// Whether an integer may be decoded as a real, which is then unexplained.
    pub fn may_spell(&self, term: TermId) -> bool {
        let spells = self.explainer.as_ref().is_some_and(|explainer| explainer.templates.spell);
        spells || self.is_unexplained(term)
    }

    /// Whether a term is computed from the encoding of a real, and not through a recognized function.
    pub fn is_unexplained(&self, term: TermId) -> bool {
        self.explainer.as_ref().is_some_and(|explainer| explainer.is_unexplained(term))
    }

    /// Whether a term is a function that replaced its graph, without outer operations.
    pub fn is_put_in_place(&self, term: TermId) -> bool {
        let TermKind::Lane(node, _) = term.kind() else { return false };
        self.explainer.as_ref().is_some_and(|explainer| explainer.put.contains(&node))
    }

    /// Whether a node is part of a function that replaced its graph.
    pub fn is_meant(&self, node: NodeId) -> bool {
        self.explainer.as_ref().is_some_and(|explainer| explainer.meant.contains(&node))
    }

    /// Whether an unexplained term is a fault: not where templates are made.
    pub fn is_refused(&self, term: TermId) -> bool {
        self.is_unexplained(term) && self.explainer.as_ref().is_some_and(|explainer| !explainer.keeps())
    }

    /// Integer bounds of a function's result, for functions with integer values: where the code computes the result
    /// from encodings, its range is known.
    pub(in crate::term) fn function_lies_between(&self, term: TermId) -> (Option<i128>, Option<i128>) {
        let TermKind::Lane(node, _) = term.kind() else { return (None, None) };
        let known = self.explainer.as_ref().and_then(|explainer| explainer.between.get(&node));
        known.copied().unwrap_or_default()
    }

    /// The constants that are operands of steps of functions only.
    pub(in crate::term) fn constants_of_functions(&self) -> FxHashSet<ConstantId> {
        let used = self.explainer.iter().flat_map(|explainer| &explainer.used);
        used.filter(|(_, used)| **used == Use::Unexplained).map(|(id, _)| *id).collect()
    }

    /// The claims of the functions that were recognized.
    pub fn explained(&self) -> impl Iterator<Item = &str> {
        let found = self.explainer.iter().flat_map(|own| own.found.iter().map(|at| &own.templates.list[*at]));
        found.map(|template| template.claim.as_str())
    }

    /// Records a new node.
    #[cold]
    pub(in crate::term) fn note_function(&mut self, node: NodeId, site: InstId) {
        if let Some(mut explainer) = self.explainer.take() {
            explainer.note(self, node, site);
            self.explainer = Some(explainer);
        }
    }

    /// The replacement of a node whose lanes all match one template, if any.
    #[cold]
    pub(in crate::term) fn function_of(&mut self, node: NodeId, site: InstId) -> Option<NodeId> {
        let explainer = self.explainer.as_ref()?;
        if !explainer.covered.contains_key(&node) {
            return None;
        }
        if let Some(known) = explainer.explained.get(&node) {
            return *known;
        }
        let mask = self.mask(node.index());
        let found = explainer.find(self, node, mask);
        let meant = found.and_then(|found| self.apply_function(&found, mask, site));
        if let Some(explainer) = &mut self.explainer {
            explainer.explained.insert(node, meant);
        }
        meant
    }

    /// The meaning of a function applied to the operands of each lane.
    fn apply_function(&mut self, found: &Found, mask: LaneMask, site: InstId) -> Option<NodeId> {
        let template = self.explainer.as_ref()?.templates.list[found.template].clone();
        let results_of = |node| Lane::each(|lane| TermId::lane(node, lane).raw());
        let mut results: Vec<[u64; 32]> = Vec::new();
        let mut last = None;
        let first = NodeId::from_index(self.nodes.len());
        for piece in &template.meaning {
            results.push(match piece {
                Piece::Operand(which) if found.negated[*which] => {
                    results_of(self.push(TermOp::Neg, mask, &[&found.operands[*which]], site))
                }
                Piece::Operand(which) => found.operands[*which],
                Piece::Number(number) => [self.intern(number.clone()).raw(); 32],
                Piece::Apply { op, operands, .. } => {
                    let list: Vec<&[u64; 32]> =
                        operands[..op.arity()].iter().map(|at| &results[*at as usize]).collect();
                    results_of(*last.insert(self.push(*op, mask, &list, site)))
                }
            });
        }
        if let Some(node) = last
            && let Some(explainer) = &mut self.explainer
            && template.between != (None, None)
        {
            explainer.between.insert(node, template.between);
        }
        for Outer { op, which, operands } in found.outer.iter().rev() {
            let inner = results_of(last?);
            let list = (0..op.arity()).map(|at| if which >> at & 1 == 1 { &inner } else { &operands[at] });
            last = Some(self.push(*op, mask, &list.collect::<Vec<_>>(), site));
        }
        let explainer = self.explainer.as_mut()?;
        explainer.found.insert(found.template);
        explainer.meant.extend((first.index()..self.nodes.len()).map(NodeId::from_index));
        if found.outer.is_empty() {
            explainer.put.extend(last);
        }
        last
    }
}
