//! Matrix products of all warps at once: where fragments are affine from thread to thread, so are the factors that the
//! lanes multiply.

use super::lockstep_threads::AllThreads;
use crate::base::lane::Lane;
use crate::machine::exec::arithmetic::float::raw_reals;
use crate::machine::group::fragment_layout;
use crate::machine::group::lockstep::{LANE_BITS, Lockstep, intern_operand};
use crate::machine::group::values::Matrices;
use crate::machine::group::warp::Warp;
use crate::number::format::Format;
use crate::program::matrix::{MatrixElement, MatrixProduct};
use crate::program::{InstId, RegId, Src};
use crate::term::{BitStrides, TermOp, TermOperand};
use crate::value::register::{Affine, Held};
use crate::value::{Sym, pair_halves};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Where a factor lies that each lane multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Factor {
    /// Index of the element among those in the registers of the lane that holds it.
    at: usize,
    /// The lane that holds the factor of lane 0.
    lane: Lane,
    /// For each bit of a lane's number, the bit by which the number of the holding lane differs, if it differs.
    bits: [Option<u8>; LANE_BITS],
}

/// Where the factors of a product lie.
#[derive(Debug)]
pub(crate) struct Plan {
    product: MatrixProduct,
    /// Distinct factors of A and of B.
    left: Vec<Factor>,
    right: Vec<Factor>,
    /// For each element of D that a lane computes, which factors it multiplies, in order.
    products: Vec<Vec<(usize, usize)>>,
}

impl Plan {
    /// `None` where holding lanes do not depend on the bits of the lane's number in this way.
    fn new(product: MatrixProduct) -> Option<Plan> {
        let shape = product.shape;
        let [m, n, k] = [shape.m, shape.n, shape.k].map(usize::from);
        let of_a = |lane, at| fragment_layout::of_a(shape, product.a, lane, at);
        let of_b = |lane, at| fragment_layout::of_b(product.b, lane, at);
        let (holders_of_a, holders_of_b) = (holders(m * k, of_a), holders(k * n, of_b));
        let mut plan = Plan { product, left: Vec::new(), right: Vec::new(), products: Vec::new() };
        for at in 0..m * n / 32 {
            let mut products = Vec::with_capacity(k);
            for inner in 0..k {
                let left = factor(&holders_of_a, |lane| (fragment_layout::of_c(lane, at).0, inner))?;
                let right = factor(&holders_of_b, |lane| (inner, fragment_layout::of_c(lane, at).1))?;
                products.push((position(&mut plan.left, left), position(&mut plan.right, right)));
            }
            plan.products.push(products);
        }
        Some(plan)
    }
}

/// By row and column of an element, the lane that holds it and its index in that lane's registers.
type Holders = FxHashMap<(usize, usize), (Lane, usize)>;

fn holders(elements: usize, place: impl Fn(Lane, usize) -> (usize, usize)) -> Holders {
    let all = Lane::all().flat_map(|lane| (0..elements / 32).map(move |at| (lane, at)));
    all.map(|(lane, at)| (place(lane, at), (lane, at))).collect()
}

/// Where the element that each lane needs lies.
fn factor(holders: &Holders, wanted: impl Fn(Lane) -> (usize, usize)) -> Option<Factor> {
    let holder = |lane: Lane| holders.get(&wanted(lane)).copied();
    let (first, at) = holder(Lane::FIRST)?;
    let mut bits = [None; LANE_BITS];
    for (bit, to) in bits.iter_mut().enumerate() {
        let (other, _) = holder(Lane::at(1 << bit))?;
        let apart = first.number() ^ other.number();
        if apart & (apart.wrapping_sub(1) | first.number()) != 0 {
            return None;
        }
        *to = (apart != 0).then_some(apart.trailing_zeros() as u8);
    }
    let follows = |lane: Lane| {
        let set = (0..LANE_BITS).filter(|bit| lane.number() >> bit & 1 == 1).filter_map(|bit| bits[bit]);
        let expected = set.fold(first.number(), |lane, bit| lane + (1 << bit));
        holder(lane).is_some_and(|(holder, number)| (holder.number(), number) == (expected, at))
    };
    Lane::all().all(follows).then_some(Factor { at, lane: first, bits })
}

/// The index of a factor in a list, to which it is added if it is new.
fn position(list: &mut Vec<Factor>, factor: Factor) -> usize {
    list.iter().position(|known| *known == factor).unwrap_or_else(|| {
        list.push(factor);
        list.len() - 1
    })
}

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

impl Factor {
    /// The factors of all threads, from the terms of the element at this index.
    fn of<const B: usize>(&self, element: &Affine<B>) -> Affine<B> {
        let mut steps = element.steps;
        for (step, bit) in steps.iter_mut().zip(self.bits) {
            *step = bit.map_or(0, |bit| element.steps[usize::from(bit)]);
        }
        Affine { first: element.lane(self.lane.number()), steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::matrix::MatrixShape;

    /// Each lane multiplies the elements of its row and its column, for all shapes.
    #[test]
    fn lanes_multiply_rows_with_columns() {
        let float = MatrixElement::Float;
        for (element, m, k) in [
            (Format::F16, 16, 8),
            (Format::F16, 16, 16),
            (Format::Bf16, 16, 16),
            (Format::Tf32, 16, 4),
            (Format::Tf32, 16, 8),
            (Format::F64, 8, 4),
            (Format::F64, 16, 16),
        ] {
            let shape = MatrixShape { m, n: 8, k };
            let result = if element == Format::F64 { Format::F64 } else { Format::F32 };
            let product = MatrixProduct {
                shape,
                a: float(element),
                b: float(element),
                c: float(result),
                d: float(result),
                saturate: false,
            };
            let Some(plan) = Plan::new(product) else { panic!("{product:?}") };
            assert_eq!(plan.products.len(), usize::from(m) / 4);
            for (at, products) in plan.products.iter().enumerate() {
                assert_eq!(products.len(), usize::from(k));
                for (inner, (x, y)) in products.iter().enumerate() {
                    for lane in Lane::all() {
                        let (row, column) = fragment::of_c(lane, at);
                        let holder = |factor: &Factor| {
                            let set = (0..LANE_BITS).filter(|bit| lane.number() >> bit & 1 == 1);
                            let lane = set
                                .filter_map(|bit| factor.bits[bit])
                                .fold(factor.lane.number(), |lane, bit| lane + (1 << bit));
                            (Lane::new(lane), factor.at)
                        };
                        let (from, number) = holder(&plan.left[*x]);
                        assert_eq!(fragment::of_a(shape, product.a, from, number), (row, inner));
                        let (from, number) = holder(&plan.right[*y]);
                        assert_eq!(fragment::of_b(product.b, from, number), (inner, column));
                    }
                }
            }
        }
    }
}
