//! The summary in its shapes, numbers redacted.

use onrush_testkit::{GoodServer, Reply};

use crate::program::{Done, Program};

fn site() -> GoodServer {
    GoodServer::start(|_| Reply::text("hello"))
}

const SCRIPT: &str = "
    import http from 'k6/http';
    import { check, group } from 'k6';
    import { Trend, Counter } from 'k6/metrics';
    const trend = new Trend('my_trend', true), counter = new Counter('my_counter');
    export const options = { iterations: 3, thresholds: { http_req_failed: ['rate<0.5'], my_counter: ['count==6'] } };
    export default function () {
        group('front', () => check(http.get(__ENV.URL), { 'status is 200': (r) => r.status === 200, never: () => false }));
        trend.add(50_000);
        counter.add(2);
    }";

fn run(flags: &[&str]) -> Done {
    let server = site();
    let url = format!("URL={}", server.url("/"));
    Program::script(&[&["-q", "-e", &url], flags].concat(), SCRIPT).run().expect(0)
}

/// Times, rates and sizes replaced; counts stay.
fn redacted() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"[0-9.]+(?:ns|µs| ?ms|s\b)", "[t]");
    settings.add_filter(r"[0-9.]+ ?[kM]?B(/s)?", "[b]$1");
    settings.add_filter(r"[0-9.]+/s", "[r]/s");
    settings.add_filter(r"measurement (VALID|SUSPECT|INVALID)", "measurement [verdict]");
    // A response that is there before it is waited for has no arrival.
    settings.add_filter(r"measured of [0-9]+ requests", "measured of [n] requests");
    // What was redacted had a width.
    settings.add_filter(r"(\[[tbr]\](?:/s)?) +", "$1 ");
    settings.add_filter(r" +\n", "\n");
    settings
}

#[test]
fn compact() {
    let done = run(&[]);
    redacted().bind(|| {
        insta::assert_snapshot!(done.stdout, @r"
    █ THRESHOLDS

      http_req_failed
      ✓ 'rate<0.5' rate=0.00%

      my_counter
      ✓ 'count==6' count=6


    █ TOTAL RESULTS

      checks_total.......: 6      [r]/s
      checks_succeeded...: 50.00% 3 out of 6
      checks_failed......: 50.00% 3 out of 6

      ✓ status is 200
      ✗ never
        ↳  0% — ✓ 0 / ✗ 3

      CUSTOM
      my_counter.....................: 6     [r]/s
      my_trend.......................: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]

      HTTP
      http_req_duration..............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
        { expected_response:true }...: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_req_failed................: 0.00% 0 out of 3
      http_reqs......................: 3     [r]/s

      EXECUTION
      iteration_duration.............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      iterations.....................: 3     [r]/s

      NETWORK
      data_received..................: [b] [b]/s
      data_sent......................: [b] [b]/s


    █ MEASUREMENT

      ✓ measurement [verdict]
      latencies include Onrush's own delay: median [t], p(99) [t], max [t] (measured of [n] requests: too few to judge percentiles)
      percentiles are within ±0.14 % (exponential histogram)
    ")
    });
}

#[test]
fn full() {
    let done = run(&["--summary-mode=full"]);
    done.expect_output("█ GROUP: front").expect_output("http_req_blocked").expect_output("http_req_waiting");
}

#[test]
fn legacy() {
    let done = run(&["--summary-mode=legacy"]);
    redacted().bind(|| {
        insta::assert_snapshot!(done.stdout, @r"
      █ front

        ✓ status is 200
        ✗ never
         ↳  0% — ✓ 0 / ✗ 3

      checks.........................: 50.00% 3 out of 6
      data_received..................: [b] [b]/s
      data_sent......................: [b] [b]/s
      group_duration.................: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_req_blocked...............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_req_connecting............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_req_duration..............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
        { expected_response:true }...: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
    ✓ http_req_failed................: 0.00%  0 out of 3
      http_req_receiving.............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_req_sending...............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_req_tls_handshaking.......: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_req_waiting...............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      http_reqs......................: 3      [r]/s
      iteration_duration.............: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]
      iterations.....................: 3      [r]/s
    ✓ my_counter.....................: 6      [r]/s
      my_trend.......................: avg=[t] min=[t] med=[t] max=[t] p(90)=[t] p(95)=[t]

      ✓ measurement [verdict]
      latencies include Onrush's own delay: median [t], p(99) [t], max [t] (measured of [n] requests: too few to judge percentiles)
      percentiles are within ±0.14 % (exponential histogram)
    ")
    });
}

#[test]
fn columns_and_units() {
    let done = run(&["--summary-trend-stats=max,p(99),count", "--summary-time-unit=us"]);
    // Wider than anything the run itself may measure: the columns are as wide as the widest value.
    done.expect_output("my_trend.......................: max=50000000.00µs p(99)=50000000.00µs count=3");
}

#[test]
fn exported() {
    let json = run(&["--summary-export=out.json"]).json("out.json");
    assert_eq!(json["metrics"]["iterations"]["count"], 3);
    // k6: here true means crossed.
    assert_eq!(json["metrics"]["http_req_failed"]["thresholds"]["rate<0.5"], false);
    assert_eq!(json["root_group"]["groups"]["front"]["checks"]["never"]["fails"], 3);
    assert_eq!(json["requests"]["statuses"][0]["status"], 200);
    assert_eq!(json["requests"]["endpoints"], serde_json::Value::Null);
    let json = run(&["--summary-export=out.json", "--summary-mode=full"]).json("out.json");
    assert!(json["requests"]["endpoints"][0]["p(95)"].as_f64().is_some_and(|ms| ms > 0.0), "{json}");
    let json = run(&["--summary-export=out.json", "--new-machine-readable-summary"]).json("out.json");
    assert!(json["requests"]["statuses"][0]["count"].as_u64().is_some_and(|count| count > 0), "{json}");
    assert_eq!(json["version"], "1.0.0");
    assert_eq!(json["results"]["checks"]["metrics"][0]["values"]["count"], 6);
    assert!(json["config"]["script"].as_str().is_some_and(|source| source.contains("my_trend")));
}
