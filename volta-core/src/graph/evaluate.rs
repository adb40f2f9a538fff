//! From a graph to terms: the elements of every value, 32 at a time.
//!
//! Values are computed one after the other, each element once. Elements that only move (views, transpositions, slices)
//! make no terms.

use std::fmt;

use super::check::ExprKind;
use super::lanes::{Lanes, Terms, UNDEFINED, UNWRITTEN, merged, undefined_in};
use super::order::combined;
use super::plan::Plan;
use super::{Combination, Graph, GraphValue, Reduce, ValueDefinition, ValueId};
use volta_case::Element;

use crate::base::budget::{Budgets, Exhausted, Held, Limit};
use crate::base::lane::{Lane, LaneMask};
use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::term::{Ranges, Store, TermId, TermOp};

/// What an element of a tensor holds before a graph reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// A number, as a term of the store.
    Term(TermId),
    /// Nothing was written.
    Nothing,
}

/// What an element of a written tensor holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Computed {
    /// A number, as a term of the store.
    Term(TermId),
    /// It has no value (V6): it became undefined in the definition of this value.
    Undefined(ValueId),
    /// Nothing is written.
    Unwritten,
}

/// Limits, and what is already used of them.
#[derive(Clone, Debug, Default)]
pub struct Within {
    /// The limits of the case.
    pub budgets: Budgets,
    /// The memory in use, without the store.
    pub held: Held,
    /// Instructions executed before.
    pub instructions: u64,
    /// Numbers up to this one are minus infinity (V3).
    pub mask_below: Option<Rational>,
}

/// What a graph computed.
#[derive(Clone, Debug, Default)]
pub struct Evaluated {
    /// For each output of the graph, its elements.
    pub outputs: Vec<Vec<Computed>>,
    /// The operations executed, each on up to 32 elements.
    pub instructions: u64,
    /// The numbers that were read as minus infinity.
    pub masks: Vec<Rational>,
    /// The numbers that were rounded, each to a format.
    pub rounded: Vec<(Extended, Format)>,
}

/// Why a graph has no result.
#[derive(Clone, Debug)]
pub enum Stop {
    /// A budget was reached.
    Exhausted(Exhausted),
    /// An element is read before anything was written to it: the tensor, and the element's number.
    Unwritten(ValueId, u64),
    /// An index that is computed may lie outside.
    Outside(Outside),
    /// A place that is computed may not be one of so many: its bounds, where they are known.
    Picked {
        /// The least and the greatest place.
        bounds: [Option<i128>; 2],
        /// The number of places.
        count: usize,
    },
}

/// An index that may lie outside.
#[derive(Clone, Debug)]
pub struct Outside {
    /// The value that gathers.
    pub by: ValueId,
    /// The value from which it gathers.
    pub from: ValueId,
    /// The dimension of that.
    pub dimension: usize,
    /// Bounds of the index, where they are known.
    pub bounds: [Option<i128>; 2],
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Stop {
        Stop::Exhausted(exhausted)
    }
}

impl Outside {
    /// The index and the extent in words.
    pub fn told(&self, graph: &Graph) -> impl fmt::Display {
        let (by, from) = (graph.value(self.by), graph.value(self.from));
        let within = between(self.bounds);
        format!(
            "`{}` reads `{}` at index {within} of dimension {}, whose extent is {}",
            by.name, from.name, self.dimension, from.shape[self.dimension]
        )
    }
}

/// Bounds in words.
pub(crate) fn between(bounds: [Option<i128>; 2]) -> String {
    let bound = |bound: Option<i128>| bound.map_or_else(|| "any number".into(), |bound| bound.to_string());
    let [low, high] = bounds.map(bound);
    if low == high { low } else { format!("between {low} and {high}") }
}

/// The elements of values that were computed.
pub(super) type Elements = Vec<Vec<u64>>;

/// Evaluates a graph that [`check`](super::check::check) finds right. `read` gives the elements of the tensors that it
/// reads.
///
/// # Errors
/// Why there is no result.
pub fn evaluate(
    graph: &Graph,
    store: &mut Store,
    within: &Within,
    read: &mut dyn FnMut(&str, u64, &mut Store) -> Content,
) -> Result<Evaluated, Stop> {
    let terms = Terms { store, ranges: Ranges::default(), value: 0 };
    let mut run = Run {
        graph,
        terms,
        meter: Meter::new(within),
        elements: Vec::new(),
        masks: Vec::new(),
        rounded: Vec::new(),
        combined: combined(graph),
    };
    let last = last_uses(graph);
    let needed = needed(graph);
    for (at, value) in graph.values.iter().enumerate() {
        if !needed[at] {
            run.elements.push(Vec::new());
            continue;
        }
        run.terms.value = at;
        run.meter.held.state = run.elements.iter().map(|list| 8 * list.len() as u64).sum();
        run.meter.room(8 * value.count(), run.terms.store)?;
        let elements = run.value(ValueId(at), value, read)?;
        run.elements.push(elements);
        for (earlier, last) in last.iter().enumerate().take(at + 1) {
            if *last == Some(at) {
                run.elements[earlier] = Vec::new();
            }
        }
    }
    let outputs = graph.outputs.iter().map(|(_, value)| run.written(*value)).collect();
    run.meter.look(run.terms.store)?;
    Ok(Evaluated { outputs, instructions: run.meter.instructions, masks: run.masks, rounded: run.rounded })
}

/// Which values the outputs are computed from.
fn needed(graph: &Graph) -> Vec<bool> {
    let mut needed = vec![false; graph.values.len()];
    graph.outputs.iter().for_each(|(_, value)| needed[value.0] = true);
    for (at, value) in graph.values.iter().enumerate().rev() {
        if needed[at] {
            value.visit_operands(&mut |operand: ValueId| needed[operand.0] = true);
        }
    }
    needed
}

/// For each value, the last one that reads it; `None` for those that are written.
fn last_uses(graph: &Graph) -> Vec<Option<usize>> {
    let mut last: Vec<Option<usize>> = (0..graph.values.len()).map(Some).collect();
    for (at, value) in graph.values.iter().enumerate() {
        value.visit_operands(&mut |operand: ValueId| last[operand.0] = Some(at));
    }
    graph.outputs.iter().for_each(|(_, value)| last[value.0] = None);
    last
}

/// What was used of the limits.
pub(super) struct Meter<'w> {
    within: &'w Within,
    pub(super) held: Held,
    pub(super) instructions: u64,
    next: u64,
}

impl<'w> Meter<'w> {
    fn new(within: &'w Within) -> Meter<'w> {
        Meter { within, held: Held::default(), instructions: 0, next: 0 }
    }

    /// Counts operations.
    #[inline]
    pub(super) fn charge(&mut self, operations: u64, store: &Store) -> Result<(), Exhausted> {
        const LOOK: u64 = 1 << 10;
        self.instructions += operations;
        if self.instructions < self.next {
            return Ok(());
        }
        self.next = self.instructions + LOOK;
        self.look(store)
    }

    #[cold]
    fn look(&self, store: &Store) -> Result<(), Exhausted> {
        let Within { budgets, held, instructions, .. } = self.within;
        budgets.deadline.check()?;
        budgets.check(Limit::Instructions, instructions.saturating_add(self.instructions))?;
        let own = Held { terms: store.bytes(), ..self.held };
        budgets.check_held(&held.and(&own))
    }

    /// Numbers up to this one are minus infinity.
    pub(super) fn mask_below(&self) -> Option<Rational> {
        self.within.mask_below.clone()
    }

    /// Checks that there is room for so many bytes more.
    fn room(&mut self, bytes: u64, store: &Store) -> Result<(), Exhausted> {
        self.held.state = self.held.state.saturating_add(bytes);
        self.look(store)
    }
}

/// A graph that is evaluated.
pub(super) struct Run<'r> {
    pub(super) graph: &'r Graph,
    pub(super) terms: Terms<'r>,
    pub(super) meter: Meter<'r>,
    pub(super) elements: Elements,
    pub(super) masks: Vec<Rational>,
    pub(super) rounded: Vec<(Extended, Format)>,
    /// For each value, the dimensions along which its elements are combined later on.
    pub(super) combined: Vec<Vec<bool>>,
}

impl Run<'_> {
    fn value(
        &mut self,
        id: ValueId,
        value: &GraphValue,
        read: &mut dyn FnMut(&str, u64, &mut Store) -> Content,
    ) -> Result<Vec<u64>, Stop> {
        match &value.definition {
            ValueDefinition::Tensor(name) => self.tensor(id, value, name, read),
            ValueDefinition::View(source) => Ok(self.elements[source.0].clone()),
            ValueDefinition::Concatenation(parts, along) => Ok(self.concatenated(parts, *along)),
            ValueDefinition::Listed(listing) => {
                let computed = self.listed(value, listing)?;
                Ok(self.in_type(value, computed))
            }
            ValueDefinition::Construct(construct) => {
                let plan = Plan::new(self, value, construct);
                let mut computed = vec![0; value.count() as usize];
                self.construct(&plan, construct.reduce, value, &mut computed)?;
                Ok(computed)
            }
        }
    }

    fn tensor(
        &mut self,
        id: ValueId,
        value: &GraphValue,
        name: &str,
        read: &mut dyn FnMut(&str, u64, &mut Store) -> Content,
    ) -> Result<Vec<u64>, Stop> {
        let mut elements = Vec::with_capacity(value.count() as usize);
        for element in 0..value.count() {
            self.meter.charge(u64::from(element % 32 == 0), self.terms.store)?;
            elements.push(match read(name, element, self.terms.store) {
                Content::Term(term) => term.raw(),
                Content::Nothing => return Err(Stop::Unwritten(id, element)),
            });
        }
        if ExprKind::of(value.element) == ExprKind::Truth {
            let zero = [self.terms.whole(0); 32];
            for chunk in elements.chunks_mut(32) {
                let mask = first_lanes(chunk.len());
                let mut lanes = [0; 32];
                lanes[..chunk.len()].copy_from_slice(chunk);
                let is_zero = self.terms.apply(TermOp::Equal, mask, &[&lanes, &zero]);
                let is_set = self.terms.apply(TermOp::Not, mask, &[&is_zero]);
                chunk.copy_from_slice(&is_set[..chunk.len()]);
            }
        }
        Ok(elements)
    }

    fn concatenated(&self, parts: &[ValueId], along: usize) -> Vec<u64> {
        let parts: Vec<(&Vec<u64>, usize)> = parts
            .iter()
            .map(|part| {
                let row = self.graph.value(*part).shape[along..].iter().product::<u64>() as usize;
                (&self.elements[part.0], row)
            })
            .collect();
        let rows = parts.iter().find(|(_, row)| *row > 0).map_or(0, |(elements, row)| elements.len() / row);
        let mut all = Vec::new();
        for at in 0..rows {
            parts
                .iter()
                .for_each(|(elements, row)| all.extend_from_slice(&elements[at * row..(at + 1) * row]));
        }
        all
    }

    fn construct(
        &mut self,
        plan: &Plan<'_>,
        reduce: Option<Reduce>,
        value: &GraphValue,
        computed: &mut [u64],
    ) -> Result<(), Stop> {
        let mut chunks = plan.chunks();
        let mut frame = plan.frame();
        while let Some(mask) = chunks.next(plan, &mut frame) {
            let Some(reduce) = reduce else {
                let lanes = plan.evaluate(self, &frame, mask)?;
                self.put(computed, value, &frame.places, 0, mask, lanes);
                continue;
            };
            let mut accumulator = Accumulator::new(reduce.with);
            let mut steps = plan.steps(&mut frame);
            while steps.next(plan, &mut frame) {
                self.meter.charge(1, self.terms.store)?;
                let present = plan.present(&frame, mask);
                if !present.is_empty() {
                    accumulator.add(self, plan, &frame, present)?;
                }
                if reduce.prefix.is_some() {
                    let lanes = accumulator.result(self, mask);
                    self.put(computed, value, &frame.places, frame.place_of_step, mask, lanes);
                }
                accumulator.step += 1;
            }
            if reduce.prefix.is_none() {
                let lanes = accumulator.result(self, mask);
                self.put(computed, value, &frame.places, 0, mask, lanes);
            }
        }
        Ok(())
    }

    fn put(
        &mut self,
        computed: &mut [u64],
        value: &GraphValue,
        places: &[i64; 32],
        offset: i64,
        mask: LaneMask,
        mut lanes: Lanes,
    ) {
        if let Some(width) = width(value.element) {
            lanes = self.terms.wrapped(mask, lanes, width);
        }
        for lane in mask {
            let at = lane.index();
            computed[(places[at] + offset) as usize] = lanes[at];
        }
    }

    /// Integers in the type of a value; other elements stay what they are.
    fn in_type(&mut self, value: &GraphValue, mut elements: Vec<u64>) -> Vec<u64> {
        let Some(width) = width(value.element) else { return elements };
        for chunk in elements.chunks_mut(32) {
            let (lanes, mask) = lanes_of(chunk);
            let wrapped = self.terms.wrapped(mask, lanes, width);
            mask.iter().for_each(|lane| chunk[lane.index()] = wrapped[lane.index()]);
        }
        elements
    }

    /// The elements of a value that is written.
    fn written(&mut self, id: ValueId) -> Vec<Computed> {
        let is_truth = ExprKind::of(self.graph.value(id).element) == ExprKind::Truth;
        let mut elements = self.elements[id.0].clone();
        if is_truth {
            let [one, zero] = [1, 0].map(|number| [self.terms.whole(number); 32]);
            for chunk in elements.chunks_mut(32) {
                let (lanes, mask) = lanes_of(chunk);
                let numbers = self.terms.apply(TermOp::Select, mask, &[&lanes, &one, &zero]);
                mask.iter().for_each(|lane| chunk[lane.index()] = numbers[lane.index()]);
            }
        }
        let computed = |raw: u64| match undefined_in(raw) {
            Some(value) => Computed::Undefined(ValueId(value)),
            None if raw == UNWRITTEN => Computed::Unwritten,
            None => Computed::Term(TermId::from_raw(raw)),
        };
        elements.into_iter().map(computed).collect()
    }
}

/// The bits of an integer type, and whether it is signed.
fn width(element: Element) -> Option<(u32, bool)> {
    let (bytes, signed) = element.integer()?;
    (ExprKind::of(element) == ExprKind::Whole).then_some((8 * bytes, signed))
}

/// The elements of a chunk as lanes, and those that are written.
fn lanes_of(chunk: &[u64]) -> (Lanes, LaneMask) {
    let (mut lanes, mut mask) = ([0; 32], LaneMask::NONE);
    for (at, own) in chunk.iter().enumerate().filter(|(_, own)| **own != UNWRITTEN) {
        lanes[at] = *own;
        mask.insert(lane(at));
    }
    (lanes, mask)
}

/// The lanes of the first elements of a chunk.
fn first_lanes(count: usize) -> LaneMask {
    LaneMask::from_bits(u32::MAX >> (32 - count.clamp(1, 32)))
}

/// What a reduction has combined so far, lane by lane.
struct Accumulator {
    with: Combination,
    /// The lanes in which there is something.
    filled: LaneMask,
    value: Lanes,
    /// For places, those of the values.
    place: Lanes,
    /// The place of the next value.
    step: i128,
}

impl Accumulator {
    fn new(with: Combination) -> Accumulator {
        Accumulator { with, filled: LaneMask::NONE, value: [0; 32], place: [0; 32], step: 0 }
    }

    /// Combines what the expression is in these lanes.
    fn add(
        &mut self,
        run: &mut Run<'_>,
        plan: &Plan<'_>,
        frame: &super::plan::Frame,
        mask: LaneMask,
    ) -> Result<(), Stop> {
        let (new, old) = (mask & !self.filled, mask & self.filled);
        self.filled |= mask;
        if self.with == Combination::Sum
            && let Some(factors) = plan.factors(run, frame, mask)?
        {
            let [a, b] = &factors;
            if !new.is_empty() {
                let product = run.terms.apply(TermOp::Mul, new, &[a, b]);
                self.value = merged(self.value, product, new);
            }
            if !old.is_empty() {
                let sum = run.terms.apply(TermOp::Fma, old, &[a, b, &self.value]);
                self.value = merged(self.value, sum, old);
            }
            return Ok(());
        }
        let own = plan.evaluate(run, frame, mask)?;
        if self.with.is_place() {
            self.add_place(run, own, (new, old));
            return Ok(());
        }
        self.value = merged(self.value, own, new);
        let op = match self.with {
            Combination::Sum => TermOp::Add,
            Combination::Product => TermOp::Mul,
            Combination::Max | Combination::ArgMax => TermOp::Max,
            Combination::Min | Combination::ArgMin => TermOp::Min,
        };
        if !old.is_empty() {
            let combined = run.terms.apply(op, old, &[&self.value, &own]);
            self.value = merged(self.value, combined, old);
        }
        Ok(())
    }

    /// A later value takes the place of an equal one nowhere.
    fn add_place(&mut self, run: &mut Run<'_>, own: Lanes, (new, old): (LaneMask, LaneMask)) {
        let place = [run.terms.whole(self.step); 32];
        self.value = merged(self.value, own, new);
        self.place = merged(self.place, place, new);
        if old.is_empty() {
            return;
        }
        let operands =
            if self.with == Combination::ArgMax { [&self.value, &own] } else { [&own, &self.value] };
        let better = run.terms.apply(TermOp::Less, old, &operands);
        let places = run.terms.apply(TermOp::Select, old, &[&better, &place, &self.place]);
        let values = run.terms.apply(TermOp::Select, old, &[&better, &own, &self.value]);
        self.place = merged(self.place, places, old);
        self.value = merged(self.value, values, old);
    }

    fn result(&self, run: &mut Run<'_>, mask: LaneMask) -> Lanes {
        let result = if self.with.is_place() { self.place } else { self.value };
        let empty = mask & !self.filled;
        if empty.is_empty() {
            return result;
        }
        let of_none = match self.with {
            Combination::Sum => run.terms.whole(0),
            Combination::Product => run.terms.whole(1),
            Combination::Max | Combination::Min | Combination::ArgMax | Combination::ArgMin => {
                UNDEFINED | run.terms.value as u64
            }
        };
        merged(result, [of_none; 32], empty)
    }
}

/// A lane by its place in a chunk.
pub(super) fn lane(at: usize) -> Lane {
    Lane::at(at)
}
