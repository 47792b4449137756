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
    log::{Level, Line},
    vu::Vu,
};

/// Headers whose values are not shown.
const SECRET_HEADERS: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "cookie2", "set-cookie"];
/// What stands there instead.
const MARK: &str = "***REDACTED***";
/// Most bytes of a body that are shown.
const BODY_BYTES_MAX: usize = 64 << 10;

/// Sends a request as [`onrush_net::Connections::exchange`] does, and logs it and its response.
#[cold]
#[inline(never)]
pub(super) fn exchange(
    vu: &Vu,
    request: &Request<'_>,
    mode: BodyMode,
    start: Nanos,
    deadline: Option<Nanos>,
) -> Result<Box<Response>, Box<Failure>> {
    let is_full = vu.thread.config.http.debug == HttpDebug::Full;
    let id = request_id(vu);
    let mut head = request.head_text(vu.thread.config.http.no_connection_reuse);
    if !is_full && let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
        // What ends an empty body is written with the head.
        head.truncate(end + 4);
    }
    log(vu, &id, "Request", &head, request.body.pieces().iter().filter(|_| is_full));
    let result = vu.connections.exchange(request, mode, start, deadline);
    if let Ok(response) = &result {
        log(vu, &id, "Response", &response_head(response), [&response.body].into_iter().filter(|_| is_full));
    }
    result
}

fn log<'a>(vu: &Vu, id: &str, title: &str, head: &[u8], body: impl Iterator<Item = &'a Bytes>) {
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
    let mut left = BODY_BYTES_MAX;
    let mut hidden = 0;
    let mut shown = Vec::new();
    for piece in body {
        let count = piece.len().min(left);
        shown.extend_from_slice(&piece[..count]);
        left -= count;
        hidden += piece.len() - count;
    }
    // k6: line ends are single characters.
    message.push_str(&String::from_utf8_lossy(&shown).replace("\r\n", "\n"));
    if hidden > 0 {
        let _ = write!(message, "… and {hidden} bytes more");
    }
    message.push('\n');
    let scenario = vu.scenario.borrow().as_ref().map(|(_, scenario)| scenario.name.clone()).unwrap_or_default();
    let fields = vec![
        ("group", vu.group.borrow().to_string()),
        ("iter", vu.iteration.get().unwrap_or_default().to_string()),
        ("request_id", id.to_owned()),
        ("scenario", scenario),
        ("source", "http-debug".to_owned()),
        ("vu", vu.id.to_string()),
    ];
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
