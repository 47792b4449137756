//! What all parts share: tools, machine, ports, scratch folder, results, and Ctrl+C.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::workspace;

use super::{
    client::Client,
    clock,
    machine::Machine,
    options::Options,
    process::{POLL, Process, Usage},
    report::Report,
    tool::{Tool, Tools},
};

/// A benchmark run.
#[derive(Debug)]
pub(super) struct Lab {
    pub(super) options: Options,
    pub(super) root: PathBuf,
    pub(super) scratch: TempDir,
    pub(super) tools: Tools,
    pub(super) machine: Machine,
    pub(super) report: Report,
    records: Vec<Value>,
    interrupted: Arc<AtomicBool>,
    ports_used: u16,
}

impl Lab {
    /// Prepares everything, those programs among it.
    pub(super) fn open(options: Options, needs: &[Tool]) -> Result<Self> {
        let root = workspace::root();
        let mut tools = Tools::prepare(&root, options.onrush.as_deref(), needs)?;
        if let Some(before) = &options.before {
            tools.before = before.canonicalize().with_context(|| format!("there is no {}", before.display()))?;
        }
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&interrupted)).context("cannot watch for Ctrl+C")?;
        }
        let machine = Machine::look(&root, &tools);
        let scratch = TempDir::with_prefix("onrush-bench-").context("cannot make a scratch folder")?;
        Ok(Self {
            options,
            root,
            scratch,
            tools,
            machine,
            report: Report::default(),
            records: Vec::new(),
            interrupted,
            ports_used: 0,
        })
    }

    /// An earlier build, if there is one to compare with.
    pub(super) fn before(&self) -> Option<Client> {
        self.options.before.as_ref().map(|_| Client::Before)
    }

    /// An error after Ctrl+C.
    pub(super) fn stop_if_interrupted(&self) -> Result<()> {
        if self.interrupted.load(Ordering::Relaxed) {
            bail!("interrupted; nothing was kept");
        }
        Ok(())
    }

    /// Waits for a process to end, calling `tick` meanwhile.
    pub(super) fn wait(
        &self,
        process: &mut Process,
        limit: Duration,
        mut tick: impl FnMut(&mut Process) -> Result<()>,
    ) -> Result<Usage> {
        loop {
            self.stop_if_interrupted()?;
            if let Some(usage) = process.ended()? {
                return Ok(usage);
            }
            if process.age() > limit {
                bail!("a client was still running after {:.0} s: {}", limit.as_secs_f64(), process.printed());
            }
            tick(process)?;
            clock::pause(POLL);
        }
    }

    /// A loopback address nobody listens on. Ports are used in turn, so that connections of an earlier server that
    /// still linger do not count against the next one's.
    pub(super) fn free_address(&mut self) -> Result<SocketAddr> {
        for _ in 0..PORTS {
            let port = self.options.port + self.ports_used % PORTS;
            self.ports_used = self.ports_used.wrapping_add(1);
            if is_free(port) {
                return Ok((Ipv4Addr::LOCALHOST, port).into());
            }
        }
        bail!(
            "ports {} to {} are all taken: choose others with --port",
            self.options.port,
            self.options.port + PORTS - 1
        )
    }

    /// Keeps a raw result.
    pub(super) fn record(&mut self, part: &str, mut value: Value) {
        value["part"] = json!(part);
        self.records.push(value);
    }

    /// Writes all that was measured; returns the folder.
    pub(super) fn save(&self, text: &str) -> Result<PathBuf> {
        let folder = match &self.options.out {
            Some(folder) => folder.clone(),
            None => self.new_folder(),
        };
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let result = json!({
            "format": FORMAT,
            "machine": self.machine.to_json(),
            "quick": self.options.quick,
            "rounds": self.options.rounds(),
            "verdict": self.report.to_json(),
            "records": self.records,
        });
        let json = serde_json::to_string_pretty(&result).context("cannot write the results as JSON")?;
        fs::write(folder.join("results.json"), json + "\n").context("cannot write results.json")?;
        fs::write(folder.join("table.txt"), text.trim_start()).context("cannot write table.txt")?;
        Ok(folder)
    }

    /// `bench/runs/<date>-<commit>`, with a number if there is one already.
    fn new_folder(&self) -> PathBuf {
        let name = format!("{}-{}", self.machine.date, self.machine.commit);
        let runs = self.root.join("bench/runs");
        let plain = runs.join(&name);
        let numbered = (2..).map(|number: u32| runs.join(format!("{name}-{number}")));
        std::iter::once(plain.clone()).chain(numbered).find(|folder| !folder.exists()).unwrap_or(plain)
    }
}

/// Whether nobody listens there now.
fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

/// Ports used in turn.
const PORTS: u16 = 20;
/// Changes with the shape of results.json.
const FORMAT: u32 = 1;
