//! `cargo volta report`: the page is self-contained, has no script but its own, and a browser renders it.

use std::process::Command;

use volta_suite::{Said, Scratch, page};

/// Mistakes that end in a race, a difference, no answer and an input error.
const CASES: [&str; 4] = ["missing_barrier", "wrong_epsilon", "undecided", "block_too_large"];

fn report(scratch: &Scratch) -> String {
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    let folders = CASES.map(|name| format!("{}/mistakes/{name}", env!("CARGO_MANIFEST_DIR")));
    let said = Said::by(command.arg("report").args(folders).args(["--output", "page.html"]));
    assert_eq!((said.code, said.out.as_str()), (2, "written    page.html\n"), "{}", said.err);
    scratch.read("page.html")
}

fn scratch(name: &str) -> Scratch {
    Scratch::new(env!("CARGO_TARGET_TMPDIR"), &format!("report-{name}"))
}

#[test]
fn the_page_tells_of_each_case_and_loads_nothing() {
    let page = report(&scratch("page"));
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    for part in ["<link", "<img", "<iframe", "http:", "https:", "url(", "@import"] {
        assert!(!page.contains(part), "{part}");
    }
    for part in [
        "mistakes::missing_barrier",
        "<svg class=\"timeline\"",
        "<svg class=\"map\"",
        "tile[j][i] = x[16 * j + i];",
        "<code>tile</code>",
        "<p><math displaystyle=\"true\">",
        "no GPU runs more than 1024 threads in a block",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(part), "{part}");
    }
    for tag in ["section", "pre", "svg", "ul", "table", "sub", "sup", "code", "details", "div"] {
        let [begins, ends] = [format!("<{tag}"), format!("</{tag}>")].map(|part| page.matches(&part).count());
        assert_eq!(begins, ends, "{tag}");
    }
}

/// The picture at the top of the README is the timeline of a race among the fixtures.
#[test]
fn the_picture_of_a_race_is_as_the_report_draws_it() -> Result<(), String> {
    let scratch = scratch("picture");
    let case = format!("{}/../fixtures/race/layer_norm", env!("CARGO_MANIFEST_DIR"));
    let mut command = scratch.command(env!("CARGO_BIN_EXE_volta-under-test"));
    Said::by(command.args(["report", &case, "--output", "page.html"]));
    let page = scratch.read("page.html");
    let drawn = page.split_once("<svg class=\"timeline\"").and_then(|(_, rest)| rest.split_once("</svg>"));
    let (drawn, _) = drawn.ok_or("there is no timeline")?;
    // By itself it has the colours of neither page.
    let style = "<style>text { font: 13px sans-serif; fill: #1f2328 } .note { fill: #59636e; font-size: 11px }\n\
                 .thread { stroke: #59636e; stroke-width: 2 } .barrier { stroke: #0550ae; stroke-width: 4 }\n\
                 .access { fill: #d1242f } text.number { fill: #ffffff; font-weight: 600 }\n\
                 @media (prefers-color-scheme: dark) { text { fill: #f0f6fc } .note { fill: #9198a1 }\n\
                 .thread { stroke: #9198a1 } .barrier { stroke: #79c0ff } }</style>";
    let (tag, body) = drawn.split_once('>').ok_or("the picture has no content")?;
    let picture = format!("<svg xmlns=\"http://www.w3.org/2000/svg\"{tag}>{style}\n{body}</svg>\n");
    page::hold("docs/race.svg", &[("race", picture)])
}

/// A browser reads the page as it is meant: what it makes of it has all sections, and nothing slipped out of place.
#[test]
fn a_browser_shows_all_sections() {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let runs =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|out| out.status.success());
    let Some(browser) = browsers.into_iter().find(runs) else {
        eprintln!("skipped: none of {browsers:?} is on PATH");
        return;
    };
    let scratch = scratch("browser");
    report(&scratch);
    let url = format!("file://{}", scratch.path().join("page.html").display());
    let profile = format!("--user-data-dir={}", scratch.path().join("profile").display());
    let arguments = ["--headless", "--no-sandbox", "--disable-gpu", &profile, "--dump-dom", &url];
    let said = Said::by(Command::new(browser).args(arguments));
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.out.matches("<section id=\"case-").count(), CASES.len());
    assert_eq!(said.out.matches("</section>").count(), CASES.len());
    assert!(said.out.contains("<circle class=\"access\""), "the timeline is drawn");
}
