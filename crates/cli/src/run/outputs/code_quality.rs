//! `--out code-quality=FILE`: what failed as a Code Quality report, which GitLab shows in merge requests.

use onrush_cluster::Hash;
use serde_json::{Value, json};

use super::{
    asked::Asked,
    at_end,
    cases::{Case, Suite, model, suites},
    output::Wish,
    place::Place,
};
use crate::failure::Failure;

/// The file where none is named, as GitLab's documentation names it.
const FILE: &str = "gl-code-quality-report.json";
/// What is told at most: GitLab shows no more than some hundreds.
const ISSUES_MAX: usize = 1_000;

/// `code-quality=FILE`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    at_end::read(asked, FILE, "Code Quality report", |finished| {
        let report = issues(&suites(&model(finished), finished), &Place::of(finished));
        format!("{report:#}\n").into_bytes()
    })
}

fn issues(suites: &[Suite], place: &Place) -> Value {
    let failures = suites.iter().flat_map(|suite| suite.failures().map(move |(case, why)| (suite.name, case, why)));
    let issue = |(kind, case, why): (&str, &Case, &str)| {
        let (severity, said) = match kind {
            "thresholds" => ("major", format!("{}: {why}", case.class)),
            "checks" => ("minor", format!("{}: {why}", case.name)),
            "run" => ("major", format!("the run failed: {why}")),
            _ => ("info", format!("the measurement is {why}")),
        };
        let written = case.name.split(" {").next().unwrap_or_default();
        let line = place.line(&case.name).or_else(|| place.line(written)).unwrap_or(1);
        // The same in every run, so that GitLab knows what is new.
        let Hash(bytes) = Hash::of(format!("{kind}\n{}\n{}\n{}", place.file, case.class, case.name).as_bytes());
        let fingerprint: String = bytes[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        json!({
            "description": said,
            "check_name": format!("onrush-{kind}"),
            "fingerprint": fingerprint,
            "severity": severity,
            "location": { "path": place.file.trim_start_matches("./"), "lines": { "begin": line } },
        })
    };
    failures.take(ISSUES_MAX).map(issue).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::cases::Outcome, *};

    #[test]
    fn what_failed_is_an_issue() {
        let failed = |class: &str, name: &str| Case {
            class: class.to_owned(),
            name: name.to_owned(),
            result: Outcome::Failed("1 of 2 failed".to_owned()),
            observed: None,
        };
        let place = Place::of_text("./tests/s.js", "\ncheck(r, { 'is ok': f })");
        let suites = [
            Suite { name: "thresholds", cases: vec![failed("http_reqs", "count>5")] },
            Suite {
                name: "checks",
                cases: vec![failed("checks", "is ok"), Case { result: Outcome::Passed, ..failed("", "") }],
            },
        ];
        let found = issues(&suites, &place);
        let all = found.as_array().expect("a list");
        assert_eq!(all.len(), 2);
        assert_eq!(all[0]["location"], json!({ "path": "tests/s.js", "lines": { "begin": 1 } }));
        assert_eq!(all[1]["location"]["lines"]["begin"], 2);
        assert_eq!((&all[0]["severity"], &all[1]["severity"]), (&json!("major"), &json!("minor")));
        assert_eq!(all[1]["description"], "is ok: 1 of 2 failed");
        assert_ne!(all[0]["fingerprint"], all[1]["fingerprint"]);
        assert_eq!(issues(&suites, &place), found);
    }
}
