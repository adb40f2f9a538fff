//! The syntax tree: uniform, with a span on everything, independent of the meaning of opcodes.
//!
//! Invariant: whatever `ptxas` accepts has a tree; unknown syntax is an error, never dropped.

use crate::base::span::Span;

/// A word of the source: an identifier, opcode or modifier, as written.
#[derive(Clone, Debug)]
pub struct Name {
    /// The text, e.g. `%r12`, `$L__BB0_2`, `%tid.x`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// One PTX text.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Everything at module level, in order, `.version` and `.target` included.
    pub items: Vec<Item>,
}

/// An item at module level.
#[derive(Clone, Debug)]
pub enum Item {
    /// `.version`, `.target`, `.address_size`, `.file`, `.section`, `.pragma`, `.alias`, …
    Directive(Directive),
    /// A variable, or a declaration of one.
    Variable(VariableDeclaration),
    /// An entry or a device function.
    Function(FunctionDefinition),
}

/// A directive that declares no name for instructions to use.
#[derive(Clone, Debug)]
pub struct Directive {
    /// Its name without the dot: `version`, `loc`, `maxntid`, ….
    pub name: Name,
    /// Its arguments, whose meaning depends on the name.
    pub arguments: Vec<Operand>,
    /// The raw text between the braces of `.section`, which is data for debuggers.
    pub raw: Option<String>,
    /// The whole directive.
    pub span: Span,
}

/// `.visible`, `.extern`, `.weak`, `.common`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    /// `.visible`
    Visible,
    /// `.extern`
    Extern,
    /// `.weak`
    Weak,
    /// `.common`
    Common,
}

/// The state space of a declared variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateSpace {
    /// `.reg`; only for parameters of device functions.
    Reg,
    /// `.shared`
    Shared,
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.local`
    Local,
    /// `.param`
    Param,
    /// `.tex`, `.surf` and similar: can be declared, but not used.
    Texture,
}

/// A variable in memory, or a parameter.
#[derive(Clone, Debug)]
pub struct VariableDeclaration {
    /// Linking directives, in order.
    pub linking: Vec<Linking>,
    /// State space.
    pub space: StateSpace,
    /// Alignment in bytes from `.align`.
    pub align: Option<u64>,
    /// Vector prefix: 2 or 4 of `.v2`, `.v4`, (8 of `.v8`).
    pub vector: Option<u32>,
    /// Element type without the dot: `b8`, `f32`, `u64`, `pred`, `texref`, ….
    pub element: Name,
    /// `.ptr` attributes of a parameter.
    pub pointer: Option<Pointer>,
    /// Other attributes, e.g. `.attribute(.managed)`.
    pub attributes: Vec<Directive>,
    /// Its name; `_` in prototypes.
    pub name: Name,
    /// Array dimensions; `None` is `[]`.
    pub dimensions: Vec<Option<u64>>,
    /// The initialiser, braces nested as written.
    pub initializer: Option<Initializer>,
    /// The whole declaration.
    pub span: Span,
}

/// `.ptr{.space}{.align N}` of a kernel parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// The space that the pointer points to, if given.
    pub space: Option<StateSpace>,
    /// The alignment of what it points to, in bytes.
    pub align: Option<u64>,
}

/// An initial value.
#[derive(Clone, Debug)]
pub enum Initializer {
    /// A single value: a literal, a symbol's address, a symbol plus an offset, `mask(sym)`, `generic(sym)`.
    Value(Operand),
    /// `{ … }`
    List(Vec<Initializer>),
}

/// An entry or device function.
#[derive(Clone, Debug)]
pub struct FunctionDefinition {
    /// Linking directives.
    pub linking: Vec<Linking>,
    /// `.entry` rather than `.func`.
    pub entry: bool,
    /// Its name.
    pub name: Name,
    /// Return parameters of a `.func`.
    pub returns: Vec<VariableDeclaration>,
    /// Parameters.
    pub parameters: Vec<VariableDeclaration>,
    /// Directives between the parameters and the body: `.maxntid`, `.noreturn`, ….
    pub attributes: Vec<Directive>,
    /// `None` for a declaration.
    pub body: Option<Vec<Statement>>,
    /// The whole function.
    pub span: Span,
}

/// A statement of a body.
#[derive(Clone, Debug)]
pub enum Statement {
    /// `name:`
    Label(Name),
    /// `{ … }`: a scope for registers, variables and labels.
    Block(Vec<Statement>, Span),
    /// `.reg …`
    Registers(Registers),
    /// A variable in `.shared`, `.local`, `.param`, `.const`, `.global`.
    Variable(VariableDeclaration),
    /// An instruction.
    Instruction(Instruction),
    /// `.loc`, `.pragma`, `.section`, ….
    Directive(Directive),
    /// `name: .branchtargets …;`, `.calltargets`, `.callprototype`.
    Table(TargetTable),
}

/// `.reg .type a, b<4>, c;`
#[derive(Clone, Debug)]
pub struct Registers {
    /// Vector prefix.
    pub vector: Option<u32>,
    /// Register type without the dot: `pred`, `b32`, `f32`, ….
    pub element: Name,
    /// Names; with a count `n`, the name is a prefix for `name0 … name(n-1)`.
    pub names: Vec<(Name, Option<u64>)>,
    /// The whole declaration.
    pub span: Span,
}

/// A labelled table for indirect branches and calls.
#[derive(Clone, Debug)]
pub struct TargetTable {
    /// Its label.
    pub label: Name,
    /// What it holds.
    pub kind: TableKind,
    /// The whole statement.
    pub span: Span,
}

/// The kinds of [`TargetTable`].
#[derive(Clone, Debug)]
pub enum TableKind {
    /// `.branchtargets`
    BranchTargets(Vec<Name>),
    /// `.calltargets`
    CallTargets(Vec<Name>),
    /// `.callprototype`
    CallPrototype {
        /// Return parameters.
        returns: Vec<VariableDeclaration>,
        /// Parameters.
        parameters: Vec<VariableDeclaration>,
        /// Directives such as `.noreturn`, `.abi_preserve`.
        attributes: Vec<Directive>,
    },
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// `@p` or `@!p`.
    pub guard: Option<Guard>,
    /// The word before the first dot: `mov`, `ld`, `mma`, ….
    pub opcode: Name,
    /// Its modifiers, separated by dots, in order, as written: `global`, `v4`, `shared::cta`, `m16n8k16`, ….
    pub modifiers: Vec<Name>,
    /// Operands in order.
    pub operands: Vec<Operand>,
    /// The whole instruction, guard to semicolon.
    pub span: Span,
}

/// A guard predicate.
#[derive(Clone, Debug)]
pub struct Guard {
    /// `@!p`.
    pub negated: bool,
    /// The predicate register.
    pub register: Name,
}

/// An operand, or an argument of a directive.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A register, special register (`%tid.x`), label, variable or function.
    Name(Name),
    /// `!p`
    Not(Name),
    /// A number.
    Literal(Literal),
    /// `symbol+16`
    SymbolOffset {
        /// The symbol.
        symbol: Name,
        /// Bytes.
        offset: i64,
        /// Both.
        span: Span,
    },
    /// `{a, b, 0, _}`
    Vector(Vec<Operand>, Span),
    /// `a|b`
    Pair(Box<Operand>, Box<Operand>),
    /// `_`
    Sink(Span),
    /// `[base]`, `[base+4]`, `[64]`, `[map, {x, y}]`, `[a, b, c]`
    Address {
        /// The register or symbol; `None` for an absolute address.
        base: Option<Name>,
        /// Bytes added to it.
        offset: i64,
        /// What follows a comma inside the brackets (tensor coordinates).
        rest: Vec<Operand>,
        /// Brackets included.
        span: Span,
    },
    /// `(a, b)`: the parameter lists of a call.
    List(Vec<Operand>, Span),
    /// `"text"`, in directives.
    Text(String, Span),
    /// `generic(symbol)`, `mask(symbol)`: an operator applied to operands, in initialisers and directives.
    Apply(Name, Vec<Operand>),
}

/// A literal. Integers keep 64 bits, as PTX computes them.
#[derive(Clone, Debug)]
pub struct Literal {
    /// Its value.
    pub value: LiteralValue,
    /// Where it stands.
    pub span: Span,
}

/// The value of a literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LiteralValue {
    /// Decimal, hexadecimal, octal, binary, or a constant expression; two's complement, 64 bits.
    Integer(u64),
    /// `0f3F800000`: the bits of an f32.
    Float32(u32),
    /// `0d3FF0000000000000`: the bits of an f64, and the value of a decimal literal such as `1.5`.
    Float64(u64),
}
