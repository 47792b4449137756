//! The whole distributions of two runs, for `--curves`: their difference at each quantile, and the shares of values below.

use onrush_analysis::compare::{Below, Cells, CurvePoint, Part, curve, distributions};
use onrush_metrics::Registry;
use serde_json::{Value, json};

use super::{
    figures::{number, percent},
    measures::SEED,
    run::Recorded,
};

/// Of the trend that says best what the runs did.
pub(super) struct Curves {
    pub(super) metric: &'static str,
    points: Vec<CurvePoint>,
    below: Vec<Below>,
}

/// Quantiles that are printed.
const SHOWN: [f64; 9] = [0.05, 0.25, 0.5, 0.75, 0.85, 0.9, 0.95, 0.99, 0.999];
/// Columns of the picture.
const WIDTH: usize = 41;

impl Curves {
    /// `None` where the runs have no trend in common.
    pub(super) fn of(before: &Recorded, after: &Recorded, parts: &[Part; 2]) -> Option<Self> {
        let metric = after.main_trend();
        let cells = |run: &Recorded, part: &Part| run.timeline.cells(metric, part).filter(|cells| !cells.is_empty());
        let (old, new): (Cells, Cells) = (cells(before, &parts[0])?, cells(after, &parts[1])?);
        let points = curve(metric, &old, &new, parts[0].cell_seconds(), SEED);
        (!points.is_empty()).then(|| Self { metric, points, below: distributions(&old, &new) })
    }

    /// A line for each quantile: both values, the difference and its interval as a picture around zero.
    pub(super) fn to_text(&self, registry: &Registry) -> String {
        let shown: Vec<&CurvePoint> = self.points.iter().filter(|point| SHOWN.contains(&point.quantile)).collect();
        let ends = shown.iter().filter_map(|point| point.difference).flat_map(|found| [found.low, found.high, 0.0]);
        let (least, most) = ends.fold((0.0_f64, 0.0_f64), |(least, most), end| (least.min(end), most.max(end)));
        let reach = (most - least).max(f64::MIN_POSITIVE);
        // The casts are exact: columns.
        let column = |size: f64| (((size - least) / reach).clamp(0.0, 1.0) * (WIDTH - 1) as f64).round() as usize;
        let mut text = format!(
            "\n  {}, quantile by quantile (| no difference, * the difference, --- its 95 % interval)\n\n",
            self.metric
        );
        for point in shown {
            let statistic = onrush_analysis::compare::Statistic::Quantile(point.quantile);
            let value = |value: f64| number(value, self.metric, statistic, registry);
            let mut picture = vec![' '; WIDTH];
            let mut change = "cannot tell".to_owned();
            if let Some(found) = point.difference {
                picture[column(found.low)..=column(found.high)].fill('-');
                picture[column(0.0)] = '|';
                picture[column(found.size)] = '*';
                change = percent(found.size);
            }
            let picture: String = picture.into_iter().collect();
            let (name, old, new) = (statistic.to_string(), value(point.before), value(point.after));
            let line = format!("  {name:<9} {old:>10} {new:>10} {change:>12}  {picture}");
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// All points.
    pub(super) fn to_json(&self) -> Value {
        let point = |point: &CurvePoint| {
            json!({
                "quantile": point.quantile,
                "before": point.before,
                "after": point.after,
                "change": point.difference.map(|found| found.size),
                "low": point.difference.map(|found| found.low),
                "high": point.difference.map(|found| found.high),
            })
        };
        let below = |below: &Below| json!({ "value": below.value, "before": below.before, "after": below.after });
        json!({
            "metric": self.metric,
            "quantiles": self.points.iter().map(point).collect::<Vec<_>>(),
            "distributions": self.below.iter().map(below).collect::<Vec<_>>(),
        })
    }
}
