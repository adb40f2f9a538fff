//! Stores of several lanes. Lanes that store the same value to one address in one instruction do not race with one
//! another (rule Y1): any one of the stores may be the one that is performed.

use crate::base::lane::{Lane, LaneMask};
use crate::concurrency::race::Detector;
use crate::concurrency::shadow::WHOLE;
use crate::launch::objects::Backing;
use crate::machine::cta::accesses::{Accesses, WarpAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Values;
use crate::machine::group::warp::Warp;
use crate::program::{InstId, Src, Width};
use crate::term::TermId;
use crate::value::packed::{Cell, PackedPart, PackedValues};
use crate::value::{SymKind, Value};
use smallvec::SmallVec;

impl Accesses<'_, '_> {
    pub(super) fn store_to(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        width: Width,
        a: &[Src],
    ) -> Result<(), Stop> {
        self.context.writable(warp, at, width.bytes())?;
        let groups = self.values.same_stores(warp, at, width, a);
        let mut apart = at.mask;
        for group in groups {
            apart &= !group;
            self.values.terms.relied.on_same_store(at.pc);
            let guard = |lane| self.values.terms.guards.of(lane);
            if group.iter().all(|lane| guard(lane) == guard(group.first())) {
                let own = WarpAccess { mask: group, agent: self.sync.any_of(warp, group), ..*at };
                self.store_lane(warp, &own, group.first(), width, a)?;
                continue;
            }
            // Under different conditions, each of them may be the only one that stores.
            self.values.terms.guards.alike = self.sync.next_access();
            let stored = group.iter().try_for_each(|lane| self.store_lane(warp, at, lane, width, a));
            self.values.terms.guards.alike = None;
            stored?;
        }
        if let (Backing::Shared(cell), Detector::Epoch(_), Width::W32) =
            (at.object.backing, &self.sync.order, width)
            && !self.values.terms.guards.are_narrow()
            && self.values.terms.packed.are_words(warp, apart, a)
        {
            return self.store_words(warp, apart, (cell, at.offsets), a);
        }
        apart.iter().try_for_each(|lane| self.store_lane(warp, at, lane, width, a))
    }

    /// Stores words of lanes in shared memory, at offsets from a cell on, with race detection by epochs.
    #[inline]
    pub(super) fn store_words(
        &mut self,
        warp: &Warp,
        mask: LaneMask,
        (first, offsets): (u32, &[u64; 32]),
        a: &[Src],
    ) -> Result<(), Stop> {
        let now = self.sync.now(warp);
        let (mut scratch, mut alarm) = (None, false);
        for (step, source) in a.iter().enumerate() {
            let register = self.context.operand(warp, *source, &mut scratch);
            for lane in mask {
                let index = first as usize + step + (offsets[lane] >> 2) as usize;
                alarm |= self.memory.parts.write(&mut self.memory.shared_epochs[index], WHOLE, now, lane);
                self.memory.shared[index] = Cell::of(register.get(lane));
            }
        }
        if alarm { Err(Stop::NeedVectorClocks) } else { Ok(()) }
    }

    /// Stores the parts of one lane.
    #[inline]
    fn store_lane(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        lane: Lane,
        width: Width,
        a: &[Src],
    ) -> Result<(), Stop> {
        for (step, source) in a.iter().enumerate() {
            let offset = at.offsets[lane] + step as u64 * u64::from(width.bytes());
            let value = self.context.value(warp, *source, lane);
            self.store_value(warp, lane, at, offset, width.bytes(), value)?;
        }
        Ok(())
    }
}

impl PackedValues {
    /// Whether symbolic values of the lanes fit 4 bytes: a wider register may hold more than is stored.
    #[inline]
    pub(super) fn are_words(&self, warp: &Warp, mask: LaneMask, a: &[Src]) -> bool {
        a.iter().all(|source| match source {
            Src::Imm(_) | Src::Symbol(..) => true,
            Src::Reg(id) => {
                let register = warp.register(*id);
                (register.sym & mask).iter().all(|lane| self.fits(register.get(lane), 4))
            }
        })
    }
}

impl Values<'_> {
    /// Groups of lanes that store the same value to one address in one instruction. Accesses of one instruction have
    /// one width and are aligned to it, so they overlap completely or not at all.
    #[inline]
    fn same_stores(
        &mut self,
        warp: &Warp,
        at: &WarpAccess<'_>,
        width: Width,
        a: &[Src],
    ) -> SmallVec<[LaneMask; 4]> {
        let shares = !matches!(at.object.backing, Backing::Local(_))
            && !self.terms.context.options.rules.strict_stores;
        if !shares || at.mask.only().is_some() || are_distinct(at.mask, at.offsets, width, a.len()) {
            return SmallVec::new();
        }
        self.groups_of_one_place(warp, at, width, a)
    }

    #[inline(never)]
    fn groups_of_one_place(
        &mut self,
        warp: &Warp,
        at: &WarpAccess<'_>,
        width: Width,
        a: &[Src],
    ) -> SmallVec<[LaneMask; 4]> {
        let mut order: SmallVec<[Lane; 32]> = at.mask.iter().collect();
        order.sort_by_key(|lane| at.offsets[*lane]);
        let mut groups = SmallVec::new();
        for group in order.chunk_by(|one, other| at.offsets[*one] == at.offsets[*other]) {
            let [first, others @ ..] = group else { continue };
            if others.is_empty() {
                continue;
            }
            let same = others.iter().all(|other| self.store_alike(warp, (*first, *other), width, a));
            if same {
                groups.push(group.iter().copied().collect::<LaneMask>());
            }
        }
        groups
    }

    /// Whether two lanes store the same value together.
    pub(super) fn store_alike(
        &mut self,
        warp: &Warp,
        (one, other): (Lane, Lane),
        width: Width,
        a: &[Src],
    ) -> bool {
        warp.go_together(one, other)
            && a.iter().all(|source| {
                let [one, other] = [one, other].map(|lane| self.terms.context.value(warp, *source, lane));
                self.is_same(one, other, width.bytes()) || self.terms.may_be_same(one, other)
            })
    }

    /// Whether two values certainly have the same low bytes; for reals, up to formats and rounding (V2).
    pub(crate) fn is_same(&mut self, one: Value, other: Value, bytes: u32) -> bool {
        if self.terms.packed.undefined_part(one).or(self.terms.packed.undefined_part(other)).is_some() {
            return false;
        }
        if one == other {
            return true;
        }
        let [one, other] = [one, other].map(|value| self.terms.packed.narrowed(value, bytes));
        let [one, other] = [one, other].map(|value| self.terms.packed.split(value, bytes));
        one.len() == other.len() && one.iter().zip(&other).all(|(one, other)| self.is_same_part(*one, *other))
    }

    fn is_same_part(&mut self, one: PackedPart, other: PackedPart) -> bool {
        if one == other {
            return true;
        }
        let (Value::Sym(left), Value::Sym(right)) = (one.value, other.value) else { return false };
        if one.bytes != other.bytes {
            return false;
        }
        match (left.kind(), right.kind()) {
            (SymKind::Real(format, x), SymKind::Real(other, y)) => format == other && self.is_same_term(x, y),
            (SymKind::Half64(half, x), SymKind::Half64(other, y)) => half == other && self.is_same_term(x, y),
            (SymKind::Int(bytes, x), SymKind::Int(other, y)) => bytes == other && self.is_same_term(x, y),
            // Values of other kinds are only known to be equal if they are the same word.
            _ => false,
        }
    }

    /// Whether two terms are certainly equal. Known values that are the same real may be rounded in two ways (rule
    /// V10).
    fn is_same_term(&mut self, one: TermId, other: TermId) -> bool {
        let is_known = [one, other].iter().any(|term| self.numbers.known.contains(term.raw()));
        one == other || !is_known && self.congruence.same(&self.terms.store, one, other)
    }

    /// Whether two contents of a cell are certainly equal in all bytes.
    pub(super) fn is_same_cell(&mut self, one: Cell, other: Cell, reader: InstId) -> bool {
        match (one.whole(reader), other.whole(reader)) {
            (Some(one), Some(other)) => self.is_same(one, other, 4),
            _ => one == other,
        }
    }
}

/// Whether a quick test shows that no two lanes store to one address.
#[inline]
fn are_distinct(mask: LaneMask, offsets: &[u64; 32], width: Width, parts: usize) -> bool {
    let shift = (width.bytes() * parts as u32).trailing_zeros();
    let (mut seen, mut last, mut ascend) = (0u64, None, true);
    let mut apart = true;
    for lane in mask {
        let place = offsets[lane] >> shift;
        apart &= seen >> (place & 63) & 1 == 0;
        seen |= 1 << (place & 63);
        ascend &= last.is_none_or(|last| last < place);
        last = Some(place);
    }
    apart || ascend
}
