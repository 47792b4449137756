//! `onrush grafana export`: the files in `dashboards/` are what it prints, and a real Prometheus and a real InfluxDB answer every query
//! of their dashboards with a real run's numbers (that for OpenTelemetry: `prometheus_3.rs`).

use onrush_testsite::TargetOptions;
use serde_json::Value;

use crate::{influxdb::Influx, program::Program, prometheus::Prometheus};

const DATABASES: [&str; 4] = ["prometheus-native", "prometheus", "influxdb", "otlp"];

fn exported(database: &str) -> String {
    Program::new(&["grafana", "export", "--for", database]).run().expect(0).stdout
}

#[test]
fn files_are_what_is_exported() {
    for database in DATABASES {
        let path = format!("{}/../../dashboards/{database}.json", env!("CARGO_MANIFEST_DIR"));
        let file = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            file == exported(database),
            "dashboards/{database}.json is not what `onrush grafana export --for {database}` prints: write it again"
        );
    }
    let done = Program::new(&["grafana", "export"]).run().expect(0);
    assert_eq!(done.stdout, exported("prometheus-native"));
    Program::new(&["grafana", "export", "--for", "excel"]).run().expect(255).expect_log("excel");
    Program::new(&["grafana"]).run().expect(255).expect_log("needs to know what to do");
}

#[test]
fn dashboards_are_whole() {
    for database in DATABASES {
        let dashboard: Value = serde_json::from_str(&exported(database)).expect("JSON");
        let panels = dashboard["panels"].as_array().expect("panels");
        let mut ids: Vec<u64> = panels.iter().filter_map(|panel| panel["id"].as_u64()).collect();
        ids.dedup();
        assert_eq!(ids.len(), panels.len());
        // No two panels lie on each other, and none is past the edge.
        let places: Vec<[u64; 4]> = panels
            .iter()
            .map(|panel| ["x", "y", "w", "h"].map(|key| panel["gridPos"][key].as_u64().expect("a place")))
            .collect();
        for (index, [x, y, w, h]) in places.iter().enumerate() {
            assert!(x + w <= 24, "{database}: panel {index}");
            for [ox, oy, ow, oh] in &places[..index] {
                let apart = x >= &(ox + ow) || ox >= &(x + w) || y >= &(oy + oh) || oy >= &(y + h);
                assert!(apart, "{database}: panel {index}");
            }
        }
    }
}

/// Two scenarios with what every panel shows: failures, checks, and iterations that are dropped.
const SCRIPT: &str = "
    import http from 'k6/http';
    import { check, sleep } from 'k6';
    export const options = { tags: { testid: 'grafana' }, scenarios: {
        look: { executor: 'constant-vus', vus: 3, duration: '8s' },
        buy: { executor: 'constant-arrival-rate', rate: 20, duration: '8s', preAllocatedVUs: 1, exec: 'buy' } } };
    export default function () {
        const page = http.get(`${__ENV.TARGET}/`, { tags: { name: 'page' } });
        check(page, { 'is there': (r) => r.status === 200, 'is not': (r) => r.status === 404 });
        http.get(`${__ENV.TARGET}/status/404`, { tags: { name: 'missing' } });
        sleep(0.1);
    }
    export function buy() { http.post(`${__ENV.TARGET}/post`, 'x'.repeat(100)); sleep(0.2); }";

#[test]
fn prometheus_answers_every_query() {
    let prometheus = Prometheus::start();
    for database in ["prometheus-native", "prometheus"] {
        pushed_to(&prometheus, database);
        prometheus_answers(&prometheus, database);
    }
}

/// What the compose file in packaging/grafana runs.
#[test]
fn the_script_to_look_at_runs() {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() })
            .expect("a target");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../packaging/grafana/script.js");
    let script = std::fs::read_to_string(path).expect("it is there").replace("'2m'", "'2s'");
    let address = format!("TARGET=http://{}", target.addr);
    let done = Program::script(&["-q", "-e", &address], &script).run().expect(0);
    done.expect_output("checks_succeeded...: 100.00%");
}

#[test]
fn influxdb_answers_every_query() {
    let influx = Influx::start();
    run_into(&format!("influxdb={}", influx.url("k6")), &[]);
    let rows = |query: &str| influx.rows("k6", query);
    let dashboard: Value = serde_json::from_str(&exported("influxdb")).expect("JSON");
    let count = each_query(&dashboard, "query", |panel, query| {
        let rows = rows(&in_influxdb(query));
        assert!(!rows.is_empty(), "{panel}: {query}");
        for row in rows {
            // Behind the time.
            assert!(row[1].as_f64().is_some_and(f64::is_finite), "{panel}: {query}: {row}");
        }
    });
    assert!(count > 25, "{count}");
    for variable in dashboard["templating"]["list"].as_array().expect("variables").iter().skip(1) {
        let query = variable["query"].as_str().expect("a query");
        assert!(rows(query).iter().all(|row| row[1].is_string()) && !rows(query).is_empty(), "{query}");
    }
}

/// Runs the script so that a dashboard for remote writes finds what it shows.
pub(crate) fn pushed_to(prometheus: &Prometheus, database: &str) {
    let how = match database {
        "prometheus-native" => ("K6_PROMETHEUS_RW_TREND_AS_NATIVE_HISTOGRAM", "true"),
        // As the guide says.
        _ => ("K6_PROMETHEUS_RW_TREND_STATS", "avg,med,p(90),p(95),p(99)"),
    };
    run_into(&format!("prometheus-rw={}", prometheus.url()), &[("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s"), how]);
}

/// Runs the script with an output.
pub(crate) fn run_into(out: &str, env: &[(&str, &str)]) {
    let target =
        onrush_testsite::start(TargetOptions { listen: ([127, 0, 0, 1], 0).into(), ..TargetOptions::default() })
            .expect("a target");
    let address = format!("TARGET=http://{}", target.addr);
    let program = Program::script(&["-q", "--out", out, "-e", &address], SCRIPT);
    env.iter().fold(program, |program, (name, value)| program.env(name, value)).run().expect(0);
}

/// Every query of a dashboard has an answer, and so have its variables.
pub(crate) fn prometheus_answers(prometheus: &Prometheus, database: &str) {
    let dashboard: Value = serde_json::from_str(&exported(database)).expect("JSON");
    let count = each_query(&dashboard, "expr", |panel, query| {
        let query = in_prometheus(query);
        let rows = prometheus.query(&query);
        assert!(!rows.is_empty(), "{database}, {panel}: {query}");
        // A heatmap's are histograms.
        for row in rows.iter().filter(|row| !row["value"].is_null()) {
            let number: f64 = row["value"][1].as_str().and_then(|text| text.parse().ok()).expect("a number");
            assert!(number.is_finite(), "{database}, {panel}: {query}: {row}");
        }
    });
    assert!(count > 25, "{count}");
    for variable in dashboard["templating"]["list"].as_array().expect("variables").iter().skip(1) {
        let query = variable["query"].as_str().expect("a query");
        let (metric, label) = query
            .strip_prefix("label_values(")
            .and_then(|rest| rest.strip_suffix(')')?.split_once(", "))
            .expect("label_values(…)");
        let rows = prometheus.query(&format!("count by ({label}) ({metric})"));
        assert!(rows.iter().any(|row| row["metric"][label].as_str().is_some()), "{query}: {rows:?}");
    }
}

/// Calls this with each panel's title and query, which has this name; how many there were.
fn each_query(dashboard: &Value, name: &str, mut check: impl FnMut(&str, &str)) -> usize {
    let mut count = 0;
    for panel in dashboard["panels"].as_array().expect("panels") {
        for target in panel["targets"].as_array().into_iter().flatten() {
            check(panel["title"].as_str().expect("a title"), target[name].as_str().expect("a query"));
            count += 1;
        }
    }
    count
}

/// A query as Grafana sends it.
fn in_prometheus(query: &str) -> String {
    filled(
        query,
        &[
            ("$testid", "grafana"),
            ("$scenario", ".*"),
            ("$name", ".*"),
            ("$__rate_interval", "30s"),
            ("$__range", "5m"),
        ],
    )
}

/// The same for InfluxQL.
fn in_influxdb(query: &str) -> String {
    filled(
        query,
        &[
            ("$timeFilter", "time > now() - 5m"),
            ("$testid", "grafana"),
            ("$scenario", ".*"),
            ("$name", ".*"),
            ("$__interval", "5s"),
        ],
    )
}

fn filled(query: &str, chosen: &[(&str, &str)]) -> String {
    chosen.iter().fold(query.to_owned(), |query, (name, value)| query.replace(name, value))
}
