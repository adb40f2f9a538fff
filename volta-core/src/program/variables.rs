//! Names of a module's variables: which variable a name denotes, and which of them a host program can name (rule M5).

use super::code::Variable;
use super::kernel::source_name;
use super::op::Space;
use crate::ptx::{SourceName, identifier, without_file};

impl Variable {
    /// Whether it is memory of the module, which outlives the launch: a `.const` or `.global` variable.
    pub fn is_of_module(&self) -> bool {
        match self.space {
            Space::Const | Space::Global => true,
            Space::Shared | Space::Cluster | Space::Local | Space::Param | Space::Generic | Space::Tensor => {
                false
            }
        }
    }
}

/// The source name of the variable with the PTX name `name`: `C`, `ns::C`, `kernel::count`.
pub fn variable_name(name: &str) -> String {
    let name = without_file(name);
    match local(name) {
        Some((function, own)) => match SourceName::of_encoding(function) {
            Some(function) => format!("{function}::{own}"),
            None => own.to_owned(),
        },
        None => source_name(name),
    }
}

/// Whether `wanted` denotes a variable of a module: by its name in PTX, in the source, or the last part of that.
pub fn is_variable_called(name: &str, wanted: &str) -> bool {
    let wanted = wanted.trim();
    let own = without_file(name);
    if name == wanted || own == wanted {
        return true;
    }
    match local(own) {
        Some((_, last)) => last == wanted || variable_name(name) == wanted,
        None => SourceName::of(own).is_some_and(|source| source.answers_to(wanted)),
    }
}

/// The variable for the memory that the driver provides for the barrier of a cooperative grid.
pub const WORKSPACE: &str = "grid_$_workspace";

/// Whether a compiler generated the variable, so that no source can name it and it always has its initial value:
/// strings (`$str`, `__unnamed_1`), tables of library functions (`__cudart_i2opi_f`), and names of LLVM with dots,
/// which are `_$_` in PTX. Any other name may be a program's, including reserved names.
pub fn is_made_by_compiler(name: &str) -> bool {
    ["$str", "__unnamed_", "__cudart_"].iter().any(|start| name.starts_with(start)) || name.contains("_$_")
}

/// Whether the variable is a table of library functions, which no thread writes, in whichever state space the compiler
/// places it.
pub fn is_table_of_library(name: &str) -> bool {
    name.starts_with("__cudart_")
}

/// The function, without `_Z`, and the own name of a variable that a function declares: `_ZZ1kPfE5count` is `count` in
/// `1kPf`.
fn local(name: &str) -> Option<(&str, &str)> {
    let encoding = name.strip_prefix("_ZZ")?;
    // The own name is `<length><characters>` after an `E`, possibly followed by a number.
    encoding.match_indices('E').find_map(|(at, _)| {
        let (function, behind) = (encoding.get(..at)?, encoding.get(at + 1..)?);
        let (own, rest) = identifier(behind)?;
        let is_last = rest.is_empty() || rest.starts_with('_');
        (is_last && !own.is_empty()).then_some((function, own))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_called_as_in_the_source() {
        for (name, source) in [
            ("C", "C"),
            ("_ZN2ns1NE", "ns::N"),
            ("_Z1TILi3EE", "T<3>"),
            ("_ZL5table", "table"),
            ("_ZZ1kPfiPKiE2fs", "k::fs"),
            ("_ZZ1kPfiPKiE2fs_0", "k::fs"),
            ("__nv_static_19__3527c692_4_a_cu_CI_SC", "SC"),
            (
                "_ZN29_INTERNAL_80f9531d_5_a1_cu_CI2ns31_GLOBAL__N__80f9531d_5_a1_cu_CI2ANE",
                "ns::(anonymous namespace)::AN",
            ),
        ] {
            assert_eq!(variable_name(name), source, "{name}");
            assert!(is_variable_called(name, source) && is_variable_called(name, name), "{name}");
            assert!(!is_made_by_compiler(name), "{name}");
        }
        assert!(is_variable_called("_ZN2ns1NE", "N") && is_variable_called("_ZZ1kPfiPKiE2fs", "fs"));
        assert!(!is_variable_called("_ZN2ns1NE", "ns") && !is_variable_called("C", "CC"));
    }

    #[test]
    fn what_compilers_make_has_names_of_its_own() {
        for name in ["$str", "$str$1", "__unnamed_1", "__cudart_i2opi_f", "switch_$_table_$_k"] {
            assert!(is_made_by_compiler(name), "{name}");
        }
        for name in ["_private", "__weights", "money$", "_ZZ1kPfE4taps"] {
            assert!(!is_made_by_compiler(name), "{name}");
        }
    }
}
