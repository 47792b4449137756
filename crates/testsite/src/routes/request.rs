//! A request as endpoints see it, and what they read from it.

use std::borrow::Cow;

use crate::{body::Body, clock::NANOS_PER_SEC, head::Head, link::Link, reply::Built};

/// Longest delay a request can ask for.
pub(super) const DELAY_SECONDS_MAX: f64 = 300.0;
/// Query or form fields looked at; further ones are ignored.
pub(super) const FIELDS_MAX: usize = 1000;

pub(super) const GET: &str = "GET, HEAD";
pub(super) const POST: &str = "POST";

/// A request with its body, as endpoints see it.
pub(crate) struct Request<'a> {
    pub(crate) head: &'a Head<'a>,
    pub(crate) body: Body<'a>,
    pub(crate) link: Link<'a>,
}

/// An endpoint's answer. `Err` is an answer too: the one that says what is wrong with the request.
pub(super) type Outcome = Result<Built, Box<Built>>;

impl Request<'_> {
    /// The request's scheme and authority, such as `http://localhost:8080`.
    pub(super) fn base(&self) -> String {
        let scheme = if self.link.tls.is_some() { "https" } else { "http" };
        let host = self.head.header_text("host").unwrap_or(Cow::Borrowed("localhost"));
        format!("{scheme}://{host}")
    }

    /// The request's whole address.
    pub(super) fn url(&self) -> String {
        let mut url = self.base();
        url.push_str(self.head.path);
        if !self.head.query.is_empty() {
            url.push('?');
            url.push_str(self.head.query);
        }
        url
    }
}

pub(super) fn not_found() -> Box<Built> {
    Box::new(Built::explained(404, "there is nothing at this path"))
}

pub(super) fn bad_request(reason: &str) -> Box<Built> {
    Box::new(Built::explained(400, reason))
}

/// Checks the method; the error is the 405, or the answer to OPTIONS.
pub(super) fn allow(head: &Head<'_>, allowed: &str) -> Result<(), Box<Built>> {
    if allowed.split(", ").any(|method| method == head.method) {
        return Ok(());
    }
    let built = match head.method {
        "OPTIONS" => Built::empty(204),
        _ => Built::explained(405, "this path does not take that method"),
    };
    Err(Box::new(built.with("Allow", &format!("{allowed}, OPTIONS"))))
}

pub(super) fn seconds_ns(text: &str) -> Result<u64, Box<Built>> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=DELAY_SECONDS_MAX).contains(&seconds) => Ok((seconds * NANOS_PER_SEC as f64) as u64),
        _ => Err(bad_request("seconds must be a number between 0 and 300")),
    }
}

/// A decimal number without sign, for sizes in paths.
pub(super) fn parse_size(text: &str) -> Option<usize> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// The fields of a query or an urlencoded form.
pub(super) fn fields(text: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
    form_urlencoded::parse(text).take(FIELDS_MAX)
}

/// The first query field of that name.
pub(super) fn field<'a>(query: &'a str, name: &str) -> Option<Cow<'a, str>> {
    fields(query.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value)
}

/// A query field that is a number; the default when it is missing.
pub(super) fn number_field(query: &str, name: &str, default: u64) -> Result<u64, Box<Built>> {
    match field(query, name) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| bad_request(&format!("{name} must be a whole number"))),
    }
}

/// Decodes percent escapes in a path. Unlike in a query, `+` is a plus sign.
pub(super) fn decode(segment: &str) -> String {
    if !segment.contains('%') {
        return segment.to_owned();
    }
    let mut bytes = segment.bytes();
    let mut decoded = Vec::with_capacity(segment.len());
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| (byte as char).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                bytes = ahead;
            }
            _ => decoded.push(byte),
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_decoded() {
        assert_eq!(decode("a+b%20c%2Fd"), "a+b c/d");
        assert_eq!(decode("100%"), "100%");
        assert_eq!(decode("%zz%4"), "%zz%4");
        assert_eq!(decode("%ff"), "\u{fffd}");
    }

    #[test]
    fn sizes_are_plain_numbers() {
        assert_eq!(parse_size("100"), Some(100));
        for bad in ["", "+1", "-1", "1.0", "99999999999999999999999", "1/2"] {
            assert_eq!(parse_size(bad), None, "{bad}");
        }
    }
}
