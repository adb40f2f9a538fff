use super::*;

const FORMATS: [Format; 7] =
    [Format::F16, Format::Bf16, Format::Tf32, Format::F32, Format::F64, Format::E4m3, Format::E5m2];
const ROUNDS: [Round; 5] = [
    Round::NearestTiesToEven,
    Round::NearestTiesToAway,
    Round::TowardZero,
    Round::TowardPositive,
    Round::TowardNegative,
];
const NEAREST: Round = Round::NearestTiesToEven;

/// Bits of a format: a mix of anything with what is near 1, subnormal, or special.
fn some(format: Format, seed: &mut u64) -> u64 {
    *seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    let bits = *seed >> 7 ^ *seed << 31;
    let fraction = mask(format.fraction_bits());
    let bits = match *seed >> 61 {
        0 => bits & fraction,
        1 | 2 => format.one() ^ bits & fraction,
        3 => format.one() ^ bits & 3 ^ bits & format.sign(),
        4 => bits & !fraction,
        _ => bits,
    };
    bits & mask(format.bits()) & if format == Format::Tf32 { !0x1fff } else { u64::MAX }
}

#[test]
fn other_roundings_enclose_the_nearest_and_apfloat_agrees_with_the_processor() {
    use Arithmetic::*;
    let mut seed = 1;
    for turn in 0..40_000 {
        let op = [Add, Sub, Mul, Fma, Div, Sqrt][turn % 6];
        let [a, b, c] = [(); 3].map(|()| some(Format::F32, &mut seed));
        let nearest = arithmetic(op, Format::F32, NEAREST, [a, b, c]);
        // The general path, which all other formats take, on what the processor computed.
        let soft = with_type!(Format::F32, F, {
            let [a, b, c] = [a, b, c].map(|bits| F::from_bits(u128::from(bits)));
            match op {
                Add => Some(a.add_r(b, NEAREST)),
                Sub => Some(a.sub_r(b, NEAREST)),
                Mul => Some(a.mul_r(b, NEAREST)),
                Fma => Some(a.mul_add_r(b, c, NEAREST)),
                Div => Some(a.div_r(b, NEAREST)),
                Sqrt => None,
            }
            .map(|value| canonical(Format::F32, value.value.to_bits() as u64))
        });
        let soft = soft.unwrap_or_else(|| square_root(Format::F32, NEAREST, a));
        assert_eq!(soft, nearest, "{op:?} {a:x} {b:x} {c:x}");
        let down = arithmetic(op, Format::F32, Round::TowardNegative, [a, b, c]);
        let up = arithmetic(op, Format::F32, Round::TowardPositive, [a, b, c]);
        let zero = arithmetic(op, Format::F32, Round::TowardZero, [a, b, c]);
        let [down, up, zero, nearest] = [down, up, zero, nearest].map(|bits| to_f64(Format::F32, bits));
        if nearest.is_nan() {
            assert!(down.is_nan() && up.is_nan() && zero.is_nan(), "{op:?} {a:x} {b:x} {c:x}");
            continue;
        }
        assert!(down <= nearest && nearest <= up, "{op:?} {a:x} {b:x} {c:x}: {down} {nearest} {up}");
        assert_eq!(zero, if nearest > 0.0 || down >= 0.0 { down } else { up }, "{op:?} {a:x} {b:x} {c:x}");
        let exact = match op {
            Add => f64::from(f32::from_bits(a as u32)) + f64::from(f32::from_bits(b as u32)),
            Mul => f64::from(f32::from_bits(a as u32)) * f64::from(f32::from_bits(b as u32)),
            Sub | Fma | Div | Sqrt => continue,
        };
        // A product of two f32 is exact in f64; a sum may be rounded, but not to the other side of an f32.
        assert!(down <= exact && exact <= up, "{op:?} {a:x} {b:x}");
    }
}

#[test]
fn conversions_agree_with_rust() {
    let mut seed = 2;
    for _ in 0..20_000 {
        let wide = f64::from_bits(some(Format::F64, &mut seed));
        let narrow = from_f64(Format::F32, wide, NEAREST);
        let expected = wide as f32;
        assert!(narrow == u64::from(expected.to_bits()) || expected.is_nan() && narrow == Format::F32.nan());
        let soft: Single = Double::from_bits(u128::from(wide.to_bits())).convert_r(NEAREST, &mut false).value;
        assert!(wide.is_nan() || soft.to_bits() as u64 == narrow, "{wide:e}");

        let value = wide as i64;
        assert_eq!(from_integer(Format::F64, i128::from(value), NEAREST), (value as f64).to_bits());
        assert_eq!(
            from_integer(Format::F32, i128::from(value), NEAREST),
            u64::from((value as f32).to_bits())
        );
        if !wide.is_nan() {
            let bits = wide.to_bits();
            let toward_zero =
                |bits: u32, signed| to_integer(Format::F64, wide.to_bits(), Round::TowardZero, bits, signed);
            assert_eq!(to_integer(Format::F64, bits, Round::TowardZero, 64, true), wide as i64 as u64);
            assert_eq!(toward_zero(32, true), u64::from(wide as i32 as u32));
            assert_eq!(toward_zero(32, false), u64::from(wide as u32));
            assert_eq!(toward_zero(8, true), u64::from(wide as i8 as u8));
        }
    }
    assert_eq!(to_integer(Format::F32, Format::F32.nan(), NEAREST, 32, true), 0);
    assert_eq!(to_integer(Format::F64, Format::F64.nan(), NEAREST, 32, true), 0x8000_0000);
}

/// Every value of the small formats comes back from f64, and what lies between two of them goes where it must.
#[test]
fn narrow_formats_are_rounded_to_neighbours() {
    for format in FORMATS.into_iter().filter(|format| format.bits() <= 16) {
        let mut last: Option<(u64, f64)> = None;
        // From zero up; the pattern of a format's positive numbers is their order.
        for bits in 0..format.sign() {
            let value = to_f64(format, bits);
            if !value.is_finite() {
                break;
            }
            for round in ROUNDS {
                assert_eq!(from_f64(format, value, round), bits, "{format:?} {bits:x} {round:?}");
                assert_eq!(from_f64(format, -value, round), bits | format.sign());
            }
            if let Some((below, smaller)) = last {
                assert!(smaller < value, "{format:?} {bits:x}");
                let middle = smaller + (value - smaller) / 2.0;
                let even = if below & 1 == 0 { below } else { bits };
                let facts = [even, bits, below, bits, below];
                for (round, expected) in ROUNDS.into_iter().zip(facts) {
                    assert_eq!(from_f64(format, middle, round), expected, "{format:?} {below:x} {round:?}");
                }
                let facts = [even, bits, below, below, bits].map(|bits| bits | format.sign());
                for (round, expected) in ROUNDS.into_iter().zip(facts) {
                    assert_eq!(from_f64(format, -middle, round), expected, "{format:?} -{below:x} {round:?}");
                }
                let above = smaller + (value - smaller) * 0.75;
                assert_eq!(from_f64(format, above, NEAREST), bits, "{format:?} {below:x}");
            }
            last = Some((bits, value));
        }
    }
}

#[test]
fn known_patterns() {
    let facts = [
        (Format::F16, 0x3c00, 1.0),
        (Format::F16, 0x0001, 2.0_f64.powi(-24)),
        (Format::F16, 0x7bff, 65504.0),
        (Format::F16, 0xfc00, f64::NEG_INFINITY),
        (Format::Bf16, 0x3f80, 1.0),
        (Format::Bf16, 0xc049, -3.140625),
        (Format::Bf16, 0x0080, 2.0_f64.powi(-126)),
        (Format::Tf32, 0x3f80_2000, 1.0 + 2.0_f64.powi(-10)),
        (Format::E4m3, 0x38, 1.0),
        (Format::E4m3, 0x7e, 448.0),
        (Format::E4m3, 0x01, 2.0_f64.powi(-9)),
        (Format::E5m2, 0x3c, 1.0),
        (Format::E5m2, 0x7b, 57344.0),
        (Format::E5m2, 0x7c, f64::INFINITY),
        (Format::F32, 0x0000_0001, 2.0_f64.powi(-149)),
        (Format::F64, 0x3ff8_0000_0000_0000, 1.5),
    ];
    for (format, bits, value) in facts {
        assert_eq!(to_f64(format, bits), value, "{format:?} {bits:x}");
        assert_eq!(from_f64(format, value, NEAREST), bits, "{format:?} {value}");
    }
    // 1 + 2⁻¹¹ lies between two tf32, and so does what an f32 cannot tell from it.
    let between = 1.0 + 2.0_f64.powi(-11);
    assert_eq!(from_f64(Format::Tf32, between, NEAREST), 0x3f80_0000);
    assert_eq!(from_f64(Format::Tf32, between, Round::NearestTiesToAway), 0x3f80_2000);
    assert_eq!(from_f64(Format::Tf32, between + 2.0_f64.powi(-40), NEAREST), 0x3f80_2000);
    assert_eq!(from_f64(Format::Tf32, -between, Round::TowardPositive), 0xbf80_0000);
    assert_eq!(from_f64(Format::Tf32, -between, Round::TowardNegative), 0xbf80_2000);
    assert_eq!(from_f64(Format::F16, 65520.0, NEAREST), 0x7c00);
    assert_eq!(from_f64(Format::F16, 65520.0, Round::TowardZero), 0x7bff);
    for format in FORMATS {
        assert!(is_nan(format, format.nan()), "{format:?}");
        assert_eq!(from_f64(format, f64::NAN, NEAREST), format.nan());
    }
    // fma(1 + ε, 1 − ε, −1) is −ε²: rounded twice it would be 0.
    let [a, b, minus] = [0x3c01, 0x3bfe, 0xbc00];
    assert_eq!(
        to_f64(Format::F16, arithmetic(Arithmetic::Fma, Format::F16, NEAREST, [a, b, minus])),
        -2.0_f64.powi(-20)
    );
    assert_eq!(arithmetic(Arithmetic::Mul, Format::F16, NEAREST, [a, b, 0]), 0x3c00);
    assert_eq!(arithmetic(Arithmetic::Mul, Format::F16, Round::TowardZero, [a, b, 0]), 0x3bff);
}

#[test]
fn functions_are_near_the_exact_value() {
    use Function::*;
    let mut seed = 3;
    for turn in 0..8_000 {
        let which = [Exp2, Log2, Rsqrt, Rcp, Sqrt, Sin, Cos, Tanh][turn % 8];
        for format in [Format::F32, Format::F16] {
            let bits = some(format, &mut seed);
            let exact = exactly(which, to_f64(format, bits));
            let found = function(which, format, bits);
            if exact.is_nan() {
                assert_eq!(found, format.nan(), "{which:?} {bits:x}");
            } else if exact != 0.0 && exact.is_finite() {
                let [down, up] = [Round::TowardNegative, Round::TowardPositive]
                    .map(|round| from_f64(format, exact, round));
                assert!(
                    found == down || found == up,
                    "{which:?} {format:?} {bits:x}: {found:x} for {exact:e}"
                );
            }
        }
    }
    let f32 = |value: f32| u64::from(value.to_bits());
    let facts = [
        (Exp2, 3.0, 8.0),
        (Exp2, f32::NEG_INFINITY, 0.0),
        (Exp2, -150.0, 0.0),
        (Log2, 0.125, -3.0),
        (Log2, 0.0, f32::NEG_INFINITY),
        (Rsqrt, 0.25, 2.0),
        (Rsqrt, -0.0, f32::NEG_INFINITY),
        (Rcp, -0.0, f32::NEG_INFINITY),
        (Rcp, f32::INFINITY, 0.0),
        (Tanh, f32::INFINITY, 1.0),
        (Cos, 0.0, 1.0),
    ];
    for (which, a, value) in facts {
        assert_eq!(function(which, Format::F32, f32(a)), f32(value), "{which:?} {a}");
    }
}

#[test]
fn erring_functions_err_by_what_is_documented() {
    use Function::*;
    let mut seed = 5;
    let documented = [(Exp2, -22.0), (Rcp, -23.0), (Sqrt, -23.0), (Rsqrt, -22.9), (Tanh, -11.0)];
    let mut far = 0;
    for turn in 0..5_000 {
        let (which, exponent) = documented[turn % documented.len()];
        let bits = some(Format::F32, &mut seed);
        let exact = exactly(which, to_f64(Format::F32, bits));
        let nearest = to_f64(Format::F32, function(which, Format::F32, bits));
        for up in [false, true] {
            let found = to_f64(Format::F32, erring_function(which, Format::F32, bits, up));
            if found.to_bits() == nearest.to_bits() || found.is_nan() && nearest.is_nan() {
                continue;
            }
            assert!(
                (found - exact).abs() <= exact.abs() * f64::exp2(exponent),
                "{which:?} {bits:x}: {found:e}"
            );
            assert_eq!(found > exact, up, "{which:?} {bits:x}: {found:e} for {exact:e}");
            far += usize::from((found - exact).abs() >= exact.abs() * f64::exp2(exponent - 1.0));
        }
    }
    assert!(far > 500, "{far}");
    let one = u64::from(1.0f32.to_bits());
    for (which, a, up) in [(Exp2, 0, true), (Cos, 0, false)] {
        assert_eq!(erring_function(which, Format::F32, a, up), one, "{which:?}");
    }
}

#[test]
fn subnormals_clamps_and_extremes() {
    assert_eq!(flush(Format::F32, 0x807f_ffff), 0x8000_0000);
    assert_eq!(flush(Format::F32, 0x0080_0000), 0x0080_0000);
    assert_eq!(flush(Format::F16, 0x03ff), 0);
    assert_eq!(clamp(Format::F32, Clamp::Unit, 0x4000_0000), 0x3f80_0000);
    assert_eq!(clamp(Format::F32, Clamp::Unit, 0x7fc0_0000), 0);
    assert_eq!(clamp(Format::F32, Clamp::Relu, 0xbf80_0000), 0);
    assert_eq!(clamp(Format::F32, Clamp::Relu, 0x7fff_ffff), 0x7fff_ffff);
    let (one, nan, negative_zero) = (0x3f80_0000, Format::F32.nan(), 0x8000_0000);
    assert_eq!(extreme(Format::F32, true, false, one, nan), one);
    assert_eq!(extreme(Format::F32, false, false, nan, one), one);
    assert_eq!(extreme(Format::F32, true, true, one, nan), nan);
    assert_eq!(extreme(Format::F32, true, false, negative_zero, 0), 0);
    assert_eq!(extreme(Format::F32, false, false, 0, negative_zero), negative_zero);
    let tops = [0x4000_0000, one];
    assert_eq!(extreme(Format::F32, true, false, tops[0], tops[1]), tops[0]);
    assert_eq!(extreme(Format::F32, false, false, tops[0], tops[1]), one);
    assert_eq!(copy_sign(Format::F16, 0x8000, 0x3c00), 0xbc00);
}
