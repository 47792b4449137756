//! `--out summary-json=FILE`: a line of JSON for each second, and a last one with the result.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use onrush_metrics::Steps;
use onrush_output::{Began, Folded, Periods, reason};
use onrush_session::DeltaSink;
use serde_json::{Map, Value, json};

use super::{
    asked::Asked,
    folded::Sink,
    output::{Finished, Output, Started, Starting, Wish},
};
use crate::{failure::Failure, log::Level, save::place, terminal::Stdout};

/// A disk that takes nothing for so long takes nothing any more.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lines that are wanted: in this file, or on standard output.
struct Wanted(Option<PathBuf>);

/// Lines that are being written.
struct Writing {
    name: String,
    folded: Folded<Periods>,
    began: Began,
}

/// `summary-json=FILE`; without one, or with `-`, lines go to standard output.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    let path = match asked.argument_or_empty() {
        "" | "-" | "stdout" => None,
        file => Some(PathBuf::from(file)),
    };
    Ok(Wish::Folded(Box::new(Wanted(path))))
}

impl Wanted {
    fn name(&self) -> String {
        self.0.as_ref().map_or_else(|| "stdout".to_owned(), |path| path.display().to_string())
    }
}

impl Output for Wanted {
    fn described(&self) -> String {
        format!("summary-json ({})", self.name())
    }

    fn file(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    fn start(&self, starting: &Starting<'_>) -> Result<Box<dyn Started>, Failure> {
        let Starting { cx, prepared, .. } = *starting;
        let (name, began) = (self.name(), Began::default());
        let (registry, thresholds, stats) = (&prepared.run.registry, &prepared.thresholds, &prepared.trend_stats);
        let periods = match &self.0 {
            Some(path) => {
                let create = |path: PathBuf| Periods::create(&path, registry, thresholds, stats, began.clone());
                place(path).and_then(create).map_err(|error| {
                    let why = reason(&error);
                    Failure::other(format!("could not create the 'summary-json' output: open {name}: {why}"))
                })?
            }
            None => {
                let stdout = Box::new(Stdout(cx.terminal.clone()));
                Periods::stream(stdout, registry, thresholds, stats, began.clone())
            }
        };
        let (logger, filename) = (cx.logger.clone(), name.clone());
        let tell = move |error: &str| {
            let fields =
                vec![("error", error.to_owned()), ("filename", filename), ("output", "summary-json".to_owned())];
            logger.log(Level::Error, "an output failed and gets no more samples; the test goes on", fields);
        };
        let folded = Folded::start(periods, Steps::of_seconds(), tell)
            .map_err(|error| Failure::other(format!("failed to start the thread of the outputs: {error}")))?;
        Ok(Box::new(Writing { name, folded, began }))
    }
}

impl Started for Writing {
    fn sink(&self) -> Option<Box<dyn DeltaSink>> {
        Some(Box::new(Sink::new(self.folded.feed(), &self.began)))
    }

    fn finish(self: Box<Self>, finished: &Finished<'_>) -> bool {
        let Err(why) = self.folded.finish(last_line(finished), PATIENCE) else { return true };
        finished.cx.logger.error(format!("{} (summary-json) lacks the end of the run: {why}", self.name));
        false
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
