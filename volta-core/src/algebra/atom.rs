//! Atoms: what monomials are products of, interned by content.
//!
//! Two atoms have one id exactly when their contents are the same, so comparing ids decides sameness. Ids are
//! numbered as atoms turn up and order nothing that anyone sees: [`Place`] orders, and it comes from content.

use super::condition::ConditionId;
use super::flat::inputs_of;
use super::monomial::{Contents, MonomialId, Monomials};
use super::polynomial::{PolynomialId, Polynomials, Term};
use super::readings::{Irrational, Literal};
use super::sign::Signs;
use crate::index_type;
use crate::number::Rational;
use crate::term::{InputId, TermId};
use rustc_hash::FxHashMap;
use std::rc::Rc;

index_type!(
    /// An interned atom.
    AtomId,
    "a"
);

/// A term of one of the stores that a prover reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermRef {
    /// The store's number within the prover.
    pub store: u32,
    /// The term.
    pub term: TermId,
}

/// A function of one real argument about which the algebra knows little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Function {
    /// `√a`
    Sqrt,
    /// `log₂ a`
    Log2,
    /// `sin a`
    Sin,
    /// `cos a`
    Cos,
    /// The largest integer not above `a`
    Floor,
    /// The smallest integer not below `a`
    Ceil,
    /// `a` rounded towards zero
    Trunc,
    /// `a` rounded to nearest, ties to even
    RoundEven,
}

/// A real number that the algebra does not take apart further.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Atom {
    /// An element of an input.
    Input(InputId, u64),
    /// An irrational constant, exactly.
    Irrational(Irrational),
    /// A literal that rule V9 may read as an irrational constant.
    Literal(Literal),
    /// A node not looked into yet. Never inside another atom, and gone from finished forms.
    Lazy(TermRef),
    /// A long sum of products of inputs, packed and sorted as in [`super::flat::Products`]: named where it is
    /// part of something larger, so that an exponent or a maximum of scores costs little.
    Products(Rc<[u128]>),
    /// A sum of two or more terms without a common factor, leading coefficient 1.
    Sum(PolynomialId),
    /// The largest of two or more.
    Max(Box<[PolynomialId]>),
    /// A function.
    Apply(Function, PolynomialId),
    /// The magnitude of the second with the sign of the first.
    CopySign(PolynomialId, PolynomialId),
    /// The first where the condition holds, else the second.
    Select(ConditionId, PolynomialId, PolynomialId),
}

/// Where something stands in an order that depends on content alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The first input element within: input number, element.
    pub lead: (u32, u64),
    /// Plain things first.
    pub rank: u8,
    /// A hash of the content, the same in every run.
    pub fingerprint: u128,
}

impl Place {
    /// The place of what contains no input.
    pub const CONSTANT: Place = Place { lead: (u32::MAX, u64::MAX), rank: 0, fingerprint: 0 };
}

/// Mixes a word into a hash.
pub(super) fn mix(state: u128, word: u128) -> u128 {
    let mut x = (state ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    x ^= x >> 67;
    x = x.wrapping_add(word.rotate_left(41)).wrapping_mul(0xd6e8_feb8_6659_fd93_2545_f491_4f6c_dd1d);
    x ^ (x >> 71)
}

/// A number's contribution to a hash.
pub(super) fn hash_number(value: &Rational) -> u128 {
    match value.to_small_parts() {
        Some((num, den)) => mix(num as u128, u128::from(den)),
        None => value.to_string().bytes().fold(7, |state, byte| mix(state, u128::from(byte))),
    }
}

/// What is remembered about an atom.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomInfo {
    pub(super) place: Place,
    pub(super) signs: Signs,
}

/// Everything interned: atoms, monomials, polynomials.
pub struct Table {
    atoms: Vec<Atom>,
    ids: FxHashMap<Atom, AtomId>,
    info: Vec<AtomInfo>,
    input_signs: Vec<Signs>,
    pub(super) monomials: Monomials,
    pub(super) polynomials: Polynomials,
}

impl Table {
    /// An empty table; `input_signs[i]` is what is assumed of the elements of input `i`.
    pub fn new(input_signs: Vec<Signs>) -> Table {
        Table {
            atoms: Vec::new(),
            ids: FxHashMap::default(),
            info: Vec::new(),
            input_signs,
            monomials: Monomials::new(),
            polynomials: Polynomials::new(),
        }
    }

    /// The atom that `id` names.
    pub fn atom(&self, id: AtomId) -> &Atom {
        &self.atoms[id.index()]
    }

    /// Where an atom stands in the order of content.
    pub fn place(&self, id: AtomId) -> Place {
        self.info[id.index()].place
    }

    /// The signs that an atom's value can have.
    pub fn atom_signs(&self, id: AtomId) -> Signs {
        self.info[id.index()].signs
    }

    /// The id of an atom.
    pub fn intern(&mut self, atom: Atom) -> AtomId {
        if let Some(id) = self.ids.get(&atom) {
            return *id;
        }
        let info = self.describe(&atom);
        let id = AtomId::from_index(self.atoms.len());
        self.atoms.push(atom.clone());
        self.info.push(info);
        self.ids.insert(atom, id);
        id
    }

    fn describe(&self, atom: &Atom) -> AtomInfo {
        let inner = |id: PolynomialId| self.polynomials.place(id);
        let build = |rank: u8, tag: u128, parts: &[PolynomialId]| {
            let mut place = Place { rank, fingerprint: mix(tag, u128::from(rank)), ..Place::CONSTANT };
            for part in parts {
                let part = inner(*part);
                place.lead = place.lead.min(part.lead);
                place.fingerprint = mix(place.fingerprint, part.fingerprint);
            }
            place
        };
        match atom {
            Atom::Input(input, element) => AtomInfo {
                place: Place {
                    lead: (input.0, *element),
                    rank: 0,
                    fingerprint: mix(u128::from(input.0) + 1, u128::from(*element)),
                },
                signs: self.input_signs.get(input.index()).copied().unwrap_or(Signs::ANY),
            },
            Atom::Irrational(which) => AtomInfo {
                place: Place { rank: 1, fingerprint: mix(1, *which as u128), ..Place::CONSTANT },
                signs: Signs::POSITIVE,
            },
            Atom::Literal(literal) => AtomInfo {
                place: Place { rank: 2, fingerprint: mix(2, *literal as u128), ..Place::CONSTANT },
                signs: Signs::POSITIVE,
            },
            Atom::Products(keys) => {
                let mut place = Place { rank: 3, fingerprint: mix(8, 8), ..Place::CONSTANT };
                let mut signs = Signs::ZERO;
                for key in keys.iter() {
                    place.fingerprint = mix(place.fingerprint, *key);
                    let mut own = Signs::POSITIVE;
                    for (input, element) in inputs_of(*key) {
                        place.lead = place.lead.min((input.0, element));
                        own = own.times(self.input_signs.get(input.index()).copied().unwrap_or(Signs::ANY));
                    }
                    signs = signs.plus(own);
                }
                AtomInfo { place, signs }
            }
            Atom::Lazy(term) => AtomInfo {
                place: Place {
                    rank: 9,
                    fingerprint: mix(u128::from(term.store) + 3, u128::from(term.term.raw())),
                    ..Place::CONSTANT
                },
                signs: Signs::ANY,
            },
            Atom::Sum(sum) => {
                AtomInfo { place: build(3, 3, &[*sum]), signs: self.signs_of(self.polynomials.terms(*sum)) }
            }
            Atom::Max(arms) => {
                // The order of arms within the atom is by id; the hash must not depend on it.
                let mut place = Place { rank: 4, ..Place::CONSTANT };
                let mut signs = Signs::NEGATIVE;
                for arm in arms {
                    let part = inner(*arm);
                    place.lead = place.lead.min(part.lead);
                    place.fingerprint = place.fingerprint.wrapping_add(mix(4, part.fingerprint));
                    signs = signs.max(self.signs_of(self.polynomials.terms(*arm)));
                }
                AtomInfo { place, signs }
            }
            Atom::Apply(function, argument) => {
                let signs = match function {
                    Function::Sqrt => self.signs_of(self.polynomials.terms(*argument)).sqrt(),
                    Function::Log2
                    | Function::Sin
                    | Function::Cos
                    | Function::Floor
                    | Function::Ceil
                    | Function::Trunc
                    | Function::RoundEven => Signs::ANY,
                };
                AtomInfo { place: build(5, 100 + *function as u128, &[*argument]), signs }
            }
            Atom::CopySign(a, b) => AtomInfo { place: build(6, 6, &[*a, *b]), signs: Signs::ANY },
            Atom::Select(condition, a, b) => {
                let mut place = build(7, 7, &[*a, *b]);
                place.fingerprint = mix(place.fingerprint, condition.fingerprint());
                let signs = self.signs_of(self.polynomials.terms(*a));
                AtomInfo { place, signs: signs | self.signs_of(self.polynomials.terms(*b)) }
            }
        }
    }

    /// Interns factors sorted by atom, powers nonzero.
    pub(super) fn intern_factors(&mut self, factors: &[(AtomId, i32)]) -> MonomialId {
        let (atoms, info) = (&self.atoms, &self.info);
        self.monomials.intern(factors, |atom, power| {
            let content = &atoms[atom.index()];
            let compound = match content {
                Atom::Sum(_) => true,
                Atom::Apply(Function::Sqrt, _) => power != 1,
                Atom::Input(..)
                | Atom::Products(_)
                | Atom::Irrational(_)
                | Atom::Literal(_)
                | Atom::Lazy(_)
                | Atom::Max(_)
                | Atom::Apply(..)
                | Atom::CopySign(..)
                | Atom::Select(..) => false,
            };
            let contents = Contents {
                lazy: matches!(content, Atom::Lazy(_)),
                literal: matches!(content, Atom::Literal(_)),
                compound,
            };
            (info[atom.index()].place, contents)
        })
    }

    /// The signs that a monomial's value can have.
    pub(super) fn monomial_signs(&self, id: MonomialId) -> Signs {
        let mut signs = Signs::POSITIVE;
        for (atom, power) in self.monomials.factors(id) {
            let base = self.atom_signs(*atom);
            signs = signs.times(if power % 2 == 0 { base.times_itself() } else { base });
        }
        signs
    }

    /// The signs that a sum's value can have, term by term.
    pub(super) fn signs_of(&self, terms: &[Term]) -> Signs {
        let mut signs = Signs::ZERO;
        for term in terms {
            let own = self.monomial_signs(term.monomial()).times(Signs::of(&term.coefficient));
            signs = signs.plus(own);
            if signs == Signs::ANY {
                break;
            }
        }
        signs
    }
}
