//! The meaning of rules, verdicts and reasons in short form: for messages and for `cargo volta explain`.

use volta_case::{Reason, VerdictName, Word, choose};

/// A rule, a verdict or a reason.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name in cases and messages.
    pub name: &'static str,
    /// One sentence, for the end of a message.
    pub meaning: String,
    /// Further explanation.
    pub more: String,
}

/// A rule.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name in messages.
    pub name: &'static str,
    /// One sentence, for the end of a message.
    pub meaning: &'static str,
    /// Further explanation.
    pub more: &'static str,
}

/// The sentence for a rule.
pub fn meaning(rule: &str) -> Option<&'static str> {
    RULES.iter().find(|known| known.name == rule).map(|rule| rule.meaning)
}

/// The entry with a name, in upper or lower case. For a verdict, any of its words will do.
pub fn find(name: &str) -> Option<Entry> {
    let name = name.to_ascii_lowercase();
    let verdict = choose::<VerdictName>(&name, String::new).ok().map(of_verdict);
    let rule = || RULES.iter().find(|rule| rule.name.eq_ignore_ascii_case(&name)).map(of_rule);
    let outcome = || (name == COULD_NOT_RUN).then(could_not_run);
    verdict.or_else(rule).or_else(|| Reason::parse(&name).map(of_reason)).or_else(outcome)
}

/// Every verdict, then every rule.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (word, verdict) in VerdictName::WORDS {
        if *word == verdict.name() {
            entries.push(of_verdict(*verdict));
        }
    }
    entries.extend(RULES.iter().map(of_rule));
    entries
}

/// The outcome of a case that is wrong, or whose files are.
const COULD_NOT_RUN: &str = "could-not-run";

fn could_not_run() -> Entry {
    Entry {
        name: COULD_NOT_RUN,
        meaning: "the outcome of a case whose verdict is `input-error`".into(),
        more: "The case, a file that it names or its PTX is wrong, and nothing was verified. Its `reason` says what: see \
               docs/reasons.md."
            .into(),
    }
}

fn of_verdict(verdict: VerdictName) -> Entry {
    Entry { name: verdict.name(), meaning: verdict.meaning().into(), more: verdict.more().into() }
}

fn of_rule(rule: &Rule) -> Entry {
    Entry { name: rule.name, meaning: rule.meaning.into(), more: rule.more.into() }
}

fn of_reason(reason: Reason) -> Entry {
    let more = reason.hint().map_or(String::new(), |hint| format!("{}: {}.", hint.name(), hint.text()));
    Entry { name: reason.code(), meaning: reason.meaning(), more }
}

const fn entry(name: &'static str, meaning: &'static str, more: &'static str) -> Rule {
    Rule { name, meaning, more }
}

/// Every rule.
pub const RULES: &[Rule] = &[
    entry(
        "V1",
        "bits and reals are different kinds of values, which only explicit conversions turn into each other",
        "Register names say nothing about the kind: operations do.",
    ),
    entry(
        "V2",
        "floating-point values are real numbers: rounding and conversions between formats change nothing",
        "What this cannot see: rounding errors, overflow of narrow formats, `(x + C) - C`, NaN.",
    ),
    entry(
        "V3",
        "inputs are finite reals; infinities are constants, and `inf - inf`, `0 * inf`, `x / 0` are undefined",
        "A large finite mask such as -1e9 is not -inf.",
    ),
    entry(
        "V4",
        "integers are exact, with the wrap-around of their width",
        "`max.s32` is not `max.u32`; float to integer is never the identity.",
    ),
    entry(
        "V5",
        "a value keeps its identity while its bits are moved, packed and unpacked whole",
        "Using a part of a real's encoding is a fault, unless it is a known idiom. The positions of elements in \
         `wmma` fragments are known only with the option `wmma_layout`.",
    ),
    entry(
        "V6",
        "undefined values may be copied, not used",
        "They taint everything that is computed from them.",
    ),
    entry(
        "V7",
        "exp, log, roots, max and the like are interpreted by their laws",
        "Beyond its laws a function equals itself on equal arguments.",
    ),
    entry(
        "V8",
        "wherever the reference is defined, the optimized kernel must be defined and equal",
        "Obligations such as `denominator is not 0` are recorded when the operation executes.",
    ),
    entry(
        "V9",
        "a float literal is the rational that its bits represent, except for a few constants that compilers introduce",
        "The forms of log2(e) and ln 2 are read as those numbers; each reading is listed.",
    ),
    entry(
        "V10",
        "a float that decides a branch, an index or bits must decide it the same with and without rounding",
        "Otherwise the kernel depends on rounding.",
    ),
    entry(
        "S1",
        "branches and addresses must not depend on input values",
        "Sizes, launch dimensions, indices and counters are known numbers.",
    ),
    entry(
        "S2",
        "every instruction that a thread executes must be understood",
        "Dead code costs nothing; nothing is ever skipped.",
    ),
    entry(
        "S3",
        "the claim is about all CTAs and every output element",
        "Unwritten elements fail, unless the case says `partial` or restricts `ctas`.",
    ),
    entry(
        "S4",
        "values that the launch does not determine must not be used",
        "`activemask` after divergence, clocks, `%warpid`, the old value of an atomic.",
    ),
    entry(
        "S5",
        "CTAs are not ordered among each other",
        "What one writes another must not access, except by atomics.",
    ),
    entry(
        "S6",
        "the steps of a side are ordered",
        "A step reads what those before it left, as elements of the declared types.",
    ),
    entry(
        "Y1",
        "accesses to the same bytes by different threads, one of them a write, must be ordered",
        "Also when both write the same value.",
    ),
    entry(
        "Y2",
        "program order, barriers, asynchronous completion and launches order accesses, transitively; returning orders nothing",
        "The option `exit_orders_memory` lets a barrier that an exit released order it.",
    ),
    entry(
        "Y3",
        "who meets at a barrier must not depend on the schedule, and warps must arrive together",
        "Threads that returned count as arrived where the barrier has no thread count; `strict_barriers` forbids it.",
    ),
    entry(
        "Y4",
        "`__syncwarp` orders memory among its lanes; shuffles, votes and matrix instructions do not",
        "The option `warp_collectives_order_memory` relaxes it.",
    ),
    entry(
        "Y5",
        "some thread must always be able to proceed",
        "The message says which threads wait where, and for what.",
    ),
    entry(
        "Y6",
        "an asynchronous copy may access memory at any time until it is waited for",
        "After the wait, other threads still need a barrier.",
    ),
    entry(
        "Y7",
        "atomics of one operation may be executed in any order; they race with plain accesses",
        "Different operations need a barrier between them. Neither atomics nor fences order other accesses.",
    ),
    entry(
        "Y8",
        "a kernel without faults computes the same under every schedule",
        "So the order in which Volta runs threads does not matter.",
    ),
    entry(
        "Y9",
        "the phase of a barrier in shared memory to which an operation belongs must not depend on the schedule",
        "The end of a phase happens before each arrival, copy and wait of the next, and each wait for a phase before the \
         end of the one after it. A test in a loop that does nothing else waits.",
    ),
    entry(
        "Y10",
        "asynchronous operations see what threads write only after a proxy fence",
        "`fence.proxy.async` publishes what happens before it; barriers pass that on.",
    ),
    entry(
        "Y11",
        "a bulk copy may access memory at any time until it is complete",
        "It is complete for threads that have waited for the phase of its barrier, and for the thread that waits for \
         its group.",
    ),
    entry(
        "Y12",
        "a product of a warpgroup uses its registers and reads its factors until it is waited for",
        "`wgmma.fence` comes before it where threads have accessed the registers; `wgmma.wait_group` after it.",
    ),
    entry(
        "Y13",
        "the CTAs of a cluster run together, and may access each other's shared memory only while it exists",
        "The cluster must synchronise before the first access and after the last one: `cluster.sync()`, or \
         `barrier.cluster.arrive` and `barrier.cluster.wait`.",
    ),
    entry(
        "Y14",
        "tensor memory is allocated, accessed in quarters by warps, and freed; its operations are complete when they \
         have been waited for",
        "Products are complete after a commit to a barrier and a wait for it, loads and stores after \
         `tcgen05.wait::ld` and `::st`.",
    ),
    entry(
        "Y15",
        "a loop that waits for a flag waits for the same changes of it under every schedule",
        "Wait for a value that the flag keeps until the loop has ended; release before the change \
         (`__threadfence()`), and acquire after the loop. CTAs may wait for one another only with `cooperative = \
         true`.",
    ),
    entry(
        "Y17",
        "what a dependent launch does before it waits is not ordered with the launches before it",
        "A wait is for the end of the launch before, and of all that this one has waited for.",
    ),
    entry(
        "Y18",
        "what atomic operations on a counter return may decide who does something, if it does not matter who",
        "The thread that is told to be the last comes after all others, if they release before the operation \
         (`__threadfence()`) and it acquires behind it; what is left must be the same whichever thread that is.",
    ),
    entry(
        "Y16",
        "a warp that takes registers (`setmaxnreg.inc`) waits until others have given enough back to the pool of its CTA",
        "Give registers back (`setmaxnreg.dec`) in warpgroups that need fewer, before others wait for them; all must add \
         up to no more than the CTA has at launch.",
    ),
    entry(
        "M1",
        "an access must stay inside its object, aligned, in the right state space",
        "An out-of-bounds read is a fault even if its value is unused.",
    ),
    entry("M2", "tensors do not overlap", "A pointer parameter is the beginning of one tensor."),
    entry("M3", "accesses of other widths must access whole values", "A part of a real is not a value."),
    entry("M4", "inputs are read-only", "Declare a tensor `inout` (or `&mut`) to write it."),
    entry(
        "M5",
        "variables of the module are memory of the launch, which the host can set and read",
        "The case gives `__constant__` and `__device__` variables under [globals], by name. One that is read, not \
         initialised and not given is an input error. What a pair leaves in them is compared (`out`, `inout`) or not \
         (`scratch`).",
    ),
    entry(
        "B1",
        "with `claim = \"bits\"`, floats are those of IEEE 754, and a proof says that their bits are the same",
        "Weaker claims: `bits-up-to-fma`, and `order` of sums and products. NaN counts as one value.",
    ),
    entry(
        "B2",
        "with `claim = \"finite\"`, no operation on floats overflows, divides by zero or gives NaN",
        "Each operation on which an output depends has an enclosure of its rounded result. `range = [-8, 8]` bounds an input.",
    ),
    entry(
        "B3",
        "with `max_error`, each element of an output is so near to its exact value",
        "The bound covers each rounding, documented errors of approximations and of `expf`, and holds in the whole `range`.",
    ),
    entry(
        "R1",
        "a claim is proved, refuted with a witness, or not made",
        "See the verdicts by name: `cargo volta explain different`.",
    ),
    entry(
        "R2",
        "a run continues after a fault where that is sound, and reports up to ten findings",
        "The verdict is that of the first. What a finding leaves unknown is in doubt: its consequences are not reported, \
         and where it decides what is executed, the run ends.",
    ),
    entry(
        "L1",
        "every limit counts steps or bytes, and reaching one gives no claim",
        "`max_instructions`, `max_memory_bytes`, `max_ctas`, `max_algebra_steps`. A `timeout` is not a limit, and has \
         its own verdict.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_and_reason_is_explained() {
        let words = volta_case::spellings::<VerdictName>().into_iter();
        for name in words.chain(Reason::all().into_iter().map(Reason::code)) {
            assert!(find(name).is_some_and(|entry| !entry.meaning.is_empty()), "{name}");
        }
        assert_eq!(entries().len(), 12 + volta_case::FaultKind::ALL.len() + RULES.len());
    }

    #[test]
    fn names_are_found_in_any_spelling() {
        assert_eq!(find("y1").map(|entry| entry.name), Some("Y1"));
        assert!(find("Z9").is_none());
    }
}
