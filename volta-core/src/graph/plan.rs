//! How a construct is evaluated: its expression with the elements that it reads as offsets, and the order of its
//! elements.
//!
//! A chunk is up to 32 elements of the value. Variables of the value differ from lane to lane; those that are reduced
//! over, and the one of a prefix, step through their extents.

use smallvec::SmallVec;
use volta_case::Format;

use super::apply::{Literals, format_of_literals, literal};
use super::check::ExprKind;
use super::evaluate::{Outside, Run, Stop, lane};
use super::lanes::{Lanes, TRUE, merged};
use super::{At, Construct, Expr, Function, GraphValue, Indexing, Meaning, Read, ValueId};
use crate::base::lane::LaneMask;
use crate::number::{Extended, Rational};
use crate::term::{TermId, TermOp};

/// A computed index has no more possible values.
const MOST_INDICES: i128 = 1024;

/// An expression that is ready to be evaluated.
#[derive(Debug)]
enum Code {
    /// A term that is the same everywhere.
    Constant(u64),
    Index(Indexing),
    Read(usize),
    Apply(Function, Vec<Code>),
    /// A choice between truth values: the condition and both.
    ChooseTruths(Vec<Code>),
}

/// A read, ready to be evaluated.
#[derive(Debug)]
struct Access<'c> {
    read: &'c Read,
    /// The index in row-major order, where no index lies outside and none is computed.
    flat: Option<Indexing>,
    extents: Vec<u64>,
    strides: Vec<i64>,
    outside: Option<u64>,
    computed: Vec<Option<Code>>,
    is_truth: bool,
}

/// A construct that is ready to be evaluated.
#[derive(Debug)]
pub(super) struct Plan<'c> {
    /// The extents of all variables.
    extents: Vec<u64>,
    /// The variables that differ from lane to lane, outermost first.
    across: Vec<usize>,
    /// The variables that step, outermost first.
    stepping: Vec<usize>,
    /// The strides of the value's elements.
    strides: Vec<i64>,
    accesses: Vec<Access<'c>>,
    code: Code,
    literals: Literals,
}

/// Where evaluation stands.
#[derive(Debug)]
pub(super) struct Frame {
    /// For each variable, its value in each lane; stepping ones are the same in all.
    variables: Vec<[i64; 32]>,
    /// For each access with a flat index, the part of it that does not step.
    bases: Vec<[i64; 32]>,
    /// For each access with a flat index, the part that does.
    offsets: Vec<i64>,
    /// The place of the element of each lane, without the part that steps.
    pub(super) places: [i64; 32],
    /// The part that steps.
    pub(super) place_of_step: i64,
}

/// The format in which the numbers of a construct are literals; `None` if it computes with integers only.
fn format_of(run: &Run<'_>, value: &GraphValue, expr: &Expr) -> Option<Format> {
    fn widest(run: &Run<'_>, expr: &Expr) -> Option<Format> {
        match expr {
            Expr::Number(_) | Expr::Index(_) => None,
            Expr::Element(read) => format_of_literals(run.graph.value(read.value).element),
            Expr::Apply(_, operands) => {
                operands.iter().filter_map(|operand| widest(run, operand)).max_by_key(|format| format.bytes())
            }
        }
    }
    format_of_literals(value.element).or_else(|| widest(run, expr))
}

/// Whether an expression is a truth value.
fn is_truth(run: &Run<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Number(_) | Expr::Index(_) => false,
        Expr::Element(read) => ExprKind::of(run.graph.value(read.value).element) == ExprKind::Truth,
        Expr::Apply(function, operands) => match function.meaning() {
            Meaning::Comparison(_) | Meaning::Derived | Meaning::Truths(_) => true,
            Meaning::Choice => operands.last().is_some_and(|arm| is_truth(run, arm)),
            Meaning::Numbers(_) | Meaning::Exponential | Meaning::Power => false,
        },
    }
}

impl<'c> Plan<'c> {
    pub(super) fn new(run: &mut Run<'_>, value: &GraphValue, construct: &'c Construct) -> Plan<'c> {
        let extents: Vec<u64> = value.shape.iter().chain(&construct.over).copied().collect();
        let rank = value.shape.len();
        let prefix = construct.reduce.and_then(|reduce| reduce.prefix);
        let format = format_of(run, value, &construct.expr);
        let literals = Literals::new(run.terms.store, format);
        let mut across: Vec<usize> = (0..rank).filter(|at| Some(*at) != prefix).collect();
        let is_combined = &run.combined[run.terms.value];
        let remaining = across.iter().filter(|at| !is_combined[**at]).map(|at| extents[*at]);
        if remaining.fold(1, u64::saturating_mul) >= 32 {
            across.sort_by_key(|at| !is_combined[*at]);
        }
        let mut plan = Plan {
            across,
            stepping: prefix.into_iter().chain(rank..extents.len()).collect(),
            strides: strides(&value.shape),
            extents,
            accesses: Vec::new(),
            code: Code::Constant(TRUE),
            literals,
        };
        plan.code = plan.compile(run, &construct.expr, format);
        plan
    }

    fn compile(&mut self, run: &mut Run<'_>, expr: &'c Expr, format: Option<Format>) -> Code {
        match expr {
            Expr::Number(number) => Code::Constant(literal(run, number, format)),
            Expr::Index(affine) => Code::Index(affine.clone()),
            Expr::Element(read) => self.access(run, read, format),
            Expr::Apply(function, operands) => {
                let compiled = operands.iter().map(|operand| self.compile(run, operand, format)).collect();
                match (function, operands.last()) {
                    (Function::Where, Some(arm)) if is_truth(run, arm) => Code::ChooseTruths(compiled),
                    _ => Code::Apply(*function, compiled),
                }
            }
        }
    }

    fn access(&mut self, run: &mut Run<'_>, read: &'c Read, format: Option<Format>) -> Code {
        let source = run.graph.value(read.value);
        let (extents, strides) = (source.shape.clone(), strides(&source.shape));
        let is_truth = ExprKind::of(source.element) == ExprKind::Truth;
        let mut flat = Some(Indexing::default());
        let mut computed = Vec::new();
        for ((at, extent), stride) in read.at.iter().zip(&extents).zip(&strides) {
            match at {
                At::Affine(affine) => {
                    let last = extent.cast_signed() - 1;
                    let inside = affine.divisor() == 1
                        && affine.bounds(&self.extents).is_some_and(|[low, high]| low >= 0 && high <= last);
                    flat = flat.filter(|_| inside).map(|mut flat| {
                        flat.constant = flat.constant.saturating_add(affine.constant.saturating_mul(*stride));
                        flat.terms.extend(
                            affine
                                .terms
                                .iter()
                                .map(|(variable, own)| (*variable, own.saturating_mul(*stride))),
                        );
                        flat
                    });
                    computed.push(None);
                }
                At::Computed(expr) => {
                    flat = None;
                    computed.push(Some(self.compile(run, expr, None)));
                }
            }
        }
        let outside = read.outside.as_ref().map(|number| literal(run, number, format));
        self.accesses.push(Access { read, flat, extents, strides, outside, computed, is_truth });
        Code::Read(self.accesses.len() - 1)
    }

    pub(super) fn frame(&self) -> Frame {
        Frame {
            variables: vec![[0; 32]; self.extents.len()],
            bases: vec![[0; 32]; self.accesses.len()],
            offsets: vec![0; self.accesses.len()],
            places: [0; 32],
            place_of_step: 0,
        }
    }

    /// The chunks of the value, in the order of its elements.
    pub(super) fn chunks(&self) -> Chunks {
        let inner = self.across.last().map_or(1, |at| self.extents[*at]);
        let all = self.across.iter().map(|at| self.extents[*at]).product::<u64>();
        // Long rows begin with a chunk of their own, so that its elements are neighbours.
        Chunks { next: 0, all, row: if inner >= 32 { inner } else { all.max(1) } }
    }

    /// Begins the steps of a chunk.
    pub(super) fn steps(&self, frame: &mut Frame) -> Steps {
        for variable in &self.stepping {
            frame.variables[*variable] = [0; 32];
        }
        let is_empty = self.stepping.iter().any(|variable| self.extents[*variable] == 0);
        Steps { begun: false, is_empty }
    }

    /// The lanes in which all elements lie inside that have no number for those outside.
    pub(super) fn present(&self, frame: &Frame, mask: LaneMask) -> LaneMask {
        let mut present = mask;
        let accesses = self.accesses.iter();
        for access in accesses.filter(|access| access.flat.is_none() && access.outside.is_none()) {
            for lane in mask {
                if !access.is_inside(frame, lane.index()) {
                    present.remove(lane);
                }
            }
        }
        present
    }

    /// Both factors, if the expression is a product.
    pub(super) fn factors(
        &self,
        run: &mut Run<'_>,
        frame: &Frame,
        mask: LaneMask,
    ) -> Result<Option<[Lanes; 2]>, Stop> {
        let Code::Apply(Function::Mul, operands) = &self.code else { return Ok(None) };
        let [a, b] = operands.as_slice() else { return Ok(None) };
        Ok(Some([self.run(a, run, frame, mask)?, self.run(b, run, frame, mask)?]))
    }

    /// What the expression is in these lanes.
    pub(super) fn evaluate(&self, run: &mut Run<'_>, frame: &Frame, mask: LaneMask) -> Result<Lanes, Stop> {
        self.run(&self.code, run, frame, mask)
    }

    fn run(&self, code: &Code, run: &mut Run<'_>, frame: &Frame, mask: LaneMask) -> Result<Lanes, Stop> {
        run.meter.charge(1, run.terms.store)?;
        match code {
            Code::Constant(raw) => Ok([*raw; 32]),
            Code::Index(affine) => {
                let mut lanes = [0; 32];
                for lane in mask {
                    let number = Rational::from_integer(frame.numerator(affine, lane.index()));
                    let number = number.checked_div(&Rational::from_integer(affine.divisor()));
                    lanes[lane.index()] = run.terms.number(Extended::Finite(number.unwrap_or_default()));
                }
                Ok(lanes)
            }
            Code::Read(access) => self.read(*access, run, frame, mask),
            Code::ChooseTruths(operands) => {
                let operands = self.run_all(operands, run, frame, mask)?;
                let [condition, then, otherwise] = operands.as_slice() else {
                    unreachable!("a graph is checked before it is evaluated")
                };
                Ok(run.terms.choose_truths(mask, [condition, then, otherwise]))
            }
            Code::Apply(function, operands) => {
                let operands = self.run_all(operands, run, frame, mask)?;
                Ok(self.literals.apply(*function, &operands, &mut run.terms, mask))
            }
        }
    }

    fn run_all(
        &self,
        operands: &[Code],
        run: &mut Run<'_>,
        frame: &Frame,
        mask: LaneMask,
    ) -> Result<SmallVec<[Lanes; 3]>, Stop> {
        operands.iter().map(|operand| self.run(operand, run, frame, mask)).collect()
    }

    fn read(&self, at: usize, run: &mut Run<'_>, frame: &Frame, mask: LaneMask) -> Result<Lanes, Stop> {
        let access = &self.accesses[at];
        let mut lanes = [0; 32];
        if access.flat.is_some() {
            let elements = &run.elements[access.read.value.0];
            let (bases, offset) = (&frame.bases[at], frame.offsets[at]);
            for lane in mask {
                lanes[lane.index()] = elements[(bases[lane.index()] + offset) as usize];
            }
            return Ok(lanes);
        }
        let mut places = [0i64; 32];
        let mut inside = LaneMask::NONE;
        for lane in mask {
            if let Some(place) = access.place(frame, lane.index()) {
                places[lane.index()] = place;
                inside.insert(lane);
            }
        }
        let chosen = self.gather(access, 0, places, (run, frame, inside))?;
        let outside = access.outside.unwrap_or(0);
        Ok(merged([outside; 32], chosen, inside))
    }

    /// Reads at the places in these lanes, after the computed indices from a dimension on were added to them.
    fn gather(
        &self,
        access: &Access<'_>,
        from: usize,
        places: [i64; 32],
        (run, frame, mask): (&mut Run<'_>, &Frame, LaneMask),
    ) -> Result<Lanes, Stop> {
        let mut lanes = [0; 32];
        if mask.is_empty() {
            return Ok(lanes);
        }
        let dimension = (from..access.computed.len()).find(|at| access.computed[*at].is_some());
        let Some((dimension, Some(index))) = dimension.map(|at| (at, &access.computed[at])) else {
            let elements = &run.elements[access.read.value.0];
            for lane in mask {
                lanes[lane.index()] = elements[places[lane.index()] as usize];
            }
            return Ok(lanes);
        };
        let index = self.run(index, run, frame, mask)?;
        let (mut least, mut greatest) = (i128::MAX, i128::MIN);
        let mut bounds = [[0i128; 2]; 32];
        for lane in mask {
            let raw = index[lane.index()];
            let range = (raw >> TermId::BITS == 0)
                .then(|| run.terms.ranges.of(run.terms.store, TermId::from_raw(raw)));
            let [low, high] = range.map_or([None; 2], |range| [range.low, range.high]);
            match (low, high) {
                (Some(low), Some(high))
                    if low >= 0
                        && high < i128::from(access.extents[dimension])
                        && high - low < MOST_INDICES =>
                {
                    bounds[lane.index()] = [low, high];
                    (least, greatest) = (least.min(low), greatest.max(high));
                }
                _ => {
                    let outside = Outside {
                        by: ValueId(run.terms.value),
                        from: access.read.value,
                        dimension,
                        bounds: [low, high],
                    };
                    return Err(Stop::Outside(outside));
                }
            }
        }
        let mut filled = LaneMask::NONE;
        for value in (least..=greatest).rev() {
            let here = mask.iter().filter(|lane| {
                let [low, high] = bounds[lane.index()];
                (low..=high).contains(&value)
            });
            let here = here.fold(LaneMask::NONE, |mut here, lane| {
                here.insert(lane);
                here
            });
            if here.is_empty() {
                continue;
            }
            let mut moved = places;
            moved.iter_mut().for_each(|place| *place += value as i64 * access.strides[dimension]);
            let own = self.gather(access, dimension + 1, moved, (run, frame, here))?;
            let (new, old) = (here & !filled, here & filled);
            filled |= here;
            lanes = merged(lanes, own, new);
            if !old.is_empty() {
                let number = [run.terms.whole(value); 32];
                let is_it = run.terms.apply(TermOp::Equal, old, &[&index, &number]);
                let operands = [&is_it, &own, &lanes];
                let chosen = match access.is_truth {
                    true => run.terms.choose_truths(old, operands),
                    false => run.terms.apply(TermOp::Select, old, &operands),
                };
                lanes = merged(lanes, chosen, old);
            }
        }
        Ok(lanes)
    }
}

impl Access<'_> {
    /// The place in row-major order, without the computed indices; `None` outside.
    fn place(&self, frame: &Frame, lane: usize) -> Option<i64> {
        let mut place = 0;
        for ((at, extent), stride) in self.read.at.iter().zip(&self.extents).zip(&self.strides) {
            let At::Affine(affine) = at else { continue };
            let (numerator, divisor) = (frame.numerator(affine, lane), affine.divisor());
            let index = numerator.div_euclid(divisor);
            if numerator.rem_euclid(divisor) != 0 || index < 0 || index >= extent.cast_signed() {
                return None;
            }
            place += index * stride;
        }
        Some(place)
    }

    fn is_inside(&self, frame: &Frame, lane: usize) -> bool {
        self.place(frame, lane).is_some()
    }
}

impl Frame {
    /// An affine function in a lane, before it is divided.
    fn numerator(&self, affine: &Indexing, lane: usize) -> i64 {
        // From the constant on, no partial sum is beyond the bounds that were checked.
        let terms = affine.terms.iter();
        terms.fold(affine.constant, |sum, (variable, own)| sum + own * self.variables[*variable][lane])
    }
}

/// The distances of neighbours in row-major order.
fn strides(shape: &[u64]) -> Vec<i64> {
    let mut strides = vec![1i64; shape.len()];
    for at in (1..shape.len()).rev() {
        strides[at - 1] = strides[at].saturating_mul(shape[at].cast_signed());
    }
    strides
}

/// The chunks of a value.
#[derive(Debug)]
pub(super) struct Chunks {
    next: u64,
    all: u64,
    /// A chunk ends where the number of its next element is a multiple of this.
    row: u64,
}

impl Chunks {
    /// Goes to the next chunk, and returns its lanes.
    pub(super) fn next(&mut self, plan: &Plan<'_>, frame: &mut Frame) -> Option<LaneMask> {
        if self.next >= self.all {
            return None;
        }
        let end = (self.next + 32).min(self.all).min((self.next / self.row + 1) * self.row);
        let mut mask = LaneMask::NONE;
        frame.places = [0; 32];
        for (at, element) in (self.next..end).enumerate() {
            mask.insert(lane(at));
            let mut rest = element;
            for variable in plan.across.iter().rev() {
                let extent = plan.extents[*variable];
                let own = (rest % extent).cast_signed();
                rest /= extent;
                frame.variables[*variable][at] = own;
                frame.places[at] += own * plan.strides[*variable];
            }
        }
        self.next = end;
        for (access, bases) in plan.accesses.iter().zip(&mut frame.bases) {
            let Some(flat) = &access.flat else { continue };
            *bases = [flat.constant; 32];
            for (variable, own) in flat.terms.iter().filter(|(variable, _)| plan.across.contains(variable)) {
                let values = &frame.variables[*variable];
                bases.iter_mut().zip(values).for_each(|(base, value)| *base += own * value);
            }
        }
        Some(mask)
    }
}

/// The steps of a reduction.
#[derive(Debug)]
pub(super) struct Steps {
    begun: bool,
    is_empty: bool,
}

impl Steps {
    /// Goes to the next step; false after the last one.
    pub(super) fn next(&mut self, plan: &Plan<'_>, frame: &mut Frame) -> bool {
        if self.is_empty {
            return false;
        }
        if self.begun {
            let mut done = true;
            for variable in plan.stepping.iter().rev() {
                let next = frame.variables[*variable][0] + 1;
                let ends = next >= plan.extents[*variable].cast_signed();
                frame.variables[*variable] = [if ends { 0 } else { next }; 32];
                if !ends {
                    done = false;
                    break;
                }
            }
            if done {
                return false;
            }
        }
        self.begun = true;
        for (access, offset) in plan.accesses.iter().zip(&mut frame.offsets) {
            let Some(flat) = &access.flat else { continue };
            let terms = flat.terms.iter().filter(|(variable, _)| plan.stepping.contains(variable));
            *offset = terms.map(|(variable, own)| own * frame.variables[*variable][0]).sum();
        }
        let places = plan.stepping.iter().filter(|variable| **variable < plan.strides.len());
        frame.place_of_step =
            places.map(|variable| frame.variables[*variable][0] * plan.strides[*variable]).sum();
        true
    }
}
