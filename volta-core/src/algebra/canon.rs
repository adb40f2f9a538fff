//! From terms to sums: the walk that turns a term into a flat list of products.
//!
//! The walk goes from the output down, carrying a [`Prefactor`]: at a sum it visits both sides under the scale, at
//! a product it puts what is a single product into the scale and goes on with the sum that is left. So an
//! accumulation chain of K terms is one loop of K steps, and the factor `2^(m_old − m_new)` by which an online
//! softmax rescales its accumulator meets the scale, where it cancels with the next one, and touches no term.
//! Products of two input elements, of which a matrix product has thousands, are kept packed in one list for
//! each scale and become terms only when the two sides' lists differ.
//!
//! Sums that are multiplied with sums, sums that are divided by, and functions, stay opaque ([`Atom::Opaque`]) in
//! the result: most cancel, and what does not is opened by [`super::ratio`].
//!
//! Walks recurse on arguments to a fixed depth only; deeper requirements are put on a worklist, and the walk is restarted
//! when they are met ([`Stop::Missing`]).

use super::Stop;
use super::abbreviated_sums::Joined;
use super::analysis::{Analysis, INFINITE};
use super::atom::{Atom, AtomId, Table, TermRef};
use super::cases::Case;
use super::condition::Conditions;
use super::constant_readings::Reading;
use super::exponent::Prefactor;
use super::extended_value::Class;
use super::linear_sum::{LinearSum, Products, Walk, by_coefficient, pack, pack_single};
use super::magnitude::InputRange;
use super::monomial::MonomialId;
use super::polarization::Made;
use super::polynomial::{Key, PolynomialId, Term, collect};
use super::tactic::Tactic;
use crate::base::ration::{Account, Ration};
use crate::number::Rational;
use crate::number::signs::Signs;
use crate::term::{InputId, Kind, Ranges, Store, Sum, TermId, TermKind, TermOp, View};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// How deep needs are met by recursion.
const MAX_DEPTH: u32 = 24;
/// A term named by this many operands is shared: it stays opaque where it is a long sum.
const SHARED: u8 = 4;
/// So is one of more terms than this, not counting packed lists, that any two operands name.
const LONG: usize = 64;
/// Sums of up to this many terms are copied rather than named.
const SHORT: usize = 4;
/// Lists of packed products shorter than this are turned into terms.
pub(super) const SHORT_LIST: usize = 8;

/// Something that must be known before a walk can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Need {
    /// The flat form of a term.
    LinearSum(TermRef),
    /// A power of two.
    Power(TermRef),
    /// A term as a scale, its sum named.
    Factored(TermRef),
    /// A term as an interned polynomial.
    Resolved(TermRef),
    /// An exponent without lazy parts.
    Exponent(PolynomialId),
}

/// Forms that are known. They may depend on what is assumed.
#[derive(Default)]
pub(super) struct Forms {
    pub(super) flats: FxHashMap<TermRef, Rc<LinearSum>>,
    pub(super) powers: FxHashMap<TermRef, Prefactor>,
    pub(super) factored: FxHashMap<TermRef, Prefactor>,
    pub(super) resolved: FxHashMap<TermRef, PolynomialId>,
    /// What is factored and resolved is found again by its sum, with lazy atoms, as well.
    pub(super) factored_sums: FxHashMap<PolynomialId, Prefactor>,
    pub(super) resolved_sums: FxHashMap<PolynomialId, PolynomialId>,
    /// Of sums without lazy atoms.
    pub(super) expanded: FxHashMap<PolynomialId, PolynomialId>,
    pub(super) polynomial_factors: FxHashMap<PolynomialId, Prefactor>,
    pub(super) roots: FxHashMap<PolynomialId, Prefactor>,
    pub(super) exponents: FxHashMap<PolynomialId, Prefactor>,
    pub(super) substituted: FxHashMap<MonomialId, Prefactor>,
    pub(super) expansions: FxHashMap<MonomialId, Option<Rc<[Term]>>>,
    /// Choices as one of their arms and a scale.
    pub(super) choices: FxHashMap<TermRef, Option<(TermId, Prefactor)>>,
}

/// Proves equalities between terms of several stores over shared inputs. One thread's; what it learns about
/// one element serves the next.
pub struct Prover<'s> {
    pub(super) stores: Vec<(&'s Store, &'s Analysis)>,
    /// For each store, the ranges of terms of integers.
    pub(super) ranges: Vec<Ranges>,
    pub(super) table: Table,
    pub(super) conditions: Conditions,
    pub(super) signs: FxHashMap<TermRef, Signs>,
    pub(super) classes: FxHashMap<TermRef, Class>,
    pub(super) forms: Forms,
    /// Those in which choices are as they are, and whether they are made at the moment.
    shallow: Forms,
    pub(super) is_shallow: bool,
    /// Of the stores in which they were looked for, the terms that are the larger of two.
    pub(super) larger: FxHashMap<u32, FxHashMap<[TermId; 2], TermId>>,
    pub(super) joined: FxHashMap<Box<[AtomId]>, Joined>,
    pub(super) made: FxHashMap<(AtomId, AtomId), Made>,
    pub(super) tensors: FxHashMap<AtomId, Option<InputId>>,
    /// Names that share no terms.
    pub(super) apart: FxHashSet<Box<[AtomId]>>,
    spare_walks: Vec<Walk>,
    pub(super) tactic: Tactic,
    /// Whether anything was named.
    pub(super) has_named: bool,
    missing: Vec<Need>,
    depth: u32,
    account: Account,
    /// Bytes of the flat forms that are remembered.
    flat_bytes: u64,
    pub(super) readings: BTreeSet<Reading>,
    pub(super) case: Case,
}

impl Forms {
    fn bytes(&self) -> u64 {
        bytes_of(&self.flats)
            + bytes_of(&self.powers)
            + bytes_of(&self.factored)
            + bytes_of(&self.resolved)
            + bytes_of(&self.factored_sums)
            + bytes_of(&self.resolved_sums)
            + bytes_of(&self.expanded)
            + bytes_of(&self.polynomial_factors)
            + bytes_of(&self.roots)
            + bytes_of(&self.exponents)
            + bytes_of(&self.substituted)
            + bytes_of(&self.expansions)
            + bytes_of(&self.choices)
    }
}

/// Bytes of a table, but for what its entries point to.
pub(super) fn bytes_of<K, V>(map: &FxHashMap<K, V>) -> u64 {
    (map.capacity() * (size_of::<(K, V)>() + 1)) as u64
}

fn nothing_missing() -> Stop {
    Stop::Unknown("the algebra waits for nothing".to_string())
}

impl<'s> Prover<'s> {
    /// A prover that knows nothing yet. `inputs[i]` is what is known of the elements of input `i`.
    pub fn new(inputs: Vec<InputRange>, tactic: Tactic) -> Prover<'s> {
        Prover {
            stores: Vec::new(),
            ranges: Vec::new(),
            table: Table::new(inputs),
            conditions: Conditions::default(),
            signs: FxHashMap::default(),
            classes: FxHashMap::default(),
            forms: Forms::default(),
            shallow: Forms::default(),
            is_shallow: false,
            larger: FxHashMap::default(),
            joined: FxHashMap::default(),
            made: FxHashMap::default(),
            tensors: FxHashMap::default(),
            apart: FxHashSet::default(),
            spare_walks: Vec::new(),
            tactic,
            has_named: false,
            missing: Vec::new(),
            depth: 0,
            account: Account::new(Rc::new(Ration::endless())),
            flat_bytes: 0,
            readings: BTreeSet::new(),
            case: Case::default(),
        }
    }

    /// Whether a thorough prover might find more.
    pub fn is_thorough(&self) -> bool {
        !self.has_named
    }

    /// The number of a store within this prover.
    pub fn add_store(&mut self, store: &'s Store, analysis: &'s Analysis) -> u32 {
        let known = self.stores.iter().position(|(known, _)| std::ptr::eq(*known, store));
        known.unwrap_or_else(|| {
            self.stores.push((store, analysis));
            self.table.learn_integers(store);
            self.stores.len() - 1
        }) as u32
    }

    /// Makes the prover draw from a ration.
    pub fn draw_from(&mut self, ration: &Rc<Ration>) {
        self.account = Account::new(ration.clone());
    }

    /// Starts counting steps again, up to `most` or what the ration has left.
    pub fn set_budget(&mut self, most: u64) {
        self.account.begin(most);
        self.depth = 0;
        self.missing.clear();
    }

    /// Reports to the ration what was taken from it.
    pub fn settle_account(&mut self) {
        self.account.settle();
    }

    /// Steps since [`Prover::set_budget`].
    pub fn steps(&self) -> u64 {
        self.account.steps()
    }

    /// The literals read as irrational constants so far.
    pub fn readings(&self) -> &BTreeSet<Reading> {
        &self.readings
    }

    /// Everything interned.
    pub fn table(&self) -> &Table {
        &self.table
    }

    pub(super) fn charge(&mut self, steps: u64) -> Result<(), Stop> {
        if self.account.charge(steps) {
            let bytes = self.bytes();
            self.account.look(bytes).map_err(Stop::Exhausted)?;
        }
        Ok(())
    }

    /// Bytes of what is remembered, by sizes.
    fn bytes(&self) -> u64 {
        let forms = self.forms.bytes() + self.shallow.bytes() + self.flat_bytes;
        let terms = bytes_of(&self.signs) + bytes_of(&self.classes) + bytes_of(&self.tensors);
        let named = bytes_of(&self.joined) + bytes_of(&self.made) + (self.apart.capacity() * 64) as u64;
        let larger: u64 = self.larger.values().map(bytes_of).sum();
        let ranges: u64 = self.ranges.iter().map(Ranges::bytes).sum();
        self.table.bytes() + self.conditions.bytes() + forms + terms + named + larger + ranges
    }

    /// Counts steps without asking whether they are allowed; the next that are charged ask.
    pub(super) fn add_steps(&mut self, steps: u64) {
        self.account.charge(steps);
    }

    /// Forgets the forms of terms, which may depend on what was assumed.
    pub(super) fn forget(&mut self) {
        self.forms = Forms::default();
        self.shallow = Forms::default();
        self.flat_bytes = 0;
    }

    /// Makes forms in which choices are as they are. What is nested too deeply for that has none.
    pub(super) fn shallowly<T>(
        &mut self,
        work: impl FnOnce(&mut Prover<'s>) -> Result<Option<T>, Stop>,
    ) -> Result<Option<T>, Stop> {
        let (depth, missing) = (std::mem::take(&mut self.depth), self.missing.len());
        std::mem::swap(&mut self.forms, &mut self.shallow);
        self.is_shallow = true;
        let found = work(self);
        self.is_shallow = false;
        std::mem::swap(&mut self.forms, &mut self.shallow);
        self.missing.truncate(missing);
        self.depth = depth;
        match found {
            Err(Stop::Missing) => Ok(None),
            other => other,
        }
    }

    pub(super) fn view(&self, at: TermRef) -> View<'s> {
        self.stores[at.store as usize].0.view(at.term)
    }

    pub(super) fn analysis(&self, store: u32) -> &'s Analysis {
        self.stores[store as usize].1
    }

    pub(super) fn flags(&self, at: TermRef) -> u8 {
        self.analysis(at.store).flags(at.term)
    }

    pub(super) fn input_signs(&self, input: InputId) -> Signs {
        self.table.input_signs(input)
    }

    /// Runs `attempt` until nothing it needs is missing.
    pub(super) fn settle<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Prover<'s>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        loop {
            self.missing.clear();
            self.depth = 0;
            match attempt(self) {
                Err(Stop::Missing) if self.missing.is_empty() => return Err(nothing_missing()),
                Err(Stop::Missing) => self.meet_needs()?,
                other => return other,
            }
        }
    }

    fn meet_needs(&mut self) -> Result<(), Stop> {
        let mut stack = std::mem::take(&mut self.missing);
        // Operands have smaller ids than what uses them: the last on the stack depend on no other.
        stack.sort_unstable_by(|a, b| b.cmp(a));
        while let Some(need) = stack.last().copied() {
            self.charge(1)?;
            self.depth = 0;
            match self.meet(need) {
                Ok(()) => {
                    stack.pop();
                }
                Err(Stop::Missing) if self.missing.is_empty() => return Err(nothing_missing()),
                Err(Stop::Missing) => {
                    let mut more = std::mem::take(&mut self.missing);
                    more.sort_unstable_by(|a, b| b.cmp(a));
                    more.dedup();
                    stack.extend(more);
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    fn meet(&mut self, need: Need) -> Result<(), Stop> {
        match need {
            Need::LinearSum(at) => self.flat(at).map(drop),
            Need::Power(at) => self.power_of_two(at).map(drop),
            Need::Factored(at) => self.factor(at).map(drop),
            Need::Resolved(at) => self.resolve(at).map(drop),
            Need::Exponent(id) => self.resolve_exponent(id).map(drop),
        }
    }

    /// Descends into what `need` names, or notes that it must be met first.
    pub(super) fn descend<T>(
        &mut self,
        need: Need,
        work: impl FnOnce(&mut Prover<'s>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        if self.depth >= MAX_DEPTH {
            self.missing.push(need);
            return Err(Stop::Missing);
        }
        self.depth += 1;
        let result = work(self);
        self.depth -= 1;
        result
    }

    /// The flat form of a term, remembered.
    pub(super) fn flat(&mut self, at: TermRef) -> Result<Rc<LinearSum>, Stop> {
        if let Some(flat) = self.forms.flats.get(&at) {
            return Ok(flat.clone());
        }
        let flat = Rc::new(self.descend(Need::LinearSum(at), |prover| prover.flatten(at))?);
        self.flat_bytes += flat.bytes();
        self.forms.flats.insert(at, flat.clone());
        Ok(flat)
    }

    /// The atom of an input element, as a monomial.
    pub(super) fn input_monomial(&mut self, raw: u64) -> MonomialId {
        let TermKind::Input { input, element } = TermId::from_raw(raw).kind() else { return MonomialId::ONE };
        let atom = self.table.intern(Atom::Input(input, element));
        self.table.single(atom)
    }

    /// The number that an input element is in the case at hand.
    pub(super) fn number_of_input(&mut self, term: TermId) -> Option<Rational> {
        if !self.case.has_numbers() {
            return None;
        }
        let TermKind::Input { input, element } = term.kind() else { return None };
        let atom = self.table.intern(Atom::Input(input, element));
        self.case.number(atom).cloned()
    }

    pub(super) fn opaque(&mut self, at: TermRef) -> AtomId {
        self.table.intern(Atom::Opaque(at))
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
        while let Some((term, scale)) = walk.stack.pop() {
            match self.visit(walk, term, scale) {
                // What else is missing is worth knowing before the walk is begun again.
                Err(Stop::Missing) => walk.missing = true,
                other => other?,
            }
        }
        if walk.missing { Err(Stop::Missing) } else { Ok(()) }
    }

    /// What a walk that ended has found.
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

    /// The lists of a walk, so that what was met under several numbers is in one of them, and not among the terms.
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
            let among: FxHashSet<u128> = terms.iter().filter_map(|term| self.packed(term)).collect();
            let twice: FxHashSet<u128> = match among.is_empty() {
                true => FxHashSet::default(),
                false => {
                    let keys = group.iter().flat_map(|list| &list.keys);
                    keys.copied().filter(|key| among.contains(key)).collect()
                }
            };
            terms.retain_mut(|term| {
                let Some(key) = self.packed(term).filter(|key| twice.contains(key)) else { return true };
                let scale = Prefactor { coefficient: std::mem::take(&mut term.coefficient), key: Key::ONE };
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
        let analysis = self.analysis(store);
        loop {
            self.charge(1)?;
            let at = TermRef { store, term };
            let (op, [a, b, c]) = match self.view(at) {
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
            match op.kind() {
                Kind::Sum(Sum::Fma) => {
                    if let (TermKind::Input { .. }, TermKind::Input { .. }) = (a.kind(), b.kind())
                        && !self.case.has_numbers()
                    {
                        let bucket = walk.bucket(scale);
                        walk.products[bucket].keys.push(pack(a.raw(), b.raw()));
                    } else {
                        self.product_or_note(walk, &[(a, 1), (b, 1)], scale)?;
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
                Kind::Condition(_) => {
                    return Err(Stop::Unknown("a condition is used as a number".to_string()));
                }
                Kind::Product(_) | Kind::Exponential | Kind::Function(_) | Kind::Piecewise(_) => {
                    return self.product(walk, &[(term, 1)], scale);
                }
            }
        }
    }

    /// Uses what is known of a term that several operands name. False when the walk is to go into it.
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
            let lazy = self.opaque(at);
            let monomial = self.table.single(lazy);
            let key = self.table.key_product(outer.key, Key::new(monomial, PolynomialId::ZERO))?;
            walk.terms.push(Term { key, coefficient: outer.coefficient });
            return Ok(true);
        }
        self.charge(flat.len() as u64)?;
        for products in &flat.products {
            let scale = self.table.prefactor_product(&outer, &products.scale)?;
            let scale = walk.push_scale(scale);
            let bucket = walk.bucket(scale);
            walk.products[bucket].keys.extend_from_slice(&products.keys);
        }
        for inner in &flat.terms {
            let key = self.table.key_product(outer.key, inner.key)?;
            walk.terms.push(Term { key, coefficient: &outer.coefficient * &inner.coefficient });
        }
        Ok(true)
    }

    fn product_or_note(
        &mut self,
        walk: &mut Walk,
        factors: &[(TermId, i32)],
        scale: u32,
    ) -> Result<(), Stop> {
        match self.product(walk, factors, scale) {
            Err(Stop::Missing) => {
                walk.missing = true;
                Ok(())
            }
            other => other,
        }
    }
}
