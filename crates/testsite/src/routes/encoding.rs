//! Compressed answers.

use std::io::{self, Write};

use super::request::{GET, Outcome, Request, allow, bad_request, decode, field, not_found, parse_size};
use crate::{
    context::Context,
    head::Head,
    json::Json,
    reply::Built,
    response_head::{JSON, TEXT},
    routes::echo::write_headers,
    source::split_mix,
};

/// Brotli's middle quality and the window that fits a few kilobytes: larger windows cost far more to set up than such a
/// body costs to compress.
const BROTLI_QUALITY: u32 = 5;
const BROTLI_WINDOW_BITS: u32 = 16;
const ZSTD_LEVEL: i32 = 3;

/// `coding` is the endpoint's name.
pub(super) fn encoded(request: &Request<'_>, coding: &str) -> Outcome {
    allow(request.head, GET)?;
    let (mark, name) = match coding {
        "gzip" => ("gzipped", "gzip"),
        "deflate" => ("deflated", "deflate"),
        "brotli" => ("brotli", "br"),
        _ => ("zstd", "zstd"),
    };
    let mut json = Json::new();
    json.open();
    json.key(mark).boolean(true);
    json.key("headers");
    write_headers(&mut json, request.head);
    json.key("method").string(request.head.method);
    json.key("origin").string(&request.link.peer.ip().to_string());
    json.close();
    let body = compress(&json.finish(), name).map_err(|_| failed())?;
    Ok(Built::new(200, JSON, body).with("Content-Encoding", name))
}

/// `/encoded/{coding,…}/{n}`: text of `n` bytes, coded in that order. `?label=`
/// is what `Content-Encoding` says instead, and `?zeros` a text that shrinks to
/// almost nothing.
pub(super) fn sized(head: &Head<'_>, rest: &str, cx: &mut Context) -> Outcome {
    let (codings, size) = rest.split_once('/').ok_or_else(not_found)?;
    allow(head, GET)?;
    let size = parse_size(size).filter(|size| *size <= SIZED_BYTES_MAX);
    let size = size.ok_or_else(|| bad_request("the size must be a whole number up to 16777216"))?;
    let codings = decode(codings);
    let names: Vec<&str> = codings.split(',').map(str::trim).collect();
    if names.len() > CODINGS_MAX {
        return Err(bad_request("up to 8 codings"));
    }
    let zeros = field(head.query, "zeros").is_some();
    let mut body = if zeros { vec![0; size] } else { text(size) };
    for name in &names {
        body = match *name {
            "identity" => body,
            "gzip" | "x-gzip" => compress(&body, "gzip").map_err(|_| failed())?,
            "deflate" | "br" | "zstd" => compress(&body, name).map_err(|_| failed())?,
            _ => return Err(bad_request("codings are gzip, deflate, br, zstd and identity")),
        };
    }
    let label = field(head.query, "label").map_or_else(|| names.join(", "), std::borrow::Cow::into_owned);
    if head.query.is_empty() {
        cx.statics.keep_encoded(rest, &label, &body);
    }
    let built = Built::new(200, TEXT, body);
    Ok(if label.is_empty() { built } else { built.with("Content-Encoding", &label) })
}

/// Plain bytes of `/encoded/…`: coding more would keep the thread from others.
const SIZED_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Codings on top of each other.
const CODINGS_MAX: usize = 8;

/// Words in an order that looks random, which shrink to about a quarter.
fn text(bytes: usize) -> Vec<u8> {
    const WORDS: [&str; 16] = [
        "request ",
        "response ",
        "server ",
        "client ",
        "the ",
        "a ",
        "of ",
        "and ",
        "load ",
        "test ",
        "body ",
        "header ",
        "status ",
        "slow ",
        "fast ",
        "again.\n",
    ];
    let mut state = 1;
    let mut text = Vec::with_capacity(bytes + 16);
    while text.len() < bytes {
        text.extend_from_slice(WORDS[(split_mix(&mut state) % 16) as usize].as_bytes());
    }
    text.truncate(bytes);
    text
}

fn failed() -> Box<Built> {
    Box::new(Built::explained(500, "compression failed"))
}

fn compress(plain: &[u8], name: &str) -> io::Result<Vec<u8>> {
    let level = flate2::Compression::default();
    match name {
        "gzip" => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(plain)?;
            encoder.finish()
        }
        // What HTTP calls deflate is the zlib format.
        "deflate" => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain)?;
            encoder.finish()
        }
        "br" => {
            let mut body = Vec::new();
            let mut encoder = brotli::CompressorWriter::new(&mut body, 4096, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
            encoder.write_all(plain)?;
            // Dropping it writes the end.
            drop(encoder);
            Ok(body)
        }
        _ => zstd::bulk::compress(plain, ZSTD_LEVEL),
    }
}
