//! Monomials as tries from atoms to exponents: equal monomials are one node, and what two have in common is found
//! along the paths on which they differ.

use rustc_hash::FxHashMap;

/// A monomial, by the position of its root.
pub(super) type Monomial = u32;

/// The monomial without factors.
pub(super) const ONE: Monomial = 0;

/// A node of a trie. The atoms below a branch agree in the bits above one bit, in which its two sides differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct MonomialNode {
    /// The atom of a leaf; the common bits of a branch.
    key: u32,
    /// The bit in which the sides differ; zero for a leaf.
    bit: u32,
    /// The side without that bit; the exponent of a leaf.
    left: u32,
    /// The side with that bit.
    right: u32,
}

/// The bits of a key above one bit.
pub(super) fn above(key: u32, bit: u32) -> u32 {
    key & !(bit | (bit - 1))
}

/// The highest bit in which two keys differ.
pub(super) fn first_difference(one: u32, other: u32) -> u32 {
    1 << (31 - (one ^ other).leading_zeros())
}

/// All monomials.
pub(super) struct Monomials {
    nodes: Vec<MonomialNode>,
    known: FxHashMap<MonomialNode, Monomial>,
    /// Nodes that were visited.
    pub steps: u64,
}

impl Monomials {
    pub(super) fn new() -> Monomials {
        let none = MonomialNode { key: 0, bit: 0, left: 0, right: 0 };
        Monomials { nodes: vec![none], known: FxHashMap::default(), steps: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn node(&mut self, node: MonomialNode) -> Monomial {
        let next = self.nodes.len() as Monomial;
        let id = *self.known.entry(node).or_insert(next);
        if id == next {
            self.nodes.push(node);
        }
        id
    }

    fn branch(&mut self, key: u32, bit: u32, left: Monomial, right: Monomial) -> Monomial {
        match (left, right) {
            (ONE, only) | (only, ONE) => only,
            (left, right) => self.node(MonomialNode { key, bit, left, right }),
        }
    }

    /// A power of an atom.
    pub(super) fn power(&mut self, atom: u32, exponent: u32) -> Monomial {
        if exponent == 0 {
            ONE
        } else {
            self.node(MonomialNode { key: atom, bit: 0, left: exponent, right: 0 })
        }
    }

    /// The first atom of a monomial.
    pub(super) fn first(&self, mut of: Monomial) -> Option<u32> {
        if of == ONE {
            return None;
        }
        while self.nodes[of as usize].bit != 0 {
            of = self.nodes[of as usize].left;
        }
        Some(self.nodes[of as usize].key)
    }

    /// Whether it is one, or an atom.
    pub(super) fn is_linear(&self, of: Monomial) -> bool {
        let node = self.nodes[of as usize];
        of == ONE || node.bit == 0 && node.left == 1
    }

    /// The product of two monomials; `None` if an exponent is too large.
    pub(super) fn product(&mut self, one: Monomial, other: Monomial) -> Option<Monomial> {
        if one == ONE || other == ONE {
            return Some(one.max(other));
        }
        self.steps += 1;
        let (a, b) = (self.nodes[one as usize], self.nodes[other as usize]);
        if a.bit < b.bit {
            return self.product(other, one);
        }
        if a.bit == b.bit && a.key == b.key {
            if a.bit == 0 {
                let exponent = a.left.checked_add(b.left)?;
                return Some(self.power(a.key, exponent));
            }
            let (left, right) = (self.product(a.left, b.left)?, self.product(a.right, b.right)?);
            return Some(self.branch(a.key, a.bit, left, right));
        }
        if b.bit < a.bit && above(b.key, a.bit) == a.key {
            return Some(if b.key & a.bit == 0 {
                let left = self.product(a.left, other)?;
                self.branch(a.key, a.bit, left, a.right)
            } else {
                let right = self.product(a.right, other)?;
                self.branch(a.key, a.bit, a.left, right)
            });
        }
        let bit = first_difference(a.key, b.key);
        let (left, right) = if a.key & bit == 0 { (one, other) } else { (other, one) };
        Some(self.branch(above(a.key, bit), bit, left, right))
    }

    /// The greatest common divisor of two monomials.
    pub(super) fn common(&mut self, one: Monomial, other: Monomial) -> Monomial {
        if one == ONE || other == ONE {
            return ONE;
        }
        if one == other {
            return one;
        }
        self.steps += 1;
        let (a, b) = (self.nodes[one as usize], self.nodes[other as usize]);
        if a.bit < b.bit {
            return self.common(other, one);
        }
        if a.bit == b.bit && a.key == b.key {
            if a.bit == 0 {
                return self.power(a.key, a.left.min(b.left));
            }
            let (left, right) = (self.common(a.left, b.left), self.common(a.right, b.right));
            return self.branch(a.key, a.bit, left, right);
        }
        if b.bit < a.bit && above(b.key, a.bit) == a.key {
            return self.common(if b.key & a.bit == 0 { a.left } else { a.right }, other);
        }
        ONE
    }

    /// A monomial without the factors of one that divides it; `None` if it does not.
    pub(super) fn quotient(&mut self, of: Monomial, by: Monomial) -> Option<Monomial> {
        if by == ONE {
            return Some(of);
        }
        if of == by {
            return Some(ONE);
        }
        if of == ONE {
            return None;
        }
        self.steps += 1;
        let (a, b) = (self.nodes[of as usize], self.nodes[by as usize]);
        if a.bit == b.bit && a.key == b.key {
            if a.bit == 0 {
                let exponent = a.left.checked_sub(b.left)?;
                return Some(self.power(a.key, exponent));
            }
            let (left, right) = (self.quotient(a.left, b.left)?, self.quotient(a.right, b.right)?);
            return Some(self.branch(a.key, a.bit, left, right));
        }
        if b.bit >= a.bit || above(b.key, a.bit) != a.key {
            return None;
        }
        Some(if b.key & a.bit == 0 {
            let left = self.quotient(a.left, by)?;
            self.branch(a.key, a.bit, left, a.right)
        } else {
            let right = self.quotient(a.right, by)?;
            self.branch(a.key, a.bit, a.left, right)
        })
    }

    /// The atoms of a monomial, with their exponents.
    #[cfg(test)]
    pub(super) fn factors(&self, of: Monomial) -> Vec<(u32, u32)> {
        let node = self.nodes[of as usize];
        match (of, node.bit) {
            (ONE, _) => Vec::new(),
            (_, 0) => vec![(node.key, node.left)],
            _ => [self.factors(node.left), self.factors(node.right)].concat(),
        }
    }
}
