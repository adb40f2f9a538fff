//! Operations on integers (rules V4, V5): each has one description, generic in the domain of its operands, and is tried
//! in one domain after the other: affine from thread to thread ([`crate::machine::exec::group`]), concrete, moves of whole parts,
//! choices between concrete integers, and terms.

use super::convert::convert_int;
use super::float::set_results;
use super::predicates::CompareInst;
use crate::machine::cta::Cta;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::warp::{At, Step};
use crate::number::format::Format;
use crate::program::{Compare, Int, Int1, Int2, Int3, RegId, Src, Width};
use crate::value::register::Words;
use crate::value::words::{compare_all, scalar_insert, scalar1, scalar2, scalar3, vector2, vector3};
use crate::value::{Truth, Value};
use crate::verdict::FaultKind;

/// An operation on integers and its operands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Integer<V> {
    One(Int1, Int, [V; 1]),
    Two(Int2, Int, [V; 2]),
    Three(Int3, Int, [V; 3]),
    Insert(Width, [V; 4]),
    Convert { from: Int, to: Int, saturate: bool, a: [V; 1] },
}

impl<V> Integer<V> {
    /// Its operands.
    pub(crate) fn operands(&self) -> &[V] {
        match self {
            Integer::One(_, _, operands) | Integer::Convert { a: operands, .. } => operands,
            Integer::Two(_, _, operands) => operands,
            Integer::Three(_, _, operands) => operands,
            Integer::Insert(_, operands) => operands,
        }
    }

    /// The same operation on other operands.
    #[inline(always)]
    fn map<'v, W>(&'v self, mut f: impl FnMut(&'v V) -> W) -> Integer<W> {
        match self {
            Integer::One(op, ty, [a]) => Integer::One(*op, *ty, [f(a)]),
            Integer::Two(op, ty, [a, b]) => Integer::Two(*op, *ty, [f(a), f(b)]),
            Integer::Three(op, ty, [a, b, c]) => Integer::Three(*op, *ty, [f(a), f(b), f(c)]),
            Integer::Insert(width, [a, b, c, d]) => Integer::Insert(*width, [f(a), f(b), f(c), f(d)]),
            Integer::Convert { from, to, saturate, a: [a] } => {
                Integer::Convert { from: *from, to: *to, saturate: *saturate, a: [f(a)] }
            }
        }
    }

    /// The same operation on bits, one for each operand.
    pub(crate) fn on(&self, bits: &[u64]) -> Integer<u64> {
        let mut bits = bits.iter();
        self.map(|_| bits.next().copied().unwrap_or(0))
    }

    /// Bytes of its result.
    pub(crate) fn bytes(&self) -> u32 {
        match self {
            Integer::One(Int1::Popc | Int1::Clz | Int1::FindTop | Int1::FindTopShift, ..) => 4,
            Integer::Two(Int2::MulWide, ty, _) | Integer::Three(Int3::MadWide, ty, _) => 2 * ty.width.bytes(),
            Integer::One(_, ty, _) | Integer::Two(_, ty, _) | Integer::Three(_, ty, _) => ty.width.bytes(),
            Integer::Insert(width, _) => width.bytes(),
            Integer::Convert { to, .. } => to.width.bytes(),
        }
    }
}

impl Integer<Value> {
    /// The same operation on the bits of its operands, if all are concrete.
    pub(crate) fn bits(&self) -> Option<Integer<u64>> {
        let mut all = true;
        let bits = self.map(|value| match value {
            Value::Bits(bits) => *bits,
            Value::Sym(_) | Value::Undefined(_) => {
                all = false;
                0
            }
        });
        all.then_some(bits)
    }
}

impl Integer<u64> {
    /// Its result; `None` for a division by zero.
    #[inline(always)]
    pub(crate) fn concrete(&self) -> Option<u64> {
        match *self {
            Integer::One(op, ty, [x]) => Some(scalar1(op, ty, x)),
            Integer::Two(op, ty, [x, y]) => scalar2(op, ty, x, y),
            Integer::Three(op, ty, operands) => Some(scalar3(op, ty, operands)),
            Integer::Insert(width, [a, b, position, length]) => {
                Some(scalar_insert(width, a, b, position, length))
            }
            Integer::Convert { from, to, saturate, a: [x] } => Some(convert_int(x, from, to, saturate)),
        }
    }
}

impl Cta<'_> {
    /// Executes an operation on integers lane by lane.
    pub(crate) fn integer(&mut self, mut step: Step<'_>, d: RegId, op: Integer<Src>) -> Result<(), Stop> {
        let (mask, pc) = (step.mask, step.pc);
        let is_concrete = |source: &Src| match source {
            Src::Reg(id) => step.warp.register(*id).is_concrete(mask),
            Src::Imm(_) | Src::Symbol(..) => true,
        };
        if op.operands().iter().all(is_concrete) {
            return self.context.concrete_integer(step, d, &op);
        }
        if let Integer::Two(Int2::Shl, Int { width: Width::W32, .. }, [Src::Reg(x), Src::Imm(23)]) = op
            && let Some(results) = self.values.reals().exponent_fields(mask, step.warp.register(x), pc)
        {
            set_results(step.warp.register_mut(d), Format::F32, mask, results);
            return Ok(());
        }
        for lane in mask {
            let values = op.map(|source| self.context.value(step.warp, *source, lane));
            if let Some(value) = self.values.terms.packed.on_ticket(&values) {
                step.set(d, lane, value);
                continue;
            }
            let packed = &self.values.terms.packed;
            let values = values.map(|value| self.sync.settled(packed, step.warp, lane, *value));
            let words = values.operands();
            let tainted = packed.taint(words).map(Value::Undefined);
            // Undefined values taint the result; a packed value may have an undefined part that the operation drops.
            let value = match tainted.filter(|_| words.iter().any(|word| matches!(word, Value::Undefined(_))))
            {
                Some(tainted) => tainted,
                None => {
                    let value = self.values.reals().integer_under(lane, &values, pc).or(tainted);
                    value.ok_or_else(|| self.values.terms.computes_with_encoding(step.at(lane), words))?
                }
            };
            step.set(d, lane, value);
        }
        Ok(())
    }
}

impl Context<'_> {
    /// Like [`Cta::integer`], where all operands are concrete.
    #[inline(never)] // Outlined so that the fast path does not pay for this frame.
    fn concrete_integer(&mut self, step: Step<'_>, d: RegId, op: &Integer<Src>) -> Result<(), Stop> {
        let words = op.map(|source| match source {
            Src::Reg(id) => step.warp.register(*id).words(),
            Src::Imm(bits) => Words::Spread([*bits; 32]),
            Src::Symbol(variable, offset) => {
                let address = self.launch.objects.address(*variable, step.warp.rank);
                Words::Spread([address.wrapping_add_signed(*offset); 32])
            }
        });
        let mut out = [0; 32];
        let done = match &words {
            Integer::Two(op, ty, [x, y]) => vector2(*op, *ty, x, y, &mut out),
            Integer::Three(op, ty, [x, y, z]) => vector3(*op, *ty, [x, y, z], &mut out),
            Integer::One(..) | Integer::Insert(..) | Integer::Convert { .. } => false,
        };
        if !done {
            for lane in step.mask {
                let Some(bits) = words.map(|words| words[lane]).concrete() else {
                    return Err(self.divides_by_zero(step.at(lane)));
                };
                out[lane] = bits;
            }
        }
        step.warp.register_mut(d).merge_bits(step.mask, &out);
        Ok(())
    }

    #[cold]
    pub(super) fn divides_by_zero(&self, at: At<'_>) -> Stop {
        self.fault_of(at, FaultKind::Undefined, "V3", "an integer is divided by zero".to_string())
    }
}

impl Cta<'_> {
    #[inline]
    pub(crate) fn setp_int(
        &mut self,
        mut step: Step<'_>,
        (op, ty): (Compare, Int),
        inst: CompareInst,
    ) -> Result<(), Stop> {
        let ([a, b], mut left, mut right) = (inst.operands, None, None);
        let x = self.context.operand(step.warp, a, &mut left);
        let y = self.context.operand(step.warp, b, &mut right);
        if !(x.is_concrete(step.mask) && y.is_concrete(step.mask)) {
            return self.symbolic_compare(step, (op, ty), inst);
        }
        let (x, y) = (x.words(), y.words());
        let bits = compare_all(op, ty, &x, &y);
        if let CompareInst { p, q: None, combine: None, .. } = inst {
            step.warp.predicate_mut(p).merge_bits(step.mask, bits);
            return Ok(());
        }
        for lane in step.mask {
            let holds = Truth::Known(bits.contains(lane));
            self.values.terms.set_predicates(&mut step, lane, holds, inst);
        }
        Ok(())
    }
}
