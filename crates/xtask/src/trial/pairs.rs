//! Pairs of runs of an unchanged system: how often `onrush compare` calls one of them worse, which should be hardly ever.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{Fault, Options, generate, leave_core_of_generators, server::Server};

/// How often at most: the promise of `onrush compare` without a baseline.
const ALARMS_MOST: f64 = 0.05;

/// Runs as many pairs as asked for; a row each, and whether few enough were called worse.
pub(super) fn run(onrush: &Path, options: &Options) -> Result<(Vec<Value>, bool)> {
    leave_core_of_generators()?;
    let server = Server::start()?;
    let script = format!(
        "import http from 'k6/http';
import {{ sleep }} from 'k6';
export const options = {{ vus: 20, duration: '{}s', thresholds: {{ http_req_duration: ['p(95)<500'] }} }};
export default function () {{ http.get('http://{}/'); sleep(0.05); }}
",
        options.seconds(),
        server.address
    );
    let folder = tempfile::TempDir::with_prefix("onrush-pairs-").context("cannot make a scratch folder")?;
    let (mut rows, mut alarms) = (Vec::new(), 0);
    for number in 0..options.runs {
        let files = ["before", "after"].map(|name| folder.path().join(format!("{number}-{name}.onrush")));
        for file in &files {
            let out = format!("result={}", file.display());
            generate(onrush, &script, &["--out", &out], Fault::None, true)?;
        }
        let done = std::process::Command::new(onrush)
            .args(["compare", "--json"])
            .args(&files)
            .output()
            .context("cannot run onrush compare")?;
        let told: Value = serde_json::from_slice(&done.stdout)
            .with_context(|| format!("onrush compare: {}", String::from_utf8_lossy(&done.stderr)))?;
        let verdicts: Vec<String> = told["measures"].as_array().into_iter().flatten().map(word).collect();
        let is_alarm = done.status.code() == Some(81);
        alarms += usize::from(is_alarm);
        println!("pair {number}: {}{}", verdicts.join(", "), if is_alarm { "  ALARM" } else { "" });
        rows.push(json!({ "pair": number, "verdicts": verdicts, "alarm": is_alarm }));
        for file in &files {
            std::fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
        }
    }
    println!("{alarms} of {} pairs of an unchanged system were called worse", rows.len());
    // Of few pairs one is always too many of a hundred.
    Ok((rows, alarms as f64 <= (ALARMS_MOST * options.runs as f64).max(1.0)))
}

/// `http_req_duration p(95) same`
fn word(row: &Value) -> String {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    format!("{} {} {}", text("metric"), text("statistic"), text("verdict"))
}
