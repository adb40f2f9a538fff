//! Cases with CTAs that do the same as others ([`crate::machine::Classes`]): which elements have to be decided for all
//! others to follow.
//!
//! On either side, the term of an element is that of an element which the first CTA of a class wrote, with inputs that
//! are some elements further on. If that is equally far on both sides, the equality is a translation of that of the
//! first CTAs, and holds for all inputs if that one does. So one element is decided for each pair of terms, and each
//! difference between how far the inputs of both are.

use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashMap;

use crate::base::budget::Budgets;
use crate::case::{Case, FormsWanted, KernelLaunch, Options, Param, Schedule, Side, Step};
use crate::conditions::{Conditions, Pair, Valued};
use crate::machine::{Classes, CtaOfClass, Execution, FEWEST_CTAS, Output, OutputValue, Steps};
use crate::term::{Store, Translation};
use crate::verdict::{Report, Verdict};
use crate::verify::{Verification, output_elements};

/// Whether CTAs of a case may be executed by classes: if a proof is all that is asked for.
fn may_be_by_classes(case: &Case) -> bool {
    let sides = || case.reference.iter().chain([&case.opt]);
    let kernel = |side: &Side| match side.steps.as_slice() {
        [Step::Launch(kernel)] => Some(product(kernel.launch.grid)),
        _ => None,
    };
    // Where one side has few CTAs, all of the other are executed, and what was executed before would be so twice.
    let are_many = sides().all(|side| kernel(side).is_some_and(|ctas| ctas >= FEWEST_CTAS));
    let has_iterations = sides().any(has_one_thread) && sides().all(|side| kernel(side).is_some());
    let options = &case.options;
    // A claim about bits tells no forms.
    let wants_forms = options.forms == FormsWanted::Always && !options.ieee;
    let is_plain =
        !(options.every_cta || options.every_element || options.exact_clocks || options.access_patterns)
            && options.shard.is_none()
            && !wants_forms
            && options.schedule == Schedule::InOrder;
    let is_plain = is_plain && !case.params.iter().any(Param::is_set);
    is_plain && (are_many || has_iterations)
}

fn product(extents: [u32; 3]) -> u64 {
    extents.iter().map(|extent| u64::from(*extent)).fold(1, u64::saturating_mul)
}

fn is_one_thread(kernel: &KernelLaunch) -> bool {
    product(kernel.launch.grid) == 1 && product(kernel.launch.block) == 1
}

/// Whether a side has a kernel of one thread, whose iterations run as CTAs: what is found then is not about the order in
/// which the thread executes them.
pub(crate) fn has_one_thread(side: &Side) -> bool {
    side.launches().any(|(_, kernel)| is_one_thread(kernel))
}

/// The outcome of a side with each of its CTAs, those of classes as translations of the first ones. `None` where not only
/// terms were kept, or beyond a limit of memory.
fn expanded(mut side: Execution, budgets: &Budgets) -> Option<Execution> {
    let Some(classes) = side.classes.take() else { return Some(side) };
    let mut own: FxHashMap<usize, Vec<Output>> = FxHashMap::default();
    for output in &side.outputs {
        own.entry(output.store).or_default().push(*output);
    }
    for (number, class) in classes.all.iter().enumerate() {
        let Some(store) = class.store else { continue };
        let outputs = own.get(&store).map(Vec::as_slice).unwrap_or_default();
        for cta in 1..class.extents.count() {
            let by = shift(&CtaOfClass { class, number, cta, first: 0, values: &[] });
            let moves = Translation::by(by.iter().map(|by| by.unwrap_or(0)));
            let moved = side.stores.get(store)?.translated(&moves)?;
            let at = side.stores.len();
            side.add_store(moved);
            for output in outputs {
                let element = output.element.checked_add_signed(by.get(output.param).copied().flatten()?)?;
                side.outputs.push(Output {
                    element,
                    store: at,
                    value: translated(output.value, &moves),
                    ..*output
                });
            }
            budgets.check_held(&side.held).ok()?;
        }
    }
    side.outputs.sort_unstable_by_key(|output| (output.param, output.element));
    Some(side)
}

fn translated(value: OutputValue, by: &Translation) -> OutputValue {
    match value {
        OutputValue::Real(term) => OutputValue::Real(by.moved(term)),
        OutputValue::Integer(term) => OutputValue::Integer(by.moved(term)),
        OutputValue::Bits(bits) => OutputValue::Bits(bits),
    }
}

/// How far the inputs of a CTA are from those of the first of its class, by parameter; `None` for those that it does not
/// access.
type Shift = Vec<Option<i64>>;

fn shift(cta: &CtaOfClass<'_>) -> Shift {
    let at = cta.class.extents.position(cta.cta);
    let by = |steps: &Steps| steps.iter().zip(at).map(|(step, at)| step * i64::from(at)).sum();
    cta.class.steps.iter().map(|steps| steps.as_ref().map(by)).collect()
}

/// How much further the inputs of one CTA are than those of another; 0 where only one has some.
fn between(one: &Shift, other: &Shift) -> Vec<i64> {
    one.iter()
        .zip(other)
        .map(|pair| if let (Some(one), Some(other)) = pair { other - one } else { 0 })
        .collect()
}

/// The stores of CTAs of a side that were not executed, by class and number.
#[derive(Default)]
struct Translated {
    stores: FxHashMap<(usize, u64), usize>,
}

impl Translated {
    /// A value that a CTA wrote: that of the first one in its class, translated.
    fn valued(
        &mut self,
        side: &mut Execution,
        (number, cta): (usize, u64),
        store: usize,
        by: &Shift,
        value: OutputValue,
    ) -> Option<Valued> {
        if cta == 0 {
            return Some(Valued { store: Some(store), value });
        }
        let by = Translation::by(by.iter().map(|by| by.unwrap_or(0)));
        let known = self.stores.get(&(number, cta)).copied();
        let at = match known {
            Some(at) => at,
            None => {
                let store: Store = side.stores.get(store)?.translated(&by)?;
                side.stores.push(store);
                self.stores.insert((number, cta), side.stores.len() - 1);
                side.stores.len() - 1
            }
        };
        Some(Valued { store: Some(at), value: translated(value, &by) })
    }
}

/// Translated stores are at most this part of a side's CTAs, or it does not pay.
const PART: u64 = 4;

/// The elements of one parameter that have to be decided: each with the CTAs that wrote it on both sides, and its place
/// among what each wrote.
struct Chosen<'c> {
    element: u64,
    ctas: [CtaOfClass<'c>; 2],
    places: [usize; 2],
}

/// The elements to decide of a parameter, in order, and how many were written. `None` if some element is written by one
/// side only.
fn chosen<'c>(param: usize, sides: [&'c Classes; 2]) -> Option<(Vec<Chosen<'c>>, u64)> {
    let [ours, theirs] = sides.map(|side| side.writers(param));
    let (ours, theirs) = match (ours, theirs) {
        (None, None) => return Some((Vec::new(), 0)),
        (Some(ours), Some(theirs)) if ours.len() == theirs.len() => (ours, theirs),
        _ => return None,
    };
    // By the classes of both sides and how far their inputs are apart, which elements of the first CTA have been chosen.
    let mut seen: FxHashMap<(usize, usize, Vec<i64>), Vec<bool>> = FxHashMap::default();
    let (mut chosen, mut written) = (Vec::new(), 0);
    let mut at = 0;
    while at < ours.len() {
        match (ours[at], theirs[at]) {
            (0, 0) => at += 1,
            (0, _) | (_, 0) => return None,
            (own, its) => {
                let ctas = [sides[0].origin(param, own)?, sides[1].origin(param, its)?];
                let shifts = [shift(&ctas[0]), shift(&ctas[1])];
                let key = (ctas[0].number, ctas[1].number, between(&shifts[0], &shifts[1]));
                let known = seen.entry(key).or_insert_with(|| vec![false; ctas[0].values.len()]);
                // All elements from here on that the same CTAs wrote.
                let place = |cta: &CtaOfClass<'_>, writer: u32| {
                    let place = writer.checked_sub(cta.first)? as usize;
                    (place < cta.values.len()).then_some(place)
                };
                while let Some((own, its)) = ours.get(at).zip(theirs.get(at))
                    && let (Some(own), Some(its)) = (place(&ctas[0], *own), place(&ctas[1], *its))
                {
                    if !std::mem::replace(&mut known[own], true) {
                        chosen.push(Chosen { element: at as u64, ctas, places: [own, its] });
                    }
                    written += 1;
                    at += 1;
                }
            }
        }
    }
    Some((chosen, written))
}

impl Verification<'_> {
    /// The report of a case with one CTA executed for all that do the same; `None` where all have to be executed.
    pub(crate) fn run_by_classes(&self) -> Option<Report> {
        if !may_be_by_classes(self.case) {
            return None;
        }
        let sides = Arc::clone(&self.sides);
        let mut run = Verification { by_classes: true, sides, ..Verification::new(self.case) };
        let is_whole = !self.case.reference.iter().chain([&self.case.opt]).any(has_one_thread);
        // What iterations of one thread are found to do as CTAs is no finding about the thread.
        let Some(outcomes) = run.execute() else { return is_whole.then_some(run.report) };
        let are_classes = |outcome: &Execution| outcome.classes.is_some();
        if is_whole && !outcomes.iter().any(are_classes) {
            return Some(run.compared(outcomes));
        }
        if is_whole || outcomes.iter().all(are_classes) {
            let started = Instant::now();
            let is_decided = run.decided_by_classes(outcomes);
            run.report.solve_seconds = started.elapsed().as_secs_f64();
            return is_decided.then_some(run.report);
        }
        let budgets = &self.case.options.budgets;
        let all: Option<Vec<Execution>> =
            outcomes.into_iter().map(|outcome| expanded(outcome, budgets)).collect();
        let report = run.compared(all?);
        let is_proof = report.verdict == self.proof();
        (is_proof && report.scope.domain.is_empty() && report.scope.more == 0).then_some(report)
    }

    /// The verdict of a case some CTAs of which were executed by classes, if it is a proof without conditions. False
    /// where it is not known: the elements then have to be decided one by one.
    fn decided_by_classes(&mut self, outcomes: Vec<Execution>) -> bool {
        match <[Execution; 2]>::try_from(outcomes) {
            Ok([reference, opt]) => self.pairs_by_classes(reference, opt).is_some(),
            Err(outcomes) => outcomes.iter().all(|opt| self.single_by_classes(opt).is_some()),
        }
    }

    fn is_unconditional(&self, verdict: &Verdict) -> Option<()> {
        let scope = &self.report.scope;
        (self.report.verdict == *verdict && scope.domain.is_empty() && scope.more == 0).then_some(())
    }

    fn pairs_by_classes(&mut self, mut reference: Execution, mut opt: Execution) -> Option<()> {
        let sides = [reference.classes.take()?, opt.classes.take()?];
        let mut translated = [Translated::default(), Translated::default()];
        let (mut pairs, mut total, mut all_written) = (Vec::new(), 0, 0);
        for (param, declared) in self.case.params.iter().enumerate() {
            let Some(elements) = output_elements(declared) else { continue };
            let (chosen, written) = chosen(param, [&sides[0], &sides[1]])?;
            if written < elements && self.must_be_written(declared) {
                return None;
            }
            total += elements;
            all_written += written;
            for Chosen { element, ctas, places } in chosen {
                let mut valued = [None; 2];
                for (at, side) in [&mut reference, &mut opt].into_iter().enumerate() {
                    let (cta, value) = (&ctas[at], ctas[at].values[places[at]]);
                    let by = shift(cta);
                    valued[at] =
                        translated[at].valued(side, (cta.number, cta.cta), cta.class.store?, &by, value);
                    if translated[at].stores.len() as u64 > sides[at].ctas / PART {
                        return None;
                    }
                }
                let [Some(reference), Some(opt)] = valued else { return None };
                pairs.push(Pair { param, element, reference, opt });
            }
        }
        let is_known = |pair: &Pair| matches!(pair.reference.value, OutputValue::Bits(_));
        let is_mixed = |pair: &Pair| is_known(pair) != matches!(pair.opt.value, OutputValue::Bits(_));
        if pairs.is_empty() || pairs.iter().any(is_mixed) || self.types_differ() && pairs.iter().any(is_known)
        {
            return None;
        }
        let terms = |side: &Execution| side.stores.iter().map(Store::bytes).sum::<u64>();
        let (mut ours, mut theirs) = (reference.held, opt.held);
        ours.terms = terms(&reference);
        theirs.terms = terms(&opt);
        let options = self.decide_options(ours.and(&theirs));
        let old = Store::new();
        let conditions = Conditions { inputs: self.inputs.clone(), options, reference, opt, old, pairs };
        if self.case.options.ieee {
            self.decide_bits(&conditions);
            self.is_unconditional(&self.proof())?;
        } else {
            self.prove_by_classes(&conditions)?;
            self.report.canonical_elements = Some(all_written);
        }
        self.report.coverage.total = total;
        self.report.coverage.unwritten = total - all_written;
        self.report.coverage.compared = all_written;
        Some(())
    }

    /// The verdict of a proof of what is claimed.
    fn proof(&self) -> Verdict {
        let Options { ieee, rules, .. } = &self.case.options;
        if *ieee { Verdict::Same(rules.claim) } else { Verdict::Equivalent }
    }

    fn prove_by_classes(&mut self, conditions: &Conditions) -> Option<()> {
        self.settle(conditions, false)?;
        self.is_unconditional(&Verdict::Equivalent)?;
        if self.case.options.recheck > 0 {
            self.recheck(conditions, self.case.options.recheck);
            self.is_unconditional(&Verdict::Equivalent)?;
        }
        Some(())
    }

    /// One kernel alone.
    fn single_by_classes(&mut self, opt: &Execution) -> Option<()> {
        let classes = opt.classes.as_ref()?;
        let (mut total, mut all_written) = (0, 0);
        for (param, declared) in self.case.params.iter().enumerate() {
            let Some(elements) = output_elements(declared) else { continue };
            let writers = classes.writers(param).unwrap_or_default();
            let written = writers.iter().filter(|writer| **writer != 0).count() as u64;
            if written < elements && self.must_be_written(declared) {
                return None;
            }
            total += elements;
            all_written += written;
        }
        self.report.verdict = Verdict::Clean;
        self.defined(opt);
        self.is_unconditional(&Verdict::Clean)?;
        self.report.coverage.total = total;
        self.report.coverage.unwritten = total - all_written;
        Some(())
    }

    /// Whether some tensor has elements of another type on either side.
    fn types_differ(&self) -> bool {
        self.case.params.iter().any(|param| {
            let [ours, theirs] = param.elements();
            ours != theirs
        })
    }
}
