//! Responses that are ready before anybody asks: the demo site's fixed pages and `/f/{n}`. Only their `Date` changes,
//! in place, once a second.

use bytes::Bytes;
use http::header::{DATE, HeaderMap, HeaderValue};

use crate::{
    clock::{DATE_BYTES, http_date},
    response_head::{HTML, TEXT, write_common, write_length, write_status},
    stats::Class,
};

/// Index of a ready response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StaticId(u16);

/// Bodies of `/f/{n}` up to this size are kept ready; larger ones are streamed.
pub(crate) const FIXED_BYTES_MAX: usize = 1024 * 1024;
/// Bytes and number of `/f/{n}` responses one thread keeps.
const FIXED_TOTAL_BYTES_MAX: usize = 8 * 1024 * 1024;
const FIXED_COUNT_MAX: usize = 256;
/// Number of `/encoded/…` responses one thread keeps, within the same bytes.
const ENCODED_COUNT_MAX: usize = 64;

struct Ready {
    class: Class,
    bytes: Vec<u8>,
    date_at: usize,
    body_at: usize,
    /// The same for HTTP/2, made when it is first asked for.
    http2: Option<(HeaderMap, Bytes)>,
}

/// One thread's ready responses.
pub(crate) struct Statics {
    ready: Vec<Ready>,
    fixed: Vec<(usize, StaticId)>,
    fixed_bytes: usize,
    encoded: Vec<(Box<str>, StaticId)>,
    date: [u8; DATE_BYTES],
    date_seconds: u64,
}

/// The front page's size is part of what load-test scripts check.
pub(crate) const FRONT: &[u8; 11_278] = include_bytes!("../assets/index.html");
/// So is the stylesheet's.
pub(crate) const STYLE: &[u8; 4_859] = include_bytes!("../assets/site.css");
const PRISMS: &[u8] = include_bytes!("../assets/prisms.js");
const LOGO: &[u8] = include_bytes!("../assets/logo.svg");

/// The fixed pages: path, content type, body. [`Statics::new`] numbers them in this order.
const PAGES: [(&str, &str, &[u8]); 5] = [
    ("/", HTML, FRONT),
    ("/static/css/site.css", "text/css; charset=utf-8", STYLE),
    ("/static/js/prisms.js", "text/javascript; charset=utf-8", PRISMS),
    ("/static/logo.svg", "image/svg+xml", LOGO),
    ("/healthz", TEXT, b"ok\n"),
];

/// Index of `/healthz` among the pages.
const HEALTH: u16 = 4;

impl Statics {
    pub(crate) fn new(wall_seconds: u64) -> Self {
        let mut statics = Self {
            ready: Vec::new(),
            fixed: Vec::new(),
            fixed_bytes: 0,
            encoded: Vec::new(),
            date: http_date(wall_seconds),
            date_seconds: wall_seconds,
        };
        for (path, content_type, body) in PAGES {
            let class = if path == "/healthz" { Class::Other } else { Class::Site };
            statics.add(class, content_type, "", body);
        }
        statics
    }

    /// The page of that path, if it is a fixed one.
    pub(crate) fn page(path: &str) -> Option<StaticId> {
        let index = PAGES.iter().position(|(page, _, _)| *page == path)?;
        u16::try_from(index).ok().map(StaticId)
    }

    /// The response of `/f/{bytes}`, made on first use; `None` when it is too large or too many sizes are kept already.
    pub(crate) fn fixed(&mut self, bytes: usize) -> Option<StaticId> {
        if let Some((_, id)) = self.fixed.iter().find(|(size, _)| *size == bytes) {
            return Some(*id);
        }
        let full = self.fixed.len() >= FIXED_COUNT_MAX || self.fixed_bytes + bytes > FIXED_TOTAL_BYTES_MAX;
        if bytes > FIXED_BYTES_MAX || full {
            return None;
        }
        let id = self.add(Class::Fixed, TEXT, "", &vec![b'x'; bytes]);
        self.fixed.push((bytes, id));
        self.fixed_bytes += bytes;
        Some(id)
    }

    /// The response of `/encoded/{name}`, if it is kept.
    pub(crate) fn encoded(&self, name: &str) -> Option<StaticId> {
        self.encoded.iter().find(|(kept, _)| **kept == *name).map(|(_, id)| *id)
    }

    /// Keeps a response of `/encoded/{name}`, if there is room.
    pub(crate) fn keep_encoded(&mut self, name: &str, codings: &str, body: &[u8]) {
        if self.encoded.len() < ENCODED_COUNT_MAX && self.fixed_bytes + body.len() <= FIXED_TOTAL_BYTES_MAX {
            let id = self.add(Class::Bytes, TEXT, codings, body);
            self.encoded.push((name.into(), id));
            self.fixed_bytes += body.len();
        }
    }

    /// `codings` is the `Content-Encoding`; empty for none.
    fn add(&mut self, class: Class, content_type: &str, codings: &str, body: &[u8]) -> StaticId {
        let mut bytes = Vec::with_capacity(256 + body.len());
        write_status(&mut bytes, 200);
        write_common(&mut bytes, &self.date);
        let date_at = bytes.len() - 2 - DATE_BYTES;
        bytes.extend_from_slice(format!("Content-Type: {content_type}\r\n").as_bytes());
        if !codings.is_empty() {
            bytes.extend_from_slice(format!("Content-Encoding: {codings}\r\n").as_bytes());
        }
        write_length(&mut bytes, body.len() as u64);
        bytes.extend_from_slice(b"\r\n");
        let body_at = bytes.len();
        bytes.extend_from_slice(body);
        let id = u16::try_from(self.ready.len()).expect("five pages and 320 kept responses fit 16 bits");
        self.ready.push(Ready { class, bytes, date_at, body_at, http2: None });
        StaticId(id)
    }

    /// Head and body, as they go on a wire of HTTP/1.1 that stays open.
    pub(crate) fn wire(&self, id: StaticId) -> &[u8] {
        &self.ready[usize::from(id.0)].bytes
    }

    pub(crate) fn parts(&self, id: StaticId) -> (&[u8], &[u8]) {
        let ready = &self.ready[usize::from(id.0)];
        ready.bytes.split_at(ready.body_at)
    }

    /// Head and body for HTTP/2, from `make` when they are not there yet.
    pub(crate) fn http2_entry(
        &mut self,
        id: StaticId,
        make: impl FnOnce(&[u8], &[u8]) -> (HeaderMap, Bytes),
    ) -> &(HeaderMap, Bytes) {
        let Ready { bytes, body_at, http2, .. } = &mut self.ready[usize::from(id.0)];
        http2.get_or_insert_with(|| {
            let (head, body) = bytes.split_at(*body_at);
            make(head, body)
        })
    }

    pub(crate) fn class(&self, id: StaticId) -> Class {
        self.ready[usize::from(id.0)].class
    }

    /// Whether delays apply to the response: they do not to `/healthz`.
    pub(crate) fn is_delayed(id: StaticId) -> bool {
        id.0 != HEALTH
    }

    /// The current `Date` value.
    pub(crate) fn date(&self) -> &[u8; DATE_BYTES] {
        &self.date
    }

    /// Moves every response to the current second.
    pub(crate) fn set_time(&mut self, wall_seconds: u64) {
        if wall_seconds == self.date_seconds {
            return;
        }
        self.date_seconds = wall_seconds;
        self.date = http_date(wall_seconds);
        for ready in &mut self.ready {
            ready.bytes[ready.date_at..ready.date_at + DATE_BYTES].copy_from_slice(&self.date);
            if let (Some((headers, _)), Ok(date)) = (&mut ready.http2, HeaderValue::from_bytes(&self.date)) {
                headers.insert(DATE, date);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_say_what_scripts_look_for() {
        let page = std::str::from_utf8(FRONT).unwrap();
        assert!(page.contains("Welcome to the k6.io demo site!"));
        assert!(page.ends_with("</html>\n"));
        assert!(STYLE.ends_with(b"\n"));
    }

    #[test]
    fn the_date_moves_in_place() {
        let mut statics = Statics::new(0);
        let id = statics.fixed(3).unwrap();
        let before = String::from_utf8(statics.wire(id).to_vec()).unwrap();
        statics.set_time(784_111_777);
        let after = String::from_utf8(statics.wire(id).to_vec()).unwrap();
        assert_eq!(after, before.replace("Thu, 01 Jan 1970 00:00:00 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"));
        assert!(after.ends_with("Content-Length: 3\r\n\r\nxxx"));
    }

    #[test]
    fn kept_sizes_are_limited() {
        let mut statics = Statics::new(0);
        assert_eq!(statics.fixed(FIXED_BYTES_MAX + 1), None);
        let kept = (0..10_000).filter(|size| statics.fixed(*size).is_some()).count();
        assert_eq!(kept, FIXED_COUNT_MAX);
        let mut statics = Statics::new(0);
        let large = (0..100).filter(|size| statics.fixed(FIXED_BYTES_MAX - size).is_some()).count();
        assert_eq!(large, 8);
    }
}
