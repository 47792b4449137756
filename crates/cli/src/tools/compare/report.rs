//! A comparison in words and as JSON.

use onrush_analysis::compare::{Difference, Direction, Judged, Part, Unclear, Verdict};
use onrush_metrics::Registry;
use serde_json::{Value, json};

use super::{
    curves::Curves,
    figures::{number, percent, significant},
    mix::Adjusted,
    run::Recorded,
    series::Change,
};
use crate::tools::result::plain;

/// What came out.
pub(super) struct Comparison {
    pub(super) before: Recorded,
    pub(super) after: Recorded,
    /// What the exit code depends on.
    pub(super) judged: Vec<Judged>,
    /// Requests by name.
    pub(super) names: Vec<Judged>,
    /// What is to be known beside it.
    pub(super) notes: Vec<String>,
    pub(super) parts: [Part; 2],
    /// What was left out of the start.
    pub(super) skipped_ns: u64,
    /// Runs that say how unchanged runs differ.
    pub(super) history: usize,
    /// The whole distributions, where that was asked for.
    pub(super) curves: Option<Curves>,
    /// With one mix of requests, where they had another.
    pub(super) adjusted: Option<Adjusted>,
    /// Where the series of runs changed.
    pub(super) changes: Vec<Change>,
}

/// Names that are shown: those that differ most.
const NAMES_SHOWN_MAX: usize = 10;

impl Comparison {
    /// The measures that got worse for certain.
    pub(super) fn alarms(&self) -> Vec<String> {
        let alarming = self.judged.iter().filter(|row| row.is_alarming());
        alarming.filter_map(|row| Some(format!("{} ({})", row.measure, change(row, &row.difference?)))).collect()
    }

    /// What the comparison does not answer: measures that thresholds limit and of which a run says nothing, or all measures,
    /// where none came out one way or the other. What noise hides is in the table as such.
    pub(super) fn unjudged(&self) -> Vec<String> {
        let is_limited = |row: &&Judged| {
            let mut limited = self.after.limited.iter().chain(&self.before.limited);
            limited.any(|known| known.metric == row.measure.metric && known.statistic == row.measure.statistic)
        };
        let is_open = |row: &Judged| matches!(row.verdict, Verdict::Unknown | Verdict::CannotTell { .. });
        let name = |row: &Judged| format!("{}: {}", plain(&row.measure.to_string()), verdict(row));
        if self.judged.is_empty() {
            return vec!["the runs have no measure in common".to_owned()];
        }
        if self.judged.iter().all(is_open) {
            return self.judged.iter().map(name).collect();
        }
        self.judged.iter().filter(|row| row.verdict == Verdict::Unknown).filter(is_limited).map(name).collect()
    }

    /// For people.
    pub(super) fn to_text(&self, color: bool) -> String {
        let mut text = String::from("\n");
        for (name, run) in [("before", &self.before), ("after", &self.after)] {
            text.push_str(&format!("  {name:<8}{}\n", about(run)));
        }
        text.push_str(&format!("\n  compared: {}\n", self.compared()));
        self.notes.iter().for_each(|note| text.push_str(&format!("  ! {note}\n")));
        text.push('\n');
        text.push_str(&table(&self.judged, self.after.merged.registry(), color));
        let mut names: Vec<Judged> = self.names.iter().filter(|row| is_different(row)).cloned().collect();
        if !names.is_empty() {
            let size = |row: &Judged| row.difference.map_or(0.0, |found| found.size.abs());
            names.sort_by(|first, second| size(second).total_cmp(&size(first)));
            names.truncate(NAMES_SHOWN_MAX);
            text.push_str("\n  requests by name that differ (to find out why: they decide nothing)\n\n");
            text.push_str(&table(&names, self.after.merged.registry(), color));
        }
        let registry = self.after.merged.registry();
        text.extend(self.adjusted.as_ref().map(|adjusted| adjusted.to_text(registry)));
        text.extend(self.curves.as_ref().map(|curves| curves.to_text(registry)));
        if !self.changes.is_empty() {
            text.push_str(&format!("\n  changes in these {} runs\n\n", self.history + 1));
            self.changes.iter().for_each(|change| text.push_str(&format!("  * {}\n", change.to_text(registry))));
        }
        text.push('\n');
        text
    }

    /// Which part of the runs.
    fn compared(&self) -> String {
        let [before, after] = self.parts.each_ref().map(Part::seconds);
        let seconds =
            if before == after { format!("{before:.0} s of each") } else { format!("{before:.0} s and {after:.0} s") };
        let skipped = match self.skipped_ns {
            0 => String::new(),
            ns => format!(" without the first {:.0} s", ns as f64 / 1e9),
        };
        let history = match self.history {
            0 => String::new(),
            runs => format!("; {runs} runs say how they differ"),
        };
        format!("{seconds}{skipped}{history}")
    }

    /// For programs. The shape is in docs/guide/compare.md.
    pub(super) fn to_json(&self) -> Value {
        let run = |run: &Recorded, part: &Part| {
            json!({
                "file": run.file.display().to_string(),
                "script": run.head.script,
                "started": run.head.started,
                "fingerprint": run.head.fingerprint,
                "duration_seconds": run.duration_ns as f64 / 1e9,
                "compared_seconds": part.seconds(),
                "verdict": run.end.as_ref().map(|end| end.verdict.as_str()),
                "exit_code": run.end.as_ref().map(|end| end.exit_code),
            })
        };
        let rows = |rows: &[Judged]| rows.iter().map(Self::row).collect::<Vec<_>>();
        json!({
            "before": run(&self.before, &self.parts[0]),
            "after": run(&self.after, &self.parts[1]),
            "warm_up_seconds": self.skipped_ns as f64 / 1e9,
            "history_runs": self.history,
            "notes": self.notes,
            "measures": rows(&self.judged),
            "names": rows(&self.names),
            "worse": self.alarms(),
            "unjudged": self.unjudged(),
            "curves": self.curves.as_ref().map(Curves::to_json),
            "mix_adjusted": self.adjusted.as_ref().map(Adjusted::to_json),
            "changes": self.changes.iter().map(Change::to_json).collect::<Vec<_>>(),
        })
    }

    fn row(row: &Judged) -> Value {
        let found = row.difference;
        let needed = match row.verdict {
            Verdict::CannotTell { needed } => needed,
            _ => None,
        };
        json!({
            "metric": row.measure.metric,
            "statistic": row.measure.statistic.to_string(),
            "better": match row.measure.direction {
                Direction::Lower => Some("lower"),
                Direction::Higher => Some("higher"),
                Direction::Neither => None,
            },
            "before": row.values[0],
            "after": row.values[1],
            "change": found.map(|found| found.size),
            "low": found.map(|found| found.low),
            "high": found.map(|found| found.high),
            "chance": found.map(|found| found.chance),
            "margin": row.margin.0,
            "verdict": word(row.verdict),
            "needed_seconds": needed,
            "unknown": row.before.as_ref().err().or_else(|| row.after.as_ref().err()).map(unclear),
            "fails": row.is_alarming(),
        })
    }
}

fn about(run: &Recorded) -> String {
    let seconds = run.duration_ns as f64 / 1e9;
    let mut text = format!("{}: {}, {}, {seconds:.0} s", run.file.display(), run.head.script, run.head.started);
    match &run.end {
        Some(end) if end.exit_code == 0 => text.push_str(&format!(", {}", end.verdict)),
        Some(end) => text.push_str(&format!(", {}, exit code {}", end.verdict, end.exit_code)),
        None => text.push_str(", killed"),
    }
    text
}

fn is_different(row: &Judged) -> bool {
    matches!(row.verdict, Verdict::Better | Verdict::Worse | Verdict::Different)
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Different => "different",
        Verdict::Same => "same",
        Verdict::CannotTell { .. } => "cannot tell",
        Verdict::Unknown => "unknown",
    }
}

/// The rows below each other.
fn table(rows: &[Judged], registry: &Registry, color: bool) -> String {
    let head = ["measure", "before", "after", "change", "95 % interval", "verdict"].map(str::to_owned);
    let cells = |row: &Judged| {
        let value = |value: Option<f64>| {
            let text = |value| number(value, &row.measure.metric, row.measure.statistic, registry);
            value.map_or_else(|| "–".to_owned(), text)
        };
        let (change, interval) = match &row.difference {
            Some(found) => (change(row, found), interval(row, found)),
            None => ("–".to_owned(), "–".to_owned()),
        };
        [plain(&row.measure.to_string()), value(row.values[0]), value(row.values[1]), change, interval, verdict(row)]
    };
    let lines: Vec<[String; 6]> = std::iter::once(head).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let mut text = String::new();
    for (place, line) in lines.iter().enumerate() {
        let [measure, before, after, change, interval, verdict] = line;
        let [w0, w1, w2, w3, w4, _] = widths;
        let verdict = match place.checked_sub(1).map(|place| rows[place].verdict) {
            Some(Verdict::Worse) if color => format!("\x1b[31m{verdict}\x1b[0m"),
            Some(Verdict::Better) if color => format!("\x1b[32m{verdict}\x1b[0m"),
            _ => verdict.clone(),
        };
        text.push_str(&format!(
            "  {measure:<w0$}  {before:>w1$}  {after:>w2$}  {change:>w3$}  {interval:>w4$}  {verdict}\n"
        ));
    }
    text
}

/// The verdict, and what follows from it.
fn verdict(row: &Judged) -> String {
    let unclear = row.before.as_ref().err().or_else(|| row.after.as_ref().err()).map(unclear);
    match (row.verdict, unclear) {
        (Verdict::Unknown, Some(why)) => why,
        (Verdict::Same, _) => format!("same (within {})", margin(row)),
        (Verdict::CannotTell { needed: Some(seconds) }, _) => {
            format!("cannot tell (runs of {} could)", duration(seconds))
        }
        (Verdict::CannotTell { needed: None }, _) => "cannot tell (more runs could)".to_owned(),
        (verdict, _) => word(verdict).to_owned(),
    }
}

fn margin(row: &Judged) -> String {
    let percent = significant(row.margin.0 * 100.0);
    if row.measure.statistic.is_difference() { format!("{percent} points") } else { format!("{percent} %") }
}

fn unclear(why: &Unclear) -> String {
    match why {
        Unclear::Nothing => "no samples".to_owned(),
        Unclear::TooShort { needed } => format!("too short (needs {})", duration(*needed)),
        Unclear::TooSimilar { needed } => format!("drifts, or needs {}", duration(*needed)),
        Unclear::TooFewBeyond { values } => format!("only {values} values beyond it"),
    }
}

fn change(row: &Judged, found: &Difference) -> String {
    signed(row, found.size)
}

fn interval(row: &Judged, found: &Difference) -> String {
    format!("{} … {}", signed(row, found.low), signed(row, found.high))
}

/// In percent, or in percentage points.
fn signed(row: &Judged, size: f64) -> String {
    if row.measure.statistic.is_difference() { format!("{:+.2} points", size * 100.0) } else { percent(size) }
}

fn duration(seconds: f64) -> String {
    match seconds.ceil() {
        seconds if seconds > 360_000.0 => "days".to_owned(),
        seconds => onrush_plan::format_go_duration((seconds as i64).saturating_mul(1_000_000_000)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_whole_seconds_or_days() {
        assert_eq!((duration(75.2), duration(f64::INFINITY)), ("1m16s".to_owned(), "days".to_owned()));
    }
}
