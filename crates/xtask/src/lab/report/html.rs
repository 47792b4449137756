//! The page: self-contained, readable without the network, every cell with its command.

use std::fmt::Write as _;

use serde_json::Value;

use super::{
    markdown::OURS,
    marks::{BOUNDS, marks},
    rows::Row,
    svg::{Bar, Line, bars, escape, lines, number},
};
use crate::lab::experiment::{EXPERIMENTS, Experiment, Purpose};

pub(super) fn page(run: &Value, rows: &[Row<'_>]) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Load generators side by side</title>\n<style>{STYLE}</style></head><body>\n<h1>Load generators side by side</h1>\n"
    );
    let _ = writeln!(html, "<p>{}</p>", escape(run["described"].as_str().unwrap_or_default()).replace('\n', "<br>"));
    html.push_str(INTRODUCTION);
    calibration(&mut html, run);
    charts(&mut html, rows);
    table(&mut html, rows);
    claims(&mut html, rows);
    tools(&mut html, run);
    let _ = writeln!(
        html,
        "<h2>Machine</h2><pre>{}</pre>\n<script>{SCRIPT}</script></body></html>",
        escape(&pretty(&run["machine"])) + "\n" + &escape(&pretty(&run["mitigations"]))
    );
    html
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn calibration(html: &mut String, run: &Value) {
    if let Some(failed) = run["calibration"]["failed"].as_str() {
        let _ = writeln!(
            html,
            "<p class=\"off\">The server could not be confirmed before this run: {}</p>",
            escape(failed)
        );
        return;
    }
    html.push_str("<p>Before the run two clients that have nothing in common asked the server; it counted exactly what each sent:</p><table><tr><th>client</th><th>delay ms</th><th>requests</th><th>least ms</th><th>median ms</th><th>p99 ms</th></tr>");
    for one in run["calibration"].as_array().into_iter().flatten() {
        let cell = |name: &str| one[name].as_f64().map_or_else(|| "–".to_owned(), number);
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(one["client"].as_str().unwrap_or("")),
            cell("delay_ms"),
            cell("requests"),
            cell("least_ms"),
            cell("median_ms"),
            cell("p99_ms")
        );
    }
    html.push_str("</table>\n");
}

fn charts(html: &mut String, rows: &[Row<'_>]) {
    html.push_str("<h2>Charts</h2><p>Bars are medians of all rounds; the fine lines are intervals that hold the median (with 95 % from six rounds on; the whole range with fewer).</p>\n");
    for name in ["static", "delay"] {
        let of: Vec<&Row<'_>> = rows.iter().filter(|row| row.experiment == name).collect();
        let mut amounts: Vec<String> = Vec::new();
        for row in &of {
            if !amounts.iter().any(|amount| amount == row.amount) {
                amounts.push(row.amount.to_owned());
            }
        }
        let mut tools: Vec<&str> = of.iter().map(|row| row.tool).collect();
        tools.sort_unstable();
        tools.dedup();
        let all = tools
            .into_iter()
            .map(|tool| Line {
                name: tool.to_owned(),
                values: amounts
                    .iter()
                    .map(|amount| of.iter().find(|row| row.tool == tool && row.amount == *amount)?.median("/truth/rps"))
                    .collect(),
                is_ours: tool.starts_with(OURS),
            })
            .collect();
        html.push_str(&lines(&format!("{name}: requests a second by users"), &amounts, all));
    }
    for experiment in EXPERIMENTS {
        for amount in amounts(rows, experiment) {
            let of: Vec<&Row<'_>> =
                rows.iter().filter(|row| row.experiment == experiment.name && row.amount == amount).collect();
            let (title, unit) = heading(experiment, &amount);
            html.push_str(&bars(&title, unit, of.iter().filter_map(|row| bar(row, rows)).collect()));
        }
    }
}

fn amounts(rows: &[Row<'_>], experiment: &Experiment) -> Vec<String> {
    let mut amounts: Vec<String> = Vec::new();
    for row in rows.iter().filter(|row| row.experiment == experiment.name) {
        if !amounts.iter().any(|amount| amount == row.amount) {
            amounts.push(row.amount.to_owned());
        }
    }
    amounts
}

/// Title and unit of an experiment's chart.
fn heading(experiment: &Experiment, amount: &str) -> (String, &'static str) {
    let (what, unit) = match experiment.purpose {
        Purpose::Latency => ("latency that is added to the server's, mean", " ms"),
        Purpose::Accuracy => ("how far requests are from an even schedule, p99", " ms"),
        Purpose::Standstill => ("p90 that is reported; one user in ten meets some 900 ms", " ms"),
        Purpose::Memory => ("memory for each user who waits, above what the tool needs for one", " KB"),
        Purpose::Start => ("from the start to the first request", " ms"),
        Purpose::Throughput => ("CPU of the tool for each request", " µs"),
    };
    (format!("{} {amount}: {what}", experiment.name), unit)
}

fn bar(row: &Row<'_>, rows: &[Row<'_>]) -> Option<Bar> {
    let main = row.main(rows)?;
    Some(Bar {
        name: row.tool.to_owned(),
        value: main.median,
        low: main.low,
        high: main.high,
        is_ours: row.tool.starts_with(OURS),
    })
}

fn table(html: &mut String, rows: &[Row<'_>]) {
    html.push_str("<h2>All cells</h2><p>A click on a heading sorts. A row opens to its exact command, the server's, and the files both need; ports differ from run to run.</p>\n<table class=\"sorts\"><thead><tr>");
    for heading in [
        "tool",
        "experiment",
        "load",
        "requests/s",
        "from",
        "to",
        "says",
        "CPU µs",
        "server µs",
        "RSS MB",
        "switches",
        "added mean ms",
        "added p99 ms",
        "says mean ms",
        "says p99 ms",
        "off p99 ms",
        "first s",
        "rounds",
        "disturbed",
        "how",
    ] {
        let _ = write!(html, "<th>{heading}</th>");
    }
    html.push_str("</tr></thead><tbody>\n");
    for row in rows {
        let amount = row.amount.split('-').next().and_then(|amount| amount.parse::<f64>().ok());
        let _ = write!(
            html,
            "<tr><td>{}</td><td>{}</td><td data-v=\"{}\">{}</td>",
            escape(row.tool),
            escape(row.experiment),
            amount.unwrap_or(f64::MAX),
            escape(row.amount)
        );
        if row.cells.is_empty() {
            let _ = writeln!(
                html,
                "<td colspan=\"17\" class=\"reason\">{}</td></tr>",
                escape(row.reason.unwrap_or("not measured"))
            );
            continue;
        }
        let rps = row.estimate("/truth/rps");
        let mut cell = |value: Option<f64>| {
            let _ = match value {
                Some(value) => write!(html, "<td data-v=\"{value}\">{}</td>", number(value)),
                None => write!(html, "<td></td>"),
            };
        };
        cell(rps.map(|rps| rps.median));
        cell(rps.map(|rps| rps.low));
        cell(rps.map(|rps| rps.high));
        for (pointer, scale) in [
            ("/claim/rps", 1.0),
            ("/usage/cpu_us_per_request", 1.0),
            ("/server_cpu_us_per_request", 1.0),
            ("/usage/rss_bytes_max", 1.0 / 1024.0 / 1024.0),
            ("/usage/switches", 1.0),
            ("/truth/added_ms/mean", 1.0),
            ("/truth/added_ms/p99", 1.0),
            ("/claim/mean_ms", 1.0),
            ("/claim/p99_ms", 1.0),
            ("/truth/deviation_ms/p99", 1.0),
            ("/truth/first_s", 1.0),
        ] {
            cell(row.median(pointer).map(|value| value * scale));
        }
        cell(Some(row.cells.len() as f64));
        cell(Some(row.disturbed() as f64));
        html.push_str("<td>");
        how(html, row);
        html.push_str("</td></tr>\n");
    }
    html.push_str("</tbody></table>\n");
}

/// What repeats a cell.
fn how(html: &mut String, row: &Row<'_>) {
    let Some(cell) = row.cells.last() else { return };
    html.push_str("<details><summary>command</summary><pre>");
    let _ = writeln!(
        html,
        "# the server\n{}\n# the tool, in a folder of its own\n{}",
        escape(cell["target"].as_str().unwrap_or("")),
        escape(cell["command"].as_str().unwrap_or(""))
    );
    if let Some(after) = cell["after"].as_str() {
        let _ = writeln!(html, "# its report\n{}", escape(after));
    }
    for (name, text) in cell["files"].as_object().into_iter().flatten() {
        let _ = writeln!(html, "\n# {}\n{}", escape(name), escape(text.as_str().unwrap_or("")));
    }
    html.push_str("</pre></details>");
}

fn claims(html: &mut String, rows: &[Row<'_>]) {
    let _ = writeln!(
        html,
        "<h2>Claims against the truth</h2><p>{}</p>\n<table class=\"sorts\"><thead><tr><th>tool</th><th>experiment</th><th>load</th><th>what</th><th>says</th><th>truth</th><th>ratio</th><th></th></tr></thead><tbody>",
        escape(BOUNDS)
    );
    for row in rows {
        for mark in marks(row) {
            let ratio = if mark.truth > 0.0 { mark.claimed / mark.truth } else { f64::NAN };
            let _ = writeln!(
                html,
                "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td data-v=\"{}\">{}{}</td><td data-v=\"{}\">{}{}</td><td data-v=\"{ratio}\">{}</td><td>{}</td></tr>",
                if mark.is_off { " class=\"off\"" } else { "" },
                escape(row.tool),
                escape(row.experiment),
                escape(row.amount),
                mark.what,
                mark.claimed,
                number(mark.claimed),
                mark.unit,
                mark.truth,
                number(mark.truth),
                mark.unit,
                if ratio.is_finite() { number(ratio) } else { "–".to_owned() },
                if mark.is_off { "differs" } else { "" }
            );
        }
    }
    html.push_str("</tbody></table>\n");
}

fn tools(html: &mut String, run: &Value) {
    html.push_str("<h2>Tools</h2><table><tr><th>tool</th><th>language; what users write</th><th>version</th><th>installed by</th><th>remarks</th></tr>\n");
    for tool in run["tools"].as_array().into_iter().flatten() {
        let text = |name: &str| escape(tool[name].as_str().unwrap_or(""));
        let quirks: Vec<String> =
            tool["quirks"].as_array().into_iter().flatten().filter_map(|quirk| Some(escape(quirk.as_str()?))).collect();
        let reason = tool["reason"]
            .as_str()
            .map(|reason| format!("<span class=\"reason\">not to be had: {}</span> ", escape(reason)));
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td><td>{}{}</td></tr>",
            text("name"),
            text("about"),
            text("version"),
            text("installed_by"),
            reason.unwrap_or_default(),
            quirks.join("; ")
        );
    }
    html.push_str("</table>\n");
}

const INTRODUCTION: &str = "<p>Requests are counted by the server, CPU and memory by the kernel; what a tool says of itself stands beside \
it. Tools take turns, round by round. One machine runs both the tool and the server, so where the fastest tools meet the server's limit \
it is CPU that tells them apart, not requests a second; and a slower tool that waits for answers makes less load, which is no merit.</p>\n";

const STYLE: &str = "\
body{font:14px/1.45 system-ui,sans-serif;margin:24px auto;max-width:1240px;padding:0 16px;color:#1b1f24;background:#fff}\
table{border-collapse:collapse;font-size:12px}th,td{border-bottom:1px solid #ddd;padding:2px 7px;text-align:left;vertical-align:top}\
.sorts th{cursor:pointer;position:sticky;top:0;background:#fff}.off td,p.off{background:#fdecea}.reason{color:#8a4b00}\
pre{white-space:pre-wrap;max-width:760px;font-size:11px}svg{display:inline-block;margin:8px 12px 8px 0;font:11px system-ui,sans-serif}\
.title{font-weight:600;font-size:12px}.name{text-anchor:end}.middle{text-anchor:middle}.note{fill:#777;font-size:10px}\
.bar{fill:#9db4cc}.ours{fill:#d9480f}.interval{stroke:#222;fill:none}.grid{stroke:#ddd}.line{fill:none;stroke:#9db4cc;stroke-width:1.5}\
.our-line{fill:none;stroke:#d9480f;stroke-width:2.5}.our-name{fill:#d9480f;font-weight:600}";

const SCRIPT: &str = "\
for (const table of document.querySelectorAll('table.sorts')) {
  table.querySelectorAll('th').forEach((heading, column) => heading.addEventListener('click', () => {
    const body = table.tBodies[0], up = heading.dataset.up !== '1';
    heading.dataset.up = up ? '1' : '';
    const value = (row) => { const cell = row.cells[column]; return cell ? (cell.dataset.v ?? cell.textContent) : ''; };
    [...body.rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === '' || y === '') return (x === '') - (y === '');
      const order = x - y;
      return (Number.isNaN(order) ? x.localeCompare(y) : order) * (up ? 1 : -1);
    }).forEach((row) => body.append(row));
  }));
}";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_tools_print_cannot_break_the_page() {
        let cells = [
            json!({
                "experiment": "delay", "amount": "20", "tool": "k6-1", "round": 0, "users": 20,
                "command": "k6 run '</pre><script>alert(1)</script>'", "files": { "a.js": "<b>\u{1b}[2J" },
                "truth": { "rps": 1800.0, "requests": 9000, "added_ms": { "mean": 1.0, "p99": 2.0 } },
                "claim": { "rps": 900.0, "mean_ms": 11.0 }, "usage": { "cpu_us_per_request": 70.0 },
            }),
            json!({ "experiment": "delay", "amount": "20", "tool": "ab", "round": 0, "failed": "<img src=x>" }),
        ];
        let run = json!({ "described": "a <machine>", "tools": [], "calibration": [] });
        let html = page(&run, &Row::all(&cells));
        assert_eq!(html.matches("<script>").count(), 1);
        assert!(!html.contains("<b>") && !html.contains("<img") && !html.contains('\u{1b}'));
        assert!(html.contains("a &lt;machine&gt;") && html.contains("class=\"off\""));
        assert!(!html.contains("http://") && !html.contains("https://"), "nothing is fetched");
    }
}
