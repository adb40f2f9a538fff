//! Networks of maxima and minima: one normal form for all that compute the same function.
//!
//! Over a few generators, a network of maxima and minima computes a maximum of minima: a set of sets of generators,
//! none of which contains another. That form is unique (the free distributive lattice), so two sorting networks
//! that sort alike have the same form, whatever their comparators are.

use super::Stop;
use super::extended_value::Class;
use super::id::TermRef;
use super::polynomial::{PolynomialId, Term, negated};
use super::prover::Prover;
use super::terms::Terms;
use super::worklist::if_known;
use crate::term::TermOp;
use rustc_hash::FxHashMap;

/// With fewer generators, a case split over all orders is as good.
const MIN_GENERATORS: usize = 4;
/// A set of generators is a bit mask.
const MAX_GENERATORS: usize = 16;
/// Maxima and minima must alternate this often along a path: clamps alternate less.
const MIN_TURNS: u32 = 2;
/// Nodes of a network, at most.
const MAX_NODES: usize = 1_024;
/// Sets of a form, at most.
const MAX_SETS: usize = 512;

/// A network of maxima and minima, operands before what uses them.
struct Network {
    nodes: Vec<(TermRef, TermOp, [TermRef; 2])>,
    generators: Vec<TermRef>,
}

impl Prover<'_> {
    /// The value of a network, if the term is one with some depth and few generators.
    pub(super) fn network(&mut self, root: TermRef) -> Result<Option<Vec<Term>>, Stop> {
        let Some(network) = network_below(&self.terms, root) else { return Ok(None) };
        self.charge(network.nodes.len() as u64)?;
        let before = self.work.mark();
        let mut values: Vec<PolynomialId> = Vec::new();
        let mut sets: FxHashMap<TermRef, Vec<u32>> = FxHashMap::default();
        for at in network.generators {
            match self.class(at)? {
                Class::Finite | Class::Known(_) => {}
                // The maximum of no sets, and the minimum of no generators.
                Class::NegInf => {
                    sets.insert(at, Vec::new());
                    continue;
                }
                Class::PosInf => {
                    sets.insert(at, vec![0]);
                    continue;
                }
                Class::Undefined(_) | Class::Unknown(_) => return Ok(None),
            }
            let Some(value) = if_known(self.resolve(at))? else { continue };
            let known = values.iter().position(|known| *known == value);
            let number = known.unwrap_or_else(|| {
                values.push(value);
                values.len() - 1
            });
            sets.insert(at, vec![1 << number]);
        }
        self.work.since(before)?;
        for (at, op, [a, b]) in network.nodes {
            let (Some(a), Some(b)) = (sets.get(&a), sets.get(&b)) else { return Ok(None) };
            self.charge((a.len() * b.len()) as u64)?;
            let all: Vec<u32> = if op == TermOp::Max {
                a.iter().chain(b).copied().collect()
            } else {
                a.iter().flat_map(|a| b.iter().map(move |b| a | b)).collect()
            };
            let least = without_larger(all);
            if least.len() > MAX_SETS {
                return Ok(None);
            }
            sets.insert(at, least);
        }
        // An infinity is not a sum.
        let Some(form) = sets.remove(&root).filter(|form| !form.is_empty() && form[0] != 0) else {
            return Ok(None);
        };
        let mut arms = Vec::with_capacity(form.len());
        for set in form {
            let members = (0..values.len()).filter(|number| set >> number & 1 == 1);
            let members =
                members.map(|number| negated(self.table.polynomials.terms(values[number]))).collect();
            arms.push(negated(&self.maximum(members)?));
        }
        self.maximum(arms).map(Some)
    }
}

/// The network whose last node is `root`.
fn network_below(terms: &Terms<'_>, root: TermRef) -> Option<Network> {
    let mut network = Network { nodes: Vec::new(), generators: Vec::new() };
    // How often maxima and minima alternate below a node; `None` for generators.
    let mut turns: FxHashMap<TermRef, Option<(TermOp, u32)>> = FxHashMap::default();
    let mut stack = vec![root];
    while let Some(&at) = stack.last() {
        if turns.contains_key(&at) {
            stack.pop();
            continue;
        }
        let Some((op, operands)) = terms.extremum(at) else {
            turns.insert(at, None);
            network.generators.push(at);
            stack.pop();
            if network.generators.len() > MAX_GENERATORS {
                return None;
            }
            continue;
        };
        let before = stack.len();
        stack.extend(operands.iter().filter(|operand| !turns.contains_key(operand)));
        if stack.len() > before {
            continue;
        }
        let below = operands.iter().filter_map(|operand| turns[operand]);
        let own = below.map(|(other, count)| count + u32::from(other != op)).max().unwrap_or(0);
        turns.insert(at, Some((op, own)));
        network.nodes.push((at, op, operands));
        stack.pop();
        if network.nodes.len() > MAX_NODES {
            return None;
        }
    }
    let deep = turns.get(&root).copied().flatten().is_some_and(|(_, turns)| turns >= MIN_TURNS);
    (deep && network.generators.len() >= MIN_GENERATORS).then_some(network)
}

/// The minimal sets, in order: the minimum of more generators is no larger.
fn without_larger(mut sets: Vec<u32>) -> Vec<u32> {
    sets.sort_unstable_by_key(|set| (set.count_ones(), *set));
    sets.dedup();
    let mut least: Vec<u32> = Vec::new();
    for set in sets {
        if !least.iter().any(|other| other & set == *other) {
            least.push(set);
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_sets_are_dropped() {
        assert_eq!(without_larger(vec![0b111, 0b10, 0b101, 0b110]), [0b10, 0b101]);
        assert_eq!(without_larger(vec![0b1, 0b1]), [0b1]);
        assert_eq!(without_larger(Vec::new()), Vec::<u32>::new());
    }
}
