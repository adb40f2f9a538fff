//! Literals that rule V9 may read as another number than their bits encode: evaluation widens them, so that it claims
//! nothing that a reading could undo. All other literals are exact. Likewise what is computed from constants alone, where
//! that may be a library function at a known point which was not recognized.
//!
//! Decided without the algebra's table, and more generously: a literal near a constant, up to any power of two.

use super::evaluate::walk;
use crate::number::format::Format;
use crate::number::interval::Enclosure;
use crate::number::value::Value;
use crate::number::{Extended, Rational, Rounded};
use crate::term::{Constant, ConstantId, Nearness, Reads, Store, TermId, TermKind, TermOp};
use rustc_hash::FxHashSet;

/// Fraction bits of f32 literals that are low-order halves of constants which compilers split in two. Where the high
/// half is read as the irrational constant itself, the low half counts as 0.
const RESIDUALS_F32: [u64; 5] = [
    0x25_7060, // log₂e
    0x25_5e34, // log₂e, powf's
    0x77_d1cf, // ln 2
    0x02_e308, // ln 2, below its rounded value
    0x17_9a37, // log₂10
];

/// Like [`RESIDUALS_F32`], for f64 literals.
const RESIDUALS_F64: [u64; 1] = [0xa_bc9e_3b39_803f]; // ln 2

/// The constants that readings stand for, up to powers of two.
const CONSTANTS: [f64; 4] =
    [std::f64::consts::LOG2_E, std::f64::consts::LN_2, std::f64::consts::LOG2_10, std::f64::consts::LOG10_2];

/// The largest number of pairs of a literal and a scale that are tested; beyond it, any literal may be a product.
const MAX_PAIRS: usize = 1 << 20;

/// The constants of one store that may be read otherwise.
#[derive(Clone, Debug, Default)]
pub struct Loose(FxHashSet<ConstantId>);

/// Mantissa bits of the formats in which literals are read.
fn mantissa(format: Format) -> Option<u32> {
    match format {
        Format::F16 => Some(11),
        Format::Bf16 => Some(8),
        Format::Tf32 | Format::F32 => Some(24),
        Format::F64 => Some(53),
        Format::E4m3 | Format::E5m2 | Format::Ue8m0 => None,
    }
}

/// A constant as a literal: its format, its bits and the mantissa bits of the format. Constants computed from literals,
/// and those that are no float, share the uncertainty.
fn spelled(constant: &Constant) -> Option<(Format, u64, u32)> {
    let (format, bits) = match (constant.literal, constant.rounded) {
        (Some(literal), _) => literal,
        (None, rounded) => (rounded.map_or(Format::F32, Rounded::format), 0),
    };
    Some((format, bits, mantissa(format)?))
}

/// Whether a constant looks rounded: no integer, and it uses more than half of its format's mantissa.
fn looks_rounded(constant: &Constant) -> bool {
    let (Some(value), Some((_, _, mantissa))) = (constant.exact.finite(), spelled(constant)) else {
        return false;
    };
    !value.is_integer() && value.to_parts().0.significant_bits() > mantissa / 2
}

fn is_residual(format: Format, bits: u64) -> bool {
    match format {
        Format::F32 => RESIDUALS_F32.contains(&(bits & 0x7f_ffff)),
        Format::F64 => RESIDUALS_F64.contains(&(bits & 0xf_ffff_ffff_ffff)),
        Format::F16 | Format::Bf16 | Format::Tf32 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => false,
    }
}

/// Whether two numbers agree up to some units of the last of `mantissa` bits.
fn is_near(a: f64, b: f64, mantissa: u32) -> bool {
    let unit = 2f64.powi(-(mantissa as i32));
    ((a / b).abs() - 1.0).abs() <= 16.0 * unit
}

/// `value` scaled by a power of two to a number in [1, 2).
fn fraction(value: f64) -> f64 {
    f64::from_bits(value.to_bits() & 0xf_ffff_ffff_ffff | 0x3ff0_0000_0000_0000)
}

impl Loose {
    /// The loose constants of `store`, with products by scales from `other`.
    pub fn of(store: &Store, other: &Store) -> Loose {
        let scales: Vec<f64> = constants(other).filter_map(|(_, constant)| number(constant)).collect();
        let own: Vec<_> = constants(store).filter(|(_, constant)| looks_rounded(constant)).collect();
        let many = own.len().saturating_mul(scales.len()) > MAX_PAIRS;
        let is_read = |constant: &Constant| {
            let Some(((format, bits), mantissa)) =
                constant.literal.and_then(|literal| Some((literal, mantissa(literal.0)?)))
            else {
                return true;
            };
            let Some(value) = number(constant) else { return true };
            let is_constant = CONSTANTS.iter().any(|of| {
                is_near(fraction(value), fraction(*of), mantissa)
                    || is_near(fraction(value), 2.0 * fraction(*of), mantissa)
                    || is_near(2.0 * fraction(value), fraction(*of), mantissa)
            });
            let is_product =
                || many || scales.iter().any(|scale| is_near(value, scale * CONSTANTS[0], mantissa));
            is_constant || is_residual(format, bits) || is_product()
        };
        Loose(own.iter().filter(|(_, constant)| is_read(constant)).map(|(id, _)| *id).collect())
    }

    /// Those that can affect a term's value through a reading: readings occur in exponents, and beside logarithms. All,
    /// where the term is computed from more than `limit` terms, or where constants approximate functions.
    pub fn below(self, store: &Store, root: TermId, limit: usize) -> Loose {
        if self.0.is_empty() {
            return self;
        }
        // The steps of a function that was not recognized are no literals: where they stand makes no difference.
        if store.approximates().is_some() {
            return self;
        }
        let mut exponents = Vec::new();
        let mut logarithms = false;
        let complete = walk(store, &[root], limit, |term| match store.op(term).map(TermOp::reads) {
            Some(Reads::Exponent) => exponents.push(term),
            Some(Reads::Logarithm) => logarithms = true,
            Some(Reads::Nothing) | None => {}
        });
        if logarithms || !complete {
            return self;
        }
        let mut below = FxHashSet::default();
        let complete = walk(store, &exponents, limit, |term| {
            if let TermKind::Constant(id) = term.kind() {
                below.insert(id);
            }
        });
        if complete { Loose(self.0.intersection(&below).copied().collect()) } else { self }
    }

    /// The values that a constant can have under any reading: those that round to it, within four units of the last
    /// place; for a residual, everything between it and (nearly) 0.
    pub(super) fn value<E: Enclosure>(&self, store: &Store, id: ConstantId, precision: u32) -> Value<E> {
        let constant = store.constant(id);
        if self.0.contains(&id) {
            widened(constant, store.approximates(), precision)
        } else {
            Value::exact(&constant.exact, precision)
        }
    }
}

/// All values that a constant may be read as; one that is no literal may approximate a function as nearly as is given.
fn widened<E: Enclosure>(constant: &Constant, approximates: Option<Nearness>, precision: u32) -> Value<E> {
    let exact = Value::exact(&constant.exact, precision);
    let (Extended::Finite(value), Some((format, bits, mantissa))) = (&constant.exact, spelled(constant))
    else {
        return exact;
    };
    let mut slack = value.abs() * Rational::power_of_two(2 - mantissa as i32);
    if let (None, Some(Nearness { ulps, or_below })) = (constant.literal, approximates) {
        // One unit more: a later step rounds too. The spacing at a value is at most this part of it.
        let unit = value.abs() * Rational::power_of_two(1 - mantissa as i32);
        slack = slack.max(unit * Rational::from_integer(i64::from(ulps) + 1));
        slack = or_below.map_or(slack.clone(), |exponent| slack.max(Rational::power_of_two(exponent)));
    }
    // Not down to 0: multiplied by an infinity, the residual keeps its sign. The slack of the high half covers the
    // difference.
    if value.is_negative() {
        slack = -slack;
    }
    let near = if is_residual(format, bits) && value.abs() <= Rational::power_of_two(-20) {
        value * Rational::power_of_two(-60)
    } else {
        value - &slack
    };
    E::between(&near, &(value + &slack), precision).into()
}

fn constants(store: &Store) -> impl Iterator<Item = (ConstantId, &Constant)> {
    (0..store.constant_count()).map(ConstantId::from_index).map(|id| (id, store.constant(id)))
}

/// A finite, non-zero constant, approximately.
fn number(constant: &Constant) -> Option<f64> {
    let value = constant.exact.finite()?.to_f64_approximately();
    (value.is_normal()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::number::format::{Decoded, decode};
    use crate::number::interval::Wide;

    fn intern(store: &mut Store, format: Format, bits: u64) -> ConstantId {
        let Decoded::Finite(value) = decode(format, bits) else { panic!("a number") };
        let literal = Some((format, bits));
        let term =
            store.intern(Constant { exact: value.into(), literal, rounded: Rounded::exactly(format, bits) });
        let TermKind::Constant(id) = term.kind() else { panic!("a constant") };
        id
    }

    fn bounds(format: Format, bits: u64) -> (Rational, Rational) {
        let mut store = Store::new();
        let id = intern(&mut store, format, bits);
        let loose = Loose::of(&store, &Store::new());
        let Value::Finite(enclosure) = loose.value::<Wide>(&store, id, 160) else { panic!("finite") };
        let (lower, upper) = enclosure.bounds();
        let Decoded::Finite(value) = decode(format, bits) else { panic!("a number") };
        assert!(lower <= value && value <= upper);
        (lower, upper)
    }

    #[test]
    fn literals_cover_all_their_readings() {
        let covers = |format, bits, ideal: f64| {
            let (lower, upper) = bounds(format, bits);
            let (lower, upper) = (lower.to_f64_approximately(), upper.to_f64_approximately());
            assert!(lower < ideal && ideal < upper, "{bits:#x}");
        };
        let (log2e, ln2) = (std::f64::consts::LOG2_E, std::f64::consts::LN_2);
        for bits in [0x3fb8_aa3b, 0x3fb8_aa3c] {
            covers(Format::F32, bits, log2e);
            covers(Format::F32, bits | 1 << 31, -log2e);
            covers(Format::F32, bits - (3 << 23), log2e / 8.0);
        }
        covers(Format::F16, 0x3dc5, log2e);
        covers(Format::Bf16, 0x3fb9, log2e);
        covers(Format::F32, 0x3f31_7218, ln2);
        covers(Format::F32, 0x3f31_7217, ln2);
        covers(Format::F32, 0x4054_9a78, std::f64::consts::LOG2_10);
        covers(Format::F32, 0x3e9a_209b, std::f64::consts::LOG10_2);
        for bits in [0x32a5_7060, 0x32a5_5e34, 0x3377_d1cf, 0xb102_e308, 0x3397_9a37] {
            // Down to almost 0, but with the literal's sign: times an infinity it is one.
            let (lower, upper) = bounds(Format::F32, bits);
            assert_eq!(lower.signum(), upper.signum());
            assert!(lower.abs().min(upper.abs()) < Rational::power_of_two(-80));
        }
    }

    #[test]
    fn all_other_literals_are_what_their_bits_spell() {
        // 1, 1/3, 0.1, √(2/π), an integer, 12345.678; and neighbours of log₂ e further off.
        for bits in
            [0x3f80_0000, 0x3eaa_aaab, 0x3dcc_cccd, 0x3f4c_422a, 0x4b40_0001, 0x4640_e6b6, 0x3fb8_aa4f]
        {
            let (lower, upper) = bounds(Format::F32, bits);
            assert_eq!(lower, upper, "{bits:#x}");
        }
    }

    #[test]
    fn a_scale_of_the_other_kernel_makes_a_product_loose() {
        let (mut own, mut other) = (Store::new(), Store::new());
        let product = intern(&mut own, Format::F32, 0x3e25_2b5b);
        assert!(!Loose::of(&own, &other).0.contains(&product));
        let scale = intern(&mut other, Format::F32, 0x3de4_f92e);
        assert!(Loose::of(&own, &other).0.contains(&product));
        assert!(!Loose::of(&other, &own).0.contains(&scale));
    }

    #[test]
    fn what_stands_in_no_exponent_is_exact() {
        let mut store = Store::new();
        let id = intern(&mut store, Format::F32, 0x3fb8_aa3b);
        let loose = Loose::of(&store, &store);
        let x = TermId::input(crate::term::InputId(0), 0);
        let product = store.apply(TermOp::Mul, &[x, TermId::constant(id)], InstId(0));
        let power = store.apply(TermOp::Exp2, &[product], InstId(0));
        let other = store.apply(TermOp::Exp2, &[x], InstId(0));
        let scaled = store.apply(TermOp::Mul, &[other, TermId::constant(id)], InstId(0));
        let logarithm = store.apply(TermOp::Log2, &[x], InstId(0));
        let beside = store.apply(TermOp::Mul, &[logarithm, TermId::constant(id)], InstId(0));
        for (term, is_loose) in [(product, false), (power, true), (scaled, false), (beside, true)] {
            assert_eq!(loose.clone().below(&store, term, 100).0.contains(&id), is_loose);
        }
        assert!(loose.below(&store, product, 0).0.contains(&id));
    }

    #[test]
    fn what_approximates_a_function_is_as_wide_as_its_error() {
        let mut store = Store::new();
        let exact = Rational::from_ratio(16_777_213, 16_777_216);
        let term = store.intern(Constant { exact: exact.clone().into(), literal: None, rounded: None });
        let TermKind::Constant(id) = term.kind() else { panic!("a constant") };
        let mut width = |nearness| {
            store.set_approximates(nearness);
            let Value::Finite(found) = Loose::of(&store, &Store::new()).value::<Wide>(&store, id, 160) else {
                panic!("finite")
            };
            let (lower, upper) = found.bounds();
            assert!(lower < exact && exact < upper);
            &upper - &exact
        };
        let units = |number| Rational::from_ratio(number, 1 << 24);
        assert!(width(Nearness { ulps: 0, or_below: None }) < units(5));
        assert!(width(Nearness { ulps: 5, or_below: None }) > units(5));
        assert!(width(Nearness { ulps: 9, or_below: Some(-10) }) >= Rational::power_of_two(-10));
    }
}
