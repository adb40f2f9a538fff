//! Operations on reals (rules V2, V3, V10).
//!
//! Lanes that are all constants fold exactly; a result that its format holds exactly stays concrete bits. The
//! rest of the lanes make one node.

use super::predicates::CompareInst;
use crate::base::assumption::Assumption;
use crate::base::lane::{Lane, LaneMask};
use crate::launch::advice::declared_otherwise;
use crate::machine::cta::accesses::Arithmetic;
use crate::machine::group::context::Context;
use crate::machine::group::stop::Stop;
use crate::machine::group::values::Reals;
use crate::machine::group::warp::{At, Step};
use crate::number::format::{Decoded, Format, decode};
use crate::number::{Extended, Rational, Rounded};
use crate::program::{Clamp, Compare, FloatCompare, InstId, Src};
use crate::term::{Constant, Kind, Reads, Results, TermId, TermKind, TermOp};
use crate::value::float_inst::{FloatInst, Shape};
use crate::value::int_terms::{number, whole};
use crate::value::known_floats::Undecided;
use crate::value::packed::low_bytes;
use crate::value::register::{Affine, Register};
use crate::value::{Origin, Sym, SymKind, Truth, Value};
use crate::verdict::FaultKind;
use smallvec::{SmallVec, smallvec};

/// An operand as terms: raw ids, and the lanes whose term is known.
#[derive(Default)]
pub(crate) struct Terms {
    pub(crate) ids: [u64; 32],
    pub(crate) known: LaneMask,
    pub(crate) undefined: LaneMask,
}

/// The operands of an instruction as terms.
pub(super) struct OperandTerms {
    pub(crate) terms: [Terms; 3],
    /// The lanes in which all terms are known, and those in which one is undefined.
    pub(crate) known: LaneMask,
    pub(crate) undefined: LaneMask,
}

/// Steps above this are not treated as affine, since comparisons of words may then wrap around.
const MOST_STEP: i64 = 1 << 44;

const LOW: u64 = Sym::PAYLOAD;

/// The tag inside a term id has its lowest bit set for constants only.
const CONSTANT: u64 = 1 << 54;

/// Whether the lanes of `mask` hold reals in a format, none of them a constant.
#[inline]
pub(super) fn holds_unknown_reals(register: &Register, mask: LaneMask, format: Format) -> bool {
    if register.sym & mask != mask {
        return false;
    }
    let odd = |word: u64| (word ^ Sym::real_tag(format)) & !LOW | word & CONSTANT;
    let words = register.words();
    if mask.is_all() {
        return words.iter().fold(0, |all, word| all | odd(*word)) == 0;
    }
    mask.iter().all(|lane| odd(words[lane]) == 0)
}

/// The raw term ids of affine symbolic words, if they are reals in a format, and not constants.
#[inline]
pub(crate) fn raw_reals<const B: usize>(affine: Affine<B>, format: Format) -> Option<Affine<B>> {
    // All ids between two terms of a kind are of that kind.
    let odd = |word: u64| (word ^ Sym::real_tag(format)) & !LOW | word & CONSTANT;
    let near = affine.steps.iter().all(|step| (-MOST_STEP..=MOST_STEP).contains(step));
    let [low, high] = affine.min_max();
    (near && odd(low) | odd(high) == 0).then_some(Affine { first: affine.first & LOW, steps: affine.steps })
}

/// Writes a warp's results to the lanes of `mask`.
#[inline]
pub(crate) fn set_reals(register: &mut Register, format: Format, mask: LaneMask, id: impl Fn(Lane) -> u64) {
    let tag = Sym::real_tag(format);
    if mask.is_all() {
        return register.set_words(&Lane::each(|lane| tag | id(lane)), true);
    }
    let words = register.words_mut();
    for lane in mask {
        words[lane] = tag | id(lane);
    }
    register.sym |= mask;
    register.undefined &= !mask;
}

/// Like [`set_reals`], for the results of an instruction.
#[inline]
pub(super) fn set_results(register: &mut Register, format: Format, mask: LaneMask, results: Results) {
    if mask.is_all() {
        let stride = results.lane(Lane::at(1)).wrapping_sub(results.lane(Lane::FIRST)) as i64;
        register.set_affine(Affine::strided(Sym::real_tag(format) | results.lane(Lane::FIRST), stride), true);
    } else {
        set_reals(register, format, mask, |lane| results.lane(lane));
    }
}

impl Arithmetic<'_, '_> {
    /// Executes a float operation.
    #[inline]
    pub(crate) fn float(&mut self, mut step: Step<'_>, inst: &FloatInst) -> Result<(), Stop> {
        if let (TermOp::CopySign, [sign, magnitude]) = (inst.shape.op, &inst.sources[..]) {
            step.mask = self.copy_known_signs(&mut step, inst, [*sign, *magnitude])?;
        }
        if self.values.terms.store.explains() {
            step.mask = self.values.reals().keep_nan(&mut step, inst);
        }
        if step.mask.is_empty() || self.values.matrices().fragment_float(&mut step, inst)?.is_some() {
            return Ok(());
        }
        self.float_by_lanes(step, inst)
    }

    /// Copies known signs to magnitudes, and returns the remaining lanes.
    fn copy_known_signs(
        &mut self,
        step: &mut Step<'_>,
        FloatInst { shape, d, .. }: &FloatInst,
        [sign, magnitude]: [Src; 2],
    ) -> Result<LaneMask, Stop> {
        let mut masks = [LaneMask::NONE; 2];
        for lane in step.mask {
            let term = match self.context.value(step.warp, sign, lane) {
                Value::Sym(sym) => {
                    let SymKind::Real(_, term) = sym.kind() else { continue };
                    term
                }
                Value::Bits(bits) => match self.values.reals().literal(shape.format, bits) {
                    Some(raw) => TermId::from_raw(raw),
                    None => continue,
                },
                Value::Undefined(_) => continue,
            };
            if self.values.numbers.known.contains(term.raw()) {
                let negative =
                    self.values.numbers.known.is_negative(&self.values.terms.store, term, shape.format);
                let negative =
                    negative.map_err(|what| self.context.depends_on_rounding(step.at(lane), what))?;
                masks[usize::from(negative)] |= LaneMask::of(lane);
            }
        }
        let [positive, negative] = masks;
        if !(positive | negative).is_empty() {
            let inst = |op, a| FloatInst { shape: Shape { op, ..*shape }, d: *d, sources: smallvec![a] };
            self.float(step.of(positive | negative), &inst(TermOp::Abs, magnitude))?;
            if !negative.is_empty() {
                self.float(step.of(negative), &inst(TermOp::Neg, Src::Reg(*d)))?;
            }
        }
        Ok(step.mask & !positive & !negative)
    }

    /// Like [`Arithmetic::float`], lane by lane, where operands have no common form.
    #[inline(never)] // Outlined so that the fast path does not pay for this frame.
    fn float_by_lanes(&mut self, mut step: Step<'_>, inst: &FloatInst) -> Result<(), Stop> {
        let FloatInst { shape, d, ref sources } = *inst;
        let OperandTerms { terms: operands, known, undefined } =
            self.values.reals().operands(&step, shape.format, sources)?;
        let operands = &operands[..sources.len()];
        let rest = step.mask & !undefined & !known;
        if !rest.is_empty() {
            self.values.reals().symbolic_float(step.of(rest), inst, operands);
        }
        // Lanes often hold the same numbers.
        let mut last: Option<(SmallVec<[TermId; 3]>, Value)> = None;
        for lane in known {
            let ids: SmallVec<[TermId; 3]> =
                operands.iter().map(|terms| TermId::from_raw(terms.ids[lane])).collect();
            let value = match last.take() {
                Some((same, value)) if same == ids => value,
                Some(_) | None => {
                    self.values.terms.store.note_folded(&ids);
                    let work = work_of_fold(shape.op);
                    self.work.looked_at += work;
                    if work > FEW_STEPS {
                        self.work.check_more(0)?;
                    }
                    self.fold_float(shape, &ids, step.pc)
                }
            };
            step.set(d, lane, value);
            last = Some((ids, value));
        }
        for lane in undefined {
            step.set(d, lane, self.values.terms.no_value(step.at(lane), sources));
        }
        Ok(())
    }

    /// Applies an operation to known values.
    pub(crate) fn fold_float(&mut self, shape: Shape, ids: &[TermId], pc: InstId) -> Value {
        if let Some(value) = self.values.reals().known_floor_step(shape, ids, pc) {
            return value;
        }
        self.work.counts.at_known_points =
            self.work.counts.at_known_points || self.values.reals().is_step_of_function(shape.op, ids);
        let mut ids: SmallVec<[TermId; 3]> = ids.into();
        if let (TermOp::Mul | TermOp::Fma, [a, b, ..]) = (shape.op, &mut ids[..]) {
            // A mask that is multiplied by 0 is an ordinary number: `(1 - seen) * -1e9`.
            let is_zero = |id| number(&self.values.terms.store, id) == Some(&Rational::ZERO);
            if is_zero(*a) || is_zero(*b) {
                [*a, *b] = [*a, *b].map(|factor| self.values.reals().number_of_mask(factor));
            }
        }
        self.values.numbers.known.fold(&mut self.values.terms.store, shape, &ids, pc)
    }

    /// Applies an operation to terms.
    pub(super) fn float_value(&mut self, shape: Shape, ids: &[TermId], pc: InstId) -> Value {
        if ids.iter().all(|id| id.is_constant()) {
            return self.fold_float(shape, ids, pc);
        }
        Value::Sym(Sym::real(shape.format, self.values.terms.store.apply(shape.op, ids, pc)))
    }
}

/// What folding takes, in operations looked at, where limits need no look of its own.
const FEW_STEPS: u64 = 8;

/// What folding takes, in operations looked at: some hundreds of steps of arithmetic on long numbers for a function.
fn work_of_fold(op: TermOp) -> u64 {
    match op.kind() {
        Kind::Exponential | Kind::Function(_) => 256,
        Kind::Sum(_) | Kind::Product(_) | Kind::Piecewise(_) | Kind::Condition(_) | Kind::Ieee => FEW_STEPS,
    }
}

impl Reals<'_, '_> {
    /// Sums and products of known numbers with a NaN are NaN. A library function may have one in an arm: it is kept as
    /// the value that its bits encode, whatever they are. Returns the remaining lanes.
    fn keep_nan(&mut self, step: &mut Step<'_>, FloatInst { shape, d, sources }: &FloatInst) -> LaneMask {
        let format = shape.format;
        if !matches!(shape.op.kind(), Kind::Sum(_) | Kind::Product(_)) || shape.clamp != Clamp::None {
            return step.mask;
        }
        let mut left = step.mask;
        for lane in step.mask {
            let values =
                sources.iter().map(|source| match self.terms.context.value(step.warp, *source, lane) {
                    Value::Bits(bits) => Some(bits & low_bytes(format.bytes())),
                    Value::Sym(_) | Value::Undefined(_) => None,
                });
            let Some(values) = values.collect::<Option<SmallVec<[u64; 3]>>>() else { continue };
            let nan = values.into_iter().find(|bits| decode(format, *bits) == Decoded::Nan);
            if let Some(nan) = nan
                && let Some(term) = self.terms.int_terms(step.pc).spelling(nan, format)
            {
                step.set(*d, lane, Value::Sym(Sym::real(format, term)));
                left &= !LaneMask::of(lane);
            }
        }
        left
    }

    /// Creates one node for the lanes of `rest`.
    #[inline]
    fn symbolic_float(&mut self, step: Step<'_>, inst: &FloatInst, operands: &[Terms]) {
        let (shape, rest, pc) = (inst.shape, step.mask, step.pc);
        let may_floor = shape.op == TermOp::Fma && shape.rounds_down() && shape.format == Format::F32;
        let results = match operands {
            [a, b, c]
                if may_floor && let Some(steps) = self.floor_step(rest, [&a.ids, &b.ids, &c.ids], pc) =>
            {
                steps
            }
            [a] => self.terms.store.push_shared(shape.op, rest, &[&a.ids], pc),
            [a, b] => self.terms.store.push_shared(shape.op, rest, &[&a.ids, &b.ids], pc),
            [a, b, c] => self.terms.store.push_shared(shape.op, rest, &[&a.ids, &b.ids, &c.ids], pc),
            _ => return,
        };
        let results = self.clamp_all(shape.clamp, rest, results, pc);
        set_results(step.warp.register_mut(inst.d), shape.format, rest, results);
    }

    /// Clamps the values of a warp.
    pub(crate) fn clamp_all(
        &mut self,
        clamp: Clamp,
        mask: LaneMask,
        results: Results,
        pc: InstId,
    ) -> Results {
        if clamp == Clamp::None {
            return results;
        }
        self.clamp_ids(clamp, mask, &results.all(), pc).unwrap_or(results)
    }

    /// Clamps the values of a warp; `None` where there is nothing to do.
    pub(super) fn clamp_ids(
        &mut self,
        clamp: Clamp,
        mask: LaneMask,
        ids: &[u64; 32],
        pc: InstId,
    ) -> Option<Results> {
        match clamp {
            Clamp::None => None,
            Clamp::Saturate => Some(self.terms.store.push_shared(TermOp::Saturate, mask, &[ids], pc)),
            Clamp::Relu => {
                let zero = [whole(&mut self.terms.store, 0).raw(); 32];
                Some(self.terms.store.push_shared(TermOp::Max, mask, &[ids, &zero], pc))
            }
        }
    }

    /// Reads the operands of an instruction as reals in `format`.
    pub(super) fn operands(
        &mut self,
        step: &Step<'_>,
        format: Format,
        sources: &[Src],
    ) -> Result<OperandTerms, Stop> {
        let mut terms =
            [const { Terms { ids: [0; 32], known: LaneMask::NONE, undefined: LaneMask::NONE } }; 3];
        let (mut known, mut undefined) = (step.mask, LaneMask::NONE);
        for (terms, source) in terms.iter_mut().zip(sources) {
            self.terms(step, format, *source, terms)?;
            known &= terms.known;
            undefined |= terms.undefined & step.mask;
        }
        Ok(OperandTerms { terms, known: known & !undefined, undefined })
    }

    /// Reads an operand as reals in `format`.
    #[inline]
    pub(crate) fn terms(
        &mut self,
        step: &Step<'_>,
        format: Format,
        source: Src,
        out: &mut Terms,
    ) -> Result<(), Stop> {
        let mask = step.mask;
        let mut scratch;
        let register = match source {
            Src::Reg(id) => step.warp.register(id),
            Src::Imm(bits) => {
                match self.literal(format, bits) {
                    Some(raw) => {
                        out.ids = [raw; 32];
                        out.known = LaneMask::ALL;
                    }
                    None => out.undefined = LaneMask::ALL,
                }
                return Ok(());
            }
            Src::Symbol(..) => {
                scratch = None;
                self.terms.context.operand(step.warp, source, &mut scratch)
            }
        };
        let tag = Sym::real_tag(format) >> 56;
        if register.sym & mask == mask {
            let words = register.words();
            let mut odd = 0;
            let mut constants = 0u64;
            let mut look_at = |lane: Lane| {
                let word = words[lane];
                odd |= word >> 56 ^ tag;
                constants |= word >> 54;
                out.ids[lane] = word & LOW;
            };
            if mask.is_all() {
                Lane::all().for_each(&mut look_at);
            } else {
                mask.iter().for_each(&mut look_at);
            }
            if odd == 0 {
                // The tag inside a term id has its lowest bit set for constants only.
                if constants & 1 == 1 || !self.numbers.known.is_empty() {
                    out.known = mask
                        .iter()
                        .filter(|lane| self.numbers.known.contains(out.ids[*lane]))
                        .collect::<LaneMask>();
                }
                return Ok(());
            }
        }
        if register.is_concrete(mask) {
            self.literals(register, mask, format, out);
            return Ok(());
        }
        // Where a fault has left values in doubt, whole registers mostly are.
        if mask.is_within(register.undefined) {
            out.undefined = mask;
            return Ok(());
        }
        for lane in mask {
            match self.real(step.at(lane), register.get(lane), format)? {
                Some(term) => {
                    out.ids[lane] = term.raw();
                    if self.numbers.known.contains(term.raw()) {
                        out.known.insert(lane);
                    }
                }
                None => out.undefined |= LaneMask::of(lane),
            }
        }
        Ok(())
    }

    /// Concrete lanes as constants; usually all lanes hold the same bits.
    fn literals(&mut self, register: &Register, mask: LaneMask, format: Format, out: &mut Terms) {
        let words = register.words();
        let mut last = None;
        for lane in mask {
            let bits = words[lane];
            let raw = match last {
                Some((known, raw)) if known == bits => raw,
                _ => self.literal(format, bits),
            };
            last = Some((bits, raw));
            match raw {
                Some(raw) => {
                    out.ids[lane] = raw;
                    out.known |= LaneMask::of(lane);
                }
                None => out.undefined |= LaneMask::of(lane),
            }
        }
    }

    /// A value read as a real of `format`; `None` when it is undefined.
    pub(crate) fn real(&mut self, at: At<'_>, value: Value, format: Format) -> Result<Option<TermId>, Stop> {
        if let Value::Sym(sym) = value
            && sym.raw() & !LOW == Sym::real_tag(format)
        {
            return Ok(Some(TermId::from_raw(sym.raw() & LOW)));
        }
        match self.read_real(value, format) {
            Ok(term) => Ok(term),
            Err(held) => {
                let message = format!("an operation on {} reads {held}", format.name());
                let site = self.terms.context.site("computes here".into(), at.warp, at.lane, at.pc);
                let terms = match value {
                    Value::Sym(sym) => self.terms.packed.terms_of(sym),
                    Value::Bits(_) | Value::Undefined(_) => Vec::new(),
                };
                let help = declared_otherwise(self.terms.context.launch, &terms, format);
                Err(self.terms.context.fault_at(FaultKind::TypeMismatch, "V1", message, vec![site], help))
            }
        }
    }

    /// A NaN's bits as a term, where library functions are recognised, some of which have arms for arguments without a
    /// value: the term has no value, except as part of a recognised function.
    pub(super) fn spelling_of(&mut self, value: Value, format: Format) -> Option<TermId> {
        let Value::Bits(bits) = value else { return None };
        self.terms.int_terms(InstId(0)).spelling(bits, format)
    }

    /// A value read as a real of `format`; `None` when it is undefined, an error message when it is no such real.
    pub(crate) fn read_real(&mut self, value: Value, format: Format) -> Result<Option<TermId>, String> {
        let same = |held: Format| {
            held == format
                || matches!((held, format), (Format::F32, Format::Tf32) | (Format::Tf32, Format::F32))
        };
        let value = match format {
            Format::F32 | Format::Tf32 => self.terms.packed.as_f32(value),
            Format::F16 | Format::Bf16 | Format::F64 | Format::E4m3 | Format::E5m2 | Format::Ue8m0 => value,
        };
        let sym = match value {
            Value::Bits(bits) => return Ok(self.literal(format, bits).map(TermId::from_raw)),
            Value::Undefined(_) => return Ok(None),
            Value::Sym(sym) => sym,
        };
        if let SymKind::Real(held, term) = sym.kind() {
            let what = || format!("{}, which is {}", self.terms.describe(term), held.name());
            return if same(held) { Ok(Some(term)) } else { Err(what()) };
        }
        if let SymKind::Choice(index) = sym.kind() {
            let choice = self.terms.packed.choice(index);
            let mut arm = |arm| -> Result<Option<TermId>, String> {
                let real = self.read_real(arm, format)?;
                Ok(real.or_else(|| self.spelling_of(arm, format)))
            };
            let (then, otherwise) = (arm(choice.then)?, arm(choice.otherwise)?);
            let (Some(then), Some(otherwise)) = (then, otherwise) else { return Ok(None) };
            let operands = [choice.condition, then, otherwise];
            return Ok(Some(self.terms.store.apply(TermOp::Select, &operands, InstId(0))));
        }
        if self.terms.packed.undefined_part(value).is_some() {
            return Ok(None);
        }
        let mut residues = self.terms.int_terms(InstId(0));
        let number = residues.spelled(value, format).or_else(|| residues.decoding(value, format));
        if number.is_some() { Ok(number) } else { Err(self.terms.describe_value(value)) }
    }

    /// The constant term (raw) that bits encode in a format; `None` for NaN, which rule V2 leaves out.
    pub(crate) fn literal(&mut self, format: Format, bits: u64) -> Option<u64> {
        let bits = bits & low_bytes(format.bytes());
        if let Some(known) = self.numbers.literals.get(&(format, bits)) {
            return *known;
        }
        let raw = if self.terms.store.is_ieee() {
            Some(self.ieee_literal(format, bits))
        } else {
            let constant = self.terms.relied.masks.constant(format, bits);
            constant.map(|constant| self.terms.store.intern(constant).raw())
        };
        self.numbers.literals.insert((format, bits), raw);
        raw
    }

    /// The finite number that hardware holds for a mask which is read as minus infinity (rule V3).
    fn number_of_mask(&mut self, term: TermId) -> TermId {
        let TermKind::Constant(id) = term.kind() else { return term };
        let Constant { exact, rounded, .. } = self.terms.store.constant(id).clone();
        let held = rounded.and_then(Rounded::spelled).filter(|_| exact == Extended::NegInf);
        let number = held.and_then(|(format, bits)| decode(format, bits).extended());
        match number {
            Some(exact @ Extended::Finite(_)) => {
                self.terms.store.intern(Constant { exact, literal: None, rounded })
            }
            Some(Extended::PosInf | Extended::NegInf) | None => term,
        }
    }

    /// Whether an operation on known numbers is a step of a function: with a coefficient as operand, or an exponential
    /// or a logarithm whose value is not known exactly.
    fn is_step_of_function(&self, op: TermOp, ids: &[TermId]) -> bool {
        let is_exact = |id: &TermId| match id.kind() {
            TermKind::Constant(id) => {
                let known = self.terms.store.constant(id).exact.finite();
                match op.reads() {
                    Reads::Nothing => true,
                    Reads::Exponent => known.is_none_or(Rational::is_integer),
                    Reads::Logarithm => known.is_some_and(|known| *known == Rational::ONE),
                }
            }
            TermKind::Input { .. } | TermKind::Lane(..) => false,
        };
        if op.reads() != Reads::Nothing && !ids.iter().all(is_exact) {
            return true;
        }
        let coefficients = &self.terms.context.launch.recognition.coefficients;
        let is_coefficient = |id: &TermId| match id.kind() {
            TermKind::Constant(id) => {
                self.terms.store.constant(id).literal.is_some_and(|(_, bits)| coefficients.contains(&bits))
            }
            TermKind::Input { .. } | TermKind::Lane(..) => false,
        };
        !coefficients.is_empty() && ids.iter().any(is_coefficient)
    }

    pub(crate) fn setp_float(
        &mut self,
        mut step: Step<'_>,
        (op, format, flush): (FloatCompare, Format, bool),
        inst: CompareInst,
    ) -> Result<(), Stop> {
        for lane in step.mask {
            let at = step.at(lane);
            let words = inst.operands.map(|source| self.terms.context.value(at.warp, source, lane));
            let [x, y] = words.map(|word| self.real(at, word, format));
            let truth = match (x?, y?) {
                (Some(x), Some(y)) if self.terms.store.is_ieee() => {
                    self.ieee_compare(op, (format, flush), [x, y], at.pc)
                }
                (Some(x), Some(y)) => self.compare_reals(at, op, (format, flush), [x, y])?,
                _ => Truth::Undefined(self.terms.packed.taint(&words).unwrap_or(Origin::Invalid(at.pc))),
            };
            self.terms.set_predicates(&mut step, lane, truth, inst);
        }
        Ok(())
    }

    fn compare_reals(
        &mut self,
        at: At<'_>,
        op: FloatCompare,
        (format, flush): (Format, bool),
        [x, y]: [TermId; 2],
    ) -> Result<Truth, Stop> {
        let FloatCompare::Order(op, unordered) = op else {
            self.terms.relied.others.insert(Assumption::relied(NAN));
            return Ok(Truth::Known(op == FloatCompare::IsNumber));
        };
        if unordered {
            self.terms.relied.others.insert(Assumption::relied(NAN));
        }
        let (term, left, right, negated) = match op {
            Compare::Lt => (TermOp::Less, x, y, false),
            Compare::Gt => (TermOp::Less, y, x, false),
            Compare::Le => (TermOp::LessEqual, x, y, false),
            Compare::Ge => (TermOp::LessEqual, y, x, false),
            Compare::Eq => (TermOp::Equal, x, y, false),
            Compare::Ne => (TermOp::Equal, x, y, true),
        };
        if let Some(decided) =
            self.numbers.known.compare(&self.terms.store, (term, format, flush), [left, right])
        {
            let holds = decided.map_err(|what| self.terms.context.depends_on_rounding(at, what))?;
            return Ok(Truth::Known(holds != negated));
        }
        let condition = self.terms.store.apply(term, &[left, right], at.pc);
        let condition =
            if negated { self.terms.store.apply(TermOp::Not, &[condition], at.pc) } else { condition };
        Ok(Truth::Condition(condition))
    }
}

impl Context<'_> {
    #[cold]
    pub(crate) fn depends_on_rounding(&self, at: At<'_>, Undecided(what): Undecided) -> Stop {
        let message = format!("{what} of known values may differ between real and rounded arithmetic");
        self.fault_of(at, FaultKind::DependsOnRounding, "V10", message)
    }
}

const NAN: &str = "no value is NaN: unordered comparisons are read as ordered ones (V2)";
