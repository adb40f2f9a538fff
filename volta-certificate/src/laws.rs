//! The laws that proofs may use, by their names in the verifier's table. A law counts only if this checker proves its
//! statement, and none of its near misses; else it is refused, and with it every certificate that names it.

use crate::cases::Checker;
use crate::text::{Certificate, statements};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// The verifier's table of laws: their names, statements and near misses, as formulas and as terms.
pub const STANDARD: &str = include_str!("laws.txt");

/// The laws that this checker can apply.
pub const ALL: [&str; 23] = [
    "product_of_powers",
    "reciprocal_of_power",
    "whole_summand_of_exponent",
    "power_of_power",
    "power_of_minus_infinity",
    "logarithm_of_power",
    "square_of_root",
    "reciprocal_root",
    "maximum_is_a_set",
    "maximum_with_minus_infinity",
    "maximum_of_shifted",
    "maximum_of_scaled",
    "maximum_by_sign",
    "minimum_by_maximum",
    "magnitude_by_maximum",
    "saturation",
    "orders_of_maxima",
    "choice_as_sum",
    "product_of_choices",
    "condition_by_sign",
    "scaled_comparison",
    "orders_of_choices",
    "tanh_by_exponential",
];

/// A set of laws, by their names.
pub type Laws = BTreeSet<&'static str>;

/// A table of laws, each of which was compared with the code here.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The laws that are what the code here applies.
    pub accepted: Laws,
    /// Those that are not, and why.
    pub refused: BTreeMap<&'static str, String>,
}

/// The steps to prove a law.
const STEPS: u64 = 1 << 20;

impl Table {
    /// The verifier's table.
    pub fn standard() -> &'static Table {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| Table::new(STANDARD))
    }

    /// A table: a line `law NAME` for each law, then lines `is STATEMENT` and `not STATEMENT`, each followed by that
    /// statement as a certificate has it.
    pub fn new(text: &str) -> Table {
        let mut table = Table::default();
        let read = statements(text);
        for law in ALL {
            let own = read.as_ref().map(|all| all.get(law).map_or(&[][..], Vec::as_slice));
            match own.map_err(Clone::clone).and_then(|own| is_applied(law, own)) {
                Ok(()) => _ = table.accepted.insert(law),
                Err(why) => _ = table.refused.insert(law, why),
            }
        }
        table
    }

    /// The laws of some names.
    ///
    /// # Errors
    /// A name that is not one of a law, or of one that was refused.
    pub fn named(&self, names: &[String]) -> Result<Laws, String> {
        let named = |name: &String| match self.refused.get(name.as_str()) {
            Some(why) => Err(format!("the law `{name}` of the table is not one: {why}")),
            None => {
                self.accepted.get(name.as_str()).copied().ok_or_else(|| format!("there is no law `{name}`"))
            }
        };
        names.iter().map(named).collect()
    }
}

/// Compares a law's statements with what the code here proves.
fn is_applied(law: &'static str, statements: &[(String, Certificate)]) -> Result<(), String> {
    let mut stated = false;
    for (line, statement) in statements {
        let (word, told) = line.split_once(' ').unwrap_or((line, ""));
        if word == "not" && !told.contains("!=") && !told.contains(" where ") {
            // True, under another assumption.
            continue;
        }
        let [class] = statement.classes.as_slice() else { return Err(format!("`{told}` is not one class")) };
        let mut laws = Laws::from(ALL);
        let prove = |laws: &Laws| {
            let proved = Checker::default().prove(statement, class, laws, &mut STEPS.clone());
            proved.map_err(|failure| failure.why)
        };
        let proved = prove(&laws);
        if word == "is" {
            stated = true;
            proved.map_err(|why| format!("`{told}` is not proved: {why}"))?;
            laws.remove(law);
            if prove(&laws).is_ok() {
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
            Table::standard().refused.iter().map(|(law, why)| format!("{law}: {why}")).collect();
        assert!(refused.is_empty(), "{}", refused.join("\n"));
    }
}
