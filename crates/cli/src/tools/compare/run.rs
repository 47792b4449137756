//! The runs that are compared, as their files have them.

use std::path::{Path, PathBuf};

use onrush_analysis::compare::{Direction, Measure, Statistic, Timeline};
use onrush_metrics::{Merged, OTHER, Registry, Span, SubMetric, Thresholds, builtin, summary::endpoints_from};
use onrush_results::{End, Head};

use super::measures::usual;
use crate::{context::Context, failure::Failure, tools::result};

/// A run.
pub(super) struct Recorded {
    pub(super) file: PathBuf,
    pub(super) head: Head,
    pub(super) end: Option<End>,
    pub(super) timeline: Timeline,
    /// Everything it measured.
    pub(super) merged: Merged,
    pub(super) duration_ns: u64,
    /// What its thresholds limit.
    pub(super) limited: Vec<Measure>,
    /// Its requests by their tag `name`, the most frequent first.
    pub(super) names: Vec<(String, u64)>,
}

/// Times without a ramp that are looked at.
const SPANS_MAX: usize = 1_000;
/// Names that are looked at.
const NAMES_MAX: usize = 30;
/// The latest runs of a folder say how a test differs from run to run.
const RUNS_MAX: usize = 30;

impl Recorded {
    /// Reads a file.
    ///
    /// # Errors
    /// 255 with what is wrong with it.
    pub(super) fn read(cx: &Context, path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        let replayed = result::read(cx, &name, |_, _| {})?;
        let registry = replayed.merged.registry();
        let mut watched: Vec<String> = usual().into_iter().map(|measure| measure.metric).collect();
        watched.extend(["vus", "dropped_iterations"].map(str::to_owned));
        watched.extend(replayed.head.thresholds.keys().cloned());
        let mut timeline = Timeline::new(registry, watched.iter().map(String::as_str));
        let names = frequent(&replayed.merged);
        let requests = registry.metric(builtin::HTTP_REQ_DURATION);
        for (name, _) in names.iter().take(NAMES_MAX) {
            timeline.watch(registry, SubMetric::of(requests, &[("name", name)]));
        }
        // Once more, now that it is known what to look at.
        result::again(&name, |step| timeline.add(step))?;
        Ok(Self {
            file: path.to_owned(),
            limited: limited(&replayed.thresholds, registry),
            head: replayed.head,
            end: replayed.end,
            timeline,
            duration_ns: replayed.duration_ns,
            merged: replayed.merged,
            names,
        })
    }

    /// The parts of its time in which the plan asks for the same load; all of it where there are none.
    pub(super) fn spans(&self) -> Vec<Span> {
        if self.head.steady.is_empty() {
            vec![Span { from_ns: 0, until_ns: u64::MAX }]
        } else {
            self.head.steady.iter().take(SPANS_MAX).copied().collect()
        }
    }

    /// Whether it has samples of a metric.
    pub(super) fn has(&self, metric: &str) -> bool {
        let registry = self.merged.registry();
        registry.lookup(metric).is_some_and(|id| self.merged.sink(id).is_some())
    }

    /// The trend that says best what it did.
    pub(super) fn main_trend(&self) -> &'static str {
        ["http_req_duration", "grpc_req_duration"]
            .into_iter()
            .find(|name| self.has(name))
            .unwrap_or("iteration_duration")
    }

    /// The usual measures that it has. Iterations only where there are no requests: they mostly sleep.
    pub(super) fn usual(&self) -> Vec<Measure> {
        let has_requests = self.main_trend() != "iteration_duration";
        let wanted = |measure: &Measure| !(has_requests && measure.metric.starts_with("iteration"));
        usual().into_iter().filter(|measure| self.has(&measure.metric) && wanted(measure)).collect()
    }
}

/// Requests by their tag `name`, the most frequent first.
fn frequent(merged: &Merged) -> Vec<(String, u64)> {
    let mut names: Vec<(String, u64)> =
        endpoints_from(merged).into_iter().map(|endpoint| (endpoint.name, endpoint.count)).collect();
    names.retain(|(name, _)| !name.ends_with(OTHER));
    names
}

/// The 95th percentile of each name that both runs have; none where there is only one.
pub(super) fn names(before: &Recorded, after: &Recorded) -> Vec<Measure> {
    let is_known = |name: &str| before.names.iter().any(|(known, _)| known == name);
    let both: Vec<&str> = after.names.iter().map(|(name, _)| name.as_str()).filter(|name| is_known(name)).collect();
    if both.len() < 2 {
        return Vec::new();
    }
    let measure = |name: &str| Measure {
        metric: SubMetric::of(after.merged.registry().metric(builtin::HTTP_REQ_DURATION), &[("name", name)]).name,
        statistic: Statistic::Quantile(0.95),
        direction: Direction::Lower,
    };
    both.into_iter().take(NAMES_MAX).map(measure).collect()
}

/// The runs of the same test in a folder that began before this one, the earliest first. What is no result file is passed over.
///
/// # Errors
/// 255 for a folder that cannot be read.
pub(super) fn earlier(cx: &Context, folder: &Path, after: &Recorded) -> Result<Vec<Recorded>, Failure> {
    let unread = |error: std::io::Error| Failure::other(format!("could not read {}: {error}", folder.display()));
    let own = after.file.canonicalize().ok();
    let mut runs = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        if !path.is_file() || path.canonicalize().ok() == own {
            continue;
        }
        match result::head(&path) {
            Ok(head) if head.fingerprint == after.head.fingerprint => match Recorded::read(cx, &path) {
                Ok(run) => runs.push(run),
                Err(failure) => cx.logger.warn(failure.message),
            },
            Ok(_) => cx.logger.debug(format!("{} is of another test", path.display())),
            Err(failure) => cx.logger.debug(failure.message),
        }
    }
    // RFC 3339 in UTC: texts are in the order of time.
    runs.retain(|run: &Recorded| run.end.is_some() && run.head.started < after.head.started);
    runs.sort_by(|first, second| first.head.started.cmp(&second.head.started));
    let skipped = runs.len().saturating_sub(RUNS_MAX);
    Ok(runs.split_off(skipped))
}

fn limited(thresholds: &Thresholds, registry: &Registry) -> Vec<Measure> {
    let results = thresholds.results().iter().filter_map(|result| Some((result, registry.find(result.metric)?.kind)));
    let measures = results.flat_map(|(result, kind)| {
        let of =
            move |row: &onrush_metrics::ExpressionResult| Measure::of_threshold(&result.name, &row.expression, kind);
        result.expressions.iter().filter_map(of)
    });
    measures.collect()
}
