//! What the rules and verdicts mean, in a few words: for messages and for `cargo volta explain`.

use volta_case::{VerdictName, choose};

/// A rule or a verdict.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// What cases and messages call it.
    pub name: &'static str,
    /// One sentence, for the end of a message.
    pub meaning: &'static str,
    /// More, for who asks.
    pub more: &'static str,
}

/// The sentence for a rule.
pub fn meaning(rule: &str) -> Option<&'static str> {
    find(rule).map(|entry| entry.meaning)
}

/// The entry of that name, in any case of letters. A verdict may be called by any of its words.
pub fn find(name: &str) -> Option<&'static Entry> {
    let name = name.to_ascii_lowercase();
    let name = choose::<VerdictName>(&name, String::new).map_or(&*name, |verdict| verdict.name());
    ENTRIES.iter().find(|entry| entry.name.eq_ignore_ascii_case(name))
}

const fn entry(name: &'static str, meaning: &'static str, more: &'static str) -> Entry {
    Entry { name, meaning, more }
}

/// Every verdict, then every rule.
pub const ENTRIES: &[Entry] = &[
    entry(
        "equivalent",
        "a proof that both kernels write the same values to the output tensors, for every input",
        "Floating-point values are taken as real numbers. The assumptions printed below the verdict are part of it.",
    ),
    entry(
        "equivalent-where",
        "a proof that holds under the printed conditions, which the reference does not need",
        "The optimized kernel divides by something, takes a root, or uses a constant that the reference does not. \
         Where the conditions hold, both are equal. It is not `equivalent`.",
    ),
    entry(
        "different",
        "the kernels write different values, and the message says for which input and element",
        "Both values were computed at that input with exact error bounds, so it is no artefact of rounding. An element \
         that only one kernel writes is a difference as well.",
    ),
    entry(
        "clean",
        "one kernel alone ran without any fault",
        "For cases with a single kernel: no race, no deadlock, no access out of bounds or before a write.",
    ),
    entry(
        "unknown(budget)",
        "a limit was reached before there was an answer",
        "Limits count steps and bytes, never time, so the same case always ends at the same place. The message names \
         the option that raises the limit.",
    ),
    entry(
        "unknown(timeout)",
        "the case's timeout passed before there was an answer",
        "There is no timeout unless `timeout = \"10s\"` in the case, `--timeout` or VOLTA_TIMEOUT sets one. Where it \
         ends a case depends on the machine; limits of steps do not.",
    ),
    entry(
        "unknown(undecided)",
        "neither a proof nor a counterexample was found",
        "Volta makes no claim. The reason says what was tried.",
    ),
    entry(
        "input-error",
        "the case or the PTX is wrong",
        "A kernel that is not in the file, arguments that do not fit its parameters, or text that is not PTX.",
    ),
    entry(
        "race",
        "two threads access the same bytes, one of them writes, and nothing orders the accesses",
        "Rules Y1 and Y2. Writing the same value twice is a race too; `volatile` changes nothing.",
    ),
    entry("deadlock", "no thread can go on, and not all have returned", "Rule Y5."),
    entry(
        "barrier-divergence",
        "threads of one warp stand at different instructions when a barrier releases them",
        "Rule Y3: the aligned barriers (all of `bar.*`, so `__syncthreads()`) must be the same instruction for a warp.",
    ),
    entry(
        "ambiguous-barrier",
        "which threads meet at a barrier depends on the schedule",
        "Rule Y3: every arrival of the next generation must come after somebody's release from the one before.",
    ),
    entry(
        "barrier-misuse",
        "a barrier in memory is used as nobody may: before `mbarrier.init`, more often than it counts, by plain accesses",
        "Rule Y9.",
    ),
    entry(
        "proxy-race",
        "an asynchronous operation accesses what a thread wrote before it, and no proxy fence lies between",
        "Rule Y10: `fence.proxy.async` by the thread that writes, before the barrier that orders the two, or by the one \
         that starts the operation, behind it.",
    ),
    entry(
        "in-flight",
        "an asynchronous operation is under way when it must be over",
        "Rule Y11: a CTA must not return while its shared memory is read or written.",
    ),
    entry(
        "out-of-bounds",
        "an access outside of the tensor, variable or window that it belongs to",
        "Rule M1.",
    ),
    entry("misaligned", "an address that is not a multiple of the access's width", "Rule M1."),
    entry("uninitialised", "a value that nobody wrote is used", "Rule V6."),
    entry(
        "undefined",
        "a value that has no meaning reaches an output, a branch, an address or a barrier",
        "Rules V3 and V6: `inf - inf`, `0 * inf`, `x / 0`, and what is computed from them.",
    ),
    entry("type-mismatch", "a value of one kind is used as another without a conversion", "Rules V1 and V5."),
    entry(
        "depends-on-rounding",
        "a float decides a branch, an index or an integer, and rounding decides the float",
        "Rule V10.",
    ),
    entry("input-dependent-control", "a branch or an address depends on input values", "Rule S1."),
    entry(
        "unsupported",
        "a thread reached an instruction that Volta does not know",
        "Rule S2: nothing is skipped.",
    ),
    entry(
        "assertion",
        "a thread reached a trap or a failed assertion",
        "`__trap()`, `assert(…)` and `__builtin_unreachable()`.",
    ),
    entry("read-only", "a kernel writes a tensor that the case declares as input", "Rule M4."),
    entry("nondeterministic", "a value that depends on the schedule is used", "Rule S4."),
    entry(
        "V1",
        "bits and reals are different kinds of values, and only explicit conversions lead from one to the other",
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
        "Taking a part of a real's encoding is a fault, unless it is an idiom that is known. Elements of `wmma` \
         fragments are known by their place only with the option `wmma_layout`.",
    ),
    entry(
        "V6",
        "undefined values may be copied, not used",
        "They taint everything that is computed from them.",
    ),
    entry(
        "V7",
        "exp, log, roots, max and the like are interpreted as far as their laws go",
        "Beyond its laws a function equals itself on equal arguments.",
    ),
    entry(
        "V8",
        "wherever the reference is defined, the optimized kernel must be defined and equal",
        "Obligations such as `denominator is not 0` are recorded when the operation executes.",
    ),
    entry(
        "V9",
        "a float literal is the rational that its bits spell, but for a few constants that compilers force",
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
        "What one writes another must not touch, atomics apart.",
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
        "some thread must always be able to go on",
        "The message says who waits where, and for whom.",
    ),
    entry(
        "Y6",
        "an asynchronous copy touches memory at any time until it is waited for",
        "After the wait, other threads still need a barrier.",
    ),
    entry(
        "Y7",
        "atomics of one operation may meet in any order; they race with plain accesses",
        "Different operations need a barrier between them. Neither atomics nor fences order other accesses.",
    ),
    entry(
        "Y8",
        "a kernel without fault computes the same under every schedule",
        "So the order in which Volta runs threads does not matter.",
    ),
    entry(
        "Y9",
        "which phase of a barrier in memory an operation belongs to must not depend on the schedule",
        "The end of a phase happens before each arrival, copy and wait of the next, and each wait for a phase before the \
         end of the one after it. A test in a loop that does nothing else waits.",
    ),
    entry(
        "Y10",
        "what threads write, asynchronous operations see only behind a proxy fence",
        "`fence.proxy.async` publishes what its thread knows; barriers hand it on.",
    ),
    entry(
        "Y11",
        "a bulk copy may touch memory at any time until it is over",
        "For those who know that the phase of its barrier is over, or for the thread that waits for its group.",
    ),
    entry(
        "Y12",
        "a product of a warpgroup has its registers and reads its factors until it is waited for",
        "`wgmma.fence` comes before it where threads have touched the registers; `wgmma.wait_group` after it.",
    ),
    entry(
        "M1",
        "an access must stay inside its object, aligned, in the right state space",
        "An out-of-bounds read is a fault even if its value is unused.",
    ),
    entry("M2", "tensors do not overlap", "A pointer parameter is the beginning of one tensor."),
    entry("M3", "accesses of other widths must take whole values", "A piece of a real is no value."),
    entry("M4", "inputs are read-only", "Declare a tensor `inout` (or `&mut`) to write it."),
    entry(
        "M5",
        "variables of the module are memory of the launch, which the host sets and looks at",
        "The case gives `__constant__` and `__device__` variables under [globals], by name. One that is read, not \
         initialised and not given is an input error. What a pair leaves in them is compared (`out`, `inout`) or not \
         (`scratch`).",
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
        "every limit counts steps or bytes, and reaching one is no verdict",
        "`max_instructions`, `max_memory_bytes`, `max_ctas`, `max_algebra_steps`. A `timeout` is another thing, and has \
         a verdict of its own.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_explained() {
        for name in volta_case::spellings::<VerdictName>() {
            assert!(find(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_are_found_in_any_spelling() {
        assert_eq!(find("y1").map(|entry| entry.name), Some("Y1"));
        assert!(find("Z9").is_none());
    }
}
