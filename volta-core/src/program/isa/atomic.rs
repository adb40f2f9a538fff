//! Atomics.
//!
//! Orders (`.relaxed`, `.acq_rel`, …) change nothing: atomics order no memory (rules Y1, Y7).

use super::memory::{SCOPES, policy, space};
use super::{Row, Types, row, unsupported};
use crate::number::format::Format;
use crate::program::op::{Address, Int2, Op, RegId, Space, Src, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::{Type, double, float_width};
use crate::program::update::{Scope, Update};
use crate::ptx::tree::Operand;

const SYNC: &str = "Parallel Synchronization and Communication Instructions";
const DATA: &str = "Data Movement and Conversion Instructions";

pub(super) const ROWS: &[Row] = &[
    row("atom", Types::Any, "Parallel Synchronization and Communication Instructions: atom", atom),
    row("red", Types::Any, "Parallel Synchronization and Communication Instructions: red", red),
    unsupported("multimem", DATA, "memory of several GPUs is not done yet"),
    unsupported("tensormap", SYNC, "tensor maps are not done yet"),
    unsupported("clusterlaunchcontrol", SYNC, "CTAs that take the work of others are not done yet"),
];

const EXCHANGE: &str = "exchanges do not commute: what is left depends on the schedule";
const COUNTER: &str = "counters that wrap around are not done yet";

/// An operation by its name, or why it is none.
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
    atomic(x, false)
}

fn atomic(x: &mut Operation<'_, '_>, has_result: bool) -> Lowered {
    x.choose(&[("relaxed", ()), ("acquire", ()), ("release", ()), ("acq_rel", ())]);
    let scope = x.choose(&SCOPES).unwrap_or(Scope::Launch);
    let space = space(x);
    if !matches!(space, Space::Global | Space::Shared | Space::Cluster | Space::Generic) {
        return Err(x.unsupported("atomics are of shared and global memory"));
    }
    let Some(op) = x.choose(&OPERATIONS) else { return Err(x.unsupported("it names no operation")) };
    let op = op.map_err(|why| x.unsupported(why))?;
    if x.choose(&[("v2", ()), ("v4", ()), ("v8", ())]).is_some() {
        return Err(x.unsupported("atomics on vectors are not done yet"));
    }
    x.flag("noftz");
    let hint = x.flag("L2::cache_hint");
    let ty = x.ty()?;
    let update = update(x, op, ty)?;
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
    let one = Op::Atomic { update, scope, space, address, alignment: width.bytes(), d, a };
    if let Type::FloatPair(format) = ty {
        pair(x, format, one)
    } else {
        x.push(one);
        Ok(())
    }
}

/// What an operation does to memory of a type. Signs are left out where they make no difference, so that operations
/// are the same if they do the same.
fn update(x: &Operation<'_, '_>, op: Int2, ty: Type) -> Lowered<Update> {
    let ordered = matches!(op, Int2::Min | Int2::Max);
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
            Some(mut int) if matches!(int.width, Width::W32 | Width::W64) => {
                int.signed &= ordered;
                Ok(Update::Integer(op, int))
            }
            _ => Err(x.wrong_type()),
        },
        Type::IntPair(_) | Type::Bits128 | Type::Pred => Err(x.wrong_type()),
    }
}

/// Each half of a pair is atomic for itself.
fn pair(x: &mut Operation<'_, '_>, format: Format, whole: Op) -> Lowered {
    let Op::Atomic { update, scope, space, address, alignment, d, a } = whole else { return Ok(()) };
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
        x.push(Op::Atomic { update, scope, space, address, alignment, d, a: Src::Reg(half) });
    }
    if let (Some(d), Some(old)) = (d, old) {
        x.push(Op::Pack { d, parts: old.map(Src::Reg).to_vec(), part });
    }
    Ok(())
}
