//! `onrush selftest`: what this machine can do as a generator, in two minutes, against the built-in target.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::{Child, Command as Process, Stdio},
};

use onrush_session::ExitCode;
use serde_json::{Value, json};

use super::child;
use crate::{context::Context, failure::Failure, run::needs::size};

/// Connections at which added latency is measured, against a server that answers after [`DELAY_MS`].
const CONNECTIONS: [u64; 4] = [20, 50, 100, 250];
const DELAY_MS: f64 = 10.0;
/// VUs whose memory is measured.
const VUS: u64 = 2_000;
/// Timers go off after so long.
const SLEEP_MS: f64 = 20.0;

/// What was measured; times in milliseconds.
struct Limits {
    rate: f64,
    rate_cpu_us: f64,
    rate_reasons: Vec<String>,
    /// By connections: requests a second, p(50) and p(99) beyond the delay, p(99) of the own delay.
    added: Vec<Added>,
    timer_median_ms: f64,
    timer_p99_ms: f64,
    vu_bytes: f64,
}

struct Added {
    connections: u64,
    rate: f64,
    median_ms: f64,
    p99_ms: f64,
    own_p99_ms: Option<f64>,
}

/// The target's process, ended when dropped.
struct Target {
    process: Child,
    url: String,
}

impl Target {
    fn start(delay_ms: f64) -> Result<Self, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::other(format!("the target cannot be started: {error}"));
        let program = std::env::current_exe().map_err(|error| failed(&error))?;
        let mut process = Process::new(program)
            .args(["target", "--listen", "127.0.0.1:0", "--delay", &format!("{delay_ms}ms")])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| failed(&error))?;
        let lines = BufReader::new(process.stdout.take().ok_or_else(|| failed(&"it has no output"))?).lines();
        // It says where it listens; what it says later nobody reads.
        let url = lines.map_while(Result::ok).find_map(|line| {
            let at = line.find("http://127.0.0.1:")?;
            Some(line[at..].split_whitespace().next()?.trim_end_matches('/').to_owned())
        });
        match url {
            Some(url) => Ok(Self { process, url }),
            None => {
                let _ = process.kill();
                let _ = process.wait();
                Err(failed(&"it does not say where it listens"))
            }
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // Our own child, not yet waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Measures.
///
/// # Errors
/// 255 when a part cannot be run.
pub(crate) fn selftest(cx: &Context, files: &[String]) -> Result<ExitCode, Failure> {
    if !files.is_empty() {
        return Err(Failure::other(format!("onrush selftest takes no files, received {}", files.len()))
            .hint("onrush selftest, or with --seconds 2 in a hurry"));
    }
    let is_json = cx.flags.switch("json")?.unwrap_or(false);
    let seconds = seconds(cx)?;
    if !is_json {
        cx.logger.info(format!("this takes about {} s", seconds * 8 + 10));
    }
    let limits = Limits::measure(seconds)?;
    cx.terminal.stdout(if is_json { format!("{:#}\n", limits.to_json()) } else { limits.to_text() });
    Ok(ExitCode::Success)
}

fn seconds(cx: &Context) -> Result<u64, Failure> {
    const USUAL: u64 = 10;
    let Some(text) = cx.flags.text("seconds") else { return Ok(USUAL) };
    let seconds = text.parse::<u64>().ok().filter(|seconds| (1..=300).contains(seconds));
    seconds.ok_or_else(|| Failure::other(format!("invalid --seconds \"{text}\"")).hint("use a number from 1 to 300"))
}

/// A run of its own; its summary.
fn run(script: &str, flags: &[&str]) -> Result<Value, Failure> {
    let folder = child::folder("selftest")?;
    let file = folder.path().join("script.js");
    fs::write(&file, script).map_err(|error| Failure::other(format!("a part cannot be run: {error}")))?;
    let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
    child::run(&file, &flags, "avg,med,p(99),max").map(|done| done.summary)
}

fn number(summary: &Value, path: &str) -> f64 {
    summary.pointer(path).and_then(Value::as_f64).unwrap_or_default()
}

fn looping(url: &str, vus: u64, seconds: u64) -> String {
    format!(
        "import http from 'k6/http';
export const options = {{ discardResponseBodies: true, scenarios: {{ a: {{ executor: 'constant-vus', vus: {vus}, duration: '{seconds}s', gracefulStop: '1s' }} }} }};
export default () => {{ http.get('{url}/'); }};
"
    )
}

impl Limits {
    fn measure(seconds: u64) -> Result<Self, Failure> {
        let fast = Target::start(0.0)?;
        let summary = run(&looping(&fast.url, 100, seconds), &[])?;
        let rate = number(&summary, "/metrics/http_reqs/rate");
        let cores = number(&summary, "/measurement/generator/cpu_cores");
        let reasons = summary["measurement"]["reasons"].as_array().cloned().unwrap_or_default();
        let slow = Target::start(DELAY_MS)?;
        let added = |connections: u64| -> Result<Added, Failure> {
            let summary = run(&looping(&slow.url, connections, seconds), &[])?;
            Ok(Added {
                connections,
                rate: number(&summary, "/metrics/http_reqs/rate"),
                median_ms: number(&summary, "/metrics/http_req_duration/med") - DELAY_MS,
                p99_ms: number(&summary, "/metrics/http_req_duration/p(99)") - DELAY_MS,
                own_p99_ms: summary.pointer("/measurement/own_delay_ms/p(99)").and_then(Value::as_f64),
            })
        };
        let timers = format!(
            "import {{ sleep }} from 'k6';
export const options = {{ vus: 10, duration: '{seconds}s' }};
export default () => {{ sleep({}); }};
",
            SLEEP_MS / 1e3
        );
        let timers = run(&timers, &[])?;
        Ok(Self {
            rate,
            rate_cpu_us: cores / rate.max(1.0) * 1e6,
            rate_reasons: reasons.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
            added: CONNECTIONS.into_iter().map(added).collect::<Result<_, _>>()?,
            timer_median_ms: number(&timers, "/metrics/iteration_duration/med") - SLEEP_MS,
            timer_p99_ms: number(&timers, "/metrics/iteration_duration/p(99)") - SLEEP_MS,
            vu_bytes: memory(&fast.url)?,
        })
    }

    fn to_text(&self) -> String {
        let mut text = format!(
            "  highest rate        {:.0} requests/s against the built-in target on this machine, {:.1} µs of CPU each\n",
            self.rate, self.rate_cpu_us
        );
        for reason in &self.rate_reasons {
            text.push_str(&format!("      ↳ {reason}\n"));
        }
        text.push_str(&format!("  added latency       to a server that answers after {DELAY_MS} ms\n"));
        for one in &self.added {
            let own = one.own_p99_ms.map_or_else(String::new, |own| format!("; own delay p(99) {own:.2} ms"));
            text.push_str(&format!(
                "      {:>4} connections  {:>8.0} requests/s   p(50) +{:.2} ms   p(99) +{:.2} ms{own}\n",
                one.connections, one.rate, one.median_ms, one.p99_ms
            ));
        }
        text.push_str(&format!(
            "  timers              {:.2} ms late at the median, {:.2} ms at p(99)\n",
            self.timer_median_ms, self.timer_p99_ms
        ));
        text.push_str(&format!(
            "  memory              {} a VU with a connection\n",
            size(self.vu_bytes.max(0.0) as u64)
        ));
        text
    }

    fn to_json(&self) -> Value {
        let added = |one: &Added| {
            json!({
                "connections": one.connections,
                "requestsPerSecond": one.rate,
                "addedMedianMs": one.median_ms,
                "addedP99Ms": one.p99_ms,
                "ownDelayP99Ms": one.own_p99_ms,
            })
        };
        json!({
            "requestsPerSecond": self.rate,
            "cpuMicrosecondsPerRequest": self.rate_cpu_us,
            "reasons": self.rate_reasons,
            "serverDelayMs": DELAY_MS,
            "addedLatency": self.added.iter().map(added).collect::<Vec<_>>(),
            "timerLateMedianMs": self.timer_median_ms,
            "timerLateP99Ms": self.timer_p99_ms,
            "vuBytes": self.vu_bytes,
        })
    }
}

/// What a VU with an open connection takes: the difference between many and few.
fn memory(url: &str) -> Result<f64, Failure> {
    let peak = |vus: u64| -> Result<f64, Failure> {
        let script = format!(
            "import http from 'k6/http';
import {{ sleep }} from 'k6';
export const options = {{ scenarios: {{ a: {{ executor: 'per-vu-iterations', vus: {vus}, iterations: 1, maxDuration: '30s' }} }} }};
export default () => {{ http.get('{url}/'); sleep(3); }};
"
        );
        Ok(number(&run(&script, &[])?, "/measurement/generator/memory_bytes_max"))
    };
    let (few, many) = (peak(10)?, peak(10 + VUS)?);
    Ok((many - few) / VUS as f64)
}
