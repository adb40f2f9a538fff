//! Monomials: products of powers of atoms, interned.

use super::id::{AtomId, ContentOrder, mix};
use super::interner::bytes_of;
use crate::index_type;
use rustc_hash::FxHashMap;
use std::rc::Rc;

index_type!(
    /// An interned monomial.
    MonomialId,
    "m"
);

impl MonomialId {
    /// The empty product.
    pub const ONE: MonomialId = MonomialId(0);
}

/// Properties of a monomial's factors, so that most monomials need not be inspected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// A node not looked into yet.
    pub(super) lazy: bool,
    /// A literal of rule V9.
    pub(super) literal: bool,
    /// A sum to some power, a square root to a power other than 1, or a square of a cosine.
    pub(super) compound: bool,
    /// A named long sum.
    pub(super) named: bool,
}

/// The monomials of one prover. Powers may be negative: monomials form a group.
///
/// Invariant: factors are sorted by atom id and no power is zero.
pub(super) struct Monomials {
    list: Vec<Rc<[(AtomId, i32)]>>,
    contents: Vec<Contents>,
    places: Vec<ContentOrder>,
    ids: FxHashMap<Rc<[(AtomId, i32)]>, MonomialId>,
    products: FxHashMap<(MonomialId, MonomialId), MonomialId>,
    singles: FxHashMap<AtomId, MonomialId>,
    /// The total length of all lists of factors.
    factors: usize,
}

impl Monomials {
    pub(super) fn new() -> Monomials {
        let one: Rc<[(AtomId, i32)]> = Rc::from([]);
        Monomials {
            list: vec![one.clone()],
            contents: vec![Contents::default()],
            places: vec![ContentOrder::CONSTANT],
            ids: std::iter::once((one, MonomialId::ONE)).collect(),
            products: FxHashMap::default(),
            singles: FxHashMap::default(),
            factors: 0,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        let each =
            2 * size_of::<Rc<[(AtomId, i32)]>>() + size_of::<Contents>() + size_of::<ContentOrder>() + 40;
        let lists = self.list.len() * each + self.factors * size_of::<(AtomId, i32)>();
        lists as u64 + bytes_of(&self.products) + bytes_of(&self.singles)
    }

    pub(super) fn factors(&self, id: MonomialId) -> &[(AtomId, i32)] {
        &self.list[id.index()]
    }

    pub(super) fn shared_factors(&self, id: MonomialId) -> Rc<[(AtomId, i32)]> {
        self.list[id.index()].clone()
    }

    pub(super) fn contents(&self, id: MonomialId) -> Contents {
        self.contents[id.index()]
    }

    pub(super) fn place(&self, id: MonomialId) -> ContentOrder {
        self.places[id.index()]
    }

    pub(super) fn known_single(&self, atom: AtomId) -> Option<MonomialId> {
        self.singles.get(&atom).copied()
    }

    pub(super) fn known_product(&self, a: MonomialId, b: MonomialId) -> Option<MonomialId> {
        self.products.get(&if a <= b { (a, b) } else { (b, a) }).copied()
    }

    pub(super) fn remember_single(&mut self, atom: AtomId, id: MonomialId) {
        self.singles.insert(atom, id);
    }

    pub(super) fn remember_product(&mut self, a: MonomialId, b: MonomialId, id: MonomialId) {
        self.products.insert(if a <= b { (a, b) } else { (b, a) }, id);
    }

    /// Interns factors that satisfy the invariant; `describe` gives place and contents of one factor.
    pub(super) fn intern(
        &mut self,
        factors: &[(AtomId, i32)],
        describe: impl Fn(AtomId, i32) -> (ContentOrder, Contents),
    ) -> MonomialId {
        if let Some(id) = self.ids.get(factors) {
            return *id;
        }
        let mut contents = Contents::default();
        let mut place = ContentOrder::CONSTANT;
        for (atom, power) in factors {
            let (own, inside) = describe(*atom, *power);
            place.lead = place.lead.min(own.lead);
            place.rank = place.rank.max(own.rank);
            place.fingerprint = place.fingerprint.wrapping_add(mix(own.fingerprint, *power as u128));
            contents.lazy |= inside.lazy;
            contents.literal |= inside.literal;
            contents.compound |= inside.compound;
            contents.named |= inside.named;
        }
        let id = MonomialId::from_index(self.list.len());
        let shared: Rc<[(AtomId, i32)]> = Rc::from(factors);
        self.factors += factors.len();
        self.list.push(shared.clone());
        self.contents.push(contents);
        self.places.push(place);
        self.ids.insert(shared, id);
        id
    }

    /// The factors of a product; `None` when a power leaves the range of powers.
    pub(super) fn multiply(a: &[(AtomId, i32)], b: &[(AtomId, i32)]) -> Option<Vec<(AtomId, i32)>> {
        let mut product = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            if j == b.len() || (i < a.len() && a[i].0 < b[j].0) {
                product.push(a[i]);
                i += 1;
            } else if i == a.len() || b[j].0 < a[i].0 {
                product.push(b[j]);
                j += 1;
            } else {
                let power = a[i].1.checked_add(b[j].1)?;
                if power.unsigned_abs() > MAX_POWER {
                    return None;
                }
                if power != 0 {
                    product.push((a[i].0, power));
                }
                i += 1;
                j += 1;
            }
        }
        Some(product)
    }

    /// The factors of a power.
    pub(super) fn power(a: &[(AtomId, i32)], exponent: i32) -> Option<Vec<(AtomId, i32)>> {
        if exponent == 0 {
            return Some(Vec::new());
        }
        a.iter()
            .map(|(atom, power)| {
                let power = power.checked_mul(exponent)?;
                (power.unsigned_abs() <= MAX_POWER).then_some((*atom, power))
            })
            .collect()
    }
}

/// Powers stay within this.
const MAX_POWER: u32 = 1 << 20;
