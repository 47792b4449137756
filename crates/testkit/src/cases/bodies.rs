//! Bodies: chunks that are none, codings that are none, bombs.

use std::io::Write;

use super::case::{CHUNKED, Case};
use crate::steps::Step;

/// Bytes a bomb grows to where every client is to take it: enough to show that memory is given back.
const BOMB_BYTES: usize = 24 << 20;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = chunks();
    cases.extend(codings());
    cases
}

fn chunks() -> Vec<Case> {
    let chunk = |name, about, text: &str| Case::says(name, about, format!("{CHUNKED}{text}"));
    let flood = |name, about, start: &str, piece: &str| {
        let start = format!("{CHUNKED}{start}");
        Case::plain(name, about, vec![Step::Read, Step::Send(start.into()), Step::Flood(piece.into())])
    };
    let pour = |name, about, start: &str, piece: &str| {
        let start = format!("{CHUNKED}{start}");
        Case::plain(name, about, vec![Step::Read, Step::Send(start.into()), Step::Pour(piece.into())])
    };
    vec![
        chunk("chunk_size_letters", "has a chunk size of letters", "zz\r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_size_negative", "has a negative chunk size", "-5\r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_size_0x", "has a chunk size with 0x", "0x5\r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_size_empty", "has no chunk size", "\r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_size_overflow", "has a chunk size of 68 bits", "10000000000000005\r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_size_max", "has a chunk size of 2^64-1", "ffffffffffffffff\r\nhello"),
        chunk("chunk_size_zeros", "has a chunk size with many zeros", "00000000000000000005\r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_size_space", "has a space after the chunk size", "5 \r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_size_leading_space", "has a space before the chunk size", " 5\r\nhello\r\n0\r\n\r\n"),
        chunk("chunk_lf", "ends a chunk size with LF", "5\nhello\r\n0\r\n\r\n"),
        chunk("chunk_no_end", "does not end a chunk", "5\r\nhelloworld\r\n0\r\n\r\n"),
        chunk("chunk_lf_end", "ends a chunk with LF", "5\r\nhello\n0\r\n\r\n"),
        chunk("chunk_extension", "has an extension", "5;name=\"va\\\"lue\"\r\nhello\r\n0\r\n\r\n"),
        chunk(
            "chunk_extension_long",
            "has an extension of 8 KB",
            &format!("5;{}\r\nhello\r\n0\r\n\r\n", "x".repeat(8192)),
        ),
        chunk("chunk_close_in_size", "closes in a chunk size", "5"),
        chunk("chunk_close_in_data", "closes in a chunk", "5\r\nhel"),
        chunk("chunk_close_after_data", "closes after a chunk's bytes", "5\r\nhello"),
        chunk("chunk_close_before_last", "closes before the last chunk", "5\r\nhello\r\n"),
        chunk("chunk_close_after_last", "closes right after the last chunk", "5\r\nhello\r\n0\r\n"),
        chunk("trailer_no_colon", "sends a trailer without a colon", "0\r\nnonsense\r\n\r\n"),
        chunk("trailer_folded", "sends a folded trailer", "0\r\nX-T: a\r\n b\r\n\r\n"),
        chunk("trailer_length", "sends a length as a trailer", "5\r\nhello\r\n0\r\nContent-Length: 1\r\n\r\n"),
        flood("endless_extension", "sends a chunk extension without end", "5;x=", "xxxxxxxxxx"),
        flood(
            "endless_extensions",
            "sends chunks that are nearly all extension",
            "",
            &format!("1;{}\r\nx\r\n", "e".repeat(2000)),
        ),
        flood("endless_size", "sends a chunk size without end", "", "0000000000"),
        flood("endless_trailers", "sends trailers without end", "0\r\n", "X-T: 1\r\n"),
        pour("endless_chunks", "sends chunks without end", "", &format!("1000\r\n{}\r\n", "x".repeat(4096))).for_ever(),
        pour("endless_tiny_chunks", "sends chunks of a byte without end", "", "1\r\nx\r\n").for_ever(),
        Case::plain(
            "endless_body",
            "sends a body without end",
            vec![Step::Read, Step::Send(b"HTTP/1.1 200 OK\r\n\r\n".into()), Step::Pour("x".repeat(1000).into())],
        )
        .for_ever(),
    ]
}

fn codings() -> Vec<Case> {
    let coded = |name, about, coding: &str, body: &[u8]| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n", body.len());
        Case::says(name, about, [head.as_bytes(), body].concat()).in_scripts()
    };
    let zeros = vec![0; BOMB_BYTES];
    let once = gzip(&zeros);
    let hello = gzip(b"hello hello hello hello");
    let mut broken = hello.clone();
    let crc = broken.len() - 5;
    broken[crc] ^= 0xff;
    vec![
        coded("bomb_gzip", "sends a gzip bomb", "gzip", &once),
        coded("bomb_deflate", "sends a deflate bomb", "deflate", &zlib(&zeros)),
        coded("bomb_brotli", "sends a brotli bomb", "br", &brotli(&zeros)),
        coded("bomb_zstd", "sends a zstd bomb", "zstd", &zstd_of(&zeros)),
        coded("bomb_twice", "sends a bomb in a bomb", "gzip, gzip", &gzip(&once)),
        coded("bomb_three_codings", "sends a bomb in three codings", "gzip, br, zstd", &zstd_of(&brotli(&once))),
        coded("codings_many", "names a hundred codings", &vec!["gzip"; 100].join(", "), &hello),
        coded("coding_corrupt", "sends gzip that is broken", "gzip", &[&hello[..10], &[0xff; 20]].concat()).differs(
            0,
            1000,
            "flate: corrupt input",
            "the decoder does not say at which byte",
        ),
        coded("coding_checksum", "sends gzip with a wrong checksum", "gzip", &broken),
        coded("coding_truncated", "sends half of its gzip", "gzip", &hello[..hello.len() / 2]),
        coded("coding_not_coded", "says gzip of what is not", "gzip", b"hello"),
        coded("coding_other", "says br of gzip", "br", &hello).differs(
            0,
            1701,
            "error decompressing response body (brotli: invalid data)",
            "the decoder has other words",
        ),
        coded("coding_no_such", "names a coding nobody has", "lzma", b"hello"),
        coded("coding_none_there", "says gzip of an empty body", "gzip", b"").differs(
            200,
            0,
            "",
            "a body of no bytes needs no decoding: k6 fails it, and with it every answer to HEAD that names a coding",
        ),
        coded("coding_tail", "sends bytes after the gzip's end", "gzip", &[&hello[..], b"tail"].concat()),
        coded("coding_two_members", "sends gzip of two members", "gzip", &[&hello[..], &hello].concat()),
        coded("coding_raw_deflate", "says deflate without the zlib head", "deflate", &raw_deflate(b"hello")),
        coded("coding_zstd_window", "wants a zstd window of 2 GB", "zstd", &[0x28, 0xb5, 0x2f, 0xfd, 0, 0xa8, 1, 0, 0]),
        coded("coding_zstd_garbage", "says zstd of what is not", "zstd", b"hello world"),
        coded("coding_brotli_garbage", "says br of what is not", "br", &[0xff; 64]).differs(
            0,
            1701,
            "error decompressing response body (brotli: invalid data)",
            "the decoder has other words",
        ),
    ]
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).and_then(|()| encoder.finish()).expect("memory takes it")
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).and_then(|()| encoder.finish()).expect("memory takes it")
}

fn raw_deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(plain).and_then(|()| encoder.finish()).expect("memory takes it")
}

fn brotli(plain: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    brotli::CompressorWriter::new(&mut out, 4096, 1, 20).write_all(plain).expect("memory takes it");
    out
}

fn zstd_of(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, 1).expect("memory takes it")
}
