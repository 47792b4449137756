//! Faults, and what the verdict must say of them.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Fault, Options, generate, leave_core_of_generators, server::Server};

/// A case: a fault, and what has to be among the reasons.
struct Case {
    name: &'static str,
    fault: Fault,
    flags: &'static [&'static str],
    /// The scenario and its function.
    scenario: &'static str,
    function: &'static str,
    /// The verdicts that are right.
    verdicts: &'static [&'static str],
    /// Part of one of the reasons.
    reason: &'static str,
}

const ASKS: &str = "http.get(URL); sleep(0.01);";
const LOOPS: &str = "{ executor: 'constant-vus', vus: 20, duration: DURATION }";
const BAD: &[&str] = &["SUSPECT", "INVALID"];

const CASES: [Case; 13] = [
    Case {
        name: "nothing",
        fault: Fault::None,
        flags: &[],
        scenario: LOOPS,
        function: ASKS,
        verdicts: &["VALID"],
        reason: "",
    },
    Case {
        // With less to do its threads would go first whenever they wake, and nothing would be late.
        name: "four programs on its core",
        fault: Fault::Programs(4),
        flags: &[],
        scenario: "{ executor: 'constant-vus', vus: 100, duration: DURATION }",
        function: "http.get(URL);",
        verdicts: BAD,
        reason: "other programs, or too many threads",
    },
    Case {
        name: "programs of higher priority",
        fault: Fault::LowPriority(2),
        flags: &[],
        scenario: LOOPS,
        function: ASKS,
        verdicts: BAD,
        reason: "too high by the generator's own delay",
    },
    Case {
        name: "stopped",
        fault: Fault::Stopped { ms: 400, of_ms: 2_000 },
        flags: &[],
        scenario: LOOPS,
        function: ASKS,
        verdicts: &["INVALID"],
        reason: "the process was stopped",
    },
    Case {
        name: "a CPU quota",
        fault: Fault::Quota(5),
        flags: &[],
        scenario: LOOPS,
        function: ASKS,
        verdicts: BAD,
        reason: "throttled by its CPU quota",
    },
    Case {
        name: "no CPU left",
        fault: Fault::None,
        flags: &["--threads", "1"],
        scenario: "{ executor: 'constant-vus', vus: 200, duration: DURATION }",
        function: "http.get(URL); for (let i = 0, x = 0; i < 1e5; i++) x = (x * 31 + i) | 0;",
        verdicts: BAD,
        reason: "the generator had no CPU left",
    },
    Case {
        name: "code that computes",
        fault: Fault::None,
        flags: &["--threads", "1"],
        scenario: LOOPS,
        function: "http.get(URL); for (let i = 0, x = 0; i < 4e6; i++) x = (x * 31 + i) | 0;",
        verdicts: BAD,
        reason: "kept other VUs waiting",
    },
    Case {
        name: "no files",
        fault: Fault::Files(40),
        flags: &["--force"],
        scenario: "{ executor: 'constant-vus', vus: 60, duration: DURATION }",
        function: ASKS,
        verdicts: &["INVALID"],
        reason: "no file descriptor was left",
    },
    Case {
        name: "no ports",
        fault: Fault::Ports(30),
        flags: &[],
        scenario: "{ executor: 'constant-vus', vus: 60, duration: DURATION }",
        function: "http.get('http://127.0.0.1:18099/'); sleep(0.01);",
        verdicts: &["INVALID"],
        reason: "no local port was left",
    },
    Case {
        name: "no VUs",
        fault: Fault::None,
        flags: &[],
        scenario: "{ executor: 'constant-arrival-rate', rate: 500, duration: DURATION, preAllocatedVUs: 2 }",
        function: "http.get(URL);",
        verdicts: &["INVALID"],
        reason: "were all busy",
    },
    Case {
        name: "VUs that are added",
        fault: Fault::None,
        flags: &[],
        scenario: "{ executor: 'constant-arrival-rate', rate: 500, duration: DURATION, preAllocatedVUs: 1, maxVUs: 100 }",
        function: "http.get(URL);",
        verdicts: BAD,
        reason: "raise preAllocatedVUs",
    },
    Case {
        name: "late starts",
        fault: Fault::LowPriority(2),
        flags: &[],
        scenario: "{ executor: 'constant-arrival-rate', rate: 500, duration: DURATION, preAllocatedVUs: 200 }",
        function: "http.get(URL);",
        verdicts: BAD,
        reason: "iterations began late",
    },
    Case {
        name: "a server that hangs",
        fault: Fault::None,
        flags: &[],
        scenario: "{ executor: 'constant-vus', vus: 20, duration: DURATION, gracefulStop: '0s' }",
        function: "http.post(URL, 'a body that it waits for the end of');",
        verdicts: BAD,
        reason: "had no answer",
    },
];

/// Runs all cases; the rows, and whether all were judged as they must be.
pub(super) fn run(onrush: &Path, options: &Options) -> Result<(Vec<Value>, bool)> {
    leave_core_of_generators()?;
    let server = Server::start()?;
    let (mut rows, mut is_right) = (Vec::new(), true);
    for case in CASES.iter().filter(|case| options.wants(case.name)) {
        let script = format!(
            "import http from 'k6/http';
import {{ sleep }} from 'k6';
const URL = 'http://{}/';
export const options = {{ scenarios: {{ asks: {} }} }};
export default function () {{ {} }}
",
            server.address,
            case.scenario.replace("DURATION", &format!("'{}s'", options.seconds())),
            case.function
        );
        let ran = generate(onrush, &script, case.flags, case.fault, true)?;
        let reason = ran.reasons().into_iter().find(|reason| reason.contains(case.reason)).map(ToOwned::to_owned);
        let is_named = case.reason.is_empty() || reason.is_some();
        let agrees = is_named && case.verdicts.contains(&ran.verdict());
        is_right &= agrees;
        println!(
            "{} {:<28} {:<8} {}",
            if agrees { "✓" } else { "✗" },
            case.name,
            ran.verdict(),
            reason.as_deref().unwrap_or("-")
        );
        if !agrees {
            println!("    {:?}", ran.reasons());
        }
        rows.push(json!({
            "fault": case.name,
            "verdict": ran.verdict(),
            "reasons": ran.reasons(),
            "must_name": case.reason,
            "agrees": agrees,
        }));
    }
    Ok((rows, is_right))
}
