//! The table of requests by name.

use super::{
    columns::{Side, cut, lines, with_commas},
    palette::Palette,
    sections::title,
};
use crate::{
    registry::Contains,
    summary::{endpoint::Endpoint, number, trend_stat::TimeUnit},
};

/// Columns a name may take.
const NAME_COLUMNS: usize = 60;

/// The section; nothing without requests.
pub(super) fn render(endpoints: &[Endpoint], unit: Option<TimeUnit>, palette: &Palette) -> String {
    if endpoints.is_empty() {
        return String::new();
    }
    let show = |value: f64| number::value(value, Contains::Time, unit);
    let mut rows = vec![["count", "failed", "avg", "med", "p(95)", "p(99)", "max", "name"].map(str::to_owned).to_vec()];
    rows.extend(endpoints.iter().map(|endpoint| {
        let durations = &endpoint.durations;
        vec![
            with_commas(endpoint.count),
            endpoint.failed.map_or_else(|| "–".to_owned(), with_commas),
            show(durations.mean()),
            show(durations.quantile(0.5)),
            show(durations.quantile(0.95)),
            show(durations.quantile(0.99)),
            show(durations.max()),
            cut(&endpoint.name, NAME_COLUMNS),
        ]
    }));
    let sides = [Side::Right, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right, Side::Right, Side::Left];
    let mut text = title("ENDPOINTS", palette);
    for line in lines(&sides, &rows) {
        text.push_str(&format!("    {line}\n"));
    }
    text.push('\n');
    text
}
