//! Bodies of a chosen size and pace, and uploads.

use super::request::{GET, Outcome, Request, allow, bad_request, field, number_field, parse_size, seconds_ns};
use crate::{
    body::Body,
    clock::NANOS_PER_SEC,
    context::Context,
    head::Head,
    json::Json,
    reply::{Built, Payload},
    response_head::{OCTETS, TEXT},
    source::{ROUND_BYTES, Source, random_bytes},
    status_code::code_in,
};

/// Largest body of these endpoints. They are streamed: this bounds time only.
const BODY_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Most bytes dripped: each is a timer and a packet.
const DRIP_BYTES_MAX: u64 = 1024 * 1024;
/// Chunk size without `chunk_size`, as in httpbin.
const CHUNK_BYTES: u64 = 10 * 1024;

/// `/f/{n}` for sizes that are not kept ready.
pub(super) fn fixed(head: &Head<'_>, size: &str) -> Outcome {
    allow(head, GET)?;
    let length = size_of(size)?;
    let payload = Payload::Stream { source: Source::fixed(length), length: Some(length) };
    Ok(Built::with_payload(200, TEXT, payload))
}

pub(super) fn bytes(head: &Head<'_>, size: &str, cx: &mut Context) -> Outcome {
    allow(head, GET)?;
    let length = size_of(size)?;
    let mut seed = seed(head, cx)?;
    let payload = if length <= ROUND_BYTES as u64 {
        let mut body = Vec::new();
        random_bytes(&mut seed, length as usize, &mut body);
        Payload::Bytes(body)
    } else {
        let source = Source::random(length, seed, ROUND_BYTES);
        Payload::Stream { source, length: Some(length) }
    };
    Ok(Built::with_payload(200, OCTETS, payload))
}

pub(super) fn stream_bytes(head: &Head<'_>, size: &str, cx: &mut Context) -> Outcome {
    allow(head, GET)?;
    let length = size_of(size)?;
    let chunk_bytes = number_field(head.query, "chunk_size", CHUNK_BYTES)?;
    if chunk_bytes == 0 {
        return Err(bad_request("chunk_size must not be 0"));
    }
    let chunk_bytes = usize::try_from(chunk_bytes).unwrap_or(usize::MAX);
    let source = Source::random(length, seed(head, cx)?, chunk_bytes);
    Ok(Built::with_payload(200, OCTETS, Payload::Stream { source, length: None }))
}

/// The response, and the time to wait before it.
pub(super) fn drip(head: &Head<'_>) -> Result<(Built, u64), Box<Built>> {
    allow(head, GET)?;
    let seconds = |name, default: &str| seconds_ns(field(head.query, name).as_deref().unwrap_or(default));
    let length = number_field(head.query, "numbytes", 10)?;
    if length == 0 || length > DRIP_BYTES_MAX {
        return Err(bad_request("numbytes must be between 1 and 1048576"));
    }
    let code = code_in(&field(head.query, "code").unwrap_or_else(|| "200".into()))
        .ok_or_else(|| bad_request("code must be between 200 and 599"))?;
    let duration_ns = seconds("duration", "2")?;
    let delay_ns = seconds("delay", "2")?;
    let first_ns = seconds("first", "0")?;
    let piece_bytes = number_field(head.query, "piece", 1)?.clamp(1, ROUND_BYTES as u64);
    let interval_ns = (duration_ns / length.div_ceil(piece_bytes)).min(300 * NANOS_PER_SEC);
    let source = Source::drip(length, first_ns, interval_ns, piece_bytes as usize);
    let chunked = field(head.query, "chunked").is_some();
    let payload = Payload::Stream { source, length: (!chunked).then_some(length) };
    Ok((Built::with_payload(code, OCTETS, payload), delay_ns))
}

pub(super) fn upload(request: &Request<'_>) -> Outcome {
    allow(request.head, "POST, PUT, PATCH")?;
    let received = match &request.body {
        Body::Counted(bytes) => *bytes,
        Body::Kept { total, .. } => *total,
        // Uploads are counted whole, whatever they contain.
        Body::Multipart(_) => 0,
    };
    let mut json = Json::new();
    json.open();
    json.key("received").number(received);
    json.close();
    Ok(Built::json(json.finish()))
}

fn size_of(text: &str) -> Result<u64, Box<Built>> {
    match parse_size(text) {
        Some(size) if size <= BODY_BYTES_MAX => Ok(size as u64),
        _ => Err(bad_request("the size must be a whole number up to 1073741824")),
    }
}

fn seed(head: &Head<'_>, cx: &mut Context) -> Result<u64, Box<Built>> {
    let random = cx.random();
    number_field(head.query, "seed", random)
}
