//! Random programs, determined by the seed.
//!
//! A plan that all threads follow is made first: accesses, barriers among some warps, meetings inside a warp,
//! returns, asynchronous copies, atomics. In disciplined plans, an access is added only if the plan orders it after all
//! accesses that it conflicts with. Then some plans are spoilt: lines are dropped, swapped, copied or changed.

use super::{Act, CELLS, COPIES, Cell, Count, HALVES, Line, Members, Operation, Program, Space, Stored};
use super::{Transfer, Update, Use, Warp};

/// Pseudo-random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence for a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// True with a probability of `chance` percent.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// The most lines of a text.
const LINES: usize = 7;

/// A program for a seed.
pub fn program(seed: u64) -> Program {
    let mut plan = Plan::new(Random::new(seed), Atomics::new(Random::new(seed ^ 0x41_544f_4d53)));
    let events = 3 + plan.random.below(8);
    for _ in 0..events {
        plan.event();
    }
    let Plan { mut random, mut program, atomics, .. } = plan;
    if random.percent(65) {
        for _ in 0..1 + random.below(2) {
            spoil(&mut random, &mut program);
        }
    }
    if let Some(Atomics { mut random, .. }) = atomics
        && random.percent(50)
    {
        exchange(&mut random, &mut program);
    }
    program
}

/// The use of atomics in a plan. They are drawn separately, so that programs without them do not change.
struct Atomics {
    random: Random,
    /// The most frequent operation.
    operation: Operation,
    /// The percentage of accesses that are atomics.
    share: usize,
}

impl Atomics {
    fn new(mut random: Random) -> Option<Atomics> {
        if !random.percent(45) {
            return None;
        }
        let (operation, share) = (random.pick(&Operation::ALL), random.pick(&[30, 60, 90]));
        Some(Atomics { random, operation, share })
    }

    /// Replaces an access to a half word by an atomic, at random.
    fn update(&mut self, half: u8) -> Option<Update> {
        if usize::from(half) >= HALVES || !self.random.percent(self.share) {
            return None;
        }
        let operation =
            if self.random.percent(65) { self.operation } else { self.random.pick(&Operation::ALL) };
        let double = self.random.percent(12);
        let half = if double { 0 } else { half & !1 };
        let operand = self.random.pick(&[1, 0x0001_0001, 0x8000_0003, 0xffff_ffff, 0x7fff_fff1, 6]);
        Some(Update { half, double, operation, operand })
    }
}

/// Replaces an access by an atomic, or an atomic by a plain access or another atomic.
fn exchange(random: &mut Random, program: &mut Program) {
    let at = random.below(program.warps.len());
    let lines = &mut program.warps[at].lines;
    let accesses: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].act.is_access()).collect();
    if accesses.is_empty() {
        return;
    }
    let act = &mut lines[random.pick(&accesses)].act;
    let operation = random.pick(&Operation::ALL);
    match *act {
        Act::Update(Update { half, .. }) if random.percent(50) => {
            let cell = Cell { half, wide: random.percent(50) };
            *act = if random.percent(50) { Act::Read(cell) } else { Act::Write(cell, Stored::Constant(3)) };
        }
        Act::Update(update) => *act = Act::Update(Update { operation, ..update }),
        Act::Read(cell) | Act::Write(cell, _) if usize::from(cell.half) < HALVES => {
            *act = Act::Update(Update { half: cell.half & !1, double: false, operation, operand: 5 });
        }
        Act::Read(_)
        | Act::Write(..)
        | Act::Barrier { .. }
        | Act::WarpSync(_)
        | Act::Shuffle { .. }
        | Act::Copy(_)
        | Act::Commit
        | Act::Wait(_)
        | Act::Exit => {}
    }
}

/// A planned access, by which disciplined plans find conflicts.
#[derive(Clone, Copy)]
struct Access {
    /// The half words, as bits.
    bits: u8,
    writes: bool,
    /// Its operation, if it is atomic.
    update: Option<Update>,
}

/// The accesses of copies that a thread has started and not waited for, as bits.
#[derive(Clone, Default)]
struct Begun {
    open: u64,
    groups: Vec<u64>,
}

impl Begun {
    fn all(&self) -> u64 {
        self.groups.iter().fold(self.open, |all, group| all | group)
    }
}

struct Plan {
    random: Random,
    atomics: Option<Atomics>,
    program: Program,
    /// Members of each warp that have not returned.
    live: Vec<Members>,
    disciplined: bool,
    /// Whether the planner wrongly assumes that everything orders memory: shuffles, and `arrive` in both directions.
    credulous: bool,
    /// The number of half words that the plan uses.
    halves: usize,
    /// The number of asynchronous copies so far; `None` if there are none.
    copies: Option<usize>,
    /// For each member of each warp, its copies in flight.
    begun: Vec<Vec<Begun>>,
    accesses: Vec<Access>,
    /// For each member of each warp, the planned accesses that happen before its next step, as bits.
    knows: Vec<Vec<u64>>,
}

impl Plan {
    fn new(mut random: Random, atomics: Option<Atomics>) -> Plan {
        let count = random.pick(&[1, 2, 2, 2, 3, 3, 3, 4]);
        let rests = random.below(3);
        let mut warps = Vec::new();
        let mut live = Vec::new();
        for at in 0..count {
            let active = random.pick(if count < 4 { &[1, 1, 1, 2, 2, 3] } else { &[1, 1, 1, 2] });
            let rest = at + 1 < count || random.percent(70);
            let scattered = rest && random.percent(30);
            let lanes = if scattered { vec![2, 17, 30] } else { vec![0, 1, 2] };
            let mut warp = Warp { lanes: lanes[..active].to_vec(), rest, lines: Vec::new() };
            let exits = rests == 1 || rests == 2 && random.percent(50);
            if rest && exits {
                warp.lines.push(Line { guard: 1 << active, act: Act::Exit });
                live.push((1 << active) - 1);
            } else {
                live.push(warp.everybody());
            }
            warps.push(warp);
        }
        let space =
            random.pick(&[Space::Shared, Space::SharedInitialised, Space::SharedInitialised, Space::Global]);
        let disciplined = random.percent(45);
        let credulous = random.percent(30);
        let halves = random.pick(&[1, 2, HALVES]);
        let copies = (space != Space::Global && random.percent(45)).then_some(0);
        let begun = warps.iter().map(|warp| vec![Begun::default(); warp.members()]).collect();
        let knows = warps.iter().map(|warp| vec![0; warp.members()]).collect();
        Plan {
            random,
            atomics,
            program: Program { space, warps },
            live,
            disciplined,
            credulous,
            halves,
            copies,
            begun,
            accesses: Vec::new(),
            knows,
        }
    }

    fn room(&self, warp: usize) -> bool {
        self.program.warps[warp].lines.len() < LINES
    }

    fn push(&mut self, warp: usize, guard: Members, act: Act) {
        self.program.warps[warp].lines.push(Line { guard, act });
    }

    fn event(&mut self) {
        if self.copies.is_some() && self.random.percent(35) {
            return if self.random.percent(60) { self.copy() } else { self.wait() };
        }
        match self.random.below(100) {
            0..48 => self.access(),
            48..75 => self.barrier(),
            75..87 => self.meet(false),
            87..93 => self.meet(true),
            93..96 => self.relay(),
            _ => self.exit(),
        }
    }

    fn access(&mut self) {
        for _ in 0..6 {
            let warp = self.random.below(self.program.warps.len());
            let active: Vec<usize> = (0..self.program.warps[warp].lanes.len())
                .filter(|member| self.live[warp] >> member & 1 == 1)
                .collect();
            if active.is_empty() || !self.room(warp) {
                continue;
            }
            let wide = self.random.percent(40);
            let half = if self.copies.is_some() && self.random.percent(20) {
                HALVES + self.random.below(CELLS - HALVES)
            } else {
                self.random.below(self.halves)
            } as u8;
            let cell = if wide { Cell { half: half & !1, wide } } else { Cell { half, wide } };
            let writes = self.random.percent(45);
            let mut guard: Members = 1 << self.random.pick(&active);
            if self.random.percent(if writes { 4 } else { 20 }) {
                guard = active.iter().fold(0, |guard, member| guard | 1 << member);
            }
            let members = (0..8usize).filter(|member| guard >> member & 1 == 1);
            let bit = 1u64 << self.accesses.len().min(63);
            let update = self.atomics.as_mut().and_then(|atomics| atomics.update(cell.half));
            let writes = writes || update.is_some();
            let bits = update.map_or(cell.bits(), Update::bits);
            let known = members.clone().fold(u64::MAX, |known, member| known & self.knows[warp][member]);
            if self.disciplined && self.conflicts(known, Access { bits, writes, update }) {
                continue;
            }
            for member in members {
                self.knows[warp][member] |= bit;
            }
            self.accesses.push(Access { bits, writes, update });
            let constant = Stored::Constant(0x0010_0010 * self.accesses.len() as u32 + 7);
            let copies = self.program.space != Space::Shared && self.random.percent(40);
            let stored = if copies { Stored::Register } else { constant };
            let act = match update {
                Some(update) => Act::Update(update),
                None if writes => Act::Write(cell, stored),
                None => Act::Read(cell),
            };
            return self.push(warp, guard, act);
        }
    }

    /// Whether an access may race with one that is not among the `known` ones before it.
    fn conflicts(&self, known: u64, Access { bits, writes, update }: Access) -> bool {
        let go_together = |other: &Access| match (update, other.update) {
            (Some(one), Some(other)) => one.meets(other) && one.operation == other.operation,
            _ => false,
        };
        let may = |(at, other): (usize, &Access)| {
            known >> at & 1 == 0 && other.bits & bits != 0 && (writes || other.writes) && !go_together(other)
        };
        self.accesses.iter().enumerate().any(may)
    }

    /// Adds an asynchronous copy, usually followed by a commit of its group.
    fn copy(&mut self) {
        for _ in 0..4 {
            let warp = self.random.below(self.program.warps.len());
            let active: Vec<usize> = (0..self.program.warps[warp].lanes.len())
                .filter(|member| self.live[warp] >> member & 1 == 1)
                .collect();
            let copies = self.copies.unwrap_or(COPIES);
            if active.is_empty() || !self.room(warp) || copies == COPIES {
                continue;
            }
            let transfer = transfer(&mut self.random, self.halves);
            let member = self.random.pick(&active);
            let known = self.knows[warp][member];
            let touched = [(transfer.reads(), false), (transfer.writes(), true)]
                .map(|(bits, writes)| Access { bits, writes, update: None });
            let conflict = touched.iter().any(|access| self.conflicts(known, *access));
            if self.disciplined && conflict {
                continue;
            }
            let mut bits = 0;
            for access in touched {
                bits |= 1u64 << self.accesses.len().min(63);
                self.accesses.push(access);
            }
            let mut guard: Members = 1 << member;
            if active.len() + copies <= COPIES && self.random.percent(5) {
                guard = active.iter().fold(0, |guard, member| guard | 1 << member);
            }
            self.copies = Some(copies + guard.count_ones() as usize);
            self.begun[warp][member].open |= bits;
            self.push(warp, guard, Act::Copy(transfer));
            if self.random.percent(70) {
                self.commit(warp, 1 << member);
                if self.random.percent(40) {
                    self.wait_for(warp, member);
                }
            }
            return;
        }
    }

    fn commit(&mut self, warp: usize, member: Members) {
        let guard = if self.random.percent(30) { self.live[warp] } else { member };
        self.push(warp, guard, Act::Commit);
        for (member, begun) in self.begun[warp].iter_mut().enumerate() {
            if guard >> member & 1 == 1 {
                begun.groups.push(std::mem::take(&mut begun.open));
            }
        }
    }

    /// Adds a wait for copies; sometimes even if none is in flight.
    fn wait(&mut self) {
        for _ in 0..4 {
            let warp = self.random.below(self.program.warps.len());
            let member = self.random.below(self.program.warps[warp].lanes.len());
            let begun = &self.begun[warp][member];
            if self.live[warp] >> member & 1 == 0 || !self.room(warp) {
                continue;
            }
            if begun.open != 0 && self.random.percent(60) {
                self.commit(warp, 1 << member);
            }
            if self.begun[warp][member].all() != 0 || self.random.percent(10) {
                return self.wait_for(warp, member);
            }
        }
    }

    fn wait_for(&mut self, warp: usize, member: usize) {
        let groups = self.begun[warp][member].groups.len();
        let pending = match self.random.below(10) {
            0..3 => None,
            3..7 => Some(0),
            _ => Some(self.random.below(groups + 1)),
        };
        let guard = if self.random.percent(50) { self.live[warp] } else { 1 << member };
        let right = !self.credulous || self.random.percent(50);
        self.push(warp, guard, Act::Wait(pending.map(|pending| pending as u8 + u8::from(!right))));
        for (member, begun) in self.begun[warp].iter_mut().enumerate() {
            if guard >> member & 1 == 1 {
                let left = pending.unwrap_or(0).min(begun.groups.len());
                let done = begun.groups.drain(..begun.groups.len() - left);
                let mut known = done.fold(0, |known, group| known | group);
                if pending.is_none() {
                    known |= std::mem::take(&mut begun.open);
                }
                self.knows[warp][member] |= known;
            }
        }
    }

    fn barrier(&mut self) {
        let live: Vec<usize> = (0..self.live.len()).filter(|warp| self.live[*warp] != 0).collect();
        let mut parts = live.clone();
        let all = self.random.percent(45);
        if !all {
            while parts.len() > 2 && self.random.percent(60) {
                let drop = self.random.below(parts.len());
                parts.remove(drop);
            }
        }
        if parts.is_empty() || parts.iter().any(|warp| !self.room(*warp)) {
            return;
        }
        let id = self.random.below(3) as u8;
        let everybody = parts.len() == self.live.len();
        let count = if all && (!everybody || self.random.percent(85)) {
            Count::All
        } else {
            Count::Threads(32 * parts.len() as u32)
        };
        let arriver = (count != Count::All && parts.len() > 1 && self.random.percent(35))
            .then(|| self.random.pick(&parts));
        let aligned = self.random.percent(80);
        let reduces = arriver.is_none() && self.random.percent(6);
        let known = parts.iter().fold(0, |known, warp| {
            let live = self.live[*warp];
            let members = self.knows[*warp].iter().enumerate().filter(|(member, _)| live >> member & 1 == 1);
            members.fold(known, |known, (_, knows)| known | knows)
        });
        // A credulous planner sometimes assumes that barriers wait for copies.
        let flying = self.begun.iter().flatten().fold(0, |all, begun| all | begun.all());
        let known = if self.credulous && self.random.percent(40) { known | flying } else { known };
        let counts = 32 * parts.len() as u32;
        let mixed = count == Count::All && everybody && self.random.percent(10);
        for warp in parts {
            let count = if mixed && self.random.percent(50) { Count::Threads(counts) } else { count };
            let how = match arriver {
                Some(other) if other == warp => Use::Arrive,
                // Seldom two operators.
                _ if reduces => {
                    if self.random.percent(85) {
                        Use::Reduce
                    } else {
                        Use::ReduceAny
                    }
                }
                _ => Use::Sync,
            };
            let act = Act::Barrier { how, id, count, aligned };
            let guard = self.live[warp];
            self.apart(warp, guard, act, if aligned { 4 } else { 30 });
            if how != Use::Arrive || self.credulous {
                for member in 0..self.knows[warp].len() {
                    if guard >> member & 1 == 1 {
                        self.knows[warp][member] |= known;
                    }
                }
            }
        }
    }

    /// Adds a statement for all of `guard` in one line or, with probability `chance`, in two.
    fn apart(&mut self, warp: usize, guard: Members, act: Act, chance: usize) {
        let some = guard & self.random.below(16) as Members;
        if some != 0 && some != guard && self.random.percent(chance) {
            self.push(warp, some, act);
            self.push(warp, guard & !some, act);
        } else {
            self.push(warp, guard, act);
        }
    }

    fn meet(&mut self, shuffles: bool) {
        let warp = self.random.below(self.live.len());
        let live = self.live[warp];
        let some = live & self.random.below(16) as Members;
        let mask = if some == 0 || self.random.percent(40) { live } else { some };
        if mask == 0 || !self.room(warp) {
            return;
        }
        let named = if self.random.percent(15) { self.program.warps[warp].everybody() } else { mask };
        if shuffles {
            let active: Vec<u8> = (0..self.program.warps[warp].lanes.len() as u8)
                .filter(|member| mask >> member & 1 == 1)
                .collect();
            if active.is_empty() {
                return;
            }
            let from = self.random.pick(&active);
            self.apart(warp, mask, Act::Shuffle { mask: named, from }, 3);
            if !self.credulous {
                return;
            }
        } else {
            self.apart(warp, mask, Act::WarpSync(named), 30);
        }
        let members = (0..self.knows[warp].len()).filter(|member| mask >> member & 1 == 1);
        let known = members.clone().fold(0, |known, member| known | self.knows[warp][member]);
        for member in members {
            self.knows[warp][member] |= known;
        }
    }

    /// Adds a relay: a write reaches a third thread through a second one, or just fails to.
    fn relay(&mut self) {
        let cell = Cell { half: self.random.below(self.halves) as u8, wide: false };
        let (write, read) = (Act::Write(cell, Stored::Constant(5)), Act::Read(cell));
        let (before, after) = if self.random.percent(60) { (write, read) } else { (read, write) };
        let right = self.random.percent(70);
        let at = self.random.below(self.live.len());
        if self.live.len() > 2 && (0..3).all(|step| self.room((at + step) % self.live.len())) {
            let [a, b, c] = [0, 1, 2].map(|step| (at + step) % self.live.len());
            let sync = |id| Act::Barrier { how: Use::Sync, id, count: Count::Threads(64), aligned: true };
            let (first, second) = if right { (3, 4) } else { (4, 3) };
            self.push(a, self.live[a] & 1, before);
            self.push(a, self.live[a], sync(3));
            self.push(b, self.live[b], sync(first));
            self.push(b, self.live[b], sync(second));
            self.push(c, self.live[c], sync(4));
            self.push(c, self.live[c] & 1, after);
        } else if self.live[at] & 0b111 == 0b111 && self.room(at) {
            let (first, second) = if right { (0b101, 0b110) } else { (0b110, 0b101) };
            self.push(at, 0b001, before);
            self.push(at, first, Act::WarpSync(first));
            self.push(at, second, Act::WarpSync(second));
            self.push(at, 0b010, after);
        }
    }

    fn exit(&mut self) {
        let warp = self.random.below(self.live.len());
        let live = self.live[warp];
        let some = live & self.random.below(16) as Members;
        if some != 0 && self.room(warp) {
            self.push(warp, some, Act::Exit);
            self.live[warp] &= !some;
            if self.credulous {
                let known = self.knows[warp].iter().fold(0, |known, more| known | more);
                self.knows[warp].fill(known);
            }
        }
    }
}

fn transfer(random: &mut Random, halves: usize) -> Transfer {
    let size: usize = if halves == HALVES && random.percent(30) { 4 } else { 2 };
    let words = halves.div_ceil(size);
    let taken = if random.percent(75) { size } else { random.below(size + 1) };
    Transfer {
        to: (size * random.below(words)) as u8,
        from: (HALVES + size * random.below((CELLS - HALVES) / size)) as u8,
        size: size as u8,
        taken: taken as u8,
    }
}

fn spoil(random: &mut Random, program: &mut Program) {
    let at = random.below(program.warps.len());
    let all = Count::Threads(32 * program.warps.len() as u32);
    let warp = &mut program.warps[at];
    let members = warp.members();
    if warp.lines.is_empty() {
        return;
    }
    let line = random.below(warp.lines.len());
    match random.below(7) {
        0 => {
            warp.lines.remove(line);
        }
        1 if line > 0 => warp.lines.swap(line - 1, line),
        2 => warp.lines[line].guard ^= 1 << random.below(members),
        3 => {
            let copy = warp.lines[line];
            let to = random.below(warp.lines.len() + 1);
            warp.lines.insert(to, copy);
        }
        _ => match &mut warp.lines[line].act {
            Act::Barrier { how, id, count, aligned } => match random.below(4) {
                0 => *id = random.below(3) as u8,
                1 => *count = random.pick(&[Count::All, all, Count::Threads(32), Count::Threads(64)]),
                2 => *aligned = !*aligned,
                _ => *how = random.pick(&[Use::Sync, Use::Arrive, Use::Reduce, Use::ReduceAny]),
            },
            Act::WarpSync(mask) | Act::Shuffle { mask, .. } => *mask ^= 1 << random.below(members),
            Act::Read(cell) | Act::Write(cell, _) => {
                *cell = Cell { half: random.below(HALVES) as u8, wide: false };
            }
            Act::Update(update) => {
                (update.half, update.double) = (random.pick(&[0, 2]), false);
            }
            Act::Copy(copied) => *copied = transfer(random, HALVES),
            Act::Wait(pending) => *pending = random.pick(&[None, Some(0), Some(1), Some(2)]),
            act @ Act::Commit => *act = Act::Wait(Some(0)),
            Act::Exit => {}
        },
    }
    for line in program.warps.iter_mut().flat_map(|warp| &mut warp.lines) {
        // `arrive` has no form without a count.
        if let Act::Barrier { how: Use::Arrive, count: count @ Count::All, .. } = &mut line.act {
            *count = Count::Threads(64);
        }
    }
}
