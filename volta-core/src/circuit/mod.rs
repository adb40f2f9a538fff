//! Circuits of conditions: gates over unknown bits, [integers](word) in two's complement, and whether some values of the
//! bits [fulfil](solve) a condition.
//!
//! What is computed is exact: words are as wide as their values need, so that nothing wraps around.

mod reduce;
pub mod solve;
#[cfg(test)]
mod tests;
pub mod word;

use rustc_hash::FxHashMap;

/// The largest number of gates.
const MAX_GATES: usize = 1 << 19;

/// A bit: the output of a gate, or its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bit(u32);

impl Bit {
    /// The bit that is never set.
    pub const NO: Bit = Bit(0);
    /// The bit that is always set.
    pub const YES: Bit = Bit(1);

    /// A known bit.
    pub fn known(is_set: bool) -> Bit {
        if is_set { Bit::YES } else { Bit::NO }
    }

    /// The number of its gate.
    fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::ops::Not for Bit {
    type Output = Bit;

    fn not(self) -> Bit {
        Bit(self.0 ^ 1)
    }
}

/// What a gate computes.
#[derive(Clone, Copy, Debug)]
enum Gate {
    /// Never set: gate 0.
    Never,
    /// An unknown bit.
    Unknown,
    /// Whether both are set.
    And(Bit, Bit),
}

/// Gates, each of which reads those before it; equal ones are the same.
#[derive(Clone, Debug)]
pub struct Circuit {
    gates: Vec<Gate>,
    known: FxHashMap<(Bit, Bit), Bit>,
    /// Unknown integers from 0 on: their bits, and the largest number that they are.
    unknown: Vec<(Vec<Bit>, i128)>,
    /// Whether gates are missing, because there would be too many.
    is_full: bool,
}

impl Default for Circuit {
    fn default() -> Circuit {
        Circuit { gates: vec![Gate::Never], known: FxHashMap::default(), unknown: Vec::new(), is_full: false }
    }
}

impl Circuit {
    /// The number of gates.
    pub fn size(&self) -> usize {
        self.gates.len()
    }

    /// Whether gates are missing: then nothing may be concluded.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// A bit of which nothing is known.
    pub fn unknown(&mut self) -> Bit {
        self.gate(Gate::Unknown)
    }

    fn gate(&mut self, gate: Gate) -> Bit {
        if self.gates.len() >= MAX_GATES {
            self.is_full = true;
            return Bit::NO;
        }
        self.gates.push(gate);
        Bit(2 * (self.gates.len() as u32 - 1))
    }

    /// Whether both are set.
    pub fn and(&mut self, a: Bit, b: Bit) -> Bit {
        let (a, b) = (a.min(b), a.max(b));
        if a == Bit::NO || a == !b {
            return Bit::NO;
        }
        if a == Bit::YES || a == b {
            return b;
        }
        if let Some(known) = self.known.get(&(a, b)) {
            return *known;
        }
        let found = self.absorbed(a, b).unwrap_or_else(|| self.gate(Gate::And(a, b)));
        self.known.insert((a, b), found);
        found
    }

    /// The conjunction of two bits, if the gate of one of them tells: `a ∧ (a ∧ c)`, `a ∧ (¬a ∧ c)`, `a ∧ ¬(a ∧ c)`.
    fn absorbed(&mut self, a: Bit, b: Bit) -> Option<Bit> {
        for (one, other) in [(a, b), (b, a)] {
            let Gate::And(x, y) = self.gates[other.gate()] else { continue };
            match other.is_negated() {
                false if one == x || one == y => return Some(other),
                false if one == !x || one == !y => return Some(Bit::NO),
                true if one == !x || one == !y => return Some(one),
                true if one == x => return Some(self.and(one, !y)),
                true if one == y => return Some(self.and(one, !x)),
                true | false => {}
            }
        }
        None
    }

    /// Whether one is set.
    pub fn or(&mut self, a: Bit, b: Bit) -> Bit {
        !self.and(!a, !b)
    }

    /// Whether one is set, and the other is not.
    pub fn xor(&mut self, a: Bit, b: Bit) -> Bit {
        let (first, second) = (self.and(a, !b), self.and(!a, b));
        self.or(first, second)
    }

    /// One of two bits.
    pub fn choose(&mut self, condition: Bit, then: Bit, otherwise: Bit) -> Bit {
        if then == otherwise {
            return then;
        }
        if then == !otherwise {
            return !self.xor(condition, then);
        }
        let (first, second) = (self.and(condition, then), self.and(!condition, otherwise));
        self.or(first, second)
    }

    /// Whether all are set.
    pub fn all(&mut self, bits: impl IntoIterator<Item = Bit>) -> Bit {
        bits.into_iter().fold(Bit::YES, |all, bit| self.and(all, bit))
    }
}
