//! URLs with the flavour of Go's `net/url`: what a script writes is kept as written, and only a path that is not
//! already a valid encoding is re-encoded for the wire.
//!
//! This is deliberately not a WHATWG URL: no dot segments are removed, no query is touched and other schemes parse too
//! (they fail when a request is made, with the text k6 gives). The `url` crate is used for one thing: international
//! host names.

pub(crate) mod literal;
mod parts;

use std::{borrow::Cow, fmt, net::IpAddr, sync::Arc};

use base64::Engine as _;

use crate::error::NetError;
use parts::Parts;
pub use parts::unescape;

/// A parsed absolute or relative URL. Cloning is one or two reference counts.
#[derive(Clone)]
pub struct Url {
    raw: Arc<str>,
    scheme: Scheme,
    parts: Parts,
    port: Port,
    /// Set when host or path are sent in another form than written: rare.
    wire: Option<Arc<Wire>>,
}

/// The schemes requests are made for; anything else parses but cannot be requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// `http`
    Http,
    /// `https`
    Https,
    /// Something else, or none.
    Other,
}

/// The port of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Port {
    /// Written or the scheme's default.
    Number(u16),
    /// Digits that are no port number. It parses, and fails at the dial.
    Invalid,
}

/// Parts whose wire form differs from the written one.
#[derive(Debug, PartialEq, Eq)]
struct Wire {
    host: Box<str>,
    authority: Box<str>,
    path: Box<str>,
}

impl Url {
    /// Parses a URL as Go's `url.Parse` does.
    ///
    /// # Errors
    /// Code 1020 with Go's reason, for example `invalid URL: parse "http://%zz/": invalid URL escape "%zz"`.
    pub fn parse(text: &str) -> Result<Self, NetError> {
        Self::parse_shared(Arc::from(text))
    }

    /// Parses a URL without copying its text.
    ///
    /// # Errors
    /// As [`Url::parse`].
    pub fn parse_shared(raw: Arc<str>) -> Result<Self, NetError> {
        Self::parse_reference(raw).map_err(NetError::invalid_url)
    }

    /// Parses, with Go's plain error text (`parse "…": reason`).
    fn parse_reference(raw: Arc<str>) -> Result<Self, String> {
        let parts = Parts::parse(&raw)?;
        let scheme = match parts.scheme.of(&raw) {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other if other.eq_ignore_ascii_case("http") => Scheme::Http,
            other if other.eq_ignore_ascii_case("https") => Scheme::Https,
            _ => Scheme::Other,
        };
        let port = match parts.port.of(&raw) {
            "" => Port::Number(if scheme == Scheme::Https { 443 } else { 80 }),
            digits => digits.parse().map_or(Port::Invalid, Port::Number),
        };
        let wire = if parts.needs_rewrite { Some(Arc::new(Wire::of(&parts, &raw))) } else { None };
        Ok(Self { raw, scheme, parts, port, wire })
    }

    /// The URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// The URL as it was written, shared.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.raw)
    }

    /// The scheme, classified.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Whether this URL is requested over TLS.
    pub fn is_https(&self) -> bool {
        self.scheme == Scheme::Https
    }

    /// The scheme's text in lower case, empty when there is none.
    pub fn scheme_text(&self) -> Cow<'_, str> {
        let text = self.parts.scheme.of(&self.raw);
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        }
    }

    /// The host to connect to: no brackets around IPv6, international names in their ASCII form.
    pub fn host(&self) -> &str {
        match &self.wire {
            Some(wire) => &wire.host,
            None => self.parts.host.of(&self.raw),
        }
    }

    /// The port to connect to; `None` when the written digits are no port number.
    pub fn port(&self) -> Option<u16> {
        match self.port {
            Port::Number(port) => Some(port),
            Port::Invalid => None,
        }
    }

    /// The port as written, empty when there is none.
    pub fn port_text(&self) -> &str {
        self.parts.port.of(&self.raw)
    }

    /// `host[:port]` as the `Host` header carries it.
    pub fn authority(&self) -> &str {
        match &self.wire {
            Some(wire) => &wire.authority,
            None => self.parts.authority.of(&self.raw),
        }
    }

    /// The encoded path, possibly empty.
    pub fn path(&self) -> &str {
        match &self.wire {
            Some(wire) => &wire.path,
            None => self.parts.path.of(&self.raw),
        }
    }

    /// The path with its percent escapes decoded, as cookies match on it.
    pub fn decoded_path(&self) -> Cow<'_, [u8]> {
        unescape(self.parts.path.of(&self.raw).as_bytes())
    }

    /// The query as written, without its `?`; `None` when there is no `?`.
    pub fn query(&self) -> Option<&str> {
        self.parts.query.map(|query| query.of(&self.raw))
    }

    /// The fragment as written, empty when there is none.
    pub fn fragment(&self) -> &str {
        self.parts.fragment.of(&self.raw)
    }

    /// Appends the request target (`/path?query`) to a request head.
    pub fn write_target(&self, out: &mut Vec<u8>) {
        let path = self.path();
        if path.is_empty() {
            out.push(b'/');
        } else {
            out.extend_from_slice(path.as_bytes());
        }
        if let Some(query) = self.query() {
            out.push(b'?');
            out.extend_from_slice(query.as_bytes());
        }
    }

    /// The userinfo as written (`user` or `user:pass`).
    pub fn userinfo(&self) -> Option<&str> {
        self.parts.userinfo.map(|userinfo| userinfo.of(&self.raw))
    }

    /// The decoded user name and password, for `Authorization` of any kind.
    pub fn credentials(&self) -> Option<(Vec<u8>, Vec<u8>)> {
        let userinfo = self.userinfo()?;
        let (user, password) = userinfo.split_once(':').unwrap_or((userinfo, ""));
        Some((unescape(user.as_bytes()).into_owned(), unescape(password.as_bytes()).into_owned()))
    }

    /// The value of the `Authorization` header that the URL's userinfo asks for.
    pub fn basic_auth(&self) -> Option<String> {
        let (mut pair, password) = self.credentials()?;
        pair.push(b':');
        pair.extend_from_slice(&password);
        Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)))
    }

    /// k6's "cleaned" URL for the `url` and `name` tags: like [`Url::to_text`], credentials become `****:****` (or
    /// `****`).
    pub fn clean(&self) -> Arc<str> {
        match self.userinfo() {
            None => self.to_text(),
            Some(userinfo) => {
                let mask = if userinfo.contains(':') { "****:****" } else { "****" };
                Arc::from(self.compose(Some(mask), self.path(), self.query(), self.fragment()))
            }
        }
    }

    /// The URL as Go prints it (`res.url`): scheme in lower case, path in its wire form.
    pub fn to_text(&self) -> Arc<str> {
        let scheme_is_lower = !self.parts.scheme.of(&self.raw).bytes().any(|byte| byte.is_ascii_uppercase());
        if self.wire.is_none() && scheme_is_lower {
            return Arc::clone(&self.raw);
        }
        Arc::from(self.compose(self.userinfo(), self.path(), self.query(), self.fragment()))
    }

    /// The URL as the log shows it: like [`Url::to_text`], the password replaced by `***`.
    pub fn log_text(&self) -> Arc<str> {
        match self.userinfo().and_then(|userinfo| userinfo.split_once(':')) {
            None => self.to_text(),
            Some((user, _)) => {
                Arc::from(self.compose(Some(&format!("{user}:***")), self.path(), self.query(), self.fragment()))
            }
        }
    }

    /// The value of a `Referer` header that names this URL: no userinfo.
    pub fn referer(&self) -> Arc<str> {
        if self.parts.userinfo.is_none() {
            return self.to_text();
        }
        Arc::from(self.compose(None, self.path(), self.query(), self.fragment()))
    }

    /// Resolves a reference (a `Location`, an `href`) against this URL, as Go's `URL.Parse` does.
    ///
    /// # Errors
    /// Go's text, for example `parse "http://%zz/": invalid URL escape "%zz"`.
    pub fn join(&self, reference: &str) -> Result<Self, String> {
        let other = Self::parse_reference(Arc::from(reference))?;
        if !other.parts.scheme.is_empty() || other.parts.has_authority {
            let path = parts::resolve_path(other.path(), "");
            if other.parts.opaque {
                return Ok(other);
            }
            let base = if other.parts.scheme.is_empty() { self } else { &other };
            let text = Self::compose_from(
                &base.scheme_text(),
                other.userinfo(),
                other.parts.has_authority.then(|| other.parts.authority.of(&other.raw)),
                &path,
                other.query(),
                other.fragment(),
            );
            return Self::parse_reference(Arc::from(text));
        }
        let keeps_query = other.path().is_empty() && other.query().is_none_or(str::is_empty) && !other.ends_in_query();
        let query = if keeps_query { self.query() } else { other.query() };
        let fragment = if keeps_query && other.fragment().is_empty() { self.fragment() } else { other.fragment() };
        let path = parts::resolve_path(self.path(), other.path());
        let text = self.compose(self.userinfo(), &path, query, fragment);
        Self::parse_reference(Arc::from(text))
    }

    /// The address when the host is an IP literal.
    pub fn host_ip(&self) -> Option<IpAddr> {
        literal::address_and_zone(self.host()).map(|(ip, _)| ip)
    }

    /// Whether scheme or authority were written at all (a relative `Location` has none).
    pub fn is_absolute(&self) -> bool {
        !self.parts.scheme.is_empty()
    }

    fn ends_in_query(&self) -> bool {
        self.query() == Some("")
    }

    fn compose(&self, userinfo: Option<&str>, path: &str, query: Option<&str>, fragment: &str) -> String {
        if self.parts.opaque {
            return self.raw.to_string();
        }
        Self::compose_from(
            &self.scheme_text(),
            userinfo,
            self.parts.has_authority.then(|| self.parts.authority.of(&self.raw)),
            path,
            query,
            fragment,
        )
    }

    fn compose_from(
        scheme: &str,
        userinfo: Option<&str>,
        authority: Option<&str>,
        path: &str,
        query: Option<&str>,
        fragment: &str,
    ) -> String {
        let mut out = String::with_capacity(path.len() + query.map_or(0, str::len) + fragment.len() + 64);
        if !scheme.is_empty() {
            out.push_str(scheme);
            out.push(':');
        }
        if let Some(authority) = authority {
            out.push_str("//");
            if let Some(userinfo) = userinfo {
                out.push_str(userinfo);
                out.push('@');
            }
            parts::escape_host(authority, &mut out);
        }
        out.push_str(path);
        if let Some(query) = query {
            out.push('?');
            out.push_str(query);
        }
        if !fragment.is_empty() {
            out.push('#');
            out.push_str(fragment);
        }
        out
    }
}

impl Wire {
    fn of(parts: &Parts, raw: &str) -> Self {
        let host = parts::ascii_host(parts.host.of(raw));
        let port = parts.port.of(raw);
        let mut authority = String::with_capacity(host.len() + port.len() + 3);
        let is_ipv6 = host.contains(':');
        if is_ipv6 {
            authority.push('[');
            // The zone is meaningful on this machine only.
            authority.push_str(host.split('%').next().unwrap_or_default());
            authority.push(']');
        } else {
            authority.push_str(&host);
        }
        if !port.is_empty() {
            authority.push(':');
            authority.push_str(port);
        }
        Self { host: host.into(), authority: authority.into(), path: parts::escaped_path(parts.path.of(raw)).into() }
    }
}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Url {}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Url").field(&self.clean()).finish()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.clean())
    }
}

/// Feeds arbitrary text to the parser: a URL, and after a line end a reference to resolve against it. The entry of the
/// fuzz target: panics are findings; so is a printed form that does not parse back to itself, and a target that would
/// break its request line.
pub fn fuzz(text: &str) {
    let (text, reference) = text.split_once('\n').unwrap_or((text, "../a?b#c"));
    let Ok(url) = Url::parse(text) else { return };
    check_printed(&url);
    if let Ok(joined) = url.join(reference) {
        check_printed(&joined);
    }
}

fn check_printed(url: &Url) {
    // What has no host is refused before it is sent.
    if !url.host().is_empty() {
        let mut target = Vec::new();
        url.write_target(&mut target);
        // k6: blanks in a query are sent as they are, and servers refuse them.
        let breaks = target.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
        assert!(!breaks && !target.is_empty(), "{}", target.escape_ascii());
    }
    let printed = url.to_text();
    if url.is_absolute()
        && let Ok(again) = Url::parse(&printed)
    {
        assert_eq!(again.to_text(), printed);
    }
    // Whatever they are made of, they are made.
    let _ = (
        url.clean(),
        url.log_text(),
        url.referer(),
        url.basic_auth(),
        url.host_ip(),
        url.port(),
        url.decoded_path().len(),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn target(url: &Url) -> String {
        let mut out = Vec::new();
        url.write_target(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn targets_and_hosts_as_k6_sends_them() {
        let check = |text: &str, authority: &str, path: &str| {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.authority(), target(&url).as_str()), (authority, path), "{text}");
        };
        check("http://127.0.0.1:8/a b", "127.0.0.1:8", "/a%20b");
        check("http://h/é?q=é x", "h", "/%C3%A9?q=é x");
        check("http://h/a%2fb c", "h", "/a/b%20c");
        check("http://h/a%2fb", "h", "/a%2fb");
        check("http://h?x", "h", "/?x");
        check("http://h/?", "h", "/?");
        check("http://h#frag", "h", "/");
        check("http://h/p?a=b#frag", "h", "/p?a=b");
        check("http://h/a/../b/./c", "h", "/a/../b/./c");
        check("http://h/a|b^c`d{e}\"<>\\", "h", "/a%7Cb%5Ec%60d%7Be%7D%22%3C%3E%5C");
        check("http://h/!$&'()*+,;=:@[]~-_.", "h", "/!$&'()*+,;=:@[]~-_.");
        check("http://Example.COM:80/x", "Example.COM:80", "/x");
        check("http://[::1]:1/", "[::1]:1", "/");
        check("http://b\u{fc}cher.test/", "xn--bcher-kva.test", "/");
        check("http://user:p%40ss@h:9/x", "h:9", "/x");
        check("http://127.0.0.1:/", "127.0.0.1:", "/");
    }

    #[test]
    fn errors_as_k6_words_them() {
        let check = |text: &str, reason: &str| {
            let error = Url::parse(text).unwrap_err();
            assert_eq!(error.code, 1020);
            assert_eq!(error.message, format!("invalid URL: parse {}: {reason}", crate::text::go_quote(text)));
        };
        check("http://%zz/", "invalid URL escape \"%zz\"");
        check("http://h/%zz", "invalid URL escape \"%zz\"");
        check("http://h/%f", "invalid URL escape \"%f\"");
        check("http://h/a?b#frag x%zz", "invalid URL escape \"%zz\"");
        check("http://127.0.0.1:abc/", "invalid port \":abc\" after host");
        check("http://a b/", "invalid character \" \" in host name");
        check("http://user:pa ss@h/", "net/url: invalid userinfo");
        check("http://a\nb/", "net/url: invalid control character in URL");
        check("http://[::1/", "missing ']' in host");
        check(" http://h/", "first path segment in URL cannot contain colon");
        check("http://exa%6dple.test/", "invalid URL escape \"%6d\"");
        check(":x", "missing protocol scheme");
    }

    #[test]
    fn other_schemes_and_missing_hosts_parse() {
        let check = |text: &str, scheme: Scheme, host: &str| {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.scheme(), url.host()), (scheme, host), "{text}");
        };
        check("", Scheme::Other, "");
        check("foo", Scheme::Other, "");
        check("foo:80", Scheme::Other, "");
        check("ftp://x/", Scheme::Other, "x");
        check("http://", Scheme::Http, "");
        check("http:///a", Scheme::Http, "");
        check("http:/a", Scheme::Http, "");
        check("//127.0.0.1/x", Scheme::Other, "127.0.0.1");
        check("mailto:x@y", Scheme::Other, "");
        check("HTTP://h/", Scheme::Http, "h");
        assert_eq!(Url::parse("http://h:99999/").unwrap().port(), None);
    }

    #[test]
    fn texts() {
        let check = |text: &str, clean: &str, printed: &str, log: &str| {
            let url = Url::parse(text).unwrap();
            assert_eq!((&*url.clean(), &*url.to_text(), &*url.log_text()), (clean, printed, log));
        };
        check("http://u:p@h/x y#f", "http://****:****@h/x%20y#f", "http://u:p@h/x%20y#f", "http://u:***@h/x%20y#f");
        check("HTTP://u@h/x", "http://****@h/x", "http://u@h/x", "http://u@h/x");
        check(
            "http://b\u{fc}cher.test/",
            "http://b%C3%BCcher.test/",
            "http://b%C3%BCcher.test/",
            "http://b%C3%BCcher.test/",
        );
        assert_eq!(Url::parse("http://user:pass@h/").unwrap().basic_auth().unwrap(), "Basic dXNlcjpwYXNz");
        assert_eq!(Url::parse("http://user@h/").unwrap().basic_auth().unwrap(), "Basic dXNlcjo=");
    }

    #[test]
    fn references_resolve_as_in_go() {
        let base = Url::parse("http://u:p@h:1/a/b/c?q#f").unwrap();
        let check = |reference: &str, expect: &str| {
            assert_eq!(base.join(reference).unwrap().as_str(), expect, "{reference}");
        };
        check("d", "http://u:p@h:1/a/b/d");
        check("./d/../e/.", "http://u:p@h:1/a/b/e/");
        check("../../../x", "http://u:p@h:1/x");
        check("/x y", "http://u:p@h:1/x%20y");
        check("?z", "http://u:p@h:1/a/b/c?z");
        check("", "http://u:p@h:1/a/b/c?q#f");
        check("#g", "http://u:p@h:1/a/b/c?q#g");
        check("//o/x/../y", "http://o/y");
        check("https://o:2/x?y#z", "https://o:2/x?y#z");
        check("http://o", "http://o");
        check("ftp://x/", "ftp://x/");
        assert_eq!(base.join("http://%zz/").unwrap_err(), "parse \"http://%zz/\": invalid URL escape \"%zz\"");
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,60}") {
            if let Ok(url) = Url::parse(&text) {
                let _ = (url.clean(), url.to_text(), url.log_text(), url.referer(), url.basic_auth());
                let _ = target(&url);
            }
        }

        #[test]
        fn never_panics_near_urls(text in "(http|HTTP|https)?:?/{0,3}[a-z@:%\\[\\]0-9.é]{0,12}[/?#a-z%.é ]{0,20}", reference in "[/?#a-z%.:é ]{0,20}") {
            if let Ok(url) = Url::parse(&text) {
                let _ = (url.clean(), url.to_text(), url.log_text());
                let printed = url.to_text();
                // What is printed parses again, to the same request target.
                if url.wire.is_some() && url.scheme() != Scheme::Other {
                    let again = Url::parse(&printed).unwrap();
                    prop_assert_eq!(target(&again), target(&url));
                }
                let _ = url.join(&reference);
            }
        }
    }
}
