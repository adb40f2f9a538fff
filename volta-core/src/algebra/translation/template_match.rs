//! Template matching of repeated nodes.
//!
//! Loops and warps repeat the same operations on translated elements. A node whose operands have the same classes, the
//! same strides over the lanes and the same offsets relative to one another as those of an earlier node has that node's
//! class; nothing else about it needs to be computed.

use super::{Form, MAX_INPUTS, TranslationClasses, is_whole};
use crate::base::affine::Affine;
use crate::base::lane::Lane;
use crate::term::bits;
use crate::term::{Lanes, Moves, NodeRef, TermId, TermKind};

/// The properties of a classified node that another must share to have the same result.
#[derive(Clone, Copy, Debug)]
pub(super) struct Template {
    moves: Moves,
    /// The operand whose base offset the result has.
    main: usize,
    operands: [Own; 3],
    /// The result: its class and strides.
    class: u32,
    strides: u32,
}

/// A constraint on an operand.
#[derive(Clone, Copy, Debug)]
enum Own {
    /// The main operand, or an unused one.
    Any,
    /// This term.
    Term(u64),
    /// Elements of an input.
    Elements {
        /// The raw term of lane 0, minus the main operand's base offset at `place`.
        apart: u64,
        place: u32,
        /// How far the terms of other lanes extend below and above.
        reach: [u64; 2],
        input: u32,
    },
    /// The row of lanes of a node with this class and these strides, and the differences between its base offset
    /// and the main operand's at the given places.
    Node { class: u32, strides: u32, places: [u8; MOST_INPUTS], apart: [i64; MOST_INPUTS], inputs: u8 },
}

/// Operands with more inputs than this are not cached.
const MOST_INPUTS: usize = 3;

/// Templates are kept for this many classes, the first ones.
const MOST_TEMPLATES: usize = 1 << 14;

impl TranslationClasses<'_> {
    /// The form of the node whose row of lanes an operand is, in order, or of a uniform node's lane 0.
    #[inline]
    fn form_at(&self, node: NodeRef<'_>, which: usize, base: u64) -> Option<Form> {
        let moves = node.is_row(which)?;
        let TermKind::Lane(operand, Lane::FIRST) = TermId::from_raw(base).kind() else { return None };
        let form = self.form_of(operand.index());
        (is_whole(form) && (moves || form.is_still())).then_some(form)
    }

    /// The form of a node that matches a template.
    #[inline]
    pub(super) fn matched(&self, node: NodeRef<'_>) -> Option<Form> {
        let bases = node.bases();
        for main in (0..node.op().arity()).rev() {
            let Some(form) = self.form_at(node, main, bases[main]) else { continue };
            let Some(example) = self.templates.get(form.class as usize).and_then(Option::as_ref) else {
                continue;
            };
            if example.main != main || example.strides != form.strides || node.moves() != Some(example.moves)
            {
                continue;
            }
            let origin = self.base_offset_from(form);
            let fits = |which: usize| match &example.operands[which] {
                Own::Any => true,
                Own::Term(raw) => bases[which] == *raw,
                Own::Elements { apart, place, reach: [low, high], input } => {
                    let own = bases[which];
                    let inside = |raw: u64| is_of(raw, *input);
                    own.wrapping_sub(origin[*place as usize] as u64) == *apart
                        && inside(own.wrapping_sub(*low))
                        && inside(own.wrapping_add(*high))
                }
                Own::Node { class, strides, places, apart, inputs } => {
                    self.form_at(node, which, bases[which]).is_some_and(|form| {
                        let own = self.base_offset_from(form);
                        let lies =
                            |at: usize| own[at].wrapping_sub(origin[usize::from(places[at])]) == apart[at];
                        form.class == *class
                            && form.strides == *strides
                            && (0..usize::from(*inputs)).all(lies)
                    })
                }
            };
            if (0..3).all(fits) {
                return Some(Form { class: example.class, ..form });
            }
        }
        None
    }

    /// Stores a classified node as a template, if the result has the base offset of an operand.
    pub(super) fn learn(&mut self, node: NodeRef<'_>, result: Form) {
        let Some(moves) = node.moves() else { return };
        let bases = node.bases();
        let arity = node.op().arity();
        let is_main = |which: &usize| {
            self.form_at(node, *which, bases[*which])
                .is_some_and(|form| form.base_offset == result.base_offset && form.strides == result.strides)
        };
        let Some(main) = (0..arity).rev().find(is_main) else { return };
        let Some(form) = self.form_at(node, main, bases[main]) else { return };
        let inputs = self.inputs_of(form.class);
        if !is_whole(result) || self.inputs_of(result.class) != inputs {
            return;
        }
        let mut operands = [Own::Any; 3];
        for which in (0..arity).filter(|which| *which != main) {
            let Some(own) = self.own(node, which, bases[which], form, inputs) else { return };
            operands[which] = own;
        }
        let place = form.class as usize;
        if place >= MOST_TEMPLATES {
            return;
        }
        if self.templates.len() <= place {
            self.templates.resize(place + 1, None);
        }
        let example = Template { moves, main, operands, class: result.class, strides: result.strides };
        self.templates[place] = Some(example);
    }

    /// The constraint on an operand, relative to the main one's form.
    fn own(&self, node: NodeRef<'_>, which: usize, base: u64, main: Form, inputs: u32) -> Option<Own> {
        let origin = self.base_offset_from(main);
        let place = |input: u32| (inputs & ((1 << input) - 1)).count_ones();
        match TermId::from_raw(base).kind() {
            TermKind::Constant(_) => (node.is_row(which) == Some(false)).then_some(Own::Term(base)),
            TermKind::Input { input, .. } if input.index() < MAX_INPUTS && inputs >> input.0 & 1 == 1 => {
                let [low, high] = match node.operand(which) {
                    Lanes::Affine { base, stride } => Affine::<5>::strided(base, stride).min_max(),
                    Lanes::Strides { base, motion } => motion.min_max(base),
                    Lanes::List(_) | Lanes::Repeated { .. } => return None,
                };
                let place = place(input.0);
                let apart = base.wrapping_sub(origin[place as usize] as u64);
                let reach = [base.wrapping_sub(low), high.wrapping_sub(base)];
                let own = Own::Elements { apart, place, reach, input: input.0 };
                (is_of(low, input.0) && is_of(high, input.0)).then_some(own)
            }
            TermKind::Input { .. } => None,
            TermKind::Lane(..) => {
                let form = self.form_at(node, which, base)?;
                let own = self.inputs_of(form.class);
                let (mut places, mut apart) = ([0; MOST_INPUTS], [0; MOST_INPUTS]);
                let mut count = 0;
                for (at, input) in bits(own).enumerate() {
                    *places.get_mut(at)? = place(input) as u8;
                    apart[at] = self.base_offset_from(form)[at].wrapping_sub(origin[place(input) as usize]);
                    count += 1;
                }
                let Form { class, strides, .. } = form;
                Some(Own::Node { class, strides, places, apart, inputs: count })
            }
        }
    }
}

/// Whether a raw term is an element of an input.
#[inline]
fn is_of(raw: u64, input: u32) -> bool {
    raw >> TermId::BITS == 0
        && matches!(TermId::from_raw(raw).kind(), TermKind::Input { input: own, .. } if own.0 == input)
}
