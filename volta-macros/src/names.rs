//! Names that can be checked while compiling, and “did you mean …?”.

/// Element types of tensors and scalars.
pub(crate) const ELEMENTS: [&str; 16] = [
    "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "i8", "i16", "i32", "i64", "u8", "u16", "u32",
    "u64", "bool",
];

/// Verdicts that a pair can have, besides faults.
pub(crate) const PAIR_VERDICTS: [&str; 3] = ["equivalent", "equivalent-where", "different"];

/// Verdicts that a pair and a single kernel can have.
pub(crate) const VERDICTS: [&str; 19] = [
    "race",
    "deadlock",
    "barrier-divergence",
    "ambiguous-barrier",
    "out-of-bounds",
    "misaligned",
    "uninitialised",
    "undefined",
    "sort-mismatch",
    "depends-on-rounding",
    "not-structured",
    "unsupported",
    "assertion",
    "read-only",
    "nondeterministic",
    "unknown(budget)",
    "unknown(timeout)",
    "unknown(undecided)",
    "input-error",
];

/// Sign assumptions, and what they are in `volta-test`.
pub(crate) const SIGNS: [(&str, &str); 5] = [
    ("positive", "Positive"),
    ("nonnegative", "NonNegative"),
    ("negative", "Negative"),
    ("nonpositive", "NonPositive"),
    ("nonzero", "Nonzero"),
];

/// Options that are limits.
pub(crate) const LIMITS: [&str; 6] = [
    "max_instructions",
    "max_memory_bytes",
    "max_block_threads",
    "max_ctas",
    "max_algebra_steps",
    "max_program_size",
];

/// “; did you mean `…`?” with the candidate nearest to `word`, or all there are.
pub(crate) fn hint(word: &str, candidates: &[&str]) -> String {
    let near = candidates.iter().map(|candidate| (distance(word, candidate), candidate)).min();
    match near {
        Some((distance, near))
            if distance <= (word.chars().count() / 3).max(1) && distance < word.chars().count() =>
        {
            format!("; did you mean `{near}`?")
        }
        _ => format!("; there are: {}", candidates.join(", ")),
    }
}

/// Insertions, deletions and replacements between two words.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}
