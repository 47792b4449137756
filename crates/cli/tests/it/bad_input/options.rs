//! What a script can export as `options` that is wrong.

use super::Row;

/// What a script exports as `options`.
pub(super) const OPTIONS: &[Row] = &[
    (r#"{ vus: "x" }"#, 104, r#"vus: \"x\" is not a whole number"#),
    ("{ vus: 1.5 }", 104, "vus: 1.5 is not a whole number within 64 bits"),
    (
        r#"{ vus: -1, duration: "1s" }"#,
        104,
        "scenario default has configuration errors: the number of VUs must be more than 0",
    ),
    (
        "{ vus: 0, iterations: 1 }",
        104,
        "scenario default has configuration errors: the number of VUs must be more than 0",
    ),
    ("{ vus: [] }", 104, "vus: expected a whole number, got a list"),
    (r#"{ duration: "ten seconds" }"#, 104, r#"duration: time: invalid duration \"ten seconds\""#),
    (r#"{ duration: "abc" }"#, 104, r#"duration: time: invalid duration \"abc\""#),
    (
        r#"{ duration: "10" }"#,
        104,
        "scenario default has configuration errors: the duration must be at least 1s, but is 10ms",
    ),
    (
        r#"{ duration: "0s" }"#,
        104,
        "`duration` option should be more than 0, for infinite duration use the externally-controlled executor",
    ),
    (
        "{ duration: -1 }",
        104,
        "`duration` option should be more than 0, for infinite duration use the externally-controlled executor",
    ),
    ("{ duration: true }", 104, "duration: 'true' is not a valid duration value"),
    (r#"{ duration: "1h1d" }"#, 104, "duration: '1h1' is not a whole number of days"),
    ("{ duration: {} }", 104, "duration: '{}' is not a valid duration value"),
    (
        "{ iterations: 0 }",
        104,
        "scenario default has configuration errors: the number of iterations (0) can't be less than the number of VUs (1)",
    ),
    (
        "{ iterations: 1, vus: 2 }",
        104,
        "scenario default has configuration errors: the number of iterations (1) can't be less than the number of VUs (2)",
    ),
    ("{ iterations: 1e30 }", 104, "iterations: 1e+30 is not a whole number within 64 bits"),
    ("{ stages: 5 }", 104, "stages: expected a list, got 5"),
    ("{ stages: [5] }", 104, r#"stages[0]: expected an object such as { duration: \"1m\", target: 100 }, got 5"#),
    (
        r#"{ stages: [{ duration: "1s" }] }"#,
        104,
        "scenario default has configuration errors: stage 1 doesn't have a target",
    ),
    (
        r#"{ stages: [{ duration: "1s", target: -1 }] }"#,
        104,
        "scenario default has configuration errors: the target for stage 1 can't be negative",
    ),
    (
        r#"{ iterations: 1, stages: [{ duration: "1s", target: 1 }] }"#,
        104,
        "using `iterations` and `stages` options simultaneously is not allowed",
    ),
    (
        r#"{ duration: "1s", stages: [{ duration: "1s", target: 1 }] }"#,
        104,
        "using `duration` and `stages` options simultaneously is not allowed",
    ),
    (
        r#"{ vus: 1, iterations: 1, scenarios: { a: { executor: "shared-iterations" } } }"#,
        104,
        "using `iterations` and `scenarios` options simultaneously is not allowed",
    ),
    ("{ scenarios: [] }", 104, "scenarios: expected an object, got a list"),
    ("{ scenarios: { a: {} } }", 104, "scenario 'a' doesn't have a specified executor type"),
    ("{ scenarios: { a: 5 } }", 104, "scenarios.a: expected an object, got 5"),
    ("{ scenarios: { a: { executor: 5 } } }", 104, "scenarios.a.executor: expected text, got 5"),
    (
        r#"{ scenarios: { a: { executor: "constant-vu" } } }"#,
        104,
        r#"unknown executor type 'constant-vu' in scenarios.a, did you mean \"constant-vus\"?"#,
    ),
    (
        r#"{ scenarios: { a: { executor: "loop" } } }"#,
        104,
        "unknown executor type 'loop' in scenarios.a, use shared-iterations, per-vu-iterations, constant-vus, ramping-vus, constant-arrival-rate, rampin",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", itertions: 1 } } }"#,
        104,
        r#"json: unknown field \"itertions\" in scenarios.a, did you mean \"iterations\"?"#,
    ),
    (
        r#"{ scenarios: { "a b": { executor: "shared-iterations" } } }"#,
        104,
        "scenario a b has configuration errors: the scenario name should contain only numbers, latin letters, underscores, and dashes",
    ),
    (
        r#"{ scenarios: { "": { executor: "shared-iterations" } } }"#,
        104,
        "scenario  has configuration errors: scenario name can't be empty, the scenario name should contain only numbers, latin letters, underscores, and dashe",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", exec: "nope" } } }"#,
        104,
        "executor a: function 'nope' not found in exports",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", exec: "" } } }"#,
        104,
        "scenario a has configuration errors: exec value cannot be empty",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", startTime: "-1s" } } }"#,
        104,
        "scenario a has configuration errors: the startTime can't be negative",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", gracefulStop: "-1s" } } }"#,
        104,
        "scenario a has configuration errors: the gracefulStop timeout can't be negative",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", maxDuration: "10ms" } } }"#,
        104,
        "scenario a has configuration errors: the maxDuration must be at least 1s, but is 10ms",
    ),
    (
        r#"{ scenarios: { a: { executor: "constant-vus" } } }"#,
        104,
        "scenario a has configuration errors: the duration is unspecified",
    ),
    (
        r#"{ scenarios: { a: { executor: "constant-vus", duration: "10ms" } } }"#,
        104,
        "scenario a has configuration errors: the duration must be at least 1s, but is 10ms",
    ),
    (
        r#"{ scenarios: { a: { executor: "constant-vus", duration: "1s", vus: 0 } } }"#,
        104,
        "scenario a has configuration errors: the number of VUs must be more than 0",
    ),
    (
        r#"{ scenarios: { a: { executor: "ramping-vus" } } }"#,
        104,
        "scenario a has configuration errors: at least one stage has to be specified",
    ),
    (
        r#"{ scenarios: { a: { executor: "ramping-vus", startVUs: -1, stages: [{ duration: "1s", target: 1 }] } } }"#,
        104,
        "scenario a has configuration errors: the number of start VUs can't be negative",
    ),
    (
        r#"{ scenarios: { a: { executor: "constant-arrival-rate", duration: "1s" } } }"#,
        104,
        "scenario a has configuration errors: the iteration rate isn't specified, the number of preAllocatedVUs isn't specified",
    ),
    (
        r#"{ scenarios: { a: { executor: "constant-arrival-rate", duration: "1s", rate: 0, preAllocatedVUs: 2, maxVUs: 1 } } }"#,
        104,
        "scenario a has configuration errors: the iteration rate must be more than 0, maxVUs can't be less than preAllocatedVUs",
    ),
    (
        r#"{ scenarios: { a: { executor: "ramping-arrival-rate", startRate: -1, preAllocatedVUs: 1, stages: [] } } }"#,
        104,
        "scenario a has configuration errors: the startRate value can't be negative, at least one stage has to be specified",
    ),
    (
        r#"{ scenarios: { a: { executor: "externally-controlled", vus: 2, maxVUs: 1 } } }"#,
        104,
        "scenario a has configuration errors: the number of active VUs (2) must be less than or equal to the number of maxVUs (1), the duration must be specifi",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", tags: 5 } } }"#,
        104,
        "scenarios.a.tags: expected an object, got 5",
    ),
    (
        r#"{ scenarios: { a: { executor: "shared-iterations", env: ["A"] } } }"#,
        104,
        "scenarios.a.env: expected an object, got a list",
    ),
    (r#"{ executionSegment: "2:1" }"#, 104, "executionSegment: segment start(2.00) must be less than its end(1.00)"),
    (
        r#"{ executionSegment: "x" }"#,
        104,
        "executionSegment: 'x' is not a valid percentage, decimal, fraction or interval value",
    ),
    (
        r#"{ executionSegment: "0:1/3", executionSegmentSequence: "0,1/2,1" }"#,
        104,
        "provided segment 0:1/3 can't be found in sequence 0,1/2,1",
    ),
    (
        r#"{ executionSegmentSequence: "0" }"#,
        104,
        "executionSegmentSequence: at least 2 points are needed for an execution segment sequence, 1 given",
    ),
    ("{ setupTimeout: 0 }", 104, "setupTimeout must be positive"),
    (r#"{ setupTimeout: "x" }"#, 104, r#"setupTimeout: time: invalid duration \"x\""#),
    (r#"{ rps: "x" }"#, 104, r#"rps: \"x\" is not a whole number"#),
    // k6: 255.
    (r#"{ dns: { ttl: "x" } }"#, 104, "dns.ttl: invalid DNS TTL: x"),
    (r#"{ dns: { select: "x" } }"#, 104, "dns.select: x does not belong to DNSSelect values: first random roundRobin"),
    (
        r#"{ dns: { policy: "x" } }"#,
        104,
        "dns.policy: x does not belong to DNSPolicy values: preferIPv4 preferIPv6 onlyIPv4 onlyIPv6 any",
    ),
    (
        r#"{ dns: "ttl=5m" }"#,
        104,
        r#"dns: expected an object such as { ttl: \"5m\", select: \"random\" }, got \"ttl=5m\""#,
    ),
    (r#"{ dns: { tll: "5m" } }"#, 0, "There were unknown fields in the options exported in the script"),
    ("{ userAgent: 5 }", 104, "userAgent: expected a text, got 5"),
    (r#"{ batch: "x" }"#, 104, r#"batch: \"x\" is not a whole number"#),
    ("{ maxRedirects: [] }", 104, "maxRedirects: expected a whole number, got a list"),
    (r#"{ tlsVersion: "tls9" }"#, 104, "tlsVersion: unknown TLS version 'tls9', use tls1.0, tls1.1, tls1.2 or tls1.3"),
    (
        r#"{ tlsVersion: { min: "tls1.3", max: "ssl3.0" } }"#,
        104,
        "tlsVersion: unknown TLS version 'ssl3.0', use tls1.0, tls1.1, tls1.2 or tls1.3",
    ),
    (r#"{ tlsCipherSuites: ["x"] }"#, 104, "tlsCipherSuites: unknown cipher suite 'x'"),
    (r#"{ tlsAuth: [{ cert: "x", key: "y" }] }"#, 104, "tlsAuth: no client certificate in PEM"),
    ("{ tlsAuth: {} }", 104, "tlsAuth: expected a list, got an object"),
    (r#"{ throw: "x" }"#, 104, r#"throw: expected true or false, got \"x\""#),
    ("{ noSetup: 1 }", 104, "noSetup: expected true or false, got 1"),
    (
        "{ thresholds: 5 }",
        104,
        r#"thresholds: expected an object such as { http_req_duration: [\"p(95)<500\"] }, got 5"#,
    ),
    (
        r#"{ thresholds: { http_reqs: ["x"] } }"#,
        104,
        r#"failed parsing threshold expression \"x\"; reason: malformed threshold expression"#,
    ),
    (
        r#"{ thresholds: { http_reqs: ["count>"] } }"#,
        104,
        r#"failed parsing threshold expression \"count>\"; reason: malformed threshold expression"#,
    ),
    (
        r#"{ thresholds: { nope: ["count>1"] } }"#,
        104,
        r#"invalid threshold defined on nope; reason: no metric name \"nope\" found"#,
    ),
    (
        r#"{ thresholds: { http_reqs: ["p(95)<1"] } }"#,
        104,
        r#"invalid threshold \"p(95)<1\" applied on metric http_reqs; reason: unsupported aggregation method p on metric of type counter. supported aggregation m"#,
    ),
    (r#"{ thresholds: { http_reqs: "count>1" } }"#, 104, r#"thresholds.http_reqs: expected a list, got \"count>1\""#),
    // k6: 0.
    (
        r#"{ thresholds: { http_req_duration: ["p(101)<1"] } }"#,
        104,
        r#"failed parsing threshold expression's \"p(101)<1\" left hand side; reason: malformed percentile value, provide a number between 0 and 100"#,
    ),
    (
        r#"{ thresholds: { "http_reqs{a": ["count>1"] } }"#,
        104,
        r#"unable to validate threshold expressions; reason: parsing metric name failed, metric \"http_reqs{a\" has unmatched opening/close curly brace"#,
    ),
    (
        "{ thresholds: { http_reqs: [{ abortOnFail: true }] } }",
        104,
        r#"failed parsing threshold expression \"\"; reason: malformed threshold expression"#,
    ),
    (
        r#"{ thresholds: { http_reqs: [{ threshold: "count>1", delayAbortEval: "x" }] } }"#,
        104,
        r#"thresholds.http_reqs[0].delayAbortEval: time: invalid duration \"x\""#,
    ),
    (
        r#"{ thresholds: { http_reqs: [{ threshold: "count>1", over: "1s", for: 0 }] } }"#,
        104,
        r#"invalid threshold \"count>1\" applied on metric http_reqs; reason: 'for' must be at least 1"#,
    ),
    (r#"{ blacklistIPs: ["x"] }"#, 104, "blacklistIPs[0]: failed to parse CIDR 'x': invalid CIDR address: x"),
    (
        r#"{ blacklistIPs: ["1.2.3.4"] }"#,
        104,
        "blacklistIPs[0]: failed to parse CIDR '1.2.3.4': invalid CIDR address: 1.2.3.4",
    ),
    (r#"{ blockHostnames: ["a*b"] }"#, 104, "blockHostnames: invalid hostname pattern 'a*b'"),
    (r#"{ hosts: { "a*b": "1.2.3.4" } }"#, 104, "hosts: invalid host pattern 'a*b'"),
    // k6: 0.
    (r#"{ hosts: { a: "x" } }"#, 104, "hosts.a: invalid host address 'x'"),
    (r#"{ hosts: { a: "1.2.3.4:x" } }"#, 104, "hosts.a: invalid host address '1.2.3.4:x'"),
    (r#"{ minIterationDuration: "x" }"#, 104, r#"minIterationDuration: time: invalid duration \"x\""#),
    // k6: 255.
    (r#"{ summaryTrendStats: ["x"] }"#, 104, "invalid trend stat 'x', unknown format"),
    // k6: 255.
    (
        r#"{ summaryTrendStats: ["p(200)"] }"#,
        104,
        "invalid percentile trend stat value 'p(200)', provide a number between 0 and 100",
    ),
    (r#"{ summaryTrendStats: "avg" }"#, 104, r#"summaryTrendStats: expected a list, got \"avg\""#),
    // k6: 0.
    (r#"{ summaryTimeUnit: "h" }"#, 104, "invalid summary time unit 'h', use 's', 'ms' or 'us'"),
    (r#"{ systemTags: "x" }"#, 104, r#"systemTags: expected a list, got \"x\""#),
    ("{ tags: 5 }", 104, "tags: expected an object, got 5"),
    ("{ tags: { a: 5 } }", 104, "tags.a: expected a text, got 5"),
    ("{ ext: 5 }", 104, "ext: expected an object, got 5"),
    ("{ cardinalityLimit: 0 }", 104, "cardinalityLimit must be at least 1"),
    ("5", 104, "options: expected an object, got 5"),
    (r#""x""#, 104, r#"options: expected an object, got \"x\""#),
    ("[]", 104, "options: expected an object, got a list"),
];
