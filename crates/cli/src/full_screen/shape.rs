//! The shape of a run's durations in the terminal: a small picture below the full summary, for people alone.

use onrush_metrics::{Histogram, Merged, Sink, builtin};

use super::signs::Signs;
use crate::{progress::milliseconds, terminal::Look};

/// Narrower terminals have no picture.
const COLUMNS_MIN: usize = 100;
/// Its rows: a span of durations each.
const ROWS: usize = 12;
/// Cells of the longest bar.
const BAR: usize = 50;
/// What lies above this share of the values goes into the last row.
const REST: f64 = 0.999;

/// The picture of a run; `None` where nobody would see it, or where there is nothing to see.
pub(crate) fn shape(merged: &Merged, look: Look) -> Option<String> {
    let is_wide = look.stdout_tty && Look::columns() >= COLUMNS_MIN;
    let trend = |metric| match merged.sink(metric) {
        Some(Sink::Trend(durations)) if !durations.is_empty() => Some(durations),
        _ => None,
    };
    let named =
        [("http_req_duration", builtin::HTTP_REQ_DURATION), ("iteration_duration", builtin::ITERATION_DURATION)];
    let (name, durations) = named.into_iter().find_map(|(name, metric)| Some((name, trend(metric)?)))?;
    is_wide.then(|| picture(name, durations, look.signs())).flatten()
}

/// Rows of equal width on a logarithmic scale, which is how durations are spread.
fn picture(name: &str, durations: &Histogram, signs: Signs) -> Option<String> {
    let least = durations.min().max(durations.quantile(1.0 - REST));
    let (from, to) = (least, durations.quantile(REST));
    if !(from > 0.0 && to > from && to.is_finite()) {
        return None;
    }
    let row_of = |ms: f64| {
        let place = (ms / from).ln() / (to / from).ln() * ROWS as f64;
        // NaN and what is below become 0.
        (place.max(0.0) as usize).min(ROWS - 1)
    };
    let mut counts = [0_u64; ROWS];
    for bucket in durations.buckets() {
        counts[row_of((bucket.inner.max(0.0) * bucket.outer.max(0.0)).sqrt())] += bucket.count;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut text = format!("  {} DURATIONS: {name}, {} values\n\n", heading(signs), durations.count());
    for (row, count) in counts.iter().enumerate() {
        let begins = from * (to / from).powf(row as f64 / ROWS as f64);
        // One of many is seen, too.
        let least = if *count > 0 { 0.5 / BAR as f64 } else { 0.0 };
        let bar = signs.bar((*count as f64 / most as f64).max(least), BAR);
        let share = *count as f64 / durations.count() as f64 * 100.0;
        let marks: Vec<&str> =
            MARKS.iter().filter(|(_, q)| row_of(durations.quantile(*q)) == row).map(|(mark, _)| *mark).collect();
        let line = format!("    {:>9} {bar} {share:>6.2} %  {}", milliseconds(begins), marks.join(" "));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text.push('\n');
    Some(text)
}

const MARKS: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

fn heading(signs: Signs) -> &'static str {
    match signs {
        Signs::Blocks => "█",
        Signs::Ascii => "#",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_humps() -> Histogram {
        let mut durations = Histogram::new();
        (0..1000_u32).for_each(|i| durations.record(10.0 + f64::from(i % 10)));
        (0..60_u32).for_each(|i| durations.record(200.0 + f64::from(i)));
        durations.record(4_000.0);
        durations
    }

    #[test]
    fn both_humps_are_seen() {
        insta::assert_snapshot!(picture("http_req_duration", &two_humps(), Signs::Blocks).expect("a picture"));
    }

    #[test]
    fn without_blocks_it_is_ascii() {
        let text = picture("iteration_duration", &two_humps(), Signs::Ascii).expect("a picture");
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!(text);
    }

    #[test]
    fn of_nothing_there_is_no_picture() {
        assert_eq!(picture("x", &Histogram::new(), Signs::Blocks), None);
        let mut one = Histogram::new();
        one.record_n(5.0, 10);
        assert_eq!(picture("x", &one, Signs::Blocks), None);
        for odd in [0.0, -1.0, f64::INFINITY, f64::NEG_INFINITY] {
            let mut durations = two_humps();
            durations.record_n(odd, 100);
            // Whatever a script measured.
            let _ = picture("x", &durations, Signs::Blocks);
        }
    }
}
