//! Bitwise operations on words as sums: `a | b = a + b − (a & b)`, `a ^ b = a + b − 2·(a & b)`, `~a = (2^w − 1) − a`.
//!
//! A bitwise function of words is a sum of multiples of ANDs of words, and such a sum is one exactly if its multiples
//! add up to 0 or 1 for each set of words that have a bit set. The AND of two such sums distributes over them term by
//! term, and the AND of a set of words is one atom: so identities of unknown words hold by the normal form.

use super::atom::Atom;
use super::id::AtomId;
use super::polynomial::{Key, PolynomialId, Term, add, number, times_number};
use super::table::Table;
use crate::number::Rational;
use smallvec::SmallVec;

/// At most this many words in a sum: the multiples are added up for each subset of them.
const MAX_WORDS: usize = 6;
/// ANDs are looked into up to this depth.
const MAX_NESTING: u32 = 8;

/// The words of a sum, in order of discovery; sets of them are masks.
type Words = SmallVec<[AtomId; MAX_WORDS]>;

/// A bitwise function of words.
struct Bitwise {
    /// For each set of words that occurs, the multiple of their AND; the empty set stands for all ones.
    multiples: Vec<(u32, i64)>,
    /// The number of bits, if the all-ones word occurs.
    width: Option<u32>,
}

impl Bitwise {
    fn multiple(&mut self, set: u32, more: i64) {
        match self.multiples.iter_mut().find(|(known, _)| *known == set) {
            Some((_, multiple)) => *multiple += more,
            None => self.multiples.push((set, more)),
        }
    }

    /// Whether each bit is 0 or 1, whichever of the `words` words have it set.
    fn is_of_digits(&self, words: usize) -> bool {
        (0..1u32 << words).all(|ones| {
            let within = self.multiples.iter().filter(|(set, _)| set & !ones == 0);
            matches!(within.map(|(_, multiple)| multiple).sum(), 0i64 | 1)
        })
    }
}

impl Table {
    /// Reads a sum as a bitwise function of words; new words are appended to `words`.
    fn bitwise(&self, terms: &[Term], words: &mut Words) -> Option<Bitwise> {
        let mut found = Bitwise { multiples: Vec::new(), width: None };
        for term in terms {
            if term.key == Key::ONE {
                let ones = term.coefficient.to_i64().filter(|ones| *ones > 0 && ones & (ones + 1) == 0)?;
                found.width = Some(ones.trailing_ones());
                found.multiple(0, 1);
                continue;
            }
            let mut set = 0;
            self.words_in(self.single_atom(term)?, words, &mut set, 0)?;
            // Larger multiples cannot add up to a bit; the limit also keeps the sums far from overflow.
            let multiple =
                term.coefficient.to_i64().filter(|multiple| multiple.unsigned_abs() <= 1 << MAX_WORDS)?;
            found.multiple(set, multiple);
        }
        Some(found)
    }

    /// The atom that a term is a multiple of.
    fn single_atom(&self, term: &Term) -> Option<AtomId> {
        match *self.monomials.factors(term.monomial()) {
            [(atom, 1)] if term.exponent() == PolynomialId::ZERO => Some(atom),
            _ => None,
        }
    }

    /// Adds to a set the words whose AND an atom is.
    fn words_in(&self, atom: AtomId, words: &mut Words, set: &mut u32, depth: u32) -> Option<()> {
        if let Atom::BitAnd(p, q) = self.atom(atom) {
            for operand in [*p, *q] {
                let [single] = self.polynomials.terms(operand) else { return None };
                let inner = self
                    .single_atom(single)
                    .filter(|_| single.coefficient.is_one() && depth < MAX_NESTING)?;
                self.words_in(inner, words, set, depth + 1)?;
            }
            return Some(());
        }
        self.atom_bounds(atom).filter(|(low, _)| *low >= 0 && self.is_whole_atom(atom))?;
        let place = words.iter().position(|known| *known == atom).unwrap_or_else(|| {
            words.push(atom);
            words.len() - 1
        });
        if place >= MAX_WORDS {
            return None;
        }
        *set |= 1 << place;
        Some(())
    }

    /// Whether all words have at most `width` bits.
    fn fit(&self, words: &Words, width: Option<u32>) -> bool {
        width.is_none_or(|width| {
            let fits = |atom: &AtomId| self.atom_bounds(*atom).is_some_and(|(_, high)| high < 1 << width);
            words.iter().all(fits)
        })
    }

    /// The AND of two bitwise functions of words.
    pub(super) fn common_of_words(&mut self, a: &[Term], b: &[Term]) -> Option<Vec<Term>> {
        let mut words = Words::new();
        let (a, b) = (self.bitwise(a, &mut words)?, self.bitwise(b, &mut words)?);
        let width = match (a.width, b.width) {
            (Some(own), Some(other)) if own != other => return None,
            (own, other) => own.or(other),
        };
        if ![&a, &b].into_iter().all(|sum| sum.is_of_digits(words.len())) || !self.fit(&words, width) {
            return None;
        }
        let mut common = Bitwise { multiples: Vec::new(), width };
        for (set, multiple) in &a.multiples {
            for (other, by) in &b.multiples {
                common.multiple(set | other, multiple * by);
            }
        }
        let mut sum = Vec::new();
        for (set, multiple) in common.multiples {
            let digits = match set {
                0 => number(&Rational::power_of_two(width? as i32) - &Rational::ONE),
                _ => self.common_atom(&words, set),
            };
            sum = add(&sum, &times_number(&digits, &Rational::from_integer(multiple)));
        }
        Some(sum)
    }

    /// The AND of a set of words: one atom, whatever the order in which they were found.
    fn common_atom(&mut self, words: &Words, set: u32) -> Vec<Term> {
        let mut members: Vec<AtomId> =
            words.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, atom)| *atom).collect();
        members.sort_unstable_by_key(|atom| self.place(*atom));
        let mut all: Option<Vec<Term>> = None;
        for member in members {
            let own = vec![self.unit(member)];
            all = Some(match all {
                None => own,
                Some(before) => self.common_atom_of(&before, &own),
            });
        }
        all.unwrap_or_default()
    }

    /// The atom of the bitwise AND of two numbers.
    pub(super) fn common_atom_of(&mut self, a: &[Term], b: &[Term]) -> Vec<Term> {
        let (a, b) = (self.polynomial(a), self.polynomial(b));
        let place = |id| self.polynomials.place(id);
        let (a, b) = if place(a) <= place(b) { (a, b) } else { (b, a) };
        self.atom_term(Atom::BitAnd(a, b))
    }
}
