//! Operations on encodings that read a real's sign, and no other part of it (rules V5, V7): the sign of that very term,
//! as `copysign` reads it, that of a zero as well.

use super::packed_int::{PackedInts, sign_bit};
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::values::Reals;
use crate::number::format::{Format, decode};
use crate::number::{Extended, Rational};
use crate::program::{Compare, InstId, Int, Int2, Width};
use crate::term::{Constant, Store, TermId, TermOp, View};
use crate::value::int_terms::{number, whole};
use crate::value::known_floats::KnownValues;
use crate::value::packed::PackedValues;
use crate::value::{Sym, SymKind, Value};
use rustc_hash::FxHashSet;

/// So many terms are visited below a real whose sign is asked.
const MOST_TERMS: usize = 4096;

/// The state that reading signs needs.
pub(super) struct Signs<'t> {
    pub(crate) packed: &'t PackedValues,
    pub(crate) store: &'t mut Store,
    pub(crate) known: &'t KnownValues,
    pub(crate) pc: InstId,
}

impl Signs<'_> {
    /// The real whose sign bit is the highest bit of a value, where the value is the real's encoding or its upper half.
    fn real(&self, value: Value, width: Width) -> Option<TermId> {
        let value = if width == Width::W32 { self.packed.as_f32(value) } else { value };
        let real = value.as_real().filter(|(format, _)| format.bytes() == width.bytes());
        let term = match (real, value) {
            (Some((_, term)), _) => term,
            (None, Value::Sym(half))
                if let SymKind::Half64(1, term) = half.kind()
                    && width == Width::W32 =>
            {
                term
            }
            (None, _) => return None,
        };
        if self.store.is_ieee() {
            return None;
        }
        // The sign of a known value is read from its bits.
        (!self.known.contains(term.raw())).then_some(term)
    }

    /// The condition that the highest bit of a value is 1.
    fn is_negative(&mut self, value: Value, width: Width) -> Option<TermId> {
        let term = self.real(value, width)?;
        let (zero, one) = (whole(self.store, 0), whole(self.store, 1));
        let sign = self.store.apply(TermOp::CopySign, &[term, one], self.pc);
        Some(self.store.apply(TermOp::Less, &[sign, zero], self.pc))
    }

    /// A comparison with a number that depends on the sign only, as a condition.
    pub(crate) fn compared(&mut self, op: Compare, ty: Int, [a, b]: [Value; 2]) -> Option<TermId> {
        if !ty.signed {
            return None;
        }
        // Normalised so that the real is the left operand.
        let (value, op, number) = match (a, b) {
            (Value::Sym(_), Value::Bits(bits)) => (a, op, ty.number(bits)),
            (Value::Bits(bits), Value::Sym(_)) => (b, op.turned(), ty.number(bits)),
            _ => return None,
        };
        let negative = match (op, number) {
            (Compare::Lt, 0) | (Compare::Le, -1) => true,
            (Compare::Ge, 0) | (Compare::Gt, -1) => false,
            _ => return None,
        };
        let condition = self.is_negative(value, ty.width)?;
        Some(if negative { condition } else { self.store.apply(TermOp::Not, &[condition], self.pc) })
    }
}

impl Reals<'_, '_> {
    /// Whether a real has no negative value, as far as it shows from what it is computed of: neither has a float that is
    /// computed so, whatever its rounding.
    pub(crate) fn is_not_negative(&self, real: TermId) -> bool {
        let store = &self.terms.store;
        let (mut seen, mut work) = (FxHashSet::default(), vec![real]);
        while let Some(term) = work.pop() {
            if !seen.insert(term) {
                continue;
            }
            let is_so = match store.view(term) {
                View::Constant(constant) => match &constant.exact {
                    Extended::Finite(number) => !number.is_negative(),
                    Extended::PosInf => true,
                    Extended::NegInf => false,
                },
                View::Input { input, .. } => {
                    self.terms.context.launch.not_negative.get(input.index()).copied().unwrap_or(false)
                }
                View::Apply(op, operands) => {
                    let keeps = matches!(
                        op,
                        TermOp::Add | TermOp::Mul | TermOp::Div | TermOp::Max | TermOp::Min | TermOp::Fma
                    );
                    if keeps {
                        work.extend(&operands[..op.arity()]);
                    } else if op == TermOp::Select {
                        work.extend(&operands[1..]);
                    }
                    keeps || matches!(op, TermOp::Select | TermOp::Abs | TermOp::Exp2 | TermOp::Sqrt)
                }
            };
            if !is_so || seen.len() > MOST_TERMS {
                return false;
            }
        }
        true
    }

    pub(super) fn signs(&mut self, pc: InstId) -> Signs<'_> {
        let ValueTerms { packed, store, .. } = self.terms;
        Signs { packed, store, known: &self.numbers.known, pc }
    }
}

impl PackedInts<'_> {
    fn signs(&mut self) -> Signs<'_> {
        let PackedInts { packed, store, known, pc, .. } = self;
        Signs { packed, store, known, pc: *pc }
    }

    /// The highest bit of a real as a number: 0 or 1, or for a signed shift 0 or -1.
    pub(super) fn sign_digit(&mut self, value: Value, width: Width, signed: bool) -> Option<Value> {
        let condition = self.signs().is_negative(value, width)?;
        let (one, zero) = (whole(self.store, if signed { -1 } else { 1 }), whole(self.store, 0));
        let digit = self.store.apply(TermOp::Select, &[condition, one, zero], self.pc);
        Some(Value::Sym(Sym::int(width.bytes(), digit)))
    }

    /// A real of which only the sign is kept: a zero with this sign.
    pub(super) fn signed_zero(&mut self, format: Format, term: TermId) -> Option<Value> {
        if self.known.contains(term.raw()) || self.store.is_ieee() {
            return None;
        }
        let zero = whole(self.store, 0);
        let zero = self.store.apply(TermOp::CopySign, &[term, zero], self.pc);
        Some(Value::Sym(Sym::real(format, zero)))
    }

    /// A zero with a sign, combined with a real. `or` leaves a negative real as it is; `add` and `xor` of two signs
    /// have another result.
    pub(super) fn with_sign(&mut self, op: Int2, a: Value, b: Value, width: Width) -> Option<Value> {
        let real = |value: Value| {
            let real = self.packed.as_f32(value).as_real();
            real.filter(|(format, _)| format.bytes() == width.bytes())
        };
        let sign_of = |(_, term): (Format, TermId)| match self.store.view(term) {
            View::Apply(TermOp::CopySign, [sign, zero, _]) => {
                number(self.store, zero).is_some_and(Rational::is_zero).then_some(sign)
            }
            View::Constant(_) | View::Input { .. } | View::Apply(..) => None,
        };
        let ((format, sign), other) = [(a, b), (b, a)].into_iter().find_map(|(own, other)| {
            let own = real(own)?;
            Some(((own.0, sign_of(own)?), other))
        })?;
        let magnitude = match other {
            Value::Bits(bits) if bits & width.mask() & sign_bit(format)? == 0 => {
                let bits = bits & width.mask();
                let exact = decode(format, bits).extended().filter(|number| number.finite().is_some())?;
                self.store.intern(Constant { exact, literal: Some((format, bits)), rounded: None })
            }
            Value::Bits(_) | Value::Undefined(_) => return None,
            Value::Sym(_) => {
                let (own, term) = real(other)?;
                let has_none = matches!(self.store.view(term), View::Apply(TermOp::Abs, _));
                if own != format || self.known.contains(term.raw()) || !has_none && op != Int2::Or {
                    return None;
                }
                if !has_none {
                    let negative = self.signs().is_negative(other, width)?;
                    let signed = self.store.apply(TermOp::CopySign, &[sign, term], self.pc);
                    let either = self.store.apply(TermOp::Select, &[negative, term, signed], self.pc);
                    return Some(Value::Sym(Sym::real(format, either)));
                }
                term
            }
        };
        let signed = self.store.apply(TermOp::CopySign, &[sign, magnitude], self.pc);
        Some(Value::Sym(Sym::real(format, signed)))
    }
}
