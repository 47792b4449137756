//! `/fault/…`: answers that are wrong on purpose.

use std::fmt::Write as _;

use super::request::{Outcome, Request, bad_request, field, not_found, number_field, seconds_ns};
use crate::{
    clock::NANOS_PER_SEC,
    context::Context,
    fault::{Break, Ending, Fault, break_in},
    link::Protocol,
    reply::Built,
    response_head::TEXT,
    source::random_bytes,
    status_code::code_in,
};

/// Largest answer of these endpoints: it is in memory as a whole.
const BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of a body, and of its chunks, unless the request says otherwise.
const BODY_BYTES: u64 = 100;
const CHUNK_BYTES: usize = 10;

/// `kind` is the endpoint's name. Works for any method.
pub(super) fn fault(request: &Request<'_>, kind: &str, cx: &mut Context) -> Outcome {
    let query = request.head.query;
    let at_bytes = usize::try_from(number_field(query, "at", 0)?).unwrap_or(usize::MAX);
    let place = field(query, "in");
    let in_body = match place.as_deref() {
        None | Some("wire" | "head") => false,
        Some("body" | "chunk") => true,
        Some(_) => return Err(bad_request("in is wire, head, body or chunk")),
    };
    let ending = match (break_in(kind), kind) {
        (Some(how), _) => Ending::Break(how),
        (None, "slow") => {
            let every_ns = seconds_ns(field(query, "every").as_deref().unwrap_or("1"))?;
            Ending::Slow(every_ns.max(NANOS_PER_SEC / 1_000_000))
        }
        _ => return raw(request, kind, cx),
    };
    let mut built = well_formed(query, place.as_deref() == Some("chunk"))?;
    built.extra().fault = Some(Fault { raw: None, in_body, at_bytes, ending });
    Ok(built)
}

/// The response that goes wrong somewhere.
fn well_formed(query: &str, chunked: bool) -> Result<Built, Box<Built>> {
    let code = match field(query, "status") {
        None => 200,
        Some(text) => code_in(&text).ok_or_else(|| bad_request("status must be between 200 and 599"))?,
    };
    let mut built = Built::new(code, TEXT, vec![b'x'; bytes(query, "bytes", BODY_BYTES)?]);
    if chunked {
        built.extra().chunk_bytes = Some(CHUNK_BYTES);
        built.add_trailer("X-Trailer", "end");
    }
    Ok(built)
}

/// Answers that are written byte by byte.
fn raw(request: &Request<'_>, kind: &str, cx: &mut Context) -> Outcome {
    let query = request.head.query;
    if request.link.protocol != Protocol::Http1 {
        return Err(bad_request("this fault is one of HTTP/1.1"));
    }
    let mut then = Ending::Break(Break::Close);
    let data = match kind {
        // Content-Length says one thing, the body another.
        "length" => {
            let says = field(query, "says").unwrap_or_else(|| "1000".into());
            let body = "x".repeat(bytes(query, "bytes", BODY_BYTES)?);
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", line(&says)).into_bytes()
        }
        "garbage" => {
            let mut data = Vec::new();
            let random = cx.random();
            let mut seed = number_field(query, "seed", random)?;
            random_bytes(&mut seed, bytes(query, "bytes", BODY_BYTES)?, &mut data);
            data
        }
        // One request, two responses.
        "twice" => {
            then = Ending::Keep;
            b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".repeat(2)
        }
        "headers" => {
            let count = bytes(query, "count", 1000)?;
            let value = "v".repeat(bytes(query, "bytes", BODY_BYTES)?);
            if (count as u64).saturating_mul(value.len() as u64 + 16) > BYTES_MAX {
                return Err(bad_request("count times bytes must be up to 16777216"));
            }
            let mut text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n".to_owned();
            for number in 0..count {
                // Writing to a string cannot fail.
                let _ = write!(text, "X-Header-{number}: {value}\r\n");
            }
            text.push_str("\r\nhi");
            then = Ending::Keep;
            text.into_bytes()
        }
        "raw" => field(query, "data").ok_or_else(|| bad_request("the data is missing"))?.into_owned().into_bytes(),
        _ => return Err(not_found()),
    };
    match field(query, "then").as_deref() {
        None => {}
        Some("keep") => then = Ending::Keep,
        Some(how) => {
            let how = break_in(how).ok_or_else(|| bad_request("then is keep, close, reset or stall"))?;
            then = Ending::Break(how);
        }
    }
    let mut built = Built::empty(200);
    built.extra().fault = Some(Fault { raw: Some(data), in_body: false, at_bytes: usize::MAX, ending: then });
    Ok(built)
}

/// A value that stays within its line.
fn line(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

fn bytes(query: &str, name: &str, default: u64) -> Result<usize, Box<Built>> {
    match number_field(query, name, default)? {
        bytes if bytes <= BYTES_MAX => Ok(bytes as usize),
        _ => Err(bad_request(&format!("{name} must be up to 16777216"))),
    }
}
