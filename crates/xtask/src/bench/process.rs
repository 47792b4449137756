//! A child process that is measured: pinned, waited for with what it used, and never left behind.

use std::{
    fs::{self, File},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use rustix::{
    process::{Pid, Signal, kill_process},
    thread::{CpuSet, sched_getaffinity, sched_setaffinity},
};
use wait4::Wait4;

use super::{clock, procfs};

/// Which CPUs a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cpus {
    /// All that this process may use.
    All,
    /// One of them, counted from 0.
    One(usize),
}

impl Cpus {
    fn set(self) -> Result<CpuSet> {
        let all = sched_getaffinity(None).context("cannot read the CPUs of this process")?;
        let Self::One(wanted) = self else { return Ok(all) };
        let cpu = (0..CpuSet::MAX_CPU)
            .filter(|&cpu| all.is_set(cpu))
            .nth(wanted)
            .with_context(|| format!("there is no CPU {wanted} to pin to"))?;
        let mut one = CpuSet::new();
        one.set(cpu);
        Ok(one)
    }
}

/// What a process has used, from start to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) status: ExitStatus,
    pub(crate) user: Duration,
    pub(crate) system: Duration,
    pub(crate) rss_bytes_max: u64,
    /// From start to end.
    pub(crate) wall: Duration,
}

impl Usage {
    /// CPU in all.
    pub(crate) fn cpu(&self) -> Duration {
        self.user + self.system
    }

    /// How it ended, in words.
    pub(crate) fn ending(&self) -> String {
        match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("signal {signal}"),
            (None, None) => "unknown".to_owned(),
        }
    }
}

/// A running child. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    started: Instant,
    output: PathBuf,
    usage: Option<Usage>,
}

impl Process {
    /// Starts a command; what it prints goes to the file `output`.
    pub(crate) fn start(command: Command, cpus: Cpus, output: &Path) -> Result<Self> {
        let file = File::create(output).with_context(|| format!("cannot write {}", output.display()))?;
        let copy = file.try_clone().context("cannot share the output file")?;
        Self::start_to(command, cpus, output, file, copy)
    }

    /// The same with what it says about errors in a file of its own.
    pub(crate) fn start_apart(command: Command, cpus: Cpus, output: &Path, errors: &Path) -> Result<Self> {
        let [out, err] =
            [output, errors].map(|path| File::create(path).with_context(|| format!("cannot write {}", path.display())));
        Self::start_to(command, cpus, output, out?, err?)
    }

    fn start_to(mut command: Command, cpus: Cpus, output: &Path, out: File, err: File) -> Result<Self> {
        command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            // Ctrl+C is for us: we end our children ourselves.
            .process_group(0);
        let before = sched_getaffinity(None).context("cannot read the CPUs of this process")?;
        // Children inherit what the starting thread may use.
        sched_setaffinity(None, &cpus.set()?).context("cannot choose CPUs")?;
        let started = clock::now();
        let child = command.spawn();
        sched_setaffinity(None, &before).context("cannot choose CPUs")?;
        let child = child.with_context(|| format!("cannot run {}", command.get_program().to_string_lossy()))?;
        Ok(Self { child, started, output: output.to_owned(), usage: None })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Since it was started.
    pub(crate) fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// What it used, if it has ended.
    pub(crate) fn ended(&mut self) -> Result<Option<Usage>> {
        if self.usage.is_none()
            && let Some(used) = self.child.try_wait4().context("cannot wait for a child")?
        {
            let rusage = used.rusage;
            self.usage = Some(Usage {
                status: used.status,
                user: rusage.utime,
                system: rusage.stime,
                rss_bytes_max: rusage.maxrss,
                wall: self.age(),
            });
        }
        Ok(self.usage)
    }

    /// Moves all its threads to other CPUs.
    pub(crate) fn move_to(&self, cpus: Cpus) -> Result<()> {
        let set = cpus.set()?;
        for thread in procfs::threads(self.pid()) {
            let thread = i32::try_from(thread).ok().and_then(Pid::from_raw);
            sched_setaffinity(thread, &set).context("cannot choose the CPUs of a server")?;
        }
        Ok(())
    }

    /// Sends a signal, unless it has ended.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if let Ok(Some(_)) = self.ended() {
            return;
        }
        // Not waited for yet, so the id is still our child's.
        if let Some(pid) = i32::try_from(self.pid()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) -> Result<Usage> {
        self.signal(Signal::KILL);
        loop {
            if let Some(usage) = self.ended()? {
                return Ok(usage);
            }
            clock::pause(POLL);
        }
    }

    /// All that it printed.
    pub(crate) fn printed_whole(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.output).unwrap_or_default()).into_owned()
    }

    /// The end of what it printed.
    pub(crate) fn printed(&self) -> String {
        let text = self.printed_whole();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(PRINTED_LINES)..].join("\n")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// How often a child is looked after.
pub(crate) const POLL: Duration = Duration::from_millis(10);
/// How much of a failed child's output is kept.
const PRINTED_LINES: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_measured_and_never_left_behind() {
        let folder = std::env::temp_dir().join(format!("xtask-process-{}", std::process::id()));
        let mut command = Command::new("sh");
        command.args(["-c", "echo started; exec sleep 60"]);
        let mut process = Process::start(command, Cpus::One(0), &folder).unwrap();
        let pid = process.pid();
        assert!(process.ended().unwrap().is_none());
        process.move_to(Cpus::All).unwrap();
        let usage = process.kill().unwrap();
        assert_eq!(usage.ending(), "signal 9");
        assert!(usage.rss_bytes_max > 0);
        drop(process);
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
        let _ = fs::remove_file(folder);
    }
}
