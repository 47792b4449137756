//! The charts on one page, which needs nothing else, with the numbers in a table.

use super::{Ran, sample::summed_up};

const STYLE: &str = "body{font:16px sans-serif;margin:2em auto;max-width:960px;padding:0 1em}svg{max-width:100%;height:auto}\
table{border-collapse:collapse}td,th{text-align:left;padding:.2em 1em .2em 0;border-bottom:1px solid #ccc}";

/// The page.
pub(super) fn html(charts: &[(String, String)], runs: &[Ran]) -> String {
    let row = |run: &Ran| {
        let Ran { load, vus, client, samples } = run;
        format!(
            "<tr><td>{}</td><td>{vus}</td><td>{}</td><td>{}</td></tr>\n",
            load.name,
            client.name(),
            summed_up(samples)
        )
    };
    let rows: String = runs.iter().map(row).collect();
    let charts: String =
        charts.iter().map(|(name, svg)| format!("<figure id=\"{name}\">\n{svg}\n</figure>\n")).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>What a load test needs</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>What a load test needs of its machine</h1>\n<table>\n<tr><th>load</th><th>VUs</th><th>program</th><th>use</th></tr>\n{rows}</table>\n{charts}</body>\n</html>\n"
    )
}
