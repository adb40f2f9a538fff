//! Decision diagrams: integers as functions of variables that have few values each.
//!
//! Reduced and ordered, with integers at the leaves (Bryant, "Graph-Based Algorithms for Boolean Function Manipulation",
//! 1986; Bahar et al., "Algebraic Decision Diagrams and Their Applications", 1993): two functions are the same exactly
//! if their diagrams are. Truth is 1 and 0.

use crate::base::index::number_of;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// The largest number of nodes of all diagrams of a table.
const MAX_NODES: usize = 1 << 17;

/// The largest number of results that a table remembers, for each of its nodes.
const KNOWN_A_NODE: usize = 4;

/// The largest number of variables: so deep are diagrams.
const MAX_VARIABLES: usize = 512;

/// A diagram, by its number in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Diagram(u32);

/// A variable, by its number in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DiagramVariable(u32);

/// Where a variable lies in the order of all: those with lower numbers are decided first.
pub type Rank = [u64; 3];

/// Operations on the values of one, two or three diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiagramOperation {
    /// `a + b`
    Add,
    /// `a − b`
    Sub,
    /// `a · b`
    Mul,
    /// `a − b·⌊a/b⌋`, for a positive `b`
    Mod,
    /// `⌊a/b⌋`, for a positive `b`
    Quotient,
    /// The bitwise AND of two numbers that are not negative
    BitAnd,
    /// `max(a, b)`
    Max,
    /// `min(a, b)`
    Min,
    /// `a < b`
    Less,
    /// `a = b`
    Equal,
    /// `b` where `a` is not 0, else `c`
    Select,
}

impl DiagramOperation {
    /// The operation on numbers; `None` where it has no result of this size.
    fn on(self, [a, b, c]: [i128; 3]) -> Option<i128> {
        Some(match self {
            DiagramOperation::Add => a.checked_add(b)?,
            DiagramOperation::Sub => a.checked_sub(b)?,
            DiagramOperation::Mul => a.checked_mul(b)?,
            DiagramOperation::Mod => a.checked_rem_euclid(Some(b).filter(|b| *b > 0)?)?,
            DiagramOperation::Quotient => a.checked_div_euclid(Some(b).filter(|b| *b > 0)?)?,
            DiagramOperation::BitAnd => (a >= 0 && b >= 0).then_some(a & b)?,
            DiagramOperation::Max => a.max(b),
            DiagramOperation::Min => a.min(b),
            DiagramOperation::Less => (a < b).into(),
            DiagramOperation::Equal => (a == b).into(),
            DiagramOperation::Select => {
                if a != 0 {
                    b
                } else {
                    c
                }
            }
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    Leaf(i128),
    /// One diagram for each value of a variable, which is above all variables in them.
    Branch(DiagramVariable, SmallVec<[Diagram; 2]>),
}

/// A variable's place in the order, and its values: these from the first up.
#[derive(Clone, Copy, Debug)]
struct Declared {
    rank: Rank,
    first: i128,
    count: u32,
}

/// All diagrams over the same variables.
#[derive(Clone, Debug)]
pub struct Diagrams {
    most_nodes: usize,
    nodes: Vec<Node>,
    numbers: FxHashMap<Node, Diagram>,
    variables: Vec<Declared>,
    known: FxHashMap<(DiagramOperation, [Diagram; 3]), Diagram>,
}

impl Default for Diagrams {
    fn default() -> Diagrams {
        Diagrams {
            most_nodes: MAX_NODES,
            nodes: Vec::new(),
            numbers: FxHashMap::default(),
            variables: Vec::new(),
            known: FxHashMap::default(),
        }
    }
}

impl Diagrams {
    /// A table that has at most so many nodes.
    #[must_use]
    pub fn of_at_most(self, nodes: usize) -> Diagrams {
        Diagrams { most_nodes: nodes.min(self.most_nodes), ..self }
    }

    /// Whether the table has [few nodes](Diagrams::of_at_most), and all of them.
    pub(super) fn is_full(&self) -> bool {
        let is_all =
            self.nodes.len() >= self.most_nodes || self.known.len() >= KNOWN_A_NODE * self.most_nodes;
        self.most_nodes < MAX_NODES && is_all
    }

    /// Memory in bytes.
    pub fn bytes(&self) -> u64 {
        (self.nodes.len() * 3 * size_of::<Node>() + self.known.capacity() * 24) as u64
    }

    /// A variable with the values from `first` on; `None` if there are too many.
    pub fn declare(&mut self, rank: Rank, first: i128, count: u32) -> Option<DiagramVariable> {
        if self.variables.len() >= MAX_VARIABLES {
            return None;
        }
        self.variables.push(Declared { rank, first, count });
        Some(DiagramVariable(number_of(self.variables.len() - 1)))
    }

    /// The variable at a rank, of which there is one at most.
    pub(super) fn declared(&self, rank: Rank) -> Option<DiagramVariable> {
        let at = self.variables.iter().position(|declared| declared.rank == rank)?;
        Some(DiagramVariable(number_of(at)))
    }

    /// The function that has these values for those of a variable.
    pub fn of_values(&mut self, variable: DiagramVariable, values: &[i128]) -> Option<Diagram> {
        let values: Option<SmallVec<[Diagram; 2]>> = values.iter().map(|value| self.number(*value)).collect();
        self.branch(variable, values?)
    }

    /// The condition that the first of two functions is less, equal or greater, where these are wanted.
    pub(super) fn ordered(&mut self, [a, b]: [Diagram; 2], wanted: [bool; 3]) -> Option<Diagram> {
        let is_less = self.apply(DiagramOperation::Less, [a, b, b])?;
        let is_equal = self.apply(DiagramOperation::Equal, [a, b, b])?;
        let [less, equal, greater] = wanted.map(|wanted| self.number(wanted.into()));
        let otherwise = self.apply(DiagramOperation::Select, [is_equal, equal?, greater?])?;
        self.apply(DiagramOperation::Select, [is_less, less?, otherwise])
    }

    /// The value of a variable.
    pub(super) fn variable(&mut self, variable: DiagramVariable) -> Option<Diagram> {
        let Declared { first, count, .. } = self.variables[variable.0 as usize];
        let values: Option<SmallVec<[Diagram; 2]>> =
            (0..count).map(|above| self.number(first + i128::from(above))).collect();
        self.branch(variable, values?)
    }

    /// A number.
    pub fn number(&mut self, value: i128) -> Option<Diagram> {
        self.numbered(Node::Leaf(value))
    }

    /// The number that a diagram is at all values of its variables.
    pub fn as_number(&self, diagram: Diagram) -> Option<i128> {
        match self.nodes[diagram.0 as usize] {
            Node::Leaf(value) => Some(value),
            Node::Branch(..) => None,
        }
    }

    fn branch(&mut self, variable: DiagramVariable, values: SmallVec<[Diagram; 2]>) -> Option<Diagram> {
        if values.iter().all(|value| *value == values[0]) {
            return values.first().copied();
        }
        self.numbered(Node::Branch(variable, values))
    }

    fn numbered(&mut self, node: Node) -> Option<Diagram> {
        if let Some(known) = self.numbers.get(&node) {
            return Some(*known);
        }
        if self.nodes.len() >= self.most_nodes {
            return None;
        }
        let diagram = Diagram(number_of(self.nodes.len()));
        self.nodes.push(node.clone());
        self.numbers.insert(node, diagram);
        Some(diagram)
    }

    /// An operation at each assignment; the operands after its last one are not read. `None` where it has no result, or
    /// where diagrams become too large.
    pub fn apply(&mut self, operation: DiagramOperation, mut operands: [Diagram; 3]) -> Option<Diagram> {
        match operation {
            DiagramOperation::Select => {
                if operands[1] == operands[2] {
                    return Some(operands[1]);
                }
                if let Some(holds) = self.as_number(operands[0]) {
                    return Some(operands[if holds != 0 { 1 } else { 2 }]);
                }
            }
            DiagramOperation::Add
            | DiagramOperation::Mul
            | DiagramOperation::BitAnd
            | DiagramOperation::Max
            | DiagramOperation::Min
            | DiagramOperation::Equal => {
                operands[..2].sort_unstable();
                operands[2] = operands[1];
            }
            DiagramOperation::Sub
            | DiagramOperation::Mod
            | DiagramOperation::Quotient
            | DiagramOperation::Less => {
                operands[2] = operands[1];
            }
        }
        if let Some(known) = self.known.get(&(operation, operands)) {
            return Some(*known);
        }
        let numbers = operands.map(|operand| self.as_number(operand));
        let result = match numbers {
            [Some(a), Some(b), Some(c)] => {
                let value = operation.on([a, b, c])?;
                self.number(value)?
            }
            [..] => {
                let variable = self.first_variable(&operands)?;
                let count = self.variables[variable.0 as usize].count as usize;
                let values: Option<SmallVec<[Diagram; 2]>> = (0..count)
                    .map(|at| {
                        let of_value = operands.map(|operand| self.at(operand, variable, at));
                        self.apply(operation, of_value)
                    })
                    .collect();
                self.branch(variable, values?)?
            }
        };
        if self.known.len() >= KNOWN_A_NODE * self.most_nodes {
            return None;
        }
        self.known.insert((operation, operands), result);
        Some(result)
    }

    /// The variable that is decided first in some diagrams.
    fn first_variable(&self, diagrams: &[Diagram]) -> Option<DiagramVariable> {
        let of = |diagram: &Diagram| match &self.nodes[diagram.0 as usize] {
            Node::Leaf(_) => None,
            Node::Branch(variable, _) => Some(*variable),
        };
        diagrams
            .iter()
            .filter_map(of)
            .min_by_key(|variable| (self.variables[variable.0 as usize].rank, variable.0))
    }

    /// A diagram where a variable, which no other precedes in it, has one of its values.
    fn at(&self, diagram: Diagram, variable: DiagramVariable, value: usize) -> Diagram {
        match &self.nodes[diagram.0 as usize] {
            Node::Branch(own, values) if *own == variable => values[value],
            Node::Branch(..) | Node::Leaf(_) => diagram,
        }
    }

    /// The conjunction of two conditions.
    pub fn and(&mut self, a: Diagram, b: Diagram) -> Option<Diagram> {
        let no = self.number(0)?;
        self.apply(DiagramOperation::Select, [a, b, no])
    }

    /// Where a condition does not hold.
    pub fn not(&mut self, a: Diagram) -> Option<Diagram> {
        let [no, yes] = [self.number(0)?, self.number(1)?];
        self.apply(DiagramOperation::Select, [a, no, yes])
    }

    /// Where two functions are equal.
    pub fn equal(&mut self, a: Diagram, b: Diagram) -> Option<Diagram> {
        self.apply(DiagramOperation::Equal, [a, b, b])
    }

    /// The values that a diagram has where a condition holds, ascending; `None` if there are more than `most`.
    pub fn values(&self, of: Diagram, given: Diagram, most: usize) -> Option<Vec<i128>> {
        let (mut seen, mut work, mut found) = (FxHashSet::default(), vec![(of, given)], BTreeSet::new());
        while let Some((of, given)) = work.pop() {
            if !seen.insert((of, given)) || self.as_number(given) == Some(0) {
                continue;
            }
            let Some(variable) = self.first_variable(&[of, given]) else {
                found.extend(self.as_number(of));
                if found.len() > most {
                    return None;
                }
                continue;
            };
            let count = self.variables[variable.0 as usize].count as usize;
            work.extend((0..count).map(|at| (self.at(of, variable, at), self.at(given, variable, at))));
        }
        Some(found.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COUNTS: [u32; 4] = [2, 3, 2, 2];

    /// Every assignment to the variables of the tests.
    fn assignments() -> Vec<Vec<i128>> {
        COUNTS.iter().fold(vec![Vec::new()], |all, count| {
            let longer = |own: &Vec<i128>, value: u32| own.iter().copied().chain([value.into()]).collect();
            all.iter().flat_map(|own| (0..*count).map(move |value| longer(own, value))).collect()
        })
    }

    fn value(diagrams: &Diagrams, diagram: Diagram, assignment: &[i128]) -> i128 {
        match &diagrams.nodes[diagram.0 as usize] {
            Node::Leaf(value) => *value,
            Node::Branch(variable, values) => {
                let at = assignment[variable.0 as usize] as usize;
                value(diagrams, values[at], assignment)
            }
        }
    }

    const OPERATIONS: [DiagramOperation; 11] = [
        DiagramOperation::Add,
        DiagramOperation::Sub,
        DiagramOperation::Mul,
        DiagramOperation::Mod,
        DiagramOperation::Quotient,
        DiagramOperation::BitAnd,
        DiagramOperation::Max,
        DiagramOperation::Min,
        DiagramOperation::Less,
        DiagramOperation::Equal,
        DiagramOperation::Select,
    ];

    proptest! {
        /// Operations agree with the same ones on numbers at every assignment, whatever the order of the variables; the
        /// same functions have one diagram, and the values of one under another are those that occur.
        #[test]
        fn operations_are_those_on_numbers(
            steps in prop::collection::vec((0..OPERATIONS.len(), any::<[prop::sample::Index; 3]>()), 1..12),
            ranks in Just([0_u64, 1, 2, 3]).prop_shuffle(),
        ) {
            let mut diagrams = Diagrams::default();
            let mut all: Vec<Diagram> = Vec::new();
            let mut numbers: Vec<Vec<i128>> = Vec::new();
            let assignments = assignments();
            for (at, count) in COUNTS.into_iter().enumerate() {
                let variable = diagrams.declare([ranks[at], 0, 0], 0, count).unwrap();
                all.push(diagrams.variable(variable).unwrap());
                numbers.push(assignments.iter().map(|assignment| assignment[at]).collect());
            }
            all.push(diagrams.number(3).unwrap());
            numbers.push(vec![3; assignments.len()]);
            for (operation, operands) in steps {
                let which = operands.map(|index| index.index(all.len()));
                let operands = which.map(|at| all[at]);
                let expected: Option<Vec<i128>> = (0..assignments.len())
                    .map(|row| OPERATIONS[operation].on(which.map(|at| numbers[at][row])))
                    .collect();
                let result = diagrams.apply(OPERATIONS[operation], operands);
                let Some(expected) = expected else { continue };
                let result = result.unwrap();
                for (assignment, expected) in assignments.iter().zip(&expected) {
                    prop_assert_eq!(value(&diagrams, result, assignment), *expected);
                }
                for (other, values) in all.iter().zip(&numbers) {
                    prop_assert_eq!(*other == result, *values == expected);
                    let mut found: Vec<i128> = (0..assignments.len())
                        .filter(|row| values[*row] != 0)
                        .map(|row| expected[row])
                        .collect();
                    found.sort_unstable();
                    found.dedup();
                    prop_assert_eq!(diagrams.values(result, *other, 1 << 10), Some(found));
                }
                all.push(result);
                numbers.push(expected);
            }
        }
    }
}
