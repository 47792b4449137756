//! What a tool is asked to do in one cell of the lab: which requests, how many at a time or a second, for how long.
//!
//! The same for all tools. Each adapter turns it into flags or a script of its tool, or says why it cannot.

use std::net::SocketAddr;

/// One cell's work.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) address: SocketAddr,
    pub(crate) protocol: Protocol,
    /// What each user does over and over. Never empty.
    pub(crate) steps: &'static [Step],
    pub(crate) load: Load,
    pub(crate) seconds: u64,
    /// How long the server takes for each answer: tools that can only count need to know how much to count.
    pub(crate) delay_ms: u64,
}

/// What is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http1,
    /// HTTP/1.1 over TLS with a certificate nobody knows.
    Https,
    /// HTTP/2 over the same.
    Http2,
}

impl Protocol {
    pub(crate) fn scheme(self) -> &'static str {
        if self == Self::Http1 { "http" } else { "https" }
    }
}

/// A request and what is expected of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) path: &'static str,
    /// A form that is posted; none is a GET.
    pub(crate) form: Option<&'static str>,
    /// A text the body must contain; with it the status 200 is checked as well.
    pub(crate) contains: Option<&'static str>,
}

/// How requests come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// So many users, each of whom sends the next request when the answer has come.
    Closed { users: u64 },
    /// So many requests a second, whether answers come or not, with as many connections as that may take.
    Open { rate: u64, users: u64 },
}

impl Load {
    pub(crate) fn users(self) -> u64 {
        match self {
            Self::Closed { users } | Self::Open { users, .. } => users,
        }
    }

    pub(crate) fn rate(self) -> Option<u64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { rate, .. } => Some(rate),
        }
    }
}

impl Job {
    /// `http://127.0.0.1:1234`.
    pub(crate) fn base(&self) -> String {
        format!("{}://{}", self.protocol.scheme(), self.address)
    }

    /// The first step's address, which is all that tools without scripts ask for.
    pub(crate) fn url(&self) -> String {
        format!("{}{}", self.base(), self.steps[0].path)
    }

    /// Whether a tool without scripts can do it.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.steps, [Step { form: None, contains: None, .. }])
    }
}
