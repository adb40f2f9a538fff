//! One thread: its frames, its registers, and the effect of instructions on them.

use super::decode::DecodedFunction;
use super::float::{self, Arithmetic, Clamp, Format, mask};
use super::integer::{self, IntOp, IntType};
use super::memory;
use super::op::{
    AtomicOp, CarryOp, Class, Comparison, FloatOp, FloatStyle, Register, Source, Space, Special, Test, Type,
};

/// A call that has not returned.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// The function.
    pub function: usize,
    /// The next instruction.
    pub pc: usize,
    /// Registers; an unwritten one is 0.
    pub registers: Vec<u64>,
    /// The offset of its local memory in the thread's.
    pub local: u64,
    /// The offset of its parameter memory in the thread's.
    pub params: u64,
}

/// Whether a thread can proceed, or the reason why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It can.
    Ready,
    /// It is at a barrier of the CTA.
    AtBarrier,
    /// It waits at the barrier of the cluster.
    AtCluster,
    /// It is at a collective.
    AtCollective,
    /// It has returned.
    Exited,
}

/// A copy from global to shared memory that has not been executed.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// The number of groups that were committed before.
    pub group: u64,
    /// The destination in shared memory.
    pub to: u64,
    /// The source in global memory.
    pub from: u64,
    /// The number of bytes to write.
    pub bytes: u32,
    /// The number of bytes to read; the others are zero.
    pub take: u32,
}

/// The parameters of a launch, the same for all threads of a CTA.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// CTAs in x, y, z.
    pub grid: [u32; 3],
    /// Threads in x, y, z.
    pub block: [u32; 3],
    /// The CTAs of a cluster in x, y, z, if given.
    pub cluster: Option<[u32; 3]>,
    /// The index of the CTA.
    pub cta: [u32; 3],
    /// Its number among the CTAs that run together, which determines the address of its shared memory.
    pub window: usize,
    /// The size of dynamic shared memory in bytes.
    pub dynamic_shared: u32,
}

impl Launch {
    /// The CTAs of a cluster.
    pub fn in_cluster(&self) -> [u32; 3] {
        self.cluster.unwrap_or([1; 3])
    }

    /// The rank of the CTA in its cluster.
    pub fn rank(&self) -> usize {
        let [width, height, _] = self.in_cluster();
        let [x, y, z] = std::array::from_fn(|axis| self.cta[axis] % self.in_cluster()[axis]);
        (x + width * (y + height * z)) as usize
    }

    /// The number of threads of a CTA.
    pub fn threads(&self) -> usize {
        self.block.iter().map(|extent| *extent as usize).product()
    }
}

/// A thread.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its number in the CTA.
    pub linear: usize,
    /// Whether it can proceed.
    pub state: State,
    /// Calls, the innermost last.
    pub frames: Vec<Frame>,
    /// Local memory of all frames.
    pub local: Vec<u8>,
    /// Parameter memory of all frames, that of the kernel first.
    pub params: Vec<u8>,
    /// Copies in flight.
    pub copies: Vec<Copy>,
    /// The number of committed groups of copies.
    pub groups: u64,
    /// The carry flag.
    pub carry: bool,
}

impl Thread {
    /// A thread at the beginning of a kernel.
    pub fn new(linear: usize, function: usize, kernel: &DecodedFunction, arguments: &[u8]) -> Thread {
        let mut thread = Thread {
            linear,
            state: State::Ready,
            frames: Vec::new(),
            local: Vec::new(),
            params: Vec::new(),
            copies: Vec::new(),
            groups: 0,
            carry: false,
        };
        thread.enter(function, kernel);
        thread.params[..arguments.len()].copy_from_slice(arguments);
        thread
    }

    /// A placeholder for a thread number without a thread.
    pub fn absent() -> Thread {
        Thread {
            linear: 0,
            state: State::Exited,
            frames: Vec::new(),
            local: Vec::new(),
            params: Vec::new(),
            copies: Vec::new(),
            groups: 0,
            carry: false,
        }
    }

    /// Begins a call.
    pub fn enter(&mut self, number: usize, function: &DecodedFunction) {
        // Variables are aligned relative to the beginning of their frame.
        let local = self.local.len().next_multiple_of(16);
        let params = self.params.len().next_multiple_of(16);
        self.local.resize(local + function.local_bytes as usize, 0xa5);
        self.params.resize(params + function.param_bytes as usize, 0xa5);
        self.frames.push(Frame {
            function: number,
            pc: 0,
            registers: vec![0; function.registers as usize],
            local: local as u64,
            params: params as u64,
        });
    }

    /// Ends a call; returns whether another one is active.
    pub fn leave(&mut self) -> bool {
        if let Some(frame) = self.frames.pop() {
            self.local.truncate(frame.local as usize);
            self.params.truncate(frame.params as usize);
        }
        !self.frames.is_empty()
    }

    /// The innermost call. Every thread that has not exited has one.
    pub fn frame(&self) -> &Frame {
        &self.frames[self.frames.len() - 1]
    }

    /// See [`Thread::frame`].
    pub fn frame_mut(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    /// Its lane in its warp.
    pub fn lane(&self) -> usize {
        self.linear % 32
    }

    /// The value of an operand.
    pub fn get(&self, source: Source, launch: &Launch) -> u64 {
        match source {
            Source::Register(register) => self.frame().registers[register as usize],
            Source::Not(register) => self.frame().registers[register as usize] ^ 1,
            Source::Value(value) => value,
            Source::Shared(at) => memory::in_cluster(at, launch.window),
            Source::Local(at) => at + self.frame().local,
            Source::Param(at) => at + self.frame().params,
            Source::Special(special) => self.special(special, launch),
        }
    }

    /// Writes a register.
    pub fn set(&mut self, register: Register, value: u64) {
        self.frame_mut().registers[register as usize] = value;
    }

    /// Writes a register, if there is one.
    pub fn set_some(&mut self, register: Option<Register>, value: u64) {
        if let Some(register) = register {
            self.set(register, value);
        }
    }

    fn special(&self, special: Special, launch: &Launch) -> u64 {
        let [x, y, _] = launch.block.map(|extent| extent as usize);
        let (lane, linear) = (self.lane() as u32, self.linear);
        let value = match special {
            Special::Tid(0) => (linear % x) as u32,
            Special::Tid(1) => (linear / x % y) as u32,
            Special::Tid(_) => (linear / (x * y)) as u32,
            Special::Ntid(axis) => launch.block[axis],
            Special::Ctaid(axis) => launch.cta[axis],
            Special::Nctaid(axis) => launch.grid[axis],
            Special::Laneid => lane,
            Special::LanemaskEq => 1 << lane,
            Special::LanemaskLt => (1 << lane) - 1,
            Special::LanemaskLe => u32::MAX >> (31 - lane),
            Special::LanemaskGe => u32::MAX << lane,
            Special::LanemaskGt => !(u32::MAX >> (31 - lane)),
            Special::DynamicSharedSize => launch.dynamic_shared,
            Special::ClusterId(axis) => launch.cta[axis] / launch.in_cluster()[axis],
            Special::NclusterId(axis) => launch.grid[axis] / launch.in_cluster()[axis],
            Special::ClusterCtaid(axis) => launch.cta[axis] % launch.in_cluster()[axis],
            Special::ClusterNctaid(axis) => launch.in_cluster()[axis],
            Special::ClusterCtarank => launch.rank() as u32,
            Special::ClusterNctarank => launch.in_cluster().iter().product(),
            Special::Workspace(true) => (memory::WORKSPACE >> 32) as u32,
            Special::Workspace(false) => memory::WORKSPACE as u32,
            Special::IsExplicitCluster => u32::from(launch.cluster.is_some()),
        };
        u64::from(value)
    }

    /// The thread's own memory in a space, if it has any there.
    pub fn own_memory(&mut self, space: Space) -> Option<&mut Vec<u8>> {
        match space {
            Space::Local => Some(&mut self.local),
            Space::Param => Some(&mut self.params),
            Space::Generic | Space::Global | Space::Const | Space::Shared => None,
        }
    }
}

/// Reads from a thread's own memory.
///
/// # Errors
/// If there are fewer bytes.
pub fn read_own(bytes: &[u8], at: u64, count: u32) -> Result<u64, String> {
    match at.checked_add(u64::from(count)) {
        Some(end) if end <= bytes.len() as u64 => Ok(memory::read(bytes, at as usize, count)),
        _ => Err(format!("{count} bytes at {at:#x} lie behind a thread's own memory")),
    }
}

/// An operation on one float, or on two in a word.
pub fn compute_float(op: FloatOp, style: FloatStyle, operands: [u64; 3]) -> u64 {
    if !style.pair {
        return compute_one(op, style, operands);
    }
    let bits = style.format.bits();
    let half = |shift: u32| compute_one(op, style, operands.map(|word| word >> shift & mask(bits)));
    half(bits) << bits | half(0)
}

fn compute_one(op: FloatOp, style: FloatStyle, operands: [u64; 3]) -> u64 {
    let FloatStyle { format, round, ftz, clamp, .. } = style;
    let flush = |bits: u64| if ftz { float::flush(format, bits) } else { bits };
    let [a, b, c] = operands.map(|bits| flush(bits & mask(format.bits())));
    let result = match op {
        FloatOp::Arithmetic(op) => float::arithmetic(op, format, round, [a, b, c]),
        FloatOp::Function(function) => float::function(function, format, a),
        FloatOp::Erring(function, up) => float::erring_function(function, format, a, up),
        FloatOp::Extreme { largest, nan, three, xorsign: false } => {
            let of_two = float::extreme(format, largest, nan, a, b);
            if three { float::extreme(format, largest, nan, of_two, c) } else { of_two }
        }
        FloatOp::Extreme { largest, nan, three: _, xorsign: true } => {
            let [x, y] = [a, b].map(|bits| float::magnitude(format, bits));
            float::copy_sign(format, a ^ b, float::extreme(format, largest, nan, x, y))
        }
        FloatOp::Neg => float::negate(format, a),
        FloatOp::Abs => float::magnitude(format, a),
        FloatOp::CopySign => float::copy_sign(format, a, b),
    };
    float::clamp(format, clamp, flush(result))
}

/// The result of an operation with a carry, and the carry, which for a difference is the borrow.
///
/// # Errors
/// See [`integer::compute`].
pub fn carry(op: CarryOp, ty: IntType, [a, b, c]: [u64; 3], carry: bool) -> Result<(u64, bool), String> {
    let (x, y) = match op {
        CarryOp::Add | CarryOp::Sub => (a, b),
        CarryOp::MadLo => (integer::compute(IntOp::MulLo, ty, [a, b, 0])?, c),
        CarryOp::MadHi => (integer::compute(IntOp::MulHi, ty, [a, b, 0])?, c),
    };
    let cut = mask(ty.bits);
    let (x, y) = (u128::from(x & cut), u128::from(y & cut) + u128::from(carry));
    let (result, out) =
        if op == CarryOp::Sub { (x.wrapping_sub(y), x < y) } else { (x + y, x + y > u128::from(cut)) };
    Ok((result as u64 & cut, out))
}

/// An operation on two 16-bit integers in a word.
///
/// # Errors
/// See [`integer::compute`].
pub fn compute_pair(op: IntOp, ty: IntType, operands: [u64; 3]) -> Result<u64, String> {
    let half = |shift: u32| integer::compute(op, ty, operands.map(|word| word >> shift & 0xffff));
    Ok(half(16)? << 16 | half(0)?)
}

/// The result of a comparison of two values.
pub fn compare(test: &Test, a: u64, b: u64) -> bool {
    use std::cmp::Ordering::*;
    let order = match test.ty {
        Type::Float(format) => {
            let value = |bits: u64| {
                let bits = bits & mask(format.bits());
                float::to_f64(format, if test.ftz { float::flush(format, bits) } else { bits })
            };
            value(a).partial_cmp(&value(b))
        }
        Type::Int(ty) => Some(ty.value(a).cmp(&ty.value(b))),
        Type::Pred | Type::Bits(_) | Type::FloatPair(_) | Type::IntPair(_) => {
            let bits = mask(test.ty.bits());
            Some((a & bits).cmp(&(b & bits)))
        }
    };
    match (order, test.comparison) {
        (None, _) => test.unordered,
        (Some(order), Comparison::Eq) => order == Equal,
        (Some(order), Comparison::Ne) => order != Equal,
        (Some(order), Comparison::Lt) => order == Less,
        (Some(order), Comparison::Le) => order != Greater,
        (Some(order), Comparison::Gt) => order == Greater,
        (Some(order), Comparison::Ge) => order != Less,
        (Some(_), Comparison::Num) => true,
        (Some(_), Comparison::Nan) => false,
    }
}

/// A truth value combined with a predicate.
pub fn combine(op: IntOp, value: bool, with: u64) -> bool {
    let with = with & 1 == 1;
    if op == IntOp::And {
        value && with
    } else if op == IntOp::Or {
        value || with
    } else {
        value != with
    }
}

/// Whether a float is of a class; zeros are normal.
pub fn is_of_class(format: Format, what: Class, bits: u64) -> bool {
    let value = float::to_f64(format, bits);
    let subnormal = value != 0.0 && float::flush(format, bits) != bits;
    match what {
        Class::Finite => value.is_finite(),
        Class::Infinite => value.is_infinite(),
        Class::Number => !value.is_nan(),
        Class::NotANumber => value.is_nan(),
        Class::Normal => value.is_finite() && !subnormal,
        Class::Subnormal => subnormal,
    }
}

/// A conversion; see [`super::op::Conversion`].
///
/// # Errors
/// Types with no conversion between them.
pub fn convert(conversion: &super::op::Conversion, operands: [u64; 2]) -> Result<u64, String> {
    let [low, high] = operands;
    match (conversion.to, conversion.from) {
        (Type::FloatPair(to), Type::Float(from)) => {
            let bits = to.bits();
            Ok(convert_float(conversion, to, from, high) << bits | convert_float(conversion, to, from, low))
        }
        (Type::FloatPair(to), Type::FloatPair(from)) => {
            let half =
                |at: u32| convert_float(conversion, to, from, low >> (at * from.bits()) & mask(from.bits()));
            Ok(half(1) << to.bits() | half(0))
        }
        (Type::Float(to), Type::Float(from)) => {
            Ok(convert_float(conversion, to, from, low & mask(from.bits())))
        }
        (Type::Float(to), Type::Int(from)) => {
            let value = float::from_integer(to, from.value(low), conversion.round);
            Ok(float::clamp(to, conversion.clamp, value))
        }
        (Type::Int(to), Type::Float(from)) => {
            let low = low & mask(from.bits());
            let low = if conversion.ftz { float::flush(from, low) } else { low };
            Ok(float::to_integer(from, low, conversion.round, to.bits, to.signed))
        }
        (Type::Int(to), Type::Int(from)) => {
            let value = from.value(low);
            let (least, greatest) = to.range();
            let value = if conversion.sat { value.clamp(least, greatest) } else { value };
            // The sign is extended, for a wider register.
            Ok(if to.signed {
                integer::sign_extend(value as u64, to.bits) as u64
            } else {
                value as u64 & mask(to.bits)
            })
        }
        (to, from) => Err(format!("there is no conversion from {from:?} to {to:?}")),
    }
}

fn convert_float(conversion: &super::op::Conversion, to: Format, from: Format, bits: u64) -> u64 {
    let bits = if conversion.ftz { float::flush(from, bits) } else { bits };
    let value = float::to_f64(from, bits);
    let value = if conversion.integral { float::integral(value, conversion.round) } else { value };
    let mut result = float::from_f64(to, value, conversion.round);
    if conversion.satfinite && !value.is_nan() && !float::to_f64(to, result).is_finite() {
        result = largest(to) | if value < 0.0 { 1 << (to.bits() - 1) } else { 0 };
    }
    let result = if conversion.ftz { float::flush(to, result) } else { result };
    float::clamp(to, conversion.clamp, result)
}

/// The largest number of a format.
fn largest(format: Format) -> u64 {
    match format {
        Format::E4m3 => 0x7e,
        Format::E5m2 => 0x7b,
        Format::Ue8m0 => 0xfe,
        Format::F16 => 0x7bff,
        Format::Bf16 => 0x7f7f,
        Format::Tf32 => 0x7f7f_e000,
        Format::F32 => 0x7f7f_ffff,
        Format::F64 => 0x7fef_ffff_ffff_ffff,
    }
}

/// One rounding step of an atomic addition.
pub fn atomic_add(style: FloatStyle, old: u64, value: u64) -> u64 {
    compute_float(
        FloatOp::Arithmetic(Arithmetic::Add),
        FloatStyle { clamp: Clamp::None, ..style },
        [old, value, 0],
    )
}

/// The new contents of a location after an atomic operation on `old`.
///
/// # Errors
/// See [`integer::compute`].
pub fn atomic(op: AtomicOp, old: u64, [a, b]: [u64; 2]) -> Result<u64, String> {
    Ok(match op {
        AtomicOp::Int(op, ty) => integer::compute(op, ty, [old, a, 0])?,
        AtomicOp::Add(style) => atomic_add(style, old, a),
        AtomicOp::Extreme { largest, style } => {
            let op = FloatOp::Extreme { largest, nan: false, three: false, xorsign: false };
            compute_float(op, style, [old, a, 0])
        }
        AtomicOp::Exch => a,
        AtomicOp::Cas => {
            if old == a {
                b
            } else {
                old
            }
        }
        AtomicOp::Inc => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Dec => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::float::Round;
    use super::*;

    fn style(pair: bool) -> FloatStyle {
        let round = Round::NearestTiesToEven;
        FloatStyle { format: Format::F32, pair, round, ftz: false, clamp: Clamp::None }
    }

    #[test]
    fn pairs_of_f32_are_added_apart() {
        let pair = |low: f32, high: f32| u64::from(high.to_bits()) << 32 | u64::from(low.to_bits());
        let operands = [pair(1.5, -2.0), pair(0.25, 7.0), 0];
        let op = FloatOp::Arithmetic(Arithmetic::Add);
        assert_eq!(compute_float(op, style(true), operands), pair(1.75, 5.0));
    }

    #[test]
    fn the_third_operand_of_an_extreme_counts() {
        let operands = [1.0f32, 2.0, 3.0].map(|value| u64::from(value.to_bits()));
        for (three, largest, expected) in [(true, true, 3.0), (false, true, 2.0), (true, false, 1.0f32)] {
            let op = FloatOp::Extreme { largest, nan: false, three, xorsign: false };
            assert_eq!(compute_float(op, style(false), operands), u64::from(expected.to_bits()));
        }
    }
}
