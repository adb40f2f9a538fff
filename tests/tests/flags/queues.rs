//! The verifier against every assignment of items of work to those that take them (rule Y18): small random items, which
//! compute with what is left of earlier ones, and takers that get them in every order.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use volta_core::case::{Case, Launch, Options, Role};
use volta_core::verdict::Verdict;
use volta_suite::explored::{list, side, tensor};

/// Random queues, when `VOLTA_EXPLORE` does not say.
const QUEUES: u32 = 400;

/// The items.
const ITEMS: u32 = 4;
/// Sums beside one element for each item.
const SUMS: usize = 2;
/// Registers that keep what they hold; one more has the number of the item.
const KEPT: usize = 3;
const NUMBER: usize = KEPT;
/// Where a taker keeps one word.
const WORDS: [&str; 2] = ["local", "shared"];

#[derive(Clone, Debug)]
enum Act {
    /// A register becomes what an operation makes of another one and a number.
    Compute(usize, Operation, usize, u32),
    /// Loads the word of its own in a space.
    Load(usize, usize),
    /// Stores a register there.
    Keep(usize, usize),
    /// Stores a register to the item's element.
    Store(usize),
    /// Adds a register to a sum.
    Add(usize, usize),
    /// If a register is less than a number, the first list, otherwise the second.
    If(usize, u32, Vec<Act>, Vec<Act>),
    /// Takes no further item.
    Leave,
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add,
    And,
    Xor,
    /// The number alone.
    Be,
}

/// A queue, and those that take from it.
#[derive(Clone, Debug)]
struct Queue {
    item: Vec<Act>,
    takers: usize,
    /// Whether takers are blocks of one thread, not threads of one block.
    are_blocks: bool,
}

/// What a taker has.
#[derive(Clone, Debug)]
struct Taker {
    registers: [u32; KEPT + 1],
    words: [u32; 2],
    is_live: bool,
}

/// What all have together, and leave.
type Memory = [u32; ITEMS as usize + SUMS];

fn acts(depth: u32) -> BoxedStrategy<Vec<Act>> {
    let register = 0..=NUMBER;
    let operation =
        prop_oneof![Just(Operation::Add), Just(Operation::And), Just(Operation::Xor), Just(Operation::Be)];
    let plain = prop_oneof![
        4 => (0..KEPT, operation, register.clone(), 0..4u32).prop_map(|(d, op, a, k)| Act::Compute(d, op, a, k)),
        1 => (0..KEPT, 0..2usize).prop_map(|(d, word)| Act::Load(d, word)),
        1 => (0..2usize, register.clone()).prop_map(|(word, a)| Act::Keep(word, a)),
        3 => register.clone().prop_map(Act::Store),
        2 => (0..SUMS, register.clone()).prop_map(|(sum, a)| Act::Add(sum, a)),
    ];
    if depth == 0 {
        return prop::collection::vec(prop_oneof![9 => plain, 1 => Just(Act::Leave)], 0..3).boxed();
    }
    let choice = (register, 0..4u32, acts(depth - 1), acts(depth - 1))
        .prop_map(|(a, k, then, otherwise)| Act::If(a, k, then, otherwise));
    prop::collection::vec(prop_oneof![3 => plain, 1 => choice], 1..5).boxed()
}

fn queues() -> impl Strategy<Value = Queue> {
    (acts(1), 2..4usize, any::<bool>()).prop_map(|(item, takers, are_blocks)| Queue {
        item,
        takers,
        are_blocks,
    })
}

impl Taker {
    /// Before its first item.
    fn new() -> Taker {
        Taker { registers: [0, 1, 2, 0], words: [7; 2], is_live: true }
    }

    fn execute(&mut self, acts: &[Act], memory: &mut Memory) {
        for act in acts {
            match act {
                Act::Compute(d, operation, a, k) => {
                    let a = self.registers[*a];
                    self.registers[*d] = match operation {
                        Operation::Add => a.wrapping_add(*k),
                        Operation::And => a & k,
                        Operation::Xor => a ^ k,
                        Operation::Be => *k,
                    };
                }
                Act::Load(d, word) => self.registers[*d] = self.words[*word],
                Act::Keep(word, a) => self.words[*word] = self.registers[*a],
                Act::Store(a) => memory[self.registers[NUMBER] as usize] = self.registers[*a],
                Act::Add(sum, a) => {
                    let place = &mut memory[ITEMS as usize + sum];
                    *place = place.wrapping_add(self.registers[*a]);
                }
                Act::If(a, k, then, otherwise) => {
                    self.execute(if self.registers[*a] < *k { then } else { otherwise }, memory);
                }
                Act::Leave => self.is_live = false,
            }
            if !self.is_live {
                return;
            }
        }
    }
}

/// What is left, whoever takes which item.
fn explore(queue: &Queue, next: u32, takers: &[Taker], memory: &Memory, left: &mut BTreeSet<Vec<u32>>) {
    if takers.iter().all(|taker| !taker.is_live) {
        left.insert(memory.iter().copied().chain([next]).collect());
        return;
    }
    for (at, taker) in takers.iter().enumerate().filter(|(_, taker)| taker.is_live) {
        let (mut taker, mut memory) = (taker.clone(), *memory);
        if next < ITEMS {
            taker.registers[NUMBER] = next;
            taker.execute(&queue.item, &mut memory);
        } else {
            taker.is_live = false;
        }
        let mut takers = takers.to_vec();
        takers[at] = taker;
        explore(queue, next + 1, &takers, &memory, left);
    }
}

/// The instructions of some acts; `labels` counts labels.
fn emit(acts: &[Act], labels: &mut u32, text: &mut String) {
    for act in acts {
        let _ = match act {
            Act::Compute(d, Operation::Add, a, k) => writeln!(text, "add.u32 %r{d}, %r{a}, {k};"),
            Act::Compute(d, Operation::And, a, k) => writeln!(text, "and.b32 %r{d}, %r{a}, {k};"),
            Act::Compute(d, Operation::Xor, a, k) => writeln!(text, "xor.b32 %r{d}, %r{a}, {k};"),
            Act::Compute(d, Operation::Be, _, k) => writeln!(text, "mov.u32 %r{d}, {k};"),
            Act::Load(d, word) => writeln!(text, "ld.{0}.u32 %r{d}, [{0}_word];", WORDS[*word]),
            Act::Keep(word, a) => writeln!(text, "st.{0}.u32 [{0}_word], %r{a};", WORDS[*word]),
            Act::Store(a) => writeln!(text, "st.global.u32 [%d3], %r{a};"),
            Act::Add(sum, a) => {
                writeln!(text, "red.global.add.u32 [%d1+{}], %r{a};", 4 * (ITEMS as usize + sum))
            }
            Act::Leave => writeln!(text, "ret;"),
            Act::If(a, k, then, otherwise) => {
                *labels += 1;
                let label = *labels;
                let _ = writeln!(text, "setp.ge.u32 %p0, %r{a}, {k};\n@%p0 bra $otherwise{label};");
                emit(then, labels, text);
                let _ = writeln!(text, "bra $end{label};\n$otherwise{label}:");
                emit(otherwise, labels, text);
                writeln!(text, "$end{label}:")
            }
        };
    }
}

fn ptx(queue: &Queue) -> String {
    let mut item = String::new();
    emit(&queue.item, &mut 0, &mut item);
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 count, .param .u64 y) {{
.reg .b32 %r<5>; .reg .b64 %d<5>; .reg .pred %p<2>;
.local .align 4 .u32 local_word;
.shared .align 4 .u32 shared_word;
ld.param.u64 %d0, [count];
ld.param.u64 %d1, [y];
mov.u32 %r0, 0;
mov.u32 %r1, 1;
mov.u32 %r2, 2;
st.local.u32 [local_word], 7;
{}
$next:
atom.global.add.u32 %r{NUMBER}, [%d0], 1;
setp.ge.u32 %p0, %r{NUMBER}, {ITEMS};
@%p0 bra $done;
mul.wide.u32 %d2, %r{NUMBER}, 4;
add.s64 %d3, %d1, %d2;
{item}
bra $next;
$done:
ret;
}}
",
        if queue.are_blocks { "st.shared.u32 [shared_word], 7;" } else { "" }
    )
}

fn uses_shared(acts: &[Act]) -> bool {
    acts.iter().any(|act| match act {
        Act::Load(_, word) | Act::Keep(word, _) => WORDS[*word] == "shared",
        Act::If(_, _, then, otherwise) => uses_shared(then) || uses_shared(otherwise),
        Act::Compute(..) | Act::Store(_) | Act::Add(..) | Act::Leave => false,
    })
}

fn verdict(queue: &Queue) -> Verdict {
    let takers = queue.takers as u32;
    let launch = if queue.are_blocks {
        Launch { grid: [takers, 1, 1], ..Launch::of_threads(1) }
    } else {
        Launch::of_threads(takers)
    };
    let places = ITEMS as usize + SUMS;
    volta_core::verify(&Case {
        params: vec![
            tensor("count", 4, 1, Role::InOut, list([0])),
            tensor("y", 4, places as u64, Role::InOut, list(vec![0; places])),
        ],
        reference: None,
        opt: side(ptx(queue), &["count", "y"], launch),
        options: Options { threads: 1, ..Options::default() },
    })
    .verdict
}

#[test]
fn items_are_the_same_whoever_takes_them() {
    let cases = std::env::var("VOLTA_EXPLORE").ok().and_then(|cases| cases.parse().ok()).unwrap_or(QUEUES);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let (mut alike, mut clean) = (0, 0);
    let done = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
    .run(&queues(), |queue| {
        // Threads share their block's word.
        prop_assume!(queue.are_blocks || !uses_shared(&queue.item));
        let mut left = BTreeSet::new();
        explore(&queue, 0, &vec![Taker::new(); queue.takers], &[0; ITEMS as usize + SUMS], &mut left);
        let verdict = verdict(&queue);
        let is_right = match &verdict {
            Verdict::Clean => left.len() == 1,
            // No claim.
            Verdict::Fault(fault) => fault.rule == "S2" || fault.rule == "Y18",
            Verdict::Equivalent
            | Verdict::EquivalentWhere(_)
            | Verdict::Same(_)
            | Verdict::Different(_)
            | Verdict::Unknown(_)
            | Verdict::InputError(_) => false,
        };
        prop_assert!(is_right, "{verdict:?}, and {} outcomes:\n{}", left.len(), ptx(&queue));
        Ok(())
    });
    done.expect("every verdict is right");
    let mut runner = TestRunner::deterministic();
    for _ in 0..100 {
        let queue = queues().new_tree(&mut runner).expect("a queue").current();
        if queue.are_blocks || !uses_shared(&queue.item) {
            let mut left = BTreeSet::new();
            explore(&queue, 0, &vec![Taker::new(); queue.takers], &[0; ITEMS as usize + SUMS], &mut left);
            alike += u32::from(left.len() == 1);
            clean += u32::from(verdict(&queue) == Verdict::Clean);
        }
    }
    assert!(2 * clean > alike && alike > 20, "{clean} of {alike} are clean");
}
