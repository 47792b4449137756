//! Bodies that come in texts at intervals: server-sent events, and lines of JSON as language models stream them.

use crate::{
    clock::NANOS_PER_MILLI,
    head::Head,
    reply::{Built, Payload},
    routes::request::{Outcome, allow, bad_request, field, number_field},
    source::{Source, Texts},
};

/// Most texts of a response.
const COUNT_MAX: u64 = 1_000_000;
/// Most letters in one.
const BYTES_MAX: u64 = 1 << 20;
/// Longest time between two, in milliseconds.
const INTERVAL_MS_MAX: u64 = 300_000;
const METHODS: &str = "GET, HEAD, POST";

/// `/sse`, and `/stream` if not `is_events`.
pub(super) fn events(head: &Head<'_>, is_events: bool) -> Outcome {
    allow(head, METHODS)?;
    let number = |name, default, max: u64| match number_field(head.query, name, default)? {
        number if number <= max => Ok(number),
        _ => Err(bad_request(&format!("{name} must be at most {max}"))),
    };
    let text = |name| field(head.query, name).map(|text| text.replace(['\r', '\n'], " ")).unwrap_or_default();
    let count = number("count", 5, COUNT_MAX)?;
    let interval_ns = number("interval_ms", 0, INTERVAL_MS_MAX)? * NANOS_PER_MILLI;
    let first_ns = number("first_ms", 0, INTERVAL_MS_MAX)? * NANOS_PER_MILLI;
    let texts = Texts {
        is_events,
        name: text("event"),
        bytes: usize::try_from(number("bytes", 10, BYTES_MAX)?).unwrap_or_default(),
        has_comments: field(head.query, "comments").is_some(),
        last: text("last"),
        at: 0,
    };
    let is_told = is_events && !texts.last.is_empty();
    let source = Source::texts(count + u64::from(is_told), texts, first_ns, interval_ns);
    let kind = if is_events { "text/event-stream" } else { "application/x-ndjson" };
    let built = Built::with_payload(200, kind, Payload::Stream { source, length: None });
    Ok(built.with("Cache-Control", "no-cache"))
}
