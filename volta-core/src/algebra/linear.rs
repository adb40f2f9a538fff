//! Whether a system of linear inequalities is feasible, in exact arithmetic.
//!
//! The general simplex method of satisfiability modulo linear arithmetic: every inequality is a row with a lower
//! bound, and rows are pivoted until all bounds are met or one row shows that they cannot be. The pivot with the
//! least number is taken (Bland's rule), so the search ends.

use crate::number::Rational;

/// `Σ coefficient · variable > 0`, or `≥ 0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Inequality {
    /// Variables by number, each once.
    pub(super) terms: Vec<(usize, Rational)>,
    /// Positive rather than non-negative.
    pub(super) strict: bool,
}

/// Pivots after which a search is given up.
const MAX_PIVOTS: usize = 2_000;

/// Values of the variables at which all inequalities hold.
///
/// The system is homogeneous, so solutions can be scaled: strict inequalities are solved as `≥ margin`, for any
/// positive `margin`.
pub(super) fn solve(inequalities: &[Inequality], variables: usize, margin: &Rational) -> Solution {
    let mut tableau = Tableau::new(inequalities, variables, margin);
    for _ in 0..MAX_PIVOTS {
        match tableau.step() {
            Step::Moved => {}
            Step::Solved => return Solution::Values(tableau.values[..variables].to_vec()),
            Step::Stuck => return Solution::None,
        }
    }
    Solution::GivenUp
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Solution {
    /// All inequalities hold at these values of the variables.
    Values(Vec<Rational>),
    /// They cannot all hold.
    None,
    /// The search took too long.
    GivenUp,
}

/// Columns are variables, and then one slack for each inequality: its left side.
struct Tableau {
    /// For each row, the column that it defines, and its coefficients over all columns.
    rows: Vec<(usize, Vec<Rational>)>,
    /// Whether a column is defined by a row.
    basic: Vec<bool>,
    values: Vec<Rational>,
    bounds: Vec<Option<Rational>>,
}

enum Step {
    Moved,
    Solved,
    Stuck,
}

impl Tableau {
    fn new(inequalities: &[Inequality], variables: usize, margin: &Rational) -> Tableau {
        let columns = variables + inequalities.len();
        let mut tableau = Tableau {
            rows: Vec::with_capacity(inequalities.len()),
            basic: vec![false; columns],
            values: vec![Rational::ZERO; columns],
            bounds: vec![None; columns],
        };
        for (at, inequality) in inequalities.iter().enumerate() {
            let mut row = vec![Rational::ZERO; columns];
            for (variable, coefficient) in &inequality.terms {
                row[*variable] = coefficient.clone();
            }
            let slack = variables + at;
            tableau.rows.push((slack, row));
            tableau.basic[slack] = true;
            tableau.bounds[slack] = Some(if inequality.strict { margin.clone() } else { Rational::ZERO });
        }
        tableau
    }

    /// Raises the first column that is below its bound.
    fn step(&mut self) -> Step {
        let below =
            |column: usize| self.bounds[column].as_ref().is_some_and(|bound| self.values[column] < *bound);
        let violated =
            (0..self.rows.len()).filter(|at| below(self.rows[*at].0)).min_by_key(|at| self.rows[*at].0);
        let Some(at) = violated else { return Step::Solved };
        let (column, row) = &self.rows[at];
        let column = *column;
        // A nonbasic column without a bound moves either way; one with a bound moves up, and down to its bound.
        let helps = |other: &usize| {
            let coefficient = &row[*other];
            !self.basic[*other]
                && (coefficient.is_positive()
                    || coefficient.is_negative()
                        && self.bounds[*other].as_ref().is_none_or(|bound| self.values[*other] > *bound))
        };
        let Some(entering) = (0..row.len()).find(helps) else { return Step::Stuck };
        let Some(bound) = self.bounds[column].clone() else { return Step::Solved };
        self.pivot(at, entering, &bound);
        Step::Moved
    }

    /// Swaps the column that a row defines for another, and sets the value of the first.
    fn pivot(&mut self, at: usize, entering: usize, value: &Rational) {
        let leaving = self.rows[at].0;
        let Some(inverse) = self.rows[at].1[entering].recip() else { return };
        let change = (value - &self.values[leaving]) * &inverse;
        // leaving = … + c·entering, so entering = (leaving − …)/c.
        let mut row = std::mem::take(&mut self.rows[at].1);
        for coefficient in &mut row {
            if !coefficient.is_zero() {
                *coefficient = -(&*coefficient * &inverse);
            }
        }
        row[entering] = Rational::ZERO;
        row[leaving] = inverse;
        self.values[leaving] = value.clone();
        self.values[entering] = &self.values[entering] + &change;
        for (other, (defined, coefficients)) in self.rows.iter_mut().enumerate() {
            if other == at || coefficients[entering].is_zero() {
                continue;
            }
            let factor = std::mem::take(&mut coefficients[entering]);
            self.values[*defined] = &self.values[*defined] + &(&factor * &change);
            for (coefficient, own) in coefficients.iter_mut().zip(&row) {
                if !own.is_zero() {
                    *coefficient = &*coefficient + &(&factor * own);
                }
            }
        }
        self.rows[at] = (entering, row);
        self.basic[entering] = true;
        self.basic[leaving] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn inequality(coefficients: &[i64], strict: bool) -> Inequality {
        let terms = coefficients.iter().enumerate().filter(|(_, value)| **value != 0);
        Inequality { terms: terms.map(|(at, value)| (at, Rational::from_integer(*value))).collect(), strict }
    }

    fn holds(inequality: &Inequality, values: &[Rational]) -> bool {
        let sum = inequality.terms.iter().fold(Rational::ZERO, |sum, (at, by)| sum + by * &values[*at]);
        sum.is_positive() || !inequality.strict && sum.is_zero()
    }

    /// Fourier–Motzkin elimination: slow, but simple enough to be the oracle.
    fn can_hold(mut system: Vec<(Vec<Rational>, bool)>, variables: usize) -> bool {
        for variable in 0..variables {
            let (with, mut rest): (Vec<_>, Vec<_>) =
                system.into_iter().partition(|(row, _)| !row[variable].is_zero());
            for (above, strict) in with.iter().filter(|(row, _)| row[variable].is_positive()) {
                for (below, other) in with.iter().filter(|(row, _)| row[variable].is_negative()) {
                    let (up, down) = (&above[variable], &below[variable]);
                    let row = above.iter().zip(below).map(|(a, b)| b * up - a * down).collect();
                    rest.push((row, *strict || *other));
                }
            }
            system = rest;
        }
        system.iter().all(|(_, strict)| !strict)
    }

    #[test]
    fn orders_are_transitive() {
        let chain = [inequality(&[1, -1, 0], false), inequality(&[0, 1, -1], false)];
        assert!(matches!(solve(&chain, 3, &Rational::ONE), Solution::Values(_)));
        let backwards = [&chain[..], &[inequality(&[-1, 0, 1], true)]].concat();
        assert_eq!(solve(&backwards, 3, &Rational::ONE), Solution::None);
        let round = [&chain[..], &[inequality(&[-1, 0, 1], false)]].concat();
        assert!(matches!(solve(&round, 3, &Rational::ONE), Solution::Values(_)));
    }

    proptest! {
        #[test]
        fn simplex_and_elimination_agree(
            rows in prop::collection::vec((prop::collection::vec(-3i64..=3, 4), any::<bool>()), 0..8),
        ) {
            let system: Vec<Inequality> = rows.iter().map(|(row, strict)| inequality(row, *strict)).collect();
            let exact = rows.iter().map(|(row, strict)| (row.iter().map(|value| Rational::from_integer(*value)).collect(), *strict));
            let expected = can_hold(exact.collect(), 4);
            match solve(&system, 4, &Rational::ONE) {
                Solution::Values(values) => {
                    prop_assert!(expected);
                    prop_assert!(system.iter().all(|one| holds(one, &values)));
                }
                Solution::None => prop_assert!(!expected),
                Solution::GivenUp => prop_assert!(false, "given up"),
            }
        }
    }
}
