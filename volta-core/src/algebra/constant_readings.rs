//! Rule V9: the closed table of literals that are read as irrational constants, and the contexts in which they are.
//!
//! A literal of the table is a symbol until its context is known. As a factor of an exponent of two, a form of log₂
//! e is read as log₂ e, and its residual, added with the same factor, is read as 0; beside a logarithm, a form of
//! ln 2 is read as 1/log₂ e. Anywhere else a literal is the rational that its bits encode. A power of two times a
//! literal has the literal's bits except for the exponent field, and is read the same way, if that power is in the
//! range of factors of exponents: `1477` is not read as `1024·log₂ e`.
//!
//! A kernel has one reading of a constant: of several forms in one kernel the first of the table is read, and the
//! others are rationals, since the kernel computes with their small differences. Where a form is split in two, as
//! in `expf`, the high half is read alone too, as in `__expf` and `tanhf`, if its multiple is in the range of
//! factors of exponents; the low half is read only beside the high one.
//!
//! In exponents, a literal that is the rounded product of log₂ e and a scale that is a literal of the other kernel
//! is read as that product.

use crate::number::format::{Format, Rounding, decode, encode};
use crate::number::{Extended, Rational, Rounded};
use crate::term::Constant;
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt;

/// A constant that is not a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Irrational {
    /// log₂ e
    Log2E,
    /// log₂ 10
    Log2Ten,
}

/// A float, as its format and its bits.
pub type Encoded = (Format, u64);

/// A literal that may be read as something else than the rational that its bits encode, up to powers of two and sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IrrationalLiteral {
    /// One of the table.
    Form(Form),
    /// One of the table that the kernel splits in two: read only beside its residual.
    High(Form),
    /// The product of a scale and log₂ e.
    Folded {
        /// The rounded product.
        product: Encoded,
        /// The scale, a literal of the other kernel.
        scale: Encoded,
    },
}

/// A literal of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Form {
    /// f32 nearest to log₂ e
    Log2E,
    /// f32 next above it
    Log2EAbove,
    /// f32 nearest to log₂ e less its nearest f32
    Log2EResidual,
    /// `powf`'s form of that residual
    Log2EPowerResidual,
    /// f16 nearest to log₂ e
    Log2EHalf,
    /// bf16 nearest to log₂ e
    Log2EBrain,
    /// f64 nearest to log₂ e
    Log2EDouble,
    /// f32 nearest to ln 2
    Ln2,
    /// f64 nearest to ln 2
    Ln2Double,
    /// f32 nearest to log₂ 10
    Log2Ten,
    /// f32 nearest to log₂ 10 less its nearest f32
    Log2TenResidual,
    /// f32 nearest to log₁₀ 2
    Log10Two,
    /// f64 nearest to log₂ 10
    Log2TenDouble,
    /// f64 nearest to log₁₀ 2
    Log10TwoDouble,
}

/// What a literal is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The constant, in an exponent.
    Whole(Irrational),
    /// The constant, in an exponent to which its residual is added.
    High(Irrational),
    /// What the constant's nearest f32 lacks, in an exponent.
    Residual(Irrational),
    /// The constant's reciprocal, beside a base-2 logarithm.
    Reciprocal(Irrational),
}

struct Row {
    form: Form,
    format: Format,
    bits: u64,
    role: Role,
}

const fn row(form: Form, format: Format, bits: u64, role: Role) -> Row {
    Row { form, format, bits, role }
}

/// In the order of [`Form`].
const TABLE: [Row; 14] = [
    row(Form::Log2E, Format::F32, 0x3FB8_AA3B, Role::Whole(Irrational::Log2E)),
    row(Form::Log2EAbove, Format::F32, 0x3FB8_AA3C, Role::Whole(Irrational::Log2E)),
    row(Form::Log2EResidual, Format::F32, 0x32A5_7060, Role::Residual(Irrational::Log2E)),
    row(Form::Log2EPowerResidual, Format::F32, 0x32A5_5E34, Role::Residual(Irrational::Log2E)),
    row(Form::Log2EHalf, Format::F16, 0x3DC5, Role::Whole(Irrational::Log2E)),
    row(Form::Log2EBrain, Format::Bf16, 0x3FB9, Role::Whole(Irrational::Log2E)),
    row(Form::Log2EDouble, Format::F64, 0x3FF7_1547_652B_82FE, Role::Whole(Irrational::Log2E)),
    row(Form::Ln2, Format::F32, 0x3F31_7218, Role::Reciprocal(Irrational::Log2E)),
    row(Form::Ln2Double, Format::F64, 0x3FE6_2E42_FEFA_39EF, Role::Reciprocal(Irrational::Log2E)),
    row(Form::Log2Ten, Format::F32, 0x4054_9A78, Role::Whole(Irrational::Log2Ten)),
    row(Form::Log2TenResidual, Format::F32, 0x3397_9A37, Role::Residual(Irrational::Log2Ten)),
    row(Form::Log10Two, Format::F32, 0x3E9A_209B, Role::Reciprocal(Irrational::Log2Ten)),
    row(Form::Log2TenDouble, Format::F64, 0x400A_934F_0979_A371, Role::Whole(Irrational::Log2Ten)),
    row(Form::Log10TwoDouble, Format::F64, 0x3FD3_4413_509F_79FF, Role::Reciprocal(Irrational::Log2Ten)),
];

impl Form {
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }
}

impl IrrationalLiteral {
    fn encoded(self) -> Encoded {
        match self {
            IrrationalLiteral::Form(form) | IrrationalLiteral::High(form) => {
                (form.row().format, form.row().bits)
            }
            IrrationalLiteral::Folded { product, .. } => product,
        }
    }

    /// The rational that its bits encode.
    pub fn value(self) -> Rational {
        value_of(self.encoded())
    }

    pub(super) fn role(self) -> Role {
        match self {
            IrrationalLiteral::Form(form) => form.row().role,
            IrrationalLiteral::High(form) => match form.row().role {
                Role::Whole(which) => Role::High(which),
                role @ (Role::High(_) | Role::Residual(_) | Role::Reciprocal(_)) => role,
            },
            IrrationalLiteral::Folded { .. } => Role::Whole(Irrational::Log2E),
        }
    }

    /// The factor of the irrational constant where the literal is read as a multiple of it.
    pub(super) fn scale(self) -> Rational {
        match self {
            IrrationalLiteral::Form(_) | IrrationalLiteral::High(_) => Rational::ONE,
            IrrationalLiteral::Folded { scale, .. } => value_of(scale),
        }
    }

    /// A number that differs between literals.
    pub(super) fn fingerprint(self) -> u128 {
        let spread = |(format, bits): Encoded| u128::from(bits) << 8 | format as u128;
        match self {
            IrrationalLiteral::Form(form) => form as u128,
            IrrationalLiteral::High(form) => form as u128 | 1 << 126,
            IrrationalLiteral::Folded { product, scale } => {
                spread(product).rotate_left(40) ^ spread(scale) ^ 1 << 127
            }
        }
    }
}

fn value_of((format, bits): Encoded) -> Rational {
    let value = decode(format, bits).extended();
    value.and_then(|value| value.finite().cloned()).unwrap_or_default()
}

/// A literal that was read as an irrational constant: the verdict assumes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reading {
    /// The literal.
    pub literal: IrrationalLiteral,
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |which: Irrational| match which {
            Irrational::Log2E => "log2(e)",
            Irrational::Log2Ten => "log2(10)",
        };
        let (format, bits) = self.literal.encoded();
        let digits = format.bytes() as usize * 2;
        write!(f, "{} literal 0x{bits:0digits$x}", format.name())?;
        if let IrrationalLiteral::Folded { scale: (_, scale), .. } = self.literal {
            return write!(f, " read as log2(e) times 0x{scale:0digits$x}, a literal of the other kernel");
        }
        write!(f, ", up to a power of two, read as ")?;
        match self.literal.role() {
            Role::Whole(which) | Role::High(which) => write!(f, "{}", name(which)),
            Role::Residual(which) => write!(f, "the rest of {}", name(which)),
            Role::Reciprocal(Irrational::Log2E) => write!(f, "ln(2)"),
            Role::Reciprocal(Irrational::Log2Ten) => write!(f, "log10(2)"),
        }
    }
}

/// The coefficient (a power of two, of either sign) and the literal whose product a constant is, if it is one.
pub(super) fn read(constant: &Constant) -> Option<(Rational, IrrationalLiteral)> {
    let exact = constant.exact.finite()?;
    let (format, bits) = constant.literal.or(constant.rounded.and_then(Rounded::spelled))?;
    let decoded = decode(format, bits).extended()?;
    if decoded != constant.exact || exact.is_zero() {
        return None;
    }
    for row in TABLE.iter().filter(|row| row.format == format) {
        let literal = IrrationalLiteral::Form(row.form);
        let quotient = exact.checked_div(&literal.value())?;
        let Some(exponent) = exponent_of_two(&quotient.abs()) else { continue };
        return factors(format).contains(&exponent).then_some((quotient, literal));
    }
    None
}

/// The exponents of the powers of two by which a literal may be multiplied: from `1/4096`, a scale of long rows, to
/// `16`. For short formats, in which short decimals and integers soon have the same bits, from 1/64 to 2.
pub(super) fn factors(format: Format) -> std::ops::RangeInclusive<i64> {
    match format {
        Format::F16 | Format::Bf16 => -6..=1,
        Format::Tf32 | Format::F32 | Format::F64 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => -12..=4,
    }
}

/// The readings of the constants of one kernel, `None` for unread ones: each irrational constant in one form.
pub(super) fn read_all<'c>(
    constants: impl Iterator<Item = Option<&'c Constant>>,
) -> Vec<Option<(Rational, IrrationalLiteral)>> {
    let mut all: Vec<Option<(Rational, IrrationalLiteral)>> =
        constants.map(|constant| constant.and_then(read)).collect();
    let form = |reading: &Option<(Rational, IrrationalLiteral)>| match reading {
        Some((_, IrrationalLiteral::Form(form))) => Some(*form),
        Some((_, IrrationalLiteral::High(_) | IrrationalLiteral::Folded { .. })) | None => None,
    };
    let present: Vec<Form> =
        TABLE.iter().map(|row| row.form).filter(|of| all.iter().any(|own| form(own) == Some(*of))).collect();
    let first = |role: Role| present.iter().copied().find(|form| form.row().role == role);
    for reading in &mut all {
        let Some(own) = form(reading) else { continue };
        let role = own.row().role;
        if first(role) != Some(own) {
            *reading = None;
        } else if let (Role::Whole(which), Some((_, literal))) = (role, reading)
            && own == nearest(which)
            && first(Role::Residual(which)).is_some()
        {
            *literal = IrrationalLiteral::High(own);
        }
    }
    all
}

/// The form that is split in two: the nearest f32.
pub(super) fn nearest(which: Irrational) -> Form {
    match which {
        Irrational::Log2E => Form::Log2E,
        Irrational::Log2Ten => Form::Log2Ten,
    }
}

/// The residuals that may be added to the nearest f32.
pub(super) fn residuals(which: Irrational) -> &'static [Form] {
    match which {
        Irrational::Log2E => &[Form::Log2EResidual, Form::Log2EPowerResidual],
        Irrational::Log2Ten => &[Form::Log2TenResidual],
    }
}

/// Scales are not searched in kernels with more literals.
const MAX_SCALES: usize = 1 << 10;

/// The literal of one kernel that is the rounded product of log₂ e and a literal of the other, which does not have
/// the product itself: its bits without the sign, and those of the scale. Nothing is read if a product fits two
/// scales or there are several products: a kernel has one reading of log₂ e.
pub(super) fn folded<'c>(
    own: impl Iterator<Item = &'c Constant>,
    others: impl Iterator<Item = &'c Constant>,
) -> FxHashMap<Encoded, Encoded> {
    let scales: FxHashSet<Encoded> = others.filter_map(magnitude).collect();
    let own: FxHashSet<Encoded> = own.filter_map(magnitude).filter(|own| !scales.contains(own)).collect();
    let mut found: FxHashMap<Encoded, Option<Encoded>> = FxHashMap::default();
    if own.is_empty() || scales.len() > MAX_SCALES {
        return FxHashMap::default();
    }
    for scale in scales {
        for product in products_with_log2_e(scale).into_iter().flatten().filter(|of| own.contains(of)) {
            found
                .entry(product)
                .and_modify(|known| *known = known.filter(|known| *known == scale))
                .or_insert(Some(scale));
        }
    }
    let found: FxHashMap<Encoded, Encoded> =
        found.into_iter().filter_map(|(product, scale)| Some((product, scale?))).collect();
    if found.len() > 1 { FxHashMap::default() } else { found }
}

/// A literal that is no power of two, without its sign.
fn magnitude(constant: &Constant) -> Option<Encoded> {
    let (format, bits) = constant.literal?;
    let exact = constant.exact.finite()?;
    if decode(format, bits).extended()? != constant.exact || exact.is_zero() || is_power_of_two(&exact.abs())
    {
        return None;
    }
    Some((format, rounded(&exact.abs(), format)))
}

fn rounded(value: &Rational, format: Format) -> u64 {
    encode(&Extended::Finite(value.clone()), format, Rounding::Nearest)
}

/// log₂ e lies between this many 10⁻⁴⁰ and one more.
const LOG2_E: &str = "14426950408889634073599246810018921374266";

/// A scale times log₂ e, rounded once, and computed from the rounded log₂ e.
fn products_with_log2_e(scale: Encoded) -> [Option<Encoded>; 2] {
    let (format, _) = scale;
    let value = value_of(scale);
    let digits: rug::Integer = LOG2_E.parse().unwrap_or_default();
    let unit = rug::Integer::from(rug::Integer::u_pow_u(10, 40));
    let bound =
        |more: u32| Rational::from(rug::Rational::from((rug::Integer::from(&digits + more), unit.clone())));
    let [below, above] = [0, 1].map(|more| rounded(&(&value * &bound(more)), format));
    let nearest = value_of((format, rounded(&bound(0), format)));
    [(below == above).then_some((format, below)), Some((format, rounded(&(&value * &nearest), format)))]
}

fn is_power_of_two(value: &Rational) -> bool {
    exponent_of_two(value).is_some()
}

/// The exponent of a power of two.
fn exponent_of_two(value: &Rational) -> Option<i64> {
    let (num, den) = value.to_parts();
    let is_power = num.is_power_of_two() && den.is_power_of_two();
    is_power.then(|| i64::from(num.significant_bits()) - i64::from(den.significant_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Extended;

    fn literal(format: Format, bits: u64) -> Constant {
        let exact = decode(format, bits).extended().expect("a number");
        Constant { exact, literal: Some((format, bits)), rounded: Rounded::exactly(format, bits) }
    }

    #[test]
    fn the_table_is_in_the_order_of_its_literals() {
        for (at, row) in TABLE.iter().enumerate() {
            assert_eq!(row.form as usize, at);
            assert!(IrrationalLiteral::Form(row.form).value().is_positive());
        }
    }

    #[test]
    fn powers_of_two_and_signs_come_out_as_coefficients() {
        let eighth = Rational::from_ratio(1, 8);
        assert_eq!(
            read(&literal(Format::F32, 0x3E38_AA3B)),
            Some((eighth, IrrationalLiteral::Form(Form::Log2E)))
        );
        assert_eq!(
            read(&literal(Format::F32, 0xBFB8_AA3C)),
            Some((Rational::MINUS_ONE, IrrationalLiteral::Form(Form::Log2EAbove)))
        );
        assert_eq!(
            read(&literal(Format::F16, 0x3DC5)),
            Some((Rational::ONE, IrrationalLiteral::Form(Form::Log2EHalf)))
        );
    }

    #[test]
    fn neighbours_of_the_table_are_rationals() {
        for bits in [0x3FB8_AA3A, 0x3FB8_AA3D, 0x3F31_7217, 0x3F31_7219, 0x3F80_0000, 0] {
            assert_eq!(read(&literal(Format::F32, bits)), None, "{bits:x}");
        }
        let folded = Constant {
            exact: Extended::Finite(IrrationalLiteral::Form(Form::Log2E).value()),
            literal: None,
            rounded: None,
        };
        assert_eq!(read(&folded), None);
    }

    #[test]
    fn integers_and_far_powers_of_two_are_rationals() {
        // 1477 and 738.5, 1024 and 512 times the f16 form; 12102203, 2²³ times the f32 one; 2⁻¹³ and 2⁵ times.
        for (format, bits) in [
            (Format::F16, 0x65C5),
            (Format::F16, 0x61C5),
            (Format::F32, 0x4B38_AA3B),
            (Format::F32, 0x3938_AA3B),
            (Format::F32, 0x4238_AA3B),
        ] {
            assert_eq!(read(&literal(format, bits)), None, "{bits:x}");
        }
    }

    #[test]
    fn a_kernel_has_one_reading_of_a_constant() {
        let all = |bits: &[u64]| -> Vec<Option<IrrationalLiteral>> {
            let constants: Vec<Constant> = bits.iter().map(|bits| literal(Format::F32, *bits)).collect();
            read_all(constants.iter().map(Some))
                .into_iter()
                .map(|read| read.map(|(_, literal)| literal))
                .collect()
        };
        let form = |form| Some(IrrationalLiteral::Form(form));
        assert_eq!(all(&[0x3FB8_AA3C]), [form(Form::Log2EAbove)]);
        assert_eq!(all(&[0x3FB8_AA3C, 0x3F38_AA3B]), [None, form(Form::Log2E)]);
        // Split in two: the high half has a reading of its own.
        let split = all(&[0x3FB8_AA3B, 0x32A5_7060, 0x32A5_5E34, 0x3F31_7218]);
        let high = Some(IrrationalLiteral::High(Form::Log2E));
        assert_eq!(split, [high, form(Form::Log2EResidual), None, form(Form::Ln2)]);
    }

    #[test]
    fn scales_are_found_in_products_rounded_once_or_twice() {
        let scale = literal(Format::F32, 0x3DE4_F92E);
        let [once, twice] =
            products_with_log2_e((Format::F32, 0x3DE4_F92E)).map(|product| product.expect("one").1);
        assert!(once.abs_diff(twice) <= 2, "{once:x} {twice:x}");
        for product in [once, twice, once | 1 << 31] {
            let known = folded([literal(Format::F32, product)].iter(), [scale.clone()].iter());
            assert_eq!(known.get(&(Format::F32, product & 0x7FFF_FFFF)), Some(&(Format::F32, 0x3DE4_F92E)));
        }
        let near = once.max(twice) + 1;
        assert!(folded([literal(Format::F32, near)].iter(), [scale.clone()].iter()).is_empty());
        // A kernel that has the product as well means the same number.
        let both = [scale, literal(Format::F32, once)];
        assert!(folded([literal(Format::F32, once)].iter(), both.iter()).is_empty());
    }

    #[test]
    fn digits_of_log2_e_are_its_nearest_floats() {
        for (format, form) in
            [(Format::F32, Form::Log2E), (Format::F64, Form::Log2EDouble), (Format::F16, Form::Log2EHalf)]
        {
            let one = rounded(&Rational::ONE, format);
            let products = products_with_log2_e((format, one));
            assert_eq!(products, [Some((format, form.row().bits)); 2]);
        }
    }
}
