//! Arithmetic and logic on registers.

use volta_core::ptx::tree::Operand;

use super::super::float::{Arithmetic, Clamp, Format, Function, Round};
use super::super::integer::{IntOp, IntType, Prmt};
use super::super::op::{CarryOp, FloatOp, FloatStyle, Op, Source, Type};
use super::Decoder;
use super::operand::Modifiers;

/// Operations on integers with no modifier except a type.
const PLAIN: [(&str, IntOp); 15] = [
    ("add", IntOp::Add),
    ("sub", IntOp::Sub),
    ("div", IntOp::Div),
    ("rem", IntOp::Rem),
    ("and", IntOp::And),
    ("or", IntOp::Or),
    ("xor", IntOp::Xor),
    ("not", IntOp::Not),
    ("cnot", IntOp::Cnot),
    ("shl", IntOp::Shl),
    ("shr", IntOp::Shr),
    ("min", IntOp::Min),
    ("max", IntOp::Max),
    ("abs", IntOp::Abs),
    ("neg", IntOp::Neg),
];

/// Operations named by their opcode alone, whatever the type.
const OTHERS: [(&str, IntOp); 5] = [
    ("sad", IntOp::Sad),
    ("popc", IntOp::Popc),
    ("clz", IntOp::Clz),
    ("brev", IntOp::Brev),
    ("bfe", IntOp::Bfe),
];

/// Operations on floats.
const FLOAT: [(&str, FloatOp); 17] = [
    ("add", FloatOp::Arithmetic(Arithmetic::Add)),
    ("sub", FloatOp::Arithmetic(Arithmetic::Sub)),
    ("mul", FloatOp::Arithmetic(Arithmetic::Mul)),
    ("fma", FloatOp::Arithmetic(Arithmetic::Fma)),
    ("mad", FloatOp::Arithmetic(Arithmetic::Fma)),
    ("div", FloatOp::Arithmetic(Arithmetic::Div)),
    ("sqrt", FloatOp::Arithmetic(Arithmetic::Sqrt)),
    ("rcp", FloatOp::Function(Function::Rcp)),
    ("rsqrt", FloatOp::Function(Function::Rsqrt)),
    ("ex2", FloatOp::Function(Function::Exp2)),
    ("lg2", FloatOp::Function(Function::Log2)),
    ("sin", FloatOp::Function(Function::Sin)),
    ("cos", FloatOp::Function(Function::Cos)),
    ("tanh", FloatOp::Function(Function::Tanh)),
    ("neg", FloatOp::Neg),
    ("abs", FloatOp::Abs),
    ("copysign", FloatOp::CopySign),
];

impl Decoder {
    pub(super) fn arithmetic(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        if let Some(op) = self.special_integer(opcode, modifiers, operands)? {
            return Ok(Some(op));
        }
        let find =
            |table: &[(&str, IntOp)]| table.iter().find(|(name, _)| *name == opcode).map(|(_, op)| *op);
        let float = FLOAT.iter().find(|(name, _)| *name == opcode).map(|(_, op)| *op);
        if find(&PLAIN).or(find(&OTHERS)).is_none()
            && float.is_none()
            && !matches!(opcode, "mul" | "mad" | "min" | "max")
        {
            return Ok(None);
        }
        let rounding = modifiers.rounding();
        let approximate = modifiers.take("approx") | modifiers.take("full");
        let part = modifiers.one_of(&[("lo", 0), ("hi", 1), ("wide", 2)]);
        let ftz = modifiers.take("ftz");
        modifiers.ignore(&["noftz"]);
        let nan = modifiers.take("NaN");
        let xorsign = modifiers.take("xorsign");
        if xorsign && !modifiers.take("abs") {
            return Err("`.xorsign` comes with `.abs`".into());
        }
        let clamp = modifiers.clamp();
        let ty = modifiers.ty()?;
        let d = self.destination(operands)?;
        let s = self.sources(operands, ty)?;
        let (format, pair) = match ty {
            Type::Float(format) => (format, false),
            Type::FloatPair(format) => (format, true),
            Type::Pred | Type::Bits(_) | Type::Int(_) | Type::IntPair(_) => {
                return self.integer(opcode, part, clamp, ty, d, s).map(Some);
            }
        };
        let style =
            FloatStyle { format, pair, round: rounding.unwrap_or(Round::NearestTiesToEven), ftz, clamp };
        let op = match (opcode, float) {
            ("min" | "max", _) => {
                let three = operands.len() == 4;
                if three && xorsign {
                    return Err("it has three operands, and signs of two".into());
                }
                FloatOp::Extreme { largest: opcode == "max", nan, three, xorsign }
            }
            // Without `.approx` it is a rounded quotient.
            ("rcp", _) if !approximate => {
                let one = super::super::float::from_f64(format, 1.0, Round::NearestTiesToEven);
                let s = [Source::Value(one), s[0], s[0]];
                return Ok(Some(Op::Float { op: FloatOp::Arithmetic(Arithmetic::Div), style, d, s }));
            }
            ("sqrt", _) if approximate => FloatOp::Function(Function::Sqrt),
            (_, Some(op)) => op,
            _ => return Err("it is no operation on floats".into()),
        };
        if format == Format::Tf32 {
            return Err("there is no arithmetic in tf32".into());
        }
        Ok(Some(Op::Float { op, style, d, s }))
    }

    fn integer(
        &self,
        opcode: &str,
        part: Option<u8>,
        clamp: Clamp,
        ty: Type,
        d: u32,
        s: [Source; 3],
    ) -> Result<Op, String> {
        let pair = matches!(ty, Type::IntPair(_));
        let ty = if let Type::Int(int) | Type::IntPair(int) = ty {
            int
        } else {
            IntType { bits: ty.bits(), signed: false }
        };
        let table = PLAIN.iter().chain(&OTHERS).find(|(name, _)| *name == opcode).map(|(_, op)| *op);
        let op = match (opcode, part, clamp) {
            ("mul", Some(0), Clamp::None) => IntOp::MulLo,
            ("mul", Some(1), Clamp::None) => IntOp::MulHi,
            ("mul", Some(2), Clamp::None) => IntOp::MulWide,
            ("mad", Some(0), Clamp::None) => IntOp::MadLo,
            ("mad", Some(1), Clamp::None) => IntOp::MadHi,
            ("mad", Some(2), Clamp::None) => IntOp::MadWide,
            ("add", None, Clamp::Unit) => IntOp::AddSat,
            ("sub", None, Clamp::Unit) => IntOp::SubSat,
            (_, None, Clamp::None) => table.ok_or("it is no operation on integers")?,
            _ => return Err("its modifiers are not known".into()),
        };
        // Shift amounts and field positions have 32 bits for every type; literals were cut to the type.
        Ok(if pair { Op::IntPair { op, ty, d, s } } else { Op::Int { op, ty, d, s } })
    }

    /// Operations with modifiers or operands of their own.
    fn special_integer(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[Operand],
    ) -> Result<Option<Op>, String> {
        let word = IntType { bits: 32, signed: false };
        let plain = |op: IntOp, ty: IntType| -> Result<Option<Op>, String> {
            let s = self.sources(operands, Type::Int(ty))?;
            Ok(Some(Op::Int { op, ty, d: self.destination(operands)?, s }))
        };
        let carries = modifiers.take("cc");
        if carries || matches!(opcode, "addc" | "subc" | "madc") {
            let part = modifiers.one_of(&[("lo", CarryOp::MadLo), ("hi", CarryOp::MadHi)]);
            let op = match (opcode, part) {
                ("add" | "addc", None) => CarryOp::Add,
                ("sub" | "subc", None) => CarryOp::Sub,
                ("mad" | "madc", Some(part)) => part,
                _ => return Err("it does not carry".into()),
            };
            let Type::Int(ty) = modifiers.ty()? else { return Err("it is an operation on integers".into()) };
            let (d, s) = (self.destination(operands)?, self.sources(operands, Type::Int(ty))?);
            let carry_in = opcode.ends_with('c');
            return Ok(Some(Op::Carry { op, ty, carry_in, carry_out: carries, d, s }));
        }
        match opcode {
            "bfi" => {
                let ty = modifiers.ty()?;
                let s = self.sources(operands, ty)?;
                Ok(Some(Op::Insert { bits: ty.bits(), d: self.destination(operands)?, s }))
            }
            "shl" | "shr" => {
                let ty = modifiers.ty()?;
                let [a, _] = self.sources(operands, ty)?;
                let [_, amount] = self.sources(operands, Type::Bits(32))?;
                let int =
                    if let Type::Int(int) = ty { int } else { IntType { bits: ty.bits(), signed: false } };
                let op = if opcode == "shl" { IntOp::Shl } else { IntOp::Shr };
                Ok(Some(Op::Int {
                    op,
                    ty: int,
                    d: self.destination(operands)?,
                    s: [a, amount, Source::Value(0)],
                }))
            }
            "bfind" => {
                let op = if modifiers.take("shiftamt") { IntOp::BfindShift } else { IntOp::Bfind };
                if let Type::Int(ty) = modifiers.ty()? {
                    plain(op, ty)
                } else {
                    Err("it is an operation on integers".into())
                }
            }
            "mul24" | "mad24" => {
                modifiers.take("lo");
                if let Type::Int(ty) = modifiers.ty()? {
                    plain(if opcode == "mul24" { IntOp::Mul24 } else { IntOp::Mad24 }, ty)
                } else {
                    Err("it is an operation on integers".into())
                }
            }
            "shf" => {
                let left = modifiers.one_of(&[("l", true), ("r", false)]);
                let wrap = modifiers.one_of(&[("wrap", true), ("clamp", false)]);
                modifiers.ty()?;
                match (left, wrap) {
                    (Some(true), Some(true)) => plain(IntOp::ShfLeftWrap, word),
                    (Some(true), Some(false)) => plain(IntOp::ShfLeftClamp, word),
                    (Some(false), Some(true)) => plain(IntOp::ShfRightWrap, word),
                    (Some(false), Some(false)) => plain(IntOp::ShfRightClamp, word),
                    _ => Err("it shifts neither way".into()),
                }
            }
            "prmt" => {
                modifiers.ty()?;
                let table = [
                    ("f4e", Prmt::F4e),
                    ("b4e", Prmt::B4e),
                    ("rc8", Prmt::Rc8),
                    ("ecl", Prmt::Ecl),
                    ("ecr", Prmt::Ecr),
                    ("rc16", Prmt::Rc16),
                ];
                plain(IntOp::Prmt(modifiers.one_of(&table).unwrap_or(Prmt::Index)), word)
            }
            "lop3" => {
                modifiers.ty()?;
                let Some(Source::Value(table)) =
                    operands.get(4).map(|operand| self.source(operand, Type::Bits(32))).transpose()?
                else {
                    return Err("its table is no number".into());
                };
                plain(IntOp::Lop3(table as u8), word)
            }
            "dp4a" | "dp2a" => {
                let high = modifiers.one_of(&[("hi", true), ("lo", false)]).unwrap_or(false);
                let sign = |modifiers: &mut Modifiers<'_>| {
                    modifiers.one_of(&[("s32", true), ("u32", false)]).ok_or("it does not say of what sign")
                };
                let (a_signed, b_signed) = (sign(modifiers)?, sign(modifiers)?);
                let op = if opcode == "dp4a" {
                    IntOp::Dp4a { a_signed, b_signed }
                } else {
                    IntOp::Dp2a { a_signed, b_signed, high }
                };
                plain(op, word)
            }
            _ => Ok(None),
        }
    }
}
