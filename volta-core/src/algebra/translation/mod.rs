//! Terms up to translation of their inputs.
//!
//! A proof for a pair of terms holds for every pair obtained from it by translating the elements of each input by a
//! constant, the same in both terms: it is the same proof, instantiated. Most outputs of a kernel are obtained from
//! one another in this way: from `Σ A[0,k]·B[k,0]` to `Σ A[i,k]·B[k,j]`.
//!
//! Each term gets a *class*, a number for all that it computes, and a *base offset*: for each of its inputs, the element
//! that the class counts from. Terms of one class are equal up to a translation by the difference of their offsets. Classes
//! are found in one pass over a store, mostly for all lanes of a node at once: the offsets then follow one of a few
//! patterns over the lanes, mostly affine in the bits of the lane id. Where lanes differ, only lanes that are asked for
//! are examined: fragments of a matrix have rows on which no output depends.
//!
//! Classes have numbers within a store, which a pass works with, and [shared](SharedClasses) ones, which hold across stores.

mod lane_partition;
mod shared;
mod template_match;
#[cfg(test)]
pub(super) mod tests;

pub use shared::SharedClasses;

use super::interner::Lists;
use super::operand_cache::{Read, Recall};
use crate::base::index::number_of;
use crate::base::lane::{Lane, LaneMask};
use crate::term::{
    BitStrides, ConstantId, InputId, Lanes, Reached, Store, TermId, TermKind, TermOp, Translation, bits,
    each_term, rank, whole_node,
};
use smallvec::SmallVec;
use template_match::Template;

/// With fewer roots than this, most of a large store is not wanted.
const FEW_ROOTS: usize = 32;
/// Inputs from this one on, and terms that depend on them, have no classes: sets of inputs are 32-bit masks.
const MAX_INPUTS: usize = 31;
/// A store may have this many classes, or one for eight nodes. Beyond that, few of its terms are alike, and further
/// ones are left without classes.
const FEW_CLASSES: usize = 1 << 18;
/// The total number of forms of nodes whose lanes have different classes, each of which costs a look-up, or eight a node.
const FEW_PARTS: usize = 1 << 19;

/// The classes of a store's terms.
#[derive(Debug)]
pub struct TranslationClasses<'c> {
    store: &'c Store,
    shared: &'c SharedClasses,
    /// The shared numbers of classes.
    numbers: Vec<u32>,
    /// The shared numbers of the store's constants, computed on demand.
    constants: Vec<Option<u32>>,
    /// The form of each node.
    forms: Vec<Form>,
    /// For nodes without a common form of all lanes, the forms of parts of their lanes.
    parts: Vec<LanePart>,
    /// The wanted lanes of each node: computed if there are few roots, or once a node was found whose lanes have no
    /// common form.
    wanted: Option<Reached>,
    classes: Lists,
    /// Interned steps of one input's elements from lane to lane: one for each bit of the lane id, or one for each lane.
    steps: Lists,
    /// Interned lists of steps, one for each input.
    motions: Lists,
    /// Base offsets of forms. Behind them, temporary ones while a form is computed.
    anchors: Vec<i64>,
    /// A cache of recently seen steps of single inputs, with their motions.
    recent: [(BitStrides, u32); 4],
    /// A cache of recently seen strides of single inputs, with their motions.
    strides: [(i64, u32); 4],
    /// Scratch memory for the content of a class.
    key: Vec<i64>,
    /// A cache of gathered operands: the operand, if it has one class, and its base offset.
    gathered: Recall<Option<(Operand, SmallVec<[i64; 4]>)>>,
    /// A cache of applied operations, by the class of an operand: loops apply the same ones again in turn.
    applied: Vec<Applied>,
    /// For each class, the template of the last node with a main operand of this class.
    templates: Vec<Option<Template>>,
}

/// A term's class, and its base offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassPlace {
    /// The class's shared number: terms have the same one exactly if they have the same class, in any stores.
    pub class: u32,
    /// The inputs that the term depends on, as bits.
    pub inputs: u32,
    /// For each of these inputs, the element that the class counts from.
    pub base_offset: SmallVec<[i64; 4]>,
}

impl ClassPlace {
    /// Each input, and the element of it that the class counts from.
    pub fn elements(&self) -> impl Iterator<Item = (u32, i64)> {
        bits(self.inputs).zip(self.base_offset.iter().copied())
    }

    /// The place of the translated term.
    pub fn translated(&self, by: &Translation) -> ClassPlace {
        let base_offset = self.elements().map(|(input, element)| element + by.of(InputId(input))).collect();
        ClassPlace { base_offset, ..*self }
    }
}

/// The form of all terms of a node, or of some of them.
#[derive(Clone, Copy, Debug)]
struct Form {
    class: u32,
    /// How base offsets differ from lane to lane.
    strides: u32,
    /// The index of the base offset of lane 0; for [`IN_PARTS`], that of the first part.
    base_offset: u32,
}

impl Form {
    /// Whether it is uniform over the lanes.
    #[inline]
    fn is_still(self) -> bool {
        self.strides == STILL
    }
}

/// Whether a form covers all lanes.
#[inline]
fn is_whole(form: Form) -> bool {
    form.class < IN_PARTS
}

/// Some lanes of a node, and their form.
#[derive(Clone, Copy, Debug)]
struct LanePart {
    lanes: LaneMask,
    form: Form,
}

/// In place of a class: no class.
const NONE: u32 = u32::MAX;
/// In place of a class: the node has parts; their number is in `strides`.
const IN_PARTS: u32 = u32::MAX - 1;
/// The class of the first constant. That of the next one is below it, and those of operations count from zero.
const FIRST_CONSTANT: u32 = u32::MAX - 2;
/// The strides of uniform terms, and the steps of uniform inputs.
const STILL: u32 = 0;
/// An operand of a node, in all lanes or in one.
#[derive(Clone, Copy, Debug)]
struct Operand {
    class: u32,
    inputs: u32,
    strides: u32,
    /// The index of the base offset of lane 0; for [`HERE`], it is `element`.
    base_offset: u32,
    element: i64,
}

/// In place of the index of a base offset: it is stored inline, since it is of one input.
const HERE: u32 = u32::MAX;

impl Operand {
    const NOTHING: Operand = Operand { class: NONE, inputs: 0, strides: STILL, base_offset: 0, element: 0 };
}

/// The key of the cache of applied operations: it determines the class and strides of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Question {
    op: TermOp,
    classes: [u32; 3],
    motions: [u32; 3],
    /// The offsets of the other operands' inputs relative to those of the operand that has all inputs.
    apart: [i32; MOST_APART],
}

/// At most this many offsets in a cached question.
const MOST_APART: usize = 4;

/// A cached result.
#[derive(Clone, Copy, Debug)]
struct Applied {
    question: Question,
    class: u32,
    /// The operand whose base offset and strides the result has.
    main: u8,
}

/// Capacity of that cache; a power of two.
const MOST_APPLIED: usize = 1 << 14;

impl Applied {
    const NOTHING: Applied = Applied {
        question: Question {
            op: TermOp::Add,
            classes: [NONE; 3],
            motions: [STILL; 3],
            apart: [0; MOST_APART],
        },
        class: NONE,
        main: 0,
    };
}

impl<'c> TranslationClasses<'c> {
    /// The classes and base offsets of some terms of a store.
    ///
    /// # Cost
    /// A look-up or two for each node whose operands are one class each; otherwise, for each group of lanes.
    pub fn places(store: &'c Store, roots: &[TermId], shared: &'c SharedClasses) -> Vec<Option<ClassPlace>> {
        let mut classes = TranslationClasses::new(store, roots, shared);
        roots.iter().map(|root| classes.place(*root)).collect()
    }

    /// Classifies the terms of a store; only `roots` may be looked up.
    fn new(store: &'c Store, roots: &[TermId], shared: &'c SharedClasses) -> TranslationClasses<'c> {
        let mut classes = TranslationClasses {
            store,
            shared,
            numbers: shared.inputs(MAX_INPUTS),
            constants: vec![None; store.constant_count()],
            forms: Vec::with_capacity(store.len()),
            parts: Vec::new(),
            wanted: (roots.len() < FEW_ROOTS).then(|| Reached::new(store, roots)),
            classes: Lists::default(),
            steps: Lists::default(),
            motions: Lists::default(),
            anchors: Vec::new(),
            recent: [([0; 5], STILL); 4],
            strides: [(0, STILL); 4],
            key: Vec::new(),
            gathered: Recall::new(),
            applied: vec![Applied::NOTHING; (store.len() / 8).next_power_of_two().min(MOST_APPLIED)],
            templates: Vec::new(),
        };
        classes.steps.number(&[0; 5], 0);
        classes.motions.number(&[], 0);
        for input in 0..MAX_INPUTS {
            classes.classes.number(&[-1, input as i64], 1 << input);
        }
        for at in 0..store.len() {
            let form = classes.form(roots, at);
            classes.forms.push(form);
        }
        classes
    }

    /// The class and base offset of one of the roots, if it has a class.
    fn place(&mut self, term: TermId) -> Option<ClassPlace> {
        let operand = self.scalar(term)?;
        let base_offset = SmallVec::from_slice(self.elements(&operand));
        Some(ClassPlace { class: self.shared_number(operand.class), inputs: operand.inputs, base_offset })
    }

    /// The shared number of a class.
    fn shared_number(&mut self, class: u32) -> u32 {
        if let Some(number) = self.numbers.get(class as usize) {
            return *number;
        }
        let id = ConstantId(FIRST_CONSTANT - class);
        let constant = || self.shared.constant(self.store.constant(id));
        *self.constants[id.index()].get_or_insert_with(constant)
    }

    /// The form of a node.
    #[inline]
    fn form_of(&self, node: usize) -> Form {
        self.forms[node]
    }

    /// The inputs of a class, as bits.
    #[inline]
    fn inputs_of(&self, class: u32) -> u32 {
        self.classes.note(class)
    }

    /// The base offset of a form, one element for each input; the slice extends beyond it.
    #[inline]
    fn base_offset_from(&self, form: Form) -> &[i64] {
        &self.anchors[form.base_offset as usize..]
    }

    /// The class of a term, if it has one.
    fn class(&self, term: TermId) -> Option<u32> {
        match term.kind() {
            TermKind::Input { input, .. } => (input.index() < MAX_INPUTS).then_some(input.0),
            TermKind::Constant(id) => Some(FIRST_CONSTANT - id.0),
            TermKind::Lane(node, lane) => self.form_of_lane(node.index(), lane).map(|form| form.class),
        }
    }

    /// The form of one lane of a node.
    fn form_of_lane(&self, node: usize, lane: Lane) -> Option<Form> {
        let form = self.forms[node];
        match form.class {
            NONE => None,
            IN_PARTS => {
                self.parts_of(form).iter().find(|part| part.lanes.contains(lane)).map(|part| part.form)
            }
            _ => Some(form),
        }
    }

    /// The parts of a node with the form [`IN_PARTS`].
    fn parts_of(&self, form: Form) -> &[LanePart] {
        &self.parts[form.base_offset as usize..][..form.strides as usize]
    }

    /// The inputs of a form, and its base offset in a lane.
    fn base_offset(&self, form: Form, lane: Lane) -> (u32, SmallVec<[i64; 4]>) {
        let inputs = self.classes.note(form.class);
        let count = inputs.count_ones() as usize;
        let mut base_offset = SmallVec::from_slice(&self.anchors[form.base_offset as usize..][..count]);
        if form.strides != STILL && lane != Lane::FIRST {
            for (element, steps) in base_offset.iter_mut().zip(self.motions.content(form.strides)) {
                *element += along(self.steps.content(*steps as u32), lane);
            }
        }
        (inputs, base_offset)
    }

    /// The form of a node, from the forms of its operands.
    fn form(&mut self, roots: &[TermId], at: usize) -> Form {
        let none = Form { class: NONE, strides: STILL, base_offset: 0 };
        let unwanted = self.wanted.as_ref().is_some_and(|wanted| wanted.lanes(at).is_empty());
        if unwanted || self.classes.len() > FEW_CLASSES.max(self.store.len() / 8) {
            return none;
        }
        let node = self.store.node_ref(at);
        if let Some(form) = self.matched(node) {
            return form;
        }
        let form = self.form_anew(roots, at);
        self.learn(node, form);
        form
    }

    /// Like [`Self::form`], for a node that matches no template.
    fn form_anew(&mut self, roots: &[TermId], at: usize) -> Form {
        let none = Form { class: NONE, strides: STILL, base_offset: 0 };
        let store = self.store;
        let node = store.node_ref(at);
        let (op, mask) = (node.op(), node.mask());
        let in_parts = |which| self.whole(node.operand(which)).is_some_and(|form| form.class == IN_PARTS);
        if self.parts.is_empty() || !(0..op.arity()).any(in_parts) {
            let mark = self.anchors.len();
            let result = self.apply_each(op, |classes, which| classes.operand(mask, node.operand(which)));
            if let Some(result) = result {
                return self.keep(mark, result);
            }
            self.anchors.truncate(mark);
        }
        if self.parts.len() > FEW_PARTS.max(8 * self.store.len()) {
            return none;
        }
        match self.wanted.get_or_insert_with(|| Reached::new(store, roots)).lanes(at) {
            LaneMask::NONE => none,
            wanted => {
                let operands = store.node(at).operands;
                self.in_parts(op, mask, wanted, &operands[..op.arity()])
            }
        }
    }

    /// The form of the node of which an operand is the whole row of lanes, in order.
    fn whole(&self, own: Lanes<'_>) -> Option<Form> {
        whole_node(own).map(|node| self.forms[node])
    }

    /// Applies an operation to operands that are read one by one; `None` if one has no class.
    fn apply_each(
        &mut self,
        op: TermOp,
        mut read: impl FnMut(&mut TranslationClasses<'c>, usize) -> Option<Operand>,
    ) -> Option<Operand> {
        let mut operands = [Operand::NOTHING; 3];
        for (which, operand) in operands[..op.arity()].iter_mut().enumerate() {
            *operand = read(self, which)?;
        }
        self.apply(op, &mut operands[..op.arity()])
    }

    /// The form of a result; drops all base offsets listed from `mark` on except its own.
    fn keep(&mut self, mark: usize, result: Operand) -> Form {
        let mut base_offset = result.base_offset;
        if base_offset == HERE {
            self.anchors.truncate(mark);
            base_offset = self.list(&[result.element]);
        } else if base_offset as usize >= mark {
            let count = result.inputs.count_ones() as usize;
            self.anchors.copy_within(base_offset as usize..base_offset as usize + count, mark);
            self.anchors.truncate(mark + count);
            base_offset = number_of(mark);
        } else {
            self.anchors.truncate(mark);
        }
        Form { class: result.class, strides: result.strides, base_offset }
    }

    /// The base offset of an operand, one element for each input.
    fn elements<'o>(&'o self, operand: &'o Operand) -> &'o [i64] {
        &self.from(operand)[..operand.inputs.count_ones() as usize]
    }

    /// Like [`Self::elements`], but the slice may extend beyond the base offset.
    fn from<'o>(&'o self, operand: &'o Operand) -> &'o [i64] {
        match operand.base_offset {
            HERE => std::slice::from_ref(&operand.element),
            base_offset => &self.anchors[base_offset as usize..],
        }
    }

    /// Appends a base offset to the list.
    fn list(&mut self, elements: &[i64]) -> u32 {
        append(&mut self.anchors, elements)
    }

    /// An operand in all lanes of `mask`, if it has one class.
    #[inline(always)] // Returned through memory in pieces, the result would be slow to read as a whole.
    fn operand(&mut self, mask: LaneMask, lanes: Lanes<'_>) -> Option<Operand> {
        let (first, last) = (mask.first(), mask.last());
        match lanes {
            Lanes::Affine { base, stride } if stride == 0 || first == last => {
                self.scalar(TermId::from_raw(base.wrapping_add_signed(stride * i64::from(first.number()))))
            }
            Lanes::Affine { stride, .. } => match lanes.term(first, mask).kind() {
                TermKind::Input { input, element } if input.index() < MAX_INPUTS => {
                    if let TermKind::Input { input: other, .. } = lanes.term(last, mask).kind()
                        && input == other
                    {
                        let base_offset = element as i64 - stride * i64::from(first.number());
                        Some(self.strided(input.index(), base_offset, stride))
                    } else {
                        self.gather(mask, mask, lanes)
                    }
                }
                // A row that starts at its node's first lane is aligned in all lanes.
                TermKind::Lane(node, from) if stride == 1 && from == first => {
                    let form = self.forms[node.index()];
                    let whole = form.class != NONE && form.class != IN_PARTS;
                    whole.then(|| Operand {
                        class: form.class,
                        inputs: self.classes.note(form.class),
                        strides: form.strides,
                        base_offset: form.base_offset,
                        element: 0,
                    })
                }
                TermKind::Input { .. } | TermKind::Constant(_) | TermKind::Lane(..) => {
                    self.gather(mask, mask, lanes)
                }
            },
            Lanes::Strides { base, motion } => {
                match motion.min_max(base).map(|raw| TermId::from_raw(raw).kind()) {
                    // Between two elements of one input there are only elements of it.
                    [TermKind::Input { input, .. }, TermKind::Input { input: other, .. }]
                        if input == other && input.index() < MAX_INPUTS =>
                    {
                        let element = base - TermId::input(input, 0).raw();
                        Some(self.input(input.index(), element as i64, motion.steps))
                    }
                    _ => self.gather(mask, mask, lanes),
                }
            }
            Lanes::Repeated { .. } | Lanes::List(_) => self.gather(mask, mask, lanes),
        }
    }

    fn strided(&mut self, input: usize, base_offset: i64, stride: i64) -> Operand {
        let (known, strides) = self.strides[input % 4];
        if known == stride {
            return Operand {
                class: input as u32,
                inputs: 1 << input,
                strides,
                base_offset: HERE,
                element: base_offset,
            };
        }
        let operand = self.input(input, base_offset, std::array::from_fn(|bit| stride << bit));
        self.strides[input % 4] = (stride, operand.strides);
        operand
    }

    fn input(&mut self, input: usize, base_offset: i64, steps: BitStrides) -> Operand {
        let (known, strides) = self.recent[input % 4];
        let strides = if known == steps {
            strides
        } else {
            let number = self.steps.number(&steps, 0);
            let strides = self.strides(&[number.into()]);
            self.recent[input % 4] = (steps, strides);
            strides
        };
        Operand { class: input as u32, inputs: 1 << input, strides, base_offset: HERE, element: base_offset }
    }

    /// An operand in some lanes of a node with the lanes of `mask`, if it has one class there.
    fn operand_in(&mut self, mask: LaneMask, lanes: LaneMask, own: Lanes<'_>) -> Option<Operand> {
        if let Lanes::Affine { base, stride: 0 } = own {
            return self.scalar(TermId::from_raw(base));
        }
        if let Some(form) = self.whole(own).filter(|form| form.class == IN_PARTS)
            && let Some(part) = self.parts_of(form).iter().find(|part| part.lanes == lanes)
        {
            let Form { class, strides, base_offset } = part.form;
            let inputs = self.classes.note(class);
            return Some(Operand { class, inputs, strides, base_offset, element: 0 });
        }
        self.gather(mask, lanes, own)
    }

    /// Like [`Self::operand_in`], read lane by lane and cached: forms of terms do not change.
    fn gather(&mut self, mask: LaneMask, lanes: LaneMask, own: Lanes<'_>) -> Option<Operand> {
        let read = Read::new(mask, lanes, own);
        if let Some(known) = self.gathered.find(&read) {
            let (operand, base_offset) = known.as_ref()?;
            return Some(Operand { base_offset: append(&mut self.anchors, base_offset), ..*operand });
        }
        let found = self.gather_anew(mask, lanes, own);
        let result = found.map(|operand| (operand, SmallVec::from_slice(self.elements(&operand))));
        self.gathered.keep(read, result);
        found
    }

    fn gather_anew(&mut self, mask: LaneMask, lanes: LaneMask, own: Lanes<'_>) -> Option<Operand> {
        let mut terms = [TermId::from_raw(0); 32];
        each_term(own, lanes, mask, |lane, term| terms[lane] = term);
        let first = terms[lanes.first()];
        if let TermKind::Input { input: only, .. } = first.kind() {
            let mut elements = [0; 32];
            let of_one_input = lanes.iter().all(|lane| match terms[lane].kind() {
                TermKind::Input { input, element } => {
                    elements[lane] = element as i64;
                    input == only
                }
                TermKind::Constant(_) | TermKind::Lane(..) => false,
            });
            if of_one_input && only.index() < MAX_INPUTS {
                return Some(match evenly(lanes, &elements) {
                    Some((base_offset, steps)) => self.input(only.index(), base_offset, steps),
                    None => {
                        let (base_offset, steps) = self.follow(lanes, &elements);
                        let strides = self.strides(&[steps]);
                        Operand {
                            class: only.0,
                            inputs: 1 << only.0,
                            strides,
                            base_offset: HERE,
                            element: base_offset,
                        }
                    }
                });
            }
        }
        // Runs of lanes usually have the same term, which is looked up once.
        let mut last = (first, self.scalar(first)?);
        let mut operands = [last.1; 32];
        let mut same = true;
        for lane in lanes {
            let term = terms[lane];
            if term != last.0 {
                if self.class(term) != Some(last.1.class) {
                    return None;
                }
                let (before, own) = (last.1, self.scalar(term)?);
                same &= self.elements(&own) == self.elements(&before);
                last = (term, own);
            }
            operands[lane] = last.1;
        }
        if same { Some(last.1) } else { Some(self.fit(lanes, &operands)) }
    }

    /// Interns the strides that consist of these steps, one for each input.
    fn strides(&mut self, steps: &[i64]) -> u32 {
        let still = steps.iter().all(|steps| *steps == i64::from(STILL));
        if still { STILL } else { self.motions.number(steps, 0) }
    }

    /// Joins the operands of some lanes, which have one class, into one operand.
    fn fit(&mut self, lanes: LaneMask, operands: &[Operand; 32]) -> Operand {
        let first = operands[lanes.first()];
        let mut strides: SmallVec<[i64; 4]> = SmallVec::new();
        let mut origins: SmallVec<[i64; 4]> = SmallVec::new();
        for at in 0..first.inputs.count_ones() as usize {
            let mut elements = [0; 32];
            for lane in lanes {
                elements[lane] = self.elements(&operands[lane])[at];
            }
            let (origin, steps) = self.follow(lanes, &elements);
            origins.push(origin);
            strides.push(steps);
        }
        let strides = self.strides(&strides);
        let same = self.elements(&first) == origins.as_slice();
        let base_offset = if same { first.base_offset } else { self.list(&origins) };
        Operand { strides, base_offset, ..first }
    }

    /// The element of one input in lane 0, and its interned steps, from its elements in some lanes.
    fn follow(&mut self, lanes: LaneMask, elements: &[i64; 32]) -> (i64, i64) {
        if let Some((origin, steps)) = evenly(lanes, elements) {
            return (origin, if steps == [0; 5] { STILL } else { self.steps.number(&steps, 0) }.into());
        }
        let origin = elements[lanes.first()];
        let mut steps = [0; 32];
        lanes.iter().for_each(|lane| steps[lane] = elements[lane] - origin);
        (origin, self.steps.number(&steps, 0).into())
    }

    /// The operand of a term that is uniform over the lanes.
    #[inline(always)] // As operands are.
    fn scalar(&mut self, term: TermId) -> Option<Operand> {
        let (class, inputs, base_offset) = match term.kind() {
            TermKind::Lane(node, lane) => {
                let form = self.form_of_lane(node.index(), lane)?;
                if form.strides == STILL || lane == Lane::FIRST {
                    (form.class, self.classes.note(form.class), form.base_offset)
                } else {
                    let (inputs, base_offset) = self.base_offset(form, lane);
                    (form.class, inputs, self.list(&base_offset))
                }
            }
            TermKind::Input { input, element } if input.index() < MAX_INPUTS => {
                let (class, inputs, element) = (input.0, 1 << input.0, element as i64);
                return Some(Operand { class, inputs, strides: STILL, base_offset: HERE, element });
            }
            TermKind::Input { .. } => return None,
            TermKind::Constant(id) => (FIRST_CONSTANT - id.0, 0, 0),
        };
        Some(Operand { class, inputs, strides: STILL, base_offset, element: 0 })
    }

    /// Applies an operation to operands; `None` if their strides differ.
    fn apply(&mut self, op: TermOp, operands: &mut [Operand]) -> Option<Operand> {
        let Some((question, slot)) = self.question(op, operands) else {
            return self.make(op, operands).map(|(result, _)| result);
        };
        let known = &self.applied[slot];
        if known.question == question {
            return Some(Operand { class: known.class, ..operands[usize::from(known.main)] });
        }
        let (result, main) = self.make(op, operands)?;
        self.applied[slot] = Applied { question, class: result.class, main };
        Some(result)
    }

    /// The cache key of an operation, and the slot of its result; `None` if no operand has all inputs or the key is
    /// too long. Equal keys have the same result: [`TranslationClasses::make`] depends on nothing else.
    #[inline]
    fn question(&self, op: TermOp, operands: &[Operand]) -> Option<(Question, usize)> {
        let inputs = operands.iter().fold(0, |inputs, operand| inputs | operand.inputs);
        let origin = operands.iter().rposition(|operand| operand.inputs == inputs)?;
        let from = self.from(&operands[origin]);
        let mut question = Question { op, classes: [NONE; 3], motions: [STILL; 3], apart: [0; MOST_APART] };
        let mut room = question.apart.iter_mut();
        for (which, operand) in operands.iter().enumerate() {
            question.classes[which] = operand.class;
            question.motions[which] = operand.strides;
            if which != origin {
                for (input, element) in bits(operand.inputs).zip(self.from(operand)) {
                    *room.next()? = i32::try_from(*element - from[rank(inputs, input)]).ok()?;
                }
            }
        }
        Some((question, operands[origin].class as usize & (self.applied.len() - 1)))
    }

    /// Applies an operation to operands; also returns the operand whose base offset and strides the result has, if
    /// it has all inputs.
    fn make(&mut self, op: TermOp, operands: &mut [Operand]) -> Option<(Operand, u8)> {
        let mut swapped = false;
        if op.info().commutes {
            let [first, second] = [&operands[0], &operands[1]];
            // Operands of one class are ordered by their base offsets.
            swapped = if first.class == second.class {
                self.elements(first) > self.elements(second)
            } else {
                // An order that is the same for every store.
                let [first, second] = [first.class, second.class].map(|class| self.shared_number(class));
                first > second
            };
            if swapped {
                operands.swap(0, 1);
            }
        }
        // The base offset of the operand with most inputs is taken, so that long sums share one.
        let inputs = operands.iter().fold(0, |inputs, operand| inputs | operand.inputs);
        let with_all = operands.iter().rposition(|operand| operand.inputs == inputs);
        let most = || (0..operands.len()).max_by_key(|at| operands[*at].inputs.count_ones());
        let main = with_all.or_else(most)?;
        let mut result = Operand { class: NONE, inputs, ..operands[main] };
        if with_all.is_none() {
            let mut strides: SmallVec<[i64; 4]> = SmallVec::new();
            let mut base_offset: SmallVec<[i64; 4]> = SmallVec::new();
            for input in bits(inputs) {
                let has = |operand: &&Operand| operand.inputs >> input & 1 == 1;
                let from = Some(&operands[main]).filter(has).or_else(|| operands.iter().find(has))?;
                let at = rank(from.inputs, input);
                base_offset.push(self.elements(from)[at]);
                strides.push(self.steps_of(from).map_or(STILL.into(), |steps| steps[at]));
            }
            result.base_offset = self.list(&base_offset);
            result.strides = self.strides(&strides);
        }
        let mut key = std::mem::take(&mut self.key);
        let applies = self.spell(op, operands, main, &result, &mut key);
        if applies {
            result.class = self.classes.number(&key, inputs);
            if result.class as usize == self.numbers.len() {
                let shared = std::array::from_fn(|at| {
                    operands.get(at).map_or(0, |operand| self.shared_number(operand.class))
                });
                key[..2].copy_from_slice(&head(op, shared));
                self.numbers.push(self.shared.operation(&key));
            }
        }
        self.key = key;
        let main = if swapped && main < 2 { 1 - main } else { main };
        applies.then_some((result, main as u8))
    }

    /// The content of the class of an operation, relative to the base offset of the result, which extends that of
    /// the main operand; false if the strides of operands differ.
    fn spell(
        &self,
        op: TermOp,
        operands: &[Operand],
        main: usize,
        result: &Operand,
        key: &mut Vec<i64>,
    ) -> bool {
        key.clear();
        key.extend(head(op, std::array::from_fn(|at| operands.get(at).map_or(0, |operand| operand.class))));
        let origin = self.from(result);
        for (which, operand) in operands.iter().enumerate() {
            if which == main {
                continue;
            }
            let elements = self.from(operand);
            let (own, whole) = (self.steps_of(operand), self.steps_of(result));
            let moves = |steps: Option<&[i64]>, at: usize| steps.map_or(STILL.into(), |steps| steps[at]);
            // Finds each of the operand's inputs among those of the result, which has all of them.
            let (mut rest, mut all) = (operand.inputs, result.inputs);
            let (mut at, mut place) = (0, 0);
            while rest != 0 {
                if rest & all & all.wrapping_neg() != 0 {
                    if moves(own, at) != moves(whole, place) {
                        return false;
                    }
                    key.push(elements[at] - origin[place]);
                    rest &= rest - 1;
                    at += 1;
                }
                all &= all - 1;
                place += 1;
            }
        }
        true
    }

    /// The interned steps of each input; `None` if the operand is uniform.
    fn steps_of(&self, operand: &Operand) -> Option<&[i64]> {
        (operand.strides != STILL).then(|| self.motions.content(operand.strides))
    }
}

/// The beginning of a class's content: an operation, and the classes of its operands.
fn head(op: TermOp, [first, second, third]: [u32; 3]) -> [i64; 2] {
    [(op as i64) << 32 | i64::from(first), i64::from(second) << 32 | i64::from(third)]
}

/// Appends a list to others, and returns its index.
fn append(lists: &mut Vec<i64>, list: &[i64]) -> u32 {
    lists.extend_from_slice(list);
    number_of(lists.len() - list.len())
}

/// For each bit, the lanes whose ids do not have it.
const NO_BIT: [u32; 5] = [0x5555_5555, 0x3333_3333, 0x0f0f_0f0f, 0x00ff_00ff, 0x0000_ffff];

/// The element of one input in lane 0, and its strides, if it is affine in the bits of the lane id.
fn evenly(lanes: LaneMask, elements: &[i64; 32]) -> Option<(i64, BitStrides)> {
    let first = lanes.first();
    let origin = elements[first];
    if lanes.iter().all(|lane| elements[lane] == origin) {
        return Some((origin, [0; 5]));
    }
    let steps: BitStrides = std::array::from_fn(|bit| {
        // Two lanes that differ in this bit only.
        let apart = lanes.bits() & lanes.bits() >> (1 << bit) & NO_BIT[bit];
        let low = apart.trailing_zeros() as usize;
        if apart == 0 { 0 } else { elements[low | 1 << bit] - elements[low] }
    });
    let origin = origin - along(&steps, first);
    let even = lanes.iter().all(|lane| elements[lane] == origin + along(&steps, lane));
    even.then_some((origin, steps))
}

/// The offset of elements from lane 0 to another lane, by bits or by lanes.
fn along(steps: &[i64], lane: Lane) -> i64 {
    if steps.len() == 32 {
        return steps[lane];
    }
    bits(lane.number()).map(|bit| steps[bit as usize]).sum()
}
