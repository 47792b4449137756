//! `cargo xtask soak`: a run at full speed in which no two requests have the same URL, and its memory over time.
//!
//! The script's thresholds read the tag `url`, so every request would be time series of its own. What must be seen:
//! one warning, no sample lost, and memory that stops growing once the limit is reached.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use xtask::{arguments::Arguments, workspace};

use crate::program::{RunningTarget, build};

/// The arguments in one line.
pub(crate) const ARGUMENTS: &str = "[--minutes N] [--vus N] [--cardinality-limit N] [--out NAME] [--onrush PATH]";

/// What a soak was asked for.
#[derive(Debug, Clone, PartialEq)]
struct Options {
    minutes: f64,
    vus: u32,
    limit: u32,
    /// A name below bench/runs.
    out: Option<String>,
    /// A binary to use instead of building one.
    onrush: Option<PathBuf>,
}

/// Runs the soak; exit code 1 if something was not as it must be.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let options = Options::parse(arguments)?;
    let root = workspace::root();
    let onrush = match &options.onrush {
        Some(onrush) => onrush.clone(),
        None => build(&root)?,
    };
    let target = RunningTarget::start(&onrush, None)?;
    let folder = tempfile::TempDir::with_prefix("onrush-soak-").context("cannot make a scratch folder")?;
    eprintln!("{} minutes of unique URLs at full speed with {} VUs ...", options.minutes, options.vus);
    let result = soak(&onrush, &options, target.address.to_string(), folder.path())?;
    drop(target);
    let text = serde_json::to_string_pretty(&result.json(&options))?;
    if let Some(name) = &options.out {
        let path = root.join("bench").join("runs").join(name).join("soak.json");
        fs::create_dir_all(path.parent().context("a file has a folder")?)?;
        fs::File::create(&path).and_then(|mut file| writeln!(file, "{text}")).context("cannot write the results")?;
        println!("raw results: bench/runs/{name}/soak.json");
    }
    println!("{}", result.report());
    Ok(if result.complaints().is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Options {
    fn parse(given: &[String]) -> Result<Self> {
        let mut arguments = Arguments::new(given);
        let options = Self {
            minutes: arguments.value("--minutes")?.unwrap_or(30.0),
            vus: arguments.value("--vus")?.unwrap_or(64),
            limit: arguments.value("--cardinality-limit")?.unwrap_or(100_000),
            out: arguments.value("--out")?,
            onrush: arguments.value("--onrush")?,
        };
        arguments.end(ARGUMENTS)?;
        if !(options.minutes > 0.0 && options.minutes <= MINUTES_MAX) {
            bail!("--minutes must be more than 0 and at most {MINUTES_MAX}");
        }
        if let Some(name) = &options.out
            && !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        {
            bail!("--out takes a folder's name below bench/runs, such as 2026-11-22-soak, not `{name}`");
        }
        Ok(options)
    }
}

/// What was seen.
#[derive(Debug, Default)]
struct Soak {
    /// Seconds since the start and resident bytes.
    rss: Vec<(f64, u64)>,
    exit_code: Option<i32>,
    requests: f64,
    seconds: f64,
    /// Log lines about time series.
    warnings: Vec<String>,
    /// Log lines that say that samples were lost.
    lost: Vec<String>,
}

fn soak(onrush: &Path, options: &Options, address: String, folder: &Path) -> Result<Soak> {
    let (script, summary, log) = (folder.join("soak.js"), folder.join("summary.json"), folder.join("log"));
    fs::write(&script, SCRIPT)?;
    let mut process = Command::new(onrush)
        .args(["run", "--quiet", "--summary-export"])
        .arg(&summary)
        .args(["--new-machine-readable-summary", "-e", &format!("TARGET={address}")])
        .args(["--vus", &options.vus.to_string(), "--duration", &format!("{}ms", (options.minutes * 60_000.0) as u64)])
        .args(["--cardinality-limit", &options.limit.to_string()])
        .arg(&script)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log)?)
        .spawn()
        .with_context(|| format!("cannot run {}", onrush.display()))?;
    let started = Instant::now();
    let mut soak = Soak::default();
    let status = loop {
        if let Some(status) = process.try_wait()? {
            break status;
        }
        if let Some(bytes) = rss_bytes(process.id()) {
            soak.rss.push((started.elapsed().as_secs_f64(), bytes));
        }
        std::thread::sleep(SAMPLE_INTERVAL);
    };
    soak.exit_code = status.code();
    let log = fs::read_to_string(&log)?;
    let lines = |what: &str| log.lines().filter(|line| line.contains(what)).map(str::to_owned).collect();
    soak.warnings = lines("too many time series");
    soak.lost = lines("could not be kept");
    let summary = fs::read_to_string(&summary).with_context(|| format!("the run wrote no summary; its log:\n{log}"))?;
    let summary: Value = serde_json::from_str(&summary)?;
    let metrics = summary["results"]["metrics"].as_array().map_or(&[][..], Vec::as_slice);
    let requests = metrics.iter().find(|metric| metric["name"] == "http_reqs");
    soak.requests = requests.and_then(|metric| metric["values"]["count"].as_f64()).unwrap_or(0.0);
    soak.seconds = summary["config"]["duration"].as_f64().unwrap_or(0.0);
    Ok(soak)
}

impl Soak {
    /// Bytes a minute over the second half of the run: least squares, so that one odd sample does not decide.
    fn slope(&self) -> f64 {
        let half = &self.rss[self.rss.len() / 2..];
        let count = half.len() as f64;
        if half.len() < 2 {
            return 0.0;
        }
        let mean_x = half.iter().map(|(at, _)| at).sum::<f64>() / count;
        let mean_y = half.iter().map(|(_, bytes)| *bytes as f64).sum::<f64>() / count;
        let covariance: f64 = half.iter().map(|(at, bytes)| (at - mean_x) * (*bytes as f64 - mean_y)).sum();
        let variance: f64 = half.iter().map(|(at, _)| (at - mean_x).powi(2)).sum();
        60.0 * covariance / variance.max(f64::MIN_POSITIVE)
    }

    /// Growth the slope stands for over the half that was looked at. A short run has a steep slope from little noise.
    fn growth(&self) -> f64 {
        let half = &self.rss[self.rss.len() / 2..];
        let minutes = half.last().zip(half.first()).map_or(0.0, |(last, first)| (last.0 - first.0) / 60.0);
        self.slope() * minutes
    }

    fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        if self.exit_code != Some(0) {
            complaints.push(format!("the run ended with exit code {:?}", self.exit_code));
        }
        if self.warnings.len() != 1 {
            complaints.push(format!("{} warnings about time series instead of 1", self.warnings.len()));
        }
        if !self.lost.is_empty() {
            complaints.push(format!("samples were lost: {}", self.lost.join("; ")));
        }
        if self.slope() > SLOPE_MAX && self.growth() > GROWTH_MIN {
            complaints.push(format!(
                "memory grew by {:.2} MiB a minute in the second half; the limit is {:.0} MiB",
                self.slope() / MIB,
                SLOPE_MAX / MIB
            ));
        }
        complaints
    }

    fn report(&self) -> String {
        let at = |index: usize| self.rss.get(index).map_or(0.0, |(_, bytes)| *bytes as f64 / MIB);
        let mut text = format!(
            "{:.0} requests in {:.0} s ({:.0}/s)\nresident memory: {:.1} MiB at half time, {:.1} MiB at the end, {:+.3} MiB a minute between\n",
            self.requests,
            self.seconds,
            self.requests / self.seconds.max(f64::MIN_POSITIVE),
            at(self.rss.len() / 2),
            at(self.rss.len().saturating_sub(1)),
            self.slope() / MIB,
        );
        self.warnings.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        let complaints = self.complaints();
        match complaints.is_empty() {
            true => text.push_str("bounded"),
            false => complaints.iter().for_each(|complaint| text.push_str(&format!("✗ {complaint}\n"))),
        }
        text
    }

    fn json(&self, options: &Options) -> Value {
        json!({
            "minutes": options.minutes,
            "vus": options.vus,
            "cardinality_limit": options.limit,
            "script": SCRIPT,
            "requests": self.requests,
            "seconds": self.seconds,
            "exit_code": self.exit_code,
            "warnings": self.warnings,
            "rss_slope_bytes_per_minute": self.slope(),
            "complaints": self.complaints(),
            "rss": self.rss.iter().map(|(at, bytes)| json!({ "seconds": at, "bytes": bytes })).collect::<Vec<_>>(),
        })
    }
}

fn rss_bytes(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kilobytes = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix("kB")?;
    Some(kilobytes.trim().parse::<u64>().ok()? * 1024)
}

/// Every request has a URL of its own, and thresholds make two metrics keep it.
const SCRIPT: &str = "\
import http from 'k6/http';

const base = `http://${__ENV.TARGET}`;

export const options = {
  thresholds: {
    [`http_req_duration{url:${base}/f/100?vu=1&n=0}`]: ['p(95)<60000'],
    [`http_reqs{url:${base}/f/100?vu=1&n=0}`]: ['count==1'],
  },
};

export default function () {
  http.get(`${base}/f/100?vu=${__VU}&n=${__ITER}`);
}
";

const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);
const MINUTES_MAX: f64 = 24.0 * 60.0;
const MIB: f64 = (1 << 20) as f64;
/// Allocators and page tables breathe; what leaks at 10,000 requests a second grows by far more: a URL each is 60 MiB.
const SLOPE_MAX: f64 = MIB;
/// Growth below this is noise, however short the run.
const GROWTH_MIN: f64 = 2.0 * MIB;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_is_that_of_the_second_half() {
        let soak = |bytes: &dyn Fn(u64) -> u64| Soak {
            rss: (0..600_u64).map(|second| (second as f64, bytes(second))).collect(),
            exit_code: Some(0),
            warnings: vec![String::new()],
            ..Soak::default()
        };
        let filled = soak(&|second| (100 << 20) + second.min(250) * (1 << 20));
        assert_eq!((filled.slope(), filled.complaints().len()), (0.0, 0));
        let leaking = soak(&|second| second * (1 << 20));
        assert!((leaking.slope() / MIB - 60.0).abs() < 1e-6);
        assert_eq!(leaking.complaints().len(), 1);
    }

    #[test]
    fn options() {
        let parse = |text: &str| Options::parse(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(parse("--minutes 0.5 --vus 8 --out a-b").unwrap().out.as_deref(), Some("a-b"));
        for wrong in ["--minutes", "--minutes x", "--minutes 0", "--minutes NaN", "--out ../x", "--what 1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
