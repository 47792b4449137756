//! The truth of latencies: what each client reports of a server that answers after exactly 10 ms.
//!
//! What is more than 10 ms is the client's own doing, the kernel's, and what the server is late. A client may also
//! report too little (wrk's mean does, by some 0.06 ms): with N connections that are always busy, N divided by the
//! requests a second that the server saw is what a request really took. That is what clients are compared by, and what
//! ours must report.

use anyhow::{Context, Result};
use serde_json::json;

use super::comparison::Comparison;
use crate::bench::{
    client::Client,
    lab::Lab,
    load::{Load, Measurement},
    report::{Bound, Table, cell, medians},
    series::median,
    server::{Kind, Server, Settings},
};

pub(super) const NAME: &str = "latency";

const CONNECTIONS: [u64; 2] = [20, 250];
const CLIENTS: &[Client] = &[Client::Onrush, WRK, Client::Ab, Client::Hey, Client::K6];
const WRK: Client = Client::Wrk { threads: 1 };
const DELAY: &str = "10ms";
const DELAY_MS: f64 = 10.0;
/// How much our p(99) may be above that of the best other client: what a shared machine does to 1 % of the requests.
const P99_ABOVE_MAX_MS: f64 = 0.5;
/// How far the mean we report may be from what requests really took.
const UNTRUTH_MAX_MS: f64 = 0.05;

/// What a client says about latencies, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AddedLatency {
    mean: f64,
    p99: f64,
}

/// What requests of a round really took, and what was said of them; in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Seen {
    took: f64,
    mean: f64,
    p99: f64,
}

pub(super) fn run(lab: &mut Lab) -> Result<()> {
    let settings = Settings { delay: Some(DELAY), ..Settings::default() };
    let mut server = Server::start_with(lab, Kind::Target, settings)?;
    for connections in CONNECTIONS {
        let url = server.url(server.kind.small());
        let load = Load {
            script: "examples/minimal.js",
            env: vec![("URL", url.clone())],
            vus: Some(connections),
            seconds: lab.options.pick(3, 8),
            url,
            ..Load::default()
        };
        let mut comparison = Comparison::new(NAME, format!("{connections} connections"), load, CLIENTS);
        for round in 0..lab.options.rounds_few() {
            comparison.round(lab, round, &mut server)?;
        }
        show(lab, &comparison, connections)?;
    }
    Ok(())
}

fn show(lab: &mut Lab, comparison: &Comparison, connections: u64) -> Result<()> {
    let mut table = Table::new(
        format!(
            "A server that answers after {DELAY_MS} ms, {connections} connections: {}",
            medians(lab.options.rounds_few())
        ),
        &[
            "client",
            "requests/s",
            "mean − 10 ms",
            "p(99) − 10 ms",
            "connections / requests/s − 10 ms",
            "CPU µs/request",
        ],
    );
    let mut ours: Vec<Seen> = Vec::new();
    // The best of the others, round by round.
    let mut best: Vec<Seen> = Vec::new();
    for client in comparison.clients() {
        let measured = comparison.measurements(client);
        let seen = measured
            .iter()
            .map(|one| {
                let AddedLatency { mean, p99 } = reported(one)?;
                Ok(Seen { took: connections as f64 * 1000.0 / one.rps(), mean, p99 })
            })
            .collect::<Result<Vec<_>>>()?;
        let above = |value: fn(&Seen) -> f64| median(&seen.iter().map(|one| value(one) - DELAY_MS).collect::<Vec<_>>());
        for (round, one) in seen.iter().enumerate() {
            let record = json!({ "client": client.name(), "setup": comparison.setup, "round": round, "reported_mean_ms": one.mean, "reported_p99_ms": one.p99 });
            lab.record(NAME, record);
        }
        table.row([
            client.name(),
            cell(comparison.median(client, Measurement::rps)),
            cell(above(|one| one.mean)),
            cell(above(|one| one.p99)),
            cell(above(|one| one.took)),
            cell(comparison.median(client, Measurement::cpu_us)),
        ]);
        if client == Client::Onrush {
            ours = seen;
        } else if best.is_empty() {
            best = seen;
        } else {
            for (best, one) in best.iter_mut().zip(seen) {
                *best =
                    Seen { took: best.took.min(one.took), mean: best.mean.min(one.mean), p99: best.p99.min(one.p99) };
            }
        }
    }
    table.note("ab reports whole milliseconds for percentiles, hey tenths: less than the truth is their rounding.");
    lab.report.table(table);
    // As with ratios: what was measured in the same round is compared.
    let above_best = |value: fn(&Seen) -> f64| {
        median(&ours.iter().zip(&best).map(|(ours, best)| value(ours) - value(best)).collect::<Vec<_>>())
    };
    let untruth = median(&ours.iter().map(|one| (one.mean - one.took).abs()).collect::<Vec<_>>());
    for (what, measured, most) in [
        ("what a request took − the best other client's", above_best(|one| one.took), 0.0),
        ("the mean that is reported, off by", untruth, UNTRUTH_MAX_MS),
        ("p(99) − the best other client's", above_best(|one| one.p99), P99_ABOVE_MAX_MS),
    ] {
        let what = format!("{}: {what}", comparison.setup);
        lab.report.limit(NAME, what, measured, Bound::AtMost(most), " ms");
    }
    Ok(())
}

/// Reads what a client printed or summed up.
fn reported(measurement: &Measurement) -> Result<AddedLatency> {
    let text = &measurement.printed;
    let found = match measurement.client {
        Client::Onrush | Client::K6 => measurement
            .metric("http_req_duration", "avg")
            .zip(measurement.metric("http_req_duration", "p(99)"))
            .map(|(mean, p99)| AddedLatency { mean, p99 }),
        Client::Wrk { .. } => of_wrk(text),
        Client::Ab => of_ab(text),
        _ => of_hey(text),
    };
    found.with_context(|| format!("{} printed no latencies: {text}", measurement.client.name()))
}

/// `    Latency    10.59ms  421.00us  16.49ms   85.12%` and `     99%   11.97ms`.
fn of_wrk(text: &str) -> Option<AddedLatency> {
    let word = |start: &str| {
        text.lines()
            .find_map(|line| line.trim_start().strip_prefix(start)?.split_whitespace().next().map(str::to_owned))
    };
    Some(AddedLatency { mean: wrk_ms(&word("Latency  ")?)?, p99: wrk_ms(&word("99%")?)? })
}

fn wrk_ms(text: &str) -> Option<f64> {
    let (digits, scale) = [("us", 0.001), ("ms", 1.0), ("s", 1000.0)]
        .iter()
        .find_map(|(unit, scale)| text.strip_suffix(unit).map(|digits| (digits, scale)))?;
    Some(digits.parse::<f64>().ok()? * scale)
}

/// `Time per request:       10.451 [ms] (mean)` and `  99%     11`.
fn of_ab(text: &str) -> Option<AddedLatency> {
    let number = |start: &str| {
        text.lines().find_map(|line| line.trim_start().strip_prefix(start)?.split_whitespace().next()?.parse().ok())
    };
    Some(AddedLatency { mean: number("Time per request:")?, p99: number("99%")? })
}

/// `  Average:\t0.0106 secs` and `  99% in 0.0116 secs`, in newer versions `99%% in`.
fn of_hey(text: &str) -> Option<AddedLatency> {
    let seconds = |start: &str| {
        let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(start))?;
        rest.split_whitespace().find_map(|word| word.parse::<f64>().ok()).map(|seconds| seconds * 1000.0)
    };
    Some(AddedLatency { mean: seconds("Average:")?, p99: seconds("99%")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_print() {
        let wrk = "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency    10.59ms  421.00us  16.49ms   85.12%\n  Latency Distribution\n     50%   10.51ms\n     99%   11.97ms\n";
        assert_eq!(of_wrk(wrk), Some(AddedLatency { mean: 10.59, p99: 11.97 }));
        assert_eq!(wrk_ms("1.50s"), Some(1500.0));
        let ab = "Time per request:       10.451 [ms] (mean)\nTime per request:       0.523 [ms] (mean, across all)\n  98%     11\n  99%     12\n";
        assert_eq!(of_ab(ab), Some(AddedLatency { mean: 10.451, p99: 12.0 }));
        let hey = "  Average:\t0.0106 secs\n  99%% in 0.0116 secs\n";
        assert_eq!(of_hey(hey).map(|one| (one.mean * 10.0).round()), Some(106.0));
        assert_eq!(of_hey("nothing"), None);
    }
}
