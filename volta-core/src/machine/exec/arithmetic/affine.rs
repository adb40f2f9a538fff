//! Operations on integers that are affine from thread to thread (rule V4): computed once for all threads, where the
//! results are affine too.

use super::convert::convert_int;
use crate::program::{Compare, Int, Int2, Int3, Width};
use crate::value::register::Affine;
use crate::value::words::{compare, scalar2, scalar3, sign_extend};

/// Results that are known modulo 2^width, if they are affine as numbers: if none of them wraps around.
#[inline]
pub(crate) fn narrowed<const B: usize>(width: Width, affine: Affine<B>) -> Option<Affine<B>> {
    if width == Width::W64 {
        return Some(affine);
    }
    let steps = affine.steps.map(|step| sign_extend(width, step as u64) as i64);
    let affine = Affine { first: affine.first & width.mask(), steps };
    let [low, high] = affine.min_max().map(u64::cast_signed);
    (low >= 0 && high <= width.mask() as i64).then_some(affine)
}

/// The numbers that 32-bit words encode in a type, if they are affine too.
#[inline]
fn widened<const B: usize>(ty: Int, affine: Affine<B>) -> Option<Affine<B>> {
    let affine = narrowed(Width::W32, affine).filter(|_| ty.width == Width::W32)?;
    if !ty.signed {
        return Some(affine);
    }
    let [low, high] = affine.min_max();
    // All have one sign.
    (low >> 31 == high >> 31)
        .then(|| Affine { first: sign_extend(Width::W32, affine.first), steps: affine.steps })
}

fn times<const B: usize>(affine: Affine<B>, factor: u64) -> Affine<B> {
    let steps = affine.steps.map(|step| step.wrapping_mul(factor as i64));
    Affine { first: affine.first.wrapping_mul(factor), steps }
}

fn plus<const B: usize>(a: Affine<B>, b: Affine<B>) -> Affine<B> {
    let steps = std::array::from_fn(|bit| a.steps[bit].wrapping_add(b.steps[bit]));
    Affine { first: a.first.wrapping_add(b.first), steps }
}

/// The products of two affine words, if one of them is uniform.
fn product<const B: usize>(x: Affine<B>, y: Affine<B>) -> Option<Affine<B>> {
    if y.is_uniform() {
        return Some(times(x, y.first));
    }
    x.is_uniform().then(|| times(y, x.first))
}

/// The bits that may be set in the words, if each comes from the first word or from one step only: bitwise operations
/// then apply to first word and steps separately.
#[inline]
fn disjoint_bits<const B: usize>(affine: &Affine<B>) -> Option<u64> {
    let mut all = affine.first;
    for step in affine.steps {
        if step < 0 || all & step.cast_unsigned() != 0 {
            return None;
        }
        all |= step.cast_unsigned();
    }
    Some(all)
}

/// The results of `and`, `or` and `xor`, if they are affine and found by first word and steps separately.
fn bitwise<const B: usize>(op: Int2, ty: Int, x: Affine<B>, y: Affine<B>) -> Option<Affine<B>> {
    let (x, y) = (narrowed(ty.width, x)?, narrowed(ty.width, y)?);
    // The uniform operand, if any, is the second.
    let (x, y) = if x.is_uniform() { (y, x) } else { (x, y) };
    let all = disjoint_bits(&x)?;
    if !y.is_uniform() {
        let apart = disjoint_bits(&y)? & all == 0;
        return (apart && op != Int2::And).then(|| plus(x, y));
    }
    let word = y.first;
    // Bits of a step that keep their sign in the result, and those that change it.
    let kept = if op == Int2::And { word } else { !word };
    let turned = if op == Int2::Xor { word } else { 0 };
    let digits = |step: i64, which: u64| (step.cast_unsigned() & which).cast_signed();
    let first = scalar2(op, ty, x.first, word)?;
    Some(Affine { first, steps: x.steps.map(|step| digits(step, kept) - digits(step, turned)) })
}

/// Words shifted to the right, if they are affine and found by first word and steps separately.
fn shifted<const B: usize>(ty: Int, x: Affine<B>, y: Affine<B>) -> Option<Affine<B>> {
    let x = narrowed(ty.width, x)?;
    let positive = disjoint_bits(&x)? >> (ty.width.bits() - 1) == 0 || !ty.signed;
    // Shift amounts have 32 bits.
    let by = y.first & 0xffff_ffff;
    if !y.is_uniform() || by >= u64::from(ty.width.bits()) || !positive {
        return None;
    }
    Some(Affine { first: x.first >> by, steps: x.steps.map(|step| step >> by) })
}

/// The results of a conversion between integers, if they are affine.
#[inline]
pub(crate) fn affine_convert<const B: usize>(
    from: Int,
    to: Int,
    saturate: bool,
    affine: Affine<B>,
) -> Option<Affine<B>> {
    if affine.is_uniform() {
        return Some(Affine::uniform(convert_int(affine.first, from, to, saturate)));
    }
    let numbers = match from.width {
        Width::W64 => affine,
        Width::W32 => widened(from, affine)?,
        Width::W8 | Width::W16 => return None,
    };
    let wide = matches!(to.width, Width::W32 | Width::W64);
    if wide && !saturate { narrowed(to.width, numbers) } else { None }
}

/// The results of an operation, if they are affine.
#[inline]
pub(crate) fn affine2<const B: usize>(op: Int2, ty: Int, x: Affine<B>, y: Affine<B>) -> Option<Affine<B>> {
    match op {
        Int2::Add => narrowed(ty.width, plus(x, y)),
        Int2::Sub => narrowed(ty.width, plus(x, times(y, u64::MAX))),
        Int2::MulLo => narrowed(ty.width, product(x, y)?),
        _ if x.is_uniform() && y.is_uniform() => scalar2(op, ty, x.first, y.first).map(Affine::uniform),
        Int2::MulWide => product(widened(ty, x)?, widened(ty, y)?),
        Int2::Shl if y.is_uniform() => {
            let amount = u32::try_from(y.first & 0xffff_ffff).ok().filter(|by| *by < ty.width.bits())?;
            narrowed(ty.width, times(x, 1 << amount))
        }
        Int2::And | Int2::Or | Int2::Xor => bitwise(op, ty, x, y),
        Int2::Shr => shifted(ty, x, y),
        Int2::AddSat
        | Int2::SubSat
        | Int2::MulHi
        | Int2::Mul24Lo
        | Int2::Mul24Hi
        | Int2::Div
        | Int2::Rem
        | Int2::Min
        | Int2::Max
        | Int2::Shl
        | Int2::MaskClamp
        | Int2::MaskWrap => None,
    }
}

/// The results of an operation on three integers, if they are affine.
#[inline]
pub(crate) fn affine3<const B: usize>(op: Int3, ty: Int, [x, y, z]: [Affine<B>; 3]) -> Option<Affine<B>> {
    if op == Int3::MadLo {
        return narrowed(ty.width, plus(product(x, y)?, z));
    }
    if op == Int3::MadWide && ty.width == Width::W32 {
        return Some(plus(product(widened(ty, x)?, widened(ty, y)?)?, z));
    }
    let are_uniform = x.is_uniform() && y.is_uniform() && z.is_uniform();
    are_uniform.then(|| Affine::uniform(scalar3(op, ty, [x.first, y.first, z.first])))
}

/// The result of a comparison, if it is the same for all lanes and follows from the ranges of the operands.
#[inline]
pub(crate) fn affine_compare<const B: usize>(
    op: Compare,
    ty: Int,
    x: Affine<B>,
    y: Affine<B>,
) -> Option<bool> {
    if x.is_uniform() && y.is_uniform() {
        return Some(compare(op, ty, x.first, y.first));
    }
    let (x, y) = (widened(ty, x)?, widened(ty, y)?);
    let ([least, greatest], [low, high]) = (x.min_max(), y.min_max());
    let [first, last] = [compare(op, ty, least, high), compare(op, ty, greatest, low)];
    match op {
        Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge => (first == last).then_some(first),
        // Disjoint ranges decide equality.
        Compare::Eq | Compare::Ne => {
            let apart = compare(Compare::Lt, ty, greatest, low) || compare(Compare::Gt, ty, least, high);
            apart.then_some(op == Compare::Ne)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::lane::Lane;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = u64> {
        let edge = prop::sample::select(vec![0u64, 1 << 7, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63]);
        prop_oneof![
            (edge, -70i64..70).prop_map(|(at, by)| at.wrapping_add_signed(by)),
            any::<u64>(),
            0u64..100
        ]
    }

    fn affine() -> impl Strategy<Value = Affine> {
        let step = prop_oneof![
            4 => Just(0i64),
            2 => -3i64..4,
            2 => (0u32..64).prop_map(|by| 1i64 << by),
            1 => any::<i64>(),
        ];
        let strided = (word(), step.clone()).prop_map(|(first, stride)| Affine::strided(first, stride));
        let stepped =
            (word(), prop::array::uniform5(step)).prop_map(|(first, steps)| Affine { first, steps });
        // With disjoint bits, as thread ids have.
        let digits = (any::<u64>(), 0u32..60, prop::array::uniform5(0u32..9), any::<bool>()).prop_map(
            |(first, low, order, narrow)| {
                let places = order.map(|place| low + place);
                let mut taken = 0u64;
                let steps = places.map(|place| {
                    let bit =
                        1u64.checked_shl(place).unwrap_or(0) & !taken & if narrow { 0xffff_ffff } else { !0 };
                    taken |= bit;
                    bit.cast_signed()
                });
                Affine { first: first & !taken & if narrow { 0xffff_ffff } else { !0 }, steps }
            },
        );
        prop_oneof![strided, stepped, digits, word().prop_map(Affine::uniform)]
    }

    fn int() -> impl Strategy<Value = Int> {
        let width = prop::sample::select(vec![Width::W8, Width::W16, Width::W32, Width::W64]);
        (width, any::<bool>()).prop_map(|(width, signed)| Int { width, signed })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        /// Results for a warp are those of each of its lanes.
        #[test]
        fn warps_compute_what_lanes_do(ty in int(), x in affine(), y in affine(), z in affine()) {
            use Int2::*;
            for op in [Add, Sub, MulLo, MulWide, MulHi, Shl, Shr, And, Or, Xor, Min, Max, Div, Rem] {
                if let Some(results) = affine2(op, ty, x, y) {
                    for lane in Lane::all() {
                        let each = scalar2(op, ty, x.lane(lane.number()), y.lane(lane.number()));
                        prop_assert_eq!(each, Some(results.lane(lane.number())), "{:?} in lane {}", op, lane);
                    }
                }
            }
            for op in [Int3::MadLo, Int3::MadHi, Int3::MadWide, Int3::Sad, Int3::Lop3(0x96)] {
                if let Some(results) = affine3(op, ty, [x, y, z]) {
                    for lane in Lane::all() {
                        let each = scalar3(op, ty, [x.lane(lane.number()), y.lane(lane.number()), z.lane(lane.number())]);
                        prop_assert_eq!(each, results.lane(lane.number()), "{:?} in lane {}", op, lane);
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        /// Conversions for a warp are those of each of its lanes.
        #[test]
        fn warps_convert_as_lanes_do(from in int(), to in int(), saturate in any::<bool>(), x in affine()) {
            if let Some(results) = affine_convert(from, to, saturate, x) {
                for lane in Lane::all() {
                    let each = convert_int(x.lane(lane.number()), from, to, saturate);
                    prop_assert_eq!(each, results.lane(lane.number()), "lane {}", lane);
                }
            }
        }

        /// A comparison decided for all lanes is that of each of them.
        #[test]
        fn warps_compare_as_lanes_do(ty in int(), x in affine(), y in affine(), near in any::<bool>()) {
            use Compare::*;
            // Operands near one another, since most random ones are far apart.
            let y = if near { Affine { first: x.lane(7), steps: y.steps.map(|step| step % 4) } } else { y };
            for op in [Eq, Ne, Lt, Le, Gt, Ge] {
                if let Some(holds) = affine_compare(op, ty, x, y) {
                    for lane in Lane::all() {
                        let each = compare(op, ty, x.lane(lane.number()), y.lane(lane.number()));
                        prop_assert_eq!(each, holds, "{:?} in lane {}", op, lane);
                    }
                }
            }
        }
    }

    /// Consecutive addresses, as kernels compute them.
    #[test]
    fn addresses_move_evenly() {
        let word = |signed| Int { width: Width::W32, signed };
        let (thread, four) = (<Affine>::strided(64, 1), Affine::uniform(4));
        let bytes = <Affine>::strided(256, 4);
        assert_eq!(affine2(Int2::MulWide, word(true), thread, four), Some(bytes));
        assert_eq!(affine2(Int2::Shl, word(false), thread, Affine::uniform(2)), Some(bytes));
        let back = <Affine>::strided(31, -1);
        assert_eq!(affine2(Int2::Sub, word(false), <Affine>::uniform(95), thread), Some(back));
        assert_eq!(
            affine2(Int2::Sub, word(false), <Affine>::uniform(94), thread),
            None,
            "the last one wraps around"
        );
        let wide = Int { width: Width::W64, signed: false };
        let sum = <Affine>::strided(1256, 4);
        assert_eq!(affine2(Int2::Add, wide, Affine::uniform(1000), bytes), Some(sum));
        assert_eq!(affine3(Int3::MadWide, word(true), [thread, four, Affine::uniform(1000)]), Some(sum));
    }
}
