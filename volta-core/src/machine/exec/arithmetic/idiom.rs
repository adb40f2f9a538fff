//! Steps of compiler idioms, recognised on values (rules V2, V5): where rounding *is* the function.
//!
//! `expf` as `nvcc` emits it computes `m = s·252 + 12582913` rounded towards −∞, `s` in [0, 1]. Such an `m` lies in
//! [2²³, 2²⁴), where f32 holds exactly the integers, so `m = 12582913 + ⌊252·s⌋`. The low bits of its encoding, shifted
//! into the exponent field, encode `2^(m − 12582913 − 126)`. Any such pair is recognised by its value ranges, whatever
//! the constants, and wherever the compiler moved the rest of the function.

use crate::base::lane::{Lane, LaneMask};
use crate::machine::group::values::Reals;
use crate::number::format::Format;
use crate::number::{Extended, Rational};
use crate::program::{Clamp, InstId};
use crate::term::{Results, TermId, TermKind, TermOp};
use crate::value::float_inst::Shape;
use crate::value::int_terms::{number, whole};
use crate::value::known_floats::{Exact, Known};
use crate::value::register::Register;
use crate::value::{Sym, SymKind, Value};

/// Whether rounding down a multiply-add yields a floor: every `s·b + c` for `s` in [0, 1] lies where f32 holds exactly
/// the integers.
fn has_unit_spacing(factor: &Rational, offset: &Rational) -> bool {
    let range = 1 << 23..1 << 24;
    let inside = |value: &Rational| value.to_i64().is_some_and(|value| range.contains(&value));
    offset.is_integer() && factor.is_positive() && inside(offset) && inside(&(offset + factor).ceil())
}

/// The bias of the exponent fields made from integers in a range, if the integers' 9 low bits do not wrap around and
/// encode 1 … 254.
fn bias((lowest, highest): (i64, i64)) -> Option<i64> {
    let (low, high) = (lowest - (1 << 23), highest - (1 << 23));
    let base = low & !511;
    (low - base >= 1 && high - base <= 254).then_some((1 << 23) + base + 127)
}

impl Reals<'_, '_> {
    /// `fma.rm(s, b, c)` for `s` in [0, 1] where every result is an integer of f32 with unit spacing: `c + ⌊s·b⌋`.
    /// `None` where this fails for some lane of `mask`.
    pub(super) fn floor_step(
        &mut self,
        mask: LaneMask,
        [s, b, c]: [&[u64; 32]; 3],
        pc: InstId,
    ) -> Option<Results> {
        let first = mask.first();
        let same = |ids: &[u64; 32]| mask.iter().all(|lane| ids[lane] == ids[first]);
        let saturated = |lane: Lane| self.terms.store.op(TermId::from_raw(s[lane])) == Some(TermOp::Saturate);
        if !(same(b) && same(c) && mask.iter().all(saturated)) {
            return None;
        }
        let constant = |id: u64| number(&self.terms.store, TermId::from_raw(id)).cloned();
        let (factor, offset) = (constant(b[first])?, constant(c[first])?);
        if !has_unit_spacing(&factor, &offset) {
            return None;
        }
        let (lowest, highest) = (offset.to_i64()?, (&offset + &factor).ceil().to_i64()?);
        let product = self.terms.store.push_shared(TermOp::Mul, mask, &[s, b], pc);
        let floor = self.terms.store.push_shared(TermOp::Floor, mask, &[&product.all()], pc);
        if let TermKind::Lane(node, _) = TermId::from_raw(floor.lane(first)).kind() {
            self.numbers.points.floors.insert(node);
        }
        let sum = self.terms.store.push_shared(TermOp::Add, mask, &[&floor.all(), c], pc);
        if let Some(bias) = bias((lowest, highest))
            && let TermKind::Lane(node, _) = TermId::from_raw(sum.lane(first)).kind()
        {
            self.numbers.reductions.insert(node, bias);
        }
        Some(sum)
    }

    /// Like [`Reals::floor_step`], for known values; `None` for other operations, and where `s` may lie outside [0, 1].
    pub(super) fn known_floor_step(&mut self, shape: Shape, ids: &[TermId], pc: InstId) -> Option<Value> {
        let [s, b, c] = ids else { return None };
        let is_step = shape.op == TermOp::Fma
            && shape.rounds_down()
            && shape.format == Format::F32
            && shape.clamp == Clamp::None;
        if !is_step {
            return None;
        }
        let [factor, offset] = [*b, *c].map(|id| number(&self.terms.store, id).cloned());
        let (factor, offset) = (factor?, offset?);
        if !has_unit_spacing(&factor, &offset) {
            return None;
        }
        // The values that hardware holds are integers.
        let held = [*s, *b, *c].map(|id| self.numbers.known.of(&self.terms.store, id));
        let [Some(s_known), Some(b_known), Some(c_known)] = held else { return None };
        let [from, to] = s_known.exact.bounds()?;
        let (from, to) = (from.finite()?, to.finite()?);
        if from.is_negative() || *to > Rational::ONE {
            return None;
        }
        let rounded = self.numbers.known.rounded(shape, ids, &[s_known.clone(), b_known, c_known]);
        let [low, high] = [from, to].map(|s| &(s * &factor).floor() + &offset);
        let whole = (low == high).then(|| Extended::Finite(low.clone()));
        if let (Some(exact), Some(held)) = (&whole, rounded)
            && held.bits().is_some()
            && held.bounds()[0] == *exact
        {
            return Some(self.numbers.known.constant(
                &mut self.terms.store,
                shape.format,
                exact.clone(),
                rounded,
            ));
        }
        let product = self.terms.store.apply(TermOp::Mul, &[*s, *b], pc);
        let floor = self.terms.store.apply(TermOp::Floor, &[product], pc);
        let sum = self.terms.store.apply(TermOp::Add, &[floor, *c], pc);
        let ends = (offset.to_i64()?, (&offset + &factor).ceil().to_i64()?);
        if let (Some(bias), TermKind::Lane(node, _)) = (bias(ends), sum.kind()) {
            self.numbers.reductions.insert(node, bias);
        }
        let exact = whole.map_or_else(|| Exact::between(&low, &high), Exact::Number);
        self.numbers.known.insert(sum, Known { exact, rounded });
        Some(Value::Sym(Sym::real(shape.format, sum)))
    }

    /// `bits(m) << 23` for all lanes of `mask`, where [`Reals::floor_step`] made every `m`.
    pub(super) fn exponent_fields(
        &mut self,
        mask: LaneMask,
        register: &Register,
        pc: InstId,
    ) -> Option<Results> {
        if register.sym & mask != mask {
            return None;
        }
        let words = register.words();
        let bias_of = |lane: Lane| {
            let SymKind::Real(Format::F32, term) = Sym::from_raw(words[lane]).kind() else {
                return None;
            };
            let TermKind::Lane(node, _) = term.kind() else { return None };
            // Known values are handled lane by lane.
            if self.numbers.known.contains(term.raw()) {
                return None;
            }
            self.numbers.reductions.get(&node).copied()
        };
        let bias = bias_of(mask.first())?;
        if !mask.iter().all(|lane| bias_of(lane) == Some(bias)) {
            return None;
        }
        let ids: [u64; 32] = words.map(|word| word & Sym::PAYLOAD);
        let bias = [whole(&mut self.terms.store, bias.into()).raw(); 32];
        let exponent = self.terms.store.push_shared(TermOp::Sub, mask, &[&ids, &bias], pc);
        Some(self.terms.store.push_shared(TermOp::Exp2, mask, &[&exponent.all()], pc))
    }
}
