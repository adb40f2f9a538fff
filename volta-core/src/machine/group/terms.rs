//! The terms behind the values that threads hold, the conditions under which these are computed, and what is told of
//! both. Who computes them, and where they are stored, is not known here.

use super::assumptions::Relied;
use super::context::Context;
use super::findings::Findings;
use super::possible::{Cases, InCases, undefined_cases};
use super::stop::Stop;
use super::warp::{At, Step, Warp};
use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::mbarrier_phases::AskedOnce;
use crate::launch::advice::{origin_site, rule_of, to_be_given, undefined_help};
use crate::launch::infeasible::Asked;
use crate::launch::objects::from_generic;
use crate::number::Rational;
use crate::program::{Address, Bool2, InstId, Op, PredId, PredSrc, Space, Src};
use crate::term::{InputId, Ranges, Store, TermId, TermOp, expression, opposite};
use crate::value::guard::{Guard, Guards, Literal};
use crate::value::packed::PackedValues;
use crate::value::{Origin, Sym, SymKind, Truth, Value};
use crate::verdict::{Fault, FaultKind};

/// A term is printed as deep as fits in this number of characters.
const LONGEST_TERM: usize = 120;

/// How a term is printed.
type WriteTerm = fn(
    &Store,
    TermId,
    usize,
    &dyn Fn(InputId, u64) -> String,
    &dyn Fn(&Rational) -> Option<String>,
) -> String;

/// Of several values packed together, at most this number is printed.
const MOST_PARTS: usize = 4;

/// The terms behind what registers hold, and what is told of them.
pub(crate) struct ValueTerms<'l> {
    pub(crate) context: Context<'l>,
    pub(crate) store: Store,
    /// Ranges of integer terms, computed on demand.
    pub(crate) ranges: Ranges,
    pub(crate) packed: PackedValues,
    /// Tests of barriers that do not wait, and the waits that their answers skip.
    pub(crate) asked: AskedOnce,
    /// The conditions on inputs under which threads execute.
    pub(crate) guards: Guards,
    /// Conditions of faults that no input fulfils.
    infeasible: Asked,
    /// What the run relied on.
    pub(crate) relied: Relied,
    /// The findings so far, if the run continues after faults.
    pub(crate) survey: Option<Box<Findings>>,
}

/// What the operands of one instruction of a warp say.
pub(crate) struct Operands<'v, 'l> {
    pub(crate) terms: &'v ValueTerms<'l>,
    pub(crate) warp: &'v Warp,
    pub(crate) pc: InstId,
}

impl Operands<'_, '_> {
    /// A lane at this instruction.
    pub(crate) fn at(&self, lane: Lane) -> At<'_> {
        At { warp: self.warp, lane, pc: self.pc }
    }

    /// A fault of one lane at this instruction.
    #[cold]
    pub(crate) fn fault(&self, kind: FaultKind, rule: &'static str, message: String, lane: Lane) -> Stop {
        self.terms.context.fault(kind, rule, message, self.warp, lane, self.pc)
    }

    /// As [`ValueTerms::concrete`], at this instruction.
    pub(crate) fn concrete(&self, src: Src, lane: Lane, what: &str) -> Result<u64, Stop> {
        self.terms.concrete(self.warp, src, lane, self.pc, what)
    }

    /// As [`ValueTerms::addresses`], at this instruction.
    pub(crate) fn addresses(&self, mask: LaneMask, address: Address) -> Result<[u64; 32], Stop> {
        self.terms.addresses(self.warp, mask, address, self.pc)
    }
}

impl<'l> ValueTerms<'l> {
    /// Before the first instruction; `by_counting` says whether guards are functions of what decides them.
    pub(crate) fn new(context: Context<'l>, by_counting: bool) -> ValueTerms<'l> {
        let Context { launch, options, .. } = context;
        let mut store = if options.plain_terms { Store::without_patterns() } else { Store::new() };
        if options.ieee {
            store.set_ieee();
        }
        store.set_integers(launch.integers.clone());
        if let Some((templates, rounds)) = &launch.functions {
            store.explain_functions(templates.clone(), rounds.clone());
        }
        ValueTerms {
            context,
            store,
            ranges: Ranges::default(),
            packed: PackedValues::default(),
            asked: AskedOnce::default(),
            guards: Guards::new(launch.distinct.clone(), by_counting),
            infeasible: Asked::default(),
            relied: Relied::new(launch, &options.rules),
            survey: None,
        }
    }

    /// The operands of one instruction of a warp.
    pub(crate) fn operands<'v>(&'v self, warp: &'v Warp, pc: InstId) -> Operands<'v, 'l> {
        Operands { terms: self, warp, pc }
    }

    /// What may hold under guards.
    pub(crate) fn under_guards(&mut self) -> UnderGuards<'_> {
        UnderGuards { store: &mut self.store, ranges: &mut self.ranges, guards: &mut self.guards }
    }

    /// An operation at which these lanes of a warp meet.
    pub(crate) fn collective<'v>(
        &'v mut self,
        warp: &'v mut Warp,
        members: LaneMask,
        pc: InstId,
    ) -> Collective<'v, 'l> {
        Collective { terms: self, warp, members, pc }
    }
}

impl ValueTerms<'_> {
    /// The result for a lane that has no value, because an operand has none, or by itself.
    pub(crate) fn no_value(&self, at: At<'_>, sources: &[Src]) -> Value {
        let value = |source: &Src| self.context.value(at.warp, *source, at.lane);
        let undefined = sources.iter().filter_map(|source| self.packed.undefined_part(value(source)));
        Value::Undefined(undefined.reduce(Origin::or).unwrap_or(Origin::Invalid(at.pc)))
    }

    /// The lanes of `mask` for which a guard is known to hold, and those for which it depends on the input.
    pub(crate) fn guard_lanes(
        &self,
        warp: &Warp,
        mask: LaneMask,
        pc: InstId,
        guard: PredSrc,
    ) -> Result<(LaneMask, LaneMask), Stop> {
        let predicate = &warp.predicates[guard.pred.index()];
        if predicate.undefined.meets(mask) {
            let lane = (predicate.undefined & mask).first();
            let message = "an uninitialised guard predicate decides what is executed";
            return Err(self.undefined_predicate(At { warp, lane, pc }, predicate.origin(lane), message));
        }
        let holds = if guard.negated { !predicate.bits } else { predicate.bits };
        let symbolic = predicate.sym & mask;
        if self.context.launch.has_sets {
            for lane in symbolic {
                if let Truth::Condition(term) = predicate.get(lane)
                    && self.depends_on_ticket(term)
                {
                    return Err(self.depending_on_ticket(warp, lane, "what a thread executes", pc));
                }
            }
        }
        Ok((holds & mask & !symbolic, symbolic))
    }

    /// The value of a source in one lane that must be concrete, because it steers the run as `what`.
    pub(crate) fn concrete(
        &self,
        warp: &Warp,
        src: Src,
        lane: Lane,
        pc: InstId,
        what: &str,
    ) -> Result<u64, Stop> {
        match self.context.value(warp, src, lane) {
            Value::Bits(bits) => Ok(bits),
            value @ (Value::Sym(_) | Value::Undefined(_)) => {
                Err(self.not_concrete(warp, value, lane, pc, what))
            }
        }
    }

    /// The fault of a value that steers the run but is not known (rules S1, V6).
    #[cold]
    pub(crate) fn not_concrete(&self, warp: &Warp, value: Value, lane: Lane, pc: InstId, what: &str) -> Stop {
        let undefined = self.packed.undefined_part(value);
        if undefined.is_some_and(|origin| self.is_in_doubt(origin)) {
            return Stop::Doubtful;
        }
        match undefined {
            Some(origin) => {
                let (kind, why) = undefined_reason(self, origin);
                let rule = rule_of(kind);
                self.undefined_fault((kind, rule), format!("{what} is {why}"), origin, (warp, lane, pc))
            }
            None => {
                let message = format!("{what} depends on the input: {}", self.describe_value(value));
                let site = self.context.site("depends on the input".into(), warp, lane, pc);
                let given = match value {
                    Value::Sym(sym) => self.to_be_given(&self.packed.terms_of(sym)),
                    Value::Bits(_) | Value::Undefined(_) => None,
                };
                let help = given.unwrap_or_else(|| {
                    "addresses, branches and barriers must be the same for all inputs of the given sizes (S1)".into()
                });
                self.context.fault_at(FaultKind::InputDependentControl, "S1", message, vec![site], Some(help))
            }
        }
    }

    /// The fault of an undefined predicate that decides something; `message` is for a predicate that was never written.
    #[cold]
    pub(crate) fn undefined_predicate(&self, at: At<'_>, origin: Origin, message: &str) -> Stop {
        if self.is_in_doubt(origin) {
            return Stop::Doubtful;
        }
        let (kind, why) = undefined_reason(self, origin);
        let decides = format!("the predicate that decides here is {why}");
        let (rule, message) = match self.packed.leaf(origin) {
            Origin::Unwritten(_) => ("V6", message.to_owned()),
            Origin::Unpredictable(_) | Origin::State(_) | Origin::Columns(_) => ("S4", decides),
            Origin::Unevaluated(_) => ("S2", decides),
            Origin::Invalid(_) | Origin::Doubtful(_) | Origin::Partly(_) => {
                ("V6", format!("{decides}: an operation that it depends on has no value"))
            }
        };
        self.undefined_fault((kind, rule), message, origin, (at.warp, at.lane, at.pc))
    }

    /// The fault of using an undefined value, with the place where it became undefined.
    #[cold]
    pub(crate) fn undefined_fault(
        &self,
        (kind, rule): (FaultKind, &'static str),
        message: String,
        origin: Origin,
        (warp, lane, pc): (&Warp, Lane, InstId),
    ) -> Stop {
        let use_site = self.context.site("uses the value".into(), warp, lane, pc);
        let became = origin_site(self.context.launch, self.packed.leaf(origin));
        let sites = std::iter::once(use_site).chain(became).collect();
        let stop = self.context.fault_at(kind, rule, message, sites, undefined_help(kind).map(str::to_owned));
        match (stop, origin.number()) {
            (Stop::Fault(fault), Some(at)) => self.where_undefined(*fault, at, self.guards.of(lane)),
            (stop, _) => stop,
        }
    }

    /// Names what the case can fix so that none of the terms depends on the input.
    pub(crate) fn to_be_given(&self, terms: &[TermId]) -> Option<String> {
        to_be_given(self.context.launch, &self.store, terms)
    }

    /// A term as text.
    pub(crate) fn describe(&self, term: TermId) -> String {
        written(self, term, expression)
    }

    /// A value as text.
    pub(crate) fn describe_value(&self, value: Value) -> String {
        match value {
            Value::Bits(_) => "a known integer".into(),
            Value::Undefined(_) => "an undefined value".into(),
            Value::Sym(sym) => match sym.kind() {
                SymKind::Real(_, term) | SymKind::Int(_, term) => self.describe(term),
                SymKind::Half64(_, term) => format!("half of {}", self.describe(term)),
                SymKind::Pair(format, low, high) => {
                    format!(
                        "{} and {} side by side, each {}",
                        self.describe(low),
                        self.describe(high),
                        format.name()
                    )
                }
                SymKind::Packed(_) => {
                    let parts = self.packed.parts_of(value);
                    let shown =
                        parts.iter().take(MOST_PARTS).map(|part| self.describe_value(Value::Sym(*part)));
                    match shown.collect::<Vec<_>>().join(", ") {
                        none if none.is_empty() => "several values packed together".into(),
                        some => format!("several values side by side ({some})"),
                    }
                }
                SymKind::Fragment { .. } => "an unspecified element of a `wmma` fragment".into(),
                SymKind::Answer(_) => "whether a phase of a barrier was complete when it was tested".into(),
                SymKind::Ticket(_) => "what an atomic operation found".into(),
                SymKind::Partly(index) => {
                    format!("a value or nothing, by {}", self.describe(self.packed.choice(index).condition))
                }
                SymKind::Choice(index) => {
                    // The integers themselves are not printed: they may be addresses, which are not determined.
                    let choice = self.packed.choice(index);
                    format!("one of two integers, by {}", self.describe(choice.condition))
                }
            },
        }
    }

    /// The value of a predicate source in one lane.
    pub(crate) fn truth(&mut self, warp: &Warp, src: PredSrc, lane: Lane, pc: InstId) -> Truth {
        let truth = warp.predicates[src.pred.index()].get(lane);
        if !src.negated {
            return truth;
        }
        match truth {
            Truth::Known(value) => Truth::Known(!value),
            Truth::Condition(term) => Truth::Condition(self.store.apply(TermOp::Not, &[term], pc)),
            Truth::Undefined(origin) => Truth::Undefined(origin),
            Truth::Answer(answer) => self.packed.answer_of(answer, |holds| 1 - holds),
        }
    }

    pub(crate) fn pred2(&mut self, step: Step<'_>, op: Bool2, p: PredId, [a, b]: [PredSrc; 2]) {
        let Step { warp, mask, pc } = step;
        let (x, y) = (&warp.predicates[a.pred.index()], &warp.predicates[b.pred.index()]);
        if !(x.sym | y.sym | x.undefined | y.undefined).meets(mask) {
            let flip = |negated: bool| LaneMask::all_if(negated);
            let (x, y) = (x.bits ^ flip(a.negated), y.bits ^ flip(b.negated));
            let result = match op {
                Bool2::And => x & y,
                Bool2::Or => x | y,
                Bool2::Xor => x ^ y,
            };
            return warp.predicate_mut(p).merge_bits(mask, result);
        }
        for lane in mask {
            let (x, y) = (self.truth(warp, a, lane, pc), self.truth(warp, b, lane, pc));
            let result = self.combine(op, x, y, pc);
            warp.predicate_mut(p).set(lane, result);
        }
    }

    /// Combines two truth values; a known operand may decide alone.
    pub(crate) fn combine(&mut self, op: Bool2, x: Truth, y: Truth, pc: InstId) -> Truth {
        use Truth::{Answer, Condition, Known, Undefined};
        match (op, x, y) {
            (Bool2::And, Known(false), _) | (Bool2::And, _, Known(false)) => Known(false),
            (Bool2::Or, Known(true), _) | (Bool2::Or, _, Known(true)) => Known(true),
            (_, Answer(answer), Known(known)) | (_, Known(known), Answer(answer)) => {
                let flips = op == Bool2::Xor && known;
                self.packed.answer_of(answer, |holds| holds ^ u64::from(flips))
            }
            (_, Answer(answer), _) | (_, _, Answer(answer)) => Undefined(self.unpredictable(answer)),
            // Where one is defined, it may decide.
            (Bool2::And | Bool2::Or, Undefined(one), Undefined(other))
                if one.number().or(other.number()).is_some() && one.or(other).is_by_case() =>
            {
                Undefined(Origin::Unevaluated(pc))
            }
            (_, Undefined(one), Undefined(other)) => Undefined(one.or(other)),
            (Bool2::And, Condition(term), undefined @ Undefined(_))
            | (Bool2::And, undefined @ Undefined(_), Condition(term)) => {
                self.partly_truth(term, undefined, Known(false))
            }
            (Bool2::Or, Condition(term), undefined @ Undefined(_))
            | (Bool2::Or, undefined @ Undefined(_), Condition(term)) => {
                self.partly_truth(term, Known(true), undefined)
            }
            (_, undefined @ Undefined(_), _) | (_, _, undefined @ Undefined(_)) => undefined,
            (Bool2::And, Known(true), other) | (Bool2::And, other, Known(true)) => other,
            (Bool2::Or, Known(false), other) | (Bool2::Or, other, Known(false)) => other,
            (Bool2::Xor, Known(false), other) | (Bool2::Xor, other, Known(false)) => other,
            (Bool2::Xor, Known(true), Known(value)) => Known(!value),
            (Bool2::Xor, Known(true), Condition(term)) | (Bool2::Xor, Condition(term), Known(true)) => {
                Condition(self.store.apply(TermOp::Not, &[term], pc))
            }
            (_, Condition(x), Condition(y)) => {
                let op = match op {
                    Bool2::And => TermOp::And,
                    Bool2::Or => TermOp::Or,
                    Bool2::Xor => TermOp::Xor,
                };
                Condition(self.store.apply(op, &[x, y], pc))
            }
        }
    }
}

impl PackedValues {
    /// The terms of which a symbolic value consists.
    pub(crate) fn terms_of(&self, sym: Sym) -> Vec<TermId> {
        match sym.kind() {
            SymKind::Real(_, term) | SymKind::Int(_, term) | SymKind::Half64(_, term) => vec![term],
            SymKind::Pair(_, low, high) => vec![low, high],
            SymKind::Packed(_) => {
                let parts = self.parts_of(Value::Sym(sym));
                parts.into_iter().flat_map(|part| self.terms_of(part)).collect()
            }
            SymKind::Choice(index) | SymKind::Partly(index) => vec![self.choice(index).condition],
            SymKind::Fragment { .. } | SymKind::Answer(_) | SymKind::Ticket(_) => Vec::new(),
        }
    }
}

/// What may hold under the guards of lanes.
pub(crate) struct UnderGuards<'v> {
    pub(crate) store: &'v mut Store,
    pub(crate) ranges: &'v mut Ranges,
    pub(crate) guards: &'v mut Guards,
}

/// An operation at which these lanes of a warp meet.
pub(crate) struct Collective<'v, 'l> {
    pub(crate) terms: &'v mut ValueTerms<'l>,
    pub(crate) warp: &'v mut Warp,
    pub(crate) members: LaneMask,
    pub(crate) pc: InstId,
}

/// At most so many of the conditions of a fault are told, the innermost ones.
const MOST_TOLD: usize = 3;

impl ValueTerms<'_> {
    /// The end of a run of lanes under their guards.
    #[cold]
    pub(crate) fn ended_under_guard(&self, warp: &Warp, mask: LaneMask, stop: Stop) -> Stop {
        let Stop::Fault(fault) = stop else { return stop };
        let thread = fault.sites.first().and_then(|site| site.thread);
        let is_its =
            |lane: &_| thread == Some(self.context.launch.thread(self.context.linear, warp.thread(*lane)));
        let lane = mask.iter().find(is_its).unwrap_or(mask.first());
        self.possibly(*fault, &[self.guards.of(lane)], &[])
    }

    /// A fault that happens where all of these guards hold, and if there are any conditions in them, these literals.
    #[cold]
    pub(crate) fn possibly(&self, fault: Fault, guards: &[Guard], besides: &[Literal]) -> Stop {
        let mut literals: Vec<Literal> = Vec::new();
        for literal in guards.iter().flat_map(|guard| self.guards.literals(*guard)) {
            if !literals.contains(&literal) {
                literals.push(literal);
            }
        }
        if !literals.is_empty() {
            literals.extend(besides);
        }
        self.possibly_in(fault, vec![literals])
    }

    /// Whether no input fulfils some literals together, by more than what guards know: asked before a fault is told.
    #[cold]
    pub(crate) fn are_infeasible(&mut self, literals: &[Literal]) -> bool {
        self.infeasible.are_infeasible(self.context.launch.infeasible, &mut self.store, literals)
    }

    /// A fault that happens under a guard and where some literals hold, of which its message tells.
    #[cold]
    pub(crate) fn possibly_besides(&self, fault: Fault, guard: Guard, besides: &[Literal]) -> Stop {
        let mut literals = self.guards.literals(guard).to_vec();
        let told = self.in_words(&literals);
        literals.extend(besides);
        Stop::Possible(Box::new(InCases::new(fault, vec![literals], told)))
    }

    /// A fault that happens in one of some cases.
    #[cold]
    pub(crate) fn possibly_in(&self, fault: Fault, cases: Cases) -> Stop {
        if cases.iter().any(Vec::is_empty) || !fault.kind.is_of_the_kernel() {
            return Stop::Fault(Box::new(fault));
        }
        let told = cases.first().map_or_else(String::new, |case| self.in_words(case));
        Stop::Possible(Box::new(InCases::new(fault, cases, told)))
    }

    /// Literals in words.
    pub(super) fn in_words(&self, literals: &[Literal]) -> String {
        let words = |literal: &Literal| {
            let condition = literal.condition;
            written(self, condition, if literal.holds { expression } else { opposite })
        };
        let mut told: Vec<String> = literals.iter().rev().take(MOST_TOLD).map(words).collect();
        if literals.len() > MOST_TOLD {
            told.push(format!("{} other conditions", literals.len() - MOST_TOLD));
        }
        told.join(" and ")
    }

    /// The fault of using a value that is undefined for some inputs only: it happens for these.
    #[cold]
    pub(crate) fn where_undefined(&self, fault: Fault, partly: u32, guard: Guard) -> Stop {
        let mut cases = undefined_cases(&self.packed, partly);
        let literals = self.guards.literals(guard);
        cases.iter_mut().for_each(|case| case.extend_from_slice(&literals));
        self.possibly_in(fault, cases)
    }
}

/// The kind of fault that using an undefined value is, with its description.
fn undefined_reason(of: &ValueTerms<'_>, origin: Origin) -> (FaultKind, &'static str) {
    let of_ticket = |inst: InstId| {
        let op = of.context.launch.program.insts.get(inst.index()).map(|inst| &inst.op);
        matches!(op, Some(Op::Atomic { .. } | Op::Special { .. }))
    };
    let some_only = origin.number().is_some();
    match of.packed.leaf(origin) {
        Origin::Unwritten(_) if some_only => {
            (FaultKind::Uninitialised, "read from memory or registers that are written for some inputs only")
        }
        Origin::Unwritten(_) => (FaultKind::Uninitialised, "read from uninitialised memory or registers"),
        Origin::Unpredictable(_) => (FaultKind::Nondeterministic, "not determined by the launch"),
        Origin::Invalid(_) | Origin::Doubtful(_) | Origin::Partly(_) => (FaultKind::Undefined, "undefined"),
        Origin::Unevaluated(inst) if of_ticket(inst) => {
            (FaultKind::Unsupported, "not known, since it depends on who takes which number")
        }
        Origin::Unevaluated(_) => {
            (FaultKind::Unsupported, "the result of an instruction whose value is not supported")
        }
        Origin::State(_) => (
            FaultKind::Nondeterministic,
            "the state of a barrier, whose bits only have a meaning for barriers",
        ),
        Origin::Columns(_) => {
            (FaultKind::Nondeterministic, "an address of tensor memory, whose bits only have a meaning there")
        }
    }
}

/// A term, or its opposite, as text.
fn written(of: &ValueTerms<'_>, term: TermId, write: WriteTerm) -> String {
    let input = |input, element| of.context.launch.element_name(input, element);
    // The layout of objects is not determined, so addresses are printed by their objects.
    let number = |value: &Rational| {
        let address = value.to_u64()?;
        let narrow = || of.context.launch.objects.find(Space::Shared, address);
        let (space, inner) = from_generic(address);
        let (object, offset) = of.context.launch.objects.find(space, inner).or_else(narrow)?;
        let object = of.context.launch.objects.get(object);
        // Small numbers are printed as numbers.
        (0..=object.size as i64).contains(&offset).then(|| format!("&{}", object.name))
    };
    // Printed as deep as fits in one or two lines.
    let mut text = String::new();
    for depth in (1..=6).rev() {
        text = write(&of.store, term, depth, &input, &number);
        if text.chars().count() <= LONGEST_TERM {
            break;
        }
    }
    text
}
