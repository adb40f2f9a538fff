//! Where the factors of a matrix product lie that the lanes of a warp multiply.

use super::fragment_layout;
use super::warp::LANE_BITS;
use crate::base::lane::Lane;
use crate::program::matrix::MatrixProduct;
use crate::value::register::Affine;
use rustc_hash::FxHashMap;

/// Where a factor lies that each lane multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Factor {
    /// Index of the element among those in the registers of the lane that holds it.
    pub(crate) at: usize,
    /// The lane that holds the factor of lane 0.
    lane: Lane,
    /// For each bit of a lane's number, the bit by which the number of the holding lane differs, if it differs.
    bits: [Option<u8>; LANE_BITS],
}

/// Where the factors of a product lie.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) product: MatrixProduct,
    /// Distinct factors of A and of B.
    pub(crate) left: Vec<Factor>,
    pub(crate) right: Vec<Factor>,
    /// For each element of D that a lane computes, which factors it multiplies, in order.
    pub(crate) products: Vec<Vec<(usize, usize)>>,
}

impl Plan {
    /// `None` where holding lanes do not depend on the bits of the lane's number in this way.
    pub(crate) fn new(product: MatrixProduct) -> Option<Plan> {
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

impl Factor {
    /// The factors of all threads, from the terms of the element at this index.
    pub(crate) fn of<const B: usize>(&self, element: &Affine<B>) -> Affine<B> {
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
    use crate::number::format::Format;
    use crate::program::matrix::MatrixElement;
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
                        let (row, column) = fragment_layout::of_c(lane, at);
                        let holder = |factor: &Factor| {
                            let set = (0..LANE_BITS).filter(|bit| lane.number() >> bit & 1 == 1);
                            let lane = set
                                .filter_map(|bit| factor.bits[bit])
                                .fold(factor.lane.number(), |lane, bit| lane + (1 << bit));
                            (Lane::new(lane), factor.at)
                        };
                        let (from, number) = holder(&plan.left[*x]);
                        assert_eq!(fragment_layout::of_a(shape, product.a, from, number), (row, inner));
                        let (from, number) = holder(&plan.right[*y]);
                        assert_eq!(fragment_layout::of_b(product.b, from, number), (inner, column));
                    }
                }
            }
        }
    }
}
