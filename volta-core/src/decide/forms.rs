//! The normal forms of all elements of the outputs together, as a formula and as a digest.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::InputInfo;
use super::prove::{FORM_STEPS, drawing, ranges};
use crate::algebra::{
    Analysis, ClassPlace, Digest, Digests, NoOutline, Outlines, Prover, SharedClasses, Tactic, TermRef,
    TranslationClasses, mix,
};
use crate::base::ration::Ration;
use crate::formula::{Formula, Node, Shapes, marked};
use crate::number::Rational;
use crate::term::{InputId, Store, TermId};
use crate::verdict::{FormsDigest, FormulaText, Report, Verdict};

/// What is collected of one side's outputs.
pub struct Forms<'i> {
    inputs: &'i [InputInfo],
    digest: FormsDigest,
    shapes: Shapes,
    elements: Vec<(InputId, u64, Vec<Node>)>,
    classes: SharedClasses,
    /// By translation class, the form of its first element.
    known: FxHashMap<u32, Known>,
}

/// The form that the elements of one translation class share.
struct Known {
    place: ClassPlace,
    digest: Option<Digest>,
    /// Outlines in several arrangements.
    outline: Vec<Node>,
}

impl<'i> Forms<'i> {
    /// An empty collection.
    pub fn new(inputs: &'i [InputInfo]) -> Forms<'i> {
        let extents = inputs.iter().map(|input| input.shape.clone()).collect();
        Forms {
            inputs,
            digest: FormsDigest::default(),
            shapes: Shapes::new(extents),
            elements: Vec::new(),
            classes: SharedClasses::default(),
            known: FxHashMap::default(),
        }
    }

    /// Adds an element with a concrete value.
    pub fn add_bits(&mut self, param: InputId, element: u64, bits: u64) {
        self.digest.add_bits(name(param, element), bits);
        let value = match i64::try_from(bits) {
            Ok(value) if value.unsigned_abs() >> 62 == 0 => self.shapes.whole(value),
            _ => self.shapes.number(Rational::from_u64(bits)),
        };
        self.elements.push((param, element, value.into_iter().collect()));
    }

    /// Adds elements whose values are terms of one store. Elements whose forms are translations of one another cost one
    /// form. All calls together draw from `ration`.
    pub fn add_terms(&mut self, store: &Store, elements: &[(InputId, u64, TermId)], ration: &Rc<Ration>) {
        let roots: Vec<TermId> = elements.iter().map(|(.., term)| *term).collect();
        let analysis = Analysis::new(store, &roots);
        let places = TranslationClasses::places(store, &roots, &self.classes);
        // The tactic that abbreviates long sums: a digest is the same with and without abbreviations.
        let mut prover = drawing(Prover::new(ranges(self.inputs), Tactic::SHOWING), ration);
        let number = prover.add_store(store, &analysis);
        let mut digests = Digests::default();
        let mut outlines = Outlines::default();
        for ((param, element, term), place) in elements.iter().zip(places) {
            let at = TermRef { store: number, term: *term };
            let mut digest = |prover: &mut Prover<'_>| {
                prover.set_budget(FORM_STEPS);
                digests.digest(prover, at).ok()
            };
            let mut outline = |prover: &mut Prover<'_>, shapes: &mut Shapes| {
                prover.set_budget(FORM_STEPS);
                match outlines.outline(prover, shapes, at) {
                    Ok(nodes) => nodes,
                    Err(NoOutline::NoForm(why)) => shapes.constant(&format!("({why})")).into_iter().collect(),
                    Err(NoOutline::TooLarge) => Vec::new(),
                }
            };
            let (digest, outline) = match place {
                None => (digest(&mut prover), outline(&mut prover, &mut self.shapes)),
                Some(place) => {
                    let known = self.known.entry(place.class).or_insert_with(|| Known {
                        place: place.clone(),
                        digest: digest(&mut prover),
                        outline: outline(&mut prover, &mut self.shapes),
                    });
                    let by: Vec<(InputId, i64)> = known
                        .place
                        .elements()
                        .zip(place.elements())
                        .map(|((input, from), (_, to))| (InputId(input), to - from))
                        .collect();
                    let digest = known.digest.as_ref().map(|digest| translated(digest, &by));
                    let translate = |node| self.shapes.translated(node, &by);
                    let nodes: Option<Vec<Node>> = known.outline.iter().map(translate).collect();
                    // A row ends inside the class: the positions are no longer affine.
                    let nodes = nodes.unwrap_or_else(|| outline(&mut prover, &mut self.shapes));
                    (digest, nodes)
                }
            };
            match digest {
                Some(digest) => self.digest.add_form(name(*param, *element), &digest),
                None => self.digest.open += 1,
            }
            self.elements.push((*param, *element, outline));
        }
    }

    /// The digest of all forms.
    pub fn digest(&self) -> FormsDigest {
        self.digest
    }

    /// The digest, and the formula of all elements.
    pub fn told(self) -> (FormsDigest, Formula) {
        (self.digest, self.formula())
    }

    /// The formula of all elements.
    pub fn formula(mut self) -> Formula {
        let names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
        self.shapes.formula(&self.elements, &names)
    }
}

/// Adds the formulas of kernels to a report; if two kernels differ, with the differences marked.
pub fn tell(report: &mut Report, told: Vec<(FormsDigest, Formula)>) {
    let (digests, formulas): (Vec<FormsDigest>, Vec<Formula>) = told.into_iter().unzip();
    let marked = match (formulas.as_slice(), &report.verdict) {
        ([one, other], Verdict::Different(_)) => marked(one, other).into(),
        (formulas, _) => formulas.to_vec(),
    };
    let text = |(formula, marked): (&Formula, Formula)| FormulaText {
        text: formula.to_string(),
        marked: marked.to_string(),
        mathml: marked.mathml(),
    };
    report.form_digests = digests;
    report.formulas = formulas.iter().zip(marked).map(text).collect();
}

/// A key for an element of an output.
fn name(param: InputId, element: u64) -> u128 {
    mix(u128::from(param.0), u128::from(element))
}

/// The digest of a form, from that of a form of which it is a translation.
fn translated(digest: &Digest, by: &[(InputId, i64)]) -> Digest {
    let mut digest = digest.clone();
    for (input, distance) in by {
        for (_, first) in digest.first.iter_mut().filter(|(own, _)| own == input) {
            *first = first.wrapping_add_signed(*distance);
        }
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::index::InstId;
    use crate::number::Rational;
    use crate::term::{Constant, TermOp};

    const N: u64 = 40;

    fn x(element: u64) -> TermId {
        TermId::input(InputId(0), element)
    }

    fn number(store: &mut Store, value: i64) -> TermId {
        store.intern(Constant { exact: Rational::from_integer(value).into(), literal: None, rounded: None })
    }

    /// `√(Σ w[k]·x[row + k]²) + x[row]`, summed upwards or downwards.
    fn norm(store: &mut Store, row: u64, weights: &[i64], upwards: bool) -> TermId {
        let mut sum = number(store, 0);
        let order: Vec<usize> =
            if upwards { (0..weights.len()).collect() } else { (0..weights.len()).rev().collect() };
        for k in order {
            let weight = number(store, weights[k]);
            let element = x(row * N + k as u64);
            let square = store.apply(TermOp::Mul, &[element, element], InstId(0));
            sum = store.apply(TermOp::Fma, &[square, weight, sum], InstId(0));
        }
        let root = store.apply(TermOp::Sqrt, &[sum], InstId(0));
        store.apply(TermOp::Add, &[root, x(row * N)], InstId(0))
    }

    fn digest(store: &Store, terms: &[TermId]) -> FormsDigest {
        let inputs = [InputInfo { name: "x".into(), shape: vec![8 * N], ..InputInfo::default() }];
        let ration = Rc::new(Ration::endless());
        let elements: Vec<(InputId, u64, TermId)> =
            terms.iter().enumerate().map(|(at, term)| (InputId(0), at as u64, *term)).collect();
        let mut forms = Forms::new(&inputs);
        forms.add_terms(store, &elements, &ration);
        assert_eq!(forms.digest().open, 0);
        forms.digest()
    }

    /// Rows of a norm, one of which may have another weight.
    fn rows(other: Option<(u64, usize)>, upwards: bool) -> FormsDigest {
        let mut store = Store::new();
        let rows: Vec<TermId> = (0..6)
            .map(|row| {
                let mut weights: Vec<i64> = (1..=N as i64).collect();
                if let Some((changed, k)) = other
                    && changed == row
                {
                    weights[k] += 1;
                }
                norm(&mut store, row, &weights, upwards)
            })
            .collect();
        store.close();
        digest(&store, &rows)
    }

    #[test]
    fn a_digest_is_of_what_is_computed_and_not_of_how() {
        assert_eq!(rows(None, true), rows(None, false));
    }

    #[test]
    fn any_change_of_any_element_changes_the_digest() {
        let unchanged = rows(None, true);
        let mut seen = vec![unchanged];
        for row in 0..6 {
            for k in [0, 17, N as usize - 1] {
                let changed = rows(Some((row, k)), true);
                assert!(!seen.contains(&changed), "row {row}, weight {k}");
                seen.push(changed);
            }
        }
    }

    #[test]
    fn rows_that_are_others_moved_have_the_digests_that_they_have_alone() {
        let weights: Vec<i64> = (1..=N as i64).collect();
        let mut together = Store::new();
        let rows: Vec<TermId> = (0..4).map(|row| norm(&mut together, row, &weights, true)).collect();
        together.close();
        let mut sum = 0u128;
        for (at, row) in (0..4).enumerate() {
            let mut alone = Store::new();
            let term = norm(&mut alone, row, &weights, false);
            alone.close();
            let inputs = [InputInfo { name: "x".into(), shape: vec![8 * N], ..InputInfo::default() }];
            let mut own = Forms::new(&inputs);
            own.add_terms(&alone, &[(InputId(0), at as u64, term)], &Rc::new(Ration::endless()));
            sum = sum.wrapping_add(own.digest().digest);
        }
        assert_eq!(digest(&together, &rows).digest, sum);
    }

    #[test]
    fn elements_that_change_places_change_the_digest() {
        let mut store = Store::new();
        let terms = [x(0), x(1)].map(|at| store.apply(TermOp::Add, &[at, at], InstId(0)));
        store.close();
        assert_ne!(digest(&store, &terms), digest(&store, &[terms[1], terms[0]]));
    }

    /// A sum that all elements share, and an input that differs for each element.
    #[test]
    fn what_elements_share_has_the_values_that_it_has_alone() {
        let term = |store: &mut Store, k: u64| {
            let sum = norm(store, 0, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], true);
            let scaled = store.apply(TermOp::Mul, &[sum, TermId::input(InputId(1), k)], InstId(0));
            store.apply(TermOp::Add, &[scaled, x(k % 3)], InstId(0))
        };
        let mut store = Store::new();
        let terms: Vec<TermId> = (0..9).map(|k| term(&mut store, k)).collect();
        store.close();
        let analysis = Analysis::new(&store, &terms);
        let mut prover = Prover::new(Vec::new(), Tactic::QUICK);
        prover.set_budget(FORM_STEPS);
        let number = prover.add_store(&store, &analysis);
        let mut together = Digests::default();
        for term in terms {
            let at = TermRef { store: number, term };
            let alone = Digests::default().digest(&mut prover, at);
            assert_eq!(together.digest(&mut prover, at), alone);
        }
    }
}
