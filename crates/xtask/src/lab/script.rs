//! The script of a job for what runs k6 scripts, and the summary that comes of it.

use serde_json::Value;

use super::{
    adapter::Claim,
    job::{Job, Load, Step},
    text::{at, json},
};

/// The script of a job.
pub(super) fn k6_script(job: &Job) -> String {
    let seconds = job.seconds;
    let scenario = match job.load {
        Load::Closed { users } => format!("executor: 'constant-vus', vus: {users}, duration: '{seconds}s'"),
        Load::Open { rate, users } => format!(
            "executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', duration: '{seconds}s',\n      \
             preAllocatedVUs: {users}, maxVUs: {VUS_MAX}"
        ),
    };
    let steps: String = job.steps.iter().map(|step| format!("  {}\n", statement(step))).collect();
    format!(
        "import http from 'k6/http';\nimport {{ check }} from 'k6';\n\n\
         export const options = {{\n  insecureSkipTLSVerify: true,\n  scenarios: {{\n    lab: {{ {scenario} }},\n  }},\n}};\n\n\
         const base = '{}';\n\nexport default function () {{\n{steps}}}\n",
        job.base()
    )
}

fn statement(step: &Step) -> String {
    let path = step.path;
    let request = match step.form {
        None => format!("http.get(`${{base}}{path}`)"),
        Some(form) => format!(
            "http.post(`${{base}}{path}`, '{form}', {{ headers: {{ 'Content-Type': 'application/x-www-form-urlencoded' }} }})"
        ),
    };
    match step.contains {
        None => format!("{request};"),
        Some(text) => format!(
            "check({request}, {{ 'status is 200': (r) => r.status === 200, 'text is there': (r) => r.body.includes('{text}') }});"
        ),
    }
}

/// What k6's summary says, as `--summary-export` writes it.
pub(super) fn k6_summary(text: &str) -> Option<Claim> {
    let summary = json(text)?;
    let metric = |name: &str, field: &str| summary.get("metrics")?.get(name)?.get(field).and_then(Value::as_f64);
    // With a rate, from the intended start, by what measures that.
    let intended = at(&summary, "/metrics/http_req_intended_duration/avg")
        .map(|_| "http_req_intended_duration")
        .or_else(|| at(&summary, "/metrics/iteration_intended_duration/avg").map(|_| "iteration_intended_duration"));
    let latency = |field: &str| metric(intended.unwrap_or("http_req_duration"), field);
    Some(Claim {
        requests: metric("http_reqs", "count"),
        rps: Some(metric("http_reqs", "rate")?),
        // k6 counts failures as "passes" of the rate of failures.
        errors: metric("http_req_failed", "passes"),
        mean: latency("avg"),
        p50: latency("med"),
        p90: latency("p(90)"),
        p95: latency("p(95)"),
        p99: latency("p(99)"),
        p999: latency("p(99.9)"),
    })
}

/// The columns of the summary.
pub(super) const TREND_STATS: &str = "avg,med,p(90),p(95),p(99),p(99.9)";
/// Where the summary goes.
pub(super) const SUMMARY: &str = "summary.json";
/// What a rate may need while the server stands still: two seconds of 2,000 a second.
const VUS_MAX: u64 = 5_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{adapters::recorded, experiment::EXPERIMENTS};

    #[test]
    fn a_script_says_it_all() {
        let journey = EXPERIMENTS.iter().find(|experiment| experiment.name == "journey").unwrap();
        let script = k6_script(&Job { steps: journey.steps, ..recorded::job() });
        assert!(script.contains("lab: { executor: 'constant-vus', vus: 20, duration: '2s' }"));
        assert!(script.contains("http.post(`${base}/post`, 'name=visitor&comment=hello'"));
        assert!(
            script.contains("r.body.includes('Welcome')") && script.contains("const base = 'http://127.0.0.1:18950'")
        );
        let rate = k6_script(&Job { load: Load::Open { rate: 500, users: 50 }, ..recorded::job() });
        assert!(rate.contains("rate: 500") && rate.contains("preAllocatedVUs: 50"));
    }
}
