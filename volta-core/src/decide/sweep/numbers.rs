//! Numbers of terms by what they are computed from: terms of both sides with one number are the same sums, maxima and
//! minima of the same operands, in whatever order, and otherwise the same operations on the same operands.
//!
//! A row that one thread adds up in order, and that a block adds up in a tree, has one number, however long it is, and
//! without a normal form. Numbers say that two terms have one value wherever either has one: sums and extremes, of
//! infinities as well, are defined in every order or in none, and literals are read alike (V9). Names have numbers of
//! their own, so that what is computed from equal values is found to be equal too.
//!
//! Terms have shapes first: the same operations on the same operands, up to the exchange of two. Lanes that exchange
//! their values add up the same terms in as many orders as there are lanes, and have one shape; only shapes are taken
//! apart.
//!
//! What is computed from names, constants and inputs that all are at one element is a form that moves along the inputs:
//! the shapes and numbers of a row of such terms are one form at as many elements, which is made once. All that is known
//! of it holds with other elements in place of these, since inputs have any values. Where inputs of several elements
//! meet, as in the sum of a row, forms are fixed, and so is all that is computed from these.
//!
//! What is added [under a condition](choices) is a part of a sum, or 0.
//!
//! [Powers of two](powers) that scale a sum are parts of its terms, so that a softmax that one thread rescales at each
//! step is the same sum as one of two passes.

use super::Located;
use super::cuts::Census;
use crate::algebra::{Analysis, IrrationalLiteral};
use crate::number::{Extended, Rational};
use crate::term::{Constant, InputId, Store, TermId, TermKind, TermOp, View};
use choices::Counted;
use moved::common;
use powers::{Exponent, Literals, Products};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

mod choices;
mod moved;
mod powers;
#[cfg(test)]
mod tests;

pub(in crate::decide) use moved::Moved;

/// How a constant is read: a factor of a literal.
type Read = (Rational, IrrationalLiteral);

/// A shape. Those of operands are made first.
type Shape = Moved;

/// A number.
type Number = Moved;

/// What a shape is: of a form that moves, with all operands that move at the first element.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Made {
    /// An element of an input.
    Input(InputId),
    /// A name, or an element very far from the first.
    Leaf(TermId),
    /// A constant, by its own number.
    Constant(usize),
    Apply(TermOp, [Shape; 3]),
    /// Like nothing else, by its own number.
    Alone(u32),
}

/// What a number stands for: where it moves, with all that moves in it at the first element.
#[derive(PartialEq, Eq, Hash)]
enum Value {
    Leaf(Shape),
    Apply(TermOp, [Number; 3]),
    /// A sum of terms, in order, each with whether it is subtracted.
    Sum(Box<[(Number, bool)]>),
    /// A maximum or a minimum of terms, each once and in order.
    Extremum(TermOp, Box<[Number]>),
    /// 2 to a sum of numbers, each times a product of literals and a rational: in order.
    Power(Box<[(Number, Literals, Rational)]>),
}

impl Value {
    /// The element that all that moves in it is at, if there is one.
    fn place(&self) -> Option<u32> {
        match self {
            Value::Leaf(shape) => common([*shape]),
            Value::Apply(op, of) => common(of[..op.arity()].iter().copied()),
            Value::Sum(list) => common(list.iter().map(|(number, _)| *number)),
            Value::Extremum(_, list) => common(list.iter().copied()),
            Value::Power(list) => common(list.iter().map(|(number, ..)| *number)),
        }
    }

    fn move_to(&mut self, at: u32) {
        let to = |number: &mut Number| *number = number.to(at);
        match self {
            Value::Leaf(shape) => to(shape),
            Value::Apply(op, of) => of[..op.arity()].iter_mut().for_each(to),
            Value::Sum(list) => list.iter_mut().map(|(number, _)| number).for_each(to),
            Value::Extremum(_, list) => list.iter_mut().for_each(to),
            Value::Power(list) => list.iter_mut().map(|(number, ..)| number).for_each(to),
        }
    }

    /// The memory of its list in bytes.
    fn bytes(&self) -> usize {
        match self {
            Value::Leaf(_) | Value::Apply(..) => 0,
            Value::Sum(list) => size_of_val(&**list),
            Value::Extremum(_, list) => size_of_val(&**list),
            Value::Power(list) => size_of_val(&**list),
        }
    }
}

/// What a shape that is not a leaf is taken apart into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sum,
    /// A sum modulo a constant, of which parts of it need not be residues.
    Residue(Shape),
    Extremum(TermOp),
    Operands,
}

/// A factor of a part of a sum.
#[derive(Clone, Copy)]
enum Factor {
    /// The number 1.
    One,
    Shape(Shape),
    Product(Shape, Shape),
}

impl Factor {
    fn shapes(self) -> SmallVec<[Shape; 2]> {
        match self {
            Factor::One => SmallVec::new(),
            Factor::Shape(shape) => SmallVec::from_slice(&[shape]),
            Factor::Product(a, b) => SmallVec::from_slice(&[a, b]),
        }
    }
}

/// A part of a sum or an extremum.
struct Part {
    factor: Factor,
    is_negative: bool,
    /// The power of two that multiplies the factor.
    power: Option<Exponent>,
}

/// What is known of a value at every input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Everywhere {
    Finite,
    Infinite { negative: bool },
    Unknown,
}

/// A constant, as far as it matters here.
enum Known {
    /// A number or an infinity.
    Exact(Extended),
    /// A rational times a literal that may be read as an irrational number.
    Read(Rational, Literals),
}

/// Numbers of the terms of both sides, made on demand.
pub(in crate::decide) struct Numbers<'s, 'c> {
    stores: [&'s Store; 2],
    analysis: [&'s Analysis; 2],
    sides: &'c [Census; 2],
    /// Shapes of terms, by position in the census.
    shapes: [Vec<Option<Shape>>; 2],
    shapes_of_constants: [Vec<Option<Shape>>; 2],
    /// By form of a shape.
    made: Vec<Made>,
    known: FxHashMap<Made, Shape>,
    /// By form of a shape, whether it is fixed and made of names and constants only.
    without_inputs: Vec<bool>,
    /// By form of a shape, what is known of its value at every input.
    everywhere: Vec<Everywhere>,
    /// How often a shape was taken apart under a power of two.
    scaled: FxHashMap<Shape, u8>,
    constants: FxHashMap<(&'s Constant, Option<&'s Read>), usize>,
    /// The constants that are exactly a rational, whatever literals they are.
    exact: FxHashMap<Rational, usize>,
    /// The numbers of conditions that choices of constants are.
    counted: FxHashMap<Shape, Option<Rc<Counted>>>,
    /// By the number of a constant.
    values_of_constants: Vec<Known>,
    literals: Products,
    /// By form of a shape, the number of one shape of that form.
    numbers: Vec<Option<Number>>,
    values: FxHashMap<Value, Number>,
    /// The memory of lists in bytes.
    listed: usize,
    /// The steps that may be taken.
    left: u64,
    /// The memory that may be taken, in bytes.
    most_bytes: u64,
}

/// How often memory is counted: once for so many forms.
const FORMS_A_COUNT: usize = 1 << 10;

/// The names of the terms of both sides.
type Names = [FxHashMap<TermId, TermId>; 2];

impl<'s, 'c> Numbers<'s, 'c> {
    pub(in crate::decide) fn new(
        stores: [&'s Store; 2],
        analysis: [&'s Analysis; 2],
        sides: &'c [Census; 2],
        left: u64,
        most_bytes: u64,
    ) -> Numbers<'s, 'c> {
        Numbers {
            stores,
            analysis,
            sides,
            shapes: [0, 1].map(|side: usize| vec![None; sides[side].len()]),
            shapes_of_constants: stores.map(|store| vec![None; store.constant_count()]),
            made: Vec::new(),
            known: FxHashMap::default(),
            without_inputs: Vec::new(),
            everywhere: Vec::new(),
            scaled: FxHashMap::default(),
            constants: FxHashMap::default(),
            exact: FxHashMap::default(),
            counted: FxHashMap::default(),
            values_of_constants: Vec::new(),
            literals: Products::default(),
            numbers: Vec::new(),
            values: FxHashMap::default(),
            listed: 0,
            left,
            most_bytes,
        }
    }

    /// Memory in bytes.
    fn bytes(&self) -> u64 {
        let of_terms: usize =
            self.shapes.iter().map(|shapes| shapes.len() * size_of::<Option<Shape>>()).sum();
        let a_form = size_of::<Made>() + size_of::<Everywhere>() + size_of::<Option<Number>>() + 1;
        let forms = self.made.len() * a_form + self.known.capacity() * (size_of::<(Made, Shape)>() + 1);
        let scaled = self.scaled.capacity() * (size_of::<(Shape, u8)>() + 1);
        let values = self.values.capacity() * (size_of::<(Value, Number)>() + 1);
        (of_terms + forms + scaled + values + self.listed) as u64
    }

    /// Ends the budget of steps where there is no more memory.
    fn count_memory(&mut self) {
        if self.bytes() > self.most_bytes {
            self.left = 0;
        }
    }

    /// The steps that are left.
    pub(in crate::decide) fn left(&self) -> u64 {
        self.left
    }

    /// The number of a term, which itself may have a name. `None` at the end of the budget.
    pub(in crate::decide) fn number(&mut self, at: Located, names: &Names) -> Option<Moved> {
        let shape = self.shape(at, &names[at.side])?;
        self.number_of(shape)
    }

    /// The shape of a term.
    fn shape(&mut self, at: Located, names: &FxHashMap<TermId, TermId>) -> Option<Shape> {
        let side = at.side;
        let mut stack = vec![at.term];
        while let Some(term) = stack.last().copied() {
            let position = self.sides[side].position(term)?;
            if self.shapes[side][position].is_some() {
                stack.pop();
                continue;
            }
            let View::Apply(op, operands) = self.stores[side].view(term) else { return None };
            let mut of = [Moved::NONE; 3];
            let open = stack.len();
            for (of, operand) in of.iter_mut().zip(&operands[..op.arity()]) {
                match self.operand(side, *operand, names) {
                    Some(shape) => *of = shape,
                    None => stack.push(*operand),
                }
            }
            if stack.len() > open {
                continue;
            }
            self.left = self.left.checked_sub(1)?;
            if op.info().commutes {
                of[..2].sort_unstable();
            }
            if op == TermOp::Select {
                of = self.without_negation(of);
            }
            // Of an exchanged sum or maximum, the sign of zero may be another (V7).
            let made = if op == TermOp::CopySign {
                Made::Alone(self.made.len() as u32)
            } else {
                Made::Apply(op, of)
            };
            let everywhere = match self.analysis[side].is_total(term) {
                true => Everywhere::Finite,
                false => self.everywhere_of(op, of),
            };
            self.shapes[side][position] = Some(self.of(made, everywhere));
            stack.pop();
        }
        self.shapes[side][self.sides[side].position(at.term)?]
    }

    /// The shape of an operand; `None` where its own operands come first.
    fn operand(&mut self, side: usize, term: TermId, names: &FxHashMap<TermId, TermId>) -> Option<Shape> {
        match term.kind() {
            TermKind::Lane(..) => match names.get(&term) {
                Some(name) => {
                    let is_total = self.analysis[side].is_total(term);
                    let everywhere = if is_total { Everywhere::Finite } else { Everywhere::Unknown };
                    let shape = self.of(Made::Leaf(*name), everywhere);
                    if !is_total {
                        // The other side may compute the same value by other operations, which have one everywhere.
                        self.everywhere[shape.form()] = Everywhere::Unknown;
                    }
                    Some(shape)
                }
                None => self.shapes[side][self.sides[side].position(term)?],
            },
            TermKind::Input { input, element } => Some(match u32::try_from(element) {
                Ok(element) => self.of(Made::Input(input), Everywhere::Finite).to(element),
                Err(_) => self.of(Made::Leaf(term), Everywhere::Finite),
            }),
            TermKind::Constant(id) => {
                if let Some(known) = self.shapes_of_constants[side][id.index()] {
                    return Some(known);
                }
                let (constant, read) = (self.stores[side].constant(id), self.analysis[side].reading(id));
                let next = self.values_of_constants.len();
                let number = match (read, constant.exact.finite()) {
                    (None, Some(value)) => *self.exact.entry(value.clone()).or_insert(next),
                    (Some(_), _) | (None, None) => *self.constants.entry((constant, read)).or_insert(next),
                };
                if number == next {
                    self.values_of_constants.push(match read {
                        Some((factor, literal)) => {
                            Known::Read(factor.clone(), self.literals.of_literal(*literal))
                        }
                        None => Known::Exact(constant.exact.clone()),
                    });
                }
                let everywhere = match constant.exact {
                    Extended::Finite(_) => Everywhere::Finite,
                    Extended::PosInf => Everywhere::Infinite { negative: false },
                    Extended::NegInf => Everywhere::Infinite { negative: true },
                };
                let shape = self.of(Made::Constant(number), everywhere);
                self.shapes_of_constants[side][id.index()] = Some(shape);
                Some(shape)
            }
        }
    }

    /// The shape of what is made of other shapes, wherever these are.
    fn of(&mut self, mut made: Made, everywhere: Everywhere) -> Shape {
        let at = match &mut made {
            Made::Input(_) => Some(0),
            Made::Leaf(_) | Made::Constant(_) | Made::Alone(_) => None,
            Made::Apply(op, of) => {
                let of = &mut of[..op.arity()];
                let has_fixed_inputs = |shape: &Shape| !shape.moves() && !self.without_inputs[shape.form()];
                let at = if of.iter().any(has_fixed_inputs) { None } else { common(of.iter().copied()) };
                if at.is_some() {
                    of.iter_mut().for_each(|shape| *shape = shape.to(0));
                }
                at
            }
        };
        let next = Moved::new(self.made.len(), at.is_some());
        let shape = *self.known.entry(made).or_insert(next);
        if shape == next {
            let is_without_inputs = match made {
                Made::Leaf(_) | Made::Constant(_) => true,
                Made::Input(_) | Made::Alone(_) => false,
                Made::Apply(op, of) => {
                    of[..op.arity()].iter().all(|shape| !shape.moves() && self.without_inputs[shape.form()])
                }
            };
            self.without_inputs.push(is_without_inputs);
            self.made.push(made);
            self.everywhere.push(everywhere);
            self.numbers.push(None);
            if self.made.len().is_multiple_of(FORMS_A_COUNT) {
                self.count_memory();
            }
        }
        shape.to(at.unwrap_or(0))
    }

    /// What a shape is, with its operands where they are.
    fn made(&self, shape: Shape) -> Made {
        let made = self.made[shape.form()];
        if let Made::Apply(op, of) = made
            && shape.moves()
        {
            return Made::Apply(op, of.map(|operand| operand.to(shape.at())));
        }
        made
    }

    fn value(&mut self, mut value: Value) -> Number {
        let at = value.place();
        if at.is_some() {
            value.move_to(0);
        }
        let next = Moved::new(self.values.len(), at.is_some());
        let bytes = value.bytes();
        let number = *self.values.entry(value).or_insert(next);
        if number == next {
            self.listed += bytes;
            if self.values.len().is_multiple_of(FORMS_A_COUNT) {
                self.count_memory();
            }
        }
        number.to(at.unwrap_or(0))
    }

    /// The number of a shape, if the number of its form is known.
    fn known_number(&self, shape: Shape) -> Option<Number> {
        let number = self.numbers[shape.form()]?;
        Some(if shape.moves() { number.to(shape.at()) } else { number })
    }

    fn number_of(&mut self, root: Shape) -> Option<Number> {
        let mut stack = vec![root];
        let mut taken_apart: Vec<(Shape, Vec<Part>)> = Vec::new();
        while let Some(shape) = stack.last().copied() {
            if self.numbers[shape.form()].is_some() {
                stack.pop();
                continue;
            }
            let value = match self.made(shape) {
                Made::Input(_) | Made::Leaf(_) | Made::Constant(_) | Made::Alone(_) => {
                    Err(Value::Leaf(shape))
                }
                Made::Apply(op, of) => match self.kind(shape, op, of) {
                    Kind::Operands => {
                        let mut numbers = [Moved::NONE; 3];
                        let open = stack.len();
                        for (number, shape) in numbers.iter_mut().zip(&of[..op.arity()]) {
                            match self.known_number(*shape) {
                                Some(known) => *number = known,
                                None => stack.push(*shape),
                            }
                        }
                        if stack.len() > open {
                            continue;
                        }
                        self.left = self.left.checked_sub(1)?;
                        Err(operation(op, numbers))
                    }
                    kind @ (Kind::Sum | Kind::Residue(_) | Kind::Extremum(_)) => {
                        match taken_apart.pop_if(|(known, _)| *known == shape) {
                            Some((_, parts)) => {
                                self.listed -= size_of_val(&*parts);
                                self.value_of(kind, &parts)?
                            }
                            None => {
                                let parts = self.parts(shape, kind)?;
                                self.listed += size_of_val(&*parts);
                                self.count_memory();
                                self.push_open(&parts, &mut stack);
                                taken_apart.push((shape, parts));
                                continue;
                            }
                        }
                    }
                },
            };
            let number = value.unwrap_or_else(|value| self.value(value));
            self.numbers[shape.form()] = Some(number);
            stack.pop();
        }
        self.known_number(root)
    }

    /// Pushes the shapes in some parts that have no number.
    fn push_open(&self, parts: &[Part], stack: &mut Vec<Shape>) {
        let mut push = |shape: Shape| {
            // Of shapes of one form, one is enough.
            let is_last = stack.last().is_some_and(|last| last.form() == shape.form());
            if self.numbers[shape.form()].is_none() && !is_last {
                stack.push(shape);
            }
        };
        for part in parts {
            part.factor.shapes().into_iter().for_each(&mut push);
            part.power.iter().flat_map(|power| power.iter()).for_each(|entry| push(entry.of));
        }
    }

    /// The value, or the number, of a sum or an extremum of parts whose shapes have numbers.
    fn value_of(&mut self, kind: Kind, parts: &[Part]) -> Option<Result<Number, Value>> {
        if let Kind::Extremum(op) = kind {
            let mut list = Vec::with_capacity(parts.len());
            for part in parts {
                list.push(self.of_part(part)?);
            }
            list.sort_unstable();
            list.dedup();
            return Some(match list[..] {
                [number] => Ok(number),
                _ => Err(Value::Extremum(op, list.into())),
            });
        }
        let mut list = Vec::with_capacity(parts.len());
        for part in parts {
            list.push((self.of_part(part)?, part.is_negative));
        }
        list.sort_unstable();
        let sum = match list[..] {
            [(number, false)] => Ok(number),
            _ => Err(Value::Sum(list.into())),
        };
        let Kind::Residue(modulus) = kind else { return Some(sum) };
        let sum = sum.unwrap_or_else(|sum| self.value(sum));
        let modulus = self.value(Value::Leaf(modulus));
        Some(Err(operation(TermOp::Mod, [sum, modulus, Moved::NONE])))
    }

    /// The number of a part, without its sign.
    fn of_part(&mut self, part: &Part) -> Option<Number> {
        let factor = match part.factor {
            Factor::One => None,
            Factor::Shape(shape) => Some(self.known_number(shape)?),
            Factor::Product(a, b) => {
                let of = [self.known_number(a)?, self.known_number(b)?, Moved::NONE];
                Some(self.value(operation(TermOp::Mul, of)))
            }
        };
        let power = match &part.power {
            None => None,
            Some(power) => self.power(power)?,
        };
        Some(match (factor, power) {
            (Some(factor), None) => factor,
            (None, Some(power)) => power,
            (Some(factor), Some(power)) => self.value(operation(TermOp::Mul, [factor, power, Moved::NONE])),
            // 2⁰
            (None, None) => self.value(Value::Power(Box::default())),
        })
    }

    fn kind(&mut self, shape: Shape, op: TermOp, [a, b, c]: [Shape; 3]) -> Kind {
        let is_power = |shape: Shape| self.argument(shape).is_some();
        if matches!(op, TermOp::Add | TermOp::Sub | TermOp::Neg | TermOp::Fma)
            || op == TermOp::Exp2 && self.is_total(a)
            || op == TermOp::Mul && (is_power(a) || is_power(b))
            || self.sum_where(op, [a, b, c]).is_some()
            || self.counted_apart(shape).is_some()
        {
            Kind::Sum
        } else if op == TermOp::Mod && matches!(self.made[b.form()], Made::Constant(_)) {
            Kind::Residue(b)
        } else if matches!(op, TermOp::Max | TermOp::Min) {
            Kind::Extremum(op)
        } else {
            Kind::Operands
        }
    }

    /// Whether a shape is a constant: what changes no sum, product, maximum or minimum.
    fn is_neutral(&self, shape: Shape, neutral: &Extended) -> bool {
        if let Made::Constant(number) = self.made[shape.form()]
            && let Known::Exact(exact) = &self.values_of_constants[number]
        {
            return exact == neutral;
        }
        false
    }

    /// What a shape is the sum or the extremum of. `None` at the end of the budget.
    fn parts(&mut self, root: Shape, kind: Kind) -> Option<Vec<Part>> {
        let Kind::Extremum(outer) = kind else {
            return match (kind, self.made(root)) {
                (Kind::Residue(modulus), Made::Apply(_, [of, ..])) => self.parts_of_sum(of, Some(modulus)),
                _ => self.parts_of_sum(root, None),
            };
        };
        let neutral = if outer == TermOp::Max { Extended::NegInf } else { Extended::PosInf };
        let mut parts = Vec::new();
        let mut left_out = None;
        let mut open: SmallVec<[Shape; 16]> = SmallVec::from_slice(&[root]);
        while let Some(shape) = open.pop() {
            self.left = self.left.checked_sub(1)?;
            let part = || Part { factor: Factor::Shape(shape), is_negative: false, power: None };
            match self.made(shape) {
                Made::Constant(_) if self.is_neutral(shape, &neutral) => left_out = Some(part()),
                Made::Apply(op, [a, b, _]) if op == outer => open.extend([b, a]),
                Made::Input(_) | Made::Leaf(_) | Made::Constant(_) | Made::Apply(..) | Made::Alone(_) => {
                    parts.push(part())
                }
            }
        }
        if parts.is_empty() {
            parts.extend(left_out);
        }
        Some(parts)
    }
}

fn operation(op: TermOp, mut of: [Number; 3]) -> Value {
    if op.info().commutes {
        of[..2].sort_unstable();
    }
    Value::Apply(op, of)
}
