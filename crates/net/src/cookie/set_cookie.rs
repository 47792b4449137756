//! Parsing one `Set-Cookie` value, after Go's `http.ParseSetCookie`.

use super::date::parse_http_date;
use crate::text::trim_ows;

/// A cookie with all its attributes, as `Response.cookies` shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetCookie {
    /// The name, a token.
    pub name: String,
    /// The value without surrounding quotes.
    pub value: String,
    /// Whether the value came in quotes.
    pub quoted: bool,
    /// `Path`, empty when absent.
    pub path: String,
    /// `Domain` as written, empty when absent.
    pub domain: String,
    /// `Expires` in unix milliseconds.
    pub expires_ms: Option<i64>,
    /// `Max-Age` in seconds: 0 when absent, -1 when the cookie is to be deleted now.
    pub max_age: i64,
    /// `Secure`
    pub secure: bool,
    /// `HttpOnly`
    pub http_only: bool,
    /// `SameSite`
    pub same_site: SameSite,
}

/// The `SameSite` attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SameSite {
    /// Absent.
    #[default]
    Unset,
    /// Present with no value that is known.
    Default,
    /// `Lax`
    Lax,
    /// `Strict`
    Strict,
    /// `None`
    None,
}

impl SetCookie {
    /// Parses a header value; `None` when it is not a cookie.
    pub fn parse(line: &[u8]) -> Option<Self> {
        let mut attributes = trim_ows(line).split(|&byte| byte == b';');
        let pair = trim_ows(attributes.next()?);
        let equals = pair.iter().position(|&byte| byte == b'=')?;
        let name = trim_ows(&pair[..equals]);
        if name.is_empty() || !name.iter().all(|&byte| crate::header::is_token_byte(byte)) {
            return None;
        }
        let (value, quoted) = parse_value(&pair[equals + 1..], true)?;
        let mut cookie = Self { name: to_text(name), value, quoted, ..Self::default() };
        for attribute in attributes {
            cookie.take_attribute(trim_ows(attribute));
        }
        Some(cookie)
    }

    fn take_attribute(&mut self, attribute: &[u8]) {
        let (key, value) = match attribute.iter().position(|&byte| byte == b'=') {
            Some(equals) => (&attribute[..equals], &attribute[equals + 1..]),
            None => (attribute, &b""[..]),
        };
        let Some((value, _)) = parse_value(value, false) else { return };
        match key.to_ascii_lowercase().as_slice() {
            b"samesite" => {
                self.same_site = match value.to_ascii_lowercase().as_str() {
                    "lax" => SameSite::Lax,
                    "strict" => SameSite::Strict,
                    "none" => SameSite::None,
                    _ => SameSite::Default,
                }
            }
            b"secure" => self.secure = true,
            b"httponly" => self.http_only = true,
            b"domain" => self.domain = value,
            b"max-age" => self.take_max_age(&value),
            b"expires" => self.expires_ms = parse_http_date(&value),
            b"path" => self.path = value,
            _ => {}
        }
    }

    fn take_max_age(&mut self, value: &str) {
        if let Ok(seconds) = value.parse::<i64>()
            && (seconds == 0 || !value.starts_with('0'))
        {
            self.max_age = if seconds <= 0 { -1 } else { seconds };
        }
    }
}

/// The value without its quotes (when `may_be_quoted`); `None` when a byte is not allowed.
fn parse_value(mut raw: &[u8], may_be_quoted: bool) -> Option<(String, bool)> {
    let mut quoted = false;
    if may_be_quoted && let [b'"', inner @ .., b'"'] = raw {
        raw = inner;
        quoted = true;
    }
    raw.iter().all(|&byte| is_value_byte(byte)).then(|| (to_text(raw), quoted))
}

/// The bytes Go lets a cookie value contain. Spaces and commas are allowed, as browsers do.
pub(super) fn is_value_byte(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b';' | b'\\')
}

/// Bytes already checked to be ASCII.
fn to_text(bytes: &[u8]) -> String {
    bytes.iter().map(|&byte| char::from(byte)).collect()
}
