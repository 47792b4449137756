//! A staged ramp to 6,000 VUs that post JSON once a second: do all arrive, and is it reported?

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use crate::bench::{
    client::Client,
    clock,
    lab::Lab,
    load::{Load, Measurement, measure_with},
    report::{Bound, Table, cell},
    server::{Kind, Server},
};

pub(super) const NAME: &str = "stages";

const VUS: u64 = 6_000;

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let (ramp, hold, fall): (u64, u64, u64) = lab.options.pick((5, 5, 3), (30, 60, 15));
    // The full shape costs k6 minutes and tells nothing about Onrush.
    let clients: &[Client] = lab.options.pick(&[Client::Onrush], &[Client::Onrush, Client::K6]);
    let mut table = Table::new(
        format!(
            "Stages to {VUS} VUs, POST JSON, sleep(1), target, unpinned: {ramp} s up, {hold} s hold, {fall} s down"
        ),
        &[
            "client",
            "VUs reached",
            "connections at once",
            "requests",
            "failed",
            "p(99) ms",
            "CPU µs/request",
            "RSS MB",
            "ended with",
        ],
    );
    for &client in clients {
        let mut server = Server::start(lab, Kind::Target)?;
        let load = Load {
            script: "examples/stages-6000.js",
            env: vec![
                ("URL", server.url("/post")),
                ("VUS", VUS.to_string()),
                ("RAMP", format!("{ramp}s")),
                ("HOLD", format!("{hold}s")),
                ("FALL", format!("{fall}s")),
            ],
            vus: None,
            seconds: ramp + hold + fall,
            url: String::new(),
            pinned: false,
            // For k6, which may be too slow here; ours are looked at below.
            thresholds_may_fail: true,
            ..Load::default()
        };
        let (mut open_max, mut next) = (0, clock::now());
        let measured = measure_with(lab, client, &load, &mut server, |server| {
            if clock::now() >= next {
                next = clock::now() + LOOK;
                // One of them is ours.
                open_max = open_max.max(server.counts()?.open.saturating_sub(1));
            }
            Ok(())
        })?;
        let reached = measured.metric("vus", "max");
        let trend = "http_req_duration";
        table.row([
            client.name(),
            cell(reached),
            cell(Some(open_max as f64)),
            cell(measured.metric("http_reqs", "count")),
            cell(measured.metric("http_req_failed", "passes")),
            cell(measured.metric(trend, "p(99)")),
            cell(Some(measured.cpu_us())),
            cell(Some(measured.rss_mb())),
            measured.usage.ending(),
        ]);
        let mut record = measured.to_json();
        record["connections_at_once"] = json!(open_max);
        lab.record(NAME, record);
        if client == Client::Onrush {
            judge(lab, &measured, open_max);
        }
    }
    lab.report.table(table);
    Ok(())
}

fn judge(lab: &mut Lab, measured: &Measurement, open_max: u64) {
    let wanted = Bound::AtLeast(VUS as f64);
    lab.report.limit(NAME, "VUs reached, as reported", measured.metric("vus", "max"), wanted, "");
    lab.report.limit(NAME, "VUs reached, as connections at the target", Some(open_max as f64), wanted, "");
    let code = measured.usage.status.code().map(f64::from);
    lab.report.limit(NAME, "exit code: all thresholds hold", code, Bound::AtMost(0.0), "");
    // p(99) and count were asked for with summaryTrendStats.
    let reported =
        measured.metric("http_req_duration", "p(99)").and_then(|_| measured.metric("http_req_duration", "count"));
    let share = reported.map(|count| count / measured.requests as f64);
    lab.report.limit(
        NAME,
        "requests in the summary's trend / requests at the target",
        share,
        Bound::AtLeast(0.999),
        "",
    );
}

const LOOK: Duration = Duration::from_millis(250);
