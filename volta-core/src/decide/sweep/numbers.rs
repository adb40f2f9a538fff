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

use super::Located;
use super::cuts::Census;
use crate::algebra::{Analysis, IrrationalLiteral};
use crate::number::{Extended, Rational};
use crate::term::{Constant, Store, TermId, TermKind, TermOp, View};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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
}

/// A part of a sum or an extremum, or an operand of another operation.
#[derive(Clone, Copy)]
enum Part {
    Shape(Shape),
    Product(Shape, Shape),
}

impl Part {
    fn shapes(self) -> SmallVec<[Shape; 2]> {
        match self {
            Part::Shape(shape) => SmallVec::from_slice(&[shape]),
            Part::Product(a, b) => SmallVec::from_slice(&[a, b]),
        }
    }
}

/// Numbers of the terms of both sides, made on demand.
pub(super) struct Numbers<'s, 'c> {
    stores: [&'s Store; 2],
    analysis: [&'s Analysis; 2],
    sides: &'c [Census; 2],
    /// Shapes of terms, by position in the census.
    shapes: [Vec<Option<Shape>>; 2],
    made: Vec<Made>,
    known: FxHashMap<Made, Shape>,
    constants: FxHashMap<(&'s Constant, Option<&'s Read>), usize>,
    /// What is left out of sums, maxima and minima, by the number of a constant.
    neutral: Vec<Option<Extended>>,
    /// Numbers of shapes.
    numbers: Vec<Option<u32>>,
    values: FxHashMap<Value, u32>,
    /// The steps that may be taken.
    left: u64,
}

/// The names of the terms of both sides.
type Names = [FxHashMap<TermId, TermId>; 2];

impl<'s, 'c> Numbers<'s, 'c> {
    pub(super) fn new(
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
            made: Vec::new(),
            known: FxHashMap::default(),
            constants: FxHashMap::default(),
            neutral: Vec::new(),
            numbers: Vec::new(),
            values: FxHashMap::default(),
            left,
        }
    }

    /// The steps that are left.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The number of a term, which itself may have a name. `None` at the end of the budget.
    pub(super) fn number(&mut self, at: Located, names: &Names) -> Option<u32> {
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
            self.shapes[side][position] = Some(self.of(made));
            stack.pop();
        }
        self.shapes[side][self.sides[side].position(at.term)?]
    }

    /// The shape of an operand; `None` where its own operands come first.
    fn operand(&mut self, side: usize, term: TermId, names: &FxHashMap<TermId, TermId>) -> Option<Shape> {
        match term.kind() {
            TermKind::Lane(..) => match names.get(&term) {
                Some(name) => Some(self.of(Made::Leaf(*name))),
                None => self.shapes[side][self.sides[side].position(term)?],
            },
            TermKind::Input { .. } => Some(self.of(Made::Leaf(term))),
            TermKind::Constant(id) => {
                let (constant, read) = (self.stores[side].constant(id), self.analysis[side].reading(id));
                let next = self.constants.len();
                let number = *self.constants.entry((constant, read)).or_insert(next);
                if number == next {
                    self.neutral.push(read.is_none().then(|| constant.exact.clone()));
                }
                Some(self.of(Made::Constant(number)))
            }
        }
    }

    fn of(&mut self, made: Made) -> Shape {
        let next = self.made.len() as Shape;
        let shape = *self.known.entry(made).or_insert(next);
        if shape == next {
            self.made.push(made);
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
        let mut parts = Vec::new();
        while let Some(shape) = stack.last().copied() {
            if self.numbers[shape as usize].is_some() {
                stack.pop();
                continue;
            }
            self.parts(shape, &mut parts)?;
            let open = stack.len();
            let below = parts.iter().flat_map(|(part, _)| part.shapes());
            stack.extend(below.filter(|shape| self.numbers[*shape as usize].is_none()));
            if stack.len() > open {
                continue;
            }
            let value = match self.made[shape as usize] {
                Made::Apply(TermOp::Add | TermOp::Sub | TermOp::Neg | TermOp::Fma, _) => {
                    let mut list = Vec::with_capacity(parts.len());
                    for (part, is_negative) in &parts {
                        list.push((self.of_part(*part)?, *is_negative));
                    }
                    list.sort_unstable();
                    match list[..] {
                        [(number, false)] => Ok(number),
                        _ => Err(Value::Sum(list.into())),
                    }
                }
                Made::Apply(op @ (TermOp::Max | TermOp::Min), _) => {
                    let mut list = Vec::with_capacity(parts.len());
                    for (part, _) in &parts {
                        list.push(self.of_part(*part)?);
                    }
                    list.sort_unstable();
                    list.dedup();
                    match list[..] {
                        [number] => Ok(number),
                        _ => Err(Value::Extremum(op, list.into())),
                    }
                }
                Made::Apply(op, _) => {
                    let mut of = [0; 3];
                    for (of, (part, _)) in of.iter_mut().zip(&parts) {
                        *of = self.of_part(*part)?;
                    }
                    Err(operation(op, of))
                }
                Made::Leaf(_) | Made::Constant(_) | Made::Alone(_) => Err(Value::Leaf(shape)),
            };
            let number = value.unwrap_or_else(|value| self.value(value));
            self.numbers[shape as usize] = Some(number);
            stack.pop();
        }
        self.numbers[root as usize]
    }

    fn of_part(&mut self, part: Part) -> Option<u32> {
        match part {
            Part::Shape(shape) => self.numbers[shape as usize],
            Part::Product(a, b) => {
                let of = [self.numbers[a as usize]?, self.numbers[b as usize]?, 0];
                Some(self.value(operation(TermOp::Mul, of)))
            }
        }
    }

    /// What a shape is the sum or the extremum of, or its operands, in `parts`. `None` at the end of the budget.
    fn parts(&mut self, root: Shape, parts: &mut Vec<(Part, bool)>) -> Option<()> {
        parts.clear();
        let Made::Apply(outer, all) = self.made[root as usize] else { return Some(()) };
        let neutral = if matches!(outer, TermOp::Add | TermOp::Sub | TermOp::Neg | TermOp::Fma) {
            Extended::Finite(Rational::ZERO)
        } else if outer == TermOp::Max {
            Extended::NegInf
        } else if outer == TermOp::Min {
            Extended::PosInf
        } else {
            parts.extend(all[..outer.arity()].iter().map(|shape| (Part::Shape(*shape), false)));
            self.left = self.left.checked_sub(1)?;
            return Some(());
        };
        let is_extremum = matches!(outer, TermOp::Max | TermOp::Min);
        let mut open: SmallVec<[(Shape, bool); 16]> = SmallVec::from_slice(&[(root, false)]);
        let mut left_out = None;
        while let Some((shape, is_negative)) = open.pop() {
            self.left = self.left.checked_sub(1)?;
            match self.made[shape as usize] {
                Made::Constant(number) if self.neutral[number].as_ref() == Some(&neutral) => {
                    left_out = Some((Part::Shape(shape), is_negative));
                }
                Made::Apply(op, [a, b, _]) if is_extremum && op == outer => {
                    open.extend([(b, false), (a, false)]);
                }
                Made::Apply(TermOp::Add, [a, b, _]) if !is_extremum => {
                    open.extend([(b, is_negative), (a, is_negative)]);
                }
                Made::Apply(TermOp::Sub, [a, b, _]) if !is_extremum => {
                    open.extend([(b, !is_negative), (a, is_negative)]);
                }
                Made::Apply(TermOp::Neg, [a, ..]) if !is_extremum => open.push((a, !is_negative)),
                Made::Apply(TermOp::Fma, [a, b, c]) if !is_extremum => {
                    parts.push((Part::Product(a, b), is_negative));
                    open.push((c, is_negative));
                }
                Made::Leaf(_) | Made::Constant(_) | Made::Apply(..) | Made::Alone(_) => {
                    parts.push((Part::Shape(shape), is_negative));
                }
            }
        }
        if parts.is_empty() {
            parts.extend(left_out);
        }
        Some(())
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
