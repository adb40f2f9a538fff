//! Congruence classes of terms: the same operations on the same operands, up to the order of operands that commute.
//! Rounding does not depend on that order, so hardware computes the same bits for terms of one class if it uses the
//! same formats and rounding modes, which terms do not record (rule V2).

use super::{Store, TermId, TermOp, View};
use rustc_hash::FxHashMap;

/// At most this many operations are classified; terms of others are in classes of their own.
const MAX_OPERATIONS: usize = 1 << 20;

/// The class of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Class(u32);

/// The content of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Made {
    /// An input or a constant, alone in its class.
    Leaf(TermId),
    /// An operation on operands of these classes; unused positions repeat the first operand.
    Apply(TermOp, [Class; 3]),
}

/// Congruence classes of terms of one store, computed on demand.
#[derive(Debug, Default)]
pub struct Congruence {
    classes: FxHashMap<TermId, Class>,
    made: FxHashMap<Made, Class>,
    /// The first term of each class.
    first: Vec<TermId>,
    stack: Vec<TermId>,
}

impl Congruence {
    /// Whether two terms are known to have the same value, computed in the same grouping.
    ///
    /// # Cost
    /// Visits each operation below the two once in the lifetime of this table.
    pub fn same(&mut self, store: &Store, a: TermId, b: TermId) -> bool {
        a == b || self.class(store, a).is_some_and(|class| self.class(store, b) == Some(class))
    }

    /// The first term that is known to have the same value, computed in the same grouping.
    pub fn representative(&mut self, store: &Store, term: TermId) -> TermId {
        self.class(store, term).map_or(term, |class| self.first[class.0 as usize])
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        let each = size_of::<(TermId, Class)>() + size_of::<(Made, Class)>();
        (self.classes.len() * each) as u64
    }

    fn class(&mut self, store: &Store, root: TermId) -> Option<Class> {
        self.stack.clear();
        self.stack.push(root);
        while let Some(term) = self.stack.last().copied() {
            if self.classes.contains_key(&term) {
                self.stack.pop();
                continue;
            }
            let made = match store.view(term) {
                View::Input { .. } | View::Constant(_) => Made::Leaf(term),
                View::Apply(op, operands) => {
                    let open = self.stack.len();
                    let classes = operands.map(|operand| match self.classes.get(&operand) {
                        Some(class) => *class,
                        None => {
                            self.stack.push(operand);
                            Class(0)
                        }
                    });
                    if self.stack.len() > open {
                        continue;
                    }
                    Made::Apply(op, ordered(op, classes))
                }
            };
            if self.classes.len() >= MAX_OPERATIONS {
                return None;
            }
            let next = Class(self.made.len() as u32);
            let class = *self.made.entry(made).or_insert(next);
            if class == next {
                self.first.push(term);
            }
            self.classes.insert(term, class);
            self.stack.pop();
        }
        self.classes.get(&root).copied()
    }
}

/// Puts operands that commute in order.
fn ordered(op: TermOp, [a, b, c]: [Class; 3]) -> [Class; 3] {
    if !op.info().commutes || a <= b {
        return [a, b, c];
    }
    // After two operands, the first is repeated.
    [b, a, if op.arity() == 2 { b } else { c }]
}

#[cfg(test)]
mod tests {
    use super::super::InputId;
    use super::*;
    use crate::base::index::InstId;

    fn x(element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    /// The results of a butterfly reduction over eight lanes.
    fn butterfly(store: &mut Store, op: TermOp, steps: &[usize]) -> Vec<TermId> {
        let mut lanes: Vec<TermId> = (0..8).map(x).collect();
        for step in steps {
            lanes =
                (0..8).map(|lane| store.apply(op, &[lanes[lane], lanes[lane ^ step]], InstId(0))).collect();
        }
        lanes
    }

    #[test]
    fn a_butterfly_leaves_the_same_in_all_lanes() {
        for op in [TermOp::Add, TermOp::Mul, TermOp::Max, TermOp::Min] {
            let (mut store, mut congruence) = (Store::new(), Congruence::default());
            let whole = butterfly(&mut store, op, &[4, 2, 1]);
            let short = butterfly(&mut store, op, &[4, 2]);
            let mut same = |a: TermId, b: TermId| congruence.same(&store, a, b);
            assert!(whole.iter().all(|lane| same(whole[0], *lane)));
            assert!(same(short[0], short[2]) && !same(short[0], short[1]) && !same(short[0], whole[0]));
        }
        let (mut store, mut congruence) = (Store::new(), Congruence::default());
        let lanes = butterfly(&mut store, TermOp::Sub, &[1]);
        assert!(!congruence.same(&store, lanes[0], lanes[1]));
    }

    #[test]
    fn groupings_operations_and_leaves_count() {
        let (mut store, mut congruence) = (Store::new(), Congruence::default());
        let mut add = |a, b| store.apply(TermOp::Add, &[a, b], InstId(0));
        let (left, right) = (add(x(0), x(1)), add(x(1), x(2)));
        let (left, right) = (add(left, x(2)), add(x(0), right));
        let fused = [[0, 1, 2], [1, 0, 2], [0, 2, 1]]
            .map(|[a, b, c]| store.apply(TermOp::Fma, &[x(a), x(b), x(c)], InstId(0)));
        let mut same = |a, b| congruence.same(&store, a, b);
        assert!(!same(left, right), "rounding tells them apart");
        assert!(same(fused[0], fused[1]) && !same(fused[0], fused[2]));
        assert!(same(x(3), x(3)) && !same(x(3), x(4)) && !same(left, x(0)));
    }
}
