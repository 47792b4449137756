//! Latencies less the own delay against what the server knows.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::{Fault, Options, generate, leave_core_of_generators, server::Server};

/// What may lie between the server's log and the generator's latency less its own delay: a share, or milliseconds, for the
/// way through the kernel.
const SHARE: f64 = 0.05;
const NEGLIGIBLE_MS: f64 = 0.1;

/// A case: what suffers from what.
struct Case {
    name: &'static str,
    fault: Fault,
    /// Beside the VUs that ask.
    scenarios: &'static str,
    flags: &'static [&'static str],
}

const CASES: [Case; 11] = [
    Case { name: "nothing", fault: Fault::None, scenarios: "", flags: &[] },
    Case { name: "another program on its core", fault: Fault::Programs(1), scenarios: "", flags: &[] },
    Case { name: "four programs on its core", fault: Fault::Programs(4), scenarios: "", flags: &[] },
    Case { name: "two programs of higher priority", fault: Fault::LowPriority(2), scenarios: "", flags: &[] },
    Case { name: "stopped for 20 ms of 200", fault: Fault::Stopped { ms: 20, of_ms: 200 }, scenarios: "", flags: &[] },
    Case {
        name: "stopped for 300 ms of 2 s",
        fault: Fault::Stopped { ms: 300, of_ms: 2_000 },
        scenarios: "",
        flags: &[],
    },
    Case { name: "a quota of 30 % of a core, and work", fault: Fault::Quota(30), scenarios: COMPUTES, flags: &[] },
    Case { name: "a quota of 5 % of a core", fault: Fault::Quota(5), scenarios: "", flags: &[] },
    Case { name: "eight VUs compute", fault: Fault::None, scenarios: COMPUTES, flags: &[] },
    Case {
        name: "eight threads, and another program",
        fault: Fault::Programs(1),
        scenarios: "",
        flags: &["--threads", "8"],
    },
    Case { name: "iterations that work for 2 ms", fault: Fault::None, scenarios: WORKS, flags: &[] },
];

const COMPUTES: &str =
    "computes: { executor: 'constant-vus', vus: 8, duration: DURATION, exec: 'computes', gracefulStop: '0s' },";
const WORKS: &str = "works: { executor: 'constant-vus', vus: 30, duration: DURATION, exec: 'works' },";

/// Runs all cases; the rows, and whether all agree.
pub(super) fn run(onrush: &Path, options: &Options) -> Result<(Vec<Value>, bool)> {
    leave_core_of_generators()?;
    let server = Server::start()?;
    println!("{:<36} {:>6} {:>8}   reported, less own delay, server's log (ms)", "fault", "verdict", "requests");
    let (mut rows, mut is_right) = (Vec::new(), true);
    for case in CASES.iter().filter(|case| options.wants(case.name)) {
        let script = script(&server.address.to_string(), case.scenarios, options.seconds());
        let flags = [&["--own-delay", "all"], case.flags].concat();
        server.take();
        let ran = generate(onrush, &script, &flags, case.fault, true)?;
        let truth = server.take();
        let mut row = json!({
            "fault": case.name,
            "verdict": ran.verdict(),
            "reasons": ran.reasons(),
            "requests": truth.len(),
            "own_delay_ms": ran.summary["measurement"]["own_delay_ms"],
        });
        println!("{:<36} {:>7} {:>8}", case.name, ran.verdict(), truth.len());
        let errors =
            ran.summary["measurement"]["own_delay_ms"]["latency_errors"].as_array().cloned().unwrap_or_default();
        for percent in [50_u32, 90, 99] {
            let label = format!("p({percent})");
            let of = |error: &&Value| error["scenario"] == "asks" && error["percentile"] == label.as_str();
            let Some(error) = errors.iter().find(of) else {
                // Ten requests have to be above a percentile.
                let is_rare = truth.len() as f64 * (1.0 - f64::from(percent) / 100.0) < 12.0;
                println!("{label:>40}  {}", if is_rare { "too few requests" } else { "was not measured" });
                is_right &= is_rare;
                continue;
            };
            let reported = error["reported"].as_f64().unwrap_or_default();
            let without = reported - error["excess"].as_f64().unwrap_or_default();
            let known = truth.get(truth.len() * percent as usize / 100).copied().unwrap_or_default();
            let agrees = (without - known).abs() <= (SHARE * known).max(NEGLIGIBLE_MS);
            is_right &= agrees;
            let mark = if agrees { "" } else { "  <- more than 5 % and 0.1 ms" };
            println!("{label:>40}  {reported:9.2} {without:9.2} {known:9.2}{mark}");
            row[&label] = json!({ "reported": reported, "without": without, "server": known, "agrees": agrees });
        }
        rows.push(row);
    }
    Ok((rows, is_right))
}

fn script(address: &str, scenarios: &str, seconds: u64) -> String {
    let duration = format!("'{seconds}s'");
    let scenarios = scenarios.replace("DURATION", &duration);
    format!(
        "import http from 'k6/http';
import {{ sleep }} from 'k6';
export const options = {{ scenarios: {{
  asks: {{ executor: 'constant-vus', vus: 20, duration: {duration}, exec: 'asks' }},
  {scenarios}
}} }};
export function asks() {{ http.get('http://{address}/'); sleep(0.01); }}
export function computes() {{ for (let i = 0, x = 0; i < 2e6; i++) x = (x * 31 + i) | 0; }}
export function works() {{ for (let i = 0, x = 0; i < 4e4; i++) x = (x * 31 + i) | 0; sleep(0.05); }}
"
    )
}
