//! Annotations on lines of PTX: `//~ ERROR Y1 (2) also 1 (1)`.

use std::collections::BTreeSet;

/// The annotations of a file on the sites of faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Annotations {
    /// The sites of the fault: number of the site and line, each from 1.
    pub(super) sites: BTreeSet<(usize, u32)>,
    /// The sites of further findings: number of the finding, number of the site and line, each from 1.
    pub(super) also: BTreeSet<(usize, usize, u32)>,
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
        // The finding to which the sites belong: 0 is the fault itself.
        let mut sites: Vec<(usize, Option<usize>)> = Vec::new();
        let mut finding = 0;
        while let Some(word) = words.next() {
            if word == "also" {
                let number = words.next().and_then(|digits| digits.parse().ok()).filter(|number| *number > 0);
                finding = number.ok_or_else(|| wrong("has an `also` without a number"))?;
                if words.peek().is_none_or(|word| !word.starts_with('(')) {
                    sites.push((finding, None));
                }
                continue;
            }
            let site = word.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let site = site.and_then(|digits| digits.parse().ok()).filter(|site| *site > 0);
            let site = site.ok_or_else(|| wrong("is none of `ERROR`, a rule, `also`, `(1)`, `(2)`"))?;
            sites.push((finding, Some(site)));
        }
        if sites.is_empty() {
            sites.push((0, None));
        }
        for (finding, site) in sites {
            let site = site.unwrap_or(1);
            let is_new = match finding {
                0 => out.sites.insert((site, number)),
                _ => out.also.insert((finding, site, number)),
            };
            if !is_new {
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
        let notes = read("st; //~ (1) also 2 (2)\nld; //~ ERROR Y1 also 1\nx //~ also 1 (2) also 2").unwrap();
        assert_eq!(notes.sites, BTreeSet::from([(1, 1)]));
        assert_eq!(notes.also, BTreeSet::from([(2, 2, 1), (1, 1, 2), (1, 2, 3), (2, 1, 3)]));
        assert!(read("x //~ ERRR (1)").is_err());
        assert!(read("x //~ also (1)").is_err());
        assert!(read("x //~ also 1 also 1").is_err());
        assert!(read("x //~ (1) (1)").is_err());
        assert!(read("x //~ (0)").is_err());
    }
}
