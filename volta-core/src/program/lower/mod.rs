//! Lowers the statements of a function to operations: control structure, calls, variables, source positions.
//!
//! Calls are inlined. Each activation has its own registers, labels and local variables, and a `.param` variable that a
//! call passes is the same variable as the parameter of the function.

mod call;
mod enter;

use rustc_hash::FxHashMap;

use super::code::{Init, Inst, Location, Parameter, Program, Variable};
use super::descriptor::find_matrices;
use super::effect::{Control, Effect};
use super::error::LowerError;
use super::flag::mark_waits;
use super::isa::{self, Handler};
use super::layout::{self, Layout};
use super::names::{Binding, LabelId, Names};
use super::op::{InstId, Op, PredId, PredSrc, RegId, Space, Special, VariableId};
use super::operand::{Fail, Lowered, Operation};
use super::trap::guard_traps;
use super::variables::WORKSPACE;
use crate::base::budget::{Budgets, Limit};
use crate::base::span::Span;
use crate::ptx::location::{self, Loc};
use crate::ptx::tree;

/// The deepest nesting of blocks and activations, below what the stack holds.
const DEEPEST: usize = 200;

/// Bytes of the memory that the driver provides for the barrier of a grid, as far as kernels access it.
const WORKSPACE_BYTES: usize = 16;

/// A variable that exists once: its id, or the reason why using it is not supported.
type StaticVariable = Result<VariableId, String>;

/// A kernel while it is being lowered.
pub(super) struct Lowering<'m> {
    pub(super) names: Names<'m>,
    /// Constraints on launches by its directives.
    pub(super) bounds: super::LaunchBounds,
    insts: Vec<Inst>,
    variables: Vec<Variable>,
    statics: FxHashMap<*const tree::VariableDeclaration, StaticVariable>,
    labels: FxHashMap<u32, InstId>,
    activations: Vec<Activation<'m>>,
    activation_count: u32,
    depth: usize,
    carry: Option<PredId>,
    temporaries: Vec<RegId>,
    temporary_predicates: Vec<PredId>,
    location: Option<u32>,
    locations: Vec<Location>,
    /// The index of each location, by its directive and the place where it was inlined; and the last one at each source
    /// position.
    location_ids: FxHashMap<(Loc, Option<u32>), u32>,
    last_at: FxHashMap<(u32, u32, u32), u32>,
    files: FxHashMap<u32, &'m str>,
    steps: u64,
    budgets: Budgets,
}

/// A call that is being inlined.
struct Activation<'m> {
    function: &'m tree::FunctionDefinition,
    /// The target of `ret`; `None` in the entry, where it ends the thread.
    end: Option<LabelId>,
    /// A number that distinguishes its variables from those of other activations.
    number: u32,
}

/// Lowers one entry.
pub(super) fn entry(
    module: &tree::Module,
    function: &tree::FunctionDefinition,
    lines: u32,
    budgets: &Budgets,
) -> Result<Program, LowerError> {
    let mut files = FxHashMap::default();
    let directives = module.items.iter().filter_map(|item| match item {
        tree::Item::Directive(directive) => Some(directive),
        tree::Item::Variable(_) | tree::Item::Function(_) => None,
    });
    for directive in directives {
        if let Some((number, path)) = location::file(directive) {
            files.insert(number, path);
        }
    }
    let lowering = Lowering {
        names: Names::new(module)?,
        bounds: super::kernel::launch_bounds(module, function)?,
        insts: Vec::new(),
        variables: Vec::new(),
        statics: FxHashMap::default(),
        labels: FxHashMap::default(),
        activations: Vec::new(),
        activation_count: 0,
        depth: 0,
        carry: None,
        temporaries: Vec::new(),
        temporary_predicates: Vec::new(),
        location: None,
        locations: Vec::new(),
        location_ids: FxHashMap::default(),
        last_at: FxHashMap::default(),
        files,
        steps: 0,
        budgets: budgets.clone(),
    };
    lowering.entry(function, lines)
}

/// The last character of a span: the brace that ends a body.
fn last_of(span: Span) -> Span {
    Span { start: span.end.saturating_sub(1), end: span.end }
}

impl<'m> Lowering<'m> {
    fn entry(mut self, function: &'m tree::FunctionDefinition, lines: u32) -> Result<Program, LowerError> {
        self.names.enter_function();
        self.activations.push(Activation { function, end: None, number: 0 });
        let mut parameters = Vec::new();
        for (number, parameter) in function.parameters.iter().enumerate() {
            let layout = layout::layout(parameter)?;
            let variable = self.add_variable(Variable {
                name: parameter.name.text.clone(),
                space: Space::Param,
                size: layout.size,
                align: layout.align,
                init: None,
                element: parameter.element.text.clone(),
                parameter: Some(number),
                declared_at: parameter.span.start,
            });
            self.names.declare(&parameter.name, Binding::Variable(variable))?;
            parameters.push(Parameter {
                name: parameter.name.text.clone(),
                variable,
                element: parameter.element.text.clone(),
                size: layout.size.unwrap_or(0),
                align: layout.align,
                pointer: parameter.pointer.is_some(),
            });
        }
        self.block(function.body.as_deref().unwrap_or_default(), function.span)?;
        self.location = None;
        let end = last_of(function.span);
        self.end_of_body(function, 0)?;
        self.push(None, Op::Exit, end)?;
        self.keep_entries();
        self.resolve_targets();
        guard_traps(&mut self.insts);
        mark_waits(&mut self.insts);
        find_matrices(&mut self.insts, &self.variables);
        self.provide_workspace();
        let (registers, predicates, _) = self.names.counts();
        let module_variables = self.names.module_variables();
        let mut program = Program {
            name: function.name.text.clone(),
            insts: self.insts,
            registers,
            predicates,
            variables: self.variables,
            module_variables,
            parameters,
            locations: self.locations,
            bounds: self.bounds,
            lines,
        };
        program.find_swap_loops();
        Ok(program)
    }

    /// Adds a variable for the memory that the driver provides for the barrier of a cooperative grid, if the code reads
    /// its address.
    fn provide_workspace(&mut self) {
        let asks = |inst: &Inst| matches!(inst.op, Op::Special { special: Special::Workspace { .. }, .. });
        if self.insts.iter().any(asks) {
            let (bytes, addresses) = (vec![0; WORKSPACE_BYTES], Vec::new());
            self.variables.push(Variable {
                name: WORKSPACE.to_owned(),
                space: Space::Global,
                size: Some(WORKSPACE_BYTES as u64),
                align: WORKSPACE_BYTES as u64,
                init: Some(Init { bytes, addresses }),
                element: "b8".to_owned(),
                parameter: None,
                declared_at: u32::MAX,
            });
        }
    }

    /// What is reached where control leaves the body of a function, lowered from `first` on, without returning: PTX does
    /// not say what follows, and compilers leave such an end of code whose behaviour is not defined.
    fn end_of_body(&mut self, function: &tree::FunctionDefinition, first: usize) -> Result<(), LowerError> {
        let is_last = |inst: &Inst| {
            inst.guard.is_none() && matches!(inst.op.effect(), Effect::Control(_) | Effect::Fault)
        };
        let falls = !self.insts[first..].last().is_some_and(is_last);
        let here = InstId::from_index(self.insts.len());
        let controls = self.insts[first..].iter().filter_map(|inst| inst.op.control());
        let mut targets = controls.flat_map(Control::targets);
        if !falls && !targets.any(|target| self.labels.get(&target.0) == Some(&here)) {
            return Ok(());
        }
        let name = &function.name.text;
        let reason =
            format!("the end of `{name}` is reached without `ret`: what happens there is not defined");
        self.push(None, Op::Unsupported { reason }, last_of(function.span))
    }

    /// Replaces labels by positions.
    fn resolve_targets(&mut self) {
        let last = InstId::from_index(self.insts.len().saturating_sub(1));
        let labels = &self.labels;
        let place = |target: &mut InstId| *target = labels.get(&target.0).copied().unwrap_or(last);
        for inst in &mut self.insts {
            inst.op.targets_mut().iter_mut().for_each(place);
        }
    }

    fn block(&mut self, statements: &'m [tree::Statement], span: Span) -> Result<(), LowerError> {
        if self.depth >= DEEPEST {
            return Err(LowerError::Depth { allowed: DEEPEST, span });
        }
        self.depth += 1;
        let entered = self.enter(span)?;
        self.names.enter_block(statements)?;
        for statement in statements {
            self.statement(statement)?;
        }
        let declared: Vec<_> = self.names.leave_block().collect();
        self.declares(entered, declared);
        self.depth -= 1;
        Ok(())
    }

    fn statement(&mut self, statement: &'m tree::Statement) -> Result<(), LowerError> {
        match statement {
            tree::Statement::Label(name) => {
                let label = self.names.label(name)?;
                self.place(label);
                self.step(name.span)
            }
            tree::Statement::Block(statements, span) => {
                self.step(*span)?;
                self.block(statements, *span)
            }
            tree::Statement::Registers(registers) => {
                self.step(registers.span)?;
                self.names.declare_registers(registers)
            }
            tree::Statement::Variable(variable) => {
                self.step(variable.span)?;
                self.local_variable(variable)
            }
            tree::Statement::Instruction(instruction) => {
                self.step(instruction.span)?;
                self.instruction(instruction)
            }
            tree::Statement::Directive(directive) => {
                self.directive(directive);
                self.step(directive.span)
            }
            tree::Statement::Table(table) => self.step(table.span),
        }
    }

    /// Counts a statement, so that nested calls of empty functions also reach the limit.
    fn step(&mut self, span: Span) -> Result<(), LowerError> {
        self.steps += 1;
        let steps_per_operation = 8;
        self.budgets
            .check(Limit::ProgramSize, self.steps / steps_per_operation)
            .map_err(|exhausted| LowerError::Exhausted { exhausted, span })
    }

    /// `.loc` sets the source position of what follows. All other directives in a body have no effect: `.pragma` is a
    /// hint for the compiler, `.file` has been read before, `.section` is for debuggers.
    fn directive(&mut self, directive: &'m tree::Directive) {
        let Some(loc) = Loc::read(directive) else { return };
        if loc.line == 0 {
            // Code without a line of its own belongs to the surrounding position.
            return;
        }
        // The position of the call comes before it, and may have been inlined itself (ISA 11.5.4).
        let call = loc.inlined_at.map(|(file, line, column)| match self.last_at.get(&(file, line, column)) {
            Some(call) => *call,
            None => self.location_of(&Loc { file, line, column, inlined_at: None }, None),
        });
        let id = self.location_of(&loc, call);
        self.last_at.insert((loc.file, loc.line, loc.column), id);
        self.location = Some(id);
    }

    fn location_of(&mut self, loc: &Loc, inlined_at: Option<u32>) -> u32 {
        let Loc { file, line, column, .. } = *loc;
        // There are at most two for each statement, and the number of statements is limited.
        let next = self.locations.len() as u32;
        let id = *self.location_ids.entry((*loc, inlined_at)).or_insert(next);
        if id == next {
            let file = self.files.get(&file).map_or_else(String::new, |path| (*path).to_owned());
            self.locations.push(Location { file, line, column, inlined_at });
        }
        id
    }

    fn local_variable(&mut self, variable: &'m tree::VariableDeclaration) -> Result<(), LowerError> {
        let space = match variable.space {
            tree::StateSpace::Local => Space::Local,
            tree::StateSpace::Param => Space::Param,
            tree::StateSpace::Reg
            | tree::StateSpace::Shared
            | tree::StateSpace::Global
            | tree::StateSpace::Const
            | tree::StateSpace::Texture => {
                return self.names.declare(&variable.name, Binding::Static(variable));
            }
        };
        let layout = layout::layout(variable)?;
        if variable.initializer.is_some() {
            let problem = super::error::DeclarationProblem::Initialized;
            let name = variable.name.text.clone();
            return Err(LowerError::Declaration { name, problem, span: variable.span });
        }
        let id = self.activation_variable(variable, space, layout);
        self.names.declare(&variable.name, Binding::Variable(id))
    }

    fn activation_variable(
        &mut self,
        variable: &tree::VariableDeclaration,
        space: Space,
        layout: Layout,
    ) -> VariableId {
        let (name, element) = (&variable.name.text, variable.element.text.clone());
        let name = match self.activations.last() {
            Some(activation) if activation.number > 0 => format!("{name}#{}", activation.number),
            _ => name.clone(),
        };
        let Layout { size, align } = layout;
        let declared_at = variable.span.start;
        self.add_variable(Variable {
            name,
            space,
            size,
            align,
            init: None,
            element,
            parameter: None,
            declared_at,
        })
    }

    fn add_variable(&mut self, variable: Variable) -> VariableId {
        let id = VariableId::from_index(self.variables.len());
        self.variables.push(variable);
        id
    }

    /// The variable to which a name is bound.
    pub(super) fn variable(&mut self, binding: Binding<'m>) -> Lowered<Option<VariableId>> {
        match binding {
            Binding::Variable(id) => Ok(Some(id)),
            Binding::Static(variable) => self.static_variable(variable).map(Some),
            Binding::Register(..) | Binding::Predicate(_) | Binding::Register128 | Binding::Vector { .. } => {
                Ok(None)
            }
        }
    }

    /// The state space of a variable.
    pub(super) fn space_of(&self, variable: VariableId) -> Space {
        self.variables.get(variable.index()).map_or(Space::Generic, |variable| variable.space)
    }

    fn static_variable(&mut self, variable: &'m tree::VariableDeclaration) -> Lowered<VariableId> {
        if let Some(known) = self.statics.get(&std::ptr::from_ref(variable)) {
            return known.clone().map_err(Fail::Unsupported);
        }
        // Includes all variables that are reachable through addresses in its initial value.
        let mut found = Vec::new();
        let root = self.intern_static(variable, &mut found)?;
        let mut at = 0;
        while let Some((id, variable, layout)) = found.get(at).copied() {
            at += 1;
            if let Err(reason) = self.initialize(id, variable, layout, &mut found)? {
                let name = &variable.name.text;
                let reason = format!("`{name}` cannot be used: {reason}");
                for (_, variable, _) in &found {
                    self.statics.insert(std::ptr::from_ref(*variable), Err(reason.clone()));
                }
                return Err(Fail::Unsupported(reason));
            }
        }
        Ok(root)
    }

    fn intern_static(
        &mut self,
        variable: &'m tree::VariableDeclaration,
        found: &mut Vec<(VariableId, &'m tree::VariableDeclaration, Layout)>,
    ) -> Lowered<VariableId> {
        let key = std::ptr::from_ref(variable);
        if let Some(known) = self.statics.get(&key) {
            return known.clone().map_err(Fail::Unsupported);
        }
        let name = &variable.name.text;
        let space = match variable.space {
            tree::StateSpace::Shared => Space::Shared,
            tree::StateSpace::Global => Space::Global,
            tree::StateSpace::Const => Space::Const,
            tree::StateSpace::Local => Space::Local,
            tree::StateSpace::Param => Space::Param,
            tree::StateSpace::Texture => {
                return Err(Fail::Unsupported(format!("`{name}` is a texture, sampler or surface")));
            }
            tree::StateSpace::Reg => {
                return Err(Fail::Unsupported(format!("`{name}` is a register of the module")));
            }
        };
        let external = variable.linking.contains(&tree::Linking::Extern);
        if external && space == Space::Shared && variable.dimensions.first() != Some(&None) {
            return Err(Fail::Unsupported(format!(
                "`{name}` is declared `.extern`: its definition is not in this PTX"
            )));
        }
        let layout = layout::layout(variable)?;
        let id = self.add_variable(Variable {
            name: name.clone(),
            space,
            size: layout.size,
            align: layout.align,
            init: None,
            element: variable.element.text.clone(),
            parameter: None,
            declared_at: variable.span.start,
        });
        self.statics.insert(key, Ok(id));
        found.push((id, variable, layout));
        Ok(id)
    }

    /// Sets the initial bytes of a variable. The inner error is the reason why this is not supported.
    fn initialize(
        &mut self,
        id: VariableId,
        variable: &'m tree::VariableDeclaration,
        layout: Layout,
        found: &mut Vec<(VariableId, &'m tree::VariableDeclaration, Layout)>,
    ) -> Result<Result<(), String>, LowerError> {
        let takes_values = matches!(variable.space, tree::StateSpace::Global | tree::StateSpace::Const);
        if variable.initializer.is_none() {
            return Ok(Ok(()));
        }
        if !takes_values {
            let problem = super::error::DeclarationProblem::Initialized;
            let name = variable.name.text.clone();
            return Err(LowerError::Declaration { name, problem, span: variable.span });
        }
        let (mut init, addresses) = match layout::initial(variable, layout)? {
            Ok(parts) => parts,
            Err(unsupported) => return Ok(Err(unsupported.0.to_owned())),
        };
        for address in addresses {
            let Some(target) = self.names.module_variable_named(&address.symbol.text) else {
                if self.names.function(&address.symbol.text).is_some() {
                    return Ok(Err("its initial value holds the address of a function".to_owned()));
                }
                return Err(self.names.undeclared("variable", address.symbol));
            };
            match self.intern_static(target, found) {
                Ok(target) => init.addresses.push((address.offset, target, address.addend, address.generic)),
                Err(Fail::Unsupported(reason)) => return Ok(Err(reason)),
                Err(Fail::Wrong(error)) => return Err(error),
            }
        }
        self.set_init(id, init);
        Ok(Ok(()))
    }

    fn set_init(&mut self, id: VariableId, init: Init) {
        if let Some(variable) = self.variables.get_mut(id.index()) {
            variable.init = Some(init);
        }
    }

    /// The carry flag of `add.cc`.
    pub(super) fn carry(&mut self) -> PredId {
        match self.carry {
            Some(carry) => carry,
            None => {
                let carry = self.names.fresh_predicate();
                self.carry = Some(carry);
                carry
            }
        }
    }

    /// Temporary register number `at` of an instruction. Temporaries are not live between instructions.
    pub(super) fn temporary(&mut self, at: usize) -> RegId {
        while self.temporaries.len() <= at {
            let register = self.names.fresh_register();
            self.temporaries.push(register);
        }
        self.temporaries.get(at).copied().unwrap_or(RegId(0))
    }

    /// Temporary predicate number `at` of an instruction.
    pub(super) fn temporary_predicate(&mut self, at: usize) -> PredId {
        while self.temporary_predicates.len() <= at {
            let predicate = self.names.fresh_predicate();
            self.temporary_predicates.push(predicate);
        }
        self.temporary_predicates.get(at).copied().unwrap_or(PredId(0))
    }

    /// A label as the target of a branch; it is replaced by a position at the end.
    pub(super) fn target(label: LabelId) -> InstId {
        InstId(label.0)
    }

    /// The target of `ret`; `None` if it ends the thread.
    pub(super) fn return_target(&self) -> Option<InstId> {
        self.activations.last().and_then(|activation| activation.end).map(Self::target)
    }

    fn place(&mut self, label: LabelId) {
        self.labels.insert(label.0, InstId::from_index(self.insts.len()));
    }

    fn push(&mut self, guard: Option<PredSrc>, op: Op, span: Span) -> Result<(), LowerError> {
        let used = self.insts.len() as u64 + 1;
        let checked = self.budgets.check(Limit::ProgramSize, used);
        checked.map_err(|exhausted| LowerError::Exhausted { exhausted, span })?;
        self.insts.push(Inst { guard, divides: op.divides(), op, span, location: self.location });
        Ok(())
    }

    /// Appends the operations of one instruction.
    ///
    /// If the instruction uses temporaries, or writes its own guard before its last operation, a branch skips it as a
    /// whole: with a guard on each operation, later ones would see effects of earlier ones.
    fn emit(
        &mut self,
        guard: Option<PredSrc>,
        ops: Vec<Op>,
        temporaries: bool,
        span: Span,
    ) -> Result<(), LowerError> {
        let rewritten = |guard: PredSrc| ops.iter().rev().skip(1).any(|op| op.writes_predicate(guard.pred));
        match guard {
            Some(guard) if ops.len() > 1 && (temporaries || rewritten(guard)) => {
                let end = self.names.fresh_label();
                let skip = PredSrc { negated: !guard.negated, ..guard };
                self.push(Some(skip), Op::Branch { target: Self::target(end) }, span)?;
                for op in ops {
                    self.push(None, op, span)?;
                }
                self.place(end);
            }
            _ => {
                for op in ops {
                    self.push(guard, op, span)?;
                }
            }
        }
        Ok(())
    }

    fn instruction(&mut self, instruction: &'m tree::Instruction) -> Result<(), LowerError> {
        let span = instruction.span;
        let guard = match &instruction.guard {
            Some(guard) => Some(self.guard(instruction, guard)?),
            None => None,
        };
        let row = isa::find(instruction);
        let handler = row.map(|row| row.handler);
        match handler {
            Some(Handler::Lower(lower)) => {
                let mut operation = Operation::new(self, instruction);
                match lower(&mut operation) {
                    Ok(()) => {
                        let (ops, temporaries) = operation.finish();
                        self.emit(guard, ops, temporaries, span)
                    }
                    Err(Fail::Unsupported(reason)) => self.not_supported(instruction, guard, row, reason),
                    Err(Fail::Wrong(error)) => Err(error),
                }
            }
            Some(Handler::Call) => self.call(instruction, guard),
            Some(Handler::Unsupported(why)) => {
                let name = super::operand::full_name(instruction);
                self.not_supported(instruction, guard, row, format!("`{name}` is not supported: {why}"))
            }
            None => {
                let reason = isa::unknown(instruction);
                self.not_supported(instruction, guard, row, reason)
            }
        }
    }

    /// Lowers an unsupported instruction: its results are unknown if it only computes, otherwise it is a fault.
    fn not_supported(
        &mut self,
        instruction: &'m tree::Instruction,
        guard: Option<PredSrc>,
        row: Option<&isa::Row>,
        reason: String,
    ) -> Result<(), LowerError> {
        let mut computing = Operation::new(self, instruction);
        let op = match row.and_then(|row| row.computes) {
            Some(computes) => match isa::unevaluated(&mut computing, computes, &reason) {
                Ok(op) => op,
                Err(Fail::Unsupported(_)) => None,
                Err(Fail::Wrong(error)) => return Err(error),
            },
            None => None,
        };
        self.emit(guard, vec![op.unwrap_or(Op::Unsupported { reason })], false, instruction.span)
    }

    fn guard(
        &mut self,
        instruction: &'m tree::Instruction,
        guard: &'m tree::Guard,
    ) -> Result<PredSrc, LowerError> {
        match self.names.resolve(&guard.register)? {
            Some(Binding::Predicate(pred)) => Ok(PredSrc { pred, negated: guard.negated }),
            Some(_) => Err(LowerError::Operand {
                instruction: super::operand::full_name(instruction),
                expected: "a predicate register",
                found: "another name",
                span: guard.register.span,
            }),
            None => Err(self.names.undeclared("predicate register", &guard.register)),
        }
    }
}
