//! Source positions from `.loc` and `.file`.

use super::tree::{Directive, LiteralValue, Operand};

/// A `.loc` directive: the source position of the instructions after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    /// The number of a `.file` directive.
    pub file: u32,
    /// Line, from 1; 0 when the compiler knew none.
    pub line: u32,
    /// Column, from 1; 0 when the compiler knew none.
    pub column: u32,
    /// File, line and column of the call that was inlined, if one was.
    pub inlined_at: Option<(u32, u32, u32)>,
}

impl Loc {
    /// Reads a `.loc`; `None` for other directives, and for numbers beyond 32 bits.
    pub fn read(directive: &Directive) -> Option<Loc> {
        if directive.name.text != "loc" {
            return None;
        }
        let (file, line, column) = place(&directive.arguments)?;
        let inlined_at = directive.arguments.iter().find_map(|argument| {
            if let Operand::Apply(name, inner) = argument
                && name.text == "inlined_at"
            {
                place(inner)
            } else {
                None
            }
        });
        Some(Loc { file, line, column, inlined_at })
    }
}

/// Reads a `.file`: its number, which `.loc` refers to, and its path as written; `None` for other directives.
pub fn file(directive: &Directive) -> Option<(u32, &str)> {
    match directive.arguments.as_slice() {
        [index, Operand::Text(path, _), ..] if directive.name.text == "file" => Some((number(index)?, path)),
        _ => None,
    }
}

fn place(arguments: &[Operand]) -> Option<(u32, u32, u32)> {
    let [file, line, column, ..] = arguments else { return None };
    Some((number(file)?, number(line)?, number(column)?))
}

fn number(operand: &Operand) -> Option<u32> {
    if let Operand::Literal(literal) = operand {
        match literal.value {
            LiteralValue::Integer(value) => u32::try_from(value).ok(),
            LiteralValue::Float32(_) | LiteralValue::Float64(_) => None,
        }
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::tree::Item;

    fn directive(text: &str) -> Directive {
        match crate::ptx::parse(text).expect("a module").items.remove(0) {
            Item::Directive(directive) => directive,
            other @ (Item::Variable(_) | Item::Function(_)) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_place_is_read_with_what_it_was_inlined_at() {
        let plain = Loc { file: 1, line: 20, column: 3, inlined_at: None };
        assert_eq!(Loc::read(&directive(".loc 1 20 3")), Some(plain));
        let text = ".loc 2 7 0, function_name $L__info_string0+4, inlined_at 1 20 3";
        let inlined = Loc { file: 2, line: 7, column: 0, inlined_at: Some((1, 20, 3)) };
        assert_eq!(Loc::read(&directive(text)), Some(inlined));
        assert_eq!(Loc::read(&directive(".file 1 \"a.cu\"")), None);
    }

    #[test]
    fn a_file_is_its_number_and_path() {
        assert_eq!(file(&directive(".file 3 \"dir/a.cu\", 1, 2")), Some((3, "dir/a.cu")));
        assert_eq!(file(&directive(".loc 1 1 1")), None);
    }
}
