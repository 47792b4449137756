//! The systems under test: nginx with a configuration of our own, and `onrush target`.

use std::{
    fs,
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use xtask::packages::find;

use super::{
    client::Protocol,
    clock,
    lab::Lab,
    process::{Cpus, Process},
    procfs,
    stats_page::{Counts, INFO, StatsPage},
};

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Nginx,
    Target,
    Redis,
}

impl Kind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Target => "target",
            Self::Redis => "redis",
        }
    }

    /// The path of a body of 100 bytes.
    pub(super) fn small(self) -> &'static str {
        match self {
            Self::Nginx => "/100.txt",
            Self::Target | Self::Redis => "/f/100",
        }
    }

    /// The path of a body of 1 MB.
    pub(super) fn large(self) -> &'static str {
        match self {
            Self::Nginx => "/1m.bin",
            Self::Target | Self::Redis => "/f/1048576",
        }
    }

    /// The path of the front page, 11 KB.
    pub(super) fn page(self) -> &'static str {
        match self {
            Self::Nginx => "/page.html",
            Self::Target | Self::Redis => "/",
        }
    }
}

/// What a server can be told besides its address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// The target's `--delay`.
    pub(super) delay: Option<&'static str>,
    /// nginx's workers, each with sockets of its own.
    pub(super) workers: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { delay: None, workers: 1 }
    }
}

/// A running server; dropping it ends it.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) kind: Kind,
    pub(super) address: SocketAddr,
    /// Where nginx speaks HTTP/1.1 over TLS, and where it offers HTTP/2.
    tls: [SocketAddr; 2],
    process: Process,
    stats: StatsPage,
}

impl Server {
    /// Starts one on a free port, with one thread, and waits until it answers.
    pub(super) fn start(lab: &mut Lab, kind: Kind) -> Result<Self> {
        Self::start_with(lab, kind, Settings::default())
    }

    /// The same with settings.
    pub(super) fn start_with(lab: &mut Lab, kind: Kind, settings: Settings) -> Result<Self> {
        let address = lab.free_address()?;
        let tls = [lab.free_address()?, lab.free_address()?];
        let (command, stats) = match kind {
            Kind::Redis => {
                let mut command = tied(&lab.tools.redis);
                command.args(["--bind", &address.ip().to_string(), "--port", &address.port().to_string()]);
                command.args(["--save", "", "--appendonly", "no"]).current_dir(lab.scratch.path());
                (command, INFO)
            }
            Kind::Nginx => (nginx(lab, address, tls, settings.workers)?, "/stub_status"),
            Kind::Target => {
                let mut command = tied(&lab.tools.onrush);
                command.args(["target", "--listen", &address.to_string(), "--threads", "1"]);
                if let Some(delay) = settings.delay {
                    command.args(["--delay", delay]);
                }
                (command, "/stats")
            }
        };
        let process = Process::start(
            command,
            Cpus::All,
            &lab.scratch.path().join(format!("{}-{}.log", kind.name(), address.port())),
        )?;
        let mut server = Self { kind, address, tls, process, stats: StatsPage::new(address, stats) };
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

    /// The address of a path by a protocol; nginx only.
    pub(super) fn url_over(&self, protocol: Protocol, path: &str) -> String {
        match protocol {
            Protocol::Http => self.url(path),
            Protocol::Https | Protocol::HttpsNew => format!("https://{}{path}", self.tls[0]),
            Protocol::Http2 => format!("https://{}{path}", self.tls[1]),
        }
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
fn nginx(lab: &Lab, address: SocketAddr, tls: [SocketAddr; 2], workers: usize) -> Result<Command> {
    let folder = lab.scratch.path().join(format!("nginx-{}", address.port()));
    let html = folder.join("html");
    fs::create_dir_all(&html).context("cannot make a folder for nginx")?;
    let template = fs::read_to_string(lab.root.join("bench/nginx.conf")).context("cannot read bench/nginx.conf")?;
    let configuration = folder.join("nginx.conf");
    let text = template
        .replace("@LISTEN@", &address.to_string())
        .replace("@TLS@", &tls[0].to_string())
        .replace("@HTTP2@", &tls[1].to_string())
        .replace("@MASTER@", if workers > 1 { "on" } else { "off" })
        .replace("@WORKERS@", &workers.to_string())
        // The kernel spreads connections over the workers.
        .replace("@SHARED@", if workers > 1 { " reuseport" } else { "" });
    fs::write(&configuration, text).context("cannot write nginx's configuration")?;
    fs::write(html.join("100.txt"), "0123456789".repeat(10)).context("cannot write a file for nginx")?;
    fs::write(html.join("1m.bin"), "0123456789abcdef".repeat(1 << 16)).context("cannot write a file for nginx")?;
    fs::copy(lab.root.join("crates/testsite/assets/index.html"), html.join("page.html"))
        .context("cannot copy the target's front page")?;
    run(Command::new("gzip").arg("--keep").arg(html.join("page.html")))?;
    run(Command::new(&lab.tools.openssl)
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(&folder))?;
    let mut command = tied(&lab.tools.nginx);
    command.arg("-p").arg(&folder).arg("-c").arg(&configuration);
    Ok(command)
}

/// Runs a small program to its end.
fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        bail!("{name} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// A command that ends when this process is killed before it can clean up, if the system can do that.
fn tied(program: &Path) -> Command {
    match find("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", "TERM", "--"]).arg(program);
            command
        }
        None => Command::new(program),
    }
}

const START_TIMEOUT: Duration = Duration::from_secs(10);
const STOP_POLL: Duration = Duration::from_millis(10);
/// Two seconds in all.
const STOP_POLLS: u32 = 200;
