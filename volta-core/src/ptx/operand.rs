//! Operands of instructions, and initial values of variables.

use super::error::{Parsed, failure};
use super::parse::Parser;
use super::token::Kind;
use super::tree::{Initializer, Literal, LiteralValue, Name, Operand};
use crate::base::span::Span;

impl Parser<'_> {
    /// Takes one operand of an instruction; `call` opens parameter lists with `(`.
    pub(super) fn operand(&mut self, call: bool) -> Parsed<Operand> {
        let left = if let Kind::Sign("(") = self.token.kind
            && (call || self.opens_list()?)
        {
            self.nested(Self::list)?
        } else {
            self.simple_operand()?
        };
        if !self.is("|") || matches!(left, Operand::Literal(_)) {
            return Ok(left);
        }
        self.bump()?;
        if !matches!(self.token.kind, Kind::Word | Kind::Sign("{")) {
            return Err(self.expected("a register behind `|`"));
        }
        let right = self.simple_operand()?;
        Ok(Operand::Pair(Box::new(left), Box::new(right)))
    }

    fn simple_operand(&mut self) -> Parsed<Operand> {
        match self.token.kind {
            Kind::Sign("[") => self.nested(Self::address),
            Kind::Sign("{") => self.nested(Self::vector),
            Kind::Sign("!") if self.peek_is_name()? => {
                self.bump()?;
                Ok(Operand::Not(self.name("a predicate")?))
            }
            Kind::Sign("-") if self.peek_is_name()? => {
                let sign = self.sign_name()?;
                Ok(Operand::Apply(sign, vec![Operand::Name(self.name("a register")?)]))
            }
            Kind::Word if !self.at_warp_size_expression()? => self.named_operand(),
            Kind::Number if self.peek()?.kind == Kind::Sign("(") => self.named_operand(),
            _ if self.at_constant() => Ok(Operand::Literal(self.constant()?)),
            Kind::Word | Kind::Dotted | Kind::Number | Kind::Text | Kind::Sign(_) | Kind::End => {
                Err(self.expected("an operand"))
            }
        }
    }

    /// Whether `(` opens a list of operands rather than a constant expression.
    fn opens_list(&self) -> Parsed<bool> {
        let behind = self.peek()?;
        Ok(match behind.kind {
            Kind::Word => self.text(behind.span) != "WARP_SZ",
            Kind::Sign(sign) => sign == ")",
            Kind::Dotted | Kind::Number | Kind::Text | Kind::End => false,
        })
    }

    fn peek_is_name(&self) -> Parsed<bool> {
        let behind = self.peek()?;
        Ok(behind.kind == Kind::Word && self.text(behind.span) != "WARP_SZ")
    }

    /// Whether `WARP_SZ` is part of an expression, where it is a number; alone it is a name.
    fn at_warp_size_expression(&self) -> Parsed<bool> {
        if self.here() != "WARP_SZ" {
            return Ok(false);
        }
        let behind = self.peek()?.kind;
        Ok(matches!(behind, Kind::Sign(sign) if "+-*/%<<>>==!=&&||^?".contains(sign)))
    }

    /// The next token, a sign, as the name of an [`Operand::Apply`].
    fn sign_name(&mut self) -> Parsed<Name> {
        let span = self.bump()?.span;
        Ok(Name { text: self.text(span).to_owned(), span })
    }

    /// Takes a name with its selectors: `%tid.x`, `%v.w`, `%r1.b0`.
    pub(super) fn name(&mut self, what: &str) -> Parsed<Name> {
        let mut name = self.word(what)?;
        while self.token.kind == Kind::Dotted {
            let selector = self.bump()?.span;
            name.text.push_str(self.text(selector));
            name.span = name.span.to(selector);
        }
        Ok(name)
    }

    /// Takes an operand that begins with a name, or with the mask of `0xFF(symbol)`.
    fn named_operand(&mut self) -> Parsed<Operand> {
        let name =
            if let Kind::Number = self.token.kind { self.sign_name()? } else { self.name("an operand")? };
        if self.accept("(")? {
            let inner = self.nested(|parser| parser.separated(|parser| parser.operand(false)))?;
            self.expect(")", "`,` or `)`")?;
            return self.applied(Operand::Apply(name, inner));
        }
        if self.is("[") {
            let span = self.bump()?.span;
            let index = self.constant()?;
            let span = span.to(self.expect("]", "`]` behind the index")?.span);
            let brackets = Name { text: "[]".to_owned(), span };
            return Ok(Operand::Apply(brackets, vec![Operand::Name(name), Operand::Literal(index)]));
        }
        if name.text == "_" {
            return Ok(Operand::Sink(name.span));
        }
        if self.is("+") || self.is("-") {
            let offset = self.offset()?.cast_signed();
            let span = self.since(name.span);
            return Ok(Operand::SymbolOffset { symbol: name, offset, span });
        }
        Ok(Operand::Name(name))
    }

    /// Adds an offset to `generic(symbol)`.
    fn applied(&mut self, operand: Operand) -> Parsed<Operand> {
        if !self.is("+") && !self.is("-") {
            return Ok(operand);
        }
        let plus = Name { text: "+".to_owned(), span: self.token.span };
        let start = self.token.span;
        let value = LiteralValue::Integer(self.offset()?);
        let literal = Literal { value, span: self.since(start) };
        Ok(Operand::Apply(plus, vec![operand, Operand::Literal(literal)]))
    }

    /// Takes `+4`, `+-4` or `-4`, given that the next token is a sign.
    fn offset(&mut self) -> Parsed<u64> {
        self.accept("+")?;
        self.integer()
    }

    fn vector(&mut self) -> Parsed<Operand> {
        let start = self.bump()?.span;
        let elements = self.separated(|parser| parser.operand(false))?;
        self.expect("}", "`,` or `}`")?;
        Ok(Operand::Vector(elements, self.since(start)))
    }

    fn list(&mut self) -> Parsed<Operand> {
        let start = self.bump()?.span;
        let items = match self.is(")") {
            true => Vec::new(),
            false => self.separated(|parser| parser.operand(false))?,
        };
        self.expect(")", "`,` or `)`")?;
        Ok(Operand::List(items, self.since(start)))
    }

    fn address(&mut self) -> Parsed<Operand> {
        let start = self.bump()?.span;
        let (base, offset) = if self.token.kind == Kind::Word && !self.at_warp_size_expression()? {
            let base = self.name("an address")?;
            let offset = if self.is("+") || self.is("-") { self.offset()? } else { 0 };
            (Some(base), offset)
        } else if self.at_constant() {
            (None, self.integer()?)
        } else {
            return Err(self.expected("a register, a symbol or a number in the address"));
        };
        let rest = match self.accept(",")? {
            true => self.separated(|parser| parser.operand(false))?,
            false => Vec::new(),
        };
        self.expect("]", "`+`, `,` or `]`")?;
        Ok(Operand::Address { base, offset: offset.cast_signed(), rest, span: self.since(start) })
    }

    /// Takes an initial value.
    pub(super) fn initializer(&mut self) -> Parsed<Initializer> {
        if self.is("{") {
            return self.nested(|parser| {
                parser.bump()?;
                let values = match parser.is("}") {
                    true => Vec::new(),
                    false => parser.separated(Self::initializer)?,
                };
                parser.expect("}", "`,` or `}`")?;
                Ok(Initializer::List(values))
            });
        }
        let value = self.operand(false)?;
        if let Operand::Name(field) = value {
            if !self.is("=") {
                return Ok(Initializer::Value(Operand::Name(field)));
            }
            let equals = self.sign_name()?;
            let content = self.operand(false)?;
            return Ok(Initializer::Value(Operand::Apply(equals, vec![Operand::Name(field), content])));
        }
        Ok(Initializer::Value(value))
    }

    /// Takes `"text"`.
    pub(super) fn string(&mut self, what: &str) -> Parsed<Operand> {
        if self.token.kind != Kind::Text {
            return Err(self.expected(what));
        }
        let span = self.bump()?.span;
        let inside = self.text(Span { start: span.start + 1, end: span.end - 1 });
        Ok(Operand::Text(inside.to_owned(), span))
    }

    /// Takes `<8>` if it is next.
    pub(super) fn range(&mut self) -> Parsed<Option<u64>> {
        if !self.accept("<")? {
            return Ok(None);
        }
        let count = self.count("how many names")?;
        self.expect(">", "`>` behind the count")?;
        Ok(Some(count))
    }

    /// Expands `name0, name1, …`, for declarations whose tree has no short form.
    pub(super) fn expand(&mut self, name: Name, count: Option<u64>) -> Parsed<Vec<Name>> {
        /// More names in one declaration, other than of registers, are a mistake or an attack.
        const MOST: u64 = 4096;
        let Some(count) = count else { return Ok(vec![name]) };
        if count > MOST {
            let message = format!("{count} names in one declaration; at most {MOST} are allowed");
            return Err(failure(name.span, message));
        }
        self.spend(count, name.text.len(), name.span)?;
        let spelled = |index| Name { text: format!("{}{index}", name.text), span: name.span };
        Ok((0..count).map(spelled).collect())
    }
}
