//! The summary: a table for each experiment, what tools could not do or said wrongly, and where others are better.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    marks::{BOUNDS, marks},
    overview,
    rows::Row,
    svg::number,
};
use crate::lab::experiment::{EXPERIMENTS, Experiment, Purpose};

pub(super) fn summary(run: &Value, rows: &[Row<'_>]) -> String {
    let mut text = format!(
        "# Load generators side by side\n\n{}\n\n",
        run["described"].as_str().unwrap_or_default().replace('\n', "  \n")
    );
    let cells: usize = rows.iter().map(|row| row.cells.len()).sum();
    let disturbed: usize = rows.iter().map(Row::disturbed).sum();
    let _ = writeln!(
        text,
        "{cells} cells, {disturbed} of them while other programs used more than a tenth of the machine."
    );
    if let Some(failed) = run["calibration"]["failed"].as_str() {
        let _ = writeln!(text, "\n**The server could not be confirmed:** {failed}");
    }
    let _ = writeln!(text, "\n## Overview\n\n{}", overview::table(rows));
    for experiment in EXPERIMENTS {
        let of: Vec<&Row<'_>> = rows.iter().filter(|row| row.experiment == experiment.name).collect();
        if !of.is_empty() {
            table(&mut text, experiment, &of, rows);
        }
    }
    missing(&mut text, run);
    off(&mut text, rows);
    better(&mut text, rows);
    text
}

fn table(text: &mut String, experiment: &Experiment, rows: &[&Row<'_>], all: &[Row<'_>]) {
    let _ = writeln!(text, "\n## {}: {}\n", experiment.name, experiment.about);
    let columns = columns(experiment.purpose);
    let mut names: Vec<&str> = columns.iter().map(|(name, ..)| *name).collect();
    if experiment.purpose == Purpose::Memory {
        names.push("KB a user");
    }
    let _ = writeln!(text, "| tool | load | {} |\n|---|---:|{}", names.join(" | "), "---:|".repeat(names.len()));
    let mut cannot = Vec::new();
    for row in rows {
        if row.cells.is_empty() {
            cannot.push(format!(
                "{} ({}): {}",
                row.tool,
                row.amount,
                row.reason.unwrap_or("not measured").lines().next().unwrap_or_default()
            ));
            continue;
        }
        let mut values: Vec<String> = columns
            .iter()
            .map(|(_, pointer, scale, minus)| {
                let minus = if *minus { experiment.delay_ms as f64 } else { 0.0 };
                row.median(pointer).map_or_else(|| "–".to_owned(), |value| number(value * scale - minus))
            })
            .collect();
        if experiment.purpose == Purpose::Memory {
            values.extend(row.main(all).map(|main| number(main.median)).or_else(|| Some("–".to_owned())));
        }
        let _ = writeln!(text, "| {} | {} | {} |", row.tool, row.amount, values.join(" | "));
    }
    if !cannot.is_empty() {
        let _ = writeln!(text, "\nNot measured: {}.", cannot.join("; "));
    }
}

/// Heading, figure, factor, and whether the server's delay is taken off.
type Column = (&'static str, &'static str, f64, bool);

fn columns(purpose: Purpose) -> &'static [Column] {
    const RPS: Column = ("requests/s", "/truth/rps", 1.0, false);
    const CPU: Column = ("CPU µs/request", "/usage/cpu_us_per_request", 1.0, false);
    const RSS: Column = ("RSS MB", "/usage/rss_bytes_max", 1.0 / 1024.0 / 1024.0, false);
    match purpose {
        Purpose::Throughput => &[
            RPS,
            CPU,
            RSS,
            ("says mean ms", "/claim/mean_ms", 1.0, false),
            ("says p99 ms", "/claim/p99_ms", 1.0, false),
        ],
        Purpose::Latency => &[
            RPS,
            CPU,
            ("added ms: mean", "/truth/added_ms/mean", 1.0, false),
            ("p50", "/truth/added_ms/p50", 1.0, false),
            ("p99", "/truth/added_ms/p99", 1.0, false),
            ("says mean", "/claim/mean_ms", 1.0, true),
            ("says p50", "/claim/p50_ms", 1.0, true),
            ("p90", "/claim/p90_ms", 1.0, true),
            ("p95", "/claim/p95_ms", 1.0, true),
            ("p99", "/claim/p99_ms", 1.0, true),
            ("p99.9", "/claim/p999_ms", 1.0, true),
        ],
        Purpose::Accuracy => &[
            RPS,
            ("asked for", "/rate", 1.0, false),
            ("off ms: p50", "/truth/deviation_ms/p50", 1.0, false),
            ("p99", "/truth/deviation_ms/p99", 1.0, false),
            ("max", "/truth/deviation_ms/max", 1.0, false),
            CPU,
        ],
        Purpose::Memory => &[
            ("connections", "/usage/connections_max", 1.0, false),
            ("MB while they wait", "/usage/held_bytes", 1.0 / 1024.0 / 1024.0, false),
            RSS,
        ],
        Purpose::Start => {
            &[("first request after ms", "/truth/first_s", 1000.0, false), ("CPU s", "/usage/user_s", 1.0, false), RSS]
        }
        Purpose::Standstill => &[
            ("users meet p90 ms", "/truth/met_ms/p90", 1.0, false),
            ("p99", "/truth/met_ms/p99", 1.0, false),
            ("says p90", "/claim/p90_ms", 1.0, false),
            ("says p99", "/claim/p99_ms", 1.0, false),
            ("says p99.9", "/claim/p999_ms", 1.0, false),
            RPS,
        ],
    }
}

fn missing(text: &mut String, run: &Value) {
    let missing: Vec<String> = run["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|tool| Some(format!("- {}: {}", tool["name"].as_str()?, tool["reason"].as_str()?)))
        .collect();
    if !missing.is_empty() {
        let _ = writeln!(text, "\n## Not to be had\n\n{}", missing.join("\n"));
    }
}

fn off(text: &mut String, rows: &[Row<'_>]) {
    let _ = writeln!(text, "\n## What tools say, and what the server saw\n\n{BOUNDS}\n");
    for row in rows {
        let off: Vec<String> = marks(row)
            .iter()
            .filter(|mark| mark.is_off)
            .map(|mark| {
                format!("{} {}{} for {}{}", mark.what, number(mark.claimed), mark.unit, number(mark.truth), mark.unit)
            })
            .collect();
        if !off.is_empty() {
            let _ = writeln!(text, "- {}, {} {}: says {}", row.tool, row.experiment, row.amount, off.join(", "));
        }
    }
}

/// Peers that need less CPU than Onrush by more than a tenth, or add less latency.
fn better(text: &mut String, rows: &[Row<'_>]) {
    let mut lines = Vec::new();
    for ours in rows.iter().filter(|row| row.tool == OURS || row.tool == OURS_PLAIN) {
        // What is said of a standstill is right or wrong, not better or worse.
        let own = ours.main(rows).map(|own| own.median).filter(|_| ours.experiment != "standstill");
        let Some(own) = own else { continue };
        for peer in rows.iter().filter(|row| (row.experiment, row.amount) == (ours.experiment, ours.amount)) {
            if let Some(theirs) = peer.main(rows).map(|theirs| theirs.median).filter(|theirs| theirs * TENTH_MORE < own)
                && !peer.tool.starts_with(OURS)
            {
                lines.push(format!(
                    "- {} {}: {} {} of {}'s {}",
                    ours.experiment,
                    ours.amount,
                    peer.tool,
                    number(theirs),
                    ours.tool,
                    number(own)
                ));
            }
        }
    }
    let _ = writeln!(text, "\n## Where others are better than Onrush by more than a tenth\n");
    let _ = writeln!(
        text,
        "In the figure each experiment is about: CPU µs a request; added ms (delay); ms off at p99 (rate); KB for each user above what one needs (memory); ms until the first request (start).\n"
    );
    let _ = writeln!(text, "{}", if lines.is_empty() { "Nowhere in this run.".to_owned() } else { lines.join("\n") });
}

pub(super) const OURS: &str = "onrush";
const OURS_PLAIN: &str = "onrush-http";
const TENTH_MORE: f64 = 1.1;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_better_peer_is_named() {
        let cell = |tool: &str, cpu: f64| json!({ "experiment": "static", "amount": "20", "tool": tool, "round": 0, "truth": { "rps": 5.0 }, "usage": { "cpu_us_per_request": cpu } });
        let failed =
            json!({ "experiment": "static", "amount": "20", "tool": "ab", "round": 0, "failed": "it fell over" });
        let cells = [cell("onrush", 8.0), cell("wrk", 6.0), cell("hey", 7.9), failed];
        let run = json!({ "described": "here", "tools": [{ "name": "wrk2", "reason": "nowhere" }] });
        let text = summary(&run, &Row::all(&cells));
        assert!(text.contains("- static 20: wrk 6 of onrush's 8") && !text.contains("- static 20: hey"));
        assert!(text.contains("Not measured: ab (20): it fell over.") && text.contains("- wrk2: nowhere"));
    }
}
