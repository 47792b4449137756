//! The result of a one-liner as text: what users of oha, hey and wrk look for.

use std::time::Duration;

use onrush_metrics::{Histogram, Merged};
use onrush_session::{Judgement, Verdict};

use super::figures::Figures;

/// Rows of the histogram, the last of which is open.
const ROWS: u32 = 11;
/// Columns of its longest bar.
const BAR: u64 = 40;
/// Errors that are listed; there may be as many texts as a server can make.
const ERRORS_MAX: usize = 10;
const PERCENTILES: [f64; 7] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/// What is printed at the end.
pub(crate) fn report(merged: &Merged, elapsed: Duration, judgement: &Judgement, color: bool) -> String {
    text(&Figures::new(merged, elapsed, judgement), color)
}

/// The whole text.
fn text(figures: &Figures, color: bool) -> String {
    let seconds = figures.elapsed.as_secs_f64();
    let per_second = |count: u64| if seconds > 0.0 { count as f64 / seconds } else { 0.0 };
    let mut text = "\n  Summary\n".to_owned();
    let mut row = |name: &str, value: String| text.push_str(&format!("    {name:<10} {value}\n"));
    row("requests", format!("{} in {seconds:.2}s, {:.1}/s", figures.requests, per_second(figures.requests)));
    row("failed", format!("{} ({})", figures.failed, percent(figures.failed, figures.requests)));
    if figures.dropped > 0 {
        let planned = figures.dropped + figures.requests;
        row(
            "not sent",
            format!(
                "{} ({}): all connections were busy; allow more with -c",
                figures.dropped,
                percent(figures.dropped, planned)
            ),
        );
    }
    row("received", format!("{}, {}/s", bytes(figures.received as f64), bytes(per_second(figures.received))));
    row("sent", format!("{}, {}/s", bytes(figures.sent as f64), bytes(per_second(figures.sent))));
    // Where nobody answered, all times are 0: they say nothing.
    if !figures.statuses.is_empty() {
        latency(&mut text, figures);
        if !figures.latency.is_empty() {
            text.push_str("\n  Histogram\n");
            text.push_str(&histogram(&figures.latency));
        }
        text.push_str("\n  Statuses\n");
        for (status, count) in &figures.statuses {
            text.push_str(&format!("    {status:<10} {count} ({})\n", percent(*count, figures.requests)));
        }
    }
    errors(&mut text, figures);
    verdict(&mut text, figures, color);
    text
}

fn latency(text: &mut String, figures: &Figures) {
    let columns: &[(&str, &Histogram)] = &[("response", &figures.latency), ("intended", &figures.intended)];
    let columns: Vec<_> = columns.iter().filter(|(_, histogram)| !histogram.is_empty()).collect();
    if columns.is_empty() {
        return;
    }
    text.push_str("\n  Latency");
    if columns.len() > 1 {
        text.push_str("       response     from intended start");
    }
    text.push('\n');
    let mut row = |name: &str, value: &dyn Fn(&Histogram) -> f64| {
        let values: Vec<String> =
            columns.iter().map(|(_, histogram)| format!("{:>10}", time(value(histogram)))).collect();
        text.push_str(&format!("    {name:<10} {}\n", values.join("   ")));
    };
    row("average", &Histogram::mean);
    row("fastest", &Histogram::min);
    for share in PERCENTILES {
        row(&format!("{}%", share * 100.0), &|histogram| histogram.quantile(share));
    }
    row("slowest", &Histogram::max);
    if let Some(lag) = &figures.start_lag {
        text.push_str(&format!(
            "    Requests started {} after their intended start at p(99), {} at most: time this program added.\n",
            time(lag.p99_ms),
            time(lag.max_ms)
        ));
    }
    if let Some(delay) = &figures.own_delay {
        text.push_str(&format!(
            "    Of the latency, Onrush's own delay was {} at the median and {} at p(99) (measured of {} requests).\n",
            time(delay.median_ms),
            time(delay.p99_ms),
            delay.requests
        ));
    }
}

/// Equal steps from the fastest to the 99th percentile, and one row for the rest.
fn histogram(latency: &Histogram) -> String {
    let (low, high) = (latency.min(), latency.quantile(0.99));
    let step = (high - low) / f64::from(ROWS - 1);
    let mut counts = vec![0_u64; ROWS as usize];
    for bucket in latency.buckets() {
        // A bucket is three per mille wide: where its middle lies is good enough for a picture.
        let middle = (bucket.inner + bucket.outer) / 2.0;
        let row = if step > 0.0 { ((middle - low) / step).max(0.0) as usize } else { 0 };
        counts[row.min(ROWS as usize - 1)] += bucket.count;
    }
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let mut text = String::new();
    for (row, count) in counts.iter().enumerate() {
        let is_last = row + 1 == ROWS as usize;
        if *count == 0 && (is_last || step <= 0.0) {
            continue;
        }
        let end = low + step * (row + 1) as f64;
        let label = if is_last { format!("> {}", time(high)) } else { time(end.min(latency.max())) };
        // The product fits: counts of a run are far below 2^58.
        let bar = "■".repeat((count.saturating_mul(BAR)).div_ceil(most) as usize);
        text.push_str(&format!("    {label:>10} [{count:>8}] {bar}\n"));
    }
    text
}

fn errors(text: &mut String, figures: &Figures) {
    if figures.errors.is_empty() {
        return;
    }
    text.push_str("\n  Errors\n");
    let mut errors: Vec<_> = figures.errors.iter().collect();
    errors.sort_by(|a, b| b.1.cmp(a.1));
    for ((code, message), count) in errors.iter().take(ERRORS_MAX) {
        let code = if code.is_empty() { "-" } else { code };
        text.push_str(&format!("    {code:<10} {count} {message}\n"));
    }
    if let Some(more) = errors.len().checked_sub(ERRORS_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("    … and {more} more kinds\n"));
    }
}

fn verdict(text: &mut String, figures: &Figures, color: bool) {
    let (sign, code) = match figures.verdict {
        Verdict::Valid => ("✓", 32),
        Verdict::Suspect => ("!", 33),
        Verdict::Invalid => ("✗", 31),
    };
    let line = format!("{sign} measurement {}", figures.verdict.as_str());
    text.push_str(&if color { format!("\n  \x1b[{code}m{line}\x1b[0m\n") } else { format!("\n  {line}\n") });
    for reason in &figures.reasons {
        text.push_str(&format!("    {reason}\n"));
    }
}

fn percent(part: u64, whole: u64) -> String {
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    // 99.996 % is not all of them.
    format!("{:.2}%", (share * 10_000.0).floor() / 100.0)
}

/// Milliseconds in a unit that suits.
fn time(ms: f64) -> String {
    match ms {
        ms if ms < 1.0 => format!("{:.0}µs", ms * 1_000.0),
        ms if ms < 1_000.0 => format!("{ms:.2}ms"),
        ms => format!("{:.2}s", ms / 1_000.0),
    }
}

fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1_000.0 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    if unit == 0 { format!("{value:.0} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use onrush_session::StartLag;

    use super::*;

    fn figures() -> Figures {
        let mut latency = Histogram::new();
        (1..=100).for_each(|ms| latency.record(f64::from(ms)));
        Figures {
            elapsed: Duration::from_secs(2),
            requests: 100,
            failed: 4,
            dropped: 0,
            received: 12_345_678,
            sent: 900,
            latency,
            intended: Histogram::new(),
            start_lag: None,
            own_delay: None,
            statuses: BTreeMap::from([("200".to_owned(), 96), ("503".to_owned(), 3)]),
            errors: BTreeMap::from([(("1212".to_owned(), "dial: connection refused".to_owned()), 1)]),
            verdict: Verdict::Valid,
            reasons: Vec::new(),
        }
    }

    #[test]
    fn a_report() {
        insta::assert_snapshot!(text(&figures(), false), @r"
          Summary
            requests   100 in 2.00s, 50.0/s
            failed     4 (4.00%)
            received   12.3 MB, 6.2 MB/s
            sent       900 B, 450 B/s

          Latency
            average       50.50ms
            fastest        1.00ms
            50%           50.50ms
            75%           75.24ms
            90%           90.00ms
            95%           94.95ms
            99%           99.11ms
            99.9%         99.91ms
            99.99%        99.99ms
            slowest      100.00ms

          Histogram
               10.81ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               20.62ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               30.43ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               40.24ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               50.06ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               59.87ms [       9] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               69.68ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               79.49ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               89.30ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
               99.11ms [      10] ■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■■
             > 99.11ms [       1] ■■■■

          Statuses
            200        96 (96.00%)
            503        3 (3.00%)

          Errors
            1212       1 dial: connection refused

          ✓ measurement VALID
        ");
    }

    #[test]
    fn a_rate_has_two_columns_and_what_was_not_sent() {
        let mut intended = Histogram::new();
        intended.record(250.0);
        let lag = StartLag { iterations: 100, p99_ms: 0.25, max_ms: 3.0 };
        let rate = Figures {
            intended,
            start_lag: Some(lag),
            dropped: 25,
            verdict: Verdict::Suspect,
            reasons: vec!["a reason".to_owned()],
            ..figures()
        };
        let text = text(&rate, false);
        for expect in [
            "not sent   25 (20.00%): all connections were busy; allow more with -c\n",
            "  Latency       response     from intended start\n",
            "    average       50.50ms     250.00ms\n",
            "Requests started 250µs after their intended start at p(99), 3.00ms at most",
            "! measurement SUSPECT\n    a reason\n",
        ] {
            assert!(text.contains(expect), "no {expect:?} in\n{text}");
        }
    }

    #[test]
    fn nothing_measured_is_no_panic() {
        let none = Figures { latency: Histogram::new(), requests: 0, elapsed: Duration::ZERO, ..figures() };
        assert!(text(&none, true).contains("requests   0 in 0.00s, 0.0/s"));
        let mut one = Histogram::new();
        one.record(5.0);
        assert!(text(&Figures { latency: one, ..figures() }, false).contains("5.00ms [       1] ■"));
        let refused = Figures { statuses: BTreeMap::new(), ..figures() };
        assert!(!text(&refused, false).contains("Latency"));
    }
}
