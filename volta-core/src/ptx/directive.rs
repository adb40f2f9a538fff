//! Directives, and the module level; the forms of arguments are listed in the documentation of [`super`].

use super::error::{Parsed, failure, quoted};
use super::parse::Parser;
use super::token::Kind;
use super::tree::{
    Directive, FunctionDefinition, Item, Linking, Literal, LiteralValue, Module, Name, Operand,
};
use crate::base::span::Span;

/// The syntax of a directive's arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Version,
    /// Words, separated by commas.
    Words,
    /// At most this many integers, separated by commas.
    Integers(usize),
    Nothing,
    File,
    Loc,
    Section,
    Pragma,
    Alias,
}

/// The directives that are allowed anywhere at module level.
fn at_module(name: &str) -> Option<Shape> {
    Some(match name {
        ".version" => Shape::Version,
        ".target" => Shape::Words,
        ".address_size" => Shape::Integers(1),
        ".alias" => Shape::Alias,
        _ => return anywhere(name),
    })
}

/// The directives about a function or about calls of one.
fn of_function(name: &str) -> Option<Shape> {
    Some(match name {
        ".maxntid" | ".reqntid" | ".reqnctapercluster" => Shape::Integers(3),
        ".minnctapersm" | ".maxnctapersm" | ".maxnreg" | ".maxclusterrank" => Shape::Integers(1),
        ".abi_preserve" | ".abi_preserve_control" => Shape::Integers(1),
        ".noreturn" | ".explicitcluster" | ".blocksareclusters" => Shape::Nothing,
        ".pragma" => Shape::Pragma,
        _ => return None,
    })
}

/// The directives that are allowed in bodies too.
fn anywhere(name: &str) -> Option<Shape> {
    Some(match name {
        ".file" => Shape::File,
        ".loc" => Shape::Loc,
        ".section" => Shape::Section,
        ".pragma" => Shape::Pragma,
        _ => return None,
    })
}

impl Parser<'_> {
    /// Takes the whole text.
    pub(super) fn module(&mut self) -> Parsed<Module> {
        let mut items = Vec::new();
        while self.token.kind != Kind::End {
            if self.token.kind != Kind::Dotted {
                return Err(self.expected("a directive, a variable or a function"));
            }
            if let Some(shape) = at_module(self.here()) {
                items.push(Item::Directive(self.directive(shape)?));
                continue;
            }
            let start = self.token.span;
            let linking = self.linking()?;
            match self.here() {
                ".entry" | ".func" => items.push(Item::Function(self.function(start, linking)?)),
                ".reg" => {
                    let message = "registers cannot be declared outside functions";
                    return Err(failure(self.token.span, message));
                }
                name if super::declaration::space(name).is_some() => {
                    items.extend(self.variables(start, &linking)?.into_iter().map(Item::Variable));
                }
                _ => return Err(self.unknown_directive("at module level")),
            }
        }
        Ok(Module { items })
    }

    /// The error that the next token is not a directive allowed here.
    pub(super) fn unknown_directive(&self, place: &str) -> Box<super::error::Failure> {
        if self.token.kind != Kind::Dotted {
            return self.expected("a directive");
        }
        let name = self.here();
        let known = at_module(name).is_some()
            || of_function(name).is_some()
            || super::declaration::space(name).is_some()
            || matches!(name, ".entry" | ".func" | ".branchtargets" | ".calltargets" | ".callprototype");
        let message = match known {
            true => format!("the directive {} does not belong {place}", quoted(name)),
            false => format!("unknown directive {}", quoted(name)),
        };
        failure(self.token.span, message)
    }

    /// Takes a directive in a body.
    pub(super) fn body_directive(&mut self) -> Parsed<Directive> {
        match anywhere(self.here()) {
            Some(shape) => self.directive(shape),
            None => Err(self.unknown_directive("in a function")),
        }
    }

    /// Takes the directives after a function's parameters.
    pub(super) fn function_attributes(&mut self) -> Parsed<Vec<Directive>> {
        let mut attributes = Vec::new();
        while self.token.kind == Kind::Dotted {
            let Some(shape) = of_function(self.here()) else {
                return Err(self.unknown_directive("behind a function's parameters"));
            };
            attributes.push(self.directive(shape)?);
        }
        Ok(attributes)
    }

    /// Takes `.entry` or `.func` to the end of its body or of its declaration.
    fn function(&mut self, start: Span, linking: Vec<Linking>) -> Parsed<FunctionDefinition> {
        let entry = self.is_dotted(".entry");
        self.bump()?;
        let mut attributes = Vec::new();
        while self.is_dotted(".attribute") {
            attributes.push(self.attribute()?);
        }
        let returns = match !entry && self.is("(") {
            true => self.parameters()?,
            false => Vec::new(),
        };
        let name = self.word("the function's name")?;
        let parameters = if self.is("(") { self.parameters()? } else { Vec::new() };
        attributes.extend(self.function_attributes()?);
        let body = if self.accept(";")? { None } else { Some(self.body()?) };
        let span = self.since(start);
        Ok(FunctionDefinition { linking, entry, name, returns, parameters, attributes, body, span })
    }

    fn directive(&mut self, shape: Shape) -> Parsed<Directive> {
        let start = self.token.span;
        let name = self.dotted("a directive")?;
        let mut raw = None;
        let arguments = match shape {
            Shape::Version => self.version()?,
            Shape::Words => self.separated(|parser| Ok(Operand::Name(parser.word("a target")?)))?,
            Shape::Integers(most) => self.integers(most)?,
            Shape::Nothing => Vec::new(),
            Shape::File => self.file()?,
            Shape::Loc => self.loc()?,
            Shape::Pragma => {
                let texts = self.separated(|parser| parser.string("a string behind `.pragma`"))?;
                self.expect(";", "`,` or `;` after the pragma")?;
                texts
            }
            Shape::Alias => {
                let alias = self.word("the alias")?;
                self.expect(",", "`,` and the function it stands for")?;
                let function = self.word("the function it stands for")?;
                self.expect(";", "`;` behind the alias")?;
                vec![Operand::Name(alias), Operand::Name(function)]
            }
            Shape::Section => {
                let section = if let Kind::Dotted = self.token.kind {
                    self.dotted_name("the section's name")?
                } else {
                    self.word("the section's name")?
                };
                raw = Some(self.raw_block()?);
                vec![Operand::Name(section)]
            }
        };
        Ok(Directive { name, arguments, raw, span: self.since(start) })
    }

    /// Takes `{ … }` as raw text.
    fn raw_block(&mut self) -> Parsed<String> {
        if !self.is("{") {
            return Err(self.expected("`{` after the section's name"));
        }
        // The brace is the next token, so the lexer is already past it.
        let raw = self.lexer.raw_braces(self.token.span)?.to_owned();
        let closing = self.token.span.end as usize + raw.len();
        self.token = self.lexer.next()?;
        self.last = Span::new(closing, closing + 1);
        Ok(raw)
    }

    fn literal(&mut self, what: &str) -> Parsed<Operand> {
        let start = self.token.span;
        let value = LiteralValue::Integer(self.count(what)?);
        Ok(Operand::Literal(Literal { value, span: self.since(start) }))
    }

    /// Takes `9.5`; a single number would not distinguish `9.1` from `9.10`.
    fn version(&mut self) -> Parsed<Vec<Operand>> {
        let span = self.token.span;
        let parts = self.here().split_once('.');
        let whole = |part: &str| part.parse().ok().filter(|_: &u64| part.bytes().all(|b| b.is_ascii_digit()));
        let numbers = parts.and_then(|(major, minor)| Some([whole(major)?, whole(minor)?]));
        let Some(numbers) = numbers.filter(|_| self.token.kind == Kind::Number) else {
            return Err(self.expected("a version such as `8.0`"));
        };
        self.bump()?;
        let literal = |number| Operand::Literal(Literal { value: LiteralValue::Integer(number), span });
        Ok(numbers.map(literal).to_vec())
    }

    fn integers(&mut self, most: usize) -> Parsed<Vec<Operand>> {
        let start = self.token.span;
        let integers = self.separated(|parser| parser.literal("a number"))?;
        if integers.len() > most {
            let message = format!("expected {most} numbers at most, found {}", integers.len());
            return Err(failure(self.since(start), message));
        }
        Ok(integers)
    }

    fn file(&mut self) -> Parsed<Vec<Operand>> {
        let mut arguments =
            vec![self.literal("the file's number")?, self.string("the file's name in quotes")?];
        if self.accept(",")? {
            arguments.push(self.literal("the file's modification time")?);
            self.expect(",", "`,` and the file's size")?;
            arguments.push(self.literal("the file's size")?);
        }
        Ok(arguments)
    }

    fn loc(&mut self) -> Parsed<Vec<Operand>> {
        let mut arguments = self.place()?;
        while self.accept(",")? {
            let name = self.word("`function_name` or `inlined_at`")?;
            let inner = match name.text.as_str() {
                "function_name" => vec![self.operand(false)?],
                "inlined_at" => self.place()?,
                other => {
                    let found = quoted(other);
                    let message = format!("expected `function_name` or `inlined_at`, found {found}");
                    return Err(failure(name.span, message));
                }
            };
            arguments.push(Operand::Apply(name, inner));
        }
        Ok(arguments)
    }

    /// Takes a file's number, a line and a column.
    fn place(&mut self) -> Parsed<Vec<Operand>> {
        Ok(vec![self.literal("a file's number")?, self.literal("a line")?, self.literal("a column")?])
    }

    /// Takes a list of names such as labels; `what` is for messages.
    pub(super) fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = Vec::new();
        loop {
            let name = self.word(what)?;
            let count = self.range()?;
            names.extend(self.expand(name, count)?);
            if !self.accept(",")? {
                return Ok(names);
            }
        }
    }
}
