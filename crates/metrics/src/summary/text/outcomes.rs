//! The tables of errors and statuses. There are none where nothing failed.

use super::{
    columns::{Side, cut, lines, with_commas},
    palette::Palette,
    sections::title,
};
use crate::{
    outcome::{Ending, Outcome, Outcomes},
    summary::mode::SummaryMode,
};

/// Rows of a table; the rest is counted.
const ROWS_MAX: usize = 10;
/// Columns of texts and examples: a line fits a terminal of 100.
const TEXT_COLUMNS: usize = 60;
const EXAMPLE_COLUMNS: usize = 90;
/// From this status on a request is one to look at.
const STATUS_BAD: u16 = 400;

/// Both sections.
pub(super) fn render(outcomes: &Outcomes, mode: SummaryMode, palette: &Palette) -> String {
    let all = outcomes.by_count();
    let is_error = |outcome: &&Outcome| matches!(outcome.ending, Ending::Error { .. });
    let is_status = |outcome: &&Outcome| matches!(outcome.ending, Ending::Status(_));
    let is_bad = |outcome: &&Outcome| matches!(outcome.ending, Ending::Status(status) if status >= STATUS_BAD);
    let errors: Vec<&Outcome> = all.iter().copied().filter(is_error).collect();
    let statuses: Vec<&Outcome> = all.iter().copied().filter(is_status).collect();
    let has_failed = !errors.is_empty() || statuses.iter().any(is_bad);
    let mut text = String::new();
    if !errors.is_empty() {
        text.push_str(&table("ERRORS", ["count", "code", "first", "last", "error"], &errors, palette));
    }
    if !statuses.is_empty() && (has_failed || mode == SummaryMode::Full) {
        text.push_str(&table("STATUS", ["count", "status", "first", "last", "example"], &statuses, palette));
    }
    text
}

fn table(name: &str, head: [&str; 5], outcomes: &[&Outcome], palette: &Palette) -> String {
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let shown = outcomes.iter().take(ROWS_MAX);
    rows.extend(shown.clone().map(|outcome| {
        let (kind, what) = match &outcome.ending {
            Ending::Status(status) => (status.to_string(), cut(&outcome.example, TEXT_COLUMNS)),
            Ending::Error { code, text } => (code.to_string(), cut(text, TEXT_COLUMNS)),
            Ending::Interrupted => (String::new(), String::new()),
        };
        vec![with_commas(outcome.count), kind, seconds(outcome.first_ns), seconds(outcome.last_ns), what]
    }));
    let sides = [Side::Right, Side::Right, Side::Right, Side::Right, Side::Left];
    let mut lines = lines(&sides, &rows).into_iter();
    let mut text = title(name, palette);
    text.extend(lines.next().map(|line| format!("    {line}\n")));
    for (line, outcome) in lines.zip(shown) {
        text.push_str(&format!("    {line}\n"));
        if matches!(outcome.ending, Ending::Error { .. }) {
            text.push_str(&format!("      ↳ {}\n", cut(&outcome.example, EXAMPLE_COLUMNS)));
        }
    }
    if let Some(more) = outcomes.len().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        let count: u64 = outcomes[ROWS_MAX..].iter().map(|outcome| outcome.count).sum();
        text.push_str(&format!("    … and {more} more kinds, {} requests\n", with_commas(count)));
    }
    text.push('\n');
    text
}

/// When, in the test's time.
fn seconds(ns: u64) -> String {
    crate::threshold::whole_seconds(ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn outcomes(rows: &[(Ending, u64, u64, u64, &str)]) -> Outcomes {
        let mut outcomes = Outcomes::default();
        for (ending, count, first, last, example) in rows {
            outcomes.add(&Outcome {
                ending: ending.clone(),
                count: *count,
                first_ns: first * S,
                last_ns: last * S,
                example: (*example).into(),
            });
        }
        outcomes
    }

    #[test]
    fn what_failed_is_shown_with_an_example() {
        let refused = Ending::Error { code: 1212, text: "connection refused".into() };
        let outcomes = outcomes(&[
            (Ending::Status(200), 900, 1, 9, "GET http://h/"),
            (Ending::Status(404), 12, 3, 75, "GET http://h/\x1b[31mx"),
            (refused, 54_360, 2, 4, "POST http://h:1/"),
            (Ending::Interrupted, 3, 1, 1, "GET http://h/slow"),
        ]);
        assert_eq!(
            render(&outcomes, SummaryMode::Compact, &Palette::PLAIN),
            "
  █ ERRORS 

     count  code  first  last  error
    54,360  1212     2s    4s  connection refused
      ↳ POST http://h:1/


  █ STATUS 

    count  status  first   last  example
      900     200     1s     9s  GET http://h/
       12     404     3s  1m15s  GET http://h/ [31mx

"
        );
    }

    #[test]
    fn where_nothing_failed_there_is_no_table() {
        let outcomes = outcomes(&[(Ending::Status(200), 9, 1, 1, "a"), (Ending::Status(302), 9, 1, 1, "b")]);
        assert_eq!(render(&outcomes, SummaryMode::Compact, &Palette::PLAIN), "");
        assert!(render(&outcomes, SummaryMode::Full, &Palette::PLAIN).contains("  302  "));
    }

    #[test]
    fn many_kinds_are_counted() {
        let rows: Vec<_> = (0..13).map(|code| (Ending::Error { code, text: "x".into() }, 20, 1, 1, "e")).collect();
        let text = render(&outcomes(&rows), SummaryMode::Compact, &Palette::PLAIN);
        assert!(text.contains("    … and 3 more kinds, 60 requests\n"), "{text}");
    }
}
