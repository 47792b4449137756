//! What a request for a WebSocket asks the server to do: its endpoint and its query.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::{
    clock::NANOS_PER_MILLI,
    fault::{Break, break_in},
    head::Head,
};

/// What the connection does once it is open.
#[derive(Debug, Default)]
pub(crate) struct Behaviour {
    /// Sent at once, byte by byte as it is.
    pub(super) greeting: Vec<u8>,
    /// What happens once so many messages have been answered.
    pub(super) end: Option<(u64, End)>,
    /// Echoes come in frames of this size.
    pub(super) fragment_bytes: Option<usize>,
    /// A ping comes before each echo's last frame.
    pub(super) pings: bool,
    /// How long an echo waits.
    pub(super) wait_ns: u64,
    /// Nothing is answered, not even a close.
    pub(super) is_silent: bool,
    /// Messages may be compressed.
    pub(super) deflate: bool,
    /// Compressed messages refer to earlier ones.
    pub(super) keeps_context: bool,
}

/// How the server ends a connection.
#[derive(Debug)]
pub(super) enum End {
    /// With a close frame: these bytes are its payload.
    Close(Vec<u8>),
    /// Without a word.
    Break(Break),
}

/// An answer to a handshake.
pub(crate) struct Accepted {
    pub(crate) status: u16,
    pub(crate) lines: Vec<(&'static str, String)>,
    pub(crate) behaviour: Behaviour,
}

/// A field of the query.
type Field<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Judges a handshake. The error says what is wrong with the request.
pub(crate) fn accept(head: &Head<'_>, kind: &str, field: Field<'_>, headers: &str) -> Result<Accepted, &'static str> {
    let text = |name: &str| head.header_text(name).map(std::borrow::Cow::into_owned);
    let behaviour = behaviour(kind, field, headers)?;
    let key = text("sec-websocket-key").ok_or("this endpoint is a WebSocket: the Sec-WebSocket-Key is missing")?;
    if !text("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket")) {
        return Err("this endpoint is a WebSocket: it wants Upgrade: websocket");
    }
    let offers = text("sec-websocket-extensions").unwrap_or_default();
    let deflate = offers.contains("permessage-deflate") && field("deflate").as_deref() != Some("0");
    let keeps_context = deflate && field("context").is_some();
    let mut lines = vec![
        ("Upgrade", field("upgrade").unwrap_or_else(|| "websocket".to_owned())),
        ("Connection", field("connection").unwrap_or_else(|| "Upgrade".to_owned())),
        ("Sec-WebSocket-Accept", field("accept").unwrap_or_else(|| accept_key(&key))),
    ];
    let protocols = text("sec-websocket-protocol").unwrap_or_default();
    let first = protocols.split(',').next().unwrap_or_default().trim();
    match field("protocol") {
        Some(chosen) => lines.push(("Sec-WebSocket-Protocol", chosen)),
        None if !first.is_empty() => lines.push(("Sec-WebSocket-Protocol", first.to_owned())),
        None => {}
    }
    let agreed = match (deflate, keeps_context) {
        (false, _) => None,
        (true, true) => Some("permessage-deflate".to_owned()),
        (true, false) => Some("permessage-deflate; server_no_context_takeover; client_no_context_takeover".to_owned()),
    };
    if let Some(extensions) = field("extensions").or(agreed) {
        lines.push(("Sec-WebSocket-Extensions", extensions));
    }
    if let Some(cookie) = field("cookie") {
        lines.push(("Set-Cookie", cookie));
    }
    // A field that is given without a value is left out.
    lines.retain(|(_, value)| !value.is_empty());
    let status = field("status").and_then(|status| status.parse().ok()).unwrap_or(101);
    Ok(Accepted { status, lines, behaviour: Behaviour { deflate, keeps_context, ..behaviour } })
}

fn behaviour(kind: &str, field: Field<'_>, headers: &str) -> Result<Behaviour, &'static str> {
    let number = |name: &str, default: u64| match field(name) {
        None => Ok(default),
        Some(text) => text.parse::<u64>().map_err(|_| "a number in the query is none"),
    };
    let mut behaviour = Behaviour {
        fragment_bytes: match number("fragment", 0)? {
            0 => None,
            bytes => Some(usize::try_from(bytes).unwrap_or(usize::MAX)),
        },
        pings: field("pings").is_some(),
        wait_ns: number("wait_ms", 0)?.min(WAIT_MS_MAX) * NANOS_PER_MILLI,
        ..Behaviour::default()
    };
    let after = number("after", 0)?;
    match kind {
        "echo" => {}
        "headers" => super::frame::put(&mut behaviour.greeting, 0x81, headers.as_bytes()),
        "close" => behaviour.end = Some((after, End::Close(close_payload(field)?))),
        "drop" => {
            let how = break_in(field("how").as_deref().unwrap_or("close")).ok_or("how is close, reset or stall")?;
            behaviour.end = Some((after, End::Break(how)));
        }
        "ping" => {
            let data = field("data").unwrap_or_default();
            for _ in 0..number("count", 1)?.min(COUNT_MAX) {
                super::frame::put(&mut behaviour.greeting, 0x89, &data.as_bytes()[..data.len().min(125)]);
            }
        }
        "count" => {
            let (count, bytes) = (number("count", 1)?.min(COUNT_MAX), number("bytes", 1)?.min(COUNT_MAX));
            if count * bytes > GREETING_BYTES_MAX {
                return Err("count times bytes is too much");
            }
            let payload = vec![b'x'; bytes as usize];
            for _ in 0..count {
                super::frame::put(&mut behaviour.greeting, 0x81, &payload);
            }
            if field("code").is_some() {
                behaviour.end = Some((0, End::Close(close_payload(field)?)));
            }
        }
        "raw" => {
            behaviour.greeting = unhex(&field("data").unwrap_or_default()).ok_or("data must be hexadecimal")?;
            match field("then").as_deref() {
                Some("keep") => {}
                None | Some("close") => behaviour.end = Some((0, End::Break(Break::Close))),
                Some("reset") => behaviour.end = Some((0, End::Break(Break::Reset))),
                Some("stall") => behaviour.is_silent = true,
                Some(_) => return Err("then is keep, close, reset or stall"),
            }
        }
        _ => return Err("there is no such WebSocket"),
    }
    Ok(behaviour)
}

fn close_payload(field: Field<'_>) -> Result<Vec<u8>, &'static str> {
    let Some(code) = field("code") else { return Ok(Vec::new()) };
    let code: u16 = code.parse().map_err(|_| "code must be a number")?;
    let mut payload = code.to_be_bytes().to_vec();
    payload.extend_from_slice(field("reason").unwrap_or_default().as_bytes());
    payload.truncate(125);
    Ok(payload)
}

fn accept_key(key: &str) -> String {
    let text = format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    STANDARD.encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes()))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.bytes().map(|digit| (digit as char).to_digit(16).map(|d| d as u8)).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}

/// Longest an echo waits: five minutes.
const WAIT_MS_MAX: u64 = 300_000;
/// Frames, or bytes of one, of a greeting.
const COUNT_MAX: u64 = 1 << 20;
/// Bytes of a greeting.
const GREETING_BYTES_MAX: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_answered_as_the_rfc_says() {
        assert_eq!(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn raw_bytes_are_hexadecimal() {
        assert_eq!(unhex("80Ff"), Some(vec![0x80, 0xff]));
        assert_eq!(unhex(""), Some(Vec::new()));
        assert_eq!(unhex("8"), None);
        assert_eq!(unhex("8x"), None);
    }
}
