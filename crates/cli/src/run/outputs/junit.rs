//! `--out junit=FILE`: thresholds, checks and the measurement as test cases, for what shows test reports.

use std::path::{Path, PathBuf};

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, Event},
};

use super::{
    Finished, Output, Started, Starting, Wish,
    asked::Asked,
    cases::{Outcome, Suite, model, suites},
};
use crate::{failure::Failure, save::save};

/// The file where none is named.
const FILE: &str = "junit.xml";

/// A report that is wanted, and, as nothing is written before the end, one of a run under way.
#[derive(Clone)]
struct Report(PathBuf);

/// `junit=FILE`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    let path = match asked.argument_or_empty() {
        "" => FILE,
        "-" | "stdout" => {
            return Err(Failure::other("the junit output has no file").hint("name one: --out junit=report.xml"));
        }
        file => file,
    };
    Ok(Wish::Folded(Box::new(Report(path.into()))))
}

impl Output for Report {
    fn described(&self) -> String {
        format!("junit ({})", self.0.display())
    }

    fn file(&self) -> Option<&Path> {
        Some(&self.0)
    }

    fn start(&self, _: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        Ok(Box::new(self.clone()))
    }
}

impl Started for Report {
    fn finish(self: Box<Self>, finished: &Finished<'_>) -> bool {
        let Finished { cx, args, judgement, end, .. } = *finished;
        let suites = suites(&model(finished), judgement);
        // Writing to memory cannot fail.
        let report = written(&args.script.file, &suites, end.duration_ns as f64 / 1e9).unwrap_or_default();
        let saved = save(&self.0.to_string_lossy(), report);
        if let Err(error) = &saved {
            cx.logger.error(format!("could not write the JUnit report {}: {error}", self.0.display()));
        }
        saved.is_ok()
    }
}

fn written(script: &str, suites: &[Suite], seconds: f64) -> std::io::Result<Vec<u8>> {
    let failures = |suite: &Suite| suite.failures().count();
    let skipped = |suite: &Suite| suite.cases.iter().filter(|case| matches!(case.result, Outcome::Skipped(_))).count();
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let mut root = BytesStart::new("testsuites");
    let tests: usize = suites.iter().map(|suite| suite.cases.len()).sum();
    let failed: usize = suites.iter().map(failures).sum();
    let time = format!("{seconds:.3}");
    for (name, value) in
        [("name", &*allowed(script)), ("tests", &tests.to_string()), ("failures", &failed.to_string()), ("time", &time)]
    {
        root.push_attribute((name, value));
    }
    xml.write_event(Event::Start(root))?;
    for suite in suites {
        let mut start = BytesStart::new("testsuite");
        let [tests, failures, skipped] =
            [suite.cases.len(), failures(suite), skipped(suite)].map(|count| count.to_string());
        for (name, value) in [("name", suite.name), ("tests", &tests), ("failures", &failures), ("skipped", &skipped)] {
            start.push_attribute((name, value));
        }
        xml.write_event(Event::Start(start))?;
        for case in &suite.cases {
            let mut start = BytesStart::new("testcase");
            start.push_attribute(("classname", &*allowed(&case.class)));
            start.push_attribute(("name", &*allowed(&case.name)));
            let (element, message) = match &case.result {
                Outcome::Passed => {
                    xml.write_event(Event::Empty(start))?;
                    continue;
                }
                Outcome::Failed(message) => ("failure", message),
                Outcome::Skipped(message) => ("skipped", message),
            };
            xml.write_event(Event::Start(start))?;
            let mut inner = BytesStart::new(element);
            inner.push_attribute(("message", &*allowed(message)));
            xml.write_event(Event::Empty(inner))?;
            xml.write_event(Event::End(BytesEnd::new("testcase")))?;
        }
        xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    let mut bytes = xml.into_inner();
    bytes.push(b'\n');
    Ok(bytes)
}

/// The text without what XML has no way to write.
fn allowed(text: &str) -> String {
    let is_allowed =
        |sign: char| matches!(sign, '\t' | '\n' | '\r') || sign >= ' ' && !matches!(sign, '\u{fffe}' | '\u{ffff}');
    text.chars().map(|sign| if is_allowed(sign) { sign } else { '\u{fffd}' }).collect()
}
