//! Integer operations on bits, and comparisons: bit-exact semantics (rule V4).

use crate::base::lane::{Lane, LaneMask};
use crate::program::{Compare, Int, Int1, Int2, Int3, PermuteMode, Width};

impl Int {
    /// The number that the low bits of a word encode.
    #[inline(always)]
    pub(crate) fn number(self, word: u64) -> i128 {
        let top = 64 - self.width.bits();
        if self.signed { i128::from((word << top) as i64 >> top) } else { i128::from(word << top >> top) }
    }

    /// The least and the greatest number of the type.
    pub(crate) fn limits(self) -> [i128; 2] {
        let bits = self.width.bits();
        if self.signed { [-(1 << (bits - 1)), (1 << (bits - 1)) - 1] } else { [0, (1 << bits) - 1] }
    }
}

/// The low bits of `x`, sign-extended to 64 bits.
#[inline(always)]
pub(crate) fn sign_extend(width: Width, x: u64) -> u64 {
    let top = 64 - width.bits();
    ((x << top) as i64 >> top) as u64
}

/// The result of an operation on one integer; its high bits are zero.
pub(crate) fn scalar1(op: Int1, ty: Int, x: u64) -> u64 {
    let mask = ty.width.mask();
    let bits = ty.width.bits();
    let x = x & mask;
    match op {
        Int1::Not => !x & mask,
        Int1::Neg => x.wrapping_neg() & mask,
        Int1::Abs => (sign_extend(ty.width, x) as i64).unsigned_abs() & mask,
        Int1::Cnot => u64::from(x == 0),
        Int1::Popc => u64::from(x.count_ones()),
        Int1::Clz => u64::from(x.leading_zeros() - (64 - bits)),
        Int1::Brev => x.reverse_bits() >> (64 - bits),
        Int1::FindTop | Int1::FindTopShift => {
            let negative = ty.signed && x >> (bits - 1) == 1;
            let y = if negative { !x & mask } else { x };
            match (y, op) {
                (0, _) => 0xffff_ffff,
                (_, Int1::FindTop) => u64::from(63 - y.leading_zeros()),
                _ => u64::from(bits - 1 - (63 - y.leading_zeros())),
            }
        }
    }
}

/// The result of an operation on two integers; `None` for a division by zero.
#[inline(always)]
pub(crate) fn scalar2(op: Int2, ty: Int, x: u64, y: u64) -> Option<u64> {
    let mask = ty.width.mask();
    let bits = ty.width.bits();
    let wide = |value: i128| (value as u64) & mask;
    Some(match op {
        Int2::Add => x.wrapping_add(y) & mask,
        Int2::Sub => x.wrapping_sub(y) & mask,
        Int2::MulLo => x.wrapping_mul(y) & mask,
        Int2::And => x & y & mask,
        Int2::Or => (x | y) & mask,
        Int2::Xor => (x ^ y) & mask,
        Int2::AddSat => saturate(ty, ty.number(x) + ty.number(y)),
        Int2::SubSat => saturate(ty, ty.number(x) - ty.number(y)),
        Int2::MulHi => {
            // The product of two 64-bit numbers fits 128 bits in either reading.
            if ty.signed {
                wide((ty.number(x) * ty.number(y)) >> bits)
            } else {
                let product = u128::from(x & mask) * u128::from(y & mask);
                (product >> bits) as u64 & mask
            }
        }
        Int2::MulWide => {
            let product = if ty.signed {
                (ty.number(x) * ty.number(y)) as u64
            } else {
                (u128::from(x & mask) * u128::from(y & mask)) as u64
            };
            if bits >= 32 { product } else { product & ((1 << (2 * bits)) - 1) }
        }
        Int2::Mul24Lo | Int2::Mul24Hi => {
            let top = |x: u64| {
                if ty.signed { i128::from((x << 40) as i64 >> 40) } else { i128::from(x & 0xff_ffff) }
            };
            let product = top(x) * top(y);
            if op == Int2::Mul24Lo { wide(product) } else { wide(product >> 16) }
        }
        Int2::Div | Int2::Rem => {
            let (x, y) = (ty.number(x), ty.number(y));
            if y == 0 {
                return None;
            }
            wide(if op == Int2::Div { x / y } else { x % y })
        }
        Int2::Min => wide(ty.number(x).min(ty.number(y))),
        Int2::Max => wide(ty.number(x).max(ty.number(y))),
        Int2::Shl => {
            let amount = (y & 0xffff_ffff).min(u64::from(bits)) as u32;
            x.checked_shl(amount).unwrap_or(0) & mask
        }
        Int2::Shr => {
            let amount = (y & 0xffff_ffff).min(u64::from(bits)) as u32;
            if ty.signed { wide(ty.number(x) >> amount) } else { (x & mask).checked_shr(amount).unwrap_or(0) }
        }
        Int2::MaskClamp | Int2::MaskWrap => {
            let clamp = op == Int2::MaskClamp;
            let narrow = |v: u64| if clamp { (v & 0xffff_ffff).min(32) } else { v & 31 };
            let (start, length) = (narrow(x), narrow(y));
            let ones = (1u64 << length) - 1;
            ones.checked_shl(start as u32).unwrap_or(0) & 0xffff_ffff
        }
    })
}

pub(crate) fn saturate(ty: Int, value: i128) -> u64 {
    let [low, high] = ty.limits();
    value.clamp(low, high) as u64 & ty.width.mask()
}

/// The result of an operation on three integers.
pub(crate) fn scalar3(op: Int3, ty: Int, [x, y, z]: [u64; 3]) -> u64 {
    let mask = ty.width.mask();
    let bits = ty.width.bits();
    match op {
        Int3::MadLo => x.wrapping_mul(y).wrapping_add(z) & mask,
        Int3::MadHi => scalar2(Int2::MulHi, ty, x, y).unwrap_or(0).wrapping_add(z) & mask,
        Int3::MadWide => {
            let sum = scalar2(Int2::MulWide, ty, x, y).unwrap_or(0).wrapping_add(z);
            if bits >= 32 { sum } else { sum & ((1 << (2 * bits)) - 1) }
        }
        Int3::Sad => (ty.number(x) - ty.number(y)).unsigned_abs().wrapping_add(u128::from(z)) as u64 & mask,
        Int3::Extract => extract(ty, x, y, z),
        Int3::ShfLeftWrap | Int3::ShfLeftClamp | Int3::ShfRightWrap | Int3::ShfRightClamp => {
            let double = (y & 0xffff_ffff) << 32 | x & 0xffff_ffff;
            let wrap = matches!(op, Int3::ShfLeftWrap | Int3::ShfRightWrap);
            let amount = if wrap { z & 31 } else { (z & 0xffff_ffff).min(32) };
            if matches!(op, Int3::ShfLeftWrap | Int3::ShfLeftClamp) {
                ((u128::from(double) << amount) >> 32) as u64 & 0xffff_ffff
            } else {
                double >> amount & 0xffff_ffff
            }
        }
        Int3::Permute(mode) => permute(mode, x, y, z),
        Int3::Lop3(table) => (0..bits).fold(0, |out, at| {
            let index = (x >> at & 1) << 2 | (y >> at & 1) << 1 | z >> at & 1;
            out | (u64::from(table) >> index & 1) << at
        }),
        Int3::Dp4a(a, b) => dot(x, y, z, 4, |at| at, (a, b)),
        Int3::Dp2aLo(a, b) => dot(x, y, z, 2, |at| at, (a, b)),
        Int3::Dp2aHi(a, b) => dot(x, y, z, 2, |at| at + 2, (a, b)),
    }
}

/// `c + Σ aᵢ·bᵢ` over bytes (four terms) or over 16-bit halves of `a` and bytes of `b` (two terms).
fn dot(a: u64, b: u64, c: u64, terms: u32, byte: impl Fn(u32) -> u32, signed: (bool, bool)) -> u64 {
    let part = |x: u64, at: u32, bits: u32, signed: bool| {
        let raw = x >> (at * bits) & ((1 << bits) - 1);
        if signed { (raw << (64 - bits)) as i64 >> (64 - bits) } else { raw as i64 }
    };
    let wide = if terms == 4 { 8 } else { 16 };
    let sum: i64 = (0..terms).map(|at| part(a, at, wide, signed.0) * part(b, byte(at), 8, signed.1)).sum();
    c.wrapping_add(sum as u64) & 0xffff_ffff
}

/// `bfe`
fn extract(ty: Int, x: u64, position: u64, length: u64) -> u64 {
    let bits = ty.width.bits();
    let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
    if length == 0 {
        return 0;
    }
    let top = bits - 1;
    let sign_at = (position + length - 1).min(top);
    let fill = ty.signed && x >> sign_at & 1 == 1;
    (0..bits).fold(0, |out, at| {
        let from = position + at;
        let bit = if at < length && from <= top { x >> from & 1 == 1 } else { fill };
        out | u64::from(bit) << at
    })
}

/// `bfi`
pub(crate) fn scalar_insert(width: Width, a: u64, b: u64, position: u64, length: u64) -> u64 {
    let bits = width.bits();
    let (position, length) = ((position & 0xff) as u32, (length & 0xff) as u32);
    (0..length).filter(|at| position + at < bits).fold(b & width.mask(), |out, at| {
        let to = position + at;
        let bit = if at < bits { a >> at & 1 } else { 0 };
        out & !(1 << to) | bit << to
    })
}

fn permute(mode: PermuteMode, x: u64, y: u64, selector: u64) -> u64 {
    let source = (y & 0xffff_ffff) << 32 | x & 0xffff_ffff;
    let byte = |at: u64| source >> (8 * (at & 7)) & 0xff;
    let selector = selector_of(mode, selector);
    (0..4).fold(0, |out, at| {
        let nibble = selector >> (4 * at) & 0xf;
        let value = byte(nibble);
        let value = if nibble & 8 == 0 { value } else { (value >> 7) * 0xff };
        out | value << (8 * at)
    })
}

/// The selector of a mode-less `prmt` that has the effect of a mode.
pub(crate) fn selector_of(mode: PermuteMode, selector: u64) -> u64 {
    let n = selector & 3;
    let pick: [u64; 4] = match mode {
        PermuteMode::Generic => return selector,
        PermuteMode::F4e => [n, n + 1, n + 2, n + 3],
        PermuteMode::B4e => [n, n + 7, n + 6, n + 5],
        PermuteMode::Rc8 => [n, n, n, n],
        PermuteMode::Ecl => [n, n.max(1), n.max(2), 3],
        PermuteMode::Ecr => [0, n.min(1), n.min(2), n],
        PermuteMode::Rc16 => [(n & 1) * 2, (n & 1) * 2 + 1, (n & 1) * 2, (n & 1) * 2 + 1],
    };
    pick.iter().enumerate().fold(0, |out, (at, from)| out | (from & 7) << (4 * at))
}

/// Evaluates a comparison of two integers.
#[inline(always)]
pub(crate) fn compare(op: Compare, ty: Int, x: u64, y: u64) -> bool {
    // Flipping the sign bit makes signed order unsigned order.
    let top = 64 - ty.width.bits();
    let flip = if ty.signed { 1 << 63 } else { 0 };
    let (x, y) = (x << top ^ flip, y << top ^ flip);
    match op {
        Compare::Eq => x == y,
        Compare::Ne => x != y,
        Compare::Lt => x < y,
        Compare::Le => x <= y,
        Compare::Gt => x > y,
        Compare::Ge => x >= y,
    }
}

/// The lanes in which a comparison of integers holds.
pub(crate) fn compare_all(op: Compare, ty: Int, x: &[u64; 32], y: &[u64; 32]) -> LaneMask {
    // One dispatch on the comparison for all lanes.
    #[inline(always)]
    fn each(ty: Int, x: &[u64; 32], y: &[u64; 32], op: Compare) -> LaneMask {
        LaneMask::from_bits(
            (0..32).fold(0, |holds, at| holds | u32::from(compare(op, ty, x[at], y[at])) << at),
        )
    }
    match op {
        Compare::Eq => each(ty, x, y, Compare::Eq),
        Compare::Ne => each(ty, x, y, Compare::Ne),
        Compare::Lt => each(ty, x, y, Compare::Lt),
        Compare::Le => each(ty, x, y, Compare::Le),
        Compare::Gt => each(ty, x, y, Compare::Gt),
        Compare::Ge => each(ty, x, y, Compare::Ge),
    }
}

#[inline(always)]
fn each2(a: &[u64; 32], b: &[u64; 32], out: &mut [u64; 32], f: impl Fn(u64, u64) -> u64) {
    for lane in Lane::all() {
        out[lane] = f(a[lane], b[lane]);
    }
}

/// Executes an operation that cannot fail in all lanes; false where it must be executed lane by lane.
#[inline(always)]
pub(crate) fn vector2(op: Int2, ty: Int, a: &[u64; 32], b: &[u64; 32], out: &mut [u64; 32]) -> bool {
    let mask = ty.width.mask();
    match op {
        Int2::Add => each2(a, b, out, |x, y| x.wrapping_add(y) & mask),
        Int2::Sub => each2(a, b, out, |x, y| x.wrapping_sub(y) & mask),
        Int2::And => each2(a, b, out, |x, y| x & y & mask),
        Int2::Or => each2(a, b, out, |x, y| (x | y) & mask),
        Int2::Xor => each2(a, b, out, |x, y| (x ^ y) & mask),
        Int2::MulLo if ty.width == Width::W32 => {
            each2(a, b, out, |x, y| u64::from((x as u32).wrapping_mul(y as u32)));
        }
        Int2::MulLo => each2(a, b, out, |x, y| x.wrapping_mul(y) & mask),
        Int2::MulWide if ty.width == Width::W32 && ty.signed => {
            each2(a, b, out, |x, y| (i64::from(x as i32) * i64::from(y as i32)) as u64);
        }
        Int2::MulWide if ty.width == Width::W32 => {
            each2(a, b, out, |x, y| u64::from(x as u32) * u64::from(y as u32))
        }
        Int2::Shl => match b {
            // Usually the amount is uniform.
            [amount, rest @ ..] if rest.iter().all(|other| other == amount) => {
                let amount = *amount & 0xffff_ffff;
                if amount >= u64::from(ty.width.bits()) {
                    *out = [0; 32];
                } else {
                    each2(a, b, out, |x, _| x << amount & mask);
                }
            }
            _ => return false,
        },
        Int2::AddSat
        | Int2::SubSat
        | Int2::MulHi
        | Int2::MulWide
        | Int2::Mul24Lo
        | Int2::Mul24Hi
        | Int2::Div
        | Int2::Rem
        | Int2::Min
        | Int2::Max
        | Int2::Shr
        | Int2::MaskClamp
        | Int2::MaskWrap => return false,
    }
    true
}

/// Like [`vector2`], for an operation on three integers.
#[inline(always)]
pub(crate) fn vector3(op: Int3, ty: Int, [x, y, z]: [&[u64; 32]; 3], out: &mut [u64; 32]) -> bool {
    match (op, ty.width, ty.signed) {
        (Int3::MadLo, Width::W32, _) => {
            for lane in Lane::all() {
                let product = (x[lane] as u32).wrapping_mul(y[lane] as u32);
                out[lane] = u64::from(product.wrapping_add(z[lane] as u32));
            }
        }
        (Int3::MadWide, Width::W32, true) => {
            for lane in Lane::all() {
                let product = i64::from(x[lane] as i32) * i64::from(y[lane] as i32);
                out[lane] = (product as u64).wrapping_add(z[lane]);
            }
        }
        _ => return false,
    }
    true
}
