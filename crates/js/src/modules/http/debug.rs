//! `httpDebug`: what goes over the wire, as log lines.
//!
//! Unlike k6's they do not show credentials and cookies; secrets that are registered are removed from every log line
//! anyway.

use std::fmt::Write;

use bytes::Bytes;
use onrush_fiber::Nanos;
use onrush_net::{BodyMode, Failure, Request, Response};

use crate::{
    HttpDebug,
    log::{Fields, Level, Line},
    vu::Vu,
};

use super::arguments::Prepared;

/// Headers whose values are not shown.
const SECRET_HEADERS: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie"];
/// What stands there instead.
const MARK: &str = "***REDACTED***";
/// Most bytes of a body that are shown.
const BODY_BYTES_MAX: usize = 64 << 10;
/// Longest secret that is recognised where a body is cut.
const SECRET_BYTES_MAX: usize = 64 << 10;

/// Sends a request as [`onrush_net::Connections::exchange`] does, and logs it and its response.
#[cold]
#[inline(never)]
pub(super) fn exchange(
    vu: &Vu,
    prepared: &Prepared,
    request: &Request<'_>,
    mode: BodyMode,
    start: Nanos,
    deadline: Option<Nanos>,
) -> Result<Box<Response>, Box<Failure>> {
    let shown = request_shown(vu, prepared, request);
    let result = vu.connections.exchange(request, mode, start, deadline);
    if let Ok(response) = &result {
        shown.response(vu, response);
    }
    result
}

/// A request that has been logged.
pub(super) struct Shown(Fields);

/// Logs a request that is about to be sent, if that is asked for.
pub(super) fn request(vu: &Vu, prepared: &Prepared, request: &Request<'_>) -> Option<Shown> {
    (vu.thread.config.http.debug != HttpDebug::Off).then(|| request_shown(vu, prepared, request))
}

#[cold]
fn request_shown(vu: &Vu, prepared: &Prepared, request: &Request<'_>) -> Shown {
    let is_full = vu.thread.config.http.debug == HttpDebug::Full;
    let mut head = request.head_text(vu.thread.config.http.no_connection_reuse);
    if !is_full && let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
        // What ends an empty body is written with the head.
        head.truncate(end + 4);
    }
    let fields = fields(vu, prepared, &request_id(vu));
    log(vu, fields.clone(), "Request", &head, request.body.pieces().iter().filter(|_| is_full));
    Shown(fields)
}

impl Shown {
    /// Logs its response, as far as that has come: the body of one that is read in pieces has not.
    pub(super) fn response(self, vu: &Vu, response: &Response) {
        let is_full = vu.thread.config.http.debug == HttpDebug::Full;
        log(vu, self.0, "Response", &response_head(response), [&response.body].into_iter().filter(|_| is_full));
    }
}

/// k6: the tags and metadata samples of the request have before there is a response, and who sends it.
fn fields(vu: &Vu, prepared: &Prepared, id: &str) -> Fields {
    let mut all = vu.visible_tags();
    all.extend(vu.visible_metadata());
    all.extend(prepared.params.shown_tags.iter().map(|(name, value)| (name.to_string(), value.to_string())));
    all.extend(prepared.params.name.iter().map(|name| ("name".to_owned(), name.to_string())));
    all.insert("iter".to_owned(), vu.iteration.get().unwrap_or_default().to_string());
    all.insert("request_id".to_owned(), id.to_owned());
    all.insert("source".to_owned(), "http-debug".to_owned());
    all.insert("vu".to_owned(), vu.id.to_string());
    all.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn log<'a>(vu: &Vu, fields: Fields, title: &str, head: &[u8], body: impl Iterator<Item = &'a Bytes>) {
    let mut message = format!("{title}:\n");
    for line in String::from_utf8_lossy(head).lines() {
        let secret = line
            .split_once(": ")
            .filter(|(name, _)| SECRET_HEADERS.iter().any(|secret| name.eq_ignore_ascii_case(secret)));
        match secret {
            Some((name, _)) => message.extend([name, ": ", MARK, "\n"]),
            None => message.extend([line, "\n"]),
        }
    }
    let (mut bytes, mut length) = (Vec::new(), 0);
    for piece in body {
        let left = BODY_BYTES_MAX + SECRET_BYTES_MAX - bytes.len();
        bytes.extend_from_slice(&piece[..piece.len().min(left)]);
        length += piece.len();
    }
    // k6: line ends are single characters.
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    let text = vu.script().secrets.redact(&text);
    let end = if length > bytes.len() { text.len().saturating_sub(SECRET_BYTES_MAX) } else { text.len() };
    message.push_str(&text[..text.floor_char_boundary(end.min(BODY_BYTES_MAX))]);
    if length > BODY_BYTES_MAX {
        let _ = write!(message, "… and {} bytes more", length - BODY_BYTES_MAX);
    }
    message.push('\n');
    vu.script().log.line(Line { level: Level::Info, message, fields });
}

/// Status line and fields as they came, and the blank line.
fn response_head(response: &Response) -> Vec<u8> {
    let mut head = format!("{} {}\r\n", response.proto.text(), response.headers.status_text()).into_bytes();
    for (name, value) in response.headers.raw_fields() {
        head.extend_from_slice(name);
        head.extend_from_slice(b": ");
        head.extend_from_slice(value);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"\r\n");
    head
}

/// A random UUID (version 4), the same in the lines of a request and its response.
fn request_id(vu: &Vu) -> String {
    let (high, low) = (vu.thread.next_seed(), vu.thread.next_seed());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff
    )
}
