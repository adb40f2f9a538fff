//! From elements to a formula: families, indices and names.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::shape::{Node, Shape, ShapeId, Shapes, TooLarge};
use super::tree::{AffineIndex, Definition, Expression, Family, Formula, IndexRange, IndexVariable, Over};
use crate::number::Rational;
use crate::term::InputId;

/// Runs of at most this many operands are written out.
const FEW: i64 = 3;
/// The largest weight of an operand that is written out.
const LIGHT: u32 = 12;
/// Further pieces are counted, not listed.
const MAX_PIECES: usize = 24;
/// In lighter pieces, only repeated parts get names.
const HEAVY: usize = 24;

/// An element of an output and its value, in one or more arrangements; in none if that is too large.
pub type LiftedElement = (InputId, u64, Vec<Node>);

impl Shapes {
    /// The formula of elements, each given once; `names` are those of inputs and outputs.
    ///
    /// Values come in several arrangements, the same ones in the same order. For each output, the arrangement is
    /// used in which all of its elements together are shortest.
    pub fn formula(&mut self, elements: &[LiftedElement], names: &[String]) -> Formula {
        let tensors: Vec<Arc<str>> = names.iter().map(|name| Arc::from(name.as_str())).collect();
        let mut formula = Formula { tensors, ..Formula::default() };
        let mut families: Vec<Node> = Vec::new();
        let mut outputs: Vec<&LiftedElement> = elements.iter().collect();
        outputs.sort_by_key(|(param, element, _)| (*param, *element));
        for output in outputs.chunk_by(|a, b| a.0 == b.0) {
            let arrangements = output.iter().map(|(.., values)| values.len()).max().unwrap_or(0);
            let ways = (0..arrangements).filter_map(|way| self.families(output, way).ok());
            let weighed = ways.collect::<Vec<_>>().into_iter().map(|(families, open)| {
                // A line of its own costs as much as a few words.
                let weight = |family: &Node| u64::from(self.weight(family.shape)) + 8;
                (open, families.iter().map(weight).sum::<u64>(), families)
            });
            match weighed.min_by_key(|(open, weight, _)| (*open, *weight)) {
                Some((open, _, own)) => {
                    formula.open += open;
                    families.extend(own);
                }
                None => formula.open += output.len() as u64,
            }
        }
        families.sort_by_key(|family| self.first_element(family));
        if families.len() > MAX_PIECES {
            let omitted = families.split_off(MAX_PIECES);
            formula.omitted =
                (omitted.len() as u64, omitted.iter().map(|family| self.elements(family)).sum());
        }
        for family in families {
            let elements = self.elements(&family);
            let tree = Tree { shapes: self, tensors: &formula.tensors };
            let piece = tree.piece(&family, elements);
            formula.pieces.push(piece);
        }
        name_parts(&mut formula);
        formula
    }

    /// The elements of an output as families, in the given arrangement of their values or else the last one; and
    /// the number of elements without a value.
    fn families(&mut self, output: &[&LiftedElement], way: usize) -> Result<(Vec<Node>, u64), TooLarge> {
        let mut entries = Vec::new();
        let mut open = 0;
        for (param, element, values) in output {
            match values.get(way).or(values.last()) {
                Some(value) => entries.push(self.entry(*param, *element, value)?),
                None => open += 1,
            }
        }
        let mut families = Vec::new();
        for group in self.by_shape(entries, |entry| entry, |_, _| true) {
            families.extend(self.runs(Over::All, group)?);
        }
        Ok((families, open))
    }

    /// The output and the index of the first element of a family.
    fn first_element(&self, family: &Node) -> (u32, Vec<i64>) {
        let mut shape = family.shape;
        while let Shape::Run { body, .. } = self.get(shape) {
            shape = *body;
        }
        let Shape::Entry(param, _) = self.get(shape) else { return (u32::MAX, Vec::new()) };
        (param.0, family.slots[..self.rank(*param)].to_vec())
    }

    /// The number of elements of a family.
    fn elements(&self, family: &Node) -> u64 {
        let mut rows: Vec<(ShapeId, Vec<i64>)> = vec![(family.shape, family.slots.to_vec())];
        let mut elements = 0;
        while let Some((shape, slots)) = rows.pop() {
            let Shape::Run { over: Over::All, body, strides } = self.get(shape) else {
                elements += 1;
                continue;
            };
            let (count, slots) = slots.split_last().map_or((0, &[][..]), |(count, slots)| (*count, slots));
            if matches!(self.get(*body), Shape::Entry(..)) {
                elements += count as u64;
                continue;
            }
            let row = |at: i64| slots.iter().zip(strides).map(|(slot, stride)| slot + at * stride).collect();
            rows.extend((0..count).map(|at| (*body, row(at))));
        }
        elements
    }
}

/// Converts nodes to trees.
struct Tree<'s> {
    shapes: &'s Shapes,
    tensors: &'s [Arc<str>],
}

impl Tree<'_> {
    fn piece(&self, family: &Node, elements: u64) -> Family {
        let slots: Vec<AffineIndex> = family.slots.iter().map(|slot| AffineIndex::constant(*slot)).collect();
        let mut ranges = Vec::new();
        let (shape, slots) = self.open(family.shape, slots, Over::All, &mut ranges, 0);
        let Shape::Entry(param, value) = self.shapes.get(shape) else {
            return Family {
                output: Arc::from(""),
                index: Vec::new(),
                ranges,
                elements,
                value: Expression::Constant(Arc::from("")),
            };
        };
        let (index, slots) = slots.split_at(self.shapes.rank(*param));
        let value = self.expression(*value, slots, ranges.len() as u32);
        Family { output: self.tensors[param.index()].clone(), index: index.to_vec(), ranges, elements, value }
    }

    /// Enters nested runs, the outermost first: adds a range for each, and returns what is within.
    fn open(
        &self,
        mut shape: ShapeId,
        mut slots: Vec<AffineIndex>,
        over: Over,
        ranges: &mut Vec<IndexRange>,
        depth: u32,
    ) -> (ShapeId, Vec<AffineIndex>) {
        let mut first = true;
        while let Shape::Run { over: own, body, strides } = self.shapes.get(shape) {
            if !(*own == over || (over == Over::Mean && *own == Over::Sum && !first)) {
                break;
            }
            let Some(count) = slots.pop() else { break };
            if count == AffineIndex::constant(1) {
                shape = *body;
                first = false;
                continue;
            }
            let variable = IndexVariable(depth + ranges.len() as u32);
            let from = first_of(&slots, strides, over);
            for (slot, stride) in slots.iter_mut().zip(strides) {
                *slot = slot.plus(&AffineIndex::variable(variable), *stride).plus(&from, -stride);
            }
            let to = count.plus(&from, 1);
            ranges.push(IndexRange { variable, from, to });
            shape = *body;
            first = false;
        }
        (shape, slots)
    }

    fn expression(&self, shape: ShapeId, slots: &[AffineIndex], depth: u32) -> Expression {
        let mut rest = slots;
        let mut inside = |part: ShapeId| {
            let (own, behind) = rest.split_at(self.shapes.slots_of(part));
            rest = behind;
            self.expression(part, own, depth)
        };
        match self.shapes.get(shape) {
            Shape::Number(value) => Expression::Number(value.clone()),
            Shape::Whole => Expression::Whole(slots[0].clone()),
            Shape::Constant(name) => Expression::Constant(Arc::from(&**name)),
            Shape::Element(input) => Expression::Element(self.tensors[input.index()].clone(), slots.to_vec()),
            Shape::Sum(parts) => {
                let mut addends: Vec<(Rational, Expression)> = Vec::new();
                for (coefficient, part) in parts {
                    // A short run is written out.
                    let is_flat =
                        coefficient.abs().is_one() || matches!(self.shapes.get(*part), Shape::Run { .. });
                    let part = inside(*part);
                    if is_flat && let Expression::Sum(own) = part {
                        addends.extend(own.into_iter().map(|(own, part)| (&own * coefficient, part)));
                    } else if let Expression::Number(value) = part {
                        addends.push((coefficient.clone() * value, Expression::Number(Rational::ONE)));
                    } else {
                        addends.push((coefficient.clone(), part));
                    }
                }
                Expression::Sum(addends)
            }
            Shape::Product(parts) => {
                let mut factors = Vec::new();
                for (part, power) in parts {
                    let is_flat = self.is_run(*part, Over::Product);
                    let part = inside(*part);
                    if is_flat && let Expression::Product(own) = part {
                        factors.extend(own.into_iter().map(|(part, own)| (part, own * power / 2)));
                    } else {
                        factors.push((part, *power));
                    }
                }
                Expression::Product(factors)
            }
            Shape::Exp(part) => Expression::Exp(Box::new(inside(*part))),
            Shape::Positive(part) => Expression::Positive(Box::new(inside(*part))),
            Shape::Zero(part) => Expression::Zero(Box::new(inside(*part))),
            Shape::Apply(op, parts) => {
                let mut operands = Vec::new();
                for part in parts {
                    let is_run = matches!(self.shapes.get(*part), Shape::Run { .. });
                    let operand = inside(*part);
                    if is_run
                        && matches!(&operand, Expression::Apply(own, _) if own == op)
                        && let Expression::Apply(_, list) = operand
                    {
                        operands.extend(list);
                    } else {
                        operands.push(operand);
                    }
                }
                Expression::Apply(*op, operands)
            }
            Shape::Run { over, .. } => self.run(*over, shape, slots, depth),
            Shape::Entry(..) => Expression::Constant(Arc::from("")),
        }
    }

    fn is_run(&self, shape: ShapeId, over: Over) -> bool {
        matches!(self.shapes.get(shape), Shape::Run { over: own, .. } if *own == over)
    }

    fn run(&self, over: Over, shape: ShapeId, slots: &[AffineIndex], depth: u32) -> Expression {
        if let Some(parts) = self.written_out(over, shape, slots, depth) {
            return parts;
        }
        let mut ranges = Vec::new();
        let (shape, slots) = self.open(shape, slots.to_vec(), over, &mut ranges, depth);
        let body = self.expression(shape, &slots, depth + ranges.len() as u32);
        // A single operand, where other elements have several.
        if ranges.is_empty() {
            return body;
        }
        Expression::Over(over, ranges, Box::new(body))
    }

    /// A short run of light operands, written out one by one.
    fn written_out(
        &self,
        over: Over,
        shape: ShapeId,
        slots: &[AffineIndex],
        depth: u32,
    ) -> Option<Expression> {
        let Shape::Run { body, strides, .. } = self.shapes.get(shape) else { return None };
        let (count, slots) = slots.split_last()?;
        let is_few = count.terms.is_empty() && count.constant <= FEW && self.shapes.weight(*body) <= LIGHT;
        if !is_few || matches!(self.shapes.get(*body), Shape::Run { .. }) {
            return None;
        }
        let operand = |at: i64| {
            let slots = slots.iter().zip(strides);
            let slots = slots.map(|(slot, stride)| slot.plus(&AffineIndex::constant(*stride), at));
            self.expression(*body, &slots.collect::<Vec<_>>(), depth)
        };
        let operands = (0..count.constant).map(operand);
        Some(match over {
            Over::Sum => Expression::Sum(operands.map(|part| (Rational::ONE, part)).collect()),
            Over::Mean => {
                let share = Rational::from_integer(count.constant).recip()?;
                Expression::Sum(operands.map(|part| (share.clone(), part)).collect())
            }
            Over::Product => Expression::Product(operands.map(|part| (part, 2)).collect()),
            Over::Max | Over::Min => {
                let op = if over == Over::Max { crate::term::TermOp::Max } else { crate::term::TermOp::Min };
                Expression::Apply(op, operands.collect())
            }
            Over::All => return None,
        })
    }
}

/// The first value of a range: the first index of a slot with stride 1, so that indices read `k` and not `k + 3`.
/// In sums, a slot with a constant index is preferred; otherwise all such slots must have the same index.
fn first_of(slots: &[AffineIndex], strides: &[i64], over: Over) -> AffineIndex {
    let mut plain = slots.iter().zip(strides).filter(|(_, stride)| **stride == 1).map(|(slot, _)| slot);
    if over == Over::All {
        return plain.next().cloned().unwrap_or_default();
    }
    let plain: Vec<&AffineIndex> = plain.collect();
    if let Some(number) = plain.iter().find(|slot| slot.terms.is_empty()) {
        return (*number).clone();
    }
    match plain.split_first() {
        Some((first, others)) if others.iter().all(|other| other == first) => (*first).clone(),
        _ => AffineIndex::default(),
    }
}

/// Names parts: repeated ones, ranges within ranges, and in heavy pieces all ranges except addends and factors of
/// the whole.
fn name_parts(formula: &mut Formula) {
    let mut naming = Naming::default();
    for piece in &formula.pieces {
        naming.count(&piece.value, piece.ranges.len() as u32);
    }
    for piece in &mut formula.pieces {
        let around = Around { open: true, listed: piece.value.weight() >= HEAVY };
        naming.within(&mut piece.value, piece.ranges.len() as u32, around);
    }
    let mut taken: Vec<String> = formula.tensors.iter().map(|name| name.to_string()).collect();
    for definition in &mut naming.definitions {
        let word = match &definition.value {
            Expression::Over(Over::Sum, ..) => "sum",
            Expression::Over(Over::Mean, ..) => "mean",
            Expression::Over(Over::Product, ..) => "product",
            Expression::Over(Over::Max, ..) => "max",
            Expression::Over(Over::Min, ..) => "min",
            Expression::Number(_)
            | Expression::Whole(_)
            | Expression::Constant(_)
            | Expression::Element(..)
            | Expression::Name(..)
            | Expression::Sum(_)
            | Expression::Product(_)
            | Expression::Exp(_)
            | Expression::Apply(..)
            | Expression::Positive(_)
            | Expression::Zero(_)
            | Expression::Marked(_)
            | Expression::Over(Over::All, ..) => "part",
        };
        let mut names =
            std::iter::once(word.to_string()).chain((2..).map(|number| format!("{word}{number}")));
        definition.name = names.find(|name| !taken.contains(name)).unwrap_or_default();
        taken.push(definition.name.clone());
    }
    formula.definitions = naming.definitions;
}

/// The context of an expression.
#[derive(Clone, Copy)]
struct Around {
    /// It is an addend or a factor of the whole.
    open: bool,
    /// Ranges in it get names.
    listed: bool,
}

/// An expression whose free variables are its parameters, and their number.
type Closed = (u32, Expression);

#[derive(Default)]
struct Naming {
    definitions: Vec<Definition>,
    /// The number of occurrences of expressions.
    often: FxHashMap<Closed, usize>,
    known: FxHashMap<Closed, usize>,
}

impl Naming {
    fn may_have_name(at: &Expression) -> bool {
        /// Lighter expressions are easily read twice.
        const LEAST: usize = 7;
        matches!(at, Expression::Over(..)) || at.weight() >= LEAST
    }

    fn count(&mut self, at: &Expression, depth: u32) {
        if Self::may_have_name(at) {
            let (closed, _) = closed(at, depth);
            let often = self.often.entry(closed).or_default();
            *often += 1;
            if *often > 1 {
                // Its parts occur once more, but only within it.
                return;
            }
        }
        let inner = depth + at.range_count();
        at.each_part(&mut |part| self.count(part, inner));
    }

    fn within(&mut self, at: &mut Expression, depth: u32, around: Around) {
        let original = Self::may_have_name(at).then(|| closed(at, depth));
        let is_over = matches!(at, Expression::Over(..));
        match &mut *at {
            Expression::Sum(addends) => {
                addends.iter_mut().for_each(|(_, part)| self.within(part, depth, around));
            }
            Expression::Product(factors) => {
                for (part, power) in factors {
                    self.within(part, depth, Around { open: around.open && *power == 2, ..around });
                }
            }
            other @ (Expression::Number(_)
            | Expression::Whole(_)
            | Expression::Constant(_)
            | Expression::Element(..)
            | Expression::Name(..)
            | Expression::Exp(_)
            | Expression::Apply(..)
            | Expression::Positive(_)
            | Expression::Zero(_)
            | Expression::Marked(_)
            | Expression::Over(..)) => {
                let inner = depth + other.range_count();
                let around = Around { open: false, listed: around.listed || is_over };
                other.each_part_mut(&mut |part| self.within(part, inner, around));
            }
        }
        let Some((key, free)) = original else { return };
        let is_often = self.often.get(&key).is_some_and(|often| *often > 1);
        if !(is_often || is_over && around.listed && !around.open) {
            return;
        }
        let position = match self.known.get(&key) {
            Some(position) => *position,
            None => {
                let ((parameters, value), _) = closed(at, depth);
                self.known.insert(key, self.definitions.len());
                self.definitions.push(Definition { name: String::new(), parameters, value });
                self.definitions.len() - 1
            }
        };
        *at = Expression::Name(position, free.into_iter().map(AffineIndex::variable).collect());
    }
}

/// An expression nested in `depth` ranges, with its free variables renumbered as the first ones; and these variables.
fn closed(at: &Expression, depth: u32) -> (Closed, Vec<IndexVariable>) {
    let mut free: Vec<IndexVariable> = Vec::new();
    at.each_index(&mut |index| {
        for (variable, _) in &index.terms {
            if variable.0 < depth && !free.contains(variable) {
                free.push(*variable);
            }
        }
    });
    free.sort_unstable();
    let parameters = free.len() as u32;
    let renumbered = |variable: IndexVariable| match free.binary_search(&variable) {
        Ok(at) => IndexVariable(at as u32),
        Err(_) => IndexVariable(variable.0 - depth + parameters),
    };
    let mut value = at.clone();
    value.renumber(&renumbered);
    ((parameters, value), free)
}

impl Expression {
    /// Calls `each` for the affine indices of elements, ranges and arguments.
    fn each_index(&self, each: &mut impl FnMut(&AffineIndex)) {
        match self {
            Expression::Whole(index) => each(index),
            Expression::Element(_, list) | Expression::Name(_, list) => list.iter().for_each(&mut *each),
            Expression::Over(_, ranges, _) => {
                ranges.iter().for_each(|range| [&range.from, &range.to].into_iter().for_each(&mut *each));
            }
            Expression::Number(_)
            | Expression::Constant(_)
            | Expression::Sum(_)
            | Expression::Product(_)
            | Expression::Exp(_)
            | Expression::Apply(..)
            | Expression::Positive(_)
            | Expression::Zero(_)
            | Expression::Marked(_) => {}
        }
        self.each_part(&mut |part| part.each_index(&mut *each));
    }

    /// The number of its own ranges.
    fn range_count(&self) -> u32 {
        if let Expression::Over(_, ranges, _) = self { ranges.len() as u32 } else { 0 }
    }

    /// A measure of its length.
    fn weight(&self) -> usize {
        let mut weight = 1;
        self.each_part(&mut |part| weight += part.weight());
        weight
    }

    /// Calls `each` for the direct parts.
    fn each_part(&self, each: &mut impl FnMut(&Expression)) {
        match self {
            Expression::Number(_)
            | Expression::Whole(_)
            | Expression::Constant(_)
            | Expression::Element(..)
            | Expression::Name(..) => {}
            Expression::Sum(parts) => parts.iter().for_each(|(_, part)| each(part)),
            Expression::Product(parts) => parts.iter().for_each(|(part, _)| each(part)),
            Expression::Apply(_, parts) => parts.iter().for_each(each),
            Expression::Exp(part)
            | Expression::Positive(part)
            | Expression::Zero(part)
            | Expression::Marked(part)
            | Expression::Over(_, _, part) => each(part),
        }
    }

    /// Like `each_part`, with mutable parts.
    fn each_part_mut(&mut self, each: &mut impl FnMut(&mut Expression)) {
        match self {
            Expression::Number(_)
            | Expression::Whole(_)
            | Expression::Constant(_)
            | Expression::Element(..)
            | Expression::Name(..) => {}
            Expression::Sum(parts) => parts.iter_mut().for_each(|(_, part)| each(part)),
            Expression::Product(parts) => parts.iter_mut().for_each(|(part, _)| each(part)),
            Expression::Apply(_, parts) => parts.iter_mut().for_each(each),
            Expression::Exp(part)
            | Expression::Positive(part)
            | Expression::Zero(part)
            | Expression::Marked(part)
            | Expression::Over(_, _, part) => each(part),
        }
    }

    /// Renumbers variables.
    fn renumber(&mut self, by: &impl Fn(IndexVariable) -> IndexVariable) {
        let affine = |index: &mut AffineIndex| {
            *index = index.replaced(&|variable| AffineIndex::variable(by(variable)))
        };
        match self {
            Expression::Whole(index) => affine(index),
            Expression::Element(_, list) | Expression::Name(_, list) => list.iter_mut().for_each(affine),
            Expression::Over(_, ranges, _) => {
                for range in ranges {
                    range.variable = by(range.variable);
                    affine(&mut range.from);
                    affine(&mut range.to);
                }
            }
            Expression::Number(_)
            | Expression::Constant(_)
            | Expression::Sum(_)
            | Expression::Product(_)
            | Expression::Exp(_)
            | Expression::Apply(..)
            | Expression::Positive(_)
            | Expression::Zero(_)
            | Expression::Marked(_) => {}
        }
        self.each_part_mut(&mut |part| part.renumber(by));
    }
}
