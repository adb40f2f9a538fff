//! Classes compared with the terms that they stand for, spelled out.

use super::*;
use crate::base::index::InstId;
use crate::base::lane::{Lane, LaneMask};
use crate::term::{InputId, NodeId, View};
use proptest::prelude::*;
use std::collections::HashMap;

/// A term with every element counted from the base offset, commutative operands in the order of their spelling: what a
/// class stands for.
fn spelled(store: &Store, term: TermId, place: &ClassPlace) -> String {
    match store.view(term) {
        View::Input { input, element } => {
            let (_, from) = place.elements().find(|(bit, _)| *bit == input.0).expect("an input of the term");
            format!("{}[{}]", input.0, element as i64 - from)
        }
        View::Constant(constant) => format!("{:?}", constant.exact),
        View::Apply(op, operands) => {
            let mut parts: Vec<String> =
                operands[..op.arity()].iter().map(|operand| spelled(store, *operand, place)).collect();
            if op.info().commutes {
                parts[..2].sort();
            }
            format!("{op:?}({})", parts.join(", "))
        }
    }
}

/// The raw terms of an operand in all lanes, from drawn numbers.
fn lanes(draw: [u64; 4], nodes: &[(NodeId, LaneMask)], constant: TermId, by: [u64; 3]) -> [u64; 32] {
    let [what, base, stride, row] = draw;
    let input =
        |element: u64| TermId::input(InputId((what % 3) as u32), element + by[(what % 3) as usize]).raw();
    let node = nodes.get((base % (nodes.len() as u64 + 1)) as usize).filter(|(_, mask)| mask.is_all());
    Lane::each(|own| {
        let lane = u64::from(own.number());
        match (what / 3 % 8, node) {
            (0, _) => input(100 + base + stride * lane),
            (1, _) => input(100 + base + row * (lane / 4) + stride * (lane % 4)),
            (2, _) => input(100 + base * (lane ^ stride)),
            (3, _) => input(100 + lane * lane % 7),
            (4, _) => constant.raw(),
            (5, Some((node, _))) => TermId::lane(*node, Lane::new((lane ^ stride) as u32 & 31)).raw(),
            (6, Some((node, _))) => TermId::lane(*node, Lane::new((lane / 4 * stride) as u32 & 31)).raw(),
            (_, Some((node, _))) => TermId::lane(*node, own).raw(),
            (_, None) => input(base),
        }
    })
}

/// An operation, the lanes that it is applied in, and numbers for its operands.
pub(in super::super) type Draw = (u8, LaneMask, [[u64; 4]; 3]);

/// A random list of nodes.
pub(in super::super) fn draws() -> impl Strategy<Value = Vec<Draw>> {
    let operand = || [0u64..24, 0u64..6, 0u64..4, 0u64..9];
    let mask = prop_oneof![3 => Just(LaneMask::ALL), 1 => (1u32..).prop_map(LaneMask::from_bits), 1 => Just(LaneMask::of(Lane::FIRST))];
    prop::collection::vec((any::<u8>(), mask, [operand(), operand(), operand()]), 1..7)
}

/// Appends drawn nodes to a store; returns the nodes and their lanes.
pub(in super::super) fn append(draws: &[Draw], store: &mut Store) -> Vec<(NodeId, LaneMask)> {
    append_translated(draws, store, [0; 3])
}

/// Like [`append`], with elements of each input that are so many further on.
fn append_translated(draws: &[Draw], store: &mut Store, by: [u64; 3]) -> Vec<(NodeId, LaneMask)> {
    let ops = [TermOp::Add, TermOp::Sub, TermOp::Fma, TermOp::Max, TermOp::Exp2, TermOp::Select];
    let constant = store.intern(crate::term::Constant {
        exact: crate::number::Extended::Finite(crate::number::Rational::ONE),
        literal: None,
        rounded: None,
    });
    let mut nodes: Vec<(NodeId, LaneMask)> = Vec::new();
    for (op, mask, operands) in draws {
        let op = ops[usize::from(*op) % ops.len()];
        let operands: Vec<[u64; 32]> =
            operands[..op.arity()].iter().map(|draw| lanes(*draw, &nodes, constant, by)).collect();
        let operands: Vec<&[u64; 32]> = operands.iter().collect();
        nodes.push((store.push(op, *mask, &operands, InstId(0)), *mask));
    }
    nodes
}

fn check(draws: &[Draw], mut store: Store) -> Result<(), TestCaseError> {
    // Twice, so that operations are found in the cache.
    let nodes = append(&[draws, draws].concat(), &mut store);
    // All lanes of some nodes, and one of the last.
    let (rest, last) = nodes.split_at(nodes.len() - 1);
    let asked = rest.iter().filter(|(node, _)| node.index() % 2 == 0).copied();
    let asked = asked.chain(last.iter().map(|(node, mask)| (*node, LaneMask::of(mask.first()))));
    let each = |(node, lanes): (NodeId, LaneMask)| lanes.iter().map(move |lane| TermId::lane(node, lane));
    check_roots(&store, &asked.flat_map(each).collect::<Vec<_>>())?;
    check_roots(&store, &nodes.iter().copied().flat_map(each).collect::<Vec<_>>())
}

fn check_roots(store: &Store, roots: &[TermId]) -> Result<(), TestCaseError> {
    Classes::default().check(store, roots)
}

/// The classes of several stores, and what they stand for.
#[derive(Default)]
struct Classes {
    shared: SharedClasses,
    spellings: HashMap<u32, String>,
    numbers: HashMap<String, u32>,
}

impl Classes {
    /// Terms have one class exactly if they have one spelling, across all stores checked so far.
    fn check(&mut self, store: &Store, roots: &[TermId]) -> Result<(), TestCaseError> {
        let places = TranslationClasses::places(store, roots, &self.shared);
        for (term, place) in roots.iter().zip(places) {
            let place = place.expect("few enough");
            let spelling = spelled(store, *term, &place);
            let known = self.spellings.entry(place.class).or_insert_with(|| spelling.clone());
            prop_assert_eq!(&*known, &spelling);
            prop_assert_eq!(*self.numbers.entry(spelling).or_insert(place.class), place.class);
        }
        Ok(())
    }
}

/// A row of an input: the element of lane 0, and the strides over lanes, warps and iterations of a loop.
type Row = [u64; 4];

fn row((input, [base, stride, of_warp, of_round]): (u32, Row), warp: u64, round: u64) -> [u64; 32] {
    let first = 100 + base + of_warp * warp + of_round * round;
    Lane::each(|lane| TermId::input(InputId(input), first + stride * u64::from(lane.number())).raw())
}

fn through_node(store: &mut Store, op: TermOp, mask: LaneMask, operand: &[u64; 32]) -> [u64; 32] {
    let node = store.push(op, mask, &[operand], InstId(0));
    Lane::each(|lane| TermId::lane(node, lane).raw())
}

proptest! {
    /// Warps that run a loop over translated elements, except for one warp in one iteration, where another element
    /// or number is multiplied or added; as whole warps and as single threads.
    #[test]
    fn what_is_done_again_is_known(
        rows in prop::array::uniform3([0u64..9, 0u64..3, 0u64..5, 0u64..5]),
        op in prop::sample::select(vec![TermOp::Fma, TermOp::Select]),
        sum in prop::sample::select(vec![TermOp::Add, TermOp::Sub, TermOp::Max]),
        (odd_warp, odd_round, by) in (0u64..4, 0u64..5, 0u64..6),
        (alone, through, number) in any::<(bool, bool, bool)>(),
    ) {
        let mut store = Store::new();
        let numbers = [1, 2].map(|number| {
            let exact = crate::number::Extended::Finite(crate::number::Rational::from_integer(number));
            store.intern(crate::term::Constant { exact, literal: None, rounded: None }).raw()
        });
        let mask = if alone { LaneMask::of(Lane::FIRST) } else { LaneMask::ALL };
        let mut totals: Vec<[u64; 32]> = (0..4).map(|warp| row((2, rows[2]), warp, 0)).collect();
        let mut nodes = Vec::new();
        for round in 0..5 {
            for warp in 0..4u64 {
                let odd = (warp, round) == (odd_warp, odd_round);
                let mut x = row((0, rows[0]), warp, if odd { round + by % 4 / 2 } else { round });
                if through {
                    let function = if odd && by == 1 { TermOp::Abs } else { TermOp::Neg };
                    x = through_node(&mut store, function, mask, &x);
                }
                let y = row((1, rows[1]), warp, round);
                let total = &mut totals[warp as usize];
                let product = store.push(op, mask, &[&x, &y, total], InstId(0));
                let result = TermId::lane(product, Lane::FIRST).raw();
                let lanes: [u64; 32] = Lane::each(|lane| result + u64::from(lane.number()));
                let other = odd && by > 3;
                let added = if number {
                    [numbers[usize::from(other)]; 32]
                } else {
                    row((1, rows[1]), warp, round + u64::from(other))
                };
                let added = if through { through_node(&mut store, TermOp::Neg, mask, &added) } else { added };
                let next = store.push(sum, mask, &[&lanes, &added], InstId(0));
                *total = Lane::each(|lane| TermId::lane(next, lane).raw());
                nodes.extend([(product, mask), (next, mask)]);
            }
        }
        let each = |(node, lanes): (NodeId, LaneMask)| lanes.iter().step_by(5).map(move |lane| TermId::lane(node, lane));
        check_roots(&store, &nodes.into_iter().flat_map(each).collect::<Vec<_>>())?;
    }
}

proptest! {
    /// Terms have one class exactly if they are translations of one another, whatever the lanes do.
    #[test]
    fn shapes_are_terms_up_to_moving_inputs(draws in draws()) {
        check(&draws, Store::new())?;
        check(&draws, Store::without_patterns())?;
    }

    /// The same holds across stores, in which classes are found in other orders.
    #[test]
    fn shapes_hold_across_stores(draws in draws(), others in draws()) {
        let mut classes = Classes::default();
        for draws in [draws.clone(), [others, draws].concat()] {
            let mut store = Store::new();
            let nodes = append(&draws, &mut store);
            let lanes = |(node, lanes): (NodeId, LaneMask)| lanes.iter().map(move |lane| TermId::lane(node, lane));
            classes.check(&store, &nodes.into_iter().flat_map(lanes).collect::<Vec<_>>())?;
        }
    }
}

proptest! {
    /// Of a store that is a translation of another, terms have the places of the other's, translated. A store with
    /// another element or operation somewhere is none, unless its terms have these places as well.
    #[test]
    fn a_translated_store_has_translated_places(
        draws in draws(),
        (by, change) in ([0u64..5, 0u64..5, 0u64..5], (0usize..8, 0usize..3, 0usize..4, 1u64..4)),
        without_patterns: bool,
    ) {
        let mut changed = draws.clone();
        let (node, operand, what, by_so_many) = change;
        if let Some((op, _, operands)) = changed.get_mut(node) {
            match operand {
                0 if what == 0 => *op = op.wrapping_add(1),
                _ => operands[operand][what] += by_so_many,
            }
        }
        let store_of = |draws: &[Draw], by| {
            let mut store = if without_patterns { Store::without_patterns() } else { Store::new() };
            let nodes = append_translated(draws, &mut store, by);
            let each = |(node, lanes): (NodeId, LaneMask)| lanes.iter().map(move |lane| TermId::lane(node, lane));
            (store, nodes.into_iter().flat_map(each).collect::<Vec<_>>())
        };
        let shared = SharedClasses::default();
        let (store, roots) = store_of(&draws, [0; 3]);
        let places = TranslationClasses::places(&store, &roots, &shared);
        for (draws, is_translated) in [(&draws, true), (&changed, node >= draws.len())] {
            let (other, its_roots) = store_of(draws, by);
            let found = Translation::between((&store, &roots), (&other, &its_roots));
            prop_assert!(found.is_some() || !is_translated);
            let Some(found) = found else { continue };
            let own = TranslationClasses::places(&other, &its_roots, &shared);
            let translated = places.iter().map(|place| Some(place.as_ref()?.translated(&found)));
            prop_assert_eq!(own, translated.collect::<Vec<_>>());
        }
    }
}

#[test]
fn rows_of_a_product_have_one_shape_for_all_lanes() {
    let mut store = Store::new();
    let element = |input: u32, at: u64| TermId::input(InputId(input), at).raw();
    let mut sum = [store.apply(TermOp::Neg, &[TermId::input(InputId(2), 0)], InstId(0)).raw(); 32];
    for k in 0..64 {
        let rows = Lane::each(|lane| element(0, 100 * (u64::from(lane.number()) / 4) + k));
        let columns = Lane::each(|lane| element(1, 8 * k + u64::from(lane.number()) % 4));
        let node = store.push(TermOp::Fma, LaneMask::ALL, &[&rows, &columns, &sum], InstId(0));
        sum = Lane::each(|lane| TermId::lane(node, lane).raw());
    }
    let shared = SharedClasses::default();
    let mut classes = TranslationClasses::new(&store, &sum.map(TermId::from_raw), &shared);
    assert!(classes.parts.is_empty());
    assert_eq!(classes.anchors.len(), 1 + 3, "long sums share a base offset");
    let [first, other] = [0, 13].map(|lane| classes.place(TermId::from_raw(sum[lane])).expect("a class"));
    assert_eq!(first.class, other.class);
    assert_eq!(other.base_offset.as_slice(), [300, 1, 0]);
}
