//! Whether a case makes sense, before anything is executed.

use crate::launch;
use std::collections::BTreeSet;

use crate::case::{Binding, Case, Claim, Contents, Element, Literals, Param, ParamKind, Role, Seen, Step};
use crate::program;
use crate::steps::Loaded;
use crate::term::TermId;
use crate::verdict::{CasePart, InputError, InputProblem};
use crate::verify::output_elements;

/// Checks that parameters have different names and that each has a value.
pub(crate) fn check_params(params: &[Param], claim: Claim) -> Result<(), InputError> {
    let mut seen = BTreeSet::new();
    let error = |message: String| InputError::new(InputProblem::WrongValue, message);
    for param in params {
        if !seen.insert(param.name.as_str()) {
            return Err(error(format!("parameter `{}` is declared twice", param.name)));
        }
        if !param.has_values() {
            let [one, other] = param.elements().map(|element| element.name());
            let both = if one == other { one.to_string() } else { format!("{one} and {other}") };
            let name = &param.name;
            let range = param.assumed().and_then(|assumed| assumed.range);
            let range = range.map(|[least, greatest]| format!("between {least} and {greatest}"));
            let sign = Some(param.sign().name().to_string()).filter(|sign| !sign.is_empty());
            let elements = param.assumed().map(|assumed| assumed.elements.name().to_string());
            let elements = elements.filter(|name| !name.is_empty());
            let assumed: Vec<String> = sign.into_iter().chain(range).chain(elements).collect();
            let message = format!("`{name}` is assumed to be {}, and no {both} is", assumed.join(", and "));
            return Err(InputError { part: Some(CasePart::Parameter(name.clone())), ..error(message) });
        }
    }
    if let Some(error) = crate::finite::wrong_range(params, claim) {
        return Err(error);
    }
    if let Some(param) = params.iter().find(|param| param.is_set()) {
        let name = &param.name;
        let ParamKind::Tensor { role: Role::Out, contents: Contents::Undefined, .. } = param.kind else {
            let message =
                format!("`{name}` is compared as a multiset, so it is an `out` tensor without contents");
            return Err(InputError { part: Some(CasePart::Parameter(name.clone())), ..error(message) });
        };
        if claim != Claim::Reals {
            let message = format!("`{name}` is compared as a multiset (S3), which is a claim about reals");
            return Err(InputError { part: Some(CasePart::Parameter(name.clone())), ..error(message) });
        }
        if param.binding != Binding::Argument || 2 * params.len() >= TermId::MAX_INPUTS {
            let message = format!("`{name}` is compared as a multiset, so it is an argument of its own");
            return Err(InputError { part: Some(CasePart::Parameter(name.clone())), ..error(message) });
        }
    }
    if params.len() >= TermId::MAX_INPUTS {
        return Err(error(format!("a case has fewer than {} parameters", TermId::MAX_INPUTS)));
    }
    Ok(())
}

/// Checks that arrays of pointers are arguments of kernels or variables of the module, and nothing else: an address is
/// no number that a graph could compute with, or a copy keep.
pub(crate) fn check_pointers(case: &Case) -> Result<(), InputError> {
    for param in &case.params {
        let Some(pointers) = param.pointers() else { continue };
        let name = &param.name;
        let error = |message: String| InputError {
            part: Some(CasePart::Parameter(name.clone())),
            ..InputError::new(InputProblem::WrongValue, message)
        };
        let word = Element::Int { bytes: 8, signed: false };
        let is_read = matches!(param.kind, ParamKind::Tensor { role: Role::In, .. });
        if !is_read || param.elements() != [word; 2] || matches!(param.binding, Binding::Field(_)) {
            return Err(error(format!("`{name}` holds pointers, so it is an input of type u64")));
        }
        if param.count() != pointers.len() as u64 {
            let message = format!("`{name}` has {} elements and {} pointers", param.count(), pointers.len());
            return Err(error(message));
        }
        for side in case.reference.iter().chain([&case.opt]) {
            for step in &side.steps {
                let reads = match step {
                    Step::Graph(graph) => graph.inputs().any(|(input, _)| input == name),
                    Step::Copy { from, .. } => from == name,
                    Step::Launch(_) | Step::Fill { .. } => false,
                };
                if reads {
                    let message = format!("`{name}` holds pointers, which only kernels read");
                    return Err(error(message));
                }
                let is_map = |seen: Seen<'_>| matches!(seen, Seen::Map(_, map) if map.of == *name);
                let mut has_map = false;
                let arguments = step.launch().and_then(|kernel| kernel.arguments.as_ref());
                arguments
                    .into_iter()
                    .flatten()
                    .for_each(|own| own.visit(&mut |seen| has_map |= is_map(seen)));
                if has_map {
                    return Err(error(format!("`{name}` holds pointers, and cannot have a tensor map")));
                }
            }
        }
    }
    Ok(())
}

/// Checks that a case can be decided in parts, if this is one.
pub(crate) fn check_part(case: &Case) -> Result<(), InputError> {
    let Some(shard) = case.options.shard else { return Ok(()) };
    let elements: u64 = case.params.iter().filter_map(output_elements).fold(0, u64::saturating_add);
    let message = if case.reference.is_none() {
        "one kernel alone has nothing to compare, and no parts".into()
    } else if case.options.rules.claim == Claim::Finite {
        "that floats stay finite (`claim`, B2) is claimed of whole kernels, not of elements".into()
    } else if case.params.iter().any(Param::is_set) {
        "outputs that are compared as multisets (`compare`, S3) are compared as a whole".into()
    } else if case.options.rules.literals != Literals::Exact {
        // One reading of a literal holds for all elements, and another part may need another one.
        "which literals are read otherwise (`literals`, V9) is chosen for all elements together, so that such a case \
         has no parts"
            .into()
    } else if u64::from(shard.of) > elements || shard.part == 0 || shard.part > shard.of {
        format!("there is no part {} of {} of {elements} compared elements", shard.part, shard.of)
    } else {
        return Ok(());
    };
    let help = Some("leave out `shards`, or give a smaller number of parts".into());
    Err(InputError { help, ..InputError::new(InputProblem::WrongValue, message) })
}

/// Checks that the variables that the case declares are variables of a module (rule M5).
pub(crate) fn check_variables<'l>(
    params: &[Param],
    loaded: impl Iterator<Item = &'l Result<Loaded, InputError>> + Clone,
) -> Result<(), InputError> {
    let programs = loaded.filter_map(|loaded| loaded.as_ref().ok());
    for param in params.iter().filter(|param| param.binding == Binding::Variable) {
        if programs.clone().count() > 0
            && !programs
                .clone()
                .flat_map(Loaded::kernels)
                .any(|program| launch::has_variable(program, &param.name))
        {
            let names: BTreeSet<String> = programs
                .flat_map(Loaded::kernels)
                .flat_map(|program| &program.module_variables)
                .filter(|name| !program::is_made_by_compiler(name))
                .map(|name| format!("`{}`", program::variable_name(name)))
                .collect();
            let names: Vec<String> = names.into_iter().collect();
            let message = format!("no kernel's module has a variable `{}`", param.name);
            return Err(InputError {
                help: (!names.is_empty()).then(|| format!("there are: {}", names.join(", "))),
                ..InputError::new(InputProblem::Variable, message)
            });
        }
    }
    Ok(())
}
