//! Runs a CTA once for the inputs that fulfil a condition, and once for the others, where the condition decides who meets
//! others (rule S1), and merges what the runs leave.

use super::footprint::imported;
use super::modes::run_about;
use super::output::{IN_PART, Lost, OutputValue, value_before};
use super::ran::{CtaRun, Ran, Unwritten};
use crate::launch::objects::PAGE;
use crate::launch::tensor::{ElementAt, Tensor};
use crate::machine::cta::work::{Beside, Taken};
use crate::machine::group::context::Context;
use crate::machine::group::possible::InCases;
use crate::machine::group::premises::{Fork, Premises};
use crate::machine::group::stop::Stop;
use crate::machine::memory::contents::{Contribution, Page, Placed};
use crate::machine::memory::perhaps::{How, Perhaps, PerhapsOfCta};
use crate::number::Rational;
use crate::program::{InstId, Update};
use crate::term::{Congruence, Imported, Ranges, Store, TermId, TermOp};
use crate::value::guard::{Guards, Terms};
use crate::value::int_terms::{IntTerms, exactly};
use crate::value::masks::Masks;
use crate::value::packed::PackedValues;
use crate::value::{Sym, SymKind, Value};
use crate::verdict::FaultKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A CTA runs at most so often.
const MOST_RUNS: usize = 128;

/// No further condition is followed where so many threads decide for themselves: each has two cases.
const MOST_DECIDING: usize = 7;

/// After so many cases with a fault, of which none may be certain, no other case is looked at.
const MOST_FAULTS: usize = 2;

/// No further condition is followed after so many warp instructions of all runs.
const MOST_INSTRUCTIONS: u64 = 1 << 24;

/// Runs a CTA for all inputs.
pub(super) fn run_in_cases(context: Context<'_>, beside: Beside<'_>) -> CtaRun {
    let mut cases = Cases { context, beside, forks: 0, faults: 0, taken: Taken::default() };
    let mut run = cases.run(&Arc::default());
    run.taken = cases.taken;
    run
}

struct Cases<'a> {
    context: Context<'a>,
    beside: Beside<'a>,
    /// The number of conditions so far, one less than of the runs that they need.
    forks: usize,
    /// The number of cases with a fault.
    faults: usize,
    /// What all runs took.
    taken: Taken,
}

impl Cases<'_> {
    /// Runs the CTA for the inputs that fulfil some premises.
    fn run(&mut self, premises: &Arc<Premises>) -> CtaRun {
        let instructions = self.beside.instructions + self.taken.instructions;
        let beside = Beside { instructions, ..self.beside };
        let mut run = run_about(self.context, premises, beside);
        self.taken.instructions += run.taken.instructions;
        if self.taken.held.total() < run.taken.held.total() {
            self.taken.held = run.taken.held;
        }
        let fork = match std::mem::replace(&mut run.done, Err(Stop::NeedVectorClocks)) {
            Err(Stop::Fork(fork)) => fork,
            done => return CtaRun { done, ..run },
        };
        self.forks += 1;
        let is_long = self.taken.instructions > MOST_INSTRUCTIONS;
        // What two threads do differently is found soonest where the conditions of neighbours differ.
        let first = !premises.newest_holds().unwrap_or(false);
        let own = [first, !first].map(|holds| Arc::new(premises.and(&fork, holds)));
        let are_many = self.forks >= MOST_RUNS || own[0].deciding() > MOST_DECIDING;
        if self.context.launch.overlaps || are_many || is_long {
            run.done = Err(self.too_many(*fork));
            return run;
        }
        let mut done = Vec::with_capacity(2);
        for premises in &own {
            let other = self.run(premises);
            run.relied.merge(other.relied);
            run.raced = other.raced;
            match (other.done, &mut run.done) {
                (Ok(ran), _) => done.push(ran),
                // Another case may show a fault for certain.
                (Err(Stop::Possible(new)), Err(Stop::Possible(found))) => {
                    found.append(*new);
                }
                (Err(stop @ Stop::Possible(_)), _) => {
                    run.done = Err(stop);
                    self.faults += 1;
                    if self.faults >= MOST_FAULTS || self.context.options.only_clean {
                        return run;
                    }
                }
                (Err(_), Err(Stop::Possible(_))) => {}
                (Err(stop), _) => {
                    run.done = Err(stop);
                    return run;
                }
            }
        }
        if let Err(Stop::Possible(_)) = run.done {
            return run;
        }
        if !first {
            done.reverse();
        }
        let [holding, failing] = if first { [&own[0], &own[1]] } else { [&own[1], &own[0]] };
        if let Some((other, one)) = done.pop().zip(done.pop()) {
            let mut merging = Merging {
                context: self.context,
                premises: [holding, failing],
                runs: [one.premises.clone(), other.premises.clone()],
                known: Imported::default(),
            };
            run.done = merging.merged(one, other, *fork);
        }
        run
    }

    fn too_many(&self, fork: Fork) -> Stop {
        let mut fault = fork.fault;
        if !self.context.launch.overlaps {
            let (cases, executed) = (self.forks, self.taken.instructions);
            fault.message.push_str(&format!(
                "; in {cases} cases that inputs decide, {executed} instructions of a block were executed, and there are more"
            ));
        }
        Stop::Fault(Box::new(fault))
    }
}

/// What is needed to merge two runs: of the inputs for which a condition holds, and of those for which it does not.
struct Merging<'a> {
    context: Context<'a>,
    premises: [&'a Arc<Premises>; 2],
    /// What the runs of each were about.
    runs: [Vec<Arc<Premises>>; 2],
    /// What was copied from the store of the second run to that of the first.
    known: Imported,
}

/// An element of an output, by its parameter and number.
type Element = (usize, u64);

impl Merging<'_> {
    fn merged(&mut self, mut one: Ran, mut other: Ran, fork: Fork) -> Result<Ran, Stop> {
        let are_followed =
            one.bags.is_empty() && other.bags.is_empty() && one.overlap.is_none() && other.overlap.is_none();
        let Some(condition) =
            self.premises[0].literals_in(&mut one.store).last().map(|literal| literal.condition)
        else {
            return Err(Stop::Defect("a case without a condition"));
        };
        let contributions = self.contributions(condition, &mut one, &other).filter(|_| are_followed);
        let Some(contributions) = contributions else { return Err(Stop::Fault(Box::new(fork.fault))) };
        one.contributions = contributions;
        if self.context.launch.clusters.len() > 1 {
            self.accesses(&mut one, &other);
        }
        if one.unwritten.is_none()
            && let Some(Unwritten { place, mut possible }) = other.unwritten.take().map(|own| *own)
        {
            possible.when = possible.when.map(|when| one.store.import(&other.store, when, &mut self.known));
            one.unwritten = Some(Box::new(Unwritten { place, possible }));
        }
        self.outputs(condition, &mut one, &other)?;
        one.premises.extend(other.premises);
        one.written_variables.extend(other.written_variables);
        one.counts.add(&other.counts);
        one.exact |= other.exact;
        if let (Some(own), Some(other)) = (&mut one.patterns, &other.patterns) {
            own.merge(other);
        }
        Ok(one)
    }

    /// The atomic updates of both runs; `None` where one may not be left out.
    fn contributions(
        &mut self,
        condition: TermId,
        one: &mut Ran,
        other: &Ran,
    ) -> Option<Vec<Placed<Contribution>>> {
        let mut all: BTreeMap<(u32, u64), [Option<Contribution>; 2]> = BTreeMap::new();
        for (place, own) in one.contributions.drain(..) {
            all.entry(place).or_default()[0] = Some(own);
        }
        for (place, own) in &other.contributions {
            let sum = imported(&mut one.store, &other.store, own.sum, &mut self.known);
            all.entry(*place).or_default()[1] = Some(Contribution { kinds: own.kinds.clone(), sum });
        }
        let merge = |(place, both): ((u32, u64), [Option<Contribution>; 2])| {
            let kinds = &both.iter().flatten().next()?.kinds;
            if both.iter().flatten().any(|own| own.kinds != *kinds) {
                return None;
            }
            let [kind] = kinds.as_slice() else { return None };
            let update = kind.update;
            let mut sums = [Value::Bits(0); 2];
            for (sum, own) in sums.iter_mut().zip(&both) {
                *sum = match own {
                    Some(own) => own.sum,
                    None => Value::Bits(update.neutral()?),
                };
            }
            let sum = chosen(&mut one.store, condition, update, sums)?;
            Some((place, Contribution { kinds: kinds.clone(), sum }))
        };
        all.into_iter().map(merge).collect()
    }

    /// The accesses to global memory: those that only one run makes happen under its premises.
    fn accesses(&mut self, one: &mut Ran, other: &Ran) {
        let (mut congruence, mut guards) = (Congruence::default(), Guards::new(Vec::new(), false));
        let [holding, failing] = self.premises.map(|premises| {
            let literals = premises.literals_in(&mut one.store);
            guards.where_all(Terms { store: &mut one.store, congruence: &mut congruence }, &literals)
        });
        let mut perhaps = PerhapsOfCta::default();
        let mut pages: BTreeMap<(u32, u64), [Option<Box<Page>>; 2]> = BTreeMap::new();
        for (place, page) in one.pages.drain(..) {
            pages.entry(place).or_default()[0] = Some(page);
        }
        let theirs: BTreeMap<(u32, u64), &Page> =
            other.pages.iter().map(|(at, page)| (*at, &**page)).collect();
        for place in theirs.keys() {
            pages.entry(*place).or_default();
        }
        let accessed = |page: Option<&Page>, slot: usize| {
            page.map_or([0; 3], |page| [page.read[slot], page.written[slot], page.updated[slot]])
        };
        for ((tensor, number), [own, _]) in pages {
            let their = theirs.get(&(tensor, number)).copied();
            let mut own = own;
            for slot in 0..PAGE {
                let cell = (tensor, number * PAGE as u64 + slot as u64);
                let (here, there) = (accessed(own.as_deref(), slot), accessed(their, slot));
                for (at, how) in [How::Reads, How::Writes, How::Updates].into_iter().enumerate() {
                    let both = here[at] & there[at];
                    for (guard, bytes) in [(holding, here[at] & !both), (failing, there[at] & !both)] {
                        if bytes != 0 {
                            perhaps.note(cell, Perhaps { guard, bytes, how });
                        }
                    }
                }
                if let Some(page) = &mut own {
                    page.read[slot] &= there[0];
                    page.written[slot] &= there[1];
                    page.updated[slot] &= there[2];
                    page.uncached[slot] &= their.map_or(0, |page| page.uncached[slot]);
                }
            }
            one.pages.extend(own.map(|page| ((tensor, number), page)));
        }
        let also = perhaps.accessed(&guards, &mut one.store);
        let copied =
            other.perhaps.iter().map(|own| own.imported(&mut one.store, &other.store, &mut self.known));
        one.perhaps.extend(copied.chain(also));
    }

    /// What both runs leave in outputs.
    fn outputs(&mut self, condition: TermId, one: &mut Ran, other: &Ran) -> Result<(), Stop> {
        let lost: BTreeSet<Element> = one.lost.iter().chain(&other.lost).map(Lost::place).collect();
        one.lost.extend(other.lost.iter().cloned());
        let unevaluated: BTreeSet<Element> =
            one.unevaluated.iter().chain(&other.unevaluated).copied().collect();
        let mut values: BTreeMap<Element, [Option<OutputValue>; 2]> = BTreeMap::new();
        for (param, element, value) in one.outputs.drain(..) {
            values.entry((param, element)).or_default()[0] = Some(value);
        }
        for (param, element, value) in &other.outputs {
            let import = |term| one.store.import(&other.store, term, &mut self.known);
            values.entry((*param, *element)).or_default()[1] = Some(value.map(import));
        }
        one.unevaluated = unevaluated.iter().copied().collect();
        for ((param, element), both) in values {
            if lost.contains(&(param, element)) || unevaluated.contains(&(param, element)) {
                continue;
            }
            let own = self.context.launch.tensors.iter().position(|tensor| tensor.param == Some(param));
            let Some(number) = own else { return Err(Stop::Defect("an output without a tensor")) };
            let tensor = &self.context.launch.tensors[number];
            let mut before = || value_before(tensor, element, &mut one.store, &mut Masks::default());
            match both.map(|value| value.or_else(&mut before)) {
                [Some(then), Some(otherwise)] => {
                    let value = either(tensor, &mut one.store, condition, [then, otherwise]);
                    one.outputs.push((param, element, value));
                }
                [Some(_), None] => self.not_written((number, element), 1, one)?,
                [None, _] => self.not_written((number, element), 0, one)?,
            }
        }
        Ok(())
    }

    /// An element that the run of this index does not write, and that has no value before it.
    fn not_written(&self, (number, element): (usize, u64), by: usize, one: &mut Ran) -> Result<(), Stop> {
        let tensor = &self.context.launch.tensors[number];
        let at = ElementAt { tensor, element, byte: 0 };
        let param = tensor.param.unwrap_or_default();
        let wrong = (FaultKind::Uninitialised, "V6", IN_PART.to_owned(), None);
        if self.context.launch.is_followed {
            one.lost.push(self.context.launch.lost((param, element), wrong));
            return Ok(());
        }
        if one.unwritten.is_some() {
            one.unevaluated.push((param, element));
            return Ok(());
        }
        let cell = (number as u32, element * u64::from(tensor.element.bytes()) / 4);
        let writing = self.runs[1 - by].iter();
        let mut sites = writing.map(|run| self.context.found_again(run, cell, None));
        let sites = sites.find(|sites| !sites.is_empty()).unwrap_or_default();
        let fault = self.context.launch.output_fault(at, wrong, sites);
        let literals = self.premises[by].literals_in(&mut one.store);
        let mut possible = InCases::new(fault, vec![literals], String::new());
        possible.store = std::mem::take(&mut one.store);
        if self.context.launch.clusters.len() == 1 {
            return Err(Stop::Possible(Box::new(possible)));
        }
        // Other CTAs may write it for the other inputs.
        let mut possible = possible.possible();
        one.store = std::mem::take(&mut possible.store);
        one.unwritten = Some(Box::new(Unwritten { place: cell, possible }));
        one.unevaluated.push((param, element));
        Ok(())
    }
}

/// The first value where a condition holds, and else the second one.
fn either(tensor: &Tensor, store: &mut Store, condition: TermId, both: [OutputValue; 2]) -> OutputValue {
    if let [OutputValue::Bits(one), OutputValue::Bits(other)] = both
        && one == other
    {
        return both[0];
    }
    let is_real = both.iter().any(|value| matches!(value, OutputValue::Real(_)));
    let [then, otherwise] = both.map(|value| value.number(tensor.element, store));
    let (mut packed, mut ranges) = (PackedValues::default(), Ranges::default());
    let term = if is_real && store.is_ieee() {
        store.apply(TermOp::Select, &[condition, then, otherwise], InstId(u32::MAX))
    } else {
        let mut residues = IntTerms { packed: &mut packed, store, ranges: &mut ranges, pc: InstId(0) };
        residues.chosen(condition, then, otherwise)
    };
    if is_real { OutputValue::Real(term) } else { OutputValue::Integer(term) }
}

/// The operand of an update: the first value where a condition holds, and else the second one.
fn chosen(store: &mut Store, condition: TermId, update: Update, sums: [Value; 2]) -> Option<Value> {
    if sums[0] == sums[1] {
        return Some(sums[0]);
    }
    let mut term = |value| match (value, update) {
        (Value::Bits(bits), Update::Real(format)) => {
            Masks::default().constant(format, bits).map(|exact| store.intern(exact))
        }
        (Value::Bits(bits), Update::Integer(..)) => Some(exactly(store, Rational::from_i128(bits.into()))),
        (Value::Sym(sym), _) => match (sym.kind(), update) {
            (SymKind::Real(held, term), Update::Real(format)) if held == format => Some(term),
            (SymKind::Int(bytes, term), Update::Integer(_, ty)) if bytes == ty.width.bytes() => Some(term),
            _ => None,
        },
        (Value::Bits(_) | Value::Undefined(_), _) => None,
    };
    let terms = [condition, term(sums[0])?, term(sums[1])?];
    let term = store.apply(TermOp::Select, &terms, InstId(u32::MAX));
    match update {
        Update::Real(format) => Some(Value::Sym(Sym::real(format, term))),
        Update::Integer(_, ty) => Some(Value::Sym(Sym::int(ty.width.bytes(), term))),
        Update::Extreme { .. } | Update::Counter { .. } | Update::RealInWord { .. } => None,
    }
}
