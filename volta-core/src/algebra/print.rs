//! Canonical forms as mathematics, short: for conditions in messages.
//!
//! What is printed depends on the value's canonical form only, not on how the term computed it. Long sums and
//! maxima are cut in the middle, with a count.

use super::Stop;
use super::atom::Atom;
use super::condition::{Condition, ConditionId};
use super::constant_readings::Irrational;
use super::extended_value::Class;
use super::id::{AtomId, ContentOrder, TermRef};
use super::integer::{digits_of, unit, without};
use super::monomial::MonomialId;
use super::packed::inputs_of;
use super::polynomial::{Key, PolynomialId, Term, add, negated, times_number};
use super::prover::Prover;
use super::requirement::Requirement;
use super::table::Table;
use super::tactic::Named;
use crate::number::format::{Format, Rounding, decode, encode};
use crate::number::value::Demand;
use crate::number::{Extended, Rational};
use crate::term::{InputId, TermOp, fill};
use std::cell::Cell;
use std::cmp::Reverse;

/// Prints an input's element.
pub type Names<'n> = dyn Fn(InputId, u64) -> String + 'n;

/// Longer lists are cut to this many items at the start and one at the end.
const SHOWN: usize = 4;
/// Longer products are cut likewise.
const MAX_FACTORS: usize = 12;
/// Digits are searched in sums of up to this many terms.
const MAX_DIGITS: usize = 24;
/// Nesting beyond this is not shown.
const MAX_NESTING: u32 = 8;
/// Longer texts are cut, in bytes.
const MAX_TEXT: usize = 2000;
/// Integers of more bits are printed approximately.
const LONGEST: u32 = 1 << 13;
/// Numbers from here on are printed as literals if they are f32 values.
const LONG: u32 = 1_000_000;
/// At most this many parts of a form are printed, however nested; the rest is cut.
const MAX_PARTS: usize = 20_000;
/// Longer literals are not ones that a programmer would write.
const MAX_LITERAL: usize = 10;

/// A normal form.
pub(super) enum Normal {
    /// An infinity, by its name.
    Infinite(&'static str),
    /// A real, as a sum.
    Finite(Vec<Term>),
}

/// The message for a term without a form.
fn without_form(stop: Stop) -> String {
    match stop {
        Stop::Undefined(why) => format!("undefined: {why}"),
        stop @ (Stop::Missing | Stop::Exhausted(_) | Stop::Unknown(_)) => format!("unknown: {stop}"),
    }
}

impl Prover<'_> {
    /// A sum as one fraction, as it is, and as a sum of fractions: `g*(x - m) / sqrt(v) + b`.
    pub(super) fn arrangements(&mut self, terms: Vec<Term>) -> Result<[Vec<Term>; 3], String> {
        let whole = self.settle(|prover| prover.whole(&terms)).map_err(without_form)?;
        let parts = self.settle(|prover| prover.by_denominator(&terms)).unwrap_or_default();
        let whole = if whole.is_zero() { Vec::new() } else { vec![whole] };
        let parts = if parts.is_empty() { terms.clone() } else { parts };
        Ok([whole, terms, parts])
    }

    /// The normal form of a term.
    pub(super) fn normal(&mut self, at: TermRef) -> Result<Normal, String> {
        match self.class(at).map_err(|stop| format!("unknown: {stop}"))? {
            Class::Finite | Class::Known(_) => {}
            Class::PosInf => return Ok(Normal::Infinite("inf")),
            Class::NegInf => return Ok(Normal::Infinite("-inf")),
            Class::Undefined(why) => return Err(format!("undefined: {why}")),
            Class::Unknown(why) => return Err(format!("unknown: {why}")),
        }
        self.settle(|prover| prover.spread_out(at)).map(Normal::Finite).map_err(without_form)
    }

    /// A term as an expanded sum.
    fn spread_out(&mut self, at: TermRef) -> Result<Vec<Term>, Stop> {
        let flat = self.flatten(at)?;
        let terms = self.finish(&flat)?;
        self.expand(terms)
    }

    /// A sum of products, one for each denominator; empty if there would be many.
    fn by_denominator(&mut self, terms: &[Term]) -> Result<Vec<Term>, Stop> {
        let mut groups: Vec<(MonomialId, Vec<Term>)> = Vec::new();
        for term in terms {
            let factors = self.table.monomials.shared_factors(term.monomial());
            let plain = |(atom, _): &&(AtomId, i32)| {
                !matches!(self.table.atom(*atom), Atom::Input(..) | Atom::Products(_))
            };
            let beside: Vec<(AtomId, i32)> = factors.iter().filter(plain).copied().collect();
            let beside = self.table.intern_factors(&beside);
            match groups.iter().position(|(known, _)| *known == beside) {
                Some(group) => groups[group].1.push(term.clone()),
                None if groups.len() == SHOWN => return Ok(Vec::new()),
                None => groups.push((beside, vec![term.clone()])),
            }
        }
        let mut parts = Vec::new();
        for (beside, group) in groups {
            if beside == MonomialId::ONE {
                parts.extend(group);
            } else {
                let scale = self.factor_terms(group)?;
                parts.push(self.with_roots_below(scale)?);
            }
        }
        Ok(parts)
    }

    /// Writes `√a / a` as `1 / √a`.
    fn with_roots_below(&mut self, mut scale: Term) -> Result<Term, Stop> {
        let factors = self.table.monomials.shared_factors(scale.key.monomial());
        for (root, _) in factors.iter().filter(|(_, power)| *power == 1) {
            let Atom::Apply(TermOp::Sqrt, radicand) = self.table.atom(*root) else { continue };
            let radicand = self.factor_polynomial(*radicand)?;
            let of_it = self.table.monomials.shared_factors(radicand.key.monomial());
            let ([(sum, 1)], PolynomialId::ZERO) = (&*of_it, radicand.key.exponent()) else { continue };
            if factors.contains(&(*sum, -1)) {
                let [above, below] = [self.table.atom_power(*sum, 1), self.table.atom_power(*root, -2)];
                let turned = self.table.times(above, below)?;
                let turned = Term { coefficient: radicand.coefficient, key: Key::of(turned) };
                scale = self.table.term_product(&scale, &turned)?;
            }
        }
        Ok(scale)
    }

    /// A sum as one scale: numerator and denominator named, common factors cancelled.
    fn whole(&mut self, terms: &[Term]) -> Result<Term, Stop> {
        if self.tactic.named != Named::Sums
            && terms.iter().any(|term| self.table.monomials.contents(term.monomial()).named)
        {
            let terms = self.without_named_products(terms.to_vec())?;
            let terms = self.expand(terms)?;
            return self.one_fraction(&terms);
        }
        self.one_fraction(terms)
    }

    fn one_fraction(&mut self, terms: &[Term]) -> Result<Term, Stop> {
        let denominator = self.table.denominator(terms);
        let inverse = self.table.monomial_power(denominator, -1)?;
        let scale = Term::of(Key::of(denominator));
        let numerator = self.scaled(terms, &scale)?;
        let numerator = self.expand(numerator)?;
        let numerator = self.factor_terms(numerator)?;
        let inverse = Term::of(Key::of(inverse));
        if numerator.is_zero() {
            return Ok(numerator);
        }
        let whole = self.table.term_product(&numerator, &inverse)?;
        self.with_roots_below(whole)
    }

    /// A requirement as a readable condition.
    pub fn requirement_text(&self, requirement: &Requirement, names: &Names<'_>) -> String {
        let printer = Printer::new(&self.table, names);
        let product = match self.table.requirement_content(requirement) {
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
        for (at, guard) in requirement.guards.conditions.iter().enumerate() {
            text.push_str(if at == 0 { " where " } else { " and " });
            text.push_str(&cut(printer.condition(guard, 0)));
        }
        text
    }
}

/// A number of many digits as the equal f32 literal: `1e-6f` rather than `8796093 / 8796093022208`.
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

/// The operator before a term of a sum.
fn sign(is_first: bool, is_negative: bool) -> &'static str {
    match (is_first, is_negative) {
        (true, true) => "-",
        (true, false) => "",
        (false, true) => " - ",
        (false, false) => " + ",
    }
}

/// An integer; large powers of two in the form `2^k`.
fn spelled_whole(value: &rug::Integer) -> String {
    let bits = value.significant_bits();
    if bits > LONGEST {
        return format!("about 2^{}", bits - 1);
    }
    if bits > 20 && value.is_power_of_two() { format!("2^{}", bits - 1) } else { value.to_string() }
}

/// Whether a text is enclosed in one pair of parentheses.
fn is_enclosed(text: &str) -> bool {
    let mut depth = 0i32;
    text.starts_with('(')
        && text.char_indices().all(|(at, c)| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth > 0 || at + 1 == text.len()
        })
}

/// The place of an item in an order that depends on content alone.
type Placed = ((u32, u64), ContentOrder, ContentOrder);

/// A summand to print.
enum Part<'t> {
    Term(&'t Term),
    Spelled { negative: bool, text: String },
}

/// Terms that are a number times a minimum; `turned` if the printed arms are opposites of the atom's.
struct Minimum<'t> {
    terms: Vec<Term>,
    factor: Rational,
    arms: &'t [PolynomialId],
    turned: bool,
}

impl Part<'_> {
    /// A number times an expression that is already printed.
    fn times(factor: &Rational, base: &str) -> Self {
        let (num, den) = factor.abs().to_parts();
        let times = if num == 1 { String::new() } else { format!("{}*", spelled_whole(&num)) };
        let divisor = if den == 1 { String::new() } else { format!(" / {}", spelled_whole(&den)) };
        Part::Spelled { negative: factor.is_negative(), text: format!("{times}{base}{divisor}") }
    }
}

struct Printer<'t, 'n> {
    table: &'t Table,
    names: &'n Names<'n>,
    /// Parts that may still be printed: an inner part is often printed in several ways, so that the work multiplies
    /// with each level of nesting.
    left: Cell<usize>,
}

impl<'t, 'n> Printer<'t, 'n> {
    fn new(table: &'t Table, names: &'n Names<'n>) -> Self {
        Printer { table, names, left: Cell::new(MAX_PARTS) }
    }
}

impl Printer<'_, '_> {
    /// Whether another part at this depth may be printed.
    fn goes_on(&self, nesting: u32) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0 && nesting <= MAX_NESTING
    }

    fn place(&self, term: &Term) -> Placed {
        let monomial = self.table.monomials.place(term.monomial());
        let exponent = self.table.polynomials.place(term.exponent());
        (monomial.lead.min(exponent.lead), monomial, exponent)
    }

    fn sum(&self, terms: &[Term], nesting: u32) -> String {
        if terms.is_empty() {
            return "0".to_string();
        }
        if let [term] = terms
            && term.coefficient.is_one()
            && term.exponent() == PolynomialId::ZERO
            && let [(atom, 1)] = self.table.monomials.factors(term.monomial())
            && let Atom::Products(keys) = self.table.atom(*atom)
        {
            return self.products(keys);
        }
        if !self.goes_on(nesting) {
            return "…".to_string();
        }
        let (mut order, rest) = self.recognised(terms, nesting);
        order.extend(rest.iter().map(|term| (self.place(term), Part::Term(term))));
        order.sort_by_key(|(place, _)| *place);
        let mut text = String::new();
        let skipped = order.len().saturating_sub(SHOWN + 1);
        for (at, (_, part)) in order.iter().enumerate() {
            if skipped > 1 && at >= SHOWN && at < SHOWN + skipped {
                if at == SHOWN {
                    text.push_str(&format!(" + … {skipped} more terms …"));
                }
                continue;
            }
            let (negative, spelled) = match part {
                Part::Term(term) => match self.digits_product(&term.coefficient, term.key, nesting) {
                    Some(spelled) => (false, spelled),
                    None => {
                        let spelled = self.product(&term.coefficient.abs(), term.key, nesting);
                        (term.coefficient.is_negative(), spelled)
                    }
                },
                Part::Spelled { negative, text } => (*negative, text.clone()),
            };
            text.push_str(sign(at == 0, negative));
            text.push_str(&spelled);
        }
        if text.is_empty() { "0".to_string() } else { text }
    }

    /// Splits off floors that telescope as digits, `n − 16·⌊n/16⌋` as `n mod 16`, and magnitudes and minima.
    fn recognised<'t>(&self, terms: &[Term], nesting: u32) -> (Vec<(Placed, Part<'t>)>, Vec<Term>) {
        let mut rest = terms.to_vec();
        let mut parts = Vec::new();
        while let Some(chain) = self.table.chain_in(&rest).filter(|_| terms.len() <= MAX_DIGITS) {
            let all: Vec<Term> = chain.iter().flat_map(|level| level.terms.iter().cloned()).collect();
            let place = all.iter().map(|term| self.place(term)).min();
            let digits = digits_of(&chain);
            let bases: Vec<String> = chain
                .iter()
                .enumerate()
                .map(|(at, level)| {
                    let base = self.sum_as_it_is(&unit(level), nesting);
                    let several = level.terms.len() > 1;
                    let base = if several { format!("({base})") } else { base };
                    match chain.get(at + 1) {
                        Some(above) => format!("({base} mod {})", spelled_whole(&above.ratio.to_parts().0)),
                        None => base,
                    }
                })
                .collect();
            for ((weight, _), base) in
                digits.into_iter().zip(bases).filter(|((weight, _), _)| !weight.is_zero())
            {
                if let Some(place) = place {
                    parts.push((place, Part::times(&weight, &base)));
                }
            }
            rest = without(&rest, all);
        }
        while let Some((largest, plain, factor)) = self.magnitude_in(&rest) {
            let of = self.monomial(rest[plain].monomial(), nesting + 1);
            let magnitude = Part::times(&factor, &format!("abs({of})"));
            parts.push((self.place(&rest[plain]), magnitude));
            let both = vec![rest[largest].clone(), rest[plain].clone()];
            rest = without(&rest, both);
        }
        while let Some(minimum) = self.minimum_in(&rest) {
            let place = minimum.terms.iter().map(|term| self.place(term)).min();
            let spelled = format!("min({})", self.list(minimum.arms, minimum.turned, nesting + 1));
            if let Some(place) = place {
                parts.push((place, Part::times(&minimum.factor, &spelled)));
            }
            rest = without(&rest, minimum.terms);
        }
        (parts, rest)
    }

    /// Two terms that are a magnitude, `−k·a + 2k·max(a, 0)` with a product `a`: their positions, that of the
    /// maximum first, and `k`.
    fn magnitude_in(&self, terms: &[Term]) -> Option<(usize, usize, Rational)> {
        terms.iter().enumerate().find_map(|(largest, term)| {
            let [(atom, 1)] = self.table.monomials.factors(term.monomial()) else { return None };
            let Atom::Max(arms) = self.table.atom(*atom) else { return None };
            let arm = match arms.as_ref() {
                [a, PolynomialId::ZERO] | [PolynomialId::ZERO, a] => *a,
                _ => return None,
            };
            let [inner] = self.table.polynomials.terms(arm) else { return None };
            if term.exponent() != PolynomialId::ZERO || inner.exponent() != PolynomialId::ZERO {
                return None;
            }
            let half = &(&term.coefficient * &inner.coefficient) * &Rational::HALF;
            let is_it = |other: &Term| other.key == inner.key && other.coefficient == -&half;
            let plain = terms.iter().position(is_it)?;
            Some((largest, plain, &half * &Rational::from_integer(i64::from(inner.coefficient.signum()))))
        })
    }

    /// Terms that read better as a minimum: `a + b − max(a, b)`, and `−max(−a, −b)`.
    fn minimum_in(&self, terms: &[Term]) -> Option<Minimum<'_>> {
        terms.iter().find_map(|term| {
            let factors = self.table.monomials.factors(term.monomial());
            let ([(atom, 1)], PolynomialId::ZERO) = (factors, term.exponent()) else { return None };
            let Atom::Max(arms) = self.table.atom(*atom) else { return None };
            let inside = |arm: &PolynomialId| self.table.polynomials.terms(*arm);
            let factor = -&term.coefficient;
            // An arm that is itself a minimum reads well as it is.
            let negative = |arm: &PolynomialId| {
                let terms = inside(arm);
                !terms.is_empty()
                    && terms.iter().all(|term| term.coefficient.is_negative())
                    && self.minimum_in(terms).is_none()
            };
            if arms.iter().all(negative) {
                return Some(Minimum { terms: vec![term.clone()], factor, arms, turned: true });
            }
            let [a, b] = arms.as_ref() else { return None };
            let mut all = times_number(&add(inside(a), inside(b)), &factor);
            let is_there = |wanted: &Term| {
                terms.iter().any(|other| other.key == wanted.key && other.coefficient == wanted.coefficient)
            };
            if all.is_empty() || !all.iter().all(is_there) {
                return None;
            }
            all.push(term.clone());
            Some(Minimum { terms: all, factor, arms, turned: false })
        })
    }

    /// A short sum, term by term.
    fn sum_as_it_is(&self, terms: &[Term], nesting: u32) -> String {
        if !self.goes_on(nesting) {
            return "…".to_string();
        }
        let mut order: Vec<&Term> = terms.iter().collect();
        order.sort_by_cached_key(|term| self.place(term));
        let mut text = String::new();
        for (at, term) in order.into_iter().enumerate() {
            text.push_str(sign(at == 0, term.coefficient.is_negative()));
            text.push_str(&self.product(&term.coefficient.abs(), term.key, nesting));
        }
        text
    }

    /// A product that contains a sum of digits, with the coefficient multiplied into the sum.
    fn digits_product(&self, coefficient: &Rational, key: Key, nesting: u32) -> Option<String> {
        let factors = self.table.monomials.factors(key.monomial());
        let (sum, content) = factors.iter().find_map(|(atom, power)| {
            if let Atom::Sum(content) = self.table.atom(*atom)
                && *power == 1
            {
                Some((*atom, *content))
            } else {
                None
            }
        })?;
        let terms = times_number(self.table.polynomials.terms(content), coefficient);
        let whole = terms.iter().all(|term| term.coefficient.is_integer());
        if !whole || terms.len() > MAX_DIGITS || self.table.chain_in(&terms).is_none() {
            return None;
        }
        let mut others: Vec<(AtomId, i32)> =
            factors.iter().copied().filter(|(atom, _)| *atom != sum).collect();
        if others.iter().any(|(_, power)| *power < 0) || key.exponent() != PolynomialId::ZERO {
            return None;
        }
        others.sort_by_cached_key(|(atom, _)| self.table.place(*atom));
        let inside = self.sum(&terms, nesting + 1);
        let mut text = if is_enclosed(&inside) { inside } else { format!("({inside})") };
        for (atom, power) in others {
            let base = self.atom(atom, nesting + 1);
            let power = if power == 1 { String::new() } else { format!("^{power}") };
            text.push_str(&format!("*{base}{power}"));
        }
        Some(text)
    }

    /// `coefficient · monomial · 2^exponent`, for a non-negative coefficient.
    fn product(&self, coefficient: &Rational, key: Key, nesting: u32) -> String {
        let mut above = Vec::new();
        let mut below = Vec::new();
        if let Some(literal) = spelled_as_f32(coefficient) {
            above.push(literal);
        } else {
            let (num, den) = coefficient.to_parts();
            if num != 1 {
                above.push(spelled_whole(&num));
            }
            if den != 1 {
                below.push(spelled_whole(&den));
            }
        }
        let mut factors = self.table.monomials.factors(key.monomial()).to_vec();
        factors.sort_by_cached_key(|(atom, _)| self.table.place(*atom));
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
        let joined = |parts: &[String]| match parts.len() {
            0..=MAX_FACTORS => parts.join("*"),
            count => {
                let skipped = count - SHOWN - 1;
                let (first, last) = (parts[..SHOWN].join("*"), &parts[parts.len() - 1]);
                format!("{first}*… {skipped} more factors …*{last}")
            }
        };
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
        self.product(&Rational::ONE, Key::of(monomial), nesting)
    }

    /// `2^exponent`: as `exp(…)` if every term of the exponent has the factor log₂ e.
    fn power(&self, exponent: PolynomialId, nesting: u32) -> String {
        let terms = self.table.polynomials.terms(exponent);
        let mut natural = Vec::with_capacity(terms.len());
        for term in terms {
            let factors = self.table.monomials.factors(term.monomial());
            let is_base = |(atom, power): &(AtomId, i32)| {
                *power == 1 && *self.table.atom(*atom) == Atom::Irrational(Irrational::Log2E)
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

    /// A sum whose terms are given without their factor log₂ e; such monomials may not be interned.
    fn natural_sum(&self, mut terms: Vec<(&Term, Vec<(AtomId, i32)>)>, nesting: u32) -> String {
        if !self.goes_on(nesting) {
            return "…".to_string();
        }
        // Positive terms first, for the usual `exp(x − max)`.
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
            text.push_str(sign(at == 0, negative));
            let mut rest = rest.clone();
            rest.sort_by_cached_key(|(atom, _)| self.table.place(*atom));
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

    /// Arms in order of content, or their opposites.
    fn list(&self, parts: &[PolynomialId], turned: bool, nesting: u32) -> String {
        let mut order = parts.to_vec();
        order.sort_by_cached_key(|part| self.table.polynomials.place(*part));
        let show = |part: &PolynomialId| match self.table.polynomials.terms(*part) {
            terms if turned => self.sum(&negated(terms), nesting),
            terms => self.sum(terms, nesting),
        };
        shortened(&order, show)
    }

    fn inside(&self, polynomial: PolynomialId, nesting: u32) -> String {
        self.sum(self.table.polynomials.terms(polynomial), nesting)
    }

    fn atom(&self, atom: AtomId, nesting: u32) -> String {
        if !self.goes_on(nesting) {
            return "…".to_string();
        }
        match self.table.atom(atom) {
            Atom::Input(input, element) => (self.names)(*input, *element),
            Atom::Products(keys) => format!("({})", self.products(keys)),
            Atom::Irrational(Irrational::Log2E) => "log2(e)".to_string(),
            Atom::Irrational(Irrational::Log2Ten) => "log2(10)".to_string(),
            Atom::Literal(literal) => literal.value().to_string(),
            Atom::Opaque(_) => "…".to_string(),
            Atom::Sum(content) => format!("({})", self.inside(*content, nesting)),
            Atom::Max(arms) => format!("max({})", self.list(arms, false, nesting)),
            Atom::Apply(function, argument) => fill(function.info().text, &[self.inside(*argument, nesting)]),
            Atom::CopySign(sign, magnitude, _) => {
                format!("copysign({}, {})", self.inside(*sign, nesting), self.inside(*magnitude, nesting))
            }
            Atom::BitAnd(a, b) => {
                format!("({} & {})", self.inside(*a, nesting), self.inside(*b, nesting))
            }
            Atom::FirstLargest(list) => {
                let show = |(key, payload): &(PolynomialId, PolynomialId)| {
                    format!("{}: {}", self.inside(*key, nesting), self.inside(*payload, nesting))
                };
                format!("argmax({})", shortened(list, show))
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
            match names.as_slice() {
                [a, b] if a == b => format!("{a}^2"),
                names => names.join("*"),
            }
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
        if !self.goes_on(nesting) {
            return "…".to_string();
        }
        let pair = |a: &ConditionId, b: &ConditionId, word: &str| {
            let mut both = [a, b];
            both.sort_by_key(|id| id.fingerprint());
            let [a, b] = both.map(|id| self.condition(id, nesting + 1));
            format!("({a} {word} {b})")
        };
        match self.table.conditions.get(id) {
            Condition::Known(value) => value.to_string(),
            Condition::Positive(inner) => self.comparison(*inner, [" > 0", " < 0"], nesting),
            Condition::Zero(inner) => format!("{} == 0", self.inside(*inner, nesting)),
            Condition::Not(inner) => match self.table.conditions.get(inner) {
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

    /// A comparison of a sum with zero: with the first relation, or, if it begins with a minus, of its opposite
    /// with the second.
    fn comparison(&self, sum: PolynomialId, [relation, opposite]: [&str; 2], nesting: u32) -> String {
        let text = self.inside(sum, nesting);
        if !text.starts_with('-') {
            return text + relation;
        }
        let opposed = negated(self.table.polynomials.terms(sum));
        self.sum(&opposed, nesting) + opposite
    }
}

/// The parts of a list, without those in the middle of a long one.
fn shortened<T>(parts: &[T], show: impl Fn(&T) -> String) -> String {
    let skipped = parts.len().saturating_sub(SHOWN + 1);
    if skipped > 1 {
        let first: Vec<String> = parts[..SHOWN].iter().map(&show).collect();
        let last = parts.last().map(show).unwrap_or_default();
        format!("{}, … {skipped} more …, {last}", first.join(", "))
    } else {
        parts.iter().map(show).collect::<Vec<_>>().join(", ")
    }
}
