//! Nodes whose lanes have no shape together: forms for some of their lanes each.

use super::super::reached::{bits, each_term, term_of};
use super::{Form, IN_PARTS, NONE, Operand, Part, STILL, Shapes};
use crate::base::index::number_of;
use crate::term::{Lanes, TermOp};
use smallvec::SmallVec;

impl Shapes {
    /// The form of a node whose lanes have none together, as far as they are wanted: one for lanes of the same shape,
    /// found for those of them together whose operands have the same shapes, or else one by one.
    pub(super) fn in_parts(&mut self, op: TermOp, mask: u32, wanted: u32, operands: &[Lanes<'_>]) -> Form {
        let mut parts: SmallVec<[Part; 32]> = SmallVec::new();
        for lanes in self.alike(operands, mask, wanted) {
            let mark = self.anchors.len();
            let result = self.apply_each(op, |shapes, which| shapes.operand_in(mask, lanes, operands[which]));
            if let Some(result) = result {
                parts.push(Part { lanes, form: self.keep(mark, result) });
                continue;
            }
            self.anchors.truncate(mark);
            for lane in bits(lanes) {
                let mark = self.anchors.len();
                let scalar =
                    |shapes: &mut Shapes, which: usize| shapes.scalar(term_of(operands[which], lane, mask));
                match self.apply_each(op, scalar) {
                    Some(result) => parts.push(Part { lanes: 1 << lane, form: self.keep(mark, result) }),
                    None => self.anchors.truncate(mark),
                }
            }
        }
        self.together(wanted, parts)
    }

    /// Some lanes of a node with the lanes of `mask` in groups: those whose operands have the same shapes. Lanes with
    /// an operand that has no shape are left out.
    fn alike(&self, operands: &[Lanes<'_>], mask: u32, lanes: u32) -> SmallVec<[u32; 32]> {
        let mut groups: SmallVec<[u32; 32]> = SmallVec::from_slice(&[lanes]);
        for own in operands {
            let form = self.whole(*own);
            if let Some(form) = form.filter(|form| form.shape == IN_PARTS) {
                let parts = || self.parts_of(form).iter();
                let split = groups.iter().flat_map(|group| parts().map(move |part| part.lanes & group));
                groups = split.filter(|lanes| *lanes != 0).collect();
                continue;
            }
            if form.is_some_and(|form| form.shape != NONE) {
                continue;
            }
            let mut shapes = [NONE; 32];
            let mut last = None;
            each_term(*own, lanes, mask, |lane, term| {
                let known = last.filter(|(other, _)| *other == term);
                let (_, shape) =
                    *last.insert(known.unwrap_or_else(|| (term, self.shape(term).unwrap_or(NONE))));
                shapes[lane as usize] = shape;
            });
            let mut finer = SmallVec::new();
            for mut group in groups {
                while group != 0 {
                    let shape = shapes[group.trailing_zeros() as usize];
                    let same = bits(group).filter(|lane| shapes[*lane as usize] == shape);
                    let same = same.fold(0, |lanes, lane| lanes | 1 << lane);
                    group &= !same;
                    if shape != NONE {
                        finer.push(same);
                    }
                }
            }
            groups = finer;
        }
        groups
    }

    /// The form of a node from forms for some of its lanes each.
    fn together(&mut self, all: u32, mut parts: SmallVec<[Part; 32]>) -> Form {
        let start = self.parts.len();
        while let Some(first) = parts.first().copied() {
            let (same, others): (SmallVec<[Part; 32]>, _) =
                parts.into_iter().partition(|part| part.form.shape == first.form.shape);
            parts = others;
            let part = if same.len() == 1 { first } else { self.join(&same) };
            self.parts.push(part);
        }
        match &self.parts[start..] {
            [] => Form { shape: NONE, motion: STILL, anchor: 0 },
            [Part { lanes, form }] if *lanes == all => {
                let form = *form;
                self.parts.truncate(start);
                form
            }
            parts => Form { shape: IN_PARTS, motion: number_of(parts.len()), anchor: number_of(start) },
        }
    }

    /// One part of several that have the same shape.
    fn join(&mut self, parts: &[Part]) -> Part {
        let mark = self.anchors.len();
        let shape = parts[0].form.shape;
        let inputs = self.shapes.note(shape);
        let mut all = 0;
        let mut operands = [Operand { shape, inputs, ..Operand::NOTHING }; 32];
        for part in parts {
            all |= part.lanes;
            for lane in bits(part.lanes) {
                let (_, anchor) = self.anchor(part.form, lane);
                operands[lane as usize].anchor = self.list(&anchor);
            }
        }
        let result = self.fit(all, &operands);
        Part { lanes: all, form: self.keep(mark, result) }
    }
}
