//! Gates that are equal at all values of the unknown bits, found by values at random points and proved one after the other.
//!
//! Two circuits that compute the same in steps that correspond are reduced to one another step by step, where a search for
//! a difference of their ends would start from nothing.

use super::points::Points;
use super::solve::Search;
use super::{Bit, Circuit, Gate};
use rustc_hash::FxHashMap;

/// At most so many gates with the same values are compared with another one.
const MAX_ALIKE: usize = 3;

/// Steps of the search for a difference of two gates.
const PAIR_STEPS: u64 = 3000;

/// A circuit without gates that are known to be equal to others.
#[derive(Debug)]
pub(super) struct Reduced {
    circuit: Circuit,
    /// What the gates of the first circuit have become.
    places: Vec<Bit>,
    alike: FxHashMap<Points, Vec<Bit>>,
    /// Facts that are not required yet, the last gates first.
    facts: Vec<Bit>,
}

impl Reduced {
    /// Begins to reduce a circuit where some bits, the facts, are set.
    pub(super) fn new(facts: &[Bit], search: &mut Search) -> Reduced {
        let mut own = Reduced {
            circuit: Circuit::default(),
            places: Vec::new(),
            alike: FxHashMap::default(),
            facts: facts.to_vec(),
        };
        own.facts.sort_unstable_by_key(|bit| std::cmp::Reverse(bit.gate()));
        own.circuit.simulate();
        own.alike.insert(own.circuit.points(Bit::NO), vec![Bit::NO]);
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
                    self.circuit.give(bit, from.points(Bit(2 * at as u32)));
                    self.circuit.simulate();
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

    /// A new gate, or an older one that is equal.
    fn merged(&mut self, bit: Bit, (a, b): (Bit, Bit), search: &mut Search) -> Bit {
        // A conjunction may be made by way of another one.
        for at in self.circuit.simulate()..self.circuit.gates.len() {
            search.add(&self.circuit, Bit(2 * at as u32));
        }
        let points = self.circuit.points(bit);
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
