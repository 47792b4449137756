//! Responses: what endpoints build, and how it is put on the wire.

use http::HeaderMap;

use crate::{
    fault::Fault,
    head::{Head, Refusal},
    response_head::{JSON, TEXT, add_line, add_lines, common_headers, write_common, write_length, write_status},
    source::Source,
    statics::{StaticId, Statics},
    websocket::Behaviour,
};

/// What an endpoint answers.
#[derive(Debug)]
pub(crate) enum Reply {
    /// A response that is ready, head and body.
    Static(StaticId),
    /// A response made for this request.
    Built(Box<Built>),
}

/// A response made for one request.
#[derive(Debug)]
pub(crate) struct Built {
    pub(crate) status: u16,
    /// Header lines besides the ones every response has, each with its line end.
    headers: Vec<u8>,
    pub(crate) payload: Payload,
    extra: Option<Box<Extra>>,
}

/// What few responses have.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    /// Responses that come before, with header lines of their own.
    interim: Vec<(u16, Vec<u8>)>,
    /// Header lines that come after the body.
    trailer: Vec<u8>,
    /// How many lines those are.
    pub(crate) trailers: usize,
    /// Sends a body that is there in chunks of this size.
    pub(crate) chunk_bytes: Option<usize>,
    /// What goes wrong with it.
    pub(crate) fault: Option<Fault>,
    /// The connection becomes a WebSocket.
    pub(crate) upgrade: Option<Box<Behaviour>>,
}

/// A response's body.
#[derive(Debug)]
pub(crate) enum Payload {
    Bytes(Vec<u8>),
    Text(&'static [u8]),
    /// Produced as the client takes it; with its length when that is known.
    Stream {
        source: Source,
        length: Option<u64>,
    },
}

impl Reply {
    /// Bytes of memory the response holds.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            Self::Static(_) => 0,
            Self::Built(built) => {
                let body_bytes = match &built.payload {
                    Payload::Bytes(bytes) => bytes.capacity(),
                    Payload::Text(_) | Payload::Stream { .. } => 0,
                };
                body_bytes + built.headers.capacity() + size_of::<Built>()
            }
        }
    }
}

/// What [`Built::into_http2`] gives: headers, body, trailers, interim responses.
pub(crate) type Taken = (HeaderMap, Payload, Option<HeaderMap>, Vec<(u16, HeaderMap)>);

/// What of the request decides how its response is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyMode {
    pub(crate) head_only: bool,
    pub(crate) keep_alive: bool,
    pub(crate) minor: u8,
}

impl ReplyMode {
    pub(crate) fn of(head: &Head<'_>) -> Self {
        Self { head_only: head.is_head(), keep_alive: head.keep_alive, minor: head.minor }
    }

    /// For a request that was not understood.
    pub(crate) const REFUSED: Self = Self { head_only: false, keep_alive: false, minor: 1 };
}

impl Built {
    pub(crate) fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self::with_payload(status, content_type, Payload::Bytes(body))
    }

    pub(crate) fn with_payload(status: u16, content_type: &str, payload: Payload) -> Self {
        let mut built = Self { status, headers: Vec::new(), payload, extra: None };
        if !content_type.is_empty() {
            built.add("Content-Type", content_type);
        }
        built
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self::new(status, "", Vec::new())
    }

    pub(crate) fn json(body: Vec<u8>) -> Self {
        Self::new(200, JSON, body)
    }

    /// A plain-text explanation of a status.
    pub(crate) fn explained(status: u16, reason: &str) -> Self {
        Self::new(status, TEXT, format!("{reason}\n").into_bytes())
    }

    pub(crate) fn refused(refusal: Refusal) -> Self {
        Self::explained(refusal.status, refusal.reason)
    }

    /// Adds a header line. The name is ours or checked by the caller; control characters in the value become `?`, so
    /// that no request can smuggle a line of its own into a response.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        add_line(&mut self.headers, name, value);
    }

    pub(crate) fn extra(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    /// What is to go wrong, taken out.
    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.extra.as_mut()?.fault.take()
    }

    /// Whether the connection goes on as another protocol.
    pub(crate) fn is_upgrade(&self) -> bool {
        self.extra.as_ref().is_some_and(|extra| extra.upgrade.is_some())
    }

    /// What the connection becomes, taken out; nothing where the status says no.
    pub(crate) fn take_upgrade(&mut self) -> Option<Box<Behaviour>> {
        self.extra.as_mut()?.upgrade.take().filter(|_| self.status == 101)
    }

    /// Adds a trailer; names and values as with [`Built::add`].
    pub(crate) fn add_trailer(&mut self, name: &str, value: &str) {
        let extra = self.extra();
        add_line(&mut extra.trailer, name, value);
        extra.trailers += 1;
    }

    /// Adds a response that comes before this one.
    pub(crate) fn add_interim(&mut self, status: u16) {
        self.extra().interim.push((status, Vec::new()));
    }

    /// Adds a header to the interim response that was added last.
    pub(crate) fn add_to_interim(&mut self, name: &str, value: &str) {
        if let Some((_, lines)) = self.extra().interim.last_mut() {
            add_line(lines, name, value);
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.add(name, value);
        self
    }

    pub(crate) fn reply(self) -> Reply {
        Reply::Built(Box::new(self))
    }

    /// The same for HTTP/2, which frames bodies itself.
    pub(crate) fn into_http2(self, date: &[u8]) -> Taken {
        let bodiless = matches!(self.status, 204 | 304);
        let length = match &self.payload {
            _ if bodiless => None,
            Payload::Bytes(bytes) => Some(bytes.len() as u64),
            Payload::Text(text) => Some(text.len() as u64),
            Payload::Stream { length, .. } => *length,
        };
        let extra = self.extra.unwrap_or_default();
        let chunked = extra.is_chunked();
        let mut headers = common_headers(date, length.filter(|_| !chunked));
        add_lines(&mut headers, &self.headers);
        let map = |lines: &[u8]| {
            let mut map = HeaderMap::new();
            add_lines(&mut map, lines);
            map
        };
        let trailers = (extra.trailers > 0).then(|| map(&extra.trailer));
        let interim = extra.interim.iter().map(|(status, lines)| (*status, map(lines))).collect();
        (headers, self.payload, trailers, interim)
    }

    /// Whether this response's end can be told on a connection that stays open.
    fn keeps_alive(&self, mode: ReplyMode) -> bool {
        // A body of unknown length ends an HTTP/1.0 connection.
        let endless = matches!(self.payload, Payload::Stream { length: None, .. });
        mode.keep_alive && !(endless && mode.minor == 0 && !mode.head_only)
    }

    /// Writes the head, and the body unless it is a stream, which is returned. The second value says whether the
    /// connection can go on.
    pub(crate) fn write(self, mode: ReplyMode, date: &[u8], out: &mut Vec<u8>) -> (Option<Source>, bool) {
        let keep_alive = self.keeps_alive(mode);
        let bodiless = matches!(self.status, 204 | 304) || self.status < 200;
        for (status, lines) in self.extra.iter().flat_map(|extra| &extra.interim).filter(|_| mode.minor == 1) {
            write_status(out, *status);
            out.extend_from_slice(lines);
            out.extend_from_slice(b"\r\n");
        }
        write_status(out, self.status);
        write_common(out, date);
        out.extend_from_slice(&self.headers);
        let length = match &self.payload {
            Payload::Bytes(bytes) => Some(bytes.len() as u64),
            Payload::Text(text) => Some(text.len() as u64),
            Payload::Stream { length, .. } => *length,
        };
        let chunked = self.extra.as_ref().filter(|extra| extra.is_chunked() && mode.minor == 1);
        match length {
            _ if bodiless => {}
            Some(_) if chunked.is_some() => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            Some(length) => write_length(out, length),
            None if mode.minor == 1 => out.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
            None => {}
        }
        write_connection(out, keep_alive, mode);
        out.extend_from_slice(b"\r\n");
        if bodiless || mode.head_only {
            return (None, keep_alive);
        }
        match self.payload {
            Payload::Bytes(bytes) if let Some(extra) = chunked => extra.write_chunks(&bytes, out),
            Payload::Bytes(bytes) => out.extend_from_slice(&bytes),
            Payload::Text(text) => out.extend_from_slice(text),
            Payload::Stream { mut source, .. } => {
                source.set_chunked(length.is_none() && mode.minor == 1);
                return (Some(source), keep_alive);
            }
        }
        (None, keep_alive)
    }
}

impl Extra {
    /// Whether the body is sent in chunks although its length is known.
    fn is_chunked(&self) -> bool {
        self.trailers > 0 || self.chunk_bytes.is_some()
    }

    fn write_chunks(&self, body: &[u8], out: &mut Vec<u8>) {
        for chunk in body.chunks(self.chunk_bytes.unwrap_or(usize::MAX).max(1)) {
            out.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            out.extend_from_slice(chunk);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"0\r\n");
        out.extend_from_slice(&self.trailer);
        out.extend_from_slice(b"\r\n");
    }
}

impl Statics {
    /// Writes a ready response in another manner than it was prepared for.
    pub(crate) fn write(&self, id: StaticId, mode: ReplyMode, out: &mut Vec<u8>) {
        let (head, body) = self.parts(id);
        // The prepared head ends with the empty line.
        out.extend_from_slice(&head[..head.len() - 2]);
        write_connection(out, mode.keep_alive, mode);
        out.extend_from_slice(b"\r\n");
        if !mode.head_only {
            out.extend_from_slice(body);
        }
    }
}

fn write_connection(out: &mut Vec<u8>, keep_alive: bool, mode: ReplyMode) {
    match (keep_alive, mode.minor) {
        (false, _) => out.extend_from_slice(b"Connection: close\r\n"),
        (true, 0) => out.extend_from_slice(b"Connection: keep-alive\r\n"),
        (true, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(built: Built, mode: ReplyMode, expect: &str) {
        let mut out = Vec::new();
        let (_, keep_alive) = built.write(mode, b"NOW", &mut out);
        let text = format!("{}{}", String::from_utf8(out).unwrap(), if keep_alive { "" } else { "#" });
        assert_eq!(text.replace("\r\n", "|"), expect);
    }

    const KEEP: ReplyMode = ReplyMode { head_only: false, keep_alive: true, minor: 1 };

    #[test]
    fn responses_on_the_wire() {
        let start = "Server: onrush-target|Date: NOW|";
        check(
            Built::json(b"{}".to_vec()).with("X", "a\r\nY: b"),
            KEEP,
            &format!("HTTP/1.1 200 OK|{start}Content-Type: application/json|X: a??Y: b|Content-Length: 2||{{}}"),
        );
        check(
            Built::explained(404, "no"),
            ReplyMode { head_only: true, ..KEEP },
            &format!("HTTP/1.1 404 Not Found|{start}Content-Type: {TEXT}|Content-Length: 3||"),
        );
        check(Built::empty(204), KEEP, &format!("HTTP/1.1 204 No Content|{start}|"));
        check(
            Built::empty(200),
            ReplyMode { minor: 0, ..KEEP },
            &format!("HTTP/1.1 200 OK|{start}Content-Length: 0|Connection: keep-alive||"),
        );
        check(
            Built::empty(299),
            ReplyMode::REFUSED,
            &format!("HTTP/1.1 299 Unknown|{start}Content-Length: 0|Connection: close||#"),
        );
    }
}
