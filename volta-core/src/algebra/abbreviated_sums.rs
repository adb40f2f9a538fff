//! Long sums under a name: with `s` the sum of n inputs, `(x₁ − s/n)²` has three terms and not n².
//!
//! A sum of inputs, or of products of two inputs, becomes an atom of its own, [`Atom::Products`] (its *name*),
//! unless the prover expands everything. So an exponent or a maximum of scores stays short, and so does the square
//! of a value from which a mean was subtracted. Names are chosen by content, not by the order of additions: names
//! with the same cofactor are joined; terms that share one coefficient get a name; if a few of them have another
//! coefficient, the whole sum is named and the differences stay as single terms. One relation between a name and
//! its terms is applied, `x₁·s = s² − (x₂ + …)·s` from left to right: it turns `(x₁ + … + xₙ)·s` into `s²`. All of
//! this is exact. What it leaves undecided is multiplied out by a prover that expands everything.

use super::Stop;
use super::atom::Atom;
use super::id::AtomId;
use super::linear_sum::{LinearSum, Products, SHORT_LIST, by_coefficient};
use super::memo::Joined;
use super::monomial::MonomialId;
use super::packed::{inputs_of, is_pair, pack, pack_single};
use super::polynomial::{Key, PolynomialId, Term, collect};
use super::prover::Prover;
use super::table::Table;
use super::tactic::Named;
use crate::number::Rational;
use crate::term::TermId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Up to this many terms of a sum may differ from a named one.
pub(super) const FEW: usize = 8;
/// Rewriting names whose terms contain each other can cycle: after this many rounds the form is left as it is.
const MAX_ROUNDS: u32 = 16;

/// A name as a monomial; its terms, the first of which also divides the product; and the product without that first
/// term, in which the name is still a factor.
struct Beside {
    name: MonomialId,
    keys: Rc<[u128]>,
    rest: Key,
}

/// The cofactor and coefficient beside a name, and whether the name is a sum of products of two.
type Group = (Key, Rational, bool);

impl Prover<'_> {
    /// All terms of a linear sum, collected.
    pub(super) fn spread(&mut self, flat: &LinearSum) -> Result<Vec<Term>, Stop> {
        let mut terms = flat.terms.clone();
        if !flat.products.is_empty() {
            for products in &flat.products {
                if self.tactic.named != Named::Nothing {
                    self.name_products(products, &mut terms)?;
                } else {
                    self.spread_products(products, &mut terms)?;
                }
            }
            collect(&mut terms);
        }
        Ok(terms)
    }

    fn name_products(&mut self, products: &Products, terms: &mut Vec<Term>) -> Result<(), Stop> {
        self.charge(1 + products.keys.len() as u64 / 8)?;
        let mut keys = products.keys.clone();
        let times = without_repetition(&mut keys);
        let name = self.name(keys);
        let key = self.table.key_product(products.scale.key, Key::of(name))?;
        terms.push(Term { key, coefficient: &products.scale.coefficient * &times });
        Ok(())
    }

    /// Spreads each term that contains named sums of power 1: the first such sum of a term is replaced by its terms.
    pub(super) fn without_named_products(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let mut out = Vec::with_capacity(terms.len());
        for term in terms {
            let factors = self.table.monomials.shared_factors(term.monomial());
            let named = factors.iter().find_map(|(atom, power)| {
                let keys = self.table.atom(*atom).keys().filter(|_| *power == 1)?;
                Some((*atom, keys.clone()))
            });
            let Some((named, keys)) = named else {
                out.push(term);
                continue;
            };
            let key = self.table.without(term.key, &[named]);
            let products =
                Products { scale: Term { coefficient: term.coefficient, key }, keys: keys.to_vec() };
            self.spread_products(&products, &mut out)?;
        }
        collect(&mut out);
        Ok(out)
    }

    pub(super) fn spread_products(&mut self, products: &Products, terms: &mut Vec<Term>) -> Result<(), Stop> {
        self.charge(products.keys.len() as u64)?;
        for key in &products.keys {
            let monomial = self.table.unpacked(*key)?;
            let key = self.table.key_product(products.scale.key, Key::of(monomial))?;
            terms.push(Term { key, coefficient: products.scale.coefficient.clone() });
        }
        Ok(())
    }

    /// Names the long parts of a sum, each part with one coefficient, if few other terms remain. Returns whether it
    /// did.
    fn name_terms(&mut self, terms: &mut Vec<Term>) -> Result<bool, Stop> {
        if terms.len() < SHORT_LIST {
            return Ok(false);
        }
        self.charge(terms.len() as u64 / 8)?;
        // A cheap test first: most sums have too few inputs and products of two.
        if terms.iter().filter(|term| self.table.packed(term).is_some()).take(SHORT_LIST).count() < SHORT_LIST
        {
            return Ok(false);
        }
        self.charge(terms.len() as u64)?;
        let keys: Vec<Option<u128>> = terms.iter().map(|term| self.table.packed(term)).collect();
        for pairs in [false, true] {
            let of_kind = |key: &Option<u128>| key.filter(|key| is_pair(*key) == pairs);
            let mut counts: FxHashMap<&Rational, usize> = FxHashMap::default();
            for (term, _) in terms.iter().zip(&keys).filter(|(_, key)| of_kind(key).is_some()) {
                *counts.entry(&term.coefficient).or_insert(0) += 1;
            }
            let all: usize = counts.values().sum();
            let mut usual: Vec<(&Rational, usize)> =
                counts.into_iter().filter(|(_, count)| *count >= SHORT_LIST).collect();
            usual.sort_unstable_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
            let named: usize = usual.iter().map(|(_, count)| count).sum();
            if usual.is_empty() || usual.len() > FEW || all - named > FEW {
                continue;
            }
            let usual: Vec<Rational> =
                usual.into_iter().map(|(coefficient, _)| coefficient.clone()).collect();
            let mut out = Vec::with_capacity(terms.len() - named + usual.len());
            let mut sums: Vec<Vec<u128>> = vec![Vec::new(); usual.len()];
            for (term, key) in terms.iter().zip(&keys) {
                let Some(key) = of_kind(key) else {
                    out.push(term.clone());
                    continue;
                };
                match usual.iter().position(|usual| *usual == term.coefficient) {
                    Some(at) => sums[at].push(key),
                    // With one usual coefficient, terms with another join its name, and the difference stays beside it.
                    None if usual.len() == 1 => {
                        sums[0].push(key);
                        out.push(Term { key: term.key, coefficient: &term.coefficient - &usual[0] });
                    }
                    None => out.push(term.clone()),
                }
            }
            for (coefficient, keys) in usual.into_iter().zip(sums) {
                let name = self.name(keys);
                out.push(Term { key: Key::of(name), coefficient });
            }
            collect(&mut out);
            *terms = out;
            return Ok(true);
        }
        Ok(false)
    }

    /// The monomial of a named sum.
    pub(super) fn name(&mut self, mut keys: Vec<u128>) -> MonomialId {
        keys.sort_unstable();
        let atom = self.table.intern(Atom::Products(keys.into()));
        self.sums.any = true;
        self.table.single(atom)
    }

    /// Names the long parts of a sum without opaque atoms, and normalizes its names.
    pub(super) fn fold(&mut self, mut terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        if self.tactic.named != Named::Sums {
            return Ok(terms);
        }
        let most = 2 * terms.len() + SHORT_LIST;
        for _ in 0..MAX_ROUNDS {
            if let Some(squares) = self.in_squares(&terms)? {
                terms = squares;
            }
            self.name_terms(&mut terms)?;
            self.part_names(&mut terms)?;
            if !terms.iter().any(|term| self.table.monomials.contents(term.monomial()).named) {
                break;
            }
            let joined = self.join_names(&mut terms)?;
            match self.multiply_names(&terms)? {
                // A form that grows came from a name beside only some of its terms: it is dropped.
                Some(multiplied) if multiplied.len() <= most => terms = multiplied,
                Some(_) => break,
                None if joined => {}
                None => break,
            }
        }
        Ok(terms)
    }

    /// Replaces named sums that stand alone and share terms by sums that share none, each with one coefficient.
    fn part_names(&mut self, terms: &mut Vec<Term>) -> Result<(), Stop> {
        let alone = |prover: &Self, term: &Term| match prover.table.monomials.factors(term.monomial()) {
            [(name, 1)] if term.exponent() == PolynomialId::ZERO => {
                Some((*name, prover.table.atom(*name).keys()?.clone()))
            }
            _ => None,
        };
        let names: Box<[AtomId]> = terms.iter().filter_map(|term| Some(alone(self, term)?.0)).collect();
        if names.len() < 2 || self.sums.apart.contains(&names) {
            return Ok(());
        }
        let list = |term: &Term| {
            let scale = Term { coefficient: term.coefficient.clone(), key: Key::ONE };
            Some(Products { scale, keys: alone(self, term)?.1.to_vec() })
        };
        let lists: Vec<Products> = terms.iter().filter_map(list).collect();
        let mut keys: Vec<u128> = lists.iter().flat_map(|list| &list.keys).copied().collect();
        self.charge(keys.len() as u64)?;
        keys.sort_unstable();
        if keys.windows(2).all(|pair| pair[0] != pair[1]) {
            self.sums.apart.insert(names);
            return Ok(());
        }
        terms.retain(|term| alone(self, term).is_none());
        for list in by_coefficient(Key::ONE, lists) {
            match list.keys.len() < SHORT_LIST {
                true => self.spread_products(&list, terms)?,
                false => self.name_products(&list, terms)?,
            }
        }
        collect(terms);
        Ok(())
    }

    /// Joins names with the same cofactor and coefficient, single terms included. Returns whether any were joined.
    fn join_names(&mut self, terms: &mut Vec<Term>) -> Result<bool, Stop> {
        let mut groups: FxHashMap<Group, Vec<AtomId>> = FxHashMap::default();
        let mut others = Vec::with_capacity(terms.len());
        for term in terms.iter() {
            self.charge(1)?;
            match self.table.one_name(term)? {
                Some((name, group)) => groups.entry(group).or_default().push(name),
                None => others.push(term.clone()),
            }
        }
        let beside: FxHashSet<Rational> = groups
            .keys()
            .filter(|(_, _, pairs)| !pairs)
            .map(|(_, coefficient, _)| coefficient.clone())
            .collect();
        let mut singles: FxHashMap<Group, Vec<u128>> = FxHashMap::default();
        let mut out = Vec::with_capacity(others.len());
        for term in others {
            let found = beside.contains(&term.coefficient);
            match if found { self.group_of_single(&term, &groups)? } else { None } {
                Some((group, key)) => singles.entry(group).or_default().push(key),
                None => out.push(term),
            }
        }
        if singles.is_empty() && groups.values().all(|names| names.len() == 1) {
            return Ok(false);
        }
        for (group, names) in groups {
            let (name, times) = match (names.as_slice(), singles.remove(&group)) {
                ([name], None) => (self.table.single(*name), Rational::ONE),
                (names, more) => self.joined(names, more.unwrap_or_default())?,
            };
            let key = self.table.key_product(group.0, Key::of(name))?;
            out.push(Term { key, coefficient: &group.1 * &times });
        }
        collect(&mut out);
        *terms = out;
        Ok(true)
    }

    /// The sum of named sums and more inputs: its name as a monomial, and the multiplicity that all its terms have.
    fn joined(&mut self, names: &[AtomId], more: Vec<u128>) -> Result<Joined, Stop> {
        if more.is_empty()
            && let Some(known) = self.sums.joined.get(names)
        {
            return Ok(known.clone());
        }
        let remembered = more.is_empty();
        let mut keys = more;
        for name in names {
            keys.extend(self.table.atom(*name).keys().into_iter().flat_map(|keys| keys.iter()));
        }
        self.charge(keys.len() as u64 / 8)?;
        let times = without_repetition(&mut keys);
        let joined = (self.name(keys), times);
        if remembered {
            self.sums.joined.insert(names.into(), joined.clone());
        }
        Ok(joined)
    }

    /// The group of names that a single term belongs to: it is an input that the names lack, times the group's
    /// cofactor.
    fn group_of_single(
        &mut self,
        term: &Term,
        groups: &FxHashMap<Group, Vec<AtomId>>,
    ) -> Result<Option<(Group, u128)>, Stop> {
        self.charge(1)?;
        let mut inputs: Vec<(AtomId, u128)> = Vec::new();
        for (atom, power) in self.table.monomials.factors(term.monomial()) {
            if let (Atom::Input(input, element), 1..) = (self.table.atom(*atom), *power) {
                inputs.push((*atom, pack_single(TermId::input(*input, *element).raw())));
            }
        }
        inputs.sort_unstable_by_key(|(_, key)| *key);
        for (atom, key) in inputs {
            let without = self.table.atom_power(atom, -1);
            let rest = self.table.times(term.monomial(), without)?;
            let group = (Key::new(rest, term.exponent()), term.coefficient.clone(), false);
            let has = |name: &AtomId| {
                self.table.atom(*name).keys().is_some_and(|keys| keys.binary_search(&key).is_ok())
            };
            if groups.get(&group).is_some_and(|names| !names.iter().any(has)) {
                return Ok(Some((group, key)));
            }
        }
        Ok(None)
    }

    /// Rewrites `x₁·s = s² − (x₂ + …)·s` wherever a name is multiplied by the first of its terms; `None` where none is.
    fn multiply_names(&mut self, terms: &[Term]) -> Result<Option<Vec<Term>>, Stop> {
        let mut out = Vec::with_capacity(terms.len());
        let mut changed = false;
        for term in terms.iter() {
            let Some(Beside { name, keys, rest }) = self.table.beside_its_first(term)? else {
                out.push(term.clone());
                continue;
            };
            changed = true;
            self.charge(keys.len() as u64)?;
            let scale = Term { coefficient: term.coefficient.clone(), key: rest };
            let square = self.table.key_product(rest, Key::of(name))?;
            out.push(Term { key: square, coefficient: scale.coefficient.clone() });
            for key in &keys[1..] {
                let other = self.table.unpacked(*key)?;
                let key = self.table.key_product(rest, Key::of(other))?;
                out.push(Term { key, coefficient: -&scale.coefficient });
            }
        }
        if changed {
            collect(&mut out);
        }
        Ok(changed.then_some(out))
    }
}

impl Table {
    /// The packed form of a term that is an input or a product of two, without its coefficient.
    pub(super) fn packed(&self, term: &Term) -> Option<u128> {
        if term.exponent() != PolynomialId::ZERO {
            return None;
        }
        let raw = |atom: AtomId| {
            if let Atom::Input(input, element) = self.atom(atom) {
                Some(TermId::input(*input, *element).raw())
            } else {
                None
            }
        };
        match self.monomials.factors(term.monomial()) {
            [(a, 1)] => Some(pack_single(raw(*a)?)),
            [(a, 2)] => Some(pack(raw(*a)?, raw(*a)?)),
            [(a, 1), (b, 1)] => Some(pack(raw(*a)?, raw(*b)?)),
            _ => None,
        }
    }

    /// The named sums among the factors of a monomial, with their powers.
    fn names(&self, monomial: MonomialId) -> Vec<(AtomId, i32, Rc<[u128]>)> {
        let factors = self.monomials.factors(monomial).iter();
        let name = |(atom, power): &(AtomId, i32)| Some((*atom, *power, self.atom(*atom).keys()?.clone()));
        factors.filter_map(name).collect()
    }

    /// The monomial of a packed product.
    pub(super) fn unpacked(&mut self, key: u128) -> Result<MonomialId, Stop> {
        let mut monomial = MonomialId::ONE;
        for (input, element) in inputs_of(key) {
            let atom = self.intern(Atom::Input(input, element));
            let single = self.single(atom);
            monomial = self.times(monomial, single)?;
        }
        Ok(monomial)
    }

    /// The only named sum of a term, if it has power 1, and the group of its cofactor.
    fn one_name(&mut self, term: &Term) -> Result<Option<(AtomId, Group)>, Stop> {
        if !self.monomials.contents(term.monomial()).named {
            return Ok(None);
        }
        let mut names = self.names(term.monomial()).into_iter();
        let (Some((atom, 1, keys)), None) = (names.next(), names.next()) else { return Ok(None) };
        let without = self.atom_power(atom, -1);
        let rest = self.times(term.monomial(), without)?;
        let pairs = keys.first().is_some_and(|key| is_pair(*key));
        Ok(Some((atom, (Key::new(rest, term.exponent()), term.coefficient.clone(), pairs))))
    }

    /// A name in a term that is also divisible by the first term of that name.
    fn beside_its_first(&mut self, term: &Term) -> Result<Option<Beside>, Stop> {
        if !self.monomials.contents(term.monomial()).named {
            return Ok(None);
        }
        let mut names = self.names(term.monomial());
        names.retain(|(_, power, _)| *power > 0);
        names.sort_unstable_by(|a, b| a.2.cmp(&b.2));
        for (atom, _, keys) in names {
            let Some(first) = keys.first() else { continue };
            let first = self.unpacked(*first)?;
            let inverse = self.monomial_power(first, -1)?;
            let divides = {
                let factors = self.monomials.factors(term.monomial());
                let power =
                    |atom: AtomId| factors.iter().find(|(known, _)| *known == atom).map(|(_, power)| *power);
                let needed = self.monomials.factors(first);
                needed.iter().all(|(atom, needed)| power(*atom).is_some_and(|power| power >= *needed))
            };
            if divides {
                let rest = self.times(term.monomial(), inverse)?;
                let rest = Key::new(rest, term.exponent());
                return Ok(Some(Beside { name: self.single(atom), keys, rest }));
            }
        }
        Ok(None)
    }
}

/// Sorts a list. If all entries have the same multiplicity, removes the repetitions and returns it; otherwise 1.
fn without_repetition(keys: &mut Vec<u128>) -> Rational {
    keys.sort_unstable();
    let mut counts = keys.chunk_by(|a, b| a == b).map(<[u128]>::len);
    let times = counts.next().unwrap_or(1);
    if times == 1 || counts.any(|count| count != times) {
        return Rational::ONE;
    }
    keys.dedup();
    Rational::from_integer(times as i64)
}
