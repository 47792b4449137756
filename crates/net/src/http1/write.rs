//! Serialising a request head, in the order Go writes it.

use super::{Body, Request};
use crate::{
    dial::proxy::Proxy,
    error::NetError,
    header::{check_value, is_token_byte},
    text::{self, go_quote, push_decimal, trim_ows},
};

/// How a body goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyPlan {
    /// Nothing follows the head.
    Nothing,
    /// The body, announced by `Content-Length`.
    Announced,
}

/// The closing chunk of an empty body.
const EMPTY_CHUNKED: &[u8] = b"0\r\n\r\n";

/// Appends the head of a request, and its body where that is an empty chunked one. `close` asks the server to close the
/// connection afterwards; `forwarder` is the proxy that gets the request instead of the server. The request has passed
/// [`check_request`].
#[inline(never)]
pub(crate) fn write_head(out: &mut Vec<u8>, request: &Request<'_>, close: bool, forwarder: Option<&Proxy>) -> BodyPlan {
    debug_assert!(check_request(request).is_ok(), "nothing is sent that could hold a second request");
    let method = if request.method.is_empty() { "GET" } else { request.method };
    out.extend_from_slice(method.as_bytes());
    out.push(b' ');
    let host = request.host.filter(|host| !host.is_empty()).unwrap_or_else(|| request.url.authority());
    if forwarder.is_some() {
        // As Go: with the host the request names, which need not be the URL's.
        out.extend_from_slice(b"http://");
        let host = if is_host_header(host) { host } else { request.url.authority() };
        out.extend_from_slice(host.as_bytes());
    }
    request.url.write_target(out);
    out.extend_from_slice(b" HTTP/1.1\r\nHost: ");
    // Go sends an empty `Host` rather than one that could smuggle something.
    if is_host_header(host) {
        out.extend_from_slice(host.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    if let Some(agent) = request.user_agent.filter(|agent| !agent.is_empty()) {
        out.extend_from_slice(b"User-Agent: ");
        out.extend_from_slice(trim_ows(agent.as_bytes()));
        out.extend_from_slice(b"\r\n");
    }
    let framing = write_framing(out, method, request.body);
    out.extend_from_slice(request.head);
    if close {
        out.extend_from_slice(b"Connection: close\r\n");
    }
    if let Some(authorization) = forwarder.and_then(|proxy| proxy.authorization.as_deref()) {
        out.extend_from_slice(b"Proxy-Authorization: ");
        out.extend_from_slice(authorization.as_bytes());
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    match framing {
        Framing::None => BodyPlan::Nothing,
        Framing::Length => BodyPlan::Announced,
        Framing::EmptyChunked => {
            out.extend_from_slice(EMPTY_CHUNKED);
            BodyPlan::Nothing
        }
    }
}

/// What a head says about the body.
enum Framing {
    None,
    Length,
    EmptyChunked,
}

/// Refuses a method that is not a token, and control characters in the two fields that are not among the header lines.
///
/// # Errors
/// Code 1000 with Go's texts: `net/http: invalid method "…"`, `net/http: invalid header field value for "…"`.
pub(crate) fn check_request(request: &Request<'_>) -> Result<(), NetError> {
    // Those of nearly all requests, in one comparison.
    let is_usual = matches!(request.method, "GET" | "POST");
    if !is_usual && !request.method.bytes().all(is_token_byte) {
        return Err(NetError::generic(format!("net/http: invalid method {}", go_quote(request.method))));
    }
    check_value("Host", request.host.unwrap_or_default())?;
    check_value("User-Agent", request.user_agent.unwrap_or_default())
}

fn write_framing(out: &mut Vec<u8>, method: &str, body: &Body) -> Framing {
    if matches!(body, Body::None) {
        if matches!(method, "POST" | "PUT" | "PATCH") {
            out.extend_from_slice(b"Content-Length: 0\r\n");
        }
        return Framing::None;
    }
    let length = body.len();
    if length > 0 {
        out.extend_from_slice(b"Content-Length: ");
        push_decimal(out, length as u64);
        out.extend_from_slice(b"\r\n");
        return Framing::Length;
    }
    if usually_lacks_body(method) {
        return Framing::None;
    }
    out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    Framing::EmptyChunked
}

/// The methods for which Go does not announce an empty body.
pub(crate) fn usually_lacks_body(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "DELETE" | "OPTIONS" | "PROPFIND" | "SEARCH" | "CONNECT")
}

/// What Go's `ValidHostHeader` lets through.
fn is_host_header(host: &str) -> bool {
    // Without an early exit, which compilers turn into few instructions.
    host.bytes().fold(u8::MAX, |all, byte| all & text::class_of(byte)) & text::HOST_HEADER != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Url;
    use bytes::Bytes;

    fn head(method: &str, body: Body, close: bool) -> (String, BodyPlan) {
        let url = Url::parse("http://h:1/p?q#f").unwrap();
        let request = Request {
            method,
            url: &url,
            head: b"X-A: 1\r\n",
            host: None,
            body: &body,
            user_agent: Some("ua"),
            is_http1: false,
        };
        let mut out = Vec::new();
        let plan = write_head(&mut out, &request, close, None);
        (String::from_utf8(out).unwrap(), plan)
    }

    #[test]
    fn heads_as_go_writes_them() {
        let check = |method: &str, body: Body, close: bool, framing: &str, tail: &str| {
            let verb = if method.is_empty() { "GET" } else { method };
            let expect =
                format!("{verb} /p?q HTTP/1.1\r\nHost: h:1\r\nUser-Agent: ua\r\n{framing}X-A: 1\r\n{tail}\r\n");
            assert_eq!(head(method, body, close).0, expect);
        };
        let bytes = |text: &'static str| Body::Bytes(Bytes::from_static(text.as_bytes()));
        check("GET", Body::None, false, "", "");
        check("", Body::None, true, "", "Connection: close\r\n");
        check("GET", bytes("xy"), false, "Content-Length: 2\r\n", "");
        check("POST", Body::None, false, "Content-Length: 0\r\n", "");
        check("POST", Body::from_pieces(vec!["a".into(), "bc".into()]), false, "Content-Length: 3\r\n", "");
        check("DELETE", bytes(""), false, "", "");
        check("DELETE", Body::None, false, "", "");
        for method in ["POST", "FOO"] {
            let (text, plan) = head(method, bytes(""), false);
            assert!(text.contains("Transfer-Encoding: chunked\r\n") && text.ends_with("\r\n\r\n0\r\n\r\n"));
            assert_eq!(plan, BodyPlan::Nothing);
        }
        assert_eq!(head("POST", bytes("x"), false).1, BodyPlan::Announced);
    }

    #[test]
    fn nothing_is_injected() {
        let url = Url::parse("http://h/").unwrap();
        let request = Request {
            method: "GET",
            url: &url,
            head: b"",
            host: Some("a/b"),
            body: &Body::None,
            user_agent: Some("\tu"),
            is_http1: false,
        };
        let mut out = Vec::new();
        write_head(&mut out, &request, false, None);
        assert_eq!(String::from_utf8(out).unwrap(), "GET / HTTP/1.1\r\nHost: \r\nUser-Agent: u\r\n\r\n");
        let check = |request: Request<'_>, expect: &str| {
            let error = check_request(&request).unwrap_err();
            assert_eq!(error.message, expect);
        };
        check(Request { method: "B AD", ..request }, "net/http: invalid method \"B AD\"");
        let host = Request { host: Some("a\r\nX: y"), ..request };
        check(host, "net/http: invalid header field value for \"Host\"");
        let agent = Request { user_agent: Some("u\x01"), ..request };
        check(agent, "net/http: invalid header field value for \"User-Agent\"");
    }
}
