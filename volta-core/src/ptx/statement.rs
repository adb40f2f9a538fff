//! Bodies of functions: scopes, labels, tables and instructions.

use super::error::Parsed;
use super::parse::Parser;
use super::token::Kind;
use super::tree::{Guard, Instruction, Name, Operand, Statement, TableKind, TargetTable};

impl Parser<'_> {
    /// Takes `{ … }` and returns the statements inside.
    pub(super) fn body(&mut self) -> Parsed<Vec<Statement>> {
        self.nested(|parser| {
            let opening = parser.expect("{", "`{` and the function's body, or `;`")?.span;
            let mut statements = Vec::new();
            while !parser.is("}") {
                if parser.token.kind == Kind::End {
                    let line = parser.line_of(opening);
                    return Err(parser.expected(&format!("`}}` for the `{{` of line {line}")));
                }
                parser.statement(&mut statements)?;
            }
            parser.bump()?;
            Ok(statements)
        })
    }

    fn statement(&mut self, statements: &mut Vec<Statement>) -> Parsed<()> {
        let start = self.token.span;
        match self.token.kind {
            Kind::Sign("{") => {
                let inner = self.body()?;
                statements.push(Statement::Block(inner, self.since(start)));
            }
            Kind::Dotted => match self.here() {
                ".reg" => statements.push(Statement::Registers(self.registers()?)),
                ".visible" | ".extern" | ".weak" | ".common" => {
                    let linking = self.linking()?;
                    let variables = self.variables(start, &linking)?;
                    statements.extend(variables.into_iter().map(Statement::Variable));
                }
                name if super::declaration::space(name).is_some() => {
                    let variables = self.variables(start, &[])?;
                    statements.extend(variables.into_iter().map(Statement::Variable));
                }
                _ => statements.push(Statement::Directive(self.body_directive()?)),
            },
            Kind::Word if self.peek()?.kind == Kind::Sign(":") => {
                let label = self.word("a label")?;
                self.bump()?;
                statements.push(self.labelled(label)?);
            }
            Kind::Word | Kind::Sign("@") => statements.push(Statement::Instruction(self.instruction()?)),
            Kind::Number | Kind::Text | Kind::Sign(_) | Kind::End => {
                return Err(self.expected("an instruction, a label, a directive or `}`"));
            }
        }
        Ok(())
    }

    /// Takes the table after a label, if there is one; otherwise the label alone.
    fn labelled(&mut self, label: Name) -> Parsed<Statement> {
        let kind = if self.accept_dotted(".branchtargets")? {
            TableKind::BranchTargets(self.names("a label")?)
        } else if self.accept_dotted(".calltargets")? {
            TableKind::CallTargets(self.names("a function")?)
        } else if self.accept_dotted(".callprototype")? {
            let returns = if self.is("(") { self.parameters()? } else { Vec::new() };
            if self.here() != "_" {
                return Err(self.expected("`_` in place of the function's name"));
            }
            self.bump()?;
            let parameters = if self.is("(") { self.parameters()? } else { Vec::new() };
            TableKind::CallPrototype { returns, parameters, attributes: self.function_attributes()? }
        } else {
            return Ok(Statement::Label(label));
        };
        self.expect(";", "`,` or `;`")?;
        let span = self.since(label.span);
        Ok(Statement::Table(TargetTable { label, kind, span }))
    }

    fn instruction(&mut self) -> Parsed<Instruction> {
        let start = self.token.span;
        let guard = if self.accept("@")? {
            let negated = self.accept("!")?;
            Some(Guard { negated, register: self.word("a predicate register")? })
        } else {
            None
        };
        let opcode = self.word("an instruction")?;
        let mut modifiers = Vec::new();
        while self.token.kind == Kind::Dotted {
            modifiers.push(self.dotted("a modifier")?);
        }
        let operands = if self.is(";") { Vec::new() } else { self.operands(opcode.text == "call")? };
        self.expect(";", "`,` or `;` after the operand")?;
        Ok(Instruction { guard, opcode, modifiers, operands, span: self.since(start) })
    }

    fn operands(&mut self, call: bool) -> Parsed<Vec<Operand>> {
        self.separated(|parser| parser.operand(call))
    }
}
