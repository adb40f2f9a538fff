//! Inputs are numbers of their types (rule V3), so that none exceeds the largest of its type: `max(x, -FLT_MAX)` is
//! `x`.

use super::atom::Atom;
use super::polynomial::{Key, PolynomialId, Term};
use super::table::Table;
use crate::number::Rational;
use crate::number::signs::Signs;

/// No format's largest number is smaller (e4m3 has this one), so smaller constants decide nothing here.
const SMALLEST: i64 = 448;

impl Table {
    /// The signs of a constant plus multiples of input elements, from the magnitudes of their types.
    pub(super) fn signs_by_magnitudes(&self, terms: &[Term]) -> Signs {
        let number = terms.iter().find(|term| term.key == Key::ONE).map(|term| &term.coefficient);
        let Some(number) = number.filter(|number| number.abs() >= Rational::from_integer(SMALLEST)) else {
            return Signs::ANY;
        };
        let mut most = Rational::ZERO;
        for term in terms.iter().filter(|term| term.key != Key::ONE) {
            let Some(largest) = self.largest_of(term) else { return Signs::ANY };
            most = &most + &(&term.coefficient.abs() * largest);
        }
        let beyond = Signs::of(&(&number.abs() - &most));
        let signs = if beyond == Signs::POSITIVE {
            Signs::POSITIVE
        } else if beyond == Signs::ZERO {
            Signs::NOT_NEGATIVE
        } else {
            Signs::ANY
        };
        if number.is_negative() { -signs } else { signs }
    }

    /// The largest magnitude of the input element of which a term is a multiple, if it is one.
    fn largest_of(&self, term: &Term) -> Option<&Rational> {
        let [(atom, 1)] = *self.monomials.factors(term.monomial()) else { return None };
        let Atom::Input(input, _) = self.atom(atom) else { return None };
        (term.exponent() == PolynomialId::ZERO).then(|| self.input_magnitude(*input)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Side;
    use super::super::{Analysis, Equality, InputRange, Prover, Stage, Tactic, TermRef};
    use super::*;
    use crate::term::TermId;

    /// Whether `max(build, −bound)` is `build`, where elements of `x` are at most 44800 and those of `y` are unbounded.
    fn drops(bound: i64, build: impl Fn(&mut Side) -> TermId) -> bool {
        let mut side = Side::new();
        let term = build(&mut side);
        let number = side.int(-bound);
        let maximum = side.max(term, number);
        let analysis = Analysis::of_all(&side.store);
        let known = InputRange { signs: Signs::ANY, largest: Some(Rational::from_integer(44800)) };
        let mut prover = Prover::new(vec![known, InputRange::from(Signs::ANY)], Tactic::THOROUGH);
        prover.set_budget(1_000_000);
        let store = prover.add_store(&side.store, &analysis);
        let [left, right] = [maximum, term].map(|term| TermRef { store, term });
        prover.equal(left, right, Stage::Expansions) == Ok(Equality::Equal)
    }

    #[test]
    fn inputs_are_within_their_types_and_nothing_else_is() {
        assert!(drops(44800, |side| side.x(0)));
        assert!(!drops(44799, |side| side.x(0)));
        assert!(!drops(44800, |side| side.y(0)), "nothing is known of it");
        let scaled = |num: i64, den: i64| {
            move |side: &mut Side| {
                let (x, factor) = (side.x(0), side.rational(num, den));
                side.mul(x, factor)
            }
        };
        assert!(drops(22400, scaled(1, 2)) && !drops(22399, scaled(1, 2)));
        assert!(drops(22400, scaled(-1, 2)) && !drops(44800, scaled(2, 1)));
        let sum = |side: &mut Side| {
            let (a, b) = (side.x(0), side.x(1));
            side.sum(&[a, b])
        };
        assert!(drops(89600, sum) && !drops(89599, sum));
        let product = |side: &mut Side| {
            let (a, b) = (side.x(0), side.x(1));
            side.mul(a, b)
        };
        assert!(!drops(1 << 40, product));
    }
}
