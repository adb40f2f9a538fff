//! An index that leads out of its object, in words: that of an element, without what wraps around on the way.

use crate::launch::objects::{Backing, Object};
use crate::machine::group::guard_bounds::modulus;
use crate::machine::group::terms::ValueTerms;
use crate::program::InstId;
use crate::term::{TermId, TermOp, View};
use crate::value::indexed::indexed;
use crate::value::int_terms::whole;

/// An index into an object, and the values of it that lie inside.
pub(super) struct ReachedIndex {
    pub(super) index: TermId,
    /// The offset in the object at index 0, in bytes.
    pub(super) first: i128,
    pub(super) scale: i128,
    pub(super) least: i128,
    pub(super) greatest: i128,
}

/// `factor · index + addend`
struct Multiple {
    index: TermId,
    factor: i128,
    addend: i128,
}

/// An index, and between which numbers it need not be.
#[cold]
pub(super) fn describe_index(
    of: &mut ValueTerms<'_>,
    ReachedIndex { index, first, scale, least, greatest }: ReachedIndex,
    (object, bytes): (&Object, u32),
    pc: InstId,
) -> String {
    let width = element_width(of, object, pc).filter(|width| scale % width == 0 && first % width == 0);
    let (index, least, greatest) = match width {
        Some(width) => {
            let element = unwrapped(of, Multiple { index, factor: scale / width, addend: first / width });
            let last = (i128::from(object.size) - i128::from(bytes)).div_euclid(width);
            (multiple(of, element, pc), 0, last)
        }
        None => (index, least, greatest),
    };
    let text = of.describe(index);
    // The outermost operation needs no brackets.
    let text = match text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        Some(inner) if is_balanced(inner) => inner,
        Some(_) | None => &text,
    };
    match greatest {
        _ if least == greatest => format!("{text} need not be {least}"),
        _ => format!("{text} need not be between {least} and {greatest}"),
    }
}

/// The bytes of an element of an object, if it has elements of one type.
fn element_width(of: &ValueTerms<'_>, object: &Object, pc: InstId) -> Option<i128> {
    if let Backing::Tensor(number) = object.backing
        && of.context.launch.tensors[number as usize].has_fields()
    {
        return None;
    }
    let declared = object.element.map(|element| element.bytes());
    declared.or_else(|| of.context.element_bytes(pc)).map(i128::from)
}

/// Takes what wraps around apart, as far as this says how large the index is: signed numbers are kept as remainders of
/// numbers that lie half of the modulus higher.
fn unwrapped(of: &ValueTerms<'_>, Multiple { index, factor, addend }: Multiple) -> Multiple {
    let unchanged = Multiple { index, factor, addend };
    let View::Apply(TermOp::Mod, [shifted, by, _]) = of.store.view(index) else { return unchanged };
    let Some(by) = modulus(&of.store, by) else { return unchanged };
    let inner = indexed(&of.store, shifted);
    let offset = inner.offset - by / 2;
    if offset.abs() >= by / 4 {
        return unchanged;
    }
    // A remainder whose multiple the outer one contains.
    let mut index = inner.index;
    while let View::Apply(TermOp::Mod, [wide, narrower, _]) = of.store.view(index)
        && modulus(&of.store, narrower)
            .and_then(|narrower| narrower.checked_mul(inner.scale))
            .is_some_and(|multiple| multiple % by == 0)
    {
        index = wide;
    }
    Multiple { index, factor: factor * inner.scale, addend: addend + factor * (by / 2 + offset) }
}

fn multiple(of: &mut ValueTerms<'_>, Multiple { index, factor, addend }: Multiple, pc: InstId) -> TermId {
    let number = |own: &mut ValueTerms<'_>, value: i128| whole(&mut own.store, value);
    let mut term = index;
    if factor != 1 {
        let factor = number(of, factor);
        term = of.store.apply(TermOp::Mul, &[term, factor], pc);
    }
    if addend == 0 {
        return term;
    }
    let (op, distance) = if addend < 0 { (TermOp::Sub, -addend) } else { (TermOp::Add, addend) };
    let distance = number(of, distance);
    of.store.apply(op, &[term, distance], pc)
}

/// Whether each bracket of a text closes one that is opened in it.
fn is_balanced(text: &str) -> bool {
    let mut open = 0_usize;
    text.chars().all(|c| {
        match c {
            '(' => open += 1,
            ')' if open == 0 => return false,
            ')' => open -= 1,
            _ => {}
        }
        true
    })
}
