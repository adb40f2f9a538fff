//! Errors of lowering a module.

use thiserror::Error;

use crate::base::budget::Exhausted;
use crate::base::span::Span;

/// The reason why a kernel cannot be lowered: the PTX, or the choice of a kernel, is wrong.
///
/// An instruction that is not supported is no error: it lowers to [`Op::Unsupported`](super::Op::Unsupported) (rule
/// S2).
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LowerError {
    /// The module declares no entry with a body.
    #[error("this PTX has no kernel (no `.entry` with a body)")]
    NoKernel,
    /// No kernel has the name.
    #[error("no kernel is called `{name}`; there {}", listed(known))]
    UnknownKernel {
        /// The requested name.
        name: String,
        /// All kernels, in order.
        known: Vec<String>,
        /// The kernel with the most similar name.
        nearest: Option<String>,
    },
    /// Several kernels have the name.
    #[error("`{name}` names several kernels: {}", quoted_list(candidates))]
    AmbiguousKernel {
        /// The requested name.
        name: String,
        /// The kernels that have it, in order.
        candidates: Vec<String>,
    },
    /// No name was given, and there are several kernels.
    #[error("this PTX has several kernels: {}", quoted_list(candidates))]
    SeveralKernels {
        /// All kernels, in order.
        candidates: Vec<String>,
    },
    /// A name without a declaration in scope.
    #[error("{what} `{name}` is not declared here")]
    Undeclared {
        /// What the name should be: `register`, `label`, ….
        what: &'static str,
        /// The name.
        name: String,
        /// The most similar declared name.
        nearest: Option<String>,
        /// Where it is used.
        span: Span,
    },
    /// A register with a number that is not below the declared count.
    #[error("register `{name}` lies outside the declared `{prefix}<{count}>`")]
    OutOfRange {
        /// The register.
        name: String,
        /// The prefix that was declared.
        prefix: String,
        /// How many registers were declared.
        count: u64,
        /// Where it is used.
        span: Span,
    },
    /// Two declarations of one name in one scope.
    #[error("`{name}` is declared twice in one scope")]
    Duplicate {
        /// The name.
        name: String,
        /// The second declaration.
        span: Span,
        /// The first declaration.
        first: Span,
    },
    /// An operand of the wrong kind.
    #[error("`{instruction}` needs {expected} here, not {found}")]
    Operand {
        /// The instruction, opcode and modifiers.
        instruction: String,
        /// What it needs.
        expected: &'static str,
        /// What was found.
        found: &'static str,
        /// The operand.
        span: Span,
    },
    /// A register of the wrong size.
    #[error("`{instruction}` needs {needed} bits here, but `{name}` has {bits}")]
    RegisterSize {
        /// The instruction, opcode and modifiers.
        instruction: String,
        /// The register.
        name: String,
        /// Its size in bits.
        bits: u32,
        /// The size needed, in bits.
        needed: u32,
        /// The operand.
        span: Span,
    },
    /// A call that does not match the function.
    #[error("the call of `{function}` passes {passed} {what}, but it has {declared}")]
    CallShape {
        /// The function called.
        function: String,
        /// `parameters` or `return values`.
        what: &'static str,
        /// How many the call names.
        passed: usize,
        /// How many the function declares.
        declared: usize,
        /// The call.
        span: Span,
    },
    /// An argument smaller than its parameter.
    #[error("the argument for `{parameter}` of `{function}` is too small")]
    ArgumentSize {
        /// The function called.
        function: String,
        /// Its parameter.
        parameter: String,
        /// The argument.
        span: Span,
    },
    /// A declaration with an invalid size, alignment or initial value.
    #[error("the declaration of `{name}` is wrong: {problem}")]
    Declaration {
        /// The name declared.
        name: String,
        /// What is wrong with it.
        problem: DeclarationProblem,
        /// The declaration or the part that is wrong.
        span: Span,
    },
    /// Blocks nested too deeply.
    #[error("blocks and calls are nested more than {allowed} deep")]
    Depth {
        /// The allowed depth.
        allowed: usize,
        /// The innermost block.
        span: Span,
    },
    /// A limit of size was reached.
    #[error("{exhausted}")]
    Exhausted {
        /// The limit.
        exhausted: Exhausted,
        /// Where it was reached.
        span: Span,
    },
}

/// What can be wrong with a declaration.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DeclarationProblem {
    /// The type is not one of a register or variable.
    #[error("its type is not known")]
    Type,
    /// The size in bytes does not fit 48 bits.
    #[error("it is too large")]
    Size,
    /// The alignment is no power of two.
    #[error("its alignment is not a power of two")]
    Alignment,
    /// A dimension without a number where a number is needed.
    #[error("it has an array dimension without a number")]
    Unsized,
    /// More initial values than elements.
    #[error("it has more initial values than elements")]
    TooManyValues,
    /// A value that does not fit the type.
    #[error("this initial value does not fit its type")]
    Value,
    /// An initial value where the state space takes none.
    #[error("its state space takes no initial value")]
    Initialized,
    /// A launch directive with bad numbers.
    #[error("a launch directive needs one to three positive numbers")]
    Launch,
}

impl LowerError {
    /// The position in the PTX text that the error is about; `None` when it is about the choice of a kernel.
    pub fn span(&self) -> Option<Span> {
        match self {
            LowerError::NoKernel
            | LowerError::UnknownKernel { .. }
            | LowerError::AmbiguousKernel { .. }
            | LowerError::SeveralKernels { .. } => None,
            LowerError::Undeclared { span, .. }
            | LowerError::OutOfRange { span, .. }
            | LowerError::Duplicate { span, .. }
            | LowerError::Operand { span, .. }
            | LowerError::RegisterSize { span, .. }
            | LowerError::CallShape { span, .. }
            | LowerError::ArgumentSize { span, .. }
            | LowerError::Declaration { span, .. }
            | LowerError::Depth { span, .. }
            | LowerError::Exhausted { span, .. } => Some(*span),
        }
    }

    /// A second position that belongs to the error, with a label.
    pub fn related(&self) -> Option<(Span, &'static str)> {
        if let LowerError::Duplicate { first, .. } = self {
            Some((*first, "first declared here"))
        } else {
            None
        }
    }

    /// A suggestion, where one is known.
    pub fn help(&self) -> Option<String> {
        match self {
            LowerError::UnknownKernel { nearest: Some(name), .. }
            | LowerError::Undeclared { nearest: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            LowerError::AmbiguousKernel { .. } => {
                Some("give the full name, template arguments included, or the mangled one".into())
            }
            LowerError::SeveralKernels { .. } => Some("name the kernel to verify".into()),
            LowerError::NoKernel
            | LowerError::UnknownKernel { .. }
            | LowerError::Undeclared { .. }
            | LowerError::OutOfRange { .. }
            | LowerError::Duplicate { .. }
            | LowerError::Operand { .. }
            | LowerError::RegisterSize { .. }
            | LowerError::CallShape { .. }
            | LowerError::ArgumentSize { .. }
            | LowerError::Declaration { .. }
            | LowerError::Depth { .. }
            | LowerError::Exhausted { .. } => None,
        }
    }
}

fn quoted_list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    text
}

fn listed(names: &[String]) -> String {
    match names.len() {
        1 => format!("is only {}", quoted_list(names)),
        _ => format!("are {}", quoted_list(names)),
    }
}
