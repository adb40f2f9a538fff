//! Tensor memory (`tcgen05`): 128 lanes of 512 columns of 32 bits in each CTA, transfers to and from it, and products
//! into it. Products are of one CTA, or of two, each with half of the rows and of the columns in its shared memory.
//!
//! Loads and stores are executed immediately. Products and commits of a thread are executed in their order, at some
//! later time; factors and accumulator of a product are read only then.
//!
//! Source: PTX ISA, "TensorCore 5th Generation Family Instructions". The registers of each shape are those of CuTe's
//! `copy_traits_sm100`, the accumulators of two CTAs those of `mma_traits_sm100`.

use std::collections::{BTreeMap, VecDeque};

use super::cta::Cta;
use super::float::{self, Format};
use super::integer::IntType;
use super::layout::{self, Descriptor, Mode, Swizzle};
use super::matrix::{self, Element, Elements, Shape};
use super::memory::{SHARED_BYTES, STATIC_END, shared_of};
use super::op::{Address, Register, Source, Space};

/// The end of the message about a product of elements that the interpreter does not know.
pub const UNKNOWN_FACTORS: &str = "its factors are not known";

const LANES: usize = 128;
const COLUMNS: usize = 512;

/// The places of a warp's registers in tensor memory, in the order of their bits: the shape of CuTe's layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// `.32x32b`
    Lanes,
    /// `.16x64b`, `.16x128b`, `.16x256b`, by their number of bits
    Bits(u64),
    /// `.16x32bx2`, with the distance of the two halves
    Halves(u64),
}

impl Moves {
    /// Lane and column, relative to the first ones, of a register of a lane, for this number of registers.
    fn place(self, registers: u64, lane: u64, register: u64) -> (u64, u64) {
        match self {
            Moves::Lanes => (lane, register),
            Moves::Halves(apart) => (lane % 16, register + lane / 16 * apart),
            Moves::Bits(bits) => {
                // Bits of 16 lanes, lane by lane.
                let width = registers * 32 * 32 / 16;
                let mode = |parts: &[(u64, u64)], last: u64| Mode { parts: parts.to_vec(), last };
                let (thread, value) = match bits {
                    64 => (mode(&[(2, 8 * width), (2, 32)], width), mode(&[], 64)),
                    128 => (mode(&[(4, 32)], width), mode(&[(2, 8 * width)], 128)),
                    _ => (mode(&[(4, 64)], width), mode(&[(2, 32), (2, 8 * width)], 256)),
                };
                let at = thread.offset(lane) + value.offset(register);
                (at / width, at % width / 32)
            }
        }
    }
}

/// An operation of a warp.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub enum Tensor {
    Allocate { to: Address, columns: Source, pair: bool },
    Free { at: Source, columns: Source },
    Load { d: Vec<Register>, from: Address, moves: Moves, packed: bool },
    Store { to: Address, s: Vec<Source>, moves: Moves, packed: bool },
}

/// The kinds of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `.kind::f16`
    F16,
    /// `.kind::tf32`
    Tf32,
    /// `.kind::f8f6f4`
    F8,
    /// `.kind::i8`
    I8,
    /// `.kind::mxf8f6f4`, with a scale for each row of A and each column of B
    Scaled,
}

/// The place of a left factor.
#[derive(Clone, Copy, Debug)]
pub enum Left {
    /// In shared memory, by a descriptor.
    Shared(Source),
    /// In tensor memory.
    Tensor(Address),
}

/// `tcgen05.mma`
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub struct TensorProduct {
    pub kind: Kind,
    /// Whether it is a product of the CTA and its peer.
    pub pair: bool,
    pub d: Address,
    pub a: Left,
    pub b: Source,
    pub descriptor: Source,
    /// The scales of A and of B, in tensor memory.
    pub scales: Option<[Address; 2]>,
    /// Four words, or none.
    pub disabled: Vec<Source>,
    pub adds: Source,
}

/// `tcgen05.cp`: columns of 32 bits of some rows
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "named as in PTX")]
pub struct TensorCopy {
    pub to: Address,
    pub from: Source,
    pub rows: u64,
    pub columns: u64,
    pub multicast: Multicast,
}

/// The lanes of a row, as a layout of CuTe (`copy_traits_sm100`): rows at a distance of one lane, then parts of as many
/// rows, then copies.
#[derive(Clone, Copy, Debug)]
pub struct Multicast {
    /// Rows of a part.
    pub part: u64,
    /// The distance of parts.
    pub apart: u64,
    /// The number of copies, and their distance.
    pub copies: (u64, u64),
}

/// The fields of an instruction descriptor.
#[derive(Clone, Copy, Debug)]
struct Instruction {
    pair: bool,
    satfinite: bool,
    shape: Shape,
    elements: Elements,
    negated: [bool; 2],
    transposed: [bool; 2],
    /// The bytes of a column that hold the scales of A and of B.
    scales: [u32; 2],
}

impl Instruction {
    fn decode(kind: Kind, pair: bool, word: u64) -> Result<Instruction, String> {
        let field = |low: u32, bits: u32| word >> low & ((1 << bits) - 1);
        let satfinite = kind == Kind::I8 && field(3, 1) == 1;
        let scaled = kind == Kind::Scaled;
        let known = if scaled { field(31, 1) == 0 && field(23, 1) == 1 } else { field(30, 2) == 0 };
        if field(0, 3) != 0 || field(3, 1) == 1 && !satfinite || !known {
            return Err("this instruction descriptor is not known".into());
        }
        let element = |code: u64| {
            Ok::<_, String>(Element::Float(match (kind, code) {
                (Kind::I8, 0 | 1) => return Ok(Element::Int(IntType { bits: 8, signed: code == 1 })),
                (Kind::F16, 0) => Format::F16,
                (Kind::F16, 1) => Format::Bf16,
                (Kind::Tf32, 2) => Format::Tf32,
                (Kind::F8 | Kind::Scaled, 0) => Format::E4m3,
                (Kind::F8 | Kind::Scaled, 1) => Format::E5m2,
                _ => return Err(UNKNOWN_FACTORS.into()),
            }))
        };
        let (a, b) = (element(field(7, 3))?, element(field(10, 3))?);
        let d = match (kind, field(4, 2)) {
            (Kind::I8, _) => Element::Int(IntType { bits: 32, signed: true }),
            (Kind::Scaled, _) | (_, 1) => Element::Float(Format::F32),
            _ => Element::Float(Format::F16),
        };
        let k = 256 / a.bits() as usize;
        let flag = |at: u32| field(at, 1) == 1;
        let m = if scaled { field(27, 2) * 128 } else { field(24, 5) * 16 } as usize;
        Ok(Instruction {
            pair,
            satfinite,
            scales: [field(29, 2) as u32, field(4, 2) as u32],
            shape: Shape { m, n: field(17, 6) as usize * 8, k },
            elements: Elements { a, b, c: d, d },
            negated: [flag(13), flag(14)],
            transposed: [flag(15), flag(16)],
        })
    }

    /// The CTA (of two), the lane and the column of an element of the result: figures of "Data Path Layout
    /// Organization".
    fn place(&self, row: usize, column: usize) -> Result<(usize, u64, u64), String> {
        let Shape { m, n, .. } = self.shape;
        let mode = |parts: &[(u64, u64)], last: u64| Mode { parts: parts.to_vec(), last };
        // Lane plus 128 times the column, with the CTA above both.
        let cta = (LANES * COLUMNS) as u64;
        let (rows, columns) = match (self.pair, m) {
            (false, 64) => (mode(&[(16, 1)], 32), mode(&[], 128)),
            (false, 128) => (mode(&[], 1), mode(&[], 128)),
            (true, 128) => (mode(&[(64, 1)], cta), mode(&[(n as u64 / 2, 128)], 64)),
            (true, 256) => (mode(&[(128, 1)], cta), mode(&[], 128)),
            _ => return Err("its shape is not known".into()),
        };
        let at = rows.offset(row as u64) + columns.offset(column as u64);
        Ok(((at / cta) as usize, at % cta % 128, at % cta / 128))
    }
}

/// An operation of a thread that has not been executed.
#[derive(Debug)]
enum Pending<'r> {
    TensorProduct {
        product: &'r TensorProduct,
        left: PlacedLeft,
        right: u64,
        word: u64,
        d: u64,
        disabled: Vec<u64>,
        adds: bool,
    },
    Copy {
        copy: TensorCopy,
        to: u64,
        from: u64,
    },
    Commit {
        barriers: Vec<u64>,
    },
}

#[derive(Clone, Copy, Debug)]
enum PlacedLeft {
    Shared(u64),
    Tensor(u64),
}

/// The tensor memory of the CTAs of a cluster.
#[derive(Debug)]
pub(super) struct TensorMemory<'r> {
    words: BTreeMap<usize, Vec<u32>>,
    /// The CTA, the first column and the number of columns.
    allocated: Vec<(usize, u64, u64)>,
    /// By CTA, the first columns of what it has allocated together with its peer.
    together: BTreeMap<usize, Vec<u64>>,
    /// By thread, oldest first.
    pending: BTreeMap<usize, VecDeque<Pending<'r>>>,
}

impl TensorMemory<'_> {
    pub(super) fn new() -> Self {
        TensorMemory {
            words: BTreeMap::new(),
            allocated: Vec::new(),
            together: BTreeMap::new(),
            pending: BTreeMap::new(),
        }
    }

    /// Whether everything has been executed.
    pub(super) fn is_idle(&self) -> bool {
        self.pending.is_empty()
    }

    fn word(&mut self, rank: usize, lane: u64, column: u64) -> Result<&mut u32, String> {
        let covers =
            |(of, first, count): &(usize, u64, u64)| *of == rank && (*first..first + count).contains(&column);
        let why = || format!("lane {lane}, column {column} of tensor memory is not allocated");
        if lane >= LANES as u64 || !self.allocated.iter().any(covers) {
            return Err(why());
        }
        let words = self.words.get_mut(&rank).ok_or_else(why)?;
        Ok(&mut words[lane as usize * COLUMNS + column as usize])
    }
}

/// The lane and the column of an address.
fn split(address: u64) -> (u64, u64) {
    (address >> 16 & 0xffff, address & 0xffff)
}

impl<'r> Cta<'r> {
    fn tensor_address(&self, number: usize, at: Address) -> u64 {
        self.value(number, at.base).wrapping_add_signed(at.offset) & 0xffff_ffff
    }

    /// Executes an operation of a warp; `first` is its first thread.
    pub(super) fn tensor(&mut self, first: usize, op: &Tensor) -> Result<(), String> {
        let rank = self.rank(first);
        match op {
            Tensor::Allocate { to, columns, pair } => {
                let columns = self.value(first, *columns) & 0xffff_ffff;
                let peer = rank ^ 1;
                if *pair && peer >= self.launches.len() {
                    return Err("a CTA of a pair is not there".into());
                }
                let together = &mut self.tensor_memory.together;
                let number = together.entry(rank).or_default().len();
                let by_peer = together.get(&peer).and_then(|all| all.get(number)).copied();
                let at = match by_peer.filter(|_| *pair) {
                    Some(at) => at,
                    None => {
                        let ranks = if *pair { vec![rank, peer] } else { vec![rank] };
                        self.take_columns(&ranks, columns)?
                    }
                };
                if *pair {
                    self.tensor_memory.together.entry(rank).or_default().push(at);
                }
                let (space, to) = self.address(first, *to, 4)?;
                self.write(first, space, to, 4, at)
            }
            Tensor::Free { at, columns } => {
                let [at, columns] = [*at, *columns].map(|source| self.value(first, source) & 0xffff_ffff);
                let held = (rank, at, columns);
                let allocated = &mut self.tensor_memory.allocated;
                let place = allocated.iter().position(|other| *other == held);
                allocated.swap_remove(place.ok_or("it was not allocated")?);
                Ok(())
            }
            Tensor::Load { d, from, moves, packed } => {
                let (row, column) = split(self.tensor_address(first, *from));
                let registers = d.len() as u64;
                for (register, d) in d.iter().enumerate() {
                    for lane in 0..32 {
                        let (down, across) = moves.place(registers, lane, register as u64);
                        let value = if *packed {
                            let low = *self.tensor_memory.word(rank, row + down, column + 2 * across)?;
                            let high = *self.tensor_memory.word(rank, row + down, column + 2 * across + 1)?;
                            low & 0xffff | high << 16
                        } else {
                            *self.tensor_memory.word(rank, row + down, column + across)?
                        };
                        self.threads[first + lane as usize].set(*d, value.into());
                    }
                }
                Ok(())
            }
            Tensor::Store { to, s, moves, packed } => {
                let (row, column) = split(self.tensor_address(first, *to));
                for (register, source) in s.iter().enumerate() {
                    for lane in 0..32 {
                        let (down, across) = moves.place(s.len() as u64, lane, register as u64);
                        let value = self.value(first + lane as usize, *source) as u32;
                        if *packed {
                            for half in 0..2 {
                                let word =
                                    self.tensor_memory.word(rank, row + down, column + 2 * across + half)?;
                                *word = value >> (16 * half) & 0xffff;
                            }
                        } else {
                            *self.tensor_memory.word(rank, row + down, column + across)? = value;
                        }
                    }
                }
                Ok(())
            }
        }
    }

    /// Allocates columns that are free in all of these CTAs.
    fn take_columns(&mut self, ranks: &[usize], columns: u64) -> Result<u64, String> {
        for rank in ranks {
            if !self.tensor_memory.words.contains_key(rank) {
                let bytes = self.random.bytes(4 * LANES * COLUMNS);
                let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u32::from(*byte));
                self.tensor_memory.words.insert(*rank, bytes.chunks(4).map(word).collect());
            }
        }
        let taken = |at: u64| {
            let mut held = self.tensor_memory.allocated.iter();
            held.any(|(of, first, count)| ranks.contains(of) && at < first + count && *first < at + columns)
        };
        let places: Vec<u64> =
            (0..COLUMNS as u64).step_by(columns.max(32) as usize).filter(|at| !taken(*at)).collect();
        if places.is_empty() {
            return Err("there are not so many columns".into());
        }
        let at = places[self.random.below(places.len())];
        self.tensor_memory.allocated.extend(ranks.iter().map(|rank| (*rank, at, columns)));
        Ok(at)
    }

    /// A thread starts a product.
    pub(super) fn start_tensor_product(&mut self, number: usize, product: &'r TensorProduct) {
        let left = match product.a {
            Left::Shared(descriptor) => PlacedLeft::Shared(self.value(number, descriptor)),
            Left::Tensor(at) => PlacedLeft::Tensor(self.tensor_address(number, at)),
        };
        let pending = Pending::TensorProduct {
            product,
            left,
            right: self.value(number, product.b),
            word: self.value(number, product.descriptor) & 0xffff_ffff,
            d: self.tensor_address(number, product.d),
            disabled: product.disabled.iter().map(|source| self.value(number, *source)).collect(),
            adds: self.value(number, product.adds) & 1 == 1,
        };
        self.tensor_memory.pending.entry(number).or_default().push_back(pending);
    }

    /// A thread starts a copy from shared memory.
    pub(super) fn start_tensor_copy(&mut self, number: usize, copy: TensorCopy) {
        let (to, from) = (self.tensor_address(number, copy.to), self.value(number, copy.from));
        let pending = Pending::Copy { copy, to, from };
        self.tensor_memory.pending.entry(number).or_default().push_back(pending);
    }

    fn do_tensor_copy(&mut self, number: usize, copy: TensorCopy, to: u64, from: u64) -> Result<(), String> {
        let rank = self.rank(number);
        let (row, column) = split(to);
        let place = self.described(rank, from, true, 4)?;
        for down in 0..copy.rows {
            for across in 0..copy.columns {
                let word = self.read(number, Space::Shared, place.address(down, across), 4)? as u32;
                let Multicast { part, apart, copies: (count, step) } = copy.multicast;
                for number in 0..count {
                    let lane = down % part + down / part * apart + number * step;
                    *self.tensor_memory.word(rank, row + lane, column + across)? = word;
                }
            }
        }
        Ok(())
    }

    /// A thread commits its products to barriers.
    pub(super) fn commit_tensor_products(&mut self, number: usize, barriers: Vec<u64>) {
        self.tensor_memory.pending.entry(number).or_default().push_back(Pending::Commit { barriers });
    }

    /// May execute some of the operations that threads have started; with `all`, when no thread can proceed, executes
    /// all of them.
    pub(super) fn progress_tensor(&mut self, all: bool) -> Result<(), String> {
        while !self.tensor_memory.is_idle() && (all || self.random.below(4) == 0) {
            let at = self.random.below(self.tensor_memory.pending.len());
            let Some(number) = self.tensor_memory.pending.keys().nth(at).copied() else { break };
            let queue = self.tensor_memory.pending.entry(number).or_default();
            let next = queue.pop_front();
            if queue.is_empty() {
                self.tensor_memory.pending.remove(&number);
            }
            match next {
                Some(Pending::Commit { barriers }) => {
                    for barrier in barriers {
                        self.arrive_at(barrier)?;
                    }
                }
                Some(Pending::Copy { copy, to, from }) => self.do_tensor_copy(number, copy, to, from)?,
                Some(pending @ Pending::TensorProduct { .. }) => self.do_tensor_product(number, &pending)?,
                None => {}
            }
        }
        Ok(())
    }

    fn described(
        &self,
        rank: usize,
        word: u64,
        k_major: bool,
        bytes: u64,
    ) -> Result<layout::SharedFactor, String> {
        let field = |low: u32, bits: u32| word >> low & ((1 << bits) - 1);
        if field(46, 3) != 1 || field(49, 3) != 0 || field(52, 1) != 0 {
            return Err("this matrix descriptor is not known".into());
        }
        let swizzle = match field(61, 3) {
            0 => 0,
            2 => 3,
            4 => 2,
            6 => 1,
            _ => return Err("this swizzle is not known".into()),
        };
        let [mut start, leading, stride] = [0, 16, 32].map(|low| field(low, 14) << 4);
        // Static shared memory lies in the last range that a descriptor can address.
        let dynamic = u64::from(self.launches[0].dynamic_shared);
        if self.program.shared_bytes + dynamic > SHARED_BYTES {
            return Err("there is more shared memory than a descriptor reaches".to_string());
        }
        if start >= dynamic {
            start += STATIC_END - SHARED_BYTES;
        }
        start += shared_of(rank);
        let descriptor = Descriptor { start, leading, stride, swizzle: Swizzle(swizzle) };
        Ok(layout::SharedFactor::new(descriptor, k_major, bytes))
    }

    fn do_tensor_product(&mut self, number: usize, pending: &Pending<'r>) -> Result<(), String> {
        let Pending::TensorProduct { product, left, right, word, d, disabled, adds } = pending else {
            return Ok(());
        };
        let instruction = Instruction::decode(product.kind, product.pair, *word)?;
        let Instruction { shape, elements, negated, transposed, satfinite, .. } = instruction;
        let own = self.rank(number);
        let ctas = if product.pair { vec![own & !1, own | 1] } else { vec![own] };
        if product.pair && disabled.iter().any(|word| *word != 0) {
            return Err("lanes are left out of a product of two CTAs".into());
        }
        let Shape { m, n, k } = shape;
        let sign = |at: usize, element: Element| if negated[at] { 1 << (element.bits() - 1) } else { 0 };
        let bytes = |element: Element| element.bits() / 8;
        let mut a = vec![0; m * k];
        match left {
            PlacedLeft::Shared(descriptor) => {
                // The rows in each CTA.
                let each = m / ctas.len();
                for (at, to) in a.iter_mut().enumerate() {
                    let (cta, row) = (ctas[at / k / each], at / k % each);
                    let place = self.described(cta, *descriptor, !transposed[0], bytes(elements.a).into())?;
                    let address = place.address(row as u64, (at % k) as u64);
                    *to = self.read(number, Space::Shared, address, bytes(elements.a))?;
                }
            }
            PlacedLeft::Tensor(_) if product.pair && m == 128 => {
                return Err("where such a left factor lies in two CTAs is not known".into());
            }
            PlacedLeft::Tensor(address) => {
                let (row, column) = split(*address);
                let inside = 32 / elements.a.bits() as usize;
                for (at, to) in a.iter_mut().enumerate() {
                    let (cta, down, _) = instruction.place(at / k, 0)?;
                    let column = column + (at % k / inside) as u64;
                    let held = *self.tensor_memory.word(ctas[cta], row + down, column)?;
                    let down = (at % k % inside) as u32 * elements.a.bits();
                    *to = u64::from(held >> down) & float::mask(elements.a.bits());
                }
            }
        }
        let mut b = vec![0; k * n];
        let each = n / ctas.len();
        for (at, to) in b.iter_mut().enumerate() {
            let (cta, column) = (ctas[at % n / each], at % n % each);
            let place = self.described(cta, *right, !transposed[1], bytes(elements.b).into())?;
            let address = place.address(column as u64, (at / n) as u64);
            *to = self.read(number, Space::Shared, address, bytes(elements.b))?;
        }
        a.iter_mut().for_each(|bits| *bits ^= sign(0, elements.a));
        b.iter_mut().for_each(|bits| *bits ^= sign(1, elements.b));
        let (row, column) = split(*d);
        let place = |at: usize| {
            let (cta, down, across) = instruction.place(at / n, at % n)?;
            Ok::<_, String>((ctas[cta], row + down, column + across))
        };
        let mut sum = vec![0; m * n];
        if *adds {
            let mask = float::mask(elements.d.bits());
            for (at, to) in sum.iter_mut().enumerate() {
                let (cta, lane, column) = place(at)?;
                *to = u64::from(*self.tensor_memory.word(cta, lane, column)?) & mask;
            }
        }
        let sum = match product.scales {
            None => matrix::multiply(shape, elements, satfinite, &a, &b, &sum)?,
            Some(scales) => {
                let [of_a, of_b] = scales.map(|at| self.tensor_address(number, at));
                let a = self.scaled(own, (of_a, instruction.scales[0]), elements.a, &a, |at| at / k)?;
                let b = self.scaled(own, (of_b, instruction.scales[1]), elements.b, &b, |at| at % n)?;
                let wide = |bits: &u64| f64::from(f32::from_bits(*bits as u32)).to_bits();
                let sum: Vec<u64> = sum.iter().map(wide).collect();
                let double = Element::Float(Format::F64);
                let doubles = Elements { a: double, b: double, c: double, d: double };
                let narrow = |bits: &u64| u64::from((f64::from_bits(*bits) as f32).to_bits());
                matrix::multiply(shape, doubles, false, &a, &b, &sum)?.iter().map(narrow).collect()
            }
        };
        for (at, value) in sum.into_iter().enumerate() {
            let (cta, lane, column) = place(at)?;
            let is_kept = disabled.get(lane as usize / 32).is_some_and(|word| word >> (lane % 32) & 1 == 1);
            if !is_kept {
                *self.tensor_memory.word(cta, lane, column)? = value as u32;
            }
        }
        Ok(())
    }
}

impl Cta<'_> {
    /// Elements as doubles, each multiplied by the scale of its row: a byte of a column, in each of four groups of
    /// lanes; rows above the 32nd are in the next column.
    fn scaled(
        &mut self,
        rank: usize,
        (at, byte): (u64, u32),
        element: Element,
        all: &[u64],
        row: impl Fn(usize) -> usize,
    ) -> Result<Vec<u64>, String> {
        let Element::Float(format) = element else { return Err("its factors are integers".into()) };
        let (first, column) = split(at);
        let mut out = Vec::with_capacity(all.len());
        for (at, bits) in all.iter().enumerate() {
            let row = row(at) as u64;
            let mut held = [0; 4];
            for (group, held) in held.iter_mut().enumerate() {
                let lane = first + 32 * group as u64 + row % 32;
                *held = *self.tensor_memory.word(rank, lane, column + row / 32)? >> (8 * byte) & 0xff;
            }
            if held.iter().any(|other| *other != held[0]) {
                return Err("the scales of a row differ".into());
            }
            let scale = float::to_f64(Format::Ue8m0, held[0].into());
            out.push((float::to_f64(format, *bits) * scale).to_bits());
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_register_has_a_place_of_its_own() {
        for (moves, registers) in [
            (Moves::Lanes, 4),
            (Moves::Bits(64), 4),
            (Moves::Bits(128), 4),
            (Moves::Bits(256), 8),
            (Moves::Halves(4), 4),
        ] {
            let places: BTreeSet<(u64, u64)> = (0..32)
                .flat_map(|lane| (0..registers).map(move |register| moves.place(registers, lane, register)))
                .collect();
            assert_eq!(places.len() as u64, 32 * registers, "{moves:?}");
            let lanes = if moves == Moves::Lanes { 32 } else { 16 };
            assert!(places.iter().all(|(lane, column)| *lane < lanes && *column < 32 * registers / lanes));
        }
    }
}
