//! The uses of a kernel's arguments: the pointers through which it loads and stores, and the types in which it computes
//! with numbers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{InspectedValue, ValueKind};
use crate::case::{Element, Role};
use crate::number::format::Format;
use crate::program::matrix::MatrixElement;
use crate::program::{
    self, Address, Async, BulkWrite, Far, Int, Int2, Op, Parameter, Program, RegId, Space, Src, Update,
    VariableId, Width,
};

/// The type of a parameter, if its PTX type determines one.
fn declared(name: &str) -> Option<Element> {
    let signed = name.strip_prefix('s').map(|bits| format!("i{bits}"));
    Element::parse(signed.as_deref().unwrap_or(name))
        .filter(|_| !name.starts_with('u') && !name.starts_with('b'))
}

/// The assumed type of a value of this size in bytes, if nothing else is known.
fn of_bytes(bytes: u32) -> Element {
    match bytes {
        1 => Element::Int { bytes: 1, signed: false },
        2 => Element::Float(Format::F16),
        8 => Element::Int { bytes: 8, signed: true },
        _ => Element::Int { bytes: 4, signed: true },
    }
}

fn role(loads: bool, stores: bool) -> Role {
    match (loads, stores) {
        (_, false) => Role::In,
        (false, true) => Role::Out,
        (true, true) => Role::InOut,
    }
}

/// The accesses through a pointer.
#[derive(Clone, Copy, Debug, Default)]
struct TensorUse {
    loads: bool,
    stores: bool,
    element: Option<Element>,
    bytes: u32,
    /// A bit for each combination of an accessed size in bytes and a sort: unknown, float or integer.
    sorts: u16,
}

impl TensorUse {
    /// Whether the accessed values have several types, or an unknown one.
    fn is_unsure(&self) -> bool {
        self.sorts.count_ones() > 1 || self.element.is_none()
    }

    /// Its kind; factors of products that are only copied have the given type.
    fn kind(&self, factor: Option<Element>) -> ValueKind {
        let role = role(self.loads, self.stores);
        let unknown = match self.bytes {
            4 => Element::Float(Format::F32),
            8 => Element::Float(Format::F64),
            bytes => of_bytes(bytes),
        };
        let copied = factor.filter(|_| role == Role::In);
        ValueKind::Tensor { element: self.element.or(copied).unwrap_or(unknown), role }
    }

    fn note(&mut self, element: Option<Element>, width: u32) {
        let sort = match element {
            None => 0,
            Some(Element::Float(_)) => 1,
            Some(Element::Int { .. } | Element::Bool) => 2,
        };
        self.sorts |= 1 << (3 * width.trailing_zeros().min(3) + sort);
        let element = element.map(|element| match element {
            // The access determines the size; the operation may be wider.
            Element::Int { signed, bytes } => Element::Int { bytes: width.min(bytes.max(width)), signed },
            Element::Float(_) | Element::Bool => element,
        });
        if let (None, _) | (Some(Element::Int { .. }), Some(Element::Float(_))) = (self.element, element) {
            self.element = element.or(self.element);
        }
        self.bytes = if self.bytes == 0 { width } else { self.bytes.min(width) };
    }
}

/// The most passes over a program; what is unknown after them stays unknown.
const PASSES: usize = 32;

/// Values beyond this number are not examined.
const MOST_VALUES: usize = 128;

/// The size of a tensor map in bytes.
const MAP_BYTES: u64 = 128;

/// Whether a parameter is an array of bytes: a struct, or a tensor map.
pub(super) fn is_struct(parameter: &Parameter) -> bool {
    parameter.element == "b8" && parameter.size > 1
}

/// The uses of a program's arguments.
pub(super) struct Uses {
    /// The arguments; for structs, the parts that it loads.
    taken: Vec<Taken>,
    /// By the index of the argument.
    tensors: BTreeMap<usize, TensorUse>,
    numbers: BTreeMap<usize, Element>,
    maps: Vec<(Taken, MapUse)>,
    /// The type of the factors of its matrix products.
    factor: Option<Element>,
}

/// The copies by a tensor map.
#[derive(Clone, Copy, Debug, Default)]
struct MapUse {
    rank: usize,
    loads: bool,
    stores: bool,
}

/// A parameter, or bytes of one that are loaded at once.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Taken {
    parameter: usize,
    offset: u64,
    size: u64,
}

impl Uses {
    pub(super) fn of(program: &Program) -> Uses {
        let types = Types::of(program);
        let pointers = Pointers::of(program);
        let (mut tensors, mut numbers) = (BTreeMap::<usize, TensorUse>::new(), BTreeMap::new());
        for (register, value) in &pointers.loaded {
            if let Some(element) = types.0.get(register) {
                numbers.insert(*value, *element);
            }
        }
        for inst in &program.insts {
            for Through { space, address, reads, writes, width, values } in through(&inst.op) {
                if !matches!(space, Space::Global | Space::Generic) {
                    continue;
                }
                let element = values.iter().find_map(|register| types.0.get(register)).copied();
                for value in pointers.bases(address) {
                    let tensor = tensors.entry(value).or_default();
                    tensor.loads |= reads;
                    tensor.stores |= writes;
                    tensor.note(element, width);
                }
            }
        }
        let factor = program.insts.iter().find_map(|inst| factor(&inst.op));
        Uses { taken: pointers.taken, tensors, numbers, maps: maps(program), factor }
    }

    /// The arguments with their inferred kinds.
    pub(super) fn values(&self, program: &Program) -> Vec<InspectedValue> {
        let mentioned = program.mentioned();
        let value = |(at, taken): (usize, &Taken)| {
            let Taken { parameter, offset, size } = *taken;
            let own = &program.parameters[parameter];
            let map = self.maps.iter().find(|(place, _)| place == taken).map(|(_, map)| *map);
            let map = map.or((is_struct(own) && size == MAP_BYTES).then(MapUse::default));
            let kind = match (self.tensors.get(&at), map) {
                (Some(tensor), _) => tensor.kind(self.factor),
                (None, Some(map)) => ValueKind::Map { rank: map.rank, role: role(map.loads, map.stores) },
                (None, None) => {
                    let fits = |element: &Element| u64::from(element.bytes()) == size;
                    let used = self.numbers.get(&at).copied().filter(fits);
                    ValueKind::Scalar(used.or(declared(&own.element)).unwrap_or(of_bytes(size as u32)))
                }
            };
            let is_unsure = self.tensors.get(&at).is_some_and(TensorUse::is_unsure);
            let is_used = is_struct(own) || mentioned.contains(&own.variable);
            InspectedValue { parameter, offset, size, kind, is_unsure, is_used }
        };
        self.taken.iter().enumerate().map(value).collect()
    }
}

/// The type of the factors of a matrix product.
fn factor(op: &Op) -> Option<Element> {
    let product = if let Op::Mma { product, .. } = op {
        product
    } else if let Op::Async(Async::Multiply(multiply)) = op {
        &multiply.product
    } else {
        return None;
    };
    if let MatrixElement::Float(format) = product.a { Some(Element::Float(format)) } else { None }
}

/// The arguments of a program, by parameters; for structs, the parts that it loads, without overlaps.
fn taken(program: &Program, loads: &[(RegId, Taken)]) -> Vec<Taken> {
    let mut all = Vec::new();
    for (parameter, own) in program.parameters.iter().enumerate() {
        if !is_struct(own) {
            all.push(Taken { parameter, offset: 0, size: own.size });
            continue;
        }
        let mut members: Vec<Taken> = loads.iter().map(|(_, taken)| *taken).collect();
        members.extend(maps(program).into_iter().map(|(taken, _)| taken));
        members.retain(|member| member.parameter == parameter && member.offset + member.size <= own.size);
        // Of several parts at one offset, the longest is taken.
        members.sort_by_key(|member| (member.offset, Reverse(member.size)));
        if members.is_empty() && own.size == MAP_BYTES && own.align >= 64 {
            all.push(Taken { parameter, offset: 0, size: own.size });
        }
        let mut end = 0;
        for member in members {
            if member.offset >= end {
                end = member.offset + member.size;
                all.push(member);
            }
        }
    }
    all
}

/// The variable and the offset of each register that holds an address of a variable.
struct Addresses(FxHashMap<RegId, (VariableId, i64)>);

impl Addresses {
    fn of(program: &Program) -> Addresses {
        let mut all = Addresses(FxHashMap::default());
        for inst in &program.insts {
            let found =
                if let Op::Mov { d, a, .. } | Op::Cvta { d, a, .. } | Op::CvtInt { d, a, .. } = &inst.op {
                    all.place(*a).map(|place| (*d, place))
                } else if let Op::Int2 { op: Int2::Add, d, a, b: Src::Imm(b), .. } = &inst.op {
                    let place = all.place(*a);
                    place.map(|(variable, offset)| (*d, (variable, offset.wrapping_add(*b as i64))))
                } else {
                    None
                };
            all.0.extend(found);
        }
        all
    }

    fn place(&self, source: Src) -> Option<(VariableId, i64)> {
        match source {
            Src::Symbol(variable, start) => Some((variable, start)),
            Src::Reg(register) => self.0.get(&register).copied(),
            Src::Imm(_) => None,
        }
    }

    /// The parameter that contains an address, and the offset in it.
    fn parameter(&self, program: &Program, address: Address) -> Option<(usize, i64)> {
        let (variable, start) = self.place(address.base)?;
        let parameter = program.parameters.iter().position(|own| own.variable == variable)?;
        Some((parameter, start.wrapping_add(address.offset)))
    }
}

/// The tensor maps among parameters and their members, found by the boxes that are copied by them.
fn maps(program: &Program) -> Vec<(Taken, MapUse)> {
    let addresses = Addresses::of(program);
    let mut all: Vec<(Taken, MapUse)> = Vec::new();
    for inst in &program.insts {
        let (far, loads, stores) = if let Op::Async(Async::BulkLoad { from, .. }) = &inst.op {
            (from, true, false)
        } else if let Op::Async(Async::BulkStore { to, write, .. }) = &inst.op {
            (to, matches!(write, BulkWrite::UpdatesElements(_)), true)
        } else {
            continue;
        };
        let Far::Tile { map, at } = far else { continue };
        let Some((parameter, offset)) = addresses.parameter(program, map.address) else { continue };
        let Ok(offset) = u64::try_from(offset) else { continue };
        let taken = Taken { parameter, offset, size: MAP_BYTES };
        let known = all.iter().position(|(place, _)| *place == taken).unwrap_or_else(|| {
            all.push((taken, MapUse::default()));
            all.len() - 1
        });
        let map = &mut all[known].1;
        map.rank = map.rank.max(at.len());
        map.loads |= loads;
        map.stores |= stores;
    }
    all
}

/// The registers that are loaded from parameters, and the part that each is loaded from.
fn loads(program: &Program) -> Vec<(RegId, Taken)> {
    let addresses = Addresses::of(program);
    let loaded = |op: &Op| -> Option<Vec<(RegId, Taken)>> {
        let Op::Load { space: Space::Param, address, width, d, .. } = op else { return None };
        let (parameter, start) = addresses.parameter(program, *address)?;
        let own = &program.parameters[parameter];
        let bytes = width.bytes();
        let places = d.iter().zip(0_i64..).filter_map(|(register, at)| {
            let offset = u64::try_from(start + at * i64::from(bytes)).ok()?;
            let taken = match is_struct(own) {
                true => Taken { parameter, offset, size: u64::from(bytes) },
                false => Taken { parameter, offset: 0, size: own.size },
            };
            Some(((*register)?, taken))
        });
        Some(places.collect())
    };
    program.insts.iter().filter_map(|inst| loaded(&inst.op)).flatten().collect()
}

/// An access to memory.
struct Through {
    space: Space,
    address: Address,
    reads: bool,
    writes: bool,
    /// The size of a value in bytes.
    width: u32,
    /// The registers that are loaded or stored.
    values: Vec<RegId>,
}

fn registers(sources: &[Src]) -> Vec<RegId> {
    sources
        .iter()
        .filter_map(|source| if let Src::Reg(register) = source { Some(*register) } else { None })
        .collect()
}

/// The accesses of an operation to global memory.
fn through(op: &Op) -> Vec<Through> {
    let (reads, writes) = (true, true);
    if let Op::Load { space, address, width, d, .. } = op {
        let values = d.iter().flatten().copied().collect();
        return vec![Through {
            space: *space,
            address: *address,
            reads,
            writes: false,
            width: width.bytes(),
            values,
        }];
    }
    if let Op::Store { space, address, width, a, .. } = op {
        let (width, values) = (width.bytes(), registers(a));
        return vec![Through { space: *space, address: *address, reads: false, writes, width, values }];
    }
    if let Op::Atomic { update, space, address, a, .. } = op {
        let (width, values) = (update.bytes(), registers(std::slice::from_ref(a)));
        return vec![Through { space: *space, address: *address, reads, writes, width, values }];
    }
    if let Op::Swap(swap) = op {
        let (width, values) = (swap.width.bytes(), registers(std::slice::from_ref(&swap.new)));
        return vec![Through { space: swap.space, address: swap.address, reads, writes, width, values }];
    }
    if let Op::LoadFragment { fragment, space, address, .. } = op {
        let width = if fragment.element.is_integer() { 1 } else { 2 };
        return vec![Through {
            space: *space,
            address: *address,
            reads,
            writes: false,
            width,
            values: Vec::new(),
        }];
    }
    if let Op::StoreFragment { space, address, .. } = op {
        return vec![Through {
            space: *space,
            address: *address,
            reads: false,
            writes,
            width: 4,
            values: Vec::new(),
        }];
    }
    let bulk = |place: program::MemoryPlace, reads, writes| Through {
        space: place.space,
        address: place.address,
        reads,
        writes,
        width: 4,
        values: Vec::new(),
    };
    if let Op::Async(Async::Copy { from, .. }) = op {
        return vec![bulk(program::MemoryPlace { space: Space::Global, address: *from }, true, false)];
    }
    if let Op::Async(Async::BulkLoad { from: Far::Bytes { at, .. }, .. }) = op {
        return vec![bulk(*at, true, false)];
    }
    if let Op::Async(Async::BulkStore { to: Far::Bytes { at, .. }, write, .. }) = op {
        return vec![bulk(*at, matches!(write, BulkWrite::Updates(_)), true)];
    }
    if let Op::Async(Async::StoreFar { to, barrier: None, update, .. }) = op {
        return vec![bulk(*to, update.is_some(), true)];
    }
    Vec::new()
}

/// The arguments from which addresses in registers may be computed, anywhere in the program.
struct Pointers {
    taken: Vec<Taken>,
    /// The argument from which a register is loaded.
    loaded: FxHashMap<RegId, usize>,
    /// A bit for each argument.
    registers: FxHashMap<RegId, u128>,
    /// The arguments that are converted to addresses in global memory.
    converted: u128,
}

impl Pointers {
    fn of(program: &Program) -> Pointers {
        let loads = loads(program);
        let mut all = Pointers {
            taken: taken(program, &loads),
            loaded: FxHashMap::default(),
            registers: FxHashMap::default(),
            converted: 0,
        };
        for (register, taken) in loads {
            if let Some(value) = all.taken.iter().take(MOST_VALUES).position(|value| *value == taken) {
                all.loaded.insert(register, value);
                all.registers.insert(register, 1 << value);
            }
        }
        for _ in 0..PASSES {
            let before = all.registers.clone();
            for inst in &program.insts {
                if let Some((d, sources)) = moved(&inst.op) {
                    let bits = sources.iter().fold(0, |bits, source| bits | all.of_source(*source));
                    *all.registers.entry(d).or_default() |= bits;
                }
                if let Op::Cvta { a, .. } = &inst.op {
                    let own = all.of_source(*a);
                    all.converted |= if own.is_power_of_two() { own } else { 0 };
                }
            }
            if before == all.registers {
                break;
            }
        }
        all
    }

    fn of_source(&self, source: Src) -> u128 {
        if let Src::Reg(register) = source { self.registers.get(&register).copied().unwrap_or(0) } else { 0 }
    }

    /// The arguments from which an address is computed; numbers are left out if pointers are known.
    fn bases(&self, address: Address) -> impl Iterator<Item = usize> + use<> {
        let all = self.of_source(address.base);
        let bits = if all & self.converted != 0 { all & self.converted } else { all };
        (0..MOST_VALUES).filter(move |at| bits >> at & 1 == 1)
    }
}

/// A result that is an address if its operands are, with these operands.
fn moved(op: &Op) -> Option<(RegId, Vec<Src>)> {
    if let Op::Mov { d, a, .. } | Op::Cvta { d, a, .. } = op {
        return Some((*d, vec![*a]));
    }
    if let Op::Int2 { op: Int2::Add | Int2::Sub, d, a, b, .. } | Op::Select { d, a, b, .. } = op {
        return Some((*d, vec![*a, *b]));
    }
    if let Op::Int3 { d, c, .. } = op { Some((*d, vec![*c])) } else { None }
}

/// The types in which registers are used; a float type takes precedence over an integer type.
#[derive(Default)]
struct Types(FxHashMap<RegId, Element>);

impl Types {
    fn of(program: &Program) -> Types {
        let mut types = Types::default();
        for inst in &program.insts {
            types.computed(&inst.op);
        }
        for _ in 0..PASSES {
            let before = types.0.len();
            program.insts.iter().for_each(|inst| types.passed_on(&inst.op));
            if types.0.len() == before {
                break;
            }
        }
        types
    }

    fn vote(&mut self, source: Src, element: Element) {
        let Src::Reg(register) = source else { return };
        let known = self.0.entry(register).or_insert(element);
        if let (Element::Int { .. }, Element::Float(_)) = (*known, element) {
            *known = element;
        }
    }

    fn of_source(&self, source: Src) -> Option<Element> {
        if let Src::Reg(register) = source { self.0.get(&register).copied() } else { None }
    }

    /// Operations that determine the types of their operands and results.
    fn computed(&mut self, op: &Op) {
        let matrix = |element: MatrixElement| {
            if let MatrixElement::Float(format) = element { Some(Element::Float(format)) } else { None }
        };
        if let Op::Mma { product, d, a, b, c } = op {
            let results: Vec<Src> = d.iter().map(|d| Src::Reg(*d)).collect();
            for (sources, element) in [(&results, product.d), (a, product.a), (b, product.b), (c, product.c)]
            {
                if let Some(element) = matrix(element) {
                    sources.iter().for_each(|source| self.vote(*source, element));
                }
            }
        }
        let int = |ty: &Int| Element::Int { bytes: ty.width.bytes(), signed: ty.signed };
        if let Op::Float1 { format, d, a, .. } = op {
            [Src::Reg(*d), *a].into_iter().for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::Float2 { format, d, a, b, .. } = op {
            [Src::Reg(*d), *a, *b].into_iter().for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::Fma { format, d, a, b, c, .. } = op {
            [Src::Reg(*d), *a, *b, *c]
                .into_iter()
                .for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::SetpFloat { format, a, b, .. } = op {
            [*a, *b].into_iter().for_each(|source| self.vote(source, Element::Float(*format)));
        } else if let Op::CvtFloat { from, to, d, a, .. } = op {
            self.vote(*a, Element::Float(*from));
            self.vote(Src::Reg(*d), Element::Float(*to));
        } else if let Op::IntToFloat { from, to, d, a, .. } = op {
            self.vote(*a, int(from));
            self.vote(Src::Reg(*d), Element::Float(*to));
        } else if let Op::FloatToInt { from, to, d, a, .. } = op {
            self.vote(*a, Element::Float(*from));
            self.vote(Src::Reg(*d), int(to));
        } else if let Op::Int2 { ty, d, a, b, .. } = op {
            [Src::Reg(*d), *a, *b].into_iter().for_each(|source| self.vote(source, int(ty)));
        } else if let Op::Int3 { ty, a, b, .. } = op {
            [*a, *b].into_iter().for_each(|source| self.vote(source, int(ty)));
        } else if let Op::SetpInt { ty, a, b, .. } = op {
            [*a, *b].into_iter().for_each(|source| self.vote(source, int(ty)));
        } else if let Op::CvtInt { from, to, d, a, .. } = op {
            self.vote(*a, int(from));
            self.vote(Src::Reg(*d), int(to));
        } else if let Op::Atomic { update, a, .. } = op {
            let element = match update {
                Update::Real(format) | Update::Extreme { format, .. } | Update::RealInWord { format, .. } => {
                    Element::Float(*format)
                }
                Update::Integer(_, ty) => int(ty),
                Update::Counter { .. } => int(&Int { width: Width::W32, signed: false }),
            };
            self.vote(*a, element);
        }
    }

    /// Operations with results of the same type as their operands.
    fn passed_on(&mut self, op: &Op) {
        let list = if let Op::Mov { d, a, .. } | Op::Shuffle { d: Some(d), a, .. } = op {
            vec![Src::Reg(*d), *a]
        } else if let Op::Select { d, a, b, .. } = op {
            vec![Src::Reg(*d), *a, *b]
        } else if let Op::Pack { d, parts, part } = op {
            let is_f32 = self.of_source(Src::Reg(*d)) == Some(Element::Float(Format::F32));
            if let ([Src::Imm(0), high], Width::W16, true) = (parts.as_slice(), part, is_f32) {
                self.vote(*high, Element::Float(Format::Bf16));
                return;
            }
            std::iter::once(Src::Reg(*d)).chain(parts.iter().copied()).collect()
        } else if let Op::Unpack { d, a, .. } = op {
            std::iter::once(*a).chain(d.iter().flatten().map(|part| Src::Reg(*part))).collect()
        } else {
            return;
        };
        let known = list.iter().filter_map(|source| self.of_source(*source));
        let best = known.reduce(|best, next| match (best, next) {
            (Element::Int { .. }, Element::Float(_)) => next,
            _ => best,
        });
        if let Some(best) = best {
            list.into_iter().for_each(|source| self.vote(source, best));
        }
    }
}
