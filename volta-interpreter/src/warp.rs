//! Collective operations of a warp, executed once all lanes of their mask have arrived.

use super::cta::Cta;
use super::float::{self, Format, mask};
use super::integer;
use super::matrix::{self, Element, Elements, Matrix, Place, Role};
use super::op::{Collective, Op, Redux, Register, Shuffle, Source, Vote};
use super::thread::State;

impl<'r> Cta<'r> {
    fn collective_of(&self, number: usize) -> Option<&'r Collective> {
        let frame = self.threads[number].frame();
        if let Op::Collective { op, .. } = &self.program.functions[frame.function].code[frame.pc].op {
            Some(op)
        } else {
            None
        }
    }

    pub(super) fn value(&self, number: usize, source: Source) -> u64 {
        self.threads[number].get(source, &self.launch(number))
    }

    /// Executes the collective at which a thread is, if all lanes of its mask that have not exited are there.
    pub(super) fn gather(&mut self, number: usize) -> Result<(), String> {
        let Some(op) = self.collective_of(number) else { return Ok(()) };
        let warp = number / 32;
        let named = self.masks[number];
        let lanes: Vec<usize> = self
            .lanes_of(warp)
            .filter(|other| named >> (other % 32) & 1 == 1 && self.threads[*other].state != State::Exited)
            .collect();
        let place = |number: usize| {
            let frame = self.threads[number].frame();
            (frame.function, frame.pc)
        };
        for other in &lanes {
            if self.threads[*other].state != State::AtCollective || self.masks[*other] != named {
                return Ok(());
            }
            let both_sync =
                matches!((op, self.collective_of(*other)), (Collective::Sync, Some(Collective::Sync)));
            if !both_sync && place(*other) != place(number) {
                return Ok(());
            }
        }
        self.perform(op, &lanes)?;
        lanes.iter().for_each(|number| self.release(*number));
        Ok(())
    }

    fn perform(&mut self, op: &'r Collective, lanes: &[usize]) -> Result<(), String> {
        match op {
            Collective::Sync => {}
            Collective::Shuffle { mode, d, p, operands } => self.shuffle(*mode, *d, *p, operands, lanes)?,
            Collective::Vote { mode, d, p } => {
                let holds = |number: &usize| self.value(*number, *p) & 1 == 1;
                let result = match mode {
                    Vote::All => u64::from(lanes.iter().all(holds)),
                    Vote::Any => u64::from(lanes.iter().any(holds)),
                    Vote::Uni => u64::from(lanes.iter().all(holds) || !lanes.iter().any(holds)),
                    Vote::Ballot => {
                        lanes.iter().filter(|number| holds(number)).fold(0, |sum, at| sum | 1 << (at % 32))
                    }
                };
                lanes.iter().for_each(|number| self.threads[*number].set(*d, result));
            }
            Collective::Match { all, bits, d, p, a } => {
                let values: Vec<u64> =
                    lanes.iter().map(|number| self.value(*number, *a) & mask(*bits)).collect();
                let equal = |value: u64| {
                    lanes
                        .iter()
                        .zip(&values)
                        .filter(|(_, held)| **held == value)
                        .fold(0, |sum, (at, _)| sum | 1u64 << (at % 32))
                };
                let results: Vec<u64> = values.iter().map(|value| equal(*value)).collect();
                let same = values.iter().all(|value| *value == values[0]);
                for (number, result) in lanes.iter().zip(results) {
                    self.threads[*number].set_some(*d, if *all && !same { 0 } else { result });
                    self.threads[*number].set_some(*p, u64::from(same));
                }
            }
            Collective::Redux { op, d, a } => {
                let values: Vec<u64> = lanes.iter().map(|number| self.value(*number, *a)).collect();
                let first = values.first().copied().unwrap_or(0);
                let mut rest = values.iter().skip(1).copied();
                let result = match *op {
                    Redux::Integer(op, ty) => {
                        rest.try_fold(first, |sum, value| integer::compute(op, ty, [sum, value, 0]))?
                    }
                    Redux::Extreme { largest, magnitudes, nan } => {
                        let own = |value: u64| if magnitudes { value & 0x7fff_ffff } else { value };
                        rest.fold(own(first), |best, value| {
                            float::extreme(Format::F32, largest, nan, best, own(value))
                        })
                    }
                };
                lanes.iter().for_each(|number| self.threads[*number].set(*d, result));
            }
            Collective::Elect { d, p } => {
                let leader = lanes.first().map_or(0, |number| number % 32);
                for number in lanes {
                    self.threads[*number].set_some(*d, leader as u64);
                    self.threads[*number].set_some(*p, u64::from(number % 32 == leader));
                }
            }
            Collective::Matrix(matrix) => self.matrix(matrix, whole_warp(lanes)?)?,
            Collective::Multiply(product) => self.start_product(whole_warp(lanes)?, product)?,
            Collective::CommitProducts => self.commit_products(whole_warp(lanes)?),
            Collective::Tensor(op) => self.tensor(whole_warp(lanes)?, op)?,
            Collective::WaitProducts(newest) => self.wait_products(whole_warp(lanes)?, *newest)?,
        }
        Ok(())
    }

    fn shuffle(
        &mut self,
        mode: Shuffle,
        d: Option<Register>,
        p: Option<Register>,
        operands: &[Source; 3],
        lanes: &[usize],
    ) -> Result<(), String> {
        let mut results = Vec::new();
        for number in lanes {
            let lane = (number % 32) as i64;
            let [a, b, c] = operands.map(|source| self.value(*number, source) & 0xffff_ffff);
            let (b, clamp, segment) = ((b & 31) as i64, (c & 31) as i64, (c >> 8 & 31) as i64);
            let most = lane & segment | clamp & !segment;
            let (from, inside) = match mode {
                Shuffle::Up => (lane - b, lane - b >= most),
                Shuffle::Down => (lane + b, lane + b <= most),
                Shuffle::Bfly => (lane ^ b, lane ^ b <= most),
                Shuffle::Idx => {
                    let from = lane & segment | b & !segment;
                    (from, from <= most)
                }
            };
            let value = if !inside {
                a
            } else {
                let other = number - number % 32 + from as usize;
                // A lane that does not take part gives any bits.
                match lanes.contains(&other) {
                    true => self.value(other, operands[0]) & 0xffff_ffff,
                    false => self.random.bits() & 0xffff_ffff,
                }
            };
            results.push((*number, value, inside));
        }
        for (number, value, inside) in results {
            self.threads[number].set_some(d, value);
            self.threads[number].set_some(p, u64::from(inside));
        }
        Ok(())
    }

    /// A matrix instruction of the warp that begins with a thread.
    fn matrix(&mut self, matrix: &Matrix, first: usize) -> Result<(), String> {
        match matrix {
            Matrix::Multiply { shape, elements, opaque, satfinite, d, factors } => {
                let Elements { a, b, c, d: result } = *elements;
                let mut matrices = Vec::new();
                for ((role, element), sources) in
                    [(Role::A, a), (Role::B, b), (Role::C, c)].into_iter().zip(factors)
                {
                    let slots = self.slots(first, element, sources);
                    let extent = shape.extent(role);
                    matrices.push(if *opaque {
                        collect_opaque(extent, &slots)?
                    } else {
                        let place =
                            |lane: usize, index: usize| matrix::position(role, *shape, element, lane, index);
                        collect(extent, &slots, place)
                    });
                }
                let out = matrix::multiply(
                    *shape,
                    *elements,
                    *satfinite,
                    &matrices[0],
                    &matrices[1],
                    &matrices[2],
                )?;
                let (_, cols) = shape.extent(Role::C);
                let each = d.len() * per_register(result);
                let mut slots = vec![vec![0; each]; 32];
                if *opaque {
                    deal_opaque(shape.extent(Role::C), &out, &mut slots)?;
                } else {
                    for (lane, slots) in slots.iter_mut().enumerate() {
                        for (index, slot) in slots.iter_mut().enumerate() {
                            let (row, col) = matrix::position(Role::C, *shape, result, lane, index);
                            *slot = out[row * cols + col];
                        }
                    }
                }
                self.put(first, result, d, &slots);
            }
            Matrix::Ldmatrix { transposed, d, from } => {
                for (at, register) in d.iter().enumerate() {
                    let mut rows = [0u128; 8];
                    for (row, to) in rows.iter_mut().enumerate() {
                        let number = first + 8 * at + row;
                        let (space, at) = self.address(number, *from, 16)?;
                        let low = self.read(number, space, at, 8)?;
                        *to = u128::from(low) | u128::from(self.read(number, space, at + 8, 8)?) << 64;
                    }
                    let element = |row: usize, col: usize| (rows[row] >> (16 * col)) as u64 & 0xffff;
                    for lane in 0..32 {
                        let word = eighth(lane, *transposed, element);
                        self.threads[first + lane].set(*register, word);
                    }
                }
            }
            Matrix::Stmatrix { transposed, s, to } => {
                for (at, source) in s.iter().enumerate() {
                    let words: Vec<u64> = (0..32).map(|lane| self.value(first + lane, *source)).collect();
                    for row in 0..8 {
                        let number = first + 8 * at + row;
                        let (space, at) = self.address(number, *to, 16)?;
                        for col in 0..8 {
                            let value = element_of(&words, *transposed, row, col);
                            self.write(number, space, at + 2 * col as u64, 2, value)?;
                        }
                    }
                }
            }
            Matrix::Movmatrix { d, a } => {
                let words: Vec<u64> = (0..32).map(|lane| self.value(first + lane, *a)).collect();
                for lane in 0..32 {
                    let word = eighth(lane, true, |row, col| element_of(&words, false, row, col));
                    self.threads[first + lane].set(*d, word);
                }
            }
            Matrix::WmmaLoad { role: _, place, d } => {
                let (rows, cols) = place.extent;
                let mut elements = Vec::with_capacity(rows * cols);
                for at in 0..rows * cols {
                    let (space, address, bytes) = self.element_at(first, place, at / cols, at % cols)?;
                    elements.push(self.read(first, space, address, bytes)?);
                }
                let mut slots = vec![vec![0; d.len() * per_register(place.element)]; 32];
                deal_opaque(place.extent, &elements, &mut slots)?;
                self.put(first, place.element, d, &slots);
            }
            Matrix::WmmaStore { place, s } => {
                let slots = self.slots(first, place.element, s);
                let elements = collect_opaque(place.extent, &slots)?;
                for (at, value) in elements.into_iter().enumerate() {
                    let (row, col) = (at / place.extent.1, at % place.extent.1);
                    let (space, address, bytes) = self.element_at(first, place, row, col)?;
                    self.write(first, space, address, bytes, value)?;
                }
            }
        }
        Ok(())
    }

    /// The place of an element of a matrix in memory, which all lanes must agree on.
    fn element_at(
        &self,
        first: usize,
        place: &Place,
        row: usize,
        col: usize,
    ) -> Result<(super::op::Space, u64, u32), String> {
        let bytes = place.element.bits() / 8;
        let (rows, cols) = place.extent;
        let stride = |number: usize| match place.stride {
            Some(source) => self.value(number, source) as u32 as usize,
            None if place.row_major => cols,
            None => rows,
        };
        let (space, base) = self.address(first, place.at, bytes)?;
        if row == 0 && col == 0 {
            for number in first..first + 32 {
                if self.address(number, place.at, bytes)? != (space, base) || stride(number) != stride(first)
                {
                    return Err("lanes do not agree where a matrix lies".into());
                }
            }
        }
        let (line, within) = if place.row_major { (row, col) } else { (col, row) };
        Ok((space, base + (line * stride(first) + within) as u64 * u64::from(bytes), bytes))
    }

    /// The elements in the registers of each lane, from the low bits of the first register on.
    pub(super) fn slots(&self, first: usize, element: Element, sources: &[Source]) -> Vec<Vec<u64>> {
        let (bits, each) = (element.bits(), per_register(element));
        let of_lane = |lane: usize| {
            let words = sources.iter().map(|source| self.value(first + lane, *source));
            words.flat_map(|word| (0..each).map(move |at| word >> (bits * at as u32) & mask(bits))).collect()
        };
        (0..32).map(of_lane).collect()
    }

    /// The inverse of [`Cta::slots`].
    pub(super) fn put(&mut self, first: usize, element: Element, registers: &[Register], slots: &[Vec<u64>]) {
        let (bits, each) = (element.bits(), per_register(element));
        for (lane, slots) in slots.iter().enumerate() {
            for (register, parts) in registers.iter().zip(slots.chunks(each)) {
                let word = parts.iter().zip(0..).fold(0, |word, (part, at)| word | part << (bits * at));
                self.threads[first + lane].set(*register, word);
            }
        }
    }
}

/// The first lane of an operation of a whole warp.
fn whole_warp(lanes: &[usize]) -> Result<usize, String> {
    match lanes {
        [first, ..] if lanes.len() == 32 => Ok(*first),
        _ => Err("a lane that a matrix needs does not exist or has exited".into()),
    }
}

fn per_register(element: Element) -> usize {
    (32 / element.bits() as usize).max(1)
}

fn collect(
    (rows, cols): (usize, usize),
    slots: &[Vec<u64>],
    place: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<u64> {
    let mut out = vec![0; rows * cols];
    for (lane, slots) in slots.iter().enumerate() {
        for (index, value) in slots.iter().enumerate() {
            let (row, col) = place(lane, index);
            out[row * cols + col] = *value;
        }
    }
    out
}

/// The number of elements that a lane holds, which must be a whole number of copies.
fn copies((rows, cols): (usize, usize), slots: usize) -> Result<usize, String> {
    let each = rows * cols / 32;
    if each == 0 || slots == 0 || !slots.is_multiple_of(each) {
        return Err(format!("a fragment of {slots} elements a lane does not hold {rows} by {cols}"));
    }
    Ok(slots)
}

fn collect_opaque(extent: (usize, usize), slots: &[Vec<u64>]) -> Result<Vec<u64>, String> {
    let count = copies(extent, slots[0].len())?;
    let element = |at: usize| {
        let mut held = matrix::opaque_slots(extent, at, count).map(|(lane, slot)| slots[lane][slot]);
        let first = held.next().unwrap_or(0);
        if held.any(|other| other != first) {
            return Err("copies of an element of a fragment differ".to_string());
        }
        Ok(first)
    };
    (0..extent.0 * extent.1).map(element).collect()
}

fn deal_opaque(extent: (usize, usize), elements: &[u64], slots: &mut [Vec<u64>]) -> Result<(), String> {
    let count = copies(extent, slots[0].len())?;
    for (at, value) in elements.iter().enumerate() {
        matrix::opaque_slots(extent, at, count).for_each(|(lane, slot)| slots[lane][slot] = *value);
    }
    Ok(())
}

/// A lane's part of an 8 by 8 matrix: two neighbouring elements of row `lane / 4`, or of that column.
fn eighth(lane: usize, transposed: bool, element: impl Fn(usize, usize) -> u64) -> u64 {
    let (group, t) = (lane / 4, lane % 4);
    let of = |at: usize| if transposed { element(at, group) } else { element(group, at) };
    of(2 * t) | of(2 * t + 1) << 16
}

/// An element of an 8 by 8 matrix that lanes hold as in [`eighth`].
fn element_of(words: &[u64], transposed: bool, row: usize, col: usize) -> u64 {
    let (row, col) = if transposed { (col, row) } else { (row, col) };
    words[4 * row + col / 2] >> (16 * (col % 2)) & 0xffff
}
