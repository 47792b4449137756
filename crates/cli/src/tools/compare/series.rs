//! The runs of a baseline as a series: since when a measure is what it is.

use onrush_analysis::compare::{ChangePoint, Measure, change_points};
use onrush_metrics::Registry;
use serde_json::{Value, json};

use super::{
    figures::{number, percent},
    run::Recorded,
};

/// A change in a series of runs.
pub(super) struct Change {
    measure: Measure,
    point: ChangePoint,
    /// The first run of the new level.
    file: String,
    started: String,
    /// Runs since then, that one included.
    since: usize,
}

impl Change {
    /// The changes of these measures. `value` is what a run measured, where it did.
    pub(super) fn all(
        runs: &[&Recorded],
        measures: &[Measure],
        value: impl Fn(&Recorded, &Measure) -> Option<f64>,
    ) -> Vec<Self> {
        let of = |measure: &Measure| -> Vec<Self> {
            let known: Vec<(&Recorded, f64)> =
                runs.iter().filter_map(|run| Some((*run, value(run, measure)?))).collect();
            let values: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
            let change = |point: ChangePoint| {
                let run = known[point.index].0;
                Self {
                    measure: measure.clone(),
                    point,
                    file: run.file.display().to_string(),
                    started: run.head.started.clone(),
                    since: known.len() - point.index,
                }
            };
            change_points(&values).into_iter().map(change).collect()
        };
        measures.iter().flat_map(of).collect()
    }

    pub(super) fn to_text(&self, registry: &Registry) -> String {
        let Self { measure, point, file, started, since } = self;
        let value = |value: f64| number(value, &measure.metric, measure.statistic, registry);
        let change = if measure.statistic.is_difference() {
            format!("{:+.2} points", (point.after - point.before) * 100.0)
        } else {
            percent(point.after / point.before - 1.0)
        };
        let runs = if *since == 1 { "run" } else { "runs" };
        format!(
            "{}: {} became {} ({change}) with {} of {started}, {since} {runs} up to this one",
            crate::tools::result::plain(&measure.to_string()),
            value(point.before),
            value(point.after),
            crate::tools::result::plain(file),
        )
    }

    pub(super) fn to_json(&self) -> Value {
        let Self { measure, point, file, started, since } = self;
        json!({
            "metric": measure.metric,
            "statistic": measure.statistic.to_string(),
            "file": file,
            "started": started,
            "runs_since": since,
            "before": point.before,
            "after": point.after,
            "chance": point.chance,
        })
    }
}
