//! What is computed of words digit by digit: `a | b = a + b − (a & b)`, `a ^ b = a + b − 2·(a & b)`, `~a = (2^w − 1) − a`.
//!
//! Such a number is a sum of multiples of common digits of words, and it is one exactly if the multiples add up to 0 or 1 for
//! each choice of the words that have the digit. Its common digits with another are then those of what is added up, term by
//! term, and common digits of the same words are one atom: identities of unknown words hold by what forms are.

use super::atom::Atom;
use super::id::AtomId;
use super::polynomial::{Key, PolynomialId, Term, add, number, times_number};
use super::table::Table;
use crate::number::Rational;
use smallvec::SmallVec;

/// Words of a sum: the multiples are added up for each set of them.
const MAX_WORDS: usize = 6;
/// Common digits are taken of up to so many words, nested.
const MAX_NESTING: u32 = 8;

/// The words of a sum, sorted by nothing; sets of them are masks.
type Words = SmallVec<[AtomId; MAX_WORDS]>;

/// A number made of words digit by digit.
struct Bitwise {
    /// Of each set of words that occurs, by how much their common digits are multiplied; of none, all ones.
    multiples: Vec<(u32, i64)>,
    /// How many digits there are, if some are ones whatever the words are.
    width: Option<u32>,
}

impl Bitwise {
    fn multiple(&mut self, set: u32, more: i64) {
        match self.multiples.iter_mut().find(|(known, _)| *known == set) {
            Some((_, multiple)) => *multiple += more,
            None => self.multiples.push((set, more)),
        }
    }

    /// Whether each digit is one, whichever of so many words have it.
    fn is_of_digits(&self, words: usize) -> bool {
        (0..1u32 << words).all(|ones| {
            let within = self.multiples.iter().filter(|(set, _)| set & !ones == 0);
            matches!(within.map(|(_, multiple)| multiple).sum(), 0i64 | 1)
        })
    }
}

impl Table {
    /// A sum as a number made of words, those known so far and more.
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
            // Far from overflow: more is no number of digits.
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

    /// Adds the words whose common digits an atom is to a set.
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

    /// Whether words have no more than so many digits.
    fn fit(&self, words: &Words, width: Option<u32>) -> bool {
        width.is_none_or(|width| {
            let fits = |atom: &AtomId| self.atom_bounds(*atom).is_some_and(|(_, high)| high < 1 << width);
            words.iter().all(fits)
        })
    }

    /// The common digits of two numbers made of words.
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

    /// The common digits of a set of words: one atom, whatever the order in which they were met.
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

    /// The atom of common digits of two numbers.
    pub(super) fn common_atom_of(&mut self, a: &[Term], b: &[Term]) -> Vec<Term> {
        let (a, b) = (self.polynomial(a), self.polynomial(b));
        let place = |id| self.polynomials.place(id);
        let (a, b) = if place(a) <= place(b) { (a, b) } else { (b, a) };
        self.atom_term(Atom::BitAnd(a, b))
    }
}
