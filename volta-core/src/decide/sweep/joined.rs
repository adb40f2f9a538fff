//! Logarithms of sums of powers that are computed in steps: `ln(e^a + e^b)`, with another such step as `a`.
//!
//! The normal form of each step would contain all powers so far, which makes a row that is added up in order quadratic.
//! So each step is nominated by evaluation and proved by itself, with `a` and `b` as unconstrained inputs. A chain of
//! steps is then replaced by one logarithm of one sum, with the powers collected in one walk.
//!
//! A literal must be read alike before and after the replacement (V9). A step must therefore be the same number in
//! every context: outside of its exponents, it contains no literal that may be read except forms of ln 2, each as a
//! factor of one logarithm. A step is replaced where it is added, compared, selected, or multiplied by an input or a
//! number, and never in an exponent. Outside of steps, no literal may be read except log₂ e in exponents and, again,
//! forms of ln 2 as factors of logarithms. The operands that steps add up move into exponents, where more literals are
//! read than outside: hence they must contain neither such a literal nor a logarithm that is visible from outside.
//!
//! A row may start at −∞. A step of −∞ and `b` is `b`, which is proved. Nothing that may be infinite is added up except
//! the constant −∞ itself, and steps, which are finite wherever their operands are.
//!
//! A step has a value exactly where `a` and `b` have values: it is proved to have one for all numbers `a` and `b`, and
//! it depends on both whatever else is given, so it has none without them.

use super::{Located, POINTS, Part, Sweep};
use crate::base::index::InstId;
use crate::decide::evaluate::{Evaluator, walk};
use crate::decide::point::TestPoint;
use crate::number::Extended;
use crate::number::interval::Narrow;
use crate::number::value::Value;
use crate::term::{
    Imported, InputId, Kind, Piecewise, Product, Reads, Store, Sum, TermId, TermKind, TermOp, View,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most terms of a side that are visited, and the most powers that are collected.
const MAX_TERMS: usize = 1 << 17;
/// The most terms of a step.
const MAX_STEP: usize = 256;
/// The most steps that are tried.
const MAX_STEPS: usize = 1 << 13;
/// The tolerance in nominating a step: literals differ slightly from the constants that they are read as.
const NEAR: f64 = 1e-6;

/// The base of powers: two (`None`), or e, by the literals that are read as log₂ e and ln 2.
#[derive(Clone, Copy, Debug)]
struct Base(Option<[TermId; 2]>);

impl Base {
    /// The logarithm of the sum of the powers of two numbers, one of which may be −∞.
    fn sum(self, [a, b]: [f64; 2]) -> f64 {
        if a.min(b) == f64::NEG_INFINITY {
            return a.max(b);
        }
        let below = -(a - b).abs();
        let two = std::f64::consts::LN_2;
        a.max(b) + if self.0.is_some() { below.exp().ln_1p() } else { below.exp2().ln_1p() / two }
    }

    /// The logarithm of the sum of the powers of terms.
    fn logarithm(self, store: &mut Store, of: &[TermId], site: InstId) -> Option<TermId> {
        let mut sum = None;
        for term in of {
            let exponent = match self.0 {
                Some([scale, _]) => store.apply(TermOp::Mul, &[*term, scale], site),
                None => *term,
            };
            let power = store.apply(TermOp::Exp2, &[exponent], site);
            sum = Some(match sum {
                Some(sum) => store.apply(TermOp::Add, &[sum, power], site),
                None => power,
            });
        }
        let logarithm = store.apply(TermOp::Log2, &[sum?], site);
        Some(match self.0 {
            Some([_, scale]) => store.apply(TermOp::Mul, &[logarithm, scale], site),
            None => logarithm,
        })
    }
}

/// The context of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Around {
    /// Sums, comparisons, selects.
    Plain,
    /// Sums in an exponent.
    Exponent,
    /// Anything else, where nothing is replaced.
    Other,
}

/// The steps of one side, each with the two operands that it adds up.
type Steps = FxHashMap<TermId, [TermId; 2]>;

impl Sweep<'_, '_> {
    /// Proves the element after replacing chains of steps by one logarithm each.
    pub(super) fn equal_when_joined(&mut self) -> Option<()> {
        let at = [0, 1].map(|side| Located { side, term: self.sides[side].1 });
        let joined = [0, 1].map(|side| self.joined(side));
        if joined.iter().all(Option::is_none) {
            return None;
        }
        let [first, second] = joined;
        let parts = [(first, at[0]), (second, at[1])]
            .map(|(joined, at)| joined.unwrap_or_else(|| self.part(at, &FxHashSet::default())));
        self.parts_equal(&parts, at, false).map(drop)
    }

    /// A side with its chains of steps replaced by logarithms. `None` if no step is an operand of another, or if one
    /// has a context in which it is not replaced.
    fn joined(&mut self, side: usize) -> Option<Part> {
        let (store, root) = self.sides[side];
        let mut terms = Vec::new();
        let mut logarithms = 0;
        let complete = walk(store, &[root], MAX_TERMS, |term| {
            if let TermKind::Lane(..) = term.kind() {
                terms.push(term);
                let reads = store.op(term).map(TermOp::reads);
                logarithms += usize::from(reads == Some(Reads::Logarithm));
            }
        });
        if !complete || logarithms < 2 {
            return None;
        }
        self.spend(terms.len() as u64);
        terms.sort_unstable();
        let natural = self.analysis[side].natural().map(|ids| ids.map(TermId::constant));
        [natural.map(Some), Some(None)].into_iter().flatten().map(Base).find_map(|base| {
            let steps = self.steps(side, &terms, base);
            let is_nested = steps.values().flatten().any(|operand| steps.contains_key(operand));
            if !is_nested {
                return None;
            }
            let tops = self.tops(side, &steps, base)?;
            self.replaced(side, &steps, base, tops, &self.open(side, &terms))
        })
    }

    /// The terms that are proved to be `ln(e^a + e^b)` wherever `a` and `b` have values, which are finite.
    fn steps(&mut self, side: usize, terms: &[TermId], base: Base) -> Steps {
        let (store, _) = self.sides[side];
        let analysis = self.analysis[side];
        let mut nominated: Vec<(TermId, [TermId; 2])> = Vec::new();
        for term in terms {
            if let View::Apply(op @ (TermOp::Add | TermOp::Sub | TermOp::Fma | TermOp::Select), operands) =
                store.view(*term)
            {
                let compared = operands[..op.arity()].iter().filter_map(|operand| compared(store, *operand));
                nominated.extend(compared.map(|pair| (*term, pair)));
            }
        }
        for round in POINTS {
            let point = TestPoint::new(&self.inputs, round);
            let mut evaluator: Evaluator<'_, Narrow, _> =
                Evaluator::new(store, point, 53, self.options.effort.remembered);
            let all: Vec<TermId> = nominated.iter().flat_map(|(term, [a, b])| [*term, *a, *b]).collect();
            let values = evaluator.evaluate_all(&all);
            let fits = |values: &[Value<Narrow>]| {
                let [Value::Finite(own), a, b] = values else { return None };
                let sum = base.sum([middle(a)?, middle(b)?]);
                Some((own.middle(NEAR)? - sum).abs() <= NEAR * (1.0 + sum.abs()))
            };
            let mut fit = values.chunks(3).map(|values| fits(values) == Some(true));
            nominated.retain(|_| fit.next() == Some(true));
        }
        nominated.truncate(MAX_STEPS);
        self.spend((nominated.len() + terms.len()) as u64);
        let mut steps = Steps::default();
        for (term, pair) in nominated {
            let adds_up = |operand: &TermId| {
                !analysis.may_be_infinite(*operand)
                    || steps.contains_key(operand)
                    || is_minus_infinity(store, *operand)
            };
            if !steps.contains_key(&term)
                && pair.iter().all(adds_up)
                && !pair.iter().all(|operand| is_minus_infinity(store, *operand))
                && self.is_read_alike(side, term, pair, base)
                && self.is_step(Located { side, term }, pair, base)
            {
                steps.insert(term, pair);
            }
        }
        steps
    }

    /// Whether a term is the same number in every context, whatever the two operands are.
    fn is_read_alike(&self, side: usize, term: TermId, pair: [TermId; 2], base: Base) -> bool {
        let (store, _) = self.sides[side];
        let analysis = self.analysis[side];
        let mut seen = FxHashSet::default();
        let mut open = vec![(term, Around::Plain)];
        while let Some((term, around)) = open.pop() {
            if pair.contains(&term) || !seen.insert((term, around)) {
                continue;
            }
            if seen.len() > MAX_STEP {
                return false;
            }
            let View::Apply(op, [a, b, c]) = store.view(term) else {
                if analysis.is_read(term) && around != Around::Exponent {
                    return false;
                }
                continue;
            };
            let all = [a, b, c].into_iter().take(op.arity());
            match op.kind() {
                Kind::Sum(Sum::Add | Sum::Sub)
                | Kind::Product(Product::Neg)
                | Kind::Piecewise(Piecewise::Max | Piecewise::Min | Piecewise::Abs) => {
                    open.extend(all.map(|term| (term, around)));
                }
                Kind::Piecewise(Piecewise::Select) => {
                    open.extend([(a, Around::Plain), (b, around), (c, around)]);
                }
                Kind::Condition(_) => open.extend(all.map(|term| (term, Around::Plain))),
                Kind::Exponential => open.push((a, Around::Exponent)),
                Kind::Sum(Sum::Fma) | Kind::Product(Product::Mul) => {
                    if let Some(of) = self.natural_logarithm(side, [a, b]) {
                        if around == Around::Exponent || base.0.is_none() {
                            return false;
                        }
                        open.push((of, Around::Plain));
                    } else if around == Around::Exponent || a.is_constant() || b.is_constant() {
                        open.extend([(a, around), (b, around)]);
                    } else {
                        return false;
                    }
                    open.extend(all.skip(2).map(|term| (term, around)));
                }
                Kind::Function(_) => {
                    if op.reads() != Reads::Logarithm || around == Around::Exponent || base.0.is_some() {
                        return false;
                    }
                    open.push((a, Around::Plain));
                }
                Kind::Product(Product::Div)
                | Kind::Piecewise(Piecewise::CopySign | Piecewise::Mod | Piecewise::BitAnd)
                | Kind::Ieee => return false,
            }
        }
        true
    }

    /// The argument of the logarithm, if a product is that of a logarithm and a form of ln 2.
    fn natural_logarithm(&self, side: usize, [a, b]: [TermId; 2]) -> Option<TermId> {
        let (store, _) = self.sides[side];
        let of = |term: TermId, factor: TermId| match store.view(term) {
            View::Apply(op, [of, ..]) if op.reads() == Reads::Logarithm => {
                self.analysis[side].is_natural_reciprocal(factor).then_some(of)
            }
            View::Apply(..) | View::Input { .. } | View::Constant(_) => None,
        };
        of(a, b).or_else(|| of(b, a))
    }

    fn is_step(&mut self, at: Located, pair: [TermId; 2], base: Base) -> bool {
        if self.left == 0 || self.ration.look().is_err() {
            return false;
        }
        // The input for names of either sign.
        let any = InputId(self.inputs.len() as u32 - 1);
        let names = [0, 1].map(|element| TermId::input(any, element));
        let [mut own, mut meant] = [(); 2].map(|()| self.store_for(at.side));
        let (from, _) = self.sides[at.side];
        // A start of −∞ stands as it is: what is meant is the other one.
        let named: Vec<(TermId, TermId)> =
            pair.into_iter().zip(names).filter(|(operand, _)| !is_minus_infinity(from, *operand)).collect();
        let names: Vec<TermId> = named.iter().map(|(_, name)| *name).collect();
        let mut known: Imported = named.into_iter().collect();
        let root = own.import(from, at.term, &mut known);
        self.spend((own.len() + own.constant_count()) as u64);
        let site = from.site(at.term).unwrap_or(InstId::FIRST);
        let Some(logarithm) = base.logarithm(&mut meant, &names, site) else { return false };
        let parts = [Part { store: meant, root: logarithm }, Part { store: own, root }];
        self.parts_equal(&parts, [at, at], true).is_some()
    }

    /// A side with its outermost steps replaced by logarithms of everything that they add up. `None` if a literal there
    /// could be read differently than before.
    fn replaced(
        &mut self,
        side: usize,
        steps: &Steps,
        base: Base,
        tops: Vec<TermId>,
        is_open: &FxHashSet<TermId>,
    ) -> Option<Part> {
        let (from, root) = self.sides[side];
        let mut store = self.store_for(side);
        let mut known = Imported::default();
        let mut gathered = 0;
        for top in tops {
            let mut powers = Vec::new();
            let mut open = vec![top];
            while let Some(term) = open.pop() {
                gathered += 1;
                if gathered > MAX_TERMS {
                    return None;
                }
                match steps.get(&term) {
                    Some([a, b]) => {
                        open.extend([*b, *a].into_iter().filter(|of| !is_minus_infinity(from, *of)));
                    }
                    None if is_open.contains(&term) || self.analysis[side].is_read(term) => return None,
                    None => powers.push(store.import(from, term, &mut known)),
                }
            }
            let site = from.site(top).unwrap_or(InstId::FIRST);
            let logarithm = base.logarithm(&mut store, &powers, site)?;
            known.insert(top, logarithm);
        }
        self.spend(gathered as u64);
        let root = store.import(from, root, &mut known);
        Some(Part { store, root })
    }

    /// The steps that are no operand of another, operands first. `None` if one is not replaced, or if another literal
    /// may be read.
    fn tops(&self, side: usize, steps: &Steps, base: Base) -> Option<Vec<TermId>> {
        let (store, root) = self.sides[side];
        let analysis = self.analysis[side];
        let scale = base.0.map(|[scale, _]| scale);
        let mut seen = FxHashSet::default();
        let mut passed = FxHashSet::default();
        let mut tops = Vec::new();
        let mut open = vec![(root, Around::Plain)];
        while let Some((term, around)) = open.pop() {
            if !seen.insert((term, around)) {
                continue;
            }
            if seen.len() > MAX_TERMS {
                return None;
            }
            if steps.contains_key(&term) {
                if around != Around::Plain {
                    return None;
                }
                tops.push(term);
                let mut inner = vec![term];
                while let Some(term) = inner.pop() {
                    match steps.get(&term) {
                        Some(pair) if passed.insert(term) => inner.extend(pair),
                        Some(_) => {}
                        None => open.push((term, Around::Plain)),
                    }
                }
                continue;
            }
            let View::Apply(op, [a, b, c]) = store.view(term) else {
                if analysis.is_read(term) && !(around == Around::Exponent && Some(term) == scale) {
                    return None;
                }
                continue;
            };
            // The context of a factor, given the other factor.
            let beside = |other: TermId| match other.kind() {
                TermKind::Input { .. } | TermKind::Constant(_) => around,
                TermKind::Lane(..) => Around::Other,
            };
            let all = |around: Around| [a, b, c].into_iter().take(op.arity()).map(move |term| (term, around));
            let inside = if around == Around::Other { Around::Other } else { Around::Plain };
            match op.kind() {
                Kind::Sum(Sum::Add | Sum::Sub) | Kind::Product(Product::Neg) => open.extend(all(around)),
                Kind::Sum(Sum::Fma) | Kind::Product(Product::Mul) => {
                    match self.natural_logarithm(side, [a, b]) {
                        Some(of) => open.push((of, Around::Other)),
                        None => open.extend([(a, beside(b)), (b, beside(a))]),
                    }
                    open.extend(all(around).skip(2));
                }
                Kind::Product(Product::Div) => open.extend([(a, beside(b)), (b, Around::Other)]),
                Kind::Exponential => open.push((a, Around::Exponent)),
                Kind::Condition(_) => open.extend(all(Around::Plain)),
                Kind::Piecewise(Piecewise::Max | Piecewise::Min | Piecewise::Abs | Piecewise::Select) => {
                    open.extend(all(inside));
                }
                Kind::Function(_)
                | Kind::Piecewise(Piecewise::CopySign | Piecewise::Mod | Piecewise::BitAnd)
                | Kind::Ieee => {
                    open.extend(all(Around::Other));
                }
            }
        }
        tops.sort_unstable();
        tops.dedup();
        Some(tops)
    }
}

/// The middle of a number, or −∞.
fn middle(value: &Value<Narrow>) -> Option<f64> {
    match value {
        Value::Finite(value) => value.middle(NEAR),
        Value::NegInf => Some(f64::NEG_INFINITY),
        Value::PosInf | Value::True | Value::False | Value::Either | Value::Undefined | Value::Unresolved => {
            None
        }
    }
}

fn is_minus_infinity(store: &Store, term: TermId) -> bool {
    match store.view(term) {
        View::Constant(constant) => constant.exact == Extended::NegInf,
        View::Apply(..) | View::Input { .. } => false,
    }
}

/// The two numbers that a term compares: those of a maximum, a condition, or a select by one.
fn compared(store: &Store, mut term: TermId) -> Option<[TermId; 2]> {
    loop {
        match store.view(term) {
            View::Apply(TermOp::Max | TermOp::Min | TermOp::Less | TermOp::LessEqual, [a, b, _]) => {
                return Some([a, b]);
            }
            View::Apply(TermOp::Not | TermOp::Select, [inner, ..]) => term = inner,
            View::Apply(..) | View::Input { .. } | View::Constant(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ElementPair, InputInfo};
    use super::*;
    use crate::algebra::Analysis;
    use crate::base::ration::Ration;
    use crate::decide::DecisionOptions;
    use crate::number::Rounded;
    use crate::number::format::{Decoded, Format, decode};
    use crate::term::Constant;
    use std::rc::Rc;

    /// A store, and whether its powers and logarithms have base two.
    #[derive(Default)]
    struct Side(Store, bool);

    impl Side {
        fn op(&mut self, op: TermOp, operands: &[TermId]) -> TermId {
            self.0.apply(op, operands, InstId(0))
        }

        fn float(&mut self, value: f32) -> TermId {
            let bits = u64::from(value.to_bits());
            let Decoded::Finite(exact) = decode(Format::F32, bits) else { panic!("a number") };
            let (literal, rounded) = (Some((Format::F32, bits)), Rounded::exactly(Format::F32, bits));
            self.0.intern(Constant { exact: exact.into(), literal, rounded })
        }

        fn infinite(&mut self, exact: Extended) -> TermId {
            self.0.intern(Constant { exact, literal: None, rounded: None })
        }

        fn exp(&mut self, of: TermId) -> TermId {
            if self.1 {
                return self.op(TermOp::Exp2, &[of]);
            }
            let scale = self.float(std::f32::consts::LOG2_E);
            let exponent = self.op(TermOp::Mul, &[of, scale]);
            self.op(TermOp::Exp2, &[exponent])
        }

        fn ln(&mut self, of: TermId) -> TermId {
            let logarithm = self.op(TermOp::Log2, &[of]);
            if self.1 {
                return logarithm;
            }
            let scale = self.float(std::f32::consts::LN_2);
            self.op(TermOp::Mul, &[logarithm, scale])
        }

        /// `ln Σ e^x`
        fn at_once(&mut self, row: &[TermId]) -> TermId {
            let powers: Vec<TermId> = row.iter().map(|x| self.exp(*x)).collect();
            let sum = powers.into_iter().reduce(|sum, power| self.op(TermOp::Add, &[sum, power]));
            self.ln(sum.expect("a row"))
        }

        /// The larger or the smaller operand plus `ln(1 + e^−|a − b|)`, one element after the other.
        fn in_steps(&mut self, row: &[TermId], larger: TermOp) -> TermId {
            self.in_steps_with(row, larger, |_, _, logarithm| logarithm)
        }

        /// As [`Side::in_steps`], with `with` applied to each logarithm and element.
        fn in_steps_with(
            &mut self,
            row: &[TermId],
            larger: TermOp,
            with: impl Fn(&mut Self, TermId, TermId) -> TermId,
        ) -> TermId {
            let step = |side: &mut Self, a: TermId, b: TermId| {
                let larger = side.op(larger, &[a, b]);
                let difference = side.op(TermOp::Sub, &[a, b]);
                let magnitude = side.op(TermOp::Abs, &[difference]);
                let opposite = side.op(TermOp::Neg, &[magnitude]);
                let power = side.exp(opposite);
                let one = side.float(1.0);
                let sum = side.op(TermOp::Add, &[one, power]);
                let logarithm = side.ln(sum);
                let logarithm = with(side, b, logarithm);
                side.op(TermOp::Add, &[larger, logarithm])
            };
            row.iter().copied().reduce(|all, next| step(self, all, next)).expect("a row")
        }
    }

    /// Whether joining alone proves the two equal.
    fn joins(reference: impl Fn(&mut Side) -> TermId, opt: impl Fn(&mut Side) -> TermId) -> bool {
        let (mut left, mut right) = (Side::default(), Side::default());
        let (a, b) = (reference(&mut left), opt(&mut right));
        let element = ElementPair { reference: (&left.0, a), opt: (&right.0, b) };
        let analysis = [Analysis::new(&left.0, &[a]), Analysis::new(&right.0, &[b])];
        let inputs = [InputInfo { name: "x".into(), shape: vec![8], ..InputInfo::default() }];
        let (ration, options) = (Rc::new(Ration::endless()), DecisionOptions::default());
        let mut sweep =
            Sweep::new(&element, analysis.each_ref(), &inputs, &options, &ration).expect("a sweep");
        sweep.equal_when_joined().is_some()
    }

    fn row() -> Vec<TermId> {
        (0..4).map(|element| TermId::input(InputId(0), element)).collect()
    }

    #[test]
    fn steps_are_one_logarithm_of_one_sum() {
        assert!(joins(|side| side.at_once(&row()), |side| side.in_steps(&row(), TermOp::Max)));
        assert!(joins(|side| side.in_steps(&row(), TermOp::Max), |side| side.at_once(&row())));
        // Neither for fewer elements than the row, nor with the smaller operand.
        assert!(!joins(|side| side.at_once(&row()), |side| side.in_steps(&row()[1..], TermOp::Max)));
        assert!(!joins(|side| side.at_once(&row()), |side| side.in_steps(&row(), TermOp::Min)));
    }

    #[test]
    fn a_row_may_start_at_minus_infinity() {
        let with = |at: usize, infinities: Vec<Extended>| {
            move |side: &mut Side| {
                let mut all = row();
                let infinities: Vec<TermId> = infinities.iter().map(|of| side.infinite(of.clone())).collect();
                all.splice(at..at, infinities);
                side.in_steps(&all, TermOp::Max)
            }
        };
        assert!(joins(|side| side.at_once(&row()), with(0, vec![Extended::NegInf])));
        assert!(joins(|side| side.at_once(&row()), with(2, vec![Extended::NegInf])));
        assert!(!joins(|side| side.at_once(&row()[1..]), with(0, vec![Extended::NegInf])));
        // Of plus infinity, and of nothing at all, the step is no number.
        assert!(!joins(|side| side.at_once(&row()), with(0, vec![Extended::PosInf])));
        assert!(!joins(|side| side.at_once(&row()), with(0, vec![Extended::NegInf; 2])));
        // The start is one more element.
        assert!(!joins(
            |side| side.at_once(&row()),
            |side| {
                let mut all = row();
                all.insert(0, side.float(0.0));
                side.in_steps(&all, TermOp::Max)
            }
        ));
    }

    #[test]
    fn powers_are_of_two_as_well_and_steps_stand_in_no_exponent() {
        let binary = |side: &mut Side| {
            side.1 = true;
            side.in_steps(&row(), TermOp::Max)
        };
        assert!(joins(
            |side| {
                side.1 = true;
                side.at_once(&row())
            },
            binary
        ));
        assert!(!joins(|side| side.at_once(&row()), binary));
        let below = |side: &mut Side, all: TermId| {
            let difference = side.op(TermOp::Sub, &[row()[0], all]);
            side.exp(difference)
        };
        assert!(!joins(
            |side| {
                let all = side.at_once(&row());
                below(side, all)
            },
            |side| {
                let all = side.in_steps(&row(), TermOp::Max);
                below(side, all)
            }
        ));
    }

    #[test]
    fn a_step_holds_no_literal_that_is_read_by_what_is_around_it() {
        // What is added is 0 as it stands. In an exponent, the literal would be read as another number than its bits.
        let with_nothing = |literal: f32| {
            move |side: &mut Side| {
                side.in_steps_with(&row(), TermOp::Max, |side, element, logarithm| {
                    let scale = side.float(literal);
                    let scaled = side.op(TermOp::Mul, &[element, scale]);
                    let more = side.op(TermOp::Add, &[logarithm, scaled]);
                    side.op(TermOp::Sub, &[more, scaled])
                })
            }
        };
        assert!(joins(|side| side.at_once(&row()), with_nothing(1.5)));
        assert!(!joins(|side| side.at_once(&row()), with_nothing(std::f32::consts::LOG2_E)));
    }

    #[test]
    fn nothing_is_replaced_where_more_is_read_beside() {
        let beside = |literal: f32| {
            move |side: &mut Side, all: TermId| {
                let scale = side.float(literal);
                let scaled = side.op(TermOp::Mul, &[TermId::input(InputId(0), 5), scale]);
                side.op(TermOp::Add, &[all, scaled])
            }
        };
        let joins_beside = |literal: f32| {
            joins(
                |side| {
                    let all = side.at_once(&row());
                    beside(literal)(side, all)
                },
                |side| {
                    let all = side.in_steps(&row(), TermOp::Max);
                    beside(literal)(side, all)
                },
            )
        };
        assert!(joins_beside(1.5));
        assert!(!joins_beside(std::f32::consts::LN_2));
    }

    #[test]
    fn nothing_is_replaced_beside_what_is_read() {
        // Outside of exponents, the literal is the number of its bits: no step is replaced beside it, and none adds it
        // up.
        let scaled = |side: &mut Side, term: TermId| {
            let scale = side.float(std::f32::consts::LOG2_E);
            side.op(TermOp::Mul, &[term, scale])
        };
        let above = |side: &mut Side, term: TermId| {
            let term = scaled(side, term);
            side.op(TermOp::Abs, &[term])
        };
        assert!(!joins(
            |side| {
                let all = side.at_once(&row());
                above(side, all)
            },
            |side| {
                let all = side.in_steps(&row(), TermOp::Max);
                above(side, all)
            }
        ));
        let below = |side: &mut Side| -> Vec<TermId> {
            let mut own = row();
            own[0] = scaled(side, own[0]);
            own
        };
        assert!(!joins(
            |side| {
                let own = below(side);
                side.at_once(&own)
            },
            |side| {
                let own = below(side);
                side.in_steps(&own, TermOp::Max)
            }
        ));
    }
}
