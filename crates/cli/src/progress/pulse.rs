//! The line a person watches while a test runs: how fast, how many errors, how slow.

use std::fmt::Write as _;

use onrush_fiber::Nanos;
use onrush_metrics::{Merged, builtin};

/// What the merged samples showed last, to tell how fast they grow. They grow once a second.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    seen: Option<(Nanos, f64)>,
    /// `None` until two looks have seen something.
    per_second: Option<f64>,
}

impl Pulse {
    /// The line; `None` until something was measured.
    ///
    /// ```text
    /// 203 requests, 69/s now, 0.00% failed, p(95) 1.24ms; checks 100.00%
    /// ```
    ///
    /// Where there are fewer `columns` it is without the checks, then without the count.
    pub(crate) fn line(&mut self, merged: &Merged, now: Nanos, columns: usize) -> Option<String> {
        let total = |metric| merged.sink(metric).and_then(|sink| sink.counter()).unwrap_or(0.0);
        let requests = total(builtin::HTTP_REQS);
        let (count, unit) =
            if requests > 0.0 { (requests, "requests") } else { (total(builtin::ITERATIONS), "iterations") };
        if count <= 0.0 {
            return None;
        }
        self.note(now, count);
        let mut count = format!("{count:.0} {unit}");
        let mut line = String::new();
        match self.per_second {
            Some(per_second) => {
                count.push_str(", ");
                let _ = write!(line, "{}/s now", rounded(per_second));
            }
            None => line = std::mem::take(&mut count),
        }
        if let Some(percent) = percent_of(merged.sink(builtin::HTTP_REQ_FAILED).and_then(|sink| sink.rate())) {
            let _ = write!(line, ", {percent:.2}% failed");
        }
        let durations = merged.sink(builtin::HTTP_REQ_DURATION).and_then(|sink| sink.trend());
        if let Some(durations) = durations.filter(|durations| !durations.is_empty()) {
            let _ = write!(line, ", p(95) {}", milliseconds(durations.quantile(0.95)));
        }
        let checks = percent_of(merged.sink(builtin::CHECKS).and_then(|sink| sink.rate()));
        let checks = checks.map(|percent| format!("; checks {percent:.2}%")).unwrap_or_default();
        let fits = |text: &String| text.chars().count() <= columns;
        let longer = [format!("{count}{line}{checks}"), format!("{count}{line}")];
        Some(longer.into_iter().find(fits).unwrap_or(line))
    }

    /// The rate is that between the last two looks that saw something new.
    fn note(&mut self, now: Nanos, count: f64) {
        match self.seen {
            Some((_, before)) if count <= before => {}
            Some((at, before)) => {
                let seconds = now.saturating_sub(at).as_secs_f64();
                if seconds > 0.0 {
                    self.per_second = Some((count - before) / seconds);
                }
                self.seen = Some((now, count));
            }
            None => self.seen = Some((now, count)),
        }
    }
}

/// Hits among all, of `(hits, all)`.
fn percent_of(rate: Option<(u64, u64)>) -> Option<f64> {
    rate.filter(|(_, all)| *all > 0).map(|(hits, all)| hits as f64 * 100.0 / all as f64)
}

fn rounded(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

fn milliseconds(ms: f64) -> String {
    if ms < 1000.0 { format!("{ms:.2}ms") } else { format!("{:.2}s", ms / 1000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_the_last_second() {
        let mut pulse = Pulse::default();
        let mut check = |at_s: u64, count: f64, per_second: Option<f64>| {
            pulse.note(Nanos::from_secs(at_s), count);
            assert_eq!(pulse.per_second, per_second, "at {at_s} s");
        };
        check(1, 100.0, None);
        check(2, 300.0, Some(200.0));
        // Nothing new has come: the rate stays as it was.
        check(3, 300.0, Some(200.0));
        check(4, 400.0, Some(50.0));
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!([rounded(3.26), rounded(69.4)], ["3.3", "69"]);
        assert_eq!([milliseconds(0.5), milliseconds(1500.0)], ["0.50ms", "1.50s"]);
        assert_eq!(percent_of(Some((1, 8))), Some(12.5));
        assert_eq!(percent_of(Some((0, 0))), None);
    }
}
