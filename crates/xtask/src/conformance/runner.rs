//! Runs one script with k6 or Onrush, in a folder and an environment of its own.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{
    lab::Lab,
    outcome::{self, Leftovers},
    resolver,
    script::{FILES, Script},
};

/// A program that runs scripts.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) program: PathBuf,
    pub(super) version: String,
}

/// Where a script finds what it needs.
pub(super) struct Runner<'a> {
    /// `conformance/`.
    pub(super) folder: &'a Path,
    pub(super) lab: &'a Lab,
}

impl Runner<'_> {
    /// Runs a script and says what came of it.
    pub(super) fn run(&self, tool: &Tool, script: &Script) -> Result<Value> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let place = folder.path();
        let file = script.path.file_name().context("a script is a file")?;
        if script.is_importing {
            let text = fs::read_to_string(&script.path).context("cannot read the script")?;
            fs::write(place.join(file), self.lab.filled(&text)).context("cannot write the script")?;
        } else {
            fs::copy(&script.path, place.join(file)).context("cannot copy the script")?;
        }
        for (name, source) in &script.files {
            let to = place.join(name);
            fs::create_dir_all(to.parent().unwrap_or(place))?;
            fs::copy(self.folder.join(FILES).join(source), &to)
                .with_context(|| format!("cannot copy {FILES}/{source}"))?;
        }
        let mut command = if script.is_resolver {
            fs::write(place.join(resolver::FILE), self.lab.resolver_settings()?)?;
            resolver::command(&tool.program)
        } else {
            Command::new(&tool.program)
        };
        command.arg("run").arg("--address=");
        for kind in &script.out {
            command.arg("--out").arg(format!("{kind}={}", outcome::lines_file(kind)));
        }
        command.args(&script.flags);
        if script.is_stdin {
            command.arg("-").stdin(File::open(place.join(file))?);
        } else {
            command.arg(file).stdin(Stdio::null());
        }
        command
            .current_dir(place)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", place)
            .env("K6_NO_USAGE_REPORT", "true")
            .env("K6_SUMMARY_EXPORT", outcome::EXPORT)
            .envs(&self.lab.variables)
            .envs(script.env.iter().map(|(name, value)| (name, self.lab.filled(value))))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ended = Ended::of(command, script.interrupt.as_deref())
            .with_context(|| format!("cannot run {}", tool.program.display()))?;
        let Some(exit) = ended.status.code() else { bail!("ended with {}:\n{}", ended.status, ended.stderr) };
        let leftovers = Leftovers { folder: place, lab: self.lab, exit, stdout: &ended.stdout };
        outcome::of(script, &leftovers).with_context(|| format!("its log was:\n{}", ended.stderr))
    }
}

/// A run that has ended.
struct Ended {
    status: ExitStatus,
    stdout: String,
    stderr: String,
}

impl Ended {
    /// Waits for a command; `interrupt` is what its log shows when it shall get a SIGINT.
    fn of(mut command: Command, interrupt: Option<&str>) -> Result<Self> {
        let mut process = Process(command.spawn()?);
        let stdout = process.0.stdout.take().context("stdout is a pipe")?;
        let stderr = process.0.stderr.take().context("stderr is a pipe")?;
        let (seen, is_seen) = sync_channel(1);
        let wanted = interrupt.map(str::to_owned);
        let stderr = thread::spawn(move || read_log(stderr, wanted.as_deref(), &seen));
        let stdout = thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = BufReader::new(stdout).read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let status = process.wait(interrupt.is_some().then_some(&is_seen))?;
        let text = |thread: thread::JoinHandle<String>| thread.join().unwrap_or_default();
        Ok(Self { status, stdout: text(stdout), stderr: text(stderr) })
    }
}

/// Reads a log to its end and says when a line has the text that is waited for.
fn read_log(from: impl Read, wanted: Option<&str>, seen: &SyncSender<()>) -> String {
    let mut log = String::new();
    let mut reader = BufReader::new(from);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        let text = String::from_utf8_lossy(&line);
        if wanted.is_some_and(|wanted| text.contains(wanted)) {
            let _ = seen.try_send(());
        }
        log.push_str(&text);
        line.clear();
    }
    log
}

/// A child; dropping it ends it.
struct Process(Child);

impl Process {
    fn wait(&mut self, interrupt: Option<&Receiver<()>>) -> Result<ExitStatus> {
        let until = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(status);
            }
            if interrupt.is_some_and(|seen| seen.try_recv().is_ok())
                && let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw)
            {
                // Not waited for yet, so the id is still our child's.
                kill_process(pid, Signal::INT)?;
            }
            if Instant::now() > until {
                bail!("it has not ended after {} s", TIMEOUT.as_secs());
            }
            thread::sleep(POLL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Does nothing to a child that was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// No script needs more than a few seconds.
const TIMEOUT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(5);
