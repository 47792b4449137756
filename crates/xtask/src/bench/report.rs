//! What is printed: tables of medians, and the limits with their verdicts.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::machine::Machine;

/// A table of text.
#[derive(Debug, Clone)]
pub(super) struct Table {
    title: String,
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
    notes: Vec<String>,
    /// Columns that hold words: left-aligned. The others hold numbers.
    words: usize,
}

impl Table {
    pub(super) fn new(title: impl Into<String>, columns: &[&'static str]) -> Self {
        Self { title: title.into(), columns: columns.to_vec(), rows: Vec::new(), notes: Vec::new(), words: 1 }
    }

    pub(super) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.columns.len(), "a cell for each column");
        self.rows.push(cells.to_vec());
    }

    pub(super) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    fn write(&self, out: &mut String) {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain([self.columns[column].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let line = |out: &mut String, cells: &[&str]| {
            out.push(' ');
            for (column, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                let gap = if column == 0 { " " } else { "  " };
                let _ = if column < self.words {
                    write!(out, "{gap}{cell:<width$}")
                } else {
                    write!(out, "{gap}{cell:>width$}")
                };
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        };
        let _ = writeln!(out, "{}\n", self.title);
        line(out, &self.columns);
        for row in &self.rows {
            line(out, &row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        for note in &self.notes {
            let _ = writeln!(out, "  {note}");
        }
        out.push('\n');
    }
}

/// A promise and how it was kept.
#[derive(Debug, Clone)]
struct Limit {
    part: &'static str,
    what: String,
    /// `None` when it could not be measured.
    value: Option<f64>,
    bound: Bound,
    unit: &'static str,
}

/// What a value must not pass.
#[derive(Debug, Clone, Copy)]
pub(super) enum Bound {
    AtMost(f64),
    AtLeast(f64),
}

impl Limit {
    fn kept(&self) -> bool {
        self.value.is_some_and(|value| match self.bound {
            Bound::AtMost(bound) => value <= bound,
            Bound::AtLeast(bound) => value >= bound,
        })
    }

    fn cells(&self) -> [String; 5] {
        let value =
            self.value.map_or_else(|| "not measured".to_owned(), |value| format!("{}{}", number(value), self.unit));
        let bound = match self.bound {
            Bound::AtMost(bound) => format!("≤ {}{}", number(bound), self.unit),
            Bound::AtLeast(bound) => format!("≥ {}{}", number(bound), self.unit),
        };
        let verdict = if self.kept() { "PASS" } else { "FAIL" };
        [self.part.to_owned(), self.what.clone(), value, bound, verdict.to_owned()]
    }
}

/// Everything to be printed at the end.
#[derive(Debug, Default)]
pub(super) struct Report {
    tables: Vec<Table>,
    limits: Vec<Limit>,
    runs: usize,
    disturbed: usize,
}

impl Report {
    pub(super) fn table(&mut self, table: Table) {
        self.tables.push(table);
    }

    /// Judges a value; `None` is a limit that is missed.
    pub(super) fn limit(
        &mut self,
        part: &'static str,
        what: impl Into<String>,
        value: Option<f64>,
        bound: Bound,
        unit: &'static str,
    ) {
        self.limits.push(Limit { part, what: what.into(), value, bound, unit });
    }

    pub(super) fn could_not_measure(&mut self, part: &'static str, why: &str) {
        let why = why.lines().next().unwrap_or(why);
        self.limit(part, format!("could not be measured: {why}"), None, Bound::AtLeast(0.0), "");
    }

    /// Counts a measurement and whether other programs disturbed it.
    pub(super) fn ran(&mut self, disturbed: bool) {
        self.runs += 1;
        self.disturbed += usize::from(disturbed);
    }

    pub(super) fn limits(&self) -> usize {
        self.limits.len()
    }

    pub(super) fn missed(&self) -> usize {
        self.limits.iter().filter(|limit| !limit.kept()).count()
    }

    /// All of it as text.
    pub(super) fn text(&self, machine: &Machine) -> String {
        let mut text = format!("\n{}\n\n", machine.describe());
        for table in &self.tables {
            table.write(&mut text);
        }
        let mut verdicts = Table::new("Limits", &["part", "what", "measured", "limit", "verdict"]);
        verdicts.words = 2;
        for limit in &self.limits {
            verdicts.row(limit.cells());
        }
        if self.disturbed > 0 {
            verdicts.note(format!(
                "{} of {} measurements were disturbed: other programs took over {:.0} % of the CPUs. Repeat on a quiet machine.",
                self.disturbed,
                self.runs,
                DISTURBED * 100.0
            ));
        }
        verdicts.write(&mut text);
        text
    }

    /// The limits for the raw results.
    pub(super) fn to_json(&self) -> Value {
        let limits = self.limits.iter().map(|limit| {
            let (bound, kind) = match limit.bound {
                Bound::AtMost(bound) => (bound, "at most"),
                Bound::AtLeast(bound) => (bound, "at least"),
            };
            json!({ "part": limit.part, "what": limit.what, "value": limit.value, "unit": limit.unit, "bound": bound, "kind": kind, "kept": limit.kept() })
        });
        json!({ "limits": limits.collect::<Vec<_>>(), "measurements": self.runs, "disturbed": self.disturbed })
    }
}

/// A number with about three digits that mean something.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 {
        let whole = format!("{:.0}", size);
        let mut grouped = String::new();
        for (index, digit) in whole.chars().enumerate() {
            if index > 0 && (whole.len() - index).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        return if value < 0.0 { format!("-{grouped}") } else { grouped };
    }
    match size {
        100.0.. => format!("{value:.0}"),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// So many rounds, in words.
pub(super) fn medians(rounds: usize) -> String {
    if rounds == 1 { "one round".to_owned() } else { format!("medians of {rounds} rounds") }
}

/// The same as [`number`], or a dash.
pub(super) fn cell(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), number)
}

/// The share of the CPUs other programs may take before a measurement counts as disturbed.
pub(super) const DISTURBED: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (value, expect) in [
            (0.0, "0.000"),
            (0.19555, "0.196"),
            (1.5, "1.50"),
            (12.345, "12.3"),
            (123.4, "123"),
            (12_345.6, "12,346"),
            (1_234_567.0, "1,234,567"),
            (-4321.0, "-4,321"),
        ] {
            assert_eq!(number(value), expect);
        }
    }

    #[test]
    fn tables_line_up() {
        let mut table = Table::new("Title", &["client", "µs", "ratio"]);
        table.row(["onrush".to_owned(), "9.90".to_owned(), "–".to_owned()]);
        table.row(["wrk".to_owned(), "10.3".to_owned(), "0.961".to_owned()]);
        let mut text = String::new();
        table.write(&mut text);
        assert_eq!(text, "Title\n\n  client    µs  ratio\n  onrush  9.90      –\n  wrk     10.3  0.961\n\n");
    }

    #[test]
    fn what_is_not_measured_is_missed() {
        let mut report = Report::default();
        report.limit("a", "low", Some(1.0), Bound::AtMost(1.0), "");
        report.limit("a", "high", Some(5999.0), Bound::AtLeast(6000.0), " VUs");
        report.could_not_measure("b", "no server");
        assert_eq!((report.limits(), report.missed()), (3, 2));
    }
}
