//! The layout of a variable from its declaration: size, alignment, initial bytes.
//!
//! Addresses are assigned by the machine (rule M1).

use super::code::Init;
use super::error::{DeclarationProblem, LowerError};
use super::literal;
use super::types::Type;
use crate::base::span::Span;
use crate::ptx::tree::{
    Initializer, Linking, Literal, LiteralValue, Name, Operand, StateSpace, VariableDeclaration,
};

/// The largest variable, in bytes.
const LARGEST: u64 = 1 << 40;
/// The largest initial value, in bytes.
const LARGEST_INIT: u64 = 1 << 28;

/// Size and alignment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// `None` for `extern` arrays in shared memory, and for others that are declared without a size.
    pub(super) size: Option<u64>,
    /// A power of two.
    pub(super) align: u64,
}

/// The address of a symbol, to be inserted at `offset`.
pub(super) struct Address<'v> {
    pub(super) offset: u64,
    pub(super) symbol: &'v Name,
    pub(super) addend: i64,
    pub(super) generic: bool,
}

/// `symbol`, `symbol+4`, `generic(symbol)`, `generic(symbol)+4`: the symbol, an addend in bytes, and whether its
/// address is the generic one.
fn address_of(operand: &Operand) -> Option<(&Name, i64, bool)> {
    match operand {
        Operand::Name(symbol) => Some((symbol, 0, false)),
        Operand::SymbolOffset { symbol, offset, .. } => Some((symbol, *offset, false)),
        Operand::Apply(function, inner) => match (function.text.as_str(), inner.as_slice()) {
            ("generic", [inner]) => {
                let (symbol, offset, generic) = address_of(inner)?;
                (!generic).then_some((symbol, offset, true))
            }
            ("+", [inner, Operand::Literal(Literal { value: LiteralValue::Integer(more), .. })]) => {
                let (symbol, offset, generic) = address_of(inner)?;
                Some((symbol, offset.checked_add(more.cast_signed())?, generic))
            }
            _ => None,
        },
        Operand::Not(_)
        | Operand::Literal(_)
        | Operand::Vector(..)
        | Operand::Pair(..)
        | Operand::Sink(_)
        | Operand::Address { .. }
        | Operand::List(..)
        | Operand::Text(..) => None,
    }
}

/// An initial value that is valid PTX but not supported.
pub(super) struct UnsupportedInit(pub(super) &'static str);

/// Reads a declaration's size and alignment.
pub(super) fn layout(variable: &VariableDeclaration) -> Result<Layout, LowerError> {
    let problem = |problem, span| LowerError::Declaration { name: variable.name.text.clone(), problem, span };
    let ty = Type::parse(&variable.element.text);
    let bytes =
        ty.and_then(Type::bytes).ok_or_else(|| problem(DeclarationProblem::Type, variable.element.span))?;
    let element = bytes * u64::from(variable.vector.unwrap_or(1).max(1));
    let align = variable.align.unwrap_or(element);
    if !align.is_power_of_two() || align > LARGEST {
        return Err(problem(DeclarationProblem::Alignment, variable.span));
    }
    let mut size = Some(element);
    for (at, dimension) in variable.dimensions.iter().enumerate() {
        let count = match dimension {
            Some(count) => Some(*count),
            None if at == 0 => None,
            None => return Err(problem(DeclarationProblem::Unsized, variable.span)),
        };
        size = match (size, count) {
            (Some(size), Some(count)) => Some(
                size.checked_mul(count)
                    .filter(|size| *size <= LARGEST)
                    .ok_or_else(|| problem(DeclarationProblem::Size, variable.span))?,
            ),
            _ => None,
        };
        if count.is_none() {
            // The other dimensions are the element; the number of initial values is the first dimension.
            let rest = inner_bytes(variable, element)
                .ok_or_else(|| problem(DeclarationProblem::Size, variable.span))?;
            size = match &variable.initializer {
                Some(Initializer::List(items)) => Some(items.len() as u64 * rest),
                _ => None,
            };
            break;
        }
    }
    let external = variable.linking.contains(&Linking::Extern);
    match size {
        _ if external && variable.space == StateSpace::Shared => Ok(Layout { size: None, align }),
        None if external => Ok(Layout { size: None, align }),
        Some(size) if size <= LARGEST => Ok(Layout { size: Some(size), align }),
        Some(_) => Err(problem(DeclarationProblem::Size, variable.span)),
        None => Err(problem(DeclarationProblem::Unsized, variable.span)),
    }
}

/// Size of an element of the first dimension.
fn inner_bytes(variable: &VariableDeclaration, element: u64) -> Option<u64> {
    variable
        .dimensions
        .iter()
        .skip(1)
        .try_fold(element, |size, count| size.checked_mul((*count)?).filter(|size| *size <= LARGEST))
}

/// Lays out an initial value: its bytes, and the addresses to be inserted.
pub(super) fn initial<'v>(
    variable: &'v VariableDeclaration,
    layout: Layout,
) -> Result<Result<(Init, Vec<Address<'v>>), UnsupportedInit>, LowerError> {
    let Some(initializer) = &variable.initializer else { return Ok(Ok((Init::default(), Vec::new()))) };
    let Some(ty) = Type::parse(&variable.element.text) else { return Ok(Ok((Init::default(), Vec::new()))) };
    let Some(bytes) = ty.bytes() else { return Ok(Ok((Init::default(), Vec::new()))) };
    let mut dimensions: Vec<u64> =
        variable.dimensions.iter().map(|count| count.unwrap_or(u64::MAX)).collect();
    dimensions.extend(variable.vector.map(u64::from));
    if dimensions.is_empty() {
        dimensions.push(1);
    }
    let mut filling =
        Filling { variable, ty, bytes, init: Init::default(), addresses: Vec::new(), unsupported: None };
    match initializer {
        Initializer::Value(value) => filling.scalar(value, 0)?,
        Initializer::List(items) => {
            let limit = layout.size.map_or(u64::MAX, |size| size / bytes);
            filling.list(items, &dimensions, 0, limit, variable.span)?;
        }
    }
    Ok(match filling.unsupported {
        Some(unsupported) => Err(unsupported),
        None => Ok((filling.init, filling.addresses)),
    })
}

struct Filling<'v> {
    variable: &'v VariableDeclaration,
    ty: Type,
    bytes: u64,
    init: Init,
    addresses: Vec<Address<'v>>,
    unsupported: Option<UnsupportedInit>,
}

impl<'v> Filling<'v> {
    fn problem(&self, problem: DeclarationProblem, span: Span) -> LowerError {
        LowerError::Declaration { name: self.variable.name.text.clone(), problem, span }
    }

    /// Fills an array of `dimensions` between the scalars `start` and `end`.
    fn list(
        &mut self,
        items: &'v [Initializer],
        dimensions: &[u64],
        start: u64,
        end: u64,
        span: Span,
    ) -> Result<(), LowerError> {
        let inner = dimensions.get(1..).unwrap_or_default();
        let inner_scalars = inner.iter().try_fold(1u64, |size, count| size.checked_mul(*count));
        let inner_scalars = inner_scalars.unwrap_or(u64::MAX).max(1);
        let mut at = start;
        for item in items {
            match item {
                Initializer::Value(value) => {
                    if at >= end {
                        return Err(self.problem(DeclarationProblem::TooManyValues, span));
                    }
                    self.scalar(value, at)?;
                    at += 1;
                }
                Initializer::List(items) => {
                    let aligned = (at - start).div_ceil(inner_scalars).checked_mul(inner_scalars);
                    let inner_start = aligned.and_then(|skip| start.checked_add(skip));
                    let inner_end = inner_start.and_then(|at| at.checked_add(inner_scalars));
                    match (inner_start, inner_end) {
                        (Some(inner_start), Some(inner_end)) if inner_end <= end && !inner.is_empty() => {
                            self.list(items, inner, inner_start, inner_end, span)?;
                            at = inner_end;
                        }
                        _ => return Err(self.problem(DeclarationProblem::TooManyValues, span)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Writes scalar number `at`.
    fn scalar(&mut self, value: &'v Operand, at: u64) -> Result<(), LowerError> {
        let offset = at.checked_mul(self.bytes).filter(|offset| *offset < LARGEST_INIT);
        let Some(offset) = offset else {
            return Err(self.problem(DeclarationProblem::Size, self.variable.span));
        };
        if let Operand::Literal(literal) = value {
            let bits = self.bits(literal)?;
            self.write(offset, bits);
            return Ok(());
        }
        match address_of(value) {
            Some((symbol, addend, generic)) => self.address(offset, symbol, addend, generic),
            None => self.give_up("its initial value is an expression of symbols"),
        }
    }

    fn give_up(&mut self, reason: &'static str) -> Result<(), LowerError> {
        self.unsupported = Some(UnsupportedInit(reason));
        Ok(())
    }

    fn bits(&self, literal: &Literal) -> Result<u128, LowerError> {
        let wrong = || self.problem(DeclarationProblem::Value, literal.span);
        literal::initial_bits(literal.value, self.ty).ok_or_else(wrong)
    }

    fn write(&mut self, offset: u64, bits: u128) {
        // The offset is below `LARGEST_INIT`.
        let (start, count) = (offset as usize, self.bytes as usize);
        if self.init.bytes.len() < start + count {
            self.init.bytes.resize(start + count, 0);
        }
        let source = bits.to_le_bytes();
        for (target, byte) in self.init.bytes.iter_mut().skip(start).zip(source.iter().take(count)) {
            *target = *byte;
        }
    }

    fn address(
        &mut self,
        offset: u64,
        symbol: &'v Name,
        addend: i64,
        generic: bool,
    ) -> Result<(), LowerError> {
        if self.bytes != 8 {
            return self.give_up("its initial value holds an address of fewer than 8 bytes");
        }
        self.write(offset, 0);
        self.addresses.push(Address { offset, symbol, addend, generic });
        Ok(())
    }
}
