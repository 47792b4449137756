//! Builds Onrush and starts its target, for parts of xtask that need one.

use std::{
    ffi::OsString,
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use xtask::workspace;

/// Builds the program as it is shipped and measured, and says where it is.
pub(crate) fn build(root: &Path) -> Result<PathBuf> {
    eprintln!("Building Onrush (ten minutes the first time) ...");
    let built = workspace::cargo(root)
        .args(["build", "--release", "--locked", "--package", "onrush"])
        .status()
        .context("cannot run cargo")?;
    if !built.success() {
        bail!("the build failed; what cargo printed above says why");
    }
    Ok(workspace::target_dir(root)?.join("release").join(format!("onrush{}", std::env::consts::EXE_SUFFIX)))
}

/// The target's process, ended when dropped.
pub(crate) struct RunningTarget {
    process: Child,
    pub(crate) address: SocketAddr,
    /// Of its TLS port, where it has one.
    pub(crate) https: SocketAddr,
}

impl RunningTarget {
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

impl Drop for RunningTarget {
    fn drop(&mut self) {
        // Our own child, not yet waited for: its id cannot belong to anybody else. It keeps no state.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Two loopback addresses nobody listens on now. Somebody else might take one before the target does, which then says
/// so.
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
