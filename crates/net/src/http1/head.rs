//! The head of a response: status line and header fields, read the way Go's `http.ReadResponse` does.
//!
//! Most heads arrive in one piece and are parsed where they lie. One that arrives in pieces is collected, each line
//! judged once when it is complete, so that a server which sends a byte at a time costs no more than its bytes.

mod repeated;

use memchr::{memchr, memchr_iter};

use super::{Limits, Proto};
use crate::{
    error::NetError,
    header::{Facts as BlockFacts, HeaderBlock, is_token_byte, is_value},
    text::{eq_lower, go_quote, trim_ows},
};

/// A parsed head.
#[derive(Debug, Clone)]
pub struct Head {
    /// The status code.
    pub status: u16,
    /// The version.
    pub proto: Proto,
    /// Whether the peer keeps the connection open after this response.
    pub keep_alive: bool,
    /// How the body ends.
    pub framing: Framing,
    /// Status text and fields.
    pub headers: HeaderBlock,
}

/// How the end of a body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    None,
    /// This many bytes.
    Length(u64),
    /// Chunked transfer encoding.
    Chunked,
    /// Until the peer closes the connection.
    UntilClose,
}

/// What feeding a piece led to.
#[derive(Debug)]
pub enum HeadState {
    /// The head goes on.
    Partial,
    /// The head is complete; `used` bytes of the last piece belong to it.
    Complete {
        /// The head.
        head: Head,
        /// How much of the last piece it used.
        used: usize,
    },
}

/// Collects and parses heads.
#[derive(Debug, Default)]
pub struct HeadParser {
    /// A head that arrived in pieces.
    pending: Vec<u8>,
    /// Where the first line of `pending` that has not been judged starts.
    line_start: usize,
    /// Bytes of interim responses before this head.
    interim_bytes: usize,
}

impl HeadParser {
    /// Feeds the next bytes. `is_head_request` says that the request was `HEAD`.
    ///
    /// # Errors
    /// Code 1000 with Go's text, as soon as the first bad line is complete.
    pub fn feed(&mut self, input: &[u8], is_head_request: bool, limits: &Limits) -> Result<HeadState, NetError> {
        let too_long = || {
            NetError::malformed(format!(
                "net/http: server response headers exceeded {} bytes; aborted",
                limits.head_bytes_max
            ))
        };
        if self.pending.is_empty() {
            if let Some((head, end)) = repeated::scan(input, is_head_request)
                && end + self.interim_bytes <= limits.head_bytes_max
            {
                self.interim_bytes += end;
                return Ok(HeadState::Complete { head, used: end });
            }
            return match find_end(input, 0) {
                Some(end) if end + self.interim_bytes <= limits.head_bytes_max => {
                    let head = interpret(&input[..end], is_head_request)?;
                    self.interim_bytes += end;
                    Ok(HeadState::Complete { head, used: end })
                }
                Some(_) => Err(too_long()),
                None => {
                    self.pending.extend_from_slice(input);
                    self.line_start = 0;
                    self.judge_lines(0)?;
                    if self.pending.len() + self.interim_bytes > limits.head_bytes_max {
                        return Err(too_long());
                    }
                    Ok(HeadState::Partial)
                }
            };
        }
        let before = self.pending.len();
        let room = limits.head_bytes_max.saturating_sub(before + self.interim_bytes).saturating_add(1);
        self.pending.extend_from_slice(&input[..input.len().min(room)]);
        // The blank line may have begun up to three bytes earlier.
        match find_end(&self.pending, before.saturating_sub(3)) {
            Some(end) if end + self.interim_bytes > limits.head_bytes_max => Err(too_long()),
            Some(end) => {
                let head = interpret(&self.pending[..end], is_head_request)?;
                self.interim_bytes += end;
                self.pending = Vec::new();
                Ok(HeadState::Complete { head, used: end - before })
            }
            None => {
                self.judge_lines(before)?;
                if self.pending.len() + self.interim_bytes > limits.head_bytes_max {
                    return Err(too_long());
                }
                Ok(HeadState::Partial)
            }
        }
    }

    /// Whether any byte of the current head has arrived.
    pub fn has_started(&self) -> bool {
        !self.pending.is_empty() || self.interim_bytes > 0
    }

    /// What a connection that ends here means: Go judges the unfinished line first.
    pub fn at_eof(&self) -> NetError {
        let line = &self.pending[self.line_start.min(self.pending.len())..];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            return NetError::malformed("unexpected EOF");
        }
        let verdict = if self.line_start == 0 {
            parse_status_line(line).map(|_| ())
        } else if matches!(line[0], b' ' | b'\t') {
            Ok(())
        } else {
            check_field_line(line)
        };
        NetError::malformed(verdict.err().unwrap_or_else(|| "unexpected EOF".to_owned()))
    }

    /// Judges the lines that the bytes from `new` on have completed. What came before holds no end of a line that has not
    /// been judged: it is not searched again, or a long line in small pieces would cost the square of its length.
    fn judge_lines(&mut self, new: usize) -> Result<(), NetError> {
        let mut from = new;
        while let Some(found) = memchr(b'\n', &self.pending[from..]) {
            let length = from + found - self.line_start;
            from += found + 1;
            let line = &self.pending[self.line_start..self.line_start + length];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if self.line_start == 0 {
                parse_status_line(line).map_err(NetError::malformed)?;
            } else if !line.is_empty() {
                check_line_of_field(line, &self.pending[..self.line_start]).map_err(NetError::malformed)?;
            }
            self.line_start += length + 1;
        }
        Ok(())
    }
}

/// Finds the end of a head: just after the first blank line. Looks at line ends from `from` on.
fn find_end(bytes: &[u8], from: usize) -> Option<usize> {
    for newline in memchr_iter(b'\n', &bytes[from..]) {
        let at = from + newline;
        match &bytes[at + 1..] {
            [b'\n', ..] => return Some(at + 2),
            [b'\r', b'\n', ..] => return Some(at + 3),
            _ => {}
        }
    }
    None
}

/// Parses a head that is complete and plain, in one pass; `None` for anything else, which [`interpret`] then judges.
/// Where both answer, they agree.
fn scan(bytes: &[u8], is_head_request: bool) -> Option<(Head, usize)> {
    let status_end = memchr(b'\n', bytes)? + 1;
    let (proto, status) = parse_status_line(trim_line_end(&bytes[..status_end])).ok()?;
    let mut facts = Facts::default();
    let mut at = status_end;
    let end = loop {
        let rest = &bytes[at..];
        let name_len = rest.iter().position(|&byte| !is_token_byte(byte))?;
        if rest[name_len] != b':' || name_len == 0 {
            match rest {
                [b'\r', b'\n', ..] => break at + 2,
                [b'\n', ..] => break at + 1,
                _ => return None,
            }
        }
        let after = &rest[name_len + 1..];
        let newline = memchr(b'\n', after)?;
        let line = &after[..newline];
        let value = line.strip_suffix(b"\r").unwrap_or(line);
        facts.note(&rest[..name_len], trim_ows(value));
        at += name_len + newline + 2;
    };
    let fields = &bytes[status_end..at];
    if has_odd_bytes(fields) {
        return None;
    }
    finish(&bytes[..at], status_end, proto, status, &facts, is_head_request).ok().map(|head| (head, end))
}

/// Whether field lines hold a control character, or a `\r` that does not end a line. Written without branches on single
/// bytes, so that it is vectorised.
fn has_odd_bytes(fields: &[u8]) -> bool {
    let mut odd = 0_u8;
    for &byte in fields {
        let control = byte < 0x20 && byte != b'\r' && byte != b'\n' && byte != b'\t';
        odd |= u8::from(control) | u8::from(byte == 0x7f);
    }
    // The last byte ends a line.
    for (&byte, &after) in fields.iter().zip(fields.get(1..).unwrap_or_default()) {
        odd |= u8::from(byte == b'\r') & u8::from(after != b'\n');
    }
    odd != 0
}

/// Parses a complete head, blank line included.
fn interpret(bytes: &[u8], is_head_request: bool) -> Result<Head, NetError> {
    let status_end = memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
    let status_line = trim_line_end(&bytes[..status_end]);
    let (proto, status) = parse_status_line(status_line).map_err(NetError::malformed)?;
    let mut facts = Facts::default();
    let mut folded = false;
    let mut at = status_end;
    while at < bytes.len() {
        let length = memchr(b'\n', &bytes[at..]).map_or(bytes.len() - at, |length| length + 1);
        let line = trim_line_end(&bytes[at..at + length]);
        if line.is_empty() {
            break;
        }
        if matches!(line[0], b' ' | b'\t') {
            if at == status_end {
                return Err(NetError::malformed(initial_line_text(line)));
            }
            folded = true;
            break;
        }
        let (name, value) = split_field(line).map_err(NetError::malformed)?;
        facts.note(name, value);
        at += length;
    }
    if folded {
        // Go judges a line before it joins what continues it: a name ends on its first line.
        for line in bytes[at..].split(|&byte| byte == b'\n').map(trim_line_end).take_while(|line| !line.is_empty()) {
            if !matches!(line[0], b' ' | b'\t') {
                check_field_line(line).map_err(NetError::malformed)?;
            }
        }
        let unfolded = unfold(bytes, status_end);
        return interpret(&unfolded, is_head_request);
    }
    finish(&bytes[..at], status_end, proto, status, &facts, is_head_request)
}

/// Draws the conclusions from a head's fields: Go's `readTransfer`.
fn finish(
    lines: &[u8],
    status_end: usize,
    proto: Proto,
    status: u16,
    facts: &Facts<'_>,
    is_head_request: bool,
) -> Result<Head, NetError> {
    let numbers = proto.numbers();
    let mut chunked = false;
    if facts.transfer_encodings > 0 && numbers >= (1, 1) {
        if facts.transfer_encodings > 1 {
            let all = quoted_list(lines, status_end, b"transfer-encoding");
            return Err(NetError::malformed(format!("too many transfer encodings: {all}")));
        }
        if !eq_lower(facts.transfer_encoding, b"chunked") {
            let name = go_quote(facts.transfer_encoding);
            return Err(NetError::malformed(format!("unsupported transfer encoding: {name}")));
        }
        chunked = true;
    }
    if facts.lengths_differ {
        let all = quoted_list(lines, status_end, b"content-length");
        return Err(NetError::malformed(format!(
            "http: message cannot contain multiple Content-Length headers; got {all}"
        )));
    }
    let length = facts.content_length.map(parse_length).transpose().map_err(NetError::malformed)?;
    let may_have_body = !is_head_request && !(100..200).contains(&status) && !matches!(status, 204 | 304);
    let framing = match (may_have_body, chunked, length) {
        (false, ..) => Framing::None,
        (true, true, _) => Framing::Chunked,
        (true, false, Some(0)) => Framing::None,
        (true, false, Some(length)) => Framing::Length(length),
        (true, false, None) => Framing::UntilClose,
    };
    if chunked && facts.has_trailer {
        check_trailer_names(lines, status_end)?;
    }
    let wants_close = if numbers.0 < 1 {
        true
    } else if numbers == (1, 0) {
        facts.says_close || !facts.says_keep_alive
    } else {
        facts.says_close
    };
    let block_facts = BlockFacts {
        transfer_encoding: facts.transfer_encodings > 0,
        content_length: chunked && may_have_body,
        repeated_length: facts.lengths > 1,
        connection: facts.says_close && numbers >= (1, 1),
        trailer: chunked && facts.has_trailer,
        adds_cache_control: facts.pragma_no_cache && !facts.has_cache_control,
        has_set_cookie: facts.has_set_cookie,
        has_content_encoding: facts.has_content_encoding,
    };
    Ok(Head {
        status,
        proto,
        keep_alive: !wants_close && framing != Framing::UntilClose && status > 199,
        framing,
        headers: HeaderBlock::new(lines, status_end, block_facts),
    })
}

/// What the fields that matter here say.
#[derive(Default)]
struct Facts<'a> {
    transfer_encodings: u32,
    transfer_encoding: &'a [u8],
    lengths: u32,
    content_length: Option<&'a [u8]>,
    lengths_differ: bool,
    says_close: bool,
    says_keep_alive: bool,
    has_trailer: bool,
    pragma_no_cache: bool,
    seen_pragma: bool,
    has_cache_control: bool,
    has_set_cookie: bool,
    has_content_encoding: bool,
}

impl<'a> Facts<'a> {
    #[inline]
    fn note(&mut self, name: &[u8], value: &'a [u8]) {
        match name.len() {
            6 if eq_lower(name, b"pragma") => {
                self.pragma_no_cache |= !self.seen_pragma && value == b"no-cache";
                self.seen_pragma = true;
            }
            7 if eq_lower(name, b"trailer") => self.has_trailer = true,
            10 if eq_lower(name, b"connection") => {
                for token in value.split(|&byte| byte == b',').map(trim_ows) {
                    self.says_close |= eq_lower(token, b"close");
                    self.says_keep_alive |= eq_lower(token, b"keep-alive");
                }
            }
            10 => self.has_set_cookie |= eq_lower(name, b"set-cookie"),
            13 if eq_lower(name, b"cache-control") => self.has_cache_control = true,
            14 if eq_lower(name, b"content-length") => {
                self.lengths += 1;
                match self.content_length {
                    None => self.content_length = Some(value),
                    Some(first) => self.lengths_differ |= first != value,
                }
            }
            16 => self.has_content_encoding |= eq_lower(name, b"content-encoding"),
            17 if eq_lower(name, b"transfer-encoding") => {
                self.transfer_encodings += 1;
                self.transfer_encoding = value;
            }
            _ => {}
        }
    }
}

/// Splits `HTTP/1.1 200 OK`.
fn parse_status_line(line: &[u8]) -> Result<(Proto, u16), String> {
    if let [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'1', b' ', a, b, c, rest @ ..] = line
        && a.is_ascii_digit()
        && b.is_ascii_digit()
        && c.is_ascii_digit()
        && matches!(rest, [] | [b' ', ..])
    {
        let digit = |byte: u8| u16::from(byte - b'0');
        return Ok((Proto::Http11, digit(*a) * 100 + digit(*b) * 10 + digit(*c)));
    }
    let Some(blank) = memchr(b' ', line) else {
        return Err(format!("malformed HTTP response {}", go_quote(line)));
    };
    let (version, status) = (&line[..blank], &line[blank + 1..]);
    let from = status.iter().position(|&byte| byte != b' ').unwrap_or(status.len());
    let code = status[from..].split(|&byte| byte == b' ').next().unwrap_or_default();
    let bad_code = || format!("malformed HTTP status code {}", go_quote(code));
    let number = match code {
        [_, _, _] => std::str::from_utf8(code).ok().and_then(|text| text.parse::<u16>().ok()),
        _ => None,
    };
    let number = number.ok_or_else(bad_code)?;
    let proto = match version {
        b"HTTP/1.1" => Proto::Http11,
        b"HTTP/1.0" => Proto::Http10,
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit() => {
            Proto::Other(major - b'0', minor - b'0')
        }
        _ => return Err(format!("malformed HTTP version {}", go_quote(version))),
    };
    Ok((proto, number))
}

/// Splits and checks `Name: value`; `line` has no line end.
#[inline]
fn split_field(line: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let Some(colon) = memchr(b':', line) else {
        return Err(format!("malformed MIME header: missing colon: {}", go_quote(line)));
    };
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    // k6: as Go, blanks in a name are let through (and such a name keeps its spelling).
    let name_is_fine = !name.is_empty() && name.iter().all(|&byte| is_token_byte(byte) || byte == b' ');
    if !name_is_fine || !is_value(value) {
        return Err(malformed_line_text(line, colon, name_is_fine));
    }
    Ok((name, trim_ows(value)))
}

/// Go's text for a bad line: the name in it has already been canonicalised.
fn malformed_line_text(line: &[u8], colon: usize, name_is_fine: bool) -> String {
    let line = trim_ows(line);
    let mut shown = line.to_vec();
    if name_is_fine && let Ok(name) = std::str::from_utf8(&line[..colon.min(line.len())]) {
        let canonical = crate::header::canonical_name(name);
        shown[..canonical.len()].copy_from_slice(canonical.as_bytes());
    }
    format!("malformed MIME header line: {}", go_quote(&shown))
}

fn initial_line_text(line: &[u8]) -> String {
    /// Go quotes no more of the line than this.
    const SHOWN_BYTES_MAX: usize = 80;
    format!("malformed MIME header initial line: {}", go_quote(&line[..line.len().min(SHOWN_BYTES_MAX)]))
}

/// Checks one complete field line (of a head or a trailer).
pub(super) fn check_field_line(line: &[u8]) -> Result<(), String> {
    split_field(line).map(|_| ())
}

/// Checks a line that may continue the one before it; `before` is everything up to it.
fn check_line_of_field(line: &[u8], before: &[u8]) -> Result<(), String> {
    if !matches!(line[0], b' ' | b'\t') {
        return check_field_line(line);
    }
    if memchr_iter(b'\n', before).nth(1).is_none() {
        return Err(initial_line_text(line));
    }
    Ok(())
}

/// Joins folded lines: line end and leading blanks become one space.
fn unfold(bytes: &[u8], status_end: usize) -> Vec<u8> {
    let mut out = bytes[..status_end].to_vec();
    let mut rest = &bytes[status_end..];
    while !rest.is_empty() {
        let length = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let line = trim_line_end(&rest[..length]);
        rest = &rest[length..];
        let continues = matches!(line.first(), Some(b' ' | b'\t'));
        if continues {
            // Back over the line end that was written for the line before.
            out.truncate(out.len() - 2);
            out.push(b' ');
        }
        out.extend_from_slice(trim_ows(line));
        out.extend_from_slice(b"\r\n");
        if line.is_empty() {
            break;
        }
    }
    out
}

fn trim_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn parse_length(value: &[u8]) -> Result<u64, String> {
    if value.is_empty() {
        return Err(format!("invalid empty Content-Length {}", go_quote(value)));
    }
    let bad = || format!("bad Content-Length {}", go_quote(value));
    if !value.iter().all(u8::is_ascii_digit) {
        return Err(bad());
    }
    let mut length = 0_u64;
    for &byte in value {
        length = length
            .checked_mul(10)
            .and_then(|length| length.checked_add(u64::from(byte - b'0')))
            .filter(|&length| length <= LENGTH_MAX)
            .ok_or_else(bad)?;
    }
    Ok(length)
}

/// Go parses lengths into a signed 64-bit number.
const LENGTH_MAX: u64 = i64::MAX as u64;

/// The values of a field as Go prints a string slice: `["5" "6"]`.
fn quoted_list(lines: &[u8], status_end: usize, name: &[u8]) -> String {
    let mut out = String::from("[");
    for line in lines[status_end..].split(|&byte| byte == b'\n') {
        if let Ok((other, value)) = split_field(trim_line_end(line))
            && eq_lower(other, name)
        {
            if out.len() > 1 {
                out.push(' ');
            }
            out.push_str(&go_quote(value));
        }
    }
    out.push(']');
    out
}

fn check_trailer_names(lines: &[u8], status_end: usize) -> Result<(), NetError> {
    for line in lines[status_end..].split(|&byte| byte == b'\n') {
        let Ok((name, value)) = split_field(trim_line_end(line)) else { continue };
        if !eq_lower(name, b"trailer") {
            continue;
        }
        for key in value.split(|&byte| byte == b',').map(trim_ows) {
            let bad: Option<&str> = match key.len() {
                17 if eq_lower(key, b"transfer-encoding") => Some("Transfer-Encoding"),
                7 if eq_lower(key, b"trailer") => Some("Trailer"),
                14 if eq_lower(key, b"content-length") => Some("Content-Length"),
                _ => None,
            };
            if let Some(bad) = bad {
                return Err(NetError::malformed(format!("bad trailer key \"{bad}\"")));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
