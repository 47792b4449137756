//! Compressed answers.

use std::io::{self, Write};

use crate::json::Json;
use crate::reply::{Built, JSON};
use crate::routes::echo::write_headers;
use crate::routes::{GET, Outcome, Request, allow};

/// Brotli's middle quality and the window that fits a few kilobytes: larger
/// windows cost far more to set up than such a body costs to compress.
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
    json.key("origin").string(&request.peer.to_string());
    json.close();
    let body = compress(&json.finish(), name).map_err(|_| Box::new(Built::explained(500, "compression failed")))?;
    Ok(Built::new(200, JSON, body).with("Content-Encoding", name))
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
