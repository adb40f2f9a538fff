//! Elements of the inputs that no kernel computes with: a claim about them is empty.
//!
//! They are what no term of either side mentions. Data that the case gives is no term, and nothing is said of it.

use crate::base::lane::LaneMask;
use crate::case::{Contents, Param, ParamKind, Role};
use crate::machine::{Classes, Execution, Extents};
use crate::term::{Lanes, Store, TermId, TermKind};
use crate::verdict::UnusedInput;

/// Nothing is said of longer tensors, so that the memory for marks is bounded.
const MOST_ELEMENTS: u64 = 1 << 26;

/// The inputs with elements that are used by none of the kernels, which all ran to the end.
pub(crate) fn unused_inputs(params: &[Param], outcomes: &[Execution]) -> Vec<UnusedInput> {
    // An instruction without a result hides what it computes with.
    if outcomes.iter().any(|outcome| !outcome.unevaluated.is_empty()) {
        return Vec::new();
    }
    let mut marks: Vec<Option<Marks>> = params.iter().map(Marks::of).collect();
    if marks.iter().all(Option::is_none) {
        return Vec::new();
    }
    for outcome in outcomes {
        match &outcome.classes {
            Some(classes) => mark_classes(classes, outcome, params, &mut marks),
            None => {
                outcome.stores.iter().for_each(|store| mark_operands(store, &mut marks));
                let terms = outcome.outputs.iter().filter_map(|output| output.value.term());
                terms.for_each(|term| mark(&mut marks, term));
                let elements = outcome.bags.iter().flat_map(|bag| &bag.elements);
                elements.for_each(|element| mark(&mut marks, element.value));
            }
        }
    }
    let told = params.iter().zip(&marks).filter_map(|(param, marks)| marks.as_ref()?.told(param));
    told.collect()
}

/// So many elements are marked for CTAs that were not executed; nothing is said where there are more.
const MOST_MARKS: u64 = 1 << 28;

/// Marks what the first CTA of each class has as operands, for all CTAs of the class.
fn mark_classes(classes: &Classes, outcome: &Execution, params: &[Param], marks: &mut [Option<Marks>]) {
    let mut made = 0;
    for class in &classes.all {
        // What a CTA without outputs computes is not kept.
        let Some(store) = class.store else { continue };
        let mut own: Vec<Option<Marks>> = params.iter().map(Marks::of).collect();
        mark_operands(&outcome.stores[store], &mut own);
        let outputs = outcome.outputs.iter().filter(|output| output.store == store);
        outputs.filter_map(|output| output.value.term()).for_each(|term| mark(&mut own, term));
        for (param, (own, all)) in own.iter().zip(marks.iter_mut()).enumerate() {
            let (Some(own), Some(known)) = (own, all.as_mut()) else { continue };
            let steps = class.steps[param].unwrap_or_default();
            // Dimensions in which all CTAs have the same elements.
            let grid = class.extents.grid();
            let extents = std::array::from_fn(|at| if steps[at] == 0 { 1 } else { grid[at] });
            let extents = Extents::of_grid(extents);
            let elements: Vec<u64> = (0..own.elements).filter(|at| own.is_marked(*at)).collect();
            made += elements.len() as u64 * extents.count();
            if made > MOST_MARKS {
                *all = None;
                continue;
            }
            if elements.is_empty() {
                continue;
            }
            for at in extents.positions() {
                let by: i64 = steps.iter().zip(at).map(|(step, at)| step * i64::from(at)).sum();
                elements
                    .iter()
                    .filter_map(|element| element.checked_add_signed(by))
                    .for_each(|at| known.set(at));
            }
        }
    }
}

/// A bit for each element of an input.
struct Marks {
    elements: u64,
    words: Vec<u64>,
}

impl Marks {
    fn of(param: &Param) -> Option<Marks> {
        let ParamKind::Tensor { shape, role: Role::In, contents: Contents::Symbolic, .. } = &param.kind
        else {
            return None;
        };
        let elements = shape.iter().try_fold(1u64, |all, extent| all.checked_mul(*extent));
        let elements = elements.filter(|elements| *elements <= MOST_ELEMENTS)?;
        Some(Marks { elements, words: vec![0; elements.div_ceil(64) as usize] })
    }

    fn is_marked(&self, element: u64) -> bool {
        self.words.get((element / 64) as usize).is_some_and(|word| word >> (element % 64) & 1 == 1)
    }

    fn set(&mut self, element: u64) {
        if let Some(word) = self.words.get_mut((element / 64) as usize) {
            *word |= 1 << (element % 64);
        }
    }

    fn told(&self, param: &Param) -> Option<UnusedInput> {
        let mut told =
            UnusedInput { tensor: param.name.clone(), shape: Vec::new(), unused: 0, runs: 0, first: (0, 0) };
        let mut follows = false;
        for element in 0..self.elements {
            let is_unused = !self.is_marked(element);
            if is_unused {
                told.unused += 1;
                told.runs += u64::from(!follows);
                match told.runs {
                    1 if !follows => told.first = (element, 1),
                    1 => told.first.1 += 1,
                    _ => {}
                }
            }
            follows = is_unused;
        }
        if let ParamKind::Tensor { shape, .. } = &param.kind {
            told.shape.clone_from(shape);
        }
        (told.unused > 0).then_some(told)
    }
}

fn mark(marks: &mut [Option<Marks>], term: TermId) {
    if let TermKind::Input { input, element } = term.kind()
        && let Some(Some(marks)) = marks.get_mut(input.index())
    {
        marks.set(element);
    }
}

/// Marks what the nodes of a store have as operands.
fn mark_operands(store: &Store, marks: &mut [Option<Marks>]) {
    for at in 0..store.len() {
        let node = store.node_ref(at);
        for which in 0..node.op().arity() {
            let operand = node.operand(which);
            match operand {
                // The lanes of a node, most often: no input.
                Lanes::Affine { base, .. } | Lanes::Strides { base, .. }
                    if !matches!(TermId::from_raw(base).kind(), TermKind::Input { .. }) => {}
                Lanes::Affine { stride: 0, base } => mark(marks, TermId::from_raw(base)),
                Lanes::Affine { .. } | Lanes::Strides { .. } => {
                    let mask: LaneMask = node.mask();
                    mask.iter().for_each(|lane| mark(marks, operand.term(lane, mask)));
                }
                Lanes::List(list) | Lanes::Repeated { list, .. } => {
                    list.iter().for_each(|raw| mark(marks, TermId::from_raw(*raw)));
                }
            }
        }
    }
}
