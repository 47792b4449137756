//! `--out junit=FILE`: thresholds, checks and the measurement as test cases, for what shows test reports.

use std::path::PathBuf;

use onrush_metrics::{
    Merged, Thresholds,
    summary::{Group, RunInfo, SummaryMode, SummaryModel, Verdict, input_from},
};
use onrush_session::Judgement;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesEnd, BytesStart, Event},
};

use crate::{context::Context, save::save};

/// Test cases of one kind.
struct Suite {
    name: &'static str,
    cases: Vec<Case>,
}

/// A test case.
struct Case {
    /// What it is about: a metric, a group.
    class: String,
    name: String,
    result: Outcome,
}

enum Outcome {
    Passed,
    Failed(String),
    /// Neither.
    Skipped(String),
}

/// The report of a run. Thresholds have to be evaluated.
pub(super) fn report(
    script: &str,
    merged: &Merged,
    thresholds: &Thresholds,
    judgement: &Judgement,
    duration_ns: u64,
) -> Vec<u8> {
    let info = RunInfo { duration_ns, ..RunInfo::default() };
    let model = SummaryModel::new(input_from(merged, thresholds, info, SummaryMode::Compact));
    let mut checks = Vec::new();
    add_checks(&model.root_group, &mut checks);
    let measurement = match judgement.verdict {
        Verdict::Valid => Outcome::Passed,
        Verdict::Suspect => Outcome::Skipped(format!("SUSPECT: {}", judgement.reasons.join("; "))),
        Verdict::Invalid => Outcome::Failed(format!("INVALID: {}", judgement.reasons.join("; "))),
    };
    let measurement =
        Case { class: "onrush".to_owned(), name: "the measurement is valid".to_owned(), result: measurement };
    let suites = [
        Suite { name: "thresholds", cases: threshold_cases(&model) },
        Suite { name: "checks", cases: checks },
        Suite { name: "measurement", cases: vec![measurement] },
    ];
    // Writing to memory cannot fail.
    written(script, &suites, duration_ns as f64 / 1e9).unwrap_or_default()
}

fn threshold_cases(model: &SummaryModel) -> Vec<Case> {
    let rows = model.metrics.iter().flat_map(|metric| metric.thresholds.iter().map(move |row| (metric, row)));
    let case =
        |(metric, row): (&onrush_metrics::summary::MetricSummary, &onrush_metrics::summary::ThresholdSummary)| {
            let is_judged = row.history.is_none_or(|history| history.judged > 0);
            let result = match (row.ok, is_judged) {
                (true, true) => Outcome::Passed,
                (true, false) => Outcome::Skipped("never judged: no samples".to_owned()),
                (false, _) => {
                    let history = row.history.filter(|history| history.is_telling());
                    let history = history.map_or_else(String::new, |history| format!(", {}", history.statement()));
                    Outcome::Failed(format!("{} was {}{history}", row.source, row.observed))
                }
            };
            Case { class: metric.name.clone(), name: row.source.clone(), result }
        };
    rows.map(case).collect()
}

/// The checks of a group and of those in it.
fn add_checks(group: &Group, cases: &mut Vec<Case>) {
    for check in &group.checks {
        let result = match check.fails {
            0 => Outcome::Passed,
            fails => Outcome::Failed(format!("{fails} of {} failed", check.passes + fails)),
        };
        let class = if group.path.is_empty() { "checks".to_owned() } else { group.path.clone() };
        cases.push(Case { class, name: check.name.clone(), result });
    }
    group.groups.iter().for_each(|group| add_checks(group, cases));
}

fn written(script: &str, suites: &[Suite], seconds: f64) -> std::io::Result<Vec<u8>> {
    let failures = |suite: &Suite| suite.cases.iter().filter(|case| matches!(case.result, Outcome::Failed(_))).count();
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

/// Writes the report to its files. Returns whether all of them were written.
pub(super) fn write(cx: &Context, paths: &[PathBuf], report: &[u8]) -> bool {
    let mut is_written = true;
    for path in paths {
        if let Err(error) = save(&path.to_string_lossy(), report.to_vec()) {
            is_written = false;
            cx.logger.error(format!("could not write the JUnit report {}: {error}", path.display()));
        }
    }
    is_written
}
