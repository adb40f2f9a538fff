//! A program as text, one operation per line, for tests and readers.
//!
//! ```text
//! kernel k
//! param 0: v0 k_param_0, u64, 8 bytes
//! shared v1 tile, 512 bytes, align 4
//! @0   r0 = load.param.b64 [v0]
//! @1   @!p0 branch @3
//! ```

use super::update::{Scope, Update};
use std::fmt::{self, Display, Formatter};

use super::access::{Access, Strong};
use super::asynchronous::{
    Adds, Async, BarrierAction, BulkWrite, Factor, Far, Groups, MemoryPlace, Phase, ProxyFence,
    WarpgroupProduct,
};
use super::code::{Inst, Program, Variable};
use super::matrix::{Fragment, FragmentRole, MatrixElement, MatrixProduct, MatrixShape};
use super::op::{
    Address, Barrier, Bool2, Clamp, Compare, Declared, FloatCompare, Int, Op, Precision, PredSrc, Reduction,
    Space, Src, ToIntegral, Width,
};
use super::tensor_memory::{
    CopiedLanes, CopiedShape, LeftFactor, Moved, MovedShape, Scales, TensorMemoryOp, TensorProduct,
};
use super::update::Swap;
use crate::number::format::{Format, Rounding};

impl Display for Program {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        writeln!(out, "kernel {}", self.name)?;
        let extent = |[x, y, z]: [u32; 3]| format!("{x}×{y}×{z}");
        if let Some(block) = self.bounds.required_block {
            writeln!(out, "block must be {}", extent(block))?;
        }
        if let Some(block) = self.bounds.max_block {
            writeln!(out, "block at most {}", extent(block))?;
        }
        for (number, parameter) in self.parameters.iter().enumerate() {
            let pointer = if parameter.pointer { ", pointer" } else { "" };
            let (variable, name) = (parameter.variable, &parameter.name);
            writeln!(
                out,
                "param {number}: {variable} {name}, {}, {} bytes{pointer}",
                parameter.element, parameter.size
            )?;
        }
        for (number, variable) in self.variables.iter().enumerate() {
            if variable.parameter.is_none() {
                writeln!(out, "{} v{number} {variable}", variable.space)?;
            }
        }
        for (at, inst) in self.insts.iter().enumerate() {
            let at = format!("@{at}");
            writeln!(out, "{at:<4} {inst}")?;
        }
        Ok(())
    }
}

impl Display for Variable {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 32;
        write!(out, "{}, ", self.name)?;
        match self.size {
            Some(size) => write!(out, "{size} bytes")?,
            None => write!(out, "dynamic")?,
        }
        write!(out, ", align {}", self.align)?;
        let Some(init) = &self.init else { return Ok(()) };
        write!(out, " =")?;
        for byte in init.bytes.iter().take(SHOWN) {
            write!(out, " {byte:02x}")?;
        }
        if init.bytes.len() > SHOWN {
            write!(out, " … {} bytes", init.bytes.len())?;
        }
        for (offset, variable, addend, generic) in &init.addresses {
            let generic = if *generic { "generic " } else { "" };
            write!(out, ", {generic}{variable}{} at {offset}", Signed(*addend))?;
        }
        Ok(())
    }
}

impl Display for Inst {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.guard {
            Some(guard) => write!(out, "@{guard} {}", self.op),
            None => write!(out, "{}", self.op),
        }
    }
}

/// `+8`, `-8`, or nothing for 0.
struct Signed(i64);

impl Display for Signed {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if self.0 == 0 { Ok(()) } else { write!(out, "{:+}", self.0) }
    }
}

impl Display for Src {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Src::Reg(register) => write!(out, "{register}"),
            Src::Imm(bits) if *bits < 1024 => write!(out, "{bits}"),
            Src::Imm(bits) => write!(out, "{bits:#x}"),
            Src::Symbol(variable, offset) => write!(out, "&{variable}{}", Signed(*offset)),
        }
    }
}

impl Display for PredSrc {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", if self.negated { "!" } else { "" }, self.pred)
    }
}

impl Display for Address {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.base {
            Src::Symbol(variable, offset) => write!(out, "[{variable}{}", Signed(offset))?,
            base @ (Src::Reg(_) | Src::Imm(_)) => write!(out, "[{base}")?,
        }
        write!(out, "{}]", Signed(self.offset))
    }
}

impl Display for Width {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "b{}", self.bits())
    }
}

impl Display for Int {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", if self.signed { "s" } else { "u" }, self.width.bits())
    }
}

impl Display for Space {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Cluster => "cluster",
            Space::Local => "local",
            Space::Const => "const",
            Space::Param => "param",
            Space::Generic => "generic",
            Space::Tensor => "tensor",
        })
    }
}

fn rounding(rounding: Rounding) -> &'static str {
    match rounding {
        Rounding::Nearest => "",
        Rounding::NearestAway => ".rna",
        Rounding::Zero => ".rz",
        Rounding::Down => ".rm",
        Rounding::Up => ".rp",
    }
}

fn integral(integral: ToIntegral) -> &'static str {
    match integral {
        ToIntegral::NearestEven => ".rni",
        ToIntegral::Zero => ".rzi",
        ToIntegral::Down => ".rmi",
        ToIntegral::Up => ".rpi",
    }
}

fn clamp(clamp: Clamp) -> &'static str {
    match clamp {
        Clamp::None => "",
        Clamp::Saturate => ".sat",
        Clamp::Relu => ".relu",
    }
}

fn compare(compare: Compare) -> &'static str {
    match compare {
        Compare::Eq => "eq",
        Compare::Ne => "ne",
        Compare::Lt => "lt",
        Compare::Le => "le",
        Compare::Gt => "gt",
        Compare::Ge => "ge",
    }
}

fn float_compare(float: FloatCompare) -> String {
    match float {
        FloatCompare::Order(order, unordered) => {
            format!("{}{}", compare(order), if unordered { "u" } else { "" })
        }
        FloatCompare::IsNumber => "num".to_owned(),
        FloatCompare::IsNan => "nan".to_owned(),
    }
}

fn bool2(op: Bool2) -> &'static str {
    match op {
        Bool2::And => "and",
        Bool2::Or => "or",
        Bool2::Xor => "xor",
    }
}

fn list<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// A list of destinations, with `_` for discarded results.
fn sinks<T: Display>(items: &[Option<T>]) -> String {
    let shown: Vec<String> = items.iter().map(sink).collect();
    list(&shown)
}

fn sink<T: Display>(item: &Option<T>) -> String {
    item.as_ref().map_or_else(|| "_".to_owned(), T::to_string)
}

/// The name of a variant without data, in lower case: `MulLo` is `mullo`.
fn name(variant: impl fmt::Debug) -> String {
    format!("{variant:?}").to_lowercase()
}

fn combined(combine: &Option<(Bool2, PredSrc)>) -> String {
    combine.as_ref().map_or_else(String::new, |(by, with)| format!(" {} {with}", bool2(*by)))
}

fn also<T: Display>(second: &Option<T>) -> String {
    second.as_ref().map_or_else(String::new, |second| format!("|{second}"))
}

/// `.ftz` and possible fusion are not printed: they matter to known values only.
fn float_suffix(format: Format, precision: Precision, clamped: Clamp) -> String {
    let approximate = if precision.approximate { ".approx" } else { "" };
    format!("{}{approximate}{}.{}", rounding(precision.rounding), clamp(clamped), format.name())
}

impl Display for Op {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Op::Mov { d, a, width } => write!(out, "{d} = mov.{width} {a}"),
            Op::Special { d, special, width } => write!(out, "{d} = special.{width} {}", name(special)),
            Op::Int1 { op, ty, d, a } => write!(out, "{d} = {}.{ty} {a}", name(op)),
            Op::Int2 { op, ty, d, a, b } => write!(out, "{d} = {}.{ty} {a}, {b}", name(op)),
            Op::Int3 { op, ty, d, a, b, c } => write!(out, "{d} = {}.{ty} {a}, {b}, {c}", name(op)),
            Op::Insert { width, d, a, b, position, length } => {
                write!(out, "{d} = insert.{width} {a}, {b}, {position}, {length}")
            }
            Op::Carry { subtract, width, d, a, b, carry_in, carry_out } => {
                let op = if *subtract { "sub" } else { "add" };
                write!(out, "{d}{} = {op}.{width} {a}, {b}", also(carry_out))?;
                carry_in.map_or(Ok(()), |carry| write!(out, ", {carry}"))
            }
            Op::SetpInt { compare: order, ty, p, q, a, b, combine } => {
                write!(out, "{p}{} = {}.{ty} {a}, {b}{}", also(q), compare(*order), combined(combine))
            }
            Op::SetpFloat { compare: order, format, flush: _, p, q, a, b, combine } => {
                let (order, format) = (float_compare(*order), format.name());
                write!(out, "{p}{} = {order}.{format} {a}, {b}{}", also(q), combined(combine))
            }
            Op::Pred2 { op, p, a, b } => write!(out, "{p} = {} {a}, {b}", bool2(*op)),
            Op::PredMov { p, a } => write!(out, "{p} = {a}"),
            Op::PredConst { p, value } => write!(out, "{p} = {value}"),
            Op::Select { width, d, a, b, p } => write!(out, "{d} = select.{width} {p}, {a}, {b}"),
            Op::Pack { d, parts, part } => write!(out, "{d} = pack.{part} {}", list(parts)),
            Op::Unpack { d, a, part } => write!(out, "{} = unpack.{part} {a}", sinks(d)),
            Op::CvtInt { d, a, from, to, saturate } => {
                write!(out, "{d} = cvt{}.{to}.{from} {a}", if *saturate { ".sat" } else { "" })
            }
            Op::IntToFloat { d, a, from, to, rounding: round } => {
                write!(out, "{d} = cvt{}.{}.{from} {a}", rounding(*round), to.name())
            }
            Op::FloatToInt { d, a, from, to, rounding: round, flush: _ } => {
                write!(out, "{d} = cvt{}.{to}.{} {a}", integral(*round), from.name())
            }
            Op::CvtFloat { d, a, from, to, integral: to_integral, precision, clamp: clamped, finite: _ } => {
                let whole = to_integral.map_or("", integral);
                let suffix = float_suffix(*to, *precision, *clamped);
                write!(out, "{d} = cvt{whole}{suffix}.{} {a}", from.name())
            }
            Op::Float1 { op, format, precision, d, a } => {
                write!(out, "{d} = {}{} {a}", name(op), float_suffix(*format, *precision, Clamp::None))
            }
            Op::Float2 { op, format, precision, clamp, d, a, b } => {
                write!(out, "{d} = {}{} {a}, {b}", name(op), float_suffix(*format, *precision, *clamp))
            }
            Op::Fma { format, precision, clamp, d, a, b, c } => {
                write!(out, "{d} = fma{} {a}, {b}, {c}", float_suffix(*format, *precision, *clamp))
            }
            Op::Load { space, address, width, d, access } => {
                write!(out, "{} = load{}.{space}.{width} {address}", sinks(d), AccessText(access))
            }
            Op::Store { space, address, width, a, access } => {
                write!(out, "store{}.{space}.{width} {address}, {}", AccessText(access), list(a))
            }
            Op::Atomic {
                update,
                scope,
                space,
                address,
                alignment: _,
                releases,
                acquires,
                draws: _,
                d,
                a,
            } => {
                let (scope, order) = (scope_name(*scope), atomic_order(*releases, *acquires));
                write!(out, "{} = atomic{order}{scope}.{space}.{update} {address}, {a}", sink(d))
            }
            Op::Swap(swap) => {
                let Swap {
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
                    waits,
                    reason: _,
                } = &**swap;
                let (scope, order) = (scope_name(*scope), atomic_order(*releases, *acquires));
                let expected = expected.map_or_else(String::new, |expected| format!("{expected}, "));
                let first =
                    turn.operations.first().map_or_else(String::new, |first| format!(" from {first}"));
                write!(
                    out,
                    "{d} = swap{order}{scope}.{space}.{width} {address}, {expected}{new}{first}{}",
                    if *waits { " until it succeeds" } else { "" }
                )
            }
            Op::Cvta { d, a, space, to, width } => {
                let (from, into) = if *to { (Space::Generic, *space) } else { (*space, Space::Generic) };
                write!(out, "{d} = address.{into}.{from}.{width} {a}")
            }
            Op::MapToCta { d, a, rank, space, width } => {
                write!(out, "{d} = cta.address.{space}.{width} {a}, {rank}")
            }
            Op::CtaRankOf { d, a, space } => write!(out, "{d} = cta.of.{space} {a}"),
            Op::IsSpace { p, a, space } => write!(out, "{p} = is.{space} {a}"),
            Op::Branch { target } => write!(out, "branch {target}"),
            Op::BranchTable { index, targets } => write!(out, "branch {index} of {}", list(targets)),
            Op::Enter { declared: Declared { registers, predicates, variables } } => {
                write!(out, "enter {}, {}, {}", list(registers), list(predicates), list(variables))
            }
            Op::Exit => write!(out, "exit"),
            Op::Trap => write!(out, "trap"),
            Op::Nop => write!(out, "nop"),
            Op::Barrier { kind, id, count, aligned } => {
                let name = if *aligned { "bar" } else { "barrier" };
                let count = count.map_or_else(String::new, |count| format!(", {count}"));
                match kind {
                    Barrier::Sync => write!(out, "{name}.sync {id}{count}"),
                    Barrier::Arrive => write!(out, "{name}.arrive {id}{count}"),
                    Barrier::RedPopc(d, p) => write!(out, "{d} = {name}.popc {id}{count}, {p}"),
                    Barrier::RedPred(by, d, p) => write!(out, "{d} = {name}.{} {id}{count}, {p}", bool2(*by)),
                }
            }
            Op::WarpSync { mask } => write!(out, "warpsync {mask}"),
            Op::Shuffle { mode, d, p, a, b, c, mask } => {
                write!(out, "{}{} = shuffle.{} {a}, {b}, {c}, {mask}", sink(d), also(p), name(mode))
            }
            Op::Vote { vote, p, a, mask } => write!(out, "{p} = vote.{} {a}, {mask}", name(vote)),
            Op::Ballot { d, a, mask } => write!(out, "{d} = ballot {a}, {mask}"),
            Op::MatchAny { d, a, width, mask } => write!(out, "{d} = match.any.{width} {a}, {mask}"),
            Op::MatchAll { d, p, a, width, mask } => {
                write!(out, "{}{} = match.all.{width} {a}, {mask}", sink(d), also(p))
            }
            Op::Redux { op: Reduction::Integer(op, ty), d, a, mask } => {
                let sign = if ty.signed { "s32" } else { "u32" };
                write!(out, "{d} = redux.{}.{sign} {a}, {mask}", name(op))
            }
            Op::Redux { op: Reduction::Float(op), d, a, mask } => {
                write!(out, "{d} = redux.{}.f32 {a}, {mask}", name(op))
            }
            Op::ActiveMask { d } => write!(out, "{d} = activemask"),
            Op::Elect { d, p, mask } => write!(out, "{}|{p} = elect {mask}", sink(d)),
            Op::Mma { product, d, a, b, c } => {
                write!(out, "{} = mma.{product} {}, {}, {}", list(d), list(a), list(b), list(c))
            }
            Op::LoadMatrix { space, address, transposed, d } => {
                write!(out, "{} = ldmatrix{}.{space} {address}", list(d), transposition(*transposed))
            }
            Op::StoreMatrix { space, address, transposed, a } => {
                write!(out, "stmatrix{}.{space} {address}, {}", transposition(*transposed), list(a))
            }
            Op::TransposeMatrix { d, a } => write!(out, "{d} = movmatrix.trans {a}"),
            Op::LoadFragment { fragment, column_major, space, address, stride, d } => {
                let major = if *column_major { "col" } else { "row" };
                write!(out, "{} = wmma.load.{fragment}.{major}.{space} {address}", list(d))?;
                stride.map_or(Ok(()), |stride| write!(out, ", {stride}"))
            }
            Op::StoreFragment { fragment, column_major, space, address, stride, a } => {
                let major = if *column_major { "col" } else { "row" };
                write!(out, "wmma.store.{fragment}.{major}.{space} {address}, {}", list(a))?;
                stride.map_or(Ok(()), |stride| write!(out, ", {stride}"))
            }
            Op::MultiplyFragments { product, column_major, d, a, b, c } => {
                let [left, right] = column_major.map(|column_major| if column_major { "col" } else { "row" });
                let (d, a, b, c) = (list(d), list(a), list(b), list(c));
                write!(out, "{d} = wmma.mma.{left}.{right}.{product} {a}, {b}, {c}")
            }
            Op::Async(operation) => write!(out, "{operation}"),
            Op::Undetermined(reason) => write!(out, "undetermined: {reason}"),
            Op::Unevaluated { d, p, a, predicates, is_collective: _, reason } => {
                let (d, a) = (list(d), list(a));
                let names =
                    |names: Vec<String>| if names.is_empty() { "-".to_owned() } else { names.join(" ") };
                let p = names(p.iter().map(ToString::to_string).collect());
                let predicates = names(predicates.iter().map(ToString::to_string).collect());
                write!(out, "{d} {p} = unevaluated {a} {predicates}: {reason}")
            }
            Op::Unsupported { reason } => write!(out, "unsupported: {reason}"),
        }
    }
}

impl Display for MemoryPlace {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.space, self.address)
    }
}

fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Cta => ".cta",
        Scope::Cluster => ".cluster",
        Scope::Launch => "",
    }
}

impl Display for Far {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Far::Bytes { at, count } => write!(out, "{at}, {count}"),
            Far::Tile { map, at } => write!(out, "tile {map} at {}", list(at)),
        }
    }
}

impl Display for Factor {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Factor::Registers(registers) => write!(out, "{}", list(registers)),
            Factor::Shared { descriptor, k_major, of: _ } => {
                write!(out, "shared {descriptor}{}", if *k_major { "" } else { " transposed" })
            }
        }
    }
}

impl Display for WarpgroupProduct {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let WarpgroupProduct { product, d, a, b, adds, negates } = self;
        let sign = if *negates { ".neg" } else { "" };
        write!(out, "{} = wgmma.{product}{sign} {a}, {b}{}", list(d), AddsText(adds))
    }
}

struct AddsText<'a>(&'a Adds);

impl Display for AddsText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Adds::Known(true) => Ok(()),
            Adds::Known(false) => write!(out, ", alone"),
            Adds::If(adds) => write!(out, ", added if {adds}"),
        }
    }
}

impl Display for Async {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let kind = |groups: &Groups| match groups {
            Groups::Plain => "copy",
            Groups::Bulk => "copy.bulk",
            Groups::Products => "wgmma",
        };
        match self {
            Async::Copy { to, from, bytes, size, ignore } => {
                write!(out, "copy.async {to}, {from}, {bytes}")?;
                size.map_or(Ok(()), |size| write!(out, ", {size}"))?;
                ignore.map_or(Ok(()), |ignore| write!(out, ", ignore {ignore}"))
            }
            Async::BulkLoad { to, from, barrier, ctas, pair, update } => {
                let pair = if *pair { ".pair" } else { "" };
                let update = update.map(|update| format!(".{update}")).unwrap_or_default();
                write!(out, "copy.bulk{pair}{update} {to}, {from}, completes {barrier}")?;
                ctas.map_or(Ok(()), |ctas| write!(out, ", in {ctas}"))
            }
            Async::StoreFar { to, width, a, barrier, update } => {
                match update {
                    None => write!(out, "store.async.{width} {to}, {}", list(a))?,
                    Some((update, scope)) => {
                        write!(out, "atomic.async.{update}{} {to}, {}", scope_name(*scope), list(a))?;
                    }
                }
                barrier.map_or(Ok(()), |barrier| write!(out, ", completes {barrier}"))
            }
            Async::ArriveAtCluster { releases, aligned } => {
                let relaxed = if *releases { "" } else { ".relaxed" };
                write!(out, "cluster.arrive{relaxed}{}", if *aligned { ".aligned" } else { "" })
            }
            Async::WaitForCluster { aligned } => {
                write!(out, "cluster.wait{}", if *aligned { ".aligned" } else { "" })
            }
            Async::GridControl { waits } => {
                write!(out, "grid.{}", if *waits { "wait" } else { "launch_dependents" })
            }
            Async::SetRegisters { count, takes } => {
                write!(out, "registers.{} {count}", if *takes { "take" } else { "give" })
            }
            Async::Fence { of: super::Fenced::Memory { scope, releases, acquires, total: _ } } => {
                let order = match (releases, acquires) {
                    (true, false) => ".release",
                    (false, true) => ".acquire",
                    (true, true) | (false, false) => "",
                };
                write!(out, "fence{order}{}", scope_name(*scope))
            }
            Async::Fence { of: super::Fenced::Barriers } => write!(out, "fence.barriers"),
            Async::BulkStore { to, from, write } => {
                match write {
                    BulkWrite::All | BulkWrite::Masked(_) => write!(out, "copy.bulk ")?,
                    BulkWrite::Updates(update) => write!(out, "copy.bulk.{update} ")?,
                    BulkWrite::UpdatesElements(op) => write!(out, "copy.bulk.{} ", name(op))?,
                }
                match to {
                    Far::Bytes { at, count } => write!(out, "{at}, {from}, {count}")?,
                    tile @ Far::Tile { .. } => write!(out, "{tile}, {from}")?,
                }
                match write {
                    BulkWrite::Masked(mask) => write!(out, ", of bytes {mask}"),
                    BulkWrite::All | BulkWrite::Updates(_) | BulkWrite::UpdatesElements(_) => Ok(()),
                }
            }
            Async::Prefetch { from } => write!(out, "prefetch.bulk {from}"),
            Async::Clear { to, bytes } => write!(out, "store.zeros {to}, {bytes}"),
            Async::Multiply(product) => write!(out, "{product}"),
            Async::FenceRegisters => write!(out, "wgmma.fence"),
            Async::Commit { groups } => write!(out, "{}.commit", kind(groups)),
            Async::Wait { groups, pending, reads } => {
                write!(out, "{}.wait{}", kind(groups), if *reads { ".read" } else { "" })?;
                match pending {
                    Some(pending) => write!(out, " {pending}"),
                    None => write!(out, ".all"),
                }
            }
            Async::Publish { of } => write!(
                out,
                "fence.async{}",
                match of {
                    ProxyFence::All => "",
                    ProxyFence::Global => ".global",
                    ProxyFence::SharedOfCta => ".shared",
                    ProxyFence::SharedOfCluster => ".cluster",
                }
            ),
            Async::Barrier { place, action } => match action {
                BarrierAction::Init { count } => write!(out, "mbarrier.init {place}, {count}"),
                BarrierAction::Invalidate => write!(out, "mbarrier.inval {place}"),
                BarrierAction::Arrive { state, count, bytes, drops, order, completes } => {
                    if let Some(state) = state {
                        write!(out, "{state} = ")?;
                    }
                    let flag = |set, name| if set { name } else { "" };
                    let (drops, order) = (flag(*drops, ".drop"), order_name(*order));
                    let incomplete = flag(!completes, ".incomplete");
                    write!(out, "mbarrier.arrive{drops}{order}{incomplete} {place}, {count}")?;
                    bytes.map_or(Ok(()), |bytes| write!(out, ", expects {bytes}"))
                }
                BarrierAction::ArriveAfterCopies { counted } => {
                    write!(out, "mbarrier.arrive.copies{} {place}", if *counted { ".counted" } else { "" })
                }
                BarrierAction::ArriveAfterProducts { ctas, pair } => {
                    write!(out, "mbarrier.arrive.products{} {place}", of_pair(*pair))?;
                    ctas.map_or(Ok(()), |ctas| write!(out, ", to {ctas}"))
                }
                BarrierAction::Expect { bytes } => write!(out, "mbarrier.expect {place}, {bytes}"),
                BarrierAction::Complete { bytes } => write!(out, "mbarrier.complete {place}, {bytes}"),
                BarrierAction::Test { p, phase, order } => {
                    let order = order_name(*order);
                    match phase {
                        Phase::State(state) => write!(out, "{p} = mbarrier.test{order} {place}, {state}"),
                        Phase::Parity(parity) => {
                            write!(out, "{p} = mbarrier.test{order} {place}, parity {parity}")
                        }
                    }
                }
            },
            Async::Tensor(operation) => write!(out, "{operation}"),
        }
    }
}

/// The memory order of an atomic operation; `.relaxed` is not printed.
fn atomic_order(releases: bool, acquires: bool) -> &'static str {
    match (releases, acquires) {
        (false, false) => "",
        (false, true) => ".acquire",
        (true, false) => ".release",
        (true, true) => ".acq_rel",
    }
}

/// The memory order of an operation on an mbarrier; that of release or acquire and `.cta` is the default and not
/// printed.
fn order_name(Strong { scope, orders }: Strong) -> &'static str {
    match (scope, orders) {
        (Scope::Cta, true) => "",
        (Scope::Cluster, true) => ".cluster",
        (Scope::Launch, true) => ".launch",
        (Scope::Cta, false) => ".relaxed",
        (Scope::Cluster, false) => ".relaxed.cluster",
        (Scope::Launch, false) => ".relaxed.launch",
    }
}

/// The suffix of operations of a pair of CTAs.
fn of_pair(pair: bool) -> &'static str {
    if pair { ".pair" } else { "" }
}

impl Display for TensorMemoryOp {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TensorMemoryOp::Allocate { to, columns, pair } => {
                write!(out, "tensor.alloc{} {to}, {columns}", of_pair(*pair))
            }
            TensorMemoryOp::Free { address, columns, pair } => {
                write!(out, "tensor.free{} {address}, {columns}", of_pair(*pair))
            }
            TensorMemoryOp::Relinquish { pair } => write!(out, "tensor.relinquish{}", of_pair(*pair)),
            TensorMemoryOp::Load { d, from } => write!(out, "{} = tensor.load{from}", list(d)),
            TensorMemoryOp::Store { to, a } => write!(out, "tensor.store{to}, {}", list(a)),
            TensorMemoryOp::Wait { loads } => {
                write!(out, "tensor.wait.{}", if *loads { "load" } else { "store" })
            }
            TensorMemoryOp::Fence { before } => {
                write!(out, "tensor.fence.{}", if *before { "before" } else { "after" })
            }
            TensorMemoryOp::Copy { to, from, shape: CopiedShape { lanes, columns } } => {
                let spread = match lanes {
                    CopiedLanes::All | CopiedLanes::Quarters => String::new(),
                    CopiedLanes::Alternating | CopiedLanes::Halves => format!(".{}", name(lanes)),
                };
                write!(out, "tensor.copy.{}x{columns}{spread} {to}, {from}", lanes.rows())
            }
            TensorMemoryOp::Multiply(product) => write!(out, "{product}"),
        }
    }
}

impl Display for Moved {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let packed = if self.packed { ".packed" } else { "" };
        let shape = match self.shape {
            MovedShape::Lanes32 => "32x32b".to_owned(),
            MovedShape::Bits64 => "16x64b".to_owned(),
            MovedShape::Bits128 => "16x128b".to_owned(),
            MovedShape::Bits256 => "16x256b".to_owned(),
            MovedShape::Halves(apart) => format!("16x32bx2+{apart}"),
        };
        write!(out, ".{shape}{packed} {}", self.address)
    }
}

impl Display for TensorProduct {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let TensorProduct { kind, pair, d, a, b, descriptor, scales, left_out, adds } = self;
        write!(out, "tensor.mma.{}{} {d}, ", name(kind), of_pair(*pair))?;
        match a {
            LeftFactor::Shared(factor) => write!(out, "{factor}")?,
            LeftFactor::Tensor(address) => write!(out, "{address}")?,
        }
        write!(out, ", {b}, {descriptor}")?;
        if let Some(Scales { a, b, blocks }) = scales {
            write!(out, ", scaled.{blocks} {a} {b}")?;
        }
        if !left_out.is_empty() {
            write!(out, ", but {}", list(left_out))?;
        }
        write!(out, "{}", AddsText(adds))
    }
}

fn transposition(transposed: bool) -> &'static str {
    if transposed { ".trans" } else { "" }
}

impl Display for MatrixElement {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            MatrixElement::Float(format) => out.write_str(format.name()),
            MatrixElement::Int8 { signed } => out.write_str(if *signed { "s8" } else { "u8" }),
            MatrixElement::Int32 => out.write_str("s32"),
        }
    }
}

impl Display for MatrixShape {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "m{}n{}k{}", self.m, self.n, self.k)
    }
}

impl Display for MatrixProduct {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let MatrixProduct { shape, a, b, c, d, saturate } = self;
        write!(out, "{shape}.{d}.{a}.{b}.{c}{}", if *saturate { ".sat" } else { "" })
    }
}

impl Display for Fragment {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let role = match self.role {
            FragmentRole::A => "a",
            FragmentRole::B => "b",
            FragmentRole::Accumulator => "d",
        };
        write!(out, "{role}.{}.{}", self.shape, self.element)
    }
}

impl Display for Update {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Update::Real(format) => write!(out, "add.{}", format.name()),
            Update::Extreme { largest: true, format } => write!(out, "max.{}", format.name()),
            Update::Extreme { largest: false, format } => write!(out, "min.{}", format.name()),
            Update::Integer(op, ty) => write!(out, "{}.{ty}", name(op)),
            Update::Counter { down } => out.write_str(if *down { "dec.u32" } else { "inc.u32" }),
            Update::RealInWord { format, word } => {
                write!(out, "add.{} in words of {} bits", format.name(), word.bits())
            }
        }
    }
}

struct AccessText<'a>(&'a Access);

impl Display for AccessText<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Access { read_only, strong, waits, writes_back, tensor_address: _, leads_nowhere: _, ahead_of } =
            *self.0;
        out.write_str(if read_only { ".nc" } else { "" })?;
        out.write_str(if waits { ".until" } else { "" })?;
        out.write_str(if writes_back { ".atomic" } else { "" })?;
        out.write_str(if ahead_of.is_some() { ".ahead" } else { "" })?;
        let Some(Strong { scope, orders }) = strong else { return Ok(()) };
        out.write_str(if orders { ".ordered" } else { ".strong" })?;
        out.write_str(match scope {
            Scope::Cta => ".cta",
            Scope::Cluster => ".cluster",
            Scope::Launch => "",
        })
    }
}
