//! Messages for accesses that are faults: races (Y1), accesses outside of objects and misaligned ones (M1).

use crate::base::lane::{Lane, LaneMask};
use crate::case::Element;
use crate::concurrency::agent::Agent;
use crate::concurrency::order::Access;
use crate::concurrency::race::Conflict;
use crate::launch::objects::{Backing, Object, has_owner, locate, owned, pretty_name};
use crate::machine::cta::accesses::{Accesses, WarpAccess};
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::terms::ValueTerms;
use crate::machine::group::warp::Warp;
use crate::machine::sync::synchronisation::Synchronisation;
use crate::program::{Address, Async, InstId, Op, Space, TENSOR_COLUMNS, TensorMemoryOp};
use crate::term::TermOp;
use crate::value::guard::Literal;
use crate::value::packed::Cell;
use crate::value::{Origin, SymKind, Value};
use crate::verdict::FaultKind;

/// No object lies below this address: an access there is one through a null pointer.
const NULL_PAGE: u64 = 1 << 16;

impl Accesses<'_, '_> {
    /// The fault of a race. `content` is what the later access, if it is a write, leaves in the cell; it decides
    /// whether both writes store the same value.
    #[cold]
    pub(crate) fn race_at(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        conflict: Conflict,
        content: Option<Cell>,
    ) -> Stop {
        if let Some(stop) = self.conflict_of_items(warp, lane, at, cell, &conflict) {
            return stop;
        }
        self.sync.raced = Some(at.number);
        let stored = content.and_then(|content| content.whole(at.pc));
        let origin = stored.and_then(|stored| self.values.terms.packed.undefined_part(stored));
        if let Some(origin @ Origin::Unevaluated(_)) = origin
            && conflict.is_of_one_store()
        {
            let message = "it is not known whether lanes store the same value to one place: an instruction that \
                           computes it is not supported";
            let kind = (FaultKind::Unsupported, "S2");
            return self.values.terms.undefined_fault(kind, message.into(), origin, (warp, lane, at.pc));
        }
        let same = content.filter(|_| conflict.is_of_writes()).is_some_and(|content| {
            let old = self.peek(warp, lane, at, cell);
            self.values.is_same_cell(old, content, at.pc)
        });
        let stop = self.sync.race(at.object, cell, conflict, same);
        if let Stop::Fault(fault) = stop {
            let guards = [conflict.earlier.guard, conflict.later.guard];
            let differ = self.stores_differ((warp, lane), at, cell, (&conflict, content));
            return self.values.terms.possibly(*fault, &guards, differ.as_slice());
        }
        stop
    }

    /// The condition that lanes which store together to one place do not store the same (rule Y1).
    fn stores_differ(
        &mut self,
        (warp, lane): (&Warp, Lane),
        at: &WarpAccess<'_>,
        cell: u64,
        (conflict, content): (&Conflict, Option<Cell>),
    ) -> Option<Literal> {
        let other = Lane::new(conflict.earlier.thread % 32);
        let together = conflict.is_of_one_store()
            && !self.context.options.rules.strict_stores
            && warp.go_together(lane, other);
        let (old, new) = (self.peek(warp, lane, at, cell).whole(at.pc)?, content?.whole(at.pc)?);
        let old = self.values.value_under(old, conflict.earlier.guard);
        let new = self.values.value_under(new, conflict.later.guard);
        let (Value::Sym(old), Value::Sym(new), true) = (old, new, together) else { return None };
        let terms = match (old.kind(), new.kind()) {
            (SymKind::Real(one, x), SymKind::Real(other, y)) if one == other => [x, y],
            (SymKind::Int(one, x), SymKind::Int(other, y)) if one == other => [x, y],
            _ => return None,
        };
        let condition = self.values.terms.store.apply(TermOp::Equal, &terms, at.pc);
        Some(Literal { condition, holds: false })
    }

    /// A conflict of two items of work that is no race in each schedule, or not for sure.
    fn conflict_of_items(
        &self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        cell: u64,
        conflict: &Conflict,
    ) -> Option<Stop> {
        let queue = self.sync.tickets.queue.as_ref()?;
        let why = if queue.key() == Some((at.number, cell)) {
            "it is accessed by other operations as well"
        } else if conflict.earlier.item == conflict.later.item {
            return None;
        } else if conflict.earlier.item == 0 && matches!(conflict.earlier.agent, Agent::Copy { .. }) {
            "a copy from before the first item may be over before all of them"
        } else if !queue.is_open() {
            "the last one that takes items does what others may have done"
        } else if self.context.launch.program.insts.iter().any(|inst| orders_memory(&inst.op)) {
            "fences, or operations that release or acquire, may order what different items do"
        } else {
            return None;
        };
        Some(self.context.unclear_draw(warp, lane, at, why))
    }

    /// Records the first read of an instruction that finds memory which no thread has written, for the message of a
    /// later fault.
    #[cold]
    pub(super) fn note_unwritten(
        &mut self,
        warp: &Warp,
        lane: Lane,
        at: &WarpAccess<'_>,
        (offset, bytes): (u64, u32),
        origin: Origin,
    ) {
        let how = match (origin, self.values.terms.packed.leaf(origin)) {
            (Origin::Partly(_), Origin::Unwritten(_)) => "which is written for some inputs only".to_owned(),
            (Origin::Unwritten(reader), _) if reader == at.pc => {
                match self.context.left_unwritten(at, offset) {
                    Some(why) => why,
                    None => "which nothing has written".into(),
                }
            }
            (_, _) => return,
        };
        if !self.unwritten.contains_key(&origin.raw()) {
            let place = self.context.spell_by(at.object, (offset, bytes), self.context.element_bytes(at.pc));
            let site = self.context.site(format!("reads {place}, {how}"), warp, lane, at.pc);
            self.unwritten.insert(origin.raw(), site);
        }
    }
}

/// How a message goes on about a place.
fn pronoun(place: &str) -> &'static str {
    let are_several = ["bytes ", "elements "].iter().any(|plural| place.starts_with(plural));
    if are_several { "them" } else { "it" }
}

/// A number of elements.
fn elements(number: u64) -> String {
    if number == 1 { "1 element".into() } else { format!("{number} elements") }
}

/// Whether an operation may order what different threads do.
fn orders_memory(op: &Op) -> bool {
    matches!(
        op,
        Op::Async(Async::Fence { .. } | Async::Publish { .. })
            | Op::Atomic { releases: true, .. }
            | Op::Atomic { acquires: true, .. }
    )
}

impl Synchronisation<'_> {
    #[cold]
    fn race(&self, object: &Object, cell: u64, conflict: Conflict, same_value: bool) -> Stop {
        let [one, other] = [conflict.earlier, conflict.later]
            .map(|access| access.thread as usize / (32 * self.context.launch.warps()));
        let shared = conflict.earlier.bytes & conflict.later.bytes;
        let first = cell * 4 + u64::from(shared.trailing_zeros());
        let widths = [conflict.earlier, conflict.later].map(|access| self.context.element_bytes(access.inst));
        let width = widths[0].filter(|_| widths[0] == widths[1]);
        let place = self.context.spell_by(object, (first, shared.count_ones()), width);
        let site = |access: &Access, writes| {
            let action = format!("{} {place}", self.context.verb(access, writes));
            self.context.site_of_thread(action, access.thread, access.inst)
        };
        let both = [&conflict.earlier, &conflict.later];
        let is_copy = matches!(conflict.earlier.agent, Agent::Copy { proxy: None, .. });
        let is_bulk = matches!(conflict.earlier.agent, Agent::Copy { proxy: Some(_), .. });
        let ops = both.map(|access| &self.context.launch.program.insts[access.inst.index()].op);
        let is_matrix = |op: &Op| matches!(op, Op::LoadFragment { .. } | Op::StoreFragment { .. });
        let is_of_products = matches!(ops[0], Op::Async(Async::Multiply(_)));
        let tensor_help = self.context.help_for_tensor_operation(conflict.earlier.inst);
        let is_of_a_warp = ops.into_iter().any(is_matrix);
        let is_of_one_store = same_value && conflict.earlier.inst == conflict.later.inst;
        let is_in_a_warp = conflict.earlier.thread / 32 == conflict.later.thread / 32;
        let sites = vec![site(both[0], conflict.earlier_writes), site(both[1], conflict.later_writes)];
        let who = |access: Access| self.context.launch.thread(self.context.linear, access.thread);
        if conflict.lacks_fence {
            let message = format!(
                "{} {} {place} (1) and, later, an asynchronous operation of {} {} {} (2), without a proxy fence in \
                 between",
                who(conflict.earlier),
                conflict.earlier.verb(conflict.earlier_writes),
                who(conflict.later),
                conflict.later.verb(conflict.later_writes),
                pronoun(&place),
            );
            let help = "add `fence.proxy.async`: in the thread that writes, before the barrier that orders the two, \
                        or in the thread that starts the operation, after that barrier";
            return self.context.fault_at(FaultKind::ProxyRace, "Y10", message, sites, Some(help.into()));
        }
        let later = self.context.verb(&conflict.later, conflict.later_writes);
        let message = format!(
            "{} {} {place} (1) and {} {later} {} (2), and nothing orders the two{}",
            who(conflict.earlier),
            self.context.verb(&conflict.earlier, conflict.earlier_writes),
            who(conflict.later),
            if later.ends_with(" at") { "it" } else { pronoun(&place) },
            if same_value { ", though both write the same value" } else { "" }
        );
        if conflict.is_of_operations() {
            let message = format!("{message}: what it holds depends on the schedule");
            let help = "unordered updates agree only if they are the same operation on the same type (Y7); a barrier \
                        between different ones, such as `__syncthreads()`, orders them";
            let (kind, help) = (FaultKind::Nondeterministic, Some(help.into()));
            return self.context.fault_at(kind, "Y7", message, sites, help);
        }
        let help = if conflict.earlier.item != conflict.later.item {
            "these are two items of work, or an item and what comes before the first one: others may take them at the \
             same time (Y18)"
        } else if let Some(help) = tensor_help {
            help
        } else if conflict.earlier.agent == Agent::Maker {
            "`mbarrier.init` and `mbarrier.inval` are visible to other threads of the CTA after a barrier such as \
             `__syncthreads()`, and to other CTAs after `fence.mbarrier_init.release.cluster` and a barrier of the \
             cluster"
        } else if is_copy {
            "an asynchronous copy is in flight until its thread has waited for it (`cp.async.wait_group`), and is \
             visible to other threads after a barrier that follows that wait"
        } else if is_of_products {
            "a product of a warpgroup reads its factors until its warp has waited for its group \
             (`wgmma.commit_group`, `wgmma.wait_group`); for other warps, until a barrier after that wait"
        } else if is_bulk {
            "a bulk copy is in flight until the phase of its barrier is complete or its group has been waited for, \
             and is complete for the threads that wait"
        } else if is_of_a_warp {
            "it is not specified by which lane of the warp a `wmma` operation accesses an element, so it may be this \
             one; `__syncwarp()` orders it with the other lanes, `__syncthreads()` with the whole block"
        } else if both.into_iter().all(|access| self.context.is_exchange(access)) {
            "the last one of unordered exchanges decides: use an operation that commutes, such as a maximum or a sum, or \
             order them by a barrier"
        } else if is_of_one_store && is_in_a_warp {
            "lanes of a warp that store the same value do not race if one instruction stores it, that is, if they \
             have taken the same branches since a barrier, a `__syncwarp()` or a shuffle of all of them (and the case \
             is not `strict_stores`)"
        } else if is_in_a_warp {
            "threads of one warp do not run in lockstep; between the two accesses, `__syncwarp()` orders the threads \
             of a warp, `__syncthreads()` those of the block"
        } else if both.into_iter().any(|access| self.context.polls_plainly(access)) {
            "a loop that waits for another thread loads by strong operations, and that thread stores by them: \
             `ld.acquire` and `st.release` (`cuda::atomic_ref`), `volatile` with fences, or atomics"
        } else if one != other && conflict.later.agent.goes_with(conflict.earlier.agent) {
            // They would not race if their scopes contained both threads.
            "an operation whose scope is the block (`atomicAdd_block`, `.cta`) is atomic for threads of its own CTA \
             alone: for those of others its scope must be the device (`atomicAdd`, `.gpu`), or in a cluster `.cluster`"
        } else if one != other && self.context.launch.cooperative {
            "a barrier of the whole grid between the two accesses, such as `grid.sync()`, orders them, or a flag \
             that is released after the first and acquired before the second; `__syncthreads()` orders one CTA only"
        } else if one != other {
            "a barrier of the whole cluster between the two accesses, such as `cluster.sync()`, orders them; \
             `__syncthreads()` orders one CTA only"
        } else {
            "a barrier that both threads pass between the two accesses, such as `__syncthreads()`, orders them"
        };
        let mut stop = self.context.fault_at(FaultKind::Race, "Y1", message, sites, Some(help.into()));
        if let Stop::Fault(fault) = &mut stop {
            fault.timeline = self.meetings.timeline(self.context.launch, self.context.linear, both);
        }
        stop
    }
}

impl Context<'_> {
    /// Checks that an object may be written.
    pub(crate) fn writable(&self, warp: &Warp, at: &WarpAccess<'_>, bytes: u32) -> Result<(), Stop> {
        let lane = at.mask.first();
        let Backing::Tensor(number) = at.object.backing else { return Ok(()) };
        if !self.launch.tensors[number as usize].is_read_only() {
            return Ok(());
        }
        if at.object.space != Space::Global {
            let message = format!("`{}` cannot be written", at.object.name);
            return Err(self.fault(FaultKind::ReadOnly, "M1", message, warp, lane, at.pc));
        }
        let place = self.spell(at.object, at.offsets[lane], bytes);
        let message = format!("{place} is written, but it is an input");
        let site = self.site(format!("writes {place}"), warp, lane, at.pc);
        let help = "declare it `inout` (or `out`) if the kernel is meant to write it";
        Err(self.fault_at(FaultKind::ReadOnly, "M4", message, vec![site], Some(help.into())))
    }

    /// Whether an access is a plain load of a loop that only waits.
    fn polls_plainly(&self, access: &Access) -> bool {
        let op = &self.launch.program.insts[access.inst.index()].op;
        matches!(op, Op::Load { access, .. } if access.waits && access.strong.is_none())
    }

    /// Whether an access is an atomic exchange of whose result nothing is used: such a one is executed as a store.
    fn is_exchange(&self, access: &Access) -> bool {
        let is_store = matches!(self.launch.program.insts[access.inst.index()].op, Op::Store { .. });
        is_store && self.launch.place(access.inst).is_some_and(|place| place.text.contains(".exch."))
    }

    /// The verb for an access, as used in messages.
    fn verb(&self, access: &Access, writes: bool) -> String {
        let op = &self.launch.program.insts[access.inst.index()].op;
        let frees = matches!(op, Op::Async(Async::Tensor(TensorMemoryOp::Free { .. })));
        match (frees, self.is_exchange(access)) {
            (true, _) => "frees".into(),
            (false, true) => "exchanges".into(),
            (false, false) => access.verb(writes),
        }
    }

    /// Help for a race with an operation on tensor memory: how a thread knows that the operation is complete (Y14).
    /// `None` for other operations.
    fn help_for_tensor_operation(&self, inst: InstId) -> Option<&'static str> {
        let Op::Async(Async::Tensor(operation)) = &self.launch.program.insts[inst.index()].op else {
            return None;
        };
        Some(match operation {
            TensorMemoryOp::Multiply(_) => {
                "a product is in flight until the barrier to which its thread has committed it (`tcgen05.commit`) \
                 completes the phase, and is complete for the threads that wait for that; only products of one shape \
                 into one accumulator are ordered without a wait, if one thread starts them or `tcgen05.fence` is \
                 between them"
            }
            TensorMemoryOp::Copy { .. } => {
                "a copy to tensor memory is in flight until the barrier to which its thread has committed it \
                 (`tcgen05.commit`) completes the phase, and is complete for the threads that wait for that; only \
                 products are ordered after it without a wait, if one thread starts them or `tcgen05.fence` is \
                 between them"
            }
            TensorMemoryOp::Load { .. } => {
                "a load from tensor memory is in flight until its warp has waited for it (`tcgen05.wait::ld`); for \
                 other threads, until a barrier after that wait"
            }
            TensorMemoryOp::Store { .. } => {
                "a store to tensor memory is in flight until its warp has waited for it (`tcgen05.wait::st`); for \
                 other threads, until a barrier after that wait"
            }
            TensorMemoryOp::Allocate { .. }
            | TensorMemoryOp::Free { .. }
            | TensorMemoryOp::Relinquish { .. }
            | TensorMemoryOp::Wait { .. }
            | TensorMemoryOp::Fence { .. } => {
                "a barrier that both threads pass between the two accesses, such as `__syncthreads()`, orders them"
            }
        })
    }

    /// What earlier steps of the side wrote to a tensor, in words; `None` in the first step, and for other objects.
    fn left_unwritten(&self, at: &WarpAccess<'_>, offset: u64) -> Option<String> {
        let Backing::Tensor(number) = at.object.backing else { return None };
        let tensor = &self.launch.tensors[number as usize];
        let before = self.launch.before.as_ref()?;
        Some(before.writers((tensor.param?, offset / u64::from(tensor.element.bytes()))))
    }

    #[cold]
    pub(super) fn uncached_conflict(&self, warp: &Warp, lane: Lane, at: &WarpAccess<'_>) -> Stop {
        let place = self.spell(at.object, at.offsets[lane], 4);
        let message = format!(
            "{place} is read through the read-only cache (`ld.global.nc`) and written in the same launch"
        );
        let site = self.site(format!("accesses {place}"), warp, lane, at.pc);
        let help = "do not use `__ldg` or `const __restrict__` for memory that the kernel writes";
        self.fault_at(FaultKind::Race, "M4", message, vec![site], Some(help.into()))
    }

    #[cold]
    pub(crate) fn outside(
        &self,
        warp: &Warp,
        lane: Lane,
        pc: InstId,
        (space, address): (Space, u64),
        bytes: u32,
        writes: bool,
    ) -> Stop {
        let verb = if writes { "writes" } else { "reads" };
        let fault = |message: String, action: String, help: String| {
            let site = self.site(action, warp, lane, pc);
            self.fault_at(FaultKind::OutOfBounds, "M1", message, vec![site], Some(help))
        };
        let objects = &self.launch.objects;
        // Farther away, a distance would depend on the layout of objects rather than on the kernel.
        let Some((number, offset)) = objects.find(space, address) else {
            if matches!(space, Space::Global | Space::Generic) && address < NULL_PAGE {
                let message = format!("{verb} {bytes} bytes at address {address}: by a null pointer");
                let help =
                    "an argument 0 is a null pointer: name a tensor in `args`, or let the kernel test for it";
                return fault(message, format!("{verb} by a null pointer"), help.into());
            }
            if has_owner(space, address) {
                let message = format!("{verb} {bytes} bytes of local memory that belongs to another thread");
                let help = "local memory is private to its thread: share by shared or global memory";
                return fault(message, format!("{verb} there"), help.into());
            }
            let message = format!("{verb} {bytes} bytes at an address far from every object");
            return self.fault(FaultKind::OutOfBounds, "M1", message, warp, lane, pc);
        };
        let object = objects.get(number);
        if space == Space::Shared && object.rank != warp.rank {
            let message = format!(
                "{verb} `{}` in the shared memory of another CTA of the cluster by `.shared`, which means the \
                 thread's own CTA",
                pretty_name(&object.name)
            );
            let help = "use `.shared::cluster`, or a generic address";
            return fault(message, format!("{verb} there"), help.into());
        }
        let has_fields = match object.backing {
            Backing::Tensor(number) => self.launch.tensors[number as usize].has_fields(),
            Backing::Shared(_) | Backing::Local(_) => false,
        };
        let width = object.element.map(Element::bytes).or_else(|| self.element_bytes(pc));
        let width = width.filter(|width| {
            !has_fields
                && offset % i64::from(*width) == 0
                && object.size.is_multiple_of(u64::from(*width))
                && bytes >= *width
        });
        let name = pretty_name(&object.name);
        let size = i64::try_from(object.size).unwrap_or(i64::MAX);
        let relation = if offset < 0 {
            "before its start"
        } else if offset >= size {
            "past its end"
        } else {
            "across its end"
        };
        let (place, what) = match width {
            Some(width) => {
                let (first, count) = (offset / i64::from(width), bytes / width);
                let place = match count {
                    1 => format!("element {first}"),
                    _ => format!("elements {first} to {}", first + i64::from(count) - 1),
                };
                let kind = match object.element {
                    Some(element) => element.name().to_string(),
                    None => format!("{width} bytes"),
                };
                (place, format!("{} of {kind}", elements(object.size / u64::from(width))))
            }
            None => (format!("{bytes} bytes from byte {offset}"), format!("{} bytes", object.size)),
        };
        let message = format!("{verb} {place} of `{name}`, {relation}: it has {what}");
        let is_dynamic = matches!(object.backing, Backing::Shared(_))
            && object.size <= u64::from(self.launch.dynamic_shared)
            && self.launch.program.variables.iter().any(|variable| {
                variable.space == Space::Shared && variable.size.is_none() && variable.name == object.name
            });
        let help = if is_dynamic {
            format!(
                "`{name}` is dynamic shared memory, of which the launch gives {0} bytes: `shared = {1}` in the case's \
                 table of this kernel, say",
                self.launch.dynamic_shared,
                u64::try_from(offset).unwrap_or(0) + u64::from(bytes)
            )
        } else {
            "check the guard and the index, and the grid and shapes that the case gives".into()
        };
        fault(message, format!("{verb} outside `{name}`"), help)
    }

    /// The number of bytes of an element that an instruction reads or writes, if its operation fixes it.
    pub(super) fn element_bytes(&self, inst: InstId) -> Option<u32> {
        let op = &self.launch.program.insts.get(inst.index())?.op;
        if let Op::Load { width, .. } | Op::Store { width, .. } = op {
            Some(width.bytes())
        } else if let Op::Atomic { update, .. } = op {
            Some(update.bytes())
        } else if let Op::Swap(swap) = op {
            Some(swap.width.bytes())
        } else {
            None
        }
    }

    #[cold]
    pub(crate) fn misaligned(&self, warp: &Warp, at: &WarpAccess<'_>, total: u32) -> Stop {
        let lane = at.mask.iter().find(|lane| !at.offsets[*lane].is_multiple_of(u64::from(total)));
        let name = pretty_name(&at.object.name);
        let is_misplaced = lane.is_some();
        let message = match lane.map(|lane| at.offsets[lane]) {
            Some(offset) => {
                format!(
                    "{total} bytes at once at byte {offset} of `{name}`, which is not a multiple of {total}"
                )
            }
            None => {
                format!(
                    "{total} bytes at once in `{name}`, which is aligned to {} bytes only",
                    at.object.align
                )
            }
        };
        let lane = lane.unwrap_or(at.mask.first());
        let site = self.site(format!("accesses {total} bytes"), warp, lane, at.pc);
        let is_of_a_matrix = matches!(
            self.launch.program.insts[at.pc.index()].op,
            Op::LoadFragment { .. }
                | Op::StoreFragment { .. }
                | Op::LoadMatrix { .. }
                | Op::StoreMatrix { .. }
        );
        let help = match (is_misplaced, is_of_a_matrix) {
            (true, true) => {
                format!("a matrix must begin at a multiple of {total} bytes: at an index that is one")
            }
            (true, false) => {
                format!("the index must lead to a multiple of {total} bytes; or access single elements")
            }
            (false, true) => format!("declare the variable with `__align__({total})`"),
            (false, false) => {
                format!("declare the variable with `__align__({total})`, or access single elements")
            }
        };
        self.fault_at(FaultKind::Misaligned, "M1", message, vec![site], Some(help))
    }

    /// Names a range of bytes in an object: `y[3]`, ``bytes 16–19 of `s` ``.
    pub(crate) fn spell(&self, object: &Object, offset: u64, bytes: u32) -> String {
        self.spell_by(object, (offset, bytes), None)
    }

    /// As [`Context::spell`]; ``element 4 of `s` `` where the object is accessed by elements of the given width, in bytes.
    pub(super) fn spell_by(
        &self,
        object: &Object,
        (offset, bytes): (u64, u32),
        width: Option<u32>,
    ) -> String {
        let is_of_one = object.space == Space::Shared && self.launch.ranks() > 1;
        let of = if self.launch.cooperative { "" } else { "the cluster's " };
        let whose = if is_of_one { format!(" of {of}CTA {}", object.rank) } else { String::new() };
        let name = pretty_name(&object.name);
        if object.space == Space::Tensor {
            let cell = offset / 4;
            let (lane, column) = (cell / u64::from(TENSOR_COLUMNS), cell % u64::from(TENSOR_COLUMNS));
            let whose =
                if self.launch.ranks() > 1 { format!(" of {of}CTA {}", object.rank) } else { String::new() };
            return format!("lane {lane}, column {column} of tensor memory{whose}");
        }
        if let Backing::Tensor(number) = object.backing
            && let tensor = &self.launch.tensors[number as usize]
            && let Some(at) = tensor.element_at(offset)
            // In a tensor of structs, the bytes behind the element belong to another field or to padding.
            && (!tensor.has_fields() || at.byte + u64::from(bytes) <= u64::from(at.tensor.element.bytes()))
            && let Some(name) = self.launch.spell(at)
        {
            return name;
        }
        if let Some(width) = width.map(u64::from).filter(|width| object.size.is_multiple_of(*width)) {
            let (first, last) = (offset / width, (offset + u64::from(bytes) - 1) / width);
            return match last - first {
                0 if object.size == width => format!("`{name}`{whose}"),
                0 => format!("element {first} of `{name}`{whose}"),
                _ => format!("elements {first} to {last} of `{name}`{whose}"),
            };
        }
        match bytes {
            0 => format!("`{name}`{whose}"),
            1 => format!("byte {offset} of `{name}`{whose}"),
            _ => format!("bytes {offset}–{} of `{name}`{whose}", offset + u64::from(bytes) - 1),
        }
    }
}

impl ValueTerms<'_> {
    /// Checks that an address computed from numbers alone is not, by chance, the address of an object (M1).
    pub(crate) fn leads_nowhere(
        &self,
        warp: &Warp,
        mask: LaneMask,
        pc: InstId,
        (space, address): (Space, Address),
    ) -> Result<(), Stop> {
        let addresses = self.addresses(warp, mask, address, pc)?;
        let is_somewhere = |lane: &Lane| {
            let (own, inner) = owned(locate(space, addresses[*lane]), warp.thread(*lane));
            self.context.launch.objects.find(own, inner).is_some()
        };
        let Some(lane) = mask.iter().find(is_somewhere) else { return Ok(()) };
        let message = "an address that is computed from numbers alone is not that of any object".to_string();
        let site = self.context.site("accesses memory there".into(), warp, lane, pc);
        let help = "compute it from the address of a variable, or from a pointer that the kernel takes";
        Err(self.context.fault_at(FaultKind::OutOfBounds, "M1", message, vec![site], Some(help.into())))
    }
}
