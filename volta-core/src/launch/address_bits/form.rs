//! Abstract values, as known before the launch runs: whether a value is an address, and which of its bits depend on
//! addresses.

use crate::program::{Space, Special, VariableId, Width};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// The least and the greatest number that an offset may be.
pub(super) type Offsets = [i64; 2];

/// The number that an offset is, if it is known.
pub(crate) fn exact(offset: Option<Offsets>) -> Option<i64> {
    offset.filter(|[least, most]| least == most).map(|[only, _]| only)
}

/// An object or a space with an address that the launch does not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Base {
    /// A tensor of the case, by its parameter.
    Tensor(usize),
    /// A variable, in its own state space. All dynamic arrays are represented by the first.
    Variable(VariableId),
    /// The beginning of a space's window among the generic addresses: 0 shared, 1 local, 2 constant, 3 parameters.
    Window(u8),
    /// Allocated tensor memory.
    Columns,
}

/// A window begins at a multiple of 2²⁴, as on all GPUs.
const WINDOW_BITS: u32 = 24;
/// Tensor memory is allocated in units of 2⁵ columns.
const COLUMNS_BITS: u32 = 5;

impl Base {
    /// The base of a space's window among generic addresses; global addresses are generic as they are.
    pub(crate) fn window(space: Space) -> Option<Base> {
        match space {
            Space::Shared | Space::Cluster => Some(Base::Window(0)),
            Space::Local => Some(Base::Window(1)),
            Space::Const => Some(Base::Window(2)),
            Space::Param => Some(Base::Window(3)),
            Space::Global | Space::Generic | Space::Tensor => None,
        }
    }
}

/// A sum of bases, each with a factor that is not 0, in ascending order. Sums are referred to by their index.
pub(crate) type Sum = Vec<(Base, i64)>;

/// A sum with more bases than this is not represented.
const MAX_BASES: usize = 6;

/// A set of more objects is not represented.
const MAX_OBJECTS: usize = 1024;

/// Sets of objects, which are referred to by their index.
#[derive(Default)]
struct Sets {
    list: Vec<Vec<Base>>,
    known: FxHashMap<Vec<Base>, u32>,
}

/// The interner of sums, and of sets of objects.
pub(super) struct Sums {
    list: Vec<Sum>,
    known: FxHashMap<Sum, u32>,
    sets: RefCell<Sets>,
    /// The number of low bits of each base that are 0 by its object's alignment.
    zeros: FxHashMap<Base, u32>,
    /// Variables in global memory.
    global: FxHashSet<VariableId>,
}

/// An abstract value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A number. The bits of `ones` may be 1, those of `taint` depend on the locations of objects. If `down` is given,
    /// the value is an address shifted down by it, plus a number, in all the bits that an address in shared memory
    /// determines.
    Bits { ones: u64, taint: u64, down: Option<u32> },
    /// A sum of bases and of a number, of which bounds may be known. It fills a whole register.
    Linear { sum: u32, offset: Option<Offsets> },
    /// One of several addresses, or a number. The `low` lowest bits do not depend on the locations of objects. If it is
    /// narrow, 32 bits hold all of it. The objects that it may be an address in are a set, if that is known.
    Some { low: u32, narrow: bool, of: Option<u32> },
    /// The high or the low half of the bits of a sum of bases and a number.
    Half { sum: u32, offset: Option<Offsets>, high: bool },
    /// A matrix descriptor's address field plus a number: addresses determine only bits of the lowest 16 from `low` on,
    /// and what is carried out of these.
    Descriptor { low: u32 },
}

/// The bits of a matrix descriptor that hold the address of the matrix, and two bits above, which are 0 for a matrix in
/// shared memory. Hence what is carried out of them is the same for every location.
pub(super) const DESCRIPTOR_ADDRESS: u64 = 0xffff;

/// A matrix descriptor holds an address without this many low bits.
const DESCRIPTOR_DOWN: u32 = 4;

/// Addresses in shared memory have at most this many bits.
const SHARED_BITS: u32 = 18;

impl Form {
    /// Any number that has at most these bits.
    pub(crate) fn number(ones: u64) -> Form {
        Form::Bits { ones, taint: 0, down: None }
    }

    /// A value in which the bits of `taint` depend on the locations of objects in an unknown way.
    pub(super) fn tainted(taint: u64) -> Form {
        Form::Bits { ones: u64::MAX, taint, down: None }
    }

    /// Whether it depends on no address.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Form::Bits { taint: 0, .. })
    }

    /// The address that consists of this high half and the low half `low`, if they belong together.
    pub(crate) fn above(self, low: Form) -> Option<Form> {
        match (self, low) {
            (
                Form::Half { sum, offset, high: true },
                Form::Half { sum: other, offset: same, high: false },
            ) if sum == other => Some(Form::Linear { sum, offset: of_halves(offset, same) }),
            _ => None,
        }
    }
}

/// The offset of an address from those of its halves: of two different addresses, they are no address with an offset
/// between theirs.
pub(super) fn of_halves(one: Option<Offsets>, other: Option<Offsets>) -> Option<Offsets> {
    one.filter(|_| exact(one).is_some() && one == other)
}

impl Sums {
    pub(crate) fn new(zeros: FxHashMap<Base, u32>, global: FxHashSet<VariableId>) -> Sums {
        Sums { list: Vec::new(), known: FxHashMap::default(), sets: RefCell::default(), zeros, global }
    }

    /// The objects of a set.
    pub(crate) fn objects(&self, set: u32) -> Vec<Base> {
        self.sets.borrow().list[set as usize].clone()
    }

    /// The objects that a value may be an address in; `None` if these are not known.
    fn objects_of(&self, form: Form) -> Option<Vec<Base>> {
        match form {
            Form::Bits { taint: 0, .. } => Some(Vec::new()),
            Form::Linear { sum, .. } => self.object(sum).map(|(base, _)| vec![base]),
            Form::Some { of, .. } => of.map(|set| self.objects(set)),
            Form::Bits { .. } | Form::Half { .. } | Form::Descriptor { .. } => None,
        }
    }

    /// The set of the objects that either of two values may be an address in.
    fn set_of_both(&self, a: Form, b: Form) -> Option<u32> {
        let mut objects = self.objects_of(a)?;
        objects.extend(self.objects_of(b)?);
        objects.sort_unstable();
        objects.dedup();
        if objects.len() > MAX_OBJECTS {
            return None;
        }
        let Sets { list, known } = &mut *self.sets.borrow_mut();
        Some(*known.entry(objects).or_insert_with_key(|objects| {
            list.push(objects.clone());
            list.len() as u32 - 1
        }))
    }

    /// Takes at least this number of low bits of a base for 0.
    pub(crate) fn align(&mut self, base: Base, zeros: u32) {
        let known = self.zeros.entry(base).or_insert(zeros);
        *known = zeros.max(*known);
    }

    pub(crate) fn get(&self, sum: u32) -> &Sum {
        &self.list[sum as usize]
    }

    fn index(&mut self, sum: Sum) -> u32 {
        if let Some(known) = self.known.get(&sum) {
            return *known;
        }
        let at = self.list.len() as u32;
        self.known.insert(sum.clone(), at);
        self.list.push(sum);
        at
    }

    /// The address of the first byte of a sum of bases, plus an offset.
    pub(crate) fn address(&mut self, bases: &[Base], offset: Option<i64>) -> Form {
        let mut sum: Sum = bases.iter().map(|base| (*base, 1)).collect();
        sum.sort_unstable();
        Form::Linear { sum: self.index(sum), offset: offset.map(|offset| [offset; 2]) }
    }

    /// The object that a sum is an address in, and whether the address is generic.
    pub(crate) fn object(&self, sum: u32) -> Option<(Base, bool)> {
        match self.get(sum).as_slice() {
            [(base @ (Base::Tensor(_) | Base::Variable(_)), 1)] => Some((*base, false)),
            [(base @ (Base::Tensor(_) | Base::Variable(_)), 1), (Base::Window(_), 1)] => Some((*base, true)),
            _ => None,
        }
    }

    /// Whether a sum is an address of tensor memory.
    pub(super) fn is_of_columns(&self, sum: u32) -> bool {
        matches!(self.get(sum).as_slice(), [(Base::Columns, 1)])
    }

    /// Whether all bases of a sum have addresses of 32 bits.
    pub(crate) fn is_narrow(&self, sum: u32) -> bool {
        self.get(sum).iter().all(|(base, _)| match base {
            Base::Variable(variable) => !self.global.contains(variable),
            Base::Columns => true,
            Base::Tensor(_) | Base::Window(_) => false,
        })
    }

    /// Whether 32 bits hold all of it, if it is an address.
    fn may_be_narrow(&self, form: Form) -> bool {
        match form {
            Form::Linear { sum, .. } => self.is_narrow(sum),
            Form::Some { narrow, .. } => narrow,
            Form::Bits { .. } | Form::Half { .. } | Form::Descriptor { .. } => true,
        }
    }

    /// The number of low bits of a sum that do not depend on the locations of objects.
    fn low(&self, sum: u32) -> u32 {
        let zeros = |(base, times): &(Base, i64)| {
            let own = match base {
                Base::Window(_) => WINDOW_BITS,
                Base::Columns => COLUMNS_BITS,
                Base::Tensor(_) | Base::Variable(_) => self.zeros.get(base).copied().unwrap_or(0),
            };
            own + times.trailing_zeros()
        };
        self.get(sum).iter().map(zeros).min().unwrap_or(64).min(64)
    }

    /// The bits that depend on the locations of objects.
    pub(crate) fn taint(&self, form: Form) -> u64 {
        let above = |low: u32| u64::MAX.checked_shl(low).unwrap_or(0);
        match form {
            Form::Bits { taint, .. } => taint,
            Form::Linear { sum, .. } => above(self.low(sum)),
            Form::Some { low, .. } => above(low),
            Form::Half { sum, high: false, .. } => above(self.low(sum)) & u64::from(u32::MAX),
            Form::Half { high: true, .. } => u64::from(u32::MAX),
            Form::Descriptor { low } => above(low),
        }
    }

    /// The bits that may be ones.
    pub(crate) fn ones(&self, form: Form) -> u64 {
        match form {
            Form::Bits { ones, taint, .. } => ones | taint,
            Form::Linear { .. } | Form::Some { .. } | Form::Descriptor { .. } => u64::MAX,
            Form::Half { .. } => u64::from(u32::MAX),
        }
    }

    /// Whether it is an address, or a number that may be used as one.
    pub(super) fn is_address(&self, form: Form) -> bool {
        match form {
            Form::Bits { taint, .. } => taint == 0,
            Form::Linear { sum, .. } => self.object(sum).is_some(),
            Form::Some { .. } => true,
            Form::Half { .. } | Form::Descriptor { .. } => false,
        }
    }

    /// Whether addresses determine only its lowest 16 bits, which contain one as in a matrix descriptor, and what is
    /// carried out of these.
    pub(super) fn is_descriptor(&self, form: Form) -> bool {
        let taint = self.taint(form);
        let is_address = taint & !DESCRIPTOR_ADDRESS == 0 && self.down(form) == Some(DESCRIPTOR_DOWN);
        matches!(form, Form::Descriptor { .. }) || taint == 0 || is_address
    }

    /// How far an address was shifted down, if nothing else was done to it than to add a number.
    pub(crate) fn down(&self, form: Form) -> Option<u32> {
        match form {
            Form::Bits { down, .. } => down,
            Form::Linear { sum, .. } | Form::Half { sum, high: false, .. } => self.object(sum).map(|_| 0),
            Form::Some { .. } => Some(0),
            Form::Descriptor { .. } => Some(DESCRIPTOR_DOWN),
            Form::Half { high: true, .. } => None,
        }
    }

    /// One half of a value that may be an address.
    pub(crate) fn half(&self, form: Form, high: bool) -> Form {
        match form {
            Form::Linear { sum, offset } => Form::Half { sum, offset, high },
            Form::Bits { .. } | Form::Some { .. } | Form::Half { .. } | Form::Descriptor { .. } => {
                self.bits(form)
            }
        }
    }

    /// The value as bits.
    pub(crate) fn bits(&self, form: Form) -> Form {
        Form::Bits { ones: self.ones(form), taint: self.taint(form), down: self.down(form) }
    }

    /// The value with only the bits of a mask.
    pub(super) fn masked(&self, form: Form, mask: u64) -> Form {
        let taint = self.taint(form);
        let is_whole = |down: &u32| taint & !mask & address_bits(*down) == 0;
        Form::Bits {
            ones: self.ones(form) & mask,
            taint: taint & mask,
            down: self.down(form).filter(is_whole),
        }
    }

    /// The value with the highest bit of a width copied to all bits above.
    pub(super) fn sign_spread(&self, form: Form, width: Width) -> Form {
        let sign = 1 << (width.bits() - 1);
        let spread = |bits: u64| if bits & sign != 0 { bits | !width.mask() } else { bits };
        Form::Bits { ones: spread(self.ones(form)), taint: spread(self.taint(form)), down: self.down(form) }
    }

    /// The value shifted down.
    pub(crate) fn shifted(&self, form: Form, down: u32) -> Form {
        let shift = |bits: u64| bits.checked_shr(down).unwrap_or(0);
        let taint = self.taint(form);
        // Only if the dropped bits do not depend on addresses.
        let own = self.down(form).filter(|_| shift(taint).checked_shl(down) == Some(taint));
        let down = own.map(|own| own.saturating_add(down));
        Form::Bits { ones: shift(self.ones(form)), taint: shift(taint), down }
    }

    /// The least upper bound of two values.
    pub(crate) fn join(&self, a: Form, b: Form) -> Form {
        let low = |form: Form| self.taint(form).trailing_zeros();
        match (a, b) {
            _ if a == b => a,
            (Form::Descriptor { low: own }, other) | (other, Form::Descriptor { low: own })
                if self.is_descriptor(other) =>
            {
                Form::Descriptor { low: own.min(low(other)) }
            }
            (Form::Bits { ones, taint, .. }, Form::Bits { ones: others, taint: tainted, .. }) => {
                let down = match (a.is_number(), b.is_number()) {
                    (true, _) => self.down(b),
                    (_, true) => self.down(a),
                    (false, false) => self.down(a).filter(|down| self.down(b) == Some(*down)),
                };
                Form::Bits { ones: ones | others, taint: taint | tainted, down }
            }
            (Form::Linear { sum, .. }, Form::Linear { sum: other, .. }) if sum == other => {
                Form::Linear { sum, offset: None }
            }
            (Form::Half { sum, high, .. }, Form::Half { sum: other, high: part, .. })
                if (sum, high) == (other, part) =>
            {
                Form::Half { sum, offset: None, high }
            }
            _ if self.is_address(a) && self.is_address(b) => {
                let narrow = self.may_be_narrow(a) && self.may_be_narrow(b);
                Form::Some { low: low(a).min(low(b)), narrow, of: self.set_of_both(a, b) }
            }
            _ => Form::tainted(u64::MAX.checked_shl(low(a).min(low(b))).unwrap_or(0)),
        }
    }

    /// `a + times · b`
    pub(crate) fn add(&mut self, a: Form, b: Form, times: i64) -> Form {
        let offset = |form: Form| match form {
            Form::Linear { offset, .. } => offset,
            Form::Bits { ones, taint: 0, .. } => i64::try_from(ones).ok().map(|most| [0, most]),
            Form::Bits { .. } | Form::Some { .. } | Form::Half { .. } | Form::Descriptor { .. } => None,
        };
        let sum_of = |sums: &Sums, form: Form| match form {
            Form::Linear { sum, .. } => Some(sums.get(sum).clone()),
            Form::Bits { taint: 0, .. } => Some(Sum::new()),
            Form::Bits { .. } | Form::Some { .. } | Form::Half { .. } | Form::Descriptor { .. } => None,
        };
        if a.is_number() && b.is_number() {
            let most = self.ones(a).checked_add(self.ones(b)).filter(|_| times == 1);
            return Form::number(most.map_or(u64::MAX, filled));
        }
        if let (Some(mut sum), Some(other)) = (sum_of(self, a), sum_of(self, b)) {
            for (base, count) in other {
                let count = count.wrapping_mul(times);
                match sum.iter_mut().find(|(own, _)| *own == base) {
                    Some((_, own)) => *own = own.wrapping_add(count),
                    None => sum.push((base, count)),
                }
            }
            sum.retain(|(_, count)| *count != 0);
            sum.sort_unstable();
            if sum.is_empty() {
                return Form::number(u64::MAX);
            }
            if sum.len() <= MAX_BASES {
                let offset = offset(a).zip(offset(b)).and_then(|(x, y)| {
                    let ends = [y[0].checked_mul(times)?, y[1].checked_mul(times)?];
                    let (least, most) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                    Some([x[0].checked_add(least)?, x[1].checked_add(most)?])
                });
                return Form::Linear { sum: self.index(sum), offset };
            }
        }
        match (a, b) {
            (Form::Some { .. }, b) if b.is_number() => a,
            (a, Form::Some { .. }) if a.is_number() && times == 1 => b,
            _ => {
                let moved = b.is_number() && self.is_descriptor(a)
                    || a.is_number() && times == 1 && self.is_descriptor(b);
                // A sum or difference has no bits that depend on addresses below the lowest such bit of its operands.
                let low = (self.taint(a) | self.taint(b)).trailing_zeros();
                if times == 1 {
                    let sum = self.sum_of_bits(a, b);
                    return if moved && !self.is_descriptor(sum) { Form::Descriptor { low } } else { sum };
                }
                if moved {
                    return Form::Descriptor { low };
                }
                let taint = u64::MAX.checked_shl(low).unwrap_or(0);
                Form::Bits { ones: u64::MAX, taint, down: self.down(a).filter(|_| b.is_number()) }
            }
        }
    }

    /// `a + b` for operands as bits: dependence on addresses is carried only as far as ones may be.
    fn sum_of_bits(&self, a: Form, b: Form) -> Form {
        let (x, y) = ((self.ones(a), self.taint(a)), (self.ones(b), self.taint(b)));
        let (mut ones, mut taint) = (0u64, 0u64);
        // Whether there may be a carry, and whether it depends on addresses.
        let (mut carry, mut is_tainted) = (0, false);
        for bit in 0..64 {
            let may_be = (x.0 >> bit & 1) + (y.0 >> bit & 1) + carry;
            is_tainted |= (x.1 | y.1) >> bit & 1 == 1;
            ones |= u64::from(may_be > 0) << bit;
            taint |= u64::from(is_tainted) << bit;
            carry = u64::from(may_be > 1);
            is_tainted &= carry == 1;
        }
        let down = match (a.is_number(), b.is_number()) {
            (true, _) => self.down(b),
            (_, true) => self.down(a),
            (false, false) => None,
        };
        Form::Bits { ones, taint, down }
    }

    /// The value plus a known number.
    pub(crate) fn plus(&mut self, a: Form, bytes: i64) -> Form {
        match a {
            Form::Linear { sum, offset } => {
                let moved =
                    |[least, most]: Offsets| Some([least.checked_add(bytes)?, most.checked_add(bytes)?]);
                Form::Linear { sum, offset: offset.and_then(moved) }
            }
            _ if bytes == 0 => a,
            Form::Bits { .. } | Form::Some { .. } | Form::Half { .. } | Form::Descriptor { .. } => {
                self.add(a, Form::number(bytes as u64), 1)
            }
        }
    }

    /// The value times a known number.
    pub(crate) fn times(&mut self, a: Form, times: i64) -> Form {
        if a.is_number() {
            if times > 0 && times.unsigned_abs().is_power_of_two() {
                return Form::number(self.ones(a) << times.trailing_zeros());
            }
            let most = u64::try_from(times).ok().and_then(|times| self.ones(a).checked_mul(times));
            return Form::number(most.map_or(u64::MAX, filled));
        }
        self.add(Form::number(0), a, times)
    }
}

/// The bits that an address in shared memory has after being shifted down.
pub(crate) fn address_bits(down: u32) -> u64 {
    filled_bits(u64::from(SHARED_BITS.saturating_sub(down)))
}

/// All bits that a number up to this may have.
pub(crate) fn filled(most: u64) -> u64 {
    u64::MAX.checked_shr(most.leading_zeros()).unwrap_or(0)
}

/// A mask of this many low bits.
pub(super) fn filled_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The bits of a special register that may be 1 in a grid of these extents, in whatever width it is read.
pub(super) fn special_bits(special: Special, grid: [u32; 3]) -> u64 {
    match special {
        Special::Ctaid(at) => filled(u64::from(grid[usize::from(at).min(2)]).saturating_sub(1)),
        Special::Tid(_) => 1023,
        Special::LaneId => 31,
        Special::Ntid(_)
        | Special::Nctaid(_)
        | Special::LaneMaskEq
        | Special::LaneMaskLt
        | Special::LaneMaskLe
        | Special::LaneMaskGt
        | Special::LaneMaskGe
        | Special::DynamicSharedSize
        | Special::ClusterId(_)
        | Special::NClusterId(_)
        | Special::ClusterCtaId(_)
        | Special::ClusterNctaId(_)
        | Special::ClusterCtaRank
        | Special::ClusterNctaRank
        | Special::ExplicitCluster
        | Special::Workspace { .. }
        | Special::Unpredictable => u64::MAX,
    }
}

pub(super) const ADDRESSED: &str = "an address is computed from undetermined bits of addresses";

/// Loads and stores with such an address are checked when they are executed.
pub(crate) const NOWHERE: &str = "an address that is computed from numbers alone is not that of any object";

pub(super) const COMPUTED: &str = "a value is computed from undetermined bits of an address";
