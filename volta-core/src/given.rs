//! What a case fixes for its kernels, which narrows the scope of a verdict: values, contents, CTAs, relaxed rules.

use crate::launch;
use volta_case::{Effect, Key};

use crate::base::assumption::Assumption;
use crate::case::{
    Argument, Binding, Case, Contents, Element, Elements, KernelLaunch, Param, ParamKind, Region, Role,
    Rules, ScalarValue, Seen, Side, Sign, Step, Swizzle, TensorAddress, TensorMap, Which,
};
use crate::decide::witness::decimal;
use crate::number::Extended;
use crate::number::format::{Decoded, Rounding, decode, encode};
use crate::program::Program;

/// The parts of its launch that a side's program refers to: others cannot matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mentions {
    /// For each parameter of the case.
    params: Vec<bool>,
    /// For each argument of the side.
    arguments: Vec<bool>,
    /// Its type, if it has one.
    types: Vec<Option<Element>>,
}

impl Mentions {
    /// What a program mentions, if its arguments are those of the side.
    pub(crate) fn of(program: &Program, kernel: &KernelLaunch, params: &[Param]) -> Mentions {
        let variables = program.mentioned();
        let arguments: Vec<bool> =
            program.parameters.iter().map(|parameter| variables.contains(&parameter.variable)).collect();
        let declared = |at: usize| {
            let names = Param::declared(params);
            let position = names.iter().position(|name| *name == params[at].argument());
            position.and_then(|position| arguments.get(position)) == Some(&true)
        };
        let named = |at: usize, param: &Param| match (&kernel.arguments, param.binding) {
            (_, Binding::Variable) => launch::names_variable(program, &param.name),
            (None, Binding::Argument | Binding::Field(_)) => declared(at),
            (Some(list), Binding::Argument | Binding::Field(_)) => {
                list.iter().zip(&arguments).any(|(argument, mentioned)| {
                    let mut named = false;
                    argument.visit(&mut |seen| match seen {
                        Seen::Named(name) => named |= *name == param.argument(),
                        Seen::Map(_, map) => named |= map.of == param.argument(),
                        Seen::Number(..) => {}
                    });
                    *mentioned && named
                })
            }
        };
        let mut own: Vec<bool> = params.iter().enumerate().map(|(at, param)| named(at, param)).collect();
        // Through an array of pointers, a kernel reaches what these point to: also another such array.
        let mut arrays: Vec<usize> = (0..params.len()).filter(|at| own[*at]).collect();
        while let Some(at) = arrays.pop() {
            for TensorAddress { of, .. } in params[at].pointers().unwrap_or_default().iter().flatten() {
                let reached: Vec<usize> = Param::called(params, of).filter(|at| !own[*at]).collect();
                reached.iter().for_each(|at| own[*at] = true);
                arrays.extend(reached);
            }
        }
        let params = own;
        let types = program.parameters.iter().map(launch::parameter_element).collect();
        Mentions { params, arguments, types }
    }
}

/// A launch, and its name in assumptions.
struct Named<'c> {
    place: (Which, usize),
    name: String,
    kernel: &'c KernelLaunch,
}

/// All launches of a case.
fn launches(case: &Case) -> Vec<Named<'_>> {
    let reference = case.reference.iter().map(|side| (Which::Reference, "the reference", side));
    let opt = if case.reference.is_some() { "the optimized kernel" } else { "the kernel" };
    let sides = reference.chain([(Which::Opt, opt, &case.opt)]);
    let of_side = |(which, name, side): (Which, &str, &'_ Side)| -> Vec<(Which, usize, String)> {
        let whole = side.steps.len() == 1;
        let named = |at: usize| {
            let of = if which == Which::Reference { " of the reference" } else { "" };
            if whole { name.to_owned() } else { format!("step {}{of}", at + 1) }
        };
        side.launches().map(|(at, _)| (which, at, named(at))).collect()
    };
    let mut all = Vec::new();
    for side in sides {
        for (which, at, name) in of_side(side) {
            all.extend(side.2.launch(at).map(|kernel| Named { place: (which, at), name, kernel }));
        }
    }
    all
}

impl Mentions {
    /// Those of a step that is no launch and reads the parameters with these names.
    pub(crate) fn of_names<'n>(names: impl IntoIterator<Item = &'n str>, params: &[Param]) -> Mentions {
        let mut mentions = Mentions { params: vec![false; params.len()], ..Mentions::default() };
        for name in names {
            if let Some(at) = params.iter().position(|param| param.name == name) {
                mentions.params[at] = true;
            }
        }
        mentions
    }
}

/// Something that a case fixes, and whether it narrows the claim.
struct Item {
    text: String,
    narrows: bool,
}

/// What a case fixes, in a fixed order, and whether any of it narrows the claim. This is static: whether a value
/// depends on a parameter is read from the program alone.
pub(crate) fn given(case: &Case, mentions: &[((Which, usize), Mentions)]) -> (Vec<Assumption>, bool) {
    let mut items = Vec::new();
    let launches = launches(case);
    for Named { name, kernel, .. } in &launches {
        let total = kernel.launch.grid.iter().fold(1u64, |total, n| total.saturating_mul(u64::from(*n)));
        if let Some(ctas) = &kernel.launch.ctas
            && (ctas.len() as u64) < total
        {
            let text = format!("{name} ran {} of its {total} CTAs (S3)", ctas.len());
            items.push(Item { text, narrows: true });
        }
    }
    for (at, param) in case.params.iter().enumerate() {
        let narrows = mentions.iter().any(|(_, own)| own.params.get(at) == Some(&true));
        let texts = of_param(param, case.reference.is_some());
        items.extend(texts.into_iter().map(|text| Item { text, narrows }));
    }
    for Named { place, name, kernel } in &launches {
        let mentioned = mentions.iter().find(|(of, _)| of == place).map(|(_, own)| own);
        for (at, argument) in kernel.arguments.iter().flatten().enumerate() {
            let narrows = mentioned.is_none_or(|own| own.arguments.get(at) == Some(&true));
            let of_parameter = mentioned.and_then(|own| own.types.get(at).copied().flatten());
            let mut numbers = Vec::new();
            argument.visit(&mut |seen| match seen {
                Seen::Named(_) => {}
                Seen::Map(name, map) => items.push(Item { text: of_map(name, map), narrows: false }),
                Seen::Number(element, value) => {
                    numbers.push(spelled(value, element.or(of_parameter).as_slice()));
                }
            });
            if !numbers.is_empty() {
                let has = if let Argument::Struct(_) = argument { "holds" } else { "is" };
                let text = format!("argument {} of {name} {has} {}", at + 1, numbers.join(", "));
                items.push(Item { text, narrows });
            }
        }
    }
    items.extend(fills(case).into_iter().map(|text| Item { text, narrows: false }));
    items.extend(relaxations(&case.options.rules).into_iter().map(|text| Item { text, narrows: true }));
    let narrows = items.iter().any(|item| item.narrows);
    (items.into_iter().map(|item| Assumption::given(item.text)).collect(), narrows)
}

/// The numbers of the fills among the steps of both sides.
fn fills(case: &Case) -> Vec<String> {
    let sides = [(Which::Reference, case.reference.as_ref()), (Which::Opt, Some(&case.opt))];
    let mut texts = Vec::new();
    for (which, side) in sides {
        let of = if which == Which::Reference { " of the reference" } else { "" };
        for (at, step) in side.iter().flat_map(|side| &side.steps).enumerate() {
            let Step::Fill { tensor, with } = step else { continue };
            let param = case.params.iter().find(|param| param.name == *tensor);
            let own = param.map(|param| param.elements()[usize::from(which == Which::Opt)]);
            texts.push(format!(
                "step {}{of} fills `{tensor}` with {}",
                at + 1,
                spelled(with, own.as_slice())
            ));
        }
    }
    texts
}

/// The description of a tensor map.
fn of_map(name: &str, map: &TensorMap) -> String {
    let list = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<String>>().join(" × ");
    let mut text = format!("`{name}` is a tensor map of `{}` with boxes of {}", map.of, list(&map.r#box));
    if !map.shape.is_empty() {
        text.push_str(&format!(", of extents {}", list(&map.shape)));
    }
    if !map.strides.is_empty() {
        text.push_str(&format!(", of strides {}", list(&map.strides)));
    }
    if map.swizzle != Swizzle::None {
        text.push_str(&format!(", swizzled within {} bytes", map.swizzle.span()));
    }
    text
}

/// What is given of a parameter.
pub(crate) fn of_param(param: &Param, compared: bool) -> Vec<String> {
    let mut texts = Vec::new();
    let name = &param.name;
    match &param.kind {
        ParamKind::Tensor { reference, opt, role, contents, .. } => {
            if compared && reference != opt && *role != Role::Out {
                texts.push(format!(
                    "`{name}` holds the same real numbers as {} in the reference and as {} in the optimized kernel",
                    reference.name(),
                    opt.name()
                ));
            }
            texts.extend(
                of_contents(contents, &[*reference, *opt])
                    .map(|what| format!("`{name}` holds {what} before the launch")),
            );
        }
        ParamKind::Scalar { element, value: ScalarValue::Number(value) } => {
            texts.push(format!("`{name}` is {}", spelled(value, &[*element])));
        }
        ParamKind::Scalar { value: ScalarValue::Symbolic(_), .. } => {}
    }
    let others = match &param.kind {
        ParamKind::Tensor { contents: Contents::Partly(..), .. } => {
            format!("the other elements of `{name}` are")
        }
        ParamKind::Tensor { .. } | ParamKind::Scalar { .. } => format!("`{name}` is"),
    };
    if let Some([least, greatest]) = param.assumed().and_then(|assumed| assumed.range) {
        texts.push(format!("{others} between {least} and {greatest}"));
    }
    if let Some([least, greatest]) = param.assumed().and_then(|assumed| assumed.floats) {
        let [least, greatest] = [least, greatest].map(spelled_shortly);
        texts.push(format!("{others} between {least} and {greatest}"));
    }
    match param.assumed().map(|assumed| assumed.elements) {
        Some(Elements::Distinct) => texts.push(format!("no two elements of `{name}` are equal")),
        Some(Elements::Permutation) => {
            texts
                .push(format!("`{name}` has each number from 0 to {} once", param.count().saturating_sub(1)));
        }
        Some(Elements::Any) | None => {}
    }
    let sign = match param.sign() {
        Sign::Any => return texts,
        Sign::Positive => "positive",
        Sign::NonNegative => "not negative",
        Sign::Negative => "negative",
        Sign::NonPositive => "not positive",
        Sign::Nonzero => "not zero",
    };
    texts.push(format!("{others} {sign}"));
    texts
}

/// A number as text, with an exponent where that is shorter.
pub(crate) fn spelled_shortly(value: f64) -> String {
    let (plain, scientific) = (value.to_string(), format!("{value:e}"));
    if scientific.len() + 2 < plain.len() { scientific } else { plain }
}

/// Number of elements of a list that are spelled out.
const LISTED: usize = 8;

/// Number of digits of a rounded number that are spelled out: more than its type has.
const DIGITS: u32 = 20;

/// A number, with its nearest value in each type that cannot represent it.
pub(crate) fn spelled(value: &Extended, types: &[Element]) -> String {
    let mut text = value.to_string();
    let mut seen: Vec<Element> = Vec::new();
    for element in types {
        let Element::Float(format) = *element else { continue };
        let near = decode(format, encode(value, format, Rounding::Nearest));
        if let Decoded::Finite(near) = near
            && value.finite() != Some(&near)
            && !seen.contains(element)
        {
            seen.push(*element);
            text.push_str(&format!(" ({} in {})", decimal(&near, DIGITS), element.name()));
        }
    }
    text
}

/// The contents of a tensor, where they are given.
fn of_contents(contents: &Contents, types: &[Element; 2]) -> Option<String> {
    match contents {
        Contents::Symbolic | Contents::Undefined => None,
        Contents::Fill(value) => Some(format!("{} in every element", spelled(value, types))),
        Contents::Iota => Some("the number of each element in it".into()),
        Contents::Pointers(pointers) => {
            let spelled = |pointer: &Option<TensorAddress>| match pointer {
                None => "a null pointer".to_owned(),
                Some(TensorAddress { of, at: 0 }) => format!("the address of `{of}`"),
                Some(TensorAddress { of, at }) => format!("that of element {at} of `{of}`"),
            };
            Some(listed(pointers, spelled))
        }
        Contents::LowerTriangular => Some("1 on and below the diagonal and 0 above".into()),
        Contents::Partly(region, value) => {
            let beside = match region {
                Region::Lower => "above the diagonal",
                Region::StrictlyLower => "on and above the diagonal",
                Region::Upper => "below the diagonal",
                Region::StrictlyUpper => "on and below the diagonal",
                Region::Diagonal => "beside the diagonal",
            };
            Some(format!("{} {beside}", spelled(value, types)))
        }
        Contents::List(values) => Some(listed(values, |value| spelled(value, types))),
    }
}

/// The first of a list, spelled out, and how many more there are.
fn listed<T>(all: &[T], spelled: impl Fn(&T) -> String) -> String {
    let shown: Vec<String> = all.iter().take(LISTED).map(spelled).collect();
    let more = match all.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(", … ({more} more)"),
    };
    format!("{}{more}", shown.join(", "))
}

/// The rules that a case relaxes.
fn relaxations(rules: &Rules) -> Vec<String> {
    let relaxed = |key: &&Key| match key.effect {
        Effect::Relaxes(what) => Some(format!("relaxed: {what}")),
        Effect::Tightens | Effect::None => None,
    };
    rules.changed().iter().filter_map(relaxed).collect()
}
