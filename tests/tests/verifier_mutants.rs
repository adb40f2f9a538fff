//! The program that mutates the verifier's code: it finds sites, its edits are valid Rust, and its records are of
//! existing code. The mutants themselves are run by `cargo run -p volta-suite --bin verifier-mutants`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use volta_suite::verifier_mutants::draw::{Mutant, apart, order, share, switched};
use volta_suite::verifier_mutants::record::{Record, records, stale};
use volta_suite::verifier_mutants::sites::sites;
use volta_suite::verifier_mutants::source::{Source, sources};

/// Read once for all tests here.
static SOURCES: LazyLock<Vec<Source>> = LazyLock::new(sources);

fn edits(text: &str) -> Vec<String> {
    let sites = sites(text).expect("it is Rust");
    sites.iter().map(|site| Mutant { number: 1, path: "", site }.key().trim().to_owned()).collect()
}

#[test]
fn each_kind_of_mistake_is_found() {
    let text = "
        impl Set {
            fn add(&mut self, a: u32, b: u32) -> bool {
                self.seen.insert((a, b), b);
                if a < b && !self.full { return false; }
                match a { 7 => true, n if n > b => self.has(a.min(2)), _ => (0..b).any(odd) }
            }
        }";
    let found = edits(text);
    for edit in [
        "Set::add return: => return false",
        "Set::add return: => return true",
        "Set::add call: self.seen.insert((a, b), b); => nothing",
        "Set::add key: a => Default::default()",
        "Set::add key: b => Default::default()",
        "Set::add arguments: self.seen.insert((a, b), b) => self.seen.insert(b, (a, b))",
        "Set::add condition: a < b && !self.full => true",
        "Set::add condition: a < b && !self.full => false",
        "Set::add connective: a < b && !self.full => a < b || !self.full",
        "Set::add connective: a < b && !self.full => a < b",
        "Set::add connective: a < b && !self.full => !self.full",
        "Set::add comparison: a < b => a <= b",
        "Set::add negation: !self.full => self.full",
        "Set::add jump: return false; => nothing",
        "Set::add literal: false => true",
        "Set::add arm: 7 => never taken",
        "Set::add literal: true => false",
        "Set::add guard: n > b => true",
        "Set::add guard: n > b => false",
        "Set::add comparison: n > b => n >= b",
        "Set::add method: a.min(2) => a.max(2)",
        "Set::add literal: 2 => 2 + 1",
        "Set::add literal: 2 => 2 - 1",
        "Set::add method: (0..b).any(odd) => (0..b).all(odd)",
        "Set::add literal: 0 => 0 + 1",
        "Set::add range: b => (b) - 1",
        "Set::add range: b => (b) + 1",
    ] {
        assert!(found.iter().any(|found| found == edit), "{edit}\n{found:#?}");
    }
    assert_eq!(found.len(), 27, "{found:#?}");
}

#[test]
fn what_cannot_ask_or_says_words_only_is_left_alone() {
    let text = "
        const A: u32 = 1 + 2;
        static B: [u32; 1 + 2] = [0; 3];
        const fn c() -> bool { 1 < 2 }
        enum E { F = 1 + 2 }
        impl std::fmt::Debug for E { fn fmt(&self, f: &mut F) -> R { f.words(1 + 2) } }
        #[cfg(test)] mod tests { fn g() { h(1 + 2) } }
        #[test] fn i() { j(1 + 2) }
        fn k(l: L) { if let L(1) = l && m!(1 + 2) {} }";
    assert_eq!(edits(text), ["k return: => return ()"]);
}

#[test]
fn an_edit_is_named_by_its_place_and_not_by_its_line() {
    let text = "fn a(b: u32) -> Option<u32> { let c = b + 1; Some(b + 1) }";
    let lower = format!("// A line more.\n{text}");
    assert_eq!(edits(text), edits(&lower));
    assert!(edits(text).contains(&"a arithmetic: b + 1 => b - 1 #2".to_owned()));
}

#[test]
fn edits_are_rust() {
    for source in SOURCES.iter() {
        let order = order(source, 1);
        let taken = apart(&order, usize::MAX, |_| true);
        let mutants: Vec<_> = taken
            .iter()
            .enumerate()
            .map(|(at, &site)| Mutant { number: at + 1, path: &source.path, site })
            .collect();
        let (text, owned) = switched(&source.text, &mutants.iter().collect::<Vec<_>>());
        if let Err(error) = syn::parse_file(&text) {
            let line = text.lines().nth(error.span().start().line - 1).unwrap_or_default();
            panic!("{}: {error}: {line}", source.path);
        }
        for (bytes, number) in owned {
            assert!(text[bytes].contains(&format!("crate::mutant::on({number})")), "{}", source.path);
        }
    }
}

#[test]
fn enough_is_drawn_and_from_every_file() {
    let mut kinds = BTreeSet::new();
    let mut drawn = 0;
    for source in SOURCES.iter() {
        let order = order(source, 1);
        let taken = apart(&order, share(source, 100), |_| true);
        kinds.extend(taken.iter().map(|site| site.kind));
        drawn += taken.len();
    }
    assert!(drawn >= 300, "{drawn}");
    assert_eq!(kinds.len(), 16, "{kinds:?}");
}

#[test]
fn records_are_arguments_about_code_that_is_there() {
    let stale = stale(&SOURCES);
    assert!(
        stale.is_empty(),
        "no longer in the sources, to be removed from survivors.toml:\n{}",
        stale.join("\n")
    );
    let records = records();
    let keys: Vec<String> = records.iter().flat_map(Record::keys).collect();
    assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len(), "a survivor is recorded twice");
    for record in &records {
        assert!(record.why.len() > 20 && !record.edits.is_empty(), "{}: {}", record.at, record.why);
    }
}
