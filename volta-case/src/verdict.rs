//! The names of verdicts.

use crate::word::{Word, Wrong, words};

words! {
    /// The kinds of fault (rule R1).
    pub enum FaultKind {
        /// Accesses that nothing orders.
        Race = "race",
        /// No thread can go on.
        Deadlock = "deadlock",
        /// A barrier releases threads of one warp at different instructions.
        BarrierDivergence = "barrier-divergence",
        /// Who meets at a barrier depends on the schedule.
        AmbiguousBarrier = "ambiguous-barrier",
        /// A barrier in memory that is used as nobody may.
        BarrierMisuse = "barrier-misuse",
        /// An asynchronous operation that need not see what was written before it: no proxy fence.
        ProxyRace = "proxy-race",
        /// An asynchronous operation that is under way when it must be over.
        InFlight = "in-flight",
        /// Tensor memory that is allocated or freed as it must not be, or never freed.
        Allocation = "allocation",
        /// An access outside of its object.
        OutOfBounds = "out-of-bounds",
        /// An address that is no multiple of the access's width.
        Misaligned = "misaligned",
        /// A value that nobody wrote.
        Uninitialised = "uninitialised",
        /// A value without meaning.
        Undefined = "undefined",
        /// A value of one kind used as another.
        TypeMismatch = "type-mismatch" | "sort-mismatch",
        /// Rounding decides what must not depend on it.
        DependsOnRounding = "depends-on-rounding",
        /// A branch or an address depends on the input.
        InputDependentControl = "input-dependent-control" | "not-structured",
        /// An instruction that Volta does not know.
        Unsupported = "unsupported",
        /// A trap or a failed assertion.
        Assertion = "assertion",
        /// A write to an input.
        ReadOnly = "read-only",
        /// A value that depends on the schedule.
        Nondeterministic = "nondeterministic",
        /// An operation on floats whose result is infinite or NaN.
        Overflow = "overflow",
    }
}

impl FaultKind {
    /// Whether a fault is one of the kernel, rather than something that Volta cannot do.
    pub fn is_of_the_kernel(self) -> bool {
        match self {
            FaultKind::InputDependentControl
            | FaultKind::Unsupported
            | FaultKind::TypeMismatch
            | FaultKind::DependsOnRounding => false,
            FaultKind::Race
            | FaultKind::ProxyRace
            | FaultKind::Deadlock
            | FaultKind::BarrierDivergence
            | FaultKind::AmbiguousBarrier
            | FaultKind::BarrierMisuse
            | FaultKind::InFlight
            | FaultKind::Allocation
            | FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Uninitialised
            | FaultKind::Undefined
            | FaultKind::Assertion
            | FaultKind::ReadOnly
            | FaultKind::Nondeterministic
            | FaultKind::Overflow => true,
        }
    }
}

words! {
    /// Why no claim is made.
    pub enum UnknownCause {
        /// A limit was reached (rule L1).
        Budget = "unknown(budget)",
        /// The case's timeout has passed.
        Timeout = "unknown(timeout)",
        /// Neither a proof nor a witness was found.
        Undecided = "unknown(undecided)",
    }
    unnamed {
        /// The verifier contradicts itself, or it panicked: no case can expect this.
        Internal
    }
}

words! {
    /// What is claimed of two kernels (rule B1).
    pub enum Claim {
        /// They compute the same real numbers.
        Reals = "reals",
        /// They compute the same sums and products of floats, rounded alike, in any order.
        Order = "order",
        /// They compute the same bits if a product and a sum replace each fused one.
        BitsUpToFma = "bits-up-to-fma",
        /// They compute the same bits.
        Bits = "bits",
        /// No operation of theirs overflows, divides by zero or gives NaN (rule B2).
        Finite = "finite",
    }
}

impl Claim {
    /// Whether floats are values of IEEE arithmetic rather than reals.
    pub const fn is_of_bits(self) -> bool {
        !matches!(self, Claim::Reals)
    }
}

/// The kind of a verdict, without its details (rule R1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in rule R1")]
pub enum VerdictName {
    Equivalent,
    EquivalentWhere,
    SameBits,
    SameUpToFma,
    SameUpToOrder,
    Finite,
    Different,
    Clean,
    Unknown(UnknownCause),
    Fault(FaultKind),
    InputError,
}

impl Word for VerdictName {
    const WORDS: &'static [(&'static str, VerdictName)] = &{
        const CAUSES: &[(&str, UnknownCause)] = UnknownCause::WORDS;
        const FAULTS: &[(&str, FaultKind)] = FaultKind::WORDS;
        let mut words = [("input-error", VerdictName::InputError); 9 + CAUSES.len() + FAULTS.len()];
        words[0] = ("equivalent", VerdictName::Equivalent);
        words[1] = ("equivalent-where", VerdictName::EquivalentWhere);
        words[2] = ("different", VerdictName::Different);
        words[3] = ("clean", VerdictName::Clean);
        words[4] = ("same-bits", VerdictName::SameBits);
        words[5] = ("same-up-to-fma", VerdictName::SameUpToFma);
        words[6] = ("same-up-to-order", VerdictName::SameUpToOrder);
        words[7] = ("finite", VerdictName::Finite);
        let mut at = 0;
        while at < CAUSES.len() {
            words[8 + at] = (CAUSES[at].0, VerdictName::Unknown(CAUSES[at].1));
            at += 1;
        }
        at = 0;
        while at < FAULTS.len() {
            words[8 + CAUSES.len() + at] = (FAULTS[at].0, VerdictName::Fault(FAULTS[at].1));
            at += 1;
        }
        words
    };
}

impl VerdictName {
    /// `equivalent`, `race`, `unknown(budget)`, ….
    pub fn name(self) -> &'static str {
        let found = VerdictName::WORDS.iter().find(|(_, verdict)| *verdict == self);
        // The only verdict without a word is the one that no case may expect.
        found.map_or("unknown(internal)", |(name, _)| name)
    }

    /// Its meaning, one sentence for the end of a message: lowercase, no period.
    pub const fn meaning(self) -> &'static str {
        self.about().0
    }

    /// A longer explanation, as `cargo volta explain` prints it.
    pub const fn more(self) -> &'static str {
        self.about().1
    }

    const fn about(self) -> (&'static str, &'static str) {
        match self {
            VerdictName::Equivalent => (
                "a proof that both kernels write the same values to the output tensors, for every input",
                "Floating-point values are taken as real numbers. The assumptions printed below the verdict are part of it.",
            ),
            VerdictName::EquivalentWhere => (
                "a proof that holds under the printed conditions, which the reference does not need",
                "The optimized kernel divides, takes a root, or uses a constant where the reference does not. Where \
                 the conditions hold, both are equal. It is not `equivalent`.",
            ),
            VerdictName::SameBits => (
                "a proof that both kernels write the same bits to the output tensors, for every input",
                "Rule B1: `claim = \"bits\"`. Every operation is the one of IEEE arithmetic that the PTX says. NaN counts as \
                 one value.",
            ),
            VerdictName::SameUpToFma => (
                "a proof that both kernels would write the same bits if a product and a sum replaced each fused one",
                "Rule B1: `claim = \"bits-up-to-fma\"`.",
            ),
            VerdictName::SameUpToOrder => (
                "a proof that both kernels compute the same sums and products, each rounded alike, in some order",
                "Rule B1: `claim = \"order\"`.",
            ),
            VerdictName::Finite => (
                "a proof that no operation on floats overflows, divides by zero or gives NaN, for every input that the case \
                 allows",
                "Rule B2: `claim = \"finite\"`. Floats are rounded as the PTX says; approximate instructions have at most the \
                 errors that the PTX ISA documents. Only operations on which an output depends count.",
            ),
            VerdictName::Different => (
                "the kernels write different values, and the message says for which input and element",
                "Both values were computed at that input with exact error bounds, so the difference is not due to \
                 rounding. An element that only one kernel writes is a difference as well.",
            ),
            VerdictName::Clean => (
                "one kernel alone ran without any fault",
                "For cases with a single kernel: no race, no deadlock, no access out of bounds or before a write.",
            ),
            VerdictName::Unknown(UnknownCause::Budget) => (
                "a limit was reached before there was an answer",
                "Limits count steps and bytes, never time, so the same case always ends at the same place. The message names \
         the option that raises the limit.",
            ),
            VerdictName::Unknown(UnknownCause::Timeout) => (
                "the case's timeout passed before there was an answer",
                "There is no timeout unless `timeout = \"10s\"` in the case, `--timeout` or VOLTA_TIMEOUT sets one. Where it \
         ends a case depends on the machine; limits of steps do not.",
            ),
            VerdictName::Unknown(UnknownCause::Undecided) => (
                "neither a proof nor a counterexample was found",
                "Volta makes no claim. The reason says what was tried.",
            ),
            VerdictName::Unknown(UnknownCause::Internal) => (
                "an error in Volta",
                "Volta contradicts itself, or panicked: nothing is claimed about the kernels.",
            ),
            VerdictName::InputError => (
                "the case or the PTX is wrong",
                "A kernel that is not in the file, arguments that do not fit its parameters, or text that is not PTX.",
            ),
            VerdictName::Fault(FaultKind::Race) => (
                "two threads access the same bytes, one of them writes, and nothing orders the accesses",
                "Rules Y1 and Y2. Writing the same value twice is a race too; `volatile` changes nothing.",
            ),
            VerdictName::Fault(FaultKind::Deadlock) => {
                ("no thread can proceed, and not all have returned", "Rule Y5.")
            }
            VerdictName::Fault(FaultKind::BarrierDivergence) => (
                "threads of one warp are at different instructions when a barrier releases them",
                "Rule Y3: the aligned barriers (all of `bar.*`, so `__syncthreads()`) must be the same instruction for a warp.",
            ),
            VerdictName::Fault(FaultKind::AmbiguousBarrier) => (
                "which threads meet at a barrier depends on the schedule",
                "Rule Y3: every arrival of the next generation must come after some thread's release from the one \
                 before.",
            ),
            VerdictName::Fault(FaultKind::BarrierMisuse) => (
                "a barrier in shared memory is misused: before `mbarrier.init`, by more arrivals than it counts, by \
                 plain accesses",
                "Rule Y9.",
            ),
            VerdictName::Fault(FaultKind::ProxyRace) => (
                "an asynchronous operation accesses what a thread wrote before it, without a proxy fence in between",
                "Rule Y10: `fence.proxy.async` in the thread that writes, before the barrier that orders the two, or \
                 in the thread that starts the operation, after it.",
            ),
            VerdictName::Fault(FaultKind::InFlight) => (
                "an asynchronous operation is in flight when it must be complete",
                "Rule Y11: a CTA must not return while its shared memory is read or written.",
            ),
            VerdictName::Fault(FaultKind::Allocation) => (
                "tensor memory is wrongly allocated or freed, or is still allocated when the CTA ends",
                "Rule Y14.",
            ),
            VerdictName::Fault(FaultKind::OutOfBounds) => {
                ("an access outside of the tensor, variable or window that it belongs to", "Rule M1.")
            }
            VerdictName::Fault(FaultKind::Misaligned) => {
                ("an address that is not a multiple of the access's width", "Rule M1.")
            }
            VerdictName::Fault(FaultKind::Uninitialised) => ("an uninitialised value is used", "Rule V6."),
            VerdictName::Fault(FaultKind::Undefined) => (
                "an undefined value reaches an output, a branch, an address or a barrier",
                "Rules V3 and V6: `inf - inf`, `0 * inf`, `x / 0`, and what is computed from them.",
            ),
            VerdictName::Fault(FaultKind::TypeMismatch) => {
                ("a value of one kind is used as another without a conversion", "Rules V1 and V5.")
            }
            VerdictName::Fault(FaultKind::DependsOnRounding) => (
                "a float decides a branch, an index or an integer, and rounding can change the decision",
                "Rule V10.",
            ),
            VerdictName::Fault(FaultKind::InputDependentControl) => {
                ("a branch or an address depends on input values", "Rule S1.")
            }
            VerdictName::Fault(FaultKind::Unsupported) => {
                ("a thread reached an instruction that Volta does not know", "Rule S2: nothing is skipped.")
            }
            VerdictName::Fault(FaultKind::Assertion) => (
                "a thread reached a trap or a failed assertion",
                "`__trap()`, `assert(…)` and `__builtin_unreachable()`.",
            ),
            VerdictName::Fault(FaultKind::ReadOnly) => {
                ("a kernel writes a tensor that the case declares as input", "Rule M4.")
            }
            VerdictName::Fault(FaultKind::Nondeterministic) => {
                ("a value that depends on the schedule is used", "Rule S4.")
            }
            VerdictName::Fault(FaultKind::Overflow) => (
                "an operation on floats overflows, divides by zero or gives NaN at some input that the case allows",
                "Rule B2: `claim = \"finite\"`. The message gives an input at which it does, whatever the errors of \
                 approximate instructions are within their bounds.",
            ),
        }
    }

    /// The verdict that is a proof of a claim.
    pub const fn of_claim(claim: Claim) -> VerdictName {
        match claim {
            Claim::Reals => VerdictName::Equivalent,
            Claim::Order => VerdictName::SameUpToOrder,
            Claim::BitsUpToFma => VerdictName::SameUpToFma,
            Claim::Bits => VerdictName::SameBits,
            Claim::Finite => VerdictName::Finite,
        }
    }

    /// The verdict that a case expects by default.
    pub const fn passing(is_pair: bool, claim: Claim) -> VerdictName {
        if is_pair || matches!(claim, Claim::Finite) {
            VerdictName::of_claim(claim)
        } else {
            VerdictName::Clean
        }
    }

    /// Checks that a pair, or a single kernel, can have this verdict.
    ///
    /// # Errors
    /// Why not.
    pub fn check(self, is_pair: bool) -> Result<(), Wrong> {
        use VerdictName::*;
        match (self, is_pair) {
            (Clean, true) => Err("`clean` is for one kernel alone; a pair is `equivalent`".to_owned().into()),
            (Equivalent | EquivalentWhere | SameBits | SameUpToFma | SameUpToOrder | Different, false) => {
                let name = self.name();
                Err(format!("`{name}` is for pairs; one kernel alone is `clean`, or a fault's name").into())
            }
            (Clean, false)
            | (Finite, _)
            | (Equivalent | EquivalentWhere | SameBits | SameUpToFma | SameUpToOrder | Different, true)
            | (Unknown(_) | Fault(_) | InputError, _) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::word::choose;

    #[test]
    fn words_of_earlier_versions_are_understood_and_not_written() {
        for (old, kind, name) in [
            ("sort-mismatch", FaultKind::TypeMismatch, "type-mismatch"),
            ("not-structured", FaultKind::InputDependentControl, "input-dependent-control"),
        ] {
            assert_eq!(choose::<VerdictName>(old, String::new), Ok(VerdictName::Fault(kind)));
            assert_eq!(kind.name(), name);
        }
    }
}
