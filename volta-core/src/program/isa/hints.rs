//! Instructions without an effect in the model, and instructions that Volta does not support.

use super::{Row, Types, row, unsupported};
use crate::program::asynchronous::Async;
use crate::program::op::{Int, Op, Space, Special, Width};
use crate::program::operand::{Lowered, Operation};
use crate::program::types::Type;
use crate::ptx::tree::{Literal, LiteralValue, Operand};

const TEXTURE: &str = "textures and surfaces are not supported yet";
const VIDEO: &str = "video instructions are not supported yet";
const STACK: &str = "memory allocated on the stack is not supported yet";

pub(super) const ROWS: &[Row] = &[
    row("prefetch", Types::Any, "Data Movement and Conversion Instructions: prefetch", prefetch),
    row("prefetchu", Types::Any, "Data Movement and Conversion Instructions: prefetchu", prefetchu),
    row(
        "applypriority",
        Types::Any,
        "Data Movement and Conversion Instructions: applypriority",
        applypriority,
    ),
    // Not a hint: the memory is indeterminate afterwards, and it races like a write.
    unsupported("discard", "Data Movement and Conversion Instructions: discard", "it makes memory undefined"),
    row("createpolicy", Types::Any, "Data Movement and Conversion Instructions: createpolicy", createpolicy),
    row(
        "griddepcontrol",
        Types::Any,
        "Parallel Synchronization and Communication Instructions: griddepcontrol",
        griddepcontrol,
    ),
    row("nanosleep", Types::Any, "Miscellaneous Instructions: nanosleep", nanosleep),
    row("pmevent", Types::Any, "Miscellaneous Instructions: pmevent", pmevent),
    row("setmaxnreg", Types::Any, "Miscellaneous Instructions: setmaxnreg", setmaxnreg),
    unsupported("alloca", "Stack Manipulation Instructions: alloca", STACK),
    unsupported("stacksave", "Stack Manipulation Instructions: stacksave", STACK),
    unsupported("stackrestore", "Stack Manipulation Instructions: stackrestore", STACK),
    unsupported("tex", "Texture Instructions: tex", TEXTURE),
    unsupported("tld4", "Texture Instructions: tld4", TEXTURE),
    unsupported("txq", "Texture Instructions: txq", TEXTURE),
    unsupported("istypep", "Texture Instructions: istypep", TEXTURE),
    unsupported("suld", "Surface Instructions: suld", TEXTURE),
    unsupported("sust", "Surface Instructions: sust", TEXTURE),
    unsupported("sured", "Surface Instructions: sured", TEXTURE),
    unsupported("suq", "Surface Instructions: suq", TEXTURE),
    unsupported("vadd", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vsub", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vabsdiff", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vmin", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vmax", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vshl", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vshr", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vmad", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vset", "Scalar Video Instructions", VIDEO).computing(),
    unsupported("vadd2", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vadd4", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vsub2", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vsub4", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vavrg2", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vavrg4", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vabsdiff2", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vabsdiff4", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vmin2", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vmin4", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vmax2", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vmax4", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vset2", "SIMD Video Instructions", VIDEO).computing(),
    unsupported("vset4", "SIMD Video Instructions", VIDEO).computing(),
];

const U32: Type = Type::Int(Int { width: Width::W32, signed: false });

fn nop(x: &mut Operation<'_, '_>) -> Lowered {
    x.push(Op::Nop);
    Ok(())
}

/// Prefetches memory into a cache: a hint.
fn prefetch(x: &mut Operation<'_, '_>) -> Lowered {
    let spaces = [
        ("global", Space::Global),
        ("local", Space::Local),
        ("param", Space::Param),
        ("param::entry", Space::Param),
        ("const", Space::Const),
    ];
    let space = x.choose(&spaces).unwrap_or(Space::Generic);
    let levels = ["L1", "L2", "tensormap", "L2::evict_last", "L2::evict_normal"].map(|level| (level, ()));
    x.require(&levels)?;
    x.done(1)?;
    x.address(0, space)?;
    nop(x)
}

/// Prefetches memory into the cache for uniform accesses: a hint.
fn prefetchu(x: &mut Operation<'_, '_>) -> Lowered {
    x.require(&[("L1", ())])?;
    x.done(1)?;
    x.address(0, Space::Generic)?;
    nop(x)
}

/// Changes the eviction priority of memory: a hint.
fn applypriority(x: &mut Operation<'_, '_>) -> Lowered {
    let space = x.choose(&[("global", Space::Global)]).unwrap_or(Space::Generic);
    x.require(&[("L2::evict_normal", ())])?;
    x.done(2)?;
    x.address(0, space)?;
    nop(x)
}

/// Creates a cache policy, which is used as a hint only; its bits have no meaning for a program.
fn createpolicy(x: &mut Operation<'_, '_>) -> Lowered {
    for modifier in [
        "fractional",
        "range",
        "cvt",
        "L2",
        "global",
        "L2::evict_last",
        "L2::evict_normal",
        "L2::evict_first",
        "L2::evict_unchanged",
    ] {
        x.flag(modifier);
    }
    // The second priority of the `.range` form may equal the first.
    for modifier in ["L2::evict_first", "L2::evict_unchanged"] {
        x.flag(modifier);
    }
    if x.ty()? != Type::Bits(Width::W64) {
        return Err(x.wrong_type());
    }
    x.done_within(1, 4)?;
    let d = x.destination(0, Width::W64)?;
    x.push(Op::Special { d, special: Special::Unpredictable, width: Width::W64 });
    Ok(())
}

/// Orders launches that overlap (rule Y17).
fn griddepcontrol(x: &mut Operation<'_, '_>) -> Lowered {
    let waits = x.require(&[("wait", true), ("launch_dependents", false)])?;
    x.done(0)?;
    x.push(Op::Async(Async::GridControl { waits }));
    Ok(())
}

/// Waits for an unspecified time.
fn nanosleep(x: &mut Operation<'_, '_>) -> Lowered {
    if x.ty()? != U32 {
        return Err(x.wrong_type());
    }
    x.done(1)?;
    x.source(0, U32)?;
    nop(x)
}

/// Triggers a performance counter.
fn pmevent(x: &mut Operation<'_, '_>) -> Lowered {
    x.flag("mask");
    x.done(1)?;
    number(x, 0)?;
    nop(x)
}

/// Gives registers of a warp back to the pool of its CTA, or takes some from it.
fn setmaxnreg(x: &mut Operation<'_, '_>) -> Lowered {
    let takes = x.require(&[("inc", true), ("dec", false)])?;
    x.require(&[("sync", ())])?;
    x.require(&[("aligned", ())])?;
    if x.ty()? != U32 {
        return Err(x.wrong_type());
    }
    x.done(1)?;
    let operand = x.operand(0)?;
    let count = if let Operand::Literal(Literal { value: LiteralValue::Integer(value), .. }) = operand {
        u32::try_from(*value).ok()
    } else {
        None
    };
    let Some(count) = count.filter(|count| (24..=256).contains(count) && count % 8 == 0) else {
        return Err(x.expected("a multiple of 8 from 24 to 256", operand));
    };
    x.push(Op::Async(Async::SetRegisters { count, takes }));
    Ok(())
}

fn number(x: &Operation<'_, '_>, at: usize) -> Lowered {
    let operand = x.operand(at)?;
    if let Operand::Literal(Literal { value: LiteralValue::Integer(_), .. }) = operand {
        Ok(())
    } else {
        Err(x.expected("an integer literal", operand))
    }
}
