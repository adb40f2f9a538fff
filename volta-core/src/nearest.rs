//! Literals read as the quotients to which they are nearest (rule V9, `literals = "nearest"`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::case::Which;
use crate::conditions::{Conditions, Pair};
use crate::machine::OutputValue;
use crate::number::format::{Format, Rounding, decode, encode, mantissa_bits};
use crate::number::{Extended, Rational};
use crate::program::{Address, Float2, Op, Program, RegId, Space, Src, VariableId};
use crate::term::{Constant, Root, Store, TermId};

/// So many bits a quotient has fewer than the literal that is read as it.
const SPARE: u64 = 6;

/// Roots are read in no larger stores, in nodes of both sides: each lane of a node is copied by itself.
const MOST_NODES: usize = 1 << 14;

/// A literal is compared with the reciprocals of no more literals of the other kernel.
const MOST_OTHERS: usize = 256;

/// A literal of one kernel, and the number that it may stand for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NearestReading {
    which: Which,
    format: Format,
    bits: u64,
    quotient: Rational,
    /// Whether the literal stands for the root of the quotient.
    is_root: bool,
    /// The literal of the other kernel of which it is the reciprocal.
    of: Option<u64>,
}

impl fmt::Display for NearestReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NearestReading { which, format, bits, quotient, is_root, of } = self;
        let digits = format.bytes() as usize * 2;
        let kernel = match which {
            Which::Reference => "the reference",
            Which::Opt => "the optimized kernel",
        };
        write!(f, "{} literal 0x{bits:0digits$x} of {kernel} read as ", format.name())?;
        let is_negative = value(*format, *bits).is_some_and(|value| value.is_negative());
        match of {
            None if *is_root => {
                let sign = if is_negative { "-" } else { "" };
                write!(f, "{sign}√({quotient}) (`literals`, V9)")
            }
            None => write!(f, "{quotient} (`literals`, V9)"),
            Some(of) => write!(f, "1 / 0x{of:0digits$x}, a literal of the other kernel (`literals`, V9)"),
        }
    }
}

/// The literals of a side, and the floats that kernels take as arguments, that are operands of float arithmetic and of
/// nothing else: no instruction moves, converts or compares them, so that wherever they are used they are operands of
/// terms, unless a run computes known numbers from them.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectLiterals {
    direct: BTreeSet<(Format, u64)>,
    others: BTreeSet<u64>,
}

impl DirectLiterals {
    /// Those of some kernels, each with its arguments that are floats.
    pub(crate) fn of<'p>(
        kernels: impl Iterator<Item = (&'p Program, Vec<(VariableId, Format, u64)>)>,
    ) -> DirectLiterals {
        let mut all = DirectLiterals::default();
        for (program, scalars) in kernels {
            for inst in &program.insts {
                match arithmetic(&inst.op) {
                    Some((format, sources)) => {
                        for source in sources {
                            if let Src::Imm(bits) = source {
                                all.direct.insert((format, bits & (u64::MAX >> (64 - 8 * format.bytes()))));
                            }
                        }
                    }
                    None => inst.op.visit_sources(&mut |source| {
                        if let Src::Imm(bits) = source {
                            all.others.insert(bits);
                        }
                    }),
                }
            }
            for (variable, format, bits) in scalars {
                if is_direct(program, variable, format) {
                    all.direct.insert((format, bits));
                } else {
                    all.others.insert(bits);
                }
            }
        }
        all
    }

    fn contains(&self, format: Format, bits: u64) -> bool {
        self.direct.contains(&(format, bits)) && !self.others.contains(&bits)
    }
}

/// The format and the operands of float arithmetic.
fn arithmetic(op: &Op) -> Option<(Format, [Src; 3])> {
    if let Op::Float2 { op: Float2::Mul | Float2::Div | Float2::Add | Float2::Sub, format, a, b, .. } = op {
        Some((*format, [*a, *b, *b]))
    } else if let Op::Fma { format, a, b, c, .. } = op {
        Some((*format, [*a, *b, *c]))
    } else {
        None
    }
}

/// The registers that a parameter is loaded into as a whole.
fn loaded(op: &Op, parameter: VariableId, format: Format) -> Option<&[Option<RegId>]> {
    let Op::Load { space: Space::Param, address: Address { base, offset: 0 }, width, d, .. } = op else {
        return None;
    };
    let is_whole = *base == Src::Symbol(parameter, 0) && width.bits() == 8 * format.bytes();
    is_whole.then_some(d.as_slice())
}

/// Whether a parameter is only loaded, as a whole, into registers that hold nothing else, and that only arithmetic in
/// its format reads.
fn is_direct(program: &Program, parameter: VariableId, format: Format) -> bool {
    let ops = || program.insts.iter().map(|inst| &inst.op);
    let registers: BTreeSet<RegId> =
        ops().filter_map(|op| loaded(op, parameter, format)).flatten().flatten().copied().collect();
    let fits = |op: &Op| {
        if loaded(op, parameter, format).is_some() {
            return true;
        }
        let (mut is_named, mut is_read, mut is_written) = (false, false, false);
        op.visit_sources(&mut |source| {
            is_named |= matches!(source, Src::Symbol(variable, _) if variable == parameter)
        });
        op.visit_registers(&mut |register, writes| {
            let is_one = registers.contains(&register);
            is_read |= is_one && !writes;
            is_written |= is_one && writes;
        });
        !is_named && !is_written && (!is_read || arithmetic(op).is_some_and(|(of, _)| of == format))
    };
    ops().all(fits)
}

/// What both sides were, to be put back.
pub(crate) struct Exact {
    /// Constants.
    constants: [Vec<Vec<(usize, Constant)>>; 2],
    /// What was copied with roots in place of literals.
    copied: Option<Copied>,
}

/// Stores of both sides as they were, and what refers to them.
struct Copied {
    pairs: Vec<Pair>,
    sides: [Vec<CopiedStore>; 2],
}

/// A store as it was, and the values of outputs that are its terms, by their numbers.
struct CopiedStore {
    at: usize,
    store: Store,
    values: Vec<(usize, OutputValue)>,
}

impl Conditions {
    /// The readings of literals that are tried one after the other: of those that only one kernel has, and of all.
    ///
    /// A literal of one kernel, the optimized one or else the reference, that is the rounding of 1 / L, where L is one of
    /// the other, is read as that. Of the quotients whose rounding a literal is, it is read as a convergent of its
    /// continued fraction: if numerator and denominator have fewer bits than the literal, or the numerator is 1, no other
    /// is as simple, and few literals have one by chance.
    pub(crate) fn nearest_readings(&self, readable: &[DirectLiterals; 2]) -> Vec<Vec<NearestReading>> {
        let literals = [&self.reference, &self.opt].map(|side| literals(&side.stores));
        let may_be_read = |which: Which, (format, bits): (Format, u64)| {
            let side = if which == Which::Reference { &self.reference } else { &self.opt };
            readable[which as usize].contains(format, bits)
                && !side.stores.iter().any(|store| store.is_folded((format, bits)))
        };
        let mut lists: Vec<Vec<NearestReading>> = Vec::new();
        for is_common in [false, true] {
            for inverted in [Which::Opt, Which::Reference] {
                let mut readings: Vec<NearestReading> = Vec::new();
                let other = if inverted == Which::Opt { Which::Reference } else { Which::Opt };
                for which in [inverted, other] {
                    let (own, others) = (&literals[which as usize], &literals[1 - which as usize]);
                    let bases: BTreeSet<u64> = readings.iter().filter_map(|reading| reading.of).collect();
                    let own = own.iter().filter(|literal| is_common || !others.contains(literal));
                    let own = own.filter(|(_, bits)| which == inverted || !bases.contains(bits));
                    let own = own.filter(|literal| may_be_read(which, **literal));
                    let read = |(format, bits): &(Format, u64)| {
                        let (format, bits) = (*format, *bits);
                        let inverse = reciprocal((format, bits), others).filter(|_| which == inverted);
                        let (quotient, of) = match (inverse, quotient(format, bits)) {
                            (Some((inverse, of)), simple) if simple.as_ref() != Some(&inverse) => {
                                (inverse, of)
                            }
                            (_, simple) => (simple?, None),
                        };
                        Some(NearestReading { which, format, bits, quotient, is_root: false, of })
                    };
                    readings.extend(own.filter_map(read));
                }
                if !readings.is_empty() && !lists.contains(&readings) {
                    lists.push(readings);
                }
            }
        }
        if !self.may_hold_roots() {
            return lists;
        }
        // Literals that are no quotients may be roots, beside one that a kernel computes.
        for is_common in [false, true] {
            let mut readings: Vec<NearestReading> = Vec::new();
            for which in [Which::Reference, Which::Opt] {
                let (own, others) = (&literals[which as usize], &literals[1 - which as usize]);
                let own = own.iter().filter(|literal| is_common || !others.contains(literal));
                let own = own.filter(|literal| may_be_read(which, **literal));
                readings.extend(own.filter_map(|(format, bits)| {
                    let (format, bits) = (*format, *bits);
                    let simple = quotient(format, bits);
                    let is_root = simple.is_none();
                    let quotient = simple.or_else(|| square(format, bits))?;
                    Some(NearestReading { which, format, bits, quotient, is_root, of: None })
                }));
            }
            if readings.iter().any(|reading| reading.is_root) && !lists.contains(&readings) {
                lists.push(readings);
            }
        }
        lists
    }

    /// Whether a kernel takes a root, and stores are small enough to be copied with roots in place of literals.
    fn may_hold_roots(&self) -> bool {
        let sides = [&self.reference, &self.opt];
        let stores = || sides.iter().flat_map(|side| &side.stores);
        sides.iter().all(|side| side.bags.is_empty() && side.alternatives.is_empty())
            && stores().map(Store::len).sum::<usize>() <= MOST_NODES
            && stores().any(Store::has_roots)
    }

    /// Reads literals otherwise, until [`Conditions::restore`].
    pub(crate) fn read(&mut self, readings: &[NearestReading]) -> Exact {
        let side = |which: Which| -> BTreeMap<(Format, u64), &Rational> {
            let own = readings.iter().filter(|reading| reading.which == which && !reading.is_root);
            own.map(|reading| ((reading.format, reading.bits), &reading.quotient)).collect()
        };
        let [reference, opt] = [Which::Reference, Which::Opt].map(side);
        let read = |stores: &mut Vec<Store>, readings: &BTreeMap<(Format, u64), &Rational>| {
            let number = |constant: &Constant| readings.get(&constant.literal?).map(|own| (*own).clone());
            stores.iter_mut().map(|store| store.read_constants(number)).collect()
        };
        let constants = [read(&mut self.reference.stores, &reference), read(&mut self.opt.stores, &opt)];
        let copied = readings.iter().any(|reading| reading.is_root).then(|| self.read_roots(readings));
        Exact { constants, copied }
    }

    /// Copies the stores that have literals which stand for roots.
    fn read_roots(&mut self, readings: &[NearestReading]) -> Copied {
        let pairs = self.pairs.clone();
        let mut sides: [Vec<CopiedStore>; 2] = [Vec::new(), Vec::new()];
        for which in [Which::Reference, Which::Opt] {
            let own = readings.iter().filter(|reading| reading.which == which && reading.is_root);
            let squares: BTreeMap<(Format, u64), &Rational> =
                own.map(|reading| ((reading.format, reading.bits), &reading.quotient)).collect();
            let root = |constant: &Constant| {
                let square = (*squares.get(&constant.literal?)?).clone();
                let is_negative = constant.exact.signum() < 0;
                Some(Root { square, is_negative })
            };
            let side = if which == Which::Reference { &mut self.reference } else { &mut self.opt };
            for at in 0..side.stores.len() {
                // What may be decided, or told of what the side computes.
                let outputs = (0..side.outputs.len()).filter(|output| side.outputs[*output].store == at);
                let outputs: Vec<usize> = outputs.collect();
                let own = side.outputs.iter_mut().filter(|output| output.store == at);
                let mut places: Vec<&mut OutputValue> = own.map(|output| &mut output.value).collect();
                let before: Vec<OutputValue> = places.iter().map(|value| **value).collect();
                let of_pairs = self.pairs.iter_mut().map(|pair| match which {
                    Which::Reference => &mut pair.reference,
                    Which::Opt => &mut pair.opt,
                });
                places.extend(of_pairs.filter(|own| own.store == Some(at)).map(|own| &mut own.value));
                let terms: Vec<TermId> = places.iter().filter_map(|value| value.term()).collect();
                let Some((copy, terms)) = side.stores[at].with_roots(&terms, root) else { continue };
                let mut terms = terms.into_iter();
                for value in places {
                    let (OutputValue::Real(term) | OutputValue::Integer(term)) = value else { continue };
                    *term = terms.next().unwrap_or(*term);
                }
                let store = std::mem::replace(&mut side.stores[at], copy);
                let values = outputs.into_iter().zip(before).collect();
                sides[which as usize].push(CopiedStore { at, store, values });
            }
        }
        Copied { pairs, sides }
    }

    /// Undoes [`Conditions::read`].
    pub(crate) fn restore(&mut self, Exact { constants, copied }: Exact) {
        if let Some(Copied { pairs, sides }) = copied {
            self.pairs = pairs;
            for (side, own) in [&mut self.reference, &mut self.opt].into_iter().zip(sides) {
                for CopiedStore { at, store, values } in own {
                    side.stores[at] = store;
                    values.into_iter().for_each(|(output, value)| side.outputs[output].value = value);
                }
            }
        }
        for (stores, constants) in
            [&mut self.reference.stores, &mut self.opt.stores].into_iter().zip(constants)
        {
            stores.iter_mut().zip(constants).for_each(|(store, own)| store.restore_constants(own));
        }
    }
}

/// The literals of some stores that are rounded numbers.
fn literals(stores: &[Store]) -> BTreeSet<(Format, u64)> {
    stores.iter().flat_map(Store::literals).filter(|(format, _)| mantissa_bits(*format) >= 8).collect()
}

fn value(format: Format, bits: u64) -> Option<Rational> {
    decode(format, bits).extended()?.finite().filter(|value| !value.is_zero()).cloned()
}

fn is_nearest(number: &Rational, (format, bits): (Format, u64)) -> bool {
    encode(&Extended::Finite(number.clone()), format, Rounding::Nearest) == bits
}

/// The simple number whose root a literal is the rounding of, if the root is irrational: a convergent of the literal's
/// square.
fn square(format: Format, bits: u64) -> Option<Rational> {
    let own = value(format, bits)?.abs();
    let bits = encode(&Extended::Finite(own.clone()), format, Rounding::Nearest);
    // Halfway to both neighbours.
    let half = |neighbour: u64| Some(&(&own + &value(format, neighbour)?) * &Rational::from_ratio(1, 2));
    let [least, most] = [half(bits.checked_sub(1)?)?, half(bits + 1)?].map(|end| &end * &end);
    let longest = u64::from(mantissa_bits(format)).saturating_sub(SPARE);
    let found = convergents(&(&own * &own), |[over, under]| over + under <= longest)
        .find(|square| *square > least && *square < most)?;
    let (over, under) = found.to_parts();
    let is_rational = over.is_perfect_square() && under.is_perfect_square();
    (!is_rational).then_some(found)
}

/// The convergents of a positive number's continued fraction, as long as the bits of numerator and denominator, without
/// the first of each, are few enough.
fn convergents(of: &Rational, is_simple: impl Fn([u64; 2]) -> bool) -> impl Iterator<Item = Rational> {
    let mut rest = Some(of.clone());
    let mut last = [Rational::ONE, Rational::ZERO];
    let mut before = [Rational::ZERO, Rational::ONE];
    std::iter::from_fn(move || {
        let own = rest.take()?;
        let whole = own.floor();
        let next = [0, 1].map(|at: usize| &(&whole * &last[at]) + &before[at]);
        // A whole number has a denominator of one bit.
        if !is_simple(next.each_ref().map(|own| own.bit_length() - 1)) {
            return None;
        }
        rest = (&own - &whole).recip();
        before = std::mem::replace(&mut last, next.clone());
        next[0].checked_div(&next[1])
    })
}

/// The simple quotient whose rounding a literal is, if it is not the literal itself.
fn quotient(format: Format, bits: u64) -> Option<Rational> {
    let value = &value(format, bits)?;
    let most = u64::from(mantissa_bits(format));
    let is_simple = |[over, under]: [u64; 2]| under <= most && (over <= 1 || over + under <= most - SPARE);
    for magnitude in convergents(&value.abs(), is_simple) {
        let quotient = if value.is_negative() { -magnitude } else { magnitude };
        if quotient == *value {
            return None;
        }
        if is_nearest(&quotient, (format, bits)) {
            return Some(quotient);
        }
    }
    None
}

/// The reciprocal of a literal of the other kernel whose rounding a literal is. Short numbers, such as whole ones, are
/// what they are.
fn reciprocal(
    (format, bits): (Format, u64),
    others: &BTreeSet<(Format, u64)>,
) -> Option<(Rational, Option<u64>)> {
    let own = value(format, bits)?;
    let (numerator, _) = own.to_small_parts()?;
    let length = i64::BITS - (numerator.unsigned_abs() >> numerator.trailing_zeros()).leading_zeros();
    if length <= mantissa_bits(format) / 2 {
        return None;
    }
    let others = others.iter().filter(|(other, _)| *other == format).take(MOST_OTHERS);
    let mut all = others.filter_map(|(_, other)| Some((value(format, *other)?.recip()?, Some(*other))));
    all.find(|(reciprocal, _)| is_nearest(reciprocal, (format, bits)) && *reciprocal != own)
}

#[cfg(test)]
mod tests {
    use std::f32::consts::{LN_2, LOG2_E};

    use super::*;

    fn read(number: f32) -> Option<Rational> {
        quotient(Format::F32, u64::from(number.to_bits()))
    }

    #[test]
    fn a_literal_is_read_as_the_simplest_quotient_that_it_is_the_rounding_of() {
        for (numerator, denominator) in [
            (1, 6),
            (-1, 6),
            (1, 3),
            (2, 3),
            (1, 1000),
            (5, 7),
            (22, 7),
            (1, 12345),
            (1, 1_000_000),
            (125, 3),
            (355, 113),
            (-17, 1234),
        ] {
            let own = Rational::from_ratio(numerator, denominator);
            assert_eq!(read(numerator as f32 / denominator as f32), Some(own));
        }
    }

    #[test]
    fn a_literal_may_be_the_rounding_of_a_root() {
        let read = |number: f32| square(Format::F32, u64::from(number.to_bits()));
        for (over, under) in [(2, 1), (1, 2), (3, 1), (1, 80), (1, 96), (1, 128), (1, 192), (1, 2048), (2, 3)]
        {
            let root = (f64::from(over) / f64::from(under)).sqrt() as f32;
            let square = Rational::from_ratio(over.into(), under.into());
            assert_eq!((read(root), read(-root)), (Some(square.clone()), Some(square)));
            // The neighbours are no rounded roots.
            assert_eq!(read(f32::from_bits(root.to_bits() + 1)), None);
            assert_eq!(read(f32::from_bits(root.to_bits() - 1)), None);
        }
        for number in [0.5, 1.5, 3.0, 1.0 / 3.0, 0.044_715_3, 0.797_884_6, LOG2_E, LN_2, 1e-20, f32::MAX] {
            assert_eq!(read(number), None, "{number}");
        }
    }

    #[test]
    fn other_literals_are_what_they_are() {
        for number in [0.5, 0.75, 3.0, 0.797_884_6, 0.044_715_3, LOG2_E, LN_2, 1e-20, 1e20] {
            assert_eq!(read(number), None, "{number}");
        }
    }
}
