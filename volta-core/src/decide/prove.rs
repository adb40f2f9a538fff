//! Decides one element: proved equal, refuted, or neither.
//!
//! The cheap stages of the prover come first: most pairs are equal, and equal lists of terms show it. Where they do
//! not, a pseudo-random point shows most differences before anything is multiplied out; then the expensive stages; then
//! the full search for a witness; then case analysis. A proof of equality holds where both sides are defined, so the
//! requirements of the partial operations (rule V8) are compared next: the optimized kernel's must follow from the
//! reference's, or they become conditions.

mod searches;
mod within;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use super::by_integers::{self, ByIntegers};
use super::counterexample::{QuickFilter, equal_at_all, refute, refute_further, refute_near, undefined_at};
use super::domain::Domains;
use super::evaluate::{leaves, walk};
use super::point::RISING;
use super::sweep::Sweep;
use super::witness::{Counterexample, element_name};
use super::{DecisionOptions, ElementPair, InputInfo, Sign, shared_forms};
use crate::algebra::{
    Analysis, CircuitSearch, Class, Equality, Hint, InputRange, Obligations, Prover, Reading, Requirement,
    Searched, Split, Stage, Stop, Tactic, TermRef,
};
use crate::base::budget::{Exhausted, Limit};
use crate::base::ration::Ration;
use crate::number::signs::Signs;
use crate::term::{InputId, Store, TermId};
use rustc_hash::FxHashMap;
use volta_case::Which;

/// Why an element was not proved equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The two sides differ at a point of the reference's domain.
    Different(Counterexample),
    /// One side has no value at any input (V6).
    Undefined {
        /// The side.
        side: Which,
        /// The reason.
        reason: String,
    },
    /// The budget of algebra is exhausted.
    Exhausted(Exhausted),
    /// Neither a proof nor a witness was found.
    Unknown {
        /// Why the search ended.
        reason: String,
    },
}

/// A proof for one element: the sides are equal where the reference is defined and the conditions hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    /// Requirements of the optimized kernel that do not follow from the reference's.
    pub conditions: Vec<Arc<str>>,
    /// The reference's domain: those of its requirements that are not proved to hold always.
    pub domain: Vec<Arc<str>>,
}

impl Proof {
    /// Whether the two sides are equal at all inputs.
    pub fn is_unconditional(&self) -> bool {
        self.conditions.is_empty() && self.domain.is_empty()
    }
}

/// A prover, and the obligations that it has read.
pub(super) struct Learned<'s> {
    prover: Prover<'s>,
    obligations: Obligations,
    /// The texts of requirements: elements of a row share theirs.
    texts: FxHashMap<Requirement, Arc<str>>,
}

/// What is known of an element before it is decided.
#[derive(Clone, Copy, Debug)]
pub struct ElementFacts {
    /// Whether the optimized kernel is known to be defined and equal wherever the reference is defined, as where both
    /// are the same operations on the same operands.
    pub equal: bool,
    /// Whether an element of its translation class is defined at some input.
    pub defined: bool,
}

/// Proves elements one after the other, each with the results of those before.
pub struct ElementProver<'s, 'i> {
    quick: Learned<'s>,
    /// For elements that the quick prover leaves open.
    thorough: Option<Learned<'s>>,
    /// Whether the last element needed the thorough prover.
    prefers_thorough: bool,
    /// Whether the thorough prover's lists have proved nothing where the quick one did not.
    needs_more_than_lists: bool,
    /// Of so many elements in a row, decisions have not shown that they are equal.
    undecided: u32,
    /// Of so many elements in a row, long searches by circuits have not shown it.
    unsearched: u32,
    /// Of so many elements in a row, values of integers have not shown it.
    unsplit: u32,
    /// Literals read by proofs that name intermediate values.
    swept: BTreeSet<Reading>,
    /// For elements whose equality needs a case analysis by the order of compared quantities.
    cases: Option<Prover<'s>>,
    /// Filters for the stores of the last element that needed them.
    screens: Option<Screens<'s, 'i>>,
    domains: Option<Domains<'s, 'i>>,
    inputs: &'i [InputInfo],
    options: &'i DecisionOptions,
    ration: Rc<Ration>,
}

/// After so many elements in a row that decisions leave open, others are not tried by them.
const MOST_UNDECIDED: u32 = 2;
/// Share (one in this many) of the remaining steps that a proof by case analysis may take.
const CASES_SHARE: u64 = 2;
/// Share (one in this many) of the remaining steps that is kept for the thorough prover.
const THOROUGH_SHARE: u64 = 4;

/// The points at which elements are evaluated: one of simple fractions, and one at which every element of a row is the
/// largest so far. The quick prover evaluates the second only where its first expansions prove nothing.
const SCREENS: [u32; 2] = [0, RISING];

/// Filters for two stores, one for each point that was asked for.
struct Screens<'s, 'i> {
    stores: [&'s Store; 2],
    filters: [Option<QuickFilter<'s, 'i>>; SCREENS.len()],
}

/// Share (one in this many) of the remaining steps that polynomials in tries may take.
const FORMS_SHARE: u64 = 8;

/// Steps spent on an element before sweeping names intermediate values: so many, or if that is more, so many for each of
/// its terms.
const FIRST_STEPS: u64 = 1 << 20;
const STEPS_A_TERM: u64 = 64;

/// Where lists alone prove nothing, the thorough prover's lists get this many times the steps that those of the quick
/// prover took, or these.
const THOROUGH_FACTOR: u64 = 16;
const FEW_STEPS: u64 = 1 << 16;

/// Terms of an element are counted up to here.
const MOST_COUNTED: usize = 1 << 24;

/// The largest number of steps for a normal form.
pub(super) const FORM_STEPS: u64 = 5_000_000;

/// The outcome of one stage.
enum Attempt {
    Equal,
    Open(String),
    FirstUndefined(String),
    SecondUndefined(String),
    /// Later stages would stop as well.
    Stopped(Stop),
}

impl Attempt {
    /// Whether another approach may decide it.
    fn is_open(&self) -> bool {
        match self {
            Attempt::Open(_) | Attempt::Stopped(Stop::Exhausted(_) | Stop::Unknown(_)) => true,
            Attempt::Equal
            | Attempt::FirstUndefined(_)
            | Attempt::SecondUndefined(_)
            | Attempt::Stopped(Stop::Missing | Stop::Undefined(_)) => false,
        }
    }
}

fn signs_of(sign: Sign) -> Signs {
    match sign {
        Sign::Any => Signs::ANY,
        Sign::Positive => Signs::POSITIVE,
        Sign::NonNegative => Signs::NOT_NEGATIVE,
        Sign::Negative => Signs::NEGATIVE,
        Sign::NonPositive => Signs::NEGATIVE | Signs::ZERO,
        Sign::Nonzero => Signs::NEGATIVE | Signs::POSITIVE,
    }
}

/// What the algebra may assume of the inputs.
pub(super) fn ranges(inputs: &[InputInfo]) -> Vec<InputRange> {
    let natural = |input: &InputInfo| input.integers.is_some_and(|of| of.least >= 0);
    let range = |input: &InputInfo| InputRange {
        signs: signs_of(input.sign) & if natural(input) { Signs::NOT_NEGATIVE } else { Signs::ANY },
        largest: input.largest(),
    };
    inputs.iter().map(range).collect()
}

impl<'s, 'i> ElementProver<'s, 'i> {
    /// A prover without results so far.
    pub fn new(
        inputs: &'i [InputInfo],
        options: &'i DecisionOptions,
        ration: Rc<Ration>,
    ) -> ElementProver<'s, 'i> {
        ElementProver {
            quick: Learned::new(inputs, &ration, false),
            thorough: None,
            prefers_thorough: false,
            needs_more_than_lists: false,
            undecided: 0,
            unsearched: 0,
            unsplit: 0,
            swept: BTreeSet::new(),
            cases: None,
            screens: None,
            domains: None,
            inputs,
            options,
            ration,
        }
    }

    /// Literals read as irrational constants so far.
    pub fn readings(&self) -> BTreeSet<Reading> {
        let learned = std::iter::once(&self.quick).chain(&self.thorough).map(|learned| &learned.prover);
        let read = learned.chain(&self.cases).flat_map(|prover| prover.readings());
        read.chain(&self.swept).copied().collect()
    }

    /// Decides one element.
    pub fn decide(
        &mut self,
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        known: ElementFacts,
    ) -> Result<Proof, Failure> {
        let mut result =
            if known.equal { self.where_defined(element, analysis) } else { self.equal(element, analysis) };
        if !known.defined
            && let Ok(proof) = result
        {
            result = self.with_domain(element, analysis, proof);
        }
        let learned = std::iter::once(&mut self.quick).chain(&mut self.thorough);
        let provers = learned.map(|learned| &mut learned.prover).chain(&mut self.cases);
        provers.for_each(Prover::settle_account);
        result
    }

    /// Decides whether both sides of an element are equal wherever they are defined.
    fn equal(&mut self, element: &ElementPair<'s>, analysis: [&'s Analysis; 2]) -> Result<Proof, Failure> {
        match self.climb(element, analysis) {
            Err(failure @ (Failure::Exhausted(_) | Failure::Unknown { .. })) => {
                let (inputs, effort) = (self.inputs, &self.options.effort);
                match refute_further(element.reference, element.opt, inputs, effort) {
                    Some(witness) => Err(Failure::Different(witness)),
                    None => Err(self.also_undefined(element, failure)),
                }
            }
            decided @ (Ok(_) | Err(Failure::Different(_) | Failure::Undefined { .. })) => decided,
        }
    }

    /// Tells of inputs at which only the reference has a value, where neither equality nor a difference was found.
    fn also_undefined(&self, element: &ElementPair<'s>, failure: Failure) -> Failure {
        let Failure::Unknown { reason } = failure else { return failure };
        let (inputs, effort) = (self.inputs, &self.options.effort);
        let reason = match undefined_at(element.reference, element.opt, inputs, effort) {
            Some(at) => {
                format!("{reason}; the optimized kernel has no value, and the reference has one, at {at}")
            }
            None => reason,
        };
        Failure::Unknown { reason }
    }

    /// The proof of an element whose optimized kernel is defined and equal wherever the reference is defined.
    fn where_defined(
        &mut self,
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
    ) -> Result<Proof, Failure> {
        let [reference, _] = self.quick.terms(element, analysis);
        let mut found = self.quick.requirements(reference, Which::Reference);
        let mut learned = &mut self.quick;
        if let Err(Failure::Exhausted(_) | Failure::Unknown { .. }) = found {
            learned.prover.settle_account();
            learned = thorough(&mut self.thorough, self.inputs, &self.ration);
            learned.prover.set_budget(self.ration.left());
            let [reference, _] = learned.terms(element, analysis);
            found = learned.requirements(reference, Which::Reference);
        }
        let domain = match found {
            Ok(domain) => learned.texts(&domain, self.inputs),
            Err(undefined @ Failure::Undefined { .. }) => return Err(undefined),
            // Both sides are the same there, wherever it is.
            Err(_) => vec![self.has_a_value(element.reference).into()],
        };
        Ok(Proof { conditions: Vec::new(), domain })
    }

    /// The description of a domain that was not computed.
    fn has_a_value(&self, (store, term): (&Store, TermId)) -> String {
        let first = leaves([(store, term), (store, term)], self.options.effort.remembered)
            .and_then(|leaves| leaves.inputs.first().copied());
        let of = first.map(|(input, element)| {
            format!(" of {} and others", element_name(self.inputs.get(input.index()), input, element))
        });
        format!("the computation{} has a value (its domain was not determined)", of.unwrap_or_default())
    }

    /// Checks that a proof is not vacuous: that there are inputs at which the reference is defined, and the optimized
    /// kernel as well where it requires more.
    fn with_domain(
        &mut self,
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        mut proof: Proof,
    ) -> Result<Proof, Failure> {
        let [reference, _] = self.quick.terms(element, analysis);
        let class = self.quick.prover.class(reference);
        let known = matches!(class, Ok(Class::Finite | Class::PosInf | Class::NegInf));
        if known && proof.is_unconditional() {
            return Ok(proof);
        }
        if !known && proof.domain.is_empty() {
            proof.domain.push(self.has_a_value(element.reference).into());
        }
        let beside = (!proof.conditions.is_empty()).then_some(element.opt);
        let domains = self.domains.get_or_insert_with(|| Domains::new(self.inputs, &self.options.effort));
        if domains.has_point(element.reference, beside) {
            return Ok(proof);
        }
        let what = if beside.is_some() { "both kernels are" } else { "the reference is" };
        let mut reason = format!("no input was found at which {what} defined");
        if let Ok(Class::Undefined(why)) = class {
            return Err(Failure::Undefined { side: Which::Reference, reason: why.to_string() });
        }
        let (inputs, ration) = (self.inputs, &self.ration);
        let cases =
            self.cases.get_or_insert_with(|| drawing(Prover::new(ranges(inputs), Tactic::THOROUGH), ration));
        cases.set_budget(ration.left() / CASES_SHARE);
        let [reference, _] = terms_of(cases, element, analysis);
        match cases.undefined_by_cases(reference) {
            Ok(Split::Equal) => {
                let reason = format!("its requirements contradict each other: {}", proof.domain.join(", "));
                return Err(Failure::Undefined { side: Which::Reference, reason });
            }
            Ok(Split::Open { hints, .. }) if beside.is_none() => {
                let near = |hint: &Hint| domains.has_point_near(element.reference, hint);
                if hints.iter().any(near) {
                    return Ok(proof);
                }
            }
            Ok(Split::Open { .. }) => {}
            Err(Stop::Exhausted(exhausted)) => return Err(Failure::Exhausted(exhausted)),
            Err(stop) => reason = format!("{reason}: {stop}"),
        }
        Err(Failure::Unknown { reason })
    }

    /// Decides one element by its normal forms.
    fn climb(&mut self, element: &ElementPair<'s>, analysis: [&'s Analysis; 2]) -> Result<Proof, Failure> {
        let (inputs, options) = (self.inputs, self.options);
        // What a search has found or not, another one would.
        let searched = OnceCell::new();
        let search = || refute(element.reference, element.opt, inputs, &options.effort);
        let refute = || searched.get_or_init(search).clone();
        let mut searching = None;
        if !self.prefers_thorough {
            let result = self.attempt(element, analysis, &refute, &mut searching, false);
            let settled = match &result {
                Ok(proof) => proof.conditions.is_empty(),
                Err(Failure::Different(_) | Failure::Undefined { .. }) => true,
                Err(Failure::Exhausted(exhausted)) => exhausted.limit.is_none(),
                Err(Failure::Unknown { .. }) => false,
            };
            if settled || self.quick.prover.is_thorough() {
                return result;
            }
        }
        let result = self.attempt(element, analysis, &refute, &mut searching, true);
        self.prefers_thorough = result.is_ok();
        result
    }

    /// Runs the stages with one of the provers. `refute` searches for a witness.
    fn attempt(
        &mut self,
        element: &ElementPair<'s>,
        analysis: [&'s Analysis; 2],
        refute: &dyn Fn() -> Option<Counterexample>,
        searching: &mut Option<CircuitSearch>,
        thorough: bool,
    ) -> Result<Proof, Failure> {
        let (inputs, options, ration) = (self.inputs, self.options, &self.ration);
        let (learned, other) = if thorough {
            self.quick.prover.settle_account();
            (self::thorough(&mut self.thorough, inputs, ration), None)
        } else {
            (&mut self.quick, Some(&mut self.thorough))
        };
        let kept = if thorough { 0 } else { ration.left() / THOROUGH_SHARE };
        let steps_left = || ration.left() - kept.min(ration.left());
        learned.prover.set_budget(if thorough { steps_left() } else { steps_left().min(FIRST_STEPS) });
        let [reference, opt] = learned.terms(element, analysis);
        let has_choices = learned.prover.is_choice_above([reference, opt]);
        let mut hint = None;
        if has_choices && !thorough && self.undecided < MOST_UNDECIDED {
            match learned.decides(searching, [reference, opt]) {
                Searched::Equal => {
                    self.undecided = 0;
                    return learned.proof([reference, opt], inputs, steps_left());
                }
                Searched::Apart(values) => hint = Some(values),
                Searched::Open => {}
            }
            self.undecided += 1;
            learned.prover.settle_account();
            learned.prover.set_budget(steps_left().min(FIRST_STEPS));
        }
        let near = |hint: Hint| refute_near(element.reference, element.opt, inputs, &options.effort, hint);
        let screens = &mut self.screens;
        let mut refuted = |points| {
            let differs = differs(screens, element, points, inputs, options);
            if differs { refute().map(Failure::Different) } else { None }
        };
        let (mut unproved, mut taken) = (learned.climb(reference, opt, Stage::Lists), 0);
        if !thorough && let Attempt::Stopped(Stop::Exhausted(_)) = unproved {
            // A long row takes more steps without being difficult.
            let steps = STEPS_A_TERM * terms_below(element);
            if steps > FIRST_STEPS {
                taken = learned.prover.steps();
                learned.prover.set_budget(steps_left().min(steps));
                unproved = learned.climb(reference, opt, Stage::Lists);
            }
        }
        taken += learned.prover.steps();
        if unproved.is_open() {
            let points = if thorough { 0..SCREENS.len() } else { 0..1 };
            if let Some(different) = refuted(points) {
                return Err(different);
            }
            if let Some(witness) = hint.and_then(near) {
                return Err(Failure::Different(witness));
            }
            if !thorough {
                let bytes = options.budgets[Limit::MemoryBytes].saturating_sub(options.held.total());
                let (is_equal, steps) =
                    shared_forms::is_equal(element, analysis, steps_left() / FORMS_SHARE, bytes);
                ration.take(steps);
                if is_equal {
                    learned.prover.settle_account();
                    return Ok(Proof::default());
                }
            }
            if let Attempt::Open(_) = unproved {
                unproved = learned.climb(reference, opt, Stage::Expansions);
            }
        }
        if !thorough && unproved.is_open() {
            if let Some(different) = refuted(1..SCREENS.len()) {
                return Err(different);
            }
            learned.prover.settle_account();
            if let Some(other) = other.filter(|_| !learned.is_thorough() && !self.needs_more_than_lists) {
                // What the thorough prover has brought to normal form for one element of a row, it finds again for the
                // others.
                let left = steps_left();
                let thorough = self::thorough(other, inputs, ration);
                thorough.prover.set_budget(left.min(THOROUGH_FACTOR * taken.max(FEW_STEPS)));
                let [reference, opt] = thorough.terms(element, analysis);
                if let Attempt::Equal = thorough.climb(reference, opt, Stage::Lists) {
                    self.prefers_thorough = true;
                    return thorough.proof([reference, opt], inputs, left);
                }
                thorough.prover.settle_account();
                self.needs_more_than_lists = true;
            }
            if let Some(read) = Sweep::proves(element, analysis, inputs, options, ration) {
                self.swept.extend(read);
                return self.where_defined(element, analysis);
            }
            if let Attempt::Stopped(_) = unproved {
                // Far cheaper than the steps that are left.
                if let Some(witness) = refute() {
                    return Err(Failure::Different(witness));
                }
                learned.prover.set_budget(steps_left());
                unproved = learned.climb(reference, opt, Stage::Lists);
                if let Attempt::Open(_) = unproved {
                    unproved = learned.climb(reference, opt, Stage::Expansions);
                }
            }
        }
        let is_last = thorough || learned.prover.is_thorough();
        let refute = || if is_last { refute() } else { None };
        if is_last && unproved.is_open() && self.unsplit < MOST_UNDECIDED {
            if let Some(witness) = refute() {
                return Err(Failure::Different(witness));
            }
            learned.prover.settle_account();
            match by_integers::prove(element, inputs, ration) {
                ByIntegers::Equal(read) => {
                    self.unsplit = 0;
                    self.swept.extend(read);
                    return learned.proof([reference, opt], inputs, steps_left());
                }
                ByIntegers::Open(hint) => {
                    self.unsplit += 1;
                    if let Some(witness) = near(hint) {
                        return Err(Failure::Different(witness));
                    }
                }
                ByIntegers::Unsuitable => {}
            }
        }
        let is_searched = is_last && has_choices && unproved.is_open() && self.unsearched < MOST_UNDECIDED;
        if is_searched {
            if let Some(witness) = refute() {
                return Err(Failure::Different(witness));
            }
            learned.prover.settle_account();
            if equal_at_all(element.reference, element.opt, inputs, &options.effort) {
                return Ok(Proof::default());
            }
            match learned.search(searching, [reference, opt], steps_left()) {
                Ok(Searched::Equal) => {
                    self.unsearched = 0;
                    return learned.proof([reference, opt], inputs, steps_left());
                }
                Ok(Searched::Apart(hint)) => {
                    if let Some(witness) = near(hint) {
                        return Err(Failure::Different(witness));
                    }
                }
                Ok(Searched::Open) | Err(_) => {}
            }
            self.unsearched += 1;
        }
        match unproved {
            Attempt::Equal => learned.proof([reference, opt], inputs, steps_left()),
            Attempt::FirstUndefined(reason) => Err(Failure::Undefined { side: Which::Reference, reason }),
            Attempt::SecondUndefined(reason) => {
                // The reference may be undefined as well, which only its requirements show.
                learned.requirements(reference, Which::Reference)?;
                Err(Failure::Undefined { side: Which::Opt, reason })
            }
            Attempt::Open(_) if is_last => {
                if let Some(witness) = refute() {
                    return Err(Failure::Different(witness));
                }
                learned.prover.settle_account();
                if !is_searched && equal_at_all(element.reference, element.opt, inputs, &options.effort) {
                    return Ok(Proof::default());
                }
                if is_one_product(element, analysis, inputs, ration) {
                    return learned.proof([reference, opt], inputs, steps_left());
                }
                let cases = self
                    .cases
                    .get_or_insert_with(|| drawing(Prover::new(ranges(inputs), Tactic::THOROUGH), ration));
                cases.set_budget(ration.left() / CASES_SHARE);
                let [first, second] = terms_of(cases, element, analysis);
                match cases.equal_by_cases(first, second) {
                    Ok(Split::Equal) => {
                        cases.settle_account();
                        learned.proof([reference, opt], inputs, steps_left())
                    }
                    Ok(Split::Open { hints, reason }) => {
                        let witness = hints.into_iter().find_map(near);
                        Err(witness.map_or(Failure::Unknown { reason }, Failure::Different))
                    }
                    Err(Stop::Exhausted(exhausted)) => Err(Failure::Exhausted(exhausted)),
                    Err(stop) => Err(Failure::Unknown { reason: stop.to_string() }),
                }
            }
            Attempt::Open(reason) => Err(Failure::Unknown { reason }),
            Attempt::Stopped(Stop::Unknown(reason)) => {
                Err(refute().map_or(Failure::Unknown { reason }, Failure::Different))
            }
            Attempt::Stopped(stop) => Err(match (refute(), stop) {
                (Some(witness), _) => Failure::Different(witness),
                (None, Stop::Exhausted(exhausted)) => Failure::Exhausted(exhausted),
                (None, stop) => Failure::Unknown { reason: stop.to_string() },
            }),
        }
    }
}

/// The number of terms that an element is computed from.
fn terms_below(element: &ElementPair<'_>) -> u64 {
    let mut count = 0;
    for (store, root) in [element.reference, element.opt] {
        walk(store, &[root], MOST_COUNTED, |_| count += 1);
    }
    count
}

/// The thorough prover, created on first use.
fn thorough<'s, 'l>(
    known: &'l mut Option<Learned<'s>>,
    inputs: &[InputInfo],
    ration: &Rc<Ration>,
) -> &'l mut Learned<'s> {
    known.get_or_insert_with(|| Learned::new(inputs, ration, true))
}

/// Whether the two sides certainly differ at one of these points.
fn differs<'s, 'i>(
    screens: &mut Option<Screens<'s, 'i>>,
    element: &ElementPair<'s>,
    points: Range<usize>,
    inputs: &'i [InputInfo],
    options: &DecisionOptions,
) -> bool {
    let stores = [element.reference.0, element.opt.0];
    let same =
        |known: &Screens| known.stores.iter().zip(stores).all(|(known, store)| std::ptr::eq(*known, store));
    let known = screens.take().filter(same);
    let screens = screens.insert(known.unwrap_or(Screens { stores, filters: SCREENS.map(|_| None) }));
    let remembered = options.effort.remembered / SCREENS.len();
    points.into_iter().any(|at| {
        let new = || QuickFilter::new(stores[0], stores[1], inputs, SCREENS[at], remembered);
        screens.filters[at].get_or_insert_with(new).differs(element.reference.1, element.opt.1)
    })
}

/// A prover that draws from a ration.
pub(super) fn drawing<'s>(mut prover: Prover<'s>, ration: &Rc<Ration>) -> Prover<'s> {
    prover.draw_from(ration);
    prover
}

/// Whether both sides are products of the same factors, which the other provers have multiplied out in groups.
fn is_one_product(
    element: &ElementPair<'_>,
    analysis: [&Analysis; 2],
    inputs: &[InputInfo],
    ration: &Rc<Ration>,
) -> bool {
    let mut prover = drawing(Prover::new(ranges(inputs), Tactic::FACTORING), ration);
    prover.set_budget(ration.left() / CASES_SHARE);
    let [reference, opt] = terms_of(&mut prover, element, analysis);
    prover.equal(reference, opt, Stage::Lists) == Ok(Equality::Equal)
}

/// The two sides of an element, as references of a prover.
pub(super) fn terms_of<'s>(
    prover: &mut Prover<'s>,
    element: &ElementPair<'s>,
    analysis: [&'s Analysis; 2],
) -> [TermRef; 2] {
    let sides = [element.reference, element.opt];
    std::array::from_fn(|side| {
        let (store, term) = sides[side];
        TermRef { store: prover.add_store(store, analysis[side]), term }
    })
}

impl<'s> Learned<'s> {
    /// A prover without results so far, thorough or not.
    pub(super) fn new(inputs: &[InputInfo], ration: &Rc<Ration>, thorough: bool) -> Learned<'s> {
        let tactic = if thorough { Tactic::THOROUGH } else { Tactic::QUICK };
        let prover = Prover::new(ranges(inputs), tactic);
        Learned {
            prover: drawing(prover, ration),
            obligations: Obligations::default(),
            texts: FxHashMap::default(),
        }
    }

    /// Whether a thorough prover would prove nothing more.
    pub(super) fn is_thorough(&self) -> bool {
        self.prover.is_thorough()
    }

    /// Literals read as irrational constants so far.
    pub(super) fn readings(&self) -> impl Iterator<Item = Reading> {
        self.prover.readings().iter().copied()
    }

    /// Settles the steps taken with the ration; returns them.
    pub(super) fn settle(&mut self) -> u64 {
        self.prover.settle_account();
        self.prover.steps()
    }

    fn terms(&mut self, element: &ElementPair<'s>, analysis: [&'s Analysis; 2]) -> [TermRef; 2] {
        terms_of(&mut self.prover, element, analysis)
    }

    /// Runs one stage of the pipeline.
    fn climb(&mut self, reference: TermRef, opt: TermRef, stage: Stage) -> Attempt {
        match self.prover.equal(reference, opt, stage) {
            Ok(Equality::Equal) => Attempt::Equal,
            Ok(Equality::Open(reason)) => Attempt::Open(reason),
            Ok(Equality::FirstUndefined(reason)) => Attempt::FirstUndefined(reason),
            Ok(Equality::SecondUndefined(reason)) => Attempt::SecondUndefined(reason),
            Err(stop) => Attempt::Stopped(stop),
        }
    }

    fn requirements(&mut self, at: TermRef, side: Which) -> Result<Vec<Requirement>, Failure> {
        self.prover.requirements(&mut self.obligations, at).map_err(|stop| match stop {
            Stop::Undefined(reason) => Failure::Undefined { side, reason },
            Stop::Exhausted(exhausted) => Failure::Exhausted(exhausted),
            Stop::Missing | Stop::Unknown(_) => Failure::Unknown { reason: stop.to_string() },
        })
    }

    /// The proof of an element whose sides are equal, with `steps` for what both require.
    fn proof(
        &mut self,
        [reference, opt]: [TermRef; 2],
        inputs: &[InputInfo],
        steps: u64,
    ) -> Result<Proof, Failure> {
        self.prover.settle_account();
        self.prover.set_budget(steps);
        let (extra, domain) = self.compare_requirements(reference, opt)?;
        Ok(Proof { conditions: self.texts(&extra, inputs), domain: self.texts(&domain, inputs) })
    }

    /// What the optimized kernel requires beyond the reference, and what the reference does.
    fn compare_requirements(
        &mut self,
        reference: TermRef,
        opt: TermRef,
    ) -> Result<(Vec<Requirement>, Vec<Requirement>), Failure> {
        let domain = self.requirements(reference, Which::Reference)?;
        let own = self.requirements(opt, Which::Opt)?;
        let mut extra = Vec::new();
        // In each order of the compared quantities.
        for requirement in self.prover.additional((reference, &domain), own) {
            let operand = self.obligations.operand(&requirement);
            let met = operand.map(|operand| self.prover.met_by_cases(&requirement, operand, reference));
            match met {
                Some(Ok(true)) => {}
                Some(Err(Stop::Exhausted(exhausted))) => return Err(Failure::Exhausted(exhausted)),
                None | Some(Ok(false) | Err(Stop::Missing | Stop::Undefined(_) | Stop::Unknown(_))) => {
                    extra.push(requirement);
                }
            }
        }
        Ok((extra, domain))
    }

    fn texts(&mut self, requirements: &[Requirement], inputs: &[InputInfo]) -> Vec<Arc<str>> {
        let names = |input: InputId, element: u64| element_name(inputs.get(input.index()), input, element);
        let Learned { prover, texts, .. } = self;
        let text = |requirement: &Requirement| {
            let text = || prover.requirement_text(requirement, &names).into();
            texts.entry(requirement.clone()).or_insert_with(text).clone()
        };
        requirements.iter().map(text).collect()
    }
}
