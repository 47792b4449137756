//! All outputs that deliver to servers at once, for minutes at thousands of requests a second, while their receivers are killed and come
//! back: each has in the end what the summary has. `cargo xtask trial outputs` runs it and keeps what it found.

use std::{collections::BTreeMap, time::Duration};

use onrush_testkit::otlp::{Mood, OtlpReceiver, PointValue};
use serde_json::{Value, json};

use crate::{
    influxdb::Influx,
    postgres::Postgres,
    program::{Program, Running},
    prometheus::Prometheus,
};

/// Five names with ten metrics each.
const SCRIPT: &str = "
    import http from 'k6/http';
    export const options = {
        scenarios: { load: { executor: 'constant-arrival-rate', rate: Number(__ENV.RATE), duration: __ENV.DURATION,
                             preAllocatedVUs: 200, maxVUs: 2000 } },
        thresholds: { 'http_req_duration{name:n0}': ['max>=0'] },
        summaryTrendStats: ['count', 'p(95)', 'max'],
    };
    const asks = Array.from({ length: 5 }, (_, n) => ({ tags: { name: `n${n}` } }));
    export default function () { http.get(`${__ENV.TARGET}/f/100`, asks[__ITER % 5]); }";

/// A number of the environment.
fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |text| text.parse().expect(name))
}

/// Memory in bytes, as the kernel counts it.
fn resident(running: &Running) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", running.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).map_or(0, |kib| kib << 10)
}

#[test]
#[ignore = "takes minutes of an idle machine: cargo xtask trial outputs"]
#[expect(clippy::print_stdout, reason = "whoever runs it looks at what it found")]
fn receivers_that_die_and_come_back_have_all() {
    let (seconds, rate) = (setting("ONRUSH_TRIAL_SECONDS", 600), setting("ONRUSH_TRIAL_RATE", 20_000));
    let mut target = Program::new(&["target", "--listen", "127.0.0.1:0"]).start();
    let line = target.wait_for("http://127.0.0.1:");
    let address = line.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:")).expect("an address");
    let (mut prometheus, mut influx, mut postgres) = (Prometheus::start(), Influx::start(), Postgres::start());
    // One that does not come back before the run is over.
    let mut gone = Influx::start();
    let otlp = OtlpReceiver::http(None);
    let outputs = [
        format!("prometheus-rw={}", prometheus.url()),
        format!("influxdb={}", influx.url("k6")),
        format!("influxdb={}", gone.url("k6")),
        format!("postgres={}", postgres.url()),
        format!("opentelemetry=http://{}", otlp.addr()),
        "result=run.onrush".to_owned(),
        "summary-json=seconds.json".to_owned(),
    ];
    let settings = [format!("RATE={rate}"), format!("DURATION={seconds}s"), format!("TARGET={address}")];
    let flags: Vec<&str> = outputs.iter().flat_map(|output| ["--out", output]).collect();
    let settings: Vec<&str> = settings.iter().flat_map(|setting| ["-e", setting]).collect();
    let flags = [&["-q", "--summary-export", "s.json"][..], &flags, &settings].concat();
    let run = Program::script(&flags, SCRIPT)
        .env("K6_PROMETHEUS_RW_TREND_STATS", "count,p(95),max")
        .env("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s")
        .start();
    // Away from a third of the run for a tenth of it; and one for good, a tenth before the end.
    let (away_from, away_until, gone_from) = (seconds / 3, seconds / 3 + seconds / 10, seconds - seconds / 10);
    let mut memory = Vec::new();
    for second in 0..seconds {
        if second == away_from {
            prometheus.kill();
            influx.kill();
            postgres.kill();
            otlp.set_mood(Mood::HangsUp);
        }
        if second == gone_from {
            gone.kill();
        }
        if second == away_until {
            prometheus.start_again();
            influx.start_again();
            postgres.start_again();
            otlp.set_mood(Mood::Takes);
        }
        if second >= 5 && second % (seconds / 20).max(1) == 0 {
            memory.push(resident(&run));
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    let done = run.wait().expect(0);
    target.signal(rustix::process::Signal::TERM);
    drop(target.wait());
    let summary = &done.json("s.json")["metrics"];
    let of = |metric: &str, value: &str| summary[metric][value].as_f64().expect(metric);
    let (requests, p95) = (of("http_reqs", "count"), of("http_req_duration{name:n0}", "p(95)"));
    let of_otlp = newest(&otlp);
    gone.start_again();
    let had = gone.number("k6", "SELECT SUM(value) FROM http_reqs");
    let by_postgres = |what: &str, metric: &str| {
        postgres.number(&format!("SELECT {what} FROM onrush_samples WHERE metric = '{metric}'"))
    };
    let counts = [
        ("prometheus", prometheus.number("sum(k6_http_reqs_total)")),
        ("prometheus, of a trend", prometheus.number("sum(k6_http_req_duration_count)")),
        ("influxdb", influx.number("k6", "SELECT SUM(value) FROM http_reqs")),
        ("influxdb, of a trend", influx.number("k6", "SELECT SUM(count) FROM http_req_duration")),
        ("postgres", by_postgres("sum(value)", "http_reqs")),
        ("postgres, of a trend", by_postgres("sum(count)", "http_req_duration")),
        ("opentelemetry", of_otlp["http_reqs"]),
        ("opentelemetry, of a trend", of_otlp["http_req_duration"]),
    ];
    let found = json!({
        "seconds": seconds, "rate": rate, "away_seconds": [away_from, away_until], "gone_from_second": gone_from,
        "requests_of_who_was_gone": had,
        "requests": requests, "dropped_iterations": summary["dropped_iterations"]["count"],
        "counts": counts.iter().map(|(name, count)| (*name, json!(count))).collect::<BTreeMap<_, Value>>(),
        "p95_ms": p95, "p95_of_prometheus_ms": prometheus.number("k6_http_req_duration_p95{name=\"n0\"}") * 1e3,
        "series": prometheus.number("count({__name__=~\"k6_http_req.*(_total|_count|_rate)\"})"),
        "resident_bytes": memory,
        "measurement": done.json("s.json")["measurement"],
        "log": done.stderr.lines().collect::<Vec<_>>(),
    });
    println!("{found:#}");
    if let Ok(path) = std::env::var("ONRUSH_TRIAL_RESULT") {
        std::fs::write(path, format!("{found:#}\n")).expect("a file");
    }
    for (name, count) in counts {
        assert_eq!(count, requests, "{name} has {count} of {requests}: what is missing must be told:\n{}", done.stderr);
    }
    // What the one lacks that was gone at the end is told to the request (iterations are requests here).
    assert!(had > 0.0 && had < requests, "{had} of {requests}");
    let lacks = format!("lacks {} of {requests} iterations", requests - had);
    assert!(done.stderr.contains(&lacks), "{lacks}\n{}", done.stderr);
    let of_prometheus = prometheus.number("k6_http_req_duration_p95{name=\"n0\"}") * 1e3;
    assert!((of_prometheus / p95 - 1.0).abs() < 1e-9, "{of_prometheus} instead of {p95}");
    // What waits for receivers that are away takes room, which the allocator keeps; with time it does not grow.
    let (later, last) = (memory[memory.len() * 2 / 3], memory[memory.len() - 1]);
    assert!(last < later + later / 20, "memory grows: {memory:?}");
}

/// The last count of each instrument, over all its series: what is told since the start.
fn newest(otlp: &OtlpReceiver) -> BTreeMap<String, f64> {
    assert_eq!(otlp.problems(), Vec::<String>::new());
    let mut last = BTreeMap::new();
    for point in otlp.points() {
        let count = match point.value {
            PointValue::Sum(sum) => sum,
            PointValue::Histogram { count, .. } | PointValue::Exponential { count, .. } => count as f64,
            PointValue::Count(_) | PointValue::Gauge(_) => continue,
        };
        last.insert((point.metric, point.attributes), count);
    }
    let mut sums = BTreeMap::new();
    last.into_iter().for_each(|((metric, _), count)| *sums.entry(metric).or_default() += count);
    sums
}
