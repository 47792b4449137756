//! `onrush capacity`, on servers whose capacity is known. The search itself has tests of its own (crate analysis).

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use onrush_testkit::{GoodServer, Reply};
use serde_json::Value;

use crate::program::{Done, Program};

const SCRIPT: &str = "
import http from 'k6/http';
export const options = { vus: 3, duration: '1h', thresholds: { http_req_duration: ['p(99)<1'] } };
export function setup() { return { path: '/' }; }
export default (data) => { http.get(__ENV.URL + data.path); };
";

/// A server that does one thing at a time, so many milliseconds each.
fn busy(each: Duration) -> GoodServer {
    let desk: Arc<Mutex<()>> = Arc::default();
    GoodServer::start(move |_| {
        let _turn = desk.lock().expect("no panic");
        std::thread::sleep(each);
        Reply::text("ok")
    })
}

fn search(url: &str, flags: &[&str]) -> Program {
    let url = format!("URL={}", url.trim_end_matches('/'));
    let usual = ["capacity", "--json", "-e", &url, "--warm-up", "0s", "--step", "1s"];
    let words = [&usual, flags, &["script.js"]].concat();
    Program::new(&words).file("script.js", SCRIPT)
}

fn json(done: &Done) -> Value {
    serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error} in {}\n{}", done.stdout, done.stderr))
}

#[test]
fn a_server_that_does_one_thing_at_a_time() {
    // 10 ms each: 100 a second, and less than that with time to spare.
    let server = busy(Duration::from_millis(10));
    let flags = [
        "--slo",
        "http_req_duration p(95)<150",
        "--slo",
        "http_req_failed rate<0.01",
        "--start",
        "30",
        "--precision",
        "15%",
    ];
    let done = search(&server.url("/"), &flags).run().expect(0);
    let found = json(&done);
    assert_eq!(found["end"], "found");
    let highest = found["highest"].as_f64().expect("a rate");
    // A sleep of 10 ms takes a little longer.
    assert!((60.0..=110.0).contains(&highest), "{found:#}");
    assert!(found["broke"].as_f64().is_some_and(|broke| broke > highest && broke <= 1.2 * highest), "{found:#}");
    let trials = found["trials"].as_array().expect("trials");
    assert!(trials.iter().any(|trial| trial["purpose"] == "recover"), "{found:#}");
    let broke = trials.iter().find(|trial| trial["outcome"] == "broke").expect("one broke");
    assert_eq!(broke["figures"]["why"][0], "http_req_duration p(95)<150");
}

#[test]
fn a_search_that_was_cut_goes_on() {
    let server = busy(Duration::from_millis(1));
    let goals = ["--slo", "http_req_duration p(95)<2000", "--max-rate", "40", "--start", "20", "--state", "state.json"];
    let done = search(&server.url("/"), &goals).run().expect(0);
    let whole = json(&done);
    assert_eq!((&whole["end"], &whole["highest"]), (&Value::from("unbroken"), &Value::from(40.0)));
    let mut state: Value = done.json("state.json");
    let trials = state["trials"].as_array_mut().expect("trials");
    let count = trials.len();
    trials.truncate(1);
    let before = server.requests();
    let again = search(&server.url("/"), &goals).file("state.json", &state.to_string()).run().expect(0);
    assert_eq!(json(&again)["trials"].as_array().map(Vec::len), Some(count));
    let first = whole["trials"][0]["figures"]["requests"].as_f64().expect("a number");
    assert!((server.requests() - before) as f64 <= before as f64 - first, "the first trial was made again");
    let other = ["--slo", "http_req_duration p(95)<2", "--state", "state.json"];
    let refused = search(&server.url("/"), &other).file("state.json", &state.to_string()).run().expect(255);
    refused.expect_log("is of another search");
}

#[test]
fn vus_are_searched_for_as_well() {
    // Ten at a time and no more.
    let seats = Arc::new(Mutex::new(0_u32));
    let server = GoodServer::start(move |_| {
        *seats.lock().expect("no panic") += 1;
        let is_full = *seats.lock().expect("no panic") > 10;
        std::thread::sleep(Duration::from_millis(if is_full { 200 } else { 20 }));
        *seats.lock().expect("no panic") -= 1;
        Reply::text("ok")
    });
    let flags = ["--slo", "http_req_duration max<150", "--max-vus", "64", "--start", "4"];
    let found = json(&search(&server.url("/"), &flags).run().expect(0));
    let highest = found["highest"].as_f64().expect("VUs");
    assert!((8.0..=11.0).contains(&highest), "{found:#}");
}

#[test]
fn what_cannot_be_searched_is_told_before_the_first_trial() {
    let check = |flags: &[&str], expect: &str| {
        search("http://127.0.0.1:9/", flags).run().expect(255).expect_log(expect);
    };
    check(&[], "needs goals that a load has to hold");
    check(&["--slo", "http_req_duration"], "there is no space between the two");
    check(&["--slo", "nothing p(95)<3"], "invalid --slo");
    check(&["--slo", "http_reqs count>1", "--max-vus", "3", "--max-rate", "3"], "give one of them");
    check(&["--slo", "http_reqs count>1", "--step", "1ms"], "too short to measure anything");
    check(&["--slo", "http_reqs count>1", "--warm-up", "1ms"], "--warm-up is 0s, or 1s and more");
    check(&["--slo", "http_reqs count>1", "--precision", "5"], "invalid --precision");
    let down = search("http://127.0.0.1:9/", &["--slo", "http_req_failed rate<0.01"]).run().expect(99);
    assert_eq!(json(&down)["end"], "broken");
}
