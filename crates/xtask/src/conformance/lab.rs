//! The servers scripts meet: the built-in target over HTTP and HTTPS, and peers that misbehave.
//!
//! They are started once for all scripts, on free ports, and scripts find them by environment variables. The peers are
//! an example of `testkit` (`crates/testkit/examples/lab`), so that other commands need not build TLS.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::Value;
use xtask::workspace;

use super::resolver;
use crate::program::RunningTarget;

/// All servers; dropping it ends them.
pub(super) struct Lab {
    _target: RunningTarget,
    _peers: Peers,
    /// Where they are, and what scripts need to know of them.
    pub(super) variables: BTreeMap<String, String>,
    /// What stands for a server's address in results, longest first.
    addresses: Vec<(String, &'static str)>,
    /// Holds the certificates that both tools trust.
    _folder: tempfile::TempDir,
}

impl Lab {
    /// Starts them all.
    ///
    /// # Errors
    /// When one does not start.
    pub(super) fn start(onrush: &Path, peers: &Path) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let file = |name: &str| folder.path().join(name);
        let (own, of_peers, trusted) = (file("target.pem"), file("peers.pem"), file("trusted.pem"));
        let target = RunningTarget::start(onrush, Some(&own))?;
        let peers = Peers::start(peers, &of_peers)?;
        fs::write(&trusted, read_when_there(&own)? + &read_when_there(&of_peers)?)?;

        let mut variables = peers.variables.clone();
        let (host, https) = (target.address.to_string(), target.https.to_string());
        variables.insert("BASE_URL".to_owned(), format!("http://{host}"));
        variables.insert("HTTPS_URL".to_owned(), format!("https://{https}"));
        // Go and the verifier of Onrush both read it.
        variables.insert("SSL_CERT_FILE".to_owned(), trusted.display().to_string());
        // Two other ways to write the address of modules.
        let modules = variables.get("MODULES").context("the lab has no MODULES")?.clone();
        variables.insert("USER_MODULES".to_owned(), modules.replace("https://", "https://user:pass@"));
        variables.insert("UPPER_MODULES".to_owned(), modules.replace("https://", "HTTPS://"));
        let mut addresses = vec![(format!("http://{host}"), "BASE"), (host, "HOST"), (https, "TLS_HOST")];
        for name in ["TLS_PEERS", "PEERS", "HALF_DEAD", "PROXY", "LOCKED_PROXY", "MODULES"] {
            addresses.push((variables.get(name).with_context(|| format!("the lab has no {name}"))?.clone(), name));
        }
        Ok(Self { _target: target, _peers: peers, variables, addresses, _folder: folder })
    }

    /// Servers have other addresses in each run.
    pub(super) fn without_addresses(&self, text: &str) -> String {
        self.addresses.iter().fold(text.to_owned(), |text, (address, shown)| text.replace(address, shown))
    }

    /// A text with `{NAME}` replaced by the variable of that name.
    pub(super) fn filled(&self, text: &str) -> String {
        self.variables.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
    }

    /// Whether there is a DNS server, and programs can be made to ask it.
    pub(super) fn has_resolver(&self) -> bool {
        self.variables.contains_key(DNS_SERVER) && resolver::is_possible()
    }

    /// The `resolv.conf` that names the DNS server.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn resolver_settings(&self) -> Result<String> {
        let server = self.variables.get(DNS_SERVER).context("the lab has no DNS server: port 53 is not to be had")?;
        Ok(format!("nameserver {server}\noptions timeout:1 attempts:2\n"))
    }

    /// Where cargo puts the program with the peers.
    ///
    /// # Errors
    /// When cargo does not say where it builds.
    pub(super) fn peers_program(root: &Path) -> Result<PathBuf> {
        let name = format!("{EXAMPLE}{}", std::env::consts::EXE_SUFFIX);
        Ok(workspace::target_dir(root)?.join("debug").join("examples").join(name))
    }
}

/// What the target writes once it listens.
fn read_when_there(path: &Path) -> Result<String> {
    let until = Instant::now() + READY_TIMEOUT;
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.contains("-----END CERTIFICATE-----") => return Ok(text),
            _ if Instant::now() < until => std::thread::sleep(POLL_INTERVAL),
            _ => bail!("{} has not been written after {} s", path.display(), READY_TIMEOUT.as_secs()),
        }
    }
}

/// The process of the peers that misbehave, ended when dropped.
struct Peers {
    process: Child,
    variables: BTreeMap<String, String>,
}

impl Peers {
    fn start(program: &Path, trusted: &Path) -> Result<Self> {
        let process = Command::new(program)
            .arg(trusted)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {}", program.display()))?;
        let mut peers = Self { process, variables: BTreeMap::new() };
        let mut line = String::new();
        let stdout = peers.process.stdout.as_mut().context("stdout is a pipe")?;
        BufReader::new(stdout).read_line(&mut line).context("the peers do not say where they are")?;
        let said: Value = serde_json::from_str(&line).with_context(|| format!("the peers say: {line}"))?;
        for (name, value) in said.as_object().into_iter().flatten() {
            peers.variables.insert(name.clone(), value.as_str().unwrap_or_default().to_owned());
        }
        Ok(peers)
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // Our own child, not yet waited for: its id cannot belong to anybody else. It keeps no state.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The program's name among the examples of `testkit`.
pub(super) const EXAMPLE: &str = "lab";
/// The variable with the DNS server's address, if there is one.
const DNS_SERVER: &str = "DNS_SERVER";
const READY_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
