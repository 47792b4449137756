//! One row for each tool, and one picture: what a README has room for.

use std::fmt::Write as _;

use super::{
    markdown::OURS,
    rows::Row,
    svg::{Bar, bars, number, standalone},
};

/// Heading, experiment, amount of load: the figure each experiment is about.
const COLUMNS: [(&str, &str, &str); 6] = [
    ("CPU µs a request", "static", "100"),
    ("CPU µs of a page with checks", "page", "100"),
    ("added ms, 250 users", "delay", "250"),
    ("off schedule ms, p99", "rate", "2000-a-second"),
    ("KB a waiting user", "memory", "5000"),
    ("first request after ms", "start", "1"),
];

/// The table, tools with the cheapest request first.
pub(super) fn table(rows: &[Row<'_>]) -> String {
    let mut tools: Vec<&str> = Vec::new();
    for row in rows {
        if !tools.contains(&row.tool) {
            tools.push(row.tool);
        }
    }
    let figure = |tool: &str, (_, experiment, amount): (&str, &str, &str)| {
        let row = rows.iter().find(|row| (row.tool, row.experiment, row.amount) == (tool, experiment, amount))?;
        Some(row.main(rows)?.median)
    };
    let cost = |tool: &str| figure(tool, COLUMNS[0]).unwrap_or(f64::INFINITY);
    tools.sort_by(|one, other| cost(one).total_cmp(&cost(other)));
    let headings = COLUMNS.map(|(heading, ..)| heading).join(" | ");
    let mut text = format!("| tool | {headings} |\n|---|{}\n", "---:|".repeat(COLUMNS.len()));
    for tool in tools {
        let figures = COLUMNS.map(|column| figure(tool, column));
        if figures.iter().any(Option::is_some) {
            let cells = figures.map(|value| value.map_or_else(|| "–".to_owned(), number)).join(" | ");
            let name = if tool.starts_with(OURS) { format!("**{tool}**") } else { tool.to_owned() };
            let _ = writeln!(text, "| {name} | {cells} |");
        }
    }
    text
}

/// What a request costs each tool, as a file of its own.
pub(super) fn picture(rows: &[Row<'_>]) -> String {
    let (_, experiment, amount) = COLUMNS[0];
    let of = rows.iter().filter(|row| (row.experiment, row.amount) == (experiment, amount));
    let all = of
        .filter_map(|row| {
            let main = row.main(rows)?;
            let (name, is_ours) = (row.tool.to_owned(), row.tool.starts_with(OURS));
            Some(Bar { name, value: main.median, low: main.low, high: main.high, is_ours })
        })
        .collect();
    standalone(&bars("CPU of the load generator for each request: 100 users, 100 bytes, kept connections", " µs", all))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_row_for_each_tool_with_figures() {
        let cell = |tool: &str, experiment: &str, amount: &str, usage: serde_json::Value| json!({ "experiment": experiment, "amount": amount, "tool": tool, "round": 0, "usage": usage });
        let cells = [
            cell("k6", "static", "100", json!({ "cpu_us_per_request": 70.0 })),
            cell("onrush", "static", "100", json!({ "cpu_us_per_request": 8.5 })),
            json!({ "experiment": "static", "amount": "100", "tool": "siege", "round": 0, "failed": "it fell over" }),
        ];
        let rows = Row::all(&cells);
        let table = table(&rows);
        let lines: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(lines, ["| **onrush** | 8.50 | – | – | – | – | – |", "| k6 | 70 | – | – | – | – | – |"]);
        let picture = picture(&rows);
        assert!(picture.starts_with("<svg xmlns=") && picture.contains("<style>") && picture.contains("70 µs"));
    }
}
