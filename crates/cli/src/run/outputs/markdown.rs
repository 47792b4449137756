//! `--out markdown=FILE`, and the job summary on GitHub: the result of a run as a page of Markdown.

use onrush_metrics::summary::{MetricSummary, MetricValues, SummaryModel, TimeUnit, Verdict, value, with_commas};

use super::{
    asked::Asked,
    at_end,
    cases::{Outcome, model, suites},
    output::{Finished, Wish},
};
use crate::failure::Failure;

/// The file where none is named.
const FILE: &str = "summary.md";
/// Rows of a table: GitHub cuts pages at a megabyte.
const ROWS_MAX: usize = 200;
/// Characters of a name that are shown.
const NAME_MAX: usize = 200;

/// `markdown=FILE`.
pub(super) fn read(asked: &Asked<'_>) -> Result<Wish, Failure> {
    at_end::read(asked, FILE, "Markdown page", |finished| page(finished, &model(finished)).into_bytes())
}

/// The page of a run.
pub(super) fn page(finished: &Finished<'_>, model: &SummaryModel) -> String {
    let [thresholds, checks, ..] = suites(model, finished);
    let failed = thresholds.failures().count();
    let (mark, verdict) = match (finished.end.exit_code, thresholds.cases.len()) {
        (0, 0) => ("✅", "passed (no thresholds)".to_owned()),
        (0, count) => ("✅", format!("passed, {count} of {count} thresholds held")),
        (_, count) if failed > 0 => ("❌", format!("failed, {failed} of {count} thresholds crossed")),
        (code, _) => ("❌", format!("failed with exit code {code}")),
    };
    let mut text = format!("### {mark} {}: {verdict}\n\n", code(&finished.args.script.file));
    let mut why = finished.failed_by.unwrap_or_default();
    if let Some(stopped) = &finished.end.stopped {
        text += &format!("Ended early: {}\n\n", shown(stopped));
        // What ended it is the first of what made it fail, unless that was a threshold.
        why = why.strip_prefix(stopped.as_str()).unwrap_or(why).trim_start_matches("; ");
    }
    if !why.is_empty() {
        text += &format!("{}\n\n", shown(why));
    }
    let judgement = finished.judgement;
    if judgement.verdict != Verdict::Valid {
        text += &format!(
            "⚠️ **The measurement is {}:** {}\n\n",
            judgement.verdict.as_str(),
            shown(&judgement.reasons.join("; "))
        );
    }
    let rows = thresholds.cases.iter().map(|case| {
        let (mark, why) = match &case.result {
            Outcome::Passed => ("✅", String::new()),
            Outcome::Failed(why) => ("❌", shown(why)),
            Outcome::Skipped(why) => ("➖", shown(why)),
        };
        format!("| {mark} | {} | {} | {why} |\n", code(&case.class), code(&case.name))
    });
    table(&mut text, "| | metric | threshold | |\n|---|---|---|---|\n", rows);
    let rows = checks.cases.iter().map(|case| {
        let (mark, why) = match &case.result {
            Outcome::Failed(why) => ("❌", why.as_str()),
            Outcome::Passed | Outcome::Skipped(_) => ("✅", "all held"),
        };
        let group = if case.class == "checks" { String::new() } else { code(&case.class) };
        format!("| {mark} | {} | {group} | {why} |\n", code(&case.name))
    });
    table(&mut text, "| | check | group | |\n|---|---|---|---|\n", rows);
    let unit = model.run.time_unit;
    let rows = model.metrics.iter().map(|metric| format!("| {} | {} |\n", code(&metric.name), numbers(metric, unit)));
    table(&mut text, "| metric | |\n|---|---|\n", rows);
    text
}

/// A table of at most so many rows; none where there are no rows.
fn table(text: &mut String, head: &str, rows: impl ExactSizeIterator<Item = String>) {
    let count = rows.len();
    if count == 0 {
        return;
    }
    *text += head;
    rows.take(ROWS_MAX).for_each(|row| *text += &row);
    if count > ROWS_MAX {
        *text += &format!("\n{} more are not shown.\n", with_commas((count - ROWS_MAX) as u64));
    }
    text.push('\n');
}

fn numbers(metric: &MetricSummary, unit: Option<TimeUnit>) -> String {
    let told = |number: f64| shown(&value(number, metric.contains, unit));
    match &metric.values {
        MetricValues::Counter { count, rate } => format!("{} ({}/s)", told(*count), told(*rate)),
        MetricValues::Gauge { value, min, max } => format!("{} (min {}, max {})", told(*value), told(*min), told(*max)),
        MetricValues::Rate { rate, passes, fails } => {
            format!("{:.2}% ({passes} of {})", rate * 100.0, passes.saturating_add(*fails))
        }
        MetricValues::Trend(trend) => {
            let column = |(stat, number): &(onrush_metrics::summary::TrendStat, f64)| {
                let is_count = stat.name() == "count";
                format!("{} {}", stat.name(), if is_count { number.to_string() } else { told(*number) })
            };
            trend.columns.iter().map(column).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A name that somebody chose.
fn code(text: &str) -> String {
    format!("<code>{}</code>", shown(text))
}

/// A text in a cell: nothing in it is Markdown, HTML or the end of a row.
fn shown(text: &str) -> String {
    let mut out = String::new();
    for sign in text.chars().take(NAME_MAX) {
        if sign.is_control() {
            out.push(' ');
        } else if sign.is_ascii_punctuation()
            && !matches!(sign, '(' | ')' | ',' | '.' | ';' | '/' | '-' | '%' | '=' | '?')
        {
            out += &format!("&#{};", sign as u32);
        } else {
            out.push(sign);
        }
    }
    if text.chars().nth(NAME_MAX).is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_cell() {
        assert_eq!(code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(
            shown("<img src=x>\n# `x` [a](b) *c*"),
            "&#60;img src=x&#62; &#35; &#96;x&#96; &#91;a&#93;(b) &#42;c&#42;"
        );
        assert_eq!(shown("p(95)=1.5ms, 50%"), "p(95)=1.5ms, 50%");
        assert_eq!(shown(&"x".repeat(201)).chars().count(), 201);
    }
}
