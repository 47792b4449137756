//! The compact and the full layout: titled sections with blocks of metrics.

use std::borrow::Cow;

use super::{
    palette::Palette,
    table::{Row, Widths},
};
use crate::{
    registry::Contains,
    summary::{
        mode::SummaryMode,
        model::{CheckTotal, MetricSummary, Scope, SummaryModel, ThresholdSummary, check_counts},
        number,
    },
};

/// Columns before the contents of a section, and how many more each nested group has.
const INDENT: usize = 4;
const INDENT_STEP: usize = 2;

/// The blocks of metrics in their order; the first one takes what no prefix claims.
///
/// k6: `browser_web_vital_` is a block of its own although `browser_` claims it too.
const BLOCKS: [(&str, &[&str]); 8] = [
    ("CUSTOM", &[]),
    (
        "HTTP",
        &[
            "http_reqs",
            "http_req_failed",
            "http_req_duration",
            "http_req_blocked",
            "http_req_connecting",
            "http_req_receiving",
            "http_req_sending",
            "http_req_tls_handshaking",
            "http_req_waiting",
        ],
    ),
    ("EXECUTION", &["vus", "iterations", "iteration_duration", "dropped_iterations"]),
    ("NETWORK", &["data_sent", "data_received"]),
    ("BROWSER", &["browser_"]),
    ("WEB_VITALS", &["browser_web_vital_"]),
    ("GRPC", &["grpc_"]),
    ("WEBSOCKET", &["ws_"]),
];

/// The text of the layout.
///
/// `is_exact`: as k6 has it, also where that shows thresholds without samples as passed.
pub(super) fn render(model: &SummaryModel, mode: SummaryMode, is_exact: bool, palette: &Palette) -> String {
    let mut writer = Writer { model, mode, is_exact, palette, text: String::new() };
    if model.metrics.iter().any(|metric| !metric.thresholds.is_empty()) {
        writer.title("THRESHOLDS");
        writer.thresholds();
    }
    writer.title("TOTAL RESULTS");
    writer.body(&model.metrics, &model.checks, check_counts(&model.metrics, &model.checks), INDENT);
    if mode == SummaryMode::Full {
        for group in &model.groups {
            writer.title(&format!("GROUP: {}", plain(&group.name)));
            writer.scope(group, INDENT);
        }
        for scenario in &model.scenarios {
            writer.title(&format!("SCENARIO: {}", scenario.name));
            writer.scope(scenario, INDENT);
        }
    }
    writer.text
}

/// The title of a section.
pub(super) fn title(name: &str, palette: &Palette) -> String {
    format!("\n  █ {} \n\n", palette.bold.on(name))
}

struct Writer<'a> {
    model: &'a SummaryModel,
    mode: SummaryMode,
    is_exact: bool,
    palette: &'a Palette,
    text: String,
}

impl Writer<'_> {
    fn title(&mut self, name: &str) {
        let title = title(name, self.palette);
        self.text.push_str(&title);
    }

    fn line(&mut self, indent: usize, line: &str) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn blank(&mut self) {
        self.text.push('\n');
    }

    fn thresholds(&mut self) {
        let mut judged_parent = None;
        for metric in &self.model.metrics {
            let (parent, tags) = metric.split_name();
            if metric.thresholds.is_empty() {
                continue;
            }
            let mut indent = INDENT;
            match tags {
                None => {
                    judged_parent = Some(parent);
                    self.line(indent, parent);
                }
                Some(tags) if judged_parent == Some(parent) => {
                    indent += INDENT_STEP;
                    self.line(indent, &format!("{{{tags}}}"));
                }
                Some(_) => self.line(indent, &metric.name),
            }
            for threshold in &metric.thresholds {
                let line = self.threshold(metric, threshold);
                self.line(indent, &line);
            }
            self.blank();
        }
    }

    fn threshold(&self, metric: &MetricSummary, threshold: &ThresholdSummary) -> String {
        let source = threshold.source.trim();
        let method = threshold.method();
        let unjudged = threshold.history.filter(|history| history.judged == 0 && threshold.ok);
        if let Some(history) = unjudged.filter(|_| !self.is_exact) {
            // Neither passed nor failed.
            let source = self.palette.source.on(&format!("'{source}'"));
            return format!("{} {source} ({})", self.palette.warn.on("–"), history.statement());
        }
        let shown = metric.observed(threshold, self.model.run.time_unit);
        let mark = if threshold.ok { self.palette.good.on("✓") } else { self.palette.bad.on("✗") };
        let source = self.palette.source.on(&format!("'{source}'"));
        let line = format!("{mark} {source} {}={}", self.palette.source.on(method), self.palette.value.on(&shown));
        let is_exact_none = self.is_exact && unjudged.is_some_and(|history| !history.is_windowed);
        match threshold.history.filter(|history| history.is_telling() && !is_exact_none) {
            Some(history) => format!("{line} ({})", history.statement()),
            None => line,
        }
    }

    /// A group's or scenario's own results, then its groups.
    fn scope(&mut self, scope: &Scope, indent: usize) {
        self.body(&scope.metrics, &scope.checks, scope.check_counts(), indent);
        for group in &scope.groups {
            let title = format!("↳ {} ", self.palette.bold.on(&format!("GROUP: {}", plain(&group.name))));
            self.line(indent, &title);
            self.blank();
            // The depth is bounded where the tree is made.
            self.scope(group, indent + INDENT_STEP);
        }
    }

    fn body(&mut self, metrics: &[MetricSummary], checks: &[CheckTotal], counts: Option<(u64, u64)>, indent: usize) {
        if let Some((passes, fails)) = counts {
            let rows = Row::checks(passes, fails, self.model);
            let widths = Widths::of(&rows);
            for row in rows {
                self.line(indent, &row.render(&widths, self.palette));
            }
            self.blank();
            for check in checks {
                self.check(check, indent);
            }
            self.blank();
        }
        let shown = metrics.iter().filter(|metric| !self.mode.hides(&metric.name));
        let rows: Vec<(&str, Row)> = shown
            .map(|metric| {
                let name = metric.split_name().1.map_or_else(|| metric.name.clone(), |tags| format!("  {{ {tags} }}"));
                (block_of(&metric.name), Row::metric(name, metric, self.model.run.time_unit))
            })
            .collect();
        let widths = Widths::of(rows.iter().map(|(_, row)| row));
        for (block, _) in BLOCKS {
            let mut inside = rows.iter().filter(|(name, _)| *name == block).peekable();
            if inside.peek().is_none() {
                continue;
            }
            self.line(indent, &self.palette.bold.on(block));
            for (_, row) in inside {
                self.line(indent, &row.render(&widths, self.palette));
            }
            self.blank();
        }
    }

    fn check(&mut self, check: &CheckTotal, indent: usize) {
        if check.fails == 0 {
            return self.line(indent, &self.palette.good.on(&format!("✓ {}", plain(&check.name))));
        }
        self.line(indent, &self.palette.bad.on(&format!("✗ {}", plain(&check.name))));
        // k6: indents these lines twice, which shows in nested groups.
        self.line(2 * indent - INDENT_STEP, &self.palette.bad.on(&outcome(check.passes, check.fails)));
    }
}

/// The counts below a check that failed.
pub(super) fn outcome(passes: u64, fails: u64) -> String {
    let percent = (100.0 * crate::summary::model::share(passes, fails)).floor();
    format!("↳  {}% — ✓ {passes} / ✗ {fails}", number::value(percent, Contains::Default, None))
}

/// Names are the script's, or a server's: what steers a terminal is shown and not obeyed, and no line of one looks like a
/// line of the summary.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' => plain.push_str(LINE_OF_A_NAME),
            // k6: tabs stay as they are.
            '\t' => plain.push(char),
            _ if char.is_control() => plain.push('\u{fffd}'),
            _ => plain.push(char),
        }
    }
    Cow::Owned(plain)
}

/// What parts the lines of a name: all after the first are further to the right than any line of the summary but those of
/// deeply nested groups.
const LINE_OF_A_NAME: &str = "\n                    ";

fn block_of(metric: &str) -> &'static str {
    let claims = |(name, prefixes): &(&'static str, &[&str])| {
        let longest = prefixes.iter().filter(|prefix| metric.starts_with(**prefix)).map(|prefix| prefix.len()).max()?;
        Some((longest, *name))
    };
    BLOCKS.iter().filter_map(claims).max().map_or(BLOCKS[0].0, |(_, name)| name)
}
