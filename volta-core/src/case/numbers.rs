//! The numbers of a case, encoded in their element types.

use super::Element;
use crate::number::format::{Decoded, Format, Rounding, decode, encode, has_sign, is_exact, largest, round};
use crate::number::{Extended, Rational};
use crate::term::Integers;

/// The mask of the bits of an element.
fn mask(element: Element) -> u64 {
    u64::MAX >> (64 - 8 * element.bytes())
}

/// The bits of a number in an element type, wrapping integers and rounding floats to nearest.
pub(crate) fn number_bits(element: Element, value: &Rational) -> u64 {
    match element {
        Element::Float(format) => round(value, format, Rounding::Nearest),
        Element::Int { .. } | Element::Bool => {
            let bits = value.to_i64().map(|value| value as u64).or_else(|| value.to_u64()).unwrap_or(0);
            bits & mask(element)
        }
    }
}

/// The bits of a number in an element type. A float is rounded to nearest. An error if the number does not fit the
/// type: an integer out of range, a float that would become 0 or overflow.
pub fn bits_of(element: Element, value: &Extended) -> Result<u64, String> {
    if let Element::Float(format) = element {
        return float_bits(format, value)
            .map_err(|why| format!("{} is not a value of type {}: {why}", spell(value), element.name()));
    }
    let fits = || {
        let of = Integers::of(element)?;
        let integer = value.finite().filter(|value| value.is_integer())?;
        let number = integer.to_i64().map(i128::from).or(integer.to_u64().map(i128::from))?;
        (of.least..=of.greatest).contains(&number).then_some(number as u64 & mask(element))
    };
    fits().ok_or_else(|| format!("{} is not a value of type {}", spell(value), element.name()))
}

fn float_bits(format: Format, value: &Extended) -> Result<u64, String> {
    let bits = encode(value, format, Rounding::Nearest);
    let Extended::Finite(number) = value else {
        let infinite = decode(format, bits).extended().as_ref() == Some(value);
        return if infinite { Ok(bits) } else { Err("it has no infinities".into()) };
    };
    let largest = largest(format);
    match decode(format, bits) {
        // In a format without infinities, an overflow is rounded to the largest number.
        Decoded::Finite(near)
            if near.abs() == largest && number.abs() > largest && format == Format::E4m3 =>
        {
            Err(format!("its largest number is {largest}"))
        }
        Decoded::Finite(near) if !has_sign(format) && near != *number => {
            Err("it has powers of two only, from 2^-127 to 2^127".into())
        }
        Decoded::Finite(near) if near.is_zero() && !number.is_zero() => Err("it would become 0".into()),
        Decoded::Finite(_) => Ok(bits),
        Decoded::PosInf | Decoded::NegInf | Decoded::Nan => Err(format!("its largest number is {largest}")),
    }
}

/// Whether a type represents exactly the element numbers below `elements`.
pub(crate) fn has_iota(element: Element, elements: u64) -> bool {
    let last = Rational::from_u64(elements.saturating_sub(1));
    match element {
        Element::Int { .. } | Element::Bool => bits_of(element, &Extended::Finite(last)).is_ok(),
        // If the largest odd number is exact, so are all smaller ones.
        Element::Float(format) => {
            let odd = if last.is_even_integer() { &last - &Rational::ONE } else { last.clone() };
            is_exact(&odd, format) && is_exact(&last, format)
        }
    }
}

pub(crate) fn spell(value: &Extended) -> String {
    match value {
        Extended::Finite(value) => value.to_string(),
        Extended::PosInf => "inf".into(),
        Extended::NegInf => "-inf".into(),
    }
}
