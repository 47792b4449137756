//! Documents of several kinds, for scripts that look into bodies.

use super::request::{GET, Outcome, allow};
use crate::{
    context::Context,
    head::Head,
    json::Json,
    reply::{Built, Payload},
    response_head::{HTML, JSON},
};

const SAMPLE_JSON: &[u8] = include_bytes!("../../assets/sample.json");
const SAMPLE_HTML: &[u8] = include_bytes!("../../assets/sample.html");
const SAMPLE_XML: &[u8] = include_bytes!("../../assets/sample.xml");
const SAMPLE_UTF8: &[u8] = include_bytes!("../../assets/utf8.html");

pub(super) fn json(head: &Head<'_>) -> Outcome {
    document(head, JSON, SAMPLE_JSON)
}

pub(super) fn html(head: &Head<'_>) -> Outcome {
    document(head, HTML, SAMPLE_HTML)
}

pub(super) fn xml(head: &Head<'_>) -> Outcome {
    document(head, "application/xml", SAMPLE_XML)
}

pub(super) fn utf8(head: &Head<'_>) -> Outcome {
    document(head, HTML, SAMPLE_UTF8)
}

fn document(head: &Head<'_>, content_type: &str, text: &'static [u8]) -> Outcome {
    allow(head, GET)?;
    Ok(Built::with_payload(200, content_type, Payload::Text(text)))
}

/// A random UUID of version 4.
pub(super) fn uuid(head: &Head<'_>, cx: &mut Context) -> Outcome {
    allow(head, GET)?;
    let (high, low) = (cx.random(), cx.random());
    let uuid = format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        low >> 48 & 0x3fff | 0x8000,
        low & 0xffff_ffff_ffff,
    );
    let mut json = Json::new();
    json.open();
    json.key("uuid").string(&uuid);
    json.close();
    Ok(Built::json(json.finish()))
}
