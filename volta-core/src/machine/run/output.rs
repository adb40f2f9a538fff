//! Elements of outputs: what a CTA leaves in them, as elements of the type that their tensor declares.

use crate::case::{Element, Param, Role, Rules, Which};
use crate::concurrency::order::Access;
use crate::concurrency::race::VectorClockDetector;
use crate::launch::Launch;
use crate::launch::advice::{origin_site, undefined_help};
use crate::launch::objects::PAGE;
use crate::launch::tensor::{ElementAt, Tensor};
use crate::machine::cta::accesses::UnwrittenReads;
use crate::machine::group::context::Context;
use crate::machine::memory::contents::Page;
use crate::number::Rational;
use crate::number::format::{Format, to_f64};
use crate::program::InstId;
use crate::term::{Ranges, Store, TermId};
use crate::value::int_terms::{self, IntTerms, exactly};
use crate::value::masks::Masks;
use crate::value::packed::{Cell, PackedValues};
use crate::value::{Origin, SymKind, Value};
use crate::verdict::{Fault, FaultKind, Site};

/// The contents of an output element after the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputValue {
    /// A real, as a term of the CTA's store.
    Real(TermId),
    /// A known integer.
    Bits(u64),
    /// An integer that depends on the input, as a number of the tensor's type.
    Integer(TermId),
}

impl OutputValue {
    /// Its term, if it has one.
    pub fn term(self) -> Option<TermId> {
        match self {
            OutputValue::Real(term) | OutputValue::Integer(term) => Some(term),
            OutputValue::Bits(_) => None,
        }
    }

    /// The same contents with terms of another store.
    pub(crate) fn map(self, copy: impl FnOnce(TermId) -> TermId) -> OutputValue {
        match self {
            OutputValue::Bits(bits) => OutputValue::Bits(bits),
            OutputValue::Real(term) => OutputValue::Real(copy(term)),
            OutputValue::Integer(term) => OutputValue::Integer(copy(term)),
        }
    }

    /// Its number in an element of this type, as a term.
    pub(super) fn number(self, ty: Element, store: &mut Store) -> TermId {
        match self {
            OutputValue::Real(term) | OutputValue::Integer(term) => term,
            OutputValue::Bits(bits) => integer_constant(ty, bits, store),
        }
    }
}

/// A written element of an output tensor.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// The tensor's parameter in the case.
    pub param: usize,
    /// Row-major element number.
    pub element: u64,
    /// The index of the store, among those of the execution, to which the value belongs.
    pub store: usize,
    /// Its value.
    pub value: OutputValue,
}

impl Output {
    pub(super) fn place(&self) -> (usize, u64) {
        (self.param, self.element)
    }
}

/// The elements of a page with at least one written or updated byte, each with its offset in the page in bytes.
pub(super) fn written_elements<'p>(
    tensor: &'p Tensor,
    page: u64,
    content: &'p Page,
) -> impl Iterator<Item = (ElementAt<'p>, usize)> + 'p {
    let start = page * 4 * PAGE as u64;
    // Elements, including those of structs, lie at multiples of their sizes.
    (0..4 * PAGE).step_by(tensor.element.bytes() as usize).filter_map(move |first| {
        let at = tensor.element_at(start + first as u64).filter(|at| at.byte == 0)?;
        let written = (first..first + at.tensor.element.bytes() as usize)
            .any(|byte| content.changed(byte / 4) >> (byte % 4) & 1 == 1);
        written.then_some((at, first))
    })
}

/// Gives all cells of elements of which a part was written their initial contents.
pub(super) fn fill_written(
    (tensor, page): (&Tensor, u64),
    content: &mut Page,
    (packed, store): (&mut PackedValues, &mut Store),
) {
    if !tensor.has_left() {
        return;
    }
    let written = written_elements(tensor, page, content);
    let cells = written.flat_map(|(at, first)| {
        (first as u64 / 4)..(first as u64 + u64::from(at.tensor.element.bytes())).div_ceil(4)
    });
    let cells: Vec<u64> = cells.collect();
    for cell in cells {
        content.fill(page * PAGE as u64 + cell, tensor, (packed, store), InstId(u32::MAX));
    }
}

/// The contents of an element of a page.
pub(crate) fn element_value(
    tensor: &Tensor,
    content: &Page,
    first: usize,
    packed: &mut PackedValues,
    store: &mut Store,
) -> Value {
    let bytes = tensor.element.bytes();
    let reader = InstId(u32::MAX);
    if bytes == 4
        && let Some(value) = content.cells[first / 4].whole(reader)
    {
        return value;
    }
    let mut pieces = Vec::new();
    for cell in first / 4..(first + bytes as usize).div_ceil(4) {
        let cell: Cell = content.cells[cell];
        pieces.extend(cell.pieces(packed, reader));
    }
    match int_terms::slice(&pieces, (first % 4) as u32, bytes, store) {
        Ok(slice) => packed.join(&slice),
        Err(_) => packed.join(&pieces),
    }
}

/// An error of an output: the kind of fault, its rule, a description, and where the value became undefined, if it is.
pub(super) type WrongOutput = (FaultKind, &'static str, String, Option<Origin>);

/// What is wrong with an output that has no value for some inputs.
pub(super) const IN_PART: &str = "is written, or computed from what is written, for some inputs only";

/// What an element of a tensor holds before the launch, if it has a value.
pub(super) fn value_before(
    tensor: &Tensor,
    element: u64,
    store: &mut Store,
    masks: &mut Masks,
) -> Option<OutputValue> {
    let value = tensor.value(element, store, InstId(u32::MAX));
    let (mut packed, mut ranges) = (PackedValues::default(), Ranges::default());
    let mut residues = IntTerms { packed: &mut packed, store, ranges: &mut ranges, pc: InstId(0) };
    output_value(tensor, value, &mut residues, masks).ok()
}

/// A value as an element of the type that the tensor declares.
pub(super) fn output_value(
    tensor: &Tensor,
    value: Value,
    residues: &mut IntTerms<'_>,
    masks: &mut Masks,
) -> Result<OutputValue, WrongOutput> {
    let name = tensor.element.name();
    if let Some(origin) = residues.packed.undefined_part(value) {
        use FaultKind::{Nondeterministic, Undefined, Uninitialised, Unsupported};
        let (kind, rule, what) = match residues.packed.leaf(origin) {
            Origin::Unwritten(_) if origin.number().is_some() => (Uninitialised, "V6", IN_PART),
            Origin::Unwritten(_) => {
                (Uninitialised, "V6", "is computed from uninitialised memory or registers")
            }
            Origin::Unpredictable(_) | Origin::State(_) | Origin::Columns(_) => {
                (Nondeterministic, "S4", "is computed from a value that is not determined by the launch")
            }
            Origin::Invalid(_) | Origin::Doubtful(_) | Origin::Partly(_) => {
                (Undefined, "V6", "is undefined: an operation that it depends on has no value")
            }
            Origin::Unevaluated(_) => {
                (Unsupported, "S2", "depends on the result of an instruction whose value is not supported")
            }
        };
        return Err((kind, rule, what.into(), Some(origin)));
    }
    let mismatch = |held: &str| {
        let what = format!("is declared {name}, but {held} is stored in it");
        (FaultKind::TypeMismatch, "V1", what, None)
    };
    let is_single = |format| matches!(format, Format::F32 | Format::Tf32);
    let value = match tensor.element {
        Element::Float(format) if is_single(format) => residues.packed.as_f32(value),
        Element::Float(_) | Element::Int { .. } | Element::Bool => value,
    };
    if let (Element::Float(_), Some(choice)) = (tensor.element, residues.packed.as_choice(value)) {
        let mut arm = |value| match output_value(tensor, value, residues, masks)? {
            OutputValue::Real(term) => Ok(term),
            OutputValue::Bits(_) | OutputValue::Integer(_) => Err(mismatch("an integer")),
        };
        let (then, otherwise) = (arm(choice.then)?, arm(choice.otherwise)?);
        let term = residues.chosen(choice.condition, then, otherwise);
        return Ok(OutputValue::Real(term));
    }
    if let (Some((bytes, signed)), Value::Sym(_)) = (tensor.element.integer(), value)
        && let Some(term) = residues.residue(value, bytes)
    {
        let number = residues.read(term, 8 * bytes, signed);
        return Ok(OutputValue::Integer(number));
    }
    if let (Element::Float(format), Value::Sym(_)) = (tensor.element, value)
        && let Some(number) = residues.spelled(value, format)
    {
        return Ok(OutputValue::Real(number));
    }
    match (tensor.element, value) {
        (Element::Float(format), Value::Bits(bits)) if residues.store.is_ieee() => {
            Ok(OutputValue::Real(residues.store.ieee_number(to_f64(format, bits))))
        }
        (Element::Float(format), Value::Bits(bits)) => match masks.constant(format, bits) {
            Some(constant) => Ok(OutputValue::Real(residues.store.intern(constant))),
            None => Err((FaultKind::Undefined, "V2", "is NaN".into(), None)),
        },
        (Element::Int { .. } | Element::Bool, Value::Bits(bits)) => Ok(OutputValue::Bits(bits)),
        (_, Value::Undefined(origin)) => {
            Err((FaultKind::Uninitialised, "V6", "is undefined".into(), Some(origin)))
        }
        (element, Value::Sym(sym)) => match (element, sym.kind()) {
            (Element::Float(format), SymKind::Real(held, term))
                if format == held || is_single(format) && is_single(held) =>
            {
                Ok(OutputValue::Real(term))
            }
            (_, SymKind::Real(held, _)) => Err(mismatch(&format!("a real in format {}", held.name()))),
            (_, SymKind::Int(held, _)) => {
                Err(mismatch(&format!("an integer of {held} bytes that depends on the input")))
            }
            (_, SymKind::Half64(..)) => Err(mismatch("half of an f64")),
            (_, SymKind::Pair(..) | SymKind::Packed(_)) => Err(mismatch("a pack of smaller values")),
            (_, SymKind::Fragment { .. }) => {
                Err(mismatch("some element of a `wmma` fragment (which one is not specified)"))
            }
            (_, SymKind::Choice(_) | SymKind::Partly(_)) => Err(mismatch("a choice between encodings")),
            (_, SymKind::Ticket(_)) => {
                Err((FaultKind::Unsupported, "Y18", "depends on the order of atomic operations".into(), None))
            }
            (_, SymKind::Answer(_)) => {
                let what = "depends on whether a phase of a barrier was complete when it was tested once";
                Err((FaultKind::Nondeterministic, "Y9", what.into(), None))
            }
        },
    }
}

/// The contents of an element of an output before the launch, as the tensor of `which` declares it; `None` if it has
/// none.
pub fn initial_value(
    which: Which,
    param: &Param,
    at: usize,
    element: u64,
    store: &mut Store,
    rules: &Rules,
) -> Option<OutputValue> {
    let one = param.listed(element);
    let tensor = crate::launch::tensor::tensor(which, at, one.as_ref().unwrap_or(param)).ok().flatten()?;
    value_before(&tensor, element, store, &mut Masks::new(rules))
}

/// The number that bits represent in a type, as a term.
pub fn integer_constant(ty: Element, bits: u64, store: &mut Store) -> TermId {
    let (top, signed) = ty.integer().map_or((0, false), |(bytes, signed)| (64 - 8 * bytes, signed));
    let bits = bits << top;
    let number = if signed { i128::from(bits as i64 >> top) } else { i128::from(bits >> top) };
    exactly(store, Rational::from_i128(number))
}

/// An element of a tensor that a step leaves without a value that those after it could use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The tensor's parameter in the case.
    pub param: usize,
    /// Row-major element number.
    pub element: u64,
    /// The step, by its number.
    pub step: usize,
    /// The fault that it is if the element is compared.
    pub kind: FaultKind,
    /// The rule that this breaks.
    pub rule: &'static str,
    /// What is wrong with the value, without a subject.
    pub what: String,
}

impl Lost {
    pub(crate) fn place(&self) -> (usize, u64) {
        (self.param, self.element)
    }
}

impl Launch<'_> {
    /// The fault of an output element with this error.
    pub(super) fn output_fault(&self, at: ElementAt<'_>, wrong: WrongOutput, sites: Vec<Site>) -> Fault {
        let (kind, rule, what, _) = wrong;
        let place = self.spell(at).unwrap_or_else(|| at.tensor.name.clone());
        let is_output = matches!(at.tensor.role, Role::Out | Role::InOut);
        let message =
            if is_output { format!("the output {place} {what}") } else { format!("{place} {what}") };
        let typed = (kind == FaultKind::TypeMismatch && self.is_followed)
            .then(|| "between launches, a tensor holds elements of its declared type".to_owned());
        let help = typed.or(undefined_help(kind).map(str::to_owned));
        Fault::new(self.which, kind, rule, message, sites, help)
    }
}

impl Context<'_> {
    /// The last write to a cell of an output, and where its value became undefined, as recorded by a run with vector
    /// clocks.
    pub(super) fn sites_of(
        &self,
        (tensor, cell): (u32, u64),
        (exact, unwritten, packed): (&VectorClockDetector, &UnwrittenReads, &PackedValues),
        origin: Option<Origin>,
    ) -> Vec<Site> {
        let object = self.launch.objects.of_tensor(tensor);
        let written = object.and_then(|object| exact.history(object, cell).0.last().copied());
        let site = |access: Access| self.site_of_thread("writes it".into(), access.thread, access.inst);
        let read = |origin: Origin| {
            let leaf = packed.leaf(origin);
            let noted = unwritten.get(&origin.raw()).or_else(|| unwritten.get(&leaf.raw()));
            noted.cloned().or_else(|| origin_site(self.launch, leaf))
        };
        written.map(site).into_iter().chain(origin.and_then(read)).collect()
    }
}
