//! Reasons: why a case has its verdict, or none, and what to do about it; codes for programs, sentences for people.
//!
//! A released code keeps its meaning. `docs/reasons.md` is generated from this module.

use crate::limit::Limit;
use crate::verdict::{Claim, FaultKind, UnknownCause, VerdictName};
use crate::word::words;

words! {
    /// How two kernels differ.
    pub enum DifferenceKind {
        /// Both kernels write an element, and its values differ at the inputs of the witness.
        Values = "values-differ",
        /// One kernel writes an element that the other does not write.
        OneSided = "written-by-one",
        /// Neither kernel writes an element of an output.
        Unwritten = "written-by-none",
    }
}

words! {
    /// Why the verifier ended without an answer.
    pub enum UnknownReason {
        /// `max_instructions` was reached: warp instructions of one side.
        Instructions = "instructions-limit",
        /// `max_memory_bytes` was reached: bytes that are kept for the case.
        Memory = "memory-limit",
        /// `max_block_threads` was reached: threads of a block.
        BlockThreads = "block-threads-limit",
        /// `max_ctas` was reached: CTAs of one side.
        Ctas = "ctas-limit",
        /// `max_algebra_steps` was reached: steps of algebra.
        AlgebraSteps = "algebra-steps-limit",
        /// `max_program_size` was reached: operations of a kernel with its calls inlined.
        ProgramSize = "program-size-limit",
        /// A loop waits for a value that nothing in it changes.
        EndlessWait = "endless-wait",
        /// The case's timeout has passed.
        Timeout = "timeout",
        /// Neither a proof nor a counterexample was found.
        Undecided = "undecided",
        /// The verifier contradicts itself, or it panicked.
        Internal = "internal",
    }
}

words! {
    /// What is wrong with a case, its files or its PTX.
    pub enum InputProblem {
        /// The document of the case is not valid TOML, or not valid JSON.
        Syntax = "case-syntax",
        /// A key that cases do not have.
        UnknownKey = "unknown-key",
        /// A key or table that the case needs is missing.
        MissingKey = "missing-key",
        /// The value of a key is not allowed.
        WrongValue = "wrong-value",
        /// There is no case in the folder, or no case of that name.
        NoCase = "no-case",
        /// A source that the case names does not exist.
        FileNotFound = "file-not-found",
        /// A source is outside of the folder from which the case may read.
        FileOutside = "file-outside",
        /// A file cannot be read.
        FileUnreadable = "file-unreadable",
        /// A flag that cases may not pass to the compiler.
        RefusedFlag = "refused-flag",
        /// The source is CUDA, there is no compiler, and no PTX is checked in beside it.
        NoCompiler = "no-compiler",
        /// The compiler refused the source, or failed.
        DoesNotCompile = "does-not-compile",
        /// The checked-in PTX was made from another source, or with other flags.
        StalePtx = "stale-ptx",
        /// The text is not valid PTX.
        InvalidPtx = "invalid-ptx",
        /// The PTX has no kernel of that name, or several.
        KernelNotFound = "kernel-not-found",
        /// Arguments, sizes or blocks of the case do not fit the kernel.
        DoesNotFit = "does-not-fit",
        /// No kernel's module has the variable that the case gives, or the case does not say what a variable is.
        Variable = "module-variable",
        /// No output element is written, or there is only one kernel: nothing can be compared.
        NothingToCompare = "nothing-to-compare",
    }
}

words! {
    /// What to do.
    pub enum Hint {
        /// Read the assumptions of the verdict: they are part of the claim.
        ReadAssumptions = "read-assumptions",
        /// Make the kernel safe where the conditions do not hold, or expect `equivalent-where` if they always do.
        CheckConditions = "check-conditions",
        /// Verify the other parts too, and state the whole claim from the results of all: `cargo volta merge`.
        MergeParts = "merge-parts",
        /// Run both kernels on the inputs of the witness, as `cargo volta replay` does.
        Replay = "replay-witness",
        /// Check the guards and the grid of the kernel that does not write the element.
        CheckGuards = "check-guards",
        /// Give `partial = true` if outputs need not be written completely; if only some CTAs ran, see `ctas`.
        AllowPartial = "allow-partial",
        /// Insert the barrier that the text names at the place that it names: with it, the kernel was verified to be clean.
        TriedBarrier = "insert-tried-barrier",
        /// Insert a barrier between the two accesses that both threads execute.
        OrderAccesses = "order-accesses",
        /// Move the barrier out of the branch, or correct its thread count.
        MoveBarrier = "move-barrier",
        /// Add the fence, the `mbarrier.init` or the wait that the message names.
        CompleteAsync = "complete-async",
        /// Correct the index or its guard, or the shape and the role of the tensor in the case.
        CorrectAccess = "correct-access",
        /// Write the value before it is read; check masks, or give the tensor `contents`.
        WriteFirst = "write-first",
        /// Check the element types in the case; bit manipulation of floats is not supported in general.
        CheckTypes = "check-types",
        /// Compute the value in integers.
        UseIntegers = "use-integers",
        /// Use a select (`c ? a : b`), or give the scalar or tensor its value.
        UseSelect = "use-select",
        /// Make the result the same in every order of the threads.
        FixOrder = "fix-order",
        /// Find out why a thread reaches the trap or the assertion.
        CheckAssertion = "check-assertion",
        /// Use other instructions; docs/instructions.md lists those that are supported.
        AvoidInstruction = "avoid-instruction",
        /// Raise the limit that the message names, or use a smaller size.
        RaiseLimit = "raise-limit",
        /// Let something in the loop change what it waits for.
        EndWait = "end-wait",
        /// Allow more time, or use a smaller size.
        AllowTime = "allow-time",
        /// Verify a third kernel between the two, with one case for each half; or change one kernel step by step.
        AddMiddle = "add-kernel-between",
        /// Report it: this is an error in Volta, and nothing is claimed about the kernels.
        Report = "report-defect",
        /// Correct the case at the named place.
        CorrectCase = "correct-case",
        /// Correct the source, CUDA or PTX, at the named place.
        CorrectSource = "correct-source",
        /// Name a file or folder that exists, below the folder from which the case may read.
        CorrectPath = "correct-path",
        /// Compile the PTX again on a machine with an `nvcc`: `cargo volta refresh`; or name a compiler with `VOLTA_NVCC`.
        Recompile = "recompile",
        /// Limit the inputs by `range`, subtract a maximum, add an epsilon, or compute in a wider format.
        LimitRange = "limit-range",
    }
}

/// Why a case has its verdict, or why it could not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A proof.
    Equivalent,
    /// A proof under conditions.
    EquivalentWhere,
    /// A proof of a claim about bits.
    Same(Claim),
    /// A proof about a share of the elements.
    InPart,
    /// One kernel alone, without a fault.
    Clean,
    /// The kernels differ.
    Different(DifferenceKind),
    /// A kernel is faulty.
    Fault(FaultKind),
    /// No claim.
    Unknown(UnknownReason),
    /// The case, its files or its PTX are wrong.
    Input(InputProblem),
}

impl Reason {
    /// All reasons, in the order of `docs/reasons.md`.
    pub fn all() -> Vec<Reason> {
        let mut all = vec![Reason::Equivalent, Reason::EquivalentWhere, Reason::InPart, Reason::Clean];
        let of_bits = Claim::ALL.iter().map(|(claim, _)| *claim).filter(|claim| claim.is_of_bits());
        all.extend(of_bits.map(Reason::Same));
        all.extend(DifferenceKind::ALL.iter().map(|(kind, _)| Reason::Different(*kind)));
        all.extend(FaultKind::ALL.iter().map(|(kind, _)| Reason::Fault(*kind)));
        all.extend(UnknownReason::ALL.iter().map(|(reason, _)| Reason::Unknown(*reason)));
        all.extend(InputProblem::ALL.iter().map(|(problem, _)| Reason::Input(*problem)));
        all
    }

    /// Its code, for programs; that of a fault is the name of the verdict.
    pub fn code(self) -> &'static str {
        match self {
            Reason::Equivalent | Reason::EquivalentWhere | Reason::Same(_) | Reason::Clean => {
                self.verdict().name()
            }
            Reason::InPart => "proved-in-part",
            Reason::Different(kind) => kind.name(),
            Reason::Fault(kind) => kind.name(),
            Reason::Unknown(reason) => reason.name(),
            Reason::Input(problem) => problem.name(),
        }
    }

    /// The reason with the given code.
    pub fn parse(code: &str) -> Option<Reason> {
        Reason::all().into_iter().find(|reason| reason.code() == code)
    }

    /// The verdict that it leads to. Problems that are found before the verifier runs count as `input-error`.
    pub fn verdict(self) -> VerdictName {
        match self {
            Reason::Equivalent | Reason::InPart => VerdictName::Equivalent,
            Reason::EquivalentWhere => VerdictName::EquivalentWhere,
            Reason::Same(claim) => VerdictName::of_claim(claim),
            Reason::Clean => VerdictName::Clean,
            Reason::Different(_) => VerdictName::Different,
            Reason::Fault(kind) => VerdictName::Fault(kind),
            Reason::Unknown(reason) => VerdictName::Unknown(reason.cause()),
            Reason::Input(_) => VerdictName::InputError,
        }
    }

    /// Its meaning, one sentence: lowercase, no period.
    pub fn meaning(self) -> String {
        match self {
            Reason::Equivalent
            | Reason::EquivalentWhere
            | Reason::Same(_)
            | Reason::Clean
            | Reason::Fault(_) => self.verdict().meaning().into(),
            Reason::InPart => "a proof about a share of the elements only, `part` says which: nothing is claimed about the others".into(),
            Reason::Different(kind) => clause(kind.description()),
            Reason::Unknown(reason) => clause(reason.description()),
            Reason::Input(problem) => clause(problem.description()),
        }
    }

    /// The advice, if there is any.
    pub fn hint(self) -> Option<Hint> {
        Some(match self {
            Reason::Equivalent | Reason::Same(_) => Hint::ReadAssumptions,
            Reason::EquivalentWhere => Hint::CheckConditions,
            Reason::InPart => Hint::MergeParts,
            Reason::Clean => return None,
            Reason::Different(DifferenceKind::Values) => Hint::Replay,
            Reason::Different(DifferenceKind::OneSided) => Hint::CheckGuards,
            Reason::Different(DifferenceKind::Unwritten) => Hint::AllowPartial,
            Reason::Fault(kind) => kind.hint(),
            Reason::Unknown(reason) => reason.hint(),
            Reason::Input(problem) => problem.hint(),
        })
    }
}

impl UnknownReason {
    /// The reason for reaching a limit.
    pub const fn of_limit(limit: Limit) -> UnknownReason {
        match limit {
            Limit::Instructions => UnknownReason::Instructions,
            Limit::MemoryBytes => UnknownReason::Memory,
            Limit::BlockThreads => UnknownReason::BlockThreads,
            Limit::Ctas => UnknownReason::Ctas,
            Limit::AlgebraSteps => UnknownReason::AlgebraSteps,
            Limit::ProgramSize => UnknownReason::ProgramSize,
        }
    }

    /// The cause, by which cases expect it.
    pub const fn cause(self) -> UnknownCause {
        match self {
            UnknownReason::Instructions
            | UnknownReason::Memory
            | UnknownReason::BlockThreads
            | UnknownReason::Ctas
            | UnknownReason::AlgebraSteps
            | UnknownReason::ProgramSize
            | UnknownReason::EndlessWait => UnknownCause::Budget,
            UnknownReason::Timeout => UnknownCause::Timeout,
            UnknownReason::Undecided => UnknownCause::Undecided,
            UnknownReason::Internal => UnknownCause::Internal,
        }
    }

    const fn hint(self) -> Hint {
        match self {
            UnknownReason::Instructions
            | UnknownReason::Memory
            | UnknownReason::BlockThreads
            | UnknownReason::Ctas
            | UnknownReason::AlgebraSteps
            | UnknownReason::ProgramSize => Hint::RaiseLimit,
            UnknownReason::EndlessWait => Hint::EndWait,
            UnknownReason::Timeout => Hint::AllowTime,
            UnknownReason::Undecided => Hint::AddMiddle,
            UnknownReason::Internal => Hint::Report,
        }
    }
}

impl InputProblem {
    const fn hint(self) -> Hint {
        match self {
            InputProblem::Syntax
            | InputProblem::UnknownKey
            | InputProblem::MissingKey
            | InputProblem::WrongValue
            | InputProblem::RefusedFlag
            | InputProblem::KernelNotFound
            | InputProblem::DoesNotFit
            | InputProblem::Variable
            | InputProblem::NothingToCompare => Hint::CorrectCase,
            InputProblem::NoCase
            | InputProblem::FileNotFound
            | InputProblem::FileOutside
            | InputProblem::FileUnreadable => Hint::CorrectPath,
            InputProblem::NoCompiler | InputProblem::StalePtx => Hint::Recompile,
            InputProblem::DoesNotCompile | InputProblem::InvalidPtx => Hint::CorrectSource,
        }
    }
}

impl FaultKind {
    const fn hint(self) -> Hint {
        match self {
            FaultKind::Race => Hint::OrderAccesses,
            FaultKind::Deadlock | FaultKind::BarrierDivergence | FaultKind::AmbiguousBarrier => {
                Hint::MoveBarrier
            }
            FaultKind::BarrierMisuse | FaultKind::ProxyRace | FaultKind::InFlight | FaultKind::Allocation => {
                Hint::CompleteAsync
            }
            FaultKind::OutOfBounds | FaultKind::Misaligned | FaultKind::ReadOnly => Hint::CorrectAccess,
            FaultKind::Uninitialised | FaultKind::Undefined => Hint::WriteFirst,
            FaultKind::TypeMismatch => Hint::CheckTypes,
            FaultKind::DependsOnRounding => Hint::UseIntegers,
            FaultKind::InputDependentControl => Hint::UseSelect,
            FaultKind::Unsupported => Hint::AvoidInstruction,
            FaultKind::Assertion => Hint::CheckAssertion,
            FaultKind::Nondeterministic => Hint::FixOrder,
            FaultKind::Overflow => Hint::LimitRange,
        }
    }
}

impl Hint {
    /// The advice in general: lowercase, no period. A message may be more specific.
    pub fn text(self) -> String {
        clause(self.description())
    }
}

/// A description in the form of messages: lowercase, no period.
fn clause(description: &str) -> String {
    let text = description.trim();
    let mut rest = text.strip_suffix('.').unwrap_or(text).chars();
    let first = rest.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_code_has_one_meaning() {
        let all = Reason::all();
        let codes: BTreeSet<&str> = all.iter().map(|reason| reason.code()).collect();
        assert_eq!(codes.len(), all.len());
        for reason in all {
            assert_eq!(Reason::parse(reason.code()), Some(reason));
            assert!(!reason.meaning().is_empty(), "{}", reason.code());
        }
    }

    #[test]
    fn each_hint_is_given() {
        let given: Vec<Hint> = Reason::all().into_iter().filter_map(Reason::hint).collect();
        for (hint, _) in Hint::ALL {
            // No reason has this hint: it depends on a barrier found by trial for the kernel.
            assert!(given.contains(hint) || *hint == Hint::TriedBarrier, "{hint}");
        }
    }

    #[test]
    fn sentences_are_those_of_messages() {
        assert_eq!(Reason::Unknown(UnknownReason::Timeout).meaning(), "the case's timeout has passed");
    }
}
