//! Warnings of a run: each is said when it first comes, and at the end how often it came.

use std::{collections::BTreeMap, sync::Arc};

use onrush_metrics::{CardinalityWarning, Thresholds};

use crate::log::{Level, Line, Logger};

/// Fields of a log line.
type Fields = Vec<(String, String)>;

/// What was said.
pub(super) struct Warnings {
    logger: Arc<Logger>,
    /// How often each came.
    counts: BTreeMap<(String, Fields), u64>,
    /// Warnings about tags with too many values that were passed on.
    cardinality: usize,
}

impl Warnings {
    pub(super) fn new(logger: Arc<Logger>) -> Self {
        Self { logger, counts: BTreeMap::new(), cardinality: 0 }
    }

    /// An agent warns of something.
    pub(super) fn take(&mut self, message: String, fields: Fields) {
        let count = self.counts.entry((message.clone(), fields.clone())).or_default();
        *count += 1;
        if *count == 1 {
            self.log(Level::Warn, message, fields);
        }
    }

    /// Logs a line whose fields came from elsewhere.
    pub(super) fn log(&self, level: Level, message: String, fields: Fields) {
        let fields = fields.into_iter().map(|(name, value)| (name.into(), value)).collect();
        onrush_js::log::Sink::line(&*self.logger, Line { level, message, fields });
    }

    /// Says which tags have too many values, if there are new ones.
    pub(super) fn look_at_tags(&mut self, warnings: &[CardinalityWarning], limit: usize, has_outputs: bool) {
        if let Some(new) = warnings.get(self.cardinality..).filter(|new| !new.is_empty()) {
            self.logger.warn(cardinality_warning(new, limit, has_outputs));
        }
        self.cardinality = warnings.len();
    }

    /// How often what was said once came in all.
    pub(super) fn repeat(&self) {
        for ((text, fields), count) in self.counts.iter().filter(|(_, count)| **count > 1) {
            self.log(Level::Warn, format!("{text} ({count} times in all)"), fields.clone());
        }
    }

    /// Writes to built-ins that VUs share, which were refused.
    pub(super) fn trapped(&self, writes: Option<(u64, &str)>) {
        if let Some((count, property)) = writes {
            self.logger.warn(format!(
                "{count} writes to built-ins that VUs share were refused, the last to '{property}'; --vu-isolation isolated allows them"
            ));
        }
    }

    /// Says which thresholds were never judged.
    pub(super) fn unjudged(&self, thresholds: &Thresholds) {
        for threshold in unjudged(thresholds) {
            self.logger.warn(format!(
                "the threshold {threshold} was never judged: there are no samples for it, or the test was over before its warm-up or first window; --fail-on unjudged fails such a test"
            ));
        }
    }
}

/// Thresholds that were never evaluated, and so count as neither passed nor failed.
pub(super) fn unjudged(thresholds: &Thresholds) -> Vec<String> {
    let metrics = thresholds.results().iter().filter(|_| thresholds.is_final());
    let unjudged = metrics.flat_map(|metric| {
        let expressions = metric.expressions.iter().filter(|result| result.history.judged == 0);
        expressions.map(|result| format!("'{}' on {}", result.source, metric.name))
    });
    unjudged.collect()
}

/// What happened, to which tags, and what to do about it.
fn cardinality_warning(warnings: &[CardinalityWarning], limit: usize, has_outputs: bool) -> String {
    let tags: Vec<String> = warnings.iter().map(|warning| format!("'{}'", warning.tag)).collect();
    let noun = if tags.len() == 1 { "tag" } else { "tags" };
    let examples = warnings.first().map(|warning| warning.examples.join(", ")).unwrap_or_default();
    let is_url = warnings.iter().any(|warning| matches!(&*warning.tag, "url" | "name"));
    let fix = if is_url {
        "Give requests whose URLs differ one name: http.get(http.url`https://host/items/${id}`), or { tags: { name: 'item' } } among the parameters"
    } else {
        "Use fewer different values for it, or raise --cardinality-limit"
    };
    let outputs = if has_outputs {
        ". Outputs keep some four times as many values apart on each thread; then they have the same in their place"
    } else {
        ""
    };
    format!(
        "the test has too many time series (limit {limit}) because of the {noun} {}: to bound memory, further values are counted together as '{}', such as {examples}. {fix}{outputs}",
        tags.join(" and "),
        onrush_metrics::OTHER,
    )
}
