//! What a 3xx response means for the next request: Go's `http.Client` rules, which k6 shows.
//!
//! Pure: the caller drives the loop, counts the hops and measures each one.

use std::{borrow::Cow, sync::Arc};

use crate::{
    error::NetError,
    text::go_quote,
    url::{Scheme, Url},
};

/// Headers that do not follow a redirect to another domain.
pub const SENSITIVE_HEADERS: [&str; 6] =
    ["authorization", "www-authenticate", "cookie", "cookie2", "proxy-authorization", "proxy-authenticate"];

/// Headers that describe a body and leave with it.
pub const BODY_HEADERS: [&str; 4] = ["content-encoding", "content-language", "content-location", "content-type"];

/// The request that got the 3xx response.
#[derive(Debug, Clone, Copy)]
pub struct RequestMeta<'a> {
    /// The method of the last hop.
    pub method: &'a str,
    /// The URL of the last hop.
    pub url: &'a Url,
    /// The URL the script asked for: sensitive headers are judged against it.
    pub first_url: &'a Url,
    /// Whether the last hop still carried the original body (true for the first).
    pub keep_body: bool,
    /// Whether an earlier hop left the domain, so that sensitive headers are gone for good.
    pub strip_sensitive: bool,
}

/// The next request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// `GET` or the previous method.
    pub method: Cow<'static, str>,
    /// Where to.
    pub url: Url,
    /// Whether the original body is sent again.
    pub keep_body: bool,
    /// Whether [`SENSITIVE_HEADERS`] are dropped, on this hop and all later ones.
    pub strip_sensitive: bool,
    /// Whether a `Host` given by the script stays (the `Location` was relative).
    pub keep_host: bool,
    /// The `Referer` to send unless the script set its own; none from https to http.
    pub referer: Option<Arc<str>>,
}

impl Next {
    /// Whether a header of the original request goes out with this hop.
    pub fn keeps_header(&self, name: &str) -> bool {
        let is_in = |list: &[&str]| list.iter().any(|other| name.eq_ignore_ascii_case(other));
        !(self.strip_sensitive && is_in(&SENSITIVE_HEADERS) || !self.keep_body && is_in(&BODY_HEADERS))
    }
}

/// The request that follows a response, or `None` when the response is the answer.
///
/// # Errors
/// Code 1000 when the `Location` does not parse.
pub fn next(previous: &RequestMeta<'_>, status: u16, location: Option<&[u8]>) -> Result<Option<Next>, NetError> {
    let (method, keep_body) = match (status, previous.method) {
        (301..=303, "GET" | "") => (Cow::Borrowed("GET"), false),
        (301..=303, "HEAD") => (Cow::Borrowed("HEAD"), false),
        (301..=303, _) => (Cow::Borrowed("GET"), false),
        (307 | 308, method) => (Cow::Owned(method.to_owned()), true),
        _ => return Ok(None),
    };
    let Some(location) = location.filter(|location| !location.is_empty()) else { return Ok(None) };
    let location = String::from_utf8_lossy(location);
    let url = previous.url.join(&location).map_err(|reason| {
        NetError::generic(format!("failed to parse Location header {}: {reason}", go_quote(&*location)))
    })?;
    let strip_sensitive = previous.strip_sensitive || leaves_domain(previous.first_url, &url);
    let referer = match (previous.url.scheme(), url.scheme()) {
        (Scheme::Https, Scheme::Http) => None,
        _ => Some(previous.url.referer()),
    };
    let is_relative = Url::parse(&location).is_ok_and(|reference| !reference.is_absolute());
    Ok(Some(Next {
        method,
        url,
        keep_body: keep_body && previous.keep_body,
        strip_sensitive,
        keep_host: is_relative,
        referer,
    }))
}

/// Whether `to` is outside `from`'s domain and its subdomains.
fn leaves_domain(from: &Url, to: &Url) -> bool {
    let (parent, sub) = (from.host(), to.host());
    if sub.eq_ignore_ascii_case(parent) {
        return false;
    }
    if sub.contains([':', '%']) || sub.len() <= parent.len() {
        return true;
    }
    let (head, tail) = sub.as_bytes().split_at(sub.len() - parent.len());
    !(tail.eq_ignore_ascii_case(parent.as_bytes()) && head.ends_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(method: &str, from: &str, status: u16, location: &str) -> Option<Next> {
        let url = Url::parse(from).unwrap();
        let meta = RequestMeta { method, url: &url, first_url: &url, keep_body: true, strip_sensitive: false };
        next(&meta, status, Some(location.as_bytes())).unwrap()
    }

    #[test]
    fn methods_and_bodies() {
        let check = |method: &str, status: u16, expect: Option<(&str, bool)>| {
            let got = run(method, "http://h/a", status, "/b").map(|next| (next.method.into_owned(), next.keep_body));
            assert_eq!(got, expect.map(|(method, keep)| (method.to_owned(), keep)), "{method} {status}");
        };
        for status in [301, 302, 303] {
            check("GET", status, Some(("GET", false)));
            check("HEAD", status, Some(("HEAD", false)));
            check("POST", status, Some(("GET", false)));
            check("DELETE", status, Some(("GET", false)));
        }
        for status in [307, 308] {
            check("POST", status, Some(("POST", true)));
            check("HEAD", status, Some(("HEAD", true)));
        }
        for status in [200, 300, 304, 305, 306, 309, 404] {
            check("GET", status, None);
        }
        assert_eq!(run("GET", "http://h/a", 302, ""), None);
    }

    #[test]
    fn sensitive_headers_leave_with_the_domain() {
        let check = |from: &str, to: &str, strip: bool| {
            assert_eq!(run("GET", from, 302, to).unwrap().strip_sensitive, strip, "{from} -> {to}");
        };
        check("http://a.com/", "http://a.com:81/", false);
        check("http://a.com/", "http://x.a.com/", false);
        check("http://a.com/", "http://xa.com/", true);
        check("http://x.a.com/", "http://a.com/", true);
        check("http://127.0.0.1/", "http://localhost/", true);
        check("http://a.com/", "http://[::1%25.a.com]/", true);
        let next = run("POST", "http://a.com/", 302, "http://b.com/").unwrap();
        assert!(!next.keeps_header("Authorization") && !next.keeps_header("Content-Type"));
        assert!(next.keeps_header("X-A") && !next.keep_host);
    }

    #[test]
    fn referer_and_host() {
        let next = run("GET", "https://u:p@h/a", 302, "b").unwrap();
        assert_eq!((next.referer.as_deref(), next.keep_host), (Some("https://h/a"), true));
        assert_eq!(run("GET", "https://h/a", 302, "http://h/").unwrap().referer, None);
    }

    #[test]
    fn a_bad_location_is_an_error() {
        let url = Url::parse("http://h/").unwrap();
        let meta = RequestMeta { method: "GET", url: &url, first_url: &url, keep_body: true, strip_sensitive: false };
        let error = next(&meta, 302, Some(b"http://%zz/")).unwrap_err();
        assert_eq!(error.code, 1000);
        assert_eq!(
            error.message,
            "failed to parse Location header \"http://%zz/\": parse \"http://%zz/\": invalid URL escape \"%zz\""
        );
    }
}
