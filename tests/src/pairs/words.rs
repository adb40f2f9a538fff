//! Integer words: bytes packed four to a word, bit fields, and bitwise operations.

use super::builder::{Terms, X, Y};
use volta_core::term::{TermId, TermOp};

fn scaled(terms: &mut Terms, a: TermId, num: i64, den: i64) -> TermId {
    let factor = terms.ratio(num, den);
    terms.mul(a, factor)
}

/// `⌊a/2^by⌋`
fn right(terms: &mut Terms, a: TermId, by: u32) -> TermId {
    let quotient = scaled(terms, a, 1, 1 << by);
    terms.op(TermOp::Floor, &[quotient])
}

fn masked(terms: &mut Terms, a: TermId, mask: i64) -> TermId {
    let mask = terms.ratio(mask, 1);
    terms.op(TermOp::BitAnd, &[a, mask])
}

fn xor(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let sum = terms.add(a, b);
    let common = terms.op(TermOp::BitAnd, &[a, b]);
    let twice = scaled(terms, common, 2, 1);
    terms.sub(sum, twice)
}

fn or(terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let sum = terms.add(a, b);
    let common = terms.op(TermOp::BitAnd, &[a, b]);
    terms.sub(sum, common)
}

/// The lowest byte as a signed number in two's complement.
fn signed_byte(terms: &mut Terms, a: TermId) -> TermId {
    let byte = masked(terms, a, 255);
    let high = right(terms, byte, 7);
    let wrap = scaled(terms, high, 256, 1);
    terms.sub(byte, wrap)
}

/// Four bytes as a word.
fn word(terms: &mut Terms, bytes: &[TermId]) -> TermId {
    let (first, rest) = bytes.split_first().expect("some bytes");
    rest.iter().zip(1u32..).fold(*first, |word, (byte, at)| {
        let shifted = scaled(terms, *byte, 1 << (8 * at), 1);
        terms.add(word, shifted)
    })
}

/// `Σ ((xᵢ & 63) − 32)·yᵢ` of bytes.
pub(super) fn codes(terms: &mut Terms, n: u64) -> TermId {
    let products: Vec<TermId> = (0..n)
        .map(|at| {
            let byte = terms.input(X, at);
            let (code, middle) = (masked(terms, byte, 63), terms.ratio(32, 1));
            let centred = terms.sub(code, middle);
            let other = terms.input(Y, at);
            terms.mul(centred, other)
        })
        .collect();
    terms.in_order(&products, TermOp::Add)
}

/// Four bytes at a time: the subtraction from each byte of a word causes no borrow, since its highest bit is set
/// before.
fn packed(terms: &mut Terms, n: u64, middle: i64) -> TermId {
    const HIGH: i64 = 0x8080_8080;
    let mut sums = Vec::new();
    for first in (0..n).step_by(4) {
        let places = first..(first + 4).min(n);
        let bytes: Vec<TermId> = places.clone().map(|at| terms.input(X, at)).collect();
        let whole = word(terms, &bytes);
        let codes = masked(terms, whole, 0x3f3f_3f3f);
        let (high, low) = (terms.ratio(HIGH, 1), terms.ratio(middle * 0x0101_0101, 1));
        let raised = terms.add(codes, high);
        let lowered = terms.sub(raised, low);
        let turned = xor(terms, lowered, high);
        for (at, place) in places.zip(0u32..) {
            let byte = right(terms, turned, 8 * place);
            let code = signed_byte(terms, byte);
            let other = terms.input(Y, at);
            sums.push(terms.mul(code, other));
        }
    }
    terms.in_pairs(&sums, TermOp::Add)
}

/// The sum of codes, four bytes at a time.
pub(super) fn codes_by_words(terms: &mut Terms, n: u64) -> TermId {
    packed(terms, n, 32)
}

/// Near miss: another number is subtracted.
pub(super) fn codes_off_by_one(terms: &mut Terms, n: u64) -> TermId {
    packed(terms, n, 31)
}

/// `Σ xᵢ·i + yᵢ` of words.
pub(super) fn weighted(terms: &mut Terms, n: u64) -> TermId {
    weighted_by(terms, n, |_, a, b| (a, b))
}

fn weighted_by(
    terms: &mut Terms,
    n: u64,
    swapped: fn(&mut Terms, TermId, TermId) -> (TermId, TermId),
) -> TermId {
    let parts: Vec<TermId> = (0..n)
        .map(|at| {
            let (a, b) = (terms.input(X, at), terms.input(Y, at));
            let (a, b) = swapped(terms, a, b);
            let scaled = scaled(terms, a, at as i64 + 2, 1);
            terms.add(scaled, b)
        })
        .collect();
    terms.in_order(&parts, TermOp::Add)
}

/// The weighted sum, with operands swapped twice by exclusive or.
pub(super) fn swapped_twice(terms: &mut Terms, n: u64) -> TermId {
    weighted_by(terms, n, |terms, a, b| {
        let (mut a, mut b) = (a, b);
        for _ in 0..2 {
            a = xor(terms, a, b);
            b = xor(terms, a, b);
            a = xor(terms, a, b);
        }
        (a, b)
    })
}

/// The weighted sum, with operands written `(a | b) − (~a & b)` and `(a & b) + (b & ~a)`.
pub(super) fn by_complements(terms: &mut Terms, n: u64) -> TermId {
    weighted_by(terms, n, |terms, a, b| {
        let ones = terms.ratio(u32::MAX.into(), 1);
        let not = terms.sub(ones, a);
        let only = terms.op(TermOp::BitAnd, &[not, b]);
        let (either, both) = (or(terms, a, b), terms.op(TermOp::BitAnd, &[a, b]));
        (terms.sub(either, only), terms.add(both, only))
    })
}

/// Near miss: the last step of the swap is left out.
pub(super) fn swapped_in_part(terms: &mut Terms, n: u64) -> TermId {
    weighted_by(terms, n, |terms, a, b| {
        let a = xor(terms, a, b);
        let b = xor(terms, a, b);
        let a = xor(terms, a, b);
        (b, xor(terms, a, b))
    })
}
