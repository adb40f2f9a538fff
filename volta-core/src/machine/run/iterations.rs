//! Iterations of one thread as CTAs: nested loops whose iterations differ only in counters are executed as a grid, one
//! iteration for all that do the same.
//!
//! How many iterations there are is found by executing the code on known words up to each loop, and looking for the
//! iteration after which it ends. That is a guess, which each CTA checks ([`Program::with_iterations_apart`]).

use super::class_grid::{FEWEST_CTAS, run_by_classes};
use super::execution::Execution;
use crate::case::KernelLaunch;
use crate::launch::Launch;
use crate::launch::bind::Job;
use crate::launch::objects::Backing;
use crate::machine::group::assumptions::Relied;
use crate::program::{Compare, CountedLoop, InstId, Op, Program, Space, Special, Src};
use crate::term::Store;
use crate::value::Value;
use crate::value::constants::Recognition;
use crate::value::known_words::KnownWords;

/// So many operations are executed to find out how often loops are.
const MOST_OPERATIONS: usize = 1 << 14;

/// More CTAs than this are not told apart.
const MOST_CTAS: u64 = 1 << 27;

/// Runs the iterations of the only thread of a launch as CTAs of classes. `None` if that cannot be done, or does not
/// pay: nothing is known then.
pub(crate) fn run_iterations(
    job: &Job<'_>,
    launch: &Launch<'_>,
    recognition: Recognition,
    relied: &mut Relied,
) -> Option<Execution> {
    let (program, grid) = apart(launch)?;
    let mut kernel: KernelLaunch = job.kernel.clone();
    kernel.launch.grid = grid;
    let job = Job { program: &program, kernel: &kernel, ..job.clone() };
    let launch = Launch::bind(&job, &program, recognition, None).ok()?;
    let mut own = Relied::new(&launch, &job.options.rules);
    let mut outcome = run_by_classes(&launch, job.options, &mut own)?;
    relied.merge(own);
    outcome.ctas = (1, 1);
    Some(outcome)
}

/// The program of a grid of CTAs that each execute one iteration, and the grid.
fn apart(launch: &Launch<'_>) -> Option<(Program, [u32; 3])> {
    let nest = launch.program.counted_nest();
    let mut walk = Walk { launch, known: KnownWords::default(), at: InstId::FIRST, taken: 0 };
    let mut counted = Vec::new();
    let (mut grid, mut ctas) = ([1; 3], 1u64);
    for own in nest {
        let Some(iterations) = walk.up_to(own.header).and_then(|()| walk.iterations(&own)) else { break };
        ctas = ctas.saturating_mul(iterations.into());
        if ctas > MOST_CTAS {
            break;
        }
        counted.push((own, iterations));
    }
    for (extent, (_, iterations)) in grid.iter_mut().zip(counted.iter().rev()) {
        *extent = *iterations;
    }
    let ctas: u64 = grid.iter().map(|extent| u64::from(*extent)).product();
    (ctas >= FEWEST_CTAS).then(|| (launch.program.with_iterations_apart(&counted), grid))
}

/// The code of the thread, executed as far as its words are known.
struct Walk<'l> {
    launch: &'l Launch<'l>,
    known: KnownWords,
    at: InstId,
    taken: usize,
}

impl Walk<'_> {
    /// Executes the code up to an operation. `None` if it is not reached, or what decides that is not known.
    fn up_to(&mut self, end: InstId) -> Option<()> {
        let program = self.launch.program;
        while self.at != end {
            self.taken += 1;
            let inst = program.insts.get(self.at.index()).filter(|_| self.taken < MOST_OPERATIONS)?;
            let next = InstId(self.at.0 + 1);
            let is_executed = inst.guard.map_or(Some(true), |guard| self.known.truth(guard));
            if inst.op.control().is_some() {
                self.at = match (is_executed?, &inst.op) {
                    (false, _) => next,
                    (true, Op::Branch { target }) => *target,
                    (true, _) => return None,
                };
                continue;
            }
            match is_executed {
                Some(true) => self.step(&inst.op),
                Some(false) => {}
                None => self.known.forget(&inst.op),
            }
            self.at = next;
        }
        Some(())
    }

    fn step(&mut self, op: &Op) {
        self.known.step(op);
        if let Op::Special { d, special, .. } = op {
            // Other registers are not read by what is a grid.
            let word = u64::from(matches!(special, Special::Ntid(_) | Special::Nctaid(_)));
            self.known.registers.insert(*d, word);
        } else if let Op::Load { space: Space::Param, address, width, d, access: _ } = op
            && let Src::Symbol(variable, offset) = address.base
        {
            let base = self.launch.objects.address(variable, 0).wrapping_add_signed(offset + address.offset);
            for (at, d) in (0..).zip(d) {
                let word = self.parameter(base + at * u64::from(width.bytes()), width.bytes());
                self.known.registers.extend((*d).zip(word));
            }
        } else if let Op::Cvta { d, a, .. } = op {
            // Where an address is does not decide how often a loop is executed.
            let word = self.known.value(*a);
            self.known.registers.extend(word.map(|word| (*d, word)));
        }
    }

    /// A word of the parameters.
    fn parameter(&self, address: u64, bytes: u32) -> Option<u64> {
        let (object, offset) = self.launch.objects.find(Space::Param, address)?;
        let Backing::Tensor(number) = self.launch.objects.get(object).backing else { return None };
        let tensor = &self.launch.tensors[number as usize];
        let byte = u64::try_from(offset).ok()?;
        match tensor.whole(byte, bytes, &mut Store::new(), InstId::FIRST)? {
            Value::Bits(bits) => Some(bits),
            Value::Sym(_) | Value::Undefined(_) => None,
        }
    }

    /// After how many iterations a loop ends, at whose beginning the walk is.
    fn iterations(&self, counted: &CountedLoop) -> Option<u32> {
        // As far as the operations before its end tell.
        let goes_on = |iteration| self.at_end(counted, iteration, |known, _| known.truth(counted.goes_on));
        // Twice as many, until it ends; then the first one after which it does.
        let (mut least, mut most) = (0, 1u32);
        if !goes_on(0)? {
            return Some(1);
        }
        while goes_on(most)? {
            let Some(twice) = most.checked_mul(2) else { return self.meets(counted) };
            (least, most) = (most, twice);
        }
        while most - least > 1 {
            let middle = least + (most - least) / 2;
            if goes_on(middle)? { least = middle } else { most = middle }
        }
        most.checked_add(1)
    }

    /// After how many iterations a loop ends that goes on while two words differ.
    fn meets(&self, counted: &CountedLoop) -> Option<u32> {
        let apart = |iteration: u32| {
            self.at_end(counted, iteration, |known, compared| {
                let Op::SetpInt { compare: Compare::Ne | Compare::Eq, ty, a, b, .. } = compared? else {
                    return None;
                };
                let bits = 64 - ty.width.bits();
                let apart = known.value(*a)?.wrapping_sub(known.value(*b)?);
                Some((apart << bits) as i64 >> bits)
            })
        };
        let (first, second) = (i128::from(apart(0)?), i128::from(apart(1)?));
        let step = second - first;
        let is_met = step != 0 && first % step == 0;
        u32::try_from(is_met.then(|| -first / step)?).ok()?.checked_add(1)
    }

    /// What is known at the end of an iteration, and the operation that last wrote the predicate of the guard there.
    fn at_end<T>(
        &self,
        counted: &CountedLoop,
        iteration: u32,
        read: impl FnOnce(&KnownWords, Option<&Op>) -> Option<T>,
    ) -> Option<T> {
        let program = self.launch.program;
        let starts = program.block_starts();
        let end = counted.latch.index();
        let first = (0..=end).rev().find(|at| starts[*at])?;
        let mut known = self.known.clone();
        for at in 0..program.insts.len() {
            if counted.has(InstId::from_index(at)) {
                known.forget(&program.insts[at].op);
            }
        }
        for counter in &counted.counters {
            let by = self.known.value(counter.by);
            let (Some(by), Some(word)) = (by, self.known.value(Src::Reg(counter.register))) else { continue };
            let is_before = counter.at.index() < first;
            let times = u64::from(iteration) + u64::from(is_before);
            let added = by.wrapping_mul(times);
            let word = if counter.subtracts { word.wrapping_sub(added) } else { word.wrapping_add(added) };
            known.registers.insert(counter.register, word & counter.width.mask());
        }
        program.insts[first..end].iter().for_each(|inst| match inst.guard {
            None => known.step(&inst.op),
            Some(_) => known.forget(&inst.op),
        });
        let code = &program.insts[first..end];
        let decides = |op: &&Op| op.written().predicates.contains(&counted.goes_on.pred);
        read(&known, code.iter().rev().map(|inst| &inst.op).find(decides))
    }
}
