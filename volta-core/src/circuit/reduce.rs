//! Gates that are equal at all values of the unknown bits, found by values at random points and proved one after the other.
//!
//! Two circuits that compute the same in steps that correspond are reduced to one another step by step, where a search for
//! a difference of their ends would start from nothing.

use super::solve::Search;
use super::{Bit, Circuit, Gate};
use rustc_hash::FxHashMap;

/// Words of 64 points each at which gates are compared.
const WORDS: usize = 8;

/// At most so many gates with the same values are compared with another one.
const MAX_ALIKE: usize = 3;

/// Steps of the search for a difference of two gates.
const PAIR_STEPS: u64 = 3000;

/// A gate's values at all points.
type Points = [u64; WORDS];

/// Numbers that look random, and are the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

/// A circuit without gates that are known to be equal to others.
#[derive(Debug)]
pub(super) struct Reduced {
    circuit: Circuit,
    /// What the gates of the first circuit have become.
    places: Vec<Bit>,
    points: Vec<Points>,
    alike: FxHashMap<Points, Vec<Bit>>,
    /// The values of unknown bits that are not reduced yet.
    given: FxHashMap<usize, Points>,
    /// Facts that are not required yet, the last gates first.
    facts: Vec<Bit>,
}

/// Values of unknown bits at all points: integers between their bounds, large and small.
fn points_of(circuit: &Circuit) -> FxHashMap<usize, Points> {
    let (mut random, mut found) = (Random(1), FxHashMap::<usize, Points>::default());
    for (bits, span) in &circuit.unknown {
        for point in 0..64 * WORDS {
            let number = u128::from(random.next()) << 64 | u128::from(random.next());
            let above = span.unsigned_abs().saturating_add(1);
            let value = match random.next() % 4 {
                0 => number % above.min(3),
                1 => above - 1 - number % above.min(3),
                _ => number % above,
            };
            for (at, bit) in bits.iter().enumerate() {
                let set = u64::from((value >> at & 1 == 1) != bit.is_negated());
                found.entry(bit.gate()).or_insert([0; WORDS])[point / 64] |= set << (point % 64);
            }
        }
    }
    for at in 0..circuit.gates.len() {
        if let Gate::Unknown = circuit.gates[at] {
            found.entry(at).or_insert_with(|| std::array::from_fn(|_| random.next()));
        }
    }
    found
}

impl Reduced {
    /// Begins to reduce a circuit where some bits, the facts, are set.
    pub(super) fn new(from: &Circuit, facts: &[Bit], search: &mut Search) -> Reduced {
        let mut own = Reduced {
            circuit: Circuit::default(),
            places: Vec::new(),
            points: vec![[0; WORDS]],
            alike: FxHashMap::default(),
            given: points_of(from),
            facts: facts.to_vec(),
        };
        own.facts.sort_unstable_by_key(|bit| std::cmp::Reverse(bit.gate()));
        own.alike.insert([0; WORDS], vec![Bit::NO]);
        search.add(&own.circuit, Bit::NO);
        own
    }

    /// Reduces the gates that are marked, as far as the steps go that the search has left. Whether all are.
    pub(super) fn go_on(&mut self, from: &Circuit, is_read: &[bool], search: &mut Search) -> bool {
        for at in self.places.len()..from.gates.len() {
            if is_read[at] && !search.take(1) {
                return false;
            }
            let place = match from.gates[at] {
                Gate::Unknown if is_read[at] => {
                    let bit = self.circuit.unknown();
                    self.points.push(self.given.remove(&at).unwrap_or_default());
                    search.add(&self.circuit, bit);
                    bit
                }
                Gate::And(a, b) if is_read[at] => {
                    let [a, b] = [a, b].map(|bit| self.place(bit));
                    let before = self.circuit.size();
                    let bit = self.circuit.and(a, b);
                    if self.circuit.size() == before { bit } else { self.merged(bit, (a, b), search) }
                }
                Gate::Never | Gate::Unknown | Gate::And(..) => Bit::NO,
            };
            self.places.push(place);
            while let Some(fact) = self.facts.pop_if(|fact| fact.gate() == at) {
                search.require(self.place(fact));
            }
        }
        true
    }

    /// Whether gates are missing.
    pub(super) fn is_full(&self) -> bool {
        self.circuit.is_full
    }

    /// What a bit has become.
    pub(super) fn place(&self, bit: Bit) -> Bit {
        let place = self.places[bit.gate()];
        if bit.is_negated() { !place } else { place }
    }

    /// The values of a bit at all points.
    fn points(&self, bit: Bit) -> Points {
        self.points[bit.gate()].map(|word| if bit.is_negated() { !word } else { word })
    }

    /// A new gate, or an older one that is equal.
    fn merged(&mut self, bit: Bit, (a, b): (Bit, Bit), search: &mut Search) -> Bit {
        // A conjunction may be made by way of another one.
        for at in self.points.len()..self.circuit.gates.len() {
            let Gate::And(a, b) = self.circuit.gates[at] else { continue };
            let (x, y) = (self.points(a), self.points(b));
            self.points.push(std::array::from_fn(|word| x[word] & y[word]));
            search.add(&self.circuit, Bit(2 * at as u32));
        }
        let points = self.points(bit);
        let is_flipped = points[0] & 1 == 1;
        let key = if is_flipped { points.map(|word| !word) } else { points };
        let own = if is_flipped { !bit } else { bit };
        let alike = self.alike.entry(key).or_default();
        let equal = alike.iter().copied().find(|other| search.proves_equal(own, *other, PAIR_STEPS));
        match equal {
            Some(other) => {
                let other = if is_flipped { !other } else { other };
                self.circuit.known.insert((a.min(b), a.max(b)), other);
                other
            }
            None => {
                if alike.len() < MAX_ALIKE {
                    alike.push(own);
                }
                bit
            }
        }
    }
}
