//! Sums as ratios: common factors are taken out, the remaining sum gets a name, and names are expanded when a proof needs
//! it.
//!
//! A finished sum is a Laurent polynomial: denominators are named sums ([`Atom::Sum`]) with negative powers. Names
//! are interned by content, so two sums that are equal as lists have one name, whichever side they come from.
//! [`Prover::expand`] replaces names by their content where the power is positive, and
//! [`Prover::clear_denominators`] multiplies a whole sum by its denominators: cross-multiplication.

use super::Stop;
use super::atom::Atom;
use super::id::{AtomId, TermRef};
use super::monomial::MonomialId;
use super::polynomial::{Key, PolynomialId, Term, collect};
use super::prover::Prover;
use super::table::Table;
use super::worklist::{Need, if_known};
use crate::number::Rational;
use crate::term::TermOp;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A sum of more terms than this is not multiplied out.
const MAX_EXPANSION: usize = 1 << 20;
/// A long product takes so long that time and memory are looked at after so many products of terms.
const FEW_PRODUCTS: usize = 1 << 12;

impl Prover<'_> {
    /// The product of two sums, collected.
    pub(super) fn multiply(&mut self, a: &[Term], b: &[Term]) -> Result<Vec<Term>, Stop> {
        self.charge(a.len() as u64 * b.len() as u64)?;
        let mut product = Vec::with_capacity((a.len() * b.len()).min(MAX_EXPANSION));
        let mut looked = 0;
        for left in a {
            for right in b {
                if product.len() - looked == FEW_PRODUCTS {
                    looked = product.len();
                    self.look()?;
                }
                product.push(self.table.term_product(left, right)?);
            }
        }
        collect(&mut product);
        self.charge_numbers(&product)?;
        Ok(product)
    }

    /// Charges for long coefficients: repeated squaring doubles their length at each step.
    pub(super) fn charge_numbers(&mut self, terms: &[Term]) -> Result<(), Stop> {
        const BITS_A_STEP: u64 = 512;
        let bits = terms.iter().map(|term| term.coefficient.bit_length()).filter(|bits| *bits >= BITS_A_STEP);
        let bits: u64 = bits.sum();
        self.charge(bits / BITS_A_STEP)
    }

    /// A sum times a scale.
    pub(super) fn scaled(&mut self, terms: &[Term], scale: &Term) -> Result<Vec<Term>, Stop> {
        self.multiply(terms, std::slice::from_ref(scale))
    }

    /// The product that a monomial is when its opaque atoms are replaced by their factored terms.
    fn substitute(&mut self, monomial: MonomialId) -> Result<Term, Stop> {
        self.remembered(|forms| &mut forms.substituted, monomial, |prover| prover.substitute_anew(monomial))
    }

    fn substitute_anew(&mut self, monomial: MonomialId) -> Result<Term, Stop> {
        let factors = self.table.monomials.shared_factors(monomial);
        let mut parts = Vec::with_capacity(factors.len());
        let before = self.work.mark();
        let mut vanishes = false;
        for (atom, power) in factors.iter() {
            let inner = match self.table.atom(*atom).opaque() {
                Some(at) => if_known(self.factor(at))?,
                None => Some(self.table.unit(*atom)),
            };
            let Some(inner) = inner else { continue };
            if inner.is_zero() && *power > 0 {
                vanishes = true;
                continue;
            }
            parts.push(self.table.term_power(&inner, *power)?);
        }
        self.work.since(before)?;
        let mut scale = self.table.product_of(parts)?;
        if vanishes {
            scale = Term::number(Rational::ZERO);
        }
        Ok(scale)
    }

    /// Replaces opaque atoms in monomials (not in exponents) by their factored terms.
    pub(super) fn substitute_terms(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let mut out = Vec::with_capacity(terms.len());
        let before = self.work.mark();
        for term in terms {
            self.charge(1)?;
            if !self.table.monomials.contents(term.monomial()).lazy {
                out.push(term);
                continue;
            }
            let Some(scale) = if_known(self.substitute(term.monomial()))? else { continue };
            if !scale.is_zero() {
                let key = self.table.key_product(scale.key, Key::new(MonomialId::ONE, term.exponent()))?;
                out.push(Term { key, coefficient: &scale.coefficient * &term.coefficient });
            }
        }
        self.work.since(before)?;
        collect(&mut out);
        Ok(out)
    }

    /// Replaces exponents by ones without opaque atoms.
    pub(super) fn resolve_exponents(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let settled = |term: &Term| self.table.is_settled(term.exponent());
        if terms.iter().all(settled) {
            return Ok(terms);
        }
        let mut out = Vec::with_capacity(terms.len());
        let before = self.work.mark();
        for term in terms {
            self.charge(1)?;
            let Some(scale) = if_known(self.resolve_exponent(term.exponent()))? else { continue };
            let key = self.table.key_product(scale.key, Key::of(term.monomial()))?;
            out.push(Term { key, coefficient: &scale.coefficient * &term.coefficient });
        }
        self.work.since(before)?;
        collect(&mut out);
        Ok(out)
    }

    /// `2^exponent` as a scale without opaque atoms.
    pub(super) fn resolve_exponent(&mut self, exponent: PolynomialId) -> Result<Term, Stop> {
        if self.table.is_settled(exponent) {
            return Ok(Term::of(Key::new(MonomialId::ONE, exponent)));
        }
        let make = |prover: &mut Self| {
            let terms = prover.table.polynomials.shared_terms(exponent).to_vec();
            // Exponents are added up without naming, so that their long sums are not joined here.
            let terms = prover.opened(terms)?;
            let terms = prover.multiplied_out(terms)?;
            prover.exponential(terms)
        };
        self.remembered(
            |forms| &mut forms.exponents,
            exponent,
            |prover| prover.descend(Need::Exponent(exponent), make),
        )
    }

    /// A sum without opaque atoms, expanded. Literals stay symbols.
    fn canonical(&mut self, terms: Vec<Term>) -> Result<PolynomialId, Stop> {
        let terms = self.opened(terms)?;
        let opened = self.table.polynomial(&terms);
        self.remembered(
            |forms| &mut forms.expanded,
            opened,
            |prover| {
                let terms = prover.expand(terms)?;
                Ok(prover.table.polynomial(&terms))
            },
        )
    }

    /// A sum with its opaque atoms replaced.
    fn opened(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let mut out = Vec::with_capacity(terms.len());
        let mut others = Vec::new();
        let before = self.work.mark();
        for term in terms {
            self.charge(1)?;
            let Some((lazy, rest)) = self.table.linear_lazy(term.monomial()) else {
                others.push(term);
                continue;
            };
            let Some(content) = if_known(self.resolve(lazy))? else { continue };
            let content = self.table.polynomials.shared_terms(content);
            let rest = self.table.intern_factors(&rest);
            let scale = Term { coefficient: term.coefficient.clone(), key: Key::new(rest, term.exponent()) };
            out.extend(self.scaled(&content, &scale)?);
        }
        out.extend(if_known(self.substitute_terms(others))?.unwrap_or_default());
        self.work.since(before)?;
        collect(&mut out);
        self.resolve_exponents(out)
    }

    /// A term as an interned polynomial: expanded, without opaque atoms; literals are symbols at its top.
    pub(super) fn resolve(&mut self, at: TermRef) -> Result<PolynomialId, Stop> {
        let make = |prover: &mut Self| {
            if prover.terms.is_function(at) {
                let terms = prover.resolve_function(at)?;
                return Ok(prover.table.polynomial(&terms));
            }
            let flat = prover.flat(at)?;
            let terms = prover.spread(&flat)?;
            match prover.table.lazy_sum(&terms) {
                Some(sum) => {
                    prover.remembered(|forms| &mut forms.resolved_sums, sum, |prover| prover.canonical(terms))
                }
                None => prover.canonical(terms),
            }
        };
        self.remembered(|forms| &mut forms.resolved, at, |prover| prover.descend(Need::Resolved(at), make))
    }

    /// A term as a scale that contains the remaining sum under a name; exponents may still contain opaque atoms.
    pub(super) fn factor(&mut self, at: TermRef) -> Result<Term, Stop> {
        let make = |prover: &mut Self| {
            if prover.terms.is_function(at) {
                let id = prover.resolve(at)?;
                return prover.factor_polynomial(id);
            }
            let flat = prover.flat(at)?;
            let terms = prover.spread(&flat)?;
            let sum = prover.table.lazy_sum(&terms);
            let factor = |prover: &mut Self| {
                let terms = prover.substitute_terms(terms)?;
                prover.factor_terms(terms)
            };
            match sum {
                Some(sum) => prover.remembered(|forms| &mut forms.factored_sums, sum, factor),
                None => factor(prover),
            }
        };
        self.remembered(|forms| &mut forms.factored, at, |prover| prover.descend(Need::Factored(at), make))
    }

    /// An interned polynomial as a scale.
    pub(super) fn factor_polynomial(&mut self, id: PolynomialId) -> Result<Term, Stop> {
        self.remembered(
            |forms| &mut forms.polynomial_factors,
            id,
            |prover| {
                let terms = prover.table.polynomials.shared_terms(id).to_vec();
                prover.factor_terms(terms)
            },
        )
    }

    /// A sum as a scale: its common factors, times the remaining sum under a name. Monomials contain no opaque atoms.
    pub(super) fn factor_terms(&mut self, terms: Vec<Term>) -> Result<Term, Stop> {
        // The common exponent is taken out first: the maximum of a softmax leaves the sum before its form is needed.
        let (outer, rest) = self.take_common(terms)?;
        let rest = self.resolve_exponents(rest)?;
        let rest = self.expand(rest)?;
        let rest = self.plain(rest)?;
        let (inner, mut rest) = self.take_common(rest)?;
        let mut scale = self.table.term_product(&outer, &inner)?;
        let Some(leading) = self.table.leading(&rest) else { return Ok(Term::number(Rational::ZERO)) };
        let leading = rest[leading].coefficient.clone();
        scale.coefficient = &scale.coefficient * &leading;
        if rest.len() > 1 {
            for term in &mut rest {
                term.coefficient = &term.coefficient / &leading;
            }
            let content = self.table.polynomial(&rest);
            let atom = self.table.intern(Atom::Sum(content));
            let name = Key::of(self.table.single(atom));
            scale.key = self.table.key_product(scale.key, name)?;
        }
        Ok(scale)
    }

    /// Divides a sum by its greatest common monomial and by its common power of two.
    ///
    /// The common part has the least power of each atom over all terms, and the least coefficient of each part of
    /// an exponent (0 where it is absent): so multiplying the sum by a monomial and a power of two changes the
    /// common part and nothing else.
    pub(super) fn take_common(&mut self, terms: Vec<Term>) -> Result<(Term, Vec<Term>), Stop> {
        let Some(first) = terms.first() else { return Ok((Term::one(), terms)) };
        let key = if terms.len() == 1 {
            first.key
        } else {
            self.charge(terms.len() as u64)?;
            Key::new(self.table.common_monomial(&terms), self.common_exponent(&terms)?)
        };
        let scale = Term::of(key);
        if key == Key::ONE {
            return Ok((scale, terms));
        }
        let inverse = self.table.key_power(key, -1)?;
        let mut rest = terms;
        for term in &mut rest {
            term.key = self.table.key_product(term.key, inverse)?;
        }
        collect(&mut rest);
        Ok((scale, rest))
    }

    pub(super) fn common_exponent(&mut self, terms: &[Term]) -> Result<PolynomialId, Stop> {
        let Some(first) = terms.first() else { return Ok(PolynomialId::ZERO) };
        if terms.iter().all(|term| term.exponent() == first.exponent()) {
            return Ok(first.exponent());
        }
        let mut least: FxHashMap<Key, (usize, Rational)> = FxHashMap::default();
        for term in terms {
            let parts = self.table.polynomials.shared_terms(term.exponent());
            self.charge(parts.len() as u64)?;
            for part in parts.iter() {
                match least.get_mut(&part.key) {
                    None => {
                        least.insert(part.key, (1, part.coefficient.clone()));
                    }
                    Some((count, coefficient)) => {
                        *count += 1;
                        if part.coefficient < *coefficient {
                            *coefficient = part.coefficient.clone();
                        }
                    }
                }
            }
        }
        let mut parts: Vec<Term> = Vec::new();
        for (key, (count, coefficient)) in least {
            let coefficient = if count < terms.len() { coefficient.min(Rational::ZERO) } else { coefficient };
            if !coefficient.is_zero() {
                parts.push(Term { key, coefficient });
            }
        }
        collect(&mut parts);
        Ok(self.table.polynomial(&parts))
    }

    /// Multiplies out named sums with positive powers, and powers of roots by `√a² = a`; adds up powers of the
    /// larger and the smaller of two numbers; names long sums.
    pub(super) fn expand(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let mut terms = terms;
        loop {
            // Before powers of logarithms are multiplied out, and again on the result.
            while let Some(added) = self.larger_and_smaller(&terms)? {
                terms = added;
            }
            if terms.iter().all(|term| !self.table.monomials.contents(term.monomial()).compound) {
                return self.fold(terms);
            }
            let multiplied = self.multiplied_out(terms.clone())?;
            if multiplied == terms {
                return self.fold(terms);
            }
            terms = multiplied;
        }
    }

    fn multiplied_out(&mut self, mut terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        // Multiplying out may create powers of roots, and those further sums.
        for _ in 0..64 {
            let mut changed = false;
            if terms.iter().all(|term| !self.table.monomials.contents(term.monomial()).compound) {
                return Ok(terms);
            }
            let mut out = Vec::with_capacity(terms.len());
            for term in terms {
                self.charge(1)?;
                if !self.table.monomials.contents(term.monomial()).compound {
                    out.push(term);
                    continue;
                }
                match self.expansion(term.monomial())? {
                    None => out.push(term),
                    Some(content) => {
                        let key = Key::new(MonomialId::ONE, term.exponent());
                        let scale = Term { coefficient: term.coefficient, key };
                        out.extend(self.scaled(&content, &scale)?);
                        changed = true;
                    }
                }
            }
            if changed {
                collect(&mut out);
            }
            terms = out;
            if !changed {
                return Ok(terms);
            }
        }
        Err(Stop::Unknown("square roots are nested too deeply".to_string()))
    }

    /// The expansion of a monomial, unless it is the monomial itself or too long.
    fn expansion(&mut self, monomial: MonomialId) -> Result<Option<Rc<[Term]>>, Stop> {
        self.remembered(|forms| &mut forms.expansions, monomial, |prover| prover.expand_monomial(monomial))
    }

    fn expand_monomial(&mut self, monomial: MonomialId) -> Result<Option<Rc<[Term]>>, Stop> {
        let scale = self.without_root_powers(monomial)?;
        let factors = self.table.monomials.shared_factors(scale.key.monomial());
        let mut kept = Vec::new();
        let mut sums = Vec::new();
        let mut size = 1usize;
        for (atom, power) in factors.iter() {
            let content = self.table.atom(*atom);
            if let Some(content) = content.sum().filter(|_| *power > 0) {
                let content = self.table.polynomials.shared_terms(content);
                size = size.saturating_mul(content.len().saturating_pow(power.unsigned_abs()));
                sums.push((content, *power));
            } else if let Some(argument) = content.argument_of(TermOp::Cos).filter(|_| *power > 1) {
                // `cos² = 1 − sin²`
                let sine = self.table.intern(Atom::Apply(TermOp::Sin, argument));
                let square = Key::of(self.table.atom_power(sine, 2));
                let content =
                    vec![Term::of(Key::ONE), Term { key: square, coefficient: Rational::MINUS_ONE }];
                let content: Rc<[Term]> = content.into();
                size = size.saturating_mul(1 << (power / 2).min(20));
                sums.push((content, power / 2));
                if power % 2 != 0 {
                    kept.push((*atom, 1));
                }
            } else {
                kept.push((*atom, *power));
            }
        }
        let unchanged = sums.is_empty() && scale.key == Key::of(monomial);
        if unchanged || size > MAX_EXPANSION {
            return Ok(None);
        }
        let kept = self.table.intern_factors(&kept);
        let start = Term { key: Key::new(kept, scale.key.exponent()), coefficient: scale.coefficient };
        let mut product = vec![start];
        for (content, power) in sums {
            for _ in 0..power {
                product = self.multiply(&product, &content)?;
            }
        }
        Ok(Some(Rc::from(product)))
    }

    /// Rewrites powers of square roots so that each root has power 0 or 1.
    fn without_root_powers(&mut self, monomial: MonomialId) -> Result<Term, Stop> {
        let mut scale = Term::of(Key::of(monomial));
        for _ in 0..64 {
            let factors = self.table.monomials.shared_factors(scale.key.monomial());
            let root = factors.iter().find_map(|(atom, power)| {
                let radicand = self.table.atom(*atom).argument_of(TermOp::Sqrt);
                radicand.filter(|_| *power != 1).map(|radicand| (*atom, *power, radicand))
            });
            let Some((atom, power, radicand)) = root else { return Ok(scale) };
            let whole = power.div_euclid(2);
            let radicand = self.factor_polynomial(radicand)?;
            let radicand = self.table.term_power(&radicand, whole)?;
            let root = self.table.atom_power(atom, -2 * whole);
            scale.key = self.table.key_product(scale.key, Key::of(root))?;
            scale = self.table.term_product(&scale, &radicand)?;
        }
        Err(Stop::Unknown("square roots are nested too deeply".to_string()))
    }

    /// Multiplies a sum by its denominators and expands: the result is zero exactly where the sum is, given that no
    /// denominator is zero (obligations, V8).
    pub(super) fn clear_denominators(&mut self, terms: Vec<Term>) -> Result<Vec<Term>, Stop> {
        let mut terms = self.expand(terms)?;
        for _ in 0..64 {
            let denominator = self.table.denominator(&terms);
            if denominator == MonomialId::ONE {
                return Ok(terms);
            }
            let scale = Term::of(Key::of(denominator));
            terms = self.scaled(&terms, &scale)?;
            terms = self.expand(terms)?;
        }
        Err(Stop::Unknown("denominators are nested too deeply".to_string()))
    }
}

impl Table {
    /// The only opaque atom of a monomial, if it has power 1, and the other factors.
    fn linear_lazy(&self, monomial: MonomialId) -> Option<(TermRef, Vec<(AtomId, i32)>)> {
        if !self.monomials.contents(monomial).lazy {
            return None;
        }
        self.only(monomial, Atom::opaque)
    }

    /// The product of the named sums in the denominators of terms, each with its highest power.
    pub(super) fn denominator(&mut self, terms: &[Term]) -> MonomialId {
        let mut highest: FxHashMap<AtomId, i32> = FxHashMap::default();
        for (atom, power) in terms.iter().flat_map(|term| self.monomials.factors(term.monomial())) {
            if *power < 0 && self.atom(*atom).sum().is_some() {
                let entry = highest.entry(*atom).or_insert(0);
                *entry = (*entry).max(-power);
            }
        }
        let mut factors: Vec<(AtomId, i32)> = highest.into_iter().collect();
        factors.sort_unstable();
        self.intern_factors(&factors)
    }

    /// The position of the first term in the order of content.
    pub(super) fn leading(&self, terms: &[Term]) -> Option<usize> {
        (0..terms.len()).min_by_key(|at| {
            let term = &terms[*at];
            let monomial = self.monomials.place(term.monomial());
            let exponent = self.polynomials.place(term.exponent());
            (monomial.lead.min(exponent.lead), monomial, exponent)
        })
    }

    /// An interned sum with opaque atoms, by which its form is memoized: the threads of a CTA that each add up the
    /// same parts in different orders share it.
    fn lazy_sum(&mut self, terms: &[Term]) -> Option<PolynomialId> {
        let lazy = |term: &Term| self.monomials.contents(term.monomial()).lazy;
        terms.iter().any(lazy).then(|| self.polynomial(terms))
    }

    /// The only atom of a kind in a monomial, if it has power 1, and the other factors.
    pub(super) fn only<T>(
        &self,
        monomial: MonomialId,
        kind: impl Fn(&Atom) -> Option<T>,
    ) -> Option<(T, Vec<(AtomId, i32)>)> {
        let mut found = None;
        let mut rest = Vec::new();
        for (atom, power) in self.monomials.factors(monomial) {
            match kind(self.atom(*atom)) {
                Some(one) if *power == 1 && found.is_none() => found = Some(one),
                Some(_) => return None,
                None => rest.push((*atom, *power)),
            }
        }
        found.map(|found| (found, rest))
    }

    /// Whether an exponent has no opaque atoms, and no integer summand that belongs in the coefficient.
    fn is_settled(&self, exponent: PolynomialId) -> bool {
        let whole = |term: &Term| term.key == Key::ONE && !term.coefficient.floor().is_zero();
        !self.polynomials.is_lazy(exponent) && !self.polynomials.terms(exponent).first().is_some_and(whole)
    }

    pub(super) fn common_monomial(&mut self, terms: &[Term]) -> MonomialId {
        let Some(first) = terms.first() else { return MonomialId::ONE };
        if terms.iter().all(|term| term.monomial() == first.monomial()) {
            return first.monomial();
        }
        let mut least: FxHashMap<AtomId, (usize, i32)> = FxHashMap::default();
        for term in terms {
            for (atom, power) in self.monomials.factors(term.monomial()) {
                let entry = least.entry(*atom).or_insert((0, *power));
                *entry = (entry.0 + 1, entry.1.min(*power));
            }
        }
        let power = |(count, power): (usize, i32)| if count < terms.len() { power.min(0) } else { power };
        let mut factors: Vec<(AtomId, i32)> = least
            .into_iter()
            .map(|(atom, entry)| (atom, power(entry)))
            .filter(|(_, power)| *power != 0)
            .collect();
        factors.sort_unstable();
        self.intern_factors(&factors)
    }
}
