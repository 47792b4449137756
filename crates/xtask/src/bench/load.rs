//! One measurement: a client drives load for some seconds, and we learn what it did and what it cost.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::{
    client::{Client, Protocol, command},
    lab::Lab,
    process::{Cpus, Process, Usage},
    procfs::{MachineTime, others_share},
    report::DISTURBED,
    server::Server,
};

/// What a client is to do.
#[derive(Debug, Clone, Default)]
pub(super) struct Load {
    /// Relative to the repository.
    pub(super) script: &'static str,
    /// Variables of the script.
    pub(super) env: Vec<(&'static str, String)>,
    /// Variables of those that run the script.
    pub(super) settings: Vec<(&'static str, String)>,
    /// VUs or connections; `None` leaves the shape of the load to the script.
    pub(super) vus: Option<u64>,
    /// How long it takes.
    pub(super) seconds: u64,
    /// What clients without scripts request instead.
    pub(super) url: String,
    pub(super) protocol: Protocol,
    /// More flags for those that run the script.
    pub(super) flags: &'static [&'static str],
    /// The client on the first CPU, the server on the second; else both on all.
    pub(super) pinned: bool,
    /// What the client counts where the server counts requests; `http_reqs` where it is something else.
    pub(super) counter: Option<&'static str>,
    /// Whether crossed thresholds are of no interest.
    pub(super) thresholds_may_fail: bool,
}

/// What came out.
#[derive(Debug, Clone)]
pub(super) struct Measurement {
    pub(super) client: Client,
    /// Counted by the server.
    pub(super) requests: u64,
    pub(super) usage: Usage,
    server_cpu: Duration,
    seconds: u64,
    /// Share of the machine that other programs used.
    other_cpu: f64,
    stolen_s: f64,
    /// k6's summary as JSON; null for clients without scripts.
    pub(super) summary: Value,
    /// What the client printed.
    pub(super) printed: String,
}

impl Measurement {
    pub(super) fn user_us(&self) -> f64 {
        per(self.usage.user, self.requests)
    }

    pub(super) fn system_us(&self) -> f64 {
        per(self.usage.system, self.requests)
    }

    /// Client CPU per request in microseconds.
    pub(super) fn cpu_us(&self) -> f64 {
        per(self.usage.cpu(), self.requests)
    }

    /// Requests a second over the nominal duration.
    pub(super) fn rps(&self) -> f64 {
        self.requests as f64 / self.seconds.max(1) as f64
    }

    pub(super) fn server_us(&self) -> f64 {
        per(self.server_cpu, self.requests)
    }

    pub(super) fn rss_mb(&self) -> f64 {
        self.usage.rss_bytes_max as f64 / MB
    }

    /// A number of the summary, such as `["iterations", "count"]`.
    pub(super) fn metric(&self, name: &str, field: &str) -> Option<f64> {
        self.summary["metrics"][name][field].as_f64()
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "client": self.client.name(),
            "requests": self.requests,
            "rps": self.rps(),
            "ending": self.usage.ending(),
            "wall_s": self.usage.wall.as_secs_f64(),
            "user_s": self.usage.user.as_secs_f64(),
            "system_s": self.usage.system.as_secs_f64(),
            "user_us_per_request": self.user_us(),
            "system_us_per_request": self.system_us(),
            "cpu_us_per_request": self.cpu_us(),
            "rss_bytes_max": self.usage.rss_bytes_max,
            "server_cpu_us_per_request": self.server_us(),
            "other_cpu_share": self.other_cpu,
            "stolen_s": self.stolen_s,
            "metrics": self.summary["metrics"],
        })
    }
}

/// Runs a client to its end.
pub(super) fn measure(lab: &mut Lab, client: Client, load: &Load, server: &mut Server) -> Result<Measurement> {
    measure_with(lab, client, load, server, |_| Ok(()))
}

/// The same, looking at the server every now and then.
pub(super) fn measure_with(
    lab: &mut Lab,
    client: Client,
    load: &Load,
    server: &mut Server,
    mut look: impl FnMut(&mut Server) -> Result<()>,
) -> Result<Measurement> {
    server.move_to(if load.pinned { Cpus::One(1) } else { Cpus::All })?;
    let (command, summary) = command(lab, client, load);
    let (counts, server_cpu, machine) = (server.counts()?, server.cpu_time(), MachineTime::now()?);
    let output = lab.scratch.path().join("client.log");
    let mut process = Process::start(command, if load.pinned { Cpus::One(0) } else { Cpus::All }, &output)?;
    let usage = wait(lab, &mut process, client, load, |_| look(server))?;
    let machine_after = MachineTime::now()?;
    let server_cpu = server.cpu_time().saturating_sub(server_cpu);
    let requests = server.counts()?.requests - counts.requests;
    let ours = usage.cpu() + server_cpu;
    let measurement = Measurement {
        client,
        requests,
        usage,
        server_cpu,
        seconds: load.seconds,
        other_cpu: others_share(machine, machine_after, ours, usage.wall, lab.machine.cpus),
        stolen_s: machine_after.stolen_s - machine.stolen_s,
        summary: summary.map_or(Ok(Value::Null), |path| read_summary(&path))?,
        printed: process.printed_whole(),
    };
    check_honesty(&measurement, load.counter.unwrap_or("http_reqs"))?;
    lab.report.ran(measurement.other_cpu > DISTURBED);
    eprintln!(
        "  {:<7} {:>9} requests, {:>7.1} µs CPU each ({:.1} user), {:.0} MB{}",
        client.name(),
        requests,
        measurement.cpu_us(),
        measurement.user_us(),
        measurement.rss_mb(),
        if measurement.other_cpu > DISTURBED {
            format!("; disturbed: others took {:.0} %", measurement.other_cpu * 100.0)
        } else {
            String::new()
        }
    );
    Ok(measurement)
}

/// Waits until a client has ended, and ended well. `look` is called every now and then.
pub(super) fn wait(
    lab: &Lab,
    process: &mut Process,
    client: Client,
    load: &Load,
    look: impl FnMut(&mut Process) -> Result<()>,
) -> Result<Usage> {
    let usage = lab.wait(process, Duration::from_secs(load.seconds) + GRACE, look)?;
    let expected =
        usage.status.success() || (load.thresholds_may_fail && usage.status.code() == Some(THRESHOLDS_CROSSED));
    if !expected {
        bail!("{} ended with {}: {}", client.name(), usage.ending(), process.printed());
    }
    Ok(usage)
}

/// A client's own count must be the server's, but for what was under way at the end.
fn check_honesty(measurement: &Measurement, counter: &str) -> Result<()> {
    if measurement.requests == 0 {
        bail!("{} sent no request", measurement.client.name());
    }
    let Some(reported) = measurement.metric(counter, "count") else { return Ok(()) };
    let counted = measurement.requests as f64;
    if (reported - counted).abs() > counted * REPORT_TOLERANCE + UNDER_WAY {
        bail!("{} reports {reported} {counter}, the server counted {counted}", measurement.client.name());
    }
    Ok(())
}

pub(super) fn read_summary(path: &Path) -> Result<Value> {
    let text = fs::read_to_string(path).context("the client wrote no summary")?;
    let summary = serde_json::from_str(&text).context("the client's summary is not JSON")?;
    // The next client must write its own.
    fs::remove_file(path).context("cannot remove the client's summary")?;
    Ok(summary)
}

/// Microseconds for each of so many.
pub(super) fn per(time: Duration, count: u64) -> f64 {
    time.as_secs_f64() * 1e6 / count.max(1) as f64
}

/// Mebibytes in bytes.
pub(super) const MB: f64 = 1024.0 * 1024.0;
/// Start, graceful stop and summary together; k6's graceful stop is 30 s.
const GRACE: Duration = Duration::from_secs(45);
/// k6's exit code for it.
const THRESHOLDS_CROSSED: i32 = 99;
const REPORT_TOLERANCE: f64 = 0.01;
/// Requests that were answered but not counted by an interrupted iteration, or the other way round: one or two for each
/// of the VUs we use.
const UNDER_WAY: f64 = 400.0;
