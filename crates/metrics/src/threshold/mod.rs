//! Thresholds: the test's own verdict, read from the merged metrics.
//!
//! [`Thresholds::parse`] checks all of the `thresholds` option at once;
//! [`Thresholds::evaluate`] is called every two seconds and once at the end.
//! Those on parts of the run get their samples through [`Thresholds::add`].
//! What a failed threshold does to the run is the caller's business.

mod expression;
mod go;
mod history;
mod window;

use std::collections::BTreeMap;

pub use expression::{Expression, ExpressionError, Method, Operator};
pub(crate) use go::go_quote;
pub use history::History;
pub(crate) use history::whole_seconds;
pub use window::{Span, WindowSource};

use serde::{Deserialize, Serialize};
use window::{Subject, Windows};

use crate::{
    delta::Delta,
    merged::Merged,
    registry::{MetricId, MetricKind, Registry},
    sink::Sink,
    submetric::{SubMetric, ThresholdTarget},
};

/// One entry of the `thresholds` option.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThresholdSource {
    /// As written.
    pub expression: String,
    /// Whether failing ends the run.
    pub abort_on_fail: bool,
    /// How much of the run must have passed before it may end it, in nanoseconds.
    pub delay_abort_eval_ns: Option<u64>,
    /// Which samples it counts.
    pub window: WindowSource,
}

/// The thresholds of a run and how they stand.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    metrics: Vec<MetricResult>,
    submetrics: Vec<SubMetric>,
    /// When the scenarios started, nanoseconds of the test.
    scenarios_at_ns: u64,
    /// The end of the last span, nanoseconds of the scenarios.
    measured_ns: u64,
    is_final: bool,
}

/// The thresholds of one metric or sub-metric.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricResult {
    /// Full name, as the summary shows it.
    pub name: String,
    /// The metric.
    pub metric: MetricId,
    /// The sub-metric's position in [`Thresholds::submetrics`], if it is one.
    pub submetric: Option<usize>,
    /// In the order they were written.
    pub expressions: Vec<ExpressionResult>,
    kind: MetricKind,
}

/// How one expression stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionResult {
    /// As written, and behind it which samples it counts.
    pub source: String,
    /// Its meaning.
    pub expression: Expression,
    /// Whether failing ends the run.
    pub abort_on_fail: bool,
    /// How much of the run must have passed before it may end it, in nanoseconds.
    pub delay_abort_eval_ns: Option<u64>,
    /// Whether it held when last evaluated; true before.
    pub ok: bool,
    /// What was compared when last evaluated.
    pub observed: Option<f64>,
    /// How long it held.
    pub history: History,
    windows: Option<Windows>,
}

/// How a threshold stood at the end of its run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// Whether it held when last evaluated.
    pub ok: bool,
    /// What was compared then.
    pub observed: Option<f64>,
    /// How long it held.
    pub history: History,
}

/// Whether the run goes on, which decides what missing samples mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Metrics without samples are left out.
    Running,
    /// Metrics without samples count as 0; rates without samples pass.
    End,
}

/// What one evaluation found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    /// Metrics with a failed threshold, sorted.
    pub crossed: Vec<String>,
    /// Whether one of them ends the run.
    pub abort: bool,
}

/// Why a threshold cannot be used. The texts are k6's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ThresholdError {
    /// The metric name as written.
    pub metric: String,
    /// The expression at fault with its place in the metric's list; `None` if the name is.
    pub expression: Option<(usize, String)>,
    /// Byte offset of the first offending character in the expression, or in the name.
    pub position: usize,
    /// What should be there; empty if the message says so.
    pub expected: &'static str,
    /// k6's text.
    pub message: String,
}

impl ThresholdError {
    /// The message, and below it the expression or name with a mark under the offending character. Behind the mark the
    /// place in words, for logs that have one line a message.
    pub fn pointed(&self) -> String {
        /// Characters shown before and after the mark; expressions may be long.
        const AROUND: usize = 60;
        /// Of the message, which quotes what was written and ends with what is wrong.
        const MESSAGE_MAX: usize = 500;
        let text = self.expression.as_ref().map_or(&self.metric, |(_, expression)| expression);
        let before: Vec<char> = text.get(..self.position).unwrap_or(text).chars().collect();
        let after = text.get(self.position..).unwrap_or_default().chars();
        // One column a character, whatever it is.
        let plain = |char: char| if char.is_control() { ' ' } else { char };
        let cut = before.len().saturating_sub(AROUND);
        let lead = if cut > 0 { "…" } else { "" };
        let mut line: String = before[cut..].iter().copied().map(plain).collect();
        let mut after = after.map(plain);
        line.extend(after.by_ref().take(AROUND));
        let tail = if after.next().is_some() { "…" } else { "" };
        let pad = " ".repeat(before.len() - cut + lead.chars().count());
        let index = self.expression.as_ref().map_or_else(String::new, |(index, _)| format!("[{index}]"));
        let expected = if self.expected.is_empty() { String::new() } else { format!(": expected {}", self.expected) };
        let character = before.len() + 1;
        let message: Vec<char> = self.message.chars().collect();
        let message: String = match message.len() {
            0..=MESSAGE_MAX => message.iter().collect(),
            length => {
                let (start, end) = (&message[..MESSAGE_MAX / 2], &message[length - MESSAGE_MAX / 2..]);
                start.iter().chain(&['…']).chain(end).collect()
            }
        };
        format!(
            "{message}\n  {lead}{line}{tail}\n  {pad}^ thresholds.{}{index}, character {character}{expected}",
            self.metric
        )
    }
}

impl Thresholds {
    /// Checks and takes the `thresholds` option, by metric or sub-metric name.
    ///
    /// # Errors
    /// Every mistake found, by name and then as written. k6 stops at the first.
    pub fn parse(
        sources: &BTreeMap<String, Vec<ThresholdSource>>,
        registry: &Registry,
    ) -> Result<Self, Vec<ThresholdError>> {
        let mut thresholds = Self::default();
        let mut errors = Vec::new();
        for (name, sources) in sources {
            match MetricResult::parse(name, sources, registry, &mut thresholds.submetrics) {
                Ok(result) => thresholds.metrics.push(result),
                Err(more) => errors.extend(more),
            }
        }
        if errors.is_empty() { Ok(thresholds) } else { Err(errors) }
    }

    /// The sub-metrics named; their tags must be subscribed to, and [`Merged`] should watch them.
    pub fn submetrics(&self) -> &[SubMetric] {
        &self.submetrics
    }

    /// How every threshold stands, by name.
    pub fn results(&self) -> &[MetricResult] {
        &self.metrics
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.metrics.iter().all(|metric| metric.expressions.is_empty())
    }

    /// What the user should know about thresholds that are valid and yet will not work.
    pub fn warnings(&self) -> Vec<String> {
        let warning = |submetric: &SubMetric, tag: &str| {
            format!(
                "The high-cardinality '{tag}' metric tag was made non-indexable in k6 v0.41.0, so thresholds like '{}' that are based on it won't work correctly.",
                submetric.name
            )
        };
        self.submetrics
            .iter()
            .flat_map(|submetric| submetric.metadata_tags().map(move |tag| warning(submetric, tag.as_str())))
            .collect()
    }

    /// Whether the last evaluation is done.
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Whether any of them counts a part of the run only, and so needs [`Thresholds::add`].
    pub fn has_windows(&self) -> bool {
        self.metrics.iter().any(MetricResult::has_windows)
    }

    /// The scenarios start; windows and warm-ups count from here.
    pub fn start_scenarios(&mut self, elapsed_ns: u64) {
        self.scenarios_at_ns = elapsed_ns;
    }

    /// Gives what was measured in this time of the scenarios to the thresholds on parts of the run.
    pub fn add(&mut self, delta: &Delta, span: Span) {
        self.measured_ns = self.measured_ns.max(span.until_ns);
        for metric in self.metrics.iter_mut().filter(|metric| metric.has_windows()) {
            let submetric = metric.submetric.map(|index| &self.submetrics[index]);
            let parts = delta.series.iter().filter(|part| {
                part.metric == metric.metric
                    && part.sink.kind() == metric.kind
                    && submetric.is_none_or(|submetric| submetric.matches(&part.tags))
            });
            for part in parts {
                for windows in metric.expressions.iter_mut().filter_map(|expression| expression.windows.as_mut()) {
                    windows.add(&part.sink, span);
                }
            }
        }
    }

    /// Judges windows that ended by `until_ns` of the scenarios: no delta of that time is missing.
    pub fn close_windows(&mut self, until_ns: u64) {
        self.each_window(|windows, subject| windows.close(until_ns, subject));
    }

    /// How each stands, in the order of [`Thresholds::results`].
    pub fn standings(&self) -> Vec<Vec<Standing>> {
        let of = |row: &ExpressionResult| Standing { ok: row.ok, observed: row.observed, history: row.history };
        self.metrics.iter().map(|metric| metric.expressions.iter().map(of).collect()).collect()
    }

    /// Says how each stood when the run was under way, as far as its samples alone do not say it: how long each held, and what
    /// windows found, which lay where the deltas came.
    pub fn set_standings(&mut self, standings: &[Vec<Standing>]) {
        for (metric, standings) in self.metrics.iter_mut().zip(standings) {
            for (row, standing) in metric.expressions.iter_mut().zip(standings) {
                row.history = standing.history;
                if row.windows.is_some() {
                    (row.ok, row.observed) = (standing.ok, standing.observed);
                }
            }
        }
    }

    /// Judges the last windows; all deltas have been added.
    pub fn finish_windows(&mut self) {
        let until_ns = self.measured_ns;
        self.each_window(|windows, subject| windows.finish(until_ns, subject));
    }

    fn each_window(&mut self, mut visit: impl FnMut(&mut Windows, &mut Subject<'_>)) {
        for metric in &mut self.metrics {
            for result in &mut metric.expressions {
                let Some(windows) = &mut result.windows else { continue };
                let mut subject = Subject {
                    expression: &result.expression,
                    kind: metric.kind,
                    history: &mut result.history,
                    observed: &mut result.observed,
                    offset_ns: self.scenarios_at_ns,
                };
                visit(windows, &mut subject);
            }
        }
    }

    /// Evaluates everything measured so far, `elapsed_ns` after the run began.
    pub fn evaluate(&mut self, merged: &Merged, elapsed_ns: u64, phase: Phase) -> Evaluation {
        let mut evaluation = Evaluation::default();
        self.is_final |= phase == Phase::End;
        for metric in &mut self.metrics {
            let sink = match metric.submetric {
                Some(index) => merged.submetric(&self.submetrics[index]),
                None => merged.sink(metric.metric).map(std::borrow::Cow::Borrowed),
            };
            for expression in metric.expressions.iter_mut().filter(|expression| expression.windows.is_some()) {
                expression.evaluate_windows(metric.kind, elapsed_ns, self.measured_ns, phase);
                evaluation.abort |= expression.aborts(elapsed_ns);
            }
            if sink.is_none() && phase == Phase::Running {
                if metric.is_tainted() {
                    evaluation.crossed.push(metric.name.clone());
                }
                continue;
            }
            for expression in metric.expressions.iter_mut().filter(|expression| expression.windows.is_none()) {
                expression.evaluate(sink.as_deref(), metric.kind, elapsed_ns, elapsed_ns);
                evaluation.abort |= expression.aborts(elapsed_ns);
            }
            if metric.is_tainted() {
                evaluation.crossed.push(metric.name.clone());
            }
        }
        evaluation.crossed.sort_unstable();
        evaluation
    }
}

impl MetricResult {
    /// Whether any of its expressions failed when last evaluated.
    pub fn is_tainted(&self) -> bool {
        self.expressions.iter().any(|expression| !expression.ok)
    }

    fn has_windows(&self) -> bool {
        self.expressions.iter().any(|expression| expression.windows.is_some())
    }

    fn parse(
        name: &str,
        sources: &[ThresholdSource],
        registry: &Registry,
        submetrics: &mut Vec<SubMetric>,
    ) -> Result<Self, Vec<ThresholdError>> {
        let mut errors = Vec::new();
        let mut error =
            |expression: Option<(usize, &str)>, position: usize, expected: &'static str, message: String| {
                errors.push(ThresholdError {
                    metric: name.to_owned(),
                    expression: expression.map(|(index, text)| (index, text.to_owned())),
                    position,
                    expected,
                    message,
                });
            };
        // k6: expressions are parsed before the name is looked at.
        let mut expressions = Vec::with_capacity(sources.len());
        for (index, source) in sources.iter().enumerate() {
            let place = Some((index, source.expression.as_str()));
            match Expression::parse(&source.expression) {
                Ok(expression) => match source.window.windows() {
                    Ok(windows) => expressions.push((index, ExpressionResult::new(source, expression, windows))),
                    Err(reason) => {
                        let quoted = go_quote(&source.expression);
                        let text = format!("invalid threshold {quoted} applied on metric {name}; reason: {reason}");
                        error(place, 0, "", text);
                    }
                },
                Err(reason) => error(place, reason.position, reason.expected, reason.message),
            }
        }
        let target = ThresholdTarget::parse(name, registry)
            .map_err(|reason| error(None, reason.position, "", reason.message))
            .ok();
        let metric = target.as_ref().map(ThresholdTarget::metric).and_then(|id| registry.find(id));
        for (index, result) in &expressions {
            let method = result.expression.method;
            let Some(metric) = metric.filter(|metric| !method.is_supported_by(metric.kind)) else {
                continue;
            };
            let message = format!(
                "invalid threshold {} applied on metric {name}; reason: unsupported aggregation method {} on metric of type {}. supported aggregation methods for this metric are: {}",
                go_quote(&result.source),
                method.as_str(),
                metric.kind,
                expression::supported_methods(metric.kind)
            );
            let position = result.source.len() - result.source.trim_start().len();
            error(Some((*index, &result.source)), position, "", message);
        }
        let expressions = expressions.into_iter().map(|(_, result)| result).collect();
        let (Some(target), Some(metric), true) = (target, metric, errors.is_empty()) else {
            return Err(errors);
        };
        let (name, submetric) = match target {
            ThresholdTarget::Metric(_) => (name.to_owned(), None),
            ThresholdTarget::SubMetric(submetric) => {
                submetrics.push(submetric.clone());
                (submetric.name, Some(submetrics.len() - 1))
            }
        };
        Ok(Self { name, metric: metric.id, submetric, expressions, kind: metric.kind })
    }
}

impl ExpressionResult {
    fn new(source: &ThresholdSource, expression: Expression, windows: Option<Windows>) -> Self {
        let is_windowed = windows.as_ref().is_some_and(|windows| !windows.is_endless());
        Self {
            source: match &windows {
                Some(windows) => format!("{}{}", source.expression, windows.label()),
                None => source.expression.clone(),
            },
            expression,
            abort_on_fail: source.abort_on_fail,
            delay_abort_eval_ns: source.delay_abort_eval_ns,
            ok: true,
            observed: None,
            history: History { is_windowed, ..History::default() },
            windows,
        }
    }

    /// `length_ns` is the time the samples come from.
    fn evaluate(&mut self, sink: Option<&Sink>, kind: MetricKind, length_ns: u64, elapsed_ns: u64) {
        let observed = sink.and_then(|sink| self.expression.method.observe(sink, length_ns)).unwrap_or(0.0);
        // k6: a rate without samples passes.
        let passes_empty = sink.is_none() && kind == MetricKind::Rate;
        self.observed = Some(observed);
        self.ok = passes_empty || self.expression.holds(observed);
        // What holds only because nothing was measured was not judged. A counter without samples is 0.
        if sink.is_some() || !self.ok || kind == MetricKind::Counter {
            self.history.note(self.ok);
        }
        if !self.ok {
            self.history.crossed(elapsed_ns);
        }
    }

    /// `measured_ns` is the end of what was measured, in the scenarios' time.
    fn evaluate_windows(&mut self, kind: MetricKind, elapsed_ns: u64, measured_ns: u64, phase: Phase) {
        let Some(windows) = self.windows.take() else { return };
        if !windows.is_endless() {
            self.ok = !windows.is_crossed();
        } else if let Some(length_ns) = measured_ns.checked_sub(windows.after_ns()).filter(|length| *length > 0)
            && (windows.rest().is_some() || phase == Phase::End)
        {
            self.evaluate(windows.rest(), kind, length_ns, elapsed_ns);
        }
        self.windows = Some(windows);
    }

    fn aborts(&self, elapsed_ns: u64) -> bool {
        // k6: strictly less.
        !self.ok && self.abort_on_fail && self.delay_abort_eval_ns.is_none_or(|delay| delay < elapsed_ns)
    }
}

/// Runs both parsers on any text and checks what they promise; for fuzzers.
///
/// # Panics
/// If a promise is broken.
pub fn fuzz_threshold(text: &str) {
    match Expression::parse(text) {
        Ok(expression) => {
            let percentile = if let Method::Percentile(percent) = expression.method { percent } else { 0.0 };
            assert!((0.0..=100.0).contains(&percentile));
            // The same again with all optional blanks.
            assert!(text.is_empty() || Expression::parse(&format!(" {text} ")).is_ok());
        }
        Err(error) => assert!(text.is_char_boundary(error.position)),
    }
    match ThresholdTarget::parse(text, &Registry::new()) {
        Ok(ThresholdTarget::SubMetric(submetric)) => assert!(!submetric.tags.is_empty()),
        Ok(ThresholdTarget::Metric(_)) => {}
        Err(error) => assert!(text.is_char_boundary(error.position)),
    }
}

#[cfg(test)]
mod tests;
