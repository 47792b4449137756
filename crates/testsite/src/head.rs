//! Request heads: what a connection needs to know to frame a request, and what
//! endpoints ask of it. Parsing itself is `httparse`'s.

use std::mem::MaybeUninit;

use httparse::{Error, Header, Request, Status};

use crate::options::Limits;

/// Header lines accepted in one head; more are answered with 431.
pub(crate) const HEADERS_MAX: usize = 100;

/// Room for a head's headers on the caller's stack.
pub(crate) type HeaderStorage<'a> = [MaybeUninit<Header<'a>>; HEADERS_MAX];

/// How the end of a request's body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// A request that is answered with an error before any endpoint sees it. The connection is closed afterwards, because
/// its framing cannot be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) reason: &'static str,
}

impl Refusal {
    pub(crate) const fn new(status: u16, reason: &'static str) -> Self {
        Self { status, reason }
    }
}

/// One parsed request head, borrowed from the bytes it arrived in.
#[derive(Debug)]
pub(crate) struct Head<'a> {
    pub(crate) method: &'a str,
    /// The target's path, undecoded, starting with `/` (or `*`).
    pub(crate) path: &'a str,
    /// What follows the `?`, undecoded; empty without one.
    pub(crate) query: &'a str,
    /// 0 for HTTP/1.0, 1 for HTTP/1.1.
    pub(crate) minor: u8,
    pub(crate) headers: &'a [Header<'a>],
    pub(crate) framing: Framing,
    pub(crate) keep_alive: bool,
    pub(crate) expect_continue: bool,
    /// Bytes the head took, with its empty line.
    pub(crate) bytes: usize,
}

impl<'a> Head<'a> {
    /// Parses a head from the start of `data`. `None` means that it is not complete yet.
    pub(crate) fn parse(
        data: &'a [u8],
        storage: &'a mut HeaderStorage<'a>,
        limits: &Limits,
    ) -> Result<Option<Self>, Refusal> {
        let mut request = Request::new(&mut []);
        let bytes = match request.parse_with_uninit_headers(data, storage) {
            Ok(Status::Complete(bytes)) => bytes,
            Ok(Status::Partial) => return partial(data, limits),
            Err(error) => return Err(refusal(error)),
        };
        let (Some(method), Some(target), Some(minor)) = (request.method, request.path, request.version) else {
            return Err(Refusal::new(400, "incomplete request line"));
        };
        if target.len() > limits.target_bytes_max {
            return Err(TARGET_TOO_LONG);
        }
        if bytes > limits.head_bytes_max {
            return Err(HEAD_TOO_LARGE);
        }
        let (path, query) = split_target(target)?;
        let mut head = Head {
            method,
            path,
            query,
            minor,
            headers: request.headers,
            framing: Framing::None,
            keep_alive: minor == 1,
            expect_continue: false,
            bytes,
        };
        head.read_framing()?;
        Ok(Some(head))
    }

    fn read_framing(&mut self) -> Result<(), Refusal> {
        let mut length = None;
        let mut chunked = false;
        let mut has_host = false;
        for header in self.headers {
            match header.name.len() {
                4 if header.name.eq_ignore_ascii_case("host") => {
                    if has_host {
                        return Err(Refusal::new(400, "more than one Host header"));
                    }
                    has_host = true;
                }
                6 if header.name.eq_ignore_ascii_case("expect") => {
                    if !header.value.eq_ignore_ascii_case(b"100-continue") {
                        return Err(Refusal::new(417, "unknown expectation"));
                    }
                    self.expect_continue = self.minor == 1;
                }
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    for token in header.value.split(|&byte| byte == b',') {
                        let token = token.trim_ascii();
                        if token.eq_ignore_ascii_case(b"close") {
                            self.keep_alive = false;
                        } else if token.eq_ignore_ascii_case(b"keep-alive") && self.minor == 0 {
                            self.keep_alive = true;
                        }
                    }
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    let value = parse_length(header.value)?;
                    if length.is_some_and(|other| other != value) {
                        return Err(Refusal::new(400, "contradicting Content-Length headers"));
                    }
                    length = Some(value);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    if chunked || !header.value.eq_ignore_ascii_case(b"chunked") {
                        return Err(Refusal::new(501, "transfer coding not supported"));
                    }
                    chunked = true;
                }
                _ => {}
            }
        }
        if self.minor == 1 && !has_host {
            return Err(Refusal::new(400, "missing Host header"));
        }
        self.framing = match (chunked, length) {
            // Two framings at once are how requests are smuggled past proxies.
            (true, Some(_)) => {
                return Err(Refusal::new(400, "both Transfer-Encoding and Content-Length"));
            }
            (true, None) if self.minor == 0 => {
                return Err(Refusal::new(400, "chunked body in HTTP/1.0"));
            }
            (true, None) => Framing::Chunked,
            (false, Some(0)) | (false, None) => Framing::None,
            (false, Some(length)) => Framing::Length(length),
        };
        Ok(())
    }

    /// The first header of that name, without surrounding blanks.
    pub(crate) fn header(&self, name: &str) -> Option<&'a [u8]> {
        self.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value)
    }

    /// The first header of that name as text; bytes that are not UTF-8 are replaced.
    pub(crate) fn header_text(&self, name: &str) -> Option<std::borrow::Cow<'a, str>> {
        self.header(name).map(String::from_utf8_lossy)
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    /// Whether the method is GET or HEAD.
    pub(crate) fn is_get(&self) -> bool {
        matches!(self.method, "GET" | "HEAD")
    }
}

const TARGET_TOO_LONG: Refusal = Refusal::new(414, "request target too long");
const HEAD_TOO_LARGE: Refusal = Refusal::new(431, "request head too large");

/// Decides whether an incomplete head can still become a good one.
fn partial(data: &[u8], limits: &Limits) -> Result<Option<Head<'static>>, Refusal> {
    let line_bytes = memchr::memchr(b'\n', data).unwrap_or(data.len());
    // Methods and versions take some 20 bytes: the rest of a longer line is target.
    const METHOD_BYTES: usize = 32;
    if line_bytes > limits.target_bytes_max + METHOD_BYTES {
        return Err(TARGET_TOO_LONG);
    }
    if data.len() > limits.head_bytes_max {
        return Err(HEAD_TOO_LARGE);
    }
    Ok(None)
}

fn refusal(error: Error) -> Refusal {
    match error {
        Error::TooManyHeaders => Refusal::new(431, "too many headers"),
        Error::Version => Refusal::new(505, "not HTTP/1.0 or HTTP/1.1"),
        Error::HeaderName => Refusal::new(400, "invalid header name"),
        Error::HeaderValue => Refusal::new(400, "invalid header value"),
        Error::NewLine => Refusal::new(400, "invalid line end"),
        Error::Token => Refusal::new(400, "invalid request line"),
        _ => Refusal::new(400, "invalid request"),
    }
}

/// Splits a target in origin form or absolute form into path and query.
fn split_target(target: &str) -> Result<(&str, &str), Refusal> {
    let local = if target.starts_with('/') || target == "*" {
        target
    } else if let Some((_, rest)) = target.split_once("://") {
        match rest.find(['/', '?']) {
            Some(at) if rest.as_bytes()[at] == b'/' => &rest[at..],
            // "http://host?query" has an empty path.
            Some(at) => return Ok(("/", &rest[at + 1..])),
            None => "/",
        }
    } else {
        return Err(Refusal::new(400, "invalid request target"));
    };
    Ok(local.split_once('?').unwrap_or((local, "")))
}

fn parse_length(value: &[u8]) -> Result<u64, Refusal> {
    const BAD: Refusal = Refusal::new(400, "invalid Content-Length");
    // `parse` would take a leading plus sign.
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return Err(BAD);
    }
    let text = std::str::from_utf8(value).map_err(|_| BAD)?;
    // Only digits: what does not fit is just too large, and a limit refuses it.
    Ok(text.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &[u8]) -> Result<Option<String>, (u16, &'static str)> {
        let mut storage = [const { MaybeUninit::uninit() }; HEADERS_MAX];
        Head::parse(text, &mut storage, &Limits::default())
            .map(|head| {
                head.map(|head| {
                    format!(
                        "{} {} {} {:?} keep={} expect={}",
                        head.method, head.path, head.query, head.framing, head.keep_alive, head.expect_continue
                    )
                })
            })
            .map_err(|refusal| (refusal.status, refusal.reason))
    }

    fn check(lines: &str, expect: &str) {
        let text = format!("{}\r\n\r\n", lines.replace('\n', "\r\n"));
        let shown = match parse(text.as_bytes()) {
            Ok(Some(head)) => head,
            Ok(None) => "partial".to_owned(),
            Err((status, reason)) => format!("{status} {reason}"),
        };
        assert_eq!(shown, expect, "for {lines:?}");
    }

    #[test]
    fn good_heads() {
        check("GET / HTTP/1.1\nHost: a", "GET /  None keep=true expect=false");
        check("GET /a?b=c?d HTTP/1.1\nHost: a", "GET /a b=c?d None keep=true expect=false");
        check("GET http://h/x?y HTTP/1.1\nHost: a", "GET /x y None keep=true expect=false");
        check("GET http://h?y HTTP/1.1\nHost: a", "GET / y None keep=true expect=false");
        check("GET / HTTP/1.0", "GET /  None keep=false expect=false");
        check("GET / HTTP/1.0\nConnection: Keep-Alive", "GET /  None keep=true expect=false");
        check(
            "POST / HTTP/1.1\nhost: a\nconnection: x, Close\nCONTENT-LENGTH: 5\nExpect: 100-continue",
            "POST /  Length(5) keep=false expect=true",
        );
        check("POST / HTTP/1.1\nHost: a\nTransfer-Encoding: Chunked", "POST /  Chunked keep=true expect=false");
    }

    #[test]
    fn bad_heads() {
        check("GET / HTTP/1.1", "400 missing Host header");
        check("GET / HTTP/2.0\nHost: a", "505 not HTTP/1.0 or HTTP/1.1");
        check("GET / HTTP/1.1\nHost: a\nHost: b", "400 more than one Host header");
        check("GET / HTTP/1.1\nHost: a\nContent-Length: +5", "400 invalid Content-Length");
        check("GET / HTTP/1.1\nHost: a\nContent-Length: ", "400 invalid Content-Length");
        check(
            "GET / HTTP/1.1\nHost: a\nContent-Length: 1\nContent-Length: 2",
            "400 contradicting Content-Length headers",
        );
        check(
            "GET / HTTP/1.1\nHost: a\nContent-Length: 1\nTransfer-Encoding: chunked",
            "400 both Transfer-Encoding and Content-Length",
        );
        check("GET / HTTP/1.1\nHost: a\nTransfer-Encoding: gzip, chunked", "501 transfer coding not supported");
        check("GET / HTTP/1.1\nHost: a\nExpect: cake", "417 unknown expectation");
        check("GET a HTTP/1.1\nHost: a", "400 invalid request target");
        check("GET / HTTP/1.1\nHo st: a", "400 invalid header name");
        check(&format!("GET /{} HTTP/1.1\nHost: a", "a".repeat(9000)), "414 request target too long");
        check(&format!("GET / HTTP/1.1\nHost: a{}", "\nA: b".repeat(200)), "431 too many headers");
        check(&format!("GET / HTTP/1.1\nHost: a\nA: {}", "b".repeat(40_000)), "431 request head too large");
    }

    #[test]
    fn a_head_without_an_end_is_refused_at_its_limit() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHo"), Ok(None));
        let line = [b"GET /".as_slice(), &[b'a'; 9000]].concat();
        assert_eq!(parse(&line), Err((414, "request target too long")));
        let value = [b"GET / HTTP/1.1\r\nA: ".as_slice(), &[b'a'; 40_000]].concat();
        assert_eq!(parse(&value), Err((431, "request head too large")));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(data in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&data);
        }

        #[test]
        fn nearly_good_heads_do_not_panic(text in "(GET|POST) [!-~]{0,20} HTTP/1.[0-2]\r\n([A-Za-z-]{1,20}: [ -~]{0,20}\r\n){0,5}\r\n") {
            let _ = parse(text.as_bytes());
        }
    }
}
