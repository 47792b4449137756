//! `--out junit=FILE`: thresholds, checks, the measurement and the run itself as test cases, for what shows test reports.

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event},
};

use super::{
    asked::Asked,
    at_end,
    cases::{Outcome, Suite, model, suites},
    output::Wish,
};
use crate::failure::Failure;

/// The file where none is named.
const FILE: &str = "junit.xml";

/// `junit=FILE`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    at_end::read(asked, FILE, "JUnit report", |finished| {
        let suites = suites(&model(finished), finished);
        // Writing to memory cannot fail.
        written(&finished.args.script.file, &suites, finished.end.duration_ns as f64 / 1e9).unwrap_or_default()
    })
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
            let told = match &case.result {
                Outcome::Passed => None,
                Outcome::Failed(message) => Some(("failure", message)),
                Outcome::Skipped(message) => Some(("skipped", message)),
            };
            if told.is_none() && case.observed.is_none() {
                xml.write_event(Event::Empty(start))?;
                continue;
            }
            xml.write_event(Event::Start(start))?;
            if let Some((element, message)) = told {
                let mut inner = BytesStart::new(element);
                inner.push_attribute(("message", &*allowed(message)));
                xml.write_event(Event::Empty(inner))?;
            }
            // The schema has it behind these, and it is what readers show of a case that passed.
            if let Some(observed) = &case.observed {
                xml.write_event(Event::Start(BytesStart::new("system-out")))?;
                xml.write_event(Event::Text(BytesText::new(&allowed(observed))))?;
                xml.write_event(Event::End(BytesEnd::new("system-out")))?;
            }
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
