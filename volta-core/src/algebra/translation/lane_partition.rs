//! Nodes whose lanes have no common translation class: the lanes are partitioned, each part with a form of its own.

use super::{Form, IN_PARTS, LanePart, NONE, Operand, STILL, TranslationClasses};
use crate::base::index::number_of;
use crate::base::lane::LaneMask;
use crate::term::each_term;
use crate::term::{Lanes, TermOp};
use smallvec::SmallVec;

impl<'c> TranslationClasses<'c> {
    /// The form of a node whose lanes have no common class, for the wanted lanes: one part for each class, found
    /// jointly for lanes whose operands have the same classes, or else lane by lane.
    pub(super) fn in_parts(
        &mut self,
        op: TermOp,
        mask: LaneMask,
        wanted: LaneMask,
        operands: &[Lanes<'_>],
    ) -> Form {
        let mut parts: SmallVec<[LanePart; 32]> = SmallVec::new();
        for lanes in self.alike(operands, mask, wanted) {
            let mark = self.anchors.len();
            let result =
                self.apply_each(op, |classes, which| classes.operand_in(mask, lanes, operands[which]));
            if let Some(result) = result {
                parts.push(LanePart { lanes, form: self.keep(mark, result) });
                continue;
            }
            self.anchors.truncate(mark);
            for lane in lanes {
                let mark = self.anchors.len();
                let scalar = |classes: &mut TranslationClasses<'c>, which: usize| {
                    classes.scalar(operands[which].term(lane, mask))
                };
                match self.apply_each(op, scalar) {
                    Some(result) => {
                        parts.push(LanePart { lanes: LaneMask::of(lane), form: self.keep(mark, result) })
                    }
                    None => self.anchors.truncate(mark),
                }
            }
        }
        self.together(wanted, parts)
    }

    /// Partitions `lanes` of a node with the lanes of `mask` into groups whose operands have the same classes.
    /// Lanes with an operand that has no class are left out.
    fn alike(&self, operands: &[Lanes<'_>], mask: LaneMask, lanes: LaneMask) -> SmallVec<[LaneMask; 32]> {
        let mut groups: SmallVec<[LaneMask; 32]> = SmallVec::from_slice(&[lanes]);
        for own in operands {
            let form = self.whole(*own);
            if let Some(form) = form.filter(|form| form.class == IN_PARTS) {
                let parts = || self.parts_of(form).iter();
                let split = groups.iter().flat_map(|group| parts().map(move |part| part.lanes & *group));
                groups = split.filter(|lanes| !lanes.is_empty()).collect();
                continue;
            }
            if form.is_some_and(|form| form.class != NONE) {
                continue;
            }
            let mut classes = [NONE; 32];
            let mut last = None;
            each_term(*own, lanes, mask, |lane, term| {
                let known = last.filter(|(other, _)| *other == term);
                let (_, class) =
                    *last.insert(known.unwrap_or_else(|| (term, self.class(term).unwrap_or(NONE))));
                classes[lane] = class;
            });
            let mut finer = SmallVec::new();
            for mut group in groups {
                while !group.is_empty() {
                    let class = classes[group.first()];
                    let same = group.iter().filter(|lane| classes[*lane] == class);
                    let same = same.collect::<LaneMask>();
                    group &= !same;
                    if class != NONE {
                        finer.push(same);
                    }
                }
            }
            groups = finer;
        }
        groups
    }

    /// The form of a node from forms of disjoint sets of its lanes.
    fn together(&mut self, all: LaneMask, mut parts: SmallVec<[LanePart; 32]>) -> Form {
        let start = self.parts.len();
        while let Some(first) = parts.first().copied() {
            let (same, others): (SmallVec<[LanePart; 32]>, _) =
                parts.into_iter().partition(|part| part.form.class == first.form.class);
            parts = others;
            let part = if same.len() == 1 { first } else { self.join(&same) };
            self.parts.push(part);
        }
        match &self.parts[start..] {
            [] => Form { class: NONE, strides: STILL, base_offset: 0 },
            [LanePart { lanes, form }] if *lanes == all => {
                let form = *form;
                self.parts.truncate(start);
                form
            }
            parts => Form { class: IN_PARTS, strides: number_of(parts.len()), base_offset: number_of(start) },
        }
    }

    /// Joins several parts that have the same class.
    fn join(&mut self, parts: &[LanePart]) -> LanePart {
        let mark = self.anchors.len();
        let class = parts[0].form.class;
        let inputs = self.classes.note(class);
        let mut all = LaneMask::NONE;
        let mut operands = [Operand { class, inputs, ..Operand::NOTHING }; 32];
        for part in parts {
            all |= part.lanes;
            for lane in part.lanes {
                let (_, base_offset) = self.base_offset(part.form, lane);
                operands[lane].base_offset = self.list(&base_offset);
            }
        }
        let result = self.fit(all, &operands);
        LanePart { lanes: all, form: self.keep(mark, result) }
    }
}
