//! `cargo xtask demo`: builds Onrush, starts its target, runs a script against it.

use std::{
    ffi::OsString,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use xtask::workspace;

/// Runs the demo; what follows the command's name is passed on to `onrush run`.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let root = workspace::root();
    let onrush = build(&root, Profile::Quick)?;

    // Ctrl-C reaches the run and the target as well; each ends by itself, and we wait for both.
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false)))?;
    }

    let target = DemoTarget::start(&onrush, None)?;
    let script = Path::new("examples").join("demo.js");
    let address = format!("TARGET={}", target.address);
    eprintln!("$ onrush target --listen {} &", target.address);
    let extra: String = arguments.iter().map(|argument| format!("{argument} ")).collect();
    eprintln!("$ onrush run -e {address} {extra}{}", script.display());
    let status = Command::new(&onrush)
        .args(["run", "-e", &address])
        .args(arguments)
        .arg(&script)
        .current_dir(&root)
        .status()
        .with_context(|| format!("cannot run {}", onrush.display()))?;
    drop(target);
    // A run that a signal ended has no code of its own.
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// How the program is optimised; see `Cargo.toml`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Profile {
    /// Soon there.
    Quick,
    /// As it is shipped and measured.
    Release,
}

impl Profile {
    fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Release => "release",
        }
    }
}

/// Builds the program and says where it is.
pub(crate) fn build(root: &Path, profile: Profile) -> Result<PathBuf> {
    let time = match profile {
        Profile::Quick => "some minutes the first time",
        Profile::Release => "ten minutes the first time",
    };
    eprintln!("Building Onrush ({time}) ...");
    let built = workspace::cargo(root)
        .args(["build", "--profile", profile.name(), "--locked", "--package", "onrush"])
        .status()
        .context("cannot run cargo")?;
    if !built.success() {
        bail!("the build failed; what cargo printed above says why");
    }
    Ok(workspace::target_dir(root)?.join(profile.name()).join(format!("onrush{}", std::env::consts::EXE_SUFFIX)))
}

/// The target's process, ended when dropped.
pub(crate) struct DemoTarget {
    process: Child,
    pub(crate) address: SocketAddr,
    /// Of its TLS port, where it has one.
    pub(crate) https: SocketAddr,
}

impl DemoTarget {
    /// Starts it on free ports, with TLS where the certificate is to be written to a file.
    pub(crate) fn start(onrush: &Path, certificate_out: Option<&Path>) -> Result<Self> {
        let [address, https] = free_addresses()?;
        let mut more: Vec<OsString> = Vec::new();
        if let Some(file) = certificate_out {
            more.extend(["--tls-listen".into(), https.to_string().into()]);
            more.extend(["--certificate-out".into(), file.as_os_str().to_owned()]);
        }
        let process = Command::new(onrush)
            .args(["target", "--listen", &address.to_string()])
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot run {}", onrush.display()))?;
        let mut target = Self { process, address, https };
        let until = Instant::now() + READY_TIMEOUT;
        while !is_healthy(address) {
            if let Some(status) = target.process.try_wait()? {
                bail!("the target ended at once ({status}); what it printed above says why");
            }
            if Instant::now() > until {
                bail!("the target does not answer on {address} after {} s", READY_TIMEOUT.as_secs());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(target)
    }
}

impl Drop for DemoTarget {
    fn drop(&mut self) {
        // Our own child, not yet waited for: its id cannot belong to anybody else. It keeps no state.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Two loopback addresses nobody listens on now. Somebody else might take one before the target does, which
/// then says so.
fn free_addresses() -> Result<[SocketAddr; 2]> {
    let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("cannot find a free port on 127.0.0.1");
    // Both are held until both are known: a port that is free again may be handed out at once.
    let (first, second) = (listen()?, listen()?);
    Ok([first.local_addr()?, second.local_addr()?])
}

fn is_healthy(address: SocketAddr) -> bool {
    let exchange = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, HEALTH_TIMEOUT)?;
        stream.set_read_timeout(Some(HEALTH_TIMEOUT))?;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut head = [0; 12];
        stream.read_exact(&mut head)?;
        Ok(&head == b"HTTP/1.1 200")
    };
    exchange().unwrap_or(false)
}

/// The target starts in milliseconds; a machine that needs longer than this has other problems.
const READY_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const HEALTH_TIMEOUT: Duration = Duration::from_secs(1);
