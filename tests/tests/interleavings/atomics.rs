//! Atomics (rule Y7): which operations commute, and which race.

use volta_suite::explorer::{Act, Operation, Update};

use crate::words::*;

const ADD: Act = update(0, Operation::Add);
const MAX: Act = update(0, Operation::MaxSigned);
const BOTH: Act = Act::Update(Update { half: 0, double: true, operation: Operation::Add, operand: 1 });

#[test]
fn the_same_operation_commutes() {
    for operation in Operation::ALL {
        let one = update(0, operation);
        assert_eq!(directed(&[warp(&[(FIRST, one), (SECOND, one)]), plain(&[one])]), "clean");
    }
    assert_eq!(directed(&[plain(&[BOTH]), plain(&[BOTH])]), "clean");
    assert_eq!(directed(&[plain(&[ADD]), plain(&[update(2, Operation::Xor)])]), "clean");
}

#[test]
fn different_operations_do_not() {
    assert_eq!(directed(&[plain(&[ADD]), plain(&[MAX])]), "nondeterministic");
    assert_eq!(directed(&[plain(&[MAX]), plain(&[update(0, Operation::MaxUnsigned)])]), "nondeterministic");
    assert_eq!(directed(&[warp(&[(FIRST, ADD), (SECOND, MAX)])]), "nondeterministic");
    // Unless something orders them.
    assert_eq!(directed(&[plain(&[ADD, MAX, ADD])]), "clean");
    assert_eq!(directed(&[plain(&[ADD, sync(0)]), plain(&[sync(0), MAX])]), "clean");
    assert_eq!(directed(&[warp(&[(FIRST, ADD), (ALL, Act::WarpSync(ALL)), (SECOND, MAX)])]), "clean");
    // What is ordered before one of them is not before the others.
    assert_eq!(directed(&[plain(&[ADD, sync(0), MAX]), plain(&[sync(0), ADD])]), "nondeterministic");
}

#[test]
fn other_widths_race() {
    assert_eq!(directed(&[plain(&[BOTH]), plain(&[ADD])]), "race");
    assert_eq!(directed(&[plain(&[BOTH]), plain(&[update(2, Operation::Add)])]), "race");
    assert_eq!(directed(&[plain(&[BOTH, sync(0)]), plain(&[sync(0), ADD])]), "clean");
}

#[test]
fn plain_accesses_race() {
    assert_eq!(directed(&[plain(&[ADD]), plain(&[read(1)])]), "race");
    assert_eq!(directed(&[plain(&[write(1)]), plain(&[ADD])]), "race");
    assert_eq!(directed(&[plain(&[ADD, sync(0), read(0)]), plain(&[ADD, sync(0), read(1)])]), "clean");
    // An own access is before an own atomic, and not before those of others.
    assert_eq!(directed(&[plain(&[write(0), ADD]), plain(&[ADD])]), "race");
    assert_eq!(directed(&[plain(&[read(0), ADD]), plain(&[ADD])]), "race");
    assert_eq!(directed(&[plain(&[ADD, read(0)]), plain(&[ADD])]), "race");
    assert_eq!(directed(&[plain(&[write(0), ADD, read(0), ADD])]), "clean");
}

#[test]
fn atomics_order_nothing() {
    let flag = update(2, Operation::Or);
    assert_eq!(directed(&[plain(&[write(0), flag]), plain(&[flag, read(0)])]), "race");
}

#[test]
fn copies_under_way_race_with_atomics() {
    let copied = |acts: &[Act]| {
        let mut lines = vec![(FIRST, copy(0, source(0)))];
        lines.extend(acts.iter().map(|act| (FIRST, *act)));
        with_copies(&[warp(&lines)])
    };
    assert_eq!(copied(&[ADD]), "race");
    assert_eq!(copied(&[Act::Wait(None), ADD]), "clean");
    assert_eq!(copied(&[update(2, Operation::Add)]), "clean");
}
