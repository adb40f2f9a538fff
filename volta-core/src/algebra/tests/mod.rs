//! The prover on terms built by hand: what must be proved, and for every law a case that must not be.

mod arg_max;
mod by_value;
mod circuits;
mod digests;
mod exits;
mod exponentials;
mod field;
mod functions;
mod indicators;
mod infinities;
mod integers;
mod random;
mod speed;
mod sums;
mod variances;

use super::InputRange;
use super::{
    Agreement, Analysis, Equality, Obligations, Outlines, Prover, Requirement, Split, Stage, Stop, Tactic,
    TermRef,
};
use crate::base::index::InstId;
use crate::formula::Shapes;
use crate::number::format::{Format, decode};
use crate::number::signs::Signs;
use crate::number::{Extended, Rational, Rounded};
use crate::term::{Constant, InputId, Store, TermId, TermOp};

pub(super) const X: InputId = InputId(0);
pub(super) const Y: InputId = InputId(1);

/// A store, with short names for the operations of tests.
pub(super) struct Side {
    pub(super) store: Store,
}

impl Side {
    pub(super) fn new() -> Side {
        Side { store: Store::new() }
    }

    pub(super) fn x(&self, element: u64) -> TermId {
        TermId::input(X, element)
    }

    pub(super) fn y(&self, element: u64) -> TermId {
        TermId::input(Y, element)
    }

    pub(super) fn rational(&mut self, num: i64, den: i64) -> TermId {
        let exact = Extended::Finite(Rational::from_ratio(num, den));
        self.store.intern(Constant { exact, literal: None, rounded: None })
    }

    pub(super) fn int(&mut self, value: i64) -> TermId {
        self.rational(value, 1)
    }

    pub(super) fn infinity(&mut self, negative: bool) -> TermId {
        let exact = if negative { Extended::NegInf } else { Extended::PosInf };
        self.store.intern(Constant { exact, literal: None, rounded: None })
    }

    pub(super) fn literal(&mut self, format: Format, bits: u64) -> TermId {
        let exact = decode(format, bits).extended().expect("a number");
        let own = Some((format, bits));
        self.store.intern(Constant { exact, literal: own, rounded: Rounded::exactly(format, bits) })
    }

    pub(super) fn f32(&mut self, bits: u64) -> TermId {
        self.literal(Format::F32, bits)
    }

    pub(super) fn op(&mut self, op: TermOp, operands: &[TermId]) -> TermId {
        self.store.apply(op, operands, InstId(0))
    }

    pub(super) fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Add, &[a, b])
    }

    pub(super) fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Sub, &[a, b])
    }

    pub(super) fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Mul, &[a, b])
    }

    pub(super) fn fma(&mut self, a: TermId, b: TermId, c: TermId) -> TermId {
        self.op(TermOp::Fma, &[a, b, c])
    }

    pub(super) fn div(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Div, &[a, b])
    }

    pub(super) fn neg(&mut self, a: TermId) -> TermId {
        self.op(TermOp::Neg, &[a])
    }

    pub(super) fn max(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Max, &[a, b])
    }

    pub(super) fn min(&mut self, a: TermId, b: TermId) -> TermId {
        self.op(TermOp::Min, &[a, b])
    }

    pub(super) fn exp2(&mut self, a: TermId) -> TermId {
        self.op(TermOp::Exp2, &[a])
    }

    /// `__expf`: a multiplication and a power of two.
    pub(super) fn exp(&mut self, a: TermId) -> TermId {
        let base = self.f32(0x3FB8_AA3B);
        let scaled = self.mul(a, base);
        self.exp2(scaled)
    }

    /// `expf` as compilers expand it; the magic addition has become a floor.
    pub(super) fn expf(&mut self, x: TermId) -> TermId {
        let c = self.f32(0x3BBB_989D);
        let half = self.rational(1, 2);
        let s = self.fma(x, c, half);
        let s = self.op(TermOp::Saturate, &[s]);
        let steps = self.int(252);
        let s = self.mul(s, steps);
        let floor = self.op(TermOp::Floor, &[s]);
        let magic = self.int(12_582_913);
        let m = self.add(floor, magic);
        let back = self.int(-12_583_039);
        let j = self.add(m, back);
        let n = self.neg(j);
        let high = self.f32(0x3FB8_AA3B);
        let low = self.f32(0x32A5_7060);
        let r = self.fma(x, high, n);
        let r = self.fma(x, low, r);
        let e = self.exp2(r);
        let back = self.int(12_583_039);
        let p = self.sub(m, back);
        let p = self.exp2(p);
        self.mul(e, p)
    }

    pub(super) fn sum(&mut self, terms: &[TermId]) -> TermId {
        terms[1..].iter().fold(terms[0], |sum, term| self.add(sum, *term))
    }

    /// Pairwise, as a tree.
    pub(super) fn tree(&mut self, op: TermOp, terms: &[TermId]) -> TermId {
        let mut level = terms.to_vec();
        while level.len() > 1 {
            level = level
                .chunks(2)
                .map(|pair| if let [a, b] = pair { self.op(op, &[*a, *b]) } else { pair[0] })
                .collect();
        }
        level[0]
    }
}

/// The analyses of both sides, as `decide` makes them.
fn facts_of(a: &Side, b: &Side) -> [Analysis; 2] {
    [(a, b), (b, a)].map(|(own, other)| {
        let mut analysis = Analysis::of_all(&own.store);
        analysis.read_scales(&own.store, &[&other.store]);
        analysis
    })
}

/// The result of the prover for two terms, with a budget.
pub(super) fn compare_within(a: (&Side, TermId), b: (&Side, TermId), steps: u64) -> Result<Equality, Stop> {
    let analysis = facts_of(a.0, b.0);
    // As in `decide`: what the quick prover leaves open, the thorough one decides.
    let mut result = Ok(Equality::Open(String::new()));
    for tactic in [Tactic::QUICK, Tactic::THOROUGH] {
        let mut prover = Prover::new(Vec::new(), tactic);
        prover.set_budget(steps);
        let first = TermRef { store: prover.add_store(&a.0.store, &analysis[0]), term: a.1 };
        let second = TermRef { store: prover.add_store(&b.0.store, &analysis[1]), term: b.1 };
        result = prover.equal(first, second, Stage::Expansions);
        if prover.is_thorough() || !matches!(result, Ok(Equality::Open(_))) {
            break;
        }
    }
    result
}

/// The result of the prover for two terms, by case analysis if necessary.
pub(super) fn compare_by_cases(a: (&Side, TermId), b: (&Side, TermId)) -> Result<Equality, Stop> {
    match compare(a, b) {
        Ok(Equality::Open(_)) => {}
        other => return other,
    }
    let analysis = facts_of(a.0, b.0);
    let mut prover = Prover::new(Vec::new(), Tactic::THOROUGH);
    prover.set_budget(1_000_000);
    let first = TermRef { store: prover.add_store(&a.0.store, &analysis[0]), term: a.1 };
    let second = TermRef { store: prover.add_store(&b.0.store, &analysis[1]), term: b.1 };
    Ok(match prover.equal_by_cases(first, second)? {
        Split::Equal => Equality::Equal,
        Split::Open { reason, .. } => Equality::Open(reason),
    })
}

pub(super) fn compare(a: (&Side, TermId), b: (&Side, TermId)) -> Result<Equality, Stop> {
    compare_within(a, b, 50_000_000)
}

#[track_caller]
pub(super) fn assert_equal(a: (&Side, TermId), b: (&Side, TermId)) {
    assert_eq!(compare(a, b), Ok(Equality::Equal));
}

#[track_caller]
pub(super) fn assert_open(a: (&Side, TermId), b: (&Side, TermId)) {
    let result = compare(a, b);
    assert!(matches!(result, Ok(Equality::Open(_)) | Err(Stop::Unknown(_))), "{result:?}");
}

/// Builds both sides and compares them.
#[track_caller]
pub(super) fn equal(a: impl FnOnce(&mut Side) -> TermId, b: impl FnOnce(&mut Side) -> TermId) {
    let (mut left, mut right) = (Side::new(), Side::new());
    let (a, b) = (a(&mut left), b(&mut right));
    assert_equal((&left, a), (&right, b));
}

#[track_caller]
pub(super) fn open(a: impl FnOnce(&mut Side) -> TermId, b: impl FnOnce(&mut Side) -> TermId) {
    let (mut left, mut right) = (Side::new(), Side::new());
    let (a, b) = (a(&mut left), b(&mut right));
    assert_open((&left, a), (&right, b));
}

/// The agreement in prime fields of two terms, equal or not; and whether the provers prove them equal.
pub(super) fn agreement(a: (&Side, TermId), b: (&Side, TermId)) -> (Agreement, bool) {
    let analysis = facts_of(a.0, b.0);
    let mut last = (Agreement::Unchecked, false);
    for tactic in [Tactic::QUICK, Tactic::THOROUGH] {
        let mut prover = Prover::new(Vec::new(), tactic);
        prover.set_budget(5_000_000);
        let first = TermRef { store: prover.add_store(&a.0.store, &analysis[0]), term: a.1 };
        let second = TermRef { store: prover.add_store(&b.0.store, &analysis[1]), term: b.1 };
        let equal = prover.equal(first, second, Stage::Expansions) == Ok(Equality::Equal);
        last = (prover.agree(first, second, 1), equal);
        if equal {
            break;
        }
    }
    last
}

/// The normal form of a term as text; inputs are called x, y and z.
pub(super) fn normal_form(side: &Side, term: TermId) -> String {
    let analysis = Analysis::of_all(&side.store);
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    prover.set_budget(50_000_000);
    let store = prover.add_store(&side.store, &analysis);
    let names = ["x", "y", "z", "out"].map(String::from);
    let mut shapes = Shapes::new(vec![vec![1 << 20], vec![1 << 20], vec![1 << 20], vec![]]);
    match Outlines::default().outline(&mut prover, &mut shapes, TermRef { store, term }) {
        Ok(nodes) => shapes.formula(&[(InputId(3), 0, nodes)], &names).to_string(),
        Err(why) => format!("{why:?}"),
    }
}

/// The requirements of a term as text, under assumed signs.
pub(super) fn requirements(side: &Side, term: TermId, signs: &[Signs]) -> Result<Vec<String>, Stop> {
    let analysis = Analysis::of_all(&side.store);
    let mut prover = Prover::new(signs.iter().copied().map(InputRange::from).collect(), Tactic::QUICK);
    prover.set_budget(50_000_000);
    let store = prover.add_store(&side.store, &analysis);
    let found = prover.requirements(&mut Obligations::default(), TermRef { store, term })?;
    let names = |input: InputId, element: u64| format!("{}[{element}]", ["x", "y", "z"][input.index()]);
    Ok(found.iter().map(|requirement| prover.requirement_text(requirement, &names)).collect())
}

/// Whether it is proved that wherever `a` is defined, `b` is defined and equal.
pub(super) fn refines(a: (&Side, TermId), b: (&Side, TermId)) -> bool {
    let analysis = facts_of(a.0, b.0);
    let mut prover = Prover::new(Vec::new(), Tactic::THOROUGH);
    prover.set_budget(50_000_000);
    let first = TermRef { store: prover.add_store(&a.0.store, &analysis[0]), term: a.1 };
    let second = TermRef { store: prover.add_store(&b.0.store, &analysis[1]), term: b.1 };
    let equal = match prover.equal(first, second, Stage::Expansions) {
        Ok(Equality::Equal) => true,
        Ok(Equality::Open(_)) => prover.equal_by_cases(first, second) == Ok(Split::Equal),
        _ => false,
    };
    if !equal {
        return false;
    }
    let known = &mut Obligations::default();
    let (Ok(domain), Ok(own)) = (prover.requirements(known, first), prover.requirements(known, second))
    else {
        return false;
    };
    let additional = prover.additional((first, &domain), own);
    let mut met = |requirement: &Requirement| {
        let operand = known.operand(requirement).expect("what is required is required of something");
        prover.met_by_cases(requirement, operand, first).unwrap_or(false)
    };
    additional.iter().all(&mut met)
}
