//! Sums whose parts are chosen by one order: `(p < q ? a : b) + (p < q ? b : a)·f`.
//!
//! Where a kernel merges two parts of a softmax and swaps the larger and the smaller by choices, no single choice
//! is one of its arms under a scale, but the sum is: it is the sum of the other order, times such a power. The sum
//! is rewritten like one choice ([`Prover::power_of_choice`]): the forms in both orders are compared, and the walk
//! continues with the parts.
//!
//! All choices of the sum must agree where `p` and `q` are equal: their conditions are brought to a strict order.

use super::Stop;
use super::analysis::INFINITE;
use super::extended_value::Class;
use super::id::TermRef;
use super::memo::Parts;
use super::polynomial::{Key, Term, add, collect, negated};
use super::prover::Prover;
use super::tactic::Choices;
use super::terms::{Order, Terms};
use crate::number::Rational;
use crate::term::{Kind, Product, Sum, TermId, View};
use smallvec::SmallVec;

/// Factors of a sum of products that are considered.
const MAX_FACTORS: usize = 8;

/// The factors of a product.
type Factors = SmallVec<[TermRef; 2]>;

impl Terms<'_> {
    /// The products that a sum adds up, each with its sign, as factors.
    fn products_of(&self, at: TermRef) -> Option<SmallVec<[(bool, Factors); 2]>> {
        let View::Apply(op, [a, b, c]) = self.view(at) else { return None };
        let Kind::Sum(sum) = *op.kind() else { return None };
        let mut products: SmallVec<[(bool, SmallVec<[TermId; 2]>); 2]> = match sum {
            Sum::Fma => [(false, [a, b].into()), (false, [c].into_iter().collect())].into(),
            Sum::Add => [a, b].map(|term| (false, [term].into_iter().collect())).into(),
            Sum::Sub => {
                [(false, a), (true, b)].map(|(minus, term)| (minus, [term].into_iter().collect())).into()
            }
        };
        let mut found = SmallVec::new();
        let mut count = 0;
        for (minus, open) in &mut products {
            let mut factors = SmallVec::new();
            while let Some(term) = open.pop() {
                count += 1;
                if count > MAX_FACTORS {
                    return None;
                }
                let factor = TermRef { store: at.store, term };
                let kind = match self.view(factor) {
                    View::Apply(op, operands) => Some((op.kind(), operands)),
                    View::Input { .. } | View::Constant(_) => None,
                };
                match kind {
                    Some((Kind::Product(Product::Mul), [a, b, _])) => open.extend([a, b]),
                    Some((Kind::Product(Product::Neg), [a, ..])) => {
                        *minus = !*minus;
                        open.push(a);
                    }
                    Some(_) | None => factors.push(factor),
                }
            }
            found.push((*minus, factors));
        }
        Some(found)
    }
}

impl<'s> Prover<'s> {
    /// A sum of parts that one order chooses, rewritten as parts that do not depend on the order, each under a scale.
    pub(super) fn sum_of_choices(&mut self, at: TermRef) -> Result<Option<Parts>, Stop> {
        if self.tactic.choices != Choices::Scaled {
            return Ok(None);
        }
        let Some(products) = self.terms.products_of(at) else { return Ok(None) };
        let factors = products.iter().flat_map(|(_, factors)| factors);
        let mut orders = factors.filter_map(|factor| Some(self.terms.chosen(*factor)?.0));
        let Some(order) = orders.next().filter(|first| orders.any(|other| other == *first)) else {
            return Ok(None);
        };
        if let Some(known) = self.forms.chosen_sums.get(&at) {
            return Ok(known.clone());
        }
        let found = self.parts_in_order(at, order, &products)?;
        self.forms.chosen_sums.insert(at, found.clone());
        Ok(found)
    }

    fn parts_in_order(
        &mut self,
        at: TermRef,
        order: Order,
        products: &[(bool, Factors)],
    ) -> Result<Option<Parts>, Stop> {
        let Some(larger) = self.terms.larger_of(order.low, order.high) else { return Ok(None) };
        let larger = self.table.opaque(larger);
        let factors = products.iter().flat_map(|(_, factors)| factors);
        let arms = factors.flat_map(|factor| [(*factor, true), (*factor, false)]);
        let arms = arms.map(|(factor, holds)| self.terms.in_order(factor, order, holds).unwrap_or(factor));
        let operands: Vec<TermRef> = arms.chain([order.low, order.high]).collect();
        for operand in operands {
            if self.terms.flags(operand) & INFINITE != 0 && self.class(operand)? != Class::Finite {
                return Ok(None);
            }
        }
        let Some(when_less) = self.parts_where(order, true, products)? else { return Ok(None) };
        let Some(mut when_not) = self.parts_where(order, false, products)? else { return Ok(None) };
        // The forms are made without the assumption: the scale must hold whichever order holds.
        let scale = self.shallowly(|prover| {
            let (first, second) = (prover.added_up(at, &when_less)?, prover.added_up(at, &when_not)?);
            let one = |at: TermRef| [(at.term, Term::one())];
            let low = prover.added_up(at, &one(order.low))?;
            let high = prover.added_up(at, &one(order.high))?;
            let gap = add(&high, &negated(&low));
            let Some(scale) = prover.power_between(&first, &second, &gap)? else { return Ok(None) };
            let mut raised = negated(&low);
            raised.push(Term::of(Key::of(prover.table.single(larger))));
            collect(&mut raised);
            let exponent = prover.scaled(&raised, &scale)?;
            prover.exponential(exponent).map(Some)
        })?;
        let Some(scale) = scale else { return Ok(None) };
        for (_, own) in &mut when_not {
            *own = self.table.term_product(own, &scale)?;
        }
        Ok(Some(when_not.into()))
    }

    /// The summands where an order holds, or where it does not: terms that do not depend on it, each under a scale.
    fn parts_where(
        &mut self,
        order: Order,
        holds: bool,
        products: &[(bool, Factors)],
    ) -> Result<Option<Vec<(TermId, Term)>>, Stop> {
        let mut parts = Vec::with_capacity(products.len());
        for (minus, factors) in products {
            let mut own = Term::number(if *minus { Rational::MINUS_ONE } else { Rational::ONE });
            let mut part = None;
            for factor in factors.iter().copied() {
                let arm = self.terms.in_order(factor, order, holds);
                let is_power = arm.is_none()
                    && matches!(self.terms.view(factor), View::Apply(op, _) if matches!(op.kind(), Kind::Exponential));
                if is_power {
                    let power = self.ordered(order, holds, |prover| prover.power_of_two(factor))?;
                    let Some(power) = power.filter(|power| !power.is_zero()) else { return Ok(None) };
                    own = self.table.term_product(&own, &power)?;
                } else if part.is_none() {
                    part = Some(arm.unwrap_or(factor).term);
                } else {
                    return Ok(None);
                }
            }
            let Some(part) = part else { return Ok(None) };
            parts.push((part, own));
        }
        Ok(Some(parts))
    }

    /// The form of the sum of parts, under the current tactic.
    fn added_up(&mut self, at: TermRef, parts: &[(TermId, Term)]) -> Result<Vec<Term>, Stop> {
        let mut sum = Vec::new();
        for (term, own) in parts {
            let flat = self.flat(TermRef { store: at.store, term: *term })?;
            let form = self.spread(&flat)?;
            sum.extend(self.scaled(&form, own)?);
        }
        collect(&mut sum);
        Ok(sum)
    }
}
