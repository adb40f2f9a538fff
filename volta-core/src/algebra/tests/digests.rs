//! Digests do not depend on which sums are named, and depend on everything else in a form.

use super::*;
use crate::algebra::{Digest, Digests};

/// Provers that name all long sums, lists of products only, and nothing.
pub(super) const WAYS: [Tactic; 3] = [Tactic::QUICK, Tactic::SPELLING_OUT, Tactic::THOROUGH];

/// The digest of a term's form; `None` if the prover finds none.
pub(super) fn digest(side: &Side, term: TermId, tactic: Tactic) -> Option<Digest> {
    let analysis = Analysis::of_all(&side.store);
    let mut prover = Prover::new(Vec::new(), tactic);
    prover.set_budget(5_000_000);
    let store = prover.add_store(&side.store, &analysis);
    Digests::default().digest(&mut prover, TermRef { store, term }).ok()
}

/// The digest of a term, checked to be the same whichever sums are named.
#[track_caller]
fn the_digest(build: impl FnOnce(&mut Side) -> TermId) -> Digest {
    let mut side = Side::new();
    let term = build(&mut side);
    let [named, lists, nothing] = WAYS.map(|tactic| digest(&side, term, tactic).expect("a digest"));
    assert_eq!(named, lists);
    assert_eq!(named, nothing);
    named
}

/// `x[0]·y[0] + x[1]·y[1] + …`, the product at `changed` twice.
fn scores(side: &mut Side, row: u64, changed: Option<u64>) -> TermId {
    let mut sum = side.int(0);
    for k in 0..12 {
        let (x, y) = (side.x(100 * row + k), side.y(k));
        sum = side.fma(x, y, sum);
        if changed == Some(k) {
            sum = side.fma(x, y, sum);
        }
    }
    sum
}

/// Softmax of `rows` scores, with the largest subtracted or not.
fn softmax(side: &mut Side, changed: Option<u64>, largest: bool) -> TermId {
    let mut rows: Vec<TermId> = (0..9).map(|row| scores(side, row, changed.filter(|_| row == 8))).collect();
    if largest {
        let largest = side.tree(TermOp::Max, &rows);
        rows = rows.iter().map(|row| side.sub(*row, largest)).collect();
    }
    let powers: Vec<TermId> = rows.iter().map(|row| side.exp(*row)).collect();
    let sum = side.sum(&powers);
    side.div(powers[0], sum)
}

#[test]
fn exponentials_of_sums_with_names() {
    let plain = the_digest(|side| softmax(side, None, false));
    // A common shift of all scores cancels.
    assert_eq!(plain, the_digest(|side| softmax(side, None, true)));
    let mut seen = vec![plain];
    for changed in [0, 5, 11] {
        let other = the_digest(|side| softmax(side, Some(changed), true));
        assert!(!seen.contains(&other), "{changed}");
        seen.push(other);
    }
}

/// `e^a·(Σ e^b·c)` and `Σ e^(a + b)·c` have one digest, whichever of them the form is.
#[test]
fn exponentials_before_sums_and_within_them() {
    let build = |side: &mut Side, within: bool| {
        let first = scores(side, 0, None);
        let terms: Vec<TermId> = (1..12)
            .map(|row| {
                let score = scores(side, row, None);
                let score = if within { side.add(first, score) } else { score };
                let power = side.exp(score);
                let factor = side.y(row);
                side.mul(power, factor)
            })
            .collect();
        let sum = side.sum(&terms);
        let power = side.exp(first);
        let whole = if within { sum } else { side.mul(power, sum) };
        side.op(TermOp::Floor, &[whole])
    };
    assert_eq!(the_digest(|side| build(side, true)), the_digest(|side| build(side, false)));
}

/// Each function has a digest of its own, and so do its operands.
#[test]
fn functions_of_sums_with_names() {
    let mut seen = Vec::new();
    let one_operand = [
        TermOp::Sqrt,
        TermOp::Rsqrt,
        TermOp::Log2,
        TermOp::Sin,
        TermOp::Cos,
        TermOp::Tanh,
        TermOp::Erf,
        TermOp::Atan,
        TermOp::Cbrt,
        TermOp::Gamma,
        TermOp::BesselJ0,
        TermOp::BesselJ1,
        TermOp::BesselY0,
        TermOp::BesselY1,
        TermOp::Floor,
        TermOp::Exp2,
        TermOp::Abs,
        TermOp::Saturate,
    ];
    for changed in [None, Some(3)] {
        for op in one_operand {
            seen.push(the_digest(|side| {
                let sum = scores(side, 0, changed);
                side.op(op, &[sum])
            }));
        }
        for op in [TermOp::Max, TermOp::Min, TermOp::CopySign, TermOp::Mul, TermOp::Div] {
            seen.push(the_digest(|side| {
                let (a, b) = (scores(side, 0, changed), scores(side, 1, None));
                side.op(op, &[a, b])
            }));
        }
        for op in [TermOp::Less, TermOp::LessEqual, TermOp::Equal] {
            for is_swapped in [false, true] {
                seen.push(the_digest(|side| {
                    let [a, b] = [0, 1].map(|row| scores(side, row, changed));
                    let condition = side.op(op, &[a, b]);
                    let (a, b) = (side.x(300), side.x(301));
                    side.op(TermOp::Select, &if is_swapped { [condition, b, a] } else { [condition, a, b] })
                }));
            }
        }
    }
    for (at, digest) in seen.iter().enumerate() {
        // The digest of an equality does not depend on the order of its operands, and differs from all others.
        assert!(!seen[..at].contains(digest), "{at}");
    }
}

/// The common part of all arms of a maximum is found only in sums that are spelled out.
#[test]
fn maxima_of_sums_that_share_terms() {
    the_digest(|side| {
        let shared = scores(side, 0, None);
        let arms: Vec<TermId> = (40..44)
            .map(|at| {
                let own = side.x(at);
                side.add(shared, own)
            })
            .collect();
        side.tree(TermOp::Max, &arms)
    });
}

/// Powers of two in exponents within exponents, nested deeper than a tower has fields.
#[test]
fn towers_of_exponentials() {
    let tower = |side: &mut Side, height: usize, top: i64| {
        let (mut term, one) = (side.x(0), side.int(top));
        term = side.add(term, one);
        for _ in 0..height {
            term = side.exp2(term);
        }
        term
    };
    let digests: Vec<Digest> =
        (0..8).flat_map(|height| [1, 2].map(|top| the_digest(|side| tower(side, height, top)))).collect();
    for (at, digest) in digests.iter().enumerate() {
        assert!(!digests[..at].contains(digest), "{at}");
    }
}
