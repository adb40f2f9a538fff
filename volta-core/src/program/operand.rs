//! An instruction being lowered: reads its modifiers and operands, with checks.
//!
//! A function that lowers an instruction first takes the modifiers it knows, then checks the number of operands
//! ([`Operation::done`], which rejects modifiers that were not taken), then reads the operands.

use super::error::LowerError;
use super::isa::special;
use super::literal;
use super::lower::Lowering;
use super::names::Binding;
use super::op::{Address, Compare, Int, Op, PredId, PredSrc, RegId, Space, Special, Src, VariableId, Width};
use super::types::Type;
use crate::base::span::Span;
use crate::ptx::tree::{self, LiteralValue, Operand};

/// The reason why an instruction was not lowered.
#[derive(Clone, Debug)]
pub(super) enum Fail {
    /// The PTX is wrong.
    Wrong(LowerError),
    /// It may be valid, but is not supported: a fault only for a thread that reaches it (rule S2).
    Unsupported(String),
}

impl From<LowerError> for Fail {
    fn from(error: LowerError) -> Fail {
        Fail::Wrong(error)
    }
}

/// The result of lowering functions.
pub(super) type Lowered<T = ()> = Result<T, Fail>;

/// An instruction being lowered.
pub(super) struct Operation<'l, 'm> {
    pub(super) lowering: &'l mut Lowering<'m>,
    instruction: &'m tree::Instruction,
    /// Modifiers not taken yet.
    modifiers: Vec<&'m str>,
    ops: Vec<Op>,
    temporaries: usize,
    temporary_predicates: usize,
}

/// Kinds of source operands that are allowed besides a register of the right size and a literal.
#[derive(Clone, Copy, Default)]
struct Allowed {
    /// A register with more bits than the type.
    wider: bool,
    /// A special register.
    special: bool,
    /// The address of a variable.
    symbol: bool,
}

impl<'l, 'm> Operation<'l, 'm> {
    pub(super) fn new(
        lowering: &'l mut Lowering<'m>,
        instruction: &'m tree::Instruction,
    ) -> Operation<'l, 'm> {
        let modifiers = instruction.modifiers.iter().map(|modifier| modifier.text.as_str()).collect();
        Operation {
            lowering,
            instruction,
            modifiers,
            ops: Vec::new(),
            temporaries: 0,
            temporary_predicates: 0,
        }
    }

    /// The operations, and whether they use temporaries.
    pub(super) fn finish(self) -> (Vec<Op>, bool) {
        (self.ops, self.temporaries + self.temporary_predicates > 0)
    }

    /// Appends an operation.
    pub(super) fn push(&mut self, op: Op) {
        self.ops.push(op);
    }

    /// A register used only inside this instruction.
    pub(super) fn temporary(&mut self) -> RegId {
        let register = self.lowering.temporary(self.temporaries);
        self.temporaries += 1;
        register
    }

    /// A predicate used only inside this instruction.
    pub(super) fn temporary_predicate(&mut self) -> PredId {
        let predicate = self.lowering.temporary_predicate(self.temporary_predicates);
        self.temporary_predicates += 1;
        predicate
    }

    /// The instruction's name for messages: opcode and modifiers.
    pub(super) fn name(&self) -> String {
        full_name(self.instruction)
    }

    /// The error for an unsupported instruction, with a reason.
    pub(super) fn unsupported(&self, why: impl std::fmt::Display) -> Fail {
        Fail::Unsupported(format!("`{}` is not supported: {why}", self.name()))
    }
}

// Modifiers.
impl Operation<'_, '_> {
    /// Takes a modifier; `false` if it is not present.
    pub(super) fn flag(&mut self, name: &str) -> bool {
        self.choose(&[(name, ())]).is_some()
    }

    /// Takes the first modifier in a list.
    pub(super) fn choose<T: Copy>(&mut self, choices: &[(&str, T)]) -> Option<T> {
        let chosen = |modifier: &str| choices.iter().find(|(name, _)| *name == modifier);
        let at = self.modifiers.iter().position(|modifier| chosen(modifier).is_some())?;
        let modifier = self.modifiers.remove(at);
        chosen(modifier).map(|(_, value)| *value)
    }

    /// Takes the first modifier in a list, which must be present.
    pub(super) fn require<T: Copy>(&mut self, choices: &[(&str, T)]) -> Lowered<T> {
        self.choose(choices).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| format!("`.{name}`")).collect();
            self.unsupported(format_args!("it needs one of {}", names.join(", ")))
        })
    }

    /// Takes the first modifier that `read` understands.
    pub(super) fn take<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let at = self.modifiers.iter().position(|modifier| read(modifier).is_some())?;
        read(self.modifiers.remove(at))
    }

    /// Takes the first type.
    pub(super) fn take_type(&mut self) -> Option<Type> {
        self.take(Type::parse)
    }

    /// Takes the first type, which must be present.
    pub(super) fn ty(&mut self) -> Lowered<Type> {
        self.take_type().ok_or_else(|| self.unsupported("it needs a type"))
    }

    /// Checks that no modifier is left, and that there are `count` operands.
    pub(super) fn done(&self, count: usize) -> Lowered {
        self.done_within(count, count).map(drop)
    }

    /// Checks that no modifier is left, and that the number of operands is in this range.
    pub(super) fn done_within(&self, least: usize, most: usize) -> Lowered<usize> {
        if let Some(modifier) = self.modifiers.first() {
            return Err(self.unsupported(format_args!("`.{modifier}` has no meaning here that Volta knows")));
        }
        let count = self.instruction.operands.len();
        if (least..=most).contains(&count) {
            return Ok(count);
        }
        let takes = match (least, most) {
            (1, 1) => "1 operand".to_owned(),
            (least, most) if least == most => format!("{least} operands"),
            (least, most) => format!("{least} to {most} operands"),
        };
        Err(self.unsupported(format_args!("it takes {takes}, but has {count}")))
    }

    /// The error for a type that the instruction does not take.
    pub(super) fn wrong_type(&self) -> Fail {
        self.unsupported("it does not take this type")
    }
}

// Operands.
impl<'m> Operation<'_, 'm> {
    /// The operand at an index.
    pub(super) fn operand(&self, at: usize) -> Lowered<&'m Operand> {
        self.instruction.operands.get(at).ok_or_else(|| self.unsupported("an operand is missing"))
    }

    /// The modifiers not taken yet.
    pub(super) fn modifiers(&self) -> &[&'m str] {
        &self.modifiers
    }

    /// The number of operands.
    pub(super) fn operand_count(&self) -> usize {
        self.instruction.operands.len()
    }

    /// The error for an operand of the wrong kind.
    pub(super) fn expected(&self, expected: &'static str, operand: &Operand) -> Fail {
        Fail::Wrong(LowerError::Operand {
            instruction: self.name(),
            expected,
            found: describe(operand),
            span: span_of(operand),
        })
    }

    fn expected_binding(&self, expected: &'static str, binding: Binding<'m>, span: Span) -> Fail {
        let found = match binding {
            Binding::Register(..) => "a register",
            Binding::Predicate(_) => "a predicate register",
            Binding::Register128 => "a 128-bit register",
            Binding::Vector { .. } => "a vector register",
            Binding::Variable(_) | Binding::Static(_) => "a variable",
        };
        Fail::Wrong(LowerError::Operand { instruction: self.name(), expected, found, span })
    }

    fn sized(
        &self,
        name: &tree::Name,
        register: RegId,
        bits: Width,
        needed: Width,
        wider: bool,
    ) -> Lowered<RegId> {
        if bits == needed || (wider && bits > needed) {
            return Ok(register);
        }
        Err(Fail::Wrong(LowerError::RegisterSize {
            instruction: self.name(),
            name: name.text.clone(),
            bits: bits.bits(),
            needed: needed.bits(),
            span: name.span,
        }))
    }

    /// The register that an operand names, of exactly this width.
    pub(super) fn register(&mut self, operand: &'m Operand, width: Width) -> Lowered<RegId> {
        let (register, bits, name) = self.any_register(operand)?;
        self.sized(name, register, bits, width, false)
    }

    fn any_register(&mut self, operand: &'m Operand) -> Lowered<(RegId, Width, &'m tree::Name)> {
        let Operand::Name(name) = operand else { return Err(self.expected("a register", operand)) };
        match self.lowering.names.resolve(name)? {
            Some(Binding::Register(register, width)) => Ok((register, width, name)),
            Some(Binding::Register128) => Err(self.unsupported("128-bit registers are not")),
            Some(other) => Err(self.expected_binding("a register", other, name.span)),
            None => Err(Fail::Wrong(self.lowering.names.undeclared("register", name))),
        }
    }

    /// The destination at an index, of exactly this width.
    pub(super) fn destination(&mut self, at: usize, width: Width) -> Lowered<RegId> {
        let operand = self.operand(at)?;
        self.register(operand, width)
    }

    /// The destination at an index, of at least this width, and its width.
    pub(super) fn wide_destination(&mut self, at: usize, width: Width) -> Lowered<(RegId, Width)> {
        let operand = self.operand(at)?;
        self.wide_register(operand, width)
    }

    /// A register of at least this width, and its width.
    pub(super) fn wide_register(&mut self, operand: &'m Operand, width: Width) -> Lowered<(RegId, Width)> {
        let (register, bits, name) = self.any_register(operand)?;
        Ok((self.sized(name, register, bits, width, true)?, bits))
    }

    /// The source at an index: a register of exactly the type's width, or a literal.
    pub(super) fn source(&mut self, at: usize, ty: Type) -> Lowered<Src> {
        let operand = self.operand(at)?;
        self.value(operand, ty)
    }

    /// A register of exactly the type's width, or a literal.
    pub(super) fn value(&mut self, operand: &'m Operand, ty: Type) -> Lowered<Src> {
        self.read(operand, ty, Allowed::default())
    }

    /// A register of at least the type's width, or a literal.
    pub(super) fn wide_value(&mut self, operand: &'m Operand, ty: Type) -> Lowered<Src> {
        self.read(operand, ty, Allowed { wider: true, ..Allowed::default() })
    }

    /// The source of a conversion: a register of at least the type's width, a special register, a literal.
    pub(super) fn converted(&mut self, at: usize, ty: Type) -> Lowered<Src> {
        let operand = self.operand(at)?;
        self.read(operand, ty, Allowed { wider: true, special: true, symbol: false })
    }

    /// The source of a move: a register, a special register, a literal, or the address of a variable.
    pub(super) fn moved(&mut self, operand: &'m Operand, ty: Type) -> Lowered<Src> {
        self.read(operand, ty, Allowed { wider: false, special: true, symbol: true })
    }

    fn read(&mut self, operand: &'m Operand, ty: Type, allowed: Allowed) -> Lowered<Src> {
        let Some(width) = ty.width() else { return Err(self.wrong_type()) };
        match operand {
            Operand::Literal(literal) => match literal::operand_bits(literal.value, ty) {
                Some(bits) => Ok(Src::Imm(bits)),
                None => Err(self.expected(literal_kind(ty), operand)),
            },
            Operand::Name(name) => match self.lowering.names.resolve(name)? {
                Some(Binding::Register(register, bits)) => {
                    Ok(Src::Reg(self.sized(name, register, bits, width, allowed.wider)?))
                }
                Some(Binding::Register128) => Err(self.unsupported("128-bit registers are not")),
                Some(binding @ (Binding::Variable(_) | Binding::Static(_))) if allowed.symbol => {
                    self.symbol(binding, 0)
                }
                Some(other) => Err(self.expected_binding("a register or a literal", other, name.span)),
                None => self.predefined(name, ty, width, allowed),
            },
            Operand::SymbolOffset { symbol, offset, .. } if allowed.symbol => {
                let binding = self.named_variable(symbol)?;
                self.symbol(binding, *offset)
            }
            Operand::Apply(..) if allowed.symbol => {
                let (binding, offset) = self.indexed(operand)?;
                self.symbol(binding, offset)
            }
            Operand::Not(_)
            | Operand::SymbolOffset { .. }
            | Operand::Vector(..)
            | Operand::Pair(..)
            | Operand::Sink(_)
            | Operand::Address { .. }
            | Operand::List(..)
            | Operand::Text(..)
            | Operand::Apply(..) => Err(self.expected("a register or a literal", operand)),
        }
    }

    /// The binding of a name that must be a variable's.
    fn named_variable(&mut self, name: &'m tree::Name) -> Lowered<Binding<'m>> {
        match self.lowering.names.resolve(name)? {
            Some(binding @ (Binding::Variable(_) | Binding::Static(_))) => Ok(binding),
            Some(other) => Err(self.expected_binding("a variable", other, name.span)),
            None => Err(Fail::Wrong(self.lowering.names.undeclared("variable", name))),
        }
    }

    /// `array[2]`: a variable, and the byte offset of that element.
    fn indexed(&mut self, operand: &'m Operand) -> Lowered<(Binding<'m>, i64)> {
        let Operand::Apply(brackets, inner) = operand else {
            return Err(self.expected("a variable", operand));
        };
        let ("[]", [Operand::Name(name), Operand::Literal(index)]) =
            (brackets.text.as_str(), inner.as_slice())
        else {
            return Err(self.expected("a variable", operand));
        };
        let binding = self.named_variable(name)?;
        let (Binding::Static(variable), LiteralValue::Integer(index)) = (binding, index.value) else {
            return Err(self.unsupported("an index of this variable is not"));
        };
        let element = Type::parse(&variable.element.text).and_then(Type::bytes).unwrap_or(0);
        let element = element * u64::from(variable.vector.unwrap_or(1));
        let offset = index.checked_mul(element).and_then(|offset| i64::try_from(offset).ok());
        let offset = offset.ok_or_else(|| self.unsupported("this index is too large"))?;
        Ok((binding, offset))
    }

    fn symbol(&mut self, binding: Binding<'m>, offset: i64) -> Lowered<Src> {
        match self.lowering.variable(binding)? {
            Some(variable) => Ok(Src::Symbol(variable, offset)),
            None => Err(self.unsupported("this name has no address")),
        }
    }

    /// Predefined names: special registers, `WARP_SZ`; and functions (their addresses are not supported).
    fn predefined(&mut self, name: &'m tree::Name, ty: Type, width: Width, allowed: Allowed) -> Lowered<Src> {
        if name.text == "WARP_SZ"
            && let Some(bits) = literal::operand_bits(LiteralValue::Integer(32), ty)
        {
            return Ok(Src::Imm(bits));
        }
        if let Some(special) = special::register(&name.text) {
            if !allowed.special {
                return Err(Fail::Wrong(LowerError::Operand {
                    instruction: self.name(),
                    expected: "a register or a literal",
                    found: "a special register (only `mov` and `cvt` read those)",
                    span: name.span,
                }));
            }
            let d = self.temporary();
            self.push_special(special, d, width)?;
            return Ok(Src::Reg(d));
        }
        if allowed.symbol && self.lowering.names.function(&name.text).is_some() {
            return Err(self.unsupported("addresses of functions are not supported"));
        }
        Err(Fail::Wrong(self.lowering.names.undeclared("register", name)))
    }

    /// The special register at an index, if the source is one.
    pub(super) fn special(&mut self, at: usize) -> Lowered<Option<special::Register>> {
        let Operand::Name(name) = self.operand(at)? else { return Ok(None) };
        match special::register(&name.text) {
            Some(special) if self.lowering.names.resolve(name)?.is_none() => Ok(Some(special)),
            _ => Ok(None),
        }
    }

    /// Reads a special register into `d`.
    pub(super) fn push_special(&mut self, special: special::Register, d: RegId, width: Width) -> Lowered {
        match special {
            special::Register::Value(special) => {
                self.push(Op::Special { d, special, width });
                Ok(())
            }
            special::Register::Vector(_) => Err(self.unsupported("it needs a vector of four destinations")),
            special::Register::ExplicitCluster => Err(self.unsupported("this register is a predicate")),
        }
    }

    /// The predicate that an operand names as a destination; `None` for `_`.
    pub(super) fn predicate_destination(&mut self, operand: &'m Operand) -> Lowered<Option<PredId>> {
        match operand {
            Operand::Sink(_) => Ok(None),
            Operand::Name(name) => match self.lowering.names.resolve(name)? {
                Some(Binding::Predicate(predicate)) => Ok(Some(predicate)),
                Some(other) => Err(self.expected_binding("a predicate register", other, name.span)),
                None => Err(Fail::Wrong(self.lowering.names.undeclared("predicate register", name))),
            },
            Operand::Not(_)
            | Operand::Literal(_)
            | Operand::SymbolOffset { .. }
            | Operand::Vector(..)
            | Operand::Pair(..)
            | Operand::Address { .. }
            | Operand::List(..)
            | Operand::Text(..)
            | Operand::Apply(..) => Err(self.expected("a predicate register", operand)),
        }
    }

    /// A predicate as a source, negated or not; a literal is true if it is not zero.
    pub(super) fn predicate(&mut self, at: usize) -> Lowered<PredSrc> {
        let operand = self.operand(at)?;
        let (name, negated) = match operand {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            Operand::Literal(tree::Literal { value: LiteralValue::Integer(value), .. }) => {
                let pred = self.temporary_predicate();
                self.push(Op::PredConst { p: pred, value: *value != 0 });
                return Ok(PredSrc { pred, negated: false });
            }
            Operand::Literal(_)
            | Operand::SymbolOffset { .. }
            | Operand::Vector(..)
            | Operand::Pair(..)
            | Operand::Sink(_)
            | Operand::Address { .. }
            | Operand::List(..)
            | Operand::Text(..)
            | Operand::Apply(..) => return Err(self.expected("a predicate", operand)),
        };
        match self.lowering.names.resolve(name)? {
            Some(Binding::Predicate(pred)) => Ok(PredSrc { pred, negated }),
            Some(other) => Err(self.expected_binding("a predicate", other, name.span)),
            None => match special::register(&name.text) {
                Some(special::Register::ExplicitCluster) => {
                    let (pred, d) = (self.temporary_predicate(), self.temporary());
                    self.push(Op::Special { d, special: Special::ExplicitCluster, width: Width::W32 });
                    let ty = Int { width: Width::W32, signed: false };
                    let (a, b) = (Src::Reg(d), Src::Imm(0));
                    self.push(Op::SetpInt {
                        compare: Compare::Ne,
                        ty,
                        p: pred,
                        q: None,
                        a,
                        b,
                        combine: None,
                    });
                    Ok(PredSrc { pred, negated })
                }
                _ => Err(Fail::Wrong(self.lowering.names.undeclared("predicate register", name))),
            },
        }
    }

    /// Whether the operand at an index is a predicate.
    pub(super) fn is_predicate(&mut self, at: usize) -> Lowered<bool> {
        let operand = self.operand(at)?;
        if let Operand::Name(name) = operand {
            return Ok(matches!(self.lowering.names.resolve(name)?, Some(Binding::Predicate(_))));
        }
        Ok(matches!(operand, Operand::Not(_)))
    }

    /// Splits `d|p`.
    pub(super) fn pair(&self, at: usize) -> Lowered<(&'m Operand, Option<&'m Operand>)> {
        let operand = self.operand(at)?;
        if let Operand::Pair(first, second) = operand {
            Ok((first, Some(second)))
        } else {
            Ok((operand, None))
        }
    }

    /// The element of a vector of length one, or the operand itself.
    pub(super) fn single(&self, at: usize) -> Lowered<&'m Operand> {
        let operand = self.operand(at)?;
        if let Operand::Vector(items, _) = operand
            && let [only] = items.as_slice()
        {
            return Ok(only);
        }
        Ok(operand)
    }

    /// The elements of a vector operand: `{a, b}`, or those of a vector register.
    pub(super) fn elements(&mut self, at: usize) -> Lowered<Vec<Element<'m>>> {
        let operand = self.operand(at)?;
        if let Operand::Vector(items, _) = operand {
            return Ok(items.iter().map(Element::Operand).collect());
        }
        if let Operand::Name(name) = operand
            && let Some(Binding::Vector { first, count, width }) = self.lowering.names.resolve(name)?
        {
            let register = |at| Element::Register(RegId(first.0 + at), width, name);
            return Ok((0..count).map(register).collect());
        }
        Ok(vec![Element::Operand(operand)])
    }

    /// Whether the operand at an index is a vector.
    pub(super) fn is_vector(&mut self, at: usize) -> Lowered<bool> {
        let operand = self.operand(at)?;
        if let Operand::Name(name) = operand {
            return Ok(matches!(self.lowering.names.resolve(name)?, Some(Binding::Vector { .. })));
        }
        Ok(matches!(operand, Operand::Vector(..)))
    }

    /// A vector element as a destination: its register and width; `None` for `_`.
    pub(super) fn element_destination(
        &mut self,
        element: Element<'m>,
        width: Width,
        wider: bool,
    ) -> Lowered<Option<(RegId, Width)>> {
        match element {
            Element::Register(register, bits, name) => {
                Ok(Some((self.sized(name, register, bits, width, wider)?, bits)))
            }
            Element::Operand(Operand::Sink(_)) => Ok(None),
            Element::Operand(operand) => {
                let (register, bits, name) = self.any_register(operand)?;
                Ok(Some((self.sized(name, register, bits, width, wider)?, bits)))
            }
        }
    }

    /// A vector element as a source.
    pub(super) fn element_source(&mut self, element: Element<'m>, ty: Type, wider: bool) -> Lowered<Src> {
        match element {
            Element::Register(register, bits, name) => {
                let width = ty.width().ok_or_else(|| self.wrong_type())?;
                Ok(Src::Reg(self.sized(name, register, bits, width, wider)?))
            }
            Element::Operand(operand) => self.read(operand, ty, Allowed { wider, ..Allowed::default() }),
        }
    }

    /// An address, in a space or generic, and the space: a generic access to a global variable is a global one.
    pub(super) fn address(&mut self, at: usize, space: Space) -> Lowered<(Address, Space)> {
        let operand = self.operand(at)?;
        if matches!(operand, Operand::Apply(..)) {
            let (binding, offset) = self.indexed(operand)?;
            return self.variable_address(binding, offset, space, operand);
        }
        if let Operand::Address { rest, .. } = operand
            && !rest.is_empty()
        {
            return Err(self.unsupported("this form of address is not"));
        }
        self.first_address(at, space)
    }

    /// `[map, {x, y}]`: an address as [`Operation::address`] reads it, with this many 32-bit coordinates.
    pub(super) fn coordinates(
        &mut self,
        at: usize,
        space: Space,
        count: usize,
    ) -> Lowered<(Address, Space, Vec<Src>)> {
        let operand = self.operand(at)?;
        let Operand::Address { rest, .. } = operand else {
            return Err(self.expected("the address of a tensor map, and coordinates", operand));
        };
        let [Operand::Vector(elements, _)] = rest.as_slice() else {
            return Err(self.expected("coordinates in braces after the address", operand));
        };
        if elements.len() != count {
            return Err(self.expected("as many coordinates as the copy has dimensions", operand));
        }
        let ty = Type::Int(Int { width: Width::W32, signed: true });
        let list = elements.iter().map(|element| self.value(element, ty)).collect::<Lowered<_>>()?;
        let (address, space) = self.first_address(at, space)?;
        Ok((address, space, list))
    }

    /// The first item in the brackets of an address.
    fn first_address(&mut self, at: usize, space: Space) -> Lowered<(Address, Space)> {
        let operand = self.operand(at)?;
        let Operand::Address { base, offset, .. } = operand else {
            return Err(self.expected("an address", operand));
        };
        let Some(name) = base else {
            let base = Src::Imm(u64::from_ne_bytes(offset.to_ne_bytes()));
            return Ok((Address { base, offset: 0 }, space));
        };
        match self.lowering.names.resolve(name)? {
            Some(Binding::Register(register, width)) => {
                // Generic and global addresses have 64 bits; in the other spaces only the low bits matter.
                if matches!(space, Space::Global | Space::Generic) {
                    self.sized(name, register, width, Width::W64, false)?;
                }
                Ok((Address { base: Src::Reg(register), offset: *offset }, space))
            }
            Some(binding @ (Binding::Variable(_) | Binding::Static(_))) => {
                self.variable_address(binding, *offset, space, operand)
            }
            Some(other) => Err(self.expected_binding("a register or a variable", other, name.span)),
            None => Err(Fail::Wrong(self.lowering.names.undeclared("register or variable", name))),
        }
    }

    fn variable_address(
        &mut self,
        binding: Binding<'m>,
        offset: i64,
        space: Space,
        operand: &Operand,
    ) -> Lowered<(Address, Space)> {
        let Some(variable) = self.lowering.variable(binding)? else {
            return Err(self.unsupported("this name has no address"));
        };
        let space = self.checked_space(variable, space, operand)?;
        Ok((Address { base: Src::Symbol(variable, 0), offset }, space))
    }

    /// The space of an access to a variable, which must match the variable's.
    pub(super) fn checked_space(
        &mut self,
        variable: VariableId,
        space: Space,
        operand: &Operand,
    ) -> Lowered<Space> {
        let own = self.lowering.space_of(variable);
        if own == space {
            return Ok(space);
        }
        match (space, own) {
            // A global address is its own generic address.
            (Space::Generic, Space::Global) | (Space::Cluster, Space::Shared) => Ok(own),
            (Space::Generic, Space::Shared | Space::Local) => {
                Err(self.unsupported("it uses the address of a variable as a generic address"))
            }
            _ => Err(Fail::Wrong(LowerError::Operand {
                instruction: self.name(),
                expected: "a variable of its own state space",
                found: "a variable of another",
                span: span_of(operand),
            })),
        }
    }
}

/// An element of a vector operand.
#[derive(Clone, Copy)]
pub(super) enum Element<'m> {
    /// As written.
    Operand(&'m Operand),
    /// An element of a vector register.
    Register(RegId, Width, &'m tree::Name),
}

/// Opcode and modifiers.
pub(super) fn full_name(instruction: &tree::Instruction) -> String {
    let mut name = instruction.opcode.text.clone();
    for modifier in &instruction.modifiers {
        name.push('.');
        name.push_str(&modifier.text);
    }
    name
}

fn literal_kind(ty: Type) -> &'static str {
    match ty {
        Type::Float(crate::number::format::Format::F32 | crate::number::format::Format::F64) => {
            "a register or a float literal"
        }
        Type::Float(_) | Type::FloatPair(_) | Type::IntPair(_) => "a register",
        Type::Bits(_) | Type::Int(_) | Type::Bits128 | Type::Pred => "a register or an integer literal",
    }
}

fn describe(operand: &Operand) -> &'static str {
    match operand {
        Operand::Name(_) => "a name",
        Operand::Not(_) => "a negated predicate",
        Operand::Literal(literal) => match literal.value {
            LiteralValue::Integer(_) => "an integer literal",
            LiteralValue::Float32(_) | LiteralValue::Float64(_) => "a float literal",
        },
        Operand::SymbolOffset { .. } => "a symbol plus an offset",
        Operand::Vector(..) => "a vector",
        Operand::Pair(..) => "a pair",
        Operand::Sink(_) => "`_`",
        Operand::Address { .. } => "an address",
        Operand::List(..) => "a list",
        Operand::Text(..) => "a text",
        Operand::Apply(..) => "an expression",
    }
}

/// The position of an operand.
pub(super) fn span_of(operand: &Operand) -> Span {
    match operand {
        Operand::Name(name) | Operand::Not(name) => name.span,
        Operand::Literal(literal) => literal.span,
        Operand::Pair(first, second) => span_of(first).to(span_of(second)),
        Operand::Apply(name, inner) => inner.last().map_or(name.span, |last| name.span.to(span_of(last))),
        Operand::SymbolOffset { span, .. }
        | Operand::Vector(_, span)
        | Operand::Sink(span)
        | Operand::Address { span, .. }
        | Operand::List(_, span)
        | Operand::Text(_, span) => *span,
    }
}
