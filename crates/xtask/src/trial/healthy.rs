//! Runs with nothing wrong, of many shapes.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Fault, Options, generate, leave_core_of_generators, server::Server};

/// Scenarios, each with its function. All of them leave the generator more than half of its time.
const SHAPES: [(&str, &str); 8] = [
    ("{ executor: 'constant-vus', vus: 1, duration: DURATION }", "http.get(URL);"),
    ("{ executor: 'constant-vus', vus: 20, duration: DURATION }", "http.get(URL); sleep(0.05);"),
    ("{ executor: 'constant-vus', vus: 100, duration: DURATION }", "http.get(URL); sleep(0.2);"),
    (
        "{ executor: 'ramping-vus', startVUs: 1, stages: [{ duration: DURATION, target: 40 }] }",
        "http.get(URL); sleep(0.05);",
    ),
    ("{ executor: 'constant-arrival-rate', rate: 100, duration: DURATION, preAllocatedVUs: 20 }", "http.get(URL);"),
    ("{ executor: 'constant-arrival-rate', rate: 400, duration: DURATION, preAllocatedVUs: 50 }", "http.get(URL);"),
    (
        "{ executor: 'ramping-arrival-rate', startRate: 10, stages: [{ duration: DURATION, target: 300 }], preAllocatedVUs: 40 }",
        "http.get(URL);",
    ),
    (
        "{ executor: 'constant-vus', vus: 5, duration: DURATION }",
        "http.batch([URL, URL, URL]); check(1, { one: (n) => n === 1 }); sleep(0.03);",
    ),
];

/// Runs as many as asked for; the rows, and whether all were VALID.
pub(super) fn run(onrush: &Path, options: &Options) -> Result<(Vec<Value>, bool)> {
    leave_core_of_generators()?;
    let server = Server::start()?;
    let (mut rows, mut alarms) = (Vec::new(), 0);
    for (number, (scenario, function)) in SHAPES.iter().cycle().take(options.runs).enumerate() {
        let script = format!(
            "import http from 'k6/http';
import {{ check, sleep }} from 'k6';
const URL = 'http://{}/';
export const options = {{ scenarios: {{ asks: {} }} }};
export default function () {{ {function} }}
",
            server.address,
            scenario.replace("DURATION", &format!("'{}s'", options.seconds())),
        );
        let ran = generate(onrush, &script, &[], Fault::None, true)?;
        if ran.verdict() != "VALID" {
            alarms += 1;
            println!("run {number}: {} {:?}\n    {scenario}", ran.verdict(), ran.reasons());
        }
        rows.push(json!({ "scenario": scenario, "verdict": ran.verdict(), "reasons": ran.reasons() }));
    }
    println!("{alarms} of {} healthy runs were not VALID", rows.len());
    Ok((rows, alarms == 0))
}
