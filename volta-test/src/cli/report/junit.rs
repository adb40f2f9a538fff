//! `--format junit`: one document in JUnit's format, which build servers read.

use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::{Checked, Reporter, Summary, message};
use crate::render::{Paint, clean, clean_line};
use crate::run::Outcome;

/// Collects all cases.
#[derive(Default)]
pub(super) struct Junit {
    cases: Vec<Row>,
}

struct Row {
    family: String,
    name: String,
    seconds: f64,
    verdict: String,
    outcome: &'static str,
    /// The short message, and the full one.
    messages: [String; 2],
}

impl Reporter for Junit {
    fn case(&mut self, checked: &Checked, _out: &mut dyn Write) -> io::Result<()> {
        let run = &checked.run;
        let (family, name) = checked.name.rsplit_once("::").unwrap_or(("", &checked.name));
        let short = run.failures.first().cloned();
        let short = short.or_else(|| run.obstacle.as_ref().map(|obstacle| obstacle.message.clone()));
        self.cases.push(Row {
            family: clean_line(family),
            name: clean_line(name),
            seconds: run.seconds,
            verdict: run.verdict_shown(),
            outcome: match run.outcome() {
                _ if checked.skipped => "skipped",
                Outcome::Passed => "",
                Outcome::Failed => "failure",
                Outcome::CouldNotRun => "error",
            },
            messages: [clean_line(&short.unwrap_or_default()), clean(&message(checked, Paint::PLAIN))],
        });
        Ok(())
    }

    fn end(&mut self, summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
        let tests = self.cases.len().to_string();
        let [failures, errors, skipped] =
            [summary.failed, summary.could_not_run, summary.skipped].map(|count| count.to_string());
        let time = seconds(summary.seconds);
        let sums = [
            ("name", "volta"),
            ("tests", &tests),
            ("failures", &failures),
            ("errors", &errors),
            ("skipped", &skipped),
            ("time", &time),
        ];
        let mut xml = Writer::new_with_indent(&mut *out, b' ', 2);
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        xml.create_element("testsuites").with_attributes(sums).write_inner_content(|xml| {
            let suite = xml.create_element("testsuite").with_attributes(sums);
            suite.write_inner_content(|xml| self.cases.iter().try_for_each(|row| row.write(xml)))?;
            Ok(())
        })?;
        writeln!(out)
    }
}

impl Row {
    fn write<W: Write>(&self, xml: &mut Writer<W>) -> io::Result<()> {
        let time = seconds(self.seconds);
        let about = [("classname", &*self.family), ("name", &*self.name), ("time", &*time)];
        let case = xml.create_element("testcase").with_attributes(about);
        if self.outcome.is_empty() {
            case.write_empty()?;
            return Ok(());
        }
        case.write_inner_content(|xml| {
            let [short, full] = &self.messages;
            let inner = xml.create_element(self.outcome).with_attribute(("message", &**short));
            match self.outcome {
                "skipped" => inner.write_empty()?,
                _ => {
                    inner.with_attribute(("type", &*self.verdict)).write_text_content(BytesText::new(full))?
                }
            };
            Ok(())
        })?;
        Ok(())
    }
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.3}")
}
