//! Operations on integers that move evenly from lane to lane (rule V4): computed for the warp and not for each lane,
//! where the results move evenly too.

use super::super::cta::Cta;
use super::super::value::Even;
use super::super::warp::Warp;
use super::int::{scalar2, scalar3, sign_extend};
use crate::program::{Int, Int2, Int3, Src, Width};

/// Results known modulo 2^width, if their remainders move evenly: if none of them wraps around.
#[inline]
pub(super) fn narrowed(width: Width, Even { first, stride }: Even) -> Option<Even> {
    if width == Width::W64 {
        return Some(Even { first, stride });
    }
    let even = Even { first: first & width.mask(), stride: sign_extend(width, stride as u64) as i64 };
    // What lies between two numbers that have not wrapped around has not either.
    (even.lane(31) & !width.mask() == 0).then_some(even)
}

/// The numbers that words of 32 bits are, if they move evenly too.
#[inline]
fn widened(ty: Int, even: Even) -> Option<Even> {
    let Even { first, stride } = narrowed(Width::W32, even)?;
    let first = if ty.signed { sign_extend(Width::W32, first) } else { first };
    let last = first.wrapping_add_signed(31 * stride);
    let same = if ty.signed { sign_extend(Width::W32, last) } else { last & Width::W32.mask() };
    (ty.width == Width::W32 && last == same).then_some(Even { first, stride })
}

fn times(even: Even, factor: u64) -> Even {
    Even { first: even.first.wrapping_mul(factor), stride: even.stride.wrapping_mul(factor as i64) }
}

fn plus(a: Even, b: Even) -> Even {
    Even { first: a.first.wrapping_add(b.first), stride: a.stride.wrapping_add(b.stride) }
}

/// The products of two words, one of them the same in all lanes.
fn product(x: Even, y: Even) -> Option<Even> {
    match (x.stride, y.stride) {
        (_, 0) => Some(times(x, y.first)),
        (0, _) => Some(times(y, x.first)),
        _ => None,
    }
}

/// The results of an operation, if they move evenly.
#[inline]
pub(super) fn even2(op: Int2, ty: Int, x: Even, y: Even) -> Option<Even> {
    match op {
        Int2::Add => narrowed(ty.width, plus(x, y)),
        Int2::Sub => narrowed(ty.width, plus(x, times(y, u64::MAX))),
        Int2::MulLo => narrowed(ty.width, product(x, y)?),
        _ if x.stride == 0 && y.stride == 0 => scalar2(op, ty, x.first, y.first).map(Even::uniform),
        Int2::MulWide => product(widened(ty, x)?, widened(ty, y)?),
        Int2::Shl if y.stride == 0 => {
            let amount = u32::try_from(y.first & 0xffff_ffff).ok().filter(|by| *by < ty.width.bits())?;
            narrowed(ty.width, times(x, 1 << amount))
        }
        _ => None,
    }
}

/// The results of an operation on three integers, if they move evenly.
#[inline]
pub(super) fn even3(op: Int3, ty: Int, [x, y, z]: [Even; 3]) -> Option<Even> {
    match op {
        Int3::MadLo => narrowed(ty.width, plus(product(x, y)?, z)),
        Int3::MadWide if ty.width == Width::W32 => Some(plus(product(widened(ty, x)?, widened(ty, y)?)?, z)),
        _ if x.stride == 0 && y.stride == 0 && z.stride == 0 => {
            Some(Even::uniform(scalar3(op, ty, [x.first, y.first, z.first])))
        }
        _ => None,
    }
}

impl Cta<'_> {
    /// A source of a whole warp that is known to be concrete and to move evenly.
    #[inline]
    pub(super) fn even(&self, warp: &Warp, source: Src) -> Option<Even> {
        match source {
            Src::Reg(id) => {
                let register = warp.register(id);
                register.is_concrete(u32::MAX).then(|| register.known_even())?
            }
            Src::Imm(bits) => Some(Even::uniform(bits)),
            Src::Symbol(variable, offset) => {
                Some(Even::uniform(self.launch.objects.address(variable).wrapping_add_signed(offset)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = u64> {
        let edge = prop::sample::select(vec![0u64, 1 << 7, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63]);
        prop_oneof![
            (edge, -70i64..70).prop_map(|(at, by)| at.wrapping_add_signed(by)),
            any::<u64>(),
            0u64..100
        ]
    }

    fn even() -> impl Strategy<Value = Even> {
        let stride = prop_oneof![Just(0i64), -3i64..4, (0u32..64).prop_map(|by| 1i64 << by), any::<i64>()];
        (word(), stride).prop_map(|(first, stride)| Even { first, stride })
    }

    fn int() -> impl Strategy<Value = Int> {
        let width = prop::sample::select(vec![Width::W8, Width::W16, Width::W32, Width::W64]);
        (width, any::<bool>()).prop_map(|(width, signed)| Int { width, signed })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        /// What is computed for a warp is what is computed for each of its lanes.
        #[test]
        fn warps_compute_what_lanes_do(ty in int(), x in even(), y in even(), z in even()) {
            use Int2::*;
            for op in [Add, Sub, MulLo, MulWide, MulHi, Shl, Shr, And, Or, Xor, Min, Max, Div, Rem] {
                if let Some(results) = even2(op, ty, x, y) {
                    for lane in 0..32 {
                        let each = scalar2(op, ty, x.lane(lane), y.lane(lane));
                        prop_assert_eq!(each, Some(results.lane(lane)), "{:?} in lane {}", op, lane);
                    }
                }
            }
            for op in [Int3::MadLo, Int3::MadHi, Int3::MadWide, Int3::Sad, Int3::Lop3(0x96)] {
                if let Some(results) = even3(op, ty, [x, y, z]) {
                    for lane in 0..32 {
                        let each = scalar3(op, ty, [x.lane(lane), y.lane(lane), z.lane(lane)]);
                        prop_assert_eq!(each, results.lane(lane), "{:?} in lane {}", op, lane);
                    }
                }
            }
        }
    }

    /// Addresses of neighbours, as kernels compute them.
    #[test]
    fn addresses_move_evenly() {
        let word = |signed| Int { width: Width::W32, signed };
        let (thread, four) = (Even { first: 64, stride: 1 }, Even::uniform(4));
        let bytes = Even { first: 256, stride: 4 };
        assert_eq!(even2(Int2::MulWide, word(true), thread, four), Some(bytes));
        assert_eq!(even2(Int2::Shl, word(false), thread, Even::uniform(2)), Some(bytes));
        let back = Even { first: 31, stride: -1 };
        assert_eq!(even2(Int2::Sub, word(false), Even::uniform(95), thread), Some(back));
        assert_eq!(
            even2(Int2::Sub, word(false), Even::uniform(94), thread),
            None,
            "the last one wraps around"
        );
        let wide = Int { width: Width::W64, signed: false };
        let sum = Even { first: 1256, stride: 4 };
        assert_eq!(even2(Int2::Add, wide, Even::uniform(1000), bytes), Some(sum));
        assert_eq!(even3(Int3::MadWide, word(true), [thread, four, Even::uniform(1000)]), Some(sum));
    }
}
