//! Variables, parameters and registers.

use super::error::{Parsed, failure, quoted};
use super::parse::Parser;
use super::token::Kind;
use super::tree::{Directive, Linking, Name, Operand, Pointer, Registers, StateSpace, VariableDeclaration};
use crate::base::span::Span;

/// The part of a declaration before the names.
struct Head {
    space: StateSpace,
    align: Option<u64>,
    vector: Option<u32>,
    element: Name,
    pointer: Option<Pointer>,
    attributes: Vec<Directive>,
    start: Span,
}

/// The state space of variables that a directive declares.
pub(super) fn space(name: &str) -> Option<StateSpace> {
    Some(match name {
        ".reg" => StateSpace::Reg,
        ".shared" => StateSpace::Shared,
        ".global" => StateSpace::Global,
        ".const" => StateSpace::Const,
        ".local" => StateSpace::Local,
        ".param" => StateSpace::Param,
        ".tex" => StateSpace::Texture,
        _ => return None,
    })
}

/// Whether this is a type for declarations.
fn is_type(name: &str) -> bool {
    const TYPES: [&str; 31] = [
        "b8", "b16", "b32", "b64", "b128", "u8", "u16", "u32", "u64", "u128", "s8", "s16", "s32", "s64",
        "s128", "f16", "f16x2", "f32", "f64", "bf16", "bf16x2", "tf32", "e4m3", "e5m2", "e4m3x2", "e5m2x2",
        "u16x2", "s16x2", "pred", "texref", "surfref",
    ];
    TYPES.contains(&name) || name == "samplerref"
}

impl Parser<'_> {
    /// Takes any number of `.visible`, `.extern`, `.weak`, `.common`.
    pub(super) fn linking(&mut self) -> Parsed<Vec<Linking>> {
        let mut linking = Vec::new();
        while self.token.kind == Kind::Dotted {
            let link = match self.here() {
                ".visible" => Linking::Visible,
                ".extern" => Linking::Extern,
                ".weak" => Linking::Weak,
                ".common" => Linking::Common,
                _ => break,
            };
            if linking.contains(&link) {
                return Err(failure(self.token.span, format!("{} stands here twice", quoted(self.here()))));
            }
            linking.push(link);
            self.bump()?;
        }
        Ok(linking)
    }

    /// Takes a declaration of variables up to its semicolon; `.global .u32 a, b;` gives one declaration for each name.
    pub(super) fn variables(&mut self, start: Span, linking: &[Linking]) -> Parsed<Vec<VariableDeclaration>> {
        let head = self.head(start)?;
        if head.space == StateSpace::Reg {
            return Err(failure(start, "registers have no linking directives"));
        }
        let mut variables = Vec::new();
        loop {
            let name = self.word("a variable's name")?;
            let count = self.range()?;
            let dimensions = self.dimensions()?;
            if count.is_some() && (!dimensions.is_empty() || self.is("=")) {
                let message = "names with a count can neither be arrays nor be initialised";
                return Err(failure(name.span, message));
            }
            let initializer = if self.accept("=")? { Some(self.initializer()?) } else { None };
            for name in self.expand(name, count)? {
                variables.push(VariableDeclaration {
                    linking: linking.to_vec(),
                    space: head.space,
                    align: head.align,
                    vector: head.vector,
                    element: head.element.clone(),
                    pointer: head.pointer.clone(),
                    attributes: head.attributes.clone(),
                    name,
                    dimensions: dimensions.clone(),
                    initializer: initializer.clone(),
                    span: self.since(head.start),
                });
            }
            if !self.accept(",")? {
                self.expect(";", "`[`, `=`, `,` or `;` in the declaration")?;
                return Ok(variables);
            }
        }
    }

    /// Takes `(.param .u64 a, .param .f32 b)`.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<VariableDeclaration>> {
        self.expect("(", "`(`")?;
        if self.accept(")")? {
            return Ok(Vec::new());
        }
        let parameters = self.separated(|parser| {
            let start = parser.token.span;
            let head = parser.head(start)?;
            if !matches!(head.space, StateSpace::Param | StateSpace::Reg) {
                return Err(failure(start, "a parameter must be declared with `.param` or `.reg`"));
            }
            let name = parser.word("the parameter's name")?;
            let dimensions = parser.dimensions()?;
            let Head { space, align, vector, element, pointer, attributes, start } = head;
            let span = parser.since(start);
            let (linking, initializer) = (Vec::new(), None);
            Ok(VariableDeclaration {
                linking,
                space,
                align,
                vector,
                element,
                pointer,
                attributes,
                name,
                dimensions,
                initializer,
                span,
            })
        })?;
        self.expect(")", "`,` or `)` in the parameter list")?;
        Ok(parameters)
    }

    /// Takes `.reg .b32 a, b<4>;`. An alignment has no meaning for registers and is dropped.
    pub(super) fn registers(&mut self) -> Parsed<Registers> {
        let start = self.token.span;
        let Head { vector, element, .. } = self.head(start)?;
        let names = self.separated(|parser| Ok((parser.word("a register's name")?, parser.range()?)))?;
        self.expect(";", "`<`, `,` or `;` in the declaration")?;
        Ok(Registers { vector, element, names, span: self.since(start) })
    }

    /// Takes the space, the type and whatever else precedes the names.
    fn head(&mut self, start: Span) -> Parsed<Head> {
        let Some(space) = space(self.here()).filter(|_| self.token.kind == Kind::Dotted) else {
            return Err(self.expected("a state space such as `.global` or `.param`"));
        };
        self.bump()?;
        let (mut align, mut vector, mut element, mut pointer) = (None, None, None, None);
        let mut attributes = Vec::new();
        while self.token.kind == Kind::Dotted {
            match self.here() {
                ".align" if align.is_none() && pointer.is_none() => align = Some(self.alignment()?),
                // One `.attribute` lists all attributes; each name gets a copy of them.
                ".attribute" if attributes.is_empty() => attributes.push(self.attribute()?),
                ".v2" | ".v4" | ".v8" if vector.is_none() => {
                    vector = self.here().trim_start_matches(".v").parse().ok();
                    self.bump()?;
                }
                ".ptr" if element.is_some() && pointer.is_none() => pointer = Some(self.pointer()?),
                name if element.is_none() && is_type(&name[1..]) => element = Some(self.dotted("a type")?),
                _ => {
                    let message = format!("{} does not belong in this declaration", quoted(self.here()));
                    return Err(failure(self.token.span, message));
                }
            }
        }
        let Some(element) = element else { return Err(self.expected("a type such as `.b32`")) };
        Ok(Head { space, align, vector, element, pointer, attributes, start })
    }

    fn alignment(&mut self) -> Parsed<u64> {
        self.bump()?;
        self.count("the alignment in bytes")
    }

    fn pointer(&mut self) -> Parsed<Pointer> {
        self.bump()?;
        let space = if let Kind::Dotted = self.token.kind { space(self.here()) } else { None };
        if space.is_some() {
            self.bump()?;
        }
        let align = if self.is_dotted(".align") { Some(self.alignment()?) } else { None };
        Ok(Pointer { space, align })
    }

    /// Takes `.attribute(.managed, .unified(1, 2))`; the inner dots stay in the names.
    pub(super) fn attribute(&mut self) -> Parsed<Directive> {
        let start = self.token.span;
        let name = self.dotted("`.attribute`")?;
        self.expect("(", "`(` behind `.attribute`")?;
        let arguments = self.separated(|parser| {
            let name = parser.dotted_name("an attribute such as `.managed`")?;
            if !parser.accept("(")? {
                return Ok(Operand::Name(name));
            }
            let inner = parser.separated(|parser| Ok(Operand::Literal(parser.constant()?)))?;
            parser.expect(")", "`,` or `)`")?;
            if inner.len() > 2 {
                return Err(failure(parser.since(name.span), "an attribute has two numbers at most"));
            }
            Ok(Operand::Apply(name, inner))
        })?;
        self.expect(")", "`,` or `)`")?;
        if arguments.len() > 8 {
            return Err(failure(self.since(start), "too many attributes"));
        }
        Ok(Directive { name, arguments, raw: None, span: self.since(start) })
    }

    /// Takes a dotted word and keeps its dot.
    pub(super) fn dotted_name(&mut self, what: &str) -> Parsed<Name> {
        let mut name = self.dotted(what)?;
        name.text.insert(0, '.');
        Ok(name)
    }

    fn dimensions(&mut self) -> Parsed<Vec<Option<u64>>> {
        let mut dimensions = Vec::new();
        while self.accept("[")? {
            if self.accept("]")? {
                dimensions.push(None);
                continue;
            }
            dimensions.push(Some(self.count("how many elements")?));
            self.expect("]", "`]` behind the dimension")?;
        }
        Ok(dimensions)
    }
}
