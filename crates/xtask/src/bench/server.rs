//! The systems under test: nginx with a configuration of our own, and `onrush target`.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use super::{
    clock,
    lab::Lab,
    process::{Cpus, Process},
    procfs,
    stats_page::{Counts, StatsPage},
    tool,
};

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Nginx,
    Target,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Target => "target",
        }
    }

    /// The path of a body of 100 bytes.
    pub(super) fn small(self) -> &'static str {
        match self {
            Self::Nginx => "/100.txt",
            Self::Target => "/f/100",
        }
    }

    /// The path of the front page, 11 KB.
    pub(super) fn page(self) -> &'static str {
        match self {
            Self::Nginx => "/page.html",
            Self::Target => "/",
        }
    }
}

/// A running server; dropping it ends it.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) kind: Kind,
    pub(super) address: SocketAddr,
    process: Process,
    stats: StatsPage,
}

impl Server {
    /// Starts one on a free port, with one thread, and waits until it answers.
    pub(super) fn start(lab: &mut Lab, kind: Kind) -> Result<Self> {
        let address = lab.free_address()?;
        let (command, stats) = match kind {
            Kind::Nginx => (nginx(lab, address)?, "/stub_status"),
            Kind::Target => {
                let mut command = tied(&lab.tools.onrush);
                command.args(["target", "--listen", &address.to_string(), "--threads", "1"]);
                (command, "/stats")
            }
        };
        let process = Process::start(
            command,
            Cpus::All,
            &lab.scratch.path().join(format!("{}-{}.log", kind.name(), address.port())),
        )?;
        let mut server = Self { kind, address, process, stats: StatsPage::new(address, stats) };
        while server.counts().is_err() {
            lab.stop_if_interrupted()?;
            if let Some(usage) = server.process.ended()? {
                bail!("{} did not start ({}): {}", kind.name(), usage.ending(), server.process.printed());
            }
            if server.process.age() > START_TIMEOUT {
                bail!("{} does not answer: {}", kind.name(), server.process.printed());
            }
            clock::pause(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The address of a path.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// What it has counted so far.
    pub(super) fn counts(&mut self) -> Result<Counts> {
        self.stats.ask()
    }

    /// CPU it has used so far.
    pub(super) fn cpu_time(&self) -> Duration {
        procfs::cpu_time(self.process.pid())
    }

    /// Chooses its CPUs.
    pub(super) fn move_to(&self, cpus: Cpus) -> Result<()> {
        self.process.move_to(cpus)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.signal(Signal::TERM);
        for _ in 0..STOP_POLLS {
            if !matches!(self.process.ended(), Ok(None)) {
                return;
            }
            clock::pause(STOP_POLL);
        }
        // It does not listen: dropping the process kills it.
    }
}

/// nginx with bench/nginx.conf, in a folder of its own.
fn nginx(lab: &Lab, address: SocketAddr) -> Result<Command> {
    let folder = lab.scratch.path().join(format!("nginx-{}", address.port()));
    let html = folder.join("html");
    fs::create_dir_all(&html).context("cannot make a folder for nginx")?;
    let template = fs::read_to_string(lab.root.join("bench/nginx.conf")).context("cannot read bench/nginx.conf")?;
    let configuration = folder.join("nginx.conf");
    fs::write(&configuration, template.replace("@LISTEN@", &address.to_string()))
        .context("cannot write nginx's configuration")?;
    fs::write(html.join("100.txt"), "0123456789".repeat(10)).context("cannot write a file for nginx")?;
    fs::copy(lab.root.join("crates/target/assets/index.html"), html.join("page.html"))
        .context("cannot copy the target's front page")?;
    let mut command = tied(&lab.tools.nginx);
    command.arg("-p").arg(&folder).arg("-c").arg(&configuration);
    Ok(command)
}

/// A command that ends when this process is killed before it can clean up, if the system can do that.
fn tied(program: &Path) -> Command {
    match tool::find("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "TERM", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Whether nobody listens there now.
pub(super) fn is_free(port: u16) -> bool {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
}

const START_TIMEOUT: Duration = Duration::from_secs(10);
const STOP_POLL: Duration = Duration::from_millis(10);
/// Two seconds in all.
const STOP_POLLS: u32 = 200;
