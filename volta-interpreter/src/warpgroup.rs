//! Products of matrices by a warpgroup; each warp computes 16 rows.
//!
//! A product is executed at some time before it is waited for, and those of a warp in their order. It reads shared
//! memory and the registers of A only then. Fragments of a warp are those of `mma` with 16 rows: those of A are the
//! same, those of the result lie side by side, 8 columns each.
//!
//! Source: PTX ISA, "Matrix fragments for wgmma.mma_async" and the neighbouring sections.

use std::collections::VecDeque;

use super::cta::Cta;
use super::float::Format;
use super::layout::{self, Descriptor};
use super::matrix::{self, Element, Elements, Role, Shape};
use super::memory::{SHARED_BYTES, STATIC_END, shared_of};
use super::op::{Register, Source, Space};

/// The rows of one warp.
pub const ROWS: usize = 16;

/// A factor.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Factor {
    Registers(Vec<Source>),
    Shared { descriptor: Source, k_major: bool },
}

/// A warp's part of `wgmma.mma_async`.
#[derive(Clone, Debug)]
pub struct Product {
    /// The shape, with the rows of one warp.
    pub shape: Shape,
    /// The elements of all matrices.
    pub elements: Elements,
    /// The accumulator: addend and result.
    pub d: Vec<Register>,
    /// The left factor: 16 rows, or all 64 in shared memory.
    pub a: Factor,
    /// The right factor.
    pub b: Factor,
    /// Whether the previous contents of `d` are added.
    pub adds: Source,
    /// Whether A and B are negated.
    pub negated: [bool; 2],
    /// Whether sums of integers saturate.
    pub satfinite: bool,
}

/// A product that has not been executed.
#[derive(Debug)]
pub(super) struct Pending<'r> {
    /// The number of groups that the warp committed before.
    group: u64,
    product: &'r Product,
    /// The places of factors in shared memory.
    factors: [Option<layout::SharedFactor>; 2],
    adds: bool,
}

/// The products of a warp.
#[derive(Debug, Default)]
pub(super) struct Products<'r> {
    /// Oldest first.
    pending: VecDeque<Pending<'r>>,
    /// The number of committed groups.
    groups: u64,
}

impl<'r> Cta<'r> {
    /// A warp starts a product.
    pub(super) fn start_product(&mut self, first: usize, product: &'r Product) -> Result<(), String> {
        let launch = self.launch(first);
        let own = 32 * (first / 32 % launch.threads().div_ceil(32));
        if launch.threads() < (own / 128 + 1) * 128 {
            return Err("a warpgroup has four warps".into());
        }
        let agreed = |source: Source| {
            let value = self.value(first, source);
            let same = (first..first + 32).all(|number| self.value(number, source) == value);
            same.then_some(value).ok_or("lanes do not agree on a product")
        };
        let Elements { a, b, .. } = product.elements;
        let place = |factor: &Factor, bits: u32| match factor {
            Factor::Registers(_) => Ok(None),
            Factor::Shared { descriptor, k_major } => {
                let mut descriptor = Descriptor::decode(agreed(*descriptor)?)?;
                // Static shared memory lies in the last range that a descriptor can address.
                let dynamic = u64::from(launch.dynamic_shared);
                if self.program.shared_bytes + dynamic > SHARED_BYTES {
                    return Err("there is more shared memory than a descriptor reaches".to_string());
                }
                if descriptor.start >= dynamic {
                    descriptor.start += STATIC_END - SHARED_BYTES;
                }
                descriptor.start += shared_of(launch.window);
                Ok::<_, String>(Some(layout::SharedFactor::new(descriptor, *k_major, u64::from(bits / 8))))
            }
        };
        let factors = [place(&product.a, a.bits())?, place(&product.b, b.bits())?];
        let adds = agreed(product.adds)? & 1 == 1;
        let products = self.products.entry(first / 32).or_default();
        products.pending.push_back(Pending { group: products.groups, product, factors, adds });
        Ok(())
    }

    /// Ends a warp's group of products.
    pub(super) fn commit_products(&mut self, first: usize) {
        self.products.entry(first / 32).or_default().groups += 1;
    }

    /// Executes the products that a warp waits for: all of its groups except the newest ones.
    pub(super) fn wait_products(&mut self, first: usize, newest: u64) -> Result<(), String> {
        let below = self.products.get(&(first / 32)).map_or(0, |held| held.groups.saturating_sub(newest));
        self.do_products(first / 32, |pending| pending.group < below)
    }

    /// Executes all products of a warp, before its registers cease to exist.
    pub(super) fn finish_products(&mut self, warp: usize) -> Result<(), String> {
        self.do_products(warp, |_| true)
    }

    /// May execute a product of a warp now.
    pub(super) fn progress_products(&mut self, warp: usize) -> Result<(), String> {
        let waits = self.products.get(&warp).is_some_and(|products| !products.pending.is_empty());
        let mut due = waits && self.random.below(4) == 0;
        self.do_products(warp, |_| std::mem::take(&mut due))
    }

    /// Executes a warp's products in order, up to the first that is not due.
    fn do_products(
        &mut self,
        warp: usize,
        mut is_due: impl FnMut(&Pending<'r>) -> bool,
    ) -> Result<(), String> {
        while let Some(products) = self.products.get_mut(&warp)
            && products.pending.front().is_some_and(&mut is_due)
            && let Some(pending) = products.pending.pop_front()
        {
            self.do_product(32 * warp, &pending)?;
        }
        Ok(())
    }

    fn do_product(&mut self, first: usize, pending: &Pending<'r>) -> Result<(), String> {
        let Pending { product, factors, adds, .. } = pending;
        let Product { shape, elements, d, .. } = product;
        let Shape { n, k, .. } = *shape;
        let Elements { a, b, d: result, .. } = *elements;
        let sign = |at: usize, bits: u32| if product.negated[at] { 1 << (bits - 1) } else { 0 };
        let mut left = vec![0; ROWS * k];
        match (&product.a, &factors[0]) {
            (Factor::Registers(sources), _) => {
                for (lane, slots) in self.slots(first, a, sources).iter().enumerate() {
                    for (index, value) in slots.iter().enumerate() {
                        let (row, col) = matrix::position(Role::A, *shape, a, lane, index);
                        left[row * k + col] = *value;
                    }
                }
            }
            (Factor::Shared { .. }, None) => return Err("a factor that lies nowhere".into()),
            (Factor::Shared { .. }, Some(place)) => {
                let above = first / 32 % self.launch(first).threads().div_ceil(32) % 4 * ROWS;
                for (at, to) in left.iter_mut().enumerate() {
                    let address = place.address((above + at / k) as u64, (at % k) as u64);
                    *to = self.read(first, Space::Shared, address, a.bits() / 8)?;
                }
            }
        }
        let Some(place) = &factors[1] else { return Err("a factor that lies nowhere".into()) };
        let mut right = vec![0; k * n];
        for (at, to) in right.iter_mut().enumerate() {
            let address = place.address((at % n) as u64, (at / n) as u64);
            *to = self.read(first, Space::Shared, address, b.bits() / 8)?;
        }
        left.iter_mut().for_each(|bits| *bits ^= sign(0, a.bits()));
        right.iter_mut().for_each(|bits| *bits ^= sign(1, b.bits()));
        let position = |lane: usize, index: usize| {
            let (row, col) = result_position(lane, index);
            row * n + col
        };
        let sources: Vec<Source> = d.iter().map(|register| Source::Register(*register)).collect();
        let mut slots = self.slots(first, result, &sources);
        let mut sum = vec![0; ROWS * n];
        if *adds {
            for (lane, slots) in slots.iter().enumerate() {
                slots.iter().enumerate().for_each(|(index, value)| sum[position(lane, index)] = *value);
            }
        }
        let sum = matrix::multiply(*shape, *elements, product.satfinite, &left, &right, &sum)?;
        for (lane, slots) in slots.iter_mut().enumerate() {
            slots.iter_mut().enumerate().for_each(|(index, slot)| *slot = sum[position(lane, index)]);
        }
        self.put(first, result, d, &slots);
        Ok(())
    }
}

/// Row and column of an element of a lane's part of the result, which consists of blocks of 8 columns.
fn result_position(lane: usize, index: usize) -> (usize, usize) {
    let core = Shape { m: ROWS, n: 8, k: 0 };
    let (row, col) = matrix::position(Role::C, core, Element::Float(Format::F32), lane, index % 4);
    (row, 8 * (index / 4) + col)
}

#[cfg(test)]
mod tests {
    use super::super::layout::Mode;
    use super::*;

    /// Fragments in CuTe's notation, from thread and value to `row + 64·column`:
    /// A `((4,8,4),(e,2,2)):((64·e,1,16),(64,8,64·4·e))`, the result `((4,8,4),(2,2,n/8)):((128,1,16),(64,8,512))`.
    #[test]
    fn fragments_are_those_of_the_atoms() {
        let mode = |parts: &[(u64, u64)], last: u64| Mode { parts: parts.to_vec(), last };
        let shape = |k: usize| Shape { m: ROWS, n: 24, k };
        for (format, k, each) in [(Format::Tf32, 8, 1), (Format::Bf16, 16, 2), (Format::E5m2, 32, 4)] {
            let threads = mode(&[(4, 64 * each), (8, 1)], 16);
            let values = mode(&[(each, 64), (2, 8)], 64 * 4 * each);
            for thread in 0..128 {
                for value in 0..4 * each {
                    let (lane, index) = (thread as usize % 32, value as usize);
                    let (row, col) = matrix::position(Role::A, shape(k), Element::Float(format), lane, index);
                    let expected = threads.offset(thread) + values.offset(value);
                    assert_eq!((thread / 32 * 16) + (row + 64 * col) as u64, expected, "{format:?} {thread}");
                }
            }
        }
        let (threads, values) = (mode(&[(4, 128), (8, 1)], 16), mode(&[(2, 64), (2, 8)], 512));
        for thread in 0..128 {
            for value in 0..12 {
                let (row, col) = result_position(thread as usize % 32, value as usize);
                let expected = threads.offset(thread) + values.offset(value);
                assert_eq!((thread / 32 * 16) + (row + 64 * col) as u64, expected, "{thread} {value}");
            }
        }
    }
}
