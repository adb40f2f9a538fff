//! The laws that proofs may use, by their names in the verifier's table, and the check that each is what the code here
//! applies.
//!
//! The [table](STANDARD) is generated from the verifier's, statements and near misses. A law counts only if this
//! checker proves its statement, and none of its near misses: where the table says something else than the code here
//! does, the law is refused, and with it every certificate that names it.

use crate::cases::Checker;
use crate::text::{Certificate, statements};
use std::sync::OnceLock;

/// The verifier's table of laws: a line for each name, then its statement, and near misses that are no laws, as formulas
/// and as terms.
const STANDARD: &str = include_str!("laws.txt");

macro_rules! laws {
    ($($law:ident $name:literal;)*) => {
        /// A law that this checker can apply.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "the names say what they are")]
        pub enum Law { $($law,)* }

        impl Law {
            /// All of them.
            pub const ALL: &[Law] = &[$(Law::$law,)*];

            /// Its name in the table.
            pub fn name(self) -> &'static str {
                match self { $(Law::$law => $name,)* }
            }
        }
    };
}

laws! {
    ProductOfPowers "product_of_powers";
    ReciprocalOfPower "reciprocal_of_power";
    WholeSummandOfExponent "whole_summand_of_exponent";
    PowerOfPower "power_of_power";
    PowerOfMinusInfinity "power_of_minus_infinity";
    PowerOfLogarithm "power_of_logarithm";
    LogarithmOfPower "logarithm_of_power";
    LogarithmOfScaled "logarithm_of_scaled";
    LogarithmOfQuotient "logarithm_of_quotient";
    LogarithmOfEvenPower "logarithm_of_even_power";
    SquareOfRoot "square_of_root";
    ReciprocalRoot "reciprocal_root";
    RootOfScaledByNumber "root_of_scaled_by_number";
    RootOfScaledByPower "root_of_scaled_by_power";
    RootOfSquare "root_of_square";
    QuotientByInfinity "quotient_by_infinity";
    MaximumIsASet "maximum_is_a_set";
    MaximumWithMinusInfinity "maximum_with_minus_infinity";
    MaximumOfShifted "maximum_of_shifted";
    MaximumOfScaled "maximum_of_scaled";
    MaximumBySign "maximum_by_sign";
    MinimumByMaximum "minimum_by_maximum";
    MagnitudeByMaximum "magnitude_by_maximum";
    Saturation "saturation";
    OrdersOfMaxima "orders_of_maxima";
    ChosenSummand "chosen_summand";
    ChoiceAsSum "choice_as_sum";
    ProductOfChoices "product_of_choices";
    JoinedConditions "joined_conditions";
    ConditionBySign "condition_by_sign";
    ScaledComparison "scaled_comparison";
    OrdersOfChoices "orders_of_choices";
    TanhByExponential "tanh_by_exponential";
    ParityOfSineAndCosine "parity_of_sine_and_cosine";
    OddFunctions "odd_functions";
    ParityOfBessel "parity_of_bessel";
    SquaresOfSineAndCosine "squares_of_sine_and_cosine";
}

/// A set of laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LawSet(u64);

impl LawSet {
    /// All laws that this checker can apply.
    pub fn all() -> LawSet {
        Law::ALL.iter().fold(LawSet::default(), |mut all, law| {
            all.insert(*law);
            all
        })
    }

    /// Whether it has a law.
    pub fn contains(self, law: Law) -> bool {
        self.0 >> law as u64 & 1 == 1
    }

    /// Adds a law.
    pub fn insert(&mut self, law: Law) {
        self.0 |= 1 << law as u64;
    }

    /// Without a law.
    #[must_use]
    pub fn without(self, law: Law) -> LawSet {
        LawSet(self.0 & !(1 << law as u64))
    }

    /// Its laws, in the order of the table here.
    pub fn laws(self) -> impl Iterator<Item = Law> {
        Law::ALL.iter().copied().filter(move |law| self.contains(*law))
    }
}

/// A table of laws, each of which was compared with the code here.
#[derive(Clone, Debug)]
pub struct Table {
    accepted: LawSet,
    /// The laws that are not what the code here applies, and why.
    pub refused: Vec<(Law, String)>,
}

/// The steps to prove a law.
const STEPS: u64 = 1 << 20;
/// The cases to prove a law.
const SPLITS: usize = 8;

impl Table {
    /// The verifier's table.
    pub fn standard() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Table::new(STANDARD))
    }

    /// The text of the verifier's table.
    pub fn text() -> &'static str {
        STANDARD
    }

    /// A table: a line `law NAME` for each law, then lines `is STATEMENT` and `not STATEMENT`, each followed by that
    /// statement as a certificate has it.
    pub fn new(text: &str) -> Table {
        let mut table = Table { accepted: LawSet::default(), refused: Vec::new() };
        let read = statements(text);
        for law in Law::ALL {
            let checked = read.as_ref().map_err(Clone::clone);
            match checked.and_then(|all| is_applied(*law, all.get(law.name()).map_or(&[][..], Vec::as_slice)))
            {
                Ok(()) => table.accepted.insert(*law),
                Err(why) => table.refused.push((*law, why)),
            }
        }
        table
    }

    /// The laws that are what the code here applies.
    pub fn accepted(&self) -> LawSet {
        self.accepted
    }

    /// The laws of some names.
    ///
    /// # Errors
    /// A name that is not one of a law, or of one that was refused.
    pub fn named(&self, names: &[String]) -> Result<LawSet, String> {
        let mut laws = LawSet::default();
        for name in names {
            let law = Law::ALL.iter().copied().find(|law| law.name() == name);
            let law = law.ok_or_else(|| format!("there is no law `{name}`"))?;
            if let Some((_, why)) = self.refused.iter().find(|(refused, _)| *refused == law) {
                return Err(format!("the law `{name}` of the table is not one: {why}"));
            }
            laws.insert(law);
        }
        Ok(laws)
    }
}

/// Compares a law's statements with what the code here proves.
fn is_applied(law: Law, statements: &[(String, Certificate)]) -> Result<(), String> {
    let mut stated = false;
    for (line, statement) in statements {
        let (word, told) = line.split_once(' ').unwrap_or((line, ""));
        if word == "not" && !told.contains("!=") && !told.contains(" where ") {
            // True, under another assumption.
            continue;
        }
        let [class] = statement.classes.as_slice() else { return Err(format!("`{told}` is not one class")) };
        let prove = |laws, splits| {
            let searched = Checker::default().search(statement, class, laws, &mut STEPS.clone(), splits);
            searched.map(|_| ()).map_err(|failure| failure.why)
        };
        let proved = prove(LawSet::all(), SPLITS);
        if word == "is" {
            stated = true;
            proved.map_err(|why| format!("`{told}` is not proved: {why}"))?;
            if prove(LawSet::all().without(law), 0).is_ok() {
                return Err(format!("`{told}` needs no such law"));
            }
        } else if proved.is_ok() {
            return Err(format!("its near miss `{told}` is proved"));
        }
    }
    if stated { Ok(()) } else { Err("the table does not have it".to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_law_of_the_table_is_what_the_code_applies() {
        let refused: Vec<_> =
            Table::standard().refused.iter().map(|(law, why)| format!("{}: {why}", law.name())).collect();
        assert!(refused.is_empty(), "{}", refused.join("\n"));
    }
}
