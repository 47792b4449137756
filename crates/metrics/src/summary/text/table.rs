//! Metrics in columns: `name...: value extra extra`, aligned over the rows of one table.

use super::palette::Palette;
use crate::{
    registry::Contains,
    summary::{
        model::{MetricSummary, MetricValues, SummaryModel},
        number,
        trend_stat::TimeUnit,
    },
};

/// The fewest dots after a name; the longest has exactly these.
const DOTS_MIN: usize = 3;

/// One line.
pub(super) struct Row {
    /// What stands before the name and the dots' count includes.
    name: String,
    cells: Cells,
}

enum Cells {
    /// `stat=value` per configured column.
    Trend(Vec<(String, String)>),
    /// A value and what goes with it.
    Plain { value: String, extras: Vec<String> },
}

/// Widths shared by all rows of a section, in characters.
///
/// k6: means to align the whole report, but does so for each section only.
#[derive(Default)]
pub(super) struct Widths {
    name: usize,
    value: usize,
    extras: Vec<usize>,
    trend: Vec<usize>,
}

impl Row {
    /// The row of a metric.
    pub(super) fn metric(name: String, metric: &MetricSummary, unit: Option<TimeUnit>) -> Self {
        let show = |value: f64| number::value(value, metric.contains, unit);
        let cells = match &metric.values {
            MetricValues::Counter { count, rate } => {
                Cells::Plain { value: show(*count), extras: vec![format!("{}/s", show(*rate))] }
            }
            MetricValues::Gauge { value, min, max } => Cells::Plain {
                value: show(*value),
                extras: vec![format!("min={}", show(*min)), format!("max={}", show(*max))],
            },
            MetricValues::Rate { rate, passes, fails } => {
                Cells::share(*rate, *passes, u128::from(*passes) + u128::from(*fails))
            }
            MetricValues::Trend(trend) => Cells::Trend(
                trend
                    .columns
                    .iter()
                    .map(|(stat, value)| {
                        let text = if stat.is_count() { number::to_js(*value) } else { show(*value) };
                        (stat.name().to_owned(), text)
                    })
                    .collect(),
            ),
        };
        Self { name, cells }
    }

    /// The three rows that sum up checks.
    pub(super) fn checks(passes: u64, fails: u64, model: &SummaryModel) -> [Self; 3] {
        let total = u128::from(passes) + u128::from(fails);
        let count = total as f64;
        let show = |value: f64| number::value(value, Contains::Default, model.run.time_unit);
        let rate = |part: u64, rest: u64| Cells::share(crate::summary::model::share(part, rest), part, total);
        let counter = Cells::Plain { value: show(count), extras: vec![format!("{}/s", show(model.per_second(count)))] };
        [("checks_total", counter), ("checks_succeeded", rate(passes, fails)), ("checks_failed", rate(fails, passes))]
            .map(|(name, cells)| Self { name: name.to_owned(), cells })
    }

    /// The line without indentation and line end.
    pub(super) fn render(&self, widths: &Widths, palette: &Palette) -> String {
        let dots = ".".repeat(widths.name.saturating_sub(width(&self.name)) + DOTS_MIN) + ":";
        let cells = match &self.cells {
            Cells::Trend(columns) => {
                let column = |(index, (label, value)): (usize, &(String, String))| {
                    let padding = widths.trend[index].saturating_sub(width(value));
                    format!("{label}={}{}", palette.value.on(value), " ".repeat(padding))
                };
                columns.iter().enumerate().map(column).collect::<Vec<_>>().join(" ")
            }
            Cells::Plain { value, extras } => {
                let mut cells = vec![palette.value.on(value) + &" ".repeat(widths.value.saturating_sub(width(value)))];
                // k6: a single extra is not padded.
                let pads = extras.len() > 1;
                for (extra, column) in extras.iter().zip(&widths.extras) {
                    let padding = if pads { column.saturating_sub(width(extra)) } else { 0 };
                    cells.push(palette.extra.on(extra) + &" ".repeat(padding));
                }
                cells.join(" ")
            }
        };
        format!("{}{} {cells}", self.name, palette.dots.on(&dots))
    }
}

impl Cells {
    fn share(rate: f64, part: u64, total: u128) -> Self {
        Self::Plain { value: number::percent(rate), extras: vec![format!("{part} out of {total}")] }
    }
}

impl Widths {
    /// The widths that fit all rows.
    pub(super) fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut widths = Self::default();
        for row in rows {
            widths.name = widths.name.max(width(&row.name));
            match &row.cells {
                Cells::Trend(columns) => grow(&mut widths.trend, columns.iter().map(|(_, value)| value)),
                Cells::Plain { value, extras } => {
                    widths.value = widths.value.max(width(value));
                    grow(&mut widths.extras, extras);
                }
            }
        }
        widths
    }
}

fn grow<'a>(widths: &mut Vec<usize>, texts: impl IntoIterator<Item = &'a String>) {
    for (index, text) in texts.into_iter().enumerate() {
        if index == widths.len() {
            widths.push(0);
        }
        widths[index] = widths[index].max(width(text));
    }
}

/// k6: characters, whatever room a terminal gives them.
fn width(text: &str) -> usize {
    text.chars().count()
}
