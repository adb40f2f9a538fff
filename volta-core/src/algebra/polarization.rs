//! Products of long sums as squares: `s·t = ((s + t)² − s² − t²)/2`.
//!
//! Welford's running variance adds `(x − s/k)·(x − (s + x)/(k + 1))` for each new element `x`, and the merge of two
//! parts adds `(s/m − t/n)²`. Written as squares, most summands of one step cancel in the next one: a row of n
//! elements has about n terms in each intermediate sum, and not n². Products of named sums
//! ([`super::abbreviated_sums`]) of elements of one tensor are rewritten if the sums are disjoint or one contains
//! the other, and so are products of a name and an element. Where many elements are multiplied by one name, these
//! products are kept: together the elements are a sum, or nearly.

use super::Stop;
use super::abbreviated_sums::FEW;
use super::atom::Atom;
use super::id::AtomId;
use super::linear_sum::SHORT_LIST;
use super::memo::Made;
use super::monomial::MonomialId;
use super::packed::{NONE, inputs_of, pack_single};
use super::polynomial::{Key, Term, collect};
use super::prover::Prover;
use super::table::Table;
use crate::number::Rational;
use crate::term::{InputId, TermId};
use rustc_hash::FxHashMap;

/// A sum of elements of one tensor, another sum or element of it, and the cofactor of both.
#[derive(Clone, Copy)]
struct Pair {
    name: AtomId,
    other: AtomId,
    rest: Key,
}

impl Prover<'_> {
    /// Rewrites products of names as squares; `None` if there are none.
    pub(super) fn in_squares(&mut self, terms: &[Term]) -> Result<Option<Vec<Term>>, Stop> {
        let mut beside: FxHashMap<(Key, AtomId), usize> = FxHashMap::default();
        let mut pairs = Vec::new();
        for (at, term) in terms.iter().enumerate() {
            self.charge(1)?;
            let Some(pair) = self.pair(term) else { continue };
            if self.table.is_element(pair.other) {
                *beside.entry((pair.rest, pair.name)).or_default() += 1;
            }
            pairs.push((at, pair));
        }
        pairs.retain(|(_, pair)| {
            !self.table.is_element(pair.other)
                || beside.get(&(pair.rest, pair.name)).is_none_or(|count| *count <= FEW)
        });
        if pairs.is_empty() {
            return Ok(None);
        }
        let mut out = Vec::with_capacity(terms.len() + 2 * pairs.len());
        let mut next = 0;
        for (at, pair) in pairs {
            out.extend_from_slice(&terms[next..at]);
            next = at + 1;
            self.push_in_squares(pair, &terms[at], &mut out)?;
        }
        out.extend_from_slice(&terms[next..]);
        collect(&mut out);
        if out == terms {
            return Ok(None);
        }
        let mut spelled = Vec::with_capacity(out.len());
        for term in out {
            self.push_spelled(term, &mut spelled)?;
        }
        collect(&mut spelled);
        Ok(Some(spelled))
    }

    /// The two sums that a term is a product of, and their cofactor.
    fn pair(&mut self, term: &Term) -> Option<Pair> {
        if !self.table.monomials.contents(term.monomial()).named {
            return None;
        }
        let factors = self.table.monomials.shared_factors(term.monomial());
        let mut names: Vec<(AtomId, InputId)> = Vec::new();
        let mut elements = Vec::new();
        for (atom, _) in factors.iter().filter(|(_, power)| *power == 1) {
            if let Atom::Input(input, _) = self.table.atom(*atom) {
                elements.push((*atom, *input));
            } else {
                names.extend(self.tensor_of(*atom).map(|tensor| (*atom, tensor)));
            }
        }
        let (name, other) = match names.as_slice() {
            [(a, tensor), (b, other)] if tensor == other => (*a, *b),
            [(name, tensor)] => {
                let mut elements = elements.iter().filter(|(_, input)| input == tensor);
                match (elements.next(), elements.next()) {
                    (Some((element, _)), None) => (*name, *element),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some(Pair { name, other, rest: self.table.without(term.key, &[name, other]) })
    }

    /// The tensor of a name that is a sum of distinct elements of one tensor.
    fn tensor_of(&mut self, name: AtomId) -> Option<InputId> {
        if let Some(known) = self.sums.tensors.get(&name) {
            return *known;
        }
        let Atom::Products(keys) = self.table.atom(name) else { return None };
        let input = |key: &u128| inputs_of(*key).next().map(|(input, _)| input);
        let first = keys.first().and_then(input);
        let alone = |key: &u128| *key as u64 == NONE && input(key) == first;
        let is_one = keys.iter().all(alone) && keys.windows(2).all(|pair| pair[0] < pair[1]);
        let tensor = first.filter(|_| is_one);
        self.sums.tensors.insert(name, tensor);
        tensor
    }

    fn push_in_squares(&mut self, pair: Pair, term: &Term, out: &mut Vec<Term>) -> Result<(), Stop> {
        let (a, b) = (self.table.single(pair.name), self.table.single(pair.other));
        let half = &term.coefficient * &Rational::HALF;
        let squares = match self.made(pair)? {
            Made::Neither => {
                out.push(term.clone());
                return Ok(());
            }
            Made::Sum(sum) => [(sum, half.clone()), (a, -&half), (b, -half)],
            Made::Difference(difference) => [(a, half.clone()), (b, half.clone()), (difference, -half)],
        };
        for (base, coefficient) in squares {
            let square = Key::of(self.table.monomial_power(base, 2)?);
            out.push(Term { key: self.table.key_product(pair.rest, square)?, coefficient });
        }
        Ok(())
    }

    /// The sum or the difference of a pair, if it is a sum of elements.
    fn made(&mut self, pair: Pair) -> Result<Made, Stop> {
        if let Some(known) = self.sums.made.get(&(pair.name, pair.other)) {
            return Ok(*known);
        }
        let (mut a, mut b) = (self.table.elements(pair.name), self.table.elements(pair.other));
        if a.len() < b.len() {
            std::mem::swap(&mut a, &mut b);
        }
        self.charge((a.len() + b.len()) as u64 / 8)?;
        let shared = b.iter().filter(|key| a.binary_search(key).is_ok()).count();
        let made = if shared == 0 {
            a.extend_from_slice(&b);
            Made::Sum(self.sum_of_elements(a)?)
        } else if shared == b.len() && a.len() > b.len() {
            a.retain(|key| b.binary_search(key).is_err());
            Made::Difference(self.sum_of_elements(a)?)
        } else {
            Made::Neither
        };
        self.sums.made.insert((pair.name, pair.other), made);
        Ok(made)
    }

    fn sum_of_elements(&mut self, keys: Vec<u128>) -> Result<MonomialId, Stop> {
        match keys.as_slice() {
            [key] => self.table.unpacked(*key),
            _ => Ok(self.name(keys)),
        }
    }

    /// Expands the square of a short name: sums of half its length have no names.
    fn push_spelled(&mut self, term: Term, out: &mut Vec<Term>) -> Result<(), Stop> {
        let factors = self.table.monomials.shared_factors(term.monomial());
        let short = factors.iter().find_map(|(atom, power)| {
            let keys = self.table.atom(*atom).keys()?;
            (*power == 2 && keys.len() < 2 * SHORT_LIST).then(|| (*atom, keys.clone()))
        });
        let Some((name, keys)) = short else {
            out.push(term);
            return Ok(());
        };
        self.charge(keys.len() as u64 * keys.len() as u64 / 2)?;
        let rest = self.table.without(term.key, &[name]);
        let twice = &term.coefficient + &term.coefficient;
        let mut elements = Vec::with_capacity(keys.len());
        for key in keys.iter() {
            elements.push(Key::of(self.table.unpacked(*key)?));
        }
        // By position: a name may contain a term several times.
        for (at, first) in elements.iter().enumerate() {
            let outer = self.table.key_product(rest, *first)?;
            let own = self.table.key_product(outer, *first)?;
            out.push(Term { key: own, coefficient: term.coefficient.clone() });
            for second in &elements[at + 1..] {
                let key = self.table.key_product(outer, *second)?;
                out.push(Term { key, coefficient: twice.clone() });
            }
        }
        Ok(())
    }
}

impl Table {
    fn is_element(&self, atom: AtomId) -> bool {
        matches!(self.atom(atom), Atom::Input(..))
    }

    /// The elements whose sum an atom is, packed and sorted.
    fn elements(&self, atom: AtomId) -> Vec<u128> {
        if let Atom::Input(input, element) = self.atom(atom) {
            return vec![pack_single(TermId::input(*input, *element).raw())];
        }
        self.atom(atom).keys().map(|keys| keys.to_vec()).unwrap_or_default()
    }
}
