//! Values whose elements are given one by one, as a function of Rust computes them.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use volta_case::Format;

use super::apply::{Literals, format_of_literals, literal};
use super::check::{ExprKind, applied};
use super::evaluate::{Run, Stop, lane};
use super::lanes::{Lanes, UNDEFINED, UNWRITTEN};
use super::{Function, GraphValue, ValueId};
use crate::base::lane::LaneMask;
use crate::number::Extended;
use crate::term::{TermId, TermOp};

/// A value that is given element by element.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// What is computed, each operation after those that it uses. Several values may share one list: each evaluates
    /// what it needs.
    pub operations: Arc<[Operation]>,
    /// For each element of the value, its operation; `None` where nothing is written.
    pub elements: Vec<Option<OperationId>>,
}

/// The number of an operation in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperationId(pub u32);

/// One number or truth value.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// A number, which is read as in a [`Construct`](super::Construct).
    Number(Extended),
    /// An element of an earlier value, by its place in row-major order.
    Element(ValueId, u64),
    /// A function of operations, as many as it takes.
    Apply(Function, SmallVec<[OperationId; 3]>),
    /// Of several numbers the one at a place, a whole number that must be one of theirs, whatever the inputs are.
    Pick(OperationId, Box<[OperationId]>),
}

impl Operation {
    fn visit(&self, see: &mut dyn FnMut(OperationId)) {
        match self {
            Operation::Number(_) | Operation::Element(..) => {}
            Operation::Apply(_, operands) => operands.iter().for_each(|own| see(*own)),
            Operation::Pick(place, among) => {
                see(*place);
                among.iter().for_each(|own| see(*own));
            }
        }
    }
}

impl Listing {
    /// Calls `see` for each value that it reads.
    pub(super) fn visit_reads(&self, see: &mut dyn FnMut(ValueId)) {
        for operation in self.operations.iter() {
            if let Operation::Element(value, _) = operation {
                see(*value);
            }
        }
    }

    /// Which operations the elements need.
    fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.operations.len()];
        self.elements.iter().flatten().for_each(|own| needed[own.0 as usize] = true);
        for at in (0..self.operations.len()).rev() {
            if needed[at] {
                self.operations[at].visit(&mut |own| needed[own.0 as usize] = true);
            }
        }
        needed
    }
}

/// What each operation of a list is.
///
/// # Errors
/// What is wrong with the first wrong one.
pub fn kinds(operations: &[Operation], earlier: &[GraphValue]) -> Result<Vec<ExprKind>, String> {
    let mut kinds: Vec<ExprKind> = Vec::with_capacity(operations.len());
    for operation in operations {
        let mut is_earlier = true;
        operation.visit(&mut |own| is_earlier &= (own.0 as usize) < kinds.len());
        if !is_earlier {
            return Err("an operation is used before it is defined".into());
        }
        kinds.push(kind(operation, &kinds, earlier)?);
    }
    Ok(kinds)
}

fn kind(operation: &Operation, kinds: &[ExprKind], earlier: &[GraphValue]) -> Result<ExprKind, String> {
    let of = |own: &OperationId| kinds[own.0 as usize];
    match operation {
        Operation::Number(Extended::Finite(number)) if number.is_integer() => Ok(ExprKind::Whole),
        Operation::Number(_) => Ok(ExprKind::Real),
        Operation::Element(value, at) => match earlier.get(value.0) {
            Some(value) if *at < value.count() => Ok(ExprKind::of(value.element)),
            Some(value) => Err(format!("`{}` has no element {at}", value.name)),
            None => Err("a value is used before it is defined".into()),
        },
        Operation::Apply(function, operands) => {
            let kinds: SmallVec<[ExprKind; 3]> = operands.iter().map(of).collect();
            applied(*function, &kinds)
        }
        Operation::Pick(place, among) => {
            if of(place) != ExprKind::Whole {
                return Err("a place is a whole number".into());
            }
            let mut all = among.iter().map(of);
            let first = all.next().ok_or("there is nothing to pick from")?;
            all.try_fold(first, |known, own| match (known, own) {
                (one, other) if one == other => Ok(one),
                (ExprKind::Real, ExprKind::Whole) | (ExprKind::Whole, ExprKind::Real) => Ok(ExprKind::Real),
                _ => Err("numbers and truth values are picked from".to_owned()),
            })
        }
    }
}

impl Run<'_> {
    /// The elements of a value that is given one by one.
    ///
    /// Operations of the same function become the lanes of one node, if the longest way to them has the same length: as
    /// the threads of a warp would compute them.
    pub(super) fn listed(&mut self, value: &GraphValue, listing: &Listing) -> Result<Vec<u64>, Stop> {
        let reads = |run: &Run<'_>| {
            let mut widest = None;
            listing.visit_reads(&mut |id| {
                let own = format_of_literals(run.graph.value(id).element);
                if own.map(|own| own.bytes()) > widest.map(|known: Format| known.bytes()) {
                    widest = own;
                }
            });
            widest
        };
        let format = format_of_literals(value.element).or_else(|| reads(self));
        let literals = Literals::new(self.terms.store, format);
        let earlier = &self.graph.values[..self.terms.value];
        let kinds = kinds(&listing.operations, earlier).unwrap_or_default();
        let needed = listing.needed();
        let mut known = vec![0u64; listing.operations.len()];
        let mut levels = vec![0u32; listing.operations.len()];
        let mut groups: FxHashMap<(u32, Function), Vec<OperationId>> = FxHashMap::default();
        let mut order: Vec<(u32, Step)> = Vec::new();
        for (at, operation) in listing.operations.iter().enumerate() {
            if !needed[at] {
                continue;
            }
            let own = OperationId(at as u32);
            let mut level = 0;
            operation.visit(&mut |operand| level = level.max(levels[operand.0 as usize] + 1));
            levels[at] = level;
            match operation {
                Operation::Number(number) => known[at] = literal(self, number, format),
                Operation::Element(value, place) => known[at] = self.elements[value.0][*place as usize],
                Operation::Pick(..) => order.push((level, Step::Pick(own))),
                Operation::Apply(function, _) => {
                    let group = groups.entry((level, *function)).or_default();
                    if group.is_empty() {
                        order.push((level, Step::Apply(*function)));
                    }
                    group.push(own);
                }
            }
        }
        order.sort_by_key(|(level, _)| *level);
        for (level, step) in order {
            match step {
                Step::Pick(own) => known[own.0 as usize] = self.picked(listing, own, &kinds, &known)?,
                Step::Apply(function) => {
                    let group = groups.remove(&(level, function)).unwrap_or_default();
                    for chunk in group.chunks(32) {
                        self.apply_listed(listing, (function, chunk), (&literals, &kinds), &mut known)?;
                    }
                }
            }
        }
        let element = |own: &Option<OperationId>| own.map_or(UNWRITTEN, |own| known[own.0 as usize]);
        Ok(listing.elements.iter().map(element).collect())
    }

    /// Applies a function to up to 32 lists of operands.
    fn apply_listed(
        &mut self,
        listing: &Listing,
        (function, chunk): (Function, &[OperationId]),
        (literals, kinds): (&Literals, &[ExprKind]),
        known: &mut [u64],
    ) -> Result<(), Stop> {
        self.meter.charge(1, self.terms.store)?;
        let mut operands = [[0; 32]; 3];
        let (mut mask, mut truths) = (LaneMask::NONE, LaneMask::NONE);
        for (at, own) in chunk.iter().enumerate() {
            let Operation::Apply(_, given) = &listing.operations[own.0 as usize] else { continue };
            for (lanes, operand) in operands.iter_mut().zip(given) {
                lanes[at] = known[operand.0 as usize];
            }
            let of_truths = function == Function::Where && kinds[own.0 as usize] == ExprKind::Truth;
            if of_truths { &mut truths } else { &mut mask }.insert(lane(at));
        }
        let mut results = [0; 32];
        let mut put = |mask: LaneMask, lanes: Lanes| {
            for lane in mask {
                results[lane.index()] = lanes[lane.index()];
            }
        };
        if !truths.is_empty() {
            let [condition, then, otherwise] = &operands;
            put(truths, self.terms.choose_truths(truths, [condition, then, otherwise]));
        }
        if !mask.is_empty() {
            let operands = &operands[..function.arity()];
            put(mask, literals.apply(function, operands, &mut self.terms, mask));
        }
        for (at, own) in chunk.iter().enumerate() {
            known[own.0 as usize] = results[at];
        }
        Ok(())
    }

    fn picked(
        &mut self,
        listing: &Listing,
        own: OperationId,
        kinds: &[ExprKind],
        known: &[u64],
    ) -> Result<u64, Stop> {
        let Operation::Pick(place, among) = &listing.operations[own.0 as usize] else { return Ok(0) };
        let index = known[place.0 as usize];
        let bounds = match index >> TermId::BITS {
            0 => {
                let range = self.terms.ranges.of(self.terms.store, TermId::from_raw(index));
                [range.low, range.high]
            }
            _ => [None; 2],
        };
        let (low, high) = match bounds {
            [Some(low), Some(high)] if low >= 0 && high < among.len() as i128 => (low, high),
            _ if index & UNDEFINED != 0 => return Ok(index),
            _ => return Err(Stop::Picked { bounds, count: among.len() }),
        };
        let one = LaneMask::from_bits(1);
        let at = |place: i128| known[among[place as usize].0 as usize];
        let mut result = at(high);
        for place in (low..high).rev() {
            self.meter.charge(1, self.terms.store)?;
            let number = [self.terms.whole(place); 32];
            let is_it = self.terms.apply(TermOp::Equal, one, &[&[index; 32], &number]);
            let (then, otherwise) = ([at(place); 32], [result; 32]);
            let chosen = match kinds[own.0 as usize] {
                ExprKind::Truth => self.terms.choose_truths(one, [&is_it, &then, &otherwise]),
                ExprKind::Real | ExprKind::Whole => {
                    self.terms.apply(TermOp::Select, one, &[&is_it, &then, &otherwise])
                }
            };
            result = chosen[0];
        }
        Ok(result)
    }
}

/// What is evaluated at a level.
enum Step {
    Pick(OperationId),
    Apply(Function),
}
