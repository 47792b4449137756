//! Header fields: Go's canonical names, the headers of a request, the header block of a response.
//!
//! A response's block keeps the bytes the server sent in one allocation and looks fields up when they are asked for:
//! most responses of a load test have their status read and nothing else.

use std::{borrow::Cow, collections::HashMap, rc::Rc};

use crate::{
    error::NetError,
    text::{self, eq_lower, go_quote, trim_ows},
};

/// Go's `textproto.CanonicalMIMEHeaderKey`: `content-type` becomes `Content-Type`. A name that is no token is returned
/// as it is.
pub fn canonical_name(name: &str) -> Cow<'_, str> {
    let is_canonical = |bytes: &[u8]| {
        let mut upper = true;
        bytes.iter().all(|&byte| {
            let fits = if upper { !byte.is_ascii_lowercase() } else { !byte.is_ascii_uppercase() };
            upper = byte == b'-';
            fits
        })
    };
    if is_canonical(name.as_bytes()) || !name.bytes().all(is_token_byte) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(cased(name).collect())
}

/// The letters of a token as Go spells it.
fn cased(name: &str) -> impl Iterator<Item = char> {
    let mut upper = true;
    name.chars().map(move |letter| {
        let cased = if upper { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
        upper = letter == '-';
        cased
    })
}

/// Appends [`canonical_name`]; whether it is a token.
fn push_canonical(out: &mut String, name: &str) -> bool {
    // The classes that all bytes have, and those that a byte has in a place for the other case.
    let (mut all, mut wrong, mut upper) = (u8::MAX, 0, true);
    for byte in name.bytes() {
        let class = text::class_of(byte);
        all &= class;
        wrong |= class & if upper { text::LOWER } else { text::UPPER };
        upper = byte == b'-';
    }
    let (is_token, is_canonical) = (all & text::TOKEN != 0, wrong == 0);
    let start = out.len();
    out.push_str(name);
    if is_token && !is_canonical {
        let added = &mut out[start..];
        added.make_ascii_lowercase();
        let mut upper = true;
        for (at, byte) in name.bytes().enumerate() {
            if upper {
                added[at..=at].make_ascii_uppercase();
            }
            upper = byte == b'-';
        }
    }
    is_token
}

/// Whether a byte may be part of a header name or a method (RFC 9110 `tchar`).
pub fn is_token_byte(byte: u8) -> bool {
    text::is(byte, text::TOKEN)
}

/// Whether a byte may be part of a header value.
pub fn is_value_byte(byte: u8) -> bool {
    byte >= 0x20 && byte != 0x7f || byte == b'\t'
}

/// Whether all of it may be a header value. Every request asks this of its agent, so eight bytes are looked at a time.
pub(crate) fn is_value(value: &[u8]) -> bool {
    const ONES: u64 = u64::MAX / 0xff;
    const HIGH: u64 = ONES * 0x80;

    let (words, rest) = value.as_chunks();
    // A byte's high bit says that it is below 0x20, or a DEL: the tests "has a byte less than n" and "has a zero byte" of
    // Anderson's "Bit Twiddling Hacks". They may borrow from the byte beside it only where there is one to be found.
    let is_odd = |word: u64| {
        let deleted = word ^ (ONES * 0x7f);
        ((word.wrapping_sub(ONES * 0x20) & !word) | (deleted.wrapping_sub(ONES) & !deleted)) & HIGH != 0
    };
    let may_be = |bytes: &[u8]| bytes.iter().all(|&byte| is_value_byte(byte));
    words.iter().all(|word| !is_odd(u64::from_ne_bytes(*word)) || may_be(word)) && may_be(rest)
}

/// Refuses a value that must not be in a header.
///
/// # Errors
/// Code 1000 with Go's text, `net/http: invalid header field value for "…"`.
pub fn check_value(name: &str, value: &str) -> Result<(), NetError> {
    if is_value(value.as_bytes()) {
        return Ok(());
    }
    Err(NetError::generic(format!("net/http: invalid header field value for {}", go_quote(name.as_bytes()))))
}

/// The headers of a request under Go's rules: canonical names, sent in the order of their names.
///
/// `Host`, `User-Agent`, `Content-Length`, `Transfer-Encoding` and `Trailer` may be set and read but are
/// not written: the request itself decides about them (see [`crate::http1::Request`]).
#[derive(Clone, Default)]
pub struct RequestHeaders {
    /// A line for each field, in the order they were added, also of those that have been replaced since: every request has
    /// headers of its own, so they are few allocations.
    text: String,
    /// Sorted by name; equal names in the order they were added.
    fields: Vec<Field>,
    /// What [`RequestHeaders::write`] writes, where it was made in advance.
    lines: Option<Box<[u8]>>,
}

/// Where a field is in the text, and what is to be known of it when it is written.
#[derive(Clone, Copy)]
struct Field {
    /// The line.
    start: usize,
    name_end: usize,
    end: usize,
    is_name_valid: bool,
    is_value_valid: bool,
    /// The line is written as it is.
    is_plain: bool,
}

impl Field {
    fn name(self, text: &str) -> &str {
        &text[self.start..self.name_end]
    }

    fn value(self, text: &str) -> &str {
        &text[self.name_end + BETWEEN.len()..self.end - LINE_END.len()]
    }
}

const BETWEEN: &str = ": ";
const LINE_END: &str = "\r\n";

/// Room for the headers of most requests.
const TEXT_BYTES_USUAL: usize = 128;

impl RequestHeaders {
    /// No headers.
    pub const fn new() -> Self {
        Self { text: String::new(), fields: Vec::new(), lines: None }
    }

    /// Replaces a header.
    pub fn set(&mut self, name: &str, value: &str) {
        let field = self.append(name, value);
        let Self { text, fields, .. } = self;
        let name = field.name(text);
        // They are in the order of their names.
        let from = fields.partition_point(|other| other.name(text) < name);
        let same = fields[from..].iter().take_while(|other| other.name(text) == name).count();
        if same == 0 {
            fields.insert(from, field);
        } else {
            fields[from] = field;
            fields.drain(from + 1..from + same);
        }
    }

    /// Adds a value, keeping those there are.
    pub fn add(&mut self, name: &str, value: &str) {
        let field = self.append(name, value);
        self.insert(field);
    }

    /// Removes a header.
    pub fn remove(&mut self, name: &str) {
        let name = canonical_name(name);
        let Self { text, fields, lines } = self;
        fields.retain(|other| other.name(text) != &*name);
        *lines = None;
    }

    /// The first value of a header.
    pub fn get(&self, name: &str) -> Option<&str> {
        let name = canonical_name(name);
        self.iter().find(|(other, _)| *other == &*name).map(|(_, value)| value)
    }

    /// All headers, in the order they are sent.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|field| (field.name(&self.text), field.value(&self.text)))
    }

    /// Whether there are no headers.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Checks names and values: nothing that could end a line passes.
    ///
    /// # Errors
    /// Code 1000, `net/http: invalid header field name "…"` or `… field value for "…"`.
    pub fn validate(&self) -> Result<(), NetError> {
        let Some(field) = self.fields.iter().find(|field| !field.is_name_valid || !field.is_value_valid) else {
            return Ok(());
        };
        let name = go_quote(field.name(&self.text).as_bytes());
        Err(NetError::generic(if field.is_name_valid {
            format!("net/http: invalid header field value for {name}")
        } else {
            format!("net/http: invalid header field name {name}")
        }))
    }

    /// Appends the lines of a request head, each ending in `\r\n`. Fields that do not pass
    /// [`RequestHeaders::validate`] are left out, so that no caller can inject a line.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.reserve(self.text.len());
        for field in &self.fields {
            if field.is_plain {
                out.extend_from_slice(&self.text.as_bytes()[field.start..field.end]);
                continue;
            }
            let (name, value) = (field.name(&self.text), field.value(&self.text));
            if WRITTEN_BY_THE_REQUEST.contains(&name) || !field.is_name_valid || !field.is_value_valid {
                continue;
            }
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(BETWEEN.as_bytes());
            out.extend_from_slice(trim_ows(value.as_bytes()));
            out.extend_from_slice(LINE_END.as_bytes());
        }
    }

    /// Makes the lines in advance, for headers that many requests send.
    pub fn prepare_lines(&mut self) {
        let mut lines = Vec::new();
        self.write(&mut lines);
        self.lines = Some(lines.into());
    }

    /// What [`RequestHeaders::write`] writes, where [`RequestHeaders::prepare_lines`] has made it and nothing has changed
    /// since.
    pub fn lines(&self) -> Option<&[u8]> {
        self.lines.as_deref()
    }

    /// Adds a field to the text alone.
    fn append(&mut self, name: &str, value: &str) -> Field {
        self.lines = None;
        let text = &mut self.text;
        if text.is_empty() {
            text.reserve(TEXT_BYTES_USUAL.max(name.len() + value.len() + BETWEEN.len() + LINE_END.len()));
        }
        let start = text.len();
        let is_name_valid = !name.is_empty() & push_canonical(text, name);
        let name_end = text.len();
        text.push_str(BETWEEN);
        text.push_str(value);
        text.push_str(LINE_END);
        let is_value_valid = is_value(value.as_bytes());
        let is_plain = is_name_valid
            && is_value_valid
            && trim_ows(value.as_bytes()).len() == value.len()
            && !WRITTEN_BY_THE_REQUEST.contains(&&text[start..name_end]);
        Field { start, name_end, end: text.len(), is_name_valid, is_value_valid, is_plain }
    }

    /// Puts a field of the text in its place.
    fn insert(&mut self, field: Field) {
        let Self { text, fields, .. } = self;
        let at = fields.partition_point(|other| other.name(text) <= field.name(text));
        fields.insert(at, field);
    }
}

impl PartialEq for RequestHeaders {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for RequestHeaders {}

impl std::fmt::Debug for RequestHeaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

const WRITTEN_BY_THE_REQUEST: [&str; 5] = ["Host", "User-Agent", "Content-Length", "Transfer-Encoding", "Trailer"];
/// More names than responses of servers in their right mind have.
const NAMES_LOOKED_THROUGH_MAX: usize = 64;

/// The status line and header fields of a response, as received, in one allocation.
#[derive(Clone, Default)]
pub struct HeaderBlock {
    /// Complete lines without the blank line at the end; folded lines are already joined. Shared by responses with the
    /// same head.
    bytes: Rc<[u8]>,
    /// Where the fields start: after the status line.
    fields_at: u32,
    facts: Facts,
}

/// What the parser found out about a block: fields that Go takes out of the map it shows (or adds to it) because it has
/// acted on them, and fields that are asked for all the time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// `Transfer-Encoding` was present.
    pub(crate) transfer_encoding: bool,
    /// `Content-Length` is void: the body is chunked.
    pub(crate) content_length: bool,
    /// Only the first of several equal `Content-Length` fields is shown.
    pub(crate) repeated_length: bool,
    /// `Connection: close` of an HTTP/1.1 response.
    pub(crate) connection: bool,
    /// `Trailer` of a chunked response.
    pub(crate) trailer: bool,
    /// `Pragma: no-cache` without `Cache-Control` shows as `Cache-Control: no-cache` too.
    pub(crate) adds_cache_control: bool,
    /// There is a `Set-Cookie`: the request path asks this for every response.
    pub(crate) has_set_cookie: bool,
    /// There is a `Content-Encoding`.
    pub(crate) has_content_encoding: bool,
}

impl HeaderBlock {
    /// Copies a head: the status line and the field lines, without the closing blank line. The bytes must have passed
    /// the response parser.
    pub(crate) fn new(bytes: &[u8], fields_at: usize, facts: Facts) -> Self {
        let fields_at = u32::try_from(fields_at).unwrap_or(u32::MAX);
        Self { bytes: bytes.into(), fields_at, facts }
    }

    /// Whether a response that starts with `input` has this very head, and the head ends there: how long it is then,
    /// blank line included.
    pub(crate) fn repeats(&self, input: &[u8]) -> Option<usize> {
        let length = self.bytes.len();
        if self.bytes.is_empty() || !input.starts_with(&self.bytes) {
            return None;
        }
        match &input[length..] {
            [b'\r', b'\n', ..] => Some(length + 2),
            [b'\n', ..] => Some(length + 1),
            _ => None,
        }
    }

    /// Whether both have the very same bytes in memory.
    #[cfg(test)]
    pub(crate) fn shares_bytes(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// The status after the version, as received: `200 OK`.
    pub fn status_text(&self) -> Cow<'_, str> {
        let end = (self.fields_at as usize).min(self.bytes.len());
        let line = trim_line(&self.bytes[..end]);
        let status = line.iter().position(|&byte| byte == b' ').map_or(&b""[..], |at| &line[at + 1..]);
        let from = status.iter().position(|&byte| byte != b' ').unwrap_or(status.len());
        String::from_utf8_lossy(&status[from..])
    }

    /// The reason phrase: the status text without its code.
    pub fn reason(&self) -> String {
        let status = self.status_text();
        status.split_once(' ').map_or(String::new(), |(_, reason)| reason.to_owned())
    }

    /// The fields as received: names in the server's spelling, values trimmed. Fields that Go consumes
    /// (`Transfer-Encoding` and such) are left out.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut lengths_seen = 0;
        let added = self.facts.adds_cache_control.then_some((&b"Cache-Control"[..], &b"no-cache"[..]));
        self.raw_fields().filter(move |(name, _)| !self.facts.hides(name, &mut lengths_seen)).chain(added)
    }

    /// The first value of a field, found whatever the case of its name.
    pub fn get(&self, name: &str) -> Option<&[u8]> {
        let found = self.iter().find(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()));
        found.map(|(_, value)| value)
    }

    /// All values of a field.
    pub fn get_all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }

    /// The fields as Go's map shows them, in the order of first appearance: canonical names, the values of equal names
    /// joined with `", "`.
    pub fn joined(&self) -> Vec<(String, String)> {
        let mut joined: Vec<(String, String)> = Vec::new();
        // Where there are so many names that looking through them all for each would take time.
        let mut places: HashMap<String, usize> = HashMap::new();
        for (name, value) in self.iter() {
            let name = String::from_utf8_lossy(name);
            let name = canonical_name(&name);
            let value = String::from_utf8_lossy(value);
            let place = match joined.len() {
                0..NAMES_LOOKED_THROUGH_MAX => joined.iter().position(|(other, _)| *other == name),
                count => {
                    if places.is_empty() {
                        places.extend(joined.iter().enumerate().map(|(place, (name, _))| (name.clone(), place)));
                    }
                    let place = *places.entry(name.to_string()).or_insert(count);
                    (place < count).then_some(place)
                }
            };
            match place.and_then(|place| joined.get_mut(place)) {
                Some((_, values)) => {
                    values.push_str(", ");
                    values.push_str(&value);
                }
                None => joined.push((name.into_owned(), value.into_owned())),
            }
        }
        joined
    }

    /// Whether there is a `Set-Cookie` field. No search.
    pub fn has_set_cookie(&self) -> bool {
        self.facts.has_set_cookie
    }

    /// The `Content-Encoding`, several joined by commas. No search when there is none.
    pub fn content_encoding(&self) -> Option<Vec<u8>> {
        if !self.facts.has_content_encoding {
            return None;
        }
        Some(self.get_all("content-encoding").collect::<Vec<_>>().join(&b", "[..]))
    }

    /// How many bytes the block holds.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether there is not even a status line.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All fields as received, those included that [`HeaderBlock::iter`] leaves out.
    pub fn raw_fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let start = (self.fields_at as usize).min(self.bytes.len());
        self.bytes[start..].split(|&byte| byte == b'\n').filter_map(|line| {
            let line = trim_line(line);
            let colon = line.iter().position(|&byte| byte == b':')?;
            Some((&line[..colon], trim_ows(&line[colon + 1..])))
        })
    }
}

impl std::fmt::Debug for HeaderBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HeaderBlock").field(&String::from_utf8_lossy(&self.bytes)).finish()
    }
}

impl Facts {
    fn hides(self, name: &[u8], lengths_seen: &mut u32) -> bool {
        match name.len() {
            17 if self.transfer_encoding => eq_lower(name, b"transfer-encoding"),
            14 if eq_lower(name, b"content-length") => {
                *lengths_seen += 1;
                self.content_length || self.repeated_length && *lengths_seen > 1
            }
            10 if self.connection => eq_lower(name, b"connection"),
            7 if self.trailer => eq_lower(name, b"trailer"),
            _ => false,
        }
    }
}

fn trim_line(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn canonical_names_are_gos() {
        let check = |name: &str, expect: &str| assert_eq!(canonical_name(name), expect);
        check("content-type", "Content-Type");
        check("CONTENT-TYPE", "Content-Type");
        check("X-Foo", "X-Foo");
        check("eTAG", "Etag");
        check("x-é", "x-é");
        check("a b", "a b");
        check("-a-", "-A-");
        check("", "");
    }

    #[test]
    fn request_headers_are_sorted_and_canonical() {
        let mut headers = RequestHeaders::new();
        for (name, value) in [("zeta", "1"), ("Alpha", " 2 "), ("x-foo", "a"), ("User-Agent", "u"), ("host", "h")] {
            headers.set(name, value);
        }
        headers.set("X-FOO", "b");
        headers.add("alpha", "3");
        let mut out = Vec::new();
        headers.write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "Alpha: 2\r\nAlpha: 3\r\nX-Foo: b\r\nZeta: 1\r\n");
        assert_eq!(headers.get("HOST"), Some("h"));
        headers.remove("ZETA");
        assert_eq!(headers.get("zeta"), None);
    }

    #[test]
    fn injection_is_refused() {
        let check = |name: &str, value: &str, expect: &str| {
            let mut headers = RequestHeaders::new();
            headers.set(name, value);
            let error = headers.validate().unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (1000, expect));
            let mut out = Vec::new();
            headers.write(&mut out);
            assert!(out.is_empty());
        };
        check("x-foo", "a\r\nb: c", "net/http: invalid header field value for \"X-Foo\"");
        check("x bad", "1", "net/http: invalid header field name \"x bad\"");
        check("a\r\nb", "1", "net/http: invalid header field name \"a\\r\\nb\"");
    }

    #[test]
    fn blocks_show_what_go_shows() {
        let head = b"HTTP/1.1  200  OK \r\nx-low: a\r\nX-Low:b\t\r\nbad name: x\r\n";
        let block = HeaderBlock::new(head, 20, Facts::default());
        assert_eq!(block.status_text(), "200  OK ");
        assert_eq!(block.get("X-LOW"), Some(&b"a"[..]));
        let joined: Vec<_> = block.joined();
        assert_eq!(joined, [("X-Low".to_owned(), "a, b".to_owned()), ("bad name".to_owned(), "x".to_owned())]);
    }

    #[test]
    fn many_names_take_no_square_time() {
        let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
        for number in (0..200_000).chain(0..200_000) {
            head.extend_from_slice(format!("x{number}: {number}\r\n").as_bytes());
        }
        let joined = HeaderBlock::new(&head, 17, Facts::default()).joined();
        assert_eq!(joined.len(), 200_000);
        for (number, field) in joined.into_iter().enumerate() {
            assert_eq!(field, (format!("X{number}"), format!("{number}, {number}")));
        }
    }

    #[test]
    fn consumed_fields_are_hidden() {
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\nTrailer: x\r\nConnection: close\r\nPragma: no-cache\r\n";
        let facts = Facts {
            transfer_encoding: true,
            content_length: true,
            repeated_length: false,
            connection: true,
            trailer: true,
            adds_cache_control: true,
            ..Facts::default()
        };
        let joined = HeaderBlock::new(head, 17, facts).joined();
        assert_eq!(
            joined,
            [("Pragma".to_owned(), "no-cache".to_owned()), ("Cache-Control".to_owned(), "no-cache".to_owned())]
        );
    }

    proptest! {
        #[test]
        fn canonicalising_twice_changes_nothing(name in "[a-zA-Z0-9 é-]{0,20}") {
            let once = canonical_name(&name).into_owned();
            prop_assert_eq!(canonical_name(&once), &*once);
        }

        #[test]
        fn values_are_judged_as_their_bytes_are(value in proptest::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\t'), Just(0x1f), Just(0x20), Just(0x7e), Just(0x7f), Just(0x80)], 0..40,
        )) {
            prop_assert_eq!(is_value(&value), value.iter().all(|&byte| is_value_byte(byte)));
        }

        #[test]
        fn requests_hold_canonical_names_and_values_as_given(name in "[a-zA-Z0-9 é-]{1,20}", value in "[ \\ta-z\r\né]{0,8}") {
            let mut headers = RequestHeaders::new();
            headers.set(&name, &value);
            let canonical = canonical_name(&name);
            prop_assert_eq!(headers.iter().collect::<Vec<_>>(), [(&*canonical, &*value)]);
            let is_valid = name.bytes().all(is_token_byte) && value.bytes().all(is_value_byte);
            prop_assert_eq!(headers.validate().is_ok(), is_valid);
            let mut lines = Vec::new();
            headers.write(&mut lines);
            let is_written = is_valid && !WRITTEN_BY_THE_REQUEST.contains(&&*canonical);
            let expect = if is_written { format!("{canonical}: {}\r\n", value.trim_matches([' ', '\t'])) } else { String::new() };
            headers.prepare_lines();
            prop_assert_eq!(headers.lines(), Some(&*lines));
            prop_assert_eq!(String::from_utf8(lines).expect("names and values are texts"), expect);
            for change in [RequestHeaders::set as fn(&mut RequestHeaders, &str, &str), RequestHeaders::add, |headers, name, _| headers.remove(name)] {
                headers.prepare_lines();
                change(&mut headers, &name, "other");
                prop_assert_eq!(headers.lines(), None);
            }
        }

        #[test]
        fn blocks_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100), at in 0_usize..120) {
            let block = HeaderBlock::new(&bytes, at, Facts::default());
            let _ = (block.status_text(), block.joined(), block.reason());
        }
    }
}
