//! One load, tried: a run of its own, with a warm-up that does not count.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use onrush_analysis::capacity::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::slo::{MEASURED, Slo, within};
use crate::{failure::Failure, tools::child};

/// How loads are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Iterations a second.
    Rate,
    /// VUs that loop.
    Vus,
}

/// What all trials have in common.
pub(super) struct Bench {
    pub(super) kind: Kind,
    /// The script, as a path from the root.
    pub(super) script: PathBuf,
    /// What tells it from others.
    pub(super) fingerprint: String,
    /// Its function.
    pub(super) exec: String,
    /// Its other functions that runs call: `setup`, `teardown`.
    pub(super) lifecycle: Vec<&'static str>,
    pub(super) slos: Vec<Slo>,
    pub(super) warm_up: Duration,
    pub(super) step: Duration,
    /// VUs at most, for rates.
    pub(super) vus_max: u64,
    /// Flags of `run` that were given.
    pub(super) flags: Vec<String>,
}

/// What a load came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// HTTP requests a second.
    pub(super) requests: f64,
    /// Their durations, milliseconds.
    pub(super) median_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
    pub(super) p99_ms: Option<f64>,
    /// Share of requests that failed.
    pub(super) failed: f64,
    /// Share of the iterations that were dropped for want of VUs.
    pub(super) dropped: f64,
    /// Goals that were not held, and what the generator says of itself where it was the limit.
    pub(super) why: Vec<String>,
}

/// Share of dropped iterations from which on the load was not what it was meant to be.
const DROPPED_MAX: f64 = 0.01;
/// Share of failed requests from which on a trial is cut: a system that is down need not be hit any longer.
const FAILED_ABORT: f64 = 0.5;
/// VUs for each iteration a second, for as long as nobody knows how long iterations take.
const VUS_PER_RATE: f64 = 2.0;
/// All of them are there from the start, up to so many: with more, those that are made later are few beside the iterations.
const VUS_AT_ONCE: u64 = 4_000;

impl Bench {
    /// Tries a load.
    ///
    /// # Errors
    /// When the script cannot be run, or fails otherwise than by its goals.
    pub(super) fn tries(&self, load: f64) -> Result<(Outcome, Figures), Failure> {
        let folder = child::folder("capacity")?;
        let file = folder.path().join("trial.js");
        std::fs::write(&file, self.wrapper(load))
            .map_err(|error| Failure::other(format!("a trial could not be run: {error}")))?;
        let done = child::run(&file, &self.flags, "avg,med,p(95),p(99),max")?;
        Ok(self.judged(&done.summary))
    }

    /// The script that runs another one's function at a load.
    fn wrapper(&self, load: f64) -> String {
        let seconds = |duration: Duration| format!("{}ms", duration.as_millis());
        let scenario = |start: Duration, duration: Duration| {
            let mut scenario = match self.kind {
                Kind::Rate => {
                    let vus = ((load * VUS_PER_RATE).ceil() as u64 + 10).min(self.vus_max);
                    // One that is made when it is needed costs an iteration, which would count as the system's fault.
                    let first = vus.div_ceil(4).max(vus.min(VUS_AT_ONCE));
                    json!({ "executor": "constant-arrival-rate", "rate": load.round() as u64, "preAllocatedVUs": first, "maxVUs": vus })
                }
                Kind::Vus => json!({ "executor": "constant-vus", "vus": load.round() as u64 }),
            };
            scenario["duration"] = json!(seconds(duration));
            scenario["startTime"] = json!(seconds(start));
            scenario["gracefulStop"] = json!("5s");
            scenario["exec"] = json!("iteration");
            scenario
        };
        let mut scenarios = json!({ MEASURED: scenario(self.warm_up, self.step) });
        if self.warm_up > Duration::ZERO {
            let mut warm_up = scenario(Duration::ZERO, self.warm_up);
            warm_up["gracefulStop"] = json!("0s");
            scenarios["warm_up"] = warm_up;
        }
        let mut thresholds = serde_json::Map::new();
        let mut add = |metric: String, threshold: Value| {
            let list = thresholds.entry(metric).or_insert_with(|| json!([]));
            if let Some(list) = list.as_array_mut() {
                list.push(threshold);
            }
        };
        // So that these sub-metrics are in the summary.
        add(within("http_req_duration"), json!("max>=0"));
        for counter in ["http_reqs", "iterations", "dropped_iterations"] {
            add(within(counter), json!("count>=0"));
        }
        let is_down = json!({ "threshold": format!("rate<{FAILED_ABORT}"), "abortOnFail": true, "delayAbortEval": seconds(self.warm_up + Duration::from_secs(3)) });
        add(within("http_req_failed"), is_down);
        for slo in &self.slos {
            add(slo.metric.clone(), json!(slo.expression));
        }
        let functions: String =
            self.lifecycle.iter().map(|name| format!("export const {name} = script.{name};\n")).collect();
        let path = json!(self.script.to_string_lossy());
        let exec = json!(self.exec);
        let left_out =
            json!(["vus", "duration", "iterations", "stages", "scenarios", "thresholds", "summaryTrendStats"]);
        format!(
            "import * as script from {path};
const own = {{ ...(script.options || {{}}) }};
for (const name of {left_out}) delete own[name];
export const options = {{ ...own, scenarios: {scenarios}, thresholds: {thresholds} }};
export const iteration = script[{exec}];
{functions}",
            thresholds = Value::Object(thresholds)
        )
    }

    /// What a summary says.
    fn judged(&self, summary: &Value) -> (Outcome, Figures) {
        let metric = |name: &str| &summary["metrics"][within(name)];
        let number = |name: &str, field: &str| metric(name)[field].as_f64();
        let count = |name: &str| number(name, "count").unwrap_or_default();
        let (done, dropped) = (count("iterations"), count("dropped_iterations"));
        let requests = count("http_reqs");
        let mut figures = Figures {
            requests: requests / self.step.as_secs_f64(),
            median_ms: number("http_req_duration", "med"),
            p95_ms: number("http_req_duration", "p(95)"),
            p99_ms: number("http_req_duration", "p(99)"),
            failed: number("http_req_failed", "value").unwrap_or_default(),
            dropped: dropped / (done + dropped).max(1.0),
            why: Vec::new(),
        };
        let measurement = &summary["measurement"];
        let reasons = measurement["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
        // What the system's slowness leads to is no fault of the generator.
        let of_generator: Vec<&str> =
            reasons.filter(|reason| !reason.contains(" were dropped: ") && !reason.contains("had no answer")).collect();
        for slo in &self.slos {
            // As in k6's export: true is crossed.
            if summary["metrics"][&slo.metric]["thresholds"][&slo.expression] == Value::Bool(true) {
                figures.why.push(slo.text.clone());
            }
        }
        if figures.dropped > DROPPED_MAX {
            figures.why.push(format!("{:.1} % of the iterations found no free VU", figures.dropped * 100.0));
        }
        if figures.failed >= FAILED_ABORT {
            figures.why.push(format!("{:.0} % of the requests failed", figures.failed * 100.0));
        }
        if done == 0.0 {
            figures.why.push("no iteration ended".to_owned());
        }
        let is_limited = measurement["verdict"] == "INVALID" && !of_generator.is_empty();
        // A generator that spoils its measurements may have broken the goals by itself.
        if is_limited {
            figures.why.splice(0..0, of_generator.iter().map(|&reason| reason.to_owned()));
            return (Outcome::Limited, figures);
        }
        (if figures.why.is_empty() { Outcome::Held } else { Outcome::Broke }, figures)
    }
}

/// The path from the root, for an import from elsewhere.
///
/// # Errors
/// 255 for scripts that are no files.
pub(super) fn absolute(file: &str) -> Result<PathBuf, Failure> {
    let is_file = file != "-" && !file.contains("://") && Path::new(file).extension().is_none_or(|kind| kind != "tar");
    let path = std::fs::canonicalize(file).ok().filter(|_| is_file);
    path.ok_or_else(|| Failure::other(format!("onrush capacity needs a script in a file, and {file} is none")))
}
