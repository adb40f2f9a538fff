//! Hand-written programs, each of which shows one rule.

use volta_suite::explorer::{Act, Cell, Program, Relaxed, Space};

use crate::words::*;

#[test]
fn chains_of_barriers_over_overlapping_sets() {
    let first = warp(&[(FIRST, write(0)), (ALL, sync_count(1, 64))]);
    let last = warp(&[(ALL, sync_count(2, 64)), (FIRST, read(0))]);
    let middle = |a, b| warp(&[(ALL, sync_count(a, 64)), (ALL, sync_count(b, 64))]);
    assert_eq!(directed(&[first.clone(), middle(1, 2), last.clone()]), "clean");
    assert_eq!(directed(&[first.clone(), middle(2, 1), last.clone()]), "race");
    let four = [first, middle(1, 3), middle(3, 2), last];
    assert_eq!(directed(&four), "clean");
}

#[test]
fn producers_arrive_and_consumers_wait() {
    let producer = warp(&[(FIRST, write(0)), (ALL, arrive(1, 64))]);
    let consumer = warp(&[(ALL, sync_count(1, 64)), (ALL, read(0))]);
    assert_eq!(directed(&[producer.clone(), consumer.clone()]), "clean");
    let late = warp(&[(ALL, arrive(1, 64)), (FIRST, write(0))]);
    assert_eq!(directed(&[late, consumer.clone()]), "race");
    // Two rounds: with a barrier that hands the buffer back, and without.
    let producer_twice = warp(&[
        (FIRST, write(0)),
        (ALL, arrive(1, 64)),
        (ALL, sync_count(2, 64)),
        (FIRST, write(0)),
        (ALL, arrive(1, 64)),
    ]);
    let consumer_twice = warp(&[
        (ALL, sync_count(1, 64)),
        (SECOND, read(0)),
        (ALL, arrive(2, 64)),
        (ALL, sync_count(1, 64)),
        (SECOND, read(0)),
    ]);
    assert_eq!(directed(&[producer_twice, consumer_twice]), "clean");
    let careless = warp(&[(FIRST, write(0)), (ALL, arrive(1, 64)), (FIRST, write(0)), (ALL, arrive(1, 64))]);
    let consumer_twice = warp(&[(ALL, sync_count(1, 64)), (ALL, read(0)), (ALL, sync_count(1, 64))]);
    assert_eq!(directed(&[careless, consumer_twice]), "ambiguous-barrier");
    // An arriver is not ordered after what other lanes of its own warp did before.
    let own = warp(&[(FIRST, write(0)), (ALL, arrive(1, 64)), (SECOND, read(0))]);
    assert_eq!(directed(&[own, consumer]), "race");
    // Nobody waits: nothing tells when the barrier may be used again.
    let nobody = warp(&[(ALL, arrive(1, 64)), (ALL, sync(2)), (ALL, sync_count(1, 64))]);
    assert_eq!(directed(&[nobody.clone(), nobody]), "ambiguous-barrier");
}

#[test]
fn lanes_must_arrive_together() {
    let apart = |act| [warp(&[(FIRST, act), (SECOND | REST, act)]), warp(&[(ALL, act)])];
    assert_eq!(directed(&apart(sync(0))), "barrier-divergence");
    assert_eq!(directed(&apart(loose(0))), "clean");
    assert_eq!(directed(&apart(arrive(1, 64))), "barrier-divergence");
    assert_eq!(directed(&apart(sync_count(1, 64))), "barrier-divergence");
    let twice = [warp(&[(FIRST, sync(0)), (SECOND | REST, sync(1))]), warp(&[(ALL, sync(0))])];
    assert_eq!(directed(&twice), "deadlock");
    let mixed = [warp(&[(FIRST, sync(0)), (SECOND | REST, sync_count(0, 32))]), warp(&[(ALL, sync(0))])];
    assert_eq!(directed(&mixed), "ambiguous-barrier");
}

#[test]
fn generations_must_not_depend_on_the_schedule() {
    let meets = |threads| plain(&[sync_count(1, threads)]);
    assert_eq!(directed(&[meets(64), meets(64), meets(64)]), "ambiguous-barrier");
    assert_eq!(directed(&[meets(64), meets(64), meets(64), meets(64)]), "ambiguous-barrier");
    assert_eq!(directed(&[meets(96), meets(96), meets(96)]), "clean");
    assert_eq!(directed(&[meets(96), meets(64), meets(96)]), "ambiguous-barrier");
    assert_eq!(directed(&[meets(32), meets(32)]), "ambiguous-barrier");
    let ordered = plain(&[sync_count(1, 64), sync(2)]);
    let later = plain(&[sync(2), sync_count(1, 64)]);
    assert_eq!(directed(&[ordered.clone(), ordered, later.clone(), later]), "clean");
    assert_eq!(directed(&[warp(&[(ALL, sync(0))]), warp(&[(ALL, reduce(0))])]), "ambiguous-barrier");
}

#[test]
fn returning_releases_and_orders_nothing() {
    let returns = warp(&[(FIRST, write(0))]);
    let waits = warp(&[(ALL, sync(0)), (FIRST, read(0))]);
    assert_eq!(directed(&[returns.clone(), waits.clone()]), "race");
    let program = Program { space: Space::Global, warps: vec![returns.clone(), waits] };
    assert_eq!(verdict(&program, Relaxed { exits: true, collectives: false }), "clean");
    let lane_returns = warp(&[(FIRST, Act::Exit), (SECOND | REST, sync(0)), (SECOND, read(0))]);
    let two_writers = warp(&[(FIRST, write(1)), (SECOND, write(1)), (ALL, sync(0))]);
    assert_eq!(directed(&[lane_returns, two_writers]), "race");
    let lane_returns = warp(&[(FIRST, Act::Exit), (SECOND | REST, sync(0)), (SECOND, read(0))]);
    assert_eq!(directed(&[lane_returns, warp(&[(FIRST, write(0)), (ALL, sync(0))])]), "clean");
    // Nor is a barrier ready for its next generation because those of the last one returned, although nobody can join the
    // wrong one here.
    let first = warp(&[(ALL, sync_count(1, 32))]);
    let second = warp(&[(ALL, sync(2)), (ALL, sync_count(1, 32))]);
    assert_eq!(directed(&[first.clone(), second.clone()]), "ambiguous-barrier");
    let program = Program { space: Space::Global, warps: vec![first, second] };
    assert_eq!(verdict(&program, Relaxed { exits: true, collectives: false }), "clean");
    // A barrier with a count is not completed by returning.
    assert_eq!(directed(&[returns.clone(), warp(&[(ALL, sync_count(0, 64))])]), "deadlock");
    // Nor when some of the others give no count, whoever comes first.
    let counted = warp(&[(ALL, sync_count(0, 96))]);
    let plain = warp(&[(ALL, sync(0))]);
    assert_eq!(directed(&[counted.clone(), plain.clone(), returns.clone()]), "deadlock");
    assert_eq!(directed(&[plain, counted, returns]), "deadlock");
}

#[test]
fn warp_barriers_order_their_lanes() {
    let lane = |mask| warp(&[(FIRST, write(0)), (mask, Act::WarpSync(mask)), (SECOND, read(0))]);
    assert_eq!(directed(&[lane(ALL)]), "clean");
    assert_eq!(directed(&[lane(FIRST | SECOND)]), "clean");
    assert_eq!(directed(&[lane(SECOND | REST)]), "race");
    // At different instructions.
    let mask = Act::WarpSync(FIRST | SECOND);
    let apart = warp(&[(FIRST, write(0)), (FIRST, mask), (SECOND, mask), (SECOND, read(0))]);
    assert_eq!(directed(&[apart]), "clean");
    // A lane that takes part under another mask, or returned, or is not in its own mask.
    let masks = warp(&[(FIRST, mask), (SECOND, Act::WarpSync(ALL)), (REST, Act::WarpSync(ALL))]);
    assert_eq!(directed(&[masks]), "deadlock");
    let gone = warp(&[(SECOND, Act::Exit), (FIRST, mask), (FIRST, write(0))]);
    assert_eq!(directed(&[gone]), "clean");
    let gone = warp(&[(SECOND, read(0)), (SECOND, Act::Exit), (FIRST, mask), (FIRST, write(0))]);
    assert_eq!(directed(std::slice::from_ref(&gone)), "race");
    let program = Program { space: Space::SharedInitialised, warps: vec![gone] };
    assert_eq!(verdict(&program, Relaxed { exits: true, collectives: false }), "clean");
    // Of lanes that the mask does not name, nothing is ordered.
    let gone =
        warp(&[(SECOND, read(0)), (SECOND, Act::Exit), (FIRST, Act::WarpSync(FIRST)), (FIRST, write(0))]);
    let program = Program { space: Space::SharedInitialised, warps: vec![gone] };
    assert_eq!(verdict(&program, Relaxed { exits: true, collectives: false }), "race");
    assert_eq!(directed(&[warp(&[(REST, mask)])]), "barrier-divergence");
    // A chain through the rest of the warp.
    let chain = warp(&[
        (FIRST, write(0)),
        (FIRST | REST, Act::WarpSync(FIRST | REST)),
        (SECOND | REST, Act::WarpSync(SECOND | REST)),
        (SECOND, read(0)),
    ]);
    assert_eq!(directed(&[chain]), "clean");
}

#[test]
fn shuffles_order_no_memory() {
    let shuffle = Act::Shuffle { mask: ALL, from: 0 };
    let shared = warp(&[(FIRST, write(0)), (ALL, shuffle), (SECOND, read(0))]);
    assert_eq!(directed(std::slice::from_ref(&shared)), "race");
    let program = Program { space: Space::Global, warps: vec![shared] };
    assert_eq!(verdict(&program, Relaxed { exits: false, collectives: true }), "clean");
    // At two instructions the lanes wait for each other for ever; a returned lane has no value, which may be
    // dropped.
    assert_eq!(directed(&[warp(&[(FIRST, shuffle), (SECOND | REST, shuffle)])]), "deadlock");
    let gone = warp(&[(FIRST, Act::Exit), (SECOND | REST, shuffle)]);
    assert_eq!(directed(&[gone]), "clean");
}

#[test]
fn races_are_about_bytes_and_not_about_values() {
    let one = |act| [warp(&[(FIRST, act)]), warp(&[(FIRST, act)])];
    assert_eq!(directed(&one(read(0))), "clean");
    assert_eq!(directed(&one(write(0))), "race");
    assert_eq!(directed(&[warp(&[(FIRST, write(0)), (SECOND, write(0))])]), "race");
    assert_eq!(directed(&[warp(&[(FIRST | SECOND, read(0))])]), "clean");
    assert_eq!(directed(&[warp(&[(FIRST, write(0))]), warp(&[(FIRST, write(1))])]), "clean");
    let word = Act::Read(Cell { half: 0, wide: true });
    assert_eq!(directed(&[warp(&[(FIRST, word)]), warp(&[(FIRST, write(1))])]), "race");
    // Two readers before the write; the barrier knows only one of them.
    let reader = warp(&[(FIRST, read(0)), (ALL, arrive(1, 64))]);
    let writer = warp(&[(ALL, sync_count(1, 64)), (FIRST, write(0))]);
    let bystander = warp(&[(FIRST, read(0))]);
    assert_eq!(directed(&[reader.clone(), writer.clone()]), "clean");
    assert_eq!(directed(&[reader, writer, bystander]), "race");
}

#[test]
fn lanes_of_one_instruction_may_store_the_same() {
    let both = (FIRST | SECOND, write(0));
    assert_eq!(directed(&[warp(&[both])]), "clean");
    assert_eq!(directed(&[warp(&[both, both])]), "race");
    assert_eq!(directed(&[warp(&[both, (ALL, Act::WarpSync(ALL)), both])]), "clean");
    assert_eq!(directed(&[warp(&[both]), warp(&[both])]), "race");
    assert_eq!(directed(&[warp(&[both, (FIRST, read(0))])]), "race");
    assert_eq!(directed(&[warp(&[(FIRST, read(0)), both])]), "race");
    assert_eq!(directed(&[warp(&[both, (ALL, sync(0)), (FIRST, read(0))])]), "clean");
    // One has waited for itself, so that nothing says that the two are still together, until they meet.
    let alone = (FIRST, Act::WarpSync(FIRST));
    assert_eq!(directed(&[warp(&[alone, both])]), "race");
    for meeting in [Act::WarpSync(ALL), sync(0), Act::Shuffle { mask: ALL, from: 0 }] {
        assert_eq!(directed(&[warp(&[alone, (ALL, meeting), both])]), "clean");
        assert_eq!(directed(&[warp(&[(ALL, meeting), alone, both])]), "race");
    }
}

#[test]
fn crossed_barriers_deadlock() {
    let order = |a, b| warp(&[(ALL, sync(a)), (ALL, sync(b))]);
    assert_eq!(directed(&[order(0, 1), order(1, 0)]), "deadlock");
    assert_eq!(directed(&[order(0, 1), order(0, 1)]), "clean");
    assert_eq!(directed(&[order(0, 1), warp(&[(ALL, sync_count(0, 64))])]), "clean");
}
