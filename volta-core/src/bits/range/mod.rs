//! Which values the operations of a kernel may have, and which of them may leave the numbers (rule B2): an abstract
//! interpretation of terms of IEEE arithmetic, as they were executed.
//!
//! Each term gets a [set](set::FloatSet) that contains its rounded value at all inputs that are allowed. Intervals
//! alone are too wide where a value is used twice. There, [cones](cone) are evaluated on pieces of the set of the one
//! value that they are functions of, and [relations](relation) bound differences from a maximum and sums of
//! exponentials of them.
//!
//! Only what an output depends on is looked at, and of a choice whose condition is known, the arm that is taken.

mod approximate;
mod cone;
mod error;
mod exponential;
mod known_function;
mod loss;
mod matrix;
mod relation;
mod search;
pub(crate) mod set;
#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::form::{key_of_term, operands_of};
use crate::base::index::InstId;
use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::term::{IeeeKey, IeeeOp, InputId, Kind, Predicate, Range, Store, TermId, TermOp, View};
use cone::Cone;
pub(crate) use cone::{ConeCache, structure_of};
pub(crate) use error::{AccuracyBound, Constants, Errors, Unbounded};
pub(crate) use known_function::{KnownFunction, Passes};
pub(crate) use search::{InputRange, PointValue, RangeWitness, search};
use set::{FloatSet, Raised};

/// What a term may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Known {
    /// A float.
    Float(FloatSet),
    /// An integer; a condition is 1 where it holds and 0 where it does not.
    Int(Range),
}

impl Known {
    fn float(self) -> Option<FloatSet> {
        match self {
            Known::Float(set) => Some(set),
            Known::Int(_) => None,
        }
    }

    fn range(self) -> Range {
        match self {
            Known::Float(_) => Range::REAL,
            Known::Int(range) => range,
        }
    }

    fn or(self, other: Known) -> Known {
        match (self, other) {
            (Known::Float(a), Known::Float(b)) => Known::Float(a.or(b)),
            (Known::Int(a), Known::Int(b)) => Known::Int(a.either(b)),
            (Known::Float(set), Known::Int(_)) | (Known::Int(_), Known::Float(set)) => {
                Known::Float(set.or(FloatSet::all(Format::F64)))
            }
        }
    }
}

/// How a result may leave the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Leaving {
    /// It is too large for its format.
    Overflow,
    /// A division by zero, or a logarithm of zero.
    Division,
    /// It is NaN, and no operand is.
    Invalid,
    /// An output is infinite or NaN, though no operation made it so.
    Output,
    /// It stays a number, but one below the normal ones or zero, and the exact result is not zero.
    Underflow,
    /// It stays a number, but half of the digits of an operand that was rounded cancel.
    Cancels,
}

/// An operation that may leave the numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Departure {
    pub(crate) leaving: Leaving,
    /// The instruction, if it is known.
    pub(crate) site: Option<InstId>,
    /// The operation, as messages spell it.
    pub(crate) operation: String,
    /// The sets of its operands.
    pub(crate) operands: SmallVec<[FloatSet; 3]>,
    /// The set of its results.
    pub(crate) set: FloatSet,
    /// Whether it does so at all inputs that were looked at.
    pub(crate) surely: bool,
    /// The first root that depends on it, by its number.
    pub(crate) root: usize,
}

impl Departure {
    /// Counts another execution; one that surely does so is kept as it is.
    fn add(&mut self, operands: &[FloatSet], set: FloatSet, surely: bool) {
        if surely && !self.surely {
            (self.operands, self.set) = (operands.into(), set);
        } else if surely == self.surely {
            self.set = self.set.or(set);
            for (known, more) in self.operands.iter_mut().zip(operands) {
                *known = known.or(*more);
            }
        }
        self.surely |= surely;
    }
}

/// The values of an instruction in all of its executions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SiteValues {
    pub(crate) key: IeeeKey,
    pub(crate) set: FloatSet,
}

/// What was found of a kernel.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    /// Operations that may leave the numbers, by instruction and kind.
    pub(crate) departures: FxHashMap<(Option<InstId>, Leaving), Departure>,
    /// Operations that may lose digits.
    pub(crate) losses: FxHashMap<(Option<InstId>, Leaving), Departure>,
    /// The values of each instruction.
    pub(crate) values: FxHashMap<InstId, SiteValues>,
    /// Whether both arms of some choice were looked at.
    pub(crate) undecided: bool,
    /// What is assumed of functions of the library.
    pub(crate) relied: std::collections::BTreeSet<String>,
    /// The sets of the roots, by number.
    pub(crate) roots: Vec<(usize, FloatSet)>,
}

/// A limit was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooMany;

/// What limits an analysis: the number of operations on sets that are left.
#[derive(Debug)]
pub(crate) struct Effort(pub(crate) u64);

impl Effort {
    fn spend(&mut self, steps: u64) -> Result<(), TooMany> {
        self.0 = self.0.checked_sub(steps).ok_or(TooMany)?;
        Ok(())
    }
}

/// Where a term is in the tree of dominators: what all paths from inputs to it pass last, and its depth.
#[derive(Clone, Copy, Debug)]
struct Dominated {
    by: Option<TermId>,
    depth: u32,
}

/// How a term is evaluated.
#[derive(Clone, Debug)]
enum Plan {
    /// From its operands.
    Plain,
    /// As a function of one term.
    Cone(std::rc::Rc<Cone>),
}

/// The analysis of one store, for one set of inputs.
pub(crate) struct Analysis<'s, 'c> {
    store: &'s Store,
    input: &'c dyn Fn(InputId, u64) -> Known,
    known: FxHashMap<TermId, Known>,
    /// Of what depends on inputs: `None` for constants.
    dominators: FxHashMap<TermId, Option<Dominated>>,
    plans: FxHashMap<TermId, Plan>,
    cones: &'c mut ConeCache,
    /// The operands of maxima.
    maxima: FxHashMap<TermId, std::rc::Rc<relation::Maximum>>,
    /// The summands of divisors.
    summands: FxHashMap<TermId, std::rc::Rc<relation::Summands>>,
    tightened: FxHashSet<TermId>,
    effort: &'c mut Effort,
    root: usize,
    /// The values of terms within cones, where errors are bounded too.
    within: Option<FxHashMap<TermId, Known>>,
}

impl<'s, 'c> Analysis<'s, 'c> {
    pub(crate) fn new(
        store: &'s Store,
        input: &'c dyn Fn(InputId, u64) -> Known,
        cones: &'c mut ConeCache,
        effort: &'c mut Effort,
    ) -> Analysis<'s, 'c> {
        Analysis {
            store,
            input,
            known: FxHashMap::default(),
            dominators: FxHashMap::default(),
            plans: FxHashMap::default(),
            cones,
            maxima: FxHashMap::default(),
            summands: FxHashMap::default(),
            tightened: FxHashSet::default(),
            effort,
            root: 0,
            within: None,
        }
    }

    /// Keeps what is found of all terms, so that errors can be bounded.
    pub(crate) fn keeping(self) -> Analysis<'s, 'c> {
        Analysis { within: Some(FxHashMap::default()), ..self }
    }

    /// Evaluates a root, and adds what is found to the survey.
    pub(crate) fn root(&mut self, number: usize, root: TermId, survey: &mut Survey) -> Result<(), TooMany> {
        self.root = number;
        self.dominate(root)?;
        let known = self.evaluate(root, survey)?;
        if let Known::Float(set) = known {
            survey.roots.push((number, set));
        }
        Ok(())
    }

    /// The operands of a term on which its value depends; none of a constant.
    fn operands(&self, term: TermId) -> SmallVec<[TermId; 3]> {
        if self.store.as_ieee_number(term).is_some() {
            SmallVec::new()
        } else {
            operands_of(self.store, term)
        }
    }

    fn dominated(&self, term: TermId) -> Option<Dominated> {
        self.dominators.get(&term).copied().flatten()
    }

    /// Finds the dominators of all terms that a root depends on.
    fn dominate(&mut self, root: TermId) -> Result<(), TooMany> {
        let mut work = vec![root];
        while let Some(term) = work.last().copied() {
            if self.dominators.contains_key(&term) {
                work.pop();
                continue;
            }
            self.effort.spend(1)?;
            let operands = self.operands(term);
            let before = work.len();
            work.extend(operands.iter().filter(|operand| !self.dominators.contains_key(operand)));
            if work.len() > before {
                continue;
            }
            work.pop();
            let own = if let View::Input { .. } = self.store.view(term) {
                Some(Dominated { by: None, depth: 1 })
            } else {
                let mut common: Option<Option<TermId>> = None;
                for operand in operands {
                    if self.dominated(operand).is_some() {
                        common = Some(match common {
                            None => Some(operand),
                            Some(other) => self.common(other, Some(operand))?,
                        });
                    }
                }
                common.map(|by| {
                    let depth = by.and_then(|by| self.dominated(by)).map_or(0, |own| own.depth) + 1;
                    Dominated { by, depth }
                })
            };
            self.dominators.insert(term, own);
        }
        Ok(())
    }

    /// The last term that all paths to both pass.
    fn common(&mut self, mut a: Option<TermId>, mut b: Option<TermId>) -> Result<Option<TermId>, TooMany> {
        while a != b {
            self.effort.spend(1)?;
            let depth = |of: Option<TermId>| of.and_then(|of| self.dominated(of)).map_or(0, |own| own.depth);
            let up = |of: Option<TermId>| of.and_then(|of| self.dominated(of)).and_then(|own| own.by);
            if depth(a) >= depth(b) {
                a = up(a);
            } else {
                b = up(b);
            }
        }
        Ok(a)
    }

    /// How a term is evaluated: as a function of its dominator if paths from that meet here.
    fn plan(&mut self, term: TermId) -> Result<Plan, TooMany> {
        if let Some(plan) = self.plans.get(&term) {
            return Ok(plan.clone());
        }
        let operands = self.operands(term);
        let first = operands.iter().find(|operand| self.dominated(**operand).is_some());
        let meets = operands.iter().any(|other| self.dominated(*other).is_some() && Some(other) != first);
        let base = self.dominated(term).and_then(|own| own.by).filter(|_| meets);
        let cone = match base {
            Some(base) => Cone::of(self.store, term, base, self.effort)?,
            None => None,
        };
        let plan = cone.map_or(Plan::Plain, |cone| Plan::Cone(std::rc::Rc::new(cone)));
        self.plans.insert(term, plan.clone());
        Ok(plan)
    }

    /// What a term may be; evaluates what it depends on.
    fn evaluate(&mut self, root: TermId, survey: &mut Survey) -> Result<Known, TooMany> {
        let mut work = vec![root];
        while let Some(term) = work.last().copied() {
            if self.known.contains_key(&term) {
                work.pop();
                continue;
            }
            self.effort.spend(1)?;
            let plan = self.plan(term)?;
            let needs: SmallVec<[TermId; 3]> = match &plan {
                Plan::Cone(cone) => smallvec![cone.base],
                Plan::Plain => self.wanted(term),
            };
            let before = work.len();
            work.extend(needs.iter().filter(|needed| !self.known.contains_key(needed)));
            if work.len() > before {
                continue;
            }
            work.pop();
            for needed in &needs {
                self.tighten(term, *needed)?;
            }
            let value = match plan {
                Plan::Cone(cone) => self.cone(&cone, survey)?,
                Plan::Plain => self.plain(term, survey)?,
            };
            self.known.insert(term, value);
        }
        Ok(self.known[&root])
    }

    /// The operands that must be known next: of a choice, the condition, and then the arms that may be taken.
    fn wanted(&self, term: TermId) -> SmallVec<[TermId; 3]> {
        let operands = self.operands(term);
        if self.store.op(term) != Some(TermOp::Select) {
            return operands;
        }
        let Some(condition) = self.known.get(&operands[0]) else { return smallvec![operands[0]] };
        match truth(condition.range()) {
            Some(true) => smallvec![operands[1]],
            Some(false) => smallvec![operands[2]],
            None => operands,
        }
    }

    /// A term from its operands.
    fn plain(&mut self, term: TermId, survey: &mut Survey) -> Result<Known, TooMany> {
        let known = &self.known;
        let get = |of: TermId| known.get(&of).copied().unwrap_or(Known::Int(Range::REAL));
        let (mut value, mut raised) = match self.store.view(term) {
            View::Input { input, element } => ((self.input)(input, element), Raised::NONE),
            View::Constant(_) | View::Apply(..) => step(self.store, term, &get),
        };
        if let Known::Float(set) = value
            && let Some(most) = self.most_of_part(term)?
        {
            let finite =
                self.operands(term).iter().all(|of| self.known_set(*of).is_some_and(FloatSet::is_finite));
            let plus = set.plus && (raised.division || !finite);
            value = Known::Float(FloatSet { plus, ..set.within(f64::NEG_INFINITY, most) });
            raised.overflow = false;
        }
        if let Known::Float(set) = value
            && self.is_below_maximum(term)?
        {
            value = Known::Float(set.within(f64::NEG_INFINITY, 0.0));
        }
        survey.undecided |= is_undecided(self.store, term, &|of| self.known.get(&of).copied());
        let operands: SmallVec<[FloatSet; 3]> =
            self.operands(term).iter().filter_map(|operand| self.known.get(operand)?.float()).collect();
        self.note(term, value, raised, operands, survey);
        Ok(value)
    }

    /// Notes what an operation gives.
    fn note(
        &self,
        term: TermId,
        value: Known,
        raised: Raised,
        operands: SmallVec<[FloatSet; 3]>,
        survey: &mut Survey,
    ) {
        let Known::Float(set) = value else { return };
        let key = key_of_term(self.store, term).filter(|key| key.op != IeeeOp::Number);
        let site = self.store.site(term).filter(|site| site.0 != u32::MAX);
        if let (Some(key), Some(site)) = (key, site) {
            let own = survey.values.entry(site).or_insert(SiteValues { key, set });
            own.set = own.set.or(set);
        }
        let operation = || key.map_or_else(|| "an operation that is not modelled".into(), IeeeKey::spelled);
        if let Some(key) = key {
            for (leaving, surely) in self.losses(term, key, set, &operands) {
                let own = survey.losses.entry((site, leaving)).or_insert_with(|| Departure {
                    leaving,
                    site,
                    operation: operation(),
                    operands: operands.clone(),
                    set,
                    surely: false,
                    root: self.root,
                });
                own.add(&operands, set, surely);
            }
        }
        let without_nan = operands.iter().all(|operand| !operand.nan);
        let finite = operands.iter().all(|operand| operand.is_finite());
        let surely = set.finite.is_none() && without_nan && (finite || !set.plus && !set.minus);
        for (leaving, may) in [
            (Leaving::Overflow, raised.overflow),
            (Leaving::Division, raised.division),
            (Leaving::Invalid, raised.invalid),
        ] {
            if !may {
                continue;
            }
            let surely = surely
                && match leaving {
                    Leaving::Overflow => !set.nan && !raised.division,
                    Leaving::Division => !set.nan && !raised.overflow,
                    Leaving::Invalid => !set.plus && !set.minus,
                    Leaving::Output | Leaving::Underflow | Leaving::Cancels => false,
                };
            let own = survey.departures.entry((site, leaving)).or_insert_with(|| Departure {
                leaving,
                site,
                operation: operation(),
                operands: operands.clone(),
                set,
                surely,
                root: self.root,
            });
            own.add(&operands, set, surely);
        }
    }
}

/// Whether a condition holds, if its range says so.
fn truth(range: Range) -> Option<bool> {
    if range.within(1, 1) {
        return Some(true);
    }
    range.within(0, 0).then_some(false)
}

/// Whether a term is a choice whose condition is not decided.
fn is_undecided(store: &Store, term: TermId, known: &dyn Fn(TermId) -> Option<Known>) -> bool {
    store.op(term) == Some(TermOp::Select) && {
        let condition = operands_of(store, term).first().and_then(|condition| known(*condition));
        condition.is_none_or(|condition| truth(condition.range()).is_none())
    }
}

/// The bits that integers between two bounds have in common.
fn with_common_bits(range: Range) -> Range {
    let (Some(low), Some(high)) = (range.low, range.high) else { return range };
    let (Ok(low), Ok(high), true) = (u64::try_from(low), u64::try_from(high), range.is_natural()) else {
        return range;
    };
    let differing = u64::MAX.checked_shr((low ^ high).leading_zeros()).unwrap_or(0);
    Range { ones: range.ones & (high | differing), sure: range.sure | (low & !differing), ..range }
}

/// What an operation gives, from what its operands may be.
fn step(store: &Store, term: TermId, get: &dyn Fn(TermId) -> Known) -> (Known, Raised) {
    let integers = |(low, high): (i128, i128)| {
        (Known::Int(with_common_bits(Range::whole(Some(low), Some(high)))), Raised::NONE)
    };
    let unknown = |format: Format| {
        let raised = Raised { overflow: true, invalid: true, division: false };
        (Known::Float(FloatSet::all(format)), raised)
    };
    if let Some(value) = store.as_ieee_number(term) {
        return (Known::Float(FloatSet::value(value)), Raised::NONE);
    }
    let op = match store.view(term) {
        View::Input { .. } => return unknown(Format::F64),
        View::Constant(constant) => {
            return match &constant.exact {
                Extended::Finite(number) if constant.literal.is_none() => {
                    (Known::Int(Range::number(number)), Raised::NONE)
                }
                Extended::Finite(_) | Extended::PosInf | Extended::NegInf => unknown(Format::F64),
            };
        }
        View::Apply(op, _) => op,
    };
    let operands = operands_of(store, term);
    let sets: SmallVec<[Known; 3]> = operands.iter().map(|operand| get(*operand)).collect();
    if let Some(key) = key_of_term(store, term) {
        let floats: Option<SmallVec<[FloatSet; 3]>> = sets.iter().map(|set| set.float()).collect();
        return match (key.op, floats) {
            (IeeeOp::Decode, _) => {
                let range = sets.first().map_or(Range::REAL, |set| set.range());
                match (range.low, range.high) {
                    (Some(low), Some(high)) if range.whole => {
                        (Known::Float(set::decoded(key.format, low, high)), Raised::NONE)
                    }
                    _ => (Known::Float(FloatSet::all(key.format)), Raised::NONE),
                }
            }
            (IeeeOp::FromInt, _) => {
                let range = sets.first().map_or(Range::REAL, |set| set.range());
                // Integers have at most 64 bits.
                let low = Rational::from_i128(range.low.unwrap_or(-(1 << 64)).max(-(1 << 64)));
                let high = Rational::from_i128(range.high.unwrap_or(1 << 64).min(1 << 64));
                match set::from_integers(key, &low, &high).filter(|_| range.whole) {
                    Some((set, raised)) => (Known::Float(set), raised),
                    None => unknown(key.format),
                }
            }
            (_, None) => unknown(key.format),
            (IeeeOp::Encode, Some(floats)) => integers(set::encodings(key.format, floats[0])),
            (IeeeOp::ToInt, Some(floats)) => integers(set::to_integers(key, floats[0])),
            (IeeeOp::Less | IeeeOp::LessEqual | IeeeOp::Equal | IeeeOp::Ordered, Some(floats)) => {
                let mut holds = set::compare(key, floats[0], floats[1]);
                // A number is never less than itself.
                if operands[0] == operands[1] && key.op == IeeeOp::Less {
                    holds = Some(false);
                }
                integers(holds.map_or((0, 1), |holds| (holds.into(), holds.into())))
            }
            (_, Some(floats)) => {
                let square = matches!(key.op, IeeeOp::Mul | IeeeOp::Fma) && operands[0] == operands[1];
                let (set, raised) = set::apply(key, &floats, square);
                (Known::Float(set), raised)
            }
        };
    }
    if op == TermOp::Select {
        let taken = truth(sets[0].range());
        return match taken {
            Some(true) => (sets[1], Raised::NONE),
            Some(false) => (sets[2], Raised::NONE),
            None => (sets[1].or(sets[2]), Raised::NONE),
        };
    }
    if sets.iter().any(|set| matches!(set, Known::Float(_))) {
        return unknown(Format::F64);
    }
    let condition = matches!(op.kind(), Kind::Condition(_));
    let one_bit = |set: &Known| set.range().within(0, 1);
    let logical = matches!(
        op.kind(),
        Kind::Condition(Predicate::Not | Predicate::And | Predicate::Or | Predicate::Xor)
    );
    if condition && logical && !sets.iter().all(one_bit) {
        return integers((0, 1));
    }
    let range = Range::of_operation(store, op, &operands, &|of| get(of).range());
    (Known::Int(with_common_bits(range)), Raised::NONE)
}
