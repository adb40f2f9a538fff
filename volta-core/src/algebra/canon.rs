//! From terms to sums: the walk that turns a term into a linear sum of products.
//!
//! The walk starts at the output and carries a scale, a [`Term`]: at a sum it visits both operands under the scale;
//! at a product it moves factors that are single terms into the scale and continues with the remaining sum. So an
//! accumulation chain of K terms is one loop of K steps, and the factor `2^(m_old − m_new)` by which an online
//! softmax rescales its accumulator becomes part of the scale, where it cancels with the next one, and touches no
//! term. Products of two input elements, of which a matrix product has thousands, are kept packed in one list for
//! each scale and become terms only when the two sides' lists differ.
//!
//! Products of sums, sums in denominators, and functions stay opaque ([`Atom::Opaque`]) in the result: most cancel,
//! and [`super::ratio`] opens the rest.

use super::Stop;
use super::analysis::{CHOICE, INFINITE};
use super::atom::Atom;
use super::id::{AtomId, TermRef};
use super::linear_sum::{LinearSum, Products, SHORT_LIST, Walk, by_coefficient};
use super::monomial::MonomialId;
use super::packed::{pack, pack_single};
use super::polynomial::{Key, Term, collect};
use super::prover::Prover;
use super::table::Table;
use super::worklist::Need;
use super::worklist::if_known;
use crate::number::Rational;
use crate::term::{Kind, Sum, TermId, TermKind, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A term that at least this many operands name is shared: it stays opaque if it is a long sum.
const SHARED: u8 = 4;
/// A term that at least two operands name stays opaque if it has more terms than this, not counting packed lists.
const LONG: usize = 64;
/// Sums of up to this many terms are copied rather than named.
const SHORT: usize = 4;
impl Prover<'_> {
    /// The linear sum of a term, memoized.
    pub(super) fn flat(&mut self, at: TermRef) -> Result<Rc<LinearSum>, Stop> {
        self.remembered(
            |forms| &mut forms.flats,
            at,
            |prover| {
                let flat = prover.descend(Need::LinearSum(at), |prover| prover.flatten(at))?;
                prover.forms.flat_bytes += flat.bytes();
                Ok(Rc::new(flat))
            },
        )
    }

    /// The number that the current case assigns to an input element.
    pub(super) fn number_of_input(&mut self, term: TermId) -> Option<Rational> {
        if !self.case.has_numbers() {
            return None;
        }
        let TermKind::Input { input, element } = term.kind() else { return None };
        let atom = self.table.intern(Atom::Input(input, element));
        self.case.numbers.get(&atom).cloned()
    }

    /// Walks one term. The term is finite (the caller has asked its class).
    pub(super) fn flatten(&mut self, root: TermRef) -> Result<LinearSum, Stop> {
        let mut walk = self.spare_walks.pop().unwrap_or_else(|| Walk::new(root));
        walk.begin(root);
        let done = self.walk(&mut walk).and_then(|()| self.gather(&mut walk));
        self.spare_walks.push(walk);
        done
    }

    fn walk(&mut self, walk: &mut Walk) -> Result<(), Stop> {
        let before = self.work.mark();
        while let Some((term, scale)) = walk.stack.pop() {
            if_known(self.visit(walk, term, scale))?;
        }
        self.work.since(before)
    }

    /// The linear sum that a completed walk has found.
    fn gather(&mut self, walk: &mut Walk) -> Result<LinearSum, Stop> {
        let mut flat = LinearSum { products: Vec::new(), terms: std::mem::take(&mut walk.terms) };
        for products in self.lists(walk, &mut flat.terms)? {
            if products.keys.len() < SHORT_LIST {
                self.spread_products(&products, &mut flat.terms)?;
            } else {
                flat.products.push(products);
            }
        }
        collect(&mut flat.terms);
        self.charge_numbers(&flat.terms)?;
        flat.terms = self.read_logarithms(flat.terms)?;
        Ok(flat)
    }

    /// The packed lists of a walk, merged so that no product is in two lists, or in a list and among the terms.
    fn lists(&mut self, walk: &mut Walk, terms: &mut Vec<Term>) -> Result<Vec<Products>, Stop> {
        // Most walks have one list and nothing else.
        if terms.is_empty() && walk.products.len() <= 1 {
            return Ok(walk.products.drain(..).collect());
        }
        let lists = walk.products.drain(..).filter(|list| !list.keys.is_empty());
        let mut groups: Vec<(Key, Vec<Products>)> = Vec::new();
        let mut places: FxHashMap<Key, usize> = FxHashMap::default();
        for list in lists {
            let place = *places.entry(list.scale.key).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((_, group)) => group.push(list),
                None => groups.push((list.scale.key, vec![list])),
            }
        }
        if let Some(place) = places.get(&Key::ONE) {
            let group = &mut groups[*place].1;
            let among: FxHashSet<u128> = terms.iter().filter_map(|term| self.table.packed(term)).collect();
            let twice: FxHashSet<u128> = match among.is_empty() {
                true => FxHashSet::default(),
                false => {
                    let keys = group.iter().flat_map(|list| &list.keys);
                    keys.copied().filter(|key| among.contains(key)).collect()
                }
            };
            terms.retain_mut(|term| {
                let Some(key) = self.table.packed(term).filter(|key| twice.contains(key)) else {
                    return true;
                };
                let scale = Term { coefficient: std::mem::take(&mut term.coefficient), key: Key::ONE };
                group.push(Products { scale, keys: vec![key] });
                false
            });
        }
        let mut out = Vec::with_capacity(groups.len());
        for (key, group) in groups {
            match group.as_slice() {
                [_] => out.extend(group),
                _ => {
                    self.charge(group.iter().map(|list| list.keys.len() as u64).sum())?;
                    out.extend(by_coefficient(key, group));
                }
            }
        }
        Ok(out)
    }

    fn visit(&mut self, walk: &mut Walk, mut term: TermId, scale: u32) -> Result<(), Stop> {
        let store = walk.root.store;
        let analysis = self.terms.analysis(store);
        loop {
            self.charge(1)?;
            let at = TermRef { store, term };
            let (op, [a, b, c]) = match self.terms.view(at) {
                View::Apply(op, operands) => (op, operands),
                View::Input { .. } if self.case.has_numbers() => {
                    return self.product(walk, &[(term, 1)], scale);
                }
                View::Input { .. } => {
                    let bucket = walk.bucket(scale);
                    walk.products[bucket].keys.push(pack_single(term.raw()));
                    return Ok(());
                }
                View::Constant(_) => return self.product(walk, &[(term, 1)], scale),
            };
            if analysis.flags(term) & INFINITE != 0 {
                self.require_finite(at)?;
            }
            let uses = analysis.uses(term);
            if uses > 1 && term != walk.root.term && self.reuse(walk, op, term, uses, scale)? {
                return Ok(());
            }
            if analysis.flags(term) & CHOICE != 0
                && matches!(op.kind(), Kind::Sum(_))
                && let Some(parts) = self.sum_of_choices(at)?
            {
                for (part, own) in parts.iter() {
                    let own = self.table.term_product(&walk.scales[scale as usize].0, own)?;
                    let own = walk.push_scale(own);
                    walk.stack.push((*part, own));
                }
                return Ok(());
            }
            match op.kind() {
                Kind::Sum(Sum::Fma) => {
                    if let (TermKind::Input { .. }, TermKind::Input { .. }) = (a.kind(), b.kind())
                        && !self.case.has_numbers()
                    {
                        let bucket = walk.bucket(scale);
                        walk.products[bucket].keys.push(pack(a.raw(), b.raw()));
                    } else {
                        if_known(self.product(walk, &[(a, 1), (b, 1)], scale))?;
                    }
                    term = c;
                }
                Kind::Sum(Sum::Add) => {
                    walk.stack.push((b, scale));
                    term = a;
                }
                Kind::Sum(Sum::Sub) => {
                    let mut negative = walk.scales[scale as usize].0.clone();
                    negative.coefficient = -negative.coefficient;
                    let negative = walk.push_scale(negative);
                    walk.stack.push((b, negative));
                    term = a;
                }
                Kind::Condition(_) | Kind::Ieee => {
                    return Err(Stop::Unknown("a condition is used as a number".to_string()));
                }
                Kind::Product(_) | Kind::Exponential | Kind::Function(_) | Kind::Piecewise(_) => {
                    return self.product(walk, &[(term, 1)], scale);
                }
            }
        }
    }

    /// Adds the memoized linear sum of a term that several operands name. False when the walk must visit the term
    /// itself.
    fn reuse(
        &mut self,
        walk: &mut Walk,
        op: TermOp,
        term: TermId,
        uses: u8,
        scale: u32,
    ) -> Result<bool, Stop> {
        if !matches!(op.kind(), Kind::Sum(_) | Kind::Product(_)) {
            return Ok(false);
        }
        let at = TermRef { store: walk.root.store, term };
        if !self.forms.flats.contains_key(&at) && uses < SHARED && walk.visited.insert(term) {
            return Ok(false);
        }
        let flat = self.flat(at)?;
        let outer = walk.scales[scale as usize].0.clone();
        if uses >= SHARED && flat.len() > SHORT || flat.terms.len() > LONG {
            let lazy = self.table.opaque(at);
            let monomial = self.table.single(lazy);
            let key = self.table.key_product(outer.key, Key::of(monomial))?;
            walk.terms.push(Term { key, coefficient: outer.coefficient });
            return Ok(true);
        }
        self.charge(flat.len() as u64)?;
        for products in &flat.products {
            let scale = self.table.term_product(&outer, &products.scale)?;
            let scale = walk.push_scale(scale);
            let bucket = walk.bucket(scale);
            walk.products[bucket].keys.extend_from_slice(&products.keys);
        }
        for inner in &flat.terms {
            walk.terms.push(self.table.term_product(&outer, inner)?);
        }
        Ok(true)
    }
}

impl Table {
    /// The atom of an input element, as a monomial.
    pub(super) fn input_monomial(&mut self, raw: u64) -> MonomialId {
        let TermKind::Input { input, element } = TermId::from_raw(raw).kind() else { return MonomialId::ONE };
        let atom = self.intern(Atom::Input(input, element));
        self.single(atom)
    }

    pub(super) fn opaque(&mut self, at: TermRef) -> AtomId {
        self.intern(Atom::Opaque(at))
    }
}
