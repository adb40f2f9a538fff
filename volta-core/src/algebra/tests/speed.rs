//! Costs, as counts of steps: these do not depend on the machine.

use super::*;

fn steps(a: (&Side, TermId), b: (&Side, TermId)) -> u64 {
    let analysis = [Analysis::of_all(&a.0.store), Analysis::of_all(&b.0.store)];
    let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
    prover.set_budget(u64::MAX);
    let first = TermRef { store: prover.add_store(&a.0.store, &analysis[0]), term: a.1 };
    let second = TermRef { store: prover.add_store(&b.0.store, &analysis[1]), term: b.1 };
    assert_eq!(prover.equal(first, second, Stage::Expansions), Ok(Equality::Equal));
    prover.steps()
}

fn chain(side: &mut Side, count: u64) -> TermId {
    let mut sum = side.int(0);
    for k in 0..count {
        let (x, y) = (side.x(k), side.y(k));
        sum = side.fma(x, y, sum);
    }
    sum
}

#[test]
fn a_chain_costs_one_step_a_term() {
    let (mut left, mut right) = (Side::new(), Side::new());
    let (a, b) = (chain(&mut left, 10_000), chain(&mut right, 10_000));
    let steps = steps((&left, a), (&right, b));
    assert!(steps <= 2 * 10_000 + 100, "{steps}");
}

#[test]
fn rescaling_an_accumulator_costs_the_same_at_every_step() {
    let online = |side: &mut Side, count: u64| {
        let mut max = side.x(0);
        let mut sum = side.int(1);
        let mut out = TermId::input(Y, 0);
        for k in 1..count {
            let (x, y) = (side.x(k), side.y(k));
            let new = side.max(max, x);
            let shift = side.sub(max, new);
            let shift = side.exp(shift);
            let own = side.sub(x, new);
            let own = side.exp(own);
            sum = side.fma(sum, shift, own);
            let rescaled = side.mul(out, shift);
            out = side.fma(own, y, rescaled);
            max = new;
        }
        side.div(out, sum)
    };
    let cost = |count: u64| {
        let (mut left, mut right) = (Side::new(), Side::new());
        let (a, b) = (online(&mut left, count), online(&mut right, count));
        steps((&left, a), (&right, b))
    };
    let (short, long) = (cost(500), cost(2000));
    assert!(long <= short * 4 + 1000, "{short} steps for 500, {long} for 2000");
}
