//! Atomics.
//!
//! Memory orders (`.relaxed`, `.acq_rel`, …) matter only to loops that wait for the change (rule Y15); otherwise they
//! have no effect (rules Y1, Y7).

use super::copy::place;
use super::memory::{SCOPES, policy, space};
use super::{Row, Types, row, unsupported};
use crate::number::format::Format;
use crate::program::asynchronous::Async;
use crate::program::op::{Address, Int, Int2, Op, RegId, Space, Src, Width};
use crate::program::operand::{Fail, Lowered, Operation};
use crate::program::types::{Type, double, float_width};
use crate::program::update::{Scope, Swap, Turn, Update};
use crate::ptx::tree::Operand;

const SYNC: &str = "Parallel Synchronization and Communication Instructions";
const DATA: &str = "Data Movement and Conversion Instructions";

pub(super) const ROWS: &[Row] = &[
    row("atom", Types::Any, "Parallel Synchronization and Communication Instructions: atom", atom),
    row("red", Types::Any, "Parallel Synchronization and Communication Instructions: red", red),
    unsupported("multimem", DATA, "memory of several GPUs is not supported yet"),
    unsupported("tensormap", SYNC, "tensor maps are not supported yet"),
    unsupported("clusterlaunchcontrol", SYNC, "CTAs that take over the work of others are not supported yet"),
];

const EXCHANGE: &str = "exchanges do not commute: what is left depends on the schedule";
const COUNTER: &str = "counters that wrap around are not supported yet";

/// The operation for each name, or the reason why it is not supported.
const OPERATIONS: [(&str, Result<Int2, &str>); 10] = [
    ("add", Ok(Int2::Add)),
    ("min", Ok(Int2::Min)),
    ("max", Ok(Int2::Max)),
    ("and", Ok(Int2::And)),
    ("or", Ok(Int2::Or)),
    ("xor", Ok(Int2::Xor)),
    ("exch", Err(EXCHANGE)),
    ("cas", Err(EXCHANGE)),
    ("inc", Err(COUNTER)),
    ("dec", Err(COUNTER)),
];

fn atom(x: &mut Operation<'_, '_>) -> Lowered {
    atomic(x, true)
}

fn red(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("async") { asynchronous(x) } else { atomic(x, false) }
}

/// `red.async.relaxed.cluster{.shared::cluster}{.mbarrier::complete_tx::bytes}.op.type [a], b, [barrier]` (rule Y13),
/// `red.async.release.scope{.global}.add.type [a], b`
fn asynchronous(x: &mut Operation<'_, '_>) -> Lowered {
    let is_far = x.require(&[("relaxed", true), ("release", false)])?;
    let scopes = [("cluster", Scope::Cluster), ("gpu", Scope::Launch), ("sys", Scope::Launch)];
    let scope = x.require(if is_far { &scopes[..1] } else { &scopes })?;
    let space = space(x);
    let spaces = if is_far { [Space::Cluster, Space::Generic] } else { [Space::Global, Space::Generic] };
    if !spaces.contains(&space) {
        return Err(x.unsupported("relaxed ones are of `.shared::cluster`, and others of `.global`"));
    }
    if is_far {
        x.flag("mbarrier::complete_tx::bytes");
    }
    let op = operation(x)?;
    let ty = x.ty()?;
    if !is_far && op != Int2::Add {
        return Err(x.unsupported("of global memory only `add` is"));
    }
    let update = bulk_update(x, op, ty, is_far)?;
    if matches!(update, Update::Real(_) | Update::Extreme { .. }) {
        return Err(x.wrong_type());
    }
    x.done(if is_far { 3 } else { 2 })?;
    let Some(width) = ty.width() else { return Err(x.wrong_type()) };
    let (to, a) = (place(x, 0, space)?, vec![x.source(1, ty)?]);
    let barrier = if is_far { Some(place(x, 2, space)?) } else { None };
    x.push(Op::Async(Async::StoreFar { to, width, a, barrier, update: Some((update, scope)) }));
    Ok(())
}

/// The operation that an instruction names.
pub(super) fn operation(x: &mut Operation<'_, '_>) -> Lowered<Int2> {
    let Some(op) = x.choose(&OPERATIONS) else { return Err(x.unsupported("it names no operation")) };
    op.map_err(|why| x.unsupported(why))
}

/// The update by a bulk copy of elements of a type: in shared memory of another CTA (`is_far`), or in global memory.
pub(super) fn bulk_update(x: &Operation<'_, '_>, op: Int2, ty: Type, is_far: bool) -> Lowered<Update> {
    let is_ordered = matches!(op, Int2::Min | Int2::Max);
    let is_bitwise = matches!(op, Int2::And | Int2::Or | Int2::Xor);
    match ty {
        Type::Float(format @ (Format::F16 | Format::Bf16)) if !is_far => Update::of_reals(op, format),
        Type::Float(format @ (Format::F32 | Format::F64)) if !is_far && op == Int2::Add => {
            Update::of_reals(op, format)
        }
        Type::Bits(width @ (Width::W32 | Width::W64)) if is_bitwise && !(is_far && width == Width::W64) => {
            Some(Update::of_integers(op, Int { width, signed: false }))
        }
        Type::Int(int @ Int { width: Width::W32, .. }) if !is_bitwise => Some(Update::of_integers(op, int)),
        Type::Int(int @ Int { width: Width::W64, .. })
            if op == Int2::Add && !(is_far && int.signed) || is_ordered && !is_far =>
        {
            Some(Update::of_integers(op, int))
        }
        Type::Float(_)
        | Type::FloatPair(_)
        | Type::Bits(_)
        | Type::Int(_)
        | Type::IntPair(_)
        | Type::Bits128
        | Type::Pred => None,
    }
    .ok_or_else(|| x.wrong_type())
}

fn atomic(x: &mut Operation<'_, '_>, has_result: bool) -> Lowered {
    let none = (false, false);
    let orders = [
        ("relaxed", none),
        ("acquire", (false, true)),
        ("release", (true, false)),
        ("acq_rel", (true, true)),
    ];
    let (releases, acquires) = x.choose(&orders).unwrap_or(none);
    let scope = x.choose(&SCOPES).unwrap_or(Scope::Launch);
    let space = space(x);
    if !matches!(space, Space::Global | Space::Shared | Space::Cluster | Space::Generic) {
        return Err(x.unsupported("atomics access shared or global memory"));
    }
    if has_result && x.flag("cas") {
        return swap(x, (scope, releases, acquires), space, true);
    }
    if has_result && x.flag("exch") {
        return swap(x, (scope, releases, acquires), space, false);
    }
    let counter = x.choose(&[("inc", false), ("dec", true)]);
    let op = if counter.is_some() { Int2::Add } else { operation(x)? };
    if x.choose(&[("v2", ()), ("v4", ()), ("v8", ())]).is_some() {
        return Err(x.unsupported("atomics on vectors are not supported yet"));
    }
    x.flag("noftz");
    let hint = x.flag("L2::cache_hint");
    let ty = x.ty()?;
    let update = match counter {
        Some(down) if ty == (Type::Int(Int { width: Width::W32, signed: false })) => Update::Counter { down },
        Some(_) => return Err(x.wrong_type()),
        None => update(x, op, ty)?,
    };
    let first = usize::from(has_result);
    let count = first + 2;
    x.done(count + usize::from(hint))?;
    policy(x, count, hint)?;
    let (address, space) = x.address(first, space)?;
    let a = x.source(first + 1, ty)?;
    let Some(width) = ty.width() else { return Err(x.wrong_type()) };
    let d = match (has_result, x.operand(0)?) {
        (false, _) | (true, Operand::Sink(_)) => None,
        (true, _) => Some(x.destination(0, width)?),
    };
    let one = Op::Atomic {
        update,
        scope,
        space,
        address,
        alignment: width.bytes(),
        releases,
        acquires,
        draws: false,
        d,
        a,
    };
    if let Type::FloatPair(format) = ty {
        pair(x, format, one)
    } else {
        x.push(one);
        Ok(())
    }
}

/// `atom{.order}{.scope}{.space}.cas{.cache_hint}.type d, [a], b, c`, and `.exch`, which expects nothing. Whether it
/// belongs to a loop that is an update, polls a flag or is a mere store is determined from the surrounding code later.
fn swap(
    x: &mut Operation<'_, '_>,
    (scope, releases, acquires): (Scope, bool, bool),
    space: Space,
    expects: bool,
) -> Lowered {
    let Fail::Unsupported(reason) = x.unsupported(EXCHANGE) else { return Err(x.wrong_type()) };
    let hint = x.flag("L2::cache_hint");
    let ty = x.ty()?;
    let Type::Bits(width) = ty else { return Err(Fail::Unsupported(reason)) };
    let count = if expects { 4 } else { 3 };
    x.done(count + usize::from(hint))?;
    policy(x, count, hint)?;
    let is_dropped = matches!(x.operand(0)?, Operand::Sink(_));
    if is_dropped && expects {
        return Err(Fail::Unsupported(reason));
    }
    let d = if is_dropped { x.temporary() } else { x.destination(0, width)? };
    let (address, space) = x.address(1, space)?;
    let expected = if expects { Some(x.source(2, ty)?) } else { None };
    let new = x.source(count - 1, ty)?;
    let turn = Turn::without_operations(d);
    x.push(Op::Swap(Box::new(Swap {
        scope,
        releases,
        acquires,
        space,
        address,
        width,
        d,
        expected,
        new,
        turn,
        waits: false,
        reason,
    })));
    Ok(())
}

/// The update of memory by an operation on a type.
fn update(x: &Operation<'_, '_>, op: Int2, ty: Type) -> Lowered<Update> {
    let bitwise = matches!(op, Int2::And | Int2::Or | Int2::Xor);
    match ty {
        Type::Float(format @ (Format::F16 | Format::Bf16 | Format::F32 | Format::F64))
        | Type::FloatPair(format @ (Format::F16 | Format::Bf16))
            if op == Int2::Add =>
        {
            Ok(Update::Real(format))
        }
        Type::Float(_) | Type::FloatPair(_) => Err(x.unsupported("of floats only `add` is")),
        Type::Bits(_) if !bitwise => Err(x.wrong_type()),
        Type::Bits(_) | Type::Int(_) => match ty.as_int() {
            Some(int) if matches!(int.width, Width::W32 | Width::W64) => Ok(Update::of_integers(op, int)),
            _ => Err(x.wrong_type()),
        },
        Type::IntPair(_) | Type::Bits128 | Type::Pred => Err(x.wrong_type()),
    }
}

/// Each half of a pair is updated atomically by itself.
fn pair(x: &mut Operation<'_, '_>, format: Format, whole: Op) -> Lowered {
    let Op::Atomic { update, scope, space, address, alignment, releases, acquires, draws, d, a } = whole
    else {
        return Ok(());
    };
    let Some(part) = float_width(format) else { return Err(x.wrong_type()) };
    debug_assert_eq!(double(part).map(Width::bytes), Some(alignment));
    let halves = [x.temporary(), x.temporary()];
    x.push(Op::Unpack { d: halves.map(Some).to_vec(), a, part });
    let old: Option<[RegId; 2]> = d.map(|_| [x.temporary(), x.temporary()]);
    for (at, half) in halves.into_iter().enumerate() {
        let offset = address.offset + at as i64 * i64::from(part.bytes());
        let address = Address { offset, ..address };
        let alignment = if at == 0 { alignment } else { part.bytes() };
        let d = old.map(|old| old[at]);
        x.push(Op::Atomic {
            update,
            scope,
            space,
            address,
            alignment,
            releases,
            acquires,
            draws,
            d,
            a: Src::Reg(half),
        });
    }
    if let (Some(d), Some(old)) = (d, old) {
        x.push(Op::Pack { d, parts: old.map(Src::Reg).to_vec(), part });
    }
    Ok(())
}
