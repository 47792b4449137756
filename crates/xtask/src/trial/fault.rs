//! What is done to a generator so that its measurements go wrong.

use std::{
    fs,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

/// The core of generators; servers have the others.
pub(super) const CORE: &str = "0";

/// Where the server is that a network namespace has of its own.
pub(super) const INSIDE: &str = "127.0.0.1:18099";

/// A fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    None,
    /// So many programs compute on the generator's core.
    Programs(usize),
    /// The same, and the generator has the lower priority.
    LowPriority(usize),
    /// It is stopped for so many milliseconds of so many.
    Stopped {
        ms: u64,
        of_ms: u64,
    },
    /// Its control group may use so many percent of a core.
    Quota(u32),
    /// It may open so many files.
    Files(u32),
    /// It is in a network namespace with so many local ports, beside a server at [`INSIDE`].
    Ports(u32),
}

/// A generator that suffers from a fault, and what goes with it; all of it ends with this value.
pub(super) struct Suffering {
    pub(super) generator: Child,
    programs: Vec<Child>,
    over: Arc<AtomicBool>,
    stopper: Option<JoinHandle<()>>,
    group: Option<PathBuf>,
    namespace: Option<String>,
}

impl Fault {
    /// Starts a generator with it.
    pub(super) fn start(self, mut words: Vec<String>, pinned: bool) -> Result<Suffering> {
        let mut before: Vec<String> = Vec::new();
        let mut add = |parts: &[&str]| before.extend(parts.iter().map(ToString::to_string));
        let (mut group, mut namespace, mut programs) = (None, None, Vec::new());
        match self {
            Self::LowPriority(_) => add(&["nice", "-n", "10"]),
            Self::Files(limit) => add(&["sh", "-c", &format!("ulimit -n {limit}; exec \"$@\""), "sh"]),
            Self::Quota(percent) => {
                let folder = PathBuf::from(format!("/sys/fs/cgroup/cpu/onrush-trial-{}", std::process::id()));
                fs::create_dir_all(&folder).context("cannot make a control group (cgroup v1, as root)")?;
                fs::write(folder.join("cpu.cfs_quota_us"), (percent * 1_000).to_string())?;
                let tasks = folder.join("cgroup.procs");
                add(&["sh", "-c", &format!("echo $$ > {}; exec \"$@\"", tasks.display()), "sh"]);
                group = Some(folder);
            }
            Self::Ports(count) => {
                let name = format!("onrush-trial-{}", std::process::id());
                run(&["ip", "netns", "add", &name])?;
                namespace = Some(name.clone());
                run(&["ip", "-n", &name, "link", "set", "lo", "up"])?;
                let range = format!("net.ipv4.ip_local_port_range=50000 {}", 50_000 + count - 1);
                run(&["ip", "netns", "exec", &name, "sysctl", "-qw", &range])?;
                add(&["ip", "netns", "exec", &name]);
                let server = ["netns", "exec", &name, &words[0], "target", "--listen", INSIDE];
                let quiet = Command::new("ip").args(server).stdin(Stdio::null()).stdout(Stdio::null()).spawn();
                programs.push(quiet.context("cannot run ip")?);
                thread::sleep(Duration::from_secs(1));
            }
            _ => {}
        }
        if pinned {
            add(&["taskset", "-c", CORE]);
        }
        before.append(&mut words);
        let (first, rest) = before.split_first().context("a command has a name")?;
        let generator =
            Command::new(first).args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let generator = generator.with_context(|| format!("cannot run {first}"))?;
        let mut suffering = Suffering { generator, programs, over: Arc::default(), stopper: None, group, namespace };
        if let Self::Programs(count) | Self::LowPriority(count) = self {
            for _ in 0..count {
                let computing = ["-c", CORE, "sh", "-c", "while :; do :; done"];
                suffering.programs.push(Command::new("taskset").args(computing).spawn().context("cannot run taskset")?);
            }
        }
        if let Self::Stopped { ms, of_ms } = self {
            let pid =
                i32::try_from(suffering.generator.id()).ok().and_then(Pid::from_raw).context("a process has an id")?;
            let over = suffering.over.clone();
            suffering.stopper = Some(thread::spawn(move || {
                // Not before it measures.
                thread::sleep(Duration::from_millis(1_500));
                while !over.load(Ordering::Relaxed) {
                    let _ = kill_process(pid, Signal::STOP);
                    thread::sleep(Duration::from_millis(ms));
                    let _ = kill_process(pid, Signal::CONT);
                    thread::sleep(Duration::from_millis(of_ms - ms));
                }
            }));
        }
        Ok(suffering)
    }
}

/// Whether a program of the system ends well.
pub(super) fn run(words: &[&str]) -> Result<()> {
    let status =
        Command::new(words[0]).args(&words[1..]).status().with_context(|| format!("cannot run {}", words[0]))?;
    if !status.success() {
        bail!("`{}` failed", words.join(" "));
    }
    Ok(())
}

impl Drop for Suffering {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(stopper) = self.stopper.take() {
            let _ = stopper.join();
        }
        // Our own children, not yet waited for.
        for child in self.programs.iter_mut().chain([&mut self.generator]) {
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(group) = &self.group {
            let _ = fs::remove_dir(group);
        }
        if let Some(namespace) = &self.namespace {
            let _ = run(&["ip", "netns", "del", namespace]);
        }
    }
}
