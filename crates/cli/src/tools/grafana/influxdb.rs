//! Queries of InfluxDB in InfluxQL, which versions 1 and 2 know: what `--out influxdb` writes, a point for each series and second.

use super::figure::{Figure, What};

pub(super) fn query(figure: &Figure) -> Option<String> {
    let Figure { what, by } = figure;
    let condition = condition(*what);
    let tags: String = by.iter().map(|tag| format!(", \"{tag}\"::tag")).collect();
    let over_time = format!("{condition} GROUP BY time($__interval){tags} fill(none)");
    let in_all = match by {
        [] => condition.clone(),
        by => format!(
            "{condition} GROUP BY {}",
            by.iter().map(|tag| format!("\"{tag}\"::tag")).collect::<Vec<_>>().join(", ")
        ),
    };
    // Points of one second are added up before their average over a longer interval is taken.
    let per_second = |metric: &str, more: &str| {
        format!(
            "SELECT mean(\"s\") FROM (SELECT sum(\"value\") AS \"s\" FROM \"{metric}\" WHERE {condition}{more} GROUP BY time(1s){tags} fill(none)) WHERE $timeFilter GROUP BY time($__interval){tags} fill(none)"
        )
    };
    Some(match *what {
        What::PerSecond(metric) => per_second(metric, ""),
        What::FailedPerSecond => per_second("http_reqs", FAILED),
        What::Total(metric) => format!("SELECT sum(\"value\") FROM \"{metric}\" WHERE {in_all}"),
        What::FailedShare => share("http_req_failed", &over_time),
        What::Share(metric) => share(metric, &in_all),
        What::Level(metric) => format!("SELECT max(\"value\") FROM \"{metric}\" WHERE {over_time}"),
        // Of the seconds and series in an interval the worst: percentiles cannot be put together.
        What::Percentile(metric, percent) => {
            let field = if percent == 50 { "med".to_owned() } else { format!("p{percent}") };
            format!("SELECT max(\"{field}\") / 1000 FROM \"{metric}\" WHERE {over_time}")
        }
        What::Mean(metric) => {
            format!("SELECT sum(\"sum\") / sum(\"count\") / 1000 FROM \"{metric}\" WHERE {over_time}")
        }
        What::Heat(_) => return None,
    })
}

/// The values of a tag of the runs there are.
pub(super) fn values(tag: &str) -> String {
    let metric = if tag == "name" { "http_reqs" } else { "iterations" };
    format!("SHOW TAG VALUES FROM \"{metric}\" WITH KEY = \"{tag}\"")
}

const FAILED: &str = " AND \"expected_response\"::tag = 'false'";

fn share(metric: &str, rest: &str) -> String {
    format!("SELECT sum(\"value\") / sum(\"count\") FROM \"{metric}\" WHERE {rest}")
}

fn condition(what: What) -> String {
    let mut condition = "$timeFilter AND \"testid\"::tag =~ /^$testid$/".to_owned();
    if !what.is_of_run() {
        condition.push_str(" AND \"scenario\"::tag =~ /^$scenario$/");
    }
    if what.is_of_requests() {
        condition.push_str(" AND \"name\"::tag =~ /^$name$/");
    }
    condition
}
