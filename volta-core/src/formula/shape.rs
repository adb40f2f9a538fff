//! Expressions as shapes and slots: the operations, separate from the elements that they read.
//!
//! A [`Node`] is an interned shape and a list of integers, its *slots*: the indices of the input elements in it, in
//! order, and the lengths of its runs. Expressions that differ only in their slots share a shape, so that families
//! are found by comparing lists of integers.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHasher};

use super::number;
use super::tree::Over;
use crate::index_type;
use crate::number::Rational;
use crate::term::{InputId, TermOp, element_index};

index_type!(
    /// An interned shape.
    ShapeId,
    "s"
);

/// The operations of an expression, without its slots.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    /// A number.
    Number(Rational),
    /// An integer that may depend on indices: one slot.
    Whole,
    /// A named constant; or the reason why there is no form.
    Constant(Rc<str>),
    /// An input's element: a slot for each dimension.
    Element(InputId),
    /// A linear combination.
    Sum(Box<[(Rational, ShapeId)]>),
    /// A product of powers, in halves: 2 is the factor itself, −1 one over its root.
    Product(Box<[(ShapeId, i32)]>),
    /// A power of `e`.
    Exp(ShapeId),
    /// An operation on the operands.
    Apply(TermOp, Box<[ShapeId]>),
    /// The operand is above zero.
    Positive(ShapeId),
    /// The operand is zero.
    Zero(ShapeId),
    /// Operands of one shape with affine slots, combined; its slots are those of the first operand, followed by the
    /// number of operands.
    Run { over: Over, body: ShapeId, strides: Box<[i64]> },
    /// An element of an output and its value: the slots of the index, then those of the value.
    Entry(InputId, ShapeId),
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    pub(super) shape: ShapeId,
    pub(super) slots: Rc<[i64]>,
}

struct Info {
    shape: Shape,
    /// The meaning of each slot: an index along a dimension of an input, or (`None`) a length.
    slots: Rc<[Option<(InputId, u32)>]>,
    /// The place in the order of shapes; the same in every run.
    order: (u32, u32, u64),
    weight: u32,
    depth: u32,
    /// Whether its values are integers: numbers, choices between them, counts.
    is_count: bool,
}

/// The formula is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Expressions with more slots, before runs are found, are too large.
const MAX_SLOTS: usize = 1 << 10;
/// Expressions nested deeper than this are unreadable.
const MAX_DEPTH: u32 = 150;
/// At most this many slots are processed for one formula.
const MAX_WORK: u64 = 200_000_000;

/// The shapes of one formula.
pub struct Shapes {
    list: Vec<Info>,
    ids: FxHashMap<Shape, ShapeId>,
    /// The extents of each input.
    extents: Vec<Vec<u64>>,
    work: u64,
}

impl Shapes {
    /// No shapes yet; inputs have these extents.
    pub fn new(extents: Vec<Vec<u64>>) -> Shapes {
        let one = Shape::Number(Rational::ONE);
        let info = Info {
            shape: one.clone(),
            slots: Rc::from([]),
            order: (u32::MAX, 1, 0),
            weight: 1,
            depth: 0,
            is_count: true,
        };
        let ids = std::iter::once((one, ShapeId(0))).collect();
        Shapes { list: vec![info], ids, extents, work: 0 }
    }

    /// The number 1, which is the first shape interned.
    pub(super) fn one() -> Node {
        Node { shape: ShapeId(0), slots: Rc::from([]) }
    }

    pub(super) fn get(&self, id: ShapeId) -> &Shape {
        &self.list[id.index()].shape
    }

    pub(super) fn slots_of(&self, id: ShapeId) -> usize {
        self.list[id.index()].slots.len()
    }

    /// A measure of its length.
    pub(super) fn weight(&self, id: ShapeId) -> u32 {
        self.list[id.index()].weight
    }

    /// Whether its values are integers, as far as is seen.
    pub(super) fn is_count(&self, id: ShapeId) -> bool {
        self.list[id.index()].is_count
    }

    fn counts(&self, shape: &Shape) -> bool {
        match shape {
            Shape::Number(value) => value.is_integer(),
            Shape::Whole => true,
            Shape::Sum(parts) => {
                parts.iter().all(|(coefficient, part)| coefficient.is_integer() && self.is_count(*part))
            }
            Shape::Product(parts) => {
                parts.iter().all(|(part, power)| *power > 0 && power % 2 == 0 && self.is_count(*part))
            }
            Shape::Apply(op, parts) => {
                let chosen = if *op == TermOp::Select { &parts[1..] } else { parts };
                matches!(op, TermOp::Select | TermOp::Max | TermOp::Min)
                    && chosen.iter().all(|part| self.is_count(*part))
            }
            Shape::Run { over, body, .. } => *over != Over::Mean && self.is_count(*body),
            Shape::Constant(_)
            | Shape::Element(_)
            | Shape::Exp(_)
            | Shape::Positive(_)
            | Shape::Zero(_)
            | Shape::Entry(..) => false,
        }
    }

    /// The order of shapes by content: by the first input that they read, then by size.
    pub(super) fn order(&self, id: ShapeId) -> (u32, u32, u64) {
        self.list[id.index()].order
    }

    /// The index of an input's element.
    pub(super) fn index(&self, input: InputId, element: u64) -> Vec<u64> {
        element_index(&self.extents[input.index()], element)
    }

    pub(super) fn rank(&self, input: InputId) -> usize {
        self.extents[input.index()].len()
    }

    /// Draws from the budget.
    pub(super) fn charge(&mut self, slots: usize) -> Result<(), TooLarge> {
        self.work += slots as u64 + 1;
        if self.work > MAX_WORK { Err(TooLarge) } else { Ok(()) }
    }

    pub(super) fn intern(&mut self, shape: Shape) -> Result<ShapeId, TooLarge> {
        if let Some(id) = self.ids.get(&shape) {
            return Ok(*id);
        }
        let mut slots: Vec<Option<(InputId, u32)>> = Vec::new();
        if let Shape::Entry(param, _) = &shape {
            slots.extend((0..self.rank(*param)).map(|_| None));
        }
        let (mut lead, mut weight, mut depth) = (u32::MAX, 1u32, 0);
        let mut hash = FxHasher::default();
        std::mem::discriminant(&shape).hash(&mut hash);
        let mut inside = |info: &Info, slots: &mut Vec<_>, hash: &mut FxHasher| {
            slots.extend(info.slots.iter());
            lead = lead.min(info.order.0);
            weight = weight.saturating_add(info.weight);
            depth = depth.max(info.depth + 1);
            info.order.2.hash(hash);
        };
        let info = |id: &ShapeId| &self.list[id.index()];
        match &shape {
            Shape::Number(value) => value.to_string().hash(&mut hash),
            Shape::Constant(text) => text.hash(&mut hash),
            Shape::Whole => slots.push(None),
            Shape::Element(input) => {
                input.0.hash(&mut hash);
                slots.extend((0..self.rank(*input)).map(|at| Some((*input, at as u32))));
            }
            Shape::Sum(parts) => parts.iter().for_each(|(coefficient, part)| {
                inside(info(part), &mut slots, &mut hash);
                coefficient.to_string().hash(&mut hash);
            }),
            Shape::Product(parts) => parts.iter().for_each(|(part, power)| {
                inside(info(part), &mut slots, &mut hash);
                power.hash(&mut hash);
            }),
            Shape::Exp(part) | Shape::Positive(part) | Shape::Zero(part) => {
                inside(info(part), &mut slots, &mut hash)
            }
            Shape::Apply(op, parts) => {
                (*op as u8).hash(&mut hash);
                parts.iter().for_each(|part| inside(info(part), &mut slots, &mut hash));
            }
            Shape::Run { over, body, strides } => {
                inside(info(body), &mut slots, &mut hash);
                (*over as u8).hash(&mut hash);
                strides.hash(&mut hash);
                slots.push(None);
            }
            Shape::Entry(param, value) => {
                inside(info(value), &mut slots, &mut hash);
                param.0.hash(&mut hash);
            }
        }
        if let Shape::Sum(parts) = &shape {
            let numbers = parts.iter().filter(|(coefficient, _)| !coefficient.abs().is_one()).count();
            weight = weight.saturating_add(numbers as u32);
        }
        if let Shape::Element(input) = &shape {
            lead = input.0;
        }
        if slots.len() > MAX_SLOTS || depth > MAX_DEPTH {
            return Err(TooLarge);
        }
        let id = ShapeId::from_index(self.list.len());
        let order = (lead, weight, hash.finish());
        let is_count = self.counts(&shape);
        self.list.push(Info { shape: shape.clone(), slots: slots.into(), order, weight, depth, is_count });
        self.ids.insert(shape, id);
        Ok(id)
    }

    /// A node of a shape, with the slots of its parts in order.
    pub(super) fn node<'n>(
        &mut self,
        shape: Shape,
        parts: impl IntoIterator<Item = &'n Node>,
    ) -> Result<Node, TooLarge> {
        let mut slots: Vec<i64> = Vec::new();
        for part in parts {
            slots.extend(part.slots.iter());
            if slots.len() > MAX_SLOTS {
                return Err(TooLarge);
            }
        }
        self.charge(slots.len())?;
        Ok(Node { shape: self.intern(shape)?, slots: slots.into() })
    }

    /// Sorts parts that may be reordered: by shape, then by slots.
    pub(super) fn sort<T>(&self, parts: &mut [T], node: impl Fn(&T) -> &Node) {
        parts.sort_by(|a, b| {
            let (a, b) = (node(a), node(b));
            (self.order(a.shape), &a.slots).cmp(&(self.order(b.shape), &b.slots))
        });
    }

    /// For each input that a node reads, the bounds of the indices.
    fn bounds(&self, node: &Node) -> Vec<(InputId, Vec<[i64; 2]>)> {
        let mut bounds: Vec<(InputId, Vec<[i64; 2]>)> = Vec::new();
        let slots: Vec<[i64; 2]> = node.slots.iter().map(|slot| [*slot; 2]).collect();
        self.widen(node.shape, &slots, &mut bounds);
        bounds
    }

    fn widen(&self, shape: ShapeId, slots: &[[i64; 2]], bounds: &mut Vec<(InputId, Vec<[i64; 2]>)>) {
        let mut rest = slots;
        let mut inside = |part: &ShapeId, bounds: &mut _| {
            let (own, behind) = rest.split_at(self.slots_of(*part));
            rest = behind;
            self.widen(*part, own, bounds);
        };
        match self.get(shape) {
            Shape::Number(_) | Shape::Whole | Shape::Constant(_) => {}
            Shape::Element(input) => match bounds.iter_mut().find(|(known, _)| known == input) {
                None => bounds.push((*input, slots.to_vec())),
                Some((_, known)) => {
                    for (known, own) in known.iter_mut().zip(slots) {
                        *known = [known[0].min(own[0]), known[1].max(own[1])];
                    }
                }
            },
            Shape::Sum(parts) => parts.iter().for_each(|(_, part)| inside(part, bounds)),
            Shape::Product(parts) => parts.iter().for_each(|(part, _)| inside(part, bounds)),
            Shape::Apply(_, parts) => parts.iter().for_each(|part| inside(part, bounds)),
            Shape::Exp(part) | Shape::Positive(part) | Shape::Zero(part) => inside(part, bounds),
            Shape::Run { body, strides, .. } => {
                let last = slots.last().map_or(0, |count| count[1] - 1);
                let moved = slots.iter().zip(strides).map(|(slot, stride)| {
                    let reach = stride * last;
                    [slot[0] + reach.min(0), slot[1] + reach.max(0)]
                });
                self.widen(*body, &moved.collect::<Vec<_>>(), bounds);
            }
            Shape::Entry(param, value) => self.widen(*value, &slots[self.rank(*param)..], bounds),
        }
    }

    /// A node translated to other elements: those of `input` are `by` further in row-major order. `None` if the
    /// indices would not all shift equally, since a row ends in between.
    pub fn translated(&mut self, node: &Node, by: &[(InputId, i64)]) -> Option<Node> {
        let mut shifts: Vec<(InputId, Vec<i64>)> = Vec::new();
        for (input, bounds) in self.bounds(node) {
            let distance = by.iter().find(|(known, _)| *known == input).map_or(0, |(_, by)| *by);
            if distance == 0 {
                continue;
            }
            let extents = &self.extents[input.index()];
            let first =
                bounds.iter().zip(extents).fold(0, |at, (bound, extent)| at * *extent as i64 + bound[0]);
            let there = element_index(extents, u64::try_from(first + distance).ok()?);
            let shift: Vec<i64> =
                there.iter().zip(&bounds).map(|(there, bound)| *there as i64 - bound[0]).collect();
            let fits =
                bounds.iter().zip(&shift).zip(extents).all(|((bound, shift), extent)| {
                    bound[0] + shift >= 0 && bound[1] + shift < *extent as i64
                });
            if !fits {
                return None;
            }
            shifts.push((input, shift));
        }
        self.charge(node.slots.len()).ok()?;
        let kinds = self.list[node.shape.index()].slots.clone();
        let moved = node.slots.iter().zip(kinds.iter()).map(|(slot, kind)| {
            let shift = kind.and_then(|(input, dimension)| {
                let (_, shift) = shifts.iter().find(|(known, _)| *known == input)?;
                Some(shift[dimension as usize])
            });
            slot + shift.unwrap_or(0)
        });
        Some(Node { shape: node.shape, slots: moved.collect() })
    }

    /// The number of operands of a sum over a run, including directly nested runs, if these have equal lengths.
    pub(super) fn run_length(&self, node: &Node) -> Option<i64> {
        let mut shape = node.shape;
        let mut at = node.slots.len();
        let mut total = 1i64;
        let mut around: Vec<&[i64]> = Vec::new();
        while let Shape::Run { over: Over::Sum, body, strides } = self.get(shape) {
            at -= 1;
            if around.iter().any(|strides| strides[at] != 0) {
                return None;
            }
            total = total.checked_mul(node.slots[at])?;
            around.push(strides);
            shape = *body;
        }
        (!around.is_empty()).then_some(total)
    }

    /// The length of a number's text; 0 for ±1, which is not written.
    pub(super) fn cost(value: &Rational) -> usize {
        let (above, below) = number::parts(&value.abs());
        let line = |below: String| 1 + below.len();
        if value.abs().is_one() { 0 } else { above.len() + below.map_or(0, line) }
    }
}
