//! A CTA, or the CTAs of a cluster: threads that run one at a time, in an order that a seed determines, and the
//! operations at which they meet.
//!
//! A thread runs until it ends or has to wait. Lanes meet at collectives ([`super::warp`]), warps at barriers: a warp
//! has arrived when all its threads that have not exited are there.

use std::collections::BTreeMap;

use super::decode::{DecodedFunction, Formal, Program};
use super::memory::{self, DYNAMIC, Object, Objects, STATIC_END};
use super::op::{Address, AtomicOp, Barrier, Op, Passed, Reduction, Source, Space};
use super::phase::Phases;
use super::random::Random;
use super::tensor_memory::TensorMemory;
use super::thread::{self, Copy, Launch, State, Thread};
use super::warpgroup::Products;
use super::{float, integer};

/// The most instructions that a thread executes before another one may run.
const BURST: usize = 48;

/// How a thread continues after an instruction.
enum Step {
    Next,
    Jump(usize),
    /// Into or out of a function; the program counter has been set.
    Moved,
    Wait(State),
    Exit,
}

/// A barrier that is not complete.
#[derive(Clone, Debug, Default)]
struct Meeting {
    /// Warps that have arrived.
    arrived: Vec<usize>,
    /// Those of them that wait.
    waiting: Vec<usize>,
    /// The number of threads that it needs, if not all.
    count: Option<u64>,
}

/// A CTA while it runs, or all CTAs of a cluster.
pub struct Cta<'r> {
    pub(super) program: &'r Program,
    /// The launches of its CTAs, by their rank in the cluster.
    pub(super) launches: Vec<Launch>,
    pub(super) threads: Vec<Thread>,
    pub(super) shared: Objects,
    pub(super) global: &'r mut Objects,
    pub(super) random: &'r mut Random,
    /// By thread, the lanes that it waits for at a collective.
    pub(super) masks: Vec<u32>,
    /// Threads that can run.
    pub(super) ready: Vec<usize>,
    /// Sixteen for each CTA.
    barriers: Vec<Meeting>,
    /// The barrier of the cluster: the number of completed phases, and for each thread the phase in which it has
    /// arrived and not yet waited.
    cluster: (u64, Vec<Option<u64>>),
    /// Barriers in shared memory, and bulk copies.
    pub(super) phases: Phases,
    /// Products of warpgroups, by warp.
    pub(super) products: BTreeMap<usize, Products<'r>>,
    /// Tensor memory, and products into it.
    pub(super) tensor_memory: TensorMemory<'r>,
    /// The number of instructions that may still be executed.
    pub(super) budget: u64,
}

impl<'r> Cta<'r> {
    /// The CTAs of a cluster before their first instruction. Shared memory has arbitrary contents.
    pub fn new(
        program: &'r Program,
        launches: Vec<Launch>,
        arguments: &[u8],
        global: &'r mut Objects,
        random: &'r mut Random,
        budget: u64,
    ) -> Cta<'r> {
        let kernel = &program.functions[program.entry];
        let (mut threads, mut shared) = (Vec::new(), Vec::new());
        for (rank, launch) in launches.iter().enumerate() {
            // Each CTA begins with a new warp. Thread numbers in between count as returned.
            let empty = threads.len().next_multiple_of(32) - threads.len();
            threads.extend((0..empty).map(|_| Thread::absent()));
            let own =
                (0..launch.threads()).map(|linear| Thread::new(linear, program.entry, kernel, arguments));
            threads.extend(own);
            let fixed = random.bytes(program.shared_bytes as usize);
            let dynamic = random.bytes(launch.dynamic_shared as usize);
            let base = memory::shared_of(rank);
            shared.push(Object::new(base + DYNAMIC, dynamic));
            shared.push(Object::new(base + STATIC_END - program.shared_bytes, fixed));
        }
        Cta {
            program,
            shared: Objects(shared),
            global,
            random,
            masks: vec![0; threads.len()],
            ready: (0..threads.len()).filter(|number| threads[*number].state == State::Ready).collect(),
            barriers: vec![Meeting::default(); 16 * launches.len()],
            cluster: (0, vec![None; threads.len()]),
            launches,
            threads,
            phases: Phases::default(),
            products: BTreeMap::new(),
            tensor_memory: TensorMemory::new(),
            budget,
        }
    }

    /// The number of warps of each CTA.
    fn warps(&self) -> usize {
        self.launches[0].threads().div_ceil(32)
    }

    /// The rank of a thread's CTA in the cluster.
    pub(super) fn rank(&self, number: usize) -> usize {
        number / 32 / self.warps()
    }

    /// The CTA, among those that run together, of this rank in the cluster of a thread's CTA. CTAs of a cooperative grid,
    /// which run together, are clusters of their own.
    pub(super) fn of_cluster(&self, number: usize, rank: usize) -> Option<usize> {
        let launch = self.launch(number);
        let ranks: u32 = launch.in_cluster().iter().product();
        (rank < ranks as usize).then(|| self.rank(number) - launch.rank() + rank)
    }

    /// The launch of a thread's CTA.
    pub(super) fn launch(&self, number: usize) -> Launch {
        self.launches[self.rank(number)]
    }

    /// Runs all threads to their ends.
    ///
    /// # Errors
    /// A fault, with its place.
    pub fn run(&mut self) -> Result<(), String> {
        while !self.ready.is_empty() {
            let at = self.random.below(self.ready.len());
            let number = self.ready[at];
            self.progress_copies(number)?;
            self.progress_bulk(false).map_err(|error| self.located(number, &error))?;
            self.progress_tensor(false).map_err(|error| self.located(number, &error))?;
            self.progress_products(number / 32).map_err(|error| self.located(number, &error))?;
            for _ in 0..=self.random.below(BURST) {
                self.budget = self.budget.checked_sub(1).ok_or("it runs for too long")?;
                self.note_idle(number).map_err(|error| self.located(number, &error))?;
                self.step(number).map_err(|error| self.located(number, &error))?;
                if self.threads[number].state != State::Ready {
                    self.ready.swap_remove(at);
                    self.meet(number).map_err(|error| self.located(number, &error))?;
                    break;
                }
            }
        }
        match self.threads.iter().position(|thread| thread.state != State::Exited) {
            None => {
                self.progress_bulk(true)?;
                self.progress_tensor(true)
            }
            Some(number) => Err(self.located(number, "it waits forever")),
        }
    }

    fn located(&self, number: usize, error: &str) -> String {
        let Some(frame) = self.threads[number].frames.last() else {
            return format!("thread {number}: {error}");
        };
        let function = &self.program.functions[frame.function];
        let line = function.code.get(frame.pc).map_or(0, |instruction| instruction.line);
        format!("{}, line {line}, thread {number}: {error}", function.name)
    }

    /// Executes the next instruction of a thread.
    fn step(&mut self, number: usize) -> Result<(), String> {
        let program = self.program;
        let thread = &mut self.threads[number];
        let frame = thread.frame();
        let function = &program.functions[frame.function];
        let step = match function.code.get(frame.pc) {
            None => self.execute(number, &Op::Return)?,
            Some(instruction) => match instruction.guard {
                Some((guard, negated)) if (frame.registers[guard as usize] & 1 == 1) == negated => Step::Next,
                _ => self.execute(number, &instruction.op)?,
            },
        };
        let thread = &mut self.threads[number];
        match step {
            Step::Next => thread.frame_mut().pc += 1,
            Step::Jump(target) => thread.frame_mut().pc = target,
            Step::Moved => {}
            Step::Wait(state) => thread.state = state,
            Step::Exit => {
                while !self.threads[number].copies.is_empty() {
                    self.copy(number, 0)?;
                }
                self.threads[number].state = State::Exited;
            }
        }
        Ok(())
    }

    fn execute(&mut self, number: usize, op: &'r Op) -> Result<Step, String> {
        let launch = self.launch(number);
        let thread = &mut self.threads[number];
        match op {
            Op::Nothing => {}
            Op::Move { d, s, bits } => {
                let value = thread.get(*s, &launch);
                thread.set(*d, value & float::mask(*bits));
            }
            Op::Int { op, ty, d, s } => {
                let operands = s.map(|source| thread.get(source, &launch));
                thread.set(*d, integer::compute(*op, *ty, operands)?);
            }
            Op::Carry { op, ty, carry_in, carry_out, d, s } => {
                let operands = s.map(|source| thread.get(source, &launch));
                let carry = *carry_in && thread.carry;
                let (result, out) = thread::carry(*op, *ty, operands, carry)?;
                thread.set(*d, result);
                if *carry_out {
                    thread.carry = out;
                }
            }
            Op::Float { op, style, d, s } => {
                let operands = s.map(|source| thread.get(source, &launch));
                thread.set(*d, thread::compute_float(*op, *style, operands));
            }
            Op::Load { d, bytes, signed, from } => self.load(number, d, *bytes, *signed, *from)?,
            Op::Store { s, bytes, to } => self.store(number, s, *bytes, *to)?,
            Op::StoreAsync { s, bytes, to, barrier, update } => {
                self.store_async(number, (s, *bytes, *update), (*to, *barrier))?;
            }
            Op::Clear { to, bytes } => {
                let bytes = thread.get(*bytes, &launch);
                let (space, at) = self.address(number, *to, 8)?;
                for offset in (0..bytes).step_by(8) {
                    self.write(number, space, at + offset, 8, 0)?;
                }
            }
            Op::Setp { test, p, q } => {
                let [a, b] = test.operands.map(|source| thread.get(source, &launch));
                let value = thread::compare(test, a, b);
                let result = |value: bool| match test.combine {
                    None => u64::from(value),
                    Some((op, with)) => u64::from(thread::combine(op, value, thread.get(with, &launch))),
                };
                let (first, second) = (result(value), result(!value));
                thread.set_some(*p, first);
                thread.set_some(*q, second);
            }
            Op::Set { test, ty, d } => {
                let [a, b] = test.operands.map(|source| thread.get(source, &launch));
                let mut value = thread::compare(test, a, b);
                if let Some((op, with)) = test.combine {
                    value = thread::combine(op, value, thread.get(with, &launch));
                }
                let holds = if let super::op::Type::Float(format) = ty {
                    float::from_f64(*format, 1.0, float::Round::NearestTiesToEven)
                } else {
                    float::mask(ty.bits())
                };
                thread.set(*d, if value { holds } else { 0 });
            }
            Op::Branch(target) => return Ok(Step::Jump(*target)),
            Op::BranchIndexed { index, targets } => {
                let index = thread.get(*index, &launch) as u32 as usize;
                return targets.get(index).map(|at| Step::Jump(*at)).ok_or_else(|| "no such branch".into());
            }
            Op::Select { d, bits, a, b, p } => {
                let source = if thread.get(*p, &launch) & 1 == 1 { a } else { b };
                let value = thread.get(*source, &launch);
                thread.set(*d, value & float::mask(*bits));
            }
            Op::Slct { d, bits, ty, s } => {
                let [a, b, c] = s.map(|source| thread.get(source, &launch));
                let first = if let super::op::Type::Float(format) = ty {
                    float::to_f64(*format, c) >= 0.0
                } else {
                    integer::sign_extend(c, ty.bits()) >= 0
                };
                thread.set(*d, if first { a } else { b } & float::mask(*bits));
            }
            Op::Pack { d, bits, parts } => {
                let part = |at: usize| thread.get(parts[at], &launch) & float::mask(*bits);
                let value = (0..parts.len()).fold(0, |sum, at| sum | part(at) << (*bits * at as u32));
                thread.set(*d, value);
            }
            Op::Unpack { d, bits, s } => {
                let value = thread.get(*s, &launch);
                for (at, register) in d.iter().enumerate() {
                    thread.set_some(*register, value >> (*bits * at as u32) & float::mask(*bits));
                }
            }
            Op::IntPair { op, ty, d, s } => {
                let operands = s.map(|source| thread.get(source, &launch));
                thread.set(*d, thread::compute_pair(*op, *ty, operands)?);
            }
            Op::Insert { bits, d, s } => {
                let [a, b, start, length] = s.map(|source| thread.get(source, &launch));
                thread.set(*d, integer::insert(*bits, a, b, start, length));
            }
            Op::Convert(conversion) => {
                let operands = conversion.operands.map(|source| thread.get(source, &launch));
                thread.set(conversion.d, thread::convert(conversion, operands)?);
            }
            Op::Testp { d, format, what, a } => {
                let value = thread.get(*a, &launch);
                thread.set(*d, u64::from(thread::is_of_class(*format, *what, value)));
            }
            Op::IsSpace { d, space, a } => {
                let (held, _) = memory::place(thread.get(*a, &launch));
                thread.set(*d, u64::from(held == *space));
            }
            Op::MapToCta { d, a, rank, space } => {
                let (address, rank) = (thread.get(*a, &launch), thread.get(*rank, &launch) & 0xffff_ffff);
                let (held, at) =
                    if *space == Space::Generic { memory::place(address) } else { (*space, address) };
                let cta = self.of_cluster(number, rank as usize).filter(|_| held == Space::Shared);
                let cta = cta.ok_or("no address in the shared memory of the cluster")?;
                let there = memory::in_cta(at, cta);
                let mapped = if *space == Space::Generic { memory::generic(held, there) } else { there };
                self.threads[number].set(*d, mapped);
            }
            Op::CtaRank { d, a, space } => {
                let address = thread.get(*a, &launch);
                let (_, at) =
                    if *space == Space::Generic { memory::place(address) } else { (*space, address) };
                let at = memory::in_cluster(at, launch.window);
                let first = self.of_cluster(number, 0).ok_or("a cluster has a CTA")?;
                self.threads[number].set(*d, memory::rank_at(at) - first as u64);
            }
            Op::ArriveAtCluster => {
                let (phase, arrived) = &mut self.cluster;
                if arrived[number].replace(*phase).is_some() {
                    return Err("it arrives at the cluster's barrier twice".into());
                }
                self.complete_cluster();
            }
            Op::WaitForCluster => {
                let (phase, arrived) = &mut self.cluster;
                let of = arrived[number].ok_or("it has not arrived at the cluster's barrier")?;
                if of == *phase {
                    return Ok(Step::Wait(State::AtCluster));
                }
                arrived[number] = None;
            }
            Op::ToGeneric { d, space, a } => {
                let value = thread.get(*a, &launch);
                thread.set(*d, memory::generic(*space, value));
            }
            Op::FromGeneric { d, space, a } => {
                let (held, at) = memory::place(thread.get(*a, &launch));
                if held != *space {
                    return Err(format!("a generic address of {held:?} is converted to one of {space:?}"));
                }
                thread.set(*d, at);
            }
            Op::Atomic { op, d, bytes, at, s } => self.atomic(number, *op, *d, *bytes, *at, s)?,
            Op::CopyAsync { to, from, bytes, take, ignore } => {
                let take = take.map_or(u64::from(*bytes), |source| thread.get(source, &launch) & 0xffff_ffff);
                let ignored = ignore.is_some_and(|source| thread.get(source, &launch) & 1 == 1);
                let take = if ignored { 0 } else { take.min(u64::from(*bytes)) as u32 };
                let group = thread.groups;
                let (_, to) = self.address(number, *to, *bytes)?;
                let (space, from) = self.address(number, *from, *bytes)?;
                if space != Space::Global {
                    return Err("a copy does not read global memory".into());
                }
                self.threads[number].copies.push(Copy { group, to, from, bytes: *bytes, take });
            }
            Op::CommitGroup => thread.groups += 1,
            Op::Phase { at, op } => self.phase(number, *at, op)?,
            Op::Bulk(copy) => self.start_bulk(number, copy)?,
            Op::TensorProduct(product) => self.start_tensor_product(number, product),
            Op::TensorCopy(copy) => self.start_tensor_copy(number, *copy),
            Op::CommitBulk => self.commit_bulk(number),
            Op::WaitBulk(newest) => self.wait_bulk(number, *newest)?,
            Op::WaitGroup(newest) => {
                let below = newest.map_or(u64::MAX, |newest| thread.groups.saturating_sub(newest));
                while let Some(at) = self.threads[number].copies.iter().position(|copy| copy.group < below) {
                    self.copy(number, at)?;
                }
            }
            // Threads run alone: no other lane is active.
            Op::Activemask { d } => {
                let lane = thread.lane();
                thread.set(*d, 1 << lane);
            }
            Op::Call { function, arguments, .. } => {
                self.finish_products(number / 32)?;
                self.call(number, *function, arguments)?;
                return Ok(Step::Moved);
            }
            Op::Return => {
                self.finish_products(number / 32)?;
                return Ok(self.leave(number));
            }
            Op::Exit => return Ok(Step::Exit),
            Op::Trap => return Err("it traps".into()),
            Op::Barrier(_) => return Ok(Step::Wait(State::AtBarrier)),
            Op::Collective { mask, .. } => {
                let mask = thread.get(*mask, &launch) as u32;
                if mask >> thread.lane() & 1 == 0 {
                    return Err("a lane is not in its own mask".into());
                }
                self.masks[number] = mask;
                return Ok(Step::Wait(State::AtCollective));
            }
            Op::Unknown(why) => return Err(format!("the interpreter does not know {why}")),
        }
        Ok(Step::Next)
    }

    /// The state space and the address in it, checked for alignment to an access of `bytes` bytes.
    pub(super) fn address(
        &self,
        number: usize,
        address: Address,
        bytes: u32,
    ) -> Result<(Space, u64), String> {
        let thread = &self.threads[number];
        let at = thread.get(address.base, &self.launch(number)).wrapping_add_signed(address.offset);
        let (space, at) = match address.space {
            Space::Generic => memory::place(at),
            Space::Shared | Space::Local | Space::Param => (address.space, at & 0xffff_ffff),
            space @ (Space::Global | Space::Const) => (space, at),
        };
        let at = if space == Space::Shared { memory::in_cluster(at, self.rank(number)) } else { at };
        if at % u64::from(bytes) != 0 {
            return Err(format!("{bytes} bytes at {at:#x} are not aligned"));
        }
        Ok((space, at))
    }

    /// Reads memory as a thread sees it.
    pub(super) fn read(&mut self, number: usize, space: Space, at: u64, bytes: u32) -> Result<u64, String> {
        match self.threads[number].own_memory(space) {
            Some(own) => thread::read_own(own, at, bytes),
            None if space == Space::Shared => self.shared.read(at, bytes),
            None => self.global.read(at, bytes),
        }
    }

    /// Writes memory as a thread sees it.
    pub(super) fn write(
        &mut self,
        number: usize,
        space: Space,
        at: u64,
        bytes: u32,
        value: u64,
    ) -> Result<(), String> {
        match self.threads[number].own_memory(space) {
            Some(own) => {
                thread::read_own(own, at, bytes)?;
                memory::write(own, at as usize, bytes, value);
                Ok(())
            }
            None if space == Space::Shared => self.shared.write(at, bytes, value),
            None => self.global.write(at, bytes, value),
        }
    }

    fn load(
        &mut self,
        number: usize,
        d: &[Option<u32>],
        bytes: u32,
        signed: bool,
        from: Address,
    ) -> Result<(), String> {
        let (space, at) = self.address(number, from, bytes * d.len() as u32)?;
        for (index, register) in d.iter().enumerate() {
            let value = self.read(number, space, at + u64::from(bytes) * index as u64, bytes)?;
            let value = if signed { integer::sign_extend(value, 8 * bytes) as u64 } else { value };
            self.threads[number].set_some(*register, value);
        }
        Ok(())
    }

    fn store(&mut self, number: usize, s: &[Source], bytes: u32, to: Address) -> Result<(), String> {
        let (space, at) = self.address(number, to, bytes * s.len() as u32)?;
        for (index, source) in s.iter().enumerate() {
            let value = self.threads[number].get(*source, &self.launch(number));
            self.write(number, space, at + u64::from(bytes) * index as u64, bytes, value)?;
        }
        Ok(())
    }

    fn atomic(
        &mut self,
        number: usize,
        op: AtomicOp,
        d: Option<u32>,
        bytes: u32,
        at: Address,
        s: &[Source; 2],
    ) -> Result<(), String> {
        let [a, b] =
            s.map(|source| self.threads[number].get(source, &self.launch(number)) & float::mask(8 * bytes));
        let (space, at) = self.address(number, at, bytes)?;
        let old = self.read(number, space, at, bytes)?;
        let new = thread::atomic(op, old, [a, b])?;
        self.write(number, space, at, bytes, new)?;
        self.threads[number].set_some(d, old);
        Ok(())
    }

    /// Executes one of a thread's copies.
    pub(super) fn copy(&mut self, number: usize, at: usize) -> Result<(), String> {
        let Copy { to, from, bytes, take, .. } = self.threads[number].copies.remove(at);
        for offset in 0..u64::from(bytes) {
            let taken = offset < u64::from(take);
            let value = if taken { self.global.read(from + offset, 1)? } else { 0 };
            self.shared.write(to + offset, 1, value)?;
        }
        Ok(())
    }

    /// A copy may be executed at any time before it is waited for.
    fn progress_copies(&mut self, number: usize) -> Result<(), String> {
        let count = self.threads[number].copies.len();
        if count > 0 && self.random.below(4) == 0 {
            let at = self.random.below(count);
            self.copy(number, at).map_err(|error| self.located(number, &error))?;
        }
        Ok(())
    }

    fn call(&mut self, number: usize, function: usize, arguments: &[Passed]) -> Result<(), String> {
        let callee = &self.program.functions[function];
        let values = self.passed(number, arguments)?;
        if values.len() != callee.parameters.len() || self.threads[number].frames.len() > 64 {
            return Err("a call does not fit its function".into());
        }
        let thread = &mut self.threads[number];
        thread.enter(function, callee);
        for (value, formal) in values.iter().zip(&callee.parameters) {
            give(thread, value, *formal)?;
        }
        Ok(())
    }

    /// The bytes of passed values.
    fn passed(&self, number: usize, list: &[Passed]) -> Result<Vec<Vec<u8>>, String> {
        let thread = &self.threads[number];
        let one = |passed: &Passed| match passed {
            Passed::Memory(at, bytes) => {
                let at = (thread.frame().params + at) as usize;
                thread
                    .params
                    .get(at..at + *bytes as usize)
                    .map(<[u8]>::to_vec)
                    .ok_or_else(|| "no parameter".into())
            }
            Passed::Source(source) => Ok(thread.get(*source, &self.launch(number)).to_le_bytes().to_vec()),
        };
        list.iter().map(one).collect()
    }

    /// Returns from the innermost function, with its results.
    fn leave(&mut self, number: usize) -> Step {
        let program = self.program;
        let thread = &mut self.threads[number];
        let callee: &DecodedFunction = &program.functions[thread.frame().function];
        let result = |formal: &Formal| match formal {
            Formal::Memory(at, bytes) => {
                let at = (thread.frame().params + at) as usize;
                thread.params[at..at + *bytes as usize].to_vec()
            }
            Formal::Register(register) => thread.frame().registers[*register as usize].to_le_bytes().to_vec(),
        };
        let results: Vec<Vec<u8>> = callee.returns.iter().map(result).collect();
        if thread.frames.len() == 1 {
            return Step::Exit;
        }
        thread.leave();
        let frame = thread.frame();
        if let Some(Op::Call { returns, .. }) =
            program.functions[frame.function].code.get(frame.pc).map(|instruction| &instruction.op)
        {
            for (bytes, to) in results.iter().zip(returns) {
                match to {
                    Passed::Memory(at, room) => {
                        let at = (thread.frame().params + at) as usize;
                        let count = bytes.len().min(*room as usize);
                        thread.params[at..at + count].copy_from_slice(&bytes[..count]);
                    }
                    Passed::Source(Source::Register(register)) => {
                        thread.set(*register, memory::read(bytes, 0, bytes.len().min(8) as u32));
                    }
                    Passed::Source(_) => {}
                }
            }
        }
        Step::Next
    }

    /// Resumes the threads that waited for what a thread has just done.
    fn meet(&mut self, number: usize) -> Result<(), String> {
        let warp = number / 32;
        match self.threads[number].state {
            State::Ready => Ok(()),
            State::AtCollective => self.gather(number),
            State::AtBarrier => self.arrive(warp),
            State::AtCluster => Ok(()),
            State::Exited => {
                self.complete_cluster();
                for other in self.lanes_of(warp) {
                    if self.threads[other].state == State::AtCollective {
                        self.gather(other)?;
                    }
                }
                self.arrive(warp)?;
                (0..self.barriers.len()).try_for_each(|id| self.complete(id))
            }
        }
    }

    /// The threads of a warp.
    pub(super) fn lanes_of(&self, warp: usize) -> std::ops::Range<usize> {
        32 * warp..(32 * warp + 32).min(self.threads.len())
    }

    /// Ends the phase of the cluster's barrier, if all threads that have not exited have arrived in it.
    fn complete_cluster(&mut self) {
        let (phase, arrived) = &mut self.cluster;
        let is_there =
            |number: usize| self.threads[number].state == State::Exited || arrived[number] == Some(*phase);
        if !(0..self.threads.len()).all(is_there) {
            return;
        }
        *phase += 1;
        let waiting: Vec<usize> = (0..self.threads.len())
            .filter(|number| self.threads[*number].state == State::AtCluster)
            .collect();
        for number in waiting {
            self.cluster.1[number] = None;
            self.release(number);
        }
    }

    pub(super) fn release(&mut self, number: usize) {
        self.threads[number].state = State::Ready;
        self.threads[number].frame_mut().pc += 1;
        self.ready.push(number);
    }

    fn barrier_of(&self, number: usize) -> Option<&'r Barrier> {
        let frame = self.threads[number].frame();
        if let Op::Barrier(barrier) = &self.program.functions[frame.function].code[frame.pc].op {
            Some(barrier)
        } else {
            None
        }
    }

    /// Records the arrival of a warp, if all its threads that have not exited are at one barrier.
    fn arrive(&mut self, warp: usize) -> Result<(), String> {
        if self.barriers.iter().any(|meeting| meeting.waiting.contains(&warp)) {
            return Ok(());
        }
        let live: Vec<usize> =
            self.lanes_of(warp).filter(|at| self.threads[*at].state != State::Exited).collect();
        let Some(first) = live.first().copied() else { return Ok(()) };
        if live.iter().any(|at| self.threads[*at].state != State::AtBarrier) {
            return Ok(());
        }
        let Some(barrier) = self.barrier_of(first) else { return Ok(()) };
        let value = |number: usize, source: Source| {
            self.threads[number].get(source, &self.launch(number)) & 0xffff_ffff
        };
        let id = value(first, barrier.id);
        let count = barrier.count.map(|count| value(first, count));
        for other in &live {
            let Some(held) = self.barrier_of(*other) else { continue };
            if value(*other, held.id) != id {
                // They wait at different barriers, neither of which can complete.
                return Ok(());
            }
            let same_place = self.threads[*other].frame().pc == self.threads[first].frame().pc;
            if (held.aligned || barrier.aligned) && !same_place || held.arrive != barrier.arrive {
                return Err("lanes of a warp are at different barrier instructions".into());
            }
        }
        if id >= 16 {
            return Err("there are 16 barriers".into());
        }
        let id = id + 16 * self.rank(first) as u64;
        let meeting = &mut self.barriers[id as usize];
        if !meeting.arrived.is_empty() && meeting.count != count {
            return Err("warps do not agree on how many a barrier needs".into());
        }
        meeting.count = count;
        meeting.arrived.push(warp);
        if barrier.arrive {
            live.iter().for_each(|number| self.release(*number));
        } else {
            meeting.waiting.push(warp);
        }
        self.complete(id as usize)
    }

    /// Releases the waiting warps, if all have arrived.
    fn complete(&mut self, id: usize) -> Result<(), String> {
        let meeting = &self.barriers[id];
        let is_there = |warp: usize| {
            meeting.arrived.contains(&warp)
                || self.lanes_of(warp).all(|number| self.threads[number].state == State::Exited)
        };
        let complete = match meeting.count {
            _ if meeting.arrived.is_empty() => false,
            Some(count) => meeting.arrived.len() as u64 * 32 >= count,
            None => {
                let first = id / 16 * self.warps();
                (first..first + self.warps()).all(is_there)
            }
        };
        if !complete {
            return Ok(());
        }
        let meeting = std::mem::take(&mut self.barriers[id]);
        let waiting = meeting.waiting.iter().flat_map(|warp| self.lanes_of(*warp));
        let waiting: Vec<usize> =
            waiting.filter(|number| self.threads[*number].state == State::AtBarrier).collect();
        let predicates = waiting.iter().filter_map(|number| {
            let (_, predicate, _) = self.barrier_of(*number)?.reduction?;
            Some(self.threads[*number].get(predicate, &self.launch(*number)) & 1)
        });
        let predicates: Vec<u64> = predicates.collect();
        for number in waiting {
            if let Some((reduction, _, d)) = self.barrier_of(number).and_then(|barrier| barrier.reduction) {
                let result = match reduction {
                    Reduction::Popc => predicates.iter().sum(),
                    Reduction::And => u64::from(predicates.iter().all(|one| *one == 1)),
                    Reduction::Or => u64::from(predicates.contains(&1)),
                };
                self.threads[number].set(d, result);
            }
            self.release(number);
        }
        Ok(())
    }
}

/// Stores the bytes of a parameter where the function expects it.
fn give(thread: &mut Thread, bytes: &[u8], formal: Formal) -> Result<(), String> {
    match formal {
        Formal::Register(register) => thread.set(register, memory::read(bytes, 0, bytes.len().min(8) as u32)),
        Formal::Memory(at, room) => {
            let at = (thread.frame().params + at) as usize;
            let count = bytes.len().min(room as usize);
            let to = thread.params.get_mut(at..at + count).ok_or("a parameter lies nowhere")?;
            to.copy_from_slice(&bytes[..count]);
        }
    }
    Ok(())
}
