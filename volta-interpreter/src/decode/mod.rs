//! From the syntax tree to a [`Program`]: resolves names, places variables, numbers labels.
//!
//! An unknown instruction, modifier or operand becomes [`Op::Unknown`] with its text, and never anything else.

mod arithmetic;
mod control;
mod convert;
mod matrix;
mod memory;
mod operand;
mod phase;
mod scope;
mod tensor_memory;
mod warp;
mod warpgroup;

use std::collections::HashMap;

use volta_core::ptx::SourceName;
use volta_core::ptx::tree::{Item, Linking, Module, Statement, TableKind, VariableDeclaration};
use volta_core::ptx::{self, tree};

pub(super) use self::memory::atomic_op;
use self::operand::Modifiers;
use self::scope::{Entity, Scopes};
use super::memory::{CONSTANTS, DYNAMIC, GLOBALS, Object, STATIC_END};
use super::op::{AtomicOp, BulkEffect, FloatOp, Instruction, Op, Space, Type};

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its offset in parameter memory.
    pub offset: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its element type, for example `u64`.
    pub element: String,
}

/// A parameter or a result of a function.
#[derive(Clone, Copy, Debug)]
pub enum Formal {
    /// In parameter memory: offset and size in bytes.
    Memory(u64, u64),
    /// In a register.
    Register(u32),
}

/// A function.
#[derive(Clone, Debug, Default)]
pub struct DecodedFunction {
    /// Its name.
    pub name: String,
    /// Its instructions; running past the last one returns.
    pub code: Vec<Instruction>,
    /// The number of its registers.
    pub registers: u32,
    /// The size of its local memory in bytes.
    pub local_bytes: u64,
    /// The size of its parameter memory in bytes.
    pub param_bytes: u64,
    /// Its parameters.
    pub parameters: Vec<Formal>,
    /// Its results.
    pub returns: Vec<Formal>,
}

/// A kernel with all functions that it calls.
#[derive(Debug, Default)]
pub struct Program {
    /// Functions, by number.
    pub functions: Vec<DecodedFunction>,
    /// The number of the kernel.
    pub entry: usize,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// The CTAs of a cluster in x, y and z, if the kernel gives them (`.reqnctapercluster`).
    pub cluster: Option<[u32; 3]>,
    /// The size of static shared memory in bytes; it lies at the end.
    pub shared_bytes: u64,
    /// Variables in global and constant memory, with their initial contents.
    pub objects: Vec<Object>,
    /// The names of these variables.
    pub names: Vec<String>,
}

impl Program {
    /// Makes its approximations err as far as is documented, up or down.
    pub fn err(&mut self, up: bool) {
        for instruction in self.functions.iter_mut().flat_map(|function| &mut function.code) {
            if let Op::Float { op, .. } = &mut instruction.op
                && let FloatOp::Function(function) = *op
            {
                *op = FloatOp::Erring(function, up);
            }
        }
    }

    /// Whether some atomic operation adds floats, or may belong to a loop that does. The schedule then determines the
    /// order of rounding.
    pub fn adds_floats_atomically(&self) -> bool {
        // The element type of a tensor map is not known yet.
        let adds = |effect: &BulkEffect| {
            matches!(effect, BulkEffect::Update(AtomicOp::Add(_), _) | BulkEffect::UpdateElements("add"))
        };
        let mut instructions = self.functions.iter().flat_map(|function| &function.code);
        instructions.any(|instruction| {
            matches!(&instruction.op, Op::Atomic { op: AtomicOp::Add(_) | AtomicOp::Cas, .. })
                || matches!(&instruction.op, Op::Bulk(copy) if adds(&copy.effect))
        })
    }
}

impl Program {
    /// The reasons why instructions are unknown, without duplicates.
    pub fn unknown(&self) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for instruction in self.functions.iter().flat_map(|function| &function.code) {
            if let Op::Unknown(why) = &instruction.op
                && !found.contains(why)
            {
                found.push(why.clone());
            }
        }
        found
    }
}

/// The names of a module's kernels.
pub fn entries(module: &Module) -> Vec<&str> {
    let entries = module.items.iter().filter_map(|item| {
        if let Item::Function(function) = item
            && function.entry
        {
            Some(function.name.text.as_str())
        } else {
            None
        }
    });
    entries.collect()
}

/// Decodes kernel `entry` of a PTX text; with `None`, its only kernel.
///
/// # Errors
/// If the text is not PTX, there is no such kernel, or a declaration is not understood.
pub fn decode(text: &str, entry: Option<&str>) -> Result<Program, String> {
    let module = &ptx::parse(text).map_err(|error| error.to_string())?;
    let entry = match (entry, entries(module).as_slice()) {
        (Some(name), _) => name.to_string(),
        (None, [only]) => (*only).to_string(),
        (None, all) => return Err(format!("there are {} kernels to choose from", all.len())),
    };
    let ends = text.bytes().zip(0..).filter(|(byte, _)| *byte == b'\n').map(|(_, at)| at);
    let mut decoder = Decoder { line_ends: ends.collect(), ..Decoder::default() };
    let functions = decoder.declare(module)?;
    let entry =
        functions.iter().position(|function| function.entry && answers_to(&function.name.text, &entry));
    decoder.program.entry = entry.ok_or("there is no such kernel")?;
    for (at, function) in functions.iter().enumerate() {
        let decoded = decoder.function(function)?;
        if at == decoder.program.entry {
            decoder.program.parameters = decoder.parameters.clone();
            decoder.program.cluster = cluster_of(function);
        }
        decoder.program.functions.push(decoded);
    }
    Ok(decoder.program)
}

/// The CTAs of a cluster in x, y and z; later dimensions may be omitted.
fn cluster_of(function: &tree::FunctionDefinition) -> Option<[u32; 3]> {
    let mut named = function.attributes.iter();
    let required = named.find(|attribute| attribute.name.text == "reqnctapercluster")?;
    let mut extent = [1; 3];
    for (to, operand) in extent.iter_mut().zip(&required.arguments) {
        if let tree::Operand::Literal(tree::Literal { value: tree::LiteralValue::Integer(value), .. }) =
            operand
        {
            *to = u32::try_from(*value).ok()?;
        }
    }
    Some(extent)
}

/// Whether a kernel has a name: in PTX, or as C++ writes it.
fn answers_to(name: &str, wanted: &str) -> bool {
    name == wanted || SourceName::of(name).is_some_and(|source| source.answers_to(wanted))
}

/// The state of decoding.
#[derive(Default)]
struct Decoder {
    program: Program,
    scopes: Scopes,
    /// Functions with bodies, by name.
    functions: HashMap<String, usize>,
    /// The addresses of the next global and constant variables.
    globals: u64,
    constants: u64,
    /// The function that is being decoded.
    current: DecodedFunction,
    parameters: Vec<Parameter>,
    /// The position of each label, set when it is met.
    labels: Vec<Option<usize>>,
    /// The positions of line ends in the text.
    line_ends: Vec<u32>,
}

impl Decoder {
    /// Declares variables and functions of the module; returns the functions with bodies.
    fn declare<'m>(&mut self, module: &'m Module) -> Result<Vec<&'m tree::FunctionDefinition>, String> {
        self.scopes.enter();
        self.globals = GLOBALS;
        self.constants = CONSTANTS;
        let mut functions = Vec::new();
        for item in &module.items {
            match item {
                Item::Variable(variable) => self.variable(variable)?,
                Item::Function(function) if function.body.is_some() => {
                    self.functions.insert(function.name.text.clone(), functions.len());
                    functions.push(function);
                }
                Item::Function(_) | Item::Directive(_) => {}
            }
        }
        Ok(functions)
    }

    fn function(&mut self, function: &tree::FunctionDefinition) -> Result<DecodedFunction, String> {
        self.current = DecodedFunction { name: function.name.text.clone(), ..DecodedFunction::default() };
        self.parameters.clear();
        self.labels.clear();
        self.scopes.enter();
        for (list, returns) in [(&function.parameters, false), (&function.returns, true)] {
            for variable in list {
                let formal = self.formal(variable)?;
                if returns { &mut self.current.returns } else { &mut self.current.parameters }.push(formal);
            }
        }
        self.block(function.body.as_deref().unwrap_or_default())?;
        self.scopes.leave();
        self.patch()?;
        Ok(std::mem::take(&mut self.current))
    }

    fn formal(&mut self, variable: &VariableDeclaration) -> Result<Formal, String> {
        if variable.space == tree::StateSpace::Reg {
            return Ok(Formal::Register(self.register(&variable.name.text)));
        }
        let (element, bytes) = size(variable)?;
        let offset = self.place(variable, tree::StateSpace::Param, element, bytes)?;
        let element = variable.element.text.clone();
        self.parameters.push(Parameter { offset, bytes, element });
        Ok(Formal::Memory(offset, bytes))
    }

    fn register(&mut self, name: &str) -> u32 {
        let register = self.current.registers;
        self.current.registers += 1;
        self.scopes.declare(name, Entity::Register(register));
        register
    }

    /// Allocates memory for a variable, and declares it.
    fn place(
        &mut self,
        variable: &VariableDeclaration,
        space: tree::StateSpace,
        element: u64,
        bytes: u64,
    ) -> Result<u64, String> {
        let declared = variable.align.unwrap_or(element).max(1);
        // Objects in shared memory are aligned to 16 bytes at least (rule M1).
        let align = if space == tree::StateSpace::Shared { declared.max(16) } else { declared };
        let (next, space) = match space {
            tree::StateSpace::Shared => (&mut self.program.shared_bytes, Space::Shared),
            tree::StateSpace::Local => (&mut self.current.local_bytes, Space::Local),
            tree::StateSpace::Param => (&mut self.current.param_bytes, Space::Param),
            tree::StateSpace::Global => (&mut self.globals, Space::Global),
            tree::StateSpace::Const => (&mut self.constants, Space::Const),
            tree::StateSpace::Reg | tree::StateSpace::Texture => {
                return Err(format!("`{}` lies in no memory", variable.name.text));
            }
        };
        let at = if space == Space::Shared {
            *next = (*next + bytes).next_multiple_of(align);
            STATIC_END.checked_sub(*next).ok_or("there is too much static shared memory")?
        } else {
            let at = next.next_multiple_of(align);
            *next = at + bytes;
            at
        };
        self.scopes.declare(&variable.name.text, Entity::Variable { space, at, bytes });
        Ok(at)
    }

    fn variable(&mut self, variable: &VariableDeclaration) -> Result<(), String> {
        if variable.space == tree::StateSpace::Texture {
            return Ok(());
        }
        let (element, bytes) = size(variable)?;
        if variable.space == tree::StateSpace::Shared && variable.linking.contains(&Linking::Extern) {
            let entity = Entity::Variable { space: Space::Shared, at: DYNAMIC, bytes: 0 };
            self.scopes.declare(&variable.name.text, entity);
            return Ok(());
        }
        let at = self.place(variable, variable.space, element, bytes)?;
        if matches!(variable.space, tree::StateSpace::Global | tree::StateSpace::Const) {
            let mut data = vec![0; bytes as usize];
            if let Some(initializer) = &variable.initializer {
                let ty = Type::parse(&variable.element.text).ok_or("a variable's type is not known")?;
                operand::initialize(initializer, ty, &mut data)?;
            }
            self.program.objects.push(Object::new(at, data));
            self.program.names.push(variable.name.text.clone());
        }
        Ok(())
    }

    fn block(&mut self, statements: &[Statement]) -> Result<(), String> {
        self.scopes.enter();
        for statement in statements {
            match statement {
                Statement::Label(name) => {
                    self.scopes.declare(&name.text, Entity::Label(self.labels.len()));
                    self.labels.push(None);
                }
                Statement::Table(table) => {
                    if let TableKind::BranchTargets(names) = &table.kind {
                        let names = names.iter().map(|name| name.text.clone()).collect();
                        self.scopes.declare(&table.label.text, Entity::Targets(names));
                    }
                }
                Statement::Block(..)
                | Statement::Registers(_)
                | Statement::Variable(_)
                | Statement::Instruction(_)
                | Statement::Directive(_) => {}
            }
        }
        for statement in statements {
            match statement {
                Statement::Label(name) => {
                    if let Some(Entity::Label(label)) = self.scopes.find(&name.text) {
                        self.labels[*label] = Some(self.current.code.len());
                    }
                }
                Statement::Block(inner, _) => self.block(inner)?,
                Statement::Registers(registers) => {
                    for (name, count) in &registers.names {
                        match count {
                            None => _ = self.register(&name.text),
                            Some(count) => {
                                (0..*count).for_each(|at| _ = self.register(&format!("{}{at}", name.text)))
                            }
                        }
                    }
                }
                Statement::Variable(variable) => self.variable(variable)?,
                Statement::Instruction(instruction) => {
                    let decoded = self.instruction(instruction);
                    self.current.code.push(decoded);
                }
                Statement::Directive(_) | Statement::Table(_) => {}
            }
        }
        self.scopes.leave();
        Ok(())
    }

    fn instruction(&mut self, instruction: &tree::Instruction) -> Instruction {
        let line = self.line_ends.partition_point(|end| *end < instruction.span.start) as u32 + 1;
        let unknown = |why: String| {
            let modifiers: String =
                instruction.modifiers.iter().map(|name| format!(".{}", name.text)).collect();
            Op::Unknown(format!("{}{modifiers}: {why}", instruction.opcode.text))
        };
        let guard = match &instruction.guard {
            None => None,
            Some(guard) => match self.scopes.find(&guard.register.text) {
                Some(Entity::Register(register)) => Some((*register, guard.negated)),
                _ => {
                    return Instruction {
                        guard: None,
                        op: unknown("its guard is not declared".into()),
                        line,
                    };
                }
            },
        };
        let mut modifiers = Modifiers::new(&instruction.modifiers);
        let op = self.op(&instruction.opcode.text, &mut modifiers, &instruction.operands);
        let op = op.and_then(|op| modifiers.finish().map(|()| op)).unwrap_or_else(unknown);
        Instruction { guard, op, line }
    }

    fn op(
        &self,
        opcode: &str,
        modifiers: &mut Modifiers<'_>,
        operands: &[tree::Operand],
    ) -> Result<Op, String> {
        let groups = [
            Self::control,
            Self::memory,
            Self::convert,
            Self::warp,
            Self::matrix,
            Self::warpgroup,
            Self::tensor_memory,
            Self::arithmetic,
        ];
        for group in groups {
            if let Some(op) = group(self, opcode, modifiers, operands)? {
                return Ok(op);
            }
        }
        Err("the instruction is not known".into())
    }

    /// Replaces labels in branches by positions.
    fn patch(&mut self) -> Result<(), String> {
        let place = |label: &mut usize| match self.labels[*label] {
            Some(at) => {
                *label = at;
                Ok(())
            }
            None => Err("a label was not met".to_string()),
        };
        for instruction in &mut self.current.code {
            if let Op::Branch(label) = &mut instruction.op {
                place(label)?;
            } else if let Op::BranchIndexed { targets, .. } = &mut instruction.op {
                targets.iter_mut().try_for_each(place)?;
            }
        }
        Ok(())
    }
}

/// The sizes in bytes of an element and of a variable; for an array without an extent, that of its initialiser.
fn size(variable: &VariableDeclaration) -> Result<(u64, u64), String> {
    let name = &variable.element.text;
    let bytes = match name.as_str() {
        "b128" => 16,
        _ => {
            let ty = Type::parse(name).ok_or_else(|| format!("the type `{name}` is not known"))?;
            u64::from(ty.bits()).div_ceil(8)
        }
    };
    let element = bytes * u64::from(variable.vector.unwrap_or(1));
    let count: u64 = variable.dimensions.iter().map(|extent| extent.unwrap_or(0)).product();
    Ok((element, element * count))
}
