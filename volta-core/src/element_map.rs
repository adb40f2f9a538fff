//! Which elements of the outputs differ, as trial points show: of many elements, a few of those that are translations of
//! one another stand for the others. Nothing is proved.

use crate::case::Case;
use crate::conditions::Conditions;
use crate::decide::{self, ElementPair};
use crate::machine::OutputValue;
use crate::verdict::ElementMap;
use crate::verify::{output_elements, shape};

/// The largest number of elements for maps.
const MAX_ELEMENTS: usize = 1 << 16;

/// A map for each output; none where there are too many elements or terms.
pub(crate) fn element_maps(case: &Case, conditions: &Conditions) -> Vec<ElementMap> {
    let pairs = &conditions.pairs;
    if pairs.len() > MAX_ELEMENTS {
        return Vec::new();
    }
    let mut differs = vec![false; pairs.len()];
    let (mut elements, mut positions): (Vec<ElementPair<'_>>, Vec<usize>) = (Vec::new(), Vec::new());
    for (at, pair) in pairs.iter().enumerate() {
        match conditions.element(at) {
            Some(element) => {
                elements.push(element);
                positions.push(at);
            }
            None => {
                let value = |value| if let OutputValue::Bits(bits) = value { Some(bits) } else { None };
                differs[at] = value(pair.reference.value) != value(pair.opt.value);
            }
        }
    }
    let Some(found) = decide::differing(&elements, &conditions.inputs, &conditions.options) else {
        return Vec::new();
    };
    found.into_iter().for_each(|at| differs[positions[at]] = true);
    let outputs = case.params.iter().enumerate().filter(|(_, param)| output_elements(param).is_some());
    // Places say nothing of multisets.
    let outputs = outputs.filter(|(_, param)| !param.is_set());
    let map = |(at, param)| {
        let own = |pair: &usize| pairs[*pair].param == at;
        let found = (0..pairs.len()).filter(own).filter(|pair| differs[*pair]);
        let looked_at = (0..pairs.len()).filter(own).count() as u64;
        let runs = runs(found.map(|pair| pairs[pair].element));
        let extents = shape(param).to_vec();
        ElementMap { tensor: param.name.clone(), shape: extents, differing: runs, looked_at }
    };
    outputs.map(map).collect()
}

/// Groups ascending numbers into runs: the first number and the length.
fn runs(numbers: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => runs.push((number, 1)),
        }
    }
    runs
}
