//! The kinds of edits, and those that are left out because the model cannot see them.

/// A kind of mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind(pub &'static str);

macro_rules! kinds {
    ($($constant:ident = $name:literal, $edit:literal, $why:literal;)*) => {
        $(#[doc = $edit] pub const $constant: Kind = Kind($name);)*
        /// Name, what is edited, and why it should matter.
        pub const KINDS: &[(Kind, &str, &str)] = &[$(($constant, $edit, $why)),*];
    };
}

kinds! {
    BARRIER_DROPPED = "barrier-dropped", "a `bar`, `barrier` or `bar.warp.sync` is left out",
        "accesses are no longer ordered";
    BARRIER_MOVED = "barrier-moved", "a barrier stands behind the next access to memory, or before the last",
        "one access is on the wrong side";
    COPY_WAIT = "copy-wait", "a wait for asynchronous copies, or the end of a group, is left out, or waits for one group less",
        "what is read may not have arrived";
    ASYNC_DROPPED = "async-dropped", "what orders asynchronous operations is left out: a proxy fence, an operation on a barrier in memory or a wait for it, the fence or end of a group of products, a wait for them",
        "they are in flight, or their bytes cannot be seen";
    FENCE_MOVED = "fence-moved", "a proxy fence stands before the access in front of it, if that writes",
        "it no longer covers that write";
    INDEX = "index", "the offset of an access is one element more or less",
        "a neighbour is read or written, or what lies outside";
    INTEGER_CONSTANT = "integer-constant", "an integer literal is one more or less",
        "loops, indices and guards are off by one";
    FLOAT_CONSTANT = "float-constant", "a float literal is doubled, negated, 1 for 0, or 0 for an infinity",
        "another function is computed";
    IDIOM_CONSTANT = "idiom-constant", "one bit of a constant in the idioms of `expf` is flipped, high or low",
        "the idiom is none any more";
    COMPARISON = "comparison", "strict for not strict, less for greater, equal for unequal",
        "guards and loops are off by one, or the wrong way round";
    OPERATION = "operation", "add for sub, max for min, mul for add, and for or, shl for shr, abs for neg",
        "another value is computed";
    OPERANDS_SWAPPED = "operands-swapped", "two sources that do not commute change places",
        "another value is computed";
    OPERAND_WRONG = "operand-wrong", "a source is what the instruction before has computed, of the same class of registers",
        "another value is used";
    TYPE = "type", "signed for unsigned, or the other way round",
        "comparisons, shifts, divisions and widening differ above half the range";
    WIDTH = "width", "a load or store of integers has half its width",
        "half of a value is moved";
    STORE_DROPPED = "store-dropped", "a store is left out",
        "something is not written";
    LOAD_DROPPED = "load-dropped", "a load is left out",
        "a register keeps an old value, or none";
    MASK = "mask", "a mask of lanes lacks its first or its last lane",
        "a lane outside its mask takes part, or is not waited for";
    SHUFFLE = "shuffle", "another mode, distance or clamp of a shuffle",
        "values come from other lanes";
    FRAGMENT = "fragment", "two registers of a fragment change places; `.trans` or `.row` is changed",
        "elements stand in the wrong position";
    VECTOR_ORDER = "vector-order", "two elements of a vector access change places",
        "elements are mixed up";
    ATOMIC = "atomic", "an atomic does another operation, or becomes a plain store of its operand, or a load, an operation and a store",
        "another value is left, or accesses of threads race";
    GUARD = "guard", "a predicate is negated or left out",
        "what is conditional happens always, or the other way round";
    SPECIAL_REGISTER = "special-register", "another special register",
        "threads or blocks take each other's parts";
}

/// Mutations that are not made, by name, and why.
pub const EXCLUDED: &[(&str, &str)] = &[
    (
        "rounding-mode",
        "`.rn`, `.rz`, `.approx`, `.full`, `.ftz` and conversions between float formats change nothing over the reals (V2)",
    ),
    (
        "fence",
        "`membar` and `fence` alone, other than proxy fences, order nothing (Y7): leaving one out changes no verdict",
    ),
    ("volatile", "`.volatile`, `.relaxed` and `.weak` change neither order nor value (Y1)"),
    ("cache", "cache operators, eviction hints, prefetches and `.nc` change no value"),
    ("commuted", "operands of an operation that commutes in the reals change places: the same value"),
    (
        "literal-nudge",
        "the last bit of a float literal that is no idiom's: a nudge by rounding is an input of the same size as rounding itself, and is left to the idioms",
    ),
    ("register-renamed", "a register with another name, consistently: the same program"),
    ("hint", "`.uni`, `.pragma`, `.maxntid`, `.loc` and other hints do not decide anything"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct() {
        let names: std::collections::BTreeSet<&str> =
            KINDS.iter().map(|(kind, ..)| kind.0).chain(EXCLUDED.iter().map(|(name, _)| *name)).collect();
        assert_eq!(names.len(), KINDS.len() + EXCLUDED.len());
    }
}
