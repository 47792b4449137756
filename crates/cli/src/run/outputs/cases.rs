//! What a run is judged by, as test cases: thresholds, checks, the measurement, and whether it came to its end. For all that tells people or machines what failed.

use onrush_metrics::summary::{
    Group, MetricSummary, RunInfo, SummaryMode, SummaryModel, ThresholdSummary, Verdict, input_from,
};

use super::output::Finished;

/// Test cases of one kind.
pub(super) struct Suite {
    pub(super) name: &'static str,
    pub(super) cases: Vec<Case>,
}

/// A test case.
pub(super) struct Case {
    /// What it is about: a metric, a group.
    pub(super) class: String,
    pub(super) name: String,
    pub(super) result: Outcome,
    /// What was measured, where there is a figure.
    pub(super) observed: Option<String>,
}

pub(super) enum Outcome {
    Passed,
    Failed(String),
    /// Neither.
    Skipped(String),
}

/// The numbers of a run.
pub(super) fn model(finished: &Finished<'_>) -> SummaryModel {
    let info = RunInfo {
        duration_ns: finished.end.duration_ns,
        trend_stats: finished.trend_stats.to_vec(),
        time_unit: finished.time_unit,
        ..RunInfo::default()
    };
    SummaryModel::new(input_from(finished.merged, finished.thresholds, info, SummaryMode::Compact))
}

/// The test cases of a run.
pub(super) fn suites(model: &SummaryModel, finished: &Finished<'_>) -> [Suite; 4] {
    let judgement = finished.judgement;
    let mut checks = Vec::new();
    add_checks(&model.root_group, &mut checks);
    let measurement = match judgement.verdict {
        Verdict::Valid => Outcome::Passed,
        Verdict::Suspect => Outcome::Skipped(format!("SUSPECT: {}", judgement.reasons.join("; "))),
        Verdict::Invalid => Outcome::Failed(format!("INVALID: {}", judgement.reasons.join("; "))),
    };
    let own = |name: &str, result| Case { class: "onrush".to_owned(), name: name.to_owned(), result, observed: None };
    let result = finished.failed_by.map_or(Outcome::Passed, |why| Outcome::Failed(why.to_owned()));
    [
        Suite { name: "thresholds", cases: threshold_cases(model) },
        Suite { name: "checks", cases: checks },
        Suite { name: "measurement", cases: vec![own("the measurement is valid", measurement)] },
        Suite { name: "run", cases: vec![own("the run came to its end", result)] },
    ]
}

fn threshold_cases(model: &SummaryModel) -> Vec<Case> {
    let rows = model.metrics.iter().flat_map(|metric| metric.thresholds.iter().map(move |row| (metric, row)));
    let unit = model.run.time_unit;
    let case = |(metric, row): (&MetricSummary, &ThresholdSummary)| {
        let is_judged = row.history.is_none_or(|history| history.judged > 0);
        let result = match (row.ok, is_judged) {
            (true, true) => Outcome::Passed,
            (true, false) => Outcome::Skipped("never judged: no samples".to_owned()),
            (false, _) => {
                let history = row.history.filter(|history| history.is_telling());
                let history = history.map_or_else(String::new, |history| format!(", {}", history.statement()));
                Outcome::Failed(format!("{} was {}{history}", row.source, metric.observed(row, unit)))
            }
        };
        // Without samples a trend counts as 0: nobody measured that.
        let observed = is_judged.then(|| format!("observed {}", metric.observed(row, unit)));
        Case { class: metric.name.clone(), name: row.source.clone(), result, observed }
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
        let observed = Some(format!("{} of {} passed", check.passes, check.passes + check.fails));
        cases.push(Case { class, name: check.name.clone(), result, observed });
    }
    group.groups.iter().for_each(|group| add_checks(group, cases));
}

impl Suite {
    /// Its cases that failed, and why.
    pub(super) fn failures(&self) -> impl Iterator<Item = (&Case, &str)> {
        self.cases.iter().filter_map(|case| match &case.result {
            Outcome::Failed(why) => Some((case, why.as_str())),
            Outcome::Passed | Outcome::Skipped(_) => None,
        })
    }
}
