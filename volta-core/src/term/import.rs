//! Copying terms from one store to another.

use std::num::NonZeroU32;

use crate::base::index::InstId;
use rustc_hash::FxHashMap;

use super::build::Results;
use super::id::{NodeId, TermId, TermKind};
use super::node::{Lanes, Store, View};
use super::reachability::{Reached, each_term};
use crate::base::lane::{Lane, LaneMask};

/// A map from terms of one store to their copies in another.
pub type Imported = FxHashMap<TermId, TermId>;

/// A term of one of several stores, by the number of the store.
pub type InStore = (usize, TermId);

/// A node of one of several stores.
type InNode = (usize, NodeId);

/// What was taken from the stores of earlier steps of a side.
#[derive(Debug, Default)]
pub(super) struct FromEarlier {
    /// The results of nodes that were copied, by the numbers of their stores.
    copies: FxHashMap<InNode, Results>,
    /// Inputs that stand for terms of these stores.
    named: FxHashMap<TermId, InStore>,
}

impl FromEarlier {
    /// Its memory in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (48 * self.copies.len() + 32 * self.named.len()) as u64
    }

    /// Whether no term of the store stands for another one.
    pub(super) fn has_no_names(&self) -> bool {
        self.named.is_empty()
    }

    /// Forgets what was copied.
    pub(super) fn close(&mut self) {
        self.copies = FxHashMap::default();
    }
}

impl Store {
    /// Whether inputs stand for terms of earlier steps.
    pub fn has_names(&self) -> bool {
        !self.left.has_no_names()
    }

    /// Gives a term of an earlier step a name, an element of an input that is none of the case.
    pub fn name_left(&mut self, stores: &[Store], name: TermId, of: InStore) -> TermId {
        self.approximate_as(&stores[of.0]);
        self.left.named.insert(name, of);
        name
    }

    /// The term that a term stands for: itself, if it is no name.
    pub fn meant_by(stores: &[Store], mut at: InStore) -> InStore {
        while let Some(of) = stores[at.0].left.named.get(&at.1) {
            at = *of;
        }
        at
    }

    /// Copies a term of the stores that earlier steps of the same side left, with what names in it stand for. A node is
    /// copied as a whole, so that its lanes stay together.
    pub fn import_left(&mut self, stores: &[Store], term: InStore) -> TermId {
        let mut work = match self.copy_of(stores, term) {
            Ok(copy) => return copy,
            Err(missing) => vec![missing],
        };
        while let Some(&(number, id)) = work.last() {
            if self.left.copies.contains_key(&(number, id)) {
                work.pop();
                continue;
            }
            let from = &stores[number];
            let node = from.node_ref(id.index());
            let (op, mask) = (node.op(), node.mask());
            let mut operands = [[0; 32]; 3];
            let before = work.len();
            for (which, lanes) in operands.iter_mut().enumerate().take(op.arity()) {
                let own = node.operand(which);
                let is_same = matches!(own, Lanes::Affine { stride: 0, .. });
                for lane in mask.iter() {
                    match self.copy_of(stores, (number, own.term(lane, mask))) {
                        Ok(copy) if is_same => *lanes = [copy.raw(); 32],
                        Ok(copy) => lanes[lane] = copy.raw(),
                        Err(missing) if work.last() != Some(&missing) => work.push(missing),
                        Err(_) => {}
                    }
                    if is_same {
                        break;
                    }
                }
            }
            if work.len() > before {
                continue;
            }
            self.approximate_as(from);
            let site = from.site(TermId::lane(id, mask.first())).unwrap_or(InstId::FIRST);
            let operands: [&[u64; 32]; 3] = operands.each_ref();
            let results = self.push_shared(op, mask, &operands[..op.arity()], site);
            self.left.copies.insert((number, id), results);
            work.pop();
        }
        self.copy_of(stores, term).unwrap_or(term.1)
    }

    /// The nodes that a node's operands are lanes of, with what names stand for.
    fn nodes_below(stores: &[Store], (number, id): InNode, mut see: impl FnMut(InNode)) {
        let node = stores[number].node_ref(id.index());
        let mut last = None;
        for which in 0..node.op().arity() {
            let own = node.operand(which);
            let mask = node.mask();
            let ends = [mask.first(), mask.last()].map(|lane| own.term(lane, mask).kind());
            let is_one = match (own, ends) {
                (Lanes::Affine { .. }, [TermKind::Lane(first, _), TermKind::Lane(end, _)]) => first == end,
                _ => false,
            };
            for lane in mask.iter().take(if is_one { 1 } else { 32 }) {
                let (number, term) = Store::meant_by(stores, (number, own.term(lane, mask)));
                if let TermKind::Lane(below, _) = term.kind()
                    && last != Some((number, below))
                {
                    last = Some((number, below));
                    see((number, below));
                }
            }
        }
    }

    /// Which of some stores rest on a common node of earlier ones: for each, the first of those that it has one with,
    /// itself or through others.
    pub fn resting_on_common(stores: &[Store], of: &[usize]) -> Vec<usize> {
        fn root(first: &mut [usize], mut at: usize) -> usize {
            while first[at] != at {
                first[at] = first[first[at]];
                at = first[at];
            }
            at
        }
        let mut first: Vec<usize> = (0..of.len()).collect();
        // By store and node; a store that nothing rests on takes no room.
        let mut owners: Vec<Vec<Option<NonZeroU32>>> = vec![Vec::new(); stores.len()];
        for (at, number) in of.iter().enumerate() {
            let mut work: Vec<InNode> = Vec::new();
            for term in stores[*number].left.named.values() {
                if let (number, TermKind::Lane(node, _)) = (term.0, term.1.kind()) {
                    work.push((number, node));
                }
            }
            let own = u32::try_from(at + 1).ok().and_then(NonZeroU32::new);
            while let Some(node) = work.pop() {
                let owners = &mut owners[node.0];
                owners.resize(stores[node.0].len(), None);
                match std::mem::replace(&mut owners[node.1.index()], own) {
                    Some(other) => {
                        let other = other.get() as usize - 1;
                        let (one, other) = (root(&mut first, at), root(&mut first, other));
                        first[one.max(other)] = one.min(other);
                    }
                    None => Store::nodes_below(stores, node, |below| work.push(below)),
                }
            }
        }
        (0..of.len()).map(|at| root(&mut first, at)).collect()
    }

    /// The copy of a term, or the node that has to be copied before.
    fn copy_of(&mut self, stores: &[Store], term: InStore) -> Result<TermId, InNode> {
        let (number, term) = Store::meant_by(stores, term);
        match term.kind() {
            TermKind::Input { .. } => Ok(term),
            TermKind::Constant(id) => Ok(self.intern(stores[number].constant(id).clone())),
            TermKind::Lane(node, lane) => {
                let known = self.left.copies.get(&(number, node));
                known.map(|results| TermId::from_raw(results.lane(lane))).ok_or((number, node))
            }
        }
    }

    fn approximate_as(&mut self, from: &Store) {
        self.approximates = match (self.approximates, from.approximates) {
            (Some(own), Some(other)) => Some(own.or(other)),
            (own, other) => own.or(other),
        };
    }

    /// Copies `term` of the store `from` and returns the copy. Inputs are the same in all stores of a launch; terms
    /// already copied are in `known`, which belongs to this pair of stores.
    pub fn import(&mut self, from: &Store, term: TermId, known: &mut Imported) -> TermId {
        self.import_with(from, term, known, |_| None)
    }

    /// Copies terms of the store `from`, with names in place of some terms, and returns the copies. A node is copied as
    /// a whole, so that its lanes stay together.
    pub fn import_all(&mut self, from: &Store, roots: &[TermId], names: &Imported) -> Vec<TermId> {
        let mut named = vec![LaneMask::NONE; from.len()];
        for term in names.keys() {
            if let TermKind::Lane(node, lane) = term.kind() {
                named[node.index()].insert(lane);
            }
        }
        let reached = Reached::without(from, roots, &named);
        let mut constants: Vec<Option<TermId>> = vec![None; from.constant_count()];
        let mut copies: Vec<Option<Results>> = vec![None; from.len()];
        let mut next = reached.first_from(0);
        while let Some(at) = next {
            next = reached.first_from(at + 1);
            let (lanes, node) = (reached.lanes(at), from.node_ref(at));
            let op = node.op();
            let mut operands = [[0; Lane::COUNT]; 3];
            for (which, copied) in operands.iter_mut().enumerate().take(op.arity()) {
                let own = node.operand(which);
                let mut copy =
                    |term| self.copy_or_name(from, term, (names, &named), (&mut constants, &copies));
                match own {
                    Lanes::Affine { base, stride: 0 } => *copied = [copy(TermId::from_raw(base)).raw(); 32],
                    Lanes::Affine { .. }
                    | Lanes::Strides { .. }
                    | Lanes::List(_)
                    | Lanes::Repeated { .. } => {
                        each_term(own, lanes, node.mask(), |lane, term| copied[lane] = copy(term).raw());
                    }
                }
            }
            let id = NodeId::from_index(at);
            let site = from.site(TermId::lane(id, lanes.first())).unwrap_or(InstId::FIRST);
            let operands: [&[u64; Lane::COUNT]; 3] = operands.each_ref();
            copies[at] = Some(self.push_shared(op, lanes, &operands[..op.arity()], site));
        }
        let mut copy =
            |root: &TermId| self.copy_or_name(from, *root, (names, &named), (&mut constants, &copies));
        roots.iter().map(&mut copy).collect()
    }

    /// The name of a term, or its copy, which is made before those of the terms that are computed from it.
    fn copy_or_name(
        &mut self,
        from: &Store,
        term: TermId,
        (names, named): (&Imported, &[LaneMask]),
        (constants, copies): (&mut [Option<TermId>], &[Option<Results>]),
    ) -> TermId {
        match term.kind() {
            TermKind::Input { .. } => {
                self.keep_name(from, term);
                term
            }
            TermKind::Constant(id) => {
                *constants[id.index()].get_or_insert_with(|| self.intern(from.constant(id).clone()))
            }
            TermKind::Lane(node, lane) if named[node.index()].contains(lane) => names[&term],
            TermKind::Lane(node, lane) => {
                let copy = copies[node.index()].expect("operands of a node precede it");
                TermId::from_raw(copy.lane(lane))
            }
        }
    }

    /// Notes what an input stands for, if it is a name that another store has given.
    fn keep_name(&mut self, from: &Store, term: TermId) {
        if let Some(of) = from.left.named.get(&term) {
            self.left.named.insert(term, *of);
        }
    }

    /// Like [`Store::import`], with other terms in place of some: those that `instead` gives.
    pub fn import_with(
        &mut self,
        from: &Store,
        term: TermId,
        known: &mut Imported,
        instead: impl Fn(TermId) -> Option<TermId>,
    ) -> TermId {
        let mut work = vec![term];
        while let Some(&next) = work.last() {
            if known.contains_key(&next) {
                work.pop();
                continue;
            }
            if let Some(other) = instead(next) {
                known.insert(next, other);
                work.pop();
                continue;
            }
            let here = match from.view(next) {
                View::Input { .. } => {
                    self.keep_name(from, next);
                    next
                }
                View::Constant(constant) => self.intern(constant.clone()),
                View::Apply(op, operands) => {
                    let operands = &operands[..op.arity()];
                    let before = work.len();
                    work.extend(operands.iter().filter(|operand| !known.contains_key(operand)));
                    if work.len() > before {
                        continue;
                    }
                    let copied: Vec<TermId> = operands.iter().map(|operand| known[operand]).collect();
                    self.apply(op, &copied, from.site(next).unwrap_or(InstId::FIRST))
                }
            };
            known.insert(next, here);
            work.pop();
        }
        known[&term]
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Constant, InputId, TermOp};
    use super::*;
    use crate::base::lane::{Lane, LaneMask};
    use crate::number::{Extended, Rational};

    #[test]
    fn what_is_copied_is_the_same_expression() {
        let mut from = Store::new();
        let x = TermId::input(InputId(0), 3);
        let two = Extended::Finite(Rational::from_integer(2));
        let two = from.intern(Constant { exact: two, literal: None, rounded: None });
        let quotient = from.apply(TermOp::Div, &[x, two], InstId(7));
        let sum = from.apply(TermOp::Add, &[quotient, quotient], InstId(8));

        let (mut to, mut known) = (Store::new(), Imported::default());
        to.apply(TermOp::Neg, &[x], InstId(0));
        let copy = to.import(&from, sum, &mut known);
        let View::Apply(TermOp::Add, [left, right, _]) = to.view(copy) else { panic!("a sum") };
        assert_eq!(left, right);
        let View::Apply(TermOp::Div, [numerator, denominator, _]) = to.view(left) else {
            panic!("a quotient")
        };
        assert_eq!((numerator, to.site(left)), (x, Some(InstId(7))), "with the place of its obligation");
        assert!(matches!(to.view(denominator), View::Constant(_)));
        assert_eq!(to.import(&from, sum, &mut known), copy);
        assert_eq!(to.len(), 3);
    }

    #[test]
    fn all_terms_are_copied_as_nodes_with_names_in_place_of_some() {
        let row = |element| TermId::input(InputId(0), element);
        let name = TermId::input(InputId(1), 0);
        let all: [u64; 32] = std::array::from_fn(|lane| row(lane as u64).raw());
        let mut from = Store::new();
        let three = Extended::Finite(Rational::from_integer(3));
        let three = from.intern(Constant { exact: three, literal: None, rounded: None });
        let squares = from.push(TermOp::Mul, LaneMask::ALL, &[&all, &all], InstId(1));
        let square = |lane: u32| TermId::lane(squares, Lane::new(lane));
        let turned: [u64; 32] = std::array::from_fn(|lane| square(31 - lane as u32).raw());
        let quotients = from.push(TermOp::Div, LaneMask::ALL, &[&turned, &[three.raw(); 32]], InstId(2));
        let quotient = |lane: u32| TermId::lane(quotients, Lane::new(lane));
        let names: Imported = [(square(30), name)].into_iter().collect();
        let roots = [quotient(3), quotient(1), row(9), three, square(30), quotient(8)];

        let mut to = Store::new();
        to.apply(TermOp::Neg, &[row(0)], InstId(0));
        let copies = to.import_all(&from, &roots, &names);
        assert_eq!(to.len(), 3, "a node of squares, and one of quotients");
        assert_eq!([copies[2], copies[4]], [row(9), name]);
        let View::Constant(copied) = to.view(copies[3]) else { panic!("a number") };
        assert_eq!(copied.exact, Extended::Finite(Rational::from_integer(3)));
        let numerator = |at: usize| {
            let View::Apply(TermOp::Div, [numerator, divisor, _]) = to.view(copies[at]) else {
                panic!("a quotient")
            };
            assert_eq!((divisor, to.site(copies[at])), (copies[3], Some(InstId(2))));
            numerator
        };
        assert_eq!(numerator(1), name);
        for (at, of) in [(0, 28), (5, 23)] {
            let View::Apply(TermOp::Mul, [one, other, _]) = to.view(numerator(at)) else {
                panic!("a square")
            };
            assert_eq!([one, other], [row(of); 2]);
        }
        let last = to.mask(to.len() - 1);
        assert_eq!(last.iter().map(Lane::number).collect::<Vec<_>>(), [1, 3, 8], "those that are wanted");
    }

    #[test]
    fn what_names_stand_for_takes_their_place() {
        let row = |element| TermId::input(InputId(0), element);
        let name = |element| TermId::input(InputId(1), element);
        let all: [u64; 32] = std::array::from_fn(|lane| row(lane as u64).raw());
        let mut first = Store::new();
        let squares = first.push(TermOp::Mul, LaneMask::ALL, &[&all, &all], InstId(1));
        let square = |lane: u8| TermId::lane(squares, Lane::new(lane.into()));
        let mut stores = vec![first];
        for second in [3, 3, 5] {
            let mut store = Store::new();
            let of = (0, square(second));
            let own = store.name_left(&stores, name(second.into()), of);
            let sum = store.apply(TermOp::Add, &[own, row(0)], InstId(2));
            assert_eq!(sum.kind(), TermKind::Lane(NodeId::from_index(0), Lane::FIRST));
            stores.push(store);
        }
        assert_eq!(Store::meant_by(&stores, (1, name(3))), (0, square(3)));
        let mut whole = Store::new();
        let sum = |store: usize| (store, TermId::lane(NodeId::from_index(0), Lane::FIRST));
        let copies = [1, 2, 3].map(|store| whole.import_left(&stores, sum(store)));
        assert_eq!((copies[0], whole.len()), (copies[1], 3), "the squares, and two sums");
        let View::Apply(TermOp::Add, [left, right, _]) = whole.view(copies[2]) else { panic!("a sum") };
        assert_eq!(right, row(0));
        let View::Apply(TermOp::Mul, [one, other, _]) = whole.view(left) else { panic!("a square") };
        assert_eq!((one, other), (row(5), row(5)));
        assert!(!whole.has_names());
        // All rest on the node of squares.
        assert_eq!(Store::resting_on_common(&stores, &[1, 2, 3]), [0, 0, 0]);
    }
}
