//! Rates and percentiles: numbers, and sparklines of how they went.

use onrush_metrics::Histogram;
use ratatui::layout::Rect;

use super::canvas::{BAD, BOLD, Canvas, DIM, PLAIN};
use crate::{
    full_screen::{
        glance::{Glance, share},
        history::Column,
    },
    progress::{milliseconds, rounded},
};

/// Columns of the words and numbers before a sparkline.
const NUMBERS: u16 = 40;

/// Requests (or iterations), errors and VUs, a row each.
pub(super) fn rates(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance) {
    let (columns, seconds) = glance.history.fitted(usize::from(area.width.saturating_sub(NUMBERS)));
    let line = |canvas: &Canvas<'_>, of: fn(&Column) -> f64| canvas.signs.sparkline(columns.iter().map(of));
    let per_second = |of: fn(&crate::progress::Measured) -> f64| {
        glance.latest.as_ref().map_or_else(|| "-".to_owned(), |(latest, seconds)| rounded(of(latest) / *seconds as f64))
    };
    let has_requests = glance.whole.requests > 0.0;
    let (what, now, all, curve) = if has_requests {
        let all = format!("{:.0} in all", glance.whole.requests);
        ("requests/s", per_second(|latest| latest.requests), all, line(canvas, |column| column.requests))
    } else {
        let all = format!("{:.0} in all", glance.whole.iterations);
        ("iterations/s", per_second(|latest| latest.iterations), all, line(canvas, |column| column.iterations))
    };
    row(canvas, area, 0, [what, &now, &all, &curve], false);
    let failed = share(glance.whole.failed).map_or_else(|| "-".to_owned(), |share| format!("{share} of all"));
    let curve = line(canvas, |column| column.failed);
    let is_bad = glance.latest.as_ref().is_some_and(|(latest, _)| latest.failed.0 > 0);
    row(canvas, area, 1, ["errors/s", &per_second(|latest| latest.failed.0 as f64), &failed, &curve], is_bad);
    let vus = format!("of {} made", glance.vus_initialized);
    let curve = line(canvas, |column| column.vus as f64);
    row(canvas, area, 2, ["VUs", &glance.vus_active.to_string(), &vus, &curve], false);
    if columns.len() > 1 && seconds > 1 {
        canvas.at_end(area, 0, &format!(" {seconds} s a column"), DIM);
    }
}

fn row(canvas: &mut Canvas<'_>, area: Rect, row: u16, [what, now, all, curve]: [&str; 4], is_bad: bool) {
    let text = format!("{what:<12} {now:>9}  {all:<15} ");
    canvas.spans(area, row, &[(&text, if is_bad { BAD } else { PLAIN }), (curve, PLAIN)]);
}

/// Percentiles of the last seconds and of the run.
pub(super) fn latency(canvas: &mut Canvas<'_>, area: Rect, glance: &Glance) {
    let heated = glance.history.heated();
    let inner = canvas.titled(area, heated.metric(), false);
    let label = |text: &str| format!("{text:<13}");
    let quantiles = |durations: &Histogram| -> String {
        if durations.is_empty() {
            return "nothing yet".to_owned();
        }
        let named = QUANTILES.iter().map(|(name, q)| format!("{name} {:<9}", milliseconds(durations.quantile(*q))));
        let mut text: String = named.collect();
        text.push_str(&format!("max {}", milliseconds(durations.max())));
        text
    };
    let (latest, seconds) = match &glance.latest {
        Some((latest, seconds)) => (quantiles(heated.durations(latest)), *seconds),
        None => ("nothing yet".to_owned(), 3),
    };
    canvas.spans(inner, 0, &[(&label(&format!("last {seconds} s")), BOLD), (&latest, PLAIN)]);
    canvas.spans(inner, 1, &[(&label("whole run"), BOLD), (&quantiles(heated.durations(&glance.whole)), PLAIN)]);
}

const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];
