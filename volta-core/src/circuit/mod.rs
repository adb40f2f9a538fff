//! Circuits of conditions: gates over unknown bits, [integers](word) in two's complement, and whether some values of the
//! bits [fulfil](solve) a condition.
//!
//! What is computed is exact: words are as wide as their values need, so that nothing wraps around.

mod points;
mod reduce;
pub mod solve;
#[cfg(test)]
mod tests;
pub mod word;

use points::Simulation;
use rustc_hash::FxHashMap;
use word::Word;

/// At most so many conditions are taken together.
const MAX_CONDITIONS: usize = 64;

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

/// What gates are where some unknown bits are known.
struct Known {
    /// The first that may be another one.
    first: usize,
    gates: FxHashMap<usize, Bit>,
}

impl Known {
    fn new(bits: &[Bit]) -> Known {
        let first = bits.iter().map(|bit| bit.gate()).min().unwrap_or(usize::MAX);
        let gates = bits.iter().map(|bit| (bit.gate(), Bit::known(!bit.is_negated()))).collect();
        Known { first, gates }
    }
}

/// Gates, each of which reads those before it; equal ones are the same.
#[derive(Clone, Debug)]
pub struct Circuit {
    gates: Vec<Gate>,
    known: FxHashMap<(Bit, Bit), Bit>,
    /// Unknown integers from 0 on: their bits, and the largest number that they are.
    unknown: Vec<(Vec<Bit>, i128)>,
    simulation: Simulation,
    /// Whether gates are missing, because there would be too many.
    is_full: bool,
}

impl Default for Circuit {
    fn default() -> Circuit {
        Circuit {
            gates: vec![Gate::Never],
            known: FxHashMap::default(),
            unknown: Vec::new(),
            simulation: Simulation::default(),
            is_full: false,
        }
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

    /// Whether all are set, in an order that does not depend on how they are computed.
    pub fn all_in_order(&mut self, mut bits: Vec<Bit>) -> Bit {
        bits.sort_unstable();
        bits.dedup();
        self.sort(&mut bits, std::slice::from_ref);
        self.all(bits)
    }

    /// Whether all conditions are set; an integer that matters only then becomes what it is then. Unknown bits that the
    /// conditions tell are known in what else they are, and in the integer. At most so many gates are read.
    pub fn taken(&mut self, conditions: Vec<Bit>, value: &mut Word, left: &mut usize) -> Bit {
        let (mut told, rest) = self.told(conditions);
        let mut known = Known::new(&told);
        for bit in rest {
            told.push(self.under(bit, &mut known, left));
        }
        *value = Word::bitwise(value, &Word::number(0), |bit, _| self.under(bit, &mut known, left));
        self.all_in_order(told)
    }

    /// What an integer is where a condition is set.
    pub fn when(&mut self, condition: Bit, value: &Word, left: &mut usize) -> Word {
        let (told, _) = self.told(vec![condition]);
        let mut known = Known::new(&told);
        if told.is_empty() {
            return value.clone();
        }
        Word::bitwise(value, &Word::number(0), |bit, _| self.under(bit, &mut known, left))
    }

    /// The unknown bits that conditions tell, and what else the conditions are.
    fn told(&self, mut conditions: Vec<Bit>) -> (Vec<Bit>, Vec<Bit>) {
        let (mut told, mut rest) = (Vec::new(), Vec::new());
        while let Some(bit) = conditions.pop() {
            match self.gates[bit.gate()] {
                Gate::And(a, b) if !bit.is_negated() && conditions.len() < MAX_CONDITIONS => {
                    conditions.extend([a, b]);
                }
                Gate::Unknown => told.push(bit),
                Gate::Never | Gate::And(..) => rest.push(bit),
            }
        }
        (told, rest)
    }

    /// What a bit is where some gates are known; more become known.
    fn under(&mut self, bit: Bit, known: &mut Known, left: &mut usize) -> Bit {
        let Known { first, gates: known } = known;
        let own = |at: usize| Bit(2 * at as u32);
        let mut stack = vec![bit.gate()];
        while let Some(&at) = stack.last() {
            if known.contains_key(&at) {
                stack.pop();
                continue;
            }
            let Gate::And(a, b) = self.gates[at] else {
                known.insert(at, own(at));
                continue;
            };
            if at < *first || *left == 0 {
                known.insert(at, own(at));
                continue;
            }
            let found = [a, b].map(|bit| {
                let found = known.get(&bit.gate()).copied();
                found.map(|found| if bit.is_negated() { !found } else { found })
            });
            match found {
                [Some(a), Some(b)] => {
                    *left -= 1;
                    let found = self.and(a, b);
                    known.insert(at, found);
                }
                [a_found, b_found] => {
                    stack.extend(
                        [(a, a_found), (b, b_found)]
                            .iter()
                            .filter(|(_, found)| found.is_none())
                            .map(|(bit, _)| bit.gate()),
                    );
                }
            }
        }
        let found = known.get(&bit.gate()).copied().unwrap_or(own(bit.gate()));
        if bit.is_negated() { !found } else { found }
    }
}
