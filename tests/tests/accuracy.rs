//! The page with the accuracy of the fixtures: each has one row, no row is of another, and a sample of the rows is
//! measured anew, or with `VOLTA_SLOW=1` all. With `VOLTA_WRITE_DOCS=1`, these and those of new fixtures are written.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use volta_suite::accuracy::{Entry, PAGE, entries, line, lines, page, row};
use volta_suite::fixture::{self, Size};
use volta_suite::{in_full, page as document, tree};

/// Of so many small fixtures, one is measured in each run.
const SAMPLED: usize = 60;

/// Measures fixtures, several at a time; the lines by name, and what went wrong.
fn measure(entries: &[Entry]) -> (BTreeMap<String, String>, Vec<String>) {
    let (next, done) = (AtomicUsize::new(0), Mutex::new((BTreeMap::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(entry) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = Instant::now();
                    let measured = row(entry);
                    let mut done = done.lock().expect("no thread panics");
                    match measured {
                        Ok(row) => {
                            let line = line(&row);
                            print!("{:.1} s {line}", begin.elapsed().as_secs_f64());
                            done.0.insert(row.name, line);
                        }
                        Err(why) => {
                            println!("{}: {why}", entry.name);
                            done.1.push(format!("{}: {why}", entry.name));
                        }
                    }
                }
            });
        }
    });
    done.into_inner().expect("no thread panics")
}

/// Whether the page is written.
fn writes() -> bool {
    std::env::var_os("VOLTA_WRITE_DOCS").is_some()
}

#[test]
fn the_page_has_a_row_for_each_fixture() {
    let all = entries();
    let text = std::fs::read_to_string(tree::root().join(PAGE)).unwrap_or_default();
    let mut found = lines(&text).expect("each name has one row");
    let names = |of: &BTreeMap<String, String>| of.keys().cloned().collect::<BTreeSet<String>>();
    let wanted: BTreeSet<String> = all.iter().map(|entry| entry.row.clone()).collect();
    let none = Vec::<&String>::new();
    if !writes() {
        assert_eq!(wanted.difference(&names(&found)).collect::<Vec<_>>(), none, "fixtures without a row");
        assert_eq!(names(&found).difference(&wanted).collect::<Vec<_>>(), none, "rows without a fixture");
        assert_eq!(text, page(&found), "{PAGE}: the text between the rows is what the code says");
    }
    let small = |entry: &Entry| fixture::size(&entry.row) == Size::Small;
    let sampled = all.iter().filter(|entry| small(entry)).step_by(SAMPLED);
    let sampled: BTreeSet<&str> = sampled.map(|entry| entry.row.as_str()).collect();
    let is_chosen = |entry: &Entry| {
        in_full() || sampled.contains(entry.row.as_str()) || writes() && !found.contains_key(&entry.row)
    };
    let chosen: Vec<Entry> = all.iter().filter(|entry| is_chosen(entry)).cloned().collect();
    let (rows, wrong) = measure(&chosen);
    if writes() {
        found.retain(|name, _| wanted.contains(name));
        found.extend(rows);
        document::hold_file(PAGE, &page(&found)).expect("the page can be written");
    } else {
        for (name, line) in rows {
            assert_eq!(found[&name], line, "{name}: VOLTA_SLOW=1 VOLTA_WRITE_DOCS=1 writes the page anew");
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}
