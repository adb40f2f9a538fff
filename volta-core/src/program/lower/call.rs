//! Calls, inlined.

use super::{Activation, DEEPEST, Lowering};
use crate::program::access::Access;
use crate::program::error::LowerError;
use crate::program::layout;
use crate::program::names::Binding;
use crate::program::op::{Address, Op, PredSrc, RegId, Space, Special, Src, VariableId, Width};
use crate::program::operand::{Fail, Lowered, Operation, span_of};
use crate::program::types::{Type, width_of_bytes};
use crate::ptx::tree;

/// The parts of a call instruction.
struct Call<'m> {
    function: &'m tree::FunctionDefinition,
    returns: &'m [tree::Operand],
    arguments: &'m [tree::Operand],
}

impl<'m> Lowering<'m> {
    /// Inlines the body of the function called, or fails with the reason why it cannot.
    pub(super) fn call(
        &mut self,
        instruction: &'m tree::Instruction,
        guard: Option<PredSrc>,
    ) -> Result<(), LowerError> {
        let span = instruction.span;
        let prepared = self.prepare_call(instruction);
        let call = match prepared {
            Ok(call) => call,
            Err(Fail::Unsupported(reason)) => {
                return self.emit(guard, vec![Op::Unsupported { reason }], false, span);
            }
            Err(Fail::Wrong(error)) => return Err(error),
        };
        let name = call.function.name.text.as_str();
        if call.function.body.is_none() && name == "__assertfail" {
            return self.emit(guard, vec![Op::Trap], false, span);
        }
        let skip = match guard {
            Some(guard) => {
                let skip = self.names.fresh_label();
                let negated = PredSrc { negated: !guard.negated, ..guard };
                self.push(Some(negated), Op::Branch { target: Self::target(skip) }, span)?;
                Some(skip)
            }
            None => None,
        };
        let lowered = match call.function.body {
            Some(_) => self.inline(instruction, &call),
            None => self.print_call(instruction, &call),
        };
        match lowered {
            Ok(()) => {}
            Err(Fail::Unsupported(reason)) => self.push(None, Op::Unsupported { reason }, span)?,
            Err(Fail::Wrong(error)) => return Err(error),
        }
        if let Some(skip) = skip {
            self.place(skip);
        }
        Ok(())
    }

    fn prepare_call(&mut self, instruction: &'m tree::Instruction) -> Lowered<Call<'m>> {
        let unsupported = |reason: String| Err(Fail::Unsupported(reason));
        if let Some(modifier) = instruction.modifiers.iter().find(|modifier| modifier.text != "uni") {
            return unsupported(format!("`call` does not take `.{}`", modifier.text));
        }
        let mut operands = instruction.operands.as_slice();
        let list = |operands: &mut &'m [tree::Operand]| -> &'m [tree::Operand] {
            match operands.split_first() {
                Some((tree::Operand::List(items, _), rest)) => {
                    *operands = rest;
                    items
                }
                _ => &[],
            }
        };
        let returns = list(&mut operands);
        let Some((tree::Operand::Name(target), rest)) = operands.split_first() else {
            return unsupported("this form of `call` is not supported".to_owned());
        };
        operands = rest;
        let arguments = list(&mut operands);
        if let Some(Binding::Register(..)) = self.names.resolve(target)? {
            return unsupported("indirect calls are not supported".to_owned());
        }
        let name = &target.text;
        let Some(function) = self.names.function(name) else {
            return Err(Fail::Wrong(self.names.undeclared("function", target)));
        };
        if !operands.is_empty() {
            return unsupported("this form of `call` is not supported".to_owned());
        }
        if function.entry {
            return unsupported(format!("`call` of the kernel `{name}`"));
        }
        let shape = |what, passed: usize, declared: usize| {
            let function = name.clone();
            Fail::Wrong(LowerError::CallShape { function, what, passed, declared, span: instruction.span })
        };
        if returns.len() != function.returns.len() {
            return Err(shape("return values", returns.len(), function.returns.len()));
        }
        if arguments.len() != function.parameters.len() {
            return Err(shape("parameters", arguments.len(), function.parameters.len()));
        }
        match (&function.body, name.as_str()) {
            (Some(_), _) | (None, "vprintf" | "__assertfail") => {}
            (None, "malloc" | "free") => {
                return unsupported(format!("`{name}`: device memory allocation is not supported"));
            }
            (None, _) => {
                return unsupported(format!("`{name}` is called, but its definition is not in this PTX"));
            }
        }
        if self.activations.iter().any(|activation| std::ptr::eq(activation.function, function)) {
            return unsupported(format!("`{name}` calls itself: recursion is not supported"));
        }
        if self.activations.len() >= DEEPEST / 2 {
            return unsupported(format!("calls are nested more than {} deep", DEEPEST / 2));
        }
        Ok(Call { function, returns, arguments })
    }

    /// `printf` has no output that is compared; its result is unpredictable.
    fn print_call(&mut self, instruction: &'m tree::Instruction, call: &Call<'m>) -> Lowered {
        for (operand, formal) in call.returns.iter().zip(&call.function.returns) {
            let (register, passed) = self.returned(instruction, operand, formal)?;
            let op = Op::Special { d: register, special: Special::Unpredictable, width: passed.width };
            self.push(None, op, instruction.span)?;
            self.deliver(instruction, register, passed)?;
        }
        Ok(())
    }

    fn inline(&mut self, instruction: &'m tree::Instruction, call: &Call<'m>) -> Lowered {
        let function = call.function;
        self.activation_count += 1;
        self.step(instruction.span)?;
        self.check_sharing(call)?;
        let mut bindings = Vec::new();
        for (operand, formal) in call.arguments.iter().zip(&function.parameters) {
            bindings.push(self.argument(instruction, function, operand, formal)?);
        }
        let mut results = Vec::new();
        for (operand, formal) in call.returns.iter().zip(&function.returns) {
            results.push(self.result(instruction, function, operand, formal)?);
        }
        let entered = self.enter(instruction.span)?;
        let end = self.names.fresh_label();
        let number = self.activation_count;
        let location = self.location;
        self.names.enter_function();
        self.activations.push(Activation { function, end: Some(end), number });
        let results_bound = results.iter().map(|(binding, _)| *binding);
        let formals = function.parameters.iter().chain(&function.returns);
        for (formal, binding) in formals.zip(bindings.into_iter().chain(results_bound)) {
            self.names.declare(&formal.name, binding)?;
        }
        let first = self.insts.len();
        self.block(function.body.as_deref().unwrap_or_default(), instruction.span)?;
        self.end_of_body(function, first)?;
        self.activations.pop();
        self.names.leave_function();
        // The condition code is undefined after entering a function and after returning from it.
        let carry = Binding::Predicate(self.carry());
        self.declares(entered, results.iter().map(|(binding, _)| *binding).chain([carry]));
        self.place(end);
        self.location = location;
        let left = self.enter(instruction.span)?;
        self.declares(left, [carry]);
        for (binding, passed) in results {
            let Some(passed) = passed else { continue };
            match binding {
                Binding::Register(register, _) => self.deliver(instruction, register, passed)?,
                Binding::Variable(variable) => {
                    let register = self.temporary(0);
                    let load = Op::Load {
                        space: Space::Param,
                        address: Address { base: Src::Symbol(variable, 0), offset: 0 },
                        width: passed.width,
                        d: vec![Some(register)],
                        access: Access::default(),
                    };
                    self.push(None, load, instruction.span)?;
                    self.deliver(instruction, register, passed)?;
                }
                Binding::Predicate(_)
                | Binding::Register128
                | Binding::Vector { .. }
                | Binding::Static(_) => {}
            }
        }
        Ok(())
    }

    /// Parameters are passed by value: one variable for two of them would let a write to one change the other.
    fn check_sharing(&mut self, call: &Call<'m>) -> Lowered {
        let mut seen = Vec::new();
        let formals = call.function.parameters.iter().chain(&call.function.returns);
        for (operand, formal) in call.arguments.iter().chain(call.returns).zip(formals) {
            // Register parameters get copies.
            if formal.space == tree::StateSpace::Reg {
                continue;
            }
            let Some(variable) = self.argument_variable(operand)? else { continue };
            if seen.contains(&variable) {
                let name = &call.function.name.text;
                return Err(Fail::Unsupported(format!("the call of `{name}` passes one variable twice")));
            }
            seen.push(variable);
        }
        Ok(())
    }

    /// Binds a parameter inside the function, initialised with the argument.
    fn argument(
        &mut self,
        instruction: &'m tree::Instruction,
        function: &'m tree::FunctionDefinition,
        operand: &'m tree::Operand,
        formal: &'m tree::VariableDeclaration,
    ) -> Lowered<Binding<'m>> {
        let span = instruction.span;
        if let Some(variable) = self.argument_variable(operand)? {
            if formal.space == tree::StateSpace::Reg {
                let (register, width) = self.formal_register(formal)?;
                let address = Address { base: Src::Symbol(variable, 0), offset: 0 };
                let d = vec![Some(register)];
                let access = Access::default();
                self.push(None, Op::Load { space: Space::Param, address, width, d, access }, span)?;
                return Ok(Binding::Register(register, width));
            }
            self.check_argument_size(function, formal, variable, operand)?;
            return Ok(Binding::Variable(variable));
        }
        let ty = scalar_type(formal).ok_or_else(|| unsupported_formal(formal))?;
        let width = ty.width().ok_or_else(|| unsupported_formal(formal))?;
        let source = {
            let mut operation = Operation::new(self, instruction);
            operation.value(operand, ty)?
        };
        if formal.space == tree::StateSpace::Reg {
            let (register, width) = self.formal_register(formal)?;
            self.push(None, Op::Mov { d: register, a: source, width }, span)?;
            return Ok(Binding::Register(register, width));
        }
        let variable = self.activation_variable(formal, Space::Param, layout::layout(formal)?);
        let address = Address { base: Src::Symbol(variable, 0), offset: 0 };
        let store =
            Op::Store { space: Space::Param, address, width, a: vec![source], access: Access::default() };
        self.push(None, store, span)?;
        Ok(Binding::Variable(variable))
    }

    /// Binds a return parameter inside the function; returns the binding with the destination of its value.
    fn result(
        &mut self,
        instruction: &'m tree::Instruction,
        function: &'m tree::FunctionDefinition,
        operand: &'m tree::Operand,
        formal: &'m tree::VariableDeclaration,
    ) -> Lowered<(Binding<'m>, Option<Passed>)> {
        let direct = self.argument_variable(operand)?;
        if let (Some(variable), tree::StateSpace::Param) = (direct, formal.space) {
            self.check_argument_size(function, formal, variable, operand)?;
            return Ok((Binding::Variable(variable), None));
        }
        let (register, passed) = self.returned(instruction, operand, formal)?;
        if formal.space == tree::StateSpace::Reg {
            return Ok((Binding::Register(register, passed.width), Some(passed)));
        }
        let variable = self.activation_variable(formal, Space::Param, layout::layout(formal)?);
        Ok((Binding::Variable(variable), Some(passed)))
    }

    /// A register for a return value, with its destination.
    fn returned(
        &mut self,
        instruction: &'m tree::Instruction,
        operand: &'m tree::Operand,
        formal: &'m tree::VariableDeclaration,
    ) -> Lowered<(RegId, Passed)> {
        let ty = scalar_type(formal).ok_or_else(|| unsupported_formal(formal))?;
        let width = ty.width().ok_or_else(|| unsupported_formal(formal))?;
        let to = match self.argument_variable(operand)? {
            Some(variable) => Receiver::Variable(variable),
            None => {
                if let tree::Operand::Sink(_) = operand {
                    Receiver::Nobody
                } else {
                    Receiver::Register(Operation::new(self, instruction).register(operand, width)?)
                }
            }
        };
        Ok((self.names.fresh_register(), Passed { to, width }))
    }

    /// Moves a return value to its destination.
    fn deliver(
        &mut self,
        instruction: &tree::Instruction,
        from: RegId,
        passed: Passed,
    ) -> Result<(), LowerError> {
        let (a, width) = (Src::Reg(from), passed.width);
        let op = match passed.to {
            Receiver::Register(d) => Op::Mov { d, a, width },
            Receiver::Variable(variable) => {
                let address = Address { base: Src::Symbol(variable, 0), offset: 0 };
                Op::Store { space: Space::Param, address, width, a: vec![a], access: Access::default() }
            }
            Receiver::Nobody => return Ok(()),
        };
        self.push(None, op, instruction.span)
    }

    fn formal_register(&mut self, formal: &'m tree::VariableDeclaration) -> Lowered<(RegId, Width)> {
        let width = scalar_type(formal).and_then(Type::width).ok_or_else(|| unsupported_formal(formal))?;
        Ok((self.names.fresh_register(), width))
    }

    /// The `.param` variable that a call operand names.
    fn argument_variable(&mut self, operand: &'m tree::Operand) -> Lowered<Option<VariableId>> {
        let tree::Operand::Name(name) = operand else { return Ok(None) };
        match self.names.resolve(name)? {
            Some(Binding::Variable(variable)) if self.space_of(variable) == Space::Param => {
                Ok(Some(variable))
            }
            _ => Ok(None),
        }
    }

    fn check_argument_size(
        &self,
        function: &tree::FunctionDefinition,
        formal: &tree::VariableDeclaration,
        variable: VariableId,
        operand: &tree::Operand,
    ) -> Lowered {
        let needed = layout::layout(formal)?.size;
        let size = self.variables.get(variable.index()).and_then(|variable| variable.size);
        if size < needed {
            return Err(Fail::Wrong(LowerError::ArgumentSize {
                function: function.name.text.clone(),
                parameter: formal.name.text.clone(),
                span: span_of(operand),
            }));
        }
        Ok(())
    }
}

/// The destination of a return value.
#[derive(Clone, Copy)]
struct Passed {
    to: Receiver,
    width: Width,
}

#[derive(Clone, Copy)]
enum Receiver {
    Register(RegId),
    Variable(VariableId),
    Nobody,
}

/// The type of a parameter that one register can hold.
fn scalar_type(formal: &tree::VariableDeclaration) -> Option<Type> {
    let ty = Type::parse(&formal.element.text)?;
    let whole = layout::layout(formal).ok()?.size?;
    (ty.bytes() == Some(whole) && width_of_bytes(whole).is_some()).then_some(ty)
}

fn unsupported_formal(formal: &tree::VariableDeclaration) -> Fail {
    Fail::Unsupported(format!("a call passes `{}` in a way that is not supported", formal.name.text))
}
