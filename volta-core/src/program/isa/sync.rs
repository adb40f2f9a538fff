//! Barriers and fences.

use super::memory::SCOPES;
use super::{Row, Types, row};
use crate::program::asynchronous::{Async, Fenced, ProxyFence};
use crate::program::op::{Barrier, Bool2, Int, Op, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::program::update::Scope;

pub(super) const ROWS: &[Row] = &[
    row(
        "bar",
        Types::Any,
        "Parallel Synchronization and Communication Instructions: bar, bar.warp.sync",
        bar,
    ),
    row("barrier", Types::Any, "Parallel Synchronization and Communication Instructions: barrier", barrier),
    row("membar", Types::Any, "Parallel Synchronization and Communication Instructions: membar", membar),
    row("fence", Types::Any, "Parallel Synchronization and Communication Instructions: fence", fence),
];

const U32: Type = Type::Int(Int { width: Width::W32, signed: false });

/// `bar.*` are the aligned forms of `barrier.*` (rule Y3).
fn bar(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("warp") {
        x.require(&[("sync", ())])?;
        x.done(1)?;
        let mask = x.source(0, U32)?;
        x.push(Op::WarpSync { mask });
        return Ok(());
    }
    x.flag("cta");
    cta_barrier(x, true)
}

fn barrier(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("cluster") {
        return cluster_barrier(x);
    }
    x.flag("cta");
    let aligned = x.flag("aligned");
    cta_barrier(x, aligned)
}

/// `barrier.cluster.arrive{.release, .relaxed}{.aligned}`, `barrier.cluster.wait{.acquire}{.aligned}` (rule Y13)
fn cluster_barrier(x: &mut Operation<'_, '_>) -> Lowered {
    let arrives = x.require(&[("arrive", true), ("wait", false)])?;
    let operation = if arrives {
        let releases = x.choose(&[("release", true), ("relaxed", false)]).unwrap_or(true);
        Async::ArriveAtCluster { releases, aligned: x.flag("aligned") }
    } else {
        x.flag("acquire");
        Async::WaitForCluster { aligned: x.flag("aligned") }
    };
    x.done(0)?;
    x.push(Op::Async(operation));
    Ok(())
}

#[derive(Clone, Copy)]
enum Kind {
    Sync,
    Arrive,
    Reduce,
}

fn cta_barrier(x: &mut Operation<'_, '_>, aligned: bool) -> Lowered {
    let kind = x.require(&[("sync", Kind::Sync), ("arrive", Kind::Arrive), ("red", Kind::Reduce)])?;
    match kind {
        Kind::Sync => {
            let operands = x.done_within(1, 2)?;
            let id = x.source(0, U32)?;
            let count = count(x, 1, operands == 2)?;
            x.push(Op::Barrier { kind: Barrier::Sync, id, count, aligned });
        }
        Kind::Arrive => {
            x.done(2)?;
            let id = x.source(0, U32)?;
            let count = count(x, 1, true)?;
            x.push(Op::Barrier { kind: Barrier::Arrive, id, count, aligned });
        }
        Kind::Reduce => reduce(x, aligned)?,
    }
    Ok(())
}

fn count(x: &mut Operation<'_, '_>, at: usize, present: bool) -> Lowered<Option<Src>> {
    if present { x.source(at, U32).map(Some) } else { Ok(None) }
}

/// `bar.red.popc.u32 d, a{, b}, p` and `bar.red.and.pred q, a{, b}, p`.
fn reduce(x: &mut Operation<'_, '_>, aligned: bool) -> Lowered {
    let by = x.require(&[("popc", None), ("and", Some(Bool2::And)), ("or", Some(Bool2::Or))])?;
    let ty = x.ty()?;
    if ty != if by.is_some() { Type::Pred } else { U32 } {
        return Err(x.wrong_type());
    }
    let operands = x.done_within(3, 4)?;
    let id = x.source(1, U32)?;
    let count = count(x, 2, operands == 4)?;
    let p = x.predicate(operands - 1)?;
    let kind = match by {
        None => Barrier::RedPopc(x.destination(0, Width::W32)?, p),
        Some(by) => {
            let operand = x.operand(0)?;
            let Some(d) = x.predicate_destination(operand)? else {
                return Err(x.expected("a predicate register", operand));
            };
            Barrier::RedPred(by, d, p)
        }
    };
    x.push(Op::Barrier { kind, id, count, aligned });
    Ok(())
}

fn membar(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("proxy") {
        return proxy(x);
    }
    let scope = x.require(&[("cta", Scope::Cta), ("gl", Scope::Launch), ("sys", Scope::Launch)])?;
    x.done(0)?;
    x.push(Op::Async(Async::Fence {
        of: Fenced::Memory { scope, releases: true, acquires: true, total: true },
    }));
    Ok(())
}

/// A fence by itself orders nothing (rule Y7), except as in Y13 and Y15.
fn fence(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("proxy") {
        if x.flag("tensormap::generic") {
            return Err(x.unsupported("tensor maps are not supported yet"));
        }
        return proxy(x);
    }
    if x.flag("mbarrier_init") {
        x.require(&[("release", ())])?;
        x.require(&[("cluster", ())])?;
        x.done(0)?;
        x.push(Op::Async(Async::Fence { of: Fenced::Barriers }));
        return Ok(());
    }
    let both = (true, true, false);
    let orders = [
        ("sc", (true, true, true)),
        ("acq_rel", both),
        ("acquire", (false, true, false)),
        ("release", (true, false, false)),
    ];
    let (releases, acquires, total) = x.choose(&orders).unwrap_or(both);
    let scope = x.require(&SCOPES)?;
    x.done(0)?;
    x.push(Op::Async(Async::Fence { of: Fenced::Memory { scope, releases, acquires, total } }));
    Ok(())
}

/// A proxy fence (rule Y10). The one for aliases concerns virtual addresses, which the model does not have; one-way
/// forms publish nothing here.
fn proxy(x: &mut Operation<'_, '_>) -> Lowered {
    let is_async = x.require(&[("alias", false), ("async", true), ("async::generic", false)])?;
    let spaces = [
        ("global", ProxyFence::Global),
        ("shared::cta", ProxyFence::SharedOfCta),
        ("shared::cluster", ProxyFence::SharedOfCluster),
    ];
    let of = x.choose(&spaces).unwrap_or(ProxyFence::All);
    x.done(0)?;
    x.push(if is_async { Op::Async(Async::Publish { of }) } else { Op::Nop });
    Ok(())
}
