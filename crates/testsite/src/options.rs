//! What a user can choose about a target: addresses, threads, delay, limits.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use crate::{
    fault::{Break, HandshakeFault},
    freeze::Freeze,
};

/// Most worker threads one target starts.
pub const THREADS_MAX: usize = 256;

/// How to run a target. `TargetOptions::default()` listens on
/// `127.0.0.1:8080` with one thread, without TLS and without a delay.
#[derive(Clone, Debug)]
pub struct TargetOptions {
    /// Where to listen for plain HTTP. Port 0 picks a free port.
    pub listen: SocketAddr,
    /// Where to listen for HTTPS, if anywhere. Port 0 picks a free port.
    pub tls_listen: Option<SocketAddr>,
    /// Allow addresses other machines can reach. Off by default: the target answers anybody who connects, echoes what
    /// it is sent and redirects to wherever it is told, so it belongs on loopback or in a closed network.
    pub allow_remote: bool,
    /// Worker threads, each with its own event loop; 1 to [`THREADS_MAX`].
    pub threads: usize,
    /// Added to every response (but not to `/healthz` and `/stats`), to about
    /// 0.1 ms while the machine has idle CPU. A request's `?delay_ms=` replaces it.
    pub delay: Duration,
    /// Stand still every now and then.
    pub freeze: Option<Freeze>,
    /// Note when each request arrived, for [`TargetHandle::finish`](crate::TargetHandle::finish).
    pub record: bool,
    /// Speak HTTP/2 with clients that begin with it: over TLS where ALPN agrees on it, in plain text where they know
    /// beforehand.
    pub http2: bool,
    /// What every connection of the plain listener meets instead of a server.
    pub accept_fault: Option<Break>,
    /// What every TLS handshake meets.
    pub handshake_fault: Option<HandshakeFault>,
    /// What HTTPS is like, where there is any.
    pub tls: TlsSettings,
    /// Limits that keep hostile or broken clients from exhausting the target.
    pub limits: Limits,
}

impl Default for TargetOptions {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            tls_listen: None,
            allow_remote: false,
            threads: 1,
            delay: Duration::ZERO,
            freeze: None,
            record: false,
            http2: true,
            accept_fault: None,
            handshake_fault: None,
            tls: TlsSettings::default(),
            limits: Limits::default(),
        }
    }
}

/// What HTTPS is like. `TlsSettings::default()` asks for no client certificate, speaks TLS 1.2 and 1.3 with all suites,
/// resumes sessions and staples nothing.
#[derive(Clone, Debug)]
pub struct TlsSettings {
    /// Host names the self-made certificate is valid for, besides `localhost`,
    /// `127.0.0.1` and `::1`.
    pub names: Vec<String>,
    /// Certificates that clients show.
    pub client_auth: Option<ClientAuth>,
    /// `1.2` and `1.3`; empty for both.
    pub versions: Vec<String>,
    /// Names such as `TLS_AES_128_GCM_SHA256`; empty for all there are.
    pub cipher_suites: Vec<String>,
    /// What a stapled OCSP response says of the certificate; without one nothing is stapled.
    pub staple: Option<StapledStatus>,
    /// Whether clients get tickets and can resume sessions.
    pub tickets: bool,
}

/// Whose certificates clients may show.
#[derive(Clone, Debug)]
pub struct ClientAuth {
    /// The authorities that sign them, in PEM.
    pub authorities_pem: String,
    /// Whether a client without a certificate is refused.
    pub required: bool,
}

/// What a stapled OCSP response says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StapledStatus {
    /// The certificate is good.
    Good,
    /// Its key was compromised.
    Revoked,
    /// The responder does not know it.
    Unknown,
}

impl std::str::FromStr for StapledStatus {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "good" => Ok(Self::Good),
            "revoked" => Ok(Self::Revoked),
            "unknown" => Ok(Self::Unknown),
            _ => Err("it is good, revoked or unknown"),
        }
    }
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            client_auth: None,
            versions: Vec::new(),
            cipher_suites: Vec::new(),
            staple: None,
            tickets: true,
        }
    }
}

/// What a client may use up, and for how long.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request head; more is answered with 431.
    pub head_bytes_max: usize,
    /// Bytes of a request target; more is answered with 414.
    pub target_bytes_max: usize,
    /// Bytes of a request body; more is answered with 413. Bodies are streamed, so this bounds time, not memory.
    pub body_bytes_max: u64,
    /// Bytes of a body that are kept to be echoed; the rest is only counted and the answer says `"truncated": true`.
    pub echo_bytes_max: usize,
    /// Bytes that all connections together may make the target hold: bodies to be echoed, responses nobody takes.
    /// Beyond it, the connections that want more are closed.
    pub buffer_bytes_max: usize,
    /// Open connections over all threads; more are answered with 503. 0 means what the process's file limit allows.
    pub connections_max: usize,
    /// Time from a head's first byte to its last; then 408. A TLS handshake has as much.
    pub head_timeout: Duration,
    /// Longest pause between two reads of a body; then 408.
    pub body_timeout: Duration,
    /// Longest time a client may take no byte of its response; then it is closed.
    pub write_timeout: Duration,
    /// Longest wait for the first or next request on an open connection.
    pub idle_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // nginx allows 4 x 8 KiB; so does this.
            head_bytes_max: 32 * 1024,
            target_bytes_max: 8 * 1024,
            // Ten times the largest upload seen in published load tests.
            body_bytes_max: 1024 * 1024 * 1024,
            echo_bytes_max: 1024 * 1024,
            buffer_bytes_max: 1024 * 1024 * 1024,
            connections_max: 0,
            head_timeout: Duration::from_secs(30),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            // Longer than the sleeps of common scripts: a virtual user that sleeps for a minute must find its
            // connection open.
            idle_timeout: Duration::from_secs(600),
        }
    }
}
