//! Asynchronous copies (rule Y6): each correct use, beside its near misses.

use volta_suite::explorer::{Act, Cell, Stored, Transfer};

use crate::words::*;

const WORD: Act = Act::Read(Cell { half: 0, wide: true });
const COPY: Act = copy(0, source(0));

#[test]
fn a_copy_is_there_once_it_is_waited_for() {
    let after = |acts: &[Act]| {
        let mut lines = vec![(FIRST, COPY)];
        lines.extend(acts.iter().map(|act| (FIRST, *act)));
        lines.push((FIRST, WORD));
        with_copies(&[warp(&lines)])
    };
    assert_eq!(after(&[Act::Commit, Act::Wait(Some(0))]), "clean");
    assert_eq!(after(&[Act::Wait(None)]), "clean");
    assert_eq!(after(&[Act::Commit, Act::Wait(None)]), "clean");
    assert_eq!(after(&[]), "race");
    assert_eq!(after(&[Act::Commit]), "race");
    assert_eq!(after(&[Act::Commit, Act::Wait(Some(1))]), "race");
    // What was not committed is in no group.
    assert_eq!(after(&[Act::Wait(Some(0))]), "race");
    assert_eq!(after(&[Act::Wait(Some(0)), Act::Commit]), "race");
    // Neither barrier is a wait.
    assert_eq!(after(&[Act::Commit, Act::WarpSync(FIRST)]), "race");
    let barrier = [(FIRST, COPY), (FIRST, Act::Commit), (ALL, sync(0)), (FIRST, WORD)];
    assert_eq!(with_copies(&[warp(&barrier)]), "race");
}

#[test]
fn groups_are_waited_for_in_order() {
    // Two copies in groups of their own, a wait that leaves so many, and a read of one of the words.
    let two = |pending, half| {
        with_copies(&[warp(&[
            (FIRST, copy(0, source(0))),
            (FIRST, Act::Commit),
            (FIRST, copy(2, source(2))),
            (FIRST, Act::Commit),
            (FIRST, Act::Wait(Some(pending))),
            (FIRST, read(half)),
        ])])
    };
    assert_eq!(two(1, 0), "clean");
    assert_eq!(two(1, 2), "race");
    assert_eq!(two(0, 2), "clean");
    assert_eq!(two(2, 0), "race");
    // An empty group counts.
    let empty = warp(&[
        (FIRST, COPY),
        (FIRST, Act::Commit),
        (FIRST, Act::Commit),
        (FIRST, Act::Wait(Some(1))),
        (FIRST, WORD),
    ]);
    assert_eq!(with_copies(&[empty]), "clean");
    // Groups are those of a thread: another one's do not count, and another one's wait is none.
    let other = |waits| {
        with_copies(&[warp(&[
            (FIRST, COPY),
            (FIRST, Act::Commit),
            (SECOND, Act::Commit),
            (waits, Act::Wait(Some(0))),
            (FIRST, WORD),
        ])])
    };
    assert_eq!(other(FIRST), "clean");
    assert_eq!(other(SECOND), "race");
}

#[test]
fn other_threads_need_a_barrier_behind_the_wait() {
    let lane = |acts: &[(u8, Act)]| {
        let mut lines = vec![(FIRST, COPY), (FIRST, Act::Commit)];
        lines.extend_from_slice(acts);
        lines.push((SECOND, WORD));
        with_copies(&[warp(&lines)])
    };
    let wait = Act::Wait(Some(0));
    assert_eq!(lane(&[(ALL, wait)]), "race");
    assert_eq!(lane(&[(FIRST, wait), (ALL, Act::WarpSync(ALL))]), "clean");
    assert_eq!(lane(&[(ALL, Act::WarpSync(ALL)), (FIRST, wait)]), "race");
    assert_eq!(lane(&[(FIRST, wait), (ALL, Act::Shuffle { mask: ALL, from: 0 })]), "race");
    assert_eq!(lane(&[(FIRST, wait), (ALL, sync(0))]), "clean");
    assert_eq!(lane(&[(ALL, sync(0)), (ALL, wait)]), "race");
    // The other warp's turn.
    let reader = warp(&[(ALL, sync(0)), (ALL, wait), (FIRST, WORD)]);
    let right = warp(&[(FIRST, COPY), (FIRST, Act::Commit), (FIRST, wait), (ALL, sync(0))]);
    let wrong = warp(&[(FIRST, COPY), (FIRST, Act::Commit), (ALL, sync(0)), (FIRST, wait)]);
    assert_eq!(with_copies(&[right.clone(), reader.clone()]), "clean");
    assert_eq!(with_copies(&[wrong, reader]), "race");
    // `arrive` carries on what was waited for.
    let arrives = warp(&[(FIRST, COPY), (FIRST, Act::Wait(None)), (ALL, arrive(1, 64))]);
    let waits = warp(&[(ALL, sync_count(1, 64)), (SECOND, WORD)]);
    assert_eq!(with_copies(&[arrives, waits.clone()]), "clean");
    let arrives = warp(&[(FIRST, COPY), (ALL, arrive(1, 64)), (FIRST, Act::Wait(None))]);
    assert_eq!(with_copies(&[arrives, waits]), "race");
    // Returning is no wait either.
    let returns = warp(&[(FIRST, COPY), (FIRST, Act::Commit)]);
    let passes = warp(&[(ALL, sync(0)), (FIRST, WORD)]);
    assert_eq!(with_copies(&[returns, passes]), "race");
}

#[test]
fn nothing_else_may_touch_what_a_copy_writes() {
    let wait = Act::Wait(None);
    let own = |before: &[Act], act| {
        let mut lines: Vec<_> = before.iter().map(|act| (FIRST, *act)).collect();
        lines.extend([(FIRST, COPY), (FIRST, act), (FIRST, wait)]);
        with_copies(&[warp(&lines)])
    };
    assert_eq!(own(&[], write(1)), "race");
    assert_eq!(own(&[], write(2)), "clean");
    assert_eq!(own(&[], read(1)), "race");
    // What a thread did before is before its copies.
    assert_eq!(own(&[write(0), read(1)], Act::Commit), "clean");
    // Two copies of one thread, even of the same word.
    assert_eq!(own(&[], copy(0, source(2))), "race");
    assert_eq!(own(&[], copy(0, source(0))), "race");
    assert_eq!(own(&[], copy(2, source(0))), "clean");
    assert_eq!(own(&[copy(0, source(2)), wait], Act::Commit), "clean");
    // A reader of the last round that no barrier separates from the next copy.
    let round = |again: &[(u8, Act)]| {
        let mut lines = vec![(FIRST, COPY), (FIRST, wait), (ALL, sync(0)), (SECOND, WORD)];
        lines.extend_from_slice(again);
        lines.extend([(FIRST, copy(0, source(2))), (FIRST, wait)]);
        with_copies(&[warp(&lines)])
    };
    assert_eq!(round(&[]), "race");
    assert_eq!(round(&[(ALL, sync(0))]), "clean");
    // Another thread writes while the copy is under way, or behind a barrier that is no wait.
    assert_eq!(with_copies(&[warp(&[(FIRST, COPY), (SECOND, write(0)), (FIRST, wait)])]), "race");
    let behind = [(FIRST, COPY), (ALL, sync(0)), (SECOND, write(0)), (FIRST, wait)];
    assert_eq!(with_copies(&[warp(&behind)]), "race");
}

#[test]
fn what_a_copy_reads_must_not_change() {
    let wait = Act::Wait(None);
    let change = Act::Write(Cell { half: source(1), wide: false }, Stored::Constant(5));
    let look = Act::Read(Cell { half: source(1), wide: false });
    let own = |acts: &[Act]| {
        let lines: Vec<_> = acts.iter().map(|act| (FIRST, *act)).collect();
        with_copies(&[warp(&lines)])
    };
    assert_eq!(own(&[change, COPY, wait, WORD]), "clean");
    assert_eq!(own(&[COPY, change, wait]), "race");
    assert_eq!(own(&[COPY, look, wait]), "clean");
    assert_eq!(own(&[COPY, wait, change, WORD]), "clean");
    assert_eq!(own(&[COPY, Act::Commit, Act::Wait(Some(1)), change]), "race");
    // Bytes that are not taken are not read.
    let half = Act::Copy(Transfer { to: 0, from: source(0), size: 2, taken: 1 });
    assert_eq!(own(&[half, change, wait, WORD]), "clean");
    let none = Act::Copy(Transfer { to: 0, from: source(0), size: 4, taken: 0 });
    assert_eq!(own(&[none, change, wait, WORD]), "clean");
    // Another thread's word: a barrier before the copy is enough, one behind it is not.
    let writer = |before: &[Act], after: &[Act]| {
        let mut lines: Vec<_> = before.iter().map(|act| (SECOND, *act)).collect();
        lines.push((ALL, sync(0)));
        lines.extend(after.iter().map(|act| (SECOND, *act)));
        lines
    };
    let copies = warp(&[(ALL, sync(0)), (FIRST, COPY), (FIRST, wait), (FIRST, WORD)]);
    assert_eq!(with_copies(&[copies.clone(), warp(&writer(&[change], &[]))]), "clean");
    assert_eq!(with_copies(&[copies, warp(&writer(&[], &[change]))]), "race");
    let early = |acts: &[(u8, Act)]| {
        let mut lines = vec![(FIRST, COPY)];
        lines.extend_from_slice(acts);
        with_copies(&[warp(&lines), warp(&writer(&[], &[change]))])
    };
    assert_eq!(early(&[(FIRST, wait), (ALL, sync(0))]), "clean");
    assert_eq!(early(&[(ALL, sync(0)), (FIRST, wait)]), "race");
}

#[test]
fn lanes_copy_side_by_side() {
    let wait = Act::Wait(None);
    let lanes = |to| {
        with_copies(&[warp(&[
            (FIRST, copy(0, source(0))),
            (SECOND, copy(to, source(2))),
            (ALL, wait),
            (ALL, sync(0)),
            (FIRST | SECOND, WORD),
        ])])
    };
    assert_eq!(lanes(2), "clean");
    assert_eq!(lanes(0), "race");
    // Both words at once, and one of them overwritten by another lane.
    let both = Act::Copy(Transfer { to: 0, from: source(0), size: 4, taken: 3 });
    let last = |act| [warp(&[(FIRST, both), (SECOND, act), (FIRST, wait), (FIRST, read(3))])];
    assert_eq!(with_copies(&last(Act::Commit)), "clean");
    assert_eq!(with_copies(&last(write(3))), "race");
    assert_eq!(with_copies(&last(read(3))), "race");
}
