//! Elements decided in terms of cut points: values that many of them are computed from are proved equal once, and the
//! elements, with names in place of these values, are decided like any others. What is not proved so is left to proofs
//! of the elements as they are.

use super::batch::All;
use super::sweep::Sweep;
use super::sweep::cuts::{Cut, analysis_of};
use super::{ElementPair, Part, alike_of, end_in_order, prove_in_runs};
use crate::algebra::Analysis;
use crate::base::budget::Held;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Fewer elements of two stores are not worth looking for what they share.
const MIN_ELEMENTS: usize = 32;
/// The same for nodes.
const MIN_NODES: usize = 1 << 9;
/// The largest number of pairs of stores whose elements are examined.
const MAX_GROUPS: usize = 64;

/// Proofs of those of some elements that follow from what they share. `None` if there are none.
pub(super) fn proved(all: All<'_, '_>, positions: &[usize]) -> Option<Part> {
    let mut groups: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
    for at in positions {
        groups.entry(all.sides[*at]).or_default().push(*at);
    }
    let ration = Rc::new(all.ration(0));
    let mut cuts: Vec<(Vec<usize>, [usize; 2], Cut)> = Vec::new();
    let mut inputs = None;
    for (sides, members) in groups.into_iter().filter(|(_, members)| members.len() >= MIN_ELEMENTS) {
        let element = &all.elements[members[0]];
        if cuts.len() == MAX_GROUPS || element.reference.0.len() + element.opt.0.len() < MIN_NODES {
            continue;
        }
        let analysis = sides.map(|side| &all.analysis[side]);
        let sweep = Sweep::of_many(element, analysis, all.inputs, all.options, &ration)?;
        inputs.get_or_insert_with(|| sweep.inputs().to_vec());
        let roots: [Vec<_>; 2] = [
            members.iter().map(|at| all.elements[*at].reference.1).collect(),
            members.iter().map(|at| all.elements[*at].opt.1).collect(),
        ];
        if let Some(cut) = sweep.cut([&roots[0], &roots[1]]) {
            cuts.push((members, sides, cut));
        }
    }
    let (inputs, taken) = (inputs?, ration.spent());
    drop(ration);
    let mut positions = Vec::new();
    let (mut elements, mut sides, mut stores, mut roots) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut analysis: Vec<Analysis> = Vec::new();
    for (members, whole, cut) in &cuts {
        let first = stores.len();
        for (side, whole) in whole.iter().enumerate() {
            stores.push(&cut.stores[side]);
            roots.push(cut.roots[side].clone());
            analysis.push(analysis_of(cut, side, &all.analysis[*whole]));
        }
        for (at, member) in members.iter().enumerate() {
            let [reference, opt] = [0, 1].map(|side: usize| (&cut.stores[side], cut.roots[side][at]));
            elements.push(ElementPair { reference, opt });
            sides.push([first, first + 1]);
            positions.push(*member);
        }
    }
    let nodes = stores.iter().map(|store| store.len()).sum::<usize>();
    let terms = stores.iter().map(|store| store.bytes()).sum();
    let options = super::DecisionOptions {
        held: all.options.held.and(&Held { terms, ..Held::default() }),
        ..all.options.clone()
    };
    let alike = alike_of(&stores, &sides, &roots, &options);
    let short =
        All { elements: &elements, sides: &sides, analysis: &analysis, alike: &alike, inputs: &inputs, options: &options };
    let firsts: Vec<usize> = (0..elements.len()).filter(|at| alike.is_first(*at)).collect();
    let mut parts = prove_in_runs(short, &firsts, nodes, taken, elements.len());
    let taken = end_in_order(&mut parts, taken, short);
    let mut is_proved = vec![false; elements.len()];
    for (at, proof) in parts.iter().flat_map(|part| &part.proofs) {
        is_proved[*at] = proof.is_unconditional();
    }
    let mut part = Part::default();
    let followed = (0..elements.len()).filter(|at| is_proved[alike.first(*at)]);
    part.proofs = followed.map(|at| (positions[at], super::Proof::default())).collect();
    part.proofs.sort_unstable_by_key(|(at, _)| *at);
    part.readings = parts.into_iter().flat_map(|part| part.readings).collect();
    part.readings.extend(cuts.into_iter().flat_map(|(_, _, cut)| cut.readings));
    part.taken.push((part.proofs.first()?.0, taken));
    Some(part)
}
