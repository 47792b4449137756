//! The layout from before k6 1.0: the group tree with its checks, then one list of metrics.

use super::{
    palette::Palette,
    sections::{outcome, plain},
    table::{Row, Widths},
};
use crate::summary::{
    group::Group,
    model::{MetricSummary, SummaryModel},
};

/// Columns before everything, and how many more each level of groups has.
const INDENT: usize = 5;
const INDENT_STEP: usize = 2;

/// The text of the layout. No line end follows the last line.
pub(super) fn render(model: &SummaryModel, palette: &Palette) -> String {
    let mut lines = Vec::new();
    group(&model.root_group, INDENT, palette, &mut lines);
    let rows: Vec<(&MetricSummary, Row)> = model
        .metrics
        .iter()
        .map(|metric| {
            let name = metric.split_name().1.map_or_else(|| metric.name.clone(), |tags| format!("  {{ {tags} }}"));
            (metric, Row::metric(name, metric, model.run.time_unit))
        })
        .collect();
    let widths = Widths::of(rows.iter().map(|(_, row)| row));
    for (metric, row) in &rows {
        lines.push(marked(metric, &row.render(&widths, palette), palette));
    }
    lines.join("\n")
}

/// Puts the mark of the thresholds into the columns left of the name.
fn marked(metric: &MetricSummary, line: &str, palette: &Palette) -> String {
    if metric.thresholds.is_empty() {
        return spaces(INDENT) + line;
    }
    let ok = metric.thresholds.iter().all(|threshold| threshold.ok);
    let mark = if ok { palette.good.on("✓") } else { palette.bad.on("✗") };
    // The name of a sub-metric starts with the two columns that its mark takes.
    match line.strip_prefix("  ") {
        Some(line) => format!("{}{mark} {line}", spaces(INDENT)),
        None => format!("{}{mark} {line}", spaces(INDENT - INDENT_STEP)),
    }
}

/// The depth of the tree is bounded where it is made.
fn group(node: &Group, indent: usize, palette: &Palette, lines: &mut Vec<String>) {
    let margin = spaces(indent);
    for check in &node.checks {
        // k6: colours the margins, too, and both lines of a failed check as one.
        lines.push(if check.fails == 0 {
            palette.good.on(&format!("{margin}✓ {}", plain(&check.name)))
        } else {
            let detail = outcome(check.passes, check.fails);
            palette.bad.on(&format!("{margin}✗ {}\n{margin} {detail}", plain(&check.name)))
        });
    }
    if !node.checks.is_empty() {
        lines.push(String::new());
    }
    for inner in &node.groups {
        lines.push(format!("{margin}█ {}", plain(&inner.name)));
        lines.push(String::new());
        group(inner, indent + INDENT_STEP, palette, lines);
    }
}

fn spaces(count: usize) -> String {
    " ".repeat(count)
}
