//! Moves, conversions and comparisons.

use volta_core::ptx::tree::Operand;

use super::super::float::{Clamp, Round};
use super::super::integer::{IntOp, IntType};
use super::super::op::{Class, Comparison, Conversion, Op, Test, Type};
use super::Decoder;
use super::operand::Modifiers;

impl Decoder {
    pub(super) fn convert(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        Ok(Some(match opcode {
            "mov" => self.mov(modifiers, operands)?,
            "cvt" => self.cvt(modifiers, operands)?,
            "setp" => {
                let test = self.test(modifiers, operands)?;
                let (p, q) = self.pair(operands.first().ok_or("it has no destination")?)?;
                Op::Setp { test: Box::new(test), p, q }
            }
            "set" => {
                // The comparison and a boolean operation come before both types.
                let (comparison, unordered, is_int) = self.comparison(modifiers)?;
                let combined = bool_op(modifiers);
                let ftz = modifiers.take("ftz");
                let (ty, from) = (modifiers.ty()?, modifiers.ty()?);
                let test =
                    self.finish_test((comparison, unordered, is_int), combined, ftz, from, operands)?;
                Op::Set { test: Box::new(test), ty, d: self.destination(operands)? }
            }
            "selp" => {
                let ty = modifiers.ty()?;
                let [a, b, p] = self.sources(operands, ty)?;
                Op::Select { d: self.destination(operands)?, bits: ty.bits(), a, b, p }
            }
            "slct" => {
                modifiers.ignore(&["ftz"]);
                let (to, ty) = (modifiers.ty()?, modifiers.ty()?);
                Op::Slct {
                    d: self.destination(operands)?,
                    bits: to.bits(),
                    ty,
                    s: self.sources(operands, to)?,
                }
            }
            "testp" => {
                let table = [
                    ("finite", Class::Finite),
                    ("infinite", Class::Infinite),
                    ("number", Class::Number),
                    ("notanumber", Class::NotANumber),
                    ("normal", Class::Normal),
                    ("subnormal", Class::Subnormal),
                ];
                let what = modifiers.one_of(&table).ok_or("it names no class")?;
                let Type::Float(format) = modifiers.ty()? else { return Err("it tests floats".into()) };
                let [a] = self.sources(operands, Type::Float(format))?;
                Op::Testp { d: self.destination(operands)?, format, what, a }
            }
            _ => return Ok(None),
        }))
    }

    /// Moves a value, or splits or assembles a word; the first part is the least significant.
    fn mov(&self, modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<Op, String> {
        let ty = modifiers.ty()?;
        let [d, s] = operands else { return Err("it has two operands".into()) };
        match (d, s) {
            (_, Operand::Vector(parts, _)) => {
                let bits = ty.bits() / parts.len() as u32;
                let parts = self.values(s, Type::Bits(bits))?;
                Ok(Op::Pack { d: self.destination(operands)?, bits, parts })
            }
            (Operand::Vector(parts, _), _) => {
                let bits = ty.bits() / parts.len() as u32;
                Ok(Op::Unpack { d: self.destinations(d)?, bits, s: self.source(s, ty)? })
            }
            _ => Ok(Op::Move { d: self.destination(operands)?, s: self.source(s, ty)?, bits: ty.bits() }),
        }
    }

    fn cvt(&self, modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<Op, String> {
        let integral = modifiers.one_of(&[
            ("rni", Round::NearestTiesToEven),
            ("rzi", Round::TowardZero),
            ("rmi", Round::TowardNegative),
            ("rpi", Round::TowardPositive),
        ]);
        let rounding = modifiers.rounding();
        let ftz = modifiers.take("ftz");
        let satfinite = modifiers.take("satfinite");
        let sat = modifiers.take("sat");
        let relu = modifiers.take("relu");
        let (to, from) = (modifiers.ty()?, modifiers.ty()?);
        let is_float = |ty| matches!(ty, Type::Float(_) | Type::FloatPair(_));
        if is_float(from) && matches!(to, Type::Int(_)) && integral.is_none() {
            return Err("it does not say how to round to an integer".into());
        }
        let clamp = match (relu, sat && is_float(to)) {
            (true, _) => Clamp::Relu,
            (false, true) => Clamp::Unit,
            (false, false) => Clamp::None,
        };
        // In a pair made from two numbers, the first operand becomes the upper half.
        let [a, b] = self.sources(operands, from)?;
        let made_from_two = matches!((to, from), (Type::FloatPair(_), Type::Float(_)));
        let operands_low_first = if made_from_two { [b, a] } else { [a, b] };
        Ok(Op::Convert(Box::new(Conversion {
            to,
            from,
            round: integral.or(rounding).unwrap_or(Round::NearestTiesToEven),
            integral: integral.is_some(),
            ftz,
            clamp,
            satfinite,
            sat,
            d: self.destination(operands)?,
            operands: operands_low_first,
        })))
    }

    /// The comparison, its result for NaN, and whether it applies to unsigned integers only.
    fn comparison(&self, modifiers: &mut Modifiers<'_>) -> Result<(Comparison, bool, bool), String> {
        use Comparison::*;
        let table = [
            ("eq", (Eq, false, false)),
            ("ne", (Ne, false, false)),
            ("lt", (Lt, false, false)),
            ("le", (Le, false, false)),
            ("gt", (Gt, false, false)),
            ("ge", (Ge, false, false)),
            ("lo", (Lt, false, true)),
            ("ls", (Le, false, true)),
            ("hi", (Gt, false, true)),
            ("hs", (Ge, false, true)),
            ("equ", (Eq, true, false)),
            ("neu", (Ne, true, false)),
            ("ltu", (Lt, true, false)),
            ("leu", (Le, true, false)),
            ("gtu", (Gt, true, false)),
            ("geu", (Ge, true, false)),
            ("num", (Num, false, false)),
            ("nan", (Nan, true, false)),
        ];
        modifiers.one_of(&table).ok_or_else(|| "it names no comparison".into())
    }

    fn test(&self, modifiers: &mut Modifiers<'_>, operands: &[Operand]) -> Result<Test, String> {
        let comparison = self.comparison(modifiers)?;
        let combined = bool_op(modifiers);
        let ftz = modifiers.take("ftz");
        let ty = modifiers.ty()?;
        self.finish_test(comparison, combined, ftz, ty, operands)
    }

    fn finish_test(
        &self,
        (comparison, unordered, unsigned): (Comparison, bool, bool),
        combined: Option<IntOp>,
        ftz: bool,
        ty: Type,
        operands: &[Operand],
    ) -> Result<Test, String> {
        let ty = match ty {
            Type::Int(int) if unsigned => Type::Int(IntType { signed: false, ..int }),
            ty @ (Type::Pred
            | Type::Bits(_)
            | Type::Int(_)
            | Type::Float(_)
            | Type::FloatPair(_)
            | Type::IntPair(_)) => ty,
        };
        if matches!(ty, Type::FloatPair(_) | Type::IntPair(_)) {
            return Err("comparisons of pairs are not known".into());
        }
        let [a, b] = self.sources(operands, ty)?;
        let combine = match (combined, operands.get(3)) {
            (Some(op), Some(operand)) => Some((op, self.source(operand, Type::Pred)?)),
            (None, None) => None,
            _ => return Err("its operands do not fit its modifiers".into()),
        };
        Ok(Test { comparison, unordered, ty, ftz, operands: [a, b], combine })
    }
}

fn bool_op(modifiers: &mut Modifiers<'_>) -> Option<IntOp> {
    modifiers.one_of(&[("and", IntOp::And), ("or", IntOp::Or), ("xor", IntOp::Xor)])
}
