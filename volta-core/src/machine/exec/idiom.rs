//! Steps of compiler idioms, recognised on values (rules V2, V5): where rounding *is* the function.
//!
//! `expf` as `nvcc` emits it computes `m = s·252 + 12582913` rounded towards −∞, `s` in [0, 1]. Such an `m` lies
//! in [2²³, 2²⁴), where f32 holds exactly the integers, so `m = 12582913 + ⌊252·s⌋`. The low bits of its
//! encoding, shifted into the exponent field, spell `2^(m − 12582913 − 126)`. Any such pair is recognised by
//! its value ranges, whatever the constants, and wherever the compiler moved the rest of the function.

use super::super::cta::Cta;
use super::super::register::Register;
use super::super::value::{Sym, SymKind, Value, lanes};
use super::float::Shape;
use super::symbolic::Table;
use crate::number::format::{Format, Rounding};
use crate::number::{Extended, Rational};
use crate::program::{Clamp, Width};
use crate::term::{Constant, NodeId, Results, Store, TermId, TermKind, TermOp, View};

/// A constant term of a whole number.
pub(super) fn whole(store: &mut Store, value: i64) -> TermId {
    let exact = Extended::Finite(Rational::from_integer(value));
    store.intern(Constant { exact, literal: None, rounded: None })
}

fn finite(store: &Store, term: TermId) -> Option<Rational> {
    match store.view(term) {
        View::Constant(constant) => constant.exact.finite().cloned(),
        View::Input { .. } | View::Apply(..) => None,
    }
}

/// Whether rounding down is what a product and sum is for: each of `s·b + c` for `s` in [0, 1] lies where f32 holds
/// exactly the integers.
fn has_unit_spacing(factor: &Rational, offset: &Rational) -> bool {
    let range = 1 << 23..1 << 24;
    let inside = |value: &Rational| value.to_i64().is_some_and(|value| range.contains(&value));
    offset.is_integer() && factor.is_positive() && inside(offset) && inside(&(offset + factor).ceil())
}

/// The same step (see [`Cta::floor_step`]) on constants.
pub(super) fn rounds_to_integer(shape: Shape, constants: &[Constant]) -> bool {
    let [s, factor, offset] = constants else { return false };
    let (Some(s), Some(factor), Some(offset)) =
        (s.exact.finite(), factor.exact.finite(), offset.exact.finite())
    else {
        return false;
    };
    shape.op == TermOp::Fma
        && shape.rounding == Rounding::Down
        && shape.format == Format::F32
        && shape.clamp == Clamp::None
        && !s.is_negative()
        && *s <= Rational::ONE
        && has_unit_spacing(factor, offset)
}

impl Cta<'_> {
    /// `fma.rm(s, b, c)` for `s` in [0, 1] where every result is an integer of f32 with unit spacing:
    /// `c + ⌊s·b⌋`. `None` when it is not that in every lane of `mask`.
    pub(super) fn floor_step(&mut self, mask: u32, [s, b, c]: [&[u64; 32]; 3], pc: u32) -> Option<Results> {
        let first = mask.trailing_zeros() as usize;
        let same = |ids: &[u64; 32]| lanes(mask).all(|lane| ids[lane] == ids[first]);
        let saturated = |lane: usize| self.store.op(TermId::from_raw(s[lane])) == Some(TermOp::Saturate);
        if !(same(b) && same(c) && lanes(mask).all(saturated)) {
            return None;
        }
        let constant = |id: u64| finite(&self.store, TermId::from_raw(id));
        let (factor, offset) = (constant(b[first])?, constant(c[first])?);
        if !has_unit_spacing(&factor, &offset) {
            return None;
        }
        let (lowest, highest) = (offset.to_i64()?, (&offset + &factor).ceil().to_i64()?);
        let product = self.store.push_shared(TermOp::Mul, mask, &[s, b], pc);
        let floor = self.store.push_shared(TermOp::Floor, mask, &[&product.all()], pc);
        let sum = self.store.push_shared(TermOp::Add, mask, &[&floor.all(), c], pc);
        // As a shifted exponent field the encoding's low 9 bits count; they must not wrap and spell 1 … 254.
        let (low, high) = (lowest - (1 << 23), highest - (1 << 23));
        let base = low & !511;
        if low - base >= 1
            && high - base <= 254
            && let TermKind::Lane(node, _) = TermId::from_raw(sum.lane(first)).kind()
        {
            self.reductions.insert(node, (1 << 23) + base + 127);
        }
        Some(sum)
    }

    /// `bits(m) << 23` for all lanes of `mask` at once, where [`Cta::floor_step`] made every `m`.
    pub(super) fn exponent_fields(&mut self, mask: u32, register: &Register, pc: u32) -> Option<Results> {
        if register.sym & mask != mask {
            return None;
        }
        let words = register.words();
        let bias_of = |lane: usize| {
            let SymKind::Real(Format::F32, term) = Sym::from_raw(words[lane]).kind() else {
                return None;
            };
            let TermKind::Lane(node, _) = term.kind() else { return None };
            self.reductions.get(&node).copied()
        };
        let bias = bias_of(mask.trailing_zeros() as usize)?;
        if !lanes(mask).all(|lane| bias_of(lane) == Some(bias)) {
            return None;
        }
        let ids: [u64; 32] = words.map(|word| word & Sym::PAYLOAD);
        let bias = [whole(&mut self.store, bias).raw(); 32];
        let exponent = self.store.push_shared(TermOp::Sub, mask, &[&ids, &bias], pc);
        Some(self.store.push_shared(TermOp::Exp2, mask, &[&exponent.all()], pc))
    }
}

/// `bits(m) << 23` for an `m` that [`Cta::floor_step`] made: the f32 `2^(m − bias)`.
pub(super) fn exponent_field(table: &mut Table<'_>, sym: Sym, width: Width, amount: u64) -> Option<Value> {
    let SymKind::Real(Format::F32, term) = sym.kind() else { return None };
    let TermKind::Lane(node, _) = term.kind() else { return None };
    if width != Width::W32 || amount != 23 {
        return None;
    }
    let bias = *table.reductions.get::<NodeId>(&node)?;
    let bias = whole(table.store, bias);
    let exponent = table.store.apply(TermOp::Sub, &[term, bias], table.pc);
    let power = table.store.apply(TermOp::Exp2, &[exponent], table.pc);
    Some(Value::Sym(Sym::real(Format::F32, power)))
}
