//! One cell: one tool does one job against a server of its own; what it said, what the server saw, what it cost.

use std::{fs, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::{
    adapter::{Adapter, Output, Program, Run},
    job::{Job, Protocol},
    reaper,
    shop::show,
    target::{Setup, Target},
    truth::Truth,
};
use crate::bench::{
    clock,
    process::{Cpus, Process},
    procfs::{self, MachineTime, others_share},
    series::median,
};

/// What a cell is measured with.
pub(super) struct Bench<'a> {
    pub(super) onrush: &'a Path,
    pub(super) cpus: usize,
    /// Whether the folder it ran in stays.
    pub(super) keep: bool,
    /// An error after Ctrl+C.
    pub(super) interrupted: &'a dyn Fn() -> Result<()>,
}

/// Measures; the cell's figures, or why there are none. `job` has no address yet.
pub(super) fn measure(
    bench: &Bench<'_>,
    adapter: &dyn Adapter,
    program: &Program,
    mut job: Job,
    setup: Setup,
) -> Result<Value> {
    let mut scratch = TempDir::with_prefix("onrush-lab-").context("cannot make a scratch folder")?;
    if bench.keep {
        scratch.disable_cleanup(true);
        eprintln!("  {:<16} runs in {}", adapter.name(), scratch.path().display());
    }
    let work = scratch.path().join("work");
    fs::create_dir(&work).context("cannot make a scratch folder")?;
    let mut target = Target::start(bench.onrush, setup, scratch.path())?;
    job.address = target.address(job.protocol);
    let Run { mut command, files, after } = match adapter.run(program, &job) {
        Ok(run) => run,
        Err(reason) => return Ok(json!({ "cannot": reason })),
    };
    for (name, text) in &files {
        fs::write(work.join(name), text).with_context(|| format!("cannot write {name}"))?;
    }
    command.current_dir(&work);
    let mut cell = Map::new();
    cell.insert("command".to_owned(), show(&command).into());
    cell.insert("target".to_owned(), target.command.clone().into());
    cell.insert("files".to_owned(), files.iter().map(|(name, text)| (*name, text.as_str())).collect());
    let (server_cpu, machine) = (target.cpu_time(), MachineTime::now()?);
    let stdout = scratch.path().join("stdout");
    let stderr = scratch.path().join("stderr");
    let spawned_ns = monotonic_ns();
    let mut process = Process::start_apart(command, Cpus::All, &stdout, &stderr)?;
    let mut held = Held::default();
    let limit = Duration::from_secs(job.seconds * 2 + GRACE_SECONDS);
    let mut looked = clock::now();
    let usage = loop {
        (bench.interrupted)()?;
        if let Some(usage) = process.ended()? {
            break usage;
        }
        if process.age() > limit {
            process.kill()?;
            reaper::end_strays(&[target.pid()]);
            bail!("still running after {} s: ended", limit.as_secs());
        }
        if looked.elapsed() >= LOOK {
            looked = clock::now();
            held.look(process.pid(), &mut target, &job)?;
        }
        clock::pause(POLL);
    };
    let strays = reaper::end_strays(&[target.pid()]);
    let machine_after = MachineTime::now()?;
    let server_cpu = target.cpu_time().saturating_sub(server_cpu);
    let arrivals = target.finish()?;
    if let Some(mut after) = after {
        after.current_dir(&work).stdin(std::process::Stdio::null());
        let output = after.output().with_context(|| format!("cannot run {}", show(&after)))?;
        fs::write(work.join(REPORT), &output.stdout).context("cannot keep a report")?;
        cell.insert("after".to_owned(), show(&after).into());
    }
    let output = Output { stdout: read(&stdout), stderr: read(&stderr), folder: work };
    let truth = Truth::of(&arrivals, spawned_ns, &job, setup.freezes);
    if truth.requests == 0 {
        bail!("no request came ({}): {}", usage.ending(), end_of(&output));
    }
    if job.protocol == Protocol::Http2 && !arrivals.turnaround_ns.is_empty() {
        bail!("it spoke HTTP/1.1");
    }
    // Users who wait longer than that send hardly anything.
    if job.delay_ms < WAITING_MS && truth.active_s < job.seconds as f64 * ACTIVE_MIN {
        bail!(
            "its requests came within {:.2} s of the {} s: it was not under way in time ({} requests)",
            truth.active_s,
            job.seconds,
            truth.requests
        );
    }
    let claim = adapter.claim(&job, &output);
    if claim.is_none() {
        bail!("its report could not be read ({}): {}", usage.ending(), end_of(&output));
    }
    let ours = usage.cpu() + server_cpu;
    let other_cpu = others_share(machine, machine_after, ours, usage.wall, bench.cpus);
    let claim: Map<String, Value> = claim
        .iter()
        .flat_map(|claim| claim.fields())
        .filter_map(|(name, value)| Some((name.to_owned(), value?.into())))
        .collect();
    cell.extend([
        ("seconds".to_owned(), job.seconds.into()),
        ("users".to_owned(), job.load.users().into()),
        ("rate".to_owned(), job.load.rate().into()),
        ("ending".to_owned(), usage.ending().into()),
        (
            "usage".to_owned(),
            json!({
                "user_s": usage.user.as_secs_f64(),
                "system_s": usage.system.as_secs_f64(),
                "wall_s": usage.wall.as_secs_f64(),
                "rss_bytes_max": usage.rss_bytes_max,
                "cpu_us_per_request": usage.cpu().as_secs_f64() * 1e6 / truth.requests as f64,
                "switches": held.switches,
                "held_bytes": held.bytes(),
                "connections_max": held.open_max,
                "left_behind": strays,
            }),
        ),
        ("server_cpu_us_per_request".to_owned(), (server_cpu.as_secs_f64() * 1e6 / truth.requests as f64).into()),
        ("truth".to_owned(), truth.to_json()),
        ("claim".to_owned(), Value::Object(claim)),
        ("other_cpu_share".to_owned(), other_cpu.into()),
        ("stolen_s".to_owned(), (machine_after.stolen_s - machine.stolen_s).into()),
        ("disturbed".to_owned(), (other_cpu > DISTURBED).into()),
    ]);
    Ok(Value::Object(cell))
}

/// What is seen of a tool while it works.
#[derive(Debug, Default)]
struct Held {
    /// Memory of its processes while its users were there and waited.
    bytes: Vec<f64>,
    /// Connections the server had open, ours not among them.
    open_max: u64,
    /// Context switches of its threads, as last seen.
    switches: u64,
}

impl Held {
    fn look(&mut self, pid: u32, target: &mut Target, job: &Job) -> Result<()> {
        let open = target.counts()?.open.saturating_sub(1);
        self.open_max = self.open_max.max(open);
        let processes = reaper::tree(pid);
        let switches = processes.iter().map(|pid| switches(*pid)).sum();
        self.switches = self.switches.max(switches);
        // Reading memory exactly takes the kernel a while: only where that is what the cell is about.
        let waits = job.delay_ms >= WAITING_MS;
        if waits && open as f64 >= job.load.users() as f64 * ALMOST_ALL {
            let bytes: u64 = processes.iter().filter_map(|pid| procfs::rss_bytes(*pid).ok()).sum();
            self.bytes.push(bytes as f64);
        }
        Ok(())
    }

    fn bytes(&self) -> Option<f64> {
        median(&self.bytes)
    }
}

/// Voluntary and other context switches of a process's threads.
fn switches(pid: u32) -> u64 {
    let of_thread = |thread: u32| {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).unwrap_or_default();
        let of = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        of("voluntary_ctxt_switches:").unwrap_or(0) + of("nonvoluntary_ctxt_switches:").unwrap_or(0)
    };
    procfs::threads(pid).into_iter().map(of_thread).sum()
}

/// The clock of the server's record.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

fn read(path: &Path) -> String {
    fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// The last things that were printed, for an error.
fn end_of(output: &Output) -> String {
    let lines: Vec<&str> =
        output.stdout.lines().chain(output.stderr.lines()).filter(|line| !line.trim().is_empty()).collect();
    let end = lines[lines.len().saturating_sub(ERROR_LINES)..].join(" / ");
    let from = end.char_indices().rev().nth(ERROR_CHARACTERS).map_or(0, |(index, _)| index);
    end[from..].to_owned()
}

/// Where what an `after` command printed is kept, for the parser.
pub(super) const REPORT: &str = "report.txt";
/// Above this share of the machine for other programs a cell is disturbed.
pub(super) const DISTURBED: f64 = 0.1;
/// Start and end of a tool: a JVM, a graceful stop, a report.
const GRACE_SECONDS: u64 = 45;
const POLL: Duration = Duration::from_millis(10);
const LOOK: Duration = Duration::from_millis(500);
const WAITING_MS: u64 = 1_000;
const ALMOST_ALL: f64 = 0.95;
/// Less of its time says nothing of a tool but how it starts.
const ACTIVE_MIN: f64 = 0.2;
const ERROR_LINES: usize = 6;
const ERROR_CHARACTERS: usize = 600;
