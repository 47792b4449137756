//! A cookie jar after Go's `net/http/cookiejar`, without a public suffix list, as k6 uses it.
//!
//! Time is an argument (unix milliseconds); nothing here reads a clock. A jar without cookies is one empty `Vec`.

mod date;
mod set_cookie;

use std::net::IpAddr;

pub use date::parse_http_date;
pub use set_cookie::{SameSite, SetCookie};

use crate::url::{Scheme, Url};

/// More cookies than this in one jar push the oldest out. Browsers stop at about 3,000 in all.
pub const JAR_COOKIES_MAX: usize = 3_000;

/// The cookies of one VU (or of one `new http.CookieJar()`).
#[derive(Debug, Clone, Default)]
pub struct CookieJar {
    entries: Vec<Entry>,
    next_number: u64,
}

/// A cookie to be sent: borrowed from its jar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cookie<'a> {
    /// The name.
    pub name: &'a str,
    /// The value, without the quotes it may have been set with.
    pub value: &'a str,
    /// Whether the value is sent in quotes.
    pub quoted: bool,
}

#[derive(Debug, Clone)]
struct Entry {
    name: Box<str>,
    value: Box<str>,
    domain: Box<str>,
    path: Box<str>,
    /// For a cookie on a one-label domain (`Domain=com`): the site that set it, the only one it goes to.
    site: Option<Box<str>>,
    expires_ms: Option<i64>,
    created: u64,
    quoted: bool,
    secure: bool,
    host_only: bool,
}

impl CookieJar {
    /// An empty jar.
    pub const fn new() -> Self {
        Self { entries: Vec::new(), next_number: 0 }
    }

    /// Whether the jar holds nothing: the request path asks this first.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many cookies the jar holds, expired ones included until they are met.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Removes everything, as k6 does at the start of an iteration.
    pub fn reset(&mut self) {
        self.entries = Vec::new();
    }

    /// Stores the cookies of a response's `Set-Cookie` values; those that do not parse are skipped.
    pub fn store<'v>(&mut self, url: &Url, values: impl IntoIterator<Item = &'v [u8]>, now_ms: i64) {
        for value in values {
            if let Some(cookie) = SetCookie::parse(value) {
                self.set(url, &cookie, now_ms);
            }
        }
    }

    /// Stores, replaces or (when it has expired) removes one cookie. A domain that `url` may not set cookies for is
    /// ignored.
    pub fn set(&mut self, url: &Url, cookie: &SetCookie, now_ms: i64) {
        let Some(host) = canonical_host(url) else { return };
        let path = if cookie.path.starts_with('/') { cookie.path.clone() } else { default_path(url) };
        let Some((domain, host_only)) = domain_and_type(&host, &cookie.domain) else { return };
        let expires_ms = match cookie.max_age {
            age if age < 0 => Some(i64::MIN),
            0 => cookie.expires_ms,
            age => Some(now_ms.saturating_add(age.saturating_mul(1_000))),
        };
        let at = self
            .entries
            .iter()
            .position(|entry| *entry.name == *cookie.name && *entry.domain == *domain && *entry.path == *path);
        if expires_ms.is_some_and(|expires| expires <= now_ms) {
            if let Some(at) = at {
                self.entries.remove(at);
            }
            return;
        }
        let site = (domain != host && !domain.contains('.')).then(|| site_of(&host).into());
        let created = at.map_or(self.next_number, |at| self.entries[at].created);
        let entry = Entry {
            name: cookie.name.as_str().into(),
            value: cookie.value.as_str().into(),
            domain: domain.into(),
            path: path.into(),
            site,
            expires_ms,
            created,
            quoted: cookie.quoted,
            secure: cookie.secure,
            host_only,
        };
        match at {
            Some(at) => self.entries[at] = entry,
            None => {
                if self.entries.len() >= JAR_COOKIES_MAX {
                    self.entries.remove(0);
                }
                self.next_number += 1;
                self.entries.push(entry);
            }
        }
    }

    /// Removes the cookie of that name that `url` itself would set, as `jar.delete(url, name)` does.
    pub fn delete(&mut self, url: &Url, name: &str) {
        let gone = SetCookie { name: name.to_owned(), max_age: -1, ..SetCookie::default() };
        self.set(url, &gone, 0);
    }

    /// Removes the cookies that would be sent to `url`, as `jar.clear(url)` does.
    pub fn clear(&mut self, url: &Url, now_ms: i64) {
        let names: Vec<String> = self.for_url(url, now_ms).iter().map(|cookie| cookie.name.to_owned()).collect();
        for name in names {
            self.delete(url, &name);
        }
    }

    /// The cookies that go to `url`: longer paths first, then in the order they were first set.
    pub fn for_url(&self, url: &Url, now_ms: i64) -> Vec<Cookie<'_>> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let Some(host) = canonical_host(url) else { return Vec::new() };
        let path = url.decoded_path();
        let path: &[u8] = if path.is_empty() { b"/" } else { &path };
        let mut found: Vec<&Entry> =
            self.entries.iter().filter(|entry| entry.goes_to(url.is_https(), &host, path, now_ms)).collect();
        found.sort_by(|a, b| b.path.len().cmp(&a.path.len()).then(a.created.cmp(&b.created)));
        found.into_iter().map(|entry| Cookie { name: &entry.name, value: &entry.value, quoted: entry.quoted }).collect()
    }

    /// Drops what has expired. [`CookieJar::for_url`] never returns expired cookies anyway.
    pub fn purge(&mut self, now_ms: i64) {
        self.entries.retain(|entry| !entry.is_expired(now_ms));
    }
}

impl Cookie<'_> {
    /// Appends `name=value` as a `Cookie` header carries it, with `; ` before it when `out` ends in a pair.
    pub fn write(&self, out: &mut Vec<u8>, is_first: bool) {
        if !is_first {
            out.extend_from_slice(b"; ");
        }
        out.extend(self.name.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { b'-' } else { byte }));
        out.push(b'=');
        let quotes = self.quoted || self.value.contains([' ', ',']);
        let value = self.value.bytes().filter(|&byte| set_cookie::is_value_byte(byte));
        if quotes {
            out.push(b'"');
            out.extend(value);
            out.push(b'"');
        } else {
            out.extend(value);
        }
    }
}

impl Entry {
    fn is_expired(&self, now_ms: i64) -> bool {
        self.expires_ms.is_some_and(|expires| expires <= now_ms)
    }

    fn goes_to(&self, is_https: bool, host: &str, path: &[u8], now_ms: i64) -> bool {
        !self.is_expired(now_ms)
            && self.matches_domain(host)
            && self.matches_path(path)
            && (!self.secure || is_https || is_loopback_name(&self.domain))
    }

    fn matches_domain(&self, host: &str) -> bool {
        if let Some(site) = &self.site
            && **site != *site_of(host)
        {
            return false;
        }
        *self.domain == *host || !self.host_only && has_dot_suffix(host, &self.domain)
    }

    fn matches_path(&self, path: &[u8]) -> bool {
        let own = self.path.as_bytes();
        path.starts_with(own) && (path.len() == own.len() || own.ends_with(b"/") || path[own.len()] == b'/')
    }
}

/// The lower-case host without a trailing dot; `None` for URLs that take no cookies.
fn canonical_host(url: &Url) -> Option<String> {
    if url.scheme() == Scheme::Other {
        return None;
    }
    let host = url.host();
    Some(host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase())
}

/// The cookie's domain and whether it is for that host alone; `None` when `host` may not set it.
fn domain_and_type(host: &str, attribute: &str) -> Option<(String, bool)> {
    if attribute.is_empty() {
        return Some((host.to_owned(), true));
    }
    if is_ip(host) {
        return (host == attribute).then(|| (host.to_owned(), true));
    }
    let domain = attribute.strip_prefix('.').unwrap_or(attribute);
    if domain.is_empty() || domain.starts_with('.') || domain.ends_with('.') || !domain.is_ascii() {
        return None;
    }
    let domain = domain.to_ascii_lowercase();
    (domain == host || has_dot_suffix(host, &domain)).then_some((domain, false))
}

/// The last two labels of a host: what Go's jar files cookies under without a suffix list.
fn site_of(host: &str) -> &str {
    if is_ip(host) {
        return host;
    }
    match host.rfind('.') {
        Some(last) if last > 0 => host[..last].rfind('.').map_or(host, |dot| &host[dot + 1..]),
        _ => host,
    }
}

fn has_dot_suffix(text: &str, suffix: &str) -> bool {
    text.strip_suffix(suffix).is_some_and(|head| head.ends_with('.'))
}

fn is_ip(host: &str) -> bool {
    host.contains([':', '%']) || host.parse::<IpAddr>().is_ok()
}

/// k6: as Go, a secure cookie also goes to this machine over plain HTTP.
fn is_loopback_name(domain: &str) -> bool {
    let last = domain.rsplit('.').next().unwrap_or(domain);
    last.eq_ignore_ascii_case("localhost") || domain.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The directory of the URL's path.
fn default_path(url: &Url) -> String {
    let path = url.decoded_path();
    match path.iter().rposition(|&byte| byte == b'/') {
        Some(at) if at > 0 && path[0] == b'/' => String::from_utf8_lossy(&path[..at]).into_owned(),
        _ => "/".to_owned(),
    }
}

/// Feeds arbitrary bytes to a jar: the first line is a URL's path and query, each further one a
/// `Set-Cookie` value. The entry of the fuzz target: panics are findings, so are cookies that would
/// break out of the header they are sent in, and dates out of every calendar.
pub fn fuzz(data: &[u8]) {
    /// Some time in 2026, and the last moment a date of four digits can name.
    const NOW_MS: i64 = 1_790_000_000_000;
    const LAST_MS: i64 = 253_402_387_200_000;
    let mut lines = data.split(|&byte| byte == b'\n');
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let Ok(url) = Url::parse(&format!("https://www.example.com/{first}")) else { return };
    let mut jar = CookieJar::new();
    for line in lines {
        if let Some(cookie) = SetCookie::parse(line) {
            assert!(!cookie.name.is_empty(), "a cookie without a name");
        }
        if let Ok(text) = std::str::from_utf8(line)
            && let Some(date_ms) = parse_http_date(text)
        {
            assert!((-LAST_MS..=LAST_MS).contains(&date_ms), "{date_ms}");
        }
        jar.store(&url, [line], NOW_MS);
    }
    assert!(jar.len() <= JAR_COOKIES_MAX);
    for cookie in jar.for_url(&url, NOW_MS) {
        let breaks = |text: &str| text.bytes().any(|byte| matches!(byte, b'\r' | b'\n' | b';' | 0));
        assert!(!breaks(cookie.name) && !breaks(cookie.value), "{cookie:?}");
    }
    jar.clear(&url, NOW_MS);
    jar.purge(NOW_MS);
}

#[cfg(test)]
mod tests;
