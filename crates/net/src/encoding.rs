//! Content encodings: undoing those of a response, applying those a script asks for.
//!
//! Output is always capped. [`decode`] is for bodies that are complete, or known to be cut short; [`Decoder`] for those that
//! are read in pieces.

mod incremental;

pub use incremental::Decoder;

use std::io::{self, Read, Write};

use brotli::{BrotliDecompressStream, BrotliResult, BrotliState, enc::StandardAlloc};
use bytes::Bytes;

use crate::{
    body_budget::BodyHold,
    error::{NetError, code},
    http1::Limits,
};

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
    /// Code 1701 when the decoder finds its input wrong, 1000 when the input breaks off.
    pub error: NetError,
    /// The decoded beginning, which k6 keeps as the body.
    pub partial: Bytes,
    /// Whether decoding began at all. k6: the body is null when a gzip or zlib header is already wrong.
    pub began: bool,
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
    if list.trim().is_empty() {
        return Ok(Vec::new());
    }
    list.split(',')
        .map(str::trim)
        .map(|name| {
            // k6: unlike in a header, capitals count.
            Algorithm::parse(name).filter(|algorithm| algorithm.name() == name).ok_or_else(|| {
                format!("unknown compression algorithm {name}, supported algorithms are [gzip deflate zstd br]")
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

/// Undoes the encodings a `Content-Encoding` value lists, the last one first. As in k6, names that are not known are
/// passed over. (k6 knows lower-case names only and not `x-gzip`; such bodies stay compressed there.)
///
/// # Errors
/// A broken body, or one that decodes to more than the limits allow. `hold` is the share of `body` before, and that of the
/// result after.
pub fn decode(
    body: Bytes,
    content_encoding: &[u8],
    limits: &Limits,
    hold: &mut BodyHold,
) -> Result<Bytes, DecodeFailure> {
    let mut current = body;
    for name in content_encoding.rsplit(|&byte| byte == b',') {
        if let Some(algorithm) = decoder_of(name) {
            let mut next = BodyHold::new(limits.bodies);
            current = decode_one(&current, algorithm, limits, &mut next)?;
            *hold = next;
        }
    }
    Ok(current)
}

/// The algorithm a name in a header stands for.
fn decoder_of(name: &[u8]) -> Option<Algorithm> {
    let name = std::str::from_utf8(name).ok()?.trim();
    if name.eq_ignore_ascii_case("x-gzip") { Some(Algorithm::Gzip) } else { Algorithm::parse(name) }
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
                let mut sink =
                    brotli::CompressorWriter::new(&mut out, BROTLI_BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW_BITS);
                sink.write_all(body)?;
                sink.flush()?;
            }
            Ok(out)
        }
    }
}

fn decode_one(body: &[u8], algorithm: Algorithm, limits: &Limits, hold: &mut BodyHold) -> Result<Bytes, DecodeFailure> {
    if let Err(reason) = check_start(body, algorithm) {
        let reason = match reason {
            Start::BreaksOff(text) => text.to_owned(),
            // k6: wrapped twice.
            Start::Wrong(text) => wrapped(text),
        };
        return Err(DecodeFailure { error: failed(&reason), partial: Bytes::new(), began: false });
    }
    let name = match algorithm {
        Algorithm::Gzip => "gzip",
        Algorithm::Deflate => "zlib",
        Algorithm::Brotli => "brotli",
        Algorithm::Zstd => "zstd",
    };
    match algorithm {
        Algorithm::Gzip => drain(flate2::bufread::MultiGzDecoder::new(body), body.len(), limits, hold, name),
        Algorithm::Deflate => drain(flate2::bufread::ZlibDecoder::new(body), body.len(), limits, hold, name)
            .map_err(|failure| name_zlib_failure(failure, body, limits, hold)),
        Algorithm::Brotli => drain(BrotliReader::new(body), body.len(), limits, hold, name),
        // Go's zstd reader takes nothing for nothing.
        Algorithm::Zstd if body.is_empty() => Ok(Bytes::new()),
        Algorithm::Zstd => match zstd::stream::read::Decoder::with_buffer(body) {
            Ok(decoder) => drain(decoder, body.len(), limits, hold, name),
            Err(error) => Err(broken(&error, Vec::new(), name)),
        },
    }
}

/// Reads a Brotli stream. Unlike the crate's reader it tells, as k6 does, a stream that breaks off from a broken one, and
/// refuses bytes behind the end.
struct BrotliReader<'a> {
    rest: &'a [u8],
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
    is_done: bool,
}

impl<'a> BrotliReader<'a> {
    fn new(body: &'a [u8]) -> Self {
        let alloc = StandardAlloc::default;
        Self { rest: body, state: Box::new(BrotliState::new(alloc(), alloc(), alloc())), is_done: false }
    }
}

impl Read for BrotliReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (mut left, mut used, mut room, mut filled, mut total) = (self.rest.len(), 0, out.len(), 0, 0);
        if !self.is_done {
            let result = BrotliDecompressStream(
                &mut left,
                &mut used,
                self.rest,
                &mut room,
                &mut filled,
                out,
                &mut total,
                &mut self.state,
            );
            self.rest = &self.rest[used..];
            match result {
                BrotliResult::ResultSuccess => self.is_done = true,
                BrotliResult::NeedsMoreInput if filled == 0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
                BrotliResult::ResultFailure => return Err(io::Error::new(io::ErrorKind::InvalidData, "invalid data")),
            }
        }
        if self.is_done && filled == 0 && !self.rest.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "excessive input"));
        }
        Ok(filled)
    }
}

/// What is wrong with the first bytes of an encoded body.
enum Start {
    BreaksOff(&'static str),
    Wrong(&'static str),
}

/// Go's gzip and zlib readers read their header when they are opened; the others do not.
fn check_start(body: &[u8], algorithm: Algorithm) -> Result<(), Start> {
    match algorithm {
        Algorithm::Gzip => match body {
            [] => Err(Start::BreaksOff("EOF")),
            _ if body.len() < GZIP_HEADER_BYTES => Err(Start::BreaksOff("unexpected EOF")),
            [0x1f, 0x8b, 8, ..] => Ok(()),
            _ => Err(Start::Wrong("gzip: invalid header")),
        },
        Algorithm::Deflate => match *body {
            [cmf, flags, ..] => {
                let is_zlib = cmf & 15 == 8 && cmf >> 4 <= 7 && (u16::from(cmf) << 8 | u16::from(flags)) % 31 == 0;
                if is_zlib { Ok(()) } else { Err(Start::Wrong("zlib: invalid header")) }
            }
            _ => Err(Start::BreaksOff("unexpected EOF")),
        },
        Algorithm::Brotli | Algorithm::Zstd => Ok(()),
    }
}

fn drain(
    mut source: impl Read,
    input_len: usize,
    limits: &Limits,
    hold: &mut BodyHold,
    name: &str,
) -> Result<Bytes, DecodeFailure> {
    let limit = usize::try_from(limits.body_bytes_max).unwrap_or(usize::MAX);
    let mut out = Vec::new();
    let mut step = input_len.saturating_mul(2).clamp(DECODE_STEP_MIN, DECODE_STEP_MAX);
    loop {
        let filled = out.len();
        if filled > limit {
            out.truncate(limit);
            let error = failed(&format!("more than {limit} bytes, see --response-body-limit"));
            return Err(DecodeFailure { error, partial: out.into(), began: true });
        }
        out.resize(filled + step, 0);
        if let Err(error) = hold.cover(out.capacity()) {
            return Err(DecodeFailure { error, partial: Bytes::new(), began: true });
        }
        let read = source.read(&mut out[filled..]);
        out.truncate(filled + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => return Ok(out.into()),
            Ok(_) => step = out.len().clamp(DECODE_STEP_MIN, DECODE_STEP_MAX),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(broken(&error, out, name)),
        }
    }
}

/// A decoder's failure in the middle of its input, in the words of the libraries k6 uses where the libraries here say
/// the same.
fn broken(error: &io::Error, partial: Vec<u8>, name: &str) -> DecodeFailure {
    let text = error.to_string();
    let error = if error.kind() == io::ErrorKind::UnexpectedEof {
        NetError::unexpected_eof().in_body()
    } else if text.contains("checksum") {
        failed(&wrapped(&format!("{name}: invalid checksum")))
    } else if text.contains("gzip header") {
        failed(&wrapped("gzip: invalid header"))
    } else if matches!(name, "gzip" | "zlib") {
        // k6: this one has no code of its own.
        NetError::generic("flate: corrupt input").in_body()
    } else if text.contains("Unknown frame descriptor") {
        failed(&wrapped("invalid input: magic number mismatch"))
    } else if text.contains("requires too much memory") {
        failed(&wrapped("window size exceeded"))
    } else {
        failed(&format!("{name}: {}", text.to_ascii_lowercase()))
    };
    DecodeFailure { error, partial: partial.into(), began: true }
}

/// The zlib decoder does not say whether the data or only the checksum behind it is wrong: inflate the data alone to
/// find out.
#[cold]
fn name_zlib_failure(failure: DecodeFailure, body: &[u8], limits: &Limits, hold: &mut BodyHold) -> DecodeFailure {
    let is_corrupt = failure.error.code == code::GENERIC && failure.error != NetError::unexpected_eof().in_body();
    let data = body.get(ZLIB_HEADER_BYTES..).unwrap_or_default();
    if !is_corrupt {
        return failure;
    }
    match drain(flate2::bufread::DeflateDecoder::new(data), data.len(), limits, hold, "zlib") {
        Ok(partial) => DecodeFailure { error: failed(&wrapped("zlib: invalid checksum")), partial, began: true },
        Err(_) => failure,
    }
}

fn failed(reason: &str) -> NetError {
    NetError::new(code::DECOMPRESSION, wrapped(reason)).in_body()
}

fn wrapped(reason: &str) -> String {
    format!("error decompressing response body ({reason})")
}

/// Feeds arbitrary bytes to the decoders: the first line is a `Content-Encoding`, the rest the body. The entry of the
/// fuzz target: panics are findings; so is more output than allowed, and a text that does not survive being encoded and
/// decoded.
pub fn fuzz(data: &[u8]) {
    const LIMIT: usize = 64 << 10;
    let limits = Limits { body_bytes_max: LIMIT as u64, ..Limits::default() };
    let end = data.iter().position(|&byte| byte == b'\n').unwrap_or(data.len());
    let (names, body) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    match decode(Bytes::copy_from_slice(body), names, &limits, &mut BodyHold::default()) {
        Ok(decoded) => assert!(decoded.len() <= LIMIT.max(body.len()), "{} bytes", decoded.len()),
        Err(failure) => {
            assert!(failure.partial.len() <= LIMIT, "{} bytes", failure.partial.len());
            assert!(failure.began || failure.partial.is_empty());
        }
    }
    let Ok(list) = std::str::from_utf8(names) else { return };
    if let Ok(algorithms) = parse_algorithms(list)
        && algorithms.len() <= 3
        && body.len() <= LIMIT / 2
    {
        let encoded = encode(body, &algorithms).expect("memory takes everything");
        assert_eq!(decode(encoded.into(), names, &limits, &mut BodyHold::default()).as_deref(), Ok(body), "{list}");
    }
}

const GZIP_HEADER_BYTES: usize = 10;
const ZLIB_HEADER_BYTES: usize = 2;
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

    fn decode(body: Bytes, content_encoding: &[u8], body_bytes_max: u64) -> Result<Bytes, DecodeFailure> {
        let limits = Limits { body_bytes_max, ..Limits::default() };
        super::decode(body, content_encoding, &limits, &mut BodyHold::default())
    }

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
        for list in [&b"foo"[..], b"identity", b"", b"\xff", b"foo, bar"] {
            assert_eq!(decode(body.clone(), list, LIMIT).unwrap(), body);
        }
        let packed = Bytes::from(encode(&body, &[Algorithm::Gzip]).unwrap());
        for list in [&b"foo, gzip"[..], b"gzip, foo", b"x-gzip", b"GZIP"] {
            assert_eq!(decode(packed.clone(), list, LIMIT).unwrap(), body);
        }
        assert_eq!(
            parse_algorithms("gzip,nope").unwrap_err(),
            "unknown compression algorithm nope, supported algorithms are [gzip deflate zstd br]"
        );
    }

    #[test]
    fn broken_bodies_carry_k6_codes() {
        let check = |body: &[u8], list: &str, began: bool, code: u16, message: &str| {
            let failure = decode(Bytes::copy_from_slice(body), list.as_bytes(), LIMIT).unwrap_err();
            assert_eq!(
                (failure.error.code, failure.error.message.as_str(), failure.began),
                (code, message, began),
                "{list}"
            );
        };
        let wrong = |reason: &str| wrapped(&wrapped(reason));
        let text = b"hello world, hello world, hello world, hello world! ".repeat(20);
        let gzip = encode(&text, &[Algorithm::Gzip]).unwrap();
        let zlib = encode(&text, &[Algorithm::Deflate]).unwrap();
        let flipped = |bytes: &[u8], back: usize| {
            let mut bytes = bytes.to_vec();
            let at = bytes.len() - back;
            bytes[at] ^= 0xff;
            bytes
        };
        check(b"", "gzip", false, 1701, &wrapped("EOF"));
        check(b"hello", "gzip", false, 1701, &wrapped("unexpected EOF"));
        check(b"hello, this is plain", "gzip", false, 1701, &wrong("gzip: invalid header"));
        check(b"hello, this is plain", "deflate", false, 1701, &wrong("zlib: invalid header"));
        check(b"x", "deflate", false, 1701, &wrapped("unexpected EOF"));
        check(b"\x1f\x8b\x08\0\0\0\0\0\0\x03KK", "gzip", true, 1000, "unexpected EOF");
        check(&gzip[..gzip.len() - 10], "gzip", true, 1000, "unexpected EOF");
        check(&zlib[..zlib.len() - 6], "deflate", true, 1000, "unexpected EOF");
        check(&flipped(&gzip, 6), "gzip", true, 1701, &wrong("gzip: invalid checksum"));
        check(&flipped(&zlib, 1), "deflate", true, 1701, &wrong("zlib: invalid checksum"));
        check(&[&gzip[..], &[b'j'; 20]].concat(), "gzip", true, 1701, &wrong("gzip: invalid header"));
        check(&[&gzip[..10], b"\x07xxxxxxxxxxxxxxxxxxxxxx"].concat(), "gzip", true, 1000, "flate: corrupt input");
        check(b"", "br", true, 1000, "unexpected EOF");
        let brotli = encode(&text, &[Algorithm::Brotli]).unwrap();
        check(&brotli[..brotli.len() - 1], "br", true, 1000, "unexpected EOF");
        // Within what the decoder has read, and beyond.
        for more in [1, BROTLI_BUFFER_BYTES, 3 * BROTLI_BUFFER_BYTES] {
            let longer = [&brotli[..], &vec![b'x'; more]].concat();
            check(&longer, "br", true, 1701, &wrapped("brotli: excessive input"));
            assert_eq!(decode(longer.into(), b"br", LIMIT).unwrap_err().partial, &text[..]);
        }
        let junk = decode(Bytes::from_static(b"this is not brotli"), b"br", LIMIT).unwrap_err();
        assert_eq!(junk.error.code, 1701);
        let junk = decode(Bytes::from_static(b"this is not zstd at all"), b"zstd", LIMIT).unwrap_err();
        assert_eq!(junk.error.code, 1701);
        assert_eq!(decode(Bytes::new(), b"zstd", LIMIT).unwrap(), "");
        let twice = [&gzip[..], &gzip].concat();
        assert_eq!(decode(twice.into(), b"gzip", LIMIT).unwrap().len(), 2 * text.len());
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
