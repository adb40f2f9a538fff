//! Polynomials as tries that keep common factors where they are common.
//!
//! The terms of a sum are found by the first atom of each. The edges of the trie carry what all terms below them have in
//! common: a number and a monomial. So a polynomial times a monomial is the same trie under another factor, if the
//! factors are ones that come behind the first atoms, as those of a recurrence do: all steps of `h = a·h + b` together
//! take about as many nodes as there are steps, times a logarithm. Terms with the same first atom are a polynomial of
//! their own.
//!
//! The form is unique: the first atom of a term does not depend on how a sum was made, nor does the greatest common
//! divisor of some terms. Equal polynomials have equal nodes, numbers and monomials.

use super::monomial::{Monomial, Monomials, ONE, above, first_difference};
use crate::number::Rational;
use rustc_hash::FxHashMap;

/// A sum whose terms have no common factor, by its node.
type Sum = u32;

/// The sum whose only term is the number one.
const UNIT: Sum = 0;

/// In place of the first atom of a number.
const NO_ATOM: u32 = u32::MAX;

/// The positions of two numbers.
const ZERO_NUMBER: u32 = 0;
const ONE_NUMBER: u32 = 1;

/// Sums within sums are read down to so many calls.
const MAX_DEPTH: u32 = 1 << 9;

/// A number times a monomial times a sum: a polynomial, or an edge of a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Polynomial {
    number: u32,
    monomial: Monomial,
    sum: Sum,
}

impl Polynomial {
    pub(super) const ZERO: Polynomial = Polynomial { number: ZERO_NUMBER, monomial: ONE, sum: UNIT };

    pub(super) fn is_zero(self) -> bool {
        self.number == ZERO_NUMBER
    }

    /// Whether it has one term.
    pub(super) fn is_one_term(self) -> bool {
        !self.is_zero() && self.sum == UNIT
    }

    /// Whether it is a number.
    pub(super) fn is_number(self) -> bool {
        self.sum == UNIT && self.monomial == ONE
    }

    /// Its factors alone.
    pub(super) fn without_sum(self) -> Polynomial {
        Polynomial { sum: UNIT, ..self }
    }

    /// Its sum alone.
    pub(super) fn without_factors(self) -> Polynomial {
        Polynomial { number: ONE_NUMBER, monomial: ONE, sum: self.sum }
    }
}

/// A node of a trie. The first atoms below a branch agree in the bits above one bit, in which its two sides differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct SumNode {
    /// The first atom of the terms of a leaf; the common bits of a branch.
    key: u32,
    /// The bit in which the sides differ; zero for a leaf.
    bit: u32,
    /// The side without that bit. The terms of a leaf are those of this polynomial.
    left: Polynomial,
    /// The side with that bit.
    right: Polynomial,
}

/// Facts about a node.
#[derive(Clone, Copy)]
struct NodeInfo {
    /// The first and the last of the first atoms.
    first: u32,
    last: u32,
    /// The number of terms.
    terms: u32,
    is_linear: bool,
}

/// Memory of a node, with its entry in the table and the facts.
pub(super) const NODE_BYTES: u64 = 128;

/// Polynomials, and the tables that make equal ones the same.
pub(super) struct Polynomials {
    pub monomials: Monomials,
    nodes: Vec<SumNode>,
    info: Vec<NodeInfo>,
    known: FxHashMap<SumNode, Sum>,
    numbers: Vec<Rational>,
    number_ids: FxHashMap<Rational, u32>,
    /// Steps and nodes that are left.
    steps: u64,
    most_nodes: u64,
    depth: u32,
}

impl Polynomials {
    pub(super) fn new(steps: u64, most_nodes: u64) -> Polynomials {
        let unit = SumNode { key: NO_ATOM, bit: 0, left: Polynomial::ZERO, right: Polynomial::ZERO };
        let mut all = Polynomials {
            monomials: Monomials::new(),
            nodes: vec![unit],
            info: vec![NodeInfo { first: NO_ATOM, last: NO_ATOM, terms: 1, is_linear: true }],
            known: FxHashMap::default(),
            numbers: Vec::new(),
            number_ids: FxHashMap::default(),
            steps,
            most_nodes,
            depth: 0,
        };
        all.number(Rational::ZERO);
        all.number(Rational::ONE);
        all
    }

    /// Steps that are left.
    pub(super) fn left(&self) -> u64 {
        self.steps.saturating_sub(self.monomials.steps)
    }

    /// Whether there is no room for more.
    pub(super) fn is_full(&self) -> bool {
        self.left() == 0 || self.nodes.len() as u64 + self.monomials.len() as u64 / 2 >= self.most_nodes
    }

    pub(super) fn pay(&mut self) -> Option<()> {
        self.steps = self.steps.checked_sub(1)?;
        if self.is_full() { None } else { Some(()) }
    }

    fn number(&mut self, number: Rational) -> u32 {
        if let Some(known) = self.number_ids.get(&number) {
            return *known;
        }
        let id = self.numbers.len() as u32;
        self.numbers.push(number.clone());
        self.number_ids.insert(number, id);
        id
    }

    fn number_product(&mut self, one: u32, other: u32) -> u32 {
        match (one, other) {
            (ONE_NUMBER, only) | (only, ONE_NUMBER) => only,
            _ => self.number(&self.numbers[one as usize] * &self.numbers[other as usize]),
        }
    }

    fn number_quotient(&mut self, of: u32, by: u32) -> Option<u32> {
        if of == by {
            return Some(ONE_NUMBER);
        }
        let quotient = self.numbers[of as usize].checked_div(&self.numbers[by as usize])?;
        Some(self.number(quotient))
    }

    fn number_sum(&mut self, one: u32, other: u32) -> u32 {
        self.number(&self.numbers[one as usize] + &self.numbers[other as usize])
    }

    /// A number as a polynomial.
    pub(super) fn constant(&mut self, number: Rational) -> Polynomial {
        Polynomial { number: self.number(number), ..Polynomial::ZERO }
    }

    /// An atom as a polynomial.
    pub(super) fn atom(&mut self, atom: u32) -> Polynomial {
        Polynomial { number: ONE_NUMBER, monomial: self.monomials.power(atom, 1), sum: UNIT }
    }

    /// The number of terms.
    pub(super) fn count(&self, of: Polynomial) -> u32 {
        if of.is_zero() { 0 } else { self.info[of.sum as usize].terms }
    }

    /// Whether no term is a product.
    pub(super) fn is_linear(&self, of: Polynomial) -> bool {
        if of.sum == UNIT {
            self.monomials.is_linear(of.monomial)
        } else {
            of.monomial == ONE && self.info[of.sum as usize].is_linear
        }
    }

    /// A polynomial times a number and a monomial.
    fn scaled(&mut self, of: Polynomial, number: u32, monomial: Monomial) -> Option<Polynomial> {
        if of.is_zero() || number == ZERO_NUMBER {
            return Some(Polynomial::ZERO);
        }
        let monomial = self.monomials.product(of.monomial, monomial)?;
        Some(Polynomial { number: self.number_product(of.number, number), monomial, sum: of.sum })
    }

    /// A polynomial times a number.
    pub(super) fn times_number(&mut self, of: Polynomial, number: Rational) -> Option<Polynomial> {
        let number = self.number(number);
        self.scaled(of, number, ONE)
    }

    /// The sum of one polynomial times each term of another.
    pub(super) fn product(&mut self, terms: Polynomial, other: Polynomial) -> Option<Polynomial> {
        let mut sum = Polynomial::ZERO;
        for term in self.terms(terms)? {
            let product = self.scaled(other, term.number, term.monomial)?;
            sum = self.sum(sum, product)?;
        }
        Some(sum)
    }

    /// The terms of a polynomial.
    pub(super) fn terms(&mut self, of: Polynomial) -> Option<Vec<Polynomial>> {
        let (mut found, mut work) = (Vec::new(), vec![of]);
        while let Some(next) = work.pop() {
            self.pay()?;
            if next.is_zero() {
                continue;
            }
            if next.sum == UNIT {
                found.push(next);
                continue;
            }
            let node = self.nodes[next.sum as usize];
            for side in [node.right, node.left] {
                work.push(self.scaled(side, next.number, next.monomial)?);
            }
        }
        Some(found)
    }

    /// The sum of two polynomials.
    pub(super) fn sum(&mut self, one: Polynomial, other: Polynomial) -> Option<Polynomial> {
        if one.is_zero() {
            return Some(other);
        }
        if other.is_zero() {
            return Some(one);
        }
        if (one.sum, one.monomial) == (other.sum, other.monomial) {
            let number = self.number_sum(one.number, other.number);
            return Some(if number == ZERO_NUMBER { Polynomial::ZERO } else { Polynomial { number, ..one } });
        }
        let common = self.monomials.common(one.monomial, other.monomial);
        let mut edges = [one, other];
        for edge in &mut edges {
            edge.monomial = self.monomials.quotient(edge.monomial, common)?;
            *edge = self.keyed(*edge)?;
        }
        let merged = self.merged(edges[0], edges[1])?;
        let sum = self.alone(merged)?;
        self.scaled(sum, ONE_NUMBER, common)
    }

    fn leaf(&mut self, key: u32, sum: Sum) -> Option<Sum> {
        let left = Polynomial { number: ONE_NUMBER, monomial: ONE, sum };
        self.node(SumNode { key, bit: 0, left, right: Polynomial::ZERO })
    }

    fn node(&mut self, node: SumNode) -> Option<Sum> {
        if let Some(known) = self.known.get(&node) {
            return Some(*known);
        }
        self.pay()?;
        let [left, right] = [node.left, node.right].map(|side| self.info[side.sum as usize]);
        let info = if node.bit == 0 {
            let is_linear = node.left.sum == UNIT;
            NodeInfo { first: node.key, last: node.key, terms: left.terms, is_linear }
        } else {
            let is_linear = [(node.left, left), (node.right, right)].iter().all(|(side, info)| {
                let is_leaf = self.nodes[side.sum as usize].bit == 0;
                let factor = side.monomial == ONE || is_leaf && self.monomials.is_linear(side.monomial);
                factor && info.is_linear
            });
            let terms = left.terms.saturating_add(right.terms);
            NodeInfo { first: left.first, last: right.last, terms, is_linear }
        };
        let id = self.nodes.len() as Sum;
        self.nodes.push(node);
        self.info.push(info);
        self.known.insert(node, id);
        Some(id)
    }

    /// The edge to two others, either of which may be zero.
    fn branch(&mut self, key: u32, bit: u32, left: Polynomial, right: Polynomial) -> Option<Polynomial> {
        if left.is_zero() {
            return Some(right);
        }
        if right.is_zero() {
            return Some(left);
        }
        let monomial = self.monomials.common(left.monomial, right.monomial);
        let number = left.number;
        let mut sides = [left, right];
        for side in &mut sides {
            side.monomial = self.monomials.quotient(side.monomial, monomial)?;
            side.number = self.number_quotient(side.number, number)?;
        }
        let sum = self.node(SumNode { key, bit, left: sides[0], right: sides[1] })?;
        Some(Polynomial { number, monomial, sum })
    }

    /// The sides of a branch, with the factors of the edge to it.
    fn sides(&mut self, edge: Polynomial) -> Option<[Polynomial; 2]> {
        let SumNode { left, right, .. } = self.nodes[edge.sum as usize];
        Some([
            self.scaled(left, edge.number, edge.monomial)?,
            self.scaled(right, edge.number, edge.monomial)?,
        ])
    }

    /// A polynomial other than zero as an edge: its terms are found by their first atoms, the monomial's included.
    fn keyed(&mut self, of: Polynomial) -> Option<Polynomial> {
        let first = self.monomials.first(of.monomial);
        if of.sum == UNIT {
            let sum = self.leaf(first.unwrap_or(NO_ATOM), UNIT)?;
            return Some(Polynomial { sum, ..of });
        }
        let Some(atom) = first else { return Some(of) };
        let info = self.info[of.sum as usize];
        if atom >= info.last {
            return Some(of);
        }
        if atom <= info.first {
            return Some(Polynomial { sum: self.leaf(atom, of.sum)?, ..of });
        }
        // Those that begin with later atoms begin with this one.
        let [kept, later] = self.split(of, atom)?;
        let later = self.alone_under(later, of.monomial)?;
        let moved = Polynomial { sum: self.leaf(atom, later.sum)?, ..later };
        self.merged(kept, moved)
    }

    /// The terms that were found under later atoms than the first of a monomial, which is a factor of all.
    fn alone_under(&mut self, edge: Polynomial, monomial: Monomial) -> Option<Polynomial> {
        let own = self.monomials.quotient(edge.monomial, monomial)?;
        let alone = self.alone(Polynomial { monomial: own, ..edge })?;
        self.scaled(alone, ONE_NUMBER, monomial)
    }

    /// The terms of an edge with first atoms up to one, and those behind it.
    fn split(&mut self, edge: Polynomial, atom: u32) -> Option<[Polynomial; 2]> {
        let info = self.info[edge.sum as usize];
        if info.last <= atom {
            return Some([edge, Polynomial::ZERO]);
        }
        if info.first > atom {
            return Some([Polynomial::ZERO, edge]);
        }
        self.pay()?;
        let SumNode { key, bit, left, .. } = self.nodes[edge.sum as usize];
        let [before, behind] = self.sides(edge)?;
        if self.info[left.sum as usize].last <= atom {
            let [some, others] = self.split(behind, atom)?;
            Some([self.branch(key, bit, before, some)?, others])
        } else {
            let [some, others] = self.split(before, atom)?;
            Some([some, self.branch(key, bit, others, behind)?])
        }
    }

    /// The polynomial of an edge, whose terms are found by their first atoms without what they have in common.
    fn alone(&mut self, edge: Polynomial) -> Option<Polynomial> {
        if edge.is_zero() {
            return Some(edge);
        }
        let node = self.nodes[edge.sum as usize];
        if node.bit == 0 {
            return Some(Polynomial { sum: node.left.sum, ..edge });
        }
        let info = self.info[edge.sum as usize];
        let Some(atom) = self.monomials.first(edge.monomial).filter(|atom| *atom <= info.last) else {
            return Some(edge);
        };
        // Some terms were found under an atom that all have in common.
        let [before, found] = self.split(edge.without_factors(), atom.checked_sub(1)?)?;
        let SumNode { bit: 0, left, .. } = self.nodes[found.sum as usize] else { return None };
        let moved = self.keyed(Polynomial { sum: left.sum, ..found })?;
        let merged = self.merged(before, moved)?;
        self.scaled(merged, edge.number, edge.monomial)
    }

    /// The terms of two edges.
    fn merged(&mut self, one: Polynomial, other: Polynomial) -> Option<Polynomial> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let merged = self.merged_below(one, other);
        self.depth -= 1;
        merged
    }

    fn merged_below(&mut self, one: Polynomial, other: Polynomial) -> Option<Polynomial> {
        if one.is_zero() {
            return Some(other);
        }
        if other.is_zero() {
            return Some(one);
        }
        self.pay()?;
        if (one.sum, one.monomial) == (other.sum, other.monomial) {
            let number = self.number_sum(one.number, other.number);
            return Some(if number == ZERO_NUMBER { Polynomial::ZERO } else { Polynomial { number, ..one } });
        }
        let (a, b) = (self.nodes[one.sum as usize], self.nodes[other.sum as usize]);
        if a.bit < b.bit {
            return self.merged_below(other, one);
        }
        if a.bit == b.bit && a.key == b.key {
            if a.bit == 0 {
                let (one, other) =
                    (Polynomial { sum: a.left.sum, ..one }, Polynomial { sum: b.left.sum, ..other });
                let sum = self.sum(one, other)?;
                return if sum.is_zero() {
                    Some(sum)
                } else {
                    Some(Polynomial { sum: self.leaf(a.key, sum.sum)?, ..sum })
                };
            }
            let ([left, right], [other_left, other_right]) = (self.sides(one)?, self.sides(other)?);
            let (left, right) = (self.merged(left, other_left)?, self.merged(right, other_right)?);
            return self.branch(a.key, a.bit, left, right);
        }
        if b.bit < a.bit && above(b.key, a.bit) == a.key {
            let [mut left, mut right] = self.sides(one)?;
            let side = if b.key & a.bit == 0 { &mut left } else { &mut right };
            *side = self.merged(*side, other)?;
            return self.branch(a.key, a.bit, left, right);
        }
        let bit = first_difference(a.key, b.key);
        let (left, right) = if a.key & bit == 0 { (one, other) } else { (other, one) };
        self.branch(above(a.key, bit), bit, left, right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// A polynomial by lists: exponents of the atoms, and coefficients.
    type Listed = BTreeMap<[u32; 4], i64>;

    fn listed_sum(one: &Listed, other: &Listed) -> Listed {
        let mut sum = one.clone();
        for (key, number) in other {
            *sum.entry(*key).or_default() += number;
        }
        sum.retain(|_, number| *number != 0);
        sum
    }

    fn listed_product(one: &Listed, other: &Listed) -> Listed {
        let mut product = Listed::new();
        for (a, left) in one {
            for (b, right) in other {
                let key = std::array::from_fn(|at| a[at] + b[at]);
                *product.entry(key).or_default() += left * right;
            }
        }
        product.retain(|_, number| *number != 0);
        product
    }

    fn listed(all: &mut Polynomials, of: Polynomial) -> Listed {
        let terms = all.terms(of).expect("steps");
        let mut list = Listed::new();
        for term in terms {
            let mut key = [0; 4];
            for (atom, exponent) in all.monomials.factors(term.monomial) {
                key[atom as usize] += exponent;
            }
            let number = all.numbers[term.number as usize].to_i64().expect("an integer");
            assert!(list.insert(key, number).is_none(), "a term twice");
        }
        list
    }

    #[test]
    fn equal_polynomials_are_the_same_and_others_are_not() {
        let mut random = 12345_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) as usize % below
        };
        for _ in 0..40 {
            let mut all = Polynomials::new(1 << 22, 1 << 22);
            let mut made: Vec<(Polynomial, Listed)> = (0..4)
                .map(|atom| {
                    let mut key = [0; 4];
                    key[atom] = 1;
                    (all.atom(atom as u32), Listed::from([(key, 1)]))
                })
                .collect();
            made.push((all.constant(Rational::ONE), Listed::from([([0; 4], 1)])));
            let mut known: FxHashMap<Listed, Polynomial> = FxHashMap::default();
            for _ in 0..300 {
                let (one, other) = (made[next(made.len())].clone(), made[next(made.len())].clone());
                let few = one.1.len() * other.1.len() <= 24;
                let degree = |list: &Listed| list.keys().map(|key| key.iter().sum::<u32>()).max();
                let (found, wanted) = match next(4) {
                    0 if few && degree(&one.1).max(degree(&other.1)) < Some(6) => {
                        (all.product(one.0, other.0).expect("steps"), listed_product(&one.1, &other.1))
                    }
                    1 => {
                        let minus = all.times_number(other.0, Rational::from_integer(-1)).expect("steps");
                        let opposite = other.1.iter().map(|(key, number)| (*key, -number)).collect();
                        (all.sum(one.0, minus).expect("steps"), listed_sum(&one.1, &opposite))
                    }
                    _ => (all.sum(one.0, other.0).expect("steps"), listed_sum(&one.1, &other.1)),
                };
                assert_eq!(listed(&mut all, found), wanted);
                assert_eq!(all.count(found) as usize, wanted.len());
                let linear = wanted.keys().all(|key| key.iter().sum::<u32>() <= 1);
                assert_eq!(all.is_linear(found), linear, "{wanted:?}");
                assert_eq!(*known.entry(wanted.clone()).or_insert(found), found, "{wanted:?}");
                if wanted.len() <= 12 && wanted.values().all(|number| number.abs() < 1 << 12) {
                    made.push((found, wanted));
                }
            }
            let mut values: Vec<Polynomial> = known.values().copied().collect();
            values.sort_unstable_by_key(|of| (of.sum, of.monomial, of.number));
            values.dedup();
            assert_eq!(values.len(), known.len());
        }
    }

    #[test]
    fn a_recurrence_takes_few_nodes() {
        // `h = a·h + b`, with other factors in each step, or the same.
        for shared in [false, true] {
            let nodes = |steps: u32| {
                let mut all = Polynomials::new(1 << 24, 1 << 24);
                let mut value = all.atom(0);
                for at in 1..steps {
                    let factor = all.atom(if shared { 1 } else { 2 * at });
                    let own = all.atom(2 * at + 1);
                    value = all.product(factor, value).expect("steps");
                    value = all.sum(value, own).expect("steps");
                }
                assert_eq!(all.count(value), steps);
                all.nodes.len()
            };
            let (short, long) = (nodes(256), nodes(1024));
            assert!(long < 6 * short && long < 1 << 15, "{short} nodes for 256 steps, {long} for 1024");
        }
    }
}
