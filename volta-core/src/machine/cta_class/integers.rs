//! What operations on integers do to words that change from CTA to CTA.

use super::extents::{Linear, SAME, Steps};
use super::growth::Apart;
use crate::base::lane::LaneMask;
use crate::machine::cta_class::{ClassRun, Drift, Executing, FAR, Outcome, words_of};
use crate::machine::group::warp::Warp;
use crate::program::{Compare, Int, Int1, Int2, Int3, Op, PredSrc, Space, Src, Width};
use crate::value::{Truth, Value};

/// The steps of a result; `None` where its words elsewhere are not known.
type Followed = Result<Option<Steps>, Apart>;

/// An operand that changes by known steps, and its word in each lane.
struct Operand {
    words: Vec<u64>,
    steps: Steps,
}

impl Operand {
    /// The word of all lanes, if it is one, and the same in all CTAs.
    fn constant(&self) -> Option<u64> {
        let first = *self.words.first()?;
        (self.steps == SAME && self.words.iter().all(|word| *word == first)).then_some(first)
    }

    fn in_lanes(&self) -> impl Iterator<Item = Linear> {
        self.words.iter().map(|word| Linear { first: (*word).into(), steps: self.steps })
    }
}

/// Steps modulo 2^width, as near to zero as possible; `None` where one is too large to represent.
fn cut(width: Width, step: impl Fn(usize) -> Option<i128>) -> Option<Steps> {
    let modulus = 1i128 << width.bits();
    let mut out = SAME;
    for (at, out) in out.iter_mut().enumerate() {
        let step = step(at)?.rem_euclid(modulus);
        *out = i64::try_from(if step >= modulus / 2 { step - modulus } else { step }).ok()?;
    }
    Some(out)
}

fn plus(width: Width, a: Steps, b: Steps) -> Option<Steps> {
    cut(width, |at| Some(i128::from(a[at]) + i128::from(b[at])))
}

fn times(width: Width, a: Steps, factor: i128) -> Option<Steps> {
    cut(width, |at| i128::from(a[at]).checked_mul(factor))
}

/// The steps that are multiples of a divisor, divided by it, and the others.
fn divided(steps: Steps, by: i128) -> Option<[Steps; 2]> {
    let mut parts = [SAME; 2];
    for (at, step) in steps.into_iter().enumerate() {
        if i128::from(step) % by == 0 {
            parts[0][at] = i64::try_from(i128::from(step) / by).ok()?;
        } else {
            parts[1][at] = step;
        }
    }
    Some(parts)
}

/// Whether words below 2^bits do not change.
fn keep_low_bits(steps: Steps, bits: u32) -> bool {
    steps.iter().all(|step| i128::from(*step) % (1 << bits) == 0)
}

impl ClassRun {
    /// The result of an operation some operands of which change from CTA to CTA; `None` where it is no register.
    pub(crate) fn integer(&mut self, all: Executing<'_>, op: &Op) -> Result<Option<Outcome>, Apart> {
        let told = |d, steps: Option<Steps>, width| {
            Ok(Some(Outcome { d, drift: steps.map_or(Drift::Unknown, Drift::By), width }))
        };
        if let Op::Mov { d, a, width } | Op::Cvta { d, a, space: Space::Global, to: _, width } = op {
            let steps = self.operand(all, *a, *width)?.map(|a| a.steps);
            return told(*d, steps, *width);
        }
        if let Op::Int1 { op: Int1::Not | Int1::Neg, ty, d, a } = op {
            let a = self.operand(all, *a, ty.width)?;
            return told(*d, a.and_then(|a| times(ty.width, a.steps, -1)), ty.width);
        }
        if let Op::Int2 { op, ty, d, a, b } = op {
            let width = if *op == Int2::MulWide { ty.width.twice() } else { ty.width };
            let of_b = if matches!(op, Int2::Shl | Int2::Shr) { Width::W32 } else { ty.width };
            let steps = match (self.operand(all, *a, ty.width)?, self.operand(all, *b, of_b)?) {
                (Some(a), Some(b)) => self.two(*op, *ty, &a, &b)?,
                _ => None,
            };
            return told(*d, steps, width);
        }
        if let Op::Int3 { op: op @ (Int3::MadLo | Int3::MadWide), ty, d, a, b, c } = op {
            let is_wide = *op == Int3::MadWide;
            let (op, width) =
                if is_wide { (Int2::MulWide, ty.width.twice()) } else { (Int2::MulLo, ty.width) };
            let factors = [self.operand(all, *a, ty.width)?, self.operand(all, *b, ty.width)?];
            let steps = match (factors, self.operand(all, *c, width)?) {
                ([Some(a), Some(b)], Some(c)) => {
                    self.two(op, *ty, &a, &b)?.and_then(|product| plus(width, product, c.steps))
                }
                _ => None,
            };
            return told(*d, steps, width);
        }
        if let Op::CvtInt { d, a, from, to, saturate: false } = op {
            let steps = match self.operand(all, *a, from.width)? {
                Some(a) => {
                    self.keep_signs(*from, &a)?;
                    cut(to.width, |at| Some(a.steps[at].into()))
                }
                None => None,
            };
            return told(*d, steps, to.width);
        }
        if let Op::Select { width, d, a, b, p } = op {
            let steps = self.selected(all, *width, [*a, *b], *p)?;
            return told(*d, steps, *width);
        }
        if let Op::SetpInt { compare, ty, a, b, .. } = op {
            let operands = [self.operand(all, *a, ty.width)?, self.operand(all, *b, ty.width)?];
            let [Some(a), Some(b)] = operands else { return Err(Apart) };
            self.compare(*compare, *ty, &a, &b)?;
            return Ok(None);
        }
        if let Op::Insert { width, d, a, b, position, length } = op {
            let operands = [self.operand(all, *a, *width)?, self.operand(all, *b, *width)?];
            let place = [self.operand(all, *position, Width::W32)?, self.operand(all, *length, Width::W32)?];
            let steps = match (operands, place.map(|own| own.and_then(|own| own.constant()))) {
                ([Some(a), Some(b)], [Some(position), Some(length)]) if b.steps == SAME => {
                    self.inserted(*width, &a, position & 0xff, length & 0xff)?
                }
                _ => None,
            };
            return told(*d, steps, *width);
        }
        // What only computes with known words has results that are not known elsewhere.
        if let Op::Int1 { d, .. } | Op::Int3 { d, .. } | Op::CvtInt { d, .. } = op {
            let mut sources = Vec::new();
            op.visit_sources(&mut |source| sources.push(source));
            for source in sources {
                self.operand(all, source, Width::W64)?;
            }
            return told(*d, None, Width::W64);
        }
        Err(Apart)
    }

    /// An operand that is concrete in all lanes, and fits the width in all CTAs. `None` if its words elsewhere are not
    /// known.
    fn operand(&mut self, of: Executing<'_>, source: Src, width: Width) -> Result<Option<Operand>, Apart> {
        let warp = of.warp;
        let words: Option<Vec<u64>> = of.mask.iter().map(|lane| self.word(warp, source, lane)).collect();
        let words = words.ok_or(Apart)?;
        let Drift::By(steps) = self.drift(warp, source) else { return Ok(None) };
        let words = match source {
            Src::Imm(_) => words.into_iter().map(|word| word & width.mask()).collect(),
            Src::Reg(_) | Src::Symbol(..) => words,
        };
        let operand = Operand { words, steps };
        self.keep_all(operand.in_lanes(), words_of(width))?;
        Ok(Some(operand))
    }

    fn word(&self, warp: &Warp, source: Src, lane: crate::base::lane::Lane) -> Option<u64> {
        match source {
            Src::Imm(bits) => Some(bits),
            Src::Symbol(..) => None,
            Src::Reg(register) => match warp.register(register).get(lane) {
                Value::Bits(bits) => Some(bits),
                Value::Sym(_) | Value::Undefined(_) => None,
            },
        }
    }

    /// Keeps the CTAs in which all numbers are within bounds.
    pub(super) fn keep_all(
        &mut self,
        mut numbers: impl Iterator<Item = Linear>,
        bounds: [i128; 2],
    ) -> Result<(), Apart> {
        if numbers.all(|number| self.extents.keep(number, bounds)) { Ok(()) } else { Err(Apart) }
    }

    /// Keeps the CTAs in which the numbers that words encode have the signs that they have in the first: they change by
    /// the same steps as the words.
    fn keep_signs(&mut self, ty: Int, a: &Operand) -> Result<(), Apart> {
        let half = 1i128 << (ty.width.bits() - 1);
        let last = i128::from(ty.width.mask());
        for word in a.in_lanes().filter(|_| ty.signed && a.steps != SAME) {
            let bounds = if word.first < half { [0, half - 1] } else { [half, last] };
            self.keep_all(std::iter::once(word), bounds)?;
        }
        Ok(())
    }

    /// Keeps the CTAs in which all words are positive numbers.
    fn keep_positive(&mut self, ty: Int, a: &Operand) -> Result<bool, Apart> {
        self.keep_signs(ty, a)?;
        Ok(a.words.iter().all(|word| ty.number(*word) >= 0))
    }

    /// The quotient's and the remainder's steps where words are divided by a positive number.
    fn divide(&mut self, ty: Int, a: &Operand, by: i128) -> Result<Option<[Steps; 2]>, Apart> {
        if by <= 0 || !self.keep_positive(ty, a)? {
            return Ok(None);
        }
        let Some([quotient, remainder]) = divided(a.steps, by) else { return Ok(None) };
        let remainders = a.in_lanes().map(|word| Linear { first: word.first % by, steps: remainder });
        let remainders: Vec<Linear> = remainders.collect();
        self.keep_all(remainders.into_iter(), [0, by - 1])?;
        Ok(Some([quotient, remainder]))
    }

    fn two(&mut self, op: Int2, ty: Int, a: &Operand, b: &Operand) -> Followed {
        let width = ty.width;
        Ok(match op {
            Int2::Add => plus(width, a.steps, b.steps),
            Int2::Sub => times(width, b.steps, -1).and_then(|b| plus(width, a.steps, b)),
            Int2::MulLo => match (a.constant(), b.constant()) {
                (Some(factor), _) => times(width, b.steps, factor.into()),
                (None, Some(factor)) => times(width, a.steps, factor.into()),
                (None, None) => None,
            },
            Int2::MulWide => {
                self.keep_signs(ty, a)?;
                self.keep_signs(ty, b)?;
                match (a.constant(), b.constant()) {
                    (Some(factor), _) => times(width.twice(), b.steps, ty.number(factor)),
                    (None, Some(factor)) => times(width.twice(), a.steps, ty.number(factor)),
                    (None, None) => None,
                }
            }
            Int2::Shl => match b.constant() {
                Some(by) if by < u64::from(width.bits()) => times(width, a.steps, 1 << by),
                Some(_) | None => None,
            },
            Int2::Shr => match b.constant() {
                Some(by) if by < u64::from(width.bits()) => {
                    self.divide(ty, a, 1 << by)?.map(|[quotient, _]| quotient)
                }
                Some(_) | None => None,
            },
            Int2::Div | Int2::Rem => match b.constant() {
                Some(by) => {
                    let parts = self.divide(ty, a, ty.number(by))?;
                    parts.map(|[quotient, rest]| if op == Int2::Div { quotient } else { rest })
                }
                None => None,
            },
            Int2::And | Int2::Or | Int2::Xor => match (a.steps == SAME, b.steps == SAME) {
                (_, true) => self.bitwise(op, width, a, b)?,
                (true, false) => self.bitwise(op, width, b, a)?,
                (false, false) => None,
            },
            Int2::Min | Int2::Max => {
                self.compare(Compare::Lt, ty, a, b)?;
                let takes_first = |(a, b): (&u64, &u64)| (ty.number(*a) < ty.number(*b)) == (op == Int2::Min);
                let mut which = a.words.iter().zip(&b.words).map(takes_first);
                let first = which.next().unwrap_or(true);
                let taken = if first { a.steps } else { b.steps };
                (a.steps == b.steps || which.all(|one| one == first)).then_some(taken)
            }
            Int2::AddSat
            | Int2::SubSat
            | Int2::MulHi
            | Int2::Mul24Lo
            | Int2::Mul24Hi
            | Int2::MaskClamp
            | Int2::MaskWrap => None,
        })
    }

    /// The steps of low bits of a word that are inserted at a position of another one, which does not change.
    fn inserted(&mut self, width: Width, a: &Operand, position: u64, length: u64) -> Followed {
        let bits = u64::from(width.bits());
        let length = length.min(bits.saturating_sub(position));
        if length == 0 {
            return Ok(Some(SAME));
        }
        let unsigned = Int { width, signed: false };
        let parts = self.divide(unsigned, a, 1 << length)?;
        Ok(parts.and_then(|[_, rest]| times(width, rest, 1 << position)))
    }

    /// `and`, `or` and `xor` with a mask that is the same in all CTAs.
    fn bitwise(&mut self, op: Int2, width: Width, a: &Operand, mask: &Operand) -> Followed {
        let highest = mask.words.iter().fold(0u64, |all, word| all | word);
        let bits = u64::BITS - highest.leading_zeros();
        // The bits that the mask selects or changes are the same in all CTAs.
        if keep_low_bits(a.steps, bits) {
            return Ok(Some(if op == Int2::And { SAME } else { a.steps }));
        }
        let Some(word) = mask.constant().filter(|_| op == Int2::And) else { return Ok(None) };
        let unsigned = Int { width, signed: false };
        let rest = !word & width.mask();
        let low = word.trailing_zeros();
        let filled = if low < u64::BITS { word | ((1 << low) - 1) } else { 0 };
        if low < width.bits() && filled & filled.wrapping_add(1) == 0 && keep_low_bits(a.steps, low) {
            // The low bits, without some that do not change: a remainder.
            return Ok(self.divide(unsigned, a, i128::from(filled) + 1)?.map(|[_, rest]| rest));
        }
        if rest & rest.wrapping_add(1) == 0 {
            // All but the low bits.
            let by = i128::from(rest) + 1;
            return Ok(self.divide(unsigned, a, by)?.and_then(|[quotient, _]| times(width, quotient, by)));
        }
        Ok(None)
    }

    /// Keeps the CTAs in which a comparison has the outcome that it has in the first one.
    fn compare(&mut self, op: Compare, ty: Int, a: &Operand, b: &Operand) -> Result<(), Apart> {
        self.keep_signs(ty, a)?;
        self.keep_signs(ty, b)?;
        for (one, other) in a.words.iter().zip(&b.words) {
            let one = Linear { first: ty.number(*one), steps: a.steps };
            let other = Linear { first: ty.number(*other), steps: b.steps };
            let apart = one.minus(other).ok_or(Apart)?;
            let bounds = match op {
                Compare::Lt | Compare::Ge if apart.first < 0 => [-FAR, -1],
                Compare::Lt | Compare::Ge => [0, FAR],
                Compare::Le | Compare::Gt if apart.first <= 0 => [-FAR, 0],
                Compare::Le | Compare::Gt => [1, FAR],
                Compare::Eq | Compare::Ne if apart.first < 0 => [-FAR, -1],
                Compare::Eq | Compare::Ne if apart.first > 0 => [1, FAR],
                Compare::Eq | Compare::Ne => [0, 0],
            };
            self.keep_all(std::iter::once(apart), bounds)?;
        }
        Ok(())
    }

    /// The steps of one of two operands, which a predicate that is the same in all CTAs chooses.
    fn selected(&mut self, of: Executing<'_>, width: Width, arms: [Src; 2], by: PredSrc) -> Followed {
        let mut chosen = None;
        for lane in of.mask {
            let Truth::Known(holds) = of.warp.predicates[by.pred.index()].get(lane) else {
                return Err(Apart);
            };
            let arm = arms[usize::from(holds == by.negated)];
            let own = self.operand(Executing { mask: LaneMask::of(lane), ..of }, arm, width)?;
            let own = own.map(|own| own.steps);
            match chosen {
                None => chosen = Some(own),
                Some(known) if known == own => {}
                Some(_) => return Ok(None),
            }
        }
        Ok(chosen.flatten())
    }
}
