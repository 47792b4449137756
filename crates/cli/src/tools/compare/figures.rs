//! Values as people read them.

use onrush_analysis::compare::Statistic;
use onrush_metrics::{Contains, Registry};

/// A part of a value.
pub(super) fn percent(size: f64) -> String {
    format!("{:+.1} %", size * 100.0)
}

/// A value of a metric with its unit.
pub(super) fn number(value: f64, metric: &str, statistic: Statistic, registry: &Registry) -> String {
    let name = metric.split('{').next().unwrap_or_default();
    let contains = registry.lookup(name).and_then(|id| registry.find(id)).map(|metric| metric.contains);
    match (statistic, contains) {
        (Statistic::Share, _) => format!("{:.2} %", value * 100.0),
        (Statistic::PerSecond, _) => format!("{}/s", significant(value)),
        (_, Some(Contains::Time)) if value >= 1_000.0 => format!("{} s", significant(value / 1_000.0)),
        (_, Some(Contains::Time)) => format!("{} ms", significant(value)),
        (_, Some(Contains::Data)) => format!("{} B", significant(value)),
        _ => significant(value),
    }
}

/// With four significant digits.
pub(super) fn significant(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 + 1 };
    let places = usize::try_from((4 - digits).clamp(0, 6)).unwrap_or(0);
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, expect) in [
            (0.0, "0"),
            (0.001_234_56, "0.001235"),
            (1.0, "1"),
            (12.3456, "12.35"),
            (123_456.7, "123457"),
            (99.996, "100"),
        ] {
            assert_eq!(significant(value), expect);
        }
    }
}
