//! Network errors in k6's terms: an `error_code`, the short text scripts see as `res.error`, and the
//! long text of the `Request Failed` log line.
//!
//! This module knows the code table and the texts; it does not decide which request is retried and it emits nothing.
//! The texts follow what Go's network stack says, because k6 users match on them.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::Path,
};

use onrush_fiber::IoFailure;

use crate::dns::Address;

/// k6's `error_code` numbers. HTTP statuses from 400 on are reported as 1000 + status.
pub mod code {
    /// Anything without a code of its own.
    pub const GENERIC: u16 = 1000;
    /// A network error outside TCP.
    pub const NON_TCP: u16 = 1010;
    /// The URL did not parse.
    pub const INVALID_URL: u16 = 1020;
    /// The request ran into its timeout.
    pub const REQUEST_TIMEOUT: u16 = 1050;
    /// A DNS failure other than "no such host".
    pub const DNS: u16 = 1100;
    /// The resolver says the name does not exist.
    pub const NO_SUCH_HOST: u16 = 1101;
    /// The address is in `blacklistIPs`.
    pub const BLACKLISTED_IP: u16 = 1110;
    /// The name matches `blockHostnames`.
    pub const BLOCKED_HOSTNAME: u16 = 1111;
    /// A TCP failure without a code of its own.
    pub const TCP: u16 = 1200;
    /// Writing to a connection the peer has closed.
    pub const BROKEN_PIPE: u16 = 1201;
    /// An errno k6 has no name for.
    pub const UNKNOWN_ERRNO: u16 = 1202;
    /// A dial failure without a code of its own.
    pub const DIAL: u16 = 1210;
    /// The dial timed out.
    pub const DIAL_TIMEOUT: u16 = 1211;
    /// The peer refused the connection.
    pub const DIAL_REFUSED: u16 = 1212;
    /// An errno during dial k6 has no name for.
    pub const DIAL_UNKNOWN_ERRNO: u16 = 1213;
    /// The peer reset the connection.
    pub const RESET_BY_PEER: u16 = 1220;
    /// A TLS failure without a code of its own.
    pub const TLS: u16 = 1300;
    /// The peer's bytes are not TLS.
    pub const TLS_RECORD_HEADER: u16 = 1301;
    /// The certificate chain leads to no trusted root.
    pub const UNKNOWN_AUTHORITY: u16 = 1310;
    /// The certificate is for another name.
    pub const HOSTNAME_MISMATCH: u16 = 1311;
    /// An HTTP/2 GOAWAY with a code k6 has no name for; the others follow.
    pub const HTTP2_GOAWAY: u16 = 1610;
    /// An HTTP/2 stream error with a code k6 has no name for; the others follow.
    pub const HTTP2_STREAM: u16 = 1630;
    /// An HTTP/2 connection error with a code k6 has no name for; the others follow.
    pub const HTTP2_CONNECTION: u16 = 1650;
    /// The response body could not be decompressed.
    pub const DECOMPRESSION: u16 = 1701;
}

/// A failed exchange as k6 reports it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NetError {
    /// k6's `error_code`.
    pub code: u16,
    /// The `error` text of the Response and of the `error` tag.
    pub message: String,
    /// The long form for the `Request Failed` log line, without the leading `Get "url": `.
    pub detail: String,
    /// Whether the log line starts with `Get "url": ` (everything up to the response head does, what goes wrong in the
    /// body does not).
    pub names_url: bool,
}

/// The direction of a failed socket operation, as the texts name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Reading.
    Read,
    /// Writing.
    Write,
}

/// The two ends of a connection, as the log names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// Our end, where it is known.
    pub local: Option<SocketAddr>,
    /// The server's.
    pub peer: SocketAddr,
}

impl std::fmt::Display for Ends {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(local) = self.local {
            write!(f, "{local}->")?;
        }
        write!(f, "{}", self.peer)
    }
}

impl Op {
    fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl NetError {
    /// An error whose short and long text are the same.
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, detail: message.clone(), message, names_url: true }
    }

    /// An error with a longer text for the log.
    pub fn with_detail(code: u16, message: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: detail.into(), names_url: true }
    }

    /// An unclassified error.
    pub fn generic(message: impl Into<String>) -> Self {
        Self::new(code::GENERIC, message)
    }

    /// A response head that is not HTTP. The log line adds Go's prefix.
    pub fn malformed(message: impl Into<String>) -> Self {
        let message = message.into();
        let detail = format!("net/http: HTTP/1.x transport connection broken: {message}");
        Self { code: code::GENERIC, message, detail, names_url: true }
    }

    /// The request's own deadline passed.
    pub fn timeout() -> Self {
        Self::new(code::REQUEST_TIMEOUT, "request timeout")
    }

    /// The VU was cancelled while it waited.
    pub fn cancelled() -> Self {
        Self::new(code::GENERIC, "context canceled")
    }

    /// The peer closed the connection before the first byte of a response.
    pub fn eof() -> Self {
        Self::generic("EOF")
    }

    /// The peer closed the connection in the middle of a response.
    pub fn unexpected_eof() -> Self {
        Self::generic("unexpected EOF")
    }

    /// A URL that does not parse; `reason` is the parser's text.
    pub fn invalid_url(reason: impl std::fmt::Display) -> Self {
        Self { names_url: false, ..Self::new(code::INVALID_URL, format!("invalid URL: {reason}")) }
    }

    /// The name does not exist.
    pub fn no_such_host(host: &str) -> Self {
        Self::with_detail(code::NO_SUCH_HOST, "lookup: no such host", format!("lookup {host}: no such host"))
    }

    /// This server says that the name does not exist, or that there is nothing to connect to by it.
    pub fn no_such_host_on(host: &str, server: SocketAddr) -> Self {
        Self { detail: format!("lookup {host} on {server}: no such host"), ..Self::no_such_host(host) }
    }

    /// The name has addresses, but none of the family that the option `dns` wants.
    pub fn other_family_only(host: &str) -> Self {
        // k6: this is its own error and not the resolver's, so it has neither code nor short text.
        Self::generic(format!("lookup {host}: no such host"))
    }

    /// Any other failure of the resolver.
    pub fn dns(host: &str, reason: &str) -> Self {
        Self::new(code::DNS, format!("lookup {host}: {reason}"))
    }

    /// This server has not answered a question as it should.
    pub fn dns_on(host: &str, server: SocketAddr, reason: &str) -> Self {
        Self::new(code::DNS, format!("lookup {host} on {server}: {reason}"))
    }

    /// The address is in a range of `blacklistIPs`.
    pub fn blacklisted(ip: IpAddr, range: &str) -> Self {
        Self::with_detail(
            code::BLACKLISTED_IP,
            "ip is blacklisted",
            format!("IP ({ip}) is in a blacklisted range ({range})"),
        )
    }

    /// The name matches a pattern of `blockHostnames`.
    pub fn blocked_hostname(host: &str, pattern: &str) -> Self {
        Self::with_detail(
            code::BLOCKED_HOSTNAME,
            "hostname is blocked",
            format!("hostname ({host}) is in a blocked pattern ({pattern})"),
        )
    }

    /// A failed connect to `addr`, or its timeout when `timed_out`.
    pub fn dial(failure: &io::Error, addr: SocketAddr) -> Self {
        let errno = failure.raw_os_error();
        let text = go_errno_text(errno, failure);
        let detail = |call: &str| format!("dial tcp {addr}: {call}: {text}");
        match errno {
            Some(libc::ECONNREFUSED) => {
                Self::with_detail(code::DIAL_REFUSED, "dial: connection refused", detail("connect"))
            }
            Some(libc::ETIMEDOUT) => Self::with_detail(
                code::DIAL_TIMEOUT,
                "dial: i/o timeout",
                format!("dial tcp {addr}: connect: connection timed out"),
            ),
            Some(libc::ECONNRESET) => {
                Self::with_detail(code::RESET_BY_PEER, "dial: connection reset by peer", detail("connect"))
            }
            Some(number) => Self::with_detail(
                code::DIAL_UNKNOWN_ERRNO,
                format!("dial: unknown errno {number} error with msg `{text}`"),
                detail(if matches!(number, libc::EMFILE | libc::ENFILE) { "socket" } else { "connect" }),
            ),
            None => Self::new(code::DIAL, format!("dial tcp {addr}: {failure}")),
        }
    }

    /// The dial timeout (not the request's) passed.
    pub fn dial_timeout(address: &Address) -> Self {
        Self::with_detail(code::DIAL_TIMEOUT, "dial: i/o timeout", format!("dial {address}: i/o timeout"))
    }

    /// A failed connect to a Unix domain socket.
    pub fn dial_unix(failure: &io::Error, path: &Path) -> Self {
        let errno = failure.raw_os_error();
        let text = go_errno_text(errno, failure);
        let code = if errno == Some(libc::ECONNREFUSED) { code::DIAL_REFUSED } else { code::DIAL };
        Self::with_detail(code, format!("dial: {text}"), format!("dial unix {}: connect: {text}", path.display()))
    }

    /// The VU's address of `localIPs` and the server's are of different families.
    pub fn other_family(peer: SocketAddr, local: IpAddr) -> Self {
        let message = format!("dial tcp: address {}: no suitable address found", SocketAddr::new(local, 0));
        let detail = format!("{message} (it is of localIPs, and {peer} of another family)");
        Self::with_detail(code::DIAL, message, detail)
    }

    /// Adds what helps against running out of source ports to the log's text.
    #[must_use]
    pub(crate) fn with_remedy(mut self, failure: &io::Error, local: Option<IpAddr>) -> Self {
        if failure.raw_os_error() != Some(libc::EADDRNOTAVAIL) {
            return self;
        }
        self.detail.push_str(&match local {
            None => " (no source port is free: connect from more addresses with --local-ips, or keep connections)"
                .to_owned(),
            Some(local) => format!(
                " ({local} of localIPs is no address of this machine, or has no source port left: give more addresses)"
            ),
        });
        self
    }

    /// A failed read or write on an open connection.
    pub fn socket(op: Op, failure: &io::Error, ends: Ends) -> Self {
        let errno = failure.raw_os_error();
        let (op, text) = (op.word(), go_errno_text(errno, failure));
        let detail = format!("{op} tcp {ends}: {op}: {text}");
        match errno {
            Some(libc::ECONNRESET) => {
                Self::with_detail(code::RESET_BY_PEER, format!("{op}: connection reset by peer"), detail)
            }
            Some(libc::EPIPE) => Self::with_detail(code::BROKEN_PIPE, format!("{op}: broken pipe"), detail),
            Some(libc::ETIMEDOUT) => Self::with_detail(code::TCP, format!("{op}: connection timed out"), detail),
            Some(number) => Self::with_detail(
                code::UNKNOWN_ERRNO,
                format!("{op}: unknown errno `{number}` on {} with message `{text}`", std::env::consts::OS),
                detail,
            ),
            None => Self::with_detail(code::TCP, failure.to_string(), detail),
        }
    }

    /// What ended a wait on an open connection.
    pub fn waiting(op: Op, failure: &IoFailure, ends: Ends) -> Self {
        match failure {
            IoFailure::Io(error) => Self::socket(op, error, ends),
            IoFailure::Timeout => Self::timeout(),
            IoFailure::Cancelled => Self::cancelled(),
        }
    }

    /// The same error, marked as having happened in the body: its log line does not name the URL.
    #[must_use]
    pub fn in_body(mut self) -> Self {
        self.names_url = false;
        if let Some(rest) = self.detail.strip_prefix("net/http: HTTP/1.x transport connection broken: ") {
            self.detail = rest.to_owned();
        }
        self
    }

    /// The text of k6's `Request Failed` warning: `Get "http://host/": dial tcp …`.
    ///
    /// `url` is the URL with its password masked, as [`crate::url::Url::log_text`] gives it.
    pub fn log_text(&self, method: &str, url: &str) -> String {
        if !self.names_url {
            return self.detail.clone();
        }
        let mut text = String::with_capacity(method.len() + url.len() + self.detail.len() + 5);
        let mut letters = if method.is_empty() { "Get" } else { method }.chars();
        text.extend(letters.next());
        text.extend(letters.map(|letter| letter.to_ascii_lowercase()));
        text.push(' ');
        text.push_str(&crate::text::go_quote(url.as_bytes()));
        text.push_str(": ");
        text.push_str(&self.detail);
        text
    }
}

/// The `error_code` of a response status: 1000 + status from 400 on, else 0.
pub fn code_of_status(status: u16) -> u16 {
    if status >= 400 { code::GENERIC.saturating_add(status) } else { 0 }
}

/// The text Go prints for a failure of the system.
pub(crate) fn errno_text(failure: &io::Error) -> String {
    go_errno_text(failure.raw_os_error(), failure)
}

/// The text Go prints for an errno; the C library's differ in capitals and wording.
fn go_errno_text(errno: Option<i32>, failure: &io::Error) -> String {
    let text = match errno {
        Some(libc::ECONNREFUSED) => "connection refused",
        Some(libc::ECONNRESET) => "connection reset by peer",
        Some(libc::EPIPE) => "broken pipe",
        Some(libc::ETIMEDOUT) => "connection timed out",
        Some(libc::EHOSTUNREACH) => "no route to host",
        Some(libc::ENETUNREACH) => "network is unreachable",
        Some(libc::EADDRNOTAVAIL) => "cannot assign requested address",
        Some(libc::EADDRINUSE) => "address already in use",
        Some(libc::EMFILE) => "too many open files",
        Some(libc::ENFILE) => "too many open files in system",
        Some(libc::EACCES) => "permission denied",
        Some(libc::EPERM) => "operation not permitted",
        Some(libc::ECONNABORTED) => "software caused connection abort",
        Some(libc::EINVAL) => "invalid argument",
        _ => {
            let full = failure.to_string();
            let text = full.split(" (os error").next().unwrap_or_default().to_ascii_lowercase();
            return text;
        }
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addr() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 81))
    }

    #[test]
    fn dial_errors_carry_k6_codes() {
        let check = |errno: i32, code: u16, message: &str| {
            let error = NetError::dial(&io::Error::from_raw_os_error(errno), addr());
            assert_eq!((error.code, error.message.as_str()), (code, message));
        };
        check(libc::ECONNREFUSED, 1212, "dial: connection refused");
        check(libc::ETIMEDOUT, 1211, "dial: i/o timeout");
        check(libc::EADDRNOTAVAIL, 1213, "dial: unknown errno 99 error with msg `cannot assign requested address`");
    }

    #[test]
    fn socket_errors_carry_k6_codes() {
        let check = |op: Op, errno: i32, code: u16, message: &str| {
            let ends = Ends { local: None, peer: addr() };
            let error = NetError::socket(op, &io::Error::from_raw_os_error(errno), ends);
            assert_eq!((error.code, error.message.as_str()), (code, message));
        };
        check(Op::Read, libc::ECONNRESET, 1220, "read: connection reset by peer");
        check(Op::Write, libc::EPIPE, 1201, "write: broken pipe");
        check(Op::Read, libc::ENETDOWN, 1202, "read: unknown errno `100` on linux with message `network is down`");
    }

    #[test]
    fn the_log_line_reads_as_go_prints_it() {
        let refused = NetError::dial(&io::Error::from_raw_os_error(libc::ECONNREFUSED), addr());
        assert_eq!(
            refused.log_text("POST", "http://127.0.0.1:81/"),
            "Post \"http://127.0.0.1:81/\": dial tcp 127.0.0.1:81: connect: connection refused"
        );
        assert_eq!(NetError::unexpected_eof().in_body().log_text("GET", "http://x/"), "unexpected EOF");
        assert_eq!(
            NetError::malformed("unexpected EOF").log_text("", "http://x/"),
            "Get \"http://x/\": net/http: HTTP/1.x transport connection broken: unexpected EOF"
        );
    }

    #[test]
    fn statuses_map_to_codes() {
        assert_eq!([200, 399, 400, 404, 503, 999].map(code_of_status), [0, 0, 1400, 1404, 1503, 1999]);
    }
}
