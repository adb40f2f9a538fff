//! Bounds of sums of products of indicators: `q − p·q` is 0 or 1, which its terms alone do not show.
//!
//! Products with an indicator in common are looked at together, at each assignment of 0 and 1; indicators of related
//! conditions are taken as independent, so that some assignments may belong to no input.

use super::id::AtomId;
use super::polynomial::{Key, PolynomialId, Term};
use super::table::Table;
use crate::number::Rational;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// At most this many indicators are looked at together.
const MAX_INDICATORS: usize = 8;

impl Table {
    /// The indicators of which a term is a multiple of the product.
    fn indicators(&self, key: Key) -> Option<SmallVec<[AtomId; 4]>> {
        let factors = self.monomials.factors(key.monomial());
        let are_indicators = factors.iter().all(|(atom, power)| *power == 1 && self.is_indicator(*atom));
        (key.exponent() == PolynomialId::ZERO && !factors.is_empty() && are_indicators)
            .then(|| factors.iter().map(|(atom, _)| *atom).collect())
    }

    /// Takes the products of few indicators out of a sum, with all terms that have one of these in common with them, and
    /// returns the bounds of what was taken.
    pub(super) fn take_indicator_products(&self, terms: &mut Vec<Term>) -> (Rational, Rational) {
        let mut bounds = (Rational::ZERO, Rational::ZERO);
        let is_product = |term: &Term| self.monomials.factors(term.monomial()).len() > 1;
        if terms.len() < 2
            || !terms.iter().any(|term| is_product(term) && self.indicators(term.key).is_some())
        {
            return bounds;
        }
        let of_terms: Vec<_> = terms.iter().map(|term| self.indicators(term.key)).collect();
        let (groups, group_of) = grouped(&of_terms);
        let mut of_groups: FxHashMap<AtomId, Vec<usize>> = FxHashMap::default();
        for (at, product) in of_terms.iter().enumerate() {
            let group = product.as_ref().and_then(|product| group_of.get(&product[0]));
            if let Some(group) = group.filter(|group| groups[*group].len() <= MAX_INDICATORS) {
                of_groups.entry(*group).or_default().push(at);
            }
        }
        let mut taken = vec![false; terms.len()];
        for (group, own) in of_groups {
            let atoms = &groups[&group];
            let masks: Vec<(u32, &Rational)> = own
                .iter()
                .map(|at| {
                    let product = of_terms[*at].iter().flatten();
                    let places = product.filter_map(|atom| atoms.iter().position(|other| other == atom));
                    (places.fold(0, |mask, place| mask | 1 << place), &terms[*at].coefficient)
                })
                .collect();
            let at_assignment = |ones: u32| {
                let of = masks.iter().filter(|(mask, _)| mask & ones == *mask);
                of.fold(Rational::ZERO, |sum, (_, coefficient)| &sum + *coefficient)
            };
            let (mut low, mut high) = (Rational::ZERO, Rational::ZERO);
            for value in (1..1_u32 << atoms.len()).map(at_assignment) {
                if value < low {
                    low = value;
                } else if value > high {
                    high = value;
                }
            }
            bounds = (&bounds.0 + &low, &bounds.1 + &high);
            own.into_iter().for_each(|at| taken[at] = true);
        }
        let mut at = 0;
        terms.retain(|_| {
            at += 1;
            !taken[at - 1]
        });
        bounds
    }

    /// The parts of a sum that have no indicator in common with one another; terms that are no products of indicators are
    /// parts of their own.
    pub(super) fn parts_of_count(&self, terms: &[Term]) -> Vec<Vec<Term>> {
        let of_terms: Vec<_> = terms.iter().map(|term| self.indicators(term.key)).collect();
        let (_, group_of) = grouped(&of_terms);
        let mut parts: Vec<Vec<Term>> = Vec::new();
        let mut places: FxHashMap<AtomId, usize> = FxHashMap::default();
        for (term, product) in terms.iter().zip(&of_terms) {
            let group = product.as_ref().and_then(|product| group_of.get(&product[0]));
            let place = group.map_or(parts.len(), |group| *places.entry(*group).or_insert(parts.len()));
            if place == parts.len() {
                parts.push(Vec::new());
            }
            parts[place].push(term.clone());
        }
        parts
    }
}

/// Groups of indicators by their first one, and the group of each.
type Groups = (FxHashMap<AtomId, Vec<AtomId>>, FxHashMap<AtomId, AtomId>);

/// Indicators that occur in one product, by the first of them, and the group of each.
fn grouped(of_terms: &[Option<SmallVec<[AtomId; 4]>>]) -> Groups {
    let mut groups: FxHashMap<AtomId, Vec<AtomId>> = FxHashMap::default();
    let mut group_of: FxHashMap<AtomId, AtomId> = FxHashMap::default();
    for product in of_terms.iter().flatten().filter(|product| product.len() > 1) {
        let mut all: Vec<AtomId> = Vec::new();
        for atom in product {
            let old = group_of.get(atom).and_then(|group| groups.remove(group));
            // Of a group that is already taken, nothing is left.
            let is_new = !group_of.contains_key(atom);
            all.extend(old.into_iter().flatten().chain(is_new.then_some(*atom)));
        }
        let Some(first) = all.first().copied() else { continue };
        for atom in &all {
            group_of.insert(*atom, first);
        }
        groups.insert(first, all);
    }
    (groups, group_of)
}
