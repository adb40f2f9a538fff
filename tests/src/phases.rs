//! Small pipelines over barriers in memory (rules Y9 to Y11), and every schedule of them.
//!
//! A [`Program`] is up to four threads, each alone in a warp of its own, that arrive at barriers, expect bytes, start
//! bulk copies, wait for phases by parity, and read and write rows of shared memory. [`explore`] takes steps of threads
//! and completions of copies in every order. It models time only: writes are visible immediately, whatever proxies and
//! relaxed orders hide. So it checks one direction of the rules: a program that the verifier calls *clean* has one
//! outcome under every schedule, and under none is a row copied over that a thread has written since the last proxy fence
//! of any thread, and no other has read.

use std::collections::BTreeSet;
use std::fmt::Write;

/// The number of barriers of a program.
pub const BARRIERS: usize = 4;
/// The number of rows of shared memory.
pub const ROWS: usize = 2;
/// The number of rows that copies read.
pub const SOURCES: usize = 4;
/// The size of a row in bytes.
const ROW: u32 = 16;

/// A step of a thread. The first number is the barrier, if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Arrives this many times at a barrier.
    Arrive(u8, u8),
    /// Expects this many rows and arrives.
    ArriveExpecting(u8, u8),
    /// Expects this many rows.
    Expect(u8, u8),
    /// Copies a source to a row; completes on the barrier.
    Copy {
        /// The barrier whose phase waits for it.
        barrier: u8,
        /// The row.
        to: u8,
        /// The source.
        from: u8,
    },
    /// Waits for the end of a phase of that parity.
    Wait(u8, u8),
    /// Adds a row to the thread's sum.
    Read(u8),
    /// Writes a row.
    Write(u8, u8),
    /// A proxy fence.
    Fence,
}

/// A program: threads, and the number of arrivals for which the phases of each barrier wait.
#[derive(Clone, Debug)]
pub struct Program {
    /// The steps of each thread.
    pub threads: Vec<Vec<Act>>,
    /// The expected arrivals of each barrier.
    pub counts: [u8; BARRIERS],
}

/// The initial contents of a row.
fn initial(row: usize) -> u32 {
    3 + 2 * row as u32
}

fn source(row: usize) -> u32 {
    100 + 7 * row as u32
}

fn added(sum: u32, value: u32) -> u32 {
    sum.wrapping_mul(31).wrapping_add(value)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Barrier {
    pending: u8,
    rows: i8,
    phase: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: Vec<u8>,
    sums: Vec<u32>,
    rows: [u32; ROWS],
    barriers: [Barrier; BARRIERS],
    /// Barrier, row and source of the copies in flight.
    copies: Vec<(u8, u8, u8)>,
    /// The thread that has written a row, if no thread has executed a proxy fence since, and no other has read it.
    hidden: [Option<u8>; ROWS],
}

/// The possible outcomes of a program.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The possible final sums of the threads.
    pub ends: BTreeSet<Vec<u32>>,
    /// Whether a state is reached in which no thread can take a step, and not all have ended.
    pub stuck: bool,
    /// Whether a thread can arrive more often than its phase expects.
    pub broken: bool,
    /// Whether a copy can be started over what no proxy fence has published.
    pub hidden: bool,
}

/// Explores every schedule of a program; `None` if there are more than `most` states.
pub fn explore(program: &Program, most: usize) -> Option<Findings> {
    let barriers = program.counts.map(|count| Barrier { pending: count, rows: 0, phase: 0 });
    let start = State {
        at: vec![0; program.threads.len()],
        sums: vec![0; program.threads.len()],
        rows: std::array::from_fn(initial),
        barriers,
        copies: Vec::new(),
        hidden: [None; ROWS],
    };
    let mut findings = Findings::default();
    let (mut seen, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(state) = open.pop() {
        let next = steps(program, &state, &mut findings);
        let ended = state.at.iter().zip(&program.threads).all(|(at, acts)| usize::from(*at) == acts.len());
        if ended {
            findings.ends.insert(state.sums.clone());
        } else if next.is_empty() {
            findings.stuck = true;
        }
        for state in next {
            if seen.insert(state.clone()) {
                open.push(state);
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(findings)
}

fn steps(program: &Program, state: &State, findings: &mut Findings) -> Vec<State> {
    let mut next = Vec::new();
    for (thread, acts) in program.threads.iter().enumerate() {
        let Some(act) = acts.get(usize::from(state.at[thread])) else { continue };
        let mut after = state.clone();
        after.at[thread] += 1;
        let mut arrives = None;
        match *act {
            Act::Arrive(barrier, count) => arrives = Some((barrier, count)),
            Act::ArriveExpecting(barrier, rows) => {
                after.barriers[usize::from(barrier)].rows += rows as i8;
                arrives = Some((barrier, 1));
            }
            Act::Expect(barrier, rows) => after.barriers[usize::from(barrier)].rows += rows as i8,
            Act::Copy { barrier, to, from } => {
                findings.hidden |= after.hidden[usize::from(to)].take().is_some();
                after.copies.push((barrier, to, from));
                after.copies.sort_unstable();
            }
            Act::Wait(barrier, parity) => {
                if state.barriers[usize::from(barrier)].phase & 1 == parity {
                    continue;
                }
            }
            Act::Read(row) => {
                let row = usize::from(row);
                after.sums[thread] = added(after.sums[thread], after.rows[row]);
                after.hidden[row] = after.hidden[row].filter(|writer| usize::from(*writer) == thread);
            }
            Act::Write(row, value) => {
                after.rows[usize::from(row)] = value.into();
                after.hidden[usize::from(row)] = Some(thread as u8);
            }
            Act::Fence => after.hidden = [None; ROWS],
        }
        if let Some((barrier, count)) = arrives {
            let held = &mut after.barriers[usize::from(barrier)];
            let Some(pending) = held.pending.checked_sub(count) else {
                findings.broken = true;
                continue;
            };
            held.pending = pending;
            end_phase(program, &mut after, barrier);
        }
        next.push(after);
    }
    for at in 0..state.copies.len() {
        let mut after = state.clone();
        let (barrier, to, from) = after.copies.remove(at);
        after.rows[usize::from(to)] = source(from.into());
        after.barriers[usize::from(barrier)].rows -= 1;
        end_phase(program, &mut after, barrier);
        next.push(after);
    }
    next
}

fn end_phase(program: &Program, state: &mut State, barrier: u8) {
    let held = &mut state.barriers[usize::from(barrier)];
    if held.pending == 0 && held.rows == 0 {
        *held = Barrier { pending: program.counts[usize::from(barrier)], rows: 0, phase: held.phase + 1 };
    }
}

/// The program as a kernel `k` with the tensors `x` (sources) and `y` (sums).
pub fn kernel(program: &Program) -> String {
    let mut out = String::from(
        ".version 8.6\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 x, .param .u64 y)\n{\n\
         \t.reg .pred %p, %over;\n\t.reg .b32 %w, %lane, %sum, %v, %tid;\n\t.reg .b64 %x, %y, %o;\n\
         \t.shared .align 16 .b8 rows[64];\n\t.shared .align 8 .b64 bars[8];\n\
         \tld.param.u64 %x, [x];\n\tld.param.u64 %y, [y];\n\tmov.u32 %tid, %tid.x;\n\tshr.u32 %w, %tid, 5;\n\
         \tand.b32 %lane, %tid, 31;\n\tmov.u32 %sum, 0;\n\tsetp.ne.u32 %p, %tid, 0;\n\t@%p bra READY;\n",
    );
    let mut line = |text: &str| _ = writeln!(out, "\t{text}");
    for row in 0..ROWS {
        for word in 0..ROW / 4 {
            line(&format!("mov.u32 %v, {};", initial(row)));
            line(&format!("st.shared.u32 [rows+{}], %v;", ROW * row as u32 + 4 * word));
        }
    }
    for (barrier, count) in program.counts.iter().enumerate() {
        line(&format!("mbarrier.init.shared::cta.b64 [bars+{}], {count};", 8 * barrier));
    }
    line("fence.proxy.async;");
    line("READY: bar.sync 0;");
    line("setp.ne.u32 %p, %lane, 0;");
    line("@%p exit;");
    for thread in 0..program.threads.len() {
        line(&format!("setp.eq.u32 %p, %w, {thread};"));
        line(&format!("@%p bra T{thread};"));
    }
    line("exit;");
    for (thread, acts) in program.threads.iter().enumerate() {
        line(&format!("T{thread}:"));
        for (number, act) in acts.iter().enumerate() {
            let at = |barrier: u8| format!("[bars+{}]", 8 * barrier);
            let bytes = |rows: u8| ROW * u32::from(rows);
            match *act {
                Act::Arrive(barrier, count) => {
                    line(&format!("mbarrier.arrive.shared::cta.b64 _, {}, {count};", at(barrier)));
                }
                Act::ArriveExpecting(barrier, rows) => {
                    let (at, bytes) = (at(barrier), bytes(rows));
                    line(&format!("mbarrier.arrive.expect_tx.shared::cta.b64 _, {at}, {bytes};"));
                }
                Act::Expect(barrier, rows) => {
                    let (at, bytes) = (at(barrier), bytes(rows));
                    line(&format!("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {at}, {bytes};"));
                }
                Act::Copy { barrier, to, from } => line(&format!(
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [rows+{}], [%x+{}], {ROW}, {};",
                    ROW * u32::from(to),
                    ROW * u32::from(from),
                    at(barrier)
                )),
                Act::Wait(barrier, parity) => {
                    line(&format!("W{thread}_{number}:"));
                    let at = at(barrier);
                    line(&format!("mbarrier.try_wait.parity.shared::cta.b64 %over, {at}, {parity};"));
                    line(&format!("@!%over bra W{thread}_{number};"));
                }
                Act::Read(row) => {
                    line(&format!("ld.shared.u32 %v, [rows+{}];", ROW * u32::from(row)));
                    line("mad.lo.u32 %sum, %sum, 31, %v;");
                }
                Act::Write(row, value) => {
                    line(&format!("mov.u32 %v, {value};"));
                    line(&format!("st.shared.u32 [rows+{}], %v;", ROW * u32::from(row)));
                }
                Act::Fence => line("fence.proxy.async;"),
            }
        }
        line(&format!("st.global.u32 [%y+{}], %sum;", 4 * thread));
        line("exit;");
    }
    out.push_str("}\n");
    out
}

/// The contents of the sources, word by word.
pub fn sources() -> Vec<u32> {
    (0..SOURCES).flat_map(|row| [source(row); ROW as usize / 4]).collect()
}

/// A kernel `k` of one thread that stores these sums.
pub fn outcome(sums: &[u32]) -> String {
    let mut out = String::from(
        ".version 8.6\n.target sm_90\n.address_size 64\n\n.visible .entry k(.param .u64 x, .param .u64 y)\n{\n\
         \t.reg .b32 %v;\n\t.reg .b64 %y;\n\tld.param.u64 %y, [y];\n",
    );
    for (thread, sum) in sums.iter().enumerate() {
        let _ = writeln!(out, "\tmov.u32 %v, {sum};\n\tst.global.u32 [%y+{}], %v;", 4 * thread);
    }
    out.push_str("\texit;\n}\n");
    out
}
