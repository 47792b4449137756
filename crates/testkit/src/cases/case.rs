//! One way to misbehave: what its server does, what is asked of it, what must come of that.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use rustls::ServerConfig;

use super::authorities::Authorities;
use crate::{
    acceptor::Acceptor,
    steps::{self, Step},
};

/// One way to misbehave.
pub struct Case {
    /// Lower case, unique.
    pub name: &'static str,
    /// What the server does, as a sentence without a subject.
    pub about: &'static str,
    /// What a client asks.
    pub ask: Ask,
    server: Server,
    /// Where Onrush does something else than k6.
    pub differs: Option<Difference>,
    /// What it may come to as well, where that is a matter of who is first.
    pub also: Vec<Vec<Outcome>>,
    /// Whether only a whole script shows the outcome: redirects, cookies, codings.
    pub needs_script: bool,
}

/// What a client asks of a case's server.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The method.
    pub method: &'static str,
    /// Bytes of the request's body; none when 0.
    pub body_bytes: usize,
    /// `timeout` of the request, in ms.
    pub timeout_ms: u64,
    /// How many requests, one after the other.
    pub times: usize,
    /// The host in the URL.
    pub host: &'static str,
    /// `http` or `https`.
    pub scheme: &'static str,
}

/// What one request came to, as a script sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// `res.status`
    pub status: u16,
    /// `res.error_code`
    pub code: u16,
    /// `res.error`; addresses are written as `ADDRESS`.
    pub error: String,
}

/// A reviewed difference from k6.
pub struct Difference {
    /// What Onrush's requests come to.
    pub outcomes: Vec<Outcome>,
    /// Why.
    pub why: &'static str,
}

/// What speaks on the other side.
enum Server {
    Plain(Vec<Step>),
    Tls(MakeConfig, Vec<Step>),
}

/// The certificate and versions of a case, from what clients trust.
type MakeConfig = Box<dyn Fn(&Authorities) -> Arc<ServerConfig> + Send>;

/// A case's server at work, until it is dropped.
pub struct CaseServer {
    acceptor: Acceptor,
}

impl Case {
    /// Starts its server.
    ///
    /// # Panics
    /// When no port is free.
    pub fn start(&self, authorities: &Authorities) -> CaseServer {
        let acceptor = match &self.server {
            Server::Plain(steps) => {
                let steps = steps.clone();
                Acceptor::start(move |peer| steps::run(peer, None, &steps))
            }
            Server::Tls(config, steps) => {
                let (config, steps) = (config(authorities), steps.clone());
                Acceptor::start(move |peer| steps::run(peer, Some(&config), &steps))
            }
        };
        CaseServer { acceptor: acceptor.expect("loopback has a free port") }
    }

    pub(super) fn plain(name: &'static str, about: &'static str, steps: Vec<Step>) -> Self {
        let ask =
            Ask { method: "GET", body_bytes: 0, timeout_ms: TIMEOUT_MS, times: 1, host: "127.0.0.1", scheme: "http" };
        Self { name, about, ask, server: Server::Plain(steps), differs: None, also: Vec::new(), needs_script: false }
    }

    /// Reads a request, sends this, and closes.
    pub(super) fn says(name: &'static str, about: &'static str, text: impl Into<Vec<u8>>) -> Self {
        Self::plain(name, about, vec![Step::Read, Step::Send(text.into())])
    }

    /// The server never ends, so the client's limit has to.
    pub(super) fn for_ever(mut self) -> Self {
        self.ask.timeout_ms = SHORT_TIMEOUT_MS;
        self
    }

    pub(super) fn over_tls(
        name: &'static str,
        about: &'static str,
        config: impl Fn(&Authorities) -> Arc<ServerConfig> + Send + 'static,
        steps: Vec<Step>,
    ) -> Self {
        let mut case = Self::plain(name, about, Vec::new());
        case.server = Server::Tls(Box::new(config), steps);
        case.ask.scheme = "https";
        case
    }

    pub(super) fn https(mut self) -> Self {
        self.ask.scheme = "https";
        self
    }

    pub(super) fn times(mut self, times: usize) -> Self {
        self.ask.times = times;
        self
    }

    pub(super) fn posting(mut self, body_bytes: usize) -> Self {
        self.ask.method = "POST";
        self.ask.body_bytes = body_bytes;
        self
    }

    pub(super) fn method(mut self, method: &'static str) -> Self {
        self.ask.method = method;
        self
    }

    pub(super) fn in_scripts(mut self) -> Self {
        self.needs_script = true;
        self
    }

    /// Another outcome that is right, the same for each request.
    pub(super) fn or(mut self, status: u16, code: u16, error: &str) -> Self {
        let outcome = Outcome { status, code, error: error.to_owned() };
        self.also.push(vec![outcome; self.ask.times]);
        self
    }

    /// Onrush's outcome where it is another than k6's, the same for each request.
    pub(super) fn differs(mut self, status: u16, code: u16, error: &str, why: &'static str) -> Self {
        let outcome = Outcome { status, code, error: error.to_owned() };
        self.differs = Some(Difference { outcomes: vec![outcome; self.ask.times], why });
        self
    }

    /// Whether these outcomes are right: k6's, unless the case says otherwise.
    pub fn accepts(&self, outcomes: &[Outcome], recorded: &serde_json::Value) -> bool {
        self.expected(recorded) == outcomes || self.also.iter().any(|also| also == outcomes)
    }

    /// What each of Onrush's requests must come to: k6's outcome, unless the case says otherwise.
    ///
    /// # Panics
    /// When k6's outcome was never recorded.
    pub fn expected(&self, recorded: &serde_json::Value) -> Vec<Outcome> {
        if let Some(difference) = &self.differs {
            return difference.outcomes.clone();
        }
        let rows = recorded[self.name].as_array();
        let rows = rows.unwrap_or_else(|| panic!("{}: no recording; see `hostile_cases record`", self.name));
        rows.iter().map(Outcome::from_json).collect()
    }
}

impl Outcome {
    /// From `[status, code, error]`.
    pub fn from_json(row: &serde_json::Value) -> Self {
        let number = |at: usize| row[at].as_u64().and_then(|number| u16::try_from(number).ok()).unwrap_or(0);
        Self { status: number(0), code: number(1), error: mask(row[2].as_str().unwrap_or_default()) }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.status, self.code, self.error)
    }
}

impl CaseServer {
    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.acceptor.addr()
    }

    /// The URL to ask.
    pub fn url(&self, ask: &Ask) -> String {
        format!("{}://{}:{}/", ask.scheme, ask.host, self.addr().port())
    }

    /// How many connections are open.
    pub fn open(&self) -> usize {
        self.acceptor.open()
    }
}

/// The pace of servers that are slow on purpose: a timeout cuts them within their first dozen bytes.
pub(super) const SLOW: Duration = Duration::from_millis(40);
/// A correct response that keeps its connection.
pub(super) const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
/// The beginning of a chunked response.
pub(super) const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
/// Long enough on the busiest machine for whatever ends by itself.
const TIMEOUT_MS: u64 = 20_000;
/// For what never ends by itself: the client's own limit is what is tested.
const SHORT_TIMEOUT_MS: u64 = 1_000;

/// Replaces what is another in each run: `127.0.0.1:PORT`, and the time in texts about certificates.
pub fn mask(text: &str) -> String {
    const NOW: &str = "current time ";
    let mut text = text.to_owned();
    if let Some(at) = text.find(NOW).map(|at| at + NOW.len()) {
        let end = text[at..].find(' ').map_or(text.len(), |space| at + space);
        text.replace_range(at..end, "NOW");
    }
    let mut masked = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("127.0.0.1:") {
        masked.push_str(&rest[..at]);
        masked.push_str("ADDRESS");
        rest = rest[at + "127.0.0.1:".len()..].trim_start_matches(|letter: char| letter.is_ascii_digit());
    }
    masked.push_str(rest);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_masked() {
        assert_eq!(mask("current time 2026-11-22T04:50:24Z is after"), "current time NOW is after");
        assert_eq!(mask("dial 127.0.0.1:80 and 127.0.0.1:4711->x"), "dial ADDRESS and ADDRESS->x");
    }
}
