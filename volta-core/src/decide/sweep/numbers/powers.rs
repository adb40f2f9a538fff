//! Powers of two in sums: `(a·2^e + b)·2^f = a·2^(e + f) + b·2^f`, where `e` and `f` have finite values at every input.
//!
//! An exponent is a sum of shapes, each times a product of literals and a rational; what cancels in it is left out. The
//! running maxima by which a sum is rescaled at each step cancel as shapes, before anything is known of them. All that
//! is left out has a value everywhere, so that sums with one number are still defined together. Literals stay symbols:
//! exponents are equal however these are read (V9).

use super::{Everywhere, Factor, Known, Made, Number, Numbers, Part, Shape};
use crate::algebra::IrrationalLiteral;
use crate::number::{Extended, Rational};
use crate::term::TermOp;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::rc::Rc;

/// A sum is taken apart under powers of two so often: what many terms scale stays a factor.
const MAX_SCALED: u8 = 4;

/// A product of literals that may be read as irrational numbers, by its own number.
pub(super) type Literals = u32;

/// A part of an exponent: a shape times literals and a rational.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) of: Shape,
    pub(super) literals: Literals,
    pub(super) times: Rational,
}

impl Entry {
    fn place(&self) -> (Shape, Literals) {
        (self.of, self.literals)
    }
}

/// Parts in order, none twice and none zero.
pub(super) type Exponent = Rc<[Entry]>;

/// The products of literals.
pub(super) struct Products {
    literals: FxHashMap<IrrationalLiteral, u32>,
    /// The literals of each product, in order.
    lists: Vec<Box<[u32]>>,
    known: FxHashMap<Box<[u32]>, Literals>,
    made: FxHashMap<[Literals; 2], Literals>,
}

impl Default for Products {
    fn default() -> Products {
        Products {
            literals: FxHashMap::default(),
            lists: vec![Box::default()],
            known: std::iter::once((Box::default(), Products::NONE)).collect(),
            made: FxHashMap::default(),
        }
    }
}

impl Products {
    /// The product of no literals.
    pub(super) const NONE: Literals = 0;

    /// One literal.
    pub(super) fn of_literal(&mut self, literal: IrrationalLiteral) -> Literals {
        let next = self.literals.len() as u32;
        let number = *self.literals.entry(literal).or_insert(next);
        self.of_list(Box::from([number]))
    }

    fn of_list(&mut self, list: Box<[u32]>) -> Literals {
        let next = self.lists.len() as Literals;
        let number = *self.known.entry(list.clone()).or_insert(next);
        if number == next {
            self.lists.push(list);
        }
        number
    }

    fn times(&mut self, a: Literals, b: Literals) -> Literals {
        match (a, b) {
            (Products::NONE, other) | (other, Products::NONE) => other,
            _ => {
                let both = [a.min(b), a.max(b)];
                if let Some(known) = self.made.get(&both) {
                    return *known;
                }
                let mut list = [&*self.lists[a as usize], &*self.lists[b as usize]].concat();
                list.sort_unstable();
                let product = self.of_list(list.into());
                self.made.insert(both, product);
                product
            }
        }
    }
}

impl Everywhere {
    fn opposite(self) -> Everywhere {
        match self {
            Everywhere::Infinite { negative } => Everywhere::Infinite { negative: !negative },
            Everywhere::Finite | Everywhere::Unknown => self,
        }
    }

    fn plus(self, other: Everywhere) -> Everywhere {
        match (self, other) {
            (Everywhere::Finite, other) => other,
            (own, Everywhere::Finite) => own,
            (own, other) if own == other => own,
            _ => Everywhere::Unknown,
        }
    }
}

/// An infinity times a number, of which `negative` says whether it is below 0, if it is known.
fn infinite_if(number: Option<bool>, negative: bool) -> Everywhere {
    number.map_or(Everywhere::Unknown, |other| Everywhere::Infinite { negative: negative != other })
}

impl Numbers<'_, '_> {
    /// Whether a shape has a finite value at every input.
    pub(super) fn is_total(&self, shape: Shape) -> bool {
        self.everywhere[shape.form()] == Everywhere::Finite
    }

    /// Whether a shape is certainly 0, as 2^(−∞) is.
    fn is_zero(&self, shape: Shape) -> bool {
        match self.made[shape.form()] {
            Made::Constant(_) => self.is_neutral(shape, &Extended::Finite(Rational::ZERO)),
            Made::Apply(TermOp::Exp2, [argument, ..]) => {
                self.everywhere[argument.form()] == Everywhere::Infinite { negative: true }
            }
            Made::Input(_) | Made::Leaf(_) | Made::Apply(..) | Made::Alone(_) => false,
        }
    }

    /// What is known of the value of an operation at every input (V3).
    pub(super) fn everywhere_of(&self, op: TermOp, [a, b, c]: [Shape; 3]) -> Everywhere {
        let known = |shape: Shape| self.everywhere[shape.form()];
        let product = || match (known(a), known(b)) {
            (Everywhere::Finite, Everywhere::Finite) => Everywhere::Finite,
            (Everywhere::Infinite { negative }, _) => infinite_if(self.is_negative(b), negative),
            (_, Everywhere::Infinite { negative }) => infinite_if(self.is_negative(a), negative),
            (Everywhere::Unknown, _) | (_, Everywhere::Unknown) => Everywhere::Unknown,
        };
        if op == TermOp::Add {
            known(a).plus(known(b))
        } else if op == TermOp::Sub {
            known(a).plus(known(b).opposite())
        } else if op == TermOp::Neg {
            known(a).opposite()
        } else if op == TermOp::Mul {
            product()
        } else if op == TermOp::Fma {
            product().plus(known(c))
        } else if op == TermOp::Exp2 {
            if known(a) == (Everywhere::Infinite { negative: true }) { Everywhere::Finite } else { known(a) }
        } else if matches!(op, TermOp::Max | TermOp::Min) {
            match [known(a), known(b)] {
                [Everywhere::Finite, Everywhere::Finite] => Everywhere::Finite,
                _ => Everywhere::Unknown,
            }
        } else {
            Everywhere::Unknown
        }
    }

    /// Whether a shape is a constant below 0; `None` where it is none that is above or below 0.
    fn is_negative(&self, shape: Shape) -> Option<bool> {
        let (number, _) = self.coefficient(shape)?;
        (!number.is_zero()).then(|| number.is_negative())
    }

    /// The argument of a power of two whose exponent has a finite value at every input.
    pub(super) fn argument(&self, shape: Shape) -> Option<Shape> {
        match self.made(shape) {
            Made::Apply(TermOp::Exp2, [argument, ..]) if self.is_total(argument) => Some(argument),
            Made::Input(_) | Made::Leaf(_) | Made::Constant(_) | Made::Apply(..) | Made::Alone(_) => None,
        }
    }

    /// A constant that is a number, as a factor.
    fn coefficient(&self, shape: Shape) -> Option<(Rational, Literals)> {
        let Made::Constant(number) = self.made[shape.form()] else { return None };
        match &self.values_of_constants[number] {
            Known::Exact(exact) => Some((exact.finite()?.clone(), Products::NONE)),
            Known::Read(factor, literals) => Some((factor.clone(), *literals)),
        }
    }

    /// A finite shape as a sum of others times numbers. Sums that are added up from many products are not taken apart.
    /// `None` at the end of the budget.
    fn exponent(&mut self, argument: Shape) -> Option<Exponent> {
        let mut entries: SmallVec<[Entry; 4]> = SmallVec::new();
        let mut open: SmallVec<[Entry; 4]> = SmallVec::new();
        open.push(Entry { of: argument, literals: Products::NONE, times: Rational::ONE });
        while let Some(entry) = open.pop() {
            self.left = self.left.checked_sub(1)?;
            let Entry { of, literals, times } = entry;
            let same = |of: Shape| Entry { of, literals, times: times.clone() };
            let opposite = |of: Shape| Entry { of, literals, times: -&times };
            match self.made(of) {
                Made::Apply(TermOp::Sub, [a, b, _]) => open.extend([same(a), opposite(b)]),
                Made::Apply(TermOp::Neg, [a, ..]) => open.push(opposite(a)),
                Made::Apply(op @ (TermOp::Mul | TermOp::Fma), [a, b, c]) => {
                    let factor = match self.coefficient(a) {
                        Some(factor) => Some((factor, b)),
                        None => self.coefficient(b).map(|factor| (factor, a)),
                    };
                    let Some(((factor, own), rest)) = factor else {
                        entries.push(same(of));
                        continue;
                    };
                    if op == TermOp::Fma {
                        open.push(same(c));
                    }
                    let literals = self.literals.times(literals, own);
                    open.push(Entry { of: rest, literals, times: &times * &factor });
                }
                Made::Constant(_) if self.is_zero(of) => {}
                Made::Input(_) | Made::Leaf(_) | Made::Constant(_) | Made::Apply(..) | Made::Alone(_) => {
                    entries.push(same(of));
                }
            }
        }
        entries.sort_unstable_by_key(Entry::place);
        entries.dedup_by(|next, kept| {
            let is_same = next.place() == kept.place();
            if is_same {
                kept.times = &kept.times + &next.times;
            }
            is_same
        });
        entries.retain(|entry| !entry.times.is_zero());
        Some(entries.into_iter().collect())
    }

    /// The number of 2 to an exponent whose shapes have numbers, or `None` within where this is 1.
    pub(super) fn power(&mut self, exponent: &Exponent) -> Option<Option<Number>> {
        let mut list: SmallVec<[(Number, Literals, Rational); 4]> = SmallVec::new();
        for entry in exponent.iter() {
            list.push((self.known_number(entry.of)?, entry.literals, entry.times.clone()));
        }
        list.sort_unstable_by_key(|(number, literals, _)| (*number, *literals));
        list.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 = &kept.2 + &next.2;
            }
            is_same
        });
        list.retain(|(.., times)| !times.is_zero());
        if list.is_empty() {
            return Some(None);
        }
        Some(Some(self.value(super::Value::Power(list.into_iter().collect()))))
    }

    /// What a shape is the sum of, or has the residue of, modulo a constant. `None` at the end of the budget.
    pub(super) fn parts_of_sum(&mut self, root: Shape, modulus: Option<Shape>) -> Option<Vec<Part>> {
        let one = Extended::Finite(Rational::ONE);
        let mut parts = Vec::new();
        let mut left_out = None;
        let mut open: SmallVec<[(Shape, bool, Option<Exponent>); 16]> = SmallVec::new();
        open.push((root, false, None));
        while let Some((shape, is_negative, power)) = open.pop() {
            self.left = self.left.checked_sub(1)?;
            let Made::Apply(op, [a, b, c]) = self.made(shape) else {
                // 2^e has a value everywhere.
                if self.is_zero(shape) {
                    left_out = Some(shape);
                } else {
                    let is_one = self.is_neutral(shape, &one);
                    let factor = if is_one { Factor::One } else { Factor::Shape(shape) };
                    parts.push(Part { factor, is_negative, power });
                }
                continue;
            };
            if matches!(op, TermOp::Add | TermOp::Sub | TermOp::Neg | TermOp::Fma) && power.is_some() {
                let times = self.scaled.entry(shape).or_default();
                if *times == MAX_SCALED {
                    parts.push(Part { factor: Factor::Shape(shape), is_negative, power });
                    continue;
                }
                *times += 1;
            }
            if op == TermOp::Mod && Some(b) == modulus && power.is_none() {
                // A number less its residue is a multiple of the modulus.
                open.push((a, is_negative, None));
            } else if let Some(choice) = self.sum_where(op, [a, b, c]).filter(|_| power.is_none()) {
                open.push((choice.to, is_negative, None));
                let factor = Factor::Shape(self.added_where(choice));
                parts.push(Part { factor, is_negative, power: None });
            } else if let Some(counted) = self.counted_apart(shape).filter(|_| power.is_none()) {
                self.parts_of_counted(&counted, is_negative, &mut parts);
            } else if op == TermOp::Add {
                open.extend([(b, is_negative, power.clone()), (a, is_negative, power)]);
            } else if op == TermOp::Sub {
                open.extend([(b, !is_negative, power.clone()), (a, is_negative, power)]);
            } else if op == TermOp::Neg {
                open.push((a, !is_negative, power));
            } else if power.is_none() && shape != root && self.argument(shape).is_some() {
                // It has a number of its own.
                parts.push(Part { factor: Factor::Shape(shape), is_negative, power });
            } else if let Some(argument) = self.argument(shape) {
                let power = Some(scaled(power, self.exponent(argument)?));
                parts.push(Part { factor: Factor::One, is_negative, power });
            } else if matches!(op, TermOp::Fma | TermOp::Mul) {
                if op == TermOp::Fma {
                    open.push((c, is_negative, power.clone()));
                }
                match [self.argument(a), self.argument(b)] {
                    // What is multiplied by 0 has a value everywhere.
                    [None, None] if self.is_zero(a) && self.is_total(b) => left_out = left_out.or(Some(a)),
                    [None, None] if self.is_zero(b) && self.is_total(a) => left_out = left_out.or(Some(b)),
                    [None, None] if op == TermOp::Mul => {
                        parts.push(Part { factor: Factor::Shape(shape), is_negative, power });
                    }
                    [None, None] => parts.push(Part { factor: Factor::Product(a, b), is_negative, power }),
                    [Some(own), Some(other)] => {
                        let both = joined(&self.exponent(own)?, &self.exponent(other)?);
                        let power = Some(scaled(power, both));
                        parts.push(Part { factor: Factor::One, is_negative, power });
                    }
                    [Some(own), None] => {
                        let power = Some(scaled(power, self.exponent(own)?));
                        open.push((b, is_negative, power));
                    }
                    [None, Some(own)] => {
                        let power = Some(scaled(power, self.exponent(own)?));
                        open.push((a, is_negative, power));
                    }
                }
            } else if self.is_zero(shape) {
                left_out = left_out.or(Some(shape));
            } else {
                parts.push(Part { factor: Factor::Shape(shape), is_negative, power });
            }
        }
        if parts.is_empty() {
            let zero =
                left_out.map(|shape| Part { factor: Factor::Shape(shape), is_negative: false, power: None });
            parts.extend(zero);
        }
        Some(parts)
    }
}

/// The exponent of a power of two times another.
fn scaled(power: Option<Exponent>, more: Exponent) -> Exponent {
    match power {
        None => more,
        Some(power) => joined(&power, &more),
    }
}

/// The sum of two exponents.
fn joined(a: &[Entry], b: &[Entry]) -> Exponent {
    let mut sum: SmallVec<[Entry; 4]> = SmallVec::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].place().cmp(&b[j].place()) {
            Ordering::Less => {
                sum.push(a[i].clone());
                i += 1;
            }
            Ordering::Greater => {
                sum.push(b[j].clone());
                j += 1;
            }
            Ordering::Equal => {
                let times = &a[i].times + &b[j].times;
                if !times.is_zero() {
                    sum.push(Entry { times, ..a[i] });
                }
                i += 1;
                j += 1;
            }
        }
    }
    sum.extend(a[i..].iter().chain(&b[j..]).cloned());
    sum.into_iter().collect()
}
