//! The values of gates at points that look random: gates that compute the same have the same values.

use super::{Bit, Circuit, Gate};
use rustc_hash::FxHashMap;

/// Words of 64 points each.
const WORDS: usize = 8;

/// A gate's values at all points.
pub(super) type Points = [u64; WORDS];

/// The values of the gates of a circuit, as far as they have been computed.
#[derive(Clone, Debug, Default)]
pub(super) struct Simulation {
    points: Vec<Points>,
    /// The values of unknown bits that are not among them yet.
    given: FxHashMap<usize, Points>,
    /// How many of the unknown integers have values.
    integers: usize,
    random: Random,
}

/// Numbers that look random, and are the same in each run.
#[derive(Clone, Debug, Default)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number from 0 to one above it, often one near the ends.
    fn up_to(&mut self, span: i128) -> u128 {
        let number = u128::from(self.next()) << 64 | u128::from(self.next());
        let above = span.unsigned_abs().saturating_add(1);
        match self.next() % 4 {
            0 => number % above.min(3),
            1 => above - 1 - number % above.min(3),
            _ => number % above,
        }
    }
}

impl Circuit {
    /// Values of an unknown bit.
    pub(super) fn give(&mut self, bit: Bit, points: Points) {
        self.simulation.given.insert(bit.gate(), points);
    }

    /// Computes the values of all gates. Returns for how many they were known.
    pub(super) fn simulate(&mut self) -> usize {
        let Simulation { points, given, integers, random } = &mut self.simulation;
        for (bits, span) in &self.unknown[*integers..] {
            for point in 0..64 * WORDS {
                let value = random.up_to(*span);
                for (at, bit) in bits.iter().enumerate() {
                    let set = u64::from((value >> at & 1 == 1) != bit.is_negated());
                    given.entry(bit.gate()).or_default()[point / 64] |= set << (point % 64);
                }
            }
        }
        *integers = self.unknown.len();
        let before = points.len();
        for (at, gate) in self.gates.iter().enumerate().skip(before) {
            let values = match *gate {
                Gate::Never => Points::default(),
                Gate::Unknown => given.remove(&at).unwrap_or_else(|| std::array::from_fn(|_| random.next())),
                Gate::And(a, b) => {
                    let [x, y] = [a, b].map(|bit| of(points, bit));
                    std::array::from_fn(|word| x[word] & y[word])
                }
            };
            points.push(values);
        }
        before
    }

    /// The values of a bit, once those of its gate have been computed.
    pub(super) fn points(&self, bit: Bit) -> Points {
        of(&self.simulation.points, bit)
    }

    /// Puts what bits belong to in an order that depends, as far as points tell, on what the bits compute and not on how.
    pub fn sort<T>(&mut self, all: &mut [T], bits: impl Fn(&T) -> &[Bit]) {
        self.simulate();
        all.sort_by_cached_key(|one| {
            let points: Vec<Points> = bits(one).iter().map(|bit| self.points(*bit)).collect();
            (points, bits(one).to_vec())
        });
    }

    /// Whether two bits, whose gates have been sorted, seem to be equal.
    pub fn seem_equal(&self, a: Bit, b: Bit) -> bool {
        self.points(a) == self.points(b)
    }
}

/// The values of a bit.
fn of(points: &[Points], bit: Bit) -> Points {
    points[bit.gate()].map(|word| if bit.is_negated() { !word } else { word })
}
