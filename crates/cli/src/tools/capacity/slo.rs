//! `--slo`: what a load has to hold.

use std::collections::BTreeMap;

use onrush_metrics::{Registry, ThresholdSource, Thresholds};

use crate::failure::Failure;

/// A goal: a metric with an expression, as thresholds have them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slo {
    /// As written.
    pub(super) text: String,
    /// The sub-metric of the measured part.
    pub(super) metric: String,
    /// `p(95)<200`
    pub(super) expression: String,
}

impl Slo {
    /// Reads `METRIC EXPRESSION`, such as `http_req_duration p(95)<200`.
    ///
    /// # Errors
    /// 255 for what is no goal, or of a metric that the script has not.
    pub(super) fn parse(text: &str, registry: &Registry) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::other(format!("invalid --slo \"{text}\": {why}"))
                .hint("use a metric and a threshold on it, such as 'http_req_duration p(95)<200'")
        };
        // Tags may have spaces.
        let end = text.rfind('}').map_or(0, |brace| brace + 1);
        let cut = text[end..].find(char::is_whitespace).ok_or_else(|| wrong("there is no space between the two"))?;
        let (metric, expression) = (text[..end + cut].trim(), text[end + cut..].trim());
        let metric = within(metric);
        let source = ThresholdSource { expression: expression.to_owned(), ..ThresholdSource::default() };
        let sources: BTreeMap<String, Vec<ThresholdSource>> = [(metric.clone(), vec![source])].into();
        Thresholds::parse(&sources, registry).map_err(|errors| {
            wrong(&errors.first().map(ToString::to_string).unwrap_or_else(|| "it cannot be read".to_owned()))
        })?;
        Ok(Self { text: text.to_owned(), metric, expression: expression.to_owned() })
    }
}

/// Where what is measured has its name.
pub(super) const MEASURED: &str = "measured";

/// The part of a metric that counts.
pub(super) fn within(metric: &str) -> String {
    match metric.strip_suffix('}') {
        Some(tags) => format!("{tags},scenario:{MEASURED}}}"),
        None => format!("{metric}{{scenario:{MEASURED}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_thresholds_on_what_is_measured() {
        let parse = |text: &str| Slo::parse(text, &Registry::new()).map(|slo| (slo.metric, slo.expression));
        let slo = |metric: &str, expression: &str| Ok::<_, String>((metric.to_owned(), expression.to_owned()));
        let text = |text: &str| parse(text).map_err(|failure| failure.message);
        assert_eq!(text("http_req_duration p(95)<200"), slo("http_req_duration{scenario:measured}", "p(95)<200"));
        assert_eq!(
            text("http_req_failed{name:a b}  rate < 0.01"),
            slo("http_req_failed{name:a b,scenario:measured}", "rate < 0.01")
        );
        for wrong in ["http_req_duration", "http_req_duration p(95)", "nothing p(95)<3", ""] {
            assert!(text(wrong).is_err_and(|error| error.starts_with("invalid --slo")), "{wrong}");
        }
    }
}
