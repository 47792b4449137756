//! Tunnels through HTTP proxies: the `CONNECT` request and what may come back.

use crate::{
    dial::{
        Dialer,
        proxy::{Proxy, authority},
    },
    error::NetError,
    http1::{HeadParser, HeadState, Limits},
    link::Link,
    url::Url,
};

/// Most bytes of a proxy's answer: it is a status line and little else. A server's limit would let each VU collect
/// megabytes from a proxy gone wrong.
const HEAD_BYTES_MAX: usize = 256 << 10;

impl Dialer<'_> {
    /// Asks the proxy at the other end of `link` for a connection to the URL's host. What comes behind its answer is
    /// thrown away, as by Go: the server does not speak first.
    ///
    /// # Errors
    /// Code 1000 with the proxy's status text, or what is wrong with its answer.
    #[inline(never)]
    pub(super) fn open_tunnel(&self, link: &mut Link, proxy: &Proxy, url: &Url) -> Result<(), NetError> {
        let target = authority(url.host(), url.port().unwrap_or_default());
        let mut head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nUser-Agent: Onrush\r\n");
        if let Some(authorization) = &proxy.authorization {
            head.push_str("Proxy-Authorization: ");
            head.push_str(authorization);
            head.push_str("\r\n");
        }
        head.push_str("\r\n");
        link.send_all(head.as_bytes(), self.deadline, self.wire)?;
        let mut answer = Answer::default();
        let mut input = Vec::new();
        loop {
            input.clear();
            let is_open = link.read_some(&mut input, self.deadline, self.wire)?;
            if answer.feed(&input)? {
                return Ok(());
            }
            if !is_open {
                return Err(answer.at_eof());
            }
        }
    }
}

/// What the proxy says to `CONNECT`, as it arrives.
#[derive(Default)]
pub(super) struct Answer {
    parser: HeadParser,
}

impl Answer {
    /// Takes what has arrived; true once the way is open.
    ///
    /// # Errors
    /// The proxy's refusal, or what is wrong with its answer.
    pub(super) fn feed(&mut self, input: &[u8]) -> Result<bool, NetError> {
        let limits = Limits { head_bytes_max: HEAD_BYTES_MAX, ..Limits::default() };
        if input.is_empty() {
            return Ok(false);
        }
        // A head that begins like one of a HEAD request has no body to look for.
        match self.parser.feed(input, true, &limits).map_err(plain)? {
            HeadState::Complete { head, .. } => judge(head.status, &head.headers.status_text()).map(|()| true),
            HeadState::Partial => Ok(false),
        }
    }

    /// The connection has ended before the answer did.
    pub(super) fn at_eof(&self) -> NetError {
        if self.parser.has_started() { plain(self.parser.at_eof()) } else { NetError::eof() }
    }
}

fn judge(status: u16, status_text: &str) -> Result<(), NetError> {
    if status == 200 {
        return Ok(());
    }
    // k6 says what the proxy said, even where that is nothing.
    match status_text.split_once(' ').map_or(status_text, |(_, text)| text).trim() {
        "" => Err(NetError::generic(format!("proxy answered CONNECT with status {status}"))),
        text => Err(NetError::generic(text)),
    }
}

/// The error of a head without the prefix it has for servers.
fn plain(error: NetError) -> NetError {
    NetError { detail: error.message.clone(), ..error }
}
