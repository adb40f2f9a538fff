//! The pipeline of comparisons, from cheap to expensive: lists as they are, sorted lists, finished sums, sums
//! multiplied out, sums multiplied by all denominators. Every stage may answer *equal*.

use super::Stop;
use super::analysis::CHOICE;
use super::atom::Atom;
use super::extended_value::Class;
use super::id::TermRef;
use super::linear_sum::{LinearSum, Products};
use super::polynomial::{Term, add, negated};
use super::prover::Prover;
use super::table::Table;
use crate::term::TermOp;

/// The last stage of the pipeline that a comparison may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finished sums, denominators opaque.
    Lists,
    /// Multiplied out, denominators cleared.
    Expansions,
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Equality {
    /// Proved equal wherever both are defined.
    Equal,
    /// Not proved, and why.
    Open(String),
    /// The first term has no value.
    FirstUndefined(String),
    /// The second term has no value.
    SecondUndefined(String),
}

/// The one of two terms that stopped a comparison.
#[derive(Clone, Copy)]
enum Doubtful {
    First,
    Second,
}

impl Prover<'_> {
    /// Tries to prove two terms equal wherever both are defined.
    pub fn equal(&mut self, a: TermRef, b: TermRef, stage: Stage) -> Result<Equality, Stop> {
        if a == b && self.class(a)? == Class::Finite {
            return Ok(Equality::Equal);
        }
        match (self.class(a)?, self.class(b)?) {
            (Class::Undefined(why), _) => return Ok(Equality::FirstUndefined(why.to_string())),
            (_, Class::Undefined(why)) => return Ok(Equality::SecondUndefined(why.to_string())),
            (Class::Unknown(why), _) | (_, Class::Unknown(why)) => {
                return Ok(Equality::Open(why.to_string()));
            }
            (Class::Finite, Class::Finite) => {}
            (left, right) if left == right => return Ok(Equality::Equal),
            _ => return Ok(Equality::Open("one side is infinite".to_string())),
        }
        let difference = match self.difference_by_sides(a, b, stage) {
            Ok(difference) => difference,
            Err((Some(Doubtful::First), Stop::Undefined(why))) => {
                return Ok(self.undefined(a, why, Equality::FirstUndefined));
            }
            Err((Some(Doubtful::Second), Stop::Undefined(why))) => {
                return Ok(self.undefined(b, why, Equality::SecondUndefined));
            }
            Err((_, stop)) => return Err(stop),
        };
        Ok(if difference.is_empty() {
            Equality::Equal
        } else {
            Equality::Open(why_open(&self.table, &difference))
        })
    }

    /// The difference of two finite terms, as far as a stage simplifies it.
    pub(super) fn difference(&mut self, a: TermRef, b: TermRef, stage: Stage) -> Result<Vec<Term>, Stop> {
        self.difference_by_sides(a, b, stage).map_err(|(_, stop)| stop)
    }

    /// The difference; or the reason that stopped it, and in which of the two terms.
    fn difference_by_sides(
        &mut self,
        a: TermRef,
        b: TermRef,
        stage: Stage,
    ) -> Result<Vec<Term>, (Option<Doubtful>, Stop)> {
        let in_first = |stop| (Some(Doubtful::First), stop);
        let in_second = |stop| (Some(Doubtful::Second), stop);
        let in_both = |stop| (None, stop);
        let first = self.settle(|prover| prover.flatten(a)).map_err(in_first)?;
        let second = self.settle(|prover| prover.flatten(b)).map_err(in_second)?;
        let Some((first, second)) = without_equal_products(first, second) else { return Ok(Vec::new()) };
        let first = self.settle(|prover| prover.finish(&first)).map_err(in_first)?;
        let second = self.settle(|prover| prover.finish(&second)).map_err(in_second)?;
        let difference = add(&first, &negated(&second));
        if difference.is_empty() || stage == Stage::Lists {
            return Ok(difference);
        }
        let expanded = self.settle(|prover| prover.expand(difference.clone())).map_err(in_both)?;
        self.settle(|prover| prover.clear_denominators(expanded.clone())).map_err(in_both)
    }

    /// The equality for a term with an undefined part: undefined as a whole, unless that part may be an arm never
    /// taken.
    fn undefined(&self, at: TermRef, why: String, all: impl FnOnce(String) -> Equality) -> Equality {
        if self.terms.flags(at) & CHOICE == 0 {
            all(why)
        } else {
            Equality::Open(format!("{why}, in an arm of a choice that may be taken"))
        }
    }

    /// A linear sum without opaque atoms, with literals read as numbers.
    pub(super) fn finish(&mut self, flat: &LinearSum) -> Result<Vec<Term>, Stop> {
        let terms = self.spread(flat)?;
        let terms = self.substitute_terms(terms)?;
        let terms = self.resolve_exponents(terms)?;
        self.plain(terms)
    }
}

fn why_open(table: &Table, difference: &[Term]) -> String {
    let has = |wanted: &dyn Fn(&Atom) -> bool| {
        difference.iter().any(|term| {
            let factors = table.monomials.factors(term.monomial());
            let exponent = table.polynomials.terms(term.exponent());
            let inside = exponent.iter().flat_map(|part| table.monomials.factors(part.monomial()));
            factors.iter().chain(inside).any(|(atom, _)| wanted(table.atom(*atom)))
        })
    };
    if has(&|atom| matches!(atom, Atom::Apply(TermOp::Floor, _))) {
        "a rounding to integers remains: an unrecognised range reduction?".to_string()
    } else if has(&|atom| matches!(atom, Atom::Max(_))) {
        "the canonical forms differ, and their maxima have too many orders to examine each".to_string()
    } else if has(&|atom| matches!(atom, Atom::Select(..))) {
        "the canonical forms differ, and their conditions have too many cases to examine each".to_string()
    } else {
        "the canonical forms differ".to_string()
    }
}

/// Drops lists of packed products that both sides have. `None` when nothing else is left: the sums are equal.
fn without_equal_products(mut a: LinearSum, mut b: LinearSum) -> Option<(LinearSum, LinearSum)> {
    if a.terms == b.terms && a.products == b.products {
        return None;
    }
    let mut at = 0;
    while at < a.products.len() {
        let left = &mut a.products[at];
        let same = |right: &&mut Products| right.scale == left.scale && right.keys.len() == left.keys.len();
        let Some(right) = b.products.iter_mut().find(same) else {
            at += 1;
            continue;
        };
        if left.keys != right.keys {
            left.keys.sort_unstable();
            right.keys.sort_unstable();
        }
        if left.keys == right.keys {
            let scale = left.scale.clone();
            a.products.remove(at);
            b.products.retain(|products| products.scale != scale);
        } else {
            at += 1;
        }
    }
    if a == b { None } else { Some((a, b)) }
}
