//! Which kernels a module has, and which one a name means.

use super::code::LaunchBounds;
use super::error::{DeclarationProblem, LowerError};
use super::layout;
use crate::ptx::tree::{Function, Item, LiteralValue, Module, Operand};
use volta_case::nearest;

/// A kernel of a module, as its declaration shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its name as PTX has it, mangled if the compiler did.
    pub name: String,
    /// Its name in the source, template arguments included where they are integers or booleans.
    pub source_name: String,
    /// Its parameters in order.
    pub parameters: Vec<KernelParameter>,
}

/// A parameter, as its declaration shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelParameter {
    /// Its name.
    pub name: String,
    /// PTX type as written: `u64`, `f32`, `b8`, ….
    pub element: String,
    /// Bytes; `None` when the declaration makes no sense.
    pub size: Option<u64>,
    /// Alignment in bytes.
    pub align: Option<u64>,
    /// A `.ptr` attribute, as written.
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

fn entries(module: &Module) -> impl Iterator<Item = &Function> {
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

/// The kernel that a name means: as PTX has it, as the source has it, or without template arguments.
pub(super) fn choose<'m>(module: &'m Module, name: Option<&str>) -> Result<&'m Function, LowerError> {
    let all: Vec<&Function> = entries(module).collect();
    let names = |of: &[&Function]| of.iter().map(|function| shown(&function.name.text)).collect::<Vec<_>>();
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
    let wanted: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    let answers =
        |function: &&&Function| demangle(&function.name.text).is_some_and(|parts| parts.answers_to(&wanted));
    let candidates: Vec<&Function> = all.iter().filter(answers).copied().collect();
    match candidates.as_slice() {
        [only] => Ok(only),
        [] => {
            let sources: Vec<String> = all.iter().map(|function| source_name(&function.name.text)).collect();
            Err(LowerError::UnknownKernel {
                name: name.to_owned(),
                known: names(&all),
                nearest: nearest(&wanted, sources.iter().map(String::as_str))
                    .or_else(|| nearest(name, all.iter().map(|function| function.name.text.as_str())))
                    .map(str::to_owned),
            })
        }
        _ => Err(LowerError::AmbiguousKernel { name: name.to_owned(), candidates: names(&candidates) }),
    }
}

/// The mangled name, with what the source calls it where that differs.
fn shown(name: &str) -> String {
    let source = source_name(name);
    if source == name { source } else { format!("{source} ({name})") }
}

pub(super) fn source_name(name: &str) -> String {
    demangle(name).map_or_else(|| name.to_owned(), |parts| parts.full())
}

/// What a mangled name says, as far as it is needed to choose a kernel or a variable.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SourceName<'n> {
    /// Namespaces and the name itself.
    path: Vec<&'n str>,
    /// Template arguments of the last part, where all are understood.
    arguments: Option<Vec<String>>,
    /// The last part has template arguments.
    template: bool,
}

impl SourceName<'_> {
    /// `tk`, `tk<4>`, `space::tk`, `space::tk<4>`.
    pub(super) fn answers_to(&self, wanted: &str) -> bool {
        let path = self.path.join("::");
        let last = self.path.last().copied().unwrap_or_default();
        let matches = |name: &str| wanted == name || wanted == self.with_arguments(name);
        matches(&path) || matches(last)
    }

    pub(super) fn full(&self) -> String {
        self.with_arguments(&self.path.join("::"))
    }

    fn with_arguments(&self, name: &str) -> String {
        match &self.arguments {
            Some(arguments) => format!("{name}<{}>", arguments.join(",")),
            None if self.template => format!("{name}<…>"),
            None => name.to_owned(),
        }
    }
}

/// Reads the name in an Itanium-mangled name; `None` when it is none, or one we do not understand.
pub(super) fn demangle(mangled: &str) -> Option<SourceName<'_>> {
    demangle_encoding(mangled.strip_prefix("_Z")?)
}

/// What stands behind `_Z`.
pub(super) fn demangle_encoding(rest: &str) -> Option<SourceName<'_>> {
    // `L` says that the name is not seen elsewhere.
    let part = |text| identifier(str::strip_prefix(text, 'L').unwrap_or(text));
    let (mut path, rest) = match rest.strip_prefix('N') {
        None => {
            let (name, rest) = part(rest)?;
            (vec![name], rest)
        }
        Some(nested) => {
            let mut rest = nested.trim_start_matches(['r', 'V', 'K']);
            let mut path = Vec::new();
            while let Some((name, after)) = part(rest) {
                path.push(name);
                rest = after;
            }
            (path, rest)
        }
    };
    // `nvcc` keeps what several sources may declare apart by a namespace of its own.
    path.retain(|part| !part.starts_with("_INTERNAL_"));
    if path.is_empty() {
        return None;
    }
    let path =
        path.into_iter().map(|part| if part.starts_with("_GLOBAL__N_") { "(anonymous)" } else { part });
    let template = rest.starts_with('I');
    let arguments = rest.strip_prefix('I').and_then(template_arguments);
    Some(SourceName { path: path.collect(), arguments, template })
}

/// `3foo…`: a length and that many bytes.
pub(super) fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (length, rest) = text.split_at_checked(digits)?;
    rest.split_at_checked(length.parse().ok()?)
}

/// Arguments up to the closing `E`; `None` when one of them is not understood.
fn template_arguments(mut text: &str) -> Option<Vec<String>> {
    let mut arguments = Vec::new();
    loop {
        if text.starts_with('E') {
            return Some(arguments);
        }
        let (argument, rest) = template_argument(text)?;
        arguments.push(argument);
        text = rest;
    }
}

fn template_argument(text: &str) -> Option<(String, &str)> {
    if let Some(literal) = text.strip_prefix('L') {
        let (kind, rest) = literal.split_at_checked(1)?;
        let (negative, rest) = match rest.strip_prefix('n') {
            Some(rest) => ("-", rest),
            None => ("", rest),
        };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (value, rest) = rest.split_at_checked(digits)?;
        let rest = rest.strip_prefix('E')?;
        let value = match (kind, value) {
            ("b", "0") => "false".to_owned(),
            ("b", "1") => "true".to_owned(),
            ("i" | "j" | "l" | "m" | "s" | "t" | "x" | "y" | "a" | "h" | "c", value) if !value.is_empty() => {
                format!("{negative}{value}")
            }
            _ => return None,
        };
        return Some((value, rest));
    }
    let builtin = match text.chars().next()? {
        'f' => "float",
        'd' => "double",
        'i' => "int",
        'j' => "unsignedint",
        'b' => "bool",
        'c' => "char",
        'a' => "signedchar",
        'h' => "unsignedchar",
        's' => "short",
        't' => "unsignedshort",
        'l' => "long",
        'm' => "unsignedlong",
        'x' => "longlong",
        'y' => "unsignedlonglong",
        _ => {
            let (name, rest) = identifier(text)?;
            return Some((name.to_owned(), rest));
        }
    };
    Some((builtin.to_owned(), text.get(1..)?))
}

/// Reads the directives that say how an entry is launched; the others (`.minnctapersm`, …) advise the compiler.
pub(super) fn launch_bounds(module: &Module, function: &Function) -> Result<LaunchBounds, LowerError> {
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
        assert_eq!(source_name("_Z2tkILin4ELb1EfEvPf"), "tk<-4,true,float>");
        assert_eq!(source_name("_ZN2ns5innerILj8EEEvPf"), "ns::inner<8>");
        assert_eq!(source_name("_Z4gemmI6ConfigIiEEvPf"), "gemm<…>");
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
