//! The text of every validation. Unless marked, the expected texts are what k6 1.8.1 prints.

use super::script;

/// `expect` is the whole message, or after the usual first line the only problem.
fn check(options: &str, expect: &str) {
    let got = match script(options) {
        Ok(_) => "ok".to_owned(),
        Err(text) => text,
    };
    let got = got.strip_prefix("There were problems with the specified script configuration:\n\t- ").unwrap_or(&got);
    assert_eq!(got, expect, "for {options}");
}

/// One scenario named `a`.
fn scenario(fields: &str, expect: &str) {
    let expect =
        if expect == "ok" { expect.to_owned() } else { format!("scenario a has configuration errors: {expect}") };
    check(&format!(r#"{{"scenarios": {{"a": {fields}}}}}"#), &expect);
}

#[test]
fn numbers() {
    check(r#"{"vus": "3"}"#, "ok");
    check(r#"{"vus": 1e3}"#, "ok");
    check(r#"{"vus": ""}"#, "ok");
    check(r#"{"vus": null}"#, "ok");
    // Own texts: k6 prints Go's errors, which name no option.
    check(r#"{"vus": "x"}"#, r#"vus: "x" is not a whole number"#);
    check(r#"{"vus": 1.5}"#, "vus: 1.5 is not a whole number within 64 bits");
    check(r#"{"vus": true}"#, "vus: expected a whole number, got true");
    check(r#"{"maxRedirects": 99999999999999999999}"#, "maxRedirects: 1e+20 is not a whole number within 64 bits");
    check(
        r#"{"scenarios": {"a": {"executor": "constant-arrival-rate", "rate": 1.5}}}"#,
        "scenarios.a.rate: 1.5 is not a whole number within 64 bits",
    );
    check(
        r#"{"scenarios": {"a": {"executor": "ramping-vus", "stages": [{"target": 1}, {"target": "q"}]}}}"#,
        r#"scenarios.a.stages[1].target: "q" is not a whole number"#,
    );
}

#[test]
fn wrong_types_name_the_option() {
    // Own texts.
    check("5", "options: expected an object, got 5");
    check(r#"{"noSetup": "true"}"#, r#"noSetup: expected true or false, got "true""#);
    check(r#"{"stages": {}}"#, "stages: expected a list, got an object");
    check(r#"{"tags": {"a": 5}}"#, "tags.a: expected a text, got 5");
    check(r#"{"thresholds": {"checks": [5]}}"#, "thresholds.checks[0]: expected an expression or an object, got 5");
    let stage = r#"stages[0]: expected an object such as { duration: "1m", target: 100 }, got a list"#;
    check(r#"{"stages": [["1m", 100]]}"#, stage);
    check(
        r#"{"scenarios": {"a": {"executor": "ramping-vus", "stages": [["1m", 100]]}}}"#,
        &format!("scenarios.a.{stage}"),
    );
    check(r#"{"dns": ["5m"]}"#, r#"dns: expected an object such as { ttl: "5m", select: "random" }, got a list"#);
    check(
        r#"{"tlsAuth": [["a", "b"]]}"#,
        r#"tlsAuth[0]: expected an object such as { cert: open("cert.pem"), key: open("key.pem") }, got a list"#,
    );
    check(r#"{"scenarios": []}"#, "scenarios: expected an object, got a list");
    check(r#"{"scenarios": {"a": 5}}"#, "scenarios.a: expected an object, got 5");
    check(r#"{"scenarios": {"a": {"executor": 5}}}"#, "scenarios.a.executor: expected text, got 5");
    assert!(script("{").unwrap_err().contains("EOF"));
}

/// k6: what is null within a map is empty.
#[test]
fn null_is_empty() {
    check(r#"{"tags": {"a": null}, "thresholds": {"checks": null}}"#, "ok");
    scenario(r#"{"executor": "shared-iterations", "tags": {"a": null}, "env": {"b": null}}"#, "ok");
}

#[test]
fn options_of_modules() {
    let with = |options: &str| format!(r#"{{"executor": "shared-iterations", "options": {options}}}"#);
    scenario(&with(r#"{"browser": {"type": "chromium", "more": [1]}}"#), "ok");
    scenario(&with("null"), "ok");
    let wrong = |options: &str, expect: &str| check(&format!(r#"{{"scenarios": {{"a": {}}}}}"#, with(options)), expect);
    wrong("5", "scenarios.a.options: expected an object, got 5");
    wrong(r#"{"foo": 1}"#, r#"json: unknown field "foo" in scenarios.a.options"#);
    wrong(r#"{"browser": 5}"#, "scenarios.a.options.browser: expected an object, got 5");
}

#[test]
fn durations() {
    let write = r#"write "30s", "1m30s" or a number of milliseconds"#;
    check(r#"{"duration": true}"#, &format!("duration: 'true' is not a valid duration value: {write}"));
    check(r#"{"duration": "abc"}"#, &format!(r#"duration: time: invalid duration "abc": {write}"#));
    check(r#"{"minIterationDuration": "1d-2h"}"#, &format!("minIterationDuration: invalid time format '-2h': {write}"));
    check(r#"{"setupTimeout": 0}"#, "setupTimeout must be positive");
    check(r#"{"setupTimeout": "-1s"}"#, "setupTimeout must be positive");
    check(r#"{"teardownTimeout": 0}"#, "ok");
    // k6 2.x has it.
    check(r#"{"handleSummaryTimeout": 0}"#, "handleSummaryTimeout must be positive");
    check(r#"{"handleSummaryTimeout": "-1s"}"#, "handleSummaryTimeout must be positive");
}

#[test]
fn shortcuts() {
    let stages = r#""stages": [{"duration": "1s", "target": 3}]"#;
    let scenarios = r#""scenarios": {"a": {"executor": "constant-vus", "duration": "1s"}}"#;
    for (left, right, expect) in [
        (r#""iterations": 5"#, stages, "using `iterations` and `stages` options simultaneously is not allowed"),
        (r#""iterations": 5"#, scenarios, "using `iterations` and `scenarios` options simultaneously is not allowed"),
        (r#""duration": "5s""#, stages, "using `duration` and `stages` options simultaneously is not allowed"),
        (r#""duration": "5s""#, scenarios, "using `duration` and `scenarios` options simultaneously is not allowed"),
        (stages, scenarios, "using `stages` and `scenarios` options simultaneously is not allowed"),
    ] {
        check(&format!("{{{left}, {right}}}"), expect);
    }
    let positive =
        "`duration` option should be more than 0, for infinite duration use the externally-controlled executor";
    for duration in ["0", "-5", r#""0s""#] {
        check(&format!(r#"{{"duration": {duration}}}"#), positive);
    }
    check(
        r#"{"duration": "100ms"}"#,
        "scenario default has configuration errors: the duration must be at least 1s, but is 100ms (a number is in milliseconds; for seconds write '100s')",
    );
    check(
        r#"{"iterations": 5, "vus": 10}"#,
        "scenario default has configuration errors: the number of iterations (5) can't be less than the number of VUs (10)",
    );
    check(
        r#"{"iterations": -1}"#,
        "scenario default has configuration errors: the number of iterations (-1) can't be less than the number of VUs (1)",
    );
    check(
        r#"{"iterations": 5, "vus": 0}"#,
        "scenario default has configuration errors: the number of VUs must be more than 0",
    );
    check(
        r#"{"iterations": 5, "duration": "100ms"}"#,
        "scenario default has configuration errors: the maxDuration must be at least 1s, but is 100ms (a number is in milliseconds; for seconds write '100s')",
    );
    check(
        r#"{"vus": 0, "duration": "3s"}"#,
        "scenario default has configuration errors: the number of VUs must be more than 0",
    );
    check(
        r#"{"vus": 0, "stages": [{"duration": "1s"}]}"#,
        "scenario default has configuration errors: either startVUs or one of the stages' target values must be greater than 0, stage 1 doesn't have a target",
    );
    check(r#"{"stages": [{"duration": "1s", "target": 3, "x": 1}]}"#, "ok");
}

#[test]
fn scenario_shape() {
    check(r#"{"scenarios": {"a": {}}}"#, "scenario 'a' doesn't have a specified executor type");
    check(r#"{"scenarios": {"a": null}}"#, "scenario 'a' doesn't have a specified executor type");
    check(r#"{"scenarios": {"a": {"executor": ""}}}"#, "scenario 'a' doesn't have a specified executor type");
    check(
        r#"{"scenarios": {"a": {"executor": "foo"}}}"#,
        "unknown executor type 'foo' in scenarios.a, use shared-iterations, per-vu-iterations, constant-vus, ramping-vus, constant-arrival-rate, ramping-arrival-rate or externally-controlled",
    );
    // The place is added to k6's text.
    check(
        r#"{"scenarios": {"a": {"executor": "constant-vus", "durationn": "1s"}}}"#,
        r#"json: unknown field "durationn" in scenarios.a, did you mean "duration"?"#,
    );
    check(
        r#"{"scenarios": {"a": {"executor": "constant-vus", "rate": 3}}}"#,
        r#"json: unknown field "rate" in scenarios.a"#,
    );
    check(
        r#"{"scenarios": {"a": {"executor": "ramping-vus", "stages": [{"foo": 1}]}}}"#,
        r#"json: unknown field "foo" in scenarios.a.stages[0]"#,
    );
    check(
        r#"{"scenarios": {"": {"executor": "constant-vus", "duration": "1s"}}}"#,
        "scenario  has configuration errors: scenario name can't be empty, the scenario name should contain only numbers, latin letters, underscores, and dashes",
    );
    check(
        r#"{"scenarios": {"a b": {"executor": "constant-vus", "duration": "1s"}}}"#,
        "scenario a b has configuration errors: the scenario name should contain only numbers, latin letters, underscores, and dashes",
    );
    scenario(
        r#"{"executor": "constant-vus", "duration": "1s", "startTime": "-1s", "gracefulStop": "-2s", "exec": "", "vus": 0}"#,
        "exec value cannot be empty, the startTime can't be negative, the gracefulStop timeout can't be negative, the number of VUs must be more than 0",
    );
    scenario(r#"{"EXECUTOR": "constant-vus", "Duration": "1s", "VUs": "5"}"#, "ok");
}

#[test]
fn constant_vus() {
    scenario(r#"{"executor": "constant-vus"}"#, "the duration is unspecified");
    scenario(
        r#"{"executor": "constant-vus", "vus": -1, "duration": 5}"#,
        "the number of VUs must be more than 0, the duration must be at least 1s, but is 5ms (a number is in milliseconds; for seconds write '5s')",
    );
}

#[test]
fn shared_iterations() {
    scenario(r#"{"executor": "shared-iterations"}"#, "ok");
    scenario(
        r#"{"executor": "shared-iterations", "vus": 0, "iterations": 0, "maxDuration": "1ms"}"#,
        "the number of VUs must be more than 0, the maxDuration must be at least 1s, but is 1ms (a number is in milliseconds; for seconds write '1s')",
    );
    scenario(
        r#"{"executor": "shared-iterations", "vus": 5, "iterations": 3, "maxDuration": "1ms"}"#,
        "the number of iterations (3) can't be less than the number of VUs (5), the maxDuration must be at least 1s, but is 1ms (a number is in milliseconds; for seconds write '1s')",
    );
}

#[test]
fn per_vu_iterations() {
    scenario(r#"{"executor": "per-vu-iterations"}"#, "ok");
    scenario(
        r#"{"executor": "per-vu-iterations", "vus": 0, "iterations": 0, "maxDuration": "1ms"}"#,
        "the number of VUs must be more than 0, the number of iterations must be more than 0, the maxDuration must be at least 1s, but is 1ms (a number is in milliseconds; for seconds write '1s')",
    );
}

#[test]
fn ramping_vus() {
    scenario(r#"{"executor": "ramping-vus"}"#, "at least one stage has to be specified");
    scenario(r#"{"executor": "ramping-vus", "stages": []}"#, "at least one stage has to be specified");
    scenario(
        r#"{"executor": "ramping-vus", "startVUs": -3, "stages": [{}, {"duration": "-1s", "target": -3}, {"duration": "1s", "target": 0}, {"target": 4}], "gracefulRampDown": "-5s"}"#,
        "the number of start VUs can't be negative, stage 1 doesn't have a duration, stage 1 doesn't have a target, the duration for stage 2 can't be negative, the target for stage 2 can't be negative, stage 4 doesn't have a duration",
    );
    scenario(
        r#"{"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "1s", "target": 0}]}"#,
        "either startVUs or one of the stages' target values must be greater than 0",
    );
    scenario(
        r#"{"executor": "ramping-vus", "startVUs": 100000001, "stages": [{"duration": "1s", "target": 100000001}]}"#,
        "the startVUs exceed max limit of 100000000, target for stage 1 exceeds max limit of 100000000",
    );
    scenario(
        r#"{"executor": "ramping-vus", "stages": [{"duration": "1s", "target": null}]}"#,
        "stage 1 doesn't have a target",
    );
    // Own text: k6 overflows here.
    scenario(
        r#"{"executor": "ramping-vus", "stages": [{"duration": "2500000h", "target": 1}, {"duration": "2500000h", "target": 1}]}"#,
        "the stages up to stage 2 are longer than 292 years",
    );
}

#[test]
fn constant_arrival_rate() {
    scenario(
        r#"{"executor": "constant-arrival-rate"}"#,
        "the iteration rate isn't specified, the duration is unspecified, the number of preAllocatedVUs isn't specified",
    );
    scenario(
        r#"{"executor": "constant-arrival-rate", "rate": 0, "timeUnit": "0", "duration": "1ms", "preAllocatedVUs": -1, "maxVUs": -3}"#,
        "the iteration rate must be more than 0, the timeUnit must be more than 0, the duration must be at least 1s, but is 1ms (a number is in milliseconds; for seconds write '1s'), the number of preAllocatedVUs can't be negative, maxVUs can't be less than preAllocatedVUs",
    );
    scenario(
        r#"{"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "maxVUs": 5}"#,
        "the number of preAllocatedVUs isn't specified",
    );
    scenario(r#"{"executor": "constant-arrival-rate", "rate": 1, "duration": "1s", "preAllocatedVUs": 0}"#, "ok");
}

#[test]
fn ramping_arrival_rate() {
    scenario(
        r#"{"executor": "ramping-arrival-rate"}"#,
        "at least one stage has to be specified, the number of preAllocatedVUs isn't specified",
    );
    scenario(
        r#"{"executor": "ramping-arrival-rate", "startRate": -3, "timeUnit": 0, "stages": [{}, {"duration": "-1s", "target": -2}], "preAllocatedVUs": -1, "maxVUs": -3}"#,
        "the startRate value can't be negative, the timeUnit must be more than 0, stage 1 doesn't have a duration, stage 1 doesn't have a target, the duration for stage 2 can't be negative, the target for stage 2 can't be negative, the number of preAllocatedVUs can't be negative, maxVUs can't be less than preAllocatedVUs",
    );
    scenario(
        r#"{"executor": "ramping-arrival-rate", "stages": [{"duration": "1s", "target": 0}], "preAllocatedVUs": 5}"#,
        "ok",
    );
}

#[test]
fn several_problems_are_reported_together() {
    let got = script(
        r#"{"setupTimeout": -1, "executionSegmentSequence": "0,1/2,1", "scenarios": {
            "b": {"executor": "constant-vus", "duration": "1s", "vus": -4},
            "a": {"executor": "constant-vus", "duration": "100ms"}}}"#,
    );
    assert_eq!(
        got.unwrap_err(),
        "There were problems with the specified script configuration:\
         \n\t- setupTimeout must be positive\
         \n\t- provided segment 0:1 can't be found in sequence 0,1/2,1\
         \n\t- scenario a has configuration errors: the duration must be at least 1s, but is 100ms (a number is in milliseconds; for seconds write '100s')\
         \n\t- scenario b has configuration errors: the number of VUs must be more than 0"
    );
}

#[test]
fn functions_must_be_exported() {
    use onrush_plan::{Tier, consolidate_with_exports, parse_json};
    let options = parse_json(
        r#"{"scenarios": {
            "a": {"executor": "constant-vus", "duration": "100ms", "exec": "nope"},
            "b": {"executor": "constant-vus", "duration": "1s"},
            "c": {"executor": "constant-vus", "duration": "1s", "exec": "chekout"}}}"#,
    )
    .unwrap()
    .options;
    let got = consolidate_with_exports(vec![(Tier::Script, options)], &["default".to_owned(), "checkout".to_owned()]);
    assert_eq!(
        got.unwrap_err().to_string(),
        "There were problems with the specified script configuration:\
         \n\t- scenario a has configuration errors: the duration must be at least 1s, but is 100ms (a number is in milliseconds; for seconds write '100s')\
         \n\t- executor a: function 'nope' not found in exports\
         \n\t- executor c: function 'chekout' not found in exports, did you mean \"checkout\"?"
    );
}

#[test]
fn segments() {
    check(
        r#"{"executionSegment": "x"}"#,
        "executionSegment: 'x' is not a valid percentage, decimal, fraction or interval value",
    );
    check(
        r#"{"executionSegmentSequence": "0"}"#,
        "executionSegmentSequence: at least 2 points are needed for an execution segment sequence, 1 given",
    );
    check(
        r#"{"executionSegmentSequence": "0,1/2,1", "executionSegment": "0:1/4"}"#,
        "provided segment 0:1/4 can't be found in sequence 0,1/2,1",
    );
    check(r#"{"executionSegmentSequence": "1/4,1/2", "executionSegment": "1/4:1/2"}"#, "ok");
}

#[test]
fn summary_columns() {
    check(
        r#"{"summaryTrendStats": ["avg", "foo"]}"#,
        "summaryTrendStats[1]: invalid trend stat 'foo', unknown format, use avg, min, med, max, count or p(N)",
    );
    for bad in ["p(x)", "p(101)", "p(-1)", "p()", "p(NaN)"] {
        check(
            &format!(r#"{{"summaryTrendStats": ["{bad}"]}}"#),
            &format!(
                "summaryTrendStats[0]: invalid percentile trend stat value '{bad}', provide a number between 0 and 100"
            ),
        );
    }
    check(r#"{"summaryTrendStats": ["avg", "count", "p(99.99)", "p(0)", "p(100)"]}"#, "ok");
    check(r#"{"summaryTrendStats": []}"#, "ok");
}

#[test]
fn network_options() {
    check(r#"{"dns": {"ttl": "foo"}}"#, "dns.ttl: invalid DNS TTL: foo");
    check(r#"{"dns": {"ttl": "-5s"}}"#, "dns.ttl: invalid DNS TTL: -5s");
    check(
        r#"{"dns": {"select": "foo"}}"#,
        "dns.select: foo does not belong to DNSSelect values: first random roundRobin",
    );
    check(
        r#"{"dns": {"policy": "foo"}}"#,
        "dns.policy: foo does not belong to DNSPolicy values: preferIPv4 preferIPv6 onlyIPv4 onlyIPv6 any",
    );
    for good in [r#"{"ttl": "inf"}"#, r#"{"ttl": "0"}"#, r#"{"ttl": ""}"#, r#"{"foo": 5}"#, "null"] {
        check(&format!(r#"{{"dns": {good}}}"#), "ok");
    }
    check(
        r#"{"tlsVersion": {"min": "foo"}}"#,
        "tlsVersion: unknown TLS version 'foo', use tls1.0, tls1.1, tls1.2 or tls1.3",
    );
    check(
        r#"{"tlsVersion": "tls1.5"}"#,
        "tlsVersion: unknown TLS version 'tls1.5', use tls1.0, tls1.1, tls1.2 or tls1.3",
    );
    check(r#"{"tlsVersion": {"min": "tls1.2"}}"#, "ok");
    let no_version = "tlsVersion: expected a text such as tls1.2, or an object with min and max";
    check(r#"{"tlsVersion": []}"#, no_version);
    check(r#"{"tlsVersion": 5}"#, no_version);
    check(r#"{"tlsCipherSuites": ["foo"]}"#, "tlsCipherSuites: unknown cipher suite 'foo'");
    check(r#"{"tlsCipherSuites": ["TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_RC4_128_SHA"]}"#, "ok");
    check(
        r#"{"blacklistIPs": ["10.0.0.1"]}"#,
        "blacklistIPs[0]: failed to parse CIDR '10.0.0.1': invalid CIDR address: 10.0.0.1",
    );
    check(r#"{"blockHostnames": ["a*b"]}"#, "blockHostnames: invalid hostname pattern 'a*b'");
    check(r#"{"hosts": {"a b": "1.2.3.4"}}"#, "hosts: invalid host pattern 'a b'");
    // Own text: k6 takes it and fails when the host is used.
    check(r#"{"hosts": {"a": "foo"}}"#, "hosts.a: invalid host address 'foo'");
    check(
        r#"{"tlsAuth": [{"cert": "a", "key": "b", "foo": 1}]}"#,
        "tlsAuth[0].foo: unknown field `foo`, expected one of `cert`, `key`, `password`, `domains`",
    );
}

#[test]
fn externally_controlled() {
    let external = |fields: &str, expect: &str| {
        scenario(&format!(r#"{{"executor": "externally-controlled"{fields}}}"#), expect);
    };
    external("", "the duration must be specified, for infinite duration use 0");
    external(r#", "duration": null"#, "the duration must be specified, for infinite duration use 0");
    external(r#", "duration": "-1s""#, "the duration can't be negative, for infinite duration use 0");
    external(r#", "duration": "100ms""#, "ok");
    external(r#", "duration": 0, "vus": 0, "maxVUs": 0"#, "ok");
    external(r#", "duration": "5s", "vus": -5"#, "the number of VUs can't be negative");
    external(
        r#", "duration": "5s", "vus": 5, "maxVUs": 2"#,
        "the number of active VUs (5) must be less than or equal to the number of maxVUs (2)",
    );
    external(
        r#", "duration": "5s", "maxVUs": -1"#,
        "the number of active VUs (0) must be less than or equal to the number of maxVUs (-1)",
    );
    external(
        r#", "duration": "5s", "gracefulStop": "0s""#,
        "gracefulStop is not supported by the externally controlled executor",
    );
}
