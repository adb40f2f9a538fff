//! The printer: tree to PTX text, one statement a line, with numbers in one form.

use std::fmt::{Display, Write};

use super::tree::{
    Directive, FunctionDefinition, Initializer, Instruction, Item, Linking, LiteralValue, Module, Name,
    Operand, Registers, StateSpace, Statement, TableKind, TargetTable, VariableDeclaration,
};

/// Writes a module as PTX; [`parse`](super::parse) reads it back as the same tree up to spans.
///
/// Integers are written as signed decimals, `0f…` and `0d…` as their bits; comments are lost.
pub fn print(module: &Module) -> String {
    let mut printer = Printer { out: String::new(), depth: 0 };
    for item in &module.items {
        match item {
            Item::Directive(directive) => {
                printer.directive(directive);
                printer.out.push('\n');
            }
            Item::Variable(variable) => {
                printer.variable(variable);
                printer.out.push_str(";\n");
            }
            Item::Function(function) => printer.function(function),
        }
    }
    printer.out
}

struct Printer {
    out: String,
    depth: usize,
}

impl Printer {
    fn show(&mut self, value: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "{value}");
    }

    fn line(&mut self) {
        let depth = self.depth;
        self.out.extend(std::iter::repeat_n('\t', depth));
    }

    fn separated<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Printer, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            each(self, item);
        }
    }

    fn directive(&mut self, directive: &Directive) {
        let name = directive.name.text.as_str();
        self.out.push('.');
        self.out.push_str(name);
        if !directive.arguments.is_empty() && name != "attribute" {
            self.out.push(' ');
        }
        match (name, directive.arguments.as_slice()) {
            ("version", [major, minor]) => {
                self.operand(major);
                self.out.push('.');
                self.operand(minor);
            }
            ("file", [index, rest @ ..]) => {
                self.operand(index);
                self.out.push(' ');
                self.separated(rest, Printer::operand);
            }
            ("loc", arguments) => self.loc(arguments),
            ("attribute", arguments) => {
                self.out.push('(');
                self.separated(arguments, Printer::operand);
                self.out.push(')');
            }
            (_, arguments) => self.separated(arguments, Printer::operand),
        }
        if let Some(raw) = &directive.raw {
            self.out.push_str(" {");
            self.out.push_str(raw);
            self.out.push('}');
        }
        if matches!(name, "pragma" | "alias") {
            self.out.push(';');
        }
    }

    fn loc(&mut self, arguments: &[Operand]) {
        for (at, argument) in arguments.iter().enumerate() {
            match argument {
                Operand::Apply(name, inner) => {
                    self.out.push_str(", ");
                    self.out.push_str(&name.text);
                    for operand in inner {
                        self.out.push(' ');
                        self.operand(operand);
                    }
                }
                other @ (Operand::Name(_)
                | Operand::Not(_)
                | Operand::Literal(_)
                | Operand::SymbolOffset { .. }
                | Operand::Vector(..)
                | Operand::Pair(..)
                | Operand::Sink(_)
                | Operand::Address { .. }
                | Operand::List(..)
                | Operand::Text(..)) => {
                    if at > 0 {
                        self.out.push(' ');
                    }
                    self.operand(other);
                }
            }
        }
    }

    fn linking(&mut self, linking: &[Linking]) {
        for link in linking {
            self.out.push_str(match link {
                Linking::Visible => ".visible ",
                Linking::Extern => ".extern ",
                Linking::Weak => ".weak ",
                Linking::Common => ".common ",
            });
        }
    }

    /// Writes a declaration without its semicolon.
    fn variable(&mut self, variable: &VariableDeclaration) {
        self.linking(&variable.linking);
        self.out.push_str(space(variable.space));
        for attribute in &variable.attributes {
            self.out.push(' ');
            self.directive(attribute);
        }
        if let Some(align) = variable.align {
            self.show(format_args!(" .align {align}"));
        }
        if let Some(vector) = variable.vector {
            self.show(format_args!(" .v{vector}"));
        }
        self.show(format_args!(" .{}", variable.element.text));
        if let Some(pointer) = &variable.pointer {
            self.out.push_str(" .ptr");
            if let Some(target) = pointer.space {
                self.show(format_args!(" {}", space(target)));
            }
            if let Some(align) = pointer.align {
                self.show(format_args!(" .align {align}"));
            }
        }
        self.show(format_args!(" {}", variable.name.text));
        for dimension in &variable.dimensions {
            match dimension {
                Some(count) => self.show(format_args!("[{count}]")),
                None => self.out.push_str("[]"),
            }
        }
        if let Some(initializer) = &variable.initializer {
            self.out.push_str(" = ");
            self.initializer(initializer);
        }
    }

    fn initializer(&mut self, initializer: &Initializer) {
        match initializer {
            Initializer::Value(value) => self.operand(value),
            Initializer::List(values) => {
                self.out.push('{');
                self.separated(values, Printer::initializer);
                self.out.push('}');
            }
        }
    }

    fn function(&mut self, function: &FunctionDefinition) {
        self.linking(&function.linking);
        self.out.push_str(if function.entry { ".entry" } else { ".func" });
        let (before, behind): (Vec<_>, Vec<_>) =
            function.attributes.iter().partition(|attribute| attribute.name.text == "attribute");
        for attribute in before {
            self.out.push(' ');
            self.directive(attribute);
        }
        if !function.returns.is_empty() {
            self.out.push_str(" (");
            self.separated(&function.returns, Printer::variable);
            self.out.push(')');
        }
        self.show(format_args!(" {}(", function.name.text));
        for (at, parameter) in function.parameters.iter().enumerate() {
            self.out.push_str(if at > 0 { ",\n\t" } else { "\n\t" });
            self.variable(parameter);
        }
        self.out.push_str(if function.parameters.is_empty() { ")" } else { "\n)" });
        for attribute in behind {
            self.out.push('\n');
            self.directive(attribute);
        }
        match &function.body {
            None => self.out.push_str(";\n"),
            Some(body) => {
                self.out.push('\n');
                self.body(body);
            }
        }
    }

    fn body(&mut self, statements: &[Statement]) {
        self.line();
        self.out.push_str("{\n");
        self.depth += 1;
        for statement in statements {
            self.statement(statement);
        }
        self.depth -= 1;
        self.line();
        self.out.push_str("}\n");
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Block(inner, _) => return self.body(inner),
            Statement::Label(label) => {
                self.out.push_str(&label.text);
                self.out.push(':');
            }
            Statement::Registers(registers) => {
                self.line();
                self.registers(registers);
            }
            Statement::Variable(variable) => {
                self.line();
                self.variable(variable);
                self.out.push(';');
            }
            Statement::Instruction(instruction) => {
                self.line();
                self.instruction(instruction);
            }
            Statement::Directive(directive) => {
                self.line();
                self.directive(directive);
            }
            Statement::Table(table) => self.table(table),
        }
        self.out.push('\n');
    }

    fn registers(&mut self, registers: &Registers) {
        self.out.push_str(".reg");
        if let Some(vector) = registers.vector {
            self.show(format_args!(" .v{vector}"));
        }
        self.show(format_args!(" .{} ", registers.element.text));
        self.separated(&registers.names, |printer, (name, count)| {
            printer.out.push_str(&name.text);
            if let Some(count) = count {
                printer.show(format_args!("<{count}>"));
            }
        });
        self.out.push(';');
    }

    fn table(&mut self, table: &TargetTable) {
        let name = |printer: &mut Printer, name: &Name| printer.out.push_str(&name.text);
        self.show(format_args!("{}: ", table.label.text));
        match &table.kind {
            TableKind::BranchTargets(labels) => {
                self.out.push_str(".branchtargets ");
                self.separated(labels, name);
            }
            TableKind::CallTargets(functions) => {
                self.out.push_str(".calltargets ");
                self.separated(functions, name);
            }
            TableKind::CallPrototype { returns, parameters, attributes } => {
                self.out.push_str(".callprototype ");
                if !returns.is_empty() {
                    self.out.push('(');
                    self.separated(returns, Printer::variable);
                    self.out.push_str(") ");
                }
                self.out.push_str("_ (");
                self.separated(parameters, Printer::variable);
                self.out.push(')');
                for attribute in attributes {
                    self.out.push(' ');
                    self.directive(attribute);
                }
            }
        }
        self.out.push(';');
    }

    fn instruction(&mut self, instruction: &Instruction) {
        if let Some(guard) = &instruction.guard {
            self.show(format_args!("@{}{} ", if guard.negated { "!" } else { "" }, guard.register.text));
        }
        self.out.push_str(&instruction.opcode.text);
        for modifier in &instruction.modifiers {
            self.out.push('.');
            self.out.push_str(&modifier.text);
        }
        if !instruction.operands.is_empty() {
            self.out.push(' ');
        }
        self.separated(&instruction.operands, Printer::operand);
        self.out.push(';');
    }

    fn operand(&mut self, operand: &Operand) {
        match operand {
            Operand::Name(name) => self.out.push_str(&name.text),
            Operand::Not(name) => self.show(format_args!("!{}", name.text)),
            Operand::Literal(literal) => match literal.value {
                LiteralValue::Integer(bits) => self.show(bits.cast_signed()),
                LiteralValue::Float32(bits) => self.show(format_args!("0f{bits:08X}")),
                LiteralValue::Float64(bits) => self.show(format_args!("0d{bits:016X}")),
            },
            Operand::SymbolOffset { symbol, offset, .. } => {
                self.show(format_args!("{}+{offset}", symbol.text));
            }
            Operand::Vector(elements, _) => self.enclosed('{', elements, '}'),
            Operand::Pair(left, right) => {
                self.operand(left);
                self.out.push('|');
                self.operand(right);
            }
            Operand::Sink(_) => self.out.push('_'),
            Operand::Address { base, offset, rest, .. } => self.address(base.as_ref(), *offset, rest),
            Operand::List(items, _) => self.enclosed('(', items, ')'),
            Operand::Text(text, _) => self.show(format_args!("\"{text}\"")),
            Operand::Apply(name, operands) => self.apply(&name.text, operands),
        }
    }

    fn enclosed(&mut self, opening: char, operands: &[Operand], closing: char) {
        self.out.push(opening);
        self.separated(operands, Printer::operand);
        self.out.push(closing);
    }

    fn address(&mut self, base: Option<&Name>, offset: i64, rest: &[Operand]) {
        self.out.push('[');
        match base {
            Some(base) => {
                self.out.push_str(&base.text);
                if offset != 0 {
                    self.show(format_args!("+{offset}"));
                }
            }
            None => self.show(offset),
        }
        for operand in rest {
            self.out.push_str(", ");
            self.operand(operand);
        }
        self.out.push(']');
    }

    fn apply(&mut self, name: &str, operands: &[Operand]) {
        match (name, operands) {
            ("-", [operand]) => {
                self.out.push('-');
                self.operand(operand);
            }
            ("[]", [array, index]) => {
                self.operand(array);
                self.enclosed('[', std::slice::from_ref(index), ']');
            }
            ("+" | "=", [left, right]) => {
                self.operand(left);
                self.out.push_str(if name == "+" { "+" } else { " = " });
                self.operand(right);
            }
            _ => {
                self.out.push_str(name);
                self.enclosed('(', operands, ')');
            }
        }
    }
}

fn space(space: StateSpace) -> &'static str {
    match space {
        StateSpace::Reg => ".reg",
        StateSpace::Shared => ".shared",
        StateSpace::Global => ".global",
        StateSpace::Const => ".const",
        StateSpace::Local => ".local",
        StateSpace::Param => ".param",
        StateSpace::Texture => ".tex",
    }
}
