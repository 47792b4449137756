//! Content encodings: undoing those of a response, applying those a script asks for.
//!
//! Output is always capped, and a decoder never runs on input it has not been given: the body is
//! complete (or known to be cut short) before it is decoded.

use std::io::{self, Read, Write};

use bytes::Bytes;

use crate::error::{NetError, code};

/// The algorithms of the `compression` parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// gzip
    Gzip,
    /// zlib, which HTTP calls deflate
    Deflate,
    /// Zstandard
    Zstd,
    /// Brotli
    Brotli,
}

/// A body that could not be decoded, and what was decoded before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeFailure {
    /// Code 1701 when the encoding could not even be started, 1000 when it broke off.
    pub error: NetError,
    /// The decoded beginning, which k6 keeps as the body when it is code 1000.
    pub partial: Bytes,
}

impl Algorithm {
    /// The name in `Content-Encoding` and in the `compression` parameter.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
            Self::Brotli => "br",
        }
    }

    /// Parses one name.
    fn parse(name: &str) -> Option<Self> {
        [Self::Gzip, Self::Deflate, Self::Zstd, Self::Brotli]
            .into_iter()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }
}

/// Parses the `compression` parameter: a comma-separated list, applied in order.
///
/// # Errors
/// k6's text, naming the first unknown algorithm.
pub fn parse_algorithms(list: &str) -> Result<Vec<Algorithm>, String> {
    list.split(',')
        .map(str::trim)
        .map(|name| {
            Algorithm::parse(name).ok_or_else(|| {
                format!(
                    "unknown compression algorithm {name}, supported algorithms are [deflate gzip br zstd]"
                )
            })
        })
        .collect()
}

/// Applies encodings in order.
///
/// # Errors
/// None in practice: the sinks are memory.
pub fn encode(body: &[u8], algorithms: &[Algorithm]) -> io::Result<Vec<u8>> {
    let mut current = body.to_vec();
    for algorithm in algorithms {
        current = encode_one(&current, *algorithm)?;
    }
    Ok(current)
}

/// Undoes the encodings a `Content-Encoding` value lists. A list with an unknown name leaves the body as
/// it is, as in k6.
///
/// # Errors
/// A broken body, or one that decodes to more than `limit` bytes.
pub fn decode(body: Bytes, content_encoding: &[u8], limit: u64) -> Result<Bytes, DecodeFailure> {
    let Some(algorithms) = decoders_of(content_encoding) else { return Ok(body) };
    let mut current = body;
    for algorithm in algorithms.into_iter().rev() {
        current = decode_one(&current, algorithm, limit)?;
    }
    Ok(current)
}

/// The algorithms of a header value; `None` when there is nothing to decode.
fn decoders_of(content_encoding: &[u8]) -> Option<Vec<Algorithm>> {
    let list = std::str::from_utf8(content_encoding).ok()?;
    list.split(',')
        .map(|name| match name.trim() {
            name if name.eq_ignore_ascii_case("x-gzip") => Some(Algorithm::Gzip),
            name => Algorithm::parse(name),
        })
        .collect()
}

fn encode_one(body: &[u8], algorithm: Algorithm) -> io::Result<Vec<u8>> {
    match algorithm {
        Algorithm::Gzip => {
            let mut sink = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            sink.write_all(body)?;
            sink.finish()
        }
        Algorithm::Deflate => {
            let mut sink = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
            sink.write_all(body)?;
            sink.finish()
        }
        Algorithm::Zstd => zstd::stream::encode_all(body, ZSTD_LEVEL),
        Algorithm::Brotli => {
            let mut out = Vec::new();
            {
                let mut sink = brotli::CompressorWriter::new(
                    &mut out,
                    BROTLI_BUFFER_BYTES,
                    BROTLI_QUALITY,
                    BROTLI_WINDOW_BITS,
                );
                sink.write_all(body)?;
                sink.flush()?;
            }
            Ok(out)
        }
    }
}

fn decode_one(body: &[u8], algorithm: Algorithm, limit: u64) -> Result<Bytes, DecodeFailure> {
    check_start(body, algorithm).map_err(|reason| DecodeFailure {
        error: NetError {
            names_url: false,
            ..NetError::new(code::DECOMPRESSION, format!("error decompressing response body ({reason})"))
        },
        partial: Bytes::new(),
    })?;
    match algorithm {
        Algorithm::Gzip => drain(flate2::read::MultiGzDecoder::new(body), body.len(), limit),
        Algorithm::Deflate => drain(flate2::read::ZlibDecoder::new(body), body.len(), limit),
        Algorithm::Brotli => drain(brotli::Decompressor::new(body, BROTLI_BUFFER_BYTES), body.len(), limit),
        Algorithm::Zstd => match zstd::stream::read::Decoder::with_buffer(body) {
            Ok(decoder) => drain(decoder, body.len(), limit),
            Err(error) => Err(broken(&error, Vec::new())),
        },
    }
}

/// k6: a body whose encoding cannot be opened is error 1701; Go's gzip and zlib readers read their
/// header when they are opened, the others do not.
fn check_start(body: &[u8], algorithm: Algorithm) -> Result<(), &'static str> {
    match algorithm {
        Algorithm::Gzip => match body {
            [] => Err("EOF"),
            _ if body.len() < GZIP_HEADER_BYTES => Err("unexpected EOF"),
            [0x1f, 0x8b, 8, ..] => Ok(()),
            _ => Err("gzip: invalid header"),
        },
        Algorithm::Deflate => match *body {
            [cmf, flags, ..] => {
                let is_zlib = cmf & 15 == 8 && cmf >> 4 <= 7 && (u16::from(cmf) << 8 | u16::from(flags)) % 31 == 0;
                if is_zlib { Ok(()) } else { Err("zlib: invalid header") }
            }
            _ => Err("unexpected EOF"),
        },
        Algorithm::Brotli | Algorithm::Zstd => Ok(()),
    }
}

fn drain(mut source: impl Read, input_len: usize, limit: u64) -> Result<Bytes, DecodeFailure> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    let mut step = input_len.saturating_mul(2).clamp(DECODE_STEP_MIN, DECODE_STEP_MAX);
    loop {
        let filled = out.len();
        if filled > limit {
            out.truncate(limit);
            let error = NetError {
                names_url: false,
                ..NetError::new(
                    code::DECOMPRESSION,
                    format!("error decompressing response body (more than {limit} bytes)"),
                )
            };
            return Err(DecodeFailure { error, partial: out.into() });
        }
        out.resize(filled + step, 0);
        let read = source.read(&mut out[filled..]);
        let got = match &read {
            Ok(got) => *got,
            Err(_) => 0,
        };
        out.truncate(filled + got);
        match read {
            Ok(0) => return Ok(out.into()),
            Ok(_) => step = out.len().clamp(DECODE_STEP_MIN, DECODE_STEP_MAX),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(broken(&error, out)),
        }
    }
}

fn broken(error: &io::Error, partial: Vec<u8>) -> DecodeFailure {
    let error = match error.kind() {
        io::ErrorKind::UnexpectedEof => NetError::unexpected_eof(),
        _ => NetError::generic(error.to_string()),
    };
    DecodeFailure { error: error.in_body(), partial: partial.into() }
}

const GZIP_HEADER_BYTES: usize = 10;
/// Go's zstd encoder defaults to about this level.
const ZSTD_LEVEL: i32 = 3;
const BROTLI_BUFFER_BYTES: usize = 4096;
/// The default of the Go library k6 uses.
const BROTLI_QUALITY: u32 = 6;
const BROTLI_WINDOW_BITS: u32 = 22;
const DECODE_STEP_MIN: usize = 4 << 10;
const DECODE_STEP_MAX: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMIT: u64 = 1 << 20;

    #[test]
    fn round_trips_lists() {
        let body = b"hello hello hello hello".repeat(100);
        let check = |list: &str| {
            let packed = encode(&body, &parse_algorithms(list).unwrap()).unwrap();
            let unpacked = decode(packed.into(), list.as_bytes(), LIMIT).unwrap();
            assert_eq!(unpacked, body, "{list}");
        };
        for list in ["gzip", "deflate", "zstd", "br", "gzip, deflate", "br,zstd , gzip,deflate"] {
            check(list);
        }
    }

    #[test]
    fn unknown_encodings_leave_the_body() {
        let body = Bytes::from_static(b"hello");
        for list in [&b"foo"[..], b"identity", b"", b"\xff"] {
            assert_eq!(decode(body.clone(), list, LIMIT).unwrap(), body);
        }
        assert_eq!(
            parse_algorithms("gzip,nope").unwrap_err(),
            "unknown compression algorithm nope, supported algorithms are [deflate gzip br zstd]"
        );
    }

    #[test]
    fn broken_bodies_carry_k6_codes() {
        let check = |body: &[u8], list: &str, code: u16, message: &str| {
            let failure = decode(Bytes::copy_from_slice(body), list.as_bytes(), LIMIT).unwrap_err();
            assert_eq!((failure.error.code, failure.error.message.as_str()), (code, message), "{list}");
        };
        check(b"hello", "gzip", 1701, "error decompressing response body (unexpected EOF)");
        check(b"hello, this is plain", "gzip", 1701, "error decompressing response body (gzip: invalid header)");
        check(b"hello, this is plain", "deflate", 1701, "error decompressing response body (zlib: invalid header)");
        check(b"\x1f\x8b\x08\0\0\0\0\0\0\x03KK", "gzip", 1000, "unexpected EOF");
    }

    #[test]
    fn output_is_capped() {
        let bomb = encode(&vec![0; 4 << 20], &[Algorithm::Gzip]).unwrap();
        let failure = decode(bomb.into(), b"gzip", LIMIT).unwrap_err();
        assert_eq!(failure.error.code, 1701);
        assert_eq!(failure.partial.len() as u64, LIMIT);
    }

    proptest! {
        #[test]
        fn decoding_never_panics(body in proptest::collection::vec(any::<u8>(), 0..200), list in "(gzip|deflate|br|zstd)(, ?(gzip|br))?") {
            let _ = decode(body.into(), list.as_bytes(), LIMIT);
        }
    }
}
