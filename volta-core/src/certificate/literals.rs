//! What literals of a certificate may be read as (V9). Nothing rests on it: the checker compares.

use volta_certificate::{Node, Number, Reading};

/// Literals that are read as powers of two times a constant have exponents up to this.
const MAX_SHIFT: f64 = 12.0;

/// The sets of readings that are tried: none, all, and those in exponents alone.
pub(super) fn readings(nodes: &[Node]) -> Vec<Vec<Reading>> {
    let mut literals: Vec<(u32, &Number)> = nodes
        .iter()
        .filter_map(
            |node| if let Node::Literal(digits, number) = node { Some((*digits, number)) } else { None },
        )
        .collect();
    literals.sort();
    literals.dedup();
    let mut all: Vec<Reading> =
        literals.iter().filter_map(|(digits, number)| reading(*digits, number)).collect();
    all.dedup_by(|a, b| a.literal == b.literal);
    let residuals: Vec<Reading> = literals
        .iter()
        .filter(|(digits, number)| all.iter().any(|high| is_residual(*digits, number, high)))
        .map(|(_, number)| Reading { literal: (*number).clone(), reciprocal: false, factor: Number::ZERO })
        .collect();
    let folded: Vec<Reading> = literals
        .iter()
        .filter(|(_, number)| all.iter().all(|read| read.literal != **number))
        .filter_map(|(digits, number)| {
            let value = number.rational().to_f64();
            let is_read = |scale: &Number| all.iter().any(|read| read.literal == *scale);
            let scale =
                literals.iter().map(|(_, scale)| *scale).filter(|scale| !is_read(scale)).find(|scale| {
                    let product = scale.rational().to_f64() * std::f64::consts::LOG2_E;
                    **scale != Number::ONE && (value / product - 1.0).abs() <= (-f64::from(*digits)).exp2()
                });
            Some(Reading { literal: (*number).clone(), reciprocal: false, factor: scale?.clone() })
        })
        .collect();
    all.extend(residuals);
    all.extend(folded);
    let exponents: Vec<Reading> = all.iter().filter(|read| !read.reciprocal).cloned().collect();
    let mut sets = vec![Vec::new(), exponents, all];
    sets.dedup();
    sets
}

/// A power of two times a constant.
fn reading(digits: u32, number: &Number) -> Option<Reading> {
    let value = number.rational().to_f64();
    [(false, std::f64::consts::LOG2_E), (true, std::f64::consts::LN_2)].into_iter().find_map(
        |(reciprocal, of)| {
            let shift = (value.abs() / of).log2().round();
            let factor = shift.exp2() * value.signum();
            let near = (value / (of * factor) - 1.0).abs() <= (1.0 - f64::from(digits)).exp2();
            let factor = rug::Rational::from_f64(factor).filter(|_| near && shift.abs() <= MAX_SHIFT)?;
            Some(Reading { literal: number.clone(), reciprocal, factor: Number::of(factor) })
        },
    )
}

/// Whether a literal is what log₂ e has more than another literal.
fn is_residual(digits: u32, low: &Number, high: &Reading) -> bool {
    /// What the two doubles that are nearest to log₂ e leave.
    const LOW: f64 = 2.035_527_374_093_103_3e-17;
    let factor = high.factor.rational().to_f64();
    let rest = (std::f64::consts::LOG2_E * factor - high.literal.rational().to_f64()) + LOW * factor;
    let value = low.rational().to_f64();
    !high.reciprocal && rest != 0.0 && (value / rest - 1.0).abs() <= (1.0 - f64::from(digits.min(40))).exp2()
}
