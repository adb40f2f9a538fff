//! Numbers as a source would write them.

use crate::number::format::{Format, Rounding, decode, encode};
use crate::number::{Extended, Rational};

/// Numbers of more bits, more than there is room for, are not spelled.
const LONGEST: u32 = 1 << 13;
/// Numbers from here on are spelled as literals where they are some.
const LONG: u32 = 1_000_000;
/// Literals of more characters are none that anybody wrote.
const MAX_LITERAL: usize = 10;

/// A number as what stands above and below a line: an integer, a fraction, or where it has many digits, the f32 literal
/// that it is: `1e-6f` rather than `8796093 / 8796093022208`.
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

/// An integer; large powers of two as such.
fn whole(value: &rug::Integer) -> String {
    let bits = value.significant_bits();
    if bits > LONGEST {
        return format!("about 2^{}", bits - 1);
    }
    if bits > 20 && value.is_power_of_two() { format!("2^{}", bits - 1) } else { value.to_string() }
}
