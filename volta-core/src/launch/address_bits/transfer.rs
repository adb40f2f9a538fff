//! The transfer functions of operations, and which operations on addresses are not allowed.

use super::form::{
    ADDRESSED, Base, COMPUTED, Form, NOWHERE, address_bits, filled, filled_bits, of_halves, special_bits,
};
use crate::launch::address_bits::{Analysis, State};
use crate::launch::objects::MAX_PAIRED;
use crate::program::{
    Address, Async, Compare, Int, Int1, Int2, Int3, Op, RegId, Space, Special, Src, TensorMemoryOp, Variable,
    Width,
};

/// The bit that distinguishes the CTAs of a pair in addresses of shared memory, on GPUs and in the model.
const PAIR_BIT: u64 = 1 << 24;

/// Reasons why an operation is not allowed.
const STORED: &str = "an address is stored in a compared output, but its bits are not determined";
const COMPARED: &str =
    "the order or the distance of objects, or bits of an address other than its alignment, decide here";

impl Analysis<'_> {
    fn place(&self, register: RegId) -> Option<usize> {
        match &self.places {
            None => Some(register.index()),
            Some(places) => places.get(&register).copied(),
        }
    }

    /// The value of a source.
    pub(super) fn form(&mut self, state: &State, source: Src) -> Form {
        match source {
            Src::Imm(bits) => Form::number(bits),
            Src::Symbol(variable, offset) => {
                let base = self.variable(variable);
                self.sums.address(&[base], Some(offset))
            }
            Src::Reg(register) => match self.place(register) {
                None => self.numbers.0[register.index()].unwrap_or(Form::number(0)),
                // Reading an unwritten register is a fault of its own.
                Some(at) => state.0[at].unwrap_or(Form::number(0)),
            },
        }
    }

    /// The low bits of a value.
    fn cut(&self, form: Form, width: Width) -> Form {
        match (form, width) {
            (_, Width::W64) => form,
            (Form::Linear { sum, .. }, Width::W32) if self.sums.is_narrow(sum) => in_word(form),
            (Form::Some { narrow: true, .. }, Width::W32) => form,
            (Form::Linear { sum, offset }, Width::W32) => Form::Half { sum, offset, high: false },
            (Form::Half { .. } | Form::Descriptor { .. }, Width::W32) => form,
            _ => self.sums.masked(form, width.mask()),
        }
    }

    /// A value as an operand of integer arithmetic. Addresses of 64 bits that are cut to fewer are mere bits.
    fn operand(&mut self, state: &State, source: Src, width: Width) -> Form {
        let form = self.form(state, source);
        let form = if matches!(source, Src::Imm(_)) { form } else { self.cut(form, width) };
        match form {
            Form::Half { .. } => self.sums.bits(form),
            Form::Bits { .. } | Form::Linear { .. } | Form::Some { .. } | Form::Descriptor { .. } => form,
        }
    }

    pub(crate) fn write(&mut self, state: &mut State, d: RegId, form: Form, keeps: bool) {
        let Some(at) = self.place(d) else { return };
        let old = state.0[at].filter(|_| keeps || self.adds);
        let form = old.map_or(form, |old| self.joined(old, form));
        self.changed |= self.adds && state.0[at] != Some(form);
        state.0[at] = Some(form);
    }

    /// The address at which an access starts.
    pub(crate) fn address(&mut self, state: &State, address: Address) -> Form {
        let base = self.form(state, address.base);
        self.sums.plus(base, address.offset)
    }

    /// Executes an operation.
    pub(crate) fn step(&mut self, state: &mut State, at: usize) {
        let program = self.program;
        let inst = &program.insts[at];
        let keeps = inst.guard.is_some();
        if self.adds {
            // An operation on registers that have not been written so far has no effect yet.
            let mut unwritten = false;
            inst.op.visit_registers(&mut |register, writes| {
                unwritten |= !writes && state.0[register.index()].is_none();
            });
            if unwritten {
                return;
            }
        }
        let op = &inst.op;
        if let Some((d, form)) = self.result(state, op) {
            self.write(state, d, form, keeps);
        } else if let Op::Load { space, address, width, d, access: _ } = op {
            let first = self.address(state, *address);
            for (number, d) in d.iter().enumerate() {
                let Some(d) = d else { continue };
                if self.place(*d).is_none() {
                    continue;
                }
                let place = self.sums.plus(first, i64::from(width.bytes()) * number as i64);
                let form = if self.loads_tensor_address(at, op, place) {
                    self.sums.address(&[Base::Columns], Some(0))
                } else {
                    self.loaded(*space, place, width.bytes())
                };
                self.write(state, *d, form, keeps);
            }
        } else if let Op::Store { space: _, address, width, a, access: _ } = op {
            let first = self.address(state, *address);
            for (number, source) in a.iter().enumerate() {
                let form = self.form(state, *source);
                let form = self.cut(form, *width);
                let place = self.sums.plus(first, i64::from(width.bytes()) * number as i64);
                self.stored(place, width.bytes(), form);
            }
        } else if matches!(op, Op::Atomic { .. } | Op::Swap(_)) {
            self.update(state, op, keeps);
        } else if let Op::StoreMatrix { .. } | Op::StoreFragment { .. } = op {
            self.changed |= !self.numbers_anywhere;
            self.numbers_anywhere = true;
        } else if let Op::Async(Async::Copy { to, from, bytes, .. }) = op {
            let (from, to) = (self.address(state, *from), self.address(state, *to));
            let form = self.loaded(Space::Global, from, *bytes);
            self.stored(to, *bytes, form);
        } else if let Op::Async(
            Async::BulkLoad { .. } | Async::BulkStore { .. } | Async::StoreFar { .. } | Async::Clear { .. },
        ) = op
        {
            // These operations read numbers only.
            self.changed |= !self.numbers_anywhere;
            self.numbers_anywhere = true;
        } else if let Op::Async(Async::Tensor(TensorMemoryOp::Allocate { to, .. })) = op {
            // Loads of the whole word there read this address. Any other read there is undefined when it runs.
            let place = self.address(state, to.address);
            if let Some((base, Some(offset))) = self.object(place) {
                self.changed |= self.allocated.insert((base, offset));
            }
        } else if let Op::Unpack { d, a, part } = op {
            let whole = self.form(state, *a);
            for (number, d) in d.iter().enumerate() {
                let Some(d) = d else { continue };
                let form = match (whole, part) {
                    (Form::Linear { sum, offset }, Width::W32) => {
                        Form::Half { sum, offset, high: number == 1 }
                    }
                    _ => {
                        let form = self.sums.shifted(whole, part.bits() * number as u32);
                        self.sums.masked(form, part.mask())
                    }
                };
                self.write(state, *d, form, keeps);
            }
        } else if !matches!(op, Op::Enter { .. }) {
            // Declared registers are undefined, which is a fault of its own. All other operations produce numbers.
            op.visit_registers(&mut |d, writes| {
                if writes {
                    self.write(state, d, Form::number(u64::MAX), keeps);
                }
            });
        }
    }

    /// The result of an operation that computes one value. `None` for the operations that [`Analysis::step`] handles,
    /// and for others, which produce and store only numbers.
    fn result(&mut self, state: &State, op: &Op) -> Option<(RegId, Form)> {
        Some(match op {
            Op::Mov { d, a, width } => {
                let form = self.form(state, *a);
                (*d, self.cut(form, *width))
            }
            Op::Special { d, special: Special::Workspace { high }, width } => {
                let address = self.workspace.map(|variable| self.form(state, Src::Symbol(variable, 0)));
                (*d, address.map_or(Form::number(width.mask()), |address| self.sums.half(address, *high)))
            }
            Op::Special { d, special, width } => {
                (*d, Form::number(special_bits(*special, self.grid) & width.mask()))
            }
            Op::MapToCta { d, a, rank: _, space: _, width } => {
                // The address of a place in another CTA has only its low bits in common with that of the place here.
                let form = self.form(state, *a);
                let low = self.sums.taint(form).trailing_zeros();
                (*d, Form::Some { low, narrow: *width == Width::W32, of: None })
            }
            Op::CtaRankOf { d, .. } => (*d, Form::number(u64::from(u8::MAX))),
            Op::CvtInt { d, a, from, to, saturate: _ } => {
                let form = self.form(state, *a);
                let form = self.cut(form, from.width);
                let is_object = |form: Form| match form {
                    Form::Linear { sum, .. } => self.sums.object(sum).is_some(),
                    Form::Some { .. } => true,
                    Form::Bits { .. } | Form::Half { .. } | Form::Descriptor { .. } => false,
                };
                let form = match form {
                    Form::Linear { .. } | Form::Some { .. } if to.width.bits() > from.width.bits() => {
                        if is_object(form) {
                            form
                        } else {
                            self.sums.bits(form)
                        }
                    }
                    Form::Bits { .. } if from.signed && to.width.bits() > from.width.bits() => {
                        self.sums.sign_spread(form, from.width)
                    }
                    // The half, with zeros above.
                    Form::Half { .. } if to.width == Width::W64 && !from.signed => form,
                    Form::Half { .. } if to.width == Width::W64 => self.sums.bits(form),
                    other @ (Form::Bits { .. }
                    | Form::Linear { .. }
                    | Form::Some { .. }
                    | Form::Half { .. }
                    | Form::Descriptor { .. }) => other,
                };
                (*d, self.cut(form, to.width))
            }
            Op::Int1 { op, ty, d, a } => {
                let form = self.operand(state, *a, ty.width);
                let form = match op {
                    Int1::Neg => self.sums.times(form, -1),
                    Int1::Not => {
                        let negated = self.sums.times(form, -1);
                        self.sums.plus(negated, -1)
                    }
                    _ if form.is_number() => Form::number(u64::MAX),
                    Int1::Abs
                    | Int1::Cnot
                    | Int1::Popc
                    | Int1::Clz
                    | Int1::Brev
                    | Int1::FindTop
                    | Int1::FindTopShift => Form::tainted(u64::MAX),
                };
                (*d, form)
            }
            Op::Int2 { op, ty, d, a, b } => (*d, self.of_two(state, *op, *ty, *a, *b)),
            Op::Int3 { op, ty, d, a, b, c } => {
                let [x, y, z] = [*a, *b, *c].map(|source| self.operand(state, source, ty.width));
                let form = match op {
                    Int3::MadLo | Int3::MadWide => {
                        let wide = if *op == Int3::MadWide { ty.width.twice() } else { ty.width };
                        let z = self.operand(state, *c, wide);
                        let product = match (*op, *a, *b) {
                            (Int3::MadLo, _, Src::Imm(times)) => self.sums.times(x, signed(times, ty.width)),
                            (Int3::MadLo, Src::Imm(times), _) => self.sums.times(y, signed(times, ty.width)),
                            _ if x.is_number() && y.is_number() => self.wide_product(x, y, *ty),
                            _ => Form::tainted(u64::MAX),
                        };
                        self.sums.add(product, z, 1)
                    }
                    Int3::Extract => match (*b, *c) {
                        (Src::Imm(start), Src::Imm(length)) => {
                            let form = self.sums.shifted(x, start as u32);
                            let form = self.sums.masked(form, filled_bits(length));
                            if ty.signed && !form.is_number() { Form::tainted(u64::MAX) } else { form }
                        }
                        _ => self.mixed(&[x, y, z]),
                    },
                    Int3::Lop3(table) => self.lop3(*table, [x, y, z]),
                    Int3::MadHi
                    | Int3::Sad
                    | Int3::ShfLeftWrap
                    | Int3::ShfLeftClamp
                    | Int3::ShfRightWrap
                    | Int3::ShfRightClamp
                    | Int3::Permute(_)
                    | Int3::Dp4a(..)
                    | Int3::Dp2aLo(..)
                    | Int3::Dp2aHi(..) => self.mixed(&[x, y, z]),
                };
                (*d, self.cut_result(form, ty.width))
            }
            Op::Insert { width, d, a, b, position, length } => {
                if (*width, *position, *length) == (Width::W64, Src::Imm(32), Src::Imm(32))
                    && let Some(address) = self.form(state, *a).above(self.form(state, *b))
                {
                    return Some((*d, address));
                }
                let all = [*a, *b, *position, *length].map(|source| self.operand(state, source, *width));
                (*d, self.mixed(&all))
            }
            Op::Select { width, d, a, b, p: _ } => {
                let [x, y] = [*a, *b].map(|source| {
                    let form = self.form(state, source);
                    self.cut(form, *width)
                });
                (*d, self.sums.join(x, y))
            }
            Op::Pack { d, parts, part } => {
                let forms: Vec<Form> = parts.iter().map(|source| self.form(state, *source)).collect();
                let form = match forms.as_slice() {
                    [
                        Form::Half { sum, offset, high: false },
                        Form::Half { sum: other, offset: same, high: true },
                    ] if sum == other && *part == Width::W32 => {
                        Form::Linear { sum: *sum, offset: of_halves(*offset, *same) }
                    }
                    [form @ Form::Descriptor { .. }, above] if above.is_number() && *part == Width::W32 => {
                        *form
                    }
                    _ => {
                        let mut bits = (0u64, 0u64);
                        for (number, form) in forms.iter().enumerate() {
                            let up = part.bits() * number as u32;
                            let shift = |bits: u64| (bits & part.mask()).checked_shl(up).unwrap_or(0);
                            bits.0 |= shift(self.sums.ones(*form));
                            bits.1 |= shift(self.sums.taint(*form));
                        }
                        let lowest = forms.first().map(|form| self.sums.masked(*form, part.mask()));
                        let down = lowest.and_then(|lowest| self.sums.down(lowest)).filter(|down| {
                            forms.iter().skip(1).all(|form| form.is_number())
                                && address_bits(*down) & !part.mask() == 0
                        });
                        Form::Bits { ones: bits.0, taint: bits.1, down }
                    }
                };
                (*d, form)
            }
            Op::Cvta { d, a, space, to, width: _ } => {
                let form = self.form(state, *a);
                let form = match (Base::window(*space), form) {
                    (Some(window), Form::Linear { .. }) => {
                        let window = self.sums.address(&[window], Some(0));
                        self.sums.add(form, window, if *to { -1 } else { 1 })
                    }
                    _ => form,
                };
                (*d, form)
            }
            Op::Shuffle { d: Some(d), a, .. } => (*d, self.form(state, *a)),
            Op::Enter { .. }
            | Op::Undetermined(_)
            | Op::Carry { .. }
            | Op::SetpInt { .. }
            | Op::SetpFloat { .. }
            | Op::Pred2 { .. }
            | Op::PredMov { .. }
            | Op::PredConst { .. }
            | Op::Unpack { .. }
            | Op::IntToFloat { .. }
            | Op::FloatToInt { .. }
            | Op::CvtFloat { .. }
            | Op::Float1 { .. }
            | Op::Float2 { .. }
            | Op::Fma { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Atomic { .. }
            | Op::Swap(_)
            | Op::IsSpace { .. }
            | Op::Branch { .. }
            | Op::BranchTable { .. }
            | Op::Exit
            | Op::Trap
            | Op::Nop
            | Op::Barrier { .. }
            | Op::WarpSync { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Ballot { .. }
            | Op::MatchAny { .. }
            | Op::MatchAll { .. }
            | Op::Redux { .. }
            | Op::ActiveMask { .. }
            | Op::Elect { .. }
            | Op::Mma { .. }
            | Op::LoadMatrix { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::LoadFragment { .. }
            | Op::StoreFragment { .. }
            | Op::MultiplyFragments { .. }
            | Op::Async(_)
            | Op::Unevaluated { .. }
            | Op::Unsupported { .. } => return None,
        })
    }

    /// The result of an operation: not cut where addresses of its width may occur.
    fn cut_result(&self, form: Form, width: Width) -> Form {
        match width {
            Width::W32 => in_word(form),
            Width::W64 => form,
            Width::W8 | Width::W16 => self.cut(form, width),
        }
    }

    fn of_two(&mut self, state: &State, op: Int2, ty: Int, a: Src, b: Src) -> Form {
        let width = ty.width;
        let (x, y) = (self.operand(state, a, width), self.operand(state, b, width));
        let by = |source: Src| match source {
            Src::Imm(bits) => Some(bits),
            Src::Reg(_) | Src::Symbol(..) => None,
        };
        let form = match (op, by(a), by(b)) {
            (Int2::Add, _, Some(bytes)) => self.sums.plus(x, signed(bytes, width)),
            (Int2::Add, Some(bytes), _) => self.sums.plus(y, signed(bytes, width)),
            (Int2::Sub, _, Some(bytes)) if !x.is_number() => {
                self.sums.plus(x, signed(bytes, width).wrapping_neg())
            }
            (Int2::Add, None, None) => self.sums.add(x, y, 1),
            (Int2::Sub, ..) => self.sums.add(x, y, -1),
            (Int2::MulLo, _, Some(times)) => self.sums.times(x, signed(times, width)),
            (Int2::MulLo, Some(times), _) => self.sums.times(y, signed(times, width)),
            (Int2::MulWide, ..) if x.is_number() && y.is_number() => self.wide_product(x, y, ty),
            (Int2::Shl, _, Some(up)) if up < 63 => self.sums.times(x, 1 << up),
            (Int2::Shr, _, Some(down)) => {
                let x = if ty.signed { self.sums.sign_spread(x, width) } else { x };
                self.sums.shifted(x, down as u32)
            }
            (Int2::And, _, Some(mask)) => self.masked(x, mask, width),
            (Int2::And, Some(mask), _) => self.masked(y, mask, width),
            (Int2::And, None, None) => self.lop3(0xc0, [x, y, Form::number(0)]),
            (Int2::Or, ..) => self.lop3(0xfc, [x, y, Form::number(0)]),
            (Int2::Xor, ..) => self.lop3(0x3c, [x, y, Form::number(0)]),
            (Int2::Rem, _, Some(by)) if by.is_power_of_two() && x.is_number() => Form::number(by - 1),
            _ => self.mixed(&[x, y]),
        };
        self.cut_result(form, width)
    }

    /// The product of two numbers in twice their width.
    fn wide_product(&self, x: Form, y: Form, ty: Int) -> Form {
        let [x, y] = [x, y].map(|factor| self.sums.ones(factor) & ty.width.mask());
        let may_be_negative = ty.signed && (x | y) >> (ty.width.bits() - 1) & 1 == 1;
        Form::number(x.checked_mul(y).filter(|_| !may_be_negative).map_or(u64::MAX, filled))
    }

    /// `x & mask`. An address remains one if only bits that its offset alone determines are cleared, as in rounding
    /// down. Clearing the bit of the pair gives the address of the same place in the even CTA.
    fn masked(&mut self, x: Form, mask: u64, width: Width) -> Form {
        let hidden = !mask & width.mask();
        let rounds = hidden & self.sums.taint(x) == 0;
        let in_pair = hidden & PAIR_BIT != 0 && width == Width::W32 && {
            let below = hidden & !PAIR_BIT;
            below & (below + 1) == 0 && below & self.sums.taint(x) == 0
        };
        match x {
            Form::Linear { sum, .. } if in_pair && self.is_shared(sum) => {
                self.leaders = true;
                Form::Some { low: self.sums.taint(x).trailing_zeros(), narrow: true, of: None }
            }
            Form::Linear { sum, .. } if rounds => Form::Linear { sum, offset: None },
            Form::Some { .. } if rounds => x,
            Form::Bits { .. }
            | Form::Linear { .. }
            | Form::Some { .. }
            | Form::Half { .. }
            | Form::Descriptor { .. } => self.sums.masked(x, mask),
        }
    }

    /// Whether a sum is an address in shared memory, in its own state space, and the model lays out pairs of CTAs next
    /// to each other.
    fn is_shared(&self, sum: u32) -> bool {
        let is_shared = |variable: &&Variable| variable.space == Space::Shared;
        if self.program.variables.iter().filter(is_shared).count() > MAX_PAIRED {
            return false;
        }
        let Some((Base::Variable(variable), false)) = self.sums.object(sum) else { return false };
        self.program.variables[variable.index()].space == Space::Shared
    }

    /// An arbitrary function of the operands.
    fn mixed(&self, forms: &[Form]) -> Form {
        if forms.iter().all(|form| form.is_number()) {
            Form::number(u64::MAX)
        } else {
            Form::tainted(u64::MAX)
        }
    }

    /// A bitwise function. An address remains one if only bits change that do not depend on the location of its object.
    fn lop3(&mut self, table: u8, forms: [Form; 3]) -> Form {
        let ones = forms.map(|form| self.sums.ones(form));
        let taints = forms.map(|form| self.sums.taint(form));
        let is_set = |index: usize| table >> index & 1 == 1;
        let may =
            |bit: usize, index: usize| (0..3).all(|n| index >> (2 - n) & 1 == 0 || ones[n] >> bit & 1 == 1);
        let (mut result, mut taint) = (0u64, 0u64);
        // For each operand, the bits in which the result equals it.
        let mut same = [u64::MAX; 3];
        for bit in 0..64 {
            for index in (0..8).filter(|index| may(bit, *index)) {
                result |= u64::from(is_set(index)) << bit;
                for n in 0..3 {
                    let other = index ^ (4 >> n);
                    if taints[n] >> bit & 1 == 1 && is_set(index) != is_set(other) {
                        taint |= 1 << bit;
                    }
                    if is_set(index) != (index >> (2 - n) & 1 == 1) {
                        same[n] &= !(1 << bit);
                    }
                }
            }
        }
        for n in 0..3 {
            if taints[n] != 0 && taints[n] & !same[n] == 0 && taint & !taints[n] == 0 {
                match forms[n] {
                    Form::Linear { sum, .. } => return Form::Linear { sum, offset: None },
                    // In a descriptor, only bits below those of the address change: they were a number, and are one.
                    Form::Some { .. } | Form::Descriptor { .. } => return forms[n],
                    Form::Bits { .. } | Form::Half { .. } => {}
                }
            }
        }
        // One operand, with numbers in place of bits that no address determines.
        let of_addresses = (0..3).filter(|n| taints[*n] != 0).collect::<Vec<_>>();
        let down = match of_addresses.as_slice() {
            [n] => self.sums.down(forms[*n]).filter(|down| taints[*n] & address_bits(*down) & !same[*n] == 0),
            _ => None,
        };
        Form::Bits { ones: result, taint, down }
    }

    /// The reason why an operation is not allowed, if any.
    pub(super) fn forbidden(&mut self, state: &State, at: usize) -> Option<&'static str> {
        let program = self.program;
        let op = &program.insts[at].op;
        let wrong = |analysis: &mut Self, address: &Address| {
            let form = analysis.address(state, *address);
            !analysis.sums.is_address(form)
        };
        match op {
            Op::Load { address, .. } => wrong(self, address).then_some(ADDRESSED),
            Op::Store { address, width, a, .. } => {
                if wrong(self, address) {
                    return Some(ADDRESSED);
                }
                let holds = |analysis: &mut Self, source: &Src| {
                    let form = analysis.form(state, *source);
                    !analysis.cut(form, *width).is_number()
                };
                let address = self.address(state, *address);
                let seen = match self.object(address) {
                    Some((Base::Tensor(tensor), _)) => self.compared.contains(&tensor),
                    Some((Base::Variable(variable), _)) => {
                        program.variables[variable.index()].space == Space::Global
                    }
                    Some((Base::Window(_) | Base::Columns, _)) | None => true,
                };
                (seen && a.iter().any(|source| holds(self, source))).then_some(STORED)
            }
            Op::Async(operation) => self.forbidden_asynchronous(state, operation),
            Op::LoadMatrix { address, .. }
            | Op::LoadFragment { address, .. }
            | Op::StoreMatrix { address, .. }
            | Op::StoreFragment { address, .. }
            | Op::Atomic { address, .. }
                if self.address(state, *address).is_number() =>
            {
                Some(NOWHERE)
            }
            Op::LoadMatrix { space, address, .. } | Op::LoadFragment { space, address, .. } => {
                if wrong(self, address) {
                    return Some(ADDRESSED);
                }
                let address = self.address(state, *address);
                // Any place in the object, wherever the rows lie.
                let anywhere = match address {
                    Form::Linear { sum, .. } => Form::Linear { sum, offset: None },
                    other @ (Form::Bits { .. }
                    | Form::Some { .. }
                    | Form::Half { .. }
                    | Form::Descriptor { .. }) => other,
                };
                (!self.loaded(*space, anywhere, 16).is_number()).then_some(COMPUTED)
            }
            Op::StoreMatrix { address, .. }
            | Op::StoreFragment { address, .. }
            | Op::Atomic { address, .. }
                if wrong(self, address) =>
            {
                Some(ADDRESSED)
            }
            Op::Swap(swap) => self.forbidden_swap(state, swap),
            Op::SetpInt { compare, ty, a, b, .. } => {
                let (x, y) = (self.operand(state, *a, ty.width), self.operand(state, *b, ty.width));
                let is_null = |form: Form| form == Form::number(0);
                let is_equality = matches!(compare, Compare::Eq | Compare::Ne);
                let may_be_null = is_equality
                    && (is_null(y) && self.is_never_null(x) || is_null(x) && self.is_never_null(y));
                let apart = self.sums.add(x, y, -1);
                let numbers = x.is_number() && y.is_number();
                (!apart.is_number() && !may_be_null && !numbers).then_some(COMPARED)
            }
            // These operations keep addresses as they are.
            Op::Enter { .. }
            | Op::Mov { .. }
            | Op::Int1 { .. }
            | Op::Int2 { .. }
            | Op::Int3 { .. }
            | Op::Insert { .. }
            | Op::Select { .. }
            | Op::Pack { .. }
            | Op::Unpack { .. }
            | Op::CvtInt { .. }
            | Op::Cvta { .. } => None,
            Op::MapToCta { a, rank, .. } => {
                let (form, rank) = (self.form(state, *a), self.form(state, *rank));
                (!self.sums.is_address(form) || !rank.is_number()).then_some(COMPUTED)
            }
            Op::IsSpace { a, .. } | Op::CtaRankOf { a, .. } => {
                let form = self.form(state, *a);
                (!self.sums.is_address(form)).then_some(COMPUTED)
            }
            op @ (Op::Undetermined(_)
            | Op::Special { .. }
            | Op::Carry { .. }
            | Op::SetpFloat { .. }
            | Op::Pred2 { .. }
            | Op::PredMov { .. }
            | Op::PredConst { .. }
            | Op::IntToFloat { .. }
            | Op::FloatToInt { .. }
            | Op::CvtFloat { .. }
            | Op::Float1 { .. }
            | Op::Float2 { .. }
            | Op::Fma { .. }
            | Op::Atomic { .. }
            | Op::Branch { .. }
            | Op::BranchTable { .. }
            | Op::Exit
            | Op::Trap
            | Op::Nop
            | Op::Barrier { .. }
            | Op::WarpSync { .. }
            | Op::Shuffle { .. }
            | Op::Vote { .. }
            | Op::Ballot { .. }
            | Op::MatchAny { .. }
            | Op::MatchAll { .. }
            | Op::Redux { .. }
            | Op::ActiveMask { .. }
            | Op::Elect { .. }
            | Op::Mma { .. }
            | Op::StoreMatrix { .. }
            | Op::TransposeMatrix { .. }
            | Op::StoreFragment { .. }
            | Op::MultiplyFragments { .. }
            | Op::Unevaluated { .. }
            | Op::Unsupported { .. }) => {
                // The first source may be an address: the value that a shuffle moves, or the place that the others
                // access.
                let mut rest = if let Op::Shuffle { .. }
                | Op::StoreMatrix { .. }
                | Op::StoreFragment { .. }
                | Op::Atomic { .. } = op
                {
                    1
                } else {
                    0
                };
                let mut computes = false;
                op.visit_sources(&mut |source| {
                    computes |= rest == 0 && !self.form(state, source).is_number();
                    rest -= usize::from(rest > 0);
                });
                computes.then_some(COMPUTED)
            }
        }
    }

    /// Whether the address is generic or global, where no object begins at null.
    fn is_never_null(&self, form: Form) -> bool {
        match form {
            Form::Linear { sum, .. } => self.sums.object(sum).is_some_and(|(base, generic)| {
                generic
                    || match base {
                        Base::Tensor(_) => true,
                        Base::Variable(variable) => {
                            self.program.variables[variable.index()].space == Space::Global
                        }
                        Base::Window(_) | Base::Columns => false,
                    }
            }),
            Form::Some { .. } => true,
            Form::Bits { .. } | Form::Half { .. } | Form::Descriptor { .. } => false,
        }
    }
}

/// An address in 32 bits: an offset that these do not hold may have wrapped around, and has no bounds.
fn in_word(form: Form) -> Form {
    match form {
        Form::Linear { sum, offset: Some([least, most]) }
            if least < i64::from(i32::MIN) || most > i64::from(i32::MAX) =>
        {
            Form::Linear { sum, offset: None }
        }
        other @ (Form::Bits { .. }
        | Form::Linear { .. }
        | Form::Some { .. }
        | Form::Half { .. }
        | Form::Descriptor { .. }) => other,
    }
}

/// An immediate of a width as a signed number.
fn signed(bits: u64, width: Width) -> i64 {
    let above = 64 - width.bits();
    (bits << above) as i64 >> above
}
