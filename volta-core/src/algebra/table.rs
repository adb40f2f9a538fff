//! The interner: atoms, monomials, polynomials and conditions, each stored once, with facts that hold for all
//! inputs of their types. It is independent of terms, cases and budgets.

use super::atom::Atom;
use super::condition::{Condition, ConditionId, Conditions};
use super::id::{AtomId, ContentOrder, mix};
use super::monomial::{Contents, MonomialId, Monomials};
use super::packed::inputs_of;
use super::polynomial::{PolynomialId, Polynomials, Term};
use crate::number::Rational;
use crate::number::signs::Signs;
use crate::term::{FunctionInfo, InputId, Integers, Store, TermOp};
use rustc_hash::FxHashMap;

/// Facts about the elements of an input.
#[derive(Clone, Debug)]
pub struct InputRange {
    /// Their signs.
    pub signs: Signs,
    /// Upper bound of their magnitudes; `None` if unknown.
    pub largest: Option<Rational>,
}

impl From<Signs> for InputRange {
    fn from(signs: Signs) -> InputRange {
        InputRange { signs, largest: None }
    }
}

/// Bounds of an integer.
pub(super) type Bounds = Option<(i128, i128)>;

/// Facts about an atom.
#[derive(Clone, Copy, Debug)]
pub(super) struct AtomInfo {
    pub(super) place: ContentOrder,
    pub(super) signs: Signs,
    /// Whether it is an integer at every input.
    pub(super) whole: bool,
    /// Bounds, if it is an integer.
    pub(super) bounds: Bounds,
}

/// Everything interned.
pub struct Table {
    atoms: Vec<Atom>,
    ids: FxHashMap<Atom, AtomId>,
    info: Vec<AtomInfo>,
    inputs: Vec<InputRange>,
    /// For each input, the range of its elements if they are integers.
    integers: Vec<Option<Integers>>,
    pub(super) monomials: Monomials,
    pub(super) polynomials: Polynomials,
    pub(super) conditions: Conditions,
    /// Bytes of lists within atoms.
    content: u64,
    /// Whether some choice is between integers.
    counts: bool,
}

impl Table {
    /// An empty table; `inputs[i]` describes the elements of input `i`.
    pub fn new(inputs: Vec<InputRange>) -> Table {
        Table {
            atoms: Vec::new(),
            ids: FxHashMap::default(),
            info: Vec::new(),
            inputs,
            integers: Vec::new(),
            monomials: Monomials::new(),
            polynomials: Polynomials::new(),
            conditions: Conditions::default(),
            content: 0,
            counts: false,
        }
    }

    /// Bytes of the interned content.
    pub(super) fn bytes(&self) -> u64 {
        let each = 2 * size_of::<Atom>() + size_of::<AtomInfo>() + size_of::<AtomId>() + 32;
        let parts = self.monomials.bytes() + self.polynomials.bytes() + self.conditions.bytes();
        (self.atoms.len() * each) as u64 + self.content + parts
    }

    /// The atom of an id.
    pub fn atom(&self, id: AtomId) -> &Atom {
        &self.atoms[id.index()]
    }

    /// The place of an atom in the order of content.
    pub fn place(&self, id: AtomId) -> ContentOrder {
        self.info[id.index()].place
    }

    /// The signs that an atom's value can have.
    pub fn atom_signs(&self, id: AtomId) -> Signs {
        self.info[id.index()].signs
    }

    /// Whether an atom is an integer at every input.
    pub(super) fn is_whole_atom(&self, id: AtomId) -> bool {
        self.info[id.index()].whole
    }

    /// Bounds of an atom that is an integer.
    pub(super) fn atom_bounds(&self, id: AtomId) -> Bounds {
        self.info[id.index()].bounds
    }

    /// Whether an atom is 0 or 1 at every input.
    pub(super) fn is_indicator(&self, id: AtomId) -> bool {
        self.atom_bounds(id) == Some((0, 1))
    }

    /// Whether the elements of an input are 0 or 1.
    pub(super) fn holds_bits(&self, input: InputId) -> bool {
        let of = self.integers.get(input.index()).copied().flatten();
        of.is_some_and(|of| (of.least, of.greatest) == (0, 1))
    }

    /// Takes from a store which inputs hold integers: before the first atom is interned; all stores agree on them.
    pub(super) fn learn_integers(&mut self, store: &Store) {
        if self.integers.is_empty() {
            self.integers = store.all_integers().to_vec();
        }
    }

    /// Whether an atom is an integer, and its bounds.
    fn whole_of(&self, atom: &Atom) -> (bool, Bounds) {
        let terms = |id: &PolynomialId| self.polynomials.terms(*id);
        let inner = |id: &PolynomialId| {
            let (low, high) = self.bounds_of(terms(id))?;
            Some((low.floor().to_i128()?, high.ceil().to_i128()?))
        };
        match atom {
            Atom::Input(input, _) => match self.integers.get(input.index()).copied().flatten() {
                Some(of) => (true, Some((of.least, of.greatest))),
                None => (false, None),
            },
            Atom::Products(keys) => {
                let whole = |input: InputId| self.integers.get(input.index()).copied().flatten().is_some();
                (keys.iter().all(|key| inputs_of(*key).all(|(input, _)| whole(input))), None)
            }
            Atom::Sum(sum) => (self.is_whole(terms(sum)), inner(sum)),
            Atom::Max(arms) => {
                let whole = arms.iter().all(|arm| self.is_whole(terms(arm)));
                let bounds = arms.iter().map(inner).reduce(|a, b| {
                    let ((a_low, a_high), (b_low, b_high)) = (a?, b?);
                    Some((a_low.max(b_low), a_high.max(b_high)))
                });
                (whole, bounds.flatten())
            }
            Atom::Apply(TermOp::Floor, argument) => {
                let bounds = self.bounds_of(terms(argument));
                (true, bounds.and_then(|(low, high)| Some((low.floor().to_i128()?, high.floor().to_i128()?))))
            }
            Atom::Apply(op, argument) if op.function().is_some_and(FunctionInfo::rounds) => {
                (true, inner(argument))
            }
            Atom::BitAnd(a, b) => {
                let least = inner(a).zip(inner(b)).map(|(a, b)| (0, a.1.min(b.1)));
                (true, least)
            }
            Atom::CopySign(_, magnitude, _) => {
                let bounds = inner(magnitude).map(|(_, high)| (-high, high));
                (self.is_whole(terms(magnitude)), bounds)
            }
            Atom::FirstLargest(list) => {
                let whole = list.iter().all(|(_, payload)| self.is_whole(terms(payload)));
                let bounds = list.iter().map(|(_, payload)| inner(payload)).reduce(|a, b| {
                    let ((a_low, a_high), (b_low, b_high)) = (a?, b?);
                    Some((a_low.min(b_low), a_high.max(b_high)))
                });
                (whole, bounds.flatten())
            }
            Atom::Select(_, a, b) => {
                let bounds = inner(a).zip(inner(b)).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
                (self.is_whole(terms(a)) && self.is_whole(terms(b)), bounds)
            }
            Atom::Irrational(_) | Atom::Literal(_) | Atom::Opaque(_) | Atom::Apply(..) => (false, None),
        }
    }

    /// Interns an atom.
    pub fn intern(&mut self, atom: Atom) -> AtomId {
        if let Some(id) = self.ids.get(&atom) {
            return *id;
        }
        let info = self.describe(&atom);
        let id = AtomId::from_index(self.atoms.len());
        self.counts |= info.whole && matches!(atom, Atom::Select(..) | Atom::FirstLargest(_));
        self.content += atom.keys().map_or(0, |keys| size_of_val(&**keys) as u64);
        self.content += atom.arms().map_or(0, |arms| 2 * size_of_val(arms) as u64);
        if let Atom::FirstLargest(list) = &atom {
            self.content += size_of_val(&**list) as u64;
        }
        self.atoms.push(atom.clone());
        self.info.push(info);
        self.ids.insert(atom, id);
        id
    }

    fn describe(&self, atom: &Atom) -> AtomInfo {
        let (whole, bounds) = self.whole_of(atom);
        let (place, signs) = self.place_and_signs(atom);
        // Users of bounds assume an integer.
        AtomInfo { place, signs, whole, bounds: bounds.filter(|_| whole) }
    }

    fn place_and_signs(&self, atom: &Atom) -> (ContentOrder, Signs) {
        let inner = |id: PolynomialId| self.polynomials.place(id);
        let build = |rank: u8, tag: u128, parts: &[PolynomialId]| {
            let mut place =
                ContentOrder { rank, fingerprint: mix(tag, u128::from(rank)), ..ContentOrder::CONSTANT };
            for part in parts {
                let part = inner(*part);
                place.lead = place.lead.min(part.lead);
                place.fingerprint = mix(place.fingerprint, part.fingerprint);
            }
            place
        };
        match atom {
            Atom::Input(input, element) => {
                let fingerprint = mix(u128::from(input.0) + 1, u128::from(*element));
                let signs = self.input_signs(*input);
                (ContentOrder { lead: (input.0, *element), rank: 0, fingerprint }, signs)
            }
            Atom::Irrational(which) => {
                let fingerprint = mix(1, *which as u128);
                (ContentOrder { rank: 1, fingerprint, ..ContentOrder::CONSTANT }, Signs::POSITIVE)
            }
            Atom::Literal(literal) => {
                let fingerprint = mix(2, literal.fingerprint());
                (ContentOrder { rank: 2, fingerprint, ..ContentOrder::CONSTANT }, Signs::POSITIVE)
            }
            Atom::Products(keys) => {
                let mut place = ContentOrder { rank: 3, fingerprint: mix(8, 8), ..ContentOrder::CONSTANT };
                let mut signs = Signs::ZERO;
                for key in keys.iter() {
                    place.fingerprint = mix(place.fingerprint, *key);
                    let mut own: Option<(InputId, u64, Signs)> = None;
                    for (input, element) in inputs_of(*key) {
                        place.lead = place.lead.min((input.0, element));
                        let more = self.input_signs(input);
                        let both = match own {
                            None => more,
                            Some((first, at, signs)) if (first, at) == (input, element) => {
                                signs.times_itself()
                            }
                            Some((_, _, signs)) => signs.times(more),
                        };
                        own = Some((input, element, both));
                    }
                    signs = signs.plus(own.map_or(Signs::POSITIVE, |(_, _, signs)| signs));
                }
                (place, signs)
            }
            Atom::Opaque(term) => {
                let fingerprint = mix(u128::from(term.store) + 3, u128::from(term.term.raw()));
                (ContentOrder { rank: 9, fingerprint, ..ContentOrder::CONSTANT }, Signs::ANY)
            }
            Atom::Sum(sum) => (build(3, 3, &[*sum]), self.signs_of(self.polynomials.terms(*sum))),
            Atom::Max(arms) => {
                // The order of arms within the atom is by id; the hash must not depend on it.
                let mut place = ContentOrder { rank: 4, ..ContentOrder::CONSTANT };
                let mut signs = Signs::NEGATIVE;
                for arm in arms {
                    let part = inner(*arm);
                    place.lead = place.lead.min(part.lead);
                    place.fingerprint = place.fingerprint.wrapping_add(mix(4, part.fingerprint));
                    signs = signs.max(self.signs_of(self.polynomials.terms(*arm)));
                }
                (place, signs)
            }
            Atom::Apply(function, argument) => {
                let inside = self.signs_of(self.polynomials.terms(*argument));
                let (signs, rank) = match function.function() {
                    Some(info) => (inside.through(&info.signs), info.rank),
                    None => (Signs::ANY, u8::MAX),
                };
                (build(5, 100 + u128::from(rank), &[*argument]), signs)
            }
            Atom::BitAnd(a, b) => (build(8, 8, &[*a, *b]), Signs::NOT_NEGATIVE),
            Atom::CopySign(a, b, read) => {
                let mut place = build(6, 6, &[*a, *b]);
                let read = mix(u128::from(read.store) + 3, u128::from(read.term.raw()));
                place.fingerprint = mix(place.fingerprint, read);
                (place, Signs::ANY)
            }
            Atom::FirstLargest(list) => {
                let signs = list.iter().map(|(_, payload)| self.signs_of(self.polynomials.terms(*payload)));
                (build(10, 10, &atom.parts()), signs.reduce(|a, b| a | b).unwrap_or(Signs::ANY))
            }
            Atom::Select(condition, a, b) => {
                let mut place = build(7, 7, &[*a, *b]);
                place.fingerprint = mix(place.fingerprint, condition.fingerprint());
                let signs = self.signs_of(self.polynomials.terms(*a));
                (place, signs | self.signs_of(self.polynomials.terms(*b)))
            }
        }
    }

    /// Interns factors sorted by atom, powers nonzero.
    pub(super) fn intern_factors(&mut self, factors: &[(AtomId, i32)]) -> MonomialId {
        let (atoms, info) = (&self.atoms, &self.info);
        self.monomials.intern(factors, |atom, power| {
            let content = &atoms[atom.index()];
            let compound = content.sum().is_some()
                || content.argument_of(TermOp::Sqrt).is_some() && power != 1
                || content.argument_of(TermOp::Cos).is_some() && power > 1;
            let contents = Contents {
                lazy: content.opaque().is_some(),
                literal: content.literal().is_some(),
                compound,
                named: content.keys().is_some(),
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
        if signs != Signs::ANY {
            return signs;
        }
        let signs = self.signs_by_magnitudes(terms);
        if signs == Signs::ANY && self.has_integers() { self.signs_by_bounds(terms) } else { signs }
    }

    /// `¬a`
    pub(super) fn not(&mut self, a: ConditionId) -> ConditionId {
        self.conditions.not(a, &self.polynomials)
    }

    /// `a ∧ b`
    pub(super) fn and(&mut self, a: ConditionId, b: ConditionId) -> ConditionId {
        self.conditions.and(a, b, &self.polynomials)
    }

    /// `a ∨ b = ¬(¬a ∧ ¬b)`
    pub(super) fn or(&mut self, a: ConditionId, b: ConditionId) -> ConditionId {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// `a ⊕ b`
    pub(super) fn xor(&mut self, a: ConditionId, b: ConditionId) -> ConditionId {
        self.conditions.xor(a, b, &self.polynomials)
    }

    /// Interns a condition.
    pub(super) fn intern_condition(&mut self, condition: Condition) -> ConditionId {
        self.conditions.intern(condition, &self.polynomials)
    }

    /// The signs that elements of an input can have.
    pub(super) fn input_signs(&self, input: InputId) -> Signs {
        self.inputs.get(input.index()).map_or(Signs::ANY, |range| range.signs)
    }

    /// The largest magnitude that elements of an input can have, if it has a type.
    pub(super) fn input_magnitude(&self, input: InputId) -> Option<&Rational> {
        self.inputs.get(input.index())?.largest.as_ref()
    }

    /// Whether some input holds integers, or some choice is between integers.
    pub(super) fn has_integers(&self) -> bool {
        self.counts || self.integers.iter().any(Option::is_some)
    }
}
