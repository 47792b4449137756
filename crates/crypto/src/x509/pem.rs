//! The first block of PEM in a text, found as Go finds it.

use crate::Base64;

/// The bytes of the first block that is whole; blocks that are not are passed over.
pub(super) fn first_block(text: &[u8]) -> Option<Vec<u8>> {
    let mut rest = text;
    loop {
        let start = at_line_start(rest, BEGIN)?;
        rest = &rest[start + BEGIN.len()..];
        let (line, body) = split_line(rest);
        let Some(label) = line.strip_suffix(DASHES) else { continue };
        let body = without_headers(body);
        let Some(end) = at_line_start(body, END) else { continue };
        let (closing, _) = split_line(&body[end + END.len()..]);
        // k6: more may stand on the line of the last dashes.
        if !closing.strip_prefix(label).is_some_and(|after| after.starts_with(DASHES)) {
            continue;
        }
        let characters: Vec<u8> =
            body[..end].iter().copied().filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).collect();
        if let Ok(bytes) = Base64::STD.decode(&characters) {
            return Some(bytes);
        }
    }
}

/// Where `marker` stands at the beginning of a line.
fn at_line_start(text: &[u8], marker: &[u8]) -> Option<usize> {
    memchr::memmem::find_iter(text, marker).find(|&at| at == 0 || text[at - 1] == b'\n')
}

/// A line without white space at its end, and what follows it.
fn split_line(text: &[u8]) -> (&[u8], &[u8]) {
    match memchr::memchr(b'\n', text) {
        Some(end) => (text[..end].trim_ascii_end(), &text[end + 1..]),
        None => (text.trim_ascii_end(), &[]),
    }
}

/// Passes over lines such as `Proc-Type: 4,ENCRYPTED`.
fn without_headers(mut body: &[u8]) -> &[u8] {
    loop {
        let (line, rest) = split_line(body);
        if !line.contains(&b':') || line.starts_with(DASHES) {
            return body;
        }
        body = rest;
    }
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
