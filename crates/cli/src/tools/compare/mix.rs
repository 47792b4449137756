//! Two runs that made other shares of each request, as if they had made the same: what is left is the system's difference.

use onrush_analysis::compare::{Cells, Measure, Part, mixed_quantile};
use onrush_metrics::{Histogram, Registry};
use serde_json::{Value, json};

use super::{
    figures::{number, percent},
    run::{self, Recorded},
};

/// Percentiles with the mix of the first run.
pub(super) struct Adjusted {
    /// The quantile, and both values.
    rows: Vec<(f64, f64, f64)>,
    /// Requests of names that both runs have, of all of the first run's; 0 to 1.
    covered: f64,
}

const METRIC: &str = "http_req_duration";
const QUANTILES: [f64; 3] = [0.5, 0.95, 0.99];

impl Adjusted {
    /// `None` where there is nothing to weigh.
    pub(super) fn of(before: &Recorded, after: &Recorded, parts: &[Part; 2]) -> Option<Self> {
        let both: Vec<(Histogram, Histogram)> = run::names(before, after)
            .iter()
            .filter_map(|Measure { metric, .. }| {
                Some((all(before.timeline.cells(metric, &parts[0])?)?, all(after.timeline.cells(metric, &parts[1])?)?))
            })
            .collect();
        let covered: f64 = both.iter().map(|(old, _)| old.count() as f64).sum();
        let weighed = |of: fn(&(Histogram, Histogram)) -> &Histogram, q: f64| {
            let parts: Vec<(f64, &Histogram)> = both.iter().map(|pair| (pair.0.count() as f64, of(pair))).collect();
            mixed_quantile(&parts, q)
        };
        let row = |q: f64| Some((q, weighed(|pair| &pair.0, q)?, weighed(|pair| &pair.1, q)?));
        let rows: Vec<_> = QUANTILES.into_iter().filter_map(row).collect();
        // The part that is compared is less than the run.
        let whole: f64 = all(before.timeline.cells(METRIC, &parts[0])?)?.count() as f64;
        let covered = covered / whole;
        (both.len() > 1 && !rows.is_empty()).then_some(Self { rows, covered: covered.min(1.0) })
    }

    pub(super) fn to_text(&self, registry: &Registry) -> String {
        let mut text = format!(
            "\n  {METRIC} as if both had made the first run's mix of requests (of {:.0} % of them; without intervals)\n\n",
            self.covered * 100.0
        );
        for (q, before, after) in &self.rows {
            let statistic = onrush_analysis::compare::Statistic::Quantile(*q);
            let value = |value: f64| number(value, METRIC, statistic, registry);
            let name = statistic.to_string();
            let change = percent(after / before - 1.0);
            text.push_str(&format!("  {name:<9} {:>10} {:>10} {change:>12}\n", value(*before), value(*after)));
        }
        text
    }

    pub(super) fn to_json(&self) -> Value {
        let row = |(q, before, after): &(f64, f64, f64)| json!({ "metric": METRIC, "quantile": q, "before": before, "after": after, "change": after / before - 1.0 });
        json!({ "covered": self.covered, "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }
}

/// All values of cells.
fn all(cells: Cells) -> Option<Histogram> {
    let Cells::Values(cells) = cells else { return None };
    let mut sum = Histogram::new();
    cells.iter().for_each(|cell| sum.merge(cell));
    (!sum.is_empty()).then_some(sum)
}
