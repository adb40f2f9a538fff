//! Integer operations of a width, as defined by the PTX ISA. Results are cut to the width.

use super::float::mask;

/// The width and signedness of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntType {
    /// 16, 32 or 64; also 8 in conversions.
    pub bits: u32,
    /// Whether it is two's complement.
    pub signed: bool,
}

impl IntType {
    /// The number that bits represent.
    pub fn value(self, bits: u64) -> i128 {
        if self.signed {
            i128::from(sign_extend(bits, self.bits))
        } else {
            i128::from(bits & mask(self.bits))
        }
    }

    /// The least and the greatest number.
    pub fn range(self) -> (i128, i128) {
        if self.signed {
            (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1 << self.bits) - 1)
        }
    }
}

/// The number that the `bits` low bits represent in two's complement.
pub fn sign_extend(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits;
    ((value << shift) as i64) >> shift
}

/// Operations on integers. The result has the width of the operands, except for wide products and counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are instructions of the ISA, under its names")]
pub enum IntOp {
    Add,
    AddSat,
    Sub,
    SubSat,
    MulLo,
    MulHi,
    MulWide,
    MadLo,
    MadHi,
    MadWide,
    Mul24,
    Mad24,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Not,
    Cnot,
    Shl,
    Shr,
    Min,
    Max,
    Abs,
    Neg,
    Sad,
    Popc,
    Clz,
    Brev,
    Bfind,
    BfindShift,
    Bfe,
    ShfLeftWrap,
    ShfLeftClamp,
    ShfRightWrap,
    ShfRightClamp,
    Dp4a { a_signed: bool, b_signed: bool },
    Dp2a { a_signed: bool, b_signed: bool, high: bool },
    Lop3(u8),
    Prmt(Prmt),
}

/// Modes of `prmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prmt {
    /// Each nibble of the selector is an index of a byte.
    Index,
    /// Forward 4 extract.
    F4e,
    /// Backward 4 extract.
    B4e,
    /// Replicate 8.
    Rc8,
    /// Edge clamp left.
    Ecl,
    /// Edge clamp right.
    Ecr,
    /// Replicate 16.
    Rc16,
}

impl Prmt {
    /// The source bytes, most significant first, by the low two bits of the selector.
    fn rows(self) -> [u16; 4] {
        match self {
            Prmt::Index => [0; 4],
            Prmt::F4e => [0x3210, 0x4321, 0x5432, 0x6543],
            Prmt::B4e => [0x5670, 0x6701, 0x7012, 0x0123],
            Prmt::Rc8 => [0x0000, 0x1111, 0x2222, 0x3333],
            Prmt::Ecl => [0x3210, 0x3211, 0x3222, 0x3333],
            Prmt::Ecr => [0x0000, 0x1110, 0x2210, 0x3210],
            Prmt::Rc16 => [0x1010, 0x3232, 0x1010, 0x3232],
        }
    }
}

/// Computes `op`.
///
/// # Errors
/// A division by zero, for which the ISA leaves the result open.
pub fn compute(op: IntOp, ty: IntType, [a, b, c]: [u64; 3]) -> Result<u64, String> {
    use IntOp::*;
    let IntType { bits, signed } = ty;
    let (x, y) = (ty.value(a), ty.value(b));
    let cut = |value: u64| value & mask(bits);
    let narrow = |value: i128| cut(value as u64);
    let saturated = |value: i128| {
        let (low, high) = ty.range();
        narrow(value.clamp(low, high))
    };
    // The product of two signed 64-bit numbers fits in an i128, that of two unsigned ones only in a u128.
    let product = || if signed { (x * y) as u128 } else { x as u128 * y as u128 };
    let high = || cut((product() >> bits) as u64);
    let twenty_four = || {
        let of = |value: u64| if signed { sign_extend(value, 24) } else { (value & 0xff_ffff) as i64 };
        of(a).wrapping_mul(of(b)) as u64
    };
    Ok(match op {
        Add => cut(a.wrapping_add(b)),
        AddSat => saturated(x + y),
        Sub => cut(a.wrapping_sub(b)),
        SubSat => saturated(x - y),
        MulLo => cut(a.wrapping_mul(b)),
        MulHi => high(),
        MulWide => product() as u64 & mask(2 * bits),
        MadLo => cut(a.wrapping_mul(b).wrapping_add(c)),
        MadHi => cut(high().wrapping_add(c)),
        MadWide => (product() as u64).wrapping_add(c) & mask(2 * bits),
        Mul24 => cut(twenty_four()),
        Mad24 => cut(twenty_four().wrapping_add(c)),
        Div | Rem if y == 0 => return Err("a division by zero has no defined result".into()),
        Div => narrow(x / y),
        Rem => narrow(x % y),
        And => cut(a & b),
        Or => cut(a | b),
        Xor => cut(a ^ b),
        Not => cut(!a),
        Cnot => u64::from(cut(a) == 0),
        // Shift amounts have 32 bits; an amount beyond the width shifts out all bits.
        Shl => cut(a.checked_shl(b as u32).unwrap_or(0)),
        Shr => narrow(x >> (b as u32).min(bits)),
        Min => narrow(x.min(y)),
        Max => narrow(x.max(y)),
        Abs => narrow(x.abs()),
        Neg => cut(a.wrapping_neg()),
        Sad => cut(c.wrapping_add((x - y).unsigned_abs() as u64)),
        Popc => u64::from(cut(a).count_ones()),
        Clz => u64::from(cut(a).leading_zeros() - (64 - bits)),
        Brev => a.reverse_bits() >> (64 - bits),
        Bfind | BfindShift => {
            let value = if signed && x < 0 { cut(!a) } else { cut(a) };
            match value.checked_ilog2() {
                None => 0xffff_ffff,
                Some(at) => u64::from(if op == BfindShift { bits - 1 - at } else { at }),
            }
        }
        Bfe => extract(ty, a, b as u32 & 0xff, c as u32 & 0xff),
        ShfLeftWrap | ShfLeftClamp | ShfRightWrap | ShfRightClamp => {
            let amount = c as u32;
            let wraps = matches!(op, ShfLeftWrap | ShfRightWrap);
            let amount = if wraps { amount & 31 } else { amount.min(32) };
            let both = u128::from((b & mask(32)) << 32 | a & mask(32));
            let left = matches!(op, ShfLeftWrap | ShfLeftClamp);
            (if left { both << amount >> 32 } else { both >> amount }) as u64 & mask(32)
        }
        Dp4a { a_signed, b_signed } => {
            let byte = |word: u64, at: u32, signed: bool| IntType { bits: 8, signed }.value(word >> (8 * at));
            let sum: i128 = (0..4).map(|at| byte(a, at, a_signed) * byte(b, at, b_signed)).sum();
            (c as i128 + sum) as u64 & mask(32)
        }
        Dp2a { a_signed, b_signed, high } => {
            let part = |at: u32| {
                let wide = IntType { bits: 16, signed: a_signed }.value(a >> (16 * at));
                let from = at + if high { 2 } else { 0 };
                wide * IntType { bits: 8, signed: b_signed }.value(b >> (8 * from))
            };
            (c as i128 + part(0) + part(1)) as u64 & mask(32)
        }
        Lop3(table) => lop3(table, a, b, c),
        Prmt(mode) => permute(mode, a, b, c),
    })
}

fn extract(ty: IntType, a: u64, start: u32, length: u32) -> u64 {
    if length == 0 {
        return 0;
    }
    let top = ty.bits - 1;
    let sign = if ty.signed { a >> (start + length - 1).min(top) & 1 } else { 0 };
    let bit = |at: u32| if at < length && start + at <= top { a >> (start + at) & 1 } else { sign };
    (0..ty.bits).fold(0, |sum, at| sum | bit(at) << at)
}

/// `bfi`: `b` with `length` bits from `start` on replaced by the low bits of `a`.
pub fn insert(bits: u32, a: u64, b: u64, start: u64, length: u64) -> u64 {
    let (start, length) = (start as u32 & 0xff, length as u32 & 0xff);
    let replaced = |at: u32| at >= start && at < start + length;
    let bit = |at: u32| if replaced(at) { a >> (at - start) & 1 } else { b >> at & 1 };
    (0..bits).fold(0, |sum, at| sum | bit(at) << at)
}

fn lop3(table: u8, a: u64, b: u64, c: u64) -> u64 {
    let bit = |at: u32| {
        let row = (a >> at & 1) << 2 | (b >> at & 1) << 1 | c >> at & 1;
        u64::from(table >> row & 1)
    };
    (0..32).fold(0, |sum, at| sum | bit(at) << at)
}

fn permute(mode: Prmt, a: u64, b: u64, selector: u64) -> u64 {
    let bytes = (b & mask(32)) << 32 | a & mask(32);
    let row = if let Prmt::Index = mode { selector } else { u64::from(mode.rows()[(selector & 3) as usize]) };
    (0..4).fold(0, |sum, at| {
        let nibble = row >> (4 * at) & 0xf;
        let byte = bytes >> (8 * (nibble & 7)) & 0xff;
        let replicates = mode == Prmt::Index && nibble & 8 != 0;
        let byte = if replicates { (byte >> 7) * 0xff } else { byte };
        sum | byte << (8 * at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const S32: IntType = IntType { bits: 32, signed: true };
    const U32: IntType = IntType { bits: 32, signed: false };
    const S64: IntType = IntType { bits: 64, signed: true };
    const U64: IntType = IntType { bits: 64, signed: false };
    const S16: IntType = IntType { bits: 16, signed: true };

    #[test]
    fn operations_at_edge_values() {
        use IntOp::*;
        let int_min = 0x8000_0000;
        let ones = 0xffff_ffff;
        let facts: &[(IntOp, IntType, [u64; 3], u64)] = &[
            (Add, U32, [ones, 1, 0], 0),
            (AddSat, S32, [0x7fff_ffff, 1, 0], 0x7fff_ffff),
            (SubSat, S32, [int_min, 1, 0], int_min),
            (MulLo, S32, [0x1_0000, 0x1_0000, 0], 0),
            (MulHi, S32, [ones, ones, 0], 0),
            (MulHi, U32, [ones, ones, 0], 0xffff_fffe),
            (MulHi, U64, [u64::MAX, u64::MAX, 0], u64::MAX - 1),
            (MulHi, S64, [u64::MAX, 1, 0], u64::MAX),
            (MulWide, S32, [ones, 4, 0], 0xffff_ffff_ffff_fffc),
            (MulWide, U32, [ones, 4, 0], 0x3_ffff_fffc),
            (MulWide, S16, [0xffff, 2, 0], 0xffff_fffe),
            (MadWide, U32, [2, 3, 1 << 40], 1 << 40 | 6),
            (Mul24, U32, [0xff00_0002, 3, 0], 6),
            (Mul24, S32, [0xff_ffff, 3, 0], 0xffff_fffd),
            (Div, S32, [0xffff_fff9, 2, 0], 0xffff_fffd),
            (Rem, S32, [0xffff_fff9, 2, 0], ones),
            (Div, S32, [int_min, ones, 0], int_min),
            (Div, U32, [0xffff_fff9, 2, 0], 0x7fff_fffc),
            (Shl, U32, [1, 31, 0], int_min),
            (Shl, U32, [1, 32, 0], 0),
            (Shl, U64, [1, 1 << 31, 0], 0),
            (Shr, U32, [int_min, 31, 0], 1),
            (Shr, U32, [int_min, 32, 0], 0),
            (Shr, S32, [int_min, 40, 0], ones),
            (Abs, S32, [int_min, 0, 0], int_min),
            (Min, S32, [ones, 1, 0], ones),
            (Min, U32, [ones, 1, 0], 1),
            (Sad, S32, [int_min, 0x7fff_ffff, 1], 0),
            (Sad, U32, [1, 3, 4], 6),
            (Popc, U64, [u64::MAX, 0, 0], 64),
            (Clz, U32, [0, 0, 0], 32),
            (Clz, U64, [1, 0, 0], 63),
            (Brev, U32, [1, 0, 0], int_min),
            (Bfind, U32, [0, 0, 0], ones),
            (Bfind, S32, [ones, 0, 0], ones),
            (Bfind, S32, [0xffff_fffe, 0, 0], 0),
            (BfindShift, U32, [1, 0, 0], 31),
            (Bfe, U32, [0xabcd, 4, 8], 0xbc),
            (Bfe, S32, [0x80, 4, 4], 0xffff_fff8),
            (Bfe, U32, [ones, 0, 0], 0),
            (Bfe, S32, [int_min, 28, 20], 0xffff_fff8),
            (Bfe, S32, [int_min, 40, 4], ones),
            (ShfLeftWrap, U32, [0x8000_0000, 1, 1], 3),
            (ShfLeftClamp, U32, [5, 7, 32], 5),
            (ShfRightClamp, U32, [5, 7, 32], 7),
            (ShfRightWrap, U32, [5, 7, 32], 5),
            (Dp4a { a_signed: true, b_signed: true }, S32, [0xff, 0xff, 10], 11),
            (Dp4a { a_signed: false, b_signed: true }, S32, [0xff, 0xff, 0], 0xffff_ff01),
            (Dp2a { a_signed: true, b_signed: false, high: true }, S32, [0x2_ffff, 0x0302_0100, 0], 4),
            (Lop3(0xe8), U32, [0b1100, 0b1010, 0b0110], 0b1110),
            (Lop3(0x96), U32, [0b1100, 0b1010, 0b0001], 0b0111),
            (Prmt(super::Prmt::Index), U32, [0x3322_1100, 0x7766_5544, 0x7531], 0x7755_3311),
            (Prmt(super::Prmt::Index), U32, [0x0000_0080, 0, 0x1238], 0xff),
            (Prmt(super::Prmt::B4e), U32, [0x3322_1100, 0x7766_5544, 0], 0x5566_7700),
            (Prmt(super::Prmt::Rc16), U32, [0x3322_1100, 0, 1], 0x3322_3322),
        ];
        for (op, ty, operands, result) in facts {
            assert_eq!(compute(*op, *ty, *operands), Ok(*result), "{op:?} {ty:?} {operands:x?}");
        }
        assert!(compute(Rem, U32, [1, 0, 0]).is_err());
    }

    #[test]
    fn insertions_stop_at_the_width() {
        assert_eq!(insert(32, 0xff, 0, 28, 8), 0xf000_0000);
        assert_eq!(insert(32, 0xff, 0x1234, 4, 0), 0x1234);
        assert_eq!(insert(32, 0xff, 0x1234, 32, 8), 0x1234);
        assert_eq!(insert(64, 0xdead_beef, 0x1, 32, 32), 0xdead_beef_0000_0001);
    }
}
