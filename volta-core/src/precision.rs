//! Precision that one of two kernels loses and the other keeps. Verdicts are about reals (rule V2), so they do not
//! depend on it.

use rustc_hash::FxHashSet;

use crate::case::{Case, Side, Which};
use crate::launch::place_in;
use crate::lint::side_of;
use crate::number::format::{Format, mantissa_bits};
use crate::program::matrix::{MatrixElement, MatrixProduct};
use crate::program::{Async, Float1, Float2, InstId, Op, Program, RegId, Space, Src};
use crate::steps::read;
use crate::verdict::{InputError, Place};

/// A loss of precision on one side only.
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisionLoss {
    /// The side that loses precision.
    pub which: Which,
    /// The first instruction that does.
    pub place: Place,
    /// What it does and the other does not, as a sentence without its subject.
    pub what: String,
}

/// What a kernel does to precision: for each kind of loss, the first instruction with the worst one.
#[derive(Debug, Default)]
struct Precisions {
    /// The narrowest format in which a sum or product is computed.
    computes: Option<(Format, InstId)>,
    /// The narrowest format to which a value is rounded between two computations.
    rounds: Option<(Format, InstId)>,
    /// Functions without a standard precision, by name.
    approximates: Vec<(&'static str, InstId)>,
    /// A sum or product in f32 that flushes subnormal numbers to zero.
    flushes: Option<InstId>,
}

/// The losses of precision in only one of the two kernels of a case; none for a case with one kernel, or with a side of
/// several steps.
///
/// Read from the code, whether or not it is executed.
///
/// # Errors
/// When a kernel cannot be read.
pub fn precision_lost(case: &Case) -> Result<Vec<PrecisionLoss>, InputError> {
    let mut sides = Vec::new();
    for which in [Which::Reference, Which::Opt] {
        // Of several launches, none is the counterpart of another.
        let only = side_of(case, which).and_then(Side::only);
        let Some(side) = only else { return Ok(Vec::new()) };
        let program = read(which, side, 0)?;
        let precisions = Precisions::of(&program);
        sides.push((which, side, program, precisions));
    }
    let mut lost = Vec::new();
    for (own, other) in [(0, 1), (1, 0)] {
        let (which, side, program, precisions) = &sides[own];
        let (other, _, _, theirs) = &sides[other];
        for (what, inst) in precisions.beyond(theirs, *other) {
            if let Some(place) = place_in(program, &side.ptx, inst) {
                lost.push(PrecisionLoss { which: *which, place, what });
            }
        }
    }
    Ok(lost)
}

impl Precisions {
    fn of(program: &Program) -> Precisions {
        let mut own = Precisions::default();
        let wanted = computed_with(program);
        for (at, inst) in program.insts.iter().enumerate() {
            let at = InstId::from_index(at);
            if let Some(format) = computes_in(&inst.op) {
                narrow(&mut own.computes, format, at);
            }
            if let Some(format) = factors_in(&inst.op) {
                narrow(&mut own.rounds, format, at);
            }
            if let Op::CvtFloat { d, from, to, integral: None, .. } = &inst.op
                && mantissa_bits(*to) < mantissa_bits(*from)
                && wanted.contains(d)
            {
                narrow(&mut own.rounds, *to, at);
            }
            if let Some(name) = approximates(&inst.op)
                && own.approximates.iter().all(|(known, _)| *known != name)
            {
                own.approximates.push((name, at));
            }
            if let Op::Float2 { format: Format::F32, precision, .. }
            | Op::Fma { format: Format::F32, precision, .. } = &inst.op
                && precision.flush
            {
                own.flushes = own.flushes.or(Some(at));
            }
        }
        own
    }

    /// The losses that it has and `other` has not.
    fn beyond(&self, other: &Precisions, name: Which) -> Vec<(String, InstId)> {
        let name = match name {
            Which::Reference => "the reference",
            Which::Opt => "the optimized kernel",
        };
        let mut list = Vec::new();
        let bits = |of: Option<(Format, InstId)>| of.map_or(u32::MAX, |(format, _)| mantissa_bits(format));
        if let (Some((format, at)), Some((theirs, _))) = (self.computes, other.computes)
            && mantissa_bits(format) < mantissa_bits(theirs)
        {
            let what = format!(
                "computes in {}, where {name} computes in no less than {}",
                format.name(),
                theirs.name()
            );
            list.push((what, at));
        }
        if let Some((format, at)) = self.rounds
            && other.computes.is_some()
            && mantissa_bits(format) < bits(other.rounds).min(bits(other.computes))
        {
            list.push((format!("rounds to {} in between, which {name} does not", format.name()), at));
        }
        for (function, at) in &self.approximates {
            if other.computes.is_some() && other.approximates.iter().all(|(known, _)| known != function) {
                list.push((format!("approximates by `{function}`, which {name} does not"), *at));
            }
        }
        if let (Some(at), None, Some(_)) = (self.flushes, other.flushes, other.computes) {
            list.push((format!("reads subnormal numbers as zeros, which {name} does not"), at));
        }
        list
    }
}

fn narrow(known: &mut Option<(Format, InstId)>, format: Format, at: InstId) {
    if known.is_none_or(|(known, _)| mantissa_bits(format) < mantissa_bits(known)) {
        *known = Some((format, at));
    }
}

/// The product that an operation computes.
fn product(op: &Op) -> Option<&MatrixProduct> {
    if let Op::Mma { product, .. } | Op::MultiplyFragments { product, .. } = op {
        return Some(product);
    }
    if let Op::Async(Async::Multiply(product)) = op { Some(&product.product) } else { None }
}

/// The format in which an operation adds or multiplies. Exact products and maxima lose nothing.
fn computes_in(op: &Op) -> Option<Format> {
    if let Op::Float2 { op: Float2::Add | Float2::Sub | Float2::Mul | Float2::Div, format, .. }
    | Op::Fma { format, .. } = op
    {
        return Some(*format);
    }
    match product(op)?.d {
        MatrixElement::Float(format) => Some(format),
        MatrixElement::Int8 { .. } | MatrixElement::Int32 => None,
    }
}

/// The format to which a matrix product rounds 32-bit factors.
fn factors_in(op: &Op) -> Option<Format> {
    match product(op)?.a {
        MatrixElement::Float(Format::Tf32) => Some(Format::Tf32),
        MatrixElement::Float(_) | MatrixElement::Int8 { .. } | MatrixElement::Int32 => None,
    }
}

/// The approximation that an operation computes, by its PTX name.
fn approximates(op: &Op) -> Option<&'static str> {
    if let Op::Float2 { op: Float2::Div, precision, .. } = op {
        return precision.approximate.then_some("div.approx");
    }
    let Op::Float1 { op, precision, .. } = op else { return None };
    let name = match op {
        // These have no other form in f32, and the accurate library functions consist of them.
        Float1::Neg | Float1::Abs | Float1::Ex2 | Float1::Rsqrt => return None,
        Float1::Lg2 => "lg2.approx",
        Float1::Sqrt => "sqrt.approx",
        Float1::Sin => "sin.approx",
        Float1::Cos => "cos.approx",
        Float1::Tanh => "tanh.approx",
        Float1::Rcp => "rcp.approx",
    };
    precision.approximate.then_some(name)
}

/// The registers that are computed with, directly or through others, or stored to shared memory for that.
fn computed_with(program: &Program) -> FxHashSet<RegId> {
    let mut wanted = FxHashSet::default();
    loop {
        let before = wanted.len();
        for inst in program.insts.iter().rev() {
            let (mut reads, mut passes_on) = (Vec::new(), false);
            inst.op.visit_registers(&mut |register, written| {
                if written { passes_on |= wanted.contains(&register) } else { reads.push(register) }
            });
            if computes_in(&inst.op).is_some() || matches!(inst.op, Op::Float1 { .. } | Op::CvtFloat { .. }) {
                wanted.extend(reads);
            } else if let Op::Store { space: Space::Shared, a, .. } = &inst.op {
                wanted.extend(a.iter().filter_map(|source| {
                    if let Src::Reg(register) = source { Some(*register) } else { None }
                }));
            } else if passes_on && (inst.op.only_computes() || matches!(inst.op, Op::Shuffle { .. })) {
                wanted.extend(reads);
            }
        }
        if wanted.len() == before {
            return wanted;
        }
    }
}
