//! Annotations on lines of PTX: `//~ ERROR Y1 (2)`.

use std::collections::BTreeSet;

/// What the lines of a file say about the sites of the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Annotations {
    /// Site number, from 1, and line, from 1.
    pub(super) sites: BTreeSet<(usize, u32)>,
    /// The rules that `ERROR` names.
    pub(super) rules: BTreeSet<String>,
}

/// Reads the annotations of a text.
///
/// # Errors
/// The line and what is wrong with it.
pub(super) fn read(text: &str) -> Result<Annotations, String> {
    let mut out = Annotations::default();
    for (number, line) in (1..).zip(text.lines()) {
        let Some((_, note)) = line.split_once("//~") else { continue };
        let wrong = |what: &str| format!("line {number}: `//~{note}` {what}");
        let mut words = note.split_whitespace().peekable();
        if words.next_if_eq(&"ERROR").is_some()
            && let Some(rule) = words.next_if(|word| !word.starts_with('('))
        {
            out.rules.insert(rule.to_string());
        }
        let mut sites = Vec::new();
        for word in words {
            let site = word.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let site = site.and_then(|digits| digits.parse().ok()).filter(|site| *site > 0);
            sites.push(site.ok_or_else(|| wrong("is none of `ERROR`, a rule, `(1)`, `(2)`"))?);
        }
        if sites.is_empty() {
            sites.push(1);
        }
        for site in sites {
            if !out.sites.insert((site, number)) {
                return Err(wrong("says the same twice"));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_sites_and_rules() {
        let notes = read("a\nst; //~ (1) (2)\nld; //~ ERROR Y1 (3)\nx //~ ERROR M1\n").unwrap();
        assert_eq!(notes.sites, BTreeSet::from([(1, 2), (2, 2), (3, 3), (1, 4)]));
        assert_eq!(notes.rules, BTreeSet::from(["Y1".to_string(), "M1".to_string()]));
        assert!(read("x //~ ERRR (1)").is_err());
        assert!(read("x //~ (1) (1)").is_err());
        assert!(read("x //~ (0)").is_err());
    }
}
