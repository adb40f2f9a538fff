//! An exhaustive explorer of small CTAs (rule Y8): slow, and written from the rules alone.
//!
//! It shares nothing with the verifier, so that the two can be compared: the verdict on a kernel that the verifier runs
//! once must hold for *every* schedule.
//!
//! # The language
//!
//! A [`Program`] is a CTA of up to four warps. Each warp has a text of [`Line`]s. A line is executed by the
//! *members* of the warp that its guard names: one to three active threads at chosen lanes, and the *rest*, which is all
//! other lanes of the warp together. The rest executes no memory accesses (and nothing else that could tell its
//! lanes apart), so one member can stand for all of its lanes; in the last warp the rest may be absent, as in a block
//! that is no multiple of 32. An [`Act`] reads or writes halves of two shared or global words, or of two global words
//! more, the *source*; copies from the source to shared memory asynchronously; updates one or both of the words
//! atomically; synchronises, or returns. That two threads are at the same instruction means that they are at the same
//! line.
//!
//! # What is explored
//!
//! The relaxed system of rule Y8, in two layers, because no statement's effect on control depends on memory:
//!
//! * *Control* ([`control`]): which warps meet at which barriers, and when threads return. Memory accesses and
//!   operations on copies are passed without waiting. All interleavings of barrier arrivals, warp-level meetings and
//!   returns are enumerated, with the whole history of meetings as part of the state. A run ends with all threads
//!   returned, stuck, or with a broken rule. If the runs do not all end in the same state, participants depend on the
//!   schedule (Y3).
//! * *Memory* ([`memory`]): for each end of control, an agent for each thread follows the thread's path and performs
//!   its accesses. It waits only where rule Y2 orders memory: after a barrier or a warp barrier, until the agents of
//!   all participants have reached their arrivals. Shuffles, `arrive` and returning make no agent wait. All
//!   interleavings of the agents are enumerated. A race is a state in which the next steps of two agents are
//!   conflicting accesses. Atomics of the same bytes do not race (Y7), but if they are different operations, the order
//!   *matters*. Nor do writes of one constant by one line race, if their threads are of one warp and have taken the
//!   same branches since they last met; the [`Style`] of emission decides which guards are branches. This layer also
//!   finds arrivals that do not happen after a release of the previous generation (Y3), as a state in which such an
//!   arrival has been reached and no release has been passed.
//!
//! Values are concrete: every active thread has a register, reads replace it, writes store it or a constant.
//! They are tracked only if there is no fault; then all runs must leave the same memory and registers.
//!
//! A step that is no access only enables others, so agents pass it as soon as they can; [`Pace::Single`] disables
//! this shortcut, so that tests can compare both.
//!
//! Not modelled: old values of atomics and their scopes, bulk and tensor copies, counts that are no multiple of 32,
//! values of reductions and shuffles, several CTAs, loops and branches (threads are straight lines; the emitted PTX
//! branches to get there).

pub mod control;
pub mod emit;
pub mod generate;
pub mod memory;

use std::collections::{BTreeMap, BTreeSet};

use emit::Style;

/// A set of members of one warp, as bits.
pub type Members = u8;

/// Number of half words that programs share, without the source.
pub const HALVES: usize = 4;

/// Number of half words with the source, which follows the others.
pub const CELLS: usize = 8;

/// The most threads that a program may have: members of all warps.
pub const THREADS: usize = 16;

/// The most copies that a program may have.
pub const COPIES: usize = 6;

/// The initial contents of the half words, if they are initialised.
pub const INITIAL: [u16; CELLS] = [0, 1, 2, 3, 40, 41, 42, 43];

/// The threads for which a barrier waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Count {
    /// All threads of the CTA; those that returned count as arrived.
    All,
    /// That many threads, by whole warps.
    Threads(u32),
}

/// The operation of a warp at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// `sync`.
    Sync,
    /// `arrive`.
    Arrive,
    /// `red.popc`.
    Reduce,
    /// `red.or`.
    ReduceAny,
}

impl Use {
    /// Whether it combines predicates.
    pub fn reduces(self) -> bool {
        match self {
            Use::Sync | Use::Arrive => false,
            Use::Reduce | Use::ReduceAny => true,
        }
    }

    /// Whether the two combine predicates, by different operators.
    pub fn is_another_operator(self, other: Use) -> bool {
        self.reduces() && other.reduces() && self != other
    }
}

/// The value that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stored {
    /// A constant.
    Constant(u32),
    /// The thread's register.
    Register,
}

/// The half words that an access covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// The first half word; from [`HALVES`] on it lies in the source.
    pub half: u8,
    /// Whether it covers a whole word; the first half is then even.
    pub wide: bool,
}

impl Cell {
    /// The half words covered, as bits.
    pub fn bits(self) -> u8 {
        (if self.wide { 0b11 } else { 0b1 }) << self.half
    }
}

/// The half words that an asynchronous copy moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Transfer {
    /// The first half word that is written; a multiple of the size.
    pub to: u8,
    /// The first half word that is read, in the source; a multiple of the size.
    pub from: u8,
    /// The number of half words that are written: 2 or 4.
    pub size: u8,
    /// The number of half words that are read; the others become zero.
    pub taken: u8,
}

impl Transfer {
    /// The half words read, as bits.
    pub fn reads(self) -> u8 {
        ((1u16 << self.taken) as u8).wrapping_sub(1) << self.from
    }

    /// The half words written, as bits.
    pub fn writes(self) -> u8 {
        ((1 << self.size) - 1) << self.to
    }
}

/// The operation of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "they are the ISA's, under its names")]
pub enum Operation {
    Add,
    MinSigned,
    MaxSigned,
    MaxUnsigned,
    And,
    Or,
    Xor,
}

impl Operation {
    /// All of them.
    pub const ALL: [Operation; 7] = [
        Operation::Add,
        Operation::MinSigned,
        Operation::MaxSigned,
        Operation::MaxUnsigned,
        Operation::And,
        Operation::Or,
        Operation::Xor,
    ];
}

/// An atomic operation on a word, or on both at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Update {
    /// The first half word: 0 or 2; 0 if both words are one.
    pub half: u8,
    /// Whether it is on both words.
    pub double: bool,
    /// The operation.
    pub operation: Operation,
    /// The operand for each of the words.
    pub operand: u32,
}

impl Update {
    /// The half words covered, as bits.
    pub fn bits(self) -> u8 {
        (if self.double { 0b1111 } else { 0b11 }) << self.half
    }

    /// Whether both are on the same bytes, so that they do not race.
    pub fn meets(self, other: Update) -> bool {
        self.bits() == other.bits()
    }
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Act {
    /// Loads the cell into the register.
    Read(Cell),
    /// Stores a value to the cell.
    Write(Cell, Stored),
    /// Updates cells atomically.
    Update(Update),
    /// A CTA barrier.
    Barrier {
        /// The operation.
        how: Use,
        /// The barrier's number.
        id: u8,
        /// The threads for which it waits.
        count: Count,
        /// `bar`, which requires the warp's lanes to be at one instruction, rather than `barrier`.
        aligned: bool,
    },
    /// `bar.warp.sync`.
    WarpSync(Members),
    /// `shfl.sync.idx` from a member.
    Shuffle {
        /// The participating members.
        mask: Members,
        /// The member whose value all read; a single lane.
        from: u8,
    },
    /// `cp.async`; only where the shared words are in shared memory.
    Copy(Transfer),
    /// `cp.async.commit_group`: the thread's copies since the last one are a group.
    Commit,
    /// `cp.async.wait_group`: all but that many of the thread's latest groups are done; or `wait_all`, and with them
    /// the copies in no group.
    Wait(Option<u8>),
    /// The thread returns.
    Exit,
}

impl Act {
    /// Whether the thread reads or writes memory.
    pub fn is_access(self) -> bool {
        matches!(self, Act::Read(_) | Act::Write(..) | Act::Update(_))
    }

    /// Whether it involves no other thread.
    pub fn is_local(self) -> bool {
        self.is_access() || matches!(self, Act::Copy(_) | Act::Commit | Act::Wait(_))
    }
}

/// A statement and who executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Members that execute it; the rest never executes an access.
    pub guard: Members,
    /// The statement.
    pub act: Act,
}

/// One warp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Warp {
    /// Lanes of the active threads: members 0, 1, ….
    pub lanes: Vec<u8>,
    /// Whether the other lanes exist, as one more member. They do in every warp but the last.
    pub rest: bool,
    /// The text.
    pub lines: Vec<Line>,
}

impl Warp {
    /// Number of members.
    pub fn members(&self) -> usize {
        self.lanes.len() + usize::from(self.rest)
    }

    /// All members.
    pub fn everybody(&self) -> Members {
        (1 << self.members()) - 1
    }

    /// Whether a member stands for the rest.
    pub fn is_rest(&self, member: usize) -> bool {
        member == self.lanes.len()
    }

    /// Whether a member executes a line.
    pub fn executes(&self, member: usize, line: &Line) -> bool {
        let of_one_lane = line.act.is_access() || matches!(line.act, Act::Copy(_));
        line.guard >> member & 1 == 1 && !(self.is_rest(member) && of_one_lane)
    }
}

/// Where the shared words are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// A shared array that nothing was written to.
    Shared,
    /// A shared array; thread 0 writes the initial contents and all threads pass a barrier before the texts begin.
    SharedInitialised,
    /// A global tensor with initial contents.
    Global,
}

/// A CTA.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// Where the shared words are.
    pub space: Space,
    /// The warps.
    pub warps: Vec<Warp>,
}

/// The options that relax rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relaxed {
    /// `exit_orders_memory` (Y2): for the CTA barriers without a count that returning completes (Y3), and for the
    /// lanes that the mask of a warp barrier names (Y4).
    pub exits: bool,
    /// `warp_collectives_order_memory` (Y4).
    pub collectives: bool,
}

/// A statement on a thread's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its line in the warp's text.
    pub line: usize,
    /// The statement.
    pub act: Act,
}

/// A thread, or the rest of a warp.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its warp.
    pub warp: usize,
    /// Its number among the warp's members.
    pub member: usize,
    /// Its path; the last step is to return.
    pub steps: Vec<Step>,
}

/// The threads of a program, by warp and member.
pub fn threads(program: &Program) -> Vec<Thread> {
    let mut threads = Vec::new();
    for (at, warp) in program.warps.iter().enumerate() {
        for member in 0..warp.members() {
            let mut steps: Vec<Step> = Vec::new();
            for (line, statement) in warp.lines.iter().enumerate() {
                if warp.executes(member, statement) {
                    steps.push(Step { line, act: statement.act });
                    if statement.act == Act::Exit {
                        break;
                    }
                }
            }
            if steps.last().is_none_or(|step| step.act != Act::Exit) {
                steps.push(Step { line: warp.lines.len(), act: Act::Exit });
            }
            threads.push(Thread { warp: at, member, steps });
        }
    }
    threads
}

/// A step of a thread: the thread's number and the step's number on its path.
pub type Place = (u8, u8);

/// Two accesses, each as its thread's number and the line in its warp's text, the lower one first.
pub type Pair = [(u8, usize); 2];

/// How a rule is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Broken {
    /// Lanes of a warp at different instructions, one of them aligned (Y3). The run goes on, so that this hides
    /// nothing else.
    Divergence,
    /// A lane outside its own mask (Y4).
    OutsideMask,
    /// Counts differ within a generation (Y3).
    Counts,
    /// Lanes of a warp, or warps of a generation, use a barrier in different ways (Y3). With and without a count are
    /// different ways for the lanes of one warp, and the same for warps if it is the same number.
    Ways,
    /// Two operators combine predicates in a generation (Y3).
    Operators,
    /// A warp that has arrived and not waited arrives again (Y3).
    Again,
}

/// The final contents of a completed run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Final {
    /// The half words.
    pub memory: [u16; CELLS],
    /// The threads' registers.
    pub registers: Vec<u32>,
}

/// Everything that can happen under some schedule.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Two conflicting accesses are enabled in some state.
    pub race: bool,
    /// The accesses that race: threads (of a copy, the one that started it) and lines. Empty unless all races are
    /// requested.
    pub races: BTreeSet<Pair>,
    /// Two atomics of the same bytes are enabled in some state, and are different operations.
    pub matters: bool,
    /// These atomics, as for `races`.
    pub mattering: BTreeSet<Pair>,
    /// Members of one instruction store the same value to one place, which is no race.
    pub same_stores: bool,
    /// Members of one instruction store values to one place of which it is not known whether they are the same.
    pub unclear: bool,
    /// Some run gets stuck.
    pub stuck: bool,
    /// Some run completes.
    pub completes: bool,
    /// Some run neither gets stuck nor has a race on its way, or atomics whose order matters.
    pub escapes: bool,
    /// Two runs end in different states of control, or have different generations of a barrier.
    pub parts: bool,
    /// Some arrival does not happen after a release of the generation before.
    pub unordered_arrival: bool,
    /// Rules that some run breaks.
    pub broken: BTreeSet<Broken>,
    /// The final contents of completed runs; only if there is no fault.
    pub finals: BTreeSet<Final>,
    /// States visited.
    pub states: usize,
}

impl Findings {
    /// Whether no schedule leads to a fault.
    pub fn faultless(&self) -> bool {
        !(self.race || self.matters || self.stuck || self.parts || self.unordered_arrival)
            && self.broken.is_empty()
    }
}

/// The program has more states, or threads, than are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// How agents of memory pass steps that are no accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As soon as possible, where the order makes no difference.
    Eager,
    /// In all orders.
    Single,
}

/// What to look for, and how.
#[derive(Clone, Copy, Debug)]
pub struct Search {
    /// The rules' options.
    pub relaxed: Relaxed,
    /// Whether shortcuts are taken.
    pub pace: Pace,
    /// Whether to continue after the first race, and collect all racing accesses.
    pub all_races: bool,
    /// The most states to visit.
    pub limit: usize,
    /// If set, members of one instruction may store the same value to one place (Y1); the style tells which guards are
    /// branches.
    pub same_stores: Option<Style>,
}

/// Explores all schedules of a program.
///
/// # Errors
/// [`TooLarge`] when there are more than `limit` states, [`THREADS`] threads or [`COPIES`] copies.
pub fn explore(program: &Program, search: Search) -> Result<Findings, TooLarge> {
    let threads = threads(program);
    if threads.len() > THREADS {
        return Err(TooLarge);
    }
    let run = memory::Memory::new(&threads, search).ok_or(TooLarge)?;
    let mut findings = Findings::default();
    let ends = control::explore(program, &threads, search.limit, &mut findings)?;
    let (broken, whole): (Vec<_>, Vec<_>) =
        ends.iter().partition(|end| matches!(end.how, control::How::Broken(_)));
    for end in &ends {
        match end.how {
            control::How::Complete => findings.completes = true,
            control::How::Stuck => findings.stuck = true,
            control::How::Broken(rule) => {
                findings.broken.insert(rule);
            }
        }
    }
    findings.parts = whole.len() > 1 || generations_differ(&ends);
    for end in whole.iter().chain(&broken) {
        // Accesses before a broken rule are explored only if they can still add a finding.
        let ambiguous = findings.parts || findings.unordered_arrival;
        let is_broken = matches!(end.how, control::How::Broken(_));
        let tells = search.all_races || findings.stuck && !findings.escapes;
        if is_broken && run.is_settled(&findings) && ambiguous && !tells {
            continue;
        }
        let races = std::mem::take(&mut findings.race);
        let matters = std::mem::take(&mut findings.matters);
        run.explore(&end.control, None, &mut findings)?;
        findings.escapes |= end.how != control::How::Stuck && !findings.race && !findings.matters;
        findings.race |= races;
        findings.matters |= matters;
    }
    if findings.faultless()
        && let [end] = whole.as_slice()
    {
        let initial = Final { memory: INITIAL, registers: vec![0; threads.len()] };
        run.explore(&end.control, Some(initial), &mut findings)?;
    }
    Ok(findings)
}

/// Whether the arrivals of some generation of some barrier differ between two runs.
fn generations_differ(ends: &BTreeSet<control::End>) -> bool {
    let mut seen: BTreeMap<(u8, usize), &[control::Arrival]> = BTreeMap::new();
    ends.iter().any(|end| {
        let mut generations = end.control.past.iter().flat_map(|(id, past)| {
            past.iter().enumerate().map(|(number, generation)| ((*id, number), &generation.arrivals))
        });
        generations.any(|(which, arrivals)| *seen.entry(which).or_insert(arrivals) != arrivals.as_slice())
    })
}
