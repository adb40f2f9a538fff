//! Loads, stores and addresses.
//!
//! Memory orders and scopes (`.relaxed.gpu`, `.acquire`, `.volatile`) have no effect by themselves: accesses race
//! unless a barrier (rules Y1, Y2) or a loop that waits for a flag (Y15) orders them. Cache operators, eviction
//! priorities and prefetch sizes are hints.

use super::copy::place;
use super::{Row, Types, row};
use crate::program::access::{Access, Strong};
use crate::program::asynchronous::Async;
use crate::program::op::{Int, Op, Space, Src, Width};
use crate::program::operand::{Element, Lowered, Operation};
use crate::program::types::Type;
use crate::program::update::Scope;
use crate::ptx::tree::Operand;

pub(super) const ROWS: &[Row] = &[
    row("ld", Types::Any, "Data Movement and Conversion Instructions: ld, ld.global.nc", ld),
    row("ldu", Types::Any, "Data Movement and Conversion Instructions: ldu", ldu),
    row("st", Types::Any, "Data Movement and Conversion Instructions: st", st),
    row("cvta", Types::Any, "Data Movement and Conversion Instructions: cvta", cvta),
    row("mapa", Types::Any, "Data Movement and Conversion Instructions: mapa", mapa),
    row("getctarank", Types::Any, "Data Movement and Conversion Instructions: getctarank", getctarank),
    row("isspacep", Types::Any, "Data Movement and Conversion Instructions: isspacep", isspacep),
];

const SPACES: [(&str, Space); 9] = [
    ("global", Space::Global),
    ("shared", Space::Shared),
    ("shared::cta", Space::Shared),
    ("shared::cluster", Space::Cluster),
    ("local", Space::Local),
    ("const", Space::Const),
    ("param", Space::Param),
    ("param::entry", Space::Param),
    ("param::func", Space::Param),
];

/// Takes a state space; without one, the address is generic.
pub(super) fn space(x: &mut Operation<'_, '_>) -> Space {
    x.choose(&SPACES).unwrap_or(Space::Generic)
}

pub(super) const SCOPES: [(&str, Scope); 4] =
    [("cta", Scope::Cta), ("cluster", Scope::Cluster), ("gpu", Scope::Launch), ("sys", Scope::Launch)];

/// Takes the cache hints of loads and stores; `true` if a cache policy is an operand.
fn advice(x: &mut Operation<'_, '_>) -> bool {
    let evictions = [
        "L1::evict_normal",
        "L1::evict_unchanged",
        "L1::evict_first",
        "L1::evict_last",
        "L1::no_allocate",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::evict_last",
    ];
    for eviction in evictions {
        x.flag(eviction);
    }
    x.flag("L2::cache_hint")
}

/// Takes `.weak`, `.volatile`, or an order and its scope; `ordering` is the one that is not `.relaxed`.
fn order(x: &mut Operation<'_, '_>, ordering: &str) -> Lowered<Option<Strong>> {
    // A volatile access is a relaxed one for all threads of the launch.
    let volatile = Strong { scope: Scope::Launch, orders: false };
    if let Some(order) = x.choose(&[("weak", None), ("volatile", Some(volatile))]) {
        return Ok(order);
    }
    let Some(orders) = x.choose(&[("relaxed", false), (ordering, true)]) else { return Ok(None) };
    x.flag("mmio");
    let scope = x.require(&SCOPES)?;
    Ok(Some(Strong { scope, orders }))
}

/// The type of the values that are loaded or stored.
fn accessed(x: &mut Operation<'_, '_>) -> Lowered<(Type, Int)> {
    let ty = x.ty()?;
    let float =
        matches!(ty, Type::Float(crate::number::format::Format::F32 | crate::number::format::Format::F64));
    match (ty, ty.width()) {
        (Type::Bits(_), Some(width)) => Ok((ty, Int { width, signed: false })),
        (Type::Int(int), _) => Ok((ty, int)),
        (Type::Float(_), Some(width)) if float => Ok((ty, Int { width, signed: false })),
        (Type::Bits128, _) => Err(x.unsupported("128-bit accesses are not")),
        _ => Err(x.wrong_type()),
    }
}

const VECTORS: [(&str, usize); 3] = [("v2", 2), ("v4", 4), ("v8", 8)];

/// The elements of a vector operand, or the one operand.
fn accessed_elements<'m>(
    x: &mut Operation<'_, 'm>,
    at: usize,
    count: Option<usize>,
) -> Lowered<Vec<Element<'m>>> {
    let operand = x.operand(at)?;
    let Some(count) = count else { return Ok(vec![Element::Operand(x.single(at)?)]) };
    let elements = x.elements(at)?;
    if elements.len() == count {
        Ok(elements)
    } else {
        Err(x.expected("a vector of as many elements", operand))
    }
}

/// A cache policy, which must be a 64-bit register.
pub(super) fn policy(x: &mut Operation<'_, '_>, at: usize, present: bool) -> Lowered {
    if present {
        x.source(at, Type::Bits(Width::W64))?;
    }
    Ok(())
}

fn ld(x: &mut Operation<'_, '_>) -> Lowered {
    let strong = order(x, "acquire")?;
    let space = space(x);
    x.choose(&[("ca", ()), ("cg", ()), ("cs", ()), ("lu", ()), ("cv", ())]);
    let read_only = space == Space::Global && strong.is_none() && x.flag("nc");
    load(x, space, Access { read_only, strong, ..Access::default() })
}

/// `ldu` promises, like `ld.global.nc`, that no thread writes the memory that it reads.
fn ldu(x: &mut Operation<'_, '_>) -> Lowered {
    let space = x.choose(&[("global", Space::Global)]).unwrap_or(Space::Generic);
    load(x, space, Access { read_only: true, ..Access::default() })
}

fn load(x: &mut Operation<'_, '_>, space: Space, access: Access) -> Lowered {
    let hint = advice(x);
    x.choose(&[("L2::64B", ()), ("L2::128B", ()), ("L2::256B", ())]);
    x.flag("unified");
    let count = x.choose(&VECTORS);
    let (_, ty) = accessed(x)?;
    x.done(if hint { 3 } else { 2 })?;
    policy(x, 2, hint)?;
    let (address, space) = x.address(1, space)?;
    let mut d = Vec::new();
    let mut extended = Vec::new();
    for element in accessed_elements(x, 0, count)? {
        let destination = x.element_destination(element, ty.width, true)?;
        d.push(destination.map(|(register, _)| register));
        extended.extend(destination.filter(|(_, bits)| ty.signed && *bits != ty.width));
    }
    if count.is_none() && d == [None] {
        return Err(x.unsupported("its result cannot be discarded"));
    }
    // The loaded value is extended by zeros; a separate operation extends the sign.
    x.push(Op::Load { space, address, width: ty.width, d, access });
    for (d, bits) in extended {
        let to = Int { width: bits, signed: true };
        x.push(Op::CvtInt { d, a: Src::Reg(d), from: ty, to, saturate: false });
    }
    Ok(())
}

fn st(x: &mut Operation<'_, '_>) -> Lowered {
    if x.flag("async") {
        return store_far(x);
    }
    if x.flag("bulk") {
        return store_zeros(x);
    }
    let strong = order(x, "release")?;
    let space = space(x);
    if space == Space::Const {
        return Err(x.unsupported("constants cannot be written"));
    }
    x.choose(&[("wb", ()), ("cg", ()), ("cs", ()), ("wt", ())]);
    let hint = advice(x);
    let count = x.choose(&VECTORS);
    let (ty, int) = accessed(x)?;
    x.done(if hint { 3 } else { 2 })?;
    policy(x, 2, hint)?;
    let (address, space) = x.address(0, space)?;
    let mut a = Vec::new();
    for element in accessed_elements(x, 1, count)? {
        a.push(x.element_source(element, ty, true)?);
    }
    let access = Access { strong, ..Access::default() };
    x.push(Op::Store { space, address, width: int.width, a, access });
    Ok(())
}

/// `st.bulk{.weak}{.shared::cta} [a], bytes, 0`
fn store_zeros(x: &mut Operation<'_, '_>) -> Lowered {
    x.flag("weak");
    let space = space(x);
    if !matches!(space, Space::Shared | Space::Generic) {
        return Err(x.unsupported("it stores to `.shared::cta`"));
    }
    x.done(3)?;
    if super::copy::constant(x, 2)? != 0 {
        return Err(x.unsupported("it only stores zeros"));
    }
    let to = place(x, 0, space)?;
    let operand = x.operand(1)?;
    let bytes = x.wide_value(operand, Type::Bits(Width::W32))?;
    x.push(Op::Async(Async::Clear { to, bytes }));
    Ok(())
}

/// `st.async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.vec}.type [a], b, [barrier]` (rule Y13),
/// `st.async.release.scope{.global}.type [a], b`
fn store_far(x: &mut Operation<'_, '_>) -> Lowered {
    let is_far = !x.flag("release");
    if is_far {
        x.choose(&[("weak", ()), ("cluster", ())]);
    } else {
        x.require(&[("gpu", ()), ("sys", ())])?;
    }
    let space = space(x);
    let spaces = if is_far { [Space::Cluster, Space::Generic] } else { [Space::Global, Space::Generic] };
    if !spaces.contains(&space) {
        return Err(x.unsupported("it stores to `.shared::cluster`, and with `.release` to `.global`"));
    }
    let mut count = None;
    if is_far {
        x.require(&[("mbarrier::complete_tx::bytes", ())])?;
        count = x.choose(&VECTORS[..2]);
    }
    let (ty, int) = accessed(x)?;
    if is_far && !matches!(int.width, Width::W32 | Width::W64) {
        return Err(x.wrong_type());
    }
    x.done(if is_far { 3 } else { 2 })?;
    let to = place(x, 0, space)?;
    let mut a = Vec::new();
    for element in accessed_elements(x, 1, count)? {
        a.push(x.element_source(element, ty, true)?);
    }
    let barrier = if is_far { Some(place(x, 2, space)?) } else { None };
    x.push(Op::Async(Async::StoreFar { to, width: int.width, a, barrier, update: None }));
    Ok(())
}

fn cvta(x: &mut Operation<'_, '_>) -> Lowered {
    let to_space = x.flag("to");
    let space = x.require(&SPACES)?;
    let ty = x.ty()?;
    let width = if let Type::Int(Int { width: width @ (Width::W32 | Width::W64), signed: false }) = ty {
        width
    } else {
        return Err(x.wrong_type());
    };
    x.done(2)?;
    let d = x.destination(0, width)?;
    let operand = x.operand(1)?;
    let a = x.moved(operand, ty)?;
    if let Src::Symbol(variable, _) = a
        && !to_space
    {
        x.checked_space(variable, space, operand)?;
    }
    x.push(Op::Cvta { d, a, space, to: to_space, width });
    Ok(())
}

fn isspacep(x: &mut Operation<'_, '_>) -> Lowered {
    let space = x.require(&SPACES)?;
    x.done(2)?;
    let operand = x.operand(0)?;
    let Some(p) = x.predicate_destination(operand)? else {
        return Err(x.expected("a predicate register", operand));
    };
    let address: &Operand = x.operand(1)?;
    let a = x.wide_value(address, Type::Bits(Width::W32))?;
    x.push(Op::IsSpace { p, a, space });
    Ok(())
}

/// Whether an address of shared memory is in the window of the cluster or generic, and its width.
fn mapped(x: &mut Operation<'_, '_>) -> Lowered<(Space, Type, Width)> {
    let space = if x.flag("shared::cluster") { Space::Cluster } else { Space::Generic };
    let ty = x.ty()?;
    if let Type::Int(Int { width: width @ (Width::W32 | Width::W64), signed: false }) = ty {
        Ok((space, ty, width))
    } else {
        Err(x.wrong_type())
    }
}

/// `mapa{.shared::cluster}.type d, a, rank` (rule Y13)
fn mapa(x: &mut Operation<'_, '_>) -> Lowered {
    let (space, ty, width) = mapped(x)?;
    x.done(3)?;
    let d = x.destination(0, width)?;
    let operand = x.operand(1)?;
    let a = x.moved(operand, ty)?;
    let rank = x.source(2, Type::Int(Int { width: Width::W32, signed: false }))?;
    x.push(Op::MapToCta { d, a, rank, space, width });
    Ok(())
}

/// `getctarank{.shared::cluster}.type d, a`
fn getctarank(x: &mut Operation<'_, '_>) -> Lowered {
    let (space, ty, _) = mapped(x)?;
    x.done(2)?;
    let d = x.destination(0, Width::W32)?;
    let operand = x.operand(1)?;
    let a = x.moved(operand, ty)?;
    x.push(Op::CtaRankOf { d, a, space });
    Ok(())
}
