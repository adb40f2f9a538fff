//! The kernels of a module, and the choice of one by name.

use super::code::LaunchBounds;
use super::error::{DeclarationProblem, LowerError};
use super::layout;
use crate::ptx::SourceName;
use crate::ptx::tree::{FunctionDefinition, Item, LiteralValue, Module, Operand};
use volta_case::nearest;

/// A kernel of a module, from its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name in PTX, which may be mangled.
    pub name: String,
    /// Its name in the source, template arguments included.
    pub source_name: String,
    /// Its parameters, in order.
    pub parameters: Vec<KernelParameter>,
}

/// A parameter, from its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParameter {
    /// Its name.
    pub name: String,
    /// PTX type as written: `u64`, `f32`, `b8`, ….
    pub element: String,
    /// Size in bytes; `None` if the declaration is invalid.
    pub size: Option<u64>,
    /// Alignment in bytes; `None` if the declaration is invalid.
    pub align: Option<u64>,
    /// Whether it has a `.ptr` attribute.
    pub pointer: bool,
}

/// The kernels of a module, in order.
pub fn kernels(module: &Module) -> Vec<KernelInfo> {
    entries(module)
        .map(|function| KernelInfo {
            name: function.name.text.clone(),
            source_name: source_name(&function.name.text),
            parameters: function
                .parameters
                .iter()
                .map(|parameter| {
                    let layout = layout::layout(parameter).ok();
                    KernelParameter {
                        name: parameter.name.text.clone(),
                        element: parameter.element.text.clone(),
                        size: layout.and_then(|layout| layout.size),
                        align: layout.map(|layout| layout.align),
                        pointer: parameter.pointer.is_some(),
                    }
                })
                .collect(),
        })
        .collect()
}

fn entries(module: &Module) -> impl Iterator<Item = &FunctionDefinition> {
    module.items.iter().filter_map(|item| {
        if let Item::Function(function) = item
            && function.entry
            && function.body.is_some()
        {
            Some(function)
        } else {
            None
        }
    })
}

/// The kernel with a name: as in PTX, as in the source, or without template arguments.
pub(super) fn choose<'m>(
    module: &'m Module,
    name: Option<&str>,
) -> Result<&'m FunctionDefinition, LowerError> {
    let all: Vec<&FunctionDefinition> = entries(module).collect();
    let names =
        |of: &[&FunctionDefinition]| of.iter().map(|function| shown(&function.name.text)).collect::<Vec<_>>();
    let Some(name) = name else {
        return match all.as_slice() {
            [] => Err(LowerError::NoKernel),
            [only] => Ok(only),
            _ => Err(LowerError::SeveralKernels { candidates: names(&all) }),
        };
    };
    if all.is_empty() {
        return Err(LowerError::NoKernel);
    }
    if let Some(exact) = all.iter().find(|function| function.name.text == name) {
        return Ok(exact);
    }
    let answers = |function: &&&FunctionDefinition| {
        SourceName::of(&function.name.text).is_some_and(|source| source.answers_to(name))
    };
    let candidates: Vec<&FunctionDefinition> = all.iter().filter(answers).copied().collect();
    match candidates.as_slice() {
        [only] => Ok(only),
        [] => {
            let sources: Vec<String> = all.iter().map(|function| source_name(&function.name.text)).collect();
            Err(LowerError::UnknownKernel {
                name: name.to_owned(),
                known: names(&all),
                nearest: nearest(name, sources.iter().map(String::as_str))
                    .or_else(|| nearest(name, all.iter().map(|function| function.name.text.as_str())))
                    .map(str::to_owned),
            })
        }
        _ => Err(LowerError::AmbiguousKernel { name: name.to_owned(), candidates: names(&candidates) }),
    }
}

/// The source name, followed by the mangled name where the two differ.
fn shown(name: &str) -> String {
    let source = source_name(name);
    if source == name { source } else { format!("{source} ({name})") }
}

pub(super) fn source_name(name: &str) -> String {
    SourceName::of(name).map_or_else(|| name.to_owned(), |source| source.to_string())
}

/// Reads the directives that restrict launches of an entry; the others (`.pragma`, …) are hints for the compiler.
pub(super) fn launch_bounds(
    module: &Module,
    function: &FunctionDefinition,
) -> Result<LaunchBounds, LowerError> {
    let mut bounds = LaunchBounds { architecture: architecture(module), ..LaunchBounds::default() };
    for attribute in &function.attributes {
        let extent = || {
            extent(&attribute.arguments).ok_or_else(|| LowerError::Declaration {
                name: function.name.text.clone(),
                problem: DeclarationProblem::Launch,
                span: attribute.span,
            })
        };
        match attribute.name.text.as_str() {
            "reqntid" => bounds.required_block = Some(extent()?),
            "maxntid" => bounds.max_block = Some(extent()?),
            "reqnctapercluster" => bounds.cluster = Some(extent()?),
            "explicitcluster" => bounds.explicit_cluster = true,
            "maxclusterrank" => bounds.max_cluster = Some(extent()?[0]),
            "blocksareclusters" => bounds.blocks_are_clusters = true,
            "minnctapersm" => bounds.min_ctas = Some(extent()?[0]),
            "maxnreg" => bounds.max_registers = Some(extent()?[0]),
            _ => {}
        }
    }
    Ok(bounds)
}

/// The number of the module's `.target`.
fn architecture(module: &Module) -> Option<u32> {
    let mut words = module.items.iter().flat_map(|item| match item {
        Item::Directive(directive) if directive.name.text == "target" => directive.arguments.as_slice(),
        Item::Directive(_) | Item::Variable(_) | Item::Function(_) => &[],
    });
    words.find_map(|word| {
        if let Operand::Name(name) = word {
            let number = name.text.strip_prefix("sm_")?;
            number.trim_end_matches(|c: char| c.is_ascii_lowercase()).parse().ok()
        } else {
            None
        }
    })
}

fn extent(arguments: &[Operand]) -> Option<[u32; 3]> {
    let mut extent = [1u32; 3];
    if arguments.is_empty() || arguments.len() > extent.len() {
        return None;
    }
    for (size, argument) in extent.iter_mut().zip(arguments) {
        let Operand::Literal(literal) = argument else { return None };
        let LiteralValue::Integer(value) = literal.value else { return None };
        *size = u32::try_from(value).ok().filter(|value| *value > 0)?;
    }
    Some(extent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(names: &[&str]) -> Module {
        let text: String =
            names.iter().map(|name| format!(".visible .entry {name}() {{ ret; }}\n")).collect();
        crate::ptx::parse(&text).expect("a module")
    }

    fn chosen(names: &[&str], name: Option<&str>) -> String {
        match choose(&module(names), name) {
            Ok(function) => function.name.text.clone(),
            Err(error) => match error.help() {
                Some(help) => format!("{error} [{help}]"),
                None => error.to_string(),
            },
        }
    }

    #[test]
    fn names_of_functions_are_read() {
        assert_eq!(source_name("_Z4namePf"), "name");
        assert_eq!(source_name("_Z2tkILi4EEvPf"), "tk<4>");
        assert_eq!(source_name("_Z2tkILin4ELb1EfEvPf"), "tk<-4, true, float>");
        assert_eq!(source_name("_ZN2ns5innerILj8EEEvPf"), "ns::inner<8u>");
        assert_eq!(source_name("_Z4gemmI6ConfigIiEEvPf"), "gemm<Config<int>>");
        assert_eq!(source_name("plain"), "plain");
        assert_eq!(source_name("_Zgarbage"), "_Zgarbage");
        assert_eq!(source_name("_Z99short"), "_Z99short");
    }

    #[test]
    fn a_kernel_is_chosen_by_any_of_its_names() {
        let names = ["_Z2tkILi4EEvPf", "_Z2tkILi8EEvPf", "_Z5otherPf"];
        assert_eq!(chosen(&names, Some("_Z2tkILi8EEvPf")), "_Z2tkILi8EEvPf");
        assert_eq!(chosen(&names, Some("tk< 8 >")), "_Z2tkILi8EEvPf");
        assert_eq!(chosen(&names, Some("other")), "_Z5otherPf");
        assert_eq!(chosen(&["one"], None), "one");
    }

    #[test]
    fn what_does_not_choose_one_kernel_says_what_there_is() {
        let names = ["_Z2tkILi4EEvPf", "_Z2tkILi8EEvPf", "_Z5otherPf"];
        assert_eq!(
            chosen(&names, Some("tk")),
            "`tk` names several kernels: `tk<4> (_Z2tkILi4EEvPf)`, `tk<8> (_Z2tkILi8EEvPf)` \
             [give the full name, template arguments included, or the mangled one]"
        );
        assert_eq!(
            chosen(&["_Z5otherPf"], Some("othr")),
            "no kernel is called `othr`; there is only `other (_Z5otherPf)` [did you mean `other`?]"
        );
        assert_eq!(
            chosen(&["a", "b"], None),
            "this PTX has several kernels: `a`, `b` [name the kernel to verify]"
        );
        assert_eq!(chosen(&[], None), "this PTX has no kernel (no `.entry` with a body)");
    }
}
