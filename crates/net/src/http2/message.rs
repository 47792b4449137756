//! Requests as `h2` wants them, responses as the rest of the crate does.

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, Version,
    uri::{Authority, PathAndQuery, Scheme},
};

use crate::{
    conn::{give_out, take_out},
    error::NetError,
    header::{Facts, HeaderBlock},
    http1::{Body, Request, check_request, usually_lacks_body},
    text::{eq_lower, go_quote, push_decimal, trim_ows},
};

/// What is sent first, and whether anything follows.
pub(super) struct Opening<'a> {
    pub(super) request: http::Request<()>,
    /// The body, in pieces; `None` ends the stream with its head.
    pub(super) body: Option<&'a [Bytes]>,
    /// The script asked for the connection to be closed.
    pub(super) wants_close: bool,
}

/// What the requests of a session have in common, as `http` wants it: not made again for each.
#[derive(Debug, Default)]
pub(super) struct SessionDefaults {
    authority: Option<(Box<str>, Authority)>,
    agent: Option<(Box<str>, HeaderValue)>,
}

impl SessionDefaults {
    fn authority(&mut self, host: &str) -> Result<Authority, NetError> {
        if let Some((of, authority)) = &self.authority
            && **of == *host
        {
            return Ok(authority.clone());
        }
        let authority = Authority::try_from(host)
            .map_err(|_| NetError::generic(format!("http2: invalid request :authority {host:?}")))?;
        self.authority = Some((host.into(), authority.clone()));
        Ok(authority)
    }

    fn agent(&mut self, agent: &str) -> Option<HeaderValue> {
        if let Some((of, value)) = &self.agent
            && **of == *agent
        {
            return Some(value.clone());
        }
        let value = HeaderValue::from_bytes(trim_ows(agent.as_bytes())).ok()?;
        self.agent = Some((agent.into(), value.clone()));
        Some(value)
    }
}

/// Translates a request.
pub(super) fn opening<'a>(request: &Request<'a>, defaults: &mut SessionDefaults) -> Result<Opening<'a>, NetError> {
    let name = if request.method.is_empty() { "GET" } else { request.method };
    check_request(request)?;
    let method = Method::from_bytes(name.as_bytes()).map_err(|error| NetError::generic(error.to_string()))?;
    let mut made = http::Request::new(());
    *made.uri_mut() = uri(request, defaults)?;
    *made.version_mut() = Version::HTTP_2;
    let mut wants_close = false;
    let fields = made.headers_mut();
    write_fields(fields, request.head, &mut wants_close)?;
    if let Some(agent) = request.user_agent.filter(|agent| !agent.is_empty())
        && let Some(value) = defaults.agent(agent)
    {
        fields.insert(http::header::USER_AGENT, value);
    }
    let length = request.body.len();
    let body = if matches!(request.body, Body::None) {
        if matches!(name, "POST" | "PUT" | "PATCH") {
            fields.insert(http::header::CONTENT_LENGTH, HeaderValue::from_static("0"));
        }
        None
    } else if length > 0 {
        fields.insert(http::header::CONTENT_LENGTH, HeaderValue::from(length));
        Some(request.body.pieces())
    } else {
        // k6: an empty body is of unknown length to Go, unless the method usually has none.
        (!usually_lacks_body(name)).then_some(&[][..])
    };
    *made.method_mut() = method;
    Ok(Opening { request: made, body, wants_close })
}

/// The head of a stream whose owner sends what follows: it says nothing of a length.
pub(super) fn stream_opening(
    request: &Request<'_>,
    defaults: &mut SessionDefaults,
) -> Result<http::Request<()>, NetError> {
    let mut head = opening(request, defaults)?.request;
    head.headers_mut().remove(http::header::CONTENT_LENGTH);
    Ok(head)
}

fn uri(request: &Request<'_>, defaults: &mut SessionDefaults) -> Result<Uri, NetError> {
    let bad = |what: &str| NetError::generic(format!("http2: invalid request {what}"));
    let host = request.host.filter(|host| !host.is_empty()).unwrap_or_else(|| request.url.authority());
    let mut target = Vec::with_capacity(64);
    request.url.write_target(&mut target);
    let escaped = escape(&target);
    let mut parts = http::uri::Parts::default();
    parts.scheme = Some(if request.url.is_https() { Scheme::HTTPS } else { Scheme::HTTP });
    parts.authority = Some(defaults.authority(host)?);
    let path = PathAndQuery::from_maybe_shared(Bytes::from(escaped.unwrap_or(target)));
    parts.path_and_query = Some(path.map_err(|_| bad(&format!(":path {:?}", request.url.to_text())))?);
    Uri::from_parts(parts).map_err(|_| bad(":authority"))
}

/// Go sends these bytes of a query as they are; `http` takes none of them, so they are escaped, which servers read as
/// the same.
fn escape(target: &[u8]) -> Option<Vec<u8>> {
    let is_taken = |byte: u8| matches!(byte, 0x21..=0x7e) && !matches!(byte, b'"' | b'<' | b'>' | b'#' | b'`');
    if target.iter().all(|&byte| is_taken(byte)) {
        return None;
    }
    let mut out = Vec::with_capacity(target.len() + 8);
    for &byte in target {
        if is_taken(byte) {
            out.push(byte);
        } else {
            const HEX: &[u8; 16] = b"0123456789ABCDEF";
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
    Some(out)
}

/// Translates header lines. What belongs to HTTP/1.1 connections is left out or refused, as Go does.
fn write_fields(fields: &mut HeaderMap, head: &[u8], wants_close: &mut bool) -> Result<(), NetError> {
    if head.is_empty() {
        return Ok(());
    }
    let shared = Bytes::copy_from_slice(head);
    for line in shared.split(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], trim_ows(&line[colon + 1..]));
        match name.len() {
            10 if eq_lower(name, b"connection") => {
                if eq_lower(value, b"close") {
                    *wants_close = true;
                } else if !value.is_empty() && !eq_lower(value, b"keep-alive") {
                    return Err(refused("Connection", value));
                }
                continue;
            }
            7 if eq_lower(name, b"upgrade") && !value.is_empty() => return Err(refused("Upgrade", value)),
            7 if eq_lower(name, b"upgrade") => continue,
            10 if eq_lower(name, b"keep-alive") => continue,
            16 if eq_lower(name, b"proxy-connection") => continue,
            17 if eq_lower(name, b"transfer-encoding") => continue,
            2 if eq_lower(name, b"te") => {
                // All that HTTP/2 has left of it. Go sends the rest as well, which servers may refuse.
                if value.split(|&byte| byte == b',').any(|coding| eq_lower(trim_ows(coding), b"trailers")) {
                    fields.insert(http::header::TE, HeaderValue::from_static("trailers"));
                }
                continue;
            }
            _ => {}
        }
        let Ok(name) = HeaderName::from_bytes(name) else { continue };
        if name == http::header::COOKIE {
            // One field a cookie: so the server's table is of use.
            for cookie in value.split(|&byte| byte == b';').map(trim_ows).filter(|cookie| !cookie.is_empty()) {
                if let Ok(value) = HeaderValue::from_maybe_shared(shared.slice_ref(cookie)) {
                    fields.append(&name, value);
                }
            }
        } else if let Ok(value) = HeaderValue::from_maybe_shared(shared.slice_ref(value)) {
            fields.append(name, value);
        }
    }
    Ok(())
}

fn refused(name: &str, value: &[u8]) -> NetError {
    NetError::generic(format!("invalid {name} request header: [{}]", go_quote(value)))
}

/// The status and fields of a response, as if they had come over HTTP/1.1: lines that are read when a script asks for
/// them.
pub(super) fn block(status: StatusCode, fields: &HeaderMap) -> HeaderBlock {
    const STATUS_LINE_BYTES: usize = 48;
    let size: usize = fields.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum();
    let mut lines = take_out();
    lines.reserve(STATUS_LINE_BYTES + size);
    lines.extend_from_slice(b"HTTP/2.0 ");
    push_decimal(&mut lines, u64::from(status.as_u16()));
    lines.push(b' ');
    lines.extend_from_slice(status_text(status.as_u16()).as_bytes());
    lines.extend_from_slice(b"\r\n");
    let fields_at = lines.len();
    let mut facts = Facts::default();
    for (name, value) in fields {
        match *name {
            http::header::SET_COOKIE => facts.has_set_cookie = true,
            http::header::CONTENT_ENCODING => facts.has_content_encoding = true,
            http::header::TRAILER => facts.trailer = true,
            _ => {}
        }
        lines.extend_from_slice(name.as_str().as_bytes());
        lines.extend_from_slice(b": ");
        lines.extend_from_slice(value.as_bytes());
        lines.extend_from_slice(b"\r\n");
    }
    let block = HeaderBlock::new(&lines, fields_at, facts);
    give_out(lines);
    block
}

/// The fields that follow a body.
pub(super) fn trailer_block(fields: &HeaderMap) -> HeaderBlock {
    block(StatusCode::OK, fields)
}

/// Trailers to be sent, from lines.
pub(super) fn trailer_map(lines: &[u8]) -> Result<HeaderMap, NetError> {
    let mut fields = HeaderMap::new();
    write_fields(&mut fields, lines, &mut false)?;
    Ok(fields)
}

/// Go's `http.StatusText`: HTTP/2 has no reason phrases.
fn status_text(status: u16) -> &'static str {
    match status {
        203 => "Non-Authoritative Information",
        413 => "Request Entity Too Large",
        414 => "Request URI Too Long",
        416 => "Requested Range Not Satisfiable",
        _ => StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default(),
    }
}

/// The `content-length` of a response, if it is a number.
pub(super) fn announced_length(fields: &HeaderMap) -> Option<u64> {
    fields.get(http::header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// What a header list counts for its limit (RFC 9113, section 6.5.2).
pub(super) fn list_bytes(fields: &HeaderMap) -> usize {
    fields.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::url::Url;

    fn check<T: PartialEq + std::fmt::Debug>(
        head: &str,
        url: &str,
        method: &str,
        body: &Body,
        look: impl FnOnce(Result<Opening<'_>, NetError>) -> T,
        expect: T,
    ) {
        let url = Url::parse(url).unwrap();
        let head = head.as_bytes();
        let request = Request { method, url: &url, head, host: None, body, user_agent: Some("ua"), is_http1: false };
        let made = opening(&request, &mut SessionDefaults::default());
        assert_eq!(look(made), expect);
    }

    #[test]
    fn requests() {
        let check = |head: &str, method: &str, body: Body, expect: &[&str], has_body: bool| {
            let look = |made: Result<Opening<'_>, NetError>| {
                let made = made.unwrap();
                assert_eq!(made.body.is_some(), has_body);
                assert_eq!(made.request.uri().authority().unwrap(), "h:1");
                let fields = made.request.headers().iter();
                let mut lines: Vec<_> =
                    fields.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
                lines.sort();
                lines
            };
            let expect = expect.iter().map(|&line| line.to_owned()).collect();
            check(head, "https://h:1/p?q=<a b>", method, &body, look, expect);
        };
        let bytes = |text: &'static str| Body::Bytes(Bytes::from_static(text.as_bytes()));
        check("X-A: 1\r\nX-A: 2\r\n", "GET", Body::None, &["user-agent: ua", "x-a: 1", "x-a: 2"], false);
        check("Cookie: a=1; b=2\r\n", "", Body::None, &["cookie: a=1", "cookie: b=2", "user-agent: ua"], false);
        check("Connection: keep-alive\r\nKeep-Alive: 1\r\n", "GET", Body::None, &["user-agent: ua"], false);
        check("TE: gzip\r\n", "GET", Body::None, &["user-agent: ua"], false);
        check("te: gzip, Trailers\r\nTe: trailers\r\n", "GET", Body::None, &["te: trailers", "user-agent: ua"], false);
        check("", "POST", Body::None, &["content-length: 0", "user-agent: ua"], false);
        check("", "POST", bytes("abc"), &["content-length: 3", "user-agent: ua"], true);
        check("", "POST", bytes(""), &["user-agent: ua"], true);
        check("", "DELETE", bytes(""), &["user-agent: ua"], false);
    }

    #[test]
    fn what_go_refuses() {
        let check = |head: &str, expect: &str| {
            let look = |made: Result<Opening<'_>, NetError>| made.err().map(|error| error.message);
            check(head, "http://h/", "GET", &Body::None, look, Some(expect.to_owned()));
        };
        check("Upgrade: websocket\r\n", "invalid Upgrade request header: [\"websocket\"]");
        check("Connection: upgrade\r\n", "invalid Connection request header: [\"upgrade\"]");
    }

    #[test]
    fn a_script_can_close_the_connection() {
        let look = |made: Result<Opening<'_>, NetError>| made.unwrap().wants_close;
        check("Connection: close\r\n", "http://h/", "GET", &Body::None, look, true);
    }

    #[test]
    fn targets_keep_their_meaning() {
        let check = |url: &str, expect: &str| {
            let look = |made: Result<Opening<'_>, NetError>| made.unwrap().request.uri().to_string();
            check("", url, "GET", &Body::None, look, format!("http://h{expect}"));
        };
        check("http://h", "/");
        check("http://h/?a=<b>&c=^d", "/?a=%3Cb%3E&c=^d");
        check("http://h/a%2Fb?x=\"{y}|\\", "/a%2Fb?x=%22{y}|\\");
    }

    #[test]
    fn responses() {
        let mut fields = HeaderMap::new();
        fields.append("content-type", HeaderValue::from_static("text/plain"));
        fields.append("set-cookie", HeaderValue::from_static("a=1"));
        fields.append("x-a", HeaderValue::from_static("1"));
        fields.append("x-a", HeaderValue::from_static("2"));
        let block = block(StatusCode::NOT_FOUND, &fields);
        assert_eq!(block.status_text(), "404 Not Found");
        assert!(block.has_set_cookie());
        let joined = block.joined();
        assert_eq!(joined[2], ("X-A".to_owned(), "1, 2".to_owned()));
        assert_eq!(joined[0].0, "Content-Type");
    }
}
