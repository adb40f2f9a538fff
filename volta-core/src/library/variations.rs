//! The codes of functions compiled with flags that change their graphs from those of [both
//! dialects](super::LibraryFunction::codes).

/// The folder and the name of a function's file, and its code.
type Variation = (&'static str, &'static str, &'static str);

/// Rows: a folder, and the names of the files.
macro_rules! variations {
    ($($folder:literal: $($name:literal)*;)*) => {
        &[$($(($folder, $name, include_str!(concat!($folder, "/", $name, ".ptx"))),)*)*]
    };
}

/// The variations that `scripts/library.sh` compiles.
pub(super) const OTHERS: &[Variation] = variations! {
    "sm_80_ftz": "powf" "remainderf" "tgammaf";
    "sm_80_nofma": "acosh" "atanh" "log" "log10" "log1p" "log2" "pow";
    "sm_90": "tgammaf" "cospif" "sinpif";
    "sm_90_ftz": "tgammaf" "cospif" "sinpif";
    "sm_100_ftz": "asinf" "cospif" "sinpif" "cosf" "sinf" "tanf" "sincosf_sine" "sincosf_cosine" "fmodf" "j0f" "j1f" "lgammaf" "powf" "remainderf" "tgammaf" "y0f" "y1f";
    "sm_100_nofma": "acosh" "atanh" "fmodf" "log" "log10" "log1p" "log2" "pow" "remainderf";
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_is_compiled_is_looked_for() {
        let compiled = include_str!("variations.txt").lines().filter(|line| !line.starts_with('#'));
        let compiled = compiled.map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" "));
        let looked_for = OTHERS.iter().map(|(folder, name, _)| format!("{folder} {name}"));
        assert_eq!(compiled.collect::<Vec<_>>(), looked_for.collect::<Vec<_>>());
    }
}
