//! Thresholds: the test's own verdict, read from the merged metrics.
//!
//! [`Thresholds::parse`] checks all of the `thresholds` option at once;
//! [`Thresholds::evaluate`] is called every two seconds and once at the end.
//! What a failed threshold does to the run is the caller's business.

mod expression;
mod go;

use std::collections::BTreeMap;

pub use expression::{Expression, ExpressionError, Method, Operator};
pub(crate) use go::go_quote;

use crate::merged::Merged;
use crate::registry::{MetricId, MetricKind, Registry};
use crate::sink::Sink;
use crate::submetric::{SubMetric, Target};

/// One entry of the `thresholds` option.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdSource {
    /// As written.
    pub expression: String,
    /// Whether failing ends the run.
    pub abort_on_fail: bool,
    /// How much of the run must have passed before it may end it, in nanoseconds.
    pub delay_abort_eval_ns: Option<u64>,
}

/// The thresholds of a run and how they stand.
#[derive(Clone, Debug, Default)]
pub struct Thresholds {
    metrics: Vec<MetricResult>,
    submetrics: Vec<SubMetric>,
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
    /// As written.
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
    /// The expression at fault; `None` if the name is.
    pub expression: Option<String>,
    /// Byte offset of the first offending character in the expression, or in the name.
    pub position: usize,
    /// k6's text.
    pub message: String,
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

    /// Evaluates everything measured so far, `elapsed_ns` after the run began.
    pub fn evaluate(&mut self, merged: &Merged, elapsed_ns: u64, phase: Phase) -> Evaluation {
        let mut evaluation = Evaluation::default();
        for metric in &mut self.metrics {
            let sink = match metric.submetric {
                Some(index) => merged.submetric(&self.submetrics[index]),
                None => merged.sink(metric.metric).map(std::borrow::Cow::Borrowed),
            };
            if sink.is_none() && phase == Phase::Running {
                continue;
            }
            for expression in &mut metric.expressions {
                expression.evaluate(sink.as_deref(), metric.kind, elapsed_ns);
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

    fn parse(
        name: &str,
        sources: &[ThresholdSource],
        registry: &Registry,
        submetrics: &mut Vec<SubMetric>,
    ) -> Result<Self, Vec<ThresholdError>> {
        let mut errors = Vec::new();
        let mut error = |expression: Option<&str>, position: usize, message: String| {
            errors.push(ThresholdError {
                metric: name.to_owned(),
                expression: expression.map(str::to_owned),
                position,
                message,
            });
        };
        // k6: expressions are parsed before the name is looked at.
        let mut expressions = Vec::with_capacity(sources.len());
        for source in sources {
            match Expression::parse(&source.expression) {
                Ok(expression) => expressions.push(ExpressionResult::new(source, expression)),
                Err(reason) => error(Some(&source.expression), reason.position, reason.message),
            }
        }
        let target = Target::parse(name, registry).map_err(|reason| error(None, reason.position, reason.message)).ok();
        let metric = target.as_ref().map(Target::metric).and_then(|id| registry.find(id));
        for result in &expressions {
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
            error(Some(&result.source), position, message);
        }
        let (Some(target), Some(metric), true) = (target, metric, errors.is_empty()) else {
            return Err(errors);
        };
        let (name, submetric) = match target {
            Target::Metric(_) => (name.to_owned(), None),
            Target::SubMetric(submetric) => {
                submetrics.push(submetric.clone());
                (submetric.name, Some(submetrics.len() - 1))
            }
        };
        Ok(Self { name, metric: metric.id, submetric, expressions, kind: metric.kind })
    }
}

impl ExpressionResult {
    fn new(source: &ThresholdSource, expression: Expression) -> Self {
        Self {
            source: source.expression.clone(),
            expression,
            abort_on_fail: source.abort_on_fail,
            delay_abort_eval_ns: source.delay_abort_eval_ns,
            ok: true,
            observed: None,
        }
    }

    fn evaluate(&mut self, sink: Option<&Sink>, kind: MetricKind, elapsed_ns: u64) {
        let observed = sink.and_then(|sink| self.expression.method.observe(sink, elapsed_ns)).unwrap_or(0.0);
        // k6: a rate without samples passes.
        let passes_empty = sink.is_none() && kind == MetricKind::Rate;
        self.observed = Some(observed);
        self.ok = passes_empty || self.expression.holds(observed);
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
    match Target::parse(text, &Registry::new()) {
        Ok(Target::SubMetric(submetric)) => assert!(!submetric.tags.is_empty()),
        Ok(Target::Metric(_)) => {}
        Err(error) => assert!(text.is_char_boundary(error.position)),
    }
}

#[cfg(test)]
mod tests;
