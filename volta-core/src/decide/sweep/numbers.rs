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
//! [Powers of two](powers) that scale a sum are parts of its terms, so that a softmax that one thread rescales at each
//! step is the same sum as one of two passes.

use super::Located;
use super::cuts::Census;
use crate::algebra::{Analysis, IrrationalLiteral};
use crate::number::{Extended, Rational};
use crate::term::{Constant, Store, TermId, TermKind, TermOp, View};
use powers::{Exponent, Literals, Products};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

mod powers;

/// How a constant is read: a factor of a literal.
type Read = (Rational, IrrationalLiteral);

/// A shape. Those of operands are made first.
type Shape = u32;

/// What a shape is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Made {
    /// An input or a name.
    Leaf(TermId),
    /// A constant, by its own number.
    Constant(usize),
    Apply(TermOp, [Shape; 3]),
    /// Like nothing else, by its own number.
    Alone(u32),
}

/// What a number stands for.
#[derive(PartialEq, Eq, Hash)]
enum Value {
    Leaf(Shape),
    Apply(TermOp, [u32; 3]),
    /// A sum of terms, in order, each with whether it is subtracted.
    Sum(Box<[(u32, bool)]>),
    /// A maximum or a minimum of terms, each once and in order.
    Extremum(TermOp, Box<[u32]>),
    /// 2 to a sum of numbers, each times a product of literals and a rational: in order.
    Power(Box<[(u32, Literals, Rational)]>),
}

/// What a shape that is not a leaf is taken apart into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sum,
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
    made: Vec<Made>,
    known: FxHashMap<Made, Shape>,
    /// By shape, what is known of its value at every input.
    everywhere: Vec<Everywhere>,
    /// By shape, how often it was taken apart under a power of two.
    scaled: Vec<u8>,
    constants: FxHashMap<(&'s Constant, Option<&'s Read>), usize>,
    /// By the number of a constant.
    values_of_constants: Vec<Known>,
    literals: Products,
    /// Numbers of shapes.
    numbers: Vec<Option<u32>>,
    values: FxHashMap<Value, u32>,
    /// The steps that may be taken.
    left: u64,
}

/// The names of the terms of both sides.
type Names = [FxHashMap<TermId, TermId>; 2];

impl<'s, 'c> Numbers<'s, 'c> {
    pub(in crate::decide) fn new(
        stores: [&'s Store; 2],
        analysis: [&'s Analysis; 2],
        sides: &'c [Census; 2],
        left: u64,
    ) -> Numbers<'s, 'c> {
        Numbers {
            stores,
            analysis,
            sides,
            shapes: [0, 1].map(|side: usize| vec![None; sides[side].len()]),
            shapes_of_constants: stores.map(|store| vec![None; store.constant_count()]),
            made: Vec::new(),
            known: FxHashMap::default(),
            everywhere: Vec::new(),
            scaled: Vec::new(),
            constants: FxHashMap::default(),
            values_of_constants: Vec::new(),
            literals: Products::default(),
            numbers: Vec::new(),
            values: FxHashMap::default(),
            left,
        }
    }

    /// The steps that are left.
    pub(in crate::decide) fn left(&self) -> u64 {
        self.left
    }

    /// The number of a term, which itself may have a name. `None` at the end of the budget.
    pub(in crate::decide) fn number(&mut self, at: Located, names: &Names) -> Option<u32> {
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
            let mut of = [0; 3];
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
                        self.everywhere[shape as usize] = Everywhere::Unknown;
                    }
                    Some(shape)
                }
                None => self.shapes[side][self.sides[side].position(term)?],
            },
            TermKind::Input { .. } => Some(self.of(Made::Leaf(term), Everywhere::Finite)),
            TermKind::Constant(id) => {
                if let Some(known) = self.shapes_of_constants[side][id.index()] {
                    return Some(known);
                }
                let (constant, read) = (self.stores[side].constant(id), self.analysis[side].reading(id));
                let next = self.constants.len();
                let number = *self.constants.entry((constant, read)).or_insert(next);
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

    fn of(&mut self, made: Made, everywhere: Everywhere) -> Shape {
        let next = self.made.len() as Shape;
        let shape = *self.known.entry(made).or_insert(next);
        if shape == next {
            self.made.push(made);
            self.everywhere.push(everywhere);
            self.scaled.push(0);
            self.numbers.push(None);
        }
        shape
    }

    fn value(&mut self, value: Value) -> u32 {
        let next = self.values.len() as u32;
        *self.values.entry(value).or_insert(next)
    }

    fn number_of(&mut self, root: Shape) -> Option<u32> {
        let mut stack = vec![root];
        let mut taken_apart: Vec<(Shape, Vec<Part>)> = Vec::new();
        while let Some(shape) = stack.last().copied() {
            if self.numbers[shape as usize].is_some() {
                stack.pop();
                continue;
            }
            let value = match self.made[shape as usize] {
                Made::Leaf(_) | Made::Constant(_) | Made::Alone(_) => Err(Value::Leaf(shape)),
                Made::Apply(op, of) => match self.kind(op, of) {
                    Kind::Operands => {
                        let mut numbers = [0; 3];
                        let open = stack.len();
                        for (number, shape) in numbers.iter_mut().zip(&of[..op.arity()]) {
                            match self.numbers[*shape as usize] {
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
                    kind @ (Kind::Sum | Kind::Extremum(_)) => {
                        match taken_apart.pop_if(|(known, _)| *known == shape) {
                            Some((_, parts)) => self.value_of(kind, &parts)?,
                            None => {
                                let parts = self.parts(shape, kind)?;
                                self.push_open(&parts, &mut stack);
                                taken_apart.push((shape, parts));
                                continue;
                            }
                        }
                    }
                },
            };
            let number = value.unwrap_or_else(|value| self.value(value));
            self.numbers[shape as usize] = Some(number);
            stack.pop();
        }
        self.numbers[root as usize]
    }

    /// Pushes the shapes in some parts that have no number.
    fn push_open(&self, parts: &[Part], stack: &mut Vec<Shape>) {
        let mut push = |shape: Shape| {
            if self.numbers[shape as usize].is_none() && stack.last() != Some(&shape) {
                stack.push(shape);
            }
        };
        for part in parts {
            part.factor.shapes().into_iter().for_each(&mut push);
            part.power.iter().flat_map(|power| power.iter()).for_each(|entry| push(entry.of));
        }
    }

    /// The value, or the number, of a sum or an extremum of parts whose shapes have numbers.
    fn value_of(&mut self, kind: Kind, parts: &[Part]) -> Option<Result<u32, Value>> {
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
        Some(match list[..] {
            [(number, false)] => Ok(number),
            _ => Err(Value::Sum(list.into())),
        })
    }

    /// The number of a part, without its sign.
    fn of_part(&mut self, part: &Part) -> Option<u32> {
        let number = |numbers: &Self, shape: Shape| numbers.numbers[shape as usize];
        let factor = match part.factor {
            Factor::One => None,
            Factor::Shape(shape) => Some(number(self, shape)?),
            Factor::Product(a, b) => {
                let of = [number(self, a)?, number(self, b)?, 0];
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
            (Some(factor), Some(power)) => self.value(operation(TermOp::Mul, [factor, power, 0])),
            // 2⁰
            (None, None) => self.value(Value::Power(Box::default())),
        })
    }

    fn kind(&self, op: TermOp, [a, b, _]: [Shape; 3]) -> Kind {
        let is_power = |shape: Shape| self.argument(shape).is_some();
        if matches!(op, TermOp::Add | TermOp::Sub | TermOp::Neg | TermOp::Fma)
            || op == TermOp::Exp2 && self.is_total(a)
            || op == TermOp::Mul && (is_power(a) || is_power(b))
        {
            Kind::Sum
        } else if matches!(op, TermOp::Max | TermOp::Min) {
            Kind::Extremum(op)
        } else {
            Kind::Operands
        }
    }

    /// Whether a shape is a constant: what changes no sum, product, maximum or minimum.
    fn is_neutral(&self, shape: Shape, neutral: &Extended) -> bool {
        if let Made::Constant(number) = self.made[shape as usize]
            && let Known::Exact(exact) = &self.values_of_constants[number]
        {
            return exact == neutral;
        }
        false
    }

    /// What a shape is the sum or the extremum of. `None` at the end of the budget.
    fn parts(&mut self, root: Shape, kind: Kind) -> Option<Vec<Part>> {
        let Kind::Extremum(outer) = kind else { return self.parts_of_sum(root) };
        let neutral = if outer == TermOp::Max { Extended::NegInf } else { Extended::PosInf };
        let mut parts = Vec::new();
        let mut left_out = None;
        let mut open: SmallVec<[Shape; 16]> = SmallVec::from_slice(&[root]);
        while let Some(shape) = open.pop() {
            self.left = self.left.checked_sub(1)?;
            let part = || Part { factor: Factor::Shape(shape), is_negative: false, power: None };
            match self.made[shape as usize] {
                Made::Constant(_) if self.is_neutral(shape, &neutral) => left_out = Some(part()),
                Made::Apply(op, [a, b, _]) if op == outer => open.extend([b, a]),
                Made::Leaf(_) | Made::Constant(_) | Made::Apply(..) | Made::Alone(_) => parts.push(part()),
            }
        }
        if parts.is_empty() {
            parts.extend(left_out);
        }
        Some(parts)
    }
}

fn operation(op: TermOp, mut of: [u32; 3]) -> Value {
    if op.info().commutes {
        of[..2].sort_unstable();
    }
    Value::Apply(op, of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::number::format::Format;
    use crate::term::InputId;

    fn x(element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    fn op(store: &mut Store, op: TermOp, operands: &[TermId]) -> TermId {
        store.apply(op, operands, InstId(0))
    }

    fn constant(store: &mut Store, exact: Extended) -> TermId {
        store.intern(Constant { exact, literal: None, rounded: None })
    }

    /// Folds operands from the left, and in a tree.
    fn in_order(store: &mut Store, by: TermOp, of: &[TermId]) -> TermId {
        of[1..].iter().fold(of[0], |all, term| op(store, by, &[all, *term]))
    }

    fn in_a_tree(store: &mut Store, by: TermOp, of: &[TermId]) -> TermId {
        if let [term] = of {
            return *term;
        }
        let halves = of.split_at(of.len() / 2);
        let halves = [in_a_tree(store, by, halves.1), in_a_tree(store, by, halves.0)];
        op(store, by, &halves)
    }

    type Side<'a> = &'a dyn Fn(&mut Store) -> TermId;

    /// Whether two terms have one number, where some terms have names.
    fn same_with(sides: [Side<'_>; 2], names: &dyn Fn([&Store; 2]) -> Names) -> bool {
        let mut stores = [Store::new(), Store::new()];
        let roots = [0, 1].map(|side: usize| sides[side](&mut stores[side]));
        let analysis = [0, 1].map(|side: usize| Analysis::new(&stores[side], &[roots[side]]));
        let census = [0, 1].map(|side: usize| Census::new(&stores[side], &[roots[side]]).expect("a census"));
        let mut numbers = Numbers::new(stores.each_ref(), analysis.each_ref(), &census, 1 << 16);
        let [one, other] = [0, 1].map(|side: usize| Located { side, term: roots[side] });
        are_same(&mut numbers, [one, other], &names(stores.each_ref()))
    }

    fn are_same(numbers: &mut Numbers<'_, '_>, [one, other]: [Located; 2], names: &Names) -> bool {
        let number = numbers.number(one, names);
        number.is_some() && number == numbers.number(other, names)
    }

    fn same(one: Side<'_>, other: Side<'_>) -> bool {
        same_with([one, other], &|_| Names::default())
    }

    #[test]
    fn sums_and_extremes_are_the_same_in_any_order() {
        let all: Vec<TermId> = (0..37).map(x).collect();
        for by in [TermOp::Add, TermOp::Max, TermOp::Min] {
            let tree = |store: &mut Store| in_a_tree(store, by, &all);
            assert!(same(&|store| in_order(store, by, &all), &tree), "{by:?}");
            // Not without the last, nor with another in place of it.
            assert!(!same(&|store| in_order(store, by, &all[..36]), &tree), "{by:?}");
            let other: Vec<TermId> = all[..36].iter().copied().chain([x(40)]).collect();
            assert!(!same(&|store| in_order(store, by, &other), &tree), "{by:?}");
        }
        assert!(!same(&|store| in_order(store, TermOp::Max, &all), &|store| in_order(
            store,
            TermOp::Min,
            &all
        )));
    }

    #[test]
    fn what_a_sum_holds_twice_counts_twice() {
        let twice = [x(0), x(1), x(1)];
        let once = [x(0), x(1)];
        let of = |by, all: &'static [u64]| {
            move |store: &mut Store| in_order(store, by, &all.iter().map(|at| x(*at)).collect::<Vec<_>>())
        };
        assert!(!same(&of(TermOp::Add, &[0, 1, 1]), &of(TermOp::Add, &[0, 1])));
        assert!(!same(&of(TermOp::Add, &[0, 0, 1]), &of(TermOp::Add, &[0, 1, 1])));
        let max = |store: &mut Store| in_order(store, TermOp::Max, &twice);
        assert!(same(&max, &|store: &mut Store| in_order(store, TermOp::Max, &once)));
    }

    #[test]
    fn signs_and_products_are_parts_of_sums() {
        // x₀ − (x₁ − x₂·x₃) and x₂·x₃ + x₀ − x₁, fused.
        let nested = |store: &mut Store| {
            let product = op(store, TermOp::Mul, &[x(2), x(3)]);
            let inner = op(store, TermOp::Sub, &[x(1), product]);
            op(store, TermOp::Sub, &[x(0), inner])
        };
        let fused = |store: &mut Store| {
            let minus = op(store, TermOp::Neg, &[x(1)]);
            let sum = op(store, TermOp::Fma, &[x(3), x(2), x(0)]);
            op(store, TermOp::Add, &[minus, sum])
        };
        let wrong = |store: &mut Store| {
            let sum = op(store, TermOp::Fma, &[x(3), x(2), x(0)]);
            op(store, TermOp::Add, &[x(1), sum])
        };
        assert!(same(&nested, &fused));
        assert!(!same(&nested, &wrong));
    }

    #[test]
    fn only_what_changes_nothing_is_left_out() {
        let start = |by, exact: Extended| {
            move |store: &mut Store| {
                let start = constant(store, exact.clone());
                let all = in_order(store, by, &[start, x(0), x(1)]);
                op(store, TermOp::Sin, &[all])
            }
        };
        let plain = |by| {
            move |store: &mut Store| {
                let all = in_order(store, by, &[x(1), x(0)]);
                op(store, TermOp::Sin, &[all])
            }
        };
        let zero = || Extended::Finite(Rational::ZERO);
        assert!(same(&start(TermOp::Add, zero()), &plain(TermOp::Add)));
        assert!(same(&start(TermOp::Max, Extended::NegInf), &plain(TermOp::Max)));
        assert!(same(&start(TermOp::Min, Extended::PosInf), &plain(TermOp::Min)));
        assert!(!same(&start(TermOp::Max, zero()), &plain(TermOp::Max)));
        assert!(!same(&start(TermOp::Max, Extended::PosInf), &plain(TermOp::Max)));
        assert!(!same(&start(TermOp::Add, Extended::NegInf), &plain(TermOp::Add)));
        assert!(!same(&start(TermOp::Add, Extended::Finite(Rational::ONE)), &plain(TermOp::Add)));
    }

    #[test]
    fn a_copied_sign_is_that_of_one_order() {
        let copied = |turned: bool| {
            move |store: &mut Store| {
                let of = if turned { [x(1), x(0)] } else { [x(0), x(1)] };
                let largest = op(store, TermOp::Max, &of);
                op(store, TermOp::CopySign, &[largest, x(2)])
            }
        };
        assert!(!same(&copied(false), &copied(true)));
    }

    #[test]
    fn literals_are_one_where_they_are_read_alike() {
        // Of a power of two, log₂ e is read as that number; of a sine it is what its bits encode.
        let scaled = |of: TermOp, literal: Option<(Format, u64)>| {
            move |store: &mut Store| {
                let significand = 0xb8_aa3b;
                let exact = Extended::Finite(Rational::from_dyadic(significand, -23));
                let scale = store.intern(Constant { exact, literal, rounded: None });
                let product = op(store, TermOp::Mul, &[x(0), scale]);
                op(store, of, &[product])
            }
        };
        let literal = Some((Format::F32, 0x3fb8_aa3b));
        assert!(same(&scaled(TermOp::Exp2, literal), &scaled(TermOp::Exp2, literal)));
        assert!(!same(&scaled(TermOp::Exp2, literal), &scaled(TermOp::Exp2, None)));
    }

    #[test]
    fn names_stand_for_what_they_name_below_but_not_at_the_root() {
        // The square of a sum on one side, and of a difference on the other.
        let square = |by: TermOp| {
            move |store: &mut Store| {
                let inner = op(store, by, &[x(0), x(1)]);
                op(store, TermOp::Mul, &[inner, inner])
            }
        };
        let named = |stores: [&Store; 2]| {
            stores.map(|store| {
                let inner = (0..store.len())
                    .map(|at| {
                        TermId::lane(crate::term::NodeId::from_index(at), crate::base::lane::Lane::FIRST)
                    })
                    .find(|term| matches!(store.op(*term), Some(TermOp::Add | TermOp::Sub)));
                inner.into_iter().map(|term| (term, TermId::input(InputId(9), 0))).collect()
            })
        };
        let (sum, difference) = (square(TermOp::Add), square(TermOp::Sub));
        assert!(!same(&sum, &difference));
        assert!(same_with([&sum, &difference], &named));
        let inner = |by: TermOp| move |store: &mut Store| op(store, by, &[x(0), x(1)]);
        assert!(!same_with([&inner(TermOp::Add), &inner(TermOp::Sub)], &named));
    }

    /// `Σ 2^(x − m)`, and the maximum `m`, of some elements: in two passes, or rescaled at each step.
    fn powers(store: &mut Store, of: &[TermId], running: bool) -> [TermId; 2] {
        let start = constant(store, Extended::NegInf);
        let zero = constant(store, Extended::Finite(Rational::ZERO));
        let power = |store: &mut Store, a: TermId, b: TermId| {
            let gap = op(store, TermOp::Sub, &[a, b]);
            op(store, TermOp::Exp2, &[gap])
        };
        if running {
            return of.iter().fold([zero, start], |[sum, last], own| {
                let largest = op(store, TermOp::Max, &[last, *own]);
                let scale = power(store, last, largest);
                let own = power(store, *own, largest);
                [op(store, TermOp::Fma, &[sum, scale, own]), largest]
            });
        }
        let largest = in_a_tree(store, TermOp::Max, of);
        let all: Vec<TermId> = of.iter().map(|own| power(store, *own, largest)).collect();
        [in_order(store, TermOp::Add, &all), largest]
    }

    #[test]
    fn a_sum_that_is_rescaled_at_each_step_is_the_same() {
        let all: Vec<TermId> = (0..37).map(x).collect();
        let two_passes = |store: &mut Store| powers(store, &all, false)[0];
        assert!(same(&two_passes, &|store| powers(store, &all, true)[0]));
        // Two halves that are merged.
        let merged = |store: &mut Store, scaled: bool| {
            let [one, other] = [&all[..20], &all[20..]].map(|half| powers(store, half, true));
            let largest = op(store, TermOp::Max, &[one[1], other[1]]);
            let parts = [one, other].map(|[sum, own]| {
                let gap = op(store, TermOp::Sub, &[own, largest]);
                let scale = op(store, TermOp::Exp2, &[gap]);
                if scaled { op(store, TermOp::Mul, &[sum, scale]) } else { sum }
            });
            op(store, TermOp::Add, &parts)
        };
        assert!(same(&two_passes, &|store| merged(store, true)));
        assert!(!same(&two_passes, &|store| merged(store, false)));
        assert!(!same(&two_passes, &|store| powers(store, &all[..36], true)[0]));
        // Under the maximum of fewer elements.
        let other = |store: &mut Store| {
            let [sum, _] = powers(store, &all, true);
            let largest = in_order(store, TermOp::Max, &all);
            let fewer = in_order(store, TermOp::Max, &all[..36]);
            let gap = op(store, TermOp::Sub, &[largest, fewer]);
            let scale = op(store, TermOp::Exp2, &[gap]);
            op(store, TermOp::Mul, &[sum, scale])
        };
        assert!(!same(&two_passes, &other));
    }

    #[test]
    fn so_is_one_of_products_with_the_scale_multiplied_first() {
        let all: Vec<TermId> = (0..9).map(x).collect();
        let weight = |at: usize| TermId::input(InputId(1), at as u64);
        let power = |store: &mut Store, a: TermId, b: TermId| {
            let gap = op(store, TermOp::Sub, &[a, b]);
            op(store, TermOp::Exp2, &[gap])
        };
        let two_passes = |store: &mut Store| {
            let largest = in_order(store, TermOp::Max, &all);
            let mut sum = constant(store, Extended::Finite(Rational::ZERO));
            for (at, own) in all.iter().enumerate() {
                let own = power(store, *own, largest);
                sum = op(store, TermOp::Fma, &[own, weight(at), sum]);
            }
            sum
        };
        let running = |last: usize| {
            let all = &all;
            move |store: &mut Store| {
                let mut sum = constant(store, Extended::Finite(Rational::ZERO));
                let mut largest = constant(store, Extended::NegInf);
                for (at, own) in all.iter().enumerate() {
                    let next = op(store, TermOp::Max, &[largest, *own]);
                    let scale = power(store, largest, next);
                    let scaled = op(store, TermOp::Mul, &[sum, scale]);
                    let own = power(store, *own, next);
                    sum = op(store, TermOp::Fma, &[own, weight(at.min(last)), scaled]);
                    largest = next;
                }
                sum
            }
        };
        assert!(same(&two_passes, &running(8)));
        assert!(!same(&two_passes, &running(7)));
    }

    #[test]
    fn exponents_cancel_only_where_they_have_values() {
        // 2^(t − t)·x₁ and x₁, for a sum t and for a quotient.
        let cancelled = |by: TermOp| {
            move |store: &mut Store| {
                let inner = op(store, by, &[x(0), x(2)]);
                let [up, down] = [[inner, x(3)], [x(3), inner]].map(|of| {
                    let gap = op(store, TermOp::Sub, &of);
                    op(store, TermOp::Exp2, &[gap])
                });
                let scaled = op(store, TermOp::Mul, &[x(1), up]);
                op(store, TermOp::Fma, &[scaled, down, x(4)])
            }
        };
        let plain = |store: &mut Store| op(store, TermOp::Add, &[x(1), x(4)]);
        assert!(same(&cancelled(TermOp::Add), &plain));
        assert!(!same(&cancelled(TermOp::Div), &plain));
    }

    #[test]
    fn what_is_multiplied_by_zero_is_left_out_only_where_it_has_a_value() {
        let times_zero = |by: TermOp| {
            move |store: &mut Store| {
                let zero = constant(store, Extended::Finite(Rational::ZERO));
                let inner = op(store, by, &[x(0), x(2)]);
                op(store, TermOp::Fma, &[zero, inner, x(1)])
            }
        };
        let plain = |store: &mut Store| op(store, TermOp::Fma, &[x(1), x(1), x(1)]);
        let with = |by: TermOp| {
            move |store: &mut Store| {
                let own = times_zero(by)(store);
                op(store, TermOp::Fma, &[x(1), x(1), own])
            }
        };
        assert!(same(&with(TermOp::Max), &plain));
        assert!(!same(&with(TermOp::Div), &plain));
    }

    #[test]
    fn exponents_are_sums_of_products_with_numbers() {
        // 2^(c·(x₀ − x₁)), multiplied out and not, with the opposite number and with another.
        let number =
            |store: &mut Store, value: i64| constant(store, Extended::Finite(Rational::from_integer(value)));
        let factored = |store: &mut Store| {
            let (gap, three) = (op(store, TermOp::Sub, &[x(0), x(1)]), number(store, 3));
            let product = op(store, TermOp::Mul, &[gap, three]);
            op(store, TermOp::Exp2, &[product])
        };
        let fused = |by: i64| {
            move |store: &mut Store| {
                let (three, other) = (number(store, 3), number(store, by));
                let product = op(store, TermOp::Mul, &[three, x(0)]);
                let sum = op(store, TermOp::Fma, &[x(1), other, product]);
                op(store, TermOp::Exp2, &[sum])
            }
        };
        assert!(same(&factored, &fused(-3)));
        assert!(!same(&factored, &fused(3)));
        assert!(!same(&factored, &fused(-2)));
    }

    #[test]
    fn the_budget_ends_the_search() {
        let all: Vec<TermId> = (0..64).map(x).collect();
        let mut store = Store::new();
        let root = in_order(&mut store, TermOp::Add, &all);
        let analysis = Analysis::new(&store, &[root]);
        let census = [(); 2].map(|()| Census::new(&store, &[root]).expect("a census"));
        let [one, other] = [0, 1].map(|side| Located { side, term: root });
        let within = |steps| {
            let mut numbers = Numbers::new([&store; 2], [&analysis; 2], &census, steps);
            are_same(&mut numbers, [one, other], &Names::default())
        };
        assert!(!within(100));
        assert!(within(1 << 10));
    }
}
