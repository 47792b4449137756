//! Splitting a URL into spans of its text and checking them, after Go's `net/url` rules.

use std::borrow::Cow;

use memchr::{memchr, memrchr};

use super::literal;
use crate::text::{self, go_quote};

/// A range of a URL's text. URLs are far shorter than 4 GiB: [`Parts::parse`] refuses longer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(super) const EMPTY: Self = Self { start: 0, end: 0 };

    fn new(start: usize, end: usize) -> Self {
        let fit = |at: usize| u32::try_from(at).expect("URL_BYTES_MAX keeps offsets within 32 bits");
        Self { start: fit(start), end: fit(end) }
    }

    pub(super) fn of(self, raw: &str) -> &str {
        &raw[self.start()..self.end()]
    }

    pub(super) fn start(self) -> usize {
        self.start as usize
    }

    pub(super) fn end(self) -> usize {
        self.end as usize
    }

    pub(super) fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// A URL's text is cut off here: k6 has no limit, servers refuse far shorter ones.
const URL_BYTES_MAX: usize = 64 << 20;

/// Where the parts of a URL are in its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parts {
    pub(super) scheme: Span,
    pub(super) userinfo: Option<Span>,
    /// `host[:port]` as written.
    pub(super) authority: Span,
    /// The host without port and brackets.
    pub(super) host: Span,
    /// The port's digits.
    pub(super) port: Span,
    pub(super) path: Span,
    pub(super) query: Option<Span>,
    pub(super) fragment: Span,
    pub(super) has_authority: bool,
    /// `scheme:rest` where the rest does not start with a slash.
    pub(super) opaque: bool,
    /// Host or path go on the wire in another form than written.
    pub(super) needs_rewrite: bool,
}

impl Parts {
    /// Splits and checks; the error is Go's full text.
    pub(super) fn parse(raw: &str) -> Result<Self, String> {
        if raw.len() > URL_BYTES_MAX {
            return Err(format!("parse: URL is longer than {URL_BYTES_MAX} bytes"));
        }
        let cut = memchr(b'#', raw.as_bytes());
        let main_end = cut.unwrap_or(raw.len());
        let fragment = Span::new(cut.map_or(raw.len(), |at| at + 1), raw.len());
        let main = &raw[..main_end];
        let mut parts = Self::parse_main(main).map_err(|reason| format!("parse {}: {reason}", go_quote(main)))?;
        parts.fragment = fragment;
        check_escapes(fragment.of(raw).as_bytes()).map_err(|reason| format!("parse {}: {reason}", go_quote(raw)))?;
        Ok(parts)
    }

    fn parse_main(main: &str) -> Result<Self, String> {
        let bytes = main.as_bytes();
        if bytes.iter().any(|&byte| byte < 0x20 || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let scheme_len = scheme_len(bytes)?;
        let rest_start = if scheme_len == 0 { 0 } else { scheme_len + 1 };
        let question = memchr(b'?', &bytes[rest_start..]).map(|at| at + rest_start);
        let rest_end = question.unwrap_or(main.len());
        let mut parts = Self {
            scheme: Span::new(0, scheme_len),
            userinfo: None,
            authority: Span::EMPTY,
            host: Span::EMPTY,
            port: Span::EMPTY,
            path: Span::new(rest_start, rest_end),
            query: question.map(|at| Span::new(at + 1, main.len())),
            fragment: Span::EMPTY,
            has_authority: false,
            opaque: false,
            needs_rewrite: false,
        };
        let rest = &main[rest_start..rest_end];
        if !rest.starts_with('/') {
            if scheme_len > 0 {
                parts.opaque = true;
                return Ok(parts);
            }
            if rest.split('/').next().unwrap_or_default().contains(':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        if rest.starts_with("//") && (scheme_len > 0 || !rest.starts_with("///")) {
            let start = rest_start + 2;
            let end = memchr(b'/', &bytes[start..rest_end]).map_or(rest_end, |at| start + at);
            parts.has_authority = true;
            parts.path = Span::new(end, rest_end);
            parts.take_authority(main, start, end)?;
        }
        let path = parts.path.of(main).as_bytes();
        check_escapes(path)?;
        parts.needs_rewrite |= !path.iter().all(|&byte| text::is(byte, text::PATH));
        Ok(parts)
    }

    /// Splits `[userinfo@]host[:port]` at `start..end` of `main`.
    fn take_authority(&mut self, main: &str, start: usize, end: usize) -> Result<(), String> {
        let host_start = match memrchr(b'@', &main.as_bytes()[start..end]) {
            None => start,
            Some(at) => {
                let userinfo = Span::new(start, start + at);
                self.userinfo = Some(userinfo);
                start + at + 1
            }
        };
        self.authority = Span::new(host_start, end);
        self.take_host(main, host_start, end)?;
        if let Some(userinfo) = self.userinfo {
            let bytes = userinfo.of(main).as_bytes();
            if !bytes.iter().all(|&byte| text::is(byte, text::USERINFO)) {
                return Err("net/url: invalid userinfo".to_owned());
            }
            check_escapes(bytes)?;
        }
        Ok(())
    }

    fn take_host(&mut self, main: &str, start: usize, end: usize) -> Result<(), String> {
        let text = &main[start..end];
        match memrchr(b'[', text.as_bytes()) {
            Some(0) => {
                let close = text.rfind(']').ok_or_else(|| "missing ']' in host".to_owned())?;
                self.host = Span::new(start + 1, start + close);
                self.port = take_port(main, start + close + 1, end)?;
                let written = self.host.of(main);
                let (address, zone) = written.split_at(written.find("%25").unwrap_or(written.len()));
                check_host(address.as_bytes())?;
                check_escapes(zone.as_bytes())?;
                literal::check(&String::from_utf8_lossy(&unescape(written.as_bytes())))?;
                self.needs_rewrite |= !zone.is_empty();
                Ok(())
            }
            Some(_) => Err("invalid IP-literal".to_owned()),
            None => {
                // k6: what stands before the last colon is the host, even if it has colons of its own.
                let colon = memrchr(b':', text.as_bytes()).map_or(end, |at| start + at);
                self.host = Span::new(start, colon);
                self.port = take_port(main, colon, end)?;
                let host = self.host.of(main).as_bytes();
                check_host(host)?;
                self.needs_rewrite |= host.iter().any(|&byte| byte >= 0x80 || byte == b'%');
                Ok(())
            }
        }
    }
}

/// The length of the scheme before its colon; 0 when there is none.
fn scheme_len(bytes: &[u8]) -> Result<usize, String> {
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok(at),
            _ => return Ok(0),
        }
    }
    Ok(0)
}

/// Takes `:digits` (or nothing) at `start..end`.
fn take_port(main: &str, start: usize, end: usize) -> Result<Span, String> {
    let text = &main[start..end];
    if text.is_empty() {
        return Ok(Span::new(start, start));
    }
    match text.strip_prefix(':') {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Span::new(start + 1, end)),
        _ => Err(format!("invalid port {} after host", go_quote(text))),
    }
}

/// Checks that every `%` starts a two-digit escape.
fn check_escapes(bytes: &[u8]) -> Result<(), String> {
    let mut at = 0;
    while let Some(found) = memchr(b'%', &bytes[at..]) {
        at += found;
        if escape_at(bytes, at).is_none() {
            return Err(bad_escape(&bytes[at..]));
        }
        at += 3;
    }
    Ok(())
}

/// Checks a reg-name: allowed characters, escapes for non-ASCII bytes only.
fn check_host(host: &[u8]) -> Result<(), String> {
    let mut at = 0;
    while at < host.len() {
        let byte = host[at];
        if byte == b'%' {
            match escape_at(host, at) {
                Some(decoded) if decoded >= 0x80 => at += 3,
                _ => return Err(bad_escape(&host[at..])),
            }
            continue;
        }
        if byte < 0x80 && !text::is(byte, text::HOST) {
            return Err(format!("invalid character {} in host name", go_quote([byte])));
        }
        at += 1;
    }
    Ok(())
}

fn bad_escape(bytes: &[u8]) -> String {
    format!("invalid URL escape {}", go_quote(&bytes[..bytes.len().min(3)]))
}

/// The byte that the escape at `at` stands for.
fn escape_at(bytes: &[u8], at: usize) -> Option<u8> {
    let high = char::from(*bytes.get(at + 1)?).to_digit(16)?;
    let low = char::from(*bytes.get(at + 2)?).to_digit(16)?;
    u8::try_from(high * 16 + low).ok()
}

/// Decodes percent escapes; bytes that are not part of one stay.
pub fn unescape(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.contains(&b'%') {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%'
            && let Some(decoded) = escape_at(bytes, at)
        {
            out.push(decoded);
            at += 3;
            continue;
        }
        out.push(bytes[at]);
        at += 1;
    }
    Cow::Owned(out)
}

/// Go's `EscapedPath`: the written path when it is a valid encoding, else the decoded path encoded anew.
pub(super) fn escaped_path(path: &str) -> Cow<'_, str> {
    if path.bytes().all(|byte| text::is(byte, text::PATH)) {
        return Cow::Borrowed(path);
    }
    let decoded = unescape(path.as_bytes());
    let mut out = String::with_capacity(decoded.len() * 2);
    for &byte in decoded.iter() {
        let kept = byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@".contains(&byte);
        if kept {
            out.push(char::from(byte));
        } else {
            push_escape(&mut out, byte);
        }
    }
    Cow::Owned(out)
}

/// Appends a host the way Go prints one: non-ASCII bytes as escapes.
pub(super) fn escape_host(host: &str, out: &mut String) {
    for letter in host.chars() {
        if letter.is_ascii() {
            out.push(letter);
        } else {
            let mut utf8 = [0_u8; 4];
            for &byte in letter.encode_utf8(&mut utf8).as_bytes() {
                push_escape(out, byte);
            }
        }
    }
}

fn push_escape(out: &mut String, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(HEX[usize::from(byte >> 4)]));
    out.push(char::from(HEX[usize::from(byte & 15)]));
}

/// The ASCII form of a host: escapes decoded, international names in punycode.
pub(super) fn ascii_host(host: &str) -> String {
    let decoded = String::from_utf8_lossy(&unescape(host.as_bytes())).into_owned();
    if decoded.is_ascii() {
        return decoded;
    }
    match url::Host::parse(&decoded) {
        Ok(ascii) => ascii.to_string(),
        // Go ignores this failure too; the resolver then says that there is no such host.
        Err(_) => decoded,
    }
}

/// Removes dot segments from `reference` laid over `base`, as Go's `resolvePath` does.
pub(super) fn resolve_path(base: &str, reference: &str) -> String {
    let full: Cow<'_, str> = if reference.is_empty() {
        Cow::Borrowed(base)
    } else if reference.starts_with('/') {
        Cow::Borrowed(reference)
    } else {
        let directory = base.rfind('/').map_or("", |at| &base[..=at]);
        Cow::Owned(format!("{directory}{reference}"))
    };
    if full.is_empty() {
        return String::new();
    }
    let mut out = String::with_capacity(full.len() + 1);
    out.push('/');
    let mut first = true;
    let mut last = "";
    for segment in full.split('/') {
        last = segment;
        match segment {
            "." => first = false,
            ".." => {
                let keep = out[1..].rfind('/').map_or(1, |at| at + 1);
                out.truncate(keep);
                first = out.len() == 1;
            }
            _ => {
                if !first {
                    out.push('/');
                }
                out.push_str(segment);
                first = false;
            }
        }
    }
    if matches!(last, "." | "..") {
        out.push('/');
    }
    if out.as_bytes().get(1) == Some(&b'/') {
        out.remove(0);
    }
    out
}
