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

/// A verdict without what it says (rule R1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "named as in rule R1")]
pub enum VerdictName {
    Equivalent,
    EquivalentWhere,
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
        let mut words = [("input-error", VerdictName::InputError); 5 + CAUSES.len() + FAULTS.len()];
        words[0] = ("equivalent", VerdictName::Equivalent);
        words[1] = ("equivalent-where", VerdictName::EquivalentWhere);
        words[2] = ("different", VerdictName::Different);
        words[3] = ("clean", VerdictName::Clean);
        let mut at = 0;
        while at < CAUSES.len() {
            words[4 + at] = (CAUSES[at].0, VerdictName::Unknown(CAUSES[at].1));
            at += 1;
        }
        at = 0;
        while at < FAULTS.len() {
            words[4 + CAUSES.len() + at] = (FAULTS[at].0, VerdictName::Fault(FAULTS[at].1));
            at += 1;
        }
        words
    };
}

impl VerdictName {
    /// `equivalent`, `race`, `unknown(budget)`, ….
    pub fn name(self) -> &'static str {
        let found = VerdictName::WORDS.iter().find(|(_, verdict)| *verdict == self);
        // All but one can be expected of a case.
        found.map_or("unknown(internal)", |(name, _)| name)
    }

    /// The verdict that a case has when it passes, if it expects nothing else.
    pub const fn passing(is_pair: bool) -> VerdictName {
        if is_pair { VerdictName::Equivalent } else { VerdictName::Clean }
    }

    /// Whether a pair, or one kernel alone, can have it.
    ///
    /// # Errors
    /// Why not.
    pub fn check(self, is_pair: bool) -> Result<(), Wrong> {
        use VerdictName::*;
        match (self, is_pair) {
            (Clean, true) => Err("`clean` is for one kernel alone; a pair is `equivalent`".to_owned().into()),
            (Equivalent | EquivalentWhere | Different, false) => {
                let name = self.name();
                Err(format!("`{name}` is for pairs; one kernel alone is `clean`, or a fault's name").into())
            }
            (Clean, false)
            | (Equivalent | EquivalentWhere | Different, true)
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
