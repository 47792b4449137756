//! What requests become, and the shapes of answers as k6 1.8.1 gives them.

use serde_json::json;

use crate::*;

/// What `GET /v1/status` of k6 answered.
const STATUS: &str = r#"{"data":{"type":"status","id":"default","attributes":{"status":7,"paused":false,"vus":2,"vus-max":5,"stopped":false,"running":true,"tainted":true}}}"#;
/// The same for `/v1/groups`, with the counts of the checks below.
const GROUPS: &str = r#"{"data":[{"type":"groups","id":"d41d8cd98f00b204e9800998ecf8427e","attributes":{"path":"","name":"","checks":null},"relationships":{"groups":{"data":[{"type":"groups","id":"9ccb03cc5acd728a2fe595bbd1f14da3"}]},"parent":{"data":null}}},{"type":"groups","id":"9ccb03cc5acd728a2fe595bbd1f14da3","attributes":{"path":"::g1","name":"g1","checks":[{"id":"a78dc076641b6ca35ffd09a7c2c8ee7d","path":"::g1::ok","name":"ok","passes":32,"fails":0}]},"relationships":{"groups":{"data":[{"type":"groups","id":"4cfc8bfa83b81689e8444e0a60a1a74d"}]},"parent":{"data":{"type":"groups","id":"d41d8cd98f00b204e9800998ecf8427e"}}}},{"type":"groups","id":"4cfc8bfa83b81689e8444e0a60a1a74d","attributes":{"path":"::g1::g2","name":"g2","checks":[{"id":"181fd4e29010e86c39e9caf2412e92d3","path":"::g1::g2::no","name":"no","passes":0,"fails":32}]},"relationships":{"groups":{"data":[]},"parent":{"data":{"type":"groups","id":"9ccb03cc5acd728a2fe595bbd1f14da3"}}}}]}"#;
/// And for `/v1/metrics/{name}`.
const METRIC: &str = r#"{"data":{"type":"metrics","id":"iterations","attributes":{"type":"counter","contains":"default","tainted":null,"sample":{"count":30,"rate":6.2495631334031065}}}}"#;

#[test]
fn shapes_are_those_of_k6() {
    assert_eq!(status(&Request::Status), Reply::ok(serde_json::from_str(STATUS).expect("JSON")));
    assert_eq!(Api::start(None, status).request("GET", "/v1/status", "", ""), (200, STATUS.to_owned()));
    let check = |id: &str, path: &str, name: &str, passes: u32, fails: u32| json!({"name": name, "path": path, "id": id, "passes": passes, "fails": fails});
    let summary = json!({
        "metrics": {
            "iterations": {"type": "counter", "contains": "default", "values": {"count": 30, "rate": 6.2495631334031065}},
            "checks": {"type": "rate", "contains": "default", "values": {"rate": 0.5, "passes": 1, "fails": 1}, "thresholds": {"rate>0.5": {"ok": false}}},
            "vus": {"type": "gauge", "contains": "default", "values": {"value": 2, "min": 1, "max": 3}, "thresholds": {"value>0": {"ok": true}}},
        },
        "root_group": {"name": "", "path": "", "id": "d41d8cd98f00b204e9800998ecf8427e", "checks": [], "groups": [
            {"name": "g1", "path": "::g1", "id": "9ccb03cc5acd728a2fe595bbd1f14da3",
             "checks": [check("a78dc076641b6ca35ffd09a7c2c8ee7d", "::g1::ok", "ok", 32, 0)],
             "groups": [{"name": "g2", "path": "::g1::g2", "id": "4cfc8bfa83b81689e8444e0a60a1a74d", "groups": [],
                         "checks": [check("181fd4e29010e86c39e9caf2412e92d3", "::g1::g2::no", "no", 0, 32)]}]}]},
    });
    assert_eq!(shape::groups(&summary).to_string(), GROUPS);
    assert_eq!(shape::metric(&summary, "iterations").map(|metric| metric.to_string()).as_deref(), Some(METRIC));
    assert_eq!(shape::metric(&summary, "nope"), None);
    assert_eq!(
        shape::group(&summary, "4cfc8bfa83b81689e8444e0a60a1a74d")
            .map(|group| group["data"]["attributes"]["name"].clone()),
        Some(json!("g2"))
    );
    let all = shape::metrics(&summary);
    assert_eq!(
        all["data"][1]["attributes"],
        json!({"type": "rate", "contains": "default", "tainted": true, "sample": {"rate": 0.5}})
    );
    assert_eq!(
        all["data"][2]["attributes"],
        json!({"type": "gauge", "contains": "default", "tainted": false, "sample": {"value": 2}})
    );
    assert_eq!(
        shape::setup(Some(r#"{"a":1}"#)),
        r#"{"data":{"type":"setupData","id":"default","attributes":{"data":{"a":1}}}}"#
    );
    assert_eq!(shape::setup(None).to_string(), r#"{"data":{"type":"setupData","id":"default","attributes":{}}}"#);
}

#[test]
fn every_endpoint_becomes_its_request() {
    let api = Api::start(None, |request| Reply::ok(json!(format!("{request:?}"))));
    let check = |method: &str, path: &str, body: &str, expect: &str| {
        let (status, body) = api.request(method, path, "", body);
        assert_eq!((status, body.trim_matches('"').replace('\\', "").as_str()), (200, expect), "{method} {path}");
    };
    check("GET", "/v1/metrics", "", "Metrics");
    check("GET", "/v1/metrics/http_reqs%7Ba:b%7D", "", r#"Metric("http_reqs{a:b}")"#);
    check("GET", "/v1/groups", "", "Groups");
    check("GET", "/v1/groups/x", "", r#"Group("x")"#);
    check("GET", "/v1/setup", "", "Setup");
    check("POST", "/v1/setup", "", "RunSetup");
    check("PUT", "/v1/setup", "", "SetSetup(None)");
    check("PUT", "/v1/setup", "[1, 2]", "SetSetup(Some(RawValue([1, 2])))");
    check("POST", "/v1/teardown", "", "RunTeardown");
    check("GET", "/v1/scenarios", "", "Scenarios");
    check("GET", "/v1/scenarios/a", "", r#"Scenario("a")"#);
    check("GET", "/v1/steering", "", "Steering");
    check(
        "PATCH",
        "/v1/scenarios/a",
        r#"{"data":{"attributes":{"rate":5}}}"#,
        r#"Steer("a", ChangeRequest { vus: None, max_vus: None, rate: Some(5), over: None })"#,
    );
    assert_eq!(api.request("GET", "/ping", "", ""), (200, "ok".to_owned()));
    assert_eq!(api.request("DELETE", "/v1/status", "", ""), (405, String::new()));
    assert_eq!(api.request("GET", "/v1/nothing", "", "").0, 404);
}

#[test]
fn the_client_asks_and_is_refused_without_the_token() {
    let api = Api::start(Some("secret"), status);
    let address = Address::parse(&api.address.to_string()).expect("valid");
    let client = |token: Option<&str>| onrush_server::Client::new(address.clone(), token.map(str::to_owned), None);
    assert_eq!(client(None).get("/v1/status").expect("an answer").status, 401);
    let answer = client(Some("secret")).get("/v1/status").expect("an answer");
    assert_eq!((answer.status, answer.body["data"]["attributes"]["vus"].clone()), (200, json!(2)));
    let error = client(Some("two\nlines")).get("/v1/status").expect_err("refused");
    assert!(!error.to_string().contains("lines\""), "{error}");
}
