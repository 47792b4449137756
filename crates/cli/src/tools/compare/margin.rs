//! `--margin`: what is too small to matter.

use std::collections::BTreeMap;

use onrush_analysis::compare::{Judged, Margin, Measure, Statistic};

use crate::failure::Failure;

/// What was asked for; the usual ones for the rest.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Margins {
    /// Of all measures but shares.
    all: Option<f64>,
    by_metric: BTreeMap<String, f64>,
}

impl Margins {
    /// Reads `SIZE` and `METRIC=SIZE`, in percent.
    ///
    /// # Errors
    /// 255 for what is no size.
    pub(super) fn parse(texts: &[String]) -> Result<Self, Failure> {
        let mut margins = Self::default();
        for text in texts {
            // A sub-metric's tags may have an equals sign.
            let (metric, size) =
                text.rsplit_once('=').map_or((None, text.as_str()), |(metric, size)| (Some(metric), size));
            let number = size.strip_suffix('%').unwrap_or(size).trim().parse::<f64>().ok();
            let Some(percent) = number.filter(|percent| *percent > 0.0 && *percent < 100.0) else {
                return Err(Failure::other(format!("invalid --margin \"{text}\""))
                    .hint("use a percentage above 0 and below 100, such as 5% or http_req_failed=0.5%"));
            };
            match metric {
                Some(metric) => _ = margins.by_metric.insert(metric.trim().to_owned(), percent / 100.0),
                None => margins.all = Some(percent / 100.0),
            }
        }
        Ok(margins)
    }

    /// Metrics that were named and are none of these.
    pub(super) fn unused<'a>(&'a self, judged: &'a [Judged]) -> impl Iterator<Item = &'a str> {
        let is_unused = |metric: &&str| !judged.iter().any(|row| row.measure.metric == **metric);
        self.by_metric.keys().map(String::as_str).filter(is_unused)
    }

    /// Of a measure.
    pub(super) fn of(&self, measure: &Measure) -> Margin {
        let for_all = self.all.filter(|_| measure.statistic != Statistic::Share);
        let own = self.by_metric.get(&measure.metric).copied().or(for_all);
        own.map_or_else(|| Margin::usual(measure.statistic), Margin)
    }
}

#[cfg(test)]
mod tests {
    use onrush_analysis::compare::Direction;

    use super::*;

    #[test]
    fn sizes_are_percentages() {
        let parse = |texts: &[&str]| Margins::parse(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
        let margin = |margins: &Margins, metric: &str, statistic| {
            margins.of(&Measure { metric: metric.to_owned(), statistic, direction: Direction::Lower }).0
        };
        let margins = parse(&["3", "a{b:c=d}=0.5%"]).expect("valid");
        assert_eq!(margin(&margins, "x", Statistic::Mean), 0.03);
        assert_eq!(margin(&margins, "x", Statistic::Share), 0.001);
        assert_eq!(margin(&margins, "a{b:c=d}", Statistic::Share), 0.005);
        assert_eq!(margin(&Margins::default(), "x", Statistic::Quantile(0.5)), 0.05);
        for wrong in ["", "x", "0", "-1%", "100%", "a=", "NaN", "inf"] {
            assert!(parse(&[wrong]).is_err(), "{wrong}");
        }
    }
}
