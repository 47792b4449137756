//! `--out summary-json=FILE`: a line of JSON for each second, and a last one with the result.

use std::io;

use onrush_output::{Began, Destination, Periods};
use serde_json::{Map, Value, json};

use super::{
    super::prepare::{Prepared, Readers},
    asked::Asked,
    output::{Finished, Wish},
    seconds::{self, Seconds},
};
use crate::failure::Failure;

/// `summary-json=FILE`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    Ok(seconds::read::<Periods>(asked))
}

impl Seconds for Periods {
    const NAME: &'static str = "summary-json";

    fn readers() -> Readers {
        Readers::default()
    }

    fn begin(to: Destination, prepared: &Prepared, began: Began) -> io::Result<Self> {
        Ok(Self::new(to, &prepared.run.registry, &prepared.thresholds, &prepared.trend_stats, began))
    }

    fn end_of(finished: &Finished<'_>) -> Self::End {
        last_line(finished)
    }
}

/// The result of a run, its numbers aside.
fn last_line(finished: &Finished<'_>) -> Map<String, Value> {
    let end = finished.end;
    let thresholds: Vec<Value> = finished
        .thresholds
        .results()
        .iter()
        .flat_map(|metric| metric.expressions.iter().map(move |one| (metric, one)))
        .map(|(metric, one)| json!({ "metric": metric.name, "threshold": one.source, "ok": one.ok, "observed": one.observed }))
        .collect();
    let line = json!({
        "duration_s": end.duration_ns as f64 / 1e9,
        "exit_code": end.exit_code,
        "stopped": end.stopped,
        "thresholds": thresholds,
        "measurement": { "verdict": end.verdict, "reasons": end.reasons, "notes": end.notes },
    });
    match line {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
