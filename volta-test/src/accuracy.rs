//! The largest errors of the outputs of a case that are found, beside what is proved of them (rule B3).

use std::collections::BTreeMap;

use volta_core::accuracy::{ExactElement, ExactOutputs};
use volta_core::case::{Case, Which};
use volta_core::verdict::Report;
use volta_interpreter::errors::{ExactValue, Read, Search, SeenError, largest_errors};

/// The number of a side in the interpreter.
pub fn number_of(side: Which) -> usize {
    match side {
        Which::Reference => 0,
        Which::Opt => 1,
    }
}

/// The largest errors of the elements of a case that are found. `most`: of so many elements of an output at most,
/// spread evenly, and of the one with the largest bound. `report` has what is proved of them, if anything is.
///
/// # Errors
/// Why nothing can be compared.
pub fn measured(case: &Case, report: &Report, search: Search, most: u64) -> Result<Vec<SeenError>, String> {
    let mut exact = ExactOutputs::new(case).ok_or("the kernels are not understood over the reals")?;
    let mut bounds: BTreeMap<(usize, usize, u64), [f64; 2]> = BTreeMap::new();
    let mut loosest: BTreeMap<(usize, usize), (f64, u64)> = BTreeMap::new();
    for output in &report.errors {
        let Some(param) = case.params.iter().position(|param| param.name == output.tensor) else { continue };
        let side = number_of(output.side);
        for element in &output.elements {
            bounds.insert((side, param, element.element), [element.absolute, element.ulps]);
            let known = loosest.entry((side, param)).or_insert((element.absolute, element.element));
            if element.absolute > known.0 {
                *known = (element.absolute, element.element);
            }
        }
    }
    exact.keep(&|side, param, element| {
        let step = case.params[param].count().div_ceil(most).max(1);
        let is_loosest = loosest.get(&(number_of(side), param)).is_some_and(|(_, of)| *of == element);
        element % step == element / step % step || is_loosest
    });
    let mut values = |read: &Read<'_>| -> Vec<ExactValue> {
        let of = |value: &ExactElement| {
            let side = number_of(value.side);
            ExactValue {
                side,
                param: value.param,
                element: value.element,
                between: value.between,
                unit: value.unit(),
                bound: bounds.get(&(side, value.param, value.element)).copied(),
            }
        };
        exact.at(read).iter().map(of).collect()
    };
    largest_errors(case, &mut values, search)
}
