//! Random programs, determined by the seed: some of the ways in which threads wait for one another, one after the other,
//! which are then spoilt or not.

use crate::model::{
    Act, AtomicOrder, FLAGS, FenceKind, Layout, Order, Program, ROWS, STEPS, Scope, THREADS, Until,
};
use volta_suite::interpreter::random::Random;

/// A program for a seed, and whether nothing was spoilt.
pub(crate) fn program(seed: u64) -> (Program, bool) {
    let mut random = Random::new(seed);
    let layout = pick(&mut random, &Layout::ALL);
    let threads = match layout {
        Layout::Pairs => 4,
        Layout::Grid | Layout::Cluster | Layout::Warps | Layout::Shared | Layout::Lanes => {
            2 + random.below(2)
        }
    };
    let mut plan = Plan {
        random,
        program: Program { layout, threads: vec![Vec::new(); threads] },
        held: [0; FLAGS],
        written: 0,
        fragile: [false; FLAGS],
        is_last: false,
        near: false,
    };
    for _ in 0..1 + plan.random.below(2) {
        if !plan.is_last {
            plan.part();
        }
    }
    let spoilt = if plan.random.below(3) == 0 { 0 } else { 1 + plan.random.below(2) };
    for _ in 0..spoilt {
        spoil(&mut plan.random, &mut plan.program);
    }
    let mut is_right = spoilt == 0;
    is_right &= !looks_ahead(&mut Random::new(seed ^ LOOKS), &mut plan.program);
    for acts in &mut plan.program.threads {
        is_right &= acts.len() <= STEPS;
        acts.truncate(STEPS);
    }
    (plan.program, is_right)
}

/// Added to a seed for what is drawn of loads ahead of waits, so that the rest stays the same.
const LOOKS: u64 = 0x5eed_a4ea_d000;

/// Lets some threads load a flag ahead of a wait, where rounds are possible; true if it is another flag, or steps lie in
/// between.
fn looks_ahead(random: &mut Random, program: &mut Program) -> bool {
    let mut is_early = false;
    if !matches!(program.layout, Layout::Grid | Layout::Cluster) {
        return false;
    }
    for acts in &mut program.threads {
        let waits: Vec<usize> = (0..acts.len())
            .filter(|at| matches!(acts[*at], Act::Wait { used: false, order, .. } if order != Order::Weak))
            .collect();
        if waits.is_empty() || acts.len() >= STEPS || random.below(2) == 0 {
            continue;
        }
        let wait = waits[random.below(waits.len())];
        let may_pass = |act: &Act| !matches!(act, Act::Wait { .. } | Act::Add { old: true, .. });
        let most = acts[..wait].iter().rev().take_while(|act| may_pass(act)).count();
        let before = if most == 0 { 0 } else { random.below(most + 1) };
        let other = random.below(12) == 0;
        acts.insert(wait - before, Act::Look { other });
        is_early |= before > 0 || other;
    }
    is_early
}

fn pick<T: Copy>(random: &mut Random, from: &[T]) -> T {
    from[random.below(from.len())]
}

/// A scope that reaches all threads.
fn wide(random: &mut Random, layout: Layout) -> Scope {
    let scopes: &[Scope] = match layout {
        Layout::Grid | Layout::Pairs => &[Scope::Gpu, Scope::Gpu, Scope::Sys],
        Layout::Cluster => &[Scope::Cluster, Scope::Gpu],
        Layout::Warps | Layout::Shared | Layout::Lanes => {
            &[Scope::Cta, Scope::Cluster, Scope::Gpu, Scope::Sys]
        }
    };
    pick(random, scopes)
}

struct Plan {
    random: Random,
    program: Program,
    /// What the flags hold when all has come.
    held: [u32; FLAGS],
    written: u8,
    /// A loop may still wait for a number that a flag holds, and more changes would take away.
    fragile: [bool; FLAGS],
    /// Some threads take no part in the last part, so that there is none behind it.
    is_last: bool,
    /// Scopes are those of a CTA.
    near: bool,
}

impl Plan {
    fn threads(&self) -> usize {
        self.program.threads.len()
    }

    fn push(&mut self, thread: usize, act: Act) {
        self.program.threads[thread].push(act);
    }

    fn scope(&mut self) -> Scope {
        if self.near {
            return Scope::Cta;
        }
        wide(&mut self.random, self.program.layout)
    }

    fn write(&mut self, thread: usize, row: u8) {
        self.written += 1;
        self.push(thread, Act::Write(row, 10 + self.written));
    }

    /// A fence, which comes before a relaxed change or behind a relaxed load.
    fn fence(&mut self, thread: usize, acquires: bool) {
        let kinds = [
            FenceKind::Both,
            FenceKind::Both,
            FenceKind::Sequential,
            FenceKind::Membar,
            if acquires { FenceKind::Acquire } else { FenceKind::Release },
        ];
        let (kind, mut scope) = (pick(&mut self.random, &kinds), self.scope());
        if kind == FenceKind::Membar && scope == Scope::Cluster {
            scope = Scope::Gpu;
        }
        self.push(thread, Act::Fence(kind, scope));
    }

    /// An addition that tells what was before it.
    fn add(&mut self, thread: usize, (flag, by): (u8, u32), old: bool) {
        let (scope, relaxed) = (self.scope(), self.random.below(2) == 0);
        if relaxed {
            self.fence(thread, false);
        }
        let orders = if relaxed {
            [AtomicOrder::Relaxed, AtomicOrder::Acquire]
        } else {
            [AtomicOrder::Release, AtomicOrder::Both]
        };
        let order = pick(&mut self.random, &orders);
        self.push(thread, Act::Add { flag, by, order, scope, old });
    }

    /// A store that tells what was before it.
    fn set(&mut self, thread: usize, flag: u8, to: u32) {
        let scope = self.scope();
        let order =
            pick(&mut self.random, &[Order::Ordered, Order::Ordered, Order::Relaxed, Order::Volatile]);
        if order != Order::Ordered {
            self.fence(thread, false);
        }
        self.push(thread, Act::Set { flag, to, order, scope });
    }

    /// A wait that learns what changes tell.
    fn wait(&mut self, thread: usize, flag: u8, until: Until) {
        let scope = self.scope();
        let order =
            pick(&mut self.random, &[Order::Ordered, Order::Ordered, Order::Relaxed, Order::Volatile]);
        let used = self.random.below(8) == 0 && matches!(until, Until::Equal(_));
        self.push(thread, Act::Wait { flag, until, order, scope, used });
        if order != Order::Ordered {
            self.fence(thread, true);
        }
    }

    /// Until a flag that grows to a number, and no further before the loop ends, or further only above it, has it.
    fn reaching(&mut self, number: u32, stays: bool) -> Until {
        if stays && self.random.below(2) == 0 { Until::Equal(number) } else { Until::AtLeast(number) }
    }

    fn part(&mut self) {
        let flag = self.random.below(FLAGS) as u8;
        if self.program.layout == Layout::Pairs && self.random.below(3) > 0 {
            return self.groups(flag);
        }
        match self.random.below(6) {
            0 => self.message(flag),
            1 => self.meeting(flag, true),
            2 => self.turns(flag),
            3 => self.generation(flag),
            4 => self.ping_pong(),
            _ => self.chain(),
        }
    }

    /// One thread tells the others of a row.
    fn message(&mut self, flag: u8) {
        let (from, row) = (self.random.below(self.threads()), self.random.below(ROWS) as u8);
        self.meeting_if_used(flag);
        self.write(from, row);
        let held = self.held[usize::from(flag)];
        let by = 1 + self.random.below(2) as u32;
        if self.random.below(2) == 0 {
            self.set(from, flag, held + by);
        } else {
            self.add(from, (flag, by), false);
        }
        self.held[usize::from(flag)] = held + by;
        for thread in (0..self.threads()).filter(|thread| *thread != from) {
            let until = match self.random.below(3) {
                0 => Until::Differs(held),
                1 if held == 0 => Until::Bits(by),
                _ => self.reaching(held + by, true),
            };
            self.wait(thread, flag, until);
            self.push(thread, Act::Read(row));
        }
    }

    /// Where a flag has been changed before, all meet first by the other one.
    fn meeting_if_used(&mut self, flag: u8) {
        if self.written > 0 || self.held.iter().any(|held| *held != 0) {
            self.meeting(flag ^ 1, false);
        }
        self.fragile[usize::from(flag)] = true;
    }

    /// All threads write, meet at a counter, and read.
    fn meeting(&mut self, flag: u8, may_write: bool) {
        let flag = if self.fragile[usize::from(flag)] { flag ^ 1 } else { flag };
        self.fragile[usize::from(flag ^ 1)] = false;
        let all = self.threads();
        let held = self.held[usize::from(flag)];
        let writer = self.random.below(all);
        let row = self.random.below(ROWS) as u8;
        let writes = self.random.below(2) == 0 && self.written == 0 && may_write;
        for thread in 0..all {
            if writes && thread == writer {
                self.write(thread, row);
            }
            self.add(thread, (flag, 1), false);
        }
        let total = held + all as u32;
        self.held[usize::from(flag)] = total;
        for thread in 0..all {
            self.wait(thread, flag, Until::AtLeast(total));
            if writes && self.random.below(2) == 0 {
                self.push(thread, Act::Read(row));
            }
        }
    }

    /// Threads take turns at a row.
    fn turns(&mut self, flag: u8) {
        self.meeting_if_used(flag);
        let held = self.held[usize::from(flag)];
        let (row, adds) = (self.random.below(ROWS) as u8, self.random.below(2) == 0);
        for thread in 0..self.threads() {
            let number = held + thread as u32;
            if thread > 0 {
                let until = self.reaching(number, true);
                self.wait(thread, flag, until);
            }
            self.push(thread, Act::Read(row));
            self.write(thread, row);
            if adds {
                self.add(thread, (flag, 1), false);
            } else {
                self.set(thread, flag, number + 1);
            }
        }
        self.held[usize::from(flag)] = held + self.threads() as u32;
    }

    /// The barrier of a grid: the bit that the last one changes.
    fn generation(&mut self, flag: u8) {
        const BIT: u32 = 1 << 31;
        if self.held[usize::from(flag)] & (BIT - 1) != 0 {
            return self.message(flag ^ 1);
        }
        let all = self.threads();
        let row = self.random.below(ROWS) as u8;
        let writes = self.written == 0;
        let first = self.random.below(all);
        if writes {
            self.write(first, row);
        }
        for thread in 0..all {
            let by = if thread == 0 { BIT - (all as u32 - 1) } else { 1 };
            self.add(thread, (flag, by), true);
            self.wait(thread, flag, Until::OldDiffers(BIT));
            if writes {
                self.push(thread, Act::Read(row));
            }
        }
        self.held[usize::from(flag)] = self.held[usize::from(flag)].wrapping_add(BIT);
    }

    /// Two threads answer one another.
    fn ping_pong(&mut self) {
        if self.held != [0; FLAGS] || self.written > 0 {
            self.meeting(0, false);
        }
        self.is_last = true;
        let [one, other] = [0, 1];
        let row = self.random.below(ROWS) as u8;
        for _ in 0..1 + self.random.below(2) {
            let held = self.held;
            self.write(one, row);
            self.set(one, 0, held[0] + 1);
            self.wait(other, 0, Until::AtLeast(held[0] + 1));
            self.push(other, Act::Read(row));
            self.add(other, (1, 1), false);
            self.wait(one, 1, Until::AtLeast(held[1] + 1));
            self.held = [held[0] + 1, held[1] + 1];
        }
    }

    /// A thread tells the next one, which tells the one after: by the other flag, or on top of the first change.
    fn chain(&mut self) {
        if self.held != [0; FLAGS] || self.written > 0 || self.threads() < 3 {
            return self.meeting(0, true);
        }
        self.is_last = true;
        let row = self.random.below(ROWS) as u8;
        self.write(0, row);
        // The first two threads may be of one CTA.
        let is_near = self.program.layout == Layout::Pairs && self.random.below(2) == 0;
        self.near = is_near;
        self.add(0, (0, 1), false);
        self.wait(1, 0, Until::AtLeast(1));
        self.near = false;
        let way = if is_near { 3 } else { self.random.below(4) };
        let least = match way {
            0 | 1 => {
                self.set(1, 0, 3);
                if self.random.below(2) == 0 { 1 } else { 3 }
            }
            2 => {
                self.add(1, (0, 2), false);
                3
            }
            _ => {
                self.add(1, (1, 2), false);
                self.wait(2, 1, Until::AtLeast(2));
                return self.push(2, Act::Read(row));
            }
        };
        self.wait(2, 0, Until::AtLeast(least));
        self.push(2, Act::Read(row));
    }

    /// Each CTA meets, the first thread of each changes the flag and waits, and all meet again.
    fn groups(&mut self, flag: u8) {
        let flag = if self.fragile[usize::from(flag)] { flag ^ 1 } else { flag };
        self.fragile[usize::from(flag ^ 1)] = false;
        let held = self.held[usize::from(flag)];
        let writer = self.random.below(self.threads());
        let row = self.random.below(ROWS) as u8;
        let writes = self.written == 0;
        if writes {
            self.write(writer, row);
        }
        for thread in 0..self.threads() {
            self.push(thread, Act::Meet);
        }
        for leader in [0, 2] {
            self.add(leader, (flag, 1), false);
        }
        self.held[usize::from(flag)] = held + 2;
        for leader in [0, 2] {
            self.wait(leader, flag, Until::AtLeast(held + 2));
        }
        for thread in 0..self.threads() {
            self.push(thread, Act::Meet);
            if writes && self.random.below(2) == 0 {
                self.push(thread, Act::Read(row));
            }
        }
    }
}

/// One mistake, perhaps one that changes nothing.
fn spoil(random: &mut Random, program: &mut Program) {
    let layout = program.layout;
    let thread = random.below(program.threads.len());
    let scope = if random.below(3) == 0 { Scope::Cta } else { wide(random, layout) };
    let acts = &mut program.threads[thread];
    if acts.is_empty() {
        return;
    }
    let at = random.below(acts.len());
    let flag = random.below(FLAGS) as u8;
    let number = random.below(4) as u32;
    match random.below(14) {
        0 | 1 => drop(acts.remove(at)),
        2 if at + 1 < acts.len() => acts.swap(at, at + 1),
        3 if acts[at] != Act::Meet => acts.insert(at, acts[at]),
        4 => acts.insert(at, Act::Read(random.below(ROWS) as u8)),
        5 => acts.insert(at, Act::Write(random.below(ROWS) as u8, 99)),
        6 => {
            let order = pick(random, &[AtomicOrder::Relaxed, AtomicOrder::Release]);
            acts.insert(at, Act::Add { flag, by: number, order, scope, old: false });
        }
        7 => {
            let order = pick(random, &[Order::Relaxed, Order::Ordered, Order::Weak]);
            acts.insert(at, Act::Set { flag, to: number, order, scope });
        }
        8 => {
            let until = pick(random, &[Until::AtLeast(number), Until::Equal(number), Until::Differs(number)]);
            let order = pick(random, &[Order::Relaxed, Order::Ordered]);
            acts.insert(at, Act::Wait { flag, until, order, scope, used: random.below(4) == 0 });
        }
        _ => change(random, &mut acts[at], scope),
    }
    while acts.len() > STEPS {
        acts.pop();
    }
    debug_assert!(thread < THREADS);
}

/// Changes a step in place.
fn change(random: &mut Random, act: &mut Act, wider: Scope) {
    let what = random.below(5);
    let kinds = [FenceKind::Acquire, FenceKind::Release, FenceKind::Both];
    match act {
        Act::Read(row) | Act::Write(row, _) => *row = random.below(ROWS) as u8,
        Act::Add { flag, by, order, scope, .. } => match what {
            0 => *flag ^= 1,
            1 => *by = by.wrapping_add(1),
            2 => *scope = wider,
            3 | 4 => *order = pick(random, &[AtomicOrder::Relaxed, AtomicOrder::Acquire]),
            _ => {}
        },
        Act::Set { flag, to, order, scope } => match what {
            0 => *flag ^= 1,
            1 => *to = to.wrapping_add(1),
            2 => *scope = wider,
            3 | 4 => *order = pick(random, &[Order::Relaxed, Order::Weak, Order::Volatile]),
            _ => {}
        },
        Act::Wait { flag, until, order, scope, used } => match what {
            0 => *flag ^= 1,
            1 => *until = changed(random, *until),
            2 => *scope = wider,
            3 => *order = pick(random, &[Order::Relaxed, Order::Relaxed, Order::Volatile, Order::Weak]),
            4 => *used = true,
            _ => {}
        },
        Act::Fence(kind, scope) => {
            *kind = pick(random, &kinds);
            *scope = wider;
        }
        Act::Look { other } => *other ^= true,
        Act::Meet => {}
    }
}

/// Another condition.
fn changed(random: &mut Random, until: Until) -> Until {
    let number = match until {
        Until::AtLeast(number) | Until::Equal(number) | Until::Differs(number) | Until::Bits(number) => {
            number
        }
        Until::OldDiffers(_) => 1 << 31,
        Until::OldAndMore(more) => more,
    };
    match random.below(7) {
        0 => Until::AtLeast(number.wrapping_add(1)),
        1 => Until::AtLeast(number.saturating_sub(1)),
        2 => Until::Equal(number),
        3 => Until::Differs(number),
        4 => Until::Bits(number),
        5 => Until::OldDiffers(number),
        _ => Until::OldAndMore(1 + number % 3),
    }
}
