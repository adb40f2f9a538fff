//! Loads and stores (rules M1–M4), with race detection on shared and global memory (Y1).

use crate::base::lane::{Lane, LaneMask};
use crate::case::Element;
use crate::concurrency::agent::Agent;
use crate::concurrency::race::Detector;
use crate::concurrency::shadow::WHOLE;
use crate::launch::Launch;
use crate::launch::objects::{Backing, PAGE, locate, owned, to_generic};
use crate::machine::cta::Cta;
use crate::machine::cta::accesses::{Accesses, LaneAccess, WarpAccess};
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::machine::memory::contents::initial_cell;
use crate::machine::memory::perhaps::How;
use crate::machine::memory::uncached::Uncachable;
use crate::program::{Access, Address, Inst, InstId, Op, RegId, Space, Width};
use crate::value::constants::KnownFloats;
use crate::value::guard::Guard;
use crate::value::int_terms;
use crate::value::packed::{Cell, PackedPart, PackedParts};
use crate::value::{Origin, Value};
use crate::verdict::FaultKind;

/// Objects in shared memory are assumed to lie at multiples of so many bytes where `wmma` accesses them (rule M1).
const FRAGMENT_ALIGN: u64 = 32;

impl Cta<'_> {
    /// Executes a load or a store.
    #[inline]
    pub(crate) fn access(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<(), Stop> {
        if let Op::Load { access, space, address, .. } | Op::Store { access, space, address, .. } = &inst.op {
            if access.leads_nowhere {
                self.values.terms.leads_nowhere(warp, mask, pc, (*space, *address))?;
            }
            if let Some(load) = access.ahead_of {
                return mask.iter().try_for_each(|lane| self.accesses().load_ahead(warp, lane, pc, load));
            }
        }
        let mut mask = mask;
        if self.context.launch.has_sets {
            mask &= !self.accesses().store_to_bags(warp, mask, inst, pc)?;
        }
        mask &= !self.access_by_cases(warp, mask, inst, pc)?;
        if mask.is_empty() {
            return Ok(());
        }
        if let Op::Load { space, address, width, d, .. } = &inst.op {
            self.accesses().observe(warp, mask, pc, (*space, *address), width.bytes() * d.len() as u32);
        } else if let Op::Store { space, address, width, a, .. } = &inst.op {
            self.accesses().observe(warp, mask, pc, (*space, *address), width.bytes() * a.len() as u32);
        }
        self.access_by_lanes(warp, mask, inst, pc)
    }

    /// As [`Cta::access`], lane by lane: the addresses may be any.
    #[inline(never)] // Outlined so that the fast path does not pay for this frame.
    fn access_by_lanes(
        &mut self,
        warp: &mut Warp,
        mask: LaneMask,
        inst: &Inst,
        pc: InstId,
    ) -> Result<(), Stop> {
        let (space, address, width, count, writes) =
            if let Op::Load { space, address, width, d, .. } = &inst.op {
                (*space, *address, *width, d.len(), false)
            } else if let Op::Store { space, address, width, a, .. } = &inst.op {
                (*space, *address, *width, a.len(), true)
            } else {
                return Err(Stop::Defect("an operation that accesses no memory was executed as an access"));
            };
        let total = width.bytes() * count as u32;
        if let Some(lane) = mask.only()
            && let Some(base) = self.context.bits(warp, address.base, lane)
        {
            let place = (space, base.wrapping_add_signed(address.offset));
            let mut offsets = [0; 32];
            let access = LaneAccess { place, bytes: total, alignment: total, agent: Agent::Thread, writes };
            match self.accesses().locate_lane(warp, lane, pc, access, &mut offsets) {
                Ok(at) => return self.accesses().perform(warp, at, inst),
                Err(stop) if self.values.terms.survey.is_none() => return Err(stop),
                Err(_) => {}
            }
        }
        let mut addresses = match self.values.terms.addresses(warp, mask, address, pc) {
            Ok(addresses) => addresses,
            Err(stop) => return self.access_in_doubt(warp, mask, (inst, pc), stop),
        };
        if space == Space::Generic {
            for lane in mask {
                if let (Space::Local, inner) = locate(space, addresses[lane]) {
                    let (own, inner) = owned((Space::Local, inner), warp.thread(lane));
                    addresses[lane] = to_generic(own, inner);
                }
            }
        }
        let mut rest = mask;
        while !rest.is_empty() {
            // Usually one iteration: all lanes access one object.
            let first = rest.first();
            let (own, inner) = locate(space, addresses[first]);
            let found = self.context.found(warp, own, inner);
            let Some((number, _)) = found else {
                let stop = self.context.outside(warp, first, pc, (own, inner), total, writes);
                self.values.terms.leave_out(warp, LaneMask::of(first), (inst, pc), stop)?;
                rest &= !LaneMask::of(first);
                continue;
            };
            let object = self.context.launch.objects.get(number);
            let limit = object.size.wrapping_sub(u64::from(total));
            let fits = object.size >= u64::from(total);
            let aligned = u64::from(total) - 1;
            let bias = addresses[first].wrapping_sub(inner).wrapping_add(object.base);
            let mut offsets = [0; 32];
            let (mut same, mut odd, mut over) = (LaneMask::ALL, 0, 0);
            for lane in Lane::all() {
                let offset = addresses[lane].wrapping_sub(bias);
                offsets[lane] = offset;
                odd |= offset;
                // The highest bit is set if a lane is outside of the object.
                over |= offset | limit.wrapping_sub(offset);
            }
            if !rest.is_all() || over >> 63 == 1 {
                (same, odd) = (LaneMask::NONE, 0);
                for lane in rest.iter().filter(|lane| offsets[*lane] <= limit) {
                    same |= LaneMask::of(lane);
                    odd |= offsets[lane];
                }
            }
            if !fits || !same.contains(first) {
                let stop = self.context.outside(warp, first, pc, (own, inner), total, writes);
                self.values.terms.leave_out(warp, LaneMask::of(first), (inst, pc), stop)?;
                rest &= !LaneMask::of(first);
                continue;
            }
            rest &= !same;
            let (offsets, access, agent) = (&offsets, Access::default(), Agent::Thread);
            let mut at = WarpAccess { object, number, offsets, mask: same, pc, access, agent };
            self.sync.reach(warp, &at, writes)?;
            if odd & aligned != 0 || object.align < u64::from(total) {
                let stop = self.context.misaligned(warp, &at, total);
                at.mask &= !self.values.terms.leave_out_misaligned(warp, &at, (inst, total), stop)?;
                if at.mask.is_empty() {
                    continue;
                }
            }
            if object.declared < u64::from(total) {
                self.values.terms.relied.on_alignment(number, total.into());
            }
            self.accesses().perform(warp, at, inst)?;
        }
        Ok(())
    }
}

impl<'l> Accesses<'_, 'l> {
    /// Executes a load or a store at known places.
    #[inline]
    fn perform(&mut self, warp: &mut Warp, mut at: WarpAccess<'_>, inst: &Inst) -> Result<(), Stop> {
        if let Op::Load { d, access, width, .. } = &inst.op {
            at.access = *access;
            self.load(warp, &at, *width, d)?;
            if access.tensor_address {
                load_tensor_address(warp, at.mask, d);
            }
            Ok(())
        } else if let Op::Store { a, access, width, .. } = &inst.op {
            at.access = *access;
            if let Some(strong) =
                access.strong.filter(|_| self.context.launch.sets() && a.len() == 1 && *width == Width::W32)
            {
                at.agent = Agent::Setter { scope: strong.scope };
            }
            self.store_to(warp, &at, *width, a)
        } else {
            Err(Stop::Defect("an operation that accesses no memory was executed as an access"))
        }
    }

    /// Locates an access of one lane. `offsets` is storage for the result.
    #[inline(always)] // What is returned in pieces through memory is slow to read as a whole.
    pub(crate) fn locate_lane<'o>(
        &mut self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        access: LaneAccess,
        offsets: &'o mut [u64; 32],
    ) -> Result<WarpAccess<'o>, Stop>
    where
        'l: 'o,
    {
        let LaneAccess { place: (space, address), bytes, alignment, agent, writes } = access;
        let launch: &'l Launch<'l> = self.context.launch;
        let (own, inner) = owned(locate(space, address), warp.thread(lane));
        let outside = || self.context.outside(warp, lane, pc, (own, inner), bytes, writes);
        let Some((number, offset)) = self.context.found(warp, own, inner) else { return Err(outside()) };
        let object = launch.objects.get(number);
        let offset = match u64::try_from(offset) {
            Ok(offset) if offset + u64::from(bytes) <= object.size => offset,
            _ => return Err(outside()),
        };
        offsets[lane] = offset;
        let (mask, access) = (LaneMask::of(lane), Access::default());
        let at = WarpAccess { object, number, offsets, mask, pc, access, agent };
        self.sync.reach(warp, &at, writes)?;
        // No other instruction accesses shared memory in pieces of more than 16 bytes.
        let is_better = object.space == Space::Shared && !self.context.options.rules.strict_alignment;
        let of_fragments = if is_better { FRAGMENT_ALIGN } else { 0 };
        let is_aligned = object.align.max(of_fragments) >= u64::from(alignment);
        if !offset.is_multiple_of(u64::from(alignment)) || !is_aligned {
            return Err(self.context.misaligned(warp, &at, alignment));
        }
        if object.declared < u64::from(alignment) {
            self.values.terms.relied.on_alignment(number, alignment.into());
        }
        Ok(at)
    }

    fn load(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        width: Width,
        d: &[Option<RegId>],
    ) -> Result<(), Stop> {
        if let Some((tag, bytes)) = self.context.unwritten_input(at.object)
            && bytes == width.bytes()
        {
            let shift = bytes.trailing_zeros();
            for (step, target) in d.iter().enumerate() {
                let Some(target) = target else { continue };
                let first = tag + step as u64;
                let register = warp.register_mut(*target);
                if at.mask.is_all() {
                    register.set_words(&at.offsets.map(|offset| first + (offset >> shift)), true);
                    continue;
                }
                let words = register.words_mut();
                for lane in at.mask {
                    words[lane] = first + (at.offsets[lane] >> shift);
                }
                register.sym |= at.mask;
                register.undefined &= !at.mask;
            }
            return Ok(());
        }
        if let (Backing::Shared(first), Detector::Epoch(_)) = (at.object.backing, &self.sync.order)
            && width != Width::W64
            && self.load_shared(warp, at, first, width.bytes(), d)?
        {
            return Ok(());
        }
        if self.load_for_all(warp, at, width, d)? {
            return Ok(());
        }
        for lane in at.mask {
            for (step, target) in d.iter().enumerate() {
                let offset = at.offsets[lane] + step as u64 * u64::from(width.bytes());
                let value = self.load_value(warp, lane, at, offset, width.bytes())?;
                let Some(target) = target else { continue };
                warp.register_mut(*target).set(lane, value);
            }
        }
        Ok(())
    }

    /// Loads parts of words from shared memory under the epoch detector. Returns false if a lane reads undefined bytes
    /// or part of a value; the caller then loads everything again, which the epochs permit.
    #[inline]
    fn load_shared(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        first: u32,
        bytes: u32,
        d: &[Option<RegId>],
    ) -> Result<bool, Stop> {
        let now = self.sync.now(warp);
        let first_lane = at.mask.first();
        let apart = |lane: Lane| at.offsets[lane] ^ at.offsets[first_lane];
        let spread = if at.mask.is_all() {
            Lane::all().fold(0, |spread, lane| spread | apart(lane))
        } else {
            at.mask.iter().fold(0, |spread, lane| spread | apart(lane))
        };
        let (mut alarm, mut known) = (false, true);
        for (step, target) in d.iter().enumerate() {
            let place = |lane: Lane| {
                let offset = at.offsets[lane] + step as u64 * u64::from(bytes);
                let start = (offset & 3) as u32;
                ((u64::from(first) + (offset >> 2)) as usize, start, WHOLE >> (4 - bytes) << start)
            };
            if spread == 0 {
                let (index, start, touched) = place(first_lane);
                let cell = &mut self.memory.shared_epochs[index];
                alarm |= self.memory.parts.read_together(cell, touched, now, at.mask);
                let Some(target) = target else { continue };
                match self.values.terms.packed.part(self.memory.shared[index], start, bytes) {
                    Some(value) => warp.register_mut(*target).fill(at.mask, value),
                    None => known = false,
                }
                continue;
            }
            let Some(target) = target else {
                for lane in at.mask {
                    let (index, _, touched) = place(lane);
                    let cell = &mut self.memory.shared_epochs[index];
                    alarm |= self.memory.parts.read(cell, touched, now, lane);
                }
                continue;
            };
            let register = warp.register_mut(*target);
            let words = register.words_mut();
            let mut symbolic = LaneMask::NONE;
            for lane in at.mask {
                let (index, start, touched) = place(lane);
                let cell = &mut self.memory.shared_epochs[index];
                alarm |= self.memory.parts.read(cell, touched, now, lane);
                match self.values.terms.packed.part(self.memory.shared[index], start, bytes) {
                    Some(Value::Bits(bits)) => words[lane] = bits,
                    Some(Value::Sym(sym)) => {
                        words[lane] = sym.raw();
                        symbolic |= LaneMask::of(lane);
                    }
                    Some(Value::Undefined(_)) | None => known = false,
                }
            }
            register.sym = register.sym & !at.mask | symbolic;
            register.undefined &= !at.mask;
        }
        if alarm { Err(Stop::NeedVectorClocks) } else { Ok(known) }
    }

    /// Loads the value of `bytes` bytes of an object, with race detection.
    pub(crate) fn load_value(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        offset: u64,
        bytes: u32,
    ) -> Result<Value, Stop> {
        let reader = at.pc;
        if let Backing::Tensor(number) = at.object.backing {
            let tensor = &self.context.launch.tensors[number as usize];
            if tensor.is_read_only()
                && let Some(value) = tensor.whole(offset, bytes, &mut self.values.terms.store, reader)
            {
                if let KnownFloats::Terms { given: true, .. } = self.context.launch.recognition.known
                    && let (Value::Bits(_), Some(at)) = (value, tensor.element_at(offset))
                    && let Element::Float(format) = at.tensor.element
                {
                    return Ok(self.values.reals().at_point(value, format, reader));
                }
                return Ok(value);
            }
        }
        self.gathered(warp, lane, at, offset, bytes, Self::read_cell)
    }

    /// Loads a word by `owner` on behalf of other lanes, as `ldmatrix` does; `readers` read it as well.
    #[inline]
    pub(crate) fn load_word(
        &mut self,
        warp: &mut Warp,
        at: &WarpAccess<'_>,
        offset: u64,
        (owner, readers): (Lane, LaneMask),
    ) -> Result<Value, Stop> {
        if let (Backing::Shared(first), Detector::Epoch(_)) = (at.object.backing, &self.sync.order) {
            let (now, index) = (self.sync.now(warp), (u64::from(first) + offset / 4) as usize);
            let cell = &mut self.memory.shared_epochs[index];
            if self.memory.parts.read_together(cell, WHOLE, now, readers | LaneMask::of(owner)) {
                return Err(Stop::NeedVectorClocks);
            }
            if let Some(value) = self.values.terms.packed.part(self.memory.shared[index], 0, 4) {
                return Ok(value);
            }
        }
        let value = self.load_value(warp, owner, at, offset, 4)?;
        for reader in readers {
            self.load_value(warp, reader, at, offset, 4)?;
        }
        Ok(value)
    }

    /// As [`Accesses::load_value`], without recording an access.
    pub(crate) fn held_value(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        offset: u64,
        bytes: u32,
    ) -> Result<Value, Stop> {
        self.gathered(warp, lane, at, offset, bytes, |accesses, warp, lane, at, cell, touched| {
            let content = accesses.peek(warp, lane, at, cell);
            accesses.is_known(at, cell, touched)?;
            Ok(content)
        })
    }

    /// Assembles the value of `bytes` bytes of an object from cells, which `read` returns.
    fn gathered(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        offset: u64,
        bytes: u32,
        mut read: impl FnMut(&mut Self, &mut Warp, Lane, &WarpAccess<'_>, u64, u8) -> Result<Cell, Stop>,
    ) -> Result<Value, Stop> {
        let reader = at.pc;
        let start = (offset % 4) as u32;
        let value = if start + bytes <= 4 {
            let content = read(self, warp, lane, at, offset / 4, WHOLE >> (4 - bytes) << start)?;
            match self.values.terms.packed.part(content, start, bytes) {
                Some(value) => value,
                None => self.values.terms.value_in(warp, lane, at, content, (start, bytes))?,
            }
        } else {
            let mut pieces = PackedParts::new();
            for cell in offset / 4..(offset + u64::from(bytes)).div_ceil(4) {
                let touched = byte_mask(offset, bytes, cell);
                let content = read(self, warp, lane, at, cell, touched)?;
                pieces.extend(content.pieces(&self.values.terms.packed, reader));
            }
            if bytes > 4 {
                self.values.terms.packed.join(&pieces)
            } else {
                self.values.terms.slice_of(warp, lane, at, &pieces, (start, bytes))?
            }
        };
        let value = self.values.defined_by_counting(lane, value);
        if matches!(self.sync.order, Detector::VectorClock(_))
            && let Some(origin) = self.values.terms.packed.undefined_part(value)
        {
            self.note_unwritten(warp, lane, at, (offset, bytes), origin);
        }
        Ok(value)
    }

    /// Reads the contents of a cell. `touched` is the mask of the bytes that the access reads.
    pub(crate) fn read_cell(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        touched: u8,
    ) -> Result<Cell, Stop> {
        match at.object.backing {
            Backing::Local(first) => {
                let content = warp.local[first as usize + cell as usize][lane];
                Ok(self.values.cell_under(content, self.values.terms.guards.of(lane)))
            }
            Backing::Shared(first) => {
                let index = first as usize + cell as usize;
                let now = self.sync.now(warp);
                if let Detector::VectorClock(_) = &self.sync.order {
                    if self.vector_clock_access(warp, lane, at, cell, touched, None)? {
                        return Ok(Cell::doubtful(at.pc));
                    }
                } else {
                    let cell = &mut self.memory.shared_epochs[index];
                    if self.memory.parts.read_by(at.agent, (cell, touched), now, lane) {
                        return Err(Stop::NeedVectorClocks);
                    }
                }
                Ok(self.values.cell_under(self.memory.shared[index], self.values.terms.guards.of(lane)))
            }
            Backing::Tensor(number) => {
                let tensor = &self.context.launch.tensors[number as usize];
                let reader = at.pc;
                if !tensor.is_given() {
                    self.is_known(at, cell, touched)?;
                }
                if tensor.is_read_only() {
                    return Ok(initial_cell(tensor, cell, self.values.making(), reader));
                }
                self.note_read_of_bag(warp, lane, number, at.pc)?;
                if let Detector::VectorClock(_) = &self.sync.order
                    && self.vector_clock_access(warp, lane, at, cell, touched, None)?
                {
                    return Ok(Cell::doubtful(at.pc));
                }
                let now = self.sync.now(warp);
                let by_epochs = matches!(self.sync.order, Detector::Epoch(_));
                let (page, parts) = self.memory.page(number, cell, tensor, self.values.making(), reader);
                let slot = (cell % PAGE as u64) as usize;
                // Only the vector-clock detector records reads by copies in flight.
                if by_epochs
                    && (matches!(at.agent, Agent::Copy { .. })
                        || parts.read_by(at.agent, (&mut page.epochs[slot], touched), now, lane))
                {
                    return Err(Stop::NeedVectorClocks);
                }
                let guard = self.values.terms.guards.of(lane);
                if guard == Guard::ALWAYS {
                    page.read[slot] |= touched;
                }
                let content = page.cells[slot];
                if at.access.read_only {
                    if guard == Guard::ALWAYS {
                        page.uncached[slot] |= touched;
                    }
                    let is_written = (page.written[slot] | page.updated[slot]) & touched != 0;
                    let access = Uncachable { guard, bytes: touched, writes: false };
                    self.check_uncached((warp, lane, at), (number, cell), access, is_written)?;
                }
                self.note_perhaps((number, cell), guard, touched, How::Reads);
                Ok(self.values.cell_under(content, self.values.terms.guards.of(lane)))
            }
        }
    }

    pub(crate) fn store_value(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        offset: u64,
        bytes: u32,
        value: Value,
    ) -> Result<(), Stop> {
        let value = self.values.terms.packed.narrowed(value, bytes);
        if bytes == 2 && offset.is_multiple_of(2) {
            let (cell, which) = (offset / 4, (offset / 2 % 2) as usize);
            let old = self.peek(warp, lane, at, cell);
            if let Some(content) = self.values.terms.packed.with_half(old, which, value, at.pc) {
                return self.write_cell(warp, lane, at, cell, 0b11 << (2 * which), content);
            }
        }
        let halves = if bytes == 8 { self.values.reals().halves_of_choice(value, at.pc) } else { None };
        let pieces = halves.unwrap_or_else(|| self.values.terms.packed.split(value, bytes));
        let kept = int_terms::slice(&pieces, 0, bytes, &mut self.values.terms.store);
        let Ok(pieces) = kept else {
            let message = format!("{} of a larger value stored", bytes_are(bytes));
            return Err(self.values.terms.cuts(message, value, warp, lane, at.pc));
        };
        for cell in offset / 4..(offset + u64::from(bytes)).div_ceil(4) {
            let touched = byte_mask(offset, bytes, cell);
            let old = if touched == 0xf { Cell::UNWRITTEN } else { self.peek(warp, lane, at, cell) };
            let start = (cell * 4).max(offset) - offset;
            let length = touched.count_ones();
            let Ok(new) = int_terms::slice(&pieces, start as u32, length, &mut self.values.terms.store)
            else {
                let message = "a value is stored in parts that split its elements".to_string();
                return Err(self.values.terms.cuts(message, value, warp, lane, at.pc));
            };
            let content = if touched == 0xf {
                Cell::from_pieces(&new, &mut self.values.terms.packed)
            } else {
                let old = old.pieces(&self.values.terms.packed, at.pc);
                let first = touched.trailing_zeros();
                let (Ok(mut pieces), Ok(after)) = (
                    int_terms::slice(&old, 0, first, &mut self.values.terms.store),
                    int_terms::slice(&old, first + length, 4 - first - length, &mut self.values.terms.store),
                ) else {
                    let (kind, message) = (
                        FaultKind::TypeMismatch,
                        format!("part of a value in `{}` is overwritten", at.object.name),
                    );
                    return Err(self.context.fault(kind, "M3", message, warp, lane, at.pc));
                };
                pieces.extend(new);
                pieces.extend(after);
                Cell::from_pieces(&pieces, &mut self.values.terms.packed)
            };
            self.write_cell(warp, lane, at, cell, touched, content)?;
        }
        Ok(())
    }

    /// The contents of a cell, without recording an access.
    pub(crate) fn peek(&mut self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>, cell: u64) -> Cell {
        match at.object.backing {
            Backing::Local(first) => warp.local[first as usize + cell as usize][lane],
            Backing::Shared(first) => self.memory.shared[first as usize + cell as usize],
            Backing::Tensor(number) => {
                let tensor = &self.context.launch.tensors[number as usize];
                let (page, _) = self.memory.page(number, cell, tensor, self.values.making(), at.pc);
                page.cells[(cell % PAGE as u64) as usize]
            }
        }
    }

    pub(crate) fn write_cell(
        &mut self,
        warp: &mut Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        touched: u8,
        content: Cell,
    ) -> Result<(), Stop> {
        let guard = self.values.terms.guards.of(lane);
        let content = self.stored_content(warp, lane, at, cell, content)?;
        match at.object.backing {
            Backing::Local(first) => warp.local[first as usize + cell as usize][lane] = content,
            Backing::Shared(first) => {
                let index = first as usize + cell as usize;
                let now = self.sync.now(warp);
                if let Detector::VectorClock(_) = &self.sync.order {
                    self.vector_clock_access(warp, lane, at, cell, touched, Some(content))?;
                } else {
                    let cell = &mut self.memory.shared_epochs[index];
                    if self.memory.parts.write_by(at.agent, (cell, touched), now, lane) {
                        return Err(Stop::NeedVectorClocks);
                    }
                }
                self.memory.shared[index] = content;
            }
            Backing::Tensor(number) => {
                if let Detector::VectorClock(_) = &self.sync.order {
                    self.vector_clock_access(warp, lane, at, cell, touched, Some(content))?;
                }
                let how = How::writing(at.agent);
                self.note_perhaps((number, cell), guard, touched, how);
                let tensor = &self.context.launch.tensors[number as usize];
                let now = self.sync.now(warp);
                let by_epochs = matches!(self.sync.order, Detector::Epoch(_));
                let (page, parts) = self.memory.page(number, cell, tensor, self.values.making(), at.pc);
                let slot = (cell % PAGE as u64) as usize;
                if by_epochs && parts.write_by(at.agent, (&mut page.epochs[slot], touched), now, lane) {
                    return Err(Stop::NeedVectorClocks);
                }
                page.cells[slot] = content;
                match (guard == Guard::ALWAYS, how) {
                    (true, How::Updates) => page.updated[slot] |= touched,
                    (true, How::Reads | How::Writes) => page.written[slot] |= touched,
                    (false, _) => page.perhaps[slot] |= touched,
                }
                if self.context.launch.reads_uncached {
                    let is_read = page.uncached[slot] & touched != 0;
                    let access = Uncachable { guard, bytes: touched, writes: true };
                    self.check_uncached((warp, lane, at), (number, cell), access, is_read)?;
                }
            }
        }
        Ok(())
    }
}

impl ValueTerms<'_> {
    pub(crate) fn addresses(
        &self,
        warp: &Warp,
        mask: LaneMask,
        address: Address,
        pc: InstId,
    ) -> Result<[u64; 32], Stop> {
        let mut scratch = None;
        let base = self.context.operand(warp, address.base, &mut scratch);
        if !base.is_concrete(mask) {
            let lane = mask.iter().find(|lane| !base.is_concrete(LaneMask::of(*lane))).unwrap_or_default();
            return Err(self.not_concrete(warp, base.get(lane), lane, pc, "an address"));
        }
        let mut out = *base.words();
        if address.offset != 0 {
            for word in &mut out {
                *word = word.wrapping_add_signed(address.offset);
            }
        }
        Ok(out)
    }

    /// The value of some bytes of a cell.
    pub(crate) fn value_in(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        content: Cell,
        (start, bytes): (u32, u32),
    ) -> Result<Value, Stop> {
        let reader = at.pc;
        if bytes == 4
            && let Some(value) = content.whole(reader)
        {
            return Ok(value);
        }
        let pieces = content.pieces(&self.packed, reader);
        if bytes == 4 {
            return Ok(self.packed.join(&pieces));
        }
        self.slice_of(warp, lane, at, &pieces, (start, bytes))
    }

    fn slice_of(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        pieces: &[PackedPart],
        (start, bytes): (u32, u32),
    ) -> Result<Value, Stop> {
        match int_terms::slice(pieces, start, bytes, &mut self.store) {
            Ok(slice) => Ok(self.packed.join(&slice)),
            Err(_) => {
                let whole = self.packed.join(pieces);
                let message = format!("{} read from within a larger value", bytes_are(bytes));
                Err(self.cuts(message, whole, warp, lane, at.pc))
            }
        }
    }

    /// The fault of taking a part of a value that is not an integer.
    #[cold]
    fn cuts(&self, message: String, value: Value, warp: &Warp, lane: Lane, pc: InstId) -> Stop {
        let what = self.describe_value(value);
        self.context.fault(FaultKind::TypeMismatch, "M3", format!("{message}: {what}"), warp, lane, pc)
    }
}

/// The bytes of `cell` that an access of `bytes` bytes at `offset` touches, as a mask.
fn byte_mask(offset: u64, bytes: u32, cell: u64) -> u8 {
    let (start, end) = (offset.max(cell * 4), (offset + u64::from(bytes)).min(cell * 4 + 4));
    (start..end).fold(0, |mask, at| mask | 1 << (at % 4))
}

fn bytes_are(bytes: u32) -> String {
    if bytes == 1 { "1 byte is".to_string() } else { format!("{bytes} bytes are") }
}

/// Registers loaded with an address of tensor memory hold its value from here on.
pub(super) fn load_tensor_address(warp: &mut Warp, mask: LaneMask, d: &[Option<RegId>]) {
    for d in d.iter().flatten() {
        for lane in mask {
            if let Value::Undefined(Origin::Columns(first)) = warp.register(*d).get(lane) {
                warp.register_mut(*d).set(lane, Value::Bits(first.into()));
            }
        }
    }
}
