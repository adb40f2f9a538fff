//! Short names for the parts of hand-written programs, and their verdicts.

use volta_suite::explorer::emit::Style;
use volta_suite::explorer::{
    Act, Cell, Count, HALVES, Line, Members, Operation, Program, Relaxed, Space, Stored, Transfer, Update,
    Use, Warp,
};

use crate::check::{Manner, VARIANTS, check};

/// States that the explorer may visit for a program written by hand.
const MANY_STATES: usize = 2_000_000;

pub(crate) fn warp(lines: &[(Members, Act)]) -> Warp {
    let lines = lines.iter().map(|(guard, act)| Line { guard: *guard, act: *act }).collect();
    Warp { lanes: vec![0, 1], rest: true, lines }
}

/// A warp of which all lanes do the same.
pub(crate) fn plain(acts: &[Act]) -> Warp {
    let lines = acts.iter().map(|act| Line { guard: 0b11, act: *act }).collect();
    Warp { lanes: vec![0], rest: true, lines }
}

pub(crate) const ALL: Members = 0b111;
pub(crate) const FIRST: Members = 0b001;
pub(crate) const SECOND: Members = 0b010;
pub(crate) const REST: Members = 0b100;

pub(crate) const fn cell(half: u8) -> Cell {
    Cell { half, wide: false }
}

pub(crate) const fn read(half: u8) -> Act {
    Act::Read(cell(half))
}

pub(crate) const fn write(half: u8) -> Act {
    Act::Write(cell(half), Stored::Constant(9))
}

/// An atomic on the word at a half word.
pub(crate) const fn update(half: u8, operation: Operation) -> Act {
    Act::Update(Update { half, double: false, operation, operand: 0x8000_0003 })
}

pub(crate) const fn sync(id: u8) -> Act {
    Act::Barrier { how: Use::Sync, id, count: Count::All, aligned: true }
}

pub(crate) const fn sync_count(id: u8, threads: u32) -> Act {
    Act::Barrier { how: Use::Sync, id, count: Count::Threads(threads), aligned: true }
}

pub(crate) const fn arrive(id: u8, threads: u32) -> Act {
    Act::Barrier { how: Use::Arrive, id, count: Count::Threads(threads), aligned: true }
}

pub(crate) const fn reduce(id: u8) -> Act {
    Act::Barrier { how: Use::Reduce, id, count: Count::All, aligned: true }
}

pub(crate) const fn loose(id: u8) -> Act {
    Act::Barrier { how: Use::Sync, id, count: Count::All, aligned: false }
}

/// A word of the source to the word at `to`.
pub(crate) const fn copy(to: u8, from: u8) -> Act {
    Act::Copy(Transfer { to, from, size: 2, taken: 2 })
}

/// A half word of the source.
pub(crate) const fn source(half: u8) -> u8 {
    HALVES as u8 + half
}

/// The verdict on a program when it runs in order, or what is wrong with it under any schedule.
pub(crate) fn verdict(program: &Program, relaxed: Relaxed) -> String {
    let mut verdicts = Vec::new();
    for style in [Style::Branches, Style::Predicates] {
        for variant in 0..VARIANTS.len() {
            match check(program, Manner { states: MANY_STATES, style, relaxed, seed: 11, variant }) {
                Ok(Some(checked)) => verdicts.extend(checked.verdicts.into_iter().take(1)),
                Ok(None) => verdicts.push("(too large)".into()),
                Err(error) => verdicts.push(error),
            }
        }
    }
    verdicts.dedup();
    verdicts.join("\n")
}

fn in_spaces(warps: &[Warp], spaces: &[Space]) -> String {
    let in_space = |space: &Space| {
        let program = Program { space: *space, warps: warps.to_vec() };
        verdict(&program, Relaxed::default())
    };
    let mut verdicts: Vec<String> = spaces.iter().map(in_space).collect();
    verdicts.dedup();
    verdicts.join("\n")
}

/// The verdict on a program with shared and with global words.
pub(crate) fn directed(warps: &[Warp]) -> String {
    in_spaces(warps, &[Space::SharedInitialised, Space::Global])
}

/// The verdict on a program with copies to its words, initialised or not.
pub(crate) fn with_copies(warps: &[Warp]) -> String {
    in_spaces(warps, &[Space::SharedInitialised, Space::Shared])
}
