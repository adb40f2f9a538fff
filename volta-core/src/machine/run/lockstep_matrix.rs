//! Matrix products of all warps at once: where fragments are affine from thread to thread, so are the factors that the
//! lanes multiply.

use super::lockstep_threads::AllThreads;
use crate::base::lane::Lane;
use crate::machine::exec::arithmetic::float::raw_reals;
use crate::machine::group::lockstep::{Lockstep, intern_operand};
use crate::machine::group::product_plan::{Factor, Plan};
use crate::machine::group::values::Matrices;
use crate::machine::group::warp::Warp;
use crate::number::format::Format;
use crate::program::matrix::{MatrixElement, MatrixProduct};
use crate::program::{InstId, RegId, Src};
use crate::term::{BitStrides, TermOp, TermOperand};
use crate::value::register::{Affine, Held};
use crate::value::{Sym, pair_halves};
use std::rc::Rc;

impl<const B: usize> Lockstep<B> {
    /// Where the factors of a product lie.
    fn plan(&mut self, product: MatrixProduct) -> Option<Rc<Plan>> {
        if let Some(known) = self.plans.iter().find(|plan| plan.product == product) {
            return Some(known.clone());
        }
        let plan = Rc::new(Plan::new(product)?);
        self.plans.push(plan.clone());
        Some(plan)
    }

    /// The terms of a fragment's elements in all threads, by index, if they are affine.
    fn elements(&mut self, warps: &[Warp], registers: &[Src], format: Format) -> Option<Vec<Affine<B>>> {
        let mut elements = Vec::with_capacity(2 * registers.len());
        for source in registers {
            let Src::Reg(register) = source else { return None };
            let held = self.held(warps, *register).filter(|held| held.symbolic)?;
            if format.bytes() == 2 {
                elements.extend(pair_halves(held.words, format)?);
            } else {
                elements.push(raw_reals(held.words, format)?);
            }
        }
        Some(elements)
    }
}

impl Matrices<'_, '_> {
    /// Multiplies the matrices of all warps, each element a chain of fused products. False where warps must do so one
    /// after the other.
    pub(super) fn multiply_lockstep<const B: usize>(
        &mut self,
        group: &mut AllThreads<'_, B>,
        pc: InstId,
        product: MatrixProduct,
        d: &[RegId],
        [a, b, c]: [&[Src]; 3],
    ) -> bool {
        if self.terms.store.is_ieee() {
            return false;
        }
        let MatrixProduct { a: MatrixElement::Float(of_a), b: MatrixElement::Float(of_b), .. } = product
        else {
            return false;
        };
        let (MatrixElement::Float(of_c), MatrixElement::Float(of_d)) = (product.c, product.d) else {
            return false;
        };
        if of_c.bytes() == 2 || of_d.bytes() == 2 {
            return false;
        }
        let Some(mut sums) = self.summands(group, c, of_c) else { return false };
        let (lockstep, warps) = (&mut *group.lockstep, &*group.warps);
        let Some(plan) = lockstep.plan(product) else { return false };
        let Some(left) = lockstep.elements(warps, a, of_a) else { return false };
        let Some(right) = lockstep.elements(warps, b, of_b) else { return false };
        let known =
            |all: &[Affine<B>]| all.iter().any(|terms| self.numbers.known.may_contain(terms.min_max()));
        if !self.numbers.known.is_empty() && known(&left) && known(&right) {
            return false;
        }
        let mut factors = |all: &[Affine<B>], places: &[Factor]| -> Vec<(TermOperand, BitStrides)> {
            places
                .iter()
                .map(|factor| intern_operand(&mut self.terms.store, &factor.of(&all[factor.at])))
                .collect()
        };
        let (left, right) = (factors(&left, &plan.left), factors(&right, &plan.right));
        for (sum, products) in sums.iter_mut().zip(&plan.products) {
            for (x, y) in products {
                let operands = [left[*x], right[*y], intern_operand(&mut self.terms.store, sum)];
                let Some(results) = self.terms.store.push_warps(TermOp::Fma, &operands, warps.len(), pc)
                else {
                    return false;
                };
                // Nodes are consecutive, and so are the results of all threads.
                *sum = Affine::strided(results.lane(Lane::FIRST), 1);
            }
        }
        for (d, sum) in d.iter().zip(sums) {
            let words = Affine { first: Sym::real_tag(of_d) | sum.first, ..sum };
            lockstep.hold(*d, Held { words, symbolic: true });
        }
        true
    }

    /// The terms of the elements of C in all threads.
    fn summands<const B: usize>(
        &mut self,
        group: &mut AllThreads<'_, B>,
        c: &[Src],
        format: Format,
    ) -> Option<Vec<Affine<B>>> {
        let mut sums = Vec::with_capacity(c.len());
        for source in c {
            if let Some([words]) = self.terms.context.numbers_of(group, [*source]) {
                let bits = Some(words.first).filter(|_| words.is_uniform())?;
                sums.push(Affine::uniform(self.reals().literal(format, bits)?));
            } else {
                sums.extend(group.lockstep.elements(group.warps, &[*source], format)?);
            }
        }
        Some(sums)
    }
}
