//! Canonical forms as mathematics, short: for snapshots and messages.
//!
//! What is printed depends on the value's canonical form only, not on how the term computed it. Long sums and
//! maxima are cut in the middle, with a count.

use super::Stop;
use super::atom::{Atom, AtomId, Function, Place, Table, TermRef};
use super::canon::Prover;
use super::class::Class;
use super::condition::{Condition, ConditionId};
use super::exponent::Scale;
use super::flat::inputs_of;
use super::function::negated;
use super::monomial::MonomialId;
use super::obligation::{Demand, Requirement};
use super::polynomial::{Key, PolynomialId, Term};
use super::readings::Irrational;
use crate::number::format::{Format, Rounding, decode, encode};
use crate::number::{Extended, Rational};
use crate::term::InputId;
use std::cmp::Reverse;

/// Spells an input's element.
pub type Names<'n> = dyn Fn(InputId, u64) -> String + 'n;

/// Longer lists are cut: so many at the start, one at the end.
const SHOWN: usize = 4;
/// Nesting beyond this is not shown.
const MAX_NESTING: u32 = 8;
/// Longer texts are cut, in bytes.
const MAX_TEXT: usize = 2000;
/// Numbers from here on are spelled as literals where they are some.
const LONG: u32 = 1_000_000;
/// Literals of more characters are none that anybody wrote.
const MAX_LITERAL: usize = 10;

impl Prover<'_> {
    /// The normal form of a term. Reasons why there is none read as such.
    pub fn normal_form(&mut self, at: TermRef, names: &Names<'_>) -> String {
        match self.class(at) {
            Ok(Class::Finite) => {}
            Ok(Class::PosInf) => return "inf".to_string(),
            Ok(Class::NegInf) => return "-inf".to_string(),
            Ok(Class::Undefined(why)) => return format!("undefined: {why}"),
            Ok(Class::Unknown(why)) => return format!("unknown: {why}"),
            Err(stop) => return format!("unknown: {stop}"),
        }
        match self.settle(|prover| prover.whole(at)) {
            Ok(scale) => cut(Printer { prover: self, names }.scale(&scale)),
            Err(Stop::Undefined(why)) => format!("undefined: {why}"),
            Err(stop) => format!("unknown: {stop}"),
        }
    }

    /// A term as one scale: numerator and denominator named, common factors gone.
    fn whole(&mut self, at: TermRef) -> Result<Scale, Stop> {
        let flat = self.flatten(at)?;
        let terms = self.finish(&flat)?;
        let terms = self.without_named_products(terms)?;
        let terms = self.expand(terms)?;
        let mut lowest: Vec<(AtomId, i32)> = Vec::new();
        for term in &terms {
            for (atom, power) in self.table.monomials.factors(term.monomial()) {
                if *power < 0 && matches!(self.table.atom(*atom), Atom::Sum(_)) {
                    match lowest.iter_mut().find(|(known, _)| known == atom) {
                        Some((_, least)) => *least = (*least).min(*power),
                        None => lowest.push((*atom, *power)),
                    }
                }
            }
        }
        lowest.sort_unstable();
        let inverse = self.table.intern_factors(&lowest);
        let denominator = self.table.monomial_power(inverse, -1)?;
        let scale = Scale { coefficient: Rational::ONE, key: Key::new(denominator, PolynomialId::ZERO) };
        let numerator = self.scaled(&terms, &scale)?;
        let numerator = self.expand(numerator)?;
        let numerator = self.factor_terms(numerator)?;
        let inverse = Scale { coefficient: Rational::ONE, key: Key::new(inverse, PolynomialId::ZERO) };
        if numerator.is_zero() { Ok(numerator) } else { self.table.scale_product(&numerator, &inverse) }
    }

    /// A requirement as a condition that people can read.
    pub fn requirement_text(&self, requirement: &Requirement, names: &Names<'_>) -> String {
        let printer = Printer { prover: self, names };
        let product = match self.requirement_content(requirement) {
            Some(content) => printer.sum(self.table.polynomials.terms(content), 0),
            None => printer.monomial(requirement.product, 0),
        };
        let (relation, product) = match (requirement.demand, requirement.negative) {
            (Demand::Nonzero, _) => ("!= 0", product),
            (Demand::Positive, false) => ("> 0", product),
            (Demand::Positive, true) => ("< 0", product),
            (Demand::NotNegative, false) => (">= 0", product),
            (Demand::NotNegative, true) => ("<= 0", product),
        };
        let mut text = format!("{} {relation}", cut(product));
        for (at, guard) in requirement.guards.conditions().iter().enumerate() {
            text.push_str(if at == 0 { " where " } else { " and " });
            text.push_str(&cut(printer.condition(guard, 0)));
        }
        text
    }
}

/// A number of many digits as the f32 literal that it is: `1e-6f` rather than `8796093 / 8796093022208`.
fn spelled_as_f32(value: &Rational) -> Option<String> {
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

fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        text.truncate(end);
        text.push('…');
    }
    text
}

struct Printer<'p, 's, 'n> {
    prover: &'p Prover<'s>,
    names: &'n Names<'n>,
}

impl Printer<'_, '_, '_> {
    fn table(&self) -> &Table {
        &self.prover.table
    }

    fn place(&self, term: &Term) -> ((u32, u64), Place, Place) {
        let monomial = self.table().monomials.place(term.monomial());
        let exponent = self.table().polynomials.place(term.exponent());
        (monomial.lead.min(exponent.lead), monomial, exponent)
    }

    /// A product of named sums and powers, as a fraction.
    fn scale(&self, scale: &Scale) -> String {
        let factors = self.table().monomials.factors(scale.key.monomial());
        if let ([(atom, 1)], PolynomialId::ZERO) = (factors, scale.key.exponent())
            && let Atom::Sum(content) = self.table().atom(*atom)
        {
            let terms = self.table().polynomials.terms(*content);
            let scaled: Vec<Term> = terms
                .iter()
                .map(|term| Term { key: term.key, coefficient: &term.coefficient * &scale.coefficient })
                .collect();
            return self.sum(&scaled, 0);
        }
        self.sum(&[Term { key: scale.key, coefficient: scale.coefficient.clone() }], 0)
    }

    fn sum(&self, terms: &[Term], nesting: u32) -> String {
        if terms.is_empty() {
            return "0".to_string();
        }
        if nesting > MAX_NESTING {
            return "…".to_string();
        }
        let mut order: Vec<&Term> = terms.iter().collect();
        order.sort_by_cached_key(|term| self.place(term));
        let mut text = String::new();
        let skipped = order.len().saturating_sub(SHOWN + 1);
        for (at, term) in order.iter().enumerate() {
            if skipped > 1 && at >= SHOWN && at < SHOWN + skipped {
                if at == SHOWN {
                    text.push_str(&format!(" + … {skipped} more terms …"));
                }
                continue;
            }
            let negative = term.coefficient.is_negative();
            match (at == 0, negative) {
                (true, true) => text.push('-'),
                (true, false) => {}
                (false, true) => text.push_str(" - "),
                (false, false) => text.push_str(" + "),
            }
            text.push_str(&self.product(&term.coefficient.abs(), term.key, nesting));
        }
        text
    }

    /// `coefficient · monomial · 2^exponent`, the coefficient not negative.
    fn product(&self, coefficient: &Rational, key: Key, nesting: u32) -> String {
        let mut above = Vec::new();
        let mut below = Vec::new();
        if let Some(literal) = spelled_as_f32(coefficient) {
            above.push(literal);
        } else {
            let (num, den) = coefficient.to_parts();
            if num != 1 {
                above.push(num.to_string());
            }
            if den != 1 {
                below.push(den.to_string());
            }
        }
        let mut factors = self.table().monomials.factors(key.monomial()).to_vec();
        factors.sort_by_cached_key(|(atom, _)| self.table().place(*atom));
        for (atom, power) in factors {
            let base = self.atom(atom, nesting + 1);
            let text = match power.unsigned_abs() {
                1 => base,
                power => format!("{base}^{power}"),
            };
            if power > 0 { &mut above } else { &mut below }.push(text);
        }
        if key.exponent() != PolynomialId::ZERO {
            above.push(self.power(key.exponent(), nesting + 1));
        }
        let joined = |parts: &[String]| parts.join("*");
        match (above.as_slice(), below.as_slice()) {
            ([], []) => "1".to_string(),
            (above, []) => joined(above),
            ([], [below]) => format!("1 / {below}"),
            ([], below) => format!("1 / ({})", joined(below)),
            (above, [below]) => format!("{} / {below}", joined(above)),
            (above, below) => format!("{} / ({})", joined(above), joined(below)),
        }
    }

    fn monomial(&self, monomial: MonomialId, nesting: u32) -> String {
        self.product(&Rational::ONE, Key::new(monomial, PolynomialId::ZERO), nesting)
    }

    /// `2^exponent`: as `exp(…)` where log₂ e is in every term.
    fn power(&self, exponent: PolynomialId, nesting: u32) -> String {
        let terms = self.table().polynomials.terms(exponent);
        let mut natural = Vec::with_capacity(terms.len());
        for term in terms {
            let factors = self.table().monomials.factors(term.monomial());
            let is_base = |(atom, power): &(AtomId, i32)| {
                *power == 1 && *self.table().atom(*atom) == Atom::Irrational(Irrational::Log2E)
            };
            if !factors.iter().any(is_base) {
                return format!("exp2({})", self.sum(terms, nesting));
            }
            let rest: Vec<(AtomId, i32)> =
                factors.iter().copied().filter(|factor| !is_base(factor)).collect();
            natural.push((term, rest));
        }
        format!("exp({})", self.natural_sum(natural, nesting))
    }

    /// A sum whose terms come without their factor log₂ e, which may not be interned.
    fn natural_sum(&self, mut terms: Vec<(&Term, Vec<(AtomId, i32)>)>, nesting: u32) -> String {
        if nesting > MAX_NESTING {
            return "…".to_string();
        }
        // Positive terms first, so that `exp(x − max)` reads as people write it.
        terms.sort_by_cached_key(|(term, _)| (Reverse(term.coefficient.signum()), self.place(term)));
        let mut text = String::new();
        let skipped = terms.len().saturating_sub(SHOWN + 1);
        for (at, (term, rest)) in terms.iter().enumerate() {
            if skipped > 1 && at >= SHOWN && at < SHOWN + skipped {
                if at == SHOWN {
                    text.push_str(&format!(" + … {skipped} more terms …"));
                }
                continue;
            }
            let negative = term.coefficient.is_negative();
            match (at == 0, negative) {
                (true, true) => text.push('-'),
                (true, false) => {}
                (false, true) => text.push_str(" - "),
                (false, false) => text.push_str(" + "),
            }
            let mut rest = rest.clone();
            rest.sort_by_cached_key(|(atom, _)| self.table().place(*atom));
            let mut parts: Vec<String> = Vec::new();
            let coefficient = term.coefficient.abs();
            if !coefficient.is_one() || (rest.is_empty() && term.exponent() == PolynomialId::ZERO) {
                parts.push(spelled_as_f32(&coefficient).unwrap_or_else(|| coefficient.to_string()));
            }
            for (atom, power) in rest {
                let base = self.atom(atom, nesting + 1);
                parts.push(if power == 1 { base } else { format!("{base}^{power}") });
            }
            if term.exponent() != PolynomialId::ZERO {
                parts.push(self.power(term.exponent(), nesting + 1));
            }
            text.push_str(&parts.join("*"));
        }
        text
    }

    fn list(&self, parts: &[PolynomialId], nesting: u32) -> String {
        let mut order = parts.to_vec();
        order.sort_by_cached_key(|part| self.table().polynomials.place(*part));
        let show = |part: &PolynomialId| self.sum(self.table().polynomials.terms(*part), nesting);
        let skipped = order.len().saturating_sub(SHOWN + 1);
        if skipped > 1 {
            let first: Vec<String> = order[..SHOWN].iter().map(show).collect();
            let last = order.last().map(show).unwrap_or_default();
            format!("{}, … {skipped} more …, {last}", first.join(", "))
        } else {
            order.iter().map(show).collect::<Vec<_>>().join(", ")
        }
    }

    fn inside(&self, polynomial: PolynomialId, nesting: u32) -> String {
        self.sum(self.table().polynomials.terms(polynomial), nesting)
    }

    fn atom(&self, atom: AtomId, nesting: u32) -> String {
        if nesting > MAX_NESTING {
            return "…".to_string();
        }
        match self.table().atom(atom) {
            Atom::Input(input, element) => (self.names)(*input, *element),
            Atom::Products(keys) => format!("({})", self.products(keys)),
            Atom::Irrational(Irrational::Log2E) => "log2(e)".to_string(),
            Atom::Irrational(Irrational::Log2Ten) => "log2(10)".to_string(),
            Atom::Literal(literal) => literal.value().to_string(),
            Atom::Lazy(_) => "…".to_string(),
            Atom::Sum(content) => format!("({})", self.inside(*content, nesting)),
            Atom::Max(arms) => format!("max({})", self.list(arms, nesting)),
            Atom::Apply(function, argument) => {
                let name = match function {
                    Function::Sqrt => "sqrt",
                    Function::Log2 => "log2",
                    Function::Sin => "sin",
                    Function::Cos => "cos",
                    Function::Floor => "floor",
                    Function::Ceil => "ceil",
                    Function::Trunc => "trunc",
                    Function::RoundEven => "round",
                };
                format!("{name}({})", self.inside(*argument, nesting))
            }
            Atom::CopySign(sign, magnitude) => {
                format!("copysign({}, {})", self.inside(*sign, nesting), self.inside(*magnitude, nesting))
            }
            Atom::BitAnd(a, b) => {
                format!("({} & {})", self.inside(*a, nesting), self.inside(*b, nesting))
            }
            Atom::Select(condition, a, b) => format!(
                "({} ? {} : {})",
                self.condition(condition, nesting),
                self.inside(*a, nesting),
                self.inside(*b, nesting)
            ),
        }
    }

    fn products(&self, keys: &[u128]) -> String {
        let mut products: Vec<Vec<(InputId, u64)>> =
            keys.iter().map(|key| inputs_of(*key).collect()).collect();
        products.sort_unstable();
        let show = |product: &Vec<(InputId, u64)>| {
            let names: Vec<String> =
                product.iter().map(|(input, element)| (self.names)(*input, *element)).collect();
            names.join("*")
        };
        let skipped = products.len().saturating_sub(SHOWN + 1);
        if skipped <= 1 {
            return products.iter().map(show).collect::<Vec<_>>().join(" + ");
        }
        let first: Vec<String> = products[..SHOWN].iter().map(show).collect();
        let last = products.last().map(show).unwrap_or_default();
        format!("{} + … {skipped} more terms … + {last}", first.join(" + "))
    }

    fn condition(&self, id: &ConditionId, nesting: u32) -> String {
        if nesting > MAX_NESTING {
            return "…".to_string();
        }
        let pair = |a: &ConditionId, b: &ConditionId, word: &str| {
            let mut both = [a, b];
            both.sort_by_key(|id| id.fingerprint());
            let [a, b] = both.map(|id| self.condition(id, nesting + 1));
            format!("({a} {word} {b})")
        };
        match self.prover.conditions.get(id) {
            Condition::Known(value) => value.to_string(),
            Condition::Positive(inner) => self.comparison(*inner, [" > 0", " < 0"], nesting),
            Condition::Zero(inner) => format!("{} == 0", self.inside(*inner, nesting)),
            Condition::Not(inner) => match self.prover.conditions.get(inner) {
                Condition::Positive(inner) => self.comparison(*inner, [" <= 0", " >= 0"], nesting),
                Condition::Zero(inner) => format!("{} != 0", self.inside(*inner, nesting)),
                Condition::Known(_) | Condition::Not(_) | Condition::And(..) | Condition::Xor(..) => {
                    format!("!({})", self.condition(inner, nesting + 1))
                }
            },
            Condition::And(a, b) => pair(a, b, "and"),
            Condition::Xor(a, b) => pair(a, b, "xor"),
        }
    }

    /// A sum compared with zero: by the first relation, or, if it begins with a minus, its opposite by the second.
    fn comparison(&self, sum: PolynomialId, [relation, opposite]: [&str; 2], nesting: u32) -> String {
        let text = self.inside(sum, nesting);
        if !text.starts_with('-') {
            return text + relation;
        }
        let opposed = negated(self.table().polynomials.terms(sum));
        self.sum(&opposed, nesting) + opposite
    }
}
