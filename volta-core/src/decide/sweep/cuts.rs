//! Cut points: values that many elements are computed from, such as the sum or the maximum of a row, are proved equal
//! once, before any element is. With a name for each of them, the elements of a row become short terms, and mostly
//! translations of one another.
//!
//! What many terms read is counted, evaluation finds its counterpart on the other side, and the pair is proved and
//! named as in any sweep: at all inputs, and with values there on both sides. The proof of an element in which names
//! stand for such values holds for any numbers in their place, hence for these.

use super::numbers::{Moved, Numbers};
use super::{Located, POINTS, SHARE, SIGNS, Sweep, copied_sign};
use crate::algebra::{Analysis, Reading};
use crate::base::budget::Limit;
use crate::base::index::InstId;
use crate::base::lane::{Lane, LaneMask};
use crate::base::ration::Ration;
use crate::decide::evaluate::Evaluator;
use crate::decide::point::TestPoint;
use crate::decide::prove::Learned;
use crate::decide::{DecisionOptions, ElementPair, InputInfo};
use crate::number::interval::Narrow;
use crate::number::signs::Signs;
use crate::number::value::Value;
use crate::term::{
    Imported, Lanes, NodeId, Reached, Reads, Store, TermId, TermKind, TermOp, View, each_term, is_of_input,
    whole_node,
};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// A cut point is read by at least so many operands and elements.
const MIN_USES: u32 = 16;
/// It is computed by at least so many operations, counted as a tree.
const MIN_SIZE: u32 = 64;
/// An element of a row is computed from what the row shares by no more operations.
const SHORT: u32 = 1 << 8;
/// An element with names is computed by no more, counted as a tree.
const MAX_SIZE: u32 = 1 << 12;
/// Where the other side does not compute such a value, its operands are tried, down so many operations.
const DEPTH: usize = 4;
/// The largest number of terms of a side.
const MAX_TERMS: usize = 1 << 23;
/// The largest number of values that are tried, and of terms with one value.
const MAX_VALUES: usize = 1 << 13;
const MAX_MEMBERS: usize = 1 << 10;
/// So many proofs may fail of pairs with one value, and so many succeed.
const MAX_FAILURES: usize = 2;
const MAX_PROOFS: usize = 64;
/// Steps for the proof of a pair, for each of its terms.
const STEPS_A_TERM: u64 = 64;
/// All pairs together may take so many steps for each term of the elements: these, and one for so many elements, but no
/// more than the last. Without names, elements take about a step for a dozen terms, counted without sharing, and many more
/// where their forms differ.
const LEAST_STEPS_A_TERM: u64 = 64;
const ELEMENTS_A_STEP: u64 = 16;
const MOST_STEPS_A_TERM: u64 = 256;
/// Nothing is named where elements take no more steps without names than so many for each of their terms. Some elements
/// are proved to find out.
const CHEAP_STEPS_A_TERM: u64 = 4;
const SAMPLE: usize = 4;
/// Steps for the numbers of the terms of the elements, for each of these.
pub(in crate::decide) const NUMBER_STEPS_A_TERM: u64 = 32;
/// Values are compared with so many bits.
const BITS: u32 = 25;

/// The rounded values of a term at the points.
type Values = [u32; POINTS.len()];

/// Elements of one pair of stores, with names for what they share.
pub(in crate::decide) struct Cut {
    /// The two sides.
    pub stores: [Store; 2],
    /// The terms of the elements on each side.
    pub roots: [Vec<TermId>; 2],
    /// Whether an element is computed from few terms: only then its proof takes fewer steps than without names.
    pub is_short: Vec<bool>,
    /// Literals that the proofs of what is named have read as irrational constants.
    pub readings: BTreeSet<Reading>,
}

/// Lanes of the nodes of a store, as masks; nodes beyond the last have none.
type Marks = Vec<u32>;

/// The lanes of the nodes that some terms are.
fn marks_of<'t>(store: &Store, terms: impl IntoIterator<Item = &'t TermId>) -> Marks {
    let mut marks = vec![0; store.len()];
    for term in terms {
        if let TermKind::Lane(node, lane) = term.kind() {
            marks[node.index()] |= LaneMask::of(lane).bits();
        }
    }
    marks
}

fn has(marks: &Marks, term: TermId) -> bool {
    match term.kind() {
        TermKind::Lane(node, lane) => lanes_in(marks, node.index()).contains(lane),
        TermKind::Input { .. } | TermKind::Constant(_) => false,
    }
}

fn lanes_in(marks: &Marks, node: usize) -> LaneMask {
    LaneMask::from_bits(marks.get(node).copied().unwrap_or(0))
}

/// What is computed for some terms of a store.
pub(in crate::decide) struct Census {
    /// The lanes of each node that are computed for them.
    reached: Reached,
    /// For each node, the position of its first lane among all.
    start: Vec<u32>,
    /// By position: how many operands and elements read a term, up to [`u8::MAX`], and how many operations it takes.
    uses: Vec<u8>,
    sizes: Vec<u32>,
}

impl Census {
    /// Counts what `roots` are computed from; `None` if that is too much.
    pub(in crate::decide) fn new(store: &Store, roots: &[TermId]) -> Option<Census> {
        let reached = Reached::new(store, roots);
        let mut start = Vec::with_capacity(store.len());
        let mut count = 0_u32;
        for at in 0..store.len() {
            start.push(count);
            count = count.checked_add(reached.lanes(at).count())?;
        }
        let count = count as usize;
        if count > MAX_TERMS {
            return None;
        }
        let mut census = Census { reached, start, uses: vec![0; count], sizes: vec![1; count] };
        census.measure(store, &Marks::new());
        census.count_uses(store);
        roots.iter().for_each(|root| census.count_use(*root, 1));
        Some(census)
    }

    fn count_uses(&mut self, store: &Store) {
        for at in 0..store.len() {
            let lanes = self.lanes(at);
            if lanes.is_empty() {
                continue;
            }
            let node = store.node_ref(at);
            for which in 0..node.op().arity() {
                let own = node.operand(which);
                match (whole_node(own), own) {
                    (Some(whole), _) if self.lanes(whole) == lanes => {
                        let range = self.range(whole);
                        self.uses[range].iter_mut().for_each(|uses| *uses = uses.saturating_add(1));
                    }
                    (None, Lanes::Affine { base, stride: 0 }) => {
                        self.count_use(TermId::from_raw(base), lanes.count() as u8);
                    }
                    (None, own) if is_of_input(own, lanes) => {}
                    (_, own) => each_term(own, lanes, node.mask(), |_, term| self.count_use(term, 1)),
                }
            }
        }
    }

    fn count_use(&mut self, term: TermId, times: u8) {
        if let Some(at) = self.position(term) {
            self.uses[at] = self.uses[at].saturating_add(times);
        }
    }

    /// Counts the operations of each term, in which terms with names are one operand.
    fn measure(&mut self, store: &Store, named: &Marks) {
        for at in 0..store.len() {
            let lanes = self.lanes(at);
            if lanes.is_empty() {
                continue;
            }
            let (node, range) = (store.node_ref(at), self.range(at));
            let mut own_sizes = [1_u32; Lane::COUNT];
            let own_sizes = &mut own_sizes[..range.len()];
            for which in 0..node.op().arity() {
                let own = node.operand(which);
                let add = |size: &mut u32, below: u32| *size = size.saturating_add(below);
                match (whole_node(own), own) {
                    (Some(whole), _) if self.lanes(whole) == lanes && lanes_in(named, whole).is_empty() => {
                        let below = &self.sizes[self.range(whole)];
                        own_sizes.iter_mut().zip(below).for_each(|(size, below)| add(size, *below));
                    }
                    (None, Lanes::Affine { base, stride: 0 }) => {
                        let below = self.size_as_operand(TermId::from_raw(base), named);
                        own_sizes.iter_mut().for_each(|size| add(size, below));
                    }
                    (None, own) if is_of_input(own, lanes) => {}
                    (_, own) => {
                        let mut sizes = own_sizes.iter_mut();
                        each_term(own, lanes, node.mask(), |_, term| {
                            let below = self.size_as_operand(term, named);
                            sizes.next().into_iter().for_each(|size| add(size, below));
                        });
                    }
                }
            }
            self.sizes[range].copy_from_slice(own_sizes);
        }
    }

    fn size_as_operand(&self, term: TermId, named: &Marks) -> u32 {
        if has(named, term) { 1 } else { self.size(term) }
    }

    /// The lanes of a node that are computed.
    pub(in crate::decide) fn lanes(&self, node: usize) -> LaneMask {
        self.reached.lanes(node)
    }

    /// The positions of the lanes of a node.
    fn range(&self, node: usize) -> Range<usize> {
        let first = self.start[node] as usize;
        first..first + self.lanes(node).count() as usize
    }

    /// The position of an operation among all.
    pub(in crate::decide) fn position(&self, term: TermId) -> Option<usize> {
        let TermKind::Lane(node, lane) = term.kind() else { return None };
        Some(self.start[node.index()] as usize + self.lanes(node.index()).rank(lane))
    }

    /// The number of terms.
    pub(in crate::decide) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// How many operations a term takes, counted as a tree.
    fn size(&self, term: TermId) -> u32 {
        self.position(term).map_or(0, |at| self.sizes[at])
    }

    fn is_large(&self, term: TermId) -> bool {
        self.size(term) >= MIN_SIZE
    }

    /// The terms that many read, operands before results.
    fn shared(&self) -> Vec<TermId> {
        self.terms_where(|at| self.sizes[at] >= MIN_SIZE && u32::from(self.uses[at]) >= MIN_USES).collect()
    }

    /// Whether each of some terms takes few operations on what many terms read. The census then has other sizes.
    pub(in crate::decide) fn are_short_if_shared(&mut self, store: &Store, roots: &[TermId]) -> bool {
        let shared = self.shared();
        let marks = marks_of(store, &shared);
        if shared.is_empty() || roots.iter().any(|root| has(&marks, *root)) {
            return false;
        }
        self.measure(store, &marks);
        roots.iter().all(|root| self.size(*root) <= SHORT)
    }

    /// All terms, operands before results.
    pub(in crate::decide) fn terms(&self) -> impl Iterator<Item = TermId> {
        self.terms_where(|_| true)
    }

    /// The terms at some positions, operands before results.
    fn terms_where(&self, mut fits: impl FnMut(usize) -> bool) -> impl Iterator<Item = TermId> {
        let all = (0..self.start.len()).flat_map(|at| {
            let node = NodeId::from_index(at);
            self.lanes(at).iter().map(move |lane| TermId::lane(node, lane))
        });
        all.enumerate().filter(move |(at, _)| fits(*at)).map(|(_, term)| term)
    }
}

fn operands(store: &Store, term: TermId) -> SmallVec<[TermId; 3]> {
    match store.view(term) {
        View::Apply(op, operands) => SmallVec::from_slice(&operands[..op.arity()]),
        View::Input { .. } | View::Constant(_) => SmallVec::new(),
    }
}

/// The terms of each side that have one value.
#[derive(Default)]
struct SameValue {
    /// How many operations below what many terms read they were found.
    depth: usize,
    members: [SmallVec<[TermId; 2]>; 2],
    /// Others, found further below. They have the value at the points, and maybe nowhere else: they get the name only if
    /// they are the same as a member.
    others: [Vec<TermId>; 2],
}

/// Two terms that may get one name.
struct Candidates {
    pair: [Located; 2],
    /// Whether they do only if they are the same operations.
    if_same: bool,
}

impl<'s, 'a> Sweep<'s, 'a> {
    /// A sweep of what many elements share, one of which is given: it takes steps as these elements together may.
    pub(in crate::decide) fn of_many(
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        inputs: &[InputInfo],
        options: &'a DecisionOptions,
        ration: &'a Rc<Ration>,
    ) -> Option<Sweep<'s, 'a>> {
        let sweep = Sweep::new(element, analysis, inputs, options, ration)?;
        Some(Sweep { steps_a_term: Some(STEPS_A_TERM), left: options.all_steps() / SHARE, ..sweep })
    }

    /// The inputs of the case, and those that names are elements of.
    pub(in crate::decide) fn inputs(&self) -> &[InputInfo] {
        &self.inputs
    }

    /// Names what many of some elements are computed from, and returns the elements with these names. `None` if
    /// nothing was named.
    pub(in crate::decide) fn cut(mut self, roots: [&[TermId]; 2]) -> Option<Cut> {
        let mut sides = [Census::new(self.sides[0].0, roots[0])?, Census::new(self.sides[1].0, roots[1])?];
        if self.is_cheap_without_names(&sides, roots) {
            return None;
        }
        let candidates = self.cut_points(&mut sides, roots)?;
        let may_be_named = [0, 1].map(|side| {
            let all = candidates.iter().flat_map(|candidates| &candidates.pair);
            let own = all.filter(|located| located.side == side).map(|located| &located.term);
            marks_of(self.sides[side].0, own)
        });
        let is_short = self.are_short(&mut sides, roots, &may_be_named);
        if !is_short.contains(&true) {
            return None;
        }
        let count = sides.iter().map(|side| side.len() as u64).sum::<u64>();
        let mut numbers = Numbers::new(
            self.sides.map(|(store, _)| store),
            self.analysis,
            &sides,
            self.left.min(count * NUMBER_STEPS_A_TERM),
            self.options.budgets[Limit::MemoryBytes].saturating_sub(self.options.held.total()),
        );
        let mut whole = Learned::new(&self.inputs, self.ration, false);
        let (mut last, mut failures, mut proofs) = (None, 0, 0);
        let mut alike: SmallVec<[Moved; 4]> = SmallVec::new();
        for Candidates { pair: [reference, opt], if_same } in candidates {
            self.ration.begin_element();
            let before = numbers.left();
            if last != Some(reference) {
                (last, failures, proofs) = (Some(reference), 0, 0);
                alike = numbers.number(reference, &self.names).into_iter().collect();
            }
            let number = numbers.number(opt, &self.names);
            self.spend(before - numbers.left());
            let is_same = number.is_some_and(|number| alike.contains(&number));
            if is_same && self.name_same(reference, opt, &mut whole) {
                continue;
            }
            if if_same || failures == MAX_FAILURES || proofs == MAX_PROOFS {
                continue;
            }
            if self.name(reference, opt) {
                proofs += 1;
                alike.extend(number);
            } else {
                failures += 1;
            }
        }
        drop(numbers);
        self.readings.extend(whole.readings());
        drop(whole);
        let named = [0, 1].map(|side: usize| marks_of(self.sides[side].0, self.names[side].keys()));
        let is_short = self.are_short(&mut sides, roots, &named);
        if self.named == 0 || !is_short.contains(&true) {
            return None;
        }
        let mut stores = [0, 1].map(|side| self.store_for(side));
        let mut copies = [0, 1]
            .map(|side: usize| stores[side].import_all(self.sides[side].0, roots[side], &self.names[side]));
        let mut known: [Option<Imported>; 2] = [None, None];
        for at in 0..roots[0].len() {
            let pair = [0, 1].map(|side: usize| roots[side][at]);
            let names = [0, 1].map(|side: usize| self.names[side].get(&pair[side]));
            if names[0] == names[1] {
                continue;
            }
            // A name says nothing to a side without it.
            for side in [0, 1].into_iter().filter(|side: &usize| names[*side].is_some()) {
                let known = known[side].get_or_insert_with(|| self.names[side].clone());
                copies[side][at] = self.expanded(side, pair[side], &mut stores[side], known);
            }
        }
        stores.iter_mut().for_each(Store::close);
        self.spend(stores.iter().map(|store| store.len() as u64).sum());
        Some(Cut { stores, roots: copies, is_short, readings: self.readings })
    }

    /// Gives a name to two terms that are the same operations on the same operands, if they have a value everywhere.
    fn name_same(&mut self, reference: Located, opt: Located, whole: &mut Learned<'s>) -> bool {
        let signs = if self.names[reference.side].contains_key(&reference.term) {
            // What is known of the name is known of the other term.
            Some(Signs::ANY)
        } else {
            let analysis = self.analysis[reference.side];
            let term = (self.sides[reference.side].0, reference.term);
            let signs = whole.signs_if_total(term, analysis, self.left);
            self.left = self.left.saturating_sub(whole.settle());
            signs
        };
        let Some(signs) = signs else { return false };
        self.give_name(reference, opt, signs, Vec::new());
        true
    }

    /// Whether each element is computed by few operations on both sides, if these terms have names.
    fn are_short(&self, sides: &mut [Census; 2], roots: [&[TermId]; 2], named: &[Marks; 2]) -> Vec<bool> {
        for (side, census) in sides.iter_mut().enumerate() {
            census.measure(self.sides[side].0, &named[side]);
        }
        let is_short =
            |side: usize, root: TermId| has(&named[side], root) || sides[side].size(root) <= MAX_SIZE;
        roots[0].iter().zip(roots[1]).map(|(one, other)| is_short(0, *one) && is_short(1, *other)).collect()
    }

    /// A copy of an operation on what has names.
    fn expanded(&self, side: usize, term: TermId, to: &mut Store, known: &mut Imported) -> TermId {
        let (from, _) = self.sides[side];
        let View::Apply(op, operands) = from.view(term) else { return to.import(from, term, known) };
        let operands: SmallVec<[TermId; 3]> =
            operands[..op.arity()].iter().map(|operand| to.import(from, *operand, known)).collect();
        to.apply(op, &operands, from.site(term).unwrap_or(InstId::FIRST))
    }

    /// Whether all elements are proved in few steps as they are, to judge by some of them.
    fn is_cheap_without_names(&mut self, sides: &[Census; 2], roots: [&[TermId]; 2]) -> bool {
        let count = sides.iter().map(Census::len).sum::<usize>() as u64;
        let limit = CHEAP_STEPS_A_TERM * count * SAMPLE as u64 / roots[0].len() as u64;
        let mut quick = Learned::new(&self.inputs, self.ration, false);
        let mut spent = 0;
        for at in 0..SAMPLE {
            // Elements in the middle of equal parts: what an element takes may grow from the first to the last.
            let at = (2 * at + 1) * roots[0].len() / (2 * SAMPLE);
            let [reference, opt] = [0, 1].map(|side: usize| (self.sides[side].0, roots[side][at]));
            let element = ElementPair { reference, opt };
            if spent == limit || quick.proves(&element, self.analysis, limit - spent).is_none() {
                return false;
            }
            spent = limit.min(spent + quick.settle());
        }
        true
    }

    /// Pairs of terms with the same values at the points, one of which many terms read, operands before results.
    fn cut_points(&mut self, sides: &mut [Census; 2], roots: [&[TermId]; 2]) -> Option<Vec<Candidates>> {
        let count = sides.iter().map(|side| side.sizes.len()).sum::<usize>();
        let each = LEAST_STEPS_A_TERM + roots[0].len() as u64 / ELEMENTS_A_STEP;
        self.left = self.left.min(count as u64 * each.min(MOST_STEPS_A_TERM));
        self.spend(count as u64);
        let shared = [0, 1].map(|side: usize| sides[side].shared());
        if shared.iter().all(Vec::is_empty) {
            return None;
        }
        let large = [0, 1].map(|side: usize| self.closed_terms(side, &sides[side]));
        sides.iter_mut().for_each(|side| side.uses = Vec::new());
        self.spend((large[0].len() + large[1].len()) as u64 * POINTS.len() as u64);
        let given = &self.inputs[..self.inputs.len() - SIGNS.len()];
        let (stores, remembered) = (self.sides.map(|(store, _)| store), self.options.effort.remembered);
        let (first, second) = rayon::join(
            || rounded_values(stores[0], &large[0], given, remembered),
            || rounded_values(stores[1], &large[1], given, remembered),
        );
        let values = [first, second];
        // Terms are in order.
        let value =
            |side: usize, term: TermId| large[side].binary_search(&term).ok().and_then(|at| values[side][at]);

        let mut found: FxHashMap<Values, SameValue> = FxHashMap::default();
        let mut tried = [shared[0].clone(), shared[1].clone()];
        for depth in 0..DEPTH {
            let mut new: FxHashMap<Values, SameValue> = FxHashMap::default();
            for (side, tried) in tried.iter_mut().enumerate() {
                tried.sort_unstable();
                tried.dedup();
                for term in tried.iter() {
                    let Some(values) = value(side, *term) else { continue };
                    if let Some(known) = found.get_mut(&values) {
                        if known.others[side].len() < MAX_MEMBERS {
                            known.others[side].push(*term);
                        }
                        continue;
                    }
                    let new = new.entry(values).or_insert(SameValue { depth, ..SameValue::default() });
                    if new.members[side].len() < MAX_MEMBERS {
                        new.members[side].push(*term);
                    }
                }
            }
            // Where one side is not read by many terms, its last term with the value is taken: a running maximum has it
            // at the points before it has it everywhere.
            for side in 0..2 {
                let mut open = new.values().filter(|same| same.members[side].is_empty()).count();
                let mut terms = large[side].iter().zip(&values[side]).rev();
                while open > 0
                    && let Some((term, values)) = terms.next()
                {
                    if let Some(new) = values.and_then(|values| new.get_mut(&values))
                        && new.members[side].is_empty()
                    {
                        new.members[side].push(*term);
                        open -= 1;
                    }
                }
            }
            let mut further = [Vec::new(), Vec::new()];
            for side in 0..2 {
                let (store, _) = self.sides[side];
                for term in &tried[side] {
                    let same = value(side, *term).and_then(|values| new.get(&values));
                    let paired = same.is_some_and(|same| !same.members[1 - side].is_empty());
                    if !paired || store.op(*term).is_some_and(TermOp::is_partial) {
                        let below = operands(store, *term).into_iter();
                        further[side].extend(below.filter(|operand| sides[side].is_large(*operand)));
                    }
                }
            }
            found
                .extend(new.into_iter().filter(|(_, same)| same.members.iter().all(|side| !side.is_empty())));
            tried = further;
        }
        // What many terms read comes before what was found in its place.
        let mut found: Vec<SameValue> = found.into_values().collect();
        found.sort_unstable_by_key(|same| (same.depth > 0, same.members[0][0]));
        found.truncate(MAX_VALUES);
        let mut all = Vec::new();
        for SameValue { members: [references, opts], others, .. } in found {
            let first = Located { side: 0, term: references[0] };
            let more = references[1..].iter().map(|term| (0, term));
            let members =
                opts.iter().map(|term| (1, term)).chain(more).map(|(side, term)| (side, term, false));
            let others =
                [1, 0].into_iter().flat_map(|side: usize| others[side].iter().map(move |term| (side, term)));
            let others = others.map(|(side, term)| (side, term, true));
            all.extend(members.chain(others).map(|(side, term, if_same)| Candidates {
                pair: [first, Located { side, term: *term }],
                if_same,
            }));
        }
        Some(all)
    }

    /// The large terms of a side that may get names.
    fn closed_terms(&self, side: usize, census: &Census) -> Vec<TermId> {
        let (store, _) = self.sides[side];
        let open = self.open_lanes(side, census);
        let mut signs = FxHashSet::default();
        for at in (0..store.len()).filter(|at| store.node_ref(*at).op() == TermOp::CopySign) {
            let (lanes, node) = (census.lanes(at), store.node_ref(at));
            each_term(node.operand(0), lanes, node.mask(), |_, term| {
                signs.insert(copied_sign(store, term));
            });
        }
        let large = census.terms_where(|at| census.sizes[at] >= MIN_SIZE);
        large.filter(|term| !has(&open, *term) && !signs.contains(term)).collect()
    }

    /// The same as [`Sweep::open`], of all terms of a census.
    fn open_lanes(&self, side: usize, census: &Census) -> Marks {
        let (store, _) = self.sides[side];
        let analysis = self.analysis[side];
        let mut open = vec![0; store.len()];
        for at in 0..store.len() {
            let (lanes, node) = (census.lanes(at), store.node_ref(at));
            if lanes.is_empty() {
                continue;
            }
            let mut own = match node.op().reads() {
                Reads::Exponent | Reads::Nothing => LaneMask::NONE,
                Reads::Logarithm => lanes,
            };
            if node.op().reads() == Reads::Nothing {
                for which in 0..node.op().arity() {
                    let operand = node.operand(which);
                    let is_open = |term: TermId| has(&open, term) || analysis.is_read(term);
                    match (whole_node(operand), operand) {
                        (Some(whole), _) => own |= lanes_in(&open, whole) & lanes,
                        (None, Lanes::Affine { base, stride: 0 }) => {
                            own |= lanes & LaneMask::all_if(is_open(TermId::from_raw(base)));
                        }
                        (None, operand) if is_of_input(operand, lanes) => {}
                        (None, operand) => each_term(operand, lanes, node.mask(), |lane, term| {
                            own |= LaneMask::of(lane) & LaneMask::all_if(is_open(term));
                        }),
                    }
                }
            }
            open[at] = own.bits();
        }
        open
    }
}

/// The rounded values of terms at the points, of those that have values at each of them.
fn rounded_values(
    store: &Store,
    terms: &[TermId],
    inputs: &[InputInfo],
    remembered: usize,
) -> Vec<Option<Values>> {
    let mut found = vec![Some([0; POINTS.len()]); terms.len()];
    for (at, round) in POINTS.into_iter().enumerate() {
        let point = TestPoint::new(inputs, round);
        let mut evaluator: Evaluator<'_, Narrow, _> = Evaluator::new(store, point, 53, remembered);
        for (found, value) in found.iter_mut().zip(evaluator.evaluate_all(terms)) {
            match (found.as_mut(), rounded(&value)) {
                (Some(values), Some(value)) => values[at] = value,
                _ => *found = None,
            }
        }
    }
    let zero = |values: &Values| values.iter().all(|value| *value == 0);
    found.into_iter().map(|values| values.filter(|values| !zero(values))).collect()
}

/// A value rounded to seven digits; `None` where the enclosure is too wide or there is no value.
fn rounded(value: &Value<Narrow>) -> Option<u32> {
    let Value::Finite(value) = value else { return None };
    let shift = 64 - 12 - BITS;
    let bits = value.middle(1e-9)?.to_bits();
    let rounded = (bits + (1 << (shift - 1))) >> shift;
    Some((rounded ^ rounded >> 32) as u32)
}

/// How literals are read in an element with names.
pub(in crate::decide) fn analysis_of(cut: &Cut, side: usize, whole: &Analysis) -> Analysis {
    Analysis::of_part(&cut.stores[side], &cut.roots[side], whole)
}
