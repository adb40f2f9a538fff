//! Numbers in the notation of source code.

use crate::number::format::{Format, Rounding, decode, encode};
use crate::number::{Extended, Rational};

/// Integers of more bits are printed approximately.
const LONGEST: u32 = 1 << 13;
/// Numbers from here on are printed as literals if they are f32 values.
const LONG: u32 = 1_000_000;
/// Longer literals are not ones that a programmer would write.
const MAX_LITERAL: usize = 10;

/// The numerator and the denominator of a number; if it has many digits, the equal f32 literal instead: `1e-6f`
/// rather than `8796093 / 8796093022208`.
pub(super) fn parts(value: &Rational) -> (String, Option<String>) {
    if let Some(literal) = as_f32(value) {
        return (literal, None);
    }
    let (num, den) = value.to_parts();
    (whole(&num), (den != 1).then(|| whole(&den)))
}

fn as_f32(value: &Rational) -> Option<String> {
    let (num, den) = value.to_parts();
    if num < LONG && den < LONG {
        return None;
    }
    let rounded = encode(&Extended::Finite(value.clone()), Format::F32, Rounding::Nearest);
    if decode(Format::F32, rounded).extended() != Some(Extended::Finite(value.clone())) {
        return None;
    }
    let literal = f32::from_bits(rounded as u32);
    let plain = (1e-3..1e6).contains(&literal.abs());
    let text = if plain { format!("{literal}f") } else { format!("{literal:e}f") };
    (text.len() <= MAX_LITERAL).then_some(text)
}

/// An integer; large powers of two in the form `2^k`.
fn whole(value: &rug::Integer) -> String {
    let bits = value.significant_bits();
    if bits > LONGEST {
        return format!("about 2^{}", bits - 1);
    }
    if bits > 20 && value.is_power_of_two() { format!("2^{}", bits - 1) } else { value.to_string() }
}
